//! Whether two commands of a text are the same, wherever they stand: a function is called from many places, and a loop
//! has many rounds.

use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use rustc_hash::FxHasher;

use crate::command::{Command, Effect, Redirect};
use toolgate_shell_syntax::word::{Span, Value, Word};

/// Two places of a text, from which those of two commands are counted.
#[derive(Clone, Copy)]
struct Pair<'s> {
    source: &'s str,
    starts: (usize, usize),
}

impl Pair<'_> {
    fn places(self, one: usize, other: usize) -> bool {
        one.wrapping_sub(self.starts.0) == other.wrapping_sub(self.starts.1)
    }

    fn spans(self, one: Span, other: Span) -> bool {
        self.places(one.start, other.start) && self.places(one.end, other.end)
    }

    fn words(self, one: &Word, other: &Word) -> bool {
        let Word { span, value, quoted, several, at } = one;
        *value == other.value
            && *quoted == other.quoted
            && *several == other.several
            && self.spans(*span, other.span)
            && match (*at, other.at) {
                (None, None) => true,
                (Some(at), Some(other)) => self.places(at, other),
                _ => false,
            }
            // What is not known is shown as it is written.
            && (!matches!(value, Value::Unknown { .. }) || self.written(*span, other.span))
    }

    fn written(self, one: Span, other: Span) -> bool {
        one == other || self.source.get(one.start..one.end) == self.source.get(other.start..other.end)
    }

    fn redirects(self, one: &Redirect, other: &Redirect) -> bool {
        let Redirect { kind, fd, target } = one;
        *kind == other.kind && *fd == other.fd && self.words(target, &other.target)
    }

    fn effects(self, one: &Effect, other: &Effect) -> bool {
        let Effect { kind, path, written, span, recursive, folder, copied, certain, alternative, named, used } = one;
        *kind == other.kind
            && *path == other.path
            && *written == other.written
            && self.spans(*span, other.span)
            && *recursive == other.recursive
            && *folder == other.folder
            && *copied == other.copied
            && *certain == other.certain
            && *alternative == other.alternative
            && *named == other.named
            && *used == other.used
    }
}

fn all<T>(one: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}

impl Command {
    /// A number that is the same for commands that [are the same](Self::is_same). Others may have it, too.
    pub fn digest(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.words.len().hash(&mut hasher);
        for word in &self.words {
            word.text().hash(&mut hasher);
        }
        for (name, word) in &self.assignments {
            name.hash(&mut hasher);
            word.text().hash(&mut hasher);
        }
        for redirect in &self.redirects {
            redirect.target.text().hash(&mut hasher);
        }
        for effect in &self.effects {
            effect.kind.hash(&mut hasher);
            effect.path.text().hash(&mut hasher);
        }
        self.cwd.hash(&mut hasher);
        self.via.hash(&mut hasher);
        self.input().map(str::len).hash(&mut hasher);
        hasher.finish()
    }

    /// Whether another command of the same text says the same by itself: its words with their values and with how those
    /// that are not known are written, what it does, where it works, what it was found inside of, what it is given; and
    /// whether all of that stands in the same way to where the command itself stands.
    ///
    /// What is around it is left out: variables, other trackers, its list and the operator before it, every other
    /// command.
    pub fn is_same(&self, other: &Command, source: &str) -> bool {
        // One by one, so that none that is added later is left out unseen.
        let Command {
            words,
            assignments,
            redirects,
            span,
            cwd,
            shell_cwd,
            folders,
            other_folders,
            env: _,
            tracked: _,
            via,
            group: _,
            joiner: _,
            runs,
            effects,
            action,
            elsewhere,
            effects_elsewhere,
            more_words,
            preexisting,
            scanned,
            unseen_script,
            opaque,
            foreseen,
            input,
            statements,
            data,
            unlisted,
        } = self;
        let pair = Pair { source, starts: (span.start, other.span.start) };
        let input_is_same = match (input, &other.input) {
            (Some(input), Some(other)) => Rc::ptr_eq(input, other) || input.text == other.text,
            (None, None) => true,
            _ => false,
        };
        let statements_are_same = all(statements, &other.statements, |one, other| one.text == other.text);
        input_is_same
            && statements_are_same
            && pair.spans(*span, other.span)
            && all(words, &other.words, |one, other| pair.words(one, other))
            && all(assignments, &other.assignments, |(name, one), (other_name, other)| {
                name == other_name && pair.words(one, other)
            })
            && all(redirects, &other.redirects, |one, other| pair.redirects(one, other))
            && all(effects, &other.effects, |one, other| pair.effects(one, other))
            && *action == other.action
            && all(effects_elsewhere, &other.effects_elsewhere, |one, other| pair.effects(one, other))
            && *cwd == other.cwd
            && *shell_cwd == other.shell_cwd
            && *folders == other.folders
            && *other_folders == other.other_folders
            && *via == other.via
            && *runs == other.runs
            && *elsewhere == other.elsewhere
            && *more_words == other.more_words
            && *preexisting == other.preexisting
            && *scanned == other.scanned
            && *unseen_script == other.unseen_script
            && *opaque == other.opaque
            && *foreseen == other.foreseen
            && *data == other.data
            && *unlisted == other.unlisted
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Runs, parse};
    use crate::facts::Facts;

    #[test]
    fn commands_are_the_same_wherever_they_stand() {
        let cases: &[(&str, bool)] = &[
            ("ls -l a; true; ls -l a", true),
            ("ls -l a; true; ls -l b", false),
            ("ls -l a; true; ls -l  a", false),
            ("ls -l a; true; ls -l 'a'", false),
            ("ls a; ls -a", false),
            ("ls a >b; ls a >c", false),
            ("ls a >b; ls a >>b", false),
            ("f() { ls a; }; f; f", true),
            ("f() { ls $1; }; f a; f b", false),
            ("for x in 1 2 1; do ls a; done", true),
            ("for x in 1 2 1; do ls $x; done", true),
            ("for x in 1 2 3; do ls $x; done", false),
            ("ls a; cd b; ls a", false),
            ("ls a; sudo ls a", false),
            ("X=1 ls a; X=2 ls a", false),
            ("X=1 ls a; X=1 ls a", true),
            ("ls a; X=1; ls a", true),
            ("ls \"$(x)\"; ls \"$(y)\"", false),
            ("ls \"$(x)\"; ls \"$(x)\"", true),
            ("ls <<E\na\nE\nls <<E\nb\nE", false),
            ("ls a; x && ls a", false),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            assert_eq!(script.unparsed, None, "{text}");
            let named = |name: &str| name == "ls" || name == "sudo";
            let mut found = script.commands.iter().filter(|command| {
                command.runs != Runs::Never && command.via != ["sudo"] && command.program().is_some_and(named)
            });
            let first = found.next().expect("a command");
            let last = found.next_back().expect("another command");
            assert_eq!(first.is_same(last, text), *expected, "{text}");
            assert_eq!(last.is_same(first, text), *expected, "{text}");
            assert!(!expected || first.digest() == last.digest(), "{text}");
            assert!(first.is_same(first, text), "{text}");
        }
    }

    #[test]
    fn variables_are_the_same_where_none_was_set_between() {
        for (text, expected) in [("a; true; b", true), ("a; X=1; b", false), ("a; cd /x; b", false)] {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let find = |name: &str| script.commands.iter().find(|command| command.program() == Some(name)).expect(name);
            assert_eq!(find("a").env.is_same(&find("b").env), expected, "{text}");
        }
    }
}
