//! Rules that ask what has happened, through the hooks of an agent: `deploy` is denied until `sync` ended well.

use crate::scene::Scene;
use serde_json::{Value, json};

const RULES: &str = "
observers:
  - {name: synced, writes: synced, watch: {program: sync}}
rules:
  - {name: synced, program: deploy, when: {missing: {event: synced, in: agent-loop}}, reason: sync first}
";

/// What Claude Code is told at an event.
fn hook(scene: &Scene, session: &str, event: &str, more: Value) -> Value {
    let mut payload = json!({
        "session_id": session, "cwd": scene.project(), "permission_mode": "default", "hook_event_name": event,
    });
    for (key, value) in more.as_object().expect("an object") {
        payload[key] = value.clone();
    }
    let output = scene.run_with(&["hook", "claude", "--no-lens"], payload.to_string().as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    if output.stdout.is_empty() { Value::Null } else { serde_json::from_slice(&output.stdout).expect("JSON") }
}

fn denies(scene: &Scene, session: &str, command: &str) -> bool {
    let said = hook(scene, session, "PreToolUse", json!({ "tool_name": "Bash", "tool_input": { "command": command } }));
    said["hookSpecificOutput"]["permissionDecision"] == "deny"
}

/// A command that has run.
fn ran(scene: &Scene, session: &str, command: &str, response: Value) {
    let event = if response.get("error").is_some() { "PostToolUseFailure" } else { "PostToolUse" };
    let mut more = json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    match response.get("error") {
        Some(error) => more["error"] = error.clone(),
        None => more["tool_response"] = response,
    }
    assert_eq!(hook(scene, session, event, more), Value::Null, "{command}");
}

fn well() -> Value {
    json!({ "stdout": "", "stderr": "", "interrupted": false })
}

#[test]
fn an_event_lifts_a_rule_in_its_session_and_turn() {
    let scene = Scene::new();
    scene.write("home/.config/toolgate/toolgate.yaml", RULES);
    assert!(
        denies(&scene, "s", "deploy") && !denies(&scene, "s", "sync && deploy") && denies(&scene, "s", "sync; deploy")
    );
    // What did not end well, or may not have.
    let background = json!({ "stdout": "", "interrupted": false, "backgroundTaskId": "b1" });
    for (command, response) in [
        ("sync", json!({ "error": "Exit code 1" })),
        ("sync", background),
        ("sync; true", well()),
        ("sync || true", well()),
        ("echo synced # sync", well()),
    ] {
        ran(&scene, "s", command, response);
        assert!(denies(&scene, "s", "deploy"), "{command}");
    }
    ran(&scene, "s", "cd . && sync", well());
    assert!(!denies(&scene, "s", "deploy") && denies(&scene, "other", "deploy"));
    assert_eq!(hook(&scene, "s", "Stop", json!({})), Value::Null);
    assert!(denies(&scene, "s", "deploy"), "the next turn");
}

/// A project's observers count for the project's rules, and lift none of the user's.
#[test]
fn a_projects_observer_lifts_no_rule_of_the_users() {
    let scene = Scene::new();
    let (observers, rules) = RULES.split_once("rules:").expect("two parts");
    let rules = format!("rules:{rules}");
    scene.write("home/project/toolgate.yaml", observers);
    scene.write("home/.config/toolgate/toolgate.yaml", &rules);
    ran(&scene, "s", "sync", well());
    assert!(denies(&scene, "s", "deploy") && denies(&scene, "s", "sync && deploy"));
    scene.write("home/.config/toolgate/toolgate.yaml", "");
    scene.write("home/project/toolgate.yaml", RULES);
    assert!(!denies(&scene, "s", "deploy"), "the project's own rule");
}

/// Many events at once, and forged entries of a session that cannot be read: nothing is lifted.
#[test]
fn events_of_processes_at_once_are_all_kept() {
    let scene = Scene::new();
    let observers: Vec<String> =
        (0..8).map(|at| format!("  - {{writes: e{at}, watch: {{program: p{at}}}}}\n")).collect();
    let rules: Vec<String> = (0..8)
        .map(|at| format!("  - {{program: d{at}, when: {{missing: {{event: e{at}, in: session}}}}}}\n"))
        .collect();
    let file = format!("observers:\n{}rules:\n{}", observers.concat(), rules.concat());
    scene.write("home/.config/toolgate/toolgate.yaml", file);
    std::thread::scope(|scope| {
        for at in 0..8 {
            let scene = &scene;
            scope.spawn(move || ran(scene, "s", &format!("p{at}"), well()));
        }
    });
    for at in 0..8 {
        assert!(!denies(&scene, "s", &format!("d{at}")), "{at}");
    }
    let folder = scene.at("home/.local/state/toolgate/sessions");
    for file in std::fs::read_dir(folder).expect("sessions").map(|entry| entry.expect("an entry").path()) {
        std::fs::write(&file, "{").expect("written");
    }
    assert!(denies(&scene, "s", "d0"));
}
