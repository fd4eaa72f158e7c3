//! Recorded calls of agents, with what ought to become of them.

use std::io::Write;
use std::path::Path;

use toolgate_guard_tests::sessions::{Error, Report, recorded};

#[test]
fn recorded_calls_are_judged_in_their_layout() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions.jsonl");
    let report = Report::new(recorded(&file).expect("it is read")).expect("a layout");
    let wrong: Vec<String> =
        report.wrong().map(|(call, verdict)| format!("{}: {:?}", call.command, verdict.rules)).collect();
    assert!(report.judged.len() >= 12 && report.touched().count() >= 5);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let figures = report.figures();
    assert_eq!((&figures["labelled"], &figures["wrongly_passed"]), (&report.judged.len().into(), &0.into()));
}

#[test]
fn a_line_that_is_no_call_is_named() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(b"{\"command\": \"ls\"}\n\n{\"command\": 1}\n").expect("written");
    let error = recorded(file.path()).expect_err("it is wrong");
    assert!(matches!(error, Error::Line { line: 3, .. }), "{error}");
}
