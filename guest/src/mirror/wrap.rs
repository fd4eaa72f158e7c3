//! A command as it is typed.
//!
//! It runs in the user's own interactive shell, which lives on, and the gate has judged it as what a fresh shell would
//! make of it. So whatever may change that shell for later commands (variables, functions, aliases, options, traps, the
//! directory, `exit`, `exec`) runs in a subshell: else an alias or a function of one call would give the words of the next
//! another meaning than the one that was judged.
//!
//! | The command | What is typed |
//! |---|---|
//! | one line that changes nothing in the shell | the command |
//! | one line that may | `(command)` |
//! | several lines, tabs | a paste of `{`, the lines and `}`, or of `(`, the lines and `)` |
//! | what would make the shell wait for more lines, or cannot be typed | `(eval $'…')` |
//! | several lines, where the shell takes no pastes | the same |
//! | what does not parse | nothing: what a shell makes of it cannot be judged |
//!
//! Before it stands `cd '…' &&` if the shell is elsewhere.

use toolgate_shell::{Command, Facts, Script, parse};
use unicode_width::UnicodeWidthChar;

use super::hook::Shell;

/// Programs that change nothing in a shell although they are part of it.
const HARMLESS: &[&str] = &[":", "[", "echo", "false", "kill", "pwd", "test", "true"];

/// The other programs that are part of bash or zsh.
#[rustfmt::skip]
const BUILTIN: &[&str] = &[
    "-", ".", "alias", "autoload", "bg", "bind", "bindkey", "break", "builtin", "bye", "caller", "cap", "cd", "chdir", "clone",
    "command", "compadd", "compctl", "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disable", "disown",
    "echotc", "echoti", "emulate", "enable", "eval", "exec", "exit", "export", "fc", "fg", "float", "functions", "getcap", "getln",
    "getopts", "hash", "help", "history", "integer", "jobs", "let", "limit", "local", "log", "logout", "mapfile", "nocorrect", "noglob",
    "popd", "print", "printf", "private", "pushd", "pushln", "r", "read", "readarray", "readonly", "rehash", "return", "sched", "set",
    "setcap", "setopt", "shift", "shopt", "source", "stat", "suspend", "times", "trap", "ttyctl", "type", "typeset", "ulimit", "umask",
    "unalias", "unfunction", "unhash", "unlimit", "unset", "unsetopt", "vared", "wait", "whence", "where", "which", "zcompile",
    "zformat", "zftp", "zle", "zmodload", "zparseopts", "zprof", "zpty", "zregexparse", "zsocket", "zstat", "zstyle", "ztcp",
];

/// Pieces of a text that may set a variable or define a function without a command for it.
const SETS: &[&str] = &["${", "((", "()", "$["];

/// Words of the shell that do.
const SETTING_WORDS: &[&str] = &["[[", "coproc", "for", "foreach", "function", "repeat", "select"];

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
        return Err("there is no command".to_owned());
    }
    if command.len() > LONGEST {
        return Err(format!("the command has more than {LONGEST} bytes: write it to a file, and run that"));
    }
    let facts = Facts::new("/");
    let script = parse(&command, &facts);
    if let Some(why) = &script.unparsed {
        return Err(format!("the command is not run: {why}"));
    }
    if let Some(program) = recalls(&script) {
        return Err(format!(
            "{program} reaches into the history of a shell that a person uses, too, so it is not run here"
        ));
    }
    let go = cd.map(|cd| format!("cd {} && ", quoted(cd))).unwrap_or_default();
    let complete = parse(&format!("{{\n{command}\n}}"), &facts).unparsed.is_none();
    if !complete || !command.chars().all(|c| is_typed(c, shell)) {
        return Ok(Form::Line(format!("{go}(eval {})", ansi_quoted(&command))));
    }
    let alone = keeps_to_itself(&script, &command);
    if command.contains(['\n', '\t']) {
        let (open, close) = if alone { ('{', '}') } else { ('(', ')') };
        return Ok(match pastes {
            true => Form::Paste(format!("{go}{open}\n{command}\n{close}")),
            false => Form::Line(format!("{go}(eval {})", ansi_quoted(&command))),
        });
    }
    // A comment would swallow what closes a group.
    let commented = !script.comments.is_empty();
    let single = script.commands.iter().all(|command| command.group == 0 && command.via.is_empty());
    let single = single && script.commands.len() == 1 && !command.ends_with(['&', ';']);
    if alone && (go.is_empty() || single) {
        return Ok(Form::Line(format!("{go}{command}")));
    }
    if commented {
        return Ok(Form::Line(format!("{go}(eval {})", ansi_quoted(&command))));
    }
    // Two in a row would be arithmetic.
    let blank = if command.starts_with('(') { " " } else { "" };
    Ok(Form::Line(format!("{go}({blank}{command})")))
}

/// Whether a character that is typed is shown as itself: zsh shows the codes of those without a width.
fn is_typed(c: char, shell: Shell) -> bool {
    matches!(c, '\n' | '\t') || (!c.is_control() && (shell == Shell::Bash || c.width() != Some(0)))
}

/// Whether a text leaves nothing behind in the shell that runs it.
fn keeps_to_itself(script: &Script, text: &str) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || "();&|{}!`".contains(c));
    let sets =
        SETS.iter().any(|piece| text.contains(piece)) || words.into_iter().any(|word| SETTING_WORDS.contains(&word));
    !sets && script.commands.iter().all(is_plain)
}

/// Whether a command leaves the shell as it is. What is inside a program or a substitution has a shell of its own, or
/// the program is one that is not plain itself.
fn is_plain(command: &Command) -> bool {
    let mut words = command.words.iter().map(|word| word.known());
    match (command.via.is_empty(), words.next()) {
        (false, _) => true,
        // It writes into a variable with `-v`.
        (_, Some(Some("printf"))) => {
            words.next().is_some_and(|first| first.is_some_and(|first| !first.starts_with('-')))
        }
        (_, Some(Some(program))) => HARMLESS.contains(&program) || !BUILTIN.contains(&program),
        _ => false,
    }
}

/// The program of a text that runs what is in the shell's history.
fn recalls(script: &Script) -> Option<&str> {
    script.commands.iter().filter_map(Command::program).find(|program| RECALLS.contains(program))
}

/// A text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    if text.chars().any(char::is_control) { ansi_quoted(text) } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The same on one line, whatever is in it.
fn ansi_quoted(text: &str) -> String {
    let mut quoted = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() || c.width() == Some(0) => {
                c.to_string().bytes().for_each(|byte| quoted.push_str(&format!("\\x{byte:02x}")));
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_typed_so_that_it_leaves_nothing_behind() {
        // The command, whether the shell is elsewhere and whether it takes pastes, and what is typed.
        let cases: &[(&str, bool, bool, &str)] = &[
            ("ls -l", false, true, "ls -l"),
            ("ls -l", true, true, "cd '/p q' && ls -l"),
            ("  make && make test\n", false, true, "make && make test"),
            ("make && make test", true, true, "cd '/p q' && (make && make test)"),
            ("echo \"a!b\" | grep a", false, true, "echo \"a!b\" | grep a"),
            ("A=1 make", false, true, "A=1 make"),
            ("npm run dev &", false, true, "npm run dev &"),
            ("npm run dev &", true, true, "cd '/p q' && (npm run dev &)"),
            ("echo a\\ ", false, true, "echo a\\ "),
            // What may change the shell.
            ("cd src && make", false, true, "(cd src && make)"),
            ("A=1", false, true, "(A=1)"),
            ("export A=1; make", false, true, "(export A=1; make)"),
            ("alias ls='rm -rf'", false, true, "(alias ls='rm -rf')"),
            ("\\cd /", false, true, "(\\cd /)"),
            ("exit 3", false, true, "(exit 3)"),
            ("exec sh", false, true, "(exec sh)"),
            ("(exit 4)", false, true, "( (exit 4))"),
            ("(ls); x=1", false, true, "( (ls); x=1)"),
            ("PROMPT_COMMAND=", false, true, "(PROMPT_COMMAND=)"),
            ("f() { rm -rf \"$1\"; }", false, true, "(f() { rm -rf \"$1\"; })"),
            ("function f { ls; }", false, true, "(function f { ls; })"),
            ("for HOME in /; do true; done", false, true, "(for HOME in /; do true; done)"),
            ("echo ${x:=3}", false, true, "(echo ${x:=3})"),
            ("echo $((x = 3))", false, true, "(echo $((x = 3)))"),
            ("printf -v HOME /", false, true, "(printf -v HOME /)"),
            ("printf foo", false, true, "printf foo"),
            ("$x y", false, true, "($x y)"),
            ("> file", false, true, "(> file)"),
            ("ls; cd /", false, true, "(ls; cd /)"),
            ("git format-patch -1", false, true, "git format-patch -1"),
            // Comments.
            ("ls # all", false, true, "ls # all"),
            ("cd / # there", false, true, "(eval $'cd / # there')"),
            ("make && ls # all", true, true, "cd '/p q' && (eval $'make && ls # all')"),
            // Several lines.
            ("ls\nmake", false, true, "{\nls\nmake\n}"),
            ("ls\r\nmake", false, true, "{\nls\nmake\n}"),
            ("ls\nmake", true, true, "cd '/p q' && {\nls\nmake\n}"),
            ("cat <<'E'\na\nE", false, true, "{\ncat <<'E'\na\nE\n}"),
            ("cd /\nls # all", false, true, "(\ncd /\nls # all\n)"),
            ("printf 'a\tb'", false, true, "{\nprintf 'a\tb'\n}"),
            ("ls\nmake", false, false, "(eval $'ls\\nmake')"),
            // What the shell would wait with, or does not take.
            ("echo a \\", false, true, "(eval $'echo a \\\\')"),
            ("cat <<E", false, true, "(eval $'cat <<E')"),
            ("cat <<E\na\n  E", false, true, "(eval $'cat <<E\\na\\n  E')"),
            ("echo \u{1b}[200~", false, true, "(eval $'echo \\x1b[200~')"),
            ("echo \u{9b}x", false, true, "(eval $'echo \\xc2\\x9bx')"),
            ("echo a\rrm b", false, true, "(eval $'echo a\\x0drm b')"),
        ];
        for (command, elsewhere, pastes, expected) in cases {
            let form = wrap(command, elsewhere.then_some("/p q"), Shell::Bash, *pastes).expect("it can be typed");
            assert_eq!(form.text(), *expected, "{command:?}");
            assert_eq!(matches!(form, Form::Paste(_)), expected.contains(['\n', '\t']), "{command:?}");
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
        let typed = wrap("echo e\u{301}", None, Shell::Zsh, true).expect("it can be typed");
        assert_eq!(typed.text(), "(eval $'echo e\\xcc\\x81')");
    }

    #[test]
    fn words_are_quoted_for_any_shell() {
        let cases = [("/p", "'/p'"), ("it's", r"'it'\''s'"), ("a\nb'c\\", r"$'a\nb\'c\\'"), ("$0", "'$0'")];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }
}
