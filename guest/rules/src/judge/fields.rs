//! The rules on the fields of file tools.

use toolgate_shell::{Command, Effect, EffectKind, Script, Span, Value, absolute};

use super::rule_match::RuleMatch;
use super::{Evaluation, evidence, tilde};
use crate::call::{Call, Evidence, Field, ToolKind};
use crate::declared::Declared;
use crate::matching::{MatchInput, ScriptContext};
use crate::mismatch::Mismatch;
use crate::pattern::Tried;
use crate::rule::Rule;
use crate::rules::Part;
use crate::world::GuardHost;

/// A text that a pattern is tried on, in all its spellings, and where it stands.
struct Text<'a> {
    field: &'a Field,
    span: Span,
    spellings: Vec<String>,
}

impl<'a> Evaluation<'a> {
    /// Tries the rules on the fields of file tools. `script` is what a patch does, `declared` what is said as data.
    pub(super) fn field_rules(
        &mut self,
        script: Option<&Script>,
        declared: Option<&Declared<'a>>,
        world: &mut dyn GuardHost,
    ) {
        let (guard, call) = (self.guard, self.call);
        let rules = || guard.active().flat_map(Part::field_rules);
        if call.kind == ToolKind::Shell || rules().next().is_none() {
            return;
        }
        let bare = Command::of_effects(Vec::new(), Span::default(), &call.cwd);
        let here = Script { commands: vec![bare], ..Script::default() };
        let scene = ScriptContext::new(&here, guard.tables(), self.map, call.home.as_deref(), None, self.real_map);
        let subject = scene.subject(0);
        // The text is not run.
        self.witnessed = None;
        let (paths, contents) = (paths(call, script, declared, world), contents(call));
        for rule in rules() {
            let Some(field) = rule.field.as_ref().filter(|field| field.is_about(call)) else { continue };
            let texts = if field.is_content() { &contents } else { &paths };
            match self.matches(rule, texts, &subject, world) {
                Ok(found) => {
                    self.consider(&rule.id, None, None);
                    self.add(RuleMatch::of(rule, rule.action, rule.reason_about(""), found));
                }
                Err(miss) => self.consider(&rule.id, None, Some(&miss)),
            }
        }
    }

    fn matches(
        &mut self,
        rule: &Rule,
        texts: &[Text<'_>],
        subject: &MatchInput<'_>,
        world: &mut dyn GuardHost,
    ) -> Result<Vec<Evidence>, Mismatch<'static>> {
        let Some(pattern) = &rule.pattern else { return Err(Mismatch::Pattern) };
        let fitting = texts.iter().filter_map(|text| {
            let found = text.spellings.iter().find_map(|one| match pattern.find(one) {
                Tried::No => None,
                // Of a path it is the whole that counts.
                Tried::Found(range) if *one == text.field.value => Some(Span { start: range.start, end: range.end }),
                Tried::Found(_) | Tried::TooMuch(_) => Some(text.span),
            });
            Some((text, found?))
        });
        let fitting: Vec<(&Text<'_>, Span)> = fitting.collect();
        if fitting.is_empty() {
            return Err(Mismatch::Pattern);
        }
        // One edit of several may have what another one needs.
        let any = |wanted: &dyn Fn(&str) -> bool| texts.iter().flat_map(|text| &text.spellings).any(|one| wanted(one));
        if rule.requires.as_ref().is_some_and(|requires| !any(&|text| requires.matches(text))) {
            return Err(Mismatch::Requires);
        }
        // What excepts one text says nothing of the others.
        let excepted = |text: &Text<'_>| {
            let excepts =
                |one: &String| rule.unless.as_ref().is_some_and(|unless| matches!(unless.find(one), Tried::Found(_)));
            text.spellings.iter().any(excepts)
        };
        let left: Vec<&(&Text<'_>, Span)> = fitting.iter().filter(|(text, _)| !excepted(text)).collect();
        if left.is_empty() {
            return Err(Mismatch::Unless);
        }
        self.here(rule, subject, world)?;
        let mut found = Vec::new();
        for (text, span) in left {
            if !self.exempt(rule, text, subject, world) {
                found.push(evidence(text.field, *span));
            }
        }
        if found.is_empty() { Err(Mismatch::Conditions("an exemption in your rule file applies")) } else { Ok(found) }
    }

    /// Whether an exemption of the user's lifts the rule from a text. Those that say what a command is do not.
    fn exempt(&mut self, rule: &Rule, text: &Text<'_>, subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
        let (guard, call) = (self.guard, self.call);
        let all_in = |rules: &crate::path_rules::PathRules| {
            let inside = |field: &Field| {
                rules.cover(&Value::Known(absolute(&tilde(&field.value, call), &call.cwd)), call.home.as_deref())
            };
            !call.paths.is_empty() && call.paths.iter().all(inside)
        };
        guard.exemptions.iter().filter(|one| rule.id.is_meant_by(&one.rules) && one.what.is_empty()).any(|one| {
            one.paths.as_ref().is_none_or(all_in)
                && one
                    .pattern
                    .as_ref()
                    .is_none_or(|pattern| text.spellings.iter().any(|one| matches!(pattern.find(one), Tried::Found(_))))
                && one.when.as_ref().is_none_or(|when| {
                    self.surroundings(subject, world, |surroundings| surroundings.hold(when)).is_ok()
                })
        })
    }
}

fn contents(call: &Call) -> Vec<Text<'_>> {
    let texts = call.contents.iter();
    let whole = |field: &Field| Span { start: 0, end: field.value.len() };
    texts.map(|field| Text { field, span: whole(field), spellings: vec![field.value.clone()] }).collect()
}

/// The paths that the call names, and those that its patch, or what it does besides, changes.
fn paths<'a>(
    call: &'a Call,
    script: Option<&Script>,
    declared: Option<&Declared<'a>>,
    world: &mut dyn GuardHost,
) -> Vec<Text<'a>> {
    let mut found: Vec<(&Field, Span, String)> = Vec::new();
    for field in &call.paths {
        let span = Span { start: 0, end: field.value.len() };
        found.push((field, span, absolute(&tilde(&field.value, call), &call.cwd)));
    }
    let changes = |effect: &&Effect| !matches!(effect.kind, EffectKind::Read | EffectKind::Mention);
    let effects = script.into_iter().flat_map(|script| &script.commands).flat_map(|command| &command.effects);
    for effect in effects.filter(changes) {
        if let (Some(field), Value::Known(path)) = (&call.command, &effect.path) {
            found.push((field, effect.span, path.clone()));
        }
    }
    for (declared, command) in declared.into_iter().flat_map(|one| one.script.commands.iter().map(move |c| (one, c))) {
        for effect in command.effects.iter().filter(changes) {
            if let (Some(field), Value::Known(path)) = (declared.at(effect.span).next(), &effect.path) {
                found.push((field, Span { start: 0, end: field.value.len() }, path.clone()));
            }
        }
    }
    let names: Vec<String> = found.iter().map(|(.., path)| path.clone()).collect();
    // Where it cannot be told, the path as it is written is what is left; path rules stop such a call.
    let real = world.resolve(&names).unwrap_or_else(|_| vec![None; names.len()]);
    let mut texts = Vec::new();
    for ((field, span, path), real) in found.into_iter().zip(real) {
        let real = real.filter(|real| *real != path);
        for path in [Some(path), real].into_iter().flatten() {
            let inside =
                path.strip_prefix(call.workspace.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            let spellings = inside.map(str::to_owned).into_iter().chain([path.clone()]).collect();
            texts.push(Text { field, span, spellings });
        }
    }
    texts
}
