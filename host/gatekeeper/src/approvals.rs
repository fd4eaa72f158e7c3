//! What a person has let through, for the text that a tool then types into the shared terminal.
//!
//! A call is judged before its tool runs, and what the tool types is judged once more: a component may type something
//! else than it was given. What a person has confirmed, or let through by `toolgate allow`, is not put to them a second
//! time. So the findings of the call as it was decided are in force for what its run types, and for nothing else: they
//! are taken by that run, and forgotten with it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_host::{Action, Decision, Finding, Plugin, ToolCall, Verdict};

use crate::commands;

/// Most calls at a time that wait for their run.
const MAX_WAITING: usize = 64;

/// How long a call may wait for its run: as long as a run before it may take.
const RETENTION: Duration = Duration::from_secs(60 * 60);

/// What a call was let through in spite of. Nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Approved {
    call: Option<ToolCall>,
    findings: Vec<Finding>,
}

impl Approved {
    /// Whether all that speaks against a text which is about to be typed was let through: it is the call as it is, for a
    /// shell; or each of its findings is one of the call, with the same words, and none of these counts twice, and it runs
    /// nothing but what the call does.
    pub(crate) async fn covers(&self, plugin: &Plugin, typed: &ToolCall, verdict: &Verdict) -> bool {
        let Some(call) = &self.call else { return false };
        // In quotes for a shell the words that matched are others.
        if commands::hands_over(plugin, typed, call).await {
            return true;
        }
        self.has(verdict) && commands::within(plugin, typed, call).await
    }

    fn has(&self, verdict: &Verdict) -> bool {
        let mut left: Vec<&Finding> = self.findings.iter().collect();
        let mut against = verdict.findings.iter().filter(|finding| finding.action != Action::Note).peekable();
        against.peek().is_some()
            && against.all(|found| {
                let at = left.iter().position(|known| same(known, found));
                at.map(|at| left.swap_remove(at)).is_some()
            })
    }
}

/// Whether two findings say the same of the same words, wherever these stand.
fn same(one: &Finding, other: &Finding) -> bool {
    let texts = |finding: &Finding| finding.evidence.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    let about =
        |finding: &Finding| (finding.rule.clone(), finding.plugin.clone(), finding.action, finding.reason.clone());
    about(one) == about(other) && texts(one) == texts(other)
}

/// A call that waits for its run.
#[derive(Debug)]
struct Waiting {
    id: String,
    since: Instant,
    approved: Approved,
}

/// The calls of this process that were let through.
#[derive(Debug, Default)]
pub struct Approvals(Mutex<VecDeque<Waiting>>);

impl Approvals {
    /// Notes what became of a call. Only one that runs in spite of something leaves anything behind.
    pub fn note(&self, call: &ToolCall, judged: &Verdict, decided: &Verdict) {
        let asked = matches!(judged.decision, Decision::Ask(_) | Decision::Block(_));
        let (true, Decision::Pass, Some(_)) = (asked, &decided.decision, &call.command) else { return };
        let findings = judged.findings.iter().filter(|finding| finding.action != Action::Note).cloned().collect();
        let approved = Approved { call: Some(call.clone()), findings };
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|other| other.since.elapsed() < RETENTION);
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(Waiting { id: call.id.clone(), since: Instant::now(), approved });
    }

    /// Hands over what was let through for the call with this id and exactly this command, once.
    pub fn take(&self, id: &str, command: &str) -> Approved {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|other| other.since.elapsed() < RETENTION);
        let runs = |one: &Waiting| {
            one.approved
                .call
                .as_ref()
                .and_then(|call| call.command.as_ref())
                .is_some_and(|known| known.value == command)
        };
        let at = waiting.iter().position(|one| one.id == id && runs(one));
        at.and_then(|at| waiting.remove(at)).map(|one| one.approved).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use toolgate_host::Evidence;

    use super::*;

    fn finding(rule: &str, texts: &[&str]) -> Finding {
        let evidence = texts.iter().map(|text| Evidence::new("command", 0, *text)).collect();
        Finding::new("guard", rule, Action::Ask, "why").with_evidence(evidence)
    }

    fn asked(findings: Vec<Finding>) -> Verdict {
        Verdict::new(Decision::Ask("why".to_owned()), findings)
    }

    fn call(id: &str, command: &str) -> ToolCall {
        ToolCall::shell(command, "/p").with_id(id)
    }

    fn noted(id: &str, command: &str, findings: Vec<Finding>) -> Approvals {
        let approvals = Approvals::default();
        approvals.note(&call(id, command), &asked(findings), &Verdict::pass());
        approvals
    }

    #[test]
    fn what_was_let_through_covers_the_same_and_no_more() {
        let push = || finding("a", &["git push -f"]);
        let with = |change: fn(&mut Finding), mut finding: Finding| {
            change(&mut finding);
            finding
        };
        let block = || with(|one| one.action = Action::Block, push());
        let note = || with(|one| one.action = Action::Note, finding("n", &["x"]));
        // What was found in the call, and in the text.
        let cases = [
            (vec![push()], vec![push()], true),
            (vec![push()], vec![push(), note()], true),
            (vec![finding("b", &[])], vec![finding("b", &[])], true),
            (vec![push(), finding("c", &["x"])], vec![push()], true),
            // Twice what was asked about once.
            (vec![push()], vec![push(), push()], false),
            (vec![push(), push()], vec![push(), push()], true),
            // Another rule, other words, more of them, more than a question.
            (vec![push()], vec![finding("c", &["git push -f"])], false),
            (vec![push()], vec![finding("a", &["git push -f x"])], false),
            (vec![push()], vec![finding("a", &["git push -f", "x"])], false),
            (vec![push()], vec![push(), finding("c", &["x"])], false),
            (vec![push()], vec![block()], false),
            // Another plugin's word, or another reason.
            (vec![push()], vec![with(|one| one.plugin = "x".into(), push())], false),
            (vec![push()], vec![with(|one| one.reason = "x".into(), push())], false),
            // Nothing approves nothing, and what has no finding is not asked about here.
            (vec![], vec![push()], false),
            (vec![push()], vec![], false),
            (vec![push()], vec![note()], false),
        ];
        for (known, found, expected) in cases {
            let approved = noted("1", "git push -f", known.clone()).take("1", "git push -f");
            assert_eq!(approved.has(&asked(found.clone())), expected, "{known:?} {found:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_takes_what_its_call_left_once_and_in_time() {
        let push = || vec![finding("a", &["git push -f"])];
        let covers = |approved: Approved| approved.has(&asked(push()));
        let cases = [(("1", "git push -f"), true), (("2", "git push -f"), false), (("1", "git push -f "), false)];
        for ((id, command), expected) in cases {
            let approvals = noted("1", "git push -f", push());
            assert_eq!(covers(approvals.take(id, command)), expected, "{id} {command}");
            assert!(!expected || !covers(approvals.take(id, command)), "once");
        }
        let approvals = noted("1", "git push -f", push());
        tokio::time::advance(RETENTION).await;
        assert!(!covers(approvals.take("1", "git push -f")), "too late");
        for n in 0..=MAX_WAITING {
            approvals.note(&call(&n.to_string(), "git push -f"), &asked(push()), &Verdict::pass());
        }
        assert!(!covers(approvals.take("0", "git push -f")), "the oldest gives way");
        assert!(covers(approvals.take("1", "git push -f")));
    }

    #[test]
    fn only_a_call_that_runs_in_spite_of_something_leaves_anything() {
        let push = || vec![finding("a", &["git push -f"])];
        let pass = || Verdict::new(Decision::Pass, push());
        let cases = [
            (asked(push()), Verdict::pass(), true),
            (asked(push()), asked(push()), false),
            (asked(push()), Verdict::block("a", "no"), false),
            (pass(), pass(), false),
        ];
        for (judged, decided, expected) in cases {
            let approvals = Approvals::default();
            approvals.note(&call("1", "x"), &judged, &decided);
            assert_eq!(!approvals.take("1", "x").findings.is_empty(), expected, "{judged:?} {decided:?}");
        }
    }
}
