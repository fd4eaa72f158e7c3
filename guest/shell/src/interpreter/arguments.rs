//! Words as arguments, and as elements of an array: a glob among them may be any number of them.

use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Whether more than this one may come out of a word, other than by a glob, which stays one among the arguments.
pub(super) fn is_open_ended(word: &Word) -> bool {
    word.several && !matches!(word.value, Value::Pattern(_))
}

/// A word as an argument. A glob that may find several names is marked as one that leaves nothing unknown.
pub(super) fn argument(word: &Word) -> Value {
    match &word.value {
        Value::Pattern(pattern) if word.several => Value::Unknown { why: Why::Glob, shape: pattern.clone() },
        value => value.clone(),
    }
}

/// Stands for an element of an array that is not set: a glob that finds nothing.
pub(super) fn gap() -> Value {
    Value::Unknown { why: Why::Glob, shape: String::new() }
}

/// Whether it stands for that.
pub(super) fn is_gap(value: &Value) -> bool {
    spread(value) == Some("")
}

/// The glob that an argument is, if it may be several.
pub(super) fn spread(value: &Value) -> Option<&str> {
    match value {
        Value::Unknown { why: Why::Glob, shape } if !shape.contains(Value::HOLE) => Some(shape),
        _ => None,
    }
}

/// An argument as one that a loop goes over.
pub(super) fn item(value: &Value, span: Span) -> Word {
    match spread(value) {
        Some(pattern) => {
            Word { value: Value::Pattern(pattern.to_owned()), several: true, ..Word::unknown(Why::Glob, span) }
        }
        None => Word { value: value.clone(), ..Word::new("", span) },
    }
}

/// Whether there are such globs among arguments, so that those behind them have other numbers.
pub(super) fn spreads(values: &[Value]) -> bool {
    values.iter().any(|value| spread(value).is_some())
}
