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
//! | what does not parse, or would wait for more lines | `(eval $'…')`, so that the shell says what is wrong |
//! | the same, where the shell takes no pastes | for several lines, too |
//!
//! Before it stands `cd '…' &&` if the shell is elsewhere.

use toolgate_shell::{Command, Facts, Script, parse};

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
pub fn wrap(command: &str, cd: Option<&str>, pastes: bool) -> Result<Form, String> {
    let command = command.replace("\r\n", "\n");
    // A blank at the end may have a backslash before it.
    let command = command.trim_start().trim_end_matches('\n').to_owned();
    if command.is_empty() {
        return Err("there is no command".to_owned());
    }
    let facts = Facts::new("/");
    let script = parse(&command, &facts);
    if let Some(program) = recalls(&script) {
        return Err(format!(
            "{program} reaches into the history of a shell that a person uses, too, so it is not run here"
        ));
    }
    let go = cd.map(|cd| format!("cd {} && ", quoted(cd))).unwrap_or_default();
    let complete = script.unparsed.is_none() && parse(&format!("{{\n{command}\n}}"), &facts).unparsed.is_none();
    let types = |text: &str| text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control());
    if !complete || !types(&command) {
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
    Ok(Form::Line(format!("{go}({command})")))
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
            c if c.is_control() => c.to_string().bytes().for_each(|byte| quoted.push_str(&format!("\\x{byte:02x}"))),
            c => quoted.push(c),
        }
    }
    quoted + "'"
}
