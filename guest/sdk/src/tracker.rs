//! What a plugin follows through a shell text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Word;

/// A tracker, or with [`Follows::extending`] modifiers for one that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Follows {
    #[serde(skip)]
    pub(crate) extends: bool,
    pub(crate) name: String,
    pub(crate) initial: Option<String>,
    pub(crate) subshell: Subshell,
    pub(crate) modifiers: Vec<Modifier>,
}

impl Follows {
    /// A tracker of this name, which rules ask for, unknown before the first command.
    pub fn new(name: impl Into<String>) -> Self {
        let (initial, subshell) = (None, Subshell::Isolated);
        Follows { extends: false, name: name.into(), initial, subshell, modifiers: Vec::new() }
    }

    /// Modifiers of a tracker that is built in, like `cwd`, or another plugin's.
    pub fn extending(name: impl Into<String>) -> Self {
        Follows { extends: true, ..Follows::new(name) }
    }

    /// With a value before the first command.
    #[must_use]
    pub fn initial(mut self, value: impl Into<String>) -> Self {
        self.initial = Some(value.into());
        self
    }

    /// With changes inside a subshell that last.
    #[must_use]
    pub fn propagating(mut self) -> Self {
        self.subshell = Subshell::Propagate;
        self
    }

    /// With a modifier. Of several for one program the first one counts.
    #[must_use]
    pub fn modifier(mut self, modifier: Modifier) -> Self {
        self.modifiers.push(modifier);
        self
    }

    /// The JSON text that `trackers.describe` of the contract answers.
    pub fn description(list: &[Follows]) -> String {
        let (extensions, trackers): (Vec<_>, Vec<_>) = list.iter().partition(|one| one.extends);
        let extension = |one: &&Follows| serde_json::json!({ "tracker": one.name, "modifiers": one.modifiers });
        let extensions: Vec<_> = extensions.iter().map(extension).collect();
        serde_json::json!({ "schema": 1, "trackers": trackers, "extensions": extensions }).to_string()
    }
}

/// What becomes of changes inside a subshell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subshell {
    /// They end with it.
    Isolated,
    /// They last.
    Propagate,
}

/// For how long a change holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// For the commands after it, as with `cd`.
    Sequential,
    /// For the command itself, as with `git -C`.
    PerCommand,
}

/// A program that changes what a tracker follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Modifier {
    program: String,
    scope: Scope,
    reads: Vec<String>,
}

impl Modifier {
    /// What holds for the commands after it. The program is named without its folder.
    pub fn sequential(program: impl Into<String>) -> Self {
        Modifier { program: program.into(), scope: Scope::Sequential, reads: Vec::new() }
    }

    /// What holds for the command itself.
    pub fn per_command(program: impl Into<String>) -> Self {
        Modifier { program: program.into(), scope: Scope::PerCommand, reads: Vec::new() }
    }

    /// Also wants to know this: the name of a tracker, or `env.NAME` for a variable.
    #[must_use]
    pub fn reading(mut self, what: impl Into<String>) -> Self {
        self.reads.push(what.into());
        self
    }
}

/// A command that changes what a tracker follows. `None` always stands for what is unknown.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ModifierRequest {
    /// The tracker.
    pub tracker: String,
    /// The program, as its modifier names it.
    pub program: String,
    /// Its arguments.
    pub words: Vec<Word>,
    /// The value before it.
    pub before: Option<String>,
    /// What the modifier reads; none also for a variable that is unset.
    pub state: BTreeMap<String, Option<String>>,
}

impl ModifierRequest {
    /// The values of the arguments.
    pub fn args(&self) -> Vec<Option<&str>> {
        self.words.iter().map(|word| word.value.as_deref()).collect()
    }

    /// The value of something that the modifier reads.
    pub fn state(&self, what: &str) -> Option<&str> {
        self.state.get(what)?.as_deref()
    }
}
