//! One simple command: its words, its redirects, what it is, and the commands that it runs inside.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::control::{Ends, restore};
use super::state::{Content, Input, Inside, State, Status, Text, Variable};
use super::{Command, Joiner, MAX_COMMANDS, MAX_SCRIPTS, Redirect, RedirectKind, Runs, Walk, output};
use crate::effect::{self, Effect, Kind as EffectKind};
use crate::facts::{Look as _, Presence};
use crate::inline::{self, What};
use crate::path::{absolute, parent};
use crate::syntax::{self, Assigned, Assignment, Base, Descriptor, NodeKind, Part, RedirectOperator, Target};
use crate::tracker::{Scope, Snapshot};
use crate::word::{Span, Value, Why, Word};
use crate::wrapper::{self, Change, Directory, Inner, Kind, Language, Times};

/// Programs whose arguments of the form `name=value` are assignments.
const DECLARATIONS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Where standard output goes.
enum Output {
    Same,
    /// To this file, if it is known which.
    File {
        path: Option<String>,
        append: bool,
    },
    /// To a descriptor that may lead anywhere.
    Elsewhere,
}

/// What redirects change.
pub(super) struct Redirected {
    pub(super) list: Vec<Redirect>,
    pub(super) input: Option<Input>,
    output: Output,
    /// Whether they can be made: `None` if only the run can tell. Without them the command does not run.
    pub(super) made: Option<bool>,
}

impl Redirected {
    /// Notes what has been written to the file.
    pub(super) fn keep(&self, written: Option<&Rc<Text>>, state: &mut State, stamp: u64) {
        if let Output::File { path: Some(path), append } = &self.output {
            let content = match (append, state.files.made(path).and_then(|made| made.content.clone()), written) {
                (false, _, written) => written.cloned(),
                (true, Some(before), Some(written)) => Some(Rc::new(Text {
                    text: format!("{}{}", before.text, written.text),
                    span: super::join_spans(before.span, written.span),
                    at: None,
                })),
                // Of a file that was there before, what is added is judged.
                (true, None, Some(written)) if !state.files.is_unread(path) => Some(Rc::clone(written)),
                (true, ..) => None,
            };
            if path.contains(Value::HOLE) {
                state.put_content(path, content, stamp);
            } else if content.is_none() {
                state.set_unread(path, stamp);
            } else {
                state.set_content(path, content, stamp);
            }
        }
    }
}

/// How a command is looked up.
#[derive(Clone, Copy)]
struct Lookup {
    functions: bool,
    builtins: bool,
}

impl Walk<'_> {
    /// Makes room for a command, so that those inside it come after it.
    pub(super) fn reserve(&mut self) -> usize {
        if self.commands.len() >= MAX_COMMANDS {
            self.exhaust(format!("the text holds more than {MAX_COMMANDS} commands"));
        }
        let mut command = Command::bare(Vec::new(), Span::default(), self.group);
        command.joiner = std::mem::replace(&mut self.joiner, Joiner::Then);
        command.via.clone_from(&self.via);
        self.commands.push(command);
        self.commands.len() - 1
    }

    /// Lists a command, and does to the files what it does.
    pub(super) fn record(&mut self, slot: usize, mut command: Command, before: &State, state: &mut State) {
        let Some(reserved) = self.commands.get(slot) else { return };
        command.group = reserved.group;
        command.joiner = reserved.joiner;
        command.via.clone_from(&reserved.via);
        command.shell_cwd = before.folders.certain().map(str::to_owned);
        command.folders.clone_from(&before.folders.possible);
        command.other_folders = before.folders.may_be_other();
        command.runs = self.runs(before);
        command.elsewhere = self.elsewhere;
        command.stored = self.stored;
        command.tracked = Rc::clone(&before.tracked);
        command.env =
            super::Variables { vars: before.vars().clone(), directory: command.shell_cwd.clone(), wild: before.wild };
        // Its own redirects, else what it stands in.
        let given = if matches!(state.input, Input::Text(..)) { &state.input } else { &before.input };
        if let Input::Text(text, 0) = given {
            command.input = Some(Rc::clone(text));
        }
        command.cwd = self.works_in(&command, before);
        let mut effects = effect::effects(&command, &state.files);
        let own = command.cwd.clone();
        self.per_command(&mut command, before);
        if command.cwd != own {
            // Whoever added to the directory's tracker may be wrong, or lie: what it says comes beside what is known.
            let there = effect::effects(&command, &state.files).into_iter();
            effects.extend(there.map(|effect| Effect { alternative: true, ..effect }));
        }
        if self.elsewhere {
            effects.retain(|effect| effect.kind == EffectKind::Send);
        }
        through_links(&mut effects, state);
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
            let before = effects.iter().filter(|effect| kept(effect)).filter_map(|effect| effect.path.known());
            let before: Vec<(String, Option<Rc<Text>>)> = before
                .map(|path| (path.to_owned(), state.files.made(path).and_then(|made| made.content.clone())))
                .collect();
            self.apply(&effects, state);
            for (path, content) in before {
                let stamp = self.change();
                state.set_content(&path, content, stamp);
            }
        }
        command.effects = effects;
        if let Some(reserved) = self.commands.get_mut(slot) {
            *reserved = command;
        }
    }

    /// Lists a call of a function: its words are not those of a program of that name.
    fn record_function(&mut self, slot: usize, mut command: Command, before: &State, state: &mut State) {
        let words = std::mem::take(&mut command.words);
        self.record(slot, command, before, state);
        if let Some(recorded) = self.commands.get_mut(slot) {
            recorded.words = words;
        }
    }

    /// Does to the files what a command does.
    fn apply(&mut self, effects: &[Effect], state: &mut State) {
        let mut source: Option<&Effect> = None;
        let mut copied: Option<Rc<Text>> = None;
        let mut unread = false;
        for effect in effects {
            let stamp = self.change();
            let changes = matches!(
                effect.kind,
                EffectKind::Write
                    | EffectKind::Append
                    | EffectKind::Create
                    | EffectKind::Delete
                    | EffectKind::Move
                    | EffectKind::Link
            );
            if effect.copied {
                source = Some(effect);
                // Before it is gone from there.
                unread = effect.path.known().is_some_and(|source| state.files.is_unread(source));
                copied = effect.path.known().and_then(|source| match state.files.made(source) {
                    Some(made) => made.content.clone(),
                    None => copied_program(source, effect.span),
                });
            }
            let Value::Known(path) = &effect.path else {
                if let Some(key) = temporary(&effect.path).filter(|_| changes) {
                    match source.and_then(|source| source.path.known()) {
                        Some(target) if effect.kind == EffectKind::Link => {
                            state.may_link(key, target.to_owned(), stamp);
                        }
                        _ => state.put_content(key, copied.clone(), stamp),
                    }
                    continue;
                }
                if changes {
                    // Somewhere below what is certain of it.
                    let fixed = effect.path.text().split(['*', '?', '[', Value::HOLE]).next().unwrap_or_default();
                    let gone = matches!(effect.kind, EffectKind::Delete | EffectKind::Move);
                    match parent(fixed).filter(|_| fixed.starts_with('/')) {
                        Some(folder) => state.change_below(folder, gone, stamp),
                        None => state.doubt_files(stamp),
                    }
                }
                continue;
            };
            if !changes || effect.alternative && state.files.look(path) == Presence::Unknown {
                continue;
            }
            let gone = matches!(effect.kind, EffectKind::Delete | EffectKind::Move);
            let before = state.files.look(path);
            let content = copied.clone();
            if !effect.certain {
                if effect.kind == EffectKind::Link
                    && let Some(target) = source.and_then(|source| source.path.known())
                {
                    state.may_link(path, target.to_owned(), stamp);
                    continue;
                }
                // What is written to a file leaves it one.
                if gone || before != Presence::File {
                    state.set_file(path, Presence::Unknown, Inside::Unknown, stamp);
                }
                if !gone {
                    state.set_content(path, content, stamp);
                }
            } else if gone {
                state.set_file(path, Presence::Absent, Inside::Unknown, stamp);
            } else if effect.kind == EffectKind::Link {
                match source.and_then(|source| source.path.known()) {
                    Some(target) => state.link_file(path, target.to_owned(), stamp),
                    None => state.set_file(path, Presence::Unknown, Inside::Unknown, stamp),
                }
            } else if effect.folder {
                if before != Presence::Folder {
                    let inside = if effect.recursive { Inside::Unknown } else { Inside::Fresh };
                    state.set_file(path, Presence::Folder, inside, stamp);
                }
            } else if effect.recursive {
                state.set_file(path, Presence::Unknown, Inside::Unknown, stamp);
            } else {
                state.set_file(path, Presence::File, Inside::Unknown, stamp);
                state.set_content(path, content, stamp);
            }
            if unread && !gone && !effect.folder {
                state.set_unread(path, stamp);
            }
        }
    }

    /// The directory that a command works in, after its own options.
    fn works_in(&self, command: &Command, before: &State) -> Option<String> {
        let shell = before.folders.certain().map(str::to_owned);
        let words = command.words.get(1..).unwrap_or_default();
        let step = |folder: Option<String>, to: &Word| match (folder, to.known()) {
            (_, Some(to)) if to.starts_with('/') => Some(absolute(to, "/")),
            (Some(folder), Some(to)) => Some(absolute(to, &folder)),
            _ => None,
        };
        match command.program() {
            Some("git") => {
                let mut folder = shell;
                let mut at = 0;
                while let Some(word) = words.get(at) {
                    match (&word.value, words.get(at + 1)) {
                        (Value::Known(text), Some(next)) if text == "-C" => {
                            folder = step(folder, next);
                            at += 2;
                        }
                        (Value::Known(text), _) if GIT_VALUES.contains(&text.as_str()) => at += 2,
                        (Value::Known(text), _) if text.starts_with('-') => at += 1,
                        (Value::Known(_), _) => break,
                        // An option, perhaps this one.
                        _ => return None,
                    }
                }
                folder
            }
            Some("make" | "gmake") => {
                let mut folder = shell;
                let mut at = 0;
                while let Some(word) = words.get(at) {
                    let Some(text) = word.known() else {
                        // A variable may hold options.
                        return if word.several { None } else { folder };
                    };
                    at += 1;
                    let attached = text
                        .strip_prefix("--directory=")
                        .or_else(|| text.strip_prefix("-C").filter(|rest| !rest.is_empty()));
                    if let Some(to) = attached {
                        folder = step(folder, &Word::new(to, word.span));
                    } else if matches!(text, "-C" | "--directory") {
                        folder = words.get(at).and_then(|to| step(folder, to));
                        at += 1;
                    } else if matches!(text, "-f" | "-I" | "-o" | "-W" | "--file" | "--makefile") {
                        at += 1;
                    }
                }
                folder
            }
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
    fn per_command(&self, command: &mut Command, before: &State) {
        let Some(trackers) = self.trackers else { return };
        let Some(program) = command.program().map(str::to_owned) else { return };
        let arguments = command.words.get(1..).unwrap_or_default().to_vec();
        let view = View { state: before, walk: self };
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
        command.tracked = Rc::new(tracked);
    }

    /// Trackers' changes that last.
    fn sequential(&mut self, words: &[Word], state: &mut State) {
        let Some(trackers) = self.trackers else { return };
        let Some(program) = words.first().and_then(Word::known).map(crate::path::basename) else {
            if !words.is_empty() {
                let cautious = trackers.list().iter().map(|tracker| tracker.cautious);
                let tracked = state.tracked.iter().zip(cautious);
                state.tracked = Rc::new(tracked.map(|(value, lost)| value.clone().filter(|_| !lost)).collect());
            }
            return;
        };
        let arguments = words.get(1..).unwrap_or_default();
        let before = state.clone();
        let view = View { state: &before, walk: self };
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
        state.tracked = Rc::new(tracked);
        match folder {
            Some(Some(folder)) => state.folders = before.folders.or(absolute(&folder, "/")),
            Some(None) => state.folders = super::Folders::unknown(),
            None => {}
        }
    }

    pub(super) fn redirects(&mut self, redirects: &[syntax::Redirect], state: &mut State) -> Redirected {
        let mut result = Redirected { list: Vec::new(), input: None, output: Output::Same, made: Some(true) };
        let mut never = None;
        for redirect in redirects {
            // After one that fails the others are not come to.
            if result.made == Some(false) && never.is_none() {
                let mut own = state.clone();
                own.never = true;
                never = Some(own);
            }
            let state = match &mut never {
                Some(never) => never,
                None => &mut *state,
            };
            let number = match redirect.fd {
                Descriptor::Number(number) => Some(number),
                Descriptor::Default => match redirect.kind {
                    RedirectOperator::Read
                    | RedirectOperator::ReadWrite
                    | RedirectOperator::DuplicateInput
                    | RedirectOperator::HereString
                    | RedirectOperator::HereDocument => Some(0),
                    _ => Some(1),
                },
                Descriptor::Named => None,
            };
            let word = match &redirect.target {
                Target::Document(body) => {
                    let Some(body) = body.get() else { continue };
                    let text = self.value(body, state);
                    if number == Some(0) {
                        result.input = Some(given(text, ""));
                    }
                    continue;
                }
                Target::Word(word) => word,
            };
            if redirect.kind == RedirectOperator::HereString {
                let text = self.subject(word, state);
                if number == Some(0) {
                    result.input = Some(given(text, "\n"));
                }
                continue;
            }
            let target = self.target(word, state);
            let duplicates =
                matches!(redirect.kind, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput);
            let descriptor = target
                .known()
                .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
            if duplicates && descriptor {
                match number {
                    Some(0) => result.input = Some(Input::Unseen),
                    Some(1) if target.known() != Some("1") => result.output = Output::Elsewhere,
                    _ => {}
                }
                continue;
            }
            let kind = match redirect.kind {
                RedirectOperator::Read | RedirectOperator::DuplicateInput => RedirectKind::Read,
                RedirectOperator::ReadWrite => RedirectKind::ReadWrite,
                RedirectOperator::Append | RedirectOperator::BothAppend => RedirectKind::Append,
                _ => RedirectKind::Write,
            };
            let path = match (target.known(), state.folders.certain()) {
                (Some(text), _) if text.starts_with('/') => Some(absolute(text, "/")),
                (Some(text), Some(folder)) => Some(absolute(text, folder)),
                _ => temporary(&target.value).map(str::to_owned),
            };
            let made = openable(kind, redirect.kind, &target, path.as_deref(), state);
            result.made = match (result.made, made) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            match number {
                Some(0) => {
                    let content = path.and_then(|path| state.files.made(&path)?.content.clone());
                    let process = matches!(target.value, Value::Unknown { why: Why::ProcessSubstitution, .. });
                    let process = process.then(|| self.processes.get(&target.span.start).cloned()).flatten();
                    let content = content.or(process);
                    let content = match target.known() {
                        Some("/dev/null") => Some(Input::Nothing),
                        // What it was before.
                        Some("/dev/stdin" | "/dev/fd/0") => None,
                        _ => Some(content.map_or(Input::Unseen, |content| Input::Text(content, 0))),
                    };
                    result.input = content.or(result.input);
                }
                Some(1) => {
                    result.output = match target.known() {
                        Some("/dev/stdout" | "/dev/fd/1" | "/dev/stderr" | "/dev/fd/2" | "/dev/tty") => {
                            Output::Elsewhere
                        }
                        _ => Output::File { path, append: kind == RedirectKind::Append },
                    };
                }
                _ => {}
            }
            result.list.push(Redirect { kind, fd: number, target });
        }
        result
    }

    /// Runs something whose output goes where redirects send it; what is written to a file.
    pub(super) fn writing<T>(
        &mut self,
        redirected: &Redirected,
        state: &State,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, Option<Rc<Text>>) {
        match redirected.output {
            Output::Same => (run(self), None),
            Output::File { .. } => {
                let (result, text) = self.capturing(state, run);
                (result, text.map(Rc::new))
            }
            Output::Elsewhere => {
                self.print(None, Span::default(), None, state);
                let (result, _) = self.capturing(state, run);
                (result, None)
            }
        }
    }

    pub(super) fn simple(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[syntax::Word],
        redirects: &[syntax::Redirect],
        state: State,
    ) -> Ends {
        let words: Vec<&syntax::Word> = words.iter().collect();
        self.aliased(span, assignments, &words, redirects, state)
    }

    /// A command whose first word may be an alias. On the line that defines it it is none yet, so that the command as
    /// it is written is looked at too.
    fn aliased(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[&syntax::Word],
        redirects: &[syntax::Redirect],
        state: State,
    ) -> Ends {
        let found = self.alias_of(words, &state);
        let Some((name, text)) = found.filter(|_| self.may_nest()) else {
            return self.unaliased(span, assignments, words, redirects, state);
        };
        let joiner = self.joiner;
        let own = state.clone();
        let expanded = self.doubting(true, |walk| {
            walk.calls.push(name);
            let ends = walk.inside("alias", |walk| match alias_words(&text, span) {
                Some(parsed) => {
                    let own_words = simple_words(&parsed).unwrap_or_default();
                    let all: Vec<&syntax::Word> = own_words.iter().chain(words.iter().skip(1).copied()).collect();
                    walk.joiner = joiner;
                    walk.aliased(span, assignments, &all, redirects, own)
                }
                None => {
                    let mut ends = None;
                    walk.text(&Word::new(text, span), |walk, list| ends = Some(walk.list(list, own.clone())));
                    ends.unwrap_or_else(|| Ends::of(own))
                }
            });
            walk.calls.pop();
            ends
        });
        self.joiner = joiner;
        let plain = self.doubting(true, |walk| walk.unaliased(span, assignments, words, redirects, state));
        let (expanded, plain) = (expanded.join(self), plain.join(self));
        Ends::with(expanded.merge(plain, self.change()), Status::Unknown)
    }

    /// The alias that the first word is, and what it stands for.
    fn alias_of(&self, words: &[&syntax::Word], state: &State) -> Option<(String, String)> {
        let name = words.first().filter(|_| state.aliases)?.plain()?;
        let text = state.alias_texts.get(name)?;
        (!self.calls.iter().any(|call| call == name)).then(|| (name.to_owned(), text.clone()))
    }

    fn unaliased(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[&syntax::Word],
        redirects: &[syntax::Redirect],
        mut state: State,
    ) -> Ends {
        let slot = self.reserve();
        if self.failure.is_some() {
            return Ends::of(state);
        }
        let before = state.clone();
        let declares = words.first().and_then(|word| word.plain()).is_some_and(|name| DECLARATIONS.contains(&name));
        let mut resolved: Vec<Word> = Vec::with_capacity(words.len());
        for (index, word) in words.iter().enumerate() {
            // `name=value` among the arguments: a tilde in the value is one, and after `export` nothing splits it.
            let assigns = index > 0 && assigns(word);
            if assigns && (declares || tilde_value(word)) {
                let word = self.assigned_argument(word, &mut state);
                resolved.push(word);
            } else {
                resolved.extend(self.words(word, &mut state));
            }
        }
        let unredirected = state.clone();
        let expanded = (state.never, state.lost);
        let redirected = self.redirects(redirects, &mut state);
        if resolved.is_empty() {
            return self.assignments_only(slot, span, assignments, words.is_empty(), redirected, &before, state);
        }
        // What a redirect of a program sets is set in the program's own process.
        let name = resolved.first().and_then(Word::known);
        let own = name.is_some_and(|name| !super::builtin::runs_in_shell(name) && state.function(name).is_none());
        if own && !redirects.is_empty() {
            let redirected = std::mem::replace(&mut state, unredirected);
            state.files = redirected.files;
            state.lost = state.lost.min(redirected.lost);
            if redirected.never && !state.never {
                self.leaves_shell(&mut state, true);
            }
        }
        let mut own = Vec::new();
        for assignment in assignments {
            let value = match &assignment.value {
                Assigned::Scalar(word) if assignment.index.is_none() && !assignment.append => {
                    self.assigned(word, &mut state)
                }
                _ => Word::unknown(Why::Expansion, assignment.span),
            };
            own.push((assignment.name.clone(), value));
        }
        let command = Command {
            words: resolved,
            assignments: own,
            redirects: redirected.list.clone(),
            ..Command::bare(Vec::new(), span, 0)
        };
        let arrays = words.iter().skip(1).filter_map(|word| match word.parts.as_slice() {
            [Part::Literal(name), Part::Array(elements)] => Some((name.text.as_str(), elements.as_slice())),
            _ => None,
        });
        if declares {
            let arrays: Vec<_> = arrays.collect();
            let flags = |word: &Word| word.known().is_some_and(|text| text.starts_with('-') && text.contains('A'));
            let keyed = command.words.iter().skip(1).any(flags);
            for (name, elements) in arrays {
                let (name, append) = (name.trim_end_matches(['=', '+']), name.ends_with("+="));
                if keyed {
                    self.assign_map(name, elements, append, &mut state);
                } else {
                    self.assign_array(name, elements, append, &mut state);
                }
            }
        }
        // An expansion may have ended the shell; one in a redirect, after it came to this command.
        let mut before = before;
        (before.never, before.lost) = (expanded.0, expanded.1.min(state.lost));
        if state.never && !before.never {
            before.lost = before.lost.min(self.frames.len());
        }
        let Some(other) = with_defaults(&command) else {
            return self.run_redirected(slot, command, &redirected, &before, state);
        };
        // With the defaults of variables that are not known it may be something else.
        let joiner = self.commands.get(slot).map_or(self.joiner, |reserved| reserved.joiner);
        let ends = self.run_redirected(slot, command, &redirected, &before, state.clone());
        self.joiner = joiner;
        let slot = self.reserve();
        let others = self.doubting(true, |walk| walk.run_redirected(slot, other, &redirected, &before, state));
        ends.or(others, self)
    }

    /// Runs a command with its input, its output and its own variables, which are put back afterwards.
    fn run_redirected(
        &mut self,
        slot: usize,
        command: Command,
        redirected: &Redirected,
        before: &State,
        mut state: State,
    ) -> Ends {
        let failed = (redirected.made != Some(true)).then(|| state.clone());
        if redirected.made == Some(false) {
            // It is come to, and then not run.
            self.doubting(true, |walk| walk.record(slot, command, before, &mut state));
            return Ends::with(failed.unwrap_or(state), Status::Failure);
        }
        let mut input = redirected.input.clone().map(|input| std::mem::replace(&mut state.input, input));
        if let [only] = command.words.as_slice()
            && only.known() == Some("exec")
        {
            // Without a command the redirects stay.
            input = None;
            self.print(None, command.span, None, &state);
        }
        let mut replaced = Vec::new();
        for (name, word) in &command.assignments {
            replaced.push((name.clone(), state.get(name).cloned()));
            let stamp = self.change();
            state.put(name, Variable::text(word.value.clone(), Some(true)), stamp);
        }
        let lookup = Lookup { functions: true, builtins: true };
        let (ends, written) = self.doubting(failed.is_some(), |walk| {
            walk.writing(redirected, &state.clone(), |walk| walk.run(slot, command, lookup, before, state))
        });
        let ends = ends.each(self, |state, stamp| {
            if let Some(input) = &input {
                state.input.clone_from(input);
            }
            for (name, variable) in replaced.iter().rev() {
                restore(state, name, variable.as_ref(), stamp);
            }
            redirected.keep(written.as_ref(), state, stamp);
        });
        ends.or_failed(failed, self)
    }

    fn assigned_argument(&mut self, word: &syntax::Word, state: &mut State) -> Word {
        let Some(Part::Literal(first)) = word.parts.first() else { return self.assigned(word, state) };
        let Some((name, rest)) = first.text.split_once('=') else { return self.assigned(word, state) };
        let at = first.at.map(|at| at + name.len() + 1);
        let rest = syntax::Literal { text: rest.to_owned(), quoted: false, at };
        let value = self.assigned_parts(&rest, word, state);
        let mut word = Word { span: word.span, at: first.at, ..value };
        let whole = format!("{name}={}", word.value.text());
        word.at = word.at.filter(|_| whole == first.text);
        word.value = match word.value {
            Value::Unknown { why, .. } => Value::Unknown { why, shape: whole },
            _ => Value::Known(whole),
        };
        word
    }

    #[expect(clippy::too_many_arguments, reason = "a command without a program")]
    fn assignments_only(
        &mut self,
        slot: usize,
        span: Span,
        assignments: &[Assignment],
        bare: bool,
        redirected: Redirected,
        before: &State,
        mut state: State,
    ) -> Ends {
        state.status = Status::Success;
        let mut own = Vec::new();
        let mut failed = false;
        for assignment in assignments {
            failed |= state.get(&assignment.name).is_some_and(|variable| variable.readonly);
            let word = self.assignment(assignment, &mut state);
            own.push((assignment.name.clone(), word));
        }
        let status = match state.status {
            _ if failed => Status::Unknown,
            // What redirects to a file may fail to.
            Status::Success if bare && redirected.list.is_empty() => Status::Success,
            Status::Success => Status::Unknown,
            status => status,
        };
        let command =
            Command { assignments: own, redirects: redirected.list.clone(), ..Command::bare(Vec::new(), span, 0) };
        self.record(slot, command, before, &mut state);
        let stamp = self.change();
        let empty = Rc::new(Text { text: String::new(), span, at: None });
        redirected.keep(Some(&empty), &mut state, stamp);
        if failed {
            // Where a name is readonly the shell may stop.
            self.leaves_shell(&mut state, true);
        }
        Ends::with(state, status)
    }

    /// Assigns, and says what.
    fn assignment(&mut self, assignment: &Assignment, state: &mut State) -> Word {
        let name = assignment.name.as_str();
        let keyed = state.get(name).is_some_and(|variable| matches!(variable.content, Content::Map(_)));
        if let (true, Some(index), Assigned::Scalar(word)) = (keyed, &assignment.index, &assignment.value) {
            let (key, word) = (self.assigned(index, state), self.assigned(word, state));
            self.assign_keys(name, vec![(key, word)], assignment.append, true, state);
            return Word::unknown(Why::Expansion, assignment.span);
        }
        let index = assignment.index.as_ref().map(|index| self.number(index, state));
        match &assignment.value {
            Assigned::Array(elements) => {
                if keyed {
                    self.assign_map(name, elements, assignment.append, state);
                } else {
                    self.assign_array(name, elements, assignment.append, state);
                }
                Word::unknown(Why::Expansion, assignment.span)
            }
            Assigned::Scalar(word) => {
                let mut word = self.assigned(word, state);
                if let Some(index) = index {
                    self.assign_element(name, index, &word, assignment.append, state);
                    return Word::unknown(Why::Expansion, assignment.span);
                }
                if assignment.append {
                    let joined = match (state.known(name), word.known()) {
                        (Some(before), Some(more)) => Some(before + more),
                        (None, Some(more)) if state.get(name).is_some_and(|v| v.content == Content::Unset) => {
                            Some(more.to_owned())
                        }
                        _ => None,
                    };
                    word.value = joined.map_or(Value::hole(Why::Variable(name.to_owned())), Value::Known);
                    word.at = None;
                }
                self.assign(name, word.value.clone(), state);
                word
            }
        }
    }

    fn assign_array(&mut self, name: &str, elements: &[syntax::Element], append: bool, state: &mut State) {
        let mut values: Option<Vec<Value>> = match state.get(name).map(|variable| &variable.content) {
            _ if !append => Some(Vec::new()),
            Some(Content::Array(values)) => Some(values.to_vec()),
            Some(Content::Text(value)) => Some(vec![value.clone()]),
            Some(Content::Unset) => Some(Vec::new()),
            _ => None,
        };
        for element in elements {
            if let Some(index) = &element.index {
                self.number(index, state);
                self.assigned(&element.word, state);
                values = None;
                continue;
            }
            for word in self.words(&element.word, state) {
                match &mut values {
                    Some(values) if !word.several => values.push(word.value),
                    _ => values = None,
                }
            }
        }
        let stamp = self.change();
        let special = state.get(name).is_some_and(|variable| variable.special || variable.readonly);
        let content =
            values.filter(|values| !special && values.len() < 1_000).map(|values| Content::Array(Rc::new(values)));
        let content = content.unwrap_or(Content::Unknown(Why::Variable(name.to_owned())));
        let before = state.get(name).cloned().unwrap_or(Variable { exported: Some(false), ..Variable::unknown(name) });
        state.put(name, Variable { content, ..before }, stamp);
    }

    /// `declare -A name=([key]=value ..)`
    fn assign_map(&mut self, name: &str, elements: &[syntax::Element], append: bool, state: &mut State) {
        let mut keys = Vec::new();
        for element in elements {
            let key = match &element.index {
                Some(index) => self.assigned(index, state),
                // Keys and values in turn are not followed.
                None => Word::unknown(Why::Expansion, element.word.span),
            };
            keys.push((key, self.assigned(&element.word, state)));
        }
        self.assign_keys(name, keys, false, append, state);
    }

    /// Sets keys of a map; without `more` they are all there is.
    fn assign_keys(&mut self, name: &str, keys: Vec<(Word, Word)>, append: bool, more: bool, state: &mut State) {
        let variable = state.get(name).cloned().unwrap_or_else(|| Variable::unknown(name));
        let mut values = match &variable.content {
            _ if variable.readonly => None,
            _ if !more => Some(BTreeMap::new()),
            Content::Map(values) => self.afford(values.len() * 16).then(|| values.as_ref().clone()),
            Content::Unset => Some(BTreeMap::new()),
            _ => None,
        };
        for (key, word) in keys {
            match (&mut values, key.known()) {
                (Some(values), Some(key)) if !append && values.len() < 1_000 => {
                    values.insert(key.to_owned(), word.value);
                }
                _ => values = None,
            }
        }
        let stamp = self.change();
        let unknown = || Content::Unknown(Why::Variable(name.to_owned()));
        let content = values.map_or_else(unknown, |values| Content::Map(Rc::new(values)));
        state.put(name, Variable { content, exported: Some(false), special: false, ..variable }, stamp);
    }

    fn assign_element(&mut self, name: &str, index: Option<i64>, word: &Word, append: bool, state: &mut State) {
        let stamp = self.change();
        let values = match state.get(name) {
            Some(variable) if variable.special || variable.readonly => None,
            Some(variable) => match &variable.content {
                Content::Array(values) => Some(values.to_vec()),
                Content::Unset => Some(Vec::new()),
                _ => None,
            },
            None if state.complete => Some(Vec::new()),
            None => None,
        };
        let place = index.and_then(|index| usize::try_from(index).ok());
        let changed = match (values, place) {
            (Some(mut values), Some(place)) if !append && place < values.len() => {
                values[place] = word.value.clone();
                Some(values)
            }
            (Some(mut values), Some(place)) if !append && place == values.len() && place < 1_000 => {
                values.push(word.value.clone());
                Some(values)
            }
            _ => None,
        };
        match changed {
            Some(values) => {
                let variable = state.get(name).cloned().unwrap_or_else(|| Variable::unknown(name));
                let content = Content::Array(Rc::new(values));
                state.put(name, Variable { content, exported: Some(false), ..variable }, stamp);
            }
            None => state.forget(name, stamp),
        }
    }

    /// Runs a command whose words are known as far as they are.
    fn run(&mut self, slot: usize, mut command: Command, lookup: Lookup, before: &State, mut state: State) -> Ends {
        if !self.step() {
            return Ends::of(state);
        }
        if let Some(program) = command.words.first().and_then(Word::known).and_then(|name| behind_link(name, before))
            && let Some(first) = command.words.first_mut()
        {
            first.value = Value::Known(program);
        }
        let mut lookup = lookup;
        if let Some(name) = command.words.first().and_then(|word| certain_name(word, before)) {
            // What stands there with a folder is a file.
            lookup = Lookup { functions: false, builtins: false };
            if let Some(first) = command.words.first_mut() {
                first.value = Value::Known(name);
            }
        }
        let words = command.words.clone();
        let Some(first) = words.first() else { return Ends::of(state) };
        let span = command.span;
        if let Value::Unknown { why: Why::Variable(variable), shape } = &first.value
            && matches!(variable.as_str(), "SHELL" | "BASH")
            && shape.chars().eq([Value::HOLE])
        {
            // Whichever shell it is, it runs its text.
            let mut shell = words.clone();
            shell[0].value = Value::Known("bash".to_owned());
            let inner = wrapper::inner(&shell);
            if !inner.is_empty() {
                command.unseen_script = inner.iter().any(|inner| self.is_unseen(inner, &state));
                self.record(slot, command, before, &mut state);
                return self.open(slot, &shell, inner, span, state);
            }
        }
        let Some(name) = first.known().map(str::to_owned) else {
            // It may be anything, a builtin too.
            let computed = !first.value.text().contains('/');
            let likely = likely(&command);
            let untouched = state.clone();
            self.record(slot, command, before, &mut state);
            let stamp = self.change();
            if computed && lookup.builtins {
                state.havoc(stamp);
            } else {
                state.doubt_files(stamp);
            }
            self.print(None, span, None, &state);
            used_up(&mut state);
            let Some(words) = likely else { return Ends::with(state, Status::Unknown) };
            let joiner = self.commands.get(slot).map_or(self.joiner, |reserved| reserved.joiner);
            let via = first.value.text().replace(Value::HOLE, "$");
            let end = self.doubting(true, |walk| {
                walk.inside(&via, |walk| {
                    walk.joiner = joiner;
                    walk.argv(words, false, span, Lookup { functions: false, builtins: true }, untouched)
                })
            });
            let end = end.join(self);
            return Ends::with(end.merge(state, self.change()), Status::Unknown);
        };
        if lookup.functions
            && let Some((function, sure)) = state.function(&name)
        {
            self.record_function(slot, command, before, &mut state);
            return self.call(slot, &name, (&function, sure), &words, state);
        }
        if lookup.builtins && super::builtin::is_builtin(&name) {
            self.record(slot, command, before, &mut state);
            return self.builtin(&name, &words, span, state);
        }
        if lookup.builtins && name == "printf" && self.printf_into(&words, &mut state) {
            self.record(slot, command, before, &mut state);
            return Ends::with(state, Status::Unknown);
        }
        if name == "trap" && self.clears_trap(&words) {
            self.record(slot, command, before, &mut state);
            return Ends::with(state, Status::Success);
        }
        let mut inner = if is_foreign(&name, &state) { Vec::new() } else { wrapper::inner(&words) };
        inner.extend(by_variables(&name, &words, &state));
        inner.extend(self.by_project(&name, &words, &state));
        inner.extend(self.by_lines(&name, &words, &state));
        command.unseen_script = inner.iter().any(|inner| self.is_unseen(inner, &state));
        let unlisted = inner.is_empty() && effect::is_unlisted(&command);
        self.record(slot, command, before, &mut state);
        if !inner.is_empty() {
            return self.open(slot, &words, inner, span, state);
        }
        self.program(slot, &words, unlisted, before, state)
    }

    /// A program that runs nothing else.
    fn program(&mut self, slot: usize, words: &[Word], unlisted: bool, before: &State, mut state: State) -> Ends {
        let span = self.commands.get(slot).map_or_else(Span::default, |command| command.span);
        let name = words.first().and_then(Word::known).map(crate::path::basename).unwrap_or_default();
        let arguments: Option<Vec<&str>> =
            words.iter().skip(1).map(|word| word.known().filter(|_| !word.several)).collect();
        let input = match &state.input {
            Input::Text(text, from) => text.text.get(*from..).map(str::to_owned),
            Input::Nothing => Some(String::new()),
            Input::Inherited | Input::Unseen => None,
        };
        let printed = arguments
            .as_ref()
            .and_then(|arguments| output::of(name, arguments, input.as_deref(), before.folders.certain()));
        let printed = printed.or_else(|| real(name, arguments.as_deref()?, before));
        if name == "cat" && arguments.as_ref().is_some_and(|list| !list.is_empty()) {
            let content = arguments.as_deref().and_then(|list| contents(list, before));
            self.print(content.as_deref(), span, None, &state);
        } else {
            let silent = output::is_silent(name);
            let text = printed.as_deref().or(silent.then_some(""));
            // What stands verbatim in the text has its position there.
            let at = text.and_then(|text| verbatim(text, words, &state));
            self.print(text, at.map_or(span, |(span, _)| span), at.and_then(|(_, at)| at), &state);
        }
        if matches!(name, "[" | "test")
            && words
                .iter()
                .any(|word| matches!(word.known(), Some("-v" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")))
        {
            self.names_again(words, &state);
        }
        // `sed -i s/X/Y/ FILE` on a file of the text.
        if let ("sed" | "gsed", Some(["-i", script, file])) = (name, arguments.as_deref())
            && let Some(path) = located_at(file, before)
        {
            let text = before.files.made(&path).and_then(|made| made.content.clone());
            let changed = text.and_then(|text| {
                let changed = output::of("sed", &[script], Some(&text.text), None)?;
                Some(Rc::new(Text { text: changed, span: text.span, at: None }))
            });
            let stamp = self.stamp;
            state.set_content(&path, changed, stamp);
        }
        if name == "tee" {
            let stamp = self.stamp;
            let text = match &state.input {
                // What it adds to is not read.
                Input::Text(text, 0) if !words.iter().any(|word| matches!(word.known(), Some("-a" | "--append"))) => {
                    Some(Rc::clone(text))
                }
                _ => None,
            };
            for path in words.iter().skip(1).filter_map(Word::known).filter_map(|path| located_at(path, before)) {
                match &text {
                    Some(text) => state.set_content(&path, Some(Rc::clone(text)), stamp),
                    None => state.set_unread(&path, stamp),
                }
            }
        }
        if !output::leaves_input(name) {
            used_up(&mut state);
        }
        if unlisted {
            let stamp = self.change();
            state.doubt_files(stamp);
        }
        self.sequential(words, &mut state);
        let status = match name {
            "true" | ":" => Status::Success,
            "false" => Status::Failure,
            "[" | "test" => Status::of(self.test_words(words, &state)),
            "basename" | "dirname" | "echo" | "printf" if printed.is_some() => Status::Success,
            _ => Status::Unknown,
        };
        let was_stored = self.stored;
        let planted = words.first().and_then(Word::known).filter(|name| !name.contains('/'));
        if let Some(place) = planted.and_then(|name| on_path(name, before))
            && let Some(content) = self.runnable(&place, span, words, &state)
            && self.may_nest()
        {
            return self.inside_file(slot, &content, words, state, was_stored);
        }
        // A script that the text wrote, run by its path.
        if name != words[0].known().unwrap_or_default() {
            let written = words[0].known().unwrap_or_default();
            if is_unread(written, before)
                && let Some(command) = self.commands.get_mut(slot)
            {
                command.unseen_script = true;
            }
            for place in unlikely_places(written, before) {
                let Some(content) = self.runnable(&place, span, words, before) else { continue };
                let own = state.clone();
                let ends = self.doubting(true, |walk| walk.inside_file(slot, &content, words, own, was_stored));
                let end = ends.join(self);
                state = state.merge(end, self.change());
            }
            let path = places(written, before).into_iter().next();
            let content =
                path.filter(|path| !effect::is_system(path)).and_then(|path| self.runnable(&path, span, words, &state));
            if let Some(content) = content {
                return self.inside_file(slot, &content, words, state, was_stored);
            }
            self.hides(slot);
        }
        Ends::with(state, status)
    }

    /// Whether what a wrapper runs cannot be read here.
    fn is_unseen(&self, inner: &Inner, state: &State) -> bool {
        match &inner.kind {
            Kind::Unseen => true,
            Kind::Text { text, .. } | Kind::Here { text } | Kind::Trap { text, .. } => text.known().is_none(),
            Kind::Stdin { language: None, .. } => inner.change.own_input || matches!(state.input, Input::Unseen),
            Kind::Stdin { .. } => matches!(state.input, Input::Unseen) && !inner.change.own_input,
            Kind::File { path, .. } => match &path.value {
                Value::Unknown { why: Why::ProcessSubstitution, .. } => !self.processes.contains_key(&path.span.start),
                Value::Unknown { why: Why::CommandOutput, .. } => {
                    temporary(&path.value).and_then(|key| state.files.made(key)?.content.as_ref()).is_none()
                }
                // Another descriptor than standard input is not followed.
                Value::Known(path) if is_descriptor(path) => true,
                Value::Known(path) => {
                    matches!(path.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
                        && matches!(state.input, Input::Unseen)
                        || is_unread(path, state)
                }
                _ => false,
            },
            Kind::Script { path, .. } => path.known().is_some_and(|path| is_unread(path, state)),
            Kind::Inline { .. } | Kind::Command { .. } => false,
        }
    }

    /// Runs what a command runs inside.
    fn open(&mut self, slot: usize, words: &[Word], inner: Vec<Inner>, span: Span, mut state: State) -> Ends {
        let name = words.first().and_then(Word::known).map(crate::path::basename).unwrap_or_default().to_owned();
        let mut status = Status::Unknown;
        let before = state.clone();
        let single = inner.len() == 1;
        for one in inner.into_iter().flat_map(|one| each_place(one, &before)) {
            if self.failure.is_some() || !self.may_nest() {
                break;
            }
            let Inner { kind, change } = one;
            let perhaps = change.times != Times::Once;
            let (was_elsewhere, was_stored) = (self.elsewhere, self.stored);
            self.elsewhere |= change.elsewhere;
            let in_place =
                change.same_shell && matches!(kind, Kind::Command { .. } | Kind::Here { .. } | Kind::File { .. });
            let mut own = state.clone();
            let mut enters = Some(true);
            if !in_place {
                self.surroundings(&change, &mut own);
                if matches!(change.cwd, Some(Directory::Word(_)))
                    && own.files.informed()
                    && let Some(folder) = own.folders.certain()
                {
                    enters = match own.files.sure(folder) {
                        Presence::Folder => Some(true),
                        Presence::Unknown => None,
                        _ => Some(false),
                    };
                }
            }
            own.never |= enters == Some(false);
            let perhaps = perhaps || enters.is_none();
            if change.own_input {
                own.input = Input::Unseen;
            }
            let replaces = change.replaces;
            let group = &mut state;
            let spent = self.spent();
            let mut ends = self.doubting(perhaps, |walk| {
                walk.inside(&name, |walk| walk.inner_command(slot, words, kind, &change, in_place, span, group, own))
            });
            if !was_stored && self.stored && self.restore(spent) {
                self.hides(slot);
                let mut after = state.clone();
                if in_place {
                    after.havoc(self.change());
                }
                ends = Ends::with(self.unread(span, after), Status::Unknown);
            }
            (self.elsewhere, self.stored) = (was_elsewhere, was_stored);
            if matches!(name.as_str(), "find" | "fd" | "fdfind") {
                self.found(slot);
            }
            if in_place {
                let end = ends.join(self);
                status = end.status;
                state = if perhaps { state.clone().merge(end, self.change()) } else { end };
            } else {
                let end = ends.join(self);
                status = if perhaps { Status::Unknown } else { end.status };
                if perhaps {
                    let mut after = state.clone();
                    after.files = end.files;
                    state = state.merge(after, self.change());
                } else {
                    self.after_subshell(&mut state, end);
                }
                used_up_unless(&mut state, &name);
            }
            if replaces && !state.never {
                state.status = status;
                // What replaces the shell does not come back to its trap.
                let sure = self.runs(&state) == Runs::Certainly;
                if let Some(frame) = self.frames.iter_mut().rfind(|frame| frame.kind == super::FrameKind::Shell) {
                    frame.trap = frame.trap.take().filter(|_| !sure);
                    frame.replaced = true;
                }
                self.leaves_shell(&mut state, false);
            }
        }
        if !single || matches!(name.as_str(), "timeout" | "xargs" | "find" | "sudo" | "su" | "ssh") {
            status = Status::Unknown;
        }
        self.sequential(words, &mut state);
        Ends::with(state, status)
    }

    /// What happens to something that `find` finds happens below the folders that it looks in.
    fn found(&mut self, slot: usize) {
        let inner = self.commands.get(slot + 1..).unwrap_or_default().iter().flat_map(|command| &command.effects);
        let placed = inner.filter(|effect| matches!(effect.path, Value::Unknown { why: Why::Argument, .. }));
        let mut kinds: Vec<EffectKind> = placed.map(|effect| effect.kind).collect();
        kinds.retain(|kind| !matches!(kind, EffectKind::Mention | EffectKind::Read | EffectKind::Execute));
        kinds.sort_unstable();
        kinds.dedup();
        let Some(outer) = self.commands.get_mut(slot) else { return };
        let folders: Vec<Effect> = outer
            .effects
            .iter()
            .filter(|effect| effect.kind == EffectKind::Read && effect.recursive)
            .cloned()
            .collect();
        for kind in kinds {
            let known = outer.effects.iter().any(|effect| effect.kind == kind && effect.recursive);
            let more = folders.iter().map(|effect| Effect { kind, certain: false, ..effect.clone() });
            outer.effects.extend(more.filter(|_| !known));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a command inside a command, with both its surroundings")]
    fn inner_command(
        &mut self,
        slot: usize,
        outer: &[Word],
        kind: Kind,
        change: &Change,
        in_place: bool,
        span: Span,
        state: &mut State,
        own: State,
    ) -> Ends {
        let name = outer.first().and_then(Word::known).map(crate::path::basename).unwrap_or_default();
        match kind {
            Kind::Command { words, more } => {
                let input = match &state.input {
                    Input::Text(text, from) if name == "xargs" => text.text.get(*from..).map(str::to_owned),
                    _ => None,
                };
                if let Some(list) = input.and_then(|input| wrapper::xargs(outer, &input)) {
                    return self.each_argv(list, span, own);
                }
                let builtins = in_place;
                self.argv(words, more, span, Lookup { functions: false, builtins }, own)
            }
            Kind::Text { text, args } => {
                let own_name = outer.first().cloned().into_iter().collect::<Vec<_>>();
                let mut shell = self.process(&own, if args.is_empty() { &own_name } else { &args });
                // `sh -ec`
                let letters = outer.iter().skip(1).filter_map(Word::known).take_while(|word| word.starts_with('-'));
                let letters: String = letters.filter(|word| !word.starts_with("--")).collect();
                let named = |name: &str| outer.iter().any(|word| word.known() == Some(name));
                shell.errexit = letters.contains('e') || named("errexit");
                shell.nounset = letters.contains('u') || named("nounset");
                self.text_in(&text, shell, own)
            }
            Kind::Here { text } => {
                let mut ends = None;
                self.text(&text, |walk, list| ends = Some(walk.list(list, own.clone())));
                ends.unwrap_or_else(|| {
                    // What it changes cannot be told.
                    let mut state = own;
                    let stamp = self.change();
                    state.havoc(stamp);
                    Ends::with(state, Status::Unknown)
                })
            }
            Kind::Trap { text, signals } => {
                self.trap(text, &signals, state);
                Ends::with(own, Status::Success)
            }
            Kind::Inline { language, text, .. } => {
                let after = self.script(language, &text, own);
                Ends::with(after, Status::Unknown)
            }
            Kind::Script { language, path } => {
                let place = path.known().and_then(|path| match own.folders.likely() {
                    _ if path.starts_with('/') => Some(absolute(path, "/")),
                    folder => Some(absolute(path, folder?)),
                });
                let words = self.commands.get(slot).map(|command| command.words.clone()).unwrap_or_default();
                match place.and_then(|place| self.runnable(&place, path.span, &words, &own)) {
                    Some(content) => {
                        let after = self.script(language, &content_word(&content), own);
                        Ends::with(after, Status::Unknown)
                    }
                    None => {
                        self.hides(slot);
                        Ends::with(self.unread(span, own), Status::Unknown)
                    }
                }
            }
            Kind::File { path, args, here } => {
                let path_span = path.span;
                let known = path.known().map(str::to_owned);
                if matches!(known.as_deref(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")) {
                    return self.read_input(None, &args, span, own);
                }
                let folder = own.folders.likely();
                let found =
                    known.as_deref().filter(|path| here && !path.contains('/')).and_then(|path| on_path(path, &own));
                let place = known
                    .and_then(|path| if path.starts_with('/') { Some(path) } else { Some(absolute(&path, folder?)) });
                let place = found.or(place);
                let place = place.or_else(|| temporary(&path.value).map(str::to_owned));
                let words = self.commands.get(slot).map(|command| command.words.clone()).unwrap_or_default();
                let content = place.and_then(|path| self.runnable(&path, path_span, &words, &own));
                let written = matches!(path.value, Value::Unknown { why: Why::ProcessSubstitution, .. });
                let written = written.then(|| self.processes.get(&path.span.start).cloned()).flatten();
                match content.or(written) {
                    Some(content) if here => {
                        let word = content_word(&content);
                        let mut ends = None;
                        self.text(&word, |walk, list| ends = Some(walk.list(list, own.clone())));
                        ends.unwrap_or_else(|| Ends::of(own))
                    }
                    // Whatever interpreter its first line names.
                    Some(content) => {
                        let mut arguments = vec![path];
                        arguments.extend(args);
                        let shell = self.process(&own, &arguments);
                        self.text_in(&content_word(&content), shell, own)
                    }
                    None => {
                        self.hides(slot);
                        let mut own = own;
                        if here {
                            let stamp = self.change();
                            own.havoc(stamp);
                        }
                        Ends::with(self.unread(span, own), Status::Unknown)
                    }
                }
            }
            Kind::Stdin { language, args } => {
                if change.own_input {
                    let mut own = own;
                    let stamp = self.change();
                    own.doubt_files(stamp);
                    return Ends::with(own, Status::Unknown);
                }
                self.read_input(language, &args, span, own)
            }
            Kind::Unseen => {
                let mut own = own;
                let stamp = self.change();
                own.doubt_files(stamp);
                self.print(None, span, None, &own);
                Ends::with(own, Status::Unknown)
            }
        }
    }

    /// The text of a file that is about to be run: as this text made it, else as it is there. In the latter case what
    /// comes is in a stored script, if the command that runs it tells it nothing that could be another script; the
    /// caller sees to its end.
    fn runnable(&mut self, path: &str, span: Span, command: &[Word], state: &State) -> Option<Rc<Text>> {
        if let Some(made) = state.files.made(path) {
            return made.content.clone();
        }
        if path.contains(Value::HOLE) {
            return None;
        }
        self.scripts += 1;
        if self.scripts > MAX_SCRIPTS || self.elsewhere {
            return None;
        }
        let text = state.files.script(path).filter(|text| !text.contains('\0') && self.afford(text.len()))?;
        // Neither one that is not known nor one that a shell would take apart: the script may run it.
        let plain = |word: &Word| match &word.value {
            Value::Known(text) | Value::Pattern(text) => !text.contains(['|', ';', '&', '$', '`', '<', '>', '\n']),
            Value::Unknown { .. } => false,
        };
        self.stored |= command.iter().all(plain) && matches!(state.input, Input::Inherited | Input::Nothing);
        Some(Rc::new(Text { text, span, at: None }))
    }

    /// After a program that was not read.
    fn unread(&mut self, span: Span, mut state: State) -> State {
        let stamp = self.change();
        state.doubt_files(stamp);
        self.print(None, span, None, &state);
        used_up(&mut state);
        state
    }

    /// What a command runs is not listed.
    fn hides(&mut self, slot: usize) {
        if let Some(command) = self.commands.get_mut(slot) {
            command.opaque = true;
        }
    }

    /// A shell, or another interpreter, that reads its program from standard input.
    fn read_input(&mut self, language: Option<Language>, args: &[Word], span: Span, own: State) -> Ends {
        let Input::Text(content, from) = &own.input else {
            let mut own = own;
            if !matches!(own.input, Input::Nothing) {
                let stamp = self.change();
                own.doubt_files(stamp);
                self.print(None, span, None, &own);
            }
            return Ends::with(own, Status::Unknown);
        };
        let mut word = content_word(content);
        if *from > 0 {
            word.value = Value::Known(content.text.get(*from..).unwrap_or_default().to_owned());
            word.at = word.at.map(|at| at + from);
        }
        match language {
            None => {
                let mut arguments = vec![Word::new("bash", span)];
                arguments.extend(args.iter().cloned());
                let mut shell = self.process(&own, &arguments);
                shell.input = Input::Unseen;
                self.text_in(&word, shell, own)
            }
            Some(language) => {
                let after = self.script(language, &word, own);
                Ends::with(after, Status::Unknown)
            }
        }
    }

    /// A file that is run by its own name; `stored`: whether what runs it stands in a stored script.
    fn inside_file(&mut self, slot: usize, content: &Rc<Text>, arguments: &[Word], state: State, stored: bool) -> Ends {
        let name = arguments.first().and_then(Word::known).map(crate::path::basename).unwrap_or_default().to_owned();
        if !self.may_nest() {
            return Ends::of(state);
        }
        let spent = self.spent();
        let before = state.clone();
        let mut ends = self.inside(&name, |walk| walk.file(slot, content, arguments, state));
        if !stored && self.stored && self.restore(spent) {
            self.hides(slot);
            ends = Ends::with(self.unread(content.span, before), Status::Unknown);
        }
        self.stored = stored;
        ends
    }

    /// A file of commands. Its first line may name another interpreter.
    fn file(&mut self, slot: usize, content: &Rc<Text>, arguments: &[Word], own: State) -> Ends {
        let first = content.text.lines().next().unwrap_or_default();
        let interpreter = first.strip_prefix("#!").map(str::trim).unwrap_or_default();
        let program = interpreter.split_whitespace().map(crate::path::basename).find(|name| *name != "env");
        let language = match program.unwrap_or("sh") {
            name if name.starts_with("python") => Some(Language::Python),
            "node" | "nodejs" => Some(Language::Node),
            "perl" => Some(Language::Perl),
            "ruby" => Some(Language::Ruby),
            "php" => Some(Language::Php),
            name if !interpreter.is_empty() && !SHELLS.contains(&name) => {
                let span = content.span;
                self.hides(slot);
                return Ends::with(self.unread(span, own), Status::Unknown);
            }
            _ => None,
        };
        let word = content_word(content);
        match language {
            Some(language) => {
                let after = self.script(language, &word, own);
                Ends::with(after, Status::Unknown)
            }
            None => {
                let shell = self.process(&own, arguments);
                self.text_in(&word, shell, own)
            }
        }
    }

    /// Runs a text in a shell process of its own; of what it changes, files stay.
    fn text_in(&mut self, text: &Word, shell: State, own: State) -> Ends {
        // A file of the text that bash reads first.
        let first = shell
            .known("BASH_ENV")
            .map(|path| absolute(&path, shell.folders.certain().filter(|_| !path.starts_with('/')).unwrap_or("/")));
        let was_stored = self.stored;
        if let Some(content) = first.and_then(|path| self.runnable(&path, text.span, &[], &shell)) {
            let state = shell.clone();
            self.doubting(true, |walk| walk.text(&content_word(&content), |walk, list| drop(walk.shell(list, state))));
        }
        self.stored = was_stored;
        let mut end = None;
        let mut after = own;
        let input = shell.input.clone();
        // What keeps `set -e` from ending this shell says nothing of that one.
        let guarded = std::mem::take(&mut self.guarded);
        self.text(text, |walk, list| {
            let state = shell.clone();
            end = Some(walk.shell(list, state));
        });
        self.guarded = guarded;
        match end {
            Some(end) => {
                let status = end.status;
                self.after_subshell(&mut after, end);
                if matches!(input, Input::Text(..)) {
                    used_up(&mut after);
                }
                Ends::with(after, status)
            }
            None => {
                let stamp = self.change();
                after.doubt_files(stamp);
                self.print(None, text.span, None, &after);
                used_up(&mut after);
                Ends::with(after, Status::Unknown)
            }
        }
    }

    fn each_argv(&mut self, list: Vec<Vec<Word>>, span: Span, mut own: State) -> Ends {
        for words in list {
            let lookup = Lookup { functions: false, builtins: false };
            let mut state = own.clone();
            state.input = Input::Nothing;
            let end = self.argv(words, false, span, lookup, state).join(self);
            own.files = end.files;
        }
        Ends::with(own, Status::Unknown)
    }

    fn argv(&mut self, words: Vec<Word>, more: bool, span: Span, lookup: Lookup, mut state: State) -> Ends {
        let slot = self.reserve();
        if self.failure.is_some() || words.is_empty() {
            return Ends::of(state);
        }
        let start = words.first().map_or(span.start, |word| word.span.start);
        let span = Span { start: start.min(span.end), end: span.end };
        let command = Command { words, more_words: more, ..Command::bare(Vec::new(), span, 0) };
        let before = state.clone();
        if more {
            state.input = Input::Unseen;
        }
        self.run(slot, command, lookup, &before, state)
    }

    /// The surroundings that a wrapper gives to what it runs.
    fn surroundings(&mut self, change: &Change, state: &mut State) {
        let stamp = self.change();
        if change.clear_env {
            let names: Vec<String> = state.vars().keys().cloned().collect();
            for name in names {
                let unset = Variable { content: Content::Unset, ..Variable::unknown(&name) };
                state.put(&name, unset, stamp);
            }
            // Shells and programs such as sudo set a few of their own.
            state.complete = false;
        }
        if change.other_user {
            state.forget("HOME", stamp);
            state.forget("USER", stamp);
        }
        for name in &change.unset {
            state.put(name, Variable { content: Content::Unset, ..Variable::unknown(name) }, stamp);
        }
        for (name, word) in &change.set {
            state.put(name, Variable::text(word.value.clone(), Some(true)), stamp);
        }
        match &change.cwd {
            None => {}
            Some(Directory::Word(word)) => {
                // The variable stays as it is.
                if state.get("PWD").is_none() {
                    let variable = match state.folders.certain() {
                        Some(folder) => Variable::text(Value::Known(folder.to_owned()), Some(true)),
                        None => Variable::unknown("PWD"),
                    };
                    state.put("PWD", variable, stamp);
                }
                state.folders = match word.known() {
                    Some(to) if to.starts_with('/') => super::Folders::one(absolute(to, "/")),
                    Some(to) => {
                        let mut folders = state.folders.clone();
                        folders.possible = folders.possible.iter().map(|folder| absolute(to, folder)).collect();
                        folders
                    }
                    None => super::Folders::unknown(),
                };
            }
            Some(Directory::Home) => {
                state.folders = match state.known("HOME").filter(|_| !change.other_user) {
                    Some(home) => super::Folders::one(absolute(&home, "/")),
                    None => super::Folders::unknown(),
                };
            }
            Some(Directory::Top) => {
                let tops = state.folders.certain().map(|folder| std::iter::successors(Some(folder), |at| parent(at)));
                let is_top = |folder: &&str| {
                    let git = absolute(".git", folder);
                    matches!(state.files.look(&git), Presence::Folder | Presence::File)
                };
                let top = tops.and_then(|mut tops| tops.find(is_top)).map(str::to_owned);
                state.folders = match top {
                    Some(top) => super::Folders::one(top),
                    // It may be here.
                    None => super::Folders { known: false, open: true, ..state.folders.clone() },
                };
            }
            Some(Directory::Unknown) => state.folders = super::Folders::unknown(),
        }
        if change.elsewhere {
            state.folders = super::Folders::unknown();
            state.doubt_files(stamp);
        }
    }

    /// What a new shell process sees of this one: what is exported.
    fn process(&mut self, state: &State, arguments: &[Word]) -> State {
        let mut own = state.clone();
        let stamp = self.change();
        for (name, variable) in state.vars() {
            match (variable.exported, &variable.content) {
                (Some(true), Content::Text(_) | Content::Unknown(_) | Content::Unset) if name != "IFS" => {
                    let plain = Variable { readonly: false, special: false, ..variable.clone() };
                    own.put(name, plain, stamp);
                }
                (Some(false), _) => {
                    own.put(name, Variable { content: Content::Unset, ..Variable::unknown(name) }, stamp);
                }
                _ if name == "IFS" => own.remove(name, stamp),
                _ => own.forget(name, stamp),
            }
        }
        // A shell finds out itself where it is.
        own.remove("PWD", stamp);
        let several = arguments.iter().any(super::expand::is_open_ended);
        own.arguments = (!several).then(|| Rc::new(arguments.iter().map(super::expand::argument).collect()));
        own.keep_exported_functions(stamp);
        own.stack = Some(Rc::new(Vec::new()));
        (own.errexit, own.nounset, own.pipefail, own.noglob, own.allexport) = (false, false, false, false, false);
        own.status = Status::Success;
        own
    }

    /// `trap - EXIT` and `trap EXIT`: whether it was that.
    fn clears_trap(&mut self, words: &[Word]) -> bool {
        let texts: Option<Vec<&str>> = words.iter().skip(1).map(Word::known).collect();
        let texts: Vec<&str> = texts.unwrap_or_default().into_iter().filter(|text| *text != "--").collect();
        let signals = match texts.as_slice() {
            ["-", signals @ ..] => signals,
            [only] if !only.starts_with('-') => std::slice::from_ref(only),
            _ => return false,
        };
        let exit = signals.iter().any(|signal| AT_EXIT.contains(signal));
        if let Some(frame) = self.frames.iter_mut().rfind(|frame| frame.kind == super::FrameKind::Shell)
            && exit
        {
            frame.trap = None;
        }
        true
    }

    fn trap(&mut self, text: Word, signals: &[Word], state: &mut State) {
        let at_exit = signals.iter().all(|word| word.known().is_some_and(|signal| AT_EXIT.contains(&signal)));
        if at_exit && !state.never {
            if let Some(frame) = self.frames.iter_mut().rfind(|frame| frame.kind == super::FrameKind::Shell) {
                let clear = text.known().is_some_and(|text| text.is_empty() || text == "-");
                frame.trap = Some(text).filter(|_| !clear);
            }
            return;
        }
        // When it runs is not known, nor what is then; most likely it is as it is here.
        let mut own = state.clone();
        if self.via.iter().filter(|via| *via == "trap").count() <= 1 {
            let here = own.clone();
            self.doubting(true, |walk| {
                walk.text(&text, |walk, list| {
                    walk.apart(here, |walk, here| walk.list(list, here));
                });
            });
        }
        let stamp = self.change();
        own.havoc(stamp);
        let shell_wide =
            signals.iter().any(|word| !matches!(word.known(), Some(name) if !SHELL_SIGNALS.contains(&name)));
        self.doubting(true, |walk| {
            walk.text(&text, |walk, list| {
                walk.apart(own, |walk, own| walk.list(list, own));
            });
        });
        if shell_wide {
            let stamp = self.change();
            state.havoc(stamp);
        }
    }

    /// A program in another language.
    fn script(&mut self, language: Language, text: &Word, state: State) -> State {
        self.source(language, text, inline::read, state)
    }

    fn source(
        &mut self,
        language: Language,
        text: &Word,
        read: fn(Language, &str) -> inline::Script,
        mut state: State,
    ) -> State {
        self.print(None, text.span, None, &state);
        used_up(&mut state);
        let Some(source) = text.known().map(str::to_owned) else {
            let stamp = self.change();
            state.doubt_files(stamp);
            return state;
        };
        if !self.may_nest() || !self.afford(source.len()) {
            return state;
        }
        let read = read(language, &source);
        for deed in read.deeds {
            if self.failure.is_some() {
                break;
            }
            let span = match text.at {
                Some(at) => Span { start: at + deed.at.start, end: at + deed.at.end },
                None => text.span,
            };
            state = self.deed(language, deed.what, span, state);
        }
        if !read.complete {
            let stamp = self.change();
            state.doubt_files(stamp);
        }
        state
    }

    /// A file of the text that a program in another language runs or imports.
    fn load(&mut self, language: Language, path: &Word, state: State) -> State {
        const ENDINGS: &[&str] = &["", ".py", "/__init__.py", ".js", ".mjs", ".cjs", "/index.js", ".rb", ".pl", ".php"];
        let mut state = state;
        for place in path.known().map(|path| places(path, &state)).unwrap_or_default() {
            let made = |ending: &&str| state.files.made(&format!("{place}{ending}"))?.content.clone();
            let Some(content) = ENDINGS.iter().find_map(made) else {
                if ENDINGS.iter().any(|ending| state.files.is_unread(&format!("{place}{ending}"))) {
                    state = self.unseen(path, state);
                }
                continue;
            };
            // A file that imports itself is read once.
            if self.calls.contains(&place) || !self.may_nest() {
                continue;
            }
            let name = self.via.last().cloned().unwrap_or_default();
            self.calls.push(place);
            state = self.inside(&name, |walk| walk.source(language, &content_word(&content), inline::read_part, state));
            self.calls.pop();
        }
        state
    }

    /// Lists a program that is run and cannot be read.
    fn unseen(&mut self, program: &Word, mut state: State) -> State {
        let slot = self.reserve();
        let words = vec![Word::new("sh", program.span), program.clone()];
        let mut command = Command::bare(words, program.span, 0);
        command.unseen_script = true;
        let before = state.clone();
        self.record(slot, command, &before, &mut state);
        let stamp = self.change();
        state.doubt_files(stamp);
        state
    }

    fn deed(&mut self, language: Language, what: What, span: Span, mut state: State) -> State {
        let home = state.known("HOME");
        let word = |text: inline::Text| deed_word(text, span, home.as_deref());
        match what {
            // As a command, since it is about the mode as much as about the path.
            What::Mode { path, mode: Some(mode) } => {
                let words = vec![inline::Text::Known("chmod".to_owned()), inline::Text::Known(mode), path];
                self.deed(language, What::Run(words), span, state)
            }
            What::Shell(text) => {
                let text = word(text);
                self.doubting(true, |walk| {
                    walk.inside("sh", |walk| {
                        if text.known().is_none() {
                            let slot = walk.reserve();
                            let mut command = Command::bare(
                                vec![Word::new("sh", span), Word::new("-c", span), text.clone()],
                                span,
                                0,
                            );
                            command.unseen_script = true;
                            let before = state.clone();
                            walk.record(slot, command, &before, &mut state);
                            return;
                        }
                        let shell = walk.process(&state, &[Word::new("sh", span)]);
                        let fine = walk.failure.is_none();
                        let end = walk.text_in(&text, shell, state.clone()).join(walk);
                        state.files = end.files;
                        // What a stored program builds is read roughly; if no shell text comes of it, it is not known.
                        if fine && walk.stored && !walk.exhausted && walk.failure.take().is_some() {
                            let stamp = walk.change();
                            state.doubt_files(stamp);
                        }
                    });
                });
                state
            }
            What::Run(list) => {
                let words: Vec<Word> = list.into_iter().map(word).collect();
                let lookup = Lookup { functions: false, builtins: false };
                let own = state.clone();
                let end = self.doubting(true, |walk| walk.argv(words, false, span, lookup, own)).join(self);
                state.files = end.files;
                state
            }
            What::Eval(text) => {
                let text = word(text);
                if text.known().is_none() {
                    let stamp = self.change();
                    state.doubt_files(stamp);
                    return state;
                }
                let name = self.via.last().cloned().unwrap_or_default();
                self.inside(&name, |walk| walk.source(language, &text, inline::read_part, state))
            }
            What::Load(path) => self.load(language, &word(path), state),
            What::Chdir(path) => {
                let path = word(path);
                state.folders = match (path.known(), state.folders.certain()) {
                    (Some(path), Some(folder)) => super::Folders::one(absolute(path, folder)),
                    (Some(path), None) if path.starts_with('/') => super::Folders::one(absolute(path, "/")),
                    _ => super::Folders::unknown(),
                };
                state
            }
            what => {
                let slot = self.reserve();
                let before = state.clone();
                let command = Command::bare(Vec::new(), span, 0);
                self.record(slot, command, &before, &mut state);
                let effects = deed_effects(what, span, &before, home.as_deref());
                if !self.elsewhere && self.runs(&before) != Runs::Never {
                    self.apply(&effects, &mut state);
                    if let Some(command) = self.commands.get_mut(slot) {
                        command.effects = effects;
                    }
                }
                state
            }
        }
    }
}

/// The command with each word that has a default as that default has it, if there is such a word.
fn with_defaults(command: &Command) -> Option<Command> {
    let default = |word: &Word| match &word.value {
        Value::Unknown { why: Why::Default(text), shape } => Some((text.clone(), shape.clone())),
        _ => None,
    };
    let targets = command.redirects.iter().map(|redirect| &redirect.target);
    if !command.words.iter().chain(targets).any(|word| default(word).is_some()) {
        return None;
    }
    let filled = |word: &Word| match default(word) {
        // What else is unknown stays so.
        Some((text, shape)) if shape.matches(Value::HOLE).count() == 1 => {
            Word { value: Value::Known(shape.replace(Value::HOLE, &text)), several: false, ..word.clone() }
        }
        _ => word.clone(),
    };
    let mut other = command.clone();
    other.words = Vec::new();
    for word in &command.words {
        match default(word) {
            Some((text, shape)) if word.several && shape.chars().eq([Value::HOLE]) => {
                let parts = text.split_whitespace();
                other.words.extend(parts.map(|part| Word { at: None, ..Word::new(part, word.span) }));
            }
            _ => other.words.push(filled(word)),
        }
    }
    other.redirects.iter_mut().for_each(|redirect| redirect.target = filled(&redirect.target));
    (!other.words.is_empty()).then_some(other)
}

/// The text of an alias that stands for words before others, and for nothing else.
pub(super) fn alias_words(text: &str, span: Span) -> Option<syntax::Parsed> {
    let parsed = syntax::parse(text, Base::opaque(span), 0).ok()?;
    simple_words(&parsed).is_some().then_some(parsed)
}

/// The words of a text that is one simple command without redirects and assignments.
fn simple_words(parsed: &syntax::Parsed) -> Option<&[syntax::Word]> {
    let [item] = parsed.list.items.as_slice() else { return None };
    let [node] = item.first.commands.as_slice() else { return None };
    let NodeKind::Simple { assignments, words } = &node.kind else { return None };
    let plain = item.rest.is_empty() && !item.background && !item.first.negated;
    (plain && assignments.is_empty() && node.redirects.is_empty() && !words.is_empty()).then_some(words)
}

/// Where a path is, if that is certain.
fn located_at(path: &str, state: &State) -> Option<String> {
    if path.starts_with('/') {
        return Some(absolute(path, "/"));
    }
    Some(absolute(path, state.folders.certain()?))
}

/// Whether it is a file that the text wrote, and what is in it is not known.
fn is_unread(path: &str, state: &State) -> bool {
    places(path, state).iter().any(|place| state.files.is_unread(place))
}

/// The files of the text that a path may lead to where the working directory is not the likeliest one.
fn unlikely_places(path: &str, state: &State) -> Vec<String> {
    let mut places = places(path, state);
    let likeliest = places.first().cloned();
    places.retain(|place| {
        Some(place) != likeliest.as_ref() && state.files.made(place).is_some_and(|made| made.content.is_some())
    });
    places
}

/// What is run from a file, from each of the files that it may be.
fn each_place(inner: Inner, state: &State) -> Vec<Inner> {
    let mut found = Vec::new();
    if let (Kind::File { path, .. } | Kind::Script { path, .. }, None) = (&inner.kind, &inner.change.cwd) {
        for place in path.known().map(|path| unlikely_places(path, state)).unwrap_or_default() {
            let mut other = inner.clone();
            other.change.times = Times::Perhaps;
            if let Kind::File { path, .. } | Kind::Script { path, .. } = &mut other.kind {
                path.value = Value::Known(place);
            }
            found.push(other);
        }
    }
    found.push(inner);
    found
}

/// Where a path may lead, the likeliest place first.
pub(super) fn places(path: &str, state: &State) -> Vec<String> {
    if path.starts_with('/') {
        return vec![absolute(path, "/")];
    }
    state.folders.possible.iter().map(|folder| absolute(path, folder)).collect()
}

/// What `realpath` prints of a path whose links are known.
fn real(name: &str, arguments: &[&str], state: &State) -> Option<String> {
    let path = match (name, arguments) {
        ("realpath", [path] | ["-m" | "-e" | "-s", path]) | ("readlink", ["-f" | "-m" | "-e", path]) => *path,
        _ => return None,
    };
    let path = if path.starts_with('/') { absolute(path, "/") } else { absolute(path, state.folders.certain()?) };
    Some(format!("{}\n", state.files.real(&path)?))
}

/// Whether a program is a file of the text, whatever its name says.
fn is_foreign(name: &str, state: &State) -> bool {
    let path = match state.folders.certain() {
        _ if !name.contains('/') => return false,
        _ if name.starts_with('/') => absolute(name, "/"),
        Some(folder) => absolute(name, folder),
        None => return false,
    };
    !effect::is_system(&path) && state.files.made(&path).is_some_and(|made| made.link.is_none())
}

/// Variables whose value a program runs as shell text.
const RUN_BY: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "GIT_SSH_COMMAND",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "GIT_PAGER",
            "GIT_EXTERNAL_DIFF",
            "GIT_ASKPASS",
            "GIT_PROXY_COMMAND",
            "EDITOR",
            "VISUAL",
            "PAGER",
        ],
    ),
    ("man", &["MANPAGER", "PAGER", "MANOPT"]),
    ("less", &["LESSOPEN", "LESSCLOSE", "LESSEDIT", "VISUAL", "EDITOR"]),
    ("crontab", &["VISUAL", "EDITOR"]),
    ("sudoedit", &["SUDO_EDITOR", "VISUAL", "EDITOR"]),
    ("visudo", &["SUDO_EDITOR", "VISUAL", "EDITOR"]),
    ("psql", &["PSQL_EDITOR", "PSQL_PAGER", "PAGER", "VISUAL", "EDITOR"]),
    ("rsync", &["RSYNC_RSH"]),
    ("cvs", &["CVS_RSH", "EDITOR"]),
    ("hg", &["HGEDITOR", "PAGER", "EDITOR"]),
    ("svn", &["SVN_SSH", "SVN_EDITOR", "EDITOR"]),
];

/// What a program runs because variables of the text say so, perhaps.
fn by_variables(name: &str, words: &[Word], state: &State) -> Vec<Inner> {
    let name = crate::path::basename(name);
    let names = RUN_BY.iter().find(|(program, _)| *program == name).map_or(&[][..], |(_, names)| names);
    let set = names.iter().filter_map(|name| match &state.get(name)?.content {
        Content::Text(value @ Value::Known(text)) if !text.is_empty() && state.get(name)?.exported == Some(true) => {
            Some((*name, value.clone()))
        }
        _ => None,
    });
    let span = words.first().map_or_else(Span::default, |word| word.span);
    let inner = set.map(|(name, value)| {
        let text = Word { value, ..Word::new("", span) };
        // Inside, the same program would run it again, without end.
        let unset = vec![name.to_owned()];
        Inner {
            kind: Kind::Text { text, args: Vec::new() },
            change: Change { times: Times::Perhaps, unset, ..Change::default() },
        }
    });
    inner.collect()
}

/// The name of a program in a folder that is not known.
fn certain_name(word: &Word, state: &State) -> Option<String> {
    let (Value::Unknown { shape: text, .. } | Value::Pattern(text)) = &word.value else { return None };
    let name = text.rsplit('/').next().filter(|name| text.len() > name.len() && !name.is_empty())?;
    // Without quotes the rest may be words of its own, unless it is what `command -v` prints.
    let located = matches!(&word.value, Value::Unknown { why: Why::CommandOutput, .. });
    if word.several && !located {
        return None;
    }
    // A file of the text is run as such.
    (state.files.made(text).is_none() && !name.contains([Value::HOLE, '*', '?', '[', '\\'])).then(|| name.to_owned())
}

/// What a command whose program is not known is, if the parts that are not known are empty: `r${x}m a`, `$SUDO rm a`.
fn likely(command: &Command) -> Option<Vec<Word>> {
    let (first, rest) = command.words.split_first()?;
    let Value::Unknown { shape, why: Why::Variable(_) | Why::CommandOutput | Why::Expansion } = &first.value else {
        return None;
    };
    let known = |name: &str| {
        let name = crate::path::basename(name);
        super::builtin::runs_in_shell(name) || effect::knows(name) || wrapper::knows(name)
    };
    let name = shape.replace(Value::HOLE, "");
    if name.contains('/') {
        return None;
    }
    if name.is_empty() {
        let next = rest.first().and_then(Word::known).filter(|_| first.several)?;
        return known(next).then(|| rest.to_vec());
    }
    let program = Word { at: None, ..Word::new(name.as_str(), first.span) };
    known(&name).then(|| std::iter::once(program).chain(rest.iter().cloned()).collect())
}

/// A copy of a program, as a script that runs it.
fn copied_program(path: &str, span: Span) -> Option<Rc<Text>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    let text = format!("#!/bin/sh\nexec {path} \"$@\"\n");
    (effect::is_system(path) && path.chars().all(plain)).then(|| Rc::new(Text { text, span, at: None }))
}

/// The program that a link of the text leads to.
fn behind_link(name: &str, state: &State) -> Option<String> {
    if !name.contains('/') {
        return None;
    }
    let path = if name.starts_with('/') { absolute(name, "/") } else { absolute(name, state.folders.certain()?) };
    let links = state.files.links();
    links.into_iter().find(|(from, to)| *from == path && effect::is_system(to)).map(|(_, to)| to)
}

/// A file of the text in a folder that the text put before others on `PATH`.
fn on_path(name: &str, state: &State) -> Option<String> {
    let path = match &state.get("PATH")?.content {
        Content::Text(value) => value.text(),
        _ => return None,
    };
    let known = path.split(':').take_while(|folder| !folder.contains(Value::HOLE));
    let mut places = known.map(|folder| {
        if folder.starts_with('/') {
            Some(format!("{folder}/{name}"))
        } else {
            Some(absolute(&format!("{folder}/{name}"), state.folders.certain()?))
        }
    });
    places.find_map(|place| place.filter(|place| state.files.made(place).is_some_and(|made| made.content.is_some())))
}

/// The shape of a path that `mktemp` made up: what is written there is found under it again.
pub(super) fn temporary(path: &Value) -> Option<&str> {
    match path {
        Value::Unknown { why: Why::CommandOutput, shape } if shape.starts_with('/') => Some(shape),
        _ => None,
    }
}

/// What happens behind a link that the text made happens to what the link leads to.
fn through_links(effects: &mut Vec<Effect>, state: &State) {
    let links = state.files.links();
    if links.is_empty() {
        return;
    }
    let mut more = Vec::new();
    for effect in effects.iter().filter(|effect| effect.kind != EffectKind::Send) {
        let mut text = effect.path.text().to_owned();
        let mut changed = false;
        for _ in 0..links.len().min(8) {
            let step = links.iter().find_map(|(from, to)| {
                let rest = text.strip_prefix(from.as_str())?;
                // The link itself is removed, not what it leads to.
                let itself = matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Link);
                let below = rest.starts_with('/') && (rest.len() > 1 || !itself);
                (below || rest.is_empty() && !itself).then(|| format!("{to}{rest}"))
            });
            match step {
                Some(to) if to != text => {
                    text = to;
                    changed = true;
                }
                _ => break,
            }
        }
        if changed {
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
}

/// Whether a path stands for an open file other than standard input.
fn is_descriptor(path: &str) -> bool {
    ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.strip_prefix(folder).is_some_and(|number| number != "0"))
}

/// Interpreters of shell text.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox", "rbash"];

/// The names of a shell's end.
const AT_EXIT: &[&str] = &["EXIT", "exit", "0", "SIGEXIT"];

/// Signals whose handlers run between the commands of the shell itself.
const SHELL_SIGNALS: &[&str] = &["DEBUG", "ERR", "RETURN"];

/// Options of git before its subcommand that take the next word.
const GIT_VALUES: &[&str] = &["-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

/// Whether a file can be opened as a redirect does; `None` if only the run can tell. Without facts it is taken to be.
fn openable(
    kind: RedirectKind,
    operator: RedirectOperator,
    target: &Word,
    path: Option<&str>,
    state: &State,
) -> Option<bool> {
    if target.known() == Some("") {
        return Some(false);
    }
    if target.known().is_some_and(|text| text.starts_with("/dev/")) || !state.files.informed() {
        return Some(true);
    }
    let path = path.filter(|_| !target.several)?;
    let here = state.files.sure(path);
    if kind == RedirectKind::Read {
        return match here {
            Presence::Unknown => None,
            Presence::Absent => Some(false),
            _ => Some(true),
        };
    }
    match (here, parent(path).map(|folder| state.files.sure(folder))) {
        (Presence::Folder, _) | (_, Some(Presence::Absent | Presence::File | Presence::Other)) => Some(false),
        (Presence::File | Presence::Unknown, _)
            if state.noclobber && kind == RedirectKind::Write && operator != RedirectOperator::Clobber =>
        {
            None
        }
        (Presence::File | Presence::Other, _) | (Presence::Absent, Some(Presence::Folder)) => Some(true),
        (Presence::Unknown, Some(Presence::Folder)) => Some(true),
        _ => None,
    }
}

/// A tracker's look at the state.
struct View<'a, 'f> {
    state: &'a State,
    walk: &'a Walk<'f>,
}

impl Snapshot for View<'_, '_> {
    fn tracked(&self, name: &str) -> Option<String> {
        if name == "cwd" {
            return self.state.folders.certain().map(str::to_owned);
        }
        let list = self.walk.trackers.map_or(&[][..], |trackers| trackers.list());
        let index = list.iter().position(|tracker| tracker.name == name)?;
        self.state.tracked.get(index)?.clone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.state.known(name)
    }
}

fn deed_word(text: inline::Text, span: Span, home: Option<&str>) -> Word {
    match text {
        inline::Text::Known(text) => {
            match (text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')), home) {
                (Some(rest), Some(home)) => Word::new(format!("{home}{rest}"), span),
                (Some(rest), None) => {
                    let shape = format!("{}{rest}", Value::HOLE);
                    Word {
                        value: Value::Unknown { why: Why::Home(String::new()), shape },
                        ..Word::unknown(Why::Expansion, span)
                    }
                }
                (None, _) => Word::new(text, span),
            }
        }
        inline::Text::Shape(shape) => {
            Word { value: Value::Unknown { why: Why::Expansion, shape }, ..Word::unknown(Why::Expansion, span) }
        }
    }
}

fn deed_effects(what: What, span: Span, state: &State, home: Option<&str>) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut add = |kind: EffectKind, path: inline::Text, recursive: bool, folder: bool, copied: bool| {
        let word = deed_word(path, span, home);
        if kind == EffectKind::Send {
            effects.push(effect_of(kind, word.value, span));
            return;
        }
        for (index, path) in located(&word.value, state).into_iter().enumerate() {
            effects.push(Effect { recursive, folder, copied, alternative: index > 0, ..effect_of(kind, path, span) });
        }
    };
    match what {
        What::Read(path) => add(EffectKind::Read, path, false, false, false),
        What::Write(path) => add(EffectKind::Write, path, false, false, false),
        What::Append(path) => add(EffectKind::Append, path, false, false, false),
        What::Create { path, folder } => add(EffectKind::Create, path, false, folder, false),
        What::Delete { path, recursive } => add(EffectKind::Delete, path, recursive, false, false),
        What::Mode { path, .. } => add(EffectKind::Mode, path, false, false, false),
        What::Send(text) => add(EffectKind::Send, text, false, false, false),
        What::Move { from, to } => {
            add(EffectKind::Move, from, true, false, true);
            add(EffectKind::Write, to, false, false, false);
        }
        What::Copy { from, to } => {
            add(EffectKind::Read, from, false, false, true);
            add(EffectKind::Write, to, false, false, false);
        }
        What::Shell(_) | What::Run(_) | What::Eval(_) | What::Load(_) | What::Chdir(_) => {}
    }
    effects
}

/// The paths that a text of another language stands for, by the directories that it may run in.
fn located(value: &Value, state: &State) -> Vec<Value> {
    let text = value.text();
    let at = |folder: &str| match value {
        Value::Known(_) => Value::Known(absolute(text, folder)),
        Value::Pattern(_) => Value::Pattern(absolute(text, folder)),
        Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: absolute(text, folder) },
    };
    if text.starts_with(Value::HOLE) {
        return vec![value.clone()];
    }
    if text.starts_with('/') {
        return vec![at("/")];
    }
    let mut paths: Vec<Value> = state.folders.possible.iter().map(|folder| at(folder)).collect();
    if state.folders.certain().is_none() {
        let shape = format!("{}/{text}", Value::HOLE);
        paths.push(Value::Unknown { why: Why::Directory, shape });
    }
    paths
}

fn effect_of(kind: EffectKind, path: Value, span: Span) -> Effect {
    Effect {
        kind,
        path,
        written: None,
        span,
        recursive: false,
        folder: false,
        copied: false,
        certain: false,
        alternative: false,
    }
}

fn content_word(content: &Text) -> Word {
    Word { at: content.at, ..Word::new(content.text.clone(), content.span) }
}

/// A word as standard input, with what ends it.
fn given(word: Word, end: &str) -> Input {
    match word.value {
        Value::Known(text) => Input::Text(Rc::new(Text { text: text + end, span: word.span, at: word.at }), 0),
        _ => Input::Unseen,
    }
}

/// A program may have read what there was.
fn used_up(state: &mut State) {
    if matches!(state.input, Input::Text(..)) {
        state.input = Input::Unseen;
    }
}

fn used_up_unless(state: &mut State, name: &str) {
    if name != "find" {
        used_up(state);
    }
}

/// What `cat` prints of files that the text wrote.
fn contents(names: &[&str], state: &State) -> Option<String> {
    let mut all = String::new();
    for name in names {
        let path = if name.starts_with('/') { absolute(name, "/") } else { absolute(name, state.folders.certain()?) };
        if *name == "-" || name.starts_with("--") {
            return None;
        }
        all.push_str(&state.files.made(&path)?.content.as_ref()?.text);
    }
    Some(all)
}

/// Where what a program prints stands in the source, if it is one of its words or its input.
fn verbatim(text: &str, words: &[Word], state: &State) -> Option<(Span, Option<usize>)> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let word = words.iter().skip(1).find(|word| word.known() == Some(line) && !line.is_empty());
    let input = match &state.input {
        Input::Text(input, 0) if input.text == text => Some((input.span, input.at)),
        _ => None,
    };
    word.map(|word| (word.span, word.at)).or(input).or_else(|| {
        let spans = words.iter().skip(1).map(|word| word.span);
        spans.reduce(super::join_spans).map(|span| (span, None))
    })
}

/// Whether a word has the form of an assignment.
fn assigns(word: &syntax::Word) -> bool {
    let Some(Part::Literal(first)) = word.parts.first() else { return false };
    let Some((name, _)) = first.text.split_once('=').filter(|_| !first.quoted) else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !matches!(word.parts.get(1), Some(Part::Array(_)))
}

fn tilde_value(word: &syntax::Word) -> bool {
    let Some(Part::Literal(first)) = word.parts.first() else { return false };
    first.text.split_once('=').is_some_and(|(_, value)| value.starts_with('~') || value.contains(":~"))
}
