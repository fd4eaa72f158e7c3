//! The gate's own program under another name: a copy of it, or a link to it, is a program of which no rule knows what it is.

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Presence, Value};

use crate::call::{Action, Field};
use crate::flow::{is_filled, is_interpreter};
use crate::glob::Segment;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::path_zone::is_elsewhere;
use crate::world::GuardHost;

/// How the gate's program is called, and how the names begin by which agents call it.
const PROGRAM: &str = "toolgate";
const HOOK: &str = "toolgate-hook-";

/// Programs that write what they read, or from whose output another one of them makes it again.
const CARRIERS: &[&str] = &[
    "cat", "tee", "dd", "head", "tail", "pv", "sponge", "base32", "base64", "xxd", "gzip", "gunzip", "zcat", "bzip2",
    "bunzip2", "bzcat", "xz", "unxz", "xzcat", "zstd", "unzstd", "zstdcat",
];

impl Evaluation<'_> {
    /// The gate's program that becomes a file of another name. Where it is installed it is the gate; anywhere else it may be a
    /// project's own build, or something else of that name.
    pub(in crate::judge) fn renames(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let command = subject.command;
        if command.elsewhere {
            return;
        }
        let plain = copied(command).or_else(|| printed(subject));
        let Some(from) = plain.or_else(|| scripted(subject)) else { return };
        let path = from.path.known();
        if path.is_some_and(|path| is_folder(subject, path, look)) {
            return;
        }
        let is_gate = path.is_some_and(|path| is_in_bin(path) && is_elsewhere(subject.zone(path)));
        // What a script in another language does with what it reads is not known.
        let most = if is_gate && plain.is_some() { Action::Block } else { Action::Ask };
        // A project's own script may name its own build.
        if most == Action::Ask && command.preexisting {
            return;
        }
        let evidence = vec![evidence(field, from.span)];
        self.native_at_most(NativeRule::Renamed, most, subject, &field.value, world, evidence);
    }
}

/// What of it a command copies, moves or links to a file of another name. What is copied stands right before that.
fn copied(command: &Command) -> Option<&Effect> {
    let mut from: Option<&Effect> = None;
    for effect in &command.effects {
        match effect.kind {
            EffectKind::Read | EffectKind::Move if effect.copied => from = is_program(effect).then_some(effect),
            // A link is made between the two.
            EffectKind::HardLink => {}
            kind if is_filled(kind) => {
                if from.is_some_and(|from| is_renamed(from, effect)) {
                    return from;
                }
            }
            _ => from = None,
        }
    }
    None
}

/// What of it a command writes into a file of another name, be it by way of a pipe.
fn printed<'a>(subject: &MatchInput<'a>) -> Option<&'a Effect> {
    let command: &'a Command = subject.command;
    if !carries(command) || !command.effects.iter().any(|effect| is_filled(effect.kind)) {
        return None;
    }
    let (before, _) = subject.pipeline();
    if !before.iter().all(|other| carries(other)) {
        return None;
    }
    let reads = |other: &'a Command| {
        other.effects.iter().find(|from| {
            from.kind == EffectKind::Read
                && is_program(from)
                && command.effects.iter().any(|to| is_filled(to.kind) && is_renamed(from, to))
        })
    };
    reads(command).or_else(|| before.into_iter().find_map(reads))
}

/// What of it code in another language may write into a file of another name: there one call is one command.
fn scripted<'a>(subject: &MatchInput<'a>) -> Option<&'a Effect> {
    let command: &'a Command = subject.command;
    if !command.words.is_empty() || !command.via.last().is_some_and(|via| is_interpreter(via)) {
        return None;
    }
    let takes = |effect: &&Effect| matches!(effect.kind, EffectKind::Read | EffectKind::Move) && is_program(effect);
    let from = command.effects.iter().find(takes)?;
    let mut beside = subject.script().commands.iter().filter(|other| other.via == command.via);
    let writes = |other: &Command| other.effects.iter().any(|to| is_filled(to.kind) && is_renamed(from, to));
    beside.any(writes).then_some(from)
}

fn carries(command: &Command) -> bool {
    command.program().is_some_and(|program| CARRIERS.contains(&program))
}

/// The last part of a path, as far as it is known.
fn name(path: &Value) -> &str {
    let path = path.text().trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a file of this name is taken for the gate's program. Some file systems take a letter for the same in either case.
fn is_own_name(name: &str) -> bool {
    let starts = name.get(..HOOK.len()).is_some_and(|start| start.eq_ignore_ascii_case(HOOK));
    starts || name.eq_ignore_ascii_case(PROGRAM)
}

/// Whether an effect is on a file that is called like the gate's program, or on those of a glob that may find it where programs
/// are installed.
fn is_program(effect: &Effect) -> bool {
    let name = name(&effect.path);
    match &effect.path {
        Value::Pattern(path) => {
            let wanted = Segment::new(name);
            let finds = |own: &str| wanted.may_be(&Segment::Text(own.to_owned()));
            is_in_bin(path) && wanted.says_something(false) && (finds(PROGRAM) || finds("toolgate-hook-claude"))
        }
        _ => is_own_name(name),
    }
}

/// Whether it becomes a file of a name by which it would not be known.
fn is_renamed(from: &Effect, to: &Effect) -> bool {
    let other = name(&to.path);
    // Into a folder it goes with its own name.
    !to.alternative
        && !to.folder
        && !to.path.text().starts_with("/dev/")
        && !is_own_name(other)
        && other != name(&from.path)
}

/// Whether a file lies in a folder as programs are installed in.
fn is_in_bin(path: &str) -> bool {
    path.rsplit('/').nth(1) == Some("bin")
}

/// Whether a folder is called so, as that of a project is, be it there or made by the text.
fn is_folder(subject: &MatchInput<'_>, path: &str, look: Option<&dyn FileOracle>) -> bool {
    let makes =
        |effect: &Effect| effect.folder && effect.kind == EffectKind::Create && effect.path.known() == Some(path);
    look.is_some_and(|look| look.look(path) == Presence::Folder)
        || subject.script().commands[..subject.index].iter().any(|other| other.effects.iter().any(makes))
}
