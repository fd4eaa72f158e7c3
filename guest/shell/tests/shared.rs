//! The cases of the systems that this crate succeeds, where they are at hand: beside the workspace in `shared/cases`,
//! or in the folder that `TOOLGATE_SHARED` names.
//!
//! Cases whose source is `upstream` hold unless bash itself says otherwise. Those whose source is `probe` record what
//! the originals answer, right or wrong. Every case that is answered otherwise here is in `differences.jsonl` with
//! the reason; a case that is in there and holds after all is a failure, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};
use toolgate_shell::{
    Command, Facts, Script, detect_files, extract_shell_path_hints, normalize_path, parse, resolve_word,
};
use toolgate_test_support::skip::skip;

const DIFFERENCES: &str = include_str!("differences.jsonl");

fn folder() -> PathBuf {
    let shared = std::env::var_os("TOOLGATE_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    shared.unwrap_or_else(beside).join("cases")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// Puts every case of a file to `answer`, which says what is ours and whether that is what the case expects.
fn hold(file: &str, key: &str, answer: impl Fn(&Value) -> (Value, bool)) {
    let path = folder().join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return skip(format!("there are no cases in {}", path.display()));
    };
    let listed: Vec<Value> = lines(DIFFERENCES).into_iter().filter(|line| line["file"] == file).collect();
    let mut unused: Vec<&Value> = listed.iter().collect();
    let mut wrong = Vec::new();
    for case in lines(&text) {
        let (ours, holds) = answer(&case);
        let difference = listed.iter().find(|line| line["command"] == case[key]);
        unused.retain(|line| line["command"] != case[key]);
        match (holds, difference) {
            (true, None) => {}
            (true, Some(_)) => wrong.push(format!("it holds, so it is no difference: {}", case[key])),
            (false, Some(line)) if line["ours"] == ours => {}
            (false, _) => {
                let line = json!({ "file": file, "command": case[key], "ours": ours, "reason": "" });
                wrong.push(format!("{} case\n  {case}\n  {line}", case["source"]));
            }
        }
    }
    wrong.extend(unused.iter().map(|line| format!("there is no such case: {line}")));
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_difference_has_its_reason() {
    for line in lines(DIFFERENCES) {
        assert!(line["reason"].as_str().is_some_and(|reason| reason.len() > 10), "{line}");
    }
}

fn facts(case: &Value) -> Facts {
    let text = |key: &str| case[key].as_str().unwrap_or_default();
    Facts::new(text("cwd")).home(text("home"))
}

#[test]
fn files() {
    hold("bash_file_detector.jsonl", "command", |case| {
        let files = detect_files(case["command"].as_str().expect("a command"), &facts(case));
        let ours = json!({ "written": files.written, "read": files.read });
        let holds = ours["written"] == case["written"] && ours["read"] == case["read"];
        (ours, holds)
    });
}

#[test]
fn hints() {
    hold("shell_path_hints.jsonl", "command", |case| {
        let root = case["workspaceRoot"].as_str().expect("a root");
        let ours = json!(extract_shell_path_hints(case["command"].as_str().expect("a command"), &facts(case), root));
        let holds = ours == case["expected"];
        (ours, holds)
    });
}

#[test]
fn normalized_paths() {
    hold("normalize_path.jsonl", "path", |case| {
        let text = |key: &str| case[key].as_str().expect("text");
        let ours = json!(normalize_path(text("path"), text("workspaceRoot"), None));
        let holds = ours == case["expected"];
        (ours, holds)
    });
}

#[test]
fn resolved_words() {
    hold("resolve_word.jsonl", "word", |case| {
        let env = variables(&case["env"]).into_iter().collect();
        let ours = json!(resolve_word(case["word"].as_str().expect("a word"), &env));
        let holds = ours == case["expected"];
        (ours, holds)
    });
}

#[test]
fn walks() {
    hold("tracker_walk.jsonl", "command", |case| {
        let given = if case["initial_env"].is_null() { &case["process_env_fallback"] } else { &case["initial_env"] };
        let facts = Facts::new(case["initial_cwd"].as_str().unwrap_or_default());
        let facts = variables(given).into_iter().fold(facts, |facts, (name, value)| facts.variable(name, value));
        let script = parse(case["command"].as_str().expect("a command"), &facts);
        let expected = case["expected"].as_array().expect("a list");
        let names = assigned(&script, expected);
        let mut commands = script.commands.iter();
        let mut ours = Vec::new();
        let mut holds = true;
        for one in expected {
            // Ours may have more commands, as more is opened; the order is the same.
            let Some(found) = commands.find(|command| json!(name(command)) == one["name"]) else {
                ours.push(json!(null));
                holds = false;
                continue;
            };
            let mut got = json!({ "name": one["name"] });
            if one["cwd"].is_string() {
                got["cwd"] = json!(found.cwd.as_deref().unwrap_or("unknown"));
                holds &= got["cwd"] == one["cwd"];
            }
            if one["env"].is_object() {
                let known: BTreeMap<&str, &str> =
                    names.iter().filter_map(|name| Some((name.as_str(), found.env.get(name)??))).collect();
                got["env"] = json!(known);
                let theirs: BTreeMap<&str, &str> = one["env"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name.as_str(), value.as_str().expect("text")))
                    .collect();
                holds &= known == theirs;
            }
            ours.push(got);
        }
        (json!(ours), holds)
    });
}

#[test]
fn wrappers() {
    hold("wrapper_expansion.jsonl", "command", |case| {
        let script = parse(case["command"].as_str().expect("a command"), &Facts::default());
        let ours: Vec<(Value, Vec<Value>)> = script.commands.iter().map(argv).collect();
        let holds = case["commands"].as_array().expect("a list").iter().all(|one| {
            let args = one["args"].as_array().expect("a list");
            let same = |(ours, theirs): (&Value, &Value)| ours.is_null() || ours == theirs;
            let fits = |(name, ours): &(Value, Vec<Value>)| {
                *name == one["name"] && ours.len() == args.len() && ours.iter().zip(args).all(same)
            };
            ours.iter().any(fits)
        });
        let ours: Vec<Value> = ours.into_iter().map(|(name, args)| json!({ "name": name, "args": args })).collect();
        (json!(ours), holds)
    });
}

fn variables(env: &Value) -> BTreeMap<String, String> {
    let pairs = env.as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned())).collect()
}

/// The names that a case is about: those that it expects and those that the text sets.
fn assigned(script: &Script, expected: &[Value]) -> BTreeSet<String> {
    let theirs = expected.iter().filter_map(|one| one["env"].as_object()).flatten().map(|(name, _)| name.clone());
    let ours = script.commands.iter().flat_map(|command| &command.assignments).map(|(name, _)| name.clone());
    theirs.chain(ours).collect()
}

fn name(command: &Command) -> Option<&str> {
    command.words.first()?.known()
}

fn argv(command: &Command) -> (Value, Vec<Value>) {
    let args = command.words.iter().skip(1).map(|word| json!(word.known().filter(|_| !word.several)));
    (json!(name(command)), args.collect())
}
