//! What git commands of one text mean for each other.

use std::collections::HashSet;

use toolgate_shell::{Command, Runs, Word};

use super::coded::Coded;
use super::{Inquiry, evidence};
use crate::call::Field;
use crate::guard::invocation::Invocation;
use crate::guard::matching::{Subject, World, names_repository};

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
pub(super) fn made_here(subject: &Subject<'_>) -> bool {
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

impl Inquiry<'_> {
    /// A push that would stop at what others have pushed, had it not been fetched just before.
    pub(super) fn fetched(&mut self, subjects: &[Subject<'_>], field: &Field, world: &mut dyn World) {
        let mut fetched = false;
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            let Some(found) = subject.invocation().filter(|found| found.program == "git") else { continue };
            match operands(found).as_slice() {
                [Some("fetch"), ..] | [Some("remote"), Some("update"), ..] => fetched = true,
                [Some("push"), ..] if fetched && leans_on_what_is_known(found) => {
                    let evidence = vec![evidence(field, subject.command.span)];
                    self.coded_on(Coded::ForcePushFetched, subject, &field.value, world, evidence);
                }
                [Some(subcommand), ..] if TAKES_OVER.contains(subcommand) => fetched = false,
                _ => {}
            }
        }
    }
}
