//! What files of settings hold, as values: JSON, and what INI, TOML and YAML have in common, which are keys with a text or a list
//! behind each, in sections or indented below another key.

use serde_json::Value as Json;

use super::value::{self, HOLE, MOST, Value};

/// How deep a document is read.
const DEEPEST: usize = 12;

/// The value of a document. One that cannot be read is a map that holds nothing.
pub(super) fn parsed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(document) => of_json(&document, 0),
        Err(_) => lines(text),
    }
}

fn of_json(document: &Json, depth: usize) -> Value {
    match document {
        Json::String(text) => Value::text(text),
        Json::Number(number) => number.as_i64().map_or(Value::Unknown, Value::Number),
        Json::Array(items) if depth < DEEPEST => {
            let more = (items.len() > MOST).then_some(Value::Unknown);
            Value::List(items.iter().take(MOST).map(|item| of_json(item, depth + 1)).chain(more).collect())
        }
        Json::Object(entries) if depth < DEEPEST && entries.len() <= MOST => {
            let entry = |(key, item): (&String, &Json)| (key.clone(), of_json(item, depth + 1));
            Value::Map(entries.iter().map(entry).collect())
        }
        Json::Null => Value::name("null"),
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => Value::Unknown,
    }
}

/// Keys and values line by line.
fn lines(text: &str) -> Value {
    let mut root = Value::Map(Vec::new());
    let mut section: Vec<String> = Vec::new();
    // Keys that others stand below, each with its indentation.
    let mut around: Vec<(usize, String)> = Vec::new();
    // The last key with a text, and its indentation: what stands further in goes on with it.
    let mut last: Option<(usize, Vec<String>)> = None;
    // What no map has room for: anything may be anywhere.
    let mut is_left_out = false;
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) || bare == "---" {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            last = None;
            section = name.trim_matches(['[', ']']).split('.').map(|part| unquoted(part).to_owned()).collect();
            around.clear();
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if let Some((outer, path)) = &last
            && (indent > *outer || entry(bare).is_none() && bare.strip_prefix("- ").is_none())
        {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            is_left_out |= !unknown_at(&mut root, &path);
            continue;
        }
        if let Some(item) = bare.strip_prefix("- ").or((bare == "-").then_some("|")) {
            let path: Vec<&str> = section.iter().chain(around.iter().map(|(_, key)| key)).map(String::as_str).collect();
            // An item that is a map, or a list.
            let item = if item.ends_with(':') || item.contains(": ") || item.starts_with("- ") {
                Value::Unknown
            } else {
                scalar(item)
            };
            is_left_out |= !add(&mut root, &path, item);
            continue;
        }
        while around.last().is_some_and(|(outer, _)| *outer >= indent) {
            around.pop();
        }
        let Some((key, text)) = entry(bare) else {
            // The text of a key goes on, or it is nothing that is read.
            let path: Vec<&str> = section.iter().chain(around.iter().map(|(_, key)| key)).map(String::as_str).collect();
            is_left_out |= !path.is_empty() && !unknown_at(&mut root, &path);
            continue;
        };
        if text.is_empty() {
            around.push((indent, key.to_owned()));
            continue;
        }
        let path: Vec<&str> =
            section.iter().chain(around.iter().map(|(_, key)| key)).map(String::as_str).chain([key]).collect();
        is_left_out |= !set(&mut root, &path, scalar(text));
        last = Some((indent, path.into_iter().map(str::to_owned).collect()));
    }
    leave_open(&mut root);
    if is_left_out { root.or(Value::Unknown) } else { root }
}

/// What is read line by line may have more keys than were found, in each of its maps.
fn leave_open(value: &mut Value) {
    if let Value::Map(entries) = value {
        entries.iter_mut().for_each(|(_, value)| leave_open(value));
        entries.push((HOLE.to_string(), Value::Unknown));
    }
}

/// The key of a line, and what stands behind it.
fn entry(line: &str) -> Option<(&str, &str)> {
    let at = line.find(['=', ':'])?;
    let (key, rest) = line.split_at(at);
    let is_yaml = rest.starts_with(": ") || rest == ":" || !rest.starts_with(':');
    is_yaml.then(|| (unquoted(key), rest[1..].trim()))
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

/// A text, with or without quotes, or a list of them.
fn scalar(text: &str) -> Value {
    let text = text.trim();
    if text.contains(['\\', '`']) || text.contains("%(") || text.contains("${") {
        return Value::Unknown;
    }
    if let Some(items) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items: Vec<&str> = items.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
        let is_plain = |item: &str| !unquoted(item).contains(['"', '\'', '[', ']', '{', '}', '#', '*', '&', '!']);
        if items.len() > MOST || !items.iter().all(|item| is_plain(item)) {
            return Value::Unknown;
        }
        return Value::List(items.into_iter().map(|item| Value::text(unquoted(item))).collect());
    }
    if text.starts_with(['[', '{', '|', '>', '*', '&', '!']) || text.starts_with("\"\"\"") || text.starts_with("'''") {
        return Value::Unknown;
    }
    let quoted = text.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    let end = match quoted {
        Some(quote) => text[1..].find(quote).map(|at| at + 2),
        None => text.find(" #"),
    };
    // A quote that is not closed goes on in the next line.
    if quoted.is_some() && end.is_none() {
        return Value::Unknown;
    }
    Value::text(unquoted(end.map_or(text, |end| &text[..end])))
}

/// The map at the end of a path, which is made where there is none.
fn below<'v>(root: &'v mut Value, path: &[&str]) -> Option<&'v mut Vec<(String, Value)>> {
    let Value::Map(entries) = root else { return None };
    let Some((first, rest)) = path.split_first() else { return Some(entries) };
    if path.len() > DEEPEST || entries.len() >= MOST {
        return None;
    }
    let at = entries.iter().position(|(name, _)| name == first).unwrap_or_else(|| {
        entries.push(((*first).to_owned(), Value::Map(Vec::new())));
        entries.len() - 1
    });
    below(&mut entries[at].1, rest)
}

/// Whether there was room for it.
fn set(root: &mut Value, path: &[&str], item: Value) -> bool {
    let Some((key, path)) = path.split_last() else { return false };
    let Some(entries) = below(root, path).filter(|entries| entries.len() < MOST) else { return false };
    value::put(entries, key, item);
    true
}

/// What stands at a path may be anything; whether there was room for that.
fn unknown_at(root: &mut Value, path: &[&str]) -> bool {
    set(root, path, Value::Unknown)
}

/// An item of the list at a path; whether there was room for it.
fn add(root: &mut Value, path: &[&str], item: Value) -> bool {
    let Some((key, path)) = path.split_last() else { return false };
    let Some(entries) = below(root, path) else { return false };
    match entries.iter_mut().find(|(name, _)| name == key) {
        Some((_, Value::List(items))) if items.len() < MOST => items.push(item),
        Some((_, value)) => *value = std::mem::replace(value, Value::Unknown).or(Value::Unknown),
        None => entries.push(((*key).to_owned(), Value::List(vec![item]))),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_values() {
        let cases = [
            ("{\"a\": {\"b\": [\"x\", \"y\"]}}", "a.b", "x y"),
            ("{\"out\": \"d\"}", "out", "d"),
            ("[paths]\nout = /home/x\n", "paths.out", "/home/x"),
            ("[tool.x]\nout = \"d # e\" # why\n", "tool.x.out", "d # e"),
            ("out: d # why\n", "out", "d"),
            ("# y\na:\n  b:\n    out: 'd'\n  c: e\n", "a.b.out", "d"),
            ("a:\n  b: 1\nc: e\n", "c", "e"),
            ("dirs:\n  - x\n  - y\n", "dirs", "x y"),
            ("dirs = [\"x\", 'y']\n", "dirs", "x y"),
            ("OUT=d\n", "OUT", "d"),
            ("http://x:1\n", "http", ""),
            ("{", "a", ""),
            ("a = [\n\"x\",\n]\n", "a", "\0"),
            ("a: >-\n  x\nb: y\n", "a", "\0"),
            ("a: >-\n  x\nb: y\n", "b", "y"),
            ("a: x\n  y\n", "a", "\0"),
            ("a: &b x\n", "a", "\0"),
            ("a: {b: x}\n", "a", "\0"),
            ("a = \"\\u002f\"\n", "a", "\0"),
            ("[a]\nb = %(c)s\n", "a.b", "\0"),
            ("a=${x}\n", "a", "\0"),
        ];
        for (text, path, expected) in cases {
            let mut value = Some(parsed(text));
            for key in path.split('.') {
                value = value.and_then(|value| value.get(key).cloned());
            }
            let texts = match value {
                Some(Value::List(items)) => items.iter().flat_map(Value::texts).collect::<Vec<_>>().join(" "),
                Some(value) => value.shape(),
                None => String::new(),
            };
            assert_eq!(texts, expected, "{text}");
        }
    }
}
