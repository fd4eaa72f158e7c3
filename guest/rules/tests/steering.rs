//! The rule model of pi-steering: its own cases where they lie, and ours in `steering.jsonl`.
//!
//! Its cases lie beside the project in some checkouts. Where a verdict is meant to be another one, `steering-differences.jsonl`
//! has the case and the reason. What its cases leave out, the observers that were there, is in `steering-observers.jsonl`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolgate_rules::call::{Action, Call, Events, Field, ToolKind, contents};
use toolgate_rules::{Guard, Layer, NoHost, Outcome, override_reason};
use toolgate_test_support::cases;
use toolgate_test_support::skip::skip;

fn shared(name: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases").join(name);
    std::fs::read_to_string(&path).inspect_err(|_| skip(format!("{} is not there", path.display()))).ok()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

/// A call of a tool with this input.
fn call(tool: &str, input: &Value, cwd: &str) -> Call {
    let field = |key: &str| input[key].as_str().map(|value| Field { name: key.to_owned(), value: value.to_owned() });
    Call {
        tool: tool.to_owned(),
        kind: match tool {
            "bash" => ToolKind::Shell,
            "read" => ToolKind::Read,
            "write" | "edit" => ToolKind::Write,
            _ => ToolKind::Other,
        },
        edits: tool == "edit",
        command: field("command"),
        paths: field("path").into_iter().collect(),
        contents: if matches!(tool, "write" | "edit") { contents(&input.to_string()) } else { Vec::new() },
        cwd: cwd.to_owned(),
        home: Some("/home/dev".to_owned()),
        workspace: "/home/dev/project".to_owned(),
        events: Some(Events::default()),
        ..Call::default()
    }
}

/// A guard with these rules of the user's and none of ours, and what was wrong with them.
fn guard(rules: &Value, layer: Layer) -> (Guard, Vec<String>) {
    let mut guard = Guard::new();
    guard.choose(&["-all".to_owned()]);
    let problems = guard.load("rules.yaml", layer, rules.to_string().as_bytes());
    (guard, problems.into_iter().map(|problem| problem.message).collect())
}

/// A value of a case: its regular expressions are texts here, and its keys are written as ours.
fn value(theirs: &Value) -> Value {
    match theirs {
        Value::Object(entries) => match entries.get("re") {
            Some(pattern) => pattern.clone(),
            None => entries.iter().map(|(key, one)| (key.clone(), value(one))).collect(),
        },
        Value::Array(items) => items.iter().map(value).collect(),
        other => other.clone(),
    }
}

/// A rule set of theirs as a rule file of the user's.
fn rule_file(rules: &Value, observers: &Value, no_override: bool) -> Value {
    let mut overrides = Vec::new();
    for rule in rules.as_array().expect("a list of rules") {
        if !rule["noOverride"].as_bool().unwrap_or(no_override) {
            overrides.push(rule["name"].clone());
        }
    }
    let mut file = json!({ "rules": value(rules), "observers": observers });
    if !overrides.is_empty() {
        file["overrides"] = overrides.into();
    }
    file
}

fn stops(guard: &Guard, call: &Call) -> bool {
    matches!(guard.judge(call, &mut NoHost).action(), Some(Action::Ask | Action::Block))
}

/// Cases of a file whose verdicts are meant to be others, with the reason.
fn differences(file: &str) -> BTreeMap<u64, String> {
    let all = lines(include_str!("steering-differences.jsonl")).into_iter().filter(|one| one["file"] == file);
    all.map(|one| (one["case"].as_u64().expect("a number"), one["reason"].as_str().expect("a reason").to_owned()))
        .collect()
}

/// Compares what was found with what is listed: neither may have more than the other.
fn compare(file: &str, differ: BTreeMap<u64, String>) {
    let listed = differences(file);
    assert!(listed.values().all(|reason| reason.len() > 20), "a reason is a sentence");
    let unlisted: Vec<_> = differ.iter().filter(|(case, _)| !listed.contains_key(case)).collect();
    let settled: Vec<_> = listed.iter().filter(|(case, _)| !differ.contains_key(case)).collect();
    assert!(unlisted.is_empty() && settled.is_empty(), "not listed: {unlisted:#?}\nno longer so: {settled:#?}");
}

#[test]
fn its_rules_get_its_verdicts_but_for_those_listed() {
    let Some(text) = shared("steering_rules.json") else { return };
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let observers = lines(include_str!("steering-observers.jsonl"));
    let cases = all["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 115);
    let mut differ = BTreeMap::new();
    for (number, case) in (0u64..).zip(cases) {
        let set = case["rules"].as_str().expect("a rule set");
        let there = |one: &&Value| match one["case"].as_u64() {
            Some(only) => only == number,
            None => one["rules"] == set,
        };
        // What is said of one case goes before what is said of all of its rules.
        let there = observers.iter().filter(there).min_by_key(|one| one["case"].is_null());
        let there = there.map_or(json!([]), |one| one["observers"].clone());
        let file = rule_file(&all["rule_sets"][set], &there, case["default_no_override"] == true);
        let (guard, problems) = guard(&file, Layer::User);
        let tool = case["tool"].as_str().expect("a tool");
        let mut call = call(tool, &case["input"], case["cwd"].as_str().expect("a directory"));
        call.home = case["env"]["HOME"].as_str().map(str::to_owned);
        let verdict = guard.judge(&call, &mut NoHost);
        let blocks = matches!(verdict.action(), Some(Action::Block));
        let expected = case["expected"]["block"] == true;
        let rule =
            case["expected"]["reason"].as_str().and_then(|text| text.strip_prefix("[steering:")?.split_once('@'));
        let right = blocks == expected
            && rule.is_none_or(|(rule, _)| {
                verdict.findings.iter().any(|one| one.action == Action::Block && one.rule == format!("user:{rule}"))
            });
        if !right {
            let input = &case["input"];
            differ.insert(
                number,
                format!("{input}: blocks {blocks}, not {expected}; {problems:?} {:?}", verdict.findings),
            );
        }
    }
    compare("steering_rules.json", differ);
}

#[test]
fn its_comments_give_its_reasons() {
    let Some(text) = shared("override_comment.json") else { return };
    let cases: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    assert_eq!(cases.len(), 12);
    for case in cases {
        let found = override_reason(case["text"].as_str().expect("a text"), case["rule"].as_str().expect("a rule"));
        assert_eq!(found, case["expected_reason"].as_str(), "{case}");
    }
}

/// By its own pattern, and by a rule that says what is meant.
#[test]
fn force_pushes_are_found_by_pattern_and_by_meaning() {
    let Some(text) = shared("force_push_matrix.jsonl") else { return };
    let pattern = r"^git\b(?:\s+-{1,2}[A-Za-z]\S*(?:\s+\S+)?)*\s+push\b.*--force(?!-with-lease)";
    let rules = [
        ("pattern", json!({ "rules": [{ "name": "r", "pattern": pattern }] })),
        (
            "meaning",
            json!({ "rules": [{ "name": "r", "program": "git", "subcommand": "push", "flags": ["--force", "-f"] }] }),
        ),
    ];
    for (how, rules) in rules {
        let (guard, problems) = guard(&rules, Layer::User);
        assert_eq!(problems, [""; 0], "{how}");
        let mut differ = BTreeMap::new();
        for (number, case) in (0..).zip(lines(&text)) {
            let call = call("bash", &case, "/home/dev/project");
            let verdict = guard.judge(&call, &mut NoHost);
            let stops = verdict.findings.iter().any(|one| one.rule == "user:r");
            if stops != (case["expected"] == "BLOCK") {
                differ.insert(number, format!("{case}: {:?}", verdict.findings));
            }
        }
        compare(&format!("force_push_matrix.jsonl by {how}"), differ);
    }
}

/// Our own cases: rules of the user's and of the project's, what has happened, a call, and whether it is stopped; or what
/// came of a call, and which events it writes.
#[test]
fn our_cases() {
    let mut without_packs = Guard::new();
    without_packs.choose(&["-all".to_owned()]);
    cases!("steering.jsonl").each(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let mut guard = without_packs.clone();
        for (key, layer) in [("user", Layer::User), ("project", Layer::Project)] {
            if let Some(rules) = case[key].as_str() {
                assert_eq!(guard.load(key, layer, rules.as_bytes()), []);
            }
        }
        let tool = case["tool"].as_str().unwrap_or("bash");
        let mut call = call(tool, &case, case["cwd"].as_str().unwrap_or("/home/dev/project"));
        call.contents = case["content"]
            .as_str()
            .map(|text| Field { name: "content".into(), value: text.into() })
            .into_iter()
            .collect();
        call.events = match &case["events"] {
            Value::Null => Some(Events { turn: 2, ..Events::default() }),
            Value::String(_) => None,
            list => Events::read(&json!({ "turn": 2, "list": list })),
        };
        let found = match case.get("writes") {
            None => json!(stops(&guard, &call)),
            Some(_) => {
                let exit_code = case["exit"].as_i64().and_then(|code| i32::try_from(code).ok());
                let outcome = Outcome { exit_code, is_error: case["failed"] == true };
                let entries = guard.witness(&call, outcome, &mut NoHost).into_iter();
                entries.map(|one| if one.certain { one.event } else { format!("{}?", one.event) }).collect()
            }
        };
        let expected = case.get("writes").unwrap_or(&case["stops"]);
        assert_eq!(found, *expected);
    });
}
