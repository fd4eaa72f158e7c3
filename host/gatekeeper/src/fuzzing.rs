//! What has to hold whatever an agent, a hook or a user's table says. The fuzz targets of `tests/fuzz` call this with
//! bytes; it panics where something does not hold.

#[cfg(target_os = "linux")]
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolgate_agents::agent::{self, Answer, Dialect, EventPayload, HookEvent, HookKind, ParsedAnswer, UserTools};
use toolgate_host::ToolKind;

use crate::hook_handler::{denial, parsed, read, refusal};
#[cfg(target_os = "linux")]
use crate::judge::Question;
#[cfg(target_os = "linux")]
use crate::resident::{Handshake, HookRequest, HookResponse};

/// Every agent's name.
pub fn agents() -> impl Iterator<Item = &'static str> {
    agent::all().map(Dialect::name)
}

/// What an agent's event before a shell call is called on the command line.
pub fn trial(agent: &str) -> Option<&'static str> {
    agent::named(agent)?.trials().first().copied()
}

/// A payload: what cannot be read is denied in the agent's own words, and what can be is a call if it is about one.
pub fn payload(agent: &str, event: Option<&str>, payload: &[u8]) {
    let agent = agent::named(agent).expect("an agent");
    let read = parsed(payload).and_then(|value| {
        sender(&value);
        read(agent, event, &value)
    });
    match read {
        Err(why) => {
            assert!(!why.is_empty(), "a reason");
            let moment = agent.unreadable(event);
            let said = denial(agent, &moment, &refusal("payload", &why));
            if moment.when.gates() {
                denied(agent, &moment, &said);
            } else {
                assert_eq!(said, agent.encode(&moment, &Answer::Nothing, None), "nothing is said");
            }
        }
        Ok(event) => {
            let moment = &event.moment;
            if !moment.when.gates() {
                assert!(!matches!(event.about, EventPayload::Call { .. }), "a call that nobody judges: {moment:?}");
                return;
            }
            let EventPayload::Call { call, .. } = &event.about else { panic!("{moment:?} about no call") };
            for folder in [&event.scene.cwd, &event.scene.root, &call.cwd, &call.workspace_root] {
                assert!(folder.starts_with('/'), "{folder:?} is where a call works");
            }
            assert!(call.kind != ToolKind::Shell || call.command.is_some(), "a shell call without its text: {call:?}");
            denied(agent, moment, &denial(agent, moment, &refusal("payload", &call.tool)));
            if moment.when == HookKind::Before {
                let said = agent.parse_answer(&moment.name, &agent.encode(moment, &Answer::Nothing, None));
                assert!(matches!(said, Ok(ParsedAnswer::Nothing)), "no opinion is taken for {said:?}");
            }
        }
    }
}

/// That whose payload it is does not depend on what is in it: only on its keys, and on values of its own that are texts.
fn sender(payload: &Value) {
    let title = |payload: &Value| agent::caller(None, payload, &|_| None).map(Dialect::title);
    let mut other = payload.clone();
    for key in ["tool_input", "toolInput", "toolArgs"] {
        if let Some(input) = other.get_mut(key) {
            *input = json!({ "hook_event_name": "BeforeTool", "hookEventName": "stop", "turn_id": "t" });
        }
    }
    // Two inputs that contradict each other are the model's doing at most, and nothing runs then.
    if let Ok(title_of) = title(payload) {
        assert_eq!(Ok(title_of), title(&other), "told by the input of a tool");
    }
}

/// That the agent takes an answer for a denial. `said` knows the events before a call, and not all that ask for permission.
fn denied(agent: &dyn Dialect, moment: &HookEvent, answer: &str) {
    let said = agent.parse_answer(&moment.name, answer);
    let other = !agent.trials().contains(&moment.name.as_str()) && answer.contains("\"deny\"");
    assert!(other || matches!(&said, Ok(ParsedAnswer::Deny(why)) if !why.is_empty()), "{said:?} of {answer}");
}

/// The user's table of tools: it is used as a whole or not at all, and what is wrong with it is said.
pub fn user_tools(text: &str) {
    match UserTools::parse(text) {
        Err(why) => assert!(!why.is_empty(), "a reason"),
        Ok(_) => {
            for name in agents().chain(["any"]) {
                let table = UserTools::parse(text).expect("the same table");
                let row = table.take(name, "tool");
                let _ = row.map(|row| row.with(|row| row.kind));
            }
        }
    }
}

/// What a hook and a resident host say on their socket, the greeting, the question and the answer: a line is read as what was
/// written, on one line again. Whether it is one of these; where there are no resident hosts nothing is.
pub fn resident(line: &[u8]) -> bool {
    #[cfg(target_os = "linux")]
    return again::<Handshake>(line) | again::<HookRequest<Question>>(line) | again::<HookResponse>(line);
    #[cfg(not(target_os = "linux"))]
    return line.is_empty();
}

#[cfg(target_os = "linux")]
fn again<T: DeserializeOwned + Serialize>(line: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<T>(line) else { return false };
    let written = serde_json::to_vec(&value).expect("what was read can be written");
    assert!(!written.contains(&b'\n'), "one line");
    let read: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(serde_json::to_vec(&read).expect("the same"), written, "the same again");
    true
}
