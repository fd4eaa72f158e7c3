//! Programs in other languages: what they do, as if the text did it.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Interpreter;
use super::dialect::Reader;
use super::loaded_files::{examples, is_written, written_in};
use super::path_resolution::places;
use super::project::Written;
use super::simple::Lookup;
use super::state::ShellState;
use crate::abstract_value::{Folders, Text};
use crate::command::{Command, Effect, EffectKind, Runs};
use crate::facts::FileOracle as _;
use crate::wrapper::{self, Language};
use toolgate_scripts::{self as scripts, Arguments, Origin, ScriptEffectKind, Setting};
use toolgate_shell_syntax::glob::escaped;
use toolgate_shell_syntax::path::{absolute, is_within, parent};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Words with which a script runs files in ways that are not followed: by an object made of a name, or one by one out
/// of a folder.
const LOADERS: &[(Language, &[&str])] = &[
    (
        Language::Python,
        &["SourceFileLoader", "__import__", "exec(", "import_module", "load_source", "spec_from_file_location"],
    ),
    (Language::Node, &["Worker", "import(", "require(", "runInContext", "runInNewContext", "runInThisContext"]),
];

/// How files are called that are of a language.
const SOURCES: &[(Language, &[&str])] =
    &[(Language::Python, &[".py"]), (Language::Node, &[".js", ".mjs", ".cjs", ".ts"])];

/// Most texts of a script that are looked at as names of files.
const MAX_NAMES: usize = 64;

impl Interpreter<'_> {
    /// A program in another language.
    pub(super) fn script(
        &mut self,
        language: Language,
        text: &Word,
        setting: Setting,
        state: ShellState,
    ) -> ShellState {
        self.source(language, text, setting, scripts::read, state)
    }

    /// Where a script stands that is given by its path. What is reached through links is somewhere else.
    pub(super) fn origin(&self, place: Option<&str>, state: &ShellState) -> Origin {
        let own =
            |place: &&str| state.files.links().is_empty() && state.files.real(place).is_none_or(|real| real == *place);
        place.filter(own).map_or(Origin::Unknown, |place| Origin::File(place.to_owned()))
    }

    fn source(
        &mut self,
        language: Language,
        text: &Word,
        setting: Setting,
        read: fn(Language, &str, Setting) -> scripts::Script,
        mut state: ShellState,
    ) -> ShellState {
        let captures = self.captures.clone();
        self.print(None, text.span, None, &state);
        let mut setting = self.around(setting, &state);
        state.use_input();
        // What xargs or find puts into a text is a part of it that is not known.
        let is_filled = matches!(text.value, Value::Unknown { why: Why::Argument, .. });
        self.unread |= text.known().is_none();
        let source = if is_filled { Some(text.text()) } else { text.known() };
        let Some(source) = source.map(str::to_owned) else {
            let stamp = self.change();
            state.files.doubt_all(stamp);
            return state;
        };
        if !self.may_nest() || !self.afford(source.len()) {
            self.unread = true;
            return state;
        }
        let mut script = read(language, &source, setting.clone());
        // What it reads says what it does: it is read again with that.
        if let Some(more) = self.with_files(language, &script, &setting, &state)
            && self.afford(source.len())
        {
            script = read(language, &source, more.clone());
            setting = more;
        }
        self.unread |= !script.complete || script.effects.iter().any(|effect| loads_more(language, effect));
        let runs = |effect: &scripts::ScriptEffect| {
            matches!(effect.what, ScriptEffectKind::Shell(_) | ScriptEffectKind::Run(_) | ScriptEffectKind::In { .. })
        };
        let printed = script.printed.take().filter(|_| !script.effects.iter().any(runs));
        let named = named_files(language, &source, &script, &setting, &state);
        let tested = self.tested(language, &source, &script, &setting, &state);
        // The folders that it goes back to.
        let mut left = Vec::new();
        for effect in script.effects {
            if self.failure.is_some() {
                break;
            }
            let span = match text.at {
                // Of an input the last line may end where the text does not: a shell puts that end there.
                Some(at) => {
                    let [start, end] = [effect.at.start, effect.at.end].map(|place| (at + place).min(text.span.end));
                    Span { start, end }
                }
                None => text.span,
            };
            match effect.what {
                ScriptEffectKind::Return => {
                    if let Some(folders) = left.pop() {
                        state.folders = folders;
                        let stamp = self.change();
                        state.files.leave_folder(stamp);
                    }
                    continue;
                }
                ScriptEffectKind::Chdir(_) => left.push(state.folders.clone()),
                _ => {}
            }
            state = self.script_effect(language, &setting, effect.what, span, state);
        }
        for file in named {
            state = self.load(language, &setting, &Word::new(file, text.span), state);
        }
        for examples in tested {
            state = self.script_eval(language, &setting, &Word::new(examples, text.span), state);
        }
        if !script.complete {
            let stamp = self.change();
            state.files.doubt_all(stamp);
        }
        if let Some(printed) = printed {
            self.captures = captures;
            self.print_stored(&printed, text.span, &state);
        }
        state
    }

    /// The examples that a script has doctest run: those in the modules of the session that it imports.
    fn tested(
        &mut self,
        language: Language,
        source: &str,
        script: &scripts::Script,
        setting: &Setting,
        state: &ShellState,
    ) -> Vec<String> {
        if language != Language::Python || !state.files.has_written() || !source.contains("testmod(") {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for effect in &script.effects {
            let ScriptEffectKind::Load(scripts::Text::Known(module)) = &effect.what else { continue };
            for place in imported_from(language, setting, module, state) {
                let file = format!("{place}.py");
                if !seen.insert(file.clone()) {
                    continue;
                }
                if let Written::Text(text) = self.written(&file, Span::default(), state) {
                    found.push(examples(&text.text));
                }
            }
        }
        found
    }

    /// A file of the session that a program in another language runs or imports.
    pub(super) fn load(
        &mut self,
        language: Language,
        setting: &Setting,
        path: &Word,
        mut state: ShellState,
    ) -> ShellState {
        const ENDINGS: &[&str] = &[
            "",
            ".py",
            "/__init__.py",
            ".js",
            ".mjs",
            ".cjs",
            ".ts",
            ".tsx",
            ".jsx",
            "/index.js",
            "/index.ts",
            ".rb",
            ".pl",
            ".pm",
            ".php",
        ];
        if !state.files.has_written() {
            return state;
        }
        let Some(name) = path.known() else { return state };
        // A module's packages are loaded before it.
        /// Most packages around a module that are looked for.
        const PACKAGES: usize = 16;
        let is_module = name.matches('/').take(PACKAGES + 1).count() <= PACKAGES && is_module(language, name);
        if let Some((package, _)) = name.rsplit_once('/').filter(|_| is_module) {
            state = self.load(language, setting, &Word::new(package, path.span), state);
        }
        let mut files = Vec::new();
        for place in imported_from(language, setting, name, &state) {
            let places = ENDINGS.iter().map(|ending| format!("{place}{ending}"));
            let places = places.filter(|file| state.files.may_be_written(file)).collect::<Vec<_>>();
            let is_own = |file: &String| !matches!(self.written(file, path.span, &state), Written::Not);
            files.extend(places.into_iter().find(is_own));
            files.extend(self.mains_of(&place, path.span, &state));
        }
        if language == Language::Node && name.starts_with(toolgate_scripts::PACKAGES) {
            for from in resolved_from(setting, &state) {
                files.extend(self.of_package(name, &from, &state));
            }
        }
        for file in files {
            let content = match self.written(&file, path.span, &state) {
                Written::Text(content) => content,
                Written::Unread => {
                    state = self.unseen(path, state);
                    continue;
                }
                Written::Not => continue,
            };
            // Each is read once, as it is loaded once.
            let known = |(other, text): &(String, Rc<Text>)| *other == file && Rc::ptr_eq(text, &content);
            if self.loaded.iter().any(known) || !self.may_nest() {
                continue;
            }
            self.loaded.push((file.clone(), Rc::clone(&content)));
            let name = self.via.last().cloned().unwrap_or_default();
            let setting = Setting { origin: self.origin(Some(&file), &state), ..setting.clone() };
            let text = content.word();
            let stored = self.preexisting;
            self.preexisting |= self.is_earlier(&content);
            state = self
                .inside(&name, |interpreter| interpreter.source(language, &text, setting, scripts::read_part, state));
            self.preexisting = stored;
        }
        state
    }

    /// Lists a program that is run and cannot be read.
    fn unseen(&mut self, program: &Word, mut state: ShellState) -> ShellState {
        let slot = self.reserve();
        let words = vec![Word::new("sh", program.span), program.clone()];
        let mut command = Command::bare(words, program.span, 0);
        command.unseen_script = true;
        let before = state.clone();
        self.record(slot, command, &before, &mut state);
        let stamp = self.change();
        state.files.doubt_all(stamp);
        state
    }

    fn script_effect(
        &mut self,
        language: Language,
        setting: &Setting,
        what: ScriptEffectKind,
        span: Span,
        mut state: ShellState,
    ) -> ShellState {
        let home = state.known("HOME");
        let word = |text: scripts::Text| effect_word(text, span, home.as_deref());
        match what {
            // As a command, since it is about the mode as much as about the path.
            ScriptEffectKind::Mode { path, mode: Some(mode) } => {
                let words = vec![scripts::Text::Known("chmod".to_owned()), scripts::Text::Known(mode), path];
                self.script_effect(language, setting, ScriptEffectKind::Run(words), span, state)
            }
            ScriptEffectKind::Shell(text) => self.script_shell(&word(text), span, state),
            ScriptEffectKind::Run(list) => {
                let words: Vec<Word> = list.into_iter().map(word).collect();
                let own = state.clone();
                let end = self
                    .doubting(true, |interpreter| interpreter.argv(words, false, span, Lookup::Programs, own))
                    .join(self);
                state.files = end.files;
                state
            }
            ScriptEffectKind::In { folder, what } => self.script_inside(language, setting, folder, *what, span, state),
            ScriptEffectKind::Eval(text) => self.script_eval(language, setting, &word(text), state),
            ScriptEffectKind::Load(path) => self.load(language, setting, &word(path), state),
            ScriptEffectKind::Chdir(path) => {
                let path = word(path);
                state.folders = match (path.known(), state.folders.certain()) {
                    (Some(path), Some(folder)) => Folders::one(absolute(path, folder)),
                    (Some(path), None) if path.starts_with('/') => Folders::one(absolute(path, "/")),
                    _ => Folders::unknown(),
                };
                state
            }
            what => self.script_file_effect(what, span, state),
        }
    }

    /// A text that a script gives to a shell.
    fn script_shell(&mut self, text: &Word, span: Span, mut state: ShellState) -> ShellState {
        self.doubting(true, |interpreter| {
            interpreter.inside("sh", |interpreter| {
                if text.known().is_none() {
                    let slot = interpreter.reserve();
                    let mut command =
                        Command::bare(vec![Word::new("sh", span), Word::new("-c", span), text.clone()], span, 0);
                    command.unseen_script = true;
                    let before = state.clone();
                    interpreter.record(slot, command, &before, &mut state);
                    return;
                }
                let shell = interpreter.process(&state, &[Word::new("sh", span)]);
                let fine = interpreter.failure.is_none();
                let end = interpreter.text_in(text, Reader::Sh, shell, state.clone()).join(interpreter);
                state.files = end.files;
                // What a stored program builds is read roughly; if no shell text comes of it, it is not known.
                if fine && interpreter.preexisting && !interpreter.exhausted && interpreter.failure.take().is_some() {
                    interpreter.unread = true;
                    let stamp = interpreter.change();
                    state.files.doubt_all(stamp);
                }
            });
        });
        state
    }

    /// What a script does in another folder and comes back from.
    fn script_inside(
        &mut self,
        language: Language,
        setting: &Setting,
        folder: scripts::Text,
        what: ScriptEffectKind,
        span: Span,
        mut state: ShellState,
    ) -> ShellState {
        if !is_told(&folder, &what, span, &state) {
            let text = scripts::Text::Shape(Value::HOLE.to_string());
            return self.script_effect(language, setting, ScriptEffectKind::Shell(text), span, state);
        }
        let outer = state.folders.clone();
        if let scripts::Text::Known(_) = folder {
            state = self.script_effect(language, setting, ScriptEffectKind::Chdir(folder), span, state);
        } else {
            // It may be the same one: what the text has put there is run there.
            (state.folders.known, state.folders.open) = (false, true);
        }
        let stamp = self.change();
        state.files.leave_folder(stamp);
        state = self.script_effect(language, setting, what, span, state);
        state.folders = outer;
        let stamp = self.change();
        state.files.leave_folder(stamp);
        state
    }

    /// A text that a script has its own interpreter run.
    fn script_eval(&mut self, language: Language, setting: &Setting, text: &Word, mut state: ShellState) -> ShellState {
        if text.known().is_none() {
            self.unread = true;
            let stamp = self.change();
            state.files.doubt_all(stamp);
            return state;
        }
        let name = self.via.last().cloned().unwrap_or_default();
        self.inside(&name, |interpreter| interpreter.source(language, text, setting.clone(), scripts::read_part, state))
    }

    /// What a script does to a file or sends.
    fn script_file_effect(&mut self, what: ScriptEffectKind, span: Span, mut state: ShellState) -> ShellState {
        let home = state.known("HOME");
        let slot = self.reserve();
        let before = state.clone();
        let command = Command::bare(Vec::new(), span, 0);
        self.record(slot, command, &before, &mut state);
        let effects = effects_of(what, span, &before, home.as_deref());
        if self.elsewhere {
            let effects = if self.fresh { Vec::new() } else { effects };
            if let Some(command) = self.commands.get_mut(slot) {
                command.effects_elsewhere = effects;
            }
        } else if self.runs(&before) != Runs::Never {
            self.apply(&effects, &mut state);
            if let Some(command) = self.commands.get_mut(slot) {
                command.effects = effects;
            }
        }
        state
    }
}

/// The files of the session that a script may run by its own words for that: those whose names stand in it, and those
/// in the folders that it lists.
fn named_files(
    language: Language,
    source: &str,
    script: &scripts::Script,
    setting: &Setting,
    state: &ShellState,
) -> Vec<String> {
    let loaders = LOADERS.iter().find(|(other, _)| *other == language).map_or(&[][..], |(_, words)| *words);
    if !state.files.has_written() || !loaders.iter().any(|word| source.contains(word)) {
        return Vec::new();
    }
    let endings = SOURCES.iter().find(|(other, _)| *other == language).map_or(&[][..], |(_, endings)| *endings);
    let is_source = |path: &String| endings.iter().any(|ending| path.ends_with(ending));
    let mut found = Vec::new();
    for effect in &script.effects {
        if let ScriptEffectKind::List(scripts::Text::Known(folder)) = &effect.what {
            let folders = imported_from(language, setting, folder, state);
            found.extend(folders.iter().flat_map(|folder| written_in(folder, state)).filter(is_source));
        }
    }
    // Python runs a file whatever its name is; what is read as data is in another language and does nothing.
    let any = language == Language::Python;
    // Which of them stand between quotes depends on what else has some.
    let texts = source.split(['"', '\'', '`']).filter(|text| text.contains(['/', '.']));
    for text in texts.filter(|text| !text.contains(char::is_whitespace)).take(MAX_NAMES) {
        let places = imported_from(language, setting, text, state);
        found.extend(places.into_iter().filter(|place| (any || is_source(place)) && is_written(place, state)));
    }
    found
}

/// Whether a script loads a module of which nothing is known.
fn loads_more(language: Language, effect: &scripts::ScriptEffect) -> bool {
    match &effect.what {
        ScriptEffectKind::Load(scripts::Text::Known(module)) => !scripts::is_known_module(language, module),
        ScriptEffectKind::Load(scripts::Text::Shape(_)) => true,
        _ => false,
    }
}

/// Whether a name is that of a module of Python, and not the path of a file.
fn is_module(language: Language, name: &str) -> bool {
    language == Language::Python && !name.contains('.') && !name.starts_with(['/', '~'])
}

/// The folders from which a package is looked for by its name.
fn resolved_from(setting: &Setting, state: &ShellState) -> Vec<String> {
    match &setting.origin {
        Origin::File(file) => parent(file).map(str::to_owned).into_iter().collect(),
        Origin::Text | Origin::Unknown => places(".", state),
    }
}

/// Where a file may be that a program loads: beside the one that names it, where it runs, and for Python, whose modules name each
/// other from where the first one is, in the folders above.
pub(super) fn imported_from(language: Language, setting: &Setting, path: &str, state: &ShellState) -> Vec<String> {
    const ABOVE: usize = 4;
    let own = match &setting.origin {
        Origin::File(file) => parent(file),
        Origin::Text | Origin::Unknown => None,
    };
    let above = if language == Language::Python { ABOVE } else { 1 };
    let around = std::iter::successors(own, |folder| parent(folder)).take(above);
    // A module is named with a point for each folder up, which stands as a slash there.
    let mut found: Vec<String> = around.map(|folder| absolute(path.trim_start_matches('/'), folder)).collect();
    found.extend(places(path, state));
    found.extend(elsewhere(path, state));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|place| seen.insert(place.clone()));
    found
}

/// The places of a module among the files of the session, wherever they are: variables, options and the script itself say where
/// modules are looked for.
fn elsewhere(path: &str, state: &ShellState) -> Vec<String> {
    const ENDINGS: &[&str] =
        &[".py", "/__init__.py", ".pm", ".js", ".mjs", ".cjs", "/index.js", "/package.json", ".rb"];
    if path.starts_with(['.', '/', '~']) {
        return Vec::new();
    }
    let name = path.strip_prefix(toolgate_scripts::PACKAGES).unwrap_or(path);
    let place = |file: &str| {
        let stems = ENDINGS.iter().filter_map(|ending| file.strip_suffix(ending));
        let is_named = |stem: &&str| stem.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'));
        stems.into_iter().find(is_named).map(str::to_owned)
    };
    state.files.written().chain(state.files.of_session()).filter_map(place).collect()
}

/// Whether it is told well enough what is done in a folder, where a part of that, or the folder, is not known: the program is,
/// and none that runs what it is given; the folder is one below this one, or nothing is known of it. Else a name that is not
/// known may be any in a place that is.
fn is_told(folder: &scripts::Text, what: &ScriptEffectKind, span: Span, state: &ShellState) -> bool {
    let here = match folder {
        scripts::Text::Known(folder) => {
            let within = |here| is_within(&absolute(folder, here), here);
            // Many rules are about folders of such names, and what is in them.
            let hidden = folder.split('/').any(|name| name.starts_with('.') && name != ".");
            !hidden && !folder.starts_with('~') && state.folders.certain().is_some_and(within)
        }
        scripts::Text::Shape(shape) => shape.chars().eq([Value::HOLE]),
    };
    here && match what {
        ScriptEffectKind::Run(words) => {
            let all: Vec<Word> = words.iter().map(|word| effect_word(word.clone(), span, None)).collect();
            let known = |word: &Word| word.known().is_some();
            all.first().is_some_and(known) && (all.iter().all(known) || wrapper::inner(&all).is_empty())
        }
        ScriptEffectKind::Shell(text) => matches!(text, scripts::Text::Known(_)),
        _ => false,
    }
}

/// What a script is given by these words; `more` may follow.
pub(super) fn arguments(words: &[Word], more: bool) -> Arguments {
    const MOST: usize = 64;
    let is_plain = |text: &str| !text.contains(|c: char| c < ' ');
    let told = |word: &Word| match &word.value {
        Value::Known(text) | Value::Pattern(text) if is_plain(text) => scripts::Text::Known(text.clone()),
        _ => scripts::Text::Shape(Value::HOLE.to_string()),
    };
    let mut all: Vec<_> = words.iter().take(MOST).map(told).collect();
    all.extend((more || words.len() > MOST).then(|| scripts::Text::Shape(Value::HOLE.to_string())));
    Arguments(all)
}

/// A text of a script as a word. The home folder, which it has as `~`, is put in its place; `None` if it is not known here.
fn effect_word(text: scripts::Text, span: Span, home: Option<&str>) -> Word {
    let (text, known) = match text {
        // A mark of xargs in a literal.
        scripts::Text::Known(text) if text.contains(Value::HOLE) => {
            return Word {
                value: Value::Unknown { why: Why::Argument, shape: text },
                ..Word::unknown(Why::Argument, span)
            };
        }
        scripts::Text::Known(text) => (text, true),
        scripts::Text::Shape(text) => (text, false),
    };
    let unknown = |why, shape| Word { value: Value::Unknown { why, shape }, ..Word::unknown(Why::Expansion, span) };
    let below = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below.map(|rest| (rest, home)), known) {
        (Some((rest, Some(home))), true) => Word::new(format!("{home}{rest}"), span),
        (Some((rest, Some(home))), false) => unknown(Why::Expansion, format!("{home}{rest}")),
        (Some((rest, None)), _) => unknown(Why::Home(String::new()), format!("{}{rest}", Value::HOLE)),
        (None, true) => Word::new(text, span),
        (None, false) => unknown(Why::Expansion, text),
    }
}

fn effects_of(what: ScriptEffectKind, span: Span, state: &ShellState, home: Option<&str>) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut add = |kind: EffectKind, path: scripts::Text, recursive: bool, folder: bool, copied: bool| {
        let word = effect_word(path, span, home);
        if kind == EffectKind::Send {
            effects.push(Effect::new(kind, word.value, span));
            return;
        }
        for (index, path) in located(&word.value, state).into_iter().enumerate() {
            effects.push(Effect { recursive, folder, copied, alternative: index > 0, ..Effect::new(kind, path, span) });
        }
    };
    match what {
        ScriptEffectKind::Read(path) => add(EffectKind::Read, path, false, false, false),
        ScriptEffectKind::List(path) => add(EffectKind::Read, path, false, true, false),
        ScriptEffectKind::Write(path) => add(EffectKind::Write, path, false, false, false),
        ScriptEffectKind::Append(path) => add(EffectKind::Append, path, false, false, false),
        ScriptEffectKind::HardLink(path) => add(EffectKind::HardLink, path, false, false, false),
        ScriptEffectKind::Create { path, folder } => add(EffectKind::Create, path, false, folder, false),
        ScriptEffectKind::Delete { path, recursive } => add(EffectKind::Delete, path, recursive, false, false),
        ScriptEffectKind::Empty(folder) => {
            let word = effect_word(folder, span, home);
            for (index, folder) in located(&word.value, state).into_iter().enumerate() {
                let Value::Known(folder) = folder else { continue };
                let all = Value::Pattern(format!("{}/*", escaped(folder.trim_end_matches('/'))));
                let effect = Effect::new(EffectKind::Delete, all, span);
                effects.push(Effect { recursive: true, alternative: index > 0, ..effect });
            }
        }
        ScriptEffectKind::Mode { path, .. } => add(EffectKind::Mode, path, false, false, false),
        ScriptEffectKind::Send(text) => add(EffectKind::Send, text, false, false, false),
        ScriptEffectKind::Move { from, to } => {
            add(EffectKind::Move, from, true, false, true);
            add(EffectKind::Write, to, false, false, false);
        }
        ScriptEffectKind::Copy { from, to } => {
            add(EffectKind::Read, from, false, false, true);
            add(EffectKind::Write, to, false, false, false);
        }
        ScriptEffectKind::Shell(_)
        | ScriptEffectKind::Run(_)
        | ScriptEffectKind::In { .. }
        | ScriptEffectKind::Eval(_)
        | ScriptEffectKind::Load(_)
        | ScriptEffectKind::Chdir(_)
        | ScriptEffectKind::Return => {}
    }
    effects
}

/// The paths that a text of another language stands for, by the directories that it may run in.
fn located(value: &Value, state: &ShellState) -> Vec<Value> {
    let text = value.text();
    let at = |folder: &str| value.with_text(absolute(text, folder));
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
