//! Claude Code: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 2.1: an answer is one JSON object on standard output with exit code 0. Nothing at all is
//! no opinion; `allow` would skip the user's own permission prompts and is never said. Anything else on standard
//! output, and any other exit code but 2, lets the call run.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{call, nested, nested_answer, result};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, TRIAL, Tool, Trial,
};

/// Claude Code, or an agent that speaks like it.
pub struct Claude {
    /// Whether it is Claude Code itself.
    itself: bool,
}

/// Claude Code.
pub static CLAUDE: Claude = Claude { itself: true };

/// Whoever runs the hooks in Claude Code's settings and sends its payload, and is not Claude Code. Devin reads a decision at
/// the top of an answer only, and nobody knows what others make of a question.
pub static ALIKE: Claude = Claude { itself: false };

impl Claude {
    /// Which of the two has sent a payload that no other agent has. The payloads differ in nothing that has to be there: so by
    /// what Claude Code tells its hooks besides, and by what has been seen in none of its payloads. It runs no other agent's
    /// hooks than its own.
    pub(super) fn sent(payload: &Value, variables: &dyn Fn(&str) -> Option<String>, own: bool) -> &'static Claude {
        let session = payload.get("session_id").and_then(Value::as_str);
        if session.is_some() && variables("CLAUDE_CODE_SESSION_ID").as_deref() == session {
            return &CLAUDE;
        }
        let is_named = |name: &str| name.starts_with(char::is_uppercase) || name.starts_with("mcp__");
        let other = !own
            || payload.get("timestamp").is_some()
            || payload.get("tool_name").and_then(Value::as_str).is_some_and(|name| !is_named(name))
            || variables("DEVIN_PROJECT_DIR").is_some();
        if other { &ALIKE } else { &CLAUDE }
    }
}

/// As of Claude Code 2.1.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::shell("Bash", &[]),
    Tool::file("Edit", ToolKind::Edit, &["file_path"]),
    Tool::look("Glob", ToolKind::List, &["path"], &["pattern"]),
    Tool::look("Grep", ToolKind::Search, &["path"], &["glob"]),
    Tool::look("LS", ToolKind::List, &["path"], &[]),
    Tool::file("MultiEdit", ToolKind::Edit, &["file_path"]),
    Tool::file("NotebookEdit", ToolKind::Edit, &["notebook_path"]),
    Tool::shell("PowerShell", &[]),
    Tool::file("Read", ToolKind::Read, &["file_path"]),
    Tool::fetch("WebFetch", &["url"]),
    Tool::other("WebSearch", ToolKind::Fetch),
    Tool::file("Write", ToolKind::Write, &["file_path"]),
];

/// Modes in which Claude Code puts a question to its user. In others it has been seen to say yes in their place.
const ATTENDED: &[&str] = &["acceptEdits", "default", "plan"];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        if self.itself { "Claude Code" } else { "an agent like Claude Code" }
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_understood(&self) -> bool {
        self.itself
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text("hook_event_name")?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        let scene = payload.scene("session_id", "cwd", &["CLAUDE_PROJECT_DIR"])?;
        let mode = payload.optional("permission_mode");
        let made = || {
            let input = payload.field("tool_input")?;
            call(self, &scene, (payload.optional("tool_use_id"), mode), payload.text("tool_name")?, input)
        };
        let about = match moment.when {
            HookKind::Before | HookKind::Permission => {
                let asks = if self.itself && ATTENDED.contains(&mode) { Asks::Agent } else { Asks::Nobody };
                EventPayload::Call { call: Box::new(made()?), asks }
            }
            HookKind::After => {
                let failed = payload.value.get("error");
                // A command that fails has its exit code in a sentence.
                let code = failed.and_then(Value::as_str).and_then(|text| text.strip_prefix("Exit code "));
                let code = code.and_then(|text| text.split_whitespace().next()?.parse().ok());
                let code = code.or_else(|| ended_well(payload.value.get("tool_response")?).then_some(0));
                let output = failed.or_else(|| payload.value.get("tool_response")).unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(made()?, output, failed.is_some(), code)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    /// Claude Code 2.1.330 takes the `glob` of `Grep` apart at blanks, and what has no braces at commas.
    fn patterns(&self, tool: &str, text: &str) -> Vec<String> {
        if tool != "Grep" {
            return vec![text.to_owned()];
        }
        let parts = text.split(|c: char| c.is_whitespace() || c == '\u{feff}').flat_map(|part| {
            let between: &[char] = if part.contains(['{', '}']) { &[] } else { &[','] };
            part.split(between)
        });
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let said = match (moment.when, answer) {
            (HookKind::Permission, Answer::Deny(reason)) => {
                let decision = json!({ "behavior": "deny", "message": reason });
                json!({ "hookSpecificOutput": { "hookEventName": moment.name, "decision": decision } })
            }
            // Claude Code asks its user at that moment anyway.
            (HookKind::Permission, _) => json!({}),
            _ => nested_answer(moment, answer),
        };
        super::with_message(said, message)
    }

    /// Only where the event for it is installed, which is for plugins.
    fn tells_failures(&self) -> bool {
        false
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("PreToolUse"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["PreToolUse"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        json!({
            "session_id": TRIAL, "transcript_path": "", "cwd": trial.cwd, "prompt_id": TRIAL,
            "permission_mode": "default", "effort": { "level": "medium" }, "hook_event_name": trial.event,
            "tool_name": "Bash", "tool_use_id": TRIAL,
            "tool_input": { "command": trial.command, "description": "a test of Toolgate" },
        })
    }

    fn said(&self, event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        nested(answer, event, None, None)
    }
}

/// Whether a result says that a command has ended with 0: not one that goes on in the background, and not one whose other
/// exit code is taken for a success.
fn ended_well(response: &Value) -> bool {
    let said = |key: &str| response.get(key).is_some_and(|value| !value.is_null());
    response.get("interrupted") == Some(&Value::Bool(false))
        && !said("backgroundTaskId")
        && !said("returnCodeInterpretation")
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "PreToolUse" => HookKind::Before,
        "PermissionRequest" => HookKind::Permission,
        "PostToolUse" | "PostToolUseFailure" => HookKind::After,
        "Stop" => HookKind::TurnEnd,
        "SubagentStop" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
