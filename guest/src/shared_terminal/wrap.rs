//! A command as it is typed.
//!
//! It runs in the user's own interactive shell, which lives on, and the gate has judged it as what a fresh bash would make
//! of it. So whatever may change that shell for later commands (variables, functions, aliases, options, traps, the
//! directory, `exit`, `exec`) runs in a subshell: else an alias or a function of one call would give the words of the next
//! another meaning than the one that was judged. And zsh reads nothing of it that it may read otherwise than bash.
//!
//! | The command | in bash | in zsh |
//! |---|---|---|
//! | programs with plain words, on one line | the command | the command |
//! | anything else on one line | `(command)` | `bash -c '…'` |
//! | several lines | a paste of `(`, the lines and `)` | a paste of the same |
//! | with tabs, or where the shell takes no pastes, or would wait for more | `(eval $'…')` | `bash -c $'…'` |
//! | what does not parse | nothing: what a shell makes of it cannot be judged | nothing |
//!
//! Before it stands `cd '…' &&` if the shell is elsewhere.

use toolgate_shell::{Command, Facts, Script, parse};
use unicode_width::UnicodeWidthChar;

use super::hook::Shell;
use super::quote::{ansi_quoted, quoted};

/// Programs that are a part of bash or zsh, and words that are no programs at all.
#[rustfmt::skip]
const BUILTIN: &[&str] = &[
    "-", ".", ":", "[", "alias", "autoload", "bg", "bind", "bindkey", "break", "builtin", "bye", "caller", "cap", "cd", "chdir", "clone",
    "command", "compadd", "compctl", "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disable", "disown", "echo",
    "echotc", "echoti", "emulate", "enable", "eval", "exec", "end", "exit", "export", "false", "fc", "fg", "float", "functions", "getcap", "getln",
    "getopts", "hash", "help", "history", "integer", "jobs", "kill", "let", "limit", "local", "log", "logout", "mapfile", "nocorrect", "noglob",
    "popd", "print", "printf", "private", "pushd", "pushln", "pwd", "r", "read", "readarray", "readonly", "rehash", "repeat", "return", "sched", "set",
    "setcap", "setopt", "shift", "shopt", "source", "stat", "suspend", "test", "times", "trap", "true", "ttyctl", "type", "typeset", "ulimit", "umask",
    "unalias", "unfunction", "unhash", "unlimit", "unset", "unsetopt", "vared", "wait", "whence", "where", "which", "zcompile",
    "zformat", "zftp", "zle", "zmodload", "zparseopts", "zprof", "zpty", "zregexparse", "zsocket", "zstat", "zstyle", "ztcp",
];

/// Characters, beside letters and digits, that mean themselves, or the same in bash and zsh.
const PLAIN: &str = " _./:=@%+,-|&\"'";

/// Programs that run what was typed earlier, whoever typed it: what that is cannot be judged.
const RECALLS: &[&str] = &["fc", "history", "r"];

/// Longest command that is typed, in bytes: shells draw a line anew with each piece of it.
const LONGEST: usize = 30_000;

/// How a text gets into the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Typed, in one line.
    Line(String),
    /// Pasted, as it has several lines or tabs.
    Paste(String),
}

impl Form {
    /// What is typed.
    pub fn text(&self) -> &str {
        match self {
            Form::Line(text) | Form::Paste(text) => text,
        }
    }
}

/// How a command is typed, with the directory to go to first, into a shell that takes pastes or not. An error is a
/// sentence.
pub fn wrap(command: &str, cd: Option<&str>, shell: Shell, pastes: bool) -> Result<Form, String> {
    let command = command.replace("\r\n", "\n");
    // A blank at the end may have a backslash before it.
    let command = command.trim_start().trim_end_matches('\n').to_owned();
    if command.is_empty() {
        return Err("the command is empty".to_owned());
    }
    if command.len() > LONGEST {
        return Err(format!("the command is longer than {LONGEST} bytes: write it to a file and run the file"));
    }
    let facts = Facts::new("/");
    let script = parse(&command, &facts);
    if let Some(why) = &script.unparsed {
        return Err(format!("the command was not run: {why}"));
    }
    if let Some(program) = recalls(&script) {
        return Err(format!(
            "{program} accesses the history of a shell that the user also uses, so it is not run here"
        ));
    }
    let go = cd.map(|cd| format!("cd {} && ", quoted(cd))).unwrap_or_default();
    let simple = is_simple(&script, &command);
    // What is typed before it must not take a part of it along.
    if simple && (go.is_empty() || script.commands.len() == 1 && !command.contains('&')) {
        return Ok(Form::Line(format!("{go}{command}")));
    }
    let complete = parse(&format!("{{\n{command}\n}}"), &facts).unparsed.is_none();
    let typed = complete && command.chars().all(|c| is_typed(c, shell)) && (pastes || !command.contains('\n'));
    Ok(match (typed, shell) {
        (false, Shell::Bash) => Form::Line(format!("{go}(eval {})", ansi_quoted(&command))),
        (false, Shell::Zsh) => Form::Line(format!("{go}bash -c {}", ansi_quoted(&command))),
        (true, Shell::Zsh) => of_lines(format!("{go}bash -c '{}'", command.replace('\'', r"'\''"))),
        (true, Shell::Bash) if command.contains('\n') => Form::Paste(format!("{go}(\n{command}\n)")),
        // A comment would swallow what closes the group.
        (true, Shell::Bash) if !script.comments.is_empty() => {
            Form::Line(format!("{go}(eval {})", ansi_quoted(&command)))
        }
        // Two in a row would be arithmetic.
        (true, Shell::Bash) if command.starts_with('(') => Form::Line(format!("{go}( {command})")),
        (true, Shell::Bash) => Form::Line(format!("{go}({command})")),
    })
}

fn of_lines(text: String) -> Form {
    if text.contains('\n') { Form::Paste(text) } else { Form::Line(text) }
}

/// Whether a character that is typed is text, and shown as itself. A tab is a key wherever a program has switched pastes
/// off, and zsh shows the codes of characters without a width.
fn is_typed(c: char, shell: Shell) -> bool {
    c == '\n' || (!c.is_control() && (shell == Shell::Bash || c.width() != Some(0)))
}

/// Whether a text is programs with plain words and nothing else. It is in order to take too much for something else.
fn is_simple(script: &Script, text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c) || (!c.is_ascii() && c.is_alphanumeric());
    let program = |command: &Command| {
        let program = command.words.first().and_then(|word| word.known());
        program.is_some_and(|program| !BUILTIN.contains(&program)) && command.assignments.is_empty()
    };
    // zsh puts the path of a program in the place of `=program`.
    let words = text.split(' ').all(|word| !word.trim_start_matches(['"', '\'', '|', '&']).starts_with('='));
    words && text.chars().all(plain) && script.commands.iter().all(|command| command.via.is_empty() && program(command))
}

/// The program of a text that runs what is in the shell's history.
fn recalls(script: &Script) -> Option<&str> {
    script.commands.iter().filter_map(Command::program).find(|program| RECALLS.contains(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_typed_so_that_it_leaves_nothing_behind() {
        // The command, whether the shell is elsewhere and whether it takes pastes, and what is typed in bash and zsh.
        let cases: &[(&str, bool, bool, &str, &str)] = &[
            ("ls -l", false, true, "ls -l", "ls -l"),
            ("ls -l", true, true, "cd '/p q' && ls -l", "cd '/p q' && ls -l"),
            ("  make && make test\n", false, true, "make && make test", "make && make test"),
            (
                "make && make test",
                true,
                true,
                "cd '/p q' && (make && make test)",
                "cd '/p q' && bash -c 'make && make test'",
            ),
            ("cat a | grep 'b c'", false, true, "cat a | grep 'b c'", "cat a | grep 'b c'"),
            ("git commit -m \"größer\"", false, true, "git commit -m \"größer\"", "git commit -m \"größer\""),
            ("npm run dev &", false, true, "npm run dev &", "npm run dev &"),
            ("npm run dev &", true, true, "cd '/p q' && (npm run dev &)", "cd '/p q' && bash -c 'npm run dev &'"),
            // What may change the shell, or means something else in zsh.
            ("cd src && make", false, true, "(cd src && make)", "bash -c 'cd src && make'"),
            ("echo a\\ ", false, true, "(echo a\\ )", "bash -c 'echo a\\ '"),
            ("A=1", false, true, "(A=1)", "bash -c 'A=1'"),
            ("A=1 make", false, true, "(A=1 make)", "bash -c 'A=1 make'"),
            ("\\cd /", false, true, "(\\cd /)", "bash -c '\\cd /'"),
            ("exit 3", false, true, "(exit 3)", "bash -c 'exit 3'"),
            ("(exit 4)", false, true, "( (exit 4))", "bash -c '(exit 4)'"),
            ("ls ( ) { echo a; }", false, true, "(ls ( ) { echo a; })", "bash -c 'ls ( ) { echo a; }'"),
            ("true {PATH}</dev/null", false, true, "(true {PATH}</dev/null)", "bash -c 'true {PATH}</dev/null'"),
            ("printf '%n' HOME", false, true, "(printf '%n' HOME)", "bash -c 'printf '\\''%n'\\'' HOME'"),
            ("[ -v 'a[b=1]' ]", false, true, "([ -v 'a[b=1]' ])", "bash -c '[ -v '\\''a[b=1]'\\'' ]'"),
            ("ls *.rs", false, true, "(ls *.rs)", "bash -c 'ls *.rs'"),
            ("=rm -rf x", false, true, "(=rm -rf x)", "bash -c '=rm -rf x'"),
            ("- rm -rf x", false, true, "(- rm -rf x)", "bash -c '- rm -rf x'"),
            ("repeat 1 rm x", false, true, "(repeat 1 rm x)", "bash -c 'repeat 1 rm x'"),
            ("$x y", false, true, "($x y)", "bash -c '$x y'"),
            ("> file", false, true, "(> file)", "bash -c '> file'"),
            // Comments.
            ("ls # all", false, true, "(eval $'ls # all')", "bash -c 'ls # all'"),
            // Several lines.
            ("ls\r\nmake", false, true, "(\nls\nmake\n)", "bash -c 'ls\nmake'"),
            ("ls\nmake", true, true, "cd '/p q' && (\nls\nmake\n)", "cd '/p q' && bash -c 'ls\nmake'"),
            ("cat <<'E'\na\nE", false, true, "(\ncat <<'E'\na\nE\n)", "bash -c 'cat <<'\\''E'\\''\na\nE'"),
            ("ls\nmake", false, false, "(eval $'ls\\nmake')", "bash -c $'ls\\nmake'"),
            (
                "fo\\\nr HOME in /; do :; done",
                false,
                true,
                "(\nfo\\\nr HOME in /; do :; done\n)",
                "bash -c 'fo\\\nr HOME in /; do :; done'",
            ),
            // What the shell would wait with, what are keys.
            ("echo a \\", false, true, "(eval $'echo a \\\\')", "bash -c $'echo a \\\\'"),
            ("cat <<E\na\n  E", false, true, "(eval $'cat <<E\\na\\n  E')", "bash -c $'cat <<E\\na\\n  E'"),
            ("printf 'a\tb'", false, true, "(eval $'printf \\'a\\tb\\'')", "bash -c $'printf \\'a\\tb\\''"),
            ("echo \u{1b}[200~", false, true, "(eval $'echo \\x1b[200~')", "bash -c $'echo \\x1b[200~'"),
            ("echo a\rrm b", false, true, "(eval $'echo a\\x0drm b')", "bash -c $'echo a\\x0drm b'"),
            ("ls e\u{301}", false, true, "(ls e\u{301})", "bash -c $'ls e\\xcc\\x81'"),
        ];
        for (command, elsewhere, pastes, bash, zsh) in cases {
            for (shell, expected) in [(Shell::Bash, bash), (Shell::Zsh, zsh)] {
                let form = wrap(command, elsewhere.then_some("/p q"), shell, *pastes).expect("it can be typed");
                assert_eq!(form.text(), *expected, "{command:?}");
                assert_eq!(matches!(form, Form::Paste(_)), expected.contains('\n'), "{command:?}");
            }
        }
        #[rustfmt::skip]
        let refused = [
            "", " \n", "fc -s rm", "history -d 3", "ls; r rm=ls", "command fc -l", "builtin history", "echo 'it", "a\n}\n{ b", "a)\n(b",
            "if true",
        ];
        for command in refused {
            assert!(wrap(command, None, Shell::Bash, true).is_err(), "{command:?}");
        }
        assert!(wrap(&"x".repeat(LONGEST + 1), None, Shell::Bash, true).is_err());
    }
}
