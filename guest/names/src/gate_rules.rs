//! The names of the built-in rules that keep the gate itself. A finding carries the name of its rule and nothing else by which
//! the host could tell what may lift it. The guard, which has them in a pack, has a test that these are that pack's.

/// How the names of those begin that keep Toolgate's own files and commands.
const OWN: &str = "self";

/// Those that say that a call cannot be judged.
const UNJUDGED: &[&str] = &["effects-unread", "links", "no-command", "other-shell", "too-much", "unparsed"];

/// Whether a built-in rule of this name keeps the gate itself, so that no exemption lifts it.
///
/// ```
/// use toolgate_names::gate_rules::{keeps_the_gate, may_be_permitted};
/// assert!(keeps_the_gate("unparsed") && may_be_permitted("unparsed"));
/// assert!(keeps_the_gate("self-permission") && !may_be_permitted("self-permission"));
/// assert!(!keeps_the_gate("git-amend"));
/// ```
#[must_use]
pub fn keeps_the_gate(name: &str) -> bool {
    !may_be_permitted(name) || UNJUDGED.contains(&name)
}

/// Whether a person may let a call through once against a built-in rule of this name. Not against those that keep what
/// belongs to Toolgate.
#[must_use]
pub fn may_be_permitted(name: &str) -> bool {
    !name.starts_with(OWN)
}
