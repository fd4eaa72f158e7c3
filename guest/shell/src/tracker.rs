//! State that is followed through a text besides the directory and the variables: a branch, a cluster, a profile.
//!
//! A tracker has a value, and modifiers that say what a program does to it. The two that are always there, `cwd` and
//! `env`, follow bash's own rules and are part of the walk; to `cwd` modifiers may be added for programs that change
//! the directory they work in.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use toolgate_shell_syntax::word::Word;

/// Names that are taken: the built-in ones, and one that hosts use.
const RESERVED: &[&str] = &["cwd", "env", "events"];

/// For how long a modifier's result holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// From the next command of the same shell on, as with `cd`.
    Sequential,
    /// For the command itself, as with `git -C`.
    PerCommand,
}

/// What becomes of changes inside a subshell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Subshell {
    /// They end with it.
    #[default]
    Isolated,
    /// They stay, as those of a file would.
    Propagate,
}

/// All state at a command, to read.
pub trait Snapshot {
    /// The value of a tracker, `cwd` included. None if it is unknown or there is no such tracker.
    fn tracked(&self, name: &str) -> Option<String>;
    /// The value of a variable. None if it is unknown or unset.
    fn variable(&self, name: &str) -> Option<String>;
}

type Apply = dyn Fn(&[Word], Option<&str>, &dyn Snapshot) -> Option<String>;

/// What a program does to a tracker.
#[derive(Clone)]
pub struct Modifier {
    /// For how long.
    pub scope: Scope,
    /// From a command's arguments, the value before it and all other state to the value after it. None makes it
    /// unknown.
    pub apply: Rc<Apply>,
}

impl Modifier {
    /// A change that lasts.
    pub fn sequential(apply: impl Fn(&[Word], Option<&str>, &dyn Snapshot) -> Option<String> + 'static) -> Self {
        Modifier { scope: Scope::Sequential, apply: Rc::new(apply) }
    }

    /// A change for one command.
    pub fn per_command(apply: impl Fn(&[Word], Option<&str>, &dyn Snapshot) -> Option<String> + 'static) -> Self {
        Modifier { scope: Scope::PerCommand, apply: Rc::new(apply) }
    }
}

impl fmt::Debug for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modifier").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// A value that programs change.
#[derive(Clone, Debug)]
pub struct Tracker {
    /// What it is asked for by.
    pub name: String,
    /// Before the first command. None if that is not known.
    pub initial: Option<String>,
    /// By the program's name without its folder; those of one program apply in turn.
    pub modifiers: BTreeMap<String, Vec<Modifier>>,
    /// What becomes of changes inside a subshell.
    pub subshell: Subshell,
    /// Whether the value is unknown after a program that is not known itself, as it may be any.
    pub cautious: bool,
}

impl Tracker {
    /// A tracker without modifiers, of which nothing is known at first.
    pub fn new(name: impl Into<String>) -> Self {
        Tracker {
            name: name.into(),
            initial: None,
            modifiers: BTreeMap::new(),
            subshell: Subshell::default(),
            cautious: false,
        }
    }

    /// With a value before the first command.
    #[must_use]
    pub fn initially(mut self, value: impl Into<String>) -> Self {
        self.initial = Some(value.into());
        self
    }

    /// With a modifier for a program.
    #[must_use]
    pub fn modifier(mut self, program: impl Into<String>, modifier: Modifier) -> Self {
        self.modifiers.entry(program.into()).or_default().push(modifier);
        self
    }
}

/// A tracker cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTaken(String);

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tracker named {} already exists; two cannot follow one state", self.0)
    }
}

impl std::error::Error for NameTaken {}

/// The trackers of a walk besides the built-in ones, and what was added to those.
#[derive(Clone, Debug, Default)]
pub struct Trackers {
    list: Vec<Tracker>,
    directory: BTreeMap<String, Modifier>,
}

impl Trackers {
    /// None but the built-in ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tracker. Two of one name would claim the same state, so that is an error.
    pub fn add(&mut self, tracker: Tracker) -> Result<(), NameTaken> {
        if RESERVED.contains(&tracker.name.as_str()) || self.list.iter().any(|known| known.name == tracker.name) {
            return Err(NameTaken(tracker.name));
        }
        self.list.push(tracker);
        Ok(())
    }

    /// Adds a program's modifier to a tracker that exists. The first one for a program stays; a later one is left
    /// out, and the warning says so.
    pub fn extend(&mut self, tracker: &str, program: &str, modifier: Modifier) -> Result<(), String> {
        let taken = || Err(format!("{tracker} has a modifier for {program} already, which stays"));
        if tracker == "cwd" {
            if BUILT_IN.contains(&program) || self.directory.contains_key(program) {
                return taken();
            }
            self.directory.insert(program.to_owned(), modifier);
            return Ok(());
        }
        let Some(known) = self.list.iter_mut().find(|known| known.name == tracker) else {
            return Err(format!("there is no tracker {tracker} to extend"));
        };
        if known.modifiers.contains_key(program) {
            return taken();
        }
        known.modifiers.insert(program.to_owned(), vec![modifier]);
        Ok(())
    }

    /// The names of the trackers besides the built-in ones, in the order of a command's values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|tracker| tracker.name.as_str())
    }

    /// The programs that were added to the directory's tracker.
    pub fn extended(&self) -> impl Iterator<Item = &str> {
        self.directory.keys().map(String::as_str)
    }

    pub(crate) fn list(&self) -> &[Tracker] {
        &self.list
    }

    /// Whether any of them is changed by a program in this way.
    pub(crate) fn change(&self, program: &str, scope: Scope) -> bool {
        let lists = self.list.iter().filter_map(|tracker| tracker.modifiers.get(program)).flatten();
        lists.chain(self.directory.get(program)).any(|modifier| modifier.scope == scope)
    }

    /// What was added to `cwd` for a program.
    pub(crate) fn directory(&self, program: &str) -> Option<&Modifier> {
        self.directory.get(program)
    }
}

/// Programs whose directory the walk follows itself.
const BUILT_IN: &[&str] = &["cd", "env", "git", "make", "popd", "pushd"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_once_and_the_first_modifier_stays() {
        let mut trackers = Trackers::new();
        assert_eq!(trackers.add(Tracker::new("branch")), Ok(()));
        assert_eq!(trackers.add(Tracker::new("branch")), Err(NameTaken("branch".into())));
        assert_eq!(trackers.add(Tracker::new("cwd")), Err(NameTaken("cwd".into())));
        let modifier = |value: &'static str| Modifier::sequential(move |_, _, _| Some(value.into()));
        assert!(trackers.extend("branch", "git", modifier("a")).is_ok());
        assert!(trackers.extend("branch", "git", modifier("b")).is_err());
        assert!(trackers.extend("none", "git", modifier("b")).is_err());
        assert!(trackers.extend("cwd", "git", modifier("b")).is_err());
        assert!(trackers.extend("cwd", "just", modifier("b")).is_ok());
    }
}
