//! What one word of shell text stands for: its value, as far as it is certain, and where it was written.

use std::borrow::Cow;
use std::fmt;

use crate::glob::{self, Pattern};

/// A range of bytes of the text that was parsed, the end not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The first byte after it.
    pub end: usize,
}

impl Span {
    /// Whether none of it lies outside another one.
    pub fn is_inside(self, outer: Span) -> bool {
        self.start >= outer.start && self.end <= outer.end
    }

    /// From the start of the first of both to the end of the last.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Why something is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It is what another command prints.
    CommandOutput,
    /// It is a part of a name that `mktemp` makes up: letters and digits.
    Temporary,
    /// It is a file that stands for another command's output or input.
    ProcessSubstitution,
    /// This variable's value.
    Variable(String),
    /// The value that this variable had before the text, which nothing in the text has changed: the user's own.
    Environment(String),
    /// One of these texts, which branches or the default of a variable say, or another one.
    Perhaps(Vec<String>),
    /// What a file holds that was there before the text, as it is now: one of these texts, or another one once it changes.
    Stored(Vec<String>),
    /// This text, which is the default of a variable that nothing in the text sets, or what the environment has from the user.
    Default(String),
    /// It is a number: a process's, a random one, what an expression comes to.
    Number,
    /// This variable's value, which is one of more than are followed.
    Values(String),
    /// The home folder of this user; of the own one if empty.
    Home(String),
    /// The directory in which the command runs.
    Directory,
    /// An expansion or an expression that is not followed here.
    Expansion,
    /// What a glob finds when it runs.
    Glob,
    /// It comes from what another program finds or reads when it runs.
    Argument,
    /// More comes out of it than is followed.
    TooMuch,
    /// It is no text, or does not parse.
    Malformed,
}

impl Why {
    /// The variable whose value is not known, wherever that comes from.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Why::Variable(name) | Why::Environment(name) | Why::Values(name) => Some(name),
            _ => None,
        }
    }

    /// The texts of which it may be one.
    pub fn texts(&self) -> Option<&[String]> {
        match self {
            Why::Perhaps(texts) | Why::Stored(texts) => Some(texts),
            Why::Default(text) => Some(std::slice::from_ref(text)),
            _ => None,
        }
    }

    /// Why a text is not known that has this in it as well. Only what is the environment's, `mktemp`'s or a number alone is said
    /// to be.
    pub fn merge(known: &mut Option<Why>, other: &Why) {
        let merged = match (known.take(), other) {
            (None, other) => other.clone(),
            (Some(same @ Why::Number), Why::Number) => same,
            (Some(Why::Number | Why::Default(_)), _) => Why::Expansion,
            (Some(Why::Environment(_) | Why::Temporary), Why::Number | Why::Default(_)) => Why::Expansion,
            // Neither alone: a text with both is not read as one with either would be.
            (Some(Why::Environment(_)), Why::Temporary) | (Some(Why::Temporary), Why::Environment(_)) => Why::Expansion,
            (Some(same @ Why::Environment(_)), Why::Environment(_)) => same,
            (Some(Why::Environment(_) | Why::Temporary), other) => other.clone(),
            (Some(first), _) => first,
        };
        *known = Some(merged);
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Temporary => f.write_str("it is a temporary name from mktemp"),
            Why::CommandOutput => f.write_str("it is the output of a command"),
            Why::ProcessSubstitution => f.write_str("it is a process substitution"),
            Why::Variable(name) | Why::Environment(name) => write!(f, "the value of ${name} is unknown"),
            Why::Perhaps(texts) => write!(f, "it may be {}, or something else", texts.join(" or ")),
            Why::Stored(_) => f.write_str("it is the content of a file"),
            Why::Default(text) => write!(f, "it is {text} unless the environment overrides it"),
            Why::Number => f.write_str("it is a number known only at run time"),
            Why::Values(name) => write!(f, "${name} has too many possible values"),
            Why::Home(user) if user.is_empty() => f.write_str("the home folder is unknown"),
            Why::Home(user) => write!(f, "the home folder of {user} is unknown"),
            Why::Directory => f.write_str("the directory is unknown"),
            Why::Expansion => f.write_str("it is an expansion that is not evaluated"),
            Why::Glob => f.write_str("the files that a glob matches are unknown"),
            Why::Argument => f.write_str("it is filled in at run time"),
            Why::TooMuch => f.write_str("it expands to too many values"),
            Why::Malformed => f.write_str("it has a syntax error"),
        }
    }
}

/// What a word stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Exactly this text.
    Known(String),
    /// A glob. Characters that were quoted and would be special have a backslash before them.
    Pattern(String),
    /// Something that only running it would tell.
    Unknown {
        /// Why.
        why: Why,
        /// The known text with [`Value::HOLE`] in the place of each unknown part.
        shape: String,
    },
}

impl Value {
    /// Stands for an unknown part in [`Value::Unknown::shape`]. No shell text contains it.
    pub const HOLE: char = glob::HOLE;

    /// Nothing of it is known.
    pub fn hole(why: Why) -> Self {
        Value::Unknown { why, shape: Value::HOLE.to_string() }
    }

    /// The text, the pattern or the shape: all that is certain of it.
    pub fn text(&self) -> &str {
        let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = self;
        text
    }

    /// The text, if it is certain.
    pub fn known(&self) -> Option<&str> {
        match self {
            Value::Known(text) => Some(text),
            _ => None,
        }
    }

    /// Under which name a file at this path is followed: the path itself, or what is known of one that `mktemp` made up, with
    /// a part more that is not known for each call, or of one in a working directory that is not known.
    pub fn followed_as(&self) -> Option<&str> {
        match self {
            Value::Known(path) => Some(path),
            Value::Unknown { why: Why::Temporary, shape } if shape.starts_with('/') => Some(shape),
            Value::Unknown { why: Why::Directory, shape } => {
                let below = shape.strip_prefix(Value::HOLE)?.strip_prefix('/')?;
                (!below.contains(Value::HOLE) && !below.split('/').any(|part| part == "..")).then_some(shape)
            }
            _ => None,
        }
    }

    /// Whether a path that is known in part is written like another, so that both may be one file: the same is known of them, and
    /// what is not known is so for one same reason. They may be two as well, so that nothing that is certain can rest on it.
    /// False for what `mktemp` makes up, which is followed as it is, and where nothing is known but a reason that many have.
    pub fn is_like(&self, other: &Self) -> bool {
        let (Value::Unknown { why, shape }, Value::Unknown { why: other_why, shape: other_shape }) = (self, other)
        else {
            return false;
        };
        // In a text that a shell gets, a number is one part of it that is not known.
        let plain = |why: &Why| if *why == Why::Number { Why::Expansion } else { why.clone() };
        let (why, other_why) = (&plain(why), &plain(other_why));
        let is_other = |why: &Why| matches!(why, Why::Temporary | Why::Glob | Why::Argument | Why::ProcessSubstitution);
        // What is in the working directory, where that is not known, is in any folder.
        let in_folder = |here: &str, other: &str| {
            let below = here.split_once('/').map(|(_, below)| below).filter(|below| !below.is_empty());
            let folder = below.and_then(|below| other.strip_suffix(below)?.strip_suffix('/'));
            folder.is_some_and(|folder| folder.contains(Value::HOLE))
        };
        fn parts(shape: &str) -> impl Iterator<Item = &str> {
            shape.split('/').filter(|part| !matches!(*part, "" | "."))
        }
        let is_all = |shape: &str| shape.chars().eq([Value::HOLE]);
        let is_last = |shape: &str| parts(shape).last().is_some_and(is_all);
        let is_named = || shape.chars().any(|c| !matches!(c, Value::HOLE | '/' | '.'));
        match (why, other_why) {
            _ if is_other(why) || is_other(other_why) => false,
            (Why::Directory, _) => in_folder(shape, other_shape),
            (_, Why::Directory) => in_folder(other_shape, shape),
            _ if why != other_why => false,
            _ if parts(shape).eq(parts(other_shape)) => why.variable().is_some() || is_named(),
            // `$X` and `./$X`
            _ => {
                why.variable().is_some()
                    && (is_all(shape) || is_all(other_shape))
                    && is_last(shape)
                    && is_last(other_shape)
            }
        }
    }

    /// Whether a path that is not known, with something of the name in it, may lead to this file. Not one that `mktemp` made
    /// up, which is followed as it is.
    pub fn may_lead_to(&self, file: &str) -> bool {
        match self {
            Value::Known(path) => path == file,
            Value::Pattern(pattern) => {
                // What is not followed of a pattern may match.
                let fits =
                    |(pattern, text): (&str, &str)| Pattern::new(pattern).is_none_or(|pattern| pattern.matches(text));
                if pattern.contains("**") || pattern.contains('(') {
                    return fits((pattern, file)) || fits((&pattern.replace("/**/", "/"), file));
                }
                let is_as_deep = pattern.split('/').count() == file.split('/').count();
                is_as_deep && pattern.split('/').zip(file.split('/')).all(fits)
            }
            Value::Unknown { why: Why::Temporary, .. } => false,
            Value::Unknown { shape, .. } => {
                // What is above a part that is not known is not known either.
                let above = shape.rfind("/../").filter(|at| shape.find(Value::HOLE).is_some_and(|hole| hole < *at));
                let below = above.map(|at| format!("{}{}", Value::HOLE, &shape[at + 3..]));
                let shape = below.as_deref().unwrap_or(shape);
                let name = shape.rsplit('/').next().unwrap_or_default();
                let is_named = name.chars().any(|c| !matches!(c, Value::HOLE | '.'));
                // What most files differ in, before a pattern is made of the rest.
                let (start, end) = (shape.split(Value::HOLE).next(), shape.rsplit(Value::HOLE).next());
                let fits = || {
                    let mut pattern = String::new();
                    for (index, part) in shape.split(Value::HOLE).enumerate() {
                        pattern.push_str(if index > 0 { "*" } else { "" });
                        glob::escape(part, &mut pattern);
                    }
                    Pattern::new(&pattern).is_none_or(|pattern| pattern.matches(file))
                };
                is_named
                    && start.is_some_and(|start| file.starts_with(start))
                    && end.is_some_and(|end| file.ends_with(end))
                    && fits()
            }
        }
    }

    /// The same value, where it is a command's output that the source has in a variable (`"$F"`, `./$F`): known by that
    /// variable, as those are that come from elsewhere.
    pub fn by_variable<'v>(&'v self, source: &str, span: Span) -> Cow<'v, Self> {
        if let Value::Unknown { why: Why::CommandOutput, shape } = self
            && let Some(written) = source.get(span.start..span.end)
            && let written = written.replace('"', "")
            && let Some(name) = written.trim_start_matches("./").strip_prefix('$')
            && let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name)
            && is_name(name)
        {
            return Cow::Owned(Value::Unknown { why: Why::Variable(name.to_owned()), shape: shape.clone() });
        }
        Cow::Borrowed(self)
    }

    /// As certain as this one, with another text.
    pub fn with_text(&self, text: String) -> Self {
        match self {
            Value::Known(_) => Value::Known(text),
            Value::Pattern(_) => Value::Pattern(text),
            Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
        }
    }

    /// A part of its text, which is certain unless it has a hole.
    pub fn part(&self, text: String) -> Self {
        match self {
            Value::Unknown { why, .. } if text.contains(Value::HOLE) => {
                Value::Unknown { why: why.clone(), shape: text }
            }
            _ => Value::Known(text),
        }
    }
}

/// Whether a text has the form of a variable's name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

/// The length of the variable's name that a text begins with, 0 if it begins with none.
pub fn name_length(text: &str) -> usize {
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if text.as_bytes().first().is_some_and(u8::is_ascii_digit) { 0 } else { length }
}

/// A text in quotes, as one word that means exactly it.
pub fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word of a command, after expansion and splitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands in the text. Words that came out of one by splitting or braces share its span.
    pub span: Span,
    /// What it stands for.
    pub value: Value,
    /// Whether any part of it was quoted.
    pub quoted: bool,
    /// Whether none or several words may come out of it when it runs.
    pub several: bool,
    /// Where exactly this value stands in the text, if it does: what is found inside it has its position from here.
    pub at: Option<usize>,
}

impl Word {
    /// A word whose value is certain.
    pub fn new(text: impl Into<String>, span: Span) -> Self {
        Word { span, value: Value::Known(text.into()), quoted: true, several: false, at: None }
    }

    /// A word of which nothing is known.
    pub fn unknown(why: Why, span: Span) -> Self {
        Word { span, value: Value::hole(why), quoted: true, several: false, at: None }
    }

    /// The text, if it is certain.
    pub fn known(&self) -> Option<&str> {
        self.value.known()
    }

    /// The text, the pattern or the shape: all that is certain of it.
    pub fn text(&self) -> &str {
        self.value.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_known_may_lead_to_what_it_is_written_like() {
        let unknown = |shape: &str| Value::Unknown { why: Why::Expansion, shape: shape.to_owned() };
        let pattern = |text: &str| Value::Pattern(text.to_owned());
        let cases: &[(Value, &str, bool)] = &[
            (pattern("/p/*.sh"), "/p/a.sh", true),
            (pattern("/p/*.sh"), "/p/d/a.sh", false),
            (pattern("/p/*/a.s?"), "/p/d/a.sh", true),
            (pattern("/p/[ab].sh"), "/p/c.sh", false),
            (pattern("/p/**/a.sh"), "/p/d/e/a.sh", true),
            (pattern("/p/@(a|b).sh"), "/p/a.sh", true),
            (pattern("/p/\\*.sh"), "/p/a.sh", false),
            (unknown("\0/a.sh"), "/p/d/a.sh", true),
            (unknown("\0/a.sh"), "/p/ba.sh", false),
            (unknown("/p/\0.sh"), "/p/d/a.sh", true),
            (unknown("/p/\0/\0.sh"), "/p/d/a.sh", true),
            (unknown("/q/\0.sh"), "/p/d/a.sh", false),
            (unknown("\0"), "/p/a.sh", false),
            (unknown("\0/\0"), "/p/a.sh", false),
            (unknown("\0/*.sh"), "/p/a.sh", false),
            (unknown("/p/\0"), "/p/a.sh", false),
            (unknown("\0/../a.sh"), "/p/a.sh", true),
            (unknown("/p/\0/../../a.sh"), "/a.sh", true),
            (pattern("/p/**/a.sh"), "/p/a.sh", true),
            (Value::Known("/p/a".to_owned()), "/p/a", true),
            (Value::Known("/p/a".to_owned()), "/p/b", false),
        ];
        for (path, file, expected) in cases {
            assert_eq!(path.may_lead_to(file), *expected, "{path:?} {file}");
        }
    }

    #[test]
    fn paths_that_are_known_in_part_are_alike_where_the_same_is_known_and_not_known() {
        let variable = |name: &str| Why::Variable(name.to_owned());
        type Path = (Why, &'static str);
        let cases: &[(Path, Path, bool)] = &[
            ((variable("D"), "\0/a"), (variable("D"), "\0/a"), true),
            ((variable("D"), "\0//./a"), (variable("D"), "\0/a"), true),
            ((variable("D"), "\0/a"), (variable("E"), "\0/a"), false),
            ((variable("D"), "\0/a"), (variable("D"), "\0/b"), false),
            ((variable("D"), "\0/a"), (Why::Environment("D".to_owned()), "\0/a"), false),
            ((variable("F"), "\0"), (variable("F"), "\0"), true),
            ((variable("F"), "\0"), (variable("F"), "/p/\0"), true),
            ((variable("F"), "/q/\0"), (variable("F"), "/p/\0"), false),
            ((Why::Expansion, "/tmp/x.\0"), (Why::Expansion, "/tmp/x.\0"), true),
            ((Why::Expansion, "\0"), (Why::Expansion, "\0"), false),
            ((Why::CommandOutput, "\0/\0"), (Why::CommandOutput, "\0/\0"), false),
            ((Why::Directory, "\0/a"), (variable("D"), "/x/\0/a"), true),
            ((variable("D"), "\0/b/a"), (Why::Directory, "\0/a"), true),
            ((Why::Directory, "\0/b/a"), (variable("D"), "\0/a"), false),
            ((Why::Directory, "\0/a"), (variable("D"), "\0/ba"), false),
            ((Why::Directory, "\0/a"), (Why::Temporary, "/tmp/\0/a"), false),
            ((Why::Directory, "\0/a"), (Why::Argument, "\0/a"), false),
            ((Why::Temporary, "/tmp/\0"), (Why::Temporary, "/tmp/\0"), false),
        ];
        for ((why, shape), (other_why, other), expected) in cases {
            let value = |why: &Why, shape: &str| Value::Unknown { why: why.clone(), shape: shape.to_owned() };
            let (one, other) = (value(why, shape), value(other_why, other));
            assert_eq!((one.is_like(&other), other.is_like(&one)), (*expected, *expected), "{one:?} {other:?}");
        }
        assert!(!Value::Known("/a".to_owned()).is_like(&Value::Known("/a".to_owned())));
    }
}
