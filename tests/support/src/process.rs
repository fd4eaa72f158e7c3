//! A process for one test: for those that measure the memory of the process they run in.

use std::process::Command;

/// The test that a process was started for.
const ALONE: &str = "TOOLGATE_TEST_ALONE";

/// Whether the running test, whose name this is, has the process for itself. If not, the test is run in a process of its own,
/// and has passed when this returns.
///
/// # Panics
/// If it fails there.
#[must_use]
pub fn is_alone(test: &str) -> bool {
    if std::env::var(ALONE).is_ok_and(|alone| alone == test) {
        return true;
    }
    let program = std::env::current_exe().expect("the path of the tests");
    let run = Command::new(program).args(["--exact", test, "--nocapture"]).env(ALONE, test).output();
    let run = run.expect("the tests start");
    let told = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).join("\n");
    // With a wrong name nothing runs, and that is a success to the harness.
    assert!(run.status.success() && told.contains("1 passed"), "{test}, in a process of its own: {told}");
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It looks into its process, in which there are no other tests, only the harness.
    #[test]
    fn a_test_is_alone_in_its_process() {
        if !is_alone("process::tests::a_test_is_alone_in_its_process") {
            assert!(std::panic::catch_unwind(|| is_alone("process::tests::there_is_none")).is_err());
            return;
        }
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        assert_eq!(arguments[..2], ["--exact", "process::tests::a_test_is_alone_in_its_process"]);
    }
}
