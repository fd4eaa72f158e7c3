//! What a person sees of the guard without asking: the status line, and a notice when a rule fires.

use toolgate_rules::call::{Action, Verdict};

/// For how long the last violation stays in the status line, in milliseconds.
const VIOLATION: u64 = 30_000;

/// How much of a violation's reason the status line shows, in characters.
const SHORT: usize = 60;

/// The status line while nothing happened.
pub fn active(rules: usize) -> String {
    format!("\u{1f6e1}\u{fe0f} Damage-Control Active: {rules} Rules")
}

/// What a verdict changes for a person's eyes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The new status line.
    pub status: Option<String>,
    /// A notice.
    pub notice: Option<String>,
    /// Whether the notice is of something that stops.
    pub blocks: bool,
}

/// The status line: the last violation for a while, then the rules again.
#[derive(Debug, Default)]
pub struct StatusLine {
    /// When the violation was shown, in milliseconds.
    shown: Option<u64>,
}

impl StatusLine {
    /// What to show after a verdict. `now` is in milliseconds, if the time is known.
    pub fn after(
        &mut self,
        verdict: &Verdict,
        now: impl FnOnce() -> Option<u64>,
        rules: impl FnOnce() -> usize,
    ) -> Change {
        if let Some(finding) = verdict.findings.first().filter(|finding| finding.action != Action::Note) {
            let mut short: String = finding.reason.chars().take(SHORT).collect();
            if short.len() < finding.reason.len() {
                short.push('…');
            }
            let blocks = finding.action == Action::Block;
            let effect = if blocks { "blocked because of" } else { "asks because of" };
            self.shown = now();
            return Change {
                status: Some(format!("\u{26a0}\u{fe0f} Last Violation: {short}")),
                notice: Some(format!("Damage-Control: {effect} {}: {}", finding.rule, finding.reason)),
                blocks,
            };
        }
        let old = self.shown.is_some_and(|shown| now().is_some_and(|now| now.saturating_sub(shown) >= VIOLATION));
        if !old {
            return Change::default();
        }
        self.shown = None;
        Change { status: Some(active(rules())), ..Change::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_rules::call::Finding;

    fn verdict(action: Action, reason: &str) -> Verdict {
        let (rule, reason) = ("user:r".to_owned(), reason.to_owned());
        let findings = vec![Finding { rule, action, reason, evidence: Vec::new() }];
        Verdict { findings, memory: None }
    }

    #[test]
    fn a_violation_is_shown_for_a_while() {
        let long = "x".repeat(61);
        let shield = "\u{1f6e1}\u{fe0f} Damage-Control Active: 7 Rules";
        let cases: &[(u64, Verdict, Option<&str>, Option<&str>)] = &[
            (0, Verdict::default(), None, None),
            (
                10,
                verdict(Action::Block, "not here"),
                Some("\u{26a0}\u{fe0f} Last Violation: not here"),
                Some("Damage-Control: blocked because of user:r: not here"),
            ),
            (29_999, Verdict::default(), None, None),
            (30_009, verdict(Action::Note, "overridden"), None, None),
            (30_010, verdict(Action::Note, "overridden"), Some(shield), None),
            (90_000, Verdict::default(), None, None),
            (
                90_001,
                verdict(Action::Ask, &long),
                Some(&format!("\u{26a0}\u{fe0f} Last Violation: {}…", &long[1..])),
                Some(&format!("Damage-Control: asks because of user:r: {long}")),
            ),
        ];
        let mut line = StatusLine::default();
        for (now, verdict, status, notice) in cases {
            let change = line.after(verdict, || Some(*now), || 7);
            assert_eq!((change.status.as_deref(), change.notice.as_deref()), (*status, *notice), "{now}");
            assert_eq!(change.blocks, verdict.action() == Some(Action::Block), "{now}");
        }
        assert_eq!(active(7), shield);
    }

    #[test]
    fn without_a_clock_the_violation_stays() {
        let mut line = StatusLine::default();
        line.after(&verdict(Action::Block, "x"), || None, || 7);
        assert_eq!(line.after(&Verdict::default(), || Some(1_000_000), || 7), Change::default());
    }
}
