//! Each boundary's faults, side by side: what went wrong is told, row by row.

use toolgate_fault_tests::boundary::{ALL, named};
use toolgate_fault_tests::table;
use toolgate_fault_tests::trial::Row;
use toolgate_test_support::skip::skip;

/// Runs the faults of a boundary. What cannot be had here is skipped; in CI most of it has to be there.
fn nothing_goes_wrong(boundary: &str) {
    if cfg!(not(target_os = "linux")) {
        return skip("the faults are brought about by means of Linux");
    }
    let rows = named(boundary).expect("a boundary").rows("", |_| {});
    let (out, tried): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.left_out.is_some());
    for row in &out {
        skip(table::line(row));
    }
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!ci || tried.len() > out.len(), "most faults of {boundary} are left out; in CI that must not be");
    let wrong: Vec<String> = tried
        .into_iter()
        .filter(|row| !row.wrong.is_empty())
        .map(|row| format!("{}\n  {}", table::line(row), row.wrong.join("\n  ")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_resident_host_that_fails_changes_no_verdict() {
    nothing_goes_wrong("resident-host");
}

#[test]
fn a_check_daemon_that_fails_holds_no_verdict() {
    nothing_goes_wrong("check-daemon");
}

#[test]
fn a_terminal_that_fails_runs_nothing_unasked() {
    nothing_goes_wrong("terminal");
}

#[test]
fn a_git_that_fails_holds_no_verdict() {
    nothing_goes_wrong("git");
}

#[test]
fn rule_files_may_be_anything() {
    nothing_goes_wrong("rule-files");
}

#[test]
fn machine_code_may_be_anything() {
    nothing_goes_wrong("machine-code");
}

#[test]
fn snapshots_may_be_anything() {
    nothing_goes_wrong("snapshots");
}

#[test]
fn what_is_kept_of_a_session_may_be_anything() {
    nothing_goes_wrong("session");
}

#[test]
fn what_cannot_be_written_does_not_run() {
    nothing_goes_wrong("disk");
}

#[test]
fn a_hook_that_has_too_little_says_no() {
    nothing_goes_wrong("limits");
}

#[test]
fn clocks_may_jump() {
    nothing_goes_wrong("clock");
}

#[test]
fn surroundings_may_be_anything() {
    nothing_goes_wrong("surroundings");
}

#[test]
fn streams_may_end_and_signals_come() {
    nothing_goes_wrong("streams");
}

#[test]
fn every_boundary_has_its_test() {
    let source = include_str!("faults.rs");
    let without = ALL.iter().filter(|boundary| !source.contains(&format!("nothing_goes_wrong(\"{}\")", boundary.name)));
    assert_eq!(without.map(|boundary| boundary.name).collect::<Vec<_>>(), [""; 0]);
}
