//! Verdicts and the reasons for them.

use crate::{Call, Command};

/// What is to become of a call. Only the host says yes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Decision {
    /// No opinion.
    #[default]
    Pass,
    /// Stop the call, for this reason.
    Block(String),
    /// Ask the user this question.
    Ask(String),
    /// Run the call with this input, a JSON text, instead of the agent's. Needs the grant `rewrite`.
    Rewrite(String),
}

impl Decision {
    /// The reason or the question.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Decision::Block(reason) | Decision::Ask(reason) => Some(reason),
            Decision::Pass | Decision::Rewrite(_) => None,
        }
    }
}

/// What a finding asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The input field's name.
    pub field: String,
    /// First byte within that field's text.
    pub start: u32,
    /// First byte after the match.
    pub end: u32,
    /// The text between the two.
    pub text: String,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name, unique within the plugin.
    pub rule: String,
    /// What it asks for.
    pub action: Action,
    /// A sentence for the person and for the agent.
    pub reason: String,
    /// Where it matched; empty if it is about the call as a whole.
    pub evidence: Vec<Evidence>,
}

/// A decision and what led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is to become of the call.
    pub decision: Decision,
    /// The reasons, the weightiest first.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// No opinion.
    pub fn pass() -> Self {
        Verdict::default()
    }

    /// Stops the call. The reason may not be empty.
    pub fn block(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Verdict { decision: Decision::Block(reason.clone()), findings: vec![finding(rule, Action::Block, reason)] }
    }

    /// Lets a person decide.
    pub fn ask(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Verdict { decision: Decision::Ask(reason.clone()), findings: vec![finding(rule, Action::Ask, reason)] }
    }

    /// Runs the call with this input instead.
    pub fn rewrite(rule: impl Into<String>, reason: impl Into<String>, input: &serde_json::Value) -> Self {
        let found = finding(rule, Action::Rewrite, reason.into());
        Verdict { decision: Decision::Rewrite(input.to_string()), findings: vec![found] }
    }

    /// With a finding that changes nothing.
    #[must_use]
    pub fn note(mut self, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        self.findings.push(finding(rule, Action::Note, reason.into()));
        self
    }

    /// Adds to the last finding where a command of the call's shell text stands.
    #[must_use]
    pub fn at(mut self, call: &Call, command: &Command) -> Self {
        let (start, end) = (command.span.start, command.span.end);
        let within = |text: &str| Some(text.get(start as usize..end as usize)?.to_owned());
        if let (Some(last), Some(field)) = (self.findings.last_mut(), &call.command)
            && let Some(text) = within(&field.value)
        {
            last.evidence.push(Evidence { field: field.name.clone(), start, end, text });
        }
        self
    }
}

fn finding(rule: impl Into<String>, action: Action, reason: String) -> Finding {
    Finding { rule: rule.into(), action, reason, evidence: Vec::new() }
}
