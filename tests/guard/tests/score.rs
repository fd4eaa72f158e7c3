//! The shared labelled commands against bounds, where they are at hand; `just guard-score` prints the whole table.

use std::io::Write;

use toolgate_guard_tests::score::{self, Score, Wanted};

/// A scope, a label, and after the corrections the least and the most percent of its cases that may be blocked or
/// asked, and the most that may be blocked. These are what is reached; they may only get narrower.
const BOUNDS: [(&str, Wanted, f64, f64, f64); 7] = [
    ("core", Wanted::Block, 98.5, 100.0, 100.0),
    ("core", Wanted::Ask, 100.0, 100.0, 100.0),
    ("core", Wanted::Allow, 0.0, 0.5, 0.0),
    ("secrets", Wanted::Block, 96.0, 100.0, 100.0),
    ("opt-in-pack", Wanted::Block, 100.0, 100.0, 100.0),
    ("opt-in-pack", Wanted::Ask, 100.0, 100.0, 100.0),
    ("opt-in-pack", Wanted::Allow, 0.0, 0.0, 0.0),
];

#[test]
fn the_shared_cases() {
    let path = score::shared().join("guard.jsonl");
    if !path.is_file() {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "left out: there are no cases in {}", path.display());
        return;
    }
    let mut cases = score::cases(&path).expect("the cases are read");
    cases.extend(score::cases(&path.with_file_name("force_push_matrix.jsonl")).expect("the matrix is read"));
    let score =
        Score::new(cases, &score::corrections().expect("the corrections are read")).expect("they fit the cases");
    let tables = score.tables().expect("a table");
    assert!(score.superfluous.is_empty(), "take them out of labels.jsonl: {:?}", score.superfluous);
    for (scope, label, least, most, blocked) in BOUNDS {
        let count = score.count(scope, label, true);
        let touched = count.touched_percent();
        assert!(count.total() > 20, "too few {label} cases in {scope}\n{tables}");
        assert!((least..=most).contains(&touched), "{scope} {label}: {touched:.2} % are blocked or asked\n{tables}");
        assert!(count.blocked_percent() <= blocked, "{scope} {label}: too many are blocked\n{tables}");
    }
}

#[test]
fn every_correction_has_its_reason() {
    for correction in score::corrections().expect("the corrections are read") {
        assert!(correction.reason.len() > 10, "{correction:?}");
    }
}

#[test]
fn corrections_that_correct_nothing_are_told() {
    let case = |line: &str| serde_json::from_str(line).expect("a case");
    let pass = case(r#"{"id":"a","command":"ls","expected":"block"}"#);
    let correction =
        |id: &str, label: &str| case_of(&format!(r#"{{"id":"{id}","label":"{label}","reason":"for the test"}}"#));
    let score = |corrections: &[score::Correction]| Score::new(vec![Clone::clone(&pass)], corrections);

    let corrected = score(&[correction("a", "allow")]).expect("a score");
    assert!(corrected.superfluous.is_empty());
    assert_eq!(corrected.count("", Wanted::Allow, true).passed, 1);
    assert_eq!(corrected.count("", Wanted::Block, false).passed, 1);
    assert!(matches!(score(&[correction("b", "allow")]), Err(score::Error::NoSuchCase(id)) if id == "b"));
    let twice = [correction("a", "allow"), correction("a", "either")];
    assert!(matches!(score(&twice), Err(score::Error::Twice(id)) if id == "a"));

    let met = case(r#"{"id":"a","command":"rm -rf /","expected":"block"}"#);
    let superfluous = Score::new(vec![met], &[correction("a", "allow")]).expect("a score").superfluous;
    assert_eq!(superfluous, ["a"]);
}

fn case_of(line: &str) -> score::Correction {
    serde_json::from_str(line).expect("a correction")
}
