//! What the tests of the daemon share.

use std::path::{Path, PathBuf};

use toolgate_checks_tests::daemon::Daemon;
use toolgate_checks_tests::machine::Machine;
use toolgate_checks_tests::project;
use toolgate_checks_tests::tools::{self, Tools};
use toolgate_test_support::skip::skip;

/// The tools. None if there was no set-up; the test is then skipped.
pub(crate) fn tools() -> Option<Tools> {
    match Tools::find().expect("a complete set-up") {
        Ok(tools) => Some(tools),
        Err(reason) => {
            skip(format!("the real tools: {reason}"));
            None
        }
    }
}

/// The tools, if all of these are there; otherwise the test is skipped.
pub(crate) fn tools_with(names: &[&str]) -> Option<Tools> {
    let tools = tools()?;
    let missing: Vec<_> = names.iter().filter_map(|name| Some((*name, tools.left_out(name)?))).collect();
    for (name, reason) in &missing {
        skip(format!("{name}: {reason}"));
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
