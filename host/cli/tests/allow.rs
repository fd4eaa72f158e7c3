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
        ("git push --force origin topic;", &project, "ask"),
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

/// A denial of Codex, which cannot ask: its reason, and the id in it.
fn denied(scene: &Scene, command: &str) -> (String, String) {
    let payload = json!({
        "session_id": "s", "cwd": scene.project(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "t",
    });
    let output = scene.run_with(&["hook", "codex"], payload.to_string().as_bytes(), &[]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let said = &answer["hookSpecificOutput"];
    let reason = said["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
    let id = reason.split_once(" Denial ").map_or("", |(_, rest)| rest.split(':').next().unwrap_or(""));
    (reason.clone(), id.to_owned())
}

/// A person goes on from the id, or from the last denial; white space around the command does not matter.
#[test]
fn a_denial_is_lifted_by_its_id_or_as_the_last() {
    if left_out() {
        return;
    }
    for by_id in [true, false] {
        let scene = Scene::new();
        let (reason, id) = denied(&scene, PUSH);
        for said in [
            format!("Denial {id}: do not work around it."),
            format!("`toolgate allow {id}` once"),
            "`toolgate rules exempt git-force-push` always".to_owned(),
        ] {
            assert!(reason.contains(&said), "{said}: {reason}");
        }
        let script = if by_id { format!("toolgate allow {id}") } else { "toolgate allow --last".to_owned() };
        let mut terminal = at_terminal(&scene, &script);
        let word = terminal.word();
        for shown in [PUSH, "builtin:git-force-push", "called by codex", &format!("in {}", scene.project())] {
            assert!(terminal.seen.contains(shown), "{shown}: {}", terminal.seen);
        }
        terminal.answer(&word);
        assert_eq!(terminal.exit(), 0, "{}", terminal.seen);
        assert_ne!(denied(&scene, "git push --force").0, "");
        assert_eq!(denied(&scene, &format!(" {PUSH}\n")).0, "");
        assert_ne!(denied(&scene, PUSH).0, "", "a second time");
    }
}

/// What the agent reads of a denial is of no use to it.
#[test]
fn an_id_gives_an_agent_nothing() {
    let scene = Scene::new();
    let (_, id) = denied(&scene, PUSH);
    let (reason, own) = denied(&scene, "toolgate allow x");
    assert!(reason.contains("builtin:self-permission") && own.is_empty(), "no permission lifts it: {reason}");
    for command in
        [format!("toolgate allow {id}"), "toolgate allow --last".into(), "toolgate rules exempt git-clean".into()]
    {
        assert!(denied(&scene, &command).0.contains("builtin:self-permission"), "{command}");
    }
    for arguments in [&["allow", &*id][..], &["allow", "--last"], &["rules", "exempt", "git-force-push"]] {
        let output = scene.run_with(arguments, b"", &[]);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("standard input is not the terminal that this runs in"), "{arguments:?}: {said}");
    }
    assert!(allow(&scene, &["--list"]).1.starts_with("no permissions"));
    assert!(!scene.at("home/.config/toolgate").exists());
}

/// The agent's user was asked by the agent, and the call has run: the log says so.
#[test]
fn the_log_says_what_came_of_a_question() {
    let scene = Scene::new();
    let log = || String::from_utf8(scene.run_with(&["log"], b"", &[]).stdout).expect("UTF-8");
    assert_eq!(hook(&scene, PUSH, &scene.project()), "ask");
    let shown = log();
    assert!(
        shown.contains("asked") && shown.contains("no answer is known") && shown.contains("overwrites remote"),
        "{shown}"
    );
    let result = json!({
        "session_id": "s", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": PUSH}, "tool_use_id": "t", "tool_response": {"stdout": ""},
    });
    let told = || scene.run_with(&["hook", "claude"], result.to_string().as_bytes(), &[]);
    assert_eq!(told().status.code(), Some(0));
    let shown = log();
    assert!(shown.contains("  confirmed at ") && !shown.contains("no answer is known"), "{shown}");
    assert_eq!(shown.matches(PUSH).count(), 1, "{shown}");
    told();
    assert_eq!(log(), shown, "only once");
}

/// A rule is lifted in the user's own file, whose comments stay, and nowhere else.
#[test]
fn a_rule_is_lifted_for_good_by_a_person() {
    if left_out() {
        return;
    }
    const USER: &str = "home/.config/toolgate/toolgate.yaml";
    // What is typed (`_` is the word), what is there before, the arguments, the exit code, and what is there then.
    #[rustfmt::skip]
    let cases = [
        ("_", "", "git-force-push", 0, "exemptions:\n  - {rule: git-force-push}\n"),
        ("_", "# mine\npacks: [personal] # all\n", "builtin:git-force-push --reason why", 0,
            "# mine\npacks: [personal] # all\nexemptions:\n  - {rule: git-force-push, reason: why}\n"),
        ("_", "exemptions:\n  - {rule: git-clean} # old\n", "git-force-push --here", 0,
            "exemptions:\n  - {rule: git-clean} # old\n  - {rule: git-force-push, when: {cwd: '^@(/|$)'}}\n"),
        ("no", "# mine\n", "git-force-push", 2, "# mine\n"),
    ];
    for (typed, before, arguments, code, after) in cases {
        let scene = Scene::new();
        if !before.is_empty() {
            scene.write(USER, before);
        }
        let mut terminal = at_terminal(&scene, &format!("cd project; toolgate rules exempt {arguments}"));
        let word = terminal.word();
        assert!(terminal.seen.contains("rule: git-force-push"), "{}", terminal.seen);
        terminal.answer(&typed.replace('_', &word));
        assert_eq!(terminal.exit(), code, "{arguments}: {}", terminal.seen);
        let project = scene.project().replace('.', "\\.");
        assert_eq!(
            std::fs::read_to_string(scene.at(USER)).unwrap_or_default(),
            after.replace('@', &project),
            "{arguments}"
        );
        let expected = if code == 0 { "" } else { "ask" };
        assert_eq!(hook(&scene, PUSH, &scene.project()), expected, "{arguments}");
        scene.write("home/other/.git/HEAD", "");
        let other = scene.at("home/other").display().to_string();
        let elsewhere = if arguments.contains("--here") || code != 0 { "ask" } else { "" };
        assert_eq!(hook(&scene, PUSH, &other), elsewhere, "{arguments}");
        let lint = scene.run_with(&["rules", "lint"], b"", &[]);
        assert_eq!(lint.status.code(), Some(0), "{}", String::from_utf8_lossy(&lint.stdout));
    }
}

#[test]
fn what_cannot_be_lifted_is_said() {
    let scene = Scene::new();
    scene.write("home/project/toolgate.yaml", "zeroAccessPaths: [secret]\nrules: [{name: mine, program: x}]\n");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["self-permission"], 64, "self-permission protects Toolgate itself"),
        (&["unparsed"], 64, "unparsed protects Toolgate itself, or reports what cannot be checked"),
        (&["nothing"], 64, "no rule nothing; "),
        (&["amend"], 64, "no rule amend; there are builtin:git-amend"),
        (&["zeroAccessPaths: secret"], 64, "is a path rule of the project's"),
        (&["zeroAccessPaths: ~/.ssh/", "--here"], 64, "~/.ssh/ is one place, and not in "),
        (&["git-clean", "--reason", "a\nb"], 64, "the reason must be one line"),
        (&["mine"], 0, "+  - {rule: mine}"),
        (&["noReadPaths: .env", "--here"], 0, "+  - {rule: 'noReadPaths: .env', paths: ['"),
        (&["git-clean", "git-amend"], 0, "+  - {rule: git-amend}"),
    ];
    for (arguments, code, said) in cases {
        let output = scene.run_with(&[&["rules", "exempt", "--dry-run"], *arguments].concat(), b"", &[]);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {text}");
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!scene.at("home/.config/toolgate").exists(), "nothing was written");
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
        ("toolgate allow 1f2e3d4c", 66, "there is no denial 1f2e3d4c in the last day"),
        ("toolgate allow --last", 66, "no call was denied in the last day"),
        ("env CLAUDECODE=1 toolgate allow --last", 2, "this runs below an agent: CLAUDECODE is set"),
        ("env CLAUDECODE=1 toolgate rules exempt git-clean", 2, "this runs below an agent: CLAUDECODE is set"),
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
