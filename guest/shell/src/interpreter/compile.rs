//! Programs that the text itself or an earlier one of the session writes and has compiled or run from their source:
//! what is in them is read for calls on files and processes, and one that has any counts as not read.

use std::collections::BTreeSet;

use super::Interpreter;
use super::loaded_files::is_written;
use super::project::Written;
use super::state::{Input, ShellState};
use crate::command::{Effect, EffectKind};
use crate::compiled::{self, Language, language_of, language_of_input};
use toolgate_shell_syntax::path::{absolute, basename, parent};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Most files that are read of one program.
const MAX_PARTS: usize = 32;

/// What a compiler or a runner makes of sources of the text.
#[derive(Default)]
pub(super) struct Built {
    /// It runs one that is not read.
    pub(super) runs: bool,
    /// The files into which it compiles one that is not read.
    pub(super) outputs: Vec<String>,
}

/// Subcommands with which a tool runs what it builds of all its sources, and how those are called.
const PROJECTS: &[(&str, &[&str], &str)] = &[
    ("cargo", &["run", "r"], "a.rs"),
    ("go", &["run"], "a.go"),
    ("dotnet", &["run", "watch"], "a.cs"),
    ("swift", &["run"], "a.swift"),
    ("zig", &["run"], "a.zig"),
];

/// Compilers that leave a program, and how it is called unless they are told: by the source's name, or always so.
const COMPILERS: &[(&str, Option<&str>)] = &[
    ("gcc", Some("a.out")),
    ("g++", Some("a.out")),
    ("cc", Some("a.out")),
    ("c++", Some("a.out")),
    ("clang", Some("a.out")),
    ("clang++", Some("a.out")),
    ("gfortran", Some("a.out")),
    ("tcc", Some("a.out")),
    ("rustc", None),
    ("swiftc", None),
    ("kotlinc", None),
    ("ghc", None),
    ("ocamlc", Some("a.out")),
    ("ocamlopt", Some("a.out")),
    ("dmd", None),
    ("fpc", None),
    ("csc", None),
    ("mcs", None),
    ("javac", None),
    ("go", None),
    ("zig", None),
    ("nim", None),
    ("crystal", None),
];

/// Programs that run a source by its name.
const RUNNERS: &[&str] = &[
    "java",
    "kotlin",
    "scala",
    "groovy",
    "swift",
    "csi",
    "dotnet-script",
    "lua",
    "luajit",
    "julia",
    "Rscript",
    "rdmd",
    "runghc",
    "runhaskell",
    "ocaml",
    "rust-script",
    "cargo-script",
    "v",
    "nim",
    "crystal",
    "gorun",
    "tcc",
    "zig",
    "go",
    "dotnet",
];

/// Whether a program makes others of their sources.
fn is_compiler(name: &str) -> bool {
    let program = unversioned(basename(name));
    COMPILERS.iter().any(|(compiler, _)| *compiler == program)
}

impl Interpreter<'_> {
    /// What a command compiles or runs of what the session wrote.
    pub(super) fn builds(&mut self, name: &str, words: &[Word], state: &ShellState) -> Built {
        let program = unversioned(basename(name));
        let known: Vec<&str> = words.iter().skip(1).filter_map(Word::known).collect();
        let Some(folder) = state.folders.likely() else { return Built::default() };
        let place = |path: &str| absolute(path, if path.starts_with('/') { "/" } else { folder });
        let compiles = COMPILERS.iter().find(|(compiler, _)| *compiler == program);
        let project = PROJECTS.iter().find(|(tool, ..)| *tool == program);
        if compiles.is_none() && project.is_none() && !RUNNERS.contains(&program) {
            return Built::default();
        }
        let mut sources = known.iter().filter(|word| language_of(word).is_some()).peekable();
        let named = sources.peek().is_some();
        let mut unread = sources.any(|word| self.is_unread(&place(word), state));
        unread |= compiles.is_some() && known.contains(&"-") && input_acts(state);
        let first = known.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        let runs_all = project.is_some_and(|(_, subcommands, _)| subcommands.contains(&first));
        if let Some(language) = project.filter(|_| runs_all && !named).and_then(|(_, _, file)| language_of(file)) {
            unread |= self.any_unread(language, state);
        }
        // `java NAME` and `java -jar FILE` run what was compiled of the sources.
        if program == "java" && !named {
            unread |= language_of("a.java").is_some_and(|language| self.any_unread(language, state));
            unread |= self.class_sources(&known, state).iter().any(|path| self.is_unread(path, state));
            unread |= known.iter().any(|word| word.ends_with(".jar") && state.files.is_unread(&place(word)));
        }
        if !unread {
            return Built::default();
        }
        let only_compiles = compiles.is_some() && !runs_all && !runs_at_once(program, &known);
        match compiles.filter(|_| only_compiles) {
            Some((_, default)) => {
                Built { runs: false, outputs: outputs(&known, *default).iter().map(|path| place(path)).collect() }
            }
            None => Built { runs: true, outputs: Vec::new() },
        }
    }

    /// Notes what a command makes of sources that are not read, for calls that come later: it is as if a program were
    /// copied there that is not known.
    pub(super) fn note_products(&mut self, slot: usize, state: &ShellState) {
        let Some(command) = self.commands.get(slot) else { return };
        let first = command.words.first().and_then(|first| Some((first.known()?.to_owned(), first.span)));
        let Some((name, span)) = first.filter(|(name, _)| is_compiler(name)) else { return };
        let words = command.words.clone();
        let outputs = self.builds(&name, &words, state).outputs;
        let Some(command) = self.commands.get_mut(slot).filter(|command| !command.elsewhere && !outputs.is_empty())
        else {
            return;
        };
        let unknown = Value::Unknown { why: Why::CommandOutput, shape: Value::HOLE.to_string() };
        command.effects.push(Effect { copied: true, ..Effect::new(EffectKind::Read, unknown, span) });
        let made = outputs.into_iter().map(|path| Effect::new(EffectKind::Create, Value::Known(path), span));
        command.effects.extend(made);
    }

    /// Whether the session wrote a source or a part of it, and it acts or is not known.
    fn is_unread(&mut self, path: &str, state: &ShellState) -> bool {
        let Some(language) = language_of(path) else { return state.files.is_unread(path) };
        let (mut waiting, mut seen) = (vec![path.to_owned()], BTreeSet::new());
        while let Some(path) = waiting.pop() {
            if seen.len() >= MAX_PARTS {
                // What the session wrote of the rest may act.
                return is_written(&path, state) || waiting.iter().any(|path| is_written(path, state));
            }
            if !seen.insert(path.clone()) {
                continue;
            }
            let source = match self.written(&path, Span::default(), state) {
                Written::Unread => return true,
                Written::Text(text) if language.acts(&text.text) => return true,
                Written::Text(text) => Some(text.text.clone()),
                // The project's own is not judged, and may have parts that are the session's.
                Written::Not => self.untouched(&path, state).map(|text| text.to_string()),
            };
            let folder = parent(&path).unwrap_or("/");
            waiting
                .extend(source.iter().flat_map(|source| compiled::parts(source)).map(|part| absolute(&part, folder)));
        }
        false
    }

    /// The same of any source of a language that the text wrote. Of all that a session writes, a project's own commands
    /// build a part.
    fn any_unread(&mut self, language: &Language, state: &ShellState) -> bool {
        let sources: Vec<String> = state.files.written().filter(|path| language.has(path)).map(str::to_owned).collect();
        sources.iter().any(|path| self.is_unread(path, state))
    }

    /// The sources of the session with the names of these classes.
    fn class_sources(&self, words: &[&str], state: &ShellState) -> Vec<String> {
        let is_named = |path: &&str| {
            let stem = basename(path).strip_suffix(".java");
            stem.is_some_and(|stem| words.iter().any(|word| word.rsplit(['.', '/']).next() == Some(stem)))
        };
        state.files.of_session().filter(is_named).map(str::to_owned).collect()
    }
}

/// A program's name without its version: `gcc-13`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-')
}

/// Whether a compiler is told to run what it makes.
fn runs_at_once(program: &str, words: &[&str]) -> bool {
    match program {
        "tcc" => words.contains(&"-run"),
        "kotlinc" => words.contains(&"-script"),
        "nim" => words.iter().any(|word| matches!(*word, "-r" | "--run" | "r" | "e")),
        "zig" => words.first().is_some_and(|word| matches!(*word, "run" | "test")),
        "go" => words.first().is_some_and(|word| matches!(*word, "run" | "test")),
        "crystal" => words.first().is_some_and(|word| !matches!(*word, "build" | "tool" | "docs")),
        _ => false,
    }
}

/// What a compiler writes: as it is told, or by its own habit.
fn outputs(words: &[&str], default: Option<&str>) -> Vec<String> {
    let told = words.windows(2).find(|pair| matches!(pair[0], "-o" | "--output" | "-d")).map(|pair| pair[1].to_owned());
    let attached =
        words.iter().find_map(|word| word.strip_prefix("-o").filter(|rest| !rest.is_empty() && !rest.contains('=')));
    if let Some(told) = told.or_else(|| attached.map(str::to_owned)) {
        return vec![told];
    }
    if let Some(default) = default {
        return vec![default.to_owned()];
    }
    let stem = |word: &&&str| language_of(word).is_some();
    let stems =
        words.iter().filter(stem).filter_map(|word| basename(word).rsplit_once('.')).map(|(stem, _)| stem.to_owned());
    stems.collect()
}

/// Whether what a compiler reads from its input acts.
fn input_acts(state: &ShellState) -> bool {
    match &state.input {
        Input::Text(text, from) => {
            language_of_input().is_some_and(|language| language.acts(text.text.get(*from..).unwrap_or_default()))
        }
        Input::Stored(_) | Input::Unseen(_) => true,
        Input::Inherited | Input::Nothing => false,
    }
}
