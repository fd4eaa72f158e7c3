//! Files of a project that say what a tool runs, where the text itself or an earlier one of the session wrote them: makefiles,
//! justfiles, `package.json`.
//!
//! What was there before is the project's own and not read here. What the session wrote and cannot be read is unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::path_resolution::places;
use super::state::{Input, ShellState};
use super::{Interpreter, MAX_OF_SESSION};
use crate::abstract_value::{Content, Text};
use crate::facts::FileOracle as _;
use crate::just;
use crate::make::{self, Line};
use crate::program_words::ProgramWords;
use crate::wrapper::{ContextChange, Directory, Language, NestedCommand, NestedKind, Times};
use toolgate_shell_syntax::glob::Pattern;
use toolgate_shell_syntax::path::{absolute, basename, is_stdin, is_within, parent};
use toolgate_shell_syntax::word::{Span, Value, Why, Word, in_quotes};

/// How deep the project's own files may have each other run.
const MAX_PROJECT_DEPTH: usize = 3;

/// How many commands of the project's own are looked at for one that runs it.
const MAX_PIECES: usize = 64;

/// With these make runs no recipes.
const DRY: &[&str] = &["n", "q", "t"];

/// With these just runs no recipes.
#[rustfmt::skip]
const LISTS: &[&str] = &[
    "list", "dry-run", "show", "summary", "edit", "dump", "fmt", "variables", "groups", "init", "usage", "completions",
];

/// The option with which make and just are told where their file is.
const FILES: &[&str] = &["f"];

/// What make looks for, in this order.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// What just looks for, here and in the folders around.
const JUSTFILES: &[&str] = &["justfile", ".justfile", "Justfile", "JUSTFILE"];

/// Subcommands that run scripts of these names.
#[rustfmt::skip]
const LIFECYCLE: &[(&str, &[&str])] = &[
    ("test t tst", &["test"]),
    ("start", &["start"]),
    ("stop", &["stop"]),
    ("restart", &["stop", "restart", "start"]),
    ("install i in add ci install-test it update up rebuild", &["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"]),
    ("pack publish", &["prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"]),
    ("version", &["preversion", "version", "postversion"]),
    ("uninstall remove rm", &["preuninstall", "uninstall", "postuninstall"]),
];

/// Programs of packages that are often run by their name alone, as `pnpm prisma db push`: no package manager has subcommands
/// of these names, and hardly a project has scripts of them.
#[rustfmt::skip]
const BINARIES: &[&str] = &[
    "prisma", "drizzle-kit", "knex", "sequelize", "sequelize-cli", "typeorm", "mikro-orm", "db-migrate", "payload", "supabase",
    "wrangler", "vercel", "netlify", "firebase", "serverless", "sls", "sst", "cdk", "cdktf", "railway", "neonctl", "convex", "sanity",
    "lerna", "changeset", "semantic-release", "release-it", "np", "vsce", "ovsx", "eas", "gh-pages", "surge", "rimraf", "del-cli",
    "shx", "tsx", "ts-node",
];

impl Interpreter<'_> {
    /// What a build tool runs because the text wrote so into a file.
    pub(super) fn by_project(&mut self, name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let arguments = words.get(1..).unwrap_or_default();
        let span = words.first().map_or_else(Span::default, |first| first.span);
        let name = toolgate_shell_syntax::path::basename(name);
        match name {
            "make" | "gmake" => {
                let mut inner = self.by_makefile(arguments, state);
                inner.extend(self.by_own_rules(arguments, span, state));
                inner
            }
            "just" => self.by_justfile(arguments, state),
            "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" => match set_scripts(name, arguments) {
                found if found.is_empty() => self.by_package(name, arguments, state),
                found => found,
            },
            "composer" => set_scripts(name, arguments),
            "node" => {
                let at = arguments.iter().position(|word| word.known() == Some("--run"));
                let script = at.and_then(|at| arguments.get(at + 1)).and_then(Word::known);
                script.map(|script| self.scripts(Some(&[script]), None, &[], (span, state))).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// What make compiles by rules of its own: `make x` of `x.c`, if the session wrote that.
    fn by_own_rules(&mut self, arguments: &[Word], span: Span, state: &ShellState) -> Vec<NestedCommand> {
        const ENDINGS: &[(&str, &str)] = &[(".c", "cc"), (".cc", "c++"), (".cpp", "c++")];
        let read = ProgramWords::read("make", arguments);
        if read.runs_nothing(DRY) {
            return Vec::new();
        }
        let goals: Vec<&str> = read.words().filter_map(Word::known).filter(|goal| !goal.contains('=')).collect();
        let mut inner = Vec::new();
        for folder in folders(read.folder(), state) {
            for (goal, (ending, compiler)) in
                goals.iter().flat_map(|goal| ENDINGS.iter().map(move |ending| (goal, ending)))
            {
                let place = absolute(goal, &folder);
                let source = format!("{place}{ending}");
                if matches!(self.written(&source, span, state), Written::Not) {
                    continue;
                }
                let words = [(*compiler).to_owned(), source, "-o".to_owned(), place];
                let words = words.into_iter().map(|word| Word::new(word, span)).collect();
                let change = ContextChange { times: Times::Perhaps, ..ContextChange::default() };
                inner.push(NestedCommand { kind: NestedKind::Command { words, more: false }, change });
            }
        }
        inner
    }

    fn by_makefile(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let read = ProgramWords::read("make", arguments);
        let span = arguments.first().map_or_else(Default::default, |first| first.span);
        let mut change = ContextChange {
            cwd: read.folder().cloned().map(Directory::Word),
            times: Times::Perhaps,
            ..ContextChange::default()
        };
        let flags = ["MAKEFLAGS", "GNUMAKEFLAGS"];
        let is_set = |name: &str| state.get(name).is_some_and(|variable| variable.exported == Some(true));
        // What they make of any makefile is not read.
        let mut unknown = is_set("MAKEFILES")
            || flags.iter().any(|name| is_set(name) && !exported(name, state).is_some_and(|it| make::plain_flags(&it)))
            || read.has("eval");
        let (mut texts, unread, stored) = self.makefiles(&read, span, state);
        unknown |= unread;
        change.stored = stored;
        texts.retain(|text| !text.trim().is_empty());
        let has_texts = !texts.is_empty();
        unknown |= has_texts && (read.has("e") || read.has("environment-overrides"));
        if !self.afford(texts.iter().map(String::len).sum()) {
            unknown = true;
            texts.clear();
        }
        let mut request = make::Request { dry: read.runs_nothing(DRY), ..make::Request::default() };
        request.files.extend(MAKEFILES.map(str::to_owned));
        request.files.extend(read.values(FILES).filter_map(Word::known).map(str::to_owned));
        for word in read.words() {
            match word.known().map(|text| (text, text.split_once('='))) {
                Some((_, Some((name, value)))) => {
                    unknown |= has_texts
                        && value.contains('$')
                        && (name.ends_with([':', '?', '+']) || value.contains("shell"));
                    unknown |= has_texts && name.ends_with('!');
                    let name = name.trim_end_matches([':', '?', '+']).to_owned();
                    request.given.insert(name, value.to_owned());
                }
                Some((goal, None)) => request.goals.push(goal.to_owned()),
                None => unknown |= has_texts && !change.stored,
            }
        }
        change.set.extend(
            request.given.iter().map(|(name, value)| (name.clone(), Word::new(value.replace("$$", "$"), span))),
        );
        if !has_texts && !unknown {
            return self.by_own_makefile(&read, &request, &change, span, state);
        }
        let mut kinds = Vec::new();
        for text in &texts {
            self.recipes(text, &request, span, state, &mut change, &mut kinds);
        }
        kinds.extend(unknown.then_some(NestedKind::Unseen));
        kinds.into_iter().map(|kind| NestedCommand { kind, change: change.clone() }).collect()
    }

    /// What is in the makefiles of the session; whether there are some that cannot be read, and some that were there before.
    fn makefiles(&mut self, read: &ProgramWords, span: Span, state: &ShellState) -> (Vec<String>, bool, bool) {
        let (mut texts, mut unread, mut stored) = (Vec::new(), false, false);
        for folder in folders(read.folder(), state) {
            let mut take = |interpreter: &Self, written: Written| match written {
                Written::Text(found) => {
                    stored |= interpreter.is_earlier(&found);
                    found.text.clone() + "\n"
                }
                Written::Unread => {
                    unread = true;
                    String::new()
                }
                Written::Not => String::new(),
            };
            // Those that are named count as one.
            let mut text = String::new();
            for file in read.values(FILES) {
                let written = self.makefile(file, &folder, span, state);
                text.push_str(&take(self, written));
            }
            texts.push(text);
            for name in MAKEFILES.iter().filter(|_| read.values(FILES).next().is_none()) {
                let place = absolute(name, &folder);
                let written = self.written(&place, span, state);
                texts.push(take(self, written));
            }
        }
        (texts, unread, stored)
    }

    /// What is in a file of the project that the session left as it was, where that wrote others that it may have run.
    pub(super) fn untouched(&mut self, path: &str, state: &ShellState) -> Option<Rc<str>> {
        if self.elsewhere || !state.files.has_written() || self.project_depth >= MAX_PROJECT_DEPTH {
            return None;
        }
        self.stored(path, state)
    }

    /// Those of the project's own commands that load or run a file of the session.
    fn loading(
        &mut self,
        texts: &[String],
        span: Span,
        change: &ContextChange,
        state: &ShellState,
    ) -> Vec<NestedCommand> {
        self.project_depth += 1;
        let mut inner = Vec::new();
        let pieces = texts.iter().flat_map(|text| text.split(['\n', ';', '&', '|'])).map(str::trim);
        for piece in pieces.filter(|piece| !piece.is_empty()).take(MAX_PIECES) {
            let is_assignment =
                |word: &&str| word.split_once('=').is_some_and(|(name, _)| toolgate_shell_syntax::word::is_name(name));
            let words = piece.split_whitespace().skip_while(is_assignment);
            let words: Vec<Word> = words.map(|word| Word::new(word.trim_matches(['"', '\'']), span)).collect();
            if self.runs_written(&words, state) {
                let kind = NestedKind::Text { text: Word::new(piece, span), args: Vec::new() };
                inner.push(NestedCommand { kind, change: change.clone() });
            }
        }
        self.project_depth -= 1;
        inner
    }

    /// What make runs of a makefile that the session left as it was: what it includes of the session, and what loads files of it.
    fn by_own_makefile(
        &mut self,
        read: &ProgramWords,
        request: &make::Request,
        change: &ContextChange,
        span: Span,
        state: &ShellState,
    ) -> Vec<NestedCommand> {
        let mut inner = Vec::new();
        for folder in folders(read.folder(), state) {
            let mut named: Vec<String> =
                read.values(FILES).filter_map(Word::known).map(|file| absolute(file, &folder)).collect();
            if read.values(FILES).next().is_none() {
                named.extend(MAKEFILES.iter().map(|name| absolute(name, &folder)));
            }
            let Some(own) = named.iter().find_map(|file| self.untouched(file, state)) else { continue };
            let own_lines = make::roughly(&own, request).lines;
            let whole = self.with_included(&own, request, span, state);
            let more = make::roughly(&whole, request).lines;
            let more = more.into_iter().filter(|line| !own_lines.contains(line));
            let run = |text| NestedKind::Text { text: Word::new(text, span), args: Vec::new() };
            inner.extend(more.map(|text| NestedCommand { kind: run(text), change: change.clone() }));
            inner.extend(self.loading(&own_lines, span, change, state));
        }
        inner
    }

    /// What make runs of a makefile.
    fn recipes(
        &mut self,
        text: &str,
        request: &make::Request,
        span: Span,
        state: &ShellState,
        change: &mut ContextChange,
        kinds: &mut Vec<NestedKind>,
    ) {
        let run = |text: String| NestedKind::Text { text: Word::new(text, span), args: Vec::new() };
        let lines = make::lines(text, request, &|name: &str| exported(name, state));
        // What a project's own makefile is that the session has changed needs make as a rule.
        if change.stored && lines.contains(&Line::Unknown) {
            let rough = make::roughly(&self.with_included(text, request, span, state), request);
            kinds.extend(rough.lines.iter().any(|line| make::removes_unknown(line)).then_some(NestedKind::Unseen));
            change.set.extend(rough.unknown.into_iter().map(|name| (name, Word::unknown(Why::CommandOutput, span))));
            kinds.extend(rough.lines.into_iter().map(run));
        } else {
            kinds.extend(lines.into_iter().map(|line| match line {
                Line::Known(text) => run(text),
                Line::Unknown => NestedKind::Unseen,
            }));
        }
    }

    /// A makefile with the files that it includes, as far as the session wrote those. Of a name that is not known, or a
    /// pattern, each that it may be counts.
    fn with_included(&mut self, text: &str, request: &make::Request, span: Span, state: &ShellState) -> String {
        const MAX_INCLUDES: usize = 4;
        /// Most different names that are looked for.
        const MAX_NAMES: usize = 256;
        let mut whole = text.replace("\\\n", " ");
        let mut seen = BTreeSet::new();
        for _ in 0..MAX_INCLUDES {
            let mut found: BTreeMap<usize, String> = BTreeMap::new();
            let mut named = BTreeSet::new();
            for (line, name) in make::included(&whole, request) {
                if named.len() >= MAX_NAMES || !named.insert(name.clone()) {
                    continue;
                }
                let files = places(&name, state).into_iter().flat_map(|place| matching(&place, state));
                for file in files.collect::<Vec<_>>() {
                    if !seen.insert(file.clone()) {
                        continue;
                    }
                    if let Written::Text(content) = self.written(&file, span, state) {
                        let text = found.entry(line).or_default();
                        text.push('\n');
                        text.push_str(&content.text.replace("\\\n", " "));
                    }
                }
            }
            if found.is_empty() {
                break;
            }
            let lines = whole.lines().enumerate();
            let lines = lines.map(|(at, line)| format!("{line}{}\n", found.remove(&at).unwrap_or_default()));
            whole = lines.collect();
        }
        whole
    }

    /// What is in a file that make is told to read; its standard input is one.
    fn makefile(&mut self, file: &Word, folder: &str, span: Span, state: &ShellState) -> Written {
        let from_input = |name: &str| name == "-" || is_stdin(name);
        match (file.known(), &state.input) {
            (Some(name), Input::Text(input, from)) if from_input(name) => {
                let text = input.text.get(*from..).unwrap_or_default().to_owned();
                Written::Text(Rc::new(Text { text, span, at: None }))
            }
            (Some(name), Input::Unseen(_) | Input::Inherited) if from_input(name) => Written::Unread,
            (Some(name), Input::Nothing) if from_input(name) => Written::Not,
            (None, _) => Written::Unread,
            (Some(name), _) => self.written(&absolute(name, folder), span, state),
        }
    }

    fn by_justfile(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let read = ProgramWords::read_until_operand("just", arguments);
        if read.runs_nothing(LISTS) {
            return Vec::new();
        }
        let span = arguments.first().map_or_else(Default::default, |first| first.span);
        let words: Option<Vec<&str>> = read.words().map(Word::known).collect();
        let words = words.filter(|_| !read.has("set"));
        let mut inner = Vec::new();
        for folder in folders(None, state) {
            let paths: Vec<String> = match read.values(FILES).last() {
                Some(file) => file.known().map(|file| absolute(file, &folder)).into_iter().collect(),
                None => std::iter::successors(Some(folder.as_str()), |&folder| parent(folder))
                    .flat_map(|folder| JUSTFILES.iter().map(move |name| absolute(name, folder)))
                    .collect(),
            };
            let found = paths.into_iter().find_map(|path| match self.written(&path, span, state) {
                Written::Not => None,
                found => Some((path, found)),
            });
            let Some((path, found)) = found else { continue };
            let own = || Word::new(parent(&path).unwrap_or("/"), span);
            let cwd = Some(Directory::Word(read.folder().cloned().unwrap_or_else(own)));
            let stored = matches!(&found, Written::Text(content) if self.is_earlier(content));
            let change = ContextChange { cwd, stored, times: Times::Perhaps, ..ContextChange::default() };
            match (found, &words) {
                (Written::Text(content), Some(words)) if self.afford(content.text.len()) => {
                    let lines = just::lines(&content.text, words, parent(&path).unwrap_or("/")).into_iter();
                    inner.extend(
                        lines.map(|line| NestedCommand { kind: of_recipe(line, span), change: change.clone() }),
                    );
                }
                _ => inner.push(NestedCommand { kind: NestedKind::Unseen, change }),
            }
        }
        inner
    }

    fn by_package(&mut self, program: &str, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let read = ProgramWords::read(program, arguments);
        let start = behind_workspace(program, &read);
        // Behind an option that no spec lists, its value may stand before the subcommand.
        (start..read.operands.len())
            .take_while(|at| *at == start || read.operands[at - 1].perhaps_value)
            .flat_map(|at| self.by_subcommand((program, arguments), &read, at, state))
            .collect()
    }

    /// What a package manager runs if its subcommand is the operand at this place.
    fn by_subcommand(
        &mut self,
        (program, arguments): (&str, &[Word]),
        read: &ProgramWords,
        at: usize,
        state: &ShellState,
    ) -> Vec<NestedCommand> {
        let words: Vec<&Word> = read.words().skip(at).collect();
        let Some((first, behind)) = words.split_first() else { return Vec::new() };
        let lifecycle = |first: &str| LIFECYCLE.iter().find(|(names, _)| names.split(' ').any(|name| name == first));
        let scripts: Vec<(Option<Vec<&str>>, usize)> = match first.known() {
            Some("run" | "run-script" | "rum" | "urn") => {
                let perhaps = |own: &usize| read.operands.get(at + 1 + own).is_some_and(|one| one.perhaps_value);
                let count = behind.len().min(1 + (0..behind.len()).take_while(perhaps).count());
                (0..count).map(|at| (behind[at].known().map(|name| vec![name]), at + 1)).collect()
            }
            Some(name) => match lifecycle(name) {
                Some((_, scripts)) => vec![(Some(scripts.to_vec()), 0)],
                None if program == "npm" => return Vec::new(),
                // The others run a script by its name alone.
                None => vec![(Some(vec![name]), 0)],
            },
            None => vec![(None, 0)],
        };
        let mut inner = Vec::new();
        for (names, before) in scripts {
            let rest: Vec<Word> = behind[before..].iter().map(|word| (*word).clone()).collect();
            inner.extend(self.scripts(names.as_deref(), read.folder(), &rest, (first.span, state)));
            // An installation runs those of its packages as well.
            let installs = names.as_ref().is_some_and(|names| names.contains(&"postinstall"));
            if installs || names_workspaces(program, read) {
                for member in members(read, state) {
                    let folder = Word::new(member, first.span);
                    inner.extend(self.scripts(names.as_deref(), Some(&folder), &rest, (first.span, state)));
                }
            }
        }
        if program != "npm" && first.known().is_some_and(|first| BINARIES.contains(&first)) {
            let words = arguments.iter().skip_while(|word| word.span != first.span).cloned().collect();
            let cwd = read.folder().cloned().map(Directory::Word);
            let change = ContextChange { cwd, times: Times::Perhaps, ..ContextChange::default() };
            inner.push(NestedCommand { kind: NestedKind::Command { words, more: false }, change });
        }
        inner
    }

    /// What `npm start` runs where no script is called so: `server.js`, if the session wrote it.
    fn server(&mut self, folder: &str, span: Span, state: &ShellState) -> Option<NestedKind> {
        let program = absolute("server.js", folder);
        if matches!(self.written(&program, span, state), Written::Not) {
            return None;
        }
        let file = absolute("package.json", folder);
        let package = match self.written(&file, span, state) {
            Written::Text(text) => Some(text.text.clone()),
            Written::Unread => None,
            Written::Not => self.untouched(&file, state).map(|text| text.to_string()),
        };
        let package = package.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        if package.is_some_and(|package| package.pointer("/scripts/start").is_some()) {
            return None;
        }
        let words = ["node", program.as_str()].map(|word| Word::new(word, span)).into();
        Some(NestedKind::Command { words, more: false })
    }

    /// The scripts of these names, with those around them; of any name if it is not known.
    fn scripts(
        &mut self,
        names: Option<&[&str]>,
        folder: Option<&Word>,
        rest: &[Word],
        (span, state): (Span, &ShellState),
    ) -> Vec<NestedCommand> {
        let change = ContextChange {
            cwd: folder.map(|folder| Directory::Word(folder.clone())),
            times: Times::Perhaps,
            ..ContextChange::default()
        };
        let unseen = || NestedCommand { kind: NestedKind::Unseen, change: change.clone() };
        let mut inner = Vec::new();
        for place in folders(folder, state) {
            let file = absolute("package.json", &place);
            if names.is_some_and(|names| names.contains(&"start")) {
                inner.extend(
                    self.server(&place, span, state).map(|kind| NestedCommand { kind, change: change.clone() }),
                );
            }
            let content = match (self.written(&file, span, state), names) {
                (Written::Not, Some(names)) => {
                    let own = self.untouched(&file, state);
                    let package = own.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
                    let script =
                        |name: &String| Some(package.as_ref()?.get("scripts")?.get(name)?.as_str()?.to_owned());
                    let around = |name: &&str| [format!("pre{name}"), (*name).to_owned(), format!("post{name}")];
                    let texts: Vec<String> = names.iter().flat_map(around).filter_map(|name| script(&name)).collect();
                    inner.extend(self.loading(&texts, span, &change, state));
                    continue;
                }
                (Written::Not, None) => continue,
                // An edited file is installed from every day, and its scripts are the project's own.
                (Written::Unread, Some(names)) if names.len() > 1 => continue,
                (Written::Text(content), Some(_)) if self.afford(content.text.len()) => content,
                _ => {
                    inner.push(unseen());
                    continue;
                }
            };
            let package = serde_json::from_str::<serde_json::Value>(&content.text).ok();
            let change = ContextChange { stored: self.is_earlier(&content), ..change.clone() };
            for name in names.unwrap_or_default() {
                for script in [format!("pre{name}"), (*name).to_owned(), format!("post{name}")] {
                    let found = package.as_ref().map(|package| package.get("scripts")?.get(&script));
                    let text = match found {
                        Some(Some(serde_json::Value::String(text))) => text,
                        Some(None) => continue,
                        _ => {
                            inner.push(unseen());
                            continue;
                        }
                    };
                    let mut text = Word::new(text.clone(), content.span);
                    if script == *name && !rest.is_empty() {
                        let words: Vec<Word> = std::iter::once(text).chain(rest.iter().map(quoted)).collect();
                        text = crate::wrapper::joined(&words);
                    }
                    inner.push(NestedCommand {
                        kind: NestedKind::Text { text, args: Vec::new() },
                        change: change.clone(),
                    });
                }
            }
        }
        inner
    }
}

/// The number of the operand at which the subcommand of a package manager begins: `yarn workspace NAME run build`,
/// `yarn workspaces foreach run build`.
fn behind_workspace(program: &str, read: &ProgramWords) -> usize {
    let words: Vec<&str> = read.words().map(Word::text).collect();
    match words.first() {
        Some(&"workspace") if program.starts_with("yarn") => 2,
        Some(&"workspaces") if program.starts_with("yarn") => {
            words.iter().position(|word| *word == "run").unwrap_or_default()
        }
        _ => 0,
    }
}

/// Whether a package manager is told to run the scripts of packages below.
fn names_workspaces(program: &str, read: &ProgramWords) -> bool {
    let options: &[&str] = match program {
        "npm" => &["w", "workspace", "workspaces", "ws", "-ws"],
        "pnpm" => &["r", "recursive", "F", "filter"],
        "bun" => &["F", "filter"],
        _ => &[],
    };
    options.iter().any(|option| read.has(option)) || behind_workspace(program, read) > 0
}

/// The folders of the packages below that may be meant: those that are named, and those of the session.
fn members(read: &ProgramWords, state: &ShellState) -> Vec<String> {
    let named: Vec<&str> = read.values(&["w", "workspace"]).filter_map(Word::known).collect();
    let mut found = Vec::new();
    for folder in folders(read.folder(), state) {
        found.extend(named.iter().map(|name| absolute(name, &folder)));
        let own = written_below(&folder, state).into_iter().filter(|path| basename(path) == "package.json");
        let own = own.filter(|path| !path.contains("/node_modules/"));
        let places: Vec<String> = own.filter_map(|path| parent(&path).map(str::to_owned)).collect();
        found.extend(places.into_iter().filter(|place| *place != folder));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The files of the session that a path stands for, which may be a pattern.
fn matching(path: &str, state: &ShellState) -> Vec<String> {
    if !toolgate_shell_syntax::glob::is_pattern(path) {
        return vec![path.to_owned()];
    }
    let Some(pattern) = Pattern::new(path) else { return Vec::new() };
    let all = state.files.written().chain(state.files.of_session());
    all.filter(|path| pattern.matches(path)).map(str::to_owned).collect()
}

/// Scripts that a package manager is told to note, which are run sooner or later: `npm pkg set scripts.NAME=TEXT`, `npm
/// set-script NAME TEXT`, `composer config scripts.NAME TEXT`.
fn set_scripts(program: &str, arguments: &[Word]) -> Vec<NestedCommand> {
    let read = ProgramWords::read(program, arguments);
    let operands: Vec<Word> = read.words().cloned().collect();
    let texts: Vec<Word> = match operands.as_slice() {
        [first, second, rest @ ..] if first.known() == Some("pkg") && second.known() == Some("set") => {
            rest.iter().flat_map(noted).collect()
        }
        [first, _, text] if first.known() == Some("set-script") => vec![text.clone()],
        [first, name, texts @ ..] if first.known() == Some("config") && name.text().starts_with("scripts.") => {
            texts.to_vec()
        }
        _ => Vec::new(),
    };
    let change = || ContextChange { times: Times::Perhaps, ..ContextChange::default() };
    let kind = |text: Word| match text.known() {
        Some(_) => NestedKind::Text { text, args: Vec::new() },
        None => NestedKind::Unseen,
    };
    texts.into_iter().map(|text| NestedCommand { kind: kind(text), change: change() }).collect()
}

/// The texts in a setting of `npm pkg set`: `scripts.NAME=TEXT`, `scripts[NAME]=TEXT`, `scripts={"NAME": "TEXT"}`.
fn noted(setting: &Word) -> Vec<Word> {
    let Some((key, value)) = setting.text().split_once('=').filter(|(key, _)| key.starts_with("scripts")) else {
        return Vec::new();
    };
    let part = |text: &str| Word { value: setting.value.with_text(text.to_owned()), at: None, ..setting.clone() };
    if key != "scripts" {
        return vec![part(value)];
    }
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(value) {
        Ok(all) => all.values().filter_map(serde_json::Value::as_str).map(part).collect(),
        Err(_) => vec![Word::unknown(Why::Expansion, setting.span)],
    }
}

/// What a recipe of just runs.
fn of_recipe(line: just::Line, span: Span) -> NestedKind {
    let (text, program) = match line {
        just::Line::Unseen => return NestedKind::Unseen,
        just::Line::Shell(text) => (text, "sh".to_owned()),
        just::Line::Script(text) => {
            let first = text.lines().next().unwrap_or_default().to_owned();
            (text, first)
        }
    };
    let text = Word::new(text, span);
    let languages =
        [("python", Language::Python), ("node", Language::Node), ("perl", Language::Perl), ("ruby", Language::Ruby)];
    match languages.into_iter().find(|(name, _)| program.contains(name)) {
        // What the recipe is given the script may be given, too.
        Some((_, language)) => NestedKind::Inline { language, text, args: vec![Word::unknown(Why::Expansion, span)] },
        None if program.split(['/', ' ']).any(crate::wrapper::is_shell) => NestedKind::Text { text, args: Vec::new() },
        None => NestedKind::Unseen,
    }
}

/// The files of the session below a folder.
pub(super) fn written_below(folder: &str, state: &ShellState) -> Vec<String> {
    let all = state.files.written().chain(state.files.of_session());
    all.filter(|path| *path != folder && is_within(path, folder)).map(str::to_owned).collect()
}

/// What the text made of a file, or an earlier one of the session. What a script of the project made is the project's own, too.
pub(super) enum Written {
    Text(Rc<Text>),
    /// It wrote it, and what is in it is not known.
    Unread,
    Not,
}

impl Interpreter<'_> {
    pub(super) fn written(&mut self, path: &str, span: Span, state: &ShellState) -> Written {
        if path.is_empty() || state.files.is_unread(path) {
            return Written::Unread;
        }
        match state.files.made(path).filter(|made| !made.preexisting).and_then(|made| made.content.as_ref()) {
            Some(content) => Written::Text(Rc::clone(content)),
            None if state.files.is_of_session(path) => self.of_session(path, span, state),
            None => Written::Not,
        }
    }

    /// What is in a file of the project that says what a tool runs, where the text changes a part of it.
    pub(super) fn stored_project_file(&mut self, path: &str, state: &ShellState) -> Option<Rc<Text>> {
        let name = toolgate_shell_syntax::path::basename(path);
        let is_one = MAKEFILES.contains(&name) || JUSTFILES.contains(&name);
        let before = state.files.before(path).filter(|_| is_one && !self.elsewhere)?;
        let text = state.files.script(&before).filter(|text| self.afford(text.len()))?;
        Some(Rc::new(Text { text, span: Span::default(), at: None }))
    }

    /// Whether a text is what an earlier one of the session wrote to a file, or what a file of the project had in it for the most.
    pub(super) fn is_earlier(&self, text: &Rc<Text>) -> bool {
        self.of_session.values().flatten().chain(&self.edited).any(|earlier| Rc::ptr_eq(earlier, text))
    }

    /// What is in a file that an earlier text of the session wrote.
    fn of_session(&mut self, path: &str, span: Span, state: &ShellState) -> Written {
        let Some(before) = state.files.before(path).filter(|_| !self.elsewhere) else { return Written::Not };
        if !self.of_session.contains_key(&before) {
            let text = Some(&before).filter(|_| self.of_session.len() < MAX_OF_SESSION);
            let text = text.and_then(|before| state.files.script(before)).filter(|text| self.afford(text.len()));
            let text = text.map(|text| Rc::new(Text { text, span, at: None }));
            self.of_session.insert(before.clone(), text);
        }
        self.of_session.get(&before).cloned().flatten().map_or(Written::Unread, Written::Text)
    }
}

/// The folders that a tool may work in.
fn folders(folder: Option<&Word>, state: &ShellState) -> Vec<String> {
    match folder {
        None => places(".", state),
        Some(folder) => folder.known().map(|folder| places(folder, state)).unwrap_or_default(),
    }
}

/// A variable that programs see.
fn exported(name: &str, state: &ShellState) -> Option<String> {
    match state.get(name) {
        Some(variable) if variable.exported == Some(true) && !state.all_unknown => match &variable.content {
            Content::Text(Value::Known(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// An argument as it is put behind a script.
fn quoted(word: &Word) -> Word {
    match &word.value {
        Value::Known(text) => Word::new(in_quotes(text), word.span),
        // The shell that runs the script finds the files again.
        Value::Pattern(text) => Word::new(text.clone(), word.span),
        Value::Unknown { .. } => word.clone(),
    }
}
