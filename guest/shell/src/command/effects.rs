//! What a command does to one path.

use toolgate_shell_syntax::word::{Span, Value};

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// It is an operand of a program whose effects are not known.
    Mention,
    /// Its content is read.
    Read,
    /// Its content is replaced or changed; it may be new.
    Write,
    /// Something is added at its end; it may be new.
    Append,
    /// It is made, as far as can be told.
    Create,
    /// It is removed.
    Delete,
    /// It gets another name and is gone from here.
    Move,
    /// It becomes a link.
    Link,
    /// It gets another name, by which its content can be changed: what a hard link is made to.
    HardLink,
    /// Its mode, owner or attributes are changed.
    Mode,
    /// It is run.
    Execute,
    /// It is a place in the network that is talked to.
    Send,
}

/// Something that a command does to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What happens.
    pub kind: EffectKind,
    /// To what: absolute unless unknown. An unknown path keeps its known parts. What is sent to is as written.
    pub path: Value,
    /// The same with `..` still in it, if it has any: behind a link, `..` leads elsewhere than its text says.
    pub written: Option<String>,
    /// The words that say so.
    pub span: Span,
    /// It and everything below it.
    pub recursive: bool,
    /// What is made or removed is a folder.
    pub folder: bool,
    /// What is read or moved becomes another file of the same command.
    pub copied: bool,
    /// Whether it happens if the command runs, given what is known of the paths.
    pub certain: bool,
    /// It is one of several that may be meant, and not the likeliest: the directory is one of several, or a target may
    /// be a folder.
    pub alternative: bool,
    /// How the words of the command say it.
    pub named: Named,
    /// It is given to the program to be used, and not to be shown or copied: the key that it logs in or signs with.
    pub used: bool,
}

/// How a path comes to be that of an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Named {
    /// A word or a redirect says it.
    #[default]
    Word,
    /// It is somewhere below a folder that a word says.
    Below,
    /// No word says it: the program has its own files, or works on those of its folder.
    No,
}

impl Effect {
    /// One on this path and nothing below it, which may not happen.
    pub fn new(kind: EffectKind, path: Value, span: Span) -> Self {
        Effect {
            kind,
            path,
            written: None,
            span,
            recursive: false,
            folder: false,
            copied: false,
            certain: false,
            alternative: false,
            named: Named::Word,
            used: false,
        }
    }
}
