//! The report: a text for whoever goes on with the files, and the same as details for a program.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::plain::plain;
use crate::report::{Outcome, Problem, Severity, Status};
use crate::tools::Kind;
use crate::trust::NOT_TRUSTED;

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
        let part = self.part(kind);
        *part = std::mem::take(part).and(outcome);
    }

    /// What was found of this kind so far.
    pub(crate) fn part(&mut self, kind: Kind) -> &mut Outcome {
        match kind {
            Kind::Formatter => &mut self.prettier,
            Kind::Linter => &mut self.linters,
            Kind::Server => &mut self.lsp,
            Kind::Types => &mut self.tsc,
        }
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
            false => cut(once(&sections.join("\n"))),
        }
    }
}

/// What to do about it is said where it comes first.
fn once(text: &str) -> String {
    match text.split_once(NOT_TRUSTED) {
        Some((start, rest)) => format!("{start}{NOT_TRUSTED}{}", rest.replace(NOT_TRUSTED, "not trusted")),
        None => text.to_owned(),
    }
}

fn section(name: &str, outcome: &Outcome, root: &Path) -> Option<String> {
    let notes = || grouped(&outcome.notes);
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

/// The notes, those that tools are not trusted as one.
fn grouped(notes: &[String]) -> Vec<String> {
    let (mut tools, mut others) = (Vec::new(), Vec::new());
    for note in notes {
        match note.strip_suffix(NOT_TRUSTED).and_then(|note| note.strip_suffix(": ")) {
            Some(tool) => tools.push(tool),
            None => others.push(plain(note, MESSAGE)),
        }
    }
    if !tools.is_empty() {
        others.push(format!("{}: {NOT_TRUSTED}", tools.join(", ")));
    }
    others
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
    // Tools end in any order. The report stays the same.
    problems.sort_by_key(|one| (&one.file, one.line, one.column, &one.source, &one.message));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(file: &str, severity: Severity, message: &str, rule: Option<&str>, source: &str) -> Problem {
        Problem {
            file: Path::new("/p").join(file),
            line: 2,
            column: 5,
            severity,
            message: message.to_owned(),
            rule: rule.map(str::to_owned),
            source: source.to_owned(),
        }
    }

    fn text(checks: &Checks) -> String {
        checks.text(Path::new("/p"))
    }

    /// The texts of code-lens 0.3.0, as far as it has them, and tsc and reasons beside them.
    #[test]
    fn the_text_is_as_readers_know_it() {
        let clean = || Outcome::found(Vec::new(), 1);
        let types = || Outcome::found(vec![problem("a.ts", Severity::Error, "m\nmore", Some("TS2322"), "tsc")], 1);
        let lint = vec![
            problem("b.ts", Severity::Warning, "w", Some("r"), "eslint"),
            problem("a.ts", Severity::Error, "e", None, "eslint"),
        ];
        let unformatted = Outcome { unformatted: vec!["/p/b.ts".into(), "/p/a.ts".into()], ..types() };
        let skipped =
            |notes: &[&str]| Outcome { notes: notes.iter().map(|note| (*note).to_owned()).collect(), ..clean() };
        let skipped = |notes: &[&str]| Outcome { status: Status::Skipped, ..skipped(notes) };
        let untrusted = [format!("eslint: {NOT_TRUSTED}"), "x: gone".to_owned(), format!("mypy: {NOT_TRUSTED}")];
        let untrusted = skipped(&untrusted.each_ref().map(String::as_str));
        let cases = [
            (Checks::default(), "No checks for these files."),
            (Checks { prettier: clean(), ..Checks::default() }, "  ✅ prettier: 1 file(s) formatted correctly"),
            (
                Checks { linters: clean(), lsp: clean(), tsc: clean(), ..Checks::default() },
                "  ✅ linters: 0 issues\n  ✅ lsp: 0 diagnostics\n  ✅ tsc: 0 errors",
            ),
            (
                Checks { linters: Outcome::found(lint, 2), ..Checks::default() },
                "  ⚠ Lint Results: 1 error(s), 1 warning(s), in 2 file(s)\n \
                 ✗ a.ts:2:5: e [eslint]\n \
                 ⚠ b.ts:2:5: w (r) [eslint]",
            ),
            (
                Checks { prettier: unformatted, ..Checks::default() },
                "  ⚠ prettier: 2 file(s) need formatting\n    a.ts\n    b.ts\n  ⚠ prettier: 1 file(s) had errors\n    \
                 ✗ a.ts:2:5: m (TS2322) [tsc]",
            ),
            (
                Checks { lsp: types(), tsc: types(), ..Checks::default() },
                "  ⚠ lsp: 1 diagnostic(s) (1 error(s), 0 warning(s))\n    ✗ a.ts:2:5: m (TS2322) [tsc]\n  \
                 ⚠ tsc: 1 error(s)\n    ✗ a.ts:2:5: m (TS2322)",
            ),
            (
                Checks { tsc: Outcome::error("tsc: broke"), ..Checks::default() },
                "  ⚠ tsc: check failed\n    tsc: broke",
            ),
            (
                Checks {
                    linters: untrusted,
                    lsp: skipped(&[&format!("typescript: {NOT_TRUSTED}")]),
                    notes: vec!["a\u{202e}: gone".to_owned()],
                    ..Checks::default()
                },
                "  ⊘ linters: skipped (x: gone; eslint, mypy: not trusted: run \"toolgate lens trust\")\n  \
                 ⊘ lsp: skipped (typescript: not trusted)\n  \
                 ⊘ a\\u{202e}: gone",
            ),
        ];
        for (checks, expected) in cases {
            assert_eq!(text(&checks), expected);
        }
    }

    #[test]
    fn a_cut_text_has_whole_lines() {
        let lines = cut("x\n".repeat(3000));
        assert_eq!(lines.strip_suffix(CUT).map(|text| text.lines().count()), Some(LINES));
        let bytes = cut(format!("{}\n", "ä".repeat(999)).repeat(100));
        assert!(bytes.strip_suffix(CUT).is_some_and(|text| text.ends_with('ä') && text.len() % 1999 == 1998));
        assert_eq!(cut("x\ny".to_owned()), "x\ny");
    }

    #[test]
    fn what_is_read_does_not_deceive_and_is_bounded() {
        let nasty = problem("a\u{1b}.ts", Severity::Error, "\u{202e}m\u{1b}[2K", Some("r\u{200b}"), "eslint");
        let checks = Checks { linters: Outcome::found(vec![nasty], 1), ..Checks::default() };
        let shown = text(&checks);
        assert!(
            !shown.chars().any(|c| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{200b}'))),
            "{shown}"
        );
        let details = checks.details(Path::new("/p"));
        assert_eq!(details["problems"][0]["message"], "\\u{202e}m\\u{1b}[2K");
        for (count, length) in [(3000, 1), (1000, 500), (3, 1)] {
            let one = problem("a.ts", Severity::Error, &"m".repeat(length), None, "eslint");
            let checks = Checks { linters: Outcome::found(vec![one; count], 1), ..Checks::default() };
            let shown = text(&checks);
            assert!(shown.len() <= BYTES + CUT.len());
            assert_eq!(shown.ends_with(CUT), count > 3);
            assert!(checks.details(Path::new("/p"))["problems"].as_array().is_some_and(|all| all.len() <= PROBLEMS));
        }
    }
}
