//! Copilot CLI: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 1.0.102: a payload does not say which event it is of, so the hook's command does; the decision
//! stands at the top of the answer; a question that nobody can be asked is a denial there. It runs the hooks in a project's
//! settings for Claude Code, too, without their arguments. Such a hook, which is told the event's name in that agent's
//! spelling, gets a payload in its spelling: other keys, and the tools by that agent's names with the fields of their own.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use toolgate_host::ToolKind;

use super::payload::{SNAKE, call, flat, guess, result, text};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, Row, TRIAL, Tool, Trial,
};

/// Copilot CLI.
pub struct Copilot;

/// As in `toolgate hook copilot`.
pub(super) const NAME: &str = "copilot";

/// Keys by which an event is told that nobody names.
const TELLING: &[(&str, &str)] =
    &[("toolResult", "postToolUse"), ("toolArgs", "preToolUse"), ("stopReason", "agentStop")];

/// As of Copilot CLI 1.0.102.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::patch("apply_patch", &["patch", "input", "command"]),
    Tool::shell("bash", &[]),
    Tool::file("create", ToolKind::Write, &["path"]),
    Tool::file("edit", ToolKind::Edit, &["path"]),
    Tool::look("glob", ToolKind::List, &["path", "paths"], &["pattern"]),
    Tool::look("grep", ToolKind::Search, &["path", "paths"], &["glob"]),
    Tool::shell("powershell", &[]),
    Tool::look("rg", ToolKind::Search, &["path", "paths"], &["glob"]),
    Tool::file("view", ToolKind::Read, &["path"]),
    Tool::fetch("web_fetch", &["url"]),
    // What earlier versions typed into a shell that runs.
    Tool { name: "write_bash", row: Row { command: &["input"], ..Row::of(ToolKind::Shell) } },
];

impl Dialect for Copilot {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Copilot CLI"
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_sender(&self, payload: &Value) -> bool {
        let dated = payload.get("sessionId").is_some() && payload.get("timestamp").is_some_and(Value::is_number);
        let named = text(payload, "hookName").is_some_and(|event| moment(event).when != HookKind::Unknown);
        dated || named || payload.get("toolArgs").is_some()
    }

    fn decode(&self, event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        if let Some((event, own)) = respelled(payload.value) {
            return self.decode(Some(&event), &payload.with(&own));
        }
        let event = event.map(own_name);
        let event = event.as_deref();
        let said = payload.optional("hookName");
        let told = || TELLING.iter().find(|(key, _)| payload.value.get(key).is_some()).map(|(_, event)| *event);
        let name = event.or((!said.is_empty()).then_some(said)).or_else(told);
        let name =
            name.ok_or("Copilot's payload has no event name; add it to the hook's command: `hook copilot EVENT`")?;
        let moment = moment(name);
        if moment.when == HookKind::Unknown {
            payload.unknown(moment.clone(), ["tool_name", "tool_input"])?;
            return payload.unknown(moment, ["toolName", "toolArgs"]);
        }
        let scene = payload.scene("sessionId", "cwd", &["COPILOT_PROJECT_DIR"])?;
        let about = match moment.when {
            HookKind::Before => {
                let name = payload.text("toolName")?;
                let made = call(self, &scene, ("", ""), name, &arguments(name, payload.field("toolArgs")?)?)?;
                EventPayload::Call { call: Box::new(made), asks: Asks::Agent }
            }
            HookKind::Permission => {
                // Its input is not the tool's own: a `create` is an `edit` with a difference in it.
                let made = guess(self, &scene, payload.text("toolName")?, payload.field("toolInput")?)?;
                EventPayload::Call { call: Box::new(made), asks: Asks::Agent }
            }
            HookKind::After => {
                let name = payload.text("toolName")?;
                let made = call(self, &scene, ("", ""), name, &arguments(name, payload.field("toolArgs")?)?)?;
                let outcome = payload.field("toolResult")?;
                let output = outcome.get("textResultForLlm").unwrap_or(&Value::Null);
                let code = output.as_str().and_then(|text| text.rsplit_once(" completed with exit code "));
                let code = code.and_then(|(_, rest)| rest.trim_end().strip_suffix('>')?.parse::<i32>().ok());
                let failed = outcome.get("resultType").and_then(Value::as_str) != Some("success");
                EventPayload::Result(Box::new(result(made, output, failed || code.is_some_and(|code| code != 0), code)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    fn shows_messages(&self) -> bool {
        false
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, _message: Option<&str>) -> String {
        let decision = |decision: &str, reason: &str| json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
        let said = match (moment.when, answer) {
            (HookKind::Permission, Answer::Deny(reason)) => json!({ "behavior": "deny", "message": reason }),
            (HookKind::Permission, _) | (_, Answer::Nothing) => json!({}),
            (HookKind::TurnEnd | HookKind::SubagentEnd, Answer::Add(text)) => {
                json!({ "decision": "block", "reason": text })
            }
            (_, Answer::Add(text)) => json!({ "additionalContext": text }),
            (_, Answer::Deny(reason)) => decision("deny", reason),
            (_, Answer::Ask(reason)) => decision("ask", reason),
            (_, Answer::Rewrite(input)) => json!({ "modifiedArgs": input }),
        };
        // It shows no messages of hooks.
        super::with_message(said, None)
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(&own_name(event.unwrap_or("preToolUse")))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["preToolUse"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        json!({
            "sessionId": TRIAL, "timestamp": jiff::Timestamp::now().as_millisecond(), "cwd": trial.cwd,
            "toolName": "bash", "toolArgs": { "command": trial.command, "description": "a test of Toolgate" },
        })
    }

    fn parse_answer(&self, _event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        flat(answer, ["permissionDecision", "permissionDecisionReason"], &["deny"])
    }
}

/// Its events by the names that Claude Code has for them.
#[rustfmt::skip]
const EVENTS: &[(&str, &str)] = &[
    ("PermissionRequest", "permissionRequest"), ("PostToolUse", "postToolUse"), ("PostToolUseFailure", "postToolUse"),
    ("PreToolUse", "preToolUse"), ("SessionEnd", "sessionEnd"), ("SessionStart", "sessionStart"), ("Stop", "agentStop"),
    ("SubagentStop", "subagentStop"),
];

/// The same of its tools.
#[rustfmt::skip]
const NAMES: &[(&str, &str)] = &[
    ("Bash", "bash"), ("Edit", "edit"), ("Glob", "glob"), ("Grep", "grep"), ("PowerShell", "powershell"), ("Read", "view"),
    ("WebFetch", "web_fetch"), ("Write", "create"),
];

/// The same of its keys.
#[rustfmt::skip]
const KEYS: &[(&str, &str)] = &[
    ("session_id", "sessionId"), ("stop_reason", "stopReason"), ("tool_input", "toolArgs"), ("tool_name", "toolName"),
    ("tool_result", "toolResult"), ("result_type", "resultType"), ("text_result_for_llm", "textResultForLlm"),
];

fn of<'a>(table: &[(&str, &'a str)], name: &'a str) -> &'a str {
    table.iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own)
}

/// Its own name for an event.
fn own_name(event: &str) -> Cow<'_, str> {
    match of(EVENTS, event) {
        own if own == event => event.into(),
        own => own.to_owned().into(),
    }
}

/// Whether it has sent a payload in Claude Code's spelling. Nothing in one is its own but what it tells its hooks besides.
pub(super) fn is_respelled(payload: &Value, variables: &dyn Fn(&str) -> Option<String>) -> bool {
    let dated = payload.get("timestamp").is_some_and(Value::is_string) && payload.get("permission_mode").is_none();
    dated && variables("COPILOT_PROJECT_DIR").is_some()
}

/// A payload in Claude Code's spelling as one of its own, with the event; none if it is one.
fn respelled(payload: &Value) -> Option<(String, Value)> {
    let event = text(payload, SNAKE)?;
    let keys = |fields: &Map<String, Value>| -> Map<String, Value> {
        fields.iter().map(|(key, value)| (of(KEYS, key).to_owned(), value.clone())).collect()
    };
    let mut own = keys(payload.as_object()?);
    own.remove(SNAKE);
    if let Some(name) = own.get_mut("toolName") {
        *name = name.as_str().map(|name| of(NAMES, name).into()).unwrap_or_default();
    }
    if let Some(Value::Object(result)) = own.get("toolResult") {
        let result = keys(result);
        own.insert("toolResult".to_owned(), result.into());
    } else if let Some(error) = own.get("error").cloned() {
        own.insert("toolResult".to_owned(), json!({ "resultType": "failure", "textResultForLlm": error }));
    }
    Some((of(EVENTS, event).to_owned(), own.into()))
}

/// The input of a tool as an object. Some versions send it as a JSON text; that of `apply_patch` is the patch itself, which is
/// no JSON. One that is both is judged as both.
fn arguments(name: &str, sent: &Value) -> Result<Value, String> {
    let Value::String(text) = sent else { return Ok(sent.clone()) };
    let parsed = serde_json::from_str::<Value>(text);
    let is_patch = |tool: &&Tool| tool.name == name && tool.row.kind == ToolKind::Edit;
    let keys = TOOLS.iter().find(is_patch).map_or(&[][..], |tool| tool.row.command);
    let mut all = match (parsed, keys) {
        (parsed, []) => return parsed.map_err(|error| format!("toolArgs is not JSON: {error}")),
        (Ok(Value::Object(fields)), _) if keys.iter().any(|key| fields.contains_key(*key)) => fields,
        (Ok(Value::String(inner)), [.., last]) => Map::from_iter([((*last).to_owned(), inner.into())]),
        (Ok(_), _) => return Err(format!("the input of {name} has no {}", keys[0])),
        (Err(_), _) => Map::new(),
    };
    let free = keys.iter().find(|key| all.get(**key).is_none_or(Value::is_null));
    let free = free.ok_or_else(|| format!("the input of {name} has several patches"))?;
    all.insert((*free).to_owned(), text.as_str().into());
    Ok(Value::Object(all))
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "sessionStart" => HookKind::SessionStart,
        "sessionEnd" => HookKind::SessionEnd,
        "preToolUse" => HookKind::Before,
        "permissionRequest" => HookKind::Permission,
        "postToolUse" => HookKind::After,
        "agentStop" => HookKind::TurnEnd,
        "subagentStop" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}
