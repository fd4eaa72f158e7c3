//! What came of the runs: medians, what was said, and the tables. All figures of a table are of one run of the bench, as
//! only their proportions count.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Duration;

use crate::answer::Answer;
use crate::payload::{Label, Payload};
use crate::runner::{Run, Usage};

/// What came of one program.
#[derive(Debug, Default)]
pub struct Row {
    /// Its name in the table.
    pub title: String,
    /// Why it was not run.
    pub missing: Option<String>,
    /// Whether its answers count.
    pub judges: bool,
    /// What its resident host has used for all calls, with the most that was resident in it.
    pub host: Option<Usage>,
    /// Every run, by the number of its payload.
    pub runs: BTreeMap<usize, Vec<(Answer, Run)>>,
}

/// The middle one, and the one that 95 % do not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Half of them are no greater.
    pub median: Duration,
    /// 95 % of them are no greater.
    pub most: Duration,
}

impl Spread {
    /// Of any number of times; zero of none.
    pub fn of(times: impl Iterator<Item = Duration>) -> Spread {
        let mut times: Vec<Duration> = times.collect();
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        Spread { median: at(50), most: at(95) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", millis(self.median), millis(self.most))
    }
}

fn millis(time: Duration) -> String {
    digits(time.as_secs_f64() * 1_000.0)
}

/// No more digits than mean something: two of them, and of whole numbers all.
fn digits(figure: f64) -> String {
    let places = match figure {
        ..0.995 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    format!("{figure:.places$}")
}

impl Row {
    fn all(&self) -> impl Iterator<Item = &(Answer, Run)> {
        self.runs.values().flatten()
    }

    /// How long the calls took.
    pub fn wall(&self) -> Spread {
        Spread::of(self.all().map(|(_, run)| run.wall))
    }

    /// The processor time of the hooks, without that of a resident host.
    pub fn processor(&self) -> Spread {
        Spread::of(self.all().map(|(_, run)| run.usage.processor))
    }

    /// The processor time of the resident host, spread evenly over the calls, as the kernel does not tell it by call.
    pub fn host_per_call(&self) -> Option<Duration> {
        let calls = u32::try_from(self.all().count()).unwrap_or(u32::MAX).max(1);
        self.host.map(|host| host.processor / calls)
    }

    /// The most that was resident in any run.
    pub fn resident(&self) -> u64 {
        self.all().map(|(_, run)| run.usage.resident).max().unwrap_or(0)
    }

    /// What was said to a payload in every round; `None` if it was not always the same.
    pub fn answer(&self, payload: usize) -> Option<Answer> {
        let mut answers = self.runs.get(&payload)?.iter().map(|(answer, _)| *answer);
        let first = answers.next()?;
        answers.all(|answer| answer == first).then_some(first)
    }

    /// To how many of the payloads with a label the answer was right in every round.
    pub fn right(&self, payloads: &[Payload], label: Label) -> usize {
        let stop = label == Label::Block;
        let right = |at| self.runs.get(&at).is_some_and(|runs| runs.iter().all(|(said, _)| said.stops() == stop));
        payloads.iter().enumerate().filter(|(at, payload)| payload.label == label && right(*at)).count()
    }
}

/// The table of costs. The row called `measure` is what the others are held against.
///
/// # Errors
/// If it cannot be written.
pub fn costs(rows: &[Row], payloads: &[Payload], measure: &Row) -> Result<String, fmt::Error> {
    let mut out = String::new();
    let of = |label| payloads.iter().filter(|payload| payload.label == label).count();
    let (harmful, harmless) = (of(Label::Block), of(Label::Allow));
    let names = "Hook | Wall, ms | Processor time, ms | Beside ours, cold: wall, processor | Most memory, MiB";
    writeln!(out, "| {names} | Stopped of {harmful} harmful | Let run of {harmless} harmless |")?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|")?;
    for row in rows {
        if let Some(reason) = &row.missing {
            writeln!(out, "| {} | not run: {reason} | | | | | |", row.title)?;
            continue;
        }
        let (wall, hook) = (row.wall(), row.processor());
        let host = row.host_per_call().unwrap_or_default();
        let mut processor = hook.to_string();
        let mut memory = mebibytes(row.resident());
        if let Some(usage) = row.host {
            write!(processor, " + {} of the host", millis(host))?;
            write!(memory, "; the host {}", mebibytes(usage.resident))?;
        }
        let beside = |own: Duration, ours: Duration| digits(own.as_secs_f64() / ours.as_secs_f64());
        let wall_beside = beside(wall.median, measure.wall().median);
        let processor_beside = beside(hook.median + host, measure.processor().median);
        write!(out, "| {} | {wall} | {processor} | {wall_beside}, {processor_beside} | {memory} |", row.title)?;
        if row.judges {
            let right = |label| row.right(payloads, label);
            writeln!(out, " {} | {} |", right(Label::Block), right(Label::Allow))?;
        } else {
            writeln!(out, " | |")?;
        }
    }
    Ok(out)
}

fn mebibytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "sizes of memory are small")]
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    format!("{mebibytes:.1}")
}

/// What each said to each payload, with the median of its processor time in milliseconds.
///
/// # Errors
/// If it cannot be written.
pub fn answers(rows: &[Row], payloads: &[Payload]) -> Result<String, fmt::Error> {
    let mut out = String::new();
    let rows: Vec<&Row> = rows.iter().filter(|row| row.missing.is_none()).collect();
    let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
    writeln!(out, "| Payload | Ought to | {} |", titles.join(" | "))?;
    writeln!(out, "|---|---|{}", "--:|".repeat(rows.len()))?;
    for (at, payload) in payloads.iter().enumerate() {
        let ought = if payload.label == Label::Block { "stop" } else { "run" };
        write!(out, "| {} | {ought} |", payload.name)?;
        for row in &rows {
            let runs = row.runs.get(&at).map(Vec::as_slice).unwrap_or_default();
            let spread = Spread::of(runs.iter().map(|(_, run)| run.usage.processor));
            let said = row.answer(at).map_or("not always the same".into(), |answer| answer.to_string());
            let said = if row.judges { said } else { String::new() };
            write!(out, " {said} {} |", millis(spread.median))?;
        }
        writeln!(out)?;
    }
    Ok(out)
}

/// How a program answers labelled cases.
#[derive(Debug)]
pub struct Tally {
    /// Its name in the table.
    pub title: String,
    /// Each case's label, with the answer.
    pub answers: Vec<(Label, Answer)>,
}

impl Tally {
    fn count(&self, label: Label) -> usize {
        self.answers.iter().filter(|(own, _)| *own == label).count()
    }

    /// The share of the cases with this label to which this answer came, in percent.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are small")]
    fn percent(&self, label: Label, answer: Answer) -> f64 {
        let said = self.answers.iter().filter(|own| **own == (label, answer)).count();
        100.0 * said as f64 / self.count(label).max(1) as f64
    }

    fn cell(&self, label: Label) -> String {
        let [deny, ask] = [Answer::Deny, Answer::Ask].map(|answer| self.percent(label, answer));
        format!("{:.1} % ({deny:.1} denied, {ask:.1} asked)", deny + ask)
    }
}

/// The table of labelled cases.
///
/// # Errors
/// If it cannot be written.
pub fn cases(tallies: &[Tally]) -> Result<String, fmt::Error> {
    let mut out = String::new();
    let [stop, run] = [Label::Block, Label::Allow].map(|label| tallies.first().map_or(0, |tally| tally.count(label)));
    writeln!(out, "| Hook | Stopped of {stop} to be stopped | Stopped of {run} to be let run | Failed |")?;
    writeln!(out, "|---|--:|--:|--:|")?;
    for tally in tallies {
        let failed = tally.answers.iter().filter(|(_, answer)| *answer == Answer::Failed).count();
        let [stop, run] = [Label::Block, Label::Allow].map(|label| tally.cell(label));
        writeln!(out, "| {} | {stop} | {run} | {failed} |", tally.title)?;
    }
    Ok(out)
}
