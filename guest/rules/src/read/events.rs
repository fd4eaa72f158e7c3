//! Events in rule files: their names, and `missing`.

use super::{on_unknown, unknown_key};
use crate::events::{LONGEST_NAME, Missing, Scope};
use crate::rule_id::Layer;
use crate::yaml::Node;

/// The keys of `missing`.
pub const MISSING_KEYS: &[&str] = &["event", "in", "since", "not-in", "on-unknown"];

/// The name of an event, as observers and rules write it.
pub(super) fn name(key: &str, value: Node) -> Result<String, String> {
    let name = value.text(key)?;
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(':') {
        return Err(format!("{key} must be the name of an event: at most {LONGEST_NAME} bytes, without a colon"));
    }
    Ok(name)
}

fn scope(key: &str, value: Node) -> Result<Scope, String> {
    match value.text(key)?.as_str() {
        "session" => Ok(Scope::Session),
        "agent-loop" | "agent_loop" => Ok(Scope::AgentLoop),
        "tool-call" | "tool_call" => Ok(Scope::ToolCall),
        other => Err(format!("{key} must be session, agent-loop or tool-call, not {other}")),
    }
}

/// `missing: {event: E, in: session, since: E2, not-in: tool-call}`.
pub(super) fn missing(layer: Layer, value: Node, unknown: &mut bool) -> Result<Missing, String> {
    let (mut event, mut since, mut within, mut not_in) = (None, None, None, None);
    for (key, value) in value.map("missing")? {
        let value = value.value;
        match key.as_str() {
            "event" => event = Some(name(&key, value)?),
            "since" => since = Some(name(&key, value)?),
            "in" => within = Some(scope(&key, value)?),
            "not-in" | "notIn" => not_in = Some(scope(&key, value)?),
            "on-unknown" | "onUnknown" => *unknown = on_unknown(value)?,
            other => return Err(unknown_key("missing", other, MISSING_KEYS)),
        }
    }
    let within = within.ok_or("missing needs in: session, agent-loop or tool-call")?;
    if not_in.is_some_and(|not_in| not_in >= within) {
        return Err("not-in must be narrower than in, or nothing is left to count".to_owned());
    }
    Ok(Missing::new(layer, event.ok_or("missing names no event")?, since, within, not_in))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Events, Happened};
    use crate::events::Entry;
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
            let missing = super::missing(Layer::User, node, &mut true).expect(text);
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
