//! Tests that cannot run here: a tool is not installed, or files are not there that only some checkouts have.
//!
//! The standard harness knows no test that is skipped while it runs. So each is reported on standard error, and, with
//! `TOOLGATE_SKIPPED`, as a line in the file of that name; `just test` counts these lines at its end.

use std::fmt::Display;
use std::io::Write;
use std::panic::Location;

/// Names what may be missing, separated by commas.
const ALLOWED: &str = "TOOLGATE_SKIP";

/// Names a file that gets a line for each skipped test.
const LIST: &str = "TOOLGATE_SKIPPED";

/// What only the ground truth needs.
const OF_THE_TRUTH: &[&str] = &["bubblewrap", "strace"];

/// Reports that the running test, or a part of it, is skipped. For what nobody can be asked to have.
#[track_caller]
pub fn skip(why: impl Display) {
    report(&line(Location::caller(), &why), std::env::var_os(LIST));
}

/// Reports that the running test is skipped because something is missing that the set-up installs.
///
/// # Panics
/// In CI on Linux, where the set-up installs everything, unless `TOOLGATE_SKIP` names it, or `TOOLGATE_TRUTH=skip` had the set-up
/// leave out what the ground truth needs.
#[track_caller]
pub fn missing(name: &str, why: impl Display) {
    assert!(!is_required(name), "{why}; install {name}, or set {ALLOWED}={name} to skip the tests that need it");
    report(&line(Location::caller(), &why), std::env::var_os(LIST));
}

/// Whether it is an error that this is missing here.
pub fn is_required(name: &str) -> bool {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    let allowed = std::env::var(ALLOWED).unwrap_or_default();
    let truth = std::env::var("TOOLGATE_TRUTH").is_ok_and(|value| value == "skip");
    let left_out = truth && OF_THE_TRUTH.contains(&name) || names(&allowed, name);
    ci && cfg!(target_os = "linux") && !left_out
}

/// Whether a list, separated by commas, has a name.
fn names(list: &str, name: &str) -> bool {
    list.split(',').any(|one| one.trim() == name)
}

/// The crate, the test and the reason, on one line.
fn line(place: &Location<'_>, why: &dyn Display) -> String {
    // Cargo sets it for the tests that it runs. The harness names threads after tests.
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let test = test.map_or_else(|| format!("{}:{}", place.file(), place.line()), str::to_owned);
    let why = why.to_string();
    let why: Vec<&str> = why.split_whitespace().collect();
    format!("{package} {test}: {}", why.join(" "))
}

fn report(line: &str, list: Option<std::ffi::OsString>) {
    // Past the test harness, which hides the output of tests that pass.
    let _ = writeln!(std::io::stderr(), "skipped: {line}");
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&list);
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.unwrap_or_else(|error| panic!("{LIST}={}: {error}", list.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_test_and_the_reason() {
        let line = line(Location::caller(), &"there is\n  no tool");
        assert!(line.ends_with("skip::tests::a_line_names_the_test_and_the_reason: there is no tool"), "{line}");
    }

    #[test]
    fn names_are_whole() {
        for (list, expected) in [("", false), ("tmux", true), ("a, tmux", true), ("tmux2", false), ("a,b", false)] {
            assert_eq!(names(list, "tmux"), expected, "{list}");
        }
    }

    #[test]
    fn every_skipped_test_is_a_line_of_the_list() {
        let list = std::env::temp_dir().join(format!("toolgate-skipped-{}", std::process::id()));
        for text in ["one", "two"] {
            report(text, Some(list.clone().into()));
        }
        let written = std::fs::read_to_string(&list).expect("it was written");
        std::fs::remove_file(&list).expect("it is there");
        assert_eq!(written, "one\ntwo\n");
    }
}
