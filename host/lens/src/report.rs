//! What a check finds.

use std::path::PathBuf;

/// How a kind of check ended. True of the files as they are: what could not be found out is never `Clean`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing of this kind was there to check, or nothing to check it with.
    #[default]
    Skipped,
    /// Everything is as it should be.
    Clean,
    /// The check itself failed: it crashed, hung or said something that makes no sense.
    Error,
    /// There is something to mend.
    Issues,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Has to be mended.
    Error,
    /// Should be looked at.
    Warning,
    /// Anything else.
    Info,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Absolute.
    pub file: PathBuf,
    /// From 1; 0 for the file as a whole.
    pub line: u32,
    /// From 1, in characters of the line as the tool counts them; 0 for the line as a whole.
    pub column: u32,
    /// How bad it is.
    pub severity: Severity,
    /// In words, as the tool says it.
    pub message: String,
    /// The tool's name for the rule, like `no-unused-vars` or `TS2322`.
    pub rule: Option<String>,
    /// Who says it, like `eslint`.
    pub source: String,
}

/// What one tool, or all of a kind together, said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What it found. Not empty only if the status is `Issues` or `Error`.
    pub problems: Vec<Problem>,
    /// Files that a formatter would change. Not empty only if the status is `Issues` or `Error`.
    pub unformatted: Vec<PathBuf>,
    /// How many files were looked at.
    pub files: usize,
    /// Why something was skipped or failed, each a sentence that starts with the tool's name.
    pub notes: Vec<String>,
}

impl Outcome {
    /// Nothing to say, for this reason.
    pub fn skipped(note: impl Into<String>) -> Self {
        Outcome { notes: vec![note.into()], ..Outcome::default() }
    }

    /// The check failed, for this reason.
    pub fn error(note: impl Into<String>) -> Self {
        Outcome { status: Status::Error, notes: vec![note.into()], ..Outcome::default() }
    }

    /// Problems in so many files; `Clean` if there are none.
    pub fn found(problems: Vec<Problem>, files: usize) -> Self {
        let status = if problems.is_empty() { Status::Clean } else { Status::Issues };
        Outcome { status, problems, files, ..Outcome::default() }
    }

    /// Both together. The weightier status stands: issues, then error, then clean, then skipped.
    #[must_use]
    pub fn and(mut self, other: Outcome) -> Self {
        let weight = |status: Status| status as u8;
        if weight(other.status) > weight(self.status) {
            self.status = other.status;
        }
        self.problems.extend(other.problems);
        self.unformatted.extend(other.unformatted);
        self.files = self.files.max(other.files);
        self.notes.extend(other.notes);
        self
    }
}
