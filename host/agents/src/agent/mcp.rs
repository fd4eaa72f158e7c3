//! MCP: the calls that clients of `toolgate mcp` make. The server itself says what they are, as it offers the tools.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{call, shim};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, TRIAL, Tool, Trial,
};

/// Any client of the Model Context Protocol.
pub struct Mcp;

/// Those that the shared terminal has.
const TOOLS: &[Tool] = &[Tool::shell("bash", &[]), Tool::other("read_terminal", ToolKind::Other)];

/// The one event.
const CALL: &str = "tools/call";

/// The payload of a call. `asks`: whether the client puts questions to its user.
pub fn payload((session, cwd): (&str, &str), id: &str, tool: &str, input: &Value, asks: bool) -> Value {
    json!({ "session": session, "cwd": cwd, "id": id, "tool": tool, "input": input, "asks": asks })
}

impl Dialect for Mcp {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn title(&self) -> &'static str {
        "MCP"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn decode(&self, event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = self.unreadable(event);
        let scene = payload.scene("session", "cwd", &[])?;
        let asks = match payload.value.get("asks") {
            Some(Value::Bool(true)) => Asks::Host,
            _ => Asks::Nobody,
        };
        let ids = (payload.optional("id"), "");
        let call = call(self, &scene, ids, payload.text("tool")?, payload.field("input")?)?;
        Ok(Event { moment, scene, about: EventPayload::Call { call: Box::new(call), asks } })
    }

    fn encode(&self, _moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let mut said = match answer {
            Answer::Nothing | Answer::Add(_) => json!({}),
            Answer::Deny(reason) | Answer::Ask(reason) => json!({ "block": true, "reason": reason }),
            Answer::Rewrite(input) => json!({ "input": input }),
        };
        if let Some(message) = message {
            said["message"] = message.into();
        }
        said.to_string()
    }

    fn unreadable(&self, _event: Option<&str>) -> HookEvent {
        HookEvent { when: HookKind::Before, name: CALL.to_owned() }
    }

    fn trials(&self) -> &'static [&'static str] {
        &[CALL]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        payload((TRIAL, trial.cwd), TRIAL, "bash", &json!({ "command": trial.command }), false)
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        shim(answer)
    }
}
