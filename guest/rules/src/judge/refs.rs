//! What git commands of one text mean for each other.

use std::collections::HashSet;

use toolgate_shell::{Command, Joiner, RedirectKind, Runs, Word};

use super::{Evaluation, evidence};
use crate::call::Field;
use crate::invocation::Invocation;
use crate::matching::{MatchInput, names_repository};
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// After these what was fetched is part of what is pushed, or was looked at as such.
const TAKES_OVER: &[&str] = &["am", "checkout", "cherry-pick", "merge", "pull", "rebase", "reset", "switch"];

/// The words of a git command that are no options: its subcommand, then what that is about.
fn operands<'a>(found: &Invocation<'a>) -> Vec<Option<&'a str>> {
    found.operands.iter().map(|operand| operand.text).collect()
}

/// Whether a push takes for what is replaced whatever is known of the remote, and nothing else.
fn leans_on_what_is_known(found: &Invocation<'_>) -> bool {
    let lease = |value: Option<&str>| value.is_none_or(|value| !value.contains(':'));
    let leases = found.options.iter().any(|given| found.is(given, "--force-with-lease") && lease(given.value));
    leases && !found.options.iter().any(|given| found.is(given, "--force-if-includes"))
}

/// Whether all tags that a command removes were made by one that succeeded just before, so that nothing is lost.
pub(super) fn made_here(subject: &MatchInput<'_>, source: &str) -> bool {
    // `! git tag v1 && ..` goes on where the tag was there before. The sign of `[ ! -f x ]` is another one.
    let mut before = "";
    for word in source.split_ascii_whitespace() {
        if word.trim_start_matches(['(', '{']) == "!" && !matches!(before, "[" | "[[" | "test") {
            return false;
        }
        before = word;
    }
    let Some(removes) = subject.invocation() else { return false };
    let removed = operands(removes);
    if removed.len() < 2 || names_repository(subject.command) {
        return false;
    }
    let here =
        |before: &&Command| before.cwd.is_some() && before.cwd == subject.command.cwd && !names_repository(before);
    // There may be very many before it, and few of them make a tag.
    let tags = |before: &&Command| before.words.get(1).and_then(Word::known) == Some("tag");
    let made = subject.succeeded().map(|at| subject.run_by(at)).filter(tags).filter(here);
    let made = made.filter_map(|before| subject.read(before));
    let made = made.filter(|made| made.program == "git" && made.options.is_empty());
    let made = made.filter_map(|made| match operands(&made).as_slice() {
        [Some("tag"), Some(tag), ..] => Some(*tag),
        _ => None,
    });
    let made: HashSet<&str> = made.collect();
    removed.iter().skip(1).all(|tag| tag.is_some_and(|tag| made.contains(tag)))
}

/// Whether something in the text may answer what a command asks. What stands in a loop or a function is given what that is,
/// so that any pipe before it counts.
pub(super) fn is_answered(subject: &MatchInput<'_>, source: &str) -> bool {
    let nobody = |word: &Word| matches!(word.known(), Some("/dev/null" | "/dev/tty"));
    let reads = |command: &Command| {
        command.redirects.iter().any(|redirect| {
            matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) && !nobody(&redirect.target)
        })
    };
    // `exec < answers` is for all that comes after it.
    let wide = |command: &&Command| command.words.is_empty() || command.program() == Some("exec");
    let commands = &subject.script().commands;
    // What a here-document says is not always known.
    let documents = source.contains("<<");
    documents
        || commands.iter().take(subject.index + 1).any(|command| command.joiner == Joiner::Pipe)
        || commands.iter().filter(wide).any(reads)
        || reads(subject.command)
        || subject.command.input().is_some_and(|input| !input.is_empty())
}

impl Evaluation<'_> {
    /// A push that would stop at what others have pushed, had it not been fetched just before.
    pub(super) fn fetched(&mut self, subjects: &[MatchInput<'_>], field: &Field, world: &mut dyn GuardHost) {
        let mut fetched = false;
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            let found = Some(subject).filter(|subject| subject.may_be("git")).and_then(MatchInput::invocation);
            let Some(found) = found.filter(|found| found.program == "git") else { continue };
            match operands(found).as_slice() {
                [Some("fetch"), ..] | [Some("remote"), Some("update"), ..] => fetched = true,
                [Some("push"), ..] if fetched && leans_on_what_is_known(found) => {
                    let evidence = vec![evidence(field, subject.command.span)];
                    self.coded_on(NativeRule::ForcePushFetched, subject, &field.value, world, evidence);
                }
                [Some(subcommand), ..] if TAKES_OVER.contains(subcommand) => fetched = false,
                _ => {}
            }
        }
    }
}
