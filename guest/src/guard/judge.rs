//! From a call to a verdict.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use toolgate_shell::{Command, Facts, Kind as Deed, Script, Span, Value, Why, absolute, parse};

use super::path_rules::{PathRule, PathRules, Policy};
use super::rules::{self, Layer, PatternRule, Problem, RuleFile};
use super::view::{View, views};
use crate::call::{Action, Call, Evidence, Field, Finding, Kind, Verdict};

/// Finds out where paths really lead.
pub trait Links {
    /// For each path the one behind its links, in the same order; `None` where it cannot be told. An error is a
    /// reason to stop the call.
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String>;
}

/// No links are known: paths are judged as they are written.
#[derive(Debug)]
pub struct NoLinks;

impl Links for NoLinks {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        Ok(vec![None; paths.len()])
    }
}

/// The rules that came with Toolgate.
const BUILT_IN: &str = include_str!("builtin.yaml");

/// Longest evidence that is repeated in a finding; the positions always give the whole match.
const LONGEST_EVIDENCE: usize = 400;

/// Rules, ready to judge.
#[derive(Debug)]
pub struct Guard {
    patterns: Vec<PatternRule>,
    paths: PathRules,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Guard {
    /// A guard with the built-in rules.
    ///
    /// # Panics
    /// If those are wrong, which a test excludes.
    pub fn new() -> Self {
        let mut guard = Guard { patterns: Vec::new(), paths: PathRules::default() };
        let problems = guard.load("built in", Layer::BuiltIn, BUILT_IN.as_bytes());
        assert!(problems.is_empty(), "the built-in rules are wrong: {problems:?}");
        guard
    }

    /// Adds the rules of a file and says what of it was left out.
    pub fn load(&mut self, file: &str, layer: Layer, content: &[u8]) -> Vec<Problem> {
        let RuleFile { patterns, paths, mut problems } = rules::read(file, layer, content);
        self.patterns.extend(patterns);
        if !paths.is_empty() {
            let all = self.paths.rules().iter().cloned().chain(paths).collect();
            match PathRules::new(all) {
                Ok(paths) => self.paths = paths,
                // The earlier rules stay as they are.
                Err(message) => {
                    problems.push(Problem { file: file.to_owned(), line: None, message, whole_file: true });
                }
            }
        }
        problems
    }

    /// How many rules are active.
    pub fn rules(&self) -> usize {
        self.patterns.len() + self.paths.len()
    }

    /// Judges a call.
    pub fn judge(&self, call: &Call, links: &mut dyn Links) -> Verdict {
        let mut inquiry = Inquiry { guard: self, call, touched: Vec::new(), findings: Vec::new() };
        match (&call.command, call.kind) {
            (Some(command), _) => inquiry.command(command),
            (None, Kind::Shell) => inquiry.finding(
                "builtin:no-command",
                Action::Block,
                "the call runs a shell, and its command could not be read",
                Vec::new(),
            ),
            (None, _) => {}
        }
        inquiry.fields();
        inquiry.paths(links);
        inquiry.verdict()
    }
}

/// What a rule on paths tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// It is named, and what happens to it is not known.
    Mention,
    /// Its content is read.
    Read,
    /// It is made, or its content, mode or owner is changed.
    Write,
    /// It is removed or moved away, with everything below it.
    Delete,
}

impl Access {
    /// None for what does not happen to a path here.
    fn of(deed: Deed) -> Option<Self> {
        match deed {
            Deed::Mention | Deed::Execute => Some(Access::Mention),
            Deed::Read => Some(Access::Read),
            Deed::Write | Deed::Append | Deed::Create | Deed::Link | Deed::Mode => Some(Access::Write),
            Deed::Delete | Deed::Move => Some(Access::Delete),
            Deed::Send => None,
        }
    }
}

/// A path that the call touches.
struct Touched {
    access: Access,
    path: Value,
    /// With `..` still in it, if it has any.
    written: Option<String>,
    evidence: Evidence,
    /// Whether a rule that fires asks instead of blocking, as the effect is only possible.
    possible: bool,
}

impl Touched {
    /// What the file system is asked about.
    fn asked(&self) -> Option<String> {
        self.written.clone().or_else(|| text(&self.path)).filter(|_| text(&self.path).is_some())
    }
}

struct Inquiry<'a> {
    guard: &'a Guard,
    call: &'a Call,
    touched: Vec<Touched>,
    findings: Vec<Finding>,
}

impl Inquiry<'_> {
    fn finding(&mut self, rule: &str, action: Action, reason: &str, evidence: Vec<Evidence>) {
        let same = |finding: &&mut Finding| finding.rule == rule;
        if let Some(known) = self.findings.iter_mut().find(same) {
            known.action = known.action.max(action);
            for one in evidence {
                if !known.evidence.contains(&one) {
                    known.evidence.push(one);
                }
            }
            return;
        }
        self.findings.push(Finding { rule: rule.to_owned(), action, reason: reason.to_owned(), evidence });
    }

    fn command(&mut self, command: &Field) {
        let mut facts = Facts::new(&self.call.cwd);
        if let Some(home) = &self.call.home {
            facts = facts.home(home);
        }
        let source = command.value.as_str();
        let script = parse(source, &facts);
        for view in views(&script, source) {
            self.patterns(&view, command);
        }
        for command_found in &script.commands {
            self.effects(command_found, &script, command);
        }
        self.uncertain(&script, command);
    }

    fn patterns(&mut self, view: &View, command: &Field) {
        let guard = self.guard;
        for rule in &guard.patterns {
            let action = if rule.ask { Action::Ask } else { Action::Block };
            match rule.regex.find(view.text.as_str()) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    let evidence = evidence(command, view.source(&found.range()));
                    self.finding(&rule.name, action, &rule.reason, vec![evidence]);
                }
                Err(_) => {
                    let reason = format!(
                        "the pattern needs too many steps on this command, so it counts as matching ({})",
                        rule.reason
                    );
                    let evidence = evidence(command, view.source(&(0..view.text.len())));
                    self.finding(&rule.name, action, &reason, vec![evidence]);
                }
            }
        }
    }

    fn effects(&mut self, found: &Command, script: &Script, command: &Field) {
        if script.unparsed.is_some() {
            // Without structure any token may be the target of anything.
            let mut seen = HashSet::new();
            for word in found.words.iter().filter(|word| seen.insert(word.known())) {
                let path = match &word.value {
                    Value::Known(text) => Value::Known(absolute(&tilde(text, self.call), &self.call.cwd)),
                    other => other.clone(),
                };
                let evidence = evidence(command, word.span);
                self.touched.push(Touched { access: Access::Delete, path, written: None, evidence, possible: false });
            }
            return;
        }
        // The folder that an option names: `git -C ~/.ssh`.
        if let Some(cwd) = found.cwd.as_ref().filter(|_| found.cwd != found.shell_cwd) {
            let (access, path) = (Access::Mention, Value::Known(cwd.clone()));
            let evidence = evidence(command, found.span);
            self.touched.push(Touched { access, path, written: None, evidence, possible: false });
        }
        for effect in &found.effects {
            let Some(access) = Access::of(effect.kind) else { continue };
            // What no word names, as git's own files, is what the program is there for.
            let implied = effect.span == found.span && matches!(effect.path, Value::Pattern(_));
            if implied && !matches!(found.program(), Some("find" | "fd" | "fdfind")) {
                continue;
            }
            // A program that is not known may do anything to its operands.
            let program = found.words.first().filter(|word| word.known().is_none());
            let unknown = program.is_some_and(|program| program.span != effect.span);
            let access = if unknown { Access::Delete } else { access };
            let evidence = evidence(command, effect.span);
            let possible =
                unknown || effect.alternative || matches!(effect.path, Value::Unknown { why: Why::Directory, .. });
            let (path, written) = (effect.path.clone(), effect.written.clone());
            self.touched.push(Touched { access, path, written, evidence, possible });
        }
    }

    /// What could not be read to its end.
    fn uncertain(&mut self, script: &Script, command: &Field) {
        if let Some(why) = &script.unparsed {
            let whole = evidence(command, Span { start: 0, end: command.value.len() });
            let reason = format!("{why}, so it cannot be judged for certain");
            self.finding("builtin:unparsed", Action::Ask, &reason, vec![whole]);
        }
        for found in &script.commands {
            for word in &found.words {
                if let Value::Unknown { why: why @ Why::TooMuch, .. } = &word.value {
                    let reason = format!("a word cannot be judged: {why}");
                    self.finding("builtin:too-much", Action::Ask, &reason, vec![evidence(command, word.span)]);
                }
            }
            if found.unseen_script {
                let reason = "a shell runs commands that are not in the text, so they cannot be judged";
                self.finding("builtin:unseen-script", Action::Ask, reason, vec![evidence(command, found.span)]);
            }
            if let Some(program) = found.words.first()
                && let Value::Unknown { why: Why::CommandOutput, .. } = &program.value
            {
                let reason = "the program that runs is the output of another command, so it cannot be judged";
                self.finding("builtin:computed-program", Action::Ask, reason, vec![evidence(command, program.span)]);
            }
        }
    }

    /// The paths and patterns of the input's own fields.
    fn fields(&mut self) {
        let call = self.call;
        let access = match call.kind {
            Kind::Read | Kind::Search | Kind::List => Access::Read,
            Kind::Write => Access::Write,
            Kind::Shell | Kind::Fetch | Kind::Other => Access::Mention,
        };
        let whole = |field: &Field| evidence(field, Span { start: 0, end: field.value.len() });
        for field in &call.paths {
            let text = tilde(&field.value, call);
            let path = Value::Known(absolute(&text, &call.cwd));
            let dots = text.split('/').any(|part| part == "..");
            let written = dots.then(|| if text.starts_with('/') { text } else { format!("{}/{text}", call.cwd) });
            self.touched.push(Touched { access, path, written, evidence: whole(field), possible: false });
        }
        let base = call.paths.first().map(|field| absolute(&tilde(&field.value, call), &call.cwd));
        if base.is_none() && matches!(call.kind, Kind::Search | Kind::List) {
            let evidence = Evidence { field: "cwd".into(), start: 0, end: call.cwd.len(), text: call.cwd.clone() };
            let path = Value::Known(absolute("", &call.cwd));
            self.touched.push(Touched { access, path, written: None, evidence, possible: false });
        }
        for field in &call.globs {
            let base = base.as_deref().unwrap_or(&call.cwd);
            let pattern = field.value.trim_start_matches('!');
            // A negated pattern leaves files out.
            if pattern.len() == field.value.len() {
                let path = Value::Pattern(absolute(&tilde(pattern, call), base));
                self.touched.push(Touched { access, path, written: None, evidence: whole(field), possible: false });
            }
        }
    }

    fn paths(&mut self, links: &mut dyn Links) {
        // Each path is asked for once, however often the text names it.
        let asked: BTreeSet<String> = self.touched.iter().filter_map(Touched::asked).collect();
        let known: Vec<String> = asked.into_iter().collect();
        let resolved = match links.resolve(&known) {
            Ok(resolved) => resolved,
            Err(why) => {
                let reason = format!("where the paths lead could not be found out: {why}");
                self.finding("builtin:links", Action::Block, &reason, Vec::new());
                return;
            }
        };
        let real: BTreeMap<&String, String> =
            known.iter().zip(resolved).filter_map(|(path, real)| Some((path, real?))).collect();
        let guard = self.guard;
        let call = self.call;
        let home = call.home.as_deref();
        for touched in std::mem::take(&mut self.touched) {
            let real = touched.asked().and_then(|path| real.get(&path).filter(|real| **real != path).cloned());
            let mut hit: Vec<(&PathRule, Option<&str>)> = Vec::new();
            hit.extend(guard.paths.covering(&touched.path, home).into_iter().map(|rule| (rule, None)));
            if let Some(real) = &real {
                let behind = guard.paths.covering(&Value::Known(real.clone()), home);
                hit.extend(behind.into_iter().map(|rule| (rule, Some(real.as_str()))));
            }
            self.falls_with(&touched, real.as_deref());
            for (rule, behind) in hit {
                let deed = match (rule.policy, touched.access) {
                    (Policy::ZeroAccess, _) => "is not to be accessed",
                    (Policy::ReadOnly, Access::Write | Access::Delete) => "is read-only",
                    (Policy::NoDelete, Access::Delete) => "is not to be deleted or moved",
                    _ => continue,
                };
                let behind = behind.map(|real| format!(" (the link leads to {real})")).unwrap_or_default();
                let reason = format!(
                    "{} {deed}: it falls under {} {}{behind}",
                    touched.evidence.text,
                    rule.policy.key(),
                    rule.source
                );
                let action = if touched.possible { Action::Ask } else { Action::Block };
                let name = format!("{}: {}", rule.policy.key(), rule.source);
                self.finding(&name, action, &reason, vec![touched.evidence.clone()]);
            }
        }
    }

    /// What is protected below a path that is removed: one finding, however much it is.
    fn falls_with(&mut self, touched: &Touched, real: Option<&str>) {
        let (Access::Delete, Some(path)) = (touched.access, text(&touched.path)) else { return };
        let paths = &self.guard.paths;
        let home = self.call.home.as_deref();
        let mut below = paths.below(&path, home);
        below.extend(real.map(|real| paths.below(real, home)).unwrap_or_default());
        let Some(first) = below.first() else { return };
        let name = format!("{}: {}", first.policy.key(), first.source);
        let others = match below.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more protected paths"),
        };
        let reason = format!("{} holds {}{others}, which would go with it", touched.evidence.text, first.source);
        let action = if touched.possible { Action::Ask } else { Action::Block };
        self.finding(&name, action, &reason, vec![touched.evidence.clone()]);
    }

    fn verdict(mut self) -> Verdict {
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.action));
        Verdict { findings: self.findings }
    }
}

fn text(path: &Value) -> Option<String> {
    match path {
        Value::Known(text) => Some(text.clone()),
        _ => None,
    }
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
