//! Which names are assigned in more than one place. What such a name is depends on which of them is reached.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Language;
use super::expressions::assignment;
use super::methods::changes_lists;
use super::tokens::{Kind, Part, Tokens};

/// Words behind which a statement may not be reached, or not in its order.
#[rustfmt::skip]
const CONDITIONS: &[&str] = &[
    "if", "unless", "while", "until", "for", "foreach", "elif", "else", "try", "except", "with", "and", "or", "def",
    "lambda", "function", "sub", "do", "catch", "rescue", "begin", "case", "when", "elsif", "elseif", "class",
];

/// The names that are assigned in more than one place, some of which may not be reached, or not in their order.
pub(super) fn loose(language: Language, tokens: &Tokens) -> HashSet<String> {
    let mut counts: HashMap<String, (usize, bool)> = HashMap::new();
    count(language, tokens, false, 0, &mut counts);
    counts.into_iter().filter(|(_, (times, nested))| *times > 1 && *nested).map(|(name, _)| name).collect()
}

fn count(language: Language, tokens: &Tokens, nested: bool, depth: usize, counts: &mut HashMap<String, (usize, bool)>) {
    let mut level = 0_usize;
    let mut indent = 0;
    // What the statement that is being read has assigned so far, which a condition behind it may undo.
    let mut assigned: Vec<String> = Vec::new();
    let mut conditional = false;
    let mut parameters_until = 0;
    let mut add = |name: &str, times: usize, nested: bool| {
        let entry = counts.entry(name.to_owned()).or_insert((0, false));
        entry.0 += times;
        entry.1 |= nested;
    };
    let mut inner: Vec<Rc<Tokens>> = Vec::new();
    for (at, token) in tokens.list.iter().enumerate() {
        match &token.kind {
            Kind::Line => {
                indent = if language == Language::Python { token.indent } else { 0 };
                // The statement behind `if (x)` may be in the next line.
                conditional &= language == Language::Node;
                assigned.clear();
            }
            Kind::Mark(";") => {
                conditional &= level > 0 || language == Language::Python;
                assigned.clear();
            }
            Kind::Mark("(" | "[" | "{") => level += 1,
            Kind::Mark(")" | "]" | "}") => {
                level = level.saturating_sub(1);
                if matches!(token.kind, Kind::Mark("}")) && level == 0 {
                    conditional = false;
                }
            }
            Kind::Mark("||" | "&&" | "?" | "??") => conditional = true,
            Kind::Name(name) => {
                if CONDITIONS.contains(&name.as_str()) {
                    conditional = true;
                    for name in &assigned {
                        add(name, 0, true);
                    }
                    if token.pair.is_some() {
                        level += 1;
                    }
                }
                if language == Language::Ruby && name == "end" && token.pair.is_none() && level > 0 {
                    level -= 1;
                }
                if matches!(name.as_str(), "def" | "function" | "fn" | "sub") {
                    let open = (at + 1..at + 4).find(|at| tokens.mark(*at) == Some("("));
                    parameters_until = open.and_then(|open| tokens.list.get(open)?.pair).unwrap_or(0);
                }
                let next = tokens.mark(at + 1);
                if at < parameters_until || is_assigned(language, tokens, at) || is_changed(language, tokens, at) {
                    // A sign in front of a keyword argument means nothing outside of its call.
                    let argument = language == Language::Python
                        && next == Some("=")
                        && level > 0
                        && matches!(tokens.mark(at.wrapping_sub(1)), Some("(" | ","));
                    if !argument || at < parameters_until {
                        let nested = nested || level > 0 || indent > 0 || conditional || next == Some("=>");
                        add(name, 1, nested);
                        // `$list[0]` is an item of `@list`.
                        match (name.strip_prefix('$'), next) {
                            (Some(bare), Some("[")) if language == Language::Perl => {
                                add(&format!("@{bare}"), 1, nested);
                            }
                            (Some(bare), Some("{")) if language == Language::Perl => {
                                add(&format!("%{bare}"), 1, nested);
                            }
                            _ => {}
                        }
                        if assigned.len() < 8 {
                            assigned.push(name.clone());
                        }
                    }
                } else if is_one_of_several(language, tokens, at) {
                    // What an item gets among others is not followed.
                    let item = next == Some("[");
                    add(name, 1, nested || level > 1 || indent > 0 || conditional || item);
                }
            }
            Kind::Text(parts) | Kind::Shell(parts) => {
                for part in parts {
                    if let Part::Code { tokens, .. } = part {
                        inner.push(tokens.clone());
                    }
                }
            }
            Kind::Code(tokens) => inner.push(tokens.clone()),
            _ => {}
        }
    }
    if depth < 16 {
        for tokens in inner {
            count(language, &tokens, true, depth + 1, counts);
        }
    }
}

/// Whether a name gets a value where it stands.
fn is_assigned(language: Language, tokens: &Tokens, at: usize) -> bool {
    let next = tokens.mark(at + 1);
    assignment(next).is_some()
        || matches!(next, Some("++" | "--"))
        || next == Some("<<") && language == Language::Ruby
        || matches!(tokens.name(at + 1), Some("in" | "of"))
        || tokens.name(at.wrapping_sub(1)) == Some("as")
        || next == Some("=>") && language == Language::Node
}

/// Whether what a name holds is changed in its place.
fn is_changed(language: Language, tokens: &Tokens, at: usize) -> bool {
    let (before, next) = (tokens.name(at.wrapping_sub(1)), tokens.mark(at + 1));
    // `list[0] = value`, `del list[0]`
    let has_index = next == Some("[") || next == Some("{") && language == Language::Perl;
    let close = tokens.list.get(at + 1).and_then(|open| open.pair);
    let item =
        has_index && (before == Some("del") || close.is_some_and(|close| assignment(tokens.mark(close + 1)).is_some()));
    let pushed = tokens.mark(at.wrapping_sub(1)) == Some("(")
        && matches!(tokens.name(at.wrapping_sub(2)), Some("push" | "unshift"))
        || matches!(before, Some("push" | "unshift"));
    let method = next == Some(".") && tokens.name(at + 2).is_some_and(|method| changes_lists(language, method));
    method || item || pushed
}

/// Whether a name is one of several targets: `a, b = ..`, `my ($a, $b) = ..`; or an item of it in Python, `d["a"], d["b"] = ..`.
fn is_one_of_several(language: Language, tokens: &Tokens, at: usize) -> bool {
    let behind = |open: usize| tokens.list.get(open).and_then(|open| open.pair).map(|close| close + 1);
    let mut end = match tokens.mark(at + 1) {
        Some("[") if language == Language::Python => behind(at + 1).unwrap_or(at + 1),
        _ => at + 1,
    };
    if !matches!(tokens.mark(end), Some("," | ")" | "]" | "}")) {
        return false;
    }
    while end < at + 16 {
        end = match tokens.list.get(end).map(|token| &token.kind) {
            Some(Kind::Mark("[")) if language == Language::Python => behind(end).unwrap_or(end + 1),
            Some(Kind::Name(_) | Kind::Mark("," | ")" | "]" | "}")) => end + 1,
            _ => break,
        };
    }
    assignment(tokens.mark(end)).is_some() && tokens.name(end - 1).is_none_or(|name| !name.is_empty())
}
