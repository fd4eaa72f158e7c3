//! Grok CLI: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 1.0.41, and its source. It runs the hooks of Claude Code, with a command's arguments lost
//! unless they are in its text, and says everything in both spellings. A decision stands at the top of the answer: a denial as
//! Claude Code reads it is an empty answer here, and so is a question an error, and with either the call runs. What fails or
//! comes late lets it run as well.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{CAMEL, SNAKE, call, flat, result, text};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, TRIAL, Tool, Trial,
    folder,
};

/// Grok CLI.
pub struct Grok;

/// As its own set of tools names them, and the others that it can be told to have.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::patch("apply_patch", &["input", "patch"]),
    Tool::look("grep", ToolKind::Search, &["path"], &["glob"]),
    Tool::look("list_dir", ToolKind::List, &["target_directory", "dir_path", "path"], &[]),
    Tool::shell("monitor", &[]),
    Tool { name: "read_file", row: Row { paths: &["target_file", "file_path", "path"], ..Row::of(ToolKind::Read) } },
    Tool::shell("run_terminal_cmd", &[]),
    Tool::shell("run_terminal_command", &[]),
    Tool::file("search_replace", ToolKind::Edit, &["file_path"]),
    Tool::fetch("web_fetch", &["url"]),
    Tool::other("web_search", ToolKind::Fetch),
    Tool { name: "write", row: Row { paths: &["filePath", "file_path", "path"], ..Row::of(ToolKind::Write) } },
];

impl Dialect for Grok {
    fn name(&self) -> &'static str {
        "grok"
    }

    fn title(&self) -> &'static str {
        "Grok CLI"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        text(payload, CAMEL).is_some_and(|event| event.starts_with(char::is_lowercase))
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text(CAMEL)?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["toolName", "toolInput"]);
        }
        let scene = payload.scene("sessionId", "cwd", &["GROK_WORKSPACE_ROOT"])?;
        let made = || {
            let name = payload.text("toolName")?;
            // What is left of it says nothing of the rest.
            if payload.value.get("toolInputTruncated") == Some(&Value::Bool(true)) {
                return Err(format!("Grok CLI truncated the input of {name}"));
            }
            let ids = (payload.optional("toolUseId"), payload.optional("permissionMode"));
            let mut made = call(self, &scene, ids, name, payload.field("toolInput")?)?;
            // Each of its commands begins where the one before has ended.
            if made.kind == ToolKind::Shell {
                folder::anywhere(&mut made);
            }
            Ok::<_, String>(made)
        };
        let about = match moment.when {
            HookKind::Before => EventPayload::Call { call: Box::new(made()?), asks: Asks::Nobody },
            HookKind::After => {
                let failed = payload.value.get("error");
                let output = failed.or_else(|| payload.value.get("toolResult")).unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(made()?, output, failed.is_some(), None)))
            }
            HookKind::TurnEnd => {
                // The end of the session is one for it, too.
                let sent = payload.value.get("stopHookActive") == Some(&Value::Bool(true));
                EventPayload::Turn { again: sent || payload.optional("reason") != "end_turn" }
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, _message: Option<&str>) -> String {
        let said = match (moment.when, answer) {
            (HookKind::TurnEnd | HookKind::SubagentEnd, Answer::Add(text)) => {
                json!({ "decision": "block", "reason": text })
            }
            (_, Answer::Deny(reason) | Answer::Ask(reason)) => json!({ "decision": "deny", "reason": reason }),
            (_, Answer::Rewrite(input)) => {
                json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": input } })
            }
            // It reads nothing at other events, and shows no messages of hooks.
            (_, Answer::Nothing | Answer::Add(_)) => json!({}),
        };
        super::with_message(said, None)
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("pre_tool_use"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["pre_tool_use"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        let input = json!({ "command": trial.command, "description": "a test of Toolgate" });
        json!({
            CAMEL: trial.event, SNAKE: "PreToolUse", "sessionId": TRIAL, "session_id": TRIAL, "cwd": trial.cwd, "workspaceRoot": trial.cwd, "promptId": TRIAL,
            "timestamp": jiff::Timestamp::now().to_string(), "permissionMode": "default", "toolUseId": TRIAL,
            "toolName": "run_terminal_command", "tool_name": "run_terminal_command", "toolInputTruncated": false,
            "toolInput": input, "tool_input": input,
        })
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        flat(answer, ["decision", "reason"], &["deny"])
    }
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "session_start" => HookKind::SessionStart,
        "session_end" => HookKind::SessionEnd,
        "pre_tool_use" => HookKind::Before,
        "post_tool_use" | "post_tool_use_failure" => HookKind::After,
        "stop" => HookKind::TurnEnd,
        "subagent_stop" | "subagent_end" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
