//! Runs the tests that stand beside rules.

use super::rule_id::{Layer, RuleId};
use super::rules::Guard;
use super::world::NoHost;
use crate::call::{Call, Events, Field, Happened, ToolKind};

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
                    tested.untested.push(rule.id.to_string());
                }
                for test in &rule.tests {
                    tested.count += 1;
                    let call = Call {
                        kind: ToolKind::Shell,
                        command: Some(Field { name: "command".into(), value: test.command.clone() }),
                        cwd: WORKSPACE.into(),
                        home: Some(HOME.into()),
                        workspace: WORKSPACE.into(),
                        events: test.after.as_deref().map(happened),
                        ..Call::default()
                    };
                    let fired: Vec<RuleId> =
                        self.found(&call, &mut NoHost).into_iter().map(|found| found.rule).collect();
                    if fired.contains(&rule.id) != test.fires {
                        tested.failed.push(Failed {
                            file: part.name.clone(),
                            line: test.line,
                            rule: rule.id.to_string(),
                            command: test.command.clone(),
                            fires: test.fires,
                            fired: fired.iter().map(RuleId::to_string).collect(),
                        });
                    }
                }
            }
        }
        tested
    }
}

/// These events, in the first turn of a session.
fn happened(events: &[String]) -> Events {
    let list = events.iter().map(|event| Happened { event: event.clone(), turn: 0, uncertain: false });
    Events { turn: 0, list: list.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_may_say_what_has_happened_before() {
        let rules = |layer, tests: &str| {
            let text = format!(
                "observers:
- {{name: tests, writes: tested, watch: {{program: just, subcommand: test}}}}
rules:
- {{name: untested, program: deploy, when: {{missing: {{event: tested, in: session}}}}, tests: {tests}}}"
            );
            let mut guard = Guard::new();
            let problems = guard.load("rules.yaml", layer, text.as_bytes());
            (guard, problems)
        };
        let cases = [
            (r#"{fires: [deploy], passes: [{command: deploy, after: [tested]}]}"#, 2, 0),
            (r#"{fires: [{command: deploy, after: []}, {command: deploy, after: other}]}"#, 2, 0),
            (r#"{passes: [deploy], fires: [{command: deploy, after: tested}]}"#, 2, 2),
        ];
        for layer in [Layer::User, Layer::Project] {
            for (tests, count, wrong) in cases {
                let (guard, problems) = rules(layer, tests);
                assert_eq!(problems, []);
                let tested = guard.test(&[layer]);
                assert_eq!((tested.count, tested.failed.len()), (count, wrong), "{tests}: {:?}", tested.failed);
                let watching: Vec<_> = guard.observers().map(|one| (one.name, one.layer, one.writes.len())).collect();
                assert_eq!(watching, [(Some("tests".to_owned()), layer, 1)]);
            }
            for wrong in [
                "{fires: [{after: [tested]}]}",
                "{fires: [{command: a, before: [b]}]}",
                "{fires: [{command: a, after: ['x:y']}]}",
            ] {
                assert_eq!(rules(layer, wrong).1.len(), 1, "{wrong}");
            }
        }
    }

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
