//! What the tokens so far say of the next one: whether a sign is an operator, whether a word opens a block.

use crate::Language;
use crate::tokens::{Kind, Token, Tokens};

/// Whether a Perl statement can begin here. The brace of a subscript ends none.
pub(super) fn begins_statement(tokens: &Tokens) -> bool {
    match tokens.list.last() {
        None | Some(Token { kind: Kind::Mark(";" | "{"), .. }) => true,
        Some(Token { kind: Kind::Mark("}"), pair, .. }) => {
            let before = pair.and_then(|open| open.checked_sub(1)).and_then(|at| tokens.list.get(at));
            let subscript = before.is_some_and(|token| match &token.kind {
                Kind::Name(name) => name.starts_with(['$', '@', '%']),
                Kind::Mark(mark) => matches!(*mark, "->" | "]" | "}"),
                _ => false,
            });
            !subscript
        }
        _ => false,
    }
}

/// Whether what came last makes a name a member: `x.end`.
pub(super) fn after_dot(tokens: &Tokens) -> bool {
    matches!(tokens.mark(tokens.list.len().wrapping_sub(1)), Some("." | "->" | "&." | "?." | "::"))
}

/// Whether a Ruby keyword begins something that `end` ends.
pub(super) fn opens_block(name: &str, tokens: &Tokens) -> bool {
    if after_dot(tokens) {
        return false;
    }
    match name {
        "def" | "class" | "module" | "begin" | "case" => true,
        "do" => {
            // That of `while x do` belongs to the `while`.
            let line = tokens
                .list
                .iter()
                .rev()
                .take(64)
                .take_while(|token| !matches!(token.kind, Kind::Line | Kind::Mark(";" | "{")));
            !line.into_iter().any(
                |token| matches!(&token.kind, Kind::Name(name) if matches!(name.as_str(), "while" | "until" | "for")),
            )
        }
        "if" | "unless" | "while" | "until" | "for" => match tokens.list.last() {
            None | Some(Token { kind: Kind::Line, .. }) => true,
            Some(Token { kind: Kind::Mark(mark), .. }) => !matches!(*mark, ")" | "]" | "}"),
            Some(Token { kind: Kind::Name(name), .. }) => {
                matches!(name.as_str(), "then" | "else" | "do" | "begin" | "and" | "or" | "not" | "return")
            }
            _ => false,
        },
        _ => false,
    }
}

/// Words of Node that are no values: what follows them is one, and no operator.
#[rustfmt::skip]
const NODE_WORDS: &[&str] = &[
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "instanceof", "await",
    "yield",
];

/// The same of Perl.
#[rustfmt::skip]
const PERL_WORDS: &[&str] = &[
    "split", "grep", "map", "join", "if", "unless", "and", "or", "not", "return", "push", "unshift", "x", "while",
    "until", "print", "say", "printf", "for", "foreach", "unlink", "system", "exec", "rmdir", "mkdir", "chdir", "eval",
    "chmod", "chown", "rename", "die", "warn", "defined", "ref", "scalar", "keys", "values", "each", "delete", "exists",
    "xor", "cmp", "eq", "ne", "lt", "gt", "le", "ge", "my", "our", "local", "else", "do", "when", "sort", "reverse",
    "lc", "uc", "length", "open", "opendir", "require", "rmtree", "remove_tree", "wantarray",
];

/// The same of Ruby.
#[rustfmt::skip]
const RUBY_WORDS: &[&str] = &[
    "if", "unless", "while", "until", "and", "or", "not", "return", "when", "in", "then", "do", "else", "elsif", "case",
    "puts", "print", "p", "yield", "raise",
];

/// The same of PHP.
#[rustfmt::skip]
const PHP_WORDS: &[&str] = &[
    "return", "echo", "print", "case", "and", "or", "xor", "else", "do", "include", "require",
];

/// Whether the last token ends a value, so that a sign after it is an operator.
pub(super) fn ends_value(language: Language, tokens: &Tokens) -> bool {
    let Some(last) = tokens.list.last() else { return false };
    match &last.kind {
        Kind::Mark(")") => {
            // `if (x) /re/` begins a statement.
            let before = last.pair.and_then(|open| open.checked_sub(1)).and_then(|at| tokens.name(at));
            !(language == Language::Node && matches!(before, Some("if" | "while" | "for" | "with")))
        }
        Kind::Mark("}") => {
            // A block ends a statement, an object is a value.
            let before = last.pair.map(|open| open.checked_sub(1));
            match before {
                Some(None) => language != Language::Node,
                Some(Some(at)) if language == Language::Node => !matches!(
                    (tokens.mark(at), tokens.name(at), tokens.list.get(at).map(|token| &token.kind)),
                    (Some(")" | ";" | "{" | "}"), ..)
                        | (_, Some("else" | "do" | "try" | "finally"), _)
                        | (_, _, Some(Kind::Line))
                ),
                _ => true,
            }
        }
        Kind::Mark(mark) => matches!(*mark, "]" | "++" | "--"),
        Kind::Line => false,
        Kind::Name(name) if after_dot_at(tokens) => !name.is_empty(),
        Kind::Name(name) => match language {
            Language::Node => !NODE_WORDS.contains(&name.as_str()),
            Language::Perl if name.starts_with(['$', '@', '%', '&']) => name.len() > 1,
            Language::Perl => !PERL_WORDS.contains(&name.as_str()),
            Language::Ruby => !RUBY_WORDS.contains(&name.as_str()),
            Language::Php => !PHP_WORDS.contains(&name.as_str()),
            _ => true,
        },
        _ => true,
    }
}

fn after_dot_at(tokens: &Tokens) -> bool {
    matches!(tokens.mark(tokens.list.len().wrapping_sub(2)), Some("." | "->" | "&." | "?."))
}
