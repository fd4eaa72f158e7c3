//! Runs the tests that stand beside rules.

use super::matching::NoWorld;
use super::rule::Layer;
use super::rules::Guard;
use crate::call::{Call, Field, Kind};

/// Where the commands of tests run.
const WORKSPACE: &str = "/home/dev/project";
const HOME: &str = "/home/dev";

/// A test that did not come out as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The file or pack.
    pub file: String,
    /// The line of the command.
    pub line: Option<u32>,
    /// The rule.
    pub rule: String,
    /// The command.
    pub command: String,
    /// Whether it should have fired.
    pub fires: bool,
    /// The rules that fired instead.
    pub fired: Vec<String>,
}

/// What came of the tests.
#[derive(Clone, Debug, Default)]
pub struct Tested {
    /// How many commands were judged.
    pub count: usize,
    /// Rules without any test.
    pub untested: Vec<String>,
    /// Those that failed.
    pub failed: Vec<Failed>,
}

impl Guard {
    /// Judges the commands beside the rules in force of these layers, each in `/home/dev/project` with no facts about
    /// files. A rule fires if it is among the findings; other rules may be there, too.
    pub fn test(&self, layers: &[Layer]) -> Tested {
        let mut tested = Tested::default();
        for part in self.active().filter(|part| layers.contains(&part.layer)) {
            for rule in &part.rules {
                if rule.tests.is_empty() {
                    tested.untested.push(rule.name.clone());
                }
                for test in &rule.tests {
                    tested.count += 1;
                    let call = Call {
                        kind: Kind::Shell,
                        command: Some(Field { name: "command".into(), value: test.command.clone() }),
                        paths: Vec::new(),
                        globs: Vec::new(),
                        contents: Vec::new(),
                        cwd: WORKSPACE.into(),
                        home: Some(HOME.into()),
                        workspace: WORKSPACE.into(),
                        ..Call::default()
                    };
                    let findings = self.judge(&call, &mut NoWorld).findings;
                    let fired: Vec<String> = findings.into_iter().map(|finding| finding.rule).collect();
                    if fired.contains(&rule.name) != test.fires {
                        tested.failed.push(Failed {
                            file: part.name.clone(),
                            line: test.line,
                            rule: rule.name.clone(),
                            command: test.command.clone(),
                            fires: test.fires,
                            fired,
                        });
                    }
                }
            }
        }
        tested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_every_pack_has_tests_that_hold() {
        let mut guard = Guard::new();
        assert_eq!(guard.choose(&["all".to_owned()]), Vec::<String>::new());
        let tested = guard.test(&[Layer::BuiltIn]);
        assert_eq!(tested.untested, Vec::<String>::new());
        let failed: Vec<String> = tested
            .failed
            .iter()
            .map(|one| format!("{} fires={} {:?} fired {:?}", one.rule, one.fires, one.command, one.fired))
            .collect();
        assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), tested.count, failed.join("\n"));
    }
}
