//! A command is listed, and does to files and trackers what it does.

use std::rc::Rc;

use super::files::Inside;
use super::state::{Input, ShellState};
use super::{Interpreter, MAX_COMMANDS};
use crate::abstract_value::{Folders, Other, Text};
use crate::command::{Command, Effect, EffectKind, Joiner, RedirectKind, Runs, Variables};
use crate::effect::{self, Call};
use crate::facts::{FileOracle as _, Presence};
use crate::tracker::{Scope, Snapshot};
use crate::wrapper::{self, Directory};
use toolgate_shell_syntax::path::{absolute, parent};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

impl Interpreter<'_> {
    /// Makes room for a command, so that those inside it come after it.
    pub(super) fn reserve(&mut self) -> usize {
        if self.commands.len() >= MAX_COMMANDS {
            self.exhaust(format!("the command contains more than {MAX_COMMANDS} simple commands"));
        }
        let mut command = Command::bare(Vec::new(), Span::default(), self.group);
        command.joiner = std::mem::replace(&mut self.joiner, Joiner::Then);
        command.via.clone_from(&self.via);
        self.commands.push(command);
        self.commands.len() - 1
    }

    /// Lists a command, and does to the files what it does.
    pub(super) fn record(&mut self, slot: usize, mut command: Command, before: &ShellState, state: &mut ShellState) {
        let Some(reserved) = self.commands.get(slot) else { return };
        command.group = reserved.group;
        command.joiner = reserved.joiner;
        command.via.clone_from(&reserved.via);
        command.shell_cwd = before.folders.certain().map(str::to_owned);
        command.folders = before.folders.possible.clone();
        command.other_folders = before.folders.may_be_other();
        command.runs = self.runs(before);
        command.elsewhere = self.elsewhere;
        command.preexisting = self.preexisting;
        command.tracked = before.tracked.clone();
        command.env = Variables {
            vars: before.vars().clone(),
            directory: command.shell_cwd.clone(),
            all_unknown: before.all_unknown,
        };
        // Its own redirects, else what it stands in.
        let given = if matches!(state.input, Input::Text(..)) { &state.input } else { &before.input };
        if let Input::Text(text, 0) = given {
            command.input = Some(Rc::clone(text));
        }
        if before.files.overrun {
            self.exhaust("the command creates too many files");
        }
        if state.too_many_vars {
            self.exhaust("the command sets too many variables");
        }
        command.cwd = self.works_in(&command, before);
        command.statements = self.statements(&mut command, before);
        let call = Call::read(&command);
        command.data = Some(call.data(command.words.len()));
        command.unlisted = call.is_unlisted(&command);
        command.foreseen = call.foreseen(&command);
        let mut effects = if command.scanned { Vec::new() } else { effect::effects(&command, &call, &state.files) };
        // Of a long command it takes as much memory as the text.
        drop(call);
        let own = command.cwd.clone();
        self.per_command(&mut command, before);
        if command.cwd != own {
            // Whoever added to the directory's tracker may be wrong, or lie: what it says comes beside what is known.
            let there = effect::effects(&command, &Call::read(&command), &state.files).into_iter();
            effects.extend(there.map(|effect| Effect { alternative: true, ..effect }));
        }
        if let Some(folder) = before.folders.other.made_up()
            && command.cwd == own
        {
            effects.iter_mut().for_each(|effect| effect.path = within(folder, &effect.path));
        }
        if self.elsewhere {
            let (sent, there) = effects.into_iter().partition(|effect| effect.kind == EffectKind::Send);
            (effects, command.effects_elsewhere) = (sent, if self.fresh { Vec::new() } else { there });
        }
        if !through_links(&mut effects, &command.words, state) {
            self.fail("links lead to too many places");
        }
        for effect in &mut effects {
            effect.certain &= command.runs == Runs::Certainly && !effect.alternative;
            // Behind a link it may be something that the command also touches elsewhere.
            effect.certain &= !effect.path.known().is_some_and(|path| state.files.is_linked(path));
        }
        if command.runs != Runs::Never {
            // What a redirect appends is added when it is known, after the command ran.
            let appends = command.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Append);
            let appends: Vec<Span> = appends.map(|redirect| redirect.target.span).collect();
            let kept = |effect: &Effect| effect.kind == EffectKind::Append && appends.contains(&effect.span);
            let before = effects.iter().filter(|effect| kept(effect)).filter_map(|effect| effect.path.followed_as());
            let before: Vec<(String, Option<Rc<Text>>)> = before
                .map(|path| (path.to_owned(), state.files.made(path).and_then(|made| made.content.clone())))
                .collect();
            self.apply(&effects, state);
            for (path, content) in before {
                let stamp = self.change();
                state.files.set_content(&path, content, stamp);
            }
        }
        // Below it may be a link that leads out of it.
        match &before.folders.other {
            Other::Temporary if command.cwd == own && !state.files.has_links() => {
                effects.iter_mut().for_each(|effect| in_temporary(&mut effect.path));
            }
            // It may find nothing, or what leads elsewhere.
            Other::Glob(glob) if command.cwd == own => {
                let found = |effect: &Effect| {
                    Some(Effect { path: in_found(glob, &effect.path)?, alternative: true, ..effect.clone() })
                };
                let more: Vec<Effect> = effects.iter().filter_map(found).collect();
                effects.extend(more);
            }
            _ => {}
        }
        command.effects = effects;
        if let Some(reserved) = self.commands.get_mut(slot) {
            *reserved = command;
        }
    }

    /// Lists a call of a function: its words are not those of a program of that name.
    pub(super) fn record_function(
        &mut self,
        slot: usize,
        mut command: Command,
        before: &ShellState,
        state: &mut ShellState,
    ) {
        let words = std::mem::take(&mut command.words);
        self.record(slot, command, before, state);
        if let Some(recorded) = self.commands.get_mut(slot) {
            recorded.words = words;
            recorded.data = None;
        }
    }

    /// Does to the files what a command does.
    pub(super) fn apply(&mut self, effects: &[Effect], state: &mut ShellState) {
        let mut source = Source::default();
        for effect in effects {
            let stamp = self.change();
            if effect.copied {
                source = Source::of(effect, state);
            }
            match &effect.path {
                Value::Known(path) => apply_known(effect, path, &source, state, stamp),
                _ => self.apply_unknown(effect, &source, state, stamp),
            }
        }
    }

    /// The same of an effect on a path that is not known.
    fn apply_unknown(&mut self, effect: &Effect, source: &Source<'_>, state: &mut ShellState, stamp: u64) {
        let changes = changes(effect.kind);
        let gone = is_gone(effect.kind);
        if changes && !gone && !effect.folder && (!effect.recursive || source.effect.is_some()) {
            let to = (&effect.path, effect.span);
            match source.effect.filter(|source| source.path.known().is_none()) {
                Some(source) => self.copy_alike((&source.path, source.span), to, state),
                None => self.write_alike(to, source.text.as_ref(), false, state),
            }
        }
        if let Some(key) = effect.path.followed_as().filter(|_| changes) {
            // It may be there all the same, and what is in it run.
            if gone || effect.folder {
                return;
            }
            match source.path() {
                Some(target) if effect.kind == EffectKind::Link => {
                    state.files.may_link(key, target.to_owned(), stamp);
                }
                // A copy may not be made, as with `-n`.
                _ if source.text.is_some() && state.files.made(key).is_some_and(|made| made.content != source.text) => {
                    state.files.set_unread(key, stamp);
                }
                _ => state.files.put_content(key, source.text.clone(), source.from.clone(), stamp),
            }
            return;
        }
        if changes {
            // Somewhere below what is certain of it.
            let fixed = effect.path.text().split(['*', '?', '[', Value::HOLE]).next().unwrap_or_default();
            match parent(fixed).filter(|_| fixed.starts_with('/')) {
                Some(folder) => state.files.change_below(folder, gone, stamp),
                None => state.files.doubt_all(stamp),
            }
        }
    }

    /// The directory that a command works in, after its own options.
    fn works_in(&self, command: &Command, before: &ShellState) -> Option<String> {
        let shell = before.folders.certain().map(str::to_owned);
        let step = |folder: Option<String>, to: &Word| match (folder, to.known()) {
            (_, Some(to)) if to.starts_with('/') => Some(absolute(to, "/")),
            (Some(folder), Some(to)) => Some(absolute(to, &folder)),
            _ => None,
        };
        match command.program() {
            Some("git" | "make" | "gmake") => wrapper::folders(&command.words)?.iter().fold(shell, step),
            Some("env") => {
                let changes = wrapper::inner(&command.words).into_iter().find_map(|inner| inner.change.cwd);
                match changes {
                    // Where there is no such folder it stays and ends.
                    Some(Directory::Word(to)) => match step(shell.clone(), &to) {
                        Some(folder) => match before.files.look(&folder) {
                            Presence::Folder => Some(folder),
                            Presence::Unknown => Some(folder).filter(|_| !before.files.informed()),
                            _ => shell,
                        },
                        None => None,
                    },
                    Some(_) => None,
                    None => shell,
                }
            }
            _ => shell,
        }
    }

    /// Trackers' changes that hold for one command.
    fn per_command(&self, command: &mut Command, before: &ShellState) {
        let Some(trackers) = self.trackers else { return };
        let Some(program) = command.program().map(str::to_owned) else { return };
        if !trackers.change(&program, Scope::PerCommand) {
            return;
        }
        let arguments = command.words.get(1..).unwrap_or_default().to_vec();
        let view = View { state: before, interpreter: self };
        if let Some(modifier) = trackers.directory(&program).filter(|modifier| modifier.scope == Scope::PerCommand) {
            command.cwd = (modifier.apply)(&arguments, command.cwd.as_deref(), &view);
        }
        let mut tracked = command.tracked.to_vec();
        for (tracker, value) in trackers.list().iter().zip(&mut tracked) {
            for modifier in tracker.modifiers.get(&program).into_iter().flatten() {
                if modifier.scope == Scope::PerCommand {
                    *value = (modifier.apply)(&arguments, value.as_deref(), &view);
                }
            }
        }
        command.tracked = tracked.into();
    }

    /// Trackers' changes that last.
    pub(super) fn sequential(&mut self, words: &[Word], state: &mut ShellState) {
        let Some(trackers) = self.trackers else { return };
        let Some(program) = words.first().and_then(Word::known).map(toolgate_shell_syntax::path::basename) else {
            if !words.is_empty() {
                let cautious = trackers.list().iter().map(|tracker| tracker.cautious);
                let tracked = state.tracked.iter().zip(cautious);
                state.tracked = tracked.map(|(value, lost)| value.clone().filter(|_| !lost)).collect::<Vec<_>>().into();
            }
            return;
        };
        if !trackers.change(program, Scope::Sequential) {
            return;
        }
        let arguments = words.get(1..).unwrap_or_default();
        let before = state.clone();
        let view = View { state: &before, interpreter: self };
        let mut tracked = state.tracked.to_vec();
        for (tracker, value) in trackers.list().iter().zip(&mut tracked) {
            for modifier in tracker.modifiers.get(program).into_iter().flatten() {
                if modifier.scope == Scope::Sequential {
                    *value = (modifier.apply)(arguments, value.as_deref(), &view);
                }
            }
        }
        let directory = trackers.directory(program).filter(|modifier| modifier.scope == Scope::Sequential);
        let folder = directory.map(|modifier| (modifier.apply)(arguments, before.folders.certain(), &view));
        state.tracked = tracked.into();
        match folder {
            Some(Some(folder)) => state.folders = before.folders.or(absolute(&folder, "/")),
            Some(None) => state.folders = Folders::unknown(),
            None => {}
        }
    }
}

/// What an effect reads that the one behind it makes another file of.
#[derive(Default)]
struct Source<'e> {
    effect: Option<&'e Effect>,
    text: Option<Rc<Text>>,
    /// The file whose content it has from before the text.
    from: Option<String>,
    /// Whether the text wrote it, and what it wrote is not known.
    unread: bool,
}

impl<'e> Source<'e> {
    /// As it is before it is gone from there.
    fn of(effect: &'e Effect, state: &ShellState) -> Self {
        let path = effect.path.followed_as();
        let text = path.and_then(|path| match state.files.made(path) {
            Some(made) => made.content.clone(),
            None => copied_program(path, effect.span),
        });
        let from = effect.path.known().filter(|_| text.is_none()).and_then(|path| {
            // Of a folder of the text, what the text put there counts.
            let own = state.files.made(path).is_some_and(|made| made.presence != Presence::File);
            if own && effect.recursive { Some(path.to_owned()) } else { state.files.before(path) }
        });
        let unread = path.is_some_and(|path| state.files.is_unread(path));
        Source { effect: Some(effect), text, from, unread }
    }

    /// Where it is, if that is known.
    fn path(&self) -> Option<&'e str> {
        self.effect.and_then(|effect| effect.path.known())
    }
}

/// Whether a file is another one behind an effect of this kind.
fn changes(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Write
            | EffectKind::Append
            | EffectKind::Create
            | EffectKind::Delete
            | EffectKind::Move
            | EffectKind::Link
    )
}

/// Whether a file is not there any more behind an effect of this kind.
fn is_gone(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Delete | EffectKind::Move)
}

/// Does to a file whose path is known what an effect says.
fn apply_known(effect: &Effect, path: &str, source: &Source<'_>, state: &mut ShellState, stamp: u64) {
    let changes = changes(effect.kind);
    if !changes || effect.alternative && state.files.look(path) == Presence::Unknown {
        if changes && !effect.copied && (source.text.is_some() || source.from.is_some()) {
            state.files.may_copy(path, source.text.clone(), source.from.clone(), stamp);
        }
        return;
    }
    let gone = is_gone(effect.kind);
    let before = state.files.look(path);
    let content = source.text.clone();
    if !effect.certain {
        if effect.kind == EffectKind::Link
            && let Some(target) = source.path()
        {
            state.files.may_link(path, target.to_owned(), stamp);
            return;
        }
        // What is written to a file leaves it one.
        if gone || before != Presence::File {
            state.files.set(path, Presence::Unknown, Inside::Unknown, stamp);
        }
        if !gone {
            state.files.set_content(path, content, stamp);
        }
    } else if gone {
        state.files.set(path, Presence::Absent, Inside::Unknown, stamp);
    } else if effect.kind == EffectKind::Link {
        match source.path() {
            Some(target) => state.files.link(path, target.to_owned(), stamp),
            None => state.files.set(path, Presence::Unknown, Inside::Unknown, stamp),
        }
    } else if effect.folder {
        if before != Presence::Folder {
            let inside = if effect.recursive { Inside::Unknown } else { Inside::Fresh };
            state.files.set(path, Presence::Folder, inside, stamp);
        }
    } else if effect.recursive {
        state.files.set(path, Presence::Unknown, Inside::Unknown, stamp);
    } else {
        state.files.set(path, Presence::File, Inside::Unknown, stamp);
        state.files.set_content(path, content, stamp);
    }
    if source.unread && !gone && !effect.folder {
        state.files.set_unread(path, stamp);
    } else if !gone
        && (!effect.folder || effect.recursive)
        && effect.kind != EffectKind::Link
        && let Some(from) = source.from.clone().filter(|_| !effect.copied)
    {
        state.files.set_copy(path, from, effect.recursive, stamp);
    }
}

/// A copy of a program, as a script that runs it.
fn copied_program(path: &str, span: Span) -> Option<Rc<Text>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    let text = format!("#!/bin/sh\nexec {path} \"$@\"\n");
    (effect::is_system(path) && path.chars().all(plain)).then(|| Rc::new(Text { text, span, at: None }))
}

/// How many places are followed that the links of a text may lead to from one path.
const MAX_WAYS: usize = 32;

/// What happens behind a link that the text made happens to what the link leads to. Whether all of that is there.
fn through_links(effects: &mut Vec<Effect>, words: &[Word], state: &ShellState) -> bool {
    let links = state.files.links();
    if links.is_empty() {
        return true;
    }
    let mut more = Vec::new();
    for effect in effects.iter().filter(|effect| effect.kind != EffectKind::Send) {
        // `rm -rf LINK/` removes what is in the folder that it leads to.
        let entered = effect.kind == EffectKind::Delete
            && effect.recursive
            && words.iter().any(|word| word.span == effect.span && word.value.text().ends_with('/'));
        let step = |text: &str, (from, to): &(String, String)| {
            let rest = text.strip_prefix(from.as_str())?;
            // The link itself is removed, not what it leads to.
            let itself = matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Link) && !entered;
            let below = rest.starts_with('/') && (rest.len() > 1 || !itself);
            (below || rest.is_empty() && !itself).then(|| format!("{to}{rest}"))
        };
        // A link may lead to several places, and on from each.
        let mut reached = vec![effect.path.text().to_owned()];
        let mut at = 0;
        while let Some(text) = reached.get(at).cloned() {
            let next: Vec<String> =
                links.iter().filter_map(|link| step(&text, link)).filter(|to| *to != text).collect();
            let (is_first, is_end) = (at == 0, next.is_empty());
            for to in next {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            if reached.len() > MAX_WAYS {
                return false;
            }
            at += 1;
            if is_first || !is_end {
                continue;
            }
            let path = match &effect.path {
                Value::Known(_) => Value::Known(absolute(&text, "/")),
                Value::Pattern(_) => Value::Pattern(text),
                Value::Unknown { .. } if !text.contains(Value::HOLE) => Value::Known(absolute(&text, "/")),
                Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
            };
            more.push(Effect { path, written: None, certain: false, copied: false, ..effect.clone() });
        }
    }
    effects.extend(more);
    true
}

/// A tracker's look at the state.
struct View<'a, 'f> {
    state: &'a ShellState,
    interpreter: &'a Interpreter<'f>,
}

impl Snapshot for View<'_, '_> {
    fn tracked(&self, name: &str) -> Option<String> {
        if name == "cwd" {
            return self.state.folders.certain().map(str::to_owned);
        }
        let list = self.interpreter.trackers.map_or(&[][..], |trackers| trackers.list());
        let index = list.iter().position(|tracker| tracker.name == name)?;
        self.state.tracked.get(index)?.clone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.state.known(name)
    }
}

/// A path in a working directory that is not known, but which this glob finds.
fn in_found(glob: &str, path: &Value) -> Option<Value> {
    let Value::Unknown { why: Why::Directory, shape } = path else { return None };
    let below = shape.strip_prefix(Value::HOLE).filter(|below| below.is_empty() || below.starts_with('/'))?;
    if below.split('/').any(|part| part == "..") {
        return None;
    }
    let below: Vec<String> = below.split(Value::HOLE).map(toolgate_shell_syntax::glob::escaped).collect();
    Some(Value::Pattern(format!("{glob}{}", below.join("*"))))
}

/// A path in a working directory that is not known, but is one of `mktemp`'s.
fn in_temporary(path: &mut Value) {
    if let Value::Unknown { why, shape } = path
        && *why == Why::Directory
        && let Some(below) = shape.strip_prefix(Value::HOLE).filter(|below| below.starts_with('/'))
        && !below.split('/').any(|part| part == "..")
    {
        (*why, *shape) = (Why::Temporary, format!("/tmp/{}{below}", Value::HOLE));
    }
}

/// A path in a working directory that is not known, in one that is followed under this name.
fn within(folder: &str, path: &Value) -> Value {
    let Value::Unknown { why: Why::Directory, shape } = path else { return path.clone() };
    let below = shape.strip_prefix(Value::HOLE).filter(|below| below.starts_with('/'));
    match below.filter(|below| !below.split('/').any(|part| part == "..")) {
        Some(below) => {
            let why = if below.contains(Value::HOLE) { Why::Glob } else { Why::Temporary };
            Value::Unknown { why, shape: format!("{folder}{below}") }
        }
        None => path.clone(),
    }
}
