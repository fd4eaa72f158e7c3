//! What is known at one point of a text.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rpds::RedBlackTreeMap;

use super::files::Files;
use super::table::Table;
use crate::abstract_value::{Arguments, Content, Folders, Text, Variable};
use crate::facts::Facts;
use crate::shared::Shared;
use toolgate_shell_syntax::syntax::Node;
use toolgate_shell_syntax::word::{Value, Why, Word};

/// Most variables that are followed. None of them is forgotten for another one: a text with more is unparsed.
const MAX_VARIABLES: usize = 4_000;

/// Most functions that are followed.
const MAX_FUNCTIONS: usize = 2_000;

/// What a name stands for that may stand for any variable.
const ANY: &str = "";

/// What a signal has the shell run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Handler {
    /// Its name without `SIG`, or its number.
    pub(crate) signal: String,
    pub(crate) text: Word,
}

/// The state in which handlers were last run.
#[derive(Debug)]
pub(crate) struct TrapSnapshot {
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

impl TrapSnapshot {
    pub(crate) fn of(state: &ShellState, ran: bool) -> Self {
        TrapSnapshot {
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

/// The state of `set -e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrexitState {
    Off,
    On,
    Perhaps,
}

impl From<bool> for ErrexitState {
    fn from(on: bool) -> Self {
        if on { ErrexitState::On } else { ErrexitState::Off }
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
    /// What a file holds now that was there before the text. It may hold something else when it is read, and who reads a part of
    /// it may read any.
    Stored(Rc<Text>),
    /// What is not known; or the rest of a text that something else may have read a part of.
    Unseen(Option<(Rc<Text>, usize)>),
}

impl Input {
    /// Whether it is not known for certain what is read.
    pub(crate) fn is_unseen(&self) -> bool {
        matches!(self, Input::Stored(_) | Input::Unseen(_))
    }

    /// It may have been read, or not, by who read this.
    pub(crate) fn or(self, other: &Input) -> Input {
        let rest = |input: &Input| match input {
            Input::Text(text, from) => Some((Rc::clone(text), *from)),
            Input::Unseen(rest) => rest.clone(),
            Input::Inherited | Input::Nothing | Input::Stored(_) => None,
        };
        if self == *other { self } else { Input::Unseen(rest(&self).filter(|own| Some(own) == rest(other).as_ref())) }
    }
}

/// What a descriptor behind the three standard ones leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Opened {
    /// What is written there goes into this file, whose place is `path` as far as that is known.
    File { path: Option<String>, target: Word, sure: bool },
    /// This is read from it.
    Source(Input),
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

/// What is known at a point of the text.
#[derive(Clone)]
pub(crate) struct ShellState {
    pub(crate) folders: Folders,
    vars: Table<Variable>,
    stamp: u64,
    /// Names that are in no table are unset.
    pub(crate) complete: bool,
    /// Variables may have any value: a name stands for one that is not known.
    pub(crate) all_unknown: bool,
    /// There are more variables than are followed.
    pub(crate) too_many_vars: bool,
    /// Whether what is not followed may have set any variable, so that none is the environment's for certain.
    pub(crate) budget_exceeded: bool,
    /// `$1` and on, with `$0` before them.
    pub(crate) arguments: Arguments,
    /// How far `getopts` has come in the word whose number is in `OPTIND`.
    pub(crate) option_at: usize,
    /// What `pushd` has put away, the last one first.
    pub(crate) stack: Option<Shared<Vec<String>>>,
    pub(crate) files: Files,
    functions: RedBlackTreeMap<String, (Rc<Function>, bool)>,
    functions_stamp: u64,
    /// Control does not come here: an `exit` or a `break` is before it.
    pub(crate) never: bool,
    /// The outermost frame (a loop, a function, a shell) that control may have left for on the way here.
    pub(crate) jump_target: usize,
    /// It came about by a failure that the facts do not speak of.
    pub(crate) unlikely: bool,
    pub(crate) input: Input,
    /// What descriptors lead to that the text has opened: `exec 3> FILE`.
    pub(crate) descriptors: Shared<BTreeMap<u32, Opened>>,
    pub(crate) tracked: Shared<Vec<Option<String>>>,
    pub(crate) errexit: ErrexitState,
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
    /// The state in which those were last run.
    pub(crate) trap_snapshot: Option<Rc<TrapSnapshot>>,
    /// What the shell runs when it ends: one of these, which may be nothing. None while nothing was said of it.
    pub(crate) traps: Option<Rc<Vec<Option<Word>>>>,
    pub(crate) status: Status,
}

impl ShellState {
    pub(crate) fn new(facts: &Facts) -> Self {
        let folders = facts.cwd.clone().map_or_else(Folders::unknown, Folders::one);
        let mut state = ShellState {
            folders,
            vars: Table::default(),
            stamp: 0,
            complete: facts.env_complete,
            all_unknown: false,
            too_many_vars: false,
            budget_exceeded: false,
            // Where nothing is set there are no arguments either.
            arguments: facts.env_complete.then(|| vec![Value::Known("bash".to_owned())]).into(),
            option_at: 0,
            stack: Some(Shared::default()),
            files: Files::new(facts),
            functions: RedBlackTreeMap::new(),
            functions_stamp: 0,
            never: false,
            jump_target: NOWHERE,
            unlikely: false,
            input: Input::Inherited,
            descriptors: Shared::default(),
            tracked: Shared::default(),
            errexit: ErrexitState::Off,
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
            trap_snapshot: None,
            exported_functions: Shared::default(),
            namerefs: Shared::default(),
            status: Status::Success,
        };
        if let Some(trackers) = &facts.trackers {
            let initial = trackers.list().iter().map(|tracker| tracker.initial.clone());
            state.tracked = initial.collect::<Vec<_>>().into();
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
        self.too_many_vars |= self.vars.map().size() > MAX_VARIABLES;
        self.vars.insert(name.to_owned(), variable);
        self.stamp = stamp;
        // What one name says, the other says too; which of them was meant is not followed.
        for other in self.same_as(name) {
            if other == ANY {
                self.doubt_named(stamp);
            } else {
                let unknown = Variable::unknown(&other);
                self.vars.insert(other, unknown);
            }
        }
    }

    /// The names that stand for the same variable as this one.
    fn same_as(&self, name: &str) -> Vec<String> {
        if self.namerefs.is_empty() {
            return Vec::new();
        }
        let target = self.namerefs.get(name).map_or(name, String::as_str);
        if target == ANY {
            return vec![ANY.to_owned()];
        }
        let references = self.namerefs.iter().filter(|(_, other)| *other == target).map(|(name, _)| name.as_str());
        references.chain([target]).filter(|other| *other != name).map(str::to_owned).collect()
    }

    /// What was assigned to a name is most likely what the others have that stand for the same variable.
    pub(crate) fn share(&mut self, name: &str) {
        let Some(content) = self.get(name).map(|variable| variable.content.clone()) else { return };
        for other in self.same_as(name).into_iter().filter(|other| other != ANY) {
            let unknown = Variable::unknown(&other);
            let content = content.clone().or(&unknown.content, &other, false);
            self.vars.insert(other, Variable { content, ..unknown });
        }
    }

    /// `declare -n name=target`: until one of them changes both have the same value.
    pub(crate) fn refer(&mut self, name: &str, target: &str, stamp: u64) {
        let target = self.namerefs.get(target).map_or(target, String::as_str).to_owned();
        let value = match self.get(&target) {
            Some(Variable { content, special: false, .. }) if *content != Content::Unset => content.clone(),
            _ => Content::Unknown(Why::Variable(name.to_owned())),
        };
        self.put(name, Variable { content: value, exported: Some(false), ..Variable::unknown(name) }, stamp);
        self.namerefs.to_mut().insert(name.to_owned(), target);
    }

    /// `declare -n name`, where it is not known what for: whatever is said of it is said of any variable.
    pub(crate) fn refer_to_any(&mut self, name: &str, stamp: u64) {
        self.doubt_named(stamp);
        self.namerefs.to_mut().insert(name.to_owned(), ANY.to_owned());
    }

    /// Any variable that has a name may have changed.
    fn doubt_named(&mut self, stamp: u64) {
        let arguments = self.arguments.clone();
        self.doubt_vars(stamp);
        self.arguments = arguments;
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

    /// Puts a variable back as it was.
    pub(crate) fn restore(&mut self, name: &str, variable: Option<&Variable>, stamp: u64) {
        match variable {
            Some(variable) => self.put(name, variable.clone(), stamp),
            None => self.remove(name, stamp),
        }
    }

    pub(crate) fn forget(&mut self, name: &str, stamp: u64) {
        let exported = self.vars.get(name).and_then(|variable| variable.exported);
        self.put(name, Variable { exported, ..Variable::unknown(name) }, stamp);
    }

    /// No more may have changed than files and these variables.
    pub(crate) fn doubt_those(&mut self, names: &BTreeSet<String>, stamp: u64) {
        if names.iter().any(|name| self.vars.get(name).is_some_and(|variable| variable.special)) {
            // What is assigned may be an expression that assigns others.
            return self.havoc(stamp);
        }
        names.iter().for_each(|name| self.doubt(name, stamp));
        self.doubt_surroundings();
    }

    /// A variable may have changed, or be as it was.
    pub(crate) fn doubt(&mut self, name: &str, stamp: u64) {
        let unknown = Content::Unknown(Why::Variable(name.to_owned()));
        let variable = match self.vars.get(name) {
            Some(variable) if variable.readonly => return,
            Some(variable) => {
                Variable { content: variable.content.clone().or(&unknown, name, false), ..variable.clone() }
            }
            None => Variable::unknown(name),
        };
        self.put(name, variable, stamp);
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
        self.budget_exceeded = true;
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
        self.errexit = ErrexitState::Perhaps;
        self.aliases |= !self.alias_texts.is_empty();
        self.folders.known = false;
        self.folders.open = true;
        self.stack = None;
        self.doubt_surroundings();
    }

    /// What there was to read is no longer known.
    pub(crate) fn lose_input(&mut self) {
        if matches!(self.input, Input::Text(..) | Input::Unseen(Some(_))) {
            self.input = Input::Unseen(None);
        }
    }

    /// A program may have read what there was.
    pub(crate) fn use_input(&mut self) {
        if let Input::Text(text, from) = &self.input {
            self.input = Input::Unseen(Some((Rc::clone(text), *from)));
        }
    }

    /// Files, what is read and what plugins follow.
    fn doubt_surroundings(&mut self) {
        self.files.doubt();
        self.tracked = vec![None; self.tracked.len()].into();
        self.use_input();
    }

    /// What holds whichever of the two came to pass.
    pub(crate) fn merge(self, other: ShellState, stamp: u64) -> ShellState {
        self.merge_as(other, stamp, false)
    }

    /// The same; `settled` if no variable may have more values than before, so that this comes to an end.
    pub(crate) fn merge_as(mut self, mut other: ShellState, stamp: u64, settled: bool) -> ShellState {
        let lost = match (self.unlikely, other.unlikely) {
            (true, false) if self.never => other.jump_target,
            (false, true) if other.never => self.jump_target,
            _ => self.jump_target.min(other.jump_target),
        };
        (self.jump_target, other.jump_target) = (lost, lost);
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
            self.merge_vars(&other, stamp, settled);
        }
        self.complete &= other.complete;
        self.all_unknown |= other.all_unknown;
        self.too_many_vars |= other.too_many_vars;
        self.budget_exceeded |= other.budget_exceeded;
        self.arguments = self.arguments.or(&other.arguments, settled);
        if self.option_at != other.option_at {
            self.forget("OPTIND", stamp);
            self.option_at = 0;
        }
        let keeps_stack = other.unlikely && !self.unlikely;
        self.stack = self.stack.filter(|stack| keeps_stack || other.stack.as_ref() == Some(stack));
        self.unlikely &= other.unlikely;
        self.files.merge(&other.files, stamp);
        if self.functions_stamp != other.functions_stamp {
            self.merge_functions(&other, stamp);
        }
        self.input = self.input.or(&other.input);
        self.merge_descriptors(&other);
        if self.tracked != other.tracked {
            let pairs = self.tracked.iter().zip(other.tracked.iter());
            self.tracked = pairs.map(|(a, b)| a.clone().filter(|a| Some(a) == b.as_ref())).collect::<Vec<_>>().into();
        }
        self.merge_options(&other);
        self.merge_names(&other);
        self.merge_handlers(&other);
        if self.status != other.status {
            self.status = Status::Unknown;
        }
        self
    }

    fn merge_vars(&mut self, other: &ShellState, stamp: u64, settled: bool) {
        for name in self.vars.differences(&other.vars) {
            // What a failed `cd` leaves is not what is gone on with.
            if other.unlikely && !self.unlikely && name == "OLDPWD" {
                continue;
            }
            let before = |state: &ShellState| match state.vars.get(&name) {
                Some(variable) => variable.clone(),
                None if state.complete => {
                    Variable { content: Content::Unset, exported: None, readonly: false, special: false }
                }
                None => Variable::unknown(&name),
            };
            let (a, b) = (before(self), before(other));
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

    /// What may be open counts as open.
    fn merge_descriptors(&mut self, other: &ShellState) {
        if self.descriptors.is_same(&other.descriptors) || self.descriptors == other.descriptors {
            return;
        }
        let all = self.descriptors.to_mut();
        for (number, opened) in
            other.descriptors.iter().filter(|(number, _)| !all.contains_key(number)).collect::<Vec<_>>()
        {
            all.insert(*number, opened.clone());
        }
        for (number, opened) in all.iter_mut() {
            let same = other.descriptors.get(number) == Some(&*opened);
            match opened {
                _ if same => {}
                Opened::File { sure, .. } => *sure = false,
                Opened::Source(input) => *input = Input::Unseen(None),
            }
        }
    }

    fn merge_options(&mut self, other: &ShellState) {
        // An option that may be on counts as on where that makes less certain.
        if self.errexit != other.errexit {
            self.errexit = ErrexitState::Perhaps;
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
    }

    /// Names that stand for other names, or for words, and functions that programs see.
    fn merge_names(&mut self, other: &ShellState) {
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
    }

    /// What runs for signals and at the end.
    fn merge_handlers(&mut self, other: &ShellState) {
        if self.traps != other.traps {
            self.or_traps(other.traps());
        }
        if self.handlers != other.handlers {
            let more: Vec<_> = other.handlers.iter().filter(|one| !self.handlers.contains(one)).cloned().collect();
            self.handlers.to_mut().extend(more);
            self.trap_snapshot = None;
        }
        self.trap_snapshot = self.trap_snapshot.take().filter(|_| other.trap_snapshot.is_some());
    }

    /// What the shell may run when it ends; one of them always.
    pub(crate) fn traps(&self) -> Vec<Option<Word>> {
        self.traps.as_ref().map_or_else(|| vec![None], |traps| (**traps).clone())
    }

    /// Whether it may run something when it ends.
    pub(crate) fn has_traps(&self) -> bool {
        self.traps.as_ref().is_some_and(|traps| traps.iter().any(Option::is_some))
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
    pub(crate) fn is_handled(&self, snapshot: &TrapSnapshot) -> bool {
        self.stamp == snapshot.stamp && self.differs_in_variables_only(snapshot)
    }

    fn differs_in_variables_only(&self, snapshot: &TrapSnapshot) -> bool {
        self.functions_stamp == snapshot.functions_stamp
            && self.files.stamp == snapshot.files_stamp
            && self.folders == snapshot.folders
            && self.arguments == snapshot.arguments
            && self.alias_texts == snapshot.alias_texts
    }

    /// The variables that have changed since; none if it is more than variables.
    pub(crate) fn changed_since(&self, snapshot: &TrapSnapshot) -> Option<Vec<String>> {
        self.differs_in_variables_only(snapshot).then(|| self.vars.differences(&snapshot.vars).into_iter().collect())
    }

    /// The functions whose names are in a text, wherever they stand in it.
    pub(crate) fn functions_in(&self, text: &str) -> Vec<(&str, &Function)> {
        let found = self.functions.iter().filter(|(name, _)| text.contains(name.as_str()));
        found.map(|(name, (function, _))| (name.as_str(), &**function)).collect()
    }

    fn merge_functions(&mut self, other: &ShellState, stamp: u64) {
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

    /// The same number as long as the functions are the same.
    pub(crate) fn functions_stamp(&self) -> u64 {
        self.functions_stamp
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
    fn has_functions_of(&self, other: &ShellState) -> bool {
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
    pub(crate) fn covers(&self, other: &ShellState) -> bool {
        self.vars == other.vars
            && self.folders == other.folders
            && self.files.is_as(&other.files)
            && self.input == other.input
            && self.tracked == other.tracked
            && self.arguments == other.arguments
            && self.option_at == other.option_at
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
