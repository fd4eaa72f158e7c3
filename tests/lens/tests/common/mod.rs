//! What the tests of the daemon share.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toolgate_lens_tests::daemon::Daemon;
use toolgate_lens_tests::machine::Machine;
use toolgate_lens_tests::project;
use toolgate_lens_tests::tools::{self, Tools};

/// Says something past the test runner, which keeps what a test that passes prints.
pub(crate) fn say(what: &str) {
    writeln!(io::stderr(), "{what}").expect("a place to say so");
}

/// The tools; says why if they are left out.
pub(crate) fn tools() -> Option<Tools> {
    match Tools::find().expect("a complete set-up") {
        Ok(tools) => Some(tools),
        Err(reason) => {
            say(&format!("the real tools are left out: {reason}"));
            None
        }
    }
}

/// The tools, if all of these are there; says what is not.
pub(crate) fn tools_with(names: &[&str]) -> Option<Tools> {
    let tools = tools()?;
    let missing: Vec<_> = names.iter().filter_map(|name| Some((*name, tools.left_out(name)?))).collect();
    for (name, reason) in &missing {
        say(&format!("a test is left out, as it needs {name}: {reason}"));
    }
    missing.is_empty().then(|| tools.clone())
}

/// Our daemon for a project.
pub(crate) fn start(machine: &Machine, root: &Path) -> Daemon {
    Daemon::start(machine, &tools::ours().unwrap(), root).unwrap()
}

/// A copy of a fixture that nobody trusts.
pub(crate) fn untrusted(machine: &Machine, fixture: &str, tools: &Tools) -> PathBuf {
    let root = machine.project(fixture).unwrap();
    project::lay_out(fixture, &root, Some(tools)).unwrap();
    root
}

/// A copy of a fixture that the user trusts.
pub(crate) fn trusted(machine: &Machine, fixture: &str, tools: &Tools) -> PathBuf {
    let root = untrusted(machine, fixture, tools);
    machine.trust(&root).unwrap();
    root
}
