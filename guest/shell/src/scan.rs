//! What is looked at before the parser, and what is done instead of it.
//!
//! The parser recurses over its input and panics on file descriptors that do not fit its integer, so texts that
//! are too long, too deep or of that kind never reach it. They and the texts it rejects are cut into tokens, with
//! quotes and escapes taken away: coarse, but nothing that is in the text is missing from the tokens.

use crate::word::{Span, Value, Word};

/// Longest text that is parsed, in bytes. A command line that a person or a model writes is far below this; a
/// longer one is scanned.
pub(crate) const MAX_TEXT: usize = 256 * 1024;

/// Deepest nesting that is parsed. The parser needs about 4 KiB of stack a level.
pub(crate) const MAX_DEPTH: usize = 48;

/// Why a text must not be handed to the parser, or `None` if it may be.
pub(crate) fn refuse(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        return Some(format!("the text is {} bytes long, and more than {MAX_TEXT} are not parsed", text.len()));
    }
    if text.contains('\0') {
        return Some("the text contains a NUL byte".to_owned());
    }
    let (mut depth, mut deepest, mut digits) = (0usize, 0usize, 0usize);
    let mut token = String::new();
    for c in text.chars() {
        if c.is_ascii_alphabetic() {
            token.push(c);
        } else {
            match token.as_str() {
                "if" | "case" | "do" => depth += 1,
                "fi" | "esac" | "done" => depth = depth.saturating_sub(1),
                _ => {}
            }
            token.clear();
        }
        match c {
            '(' | '{' | '`' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '>' | '<' if digits > 9 => return Some("a file descriptor has more digits than any shell takes".into()),
            _ => {}
        }
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        deepest = deepest.max(depth);
    }
    (deepest > MAX_DEPTH).then(|| format!("the text nests deeper than {MAX_DEPTH} levels"))
}

/// Cuts a text at blanks and operators, and takes quotes and backslashes away.
pub(crate) fn tokens(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut start, mut token) = (0, String::new());
    for (at, c) in text.char_indices() {
        match c {
            '\'' | '"' | '\\' | '\0' => {}
            c if c.is_whitespace() || ";&|()<>`=,{}".contains(c) => {
                push(&mut words, start, at, &mut token);
                start = at + c.len_utf8();
            }
            c => {
                if token.is_empty() {
                    start = at;
                }
                token.push(c);
            }
        }
    }
    push(&mut words, start, text.len(), &mut token);
    words
}

fn push(words: &mut Vec<Word>, start: usize, end: usize, token: &mut String) {
    if !token.is_empty() {
        let value = Value::Known(std::mem::take(token));
        words.push(Word { span: Span { start, end }, value, quoted: false });
    }
}
