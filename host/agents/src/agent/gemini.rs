//! Gemini CLI: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 0.61: a decision stands at the top of the answer. There is no `ask`: in a run without a user it
//! ended the program. The mode is not said either, so a question is a denial. A new input takes the place of the whole
//! old one. In its mode for editors (ACP) no hook is called before or after a tool.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_host::{ToolCall, ToolKind};

use super::payload::{SNAKE, call, flat, result, text};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, TRIAL, Tool, Trial,
    decoded,
};

/// Gemini CLI.
pub(crate) struct Gemini;

/// As of Gemini CLI 0.61.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::look("glob", ToolKind::List, &["dir_path", "path"], &["pattern"]),
    Tool::look("grep_search", ToolKind::Search, &["dir_path", "path"], &["include_pattern", "include"]),
    Tool::look("list_directory", ToolKind::List, &["dir_path", "path"], &[]),
    Tool::file("read_file", ToolKind::Read, &["file_path"]),
    Tool::file("replace", ToolKind::Edit, &["file_path"]),
    Tool { name: "run_shell_command", row: Row { command: &["command"], cwd: &["dir_path"], other_cwd: &["directory"], ..Row::of(ToolKind::Shell) } },
    Tool::look("search_file_content", ToolKind::Search, &["dir_path", "path"], &["include"]),
    Tool::other("google_web_search", ToolKind::Fetch),
    Tool::file("write_file", ToolKind::Write, &["file_path"]),
];

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        text(payload, SNAKE).is_some_and(|event| event.starts_with("Before") || event.starts_with("After"))
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text("hook_event_name")?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        let scene = payload.scene("session_id", "cwd", &["GEMINI_PROJECT_DIR"])?;
        let made = || call(self, &scene, ("", ""), payload.text("tool_name")?, payload.field("tool_input")?);
        let about = match moment.when {
            HookKind::Before => {
                let made = made()?;
                if is_sought(&made) {
                    return Err(SOUGHT.to_owned());
                }
                EventPayload::Call { call: Box::new(made), asks: Asks::Nobody }
            }
            HookKind::After => {
                let response = payload.value.get("tool_response").unwrap_or(&Value::Null);
                let output = response.get("llmContent").unwrap_or(&Value::Null);
                let failed = response.get("error").is_some_and(|error| !error.is_null());
                EventPayload::Result(Box::new(result(made()?, output, failed, None)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    /// As the file tools of Gemini CLI 0.61 read a path: an `@` before it is dropped where there is no such file, and `%XX` is
    /// decoded. They take NULs out as well, but a path with one is denied for every agent.
    fn readings(&self, path: &str) -> Vec<String> {
        let plain = unmarked(path);
        vec![plain.to_owned(), decoded(path), decoded(plain)]
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let name = &moment.name;
        let said = match answer {
            Answer::Nothing => json!({}),
            // What is denied after a turn is said again to the agent, which goes on with it.
            Answer::Add(text) if moment.when == HookKind::TurnEnd => json!({ "decision": "deny", "reason": text }),
            Answer::Add(text) => json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } }),
            Answer::Deny(reason) | Answer::Ask(reason) => json!({ "decision": "deny", "reason": reason }),
            Answer::Rewrite(input) => json!({ "hookSpecificOutput": { "hookEventName": name, "tool_input": input } }),
        };
        super::with_message(said, message)
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("BeforeTool"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["BeforeTool"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        json!({
            "session_id": TRIAL, "transcript_path": "", "cwd": trial.cwd, "hook_event_name": trial.event,
            "timestamp": jiff::Timestamp::now().to_string(), "tool_name": "run_shell_command",
            "tool_input": { "command": trial.command, "description": "a test of Toolgate" },
        })
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        flat(answer, ["decision", "reason"], &["deny", "block"])
    }
}

/// A path without the `@` before it.
fn unmarked(path: &str) -> &str {
    match path.strip_prefix('@').map(|rest| rest.trim_start_matches(['/', '\\'])) {
        Some(rest) if !rest.is_empty() => rest,
        _ => path,
    }
}

const SOUGHT: &str =
    "no such file, and Gemini CLI would use another file whose path ends like this; give the full path";

/// Whether the file of a call is looked for: `replace` of Gemini CLI 0.61 takes the one file of the workspace whose path ends
/// with a relative path at which there is none.
fn is_sought(call: &ToolCall) -> bool {
    let Some(field) = call.paths.first().filter(|_| call.tool == "replace") else { return false };
    let is_there = |path: &str| Path::new(&call.cwd).join(decoded(path)).exists();
    !field.value.starts_with('/') && !is_there(&field.value) && !is_there(unmarked(&field.value))
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "BeforeTool" => HookKind::Before,
        "AfterTool" => HookKind::After,
        "AfterAgent" => HookKind::TurnEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
