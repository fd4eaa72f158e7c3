//! The rules of which no key of a rule file can say when they fire: what a text runs unseen, what a search finds, what cannot
//! be judged. Some have keys, and code agrees last: that git holds what is lost, or that something answers what git asks.
//!
//! | Module | For |
//! |---|---|
//! | `listed` | what is done to the files that another command lists or finds |
//! | `loops` | loops and functions that call themselves and come to no end |

mod listed;
mod loops;

use rustc_hash::FxHashSet;
use toolgate_shell::{Kind as Deed, Look, Runs, Script, Span, Value, Why};

use super::commands::{reason, with_instead};
use super::{Inquiry, evidence, held, refs};
use crate::call::{Action, Evidence, Field, Source};
use crate::flow;
use crate::matching::{Miss, Reach, Scene, Subject};
use crate::rule::Rule;
use crate::world::World;

/// The rules that are in code. Each has a row in a pack, with `code: true`, for everything else.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) enum Coded {
    NoCommand,
    Unparsed,
    OtherShell,
    PromptHooks,
    PromptUnseen,
    SettingsTaken,
    TooMuch,
    Links,
    RemovePiped,
    RemoveListed,
    ChangeFound,
    ForkBomb,
    UnknownProgram,
    DownloadAndRun,
    DownloadVouched,
    RunDownloaded,
    DecodeAndRun,
    UnseenScript,
    TypedUnseen,
    StopFitting,
    ForcePushFetched,
    PipedAnswers,
    DeleteTag,
    DiscardPaths,
    DiscardFile,
    Restore,
    RestoreBoth,
    DeleteBranch,
    DeleteBranchForce,
}

impl Coded {
    pub(crate) const ALL: &[Coded] = &[
        Coded::NoCommand,
        Coded::Unparsed,
        Coded::OtherShell,
        Coded::PromptHooks,
        Coded::PromptUnseen,
        Coded::SettingsTaken,
        Coded::TooMuch,
        Coded::Links,
        Coded::RemovePiped,
        Coded::RemoveListed,
        Coded::ChangeFound,
        Coded::ForkBomb,
        Coded::UnknownProgram,
        Coded::DownloadAndRun,
        Coded::DownloadVouched,
        Coded::RunDownloaded,
        Coded::DecodeAndRun,
        Coded::UnseenScript,
        Coded::TypedUnseen,
        Coded::StopFitting,
        Coded::ForcePushFetched,
        Coded::PipedAnswers,
        Coded::DeleteTag,
        Coded::DiscardPaths,
        Coded::DiscardFile,
        Coded::Restore,
        Coded::RestoreBoth,
        Coded::DeleteBranch,
        Coded::DeleteBranchForce,
    ];

    /// As the row has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Coded::NoCommand => "no-command",
            Coded::Unparsed => "unparsed",
            Coded::OtherShell => "other-shell",
            Coded::PromptHooks => "prompt-hooks",
            Coded::PromptUnseen => "prompt-unseen",
            Coded::SettingsTaken => "self-settings-taken",
            Coded::TooMuch => "too-much",
            Coded::Links => "links",
            Coded::RemovePiped => "remove-piped",
            Coded::RemoveListed => "remove-listed",
            Coded::ChangeFound => "change-found",
            Coded::ForkBomb => "fork-bomb",
            Coded::UnknownProgram => "unknown-program",
            Coded::DownloadAndRun => "download-and-run",
            Coded::DownloadVouched => "download-from-known",
            Coded::RunDownloaded => "run-downloaded",
            Coded::DecodeAndRun => "decode-and-run",
            Coded::UnseenScript => "unseen-script",
            Coded::TypedUnseen => "typed-unseen",
            Coded::StopFitting => "self-stop-fitting",
            Coded::ForcePushFetched => "git-force-push-fetched",
            Coded::PipedAnswers => "git-piped-answers",
            Coded::DeleteTag => "git-delete-tag",
            Coded::DiscardPaths => "git-discard-paths",
            Coded::DiscardFile => "git-discard-file",
            Coded::Restore => "git-restore",
            Coded::RestoreBoth => "git-restore-both",
            Coded::DeleteBranch => "git-delete-branch",
            Coded::DeleteBranchForce => "git-delete-branch-force",
        }
    }

    /// Whether a rule fires where all its keys say so.
    pub(super) fn agrees(
        rule: &Rule,
        subject: &Subject<'_>,
        source: &str,
        held: &mut held::Answers,
        world: &mut dyn World,
    ) -> Result<(), Miss<'static>> {
        if !rule.code {
            return Ok(());
        }
        // It goes by what stands around a command, and by what git says.
        subject.reaches(Reach::Text);
        let own = rule.name.strip_prefix("builtin:");
        match Coded::ALL.iter().find(|coded| own == Some(coded.name())) {
            Some(Coded::DeleteTag) if refs::made_here(subject, source) => Err(Miss::Code),
            Some(Coded::PipedAnswers) if !refs::is_answered(subject, source) => Err(Miss::Code),
            Some(Coded::DiscardPaths | Coded::DiscardFile | Coded::Restore | Coded::RestoreBoth)
                if held.hold(subject, source, world) =>
            {
                Err(Miss::Held)
            }
            Some(Coded::DeleteBranch | Coded::DeleteBranchForce) if held.keep(subject, source, world) => {
                Err(Miss::Held)
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Inquiry<'a> {
    /// A rule in code fires, unless its pack is off.
    pub(super) fn coded(&mut self, coded: Coded, about: &str, evidence: Vec<Evidence>) {
        if let Some(rule) = self.row(coded) {
            self.consider(&rule.name, None, None);
            let reason = match coded {
                // The syntax error says it all.
                Coded::Unparsed | Coded::OtherShell if !about.is_empty() => with_instead(rule, about),
                _ => reason(rule, about),
            };
            self.finding(&rule.name, rule.action, &reason, evidence);
        }
    }

    /// The same on a command, from which the user's own file may lift it.
    pub(super) fn coded_on(
        &mut self,
        coded: Coded,
        subject: &Subject<'_>,
        source: &str,
        world: &mut dyn World,
        evidence: Vec<Evidence>,
    ) {
        self.coded_at_most(coded, Action::Block, subject, source, world, evidence);
    }

    /// The same with no weightier an action than this one. Whether it fires.
    fn coded_at_most(
        &mut self,
        coded: Coded,
        most: Action,
        subject: &Subject<'_>,
        source: &str,
        world: &mut dyn World,
        evidence: Vec<Evidence>,
    ) -> bool {
        let Some(rule) = self.row(coded) else { return false };
        let lifted = self.not_exempt(rule, subject, source, world).err();
        self.consider(&rule.name, Some(subject.index), lifted.as_ref());
        if lifted.is_none() {
            // The first reason is the one that is kept.
            let reason = if self.has(&rule.name) { String::new() } else { reason(rule, "") };
            self.finding(&rule.name, rule.action.min(most), &reason, evidence);
        }
        lifted.is_none()
    }

    fn row(&mut self, coded: Coded) -> Option<&'a Rule> {
        let guard = self.guard;
        *self.rows.entry(coded).or_insert_with(|| {
            let own = |rule: &&Rule| rule.code && rule.name.strip_prefix("builtin:") == Some(coded.name());
            guard.active().flat_map(|part| &part.rules).find(own)
        })
    }

    /// Tells of the rules in code that found nothing to fire on.
    pub(super) fn consider_code(&mut self) {
        let Some(considered) = &self.considered else { return };
        let told = |rule: &Rule| considered.iter().any(|one| one.rule == rule.name);
        let rows = self.guard.active().flat_map(|part| &part.rules);
        let silent: Vec<&Rule> = rows.filter(|rule| rule.code && !told(rule)).collect();
        for rule in silent {
            self.consider(&rule.name, None, Some(&Miss::Code));
        }
    }

    /// What is run without anyone having seen it.
    pub(super) fn runs(
        &mut self,
        scene: &Scene<'_>,
        subjects: &[Subject<'_>],
        field: &Field,
        world: &mut dyn World,
        look: Option<&dyn Look>,
    ) {
        let script = scene.script();
        if script.unparsed.is_some() {
            return;
        }
        let (runs, memory) = flow::unseen(script, &field.value, look, &self.call.earlier);
        // A text that is judged twice leaves behind what it does the first time.
        if self.memory.is_none() {
            self.memory = memory;
        }
        let explains = self.considered.is_some();
        let mut told = FxHashSet::default();
        for run in runs {
            let coded = match (run.source, run.file) {
                (Source::Downloaded, false) if run.vouched => Coded::DownloadVouched,
                (Source::Downloaded, false) => Coded::DownloadAndRun,
                (Source::Downloaded, true) => Coded::RunDownloaded,
                (Source::Decoded, _) => Coded::DecodeAndRun,
                (Source::Unseen, _) => Coded::UnseenScript,
            };
            // It says the same of the same place, as of a loop in each round.
            if !told.insert((coded, run.span)) && !explains {
                continue;
            }
            let evidence = vec![evidence(field, run.span)];
            // The command that runs it, and not one around that. In a computed text all have the same place.
            let closest = scene.nesting().closest(run.span);
            if closest.is_empty() {
                self.coded(coded, "", evidence);
                continue;
            }
            for subject in closest.into_iter().filter_map(|number| subjects.get(number)) {
                let fires = self.coded_at_most(coded, Action::Block, subject, &field.value, world, evidence.clone());
                // The others would add nothing.
                if fires && !explains {
                    break;
                }
            }
        }
    }

    /// A program that is not known, with options that only programs that remove or force something have.
    pub(super) fn forced(&mut self, subject: &Subject<'_>, field: &Field, world: &mut dyn World) {
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
        if found.words.first().is_none_or(|word| word.known().is_some()) {
            return;
        }
        let texts = || found.words.windows(2).filter(|pair| pair[0].known() == Some("-c"));
        let text = texts().map(|pair| &pair[1]).find(|word| word.value.text().contains(char::is_whitespace));
        let telling = found.words.iter().skip(1).find(|word| word.known().is_some_and(|text| TELLING.contains(&text)));
        let telling = telling.or(text);
        if let Some(word) = telling {
            let evidence = vec![evidence(field, word.span)];
            self.coded_on(Coded::UnknownProgram, subject, &field.value, world, evidence);
        }
    }

    /// What could not be read to its end.
    pub(super) fn uncertain(&mut self, script: &Script, command: &Field) {
        if let Some(why) = &script.unparsed {
            let whole = evidence(command, Span { start: 0, end: command.value.len() });
            let coded = if script.foreign { Coded::OtherShell } else { Coded::Unparsed };
            self.coded(coded, why, vec![whole]);
        }
        // A stored script that cannot be followed is one that cannot be read.
        for word in script.commands.iter().filter(|found| !found.stored).flat_map(|found| &found.words) {
            if let Value::Unknown { why: why @ Why::TooMuch, .. } = &word.value {
                self.coded(Coded::TooMuch, &why.to_string(), vec![evidence(command, word.span)]);
            }
        }
        // What is removed or replaced is one of more than are followed: any of them may be what must not be.
        for found in &script.commands {
            let lost = found.effects.iter().find_map(|effect| match &effect.path {
                Value::Unknown { why: why @ Why::Values(_), shape }
                    if shape.starts_with(Value::HOLE)
                        && matches!(effect.kind, Deed::Delete | Deed::Move | Deed::Write | Deed::Mode | Deed::Link) =>
                {
                    Some(why)
                }
                _ => None,
            });
            if let Some(why) = lost.filter(|_| found.runs != Runs::Never) {
                self.coded(Coded::TooMuch, &why.to_string(), vec![evidence(command, found.span)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guard;

    #[test]
    fn every_rule_in_code_has_one_row() {
        let guard = Guard::new();
        let rows = guard.parts.iter().flat_map(|part| &part.rules).filter(|rule| rule.code);
        let mut rows: Vec<&str> = rows.filter_map(|rule| rule.name.strip_prefix("builtin:")).collect();
        let mut coded: Vec<&str> = Coded::ALL.iter().map(|coded| coded.name()).collect();
        rows.sort_unstable();
        coded.sort_unstable();
        assert_eq!(rows, coded);
    }
}
