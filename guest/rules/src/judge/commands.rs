//! The rules of packs and files on what commands say: those that say what they mean, and those that are a pattern.

use std::collections::HashSet;

use rustc_hash::FxHashSet;
use toolgate_shell::{Command, Script, Span, Value, Word};

use super::rule_match::RuleMatch;
use super::{Evaluation, Outcome, evidence, native};
use crate::call::{Evidence, Field, ToolKind};
use crate::matching::{DependsOn, MatchInput, Purpose, confirmed};
use crate::mismatch::Mismatch;
use crate::needs::CommandTraits;
use crate::pattern::Tried;
use crate::rule::Rule;
use crate::rule_id::RuleId;
use crate::rules::Part;
use crate::view::{Drafts, View, without_folder};
use crate::when::Surroundings;
use crate::world::GuardHost;

/// How many paths a reason names.
const NAMED: usize = 3;

impl<'a> Evaluation<'a> {
    /// The rules that say what they mean, on one command; and those that may come to something else on another one that is
    /// the same.
    pub(super) fn rules(
        &mut self,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
    ) -> Vec<(&'a Rule, Outcome)> {
        let program = subject.program();
        // Who wants to know why each rule did not fire is told of all.
        let has = self.considered.is_none().then(|| CommandTraits::of(subject.command, program));
        let guard = self.guard;
        let tried = guard.about(program, has).map(|rule| (rule, self.rule(rule, subject, field, world)));
        tried.filter(|(_, outcome)| outcome.found || outcome.reach != DependsOn::Command).collect()
    }

    /// One of these rules on one command.
    pub(super) fn rule(
        &mut self,
        rule: &'a Rule,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
    ) -> Outcome {
        subject.take_reach();
        let fires = self.fires(rule, subject, field, world);
        let (reach, found) = (subject.take_reach(), fires.is_ok());
        match fires {
            Ok(spans) => {
                self.consider(&rule.id, Some(subject.index), None);
                let mut evidence: Vec<Evidence> = spans.into_iter().map(|span| evidence(field, span)).collect();
                evidence.extend(self.written(rule));
                let places = places(rule, subject);
                let reason = rule.reason_about(&places);
                self.add(RuleMatch::of(rule, rule.action, reason, evidence));
            }
            Err(miss) => self.consider(&rule.id, Some(subject.index), Some(&miss)),
        }
        Outcome { reach, found }
    }

    /// Where what a file tool writes matches.
    fn written(&self, rule: &'a Rule) -> impl Iterator<Item = Evidence> {
        let fields =
            rule.what.content.iter().flat_map(|pattern| self.call.contents.iter().map(move |text| (pattern, text)));
        fields.filter_map(|(pattern, text)| match pattern.find(&text.value) {
            Tried::Found(range) => Some(evidence(text, Span { start: range.start, end: range.end })),
            _ => None,
        })
    }

    fn fires(
        &mut self,
        rule: &'a Rule,
        subject: &MatchInput<'_>,
        field: &Field,
        world: &mut dyn GuardHost,
    ) -> Result<Vec<Span>, Mismatch<'a>> {
        let mut spans = subject.check(&rule.what, Purpose::Rule)?;
        spans.extend(spelled(rule, subject.command, &field.value)?);
        self.here(rule, subject, world)?;
        self.not_exempt(rule, subject, &field.value, world)?;
        // Last, as git may be asked.
        native::agrees(rule, subject, &field.value, &mut self.held, world)?;
        Ok(spans)
    }

    /// Whether the surroundings are those of the rule.
    pub(super) fn here(
        &mut self,
        rule: &Rule,
        subject: &MatchInput<'_>,
        world: &mut dyn GuardHost,
    ) -> Result<(), Mismatch<'static>> {
        match &rule.when {
            Some(when) => self.surroundings(subject, world, |surroundings| surroundings.hold(when)),
            None => Ok(()),
        }
    }

    pub(super) fn surroundings<T>(
        &mut self,
        subject: &MatchInput<'_>,
        world: &mut dyn GuardHost,
        ask: impl FnOnce(&mut Surroundings<'_, '_>) -> T,
    ) -> T {
        subject.reaches(DependsOn::Text);
        let here = self.witnessed.as_ref().map(|witnessed| witnessed.before(subject.index)).unwrap_or_default();
        // A patch is no text that runs.
        let text = self.call.command.as_ref().filter(|_| self.call.kind != ToolKind::Write);
        // What a tool does stands in none, and is something that runs all the same.
        let source = match subject.command.action {
            Some(_) => Some(""),
            None => text.map(|field| field.value.as_str()),
        };
        ask(&mut Surroundings {
            command: subject.command,
            source,
            workspace: &self.call.workspace,
            home: self.call.home.as_deref(),
            world,
            branches: &mut self.branches,
            trackers: &self.trackers,
            events: self.call.events.as_ref(),
            here: &here,
        })
    }

    /// Whether no exemption of the user's lifts the rule from this command.
    pub(super) fn not_exempt(
        &mut self,
        rule: &Rule,
        subject: &MatchInput<'_>,
        source: &str,
        world: &mut dyn GuardHost,
    ) -> Result<(), Mismatch<'static>> {
        if rule.keeps_the_gate {
            return Ok(());
        }
        let guard = self.guard;
        for exemption in guard.exemptions.iter().filter(|one| one.paths.is_none() && rule.id.is_meant_by(&one.rules)) {
            let own = subject.check(&exemption.what, Purpose::Exemption).is_ok()
                && exemption.pattern.as_ref().is_none_or(|pattern| {
                    matches!(pattern.find(&View::of(subject.command, source).text), Tried::Found(_))
                });
            let holds = own
                && exemption.when.as_ref().is_none_or(|when| {
                    self.surroundings(subject, world, |surroundings| surroundings.hold(when)).is_ok()
                });
            if holds {
                return Err(Mismatch::Conditions("an exemption in your rule file applies"));
            }
        }
        Ok(())
    }

    /// The rules that are patterns, on the texts of commands, pipelines and lists.
    pub(super) fn patterns(
        &mut self,
        script: &Script,
        subjects: &[MatchInput<'_>],
        field: &'a Field,
        world: &mut dyn GuardHost,
    ) {
        let guard = self.guard;
        let parts: Vec<&Part> = guard.active().filter(|part| part.pattern_rules().next().is_some()).collect();
        if parts.is_empty() {
            return;
        }
        let source = field.value.as_str();
        let mut fired: HashSet<&RuleId> = HashSet::new();
        // Of texts that are put together from the same commands in the same way the first is tried. If no pattern matches
        // there, none matches the others.
        let first = |number: usize| subjects.get(number).map_or(number, |subject| subject.first);
        let drafts = Drafts::of(script, source);
        let mut without = FxHashSet::default();
        // What is in none of the texts is in the source all the same.
        let mut cut = script.unparsed.is_some();
        for draft in drafts.all() {
            let key = drafts.key(draft, first);
            if without.contains(&key) {
                continue;
            }
            let view = drafts.view(draft);
            cut |= view.cut;
            let rules = parts.iter().flat_map(|part| part.patterns(&view.text)).filter(|rule| !rule.raw);
            if !self.spells(&view, rules, (subjects, field), world, &mut fired) {
                without.insert(key);
            }
        }
        let raw = View::raw(source);
        let rules = parts.iter().flat_map(|part| part.patterns(&raw.text)).filter(|rule| rule.raw || cut);
        self.spells(&raw, rules, (subjects, field), world, &mut fired);
        if self.considered.is_some() {
            let silent = parts.iter().flat_map(|part| part.pattern_rules());
            let silent: Vec<&RuleId> = silent.map(|rule| &rule.id).filter(|id| !fired.contains(id)).collect();
            for id in silent {
                self.consider(id, None, Some(&Mismatch::Pattern));
            }
        }
    }

    /// Tries rules that are patterns on one text. Whether the pattern of one matches, be the rule lifted or not.
    fn spells<'r>(
        &mut self,
        view: &View,
        rules: impl Iterator<Item = &'r Rule>,
        (subjects, field): (&[MatchInput<'_>], &Field),
        world: &mut dyn GuardHost,
        fired: &mut HashSet<&'r RuleId>,
    ) -> bool {
        let source = field.value.as_str();
        let mut matches = false;
        for rule in rules {
            let Some(pattern) = &rule.pattern else { continue };
            let (found, why) = match pattern.find(&view.text) {
                Tried::No => continue,
                Tried::Found(range) => (view.source(&range), None),
                Tried::TooMuch(why) => (view.source(&(0..view.text.len())), Some(why)),
            };
            matches = true;
            let command = view.command.unwrap_or(0);
            let held = confirmed(rule, &view.text).and_then(|()| not_excepted(rule, view)).and_then(|()| {
                match subjects.get(command) {
                    Some(subject) => self.here(rule, subject, world).and_then(|()| match view.single {
                        true => self.not_exempt(rule, subject, source, world),
                        // An exemption is for one command, and not for those beside it.
                        false => Ok(()),
                    }),
                    None => Ok(()),
                }
            });
            if let Err(miss) = held {
                self.consider(&rule.id, view.command, Some(&miss));
                continue;
            }
            fired.insert(&rule.id);
            self.consider(&rule.id, view.command, None);
            let reason = match why {
                Some(why) => format!("{why}; this counts as a match ({})", rule.reason_about("")),
                None => rule.reason_about(""),
            };
            self.add(RuleMatch::of(rule, rule.action, reason, vec![evidence(field, found)]));
        }
        matches
    }
}

/// Folders in which a program is the one that its name says.
const PROGRAM_FOLDERS: &[&str] =
    &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// Whether the patterns of a rule that says what it means hold on a command, as it is written or without its program's
/// folder; and where its own one matches.
fn spelled(rule: &Rule, command: &Command, source: &str) -> Result<Option<Span>, Mismatch<'static>> {
    if rule.pattern.is_none() && rule.requires.is_none() && rule.unless.is_none() {
        return Ok(None);
    }
    let fit = |view: &View| {
        let span = match rule.pattern.as_ref().map(|pattern| pattern.find(&view.text)) {
            None => None,
            Some(Tried::No) => return Err(Mismatch::Pattern),
            Some(Tried::Found(range)) => Some(view.source(&range)),
            Some(Tried::TooMuch(_)) => Some(command.span),
        };
        confirmed(rule, &view.text).map(|()| span)
    };
    let bare = without_folder(command).map(|bare| fit(&View::of(&bare, source)));
    let folder = command.words.first().and_then(Word::known).and_then(|program| program.rsplit_once('/'));
    let is_known = folder.is_some_and(|(folder, _)| PROGRAM_FOLDERS.contains(&folder));
    match (fit(&View::of(command, source)), bare) {
        (Err(Mismatch::Unless), _) => Err(Mismatch::Unless),
        // What excepts `git rm` does not except another program of that name.
        (_, Some(Err(Mismatch::Unless))) if is_known => Err(Mismatch::Unless),
        (Err(_), Some(Ok(span))) => Ok(span),
        (written, _) => written,
    }
}

/// Whether what excepts a rule from a command does not match it with its program's folder.
fn not_excepted(rule: &Rule, view: &View) -> Result<(), Mismatch<'static>> {
    let (Some(text), Some(unless)) = (&view.written, &rule.unless) else { return Ok(()) };
    if matches!(unless.find(text), Tried::Found(_)) { Err(Mismatch::Unless) } else { Ok(()) }
}

/// The paths that make a rule fire, and where they lie.
fn places(rule: &Rule, subject: &MatchInput<'_>) -> String {
    let (mut told, mut seen) = (Vec::new(), HashSet::new());
    for (effect, place) in rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted)) {
        let text = effect.path.text();
        // There may be thousands, of which few are named.
        if seen.insert((text.to_owned(), place.describe())) && seen.len() <= NAMED {
            told.push(format!("{} is {}", text.replace(Value::HOLE, "…"), place.describe()));
        }
    }
    if seen.len() > NAMED {
        told.push(format!("and {} more", seen.len() - NAMED));
    }
    told.join(", ")
}
