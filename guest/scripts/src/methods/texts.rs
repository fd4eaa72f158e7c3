//! Methods of texts, which only give values.

use crate::Language::{self, Node, Python, Ruby};
use crate::arguments::Args;
use crate::sequences::{decode, joined, letters, part, reverse};
use crate::value::{self, HOLE, Value};

/// Methods of texts. Nothing for one that is not known, or that has other arguments than are read here.
pub(super) fn on_text(language: Language, text: &str, name: &str, args: &Args) -> Option<Value> {
    let known = |at: usize| args.value(at).and_then(Value::known);
    let number = |at: usize| match args.value(at) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    if !(args.named.is_empty() || language == Python && matches!(name, "format" | "decode" | "encode")) {
        return None;
    }
    let encoding = || match args.value(0).or_else(|| args.named("encoding")) {
        Some(encoding) => encoding.known().unwrap_or("?"),
        None => "utf8",
    };
    let own = Value::text(text);
    Some(match (language, name, args.values.len()) {
        (Python, "join", 1) => joined(text, args.value(0)?),
        (Python, "format", _) => {
            let values: Vec<Value> = args.values.iter().map(|arg| arg.value.clone()).collect();
            let named: Vec<(String, Value)> =
                args.named.iter().map(|(key, arg)| (key.clone(), arg.value.clone())).collect();
            Value::Text(value::format(text, &values, &named))
        }
        (Python, "decode", 0..=2) => decode(&own, encoding()),
        // What is no encoding of a text is undone by `decode` and done by these.
        (Python | Ruby, "encode", 0..=2) | (Node, "toString", 0 | 1) if !is_transfer(encoding()) => {
            decode(&own, encoding())
        }
        (Ruby, "unpack1", 1) => decode(&own, known(0)?),
        (Ruby, "unpack", 1) => Value::List(vec![decode(&own, known(0)?)]),
        (Python, "partition", 1) => match text.split_once(known(0)?) {
            // What is unknown may have such a part in it too.
            Some((before, _)) if before.contains([HOLE, value::HOME]) => Value::Unknown,
            Some((before, after)) => Value::List(vec![Value::text(before), args.value(0)?.clone(), Value::text(after)]),
            None => Value::Unknown,
        },
        (Python, "splitlines", 0) => Value::List(text.lines().map(Value::text).collect()),
        (Python, "lower", 0) | (Node, "toLowerCase", 0) | (Ruby, "downcase", 0) => Value::Text(text.to_lowercase()),
        (Python, "upper", 0) | (Node, "toUpperCase", 0) | (Ruby, "upcase", 0) => Value::Text(text.to_uppercase()),
        (Ruby, "reverse", 0) => reverse(&own),
        (Python, "replace", 2) | (Node, "replaceAll", 2) | (Ruby, "gsub", 2) => {
            replaced(language, text, known(0)?, known(1)?, usize::MAX)
        }
        (Node, "replace", 2) | (Ruby, "sub", 2) => replaced(language, text, known(0)?, known(1)?, 1),
        // Of more than one letter these are sets.
        (Ruby, "tr", 2) if is_letter(known(0)?) && (known(1)?.is_empty() || is_letter(known(1)?)) => {
            replaced(language, text, known(0)?, known(1)?, usize::MAX)
        }
        (Ruby, "delete", 1) if is_letter(known(0)?) => replaced(language, text, known(0)?, "", usize::MAX),
        // The text becomes another one.
        (Ruby, "replace", 1) => args.value(0)?.clone(),
        (Python | Node | Ruby, "split", _) => split(language, text, args),
        (Python, "rsplit", 2) if number(1)? == 1 => split_last(text, known(0)?)?,
        (Ruby, "chars", 0) => letters(text),
        // A number is the code of a letter there.
        (Ruby, "concat" | "+", _) if args.values.iter().any(|arg| matches!(arg.value, Value::Number(_))) => {
            Value::Unknown
        }
        (Node, "concat", _) | (Ruby, "concat" | "+", _) => {
            args.values.iter().fold(own, |sum, arg| sum.plus(arg.value.clone()))
        }
        (Ruby, "to_s" | "to_str" | "to_sym" | "freeze" | "dup", 0)
        | (Ruby, "force_encoding", 1)
        | (Node, "valueOf", 0) => own,
        (Node, "slice", 1) => part(&own, number(0)?, None),
        (Node, "slice", 2) => part(&own, number(0)?, Some(number(1)?)),
        (Node, "substring", 1) => part(&own, number(0)?.max(0), None),
        (Node, "substring", 2) => {
            let (one, two) = (number(0)?.max(0), number(1)?.max(0));
            part(&own, one.min(two), Some(one.max(two)))
        }
        // Where it begins, and how long it is.
        (Ruby, "slice", 1 | 2) => {
            let (from, length) = (number(0)?, if args.values.len() == 2 { number(1)? } else { 1 });
            if from < 0 || length < 0 {
                return None;
            }
            part(&own, from, Some(from.saturating_add(length)))
        }
        _ => return trimmed(language, text, name, args),
    })
}

/// Methods of texts that cut something off their ends.
fn trimmed(language: Language, text: &str, name: &str, args: &Args) -> Option<Value> {
    let known = |at: usize| args.value(at).and_then(Value::known);
    let blank = |char: char| is_blank(language, char);
    let cut = match (language, name, args.values.len()) {
        (Python | Ruby, "strip", 0) | (Node, "trim", 0) => text.trim_matches(blank),
        (Python | Ruby, "lstrip", 0) | (Node, "trimStart" | "trimLeft", 0) => text.trim_start_matches(blank),
        (Python | Ruby, "rstrip", 0) | (Node, "trimEnd" | "trimRight", 0) => text.trim_end_matches(blank),
        // Letters of a set.
        (Python, "strip", 1) => {
            let set = known(0)?;
            text.trim_matches(|char: char| set.contains(char))
        }
        (Python, "lstrip", 1) => {
            let set = known(0)?;
            text.trim_start_matches(|char: char| set.contains(char))
        }
        (Python, "rstrip", 1) => {
            let set = known(0)?;
            text.trim_end_matches(|char: char| set.contains(char))
        }
        (Python, "removeprefix", 1) | (Ruby, "delete_prefix", 1) => text.strip_prefix(known(0)?).unwrap_or(text),
        (Python, "removesuffix", 1) | (Ruby, "delete_suffix" | "chomp", 1) => {
            text.strip_suffix(known(0)?).unwrap_or(text)
        }
        (Ruby, "chomp", 0) => {
            let cut = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r']));
            cut.unwrap_or(text)
        }
        _ => return None,
    };
    Some(Value::text(cut))
}

fn is_blank(language: Language, char: char) -> bool {
    match language {
        Ruby => matches!(char, ' ' | '\t'..='\r'),
        Node => char.is_whitespace() && char != '\u{85}' || char == '\u{feff}',
        _ => char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char),
    }
}

/// Whether it is one letter that means itself in a set of letters.
fn is_letter(set: &str) -> bool {
    set.chars().count() == 1 && set != "\\"
}

fn is_transfer(encoding: &str) -> bool {
    let encoding = encoding.to_ascii_lowercase();
    encoding.starts_with("base64") || encoding.starts_with("hex")
}

/// The text with the first so many of a part in it replaced.
fn replaced(language: Language, text: &str, from: &str, to: &str, most: usize) -> Value {
    // What stands for a part of what was found.
    let refers = match language {
        Node => to.contains('$'),
        Ruby => to.contains('\\'),
        _ => false,
    };
    if refers || from.is_empty() || text.len() >= 4096 || to.len() >= 64 {
        return Value::Unknown;
    }
    Value::Text(text.replacen(from, to, most))
}

/// The parts of a text, if there is no limit to how many.
fn split(language: Language, text: &str, args: &Args) -> Value {
    let words = || {
        let words = text.split(|char: char| is_blank(language, char)).filter(|word| !word.is_empty());
        Value::List(words.map(Value::text).collect())
    };
    let unknown = Value::List(vec![Value::Unknown]);
    match args.values.as_slice() {
        [] if language == Node => Value::List(vec![Value::text(text)]),
        [] => words(),
        // The folder where the program runs: what is above it, and its name.
        [separator, ..] if text == "." && separator.value.known() == Some("/") => {
            Value::List(vec![Value::text(".."), Value::Text(HOLE.to_string())])
        }
        [separator] => match separator.value.known() {
            Some(" ") if language == Ruby => words(),
            Some("") if language == Python => unknown,
            Some("") => letters(text),
            Some(separator) => {
                let mut parts: Vec<&str> = text.split(separator).collect();
                // Ruby leaves out the empty ones at the end.
                while language == Ruby && parts.last().is_some_and(|part| part.is_empty()) {
                    parts.pop();
                }
                Value::List(parts.into_iter().map(Value::text).collect())
            }
            None => unknown,
        },
        [separator, most] if language == Python => match (separator.value.known(), &most.value) {
            (Some(separator), Value::Number(most @ 0..=64))
                if !separator.is_empty() && !text.contains([HOLE, value::HOME]) =>
            {
                let parts = text.splitn(usize::try_from(*most).unwrap_or(0) + 1, separator);
                Value::List(parts.map(Value::text).collect())
            }
            _ => unknown,
        },
        _ => unknown,
    }
}

/// What stands before and behind a part of a text, counted from its end; the text alone if it is not there.
fn split_last(text: &str, separator: &str) -> Option<Value> {
    if text == "." && separator == "/" {
        return Some(Value::List(vec![Value::text(".."), Value::Text(HOLE.to_string())]));
    }
    match text.rsplit_once(separator).filter(|_| !separator.is_empty()) {
        // What is unknown may have such a part in it too.
        Some((_, after)) if after.contains([HOLE, value::HOME]) => None,
        Some((before, after)) => Some(Value::List(vec![Value::text(before), Value::text(after)])),
        None if text.contains([HOLE, value::HOME]) => None,
        None => Some(Value::List(vec![Value::text(text)])),
    }
}
