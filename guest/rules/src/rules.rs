//! The rules that are in force: packs that came with Toolgate and what rule files added, indexed together so that a command is
//! only tried against rules that may be about it.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use toolgate_shell::{Trackers, Value};

use super::agent_folders;
use super::branch;
use super::fields::FieldOf;
use super::invocation::Grammars;
use super::matching::Tables;
use super::needs::{CommandTraits, Needs};
use super::observer::{Observer, Watching};
use super::packs;
use super::path_index::{Anchored, Index, covering_all};
use super::path_query::{self, PathQuery};
use super::path_rule::PathRule;
use super::path_rules::{Lists, PathRules};
use super::pattern::Prefilter;
use super::problem::Problem;
use super::read::{RuleFile, read};
use super::rule::{Condition, Conditions, Exemption, Rule, Test};
use super::rule_id::{Layer, Policy, RuleId};
use crate::call::Action;
use crate::extensions::Provided;

/// The rules of one pack or file.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The pack's name, or the file.
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) layer: Layer,
    /// The pack that came with Toolgate; none for a file.
    pub(crate) pack: Option<&'static packs::Pack>,
    pub(crate) on: bool,
    pub(crate) rules: Vec<Rule>,
    pub(crate) paths: PathRules,
    /// Rules that are only a pattern.
    patterns: Vec<usize>,
    /// Rules on the fields of file tools.
    fields: Vec<usize>,
    prefilter: OnceCell<Prefilter>,
}

impl Part {
    fn new(name: &str, layer: Layer, pack: Option<&'static packs::Pack>, file: &mut RuleFile) -> Self {
        let keeps_the_gate = pack.is_some_and(|pack| pack.keeps_the_gate);
        let mut rules = std::mem::take(&mut file.rules);
        let (mut patterns, mut fields) = (Vec::new(), Vec::new());
        rules.shrink_to_fit();
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.what.shrink();
            rule.keeps_the_gate = keeps_the_gate;
            rule.severity = rule.severity.or(pack.map(|pack| pack.severity));
            if rule.field.is_some() {
                fields.push(index);
            } else if !rule.is_only_code() && !rule.is_semantic() {
                patterns.push(index);
            }
        }
        let mut paths = std::mem::take(&mut file.paths);
        for path in paths.iter_mut().filter(|_| keeps_the_gate) {
            path.keeps_the_gate = true;
        }
        Part {
            name: name.to_owned(),
            about: std::mem::take(&mut file.about),
            layer,
            pack,
            on: true,
            rules,
            paths: PathRules::new(paths),
            patterns,
            fields,
            prefilter: OnceCell::new(),
        }
    }

    fn is_pack(&self) -> bool {
        self.pack.is_some()
    }

    /// Whether it is the pack that keeps the gate itself.
    fn keeps_the_gate(&self) -> bool {
        self.pack.is_some_and(|pack| pack.keeps_the_gate)
    }

    /// The rules whose pattern may match a text.
    pub(crate) fn patterns(&self, text: &str) -> impl Iterator<Item = &Rule> {
        let rules = || self.patterns.iter().filter_map(|index| self.rules.get(*index));
        let candidates = if self.patterns.is_empty() {
            Vec::new()
        } else {
            let patterns = || rules().filter_map(|rule| rule.pattern.as_ref());
            self.prefilter.get_or_init(|| Prefilter::new(patterns())).candidates(text)
        };
        candidates.into_iter().filter_map(|at| self.rules.get(*self.patterns.get(at)?))
    }

    pub(crate) fn field_rules(&self) -> impl Iterator<Item = &Rule> {
        self.fields.iter().filter_map(|index| self.rules.get(*index))
    }

    pub(crate) fn pattern_rules(&self) -> impl Iterator<Item = &Rule> {
        self.patterns.iter().filter_map(|index| self.rules.get(*index))
    }
}

/// The rules of all parts that say what they mean, by the programs that they name: a command is looked up once, however many
/// parts there are.
#[derive(Clone, Debug, Default)]
struct Meant {
    by_program: FxHashMap<String, Vec<Entry>>,
    /// Rules that name none, or a glob.
    anywhere: Vec<Entry>,
}

/// A rule, by the number of its part and its own in that.
#[derive(Clone, Copy, Debug)]
struct Entry {
    needs: Needs,
    part: usize,
    /// Those that name a program come before the others.
    named: bool,
    rule: usize,
}

impl Entry {
    fn place(&self) -> (usize, bool, usize) {
        (self.part, !self.named, self.rule)
    }
}

impl Meant {
    fn add(&mut self, part: usize, rules: &[Rule]) {
        for (rule, one) in rules.iter().enumerate() {
            if one.field.is_some() || one.is_only_code() || !one.is_semantic() {
                continue;
            }
            let named = !one.what.programs.is_empty() && !one.what.programs.iter().any(|name| name.contains('*'));
            let entry = Entry { needs: Needs::of(&one.what), part, named, rule };
            if named {
                for program in &one.what.programs {
                    let all = self.by_program.entry(program.clone()).or_default();
                    // One that names a program twice.
                    if all.last().is_none_or(|last| last.place() != entry.place()) {
                        all.push(entry);
                    }
                }
            } else {
                self.anywhere.push(entry);
            }
        }
    }

    /// Those that may be about a command of this program, in the order of their places.
    fn about(&self, program: Option<&str>, may: impl Fn(&Entry) -> bool) -> impl Iterator<Item = Entry> {
        let named = program.and_then(|program| self.by_program.get(program)).map_or(&[][..], Vec::as_slice);
        let (mut named, mut others) = (named, self.anywhere.as_slice());
        std::iter::from_fn(move || {
            loop {
                let first = match (named, others) {
                    ([one, ..], [other, ..]) if one.place() > other.place() => &mut others,
                    ([], _) => &mut others,
                    _ => &mut named,
                };
                let (next, rest) = first.split_first()?;
                *first = rest;
                if may(next) {
                    return Some(*next);
                }
            }
        })
    }
}

/// What a list of rules shows of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// With its layer.
    pub name: String,
    /// The pack or file.
    pub source: String,
    /// The line that it begins in, from 1.
    pub line: Option<u32>,
    /// Who wrote it.
    pub layer: Layer,
    /// Whether it is in force.
    pub on: bool,
    /// What it asks for.
    pub action: Action,
    /// Why.
    pub reason: String,
    /// What would be fine instead.
    pub instead: Option<String>,
    /// The commands that are tests of it.
    pub tests: Vec<Test>,
}

/// A pack, for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Whether it is in force.
    pub on: bool,
    /// Whether it is unless someone says otherwise.
    pub by_default: bool,
    /// How many rules it has.
    pub rules: usize,
}

/// Rules, ready to judge. A copy begins with what this one has compiled.
#[derive(Clone, Debug)]
pub struct Guard {
    pub(crate) parts: Vec<Part>,
    meant: Meant,
    /// The path rules of all parts.
    path_index: Index,
    anchored: Anchored,
    /// Those of rules on effects.
    lists: Lists,
    pub(crate) grammars: Grammars,
    pub(crate) exemptions: Vec<Exemption>,
    /// What writes events of the session.
    pub(crate) observers: Vec<Observer>,
    /// Whether a rule asks which events there are.
    pub(crate) asks_for_events: bool,
    /// Names of rules that a comment may lift.
    pub(crate) overrides: Vec<String>,
    /// Whether it is told what calls change, so that it is saved.
    pub(crate) saves: bool,
    /// Whether rules need not ask if all that a call changes was saved.
    pub(crate) softens: bool,
    /// State that rules ask for besides directory and variables; none if no rule does.
    pub(crate) trackers: Option<Rc<Trackers>>,
    /// What other components provide.
    pub(crate) provided: Option<Provided>,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Guard {
    /// A guard with the packs that are on by default.
    ///
    /// # Panics
    /// If those are wrong, which a test excludes.
    pub fn new() -> Self {
        let mut guard = Guard {
            parts: Vec::new(),
            meant: Meant::default(),
            path_index: Index::default(),
            anchored: Anchored::default(),
            lists: Lists::default(),
            grammars: Grammars::default(),
            exemptions: Vec::new(),
            observers: Vec::new(),
            asks_for_events: false,
            overrides: Vec::new(),
            saves: true,
            softens: true,
            trackers: None,
            provided: None,
        };
        for pack in packs::PACKS {
            let problems = guard.add(
                pack.name,
                Layer::BuiltIn,
                Some(pack),
                read(pack.name, Layer::BuiltIn, pack.rules.as_bytes()),
            );
            assert!(problems.is_empty(), "the pack {} is wrong: {problems:?}", pack.name);
            if let Some(part) = guard.parts.last_mut() {
                part.on = pack.by_default;
            }
        }
        guard
    }

    /// Leaves out the tests beside the built-in rules, and what is kept of the calls so far: no verdict needs them, and a cold
    /// start is cheaper without.
    pub fn forget_tests(&mut self) {
        path_query::forget();
        for rule in self.parts.iter_mut().filter(|part| part.is_pack()).flat_map(|part| &mut part.rules) {
            rule.tests = Vec::new();
        }
    }

    /// Reads the tests beside the built-in rules again.
    pub fn recall_tests(&mut self) {
        let packs = Guard::new().parts.into_iter().filter(Part::is_pack);
        for (part, with_tests) in self.parts.iter_mut().filter(|part| part.is_pack()).zip(packs) {
            for (rule, with_tests) in part.rules.iter_mut().zip(with_tests.rules) {
                rule.tests = with_tests.tests;
            }
        }
    }

    /// Adds the rules of a file and says what of it was left out.
    pub fn load(&mut self, file: &str, layer: Layer, content: &[u8]) -> Vec<Problem> {
        self.add(file, layer, None, read(file, layer, content))
    }

    /// Lets rules ask for what other components provide. After the files: says what of them asks for what nobody provides.
    pub fn attach(&mut self, provided: Provided) -> Vec<Problem> {
        if provided.is_empty() && provided.predicates.is_empty() {
            return self.unanswered(&[], &[]);
        }
        if !provided.is_empty() {
            self.trackers = Some(Rc::clone(&provided.trackers));
        }
        let names: Vec<&str> = provided.trackers.names().collect();
        let problems = self.unanswered(&names, &provided.predicates);
        self.provided = Some(provided);
        problems
    }

    /// What other components provide.
    pub fn provided(&self) -> Option<&Provided> {
        self.provided.as_ref()
    }

    /// The rules of files that ask for what there is not.
    fn unanswered(&self, trackers: &[&str], predicates: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for part in self.parts.iter().filter(|part| !part.is_pack()) {
            for rule in &part.rules {
                let mut asked = Vec::new();
                rule.when.iter().for_each(|when| asks_others(when, &mut asked));
                for asked in asked {
                    let (kind, name, there) = match asked {
                        ExtensionRef::Tracker(name) => {
                            ("tracker", name, name == branch::TRACKER || trackers.contains(&name))
                        }
                        ExtensionRef::Predicate(name) => {
                            ("predicate", name, predicates.iter().any(|known| known == name))
                        }
                    };
                    if !there {
                        let message = format!("no plugin provides the {kind} {name}, so its value is always unknown");
                        problems.push(Problem { file: part.name.clone(), line: rule.line, message, whole_file: false });
                    }
                }
            }
        }
        problems
    }

    /// Keeps places of the gate's own files that the pack `self` does not name, as a user may have them elsewhere.
    pub fn keep(&mut self, places: &[String], home: Option<&str>) {
        let Some(own) = self.parts.iter().find(|part| part.keeps_the_gate()) else { return };
        let name = own.name.clone();
        let mut file = RuleFile::default();
        for place in places.iter().filter(|place| place.starts_with('/')) {
            if own.paths.cover(&Value::Known(place.clone()), home) {
                continue;
            }
            // The root of all files is none of them.
            let Ok(mut rule) = PathRule::new(Policy::ReadOnly, &globset::escape(place)) else { continue };
            rule.keeps_the_gate = true;
            file.paths.push(rule);
        }
        if !file.paths.is_empty() {
            self.push(Part::new(&name, Layer::BuiltIn, None, &mut file));
        }
    }

    fn push(&mut self, mut part: Part) {
        let effects = part.rules.iter_mut().flat_map(|rule| &mut rule.what.effects);
        effects.flat_map(|wanted| [&mut wanted.paths, &mut wanted.not]).flatten().for_each(|list| self.lists.add(list));
        self.meant.add(self.parts.len(), &part.rules);
        self.path_index.add(self.parts.len(), part.paths.rules());
        self.anchored.add(self.parts.len(), part.paths.rules());
        self.parts.push(part);
    }

    /// What commands are matched with.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables { grammars: &self.grammars, lists: &self.lists }
    }

    /// The rules in force that may be about a command of this program, in the order of parts; those that may fire on it, if it
    /// is said what it has.
    pub(crate) fn about(&self, program: Option<&str>, has: Option<CommandTraits>) -> impl Iterator<Item = &Rule> {
        let may = move |entry: &Entry| has.is_none_or(|has| entry.needs.are_met(has)) && self.parts[entry.part].on;
        let found = self.meant.about(program, may);
        found.filter_map(|entry| self.parts[entry.part].rules.get(entry.rule))
    }

    /// Whether a built-in rule covers a path only as that is in a worktree below an agent's folder, which is no part of what
    /// the agent goes by.
    pub(crate) fn is_in_worktree(&self, rule: &PathRule, path: &Value, home: Option<&str>) -> bool {
        let inner =
            agent_folders::in_worktree(path).filter(|_| rule.layer == Layer::BuiltIn && !rule.means_worktrees());
        let covers =
            |inner: &Value| self.covering(&PathQuery::of(inner, home)).iter().any(|other| std::ptr::eq(*other, rule));
        inner.is_some_and(|inner| !covers(&inner))
    }

    /// The path rules in force that a path falls under.
    pub(crate) fn covering(&self, asked: &PathQuery) -> Vec<&PathRule> {
        covering_all(&self.path_index, |part| self.paths(part), self.parts.len(), asked)
    }

    /// The path rules in force whose place lies below a path.
    pub(crate) fn below(&self, asked: &PathQuery) -> Vec<&PathRule> {
        self.anchored.below(|part| self.paths(part), self.parts.len(), asked)
    }

    /// The path rules of a part that is in force.
    fn paths(&self, part: usize) -> Option<&[PathRule]> {
        self.parts.get(part).filter(|part| part.on).map(|part| part.paths.rules())
    }

    /// Switches packs on or off: `all`, a name, or a name after `-`. Says which names there are not.
    pub fn choose(&mut self, names: &[String]) -> Vec<String> {
        let mut wrong = Vec::new();
        for name in names {
            let (on, wanted) = match name.strip_prefix('-') {
                Some(name) => (false, name),
                None => (true, name.as_str()),
            };
            let mut found = wanted == "all" || wanted == "default";
            for part in self.parts.iter_mut().filter(|part| part.is_pack()) {
                // Without the rules that keep the gate itself there is no gate.
                if (wanted == "all" || part.name == wanted) && (on || !part.keeps_the_gate()) {
                    part.on = on;
                    found = true;
                }
            }
            if !found {
                let known: Vec<&str> = packs::PACKS.iter().map(|pack| pack.name).collect();
                let is_own = self.parts.iter().any(|part| part.keeps_the_gate() && part.name == wanted);
                wrong.push(match is_own {
                    true => format!("the pack {wanted} cannot be turned off: it protects Toolgate itself"),
                    false => format!("no pack {wanted}; the packs are {}, and all", known.join(", ")),
                });
            }
        }
        wrong
    }

    fn take_programs(&mut self, file: &mut RuleFile) {
        for (name, grammar) in file.programs.drain(..) {
            self.grammars.add(&name, grammar);
        }
    }

    fn add(
        &mut self,
        name: &str,
        layer: Layer,
        pack: Option<&'static packs::Pack>,
        mut file: RuleFile,
    ) -> Vec<Problem> {
        let mut problems = std::mem::take(&mut file.problems);
        let problem = |message| Problem { file: name.to_owned(), line: None, message, whole_file: false };
        // How a program takes its words decides which rules fire; a project must not say that of programs that are known.
        if layer != Layer::Project {
            self.take_programs(&mut file);
        } else if !file.programs.is_empty() {
            problems.push(problem("only your own file may have `programs`: a project must not lift rules".to_owned()));
        }
        let (on, off) = std::mem::take(&mut file.packs);
        let chosen: Vec<String> = on.into_iter().chain(off.iter().map(|name| format!("-{name}"))).collect();
        problems.extend(self.choose(&chosen).into_iter().map(problem));
        let exempts = |one: &Exemption| one.when.as_ref().is_some_and(Conditions::ask_for_events);
        self.asks_for_events |= file.exemptions.iter().any(exempts);
        self.exemptions.append(&mut file.exemptions);
        self.observers.extend(file.observers.drain(..).map(|observer| observer.of(name)));
        self.overrides.append(&mut file.overrides);
        self.saves &= !file.saves_nothing;
        self.softens &= !file.always_asks;
        let part = Part::new(name, layer, pack, &mut file);
        if part.rules.iter().any(|rule| rule.when.as_ref().is_some_and(asks_for_branch)) {
            self.trackers.get_or_insert_with(branch::trackers);
        }
        self.asks_for_events |=
            part.rules.iter().any(|rule| rule.when.as_ref().is_some_and(Conditions::ask_for_events));
        self.push(part);
        problems
    }

    /// Whether the user's own file lifts a rule wherever it would fire.
    pub(crate) fn lifts(&self, rule: &RuleId) -> bool {
        self.exemptions.iter().any(|one| one.is_whole() && rule.is_meant_by(&one.rules))
    }

    /// Whether what file tools write decides anything.
    pub fn reads_contents(&self) -> bool {
        let rules = self.active().flat_map(|part| &part.rules);
        !self.overrides.is_empty()
            || rules
                .into_iter()
                .any(|rule| rule.what.content.is_some() || rule.field.as_ref().is_some_and(FieldOf::is_content))
    }

    pub(crate) fn active(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.on)
    }

    /// How many rules are in force.
    pub fn rules(&self) -> usize {
        self.active().map(|part| part.rules.len() + part.paths.len()).sum()
    }

    /// The packs.
    pub fn packs(&self) -> Vec<Pack> {
        let packs = self.parts.iter().filter_map(|part| Some((part, part.pack?)));
        packs
            .map(|(part, pack)| Pack {
                name: part.name.clone(),
                about: part.about.clone(),
                on: part.on,
                by_default: pack.by_default,
                rules: part.rules.len() + part.paths.len(),
            })
            .collect()
    }

    /// Every observer.
    pub fn observers(&self) -> impl Iterator<Item = Watching> {
        self.observers.iter().map(Observer::watching)
    }

    /// Every rule, in force or not.
    pub fn list(&self) -> Vec<Listed> {
        let mut all = Vec::new();
        for part in &self.parts {
            let listed = |id: &RuleId, action, reason: &str| Listed {
                name: id.to_string(),
                source: part.name.clone(),
                line: None,
                layer: part.layer,
                on: part.on,
                action,
                reason: reason.to_owned(),
                instead: None,
                tests: Vec::new(),
            };
            all.extend(part.rules.iter().map(|rule| Listed {
                line: rule.line,
                instead: rule.instead.clone(),
                tests: rule.tests.clone(),
                ..listed(&rule.id, rule.action, &rule.reason)
            }));
            all.extend(part.paths.rules().iter().map(|rule| {
                let reason = rule.reason.clone().unwrap_or_else(|| rule.policy.describe().to_owned());
                listed(&rule.id(), if rule.ask { Action::Ask } else { Action::Block }, &reason)
            }));
        }
        all
    }
}

/// A reference from a condition to what another component provides, by its name.
enum ExtensionRef<'a> {
    Tracker(&'a str),
    Predicate(&'a str),
}

/// The trackers and predicates of other components that conditions ask for.
fn asks_others<'a>(when: &'a Conditions, asked: &mut Vec<ExtensionRef<'a>>) {
    for condition in &when.conditions {
        match condition {
            Condition::Tracker(name, _) => asked.push(ExtensionRef::Tracker(name)),
            Condition::Predicate(name, _) => asked.push(ExtensionRef::Predicate(name)),
            Condition::Not(when) => asks_others(when, asked),
            _ => {}
        }
    }
}

fn asks_for_branch(when: &Conditions) -> bool {
    when.any(&|condition| match condition {
        Condition::Branch(_) => true,
        Condition::Tracker(name, _) => name == branch::TRACKER,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use toolgate_names::gate_rules::keeps_the_gate;

    use super::*;

    /// The host knows them by their names alone.
    #[test]
    fn the_rules_that_keep_the_gate_are_called_so() {
        let guard = Guard::new();
        for (id, kept) in guard.every_rule() {
            let whole = id.to_string();
            let name = whole.strip_prefix("builtin:").unwrap_or(&whole);
            assert_eq!(keeps_the_gate(name), kept, "{whole}");
        }
    }
}
