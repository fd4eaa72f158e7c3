//! Grok CLI: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 1.0.41, and its source. It runs the hooks of Claude Code, with a command's arguments lost
//! unless they are in its text, and says everything in both spellings. A decision stands at the top of the answer: a denial as
//! Claude Code reads it is an empty answer here, and so is a question an error, and with either the call runs. What fails or
//! comes late lets it run as well.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::caller::{CAMEL, SNAKE, text};
use super::payload::{call, flat, result};
use super::{About, Answer, Asks, Dialect, Event, Moment, Payload, Row, Said, TRIAL, Tool, Trial, When, folder};

pub(crate) struct Grok;

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
        if moment.when == When::Unknown {
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
            When::Before => About::Call { call: Box::new(made()?), asks: Asks::Nobody },
            When::After => {
                let failed = payload.value.get("error");
                let output = failed.or_else(|| payload.value.get("toolResult")).unwrap_or(&Value::Null);
                About::Result(Box::new(result(made()?, output, failed.is_some(), None)))
            }
            When::TurnEnd => {
                // The end of the session is one for it, too.
                let sent = payload.value.get("stopHookActive") == Some(&Value::Bool(true));
                About::Turn { again: sent || payload.optional("reason") != "end_turn" }
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, moment: &Moment, answer: &Answer, _message: Option<&str>) -> String {
        let said = match (moment.when, answer) {
            (When::TurnEnd | When::SubagentEnd, Answer::Add(text)) => json!({ "decision": "block", "reason": text }),
            (_, Answer::Deny(reason) | Answer::Ask(reason)) => json!({ "decision": "deny", "reason": reason }),
            (_, Answer::Rewrite(input)) => {
                json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": input } })
            }
            // It reads nothing at other events, and shows no messages of hooks.
            (_, Answer::Nothing | Answer::Add(_)) => json!({}),
        };
        super::with_message(said, None)
    }

    fn unreadable(&self, event: Option<&str>) -> Moment {
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

    fn said(&self, _event: &str, answer: &str) -> Result<Said, String> {
        flat(answer, ["decision", "reason"], &["deny"])
    }
}

fn moment(name: &str) -> Moment {
    let when = match name {
        "session_start" => When::SessionStart,
        "session_end" => When::SessionEnd,
        "pre_tool_use" => When::Before,
        "post_tool_use" | "post_tool_use_failure" => When::After,
        "stop" => When::TurnEnd,
        "subagent_stop" | "subagent_end" => When::SubagentEnd,
        _ => When::Unknown,
    };
    Moment { when, name: name.to_owned() }
}
