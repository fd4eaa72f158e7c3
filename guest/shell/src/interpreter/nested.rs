//! What a command runs inside: commands of a wrapper, texts for a shell, files of commands.
//!
//! | Module | For |
//! |---|---|
//! | `scripts` | texts and files that a shell, or another interpreter, reads as its program |
//! | `context` | what a wrapper changes around what it runs, and what a process of its own has |

mod context;
mod scripts;

use std::rc::Rc;

use super::Interpreter;
use super::control_exits::ControlExits;
use super::dialect::reader;
use super::foreign::reads_alike;
use super::path_resolution::{followed_at, is_unread, on_path, unlikely_places};
use super::script_effects::arguments;
use super::simple::Lookup;
use super::state::{Input, Opened, ShellState, Status};
use crate::abstract_value::{Content, Text, Variable};
use crate::command::{Command, Effect, EffectKind, Foreseen, Runs};
use crate::effect;
use crate::facts::{FileOracle as _, Presence};
use crate::foreign::{scanned_commands, scanned_words};
use crate::wrapper::{ContextChange, Directory, Language, NestedCommand, NestedKind, Times};
use toolgate_scripts::{Arguments, Origin, Setting};
use toolgate_shell_syntax::path::{absolute, is_descriptor, is_stdin};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// The variable that has the file in which a shell's text stands.
const SOURCES: &str = "BASH_SOURCE";

/// What is known of code that was followed so far.
pub(super) struct Followed {
    /// Something of it was not read.
    unread: bool,
    /// Some of it stands in a file that was there before.
    stored: bool,
}

impl Interpreter<'_> {
    /// Whether what a wrapper runs cannot be read here.
    pub(super) fn is_unseen(&self, inner: &NestedCommand, state: &ShellState) -> bool {
        match &inner.kind {
            NestedKind::Unseen => true,
            NestedKind::Foreign { shell, text } => {
                !text.known().is_some_and(|text| reads_alike(text, shell, self.facts) || shell.only_reads(text))
            }
            NestedKind::Text { text, .. } | NestedKind::Here { text } | NestedKind::Trap { text, .. } => {
                !self.is_readable(text)
            }
            NestedKind::Stdin { language: None, .. } => inner.change.own_input || state.input.is_unseen(),
            NestedKind::Stdin { .. } => state.input.is_unseen() && !inner.change.own_input,
            NestedKind::File { path, .. } => match &path.value {
                Value::Unknown { why: Why::ProcessSubstitution, .. } => self.written_by_process(path).is_none(),
                Value::Unknown { why: Why::CommandOutput | Why::Temporary, .. } => {
                    path.value.followed_as().and_then(|path| state.files.read(path)).is_none()
                }
                Value::Known(path) if is_descriptor(path) => opened_text(path, state).is_none(),
                Value::Known(path) => is_stdin(path) && state.input.is_unseen() || is_unread(path, state),
                // Any of what the text has put below a folder of mktemp's.
                Value::Unknown { why: Why::Glob, shape } => state.files.has_temporaries() && shape.starts_with('/'),
                _ => path.value.followed_as().is_some_and(|path| state.files.is_unread(path)),
            },
            // A text that only counts as read for the names in it that `mktemp` made up.
            NestedKind::Inline { text, .. } => {
                self.has_holes && matches!(text.value, Value::Unknown { why: Why::Temporary, .. })
            }
            NestedKind::Script { path, .. } => path.known().is_some_and(|path| is_unread(path, state)),
            // One that cannot be read is told where it is loaded.
            NestedKind::Command { .. } | NestedKind::Loaded { .. } => false,
        }
    }

    /// Runs what a command runs inside.
    pub(super) fn open(
        &mut self,
        slot: usize,
        words: &[Word],
        inner: Vec<NestedCommand>,
        span: Span,
        mut state: ShellState,
    ) -> ControlExits {
        let name = words
            .first()
            .and_then(Word::known)
            .map(toolgate_shell_syntax::path::basename)
            .unwrap_or_default()
            .to_owned();
        let mut status = Status::Unknown;
        let before = state.clone();
        let single = inner.len() == 1;
        let all_elsewhere = inner.iter().all(|one| one.change.elsewhere);
        let around = self.begin();
        for one in inner.into_iter().flat_map(|one| each_place(one, &before)) {
            if self.failure.is_some() || !self.may_nest() {
                break;
            }
            let NestedCommand { kind, change } = one;
            let perhaps = change.times != Times::Once;
            let (was_elsewhere, was_stored) = ((self.elsewhere, self.fresh), self.preexisting);
            // What a container starts elsewhere is no part of it.
            self.fresh = change.fresh || self.fresh && !change.elsewhere;
            self.elsewhere |= change.elsewhere;
            self.preexisting |= change.stored;
            let in_place = change.same_shell
                && matches!(kind, NestedKind::Command { .. } | NestedKind::Here { .. } | NestedKind::File { .. });
            let mut own = state.clone();
            let mut enters = Some(true);
            if !in_place {
                self.surroundings(&change, &mut own);
                enters = enters_folder(&change, &own);
            }
            own.never |= enters == Some(false);
            let perhaps = perhaps || enters.is_none();
            if change.own_input {
                own.input = Input::Unseen(None);
            }
            let replaces = change.replaces;
            let group = &mut state;
            let spent = self.spent();
            let mut ends = self.doubting(perhaps, |interpreter| {
                interpreter.inside(&name, |interpreter| {
                    interpreter.inner_command(slot, words, kind, &change, in_place, span, group, own)
                })
            });
            if !was_stored && self.preexisting && self.restore(spent) {
                self.hides(slot);
                let mut after = state.clone();
                if in_place {
                    after.havoc(self.change());
                }
                ends = ControlExits::with(self.unread(span, after), Status::Unknown);
            }
            ((self.elsewhere, self.fresh), self.preexisting) = (was_elsewhere, was_stored);
            if matches!(name.as_str(), "find" | "fd" | "fdfind") {
                self.found(slot);
            }
            let end = ends.join(self);
            status = if perhaps && !in_place { Status::Unknown } else { end.status };
            state = match (in_place, perhaps) {
                (true, false) => end,
                (true, true) => state.clone().merge(end, self.change()),
                (false, true) => {
                    let mut after = state.clone();
                    after.files = end.files;
                    state.merge(after, self.change())
                }
                (false, false) => {
                    self.after_subshell(&mut state, end);
                    state
                }
            };
            if !in_place && name != "find" {
                state.use_input();
            }
            if replaces && !state.never {
                state.status = status;
                self.replace_shell(words, &mut state);
            }
        }
        self.settle(slot, all_elsewhere, around);
        if !single || matches!(name.as_str(), "timeout" | "xargs" | "find" | "sudo" | "su" | "ssh") {
            status = Status::Unknown;
        }
        self.sequential(words, &mut state);
        ControlExits::with(state, status)
    }

    /// Begins with what a command runs. Gives what is known so far of what is around it.
    pub(super) fn begin(&mut self) -> Followed {
        Followed { unread: std::mem::take(&mut self.unread), stored: std::mem::take(&mut self.runs_stored) }
    }

    /// Whether all that the code changes that was followed since [`Self::begin`] is told.
    pub(super) fn end(&mut self, around: Followed) -> Foreseen {
        let unread = std::mem::replace(&mut self.unread, around.unread);
        match (unread, std::mem::replace(&mut self.runs_stored, around.stored)) {
            (true, _) => Foreseen::No,
            (false, true) => Foreseen::Stored,
            (false, false) => Foreseen::Told,
        }
    }

    /// Tells whether all that a command changes is told, now that what it runs was followed.
    fn settle(&mut self, slot: usize, all_elsewhere: bool, around: Followed) {
        let told = self.end(around);
        let Some(command) = self.commands.get_mut(slot).filter(|command| command.foreseen == Foreseen::No) else {
            return;
        };
        if all_elsewhere && effect::only_names(command) {
            command.foreseen = Foreseen::Told;
        } else if effect::runs_code(command) && !command.opaque && !command.unseen_script {
            command.foreseen = told;
        }
    }

    /// What comes after a program that takes the place of the shell: `exec`.
    fn replace_shell(&mut self, words: &[Word], state: &mut ShellState) {
        // What replaces the shell does not come back to its trap; what is not found does.
        let mut traps = state.traps();
        let there = words.get(1).and_then(Word::known).is_some_and(|program| is_there(program, state));
        if there && self.runs(state) == Runs::Certainly {
            traps.clear();
        }
        traps.push(None);
        state.traps = Some(Rc::new(traps));
        let stays = self.execfail && !there;
        self.leaves_shell(state, stays);
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

    #[expect(clippy::too_many_arguments, reason = "a nested command, with the context of both")]
    fn inner_command(
        &mut self,
        slot: usize,
        outer: &[Word],
        kind: NestedKind,
        change: &ContextChange,
        in_place: bool,
        span: Span,
        state: &mut ShellState,
        own: ShellState,
    ) -> ControlExits {
        let name = outer.first().and_then(Word::known).map(toolgate_shell_syntax::path::basename).unwrap_or_default();
        match kind {
            NestedKind::Command { words, more } => {
                // `xargs sudo rm`: what is added to the wrapper's words is added to those of what it runs.
                let added = self.commands.get(slot).is_some_and(|command| command.more_words);
                let last = |words: &[Word]| words.last().map(|word| word.span);
                let more = more || added && last(&words) == last(outer);
                if name == "xargs"
                    && let Some(given) = self.given_to_xargs(outer, &state.input, state)
                {
                    return self.doubting(!given.is_sure, |interpreter| interpreter.each_argv(given.argvs, span, own));
                }
                let lookup = if in_place { Lookup::Builtins } else { Lookup::Programs };
                self.argv(words, more, span, lookup, own)
            }
            NestedKind::Text { text, args } => self.given_text(outer, name, &text, &args, own),
            NestedKind::Here { text } => {
                let mut ends = None;
                self.text(&text, |interpreter, list| ends = Some(interpreter.list(list, own.clone())));
                ends.unwrap_or_else(|| {
                    // What it changes cannot be told.
                    let mut state = own;
                    let stamp = self.change();
                    state.havoc(stamp);
                    ControlExits::with(state, Status::Unknown)
                })
            }
            NestedKind::Trap { text, signals } => {
                self.trap(&text, &signals, state);
                ControlExits::with(own, Status::Success)
            }
            NestedKind::Inline { language, text, args } => {
                let setting = Setting { arguments: Some(self.told(slot, &args)), ..Setting::of(Origin::Text) };
                let told: Option<Vec<&str>> = outer.iter().skip(1).map(Word::known).collect();
                let printed = told.and_then(|told| self.printed_of_files(name, &told, &own, &own));
                let captures = printed.is_some().then(|| self.captures.clone());
                let after = self.script(language, &text, setting, own);
                if let (Some(captures), Some(content)) = (captures, printed) {
                    self.captures = captures;
                    self.print_content(&content, span, &after);
                }
                ControlExits::with(after, Status::Unknown)
            }
            NestedKind::Loaded { language, path } => {
                let after = self.load(language, &Setting::of(Origin::Text), &path, own);
                ControlExits::with(after, Status::Unknown)
            }
            NestedKind::Script { language, path, args } => self.given_script(slot, language, (&path, &args), span, own),
            NestedKind::File { path, args, here } => self.given_file(slot, (&path, &args), here, name, span, own),
            NestedKind::Stdin { language, args } => {
                if change.own_input {
                    let mut own = own;
                    let stamp = self.change();
                    own.files.doubt_all(stamp);
                    return ControlExits::with(own, Status::Unknown);
                }
                self.read_input(language, reader(name), &args, span, own)
            }
            NestedKind::Foreign { shell, text } => match text.known() {
                Some(known) if reads_alike(known, &shell, self.facts) => {
                    self.given_text(outer, "bash", &text, &[], own)
                }
                Some(known) if shell.only_reads(known) => self.foreign_reads(&text, own),
                _ => self.foreign_text(&text, own),
            },
            NestedKind::Unseen => self.runs_unseen(span, own),
        }
    }

    /// What cannot be read runs, and may do anything to files.
    fn runs_unseen(&mut self, span: Span, mut own: ShellState) -> ControlExits {
        self.unread = true;
        let stamp = self.change();
        own.files.doubt_all(stamp);
        self.print(None, span, None, &own);
        ControlExits::with(own, Status::Unknown)
    }

    /// A text that only reads, in a grammar that is not read here: its tokens are listed as the words of its commands.
    fn foreign_reads(&mut self, text: &Word, own: ShellState) -> ControlExits {
        let mut after = own.clone();
        for words in scanned_commands(text, self.facts) {
            let slot = self.reserve();
            self.record(slot, Command::bare(words, text.span, 0), &own, &mut after);
        }
        self.print(None, text.span, None, &after);
        ControlExits::with(after, Status::Unknown)
    }

    /// A text whose grammar is not read: its tokens are listed as the words of one command.
    fn foreign_text(&mut self, text: &Word, mut own: ShellState) -> ControlExits {
        let words = scanned_words(text, self.facts);
        if !words.is_empty() {
            let slot = self.reserve();
            let command = Command { scanned: true, ..Command::bare(words, text.span, 0) };
            let before = own.clone();
            self.record(slot, command, &before, &mut own);
        }
        self.runs_unseen(text.span, own)
    }

    /// A text for a shell of its own, by the options that it is given with.
    fn given_text(&mut self, outer: &[Word], name: &str, text: &Word, args: &[Word], own: ShellState) -> ControlExits {
        let own_name = outer.first().cloned().into_iter().collect::<Vec<_>>();
        let mut shell = self.process(&own, if args.is_empty() { &own_name } else { args });
        // `sh -ec`
        let letters = outer.iter().skip(1).filter_map(Word::known).take_while(|word| word.starts_with('-'));
        let letters: String = letters.filter(|word| !word.starts_with("--")).collect();
        let named = |name: &str| outer.iter().any(|word| word.known() == Some(name));
        shell.errexit = (letters.contains('e') || named("errexit")).into();
        shell.nounset = letters.contains('u') || named("nounset");
        shell.aliases |= named("--posix") || named("posix") || named("expand_aliases");
        self.text_in(text, reader(name), shell, own)
    }

    /// The arguments of a script that a command runs.
    fn told(&self, slot: usize, args: &[Word]) -> Arguments {
        arguments(args, self.commands.get(slot).is_some_and(|command| command.more_words))
    }

    /// A file in another language.
    fn given_script(
        &mut self,
        slot: usize,
        language: Language,
        (path, args): (&Word, &[Word]),
        span: Span,
        own: ShellState,
    ) -> ControlExits {
        let was_stored = self.preexisting;
        let place = path.known().and_then(|path| match own.folders.likely() {
            _ if path.starts_with('/') => Some(absolute(path, "/")),
            folder => Some(absolute(path, folder?)),
        });
        let words = self.commands.get(slot).map(|command| command.words.clone()).unwrap_or_default();
        let place = place.or_else(|| followed_at(&path.value, &own));
        let setting =
            Setting { arguments: Some(self.told(slot, args)), ..Setting::of(self.origin(place.as_deref(), &own)) };
        let content = place.and_then(|place| self.runnable(&place, path.span, &words, &own));
        let stored = std::mem::replace(&mut self.preexisting, was_stored);
        self.run_alike(path, content.as_ref(), &own, |interpreter, text, own| {
            interpreter.script(language, &text.word(), Setting { origin: Origin::Unknown, ..setting.clone() }, own);
        });
        self.preexisting = stored;
        match content {
            Some(content) => {
                let after = self.script(language, &content.word(), setting, own);
                ControlExits::with(after, Status::Unknown)
            }
            None => {
                self.hides(slot);
                ControlExits::with(self.unread(span, own), Status::Unknown)
            }
        }
    }

    /// A file of commands and its arguments, which a shell of its own reads or, `here`, this one.
    fn given_file(
        &mut self,
        slot: usize,
        (path, args): (&Word, &[Word]),
        here: bool,
        name: &str,
        span: Span,
        own: ShellState,
    ) -> ControlExits {
        let was_stored = self.preexisting;
        let known = path.known().map(str::to_owned);
        if known.as_deref().is_some_and(is_stdin) {
            let ends = self.read_input(None, reader(name), args, span, own);
            // What it sets in this shell is not followed.
            return if here { ends.each(self, ShellState::havoc) } else { ends };
        }
        let folder = own.folders.likely();
        let found = known.as_deref().filter(|path| !path.contains('/')).and_then(|path| on_path(path, &own, &own));
        let place =
            known.and_then(|path| if path.starts_with('/') { Some(path) } else { Some(absolute(&path, folder?)) });
        // A shell that is given a file by its name looks for it where it is first.
        let is_here = |place: &String| own.files.made(place).is_some() || own.files.was_there(place);
        let place =
            if here { found.or(place) } else { place.filter(|place| found.is_none() || is_here(place)).or(found) };
        let place = place.or_else(|| followed_at(&path.value, &own));
        let words = self.commands.get(slot).map(|command| command.words.clone()).unwrap_or_default();
        // A descriptor is the shell's own: what somebody else finds at its path is another file.
        let place = place.filter(|place| !is_descriptor(place));
        let content = place.and_then(|place| self.runnable(&place, path.span, &words, &own));
        let written = self.written_by_process(path).cloned();
        let opened = path.known().and_then(|path| opened_text(path, &own));
        let content = content.or(written).or(opened);
        let mut arguments = vec![path.clone()];
        arguments.extend_from_slice(args);
        let run = |interpreter: &mut Self, content: &Rc<Text>, own: ShellState| {
            let word = content.word();
            if here {
                let mut ends = None;
                let outer = own.get(SOURCES).cloned();
                let mut inside = own.clone();
                interpreter.stands_in(path, &mut inside);
                interpreter.text(&word, |interpreter, list| ends = Some(interpreter.list(list, inside)));
                let ends = ends.unwrap_or_else(|| ControlExits::of(own));
                return ends.each(interpreter, |state, stamp| state.restore(SOURCES, outer.as_ref(), stamp));
            }
            // Whatever interpreter its first line names.
            let mut shell = interpreter.process(&own, &arguments);
            interpreter.stands_in(path, &mut shell);
            interpreter.text_in(&word, reader(name), shell, own)
        };
        let stored = std::mem::replace(&mut self.preexisting, was_stored);
        self.run_alike(path, content.as_ref(), &own, |interpreter, text, own| drop(run(interpreter, text, own)));
        self.preexisting = stored;
        match content {
            Some(content) => run(self, &content, own),
            None => {
                self.hides(slot);
                let mut own = own;
                if here && !path.known().is_some_and(is_activation) {
                    let stamp = self.change();
                    own.havoc(stamp);
                }
                ControlExits::with(self.unread(span, own), Status::Unknown)
            }
        }
    }

    /// What runs in this shell from here on stands in this file.
    pub(super) fn stands_in(&mut self, path: &Word, state: &mut ShellState) {
        let stamp = self.change();
        let content = Content::Array(Rc::new(vec![path.value.clone()]));
        state.put(SOURCES, Variable { content, exported: Some(false), ..Variable::unknown(SOURCES) }, stamp);
    }

    /// After a program that was not read.
    fn unread(&mut self, span: Span, mut state: ShellState) -> ShellState {
        self.unread = true;
        let stamp = self.change();
        state.files.doubt_all(stamp);
        self.print(None, span, None, &state);
        state.use_input();
        state
    }

    /// What a process substitution has written that a word is.
    fn written_by_process(&self, word: &Word) -> Option<&Rc<Text>> {
        let is_one = matches!(word.value, Value::Unknown { why: Why::ProcessSubstitution, .. });
        match self.processes.get(&word.span.start).filter(|_| is_one)? {
            Input::Text(text, _) => Some(text),
            _ => None,
        }
    }

    /// What a command runs is not listed.
    pub(super) fn hides(&mut self, slot: usize) {
        if let Some(command) = self.commands.get_mut(slot) {
            command.opaque = true;
        }
    }

    fn each_argv(&mut self, list: Vec<Vec<Word>>, span: Span, mut own: ShellState) -> ControlExits {
        for words in list {
            let mut state = own.clone();
            state.input = Input::Nothing;
            let end = self.argv(words, false, span, Lookup::Programs, state).join(self);
            own.files = end.files;
        }
        ControlExits::with(own, Status::Unknown)
    }

    pub(super) fn argv(
        &mut self,
        words: Vec<Word>,
        more: bool,
        span: Span,
        lookup: Lookup,
        mut state: ShellState,
    ) -> ControlExits {
        let slot = self.reserve();
        if self.failure.is_some() || words.is_empty() {
            return ControlExits::of(state);
        }
        let start = words.first().map_or(span.start, |word| word.span.start);
        let span = Span { start: start.min(span.end), end: span.end };
        let command = Command { words, more_words: more, ..Command::bare(Vec::new(), span, 0) };
        let before = state.clone();
        if more {
            state.input = Input::Unseen(None);
        }
        self.run(slot, command, lookup, &before, state)
    }
}

/// Whether the folder that a command is run in is there; none where that is not known.
fn enters_folder(change: &ContextChange, state: &ShellState) -> Option<bool> {
    let Some(Directory::Word(_)) = change.cwd else { return Some(true) };
    if !state.files.informed() {
        return Some(true);
    }
    let Some(folder) = state.folders.certain() else { return Some(true) };
    match state.files.sure(folder) {
        Presence::Folder => Some(true),
        Presence::Unknown => None,
        _ => Some(false),
    }
}

/// What is run from a file, from each of the files that it may be.
fn each_place(inner: NestedCommand, state: &ShellState) -> Vec<NestedCommand> {
    let mut found = Vec::new();
    if let (NestedKind::File { path, .. } | NestedKind::Script { path, .. }, None) = (&inner.kind, &inner.change.cwd) {
        for place in path.known().map(|path| unlikely_places(path, state)).unwrap_or_default() {
            let mut other = inner.clone();
            other.change.times = Times::Perhaps;
            if let NestedKind::File { path, .. } | NestedKind::Script { path, .. } = &mut other.kind {
                path.value = match (place.contains(Value::HOLE), place.starts_with('/')) {
                    (false, _) => Value::Known(place),
                    (true, true) => Value::Unknown { why: Why::Temporary, shape: place },
                    (true, false) => Value::Unknown { why: Why::Directory, shape: place },
                };
            }
            found.push(other);
        }
    }
    found.push(inner);
    found
}

/// What is read from a descriptor that the text has opened on a text of its own, by its name: `/dev/fd/3`.
fn opened_text(path: &str, state: &ShellState) -> Option<Rc<Text>> {
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
    match state.descriptors.get(&number.parse().ok()?)? {
        Opened::Source(Input::Text(text, 0)) => Some(Rc::clone(text)),
        _ => None,
    }
}

/// Whether a program is certainly there.
fn is_there(program: &str, state: &ShellState) -> bool {
    // The text may have it looked for elsewhere.
    if state.get("PATH").is_some() && !program.contains('/') {
        return false;
    }
    let places = match program.contains('/') {
        true => vec![program.to_owned()],
        false => ["/bin", "/usr/bin"].iter().map(|folder| format!("{folder}/{program}")).collect(),
    };
    places.iter().any(|place| place.starts_with('/') && state.files.look(place) == Presence::File)
}

/// A file that switches an environment on, by its name: it sets what is its own, and not what the text has.
fn is_activation(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let own = !path.starts_with('/') && (folder == "bin" || folder.ends_with("/bin"));
    let usual = ["/.nvm/nvm.sh", "/etc/profile.d/conda.sh", "/.sdkman/bin/sdkman-init.sh"];
    name == "activate" && own || usual.iter().any(|usual| path.ends_with(usual))
}
