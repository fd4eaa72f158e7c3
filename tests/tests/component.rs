//! The component that ships: what it may reach, and that it says what the logic says without WebAssembly.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolgate_guest::analysis;
use toolgate_host::capability::{LocalFiles, Recording};
use toolgate_host::{
    Analysis, CallError, Capabilities, Decision, Digest, Engine, Field, FileAction, FileEffect, Gate, Level, Session,
    ToolCall, ToolKind,
};
use toolgate_rules::{Guard, NoHost};
use toolgate_tests::{builtin, component, corpus, native_verdict, test_guest, tool_call};
use wit_component::DecodedWasm;

/// Read from the bytes, not from what the host makes of them.
#[test]
fn it_imports_nothing_but_the_contract() {
    let decoded = wit_component::decode(&component()).expect("a component");
    let DecodedWasm::Component(resolve, world) = decoded else { panic!("not a component") };
    let imports: Vec<String> = resolve.worlds[world].imports.keys().map(|key| resolve.name_world_key(key)).collect();
    assert!(!imports.is_empty());
    for import in imports {
        assert!(import.starts_with("toolgate:plugin/"), "the guest imports {import}");
    }
}

#[test]
fn what_is_embedded_is_what_the_recipe_made() {
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    assert_eq!(plugin.description().component, Digest::of(&component()));
}

/// The whole verdict: the decision with its text, every finding with its places, and what is wrong with rules.
#[tokio::test]
async fn it_says_what_the_logic_says() {
    let engine = Engine::new().expect("an engine");
    let plugin = builtin(&engine).expect("the default plugin");
    let gate = |granted| Gate::new(plugin.clone(), Session::in_folder("/home/dev/project"), granted);
    // As without WebAssembly, nothing is known of files.
    let without_rules = gate(Capabilities::denied());
    let corpus = corpus();
    assert!(corpus.len() > 2_000, "{}", corpus.len());
    let native = Guard::new();
    for case in corpus {
        let (call, (expected, wrong)) = (tool_call(&case), native_verdict(&native, &case));
        let Some(text) = case["rules"].as_str() else {
            assert_eq!(without_rules.judge(&call).await, expected, "{case}");
            continue;
        };
        let folder = tempfile::tempdir().expect("a scratch folder");
        // Named as in the other test, as findings name no file but problems do.
        let rules = folder.path().join("rules.yaml");
        std::fs::write(&rules, text).expect("a rule file");
        let gate = gate(Capabilities::denied().files(LocalFiles::new().project_rules(&rules)));
        let said = gate.start().await.expect("it starts").diagnostics.into_iter();
        assert_eq!(said.map(|one| (one.line, one.message)).collect::<Vec<_>>(), wrong, "{case}");
        assert_eq!(gate.judge(&call).await, expected, "{case}");
    }
}

/// The code is in the program once, however many plugins are made of it and in whatever order they go.
#[tokio::test]
async fn the_embedded_code_is_loaded_any_number_of_times() {
    let gate = |engine: &Engine| {
        let plugin = toolgate_tests::builtin(engine).expect("the default plugin");
        Gate::new(plugin, Session::in_folder("/project"), Capabilities::denied())
    };
    let call = ToolCall::shell("rm -rf /", "/project");
    let (engine, other) = (Engine::new().expect("an engine"), Engine::new().expect("another engine"));
    let gates = [gate(&engine), gate(&engine), gate(&other)];
    drop(gate(&engine));
    for gate in gates {
        assert!(matches!(gate.judge(&call).await.decision, Decision::Block(_)));
        drop(gate);
    }
    assert!(matches!(gate(&engine).judge(&call).await.decision, Decision::Block(_)));
}

#[tokio::test]
async fn paths_are_judged_by_where_they_lead() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let project = folder.path().canonicalize().expect("its real path");
    let at = |path: &str| project.join(path).display().to_string();
    std::fs::create_dir(at("vault")).expect("a folder");
    std::fs::write(at("rules.yaml"), "zeroAccessPaths: [vault/]\nreadOnlyPaths: [frozen]").expect("rules");
    symlink("vault", at("innocent")).expect("a link");
    symlink("frozen", at("dangling")).expect("a link to nothing");
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let files = Recording::new(LocalFiles::new().project_rules(at("rules.yaml")));
    let session = Session::in_folder(project.display().to_string());
    let gate = Gate::new(plugin, session, Capabilities::denied().files(files.clone()));
    let cases = [
        ("cat vault/key", true),
        ("cat innocent/key", true),
        ("cd innocent && cat key", true),
        ("echo x > dangling", true),
        ("cat dangling", false),
        ("cat other/key", false),
    ];
    for (command, blocked) in cases {
        let verdict = gate.judge(&ToolCall::shell(command, project.display().to_string())).await;
        assert_eq!(matches!(verdict.decision, Decision::Block(_)), blocked, "{command}: {verdict:?}");
    }
    assert!(files.requests().iter().any(|request| request.starts_with("files.resolve")), "{:?}", files.requests());
}

#[tokio::test]
async fn rule_files_that_cannot_be_used_are_reported_and_the_rest_holds() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |path: &str| folder.path().join(path);
    std::fs::write(at("partly.yaml"), "bashToolPatterns:\n- pattern: '('\n- pattern: deploy\n").expect("rules");
    std::fs::write(at("broken.yaml"), "a: [").expect("rules");
    std::fs::write(at("binary.yaml"), b"\xff\xfe\0").expect("rules");
    std::fs::write(at("large.yaml"), vec![b'#'; (1 << 20) + 1]).expect("rules");
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let cases = [
        ("missing.yaml", None, false),
        ("partly.yaml", Some((Level::Warning, Some(2))), true),
        ("broken.yaml", Some((Level::Error, Some(1))), false),
        ("binary.yaml", Some((Level::Error, Some(1))), false),
        ("large.yaml", Some((Level::Error, None)), false),
        (".", Some((Level::Error, None)), false),
    ];
    for (file, problem, deploy_blocked) in cases {
        let granted = Capabilities::denied().files(LocalFiles::new().user_rules(at(file)));
        let gate = Gate::new(plugin.clone(), Session::in_folder("/project"), granted);
        let diagnostics = gate.start().await.expect("it starts").diagnostics;
        let found = diagnostics.first().map(|one| (one.level, one.line));
        assert_eq!(found, problem, "{file}: {diagnostics:?}");
        let named = |one: &toolgate_host::Diagnostic| one.file.as_deref() == at(file).to_str();
        assert!(diagnostics.iter().all(named), "{diagnostics:?}");
        let blocked = |verdict: toolgate_host::Verdict| matches!(verdict.decision, Decision::Block(_));
        assert_eq!(blocked(gate.judge(&ToolCall::shell("make deploy", "/project")).await), deploy_blocked, "{file}");
        assert!(blocked(gate.judge(&ToolCall::shell("rm -rf /", "/project")).await), "{file}");
    }
}

/// Hostile texts must not bring the component down: each is answered by itself, not by the host's failure policy.
#[tokio::test]
async fn hostile_texts_are_answered_by_the_component_itself() {
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let gate = Gate::new(plugin, Session::in_folder("/project"), Capabilities::denied());
    let cases = [
        format!("{}rm -rf /{}", "( ".repeat(40), " )".repeat(40)),
        format!("{}rm -rf /{}", "$(".repeat(40), ")".repeat(40)),
        format!("{}rm -rf /{}", "if a; then ".repeat(40), "; fi".repeat(40)),
        format!("{}rm -rf /{}", "{ ".repeat(40), "; }".repeat(40)),
        format!("{}rm -rf /{}", "( ".repeat(5_000), " )".repeat(5_000)),
        format!("{}rm -rf /{}", "\"$(".repeat(20), ")\"".repeat(20)),
        "echo 2147483648>f; rm -rf /".to_owned(),
        format!("{}; rm -rf /", "echo x; ".repeat(5_000)),
    ];
    for command in cases {
        let verdict = gate.judge(&ToolCall::shell(&command, "/project")).await;
        let own = verdict.findings.iter().all(|finding| !finding.rule.starts_with("host:"));
        let start: String = command.chars().take(40).collect();
        assert!(own && matches!(verdict.decision, Decision::Block(_)), "{start}: {verdict:?}");
    }
}

/// What is not written as the contract says lifts nothing, and hides nothing of what is.
#[tokio::test]
async fn a_key_of_a_context_that_is_wrong_counts_as_absent() {
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let gate = Gate::new(plugin, Session::in_folder("/project"), Capabilities::denied());
    // The context, and whether only path rules count by it.
    let cases = [
        ("", false),
        ("no JSON", false),
        ("[true]", false),
        (r#"{"paths_only": 1}"#, false),
        (r#"{"paths_only": null, "memory": 5, "shell": [], "events": "x"}"#, false),
        (r#"{"paths_only": true}"#, true),
        (r#"{"workspace_names": null, "typed_unseen": "x", "memory": [], "shell": 1, "paths_only": true}"#, true),
    ];
    for (context, paths_only) in cases {
        let judged = async |command: &str| {
            gate.judge(&ToolCall::shell(command, "/project").with_context(context)).await.decision
        };
        let pushed = judged("git push --force").await;
        assert_eq!(matches!(pushed, Decision::Pass), paths_only, "{context}: {pushed:?}");
        assert!(matches!(judged("cat /home/dev/.ssh/id_rsa").await, Decision::Block(_)), "{context}");
    }
}

/// What a call does is no such key: what cannot be read of it stops the call, whatever is wrong with the others.
#[tokio::test]
async fn what_cannot_be_read_of_a_calls_effects_stops_it() {
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let gate = Gate::new(plugin, Session::in_folder("/project"), Capabilities::denied());
    let remove = |path: &str| format!(r#"{{"effect": "remove", "paths": [{{"name": "p", "value": "{path}"}}]}}"#);
    // The context, and whether the call is stopped by it.
    let cases = [
        (r#"{"paths_only": 1}"#.to_owned(), false),
        (r#"{"effects": null}"#.to_owned(), false),
        (r#"{"effects": []}"#.to_owned(), false),
        (format!(r#"{{"effects": [{}]}}"#, remove("build")), false),
        (format!(r#"{{"effects": [{}]}}"#, remove("/etc/passwd")), true),
        (format!(r#"{{"memory": 5, "events": "x", "shell": [], "effects": [{}]}}"#, remove("/etc/passwd")), true),
        (format!(r#"{{"effects": [1, {}]}}"#, remove("build")), true),
        (r#"{"effects": {}}"#.to_owned(), true),
        (r#"{"effects": "remove"}"#.to_owned(), true),
        (r#"{"effects": [{"effect": "shred", "paths": []}]}"#.to_owned(), true),
    ];
    for (context, stops) in cases {
        let call = ToolCall::new("mcp__x__go", ToolKind::Other, "/project").with_context(&context);
        let verdict = gate.judge(&call).await;
        assert_eq!(verdict.decision != Decision::Pass, stops, "{context}: {verdict:?}");
    }
}

/// What the host says of a tool is what the component reads.
#[tokio::test]
async fn the_effects_of_a_call_are_judged_and_analysed() {
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let gate = Gate::new(plugin.clone(), Session::in_folder("/project"), Capabilities::denied());
    let actions = [
        FileAction::Remove,
        FileAction::Move,
        FileAction::Copy,
        FileAction::Unpack,
        FileAction::Write,
        FileAction::Read,
        FileAction::Search,
        FileAction::List,
    ];
    for action in actions {
        let effect = |path: &str| {
            let effect = FileEffect::new(action, vec![Field::new("files/0", path)]).recursively();
            let puts = matches!(action, FileAction::Move | FileAction::Copy | FileAction::Unpack);
            if puts { effect.with_target(Field::new("to", "/project/b")) } else { effect }
        };
        for (path, stops) in [("a", false), ("/etc/shadow", true)] {
            let call = ToolCall::new("mcp__x__go", ToolKind::Other, "/project").with_effects(vec![effect(path)]);
            let verdict = gate.judge(&call).await;
            assert_eq!(verdict.decision != Decision::Pass, stops, "{action:?} {path}: {verdict:?}");
            let evidence = verdict.findings.iter().flat_map(|finding| &finding.evidence);
            assert!(evidence.into_iter().all(|one| one.field == "files/0" || one.field == "to"), "{verdict:?}");
        }
        let asked = Analysis::new(plugin.clone(), Session::in_folder("/project"), Capabilities::denied());
        let request = json!({"command": "ls", "cwd": "/project", "effects": [effect("a")]}).to_string();
        let walked: Value = serde_json::from_str(&asked.walk(&request).await.expect("an answer")).expect("JSON");
        assert_eq!(walked["commands"][0]["name"], Value::Null, "{walked}");
        assert_eq!(walked["commands"][0]["effects"][0]["path"], "/project/a", "{walked}");
        assert_eq!(walked["commands"][1]["name"], "ls", "{walked}");
    }
}

#[tokio::test]
async fn analyses_are_those_of_the_logic() {
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let asked = Analysis::new(plugin, Session::in_folder("/project"), Capabilities::denied());
    let commands =
        ["", "cd src && sudo rm -rf \"$X\" > log", "for f in a b; do cp $f ../$f; done", "echo 'open", "touch é"];
    for command in commands {
        let request = json!({"command": command, "cwd": "/project/src", "workspace_root": "/project", "id": 1});
        let request = request.to_string();
        assert_eq!(asked.walk(&request).await.ok(), analysis::walk(&request, None, None).ok(), "{command}");
        assert_eq!(asked.files(&request).await.ok(), analysis::files(&request, None, None).ok(), "{command}");
        assert_eq!(asked.hints(&request).await.ok(), analysis::hints(&request, None, None).ok(), "{command}");
        let explained = analysis::explain(&request, &Guard::new(), &mut NoHost);
        assert_eq!(asked.explain(&request).await.ok(), explained.ok(), "{command}");
    }
}

#[tokio::test]
async fn an_analysis_knows_what_exists_if_it_may_look() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let project = folder.path().canonicalize().expect("its real path").display().to_string();
    std::fs::create_dir(format!("{project}/sub")).expect("a folder");
    std::fs::write(format!("{project}/file"), "x").expect("a file");
    symlink("sub", format!("{project}/link")).expect("a link");
    let plugin = builtin(&Engine::new().expect("an engine")).expect("the default plugin");
    let files = Recording::new(LocalFiles::new());
    let session = Session::in_folder(&project);
    let looking = Analysis::new(plugin.clone(), session.clone(), Capabilities::denied().files(files.clone()));
    let blind = Analysis::new(plugin, session, Capabilities::denied());
    let cases = [
        ("cp file sub", "sub/file", "sub"),
        ("cp file link", "link/file", "link"),
        ("cp file none", "none", "none"),
        ("cd none && touch a || touch b", "b", "none/a"),
    ];
    for (command, with, without) in cases {
        for (asked, expected) in [(&looking, with), (&blind, without)] {
            let request = json!({"command": command, "cwd": project}).to_string();
            let answer: Value = serde_json::from_str(&asked.files(&request).await.expect("an answer")).expect("JSON");
            assert_eq!(answer["written"][0], format!("{project}/{expected}"), "{command}: {answer}");
        }
    }
    // However many paths a text names, the host is not asked more often than it allows.
    let many = (0..3_000).map(|n| format!("rm d{n}/f; ")).collect::<String>();
    let request = json!({"command": many, "cwd": project}).to_string();
    assert!(looking.walk(&request).await.is_ok());
    let asked = files.requests().len();
    assert!(asked < 1_000, "{asked} requests");
}

#[tokio::test]
async fn an_analysis_that_fails_is_an_error_and_the_next_one_works() {
    let engine = Engine::new().expect("an engine");
    let asked = Analysis::new(
        builtin(&engine).expect("the default plugin"),
        Session::in_folder("/project"),
        Capabilities::denied(),
    );
    let good = json!({"command": "touch a", "cwd": "/project"}).to_string();
    for bad in ["", "{}", r#"{"command": "a", "cwd": 1}"#] {
        assert!(matches!(asked.walk(bad).await, Err(CallError::Request(why)) if !why.is_empty()), "{bad}");
        assert!(asked.files(&good).await.is_ok(), "after {bad}");
    }
    let long = json!({"command": "x".repeat(4 << 20)}).to_string();
    assert!(matches!(asked.walk(&long).await, Err(CallError::Input { .. })));
    let deep = json!({"command": format!("{}a{}", "$(".repeat(5_000), ")".repeat(5_000))}).to_string();
    let answer: Value = serde_json::from_str(&asked.walk(&deep).await.expect("an answer")).expect("JSON");
    assert!(answer["unparsed"].is_string());
    assert!(asked.files(&good).await.is_ok());
    let none = Analysis::new(test_guest(&engine), Session::in_folder("/project"), Capabilities::denied());
    assert!(matches!(none.walk(&good).await, Err(CallError::NoHook(_))));
}
