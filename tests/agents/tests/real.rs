//! Two of the agents, in full: pi, which asks through an extension, and Codex, whose rules for hooks are the strictest.
//! `just agents` runs all of them.
//!
//! It needs Linux (bubblewrap) and npm's registry, or agents that were installed before. Without them, or with
//! `TOOLGATE_AGENTS=skip`, it says that it is left out.

use std::io::{self, Write};
use std::process::Command;

#[test]
fn pi_and_codex_run_nothing_that_is_blocked() {
    let left_out =
        |why: &str| writeln!(io::stderr(), "the real agents are left out: {why}").expect("a place to say so");
    if std::env::var("TOOLGATE_AGENTS").is_ok_and(|value| value == "skip") {
        return left_out("TOOLGATE_AGENTS=skip");
    }
    if !cfg!(target_os = "linux") {
        return left_out("they run behind bubblewrap, which needs Linux");
    }
    let out = Command::new(env!("CARGO_BIN_EXE_agents")).args(["pi", "codex"]).output().expect("the program starts");
    let said = format!("{}\n{}", String::from_utf8_lossy(&out.stderr), String::from_utf8_lossy(&out.stdout));
    match out.status.code() {
        Some(0) => writeln!(io::stderr(), "{said}").expect("a place to say so"),
        Some(69) => left_out(&said),
        _ => panic!("{}\n{said}", out.status),
    }
}
