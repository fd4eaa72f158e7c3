//! What a command does to which paths.
//!
//! The specs of `toolgate-commands` say what programs do (`table`) and `options` reads the words by them. What a spec cannot
//! say is code in the other files; `dispatch` finds it.
//! A program without a row only mentions its operands: it may read them, and nothing says that it does not write.
//!
//! What a program does to files that none of its words names (a build tool, `git` in `.git`) is a glob, and never
//! certain. What a word names is a path, however unlikely the effect: only [`Effect::certain`] depends on the facts.
//! A [`Effect::copied`] effect stands right before that on the path to which it is copied.

mod archive;
mod build;
mod containers;
mod dispatch;
mod effect_completeness;
mod files;
mod git;
mod media;
mod network;
mod options;
mod script;
mod search;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use toolgate_commands::{FileUse, OperandUse, Syntax};

pub(crate) use self::effect_completeness::{only_names, runs_code};
use self::options::{Arg, Args, is_script, read};
use self::table::Row;
use crate::command::{Command, Effect, EffectKind, Named, Redirect, RedirectKind};
use crate::facts::{FileOracle, Presence};
use toolgate_shell_syntax::glob::{escaped, unescaped};
use toolgate_shell_syntax::path::{absolute, is_within, reopened};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Everything that a command does to paths, its redirects included, in the order of its words.
pub(crate) fn effects(command: &Command, call: &Call, look: &dyn FileOracle) -> Vec<Effect> {
    let mut bases: Vec<Value> = command.folders.iter().cloned().map(Value::Known).collect();
    if bases.is_empty() || command.other_folders {
        bases.push(Value::hole(Why::Directory));
    }
    let mut all = Vec::new();
    for (index, base) in bases.into_iter().enumerate() {
        let mut run = Run {
            look,
            input: command.input(),
            given: None,
            args: &call.args,
            name: call.name,
            span: command.span,
            here: Here { value: base, depends: true, dots: false },
            alternative: index > 0,
            settled: index == 0 && command.shell_cwd.is_some(),
            sure: call.args.sure,
            found: Vec::new(),
        };
        run.command(command, call);
        let found = run.found.into_iter();
        if index == 0 {
            // In the place of what was found: of a long command it is most of the memory there is.
            all = found.map(|(effect, _)| effect).collect();
        } else {
            // What does not depend on the directory has been said before.
            all.extend(found.filter(|(_, depends)| *depends).map(|(effect, _)| effect));
        }
    }
    all
}

/// Whether a program of this name is one that is known here.
pub(crate) fn knows(program: &str) -> bool {
    table::find(program).is_some()
}

/// Folders whose programs are what their names say.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/usr/games",
    "/lib64",
    "/usr/lib64",
];

/// Whether a path is one of a program of the system.
pub fn is_system(program: &str) -> bool {
    program.rsplit_once('/').is_some_and(|(folder, _)| SYSTEM.contains(&folder))
}

/// A command read by the row of its program.
pub(crate) struct Call {
    row: Option<Row>,
    /// The program's name in the table, or the subcommand's.
    name: &'static str,
    /// The first word after that name.
    first: usize,
    /// The options before a subcommand.
    outer: Vec<Args>,
    args: Args,
    /// How many of the operands are no paths but a script, a pattern, a mode.
    scripts: usize,
}

impl Call {
    pub(crate) fn read(command: &Command) -> Self {
        let more = Word { several: true, ..Word::unknown(Why::Argument, command.span) };
        let mut words = Cow::Borrowed(&command.words);
        if command.more_words {
            words.to_mut().push(more);
        }
        let mut found = command.program().and_then(table::find);
        let mut call = Call { row: None, name: "", first: 1, outer: Vec::new(), args: Args::default(), scripts: 0 };
        let mut sure = command.words.first().and_then(Word::known).is_some_and(|text| {
            // `./rm` may be anything, whatever it is called.
            !text.contains('/') || is_system(text)
        });
        while let Some((name, row)) = found {
            (call.row, call.name) = (Some(row), name);
            if row.files.does != OperandUse::Subcommand {
                break;
            }
            let (args, at) = read(&words, call.first, row.spec, row.files.syntax, true);
            sure &= args.sure;
            // `cargo +nightly build`
            let toolchain =
                name == "cargo" && words.get(at).and_then(Word::known).is_some_and(|word| word.starts_with('+'));
            let at = at + usize::from(toolchain);
            // An unknown word may be an option of the program and its value.
            let name = |at: usize| words.get(at).and_then(Word::known).and_then(|name| row.subcommand(name));
            let hidden = words.get(at).is_some_and(|word| word.known().is_none());
            let next = if hidden { (at..words.len().min(at + 4)).find(|at| name(*at).is_some()) } else { Some(at) };
            found = next.and_then(name);
            if words.len() > at || found.is_some() {
                call.outer.push(args);
                call.first = next.filter(|_| found.is_some()).map_or(at, |next| next + 1);
            }
            if found.is_none() && words.len() <= at && row.files.bare {
                found = row.first();
                call.first = words.len();
            } else if found.is_none() {
                // Without a subcommand it prints help; one without a row is not known.
                call.row = if words.len() > at { None } else { Row::of(&table::NOTHING) };
                break;
            }
        }
        let (spec, syntax) = call.row.map_or((&table::NOTHING, Syntax::Gnu), |row| (row.spec, row.files.syntax));
        call.args = read(&words, call.first, spec, syntax, false).0;
        call.args.sure &= sure;
        call.scripts = match call.row {
            Some(row) if !call.args.given.iter().any(|given| is_script(given.file)) => row.leading(),
            _ => 0,
        };
        // `sed -i '' SCRIPT FILE` is written for the other sed, whose suffix is a word of its own.
        if call.name == "sed" && call.args.has("i") && call.scripts == 1 && call.args.operands.len() > 2 {
            call.scripts += usize::from(call.args.operands.first().and_then(Arg::known) == Some(""));
        }
        call
    }

    /// Whether the program may change files that its words do not name: it has no row, or it is one that builds.
    pub(crate) fn is_unlisted(&self, command: &Command) -> bool {
        let Some(first) = command.words.first() else { return false };
        let foreign = first.known().is_none_or(|text| text.contains('/') && !is_system(text));
        // A file of a language, and not a script among the words.
        let script = matches!(self.name, "perl" | "ruby") && !self.args.has("e");
        let script = script || (self.name.ends_with("awk") && self.args.has("f"));
        foreign || script || self.row.is_none_or(|row| row.files.wild)
    }

    /// For each of so many words, whether it is a text that the program only prints, stores or searches for.
    pub(crate) fn data(&self, words: usize) -> Vec<bool> {
        let mut data = vec![false; words];
        let mut mark = |at: usize| data.get_mut(at).into_iter().for_each(|word| *word = true);
        if self.row.is_some_and(|row| row.files.does == OperandUse::Data) {
            (self.first..words).for_each(mark);
        } else {
            self.outer.iter().flat_map(|args| &args.data).chain(&self.args.data).copied().for_each(&mut mark);
            if self.row.is_some_and(|row| row.files.pattern) {
                self.args.operands.iter().take(self.scripts).for_each(|operand| mark(operand.word));
            }
        }
        data
    }
}

impl Command {
    /// For each word, whether it is a text that the program only prints, stores or searches for.
    pub fn data(&self) -> Cow<'_, [bool]> {
        match &self.data {
            Some(data) => Cow::Borrowed(data),
            None => Cow::Owned(Call::read(self).data(self.words.len())),
        }
    }
}

/// A path as one command means it.
#[derive(Clone, Debug)]
struct ResolvedPath {
    /// Absolute and clean if known.
    value: Value,
    written: Option<String>,
    span: Span,
    /// It was written as a folder: with a slash at its end.
    slash: bool,
    /// It depends on the directory.
    depends: bool,
    /// `..` after a name, so that a link may lead elsewhere.
    dots: bool,
    /// The empty text, which no file has for a path.
    empty: bool,
    /// Another one is rather meant.
    unlikely: bool,
    named: Named,
}

impl ResolvedPath {
    fn known(&self) -> Option<&str> {
        self.value.known()
    }

    /// Whether it is the folder or below it.
    fn is_below(&self, folder: &ResolvedPath) -> bool {
        match (self.known(), folder.known()) {
            (Some(path), Some(folder)) => is_within(path, folder),
            _ => false,
        }
    }
}

/// More about an effect.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    certain: bool,
    recursive: bool,
    folder: bool,
    copied: bool,
    used: bool,
}

impl Mark {
    fn certain(certain: bool) -> Self {
        Mark { certain, ..Mark::default() }
    }

    fn possible() -> Self {
        Mark::default()
    }

    fn recursive(self, recursive: bool) -> Self {
        Mark { recursive, ..self }
    }

    fn folder(self, folder: bool) -> Self {
        Mark { folder, ..self }
    }

    fn copied(self) -> Self {
        Mark { copied: true, ..self }
    }

    fn used(self) -> Self {
        Mark { used: true, ..self }
    }
}

/// Paths that stand for a stream, not for a file.
const STREAMS: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/full"];

fn is_stream(path: &str) -> bool {
    STREAMS.contains(&path) || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/")
}

/// The folder in which a command works.
#[derive(Clone, Debug)]
struct Here {
    /// Absolute if known.
    value: Value,
    depends: bool,
    dots: bool,
}

/// One command in one directory.
struct Run<'a> {
    look: &'a dyn FileOracle,
    /// What it may read from standard input, if that is known.
    input: Option<&'a str>,
    /// The file that its standard input is, if that is known.
    given: Option<String>,
    args: &'a Args,
    name: &'static str,
    span: Span,
    here: Here,
    alternative: bool,
    /// Whether the directory is certain.
    settled: bool,
    /// Whether the command does what its words say, and not only prints an error.
    sure: bool,
    found: Vec<(Effect, bool)>,
}

impl<'a> Run<'a> {
    fn command(&mut self, command: &Command, call: &'a Call) {
        let sure = std::mem::replace(&mut self.sure, true);
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
        let redirects = std::mem::take(&mut self.found);
        self.sure &= sure;
        if let Some(program) = command.words.first() {
            self.program(program);
            match call.row {
                Some(row) => {
                    self.bases(call);
                    self.options(call);
                    self.row(row, call);
                    if matches!(row.files.does, OperandUse::Makes(_)) {
                        self.outputs(command.words.get(call.first..).unwrap_or_default(), &call.args);
                    }
                    if !matches!(row.files.does, OperandUse::Data | OperandUse::Nothing | OperandUse::Mentions) {
                        call.outer.iter().chain([&call.args]).for_each(|args| self.loose(args));
                    }
                }
                None => {
                    self.unknown(command);
                    self.outputs(command.words.get(1..).unwrap_or_default(), &call.args);
                }
            }
        }
        self.found.extend(redirects);
    }

    /// A redirect that fails keeps the command from running.
    fn redirect(&mut self, redirect: &Redirect) {
        let place = self.place(&redirect.target.value, redirect.target.span);
        let stream = place.known().is_some_and(is_stream);
        let writable = self.writable(&place);
        let kept = match redirect.kind {
            RedirectKind::Read => {
                let is_file = self.at(&place) == Presence::File;
                if redirect.fd.is_none_or(|fd| fd == 0) {
                    self.given = place.known().map(str::to_owned);
                }
                self.add(EffectKind::Read, &place, Mark::certain(is_file));
                is_file
            }
            RedirectKind::Write => {
                self.add(EffectKind::Write, &place, Mark::certain(writable));
                writable
            }
            RedirectKind::Append => {
                self.add(EffectKind::Append, &place, Mark::certain(writable));
                writable
            }
            RedirectKind::ReadWrite => {
                self.add(EffectKind::Read, &place, Mark::possible());
                let new = writable && self.at(&place) == Presence::Absent;
                self.add(EffectKind::Write, &place, Mark::certain(new));
                writable
            }
        };
        self.sure &= stream || kept;
    }

    /// The file of the program itself.
    fn program(&mut self, program: &Word) {
        match program.known() {
            Some(text) if !text.contains('/') => {}
            _ => {
                let kind =
                    if program.value.followed_as().is_some() { EffectKind::Execute } else { EffectKind::Mention };
                let place = self.place(&program.value, program.span);
                self.add(kind, &place, Mark::possible());
            }
        }
    }

    /// Changes to the folders that options name.
    fn bases(&mut self, call: &Call) {
        let given = call.outer.iter().chain([&call.args]).flat_map(|args| &args.given);
        for value in given.filter(|given| given.file == FileUse::Base).filter_map(|given| given.value.as_ref()) {
            self.enter(value);
        }
    }

    /// Works in this folder from here on.
    fn enter(&mut self, folder: &Arg) {
        let place = self.word(folder);
        if !place.empty {
            self.sure &= self.at(&place) == Presence::Folder;
            self.here = Here { value: place.value, depends: place.depends, dots: place.dots };
        }
    }

    /// What the options say by themselves.
    fn options(&mut self, call: &Call) {
        for given in call.outer.iter().chain([&call.args]).flat_map(|args| &args.given) {
            let Some(value) = given.value.as_ref() else { continue };
            if value.known() == Some("-") {
                continue;
            }
            // No file has the empty name.
            self.sure &= value.known() != Some("") || !matches!(given.file, FileUse::Write | FileUse::Read);
            let place = self.word(value);
            match given.file {
                FileUse::Read | FileUse::ScriptFile => self.reads(&place),
                FileUse::Key => self.uses(&place),
                FileUse::Write => self.writes(&place, false),
                FileUse::Append => self.add(EffectKind::Append, &place, Mark::possible()),
                FileUse::Below => {
                    if self.at(&place) == Presence::Absent {
                        self.add(EffectKind::Create, &place, Mark::possible().folder(true));
                    }
                    self.below(EffectKind::Write, &place);
                }
                FileUse::Mention => self.add(EffectKind::Mention, &place, Mark::possible()),
                FileUse::Execute => self.add(EffectKind::Execute, &place, Mark::possible()),
                FileUse::Send => self.send(value),
                _ => {}
            }
        }
    }

    fn row(&mut self, row: Row, call: &'a Call) {
        let operands = call.args.operands.get(call.scripts..).unwrap_or_default();
        match row.files.does {
            OperandUse::Data | OperandUse::Nothing | OperandUse::Subcommand => {}
            OperandUse::Mentions => self.mentions(call),
            OperandUse::Reads => {
                let recursive = row.files.recursive || call.args.has("r");
                for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
                    let place = self.word(operand);
                    let presence = self.at(&place);
                    let deep = recursive && presence != Presence::File;
                    let certain = Mark::certain(presence == Presence::File);
                    self.add(EffectKind::Read, &place, certain.recursive(deep));
                    // It ends at the first that is not there.
                    self.sure &= self.name != "cmp" || presence == Presence::File;
                }
                if operands.is_empty() && recursive {
                    let here = self.here();
                    self.add(EffectKind::Read, &here, Mark::possible().recursive(true));
                }
            }
            OperandUse::Uses => {
                for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
                    let place = self.word(operand);
                    self.uses(&place);
                }
            }
            OperandUse::Writes => {
                for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
                    let place = self.word(operand);
                    self.writes(&place, false);
                }
            }
            OperandUse::Formats { with, without } => {
                let has = |names: &[&str]| names.iter().any(|name| call.args.has(name));
                let writes = (with.is_empty() || has(with)) && !has(without);
                let kind = if writes { EffectKind::Write } else { EffectKind::Read };
                for operand in operands.iter().filter(|operand| operand.known() != Some("-")) {
                    let place = self.word(operand);
                    let deep = self.at(&place) != Presence::File;
                    self.add(kind, &place, Mark::possible().recursive(deep));
                }
                if operands.is_empty() && row.files.recursive {
                    let here = self.here();
                    self.below(kind, &here);
                }
            }
            OperandUse::Makes(names) => {
                self.mentions(call);
                names.iter().for_each(|name| self.implied(EffectKind::Write, name));
            }
            OperandUse::Code(code) => dispatch::handler(code)(self, operands),
        }
    }

    /// All words of a program that is not known. Any of them may be a path, and an option may hold one.
    fn unknown(&mut self, command: &Command) {
        let words = command.words.iter().enumerate().skip(1);
        for (at, word) in words {
            let arg = Arg { value: word.value.clone(), span: word.span, word: at };
            let text = arg.shape();
            let known_program = command.program().is_some();
            if !known_program || text == "-" || !text.starts_with('-') {
                self.mention(&arg);
            }
            self.inside(&arg);
        }
        if command.more_words {
            let more = Arg { value: Value::hole(Why::Argument), span: command.span, word: command.words.len() };
            self.mention(&more);
        }
    }

    /// Files that a program writes by the name of the option in front: `-o FILE`, `--output=FILE`, `--log-file FILE`. Only
    /// what is a path by its look; what a row has an option for, it says itself.
    fn outputs(&mut self, words: &[Word], args: &Args) {
        let empties = words.iter().filter_map(Word::known).any(|word| {
            let name = word.trim_start_matches('-');
            word.starts_with("--") && (name.starts_with("clean") || name.starts_with("empty"))
        });
        for (at, word) in words.iter().enumerate() {
            let Some(text) = word.known().filter(|text| text.starts_with('-')) else { continue };
            let (name, from) = text.split_once('=').map_or((text, None), |(name, _)| (name, Some(name.len() + 1)));
            let name = plain_name(name);
            let wipes = name == "basetemp";
            if !wipes && !is_output(&name) || args.given.iter().any(|given| plain_name(given.name) == name) {
                continue;
            }
            let value = match from {
                Some(from) => Some(Arg { value: word.value.clone(), span: word.span, word: at }.rest(from)),
                None => words.get(at + 1).map(|word| Arg { value: word.value.clone(), span: word.span, word: at + 1 }),
            };
            let Some(value) = value.filter(|value| value.shape().contains('/') && !value.shape().contains("://"))
            else {
                continue;
            };
            let place = self.word(&value);
            // Nothing is lost where nothing is.
            if self.at(&place) == Presence::Absent {
                continue;
            }
            if wipes || empties && self.at(&place) != Presence::File {
                self.add(EffectKind::Delete, &place, Mark::possible().recursive(true));
            } else if place.slash || self.is_folder(&place) {
                self.below(EffectKind::Write, &place);
            } else {
                self.writes(&place, false);
            }
        }
    }

    /// The same for the operands of a program that does not say what it does with them.
    fn mentions(&mut self, call: &Call) {
        for args in call.outer.iter().chain([&call.args]) {
            for operand in args.operands.iter().skip(call.scripts) {
                if !operand.shape().starts_with('-') {
                    self.mention(operand);
                }
                self.inside(operand);
            }
            self.loose(args);
        }
    }

    fn mention(&mut self, arg: &Arg) {
        if arg.known() != Some("-") {
            let place = self.word(arg);
            self.add(EffectKind::Mention, &place, Mark::possible());
        }
    }

    fn loose(&mut self, args: &Args) {
        args.loose.iter().for_each(|arg| self.inside(arg));
        args.unclear.iter().for_each(|arg| self.mention(arg));
    }

    /// A path inside a word: `--output=FILE`, `-I/path`, `data=@FILE`.
    fn inside(&mut self, arg: &Arg) {
        let text = arg.shape();
        let from = match text.find('=') {
            Some(at) => at + 1,
            None if text.starts_with('-') => match text.find(['/', '.', '~']) {
                Some(at) => at,
                None => return,
            },
            None => 0,
        };
        let from = from + text[from..].find('@').map_or(0, |at| at + 1);
        if from > 0 && from < text.len() {
            let place = self.word(&arg.rest(from));
            self.add(EffectKind::Mention, &place, Mark::possible());
        }
    }

    // Paths.

    /// The path that a word names.
    fn word(&self, arg: &Arg) -> ResolvedPath {
        self.place(&arg.value, arg.span)
    }

    fn place(&self, value: &Value, span: Span) -> ResolvedPath {
        let text = value.text();
        let dots = has_dots_after_a_name(text);
        let slash = text.ends_with('/') || text.ends_with("/.") || text == ".";
        let absolutely = |value, written| ResolvedPath {
            value,
            written,
            span,
            slash,
            depends: false,
            dots,
            empty: false,
            unlikely: false,
            named: Named::Word,
        };
        if text.is_empty() {
            return ResolvedPath { empty: true, ..absolutely(value.clone(), None) };
        }
        if text.starts_with(Value::HOLE) {
            return absolutely(value.clone(), None);
        }
        let has_dots = has_dots(text);
        if text.starts_with('/') {
            return absolutely(value.with_text(absolute(text, "")), has_dots.then(|| text.to_owned()));
        }
        let relatively = |value, written| ResolvedPath {
            depends: self.here.depends,
            dots: dots || self.here.dots,
            ..absolutely(value, written)
        };
        match &self.here.value {
            Value::Known(folder) => {
                let written = has_dots.then(|| format!("{folder}/{text}"));
                let text = match value {
                    Value::Pattern(_) => absolute(text, &escaped(folder)),
                    _ => absolute(text, folder),
                };
                relatively(value.with_text(text), written)
            }
            Value::Unknown { why, shape } if shape.starts_with(Value::HOLE) => {
                let text = match value {
                    Value::Pattern(_) => Cow::Owned(toolgate_shell_syntax::glob::holes(text)),
                    _ => Cow::Borrowed(text),
                };
                let shape = format!("{shape}/{}", text.trim_start_matches("./"));
                relatively(Value::Unknown { why: why.clone(), shape }, None)
            }
            here => {
                let joined = absolute(text, here.text());
                let value = match (here, value) {
                    (_, Value::Unknown { why, .. }) | (Value::Unknown { why, .. }, _) => {
                        Value::Unknown { why: why.clone(), shape: joined }
                    }
                    _ => Value::Pattern(joined),
                };
                relatively(value, None)
            }
        }
    }

    /// The folder in which the program works.
    fn here(&self) -> ResolvedPath {
        ResolvedPath {
            value: self.here.value.clone(),
            written: None,
            span: self.span,
            slash: true,
            depends: self.here.depends,
            dots: self.here.dots,
            empty: false,
            unlikely: false,
            named: Named::No,
        }
    }

    /// A path below a folder.
    fn under(&self, folder: &ResolvedPath, child: &Value) -> ResolvedPath {
        let (base, rest) = (folder.value.text(), child.text());
        let glob = matches!(folder.value, Value::Pattern(_)) || matches!(child, Value::Pattern(_));
        let text = [&part_of(&folder.value, glob), "/", &part_of(child, glob)].concat();
        let text = if text.starts_with(Value::HOLE) { text } else { absolute(&text, "") };
        let value = match (&folder.value, child) {
            (Value::Unknown { why, .. }, _) | (_, Value::Unknown { why, .. }) => {
                Value::Unknown { why: why.clone(), shape: text }
            }
            _ if glob => Value::Pattern(text),
            _ => Value::Known(text),
        };
        let rest_dots = has_dots(rest);
        let written = match &folder.written {
            Some(written) => Some(format!("{written}/{rest}")),
            None => rest_dots.then(|| format!("{base}/{rest}")),
        };
        ResolvedPath { value, written, slash: rest.ends_with('/'), dots: folder.dots || rest_dots, ..folder.clone() }
    }

    /// A path below a folder, with the last name of another one.
    fn inside_of(&self, folder: &ResolvedPath, source: &Arg) -> ResolvedPath {
        self.under(folder, &last_name(&source.value))
    }

    /// The same path with something added to its last name.
    fn suffixed(&self, place: &ResolvedPath, suffix: &str) -> ResolvedPath {
        let text = format!("{}{suffix}", place.value.text());
        let written = place.written.as_ref().map(|written| format!("{written}{suffix}"));
        ResolvedPath { value: place.value.with_text(text), written, slash: false, ..place.clone() }
    }

    fn parent(&self, place: &ResolvedPath) -> Option<ResolvedPath> {
        let path = place.known()?;
        let (folder, _) = path.rsplit_once('/')?;
        let folder = if folder.is_empty() { "/" } else { folder };
        (path != "/").then(|| ResolvedPath {
            value: Value::Known(folder.to_owned()),
            written: None,
            slash: false,
            ..place.clone()
        })
    }

    // Facts.

    /// What is at a path.
    fn at(&self, place: &ResolvedPath) -> Presence {
        match place.known() {
            Some(_) if place.empty => Presence::Absent,
            Some(path) => self.look.look(path),
            None => Presence::Unknown,
        }
    }

    /// Whether the text says just where it is.
    fn is_firm(&self, place: &ResolvedPath) -> bool {
        (self.settled || !place.depends) && !place.dots && place.known().is_some()
    }

    fn is_folder(&self, place: &ResolvedPath) -> bool {
        self.at(place) == Presence::Folder
    }

    fn parent_is_folder(&self, place: &ResolvedPath) -> bool {
        self.parent(place).is_some_and(|parent| self.is_folder(&parent))
    }

    /// Whether a file can be written there, as far as the facts say.
    fn writable(&self, place: &ResolvedPath) -> bool {
        let presence = self.at(place);
        !place.slash && !matches!(presence, Presence::Folder | Presence::Other) && self.parent_is_folder(place)
    }

    // Effects.

    fn add(&mut self, kind: EffectKind, place: &ResolvedPath, mark: Mark) {
        if place.empty {
            return;
        }
        if place.known().is_some_and(is_stream) {
            // What it stands for is told once all that the text opens is known.
            if is_change(kind) && place.known().and_then(reopened).is_some() {
                self.found.push((Effect::new(EffectKind::Write, place.value.clone(), place.span), false));
            }
            return;
        }
        let sure = self.sure && self.is_firm(place);
        let effect = Effect {
            kind,
            path: place.value.clone(),
            written: place.written.clone(),
            span: place.span,
            recursive: mark.recursive,
            folder: mark.folder,
            copied: mark.copied,
            certain: mark.certain && sure,
            alternative: place.unlikely || (self.alternative && place.depends),
            named: place.named,
            used: mark.used,
        };
        self.found.push((effect, place.depends));
        // `rm -rf LINK/` removes what is in the folder that the link leads to.
        let leads_on = |path: &str| self.look.real(path).is_some_and(|real| real != path);
        if kind == EffectKind::Delete && mark.recursive && place.slash && place.known().is_some_and(leads_on) {
            let inside = self.under(place, &Value::Pattern("*".into()));
            self.add(kind, &inside, mark);
        }
    }

    fn reads(&mut self, place: &ResolvedPath) {
        let certain = self.at(place) == Presence::File;
        self.add(EffectKind::Read, place, Mark::certain(certain));
    }

    /// Its content is read to be used, and not shown.
    fn uses(&mut self, place: &ResolvedPath) {
        let certain = self.at(place) == Presence::File;
        self.add(EffectKind::Read, place, Mark::certain(certain).used());
    }

    /// Its content is written, or it is made if nothing is there.
    fn writes(&mut self, place: &ResolvedPath, certain: bool) {
        let kind = if self.at(place) == Presence::Absent { EffectKind::Create } else { EffectKind::Write };
        self.add(kind, place, Mark::certain(certain));
    }

    /// Files below a folder whose names are not known.
    fn below(&mut self, kind: EffectKind, folder: &ResolvedPath) {
        if !folder.empty {
            let mut place = self.under(folder, &Value::Pattern("**".into()));
            if place.named == Named::Word {
                place.named = Named::Below;
            }
            self.add(kind, &place, Mark::possible());
        }
    }

    /// A file that no word names, given as a glob below the folder in which the program works.
    fn implied(&mut self, kind: EffectKind, glob: &str) {
        let here = self.here();
        let place = self.under(&here, &Value::Pattern(glob.to_owned()));
        self.add(kind, &place, Mark::possible());
    }

    /// A place in the network, as written.
    /// What happens to files whose names it reads.
    fn listed(&mut self, kind: EffectKind) {
        self.found.push((Effect::new(kind, Value::hole(Why::Argument), self.span), false));
    }

    fn send(&mut self, arg: &Arg) {
        let value = match &arg.value {
            // A `?` in an address makes it a glob, and no file is called so.
            Value::Pattern(pattern) => Value::Known(unescaped(pattern)),
            value => value.clone(),
        };
        let place = ResolvedPath { value, depends: false, dots: false, ..self.word(arg) };
        self.add(EffectKind::Send, &ResolvedPath { written: None, ..place }, Mark::possible());
    }
}

/// Whether an effect of this kind changes what is at a path.
fn is_change(kind: EffectKind) -> bool {
    !matches!(kind, EffectKind::Mention | EffectKind::Read | EffectKind::Execute | EffectKind::Send)
}

/// Opening a descriptor's path opens the file behind it anew: `exec 3< FILE; echo x > /dev/fd/3` writes to the file. Puts the
/// files that the text opens for reading in the place of such paths. Of a descriptor whose number is not known it may be
/// any file that the text reads.
pub(crate) fn resolve_reopened(commands: &mut [Command]) {
    let descriptor = |effect: &Effect| {
        let path = effect.path.text();
        if !path.starts_with("/dev/") && !path.starts_with("/proc/") || !is_change(effect.kind) {
            return None;
        }
        reopened(path)
    };
    if !commands.iter().flat_map(|command| &command.effects).any(|effect| descriptor(effect).is_some()) {
        return;
    }
    let mut opened: Vec<(Option<Option<u32>>, Value)> = Vec::new();
    for command in commands.iter() {
        for effect in command.effects.iter().filter(|effect| effect.kind == EffectKind::Read) {
            let redirect = command.redirects.iter().find(|redirect| redirect.target.span == effect.span);
            opened.push((redirect.map(|redirect| redirect.fd), effect.path.clone()));
        }
    }
    for command in commands {
        let mut effects = Vec::with_capacity(command.effects.len());
        for effect in command.effects.drain(..) {
            let Some(number) = descriptor(&effect) else {
                effects.push(effect);
                continue;
            };
            // One that nothing opens by its number is another one's copy (`exec 4<&3`), or the caller's.
            let is_copy = number.is_some_and(|number| !opened.iter().any(|(fd, _)| *fd == Some(Some(number))));
            let behind = opened.iter().filter(|(fd, _)| match (fd, number) {
                (Some(_), Some(_)) if is_copy => true,
                (Some(Some(fd)), Some(number)) => *fd == number,
                (Some(None), _) | (_, None) => true,
                (None, Some(_)) => false,
            });
            effects.extend(behind.map(|(_, path)| Effect::new(EffectKind::Write, path.clone(), effect.span)));
            if !effect.path.known().is_some_and(is_stream) {
                effects.push(effect);
            }
        }
        command.effects = effects;
    }
}

/// The name of an option without dashes and in small letters.
fn plain_name(option: &str) -> String {
    option.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Whether an option of this name, without dashes, is followed by a file or folder that the program writes.
fn is_output(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "o", "out", "output", "outfile", "outputfile", "outpath", "outputpath", "outdir", "outputdir", "log", "logfile", "logpath",
        "reportfile", "junitxml", "junitfile", "metafile", "dest", "destination", "destdir", "exportjson", "exportcsv", "exportmarkdown",
    ];
    NAMES.contains(&name)
}

/// The last name of a path: `c` of `a/b/c/`.
fn last_name(value: &Value) -> Value {
    let text = value.text().trim_end_matches('/');
    let name = text.rsplit('/').next().unwrap_or(text).to_owned();
    match value {
        Value::Unknown { .. } if !name.contains(Value::HOLE) => Value::Known(name),
        Value::Pattern(_) if !name.contains(['*', '?', '[', '\\']) => Value::Known(name),
        _ => value.with_text(name),
    }
}

/// Whether one of the parts of a path is `..`.
fn has_dots(text: &str) -> bool {
    text.contains("..") && text.split('/').any(|part| part == "..")
}

/// `a/../b`, where `a` may be a link.
fn has_dots_after_a_name(text: &str) -> bool {
    text.contains("..") && text.split('/').skip_while(|part| matches!(*part, "" | "." | "..")).any(|part| part == "..")
}

/// The text of a value as a part of a longer one, which may be a glob.
fn part_of(value: &Value, glob: bool) -> Cow<'_, str> {
    match value {
        Value::Known(text) if glob => Cow::Owned(escaped(text)),
        value => Cow::Borrowed(value.text()),
    }
}
