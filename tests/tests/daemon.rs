//! The client of check daemons: against one that misbehaves, the one that it stands in for, and our own.

use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_capabilities::LocalDaemon;
use toolgate_checks_tests::fake::Fake;
use toolgate_checks_tests::project::lay_out;
use toolgate_checks_tests::tools::Tools;
use toolgate_host::CapabilityError;
use toolgate_host::capability::Daemon;
use toolgate_test_support::skip::skip;

/// A folder that is the user's alone.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let root = folder.path().canonicalize().expect("its real path");
    (folder, root)
}

fn own(folder: &Path, command: Vec<OsString>, session: &str) -> LocalDaemon {
    LocalDaemon::own(folder.display().to_string(), &folder.join("run"), command, session)
}

/// What an error is, in a word.
fn kind(error: &CapabilityError) -> &'static str {
    match error {
        CapabilityError::Timeout => "timeout",
        CapabilityError::TooLarge(_) => "too large",
        CapabilityError::Unavailable(_) => "unavailable",
        CapabilityError::Other(_) => "other",
        _ => "something else",
    }
}

/// What the daemon does, and what comes of a request: a result, or a kind of error.
const SCRIPTS: &[(&str, &str)] = &[
    ("good", "result"),
    ("issues", "result"),
    ("refused", "result"),
    ("shape", "result"),
    ("other-first", "result"),
    ("slow:200", "result"),
    ("huge:1000000", "result"),
    ("error", "other"),
    ("never", "timeout"),
    ("stall", "timeout"),
    ("garbage", "timeout"),
    ("binary", "timeout"),
    ("null", "timeout"),
    ("other-id", "timeout"),
    ("slow:60000", "timeout"),
    ("drip:600", "timeout"),
    ("close", "unavailable"),
    ("half", "unavailable"),
    ("huge:52428800", "too large"),
    ("endless:52428800", "too large"),
];

#[tokio::test]
async fn a_daemon_that_misbehaves_is_an_error_in_time() {
    for (script, expected) in SCRIPTS {
        // What is much takes its time on a busy machine.
        let much = script.starts_with("huge") || script.starts_with("endless");
        let limit = Duration::from_secs(if much { 25 } else { 2 });
        let (_kept, folder) = scratch();
        let daemon = own(&folder, Vec::new(), "s").within(limit);
        std::fs::create_dir(folder.join("run")).expect("a folder");
        let _fake = Fake::start(daemon.socket(), script).expect("it listens");
        let before = Instant::now();
        let answer = daemon.request("fullCheck".into(), json!({ "files": ["a"] }).to_string()).await;
        let found = answer.as_ref().map_or_else(kind, |_| "result");
        assert_eq!(found, *expected, "{script}: {answer:?}");
        assert!(before.elapsed() < Duration::from_secs(30), "{script}");
        // The next request is as good as the first.
        drop(answer);
    }
}

#[tokio::test]
async fn only_a_socket_of_the_users_own_is_asked() {
    let (_kept, folder) = scratch();
    let daemon = own(&folder, Vec::new(), "s");
    let run = folder.join("run");
    std::fs::create_dir(&run).expect("a folder");
    let elsewhere = folder.join("elsewhere.sock");
    let fake = Fake::start(&elsewhere, "good").expect("it listens");
    for plant in ["nothing", "file", "folder", "link"] {
        let socket = daemon.socket();
        match plant {
            "file" => std::fs::write(socket, "x").expect("a file"),
            "folder" => std::fs::create_dir(socket).expect("a folder"),
            "link" => symlink(&elsewhere, socket).expect("a link"),
            _ => {}
        }
        let answer = daemon.request("fullCheck".into(), "{}".into()).await;
        assert_eq!(answer.as_ref().map_or_else(kind, |_| "result"), "unavailable", "{plant}");
        let _ = std::fs::remove_file(socket).or_else(|_| std::fs::remove_dir(socket));
    }
    assert!(fake.requests().is_empty());
    assert!(matches!(daemon.request("x".into(), "{".into()).await, Err(CapabilityError::Invalid(_))));
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_an_error_that_says_why() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "no program is configured"),
        (&["/nowhere/lens"], "/nowhere/lens"),
        (&["no-such-lens"], "no-such-lens is not installed"),
        (&["run/lens"], "run/lens is not installed"),
        (&["./lens"], "./lens is not installed"),
        (&["/bin/false"], "ended at once"),
        (&["/bin/true"], "ended at once"),
        (&["/bin/sleep", "60"], "does not listen"),
    ];
    for (command, says) in cases {
        let (_kept, folder) = scratch();
        let daemon = own(&folder, command.iter().map(OsString::from).collect(), "s");
        let error = daemon.ensure().await.expect_err("it does not start");
        assert!(matches!(&error, CapabilityError::Unavailable(why) if why.contains(says)), "{command:?}: {error:?}");
    }
}

/// Our own daemon, as it was built.
fn ours() -> Vec<OsString> {
    toolgate_checks_tests::tools::ours().expect("the daemon is built")
}

async fn asked(daemon: &LocalDaemon, method: &str) -> Value {
    let answer = daemon.request(method.into(), "{}".into()).await.expect("an answer");
    serde_json::from_str(&answer).expect("JSON")
}

/// Waits until nobody listens there any more.
async fn gone(daemon: &LocalDaemon) {
    let end = Instant::now() + Duration::from_secs(20);
    while daemon.socket().exists() {
        assert!(Instant::now() < end, "{} is still there", daemon.socket().display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_share_a_daemon_that_leaves_with_the_last_of_them() {
    let (_kept, folder) = scratch();
    let sessions: Vec<LocalDaemon> = ["a", "b", "c"].map(|session| own(&folder, ours(), session)).into();
    // All at once.
    let starts: Vec<_> = sessions
        .iter()
        .map(|daemon| {
            let daemon = daemon.clone();
            tokio::spawn(async move { daemon.ensure().await })
        })
        .collect();
    for start in starts {
        assert_eq!(start.await.expect("no panic"), Ok(()));
    }
    let first = asked(&sessions[0], "hello").await;
    assert_eq!(first["cwd"], folder.display().to_string());
    for daemon in &sessions {
        assert_eq!(asked(daemon, "hello").await["pid"], first["pid"], "one daemon for all");
    }
    // Once more changes nothing.
    assert_eq!(sessions[0].ensure().await, Ok(()));
    assert_eq!(sessions[0].stop().await, Ok(()));
    assert_eq!(sessions[1].stop().await, Ok(()));
    assert_eq!(asked(&sessions[2], "hello").await["pid"], first["pid"], "one session still needs it");
    assert_eq!(sessions[2].stop().await, Ok(()));
    gone(&sessions[2]).await;
    assert_eq!(sessions[2].stop().await, Ok(()), "there is none to stop");
    assert_eq!(std::fs::read_dir(folder.join("run")).expect("a list").count(), 0, "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_died_or_hangs_is_replaced() {
    let (_kept, folder) = scratch();
    let daemon = own(&folder, ours(), "s");
    assert_eq!(daemon.ensure().await, Ok(()));
    let first = asked(&daemon, "hello").await["pid"].as_i64().expect("a number");
    let killed = std::process::Command::new("kill").args(["-KILL", &first.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    assert_eq!(daemon.ensure().await, Ok(()));
    let second = asked(&daemon, "hello").await["pid"].as_i64().expect("a number");
    assert_ne!(first, second);
    // One that is stopped in its tracks answers nothing.
    let stopped = std::process::Command::new("kill").args(["-STOP", &second.to_string()]).status();
    assert!(stopped.is_ok_and(|status| status.success()));
    assert_eq!(daemon.ensure().await, Ok(()));
    assert_ne!(asked(&daemon, "hello").await["pid"].as_i64(), Some(second));
    assert_eq!(daemon.stop().await, Ok(()));
    gone(&daemon).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_not_the_daemons_program_is_not_believed() {
    let (_kept, folder) = scratch();
    let daemon = own(&folder, ours(), "s");
    let run = folder.join("run");
    std::fs::create_dir(&run).expect("a folder");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let fake = Fake::start(daemon.socket(), "good").expect("it listens");
    let answer = daemon.request("fullCheck".into(), "{}".into()).await;
    assert_eq!(answer.as_ref().map_or_else(kind, |_| "result"), "unavailable");
    assert_eq!(daemon.stop().await, Ok(()));
    assert!(daemon.socket().exists(), "asking takes nothing away");
    // It loses its place, and nothing else: it is this process.
    assert_eq!(daemon.ensure().await, Ok(()));
    assert_eq!(asked(&daemon, "hello").await["name"], "toolgate-lens");
    assert!(fake.requests().is_empty(), "nothing was asked");
    assert_eq!(daemon.stop().await, Ok(()));
    gone(&daemon).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_whose_program_was_updated_is_replaced() {
    let (_kept, folder) = scratch();
    let (program, built) = (folder.join("lens"), ours().remove(0));
    // By a process of its own: a file that this one has open for writing cannot be run.
    let copy = |to: &Path| {
        let copied = std::process::Command::new("cp").arg(&built).arg(to).status();
        assert!(copied.is_ok_and(|status| status.success()));
    };
    copy(&program);
    let daemon = own(&folder, vec![program.clone().into()], "s");
    assert_eq!(daemon.ensure().await, Ok(()));
    let first = asked(&daemon, "hello").await["pid"].as_i64().expect("a number");
    copy(&folder.join("new"));
    std::fs::rename(folder.join("new"), &program).expect("an update");
    let answer = daemon.request("hello".into(), "{}".into()).await;
    assert_eq!(answer.as_ref().map_or_else(kind, |_| "result"), "unavailable");
    assert_eq!(daemon.ensure().await, Ok(()));
    assert_ne!(asked(&daemon, "hello").await["pid"].as_i64(), Some(first));
    assert!(!Path::new("/proc").join(first.to_string()).exists(), "the older one has ended, and was waited for");
    assert_eq!(daemon.stop().await, Ok(()));
    gone(&daemon).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_code_lens_is_started_asked_and_stopped() {
    let tools = Tools::find().expect("the set-up came to its end").ok();
    let command = tools.as_ref().and_then(Tools::code_lens);
    let (Some(tools), Some(command)) = (tools, command) else {
        return skip("code-lens is not installed; `just checks-setup` does that");
    };
    let (_kept, folder) = scratch();
    lay_out("typescript", &folder, Some(&tools)).expect("a project");
    let daemon = LocalDaemon::code_lens(folder.display().to_string(), &folder, command.clone());
    assert_eq!(daemon.ensure().await, Ok(()));
    let metadata = std::fs::read_dir(folder.join(".code-lens")).expect("a list").filter_map(Result::ok).next();
    let metadata = std::fs::read(metadata.expect("a file").path()).expect("it is read");
    let metadata: Value = serde_json::from_slice(&metadata).expect("JSON");
    assert_eq!(metadata["cwd"], folder.display().to_string());
    assert_eq!(metadata["socketPath"], daemon.socket().display().to_string());
    // Its first linter run looks for all that there are, by `npx`, which takes its time.
    let config = json!({ "linters": true, "linterTimeoutMs": 60_000 });
    let params = json!({ "files": [folder.join("src/problems.ts")], "config": config }).to_string();
    let answer = daemon.request("fullCheck".into(), params).await.expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let text = answer["content"][0]["text"].as_str().expect("a text");
    assert_eq!(
        (&answer["isError"], &answer["details"]["statuses"]["linters"]),
        (&json!(false), &json!("issues")),
        "{text}"
    );
    assert!(text.contains("src/problems.ts:") && text.contains("[eslint]"), "{text}");
    let unknown = daemon.request("nonsense".into(), "{}".into()).await;
    assert!(matches!(&unknown, Err(CapabilityError::Other(why)) if why.contains("Unknown method")), "{unknown:?}");
    // Another session uses it and does not end it; who started it does.
    let other = LocalDaemon::code_lens(folder.display().to_string(), &folder, command.clone());
    assert_eq!(other.ensure().await, Ok(()));
    assert_eq!(other.stop().await, Ok(()));
    assert!(daemon.socket().exists());
    assert_eq!(daemon.stop().await, Ok(()));
    gone(&daemon).await;
    assert_eq!(std::fs::read_dir(folder.join(".code-lens")).expect("a list").count(), 0);
    // One that cannot be described is used all the same, and ended by who started it.
    let daemon = LocalDaemon::code_lens(folder.display().to_string(), &folder.join("a.txt"), command);
    assert_eq!(daemon.ensure().await, Ok(()));
    assert_eq!(daemon.stop().await, Ok(()));
    gone(&daemon).await;
}
