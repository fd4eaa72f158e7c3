//! What becomes of a call whose component failed.
//!
//! | Role | A call that fails |
//! |---|---|
//! | gate | is blocked, with the failure as the reason |
//! | observer | changes nothing; the failure is logged |
//! | terminal | is an error to the agent whose tool it was; the pane stays as it is |
//! | analysis | is an error to whoever asked; a call that plugins are to be told of is blocked |
//! | extension | is judged without the answer: the state or the condition is unknown |
//!
//! That holds for every kind of failure: a trap, a deadline, a limit, an answer that cannot be read, a component
//! that does not start. In every role the failed instance is dropped and the next call gets a new one.

use crate::error::CallError;
use crate::events::Started;
use crate::limits::said;
use crate::text::{self, shortened};
use crate::verdict::{Action, Decision, Finding, OF_THE_HOST, Verdict};

/// The verdict that a failed gate gives.
pub(crate) fn verdict(plugin: &str, error: &CallError) -> Verdict {
    let reason = format!("{error}; calls that cannot be checked are blocked");
    let mut verdict = Verdict::block(format!("{OF_THE_HOST}{}", error.name()), reason);
    verdict.findings.iter_mut().for_each(|finding| plugin.clone_into(&mut finding.plugin));
    verdict
}

/// A verdict that holds what the contract asks of it: a block or a question has a reason, and only who may rewrite does.
pub(crate) fn checked(mut verdict: Verdict, plugin: &str, may_rewrite: bool) -> Verdict {
    bounded(&mut verdict.findings);
    for finding in &mut verdict.findings {
        plugin.clone_into(&mut finding.plugin);
    }
    if let Decision::Block(reason) | Decision::Ask(reason) = &mut verdict.decision {
        *reason = text::sentence(reason);
    }
    match &mut verdict.decision {
        Decision::Block(reason) | Decision::Ask(reason) if reason.trim().is_empty() => {
            *reason = format!("{plugin} gave no reason");
        }
        // Rewriting is a grant of its own.
        Decision::Rewrite(_) if !may_rewrite => {
            return Verdict::block("host:rewrite", format!("{plugin} rewrote the call, which it is not granted"));
        }
        _ => {}
    }
    named(&mut verdict, plugin);
    verdict
}

/// Makes sure that some finding stands for a block or a question: logs, permissions and approvals go by findings, so that one
/// without would be nobody's, and lifted with any other.
fn named(verdict: &mut Verdict, plugin: &str) {
    let (action, reason) = match &verdict.decision {
        Decision::Block(reason) => (Action::Block, reason),
        Decision::Ask(reason) => (Action::Ask, reason),
        Decision::Pass | Decision::Rewrite(_) => return,
    };
    if verdict.findings.iter().all(|finding| finding.action != action) {
        verdict.findings.push(Finding {
            rule: UNNAMED.to_owned(),
            plugin: plugin.to_owned(),
            action,
            reason: reason.clone(),
            evidence: Vec::new(),
        });
    }
}

/// The rule of a decision that names none.
const UNNAMED: &str = "unnamed";

/// Findings as people and models may see them: not too many, not too long, nothing hidden in them. Evidence keeps its
/// characters, as it is compared with the call's.
fn bounded(findings: &mut Vec<Finding>) {
    let more = if findings.len() > said::FINDINGS {
        findings.sort_by_key(|finding| match finding.action {
            Action::Block => 0,
            Action::Ask | Action::Rewrite => 1,
            Action::Note => 2,
        });
        findings.split_off(said::FINDINGS)
    } else {
        Vec::new()
    };
    for finding in &mut *findings {
        finding.rule = its_own(&text::name(&finding.rule));
        finding.reason = text::sentence(&finding.reason);
        finding.evidence.truncate(said::EVIDENCE);
        for one in &mut finding.evidence {
            one.field = text::name(&one.field);
            one.text = shortened(&one.text, said::SENTENCE);
        }
    }
    findings.extend(more.first().map(|strictest| Finding {
        rule: format!("{OF_THE_HOST}more-findings"),
        reason: format!("{} more findings omitted", more.len()),
        evidence: Vec::new(),
        ..strictest.clone()
    }));
}

/// A rule's name, without what would make it the host's.
fn its_own(rule: &str) -> String {
    let rule = rule.trim_start_matches(OF_THE_HOST);
    if rule.is_empty() { UNNAMED.to_owned() } else { rule.to_owned() }
}

/// What a component says of its start, as people may see it.
pub(crate) fn started(mut started: Started) -> Started {
    started.status = text::name(&started.status);
    started.diagnostics.truncate(said::DIAGNOSTICS);
    for diagnostic in &mut started.diagnostics {
        diagnostic.message = text::sentence(&diagnostic.message);
    }
    started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_gate_blocks() {
        let failures = [CallError::Deadline, CallError::Memory, CallError::Stack, CallError::Trap("x".into())];
        for error in failures {
            let verdict = verdict("p", &error);
            assert!(matches!(&verdict.decision, Decision::Block(reason) if !reason.is_empty()), "{error}");
            assert_eq!(verdict.findings[0].plugin, "p", "{error}");
        }
    }

    #[test]
    fn a_decision_that_no_finding_stands_for_gets_one() {
        let finding =
            |action| Finding { rule: "r".into(), plugin: "x".into(), action, reason: "f".into(), evidence: vec![] };
        // The decision, what stands beside it, and the rules that stand for it then.
        let cases = [
            (Decision::Block("b".into()), vec![], vec!["unnamed"]),
            (Decision::Ask("b".into()), vec![finding(Action::Note)], vec!["unnamed"]),
            (Decision::Block("b".into()), vec![finding(Action::Ask)], vec!["unnamed"]),
            (Decision::Ask("b".into()), vec![finding(Action::Ask)], vec!["r"]),
            (Decision::Pass, vec![], vec![]),
        ];
        for (decision, findings, rules) in cases {
            let verdict = checked(Verdict { decision: decision.clone(), findings }, "p", false);
            let action = if matches!(decision, Decision::Block(_)) { Action::Block } else { Action::Ask };
            let stand = verdict.findings.iter().filter(|one| one.action == action);
            let found: Vec<(&str, &str)> = stand.map(|one| (one.rule.as_str(), one.plugin.as_str())).collect();
            assert_eq!(found, rules.into_iter().map(|rule| (rule, "p")).collect::<Vec<_>>(), "{decision:?}");
        }
    }

    #[test]
    fn no_rule_of_a_components_is_the_hosts() {
        let cases = [
            ("host:deadline", "deadline"),
            ("host:host:x", "x"),
            ("host:", "unnamed"),
            ("builtin:self", "builtin:self"),
            ("a host:x", "a host:x"),
        ];
        for (rule, expected) in cases {
            let mut verdict = Verdict::block(rule, "no");
            verdict.findings = vec![verdict.findings[0].clone(); said::FINDINGS + 2];
            let verdict = checked(verdict, "p", false);
            let last = verdict.findings.last().map(|finding| finding.rule.as_str());
            assert_eq!((verdict.findings[0].rule.as_str(), last), (expected, Some("host:more-findings")), "{rule}");
        }
    }

    #[test]
    fn an_answer_outside_the_contract_is_mended_to_the_safe_side() {
        let cases = [
            (Decision::Block(String::new()), true),
            (Decision::Block("r".into()), true),
            (Decision::Rewrite("{}".into()), true),
            (Decision::Pass, false),
            (Decision::Ask(" ".into()), false),
        ];
        let granted = Verdict { decision: Decision::Rewrite("{}".into()), findings: Vec::new() };
        assert_eq!(checked(granted.clone(), "p", true), granted);
        for (decision, blocks) in cases {
            let verdict = checked(Verdict { decision, findings: Vec::new() }, "p", false);
            assert_eq!(matches!(verdict.decision, Decision::Block(_)), blocks);
            if let Decision::Block(reason) | Decision::Ask(reason) = verdict.decision {
                assert!(!reason.trim().is_empty());
            }
        }
    }
}
