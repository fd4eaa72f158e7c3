//! A file that a redirect empties before the same pipeline reads it: `sort f > f`.

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Presence, Redirect, RedirectKind};

use crate::call::Field;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

impl Evaluation<'_> {
    /// A redirect that empties what the command, or one before it in its pipeline, reads. Git may hold the file as it is.
    pub(in crate::judge) fn empties(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let command = subject.command;
        let empties = |redirect: &&Redirect| redirect.kind == RedirectKind::Write;
        for redirect in command.redirects.iter().filter(empties) {
            let written = |effect: &&Effect| effect.kind == EffectKind::Write && effect.span == redirect.target.span;
            let Some(path) = command.effects.iter().find(written).and_then(|effect| effect.path.known()) else {
                continue;
            };
            // In zsh a word may be the target of a redirect that is none in bash.
            let of = |effect: &Effect| effect.kind == EffectKind::Read && effect.span != redirect.target.span;
            let reads =
                |other: &Command| other.effects.iter().any(|effect| of(effect) && effect.path.known() == Some(path));
            let read = reads(command) || subject.pipeline().0.into_iter().any(reads);
            let there = look.is_none_or(|look| look.look(path) != Presence::Absent);
            if read && there && !super::is_made_before(subject, path) && !world.holds(path) {
                let evidence = vec![evidence(field, redirect.target.span)];
                self.coded_on(NativeRule::EmptiedFirst, subject, &field.value, world, evidence);
            }
        }
    }
}
