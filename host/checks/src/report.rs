//! What a check finds.

use std::path::PathBuf;

/// How a kind of check ended. True of the files as they are: what could not be found out is never `Clean`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing of this kind was there to check, nothing to check it with, or what is of another kind has done it.
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

    /// Problems in so many files. Without one it is `Clean`, but `Skipped` if no file was looked at.
    pub fn found(problems: Vec<Problem>, files: usize) -> Self {
        let status = match (problems.is_empty(), files) {
            (false, _) => Status::Issues,
            (true, 0) => Status::Skipped,
            (true, _) => Status::Clean,
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_clean_that_was_not_looked_at() {
        let problem = Problem {
            file: "/p/a".into(),
            line: 1,
            column: 1,
            severity: Severity::Error,
            message: "m".to_owned(),
            rule: None,
            source: "s".to_owned(),
        };
        let cases = [
            (vec![], 0, Status::Skipped),
            (vec![], 1, Status::Clean),
            (vec![problem.clone()], 0, Status::Issues),
            (vec![problem], 1, Status::Issues),
        ];
        for (problems, files, status) in cases {
            assert_eq!(Outcome::found(problems.clone(), files).status, status, "{problems:?} {files}");
        }
    }
}
