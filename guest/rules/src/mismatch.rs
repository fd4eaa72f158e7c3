//! Why a rule does not fire: the first of its conditions that does not hold.

use toolgate_shell::EffectKind;

use super::pattern::Pattern;
use super::rule::{EffectMatch, Flag};

/// The first condition of a rule that does not hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mismatch<'r> {
    Program,
    Subcommand,
    Flags(&'r [Flag]),
    Without(&'r Flag),
    Arguments(&'r Pattern),
    /// There are others than these.
    OtherArguments(&'r Pattern),
    /// There are no others than these.
    TheseArguments(&'r Pattern),
    TestData,
    Count,
    Text,
    Content,
    Assigns,
    Effects(&'r EffectMatch),
    Via,
    Neighbour(&'static str),
    Unseen,
    Pattern,
    Requires,
    Unless,
    Conditions(&'static str),
    Place,
    Never,
    Code,
    Held,
}

impl Mismatch<'_> {
    /// For a person, after "because".
    pub(crate) fn describe(&self) -> String {
        match self {
            Mismatch::Program => "it is for another program".into(),
            Mismatch::Subcommand => "it is for another subcommand".into(),
            Mismatch::Flags(flags) => {
                let names: Vec<&str> = flags.iter().map(|flag| flag.name.as_str()).collect();
                format!("none of the options {} is given", names.join(", "))
            }
            Mismatch::Without(flag) => format!("{} is given", flag.name),
            Mismatch::Arguments(pattern) => format!("no argument matches {}", pattern.source()),
            Mismatch::OtherArguments(pattern) => format!("an argument matches {}", pattern.source()),
            Mismatch::TheseArguments(pattern) => format!("every argument matches {}", pattern.source()),
            Mismatch::TestData => "it works on local test data".into(),
            Mismatch::Count => "the number of arguments differs".into(),
            Mismatch::Text => "no word matches the `text` pattern".into(),
            Mismatch::Content => "the written content does not match or is unknown".into(),
            Mismatch::Assigns => "no variable is set that way".into(),
            Mismatch::Effects(wanted) => describe(wanted),
            Mismatch::Via => "it does not run through such a program".into(),
            Mismatch::Neighbour(side) => format!("no such program comes {side} it in the pipeline"),
            Mismatch::Unseen => "the code it runs can be read".into(),
            Mismatch::Pattern => "the pattern does not match".into(),
            Mismatch::Requires => "the `requires` pattern does not match".into(),
            Mismatch::Unless => "the `unless` pattern matches".into(),
            Mismatch::Conditions(what) => (*what).into(),
            Mismatch::Place => "it works in another folder".into(),
            Mismatch::Never => "the command never runs".into(),
            Mismatch::Code => "nothing of the kind was detected".into(),
            Mismatch::Held => "git can restore everything it overwrites or deletes".into(),
        }
    }
}

/// Why no effect of a command is one that is wanted.
fn describe(wanted: &EffectMatch) -> String {
    let verbs = either(wanted.kinds.iter().map(|kind| verb(*kind)));
    let mut paths = either(wanted.places.iter().map(|place| place.noun()));
    if paths.is_empty() {
        "a matching path".clone_into(&mut paths);
    }
    let there = if wanted.elsewhere { " on another machine" } else { "" };
    format!("it does not {} {paths}{there}", if verbs.is_empty() { "change" } else { &verbs })
}

/// Each of these once: `a`, `a or b`, `a, b or c`.
fn either<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut each: Vec<&str> = Vec::new();
    for text in texts {
        if !each.contains(&text) {
            each.push(text);
        }
    }
    match each.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => each.concat(),
    }
}

/// What a command does to a path, for a sentence.
fn verb(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::Mention => "name",
        EffectKind::Read => "read",
        EffectKind::Write => "write",
        EffectKind::Append => "append to",
        EffectKind::Create => "create",
        EffectKind::Delete => "delete",
        EffectKind::Move => "move",
        EffectKind::Link | EffectKind::HardLink => "link",
        EffectKind::Mode => "change the mode or owner of",
        EffectKind::Execute => "run",
        EffectKind::Send => "send",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_zone::PathZone;

    #[test]
    fn a_miss_names_each_effect_and_place_once() {
        let wanted = |kinds: &[EffectKind], places: &[PathZone]| EffectMatch {
            kinds: kinds.to_vec(),
            places: places.to_vec(),
            ..EffectMatch::default()
        };
        let cases = [
            (
                wanted(&[EffectKind::Mode], &[PathZone::Root, PathZone::System]),
                "change the mode or owner of the filesystem root or a system path",
            ),
            (
                wanted(&[EffectKind::Write, EffectKind::Append, EffectKind::Write], &[]),
                "write or append to a matching path",
            ),
            (
                wanted(&[EffectKind::Link, EffectKind::HardLink], &[PathZone::Outside, PathZone::Outside]),
                "link a path outside the workspace",
            ),
            (
                wanted(&[EffectKind::Delete], &[PathZone::Home, PathZone::Account, PathZone::Outside]),
                "delete a whole home folder, a path in the home folder or a path outside the workspace",
            ),
        ];
        for (wanted, text) in cases {
            assert_eq!(describe(&wanted), format!("it does not {text}"));
        }
    }
}
