//! The report: a text for whoever goes on with the files, and the same as details for a program.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::plain::plain;
use crate::report::{Outcome, Problem, Severity, Status};
use crate::tools::Kind;

/// Most characters of a file's name.
pub(crate) const NAME: usize = 400;

/// Most characters of a message.
const MESSAGE: usize = 600;

/// Most lines of the text.
const LINES: usize = 2000;

/// Most bytes of the text.
const BYTES: usize = 50 << 10;

/// Most problems in the details.
const PROBLEMS: usize = 500;

/// Most notes in the details.
const NOTES: usize = 100;

/// What ends a text that is cut.
const CUT: &str = "\n\n... (output truncated)";

/// The four checks.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) prettier: Outcome,
    pub(crate) linters: Outcome,
    pub(crate) lsp: Outcome,
    pub(crate) tsc: Outcome,
    /// About the files, not the checks.
    pub(crate) notes: Vec<String>,
}

impl Checks {
    /// Adds what was found of this kind.
    pub(crate) fn add(&mut self, kind: Kind, outcome: Outcome) {
        let part = match kind {
            Kind::Formatter => &mut self.prettier,
            Kind::Linter => &mut self.linters,
            Kind::Server => &mut self.lsp,
            Kind::Types => &mut self.tsc,
        };
        *part = std::mem::take(part).and(outcome);
    }

    fn all(&self) -> [(&'static str, &Outcome); 4] {
        [("prettier", &self.prettier), ("linters", &self.linters), ("lsp", &self.lsp), ("tsc", &self.tsc)]
    }

    /// For a program.
    pub(crate) fn details(&self, root: &Path) -> Map<String, Value> {
        let statuses: Map<String, Value> =
            self.all().into_iter().map(|(name, outcome)| (name.to_owned(), json!(outcome.status))).collect();
        let problems = self.all().into_iter().flat_map(|(_, outcome)| ordered(&outcome.problems));
        let problems = problems.take(PROBLEMS).map(|one| {
            json!({
                "file": relative(&one.file, root),
                "line": one.line,
                "column": one.column,
                "severity": one.severity,
                "message": plain(&one.message, MESSAGE),
                "rule": one.rule.as_ref().map(|rule| plain(rule, NAME)),
                "source": one.source,
            })
        });
        let mut notes: Vec<&String> = self.all().into_iter().flat_map(|(_, outcome)| &outcome.notes).collect();
        notes.sort();
        notes.dedup();
        let notes = notes.into_iter().chain(&self.notes).take(NOTES).map(|note| plain(note, MESSAGE));
        let mut unformatted: Vec<_> = self.all().into_iter().flat_map(|(_, outcome)| &outcome.unformatted).collect();
        unformatted.sort();
        unformatted.dedup();
        let details = json!({
            "statuses": statuses,
            "hasIssues": self.all().into_iter().any(|(_, outcome)| outcome.status == Status::Issues),
            "problems": problems.collect::<Vec<_>>(),
            "notes": notes.collect::<Vec<_>>(),
            "unformatted": unformatted.into_iter().map(|file| relative(file, root)).collect::<Vec<_>>(),
        });
        match details {
            Value::Object(details) => details,
            _ => Map::new(),
        }
    }

    /// For a reader. Sections stand in a fixed order, without an end of line after the last.
    pub(crate) fn text(&self, root: &Path) -> String {
        let mut sections: Vec<String> =
            self.all().into_iter().filter_map(|(name, outcome)| section(name, outcome, root)).collect();
        sections.extend(self.notes.iter().map(|note| format!("  ⊘ {}", plain(note, MESSAGE))));
        match sections.is_empty() {
            // What was wanted does not apply to these files.
            true => "No checks for these files.".to_owned(),
            false => cut(sections.join("\n")),
        }
    }
}

fn section(name: &str, outcome: &Outcome, root: &Path) -> Option<String> {
    let notes = || outcome.notes.iter().map(|note| plain(note, MESSAGE)).collect::<Vec<_>>();
    let mut text = match outcome.status {
        Status::Skipped if outcome.notes.is_empty() => return None,
        Status::Skipped => return Some(format!("  ⊘ {name}: skipped ({})", notes().join("; "))),
        Status::Clean => clean(name, outcome.files),
        Status::Error => format!("  ⚠ {name}: check failed"),
        Status::Issues => String::new(),
    };
    for part in [unformatted(name, outcome, root), problems(name, outcome, root)].into_iter().flatten() {
        let _ = write!(text, "{}{part}", if text.is_empty() { "" } else { "\n" });
    }
    for note in notes() {
        let _ = write!(text, "\n    {note}");
    }
    Some(text)
}

fn clean(name: &str, files: usize) -> String {
    match name {
        "prettier" => format!("  ✅ prettier: {files} file(s) formatted correctly"),
        "linters" => "  ✅ linters: 0 issues".to_owned(),
        "lsp" => "  ✅ lsp: 0 diagnostics".to_owned(),
        _ => format!("  ✅ {name}: 0 errors"),
    }
}

fn unformatted(name: &str, outcome: &Outcome, root: &Path) -> Option<String> {
    let mut files: Vec<&PathBuf> = outcome.unformatted.iter().collect();
    files.sort();
    files.dedup();
    let mut text = format!("  ⚠ {name}: {} file(s) need formatting", files.len());
    for file in &files {
        let _ = write!(text, "\n    {}", shown(file, root));
    }
    (!files.is_empty()).then_some(text)
}

fn problems(name: &str, outcome: &Outcome, root: &Path) -> Option<String> {
    let problems = ordered(&outcome.problems);
    let count = |severity| problems.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let mut files: Vec<&Path> = problems.iter().map(|one| one.file.as_path()).collect();
    files.dedup();
    let mut text = match name {
        "prettier" => format!("  ⚠ prettier: {} file(s) had errors", files.len()),
        "linters" => {
            let mut text = format!("  ⚠ Lint Results: {errors} error(s), ");
            if warnings > 0 {
                let _ = write!(text, "{warnings} warning(s), ");
            }
            let infos = problems.len() - errors - warnings;
            if infos > 0 {
                let _ = write!(text, "{infos} info(s), ");
            }
            let _ = write!(text, "in {} file(s)", files.len());
            text
        }
        "lsp" => format!("  ⚠ lsp: {} diagnostic(s) ({errors} error(s), {warnings} warning(s))", problems.len()),
        _ => format!("  ⚠ {name}: {} error(s)", problems.len()),
    };
    let indent = if name == "linters" { " " } else { "    " };
    for problem in &problems {
        let _ = write!(text, "\n{indent}{}", line(name, problem, root));
    }
    (!problems.is_empty()).then_some(text)
}

fn line(name: &str, problem: &Problem, root: &Path) -> String {
    let icon = match problem.severity {
        Severity::Error => "✗",
        Severity::Warning => "⚠",
        Severity::Info => "ℹ",
    };
    let message = plain(problem.message.lines().next().unwrap_or_default(), MESSAGE);
    let mut text = format!("{icon} {}:{}:{}: {message}", shown(&problem.file, root), problem.line, problem.column);
    if let Some(rule) = &problem.rule {
        let _ = write!(text, " ({})", plain(rule, NAME));
    }
    if name != "tsc" {
        let _ = write!(text, " [{}]", problem.source);
    }
    text
}

fn ordered(problems: &[Problem]) -> Vec<&Problem> {
    let mut problems: Vec<&Problem> = problems.iter().collect();
    problems.sort_by_key(|one| (&one.file, one.line, one.column));
    problems
}

fn relative(file: &Path, root: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned()
}

fn shown(file: &Path, root: &Path) -> String {
    plain(&relative(file, root), NAME)
}

/// Within the bounds, and marked if something is missing.
fn cut(text: String) -> String {
    let lines = text.match_indices('\n').nth(LINES - 1).map_or(text.len(), |(at, _)| at);
    let end = lines.min(text.floor_char_boundary(BYTES));
    match text.get(..end) {
        Some(start) if end < text.len() => {
            // A line is whole or not there.
            let whole = if lines == end { start } else { start.rsplit_once('\n').map_or(start, |(whole, _)| whole) };
            format!("{whole}{CUT}")
        }
        _ => text,
    }
}
