//! Commands that wait for text, for agents whose hooks do not see what is typed into a terminal that a call leaves open.

use toolgate_shell::{Command, Joiner, RedirectKind, Runs, Word};

use super::Inquiry;
use super::coded::Coded;
use crate::call::Field;
use crate::guard::matching::{Subject, World};

/// How a program that may wait for text is told from one that does not.
struct Row {
    names: &'static [&'static str],
    /// So many operands are no script: a host, a database.
    operands: usize,
    /// Options with which it runs something and ends.
    ends: &'static [&'static str],
    /// Options with a value that is no operand.
    values: &'static [&'static str],
}

const SHELL_ENDS: &[&str] = &["-c", "--version", "--help", "-n"];
const LANGUAGE_ENDS: &[&str] =
    &["-c", "-e", "-E", "-p", "-m", "-r", "-V", "-v", "-h", "--eval", "--print", "--version", "--help"];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { names: &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "nu", "pwsh"], operands: 0, ends: SHELL_ENDS, values: &["-o", "-O", "--rcfile", "--init-file"] },
    Row { names: &["python", "python2", "python3", "ipython", "bpython", "node", "deno", "bun", "irb", "pry", "ruby", "perl", "php", "lua", "luajit", "ghci", "R", "julia", "scala", "jshell", "groovysh", "iex", "erl", "clj", "clojure", "sbcl", "guile", "racket", "tclsh", "octave", "bc", "gdb", "lldb"], operands: 0, ends: LANGUAGE_ENDS, values: &[] },
    Row { names: &["psql", "mysql", "mariadb", "mongosh", "cockroach", "clickhouse-client"], operands: 2, ends: &["-c", "-e", "-f", "-l", "--command", "--execute", "--file", "--eval", "--list", "--version", "--help", "-V", "-?"], values: &["-h", "-p", "-P", "-U", "-u", "-d", "-D", "--host", "--port", "--user", "--username", "--dbname"] },
    Row { names: &["sqlite3", "duckdb"], operands: 1, ends: &["-c", "-version", "-help", "--version", "--help"], values: &["-cmd", "-init", "-separator"] },
    Row { names: &["redis-cli"], operands: 0, ends: &["--version", "--help", "--stat", "--latency", "--scan", "--bigkeys"], values: &["-h", "-p", "-n", "-a", "-u"] },
    Row { names: &["ssh", "telnet", "mosh"], operands: 1, ends: &["-N", "-T", "-V", "-G", "-Q"], values: &["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m", "-S", "-W", "-w", "-B", "-I", "-e", "-O", "-P"] },
    Row { names: &["ftp", "sftp", "lftp"], operands: 1, ends: &["-b", "-c", "-e", "-f"], values: &["-P", "-i", "-o", "-p", "-u"] },
    Row { names: &["su", "login", "screen", "tmux", "zellij", "script", "newgrp", "nsenter", "unshare", "chroot"], operands: 1, ends: &["-c", "-V", "--version", "--help", "-ls"], values: &[] },
    Row { names: &["vi", "vim", "nvim", "ex", "ed", "emacs", "nano", "pico", "joe", "mc", "ranger"], operands: usize::MAX, ends: &["--version", "--help", "--batch"], values: &[] },
];

/// What is no command of its own for a terminal multiplexer or a change of user.
const INTERACTIVE: &[&str] = &["-i", "-s", "--interactive", "-a"];

/// Whether a command waits for text from whoever has started it.
fn waits(command: &Command) -> bool {
    let Some(row) = command.program().and_then(|name| ROWS.iter().find(|row| row.names.contains(&name))) else {
        return false;
    };
    let given = command.input().is_some()
        || command.joiner == Joiner::Pipe
        || command
            .redirects
            .iter()
            .any(|redirect| redirect.kind == RedirectKind::Read && redirect.fd.unwrap_or(0) == 0);
    if given {
        return false;
    }
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| Word::known(word).unwrap_or_default()).collect();
    if words.iter().any(|word| INTERACTIVE.contains(word)) && row.operands == 0 {
        return true;
    }
    let mut operands = 0;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let name = word.split('=').next().unwrap_or_default();
        if row.ends.contains(&name) {
            return false;
        }
        // `-xec '...'`: one letter of several.
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() > 1);
        let clustered = |end: &&str| end.len() == 2 && letters.is_some_and(|rest| rest.contains(&end[1..]));
        if row.operands == 0 && row.ends.iter().any(clustered) {
            return false;
        }
        if row.values.contains(word) {
            at += 1;
        } else if !word.starts_with('-') || *word == "-" {
            operands += 1;
        }
        at += 1;
    }
    operands <= row.operands
}

impl Inquiry<'_> {
    /// Where typed text is not seen, what waits for it is a way past the gate.
    pub(super) fn typed(&mut self, subjects: &[Subject<'_>], field: &Field, world: &mut dyn World) {
        if !self.call.typed_unseen {
            return;
        }
        let waiting = |subject: &&Subject<'_>| subject.command.runs != Runs::Never && waits(subject.command);
        for subject in subjects.iter().filter(waiting) {
            let evidence = vec![super::evidence(field, subject.command.span)];
            self.coded_on(Coded::TypedUnseen, subject, &field.value, world, evidence);
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    #[test]
    fn what_waits_for_text_is_told_from_what_does_not() {
        let cases: &[(&str, bool)] = &[
            ("bash", true),
            ("bash -l", true),
            ("bash --norc -i", true),
            ("exec sh", true),
            ("sudo bash", true),
            ("cd x && python3", true),
            ("python3 -i a.py", true),
            ("node", true),
            ("psql -h db app", true),
            ("ssh host", true),
            ("ssh -p 22 host", true),
            ("vim a.txt", true),
            ("sqlite3 a.db", true),
            ("tmux", true),
            ("bash a.sh", false),
            ("bash -lc 'ls'", false),
            ("bash <<'E'\nls\nE", false),
            ("echo ls | bash", false),
            ("bash < a.sh", false),
            ("python3 a.py", false),
            ("python3 -c 'print(1)'", false),
            ("python3 -m pytest", false),
            ("node -e 1", false),
            ("perl -pe s/a/b/ f", false),
            ("psql -c 'select 1' app", false),
            ("psql app < a.sql", false),
            ("sqlite3 a.db 'select 1'", false),
            ("ssh host ls", false),
            ("tmux new -d -s x", false),
            ("grep bash a", false),
            ("false && bash", false),
        ];
        for (text, expected) in cases {
            let script = parse(text, &Facts::new("/p").home("/h"));
            let found = script.commands.iter().any(|command| command.runs != Runs::Never && waits(command));
            assert_eq!(found, *expected, "{text}");
        }
    }
}
