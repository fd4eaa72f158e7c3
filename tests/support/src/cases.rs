//! Cases in data files, one a line. A test over them runs all of them and reports each that fails.
//!
//! `TOOLGATE_CASE` selects: a place (`verdicts.jsonl:12`) or a part of the line's text.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Selects cases.
const SELECT: &str = "TOOLGATE_CASE";

/// A data file.
#[derive(Clone, Debug)]
pub struct Cases {
    file: String,
    text: String,
    select: Option<String>,
}

/// A line of a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// The path of the file from the root of the workspace, and the line: `guest/rules/tests/verdicts.jsonl:12`.
    pub place: String,
    /// The line.
    pub text: &'a str,
}

/// The data file with this path, seen from the file that says so.
#[macro_export]
macro_rules! cases {
    ($path:literal) => {
        $crate::cases::Cases::beside(file!(), $path, include_str!($path))
    };
}

impl Cases {
    /// A data file with this text, whose path is relative to that of a source file. [`cases!`](crate::cases!) calls it.
    pub fn beside(source: &str, path: &str, text: &str) -> Self {
        let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            if part == ".." {
                parts.pop();
            } else {
                parts.push(part);
            }
        }
        Cases { file: parts.join("/"), text: text.to_owned(), select: std::env::var(SELECT).ok() }
    }

    /// The same cases, of which only some are selected.
    pub fn select(self, select: Option<&str>) -> Self {
        Cases { select: select.map(str::to_owned), ..self }
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The selected cases. Empty lines are none.
    pub fn lines(&self) -> Vec<Case<'_>> {
        let lines = self.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let all = lines.map(|(at, text)| Case { place: format!("{}:{}", self.file, at + 1), text });
        all.filter(|case| case.is_selected(self.select.as_deref())).collect()
    }

    /// Runs a check of each selected case and fails with a list of those in which it panics.
    ///
    /// # Panics
    /// If a case fails.
    pub fn each(&self, mut check: impl FnMut(&str)) {
        let cases = self.lines();
        if let Some(select) = &self.select {
            // Past the test harness, which hides the output of tests that pass: a selection may be empty.
            let _ = writeln!(std::io::stderr(), "{SELECT}={select}: {} cases of {}", cases.len(), self.file);
        }
        let mut failed = Vec::new();
        for case in &cases {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(case.text))) {
                let message = message(panic.as_ref()).replace('\n', "\n    ");
                failed.push(format!("{}: {}\n    {message}", case.place, case.text));
            }
        }
        let (count, all) = (failed.len(), cases.len());
        assert!(failed.is_empty(), "{count} of {all} cases fail; {SELECT} selects one.\n{}", failed.join("\n"));
    }
}

impl Case<'_> {
    fn is_selected(&self, select: Option<&str>) -> bool {
        select.is_none_or(|select| {
            let at_end = self.place.strip_suffix(select);
            at_end.is_some_and(|before| before.is_empty() || before.ends_with('/')) || self.text.contains(select)
        })
    }
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(message), _) => message,
        (None, Some(message)) => message,
        (None, None) => "it panicked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(select: Option<&str>) -> Cases {
        Cases::beside("guest/tests/a.rs", "../data/b.jsonl", "one\n\ntwo\nthree\n").select(select)
    }

    #[test]
    fn each_case_has_its_place() {
        let sample = sample(None);
        let found: Vec<String> = sample.lines().iter().map(|case| format!("{} {}", case.place, case.text)).collect();
        assert_eq!(found, ["guest/data/b.jsonl:1 one", "guest/data/b.jsonl:3 two", "guest/data/b.jsonl:4 three"]);
    }

    #[test]
    fn cases_are_selected_by_place_and_by_text() {
        for (select, expected) in [
            ("b.jsonl:3", vec!["two"]),
            ("guest/data/b.jsonl:4", vec!["three"]),
            (".jsonl:3", vec![]),
            ("t", vec!["two", "three"]),
            ("four", vec![]),
        ] {
            let sample = sample(Some(select));
            assert_eq!(sample.lines().iter().map(|case| case.text).collect::<Vec<_>>(), expected, "{select}");
        }
    }

    #[test]
    fn every_case_that_fails_is_reported() {
        let run = |select| {
            let fails = || sample(select).each(|text| assert_ne!(text.len(), 3, "{text} is\nshort"));
            catch_unwind(fails).map_err(|panic| message(panic.as_ref()).to_owned())
        };
        let told = run(None).expect_err("two fail");
        assert!(told.starts_with("2 of 3 cases fail"), "{told}");
        for part in ["guest/data/b.jsonl:1: one\n", "guest/data/b.jsonl:3: two\n", "two is\n    short"] {
            assert!(told.contains(part), "{part:?}: {told}");
        }
        assert_eq!(run(Some("three")), Ok(()));
        assert!(run(Some("two")).is_err_and(|told| told.starts_with("1 of 1")));
    }
}
