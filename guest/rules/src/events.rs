//! What has happened in the session, for `when: {missing: ..}`.
//!
//! An event that may have happened, and may not, counts against whoever wants something: it does not lift a rule that waits
//! for it, and it makes one hold again that it ends.

use super::rule_id::Layer;
use crate::call::{Events, Happened};

/// Longest name of an event in a rule file, in bytes. The contract has a limit of 100, and what a project's begin with counts.
pub(crate) const LONGEST_NAME: usize = 100 - PROJECT.len();

/// What the names of events begin with that a project's observers write: they count for that project's rules only.
const PROJECT: &str = "project:";

/// An event that an observer saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub event: String,
    /// Whether it has happened; else it may have.
    pub certain: bool,
}

/// What of a session counts, the widest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// What the same text does before.
    ToolCall,
    /// What happened since the user set the agent to work.
    AgentLoop,
    Session,
}

/// That an event has not happened, or not since another one.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// The names of the event, and of the one that ends it: a project's rules count those of their own observers, too.
    event: Vec<String>,
    since: Vec<String>,
    scope: Scope,
    /// What happened there does not count.
    not_in: Option<Scope>,
}

/// The name of an event as it is kept, which a rule file of this layer has.
pub(crate) fn written(layer: Layer, name: String) -> String {
    if layer == Layer::Project { format!("{PROJECT}{name}") } else { name }
}

/// The names under which an event counts for rules of this layer.
fn counted(layer: Layer, name: String) -> Vec<String> {
    if layer == Layer::Project { vec![written(layer, name.clone()), name] } else { vec![name] }
}

/// When an event happened last, as a place in the order of all.
#[derive(Default)]
struct Last {
    certain: Option<usize>,
    possible: Option<usize>,
}

impl Last {
    fn note(&mut self, at: usize, certain: bool) {
        self.possible = Some(at);
        if certain {
            self.certain = Some(at);
        }
    }
}

impl Missing {
    /// As a rule of this layer asks for it, with the names that the rule file has.
    pub(crate) fn new(layer: Layer, event: String, since: Option<String>, scope: Scope, not_in: Option<Scope>) -> Self {
        let since = since.map(|name| counted(layer, name)).unwrap_or_default();
        Missing { event: counted(layer, event), since, scope, not_in }
    }

    /// Whether the event is missing, after what is known of the session and what the text did before; `None` if it cannot
    /// be told.
    pub(crate) fn holds(&self, known: Option<&Events>, here: &[Entry]) -> Option<bool> {
        let (mut event, mut since) = (Last::default(), Last::default());
        if known.is_none() && self.scope != Scope::ToolCall {
            event.note(0, false);
            if !self.since.is_empty() {
                since.note(0, false);
            }
        }
        let turn = known.map(|known| known.turn);
        let list = known.map_or(&[][..], |known| &known.list);
        for (at, one) in list.iter().enumerate() {
            if self.event.contains(&one.event) && self.counts(one, turn) {
                event.note(at + 1, !one.uncertain);
            }
            if self.since.contains(&one.event) {
                since.note(at + 1, !one.uncertain);
            }
        }
        for (at, one) in here.iter().enumerate() {
            let at = at + list.len() + 1;
            if self.event.contains(&one.event) && self.not_in.is_none() {
                event.note(at, one.certain);
            }
            if self.since.contains(&one.event) {
                since.note(at, one.certain);
            }
        }
        if event.certain.is_some() && event.certain > since.possible {
            return Some(false);
        }
        if event.possible.is_none() || event.possible < since.certain {
            return Some(true);
        }
        None
    }

    /// Whether an event of an earlier call counts.
    fn counts(&self, one: &Happened, turn: Option<u64>) -> bool {
        let now = Some(one.turn) == turn;
        match self.scope {
            Scope::ToolCall => false,
            Scope::AgentLoop => now,
            Scope::Session => !(now && self.not_in == Some(Scope::AgentLoop)),
        }
    }
}
