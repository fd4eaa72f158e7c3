//! What a command does to which paths, as a table: one row a program.
//!
//! A program without a row only mentions its operands: it may read them, and nothing says that it writes.

use crate::path::{absolute, basename};
use crate::walk::{Command, RedirectKind};
use crate::word::{Span, Value, Why, Word};

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It is an operand of a program whose effects are not known.
    Mention,
    /// Its content is read.
    Read,
    /// It is made, or its content, mode or owner is changed.
    Write,
    /// It is removed or moved away, with everything below it.
    Delete,
}

/// Something that a command does to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What happens.
    pub access: Access,
    /// To what: absolute unless unknown. An unknown path keeps its known parts.
    pub path: Value,
    /// The same with `..` still in it, if it has any: behind a link, `..` leads elsewhere than its text says.
    pub written: Option<String>,
    /// The words that say so.
    pub span: Span,
    /// Whether it happens if the command runs. It is only possible where the directory is one of several.
    pub certain: bool,
}

/// Which operands of a program are affected how.
#[derive(Clone, Copy)]
enum Operands {
    /// All of them in the same way, after so many that are no paths.
    All(Access, usize),
    /// The last one is written, those before it are affected so.
    IntoLast(Access),
    /// Written if one of these short options is there, after so many that are no paths; else mentioned.
    WrittenWith(char, usize),
    /// No operand is a path.
    Data,
    /// So many operands are data, the rest is read.
    ReadAfter(usize),
}

#[rustfmt::skip]
const PROGRAMS: &[(&str, Operands)] = &[
    ("cat", Operands::ReadAfter(0)),
    ("chgrp", Operands::All(Access::Write, 1)),
    ("chmod", Operands::All(Access::Write, 1)),
    ("chown", Operands::All(Access::Write, 1)),
    ("cp", Operands::IntoLast(Access::Read)),
    ("echo", Operands::Data),
    ("egrep", Operands::ReadAfter(1)),
    ("export", Operands::Data),
    ("false", Operands::Data),
    ("fgrep", Operands::ReadAfter(1)),
    ("grep", Operands::ReadAfter(1)),
    ("head", Operands::ReadAfter(0)),
    ("install", Operands::IntoLast(Access::Read)),
    ("less", Operands::ReadAfter(0)),
    ("ln", Operands::IntoLast(Access::Read)),
    ("mkdir", Operands::All(Access::Write, 0)),
    ("mv", Operands::IntoLast(Access::Delete)),
    ("perl", Operands::WrittenWith('i', 0)),
    ("printf", Operands::Data),
    ("rg", Operands::ReadAfter(1)),
    ("rm", Operands::All(Access::Delete, 0)),
    ("rmdir", Operands::All(Access::Delete, 0)),
    ("rsync", Operands::IntoLast(Access::Read)),
    ("sed", Operands::WrittenWith('i', 1)),
    ("shred", Operands::All(Access::Delete, 0)),
    ("sponge", Operands::All(Access::Write, 0)),
    ("tail", Operands::ReadAfter(0)),
    ("tee", Operands::All(Access::Write, 0)),
    ("touch", Operands::All(Access::Write, 0)),
    ("true", Operands::Data),
    ("truncate", Operands::All(Access::Write, 0)),
    ("unlink", Operands::All(Access::Delete, 0)),
    (":", Operands::Data),
];

/// Programs whose options of these names take a text that is data: a message, a pattern, a script.
#[rustfmt::skip]
const DATA_OPTIONS: &[(&str, &[&str])] = &[
    ("egrep", &["-e", "--regexp"]),
    ("fgrep", &["-e", "--regexp"]),
    ("gh", &["-t", "--title", "-b", "--body"]),
    ("git", &["-m", "--message"]),
    ("grep", &["-e", "--regexp"]),
    ("rg", &["-e", "--regexp"]),
    ("sed", &["-e", "--expression"]),
];

/// Options that name a file which the program writes.
#[rustfmt::skip]
const OUTPUT_OPTIONS: &[(&str, &[&str])] = &[
    ("curl", &["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar"]),
    ("gcc", &["-o"]),
    ("cc", &["-o"]),
    ("gpg", &["-o", "--output"]),
    ("openssl", &["-out"]),
    ("patch", &["-o", "--output"]),
    ("rustc", &["-o"]),
    ("sort", &["-o", "--output"]),
    ("wget", &["-O", "--output-document", "-o", "--output-file"]),
];

/// Options after which no operand is a pattern or a script, besides those above: they name a file of them, or list.
const NO_PATTERN: &[&str] = &["-f", "--file", "--files", "--type-list"];

/// Paths that stand for a stream, not for a file.
const STREAMS: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

impl Command {
    /// For each word, whether it is a text that the program only prints, stores or searches for.
    pub fn data(&self) -> Vec<bool> {
        let mut data = vec![false; self.words.len()];
        let Some(program) = self.program() else { return data };
        let row = operands_of(program);
        if matches!(row, Some(Operands::Data)) {
            data.iter_mut().skip(1).for_each(|word| *word = true);
            return data;
        }
        let options = DATA_OPTIONS.iter().find(|row| row.0 == program).map_or(&[][..], |row| row.1);
        let end = self.words.iter().position(|word| word.known() == Some("--")).unwrap_or(self.words.len());
        let mut pattern_given = false;
        let mut at = 1;
        while at < end {
            let text = self.words[at].known().unwrap_or_default();
            let given = |name: &str| match name.starts_with("--") {
                true => text.split('=').next() == Some(name),
                false => text.starts_with('-') && !text.starts_with("--") && text.contains(&name[1..]),
            };
            pattern_given |= options.iter().chain(NO_PATTERN).any(|name| given(name));
            if options.contains(&text) {
                // The next word is its text, whatever that looks like.
                data.get_mut(at + 1).into_iter().for_each(|word| *word = true);
                at += 1;
            } else if text.split_once('=').is_some_and(|(name, _)| options.contains(&name)) {
                data[at] = true;
            }
            at += 1;
        }
        if let Some(Operands::ReadAfter(count) | Operands::WrittenWith(_, count)) = row
            && !pattern_given
        {
            let first: Vec<usize> = self.operands().map(|(at, _)| at).filter(|at| !data[*at]).take(count).collect();
            first.into_iter().for_each(|at| data[at] = true);
        }
        data
    }

    /// The words after the program that are no options.
    fn operands(&self) -> impl Iterator<Item = (usize, &Word)> {
        let mut options_end = false;
        self.words.iter().enumerate().skip(1).filter(move |(_, word)| {
            if options_end {
                return true;
            }
            match word.known() {
                Some("--") => {
                    options_end = true;
                    false
                }
                Some(text) => !(text.len() > 1 && text.starts_with('-')),
                None => true,
            }
        })
    }

    /// Whether a short option is among the words, alone or in a cluster, or a long one of this name.
    fn has_option(&self, short: char, long: &str) -> bool {
        self.words.iter().skip(1).filter_map(Word::known).any(|text| {
            if text.starts_with("--") {
                text.split('=').next() == Some(long)
            } else {
                text.starts_with('-') && text.contains(short)
            }
        })
    }
}

fn operands_of(program: &str) -> Option<Operands> {
    PROGRAMS.iter().find(|row| row.0 == program).map(|row| row.1)
}

/// Everything that a command does to paths, its redirects included, in the order of its words.
pub fn effects(command: &Command) -> Vec<Effect> {
    let mut found = Found { command, data: command.data(), effects: Vec::new() };
    found.options();
    found.operands();
    for redirect in &command.redirects {
        let access = match redirect.kind {
            RedirectKind::Read => Access::Read,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => Access::Write,
        };
        found.add(access, &redirect.target.value, redirect.target.span);
    }
    // Running a file by its path mentions it.
    if let Some(program) = command.words.first().filter(|word| word.known().is_none_or(|text| text.contains('/'))) {
        found.add(Access::Mention, &program.value, program.span);
    }
    found.effects
}

struct Found<'a> {
    command: &'a Command,
    data: Vec<bool>,
    effects: Vec<Effect>,
}

impl Found<'_> {
    /// Adds an effect, once for each directory that the command may run in.
    fn add(&mut self, access: Access, path: &Value, span: Span) {
        let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = path;
        let push = |effects: &mut Vec<Effect>, path: Value, written: Option<String>, certain: bool| {
            if !matches!(&path, Value::Known(path) if STREAMS.contains(&path.as_str())) {
                effects.push(Effect { access, path, written, span, certain });
            }
        };
        if text.starts_with(Value::HOLE) {
            return push(&mut self.effects, path.clone(), None, true);
        }
        let relative = !text.starts_with('/');
        let folders: &[String] = if relative { &self.command.folders } else { &[String::new()] };
        for (index, folder) in folders.iter().enumerate() {
            let clean = absolute(text, folder);
            let dots = text.split('/').any(|part| part == "..");
            let written = dots.then(|| if relative { format!("{folder}/{text}") } else { text.clone() });
            let path = match path {
                Value::Known(_) => Value::Known(clean),
                Value::Pattern(_) => Value::Pattern(clean),
                Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: clean },
            };
            push(&mut self.effects, path, written, index == 0);
        }
        if relative && (self.command.folders.is_empty() || self.command.cwd.is_none() && folders.len() == 1) {
            let shape = format!("{}/{}", Value::HOLE, text.trim_start_matches("./"));
            push(&mut self.effects, Value::Unknown { why: Why::Directory, shape }, None, false);
        }
    }

    fn add_all<'w>(&mut self, access: Access, words: impl Iterator<Item = &'w Word>) {
        words.for_each(|word| self.add(access, &word.value, word.span));
    }

    /// The directory itself, for programs that work there unless told otherwise.
    fn here(&mut self, access: Access) {
        self.add(access, &Value::Known(".".into()), self.command.span);
    }

    fn operands(&mut self) {
        let command = self.command;
        let operands: Vec<&Word> = command.operands().filter(|(at, _)| !self.data[*at]).map(|(_, word)| word).collect();
        let all = || operands.iter().copied();
        match command.program() {
            Some("find") => self.find(),
            Some("ls") if operands.is_empty() => self.here(Access::Read),
            Some("dd") => {
                for word in &operands {
                    let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = &word.value;
                    let (access, rest) = match (text.strip_prefix("of="), text.strip_prefix("if=")) {
                        (Some(rest), _) => (Access::Write, rest),
                        (_, Some(rest)) => (Access::Read, rest),
                        _ => continue,
                    };
                    let path = match &word.value {
                        Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: rest.to_owned() },
                        _ => Value::Known(rest.to_owned()),
                    };
                    self.add(access, &path, word.span);
                }
            }
            Some("git") => {
                // Before the subcommand stand values of options, so all are taken for paths.
                let subcommand = all().find_map(|word| match word.known() {
                    Some("rm" | "clean" | "mv") => Some(Access::Delete),
                    Some("checkout" | "restore") => Some(Access::Write),
                    _ => None,
                });
                self.add_all(subcommand.unwrap_or(Access::Mention), all());
            }
            Some(program) => match operands_of(program) {
                None => self.add_all(Access::Mention, all()),
                Some(Operands::All(access, skip)) => self.add_all(access, all().skip(skip)),
                Some(Operands::IntoLast(access)) => {
                    let folders = program == "install" && command.has_option('d', "--directory");
                    let elsewhere = command.has_option('t', "--target-directory") || operands.len() < 2;
                    let last = operands.len() - usize::from(!elsewhere);
                    self.add_all(if folders { Access::Write } else { access }, all().take(last));
                    self.add_all(Access::Write, all().skip(last));
                }
                Some(Operands::WrittenWith(short, _)) => {
                    let written = command.has_option(short, "--in-place");
                    self.add_all(if written { Access::Write } else { Access::Read }, all());
                }
                // Data has been taken out above.
                Some(Operands::Data | Operands::ReadAfter(_)) => self.add_all(Access::Read, all()),
            },
            // The program itself is not known: any operand may be anything.
            None => self.add_all(Access::Mention, command.words.iter().skip(1)),
        }
    }

    fn find(&mut self) {
        let words = &self.command.words;
        let removes = |word: &Word| {
            let operands = word.known().map(basename).and_then(operands_of);
            matches!(operands, Some(Operands::All(Access::Delete, _) | Operands::IntoLast(Access::Delete)))
        };
        let runs = |word: &Word| matches!(word.known(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
        let deletes = words.iter().any(|word| word.known() == Some("-delete"))
            || words.windows(2).any(|pair| runs(&pair[0]) && removes(&pair[1]));
        let access = if deletes { Access::Delete } else { Access::Read };
        // The starting points stand before the first test.
        let tests = |word: &Word| {
            word.known().is_some_and(|text| {
                text == "(" || text == "!" || (text.starts_with('-') && !matches!(text, "-H" | "-L" | "-P"))
            })
        };
        let first = words.iter().skip(1).position(tests).map_or(words.len(), |at| at + 1);
        let starts = words[1..first].iter().filter(|word| word.known().is_none_or(|text| !text.starts_with('-')));
        let before = self.effects.len();
        self.add_all(access, starts);
        if self.effects.len() == before {
            self.here(access);
        }
    }

    /// Paths inside options: `--output=FILE`, `-I/path`, `@file` of curl.
    fn options(&mut self) {
        let command = self.command;
        for (index, word) in command.words.iter().enumerate().skip(1) {
            let Some(text) = word.known().filter(|_| !self.data[index]) else { continue };
            let into = matches!(command.program().and_then(operands_of), Some(Operands::IntoLast(_)));
            let is_target = text.starts_with("-t") || text.starts_with("--target-directory");
            let outputs =
                OUTPUT_OPTIONS.iter().find(|row| command.program() == Some(row.0)).map_or(&[][..], |row| row.1);
            if outputs.contains(&text)
                && let Some(next) = command.words.get(index + 1)
            {
                self.add(Access::Write, &next.value, next.span);
                continue;
            }
            let output = outputs.iter().any(|name| text.strip_prefix(name).is_some_and(|rest| !rest.is_empty()));
            let access = if output || (into && is_target) { Access::Write } else { Access::Mention };
            let value = match text.split_once('=') {
                // `of=` and `if=` of dd have a row of their own.
                Some(_) if command.program() == Some("dd") => continue,
                Some((_, value)) => value,
                None if text.starts_with('-') => match text.find(['/', '.', '~']) {
                    Some(at) => &text[at..],
                    // `-t DIR`: the next word is an operand to the rows above; here it is the target.
                    None if into && text == "-t" => match command.words.get(index + 1).and_then(Word::known) {
                        Some(next) => next,
                        None => continue,
                    },
                    None => continue,
                },
                None => text,
            };
            let file = value.split_once('@').map_or(value, |(_, file)| file);
            if !file.is_empty() && file != text {
                self.add(access, &Value::Known(file.to_owned()), word.span);
            }
        }
    }
}
