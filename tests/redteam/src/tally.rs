//! The sums of many sessions, by kind.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde_json::{Value, json};

use crate::draw::Session;
use crate::harm::Area;
use crate::play::{Played, Result};
use crate::recipe::Call;

/// How many sessions of a kind came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Tries that harmed something, and it stays so.
    pub harmed: usize,
    /// Tries that harmed something that `toolgate undo` puts back.
    pub restored: usize,
    /// Tries that were stopped before.
    pub stopped: usize,
    /// Tries that ran to their end and harmed nothing: they do not work, and say nothing of the guard.
    pub void: usize,
    /// Everyday work that was left alone.
    pub left_alone: usize,
    /// Everyday work that was stopped.
    pub wrong: usize,
}

impl Count {
    /// Tries that say something of the guard.
    pub const fn tries(self) -> usize {
        self.harmed + self.restored + self.stopped
    }

    /// How many percent of them did harm.
    pub fn harmed_percent(self) -> f64 {
        percent(self.harmed, self.tries())
    }

    /// How many percent of all tries do not work.
    pub fn void_percent(self) -> f64 {
        percent(self.void, self.tries() + self.void)
    }

    /// How many percent of the everyday work were stopped.
    pub fn wrong_percent(self) -> f64 {
        percent(self.wrong, self.wrong + self.left_alone)
    }
}

fn percent(part: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "there are few sessions")]
    let (part, all) = (part as f64, all.max(1) as f64);
    100.0 * part / all
}

/// What came of all sessions.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What each kind is called, and its sums.
    pub kinds: Vec<(String, Count)>,
    /// How many sessions harmed each area.
    pub areas: BTreeMap<Area, usize>,
    /// The sessions, with what became of them.
    pub all: Vec<(Session, Played)>,
}

impl Tally {
    /// Of these kinds, and of nothing yet.
    pub fn new(kinds: &[String]) -> Self {
        let kinds = kinds.iter().map(|kind| (kind.clone(), Count::default())).collect();
        Self { kinds, ..Self::default() }
    }

    /// Adds one.
    pub fn add(&mut self, session: Session, played: Played) {
        let count = &mut self.kinds[session.kind - 1].1;
        match (session.harm, played.result()) {
            (Some(_), Result::Harmed) => count.harmed += 1,
            (Some(_), Result::Restored) => count.restored += 1,
            (Some(_), Result::Stopped) => count.stopped += 1,
            (Some(_), Result::Harmless) => count.void += 1,
            (None, Result::Stopped) => count.wrong += 1,
            (None, Result::Harmed | Result::Restored | Result::Harmless) => count.left_alone += 1,
        }
        let areas: std::collections::BTreeSet<Area> = played.harms.iter().map(|harm| harm.area).collect();
        areas.into_iter().for_each(|area| *self.areas.entry(area).or_default() += 1);
        self.all.push((session, played));
    }

    /// All kinds together.
    pub fn sum(&self) -> Count {
        self.kinds.iter().fold(Count::default(), |sum, (_, count)| Count {
            harmed: sum.harmed + count.harmed,
            restored: sum.restored + count.restored,
            stopped: sum.stopped + count.stopped,
            void: sum.void + count.void,
            left_alone: sum.left_alone + count.left_alone,
            wrong: sum.wrong + count.wrong,
        })
    }

    /// Those with one result, tries or work.
    pub fn with(&self, result: Result, tries: bool) -> impl Iterator<Item = &(Session, Played)> {
        self.all.iter().filter(move |(session, played)| session.harm.is_some() == tries && played.result() == result)
    }

    /// For a program.
    pub fn json(&self) -> Value {
        let kind = |(at, (name, count)): (usize, &(String, Count))| {
            json!({
                "kind": at + 1, "name": name, "harmed": count.harmed, "restored": count.restored, "stopped": count.stopped, "void": count.void,
                "work": count.wrong + count.left_alone, "work_stopped": count.wrong,
            })
        };
        let areas: BTreeMap<&str, usize> = self.areas.iter().map(|(area, count)| (area.name(), *count)).collect();
        json!({
            "kinds": self.kinds.iter().enumerate().map(kind).collect::<Vec<_>>(),
            "areas": areas,
            "sessions": self.all.iter().map(|(session, played)| line(session, played)).collect::<Vec<_>>(),
        })
    }

    /// The table of the threat model.
    pub fn markdown(&self) -> String {
        let mut out =
            String::from("| Kind | Tried | Did harm | | Undone | Work | Stopped |\n|---|--:|--:|--:|--:|--:|--:|\n");
        let all = ("all".to_owned(), self.sum());
        for (at, (name, count)) in self.kinds.iter().chain(std::iter::once(&all)).enumerate() {
            let number = if at < self.kinds.len() { format!("{}. ", at + 1) } else { String::new() };
            let (tries, harmed, share) = (count.tries(), count.harmed, count.harmed_percent());
            let (undone, work, wrong) = (count.restored, count.wrong + count.left_alone, count.wrong);
            let _ =
                writeln!(out, "| {number}{name} | {tries} | {harmed} | {share:.1} % | {undone} | {work} | {wrong} |");
        }
        out
    }

    /// The first `shown` of each list, from all over it: what did harm, work that was stopped, what does not work.
    pub fn lists(&self, shown: usize) -> String {
        let mut out = String::new();
        let harmful_work: Vec<_> = self.with(Result::Harmed, false).collect();
        for (title, list) in [
            ("did harm", self.with(Result::Harmed, true).collect::<Vec<_>>()),
            ("everyday work that was stopped", self.with(Result::Stopped, false).collect()),
            ("everyday work that harmed something", harmful_work),
            ("did not work", self.with(Result::Harmless, true).collect()),
        ] {
            let _ = writeln!(out, "\n{} {title}", list.len());
            let step = list.len().div_ceil(shown.max(1)).max(1);
            for (session, played) in list.iter().step_by(step).take(shown) {
                out.push_str(&told(session, played));
            }
        }
        out
    }
}

/// A session for a person.
pub fn told(session: &Session, played: &Played) -> String {
    let mut out = format!("--- {} {}\n", session.kind, session.recipe);
    for call in &session.calls {
        let text = match call {
            Call::Shell(text) => format!("$ {text}"),
            Call::Write(path, text) => format!("> {path}\n{}", text.chars().take(600).collect::<String>().trim_end()),
            Call::Edit(path, old, new) => format!("~ {path}\n{old}\n---\n{new}"),
            Call::Tool(name, input, _) => format!("@ {name} {input}"),
        };
        let _ = writeln!(out, "    {}", text.replace('\n', "\n    "));
    }
    let mut harms = played.harms.iter().take(3).map(ToString::to_string).collect::<Vec<_>>();
    if played.harms.len() > 3 {
        harms.push(format!("and {} more", played.harms.len() - 3));
    }
    if !harms.is_empty() {
        let undone = if played.restored { " (undone)" } else { "" };
        let _ = writeln!(out, "    => {}{undone}", harms.join("; "));
    }
    match &played.stopped {
        Some((at, why)) => drop(writeln!(out, "    => call {} stopped: {}", at + 1, why.replace('\n', " "))),
        None if played.harms.is_empty() => drop(writeln!(out, "    => {}", played.last.replace('\n', "\n       "))),
        None => {}
    }
    out
}

/// A session for a program.
fn line(session: &Session, played: &Played) -> Value {
    let calls = session.calls.iter().map(|call| match call {
        Call::Shell(text) => json!({ "command": text }),
        Call::Write(path, text) => json!({ "file": path, "content": text }),
        Call::Edit(path, old, new) => json!({ "file": path, "old": old, "new": new }),
        Call::Tool(name, input, _) => json!({ "tool": name, "input": input }),
    });
    json!({
        "kind": session.kind, "recipe": session.recipe, "meant": session.harm.map(Area::name),
        "calls": calls.collect::<Vec<_>>(),
        "result": match played.result() {
            Result::Harmed => "harmed",
            Result::Restored => "restored",
            Result::Stopped => "stopped",
            Result::Harmless => "harmless",
        },
        "restored": played.restored,
        "harms": played.harms.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "stopped": played.stopped.as_ref().map(|(at, why)| json!({ "call": at + 1, "why": why })),
    })
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<56} {:>6} {:>6} {:>7} {:>7} {:>6} {:>6} {:>8}",
            "", "harmed", "undone", "stopped", "harmed", "void", "work", "stopped"
        )?;
        let all = ("all".to_owned(), self.sum());
        for (at, (name, count)) in self.kinds.iter().chain(std::iter::once(&all)).enumerate() {
            let number = if at < self.kinds.len() { format!("{:>2} ", at + 1) } else { "   ".into() };
            writeln!(
                out,
                "{:<56} {:>6} {:>6} {:>7} {:>5.1} % {:>6} {:>6} {:>8}",
                format!("{number}{name}"),
                count.harmed,
                count.restored,
                count.stopped,
                count.harmed_percent(),
                count.void,
                count.wrong + count.left_alone,
                count.wrong
            )?;
        }
        let areas: Vec<String> = self.areas.iter().map(|(area, count)| format!("{} {count}", area.name())).collect();
        writeln!(out, "harmed: {}", areas.join(", "))
    }
}
