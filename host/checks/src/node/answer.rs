//! What a Node process answers, and what it means.

use std::path::PathBuf;

use serde::Deserialize;

use super::Tool;
use crate::report::{Outcome, Problem, Severity, Status};

/// An answer as `worker.cjs` writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    /// That of the request.
    pub(super) id: u64,
    /// Nothing was looked at, since something that this process has loaded was changed.
    pub(super) stale: bool,
    /// The tool itself failed. The notes say how.
    pub(super) failed: bool,
    /// Memory in use, in bytes.
    pub(super) rss: u64,
    files: usize,
    problems: Vec<NodeFinding>,
    unformatted: Vec<PathBuf>,
    notes: Vec<String>,
    /// How many problems were left out.
    cut: usize,
}

#[derive(Debug, Deserialize)]
struct NodeFinding {
    file: PathBuf,
    line: u32,
    column: u32,
    severity: Level,
    message: String,
    #[serde(default)]
    rule: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warning,
    Info,
}

impl Answer {
    pub(super) fn outcome(self, tool: Tool) -> Outcome {
        let source = tool.name();
        let status = self.status(tool);
        let verb = if self.failed { " failed" } else { "" };
        let mut notes: Vec<_> = self.notes.iter().map(|note| format!("{source}{verb}: {note}")).collect();
        if self.cut > 0 {
            notes.push(format!("{source}: {} more problems are not shown", self.cut));
        }
        if status == Status::Skipped && notes.is_empty() {
            notes.push(format!("{source} has nothing to do with these files"));
        }
        let problems = self.problems.into_iter().map(|found| found.problem(source)).collect();
        Outcome { status, problems, unformatted: self.unformatted, files: self.files, notes }
    }

    fn status(&self, tool: Tool) -> Status {
        let unreadable = tool == Tool::Prettier && !self.problems.is_empty();
        if !self.unformatted.is_empty() || (!self.problems.is_empty() && !unreadable) {
            Status::Issues
        } else if self.failed || unreadable {
            Status::Error
        } else if self.files == 0 {
            Status::Skipped
        } else {
            Status::Clean
        }
    }
}

impl NodeFinding {
    fn problem(self, source: &str) -> Problem {
        let NodeFinding { file, line, column, severity, message, rule } = self;
        let severity = match severity {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Info,
        };
        Problem { file, line, column, severity, message, rule, source: source.to_owned() }
    }
}
