//! Codex CLI: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 0.169: Codex runs the call when an answer has one field too many, when a denial has no reason,
//! on `ask`, and when the hook fails. A bare `allow` is an error that it shows. So an answer here is never more than
//! what is said below. What is typed into a terminal that a call has left open is only seen where Codex would ask its user
//! about it; the event for that is judged like one before a call.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{SNAKE, call, nested, result, text};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, TRIAL, Tool, Trial,
};

/// Codex CLI.
pub(crate) struct Codex;

/// The event for a permission.
const PERMISSION: &str = "PermissionRequest";

/// The keys of an answer beside which Codex takes a denial for one, and those of the denial.
const ROOT: &[&str] = &["hookSpecificOutput", "systemMessage"];
const INNER: &[&str] =
    &["additionalContext", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"];

/// As of Codex 0.169, as its hooks name them.
const TOOLS: &[Tool] = &[Tool::patch("apply_patch", &["command", "input", "patch"]), Tool::shell("Bash", &[]), TYPED];

/// Text for a terminal that is open. There is no event before it but the one for the permission.
const TYPED: Tool = Tool { name: "write_stdin", row: Row { command: &["chars"], ..Row::of(ToolKind::Shell) } };

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        text(payload, SNAKE).is_some() && payload.get("turn_id").is_some()
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let mut moment = moment(payload.text("hook_event_name")?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        // `cwd` is the directory of the call, and no variable says the session's.
        let scene = payload.scene("session_id", "cwd", &[])?;
        let made = || {
            let ids = (payload.optional("tool_use_id"), payload.optional("permission_mode"));
            let mut made = call(self, &scene, ids, payload.text("tool_name")?, payload.field("tool_input")?)?;
            super::note(&mut made, "typed_unseen", true.into());
            Ok::<_, String>(made)
        };
        if moment.when == HookKind::Permission && payload.optional("tool_name") == TYPED.name {
            moment.when = HookKind::Before;
        }
        let about = match moment.when {
            HookKind::Before | HookKind::Permission => {
                EventPayload::Call { call: Box::new(made()?), asks: Asks::Nobody }
            }
            HookKind::After => {
                let output = payload.value.get("tool_response").unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(made()?, output, false, None)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let name = &moment.name;
        let said = match (moment.when, answer) {
            (_, Answer::Deny(reason) | Answer::Ask(reason)) if name == PERMISSION => {
                let decision = json!({ "behavior": "deny", "message": reason });
                json!({ "hookSpecificOutput": { "hookEventName": name, "decision": decision } })
            }
            (HookKind::SessionEnd | HookKind::Unknown, _) | (_, Answer::Nothing) => json!({}),
            // An answer to it that is no denial would be a yes.
            _ if name == PERMISSION => json!({}),
            (HookKind::TurnEnd | HookKind::SubagentEnd, Answer::Add(text)) => {
                json!({ "decision": "block", "reason": text })
            }
            (_, Answer::Add(text)) => {
                json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
            }
            // A question would let the call run.
            (_, Answer::Deny(reason) | Answer::Ask(reason)) => json!({ "hookSpecificOutput": {
                "hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": reason,
            } }),
            (_, Answer::Rewrite(input)) => json!({ "hookSpecificOutput": {
                "hookEventName": name, "permissionDecision": "allow", "updatedInput": input,
            } }),
        };
        super::with_message(said, message)
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("PreToolUse"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["PreToolUse"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        json!({
            "session_id": TRIAL, "turn_id": TRIAL, "transcript_path": null, "cwd": trial.cwd,
            "hook_event_name": trial.event, "model": TRIAL, "permission_mode": "default", "tool_name": "Bash",
            "tool_input": { "command": trial.command }, "tool_use_id": TRIAL,
        })
    }

    fn parse_answer(&self, event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        nested(answer, event, Some(ROOT), Some(INNER))
    }
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "PreToolUse" => HookKind::Before,
        PERMISSION => HookKind::Permission,
        "PostToolUse" => HookKind::After,
        "Stop" => HookKind::TurnEnd,
        "SubagentStop" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
