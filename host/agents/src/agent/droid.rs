//! Factory Droid: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 0.215: payloads and answers have Claude Code's shape, tools and gaps are its own. In automatic
//! modes `ask` lets the call run. A command that fails has no event after it.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{SNAKE, call, nested, nested_answer, result, text};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, TRIAL, Tool, Trial,
};

/// Factory Droid.
pub(crate) struct Droid;

/// As of Droid 0.215.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::patch("ApplyPatch", &["patch", "input", "command"]),
    Tool::file("Create", ToolKind::Write, &["file_path"]),
    Tool::file("Edit", ToolKind::Edit, &["file_path"]),
    // Its own calls name no directory. Should one do, it may be either.
    Tool { name: "Execute", row: Row { command: &["command", "cmd"], other_cwd: &["workdir", "cwd"], ..Row::of(ToolKind::Shell) } },
    Tool::fetch("FetchUrl", &["url"]),
    Tool { name: "Glob", row: Row { paths: &["folder"], globs: &["patterns"], ..Row::of(ToolKind::List) } },
    Tool { name: "Grep", row: Row { paths: &["path"], globs: &["glob_pattern", "glob"], ..Row::of(ToolKind::Search) } },
    Tool::look("LS", ToolKind::List, &["directory_path", "path"], &[]),
    Tool::file("MultiEdit", ToolKind::Edit, &["file_path"]),
    Tool::file("Read", ToolKind::Read, &["file_path"]),
    Tool::other("WebSearch", ToolKind::Fetch),
];

impl Dialect for Droid {
    fn name(&self) -> &'static str {
        "droid"
    }

    fn title(&self) -> &'static str {
        "Droid"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        let mode = payload.get("permission_mode").and_then(Value::as_str);
        // Claude Code's `auto` is none of them.
        text(payload, SNAKE).is_some() && mode.is_some_and(|mode| mode == "off" || mode.starts_with("auto-"))
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text("hook_event_name")?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        let scene = payload.scene("session_id", "cwd", &["FACTORY_PROJECT_DIR"])?;
        let mode = payload.optional("permission_mode");
        let made = || call(self, &scene, ("", mode), payload.text("tool_name")?, payload.field("tool_input")?);
        let about = match moment.when {
            HookKind::Before => {
                // Any mode that is not known to ask is taken for one that does not.
                let asks = if mode == "off" { Asks::Agent } else { Asks::Nobody };
                EventPayload::Call { call: Box::new(made()?), asks }
            }
            HookKind::After => {
                let output = payload.value.get("tool_response").unwrap_or(&Value::Null);
                let code = output.as_str().and_then(|text| text.rsplit_once("[Process exited with code "));
                let code = code.and_then(|(_, rest)| rest.trim_end().strip_suffix(']')?.parse().ok());
                EventPayload::Result(Box::new(result(made()?, output, code.is_some_and(|code| code != 0), code)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        super::with_message(nested_answer(moment, answer), message)
    }

    /// Of a command with another exit code than 0 there is no event after it.
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
            "session_id": TRIAL, "transcript_path": "", "cwd": trial.cwd, "permission_mode": "auto-high",
            "hook_event_name": trial.event, "tool_name": "Execute",
            "tool_input": {
                "command": trial.command, "summary": "a test of Toolgate", "riskLevel": "low", "riskLevelReason": "",
            },
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
