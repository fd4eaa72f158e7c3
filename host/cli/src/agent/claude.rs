//! Claude Code: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 2.1: an answer is one JSON object on standard output with exit code 0. Nothing at all is
//! no opinion; `allow` would skip the user's own permission prompts and is never said. Anything else on standard
//! output, and any other exit code but 2, lets the call run.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_host::{Decision, ToolCall, ToolKind, Verdict};

use super::{Tool, read, reason_text};
use crate::place;

/// As of Claude Code 2.1.
#[rustfmt::skip]
pub(crate) const TOOLS: &[Tool] = &[
    Tool { name: "Bash", kind: ToolKind::Shell, required: &["command"], paths: &[], globs: &[] },
    Tool { name: "Edit", kind: ToolKind::Edit, required: &["file_path"], paths: &[], globs: &[] },
    Tool { name: "Glob", kind: ToolKind::List, required: &[], paths: &["path"], globs: &["pattern"] },
    Tool { name: "Grep", kind: ToolKind::Search, required: &[], paths: &["path"], globs: &["glob"] },
    Tool { name: "LS", kind: ToolKind::List, required: &[], paths: &["path"], globs: &[] },
    Tool { name: "MultiEdit", kind: ToolKind::Edit, required: &["file_path"], paths: &[], globs: &[] },
    Tool { name: "NotebookEdit", kind: ToolKind::Edit, required: &["notebook_path"], paths: &[], globs: &[] },
    Tool { name: "Read", kind: ToolKind::Read, required: &["file_path"], paths: &[], globs: &[] },
    Tool { name: "WebFetch", kind: ToolKind::Fetch, required: &[], paths: &[], globs: &[] },
    Tool { name: "Write", kind: ToolKind::Write, required: &["file_path"], paths: &[], globs: &[] },
];

/// Modes in which Claude Code has been seen to say yes for its user when a hook says `ask`.
const UNATTENDED: &[&str] = &["auto", "bypassPermissions", "dontAsk"];

/// What Claude Code asks.
pub(crate) enum Event {
    /// A tool is about to run.
    PreToolUse {
        call: Box<ToolCall>,
        /// Whether a question would reach a person.
        attended: bool,
    },
    /// A session starts in this folder.
    SessionStart { cwd: String },
    /// Something that nothing is to be said about.
    Other,
}

/// Reads a payload. An error is a reason not to run whatever was asked about.
pub(crate) fn decode(payload: &[u8]) -> Result<Event, String> {
    let payload = std::str::from_utf8(payload).map_err(|_| "the hook's payload is not UTF-8 text".to_owned())?;
    let payload: Value =
        serde_json::from_str(payload).map_err(|error| format!("the hook's payload is not JSON: {error}"))?;
    let text = |key: &str| match payload.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("the field {key} of the hook's payload is not a text")),
        None => Err(format!("the hook's payload has no field {key}")),
    };
    let cwd = || match text("cwd")? {
        cwd if cwd.starts_with('/') => Ok(cwd),
        cwd => Err(format!("the working directory {cwd} is not an absolute path")),
    };
    match text("hook_event_name")?.as_str() {
        "PreToolUse" => {
            let name = text("tool_name")?;
            let input = payload.get("tool_input").ok_or("the hook's payload has no field tool_input")?;
            let cwd = cwd()?;
            let optional = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default();
            let call = ToolCall {
                id: optional("tool_use_id").to_owned(),
                home: place::home(),
                workspace_root: workspace_root(&cwd),
                context: json!({
                    "schema": 1,
                    "agent": "claude",
                    "session": optional("session_id"),
                    "mode": optional("permission_mode"),
                })
                .to_string(),
                ..ToolCall::new(&name, ToolKind::Other, &cwd)
            };
            let attended = !UNATTENDED.contains(&optional("permission_mode"));
            Ok(Event::PreToolUse { call: Box::new(read(TOOLS, &name, input, call)?), attended })
        }
        "SessionStart" => Ok(Event::SessionStart { cwd: cwd()? }),
        _ => Ok(Event::Other),
    }
}

/// The project's root: what Claude Code says, else what the folders say. It stays the same wherever a call runs.
pub(crate) fn workspace_root(cwd: &str) -> String {
    let said = std::env::var("CLAUDE_PROJECT_DIR").ok().filter(|root| root.starts_with('/'));
    said.unwrap_or_else(|| place::project_root(Path::new(cwd)).display().to_string())
}

/// The answer to a call that is about to run; empty for no opinion. `message` is shown to the user.
pub(crate) fn encode(verdict: &Verdict, message: Option<&str>) -> String {
    let (decision, reason) = match &verdict.decision {
        Decision::Pass => return notice(message),
        Decision::Ask(reason) => ("ask", reason.clone()),
        Decision::Block(reason) | Decision::Rewrite(reason) => ("deny", reason.clone()),
    };
    let mut answer = json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason_text(verdict, &reason),
        }
    });
    if let Some(message) = message {
        answer["systemMessage"] = message.into();
    }
    answer.to_string()
}

/// The answer to a call that could not be judged.
pub(crate) fn refuse(verdict: &Verdict) -> String {
    encode(verdict, None)
}

/// A word to the user, with no opinion on anything.
pub(crate) fn notice(message: Option<&str>) -> String {
    message.map_or_else(String::new, |message| json!({ "systemMessage": message }).to_string())
}
