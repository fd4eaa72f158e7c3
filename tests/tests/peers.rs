//! Trackers and predicates of one component, asked by the rules of another: the guard that ships.

use std::time::Instant;

use serde_json::{Value, json};
use toolgate_host::capability::LocalFiles;
use toolgate_host::{
    Analysis, Capabilities, Decision, Engine, Extension, ExtensionRegistry, Gate, Plugin, Session, ToolCall, Verdict,
};
use toolgate_tests::{builtin, test_tracker};

/// Deploying is for nobody while the cluster may be production; a scratch cluster may be cleared.
const RULES: &str = "
rules:
  - name: deploy
    program: deploy
    reason: production is not deployed to from here
    when: {trackers: {cluster: '^prod'}}
  - name: clear
    program: clear-all
    reason: production is not cleared
    when: {predicates: {production: {clusters: [prod, live]}}}
  - name: lenient
    program: look
    reason: production is not looked at
    when: {predicates: {production: {clusters: [prod]}}, on-unknown: allow}
  - name: broken
    program: broken
    reason: it cannot be told
    when: {predicates: {production: {fail: trap}}}
  - name: slow
    program: slow
    reason: it cannot be told
    when: {predicates: {production: {fail: spin}}}
  - name: kept
    effects: {kinds: delete, paths: /srv/kept/}
    reason: what is kept there stays
";

struct Scene {
    folder: tempfile::TempDir,
    engine: Engine,
    guard: Plugin,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("rules.yaml"), RULES).expect("rules");
        let engine = Engine::new().expect("an engine");
        let guard = builtin(&engine).expect("the default plugin");
        Scene { folder, engine, guard }
    }

    fn peers(&self, names: &[&str], cwd: &str) -> ExtensionRegistry {
        let extension = |name: &&str| {
            Extension::new(test_tracker(&self.engine, name), Session::in_folder(cwd), Capabilities::denied())
        };
        ExtensionRegistry::new(names.iter().map(extension).collect())
    }

    fn granted(&self, peers: &ExtensionRegistry) -> Capabilities {
        let files = LocalFiles::new().user_rules(self.folder.path().join("rules.yaml"));
        Capabilities::denied().files(files).extensions(peers.clone())
    }

    fn gate(&self, peers: &ExtensionRegistry) -> Gate {
        Gate::new(self.guard.clone(), Session::in_folder("/project"), self.granted(peers))
    }
}

fn blocked(verdict: &Verdict) -> bool {
    matches!(verdict.decision, Decision::Block(_))
}

#[tokio::test]
async fn rules_ask_for_what_another_component_follows() {
    let scene = Scene::new();
    let gate = scene.gate(&scene.peers(&["clusters"], "/project"));
    assert_eq!(gate.start().await.expect("it starts").diagnostics, []);
    // The text, and whether it is blocked.
    let cases = [
        ("deploy", false),
        ("k use dev; deploy", false),
        ("k use prod-eu; deploy", true),
        ("k use prod-eu; k use dev; deploy", false),
        ("k use $X; deploy", true),
        ("(k use prod); deploy", false),
        ("bash -c 'k use prod; deploy'", true),
        ("K=prod; k use \"$K\" && deploy", true),
        ("CLUSTER=prod; k env; deploy", true),
        ("cd /prod; k here; deploy", false),
        ("if a; then k use prod; fi; deploy", true),
        ("$X; deploy", true),
        ("clear-all", false),
        ("k use live; clear-all", true),
        ("k use dev; clear-all", false),
        ("k use $X; clear-all", true),
        ("k use $X; look", false),
        ("k use prod; look", true),
        ("k-in kept; rm -r x", true),
        ("k-in other; ls x", false),
        // What a tracker says of the directory lifts nothing of what the guard knows.
        ("cd /srv/kept; k-in other; rm -r x", true),
        ("k-in other; rm -rf ../../*", true),
        // Failures: unknown for the call under judgement, and nothing else.
        ("k use dev; k trap; deploy", true),
        ("k use dev; deploy", false),
        ("k use dev; k refuse; deploy", true),
        ("k odd; deploy", true),
        ("k long; deploy", true),
        ("k trap; ls", false),
        ("broken", true),
        ("slow", true),
        ("k use dev; deploy", false),
    ];
    for (command, expected) in cases {
        let verdict = gate.judge(&ToolCall::shell(command, "/project")).await;
        assert_eq!(blocked(&verdict), expected, "{command}: {verdict:?}");
        assert!(verdict.findings.iter().all(|one| !one.rule.starts_with("host:")), "{command}: {verdict:?}");
    }
}

/// Every command of a long text runs into the limit of the tracker, and the verdict is still there in time.
#[tokio::test]
async fn a_tracker_that_is_slow_each_time_holds_no_verdict() {
    let scene = Scene::new();
    let gate = scene.gate(&scene.peers(&["clusters"], "/project"));
    let command: String = (0..300).map(|at| format!("k spin {at}; ")).collect();
    let before = Instant::now();
    let verdict = gate.judge(&ToolCall::shell(format!("{command}deploy"), "/project")).await;
    assert!(verdict.findings.iter().any(|one| one.rule == "user:deploy"), "{verdict:?}");
    assert!(before.elapsed().as_secs() < 4, "{:?}", before.elapsed());
}

#[tokio::test]
async fn what_nobody_provides_is_unknown_and_told() {
    let scene = Scene::new();
    // The components, the folder of their session, what the complaint is, and whether deploying is blocked.
    let cases = [
        (&[][..], "/project", "no plugin provides the tracker cluster", true),
        (&["a", "b"], "/project", "no plugin provides the tracker cluster", true),
        (&["a"], "/refuse", "no plugin provides the tracker cluster", true),
        (&["a"], "/project", "", false),
    ];
    for (names, cwd, complaint, expected) in cases {
        let gate = scene.gate(&scene.peers(names, cwd));
        let diagnostics = gate.start().await.expect("it starts").diagnostics;
        assert_eq!(diagnostics.is_empty(), complaint.is_empty(), "{names:?}: {diagnostics:?}");
        let told = diagnostics.iter().any(|one| one.message.starts_with(complaint) && one.line.is_some());
        let own = diagnostics.iter().any(|one| one.message.starts_with("plugin a: "));
        assert_eq!(own, names.len() == 2 || cwd == "/refuse", "{names:?}: {diagnostics:?}");
        assert!(told || complaint.is_empty(), "{diagnostics:?}");
        let verdict = gate.judge(&ToolCall::shell("deploy", "/project")).await;
        assert_eq!(blocked(&verdict), expected, "{names:?}: {verdict:?}");
        assert!(!blocked(&gate.judge(&ToolCall::shell("ls", "/project")).await), "{names:?}");
    }
}

#[tokio::test]
async fn a_walk_has_the_state_of_other_components() {
    let scene = Scene::new();
    let peers = scene.peers(&["clusters"], "/project");
    let analysis = Analysis::new(scene.guard.clone(), Session::in_folder("/project"), scene.granted(&peers));
    let cases = [
        ("k use dev; deploy", json!({"cluster": "dev"})),
        ("k use $X; deploy", json!({"cluster": null})),
        ("deploy", json!({"cluster": "none"})),
    ];
    for (command, tracked) in cases {
        let request = json!({"command": command, "cwd": "/project"}).to_string();
        let answer = analysis.walk(&request).await.expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let last = answer["commands"].as_array().and_then(|all| all.last()).expect("a command");
        assert_eq!((&last["name"], &last["tracked"]), (&json!("deploy"), &tracked), "{command}");
        assert_eq!(last["words"][0]["text"], "deploy");
    }
}
