//! Cursor: the payload of its hooks, and the answers it understands.
//!
//! From its documentation and the hook runner in its SDK 1.0.32, which was run without an agent: its client can neither
//! be installed from a registry nor used without a login. `ask` counts before a shell command and nowhere else. An empty
//! answer is a denial where the hook is set up to fail closed, so no opinion is `{}`. The model sees the message for the
//! user.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{absolute, call, flat, result};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, SessionContext, TRIAL,
    Tool, Trial, folder,
};

/// Cursor, by the settings that it runs hooks from.
pub struct Cursor {
    /// Whether they are its own, so that the event before a shell command, which asks, comes as well.
    own: bool,
}

/// Cursor, by its own settings.
pub(crate) static CURSOR: Cursor = Cursor { own: true };

/// Cursor where it runs the hooks in another agent's settings: only for the events that both have.
pub static IMPORTED: Cursor = Cursor { own: false };

/// As its documentation of autumn 2026 names them.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool { name: "Edit", row: Row { paths: &["path", "file_path", "target_file"], ..Row::of(ToolKind::Edit) } },
    Tool::look("Glob", ToolKind::List, &["path", "target_directory"], &["glob_pattern", "pattern"]),
    Tool { name: "Grep", row: Row { paths: &["path", "file_path"], globs: &["glob"], ..Row::of(ToolKind::Search) } },
    Tool { name: "Read", row: Row { paths: &["path", "file_path", "target_file"], ..Row::of(ToolKind::Read) } },
    Tool::look("SemanticSearch", ToolKind::Search, &["target_directories"], &[]),
    Tool { name: "Shell", row: Row { command: &["command"], other_cwd: &["working_directory", "workdir", "cwd"], ..Row::of(ToolKind::Shell) } },
    // Its payload has not the text that is typed, so that it is denied for want of it.
    Tool { name: "WriteShellStdin", row: Row { command: &["chars"], ..Row::of(ToolKind::Shell) } },
    Tool { name: "Write", row: Row { paths: &["path", "file_path", "target_file"], ..Row::of(ToolKind::Write) } },
];

/// The tool that removes files. It is in no table, so that it is read as what removes things, folders included.
const DELETE: &str = "Delete";

impl Dialect for Cursor {
    fn name(&self) -> &'static str {
        "cursor"
    }

    fn title(&self) -> &'static str {
        "Cursor"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        let keys = ["conversation_id", "cursor_version", "generation_id", "workspace_roots"];
        keys.iter().any(|key| payload.get(key).is_some())
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text("hook_event_name")?);
        let name = moment.name.as_str();
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        let scene = scene(payload)?;
        let made = |name: &str, input: &Value| {
            let mut made = call(self, &scene, (payload.optional("generation_id"), ""), name, input)?;
            if name == DELETE && made.kind == ToolKind::Other && made.effects().is_empty() {
                return Err(format!("the input of {DELETE} has no path"));
            }
            super::note(&mut made, "typed_unseen", true.into());
            // Its shell goes on where the one of the call before has ended, if it is told nothing else.
            if made.kind == ToolKind::Shell && payload.optional("cwd").is_empty() {
                folder::anywhere(&mut made);
            }
            Ok::<_, String>(made)
        };
        let tool = || -> Result<_, String> {
            let input = payload.field("tool_input")?;
            // Of an MCP tool it is a JSON text.
            // Of one without arguments it is empty.
            let text = input.as_str().map(|text| if text.trim().is_empty() { "{}" } else { text });
            let parsed = text.map(serde_json::from_str::<Value>);
            let parsed = parsed.transpose().map_err(|error| format!("tool_input is not JSON: {error}"))?;
            made(payload.text("tool_name")?, parsed.as_ref().unwrap_or(input))
        };
        let about = match name {
            "beforeShellExecution" => {
                let made = made("Shell", &json!({ "command": payload.text("command")? }))?;
                EventPayload::Call { call: Box::new(made), asks: Asks::Agent }
            }
            "beforeMCPExecution" => EventPayload::Call { call: Box::new(tool()?), asks: Asks::Nobody },
            "beforeReadFile" | "beforeTabFileRead" => {
                let made = made("Read", &json!({ "file_path": payload.text("file_path")? }))?;
                EventPayload::Call { call: Box::new(made), asks: Asks::Nobody }
            }
            // The event before a shell command comes after it, and asks.
            "preToolUse" if self.own && payload.optional("tool_name") == "Shell" => {
                EventPayload::Call { call: Box::new(tool()?), asks: Asks::AgentLater }
            }
            "preToolUse" => EventPayload::Call { call: Box::new(tool()?), asks: Asks::Nobody },
            "afterShellExecution" => {
                let made = made("Shell", &json!({ "command": payload.text("command")? }))?;
                let output = payload.value.get("output").unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(made, output, false, None)))
            }
            "afterFileEdit" => {
                let input = json!({ "file_path": payload.text("file_path")?, "edits": payload.value.get("edits") });
                EventPayload::Result(Box::new(result(made("Edit", &input)?, &Value::Null, false, None)))
            }
            "postToolUse" | "postToolUseFailure" => {
                let keys = ["tool_output", "error_message", "result_json"];
                let output = keys.iter().find_map(|key| payload.value.get(key)).unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(tool()?, output, name == "postToolUseFailure", None)))
            }
            _ => payload.about(moment.when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let mut said = match answer {
            // Nothing at all would be a denial where the hook is set up to fail closed.
            Answer::Nothing => json!({}),
            Answer::Add(text) if matches!(moment.when, HookKind::TurnEnd | HookKind::SubagentEnd) => {
                json!({ "followup_message": text })
            }
            Answer::Add(text) => json!({ "additional_context": text }),
            Answer::Deny(reason) => json!({ "permission": "deny", "user_message": reason, "agent_message": reason }),
            Answer::Ask(_) if moment.name == "preToolUse" => json!({}),
            Answer::Ask(reason) => json!({ "permission": "ask", "user_message": reason, "agent_message": reason }),
            Answer::Rewrite(input) => json!({ "updated_input": input }),
        };
        if let (Some(message), true) = (message, moment.when.gates())
            && said.get("user_message").is_none()
        {
            said["user_message"] = message.into();
        }
        said.to_string()
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("preToolUse"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["preToolUse", "beforeShellExecution"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        let mut payload = json!({
            "conversation_id": TRIAL, "generation_id": TRIAL, "model": TRIAL, "hook_event_name": trial.event,
            "cursor_version": "", "workspace_roots": [trial.cwd], "cwd": trial.cwd,
        });
        if trial.event == "preToolUse" {
            payload["tool_name"] = "Shell".into();
            payload["tool_input"] = json!({ "command": trial.command });
        } else {
            payload["command"] = trial.command.into();
        }
        payload
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        match answer.trim() {
            "" => Err("it has no output; Cursor requires an object".to_owned()),
            answer => flat(answer, ["permission", "agent_message"], &["deny"]),
        }
    }
}

/// Its session has several folders, of which the first is the project. Only some events say where they are.
fn scene(payload: &Payload<'_>) -> Result<SessionContext, String> {
    let roots = payload.value.get("workspace_roots").and_then(Value::as_array);
    let root = roots.and_then(|roots| roots.first()).and_then(Value::as_str).filter(|root| root.starts_with('/'));
    let cwd = Some(payload.optional("cwd")).filter(|cwd| !cwd.is_empty());
    let cwd = absolute(cwd.or(root).ok_or("the payload has neither cwd nor workspace_roots")?)?;
    Ok(SessionContext {
        session: payload.optional("conversation_id").to_owned(),
        cwd: cwd.to_owned(),
        root: root.unwrap_or(cwd).to_owned(),
        guessed: root.is_none(),
        pwd: payload.pwd(),
    })
}

/// Of events that Claude Code has as well, it may say that agent's name where it runs its hooks.
fn moment(name: &str) -> HookEvent {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let name: String = first.into_iter().chain(letters).collect();
    let when = match name.as_str() {
        "sessionStart" => HookKind::SessionStart,
        "sessionEnd" => HookKind::SessionEnd,
        "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" | "beforeTabFileRead" => {
            HookKind::Before
        }
        "postToolUse" | "postToolUseFailure" | "afterShellExecution" | "afterFileEdit" => HookKind::After,
        "stop" => HookKind::TurnEnd,
        "subagentStop" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name }
}
