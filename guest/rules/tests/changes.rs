//! What calls change, as cases, one a line, in `changes.jsonl`: the call, `files`, `links` and `scripts` that are there, the user's
//! and the project's own rules (`user`, `project`), and what is told (`changes`; null for nothing). In `withheld.jsonl` rules, and paths
//! with whether their content is kept from being read.

use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_rules::call::{Action, Call, Field, ToolKind};
use toolgate_rules::{Guard, GuardHost, Layer, NoHost};
use toolgate_test_support::cases;

use crate::cases::{WORKSPACE, call};
use crate::files::Disk;

/// The built-in rules and those of a case.
fn guard(built_in: &Guard, case: &Value) -> Guard {
    let mut guard = built_in.clone();
    for (key, layer) in [("user", Layer::User), ("project", Layer::Project)] {
        if let Some(rules) = case[key].as_str() {
            let problems = guard.load(key, layer, rules.as_bytes());
            let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            let expected = case["problem"].as_str();
            assert!(told.iter().all(|told| expected.is_some_and(|text| told.starts_with(text))), "{told:?}");
        }
    }
    guard
}

/// What a guard tells of a call.
fn told(guard: &Guard, call: &Call, world: &mut dyn GuardHost) -> Value {
    let (_, changes) = guard.judge_changes(call, world);
    changes.map_or(Value::Null, |changes| serde_json::from_str(&changes.text()).expect("JSON"))
}

#[test]
fn every_call_is_told_of_with_its_changes() {
    let built_in = Guard::new();
    let file = cases!("changes.jsonl");
    assert!(file.text().lines().count() > 150, "there are many");
    file.each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let guard = guard(&built_in, &case);
        let keys = ["files", "links", "scripts"];
        let call = call(&case);
        let mut told = match keys.iter().any(|key| !case[key].is_null()) {
            true => told(&guard, &call, &mut Disk(Rc::new(case.clone()))),
            false => told(&guard, &call, &mut NoHost),
        };
        if let Some(told) = told.as_object_mut() {
            assert_eq!(told.remove("schema"), Some(json!(1)));
        }
        assert_eq!(told, case["changes"]);
    });
}

#[test]
fn what_rules_keep_from_being_read_is_withheld() {
    let built_in = Guard::new();
    cases!("withheld.jsonl").each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let guard = guard(&built_in, &case);
        let paths = case["paths"].as_object().expect("paths");
        let names: Vec<String> = paths.keys().cloned().collect();
        let withheld = guard.withheld(&names, Some("/home/dev"), WORKSPACE);
        let told: serde_json::Map<String, Value> =
            names.into_iter().zip(withheld.into_iter().map(Value::from)).collect();
        assert_eq!(&told, paths);
    });
}

/// What keeps a file from being copied is what keeps a tool from reading it.
#[test]
fn what_is_withheld_is_what_may_not_be_read() {
    const PATHS: &[&str] = &[
        "/home/dev/.ssh/id_rsa",
        "/home/dev/.ssh/id_rsa.pub",
        "/home/dev/.ssh/known_hosts",
        "/home/dev/project/.env",
        "/home/dev/project/.env.example",
        "/home/dev/project/src/a.rs",
        "/home/dev/project/server.pem",
        "/home/dev/.aws/credentials",
        "/home/dev/.bashrc",
        "/home/dev/project/.git/config",
        "/etc/shadow",
        "/etc/hosts",
        "/home/dev/.config/gh/hosts.yml",
        "/home/dev/project/.claude/worktrees/w/.env",
    ];
    let guard = Guard::new();
    for path in PATHS {
        let read = Call {
            kind: ToolKind::Read,
            paths: vec![Field { name: "path".into(), value: (*path).into() }],
            ..call(&json!({}))
        };
        let stopped = guard.judge(&read, &mut NoHost).action().is_some_and(|action| action != Action::Note);
        let withheld = guard.withheld(&[(*path).to_owned()], Some("/home/dev"), WORKSPACE);
        assert_eq!(withheld, [stopped], "{path}");
    }
}

#[test]
fn very_many_paths_are_told_of_quickly() {
    let guard = Guard::new();
    let paths: Vec<String> = (0..20_000).map(|n| format!("{WORKSPACE}/src/module{}/file{n}.rs", n % 100)).collect();
    let start = Instant::now();
    let withheld = guard.withheld(&paths, Some("/home/dev"), WORKSPACE);
    assert!(withheld.len() == paths.len() && !withheld.contains(&true));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn of_too_many_paths_one_is_unknown() {
    let names: Vec<String> = (0..3_000).map(|n| format!("f{n}")).collect();
    let told = told(&Guard::new(), &call(&json!({ "command": format!("touch {}", names.join(" ")) })), &mut NoHost);
    let paths = told["paths"].as_array().expect("paths");
    assert_eq!(paths.len(), 2_000);
    assert!(paths[1_999]["path"].is_null() && paths[..1_999].iter().all(|change| change["path"].is_string()));
}
