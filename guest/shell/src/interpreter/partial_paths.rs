//! Files whose path is known only in part: `/tmp/x.$$`, `$DIR/install.sh`, `*.sh`.
//!
//! Two that are written alike may be two files, so nothing else that is known rests on this. What the text wrote to one of them
//! is read apart, in a walk of its own, where one that is written alike is run: see [`Script::written`](crate::Script::written).
//! So is what it wrote to a file whose path is known, where one is run that may be this one.

use std::rc::Rc;

use super::path_resolution::in_unknown;
use super::state::ShellState;
use super::{Interpreter, MAX_BYTES, MAX_STEPS};
use crate::abstract_value::Text;
use crate::command::{Command, Script};
use toolgate_shell_syntax::glob::holes;
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// How many writes are kept, the last ones.
const MAX_FILES: usize = 64;

/// How many runs of them are read, those inside them included; and how many of one text.
const MAX_RUNS: usize = 64;
const MAX_RUNS_OF_ONE: usize = 4;

/// How many parts of them are run in all, as [`MAX_STEPS`] counts them.
const MAX_STEPS_IN_ALL: usize = 4_000;

/// How much may be in one.
const MAX_TEXT: usize = 64 << 10;

/// What the text wrote to files whose path is known in part, and what it ran of that.
#[derive(Default)]
pub(super) struct PartialPathWrites {
    /// Without a text where only that it was written is known.
    files: Vec<(Value, Option<Rc<Text>>)>,
    /// What was read where it is run, and how many parts of all that.
    ran: Vec<Rc<Text>>,
    steps: usize,
    pub(super) scripts: Vec<Script>,
}

impl PartialPathWrites {
    /// What was written to the files that are written like a path, each text once, the last one first.
    fn texts(&self, path: &Value) -> Vec<Rc<Text>> {
        let mut texts: Vec<Rc<Text>> = Vec::new();
        let alike = self.files.iter().rev().filter(|(file, _)| file.is_like(path));
        for text in alike.filter_map(|(_, text)| text.as_ref()) {
            if !texts.iter().any(|other| other.text == text.text) {
                texts.push(Rc::clone(text));
            }
        }
        texts
    }

    /// One that could not be followed to its end. Said once for each reason.
    fn unread(&mut self, why: String, commands: Vec<Command>) {
        let known = self.scripts.iter().any(|script| script.unparsed.as_ref() == Some(&why));
        self.scripts.push(Script { commands, unparsed: Some(why).filter(|_| !known), ..Script::default() });
    }
}

impl Interpreter<'_> {
    /// Notes that a file is written, if its path is known in part.
    pub(super) fn write_alike(
        &mut self,
        path: (&Value, Span),
        text: Option<&Rc<Text>>,
        append: bool,
        state: &ShellState,
    ) {
        if state.never || self.listed_only {
            return;
        }
        let Some(file) = self.place(path, state) else { return };
        let before =
            || self.partial_path_writes.files.iter().rev().find(|(other, own)| own.is_some() && other.is_like(&file));
        let text = match append.then(before).flatten() {
            Some((_, Some(before))) => text.map(|text| Rc::new(before.followed_by(text))),
            _ => text.cloned(),
        };
        let file = (file, text.filter(|text| text.text.len() <= MAX_TEXT));
        self.partial_path_writes.files.retain(|other| *other != file);
        self.partial_path_writes.files.push(file);
        if self.partial_path_writes.files.len() > MAX_FILES {
            self.partial_path_writes.files.remove(0);
        }
    }

    /// Notes that what is in one file is in another now.
    pub(super) fn copy_alike(&mut self, from: (&Value, Span), to: (&Value, Span), state: &ShellState) {
        self.write_alike(to, None, false, state);
        let texts = self.place(from, state).map(|from| self.partial_path_writes.texts(&from)).unwrap_or_default();
        for text in texts.iter().rev() {
            self.write_alike(to, Some(text), false, state);
        }
    }

    /// Where a file is that the text wrote to, or one that is written like it.
    pub(super) fn wrote_alike(&self, path: &Word, state: &ShellState) -> Option<Value> {
        if self.elsewhere {
            return None;
        }
        let alike = |place: &Value| self.partial_path_writes.files.iter().any(|(file, _)| file.is_like(place));
        let likely = || self.place((&path.value, path.span), state).filter(alike);
        let possible = || may_be(&path.value, state).filter(|place| state.files.any_made(place));
        likely().or_else(possible)
    }

    /// Reads what the text wrote to files that are written like one that is run, unless it is `known` to be in that one.
    pub(super) fn run_alike(
        &mut self,
        path: &Word,
        known: Option<&Rc<Text>>,
        state: &ShellState,
        run: impl Fn(&mut Self, &Rc<Text>, ShellState),
    ) {
        // Where what nothing sets is taken to be empty, nothing is known in part.
        let complete = self.facts.env_complete;
        let silent = self.listing_suppressed > 0 || self.elsewhere || state.never || self.failure.is_some();
        if complete || silent {
            return;
        }
        for text in self.texts_in(path, state) {
            let left = MAX_STEPS_IN_ALL.saturating_sub(self.partial_path_writes.steps);
            if self.partial_path_writes.ran.len() >= MAX_RUNS || left == 0 {
                let why = "the command runs too many scripts with partly unknown paths";
                self.partial_path_writes.unread(why.to_owned(), Vec::new());
                return;
            }
            if text.text.len() > MAX_TEXT {
                self.partial_path_writes.unread("a script that may run is too long to analyze".to_owned(), Vec::new());
                continue;
            }
            let often = self.partial_path_writes.ran.iter().filter(|other| other.text == text.text).count();
            if often == MAX_RUNS_OF_ONE || known.is_some_and(|known| known.text == text.text) {
                continue;
            }
            self.partial_path_writes.ran.push(Rc::clone(&text));
            let mut interpreter = Interpreter::new(self.source, self.facts);
            (interpreter.used.steps, interpreter.used.bytes) = (MAX_STEPS - left, MAX_BYTES - 4 * MAX_TEXT);
            interpreter.condition_depth = 1;
            interpreter.via.clone_from(&self.via);
            interpreter.calls.clone_from(&self.calls);
            (interpreter.preexisting, interpreter.listed_only) = (self.preexisting, self.listed_only);
            (interpreter.dialect.sh_is_dash, interpreter.dialect.may_be_zsh) =
                (self.dialect.sh_is_dash, self.dialect.may_be_zsh);
            // Trackers of plugins, and questions about files, are for what is certain to be the text's own.
            interpreter.trackers = None;
            let mut own = state.clone();
            own.files.forget_facts();
            // Not again inside itself.
            let others = self
                .partial_path_writes
                .files
                .iter()
                .filter(|(_, other)| other.as_ref().is_none_or(|other| other.text != text.text));
            interpreter.partial_path_writes = PartialPathWrites {
                files: others.cloned().collect(),
                ran: std::mem::take(&mut self.partial_path_writes.ran),
                steps: self.partial_path_writes.steps,
                scripts: Vec::new(),
            };
            run(&mut interpreter, &text, own);
            self.partial_path_writes.ran = interpreter.partial_path_writes.ran;
            self.partial_path_writes.steps =
                interpreter.partial_path_writes.steps + (interpreter.used.steps + left - MAX_STEPS);
            self.partial_path_writes.scripts.append(&mut interpreter.partial_path_writes.scripts);
            match interpreter.failure {
                None => self
                    .partial_path_writes
                    .scripts
                    .push(Script { commands: interpreter.commands, ..Script::default() }),
                Some(why) => self.partial_path_writes.unread(why, interpreter.commands),
            }
        }
    }

    /// What the text wrote to files that a path may lead to, each text once.
    fn texts_in(&self, path: &Word, state: &ShellState) -> Vec<Rc<Text>> {
        let span = path.span;
        let mut texts = match self.place((&path.value, span), state) {
            Some(place) if !self.partial_path_writes.files.is_empty() => self.partial_path_writes.texts(&place),
            _ => Vec::new(),
        };
        for text in may_be(&path.value, state).map(|path| state.files.texts_at(&path, span)).unwrap_or_default() {
            if !texts.iter().any(|other| other.text == text.text) {
                texts.push(text);
            }
        }
        texts
    }

    /// A path as the effects of a command have it, if it is known in part. What `mktemp` makes up is followed as it is.
    fn place(&self, (path, span): (&Value, Span), state: &ShellState) -> Option<Value> {
        let place = match path {
            Value::Known(path) => {
                let shape = in_unknown(path, state).filter(|shape| shape.starts_with(Value::HOLE))?;
                Value::Unknown { why: Why::Directory, shape }
            }
            Value::Unknown { why, shape } if !shape.starts_with([Value::HOLE, '/']) => {
                let shape = absolute(shape, state.folders.certain()?);
                Value::Unknown { why: why.clone(), shape }
            }
            other => other.clone(),
        };
        let place = place.by_variable(self.source, span).into_owned();
        place.is_like(&place).then_some(place)
    }
}

/// The absolute path of what is run, if it may be that of several files.
fn may_be(path: &Value, state: &ShellState) -> Option<Value> {
    let hole = Value::HOLE;
    let unknown = |shape: String| Value::Unknown { why: Why::Directory, shape };
    let (path, folder) = (path, state.folders.certain());
    match path {
        Value::Known(path) if path.starts_with('/') || !state.folders.may_be_other() => None,
        // What is above it is not known either.
        Value::Known(path) => {
            let below = path.rsplit("../").next().unwrap_or_default();
            Some(unknown(format!("{hole}{}", absolute(below, "/"))))
        }
        Value::Pattern(pattern) if pattern.starts_with('/') => Some(Value::Pattern(absolute(pattern, "/"))),
        Value::Pattern(pattern) => Some(match folder {
            Some(folder) => Value::Pattern(absolute(pattern, folder)),
            None => unknown(format!("{hole}/{}", holes(pattern))),
        }),
        Value::Unknown { shape, .. } if shape.starts_with([hole, '/']) => Some(path.clone()),
        Value::Unknown { shape, .. } => Some(unknown(match folder {
            Some(folder) => absolute(shape, folder),
            None => format!("{hole}/{shape}"),
        })),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{Facts, FileOracle, Presence, parse};

    struct Counting(Rc<Cell<usize>>);

    impl FileOracle for Counting {
        fn look(&self, _: &str) -> Presence {
            self.0.set(self.0.get() + 1);
            Presence::Absent
        }
    }

    #[test]
    fn what_is_not_read_to_its_end_is_said() {
        let decoys = |count: usize| (0..count).map(|at| format!("echo 'ls {at}' > \"$D/{at}\"; bash \"$D/{at}\"; "));
        let cases: &[(String, bool)] = &[
            (decoys(MAX_RUNS).collect(), false),
            (decoys(MAX_RUNS + 1).collect(), true),
            ("printf 'ls\\nfi (\\n' > \"$D/a\"; bash \"$D/a\"".to_owned(), true),
            (format!("echo '{}' > \"$D/a\"; bash \"$D/a\"", "ls; ".repeat(MAX_STEPS_IN_ALL / 2)), false),
            (format!("echo '{}' > \"$D/a\"; bash \"$D/a\"", "ls; ".repeat(MAX_STEPS_IN_ALL + 1)), true),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            assert_eq!(script.written.iter().any(|script| script.unparsed.is_some()), *expected, "{text}");
        }
    }

    /// How many questions are asked about files, and how many scripts are read apart, with how many commands.
    fn read(text: &str) -> (usize, Vec<usize>) {
        let asked = Rc::new(Cell::new(0));
        let script = parse(text, &Facts::new("/p").home("/h").files(Rc::new(Counting(Rc::clone(&asked)))));
        (asked.get(), script.written.iter().map(|script| script.commands.len()).collect())
    }

    #[test]
    fn what_is_read_apart_asks_nothing_about_files() {
        let written = "echo 'for i in {1..50}; do cat q > o$i; done' > \"$D/x\"; ";
        let (without, _) = read(&format!("{written}bash \"$E/x\"; cat z"));
        let (with, scripts) = read(&format!("{written}bash \"$D/x\"; cat z"));
        assert_eq!((with, scripts), (without, vec![50]));
    }

    #[test]
    fn what_is_read_apart_has_an_end() {
        let all = |count: usize| (0..count).map(|at| format!("echo 'ls {at}' > \"$D/{at}\"; bash \"$D/{at}\"; "));
        let cases: &[(String, usize)] = &[
            ("echo ls > \"$D/a\"; bash \"$D/a\"".to_owned(), 1),
            (format!("echo ls > \"$D/a\"; {}", "bash \"$D/a\"; ".repeat(20)), MAX_RUNS_OF_ONE),
            (all(20).collect(), 20),
            ("echo 'bash \"$D/a\"; echo a' > \"$D/a\"; bash \"$D/a\"".to_owned(), 1),
            ("echo ls > \"$D/a\"; f() { bash \"$D/a\"; }".to_owned(), 0),
            ("f() { echo ls > \"$D/a\"; }; bash \"$D/a\"".to_owned(), 0),
            ("echo ls > \"$D/a\"; ssh host bash \"$D/a\"".to_owned(), 0),
            ("echo ls > \"$D/a\"; echo ls > b; bash b".to_owned(), 0),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).1.len(), *expected, "{text}");
        }
        let long =
            format!("echo '{}' > \"$D/a\"; {}", "ls; ".repeat(MAX_STEPS_IN_ALL - 1), "bash \"$D/a\"; ".repeat(3));
        assert!(read(&long).1.iter().sum::<usize>() <= MAX_STEPS_IN_ALL, "{long}");
    }
}
