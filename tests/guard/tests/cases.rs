//! Commands written for this project: everyday ones that look like dangerous ones and are fine, and really harmful
//! ones in many spellings. Every difference is printed.

use std::collections::BTreeMap;
use std::path::Path;

use toolgate_guard_tests::known::{known, listed};
use toolgate_guard_tests::score::{self, Score};
use toolgate_guard_tests::{HOME, Judge, PROJECT};
use toolgate_test_support::known::compare;

/// Fails if others differ than those that are known.
fn differences(corpus: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{corpus}.jsonl"));
    let score = Score::new(score::cases(&path).expect("the cases are read"), &[]).expect("a score");
    let differ = score.judged.iter().filter(|judged| !judged.corrected.met_by(&judged.verdict)).map(|judged| {
        let (case, rules) = (&judged.case, judged.verdict.rules.join(", "));
        (case.command.clone(), format!("{} [{}] {rules}", case.id, case.families.join(" ")))
    });
    let known = known().expect("the known differences are read");
    let wrong = compare(listed(&known, corpus), differ);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everyday() {
    differences("everyday");
}

#[test]
fn harmful() {
    differences("harmful");
}

#[test]
fn every_known_difference_has_its_reason() {
    for one in known().expect("the known differences are read") {
        assert!(["everyday", "harmful", "shared", "packages"].contains(&one.corpus.as_str()), "{one:?}");
        assert!(one.reason.len() > 20, "{one:?}");
    }
}

#[test]
fn there_are_many_of_each_and_no_doubles() {
    let read =
        |file: &str| score::cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("the cases are read");
    let (everyday, harmful) = (read("everyday.jsonl"), read("harmful.jsonl"));
    assert!(everyday.len() >= 1000 && harmful.len() >= 400);
    assert!(harmful.iter().all(|case| case.why.is_some()));
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    let mut commands: BTreeMap<&str, usize> = BTreeMap::new();
    for case in everyday.iter().chain(&harmful) {
        *commands.entry(&case.command).or_default() += 1;
    }
    for case in &everyday {
        for family in &case.families {
            *families.entry(family).or_default() += 1;
        }
    }
    assert!(commands.iter().all(|(_, count)| *count == 1), "a command stands twice");
    let few: Vec<_> = families.iter().filter(|(_, count)| **count < 10).collect();
    assert!(few.is_empty(), "too few everyday commands of {few:?}");
}

#[test]
fn a_script_that_runs_itself() {
    let text = "echo './b.sh & ./b.sh &' > b.sh; chmod +x b.sh; ./b.sh";
    assert!(Judge::new().command(text, PROJECT, HOME).stopped.is_some());
}
