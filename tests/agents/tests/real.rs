//! Two of the agents, in full: pi, which asks through an extension, and Codex, whose rules for hooks are the strictest.
//! `just agents` runs all of them.
//!
//! It needs Linux (bubblewrap) and npm's registry, or agents that were installed before. Without them, or with
//! `TOOLGATE_AGENTS=skip`, it is skipped.

use std::io::{self, Write};
use std::process::Command;

use serde_json::Value;
use toolgate_test_support::skip::skip;

#[test]
fn pi_and_codex_run_nothing_that_is_blocked() {
    let say = |what: &str| writeln!(io::stderr(), "{what}").expect("a place to say so");
    if std::env::var("TOOLGATE_AGENTS").is_ok_and(|value| value == "skip") {
        return skip("TOOLGATE_AGENTS=skip");
    }
    if !cfg!(target_os = "linux") {
        return skip("they run behind bubblewrap, which needs Linux");
    }
    let run = || Command::new(env!("CARGO_BIN_EXE_agents")).args(["pi", "codex", "--json"]).output();
    let mut out = run().expect("the program starts");
    if out.status.code() == Some(1) {
        // The agents have time limits of their own, which a busy machine may run into. What fails twice fails.
        say(&String::from_utf8_lossy(&out.stderr));
        out = run().expect("the program starts");
    }
    let said = String::from_utf8_lossy(&out.stderr);
    match out.status.code() {
        Some(0) => say(&said),
        Some(69) => return skip(&said),
        _ => panic!("{}\n{said}", out.status),
    }
    let cells: Vec<Value> = serde_json::from_slice(&out.stdout).expect("JSON");
    let missing: Vec<&Value> = cells.iter().filter(|cell| cell["result"] == "not yet").collect();
    assert!(!cells.is_empty() && missing.is_empty(), "not shown: {missing:#?}");
}
