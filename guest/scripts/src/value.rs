//! Values, and what is done with texts. No language's rules are here.

use std::ops::Range;
use std::rc::Rc;

use super::tokens::Tokens;
use super::{Language, Text};
use toolgate_shell_syntax::decode::{self, Base64};
use toolgate_shell_syntax::path;
use toolgate_shell_syntax::word::in_quotes;

/// Stands for an unknown part of a text.
pub(super) const HOLE: char = toolgate_shell_syntax::glob::HOLE;
/// Stands for the home directory in a text, until it is known whether the text is a path or shell text.
pub(super) const HOME: char = '\u{1}';
/// A text longer than this is unknown.
pub(super) const LONGEST: usize = 1 << 16;
/// Values may not be nested deeper in each other.
const DEEPEST: usize = 16;
/// More alternatives than this are not kept, see [`MORE`].
pub(super) const MOST: usize = 256;
/// So many values that are alike are listed one by one.
const MOST_ALIKE: usize = 16;
/// Stands behind a hole that is one of more values than are kept. An effect with it is not read.
pub(super) const MORE: char = '\u{2}';

/// What an expression gives.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// With [`HOLE`] and [`HOME`] in it.
    Text(String),
    /// An object that stands for a path, such as `pathlib.Path`.
    Path(String),
    Number(i64),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// An open file, and what it holds.
    File(String),
    /// A function or module under its full name, or a name that nothing is known of.
    Name(String),
    /// A method of a value, not yet called.
    Bound(Box<Value>, String),
    Function(Rc<Function>),
    /// One of these.
    Choice(Vec<Value>),
    Unknown,
}

/// A function of the script itself.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) parameters: Range<usize>,
    pub(super) tokens: Rc<Tokens>,
    pub(super) body: Range<usize>,
    /// What the parameters of the functions around it were when it was made.
    pub(super) captured: Vec<(String, Value)>,
}

impl Value {
    pub(super) fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    pub(super) fn name(name: &str) -> Value {
        Value::Name(name.to_owned())
    }

    pub(super) fn home() -> Value {
        Value::Text(HOME.to_string())
    }

    /// About how many bytes a copy of it takes. What is nested too deep is too large.
    pub(super) fn size(&self) -> usize {
        self.size_at(0)
    }

    fn size_at(&self, depth: usize) -> usize {
        if depth > DEEPEST {
            return usize::MAX;
        }
        let sum = |values: &mut dyn Iterator<Item = &Value>| {
            values.fold(32_usize, |sum, value| sum.saturating_add(value.size_at(depth + 1)).saturating_add(32))
        };
        match self {
            Value::Text(text) | Value::Path(text) | Value::Name(text) | Value::File(text) => text.len() + 1,
            Value::List(values) | Value::Choice(values) => sum(&mut values.iter()),
            Value::Map(entries) => {
                let keys: usize = entries.iter().map(|(key, _)| key.len()).sum();
                sum(&mut entries.iter().map(|(_, value)| value)).saturating_add(keys)
            }
            Value::Bound(value, name) => value.size_at(depth + 1).saturating_add(name.len()),
            // It is shared, not copied; only how deep it goes matters.
            Value::Function(function) => {
                let deep = function.captured.iter().any(|(_, value)| value.size_at(depth + 1) == usize::MAX);
                if deep { usize::MAX } else { 1 }
            }
            Value::Number(_) | Value::Unknown => 1,
        }
    }

    /// One of the two.
    pub(super) fn or(self, other: Value) -> Value {
        let mut all = match self {
            Value::Choice(values) => values,
            value => vec![value],
        };
        match other {
            Value::Choice(values) => all.extend(values),
            value => all.push(value),
        }
        Value::choice(all)
    }

    pub(super) fn choice(mut values: Vec<Value>) -> Value {
        let mut unknown = false;
        values.retain(|value| {
            let hole = matches!(value, Value::Unknown);
            let again = hole && unknown;
            unknown |= hole;
            !again
        });
        if let Some((first, rest)) = values.split_first()
            && rest.iter().all(|value| same(first, value))
        {
            values.truncate(1);
        }
        if values.len() > MOST {
            let path = matches!(values.first(), Some(Value::Path(_)));
            values.truncate(MOST - 1);
            values.push(if path { Value::Path(lost()) } else { Value::Text(lost()) });
        }
        match values.len() {
            0 => Value::Unknown,
            1 => values.pop().unwrap_or(Value::Unknown),
            _ => Value::Choice(values),
        }
    }

    /// The texts that it can be, one hole for what is no text. Numbers are texts too.
    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Value::Text(text) | Value::Path(text) => vec![text.clone()],
            Value::Number(number) => vec![number.to_string()],
            Value::Choice(values) => values.iter().take(MOST).flat_map(Value::texts).collect(),
            _ => vec![HOLE.to_string()],
        }
    }

    /// The one text that it is, with a hole if there are several.
    pub(super) fn shape(&self) -> String {
        match self {
            Value::Text(text) | Value::Path(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Choice(values) => {
                let mut shapes = values.iter().map(Value::shape);
                let first = shapes.next().unwrap_or_default();
                if shapes.all(|shape| shape == first) { first } else { HOLE.to_string() }
            }
            _ => HOLE.to_string(),
        }
    }

    /// The text, if all of it is known.
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Value::Text(text) | Value::Path(text) if !text.contains([HOLE, HOME]) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Value::Number(number) => *number != 0,
            Value::Name(name) => matches!(name.as_str(), "True" | "true" | "TRUE"),
            Value::Text(text) => !text.is_empty(),
            // One with nothing in it but what may be any number of items may be empty, which is false for some.
            Value::List(values) => values.is_empty() || !values.iter().all(Value::is_open),
            Value::Map(_) => true,
            _ => false,
        }
    }

    pub(super) fn is_false(&self) -> bool {
        match self {
            Value::Number(number) => *number == 0,
            Value::Name(name) => {
                matches!(name.as_str(), "False" | "false" | "FALSE" | "None" | "nil" | "null" | "undefined" | "NULL")
            }
            _ => false,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Whether it is a map of which not all keys are known.
    pub(super) fn has_unknown_key(&self) -> bool {
        matches!(self, Value::Map(entries) if entries.iter().any(|(key, _)| key.contains(HOLE)))
    }

    /// The values of a list, or of a choice of lists; one unknown value for anything else.
    pub(super) fn items(self) -> Vec<Value> {
        match self {
            Value::List(values) => values,
            Value::Map(entries) => entries.into_iter().map(|(_, value)| value).collect(),
            Value::File(text) => text.lines().map(Value::text).collect(),
            Value::Choice(values) => values.into_iter().flat_map(Value::items).collect(),
            _ => vec![Value::Unknown],
        }
    }

    /// What going through it gives: the keys of a Python dictionary, the values of any other list or map.
    pub(super) fn elements(self, language: Language) -> Vec<Value> {
        match self {
            Value::Map(entries) if language == Language::Python => {
                entries.into_iter().map(|(key, _)| Value::Text(key)).collect()
            }
            Value::Choice(values) => values.into_iter().flat_map(|value| value.elements(language)).collect(),
            value => value.items(),
        }
    }

    /// How many items a list has, if none of them may stand for any number.
    pub(super) fn count(&self) -> Option<usize> {
        match self {
            Value::List(values) if !values.iter().any(Value::is_open) => Some(values.len()),
            _ => None,
        }
    }

    /// Whether it may stand for any number of items in a list.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Value::Unknown | Value::Choice(_))
    }

    /// A list of some of these, in any order.
    pub(super) fn some_of(values: Vec<Value>) -> Value {
        Value::List(vec![Value::choice(values)])
    }

    /// The list of what a function gave for each of `count` items. Which is which is known if there are as many.
    pub(super) fn each_of(result: Value, count: Option<usize>) -> Value {
        match (result, count) {
            (Value::Choice(values), Some(count)) if values.len() == count => Value::List(values),
            (result @ (Value::Choice(_) | Value::Unknown), _) => Value::List(vec![result]),
            (result, Some(count)) if count <= MOST_ALIKE => Value::List(vec![result; count]),
            (Value::Text(text), _) if !text.contains(HOLE) => Value::List(vec![Value::Text(text).or(Value::Unknown)]),
            (result, _) => Value::List(vec![result]),
        }
    }

    /// Text after text, or list after list.
    pub(super) fn plus(self, other: Value) -> Value {
        match (self, other) {
            (Value::List(mut left), Value::List(right)) => {
                left.extend(right);
                Value::List(left)
            }
            (Value::List(mut left), Value::Unknown) => {
                left.push(Value::Unknown);
                Value::List(left)
            }
            (Value::Number(left), Value::Number(right)) => Value::Number(left.wrapping_add(right)),
            (Value::Text(left), other @ (Value::Text(_) | Value::Path(_) | Value::Number(_) | Value::Unknown)) => {
                append(left, &other.shape())
            }
            (Value::Choice(left), right) => distribute(left, vec![right]),
            (left, Value::Choice(right)) => distribute(vec![left], right),
            (left, right) => append(left.shape(), &right.shape()),
        }
    }
}

/// An item of a map is set. It may not be reached, so what was there before stays possible.
pub(super) fn put(entries: &mut Vec<(String, Value)>, key: &str, item: Value) {
    let found = entries.iter().rposition(|(name, _)| name == key);
    match found {
        Some(at) => {
            if let Some((_, old)) = entries.get_mut(at) {
                *old = std::mem::replace(old, Value::Unknown).or(item);
            }
        }
        None => entries.push((key.to_owned(), item)),
    }
}

/// A text of which more is known than is kept.
pub(super) fn lost() -> String {
    format!("{HOLE}{MORE}")
}

fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Text(one), Value::Text(two)) | (Value::Name(one), Value::Name(two)) => one == two,
        _ => false,
    }
}

fn append(mut left: String, right: &str) -> Value {
    if left.len() + right.len() > LONGEST {
        return Value::Unknown;
    }
    if right.starts_with(HOLE) && left.ends_with(HOLE) {
        left.push_str(right.get(1..).unwrap_or_default());
    } else {
        left.push_str(right);
    }
    Value::Text(left)
}

fn distribute(left: Vec<Value>, right: Vec<Value>) -> Value {
    let shapes = |values: &[Value]| values.iter().map(Value::shape).collect::<Vec<_>>();
    let pairs = each_with_each(&shapes(&left), &shapes(&right));
    Value::choice(pairs.into_iter().map(|(one, two)| append(one, &two)).collect())
}

/// Each of these with each of those; if that would be too many, each of them with a hole for the other one.
pub(super) fn each_with_each(left: &[String], right: &[String]) -> Vec<(String, String)> {
    if left.len() * right.len() > MOST {
        let known = left.iter().map(|one| (one.clone(), HOLE.to_string()));
        return known.chain(right.iter().map(|two| (HOLE.to_string(), two.clone()))).collect();
    }
    let mut all = Vec::new();
    for one in left {
        for two in right {
            all.push((one.clone(), two.clone()));
        }
    }
    all
}

/// As a path or an argument: the home directory is `~` in front, and unknown elsewhere.
pub(super) fn path(text: &str) -> Text {
    let (home, rest) = match text.strip_prefix(HOME) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => ("~", rest),
        _ => ("", text),
    };
    finish(format!("{home}{}", rest.replace(HOME, "\0")))
}

/// As shell text: the home directory is `$HOME`.
pub(super) fn shell(text: &str) -> Text {
    finish(text.replace(HOME, "$HOME"))
}

/// A hole for each unknown part.
pub(super) fn finish(text: String) -> Text {
    if text.contains(HOLE) { Text::Shape(text) } else { Text::Known(text) }
}

/// As one word of a shell command that means exactly this text.
pub(super) fn quoted(text: &str) -> String {
    match text.strip_prefix(HOME) {
        Some(rest) => format!("\"$HOME\"{}", if rest.is_empty() { String::new() } else { quoted(rest) }),
        None => in_quotes(text),
    }
}

/// Paths one after the other; an absolute one starts anew if `restart`.
pub(super) fn join(parts: &[String], restart: bool) -> String {
    let mut joined = String::new();
    for part in parts {
        if restart && part.starts_with(['/', HOME]) {
            joined.clear();
        }
        if joined.is_empty() {
            joined.push_str(part);
        } else if !part.is_empty() {
            let part = if joined.ends_with('/') { part.trim_start_matches('/') } else { part };
            if !joined.ends_with('/') && !part.starts_with('/') {
                joined.push('/');
            }
            joined.push_str(part);
        }
    }
    joined
}

/// The folder that a path stands in. `.` is where the program runs, however it was spelt, so what is above it is `..`.
pub(super) fn dirname(path: &str) -> String {
    let bare = path.trim_end_matches('/');
    match bare.rsplit('/').next() {
        Some(".") if bare == "." => return "..".to_owned(),
        Some("." | "..") => return format!("{bare}/.."),
        _ => {}
    }
    if bare.contains('/') {
        return path::dirname(path).to_owned();
    }
    if bare.starts_with(HOME) && !bare.contains(HOLE) {
        return format!("{HOME}/..");
    }
    // What is above an unknown part is unknown.
    if bare.contains([HOLE, HOME]) {
        return HOLE.to_string();
    }
    path::dirname(path).to_owned()
}

/// The root has none, and that of the folder where the program runs is not known.
pub(super) fn basename(path: &str) -> String {
    match path::basename(path).trim_start_matches('/') {
        "." | ".." => HOLE.to_string(),
        name => name.to_owned(),
    }
}

/// A glob as a shape: a hole for each wildcard. Braces are a hole too.
pub(super) fn glob(pattern: &str) -> String {
    let mut shape = String::new();
    let mut inside = None;
    for char in pattern.chars() {
        match (inside, char) {
            (Some(close), char) if char == close => inside = None,
            (Some(_), _) => continue,
            (None, '[') => inside = Some(']'),
            (None, '{') => inside = Some('}'),
            (None, '*' | '?') => {}
            (None, char) => {
                shape.push(char);
                continue;
            }
        }
        if !shape.ends_with(HOLE) {
            shape.push(HOLE);
        }
    }
    shape
}

pub(super) fn base64(text: &str) -> Option<String> {
    decode::base64(text, Base64::Function).filter(|text| !text.contains([HOLE, HOME]))
}

/// Pairs of digits. Blanks between them end it in some languages and are left out in others.
pub(super) fn hex(text: &str) -> Option<String> {
    let blank = text.contains(char::is_whitespace);
    decode::hex(text).filter(|text| !blank && !text.contains([HOLE, HOME]))
}

/// `%s`, `%d` and `%%` of printf; a hole for any other directive and for what has no value.
pub(super) fn printf(format: &str, values: &[Value]) -> String {
    let mut text = String::new();
    let mut values = values.iter();
    let mut chars = format.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '%' {
            text.push(char);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            text.push('%');
            continue;
        }
        let mut plain = true;
        let mut named = false;
        let mut directive = None;
        for char in chars.by_ref() {
            if matches!(char, '(' | '{' | '<') {
                // A value by its name.
                plain = false;
                named = true;
            } else if named {
                named = !matches!(char, ')' | '}' | '>');
            } else if char.is_ascii_alphabetic() {
                directive = Some(char);
                break;
            } else {
                plain = false;
                // Which value belongs to which directive is not plain any more.
                if matches!(char, '*' | '$') {
                    return HOLE.to_string();
                }
                if !matches!(char, '0'..='9' | '.' | '-' | '+' | ' ' | '#' | '\'') {
                    break;
                }
            }
        }
        let value = values.next();
        match (plain, directive, value) {
            (true, Some('s'), Some(value)) => text.push_str(&value.shape()),
            // Of a text they take the number that it begins with.
            (true, Some('d' | 'i'), Some(value @ Value::Number(_))) => text.push_str(&value.shape()),
            (true, Some('c'), Some(Value::Number(number))) => text.push(character(*number)),
            _ => text.push(HOLE),
        }
        if text.len() > LONGEST {
            return HOLE.to_string();
        }
    }
    text
}

/// `{}`, `{0}` and `{name}` of Python's `format`.
pub(super) fn format(format: &str, values: &[Value], named: &[(String, Value)]) -> String {
    let mut text = String::new();
    let mut next = 0;
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = after.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = after.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some(after) = after.strip_prefix('}') {
            rest = after;
        } else {
            let after = after.strip_prefix('{').unwrap_or(after);
            let (whole, after) = after.split_once('}').unwrap_or((after, ""));
            // A width that is a value of its own.
            if whole.contains('{') {
                return HOLE.to_string();
            }
            let field = whole.split(['!', ':', '.', '[']).next().unwrap_or_default();
            let value = if field.is_empty() {
                next += 1;
                values.get(next - 1)
            } else if let Ok(index) = field.parse::<usize>() {
                values.get(index)
            } else {
                named.iter().find(|(name, _)| name == field).map(|(_, value)| value)
            };
            let value = value.filter(|_| field.len() == whole.len());
            text.push_str(&value.map_or(HOLE.to_string(), Value::shape));
            rest = after;
        }
        if text.len() > LONGEST {
            return HOLE.to_string();
        }
    }
    text.push_str(rest);
    text
}

/// The character of a code that is the same in all encodings, a hole for any other.
pub(super) fn ascii(code: i64) -> char {
    if (0..128).contains(&code) { character(code) } else { HOLE }
}

/// The character of a code, a hole if there is none.
pub(super) fn character(code: i64) -> char {
    u32::try_from(code).ok().and_then(char::from_u32).filter(|char| *char != HOME).unwrap_or(HOLE)
}

/// Whether a text is a path in a home folder by its look.
pub(super) fn is_at_home(text: &str) -> bool {
    let home = ["~/", "/home/", "/root/", "/Users/"].iter().any(|home| text.starts_with(home));
    (home || text.starts_with(HOME)) && !text.contains(char::is_whitespace)
}
