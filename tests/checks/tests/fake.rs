//! The fake daemon does what its table says, as the client of the tests sees it.

use std::time::Duration;

use toolgate_checks_tests::Error;
use toolgate_checks_tests::client::{Client, Config};
use toolgate_checks_tests::fake::Fake;

/// Long enough for what comes at all, and short enough to wait for what does not.
const LIMIT: Duration = Duration::from_millis(300);

/// What becomes of a question under a script.
fn outcome(script: &str) -> &'static str {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let fake = Fake::start(&socket, script).unwrap();
    let mut client = Client::connect(&socket).unwrap();
    let answer = client.full_check(&["/project/a.ts".into()], &Config::ALL, LIMIT);
    assert_eq!(fake.requests()[0]["method"], "fullCheck");
    match answer {
        Ok(report) if report.has_issues => "issues",
        Ok(report) if report.text.len() > 1_000_000 => "clean, and long",
        Ok(_) => "clean",
        Err(Error::Refused(_)) => "refused",
        Err(Error::Silent { .. }) => "silent",
        Err(Error::Closed(_)) => "closed",
        Err(Error::Nonsense(_)) => "nonsense",
        Err(other) => panic!("{script}: {other}"),
    }
}

#[test]
fn each_act_is_what_the_table_says() {
    let cases = [
        ("good", "clean"),
        ("issues", "issues"),
        ("error", "refused"),
        ("refused", "refused"),
        ("never", "silent"),
        ("close", "closed"),
        ("half", "closed"),
        ("stall", "silent"),
        ("garbage", "nonsense"),
        ("binary", "nonsense"),
        ("null", "nonsense"),
        ("other-id", "silent"),
        ("other-first", "nonsense"),
        ("shape", "refused"),
        ("huge:2000000", "clean, and long"),
        ("endless:1000", "silent"),
        ("slow:20", "clean"),
        ("slow:60000", "silent"),
        ("drip:0", "clean"),
        ("drip:60000", "silent"),
    ];
    let found = cases.map(|(script, expected)| (script, expected, outcome(script)));
    let wrong: Vec<_> = found.iter().filter(|(_, expected, found)| expected != found).collect();
    assert!(wrong.is_empty(), "script, expected, found: {wrong:#?}");
}

#[test]
fn a_script_goes_on_over_connections() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let fake = Fake::start(&socket, "close good issues").unwrap();
    let ask = || Client::connect(&socket).unwrap().full_check(&[], &Config::ALL, LIMIT);
    assert!(matches!(ask(), Err(Error::Closed(_))));
    assert!(!ask().unwrap().has_issues);
    assert!(ask().unwrap().has_issues);
    assert!(ask().unwrap().has_issues);
    assert_eq!(fake.requests().len(), 4);
}

#[test]
fn a_fake_that_ends_leaves_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    drop(Fake::start(&socket, "never").unwrap());
    assert!(Client::connect(&socket).is_err());
    Fake::start(&socket, "good").unwrap();
    assert!(Fake::start(&socket, "sing").is_err());
}
