//! From a verdict to what becomes of the call: permissions for one call, the question to a person, the audit log.
//!
//! | Verdict | What becomes of it | Logged as |
//! |---|---|---|
//! | pass | it runs | nothing, or `overridden` |
//! | rewrite, where that is allowed | it runs with the new input | `rewritten` |
//! | block, ask; a grant covers all of it | it runs | `allowed-once` |
//! | block | it does not run | `blocked` |
//! | ask, and all that the call changes was saved | it runs | `saved` |
//! | ask, and the agent asks its own user | the question is passed on | `asked` |
//! | ask, and there is a person | their answer; none in time is no | `asked`, then `confirmed` or `denied` |
//! | ask, and there is nobody | it does not run | `blocked` |
//!
//! What cannot be logged does not run, and the reason says so.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use crate::audit::{Audit, Circumstances, KIND, Outcome, Record, deciding};
use crate::capability::{Denied, Journal, Recording, apart_or_here};
use crate::limits::deadline;
use crate::one_time_permits::OneTimePermits;
use crate::stopped_calls::{StoppedCall, StoppedCalls, new_id};
use crate::text::{excerpt, plain, shortened};
use crate::{Action, Decision, Finding, ToolCall, Verdict};

/// How long a person has to answer, unless it is set otherwise.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How a block's reason starts, so that an agent knows it for what it is.
pub const VIOLATION: &str = "Security Policy Violation: ";

/// The reason that an agent gets when its user says no, or nothing.
pub const DENIED: &str = "User denied execution";

/// The rule of a block in the place of an answer that could not be logged.
const UNLOGGED: &str = "host:audit";

/// How the reason of a note starts that lifts a rule for this call, as its own words ask for.
const OVERRIDDEN: &str = "overridden:";

/// Characters of a command in a question.
const SHOWN: usize = 400;

/// A question to a person.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What it is about, in a few words.
    pub title: &'a str,
    /// All of it as a text, nothing in it invisible or out of sight: the rule, what matched, the command.
    pub text: &'a str,
    /// The call, for whoever shows it in a way of their own.
    pub call: &'a ToolCall,
    /// What speaks against it.
    pub verdict: &'a Verdict,
}

/// Someone who can be asked.
///
/// ```
/// use std::time::Duration;
/// use toolgate_host::{Person, Question};
///
/// /// Says yes to nothing that deletes.
/// struct Careful;
///
/// #[async_trait::async_trait]
/// impl Person for Careful {
///     async fn confirm(&self, question: &Question<'_>, _deadline: Duration) -> bool {
///         !question.text.contains("rm ")
///     }
/// }
/// ```
#[async_trait]
pub trait Person: Send + Sync {
    /// Whether the call may run. Anything that is no clear yes is no; so is an answer after the deadline.
    async fn confirm(&self, question: &Question<'_>, deadline: Duration) -> bool;
}

#[async_trait]
impl Person for Denied {
    async fn confirm(&self, _question: &Question<'_>, _deadline: Duration) -> bool {
        false
    }
}

#[async_trait]
impl<T: Person> Person for Recording<T> {
    async fn confirm(&self, question: &Question<'_>, deadline: Duration) -> bool {
        self.record("person.confirm", &(question.title, question.text, deadline));
        self.inner().confirm(question, deadline).await
    }
}

/// What becomes of calls, and where it is written down.
///
/// ```no_run
/// # async fn example(call: toolgate_host::ToolCall, gate: toolgate_host::Gate) {
/// use std::path::Path;
/// use std::time::Instant;
/// use toolgate_host::Policy;
/// use toolgate_host::audit::AuditFile;
///
/// // What is logged and whom a question goes to; without a person a question is a no.
/// let policy = Policy::new().audit(AuditFile::new(Path::new("/home/dev/.local/state/mine/audit.jsonl")));
/// let before = Instant::now();
/// let verdict = gate.judge(&call).await;
/// let decided = policy.decide(&call, verdict, before.elapsed()).await;
/// println!("{:?}", decided.verdict.decision);
/// # }
/// ```
#[derive(Clone)]
pub struct Policy {
    audit: Option<Arc<dyn Audit>>,
    journal: Option<Arc<dyn Journal>>,
    grants: Option<OneTimePermits>,
    stopped: Option<StoppedCalls>,
    person: Option<Arc<dyn Person>>,
    agent_asks: bool,
    rewrites: bool,
    saved: Option<String>,
    deadline: Duration,
    circumstances: Circumstances,
    now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy")
            .field("audited", &self.audit.is_some())
            .field("grants", &self.grants)
            .field("stopped", &self.stopped)
            .field("attended", &self.person.is_some())
            .field("agent_asks", &self.agent_asks)
            .field("deadline", &self.deadline)
            .field("circumstances", &self.circumstances)
            .finish_non_exhaustive()
    }
}

/// What becomes of a call.
///
/// ```
/// use toolgate_host::{Decided, Decision, Verdict};
///
/// let decided = Decided::new(Verdict::pass());
/// assert!(decided.verdict.decision == Decision::Pass && decided.warnings.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// Pass, block, a rewrite, or a question that the agent is to ask; one that a permission answers is a
    /// pass.
    pub verdict: Verdict,
    /// What is wrong with the store of permissions, for the person.
    pub warnings: Vec<String>,
    /// Names a denial that a person can lift for this call.
    pub denial: Option<String>,
}

impl Decided {
    /// This, with nothing wrong.
    pub fn new(verdict: Verdict) -> Self {
        Decided { verdict, warnings: Vec::new(), denial: None }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Policy::new()
    }
}

impl Policy {
    /// Nobody is asked, nothing is granted, nothing is logged.
    pub fn new() -> Self {
        Policy {
            audit: None,
            journal: None,
            grants: None,
            stopped: None,
            person: None,
            agent_asks: false,
            rewrites: false,
            saved: None,
            deadline: ANSWER_TIMEOUT,
            circumstances: Circumstances::default(),
            now: Arc::new(SystemTime::now),
        }
    }

    /// Logs here. What cannot be logged does not run.
    #[must_use]
    pub fn audit(mut self, audit: impl Audit + 'static) -> Self {
        self.audit = Some(Arc::new(audit));
        self
    }

    /// Adds every entry to the session's journal as well, by the same rule.
    #[must_use]
    pub fn journal(mut self, journal: impl Journal + 'static) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Lets calls through that were permitted once.
    #[must_use]
    pub fn grants(mut self, grants: OneTimePermits) -> Self {
        self.grants = Some(grants);
        self
    }

    /// Keeps the calls that are stopped here, so that a person can let one through by its id.
    #[must_use]
    pub fn stopped(mut self, stopped: StoppedCalls) -> Self {
        self.stopped = Some(stopped);
        self
    }

    /// Asks this person.
    #[must_use]
    pub fn person(mut self, person: impl Person + 'static) -> Self {
        self.person = Some(Arc::new(person));
        self
    }

    /// Whether the agent puts a question to its user itself. Then it is passed on.
    #[must_use]
    pub fn agent_asks(mut self, asks: bool) -> Self {
        self.agent_asks = asks;
        self
    }

    /// Whether a call may run with another input than the agent's, which every gate has judged.
    #[must_use]
    pub fn rewrites(mut self, may: bool) -> Self {
        self.rewrites = may;
        self
    }

    /// Lets a call run that would be asked about: all that it changes was saved under this name, and the rules that ask need
    /// not where that is so.
    #[must_use]
    pub fn saved(mut self, id: Option<String>) -> Self {
        self.saved = id;
        self
    }

    /// How long a person has to answer.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The agent's and the plugin's name and the plugin's digest, for the log.
    #[must_use]
    pub fn circumstances(mut self, circumstances: Circumstances) -> Self {
        self.circumstances = circumstances;
        self
    }

    /// Another clock, for tests.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.now = Arc::new(now);
        self
    }

    /// What becomes of a call that was judged so, which took so long. A call that passes costs nothing here.
    pub async fn decide(&self, call: &ToolCall, verdict: Verdict, took: Duration) -> Decided {
        let mut case = Case { policy: self, call, took, id: String::new() };
        let (mut warnings, mut denial) = (Vec::new(), None);
        let verdict = match &verdict.decision {
            Decision::Pass => match verdict.findings.iter().any(overridden) {
                false => verdict,
                true => case.logged(Outcome::Overridden, &verdict, "", verdict.clone()).await,
            },
            Decision::Rewrite(_) if self.rewrites => {
                case.logged(Outcome::Rewritten, &verdict, "", verdict.clone()).await
            }
            Decision::Rewrite(_) => {
                let refused = Verdict::block("host:rewrite", "the call was rewritten without a grant to do so");
                case.blocked(&refused, "").await
            }
            Decision::Ask(_) if self.saved.is_some() => {
                let note = format!("saved as {}", self.saved.as_deref().unwrap_or_default());
                case.logged(Outcome::Saved, &verdict, &note, passing(&verdict, &note)).await
            }
            Decision::Block(_) | Decision::Ask(_) => {
                let granted = self.take(call, &verdict, &mut warnings).await;
                let note = warnings.join("; ");
                match (&verdict.decision, granted) {
                    (_, Some(id)) => {
                        let pass = passing(&verdict, &format!("permitted once by {id}"));
                        case.logged(Outcome::AllowedOnce, &verdict, &format!("permission {id}"), pass).await
                    }
                    (decision, None) => {
                        case.id = new_id(call, (self.now)());
                        let found = verdict.clone();
                        let answer = match decision {
                            Decision::Block(_) => case.blocked(&verdict, &note).await,
                            _ => case.asked(verdict, &note).await,
                        };
                        denial = case.kept(&found, &answer).await;
                        answer
                    }
                }
            }
        };
        Decided { verdict, warnings, denial }
    }

    async fn take(&self, call: &ToolCall, verdict: &Verdict, warnings: &mut Vec<String>) -> Option<String> {
        let grants = self.grants.clone()?;
        let (call, verdict, now) = (call.clone(), verdict.clone(), (self.now)());
        match on_disk(move || grants.take(&call, &verdict, now)).await {
            Ok(Ok(taken)) => taken.map(|grant| grant.id),
            Ok(Err(error)) => {
                warnings.push(format!("no permission was used: {error}"));
                None
            }
            Err(late) => {
                warnings.push(format!("no permission was used: {late}"));
                None
            }
        }
    }

    async fn log(&self, record: Record) -> Result<(), String> {
        if let Some(journal) = &self.journal {
            let appended = tokio::time::timeout(deadline::LOCAL, journal.append(KIND.to_owned(), record.line())).await;
            match appended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(format!("the session's journal: Error::{error:?}")),
                Err(_) => return Err("the session's journal did not answer".to_owned()),
            }
        }
        match self.audit.clone() {
            None => Ok(()),
            Some(audit) => on_disk(move || audit.append(&record)).await?.map_err(|error| error.to_string()),
        }
    }
}

/// Off the caller's thread and within a deadline: these files may be on a disk that hangs. Where there can be no other thread
/// it is done here all the same: a disk that answers is likelier, and what is decided has to be logged.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    match tokio::time::timeout(deadline::LOG, apart_or_here(work)).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err(format!("the disk did not respond within {} s", deadline::LOG.as_secs())),
    }
}

/// A call that is being decided.
struct Case<'a> {
    policy: &'a Policy,
    call: &'a ToolCall,
    took: Duration,
    /// Names it in the log, if it is stopped.
    id: String,
}

impl Case<'_> {
    async fn log(&self, outcome: Outcome, verdict: &Verdict, note: &str) -> Result<(), String> {
        let policy = self.policy;
        if policy.audit.is_none() && policy.journal.is_none() {
            return Ok(());
        }
        let now = (policy.now)();
        let mut record = Record::new(outcome, self.call, verdict, now, self.took, &policy.circumstances);
        note.clone_into(&mut record.note);
        record.id.clone_from(&self.id);
        policy.log(record).await
    }

    /// Keeps a call that does not run, or that the agent asks its user about. The id, if a person can let it through by that.
    async fn kept(&self, found: &Verdict, answer: &Verdict) -> Option<String> {
        let policy = self.policy;
        let asked = matches!(answer.decision, Decision::Ask(_));
        // What a person has just said no to, or what is not in the log, is not offered to them.
        let denied = match &answer.decision {
            Decision::Block(reason) => reason != DENIED && deciding(answer).is_some_and(|one| one.rule != UNLOGGED),
            _ => false,
        };
        let stopped = policy.stopped.clone().filter(|_| asked || denied)?;
        let mut call = StoppedCall::new(self.id.clone(), self.call, found, (policy.now)())?;
        (call.asked, call.agent) = (asked, policy.circumstances.agent.clone());
        let kept = on_disk(move || stopped.add(call)).await;
        match kept.map(|kept| kept.map_err(|error| error.to_string())) {
            Ok(Ok(())) => Some(self.id.clone()).filter(|_| denied),
            Ok(Err(error)) | Err(error) => {
                tracing::warn!(error, "the stopped call was not saved");
                None
            }
        }
    }

    /// This answer if it can be logged, else a block.
    async fn logged(&self, outcome: Outcome, verdict: &Verdict, note: &str, answer: Verdict) -> Verdict {
        match self.log(outcome, verdict, note).await {
            Ok(()) => answer,
            Err(error) => unlogged(answer, &error),
        }
    }

    async fn blocked(&self, verdict: &Verdict, note: &str) -> Verdict {
        self.logged(Outcome::Blocked, verdict, note, violation(verdict)).await
    }

    async fn asked(&self, verdict: Verdict, note: &str) -> Verdict {
        let policy = self.policy;
        if policy.agent_asks {
            return self.logged(Outcome::Asked, &verdict, note, verdict.clone()).await;
        }
        let Some(person) = &policy.person else {
            let Decision::Ask(reason) = &verdict.decision else { return verdict };
            let reason = format!("{reason}; only the user can allow this, and this mode does not ask the user");
            let nobody = Verdict { decision: Decision::Block(reason), findings: verdict.findings };
            let note = if note.is_empty() { "nobody to ask".to_owned() } else { format!("nobody to ask; {note}") };
            return self.logged(Outcome::Blocked, &nobody, &note, violation(&nobody)).await;
        };
        // Before the question: what cannot be logged is not even asked.
        if let Err(error) = self.log(Outcome::Asked, &verdict, note).await {
            return unlogged(verdict, &error);
        }
        let text = question(self.call, &verdict);
        let question = Question { title: "Toolgate: may this run?", text: &text, call: self.call, verdict: &verdict };
        let answer = tokio::time::timeout(policy.deadline, person.confirm(&question, policy.deadline)).await;
        match answer {
            Ok(true) => self.logged(Outcome::Confirmed, &verdict, "", passing(&verdict, "confirmed by the user")).await,
            Ok(false) | Err(_) => {
                let note = if answer.is_err() { "no answer in time" } else { "" };
                let denied =
                    Verdict { decision: Decision::Block(DENIED.to_owned()), findings: verdict.findings.clone() };
                self.logged(Outcome::Denied, &verdict, note, denied).await
            }
        }
    }
}

/// The block as an agent reads it. What failed in the gate itself violates no policy.
fn violation(verdict: &Verdict) -> Verdict {
    let mut blocked = verdict.clone();
    let own = deciding(verdict).is_some_and(Finding::is_of_the_host);
    if let Decision::Block(reason) = &mut blocked.decision
        && !own
        && !reason.starts_with(VIOLATION)
    {
        reason.insert_str(0, VIOLATION);
    }
    blocked
}

/// The pass in the place of a block or a question. Its findings stay as notes.
fn passing(verdict: &Verdict, why: &str) -> Verdict {
    let note = |finding: &Finding| Finding {
        action: Action::Note,
        reason: format!("{why}: {}", finding.reason),
        ..finding.clone()
    };
    Verdict { decision: Decision::Pass, findings: verdict.findings.iter().map(note).collect() }
}

/// The block in the place of an answer that could not be logged.
fn unlogged(answer: Verdict, error: &str) -> Verdict {
    let error = format!("the audit log cannot be written ({error})");
    if let Decision::Block(reason) = answer.decision {
        return Verdict { decision: Decision::Block(format!("{reason}; and {error}")), findings: answer.findings };
    }
    let mut blocked = Verdict::block(UNLOGGED, format!("{error}; calls that cannot be logged are blocked"));
    blocked.findings.extend(answer.findings);
    blocked
}

fn overridden(finding: &Finding) -> bool {
    finding.action == Action::Note && finding.reason.starts_with(OVERRIDDEN)
}

/// The one verdict that several plugins give together: the strictest decision, and what all of them found, with the
/// findings of the one that decides first. Two different new inputs are a block.
pub fn strictest(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict.decision {
        Decision::Pass => 0,
        Decision::Ask(_) => 1,
        // What is asked about as it was is not what would run.
        Decision::Rewrite(_) => 2,
        Decision::Block(_) => 3,
    };
    let mut all: Vec<Verdict> = verdicts.into_iter().collect();
    let mut inputs = all.iter().filter_map(|verdict| match &verdict.decision {
        Decision::Rewrite(input) => Some(input),
        _ => None,
    });
    let first = inputs.next();
    if inputs.any(|other| Some(other) != first) {
        all.push(Verdict::block("host:rewrite", "two plugins rewrote the call differently"));
    }
    // Stable: among equals the first one given decides.
    all.sort_by_key(|verdict| std::cmp::Reverse(rank(verdict)));
    let mut all = all.into_iter();
    let mut first = all.next().unwrap_or_else(Verdict::pass);
    first.findings.extend(all.flat_map(|verdict| verdict.findings));
    first
}

/// A question as a text. The rules and what matched come before the command, however long that is.
fn question(call: &ToolCall, verdict: &Verdict) -> String {
    let mut lines = Vec::new();
    if let Decision::Ask(reason) = &verdict.decision {
        lines.push(shortened(&plain(reason), SHOWN));
    }
    let asking: Vec<_> = verdict.findings.iter().filter(|finding| finding.action != Action::Note).collect();
    for finding in asking.iter().take(8) {
        lines.push(format!("Rule:     {}", shortened(&plain(&finding.rule), SHOWN)));
        for one in finding.evidence.iter().take(4) {
            lines.push(format!(
                "Matched:  {}",
                excerpt(&one.text, std::slice::from_ref(&(0..one.text.len())), SHOWN / 2).line
            ));
        }
        if finding.evidence.len() > 4 {
            lines.push(format!("          and {} more", finding.evidence.len() - 4));
        }
    }
    if asking.len() > 8 {
        lines.push(format!("          and {} more findings", asking.len() - 8));
    }
    for field in call.command.iter().chain(&call.paths).chain(&call.globs).take(8) {
        lines.push(format!(
            "{:<9} {}",
            format!("{}:", capital(&field.name)),
            excerpt(&field.value, &spans(verdict, &field.name), SHOWN).line
        ));
    }
    lines.push(format!("Tool:     {}", shortened(&plain(&call.tool), SHOWN)));
    lines.push(format!("Folder:   {}", shortened(&plain(&call.cwd), SHOWN)));
    lines.push("Do you want to proceed?".to_owned());
    lines.join("\n")
}

fn capital(name: &str) -> String {
    let name = shortened(&plain(name), 40);
    name.chars().take(1).flat_map(char::to_uppercase).chain(name.chars().skip(1)).collect()
}

/// Where in a field something matched.
pub fn spans(verdict: &Verdict, field: &str) -> Vec<std::ops::Range<usize>> {
    let evidence = verdict.findings.iter().flat_map(|finding| &finding.evidence);
    evidence.filter(|one| one.field == field).map(|one| one.start as usize..one.end as usize).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::audit::{AuditFile, NoAudit, RecordingAudit};
    use crate::one_time_permits::OneTimePermit;
    use crate::{Evidence, ToolKind};

    /// Answers so, or never.
    #[derive(Clone)]
    struct Says(Option<bool>);

    #[async_trait]
    impl Person for Says {
        async fn confirm(&self, _question: &Question<'_>, _deadline: Duration) -> bool {
            match self.0 {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    }

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn call() -> ToolCall {
        ToolCall::shell("git push -f", "/none")
    }

    fn ask() -> Verdict {
        let mut verdict = Verdict::block("user:push", "overwrites what others have");
        verdict.findings[0].action = Action::Ask;
        verdict.findings[0].evidence =
            vec![Evidence { field: "command".into(), start: 0, end: 11, text: "git push -f".into() }];
        verdict.decision = Decision::Ask("overwrites what others have".into());
        verdict
    }

    fn block() -> Verdict {
        Verdict::block("user:x", "no")
    }

    fn note(reason: &str) -> Verdict {
        let mut verdict = block();
        verdict.decision = Decision::Pass;
        verdict.findings[0].action = Action::Note;
        reason.clone_into(&mut verdict.findings[0].reason);
        verdict
    }

    fn text(decision: &Decision) -> String {
        match decision {
            Decision::Pass => "pass".to_owned(),
            Decision::Ask(reason) => format!("ask: {reason}"),
            Decision::Block(reason) => format!("block: {reason}"),
            Decision::Rewrite(input) => format!("rewrite: {input}"),
        }
    }

    async fn decided(policy: Policy, call: &ToolCall, verdict: Verdict) -> String {
        text(&policy.decide(call, verdict, Duration::ZERO).await.verdict.decision)
    }

    #[tokio::test]
    async fn every_verdict_has_one_answer_and_leaves_its_entries() {
        let plain = Policy::new;
        let with = |answer| Policy::new().person(Says(answer)).deadline(Duration::from_secs(3_600));
        let late = Policy::new().person(Says(None)).deadline(Duration::ZERO);
        let passed_on = Policy::new().agent_asks(true).person(Says(Some(false)));
        let nobody = "block: Security Policy Violation: overwrites what others have; only the user can allow this, and this mode does not ask the user";
        let rewrite = Verdict { decision: Decision::Rewrite("{}".into()), findings: Vec::new() };
        let saved = || with(Some(false)).saved(Some("1".to_owned()));
        let cases = [
            (saved(), ask(), "pass", vec!["saved"]),
            (saved(), block(), "block: Security Policy Violation: no", vec!["blocked"]),
            (plain(), Verdict::pass(), "pass", vec![]),
            (plain(), note("worth knowing"), "pass", vec![]),
            (plain(), note("overridden: the user's comment says so"), "pass", vec!["overridden"]),
            (plain(), block(), "block: Security Policy Violation: no", vec!["blocked"]),
            (with(Some(true)), block(), "block: Security Policy Violation: no", vec!["blocked"]),
            (plain(), Verdict::block("host:deadline", "late"), "block: late", vec!["blocked"]),
            (plain(), rewrite.clone(), "block: the call was rewritten without a grant to do so", vec!["blocked"]),
            (plain().rewrites(true), rewrite, "rewrite: {}", vec!["rewritten"]),
            (plain(), ask(), nobody, vec!["blocked"]),
            (Policy::new().person(Denied), ask(), "block: User denied execution", vec!["asked", "denied"]),
            (with(Some(true)), ask(), "pass", vec!["asked", "confirmed"]),
            (with(Some(false)), ask(), "block: User denied execution", vec!["asked", "denied"]),
            (late, ask(), "block: User denied execution", vec!["asked", "denied"]),
            (passed_on, ask(), "ask: overwrites what others have", vec!["asked"]),
        ];
        for (policy, verdict, expected, entries) in cases {
            let log = RecordingAudit::default();
            let shown = format!("{verdict:?}");
            assert_eq!(decided(policy.audit(log.clone()).clock(now), &call(), verdict).await, expected, "{shown}");
            let found: Vec<&str> = log.records().iter().map(|record| record.action.name()).collect();
            assert_eq!(found, entries, "{shown}");
            assert!(log.records().iter().all(|record| record.time == "2027-01-15T08:00:00.000Z"));
        }
    }

    #[tokio::test]
    async fn what_cannot_be_logged_does_not_run_and_says_so() {
        let confirming = || Policy::new().person(Recording::new(Says(Some(true))));
        let cases = [
            (Policy::new(), Verdict::pass(), "pass"),
            (Policy::new(), note("overridden: x"), "block: the audit log cannot be written ("),
            (Policy::new(), block(), "block: Security Policy Violation: no; and the audit log cannot be written ("),
            (confirming(), ask(), "block: the audit log cannot be written ("),
            (Policy::new().agent_asks(true), ask(), "block: the audit log cannot be written ("),
            (Policy::new().saved(Some("1".to_owned())), ask(), "block: the audit log cannot be written ("),
        ];
        for (policy, verdict, expected) in cases {
            let found = decided(policy.clone().audit(NoAudit), &call(), verdict.clone()).await;
            assert!(found.starts_with(expected), "{found}");
            let found = decided(policy.journal(Denied), &call(), verdict).await;
            assert!(found.starts_with(expected), "{found}");
        }
        // A real file that is none.
        let scratch = tempfile::tempdir().expect("a scratch folder");
        std::os::unix::fs::symlink("elsewhere", scratch.path().join("audit.jsonl")).expect("a link");
        let log = AuditFile::new(&scratch.path().join("audit.jsonl"));
        let found = decided(Policy::new().audit(log), &call(), block()).await;
        assert!(found.contains("audit.jsonl is a symbolic link, which Toolgate does not follow"), "{found}");
    }

    #[tokio::test]
    async fn nobody_is_asked_what_cannot_be_logged() {
        let person = Recording::new(Says(Some(true)));
        decided(Policy::new().person(person.clone()).audit(NoAudit), &call(), ask()).await;
        assert_eq!(person.requests(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_stopped_call_that_cannot_be_saved_stays_stopped_and_has_no_id() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = scratch.path().join("toolgate/stopped.json");
        std::fs::create_dir(scratch.path().join("toolgate")).expect("a folder");
        std::os::unix::fs::symlink("elsewhere", &file).expect("a link");
        let saved = StoppedCalls::new(&scratch.path().join("other/stopped.json"));
        // The verdict, whether the agent asks its user, and whether an id is offered where calls can be saved.
        for (verdict, asks, offered) in [(block(), false, true), (ask(), false, true), (ask(), true, false)] {
            let policy = || Policy::new().agent_asks(asks).clock(now);
            let plain = decided(policy(), &call(), verdict.clone()).await;
            for (stopped, offered) in [(StoppedCalls::new(&file), false), (saved.clone(), offered)] {
                let found = policy().stopped(stopped).decide(&call(), verdict.clone(), Duration::ZERO).await;
                assert_eq!(
                    (text(&found.verdict.decision), found.denial.is_some()),
                    (plain.clone(), offered),
                    "{verdict:?}"
                );
            }
        }
    }

    fn granting(folder: &Path) -> OneTimePermits {
        let grants = OneTimePermits::new(&folder.join("toolgate/allow-once.json"));
        let rules = vec!["user:push".to_owned(), "user:x".to_owned()];
        let grant = OneTimePermit::new(&call(), rules, now(), Duration::from_secs(60)).expect("a grant");
        grants.add(grant, now()).expect("added");
        grants
    }

    #[tokio::test]
    async fn a_permission_lets_one_call_through() {
        let other = || ToolCall::shell("git push -f x", "/none");
        let cases = [
            (call(), ask(), true),
            (call(), block(), true),
            (other(), ask(), false),
            (call(), Verdict::block("user:other", "no"), false),
            (call(), Verdict::block("host:trap", "no"), false),
            (call(), strictest([ask(), Verdict::block("user:other", "no")]), false),
            (call(), strictest([ask(), block()]), true),
        ];
        for (call, verdict, expected) in cases {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            let log = RecordingAudit::default();
            let policy = Policy::new().grants(granting(scratch.path())).audit(log.clone()).clock(now);
            let first = decided(policy.clone(), &call, verdict.clone()).await;
            let second = decided(policy, &call, verdict.clone()).await;
            assert_eq!((first == "pass", second == "pass"), (expected, false), "{verdict:?}");
            let action = if expected { Outcome::AllowedOnce } else { Outcome::Blocked };
            assert_eq!(log.records()[0].action, action);
        }
    }

    #[tokio::test]
    async fn a_permission_does_not_run_what_cannot_be_logged_and_a_bad_store_is_told() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let grants = granting(scratch.path());
        let found = decided(Policy::new().grants(grants.clone()).audit(NoAudit).clock(now), &call(), ask()).await;
        assert!(found.starts_with("block: the audit log cannot be written"), "{found}");
        std::fs::write(grants.path(), "{}").expect("written");
        let log = RecordingAudit::default();
        let policy = Policy::new().grants(grants).audit(log.clone()).clock(now);
        let answer = policy.decide(&call(), ask(), Duration::ZERO).await;
        assert!(matches!(answer.verdict.decision, Decision::Block(_)));
        assert!(answer.warnings[0].starts_with("no permission was used: "), "{:?}", answer.warnings);
        assert!(log.records()[0].note.contains("is not a permission store"));
    }

    #[tokio::test]
    async fn the_strictest_verdict_counts() {
        let rewrite = |input: &str| Verdict { decision: Decision::Rewrite(input.into()), findings: Vec::new() };
        let cases = [
            (vec![], "pass", 0),
            (vec![Verdict::pass(), ask()], "ask: overwrites what others have", 1),
            (vec![ask(), block(), Verdict::pass()], "block: no", 2),
            (vec![Verdict::block("a", "first"), block()], "block: first", 2),
            (vec![rewrite("{}"), Verdict::pass(), rewrite("{}")], "rewrite: {}", 0),
            (vec![rewrite("{}"), ask()], "rewrite: {}", 1),
            (vec![rewrite("{}"), rewrite("[]")], "block: two plugins rewrote the call differently", 1),
        ];
        for (verdicts, expected, findings) in cases {
            let found = strictest(verdicts);
            assert_eq!((text(&found.decision).as_str(), found.findings.len()), (expected, findings));
        }
    }

    #[tokio::test]
    async fn a_question_hides_nothing() {
        let long = format!("echo {} ; git push -f\u{202e}\u{1b}[2K {}", "x".repeat(100_000), "y".repeat(100_000));
        let mut call = ToolCall::shell(long, "/none\n\n\n\u{200b}");
        call.tool = "ba\u{7}sh".into();
        let mut verdict = ask();
        verdict.findings[0].evidence[0] =
            Evidence { field: "command".into(), start: 100_008, end: 100_022, text: "git push -f\u{202e}".into() };
        verdict.findings[0].rule = "user:\u{1b}[31mx".into();
        verdict.decision = Decision::Ask(format!("why{}", "\n".repeat(5_000)));
        let person = Recording::new(Says(Some(false)));
        decided(Policy::new().person(person.clone()), &call, verdict).await;
        let asked = person.requests().join("");
        let shown = asked.replace("\\\\", "\\");
        assert!(shown.len() < 4_000, "{}", shown.len());
        assert_eq!(shown.matches("git push -f\\u{202e}").count(), 2, "with the rule and in the command: {shown}");
        assert!(shown.contains("bytes omitted]") && shown.contains("user:\\u{1b}[31mx"), "{shown}");
        assert!(asked.contains("30s"), "the deadline unless another is set");
        assert!(!asked.chars().any(char::is_control), "{asked:?}");
    }

    #[test]
    fn what_is_left_out_of_a_question_is_counted_without_notes() {
        for (asking, notes, expected) in [(8, 0, None), (8, 3, None), (10, 3, Some("and 2 more findings"))] {
            let mut verdict = ask();
            let of = |verdict: Verdict| verdict.findings.into_iter().next().expect("a finding");
            verdict.findings = (0..asking).map(|_| of(ask())).chain((0..notes).map(|_| of(note("x")))).collect();
            let found = question(&call(), &verdict);
            let more = found.lines().map(str::trim).find(|line| line.ends_with("more findings"));
            assert_eq!(more, expected, "{asking} {notes}");
        }
    }

    #[tokio::test]
    async fn a_file_tool_is_asked_about_by_its_path() {
        let call = ToolCall::file("write", ToolKind::Write, "/etc/passwd", "/none");
        assert!(question(&call, &ask()).contains("\nPath:     /etc/passwd\nTool:     write\nFolder:   /none\n"));
    }
}
