//! What a rule is. Reading one from YAML is in `read`, trying one on a command in `matching`.

use std::rc::Rc;

use toolgate_shell::{EffectKind, Variables};

use super::events::Missing;
use super::fields::FieldOf;
use super::native_rule::NativeRule;
use super::path_rules::PathRules;
use super::path_zone::PathZone;
use super::pattern::Pattern;
use super::rule_id::RuleId;
use super::severity::Severity;
use crate::call::Action;

/// A rule on commands.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    /// Whether nobody lifts it, as it keeps the gate itself or says that something cannot be judged.
    pub(crate) keeps_the_gate: bool,
    pub(crate) action: Action,
    pub(crate) reason: String,
    /// What would be fine in its place.
    pub(crate) instead: Option<String>,
    /// No comment lifts it, whatever the user's file says of others.
    pub(crate) no_override: bool,
    pub(crate) what: CommandMatcher,
    /// Tried on the resolved texts of a command, a pipeline and a list; one of several is enough.
    pub(crate) pattern: Option<Pattern>,
    /// The pattern is tried on the text as it was written.
    pub(crate) raw: bool,
    /// The field of a file tool that the pattern is tried on, in place of a command.
    pub(crate) field: Option<FieldOf>,
    /// Must match the same text as well.
    pub(crate) requires: Option<Pattern>,
    /// Must not match it.
    pub(crate) unless: Option<Pattern>,
    pub(crate) when: Option<Conditions>,
    pub(crate) tests: Vec<Test>,
    pub(crate) line: Option<u32>,
    /// The code that says when it fires, beside what its keys say.
    pub(crate) native: Option<NativeRule>,
    pub(crate) if_unset: IfUnset,
    /// How early its findings are told; that of its pack if it says none itself.
    pub(crate) severity: Option<Severity>,
    /// It need not ask if all that the call changes was saved before.
    pub(crate) recoverable: bool,
}

/// What counts of a rule that only fires if variables that nothing sets are empty: `rm -rf "$X/"`. Such a rule asks at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IfUnset {
    /// It counts where the program itself was not known.
    #[default]
    Program,
    /// It always counts: too much would be lost.
    Always,
    /// It counts where a text has its own default for a variable as well: `${X:-/srv}`.
    Default,
    /// It counts where a name in a path is known in part as well: `~/.ssh$X/config` is what the known part says, `$X/run`
    /// rather not.
    PartialName,
    /// It does not: what cannot be read if something else holds that is not known says nothing.
    Never,
}

impl Rule {
    /// Whether it says what it means, and not only how it is spelled.
    pub(crate) fn is_semantic(&self) -> bool {
        !self.what.is_empty() || self.when.is_some() && self.pattern.is_none()
    }

    /// Whether nothing but code says when it fires.
    pub(crate) fn is_only_code(&self) -> bool {
        self.native.is_some() && self.what.is_empty() && self.pattern.is_none()
    }

    /// Why it fires, what it is about here, and what would be fine.
    pub(crate) fn reason_about(&self, about: &str) -> String {
        let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
        self.with_instead(&format!("{}{about}", self.reason))
    }

    /// A reason, and what would be fine by the rule.
    pub(crate) fn with_instead(&self, reason: &str) -> String {
        match &self.instead {
            Some(instead) => format!("{reason}; instead: {instead}"),
            None => reason.to_owned(),
        }
    }
}

/// A command of a rule file that shows what a rule does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The command.
    pub command: String,
    /// Whether the rule fires on it.
    pub fires: bool,
    /// The events that have happened in the session before, in the same turn; `None` if that is not known.
    pub after: Option<Vec<String>>,
    /// The line that it stands in, from 1.
    pub line: Option<u32>,
}

/// What a command must be for a rule to fire: everything that is given here.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandMatcher {
    /// One of these programs, without their folder; `*` stands for any number of characters.
    pub(crate) programs: Vec<String>,
    /// One of these subcommands.
    pub(crate) subcommands: Vec<Vec<String>>,
    /// One option of each group.
    pub(crate) flags: Vec<Vec<Flag>>,
    /// None of these options, unless it is taken back: `--dry-run=false`, `-n --no-dry-run`.
    pub(crate) without: Vec<Flag>,
    /// An operand after the subcommand that matches each of these.
    pub(crate) arguments: Vec<Pattern>,
    /// No operand that matches this.
    pub(crate) no_argument: Option<Pattern>,
    /// Not if there are operands and every one of them matches this.
    pub(crate) unless_arguments: Option<Pattern>,
    /// Not on the data of a test on this machine.
    pub(crate) unless_test: bool,
    /// At least, and at most, so many operands after the subcommand.
    pub(crate) count: (usize, Option<usize>),
    /// A word of the command, or what it reads from standard input, matches all of these.
    pub(crate) texts: Vec<Pattern>,
    /// What is written to a file matches.
    pub(crate) content: Option<Pattern>,
    /// A variable is set for it that matches, as `NAME=VALUE`.
    pub(crate) assigns: Option<Assigns>,
    /// An effect of each of these kinds.
    pub(crate) effects: Vec<EffectMatch>,
    /// It was found inside one of these programs.
    pub(crate) via: Vec<String>,
    /// One of these is before it in its pipeline.
    pub(crate) after: Vec<String>,
    /// One of these is behind it in its pipeline.
    pub(crate) before: Vec<String>,
    /// What it runs cannot be read.
    pub(crate) unseen: bool,
    /// The directory it works in does not lie in one of these places.
    pub(crate) not_in: Vec<PathZone>,
}

impl CommandMatcher {
    /// Gives back the memory that reading it left over: every rule is part of the image that a cold start maps.
    pub(crate) fn shrink(&mut self) {
        self.programs.shrink_to_fit();
        self.subcommands.shrink_to_fit();
        self.subcommands.iter_mut().for_each(Vec::shrink_to_fit);
        self.flags.shrink_to_fit();
        self.flags.iter_mut().for_each(Vec::shrink_to_fit);
        self.without.shrink_to_fit();
        self.arguments.shrink_to_fit();
        self.effects.shrink_to_fit();
        for list in [&mut self.via, &mut self.after, &mut self.before] {
            list.shrink_to_fit();
        }
        for effect in &mut self.effects {
            effect.kinds.shrink_to_fit();
            effect.places.shrink_to_fit();
            effect.not_places.shrink_to_fit();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let CommandMatcher {
            programs,
            subcommands,
            flags,
            without,
            arguments,
            no_argument,
            unless_arguments,
            unless_test,
            count,
            texts,
            content,
            assigns,
            effects,
            via,
            after,
            before,
            unseen,
            not_in,
        } = self;
        programs.is_empty()
            && subcommands.is_empty()
            && flags.is_empty()
            && without.is_empty()
            && arguments.is_empty()
            && no_argument.is_none()
            && unless_arguments.is_none()
            && !unless_test
            && *count == (0, None)
            && texts.is_empty()
            && content.is_none()
            && assigns.is_none()
            && effects.is_empty()
            && via.is_empty()
            && after.is_empty()
            && before.is_empty()
            && !unseen
            && not_in.is_empty()
    }
}

/// A pattern for `NAME=VALUE`.
#[derive(Clone, Debug)]
pub(crate) struct Assigns {
    pub(crate) pattern: Pattern,
    /// What the names begin with, if that is said: a command has few variables of these names among very many.
    names: Option<Vec<String>>,
}

impl Assigns {
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let pattern = Pattern::new(source)?;
        let name = |beginning: String| beginning.split('=').next().unwrap_or_default().to_owned();
        let names = pattern.beginnings().map(|beginnings| {
            let mut names: Vec<String> = beginnings.into_iter().map(name).collect();
            names.sort_unstable();
            names.dedup();
            names
        });
        Ok(Assigns { pattern, names })
    }

    /// The variables that may fit, with their values as far as they are known.
    pub(crate) fn among<'v>(&'v self, all: &'v Variables) -> Box<dyn Iterator<Item = (&'v str, Option<&'v str>)> + 'v> {
        let Some(names) = &self.names else { return Box::new(all.iter()) };
        if all.count() < names.len() {
            return Box::new(all.iter().filter(move |(name, _)| names.iter().any(|wanted| name.starts_with(wanted))));
        }
        Box::new(names.iter().flat_map(|name| all.beginning(name)))
    }
}

/// An option: `--force`, `-f`, `-delete`; with a pattern for its value after `=`.
#[derive(Clone, Debug)]
pub(crate) struct Flag {
    pub(crate) name: String,
    pub(crate) value: Option<Pattern>,
}

/// What happens to which paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct EffectMatch {
    pub(crate) kinds: Vec<EffectKind>,
    pub(crate) places: Vec<PathZone>,
    /// Globs, as path rules have them.
    pub(crate) paths: Option<Rc<PathRules>>,
    /// Not these.
    pub(crate) not: Option<Rc<PathRules>>,
    pub(crate) not_places: Vec<PathZone>,
    /// Only, or not, with everything below.
    pub(crate) recursive: Option<bool>,
    /// Only of what may be there before the text runs.
    pub(crate) existing: bool,
    /// Only of paths that are named in full.
    pub(crate) exact: bool,
    /// Only where their content may come to light: not of a key that a program works with, nor of a query.
    pub(crate) shown: bool,
    /// On another machine or in a container, and not here.
    pub(crate) elsewhere: bool,
}

/// Conditions on the surroundings: all of them.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) conditions: Vec<Condition>,
    /// Whether a rule fires where it cannot be told.
    pub(crate) on_unknown: bool,
}

impl Conditions {
    /// Whether there is such a condition, behind `not` too.
    pub(crate) fn any(&self, is_such: &dyn Fn(&Condition) -> bool) -> bool {
        self.conditions.iter().any(|condition| match condition {
            Condition::Not(when) => when.any(is_such),
            condition => is_such(condition),
        })
    }

    /// Whether one asks which events there are.
    pub(crate) fn ask_for_events(&self) -> bool {
        self.any(&|condition| matches!(condition, Condition::Missing(_)))
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// One of these matches the directory of the command.
    Cwd(Vec<Pattern>),
    /// One of these matches the branch that is checked out there.
    Branch(Vec<Pattern>),
    /// One of these matches the workspace's folder.
    Workspace(Vec<Pattern>),
    /// One of these matches the variable's value.
    Variable(String, Vec<Pattern>),
    /// One of these matches the value of another component's tracker.
    Tracker(String, Vec<Pattern>),
    /// No such event has happened.
    Missing(Missing),
    /// Another component's predicate holds; its arguments as JSON.
    Predicate(String, String),
    Not(Conditions),
}

/// Lifts a rule from some commands. Only a user's file has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exemption {
    /// Names of rules without their layer, or with it; `*` stands for any number of characters.
    pub(crate) rules: Vec<String>,
    pub(crate) what: CommandMatcher,
    pub(crate) pattern: Option<Pattern>,
    /// Of a path rule: these paths.
    pub(crate) paths: Option<PathRules>,
    pub(crate) when: Option<Conditions>,
}

impl Exemption {
    /// Whether it names rules and nothing else: those are lifted wherever they would fire.
    pub(crate) fn is_whole(&self) -> bool {
        self.what.is_empty() && self.pattern.is_none() && self.paths.is_none() && self.when.is_none()
    }
}
