//! Programs that run other programs, as a table: one row a program.

use crate::path::basename;
use crate::word::{Value, Why, Word};

/// A program whose arguments end in another command: `sudo -u root rm x`.
struct Prefix {
    name: &'static str,
    /// Single-letter options that take a value.
    short: &'static str,
    /// Long options that take a value as the next word.
    long: &'static [&'static str],
    /// Operands of its own before the command.
    operands: usize,
    /// Whether `NAME=VALUE` may stand before the command.
    assignments: bool,
}

const fn row(name: &'static str, short: &'static str, long: &'static [&'static str], operands: usize) -> Prefix {
    Prefix { name, short, long, operands, assignments: false }
}

#[rustfmt::skip]
const PREFIXES: &[Prefix] = &[
    row("builtin", "", &[], 0),
    row("chroot", "", &["--groups", "--userspec"], 1),
    row("command", "", &[], 0),
    row("coproc", "", &[], 0),
    row("doas", "Cu", &[], 0),
    Prefix { assignments: true, ..row("env", "Cu", &["--chdir", "--unset"], 0) },
    row("exec", "a", &[], 0),
    row("flock", "Ew", &["--timeout", "--wait", "--conflict-exit-code"], 1),
    row("ionice", "cnpPu", &["--class", "--classdata"], 0),
    row("nice", "n", &["--adjustment"], 0),
    row("nohup", "", &[], 0),
    row("setsid", "", &[], 0),
    row("stdbuf", "eio", &["--error", "--input", "--output"], 0),
    row("strace", "aEeIOoPpSsuX", &[], 0),
    Prefix { assignments: true, ..row("sudo", "CDgpRrTtUuh", &["--chdir", "--chroot", "--close-from", "--command-timeout", "--group", "--host", "--other-user", "--prompt", "--role", "--type", "--user"], 0) },
    row("time", "fo", &["--format", "--output"], 0),
    row("timeout", "ks", &["--kill-after", "--signal"], 1),
    row("unbuffer", "", &[], 0),
    row("xargs", "adEILnPs", &["--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-procs"], 0),
];

const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"];

/// What a command runs besides itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// The words from this index on are a command. More words may be added when it runs.
    Command { at: usize, more: bool },
    /// The words in this range are a command, in which `{}` stands for a path.
    Template { from: usize, to: usize },
    /// The word at this index is the text of a shell of its own.
    Text(usize),
    /// The words from this index on, joined by blanks, are text for this shell.
    Joined(usize),
    /// A shell that reads its commands from standard input.
    Stdin,
    /// A text that cannot be seen.
    Unseen,
}

/// Files that stand for standard input.
const STDIN_FILES: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// The commands that this one runs, in the order of its words.
pub(crate) fn inner(words: &[Word]) -> Vec<Inner> {
    let Some(program) = words.first().and_then(Word::known).map(basename) else { return Vec::new() };
    if SHELLS.contains(&program) {
        return shell(words).into_iter().collect();
    }
    let text = words.iter().skip(1).position(|word| word.known() != Some("--")).map(|at| at + 1);
    match (program, text) {
        ("eval", Some(at)) => vec![Inner::Joined(at)],
        ("find", _) => find(words),
        // With nothing after it, it names a signal.
        ("trap", Some(at)) if words.len() > at + 1 && words[at].known().is_none_or(|word| !word.starts_with('-')) => {
            vec![Inner::Text(at)]
        }
        ("." | "source", Some(at)) => script_file(&words[at]).into_iter().collect(),
        ("env", _) if words.iter().any(|word| word.known().is_some_and(splits)) => env_text(words),
        _ => PREFIXES.iter().find(|row| row.name == program).and_then(|row| prefix(row, words)).into_iter().collect(),
    }
}

/// `env -S TEXT`: its own splitting is near enough to a shell's.
fn splits(word: &str) -> bool {
    word.starts_with("--split-string") || (word.starts_with('-') && !word.starts_with("--") && word.contains('S'))
}

fn env_text(words: &[Word]) -> Vec<Inner> {
    let at = words.iter().position(|word| word.known().is_some_and(splits)).unwrap_or_default();
    match words[at].known() {
        Some(text) if text.ends_with('S') || text == "--split-string" => {
            if at + 1 < words.len() {
                vec![Inner::Joined(at + 1)]
            } else {
                Vec::new()
            }
        }
        // The text is a part of the option.
        _ => vec![Inner::Unseen],
    }
}

/// A script that a shell reads from a file.
fn script_file(word: &Word) -> Option<Inner> {
    match &word.value {
        Value::Known(path) if STDIN_FILES.contains(&path.as_str()) => Some(Inner::Stdin),
        Value::Unknown { why: Why::CommandOutput | Why::ProcessSubstitution, .. } => Some(Inner::Unseen),
        _ => None,
    }
}

fn prefix(row: &Prefix, words: &[Word]) -> Option<Inner> {
    let mut operands = row.operands;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.known() else { break };
        if text == "--" {
            at += 1 + std::mem::take(&mut operands);
            while row.assignments && words.get(at).and_then(Word::known).is_some_and(is_assignment) {
                at += 1;
            }
            break;
        }
        if row.name == "command" && (text == "-v" || text == "-V") {
            return None;
        }
        if let Some(letters) = text.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.starts_with('-')) {
            // `-u root` takes the next word, `-uroot` does not.
            let value = letters.find(|c| row.short.contains(c));
            at += if value.is_some_and(|index| index + 1 == letters.len()) { 2 } else { 1 };
        } else if text.starts_with("--") {
            at += if row.long.contains(&text) { 2 } else { 1 };
        } else if (row.assignments && is_assignment(text)) || text == "-" {
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    (at < words.len()).then_some(Inner::Command { at, more: row.name == "xargs" })
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn shell(words: &[Word]) -> Option<Inner> {
    let mut at = 1;
    let (mut text_follows, mut from_stdin) = (false, false);
    while let Some(text) = words.get(at).and_then(Word::known) {
        let cluster = text.strip_prefix(['-', '+']).filter(|rest| !rest.starts_with('-') && !rest.is_empty());
        if let Some(letters) = cluster {
            text_follows |= text.starts_with('-') && letters.contains('c');
            from_stdin |= text.starts_with('-') && letters.contains('s');
            at += 1 + letters.matches(['o', 'O']).count();
        } else if text == "--rcfile" || text == "--init-file" {
            at += 2;
        } else if text == "--" || text == "-" {
            at += 1;
            break;
        } else if text.starts_with("--") {
            at += 1;
        } else {
            break;
        }
    }
    match words.get(at) {
        Some(_) if text_follows => Some(Inner::Text(at)),
        Some(_) if from_stdin => Some(Inner::Stdin),
        Some(word) => script_file(word),
        // The text is an argument that is put in when it runs.
        None if text_follows => Some(Inner::Unseen),
        None => Some(Inner::Stdin),
    }
}

/// Whether xargs, whose words are `outer`, puts what it reads into the text of the shell that it runs.
pub(crate) fn puts_into_text(outer: &[Word], inner_words: &[Word]) -> bool {
    let before = &outer[..outer.len() - inner_words.len().min(outer.len())];
    let options = || before.iter().filter_map(Word::known);
    let named = options().zip(options().skip(1)).find_map(|(option, next)| (option == "-I").then_some(next));
    let attached = options().find_map(|option| option.strip_prefix("-I").filter(|rest| !rest.is_empty()));
    let placeholder = named.or(attached).unwrap_or("{}");
    inner(inner_words).into_iter().any(|inner| match inner {
        Inner::Text(at) => inner_words[at].known().is_some_and(|text| text.contains(placeholder)),
        _ => false,
    })
}

fn find(words: &[Word]) -> Vec<Inner> {
    let mut found = Vec::new();
    let mut at = 1;
    while at < words.len() {
        if matches!(words[at].known(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            let from = at + 1;
            let to = (from..words.len())
                .find(|&index| matches!(words[index].known(), Some(";" | "+")))
                .unwrap_or(words.len());
            if from < to {
                found.push(Inner::Template { from, to });
            }
            at = to;
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::{Span, Value};

    #[test]
    fn each_wrapper_opens_at_its_command() {
        let cases: &[(&str, &[Inner])] = &[
            ("sudo rm x", &[Inner::Command { at: 1, more: false }]),
            ("/usr/bin/sudo -u root -n rm x", &[Inner::Command { at: 4, more: false }]),
            ("sudo -uroot A=1 rm x", &[Inner::Command { at: 3, more: false }]),
            ("env -u A B=1 rm x", &[Inner::Command { at: 4, more: false }]),
            ("timeout -k 5 10 rm x", &[Inner::Command { at: 4, more: false }]),
            ("command -v rm", &[]),
            ("xargs -0 -n 1 rm", &[Inner::Command { at: 4, more: true }]),
            ("bash -lc x", &[Inner::Text(2)]),
            ("sh -e -c x", &[Inner::Text(3)]),
            ("bash script.sh", &[]),
            ("bash +o posix -c x", &[Inner::Text(4)]),
            ("bash -oc pipefail x", &[Inner::Text(3)]),
            ("bash -c", &[Inner::Unseen]),
            ("bash /dev/stdin", &[Inner::Stdin]),
            ("bash -", &[Inner::Stdin]),
            ("env -- A=1 rm x", &[Inner::Command { at: 3, more: false }]),
            ("env -S rm", &[Inner::Joined(2)]),
            ("env -iSrm", &[Inner::Unseen]),
            ("xargs -i rm x", &[Inner::Command { at: 2, more: true }]),
            ("eval -- x", &[Inner::Joined(2)]),
            ("bash", &[Inner::Stdin]),
            ("bash -s -- x", &[Inner::Stdin]),
            ("eval rm x", &[Inner::Joined(1)]),
            (
                "find . -exec rm {} ; -ok ls +",
                &[Inner::Template { from: 3, to: 5 }, Inner::Template { from: 7, to: 8 }],
            ),
            ("trap x EXIT", &[Inner::Text(1)]),
            ("trap -- x EXIT", &[Inner::Text(2)]),
            ("trap -p EXIT", &[]),
            ("trap - EXIT", &[]),
            ("rm x", &[]),
        ];
        for (text, expected) in cases {
            let word = |text: &str| Word { span: Span::default(), value: Value::Known(text.into()), quoted: false };
            let words: Vec<Word> = text.split(' ').map(word).collect();
            assert_eq!(inner(&words), *expected, "{text}");
        }
    }
}
