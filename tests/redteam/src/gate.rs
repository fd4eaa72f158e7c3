//! A call as Claude Code sends it to its hook, and what the hook answers.

use serde_json::{Value, json};
use toolgate_test_sandbox::sandbox::{Error, Sandbox};
use toolgate_test_sandbox::{HOME, PROJECT};

use crate::recipe::Call;

/// What the hook says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: it runs.
    Passes,
    /// It does not run, or a person is asked; the reason.
    Stops(String),
}

/// Asks the hook, in the place and with its files as they are now, about the call of this number.
pub fn ask(sandbox: &mut Sandbox, session: &str, call: &Call, number: usize) -> Result<Answer, Error> {
    let payload = payload("PreToolUse", session, call, number);
    let step = sandbox.ask(&["/mnt/toolgate", "hook", "claude"], payload.to_string().as_bytes())?;
    let said: Value = serde_json::from_slice(&step.output).unwrap_or(Value::Null);
    let answer = &said["hookSpecificOutput"];
    Ok(match answer["permissionDecision"].as_str() {
        Some("deny" | "ask") => Answer::Stops(answer["permissionDecisionReason"].as_str().unwrap_or("").to_owned()),
        _ if step.exit != Some(0) => Answer::Stops(format!("the hook ended with {:?}", step.exit)),
        _ => Answer::Passes,
    })
}

/// Tells the hook that a call has run.
pub fn ran(sandbox: &mut Sandbox, session: &str, call: &Call, number: usize) -> Result<(), Error> {
    let mut payload = payload("PostToolUse", session, call, number);
    payload["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false, "isImage": false });
    sandbox.ask(&["/mnt/toolgate", "hook", "claude"], payload.to_string().as_bytes()).map(drop)
}

/// Undoes all that was saved of the session.
pub fn undo(sandbox: &mut Sandbox) -> Result<(), Error> {
    sandbox.ask(&["/mnt/toolgate", "undo", "--session", "--all"], &[]).map(drop)
}

fn payload(event: &str, session: &str, call: &Call, number: usize) -> Value {
    let (tool, input) = as_sent(call);
    json!({
        "hook_event_name": event, "session_id": session, "cwd": PROJECT, "permission_mode": "default",
        "transcript_path": format!("{HOME}/.claude/projects/{session}.jsonl"), "tool_name": tool, "tool_input": input,
        "tool_use_id": format!("toolu_{number}"),
    })
}

/// The tool and its input.
fn as_sent(call: &Call) -> (&str, Value) {
    match call {
        Call::Shell(text) => ("Bash", json!({ "command": text, "description": "Next step" })),
        Call::Write(path, content) => ("Write", json!({ "file_path": absolute(path), "content": content })),
        Call::Edit(path, old, new) => {
            ("Edit", json!({ "file_path": absolute(path), "old_string": old, "new_string": new }))
        }
        Call::Tool(name, input, _) => (name, serde_json::from_str(input).unwrap_or_else(|_| json!({ "input": input }))),
    }
}

/// Agents' file tools name files from the root.
pub fn absolute(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("{HOME}/{rest}"),
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{PROJECT}/{path}"),
    }
}
