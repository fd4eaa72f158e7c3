//! The shell engine against bash itself: a few hundred generated scripts with a fixed seed, and all those written by
//! hand. `just truth` runs thousands.

use std::collections::BTreeMap;

use toolgate_test_support::known::compare;
use toolgate_test_support::skip::missing;
use toolgate_truth::sandbox::Error;
use toolgate_truth::{Check, Harness, drive, engine, generate, scripts};

/// Scripts in which bash does something else than the engine says, by name, each with the reason.
const KNOWN: [(&str, &str); 3] = [
    ("source: with arguments", "the words behind the file are not known to the text that is sourced"),
    ("env: options", "the engine has the program of `env -i` run for certain"),
    ("cp, mv, ln, install", "`install -D` opens the folder that it is in, and the engine has it read files only"),
];

/// Generated scripts; each takes about 30 ms.
const COUNT: usize = 300;

#[test]
fn bash_does_what_the_engine_says() {
    match Harness::open() {
        Err(error @ (Error::Missing(..) | Error::NoWay(_))) => return missing("strace", error),
        other => drop(other.expect("a way to run scripts safely")),
    }
    let mut texts = generate::scripts(2026, COUNT);
    let written = scripts::all();
    texts.extend(written.iter().map(|script| script.text.to_owned()));
    let options = drive::Options { keep: usize::MAX, ..drive::Options::default() };
    let outcome = drive::run(&texts, &engine::predict, options).expect("the scripts run");
    let told = drive::told(&outcome);
    assert!(outcome.failures.is_empty(), "{told}");
    for check in [Check::Word, Check::Program, Check::Builtin, Check::Runs, Check::Certain, Check::Effect] {
        assert!(outcome.table.count(check).right > 300, "too few to say anything of {check:?}\n{told}");
    }
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for mismatch in &outcome.mismatches {
        // What is generated has no name, and none of it is known to differ.
        let name = written.iter().find(|script| script.text == mismatch.script);
        wrong.entry(name.map_or(&mismatch.script, |script| script.name)).or_default().push(mismatch.to_string());
    }
    let wrong = wrong.into_iter().map(|(name, all)| (name.to_owned(), all.join("; ")));
    let differences = compare(KNOWN.iter().map(|(name, _)| *name), wrong);
    assert!(differences.is_empty(), "{}\n{told}", differences.join("\n"));
}
