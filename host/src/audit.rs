//! The audit log: one line for everything that was not just let through.
//!
//! A line is a JSON object of the kind `damage-control-log`, see [`Record`]. The file is only ever appended to, by one
//! write a line, and takes turns with other processes by a lock file beside it. At [`SIZE`] it becomes
//! `audit.1.jsonl`, and the [`ROTATED_FILES`] files before it move on. Secrets are marked before anything is written.
//!
//! Lines are not synced to the disk one by one: a write that fails is noticed, a power failure may cost the last ones.
//! That a program of the same user changes the file cannot be prevented here; the gate keeps the agent from it.

mod file;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::shortened;
use crate::{Finding, ToolCall, Verdict, redact};
use toolgate_private::PrivateError;

pub use file::{AuditFile, BadLine, Entries};

/// The kind of every entry, in the file as in the session's journal.
pub const KIND: &str = "damage-control-log";

/// When a file is full, in bytes.
pub const SIZE: u64 = 8 << 20;

/// How many full files are kept.
pub const ROTATED_FILES: usize = 4;

/// Longest line, in bytes. Of a longer one texts are cut in the middle, and what is left out is marked.
pub const LINE: usize = 64 << 10;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did not run.
    Blocked,
    /// A person was asked: here, or by the agent itself.
    Asked,
    /// The person said yes.
    Confirmed,
    /// The person said no, or nothing in time.
    Denied,
    /// A permission for this one call was used up.
    AllowedOnce,
    /// A component gave it another input.
    Rewritten,
    /// The call itself says why a rule does not hold for it, in a way that the rules allow.
    Overridden,
    /// A rule would have had it asked about, and all that the call changes was saved first.
    Saved,
    /// A component asked for a capability that it was not granted.
    NotGranted,
}

impl Outcome {
    /// All of them, in the order of the summary.
    pub const ALL: [Outcome; 9] = [
        Outcome::Blocked,
        Outcome::Asked,
        Outcome::Confirmed,
        Outcome::Denied,
        Outcome::AllowedOnce,
        Outcome::Overridden,
        Outcome::Saved,
        Outcome::Rewritten,
        Outcome::NotGranted,
    ];

    /// As it is written in the log.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Blocked => "blocked",
            Outcome::Asked => "asked",
            Outcome::Confirmed => "confirmed",
            Outcome::Denied => "denied",
            Outcome::AllowedOnce => "allowed-once",
            Outcome::Overridden => "overridden",
            Outcome::Saved => "saved",
            Outcome::NotGranted => "not-granted",
            Outcome::Rewritten => "rewritten",
        }
    }
}

/// An entry. Fields are added at the end; whatever changes the meaning of one changes `schema`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When it was decided, in UTC: `2026-01-31T09:08:07.123Z`.
    pub time: String,
    /// Always [`KIND`].
    pub kind: String,
    /// Always 1.
    pub schema: u32,
    /// What became of the call.
    pub action: Outcome,
    /// The rule that decided; empty if the verdict named none.
    pub rule: String,
    /// The tool's name as the agent spells it; empty if the call could not be read.
    pub tool: String,
    /// The agent's own input, secrets marked, long texts cut.
    pub input: Value,
    /// The words that matched, secrets marked.
    #[serde(default)]
    pub matched: Vec<String>,
    /// The reason as it was given.
    #[serde(default)]
    pub reason: String,
    /// All rules that spoke, the one that decided first.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Where the call was to run.
    #[serde(default)]
    pub cwd: String,
    /// Who made the call, as in `toolgate hook AGENT`.
    #[serde(default)]
    pub agent: String,
    /// The agent's own name for the session.
    #[serde(default)]
    pub session: String,
    /// The plugin that judged.
    #[serde(default)]
    pub plugin: String,
    /// The sha256 of its component.
    #[serde(default)]
    pub plugin_digest: String,
    /// How long the verdict took, in microseconds; asking a person not counted.
    #[serde(default)]
    pub decision_us: u64,
    /// What else there is to say, like which permission was used.
    #[serde(default)]
    pub note: String,
    /// The paths that the call is about, relative to the workspace where they lie in it.
    #[serde(default)]
    pub path_hints: Vec<String>,
    /// Names the denial or the question; a question and its answer have the same. Empty if the call was neither.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

/// What an entry says besides the call and its verdict.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// See [`Record::agent`].
    pub agent: String,
    /// See [`Record::plugin`].
    pub plugin: String,
    /// See [`Record::plugin_digest`].
    pub plugin_digest: String,
    /// The digests of other plugins that may have decided, by their names.
    pub others: BTreeMap<String, String>,
}

impl Record {
    /// The entry for a call, with its secrets marked.
    pub fn new(
        action: Outcome,
        call: &ToolCall,
        verdict: &Verdict,
        at: SystemTime,
        took: Duration,
        circumstances: &Circumstances,
    ) -> Self {
        let input = serde_json::from_str(&call.input).unwrap_or_else(|_| Value::String(call.input.clone()));
        let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
        let session = context["session"].as_str().unwrap_or_default().to_owned();
        let first = deciding(verdict);
        let reason = first.map(|finding| redact::redacted(&finding.reason)).unwrap_or_default();
        let plugin = first.map(|finding| finding.plugin.clone()).filter(|name| !name.is_empty());
        let plugin = plugin.unwrap_or_else(|| circumstances.plugin.clone());
        let rules = first
            .into_iter()
            .chain(verdict.findings.iter().filter(|one| !first.is_some_and(|f| std::ptr::eq(f, *one))));
        Record {
            time: rfc3339(at),
            kind: KIND.to_owned(),
            schema: 1,
            action,
            rule: first.map(|finding| finding.rule.clone()).unwrap_or_default(),
            tool: call.tool.clone(),
            input: redact::value(&input),
            matched: matched(call, verdict),
            reason,
            rules: rules.map(|finding| finding.rule.clone()).collect(),
            cwd: call.cwd.clone(),
            agent: circumstances.agent.clone(),
            session,
            plugin_digest: match circumstances.others.get(&plugin) {
                Some(other) if plugin != circumstances.plugin => other.clone(),
                _ => circumstances.plugin_digest.clone(),
            },
            plugin,
            decision_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            note: String::new(),
            path_hints: context["path_hints"]
                .as_array()
                .map(|hints| hints.iter().filter_map(|hint| Some(redact::redacted(hint.as_str()?))).collect())
                .unwrap_or_default(),
            id: String::new(),
        }
    }

    /// The entry as one line without its end, of at most [`LINE`] bytes.
    pub fn line(&self) -> String {
        let line = |record: &Record| serde_json::to_string(record).unwrap_or_default();
        let whole = line(self);
        if whole.len() <= LINE {
            return whole;
        }
        for (longest, most) in [(8 << 10, 64), (1 << 10, 32), (256, 16)] {
            let line = line(&self.shortened(longest, most));
            if line.len() <= LINE {
                return line;
            }
        }
        // An input of very many small parts: then as a text.
        let mut last = self.shortened(256, 16);
        last.input = Value::String(shortened(&self.input.to_string(), 4 << 10));
        line(&last)
    }

    fn shortened(&self, longest: usize, most: usize) -> Record {
        let text = |text: &String| shortened(text, longest);
        let list = |list: &[String]| {
            let mut kept: Vec<String> = list.iter().take(most).map(text).collect();
            if list.len() > most {
                kept.push(format!("[{} more]", list.len() - most));
            }
            kept
        };
        Record {
            rule: text(&self.rule),
            tool: text(&self.tool),
            input: cut(&self.input, longest),
            matched: list(&self.matched),
            reason: text(&self.reason),
            rules: list(&self.rules),
            cwd: text(&self.cwd),
            session: text(&self.session),
            note: text(&self.note),
            path_hints: list(&self.path_hints),
            ..self.clone()
        }
    }
}

fn cut(value: &Value, longest: usize) -> Value {
    match value {
        Value::String(text) => Value::String(shortened(text, longest)),
        Value::Array(items) => items.iter().map(|item| cut(item, longest)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, item)| (shortened(key, longest), cut(item, longest))).collect())
        }
        other => other.clone(),
    }
}

/// The finding that decided: the first of the strictest.
pub(crate) fn deciding(verdict: &Verdict) -> Option<&Finding> {
    use crate::{Action, Decision};
    let wanted = match verdict.decision {
        Decision::Block(_) => Action::Block,
        Decision::Ask(_) => Action::Ask,
        Decision::Rewrite(_) => Action::Rewrite,
        Decision::Pass => Action::Note,
    };
    verdict.findings.iter().find(|finding| finding.action == wanted).or_else(|| verdict.findings.first())
}

/// The words that matched, each with the secrets marked that the text round it gives away.
fn matched(call: &ToolCall, verdict: &Verdict) -> Vec<String> {
    let fields: Vec<_> = call.command.iter().chain(&call.paths).chain(&call.globs).collect();
    let mut found: Vec<(&str, Vec<std::ops::Range<usize>>)> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for one in verdict.findings.iter().flat_map(|finding| &finding.evidence) {
        let part = one.start as usize..one.end as usize;
        let field = fields.iter().find(|field| {
            field.name == one.field && field.value.get(part.clone()).is_some_and(|text| text == one.text)
        });
        let text = match field {
            None => redact::redacted(&one.text),
            Some(field) => {
                let secrets = match found.iter().position(|(name, _)| *name == field.name) {
                    Some(at) => &found[at].1,
                    None => {
                        found.push((&field.name, redact::secrets(&field.value)));
                        &found[found.len() - 1].1
                    }
                };
                redact::slice(&field.value, secrets, part)
            }
        };
        if !words.contains(&text) && words.len() < 64 {
            words.push(text);
        }
    }
    words
}

/// A time in UTC with milliseconds, as RFC 3339 has it.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// Takes entries. One that it cannot take is an error, and the call is blocked for it.
pub trait Audit: Send + Sync {
    /// Adds an entry. It may wait for other writers, but not for long.
    fn append(&self, record: &Record) -> Result<(), PrivateError>;
}

/// Takes nothing: with it every decision other than letting a call through is a block that says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAudit;

impl Audit for NoAudit {
    fn append(&self, _record: &Record) -> Result<(), PrivateError> {
        Err(PrivateError::Unfit { path: "the audit log".to_owned(), why: "is not granted" })
    }
}

/// Keeps entries in memory, for tests.
#[derive(Clone, Debug, Default)]
pub struct RecordingAudit(Arc<Mutex<Vec<Record>>>);

impl RecordingAudit {
    /// The entries so far.
    pub fn records(&self) -> Vec<Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Audit for RecordingAudit {
    fn append(&self, record: &Record) -> Result<(), PrivateError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::file::entry;
    use super::*;
    use crate::Evidence;

    pub(super) fn record(command: &str) -> Record {
        let call = ToolCall::shell(command, "/p");
        let verdict = Verdict::block("user:x", "no");
        Record::new(
            Outcome::Blocked,
            &call,
            &verdict,
            SystemTime::UNIX_EPOCH,
            Duration::ZERO,
            &Circumstances::default(),
        )
    }

    #[test]
    fn an_entry_says_what_when_where_and_by_whom() {
        let mut call = ToolCall::shell("API_TOKEN=x terraform destroy", "/p");
        call.context = r#"{"schema":1,"session":"s1"}"#.to_owned();
        let evidence =
            |start: u32, end: u32, text: &str| Evidence { field: "command".into(), start, end, text: text.into() };
        let mut verdict = Verdict::block("user:apply", "changes real machines at https://u:secret@h");
        verdict.findings[0].plugin = "guard".into();
        verdict.findings[0].evidence = vec![evidence(12, 29, "terraform destroy"), evidence(10, 11, "x")];
        let others = [("guard".to_owned(), "e".to_owned())].into();
        let circumstances =
            Circumstances { agent: "claude".into(), plugin: "p".into(), plugin_digest: "d".into(), others };
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_769_850_487_123);
        let record = Record::new(Outcome::Denied, &call, &verdict, at, Duration::from_micros(124), &circumstances);
        assert_eq!(
            record.line(),
            r#"{"time":"2026-01-31T09:08:07.123Z","kind":"damage-control-log","schema":1,"action":"denied","rule":"user:apply","tool":"bash","input":{"command":"API_TOKEN=[redacted] terraform destroy"},"matched":["terraform destroy","[redacted]"],"reason":"changes real machines at https://u:[redacted]@h","rules":["user:apply"],"cwd":"/p","agent":"claude","session":"s1","plugin":"guard","plugin_digest":"e","decision_us":124,"note":"","path_hints":[]}"#
        );
    }

    #[test]
    fn a_line_has_a_longest_length_and_says_what_is_left_out() {
        let many: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let cases = [
            record(&"x".repeat(3 << 20)),
            record(&"\u{1}".repeat(1 << 20)),
            Record { input: serde_json::json!(many), ..record("x") },
            Record { matched: vec!["y".repeat(1 << 20); 500], ..record("x") },
            Record { rules: many.clone(), ..record("x") },
        ];
        for long in cases {
            let line = long.line();
            assert!(line.len() <= LINE, "{}", line.len());
            assert!(line.contains(" omitted]") || line.contains(" more]"), "{}", &line[..200]);
            entry(line.as_bytes()).expect("still an entry");
        }
    }
}
