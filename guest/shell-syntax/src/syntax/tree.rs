//! What a shell text consists of.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::word::Span;

/// Commands one after the other.
#[derive(Debug, Default)]
pub struct List {
    /// Its parts, in order.
    pub items: Vec<Item>,
}

impl List {
    /// Where it stands, from its first command to its last; none for an empty one.
    pub fn span(&self) -> Option<Span> {
        let first = self.items.first()?.first.span()?;
        let item = self.items.last()?;
        let last = item.rest.last().map_or(&item.first, |(_, pipeline)| pipeline);
        Some(Span { start: first.start, end: last.span()?.end })
    }
}

/// A part of a list, up to `;`, `&` or a line's end.
#[derive(Debug)]
pub struct Item {
    /// What runs in any case.
    pub first: Pipeline,
    /// What runs after it, depending on how the one before ended.
    pub rest: Vec<(Connector, Pipeline)>,
    /// It ended in `&`.
    pub background: bool,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands with `|` between them.
#[derive(Debug)]
pub struct Pipeline {
    /// A `!` stands before it.
    pub negated: bool,
    /// The commands; one where there is no `|`.
    pub commands: Vec<Node>,
}

impl Pipeline {
    /// Where it stands, from its first command to its last.
    pub fn span(&self) -> Option<Span> {
        Some(Span { start: self.commands.first()?.span.start, end: self.commands.last()?.span.end })
    }
}

/// A command of any kind.
#[derive(Debug)]
pub struct Node {
    /// Where it stands in the source.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
    /// Its redirects, in order.
    pub redirects: Vec<Redirect>,
}

/// What kind of command a node is, with its parts.
#[derive(Debug)]
pub enum NodeKind {
    /// Assignments, a program and its arguments. Either may be missing.
    Simple {
        /// `name=value`, before the words.
        assignments: Vec<Assignment>,
        /// The program and its arguments.
        words: Vec<Word>,
    },
    /// `( )`
    Subshell(List),
    /// `{ }`
    Group(List),
    /// `if` and `elif`
    If {
        /// Each condition with what runs if it holds.
        clauses: Vec<(List, List)>,
        /// What `else` runs.
        otherwise: Option<List>,
    },
    /// `while` and `until`
    Loop {
        /// It is `until`.
        until: bool,
        /// What is run before each round.
        condition: List,
        /// What is repeated.
        body: List,
    },
    /// `for name in words`, and `select`
    For {
        /// The variable.
        name: String,
        /// Its values; none where the positional parameters are meant.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: List,
        /// It is `select`.
        select: bool,
    },
    /// `for ((a; b; c))`
    Count {
        /// The three expressions.
        parts: [Option<Word>; 3],
        /// What is repeated.
        body: List,
    },
    /// `case`
    Case {
        /// What the patterns are compared with.
        subject: Word,
        /// The branches.
        arms: Vec<Arm>,
    },
    /// `[[ ]]`
    Test(Test),
    /// `(( ))`
    Arithmetic(Word),
    /// The definition of a function.
    Function {
        /// Its name.
        name: String,
        /// What a call runs.
        body: Rc<Node>,
    },
    /// `coproc`
    Coprocess {
        /// The array of its descriptors.
        name: String,
        /// What runs.
        body: Box<Node>,
    },
}

/// A branch of `case`.
#[derive(Debug)]
pub struct Arm {
    /// Patterns, any of which may match.
    pub patterns: Vec<Word>,
    /// What runs then.
    pub body: List,
    /// What follows it.
    pub end: ArmEnd,
}

/// What follows a branch of `case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`
    Leave,
    /// `;&`: the next body runs too.
    FallThrough,
    /// `;;&`: the next patterns are tried too.
    TryNext,
}

/// The inside of `[[ ]]`.
#[derive(Debug)]
pub enum Test {
    /// `||`
    Or(Box<Test>, Box<Test>),
    /// `&&`
    And(Box<Test>, Box<Test>),
    /// `!`
    Not(Box<Test>),
    /// An operator and its operand: `-f x`.
    Unary(String, Word),
    /// An operator between its operands: `a = b`.
    Binary(String, Word, Word),
    /// A word alone, which holds if it is not empty.
    Word(Word),
}

/// `name=value` before a command, or alone.
#[derive(Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// `[index]` behind the name.
    pub index: Option<Word>,
    /// It is `+=`.
    pub append: bool,
    /// What is assigned.
    pub value: Assigned,
    /// Where it stands in the source.
    pub span: Span,
}

/// The right side of an assignment.
#[derive(Debug)]
pub enum Assigned {
    /// One word.
    Scalar(Word),
    /// `( )`
    Array(Vec<Element>),
}

/// One element of `(a [1]=b)`.
#[derive(Debug)]
pub struct Element {
    /// `[index]=` before it.
    pub index: Option<Word>,
    /// Its value.
    pub word: Word,
}

/// One redirect.
#[derive(Debug)]
pub struct Redirect {
    /// The descriptor that is redirected.
    pub fd: Descriptor,
    /// The operator.
    pub kind: RedirectOperator,
    /// Where to, or where from.
    pub target: Target,
    /// Where it stands in the source.
    pub span: Span,
}

/// The descriptor before the operator of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// None was written.
    Default,
    /// Its number.
    Number(u32),
    /// `{name}`: one that the shell chooses.
    Named,
}

/// The operator of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOperator {
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

/// What stands behind the operator of a redirect.
#[derive(Debug)]
pub enum Target {
    /// A file, a descriptor or the text of a here-string.
    Word(Word),
    /// The body of a heredoc, which is read after the line's end.
    Document(Rc<OnceCell<Word>>),
}

/// A word as it is written.
#[derive(Debug, Default)]
pub struct Word {
    /// Where it stands in the source.
    pub span: Span,
    /// What it consists of, in order.
    pub parts: Vec<Part>,
}

impl Word {
    /// The text of a word without any quotes or expansions.
    pub fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(literal)] if !literal.quoted => Some(&literal.text),
            _ => None,
        }
    }

    /// The text, if nothing in it is expanded: quotes may be there.
    pub fn literal(&self) -> Option<String> {
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
pub struct Literal {
    /// The characters, without quotes and backslashes.
    pub text: String,
    /// They were quoted.
    pub quoted: bool,
    /// Where the same text stands in the outermost source, if it does.
    pub at: Option<usize>,
    /// As [`super::Base::made_up`].
    pub made_up: bool,
}

/// A part of a word.
#[derive(Debug)]
pub enum Part {
    /// Characters that stand for themselves.
    Literal(Literal),
    /// `" "`
    Double(Vec<Part>),
    /// `$x`, `${x..}`
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
pub struct Parameter {
    /// A variable's name, a number or one of `@*#?-$!`.
    pub name: String,
    /// `[..]` behind the name.
    pub index: Option<Index>,
    /// `${!x}`
    pub indirect: bool,
    /// What is done with the value.
    pub operation: Operation,
}

/// Which elements of an array are meant.
#[derive(Debug)]
pub enum Index {
    /// `[@]`
    All,
    /// `[*]`
    Joined,
    /// The element with this index.
    Word(Word),
}

/// What `${ }` does with a value.
#[derive(Debug)]
pub enum Operation {
    /// `${x}`
    None,
    /// `${#x}`
    Length,
    /// `${x-w}`, `${x=w}`, `${x?w}`, `${x+w}`
    Default {
        /// The operator, one of `-=?+`.
        operator: u8,
        /// A colon stands before it: an empty value counts as unset.
        empty: bool,
        /// What stands behind it.
        word: Word,
    },
    /// `${x:o:l}`
    Substring {
        /// The first character.
        offset: Word,
        /// How many.
        length: Option<Word>,
    },
    /// `${x#p}` and its like.
    Remove {
        /// It is `%`: from the end.
        suffix: bool,
        /// The operator is doubled.
        longest: bool,
        /// What is removed.
        pattern: Word,
    },
    /// `${x/p/w}`
    Replace {
        /// The slash is doubled: each match.
        all: bool,
        /// `#` or `%`: only at the start, or at the end.
        anchor: Option<u8>,
        /// What is replaced.
        pattern: Word,
        /// What takes its place.
        with: Word,
    },
    /// `${x^p}`, `${x,,p}`
    Case {
        /// It is `^`: to upper case.
        upper: bool,
        /// The operator is doubled: each character.
        all: bool,
        /// Which characters.
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
