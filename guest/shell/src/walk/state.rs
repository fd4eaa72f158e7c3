//! What is known at one point of a text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::rc::Rc;

use rpds::RedBlackTreeMap;

use super::table::Table;
use crate::facts::{Facts, Look, Presence};
use crate::path::{is_within, parent};
use crate::shared::Shared;
use crate::syntax::Node;
use crate::word::{Value, Why, Word};

/// How many directories are followed at a time.
const MAX_FOLDERS: usize = MAX_VALUES + 1;

/// Longest value that is kept of a variable, in bytes. Doubling one again and again is a short text.
pub(crate) const MAX_VALUE: usize = 64 * 1024;

/// Most values that one variable is followed with at a time.
const MAX_VALUES: usize = 12;

/// Most variables, or paths, that are kept apart; more make all of them unknown.
const MAX_NAMES: usize = 400;

/// Most functions that are followed.
const MAX_FUNCTIONS: usize = 2_000;

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
    /// Under which name that one is followed which is not in the list, if `mktemp` made it up.
    pub(crate) made_up: Option<String>,
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
        Folders { possible: vec![folder].into(), known: true, open: false, stray: false, made_up: None }
    }

    pub(crate) fn unknown() -> Self {
        Folders { possible: Shared::default(), known: false, open: true, stray: false, made_up: None }
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
    fn add(&mut self, others: &Folders, unlikely: bool) {
        if !self.possible.is_same(&others.possible) {
            for folder in others.possible.iter() {
                if !self.possible.contains(folder) {
                    self.possible.to_mut().push(folder.clone());
                }
            }
        }
        self.made_up = match (self.open, others.open) {
            (true, true) => self.made_up.take().filter(|folder| others.made_up.as_ref() == Some(folder)),
            (true, false) => self.made_up.take(),
            (false, _) => others.made_up.clone(),
        };
        let many = self.possible.len() > MAX_FOLDERS;
        self.made_up = self.made_up.take().filter(|_| !many);
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
                Content::Unknown(Why::Perhaps(_) | Why::Default(_) | Why::Values(_)) => value.clone(),
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

/// What a signal has the shell run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Handler {
    /// Its name without `SIG`, or its number.
    pub(crate) signal: String,
    pub(crate) text: Word,
}

/// What held when handlers were last run.
#[derive(Debug)]
pub(crate) struct Handled {
    /// Whether they were.
    pub(crate) ran: bool,
    vars: Table<Variable>,
    stamp: u64,
    functions_stamp: u64,
    folders: Folders,
    files_stamp: u64,
    arguments: Arguments,
    alias_texts: Shared<BTreeMap<String, Vec<String>>>,
}

impl Handled {
    pub(crate) fn of(state: &State, ran: bool) -> Self {
        Handled {
            ran,
            vars: state.vars.clone(),
            stamp: state.stamp,
            functions_stamp: state.functions_stamp,
            folders: state.folders.clone(),
            files_stamp: state.files.stamp,
            arguments: state.arguments.clone(),
            alias_texts: state.alias_texts.clone(),
        }
    }
}

/// No frame: control has not left on the way.
pub(crate) const NOWHERE: usize = usize::MAX;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Success,
    Failure,
    Unknown,
}

impl Status {
    pub(crate) fn of(success: Option<bool>) -> Self {
        match success {
            Some(true) => Status::Success,
            Some(false) => Status::Failure,
            None => Status::Unknown,
        }
    }

    pub(crate) fn not(self) -> Self {
        match self {
            Status::Success => Status::Failure,
            Status::Failure => Status::Success,
            Status::Unknown => Status::Unknown,
        }
    }
}

/// `set -e`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errexit {
    Off,
    On,
    Perhaps,
}

impl From<bool> for Errexit {
    fn from(on: bool) -> Self {
        if on { Errexit::On } else { Errexit::Off }
    }
}

/// What a command reads from standard input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// Whatever the text as a whole was given: a terminal, or nothing.
    Inherited,
    Nothing,
    /// This text, from this byte on.
    Text(Rc<Text>, usize),
    Unseen,
}

/// A text that is known, and where it stands.
#[derive(Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) span: crate::word::Span,
    pub(crate) at: Option<usize>,
}

impl Text {
    /// This and then another one.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        let text = format!("{}{}", self.text, other.text);
        Text { text, span: super::join_spans(self.span, other.span), at: None }
    }
}

/// A function that the text defines.
#[derive(Debug)]
pub(crate) struct Function {
    /// What it may be: a condition decides, or a part of the text that may not run. None of them where these are too many.
    pub(crate) bodies: Vec<Rc<Node>>,
}

/// How many bodies a function may have.
const MAX_BODIES: usize = 16;

impl Function {
    /// It, or another one; without a body if there are more than are followed.
    fn or(&self, other: &Self) -> Self {
        let known = |body: &&Rc<Node>| !other.bodies.iter().any(|one| Rc::ptr_eq(one, body));
        let bodies: Vec<_> = self.bodies.iter().filter(known).chain(&other.bodies).cloned().collect();
        let many = bodies.len() > MAX_BODIES || self.bodies.is_empty() || other.bodies.is_empty();
        Function { bodies: if many { Vec::new() } else { bodies } }
    }
}

/// What is known of the things in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// The text made it: only what the text put there is there.
    Fresh,
    /// As the facts have it.
    Facts,
    /// The same, and perhaps more.
    Added,
    Unknown,
}

/// A file as the text leaves it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) presence: Presence,
    /// Of a folder.
    pub(crate) inside: Inside,
    /// What is in it, if that is known.
    pub(crate) content: Option<Rc<Text>>,
    /// The text wrote it, and what it wrote is not known.
    pub(crate) unread: bool,
    /// A script that was there before wrote it.
    pub(crate) stored: bool,
    /// The file that it is a link to.
    pub(crate) link: Option<String>,
    /// Others that it may be a link to instead.
    pub(crate) links: Vec<String>,
    /// The file that it is a copy of, as that was before the text.
    pub(crate) copy: Option<String>,
}

impl Made {
    fn new(presence: Presence, inside: Inside) -> Self {
        Made {
            presence,
            inside,
            content: None,
            unread: false,
            stored: false,
            link: None,
            links: Vec::new(),
            copy: None,
        }
    }
}

/// What the text has made of the files so far.
#[derive(Clone)]
pub(crate) struct Files {
    made: Table<Made>,
    facts: Option<Rc<dyn Look>>,
    /// Whether any of them is a link.
    linked: bool,
    /// The folders that were copied or moved, and where to.
    copies: Shared<Vec<(String, String)>>,
    /// Something that is not followed may have changed any file.
    doubt: bool,
    /// There are more files to be followed than can be.
    pub(crate) overrun: bool,
    /// How many names `mktemp` has made up.
    temporaries: usize,
    stamp: u64,
}

/// How many names that `mktemp` makes up are told apart.
const MAX_TEMPORARIES: usize = 64;

impl Files {
    /// The number of the next name that `mktemp` makes up, from one; none if they are too many.
    pub(crate) fn name_temporary(&mut self) -> Option<usize> {
        self.temporaries += 1;
        Some(self.temporaries).filter(|number| *number <= MAX_TEMPORARIES)
    }

    /// Whether `mktemp` has made any up.
    pub(crate) fn has_temporaries(&self) -> bool {
        self.temporaries > 0
    }

    /// The path that one leads to by the links that were there before.
    fn canonical<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let facts = self.facts.as_ref().filter(|_| !path.contains(Value::HOLE));
        match facts.and_then(|facts| facts.real(path)) {
            Some(real) => Cow::Owned(real),
            None => Cow::Borrowed(path),
        }
    }

    /// Whether a link is on the way.
    pub(crate) fn is_linked(&self, path: &str) -> bool {
        self.canonical(path) != path
    }

    /// What the text made of a path, through its links and its copies of folders.
    pub(crate) fn made(&self, path: &str) -> Option<&Made> {
        let path = self.canonical(path);
        self.made_at(&path).or_else(|| self.made_at(&self.origin(&path)?.0))
    }

    /// Where that comes from which is below a folder that the text copied, moved or linked, and whether the folder is
    /// still there under both names.
    fn origin(&self, path: &str) -> Option<(String, bool)> {
        let mut folder = parent(path);
        while let Some(above) = folder {
            let below = path.get(above.len()..)?;
            match self.made.get(above) {
                Some(Made { link: Some(to), .. }) => return Some((format!("{to}{below}"), true)),
                Some(Made { copy: Some(from), .. }) => return Some((format!("{from}{below}"), false)),
                _ => folder = parent(above),
            }
        }
        None
    }

    /// The file whose content, as it was before the text, is now that of a path: itself, or what it was copied from or
    /// leads to. None if the text made it anything else.
    pub(crate) fn before(&self, path: &str) -> Option<String> {
        let mut at = self.canonical(path).into_owned();
        let mut copied = false;
        for _ in 0..8 {
            at = match (self.made.get(&at), self.origin(&at)) {
                // What is gone from where it was is in the copy.
                (Some(Made { presence: Presence::Absent, .. }), _) if copied => return Some(at),
                (Some(Made { unread: true, .. } | Made { content: Some(_), .. }), _) => return None,
                (Some(Made { link: Some(to), .. }), _) => to.clone(),
                // A folder, or what may be one, is as the other is still, or it were unread.
                (Some(Made { copy: Some(from), .. }), _) if self.copies.iter().any(|(_, to)| *to == at) => {
                    copied = true;
                    from.clone()
                }
                (Some(Made { copy, .. }), _) => return copy.clone(),
                (None, Some((from, linked))) => {
                    copied |= !linked;
                    from
                }
                (None, None) => return Some(at),
            }
        }
        None
    }

    /// What is in a file for certain, as far as it is one of the text.
    pub(crate) fn read(&self, path: &str) -> Option<&Rc<Text>> {
        let made = self.made(path)?;
        // The working directory, where it is not known, may be another one than when it was written.
        let elsewhere = path.starts_with(Value::HOLE) && made.presence != Presence::File;
        made.content.as_ref().filter(|_| !elsewhere && !made.unread)
    }

    /// Another directory is the working one: those that are not known are no longer told apart.
    pub(crate) fn leave_folder(&mut self, stamp: u64) {
        let below = format!("{}/", Value::HOLE);
        let range = (Bound::Included(below.as_str()), Bound::Unbounded);
        let names = self.made.map().range::<str, _>(range).map(|(name, _)| name);
        let names: Vec<String> = names.take_while(|name| name.starts_with(&below)).cloned().collect();
        for name in names {
            if let Some(made) = self.made.get(&name).cloned() {
                self.made.insert(name, Made { presence: Presence::Unknown, ..made });
                self.stamp = stamp;
            }
        }
    }

    /// Whether the text wrote a file, and what is in it is not known.
    pub(crate) fn is_unread(&self, path: &str) -> bool {
        let path = self.canonical(path);
        let unread = |made: &Made| {
            made.unread && path != "/dev/null" && matches!(made.presence, Presence::File | Presence::Unknown)
        };
        match self.made_at(&path) {
            Some(made) => unread(made),
            // It may be gone from where it was. What is in a folder that was copied and then changed is not known.
            None => {
                self.origin(&path).and_then(|(from, _)| self.made_at(&from)).is_some_and(|made| made.unread)
                    || std::iter::successors(parent(&path), |folder| parent(folder))
                        .any(|folder| self.made.get(folder).is_some_and(|made| made.unread))
            }
        }
    }

    /// Whether there was a file at a path before the text.
    pub(crate) fn was_there(&self, path: &str) -> bool {
        !path.contains(Value::HOLE) && self.facts.as_ref().is_some_and(|facts| facts.look(path) == Presence::File)
    }

    /// The links that the text made, and where they lead.
    pub(crate) fn links(&self) -> Vec<(String, String)> {
        // Every command asks, and most texts make none.
        if !self.linked {
            return Vec::new();
        }
        let links = self.made.map().iter().flat_map(|(path, made)| {
            let to = made.link.iter().chain(&made.links);
            to.map(|to| (path.clone(), to.clone()))
        });
        links.collect()
    }

    fn made_at(&self, path: &str) -> Option<&Made> {
        let mut made = self.made.get(path)?;
        for _ in 0..8 {
            match &made.link {
                Some(to) => made = self.made.get(to)?,
                None => break,
            }
        }
        Some(made)
    }

    /// After a script that was there before, from this state on: what it writes is as little hidden as what a program does
    /// that cannot be read at all. If the text had hidden anything before, it may be that.
    pub(crate) fn credit(&mut self, before: &Files) {
        if before.made.map().iter().any(|(_, made)| made.unread) {
            return;
        }
        let of_text = |path: &String| before.made.get(path).is_some_and(|made| made.content.is_some());
        let own = self
            .made
            .map()
            .iter()
            .filter(|(path, made)| (made.unread || made.content.is_some() && !made.stored) && !of_text(path));
        for (path, made) in own.map(|(path, made)| (path.clone(), made.clone())).collect::<Vec<_>>() {
            self.made.insert(path, Made { unread: false, stored: true, ..made });
        }
    }

    /// From here on only what the text itself did to files is known.
    pub(crate) fn forget_facts(&mut self) {
        self.facts = None;
    }

    /// Whether it is known at all which files exist.
    pub(crate) fn informed(&self) -> bool {
        self.facts.is_some()
    }

    fn put(&mut self, path: String, mut made: Made, stamp: u64) {
        // What a program did to a file of the text.
        let lost = |before: &Made| {
            before.presence != Presence::Absent
                && (before.content.is_some() || before.unread || before.copy.is_some() && made.copy.is_none())
        };
        let copied = || self.origin(&path).is_some_and(|(from, linked)| !linked && self.was_there(&from));
        let changed = match self.made.get(&path) {
            Some(before) => lost(before),
            None => made.presence != Presence::Absent && made.copy.is_none() && copied(),
        };
        made.unread |= made.content.is_none() && made.link.is_none() && changed;
        self.replace(path, made, stamp);
    }

    /// Notes what a path is now, whatever it was.
    fn replace(&mut self, path: String, made: Made, stamp: u64) {
        if self.made.map().size() > MAX_NAMES {
            // What may be run, or lead somewhere, is not forgotten for the sake of many other files.
            let matters =
                |made: &Made| made.content.is_some() || made.unread || made.link.is_some() || made.copy.is_some();
            let kept = self.made.map().iter().filter(|(_, made)| matters(made));
            let mut kept: Vec<_> = kept.map(|(path, made)| (path.clone(), made.clone())).collect();
            if kept.len() > MAX_NAMES / 2 {
                // The text is given up then; to sort them out again for each one more would take long.
                self.overrun = true;
                kept.clear();
            }
            self.made.clear();
            kept.into_iter().for_each(|(path, made)| self.made.insert(path, made));
            self.doubt = true;
        }
        self.linked |= made.link.is_some();
        self.outdate(&path);
        self.made.insert(path, made);
        self.stamp = stamp;
    }

    /// What is below a folder changes: its copies are as it was, which is not kept.
    fn outdate(&mut self, path: &str) {
        let outdated = self.copies.iter().filter(|(from, to)| is_within(path, from) && !is_within(path, to));
        let copies: Vec<String> = outdated.map(|(_, to)| to.clone()).collect();
        for to in copies {
            if let Some(made) = self.made.get(&to).cloned() {
                self.made.insert(to, Made { unread: true, copy: None, ..made });
            }
        }
    }

    fn below(&mut self, folder: &str, presence: Presence, stamp: u64) {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let range = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let names =
            self.made.map().range::<str, _>(range).map(|(name, _)| name).take_while(|name| name.starts_with(&prefix));
        let names: Vec<String> = names.cloned().collect();
        for name in names {
            self.put(name, Made::new(presence, Inside::Unknown), stamp);
        }
    }

    fn merge(&mut self, other: &Files, stamp: u64) {
        self.doubt |= other.doubt;
        self.overrun |= other.overrun;
        self.temporaries = self.temporaries.max(other.temporaries);
        if self.stamp == other.stamp {
            return;
        }
        self.linked |= other.linked;
        if self.copies != other.copies {
            let copies = self.copies.to_mut();
            let more: Vec<_> = other.copies.iter().filter(|copy| !copies.contains(copy)).cloned().collect();
            copies.extend(more);
        }
        for name in self.made.differences(&other.made) {
            let same = self.look(&name) == other.look(&name) && self.made(&name).is_some();
            let presence = if same { self.look(&name) } else { Presence::Unknown };
            // A content that may be there is kept: running the file may run it. So is where it may lead.
            let content = [&self.made, &other.made].iter().find_map(|made| made.get(&name)?.content.clone());
            let both = [&self.made, &other.made].into_iter().filter_map(|made| made.get(&name));
            let mut links: Vec<String> = both.flat_map(|made| made.link.iter().chain(&made.links)).cloned().collect();
            links.sort_unstable();
            links.dedup();
            let link = (!links.is_empty()).then(|| links.remove(0));
            let copy = [&self.made, &other.made].iter().find_map(|made| made.get(&name)?.copy.clone());
            let unread = [&self.made, &other.made].iter().any(|made| made.get(&name).is_some_and(|made| made.unread));
            // Which of two it is a copy of is not known.
            let copies = [&self.made, &other.made].map(|made| made.get(&name).and_then(|made| made.copy.as_ref()));
            let unread = unread || matches!(copies, [Some(one), Some(another)] if one != another);
            // Nor which of two was written: only one of them is looked at.
            let contents = [&self.made, &other.made].map(|made| made.get(&name).and_then(|made| made.content.as_ref()));
            let unread = unread || matches!(contents, [Some(one), Some(another)] if one.text != another.text);
            self.put(name, Made { content, unread, link, links, copy, ..Made::new(presence, Inside::Unknown) }, stamp);
        }
    }
}

impl Files {
    /// Whether all that is known of files goes for conditions as well.
    pub(crate) fn lasts(&self) -> bool {
        self.facts.as_ref().is_none_or(|facts| facts.lasts())
    }

    /// What a condition on a path goes by: what the text made itself, and facts that last.
    pub(crate) fn sure(&self, path: &str) -> Presence {
        self.presence(path, self.facts.as_ref().filter(|facts| facts.lasts()))
    }

    fn presence(&self, path: &str, facts: Option<&Rc<dyn Look>>) -> Presence {
        // Where it is followed under is not where it is.
        if path.contains(Value::HOLE) {
            return Presence::Unknown;
        }
        let canonical = self.canonical(path);
        let path = canonical.as_ref();
        if let Some(made) = self.made_at(path) {
            return made.presence;
        }
        // What lies below a folder that the text removed or made is gone or not there yet.
        let mut above = parent(path);
        let mut added = false;
        while let Some(folder) = above {
            match self.made.get(folder).map(|made| (made.presence, made.inside)) {
                Some((Presence::Absent | Presence::File | Presence::Other, _)) => return Presence::Absent,
                Some((Presence::Folder, Inside::Fresh)) => return Presence::Absent,
                Some((Presence::Folder, Inside::Added)) => {
                    added = true;
                    above = parent(folder);
                }
                Some((Presence::Folder, Inside::Facts)) | None => above = parent(folder),
                Some((Presence::Folder | Presence::Unknown, _)) => return Presence::Unknown,
            }
        }
        match facts {
            Some(facts) if !self.doubt => match facts.look(path) {
                Presence::Absent if added => Presence::Unknown,
                presence => presence,
            },
            // Nothing said that the root is gone.
            _ if path == "/" => Presence::Folder,
            _ => Presence::Unknown,
        }
    }
}

impl Look for Files {
    fn look(&self, path: &str) -> Presence {
        self.presence(path, self.facts.as_ref())
    }

    fn script(&self, path: &str) -> Option<String> {
        self.facts.as_ref()?.script(path)
    }

    fn real(&self, path: &str) -> Option<String> {
        // What the text made may have put other links on the way.
        let facts = self.facts.as_ref().filter(|_| !self.doubt && !self.linked)?;
        facts.real(path)
    }
}

/// What is known at a point of the text.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) folders: Folders,
    vars: Table<Variable>,
    stamp: u64,
    /// Names that are in no table are unset.
    pub(crate) complete: bool,
    /// Variables may have any value: a nameref, a sourced file.
    pub(crate) wild: bool,
    /// Whether what is not followed may have set any variable, so that none is the environment's for certain.
    pub(crate) overrun: bool,
    /// `$1` and on, with `$0` before them.
    pub(crate) arguments: Arguments,
    /// What `pushd` has put away, the last one first.
    pub(crate) stack: Option<Shared<Vec<String>>>,
    pub(crate) files: Files,
    functions: RedBlackTreeMap<String, (Rc<Function>, bool)>,
    functions_stamp: u64,
    /// Control does not come here: an `exit` or a `break` is before it.
    pub(crate) never: bool,
    /// The outermost frame (a loop, a function, a shell) that control may have left for on the way here.
    pub(crate) lost: usize,
    /// It came about by a failure that the facts do not speak of.
    pub(crate) unlikely: bool,
    pub(crate) input: Input,
    pub(crate) tracked: Shared<Vec<Option<String>>>,
    pub(crate) errexit: Errexit,
    pub(crate) nounset: bool,
    pub(crate) pipefail: bool,
    /// `set -f`: no globs.
    pub(crate) noglob: bool,
    /// `set -a`: every assignment is exported.
    pub(crate) allexport: bool,
    /// `set -C`: `>` does not replace a file.
    pub(crate) noclobber: bool,
    /// Whether `cd` resolves links unless told otherwise; `None` if that depends on the run.
    pub(crate) physical: Option<bool>,
    /// `shopt -s nocasematch`
    pub(crate) nocasematch: bool,
    /// `shopt -s lastpipe`: the last command of a pipeline runs in this shell.
    pub(crate) lastpipe: bool,
    /// `shopt -s expand_aliases`
    pub(crate) aliases: bool,
    pub(crate) exported_functions: Shared<BTreeSet<String>>,
    /// Names that stand for other names.
    pub(crate) namerefs: Shared<BTreeMap<String, String>>,
    /// What aliases stand for, where they stand for anything: one of these.
    pub(crate) alias_texts: Shared<BTreeMap<String, Vec<String>>>,
    /// What it runs for signals, and after commands or before them: any of these at any time.
    pub(crate) handlers: Shared<Vec<Handler>>,
    /// What held when those were last run.
    pub(crate) handled: Option<Rc<Handled>>,
    /// What the shell runs when it ends: one of these, which may be nothing. None while nothing was said of it.
    pub(crate) traps: Option<Rc<Vec<Option<Word>>>>,
    pub(crate) status: Status,
}

impl State {
    pub(crate) fn new(facts: &Facts) -> Self {
        let folders = facts.cwd.clone().map_or_else(Folders::unknown, Folders::one);
        // Facts that do not know the place itself speak of another machine.
        let knows = |files: &Rc<dyn Look>| {
            facts.cwd.as_deref().is_some_and(|cwd| files.look(&crate::path::absolute(cwd, "/")) == Presence::Folder)
        };
        let mut state = State {
            folders,
            vars: Table::default(),
            stamp: 0,
            complete: facts.env_complete,
            wild: false,
            overrun: false,
            // Where nothing is set there are no arguments either.
            arguments: facts.env_complete.then(|| vec![Value::Known("bash".to_owned())]).into(),
            stack: Some(Shared::default()),
            files: Files {
                made: Table::default(),
                linked: false,
                copies: Shared::default(),
                facts: facts.files.clone().filter(knows),
                doubt: false,
                overrun: false,
                temporaries: 0,
                stamp: 0,
            },
            functions: RedBlackTreeMap::new(),
            functions_stamp: 0,
            never: false,
            lost: NOWHERE,
            unlikely: false,
            input: Input::Inherited,
            tracked: Shared::default(),
            errexit: Errexit::Off,
            nounset: false,
            pipefail: false,
            noglob: false,
            allexport: false,
            noclobber: false,
            physical: Some(false),
            nocasematch: false,
            lastpipe: false,
            aliases: false,
            alias_texts: Shared::default(),
            traps: None,
            handlers: Shared::default(),
            handled: None,
            exported_functions: Shared::default(),
            namerefs: Shared::default(),
            status: Status::Success,
        };
        if let Some(trackers) = &facts.trackers {
            let initial = trackers.list().iter().map(|tracker| tracker.initial.clone());
            state.tracked = initial.collect::<Vec<_>>().into();
        }
        if let Some(cwd) = &facts.cwd {
            let here = crate::path::absolute(cwd, "/");
            state.files.put(here, Made::new(Presence::Folder, Inside::Facts), 0);
        }
        if let Some(home) = &facts.home {
            state.vars.insert("HOME".into(), Variable::text(Value::Known(home.clone()), Some(true)));
        }
        for (name, value) in facts.env.iter().filter(|(name, _)| !matches!(name.as_str(), "PWD" | "_" | "SHLVL")) {
            state.vars.insert(name.clone(), Variable::text(Value::Known(value.clone()), Some(true)));
        }
        state
    }

    pub(crate) fn vars(&self) -> &RedBlackTreeMap<String, Variable> {
        self.vars.map()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Variable> {
        self.vars.get(name)
    }

    pub(crate) fn put(&mut self, name: &str, variable: Variable, stamp: u64) {
        if self.vars.map().size() > MAX_NAMES {
            self.vars.clear();
            self.complete = false;
            self.wild = true;
            self.overrun = true;
        }
        self.vars.insert(name.to_owned(), variable);
        self.stamp = stamp;
        if !self.namerefs.is_empty() {
            // What one name says, the other says too; which of them was meant is not followed.
            let others = self.namerefs.iter().filter_map(|(name_ref, target)| match () {
                () if target == name => Some(name_ref.clone()),
                () if name_ref == name => Some(target.clone()),
                () => None,
            });
            for other in others.filter(|other| other != name).collect::<Vec<_>>() {
                let unknown = Variable::unknown(&other);
                self.vars.insert(other, unknown);
            }
        }
    }

    /// `declare -n name=target`, where the target's value is known: until one of them changes both have it.
    pub(crate) fn refer(&mut self, name: &str, target: &str, stamp: u64) -> bool {
        let Some(Variable { content: Content::Text(value @ Value::Known(_)), special: false, .. }) = self.get(target)
        else {
            return false;
        };
        let value = value.clone();
        self.put(name, Variable::text(value, Some(false)), stamp);
        self.namerefs.to_mut().insert(name.to_owned(), target.to_owned());
        true
    }

    /// A name stands for itself again.
    pub(crate) fn refer_no_more(&mut self, name: &str) {
        if self.namerefs.contains_key(name) {
            self.namerefs.to_mut().remove(name);
        }
    }

    /// Takes a name out of the table, as if nothing had been said of it.
    pub(crate) fn remove(&mut self, name: &str, stamp: u64) {
        self.vars.remove(name);
        self.stamp = stamp;
    }

    pub(crate) fn forget(&mut self, name: &str, stamp: u64) {
        let exported = self.vars.get(name).and_then(|variable| variable.exported);
        self.put(name, Variable { exported, ..Variable::unknown(name) }, stamp);
    }

    /// Any variable may have changed, and each may be as it was.
    pub(crate) fn doubt_vars(&mut self, stamp: u64) {
        let changed = |(name, variable): (&String, &Variable)| {
            let unknown = Content::Unknown(Why::Variable(name.clone()));
            let content = variable.content.clone().or(&unknown, name, false);
            let changes = !variable.readonly && content != variable.content;
            changes.then(|| (name.clone(), Variable { content, ..variable.clone() }))
        };
        let changed: Vec<_> = self.vars.map().iter().filter_map(changed).collect();
        changed.into_iter().for_each(|(name, variable)| self.put(&name, variable, stamp));
        self.complete = false;
        self.overrun = true;
        self.arguments = self.arguments.clone().or(&Arguments::Unknown, false);
        self.stamp = stamp;
    }

    /// Anything may have changed, and may be as it was; where the text may be stays in the list.
    pub(crate) fn havoc(&mut self, stamp: u64) {
        self.doubt_shell(stamp);
        self.doubt_functions(stamp);
    }

    /// Any function may be gone.
    pub(crate) fn doubt_functions(&mut self, stamp: u64) {
        let functions: Vec<_> = self.functions.iter().filter(|(_, (_, sure))| *sure).collect();
        let doubted: Vec<_> = functions.into_iter().map(|(name, (body, _))| (name.clone(), Rc::clone(body))).collect();
        doubted.into_iter().for_each(|(name, body)| self.functions.insert_mut(name, (body, false)));
        self.functions_stamp = stamp;
    }

    /// The same of a place that may be come to from anywhere: nothing is known of functions.
    pub(crate) fn havoc_anywhere(&mut self, stamp: u64) {
        self.doubt_shell(stamp);
        self.forget_functions(stamp);
    }

    fn doubt_shell(&mut self, stamp: u64) {
        self.doubt_vars(stamp);
        self.errexit = Errexit::Perhaps;
        self.aliases |= !self.alias_texts.is_empty();
        self.folders.known = false;
        self.folders.open = true;
        self.stack = None;
        self.files.doubt = true;
        self.tracked = vec![None; self.tracked.len()].into();
        if matches!(self.input, Input::Text(..)) {
            self.input = Input::Unseen;
        }
    }

    /// A program that is not followed may have changed any file.
    pub(crate) fn doubt_files(&mut self, stamp: u64) {
        self.files.doubt = true;
        let doubted = |made: &Made| Made { presence: Presence::Unknown, inside: Inside::Unknown, ..made.clone() };
        let sure = |made: &Made| match made.inside {
            // That a program takes away the place itself is not expected.
            Inside::Facts | Inside::Added => false,
            Inside::Fresh => true,
            Inside::Unknown => made.presence != Presence::Unknown,
        };
        let made = self.files.made.map().iter().filter(|(_, made)| sure(made));
        let made: Vec<(String, Made)> = made.map(|(path, made)| (path.clone(), doubted(made))).collect();
        made.into_iter().for_each(|(path, made)| self.files.put(path, made, stamp));
    }

    /// Notes what the text makes of a path. A folder that was not there is fresh.
    pub(crate) fn set_file(&mut self, path: &str, presence: Presence, inside: Inside, stamp: u64) {
        let canonical = self.files.canonical(path).into_owned();
        let path = canonical.as_str();
        if presence != Presence::Folder {
            self.files.below(path, if presence == Presence::Unknown { presence } else { Presence::Absent }, stamp);
        }
        // A folder that is made again is what it was.
        let before = self.files.made.get(path).filter(|before| presence == Presence::Folder && !before.unread);
        let copy = before.filter(|before| before.presence != Presence::File).and_then(|before| before.copy.clone());
        self.files.put(path.to_owned(), Made { copy, ..Made::new(presence, inside) }, stamp);
    }

    /// Something below a folder is made, or may be gone, and it is not known what.
    pub(crate) fn change_below(&mut self, folder: &str, gone: bool, stamp: u64) {
        let canonical = self.files.canonical(folder).into_owned();
        let folder = canonical.as_str();
        let made = self.files.made.get(folder).cloned();
        let inside = match made.as_ref().map(|made| made.inside) {
            Some(Inside::Unknown) => Inside::Unknown,
            // Nothing was there but what the text made, which is in the table.
            Some(Inside::Fresh) => Inside::Unknown,
            _ if gone => Inside::Unknown,
            _ => Inside::Added,
        };
        if gone {
            self.files.below(folder, Presence::Unknown, stamp);
        }
        let made = made.unwrap_or_else(|| Made::new(Presence::Folder, inside));
        self.files.replace(folder.to_owned(), Made { inside, ..made }, stamp);
    }

    /// Notes what is in a file whose path is known in part, under what is known of it.
    pub(crate) fn put_content(&mut self, key: &str, content: Option<Rc<Text>>, copy: Option<String>, stamp: u64) {
        // It may be another file than the one that was written before, and that may be run still.
        let before = self.files.made.get(key).filter(|made| made.presence == Presence::Unknown);
        let before = before.filter(|_| key.starts_with(Value::HOLE));
        let unread = before.is_some_and(|made| made.content != content);
        let presence = if before.is_some() && content.is_none() { Presence::Unknown } else { Presence::File };
        let made = Made { content, copy, unread, ..Made::new(presence, Inside::Unknown) };
        self.files.put(key.to_owned(), made, stamp);
    }

    /// Notes what is in a file that the text may have added to: what was in it before is a part of that.
    pub(crate) fn may_append(&mut self, path: &str, before: &Rc<Text>, content: Rc<Text>, stamp: u64) {
        let path = self.files.canonical(path).into_owned();
        match self.files.made.get(&path) {
            Some(made) if made.content.as_ref() == Some(before) && !made.unread => {
                let made = Made { content: Some(content), ..made.clone() };
                self.files.put(path, made, stamp);
            }
            _ => self.set_unread(&path, stamp),
        }
    }

    /// Notes what is in a file that the text may have written.
    pub(crate) fn may_write(&mut self, path: &str, content: Option<&Rc<Text>>, stamp: u64) {
        let path = self.files.canonical(path).into_owned();
        match (self.files.made.get(&path), content) {
            (Some(made), _) if made.content.as_ref() == content && content.is_some() => {}
            (Some(made), Some(content)) if made.content.is_none() && !made.unread => {
                let made = Made { content: Some(Rc::clone(content)), ..made.clone() };
                self.files.put(path, made, stamp);
            }
            (None, Some(content)) => {
                let made = Made::new(Presence::Unknown, Inside::Unknown);
                self.files.put(path, Made { content: Some(Rc::clone(content)), ..made }, stamp);
            }
            _ => self.set_unread(&path, stamp),
        }
    }

    /// Notes what is in a file that the text wrote.
    pub(crate) fn set_content(&mut self, path: &str, content: Option<Rc<Text>>, stamp: u64) {
        if path.starts_with(Value::HOLE) {
            return self.put_content(path, content, None, stamp);
        }
        let canonical = self.files.canonical(path).into_owned();
        if let Some(made) = self.files.made.get(&canonical).cloned() {
            let unread = made.unread && content.is_none();
            self.files.put(canonical, Made { content, unread, stored: false, copy: None, ..made }, stamp);
        }
    }

    /// Notes that a file now has the content that another had before the text, or a folder what another has.
    pub(crate) fn set_copy(&mut self, path: &str, from: String, folder: bool, stamp: u64) {
        let canonical = self.files.canonical(path).into_owned();
        if let Some(made) = self.files.made.get(&canonical).cloned() {
            // Into a folder that is a copy already: which of them a file in it is from is not known.
            let mixed = folder && made.unread;
            let copy = Some(from.clone()).filter(|_| !mixed);
            self.files.replace(
                canonical.clone(),
                Made { content: None, unread: mixed, link: None, links: Vec::new(), copy, ..made },
                stamp,
            );
            if folder {
                self.files.copies.to_mut().push((from, canonical));
            }
        }
    }

    /// Notes what a file has in it if that which makes it works in another way than is likely.
    pub(crate) fn may_copy(&mut self, path: &str, content: Option<Rc<Text>>, from: Option<String>, stamp: u64) {
        let path = self.files.canonical(path).into_owned();
        if self.files.made.get(&path).is_none() {
            self.files.put(path, Made { content, copy: from, ..Made::new(Presence::Unknown, Inside::Unknown) }, stamp);
        }
    }

    /// Notes that the text wrote to a file what is not known.
    pub(crate) fn set_unread(&mut self, path: &str, stamp: u64) {
        let canonical = self.files.canonical(path).into_owned();
        let made = self.files.made.get(&canonical).cloned();
        let made = made.unwrap_or_else(|| Made::new(Presence::Unknown, Inside::Unknown));
        self.files.put(canonical, Made { content: None, unread: true, stored: false, copy: None, ..made }, stamp);
    }

    /// It may be a link now.
    pub(crate) fn may_link(&mut self, path: &str, to: String, stamp: u64) {
        self.link_file(path, to, stamp);
        let path = self.files.canonical(path).into_owned();
        if let Some(made) = self.files.made.get(&path).cloned() {
            self.files.put(path, Made { presence: Presence::Unknown, ..made }, stamp);
        }
    }

    pub(crate) fn link_file(&mut self, path: &str, to: String, stamp: u64) {
        let presence = self.files.look(&to);
        // A program is known by the name that it is given, which may lead on: `/usr/bin/vim` to `/usr/bin/vim.basic`.
        let to = if crate::effect::is_system(&to) { to } else { self.files.canonical(&to).into_owned() };
        let path = self.files.canonical(path).into_owned();
        self.files.put(path, Made { link: Some(to), ..Made::new(presence, Inside::Unknown) }, stamp);
    }

    /// What holds whichever of the two came to pass.
    pub(crate) fn merge(self, other: State, stamp: u64) -> State {
        self.merge_as(other, stamp, false)
    }

    /// The same; `settled` if no variable may have more values than before, so that this comes to an end.
    pub(crate) fn merge_as(mut self, mut other: State, stamp: u64, settled: bool) -> State {
        let lost = match (self.unlikely, other.unlikely) {
            (true, false) if self.never => other.lost,
            (false, true) if other.never => self.lost,
            _ => self.lost.min(other.lost),
        };
        (self.lost, other.lost) = (lost, lost);
        if other.never {
            self.files.merge(&other.files, stamp);
            return self;
        }
        if self.never {
            return other.merge_as(self, stamp, settled);
        }
        if self.unlikely && !other.unlikely {
            return other.merge_as(self, stamp, settled);
        }
        let known = self.folders.known && (self.folders.certain() == other.folders.certain() || other.unlikely);
        let unlikely = other.unlikely && !self.unlikely;
        self.folders.add(&other.folders, unlikely);
        self.folders.known = known;
        if self.stamp != other.stamp {
            for name in self.vars.differences(&other.vars) {
                // What a failed `cd` leaves is not what is gone on with.
                if other.unlikely && !self.unlikely && name == "OLDPWD" {
                    continue;
                }
                let before = |state: &State| match state.vars.get(&name) {
                    Some(variable) => variable.clone(),
                    None if state.complete => {
                        Variable { content: Content::Unset, exported: None, readonly: false, special: false }
                    }
                    None => Variable::unknown(&name),
                };
                let (a, b) = (before(&self), before(&other));
                let merged = Variable {
                    content: a.content.or(&b.content, &name, settled),
                    // Of what is in the environment, if it is anywhere, that is known.
                    exported: match (self.vars.get(&name), other.vars.get(&name)) {
                        (Some(one), None) | (None, Some(one)) => one.exported,
                        _ => a.exported.filter(|_| a.exported == b.exported),
                    },
                    readonly: a.readonly || b.readonly,
                    special: a.special || b.special,
                };
                self.put(&name, merged, stamp);
            }
        }
        self.complete &= other.complete;
        self.wild |= other.wild;
        self.overrun |= other.overrun;
        self.arguments = self.arguments.or(&other.arguments, settled);
        let keeps_stack = other.unlikely && !self.unlikely;
        self.stack = self.stack.filter(|stack| keeps_stack || other.stack.as_ref() == Some(stack));
        self.unlikely &= other.unlikely;
        self.files.merge(&other.files, stamp);
        if self.functions_stamp != other.functions_stamp {
            self.merge_functions(&other, stamp);
        }
        if self.input != other.input {
            self.input = Input::Unseen;
        }
        if self.tracked != other.tracked {
            let pairs = self.tracked.iter().zip(other.tracked.iter());
            self.tracked = pairs.map(|(a, b)| a.clone().filter(|a| Some(a) == b.as_ref())).collect::<Vec<_>>().into();
        }
        // An option that may be on counts as on where that makes less certain.
        if self.errexit != other.errexit {
            self.errexit = Errexit::Perhaps;
        }
        self.nounset |= other.nounset;
        self.pipefail |= other.pipefail;
        self.noglob &= other.noglob;
        self.allexport |= other.allexport;
        self.noclobber |= other.noclobber;
        self.physical = self.physical.filter(|own| other.physical == Some(*own));
        self.nocasematch |= other.nocasematch;
        self.lastpipe |= other.lastpipe;
        self.aliases |= other.aliases;
        if !self.namerefs.is_same(&other.namerefs) {
            let more = other.namerefs.iter().map(|(name, target)| (name.clone(), target.clone()));
            self.namerefs.to_mut().extend(more);
        }
        if !self.exported_functions.is_same(&other.exported_functions) {
            self.exported_functions.to_mut().extend(other.exported_functions.iter().cloned());
        }
        if !self.alias_texts.is_same(&other.alias_texts) {
            let all = self.alias_texts.to_mut();
            for (name, texts) in other.alias_texts.iter() {
                let known = all.entry(name.clone()).or_default();
                let more: Vec<String> = texts.iter().filter(|text| !known.contains(text)).cloned().collect();
                known.extend(more);
            }
        }
        if self.traps != other.traps {
            self.or_traps(other.traps());
        }
        if self.handlers != other.handlers {
            let more: Vec<_> = other.handlers.iter().filter(|one| !self.handlers.contains(one)).cloned().collect();
            self.handlers.to_mut().extend(more);
            self.handled = None;
        }
        self.handled = self.handled.filter(|_| other.handled.is_some());
        if self.status != other.status {
            self.status = Status::Unknown;
        }
        self
    }

    /// What the shell may run when it ends; one of them always.
    pub(crate) fn traps(&self) -> Vec<Option<Word>> {
        self.traps.as_ref().map_or_else(|| vec![None], |traps| (**traps).clone())
    }

    /// Has the shell run this when it ends, or nothing.
    pub(crate) fn set_trap(&mut self, text: Option<Word>) {
        self.traps = text.map(|text| Rc::new(vec![Some(text)]));
    }

    /// Or one of these, which are what it may run in another case.
    pub(crate) fn or_traps(&mut self, others: Vec<Option<Word>>) {
        let mut all = self.traps();
        others.into_iter().for_each(|trap| {
            if !all.contains(&trap) {
                all.push(trap);
            }
        });
        self.traps = Some(Rc::new(all));
    }

    /// Whether nothing that a handler may depend on has changed since.
    pub(crate) fn is_handled(&self, handled: &Handled) -> bool {
        self.stamp == handled.stamp && self.differs_in_variables_only(handled)
    }

    fn differs_in_variables_only(&self, handled: &Handled) -> bool {
        self.functions_stamp == handled.functions_stamp
            && self.files.stamp == handled.files_stamp
            && self.folders == handled.folders
            && self.arguments == handled.arguments
            && self.alias_texts == handled.alias_texts
    }

    /// The variables that have changed since; none if it is more than variables.
    pub(crate) fn changed_since(&self, handled: &Handled) -> Option<Vec<String>> {
        self.differs_in_variables_only(handled).then(|| self.vars.differences(&handled.vars).into_iter().collect())
    }

    /// The functions whose names are in a text, wherever they stand in it.
    pub(crate) fn functions_in(&self, text: &str) -> Vec<(&str, &Function)> {
        let found = self.functions.iter().filter(|(name, _)| text.contains(name.as_str()));
        found.map(|(name, (function, _))| (name.as_str(), &**function)).collect()
    }

    fn merge_functions(&mut self, other: &State, stamp: u64) {
        for (name, (function, sure)) in &other.functions {
            match self.functions.get(name) {
                Some((known, surely)) if Rc::ptr_eq(known, function) && *surely == *sure => {}
                Some((known, _)) => {
                    let both = Rc::new(known.or(function));
                    self.functions.insert_mut(name.clone(), (both, false));
                }
                None => self.functions.insert_mut(name.clone(), (Rc::clone(function), false)),
            }
        }
        let absent = |name: &&String| !other.functions.contains_key(*name);
        let only_here: Vec<String> = self.functions.keys().filter(absent).cloned().collect();
        for name in only_here {
            if let Some((function, _)) = self.functions.get(&name).cloned() {
                self.functions.insert_mut(name, (function, false));
            }
        }
        self.functions_stamp = stamp;
    }

    /// A function by its name, and whether it is sure that it is this one.
    pub(crate) fn function(&self, name: &str) -> Option<(Rc<Function>, bool)> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn set_function(&mut self, name: &str, function: Option<Function>, stamp: u64) {
        match function {
            Some(function) => {
                self.functions.insert_mut(name.to_owned(), (Rc::new(function), true));
            }
            None => {
                self.functions.remove_mut(name);
            }
        }
        self.functions_stamp = stamp;
    }

    /// Whether there are more functions than are followed.
    pub(crate) fn has_too_many_functions(&self) -> bool {
        self.functions.size() > MAX_FUNCTIONS
    }

    /// Whether there are so many that looking for each in a text takes longer than running it.
    pub(crate) fn has_many_functions(&self) -> bool {
        self.functions.size() > 32
    }

    /// What a new shell sees of them: those that `export -f` named.
    pub(crate) fn keep_exported_functions(&mut self, stamp: u64) {
        let names: Vec<String> =
            self.functions.keys().filter(|name| !self.exported_functions.contains(*name)).cloned().collect();
        for name in names {
            self.functions.remove_mut(&name);
        }
        self.functions_stamp = stamp;
    }

    /// Whether there are functions that bash hands on to a shell of its kind, and dash does not take.
    pub(crate) fn exports_functions(&self) -> bool {
        self.functions.keys().any(|name| self.exported_functions.contains(name))
    }

    pub(crate) fn forget_functions(&mut self, stamp: u64) {
        self.functions = RedBlackTreeMap::new();
        self.functions_stamp = stamp;
    }

    /// Whether both have the same functions.
    fn has_functions_of(&self, other: &State) -> bool {
        let same = |(one, sure): &(Rc<Function>, bool), (other, other_sure): &(Rc<Function>, bool)| {
            sure == other_sure
                && one.bodies.len() == other.bodies.len()
                && one.bodies.iter().zip(&other.bodies).all(|(one, other)| Rc::ptr_eq(one, other))
        };
        self.functions_stamp == other.functions_stamp
            || self.functions.size() == other.functions.size()
                && self
                    .functions
                    .iter()
                    .zip(other.functions.iter())
                    .all(|(one, other)| one.0 == other.0 && same(one.1, other.1))
    }

    /// Whether another state says no more than this one.
    pub(crate) fn covers(&self, other: &State) -> bool {
        self.vars == other.vars
            && self.folders == other.folders
            && self.files.made == other.files.made
            && self.files.doubt == other.files.doubt
            && self.input == other.input
            && self.tracked == other.tracked
            && self.arguments == other.arguments
            && self.stack == other.stack
            && self.has_functions_of(other)
            && self.namerefs == other.namerefs
            && self.exported_functions == other.exported_functions
            && self.noglob == other.noglob
            && self.aliases == other.aliases
            && self.physical == other.physical
            && self.traps == other.traps
            && self.handlers == other.handlers
            && self.alias_texts == other.alias_texts
    }
}
