//! What every agent's payload has in common: an object with texts in it, a session, a directory. And the three shapes that
//! their answers have.

use serde_json::{Value, json};
use toolgate_host::{End, ToolCall, ToolKind, ToolResult, shortened};

use super::reading::read;
use super::{Answer, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, SessionContext, folder, unknown};
use crate::dirs;

/// The key for the event, in the two spellings that agents have.
pub(super) const SNAKE: &str = "hook_event_name";
pub(super) const CAMEL: &str = "hookEventName";

/// The text of a key; none if it is not there or is something else.
pub(super) fn text<'a>(payload: &'a Value, key: &str) -> Option<&'a str> {
    payload.get(key)?.as_str()
}

/// Most of a tool's output that is shown to observers, in bytes. The contract has that limit.
const OUTPUT: usize = 1 << 20;

/// What stands for the tool where an agent only says that a sub-agent has ended. The contract has that name.
const SUBAGENT_STOP: &str = "subagent-stop";

/// A payload, and the environment that it came with.
pub struct Payload<'a> {
    pub(crate) value: &'a Value,
    variables: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Payload<'a> {
    /// A payload, and what the variables of its environment say.
    pub fn new(value: &'a Value, variables: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Payload { value, variables }
    }

    /// Another payload from the same environment.
    pub(crate) fn with(&self, value: &'a Value) -> Self {
        Payload { value, variables: self.variables }
    }

    /// A text that has to be there.
    pub(crate) fn text(&self, key: &str) -> Result<&'a str, String> {
        match self.value.get(key) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(format!("the field {key} of the payload is not a string")),
            None => Err(format!("the payload has no field {key}")),
        }
    }

    /// A text, or nothing.
    pub(crate) fn optional(&self, key: &str) -> &'a str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// What a variable of the environment says.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name)
    }

    /// Whatever is there.
    pub fn field(&self, key: &str) -> Result<&'a Value, String> {
        self.value.get(key).ok_or_else(|| format!("the payload has no field {key}"))
    }

    /// An event that is not known. An error if it has a call, by these keys, that may be about to run: one event that an agent
    /// calls otherwise, or a hook's settings do, would be a gate that is off without a word.
    pub(crate) fn unknown(&self, moment: HookEvent, call: [&str; 2]) -> Result<Event, String> {
        let name = moment.name.to_ascii_lowercase().replace('_', "");
        let is_later = LATER.iter().any(|start| name.starts_with(start));
        if is_later || call.iter().any(|key| self.value.get(key).is_none()) {
            return Ok(Event::unknown(moment));
        }
        let name = shortened(&moment.name, SHOWN);
        Err(format!("unknown event {name:?} with a tool call in it"))
    }

    /// What an event is about that has no call, by the keys that agents have for that.
    pub(crate) fn about(&self, when: HookKind) -> EventPayload {
        let reason = |key: &str, usual: &str| match self.optional(key) {
            "" => usual.to_owned(),
            reason => reason.to_owned(),
        };
        match when {
            HookKind::SessionStart => EventPayload::Start(reason("source", "startup")),
            HookKind::SessionEnd => EventPayload::Over(reason("reason", "other")),
            HookKind::TurnEnd => {
                let sent = self.value.get("stop_hook_active") == Some(&Value::Bool(true));
                let loops = self.value.get("loop_count").and_then(Value::as_u64).is_some_and(|count| count > 0);
                // Who was stopped is not to go on.
                let other = |key: &str, usual: &str| !["", usual].contains(&self.optional(key));
                let stopped = other("status", "completed") || other("stopReason", "end_turn");
                EventPayload::Turn { again: sent || loops || stopped }
            }
            HookKind::SubagentEnd => EventPayload::End(Box::new(End {
                call: self.optional("agent_id").to_owned(),
                tool: SUBAGENT_STOP.to_owned(),
                is_error: false,
                outcome: "{}".to_owned(),
            })),
            _ => EventPayload::Nothing,
        }
    }

    /// The session: its name and its directory by their keys, its root by the variable that the agent sets, else as the
    /// folders say. The root stays the same wherever a call runs.
    pub fn scene(&self, session: &str, cwd: &str, root: &[&str]) -> Result<SessionContext, String> {
        self.scene_in(session, self.text(cwd)?, root)
    }

    /// The same, where the agent may say no directory: then that of this process.
    pub(crate) fn scene_or_here(&self, session: &str, cwd: &str, root: &[&str]) -> Result<SessionContext, String> {
        if self.value.get(cwd).is_some() {
            return self.scene(session, cwd, root);
        }
        let here = dirs::folder(None).map_err(|failure| failure.message)?;
        self.scene_in(session, &here, root)
    }

    fn scene_in(&self, session: &str, cwd: &str, root: &[&str]) -> Result<SessionContext, String> {
        let cwd = absolute(cwd)?.to_owned();
        let said = root.iter().find_map(|name| (self.variables)(name).filter(|root| root.starts_with('/')));
        // Grok CLI has a slash behind it.
        let said = said
            .map(|root| root.trim_end_matches('/').to_owned())
            .map(|root| if root.is_empty() { "/".into() } else { root });
        let guessed = said.is_none();
        let root = said.unwrap_or_else(|| dirs::root_of(&cwd));
        Ok(SessionContext { session: self.optional(session).to_owned(), cwd, root, guessed, pwd: self.pwd() })
    }

    /// What the agent calls the directory that it was started in, which it hands on to its shells as it does to this process,
    /// if there are links in that name.
    pub(crate) fn pwd(&self) -> Option<String> {
        (self.variables)("PWD").filter(|pwd| folder::has_links(pwd))
    }
}

/// A directory that has to be absolute.
pub(crate) fn absolute(cwd: &str) -> Result<&str, String> {
    if cwd.starts_with('/') { Ok(cwd) } else { Err(format!("the working directory {cwd} is not an absolute path")) }
}

/// The call of a tool.
pub(crate) fn call(
    agent: &dyn Dialect,
    scene: &SessionContext,
    (id, mode): (&str, &str),
    name: &str,
    input: &Value,
) -> Result<ToolCall, String> {
    read(agent, name, input, bare(agent, scene, (id, mode), name))
}

/// A call of which not even the input is the tool's own.
pub(super) fn guess(
    agent: &dyn Dialect,
    scene: &SessionContext,
    name: &str,
    input: &Value,
) -> Result<ToolCall, String> {
    unknown::guessed(name, input, bare(agent, scene, ("", ""), name))
}

/// The call of a tool as far as its input says nothing of it.
pub(crate) fn bare(agent: &dyn Dialect, scene: &SessionContext, (id, mode): (&str, &str), name: &str) -> ToolCall {
    let mut context = json!({ "schema": 1, "agent": agent.name(), "session": scene.session, "mode": mode });
    if let Some(pwd) = &scene.pwd {
        context[folder::PWD] = pwd.as_str().into();
    }
    let call = ToolCall::new(name, ToolKind::Other, &scene.cwd).with_id(id).with_context(context.to_string());
    call.with_home(dirs::home()).with_workspace_root(&scene.root)
}

/// What came of a call.
pub(crate) fn result(call: ToolCall, output: &Value, is_error: bool, exit_code: Option<i32>) -> ToolResult {
    let mut text = match output {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let end = (0..=OUTPUT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.truncate(end);
    ToolResult::new(call, text).failed(is_error).with_exit_code(exit_code)
}

/// An answer as Claude Code and those who follow it read one: a decision is in an object that repeats the event. Where they
/// differ, the dialect says so itself.
pub(crate) fn nested_answer(moment: &HookEvent, answer: &Answer) -> Value {
    let name = &moment.name;
    let decision = |decision: &str, reason: &str| {
        json!({ "hookSpecificOutput": {
            "hookEventName": name, "permissionDecision": decision, "permissionDecisionReason": reason,
        } })
    };
    match (moment.when, answer) {
        (_, Answer::Nothing) => json!({}),
        (HookKind::TurnEnd | HookKind::SubagentEnd, Answer::Add(text)) => {
            json!({ "decision": "block", "reason": text })
        }
        (_, Answer::Add(text)) => json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } }),
        (_, Answer::Deny(reason)) => decision("deny", reason),
        (_, Answer::Ask(reason)) => decision("ask", reason),
        (_, Answer::Rewrite(input)) => {
            json!({ "hookSpecificOutput": { "hookEventName": name, "updatedInput": input } })
        }
    }
}

/// How the names of events begin, in small letters and without `_`, whose calls have run or will not run.
const LATER: &[&str] = &["after", "permissiondenied", "post"];

/// How much of a text that is not understood is shown, in bytes.
const SHOWN: usize = 300;

/// Reads an answer whose decision stands in an object that repeats the event. Where keys are given, any other makes the
/// agent take it for none.
pub(crate) fn nested(
    answer: &str,
    event: &str,
    root_keys: Option<&[&str]>,
    inner_keys: Option<&[&str]>,
) -> Result<ParsedAnswer, String> {
    let Some(value) = object(answer)? else { return Ok(ParsedAnswer::Nothing) };
    only(&value, root_keys)?;
    let Some(inner) = value.get("hookSpecificOutput") else { return Ok(ParsedAnswer::Other) };
    only(inner, inner_keys)?;
    let name = &inner["hookEventName"];
    if name != event {
        return Err(format!("its hookEventName is {name}, not {event}"));
    }
    decided([&inner["permissionDecision"], &inner["permissionDecisionReason"]], &["deny"])
}

/// Reads an answer with these keys for its decision and the reason, and these words for a denial.
pub(crate) fn flat(answer: &str, [decision, reason]: [&str; 2], no: &[&str]) -> Result<ParsedAnswer, String> {
    let Some(value) = object(answer)? else { return Ok(ParsedAnswer::Nothing) };
    decided([&value[decision], &value[reason]], no)
}

/// Reads an answer as our own shims do.
pub(crate) fn shim(answer: &str) -> Result<ParsedAnswer, String> {
    match object(answer)? {
        Some(value) if value["block"] == true => {
            Ok(ParsedAnswer::Deny(value["reason"].as_str().unwrap_or_default().to_owned()))
        }
        Some(_) => Ok(ParsedAnswer::Other),
        None => Ok(ParsedAnswer::Nothing),
    }
}

/// An answer as an object; none if there is no answer, or nothing in it.
fn object(answer: &str) -> Result<Option<Value>, String> {
    let answer = answer.trim();
    match serde_json::from_str(answer) {
        _ if answer.is_empty() => Ok(None),
        Ok(Value::Object(fields)) => Ok((!fields.is_empty()).then_some(Value::Object(fields))),
        Ok(_) => Err(format!("its answer is not a JSON object: {}", shortened(answer, SHOWN))),
        Err(_) => Err(format!("its answer is not JSON: {}", shortened(answer, SHOWN))),
    }
}

/// Whether an object has no other keys than these.
fn only(value: &Value, keys: Option<&[&str]>) -> Result<(), String> {
    let (Some(keys), Some(fields)) = (keys, value.as_object()) else { return Ok(()) };
    let other = fields.keys().find(|key| !keys.contains(&key.as_str()));
    other.map_or(Ok(()), |key| Err(format!("its answer has the key {key:?}, which the agent does not know")))
}

fn decided([decision, reason]: [&Value; 2], no: &[&str]) -> Result<ParsedAnswer, String> {
    let reason = reason.as_str().unwrap_or_default();
    match decision.as_str() {
        Some(word) if no.contains(&word) && reason.is_empty() => Err("its denial has no reason".to_owned()),
        Some(word) if no.contains(&word) => Ok(ParsedAnswer::Deny(reason.to_owned())),
        Some("ask") => Ok(ParsedAnswer::Ask(reason.to_owned())),
        _ => Ok(ParsedAnswer::Other),
    }
}
