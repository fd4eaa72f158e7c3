//! What a daemon must find in the fixtures: `expected.txt`, a problem a line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::client::Report;

/// The table in the repository.
const TABLE: &str = include_str!("../expected.txt");

/// One finding, by what makes it that one. A file that is not formatted has the line 0 and the rule `unformatted`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Relative to the root.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// The tool's name for it.
    pub rule: String,
    /// Who says it.
    pub source: String,
}

/// Everything about one kind of check in one fixture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The name of the fixture.
    pub fixture: &'static str,
    /// The kind of check.
    pub kind: &'static str,
    /// The programs that are needed for it.
    pub tools: Vec<&'static str>,
    /// Files that have nothing of this kind.
    pub clean: Vec<PathBuf>,
    /// What is to be found in the others.
    pub found: BTreeSet<Finding>,
    /// What may be found there as well.
    pub optional: BTreeSet<Finding>,
}

impl Group {
    /// The files with something to find.
    pub fn dirty(&self) -> Vec<PathBuf> {
        self.found.iter().map(|finding| finding.file.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The whole table.
///
/// # Errors
/// Names the line that is not as it should be.
pub fn groups() -> Result<Vec<Group>, String> {
    let mut groups: Vec<Group> = Vec::new();
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for line in lines {
        let [fixture, kind, file, number, rule, source, tools] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("not seven columns: {line}"));
        };
        let place = groups.iter().position(|group| group.fixture == fixture && group.kind == kind);
        let place = place.unwrap_or_else(|| {
            groups.push(Group { fixture, kind, ..Group::default() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        for tool in tools.split(',').filter(|tool| *tool != "-") {
            if !group.tools.contains(&tool) {
                group.tools.push(tool);
            }
        }
        if rule == "clean" {
            group.clean.push(file.into());
        } else {
            let line = number.parse().map_err(|_| format!("no line number: {line}"))?;
            let (set, rule) = match rule.strip_prefix('?') {
                Some(rule) => (&mut group.optional, rule),
                None => (&mut group.found, rule),
            };
            set.insert(Finding { file: file.into(), line, rule: rule.into(), source: source.into() });
        }
    }
    Ok(groups)
}

/// What a report says of a kind of check.
pub fn found(report: &Report) -> BTreeSet<Finding> {
    let problems = report.problems.iter().map(|problem| Finding {
        file: problem.file.clone(),
        line: problem.line,
        rule: problem.rule.clone().unwrap_or_else(|| "-".into()),
        source: problem.source.clone(),
    });
    let unformatted = report.unformatted.iter().map(|file| unformatted(file));
    problems.chain(unformatted).collect()
}

/// The finding for a file that is not formatted. Which formatter says so is not in a report.
fn unformatted(file: &Path) -> Finding {
    Finding { file: file.to_owned(), line: 0, rule: "unformatted".into(), source: "-".into() }
}
