//! `toolgate allow` as a person meets it, at a terminal of their own.

use crate::person::{Terminal, left_out};
use crate::scene::Scene;
use serde_json::{Value, json};

const PUSH: &str = "git push --force origin topic";

/// What a person types to let that through.
const ALLOW: &str = "toolgate allow \"$PUSH\" --cwd project";

/// A person's terminal, with the command as `$PUSH`.
fn at_terminal<'a>(scene: &'a Scene, script: &str) -> Terminal<'a> {
    Terminal::new(scene, &format!("PUSH='{PUSH}'; {script}"))
}

/// A shell call as Claude Code asks about it.
fn payload(command: &str, cwd: &str) -> String {
    let payload = json!({
        "session_id": "s", "cwd": cwd, "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t",
    });
    payload.to_string()
}

/// What Claude Code is told about a call; nothing if it passes.
fn hook(scene: &Scene, command: &str, cwd: &str) -> String {
    let output = scene.run_with(&["hook", "claude"], payload(command, cwd).as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

/// The exit code and the output of `toolgate allow`, not at a terminal.
fn allow(scene: &Scene, arguments: &[&str]) -> (Option<i32>, String) {
    let output = scene.run_with(&[&["allow"], arguments].concat(), b"", &[]);
    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn exactly_this_call_passes_exactly_once() {
    if left_out() {
        return;
    }
    let scene = Scene::new();
    scene.write("home/project/sub/file", "");
    let (project, sub) = (scene.project(), scene.at("home/project/sub").display().to_string());
    let mut terminal = at_terminal(&scene, ALLOW);
    let word = terminal.word();
    for shown in ["ask    git push --force origin topic", "builtin:git-force-push", &format!("in {project}\\015")] {
        assert!(terminal.seen.contains(shown), "{shown}: {}", terminal.seen);
    }
    assert_eq!(hook(&scene, PUSH, &project), "ask", "nothing is given yet");
    terminal.answer(&word);
    assert_eq!(terminal.exit(), 0, "{}", terminal.seen);
    let (code, listed) = allow(&scene, &["--list"]);
    assert!(code == Some(0) && listed.contains(PUSH) && listed.contains(&format!("shell in {project}")), "{listed}");
    #[rustfmt::skip]
    let cases = [
        ("git push --force origin main", &project, "ask"),
        ("git push --force origin topic ", &project, "ask"),
        ("git push --force origin topic; git push --force origin main", &project, "ask"),
        (PUSH, &sub, "ask"),
        (PUSH, &project, ""),
        (PUSH, &project, "ask"),
    ];
    for (command, cwd, decision) in cases {
        assert_eq!(hook(&scene, command, cwd), decision, "{command:?} in {cwd}");
    }
    let (code, listed) = allow(&scene, &["--list"]);
    assert!(code == Some(0) && listed.starts_with("no permissions"), "{listed}");
}

#[test]
fn only_the_word_gives_permission() {
    if left_out() {
        return;
    }
    let given = "granted; toolgate allow --revoke";
    let other = "no permission granted: that was not the word";
    // `_` is the word.
    let cases = [
        ("_", 0, given, ""),
        (" _ ", 0, given, ""),
        ("yes", 2, other, "ask"),
        ("__", 2, other, "ask"),
        ("", 2, other, "ask"),
        // Nothing more will come.
        ("C-d", 2, "no permission granted: there was no answer", "ask"),
    ];
    for (answer, code, said, decision) in cases {
        let scene = Scene::new();
        let mut terminal = at_terminal(&scene, ALLOW);
        let word = terminal.word();
        if answer == "C-d" {
            terminal.press(&["C-d"]);
        } else {
            terminal.answer(&answer.replace('_', &word));
        }
        assert_eq!(terminal.exit(), code, "{answer:?}: {}", terminal.seen);
        assert!(terminal.seen.contains(said), "{answer:?}: {}", terminal.seen);
        assert_eq!(hook(&scene, PUSH, &scene.project()), decision, "{answer:?}");
    }
}

#[test]
fn a_permission_is_taken_back() {
    if left_out() {
        return;
    }
    let scene = Scene::new();
    let mut terminal = at_terminal(&scene, ALLOW);
    let word = terminal.word();
    terminal.answer(&word);
    assert_eq!(terminal.exit(), 0, "{}", terminal.seen);
    let listed = allow(&scene, &["--list"]).1;
    let id = listed.split(' ').next().expect("an id");
    assert_eq!(allow(&scene, &["--revoke", id]).0, Some(0), "{listed}");
    assert_eq!(hook(&scene, PUSH, &scene.project()), "ask");
    assert_eq!(allow(&scene, &["--revoke", id]).0, Some(66));
}

#[test]
fn nothing_is_asked_where_nothing_can_be_given() {
    if left_out() {
        return;
    }
    // `claude` is a shell under that name.
    #[rustfmt::skip]
    let cases = [
        ("toolgate allow 'git status'", 1, "no rule stops this call, so no permission is needed"),
        ("toolgate allow 'toolgate allow x'", 2, "builtin:self-permission cannot be lifted by a permission"),
        ("toolgate allow \"$PUSH\" --rule mine", 2, "builtin:git-force-push also stops this call"),
        ("toolgate allow \"$PUSH\" --for 25h", 64, "a permission is good for at most 24 hours"),
        ("toolgate allow \"$PUSH\" </dev/null", 2, "standard input is not the terminal that this runs in"),
        ("env CLAUDECODE=1 toolgate allow \"$PUSH\"", 2, "this runs below an agent: CLAUDECODE is set"),
        ("./claude -c 'toolgate allow \"$PUSH\"; exit $?'", 2, "this runs below an agent: "),
        // An agent that nobody knows, but that has called the hook: above the person, and beside them.
        ("/bin/sh -c 'toolgate hook claude <call.json; toolgate allow \"$PUSH\"; exit $?'", 2,
            "which calls Toolgate's hook as an agent"),
        ("mkfifo noted end; /bin/sh -c 'toolgate hook claude <call.json; echo >noted; read x <end' & \
          read x <noted; toolgate allow \"$PUSH\"", 2, "an agent runs in this terminal: process "),
    ];
    for (script, code, said) in cases {
        let scene = Scene::new();
        std::os::unix::fs::symlink("/bin/sh", scene.at("home/claude")).expect("a link");
        scene.write("home/call.json", payload(PUSH, &scene.project()));
        let mut terminal = at_terminal(&scene, script);
        assert_eq!(terminal.exit(), code, "{script}: {}", terminal.seen);
        assert!(terminal.seen.contains(said), "{script}: {}", terminal.seen);
        assert!(!terminal.seen.contains("Type "), "{script}: {}", terminal.seen);
        assert!(allow(&scene, &["--list"]).1.starts_with("no permissions"), "{script}");
    }
}
