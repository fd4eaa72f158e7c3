//! What is looked at before the parser, and what is done instead of it.
//!
//! Texts that are too long and texts that do not parse are cut into tokens, with quotes and escapes taken away: coarse,
//! but nothing that is in the text is missing from the tokens.

use toolgate_shell_syntax::word::{Span, Value, Word};

/// Longest text that is parsed, in bytes. A command line that a person or a model writes is far below this; a
/// longer one is scanned.
const MAX_TEXT: usize = 1024 * 1024;

/// Why a text must not be handed to the parser, or `None` if it may be.
pub(crate) fn refuse(text: &str) -> Option<String> {
    refuse_shape(text).or_else(|| text.contains(Value::HOLE).then(|| "the command contains a NUL byte".to_owned()))
}

/// The same of a text with [`Value::HOLE`] in the place of what is not known.
pub(crate) fn refuse_shape(text: &str) -> Option<String> {
    (text.len() > MAX_TEXT).then(|| format!("the command is {} bytes long; the limit is {MAX_TEXT}", text.len()))
}

/// Cuts a text into commands at operators and line ends, and those into words at blanks, quotes and backslashes
/// taken away. What looks like an assignment counts as two words, so that neither side is lost.
pub(crate) fn commands(text: &str) -> Vec<Vec<Word>> {
    let mut commands = vec![Vec::new()];
    let (mut start, mut token) = (0, String::new());
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        let ends_command = ";&|(){}`\n".contains(c);
        if matches!(c, '\'' | '"' | '\\' | '\0') {
            continue;
        }
        if !(ends_command || c.is_whitespace() || "<>=,".contains(c)) {
            if token.is_empty() {
                start = at;
            }
            token.push(c);
            continue;
        }
        if let Some(words) = commands.last_mut()
            && !token.is_empty()
        {
            let keyword = words.is_empty() && KEYWORDS.contains(&token.as_str());
            let value = Value::Known(std::mem::take(&mut token));
            if !keyword {
                words.push(Word { value, quoted: false, ..Word::new("", Span { start, end: at }) });
            }
        }
        if ends_command && commands.last().is_some_and(|words| !words.is_empty()) {
            commands.push(Vec::new());
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

/// Words before a command that are not its name.
const KEYWORDS: &[&str] = &["!", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while"];

/// Commands that do the same kind of thing whatever numbers they are given.
const PLAIN: &[&str] = &[
    ":", "[", "cat", "curl", "date", "docker", "echo", "exit", "false", "head", "kill", "ls", "lsof", "make", "mkdir",
    "nc", "podman", "printf", "ps", "rm", "rmdir", "seq", "sleep", "tail", "test", "touch", "true", "wait", "wc",
];

/// Whether a text for a shell, of which numbers are not known, reads the same whatever they are: plain words of plain commands,
/// in which a number is an argument or a part of one.
pub(crate) fn is_plain_with_numbers(shape: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " \n_./:=@%+,-;&|![]'*?~".contains(c) || c == Value::HOLE;
    // `>` writes to a file, whose name may be one that is run.
    shape.chars().all(is_plain)
        && shape.split([';', '&', '|', '\n']).all(|command| {
            let mut words = command.split_whitespace().skip_while(|word| KEYWORDS.contains(word));
            let first = words.next();
            first.is_none_or(|first| PLAIN.contains(&first) || matches!(first, "done" | "fi") && words.next().is_none())
        })
}
