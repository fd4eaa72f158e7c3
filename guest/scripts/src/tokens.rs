//! Tokens of a script, as `lex` makes them and the other files read them.

use std::ops::Range;
use std::rc::Rc;

/// What a token is.
#[derive(Debug)]
pub(super) enum Kind {
    Text(Vec<Part>),
    /// Backticks: text for a shell, run at once.
    Shell(Vec<Part>),
    /// `qw(a b)`, `%w[a b]`.
    Words(Vec<String>),
    Number(Option<i64>),
    /// With its sigil in Perl and PHP.
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
    /// The end of a line, where that can end a statement.
    Line,
    /// A pattern, or a Perl `<FILE>`.
    Opaque,
    /// Perl's `s///` and `tr///`, which change a variable.
    Change,
    /// A replacement that is code, of Perl's `s///e`.
    Code(Rc<Tokens>),
}

/// A part of a text: letters, or code that is interpolated.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    /// `plain`: its value stands there as it is, without a format.
    Code {
        tokens: Rc<Tokens>,
        plain: bool,
    },
}

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
    /// White space before it.
    pub(super) space: bool,
    /// The partner of a bracket, by index.
    pub(super) pair: Option<usize>,
    /// For a [`Kind::Line`], how far the next line is indented. For an opening bracket, 1 if it holds a Python
    /// comprehension. For the first token of a Perl statement, where the `for` behind it stands.
    pub(super) indent: usize,
}

#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
}

impl Tokens {
    pub(super) fn mark(&self, at: usize) -> Option<&'static str> {
        match self.list.get(at) {
            Some(Token { kind: Kind::Mark(mark), .. }) => Some(mark),
            _ => None,
        }
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.list.get(at) {
            Some(Token { kind: Kind::Name(name), .. }) => Some(name),
            _ => None,
        }
    }
}
