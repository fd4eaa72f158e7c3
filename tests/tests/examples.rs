//! The example plugins and the templates, as their languages' own tools have built them, in the real host.

#![allow(clippy::print_stdout, reason = "says what was measured")]

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};
use toolgate_host::capability::{Denied, Recording};
use toolgate_host::{
    Analysis, Capabilities, Decision, Engine, Extension, Gate, Observer, Plugin, Session, ToolCall, ToolKind,
    ToolResult, Truth,
};
use toolgate_test_support::skip::skip;
use toolgate_tests::{builtin, root, target};

const FOLDER: &str = "/home/dev/project";

/// A plugin that `.ci/plugins` has built; none if it is not built; the test is then skipped.
fn plugin(engine: &Engine, name: &str, language: &str) -> Option<Plugin> {
    let folder = target().join("plugins");
    let left_out = std::fs::read_to_string(folder.join("left-out")).unwrap_or_default();
    if let Some(line) = left_out.lines().find(|line| line.starts_with(&format!("{language}: "))) {
        skip(format!("{name}: {line}"));
        return None;
    }
    let file = folder.join(format!("{name}.wasm"));
    if !file.exists() && std::env::var_os("CI").is_none() {
        skip(format!("{name} is not built; `just plugins` does that"));
        return None;
    }
    let built = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}; run `just plugins`", file.display()));
    let component = toolgate_bake::componentize(&built).expect("a component");
    let started = Instant::now();
    let plugin = Plugin::compile(engine, name, &component).expect("the host takes it");
    println!("{name}: {} KiB, compiled in {:?}", component.len() >> 10, started.elapsed());
    Some(plugin)
}

/// What a plugin asks for and what it answers, without the contract's name and version. Some languages export more, for
/// their own tools.
fn interfaces(plugin: &Plugin) -> (Vec<String>, Vec<String>) {
    let short = |name: &str| Some(name.strip_prefix("toolgate:plugin/")?.split('@').next()?.to_owned());
    let imports = plugin.description().imports.iter().map(|import| short(&import.name).expect("only the contract"));
    let exports = plugin.description().exports.iter().filter_map(|name| short(name));
    let (mut imports, mut exports): (Vec<_>, Vec<_>) = (imports.collect(), exports.collect());
    imports.sort();
    exports.sort();
    (imports, exports)
}

/// The cases of a folder.
fn cases(folder: &str) -> Vec<Value> {
    let file: PathBuf = root().join(folder).join("cases.yaml");
    let text = std::fs::read_to_string(&file).expect("the cases");
    serde_saphyr::from_str(&text).expect("cases are YAML")
}

/// A call as the host hands it to plugins: with the analysis of its shell text.
async fn call(analysis: &Analysis, tool: &str, input: &Value) -> ToolCall {
    let Some(command) = input["command"].as_str().filter(|_| tool == "bash") else {
        return ToolCall::new(tool, ToolKind::Write, FOLDER).with_input(input.to_string());
    };
    let walked = analysis.walk(&json!({ "command": command, "cwd": FOLDER }).to_string()).await.expect("an answer");
    let walked: Value = serde_json::from_str(&walked).expect("JSON");
    let context = json!({ "schema": 1, "analysis": walked }).to_string();
    ToolCall::shell(command, FOLDER).with_context(context)
}

fn analysis(engine: &Engine) -> Analysis {
    let guard = builtin(engine).expect("the guard");
    Analysis::new(guard, Session::in_folder(FOLDER), Capabilities::denied())
}

fn holds(pattern: &Value, text: &str) -> bool {
    let pattern = pattern.as_str().expect("a pattern");
    fancy_regex::Regex::new(pattern).expect("a pattern").is_match(text).unwrap_or(false)
}

/// Puts a gate through its cases. None if it was left out.
async fn judges(name: &str, language: &str, folder: &str) -> Option<Gate> {
    let engine = Engine::new().expect("an engine");
    let plugin = plugin(&engine, name, language)?;
    assert_eq!(interfaces(&plugin).1, ["lifecycle", "tool-gate"], "{name}");
    let gate = Gate::new(plugin, Session::in_folder(FOLDER), Capabilities::denied());
    let started = Instant::now();
    gate.start().await.expect("it starts with nothing granted");
    println!("{name}: started in {:?}", started.elapsed());
    let analysis = analysis(&engine);
    let cases = cases(folder);
    let started = Instant::now();
    for case in &cases {
        let call = match case["command"].as_str() {
            Some(command) => call(&analysis, "bash", &json!({ "command": command })).await,
            None => call(&analysis, case["call"]["tool"].as_str().unwrap_or_default(), &case["call"]["input"]).await,
        };
        let verdict = gate.judge(&call).await;
        let (decision, reason) = match verdict.decision {
            Decision::Pass => ("pass", String::new()),
            Decision::Ask(question) => ("ask", question),
            Decision::Block(reason) => ("block", reason),
            Decision::Rewrite(input) => ("rewrite", input),
        };
        assert_eq!(case["expect"], decision, "{name}: {}: {reason}", case["name"]);
        assert!(case["reason"].is_null() || holds(&case["reason"], &reason), "{name}: {}: {reason}", case["name"]);
        for evidence in verdict.findings.iter().flat_map(|finding| &finding.evidence) {
            let text = call.command.as_ref().map_or("", |field| &field.value);
            assert_eq!(text.get(evidence.start as usize..evidence.end as usize), Some(&*evidence.text), "{name}");
        }
    }
    println!("{name}: {} verdicts with their analyses in {:?}", cases.len(), started.elapsed());
    Some(gate)
}

#[tokio::test]
async fn the_gate_in_javascript() {
    let Some(gate) = judges("js-gate", "js", "guest/examples/js-gate").await else { return };
    // Without an analysis nothing is known of the text.
    let verdict = gate.judge(&ToolCall::shell("ls", FOLDER)).await;
    assert!(matches!(verdict.decision, Decision::Ask(_)), "{verdict:?}");
}

#[tokio::test]
async fn the_template_in_rust() {
    judges("rust", "rust", "guest/sdk/templates/rust").await;
}

#[tokio::test]
async fn the_template_in_python() {
    judges("python", "python", "guest/sdk/templates/python").await;
}

#[tokio::test]
async fn the_template_in_javascript() {
    judges("js", "js", "guest/sdk/templates/js").await;
}

#[tokio::test]
async fn the_observer_in_python() {
    let engine = Engine::new().expect("an engine");
    let Some(plugin) = plugin(&engine, "python-observer", "python") else { return };
    assert_eq!(interfaces(&plugin).1, ["lifecycle", "tool-observer"]);
    let journal = Recording::new(Denied);
    let capabilities = Capabilities::denied().journal(journal.clone());
    let observer = Observer::new(plugin, Session::in_folder(FOLDER), capabilities);
    let started = Instant::now();
    observer.start().await.expect("it starts");
    println!("python-observer: started in {:?}", started.elapsed());
    let analysis = analysis(&engine);
    for case in cases("guest/examples/python-observer") {
        let added = observer.observe(&result(&analysis, &case["result"]).await).await;
        match added {
            Some(added) => assert!(holds(&case["adds"], &added.text), "{}: {added:?}", case["name"]),
            None => assert!(case["adds"].is_null(), "{}", case["name"]),
        }
    }
    // Of the cases one is a run that passed. It was refused, and that changes nothing.
    assert_eq!(journal.requests().len(), 1, "{:?}", journal.requests());
    for (command, output, exit_code, noted) in [
        ("pytest -q", "12 passed in 0.50s", Some(0), true),
        ("pytest -q", "12 passed in 0.50s", None, true),
        ("python3 -m pytest", "=== 12 passed, 1 skipped in 0.50s ===", Some(0), true),
        ("cargo test", "test result: ok. 3 passed; 0 failed\ntest result: ok. 0 passed; 0 failed", Some(0), true),
        ("cargo test", "test result: ok. 0 passed; 0 failed", Some(0), false),
        ("cargo test", "test result: ok. 3 passed; 0 failed\ntest result: FAILED. 1 passed; 1 failed", Some(0), false),
        ("pytest --version", "pytest 8.0", Some(0), false),
        ("pytest -q", "1 failed, 11 passed in 0.50s", Some(1), false),
        ("pytest -q; true", "12 passed in 0.50s", Some(0), false),
        ("./pytest", "12 passed in 0.50s", Some(0), false),
        ("PATH=. pytest", "12 passed in 0.50s", Some(0), false),
        ("echo '12 passed in 0.50s'", "12 passed in 0.50s", Some(0), false),
    ] {
        let before = journal.requests().len();
        let outcome =
            json!({ "tool": "bash", "input": { "command": command }, "output": output, "exit_code": exit_code });
        observer.observe(&result(&analysis, &outcome).await).await;
        assert_eq!(journal.requests().len() > before, noted, "{command}: {output}");
    }
    assert!(journal.requests().iter().all(|request| request.contains("tests-passed")), "{:?}", journal.requests());
}

async fn result(analysis: &Analysis, outcome: &Value) -> ToolResult {
    let call = call(analysis, outcome["tool"].as_str().unwrap_or_default(), &outcome["input"]).await;
    let result = ToolResult::new(call, outcome["output"].as_str().unwrap_or_default());
    let code = outcome["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok());
    result.failed(outcome["is_error"] == true).with_exit_code(code)
}

#[tokio::test]
async fn the_tracker_and_the_predicate_in_rust() {
    let engine = Engine::new().expect("an engine");
    let Some(plugin) = plugin(&engine, "kubectl", "rust") else { return };
    let (imports, exports) = interfaces(&plugin);
    // What is not used is not asked for, and what is not named is not exported.
    assert_eq!(imports, ["log", "types"]);
    assert_eq!(exports, ["lifecycle", "predicates", "trackers"]);
    let extension = Extension::new(plugin, Session::in_folder(FOLDER), Capabilities::denied());
    let started = Instant::now();
    let (trackers, predicates) = extension.provided().await.expect("what it has");
    println!("kubectl: started in {:?}", started.elapsed());
    let read = |text: Option<String>| serde_json::from_str::<Value>(&text.expect("a text")).expect("JSON");
    let (trackers, predicates) = (read(trackers), read(predicates));
    assert_eq!(trackers["schema"], 1);
    let names: Vec<&Value> = trackers["trackers"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["kube-context", "kube-current"]);
    assert_eq!(trackers["trackers"][0]["initial"], Value::Null);
    assert_eq!(
        trackers["trackers"][0]["modifiers"][0],
        json!({ "program": "kubectl", "scope": "per-command", "reads": ["env.KUBECONFIG"] })
    );
    assert_eq!(predicates["predicates"][0]["name"], "production");

    let started = Instant::now();
    for (tracker, program, words, after) in [
        ("kube-context", "kubectl", json!(["--context", "prod", "delete"]), json!("prod")),
        ("kube-context", "kubectl", json!(["--context", null, "delete"]), Value::Null),
        ("kube-current", "kubectx", json!(["prod"]), json!("prod")),
        ("unheard-of", "kubectl", json!(["--context", "prod"]), Value::Null),
    ] {
        let words = words.as_array().expect("a list").iter();
        let words: Vec<Value> = words.map(|value| json!({ "text": value, "value": value })).collect();
        let state = json!({ "env.KUBECONFIG": null });
        let request = json!({
            "schema": 1, "tracker": tracker, "program": program, "words": words, "before": null, "state": state,
        });
        let answer = extension.modify(&request.to_string()).await.expect("an answer");
        assert_eq!(read(Some(answer)), json!({ "schema": 1, "after": after }), "{request}");
    }
    println!("kubectl: 4 modifiers in {:?}", started.elapsed());
    assert!(extension.modify("{").await.is_err());

    let analysis = analysis(&engine);
    for (command, expected) in [
        ("kubectl --context prod -n web delete pod x", Truth::Yes),
        ("kubectl --context dev -n web delete pod x", Truth::No),
        ("kubectl --context dev delete pod x -n \"$N\"", Truth::Unknown),
        ("KUBECONFIG=/tmp/c kubectl --context dev -n web delete pod x", Truth::Unknown),
        ("export KUBECONFIG=$(mktemp); kubectl --context dev -n web delete pod x", Truth::Unknown),
        ("ssh host kubectl --context dev -n web delete pod x", Truth::Unknown),
    ] {
        let call = call(&analysis, "bash", &json!({ "command": command })).await;
        let context: Value = serde_json::from_str(&call.context).expect("JSON");
        let command = context["analysis"]["commands"].as_array().and_then(|commands| commands.last());
        let request = json!({
            "schema": 1, "arguments": { "contexts": ["prod*"], "namespaces": ["payments"] }, "command": command,
            "workspace_root": FOLDER, "home": null,
        });
        let answer = extension.evaluate("production", &request.to_string()).await.expect("an answer");
        assert_eq!(answer, expected, "{command:?}");
    }
    assert_eq!(extension.evaluate("production", "{").await.expect("an answer"), Truth::Unknown);
}
