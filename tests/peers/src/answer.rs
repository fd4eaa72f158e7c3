//! What a hook has said, as Claude Code takes it: exit code 2 is a denial; else the JSON on standard output decides;
//! any other exit code is an error that stops nothing.

use std::fmt;

use serde_json::Value;

/// What a hook has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// The call does not run.
    Deny,
    /// A person decides.
    Ask,
    /// It runs, and no one is asked.
    Allow,
    /// No opinion.
    Pass,
    /// The hook failed, and the call runs.
    Failed,
}

impl Answer {
    /// Reads it.
    pub fn of(exit: Option<i32>, output: &str) -> Answer {
        match exit {
            Some(2) => return Answer::Deny,
            Some(0) => {}
            _ => return Answer::Failed,
        }
        if output.trim().is_empty() {
            return Answer::Pass;
        }
        // What is no JSON is shown to the user and decides nothing.
        let Ok(said) = serde_json::from_str::<Value>(output) else { return Answer::Pass };
        let decision = said.pointer("/hookSpecificOutput/permissionDecision").or_else(|| said.get("decision"));
        match decision.and_then(Value::as_str) {
            Some("deny" | "block") => Answer::Deny,
            Some("ask") => Answer::Ask,
            Some("allow" | "approve") => Answer::Allow,
            _ => Answer::Pass,
        }
    }

    /// Whether the call does not run by itself.
    pub fn stops(self) -> bool {
        matches!(self, Answer::Deny | Answer::Ask)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Answer::Deny => "deny",
            Answer::Ask => "ask",
            Answer::Allow => "allow",
            Answer::Pass => "pass",
            Answer::Failed => "failed",
        })
    }
}
