//! The faults, by what they are of.

mod cache;
mod clock;
mod daemon;
mod disk;
mod entries;
mod git;
mod limits;
mod listeners;
mod resident;
mod rules;
mod session;
mod snapshots;
mod streams;
mod surroundings;
mod terminal;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::Error;
use crate::trial::{Row, Trial};

/// How many faults of a boundary are tried at a time.
const JOBS: usize = 4;

type Run = Box<dyn Fn(&mut Trial) -> Result<(), Error> + Send + Sync>;

/// A fault: it is brought about, calls are made under it, and it is taken away.
pub struct Fault {
    name: String,
    run: Run,
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

fn fault(name: impl Into<String>, run: impl Fn(&mut Trial) -> Result<(), Error> + Send + Sync + 'static) -> Fault {
    Fault { name: name.into(), run: Box::new(run) }
}

/// What Toolgate leans on.
#[derive(Debug)]
pub struct Boundary {
    /// Its name.
    pub name: &'static str,
    faults: fn() -> Vec<Fault>,
}

/// All of them.
pub static ALL: [Boundary; 13] = [
    Boundary { name: "resident-host", faults: resident::faults },
    Boundary { name: "check-daemon", faults: daemon::faults },
    Boundary { name: "terminal", faults: terminal::faults },
    Boundary { name: "git", faults: git::faults },
    Boundary { name: "rule-files", faults: rules::faults },
    Boundary { name: "machine-code", faults: cache::faults },
    Boundary { name: "snapshots", faults: snapshots::faults },
    Boundary { name: "session", faults: session::faults },
    Boundary { name: "disk", faults: disk::faults },
    Boundary { name: "limits", faults: limits::faults },
    Boundary { name: "clock", faults: clock::faults },
    Boundary { name: "surroundings", faults: surroundings::faults },
    Boundary { name: "streams", faults: streams::faults },
];

/// The boundary of this name.
pub fn named(name: &str) -> Option<&'static Boundary> {
    ALL.iter().find(|boundary| boundary.name == name)
}

impl Boundary {
    /// What comes of its faults that have this in their names, several at a time. Each row is handed over when it is there.
    pub fn rows(&self, only: &str, done: impl Fn(&Row) + Sync) -> Vec<Row> {
        let mut faults = (self.faults)();
        faults.retain(|fault| fault.name.contains(only));
        let queue = Mutex::new(faults.iter().enumerate().rev().collect::<Vec<_>>());
        let rows = Mutex::new(Vec::new());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        std::thread::scope(|scope| {
            for _ in 0..JOBS {
                scope.spawn(|| {
                    while let Some((at, fault)) = next() {
                        let row = self.row(fault);
                        done(&row);
                        rows.lock().unwrap_or_else(PoisonError::into_inner).push((at, row));
                    }
                });
            }
        });
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.sort_by_key(|(at, _)| *at);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn row(&self, fault: &Fault) -> Row {
        let tried = Trial::new().and_then(|mut trial| {
            (fault.run)(&mut trial)?;
            trial.row(self.name, &fault.name)
        });
        tried.unwrap_or_else(|error| Row::without(self.name, &fault.name, error))
    }
}
