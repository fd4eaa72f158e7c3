//! What a tool does to files, said as data. Cases are in `file-effects.jsonl`.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolgate_rules::call::{Call, Field, FileEffects, Verdict};
use toolgate_rules::{Guard, Layer, NoHost};
use toolgate_test_support::cases;

use crate::cases::{call, named};

#[test]
fn each_gets_its_verdict_and_evidence_in_its_fields() {
    let built_in = guard();
    cases!("file-effects.jsonl").each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let mut guard = built_in.clone();
        if let Some(rules) = case["rules"].as_str() {
            assert_eq!(guard.load("rules.yaml", Layer::User, rules.as_bytes()), []);
        }
        let call = call(&case);
        let verdict = guard.judge(&call, &mut NoHost);
        assert_eq!(named(&verdict), case["expect"], "{verdict:?}");
        let weightiest = || verdict.findings.iter().filter(|one| Some(one.action) == verdict.action());
        let finding = weightiest().find(|one| case["rule"].as_str().is_none_or(|rule| one.rule == rule));
        assert!(case["expect"] == "pass" || finding.is_some(), "{verdict:?}");
        let fields: Vec<&str> = case["fields"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let found: Vec<&str> = finding.iter().flat_map(|one| &one.evidence).map(|one| one.field.as_str()).collect();
        assert!(fields.is_empty() || fields == found, "{found:?}");
        for one in verdict.findings.iter().flat_map(|finding| &finding.evidence) {
            let all = call.effects.list.iter().flat_map(|effect| effect.paths.iter().chain(&effect.to));
            let is_own =
                |field: &Field| field.name == one.field && field.value.get(one.start..one.end) == Some(&one.text);
            assert!(all.chain(&call.paths).chain(&call.command).any(is_own), "{one:?}");
        }
    });
}

/// The built-in rules, and the gate's own files.
fn guard() -> Guard {
    let mut guard = Guard::new();
    guard.keep(&["/home/dev/.config/toolgate".to_owned()], Some("/home/dev"));
    guard
}

const PATHS: &[&str] = &[
    "a.txt",
    "src",
    "src/",
    "build",
    "../other",
    "/",
    "/etc",
    "/etc/passwd",
    "/etc/hosts",
    "/usr/bin/x",
    "/usr/local/bin/x",
    "/tmp",
    "/tmp/x",
    "/srv/data",
    "~",
    "~/",
    "~/x",
    "~/.ssh",
    "~/.ssh/id_ed25519",
    "~/.bashrc",
    "~/.claude",
    "~/.claude/settings.json",
    "~/.config/toolgate",
    "~/.config/toolgate/rules.yaml",
    ".env",
    "config/.env",
    ".git",
    ".git/hooks/pre-commit",
    ".git/config",
    ".github/workflows/ci.yml",
    ".envrc",
    ".claude/settings.json",
    ".claude/commands/x.md",
    ".npmrc",
    "/home/dev/project",
    "/home/dev",
    "it's",
    "a b",
    "-rf",
    "--help",
    "$HOME",
    "$(rm -rf ~)",
    "a\nb",
    "a;rm -rf ~",
    "*",
    "~root/x",
    "/dev/sda",
    "/dev/null",
    "x.key",
    ".",
    "..",
    "",
    "/etc/../etc/shadow",
    ".vscode/tasks.json",
    "a.zip",
];

/// The same as that of the command that a person would type for it.
#[test]
fn the_verdict_is_that_of_the_command_for_it() {
    let quoted = |path: &str| match path.strip_prefix('~') {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~/'{}'", &rest[1..]),
        _ => format!("'{}'", path.replace('\'', "'\\''")),
    };
    // The effect, whether it is recursive, and the command.
    let actions = [
        ("remove", true, "rm -rf --"),
        ("move", true, "mv --"),
        ("copy", true, "cp -r --"),
        ("write", false, "touch --"),
        ("read", false, "cat --"),
        ("search", true, "grep -r . --"),
        ("list", false, "ls --"),
    ];
    let guard = guard();
    for (effect, recursive, command) in actions {
        let puts = matches!(effect, "move" | "copy");
        let targets: &[&str] = if puts { &["a.txt", "/etc/x", "~", "build/", ".env"] } else { &[""] };
        for (path, to) in PATHS.iter().flat_map(|path| targets.iter().map(move |to| (*path, *to))) {
            let field = |name: &str, value: &str| json!({ "name": name, "value": value });
            let mut said = json!({ "effect": effect, "paths": [field("path", path)], "recursive": recursive });
            let mut text = format!("{command} {}", quoted(path));
            if puts {
                said["to"] = field("to", to);
                text = format!("{text} {}", quoted(to));
            }
            let declared = Call { effects: FileEffects::read(&json!([said])), ..call(&json!({ "kind": "other" })) };
            let typed = call(&json!({ "kind": "other", "command": text }));
            let (declared, typed) = (guard.judge(&declared, &mut NoHost), guard.judge(&typed, &mut NoHost));
            assert_eq!(rules(&declared), rules(&typed), "{effect} {path:?} {to:?}");
        }
    }
}

fn rules(verdict: &Verdict) -> BTreeSet<String> {
    verdict.findings.iter().map(|one| format!("{:?} {}", one.action, one.rule)).collect()
}

#[test]
fn very_many_paths_are_judged_together() {
    let paths: Vec<Value> =
        (0..10_000).map(|at| json!({ "name": format!("p/{at}"), "value": format!("~/x/{at}") })).collect();
    let effects = FileEffects::read(&json!([{ "effect": "remove", "paths": paths, "recursive": true }]));
    let verdict = guard().judge(&Call { effects, ..call(&json!({ "kind": "other" })) }, &mut NoHost);
    assert_eq!(named(&verdict), "ask");
    assert_eq!(verdict.findings[0].evidence.len(), 10_000);
}
