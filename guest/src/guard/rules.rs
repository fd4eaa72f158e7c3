//! Rule files: the YAML of damage-control, read tolerantly.
//!
//! ```yaml
//! bashToolPatterns:
//!   - pattern: '\bgit\s+reset\s+--hard'   # a regular expression, look-around included
//!     reason: throws away what is not committed
//!     ask: true                           # optional: ask instead of block
//!     name: hard-reset                    # optional: how findings call it
//! zeroAccessPaths: ["~/.ssh/"]            # not read, not written, not named as an operand
//! readOnlyPaths: ["/etc/"]                # not changed
//! noDeletePaths: [".git/"]                # not removed or moved
//! ```
//!
//! A pattern or path that is wrong is left out and reported with its line. A file that is no YAML or no mapping
//! gives no rules at all, and one report. Keys that are not known are reported, as a typing error in
//! `zeroAccessPaths` would otherwise leave a secret open without a word.

use std::fmt;

use fancy_regex::{Regex, RegexBuilder};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::path_rules::{PathRule, Policy};

/// Steps that one pattern may take on one text before it counts as matching: a few for each byte of the longest text
/// that is parsed. Patterns without look-around and back-references take none: the regex crate's engine serves them.
const STEP_LIMIT: usize = 1_000_000;

/// Largest compiled pattern, in bytes, so that a small file cannot fill the memory.
const SIZE_LIMIT: usize = 1 << 20;

/// Who wrote a rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// It came with Toolgate.
    BuiltIn,
    /// The user's own.
    User,
    /// The project's.
    Project,
}

impl Layer {
    fn prefix(self) -> &'static str {
        match self {
            Layer::BuiltIn => "builtin",
            Layer::User => "user",
            Layer::Project => "project",
        }
    }
}

/// Something in a rule file that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether nothing of the file could be used.
    pub whole_file: bool,
}

/// A pattern that is tried on commands.
#[derive(Debug)]
pub(crate) struct PatternRule {
    pub(crate) name: String,
    pub(crate) regex: Regex,
    pub(crate) reason: String,
    pub(crate) ask: bool,
}

/// What a rule file holds.
#[derive(Debug, Default)]
pub(crate) struct RuleFile {
    pub(crate) patterns: Vec<PatternRule>,
    pub(crate) paths: Vec<PathRule>,
    pub(crate) problems: Vec<Problem>,
}

/// YAML without a schema, with the line of every value.
#[derive(Debug)]
enum Node {
    Text(String),
    Bool(bool),
    Null,
    List(Vec<Spanned<Node>>),
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
    fn kind(&self) -> &'static str {
        match self {
            Node::Text(_) => "a text",
            Node::Bool(_) => "true or false",
            Node::Null => "nothing",
            Node::List(_) => "a list",
            Node::Map(_) => "a mapping",
        }
    }
}

fn line<T>(value: &Spanned<T>) -> Option<u32> {
    u32::try_from(value.referenced.line()).ok().filter(|line| *line > 0)
}

/// Reads a rule file's content.
pub(crate) fn read(file: &str, layer: Layer, content: &[u8]) -> RuleFile {
    let mut rules = RuleFile::default();
    let whole = |message: String, line| Problem { file: file.to_owned(), line, message, whole_file: true };
    let text = match std::str::from_utf8(content) {
        Ok(text) => text,
        Err(error) => {
            let before = &content[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            rules.problems.push(whole("the file is not UTF-8 text; save it as UTF-8".into(), u32::try_from(line).ok()));
            return rules;
        }
    };
    // As YAML 1.2 has it: `no` and `y` are texts, which reasons and patterns are.
    let options = serde_saphyr::options! { strict_booleans: true };
    let root: Spanned<Node> = match serde_saphyr::from_str_with_options(text, options) {
        Ok(root) => root,
        Err(error) => {
            let line = error.location().and_then(|location| u32::try_from(location.line()).ok());
            let message = error.to_string();
            let first = message.lines().next().unwrap_or("").to_owned();
            rules.problems.push(whole(format!("the file is not valid YAML: {first}"), line));
            return rules;
        }
    };
    let at = line(&root);
    match root.value {
        Node::Null => {}
        Node::Map(sections) => {
            for (key, section) in sections {
                Reader { file, layer, rules: &mut rules }.section(&key, section);
            }
        }
        other => {
            let message = format!("the file must be a mapping with keys like bashToolPatterns, not {}", other.kind());
            rules.problems.push(whole(message, at));
        }
    }
    rules
}

struct Reader<'a> {
    file: &'a str,
    layer: Layer,
    rules: &'a mut RuleFile,
}

impl Reader<'_> {
    fn problem(&mut self, line: Option<u32>, message: String) {
        self.rules.problems.push(Problem { file: self.file.to_owned(), line, message, whole_file: false });
    }

    fn section(&mut self, key: &str, section: Spanned<Node>) {
        let at = line(&section);
        let policy =
            match key {
                "bashToolPatterns" => None,
                "zeroAccessPaths" => Some(Policy::ZeroAccess),
                "readOnlyPaths" => Some(Policy::ReadOnly),
                "noDeletePaths" => Some(Policy::NoDelete),
                other => {
                    self.problem(at, format!(
                    "the key {other} is not known; known are bashToolPatterns, zeroAccessPaths, readOnlyPaths and \
                     noDeletePaths"
                ));
                    return;
                }
            };
        let items = match section.value {
            Node::List(items) => items,
            Node::Null => return,
            other => {
                self.problem(at, format!("{key} must be a list, not {}", other.kind()));
                return;
            }
        };
        for (index, item) in items.into_iter().enumerate() {
            let at = line(&item);
            let added = match policy {
                None => self.pattern(index, item.value),
                Some(policy) => self.path(policy, item.value),
            };
            if let Err(message) = added {
                self.problem(at, message);
            }
        }
    }

    fn path(&mut self, policy: Policy, item: Node) -> Result<(), String> {
        let Node::Text(pattern) = item else {
            return Err(format!("a path must be a text, not {}", item.kind()));
        };
        self.rules.paths.push(PathRule::new(policy, &pattern)?);
        Ok(())
    }

    fn pattern(&mut self, index: usize, item: Node) -> Result<(), String> {
        let Node::Map(entries) = item else {
            return Err(format!("a pattern rule must be a mapping with pattern and reason, not {}", item.kind()));
        };
        let (mut pattern, mut reason, mut ask, mut name) = (None, None, false, None);
        for (key, value) in entries {
            match (key.as_str(), value.value) {
                ("pattern", Node::Text(text)) => pattern = Some(text),
                ("reason", Node::Text(text)) => reason = Some(text),
                ("name", Node::Text(text)) => name = Some(text),
                ("ask", Node::Bool(value)) => ask = value,
                ("pattern" | "reason" | "name", other) => {
                    return Err(format!("{key} must be a text, not {}; put it in quotes", other.kind()));
                }
                ("ask", other) => return Err(format!("ask must be true or false, not {}", other.kind())),
                (other, _) => return Err(format!("a pattern rule has no key {other}")),
            }
        }
        let pattern = pattern.ok_or("the rule has no pattern")?;
        let reason = reason.unwrap_or_else(|| format!("the command matches {pattern}"));
        let regex = RegexBuilder::new(&pattern)
            .backtrack_limit(STEP_LIMIT)
            .delegate_size_limit(SIZE_LIMIT)
            .build()
            .map_err(|error| format!("the pattern {pattern} is not a regular expression: {error}"))?;
        let own = name.unwrap_or_else(|| format!("bashToolPatterns[{index}]"));
        let name = format!("{}:{own}", self.layer.prefix());
        self.rules.patterns.push(PatternRule { name, regex, reason, ask });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a rule file as `line: start of the message`, and how many rules were kept.
    fn outcome(content: &[u8]) -> (usize, Vec<String>) {
        let file = read("rules.yaml", Layer::Project, content);
        let problems = file.problems.iter().map(|problem| {
            let start: String = problem.message.chars().take(28).collect();
            format!("{}: {start}", problem.line.unwrap_or(0))
        });
        (file.patterns.len() + file.paths.len(), problems.collect())
    }

    #[test]
    fn a_wrong_rule_drops_alone_and_is_reported_with_its_line() {
        let cases: &[(&str, usize, &[&str])] = &[
            ("", 0, &[]),
            ("bashToolPatterns:\n", 0, &[]),
            ("zeroAccessPaths: ['~/.ssh/', a]", 2, &[]),
            ("bashToolPatterns:\n- pattern: 'a(?!b)'\n  reason: r\n  ask: true", 1, &[]),
            ("bashToolPatterns:\n- pattern: '('\n- pattern: b", 1, &["2: the pattern ( is not a regul"]),
            ("bashToolPatterns:\n- reason: x", 0, &["2: the rule has no pattern"]),
            ("bashToolPatterns:\n- pattern: x\n  ask: maybe", 0, &["2: ask must be true or false, n"]),
            ("bashToolPatterns:\n- pattern: y\n  reason: no", 1, &[]),
            ("bashToolPatterns:\n- x\n- pattern: z", 1, &["2: a pattern rule must be a map"]),
            ("zeroAccessPath:\n- x", 0, &["2: the key zeroAccessPath is no"]),
            (
                "readOnlyPaths:\n- ''\n- 'a[z-a]'\n- b",
                1,
                &["2: a path rule must not be empt", "3: the path a[z-a] is not a glo"],
            ),
            ("noDeletePaths: x", 0, &["1: noDeletePaths must be a list"]),
            ("- x", 0, &["1: the file must be a mapping w"]),
        ];
        for (content, kept, problems) in cases {
            let expected = (*kept, problems.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
            let (kept, problems) = outcome(content.as_bytes());
            let cut: Vec<String> =
                problems.iter().zip(&expected.1).map(|(p, e)| p.chars().take(e.chars().count()).collect()).collect();
            assert_eq!(
                (kept, cut, problems.len()),
                (expected.0, expected.1.clone(), expected.1.len()),
                "{content} {problems:?}"
            );
        }
    }

    #[test]
    fn what_is_no_yaml_gives_no_rules_and_one_report() {
        for content in [&b"a: [b"[..], b"\xff\xfe", b"a: 'b", b"x: &a [*a, *a]\n- y"] {
            let file = read("rules.yaml", Layer::Project, content);
            assert_eq!(file.patterns.len() + file.paths.len(), 0);
            assert!(file.problems.len() == 1 && file.problems[0].whole_file, "{:?}", file.problems);
        }
    }
}
