//! What a command does to which paths, as a table: one row a program.
//!
//! A program without a row only mentions its operands: it may read them, and nothing says that it writes.

use crate::path::{absolute, basename};
use crate::walk::{Command, RedirectKind};
use crate::word::{Span, Value, Word};

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
    /// The words that say so.
    pub span: Span,
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
    ("tail", Operands::ReadAfter(0)),
    ("tee", Operands::All(Access::Write, 0)),
    ("touch", Operands::All(Access::Write, 0)),
    ("true", Operands::Data),
    ("truncate", Operands::All(Access::Write, 0)),
    ("unlink", Operands::All(Access::Delete, 0)),
    (":", Operands::Data),
];

/// Programs whose option of this name takes a text that is data: a message, a pattern.
#[rustfmt::skip]
const DATA_OPTIONS: &[(&str, &[&str])] = &[
    ("git", &["-m", "--message"]),
    ("gh", &["-t", "--title", "-b", "--body"]),
    ("grep", &["-e", "--regexp"]),
    ("rg", &["-e", "--regexp"]),
];

/// Paths that stand for a stream, not for a file.
const STREAMS: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

impl Command {
    /// Whether the word at this index is a text that the program only prints, stores or searches for.
    pub fn is_data(&self, index: usize) -> bool {
        let Some(program) = self.program() else { return false };
        if index == 0 {
            return false;
        }
        let options = DATA_OPTIONS.iter().find(|row| row.0 == program).map_or(&[][..], |row| row.1);
        if self.words.get(index - 1).and_then(Word::known).is_some_and(|word| options.contains(&word)) {
            return true;
        }
        let text = self.words[index].known();
        if text.and_then(|text| text.split_once('=')).is_some_and(|(name, _)| options.contains(&name)) {
            return true;
        }
        match operands_of(program) {
            Some(Operands::Data) => true,
            // With the pattern in an option there is none among the operands.
            Some(Operands::ReadAfter(data)) if data > 0 => {
                let in_option = self.words.iter().any(|word| word.known().is_some_and(|text| options.contains(&text)));
                !in_option && self.operands().take(data).any(|(at, _)| at == index)
            }
            Some(Operands::WrittenWith(_, data)) if data > 0 => self.operands().take(data).any(|(at, _)| at == index),
            _ => false,
        }
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
    let mut found = Vec::new();
    for (index, word) in command.words.iter().enumerate().skip(1) {
        if !command.is_data(index) {
            option_value(command, word, &mut found);
        }
    }
    let operands: Vec<(usize, &Word)> = command.operands().filter(|(at, _)| !command.is_data(*at)).collect();
    let mut push = |access: Access, words: &mut dyn Iterator<Item = &Word>| {
        for word in words {
            found.push(Effect { access, path: locate(&word.value, command.cwd.as_deref()), span: word.span });
        }
    };
    let all = || operands.iter().map(|(_, word)| *word);
    match command.program() {
        Some("find") => {
            let deletes = command.words.iter().any(|word| word.known() == Some("-delete"))
                || command.words.windows(2).any(|pair| {
                    matches!(pair[0].known(), Some("-exec" | "-execdir" | "-ok" | "-okdir"))
                        && pair[1].known().map(basename).and_then(operands_of).is_some_and(|operands| {
                            matches!(operands, Operands::All(Access::Delete, _) | Operands::IntoLast(Access::Delete))
                        })
                });
            let access = if deletes { Access::Delete } else { Access::Read };
            // The starting points stand before the first test.
            let first = command.words.iter().skip(1).position(|word| {
                word.known().is_some_and(|text| {
                    text.starts_with('-') && !matches!(text, "-H" | "-L" | "-P") || text == "(" || text == "!"
                })
            });
            let starts = &command.words[1..first.map_or(command.words.len(), |at| at + 1)];
            if starts.is_empty() {
                found.push(Effect {
                    access,
                    path: locate(&Value::Known(".".into()), command.cwd.as_deref()),
                    span: command.span,
                });
            } else {
                push(access, &mut starts.iter());
            }
        }
        Some("ls") if operands.is_empty() => {
            found.push(Effect {
                access: Access::Read,
                path: locate(&Value::Known(".".into()), command.cwd.as_deref()),
                span: command.span,
            });
        }
        Some("dd") => {
            for (_, word) in &operands {
                let access = match word.known() {
                    Some(text) if text.starts_with("of=") => Access::Write,
                    Some(text) if text.starts_with("if=") => Access::Read,
                    _ => continue,
                };
                let path = Value::Known(word.known().unwrap_or_default()[3..].to_owned());
                found.push(Effect { access, path: locate(&path, command.cwd.as_deref()), span: word.span });
            }
        }
        Some("git") => {
            let access = match operands.first().and_then(|(_, word)| word.known()) {
                Some("rm" | "clean" | "mv") => Access::Delete,
                Some("checkout" | "restore") => Access::Write,
                _ => Access::Mention,
            };
            push(access, &mut all().skip(1));
        }
        Some(program) => match operands_of(program) {
            None => push(Access::Mention, &mut all()),
            Some(Operands::All(access, skip)) => push(access, &mut all().skip(skip)),
            Some(Operands::IntoLast(access)) => {
                let targeted = command.has_option('t', "--target-directory");
                let last = operands.len() - usize::from(!targeted && operands.len() > 1);
                push(access, &mut all().take(last));
                push(Access::Write, &mut all().skip(last));
            }
            Some(Operands::WrittenWith(short, _)) => {
                let access = if command.has_option(short, "--in-place") { Access::Write } else { Access::Read };
                push(access, &mut all());
            }
            // Data that is left over has been filtered out above.
            Some(Operands::Data | Operands::ReadAfter(_)) => push(Access::Read, &mut all()),
        },
        // The program itself is not known: any operand may be anything.
        None => push(Access::Mention, &mut command.words.iter().skip(1)),
    }
    for redirect in &command.redirects {
        let access = match redirect.kind {
            RedirectKind::Read => Access::Read,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => Access::Write,
        };
        let path = locate(&redirect.target.value, command.cwd.as_deref());
        found.push(Effect { access, path, span: redirect.target.span });
    }
    // Running a file by its path mentions it.
    if let Some(program) = command.words.first().filter(|word| word.known().is_none_or(|text| text.contains('/'))) {
        let path = locate(&program.value, command.cwd.as_deref());
        found.push(Effect { access: Access::Mention, path, span: program.span });
    }
    found.retain(|effect| !matches!(&effect.path, Value::Known(path) if STREAMS.contains(&path.as_str())));
    found
}

/// A path inside an option: `--output=FILE`, `-I/path`, `@file` of curl.
fn option_value(command: &Command, word: &Word, found: &mut Vec<Effect>) {
    let Some(text) = word.known() else { return };
    let value = match text.split_once('=') {
        Some((name, value)) if name.starts_with('-') || command.program() != Some("dd") => value,
        _ if text.starts_with('-') => match text.find('/') {
            Some(at) => &text[at..],
            None => return,
        },
        _ => match text.split_once('@') {
            Some((_, file)) if !file.is_empty() => file,
            _ => return,
        },
    };
    if !value.is_empty() {
        let path = locate(&Value::Known(value.to_owned()), command.cwd.as_deref());
        found.push(Effect { access: Access::Mention, path, span: word.span });
    }
}

/// The absolute form of a word's value.
fn locate(value: &Value, cwd: Option<&str>) -> Value {
    let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = value;
    if matches!(value, Value::Unknown { .. }) && text.starts_with(Value::HOLE) {
        return value.clone();
    }
    match (cwd, value) {
        (None, _) if !text.starts_with('/') => {
            Value::Unknown { why: "the directory is not known".to_owned(), shape: format!("{}/{text}", Value::HOLE) }
        }
        (cwd, Value::Known(_)) => Value::Known(absolute(text, cwd.unwrap_or("/"))),
        (cwd, Value::Pattern(_)) => Value::Pattern(absolute(text, cwd.unwrap_or("/"))),
        (cwd, Value::Unknown { why, .. }) => {
            Value::Unknown { why: why.clone(), shape: absolute(text, cwd.unwrap_or("/")) }
        }
    }
}
