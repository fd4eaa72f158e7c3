//! The daemon as a process: its socket, its protocol, its end, and tools that misbehave.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{Scratch, set_mode, until};
use serde_json::{Value, json};

/// Says for each file that its first line has a problem.
const SHELLCHECK: &str = r#"#!/bin/sh
shift 3
for file; do
  sep=${all:+,}
  all="$all$sep{\"file\":\"$file\",\"line\":1,\"column\":2,\"level\":\"warning\",\"code\":2154,\"message\":\"m\"}"
done
echo "{\"comments\":[$all]}"
exit 1
"#;

fn project() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("project/a.sh", "x\n");
    scratch.program("bin/shellcheck", SHELLCHECK);
    scratch
}

fn lint(files: &[&str]) -> Value {
    json!({ "files": files, "config": { "linters": true, "linterTimeoutMs": 1000 } })
}

#[test]
fn a_check_names_file_line_and_rule() {
    let scratch = project();
    let daemon = scratch.start();
    let mut result = daemon.connect().ask("fullCheck", &lint(&["a.sh"]));
    let text = "  ⚠ Lint Results: 0 error(s), 1 warning(s), in 1 file(s)\n ⚠ a.sh:1:2: m (SC2154) [shellcheck]";
    assert_eq!(result["content"][0]["text"], text);
    assert!(result["details"]["durationMs"].take().is_u64());
    let problem = json!({ "file": "a.sh", "line": 1, "column": 2, "severity": "warning", "message": "m", "rule": "SC2154",
                          "source": "shellcheck" });
    let expected = json!({
        "statuses": { "prettier": "skipped", "linters": "issues", "lsp": "skipped", "tsc": "skipped" },
        "hasIssues": true, "problems": [problem], "notes": [], "unformatted": [], "fileCount": 1, "durationMs": null,
    });
    assert_eq!(result["details"], expected);
    assert_eq!(result["isError"], false);
}

#[test]
fn a_check_that_cannot_be_is_refused_with_a_reason() {
    let scratch = project();
    let daemon = scratch.start();
    let missing = "Missing or empty 'files' parameter.";
    let cases = [
        (json!(null), missing),
        (json!([]), missing),
        (json!({ "files": [] }), missing),
        (json!({ "files": "a.sh" }), missing),
        (json!({ "files": [1] }), missing),
        (json!({ "files": ["a.sh", "/etc/passwd"] }), "Path traversal rejected: \"/etc/passwd\""),
        (json!({ "files": ["../x\n"] }), "Path traversal rejected: \"../x\\n\""),
    ];
    for (params, text) in cases {
        let result = daemon.connect().ask("fullCheck", &params);
        assert_eq!((&result["content"][0]["text"], &result["isError"]), (&json!(text), &json!(true)), "{params}");
    }
}

#[test]
fn no_line_ends_it() {
    let scratch = project();
    let daemon = scratch.start();
    let mut client = daemon.connect();
    let (deep, long) = ("[".repeat(200_000), format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20)));
    let lines: [&[u8]; 9] =
        [b"null", b"[]", b"7", b"", b"\xff", b"{", b"{\"id\":1,\"method\":\"nope\"}", deep.as_bytes(), long.as_bytes()];
    for line in lines {
        client.send(&[line, b"\n"].concat());
        assert_eq!(
            client.answer()["error"]["code"],
            -32004,
            "{}",
            String::from_utf8_lossy(line).get(..9).unwrap_or("-")
        );
    }
    client.send(b"{\"half\":");
    drop(client);
    assert_eq!(daemon.connect().ask("hello", &json!({}))["name"], "toolgate-lens");
}

#[test]
fn ten_at_once_are_answered_in_any_order() {
    let scratch = project();
    let daemon = scratch.start();
    let mut client = daemon.connect();
    for id in 0..10 {
        client.request("fullCheck", &lint(&["a.sh"]), id);
    }
    let ids: BTreeSet<_> = (0..10).map(|_| client.answer()["id"].as_u64()).collect();
    assert_eq!(ids.len(), 10);
    scratch.program("bin/shellcheck", "#!/bin/sh\nread x <>\"$0.pipe\"\n");
    std::process::Command::new("mkfifo").arg(scratch.at("bin/shellcheck.pipe")).status().expect("a pipe");
    client.request("fullCheck", &lint(&["a.sh"]), 1);
    client.request("hello", &json!({}), 2);
    assert_eq!((client.answer()["id"].as_u64(), client.answer()["id"].as_u64()), (Some(2), Some(1)));
}

#[test]
fn a_client_that_goes_away_takes_nobody_with_it() {
    let scratch = project();
    let daemon = scratch.start();
    let mut stays = daemon.connect();
    for id in 0..4 {
        let mut gone = daemon.connect();
        gone.request("fullCheck", &lint(&["a.sh"]), id);
        stays.request("fullCheck", &lint(&["a.sh"]), id);
    }
    let ids: BTreeSet<_> = (0..4).map(|_| stays.answer()["id"].as_u64()).collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn a_tool_that_fails_is_an_error_and_never_clean() {
    let cases = [
        ("garbage", "#!/bin/sh\necho garbage; exit 1\n", "its output is invalid"),
        ("nothing", "#!/bin/sh\nexit 0\n", "its output is invalid"),
        ("internal", "#!/bin/sh\necho broken >&2; exit 3\n", "ended with exit status: 3: broken"),
        ("crash", "#!/bin/sh\nkill -SEGV $$\n", "signal: 11"),
        ("flood", "#!/bin/sh\nexec head -c 20000000 /dev/zero\n", "its output is invalid"),
        ("errors", "#!/bin/sh\nhead -c 20000000 /dev/zero >&2; exit 2\n", "ended with exit status: 2"),
        ("start", "#!/none\n", "did not run"),
        ("hang", "#!/bin/sh\nsleep 1000\n", "shellcheck took longer than 1000 ms"),
    ];
    let scratch = project();
    let daemon = scratch.start();
    for (name, program, note) in cases {
        scratch.program("bin/shellcheck", program);
        let result = daemon.connect().ask("fullCheck", &lint(&["a.sh"]));
        assert_eq!(result["details"]["statuses"]["linters"], "error", "{name}");
        assert!(result["details"]["notes"][0].as_str().is_some_and(|said| said.contains(note)), "{name}: {result}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.len() < 2000), "{name}");
    }
}

#[test]
fn what_a_tool_leaves_running_is_ended() {
    let scratch = project();
    let daemon = scratch.start();
    scratch.program("bin/shellcheck", "#!/bin/sh\nsleep 1000 &\necho $! > \"$0.pid\"\nsleep 1000\n");
    let result = daemon.connect().ask("fullCheck", &lint(&["a.sh"]));
    assert_eq!(result["details"]["statuses"]["linters"], "error");
    let id = std::fs::read_to_string(scratch.at("bin/shellcheck.pid")).expect("it ran");
    until("it is gone", || gone(id.trim()));
}

/// Whether a process has ended, though its parent may not have asked how.
fn gone(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn of_two_at_once_one_stays() {
    let scratch = project();
    let mut children: Vec<_> = (0..4).map(|_| scratch.command(&[]).spawn().expect("started")).collect();
    let mut ended = Vec::new();
    until("all but one have ended", || {
        children.retain_mut(|child| match child.try_wait().expect("its state") {
            Some(status) => {
                ended.push(status.code());
                false
            }
            None => true,
        });
        children.len() == 1
    });
    assert_eq!(ended, [Some(0); 3]);
    let mode = scratch.socket().metadata().expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for mut child in children {
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    // What it left is replaced.
    let daemon = scratch.start();
    assert_eq!(daemon.connect().ask("hello", &json!({}))["pid"], daemon.id());
}

fn nothing_is_left(scratch: &Scratch) {
    assert_eq!(std::fs::read_dir(scratch.at("run")).expect("a list").count(), 0);
}

#[test]
fn it_ends_when_told_and_leaves_nothing() {
    for end in ["stop", "session", "TERM", "INT"] {
        let scratch = project();
        let mut daemon = scratch.start();
        let mut client = daemon.connect();
        scratch.program("bin/shellcheck", "#!/bin/sh\necho $$ > \"$0.new\"; mv \"$0.new\" \"$0.pid\"\nsleep 1000\n");
        // The end of the last session waits for answers.
        let limit = if end == "session" { 2000 } else { 100_000 };
        let slow =
            json!({ "files": ["a.sh"], "config": { "linters": true, "linterTimeoutMs": 100_000 }, "limitMs": limit });
        client.request("fullCheck", &slow, 7);
        until("the linter runs", || scratch.at("bin/shellcheck.pid").exists());
        match end {
            "stop" => assert_eq!(daemon.connect().ask("stop", &json!({})), json!({})),
            "session" => {
                let mut other = daemon.connect();
                assert_eq!(other.ask("sessionStart", &json!({ "session": "a" }))["sessions"], 1);
                assert_eq!(other.ask("sessionStart", &json!({ "session": "b" }))["sessions"], 2);
                assert_eq!(other.ask("sessionEnd", &json!({ "session": "a" }))["sessions"], 1);
                assert_eq!(other.ask("sessionEnd", &json!({ "session": "b" }))["sessions"], 0);
                assert_eq!(client.answer()["result"]["details"]["statuses"]["linters"], "error");
            }
            name => {
                let id = daemon.id().to_string();
                std::process::Command::new("kill").args(["-s", name, &id]).status().expect("told");
            }
        }
        assert_eq!(daemon.end().code(), Some(0), "{end}");
        nothing_is_left(&scratch);
        let id = std::fs::read_to_string(scratch.at("bin/shellcheck.pid")).expect("it ran");
        until("the linter is gone", || gone(id.trim()));
    }
}

#[test]
fn all_checks_together_have_one_deadline() {
    let scratch = project();
    scratch.write("project/a.go", "package a\n");
    scratch.program("bin/gofmt", "#!/bin/sh\n");
    scratch.program("bin/shellcheck", "#!/bin/sh\nsleep 1000\n");
    scratch.write("project/a.css", "");
    scratch.write("project/biome.json", "{}");
    scratch.program("bin/biome", "#!/bin/sh\nsleep 1000\n");
    let daemon = scratch.start();
    let config = json!({ "prettier": true, "linters": true, "linterTimeoutMs": 100_000, "prettierTimeoutMs": 100_000,
                         "maxConcurrency": 2 });
    let params = json!({ "files": ["a.go", "a.sh", "a.css"], "config": config, "limitMs": 1500 });
    let details = daemon.connect().ask("fullCheck", &params)["details"].take();
    assert!(details["durationMs"].as_u64().is_some_and(|time| (1500..3000).contains(&time)), "{details}");
    assert_eq!(details["statuses"]["linters"], "error");
    for tool in ["shellcheck", "biome"] {
        assert!(details["notes"].to_string().contains(&format!("{tool} took longer than 1500 ms")), "{details}");
    }
}

#[test]
fn trust_and_new_configuration_count_from_the_next_check_on() {
    let scratch = Scratch::new();
    scratch.write("project/a.js", "x\n");
    let found =
        r#"[{"filePath":"$PWD/a.js","messages":[{"ruleId":"r","severity":2,"message":"m","line":3,"column":4}]}]"#;
    scratch.program("project/node_modules/.bin/eslint", &format!("#!/bin/sh\ncat <<end\n{found}\nend\nexit 1\n"));
    let daemon = scratch.start();
    let status = || daemon.connect().ask("fullCheck", &lint(&["a.js"]))["details"]["statuses"]["linters"].take();
    assert_eq!(status(), "skipped", "nothing says that there is a linter");
    let list = scratch.trust();
    assert_eq!(status(), "skipped");
    let config = scratch.write("project/eslint.config.js", "");
    assert_eq!(status(), "issues");
    assert_eq!(daemon.connect().ask("status", &json!({}))["trusted"], true);
    std::fs::remove_file(list).expect("removed");
    assert_eq!(status(), "skipped", "no longer trusted");
    assert_eq!(daemon.connect().ask("status", &json!({}))["trusted"], false);
    scratch.trust();
    assert_eq!(status(), "issues");
    std::fs::remove_file(config).expect("removed");
    assert_eq!(status(), "skipped");
}

#[test]
fn a_socket_that_is_anothers_stays() {
    let scratch = project();
    let mut first = scratch.start();
    std::fs::remove_file(scratch.socket()).expect("removed");
    let second = scratch.start();
    assert_eq!(first.end().code(), Some(0), "its socket is another's");
    assert_eq!(second.connect().ask("hello", &json!({}))["pid"], second.id());
}

#[test]
fn it_does_not_start_without_its_place() {
    let scratch = project();
    let fails = |change: &dyn Fn(&mut std::process::Command)| {
        let mut command = scratch.command(&[]);
        change(&mut command);
        let output = command.output().expect("run");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(
        fails(&|command| {
            command.env_remove("CODE_LENS_SOCKET_PATH");
        })
        .contains("CODE_LENS_SOCKET_PATH")
    );
    assert!(
        fails(&|command| {
            command.env_remove("CODE_LENS_CWD");
        })
        .contains("CODE_LENS_CWD")
    );
    assert!(
        fails(&|command| {
            command.env("CODE_LENS_CWD", "/none/at/all");
        })
        .contains("CODE_LENS_CWD")
    );
    set_mode(&scratch.at("run"), 0o755);
    assert!(fails(&|_| {}).contains("0700"));
    assert!(!Path::new(&scratch.socket()).exists());
}
