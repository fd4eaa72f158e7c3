//! The rules that no key of a rule file can say: what a text runs unseen, what a search finds, what cannot be judged.

use std::collections::BTreeMap;

use toolgate_shell::{Command, Kind as Deed, Look, Runs, Script, Span, Value, Why};

use super::{Inquiry, evidence};
use crate::call::{Action, Field};
use crate::guard::flow::{self, Source};
use crate::guard::matching::Subject;
use crate::guard::place::{Place, is_elsewhere};

/// After how many rounds a loop counts as one that does not end: nearly as many as are followed one by one.
const ENDLESS: usize = 200;

impl<'a> Inquiry<'a> {
    /// Files that a search outside the workspace finds, and that something unnamed is done to.
    pub(super) fn found_elsewhere(&mut self, subjects: &[Subject<'_>], field: &Field) {
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
            let words = || subject.command.words.iter().skip(1).filter_map(toolgate_shell::Word::known);
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
    pub(super) fn runs(&mut self, script: &Script, field: &Field, look: Option<&dyn Look>) {
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

    /// A function that calls itself and nothing else decides whether it does.
    pub(super) fn endless(&mut self, found: &Command, field: &Field) {
        let Some(program) = found.program() else { return };
        if found.opaque && found.runs == Runs::Certainly && found.via.iter().any(|via| via == program) {
            let reason = "starts itself without end";
            self.finding("builtin:fork-bomb", Action::Block, reason, vec![evidence(field, found.span)]);
        }
    }

    /// A loop that never ends, and in each round starts something beside itself and waits for nothing.
    pub(super) fn endless_loop(&mut self, script: &Script, field: &Field) {
        // What waits for nothing.
        const QUICK: &[&str] = &["true", ":", "[", "test", "echo", "printf", "let"];
        let mut rounds: BTreeMap<(usize, usize), (usize, &Command)> = BTreeMap::new();
        for found in script.commands.iter().filter(|found| found.runs == Runs::Certainly && found.via.is_empty()) {
            rounds.entry((found.span.start, found.span.end)).or_insert((0, found)).0 += 1;
        }
        rounds.retain(|_, (count, _)| *count >= ENDLESS);
        let beside = |found: &Command| {
            let after = field.value.get(found.span.end..).unwrap_or_default();
            let after = after.trim_start_matches([' ', '\t', '\n', ';', ')', '}']);
            after.starts_with('&') && !after.starts_with("&&")
        };
        let (started, waited): (Vec<&Command>, Vec<&Command>) =
            rounds.values().map(|(_, found)| *found).partition(|found| beside(found));
        let quick = |found: &&Command| found.program().is_some_and(|program| QUICK.contains(&program));
        if let Some(first) = started.first()
            && waited.iter().all(quick)
        {
            let reason = "starts itself without end";
            self.finding("builtin:fork-bomb", Action::Block, reason, vec![evidence(field, first.span)]);
        }
    }

    /// A program that is not known, with options that only programs that remove or force something have.
    pub(super) fn forced(&mut self, found: &Command, field: &Field) {
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
    pub(super) fn uncertain(&mut self, script: &Script, command: &Field) {
        if let Some(why) = &script.unparsed {
            let whole = evidence(command, Span { start: 0, end: command.value.len() });
            let reason = format!("{why}, so it cannot be judged for certain");
            self.finding("builtin:unparsed", Action::Ask, &reason, vec![whole]);
        }
        for word in script.commands.iter().flat_map(|found| &found.words) {
            if let Value::Unknown { why: why @ Why::TooMuch, .. } = &word.value {
                let reason = format!("a word cannot be judged: {why}");
                self.finding("builtin:too-much", Action::Ask, &reason, vec![evidence(command, word.span)]);
            }
        }
    }
}
