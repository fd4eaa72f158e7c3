//! What has happened in the session, for `when: {missing: ..}`.
//!
//! An event that may have happened, and may not, counts against whoever wants something: it does not lift a rule that waits
//! for it, and it makes one hold again that it ends.

use super::read::{on_unknown, unknown_key};
use super::rule::{Condition, Conditions, Layer};
use super::yaml::Node;
use crate::call::{Events, Happened};

/// The keys of `missing`.
pub const MISSING_KEYS: &[&str] = &["event", "in", "since", "not-in", "on-unknown"];

/// Longest name of an event, in bytes. The contract has that limit.
const LONGEST_NAME: usize = 100;

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
enum Scope {
    /// What the same text does before.
    ToolCall,
    /// What happened since the user set the agent to work.
    AgentLoop,
    Session,
}

impl Scope {
    fn read(key: &str, value: Node) -> Result<Self, String> {
        match value.text(key)?.as_str() {
            "session" => Ok(Scope::Session),
            "agent-loop" | "agent_loop" => Ok(Scope::AgentLoop),
            "tool-call" | "tool_call" => Ok(Scope::ToolCall),
            other => Err(format!("{key} must be session, agent-loop or tool-call, not {other}")),
        }
    }
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

/// The name of an event, as observers and rules write it.
pub(super) fn name(key: &str, value: Node) -> Result<String, String> {
    let name = value.text(key)?;
    if name.is_empty() || name.len() > LONGEST_NAME - PROJECT.len() || name.contains(':') {
        let longest = LONGEST_NAME - PROJECT.len();
        return Err(format!("{key} must be the name of an event: at most {longest} bytes, without a colon"));
    }
    Ok(name)
}

/// The same as it is kept.
pub(super) fn written(layer: Layer, name: String) -> String {
    if layer == Layer::Project { format!("{PROJECT}{name}") } else { name }
}

/// The names under which an event counts for rules of this layer.
fn counted(layer: Layer, name: String) -> Vec<String> {
    if layer == Layer::Project { vec![written(layer, name.clone()), name] } else { vec![name] }
}

/// `missing: {event: E, in: session, since: E2, not-in: tool-call}`.
pub(super) fn read_missing(layer: Layer, value: Node, unknown: &mut bool) -> Result<Missing, String> {
    let (mut event, mut since, mut scope, mut not_in) = (None, Vec::new(), None, None);
    for (key, value) in value.map("missing")? {
        let value = value.value;
        match key.as_str() {
            "event" => event = Some(counted(layer, name(&key, value)?)),
            "since" => since = counted(layer, name(&key, value)?),
            "in" => scope = Some(Scope::read(&key, value)?),
            "not-in" | "notIn" => not_in = Some(Scope::read(&key, value)?),
            "on-unknown" | "onUnknown" => *unknown = on_unknown(value)?,
            other => return Err(unknown_key("missing", other, MISSING_KEYS)),
        }
    }
    let scope = scope.ok_or("missing needs in: session, agent-loop or tool-call")?;
    if not_in.is_some_and(|not_in| not_in >= scope) {
        return Err("not-in must be narrower than in, or nothing is left to count".to_owned());
    }
    Ok(Missing { event: event.ok_or("missing names no event")?, since, scope, not_in })
}

/// Whether conditions ask for events.
pub(super) fn asked_for(when: &Conditions) -> bool {
    when.any(&|condition| matches!(condition, Condition::Missing(_)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn what_may_have_happened_counts_against_whoever_wants_something() {
        // The condition; the session's events as `name turn`, with `?` for uncertain ones, in turn 2; what the text did
        // before; whether the event is missing.
        let session = "{event: a, in: session}";
        let since = "{event: a, in: session, since: b}";
        type Case = (&'static str, Option<&'static [&'static str]>, &'static [&'static str], Option<bool>);
        let cases: &[Case] = &[
            (session, None, &[], None),
            (session, Some(&[]), &[], Some(true)),
            (session, Some(&["a 1"]), &[], Some(false)),
            (session, Some(&["a? 1"]), &[], None),
            (session, Some(&["c 1", "project:a 1"]), &[], Some(true)),
            (session, None, &["a"], Some(false)),
            (session, Some(&[]), &["a?"], None),
            ("{event: a, in: agent-loop}", Some(&["a 1"]), &[], Some(true)),
            ("{event: a, in: agent_loop}", Some(&["a 2"]), &[], Some(false)),
            ("{event: a, in: tool-call}", Some(&["a 2"]), &[], Some(true)),
            ("{event: a, in: tool_call}", None, &[], Some(true)),
            ("{event: a, in: tool-call}", None, &["a"], Some(false)),
            ("{event: a, in: agent-loop, not-in: tool-call}", Some(&[]), &["a"], Some(true)),
            ("{event: a, in: session, notIn: agent_loop}", Some(&["a 2"]), &["a"], Some(true)),
            ("{event: a, in: session, not-in: agent-loop}", Some(&["a 1"]), &[], Some(false)),
            (since, Some(&["a 1"]), &[], Some(false)),
            (since, Some(&["a 1", "b 1"]), &[], Some(true)),
            (since, Some(&["a 1", "b? 1"]), &[], None),
            (since, Some(&["b 1", "a 1"]), &[], Some(false)),
            (since, Some(&["a 1"]), &["b"], Some(true)),
            (since, Some(&["a 1", "b 2"]), &["a"], Some(false)),
            (since, None, &["a", "b"], Some(true)),
            (since, None, &["b", "a"], Some(false)),
        ];
        for (text, known, here, expected) in cases {
            let node = parse(text.as_bytes()).expect(text).value;
            let missing = read_missing(Layer::User, node, &mut true).expect(text);
            let known = known.map(|list| Events {
                turn: 2,
                list: list
                    .iter()
                    .map(|one| {
                        let (event, turn) = one.split_once(' ').expect("a turn");
                        let (event, uncertain) = (event.trim_end_matches('?').to_owned(), event.ends_with('?'));
                        Happened { event, turn: turn.parse().expect("a number"), uncertain }
                    })
                    .collect(),
            });
            let entry =
                |one: &&str| Entry { event: one.trim_end_matches('?').to_owned(), certain: !one.ends_with('?') };
            let here: Vec<Entry> = here.iter().map(entry).collect();
            assert_eq!(missing.holds(known.as_ref(), &here), *expected, "{text} {known:?} {here:?}");
        }
    }
}
