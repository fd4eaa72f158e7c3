//! pi: what its extension forwards, and what it does with the answers.
//!
//! From runs of version 0.87. Its calls arrive in batches of `toolgate check` as well.

use serde_json::{Value, json};
use toolgate_host::{End, Field, ToolKind, Update};

use super::payload::{call, result, shim};
use super::row::files_of;
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, TRIAL, Tool, Trial,
};

/// pi.
pub struct Pi;

/// As of pi 0.87.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::shell("bash", &[]),
    Tool::file("edit", ToolKind::Edit, &["path"]),
    Tool::look("find", ToolKind::List, &["path"], &["pattern"]),
    Tool::look("grep", ToolKind::Search, &["path"], &["glob"]),
    Tool::look("ls", ToolKind::List, &["path"], &[]),
    Tool::shell("powershell", &[]),
    Tool::file("read", ToolKind::Read, &["path"]),
    // Toolgate's own, beside the `bash` that takes the place of pi's.
    Tool::other("read_terminal", ToolKind::Other),
    Tool::file("write", ToolKind::Write, &["path"]),
];

impl Dialect for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn title(&self) -> &'static str {
        "pi"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn decode(&self, event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let about = payload.field("event")?;
        let text = |key: &str| about.get(key).and_then(Value::as_str);
        let name = event.or(text("type")).ok_or("the event has no type")?;
        let moment = moment(name);
        if moment.when == HookKind::Unknown {
            return Ok(Event::unknown(moment));
        }
        let scene = payload.scene("session", "cwd", &[])?;
        let has_ui = payload.value.get("hasUI") == Some(&Value::Bool(true));
        let asks = if has_ui { Asks::Host } else { Asks::Nobody };
        let ids = (text("toolCallId").unwrap_or_default(), payload.optional("mode"));
        let tool = |key: &str| {
            let name = text("toolName").ok_or("the event has no toolName")?;
            call(self, &scene, ids, name, about.get(key).ok_or_else(|| format!("the event has no {key}"))?)
        };
        let about = match name {
            "tool_call" => EventPayload::Call { call: Box::new(tool("input")?), asks },
            "user_bash" => {
                let command = text("command").ok_or("the event has no command")?;
                let input = json!({ "command": command });
                EventPayload::Call { call: Box::new(call(self, &scene, ids, "bash", &input)?), asks }
            }
            "tool_result" => {
                let parts = about.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
                let failed = about.get("isError") == Some(&Value::Bool(true));
                let made = tool("input")?;
                // Its shell fails with any other exit code.
                let code = (!failed && made.kind == ToolKind::Shell).then_some(0);
                EventPayload::Result(Box::new(result(made, &texts.join("\n").into(), failed, code)))
            }
            "tool_execution_update" => EventPayload::Update(Box::new(Update {
                call: ids.0.to_owned(),
                tool: text("toolName").unwrap_or_default().to_owned(),
                partial: about.get("partial").unwrap_or(&Value::Null).to_string(),
            })),
            "tool_execution_end" => EventPayload::End(Box::new(End {
                call: ids.0.to_owned(),
                tool: text("toolName").unwrap_or_default().to_owned(),
                is_error: about.get("isError") == Some(&Value::Bool(true)),
                outcome: about.get("result").unwrap_or(&Value::Null).to_string(),
            })),
            "session_start" => EventPayload::Start(text("reason").unwrap_or("startup").to_owned()),
            "session_shutdown" => EventPayload::Over(text("reason").unwrap_or("quit").to_owned()),
            "agent_end" => EventPayload::Turn { again: about.get("again") == Some(&Value::Bool(true)) },
            _ => EventPayload::Nothing,
        };
        Ok(Event { moment, scene, about })
    }

    /// As its own file tools read a path: one `@` before it is dropped, odd blanks are blanks, and it may be a URL.
    fn readings(&self, path: &str) -> Vec<String> {
        let odd = |c: char| matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}');
        let plain = path.replace(odd, " ");
        let plain = plain.strip_prefix('@').unwrap_or(&plain).to_owned();
        let files = files_of(&Field { name: String::new(), value: plain.clone() });
        [plain].into_iter().chain(files.into_iter().map(|field| field.value)).collect()
    }

    fn tells_ends(&self) -> bool {
        true
    }

    fn encode(&self, _moment: &HookEvent, answer: &Answer, _message: Option<&str>) -> String {
        let said = match answer {
            Answer::Nothing => json!({}),
            Answer::Deny(reason) | Answer::Ask(reason) => json!({ "block": true, "reason": reason }),
            Answer::Rewrite(input) => json!({ "input": input }),
            Answer::Add(text) => json!({ "append": text }),
        };
        said.to_string()
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("tool_call"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["tool_call"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        let event = json!({
            "type": trial.event, "toolName": "bash", "toolCallId": TRIAL, "input": { "command": trial.command },
        });
        json!({ "event": event, "cwd": trial.cwd, "hasUI": false, "mode": "print", "session": TRIAL })
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        shim(answer)
    }
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "session_start" => HookKind::SessionStart,
        "session_shutdown" => HookKind::SessionEnd,
        "tool_call" | "user_bash" => HookKind::Before,
        "tool_result" => HookKind::After,
        "tool_execution_update" | "tool_execution_start" | "tool_execution_end" => HookKind::Update,
        "agent_end" => HookKind::TurnEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
