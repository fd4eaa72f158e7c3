//! The events of a session: kept with it, and told to those who judge. Observers write them, see `observers`.
//!
//! A turn ends when the agent has finished and is not sent on. One that the user breaks off, of which an agent says nothing,
//! goes on into the next; so it does in an agent that says nothing of turns (MCP clients). Sub-agents have the session of
//! the agent that started them, where they have a name for one.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Answer, Journal};

/// The kind of a journal's entry that is an event.
const KIND: &str = "event";

/// How the names of events begin that a project's observers write.
const PROJECT: &str = "project:";

/// Most events that are kept of a session.
const MOST: usize = 1_000;

/// Most bytes that their names take together.
const BYTES: usize = 64 << 10;

/// Most events that gates write about a call.
const MOST_OF_A_CALL: usize = 100;

/// Longest name, in bytes. The contract has that limit.
const LONGEST_NAME: usize = 100;

/// What has happened in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Events {
    /// How often the user has set the agent to work, from 0.
    turn: u64,
    /// The oldest first.
    list: Vec<Happened>,
    /// Whether something may have happened that is not in the list: what an observer could not see, or could not write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Happened {
    event: String,
    turn: u64,
    /// Whether it may not have happened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    uncertain: bool,
}

impl Events {
    /// Those of a session of which nobody knows what has happened.
    pub(crate) fn lost() -> Self {
        Events { lost: true, ..Events::default() }
    }

    /// As gates find them in a call's context. None if it is not known which there are.
    pub(crate) fn json(&self) -> Option<Value> {
        (!self.lost).then(|| json!({ "turn": self.turn, "list": self.list }))
    }

    /// How often the user has set the agent to work.
    pub(crate) fn turn(&self) -> u64 {
        self.turn
    }

    /// The user sets the agent to work the next time.
    pub(crate) fn next_turn(&mut self) {
        self.turn = self.turn.saturating_add(1);
    }

    /// Something may have happened that is not in the list.
    pub(crate) fn forget(&mut self) {
        self.lost = true;
    }

    /// Takes over what a gate has written about a call that runs, or may run.
    pub(crate) fn note(&mut self, event: &Event, certain: bool) {
        self.add(event.name.clone(), event.uncertain || !certain);
    }

    /// Adds one. What has come again since is forgotten first, as nobody can ask for it; then the oldest, of a project's
    /// first, and that is noted.
    fn add(&mut self, event: String, uncertain: bool) {
        self.list.push(Happened { event, turn: self.turn, uncertain });
        while self.list.len() > MOST || self.list.iter().map(|one| one.event.len()).sum::<usize>() > BYTES {
            let again = |at: usize| {
                let later = self.list.iter().skip(at + 1);
                self.list.get(at).is_some_and(|one| {
                    later.into_iter().any(|other| other.event == one.event && other.uncertain == one.uncertain)
                })
            };
            let repeated = (0..self.list.len()).find(|at| again(*at));
            // A project's rules must not make the user's forget.
            let project = self.list.iter().position(|one| one.event.starts_with(PROJECT));
            self.lost |= repeated.is_none();
            self.list.remove(repeated.or(project).unwrap_or(0));
        }
    }
}

/// An event as a component writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Event {
    name: String,
    uncertain: bool,
}

impl Event {
    /// Reads an entry of the journal.
    pub(crate) fn read(kind: &str, entry: &str) -> Answer<Self> {
        if kind != KIND {
            return Err(CapabilityError::Denied(format!("only entries of type {KIND} are accepted")));
        }
        let entry: Value = serde_json::from_str(entry).map_err(|error| CapabilityError::Invalid(error.to_string()))?;
        let name = entry.get("event").and_then(Value::as_str).filter(|name| (1..=LONGEST_NAME).contains(&name.len()));
        let name = name.ok_or_else(|| CapabilityError::Invalid("the entry names no event".to_owned()))?;
        Ok(Event { name: name.to_owned(), uncertain: entry.get("uncertain") == Some(&Value::Bool(true)) })
    }
}

/// Takes the events that gates write, until it is known whether the call runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallEvents(Arc<Mutex<Vec<Event>>>);

impl CallEvents {
    /// All of them since the last time.
    pub(crate) fn drain(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Journal for CallEvents {
    async fn append(&self, kind: String, entry: String) -> Answer<()> {
        let event = Event::read(&kind, &entry)?;
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() >= MOST_OF_A_CALL {
            return Err(CapabilityError::TooLarge(MOST_OF_A_CALL as u64));
        }
        events.push(event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_again_is_forgotten_first() {
        let mut events = Events::default();
        events.add("once".to_owned(), false);
        for _ in 0..2 * MOST {
            events.add("again".to_owned(), false);
        }
        assert_eq!(events.list.len(), MOST);
        assert_eq!(events.list.first().map(|one| one.event.as_str()), Some("once"));
        let mut events = Events::default();
        for at in 0..2 * MOST {
            events.add(format!("{at:0>90}"), false);
        }
        assert!(events.list.len() < MOST && events.list.iter().map(|one| one.event.len()).sum::<usize>() <= BYTES);
        assert_eq!(events.list.last().map(|one| one.event.clone()), Some(format!("{:0>90}", 2 * MOST - 1)));
        assert_eq!(events.json(), None, "what is forgotten may have been anything");
    }

    #[test]
    fn a_project_makes_nobody_else_forget() {
        let mut events = Events::default();
        events.add("secret".to_owned(), false);
        for at in 0..2 * MOST {
            events.add(format!("{PROJECT}{at:0>80}"), false);
        }
        assert_eq!(events.list.first().map(|one| one.event.as_str()), Some("secret"));
        assert_eq!(events.json(), None);
    }

    #[tokio::test]
    async fn what_gates_write_waits_until_the_call_runs() {
        let written = CallEvents::default();
        let append = async |kind: &str, entry: &str| written.append(kind.to_owned(), entry.to_owned()).await;
        assert!(matches!(append("log", r#"{"event": "a"}"#).await, Err(CapabilityError::Denied(_))));
        for entry in ["{", "{}", r#"{"event": ""}"#, r#"{"event": 1}"#] {
            assert!(matches!(append(KIND, entry).await, Err(CapabilityError::Invalid(_))), "{entry}");
        }
        for _ in 0..MOST_OF_A_CALL {
            assert_eq!(append(KIND, r#"{"event": "a"}"#).await, Ok(()));
        }
        assert!(matches!(append(KIND, r#"{"event": "a"}"#).await, Err(CapabilityError::TooLarge(_))));
        assert_eq!((written.drain().len(), written.drain().len()), (MOST_OF_A_CALL, 0));
        let mut events = Events::default();
        let event = |uncertain| Event { name: "a".to_owned(), uncertain };
        for (uncertain, certain) in [(false, true), (true, true), (false, false)] {
            events.note(&event(uncertain), certain);
        }
        assert_eq!(events.list.iter().map(|one| one.uncertain).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn gates_find_events_with_their_turns() {
        let mut events = Events::default();
        events.add("before".to_owned(), false);
        events.next_turn();
        events.add("now".to_owned(), true);
        let list = json!([{ "event": "before", "turn": 0 }, { "event": "now", "turn": 1, "uncertain": true }]);
        assert_eq!(events.json(), Some(json!({ "turn": 1, "list": list })));
    }
}
