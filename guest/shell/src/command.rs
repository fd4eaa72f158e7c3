//! What is found in a text: its simple commands, with what is known of each.
//!
//! These are data. The interpreter finds the commands, and `effect` says what they do.

mod action;
mod effects;
mod foreseen;

use std::ops::Bound;
use std::rc::Rc;

use rpds::RedBlackTreeMap;

use crate::abstract_value::{Content, Text, Variable};
use crate::facts::Facts;
use crate::shared::Shared;
use toolgate_shell_syntax::path::basename;
use toolgate_shell_syntax::word::{Span, Value, Word};

pub use action::FileAction;
pub use effects::{Effect, EffectKind, Named};
pub use foreseen::Foreseen;

/// What a command inside a substitution is found through: its entry in [`Command::via`].
pub const SUBSTITUTION: &str = "$()";

/// The operator before a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiner {
    /// It is the first of its group.
    First,
    /// `|` or `|&`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`, a line's end or a keyword
    Then,
}

impl Joiner {
    /// As it is written between two commands.
    pub fn text(self) -> &'static str {
        match self {
            Joiner::First => "",
            Joiner::Pipe => " | ",
            Joiner::And => " && ",
            Joiner::Or => " || ",
            Joiner::Then => "; ",
        }
    }
}

/// What a redirect does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
}

/// A redirect to or from a file.
#[derive(Clone, Debug)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The descriptor that it opens; none for one that the shell chooses.
    pub fd: Option<u32>,
    /// The file.
    pub target: Word,
}

/// Whether a command runs when the text does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// It does.
    Certainly,
    /// Only the run can tell.
    Possibly,
    /// What stands before it excludes that, or it is the body of a function where that is defined.
    Never,
}

/// The variables at a command.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    pub(crate) vars: RedBlackTreeMap<String, Variable>,
    pub(crate) directory: Option<String>,
    pub(crate) all_unknown: bool,
}

impl Variables {
    /// The value of a variable: `None` if it is unset or nothing was said of it, `Some(None)` if it is unknown.
    pub fn get(&self, name: &str) -> Option<Option<&str>> {
        match self.vars.get(name) {
            Some(variable) => self.value(variable),
            None => self.directory().filter(|_| name == "PWD").map(Some),
        }
    }

    /// Every variable that is set, or may be, with its value as far as it is known. Of an array the first element.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.beginning("")
    }

    /// How many there are, those counted in that are known to be unset.
    pub fn count(&self) -> usize {
        self.vars.size()
    }

    /// The same of those whose names begin with a text.
    pub fn beginning<'v>(&'v self, name: &'v str) -> impl Iterator<Item = (&'v str, Option<&'v str>)> {
        let from = self.vars.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        let named = from.take_while(move |(known, _)| known.starts_with(name));
        let directory = if "PWD".starts_with(name) { self.directory() } else { None };
        let set = named.filter_map(|(known, variable)| Some((known.as_str(), self.value(variable)?)));
        set.chain(directory.map(|folder| ("PWD", Some(folder))))
    }

    /// As [`Self::get`].
    fn value<'v>(&self, variable: &'v Variable) -> Option<Option<&'v str>> {
        let value = match &variable.content {
            Content::Text(value) => value.known(),
            Content::Array(values) => values.first().and_then(Value::known),
            Content::Map(values) => values.get("0").and_then(Value::known),
            Content::Unset => return None,
            Content::OneOf(_) | Content::Unknown(_) => None,
        };
        Some(value.filter(|_| !self.all_unknown))
    }

    /// The shell's folder, where nothing was said of `$PWD`.
    fn directory(&self) -> Option<&str> {
        self.directory.as_deref().filter(|_| !self.vars.contains_key("PWD"))
    }

    /// Whether none of them was set or unset between the two, which is told without a look at each. Where it is not so,
    /// they may still have the same values.
    pub fn is_same(&self, other: &Self) -> bool {
        self.all_unknown == other.all_unknown && self.directory == other.directory && self.vars.ptr_eq(&other.vars)
    }

    /// Whether any of them may have been set to anything, as by a text that cannot be read.
    pub fn all_unknown(&self) -> bool {
        self.all_unknown
    }

    /// Names that are known to be unset.
    pub fn unset(&self) -> impl Iterator<Item = &str> {
        let unset = self.vars.iter().filter(|(_, variable)| variable.content == Content::Unset);
        unset.map(|(name, _)| name.as_str()).filter(|_| !self.all_unknown)
    }
}

/// A simple command.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// `NAME=VALUE` before the program.
    pub assignments: Vec<(String, Word)>,
    /// Its redirects. Those of a compound command are listed as a command without words.
    pub redirects: Vec<Redirect>,
    /// Where it stands in the text.
    pub span: Span,
    /// The directory it works in, if certain: the shell's, unless its own options change it.
    pub cwd: Option<String>,
    /// The directory of the shell that runs it, if certain.
    pub shell_cwd: Option<String>,
    /// The directories that the shell may be in, as far as they are known; the likeliest first.
    pub folders: Shared<Vec<String>>,
    /// Whether the shell may be in a directory that is not among these.
    pub other_folders: bool,
    /// The variables of the shell that runs it, before it does.
    pub env: Variables,
    /// The values of other trackers, by their order there.
    pub tracked: Shared<Vec<Option<String>>>,
    /// The programs that it was found inside of, outermost first.
    pub via: Vec<String>,
    /// Commands that belong to one list share this number; those in substitutions and wrappers have their own.
    pub group: usize,
    /// The operator before it in its group.
    pub joiner: Joiner,
    /// Whether it runs.
    pub runs: Runs,
    /// What it does to files and the network, redirects included.
    pub effects: Vec<Effect>,
    /// What a tool does, where the effects are those of that and of no words.
    pub action: Option<FileAction>,
    /// Whether it runs on another machine, in a container or below another root, so that paths are not those here.
    pub elsewhere: bool,
    /// What it does to the files of that place, of which nothing is known. Nothing in a container that is made for it and
    /// is given no folder: it is gone with all that is in it.
    pub effects_elsewhere: Vec<Effect>,
    /// Whether more arguments, which are not in the text, are added when it runs.
    pub more_words: bool,
    /// Whether it stands in a script that was there before this text ran.
    pub preexisting: bool,
    /// Whether its words are only the tokens of a text whose grammar is not read here.
    pub scanned: bool,
    /// Whether it is a shell that takes its commands from somewhere that cannot be read here.
    pub unseen_script: bool,
    /// Whether it runs commands that are not listed: a script that is not read, a function too deep inside itself.
    pub opaque: bool,
    /// Whether all that it changes is told.
    pub foreseen: Foreseen,
    pub(crate) input: Option<Rc<Text>>,
    /// What is in the files whose statements it runs, if it is a client of a database.
    pub(crate) statements: Vec<Rc<Text>>,
    /// Which words are data, where it has been found out; and whether it may change files that it does not name.
    pub(crate) data: Option<Vec<bool>>,
    pub(crate) unlisted: bool,
}

impl Command {
    /// The program's name without its folder, if certain.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::known).map(basename)
    }

    /// A command without words that does this, for effects that come from elsewhere than a text.
    pub fn of_effects(effects: Vec<Effect>, span: Span, cwd: &str) -> Self {
        let cwd = Some(cwd.to_owned());
        let runs = Runs::Certainly;
        Command { effects, runs, shell_cwd: cwd.clone(), cwd, ..Command::bare(Vec::new(), span, 0) }
    }

    /// A command without words for what a tool does, where the call begins.
    pub(crate) fn of_action(action: FileAction, span: Span, facts: &Facts) -> Self {
        let folders: Vec<String> = facts.cwd.iter().cloned().collect();
        let (cwd, runs) = (facts.cwd.clone(), Runs::Certainly);
        let (folders, action) = (folders.into(), Some(action));
        Command { action, runs, shell_cwd: cwd.clone(), cwd, folders, ..Command::bare(Vec::new(), span, 0) }
    }

    /// What it may read from standard input, if that is known.
    pub fn input(&self) -> Option<&str> {
        self.input.as_ref().map(|input| input.text.as_str())
    }

    /// The tokens of a text that was not parsed, where the call begins.
    pub(crate) fn of_tokens(words: Vec<Word>, facts: &Facts, group: usize) -> Self {
        let span = words.first().map_or_else(Span::default, |first| Span {
            start: first.span.start,
            end: words.last().map_or(first.span.end, |last| last.span.end),
        });
        let folders: Vec<String> = facts.cwd.iter().cloned().collect();
        let (cwd, shell_cwd) = (facts.cwd.clone(), facts.cwd.clone());
        Command { cwd, shell_cwd, folders: folders.into(), ..Command::bare(words, span, group) }
    }

    /// What is in the files whose statements it runs, if it is a client of a database and that is known: `psql -f FILE`.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.statements.iter().map(|text| text.text.as_str())
    }

    /// A command of which nothing is known but its words.
    pub(crate) fn bare(words: Vec<Word>, span: Span, group: usize) -> Self {
        Command {
            words,
            assignments: Vec::new(),
            redirects: Vec::new(),
            span,
            cwd: None,
            shell_cwd: None,
            folders: Shared::default(),
            other_folders: false,
            env: Variables::default(),
            tracked: Shared::default(),
            via: Vec::new(),
            group,
            joiner: Joiner::First,
            runs: Runs::Possibly,
            effects: Vec::new(),
            action: None,
            elsewhere: false,
            effects_elsewhere: Vec::new(),
            preexisting: false,
            more_words: false,
            scanned: false,
            unseen_script: false,
            opaque: false,
            foreseen: Foreseen::ReadsOnly,
            input: None,
            statements: Vec::new(),
            data: None,
            unlisted: false,
        }
    }
}

/// All that a text holds.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// In the order in which they stand; those inside a command come after it.
    pub commands: Vec<Command>,
    /// Why the text was not parsed. Its tokens then stand in one command, without any structure.
    pub unparsed: Option<String>,
    /// Whether it was not parsed as it is for a shell outside the Bourne family.
    pub foreign: bool,
    /// Its comments, from the `#` to the line's end. None of those inside substitutions, of a text that was not parsed,
    /// or of one whose lines are joined inside words.
    pub comments: Vec<Span>,
    /// What the text wrote to files whose path is known in part (`$DIR/x`), as it is run where it runs one that is written
    /// alike. That may be another file, so that this comes beside the commands, and says nothing of them.
    pub written: Vec<Script>,
}
