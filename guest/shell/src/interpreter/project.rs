//! Files of a project that say what a tool runs, where the text itself wrote them: makefiles, justfiles, `package.json`.
//!
//! What was there before is the project's own and not read here. What the text wrote and cannot be read is unseen.

use std::rc::Rc;

use super::Interpreter;
use super::places::places;
use super::state::{Input, ShellState};
use crate::abstract_value::{Content, Text};
use crate::just;
use crate::make::{self, Line};
use crate::wrapper::{ContextChange, Directory, Kind, Language, NestedCommand, Times};
use toolgate_shell_syntax::path::{absolute, is_stdin, parent};
use toolgate_shell_syntax::word::{Span, Value, Why, Word, in_quotes};

/// With these make runs no recipes.
const DRY: &[&str] = &["-n", "-q", "-t", "--just-print", "--dry-run", "--recon", "--question", "--touch"];

/// With these just runs no recipes.
#[rustfmt::skip]
const LISTS: &[&str] = &[
    "-l", "-n", "-s", "-e", "-V", "-h", "--list", "--dry-run", "--show", "--summary", "--edit", "--evaluate", "--dump", "--fmt",
    "--variables", "--groups", "--init", "--version", "--help",
];

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

/// Options of a tool that are followed, by all their names.
struct Options {
    folders: &'static [&'static str],
    files: &'static [&'static str],
    /// Others that take the next word.
    values: &'static [&'static str],
}

const MAKE: Options = Options {
    folders: &["-C", "--directory"],
    files: &["-f", "--file", "--makefile"],
    values: &["-I", "-o", "-W", "--include-dir", "--old-file", "--what-if", "--new-file", "--assume-old"],
};

const JUST: Options = Options {
    folders: &["-d", "--working-directory"],
    files: &["-f", "--justfile"],
    values: &["-E", "--color", "--dotenv-filename", "--dotenv-path", "--shell"],
};

const PACKAGES: Options = Options {
    folders: &["-C", "--prefix", "--dir", "--cwd"],
    files: &[],
    values: &["-w", "-F", "--workspace", "--filter", "--loglevel", "--script-shell"],
};

/// The arguments of a tool.
#[derive(Default)]
struct Arguments {
    folder: Option<Word>,
    files: Vec<Word>,
    operands: Vec<Word>,
    /// Letters of short options, and the names of long ones.
    flags: Vec<String>,
}

impl Arguments {
    fn read(words: &[Word], options: &Options) -> Self {
        let mut found = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = match word.known() {
                Some("--") => {
                    found.operands.extend(words.cloned());
                    break;
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => text,
                _ => {
                    found.operands.push(word.clone());
                    continue;
                }
            };
            if text.starts_with("--") {
                let (name, value) = match text.split_once('=') {
                    Some((name, value)) => (name, Some(Word::new(value, word.span))),
                    None => (text, None),
                };
                found.option(name, value, &mut words, options);
                continue;
            }
            for (at, letter) in text.char_indices().skip(1) {
                let rest = &text[at + letter.len_utf8()..];
                let value = (!rest.is_empty()).then(|| Word::new(rest, word.span));
                if found.option(&format!("-{letter}"), value, &mut words, options) {
                    break;
                }
            }
        }
        found
    }

    /// Notes an option; whether it takes a value.
    fn option<'w>(
        &mut self,
        name: &str,
        value: Option<Word>,
        words: &mut impl Iterator<Item = &'w Word>,
        options: &Options,
    ) -> bool {
        let takes = [options.folders, options.files, options.values].concat().contains(&name);
        if !takes {
            self.flags.push(name.to_owned());
            return false;
        }
        let value = value.or_else(|| words.next().cloned());
        if options.folders.contains(&name) {
            self.folder = value;
        } else if options.files.contains(&name) {
            self.files.extend(value);
        }
        true
    }
}

impl Interpreter<'_> {
    /// What a build tool runs because the text wrote so into a file.
    pub(super) fn by_project(&mut self, name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let arguments = words.get(1..).unwrap_or_default();
        match toolgate_shell_syntax::path::basename(name) {
            "make" | "gmake" => self.by_makefile(arguments, state),
            "just" => self.by_justfile(arguments, state),
            "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" => match set_scripts(arguments) {
                found if found.is_empty() => self.by_package(name, arguments, state),
                found => found,
            },
            "composer" => set_scripts(arguments),
            "node" => {
                let at = arguments.iter().position(|word| word.known() == Some("--run"));
                let script = at.and_then(|at| arguments.get(at + 1)).and_then(Word::known);
                script.map(|script| self.scripts(Some(&[script]), None, &[], state)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn by_makefile(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let read = Arguments::read(arguments, &MAKE);
        let span = arguments.first().map_or_else(Default::default, |first| first.span);
        let mut change = ContextChange {
            cwd: read.folder.clone().map(Directory::Word),
            times: Times::Perhaps,
            ..ContextChange::default()
        };
        let flags = ["MAKEFLAGS", "GNUMAKEFLAGS"];
        let is_set = |name: &str| state.get(name).is_some_and(|variable| variable.exported == Some(true));
        // What they make of any makefile is not read.
        let mut unknown = is_set("MAKEFILES")
            || flags.iter().any(|name| is_set(name) && !exported(name, state).is_some_and(|it| make::plain_flags(&it)))
            || read.flags.iter().any(|flag| matches!(flag.as_str(), "--eval" | "-E"));
        let mut texts: Vec<String> = Vec::new();
        let mut take = |path: &str, texts: &mut Vec<String>| match written(path, state) {
            Written::Text(text) => texts.push(text.text.clone()),
            Written::Unread => unknown = true,
            Written::Not => {}
        };
        for folder in folders(read.folder.as_ref(), state) {
            let mut text = String::new();
            for file in &read.files {
                let from_input = |name: &str| name == "-" || is_stdin(name);
                match (file.known(), &state.input) {
                    (Some(name), Input::Text(input, from)) if from_input(name) => {
                        text.push_str(input.text.get(*from..).unwrap_or_default());
                    }
                    (Some(name), Input::Stored(_) | Input::Unseen(_) | Input::Inherited) if from_input(name) => {
                        take("", &mut texts);
                    }
                    (Some(name), Input::Nothing) if from_input(name) => {}
                    (None, _) => take("", &mut texts),
                    (Some(name), _) => {
                        let mut found = Vec::new();
                        take(&absolute(name, &folder), &mut found);
                        found.iter().for_each(|found| text.push_str(found));
                    }
                }
                text.push('\n');
            }
            for name in ["GNUmakefile", "makefile", "Makefile"].iter().filter(|_| read.files.is_empty()) {
                take(&absolute(name, &folder), &mut texts);
            }
            texts.push(text);
        }
        texts.retain(|text| !text.trim().is_empty());
        if texts.is_empty() && !unknown {
            return Vec::new();
        }
        unknown |= read.flags.iter().any(|flag| matches!(flag.as_str(), "-e" | "--environment-overrides"));
        if !self.afford(texts.iter().map(String::len).sum()) {
            unknown = true;
            texts.clear();
        }
        let mut request = make::Request {
            dry: read.flags.iter().any(|flag| DRY.contains(&flag.as_str())),
            ..make::Request::default()
        };
        request.files.extend(["GNUmakefile", "makefile", "Makefile"].map(str::to_owned));
        request.files.extend(read.files.iter().filter_map(Word::known).map(str::to_owned));
        for word in &read.operands {
            match word.known().map(|text| (text, text.split_once('='))) {
                Some((_, Some((name, value)))) => {
                    unknown |= value.contains('$') && (name.ends_with([':', '?', '+']) || value.contains("shell"));
                    unknown |= name.ends_with('!');
                    let name = name.trim_end_matches([':', '?', '+']).to_owned();
                    request.given.insert(name, value.to_owned());
                }
                Some((goal, None)) => request.goals.push(goal.to_owned()),
                None => unknown = true,
            }
        }
        let environment = |name: &str| exported(name, state);
        change.set.extend(
            request.given.iter().map(|(name, value)| (name.clone(), Word::new(value.replace("$$", "$"), span))),
        );
        let inner = |line| match line {
            Line::Known(text) => Kind::Text { text: Word::new(text, span), args: Vec::new() },
            Line::Unknown => Kind::Unseen,
        };
        let lines = texts.iter().flat_map(|text| make::lines(text, &request, &environment));
        let lines = lines.chain(unknown.then_some(Line::Unknown));
        lines.map(|line| NestedCommand { kind: inner(line), change: change.clone() }).collect()
    }

    fn by_justfile(&mut self, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let read = Arguments::read(arguments, &JUST);
        // Behind a recipe they are its arguments.
        let first = read.operands.first().map_or(usize::MAX, |first| first.span.start);
        let before = arguments.iter().take_while(|word| word.span.start < first);
        if before.filter_map(Word::known).any(|word| LISTS.contains(&word)) {
            return Vec::new();
        }
        let span = arguments.first().map_or_else(Default::default, |first| first.span);
        let words: Option<Vec<&str>> = read.operands.iter().map(Word::known).collect();
        let words = words.filter(|_| !read.flags.iter().any(|flag| flag == "--set"));
        let mut inner = Vec::new();
        for folder in folders(None, state) {
            let paths: Vec<String> = match read.files.last() {
                Some(file) => file.known().map(|file| absolute(file, &folder)).into_iter().collect(),
                None => std::iter::successors(Some(folder.as_str()), |&folder| parent(folder))
                    .flat_map(|folder| JUSTFILES.iter().map(move |name| absolute(name, folder)))
                    .collect(),
            };
            let found = paths.into_iter().find_map(|path| match written(&path, state) {
                Written::Not => None,
                found => Some((path, found)),
            });
            let Some((path, found)) = found else { continue };
            let own = || Word::new(parent(&path).unwrap_or("/"), span);
            let cwd = Some(Directory::Word(read.folder.clone().unwrap_or_else(own)));
            let change = ContextChange { cwd, times: Times::Perhaps, ..ContextChange::default() };
            match (found, &words) {
                (Written::Text(content), Some(words)) if self.afford(content.text.len()) => {
                    let lines = just::lines(&content.text, words, parent(&path).unwrap_or("/")).into_iter();
                    inner.extend(
                        lines.map(|line| NestedCommand { kind: of_recipe(line, span), change: change.clone() }),
                    );
                }
                _ => inner.push(NestedCommand { kind: Kind::Unseen, change }),
            }
        }
        inner
    }

    fn by_package(&mut self, program: &str, arguments: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let read = Arguments::read(arguments, &PACKAGES);
        let mut operands = read.operands.iter();
        let Some(first) = operands.next() else { return Vec::new() };
        let lifecycle = |first: &str| LIFECYCLE.iter().find(|(names, _)| names.split(' ').any(|name| name == first));
        let names: Option<Vec<&str>> = match first.known() {
            Some("run" | "run-script" | "rum" | "urn") => match operands.next() {
                Some(name) => name.known().map(|name| vec![name]),
                None => return Vec::new(),
            },
            Some(first) => match lifecycle(first) {
                Some((_, scripts)) => Some(scripts.to_vec()),
                None if program == "npm" => return Vec::new(),
                // The others run a script by its name alone.
                None => Some(vec![first]),
            },
            None => None,
        };
        let rest: Vec<Word> = operands.cloned().collect();
        let mut inner = self.scripts(names.as_deref(), read.folder.as_ref(), &rest, state);
        if program != "npm" && first.known().is_some_and(|first| BINARIES.contains(&first)) {
            let words = arguments.iter().skip_while(|word| word.span != first.span).cloned().collect();
            let cwd = read.folder.map(Directory::Word);
            let change = ContextChange { cwd, times: Times::Perhaps, ..ContextChange::default() };
            inner.push(NestedCommand { kind: Kind::Command { words, more: false }, change });
        }
        inner
    }

    /// The scripts of these names, with those around them; of any name if it is not known.
    fn scripts(
        &mut self,
        names: Option<&[&str]>,
        folder: Option<&Word>,
        rest: &[Word],
        state: &ShellState,
    ) -> Vec<NestedCommand> {
        let change = ContextChange {
            cwd: folder.map(|folder| Directory::Word(folder.clone())),
            times: Times::Perhaps,
            ..ContextChange::default()
        };
        let unseen = || NestedCommand { kind: Kind::Unseen, change: change.clone() };
        let mut inner = Vec::new();
        for place in folders(folder, state) {
            let content = match (written(&absolute("package.json", &place), state), names) {
                (Written::Not, _) => continue,
                // An edited file is installed from every day, and its scripts are the project's own.
                (Written::Unread, Some(names)) if names.len() > 1 => continue,
                (Written::Text(content), Some(_)) if self.afford(content.text.len()) => content,
                _ => {
                    inner.push(unseen());
                    continue;
                }
            };
            let package = serde_json::from_str::<serde_json::Value>(&content.text).ok();
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
                    inner.push(NestedCommand { kind: Kind::Text { text, args: Vec::new() }, change: change.clone() });
                }
            }
        }
        inner
    }
}

/// Scripts that a package manager is told to note, which are run sooner or later: `npm pkg set scripts.NAME=TEXT`, `npm
/// set-script NAME TEXT`, `composer config scripts.NAME TEXT`.
fn set_scripts(arguments: &[Word]) -> Vec<NestedCommand> {
    let read = Arguments::read(arguments, &PACKAGES);
    let texts: Vec<Word> = match read.operands.as_slice() {
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
        Some(_) => Kind::Text { text, args: Vec::new() },
        None => Kind::Unseen,
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
fn of_recipe(line: just::Line, span: Span) -> Kind {
    let (text, program) = match line {
        just::Line::Unseen => return Kind::Unseen,
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
        Some((_, language)) => Kind::Inline { language, text, args: vec![Word::unknown(Why::Expansion, span)] },
        None if program.split(['/', ' ']).any(crate::wrapper::is_shell) => Kind::Text { text, args: Vec::new() },
        None => Kind::Unseen,
    }
}

/// What the text made of a file. What a script of the project made is the project's own, too.
enum Written {
    Text(Rc<Text>),
    /// It wrote it, and what is in it is not known.
    Unread,
    Not,
}

fn written(path: &str, state: &ShellState) -> Written {
    if path.is_empty() || state.files.is_unread(path) {
        return Written::Unread;
    }
    match state.files.made(path).filter(|made| !made.preexisting).and_then(|made| made.content.as_ref()) {
        Some(content) => Written::Text(Rc::clone(content)),
        None => Written::Not,
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
    match word.known() {
        Some(text) => Word::new(in_quotes(text), word.span),
        None => word.clone(),
    }
}
