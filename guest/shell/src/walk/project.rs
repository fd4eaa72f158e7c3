//! Files of a project that say what a tool runs, where the text itself wrote them: makefiles, `package.json`.
//!
//! What was there before is the project's own and not read here.

use std::collections::BTreeMap;

use super::Walk;
use super::state::{Content, Input, State};
use crate::make::{self, Line};
use crate::path::absolute;
use crate::word::{Value, Word};
use crate::wrapper::{Change, Directory, Inner, Kind, Times};

/// With these make runs no recipes.
const DRY: &[&str] = &["-n", "-q", "-t", "--just-print", "--dry-run", "--recon", "--question", "--touch"];

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

impl Walk<'_> {
    /// What a build tool runs because the text wrote so into a file.
    pub(super) fn by_project(&mut self, name: &str, words: &[Word], state: &State) -> Vec<Inner> {
        let arguments = words.get(1..).unwrap_or_default();
        match crate::path::basename(name) {
            "make" | "gmake" => self.by_makefile(arguments, state),
            "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" => self.by_package(name, arguments, state),
            "node" => {
                let at = arguments.iter().position(|word| word.known() == Some("--run"));
                let script = at.and_then(|at| arguments.get(at + 1)).and_then(Word::known);
                script.map(|script| self.scripts(&[script], None, &[], state)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn by_makefile(&mut self, arguments: &[Word], state: &State) -> Vec<Inner> {
        let read = Arguments::read(arguments, &MAKE);
        let folder = place(read.folder.as_ref(), state);
        let mut text = String::new();
        let names: Vec<Option<&str>> = match read.files.is_empty() {
            true => ["GNUmakefile", "makefile", "Makefile"].into_iter().map(Some).collect(),
            false => read.files.iter().map(|word| word.known()).collect(),
        };
        let content = |path: &str| Some(state.files.made(path)?.content.as_ref()?.text.clone());
        for name in names.into_iter().flatten() {
            let content = match (name, &state.input) {
                ("-" | "/dev/stdin", Input::Text(input, from)) => input.text.get(*from..).map(str::to_owned),
                _ if name.starts_with('/') => content(&absolute(name, "/")),
                _ => folder.as_ref().and_then(|folder| content(&absolute(name, folder))),
            };
            if let Some(content) = content {
                text.push_str(&content);
                text.push('\n');
                if read.files.is_empty() {
                    break;
                }
            }
        }
        if text.is_empty() || !self.afford(text.len()) {
            return Vec::new();
        }
        let mut request = make::Request {
            dry: read.flags.iter().any(|flag| DRY.contains(&flag.as_str())),
            ..make::Request::default()
        };
        let mut unknown = false;
        for word in &read.operands {
            match word.known().map(|text| (text, text.split_once('='))) {
                Some((_, Some((name, value)))) => {
                    let name = name.trim_end_matches([':', '?', '+']).to_owned();
                    request.given.insert(name, value.to_owned());
                }
                Some((goal, None)) => request.goals.push(goal.to_owned()),
                None => unknown = true,
            }
        }
        let environment = |name: &str| exported(name, state);
        let lines = make::lines(&text, &request, &environment);
        let mut change =
            Change { cwd: read.folder.clone().map(Directory::Word), times: Times::Perhaps, ..Change::default() };
        let span = arguments.first().map_or_else(Default::default, |first| first.span);
        change.set.extend(
            request.given.iter().map(|(name, value)| (name.clone(), Word::new(value.replace("$$", "$"), span))),
        );
        let inner = |line| match line {
            Line::Known(text) => Kind::Text { text: Word::new(text, span), args: Vec::new() },
            Line::Unknown => Kind::Unseen,
        };
        let unseen = unknown.then_some(Line::Unknown);
        lines.into_iter().chain(unseen).map(|line| Inner { kind: inner(line), change: change.clone() }).collect()
    }

    fn by_package(&mut self, program: &str, arguments: &[Word], state: &State) -> Vec<Inner> {
        let read = Arguments::read(arguments, &PACKAGES);
        let mut operands = read.operands.iter();
        let Some(first) = operands.next().and_then(Word::known) else { return Vec::new() };
        let names: Vec<&str> = match first {
            "run" | "run-script" | "rum" | "urn" => operands.next().and_then(Word::known).into_iter().collect(),
            _ => match LIFECYCLE.iter().find(|(names, _)| names.split(' ').any(|name| name == first)) {
                Some((_, scripts)) => scripts.to_vec(),
                None if program == "npm" => Vec::new(),
                // The others run a script by its name alone.
                None => vec![first],
            },
        };
        let rest: Vec<Word> = operands.cloned().collect();
        self.scripts(&names, read.folder.as_ref(), &rest, state)
    }

    /// The scripts of these names, with those around them.
    fn scripts(&mut self, names: &[&str], folder: Option<&Word>, rest: &[Word], state: &State) -> Vec<Inner> {
        let Some(place) = place(folder, state) else { return Vec::new() };
        let content = state.files.made(&absolute("package.json", &place)).and_then(|made| made.content.clone());
        let Some(content) = content.filter(|content| !names.is_empty() && self.afford(content.text.len())) else {
            return Vec::new();
        };
        #[derive(serde::Deserialize)]
        struct Package {
            #[serde(default)]
            scripts: BTreeMap<String, String>,
        }
        let Ok(package) = serde_json::from_str::<Package>(&content.text) else { return Vec::new() };
        let change = Change {
            cwd: folder.map(|folder| Directory::Word(folder.clone())),
            times: Times::Perhaps,
            ..Change::default()
        };
        let mut inner = Vec::new();
        for name in names {
            for script in [format!("pre{name}"), (*name).to_owned(), format!("post{name}")] {
                let Some(text) = package.scripts.get(&script) else { continue };
                let mut text = Word::new(text.clone(), content.span);
                if script == *name && !rest.is_empty() {
                    let words: Vec<Word> = std::iter::once(text).chain(rest.iter().map(quoted)).collect();
                    text = crate::wrapper::joined(&words);
                }
                inner.push(Inner { kind: Kind::Text { text, args: Vec::new() }, change: change.clone() });
            }
        }
        inner
    }
}

/// The folder that a tool works in, if it is certain.
fn place(folder: Option<&Word>, state: &State) -> Option<String> {
    match folder.map(|word| word.known()) {
        None => state.folders.certain().map(str::to_owned),
        Some(Some(folder)) if folder.starts_with('/') => Some(absolute(folder, "/")),
        Some(folder) => Some(absolute(folder?, state.folders.certain()?)),
    }
}

/// A variable that programs see.
fn exported(name: &str, state: &State) -> Option<String> {
    match state.get(name) {
        Some(variable) if variable.exported == Some(true) && !state.wild => match &variable.content {
            Content::Text(Value::Known(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// An argument as it is put behind a script.
fn quoted(word: &Word) -> Word {
    match word.known() {
        Some(text) => Word::new(format!("'{}'", text.replace('\'', r"'\''")), word.span),
        None => word.clone(),
    }
}
