//! Files that `mv` loses: each of several is moved onto the same name, or they are moved into a folder that is removed then.

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Presence, Value, Why, is_within};

use super::uncommitted::Listed;
use crate::call::Field;
use crate::glob;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::path_zone::{PathZone, is_made_again, is_product, is_temporary};
use crate::world::{GuardHost, Tracked};

impl Evaluation<'_> {
    /// Files that are lost after they were moved.
    pub(in crate::judge) fn moves(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let command = subject.command;
        let piled = targets(command).any(|(from, to)| is_piled(subject, from, to, look));
        if piled {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::MovedOnto, subject, &field.value, world, evidence);
        }
        let earlier = &self.call.earlier.moved;
        let still_there = |path: &str| look.is_none_or(|look| look.look(path) != Presence::Absent);
        let falls = command.effects.iter().find(|effect| {
            let (path, folder) = match &effect.path {
                Value::Known(path) => (path, path.trim_end_matches('/')),
                Value::Pattern(path) => (path, glob::known_part(path).1),
                Value::Unknown { .. } => return false,
            };
            let found = |moved: &str| match &effect.path {
                Value::Pattern(pattern) => Listed::paths(pattern, effect.recursive).has_path(moved),
                _ => true,
            };
            let stays = |moved: &str| still_there(moved) && found(moved) && !is_moved_out(subject, moved);
            let mut had = || {
                let mut moved = earlier.iter().filter(|moved| is_within(moved, folder) && stays(moved));
                // Of a folder git tells nothing if it ignores it as a whole, as it does in what builds make.
                let is_folder = |moved: &str| look.is_some_and(|look| look.look(moved) == Presence::Folder);
                let is_ignored = |moved: &str| is_folder(moved) && moved.split('/').any(is_product);
                moved.any(|moved| is_ignored(moved) || world.tracked(moved) != Some(Tracked::Held))
            };
            let removes = effect.kind == EffectKind::Delete
                && !folder.is_empty()
                && (effect.recursive || effect.path.known().is_none());
            match is_temporary(path) {
                // All that is there goes, whatever it is: `rm -rf /tmp/*`.
                true => removes && is_all_of_temporary(subject, path) && had(),
                false => removes && (effect.path.known().is_some() && has_moved_in(subject, path) || had()),
            }
        });
        if let Some(effect) = falls {
            let evidence = vec![evidence(field, effect.span)];
            self.coded_on(NativeRule::MovedThenRemoved, subject, &field.value, world, evidence);
        }
    }
}

/// Whether a glob stands for all that is in a folder for temporary files.
fn is_all_of_temporary(subject: &MatchInput<'_>, path: &str) -> bool {
    let all = path.strip_suffix("/*").or_else(|| path.strip_suffix("/**"));
    all.is_some_and(|folder| subject.zone(folder) == PathZone::TemporaryRoot)
}

/// Whether an earlier command of the same text moves a file to another place. Where that is in the folder which is removed, it has
/// moved it in.
fn is_moved_out(subject: &MatchInput<'_>, file: &str) -> bool {
    let takes = |effect: &Effect| effect.certain && effect.path.known().is_some_and(|path| is_within(file, path));
    let commands = &subject.script().commands[..subject.index];
    commands.iter().any(|other| targets(other).any(|(from, _)| takes(from)))
}

/// What a command moves, and where to.
fn targets(command: &Command) -> impl Iterator<Item = (&Effect, &Effect)> {
    let all = command.effects.as_slice();
    let pairs = all.iter().zip(all.iter().skip(1));
    pairs.filter(|(from, to)| {
        from.kind == EffectKind::Move && from.copied && matches!(to.kind, EffectKind::Write | EffectKind::Create)
    })
}

/// Whether a command moves each of several files onto one name, which is no folder.
fn is_piled(subject: &MatchInput<'_>, from: &Effect, to: &Effect, look: Option<&dyn FileOracle>) -> bool {
    const KEEP: &[&str] = &["-n", "--no-clobber", "-b", "--backup", "-t", "--target-directory"];
    let command = subject.command;
    let words = || command.words.iter().skip(1);
    // Nothing is at the name, or a file is; `mv a b/` fails there.
    let last = words().next_back();
    let plain = last.is_some_and(|word| !word.value.text().ends_with('/'))
        && subject.invocation().is_some_and(|found| !found.has(KEEP));
    let Some(target) = to.path.known().filter(|_| plain && command.program() == Some("mv")) else { return false };
    let commands = &subject.script().commands;
    let earlier = || commands[..subject.index].iter();
    let is_file = look.is_some_and(|look| matches!(look.look(target), Presence::Absent | Presence::File));
    let makes =
        |effect: &Effect| effect.folder && effect.kind == EffectKind::Create && effect.path.known() == Some(target);
    if !is_file || earlier().any(|other| other.effects.iter().any(makes)) {
        return false;
    }
    // A loop comes by the same place again, or goes over what a glob finds.
    let again = |other: &Command| {
        other.span == command.span
            && targets(other).any(|(first, to)| to.path.known() == Some(target) && first.path != from.path)
    };
    let one_of_many = words().any(|word| !word.several && word.span == from.span)
        && match &from.path {
            Value::Pattern(_) => true,
            Value::Unknown { why, .. } => matches!(why, Why::Glob | Why::Argument),
            Value::Known(_) => false,
        };
    one_of_many || earlier().any(again)
}

/// Whether an earlier command moves to this folder, or into it, what no build makes again.
fn has_moved_in(subject: &MatchInput<'_>, folder: &str) -> bool {
    let within = |path: &str| is_within(path, folder);
    let moves = |other: &Command| {
        targets(other).any(|(from, to)| within(to.path.text()) && !is_made_again(from.path.text()) && !to.alternative)
    };
    subject.script().commands[..subject.index].iter().any(moves)
}
