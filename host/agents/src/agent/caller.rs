//! Which agent has sent a payload, by the payload's own marks.
//!
//! Agents read each other's settings: a hook that was installed for one is run by others, with their payloads and in their
//! own way, which may lose its arguments. An answer that one of them takes for a denial makes another run the call. So the
//! agent that a hook was installed for is only what a payload is taken for that speaks for no other.
//!
//! Only the keys of the payload itself count, and values that the agent's program sets: what is in a tool's input is the
//! model's, and may look like anything. Where marks contradict each other nobody is believed.

use std::borrow::Cow;

use serde_json::Value;

use super::payload::{CAMEL, SNAKE, text};
use super::{Dialect, HOOKS, HookKind, claude, copilot, cursor};

/// Keys for one thing. Grok CLI has both spellings, for hooks that are made for Claude Code; they say the same then.
const SAME: &[&[&str]] = &[
    &[SNAKE, CAMEL],
    &["tool_name", "toolName"],
    &["tool_input", "toolInput", "toolArgs"],
    &["session_id", "sessionId"],
    &["permission_mode", "permissionMode"],
];

/// Agents whose payloads always have marks of theirs, whatever the event is.
const MARKED: &[&str] = &[copilot::NAME, "grok", "vscode"];

/// The event that a payload names.
pub fn event(payload: &Value) -> Option<&str> {
    text(payload, SNAKE).or_else(|| text(payload, CAMEL))
}

/// The agent that has sent a payload to a hook which was installed for this one, if that is known.
///
/// # Errors
/// If it cannot be told, as a sentence. What the payload is about does not run then.
pub fn caller(
    installed: Option<&'static dyn Dialect>,
    payload: &Value,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<&'static dyn Dialect, String> {
    if !payload.is_object() {
        return Err("the payload is not a JSON object".to_owned());
    }
    for keys in SAME {
        let mut said = keys.iter().filter_map(|key| Some((key, spelled(key, payload.get(*key)?))));
        let Some((one, value)) = said.next() else { continue };
        if let Some((other, _)) = said.find(|(_, other)| *other != value) {
            return Err(format!("the payload has different values in {one} and {other}"));
        }
    }
    let mut senders = HOOKS.iter().copied().filter(|agent| agent.is_sender(payload));
    match (senders.next(), senders.next()) {
        (Some(one), Some(other)) => {
            let (one, other) = (one.title(), other.title());
            Err(format!("the payload has fields of {one} and of {other}, so the agent cannot be identified"))
        }
        (Some(agent), None) => Ok(as_installed(agent, installed)),
        (None, _) => unmarked(installed, payload, variables),
    }
}

/// A value without what is only another spelling of an event: `pre_tool_use` for `PreToolUse`.
fn spelled<'a>(key: &str, value: &'a Value) -> Cow<'a, Value> {
    match value {
        Value::String(event) if [SNAKE, CAMEL].contains(&key) => {
            Cow::Owned(event.to_ascii_lowercase().replace('_', "").into())
        }
        _ => Cow::Borrowed(value),
    }
}

/// Cursor has fewer events where it runs another agent's hooks.
fn as_installed(agent: &'static dyn Dialect, installed: Option<&'static dyn Dialect>) -> &'static dyn Dialect {
    let is = |agent: &dyn Dialect, other: &dyn Dialect| agent.name() == other.name();
    let own = installed.is_some_and(|installed| is(installed, agent));
    if is(agent, &cursor::CURSOR) && !own { &cursor::IMPORTED } else { agent }
}

/// The agent of a payload that has the keys of several, and marks of none.
fn unmarked(
    installed: Option<&'static dyn Dialect>,
    payload: &Value,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<&'static dyn Dialect, String> {
    // Not by another name for it.
    let known = |agent: &dyn Dialect, event: &str| {
        let moment = agent.unreadable(Some(event));
        moment.when != HookKind::Unknown && moment.name == event
    };
    let may_be = |agent: &dyn Dialect| !MARKED.contains(&agent.name());
    let own = claude::CLAUDE.name();
    let claude = claude::Claude::sent(payload, variables, installed.is_none_or(|agent| agent.name() == own));
    let is_copilot = copilot::is_respelled(payload, variables) && !claude.is_understood();
    match (installed, text(payload, SNAKE)) {
        (Some(agent), Some(_)) if agent.name() == copilot::NAME => Ok(agent),
        (Some(agent), Some(_)) if agent.name() == own && is_copilot => Ok(&copilot::Copilot),
        (None, Some(_)) if is_copilot => Ok(&copilot::Copilot),
        (Some(agent), Some(event)) if agent.name() != own && may_be(agent) && known(agent, event) => Ok(agent),
        // The keys are those of Claude Code, and so may the event be.
        (Some(agent), Some(event)) if agent.name() == own || known(&claude::CLAUDE, event) => Ok(claude),
        (Some(agent), Some(_)) if may_be(agent) => Ok(agent),
        (None, Some(_)) => Ok(claude),
        // Its hook's arguments name the event.
        (Some(agent), None) if agent.name() == copilot::NAME && text(payload, "sessionId").is_some() => Ok(agent),
        _ => Err(format!("the payload has no field {SNAKE} and no field of a known agent")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::named;
    use super::*;

    /// The agent that the hook is installed for, the payload, and the agent that is answered; none if nobody is.
    #[test]
    fn the_sender_of_a_payload_is_told_by_its_own_marks() {
        toolgate_test_support::cases!("../../tests/callers.jsonl").each(|line| {
            let case: Value = serde_json::from_str(line).expect("a case is JSON");
            let installed = case["installed"].as_str().map(|name| named(name).expect("an agent"));
            let variables = |name: &str| case["variables"][name].as_str().map(str::to_owned);
            let found = caller(installed, &case["payload"], &variables);
            let title = found.as_ref().ok().map(|agent| agent.title());
            assert_eq!(title, case["title"].as_str(), "{:?}", found.err());
        });
    }

    /// Whatever a hook is installed for: who sends what an agent sends is that agent.
    #[test]
    fn every_agents_own_payload_is_its_own() {
        for agent in HOOKS {
            for event in agent.trials() {
                let payload = agent.trial(&super::super::Trial { event, command: "ls", cwd: "/work" });
                for installed in HOOKS.iter().copied().map(Some).chain([None]) {
                    let of = installed.map(Dialect::name);
                    // What Claude Code sends they might send as well.
                    if agent.name() == "claude" && matches!(of, Some("codex" | "copilot" | "droid")) {
                        continue;
                    }
                    let found = caller(installed, &payload, &|_| None).expect("somebody");
                    // Claude Code runs nobody else's hooks.
                    let understood = agent.name() != "claude" || matches!(of, None | Some("claude"));
                    assert_eq!((found.name(), found.is_understood()), (agent.name(), understood), "{event} for {of:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_in_a_tools_input_is_no_mark() {
        let inputs = [
            json!({"command": "ls", "hookEventName": "PreToolUse", "toolInput": {}, "turn_id": "t"}),
            json!({"hook_event_name": "BeforeTool", "cursor_version": "1", "permission_mode": "off"}),
            json!({"command": "{\"hookEventName\": \"pre_tool_use\", \"workspaceRoot\": \"/\"}"}),
            json!("{\"conversation_id\": 1}"),
        ];
        for input in inputs {
            let payload = json!({
                "session_id": "s", "cwd": "/work", "permission_mode": "default", "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": input,
            });
            for installed in [named("claude"), None] {
                let found = caller(installed, &payload, &|_| None).expect("somebody");
                assert_eq!(found.title(), "Claude Code", "{payload}");
            }
        }
    }
}
