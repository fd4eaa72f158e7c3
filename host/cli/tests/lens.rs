//! What an agent is told of the files that it changed, by the daemon that the command starts. `shellcheck` is the tool,
//! as it needs no configuration and no trust.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_test_support::skip::missing;

/// A script with a mistake, what the mistake is called, and one without.
const MISTAKE: &str = "#!/bin/sh\necho $1\n";
const FOUND: &str = "SC2086";
const FINE: &str = "#!/bin/sh\necho \"$1\"\n";

/// A home folder with a project in it, and an agent's session there.
struct Session {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Session {
    /// None where the tool is missing; the test is then skipped.
    #[track_caller]
    fn new(name: &'static str) -> Option<Self> {
        if Command::new("shellcheck").arg("--version").stdout(Stdio::null()).status().is_err() {
            missing("shellcheck", "shellcheck is not installed");
            return None;
        }
        let session = Session { folder: tempfile::tempdir().expect("a scratch folder"), name };
        std::fs::create_dir_all(session.project()).expect("a folder");
        assert!(session.git(&["init", "-q"]));
        Some(session)
    }

    fn git(&self, arguments: &[&str]) -> bool {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(self.project()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.status().is_ok_and(|status| status.success())
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a real path")
    }

    fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    fn write(&self, path: &str, content: &str) -> String {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, content).expect("a file");
        path.display().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.args(arguments).current_dir(self.project()).env_clear();
        command.env("HOME", self.home()).env("TOOLGATE_NO_SERVE", "1");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// The answer to an event of Claude Code.
    fn event(&self, event: &str, more: Value) -> Value {
        self.event_with(&["hook", "claude", event], event, more)
    }

    fn event_with(&self, arguments: &[&str], event: &str, more: Value) -> Value {
        let mut payload = json!({
            "hook_event_name": event, "session_id": self.name, "cwd": self.project(), "permission_mode": "default",
        });
        for (key, value) in more.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        let mut child = self.command(arguments).spawn().expect("the command starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(payload.to_string().as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{event}: {}", output.status);
        match output.stdout.as_slice() {
            [] => Value::Null,
            text => serde_json::from_slice(text).expect("JSON"),
        }
    }

    fn start(&self) -> Value {
        self.event("SessionStart", json!({ "source": "startup" }))
    }

    fn wrote(&self, path: &str, content: &str) -> Value {
        let path = self.write(path, content);
        let input = json!({ "file_path": path, "content": content });
        self.event("PostToolUse", json!({ "tool_name": "Write", "tool_input": input, "tool_response": {} }))
    }

    fn ran(&self, command: &str) -> Value {
        let input = json!({ "command": command });
        self.event("PostToolUse", json!({ "tool_name": "Bash", "tool_input": input, "tool_response": {} }))
    }

    fn failed(&self, command: &str) -> Value {
        let more = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": "Exit code 1" });
        self.event("PostToolUseFailure", more)
    }

    fn stop(&self) -> Value {
        self.event("Stop", json!({ "stop_hook_active": false }))
    }

    /// The sockets of daemons.
    fn daemons(&self) -> usize {
        let folder = self.home().join(".local/state/toolgate/run");
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("lens-")).count()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.event("SessionEnd", json!({ "reason": "other" }));
        let end = Instant::now() + Duration::from_secs(10);
        while self.daemons() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        if !std::thread::panicking() {
            assert_eq!(self.daemons(), 0, "the daemon leaves with the last session, and leaves nothing behind");
        }
    }
}

fn text(answer: &Value) -> &str {
    let keys = ["/hookSpecificOutput/additionalContext", "/reason", "/systemMessage"];
    keys.iter().find_map(|key| answer.pointer(key)?.as_str()).unwrap_or_default()
}

#[test]
fn what_was_written_is_checked_and_told() {
    let Some(session) = Session::new("told") else { return };
    assert_eq!(session.start(), Value::Null);
    assert_eq!(session.daemons(), 1);
    assert!(text(&session.wrote("project/a.sh", MISTAKE)).contains(FOUND));
    assert!(!text(&session.wrote("project/b.sh", FINE)).contains(FOUND));
    assert_eq!(session.wrote("project/a.unknown", "x"), Value::Null, "nothing is there to check it with");
    assert_eq!(session.wrote("outside.sh", MISTAKE), Value::Null, "it is not in the project");
    session.write("project/c.sh", MISTAKE);
    assert!(text(&session.ran("printf x > c.sh")).contains(FOUND), "what a command writes is found in its text");
    assert_eq!(session.failed("printf x > c.sh"), Value::Null, "a result that is an error is not looked at");
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": "a.sh" }, "tool_response": {} });
    assert_eq!(session.event("PostToolUse", read), Value::Null);
    let long = "x\n".repeat(2_000);
    let named = session.wrote("project/new\nline.sh", &format!("{MISTAKE}{long}"));
    assert!(!text(&named).contains("new\nline"), "{named}");
}

#[test]
fn what_no_event_told_of_sends_the_agent_on_once() {
    let Some(session) = Session::new("turn") else { return };
    session.start();
    assert_eq!(session.stop(), Value::Null, "nothing has changed");
    session.write("project/a.sh", MISTAKE);
    session.failed("./generate");
    let sent = session.stop();
    assert!(sent["decision"] == "block" && text(&sent).contains(FOUND), "{sent}");
    assert_eq!(session.stop(), Value::Null, "the same is not said twice");
    session.write("project/b.sh", MISTAKE);
    session.failed("./generate");
    let again = session.event("Stop", json!({ "stop_hook_active": true }));
    assert_eq!(again, Value::Null, "the agent was sent on already");
    session.write("project/fine.sh", FINE);
    session.failed("./generate");
    let fine = session.stop();
    assert!(!text(&fine).contains("fine.sh"), "{fine}");
}

#[test]
fn results_at_once_are_all_told_and_none_is_forgotten() {
    let Some(session) = Session::new("parallel") else { return };
    session.start();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..10)
            .map(|n| {
                let session = &session;
                scope.spawn(move || session.wrote(&format!("project/{n}.sh"), MISTAKE))
            })
            .collect();
        for run in runs {
            assert!(text(&run.join().expect("no panic")).contains(FOUND));
        }
    });
    session.failed("true");
    assert_eq!(session.stop(), Value::Null, "all of it was told");
    assert_eq!(session.daemons(), 1);
}

#[test]
fn what_the_user_switched_off_stays_off() {
    let cases = [
        ("user", "lens: {enabled: false}", ""),
        ("user against project", "lens: {enabled: false}", r#"{"enabled": true}"#),
        ("linters", "lens: {linters: false}", r#"{"linters": true}"#),
        ("project", "", r#"{"linters": false}"#),
        ("excluded", "", r#"{"excludePatterns": ["*.sh"]}"#),
    ];
    for (about, user, project) in cases {
        let Some(session) = Session::new("off") else { return };
        session.write(".config/toolgate/toolgate.yaml", user);
        if !project.is_empty() {
            session.write("project/.pi-lens.json", project);
        }
        session.start();
        assert_eq!(session.wrote("project/a.sh", MISTAKE), Value::Null, "{about}");
        assert_eq!(session.daemons(), usize::from(!user.contains("enabled")), "{about}");
    }
    let Some(session) = Session::new("option") else { return };
    let start = ["hook", "claude", "SessionStart", "--no-lens"];
    session.event_with(&start, "SessionStart", json!({ "source": "startup" }));
    assert_eq!(session.daemons(), 0);
}

#[test]
fn settings_that_are_wrong_are_told_at_the_start() {
    let Some(session) = Session::new("wrong") else { return };
    session.write("project/.pi-lens.json", "{broken");
    session.write(".config/toolgate/toolgate.yaml", "lens: {lsp: maybe}");
    let answer = session.start();
    let said = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(said.contains(".pi-lens.json") && said.contains("lsp must be true or false"), "{answer}");
    assert!(text(&session.wrote("project/a.sh", MISTAKE)).contains(FOUND), "all else goes on");
}

#[test]
fn in_an_agent_with_a_shim_it_is_appended_and_shown() {
    let Some(session) = Session::new("pi") else { return };
    let mut child = session.command(&["serve", "--stdio", "pi"]).spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut ask = |id: u64, event: Value| -> (Value, Vec<Value>) {
        let payload = json!({ "event": event, "cwd": session.project(), "hasUI": true, "session": session.name });
        let frame = json!({ "schema": 1, "id": id, "event": event["type"], "payload": payload });
        stdin.write_all(format!("{frame}\n").as_bytes()).expect("it reads");
        let mut others = Vec::new();
        for line in lines.by_ref() {
            let frame: Value = serde_json::from_str(&line).expect("JSON");
            if frame["id"] == id {
                return (frame["result"].clone(), others);
            }
            others.push(frame);
        }
        panic!("no answer to {id}");
    };
    let statuses = |frames: &[Value]| -> Vec<String> {
        let lens = frames.iter().filter(|frame| frame["status"]["key"] == "pi-lens");
        lens.map(|frame| frame["status"]["text"].as_str().unwrap_or("cleared").to_owned()).collect()
    };
    let wrote = |id: u64, path: &str| {
        let input = json!({ "path": path, "content": "" });
        let content = json!([{ "type": "text", "text": "ok" }]);
        json!({
            "type": "tool_result", "toolCallId": id.to_string(), "toolName": "write", "input": input,
            "content": content, "isError": false,
        })
    };
    let (_, shown) = ask(1, json!({ "type": "session_start", "reason": "startup" }));
    assert!(shown.iter().any(|frame| frame["notify"]["message"] == "pi-lens: ready"), "{shown:?}");
    assert_eq!(statuses(&shown).len(), 1, "{shown:?}");
    session.write("project/a.sh", MISTAKE);
    let (result, shown) = ask(2, wrote(2, "a.sh"));
    assert!(result["append"].as_str().is_some_and(|text| text.contains(FOUND)), "{result}");
    assert!(statuses(&shown).iter().any(|status| status.contains("\"linters\":\"issues\"")), "{shown:?}");
    let (_, shown) = ask(3, wrote(3, "a.sh"));
    assert_eq!(statuses(&shown).len(), 0, "the same is not shown twice: {shown:?}");
    session.write("project/b.sh", FINE);
    let (_, shown) = ask(4, wrote(4, "b.sh"));
    assert!(statuses(&shown).iter().any(|status| status.contains("\"linters\":\"clean\"")), "{shown:?}");
    let (result, _) = ask(5, json!({ "type": "agent_end", "again": false }));
    assert_eq!(result, json!({}), "all of it was told");
    let (_, shown) = ask(6, json!({ "type": "session_shutdown", "reason": "quit" }));
    assert_eq!(statuses(&shown), ["cleared"]);
    drop(stdin);
    assert!(child.wait().is_ok_and(|status| status.success()));
}

#[test]
fn files_are_checked_by_hand_as_well() {
    let Some(session) = Session::new("hand") else { return };
    session.write("project/a.sh", MISTAKE);
    session.write("project/b.sh", FINE);
    let run = |arguments: &[&str]| {
        let output = session.command(arguments).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text") + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    for (arguments, code, says) in [
        (&["lens", "check"][..], Some(1), FOUND),
        (&["lens", "check", "b.sh"], Some(0), "linters: 0 issues"),
        (&["lens", "check", "--json", "a.sh"], Some(1), "\"rule\":\"SC2086\""),
        (&["lens", "check", "none.sh"], Some(66), ""),
        (&["lens", "check", "."], Some(65), ""),
        (&["lens", "status", "/none"], Some(66), ""),
        (&["lens", "trust", "/none"], Some(66), ""),
        (&["lens", "trust", "a.sh"], Some(65), ""),
        (&["lens", "status"], Some(0), "not running"),
        (&["lens", "status", "--json"], Some(0), "\"running\":false"),
        (&["lens", "trust", "--list"], Some(0), "no trusted folders"),
        (&["lens", "trust"], Some(2), ""),
        (&["lens", "stop"], Some(0), "there is none"),
    ] {
        let (found, text) = run(arguments);
        assert!(found == code && text.contains(says), "{arguments:?}: {found:?} {text}");
    }
    assert!(session.git(&["add", "."]));
    let identity = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"];
    assert!(session.git(&[&identity[..], &["commit", "-q", "-m", "x"]].concat()));
    let (code, text) = run(&["lens", "check", "--json"]);
    let none: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &none["hasIssues"], &none["problems"]), (Some(0), &json!(false), &json!([])), "{text}");
    let trusted = session.home().join(".local/state/toolgate/trusted-folders.json");
    assert!(!trusted.exists(), "who has no terminal trusts nothing");
    assert_eq!(run(&["lens", "untrust"]).0, Some(66), "it is not in the list");
    // Where HOME is not set the account's home counts, as for every other command.
    for home in [None, Some("relative")] {
        let code = |arguments: &[&str]| {
            let mut command = session.command(arguments);
            command.env_remove("HOME").envs(home.map(|home| ("HOME", home)));
            command.output().expect("it runs").status.code()
        };
        assert_eq!(code(&["lens", "trust", "--list"]), code(&["allow", "--list"]), "{home:?}");
    }
}
