//! Whether the surroundings of a command are those that a rule's `when` asks for.

use std::collections::HashMap;

use toolgate_shell::Command;

use super::branch;
use super::events::Entry;
use super::mismatch::Mismatch;
use super::pattern::{Pattern, Tried};
use super::rule::{Condition, Conditions};
use super::world::GuardHost;
use crate::call::Events;

/// Whether something holds; `None` if it cannot be told.
type Truth = Option<bool>;

/// The surroundings of one command, for `when`.
pub(crate) struct Surroundings<'a, 'w> {
    pub(crate) command: &'a Command,
    /// The text that the command is in; none if the call runs no text.
    pub(crate) source: Option<&'a str>,
    pub(crate) workspace: &'a str,
    pub(crate) home: Option<&'a str>,
    pub(crate) world: &'w mut dyn GuardHost,
    /// The branches that were asked for.
    pub(crate) branches: &'w mut HashMap<String, Option<Option<String>>>,
    /// The names of trackers, in the order of the command's values.
    pub(crate) trackers: &'a [String],
    /// What has happened in the session before this call, if that is known.
    pub(crate) events: Option<&'a Events>,
    /// What the same text has done before this command.
    pub(crate) here: &'a [Entry],
}

impl Surroundings<'_, '_> {
    /// Whether a rule with these conditions applies here.
    pub(crate) fn hold(&mut self, when: &Conditions) -> Result<(), Mismatch<'static>> {
        match self.all(when) {
            Some(true) => Ok(()),
            Some(false) => Err(Mismatch::Conditions("the `when` conditions do not hold")),
            None if when.on_unknown => Ok(()),
            None => Err(Mismatch::Conditions("the `when` conditions are unknown, and the rule then passes")),
        }
    }

    /// As Kleene has it: one that does not hold decides, else one that cannot be told.
    fn all(&mut self, when: &Conditions) -> Truth {
        let mut known = true;
        for condition in &when.conditions {
            match self.one(condition) {
                Some(false) => return Some(false),
                None => known = false,
                Some(true) => {}
            }
        }
        known.then_some(true)
    }

    fn one(&mut self, condition: &Condition) -> Truth {
        let command = self.command;
        // A pattern that cannot be tried to its end says neither.
        let any = |patterns: &[Pattern], text: &str| -> Truth {
            let tried: Vec<Tried> = patterns.iter().map(|pattern| pattern.find(text)).collect();
            match () {
                () if tried.iter().any(|one| matches!(one, Tried::Found(_))) => Some(true),
                () if tried.iter().all(|one| *one == Tried::No) => Some(false),
                () => None,
            }
        };
        match condition {
            Condition::Cwd(patterns) => any(patterns, command.cwd.as_deref()?),
            Condition::Workspace(patterns) => any(patterns, self.workspace),
            Condition::Variable(name, patterns) => match command.env.get(name) {
                Some(value) => any(patterns, value?),
                None => command.env.unset().any(|unset| unset == name).then_some(false),
            },
            Condition::Branch(patterns) => {
                let branches = self.branch()?;
                let fit = branches.iter().map(|branch| any(patterns, branch)).collect::<Option<Vec<bool>>>()?;
                let fit = fit.into_iter().filter(|fit| *fit).count();
                match fit {
                    0 => Some(false),
                    fit if fit == branches.len() => Some(true),
                    _ => None,
                }
            }
            Condition::Tracker(name, patterns) => {
                let at = self.trackers.iter().position(|known| known == name)?;
                any(patterns, command.tracked.get(at)?.as_ref()?)
            }
            Condition::Missing(missing) => missing.holds(self.events, self.here),
            Condition::Predicate(name, arguments) => {
                let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
                let request = serde_json::json!({
                    "schema": 1, "arguments": arguments, "workspace_root": self.workspace, "home": self.home,
                    "command": self.source.map(|source| crate::command_json::command(command, source, self.trackers)),
                });
                self.world.predicate(name, &request.to_string())
            }
            Condition::Not(when) => match self.all(when) {
                Some(held) => Some(!held),
                None if when.on_unknown => None,
                None => Some(false),
            },
        }
    }

    /// The branches that may be checked out at the command: as the text left it, else as it is; an empty text for none.
    fn branch(&mut self) -> Option<Vec<String>> {
        let command = self.command;
        let at = self.trackers.iter().position(|name| name == branch::TRACKER)?;
        let value = command.tracked.get(at)?.as_ref()?;
        let mut all = Vec::new();
        for one in value.split('\n') {
            all.push(if one == branch::AS_IT_IS { self.as_it_is()? } else { one.to_owned() });
        }
        Some(all)
    }

    fn as_it_is(&mut self) -> Option<String> {
        let folder = self.command.cwd.as_ref()?;
        let known = match self.branches.get(folder) {
            Some(known) => known.clone(),
            None => {
                let asked = self.world.branch(folder);
                self.branches.insert(folder.clone(), asked.clone());
                asked
            }
        };
        known.map(Option::unwrap_or_default)
    }
}
