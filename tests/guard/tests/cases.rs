//! Commands written for this project: everyday ones that look like dangerous ones and are fine, and really harmful
//! ones in many spellings. Every difference is printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use toolgate_guard_tests::score::{self, Score};
use toolgate_guard_tests::{HOME, Judge, PROJECT};

/// How many everyday commands are touched, for want of better rules. Only goes down.
const TOUCHED: usize = 1;

/// How many harmful commands pass, for want of rules. Only goes down.
const MISSED: usize = 4;

/// Fails if more differ than are known.
fn differences(file: &str, known: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let score = Score::new(score::cases(&path).expect("the cases are read"), &[]).expect("a score");
    let wrong: Vec<_> = score.judged.iter().filter(|judged| !judged.corrected.met_by(&judged.verdict)).collect();
    let mut told = String::new();
    for judged in &wrong {
        let (case, rules) = (&judged.case, judged.verdict.rules.join(", "));
        writeln!(told, "{} [{}] {:?} {rules}", case.id, case.families.join(" "), case.command).expect("text");
    }
    let sum = format!("{} of {} in {file} differ, {known} are known", wrong.len(), score.judged.len());
    // Past the test harness, which shows nothing of a test that passes.
    let _ = writeln!(std::io::stderr(), "{told}{sum}");
    assert!(wrong.len() <= known, "{sum}\n{told}");
}

#[test]
fn everyday() {
    differences("everyday.jsonl", TOUCHED);
}

#[test]
fn harmful() {
    differences("harmful.jsonl", MISSED);
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
