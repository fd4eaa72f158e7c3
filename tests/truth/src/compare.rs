//! Holds what happened against what was predicted.
//!
//! Commands are matched first, by their words and by where they stand in the text, never by folder or variables:
//! those are what is to be judged. Where several predictions fit as well as each other (the same words twice on a
//! line), they are taken in order; in a loop, or where things run side by side, any of them may be the one.
//! Effects are compared for the script as a whole, on real paths.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{self, Links};
use crate::report::{Check, Report};
use crate::trap::{self, Step};
use crate::tree;
use crate::watch::{Event, Exec};
use crate::{Kind, Observation, Place, Predicted, PredictedEffect, Prediction, Runs};

/// Compares one run with its prediction.
pub fn compare(text: &str, prediction: &Prediction, seen: &Observation) -> Report {
    let mut report = Report { unparsed: prediction.unparsed, timed_out: seen.timed_out, ..Report::default() };
    let comparison = Comparison {
        text,
        prediction,
        seen,
        lenient: prediction.unparsed || prediction.commands.iter().any(|p| p.opaque && p.runs != Runs::Never),
        concurrent: is_concurrent(text),
        start: tree::links(),
    };
    let ran = comparison.ran();
    let happened = comparison.commands(&ran, &mut report);
    if !seen.timed_out {
        let missing = comparison.runs(&happened, &mut report);
        comparison.certain(&missing, &mut report);
        comparison.witness(&mut report);
    }
    comparison.effects(&mut report);
    report
}

/// Builtins: the trap sees them in bash, but nothing sees those of another shell.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    ".", ":", "[", "[[", "((", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen", "complete",
    "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc", "fg",
    "getopts", "hash", "help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf", "pushd",
    "pwd", "read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "test", "times",
    "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
];

/// First words of a compound command's step.
const KEYWORDS: &[&str] = &["for ", "for((", "case ", "select ", "coproc ", "COPROC ", "[[", "(("];

/// The keyword itself.
fn keyword(head: &'static str) -> &'static str {
    if head.starts_with("for") { "for" } else { head.trim_end() }
}

/// Whether parts of the text may run side by side, so that the order of steps is not that of the text.
fn is_concurrent(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at = |n: Option<usize>| n.and_then(|n| bytes.get(n)).copied().unwrap_or(b' ');
    bytes.iter().enumerate().any(|(n, &byte)| {
        let (before, after) = (at(n.checked_sub(1)), at(Some(n + 1)));
        match byte {
            b'&' => before != b'&' && after != b'&' && after != b'>' && before != b'>' && before != b'<',
            b'|' => before != b'|' && after != b'|' && before != b'>',
            b'<' | b'>' => after == b'(',
            _ => false,
        }
    }) || text.contains("coproc")
}

/// One command that ran: a step of a shell, the program it became, or a program that something else started.
struct Ran<'a> {
    argv: Option<&'a [String]>,
    step: Option<&'a Step>,
    exec: Option<&'a Exec>,
    time: u64,
}

impl Ran<'_> {
    /// A step of `for`, `case`, `[[` and so on, which an engine need not list.
    fn is_compound(&self) -> bool {
        self.exec.is_none() && self.step.is_some_and(|step| KEYWORDS.iter().any(|word| step.source.starts_with(word)))
    }

    fn check(&self) -> Check {
        if self.exec.is_some() { Check::Program } else { Check::Builtin }
    }

    fn told(&self) -> String {
        match (self.argv, self.step) {
            (Some(argv), _) => quoted(argv),
            (None, Some(step)) => step.source.clone(),
            (None, None) => String::new(),
        }
    }

    /// Names that the command assigns for itself only.
    fn prefix(&self) -> BTreeSet<&str> {
        let source = self.step.map_or("", |step| step.source.as_str());
        source.split_whitespace().map_while(trap::assigned_name).collect()
    }
}

fn quoted(argv: &[String]) -> String {
    let plain = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=+:,@%".contains(c));
    let words: Vec<String> = argv
        .iter()
        .map(|word| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) })
        .collect();
    words.join(" ")
}

fn quoted_prediction(argv: &[Option<String>]) -> String {
    let words: Vec<String> = argv
        .iter()
        .map(|word| word.as_ref().map_or("?".to_owned(), |word| quoted(std::slice::from_ref(word))))
        .collect();
    words.join(" ")
}

/// How well a prediction fits a command that ran; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: u8,
    /// Words that are not known; among equals, the one that says more.
    vague: usize,
}

/// From this class on only the program's name agrees.
const NAME_ONLY: u8 = 10;

/// Result of one question about a command.
enum Verdict {
    Right(Check),
    Wrong(Check, String),
    Unknown(Check),
}

struct Comparison<'a> {
    text: &'a str,
    prediction: &'a Prediction,
    seen: &'a Observation,
    /// Something ran that the engine says it cannot see, so nothing counts as missed.
    lenient: bool,
    concurrent: bool,
    start: Links,
}

impl<'a> Comparison<'a> {
    /// Everything that ran, in order of time.
    fn ran(&self) -> Vec<Ran<'a>> {
        let steps = &self.seen.steps;
        let mut ran: Vec<Ran<'a>> = steps
            .iter()
            .map(|step| Ran { argv: step.argv.as_deref(), step: Some(step), exec: None, time: step.time })
            .collect();
        for exec in self.seen.watched.execs.iter().skip(1) {
            let own = self.step_of(exec).and_then(|at| ran.get_mut(at));
            match own.filter(|ran| ran.exec.is_none() && ran.argv.is_some_and(|argv| same_command(argv, &exec.argv))) {
                Some(ran) => ran.exec = Some(exec),
                None => ran.push(Ran { argv: Some(&exec.argv), step: None, exec: Some(exec), time: exec.time }),
            }
        }
        ran.sort_by_key(|ran| ran.time);
        ran
    }

    /// The step that a program belongs to: the last one of its own process, or of the nearest one above it.
    fn step_of(&self, exec: &Exec) -> Option<usize> {
        let mut until = exec.time;
        for (pid, born) in self.seen.watched.ancestry(exec.pid) {
            let steps = self.seen.steps.iter().enumerate().rev();
            let found =
                steps.filter(|(_, step)| step.time <= until).find(|(_, step)| step.runner == pid || step.pid == pid);
            if let Some((at, _)) = found {
                return Some(at);
            }
            until = born;
        }
        None
    }

    /// Judges every command that ran. Returns, for each prediction, whether it ran.
    fn commands(&self, ran: &[Ran<'a>], report: &mut Report) -> Vec<bool> {
        let predicted = &self.prediction.commands;
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        let mut by_name: Vec<usize> = Vec::new();
        let mut happened = vec![false; predicted.len()];
        for (at, one) in ran.iter().enumerate() {
            if one.argv.is_some() && !one.is_compound() {
                report.commands += 1;
            }
            let best = self.best(one, |_| true);
            match best {
                Some((rank, candidates)) if rank.class < NAME_ONLY => groups.entry(candidates).or_default().push(at),
                _ => by_name.push(at),
            }
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (candidates, members) in &groups {
            let chosen = self.assign(ran, members, candidates);
            let sure =
                candidates.iter().filter(|&&p| predicted.get(p).is_some_and(|p| p.runs == Runs::Certainly)).count();
            let all = candidates.iter().filter(|_| members.len() >= sure);
            for &p in all.chain(&chosen) {
                if let Some(happened) = happened.get_mut(p) {
                    *happened = true;
                }
            }
            pairs.extend(members.iter().copied().zip(chosen));
        }
        for (at, p) in pairs {
            let (Some(one), Some(mut p)) = (ran.get(at), predicted.get(p)) else { continue };
            // The same words may come again from where the text does not show them (eval, a variable): if another
            // prediction waits for just this, it is the one.
            if self.cost(one, p) > 0 {
                let waiting = |&(n, p): &(usize, &Predicted)| {
                    let free = happened.get(n).is_some_and(|happened| !happened) && p.runs != Runs::Never;
                    free && self.rank(one, p).is_some_and(|rank| rank.class < NAME_ONLY) && self.cost(one, p) == 0
                };
                if let Some((n, other)) = predicted.iter().enumerate().find(waiting) {
                    if let Some(happened) = happened.get_mut(n) {
                        *happened = true;
                    }
                    p = other;
                }
            }
            self.judge(one, p, report);
        }
        for at in by_name {
            let Some(one) = ran.get(at) else { continue };
            // A prediction that is right about another command is not a wrong one about this.
            let free = |p: usize| happened.get(p).is_none_or(|happened| !happened);
            let same_text = self.best(one, |_| true).filter(|(rank, _)| rank.class < NAME_ONLY + 2);
            // What the engine says it cannot see may run anything.
            match same_text.or_else(|| self.best(one, free).filter(|_| !self.lenient)) {
                Some((_, candidates)) => {
                    let Some(&p) = candidates.first() else { continue };
                    if let Some(happened) = happened.get_mut(p) {
                        *happened = true;
                    }
                    if let Some(p) = predicted.get(p) {
                        report.right(one.check());
                        let message = format!("ran `{}`, predicted `{}`", one.told(), quoted_prediction(&p.argv));
                        report.wrong(Check::Word, self.text, message);
                    }
                }
                None => self.unmatched(one, report),
            }
        }
        happened
    }

    /// Nothing predicted fits.
    fn unmatched(&self, one: &Ran<'_>, report: &mut Report) {
        let Some(name) = one.argv.and_then(<[String]>::first).map(|name| paths::basename(name)) else { return };
        if one.is_compound() {
            return;
        }
        let wraps = |p: &Predicted| p.via.iter().any(|via| paths::basename(via) == name);
        if self.prediction.commands.iter().any(wraps) {
            report.right(one.check());
        } else if self.lenient {
            report.unknown(one.check());
        } else {
            report.wrong(one.check(), self.text, format!("`{}` ran and was not predicted", one.told()));
        }
    }

    /// The predictions that fit best.
    fn best(&self, one: &Ran<'_>, usable: impl Fn(usize) -> bool) -> Option<(Rank, Vec<usize>)> {
        let ranks: Vec<(usize, Rank, bool)> = self
            .prediction
            .commands
            .iter()
            .enumerate()
            .filter(|&(at, _)| usable(at))
            .filter_map(|(at, p)| Some((at, self.rank(one, p)?, p.runs == Runs::Never)))
            .collect();
        // One that never runs is right only if no other fits.
        let never = ranks.iter().all(|(_, _, never)| *never);
        let best = ranks.iter().filter(|(_, _, n)| never || !n).map(|(_, rank, _)| *rank).min()?;
        let same = ranks.iter().filter(|(_, rank, n)| *rank == best && (never || !n)).map(|(at, ..)| *at).collect();
        Some((best, same))
    }

    fn rank(&self, one: &Ran<'_>, p: &Predicted) -> Option<Rank> {
        // A program that no shell step became was started by something: rather through a wrapper than not.
        let place = one.step.map_or_else(|| 3 + u8::from(p.via.is_empty()), |step| self.place(step, p));
        let vague = p.argv.iter().filter(|word| word.is_none()).count();
        let first = p.argv.first();
        if one.is_compound() || one.argv.is_none() {
            let source = one.step.map_or("", |step| step.source.as_str());
            let head = KEYWORDS.iter().map(|word| keyword(word)).find(|word| source.starts_with(word));
            let fits = first.is_none_or(|word| word.is_some() && word.as_deref() == head);
            return (place < 3 && fits).then_some(Rank { class: place, vague });
        }
        let argv = one.argv?;
        let (program, name) = (argv.first()?, first?);
        if name.as_ref().is_some_and(|name| !same_name(name, program)) {
            return None;
        }
        let class = if words_fit(p.argv.get(1..)?, argv.get(1..)?, p.open_ended) {
            place
        } else if name.is_none() && place > 1 {
            return None;
        } else {
            NAME_ONLY + place
        };
        // A program that is not known fits anything, so it comes last unless it stands at the right place.
        let class = if name.is_none() && place > 1 { NAME_ONLY - 1 } else { class };
        Some(Rank { class, vague })
    }

    /// Where a step stands in the text, seen from a prediction: 0 the same words on the same line, 1 the same words,
    /// 2 a beginning of them, 3 elsewhere.
    fn place(&self, step: &Step, p: &Predicted) -> u8 {
        let Some(written) = self.text.get(p.span.0..p.span.1) else { return 3 };
        let (source, span) = (squeezed(&step.source), squeezed(written));
        let line = 1 + self.text.get(..p.span.0).unwrap_or_default().matches('\n').count();
        if span.is_empty() || source.is_empty() {
            3
        } else if source == span {
            u8::from(line != step.line)
        } else if source.starts_with(&span) || span.starts_with(&source) {
            2
        } else {
            3
        }
    }

    /// How much would be wrong if this command were that prediction.
    fn cost(&self, one: &Ran<'_>, p: &Predicted) -> usize {
        self.state(one, p).iter().filter(|verdict| matches!(verdict, Verdict::Wrong(..))).count()
    }

    /// Which of the candidates each member is.
    fn assign(&self, ran: &[Ran<'a>], members: &[usize], candidates: &[usize]) -> Vec<usize> {
        let cost = |member: usize, candidate: usize| match (ran.get(member), self.prediction.commands.get(candidate)) {
            (Some(one), Some(p)) => self.cost(one, p),
            _ => 0,
        };
        if candidates.len() == 1 || members.len() > candidates.len() || self.concurrent {
            let best =
                |&member: &usize| candidates.iter().copied().min_by_key(|&c| cost(member, c)).unwrap_or_default();
            return members.iter().map(best).collect();
        }
        // In order, at the least cost: `table[m][c]` is the cost of the first `m` members among the first `c`.
        let most = usize::MAX / 2;
        let width = candidates.len() + 1;
        let mut table = vec![vec![0_usize; width]];
        for (m, &member) in members.iter().enumerate() {
            let mut row = vec![most; width];
            for (c, &candidate) in candidates.iter().enumerate() {
                let skip = row.get(c).copied().unwrap_or(most);
                let take = table.get(m).and_then(|row| row.get(c)).copied().unwrap_or(most);
                if let Some(cell) = row.get_mut(c + 1) {
                    *cell = skip.min(take.saturating_add(cost(member, candidate)).min(most));
                }
            }
            table.push(row);
        }
        let cell = |m: usize, c: usize| table.get(m).and_then(|row| row.get(c)).copied().unwrap_or(most);
        let mut chosen = Vec::new();
        let (mut m, mut c) = (members.len(), candidates.len());
        while m > 0 && c > 0 {
            // Leave out a candidate at the end only if that costs nothing and the rest still suffice.
            if c > m && cell(m, c - 1) == cell(m, c) {
                c -= 1;
                continue;
            }
            chosen.push(candidates.get(c - 1).copied().unwrap_or_default());
            m -= 1;
            c -= 1;
        }
        chosen.reverse();
        chosen
    }

    fn judge(&self, one: &Ran<'_>, p: &Predicted, report: &mut Report) {
        // The same words may have run where the engine says it cannot see.
        if self.lenient && one.step.is_some_and(|step| self.place(step, p) > 2) && self.cost(one, p) > 0 {
            return report.unknown(one.check());
        }
        if p.runs == Runs::Never {
            report.wrong(Check::Runs, self.text, format!("`{}` ran and was said never to run", one.told()));
        }
        if one.argv.is_some() && !one.is_compound() {
            report.right(one.check());
            for word in &p.argv {
                match word {
                    Some(_) => report.right(Check::Word),
                    None => report.unknown(Check::Word),
                }
            }
        }
        for verdict in self.state(one, p) {
            match verdict {
                Verdict::Right(check) => report.right(check),
                Verdict::Unknown(check) => report.unknown(check),
                Verdict::Wrong(check, message) => report.wrong(check, self.text, message),
            }
        }
    }

    /// Folder and variables.
    fn state(&self, one: &Ran<'_>, p: &Predicted) -> Vec<Verdict> {
        let mut out = Vec::new();
        if let Some(step) = one.step {
            out.push(match &p.shell_cwd {
                None => Verdict::Unknown(Check::Cwd),
                Some(cwd) if self.same_place(cwd, &step.pwd) => Verdict::Right(Check::Cwd),
                Some(cwd) => {
                    let message = format!("at `{}` the shell is in {}, predicted {cwd}", one.told(), step.pwd);
                    Verdict::Wrong(Check::Cwd, message)
                }
            });
        }
        if let Some(exec) = one.exec {
            let moves = p.cwd != p.shell_cwd;
            out.push(match &p.cwd {
                None => Verdict::Unknown(Check::Cwd),
                Some(cwd) if self.same_place(cwd, &exec.cwd) => Verdict::Right(Check::Cwd),
                Some(cwd) if moves && exec.visited.iter().any(|visited| self.same_place(cwd, visited)) => {
                    Verdict::Right(Check::Cwd)
                }
                Some(cwd) => {
                    let message = format!("`{}` ran in {}, predicted {cwd}", one.told(), exec.cwd);
                    Verdict::Wrong(Check::Cwd, message)
                }
            });
        }
        self.values(one, p, &mut out);
        out
    }

    fn values(&self, one: &Ran<'_>, p: &Predicted, out: &mut Vec<Verdict>) {
        let prefix = one.prefix();
        for (name, value) in &p.env {
            let in_shell = one.step.and_then(|step| step.values.get(name));
            // In the environment `_` is the program's own path.
            let passed = one.exec.and_then(|exec| exec.env.get(name)).filter(|_| name != "_");
            // What a program was given is compared too: that is all there is to see of `env A=1 cmd`. A name that is
            // not there may simply not be exported.
            let actual = match (in_shell, passed) {
                (Some(_), Some(passed)) if prefix.contains(name.as_str()) => Some(passed),
                (Some(Some(value)), _) => Some(value),
                (Some(None), _) => None,
                (None, Some(passed)) => Some(passed),
                (None, None) => continue,
            };
            out.push(match value {
                None => Verdict::Unknown(Check::Value),
                Some(want) if actual == Some(want) => Verdict::Right(Check::Value),
                Some(want) if prefix.contains(name.as_str()) && in_shell == Some(&Some(want.clone())) => {
                    Verdict::Right(Check::Value)
                }
                // `A=1 builtin`: nothing shows what the builtin saw.
                Some(_) if prefix.contains(name.as_str()) && one.exec.is_none() => continue,
                Some(want) => {
                    let actual = actual.map_or("is unset".to_owned(), |value| format!("is '{value}'"));
                    Verdict::Wrong(Check::Value, format!("at `{}` {name} {actual}, predicted '{want}'", one.told()))
                }
            });
        }
        for name in &p.unset {
            let in_shell = one.step.and_then(|step| step.values.get(name));
            let actual = match in_shell {
                Some(value) => value.as_ref(),
                None => one.exec.and_then(|exec| exec.env.get(name)),
            };
            if prefix.contains(name.as_str()) || (in_shell.is_none() && one.exec.is_none()) {
                continue;
            }
            out.push(match actual {
                None => Verdict::Right(Check::Value),
                Some(value) => {
                    let message = format!("at `{}` {name} is '{value}', predicted unset", one.told());
                    Verdict::Wrong(Check::Value, message)
                }
            });
        }
    }

    /// Whether two names of a folder lead to the same place.
    fn same_place(&self, predicted: &str, actual: &str) -> bool {
        let links = &self.seen.watched.links;
        predicted == actual || paths::real(predicted, links, true) == paths::real(actual, links, true)
    }

    /// Commands that certainly run and did not. Returns where they are.
    fn runs(&self, happened: &[bool], report: &mut Report) -> BTreeSet<usize> {
        let mut missing = BTreeSet::new();
        for (at, p) in self.prediction.commands.iter().enumerate() {
            let Some(Some(name)) = p.argv.first() else { continue };
            if happened.get(at).copied().unwrap_or_default() {
                if p.runs == Runs::Certainly {
                    report.right(Check::Runs);
                }
                continue;
            }
            if p.runs == Runs::Never {
                report.right(Check::Runs);
            }
            let unseen = !p.via.is_empty() && BUILTINS.contains(&paths::basename(name));
            let compound = KEYWORDS.iter().any(|word| keyword(word) == name);
            if p.runs != Runs::Certainly || unseen || compound || name == "time" || name == "coproc" {
                continue;
            }
            missing.insert(at);
            let message = format!("`{}` was certain to run and did not", quoted_prediction(&p.argv));
            report.wrong(Check::Runs, self.text, message);
        }
        missing
    }

    /// Certain effects of commands that certainly run. Those of a command that is missing are told with it.
    fn certain(&self, missing: &BTreeSet<usize>, report: &mut Report) {
        for (at, p) in self.prediction.commands.iter().enumerate() {
            for effect in &p.effects {
                let Place::Known(path) = &effect.path else { continue };
                if matches!(effect.kind, Kind::Mention | Kind::Send)
                    || missing.contains(&at)
                    || !paths::is_within(path, tree::ROOT)
                {
                    continue;
                }
                let places = self.places(path);
                let happened = self
                    .seen
                    .watched
                    .raw
                    .iter()
                    .any(|event| confirms(effect.kind, event) && places.contains(&event.path));
                match (effect.certain && p.runs == Runs::Certainly, happened) {
                    (true, true) => report.right(Check::Certain),
                    (true, false) => {
                        let message =
                            format!("{:?} {path} by `{}` did not happen", effect.kind, quoted_prediction(&p.argv));
                        report.wrong(Check::Certain, self.text, message);
                    }
                    (false, false) => report.possible += 1,
                    (false, true) => {}
                }
            }
        }
    }

    /// A path with its links resolved as they were at the start and at any time, and as it is written.
    fn places(&self, path: &str) -> BTreeSet<String> {
        let links = [&self.start, &self.seen.watched.links];
        let mut out: BTreeSet<String> =
            links.iter().flat_map(|links| [true, false].map(|last| paths::real(path, links, last))).collect();
        out.insert(paths::absolute(path, "/"));
        out
    }

    /// Effects that happened.
    fn effects(&self, report: &mut Report) {
        let predicted = self.prediction.commands.iter().filter(|p| p.runs != Runs::Never);
        let effects: Vec<(&PredictedEffect, BTreeSet<String>)> = predicted
            .flat_map(|p| &p.effects)
            .map(|effect| match &effect.path {
                Place::Shape(shape) if !shape.starts_with('/') => (effect, BTreeSet::from([shape.clone()])),
                Place::Known(path) | Place::Glob(path) | Place::Shape(path) => (effect, self.places(path)),
            })
            .collect();
        let mut told: BTreeSet<(Kind, &str)> = BTreeSet::new();
        for event in &self.seen.watched.events {
            if !told.insert((family(event.kind), &event.path)) {
                continue;
            }
            let covering: Vec<&PredictedEffect> = effects
                .iter()
                .filter(|(effect, places)| self.explains(effect.kind, event) && covers(effect, places, event))
                .map(|(effect, _)| *effect)
                .collect();
            if covering.iter().any(|effect| effect.kind != Kind::Mention && !matches!(effect.path, Place::Shape(_))) {
                report.right(Check::Effect);
            } else if !covering.is_empty() || self.lenient || event.kind == Kind::Read && event.weak {
                // A folder that is only opened to come back to it is no effect that anyone asks for.
                report.unknown(Check::Effect);
            } else {
                let message = format!("{:?} {} by {} was not predicted", event.kind, event.path, event.program);
                report.wrong(Check::Effect, self.text, message);
            }
        }
    }

    /// Whether an effect of this kind is what happened. A file that is put aside while its new content is written is
    /// written.
    fn explains(&self, kind: Kind, event: &Event) -> bool {
        let put_aside = matches!(event.kind, Kind::Move | Kind::Delete)
            && self.seen.after.contains_key(&event.path)
            && self.seen.before.contains_key(&event.path);
        explains(kind, event.kind) || (put_aside && explains(kind, Kind::Write))
    }

    /// The tree before and after, against the system calls.
    fn witness(&self, report: &mut Report) {
        let (before, after) = (&self.seen.before, &self.seen.after);
        let raw = &self.seen.watched.raw;
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let (old, new) = (before.get(name), after.get(name));
            if old == new {
                continue;
            }
            let explained = raw.iter().any(|event| {
                let moved = matches!(event.kind, Kind::Move | Kind::Create) && paths::is_within(name, &event.path);
                moved
                    || (event.path == *name && event.kind != Kind::Execute && (event.kind != Kind::Read || event.weak))
            });
            if explained || raw.iter().any(|event| event.kind == Kind::Link && after.get(&event.path) == new) {
                report.right(Check::Witness);
            } else {
                report.wrong(Check::Witness, self.text, format!("{name} changed and no call says how"));
            }
        }
    }
}

fn squeezed(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    // Bash prints the descriptor that `>&2` and `<&3` leave out.
    text.replace("1>&", ">&").replace("0<&", "<&").replace("<&-", ">&-")
}

fn same_name(a: &str, b: &str) -> bool {
    a == b || paths::basename(a) == paths::basename(b)
}

fn same_command(a: &[String], b: &[String]) -> bool {
    match (a.split_first(), b.split_first()) {
        (Some((a, rest)), Some((b, other))) => same_name(a, b) && rest == other,
        _ => false,
    }
}

/// Whether known words are where they should be; an unknown one is one word, or any number.
fn words_fit(want: &[Option<String>], have: &[String], open: bool) -> bool {
    match want.split_first() {
        None => have.is_empty() || open,
        Some((Some(word), rest)) => {
            have.first() == Some(word) && words_fit(rest, have.get(1..).unwrap_or_default(), open)
        }
        Some((None, rest)) if open => {
            (0..=have.len()).any(|n| words_fit(rest, have.get(n..).unwrap_or_default(), open))
        }
        Some((None, rest)) => !have.is_empty() && words_fit(rest, have.get(1..).unwrap_or_default(), open),
    }
}

/// Write, append and create are told apart only by what was there before.
fn family(kind: Kind) -> Kind {
    match kind {
        Kind::Write | Kind::Append | Kind::Create | Kind::Link => Kind::Write,
        Kind::Delete | Kind::Move => Kind::Delete,
        kind => kind,
    }
}

/// Whether an event shows that a predicted effect happened.
fn confirms(predicted: Kind, event: &Event) -> bool {
    match predicted {
        Kind::Read => matches!(event.kind, Kind::Read | Kind::Execute | Kind::Move),
        kind => family(kind) == family(event.kind),
    }
}

/// Whether an event of this kind was to be expected from such a prediction.
fn explains(predicted: Kind, event: Kind) -> bool {
    match event {
        Kind::Read => matches!(predicted, Kind::Read | Kind::Execute | Kind::Move | Kind::Link | Kind::Mention),
        Kind::Execute => matches!(predicted, Kind::Execute | Kind::Read | Kind::Mention),
        event => predicted == Kind::Mention || family(predicted) == family(event),
    }
}

/// Whether a predicted effect reaches the path of an event.
fn covers(effect: &PredictedEffect, places: &BTreeSet<String>, event: &Event) -> bool {
    if effect.kind == Kind::Send {
        return event.kind == Kind::Send;
    }
    let mut path = event.path.as_str();
    loop {
        let hit = places.iter().any(|place| match &effect.path {
            Place::Known(_) => place == path,
            Place::Glob(_) => paths::glob_matches(place, path),
            Place::Shape(_) => paths::shape_matches(place, path),
        });
        if hit {
            return true;
        }
        match path.rsplit_once('/') {
            Some((parent, _)) if effect.recursive && !parent.is_empty() => path = parent,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_unknown_ones() {
        let some = |words: &[&str]| -> Vec<Option<String>> {
            words.iter().map(|w| (*w != "?").then(|| (*w).to_owned())).collect()
        };
        for (want, have, open, fits) in [
            (&["a", "b"][..], &["a", "b"][..], false, true),
            (&["a", "?"], &["a", "b"], false, true),
            (&["a", "?"], &["a"], false, false),
            (&["a", "?"], &["a"], true, true),
            (&["?", "z"], &["a", "b", "z"], true, true),
            (&["a"], &["a", "b"], true, true),
            (&["a"], &["a", "b"], false, false),
        ] {
            let have: Vec<String> = have.iter().map(|w| (*w).to_owned()).collect();
            assert_eq!(words_fit(&some(want), &have, open), fits, "{want:?} {have:?} {open}");
        }
    }

    #[test]
    fn side_by_side() {
        for (text, want) in [
            ("a && b || c", false),
            ("a 2>&1 &>f >&2 <&3 >|g", false),
            ("a & b", true),
            ("a | b", true),
            ("a |& b", true),
            ("cat <(a)", true),
        ] {
            assert_eq!(is_concurrent(text), want, "{text}");
        }
    }
}
