//! What is looked at before the parser, and what is done instead of it.
//!
//! The parser recurses over its input and panics on file descriptors that do not fit its integer, so texts that
//! are too long, too deep or of that kind never reach it. They and the texts it rejects are cut into tokens, with
//! quotes and escapes taken away: coarse, but nothing that is in the text is missing from the tokens.

use crate::word::{Span, Value, Word};

/// Longest text that is parsed, in bytes. A command line that a person or a model writes is far below this; a
/// longer one is scanned.
pub(crate) const MAX_TEXT: usize = 256 * 1024;

/// Deepest nesting that is parsed. Scripts that people write stay below ten; the parser recurses once a level and more.
pub(crate) const MAX_DEPTH: usize = 48;

/// Most exclamation marks in a text that is parsed.
const MAX_NOTS: usize = 500;

/// Why a text must not be handed to the parser, or `None` if it may be.
pub(crate) fn refuse(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        return Some(format!("the text is {} bytes long, and more than {MAX_TEXT} are not parsed", text.len()));
    }
    if text.contains('\0') {
        return Some("the text contains a NUL byte".to_owned());
    }
    let (mut depth, mut deepest, mut digits) = (0usize, 0usize, 0usize);
    // In a comment or a quoted text nothing closes; what opens there is counted all the same. Quotes are followed
    // to the line's end only, so that an apostrophe in a document does not swallow the rest.
    let (mut quote, mut comment, mut before, mut nots) = (None, false, ' ', 0usize);
    let mut token = String::new();
    for c in text.chars() {
        if c.is_ascii_alphabetic() {
            token.push(c);
        } else {
            match token.as_str() {
                "if" | "case" | "do" => depth += 1,
                "fi" | "esac" | "done" if quote.is_none() && !comment => depth = depth.saturating_sub(1),
                _ => {}
            }
            token.clear();
        }
        match c {
            '\n' => (quote, comment) = (None, false),
            '\'' | '"' if quote.is_none() && !comment => quote = Some(c),
            c if Some(c) == quote => quote = None,
            '#' if quote.is_none() && (before.is_whitespace() || ";&|()".contains(before)) => comment = true,
            '(' | '{' => depth += 1,
            // A double-quoted text may hold substitutions, which close.
            ')' | '}' if quote != Some('\'') && !comment => depth = depth.saturating_sub(1),
            '!' => nots += 1,
            '>' | '<' if digits > 9 => return Some("a file descriptor has more digits than any shell takes".into()),
            _ => {}
        }
        before = c;
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        deepest = deepest.max(depth);
    }
    // Each `!` of a test recurses.
    if nots > MAX_NOTS {
        return Some(format!("the text holds more than {MAX_NOTS} exclamation marks"));
    }
    (deepest > MAX_DEPTH).then(|| format!("the text nests deeper than {MAX_DEPTH} levels"))
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
                words.push(Word { span: Span { start, end: at }, value, quoted: false });
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
