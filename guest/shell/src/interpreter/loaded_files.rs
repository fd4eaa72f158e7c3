//! Files that a program loads besides its script: by an option, because they lie where it looks, or in a language that is not read.
//! Only those count that the session wrote: the others are the project's own.

use std::rc::Rc;

use super::Interpreter;
use super::path_resolution::places;
use super::project::{Written, written_below};
use super::state::{Input, ShellState};
use crate::abstract_value::Text;
use crate::command::EffectKind;
use crate::compiled::language_of;
use crate::program_words::ProgramWords;
use crate::wrapper::{ContextChange, Language, NestedCommand, NestedKind, Times};
use toolgate_commands::{LoadedAs, Tests};
use toolgate_scripts::PACKAGES;
use toolgate_shell_syntax::glob::Pattern;
use toolgate_shell_syntax::path::{absolute, basename, is_within, parent};
use toolgate_shell_syntax::word::{Span, Why, Word};

/// Programs that run a script of Python besides python itself.
const STARTERS: &[&str] =
    &["coverage", "ipython", "kernprof", "pyinstrument", "scalene", "streamlit", "uv", "viztracer"];

/// Modules of Python that run the script or module behind their own options.
#[rustfmt::skip]
const RUNNERS: &[&str] = &["cProfile", "coverage", "kernprof", "line_profiler", "memory_profiler", "pdb", "profile", "scalene", "timeit", "trace", "viztracer"];

/// Modules of Python that load the tests of a folder.
const TESTERS: &[&str] = &["pytest", "unittest", "nose2"];

/// What a folder has for its beginning, for node.
const INDEXES: &[&str] = &["index.js", "index.mjs", "index.cjs"];

/// What node puts behind the name of a file that it is given.
const ENDINGS: &[&str] = &[".js", ".mjs", ".cjs", ".ts"];

/// Programs that run the file that they are given.
#[rustfmt::skip]
const SCRIPT_RUNNERS: &[&str] = &["awk", "bash", "bun", "dash", "deno", "lua", "node", "perl", "php", "python", "ruby", "sh", "tclsh", "ts-node", "tsx", "zsh"];

/// Interpreters in a language that is read by the names of its calls, and how files in it end. They run what they are
/// given to read.
const READERS: &[(&str, &str)] = &[("lua", "a.lua"), ("luajit", "a.lua"), ("tclsh", "a.tcl")];

/// Editors that take commands from their input with these options.
const EDITORS: &[&str] = &["nvim", "vi", "view", "vim"];

/// How many folders upwards a package is looked for that a name belongs to.
const MAX_ABOVE: usize = 8;

/// Longest name of a module that is looked for. Longer ones cannot be names of files.
const LONGEST_MODULE: usize = 255;

/// How many files one command is taken to load because of their names.
const MAX_FOUND: usize = 32;

/// Most lines that are looked at one by one.
const MAX_LINES: usize = 1_000;

impl Interpreter<'_> {
    /// What a program runs of files that the session wrote and that it loads.
    pub(super) fn by_loads(&mut self, name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let (program, arguments) = (basename(name), words.get(1..).unwrap_or_default());
        let span = words.first().map_or_else(Span::default, |first| first.span);
        let version = |c: char| c.is_ascii_digit() || c == '.';
        // What is measured stands in the words.
        let measures = arguments.iter().any(|word| matches!(word.known(), Some("timeit" | "-mtimeit")));
        if !state.files.has_written() && !measures {
            return Vec::new();
        }
        match program.trim_end_matches(version) {
            "python" | "pypy" => {
                let mut inner = at_start(arguments, span, state);
                inner.extend(self.by_module(arguments, span, state));
                return inner;
            }
            "perl" => return perl_modules(arguments, span, state),
            "pydoc" => return self.looked_at(arguments, span, state),
            "run-parts" => return self.parts_of(arguments, state),
            _ => {}
        }
        if matches!(program, "npx" | "pnpx" | "bunx") {
            return self.by_installed(arguments, state);
        }
        if STARTERS.contains(&program) {
            return self.behind_runner(arguments, state);
        }
        let by_input = self.by_input(program, words, state);
        if !by_input.is_empty() {
            return by_input;
        }
        let spec = toolgate_commands::find(program).or_else(|| toolgate_commands::find_runner(program));
        let Some(loads) = spec.and_then(|spec| spec.loads.as_ref()) else { return Vec::new() };
        let read = ProgramWords::read(program, arguments);
        let Some(folder) = state.folders.likely().map(str::to_owned) else { return Vec::new() };
        let place = |word: &Word| word.known().map(|path| (absolute(path, &folder), word.span));
        let mut files: Vec<(String, Span)> = read.values(loads.options).filter_map(place).collect();
        if let LoadedAs::Language(Language::Node) = loads.reads {
            let names: Vec<&Word> = read.values(loads.options).collect();
            for (name, span) in names.into_iter().filter_map(|word| Some((word.known()?, word.span))) {
                files.extend(self.of_package(name, &folder, state).into_iter().map(|path| (path, span)));
            }
        }
        let here = read.folder().and_then(place).map_or(folder.clone(), |(folder, _)| folder);
        let is_cmake = loads.reads == LoadedAs::Cmake;
        if !is_cmake || files.is_empty() {
            let operand = read.words().next().and_then(place).filter(|_| is_cmake);
            let folders = operand.map(|(folder, _)| folder).into_iter().chain([here]);
            files
                .extend(folders.flat_map(|folder| loads.names.iter().map(move |name| (absolute(name, &folder), span))));
        }
        match loads.tests {
            Tests::Never => {}
            Tests::With(option) if !read.has(option) => {
                let first = read.words().next().and_then(place).into_iter();
                files.extend(first.flat_map(|(path, span)| self.beginning(&path, span, state)));
            }
            Tests::Always | Tests::With(_) => {
                let given: Vec<String> = read.words().filter_map(Word::known).map(str::to_owned).collect();
                files.extend(tests(&given, &folder, state).into_iter().map(|path| (path, span)));
            }
        }
        let loaded: Vec<_> = files.into_iter().filter(|(path, _)| is_written(path, state)).collect();
        let mut inner: Vec<NestedCommand> =
            loaded.into_iter().flat_map(|(path, span)| self.loaded(words, loads.reads, &path, span, state)).collect();
        inner.extend(self.by_variables_of_node(&words[0], &read, &folder, state));
        inner
    }

    /// What a program runs of its input, which is its program.
    fn by_input(&mut self, program: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let arguments = words.get(1..).unwrap_or_default();
        let (text, span) = match &state.input {
            Input::Text(text, from) => (text.text.get(*from..).unwrap_or_default().to_owned(), text.span),
            Input::Stored(text) => (text.text.clone(), text.span),
            Input::Inherited | Input::Nothing | Input::Unseen(_) => return Vec::new(),
        };
        let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if let Some((_, file)) = READERS.iter().find(|(name, _)| *name == bare) {
            let is_script = arguments.iter().all(|word| word.known() == Some("-"));
            let acts = language_of(file).is_some_and(|language| language.acts(&text));
            return (is_script && acts).then(unseen).into_iter().collect();
        }
        let has = |letter: char| {
            let mut flags = arguments.iter().filter_map(Word::known).filter(|word| !word.starts_with("--"));
            flags.any(|word| word.strip_prefix('-').is_some_and(|letters| letters.contains(letter)))
        };
        if !EDITORS.contains(&program) || !has('s') || !(has('e') || has('E')) {
            return Vec::new();
        }
        lines_as(words, "-c", &text, span).into_iter().map(of_line).collect()
    }

    /// What node is told to load by a file of variables.
    fn by_variables_of_node(
        &mut self,
        node: &Word,
        read: &ProgramWords,
        folder: &str,
        state: &ShellState,
    ) -> Vec<NestedCommand> {
        let places: Vec<(String, Span)> = read
            .values(&["env-file", "env-file-if-exists"])
            .filter_map(|word| Some((absolute(word.known()?, folder), word.span)))
            .collect();
        let mut inner = Vec::new();
        for (path, span) in places {
            let text = match self.written(&path, span, state) {
                Written::Text(text) => text,
                Written::Unread => {
                    inner.push(unseen());
                    continue;
                }
                Written::Not => continue,
            };
            let options = text.text.lines().filter_map(|line| line.trim().strip_prefix("NODE_OPTIONS="));
            for options in options {
                let options = options.trim_matches(['"', '\'']).split_whitespace();
                // Node takes no further file of variables from there.
                let options = options.filter(|word| !word.starts_with("--env-file")).map(|word| Word::new(word, span));
                let words: Vec<Word> = std::iter::once(node.clone()).chain(options).collect();
                inner.extend(self.by_loads("node", &words, state));
            }
        }
        inner
    }

    /// `run-parts FOLDER`: the files that the session wrote there.
    fn parts_of(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let lists = |word: &Word| matches!(word.known(), Some("--list" | "--test"));
        let folder = arguments.iter().rev().find(|word| !word.text().starts_with('-'));
        let Some((folder, here)) = folder.filter(|_| !arguments.iter().any(lists)).zip(state.folders.likely()) else {
            return Vec::new();
        };
        let Some(path) = folder.known().map(|path| absolute(path, here)) else { return Vec::new() };
        let run = |file: String| {
            let words = vec![Word::new(file, folder.span)];
            NestedCommand { kind: NestedKind::Command { words, more: false }, change: perhaps() }
        };
        written_in(&path, state).into_iter().map(run).collect()
    }

    /// `pydoc NAME`: the modules that it imports to show what is in them.
    fn looked_at(&mut self, arguments: &[Word], span: Span, state: &ShellState) -> Vec<NestedCommand> {
        let names = arguments.iter().filter(|word| !word.text().starts_with('-'));
        names.flat_map(|name| self.by_module(&[Word::new("-m", span), name.clone()], span, state)).collect()
    }

    /// What comes of a file that is loaded.
    fn loaded(
        &mut self,
        words: &[Word],
        reads: LoadedAs,
        path: &str,
        span: Span,
        state: &ShellState,
    ) -> Vec<NestedCommand> {
        let text = match reads {
            LoadedAs::Language(language) => {
                let kind = NestedKind::Loaded { language, path: Word::new(path, span) };
                return vec![NestedCommand { kind, change: perhaps() }];
            }
            // gdb tells its own commands from Python's by the name.
            LoadedAs::Lines("-ex") if path.ends_with(".py") => return vec![python(path, span)],
            LoadedAs::Lines(_) | LoadedAs::Cmake => self.written(path, span, state),
        };
        let text: Rc<Text> = match text {
            // One that runs itself is read once.
            Written::Text(text) if self.loaded.iter().any(|(_, known)| Rc::ptr_eq(known, &text)) => return Vec::new(),
            Written::Text(text) => text,
            Written::Unread => return vec![unseen()],
            Written::Not => return Vec::new(),
        };
        let commands: Vec<Option<Vec<Word>>> = match reads {
            LoadedAs::Lines(option) => lines_as(words, option, &text.text, span),
            _ => crate::cmake::commands(&text.text)
                .into_iter()
                .map(|words| words.map(|words| crate::cmake::words(words, span)))
                .collect(),
        };
        let change = ContextChange { stored: self.is_earlier(&text), ..perhaps() };
        self.loaded.push((path.to_owned(), text));
        commands.into_iter().map(|words| NestedCommand { change: change.clone(), ..of_line(words) }).collect()
    }

    /// `python3 -m MODULE`
    fn by_module(&mut self, arguments: &[Word], span: Span, state: &ShellState) -> Vec<NestedCommand> {
        let Some((name, rest)) = module(arguments) else { return main_of_folder(arguments, state) };
        let (Some(name), Some(rest)) = (name, arguments.get(rest..)) else { return Vec::new() };
        if matches!(name, "inspect" | "pydoc" | "runpy") {
            let is_other = |word: &&Word| !matches!(word.known(), Some("inspect" | "pydoc" | "runpy"));
            let module = rest.iter().filter(|word| !word.text().starts_with('-')).skip_while(|word| !is_other(word));
            if module.clone().next().is_none() {
                return Vec::new();
            }
            let words: Vec<Word> = std::iter::once(Word::new("-m", span)).chain(module.cloned()).collect();
            return self.by_module(&words, span, state);
        }
        if name == "timeit" {
            return timed(rest);
        }
        if matches!(name, "zipapp" | "zipfile") {
            return packed(name, rest, state);
        }
        if name == "pickle" {
            let own = |word: &Word| word.known().is_some_and(|path| is_written_at(path, state));
            return rest.iter().any(own).then(unseen).into_iter().collect();
        }
        if TESTERS.contains(&name) {
            let test = Word::new("pytest", span);
            let rest = rest.iter().filter(|word| word.known() != Some("discover")).map(|word| match word.known() {
                // `tests.test_a`, `-s FOLDER`
                Some("-s") => Word::new("--", word.span),
                Some(text) if !text.contains('/') && !text.ends_with(".py") && name == "unittest" => {
                    Word::new(text.replace('.', "/"), word.span)
                }
                _ => word.clone(),
            });
            let words: Vec<Word> = std::iter::once(test).chain(rest).collect();
            let mut inner = self.by_loads("pytest", &words, state);
            if name == "unittest" {
                inner.extend(unittests(arguments, span, state));
            }
            return inner;
        }
        if name == "doctest" {
            return self.examples(rest, state);
        }
        if RUNNERS.contains(&name) {
            return self.behind_runner(behind_runners(rest), state);
        }
        let Some(folder) = state.folders.likely() else { return Vec::new() };
        if name.contains('/') {
            let path = absolute(name, folder);
            return is_written(&path, state).then(|| python(&path, span)).into_iter().collect();
        }
        let path = state.known("PYTHONPATH").unwrap_or_default();
        let roots: Vec<String> =
            path.split(':').filter(|part| !part.is_empty()).map(|part| absolute(part, folder)).collect();
        let roots = roots.iter().map(String::as_str).chain([folder]);
        let files: Vec<String> = roots.flat_map(|root| module_files(name, root)).collect();
        files.iter().filter(|file| is_written(file, state)).map(|file| python(file, span)).collect()
    }

    /// The examples in the files that `python3 -m doctest` is given, and the modules themselves.
    fn examples(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let Some(folder) = state.folders.likely().map(str::to_owned) else { return Vec::new() };
        let mut found = Vec::new();
        for word in arguments.iter().filter(|word| !word.text().starts_with('-')) {
            let Some(path) = word.known().map(|path| absolute(path, &folder)).filter(|path| is_written(path, state))
            else {
                continue;
            };
            if path.ends_with(".py") {
                found.push(python(&path, word.span));
            }
            let kind = match self.written(&path, word.span, state) {
                Written::Text(text) => {
                    let text = Word::new(examples(&text.text), word.span);
                    NestedKind::Inline { language: Language::Python, text, args: Vec::new() }
                }
                Written::Unread => NestedKind::Unseen,
                Written::Not => continue,
            };
            found.push(NestedCommand {
                kind,
                change: ContextChange { times: Times::Perhaps, ..ContextChange::default() },
            });
        }
        found
    }

    /// A script, or `-m MODULE`, behind the options of what measures or debugs it.
    fn behind_runner(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let Some(folder) = state.folders.likely() else { return Vec::new() };
        let file = arguments.iter().find(|word| word.known().is_some_and(|text| text.ends_with(".py")));
        match file.and_then(|word| Some((absolute(word.known()?, folder), word.span))) {
            Some((path, span)) if is_written(&path, state) => vec![python(&path, span)],
            Some(_) => Vec::new(),
            None => self.by_module(
                arguments
                    .get(usize::from(arguments.first().and_then(Word::known) == Some("run"))..)
                    .unwrap_or_default(),
                Span::default(),
                state,
            ),
        }
    }

    /// `npx NAME`: a program of that name that the session wrote.
    fn by_installed(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let Some(at) = arguments.iter().position(|word| !word.text().starts_with('-')) else { return Vec::new() };
        let (Some(name), Some(folder)) = (arguments[at].known(), state.folders.likely()) else { return Vec::new() };
        let path = absolute(&format!("node_modules/.bin/{name}"), folder);
        if name.contains('/') || !is_written(&path, state) {
            return Vec::new();
        }
        let program = Word::new(path, arguments[at].span);
        let words = std::iter::once(program).chain(arguments[at + 1..].iter().cloned()).collect();
        let change = ContextChange { times: Times::Perhaps, ..ContextChange::default() };
        vec![NestedCommand { kind: NestedKind::Command { words, more: false }, change }]
    }

    /// The files that node runs for a folder.
    fn beginning(&mut self, path: &str, span: Span, state: &ShellState) -> Vec<(String, Span)> {
        let package = match self.written(&absolute("package.json", path), span, state) {
            Written::Text(text) => serde_json::from_str::<serde_json::Value>(&text.text).ok(),
            _ => None,
        };
        let main = package.and_then(|package| package.get("main")?.as_str().map(str::to_owned));
        let names = main.into_iter().chain(INDEXES.iter().map(|name| (*name).to_owned()));
        let within = names.map(|name| absolute(&name, path));
        let named = ENDINGS.iter().map(|ending| format!("{path}{ending}"));
        within.chain(named).map(|path| (path, span)).collect()
    }

    /// The files that are said to be the beginning of a package of the session, and those that it gives to others.
    pub(super) fn mains_of(&mut self, folder: &str, span: Span, state: &ShellState) -> Vec<String> {
        let place = absolute("package.json", folder);
        if !is_written(&place, state) {
            return Vec::new();
        }
        let Written::Text(text) = self.written(&place, span, state) else { return Vec::new() };
        let package = serde_json::from_str::<serde_json::Value>(&text.text).unwrap_or_default();
        given_by(&package).into_iter().map(|path| absolute(&path, folder)).collect()
    }

    /// The files of the session that node finds for a name by the package which it stands in: `#x` among its imports,
    /// and its own name.
    pub(super) fn of_package(&mut self, name: &str, from: &str, state: &ShellState) -> Vec<String> {
        let name = name.strip_prefix(PACKAGES).unwrap_or(name);
        if name.starts_with(['.', '/', '~']) || name.is_empty() {
            return Vec::new();
        }
        let folders = std::iter::successors(Some(from), |folder| parent(folder)).take(MAX_ABOVE);
        for folder in folders {
            let Some(package) = self.package(folder, state) else { continue };
            let mut named = Vec::new();
            let own = package.get("name").and_then(serde_json::Value::as_str);
            if name.starts_with('#') {
                let imports = package.get("imports").and_then(serde_json::Value::as_object);
                let (key, whole) = (name.split('/').next().unwrap_or(name), name);
                // `#lib/*` is any of those below.
                let is_meant = |given: &str| given == whole || given.contains('*') && given.starts_with(key);
                let meant = imports.into_iter().flatten().filter(|(given, _)| is_meant(given));
                meant.for_each(|(_, value)| texts_of(value, &mut named));
            } else if own
                .is_some_and(|own| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
            {
                named = given_by(&package);
            }
            let found = named.iter().flat_map(|path| match_written(path, folder, state));
            // The nearest package is the one.
            return found.take(MAX_FOUND).collect();
        }
        Vec::new()
    }

    /// What is in the `package.json` of a folder, be it of the session or the project's own.
    fn package(&mut self, folder: &str, state: &ShellState) -> Option<serde_json::Value> {
        let place = absolute("package.json", folder);
        match self.written(&place, Span::default(), state) {
            Written::Text(text) => serde_json::from_str(&text.text).ok(),
            Written::Unread => None,
            Written::Not => serde_json::from_str(&self.untouched(&place, state)?).ok(),
        }
    }

    /// Whether a command loads or runs a file that the session wrote.
    pub(super) fn runs_written(&mut self, words: &[Word], state: &ShellState) -> bool {
        let Some(name) = words.first().and_then(Word::known).map(str::to_owned) else { return false };
        let own = |word: &Word| word.known().is_some_and(|path| is_written_at(path, state));
        let runs = name.contains('/') && words.first().is_some_and(own);
        let interprets =
            SCRIPT_RUNNERS.contains(&basename(&name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
        runs || interprets && words.iter().skip(1).any(own)
            || !self.by_loads(&name, words, state).is_empty()
            || !self.by_project(&name, words, state).is_empty()
    }

    /// Whether a command runs a file that the session wrote in a language that is not read: it may do anything, or what is in
    /// it names calls that do. What it compiles of such files is noted.
    pub(super) fn runs_unread(&mut self, slot: usize, state: &ShellState) -> bool {
        self.note_products(slot, state);
        let Some(command) = self.commands.get(slot).filter(|_| state.files.has_written()) else { return false };
        // What statements do is for whoever judges them.
        if command.program().and_then(toolgate_commands::find).is_some_and(|spec| spec.statements.is_some()) {
            return false;
        }
        let own = command.words.first().map(|first| first.span);
        let runs =
            command.effects.iter().filter(|effect| effect.kind == EffectKind::Execute && Some(effect.span) != own);
        let runs: Vec<(String, Span)> =
            runs.filter_map(|effect| Some((effect.path.known()?.to_owned(), effect.span))).collect();
        runs.into_iter().any(|(path, span)| match self.written(&path, span, state) {
            Written::Text(text) => language_of(&path).is_none_or(|language| language.acts(&text.text)),
            Written::Unread => true,
            Written::Not => false,
        })
    }
}

/// The modules that Python loads before anything else, if the session wrote them.
fn at_start(arguments: &[Word], span: Span, state: &ShellState) -> Vec<NestedCommand> {
    const NAMES: &[&str] = &["sitecustomize.py", "usercustomize.py"];
    if arguments.first().and_then(Word::known).is_some_and(|first| matches!(first, "-I" | "-S")) {
        return Vec::new();
    }
    let all = state.files.written().chain(state.files.of_session());
    all.filter(|path| NAMES.contains(&basename(path))).map(|path| python(path, span)).collect()
}

/// The modules that perl is told to load: `-MNAME`, and `-MNAME` in `PERL5OPT`.
fn perl_modules(arguments: &[Word], span: Span, state: &ShellState) -> Vec<NestedCommand> {
    let set = state.known("PERL5OPT").unwrap_or_default();
    let given = arguments.iter().filter_map(Word::known).chain(set.split_whitespace());
    let module = |word: &str| {
        let module = |name: &str| name.split(['=', ' ']).next().unwrap_or_default().replace("::", "/");
        // `-d:NAME` is `Devel::NAME`.
        if let Some(name) = word.strip_prefix("-d:").or_else(|| word.strip_prefix("-dt:")) {
            return Some(format!("Devel/{}", module(name)));
        }
        let name = word.strip_prefix("-M").or_else(|| word.strip_prefix("-m"))?;
        Some(module(name.trim_start_matches('-')))
    };
    let modules: Vec<String> = given.filter_map(module).filter(|name| !name.is_empty()).collect();
    let load = |name: String| {
        let kind = NestedKind::Loaded { language: Language::Perl, path: Word::new(name, span) };
        NestedCommand { kind, change: ContextChange { times: Times::Perhaps, ..ContextChange::default() } }
    };
    modules.into_iter().map(load).collect()
}

/// The module that Python is told to run, if it is known, and the number of the word behind it. `None` if it runs something else.
fn module(arguments: &[Word]) -> Option<(Option<&str>, usize)> {
    let mut at = 0;
    loop {
        let word = arguments.get(at)?;
        let text = word.known()?.strip_prefix('-')?;
        at += 1;
        if text.starts_with('-') {
            at += usize::from(text == "-check-hash-based-pycs");
            continue;
        }
        let Some(letter) = text.find(['c', 'm', 'W', 'X']) else { continue };
        let (value, is_attached) = (&text[letter + 1..], text.len() > letter + 1);
        match text.as_bytes()[letter] {
            b'c' => return None,
            b'm' if is_attached => return Some((Some(value), at)),
            b'm' => return Some((arguments.get(at).and_then(Word::known), at + 1)),
            _ => at += usize::from(!is_attached),
        }
    }
}

/// The words behind further runners, of which each runs the next one: `-m pdb -m coverage run -m a`.
fn behind_runners(mut arguments: &[Word]) -> &[Word] {
    loop {
        let is_run = arguments.first().and_then(Word::known) == Some("run");
        let rest = arguments.get(usize::from(is_run)..).unwrap_or_default();
        match module(rest) {
            Some((Some(name), at)) if RUNNERS.contains(&name) => arguments = rest.get(at..).unwrap_or_default(),
            _ => return arguments,
        }
    }
}

/// The files that may be a module below a folder, and those of the packages around it.
fn module_files(name: &str, root: &str) -> Vec<String> {
    if name.len() > LONGEST_MODULE {
        return Vec::new();
    }
    let path = absolute(&name.replace('.', "/"), root);
    let packages = name.match_indices('.').map(|(at, _)| absolute(&name[..at].replace('.', "/"), root));
    let packages = packages.map(|package| format!("{package}/__init__.py"));
    packages.chain([format!("{path}.py"), format!("{path}/__init__.py"), format!("{path}/__main__.py")]).collect()
}

/// The examples of a text for doctest, one below the other: what stands behind `>>> ` and `... `.
pub(super) fn examples(text: &str) -> String {
    let code = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix(">>> ").or_else(|| line.strip_prefix("... ")).map(str::to_owned)
    };
    text.lines().filter_map(code).collect::<Vec<_>>().join("\n")
}

/// The statements that `python -m timeit` measures: its operands, and those before and between them.
fn timed(arguments: &[Word]) -> Vec<NestedCommand> {
    let read = ProgramWords::read("timeit", arguments);
    let texts = read.values(&["s", "setup"]).chain(read.words());
    let text: Vec<&str> = texts.map(Word::text).collect();
    let Some(first) = arguments.first().filter(|_| !text.is_empty()) else { return Vec::new() };
    let text = match arguments.iter().all(|word| word.known().is_some()) {
        true => Word::new(text.join("\n"), first.span),
        false => Word::unknown(Why::Expansion, first.span),
    };
    let kind = NestedKind::Inline { language: Language::Python, text, args: Vec::new() };
    vec![NestedCommand { kind, change: ContextChange { times: Times::Perhaps, ..ContextChange::default() } }]
}

/// What an archive runs that `python3 -m zipapp FOLDER` or `-m zipfile -c FILE WHAT ..` makes: it is judged when it is
/// packed.
fn packed(name: &str, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
    const MAIN: &str = "__main__.py";
    let creates = |word: &Word| matches!(word.known(), Some("-c" | "--create"));
    let Some(here) = state.folders.likely().filter(|_| name == "zipapp" || arguments.iter().any(creates)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for word in arguments.iter().filter(|word| !word.text().starts_with('-')) {
        let Some(path) = word.known().map(|path| absolute(path, here)) else { continue };
        let own = if basename(&path) == MAIN { path.clone() } else { absolute(MAIN, &path) };
        let starts = is_written(&own, state).then_some(own);
        // `-m PACKAGE:FUNCTION` starts any of those in it.
        let all = written_below(&path, state).into_iter().filter(|path| path.ends_with(".py"));
        let chosen: Vec<String> = match starts {
            Some(own) => vec![own],
            None if name == "zipapp" => all.collect(),
            None => Vec::new(),
        };
        found.extend(chosen.iter().map(|path| python(path, word.span)));
    }
    found
}

/// The files of the session among what `python3 -m unittest` loads by its own ways: by a pattern, and by the dotted
/// names of a class or a test, with the packages around.
fn unittests(arguments: &[Word], span: Span, state: &ShellState) -> Vec<NestedCommand> {
    let Some(folder) = state.folders.likely() else { return Vec::new() };
    let words: Vec<&str> = arguments.iter().filter_map(Word::known).collect();
    let after = words.iter().position(|word| word.ends_with("unittest")).map_or(0, |at| at + 1);
    let words = words.get(after..).unwrap_or_default();
    let mut files = Vec::new();
    for word in words.iter().filter(|word| !word.starts_with('-') && word.len() <= LONGEST_MODULE) {
        let ends = word.match_indices('.').map(|(at, _)| at).chain([word.len()]);
        files.extend(ends.flat_map(|end| module_files(&word[..end], folder)));
    }
    let attached = |word: &&str| word.strip_prefix("--pattern=").or_else(|| word.strip_prefix("-p")).map(str::to_owned);
    let behind = words.windows(2).filter(|pair| matches!(pair[0], "-p" | "--pattern")).map(|pair| pair[1].to_owned());
    let globs = words.iter().filter(|word| !word.starts_with('-') && word.contains('*')).map(|word| (*word).to_owned());
    let given = words.iter().filter_map(attached).filter(|glob| !glob.is_empty()).chain(behind).chain(globs);
    let patterns: Vec<Pattern> = given.filter_map(|glob| Pattern::new(&glob)).collect();
    let is_meant = |path: &str| patterns.iter().any(|pattern| pattern.matches(basename(path)));
    files.extend(written_below(folder, state).into_iter().filter(|path| is_meant(path)));
    files.retain(|path| is_written(path, state));
    files.sort_unstable();
    files.dedup();
    files.iter().map(|path| python(path, span)).collect()
}

/// The files that a package says are its beginning, or may be loaded of it.
fn given_by(package: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    for key in ["main", "exports"] {
        package.get(key).into_iter().for_each(|value| texts_of(value, &mut found));
    }
    found
}

/// All texts in a value, by whatever conditions.
fn texts_of(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) if found.len() < MAX_FOUND => found.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts_of(item, found)),
        serde_json::Value::Object(entries) => entries.values().for_each(|item| texts_of(item, found)),
        _ => {}
    }
}

/// The files of the session that a path of a package stands for, in which `*` is any.
fn match_written(path: &str, folder: &str, state: &ShellState) -> Vec<String> {
    let place = absolute(path, folder);
    if !path.contains('*') {
        return is_written(&place, state).then_some(place).into_iter().collect();
    }
    let Some(pattern) = Pattern::new(&place) else { return Vec::new() };
    written_below(folder, state).into_iter().filter(|path| pattern.matches(path)).collect()
}

/// The files of the session directly in a folder.
pub(super) fn written_in(folder: &str, state: &ShellState) -> Vec<String> {
    written_below(folder, state).into_iter().filter(|path| parent(path) == Some(folder)).collect()
}

/// Whether the session wrote a file that a path may lead to.
fn is_written_at(path: &str, state: &ShellState) -> bool {
    places(path, state).iter().any(|place| is_written(place, state))
}

/// The lines of a text as values of an option of the program that reads them. What comes after so many is not known.
fn lines_as(words: &[Word], option: &str, text: &str, span: Span) -> Vec<Option<Vec<Word>>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let command = |line: &str| [words.first().cloned(), Some(Word::new(option, span)), Some(Word::new(line, span))];
    let command = |(at, line): (usize, &str)| (at < MAX_LINES).then(|| command(line).into_iter().flatten().collect());
    lines.enumerate().take(MAX_LINES + 1).map(command).collect()
}

/// What is run for a line, if it is known.
fn of_line(words: Option<Vec<Word>>) -> NestedCommand {
    let kind = words.map_or(NestedKind::Unseen, |words| NestedKind::Command { words, more: false });
    NestedCommand { kind, change: perhaps() }
}

/// Something that is not known.
fn unseen() -> NestedCommand {
    NestedCommand { kind: NestedKind::Unseen, change: perhaps() }
}

/// It may be run or not.
fn perhaps() -> ContextChange {
    ContextChange { times: Times::Perhaps, ..ContextChange::default() }
}

/// A file of Python that something loads.
fn python(path: &str, span: Span) -> NestedCommand {
    let kind = NestedKind::Loaded { language: Language::Python, path: Word::new(path, span) };
    NestedCommand { kind, change: perhaps() }
}

/// Whether the text or an earlier one of the session wrote a file.
pub(super) fn is_written(path: &str, state: &ShellState) -> bool {
    let made = state.files.made(path).is_some_and(|made| !made.preexisting && (made.content.is_some() || made.unread));
    made || state.files.is_of_session(path)
}

/// `python3 FOLDER`: the file that it runs there.
fn main_of_folder(arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
    let read = ProgramWords::read("python", arguments);
    let (Some(first), Some(folder)) = (read.words().next(), state.folders.likely()) else { return Vec::new() };
    let path = first.known().map(|name| absolute(&format!("{name}/__main__.py"), folder));
    path.filter(|path| is_written(path, state)).map(|path| python(&path, first.span)).into_iter().collect()
}

/// The files that the session wrote and that a runner of tests finds there.
fn tests(given: &[String], folder: &str, state: &ShellState) -> Vec<String> {
    let named: Vec<String> =
        given.iter().map(|path| absolute(path.split("::").next().unwrap_or(path), folder)).collect();
    let is_test = |path: &str| {
        let name = basename(path);
        let stem = name.split('.').next().unwrap_or(name);
        let marked = [".test.", ".spec.", "-test.", "_test.", "_spec."].iter().any(|mark| name.contains(mark));
        let begins =
            ["test_", "test-"].iter().any(|begin| name.starts_with(begin)) || stem == "test" || stem == "conftest";
        marked || begins || name.ends_with(".t") || path.contains("/test/") || path.contains("/__tests__/")
    };
    // `tests/test_a` for `tests/test_a.py`
    let is_named = |path: &str| named.iter().any(|given| path == given || path.strip_suffix(".py") == Some(given));
    let within = |path: &str| named.iter().any(|folder| is_within(path, folder)) || basename(path) == "conftest.py";
    let written = || state.files.written().chain(state.files.of_session());
    let chosen = written().filter(|path| is_named(path) || is_test(path) && within(path));
    let mut found: Vec<String> = chosen.map(str::to_owned).collect();
    // Other words are subcommands, or a part of a name.
    if !found.iter().any(|path| basename(path) != "conftest.py") {
        found = written().filter(|path| is_test(path) && is_within(path, folder)).map(str::to_owned).collect();
    }
    // The newest are the last.
    found.drain(..found.len().saturating_sub(MAX_FOUND));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_is_found_behind_options_with_values() {
        for (arguments, expected) in [
            ("-m fix", Some(("fix", 2))),
            ("-W ignore -m fix x", Some(("fix", 4))),
            ("-Wignore -X dev -m pkg.run", Some(("pkg.run", 5))),
            ("-Bm fix", Some(("fix", 2))),
            ("-umfix a", Some(("fix", 1))),
            ("-I -S --check-hash-based-pycs never -m fix", Some(("fix", 6))),
            ("-c pass -m fix", None),
            ("a.py -m fix", None),
            ("", None),
        ] {
            let words: Vec<Word> = arguments.split_whitespace().map(|word| Word::new(word, Span::default())).collect();
            let found = module(&words).and_then(|(name, rest)| Some((name?, rest)));
            assert_eq!(found, expected, "{arguments}");
        }
    }

    #[test]
    fn runners_of_runners_are_passed_by() {
        for (arguments, expected) in [
            ("-m pdb -m coverage run -m a b", "run -m a b"),
            ("-m pdb -m pdb a.py", "a.py"),
            ("a.py", "a.py"),
            ("run a.py", "run a.py"),
            ("", ""),
        ] {
            let words: Vec<Word> = arguments.split_whitespace().map(|word| Word::new(word, Span::default())).collect();
            let found: Vec<&str> = behind_runners(&words).iter().filter_map(Word::known).collect();
            assert_eq!(found.join(" "), expected, "{arguments}");
        }
    }

    #[test]
    fn packages_around_a_module_are_loaded_with_it() {
        let files = module_files("a.b", "/w");
        assert_eq!(files, ["/w/a/__init__.py", "/w/a/b.py", "/w/a/b/__init__.py", "/w/a/b/__main__.py"]);
    }

    #[test]
    fn examples_are_what_stands_behind_their_marks() {
        assert_eq!(
            examples("Text\n    >>> import os\n    >>> if x:\n    ...     os.remove(y)\n    3\n"),
            "import os\nif x:\n    os.remove(y)"
        );
    }
}
