//! What a shell text consists of.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::word::Span;

/// Commands one after the other.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

/// A part of a list, up to `;`, `&` or a line's end.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Connector, Pipeline)>,
    /// It ended in `&`.
    pub(crate) background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connector {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    pub(crate) commands: Vec<Node>,
}

/// A command of any kind.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: NodeKind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Simple { assignments: Vec<Assignment>, words: Vec<Word> },
    Subshell(List),
    Group(List),
    If { clauses: Vec<(List, List)>, otherwise: Option<List> },
    Loop { until: bool, condition: List, body: List },
    For { name: String, words: Option<Vec<Word>>, body: List, select: bool },
    Count { parts: [Option<Word>; 3], body: List },
    Case { subject: Word, arms: Vec<Arm> },
    Test(Test),
    Arithmetic(Word),
    Function { name: String, body: Rc<Node> },
    Coprocess { name: String, body: Box<Node> },
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
    pub(crate) end: ArmEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArmEnd {
    /// `;;`
    Leave,
    /// `;&`: the next body runs too.
    FallThrough,
    /// `;;&`: the next patterns are tried too.
    TryNext,
}

/// The inside of `[[ ]]`.
#[derive(Debug)]
pub(crate) enum Test {
    Or(Box<Test>, Box<Test>),
    And(Box<Test>, Box<Test>),
    Not(Box<Test>),
    Unary(String, Word),
    Binary(String, Word, Word),
    Word(Word),
}

/// `name=value` before a command, or alone.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) index: Option<Word>,
    pub(crate) append: bool,
    pub(crate) value: Assigned,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Assigned {
    Scalar(Word),
    Array(Vec<Element>),
}

/// One element of `(a [1]=b)`.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) index: Option<Word>,
    pub(crate) word: Word,
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) fd: Descriptor,
    pub(crate) kind: RedirectOperator,
    pub(crate) target: Target,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descriptor {
    /// None was written.
    Default,
    Number(u32),
    /// `{name}`: one that the shell chooses.
    Named,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `&>`
    Both,
    /// `&>>`
    BothAppend,
    /// `<<<`
    HereString,
    /// `<<` and `<<-`
    HereDocument,
}

#[derive(Debug)]
pub(crate) enum Target {
    Word(Word),
    /// The body of a heredoc, which is read after the line's end.
    Document(Rc<OnceCell<Word>>),
}

/// A word as it is written.
#[derive(Debug, Default)]
pub(crate) struct Word {
    pub(crate) span: Span,
    pub(crate) parts: Vec<Part>,
}

impl Word {
    /// The text of a word without any quotes or expansions.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(literal)] if !literal.quoted => Some(&literal.text),
            _ => None,
        }
    }

    /// The text, if nothing in it is expanded: quotes may be there.
    pub(crate) fn literal(&self) -> Option<String> {
        fn add(parts: &[Part], text: &mut String) -> Option<()> {
            for part in parts {
                match part {
                    Part::Literal(literal) => text.push_str(&literal.text),
                    Part::Double(inner) => add(inner, text)?,
                    _ => return None,
                }
            }
            Some(())
        }
        let mut text = String::new();
        add(&self.parts, &mut text)?;
        Some(text)
    }
}

/// A run of characters that stand for themselves.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) quoted: bool,
    /// Where the same text stands in the outermost source, if it does.
    pub(crate) at: Option<usize>,
    /// As [`super::Base::made_up`].
    pub(crate) made_up: bool,
}

#[derive(Debug)]
pub(crate) enum Part {
    Literal(Literal),
    Double(Vec<Part>),
    Parameter(Box<Parameter>),
    /// `$( )` and backquotes.
    Command(List),
    /// `<( )` and `>( )`.
    Process(List),
    /// `$(( ))`: the expression before its own expansions.
    Arithmetic(Word),
    /// `( )` after `name=` among the arguments of `declare` and its like.
    Array(Vec<Element>),
    /// Quotes whose content is no text.
    Malformed,
}

/// `$x`, `${x..}`.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// A variable's name, a number or one of `@*#?-$!`.
    pub(crate) name: String,
    pub(crate) index: Option<Index>,
    /// `${!x}`
    pub(crate) indirect: bool,
    pub(crate) operation: Operation,
}

#[derive(Debug)]
pub(crate) enum Index {
    /// `[@]`
    All,
    /// `[*]`
    Joined,
    Word(Word),
}

#[derive(Debug)]
pub(crate) enum Operation {
    None,
    /// `${#x}`
    Length,
    /// `${x-w}`, `=`, `?`, `+`; `empty` with a colon before it.
    Default {
        operator: u8,
        empty: bool,
        word: Word,
    },
    /// `${x:o:l}`
    Substring {
        offset: Word,
        length: Option<Word>,
    },
    /// `${x#p}` and its like.
    Remove {
        suffix: bool,
        longest: bool,
        pattern: Word,
    },
    /// `${x/p/w}`
    Replace {
        all: bool,
        anchor: Option<u8>,
        pattern: Word,
        with: Word,
    },
    /// `${x^p}`, `${x,,p}`
    Case {
        upper: bool,
        all: bool,
        pattern: Word,
    },
    /// `${x@Q}`
    Transform(char),
    /// `${!x*}`: the names that begin so.
    Names,
    /// `${ cmd; }` and `${| cmd; }`.
    Commands(List),
    /// Nothing that bash takes.
    Malformed,
}
