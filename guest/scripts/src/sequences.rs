//! Texts and lists: their order, their parts, their letters, and what encodings make of them.

use super::value::{self, HOLE, Value};

/// The text or list from its end to its beginning. A hole stays a hole.
pub(super) fn reverse(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(text.chars().rev().collect()),
        Value::List(values) => Value::List(values.iter().rev().cloned().collect()),
        Value::Choice(values) => Value::choice(values.iter().map(reverse).collect()),
        _ => Value::Unknown,
    }
}

/// `value[start:end]`, counted from the end if negative.
pub(super) fn part(value: &Value, start: i64, end: Option<i64>) -> Value {
    let range = |length: usize| {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let clamp = |at: i64| if at < 0 { at.saturating_add(length).max(0) } else { at.min(length) };
        let (from, to) = (clamp(start), clamp(end.unwrap_or(length)));
        (usize::try_from(from).unwrap_or(0), usize::try_from(to - from).unwrap_or(0))
    };
    match value {
        _ if start == i64::MAX => match value {
            Value::List(values) => any_of(values),
            _ => Value::Unknown,
        },
        Value::Text(text) if !text.contains([HOLE, value::HOME]) => {
            let (from, count) = range(text.chars().count());
            Value::Text(text.chars().skip(from).take(count).collect())
        }
        Value::List(values) if values.iter().any(Value::is_open) => any_of(values),
        Value::List(values) => {
            let (from, count) = range(values.len());
            Value::List(values.iter().skip(from).take(count).cloned().collect())
        }
        _ => Value::Unknown,
    }
}

/// A list of any of these, or of none.
pub(super) fn any_of(values: &[Value]) -> Value {
    let mut items: Vec<Value> = Vec::new();
    for value in values {
        let own = if let Value::Choice(values) = value { values.as_slice() } else { std::slice::from_ref(value) };
        for value in own {
            let again = |one: &Value| one.known().is_some() && one.known() == value.known();
            if !items.iter().any(again) {
                items.push(value.clone());
            }
        }
    }
    items.push(Value::Unknown);
    Value::some_of(items)
}

/// The items with the separator between them. What is no list is one hole.
pub(super) fn joined(separator: &str, list: &Value) -> Value {
    match list {
        Value::List(values) => {
            let mut text = String::new();
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push_str(separator);
                }
                text.push_str(&value.shape());
                if text.len() > value::LONGEST {
                    return Value::Unknown;
                }
            }
            Value::Text(text)
        }
        Value::Text(text) => {
            if text.chars().nth(4096).is_some() {
                return Value::Unknown;
            }
            let parts: Vec<String> = text.chars().map(String::from).collect();
            Value::Text(parts.join(separator))
        }
        _ => Value::Unknown,
    }
}

/// The letters of a text. What stands for any number of letters is unknown, and so is a list that would be too long.
pub(super) fn letters(text: &str) -> Value {
    if text.chars().nth(4096).is_some() {
        return Value::List(vec![Value::Unknown]);
    }
    let letter = |char: char| match char {
        HOLE | value::HOME => Value::Unknown,
        char => Value::Text(char.to_string()),
    };
    Value::List(text.chars().map(letter).collect())
}

/// What a text is in an encoding's plain form: base64, hexadecimal, rot13; text is text.
pub(super) fn decode(value: &Value, encoding: &str) -> Value {
    let text = value.known();
    let decoded = match encoding.to_ascii_lowercase().replace('-', "_").as_str() {
        "base64" | "base64url" | "base64_codec" | "m" | "m0" => text.and_then(value::base64),
        "hex" | "hex_codec" => text.and_then(value::hex),
        "rot13" | "rot_13" => text.map(|text| text.chars().map(rotate).collect()),
        "utf8" | "utf_8" => return value.clone(),
        // The same for what is in both.
        "ascii" | "latin1" | "latin_1" | "binary" if value.shape().is_ascii() => return value.clone(),
        _ => None,
    };
    decoded.map_or(Value::Unknown, Value::Text)
}

fn rotate(char: char) -> char {
    let turn = |base: u8| ((char as u8 - base + 13) % 26 + base) as char;
    match char {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        other => other,
    }
}
