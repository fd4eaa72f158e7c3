//! Calls through the hook that are undone: what an agent sends before and after, what its user is told, and what comes back.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::scene::Scene;
use crate::serve::Shim;

/// A repository with a commit, and work that is in none.
const PREPARE: &str = "
    git init -q -b main .; git config user.email a@example.org; git config user.name a
    mkdir src; echo one > src/a; echo two > b; printf 'ignored\\n' > .gitignore; git add .; git commit -qm first
    echo uncommitted >> src/a; echo new > untracked";

struct Project(Scene);

impl Project {
    fn new() -> Self {
        let project = Project(Scene::new());
        std::fs::remove_dir(project.0.at("home/project/.git")).expect("an empty folder");
        project.run(PREPARE);
        project
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        vec![("PATH", std::env::var("PATH").expect("a path"))]
    }

    fn run(&self, text: &str) {
        let mut shell = Command::new("bash");
        shell.args(["-euc", text]).current_dir(self.0.at("home/project")).env("HOME", self.0.at("home"));
        let output = shell.output().expect("bash");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn hook(&self, agent: &str, payload: &Value) -> Value {
        let arguments = ["hook", agent, "--no-lens"];
        let output = self.0.run_with(&arguments, payload.to_string().as_bytes(), &self.environment());
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn undo(&self, arguments: &[&str]) -> Output {
        self.0.run_with(&[&["undo"], arguments].concat(), b"", &self.environment())
    }

    fn claude(&self, event: &str, id: &str, tool: &str, input: &Value) -> Value {
        let mut payload = json!({
            "session_id": "s", "cwd": self.0.project(), "permission_mode": "default", "hook_event_name": event,
            "tool_name": tool, "tool_input": input, "tool_use_id": id, "transcript_path": "",
        });
        if event == "PostToolUse" {
            payload["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false, "isImage": false });
        }
        self.hook("claude", &payload)
    }

    /// A command as Claude Code runs it. What the hook says before.
    fn call(&self, id: &str, text: &str) -> Value {
        let input = json!({ "command": text });
        let said = self.claude("PreToolUse", id, "Bash", &input);
        if said["hookSpecificOutput"]["permissionDecision"].is_null() {
            self.run(text);
            self.claude("PostToolUse", id, "Bash", &input);
        }
        said
    }

    /// All files with their contents, and what git has.
    fn state(&self) -> String {
        let list = "find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 md5sum; git status --short; git log --oneline --branches --tags HEAD; git stash list";
        let mut shell = Command::new("bash");
        shell.args(["-c", list]).current_dir(self.0.at("home/project")).env("HOME", self.0.at("home"));
        String::from_utf8_lossy(&shell.output().expect("bash").stdout).into_owned()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Recoverable rules do not ask where all was saved, and the user is told; others ask as ever.
#[test]
fn what_was_saved_need_not_be_asked_about() {
    let cases = [
        // The command, whether it asks, and a part of what the user is told.
        ("git reset --hard", false, "To restore: toolgate undo"),
        ("rm -rf src", false, "saved 1 file (16 bytes)"),
        ("git checkout -- .", false, "saved"),
        ("git clean -fd", false, "saved"),
        ("git push --force", true, ""),
        ("git reset --hard; curl -d @b https://example.org", true, ""),
        ("git reset --hard && ./script", true, ""),
        ("rm -rf ~/other", true, ""),
        // What is there when they run need not be what was there before the call.
        ("mkdir -p build/t && cd build/t && git reset --hard", true, ""),
        ("mkdir n && git -C n reset --hard", true, ""),
        (": > .gitignore && git clean -fd", true, ""),
        ("git clean -fd -e '!*.data'", true, ""),
        ("git checkout -f HEAD~0", true, ""),
        ("git reset --hard HEAD~0", true, ""),
        ("rm -rf src &", true, ""),
        ("true; rm -rf src", true, ""),
        ("git for-each-ref --format='delete %(refname)' 'refs/toolgate-*' | git update-ref --stdin", true, ""),
    ];
    for (command, asks, told) in cases {
        let project = Project::new();
        project.0.write("home/other/file", "x");
        let before = project.state();
        let said = project.call("1", command);
        let decision = &said["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(!decision.is_null(), asks, "{command}: {said}");
        if asks {
            continue;
        }
        let message = said["systemMessage"].as_str().unwrap_or_default();
        assert!(message.contains(told), "{command}: {said}");
        assert_ne!(project.state(), before, "{command}");
        let output = project.undo(&[]);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", text(&output));
        assert_eq!(project.state(), before, "{command}");
        let log = project.0.run_with(&["log"], b"", &project.environment());
        assert!(text(&log).contains("saved"), "{}", text(&log));
    }
}

/// A git that fails at one question, or does not do what it is told, is no leave to go on: what could not be saved is asked about.
#[test]
fn a_git_that_fails_is_no_leave_to_go_on() {
    const NO_QUESTION: &str = "no such question";
    let questions = [
        "--path-format",
        "config --list",
        "HEAD^{tree}",
        "ls-files -c -i",
        "diff-files --name-only -z --no-ext-diff",
        "diff-index --cached",
        "diff-files -z",
        "ls-files -z --others",
        "update-index",
        "write-tree",
        "diff-tree",
        "--batch-check",
        "for-each-ref",
        "rev-list",
        "hash-object -t commit",
        "update-ref",
    ];
    let payload = |project: &Project| {
        json!({
            "session_id": "s", "cwd": project.0.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": "git reset --hard" }, "tool_use_id": "1", "transcript_path": "",
        })
    };
    let asks = |project: &Project, variables: &[(&'static str, String)]| {
        let output =
            project.0.run_with(&["hook", "claude", "--no-lens"], payload(project).to_string().as_bytes(), variables);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (said["hookSpecificOutput"]["permissionDecision"] == "ask", said)
    };
    let path = std::env::var("PATH").expect("a path");
    // One that does not end, and one that fails at nothing: only that one's call need not be asked about.
    let cases = questions.iter().map(|one| (*one, "exit 1")).chain([("write-tree", "exec sleep 60")]);
    for (question, status) in cases.chain([(NO_QUESTION, "exit 1")]) {
        let project = Project::new();
        let real = real_git(&path);
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *\"{question}\"*) echo x >> '{}'; {status};; esac\nexec '{real}' \"$@\"\n",
            project.0.at("seen").display()
        );
        project.0.write("tools/git", &text);
        std::fs::set_permissions(project.0.at("tools/git"), PermissionsExt::from_mode(0o755)).expect("its mode");
        let variables = [("PATH", format!("{}:{path}", project.0.at("tools").display()))];
        let (asked, said) = asks(&project, &variables);
        let is_asked = project.0.at("seen").exists();
        assert_eq!(asked, question != NO_QUESTION, "{question}, {status}: {said}");
        assert_eq!(is_asked, question != NO_QUESTION, "git is not asked: {question}");
    }
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_GLOBAL"] {
        let project = Project::new();
        let (asked, said) = asks(&project, &[("PATH", path.clone()), (variable, "/nonexistent".to_owned())]);
        assert!(asked, "{variable}: {said}");
    }
}

/// The git of this machine.
fn real_git(path: &str) -> String {
    let mut found = std::env::split_paths(path).map(|folder| folder.join("git")).filter(|git| git.is_file());
    found.next().expect("git").display().to_string()
}

/// What goes on after its end was reported is not done when what it left is looked at.
#[test]
fn calls_in_the_background_are_asked_about() {
    for (key, value, asks) in [("run_in_background", true, true), ("run_in_background", false, false)] {
        let project = Project::new();
        let said = project.claude("PreToolUse", "1", "Bash", &json!({ "command": "rm -rf src", key: value }));
        assert_eq!(!said["hookSpecificOutput"]["permissionDecision"].is_null(), asks, "{said}");
    }
}

/// Tracked files that are ignored, and staged ones: what git overwrites comes back, and a staged secret is not copied.
#[test]
fn what_a_snapshot_does_not_see_is_saved_beside_it() {
    for prepare in [
        "echo 1 > ignored; git add -f ignored; git commit -qm more; echo 2 > ignored",
        "echo 1 > ignored; git add -f ignored",
        "echo 1 > ignored; git add -f ignored; git commit -qm more; git rm -q --cached ignored; echo 2 > ignored",
    ] {
        let project = Project::new();
        project.run(prepare);
        let before = project.state();
        let said = project.call("1", "git reset --hard");
        assert!(said["hookSpecificOutput"]["permissionDecision"].is_null(), "{said}");
        assert_ne!(project.state(), before, "{prepare}");
        let output = project.undo(&[]);
        assert_eq!(project.state(), before, "{prepare}: {}", text(&output));
    }
    let project = Project::new();
    project.run("echo KEY=verysecret > .env; git add -f .env");
    for _ in 0..2 {
        let said = project.call("1", "git reset --hard");
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "each time: {said}");
    }
    let own = project.0.at("home/.local/state/toolgate/undo/git");
    for own in std::fs::read_dir(own).into_iter().flatten().flatten() {
        let mut ask = Command::new("git");
        ask.arg("--git-dir").arg(own.path()).args(["cat-file", "--batch-all-objects", "--batch"]);
        let objects = ask.output().expect("git").stdout;
        assert!(!String::from_utf8_lossy(&objects).contains("verysecret"));
    }
}

/// Of a call whose end was not reported nothing is known but what is gone.
#[test]
fn without_a_report_only_what_is_gone_comes_back() {
    let project = Project::new();
    let input = json!({ "command": "git reset --hard" });
    project.claude("PreToolUse", "1", "Bash", &input);
    project.run("git commit -qam mine; echo mine > mine; rm untracked; echo stashed > b; git stash -q");
    let output = project.undo(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let state = project.state();
    assert!(state.contains("mine") && state.contains("stash@{0}") && state.contains("./untracked"), "{state}");
    project.undo(&["--force"]);
    assert!(project.0.at("home/project/mine").exists(), "what may be the user's own is never removed");
}

/// A secret is not copied, and so the call is not recoverable.
#[test]
fn a_folder_with_a_secret_is_asked_about() {
    let project = Project::new();
    project.0.write("home/project/src/.env", "KEY=verysecret\n");
    let said = project.call("1", "rm -rf src");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
    assert!(reason.contains("removes 2 files"), "{reason}");
}

/// Only the user turns saving and softer questions off.
#[test]
fn settings_are_the_users() {
    let cases = [
        ("home/.config/toolgate/toolgate.yaml", "recoverable: ask\n", true, true),
        ("home/.config/toolgate/toolgate.yaml", "undo: off\n", true, false),
        ("home/project/toolgate.yaml", "recoverable: ask\n", true, true),
        ("home/project/toolgate.yaml", "undo: off\n", false, true),
    ];
    for (file, rules, asks, saves) in cases {
        let project = Project::new();
        project.0.write(file, rules);
        project.run("git add .; git commit -qm rules; echo more >> b");
        let said = project.call("1", "git reset --hard");
        assert_eq!(!said["hookSpecificOutput"]["permissionDecision"].is_null(), asks, "{file} {rules}: {said}");
        assert_eq!(project.0.at("home/.local/state/toolgate/undo").exists(), saves, "{file} {rules}");
    }
}

#[test]
fn file_tools_and_several_calls_are_undone() {
    let project = Project::new();
    let before = project.state();
    let path = project.0.at("home/project/src/a").display().to_string();
    let input = json!({ "file_path": path, "content": "other\n" });
    project.claude("PreToolUse", "1", "Write", &input);
    project.run("echo other > src/a");
    project.claude("PostToolUse", "1", "Write", &input);
    project.call("2", "mv b c; echo 1 > made");
    project.call("3", "rm -f untracked");
    let listed = text(&project.undo(&["--list"]));
    assert!(listed.contains("D untracked") && listed.contains("A made") && listed.contains("M src/a"), "{listed}");
    let json: Value = serde_json::from_slice(&project.undo(&["--list", "--json"]).stdout).expect("JSON");
    assert_eq!(json["calls"].as_array().map(Vec::len), Some(3), "{json}");
    let diff = text(&project.undo(&["--dry-run", "--", "src/a"]));
    assert!(diff.contains("-other") && diff.contains("+uncommitted"), "{diff}");
    assert_eq!(project.undo(&["--", "src/a"]).status.code(), Some(0));
    let output = project.undo(&["--session"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(project.state(), before);
    let nothing = project.undo(&[]);
    assert_eq!(nothing.status.code(), Some(66), "{}", text(&nothing));
    let id = json["calls"][0]["id"].as_str().expect("an id");
    assert!(text(&project.undo(&["--list"])).contains("undone by"), "{id}");
}

/// A question that was answered with no is a call that never ran: it is in nobody's way.
#[test]
fn a_call_that_did_not_run_is_passed_over() {
    let project = Project::new();
    let before = project.state();
    project.call("1", "echo other > b");
    let said = project.call("2", "rm -rf ~/project");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    project.call("3", "echo more >> b");
    let output = project.undo(&["--session"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(project.state(), before);
}

/// The newest saved call is one that somebody said no to: the one before it is meant.
#[test]
fn a_call_that_was_not_allowed_is_passed_over_as_the_newest_one_too() {
    let project = Project::new();
    let before = project.state();
    project.call("1", "rm b");
    let said = project.call("2", "true; rm -rf src");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    let output = project.undo(&[]);
    assert_eq!((output.status.code(), project.state()), (Some(0), before), "{}", text(&output));
    let output = project.undo(&[]);
    assert!(text(&output).contains("nothing"), "{}", text(&output));
}

/// A later call that may have changed what was not saved is named, and the one before it is undone.
#[test]
fn a_call_of_which_nothing_was_saved_is_passed_over_and_named() {
    let project = Project::new();
    let before = project.state();
    project.call("1", "echo other > b");
    project.run("echo '*.log' >> .git/info/exclude; echo log > x.log");
    project.call("2", "find . -name '*.log' -delete");
    let output = project.undo(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("passed over") && text(&output).contains("find . -name"), "{}", text(&output));
    assert_eq!(project.state(), before);
}

/// What was taken back by hand, or in parts, is no call to be undone any more.
#[test]
fn calls_that_were_taken_back_are_passed_over() {
    for by_hand in [true, false] {
        let project = Project::new();
        let before = project.state();
        project.call("1", "rm b");
        project.call("2", "rm untracked; echo other > src/a");
        if by_hand {
            project.run("echo new > untracked; printf 'one\\nuncommitted\\n' > src/a");
        } else {
            project.undo(&["--", "src"]);
            project.undo(&["--", "untracked"]);
        }
        if by_hand {
            // The times are put back.
            project.undo(&[]);
        }
        let output = project.undo(&[]);
        assert_eq!((output.status.code(), project.state()), (Some(0), before), "{by_hand}: {}", text(&output));
    }
}

/// A question that was answered with no, before its user worked on.
#[test]
fn work_after_a_call_that_was_not_allowed_is_in_nobodys_way() {
    let project = Project::new();
    let before = project.state();
    project.call("1", "rm b");
    let said = project.call("2", "true; rm -rf src");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    project.run("echo mine >> src/a");
    let output = project.undo(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    project.run("printf 'one\\nuncommitted\\n' > src/a");
    assert_eq!(project.state(), before);
}

/// A file that cannot be written to its end is not saved.
#[test]
fn a_store_that_cannot_grow_is_no_leave_to_go_on() {
    let project = Project::new();
    project.run("head -c 1000000 /dev/urandom > big");
    let before = project.state();
    let payload = json!({
        "session_id": "s", "cwd": project.0.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "git clean -fd" }, "tool_use_id": "1", "transcript_path": "",
    });
    let mut limited = Command::new("prlimit")
        .args(["--fsize=300000", env!("CARGO_BIN_EXE_toolgate"), "hook", "claude", "--no-lens"])
        .current_dir(project.0.at("home/project"))
        .env_clear()
        .envs(project.environment())
        .env("HOME", project.0.at("home"))
        .env("TOOLGATE_NO_SERVE", "1")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("prlimit");
    limited.stdin.take().expect("a pipe").write_all(payload.to_string().as_bytes()).expect("written");
    let output = limited.wait_with_output().expect("its end");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{}", text(&output));
    assert_eq!(project.state(), before);
    let listed = project.undo(&["--list", "--json"]);
    serde_json::from_slice::<Value>(&listed.stdout).expect("the store is readable");
    // With room it is saved, and need not be asked about.
    project.call("2", "git clean -fd");
    assert_ne!(project.state(), before);
    assert_eq!(project.undo(&[]).status.code(), Some(0));
    assert_eq!(project.state(), before);
}

/// The undo of an undo, by the ID that it prints.
#[test]
fn an_undo_is_undone_by_its_id() {
    let project = Project::new();
    let before = project.state();
    project.call("1", "rm b");
    let after = project.state();
    let mut id = String::new();
    for expected in [&before, &after, &before] {
        let output = if id.is_empty() { project.undo(&["--json"]) } else { project.undo(&[&id, "--json"]) };
        let undone: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        id = undone["undo"].as_str().expect("an ID").to_owned();
        assert_eq!(project.state(), *expected, "{undone}");
    }
}

/// A workspace has the name by which it is reached, and its own.
#[test]
fn calls_in_a_workspace_behind_a_link_are_found() {
    for linked in [true, false] {
        let project = Project::new();
        project.run("ln -s project ../linked");
        let cwd = project.0.at(if linked { "home/linked" } else { "home/project" }).display().to_string();
        let payload = |event: &str| {
            json!({
                "session_id": "s", "cwd": cwd, "permission_mode": "default", "hook_event_name": event,
                "tool_name": "Bash", "tool_input": { "command": "rm b" }, "tool_use_id": "1", "transcript_path": "",
                "tool_response": { "stdout": "", "stderr": "", "interrupted": false, "isImage": false },
            })
        };
        project.hook("claude", &payload("PreToolUse"));
        project.run("rm b");
        project.hook("claude", &payload("PostToolUse"));
        for folder in ["home/linked", "home/project"] {
            let listed = project.0.start(&project.0.at(folder), &["undo", "--list"], b"", &project.environment());
            assert!(text(&listed).contains("rm b"), "{linked} {folder}: {}", text(&listed));
        }
    }
}

/// Rules speak of a path as a person writes it. A home folder behind a link has another one.
#[test]
fn a_secret_behind_a_link_is_not_copied() {
    let project = Project::new();
    project.0.write("home/dot/kube/config", "token: verysecret");
    project.run("ln -s dot/kube ../.kube");
    project.call("1", "chmod go-rwx ~/.kube/config");
    let store = project.0.at("home/.local/state/toolgate/undo/objects");
    assert_eq!(files(&store), 0, "nothing is copied");
}

#[test]
fn what_somebody_changed_since_is_named_and_left() {
    let project = Project::new();
    project.call("1", "echo other > b");
    project.run("echo mine > b");
    let output = project.undo(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("conflict"), "{}", text(&output));
    let content = || std::fs::read_to_string(project.0.at("home/project/b")).expect("a file");
    assert_eq!(content(), "mine\n");
    assert_eq!(project.undo(&["--force"]).status.code(), Some(0));
    assert_eq!(content(), "two\n");
}

/// What an agent sends around a call: before it, and after it.
type Reports = (Vec<Value>, Vec<Value>);

/// What agents that run a hook for each call send for one of a tool.
fn reports(agent: &str, project: &str, tool: &str, input: &Value) -> Reports {
    // By such keys it is told who asks.
    let marks: Value = match agent {
        "codex" => json!({ "permission_mode": "default", "model": "m", "turn_id": "t" }),
        "gemini" => json!({ "timestamp": "2026-01-01T00:00:00Z" }),
        "droid" => json!({ "permission_mode": "off" }),
        "vscode" => json!({ "timestamp": "2026-01-01T00:00:00Z", "sessionId": "s", "tool_use_id": "u" }),
        "cursor" => json!({ "conversation_id": "s", "generation_id": "g", "workspace_roots": [project] }),
        "copilot" => json!({ "sessionId": "s", "timestamp": 1, "toolName": tool, "toolArgs": input }),
        other => panic!("unknown agent {other}"),
    };
    let with = |event: (&str, &str), more: Value| {
        let mut payload = match agent {
            "copilot" => json!({}),
            "vscode" => json!({ "transcript_path": "", "tool_name": tool, "tool_input": input }),
            "cursor" => json!({ "tool_name": tool, "tool_input": input }),
            _ => json!({ "session_id": "s", "transcript_path": "", "tool_name": tool, "tool_input": input }),
        };
        payload["cwd"] = project.into();
        if !event.0.is_empty() {
            payload[event.0] = event.1.into();
        }
        for (key, value) in [&marks, &more].into_iter().filter_map(Value::as_object).flatten() {
            payload[key] = value.clone();
        }
        payload
    };
    let result = || json!({ "tool_response": "" });
    match agent {
        "gemini" => (
            vec![with(("hook_event_name", "BeforeTool"), json!({}))],
            vec![with(("hook_event_name", "AfterTool"), result())],
        ),
        "vscode" => (
            vec![with(("hookEventName", "PreToolUse"), json!({}))],
            vec![with(("hookEventName", "PostToolUse"), result())],
        ),
        "copilot" => {
            let after = json!({ "toolResult": { "resultType": "success", "textResultForLlm": "" } });
            (vec![with(("", ""), json!({}))], vec![with(("", ""), after)])
        }
        "cursor" => {
            let mut before = vec![with(("hook_event_name", "preToolUse"), json!({}))];
            if tool == "Shell" {
                let command = json!({ "command": input["command"] });
                before.push(with(("hook_event_name", "beforeShellExecution"), command));
            }
            (before, vec![with(("hook_event_name", "postToolUse"), json!({ "tool_output": "" }))])
        }
        _ => (
            vec![with(("hook_event_name", "PreToolUse"), json!({}))],
            vec![with(("hook_event_name", "PostToolUse"), result())],
        ),
    }
}

/// Agents that name no call are known by what they send.
#[test]
fn every_agent_that_reports_results_is_covered() {
    const PATCH: &str =
        "*** Begin Patch\n*** Delete File: untracked\n*** Update File: b\n@@\n-two\n+three\n*** End Patch\n";
    let command = json!({ "command": "rm -f untracked; echo three > b" });
    let patch = |key: &str| json!({ key: PATCH });
    let write = |project: &Project, key: &str, text: &str| json!({ key: project.0.at("home/project/b").display().to_string(), text: "three\n" });
    let of = Project::new();
    // The agent, its tool, the input, and whether a file is removed as well.
    let cases = [
        ("codex", "Bash", command.clone(), true),
        ("codex", "apply_patch", patch("command"), true),
        ("gemini", "run_shell_command", command.clone(), true),
        ("gemini", "write_file", write(&of, "file_path", "content"), false),
        ("droid", "Execute", command.clone(), true),
        ("droid", "Create", write(&of, "file_path", "content"), false),
        ("copilot", "bash", command.clone(), true),
        ("copilot", "create", write(&of, "path", "file_text"), false),
        ("vscode", "run_in_terminal", command.clone(), true),
        ("vscode", "apply_patch", patch("input"), true),
        ("vscode", "create_file", write(&of, "filePath", "content"), false),
        ("cursor", "Shell", command.clone(), true),
        ("cursor", "Write", write(&of, "file_path", "content"), false),
    ];
    for (agent, tool, input, removes) in cases {
        let project = Project::new();
        let here = |text: &str| text.replace(&of.0.project(), &project.0.project());
        let input: Value = serde_json::from_str(&here(&input.to_string())).expect("JSON");
        let state = project.state();
        let (before, after) = reports(agent, &project.0.project(), tool, &input);
        let hook = if agent == "vscode" { "claude" } else { agent };
        for payload in &before {
            let said = project.hook(hook, payload).to_string();
            assert!(!said.contains("deny") && !said.contains("\"ask"), "{agent} {tool}: {said}");
        }
        project.run(if removes { "echo three > b; rm untracked" } else { "echo three > b" });
        assert_ne!(project.state(), state);
        for payload in &after {
            project.hook(hook, payload);
        }
        let listed = text(&project.undo(&["--list"]));
        assert!(!listed.contains("its end was not reported"), "{agent} {tool}: {listed}");
        let output = project.undo(&[]);
        assert_eq!(output.status.code(), Some(0), "{agent} {tool}: {}", text(&output));
        assert_eq!(project.state(), state, "{agent} {tool}");
    }
}

/// A turn ends where the agent ends it.
#[test]
fn the_calls_of_a_turn_are_undone_together() {
    let project = Project::new();
    let stop = json!({
        "session_id": "s", "cwd": project.0.project(), "permission_mode": "default", "hook_event_name": "Stop",
        "stop_hook_active": false, "transcript_path": "",
    });
    project.call("1", "echo 1 > first");
    project.hook("claude", &stop);
    let between = project.state();
    project.call("2", "echo 2 > second");
    project.call("3", "rm b");
    let after = project.state();
    let plan: Value = serde_json::from_slice(&project.undo(&["--turn", "--dry-run", "--json"]).stdout).expect("JSON");
    let steps: Vec<_> = plan["steps"].as_array().into_iter().flatten().map(|step| step["want"].clone()).collect();
    assert_eq!(plan["ids"].as_array().map(Vec::len), Some(2), "{plan}");
    assert_eq!((steps, &plan["conflicts"]), (vec![json!("restore"), json!("remove")], &json!([])), "{plan}");
    assert_eq!(project.state(), after, "nothing is changed by a dry run");
    let undone: Value = serde_json::from_slice(&project.undo(&["--turn", "--json"]).stdout).expect("JSON");
    assert_eq!(undone["restored"].as_array().map(Vec::len), Some(2), "{undone}");
    assert_eq!(project.state(), between, "{undone}");
}

/// Without a place to save to, calls go on, and their user is told so once.
#[test]
fn that_nothing_can_be_saved_is_told_once() {
    let project = Project::new();
    project.0.write("home/.local/state/toolgate/undo", "not a folder");
    let messages: Vec<bool> = ["1", "2", "3"]
        .into_iter()
        .map(|id| {
            let said = project.call(id, "rm -f untracked; echo x > untracked");
            said["systemMessage"].as_str().is_some_and(|message| message.contains("cannot be undone"))
        })
        .collect();
    assert_eq!(messages, [true, false, false]);
    let said = project.call("4", "git reset --hard");
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
}

/// Agents whose shim asks one host for a whole session.
#[test]
fn agents_behind_a_shim_are_covered() {
    let pi = |project: &Project, event: &str, tool: &str, input: &Value| {
        let content = json!([{ "type": "text", "text": "" }]);
        let event = json!({
            "type": event, "toolName": tool, "toolCallId": "1", "input": input, "content": content, "isError": false,
        });
        json!({ "event": event, "cwd": project.0.project(), "hasUI": true, "mode": "tui", "session": "s" })
    };
    let opencode = |project: &Project, _: &str, tool: &str, input: &Value| {
        let output = json!({ "args": input, "title": "", "output": "", "metadata": {} });
        let call = json!({ "tool": tool, "sessionID": "s", "callID": "1", "args": input });
        json!({ "directory": project.0.project(), "worktree": project.0.project(), "input": call, "output": output })
    };
    type Payload<'a> = &'a dyn Fn(&Project, &str, &str, &Value) -> Value;
    let shell = json!({ "command": "rm -f untracked" });
    let write = |project: &Project, key: &str| json!({ key: project.0.at("home/project/b"), "content": "three\n" });
    for (agent, before, after, path, payload) in [
        ("pi", "tool_call", "tool_result", "path", &pi as Payload<'_>),
        ("opencode", "tool.execute.before", "tool.execute.after", "filePath", &opencode),
    ] {
        let project = Project::new();
        let state = project.state();
        let mut shim = Shim::new(&project.0, agent);
        for (id, (tool, input, run)) in
            [("bash", &shell, "rm -f untracked"), ("write", &write(&project, path), "echo three > b")]
                .into_iter()
                .enumerate()
        {
            let mut ask = |at: usize, event: &str| {
                let payload = payload(&project, event, tool, input);
                shim.write(&json!({ "schema": 1, "id": 2 * id + at, "event": event, "payload": payload }).to_string());
                shim.next("result")["result"].clone()
            };
            assert_ne!(ask(0, before)["block"], true, "{agent} {tool}");
            project.run(run);
            ask(1, after);
        }
        assert_ne!(project.state(), state, "{agent}");
        let listed = text(&project.undo(&["--list"]));
        assert!(listed.contains("untracked") && listed.contains(" b"), "{agent}: {listed}");
        let output = project.undo(&["--session"]);
        assert_eq!(output.status.code(), Some(0), "{agent}: {}", text(&output));
        assert_eq!(project.state(), state, "{agent}: {listed}");
    }
}

/// The gate's own: an agent is asked before it undoes, and does not touch the store.
#[test]
fn an_agent_does_not_undo_by_itself() {
    let project = Project::new();
    project.call("1", "rm -f untracked");
    let cases = [
        ("toolgate undo", "ask"),
        ("rm -rf ~/.local/state/toolgate/undo", "deny"),
        ("echo x > ~/.local/state/toolgate/undo/version", "deny"),
        ("git update-ref -d refs/toolgate-undo-1", "ask"),
    ];
    for (command, expected) in cases {
        let said = project.call("2", command);
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], expected, "{command}: {said}");
    }
    assert!(Path::new(&project.0.at("home/.local/state/toolgate/undo/calls")).exists());
}

impl Project {
    /// Starts the program with these arguments and input, and kills it as soon as this is true.
    fn killed(&self, arguments: &[&str], input: &str, when: impl Fn() -> bool) {
        self.killed_with(&self.environment(), arguments, input, when);
    }

    fn killed_with(&self, variables: &[(&str, String)], arguments: &[&str], input: &str, when: impl Fn() -> bool) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(arguments)
            .current_dir(self.0.at("home/project"))
            .env_clear()
            .envs(variables.iter().cloned())
            .env("HOME", self.0.at("home"))
            .env("TOOLGATE_NO_SERVE", "1")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        while !when() && child.try_wait().expect("its state").is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().expect("its end");
    }
}

/// How many files are below a folder.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

/// Killed while it saves or restores: the store stays readable, nothing half is in it, and the rest is done the next time.
#[test]
fn being_killed_loses_nothing() {
    const MANY: &str = "mkdir many; for i in {1..400}; do echo $i > many/$i; done";
    for at in [0, 1, 100, 399] {
        let project = Project::new();
        project.run(MANY);
        let before = project.state();
        let store = project.0.at("home/.local/state/toolgate/undo");
        let payload = json!({
            "session_id": "s", "cwd": project.0.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": "rm -r many" }, "tool_use_id": "1", "transcript_path": "",
        });
        project.killed(&["hook", "claude"], &payload.to_string(), || files(&store.join("objects")) > at);
        let listed = project.undo(&["--list", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).expect("the store is readable");
        assert!(listed["calls"].as_array().is_some_and(|calls| calls.len() <= 1), "{listed}");
        assert_eq!(project.state(), before);
        project.call("2", "rm -r many");
        assert_ne!(project.state(), before);
        let many = project.0.at("home/project/many");
        project.killed(&["undo"], "", || files(&many) > at);
        let output = project.undo(&["--session"]);
        let rest = project.undo(&["--list"]);
        assert_eq!(project.state(), before, "{at}: {}{}", text(&output), text(&rest));
    }
}

/// Killed at any of the questions that it asks git: no commit, branch or entry of the stash is lost.
#[test]
fn being_killed_at_git_loses_nothing() {
    const PREPARE: &str = "
        echo stashed >> b; git stash -q; echo more >> b; git stash -q; git branch topic; git tag -a -m noted full
        echo staged > staged; git add staged";
    const COMMAND: &str = "git stash clear; git branch -D topic; git tag -d full; git reset --hard -q";
    let path = std::env::var("PATH").expect("a path");
    let real = real_git(&path);
    let wrapper = |project: &Project| {
        let seen = project.0.at("seen");
        let text = format!("#!/bin/sh\necho >> '{}'\nexec '{real}' \"$@\"\n", seen.display());
        project.0.write("tools/git", &text);
        std::fs::set_permissions(project.0.at("tools/git"), PermissionsExt::from_mode(0o755)).expect("its mode");
        [("PATH", format!("{}:{path}", project.0.at("tools").display()))]
    };
    let payload = |project: &Project, event: &str, id: &str| {
        json!({
            "session_id": "s", "cwd": project.0.project(), "permission_mode": "default", "hook_event_name": event,
            "tool_name": "Bash", "tool_input": { "command": COMMAND }, "tool_use_id": id, "transcript_path": "",
            "tool_response": "",
        })
        .to_string()
    };
    for at in (1..60).step_by(3) {
        let project = Project::new();
        project.run(PREPARE);
        let before = project.state();
        let variables = wrapper(&project);
        let is_seen = || std::fs::read(project.0.at("seen")).is_ok_and(|seen| seen.len() >= at);
        // While it saves: nothing of the repository is another, and the next time it saves all.
        project.killed_with(&variables, &["hook", "claude"], &payload(&project, "PreToolUse", "1"), is_seen);
        assert_eq!(project.state(), before, "{at}");
        for (id, event) in [("2", "PreToolUse"), ("2", "PostToolUse")] {
            let text = payload(&project, event, id);
            project.0.run_with(&["hook", "claude", "--no-lens"], text.as_bytes(), &project.environment());
            if event == "PreToolUse" {
                project.run(COMMAND);
            }
        }
        assert_ne!(project.state(), before);
        std::fs::remove_file(project.0.at("seen")).expect("it asked git");
        // While it restores: the rest comes with the next one.
        project.killed_with(&variables, &["undo"], "", is_seen);
        let output = project.undo(&["--force"]);
        assert_eq!(project.state(), before, "{at}: {}", text(&output));
    }
}
