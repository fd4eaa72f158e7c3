//! Calls that were stopped lately, each with an id: a person lets one through by it, and the log says by it what came of a question.
//!
//! An id is of no use to the agent that reads it: `toolgate allow` takes it from a person at a terminal of their own only, and
//! shows them the call before it asks. Of a call is kept what a permission is bound to, and its text with secrets marked.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_private::{PrivateError, PrivateFile, state_folder};

use crate::one_time_permits::{OneTimePermit, PermitError, Subject, against, millis};
use crate::{Action, Digest, ToolCall, Verdict, redact, shortened};

/// Most calls that are kept.
pub const MOST: usize = 64;

/// How long one is kept.
pub const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest text of a call that is kept as a whole, in bytes. A longer one is not let through by its id, as nobody saw all of it.
pub const TEXT: usize = 16 << 10;

/// Longest reason that is kept, in bytes.
const REASON: usize = 2_000;

/// Most words that matched, and most findings, that are kept of a call.
const WORDS: usize = 32;

/// A call that was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedCall {
    /// Names it.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Whether the agent put the question to its user.
    pub asked: bool,
    /// Who made the call.
    pub agent: String,
    /// The agent's own name for the session.
    pub session: String,
    /// What it is, as a permission is bound to it.
    subject: Subject,
    /// The rules that a permission has to lift.
    pub rules: Vec<String>,
    /// The command, or the input of a tool that is no shell, secrets marked.
    pub text: String,
    /// Whether that is all of it.
    pub whole: bool,
    /// The words that matched, secrets marked.
    pub matched: Vec<String>,
    /// What the rules say.
    pub findings: Vec<StoppedBy>,
}

/// What a rule said of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedBy {
    /// The rule.
    pub rule: String,
    /// Whether it asks; else it blocks.
    pub asks: bool,
    /// Why, secrets marked.
    pub reason: String,
}

impl StoppedCall {
    /// This call, unless something speaks against it that no permission lifts.
    pub(crate) fn new(id: String, call: &ToolCall, verdict: &Verdict, now: SystemTime) -> Option<Self> {
        let rules = against(verdict).ok()?;
        let text = redact::redacted(call.command.as_ref().map_or(call.input.as_str(), |command| &command.value));
        let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
        let speaking = verdict.findings.iter().filter(|one| one.action != Action::Note);
        let words =
            speaking.clone().flat_map(|one| &one.evidence).map(|one| shortened(&redact::redacted(&one.text), REASON));
        let findings = speaking.map(|one| StoppedBy {
            rule: one.rule.clone(),
            asks: one.action == Action::Ask,
            reason: shortened(&redact::redacted(&one.reason), REASON),
        });
        Some(StoppedCall {
            id,
            at: millis(now),
            asked: false,
            agent: String::new(),
            session: context["session"].as_str().unwrap_or_default().to_owned(),
            subject: Subject::of(call),
            rules,
            whole: text.len() <= TEXT,
            text: shortened(&text, TEXT),
            matched: words.take(WORDS).collect(),
            findings: findings.take(WORDS).collect(),
        })
    }

    /// The directory of the call, links resolved.
    pub fn cwd(&self) -> &str {
        &self.subject.cwd
    }

    /// Permission for this call, of the same id.
    ///
    /// # Errors
    /// If it is for too long or for rules that cannot be lifted.
    pub fn permit(&self, now: SystemTime, good_for: Duration) -> Result<OneTimePermit, PermitError> {
        let shown = shortened(&self.text, 400);
        Ok(OneTimePermit {
            id: self.id.clone(),
            ..OneTimePermit::bound(self.subject.clone(), self.rules.clone(), shown, now, good_for)?
        })
    }

    fn is_kept(&self, now: u64) -> bool {
        // One of the future is of a clock that was set back.
        self.at <= now && now - self.at < u64::try_from(RETENTION.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A new id, for a call that is stopped now.
pub(crate) fn new_id(call: &ToolCall, now: SystemTime) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let nanos = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let whole = format!("{}\0{}\0{}\0{nanos}\0{count}", call.input, call.cwd, std::process::id());
    Digest::of(whole.as_bytes()).sha256[..8].to_owned()
}

/// Whether a text has the form of an id.
pub fn is_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The calls of a user that were stopped.
#[derive(Clone, Debug)]
pub struct StoppedCalls(PrivateFile);

impl StoppedCalls {
    /// Those in this file. It need not exist.
    pub fn new(path: &Path) -> Self {
        StoppedCalls(PrivateFile::new(path))
    }

    /// Those in the user's state folder. None if there is no telling where that is.
    pub fn of_user(home: Option<&Path>) -> Option<Self> {
        Some(Self::new(&state_folder(home)?.join("stopped.json")))
    }

    /// Adds one; the oldest give way.
    ///
    /// # Errors
    /// If the file cannot be trusted or written.
    pub fn add(&self, call: StoppedCall) -> Result<(), PrivateError> {
        self.0.update(|before| {
            let mut calls = read(before);
            calls.retain(|one| one.is_kept(call.at));
            calls.push(call);
            calls.drain(..calls.len().saturating_sub(MOST));
            serde_json::to_vec(&calls).unwrap_or_default()
        })
    }

    /// Those of the last day, the newest last.
    ///
    /// # Errors
    /// If the file cannot be trusted or read.
    pub fn list(&self, now: SystemTime) -> Result<Vec<StoppedCall>, PrivateError> {
        let mut calls = read(self.0.read()?.as_deref());
        calls.retain(|one| one.is_kept(millis(now)));
        Ok(calls)
    }

    /// The question that the agent put to its user about a call which has run now: the answer was yes. It is not kept then.
    ///
    /// # Errors
    /// If the file cannot be trusted, read or written.
    pub fn ran(&self, call: &ToolCall, agent: &str, now: SystemTime) -> Result<Option<StoppedCall>, PrivateError> {
        let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
        let session = context["session"].as_str().unwrap_or_default();
        let about = |one: &StoppedCall| one.asked && one.agent == agent && one.session == session;
        if !self.list(now)?.iter().any(about) {
            return Ok(None);
        }
        let subject = Subject::of(call);
        let mut found = None;
        self.0.update(|before| {
            let mut calls = read(before);
            let at = calls.iter().position(|one| about(one) && one.subject == subject);
            found = at.map(|at| calls.remove(at));
            serde_json::to_vec(&calls).unwrap_or_default()
        })?;
        Ok(found)
    }
}

/// A list that is none gives way to one: nothing depends on it but the way on.
fn read(bytes: Option<&[u8]>) -> Vec<StoppedCall> {
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_time_permits::OneTimePermits;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn push() -> ToolCall {
        ToolCall::shell("git push -f; TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ0123456789 true", "/none")
    }

    fn stopped(id: &str, call: &ToolCall, rules: &[&str]) -> Option<StoppedCall> {
        let mut verdict = Verdict::block("", "no");
        let one = verdict.findings.remove(0);
        verdict.findings =
            rules.iter().map(|rule| crate::Finding { rule: (*rule).to_owned(), ..one.clone() }).collect();
        StoppedCall::new(id.to_owned(), call, &verdict, now())
    }

    #[test]
    fn a_permission_by_id_is_for_the_call_that_was_stopped() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let grants = OneTimePermits::new(&scratch.path().join("toolgate/allow-once.json"));
        let call = stopped("0123abcd", &push(), &["a", "b"]).expect("it can be lifted");
        assert!(!call.text.contains("ghp_") && call.whole, "{}", call.text);
        let permit = call.permit(now(), Duration::from_secs(60)).expect("a permission");
        assert_eq!((permit.id.as_str(), permit.cwd.as_str()), ("0123abcd", "/none"));
        grants.add(permit, now()).expect("added");
        let mut verdict = Verdict::block("a", "no");
        let other = ToolCall::shell("git push -f", "/none");
        assert!(grants.take(&other, &verdict, now()).expect("read").is_none());
        verdict.findings[0].rule = "c".into();
        assert!(grants.take(&push(), &verdict, now()).expect("read").is_none());
        verdict.findings[0].rule = "a".into();
        assert!(grants.take(&push(), &verdict, now()).expect("read").is_some());
    }

    #[test]
    fn what_no_permission_lifts_is_not_kept() {
        for rules in [&["host:trap"][..], &["a", "builtin:self-permission"], &[]] {
            assert_eq!(stopped("0123abcd", &push(), rules), None, "{rules:?}");
        }
        let long = ToolCall::shell("x".repeat(TEXT + 1), "/none");
        assert!(stopped("0123abcd", &long, &["a"]).is_some_and(|call| !call.whole));
    }

    #[test]
    fn the_newest_are_kept_for_a_day() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let calls = StoppedCalls::new(&scratch.path().join("toolgate/stopped.json"));
        for n in 0..MOST + 3 {
            calls.add(stopped(&format!("{n:08x}"), &push(), &["a"]).expect("it can be lifted")).expect("added");
        }
        let listed = calls.list(now()).expect("read");
        assert_eq!((listed.len(), listed[0].id.as_str()), (MOST, "00000003"));
        assert_eq!(calls.list(now() + RETENTION).expect("read"), []);
        assert_eq!(calls.list(now() - RETENTION).expect("read"), []);
    }

    #[test]
    fn a_question_that_was_passed_on_is_answered_when_its_call_has_run() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let calls = StoppedCalls::new(&scratch.path().join("toolgate/stopped.json"));
        let asked = |id: &str, asked| {
            let call = stopped(id, &push(), &["a"]).expect("it can be lifted");
            StoppedCall { asked, agent: "claude".into(), ..call }
        };
        calls.add(asked("00000001", false)).expect("added");
        calls.add(asked("00000002", true)).expect("added");
        let ran = |call: &ToolCall, agent| calls.ran(call, agent, now()).expect("read").map(|call| call.id);
        assert_eq!(ran(&ToolCall::shell("git push -f", "/none"), "claude"), None);
        assert_eq!(ran(&push(), "codex"), None);
        assert_eq!(ran(&push(), "claude").as_deref(), Some("00000002"));
        assert_eq!(ran(&push(), "claude"), None);
    }

    #[test]
    fn ids_are_eight_digits_and_differ() {
        let (one, other) = (new_id(&push(), now()), new_id(&push(), now()));
        assert!(is_id(&one) && is_id(&other) && one != other, "{one} {other}");
        for text in ["", "1f2e3d4", "1F2E3D4C", "1f2e3d4g", "1f2e3d4c0"] {
            assert!(!is_id(text), "{text}");
        }
    }
}
