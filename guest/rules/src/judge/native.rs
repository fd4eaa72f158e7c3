//! The rules of which no key of a rule file can say when they fire: what a text runs unseen, what a search finds, what cannot
//! be judged. Some have keys, and code agrees last: that git holds what is lost, or that something answers what git asks.
//!
//! | Module | For |
//! |---|---|
//! | `secret_flow` | secrets on their way, through variables, pipes and files, from call to call |
//! | `folder_loss` | folders with changes that no commit has |
//! | `code_secrets` | what code in another language takes from the environment |
//! | `self_truncation` | files that are emptied before they are read |
//! | `search_results` | what is done to the files that another command lists or finds |
//! | `token_passthrough` | tokens that go straight to the host that they are for |
//! | `unknown` | which word of a command is not known, and what would make it known |
//! | `unread_lists` | what is done to files whose names come from a file that was not read |
//! | `outside_names` | what is changed that only a file of the session names, and is outside the workspace |
//! | `port_probes` | what looks whether a port of another machine is open, and sends nothing |
//! | `loops` | loops and functions that call themselves and come to no end |
//! | `move_loss` | files that are lost after `mv` moved them |
//! | `registry_token` | tokens that a project's settings of a package manager hold |
//! | `secret_exfiltration` | secrets of the environment that a command sends to a host that they are not for |
//! | `secret_output` | values of the environment that a command shows |
//! | `uncommitted` | changes in files that a glob or a list names, and that are removed or emptied |
//! | `untracked` | what git does not hold: data, worktrees, secrets that are added |

mod code_secrets;
mod folder_loss;
mod loops;
mod move_loss;
mod outside_names;
mod port_probes;
mod registry_token;
mod search_results;
mod secret_exfiltration;
mod secret_flow;
mod secret_output;
mod self_truncation;
mod token_passthrough;
mod uncommitted;
mod unknown;
mod unread_lists;
mod untracked;

use rustc_hash::FxHashSet;
use toolgate_shell::{Effect, EffectKind, FileOracle, Runs, Script, Span, Value, Why, Word};

use super::rule_match::RuleMatch;
use super::{Evaluation, evidence, git_recoverable, git_sequences, hook_files, worktrees};
use crate::call::{Action, Evidence, Field, Memory, Source};
use crate::matching::{DependsOn, MatchInput, ScriptContext, is_implied};
use crate::mismatch::Mismatch;
use crate::native_rule::NativeRule;
use crate::rule::Rule;
use crate::world::GuardHost;
use crate::{flow, worked_repositories};

/// Whether a rule fires where all its keys say so.
pub(super) fn agrees(
    rule: &Rule,
    subject: &MatchInput<'_>,
    source: &str,
    held: &mut git_recoverable::Answers,
    world: &mut dyn GuardHost,
) -> Result<(), Mismatch<'static>> {
    let Some(native) = rule.native else { return Ok(()) };
    // It goes by what stands around a command, and by what git says.
    subject.reaches(DependsOn::Text);
    match native {
        NativeRule::StashElsewhere if !git_sequences::is_of_other_repository(subject) => Err(Mismatch::Code),
        NativeRule::UnhookedAgent | NativeRule::UnhookedAgentRun if hook_files::is_hooked(subject, world) => {
            Err(Mismatch::Code)
        }
        NativeRule::DeleteTag if git_sequences::made_here(subject, source) => Err(Mismatch::Code),
        NativeRule::RemoveChanged if !folder_loss::loses(rule, subject, world) => Err(Mismatch::Held),
        NativeRule::ReverseShell if port_probes::is_probe(subject, source) => Err(Mismatch::Code),
        NativeRule::PrintToken
        | NativeRule::PrintGcloudSecret
        | NativeRule::PrintAzureSecret
        | NativeRule::PrintAwsSecret
            if token_passthrough::stays_at_home(native, subject) =>
        {
            Err(Mismatch::Code)
        }
        NativeRule::RegistryToken if !registry_token::is_held(rule, subject, world) => Err(Mismatch::Code),
        NativeRule::PipedAnswers if !git_sequences::is_answered(subject, source) => Err(Mismatch::Code),
        NativeRule::DiscardFile if git_sequences::is_redirected(rule, subject) => Err(Mismatch::Code),
        NativeRule::DiscardPaths | NativeRule::DiscardFile | NativeRule::Restore | NativeRule::RestoreBoth
            if held.hold(subject, source, world) =>
        {
            Err(Mismatch::Held)
        }
        NativeRule::Abort if git_sequences::begun_here(subject, world) => Err(Mismatch::Code),
        NativeRule::Amend if git_sequences::is_only_here(subject, world) => Err(Mismatch::Held),
        NativeRule::RepositoryData if git_sequences::is_others(rule, subject) => Err(Mismatch::Code),
        NativeRule::RemoveOutside if worktrees::are_spent(rule, subject, world) => Err(Mismatch::Held),
        NativeRule::DeleteBranch | NativeRule::DeleteBranchForce if held.keep(subject, source, world) => {
            Err(Mismatch::Held)
        }
        _ => Ok(()),
    }
}

impl<'a> Evaluation<'a> {
    /// A rule in code fires, unless its pack is off.
    pub(super) fn native(&mut self, native: NativeRule, about: &str, evidence: Vec<Evidence>) {
        if let Some(rule) = self.row(native) {
            self.consider(&rule.id, None, None);
            let reason = match native {
                // The syntax error says it all.
                NativeRule::Unparsed | NativeRule::OtherShell if !about.is_empty() => rule.with_instead(about),
                _ => rule.reason_about(about),
            };
            self.add(RuleMatch::of(rule, rule.action, reason, evidence));
        }
    }

    /// The same on a command, from which the user's own file may lift it.
    pub(super) fn coded_on(
        &mut self,
        native: NativeRule,
        subject: &MatchInput<'_>,
        source: &str,
        world: &mut dyn GuardHost,
        evidence: Vec<Evidence>,
    ) {
        self.native_at_most(native, Action::Block, subject, source, world, evidence);
    }

    /// What a reason says of the word that is not known, and of what would make it known.
    fn about(native: NativeRule, subject: &MatchInput<'_>, source: &str) -> String {
        match native {
            NativeRule::UnseenScript => unknown::of_script(subject.command, source),
            NativeRule::UnknownProgram => unknown::of_program(subject.command, source),
            _ => String::new(),
        }
    }

    /// The same with no weightier an action than this one. Whether it fires.
    fn native_at_most(
        &mut self,
        native: NativeRule,
        most: Action,
        subject: &MatchInput<'_>,
        source: &str,
        world: &mut dyn GuardHost,
        evidence: Vec<Evidence>,
    ) -> bool {
        let Some(rule) = self.row(native) else { return false };
        let lifted = self.not_exempt(rule, subject, source, world).err();
        self.consider(&rule.id, Some(subject.index), lifted.as_ref());
        if lifted.is_none() {
            // The first reason is the one that is kept.
            let about = || Self::about(native, subject, source);
            let reason = if self.has(&rule.id) { String::new() } else { rule.reason_about(&about()) };
            self.add(RuleMatch::of(rule, rule.action.min(most), reason, evidence));
        }
        lifted.is_none()
    }

    fn row(&mut self, native: NativeRule) -> Option<&'a Rule> {
        let guard = self.guard;
        *self
            .rows
            .entry(native)
            .or_insert_with(|| guard.active().flat_map(|part| &part.rules).find(|rule| rule.native == Some(native)))
    }

    /// Tells of the rules in code that found nothing to fire on.
    pub(super) fn consider_code(&mut self) {
        let Some(considered) = &self.considered else { return };
        let told = |rule: &Rule| considered.iter().any(|one| one.rule == rule.id);
        let rows = self.guard.active().flat_map(|part| &part.rules);
        let silent: Vec<&Rule> = rows.filter(|rule| rule.native.is_some() && !told(rule)).collect();
        for rule in silent {
            self.consider(&rule.id, None, Some(&Mismatch::Code));
        }
    }

    /// What is run without anyone having seen it.
    pub(super) fn runs(
        &mut self,
        scene: &ScriptContext<'_>,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let script = scene.script();
        if script.unparsed.is_some() {
            return;
        }
        let (runs, memory) = flow::unseen(script, &field.value, look, &self.call.earlier);
        // A text that is judged twice leaves behind what it does the first time.
        if self.memory.is_none() {
            self.memory = self.with_repositories(script, look, memory);
        }
        let explains = self.considered.is_some();
        let mut told = FxHashSet::default();
        for run in runs {
            let native = match (run.source, run.file) {
                (Source::Downloaded, false) if run.vouched => NativeRule::DownloadVouched,
                (Source::Downloaded, false) => NativeRule::DownloadAndRun,
                (Source::Downloaded, true) => NativeRule::RunDownloaded,
                (Source::Decoded, _) => NativeRule::DecodeAndRun,
                (Source::Unseen, _) => NativeRule::UnseenScript,
            };
            // It says the same of the same place, as of a loop in each round.
            if !told.insert((native, run.span)) && !explains {
                continue;
            }
            let evidence = vec![evidence(field, run.span)];
            // The command that runs it, and not one around that. In a computed text all have the same place.
            let closest = scene.nesting().closest(run.span);
            if closest.is_empty() {
                self.native(native, "", evidence);
                continue;
            }
            for subject in closest.into_iter().filter_map(|number| subjects.get(number)) {
                let fires = self.native_at_most(native, Action::Block, subject, &field.value, world, evidence.clone());
                // The others would add nothing.
                if fires && !explains {
                    break;
                }
            }
        }
    }

    /// What is left behind, with the folders that the text makes repositories of.
    fn with_repositories(
        &self,
        script: &Script,
        look: Option<&dyn FileOracle>,
        memory: Option<Memory>,
    ) -> Option<Memory> {
        let made = look.map(|look| worked_repositories::made(script, look, is_implied)).unwrap_or_default();
        let earlier = &self.call.earlier;
        let new: Vec<String> = made.into_iter().filter(|one| !earlier.repositories.contains(one)).collect();
        if new.is_empty() {
            return memory;
        }
        let mut memory = memory.unwrap_or_else(|| earlier.clone());
        memory.repositories.extend(new);
        Some(memory)
    }

    /// A program, or a command of git, that is not known, with options that only those have that remove or force something.
    pub(super) fn forced(&mut self, subject: &MatchInput<'_>, field: &Field, world: &mut dyn GuardHost) {
        let found = subject.command;
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
        let is_known = |at: usize| found.words.get(at).is_none_or(|word| word.known().is_some());
        // Behind git's own options, of which these have a value.
        let mut first = 1;
        while let Some(option) = found.words.get(first).and_then(Word::known).filter(|word| word.starts_with('-')) {
            first += if matches!(option, "-C" | "-c" | "--git-dir" | "--work-tree") { 2 } else { 1 };
        }
        if found.program() == Some("git") && !is_known(first) {
            let forces = |text: &str| {
                let is_long = matches!(text, "--delete" | "--force" | "--hard" | "--mirror");
                is_long || text.starts_with('-') && !text.starts_with("--") && text.contains(['D', 'f'])
            };
            let forced = found.words.iter().skip(first + 1).find(|word| word.known().is_some_and(forces));
            if let Some(word) = forced {
                let evidence = vec![evidence(field, word.span)];
                self.coded_on(NativeRule::UnknownProgram, subject, &field.value, world, evidence);
            }
        }
        if is_known(0) {
            return;
        }
        let texts = || found.words.windows(2).filter(|pair| pair[0].known() == Some("-c"));
        let text = texts().map(|pair| &pair[1]).find(|word| word.value.text().contains(char::is_whitespace));
        let telling = found.words.iter().skip(1).find(|word| word.known().is_some_and(|text| TELLING.contains(&text)));
        let telling = telling.or(text);
        if let Some(word) = telling {
            let evidence = vec![evidence(field, word.span)];
            self.coded_on(NativeRule::UnknownProgram, subject, &field.value, world, evidence);
        }
    }

    /// What could not be read to its end.
    pub(super) fn uncertain(&mut self, script: &Script, command: &Field) {
        if let Some(why) = &script.unparsed {
            let whole = evidence(command, Span { start: 0, end: command.value.len() });
            let native = if script.foreign { NativeRule::OtherShell } else { NativeRule::Unparsed };
            self.native(native, why, vec![whole]);
        }
        // A stored script that cannot be followed is one that cannot be read.
        for word in script.commands.iter().filter(|found| !found.preexisting).flat_map(|found| &found.words) {
            if let Value::Unknown { why: why @ Why::TooMuch, .. } = &word.value {
                self.native(NativeRule::TooMuch, &why.to_string(), vec![evidence(command, word.span)]);
            }
        }
        // What is removed or replaced is one of more than are followed: any of them may be what must not be.
        for found in &script.commands {
            let lost = found.effects.iter().find_map(|effect| match &effect.path {
                Value::Unknown { why: why @ Why::Values(_), shape }
                    if shape.starts_with(Value::HOLE)
                        && matches!(
                            effect.kind,
                            EffectKind::Delete
                                | EffectKind::Move
                                | EffectKind::Write
                                | EffectKind::Mode
                                | EffectKind::Link
                        ) =>
                {
                    Some(why)
                }
                _ => None,
            });
            if let Some(why) = lost.filter(|_| found.runs != Runs::Never) {
                self.native(NativeRule::TooMuch, &why.to_string(), vec![evidence(command, found.span)]);
            }
        }
    }
}

/// Whether an earlier command of the text certainly writes a file, so that nothing of before is lost.
fn is_made_before(subject: &MatchInput<'_>, path: &str) -> bool {
    let makes = |effect: &Effect| {
        matches!(effect.kind, EffectKind::Write | EffectKind::Create)
            && effect.certain
            && effect.path.known() == Some(path)
    };
    let earlier = subject.script().commands.iter().take(subject.index);
    earlier.into_iter().any(|other| other.effects.iter().any(makes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guard;

    #[test]
    fn every_rule_in_code_has_one_row() {
        let guard = Guard::new();
        let rows: Vec<NativeRule> =
            guard.parts.iter().flat_map(|part| &part.rules).filter_map(|rule| rule.native).collect();
        for (native, key) in NativeRule::ALL {
            let count = rows.iter().filter(|row| *row == native).count();
            assert_eq!(count, 1, "rows with `code: {key}`");
            assert_eq!(NativeRule::keyed(key), Some(*native), "two rules in code have the key {key}");
        }
        let mut names: Vec<String> =
            guard.parts.iter().flat_map(|part| &part.rules).map(|rule| rule.id.to_string()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two rules of the packs have one name: {names:?}");
    }
}
