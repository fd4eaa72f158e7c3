//! Files that hold what was fetched or decoded, from where it is written to where it is run.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use toolgate_shell::{Command, Effect, EffectKind, Runs, Value};

use super::sources::source;
use super::{UnseenRun, is_interpreter};
use crate::call::Source;
use crate::matching::is_change;

/// How many files are followed whose path is known in part.
const MAX_ALIKE: usize = 64;

/// Programs that print their words or what they are given.
const PRINTERS: &[&str] = &["echo", "printf", "cat"];

/// What is known of files while a text is gone through.
pub(super) struct Files<'s> {
    /// What earlier calls left behind.
    before: &'s BTreeMap<&'s str, Source>,
    /// Whether they left more.
    forgotten: bool,
    /// What is in none of the texts, and where it comes from.
    pub(super) tainted: BTreeMap<&'s str, Source>,
    /// What this text shows all of.
    shown: BTreeSet<&'s str>,
    /// What of that is in files whose path is known in part.
    alike: Vec<(Cow<'s, Value>, Source)>,
    /// In which the commands stand.
    text: &'s str,
}

impl<'s> Files<'s> {
    pub(super) fn new(before: &'s BTreeMap<&'s str, Source>, forgotten: bool, text: &'s str) -> Self {
        let tainted = before.clone();
        Files { before, forgotten, tainted, shown: BTreeSet::new(), alike: Vec::new(), text }
    }

    /// Where what an effect is on comes from, if no text shows it.
    fn source(&self, effect: &Effect) -> Option<Source> {
        let path = effect.path.followed_as()?;
        let forgotten = self.forgotten && effect.kind == EffectKind::Execute && !self.shown.contains(path);
        self.tainted.get(path).copied().or((forgotten && !is_installed(path)).then_some(Source::Unseen))
    }

    /// Where what is in a file comes from that is written like one whose path is known in part.
    fn source_alike(&self, effect: &Effect) -> Option<Source> {
        let path = effect.path.by_variable(self.text, effect.span);
        self.alike.iter().filter(|(other, _)| other.is_like(&path)).map(|(_, source)| *source).max()
    }

    /// Where what is fetched or decoded into a file comes from, if a path that is not known may lead to it.
    fn source_behind(&self, effect: &Effect) -> Option<Source> {
        if effect.path.known().is_some() {
            return None;
        }
        let tainted = self.tainted.iter().filter(|(path, _)| effect.path.may_lead_to(path));
        tainted.map(|(_, source)| *source).max()
    }

    /// Finds where what is fetched or decoded into a file is run from one that is written like it, or that may be it. Two
    /// such may be two files: what is only given to a program tells nothing.
    pub(super) fn run_alike(&self, command: &Command) -> Option<UnseenRun> {
        let runs = command.effects.iter().filter(|effect| effect.kind == EffectKind::Execute);
        let source = runs.filter_map(|effect| self.source_alike(effect).max(self.source_behind(effect))).max()?;
        Some(UnseenRun::of(command, source, true, command.span))
    }

    /// Notes what is fetched or decoded into files whose path is known in part.
    fn write_alike(&mut self, command: &'s Command, source: Option<Source>) {
        let Some(source) = source else { return };
        let copies = command.effects.iter().any(|effect| effect.copied);
        // Not what is unpacked into a folder.
        let takes = |effect: &&Effect| is_filled(effect.kind) && !effect.folder && (copies || !effect.recursive);
        for effect in command.effects.iter().filter(takes) {
            let file = (effect.path.by_variable(self.text, effect.span), source);
            if file.0.is_like(&file.0) && self.alike.len() < MAX_ALIKE && !self.alike.contains(&file) {
                self.alike.push(file);
            }
        }
    }

    /// Follows what is fetched or decoded into files, and finds where those are run.
    pub(super) fn follow(&mut self, command: &'s Command, piped: &[&Command], found: &mut Vec<UnseenRun>) {
        let runs = command.opaque || matches!(command.program(), Some("chroot" | "ld.so"));
        for effect in command.effects.iter().filter(|effect| !is_change(effect.kind)) {
            let Some(source) = self.source(effect) else { continue };
            // What an earlier call fetched lies there to be read, so that nothing is opaque about it.
            let known = effect.path.followed_as().is_some_and(|path| self.before.contains_key(path));
            let earlier = effect.kind == EffectKind::Execute && (known || self.forgotten);
            // What another command adds to it, or writes to it perhaps, does not make it readable.
            let fetched = effect.kind == EffectKind::Execute && source == Source::Downloaded;
            if earlier
                || fetched
                || runs && matches!(effect.kind, EffectKind::Execute | EffectKind::Read | EffectKind::Mention)
            {
                found.push(UnseenRun::of(command, source, true, command.span));
                break;
            }
        }
        // What a script in another language writes is not known.
        let scripted = command.words.is_empty()
            && command.redirects.is_empty()
            && command.via.last().is_some_and(|via| is_interpreter(via));
        let own = source(command).or_else(|| piped.iter().filter_map(|other| source(other)).max());
        let own = own.or(scripted.then_some(Source::Unseen));
        // What it reads may be in what it writes.
        let reads =
            || command.effects.iter().filter(|effect| matches!(effect.kind, EffectKind::Read | EffectKind::Move));
        let copied = reads().filter_map(|effect| self.tainted.get(effect.path.followed_as()?).copied()).max();
        let alike = reads().filter_map(|effect| self.source_alike(effect)).max();
        self.write_alike(command, own.or(copied).or(alike));
        let shows = prints(command) && piped.iter().all(|other| prints(other));
        let redirected = |effect: &Effect| command.redirects.iter().any(|redirect| redirect.target.span == effect.span);
        for effect in &command.effects {
            let Some(path) = effect.path.followed_as().filter(|_| is_filled(effect.kind)) else { continue };
            let replaced = effect.kind == EffectKind::Write && redirected(effect);
            // What a fetch or a decoder writes is not known; what is known was read.
            match (own.or(copied), alike) {
                (Some(source), _) if !path.starts_with("/dev/") => drop(self.tainted.insert(path, source)),
                (None, Some(source)) if !path.starts_with("/dev/") => drop(self.tainted.entry(path).or_insert(source)),
                // A program that edits a file leaves most of it. In a working directory that is not known it may be another
                // file of that name.
                _ if replaced && command.runs == Runs::Certainly && !path.starts_with(Value::HOLE) => {
                    self.tainted.remove(path);
                }
                _ => {}
            }
            match shows {
                true if replaced => drop(self.shown.insert(path)),
                true => {}
                false => drop(self.shown.remove(path)),
            }
        }
    }
}

/// Whether there is something in a file after it that was not before.
pub(crate) fn is_filled(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Write | EffectKind::Append | EffectKind::Create | EffectKind::Link)
}

/// Whether all that a command prints stands in the text.
fn prints(command: &Command) -> bool {
    command.program().is_some_and(|program| PRINTERS.contains(&program))
        && command.words.iter().all(|word| word.known().is_some())
        && command.effects.iter().all(|effect| effect.kind != EffectKind::Read)
}

/// Whether a file was installed for all users, at any depth: no call of an agent made it. What the engine takes for a
/// program of the system lies in one of its folders of programs itself.
fn is_installed(path: &str) -> bool {
    ["/bin/", "/sbin/", "/usr/", "/opt/homebrew/bin/"].iter().any(|folder| path.starts_with(folder))
}
