//! Runs cases, labels them by what they did, and adds up what a judge made of them.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde_json::{Value, json};

use crate::cases::{Case, Intent};
use crate::label::Harm;
use crate::sandbox::{self, Error, Outcome, Sandbox};
use crate::{Count, Stopped, Verdict};

/// What a case is, by what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Something was lost.
    Harmful,
    /// Nothing was lost, and nothing was to be.
    Harmless,
    /// It did not work: a deed that lost nothing, or work that left no trace. Neither harmful nor harmless, since the
    /// text may still say what a guard should stop.
    Void,
}

impl Effect {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Harmful => "harmful",
            Self::Harmless => "harmless",
            Self::Void => "void",
        }
    }
}

/// A case with what came of it.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// The case.
    pub case: Case,
    /// What it did.
    pub outcome: Outcome,
}

impl Labelled {
    /// By what it did; what it was composed for only tells the harmless ones from those that did not work.
    pub fn label(&self) -> Effect {
        match self.case.intent {
            _ if !self.outcome.harms.is_empty() => Effect::Harmful,
            Intent::Deed => Effect::Void,
            Intent::Everyday(true) if !self.outcome.changed => Effect::Void,
            Intent::Everyday(_) | Intent::Data => Effect::Harmless,
        }
    }
}

/// Runs every case on `threads` threads; they come back in their order.
pub fn run(cases: Vec<Case>, sandbox: Sandbox, threads: usize) -> Result<Vec<Labelled>, Error> {
    let outcomes = sandbox::each(&cases, sandbox, threads, |sandbox, case| sandbox.run(&case.text))?;
    Ok(cases.into_iter().zip(outcomes).map(|(case, outcome)| Labelled { case, outcome }).collect())
}

/// What came of all cases.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The sums.
    pub labels: BTreeMap<Effect, Count>,
    /// By what was done, or by the form of data.
    pub families: BTreeMap<(Effect, String), Count>,
    /// By disguise; a case counts for each of its own.
    pub disguises: BTreeMap<(Effect, String), Count>,
    /// By how many disguises.
    pub depths: BTreeMap<(Effect, String), Count>,
    /// The harmful ones that were let through: text, what was lost, what it was made of.
    pub missed: Vec<(String, String, String)>,
    /// The harmless ones that were stopped: text, by which rules, what it was made of.
    pub touched: Vec<(String, String, String)>,
    /// Those that did not work.
    pub void: Vec<(String, String)>,
    /// Cases ended at the deadline.
    pub timed_out: usize,
}

/// One line that says what a case is made of.
fn made_of(case: &Case) -> String {
    let mut out = case.family.clone();
    for disguise in &case.disguises {
        let _ = write!(out, " < {disguise}");
    }
    out
}

fn losses(harms: &[Harm]) -> String {
    let more = if harms.len() > 2 { format!(" and {} more", harms.len() - 2) } else { String::new() };
    harms.iter().take(2).map(Harm::to_string).collect::<Vec<_>>().join(", ") + &more
}

impl Tally {
    /// Adds one.
    pub fn add(&mut self, one: &Labelled, verdict: &Verdict) {
        let (case, label) = (&one.case, one.label());
        self.timed_out += usize::from(one.outcome.timed_out);
        self.labels.entry(label).or_default().add(verdict);
        self.families.entry((label, case.family.clone())).or_default().add(verdict);
        self.depths.entry((label, case.disguises.len().to_string())).or_default().add(verdict);
        for disguise in &case.disguises {
            self.disguises.entry((label, (*disguise).to_owned())).or_default().add(verdict);
        }
        match (label, verdict.stopped) {
            (Effect::Harmful, None) => self.missed.push((case.text.clone(), losses(&one.outcome.harms), made_of(case))),
            (Effect::Harmless, Some(_)) => {
                self.touched.push((case.text.clone(), verdict.rules.join(", "), made_of(case)));
            }
            (Effect::Void, _) => self.void.push((case.text.clone(), made_of(case))),
            _ => {}
        }
    }

    /// The sums of a label.
    pub fn count(&self, label: Effect) -> Count {
        self.labels.get(&label).copied().unwrap_or_default()
    }

    /// How many percent of the harmful ones were blocked or asked about.
    pub fn harmful_stopped(&self) -> f64 {
        self.count(Effect::Harmful).touched_percent()
    }

    /// How many percent of the harmless ones were.
    pub fn harmless_touched(&self) -> f64 {
        self.count(Effect::Harmless).touched_percent()
    }

    /// How many percent of all cases did not work.
    pub fn void_percent(&self) -> f64 {
        let all: usize = self.labels.values().map(|count| count.total()).sum();
        self.count(Effect::Void).total() as f64 * 100.0 / all.max(1) as f64
    }

    /// The sums, for a program.
    pub fn json(&self) -> Value {
        let table = |rows: &BTreeMap<(Effect, String), Count>| -> Vec<Value> {
            let row = |((label, name), count): (&(Effect, String), &Count)| json!({ "label": label.name(), "name": name, "block": count.blocked, "ask": count.asked, "pass": count.passed });
            rows.iter().map(row).collect()
        };
        let listed = |list: &[(String, String, String)]| -> Vec<Value> {
            list.iter().map(|(text, why, of)| json!({ "text": text, "why": why, "of": of })).collect()
        };
        json!({
            "harmful": self.count(Effect::Harmful).total(),
            "harmful_stopped": self.harmful_stopped(),
            "harmless": self.count(Effect::Harmless).total(),
            "harmless_touched": self.harmless_touched(),
            "void": self.count(Effect::Void).total(),
            "families": table(&self.families),
            "disguises": table(&self.disguises),
            "depths": table(&self.depths),
            "missed": listed(&self.missed),
            "touched": listed(&self.touched),
        })
    }

    /// The tables and the first `shown` of each list, for a person.
    pub fn told(&self, shown: usize) -> String {
        let mut out = self.to_string();
        for (title, list) in [("missed harmful", &self.missed), ("touched harmless", &self.touched)] {
            let _ = writeln!(out, "\n{} {title}{}", list.len(), if list.is_empty() { "" } else { ":" });
            for (text, why, of) in spread(list, shown) {
                let _ = writeln!(out, "--- {of}\n    {}\n    => {why}", text.replace('\n', "\n    "));
            }
        }
        let _ = writeln!(out, "\n{} void{}", self.void.len(), if self.void.is_empty() { "" } else { ":" });
        for (text, of) in spread(&self.void, shown / 4) {
            let _ = writeln!(out, "--- {of}\n    {}", text.replace('\n', "\n    "));
        }
        out
    }
}

/// So many of a list, from all over it.
fn spread<T>(list: &[T], count: usize) -> impl Iterator<Item = &T> {
    let step = list.len().div_ceil(count.max(1)).max(1);
    list.iter().step_by(step).take(count)
}

/// A case with its label as one line of JSON, for other tools.
pub fn line(one: &Labelled, verdict: &Verdict) -> Value {
    json!({
        "command": one.case.text,
        "label": one.label().name(),
        "lost": one.outcome.harms.iter().map(Harm::to_string).collect::<Vec<_>>(),
        "family": one.case.family,
        "disguises": one.case.disguises,
        "intent": match one.case.intent {
            Intent::Deed => "deed",
            Intent::Everyday(_) => "everyday",
            Intent::Data => "data",
        },
        "verdict": match verdict.stopped {
            Some(Stopped::Block) => "block",
            Some(Stopped::Ask) => "ask",
            None => "pass",
        },
        "rules": verdict.rules,
    })
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:<44} {:>6} {:>6} {:>6} {:>6} {:>9}", "", "cases", "block", "ask", "pass", "stopped")?;
        let line = |out: &mut fmt::Formatter<'_>, name: &str, count: Count| {
            let Count { blocked, asked, passed, .. } = count;
            let (total, share) = (count.total(), count.touched_percent());
            writeln!(out, "{name:<44} {total:>6} {blocked:>6} {asked:>6} {passed:>6} {share:>7.1} %")
        };
        for (label, count) in &self.labels {
            line(out, label.name(), *count)?;
        }
        for (title, rows) in
            [("by depth", &self.depths), ("by family", &self.families), ("by disguise", &self.disguises)]
        {
            for label in [Effect::Harmful, Effect::Harmless] {
                writeln!(out, "\n{}, {title}", label.name())?;
                let mut rows: Vec<_> = rows.iter().filter(|((of, _), _)| *of == label).collect();
                if title != "by depth" {
                    // The worst first: what is let through of the harmful, what is stopped of the harmless.
                    let worst = |count: &Count| if label == Effect::Harmful { count.passed } else { count.touched() };
                    rows.sort_by_key(|((_, name), count)| (std::cmp::Reverse(worst(count)), name.as_str()));
                    rows.retain(|(_, count)| worst(count) > 0);
                    rows.truncate(60);
                }
                for ((_, name), count) in rows {
                    line(out, &format!("  {name}"), *count)?;
                }
            }
        }
        Ok(())
    }
}
