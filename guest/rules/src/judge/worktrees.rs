//! Worktrees beside the first of their repository that are removed as a whole: nothing is lost with one of which git holds
//! every file and a branch every commit.

use toolgate_shell::{Effect, EffectKind, FileOracle, Runs, absolute};

use super::{Evaluation, evidence};
use crate::call::Field;
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::path_zone::{PathZone, is_elsewhere, is_product};
use crate::rule::Rule;
use crate::worktree;
use crate::world::GuardHost;

/// Most worktrees of one command that git is asked about: each takes some 15 ms.
const TREES: usize = 4;

/// Whether all that a command removes outside the workspace are worktrees of the workspace's repository that hold nothing of
/// their own.
pub(super) fn are_spent(rule: &Rule, subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let removed: Vec<&Effect> =
        rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted)).map(|(effect, _)| effect).collect();
    let is_spent = |effect: &&Effect| {
        let Some(path) = effect.path.known().filter(|_| effect.kind == EffectKind::Delete) else { return false };
        is_left_to_git(subject) || subject.is_own_tree(path) && holds_nothing(path, world)
    };
    (1..=TREES).contains(&removed.len()) && removed.iter().all(is_spent)
}

/// Whether git removes it, and refuses where something is lost.
fn is_left_to_git(subject: &MatchInput<'_>) -> bool {
    let Some(found) = subject.invocation().filter(|found| found.program == "git") else { return false };
    let mut operands = found.operands.iter().map(|operand| operand.text);
    let removes = operands.next() == Some(Some("worktree")) && operands.next() == Some(Some("remove"));
    removes && !found.options.iter().any(|given| found.is(given, "--force") || found.is(given, "-f"))
}

/// Whether a worktree can go without loss. What git ignores is made again, but for the file of variables.
fn holds_nothing(path: &str, world: &mut dyn GuardHost) -> bool {
    let there = |look: &dyn FileOracle| look.look(&absolute(".env", path)) != toolgate_shell::Presence::Absent;
    !world.look().is_none_or(|look| there(look.as_ref())) && world.is_clean(path)
}

impl Evaluation<'_> {
    /// Worktrees in the workspace that are removed with something of their own.
    pub(super) fn worktrees(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let Some(look) = look else { return };
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            if subject.command.elsewhere {
                continue;
            }
            for (effect, place) in subject.command.effects.iter().zip(subject.places()) {
                let may_be = effect.kind == EffectKind::Delete && (effect.recursive || effect.folder);
                let judged = is_elsewhere(*place) || matches!(place, PathZone::Temporary | PathZone::Cache);
                let Some(path) = effect.path.known().filter(|_| may_be && !judged) else { continue };
                let name = path.rsplit('/').next().unwrap_or_default();
                if is_product(name) || !worktree::says_elsewhere(path, look) {
                    continue;
                }
                if !is_left_to_git(subject) && !holds_nothing(path, world) {
                    let evidence = vec![evidence(field, effect.span)];
                    self.coded_on(NativeRule::RemoveWorktree, subject, &field.value, world, evidence);
                }
            }
        }
    }
}
