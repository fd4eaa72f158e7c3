//! From a call to a verdict.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use toolgate_shell::{Command, Effect, Facts, Kind as Deed, Runs, Script, Span, Value, Why, absolute, parse};

use super::flow::{self, Source};
use super::matching::{Miss, Subject, Surroundings, World, confirmed, is_implied};
use super::overrides;
use super::path_rules::{PathRule, Policy};
use super::pattern::Tried;
use super::place::{Map, Place, RealMap, is_elsewhere};
use super::rule::{Layer, Rule, named};
use super::rules::{Guard, Part};
use super::view::{View, views};
use crate::call::{Action, Call, Evidence, Field, Finding, Kind, Verdict};

/// Longest evidence that is repeated in a finding; the positions always give the whole match.
const LONGEST_EVIDENCE: usize = 400;

/// Words in a reason that name what it is about.
const NAMED_WORDS: usize = 3;

/// Rules that no comment and no exemption lifts begin so: they keep the gate itself.
const SELF: &str = "builtin:self-";

/// What the shell engine is told of the files. That something is not there now does not keep it from being there when
/// the text runs, so that no command is taken for one that never runs because of it.
struct Lasting(std::rc::Rc<dyn toolgate_shell::Look>);

impl toolgate_shell::Look for Lasting {
    fn look(&self, path: &str) -> toolgate_shell::Presence {
        match self.0.look(path) {
            toolgate_shell::Presence::Absent => toolgate_shell::Presence::Unknown,
            there => there,
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        self.0.real(path)
    }

    fn script(&self, path: &str) -> Option<String> {
        self.0.script(path)
    }
}

/// A rule that was tried on a command, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Considered {
    /// The rule.
    pub rule: String,
    /// The place of the command in the walk; `None` for the text as a whole.
    pub command: Option<usize>,
    /// `None` if it fired; else why it did not.
    pub missed: Option<String>,
}

/// A verdict, and how it came about.
#[derive(Debug)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// What the text was read as.
    pub script: Option<Script>,
    /// Every rule that was tried, by command.
    pub considered: Vec<Considered>,
}

impl Guard {
    /// Judges a call.
    pub fn judge(&self, call: &Call, world: &mut dyn World) -> Verdict {
        self.inquire(call, world, false).verdict
    }

    /// Judges a call and says how.
    pub fn explain(&self, call: &Call, world: &mut dyn World) -> Explanation {
        self.inquire(call, world, true)
    }

    fn inquire(&self, call: &Call, world: &mut dyn World, explains: bool) -> Explanation {
        // Facts that do not know the place itself speak of another machine.
        let here = absolute("", &call.cwd);
        let look = world.look().filter(|look| look.look(&here) == toolgate_shell::Presence::Folder);
        let trackers: Vec<String> = self.trackers.iter().map(|_| super::branch::TRACKER.to_owned()).collect();
        let mut facts = Facts::new(&call.cwd);
        if let Some(home) = &call.home {
            facts = facts.home(home);
        }
        if let Some(look) = &look {
            facts = facts.files(std::rc::Rc::new(Lasting(std::rc::Rc::clone(look))));
        }
        if let Some(trackers) = &self.trackers {
            facts = facts.trackers(std::rc::Rc::clone(trackers));
        }
        let map = Map::new(&call.workspace, call.home.as_deref());
        let real_map = OnceCell::new();
        let mut inquiry = Inquiry {
            guard: self,
            call,
            map: &map,
            real_map: &real_map,
            touched: Vec::new(),
            findings: Vec::new(),
            considered: explains.then(Vec::new),
            comments: Vec::new(),
            branches: HashMap::new(),
            trackers,
        };
        let mut script = None;
        match (&call.command, call.kind) {
            (Some(command), _) => {
                let parsed = parse(&command.value, &facts);
                inquiry.command(command, &parsed, world, look.as_deref());
                script = Some(parsed);
            }
            (None, Kind::Shell) => inquiry.finding(
                "builtin:no-command",
                Action::Block,
                "the call runs a shell, and its command could not be read",
                Vec::new(),
            ),
            (None, _) => {}
        }
        if let (Some(first), Some(command)) = (&script, &call.command)
            && first.unparsed.is_none()
            && has_unset(first)
        {
            // What nothing sets may be empty: `$X/*` is `/*` then, and `${X:-rm}` is rm.
            let facts = facts.variable("TMPDIR", "/tmp/tmpdir").variable("USER", "user").complete();
            let second = parse(&command.value, &facts);
            inquiry.unset(command, first, &second, world, look.as_deref());
        }
        inquiry.fields();
        if script.is_none() {
            inquiry.tool(world, look.as_deref());
        }
        inquiry.paths(world, look.as_deref());
        let considered = inquiry.considered.take().unwrap_or_default();
        Explanation { verdict: inquiry.verdict(), script, considered }
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
    /// It is made as a folder with nothing in it.
    MakeFolder,
    /// It gets another name and is gone from here.
    Move,
    /// It is removed, with everything below it.
    Delete,
}

impl Access {
    /// None for what does not happen to a path here.
    fn of(deed: Deed) -> Option<Self> {
        match deed {
            Deed::Mention | Deed::Execute => Some(Access::Mention),
            Deed::Read => Some(Access::Read),
            Deed::Write | Deed::Append | Deed::Create | Deed::Link | Deed::Mode => Some(Access::Write),
            Deed::Move => Some(Access::Move),
            Deed::Delete => Some(Access::Delete),
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
    map: &'a Map<'a>,
    real_map: &'a OnceCell<Option<RealMap>>,
    touched: Vec<Touched>,
    findings: Vec<Finding>,
    considered: Option<Vec<Considered>>,
    /// The comments of the text, and what a file tool writes.
    comments: Vec<String>,
    branches: HashMap<String, Option<Option<String>>>,
    trackers: Vec<String>,
}

impl<'a> Inquiry<'a> {
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

    fn consider(&mut self, rule: &str, command: Option<usize>, missed: Option<&Miss>) {
        if let Some(considered) = &mut self.considered {
            let missed = missed.map(Miss::describe);
            considered.push(Considered { rule: rule.to_owned(), command, missed });
        }
    }

    fn command(
        &mut self,
        field: &'a Field,
        script: &Script,
        world: &mut dyn World,
        look: Option<&dyn toolgate_shell::Look>,
    ) {
        let source = field.value.as_str();
        let comments = script.comments.iter().filter_map(|span| source.get(span.start..span.end));
        self.comments = comments.map(str::to_owned).collect();
        let home = self.call.home.as_deref();
        let subjects: Vec<Subject<'_>> = (0..script.commands.len())
            .map(|index| Subject::new(script, index, &self.guard.grammars, self.map, home, look, self.real_map))
            .collect();
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            for part in self.guard.active() {
                self.rules(part, subject, field, world);
            }
            self.effects(subject.command, subject.index, script, field);
            if script.unparsed.is_none() {
                self.forced(subject.command, field);
                self.endless(subject.command, field);
            }
        }
        self.patterns(script, &subjects, field, world);
        self.found_elsewhere(&subjects, field);
        self.runs(script, field, look);
        self.uncertain(script, field);
    }

    /// Judges the text once more as it is if variables that nothing sets are empty. What only comes of that asks, and only
    /// where files go or where the program itself was not known.
    fn unset(
        &mut self,
        field: &'a Field,
        first: &Script,
        second: &Script,
        world: &mut dyn World,
        look: Option<&dyn toolgate_shell::Look>,
    ) {
        let unknown: Vec<Span> = first
            .commands
            .iter()
            .filter(|command| command.words.first().is_some_and(|word| word.known().is_none()))
            .map(|command| command.span)
            .collect();
        let (before, considered) = (std::mem::take(&mut self.findings), self.considered.take());
        let touched = std::mem::take(&mut self.touched);
        self.command(field, second, world, look);
        self.paths(world, look);
        let found = std::mem::replace(&mut self.findings, before);
        (self.considered, self.touched) = (considered, touched);
        for finding in found {
            let by_default = finding.evidence.iter().any(|one| one.text.contains(":-") || one.text.contains(":="));
            let own = finding.rule.strip_prefix("builtin:").unwrap_or_default();
            // What cannot be read if something else holds that is not known says nothing.
            if matches!(own, "unparsed" | "unseen-script" | "too-much") {
                continue;
            }
            let removes = matches!(own, "remove-everything" | "remove-home" | "remove-system" | "overwrite-everything")
                || by_default && matches!(own, "remove-outside" | "overwrite-outside");
            let of_unknown = finding
                .evidence
                .iter()
                .any(|one| unknown.iter().any(|span| one.start >= span.start && one.end <= span.end));
            if finding.action != Action::Note && (removes || of_unknown) && !self.has(&finding.rule) {
                let reason = format!("if the variables that nothing sets here are empty: {}", finding.reason);
                self.finding(&finding.rule, Action::Ask, &reason, finding.evidence);
            }
        }
    }

    fn has(&self, rule: &str) -> bool {
        self.findings.iter().any(|finding| finding.rule == rule)
    }

    /// The rules of one pack or file that say what they mean, on one command.
    fn rules(&mut self, part: &'a Part, subject: &Subject<'_>, field: &Field, world: &mut dyn World) {
        let program = subject.invocation().map(|found| found.program);
        for rule in part.about(program) {
            match self.fires(rule, subject, field, world) {
                Ok(spans) => {
                    self.consider(&rule.name, Some(subject.index), None);
                    let evidence: Vec<Evidence> = spans.into_iter().map(|span| evidence(field, span)).collect();
                    let places = places(rule, subject);
                    let reason = reason(rule, &places);
                    self.finding(&rule.name, rule.action, &reason, evidence);
                }
                Err(miss) => self.consider(&rule.name, Some(subject.index), Some(&miss)),
            }
        }
    }

    fn fires(
        &mut self,
        rule: &Rule,
        subject: &Subject<'_>,
        field: &Field,
        world: &mut dyn World,
    ) -> Result<Vec<Span>, Miss> {
        let mut spans = subject.check(&rule.what)?;
        if rule.pattern.is_some() || rule.requires.is_some() || rule.unless.is_some() {
            let view = View::of(subject.command, &field.value);
            if let Some(pattern) = &rule.pattern {
                match pattern.find(&view.text) {
                    Tried::No => return Err(Miss::Pattern),
                    Tried::Found(range) => spans.push(view.source(&range)),
                    Tried::TooMuch(_) => spans.push(subject.command.span),
                }
            }
            confirmed(rule, &view.text)?;
        }
        self.here(rule, subject, world)?;
        self.not_exempt(&rule.name, subject, &field.value, world)?;
        Ok(spans)
    }

    /// Whether the surroundings are those of the rule.
    fn here(&mut self, rule: &Rule, subject: &Subject<'_>, world: &mut dyn World) -> Result<(), Miss> {
        match &rule.when {
            Some(when) => self.surroundings(subject, world, |surroundings| surroundings.hold(when)),
            None => Ok(()),
        }
    }

    fn surroundings<T>(
        &mut self,
        subject: &Subject<'_>,
        world: &mut dyn World,
        ask: impl FnOnce(&mut Surroundings<'_, '_>) -> T,
    ) -> T {
        ask(&mut Surroundings {
            command: subject.command,
            workspace: &self.call.workspace,
            world,
            branches: &mut self.branches,
            trackers: &self.trackers,
        })
    }

    /// Whether no exemption of the user's lifts the rule from this command.
    fn not_exempt(
        &mut self,
        name: &str,
        subject: &Subject<'_>,
        source: &str,
        world: &mut dyn World,
    ) -> Result<(), Miss> {
        if name.starts_with(SELF) {
            return Ok(());
        }
        let guard = self.guard;
        for exemption in guard.exemptions.iter().filter(|one| one.paths.is_none() && named(&one.rules, name)) {
            let own = subject.check(&exemption.what).is_ok()
                && exemption.pattern.as_ref().is_none_or(|pattern| {
                    matches!(pattern.find(&View::of(subject.command, source).text), Tried::Found(_))
                });
            let holds = own
                && exemption.when.as_ref().is_none_or(|when| {
                    self.surroundings(subject, world, |surroundings| surroundings.hold(when)).is_ok()
                });
            if holds {
                return Err(Miss::When("your own file exempts it".into()));
            }
        }
        Ok(())
    }

    /// The rules that are patterns, on the texts of commands, pipelines and lists.
    fn patterns(&mut self, script: &Script, subjects: &[Subject<'_>], field: &'a Field, world: &mut dyn World) {
        let guard = self.guard;
        let parts: Vec<&Part> = guard.active().filter(|part| part.pattern_rules().next().is_some()).collect();
        if parts.is_empty() {
            return;
        }
        let source = field.value.as_str();
        let mut texts = views(script, source);
        texts.push(View::raw(source));
        let last = texts.len() - 1;
        let mut fired: HashSet<&str> = HashSet::new();
        for (at, view) in texts.iter().enumerate() {
            for rule in parts.iter().flat_map(|part| part.patterns(&view.text)) {
                if rule.raw != (at == last) && !(at == last && script.unparsed.is_some()) {
                    continue;
                }
                let Some(pattern) = &rule.pattern else { continue };
                let (found, why) = match pattern.find(&view.text) {
                    Tried::No => continue,
                    Tried::Found(range) => (view.source(&range), None),
                    Tried::TooMuch(why) => (view.source(&(0..view.text.len())), Some(why)),
                };
                let command = view.command.unwrap_or(0);
                let held = confirmed(rule, &view.text).and_then(|()| match subjects.get(command) {
                    Some(subject) => self.here(rule, subject, world).and_then(|()| match view.single {
                        true => self.not_exempt(&rule.name, subject, source, world),
                        // An exemption is for one command, and not for those beside it.
                        false => Ok(()),
                    }),
                    None => Ok(()),
                });
                if let Err(miss) = held {
                    self.consider(&rule.name, view.command, Some(&miss));
                    continue;
                }
                fired.insert(&rule.name);
                self.consider(&rule.name, view.command, None);
                let reason = match why {
                    Some(why) => format!("{why}, so it counts as matching ({})", reason(rule, "")),
                    None => reason(rule, ""),
                };
                self.finding(&rule.name, rule.action, &reason, vec![evidence(field, found)]);
            }
        }
        if self.considered.is_some() {
            let silent = parts.iter().flat_map(|part| part.pattern_rules());
            let silent: Vec<&str> =
                silent.map(|rule| rule.name.as_str()).filter(|name| !fired.contains(name)).collect();
            for name in silent {
                self.consider(name, None, Some(&Miss::Pattern));
            }
        }
    }

    fn effects(&mut self, found: &Command, index: usize, script: &Script, command: &Field) {
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
            // What another program is told is no path of this one.
            let told = effect.kind == Deed::Mention
                && script.commands[index + 1..]
                    .iter()
                    .take_while(|other| other.via.len() > found.via.len())
                    .any(|other| other.group != found.group && other.span.end >= effect.span.start);
            if told {
                continue;
            }
            if keeps_to_itself(found, effect) {
                continue;
            }
            // What no word names, as git's own files, is what the program is there for; so is what it makes somewhere
            // below its folder.
            let below = matches!(&effect.path, Value::Pattern(pattern) if pattern.ends_with("/**"));
            let searches = matches!(found.program(), Some("find" | "fd" | "fdfind"));
            if is_implied(found, effect) || below && effect.span == found.span && !searches {
                continue;
            }
            // It is given more of them when it runs.
            if found.more_words && found.program() == Some("find") && effect.kind == Deed::Delete && self.is_on("files")
            {
                let reason = "removes what another command names; instead: let it print them first, and look";
                self.finding("builtin:remove-piped", Action::Ask, reason, vec![evidence(command, effect.span)]);
            }
            // A program that is not known may do anything to its operands.
            let program = found.words.first().filter(|word| word.known().is_none());
            let unknown = program.is_some_and(|program| program.span != effect.span);
            let access = match effect.kind {
                _ if unknown => Access::Delete,
                Deed::Create if effect.folder => Access::MakeFolder,
                _ => access,
            };
            let evidence = evidence(command, effect.span);
            // `$CC -I../include -o x` makes things.
            let compiles = || {
                found.words.iter().filter_map(toolgate_shell::Word::known).any(|word| {
                    matches!(word, "-o" | "-cf" | "-uf" | "-shared") || word.starts_with("-I") || word.starts_with("-o")
                })
            };
            if unknown && is_elsewhere(self.map.of(&effect.path, true)) && !compiles() {
                let reason = "a program that is not known before it runs works on what is outside the workspace";
                self.finding("builtin:unknown-program", Action::Ask, reason, vec![evidence.clone()]);
            }
            let possible =
                unknown || effect.alternative || matches!(effect.path, Value::Unknown { why: Why::Directory, .. });
            let (path, written) = (effect.path.clone(), effect.written.clone());
            self.touched.push(Touched { access, path, written, evidence, possible });
        }
    }

    /// Files that a search outside the workspace finds, and that something unnamed is done to.
    fn found_elsewhere(&mut self, subjects: &[Subject<'_>], field: &Field) {
        let searches = |subject: &&Subject<'_>| {
            let lists = matches!(
                subject.command.program(),
                Some(
                    "find"
                        | "fd"
                        | "fdfind"
                        | "ls"
                        | "locate"
                        | "plocate"
                        | "tree"
                        | "grep"
                        | "rg"
                        | "du"
                        | "printf"
                        | "echo"
                )
            );
            let places = subject.command.effects.iter().zip(subject.places());
            // `echo "// text"` prints no path.
            let named = |word: &&str| *word == "/" || word.contains(char::is_alphanumeric);
            let words = || {
                let known = subject.command.words.iter().skip(1).filter_map(toolgate_shell::Word::known);
                known.flat_map(str::split_whitespace).filter(named)
            };
            let printed = matches!(subject.command.program(), Some("printf" | "echo"));
            lists
                && (places.into_iter().any(|(effect, place)| effect.kind == Deed::Read && is_elsewhere(*place))
                    || printed && words().any(|word| word.starts_with('/') && is_elsewhere(self.map.place(word))))
        };
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let Some(search) = running().find(searches) else { return };
        let search = search.command.span;
        let mut hit = Vec::new();
        for subject in running() {
            for (effect, place) in subject.command.effects.iter().zip(subject.places()) {
                let unnamed = match &effect.path {
                    Value::Unknown { shape, .. } => {
                        matches!(place, Place::Found | Place::Unknown)
                            && shape.trim_matches(['/', Value::HOLE]).is_empty()
                    }
                    _ => false,
                };
                let loses = matches!(effect.kind, Deed::Delete | Deed::Move | Deed::Write | Deed::Mode | Deed::Link);
                if unnamed && loses {
                    hit.push(evidence(field, effect.span));
                }
            }
        }
        if !hit.is_empty() && self.is_on("files") {
            hit.push(evidence(field, search));
            let reason = "changes or removes what a search outside the workspace finds; instead: keep to the workspace, \
                          or name the files";
            self.finding("builtin:change-found", Action::Ask, reason, hit);
        }
    }

    /// What is run without anyone having seen it.
    fn runs(&mut self, script: &Script, field: &Field, look: Option<&dyn toolgate_shell::Look>) {
        if script.unparsed.is_some() {
            return;
        }
        for run in flow::unseen(script, look) {
            let (rule, action, reason) = match (run.source, run.file) {
                (Source::Downloaded, false) => (
                    "builtin:download-and-run",
                    if run.vouched { Action::Ask } else { Action::Block },
                    "runs a text from the network without anyone having seen it; instead: download it to a file, read \
                     it, then run it",
                ),
                (Source::Downloaded, true) => (
                    "builtin:download-and-run",
                    Action::Ask,
                    "runs a file that was just downloaded; instead: read it before it runs",
                ),
                (Source::Decoded, _) => (
                    "builtin:decode-and-run",
                    Action::Block,
                    "runs a text that is decoded on the way, so that nobody has seen it; instead: decode it to a file, \
                     read it, then run it",
                ),
                (Source::Unseen, _) => (
                    "builtin:unseen-script",
                    Action::Ask,
                    "a shell runs commands that are not in the text, so they cannot be judged",
                ),
            };
            let evidence = vec![evidence(field, run.span)];
            if !self.is_on("execution") && run.source != Source::Unseen {
                continue;
            }
            self.finding(rule, action, reason, evidence);
        }
    }

    fn is_on(&self, pack: &str) -> bool {
        self.guard.active().any(|part| part.is_pack && part.name == pack)
    }

    /// A function that calls itself and nothing else decides whether it does.
    fn endless(&mut self, found: &Command, field: &Field) {
        let Some(program) = found.program() else { return };
        if found.opaque && found.runs == Runs::Certainly && found.via.iter().any(|via| via == program) {
            let reason = "starts itself without end";
            self.finding("builtin:fork-bomb", Action::Block, reason, vec![evidence(field, found.span)]);
        }
    }

    /// A program that is not known, with options that only programs that remove or force something have.
    fn forced(&mut self, found: &Command, field: &Field) {
        const TELLING: &[&str] = &[
            "-delete",
            "-exec",
            "-execdir",
            "-rf",
            "-fr",
            "-Rf",
            "-fR",
            "-rfv",
            "--hard",
            "--force",
            "--recursive",
            "--no-preserve-root",
            "-ffdxq",
            "-fdx",
            "-ffdx",
            "-xdf",
        ];
        if found.words.first().is_none_or(|word| word.known().is_some()) {
            return;
        }
        let texts = || found.words.windows(2).filter(|pair| pair[0].known() == Some("-c"));
        let text = texts().map(|pair| &pair[1]).find(|word| word.value.text().contains(char::is_whitespace));
        let telling = found.words.iter().skip(1).find(|word| word.known().is_some_and(|text| TELLING.contains(&text)));
        let telling = telling.or(text);
        if let Some(word) = telling {
            let reason = "a program that is not known before it runs is told to remove or force something";
            self.finding("builtin:unknown-program", Action::Ask, reason, vec![evidence(field, word.span)]);
        }
    }

    /// What could not be read to its end.
    fn uncertain(&mut self, script: &Script, command: &Field) {
        if let Some(why) = &script.unparsed {
            let whole = evidence(command, Span { start: 0, end: command.value.len() });
            let reason = format!("{why}, so it cannot be judged for certain");
            self.finding("builtin:unparsed", Action::Ask, &reason, vec![whole]);
        }
        // A stored script that cannot be followed is one that cannot be read.
        for word in script.commands.iter().filter(|found| !found.stored).flat_map(|found| &found.words) {
            if let Value::Unknown { why: why @ Why::TooMuch, .. } = &word.value {
                let reason = format!("a word cannot be judged: {why}");
                self.finding("builtin:too-much", Action::Ask, &reason, vec![evidence(command, word.span)]);
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

    /// What a file tool does, for the rules that are about effects.
    fn tool(&mut self, world: &mut dyn World, look: Option<&dyn toolgate_shell::Look>) {
        let call = self.call;
        let kind = match call.kind {
            Kind::Read | Kind::Search | Kind::List => Deed::Read,
            Kind::Write => Deed::Write,
            Kind::Shell | Kind::Fetch | Kind::Other => Deed::Mention,
        };
        for field in &call.paths {
            let path = absolute(&tilde(&field.value, call), &call.cwd);
            // Rules are about where things are, behind links as well.
            let real = world.resolve(std::slice::from_ref(&path)).ok().and_then(|mut real| real.pop().flatten());
            let span = Span { start: 0, end: field.value.len() };
            let paths = [Some(path.clone()), real.filter(|real| *real != path)];
            let effects = paths.into_iter().flatten().map(|path| Effect {
                kind,
                path: Value::Known(path),
                written: None,
                span,
                recursive: false,
                folder: false,
                copied: false,
                certain: true,
                alternative: false,
            });
            let command = Command::of_effects(effects.collect(), span, &call.cwd);
            let script = Script { commands: vec![command], ..Script::default() };
            let home = call.home.as_deref();
            let subject = Subject::new(&script, 0, &self.guard.grammars, self.map, home, look, self.real_map);
            for part in self.guard.active() {
                self.rules(part, &subject, field, world);
            }
        }
    }

    fn paths(&mut self, world: &mut dyn World, look: Option<&dyn toolgate_shell::Look>) {
        // Each path is asked for once, however often the text names it.
        let asked: BTreeSet<String> = self.touched.iter().filter_map(Touched::asked).collect();
        let known: Vec<String> = asked.into_iter().collect();
        let resolved = match world.resolve(&known) {
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
        let home = self.call.home.as_deref();
        for touched in std::mem::take(&mut self.touched) {
            let real = touched.asked().and_then(|path| real.get(&path).filter(|real| **real != path).cloned());
            self.falls_with(&touched, real.as_deref());
            let mut hit: Vec<(&PathRule, Option<&str>)> = Vec::new();
            for part in guard.active() {
                hit.extend(part.paths.covering(&touched.path, home).into_iter().map(|rule| (rule, None)));
                if let Some(real) = &real {
                    let behind = part.paths.covering(&Value::Known(real.clone()), home);
                    hit.extend(behind.into_iter().map(|rule| (rule, Some(real.as_str()))));
                }
            }
            // A glob that may stand for many of them is one finding.
            let one_is_enough = !matches!(touched.path, Value::Known(_));
            let mut told: Vec<(Policy, bool)> = Vec::new();
            for (rule, behind) in hit {
                let kind = (rule.policy, rule.ask);
                if one_is_enough && told.contains(&kind) {
                    continue;
                }
                let deed = match (rule.policy, touched.access) {
                    // Nothing in an empty folder could be run, which is why the built-in ones are read-only.
                    (Policy::ReadOnly, Access::MakeFolder)
                        if rule.layer == Layer::BuiltIn && !rule.keeps_the_gate() =>
                    {
                        continue;
                    }
                    (Policy::NoRead, Access::Write | Access::MakeFolder | Access::Delete) => continue,
                    (Policy::ReadOnly, Access::Read | Access::Mention) => continue,
                    (Policy::NoDelete, Access::Read | Access::Mention | Access::Write | Access::MakeFolder) => continue,
                    (policy, _) => policy.describe(),
                };
                let name = rule.name();
                let may = match &touched.path {
                    Value::Pattern(pattern) => match rule.below(pattern, look) {
                        Some(false) => continue,
                        there => there.is_none(),
                    },
                    _ => false,
                };
                if self.path_exempt(rule, &name, &touched, real.as_deref()) {
                    continue;
                }
                let behind = behind.map(|real| format!(" (the link leads to {real})")).unwrap_or_default();
                let why = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let reason = format!(
                    "{} {deed}: it falls under {} {}{behind}{why}",
                    touched.evidence.text,
                    rule.policy.key(),
                    rule.source
                );
                let action = if touched.possible || rule.ask || may { Action::Ask } else { Action::Block };
                told.push(kind);
                self.finding(&name, action, &reason, vec![touched.evidence.clone()]);
            }
        }
    }

    /// Whether the user's own file lifts a path rule from this path, and from the one behind its links.
    fn path_exempt(&self, rule: &PathRule, name: &str, touched: &Touched, real: Option<&str>) -> bool {
        let home = self.call.home.as_deref();
        // Another user's rule, or the one that keeps the gate itself, stays.
        if rule.layer == Layer::Project || rule.keeps_the_gate() {
            return false;
        }
        self.guard.exemptions.iter().filter(|one| named(&one.rules, name)).any(|exemption| {
            let Some(paths) = &exemption.paths else { return false };
            let covers = |path: &Value| matches!(path, Value::Known(_)) && !paths.covering(path, home).is_empty();
            covers(&touched.path) && real.is_none_or(|real| covers(&Value::Known(real.to_owned())))
        })
    }

    /// What is protected below a path that is removed: one finding, however much it is.
    fn falls_with(&mut self, touched: &Touched, real: Option<&str>) {
        let (Access::Delete | Access::Move, Some(path)) = (touched.access, text(&touched.path)) else { return };
        let home = self.call.home.as_deref();
        let mut below = Vec::new();
        for part in self.guard.active() {
            below.extend(part.paths.below(&path, home));
            below.extend(real.map(|real| part.paths.below(real, home)).unwrap_or_default());
        }
        let Some(first) = below.first() else { return };
        let name = first.name();
        let others = match below.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more protected paths"),
        };
        let reason = format!("{} holds {}{others}, which would go with it", touched.evidence.text, first.source);
        let action = if touched.possible { Action::Ask } else { Action::Block };
        self.finding(&name, action, &reason, vec![touched.evidence.clone()]);
    }

    /// A comment lifts what the user's own file lets it lift.
    fn overridden(&mut self) {
        let guard = self.guard;
        if guard.overrides.is_empty() || self.comments.is_empty() {
            return;
        }
        for finding in &mut self.findings {
            let own = finding.rule.split_once(':').map_or("", |(_, own)| own);
            let rule = guard.active().flat_map(|part| &part.rules).find(|rule| rule.name == finding.rule);
            // Rules on paths, the gate's own files and failures to judge have no rule here.
            let Some(rule) = rule.filter(|rule| !rule.no_override && !rule.name.starts_with(SELF)) else { continue };
            if !named(&guard.overrides, &rule.name) {
                continue;
            }
            let given = self.comments.iter().find_map(|comment| {
                overrides::reason(comment, own).or_else(|| overrides::reason(comment, &finding.rule))
            });
            if let Some(given) = given {
                finding.action = Action::Note;
                finding.reason = format!("overridden: {given} ({})", finding.reason);
            }
        }
    }

    fn verdict(mut self) -> Verdict {
        self.overridden();
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.action));
        Verdict { findings: self.findings }
    }
}

/// Whether a text depends on variables that nothing in it sets.
fn has_unset(script: &Script) -> bool {
    let words = script.commands.iter().filter(|command| command.runs != Runs::Never).flat_map(|command| &command.words);
    words.into_iter().any(|word| matches!(&word.value, Value::Unknown { why: Why::Variable(_) | Why::Expansion, .. }))
}

/// Whether a program is told of a file of variables and shows nothing of it: as the environment of what it runs, which
/// is what such files are for, or as a name in a repository.
fn keeps_to_itself(found: &Command, effect: &Effect) -> bool {
    const OPTIONS: &[&str] = &["--env-file", "--env-file-if-exists", "dotenv_config_path"];
    // `run`: a container is somebody else's program.
    const PRINTS: &[&str] = &[
        "-p", "-e", "-c", "-pe", "--print", "--eval", "env", "printenv", "set", "export", "sh", "bash", "run", "exec",
        "create",
    ];
    const LISTS: &[&str] = &["check-ignore", "check-attr", "ls-files", "status", "log"];
    const PATCHES: &[&str] = &[
        "-p",
        "-u",
        "-U",
        "-L",
        "--patch",
        "--unified",
        "--word",
        "--color-w",
        "-c",
        "--cc",
        "-m",
        "--diff",
        "--remerge",
    ];
    let named = effect.path.text().rsplit('/').next().is_some_and(|name| name == ".env" || name.starts_with(".env."));
    if !matches!(effect.kind, Deed::Mention | Deed::Read) || !named {
        return false;
    }
    let words: Vec<&str> = found.words.iter().map(|word| word.value.text()).collect();
    let has = |names: &[&str], exact: bool| {
        words.iter().skip(1).any(|word| names.iter().any(|name| word == name || !exact && word.starts_with(name)))
    };
    if found.program() == Some("git") {
        return words.get(1).is_some_and(|word| LISTS.contains(word)) && !has(PATCHES, false);
    }
    let at = found.words.iter().position(|word| word.span == effect.span);
    let option = at.is_some_and(|at| {
        let given = words[at].split_once('=').map(|(option, _)| option);
        OPTIONS.contains(&given.unwrap_or_else(|| words[at.saturating_sub(1)]))
    });
    option && !has(PRINTS, true)
}

/// A rule's reason, what it is about here, and what would be fine.
fn reason(rule: &Rule, about: &str) -> String {
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    match &rule.instead {
        Some(instead) => format!("{}{about}; instead: {instead}", rule.reason),
        None => format!("{}{about}", rule.reason),
    }
}

/// The paths that make a rule fire, and where they lie.
fn places(rule: &Rule, subject: &Subject<'_>) -> String {
    let mut told: Vec<String> = Vec::new();
    for (effect, place) in rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted)) {
        let path = effect.path.text().replace(Value::HOLE, "…");
        let one = format!("{path} is {}", place.describe());
        if !told.contains(&one) {
            told.push(one);
        }
    }
    if told.len() > NAMED_WORDS {
        let more = told.len() - NAMED_WORDS;
        told.truncate(NAMED_WORDS);
        told.push(format!("and {more} more"));
    }
    told.join(", ")
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
