//! The built-in rules, pack by pack, from `toolgate rules list --all --json`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::{cell, code};

/// How the names of path rules go on after the name of their list.
const OF_PATHS: &str = "Paths: ";

/// A summary of the packs, then each with its rules.
pub(super) fn page(listed: &Value) -> Result<String, String> {
    let packs = listed["packs"].as_array().ok_or("there are no packs")?;
    let rules = listed["rules"].as_array().ok_or("there are no rules")?;
    let mut page = String::from("| Pack | By default | Rules | About |\n|---|---|--:|---|\n");
    for pack in packs {
        let (name, state) = (text(pack, "name"), if pack["by_default"] == true { "on" } else { "off" });
        let _ = writeln!(page, "| [{name}](#{name}) | {state} | {} | {} |", pack["rules"], cell(text(pack, "about")));
    }
    for pack in packs {
        let (name, about) = (text(pack, "name"), text(pack, "about"));
        let state = if pack["by_default"] == true { "On by default" } else { "Off by default" };
        let _ = write!(page, "\n### {name}\n\n{state}: {}.\n\n", cell(about));
        let own = || rules.iter().filter(|rule| text(rule, "source") == name);
        if own().any(|rule| !text(rule, "name").contains(OF_PATHS)) {
            page.push_str("| Rule | Answer | What such a call does |\n|---|---|---|\n");
        }
        let mut paths: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
        for rule in own() {
            let (answer, reason) = (text(rule, "action"), text(rule, "reason"));
            let name = text(rule, "name").trim_start_matches("builtin:");
            if let Some((list, path)) = name.split_once(OF_PATHS) {
                paths.entry((list, answer, reason)).or_default().push(code(path));
                continue;
            }
            let instead = rule["instead"].as_str().map_or_else(String::new, |instead| format!("; instead: {instead}"));
            let _ = writeln!(page, "| {} | {answer} | {} |", code(name), cell(&format!("{reason}{instead}")));
        }
        for ((list, answer, reason), paths) in paths {
            let list = list.rsplit('-').next().unwrap_or(list);
            let _ = write!(page, "\n`{list}Paths` ({answer}; {}): {}\n", cell(reason), paths.join(", "));
        }
    }
    Ok(page)
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn each_rule_is_in_its_pack() {
        let rule = |source: &str, name: &str, action: &str, instead: Option<&str>| json!({"source": source, "name": format!("builtin:{name}"), "action": action, "reason": "is *bad*", "instead": instead});
        let listed = json!({
            "packs": [
                {"name": "self", "about": "the gate", "by_default": true, "rules": 3},
                {"name": "cloud", "about": "clouds", "by_default": false, "rules": 1},
            ],
            "rules": [
                rule("self", "stop", "block", None),
                rule("self", "self-readOnlyPaths: a/", "block", None),
                rule("self", "self-readOnlyPaths: b|c", "block", None),
                rule("cloud", "rm", "ask", Some("ls")),
            ],
        });
        let expected = "| Pack | By default | Rules | About |\n|---|---|--:|---|\n\
            | [self](#self) | on | 3 | the gate |\n| [cloud](#cloud) | off | 1 | clouds |\n\n\
            ### self\n\nOn by default: the gate.\n\n| Rule | Answer | What such a call does |\n|---|---|---|\n\
            | `stop` | block | is \\*bad\\* |\n\n`readOnlyPaths` (block; is \\*bad\\*): `a/`, `b\\|c`\n\n\
            ### cloud\n\nOff by default: clouds.\n\n| Rule | Answer | What such a call does |\n|---|---|---|\n\
            | `rm` | ask | is \\*bad\\*; instead: ls |\n";
        assert_eq!(page(&listed).expect("a page"), expected);
    }
}
