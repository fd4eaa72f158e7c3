//! Matches of rules, and trials of them, while it is known which rules those are. Their texts are made of them at the
//! end.

use crate::call::{Action, Evidence, Finding};
use crate::judge::RuleTrial;
use crate::path_rule::PathRule;
use crate::rule::{IfUnset, Rule};
use crate::rule_id::{Layer, RuleId};
use crate::severity::Severity;

/// A match of a rule.
pub(crate) struct RuleMatch {
    pub(crate) rule: RuleId,
    /// Whether an exemption may lift the rule: it keeps no file of the gate's own, and is no path rule of a project's.
    pub(super) may_be_lifted: bool,
    /// What of it counts if it only comes of unset variables being empty.
    pub(super) if_unset: IfUnset,
    pub(super) severity: Severity,
    /// Whether the rule need not ask if all that the call changes was saved.
    pub(super) recoverable: bool,
    pub(super) action: Action,
    pub(super) reason: String,
    pub(super) evidence: Vec<Evidence>,
}

impl RuleMatch {
    pub(super) fn of(rule: &Rule, action: Action, reason: String, evidence: Vec<Evidence>) -> Self {
        RuleMatch {
            rule: rule.id.clone(),
            may_be_lifted: !rule.keeps_the_gate,
            if_unset: rule.if_unset,
            severity: rule.severity.unwrap_or_default(),
            recoverable: rule.recoverable,
            action,
            reason,
            evidence,
        }
    }

    pub(super) fn of_path(rule: &PathRule, action: Action, reason: String, evidence: Evidence) -> Self {
        let may_be_lifted = !rule.keeps_the_gate && rule.layer != Layer::Project;
        let (rule, if_unset, evidence) = (rule.id(), IfUnset::PartialName, vec![evidence]);
        let severity = Severity::Loss;
        RuleMatch { rule, may_be_lifted, if_unset, severity, recoverable: false, action, reason, evidence }
    }

    pub(super) fn into_finding(self) -> Finding {
        let RuleMatch { rule, action, reason, evidence, .. } = self;
        Finding { rule: rule.to_string(), action, reason, evidence }
    }
}

/// A trial of a rule on a command, with its result.
pub(super) struct Trial {
    pub(super) rule: RuleId,
    pub(super) command: Option<usize>,
    pub(super) missed: Option<String>,
}

impl Trial {
    pub(super) fn into_rule_trial(self) -> RuleTrial {
        RuleTrial { rule: self.rule.to_string(), command: self.command, missed: self.missed }
    }
}

#[cfg(test)]
mod tests {
    use crate::call::{Call, Field, ToolKind};
    use crate::rule_id::RuleId;
    use crate::{Guard, NoHost};

    /// What a rule is called decides nothing.
    #[test]
    fn rules_with_other_names_find_the_same() {
        const SUFFIX: &str = "-renamed";
        let guard = Guard::new();
        let mut renamed = guard.clone();
        for rule in renamed.parts.iter_mut().flat_map(|part| &mut part.rules) {
            let RuleId::Rule { name, .. } = &mut rule.id else { panic!("{:?} is no path rule", rule.id) };
            name.push_str(SUFFIX);
        }
        let rules = || guard.parts.iter().flat_map(|part| &part.rules);
        // Those that code is about, and those that depend on variables.
        let told = rules().flat_map(|rule| rule.tests.iter().map(move |test| (rule, test.command.as_str())));
        let told = told.filter(|(rule, text)| rule.native.is_some() || text.contains('$')).map(|(_, text)| text);
        let unset = [
            "rm -rf \"$X\"/*",
            "rm -rf ${X:-/srv/x}/",
            "echo x > ${X:-~/x}",
            "chmod -R 777 $X/",
            "cat ~/.ssh$X/config",
            "rm .git/$X",
            "eval \"$X\"",
            "$X -rf ~/x",
            "if $X; then",
        ];
        let mut found = 0;
        for text in told.chain(unset) {
            let call = Call {
                kind: ToolKind::Shell,
                command: Some(Field { name: "command".into(), value: text.to_owned() }),
                cwd: "/home/dev/project".into(),
                home: Some("/home/dev".into()),
                workspace: "/home/dev/project".into(),
                ..Call::default()
            };
            let before = guard.judge(&call, &mut NoHost);
            let mut after = renamed.judge(&call, &mut NoHost);
            for finding in &mut after.findings {
                let own = finding.rule.strip_suffix(SUFFIX).map(str::to_owned);
                finding.rule = own.unwrap_or_else(|| std::mem::take(&mut finding.rule));
            }
            assert_eq!(before, after, "{text}");
            found += before.findings.len();
        }
        assert!(found > 200, "{found}");
    }
}
