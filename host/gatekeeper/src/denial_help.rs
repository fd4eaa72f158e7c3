//! How a person goes on after a denial, in words for the agent that reads it: what it is to tell its user, and nothing that it
//! could do itself.

use toolgate_agents::text::quoted;
use toolgate_host::{Verdict, one_time_permits};
use toolgate_names::gate_rules::keeps_the_gate;

/// Most rules that are named.
const NAMED: usize = 3;

/// What stands behind the reason of a denial with an id.
pub(crate) fn text(id: &str, verdict: &Verdict) -> String {
    let rules = one_time_permits::against(verdict).unwrap_or_default();
    let names: Vec<&str> = rules.iter().filter_map(|rule| exempt_name(rule)).collect();
    // A command that leaves a rule in force helps nobody.
    let all = names.len() == rules.len() && (1..=NAMED).contains(&names.len());
    let always = if all && names.iter().all(|name| is_plain(name)) {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        format!(", or `toolgate rules exempt {}` always (with --here in this project only)", names.join(" "))
    } else {
        String::new()
    };
    format!(
        "Denial {id}: do not work around it. If the task needs exactly this, ask the user, who alone can let it through, in a \
         terminal of their own: `toolgate allow {id}` once{always}."
    )
}

/// Whether a name can be shown inside a command. Names of a project's rules are anybody's text.
fn is_plain(name: &str) -> bool {
    name.len() <= 80 && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./:*~@[] ".contains(letter))
}

/// What an exemption calls a rule, if one may lift it.
fn exempt_name(rule: &str) -> Option<&str> {
    match rule.split_once(':') {
        Some(("builtin", name)) => (!keeps_the_gate(name)).then_some(name),
        Some(("user", name)) => Some(name),
        Some(("plugin" | "host", _)) | None => None,
        // A project's rule, or a path rule: `noReadPaths: .env`.
        Some(_) => Some(rule),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_how_to_go_on_and_the_agent_to_ask_them() {
        let told = |rules: &[&str]| {
            let mut verdict = Verdict::block("", "no");
            let one = verdict.findings.remove(0);
            for rule in rules {
                let mut finding = one.clone();
                (*rule).clone_into(&mut finding.rule);
                verdict.findings.push(finding);
            }
            let text = text("1f2e3d4c", &verdict);
            assert!(
                text.contains("do not work around it") && text.contains("`toolgate allow 1f2e3d4c` once"),
                "{text}"
            );
            text.split("toolgate rules exempt ").nth(1).map(|rest| rest.split('`').next().unwrap_or("").to_owned())
        };
        let cases: [(&[&str], Option<&str>); 9] = [
            (&["builtin:git-amend"], Some("git-amend")),
            (&["builtin:git-amend", "user:mine"], Some("git-amend mine")),
            (&["project:mine"], Some("project:mine")),
            (&["noReadPaths: .env"], Some("'noReadPaths: .env'")),
            (&["builtin:unparsed"], None),
            (&["builtin:git-amend", "plugin:x:y"], None),
            (&["user:a", "user:b", "user:c", "user:d"], None),
            (&["project:`id`; x"], None),
            (&["builtin:self-permission"], None),
        ];
        for (rules, expected) in cases {
            assert_eq!(told(rules).as_deref(), expected, "{rules:?}");
        }
    }
}
