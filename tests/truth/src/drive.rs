//! Runs many scripts on several threads and adds up what was found.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::report::{Mismatch, Table};
use crate::{Error, Harness, Prediction};

/// How to run them.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads, each with a sandbox of its own.
    pub threads: usize,
    /// How many mismatches are kept.
    pub keep: usize,
    /// Say how far it is, if standard error is a terminal.
    pub progress: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 2, keep: 20, progress: true }
    }
}

/// What came of them.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The sums.
    pub table: Table,
    /// The first mismatches, in the order of the scripts.
    pub mismatches: Vec<Mismatch>,
    /// Scripts that could not be run, with why.
    pub failures: Vec<(String, String)>,
    /// How long it took.
    pub took: Duration,
}

/// Runs every script against the prediction that `predict` makes for it.
pub fn run(
    scripts: &[String],
    predict: &(dyn Fn(&str) -> Prediction + Sync),
    options: Options,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let gathered: Mutex<(Outcome, Vec<(usize, Mismatch)>)> = Mutex::default();
    let worker = || -> Result<(), Error> {
        let mut harness = Harness::open().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = scripts.get(at) else { break };
            let result = harness.run(text, &predict(text));
            // A panic elsewhere must not hide what was found here.
            let mut gathered = gathered.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match result {
                Ok(report) => {
                    gathered.0.table.add(&report);
                    gathered.1.extend(report.mismatches.into_iter().map(|mismatch| (at, mismatch)));
                }
                Err(error) => gathered.0.failures.push((text.clone(), error.to_string())),
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if options.progress && std::io::stderr().is_terminal() && (done.is_multiple_of(20) || done == scripts.len())
            {
                let wrong = gathered.0.table.wrong_scripts;
                say(&format!("\r{done}/{} scripts, {wrong} with a mismatch, {:.0?} ", scripts.len(), start.elapsed()));
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads.max(1)).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    if options.progress && std::io::stderr().is_terminal() {
        say("\n");
    }
    let (mut outcome, mut mismatches) = gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    mismatches.sort_by_key(|(at, _)| *at);
    outcome.mismatches = mismatches.into_iter().take(options.keep).map(|(_, mismatch)| mismatch).collect();
    outcome.took = start.elapsed();
    Ok(outcome)
}

/// To standard error; one that is closed is no reason to stop.
pub fn say(text: &str) {
    let mut out = std::io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The table, the mismatches with their scripts, and the time, for a person.
pub fn told(outcome: &Outcome) -> String {
    let mut out = outcome.table.to_string();
    let each = outcome.took.as_secs_f64() * 1000.0 / outcome.table.scripts.max(1) as f64;
    out.push_str(&format!("{:.1?} in all, {each:.1} ms a script\n", outcome.took));
    let mut last = "";
    for mismatch in &outcome.mismatches {
        if mismatch.script != last {
            out.push_str(&format!("\n--- {}\n", mismatch.script.trim_end().replace('\n', "\n    ")));
            last = &mismatch.script;
        }
        out.push_str(&format!("    {mismatch}\n"));
    }
    for (script, why) in &outcome.failures {
        out.push_str(&format!("\n--- {script}\n    could not be run: {why}\n"));
    }
    out
}
