//! The files whose statements a client of a database runs: `psql -f FILE`, `mysql < FILE`, `sqlite3 DB '.read FILE'`. What
//! statements do is for whoever judges them.

use std::rc::Rc;

use super::Interpreter;
use super::state::ShellState;
use crate::abstract_value::Text;
use crate::command::{Command, RedirectKind};
use crate::facts::FileOracle as _;
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Value, Word};

/// Clients, and the options whose values are files of statements.
#[rustfmt::skip]
const CLIENTS: &[(&[&str], &[&str])] = &[
    (&["psql", "pgcli", "cqlsh", "vsql", "snowsql", "snow", "trino", "presto", "beeline", "hive", "spark-sql"], &["-f", "--file", "--filename"]),
    (&["mysql", "mariadb", "mycli", "sqlite3", "sqlite", "litecli", "usql", "clickhouse", "clickhouse-local", "mongo", "mongosh", "redis-cli", "isql", "sqlplus", "wrangler", "prisma", "supabase", "bq"], &["-f", "--file", "--queries-file"]),
    (&["clickhouse-client"], &["--queries-file"]),
    (&["sqlcmd", "mssql-cli"], &["-i", "--input-file"]),
    (&["duckdb"], &["-f", "-init"]),
    (&["cockroach"], &["-f", "--file"]),
    (&["impala-shell"], &["-f", "--query_file"]),
];

/// How a line begins that names another file of statements.
const INCLUDES: &[&str] = &["\\i ", "\\ir ", "\\include ", "\\include_relative ", "\\. ", ".read ", "source "];

/// Most files that are read for one command.
const MOST: usize = 8;

impl Interpreter<'_> {
    /// What is in the files whose statements a command runs, as far as that is known. `before` it runs.
    pub(super) fn statements(&mut self, command: &Command, before: &ShellState) -> Vec<Rc<Text>> {
        let Some(program) = command.program() else { return Vec::new() };
        let Some((_, options)) = CLIENTS.iter().find(|(names, _)| names.contains(&program)) else { return Vec::new() };
        if self.elsewhere {
            return Vec::new();
        }
        let words: Vec<&str> = command.words.iter().skip(1).filter_map(Word::known).collect();
        let mut names: Vec<String> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let long = word.split_once('=').filter(|(name, _)| name.starts_with("--") && options.contains(name));
            // `-fFILE`, and `-1f FILE` among other letters.
            let short = options.iter().filter(|option| option.len() == 2).find_map(|option| word.strip_prefix(option));
            let last = options.iter().any(|option| {
                option.len() == 2 && !word.starts_with("--") && word.starts_with('-') && word.ends_with(&option[1..])
            });
            match (long, short) {
                (Some((_, file)), _) => names.push(file.to_owned()),
                (_, Some(file)) if !file.is_empty() => names.push(file.to_owned()),
                _ if options.contains(word) || last => names.extend(words.get(at + 1).map(|file| (*file).to_owned())),
                _ if word.ends_with(".js") && matches!(program, "mongo" | "mongosh") => names.push((*word).to_owned()),
                _ => included(word, &mut names),
            }
        }
        if let Some(input) = &command.input {
            included(&input.text, &mut names);
        } else {
            let reads = |kind: RedirectKind| matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
            let targets = command.redirects.iter().filter(|one| reads(one.kind) && one.fd.unwrap_or(0) == 0);
            names.extend(targets.filter_map(|redirect| redirect.target.known()).map(str::to_owned));
        }
        let mut found: Vec<Rc<Text>> = Vec::new();
        let mut at = 0;
        while let Some(name) = names.get(at).filter(|_| at < MOST) {
            if let Some(text) = self.file_of(name, command, before) {
                included(&text.text, &mut names);
                found.push(text);
            }
            at += 1;
        }
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

/// Adds the files that lines of a text name.
fn included(text: &str, names: &mut Vec<String>) {
    for line in text.lines() {
        let line = line.trim();
        let rest = INCLUDES.iter().find_map(|begin| line.strip_prefix(begin));
        let file = rest.map(|rest| rest.trim().trim_end_matches(';').trim_matches(['"', '\'']));
        names.extend(file.filter(|file| names.len() < MOST && !file.is_empty()).map(str::to_owned));
    }
}
