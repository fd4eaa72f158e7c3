//! OpenCode: what its plugin forwards, and what it does with the answers.
//!
//! From runs of version 1.18. A plugin cannot ask, so a question is a denial.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{call, result, shim};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, SessionContext, TRIAL,
    Tool, Trial,
};

/// `OpenCode`.
pub(crate) struct OpenCode;

/// As of OpenCode 1.18.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::patch("apply_patch", &["patchText", "patch", "input"]),
    Tool::shell("bash", &["workdir"]),
    Tool::file("edit", ToolKind::Edit, &["filePath"]),
    Tool::look("glob", ToolKind::List, &["path"], &["pattern"]),
    Tool::look("grep", ToolKind::Search, &["path"], &["include"]),
    Tool::look("list", ToolKind::List, &["path"], &[]),
    Tool::patch("patch", &["patchText", "patch", "input"]),
    Tool::file("read", ToolKind::Read, &["filePath"]),
    Tool::fetch("webfetch", &["url"]),
    Tool::file("write", ToolKind::Write, &["filePath"]),
];

impl Dialect for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn decode(&self, event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(event.ok_or("the frame has no event")?);
        if moment.when == HookKind::Unknown {
            return Ok(Event::unknown(moment));
        }
        let null = Value::Null;
        let part = |key: &str| payload.value.get(key).unwrap_or(&null);
        let (input, output) = (part("input"), part("output"));
        let place = payload.scene("session", "directory", &[])?;
        let root = Some(payload.optional("worktree")).filter(|root| root.len() > 1 && root.starts_with('/'));
        let session = input.get("sessionID").and_then(Value::as_str).unwrap_or_default();
        let scene =
            SessionContext { session: session.to_owned(), root: root.map_or(place.root, str::to_owned), ..place };
        let made = |arguments: Option<&Value>| {
            let text = |key: &str| input.get(key).and_then(Value::as_str);
            let name = text("tool").ok_or("the event has no tool")?;
            let arguments = arguments.ok_or("the event has no args")?;
            call(self, &scene, (text("callID").unwrap_or_default(), ""), name, arguments)
        };
        let about = match moment.when {
            HookKind::Before => EventPayload::Call { call: Box::new(made(output.get("args"))?), asks: Asks::Nobody },
            HookKind::After => {
                let code = output.pointer("/metadata/exit").and_then(Value::as_i64);
                let code = code.and_then(|code| i32::try_from(code).ok());
                let text = output.get("output").unwrap_or(&Value::Null);
                let failed = code.is_some_and(|code| code != 0);
                EventPayload::Result(Box::new(result(made(input.get("args"))?, text, failed, code)))
            }
            // A sub-agent's session is part of another.
            _ if input.pointer("/event/properties/info/parentID").is_some_and(Value::is_string) => {
                EventPayload::Nothing
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn encode(&self, _moment: &HookEvent, answer: &Answer, _message: Option<&str>) -> String {
        let said = match answer {
            Answer::Nothing => json!({}),
            Answer::Deny(reason) | Answer::Ask(reason) => json!({ "block": true, "reason": reason }),
            Answer::Rewrite(arguments) => json!({ "args": arguments }),
            Answer::Add(text) => json!({ "append": text }),
        };
        said.to_string()
    }

    /// There is no event after a call that throws.
    fn tells_failures(&self) -> bool {
        false
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("tool.execute.before"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["tool.execute.before"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        json!({
            "input": { "tool": "bash", "sessionID": TRIAL, "callID": TRIAL },
            "output": { "args": { "command": trial.command, "description": "a test of Toolgate" } },
            "directory": trial.cwd, "worktree": trial.cwd,
        })
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        shim(answer)
    }
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "session.created" => HookKind::SessionStart,
        "session.deleted" => HookKind::SessionEnd,
        "tool.execute.before" => HookKind::Before,
        "tool.execute.after" => HookKind::After,
        "session.idle" => HookKind::TurnEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
