//! YAML without a schema, with the line of every value, so that one wrong value costs one rule and is reported where it
//! stands. What the values mean is in `read`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A value.
#[derive(Debug)]
pub enum Node {
    /// A text or a number.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// Nothing.
    Null,
    /// A sequence.
    List(Vec<Spanned<Node>>),
    /// A mapping, in the order of the file.
    Map(Vec<(String, Spanned<Node>)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a YAML value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Text(value.to_owned()))
            }
            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }
            fn visit_none<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }
            fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
                Node::deserialize(inner)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Node::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = map.next_entry()? {
                    items.push(item);
                }
                Ok(Node::Map(items))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Node {
    /// For a sentence: what it is.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Text(_) => "a text",
            Node::Bool(_) => "true or false",
            Node::Null => "nothing",
            Node::List(_) => "a list",
            Node::Map(_) => "a mapping",
        }
    }

    /// The text of this key's value.
    ///
    /// # Errors
    /// If it is something else; the sentence names the key.
    pub fn text(self, key: &str) -> Result<String, String> {
        match self {
            Node::Text(text) => Ok(text),
            // Where a text is wanted, `true` is one.
            Node::Bool(value) => Ok(value.to_string()),
            Node::Null => {
                Err(format!("{key} must be a text, not nothing; one that begins with #, & or ! needs quotes"))
            }
            other => Err(format!("{key} must be a text, not {}", other.kind())),
        }
    }

    /// The truth value of this key.
    ///
    /// # Errors
    /// If it is something else; the sentence names the key.
    pub fn flag(self, key: &str) -> Result<bool, String> {
        match self {
            Node::Bool(value) => Ok(value),
            other => Err(format!("{key} must be true or false, not {}", other.kind())),
        }
    }

    /// One text or a list of them, none of them empty.
    ///
    /// # Errors
    /// If it is something else, or empty; the sentence names the key.
    pub fn texts(self, key: &str) -> Result<Vec<String>, String> {
        let mut list = match self {
            Node::List(items) => items.into_iter().map(|item| item.value.text(key)).collect::<Result<Vec<_>, _>>()?,
            other => vec![other.text(key)?],
        };
        // It took over the memory of the nodes, which are much larger.
        list.shrink_to_fit();
        if list.is_empty() || list.iter().any(String::is_empty) {
            return Err(format!("{key} must not be empty"));
        }
        Ok(list)
    }

    /// One value or a list of them.
    pub fn list(self) -> Vec<Node> {
        match self {
            Node::List(items) => items.into_iter().map(|item| item.value).collect(),
            other => vec![other],
        }
    }

    /// The mapping that is this key's value.
    ///
    /// # Errors
    /// If it is something else; the sentence names the key.
    pub fn map(self, key: &str) -> Result<Vec<(String, Spanned<Node>)>, String> {
        match self {
            Node::Map(entries) => Ok(entries),
            other => Err(format!("{key} must be a mapping, not {}", other.kind())),
        }
    }

    /// The same as JSON, for whoever takes it further.
    pub fn json(self) -> serde_json::Value {
        match self {
            Node::Text(text) => text.into(),
            Node::Bool(value) => value.into(),
            Node::Null => serde_json::Value::Null,
            Node::List(items) => items.into_iter().map(|item| item.value.json()).collect(),
            Node::Map(entries) => entries.into_iter().map(|(key, value)| (key, value.value.json())).collect(),
        }
    }
}

/// The line that a value begins in, from 1.
pub fn line<T>(value: &Spanned<T>) -> Option<u32> {
    u32::try_from(value.referenced.line()).ok().filter(|line| *line > 0)
}

/// Why a text is no YAML, and where.
#[derive(Debug)]
pub struct Malformed {
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// What is wrong, for people.
    pub message: String,
}

/// Reads a file's bytes.
///
/// # Errors
/// If they are no UTF-8 text or no YAML.
pub fn parse(content: &[u8]) -> Result<Spanned<Node>, Malformed> {
    let text = std::str::from_utf8(content).map_err(|error| {
        let before = content.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Malformed { line: u32::try_from(line).ok(), message: "the file is not UTF-8 text; save it as UTF-8".into() }
    })?;
    // As YAML 1.2 has it: `no` and `y` are texts, which reasons and patterns are.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().and_then(|location| u32::try_from(location.line()).ok());
        let message = error.to_string();
        let written = line.and_then(|line| text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
        let why = explained(without_place(message.lines().next().unwrap_or("")), written.unwrap_or(""));
        Malformed { line, message: format!("the file is not valid YAML: {why}") }
    })
}

/// What the reader of YAML says, without the place, which is told beside it.
fn without_place(message: &str) -> &str {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let placed = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    let is_place = |place: &str| place.chars().all(|letter| letter.is_ascii_digit() || " column".contains(letter));
    placed.filter(|(place, _)| is_place(place)).map_or(message, |(_, rest)| rest)
}

/// The same in words for who writes patterns and paths, and not YAML. `line` is where it was noticed.
fn explained(message: &str, line: &str) -> String {
    let value = value_of(line);
    let first = value.chars().next().unwrap_or(' ');
    if message.starts_with("unclosed bracket") {
        return format!("a bracket is not closed, or a value that begins with one needs single quotes ({message})");
    }
    if first == '[' && value.ends_with(']') || first == '{' && value.ends_with('}') {
        return match reference_in(value).filter(|_| message.starts_with("alias ")) {
            Some(text) => {
                format!("a value that begins with * is a reference; put it in single quotes: '{text}' ({message})")
            }
            None => {
                format!("inside [ ] and {{ }} a value with `: `, a comma or a bracket needs single quotes ({message})")
            }
        };
    }
    let what = match first {
        '*' => "a value that begins with * is a reference",
        '[' | '{' => "a value that begins with [ or { is a list or a mapping",
        '@' | '`' | '%' | '|' | '>' | '!' | '&' => "a value must not begin with this character",
        '"' if message.contains("escape") => "in double quotes a backslash is YAML's own",
        '"' | '\'' => "a quote is not closed, or something stands behind it",
        _ if message.contains("quoted scalar") => return format!("a quote above is not closed ({message})"),
        _ if value.contains(": ") => "`: ` begins a mapping",
        _ if message.starts_with("tabs ") || message.ends_with(" a tab") => {
            return "tabs must not indent; use spaces".to_owned();
        }
        _ if message.starts_with("duplicate mapping key: ") => {
            let key = message.trim_start_matches("duplicate mapping key: ");
            return format!("the key {} is there twice", key.split(',').next().unwrap_or(key));
        }
        _ => return format!("{message}; are this line and the one before it indented alike?"),
    };
    let inner = value.trim_matches(['"', '\'', '`']);
    match first {
        '"' | '\'' if !message.contains("escape") => format!("{what} ({message})"),
        _ => format!("{what}; put the value in single quotes: '{}' ({message})", inner.replace('\'', "''")),
    }
}

/// What begins with a `*` inside a list or a mapping on one line.
fn reference_in(value: &str) -> Option<&str> {
    let at = value.match_indices('*').map(|(at, _)| at).find(|at| value[..*at].ends_with([' ', '[', '{', ',']))?;
    value[at..].split([',', ']', '}']).next().map(str::trim_end)
}

/// The value on a line of a block: what stands behind the dashes and the key.
fn value_of(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || letter == '-');
    match rest.split_once(": ") {
        Some((key, value)) if is_key(key) => value.trim(),
        _ => rest,
    }
}
