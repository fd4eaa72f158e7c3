//! What one thing may be: a directory, the value of a variable, the arguments; and a text that is known.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::shared::Shared;
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// How many directories are followed at a time.
const MAX_FOLDERS: usize = MAX_VALUES + 1;

/// Longest value that is kept of a variable, in bytes. Doubling one again and again is a short text.
pub(crate) const MAX_VALUE: usize = 64 * 1024;

/// Most values that one variable is followed with at a time.
const MAX_VALUES: usize = 12;

/// The directories that a command may run in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Folders {
    /// The likeliest first.
    pub(crate) possible: Shared<Vec<String>>,
    /// Whether the first one is it, as far as the facts go. The others are then those that a failed `cd` leaves.
    pub(crate) known: bool,
    /// Whether it may be another one as well.
    pub(crate) open: bool,
    /// Whether it is another one where something has failed of which the facts do not speak.
    pub(crate) stray: bool,
    /// What is known of that one which is not in the list.
    pub(crate) other: Other,
}

/// What is known of a folder whose path is not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Other {
    Anything,
    /// `mktemp` made it up, or it is below one of those.
    Temporary,
    /// The same, and it is followed under this name.
    MadeUp(String),
    /// This glob finds it.
    Glob(String),
}

impl Other {
    pub(crate) fn made_up(&self) -> Option<&str> {
        match self {
            Other::MadeUp(name) => Some(name),
            Other::Anything | Other::Temporary | Other::Glob(_) => None,
        }
    }

    /// What is known of both.
    fn and(&self, other: &Other) -> Other {
        match (self, other) {
            (one, other) if one == other => one.clone(),
            (Other::Temporary | Other::MadeUp(_), Other::Temporary | Other::MadeUp(_)) => Other::Temporary,
            _ => Other::Anything,
        }
    }
}

impl Folders {
    pub(crate) fn certain(&self) -> Option<&str> {
        self.possible.first().filter(|_| self.known && !self.open).map(String::as_str)
    }

    /// The one that it is, or if that is not certain the likeliest.
    pub(crate) fn likely(&self) -> Option<&str> {
        self.possible.first().map(String::as_str)
    }

    pub(crate) fn one(folder: String) -> Self {
        Folders { possible: vec![folder].into(), known: true, open: false, stray: false, other: Other::Anything }
    }

    pub(crate) fn unknown() -> Self {
        Folders { possible: Shared::default(), known: false, open: true, stray: false, other: Other::Anything }
    }

    /// Whether the list is not all.
    pub(crate) fn may_be_other(&self) -> bool {
        self.open || self.stray
    }

    /// These and another one, which some program is said to go to.
    pub(crate) fn or(&self, folder: String) -> Self {
        let mut both = Folders { known: false, ..self.clone() };
        both.add(&Self::one(folder), false);
        both
    }

    /// Adds those of another state; `unlikely` if it is one that is not gone on with.
    pub(crate) fn add(&mut self, others: &Folders, unlikely: bool) {
        if !self.possible.is_same(&others.possible) {
            for folder in others.possible.iter() {
                if !self.possible.contains(folder) {
                    self.possible.to_mut().push(folder.clone());
                }
            }
        }
        let many = self.possible.len() > MAX_FOLDERS;
        self.other = match (self.open, others.open) {
            _ if many => Other::Anything,
            (true, true) => self.other.and(&others.other),
            (true, false) => self.other.clone(),
            (false, _) => others.other.clone(),
        };
        let more = others.open || many;
        self.open |= more && !unlikely;
        self.stray |= others.stray || (more && unlikely);
        if many {
            self.possible.to_mut().truncate(MAX_FOLDERS);
        }
    }
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Text(Value),
    Array(Rc<Vec<Value>>),
    /// `declare -A`: all of its keys are known.
    Map(Rc<BTreeMap<String, Value>>),
    Unset,
    /// One of these, of which there are at least two and none is itself one of several.
    OneOf(Rc<Vec<Content>>),
    Unknown(Why),
}

impl Content {
    /// Each that it may be.
    pub(crate) fn values(&self) -> &[Content] {
        match self {
            Content::OneOf(values) => values,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether it says yes or no and no more, as the variables of scripts often do. Whether a word is this or that of
    /// them changes nothing that is judged.
    fn is_switch(&self) -> bool {
        const SWITCHES: &[&str] = &["", "f", "false", "n", "no", "off", "on", "t", "true", "y", "yes"];
        match self {
            Content::Text(Value::Known(text)) => {
                SWITCHES.contains(&text.as_str()) || text.bytes().all(|byte| byte.is_ascii_digit())
            }
            Content::Unknown(why) => why.texts().is_none(),
            Content::Unset => true,
            _ => false,
        }
    }

    /// This or the other one, as a variable of this name has it; `settled` if it may be no more than this.
    pub(crate) fn or(self, other: &Content, name: &str, settled: bool) -> Content {
        if self == *other {
            return self;
        }
        let unknown = || Content::Unknown(Why::Variable(name.to_owned()));
        let mut values: Vec<Content> = Vec::new();
        for value in self.values().iter().chain(other.values()) {
            let value = match value {
                // Why it is unknown matters only where that says what it may be.
                Content::Unknown(Why::Perhaps(_) | Why::Stored(_) | Why::Default(_) | Why::Values(_)) => value.clone(),
                Content::Unknown(_) => unknown(),
                _ => value.clone(),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if let Some(many) = values.iter().find(|value| matches!(value, Content::Unknown(Why::Values(_)))) {
            return many.clone();
        }
        match values.len() {
            1 => values.swap_remove(0),
            count if count > MAX_VALUES => Content::Unknown(Why::Values(name.to_owned())),
            count if settled && count > self.values().len() => unknown(),
            _ if values.iter().all(Content::is_switch) => unknown(),
            _ => Content::OneOf(Rc::new(values)),
        }
    }
}

/// `$1` and on, with `$0` before them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    Known(Rc<Vec<Value>>),
    /// One of these, of which there are at least two and none is itself one of several.
    OneOf(Rc<Vec<Arguments>>),
    Unknown,
}

impl From<Option<Vec<Value>>> for Arguments {
    fn from(values: Option<Vec<Value>>) -> Self {
        values.map_or(Arguments::Unknown, |values| Arguments::Known(Rc::new(values)))
    }
}

impl Arguments {
    pub(crate) fn known(&self) -> Option<&[Value]> {
        match self {
            Arguments::Known(values) => Some(values),
            _ => None,
        }
    }

    /// What is left of these after so many are shifted away that it is not known.
    pub(crate) fn tails(values: &[Value]) -> Self {
        let count = values.len().saturating_sub(1);
        if count == 0 || count >= MAX_VALUES {
            return if count == 0 { Arguments::Known(Rc::new(values.to_vec())) } else { Arguments::Unknown };
        }
        let tail = |from: usize| {
            let kept = values.iter().take(1).chain(values.iter().skip(1 + from));
            Arguments::Known(Rc::new(kept.cloned().collect()))
        };
        Arguments::OneOf(Rc::new((0..=count).map(tail).collect()))
    }

    /// These or the other ones; `settled` if they may be no more than these.
    pub(crate) fn or(self, other: &Arguments, settled: bool) -> Arguments {
        if self == *other {
            return self;
        }
        let each = |arguments: &Arguments| match arguments {
            Arguments::OneOf(each) => each.to_vec(),
            one => vec![one.clone()],
        };
        let mut all = each(&self);
        let before = all.len();
        for other in each(other) {
            if !all.contains(&other) {
                all.push(other);
            }
        }
        match all.len() {
            count if count == before => self,
            count if count > MAX_VALUES || settled => Arguments::Unknown,
            _ => Arguments::OneOf(Rc::new(all)),
        }
    }
}

/// A variable that the text or the facts name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) content: Content,
    /// Whether programs that run see it; `None` if that depends on what was before.
    pub(crate) exported: Option<bool>,
    pub(crate) readonly: bool,
    /// Values change on their way in: an integer, a reference, a changed case.
    pub(crate) special: bool,
}

impl Variable {
    pub(crate) fn text(value: Value, exported: Option<bool>) -> Self {
        Variable { content: Content::Text(value), exported, readonly: false, special: false }
    }

    pub(crate) fn unknown(name: &str) -> Self {
        let content = Content::Unknown(Why::Variable(name.to_owned()));
        Variable { content, exported: None, readonly: false, special: false }
    }
}

/// A text that is known, and where it stands.
#[derive(Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) span: Span,
    pub(crate) at: Option<usize>,
}

impl Text {
    /// This and then another one.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        let text = format!("{}{}", self.text, other.text);
        Text { text, span: self.span.to(other.span), at: None }
    }

    /// It as a word.
    pub(crate) fn word(&self) -> Word {
        Word { at: self.at, ..Word::new(self.text.clone(), self.span) }
    }
}
