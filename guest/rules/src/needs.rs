//! What a rule needs of a command at the least, in a few bytes: most rules end here for most commands, without being looked
//! at. Whether it fires is for `matching` to say.

use toolgate_shell::{Command, Effect, EffectKind, Word};

use super::rule::CommandMatcher;

/// What has to be there for a rule to fire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// An effect of one of these kinds, a bit each; any or none at all if there are no bits.
    kinds: u16,
    /// A wrapper around it.
    wrapper: bool,
    /// A text that it runs and that cannot be read.
    unseen: bool,
    /// What its program may begin with, a bit for each of 32 kinds of letters; anything if there are no bits.
    letters: u32,
    /// A subcommand among its words, a bit for each of 64 kinds of words; any or none at all if there are no bits.
    words: u64,
}

/// What a command has of that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTraits {
    kinds: u16,
    wrapper: bool,
    unseen: bool,
    letters: u32,
    words: u64,
}

const _: () = assert!((EffectKind::Send as u16) < 16, "each kind has a bit, and this is the last one");

fn bit(kind: EffectKind) -> u16 {
    1 << kind as u16
}

fn letter(text: &str) -> u32 {
    text.bytes().next().map_or(0, |byte| 1 << (byte & 31))
}

fn word(text: &str) -> u64 {
    1 << (text.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte))) & 63)
}

/// The words of which a subcommand has one; none if it may be without.
fn subcommands(all: &[Vec<String>]) -> u64 {
    let first = all.iter().map(|one| one.first().map_or("*", String::as_str));
    let mut names = first.flat_map(|name| name.split('|'));
    names.try_fold(0, |bits, name| (!name.contains('*')).then(|| bits | word(name))).unwrap_or(0)
}

impl Needs {
    pub(crate) fn of(what: &CommandMatcher) -> Self {
        let kinds = |wanted: &[EffectKind]| wanted.iter().fold(0, |bits, kind| bits | bit(*kind));
        let open = what.programs.iter().any(|program| program.starts_with('*'));
        let letters = what.programs.iter().fold(0, |bits, program| bits | letter(program));
        Needs {
            kinds: what.effects.first().map_or(0, |wanted| kinds(&wanted.kinds)),
            wrapper: !what.via.is_empty(),
            unseen: what.unseen,
            letters: if open { 0 } else { letters },
            words: subcommands(&what.subcommands),
        }
    }

    /// Whether a command has it all.
    pub(crate) fn are_met(self, has: CommandTraits) -> bool {
        (self.kinds == 0 || self.kinds & has.kinds != 0)
            && (!self.wrapper || has.wrapper)
            && (!self.unseen || has.unseen)
            && (self.letters == 0 || self.letters & has.letters != 0)
            && (self.words == 0 || self.words & has.words != 0)
    }
}

impl CommandTraits {
    /// `program` is the one that rules are tried on.
    pub(crate) fn of(command: &Command, program: Option<&str>) -> Self {
        let bits = |bits, effect: &Effect| bits | bit(effect.kind);
        CommandTraits {
            kinds: command.effects.iter().chain(&command.effects_elsewhere).fold(0, bits),
            wrapper: !command.via.is_empty(),
            unseen: command.unseen_script,
            letters: program.map_or(0, letter),
            words: command.words.iter().filter_map(Word::known).fold(0, |bits, text| bits | word(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;
    use crate::rule::EffectMatch;

    #[test]
    fn what_a_command_lacks_rules_it_out() {
        let effects = |kinds: &[EffectKind]| {
            let wanted = EffectMatch { kinds: kinds.to_vec(), ..EffectMatch::default() };
            CommandMatcher { effects: vec![wanted], ..CommandMatcher::default() }
        };
        let programs = |names: &[&str]| CommandMatcher {
            programs: names.iter().map(|name| (*name).to_owned()).collect(),
            ..CommandMatcher::default()
        };
        let subcommand = |names: &[&[&str]]| CommandMatcher {
            subcommands: names.iter().map(|one| one.iter().map(|name| (*name).to_owned()).collect()).collect(),
            ..CommandMatcher::default()
        };
        let cases = [
            ("rm a", CommandMatcher::default(), true),
            ("rm a", effects(&[EffectKind::Delete]), true),
            ("rm a", effects(&[EffectKind::Move, EffectKind::Delete]), true),
            ("rm a", effects(&[EffectKind::Send]), false),
            ("echo", effects(&[EffectKind::Mention]), false),
            ("rm a", CommandMatcher { via: vec!["sudo".to_owned()], ..CommandMatcher::default() }, false),
            ("rm a", CommandMatcher { unseen: true, ..CommandMatcher::default() }, false),
            ("sh -c \"$(a)\"", CommandMatcher { unseen: true, ..CommandMatcher::default() }, true),
            ("rm a", programs(&["r*"]), true),
            ("rm a", programs(&["r*", "rmdir"]), true),
            ("rm a", programs(&["python*"]), false),
            ("rm a", programs(&["python*", "r*"]), true),
            ("rm a", programs(&["python*", "node"]), false),
            ("rm a", programs(&["*m"]), true),
            ("rm a", programs(&["python*", "*m"]), true),
            ("$X a", programs(&["python*"]), false),
            ("git push a", subcommand(&[&["push"], &["fetch"]]), true),
            ("git fetch a", subcommand(&[&["push"], &["fetch"]]), true),
            ("git $X push", subcommand(&[&["push"]]), true),
            ("git $X", subcommand(&[&["push"]]), false),
            ("git pull a", subcommand(&[&["push"], &["fetch"]]), false),
            ("git pull a", subcommand(&[&["push", "a"]]), false),
            ("git pull a", subcommand(&[&["push"], &["p*"]]), true),
            ("git pull a", subcommand(&[&["push|pull"]]), true),
            ("git pull a", subcommand(&[&["**", "push"]]), true),
            ("git pull a", subcommand(&[&[]]), true),
        ];
        for (text, what, expected) in cases {
            let script = parse(text, &Facts::new("/p"));
            let command = &script.commands[0];
            assert_eq!(
                Needs::of(&what).are_met(CommandTraits::of(command, command.program())),
                expected,
                "{text} {what:?}"
            );
        }
    }
}
