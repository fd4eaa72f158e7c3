//! The daemon in small projects with real tools: it names file, line and rule of each planted problem, and nothing else.
//!
//! It needs the tools that `just checks-setup` installs. What could not be installed is skipped; everything is
//! skipped with `TOOLGATE_CHECKS=skip`, or if there was no set-up.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::trusted;
use toolgate_checks_tests::client::{Config, Report};
use toolgate_checks_tests::daemon::Daemon;
use toolgate_checks_tests::expected::{Group, found, groups};
use toolgate_checks_tests::machine::Machine;
use toolgate_checks_tests::tools::Tools;
use toolgate_test_support::skip::skip;

/// Some tools compile the project first, on a machine that does other things, too.
const LIMIT: Duration = Duration::from_secs(100);

#[test]
fn every_planted_problem_is_found_and_nothing_else() {
    let Some(tools) = crate::common::tools() else { return };
    let groups = groups().unwrap();
    let mut fixtures: Vec<&str> = groups.iter().map(|group| group.fixture).collect();
    fixtures.dedup();
    let mut wrong = Vec::new();
    for fixture in fixtures {
        let groups: Vec<&Group> =
            groups.iter().filter(|group| group.fixture == fixture && there(group, &tools)).collect();
        if !groups.is_empty() {
            wrong.extend(in_fixture(fixture, &groups, &tools));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether everything that is needed is there. Otherwise the group is skipped.
fn there(group: &Group, tools: &Tools) -> bool {
    let missing: Vec<_> = group.tools.iter().filter_map(|tool| Some((*tool, tools.left_out(tool)?))).collect();
    for (tool, reason) in &missing {
        skip(format!("{} {}: {tool}: {reason}", group.fixture, group.kind));
    }
    missing.is_empty()
}

fn in_fixture(fixture: &str, groups: &[&Group], tools: &Tools) -> Vec<String> {
    let machine = Machine::new(Some(tools)).unwrap();
    let root = trusted(&machine, fixture, tools);
    let daemon = crate::common::start(&machine, &root);
    let wrong = groups.iter().flat_map(|group| {
        let fault = |what: String| format!("{fixture} {}: {what}", group.kind);
        [issues(&daemon, &root, group), clean(&daemon, &root, group)].into_iter().flatten().map(fault)
    });
    let wrong = wrong.collect();
    daemon.stop().unwrap();
    wrong
}

/// What is wrong with the answer for files with problems.
fn issues(daemon: &Daemon, root: &Path, group: &Group) -> Option<String> {
    let report = check(daemon, root, group.kind, &group.dirty())?;
    let (expected, found) = (&group.found, found(&report));
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(expected).filter(|one| !group.optional.contains(one)).collect();
    let right = missing.is_empty() && extra.is_empty() && report.status(group.kind) == "issues" && report.has_issues;
    (!right).then(|| format!("missing {missing:#?}, too much {extra:#?}, in {report:#?}"))
}

/// What is wrong with the answer for clean files.
fn clean(daemon: &Daemon, root: &Path, group: &Group) -> Option<String> {
    let report = check(daemon, root, group.kind, &group.clean)?;
    let right = report.status(group.kind) == "clean" && !report.has_issues && found(&report).is_empty();
    (!right).then(|| format!("not clean: {report:#?}"))
}

/// Asks for one kind of check; nothing if there are no files.
fn check(daemon: &Daemon, root: &Path, kind: &'static str, files: &[PathBuf]) -> Option<Report> {
    let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
    let kinds: &'static [&'static str] = match kind {
        "prettier" => &["prettier"],
        "linters" => &["linters"],
        "lsp" => &["lsp"],
        _ => &["tsc"],
    };
    let config = Config { kinds, ..Config::ALL };
    let ask = || daemon.client().unwrap().full_check(&files, &config, LIMIT).unwrap();
    (!files.is_empty()).then(ask)
}
