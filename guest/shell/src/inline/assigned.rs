//! Which names are assigned in more than one place. What such a name is depends on which of them is reached.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Language;
use super::expressions::assignment;
use super::lex::{Kind, Part, Tokens};
use super::methods::changes_lists;

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
                let condition = matches!(
                    name.as_str(),
                    "if" | "unless"
                        | "while"
                        | "until"
                        | "for"
                        | "foreach"
                        | "elif"
                        | "else"
                        | "try"
                        | "except"
                        | "with"
                        | "and"
                        | "or"
                        | "def"
                        | "lambda"
                        | "function"
                        | "sub"
                        | "do"
                        | "catch"
                        | "rescue"
                        | "begin"
                        | "case"
                        | "when"
                        | "elsif"
                        | "elseif"
                        | "class"
                );
                if condition {
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
                let assigns = assignment(next).is_some()
                    || matches!(next, Some("++" | "--"))
                    || next == Some("<<") && language == Language::Ruby
                    || matches!(tokens.name(at + 1), Some("in" | "of"))
                    || tokens.name(at.wrapping_sub(1)) == Some("as")
                    || next == Some("=>") && language == Language::Node
                    || at < parameters_until;
                let changes = matches!(next, Some("."))
                    && tokens.name(at + 2).is_some_and(|method| changes_lists(language, method))
                    // `list[0] = value`, `del list[0]`
                    || (next == Some("[") || next == Some("{") && language == Language::Perl)
                        && (tokens.name(at.wrapping_sub(1)) == Some("del")
                            || tokens
                                .list
                                .get(at + 1)
                                .and_then(|open| open.pair)
                                .is_some_and(|close| assignment(tokens.mark(close + 1)).is_some()))
                    || tokens.mark(at.wrapping_sub(1)) == Some("(")
                        && matches!(tokens.name(at.wrapping_sub(2)), Some("push" | "unshift"))
                    || matches!(tokens.name(at.wrapping_sub(1)), Some("push" | "unshift"));
                if assigns || changes {
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
                } else if next == Some(",") || matches!(next, Some(")" | "]" | "}")) {
                    // One of several targets: `a, b = ..`, `my ($a, $b) = ..`.
                    let mut end = at + 1;
                    while end < at + 16
                        && matches!(
                            tokens.list.get(end).map(|token| &token.kind),
                            Some(Kind::Name(_) | Kind::Mark("," | ")" | "]" | "}"))
                        )
                    {
                        end += 1;
                    }
                    if assignment(tokens.mark(end)).is_some()
                        && tokens.name(end - 1).is_none_or(|name| !name.is_empty())
                    {
                        add(name, 1, nested || level > 1 || indent > 0 || conditional);
                    }
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
