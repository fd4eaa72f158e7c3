//! Which of several findings that ask for the same is told first: the one after which least can be brought back.

use crate::rule_id::{Layer, RuleId};
use crate::rules::Guard;

/// Packs of what no copy on this machine brings back.
const BEYOND: &[&str] = &[
    "backups",
    "cloud",
    "containers",
    "databases",
    "devices",
    "infrastructure",
    "operations",
    "publishing",
    "services",
];

/// Rules that fire because something is not known, whatever it is.
const CATCH_ALL: &[&str] = &["other-shell", "too-much", "unknown-program", "unparsed", "unseen-script"];

/// How late a finding of a rule is told; 0 comes first.
pub(super) fn rank(guard: &Guard, rule: &RuleId) -> u8 {
    let RuleId::Rule { layer: Layer::BuiltIn, name } = rule else { return 1 };
    match () {
        () if CATCH_ALL.contains(&name.as_str()) => 3,
        () if is_others(name) || guard.pack_of(rule).is_some_and(|pack| BEYOND.contains(&pack)) => 0,
        () if guard.pack_of(rule) == Some("files") => 1,
        () => 2,
    }
}

/// Whether it is about what others lose.
fn is_others(name: &str) -> bool {
    name.starts_with("git-") && (name.contains("push") || name.contains("remote")) && !name.contains("unchecked")
}
