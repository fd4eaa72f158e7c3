//! From a call to a verdict.
//!
//! | Module | For |
//! |---|---|
//! | `commands` | the rules of packs and files on commands |
//! | `declared` | what tools do to files that is said as data |
//! | `native` | the rules of which code says when they fire, or agrees last where all their keys say so |
//! | `process_kill` | processes that are ended by what fits the gate as well |
//! | `rule_match` | matches and trials of rules, by their identities |
//! | `remote_secrets` | secrets of another machine that a command there shows |
//! | `fields` | the rules on the fields of file tools |
//! | `git_recoverable` | whether git holds all that a git command overwrites or removes |
//! | `hook_files` | where agents are told to ask Toolgate |
//! | `prompt_commands` | texts that an agent runs by itself later: commands in its prompts |
//! | `paths` | the path rules |
//! | `recursive_reads` | what is read along with a folder |
//! | `git_sequences` | what git commands of one text mean for each other |
//! | `remote_tools` | what tools of servers say that they do elsewhere |
//! | `gate_files_in_git` | git commands that take away what has an agent ask Toolgate |
//! | `path_access` | a path that a call touches, and how |
//! | `tools` | what file tools touch, and do, as far as the fields of their input say |
//! | `env_files` | what is shown or lost of files of variables, `.env` |
//! | `read_protected_paths` | which paths the rules keep from being read |
//! | `worktrees` | worktrees that are removed as a whole |
//! | `interactive` | commands that wait for text, where that is not seen |

mod commands;
mod declared;
mod env_files;
mod fields;
mod gate_files_in_git;
mod git_recoverable;
mod git_sequences;
mod hook_files;
mod interactive;
mod native;
mod path_access;
mod paths;
mod process_kill;
mod prompt_commands;
mod read_protected_paths;
mod recursive_reads;
mod remote_secrets;
mod remote_tools;
mod rule_match;
mod tools;
mod worktrees;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use toolgate_shell::{
    Facts, FileOracle, ForeignShell, Presence, Runs, Script, Span, Value, Why, Word, absolute, looks_like_powershell,
    parse, parse_foreign, patch,
};

use self::path_access::Touched;
use self::rule_match::{RuleMatch, Trial};
use super::declared::Declared;
use super::matching::{DependsOn, MatchInput, ScriptContext};
use super::mismatch::Mismatch;
use super::native_rule::NativeRule;
use super::overrides;
use super::path_zone::{Map, RealMap};
use super::rule::{IfUnset, Rule};
use super::rule_id::RuleId;
use super::rules::Guard;
use super::witness::Witnessed;
use super::world::{GuardHost, VolatileFiles};
use crate::call::{Action, Call, Evidence, Field, Memory, ToolKind, Verdict};
use crate::changes::{Changes, changes_of};

/// Longest evidence that is repeated in a finding; the positions always give the whole match.
const LONGEST_EVIDENCE: usize = 400;

/// A trial of a rule on a command, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleTrial {
    /// The rule.
    pub rule: String,
    /// The place of the command in the walk; `None` for the text as a whole.
    pub command: Option<usize>,
    /// `None` if it fired; else why it did not.
    pub missed: Option<String>,
}

/// The result of evaluating a call.
struct EvaluationResult {
    /// The weightiest first.
    found: Vec<RuleMatch>,
    memory: Option<Memory>,
    /// What the tool does that is said as data.
    declared: Option<Script>,
    script: Option<Script>,
    considered: Vec<Trial>,
}

impl EvaluationResult {
    /// Whether it asks, and only by rules that need not if all that the call changes was saved.
    fn may_be_softened(&self) -> bool {
        let mut stops = self.found.iter().filter(|found| found.action != Action::Note).peekable();
        stops.peek().is_some() && stops.all(|found| found.action == Action::Ask && found.recoverable)
    }

    fn into_verdict(self) -> Verdict {
        Verdict { findings: self.found.into_iter().map(RuleMatch::into_finding).collect(), memory: self.memory }
    }
}

/// A verdict, and how it came about.
#[derive(Debug)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// What the text was read as.
    pub script: Option<Script>,
    /// Every rule that was tried, by command.
    pub considered: Vec<RuleTrial>,
}

impl Guard {
    /// Judges a call.
    pub fn judge(&self, call: &Call, world: &mut dyn GuardHost) -> Verdict {
        self.evaluate(call, world, false).into_verdict()
    }

    /// Judges a call and tells what it changes, so that it can be saved before; `None` if it changes nothing, is stopped, or
    /// nothing is to be saved.
    pub fn judge_changes(&self, call: &Call, world: &mut dyn GuardHost) -> (Verdict, Option<Changes>) {
        let result = self.evaluate(call, world, false);
        let stopped = result.found.iter().any(|found| found.action == Action::Block);
        let changes = (self.saves && !stopped).then(|| {
            let scripts = [result.declared.as_ref(), result.script.as_ref()];
            let softened = self.softens && result.may_be_softened();
            changes_of(call, scripts, softened, world.look().as_deref())
        });
        (result.into_verdict(), changes.flatten())
    }

    /// Judges a call and says how.
    pub fn explain(&self, call: &Call, world: &mut dyn GuardHost) -> Explanation {
        let mut result = self.evaluate(call, world, true);
        let considered = std::mem::take(&mut result.considered).into_iter().map(Trial::into_rule_trial).collect();
        Explanation { script: result.script.take(), verdict: result.into_verdict(), considered }
    }

    /// What is found on a call, the weightiest first.
    pub(crate) fn found(&self, call: &Call, world: &mut dyn GuardHost) -> Vec<RuleMatch> {
        self.evaluate(call, world, false).found
    }

    fn evaluate(&self, call: &Call, world: &mut dyn GuardHost, explains: bool) -> EvaluationResult {
        // Facts that do not know the place itself speak of another machine.
        let here = absolute("", &call.cwd);
        let look = world.look().filter(|look| look.look(&here) == Presence::Folder);
        let trackers: Vec<String> =
            self.trackers.iter().flat_map(|trackers| trackers.names()).map(str::to_owned).collect();
        if let (Some(provided), Some(command)) = (&self.provided, &call.command) {
            provided.renew(&command.value);
        }
        // Agents run texts in the user's own shell, which many set to zsh.
        let mut facts = Facts::new(&call.cwd).perhaps_zsh();
        if let Some(home) = &call.home {
            facts = facts.home(home);
        }
        if let Some(look) = &look {
            facts = facts.files(Rc::new(VolatileFiles::after(Rc::clone(look), &call.earlier)));
        }
        if let Some(trackers) = &self.trackers {
            facts = facts.trackers(Rc::clone(trackers));
        }
        let map = Map::new(&call.workspace, call.home.as_deref()).called(&call.workspace_names);
        let real_map = OnceCell::new();
        let mut evaluation = Evaluation { trackers, ..Evaluation::new(self, call, &map, &real_map) };
        evaluation.considered = explains.then(Vec::new);
        let declared = Declared::of(&call.effects, &facts);
        evaluation.declared(declared.as_ref(), world, look.as_deref());
        let mut script = None;
        match (&call.command, call.kind) {
            (Some(command), kind) => {
                let parsed = match kind {
                    ToolKind::Write => patch(&command.value, &call.cwd),
                    _ => shell_text(&command.value, call.shell.as_deref(), &facts),
                };
                evaluation.command(command, &parsed, world, look.as_deref());
                script = Some(parsed);
            }
            (None, ToolKind::Shell) => evaluation.native(NativeRule::NoCommand, "", Vec::new()),
            (None, _) => {}
        }
        if let (Some(first), Some(command)) = (&script, &call.command)
            && first.unparsed.is_none()
            && has_unset(first)
        {
            // What nothing sets may be empty: `$X/*` is `/*` then, and `${X:-rm}` is rm.
            let facts = facts.variable("TMPDIR", "/tmp/tmpdir").variable("USER", "user").complete();
            let second = parse(&command.value, &facts);
            evaluation.unset(command, first, &second, world, look.as_deref());
        }
        if script.is_none() {
            evaluation.comments = call.contents.iter().map(|field| field.value.clone()).collect();
        }
        evaluation.input_paths();
        evaluation.remote_tool(world);
        if script.is_none() && declared.is_none() {
            evaluation.tool(world, look.as_deref());
            evaluation.remember_paths(look.as_deref());
            evaluation.reads_copy();
            evaluation.prompt_of_tool(world, look.as_deref());
        }
        evaluation.field_rules(script.as_ref(), declared.as_ref(), world);
        evaluation.paths(world, look.as_deref());
        // Last, so that it takes none of the questions that may be asked about what is certain.
        if let (Some(script), Some(command)) = (&script, &call.command) {
            evaluation.alike(command, &script.written, world);
        }
        evaluation.end(declared.map(|declared| declared.script), script)
    }
}

/// Reads the text of a call that runs a shell. A text for bash that has the names of cmdlets in it is one for PowerShell: an
/// agent's tool may be called after another shell than the one that it runs.
fn shell_text(text: &str, shell: Option<&str>, facts: &Facts) -> Script {
    if let Some(shell) = shell {
        let shell = ForeignShell::named(shell).unwrap_or_else(|| ForeignShell::Other(shell.to_owned()));
        return parse_foreign(text, &shell, facts);
    }
    let script = parse(text, facts);
    if looks_like_powershell(&script) { parse_foreign(text, &ForeignShell::PowerShell, facts) } else { script }
}

struct Evaluation<'a> {
    guard: &'a Guard,
    call: &'a Call,
    map: &'a Map<'a>,
    real_map: &'a OnceCell<Option<RealMap>>,
    touched: Vec<Touched>,
    findings: Vec<RuleMatch>,
    /// How often something was found, be it for the first time or again.
    found: usize,
    considered: Option<Vec<Trial>>,
    /// The comments of the text, and what a file tool writes.
    comments: Vec<String>,
    branches: HashMap<String, Option<Option<String>>>,
    /// What git holds.
    held: git_recoverable::Answers,
    /// The rows of the rules in code that were asked for.
    rows: FxHashMap<NativeRule, Option<&'a Rule>>,
    trackers: Vec<String>,
    /// What the call leaves behind for later ones of the session.
    memory: Option<Memory>,
    /// What observers see in the text; `None` if no rule asks for it.
    witnessed: Option<Witnessed<'a>>,
}

/// What rules came to on a command.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// What was looked at.
    reach: DependsOn,
    /// Whether anything came of it.
    found: bool,
}

/// How a command differs from the first one that is the same.
#[derive(Clone, Copy, Debug)]
struct Difference {
    /// It stands elsewhere.
    place: bool,
    /// None of them that was judged before stands there.
    new_place: bool,
    /// It may run with other variables.
    variables: bool,
}

impl Outcome {
    /// Whether something else may come of it on such a command: another finding, or the same at another place.
    fn may_differ(self, difference: Difference) -> bool {
        match self.reach {
            DependsOn::Command => self.found && difference.new_place,
            DependsOn::Place => difference.new_place,
            DependsOn::Variables => self.found || difference.place || difference.variables,
            DependsOn::Text => true,
        }
    }
}

/// The outcomes of the first of several commands that are the same, for the others.
struct CachedOutcomes<'a> {
    /// Of the rules that were tried, those that may come to something else on the others.
    rules: Vec<(&'a Rule, Outcome)>,
    /// Of what is judged besides.
    rest: Outcome,
    /// Where those begin that were judged.
    starts: FxHashSet<usize>,
}

impl<'a> Evaluation<'a> {
    /// One that has found nothing yet.
    fn new(guard: &'a Guard, call: &'a Call, map: &'a Map<'a>, real_map: &'a OnceCell<Option<RealMap>>) -> Self {
        Evaluation {
            guard,
            call,
            map,
            real_map,
            touched: Vec::new(),
            findings: Vec::new(),
            found: 0,
            considered: None,
            comments: Vec::new(),
            branches: HashMap::new(),
            held: git_recoverable::Answers::default(),
            rows: FxHashMap::default(),
            trackers: Vec::new(),
            memory: None,
            witnessed: None,
        }
    }

    /// Adds what a rule found: to what the same rule found before, if it did.
    fn add(&mut self, found: RuleMatch) {
        self.found += 1;
        if found.may_be_lifted && self.guard.lifts(&found.rule) {
            return;
        }
        let Some(known) = self.findings.iter_mut().find(|known| known.rule == found.rule) else {
            self.findings.push(found);
            return;
        };
        known.action = known.action.max(found.action);
        known.recoverable &= found.recoverable;
        for one in found.evidence {
            // The text is that of the place.
            let place = |other: &Evidence| (other.start, other.end) == (one.start, one.end) && other.field == one.field;
            if !known.evidence.iter().any(place) {
                known.evidence.push(one);
            }
        }
    }

    fn consider(&mut self, rule: &RuleId, command: Option<usize>, missed: Option<&Mismatch<'_>>) {
        if let Some(considered) = &mut self.considered {
            let missed = missed.map(Mismatch::describe);
            considered.push(Trial { rule: rule.clone(), command, missed });
        }
    }

    fn command(&mut self, field: &'a Field, script: &Script, world: &mut dyn GuardHost, look: Option<&dyn FileOracle>) {
        let source = field.value.as_str();
        let comments = script.comments.iter().filter_map(|span| source.get(span.start..span.end));
        self.comments = comments.map(str::to_owned).collect();
        let home = self.call.home.as_deref();
        // A patch is one command, and writes what is in the input.
        let scene = ScriptContext::new(script, self.guard.tables(), self.map, home, look, self.real_map)
            .writing(&self.call.contents)
            .after(&self.call.earlier);
        let scene = scene.told_apart(source);
        let subjects: Vec<MatchInput<'_>> = scene.subjects().collect();
        self.witnessed = self.guard.witnessed(self.call, field, script, &subjects);
        self.each(script, &subjects, field, world);
        self.endless_loop(&subjects, field, world);
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            self.empties(subject, field, world, look);
            self.moves(subject, field, world, look);
            self.not_held(subject, field, world, look);
            self.loses_uncommitted(subject, field, world);
        }
        self.ended(&subjects, field, world);
        self.fetched(&subjects, field, world);
        self.patterns(script, &subjects, field, world);
        self.found_elsewhere(&subjects, field, world);
        self.removes_listed(&subjects, field, world);
        self.removes_some_listed(&subjects, field, world);
        self.removes_unread(&subjects, field, world);
        self.reads_found(&subjects, field);
        self.runs(&scene, &subjects, field, world, look);
        self.carries(&subjects, field, world, look);
        self.prompts(&subjects, field, world, look);
        self.settings(&subjects, field, world, look);
        self.worktrees(&subjects, field, world, look);
        self.variables_lost(&subjects, field, world);
        self.typed(script, &subjects, field, world);
        self.uncertain(script, field);
        self.changes_named_outside(&subjects, field, world, look);
        self.consider_code();
    }

    /// Judges each command that may run by itself. Of those that are the same the first is judged, and the others as far as
    /// something else may come of it there.
    fn each(&mut self, script: &Script, subjects: &[MatchInput<'_>], field: &Field, world: &mut dyn GuardHost) {
        let mut known: FxHashMap<usize, CachedOutcomes<'a>> = FxHashMap::default();
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            // Who wants to know which rules were tried is told so of each command.
            match known.get_mut(&subject.first).filter(|_| self.considered.is_none()) {
                Some(cached) => self.again(cached, subject, script, field, world),
                None => {
                    let rules = self.rules(subject, field, world);
                    let rest = self.rest(subject, script, field, world);
                    let starts = FxHashSet::from_iter([subject.command.span.start]);
                    known.insert(subject.first, CachedOutcomes { rules, rest, starts });
                }
            }
        }
    }

    /// Judges a command of which the first one that is the same was judged.
    fn again(
        &mut self,
        cached: &mut CachedOutcomes<'a>,
        subject: &MatchInput<'_>,
        script: &Script,
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let (command, first) = (subject.command, &script.commands[subject.first]);
        let difference = Difference {
            place: command.span.start != first.span.start,
            new_place: cached.starts.insert(command.span.start),
            variables: !command.env.is_same(&first.env),
        };
        for (rule, outcome) in cached.rules.iter().copied() {
            if outcome.may_differ(difference) {
                self.rule(rule, subject, field, world);
            }
        }
        if cached.rest.may_differ(difference) {
            self.rest(subject, script, field, world);
        }
    }

    /// What is judged of a command besides the rules that say what they mean.
    fn rest(&mut self, subject: &MatchInput<'_>, script: &Script, field: &Field, world: &mut dyn GuardHost) -> Outcome {
        subject.take_reach();
        let before = (self.found, self.touched.len());
        self.effects(subject, script, field, world);
        if script.unparsed.is_none() {
            self.forced(subject, field, world);
            self.endless(subject, field, world);
            self.shows(subject, field, world);
            self.sends_secret(subject, field, world);
        }
        Outcome { reach: subject.take_reach(), found: (self.found, self.touched.len()) != before }
    }

    /// Judges the text once more as it is if variables that nothing sets are empty. What only comes of that asks, and only
    /// where files go, where the program itself was not known, or where a name of a path is known in part.
    fn unset(
        &mut self,
        field: &'a Field,
        first: &Script,
        second: &Script,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let unknown: Vec<Span> = first
            .commands
            .iter()
            .filter(|command| command.words.first().is_some_and(|word| word.known().is_none()))
            .map(|command| command.span)
            .collect();
        let words = first
            .commands
            .iter()
            .flat_map(|command| command.words.iter().chain(command.redirects.iter().map(|redirect| &redirect.target)));
        let partial: Vec<Span> = words.filter(|word| has_partial_name(word)).map(|word| word.span).collect();
        for found in self.apart(field, second, world, look) {
            let of_unknown = || {
                let is_program = |one: &Evidence, span: &Span| one.start >= span.start && one.end <= span.end;
                found.evidence.iter().any(|one| unknown.iter().any(|span| is_program(one, span)))
            };
            let by_default = || found.evidence.iter().any(|one| one.text.contains(":-") || one.text.contains(":="));
            let of_name = || {
                let is_name = |one: &Evidence, span: &Span| one.start < span.end && span.start < one.end;
                found.evidence.iter().any(|one| partial.iter().any(|span| is_name(one, span)))
            };
            let counts = match found.if_unset {
                IfUnset::Program => of_unknown(),
                IfUnset::Always => true,
                IfUnset::Default => by_default() || of_unknown(),
                IfUnset::PartialName => of_name() || of_unknown(),
                IfUnset::Never => false,
            };
            if found.action != Action::Note && counts && !self.has(&found.rule) {
                let reason = format!("if the unset variables are empty: {}", found.reason);
                self.add(RuleMatch { action: Action::Ask, reason, ..found });
            }
        }
    }

    /// Judges what the text wrote to files whose path is known in part and ran from one that is written alike.
    fn alike(&mut self, field: &'a Field, scripts: &[Script], world: &mut dyn GuardHost) {
        for script in scripts {
            let (comments, memory, witnessed) =
                (std::mem::take(&mut self.comments), self.memory.take(), self.witnessed.take());
            let found = self.apart(field, script, world, None);
            (self.comments, self.memory, self.witnessed) = (comments, memory, witnessed);
            found.into_iter().filter(|found| found.action != Action::Note).for_each(|found| self.add(found));
        }
    }

    /// What another reading of the text comes to, apart from what was found so far.
    fn apart(
        &mut self,
        field: &'a Field,
        script: &Script,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) -> Vec<RuleMatch> {
        let (before, considered) = (std::mem::take(&mut self.findings), self.considered.take());
        let touched = std::mem::take(&mut self.touched);
        self.command(field, script, world, look);
        self.paths(world, look);
        (self.considered, self.touched) = (considered, touched);
        std::mem::replace(&mut self.findings, before)
    }

    fn has(&self, rule: &RuleId) -> bool {
        self.findings.iter().any(|found| found.rule == *rule)
    }

    /// A comment lifts what the user's own file lets it lift.
    fn overridden(&mut self) {
        let guard = self.guard;
        if guard.overrides.is_empty() || self.comments.is_empty() {
            return;
        }
        for found in &mut self.findings {
            let rule = guard.active().flat_map(|part| &part.rules).find(|rule| rule.id == found.rule);
            // Rules on paths, the gate's own files and failures to judge have no rule here.
            let Some(rule) = rule.filter(|rule| !rule.no_override && !rule.keeps_the_gate) else { continue };
            if !rule.id.is_meant_by(&guard.overrides) {
                continue;
            }
            let whole = rule.id.to_string();
            let given = self.comments.iter().find_map(|comment| {
                overrides::reason(comment, rule.id.own_name()).or_else(|| overrides::reason(comment, &whole))
            });
            if let Some(given) = given {
                found.action = Action::Note;
                found.reason = format!("overridden: {given} ({})", found.reason);
            }
        }
    }

    fn end(mut self, declared: Option<Script>, script: Option<Script>) -> EvaluationResult {
        self.overridden();
        if self.call.paths_only {
            self.findings.retain(|found| matches!(found.rule, RuleId::Path { .. }));
        }
        self.findings.sort_by_key(|found| (std::cmp::Reverse(found.action), found.severity));
        let considered = self.considered.unwrap_or_default();
        EvaluationResult { found: self.findings, memory: self.memory, declared, script, considered }
    }
}

/// Whether a text depends on variables that nothing in it sets.
fn has_unset(script: &Script) -> bool {
    let running = script.commands.iter().filter(|command| command.runs != Runs::Never);
    let words = running
        .flat_map(|command| command.words.iter().chain(command.redirects.iter().map(|redirect| &redirect.target)));
    words.into_iter().any(|word| match &word.value {
        Value::Unknown { why, .. } => why.variable().is_some() || matches!(why, Why::Expansion | Why::Number),
        _ => false,
    })
}

/// A path of an input field or of a scanned token, whose tilde no shell has expanded.
fn tilde(path: &str, call: &Call) -> String {
    match (path.strip_prefix('~'), &call.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    }
}

fn evidence(field: &Field, span: Span) -> Evidence {
    let text = field.value.get(span.start..span.end).unwrap_or("");
    let mut cut = text.len().min(LONGEST_EVIDENCE);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let mut shown = text[..cut].to_owned();
    if cut < text.len() {
        shown.push_str(" […]");
    }
    Evidence { field: field.name.clone(), start: span.start, end: span.end, text: shown }
}

/// Whether a name in a path is known in part, and not as a whole.
fn has_partial_name(word: &Word) -> bool {
    let Value::Unknown { shape, .. } = &word.value else { return false };
    let Some(at) = shape.find(Value::HOLE).filter(|at| *at > 0) else { return false };
    let after = shape[at..].trim_start_matches(Value::HOLE);
    !shape[..at].ends_with('/') || !after.is_empty() && !after.starts_with('/')
}
