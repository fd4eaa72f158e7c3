//! The shared labelled commands, where they are at hand; `just guard-score` prints the whole table.

use toolgate_guard_tests::known::{known, listed};
use toolgate_guard_tests::score::{self, Judged, Score, Wanted};
use toolgate_test_support::known::compare;
use toolgate_test_support::skip::skip;

/// The scopes that have an aim, and the labels in them that have to be met but for the cases in `known.jsonl`.
const AIMED: [(&str, Wanted); 7] = [
    ("core", Wanted::Block),
    ("core", Wanted::Ask),
    ("core", Wanted::Allow),
    ("secrets", Wanted::Block),
    ("opt-in-pack", Wanted::Block),
    ("opt-in-pack", Wanted::Ask),
    ("opt-in-pack", Wanted::Allow),
];

#[test]
fn the_shared_cases() {
    let path = score::shared().join("guard.jsonl");
    if !path.is_file() {
        return skip(format!("there are no cases in {}", path.display()));
    }
    let mut cases = score::cases(&path).expect("the cases are read");
    cases.extend(score::cases(&path.with_file_name("force_push_matrix.jsonl")).expect("the matrix is read"));
    let score =
        Score::new(cases, &score::corrections().expect("the corrections are read")).expect("they fit the cases");
    let tables = score.tables().expect("a table");
    assert!(score.superfluous.is_empty(), "take them out of labels.jsonl: {:?}", score.superfluous);
    for (scope, label) in AIMED {
        assert!(score.count(scope, label, true).total() > 20, "too few {label} cases in {scope}\n{tables}");
    }
    let aimed = |judged: &&Judged| AIMED.contains(&(judged.case.scope.as_str(), judged.corrected));
    let differ = score.judged.iter().filter(aimed).filter(|judged| {
        let touched = judged.verdict.stopped.is_some();
        touched != matches!(judged.corrected, Wanted::Block | Wanted::Ask)
    });
    let differ = differ.map(|judged| {
        let (case, verdict) = (&judged.case, &judged.verdict);
        let told = format!("{} {} {:?} {:?}", case.scope, judged.corrected, case.command, verdict.rules);
        (case.id.clone(), told)
    });
    let known = known().expect("the known differences are read");
    let wrong = compare(listed(&known, "shared"), differ);
    assert!(wrong.is_empty(), "{}\n{tables}", wrong.join("\n"));
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
