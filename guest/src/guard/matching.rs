//! Whether a rule fires on a command, and if not, which of its conditions did not hold.

use std::cell::OnceCell;
use std::collections::HashMap;

use toolgate_shell::{Command, Effect, Joiner, Kind, Look, Presence, Runs, Script, Span, Value, Why};

use super::invocation::{Grammars, Invocation};
use super::pattern::{Pattern, Tried};
use super::place::{Map, Place, RealMap, is_elsewhere, is_product};
use super::rule::{Condition, EffectMatch, Flag, Rule, What, When, fits};

/// What others know of the surroundings.
pub trait World {
    /// For each path the one behind its links, in the same order; `None` where it cannot be told. An error is a
    /// reason to stop the call.
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String>;

    /// The branch that is checked out in a folder; the inner `None` for none, the outer one if it cannot be told.
    fn branch(&mut self, _folder: &str) -> Option<Option<String>> {
        None
    }

    /// Whether another component's predicate holds. The request is a JSON text.
    fn predicate(&mut self, _name: &str, _request: &str) -> Option<bool> {
        None
    }

    /// What is at a path, if anyone knows.
    fn look(&mut self) -> Option<std::rc::Rc<dyn Look>> {
        None
    }
}

/// Nothing is known: paths are judged as they are written.
#[derive(Debug)]
pub struct NoWorld;

impl World for NoWorld {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        Ok(vec![None; paths.len()])
    }
}

/// The first condition of a rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    Program,
    Subcommand,
    Flags(String),
    Without(String),
    Arguments(String),
    Count,
    Text,
    Assigns,
    Effects(String),
    Via,
    Neighbour(&'static str),
    Unseen,
    Pattern,
    Requires,
    Unless,
    When(String),
    Place,
    Never,
}

impl Miss {
    /// For a person, after "because".
    pub(crate) fn describe(&self) -> String {
        match self {
            Miss::Program => "it is about another program".into(),
            Miss::Subcommand => "it is about another subcommand".into(),
            Miss::Flags(names) => format!("none of {names} is given"),
            Miss::Without(name) => format!("{name} is given"),
            Miss::Arguments(pattern) => format!("no argument matches {pattern}"),
            Miss::Count => "it is about another number of arguments".into(),
            Miss::Text => "the words do not hold the text".into(),
            Miss::Assigns => "the variable is not set so".into(),
            Miss::Effects(what) => what.clone(),
            Miss::Via => "it runs through other programs".into(),
            Miss::Neighbour(side) => format!("no such program is {side} it in the pipeline"),
            Miss::Unseen => "what it runs can be read".into(),
            Miss::Pattern => "the pattern does not match".into(),
            Miss::Requires => "what it requires does not match".into(),
            Miss::Unless => "what excepts it matches".into(),
            Miss::When(what) => what.clone(),
            Miss::Place => "it works in another place".into(),
            Miss::Never => "the command never runs".into(),
        }
    }
}

/// A command of a text, with what rules ask of it, found out once.
pub(crate) struct Subject<'a> {
    pub(crate) command: &'a Command,
    pub(crate) index: usize,
    script: &'a Script,
    grammars: &'a Grammars,
    map: &'a Map<'a>,
    home: Option<&'a str>,
    look: Option<&'a dyn Look>,
    invocation: OnceCell<Option<Invocation<'a>>>,
    placed: OnceCell<Vec<Place>>,
    real_map: &'a OnceCell<Option<RealMap>>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        script: &'a Script,
        index: usize,
        grammars: &'a Grammars,
        map: &'a Map<'a>,
        home: Option<&'a str>,
        look: Option<&'a dyn Look>,
        real_map: &'a OnceCell<Option<RealMap>>,
    ) -> Self {
        let command = &script.commands[index];
        let (invocation, placed) = (OnceCell::new(), OnceCell::new());
        Subject { command, index, script, grammars, map, home, look, invocation, placed, real_map }
    }

    pub(crate) fn invocation(&self) -> Option<&Invocation<'a>> {
        self.invocation.get_or_init(|| Invocation::read(&self.command.words, self.grammars)).as_ref()
    }

    /// Where each of the effects happens.
    pub(crate) fn places(&self) -> &[Place] {
        self.placed.get_or_init(|| {
            let names = filter_names(self.command);
            self.command
                .effects
                .iter()
                .map(|effect| {
                    let written = self.map.of(&effect.path, effect.recursive);
                    let place = match self.behind_links(effect).unwrap_or(written) {
                        // What a stored script computes is its own, as with a program that cannot be read.
                        Place::Unknown if self.command.stored => Place::Workspace,
                        place => place,
                    };
                    let inside = matches!(place, Place::WorkspaceRoot | Place::Workspace);
                    match &names {
                        // What a search finds in the workspace, and only what a build makes again.
                        Some(names) if inside && !names.is_empty() && names.iter().all(|name| is_product(name)) => {
                            Place::Product
                        }
                        // What the same command takes away file by file is not the folder as a whole.
                        Some(names) if place == Place::WorkspaceRoot && !names.is_empty() => Place::WorkspaceSome,
                        Some(names) if place == Place::TemporaryRoot && !names.is_empty() => Place::Temporary,
                        _ => place,
                    }
                })
                .collect()
        })
    }

    /// Where an effect happens whose path leads elsewhere through links that are there; `None` if it does not.
    fn behind_links(&self, effect: &Effect) -> Option<Place> {
        let look = self.look?;
        let text = effect.path.text();
        if !text.starts_with('/') || effect.kind == Kind::Send {
            return None;
        }
        // A link is removed or made itself; what is below it is where it leads to.
        let itself = matches!(effect.kind, Kind::Delete | Kind::Move | Kind::Link) && !text.ends_with('/');
        let fixed = text.split(['*', '?', '[', '{', Value::HOLE]).next().unwrap_or_default();
        let whole = fixed.len() == text.len();
        let folder = if whole && !itself { fixed } else { fixed.rsplit_once('/').map_or("", |(folder, _)| folder) };
        if folder.is_empty() {
            return None;
        }
        let real = look.real(folder).filter(|real| real != folder)?;
        let rest = text.get(folder.len()..).unwrap_or_default();
        let text = format!("{real}{rest}");
        let path = match &effect.path {
            Value::Known(_) => Value::Known(text),
            Value::Pattern(_) => Value::Pattern(text),
            Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: text },
        };
        // The workspace and the home folder may be behind links themselves.
        let place = self.map.of(&path, effect.recursive);
        let known = self.real_map.get_or_init(|| self.map.behind(|path| look.real(path)));
        let through = known.as_ref().map_or(place, |map| map.as_map().of(&path, effect.recursive));
        is_elsewhere(through).then_some(through)
    }

    /// The commands before it in its pipeline, the nearest last, then those behind it.
    pub(crate) fn pipeline(&self) -> (Vec<&'a Command>, Vec<&'a Command>) {
        let group = self.command.group;
        let own = |command: &&Command| command.group == group;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut joiner = self.command.joiner;
        for command in self.script.commands[..self.index].iter().rev().filter(own) {
            if joiner != Joiner::Pipe {
                break;
            }
            joiner = command.joiner;
            before.push(command);
        }
        before.reverse();
        for command in self.script.commands[self.index + 1..].iter().filter(own) {
            if command.joiner != Joiner::Pipe {
                break;
            }
            after.push(command);
        }
        (before, after)
    }

    /// Whether a rule's conditions on the command hold, and the words that make them do.
    pub(crate) fn check(&self, what: &What) -> Result<Vec<Span>, Miss> {
        let command = self.command;
        if command.runs == Runs::Never {
            return Err(Miss::Never);
        }
        if !what.not_in.is_empty()
            && let Some(cwd) = &command.cwd
            && what.not_in.contains(&self.map.place(cwd))
            && !names_repository(command)
        {
            return Err(Miss::Place);
        }
        let mut spans = Vec::new();
        let word = |at: usize, spans: &mut Vec<Span>| {
            spans.extend(command.words.get(at).map(|word| word.span));
        };
        if !what.programs.is_empty() {
            let program = self.invocation().map(|found| found.program).ok_or(Miss::Program)?;
            if !what.programs.iter().any(|wanted| fits(wanted, program)) {
                return Err(Miss::Program);
            }
            word(0, &mut spans);
        }
        let needs_words = !what.subcommands.is_empty()
            || !what.flags.is_empty()
            || !what.without.is_empty()
            || !what.arguments.is_empty()
            || what.no_argument.is_some()
            || what.count != (0, None);
        if needs_words {
            let found = self.invocation().ok_or(Miss::Program)?;
            let mut from = 0;
            if !what.subcommands.is_empty() {
                let fit = what.subcommands.iter().find_map(|wanted| found.subcommand(wanted));
                from = fit.ok_or(Miss::Subcommand)?;
                found.operands[..from].iter().for_each(|operand| word(operand.word, &mut spans));
            }
            for group in &what.flags {
                let given = group.iter().find_map(|flag| given(found, flag));
                let at = given.ok_or_else(|| Miss::Flags(list(group)))?;
                word(at, &mut spans);
            }
            if let Some(flag) = what.without.iter().find(|flag| given(found, flag).is_some()) {
                return Err(Miss::Without(flag.name.clone()));
            }
            let operands = found.operands.get(from..).unwrap_or_default();
            for pattern in &what.arguments {
                let fit = operands.iter().find(|operand| operand.text.is_some_and(|text| pattern.matches(text)));
                let fit = fit.ok_or_else(|| Miss::Arguments(pattern.source().to_owned()))?;
                word(fit.word, &mut spans);
            }
            if let Some(pattern) = &what.no_argument
                && operands
                    .iter()
                    .any(|operand| operand.text.is_some_and(|text| matches!(pattern.find(text), Tried::Found(_))))
            {
                return Err(Miss::Arguments(format!("nothing but {}", pattern.source())));
            }
            let (least, most) = what.count;
            if operands.len() < least || most.is_some_and(|most| operands.len() > most) {
                return Err(Miss::Count);
            }
        }
        if !what.via.is_empty() && !command.via.iter().any(|via| what.via.iter().any(|wanted| fits(wanted, via))) {
            return Err(Miss::Via);
        }
        if what.unseen && (!command.unseen_script || command.stored) {
            return Err(Miss::Unseen);
        }
        if !what.after.is_empty() || !what.before.is_empty() {
            let (before, after) = self.pipeline();
            for (wanted, there, side) in [(&what.after, before, "before"), (&what.before, after, "after")] {
                if wanted.is_empty() {
                    continue;
                }
                let fit = there.iter().find(|other| {
                    other.program().is_some_and(|program| wanted.iter().any(|wanted| fits(wanted, program)))
                });
                spans.push(fit.ok_or(Miss::Neighbour(side))?.span);
            }
        }
        if let Some(pattern) = &what.assigns {
            let own = command.assignments.iter().map(|(name, word)| (name.as_str(), word.value.text()));
            let fit = own.filter(|(name, value)| pattern.matches(&format!("{name}={value}"))).count();
            let inherited = || {
                let mut all = command.env.iter().filter_map(|(name, value)| Some((name, value?)));
                all.any(|(name, value)| pattern.matches(&format!("{name}={value}")))
            };
            if fit == 0 && (command.words.is_empty() || !inherited()) {
                return Err(Miss::Assigns);
            }
        }
        if let Some(pattern) = &what.text {
            let at = command.words.iter().skip(1).position(|word| pattern.matches(word.value.text()));
            match at {
                Some(at) => word(at + 1, &mut spans),
                None if command.input().is_some_and(|input| pattern.matches(input)) => {}
                None => return Err(Miss::Text),
            }
        }
        for wanted in &what.effects {
            let found = self.effects(wanted);
            if found.is_empty() {
                return Err(Miss::Effects(describe(wanted)));
            }
            if spans.is_empty() {
                word(0, &mut spans);
            }
            spans.extend(found.iter().map(|(effect, _)| effect.span));
        }
        spans.dedup();
        if spans.is_empty() {
            spans.push(command.span);
        }
        Ok(spans)
    }

    /// The effects that a rule is about, with their places.
    pub(crate) fn effects(&self, wanted: &EffectMatch) -> Vec<(&'a Effect, Place)> {
        let command = self.command;
        let places = self.places();
        let fit = command.effects.iter().zip(places).filter(|(effect, place)| {
            let kind = wanted.kinds.contains(&effect.kind) && !is_implied(self.command, effect);
            let depth = wanted.recursive.is_none_or(|recursive| recursive == wide(effect));
            kind && depth && self.lies(wanted, effect, **place) && !(wanted.existing && self.is_new(effect))
        });
        fit.map(|(effect, place)| (effect, *place)).collect()
    }

    fn lies(&self, wanted: &EffectMatch, effect: &Effect, place: Place) -> bool {
        let under = |rules: &super::path_rules::PathRules| !rules.covering(&effect.path, self.home).is_empty();
        // What is excepted is so for certain: a glob only where its folder is.
        let surely = |rules: &super::path_rules::PathRules| match &effect.path {
            Value::Known(_) => under(rules),
            Value::Pattern(text) | Value::Unknown { shape: text, .. } => {
                let fixed = text.split(['*', '?', '[', '{', Value::HOLE]).next().unwrap_or_default();
                let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
                !folder.is_empty() && !rules.covering(&Value::Known(folder.to_owned()), self.home).is_empty()
            }
        };
        if wanted.not_places.contains(&place) {
            return false;
        }
        let anywhere = wanted.places.is_empty() && wanted.paths.is_none();
        let meant = anywhere || wanted.places.contains(&place) || wanted.paths.as_ref().is_some_and(under);
        // Last, as it costs most.
        meant && !wanted.not.as_ref().is_some_and(surely)
    }

    /// Whether an earlier command of the text makes this file, or a folder above it.
    fn made_before(&self, path: &str) -> bool {
        let makes = |effect: &Effect| {
            matches!(effect.kind, Kind::Create | Kind::Write | Kind::Append | Kind::Link)
                && effect.path.known().is_some_and(|made| {
                    path.strip_prefix(made).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
        };
        self.script.commands[..self.index].iter().flat_map(|command| &command.effects).any(makes)
    }

    /// Whether nothing was there before the text ran, so that nothing can be lost.
    fn is_new(&self, effect: &Effect) -> bool {
        match (&effect.path, self.look) {
            (Value::Known(path), Some(look)) if look.look(path) == Presence::Absent => {
                // What was not there and is removed was made by the text, or it is not what somebody thinks it is.
                !matches!(effect.kind, Kind::Delete | Kind::Move) || self.made_before(path)
            }
            (Value::Unknown { why: Why::CommandOutput, shape }, _) if shape.starts_with("/tmp/tmp.") => true,
            // Nothing is in a folder that is not there, unless the text puts another in its place.
            (Value::Pattern(path) | Value::Unknown { shape: path, .. }, Some(look)) => {
                let fixed = path.split(['*', '?', '[', '{', Value::HOLE]).next().unwrap_or_default();
                let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
                !matches!(effect.kind, Kind::Delete | Kind::Move)
                    && folder.starts_with('/')
                    && look.look(folder) == Presence::Absent
                    && !self.put_before(folder)
            }
            _ => false,
        }
    }

    /// Whether an earlier command of the text moves or links something to this path, or to one above it.
    fn put_before(&self, path: &str) -> bool {
        let earlier = self.script.commands[..self.index].iter().flat_map(|command| {
            let moves = command.effects.iter().any(|effect| effect.kind == Kind::Move);
            command.effects.iter().filter(move |effect| moves || effect.kind == Kind::Link)
        });
        earlier.into_iter().any(|effect| match &effect.path {
            Value::Known(put) => std::path::Path::new(path).starts_with(put),
            // It may be this one.
            _ => true,
        })
    }
}

/// Programs that work on files which none of their words names, because that is what they are there for.
const BUILDERS: &[&str] = &[
    "git", "hg", "svn", "jj", "make", "gmake", "ninja", "cmake", "meson", "cargo", "npm", "npx", "yarn", "pnpm", "bun",
    "go", "mvn", "gradle", "gradlew", "just", "bazel", "tox", "nox", "pytest", "pip", "poetry", "uv", "bundle", "rake",
    "composer", "dotnet", "swift", "mix", "rebar3", "stack", "cabal", "dune", "opam", "zig", "sbt", "lein", "deno",
    "patch",
];

/// Whether an effect is on what no word names: git's own files, what a build makes.
pub(crate) fn is_implied(command: &Command, effect: &Effect) -> bool {
    let (Value::Pattern(pattern) | Value::Unknown { shape: pattern, .. }) = &effect.path else { return false };
    command.program().is_some_and(|program| BUILDERS.contains(&program))
        && (effect.span == command.span || pattern.ends_with("/**"))
}

/// Whether git is told to work on a repository that may be another than that of its directory.
fn names_repository(command: &Command) -> bool {
    const OPTIONS: &[&str] = &["--git-dir", "--work-tree", "--separate-git-dir"];
    const VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];
    let words = command.words.iter().map(|word| word.value.text());
    words.into_iter().any(|word| OPTIONS.iter().any(|option| word.starts_with(option)))
        || VARIABLES.iter().any(|name| command.env.get(name).is_some())
        || command.assignments.iter().any(|(name, _)| VARIABLES.contains(&name.as_str()))
}

/// Whether more than one file is meant.
fn wide(effect: &Effect) -> bool {
    effect.recursive || matches!(effect.path, Value::Pattern(_))
}

/// The globs by which a search picks files by name. `None` if it is no search.
fn filter_names(command: &Command) -> Option<Vec<&str>> {
    if command.program() != Some("find") {
        return None;
    }
    let words: Vec<&str> = command.words.iter().map(|word| word.value.text()).collect();
    let mut names = Vec::new();
    // The names before the bracket, and before the alternative within it, that is open.
    let mut open: Option<usize> = None;
    for (at, word) in words.iter().enumerate() {
        match *word {
            "-name" | "-iname" => names.extend(words.get(at + 1)),
            "(" if open.is_none() => open = Some(names.len()),
            // Alternatives of which each has a name.
            "-o" | "-or" if open.is_some_and(|before| names.len() > before) => open = Some(names.len()),
            ")" if open.is_some_and(|before| names.len() > before) => open = None,
            // What it says is more than names, or their opposite.
            "!" | "-not" | "-o" | "-or" | "," | "(" | ")" => return Some(Vec::new()),
            // Whatever name a folder of this kind has, it is empty.
            "-empty" => names.push("x.tmp"),
            _ => {}
        }
    }
    Some(names)
}

fn given(found: &Invocation<'_>, flag: &Flag) -> Option<usize> {
    let fit = found.options.iter().find(|given| {
        found.is(given, &flag.name)
            && flag.value.as_ref().is_none_or(|value| given.value.is_some_and(|text| value.matches(text)))
    });
    fit.map(|given| given.word)
}

fn list(flags: &[Flag]) -> String {
    flags.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn describe(wanted: &EffectMatch) -> String {
    let kinds: Vec<String> = wanted.kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect();
    let places: Vec<&str> = wanted.places.iter().map(|place| place.describe()).collect();
    let places = if places.is_empty() { "such a path".to_owned() } else { format!("what is {}", places.join(" or ")) };
    format!("it does not {} {places}", kinds.join(" or "))
}

/// Whether something holds; `None` if it cannot be told.
type Truth = Option<bool>;

/// The surroundings of one command, for `when`.
pub(crate) struct Surroundings<'a, 'w> {
    pub(crate) command: &'a Command,
    pub(crate) workspace: &'a str,
    pub(crate) world: &'w mut dyn World,
    /// The branches that were asked for.
    pub(crate) branches: &'w mut HashMap<String, Option<Option<String>>>,
    /// The names of trackers, in the order of the command's values.
    pub(crate) trackers: &'a [String],
}

impl Surroundings<'_, '_> {
    /// Whether a rule with these conditions applies here.
    pub(crate) fn hold(&mut self, when: &When) -> Result<(), Miss> {
        match self.all(when) {
            Some(true) => Ok(()),
            Some(false) => Err(Miss::When("the surroundings are others".into())),
            None if when.on_unknown => Ok(()),
            None => Err(Miss::When("the surroundings cannot be told, and the rule allows that".into())),
        }
    }

    /// As Kleene has it: one that does not hold decides, else one that cannot be told.
    fn all(&mut self, when: &When) -> Truth {
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
            Condition::Predicate(name, arguments) => {
                let words: Vec<Option<&str>> = command.words.iter().map(toolgate_shell::Word::known).collect();
                let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
                let request = serde_json::json!({
                    "schema": 1, "arguments": arguments, "words": words, "cwd": command.cwd,
                    "workspace_root": self.workspace,
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
        let at = self.trackers.iter().position(|name| name == super::branch::TRACKER)?;
        let value = command.tracked.get(at)?.as_ref()?;
        let mut all = Vec::new();
        for one in value.split('\n') {
            all.push(if one == super::branch::AS_IT_IS { self.as_it_is()? } else { one.to_owned() });
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

/// Whether a rule's further patterns hold on a text that its first one matched.
pub(crate) fn confirmed(rule: &Rule, text: &str) -> Result<(), Miss> {
    if rule.requires.as_ref().is_some_and(|pattern| !pattern.matches(text)) {
        return Err(Miss::Requires);
    }
    if rule.unless.as_ref().is_some_and(|pattern| matches!(pattern.find(text), Tried::Found(_))) {
        return Err(Miss::Unless);
    }
    Ok(())
}

/// Whether an effect is one that takes something away or changes it.
pub(crate) fn is_change(kind: Kind) -> bool {
    !matches!(kind, Kind::Read | Kind::Mention | Kind::Execute | Kind::Send)
}
