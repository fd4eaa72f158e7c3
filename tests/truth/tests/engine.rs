//! The shell engine against bash itself: a few hundred generated scripts with a fixed seed, and all those written by
//! hand. `just truth` runs thousands.

use toolgate_test_support::skip::skip;
use toolgate_truth::{Check, Harness, drive, engine, generate, scripts};

/// Generated scripts; each takes about 30 ms.
const COUNT: usize = 300;

#[test]
fn bash_does_what_the_engine_says() {
    if Harness::open_or_skip().expect("a way to run scripts safely").is_none() {
        return skip("TOOLGATE_TRUTH=skip");
    }
    let mut texts = generate::scripts(2026, COUNT);
    texts.extend(scripts::all().into_iter().map(|script| script.text.to_owned()));
    let outcome = drive::run(&texts, &engine::predict, drive::Options::default()).expect("the scripts run");
    let told = drive::told(&outcome);
    assert!(outcome.failures.is_empty(), "{told}");
    for check in [Check::Cwd, Check::Value, Check::Witness] {
        assert_eq!(outcome.table.count(check).wrong, 0, "{check:?}\n{told}");
    }
    for check in [Check::Word, Check::Program, Check::Builtin, Check::Runs, Check::Certain, Check::Effect] {
        assert!(outcome.table.wrong_percent(check) < 1.0, "{check:?}\n{told}");
        assert!(outcome.table.count(check).right > 300, "too few to say anything of {check:?}\n{told}");
    }
}
