//! Making words out of words: cutting, joining, placeholders.

use toolgate_shell_syntax::word::{Span, Value, Why, Word, in_quotes};

/// Whether the word may turn out to be anything, an option too.
pub(super) fn is_open(word: &Word) -> bool {
    match &word.value {
        Value::Known(_) => false,
        Value::Pattern(text) => text.starts_with(['*', '?', '[']),
        Value::Unknown { shape, .. } => shape.starts_with(Value::HOLE),
    }
}

/// The word without its first bytes. It keeps the span, for that is where it stands.
pub(crate) fn cut(word: &Word, from: usize) -> Word {
    let rest = word.text().get(from..).unwrap_or_default().to_owned();
    let value = match &word.value {
        Value::Pattern(_) if rest.contains(['*', '?', '[']) => Value::Pattern(rest),
        value => value.part(rest),
    };
    Word { value, at: word.at.map(|at| at + from), ..word.clone() }
}

/// A word that is certain, in the place of another.
pub(super) fn known(text: impl Into<String>, like: &Word) -> Word {
    Word { quoted: like.quoted, ..Word::new(text, like.span) }
}

/// From the first byte of any of the words to the last. Words that are added may stand before the others in the text.
pub(super) fn span(words: &[Word]) -> Span {
    let start = words.iter().map(|word| word.span.start).min().unwrap_or(0);
    Span { start, end: words.iter().map(|word| word.span.end).max().unwrap_or(start) }
}

/// One text out of several words. A word that is not certain is a hole in it, for its text is parsed again.
pub(super) fn join(words: &[Word], separator: &str) -> Word {
    let mut why = None;
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push_str(separator);
        }
        match &word.value {
            Value::Known(part) => text.push_str(part),
            Value::Pattern(_) => {
                Why::merge(&mut why, &Why::Glob);
                text.push(Value::HOLE);
            }
            Value::Unknown { why: reason, shape } => {
                Why::merge(&mut why, reason);
                text.push_str(shape);
            }
        }
    }
    let value = match why {
        Some(why) => Value::Unknown { why, shape: text },
        None => Value::Known(text),
    };
    Word { value, quoted: words.iter().any(|word| word.quoted), ..Word::new("", span(words)) }
}

/// The word with a hole for each of the placeholders in it.
pub(super) fn fill(word: &Word, placeholders: &[&str]) -> Word {
    let text = word.text();
    if !placeholders.iter().any(|part| !part.is_empty() && text.contains(part)) {
        return word.clone();
    }
    let filled = placeholders.iter().fold(text.to_owned(), |text, part| text.replace(part, HOLE));
    Word { value: Value::Unknown { why: Why::Argument, shape: filled }, ..word.clone() }
}

const HOLE: &str = "\0";

/// A word that is put in when the command runs.
pub(super) fn argument(like: &Word) -> Word {
    Word::unknown(Why::Argument, like.span)
}

/// `NAME=VALUE` in two. A name that is not certain is none.
pub(super) fn assignment(word: &Word) -> Option<(String, Word)> {
    let text = word.text();
    let equals = text.find('=').filter(|&at| at > 0)?;
    let name = text.get(..equals).filter(|name| !name.contains(Value::HOLE))?;
    Some((name.to_owned(), cut(word, equals + 1)))
}

/// What splits a text at blanks, with quotes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rules {
    /// `env -S`: escapes, `${NAME}`, `#` comments.
    Env,
    /// Quotes, and a backslash that takes the next character as it is: git, tmux.
    Plain,
}

/// Splits a text into words by rules that are not the shell's. `None` where the program itself would refuse.
pub(super) fn split(text: &Word, rules: Rules) -> Option<Vec<Word>> {
    let source = text.known()?;
    let mut words: Vec<Word> = Vec::new();
    let mut current: Option<(String, Option<Why>)> = None;
    let mut quote = None;
    let mut chars = source.chars().peekable();
    let word = |(text_of, why): (String, Option<Why>)| Word {
        value: match why {
            Some(why) => Value::Unknown { why, shape: text_of },
            None => Value::Known(text_of),
        },
        ..Word::new("", text.span)
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_ascii_whitespace() || c == '\u{b}' => {
                words.extend(current.take().map(word));
                continue;
            }
            (None, '#') if rules == Rules::Env && current.is_none() => break,
            (None, '\'' | '"') => {
                quote = Some(c);
                current.get_or_insert_default();
                continue;
            }
            (Some(open), c) if open == c => {
                quote = None;
                continue;
            }
            _ => {}
        }
        if rules == Rules::Env && c == '\\' && quote.is_none() && chars.peek() == Some(&'_') {
            chars.next();
            words.extend(current.take().map(word));
            continue;
        }
        let (into, why) = current.get_or_insert_default();
        match (rules, quote, c) {
            (Rules::Env, Some('\''), '\\') => match chars.peek() {
                Some('\\' | '\'') => into.extend(chars.next()),
                _ => into.push(c),
            },
            (Rules::Plain, Some('\''), '\\') => into.push(c),
            (Rules::Plain, _, '\\') => into.push(chars.next()?),
            (Rules::Env, _, '\\') => into.push(match chars.next()? {
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                '_' => ' ',
                'c' if quote.is_none() => break,
                c @ ('"' | '#' | '$' | '\'' | '\\') => c,
                _ => return None,
            }),
            (Rules::Env, None | Some('"'), '$') => {
                let name: String = (chars.next()? == '{')
                    .then(|| chars.by_ref().take_while(|&c| c != '}').collect())
                    .filter(|name: &String| !name.is_empty())?;
                Why::merge(why, &Why::Variable(name));
                into.push(Value::HOLE);
            }
            _ => into.push(c),
        }
    }
    if quote.is_some() {
        return None;
    }
    words.extend(current.map(word));
    Some(words)
}

/// The text as GNU parallel puts it into a shell's text: quoted where it needs to be.
pub(super) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+/".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { in_quotes(text) }
}
