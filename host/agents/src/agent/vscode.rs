//! Copilot in VS Code: the payload of its hooks, and the answers it understands.
//!
//! From the source of VS Code and of its Copilot extension of summer 2026, and their documentation; it was not run. It has no
//! settings of Toolgate's own here: it runs the hooks of Claude Code and of Copilot CLI, with a command's arguments lost
//! unless they are in its text. It pays no heed to matchers. A command ends with 2 for a denial; any other code but 0, or an
//! end that comes late, lets the call run.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{CAMEL, call, nested, nested_answer, result, text};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, TRIAL, Tool, Trial,
    folder,
};

/// Copilot in VS Code.
pub struct VsCode;

/// As its Copilot extension names them. Their fields are in camel case.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::patch("apply_patch", &["input"]),
    Tool::file("create_file", ToolKind::Write, &["filePath"]),
    Tool::file("edit_notebook_file", ToolKind::Edit, &["filePath"]),
    Tool { name: "fetch_webpage", row: Row { paths: &["urls"], ..Row::of(ToolKind::Fetch) } },
    Tool::look("file_search", ToolKind::List, &[], &["query"]),
    Tool::look("grep_search", ToolKind::Search, &[], &["includePattern"]),
    Tool::file("insert_edit_into_file", ToolKind::Edit, &["filePath"]),
    Tool::look("list_dir", ToolKind::List, &["path"], &[]),
    Tool::file("read_file", ToolKind::Read, &["filePath"]),
    Tool::file("replace_string_in_file", ToolKind::Edit, &["filePath"]),
    Tool::shell("run_in_terminal", &[]),
    Tool::other("semantic_search", ToolKind::Search),
];

impl Dialect for VsCode {
    fn name(&self) -> &'static str {
        "vscode"
    }

    fn title(&self) -> &'static str {
        "Copilot in VS Code"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        text(payload, CAMEL).is_some_and(|event| event.starts_with(char::is_uppercase))
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text(CAMEL)?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        // Without a folder that is open it says none, and starts hooks where it starts terminals.
        let scene = payload.scene_or_here("sessionId", "cwd", &[])?;
        let made = || {
            let ids = (payload.optional("tool_use_id"), "");
            let mut made = call(self, &scene, ids, payload.text("tool_name")?, payload.field("tool_input")?)?;
            // Its terminals live on.
            if made.kind == ToolKind::Shell {
                folder::anywhere(&mut made);
            }
            Ok::<_, String>(made)
        };
        let about = match moment.when {
            HookKind::Before => EventPayload::Call { call: Box::new(made()?), asks: Asks::Agent },
            HookKind::After => {
                let output = payload.value.get("tool_response").unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(made()?, output, false, None)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let mut said = nested_answer(moment, answer);
        // Of a turn it reads that in the inner object, of a sub-agent in the outer one.
        if let (HookKind::TurnEnd, Answer::Add(text)) = (moment.when, answer) {
            said["hookSpecificOutput"] = json!({ "hookEventName": moment.name, "decision": "block", "reason": text });
        }
        super::with_message(said, message)
    }

    /// It has no event for them.
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
            "timestamp": jiff::Timestamp::now().to_string(), "cwd": trial.cwd, "sessionId": TRIAL, CAMEL: trial.event,
            "transcript_path": "", "tool_name": "run_in_terminal", "tool_use_id": TRIAL,
            "tool_input": { "command": trial.command, "explanation": "a test of Toolgate", "isBackground": false },
        })
    }

    fn parse_answer(&self, event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        nested(answer, event, None, None)
    }
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "PreToolUse" => HookKind::Before,
        "PostToolUse" => HookKind::After,
        "Stop" => HookKind::TurnEnd,
        "SubagentStop" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
