//! From a text to its simple commands, in the order in which they stand.
//!
//! The walk runs the text on what is known: it carries directory, variables, functions, files and standard input
//! along, follows every branch that may be taken, and where only the run can tell it goes on with what holds in all
//! cases. Loops over known words are run word by word; others until nothing new comes out.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `state`, `table` | what is known at one point, and joining two such points | how it changes |
//! | `files` | what the text has made of files | which command did it |
//! | `alternatives` | pipelines that are run several ways: values, `echo`, bash or zsh | how a variable comes to have several |
//! | `control` | lists, branches, loops, functions | what one command does |
//! | `control_exits` | how a part of the text may end | which way control goes then |
//! | `node_id` | parts of a tree, told apart | |
//! | `simple`, `aliases` | one simple command: its words, what it is; what it is by an alias | what it runs inside |
//! | `redirect`, `assign` | its redirects; its assignments | what runs with them |
//! | `emit` | listing it, and doing to files and trackers what it does | which effects it has |
//! | `nested` | what it runs inside: wrappers, texts, files of commands | which programs do so |
//! | `script_effects` | programs in other languages | reading those |
//! | `foreign` | texts for shells outside the Bourne family that bash reads alike | what their words mean |
//! | `loaded_files` | files of the session that programs load besides their scripts: by options, by their names | the project's own files |
//! | `project`, `lines` | what `make`, `just` and `npm run` run; commands that `ed` or `psql` reads line by line | other files |
//! | `compile` | what is compiled or run of sources that the text wrote | what they do |
//! | `environment` | what programs run because variables say so: an editor, a pager | `BASH_ENV` |
//! | `dedup` | whether two commands are the same | what is around them |
//! | `dialect` | which shell reads the text at hand | what it reads otherwise |
//! | `zsh` | what zsh reads otherwise | builtins that only it has |
//! | `traps` | what the shell runs at its end and for signals | what `trap` is given |
//! | `path_resolution` | which file a path leads to | whether it is there |
//! | `partial_paths` | what the text wrote to files whose path is known in part | anything that is certain |
//! | `builtin_names` | which commands are the shell's own | what they do |
//! | `builtin`, `declare` | commands that change the shell itself; the attributes of variables | programs |
//! | `expand`, `parameter`, `braces` | the values of words | the syntax of words |
//! | `word_fragments`, `arguments` | the parts of a word that is being put together; words as arguments | where they come from |
//! | `test`, `regex` | `[ ]`, `[[ ]]` and arithmetic as conditions; what `=~` finds | loops and branches |
//! | `git_aliases` | what an alias of git stands for | git's own subcommands |
//! | `script_context` | what scripts in other languages read | what they do |
//! | `argument_files` | what files hold from which a command takes its words | scripts that are run |
//! | `filters` | which lines and fields of a text a filter prints, roughly | what is certain |
//! | `output` | what plain programs print, from what they are given | running them |

mod aliases;
mod alternatives;
mod argument_files;
mod arguments;
mod assign;
mod braces;
mod builtin;
mod builtin_names;
mod compile;
mod control;
mod control_exits;
mod declare;
mod dedup;
mod dialect;
mod emit;
mod environment;
mod expand;
mod files;
mod filters;
mod foreign;
mod git_aliases;
mod lines;
mod loaded_files;
mod nested;
mod node_id;
mod output;
mod parameter;
mod partial_paths;
mod path_resolution;
mod project;
mod redirect;
mod regex;
mod script_context;
mod script_effects;
mod simple;
mod state;
mod statements;
mod table;
mod test;
mod traps;
mod word_fragments;
mod zsh;

pub use self::builtin_names::runs_in_shell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::abstract_value::{MAX_VALUE, Text, Variable};
use crate::command::{Command, Joiner, Runs, Script};
use crate::facts::Facts;
use crate::scan;
use crate::tracker::Trackers;
use dialect::Dialect;
use node_id::NodeId;
use partial_paths::PartialPathWrites;
use state::{Input, ShellState};
use toolgate_shell_syntax::syntax::{self, Base};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

pub use expand::resolve_word;
pub use foreign::parse_foreign;

/// How deep commands inside commands are followed; deeper ones make the text unparsed.
const MAX_NESTING: usize = 24;

/// How many commands are listed for one text; a text with more is unparsed.
const MAX_COMMANDS: usize = 20_000;
/// Of a stored script that is too much to follow.
const MAX_LISTED: usize = 2_000;

/// How many parts of a text are run, loops and functions counted each time.
const MAX_STEPS: usize = 200_000;

/// How many scripts are read from files for one text; the others stay opaque.
const MAX_SCRIPTS: usize = 32;

/// How many files are read because the session wrote them.
const MAX_OF_SESSION: usize = 128;

/// How many bytes of values are put into words, and parsed as texts inside the text. More stay unknown.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The files as they are before anything has run.
pub(crate) fn files(facts: &Facts) -> files::Files {
    files::Files::new(facts)
}

/// Reads a shell text. See the crate's first page for an example.
pub fn parse(text: &str, facts: &Facts) -> Script {
    let mut interpreter = Interpreter::new(text, facts);
    let mut comments = Vec::new();
    match scan::refuse(text).map_or_else(|| syntax::parse(text, Base::default(), 0), Err) {
        Err(why) => interpreter.fail(why),
        Ok(parsed) => {
            let state = ShellState::new(facts);
            interpreter.dialect.may_be_zsh = facts.may_be_zsh;
            interpreter.shell(&parsed.list, state);
            comments = parsed.comments;
        }
    }
    crate::effect::resolve_reopened(&mut interpreter.commands);
    match interpreter.failure {
        None => Script {
            commands: interpreter.commands,
            comments,
            written: interpreter.partial_path_writes.scripts,
            ..Script::default()
        },
        Some(why) => Script { commands: scanned(text, facts), unparsed: Some(why), ..Script::default() },
    }
}

fn scanned(text: &str, facts: &Facts) -> Vec<Command> {
    let pieces = scan::commands(text).into_iter().enumerate();
    pieces.map(|(group, words)| Command::of_tokens(words, facts, group)).collect()
}

/// Control that leaves a part of the text comes out at a frame.
#[derive(Default)]
struct Frame {
    kind: FrameKind,
    /// The states that left for the end of this frame, in the order of the text.
    left: Vec<ShellState>,
    /// Of a loop: those that go on with its next round.
    continued: Vec<ShellState>,
    /// Of a function: variables as they were before it made them its own.
    locals: Vec<(String, Option<Variable>)>,
    /// Those of them that stand for another variable.
    references: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum FrameKind {
    #[default]
    Shell,
    Function,
    Loop,
}

/// What is written to standard output where that is kept.
#[derive(Clone, Default)]
struct Capture {
    /// `None` once it is not known.
    text: Option<String>,
    /// What it is instead where something was printed that may not be: each such text, with what is printed for certain.
    perhaps: Vec<String>,
    /// What was printed before the first of those.
    certain: String,
    /// Whether more may have been printed than these have.
    closed: bool,
    /// Whether a part of it is what a file holds that was there before the text.
    stored: bool,
    /// The parts in the outermost source, if there is just one.
    origin: Option<(Span, Option<usize>)>,
    /// How many doubts there were when it began.
    doubt: usize,
    lost: usize,
}

impl Capture {
    /// Has it go on after a command that printed what is known in part: what that may be is told besides.
    fn reopen(&mut self, before: Capture) {
        if self.closed && !before.closed {
            self.certain = before.text.unwrap_or(before.certain);
            self.perhaps = before.perhaps;
            self.closed = false;
        }
    }
}

/// What something printed.
enum Printed {
    Known(Text),
    /// This, if the files hold then what they do now.
    Stored(Text),
    /// One of these, or something else.
    Perhaps(Vec<String>),
    Unknown,
}

impl Printed {
    fn known(self) -> Option<Text> {
        match self {
            Printed::Known(text) => Some(text),
            _ => None,
        }
    }

    /// It as what another command reads.
    fn input(self) -> Option<Input> {
        match self {
            Printed::Known(text) => Some(Input::Text(Rc::new(text), 0)),
            Printed::Stored(text) => Some(Input::Stored(Rc::new(text))),
            Printed::Perhaps(_) | Printed::Unknown => None,
        }
    }
}

/// How many texts are kept that may be all that is printed.
const MAX_PRINTED: usize = 8;

/// What was used so far of what one text may take.
#[derive(Default)]
struct Used {
    /// Parts that were run.
    steps: usize,
    /// Values and texts that were handled.
    bytes: usize,
    /// Scripts that were read from files.
    scripts: usize,
    /// How often pipelines were run with other values.
    forks: usize,
    /// How often something was run for signals.
    interruptions: usize,
}

struct Interpreter<'f> {
    /// The outermost text.
    source: &'f str,
    commands: Vec<Command>,
    trackers: Option<&'f Trackers>,
    groups: usize,
    /// Counts changes, so that states that share one are alike.
    stamp: u64,
    /// How often the text at hand is run with other values of variables.
    ways: usize,
    /// How often each pipeline was run with other values.
    runs_of: BTreeMap<NodeId, usize>,
    /// `shopt -s execfail` somewhere: a shell goes on where `exec` finds nothing.
    execfail: bool,
    /// `shopt -s cdable_vars`: what is no folder may be the name of a variable that has one.
    cdable: bool,
    /// In what a signal runs.
    handling: bool,
    /// How many conditions that may not hold are around.
    condition_depth: usize,
    /// How deep in rounds of a loop whose commands are not listed.
    listing_suppressed: usize,
    used: Used,
    failure: Option<String>,
    dialect: Dialect,
    exhausted: bool,
    frames: Vec<Frame>,
    captures: Vec<Capture>,
    via: Vec<String>,
    /// The functions whose bodies are around.
    calls: Vec<String>,
    /// Which variables calls of functions may change that are not followed.
    assigned: FxHashMap<(usize, u64), Option<Rc<BTreeSet<String>>>>,
    elsewhere: bool,
    /// In a container that is made for it and is given no folder.
    fresh: bool,
    /// In a script that was there before.
    preexisting: bool,
    /// How the source has the names of these variables.
    named: BTreeMap<String, parameter::Naming>,
    /// In a text with parts that are not known.
    has_holes: bool,
    /// Whether a name that `mktemp` made up may have more in it than is known of it and letters.
    odd_temporaries: bool,
    /// Only listed, as at a function's definition.
    listed_only: bool,
    group: usize,
    joiner: Joiner,
    /// In a condition or before `&&`, where `set -e` does not apply.
    guarded: usize,
    facts: &'f Facts,
    /// What the last process substitution wrote, and those that are a word of their own, by where they stand.
    process_output: Option<Input>,
    processes: BTreeMap<usize, Input>,
    /// What files hold that were there before the text, as far as they were looked at.
    stored: BTreeMap<String, Option<Rc<str>>>,
    /// What files hold that earlier texts of the session wrote, as far as they were looked at.
    of_session: BTreeMap<String, Option<Rc<Text>>>,
    /// What the text made of files of the project by changing a part.
    edited: Vec<Rc<Text>>,
    /// How deep files of the project are in each other that have the session's own files run.
    project_depth: usize,
    /// The files that programs have loaded besides their scripts.
    loaded: Vec<(String, Rc<Text>)>,
    /// Whether something of what the command at hand runs was not read, so that it may change what is not told.
    unread: bool,
    /// Whether it runs a file that was there before.
    runs_stored: bool,
    partial_path_writes: PartialPathWrites,
}

impl<'f> Interpreter<'f> {
    fn new(source: &'f str, facts: &'f Facts) -> Self {
        Interpreter {
            source,
            commands: Vec::new(),
            trackers: facts.trackers.as_deref(),
            groups: 1,
            stamp: 0,
            ways: 1,
            runs_of: BTreeMap::new(),
            handling: false,
            execfail: false,
            cdable: false,
            condition_depth: 0,
            listing_suppressed: 0,
            used: Used::default(),
            failure: None,
            dialect: Dialect::default(),
            exhausted: false,
            frames: Vec::new(),
            captures: Vec::new(),
            via: Vec::new(),
            calls: Vec::new(),
            assigned: FxHashMap::default(),
            elsewhere: false,
            fresh: false,
            preexisting: false,
            named: BTreeMap::new(),
            has_holes: false,
            odd_temporaries: false,
            listed_only: false,
            group: 0,
            joiner: Joiner::First,
            guarded: 0,
            facts,
            process_output: None,
            processes: BTreeMap::new(),
            stored: BTreeMap::new(),
            project_depth: 0,
            of_session: BTreeMap::new(),
            edited: Vec::new(),
            loaded: Vec::new(),
            unread: false,
            runs_stored: false,
            partial_path_writes: PartialPathWrites::default(),
        }
    }

    fn fail(&mut self, why: impl Into<String>) {
        self.failure.get_or_insert_with(|| why.into());
    }

    /// Fails for want of room or time, and not because of what the text says.
    fn exhaust(&mut self, why: impl Into<String>) {
        self.exhausted |= self.failure.is_none();
        self.fail(why);
    }

    /// What was used so far: steps, bytes, commands.
    fn spent(&self) -> [usize; 3] {
        [self.used.steps, self.used.bytes, self.commands.len()]
    }

    /// After a stored script that is too much to follow, which makes it one that cannot be read: goes back to what was
    /// spent before, so that what comes behind it is followed. The first of its commands stay listed. False if there is
    /// nothing of the kind.
    fn restore(&mut self, [steps, bytes, commands]: [usize; 3]) -> bool {
        if !self.exhausted {
            return false;
        }
        (self.failure, self.exhausted) = (None, false);
        (self.used.steps, self.used.bytes) = (steps, bytes);
        self.commands.truncate(commands + MAX_LISTED);
        true
    }

    /// Counts a step; whether the walk goes on.
    fn step(&mut self) -> bool {
        self.used.steps += 1;
        if self.used.steps > MAX_STEPS {
            self.exhaust(format!("the command takes more than {MAX_STEPS} steps to analyze"));
        }
        self.failure.is_none()
    }

    /// Takes from the bytes that may be handled; whether there were enough.
    fn afford(&mut self, bytes: usize) -> bool {
        self.used.bytes = self.used.bytes.saturating_add(bytes);
        self.used.bytes <= MAX_BYTES
    }

    fn change(&mut self) -> u64 {
        self.stamp += 1;
        self.stamp
    }

    fn new_group(&mut self) -> usize {
        self.groups += 1;
        self.groups - 1
    }

    fn runs(&self, state: &ShellState) -> Runs {
        if state.never || self.listed_only {
            Runs::Never
        } else if self.condition_depth > 0 || state.jump_target != state::NOWHERE {
            Runs::Possibly
        } else {
            Runs::Certainly
        }
    }

    /// Runs something that may not run.
    fn doubting<T>(&mut self, doubt: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        self.condition_depth += usize::from(doubt);
        let result = run(self);
        self.condition_depth -= usize::from(doubt);
        result
    }

    /// Runs commands that are found inside this program: their own group, their own place.
    fn inside<T>(&mut self, program: &str, run: impl FnOnce(&mut Self) -> T) -> T {
        let group = self.new_group();
        let outer = (std::mem::replace(&mut self.group, group), std::mem::replace(&mut self.joiner, Joiner::First));
        self.via.push(program.to_owned());
        let result = run(self);
        self.via.pop();
        (self.group, self.joiner) = outer;
        result
    }

    /// Whether another level of commands inside commands may be opened.
    fn may_nest(&mut self) -> bool {
        if self.via.len() >= MAX_NESTING {
            self.exhaust("the command nests too many commands");
        }
        self.failure.is_none()
    }

    /// Whether a text for a shell can be read: it is known, or what is not is a part of it that the environment has from the
    /// user, that `mktemp` makes up, or that is a number among plain words. Such a value is taken for words where it stands, as
    /// it is in the text itself; a program that it names is unseen.
    fn is_readable(&self, text: &Word) -> bool {
        match &text.value {
            Value::Known(_) => true,
            Value::Unknown { why, .. } => match why {
                Why::Environment(_) => true,
                Why::Number => scan::is_plain_with_numbers(text.text()),
                Why::Temporary => !self.odd_temporaries,
                _ => false,
            },
            Value::Pattern(_) => false,
        }
    }

    /// Parses a text inside the text and hands it on.
    fn text(&mut self, text: &Word, run: impl FnOnce(&mut Self, &syntax::List)) {
        // What stands around the words that are put in can be read, though the whole is seen by nobody.
        let filled = matches!(text.value, Value::Unknown { why: Why::Argument, .. });
        // What is put in may be more than a word.
        self.unread |= text.known().is_none();
        if !(filled || self.is_readable(text)) || !self.may_nest() {
            return;
        }
        let source = text.text();
        if !self.afford(source.len()) {
            return self.exhaust("the command contains too much nested code");
        }
        self.dialect.beyond |= dialect::may_differ_in_dash(source);
        let posix = self.dialect.posix;
        let made_up = matches!(text.value, Value::Unknown { why: Why::Temporary, .. });
        let verbatim = text.at.filter(|at| self.source.get(*at..at + source.len()) == Some(source));
        let base = match verbatim {
            Some(offset) => Base { offset, posix, ..Base::default() },
            None => Base { posix, made_up, ..Base::opaque(text.span) },
        };
        let refused = match &text.value {
            Value::Known(_) => scan::refuse(source),
            _ => scan::refuse_shape(source),
        };
        match refused.map_or_else(|| syntax::parse(source, base, self.via.len()), Err) {
            Ok(parsed) => {
                let outer = self.has_holes;
                self.has_holes |= text.known().is_none();
                run(self, &parsed.list);
                self.has_holes = outer;
            }
            Err(why) => self.fail(why),
        }
    }

    /// Adds to what standard output gets.
    fn print(&mut self, text: Option<&str>, span: Span, at: Option<usize>, state: &ShellState) {
        let (doubt, guarded, affordable) =
            (self.condition_depth, self.guarded > 0, self.afford(text.map_or(0, str::len)));
        let Some(capture) = self.captures.last_mut() else { return };
        if state.never {
            return;
        }
        let sure = doubt == capture.doubt && state.jump_target == capture.lost;
        let Some(text) = text.filter(|_| affordable) else {
            // A condition is not expected to print anything that matters.
            if guarded {
                let before = capture.text.take();
                capture.certain = before.unwrap_or(std::mem::take(&mut capture.certain));
            } else {
                capture.text = None;
                capture.perhaps.clear();
                capture.closed = true;
            }
            return;
        };
        if !sure {
            if !text.is_empty() && !capture.closed {
                if let Some(before) = capture.text.take() {
                    capture.certain = before;
                }
                // A second one of the same branch comes after the first; of another branch it stands for itself.
                if let Some(last) = capture.perhaps.last().cloned() {
                    capture.perhaps.push(last + text);
                }
                capture.perhaps.push(capture.certain.clone() + text);
                let bytes: usize = capture.perhaps.iter().map(String::len).sum();
                capture.closed = capture.perhaps.len() > MAX_PRINTED || bytes > MAX_VALUE;
            }
            capture.text = None;
            return;
        }
        match &mut capture.text {
            Some(all) if all.len() + text.len() <= MAX_VALUE => {
                capture.origin = match (all.is_empty(), text.is_empty(), capture.origin.take()) {
                    (true, _, _) => Some((span, at)),
                    (false, true, origin) => origin,
                    (false, false, origin) => origin.map(|(first, _)| (first.to(span), None)),
                };
                all.push_str(text);
            }
            Some(_) => (capture.text, capture.closed) = (None, true),
            None if capture.closed => {}
            None => {
                // Nothing of what may be printed may be.
                capture.certain.push_str(text);
                capture.perhaps.iter_mut().for_each(|all| all.push_str(text));
                let bytes: usize = capture.perhaps.iter().map(String::len).sum();
                capture.closed = bytes > MAX_VALUE;
            }
        }
    }

    /// The same of what files hold that were there before the text.
    fn print_stored(&mut self, text: &str, span: Span, state: &ShellState) {
        self.print(Some(text), span, None, state);
        if let Some(capture) = self.captures.last_mut().filter(|_| !state.never) {
            capture.stored = true;
        }
    }

    /// Runs something and keeps what it writes to standard output, if that is known.
    fn capturing<T>(&mut self, state: &ShellState, run: impl FnOnce(&mut Self) -> T) -> (T, Printed) {
        let (text, doubt, lost) = (Some(String::new()), self.condition_depth, state.jump_target);
        self.captures.push(Capture { text, doubt, lost, ..Capture::default() });
        let result = run(self);
        let Some(capture) = self.captures.pop() else { return (result, Printed::Unknown) };
        let (span, at) = capture.origin.unwrap_or_default();
        let output = match capture.text {
            Some(text) if capture.stored => Printed::Stored(Text { text, span, at: None }),
            Some(text) => Printed::Known(Text { text, span, at }),
            None if capture.stored || capture.closed || capture.perhaps.is_empty() => Printed::Unknown,
            None => {
                let mut texts = capture.perhaps;
                if !capture.certain.is_empty() && !texts.contains(&capture.certain) {
                    texts.push(capture.certain);
                }
                Printed::Perhaps(texts)
            }
        };
        (result, output)
    }
}
