//! Secrets of another machine or a container that a command there shows.
//!
//! Paths mean nothing there, but for what is called the same everywhere: `.env`, `~/.ssh`, `/etc/shadow`. What only uses them
//! there, copies them or tells their names passes: nobody here sees what is in them.

use toolgate_shell::{Effect, EffectKind, Value, Why};

use super::path_access::{Access, Touched};
use super::rule_match::RuleMatch;
use super::{Evaluation, evidence};
use crate::call::{Action, Field};
use crate::matching::MatchInput;
use crate::path_query::PathQuery;
use crate::path_rule::PathRule;
use crate::rule_id::{Layer, Policy};

/// Programs that print what is in a file.
const SHOW: &[&str] = &[
    "ack", "ag", "awk", "base32", "base64", "bat", "cat", "cut", "diff", "egrep", "expand", "fgrep", "fold", "gawk",
    "grep", "gzip", "head", "hexdump", "iconv", "jq", "less", "mawk", "more", "nl", "od", "openssl", "paste", "pr",
    "rev", "rg", "sed", "sort", "strings", "tac", "tail", "tar", "tee", "tr", "uniq", "view", "xxd", "yq", "zcat",
];

impl Evaluation<'_> {
    /// What a command shows of the secrets of another machine.
    pub(super) fn shown_elsewhere(&mut self, subject: &MatchInput<'_>, command: &Field) {
        let found = subject.command;
        // A script has no words.
        let shows = found.words.is_empty() || found.program().is_some_and(|program| SHOW.contains(&program));
        if found.effects_elsewhere.is_empty() || !shows {
            return;
        }
        let (guard, home) = (self.guard, self.call.home.as_deref());
        let shown = |effect: &&Effect| effect.kind == EffectKind::Read && !effect.copied;
        for effect in found.effects_elsewhere.iter().filter(shown) {
            let covering = guard.covering(&PathQuery::of(&effect.path, home));
            for rule in covering.into_iter().filter(|rule| is_secret(rule)) {
                let touched = Touched::new(Access::Read, effect.path.clone(), evidence(command, effect.span));
                if self.path_exempt(rule, &touched, None) {
                    continue;
                }
                let sure = !rule.ask && is_named(&effect.path);
                let action = if sure { Action::Block } else { Action::Ask };
                let why = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let reason = format!(
                    "{} on another machine or in a container {} ({}: {}){why}",
                    touched.evidence.text,
                    rule.policy.describe(),
                    rule.policy.key(),
                    rule.source,
                );
                self.add(RuleMatch::of_path(rule, action, reason, touched.evidence));
            }
        }
    }
}

/// Whether a rule that came with Toolgate keeps something from being read.
fn is_secret(rule: &PathRule) -> bool {
    let kept = matches!(rule.policy, Policy::ZeroAccess | Policy::NoRead);
    kept && rule.layer == Layer::BuiltIn && !rule.keeps_the_gate
}

/// Whether a path is known by its name, wherever it is.
fn is_named(path: &Value) -> bool {
    match path {
        Value::Known(_) => true,
        Value::Unknown { why: Why::Directory, shape } => {
            !shape.trim_start_matches(Value::HOLE).contains(['*', '?', Value::HOLE])
        }
        _ => false,
    }
}
