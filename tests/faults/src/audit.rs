//! The audit log as it lies there.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Error;

/// The lines of a log.
#[derive(Debug, Default)]
pub struct Log {
    entries: Vec<String>,
    /// Entries of calls that could not be read.
    unread: Cell<usize>,
    /// Lines that are no entries.
    pub torn: usize,
}

impl Log {
    /// Reads a log, and those that were full before it.
    ///
    /// # Errors
    /// If one is there and cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut log = Log::default();
        for path in [path.with_extension("1.jsonl"), path.to_owned()] {
            let bytes = match fs::read(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                read => read?,
            };
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                match serde_json::from_slice::<Value>(line) {
                    Ok(entry) if entry["kind"] != "damage-control-log" => log.torn += 1,
                    Ok(entry) if entry["tool"] == "" => *log.unread.get_mut() += 1,
                    Ok(entry) => log.entries.push(entry["input"].to_string()),
                    Err(_) => log.torn += 1,
                }
            }
        }
        Ok(log)
    }

    /// Whether there is an entry for a call. Of one that could not be read any is, and each counts for one.
    pub fn has(&self, mark: &str) -> bool {
        if !mark.is_empty() && self.entries.iter().any(|input| input.contains(mark)) {
            return true;
        }
        let left = self.unread.get().checked_sub(1);
        self.unread.set(left.unwrap_or_default());
        left.is_some()
    }
}
