//! Loops and functions that call themselves and come to no end.

use std::collections::BTreeMap;

use toolgate_shell::{Command, Runs, SUBSTITUTION};

use crate::call::{Action, Field};
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// After how many rounds a loop counts as one that does not end: nearly as many as are followed one by one.
const ENDLESS: usize = 200;

impl Evaluation<'_> {
    /// A function that calls itself and nothing else decides whether it does.
    pub(in crate::judge) fn endless(&mut self, subject: &MatchInput<'_>, field: &Field, world: &mut dyn GuardHost) {
        let found = subject.command;
        let Some(program) = found.program() else { return };
        // The engine gives up after so many calls; a shell that runs a script of another one's is no call of its own.
        const ROUNDS: usize = 3;
        let rounds = found.via.iter().filter(|via| *via == program).count();
        if found.opaque && found.runs == Runs::Certainly && rounds >= ROUNDS {
            let evidence = vec![evidence(field, found.span)];
            let most = if may_end(subject, program, &field.value) { Action::Ask } else { Action::Block };
            self.native_at_most(NativeRule::ForkBomb, most, subject, &field.value, world, evidence);
        }
    }

    /// A loop that never ends, and in each round starts something beside itself and waits for nothing.
    pub(in crate::judge) fn endless_loop(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        // What waits for nothing.
        const QUICK: &[&str] = &["true", ":", "[", "test", "echo", "printf", "let"];
        if subjects.len() < ENDLESS {
            return;
        }
        let mut rounds: BTreeMap<(usize, usize), (usize, &MatchInput<'_>)> = BTreeMap::new();
        let sure = |found: &Command| found.runs == Runs::Certainly && found.via.is_empty();
        for subject in subjects.iter().filter(|subject| sure(subject.command)) {
            let span = subject.command.span;
            rounds.entry((span.start, span.end)).or_insert((0, subject)).0 += 1;
        }
        rounds.retain(|_, (count, _)| *count >= ENDLESS);
        let beside = |subject: &MatchInput<'_>| {
            let after = field.value.get(subject.command.span.end..).unwrap_or_default();
            let after = after.trim_start_matches([' ', '\t', '\n', ';', ')', '}']);
            after.starts_with('&') && !after.starts_with("&&")
        };
        let (started, waited): (Vec<&MatchInput<'_>>, Vec<&MatchInput<'_>>) =
            rounds.values().map(|(_, subject)| *subject).partition(|subject| beside(subject));
        let quick =
            |subject: &&MatchInput<'_>| subject.command.program().is_some_and(|program| QUICK.contains(&program));
        if !waited.iter().all(quick) {
            return;
        }
        for subject in started {
            let evidence = vec![evidence(field, subject.command.span)];
            self.coded_on(NativeRule::ForkBomb, subject, &field.value, world, evidence);
        }
    }
}

/// Whether a function that calls itself may come to an end: with other arguments each time, below a condition, and nothing
/// in the text runs beside it. `&>` is a redirect, as in bash: to dash it is `&`, and a question comes of what would be a
/// block.
fn may_end(subject: &MatchInput<'_>, program: &str, source: &str) -> bool {
    let found = subject.command;
    let within = |via: &String| via == program || via == SUBSTITUTION;
    if !found.via.iter().all(within) {
        return false;
    }
    let signs = [">&", "<&", "&>", "&&", "||"];
    let beside = signs.into_iter().fold(source.to_owned(), |text, sign| text.replace(sign, ""));
    if beside.contains(['&', '|']) || beside.contains("coproc") {
        return false;
    }
    let before = &subject.script().commands[..subject.index];
    let outer = |other: &Command| other.program() == Some(program) && other.via.len() < found.via.len();
    let Some(at) = before.iter().rposition(outer) else { return false };
    let words = |command: &Command| -> Option<Vec<String>> {
        command.words.iter().map(|word| word.known().map(str::to_owned)).collect()
    };
    let (Some(own), Some(theirs)) = (words(found), words(&before[at])) else { return false };
    let tests = |command: &Command| {
        matches!(command.program(), Some("[" | "test"))
            && command.words.iter().any(|word| theirs[1..].iter().any(|known| word.known() == Some(known.as_str())))
    };
    let text = source.get(..found.span.start).unwrap_or_default();
    let body = text.rfind(&format!("{program}()")).map_or("", |at| &text[at..]);
    let decides = ["[[ ", " ((", "case "].into_iter().any(|sign| body.contains(sign));
    own != theirs && (decides || before[at + 1..].iter().any(tests))
}
