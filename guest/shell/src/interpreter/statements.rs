//! The files whose statements a client of a database runs: `psql -f FILE`, `mysql < FILE`, `sqlite3 DB '.read FILE'`. What
//! statements do is for whoever judges them.

use std::rc::Rc;

use super::Interpreter;
use super::state::{Input, ShellState};
use crate::abstract_value::Text;
use crate::command::{Command, RedirectKind};
use crate::facts::FileOracle as _;
use crate::program_words::ProgramWords;
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Value, Word};

/// How a line begins that names another file of statements.
const INCLUDES: &[&str] = &["\\i ", "\\ir ", "\\include ", "\\include_relative ", "\\. ", ".read ", "source ", "@"];

/// Most files that are read for one command.
const MOST: usize = 64;

impl Interpreter<'_> {
    /// What is in the files whose statements a command runs, as far as that is known. `before` it runs. Those of more than [`MOST`]
    /// files make it one that is not seen.
    pub(super) fn statements(&mut self, command: &mut Command, before: &ShellState) -> Vec<Rc<Text>> {
        let Some(program) = command.program() else { return Vec::new() };
        let spec = toolgate_commands::find(program);
        let Some(options) = spec.and_then(|spec| spec.statements) else { return Vec::new() };
        if self.elsewhere {
            return Vec::new();
        }
        let read = ProgramWords::read(program, command.words.get(1..).unwrap_or_default());
        let mut names: Vec<String> = read.values(options).filter_map(Word::known).map(str::to_owned).collect();
        for word in command.words.iter().skip(1).filter_map(Word::known) {
            match word.strip_prefix('@') {
                // `sqlplus scott@db @drop.sql`
                Some(name) if is_file_of_statements(name) => names.push(name.to_owned()),
                _ if word.ends_with(".js") && matches!(program, "mongo" | "mongosh") => names.push(word.to_owned()),
                _ => included(word, &mut names),
            }
        }
        // It may be the value of an option that no spec lists.
        let perhaps =
            read.operands.iter().filter(|operand| operand.perhaps_value && is_file_of_statements(operand.word.text()));
        names.extend(perhaps.map(|operand| operand.word.text().to_owned()));
        let mut found: Vec<Rc<Text>> = Vec::new();
        if let Some(input) = &command.input {
            included(&input.text, &mut names);
        } else {
            let reads = |kind: RedirectKind| matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
            let targets = command.redirects.iter().filter(|one| reads(one.kind) && one.fd.unwrap_or(0) == 0);
            let mut targets = targets.peekable();
            if let (None, Input::Stored(text)) = (targets.peek(), &before.input) {
                // `cat FILE | sqlite3 DB`
                included(&text.text, &mut names);
                found.push(Rc::clone(text));
            }
            names.extend(targets.filter_map(|redirect| redirect.target.known()).map(str::to_owned));
        }
        let mut at = 0;
        while let Some(name) = names.get(at).filter(|_| at < MOST) {
            if let Some(text) = self.file_of(name, command, before) {
                included(&text.text, &mut names);
                found.push(text);
            }
            at += 1;
        }
        command.unseen_script |= names.len() > MOST;
        found
    }

    /// The text of a file of statements.
    fn file_of(&mut self, name: &str, command: &Command, before: &ShellState) -> Option<Rc<Text>> {
        if name.contains(Value::HOLE) || matches!(name, "-" | "/dev/stdin" | "/dev/null") {
            return None;
        }
        let path = match &command.cwd {
            Some(cwd) => absolute(name, cwd),
            None if name.starts_with('/') => absolute(name, "/"),
            None => return None,
        };
        if before.files.made(&path).is_some() {
            return before.files.read(&path).cloned();
        }
        let path = before.files.before(&path)?;
        let text = before.files.script(&path).filter(|text| self.afford(text.len()))?;
        Some(Rc::new(Text { text, span: command.span, at: None }))
    }
}

/// Whether a file is called as one of statements.
fn is_file_of_statements(name: &str) -> bool {
    [".sql", ".cql", ".ddl", ".psql"].iter().any(|end| name.ends_with(end))
}

/// Adds the files that lines of a text name.
fn included(text: &str, names: &mut Vec<String>) {
    for line in text.lines() {
        let line = line.trim();
        let rest = INCLUDES.iter().find_map(|begin| line.strip_prefix(begin));
        let file = rest.map(|rest| rest.trim().trim_end_matches(';').trim_matches(['"', '\'']));
        names.extend(file.filter(|file| names.len() <= MOST && !file.is_empty()).map(str::to_owned));
    }
}
