//! What is said of a call.

use serde::{Deserialize, Serialize};

/// What a finding asks for.
///
/// Exhaustive on purpose, like [`Decision`]: whoever maps it should not compile with a case that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Stop the call.
    Block,
    /// Let a person decide.
    Ask,
    /// The call was rewritten because of this.
    Rewrite,
    /// Worth knowing, changes nothing.
    Note,
}

/// The words that a rule matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The input field's name, as in [`Field::name`](crate::Field::name).
    pub field: String,
    /// First byte within that field's text.
    pub start: u32,
    /// First byte after the match.
    pub end: u32,
    /// The text between the two.
    pub text: String,
}

impl Evidence {
    /// This text, which begins at that byte of a field.
    pub fn new(field: impl Into<String>, start: u32, text: impl Into<String>) -> Self {
        let text = text.into();
        let end = start.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
        Evidence { field: field.into(), start, end, text }
    }
}

/// One reason for a verdict.
///
/// ```
/// use toolgate_host::{Action, Evidence, Finding};
///
/// let finding = Finding::new("mine", "no-deploy", Action::Ask, "it deploys");
/// let finding = finding.with_evidence(vec![Evidence::new("command", 4, "deploy")]);
/// assert_eq!(finding.evidence[0].end, 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule's name, unique within its plugin.
    pub rule: String,
    /// The plugin that found it.
    pub plugin: String,
    /// What this finding asks for. The verdict's decision is what counts.
    pub action: Action,
    /// A sentence for the person and for the agent.
    pub reason: String,
    /// The matches. Empty if the rule is about the whole call.
    pub evidence: Vec<Evidence>,
}

/// How the names of the host's own rules begin. A plugin's rule cannot have such a name.
pub(crate) const OF_THE_HOST: &str = "host:";

impl Finding {
    /// Whether the host itself found it: something in the gate failed, or a plugin did what it may not. Nobody lifts that.
    ///
    /// ```
    /// use toolgate_host::{Action, Finding};
    ///
    /// assert!(Finding::new("", "host:deadline", Action::Block, "the guard took too long").is_of_the_host());
    /// assert!(!Finding::new("guard", "builtin:git-clean", Action::Ask, "deletes untracked files").is_of_the_host());
    /// ```
    pub fn is_of_the_host(&self) -> bool {
        self.rule.starts_with(OF_THE_HOST)
    }

    /// A finding about a whole call.
    pub fn new(plugin: impl Into<String>, rule: impl Into<String>, action: Action, reason: impl Into<String>) -> Self {
        Finding { rule: rule.into(), plugin: plugin.into(), action, reason: reason.into(), evidence: Vec::new() }
    }

    /// The same about these words.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Vec<Evidence>) -> Self {
        self.evidence = evidence;
        self
    }
}

/// The decision about a call. There is no "allow": that is up to whoever asked.
///
/// Exhaustive on purpose: a program that acts on a decision must not compile with one that it does not know.
///
/// ```
/// use toolgate_host::Decision;
///
/// fn may_run(decision: &Decision, confirmed: bool) -> bool {
///     match decision {
///         Decision::Pass | Decision::Rewrite(_) => true,
///         Decision::Ask(_) => confirmed,
///         Decision::Block(_) => false,
///     }
/// }
/// assert!(!may_run(&Decision::Ask("Push?".to_owned()), false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// No opinion: run the call.
    Pass,
    /// Stop the call, with the reason for it. The reason is not empty.
    Block(String),
    /// Ask the user this question. No answer and no user both mean no.
    Ask(String),
    /// Run the call with this input instead of the agent's, a JSON text. Only a gate that is
    /// [`rewriting`](crate::Gate::rewriting) gives it, and whoever asked has the new input judged again.
    Rewrite(String),
}

/// A decision and everything that led to it.
///
/// ```
/// use toolgate_host::{Decision, Verdict};
///
/// let verdict = Verdict::block("no-deploy", "deploys are made by the pipeline");
/// assert!(matches!(&verdict.decision, Decision::Block(reason) if reason.contains("pipeline")));
/// assert_eq!(verdict.findings[0].rule, "no-deploy");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The decision. It applies regardless of the findings.
    pub decision: Decision,
    /// The reasons for it. May be empty.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// A decision and the reasons for it.
    pub fn new(decision: Decision, findings: Vec<Finding>) -> Self {
        Verdict { decision, findings }
    }

    /// The verdict that stops a call, with a single finding.
    pub fn block(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let finding = Finding::new("", rule, Action::Block, reason.clone());
        Verdict { decision: Decision::Block(reason), findings: vec![finding] }
    }

    /// No opinion.
    pub fn pass() -> Self {
        Verdict { decision: Decision::Pass, findings: Vec::new() }
    }
}

/// A verdict, and what else the component knows of the call after it.
///
/// ```
/// use toolgate_host::{Judgement, Verdict};
///
/// assert_eq!(Judgement::only(Verdict::pass()).changes, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What is to stand under `memory` in the context of the session's later calls if this one runs: a JSON text. None if
    /// it stays what this call was given.
    pub memory: Option<String>,
    /// What the call changes, a JSON text: see `call-changes` of `wit/changes`. None if that is nothing, or if the component
    /// does not tell.
    pub changes: Option<String>,
}

impl Judgement {
    /// A verdict after which nothing else is known.
    pub fn only(verdict: Verdict) -> Self {
        Judgement { verdict, memory: None, changes: None }
    }
}
