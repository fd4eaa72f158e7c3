//! Hosts that stay: the resident one that hooks ask, and the one behind a shim.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::scene::Scene;
use serde_json::{Value, json};
use toolgate_test_components::{built, target};
use toolgate_test_support::skip::skip;

/// A command that lives until the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn variables(scene: &Scene) -> Vec<(&'static str, String)> {
    crate::environment::variables(scene, "debug")
}

/// Starts the command, with its standard input and output.
fn start(scene: &Scene, arguments: &[&str]) -> (Running, ChildStdin, BufReader<ChildStdout>) {
    start_with(scene, arguments, &[])
}

/// The same with these variables besides, or in the place of others.
fn start_with(
    scene: &Scene,
    arguments: &[&str],
    besides: &[(&str, String)],
) -> (Running, ChildStdin, BufReader<ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(arguments)
        .current_dir(scene.at("home/project"))
        .env_clear()
        .envs(variables(scene))
        .envs(besides.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let (stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    (Running(child), stdin, BufReader::new(stdout))
}

/// A resident host that listens, and where.
fn resident(scene: &Scene) -> (Running, PathBuf) {
    resident_with(scene, &[])
}

/// The same with these variables besides, or in the place of others.
fn resident_with(scene: &Scene, besides: &[(&str, String)]) -> (Running, PathBuf) {
    let (running, _stdin, mut stdout) = start_with(scene, &["serve"], besides);
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let path = line.trim_end().strip_prefix("listening on ").expect("it says where it listens").into();
    (running, path)
}

/// What a resident host says first.
fn greeting(socket: &std::path::Path) -> String {
    let mut line = String::new();
    let stream = UnixStream::connect(socket).expect("it listens");
    BufReader::new(stream).read_line(&mut line).expect("a line");
    line.trim_end().to_owned()
}

/// What a host says that passes everything: by itself, and in the form of an answer.
fn forged(greeting: &str) -> [Value; 2] {
    let hello: Value = serde_json::from_str(greeting).expect("JSON");
    let pass = json!({
        "verdict": {"decision": "Pass", "findings": []}, "diagnostics": [], "memory": null, "memories": {}, "events": [], "digests": {}, "took": {"secs": 0, "nanos": 1},
    });
    [json!({"nonce": "0".repeat(32), "hello": hello, "judged": pass}), pass]
}

/// The decision of Claude Code's hook on a command, and whether the resident host gave it.
fn hook(scene: &Scene, command: &str, variables: &[(&'static str, String)]) -> (String, bool) {
    hook_with(scene, command, variables, &[])
}

/// The same with these options.
fn hook_with(scene: &Scene, command: &str, variables: &[(&'static str, String)], options: &[&str]) -> (String, bool) {
    let payload = json!({
        "session_id": "", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command},
    });
    let arguments = [&["hook", "claude"], options].concat();
    let output = scene.run_with(&arguments, payload.to_string().as_bytes(), variables);
    assert_eq!(output.status.code(), Some(0));
    let resident = String::from_utf8_lossy(&output.stderr).contains("evaluated by the resident host");
    (String::from_utf8(output.stdout).expect("UTF-8"), resident)
}

/// A plugin that takes longer to compile than a hook may take is in force all the same after a while.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn a_large_plugin_is_compiled_by_the_host_that_a_late_hook_starts() {
    let plugin = target().join("plugins/js-gate.wasm").display().to_string();
    if !target().join("plugins/js-gate.wasm").exists() && std::env::var_os("CI").is_none() {
        return skip("js-gate is not built; `just plugins` does that");
    }
    let scene = Scene::new();
    // The built-in rules ask about the same command.
    let options = &["--packs=-publishing", "--plugin", plugin.as_str()];
    let mut calls = (0..60).map(|_| hook_with(&scene, "ls", &variables(&scene), options).0);
    let mut late = calls.by_ref().skip_while(|answer| answer.contains("no verdict within"));
    assert_eq!(late.next().as_deref(), Some(""), "the first that is not late is judged");
    assert_eq!(calls.next().as_deref(), Some(""), "and so are those after it");
    let asked = hook_with(&scene, "npm publish", &variables(&scene), options).0;
    assert!(asked.contains("cannot be taken back"), "{asked}");
}

/// The decision that the resident host gives. On a machine that is busy a hook may judge itself; it is asked again then.
fn by_host(scene: &Scene, command: &str) -> String {
    let mut tries = (0..50).map(|_| hook(scene, command, &variables(scene)));
    tries.find_map(|(answer, by_resident)| by_resident.then_some(answer)).expect("the resident host answers")
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn a_resident_host_is_used_and_is_the_users_alone() {
    let scene = Scene::new();
    let (_running, socket) = resident(&scene);
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().expect("a folder"))), (0o600, 0o700));
    for (command, denied) in [("ls", false), ("rm -rf ~", true)] {
        let answer = by_host(&scene, command);
        assert_eq!(answer.contains("\"deny\""), denied, "{command}: {answer}");
    }
    // Whose files are elsewhere, and who does not want it, is not served by it.
    scene.write("other/x", "");
    let other = [("HOME", scene.at("other").display().to_string()), ("TOOLGATE_NO_SERVE", "1".to_owned())];
    for change in other {
        let mut variables = variables(&scene);
        variables.retain(|(name, _)| *name != change.0);
        variables.push(change.clone());
        assert!(!hook(&scene, "ls", &variables).1, "{change:?}");
    }
    // A second one has nothing to do.
    let (mut second, ..) = start(&scene, &["serve"]);
    assert_eq!(second.0.wait().expect("it ends").code(), Some(74));
}

/// Rules that change count at the next call, with a resident host as without.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn a_resident_host_reads_the_rules_anew() {
    let scene = Scene::new();
    let (_running, _) = resident(&scene);
    assert_eq!(by_host(&scene, "make deploy"), "");
    scene.write("home/.config/toolgate/toolgate.yaml", "bashToolPatterns: [{pattern: deploy, reason: no}]");
    let answer = by_host(&scene, "make deploy");
    assert!(answer.contains("deny"), "{answer}");
}

/// The snapshots of rules that are kept.
fn snapshots(scene: &Scene) -> usize {
    let kept = std::fs::read_dir(scene.at("home/.local/state/toolgate/snapshots"));
    let names = kept.into_iter().flatten().map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| !name.to_string_lossy().contains('.')).count()
}

/// Whether a hook that judges itself begins with a snapshot, and what it says.
fn by_itself(scene: &Scene, command: &str) -> (String, bool) {
    let mut variables = variables(scene);
    variables.retain(|(name, _)| *name != "TOOLGATE_NO_SERVE");
    variables.push(("TOOLGATE_NO_SERVE", "1".to_owned()));
    let payload = json!({
        "session_id": "", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command},
    });
    let output = scene.run_with(&["hook", "claude"], payload.to_string().as_bytes(), &variables);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    (String::from_utf8(output.stdout).expect("UTF-8"), log.contains("begins with a snapshot"))
}

/// Rules that were read once are not read again until they are others. The first hook leaves a snapshot when it has answered.
#[test]
fn rules_are_read_once() {
    let scene = Scene::new();
    assert_eq!(by_itself(&scene, "make deploy"), (String::new(), false));
    assert_eq!((by_itself(&scene, "ls").1, snapshots(&scene)), (false, 0), "without rules there is none");
    for (number, pattern) in ["deploy", "release"].iter().enumerate() {
        scene.write(
            "home/.config/toolgate/toolgate.yaml",
            format!("bashToolPatterns: [{{pattern: {pattern}, reason: no}}]"),
        );
        for begins in [false, true, true] {
            let (answer, began) = by_itself(&scene, &format!("make {pattern}"));
            assert!(answer.contains("deny"), "{answer}");
            assert_eq!((began, snapshots(&scene)), (begins, number + 1), "{pattern}");
            assert_eq!(by_itself(&scene, "ls").0, "");
        }
    }
}

/// What follows an answer takes its time. Whoever ends the hook then ends one that has answered.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "only there it is told whether a process waits")]
fn a_hook_that_is_ended_after_its_answer_has_not_failed() {
    let scene = Scene::new();
    let folder = scene.at("home/.local/state/toolgate/fired");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("its mode");
    scene.write("home/.local/state/toolgate/fired/claude.json.lock", "");
    let lock = std::fs::File::open(scene.at("home/.local/state/toolgate/fired/claude.json.lock")).expect("there");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).expect("ours");
    let alone = [("TOOLGATE_NO_SERVE", "1".to_owned())];
    let (mut hook, mut stdin, mut stdout) = start_with(&scene, &["hook", "claude"], &alone);
    let payload = json!({
        "session_id": "", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf ~"},
    });
    stdin.write_all(payload.to_string().as_bytes()).expect("it reads");
    drop(stdin);
    // The end of the answer, which has no line's end.
    let mut answer = Vec::new();
    while serde_json::from_slice::<Value>(&answer).is_err() {
        let read = stdout.fill_buf().expect("it answers").to_vec();
        assert!(!read.is_empty(), "{}", String::from_utf8_lossy(&answer));
        stdout.consume(read.len());
        answer.extend(read);
    }
    let pid = rustix::process::Pid::from_child(&hook.0);
    // Once the answer is out there is nothing that it waits for but the lock, with whatever thread.
    let state = |task: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
        Some(stat.rsplit_once(") ")?.1.starts_with('S'))
    };
    let waits = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).expect("it is there");
        tasks.map(state).all(|waits| waits == Some(true))
    };
    let end = Instant::now() + Duration::from_secs(20);
    while !waits() {
        assert!(Instant::now() < end, "it does not wait for the lock");
        std::thread::yield_now();
    }
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
    assert_eq!(hook.0.wait().expect("it ends").code(), Some(0));
}

/// A resident host takes one as well.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn a_resident_host_leaves_a_snapshot_of_rules() {
    let scene = Scene::new();
    let (_running, _) = resident(&scene);
    scene.write("home/.config/toolgate/toolgate.yaml", "bashToolPatterns: [{pattern: deploy, reason: no}]");
    for _ in 0..3 {
        let answer = by_host(&scene, "make deploy");
        assert!(answer.contains("deny"), "{answer}");
    }
    let end = Instant::now() + Duration::from_secs(20);
    while snapshots(&scene) == 0 {
        assert!(Instant::now() < end, "there is none");
        std::thread::yield_now();
    }
    assert!(by_itself(&scene, "make deploy").1);
}

/// A host that was killed, one that hangs, and one that is somebody else's: the hook judges itself.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn a_host_that_is_of_no_use_changes_no_verdict() {
    let scene = Scene::new();
    let (running, socket) = resident(&scene);
    let (pid, greeting) = (rustix::process::Pid::from_child(&running.0), greeting(&socket));
    // An attempt was made a moment ago, so that no hook starts another one.
    std::fs::write(socket.with_extension("start"), "").expect("a file");
    let denied = |what: &str| {
        let (answer, by_resident) = hook(&scene, "rm -rf ~", &variables(&scene));
        assert!(answer.contains("\"deny\"") && !by_resident, "{what}: {answer}");
    };
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("stopped");
    denied("stopped");
    drop(running);
    std::fs::write(&socket, "").expect("a file");
    denied("no socket");
    let _ = std::fs::remove_file(&socket);
    // It says all that a host says, and passes everything.
    let listener = UnixListener::bind(&socket).expect("a socket");
    let [answer, pass] = forged(&greeting);
    let fake = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a hook");
        // It may have gone already.
        let _ = stream.write_all(format!("{greeting}\n{pass}\n{answer}\n").as_bytes());
        let mut line = String::new();
        let _ = BufReader::new(&stream).read_line(&mut line);
        line
    });
    denied("a fake");
    assert_eq!(fake.join().expect("the fake ends"), "", "it is not even told what is asked");
}

/// A process that greets and answers in advance, and is this program by the time that anybody looks at it.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn what_was_said_before_the_question_is_no_answer() {
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_toolgate")).expect("the program");
    // What it becomes. Some of it reads what the hook asks, and answers that.
    let cases: &[&[&str]] = &[&["serve"], &["serve", "--stdio", "pi"], &["mcp"]];
    for becomes in cases {
        let scene = Scene::new();
        let (running, socket) = resident(&scene);
        let greeting = greeting(&socket);
        drop(running);
        std::fs::write(socket.with_extension("start"), "").expect("a file");
        for answer in forged(&greeting) {
            let _ = std::fs::remove_file(&socket);
            let listener = UnixListener::bind(&socket).expect("a socket");
            std::thread::scope(|scope| {
                let hook = scope.spawn(|| hook(&scene, "rm -rf ~", &variables(&scene)));
                let (stream, _) = listener.accept().expect("a hook");
                let asking = rustix::net::sockopt::socket_peercred(&stream).expect("who asks").pid;
                rustix::process::kill_process(asking, rustix::process::Signal::STOP).expect("stopped");
                // So long that the hook reads it alone.
                let forger = Command::new("/bin/sh")
                    .args(["-c", "printf '%s\\n%s\\n' \"$1\" \"$2\"; shift 2; exec \"$@\"", "sh"])
                    .args([format!("{greeting:<65535}"), answer.to_string()])
                    .arg(&program)
                    .args(*becomes)
                    .env_clear()
                    .envs(variables(&scene))
                    .stdin(OwnedFd::from(stream.try_clone().expect("another")))
                    .stdout(OwnedFd::from(stream))
                    .stderr(Stdio::null())
                    .spawn();
                let forger = Running(forger.expect("a shell"));
                let exe = format!("/proc/{}/exe", forger.0.id());
                let end = Instant::now() + Duration::from_secs(10);
                while std::fs::read_link(&exe).ok().as_ref() != Some(&program) && Instant::now() < end {
                    std::thread::yield_now();
                }
                rustix::process::kill_process(asking, rustix::process::Signal::CONT).expect("goes on");
                let (said, by_resident) = hook.join().expect("an answer");
                assert!(said.contains("\"deny\"") && !by_resident, "{becomes:?} {answer}: {said}");
            });
        }
    }
}

/// A host of this program that does not go by what the hook goes by, in the place of the one that does.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn a_host_of_other_surroundings_is_not_believed() {
    let scene = Scene::new();
    scene.write("other/x", "");
    let (running, socket) = resident(&scene);
    by_host(&scene, "ls");
    drop(running);
    let other = || scene.at("other").display().to_string();
    let cases = [
        ("HOME", other()),
        ("XDG_CONFIG_HOME", other()),
        ("XDG_STATE_HOME", other()),
        ("CLAUDE_CONFIG_DIR", other()),
        ("PI_CODING_AGENT_DIR", other()),
        // It says so to the loader only.
        ("LD_LIBRARY_PATH", "/none".to_owned()),
    ];
    for change in cases {
        std::fs::write(socket.with_extension("start"), "").expect("a file");
        let (_running, theirs) = resident_with(&scene, std::slice::from_ref(&change));
        std::fs::rename(theirs, &socket).expect("in the other's place");
        let (said, by_resident) = hook(&scene, "rm -rf ~", &variables(&scene));
        assert!(said.contains("\"deny\"") && !by_resident, "{change:?}: {said}");
    }
}

/// The whole corpus, evaluated by the resident host and without it.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn the_verdict_is_the_same_either_way() {
    let scene = Scene::new();
    let (_running, _) = resident(&scene);
    let corpus = [
        include_str!("../../../guest/rules/tests/verdicts.jsonl"),
        include_str!("../../../tests/guard/everyday.jsonl"),
        include_str!("../../../tests/guard/harmful.jsonl"),
    ];
    let lines = corpus.iter().flat_map(|file| file.lines());
    let cases = lines.map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON"));
    let commands: Vec<String> = cases.filter_map(|case| Some(case["command"].as_str()?.to_owned())).collect();
    assert!(commands.len() > 2_000, "{}", commands.len());
    let mut without = variables(&scene);
    without.retain(|(name, _)| *name != "TOOLGATE_NO_SERVE");
    without.push(("TOOLGATE_NO_SERVE", "1".to_owned()));
    let with = variables(&scene);
    let asked = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for part in commands.chunks(commands.len().div_ceil(4)) {
            let (scene, with, without, asked) = (&scene, &with, &without, &asked);
            scope.spawn(move || {
                for command in part {
                    let (first, by_resident) = hook(scene, command, with);
                    asked.fetch_add(usize::from(by_resident), Ordering::Relaxed);
                    let (second, by_itself) = hook(scene, command, without);
                    assert_eq!((without_id(&first), false), (without_id(&second), by_itself), "{command}");
                }
            });
        }
    });
    // On a machine that is busy one or the other waits too long and judges itself.
    let asked = asked.into_inner();
    assert!(asked > commands.len() / 2, "{asked} of {}", commands.len());
}

/// An answer without the id of the denial, which is another one each time.
fn without_id(answer: &str) -> String {
    let id = answer.split_once(" Denial ").and_then(|(_, rest)| rest.get(..8));
    let answer = id.map_or_else(|| answer.to_owned(), |id| answer.replace(id, "ID"));
    // So has what is saved.
    let saved = answer.split_once("toolgate undo ").and_then(|(_, rest)| rest.get(..25)).map(str::to_owned);
    saved.map_or_else(|| answer.clone(), |saved| answer.replace(&saved, "ID"))
}

/// A shim's host: what is written to it, and what comes back.
pub(crate) struct Shim {
    _running: Running,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Shim {
    pub(crate) fn new(scene: &Scene, agent: &str) -> Self {
        let (running, stdin, stdout) = start(scene, &["serve", "--stdio", agent]);
        let mut shim = Shim { _running: running, stdin, stdout };
        assert_eq!(shim.frame()["hello"]["agent"], agent);
        shim
    }

    pub(crate) fn write(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("written");
    }

    fn frame(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a line");
        let frame: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        assert_eq!(frame["schema"], 1, "{frame}");
        frame
    }

    /// The next frame of this kind; others are passed over.
    pub(crate) fn next(&mut self, key: &str) -> Value {
        loop {
            let frame = self.frame();
            if frame.get(key).is_some() {
                return frame;
            }
        }
    }
}

fn pi(scene: &Scene, id: u64, has_ui: bool, command: &str) -> String {
    let event = json!({"type": "tool_call", "toolName": "bash", "toolCallId": "c", "input": {"command": command}});
    let payload = json!({"event": event, "cwd": scene.project(), "hasUI": has_ui, "mode": "tui", "session": "s"});
    json!({"schema": 1, "id": id, "event": "tool_call", "payload": payload}).to_string()
}

#[test]
fn a_shim_gets_answers_notices_and_entries() {
    let scene = Scene::new();
    let mut shim = Shim::new(&scene, "pi");
    shim.write(&pi(&scene, 1, false, "ls"));
    assert!(shim.next("status")["status"]["text"].as_str().expect("a text").contains("Active"));
    assert_eq!(shim.next("result")["result"], json!({}));
    shim.write(&pi(&scene, 2, false, "rm -rf ~"));
    assert!(shim.next("status")["status"]["text"].as_str().expect("a text").contains("Last Violation"));
    assert_eq!(shim.next("notify")["notify"]["level"], "error");
    let entry = shim.next("journal")["journal"].clone();
    assert_eq!((&entry["kind"], &entry["entry"]["action"]), (&json!("damage-control-log"), &json!("blocked")));
    let answer = shim.next("result");
    assert_eq!((&answer["id"], &answer["result"]["block"]), (&json!(2), &json!(true)));
    assert!(answer["result"]["reason"].as_str().expect("a reason").contains("home folder"));
}

#[test]
fn a_question_goes_to_the_user_through_the_shim() {
    let scene = Scene::new();
    let mut shim = Shim::new(&scene, "pi");
    let cases =
        [(true, Some(true), json!({})), (true, Some(false), json!("denied")), (false, None, json!("not asked"))];
    for (id, (has_ui, says, expected)) in cases.into_iter().enumerate() {
        let id = 10 + id as u64;
        shim.write(&pi(&scene, id, has_ui, "git push --force"));
        if let Some(confirmed) = says {
            let ask = shim.next("ask");
            assert_eq!((&ask["for"], &ask["timeout"]), (&json!(id), &json!(30_000)), "{ask}");
            assert!(ask["text"].as_str().expect("a text").contains("git push --force"));
            shim.write(&json!({"schema": 1, "answer": ask["ask"], "confirmed": confirmed}).to_string());
        }
        let answer = shim.next("result");
        assert_eq!(answer["id"], id);
        match expected {
            Value::Object(_) => assert_eq!(answer["result"], json!({})),
            _ => assert_eq!(answer["result"]["block"], true, "{answer}"),
        }
    }
}

/// OpenCode takes the directory of a call by its text, in which a tilde is a name.
#[test]
fn the_directory_of_a_call_is_read_in_each_way() {
    let scene = Scene::new();
    scene.write("home/project/src/a.rs", "x");
    let mut shim = Shim::new(&scene, "opencode");
    let patch = |name: &str| json!({"patchText": format!("*** Begin Patch\n*** Add File:{name}\n+x\n*** End Patch")});
    let cases = [
        ("bash", json!({"command": "echo x > .bashrc", "workdir": "~/../.."}), true),
        ("bash", json!({"command": "echo x > .bashrc", "workdir": "~"}), true),
        ("bash", json!({"command": "echo x > .bashrc", "workdir": ".. "}), true),
        ("bash", json!({"command": "echo x > a.txt", "workdir": "src"}), false),
        ("bash", json!({"command": "ls", "workdir": "~"}), false),
        ("bash", json!({"command": "ls", "workdir": ""}), false),
        (
            "batch",
            json!({"tool_calls": [{"tool": "bash", "parameters": {"command": "echo x > .bashrc", "workdir": "~/../.."}}]}),
            true,
        ),
        (
            "batch",
            json!({"tool_calls": [{"tool": "bash", "parameters": {"command": "echo x > a.txt", "workdir": "src"}}]}),
            false,
        ),
        ("apply_patch", patch(" \u{85}/../../.bashrc"), true),
        ("apply_patch", patch("  /../../.bashrc"), true),
        ("apply_patch", patch(" src/b.rs"), false),
    ];
    for (id, (tool, args, blocked)) in cases.into_iter().enumerate() {
        let payload = json!({
            "directory": scene.project(), "worktree": scene.project(), "output": {"args": args},
            "input": {"tool": tool, "sessionID": "s", "callID": "c"},
        });
        let frame = json!({"schema": 1, "id": id, "event": "tool.execute.before", "payload": payload});
        shim.write(&frame.to_string());
        assert_eq!(shim.next("result")["result"]["block"] == true, blocked, "{tool} {args}");
    }
}

/// What is no frame ends nothing, and what asks for a verdict gets one.
#[test]
fn odd_frames_end_nothing() {
    let scene = Scene::new();
    let mut shim = Shim::new(&scene, "opencode");
    for line in ["nonsense", "[]", "{}", "{\"id\": 1"] {
        shim.write(line);
        assert!(shim.next("error")["error"].is_string(), "{line}");
    }
    let before = "tool.execute.before";
    let args = |command: &str| json!({"args": {"command": command}});
    let input = json!({"tool": "bash", "sessionID": "s", "callID": "c"});
    let good = |command: &str| json!({"directory": scene.project(), "input": input, "output": args(command)});
    let cases = [
        (before, good("ls"), false),
        (before, good("rm -rf ~"), true),
        (before, json!({}), true),
        (before, json!(null), true),
        (before, json!({"directory": "relative", "input": input, "output": args("ls")}), true),
        (before, json!({"directory": scene.project(), "input": {}, "output": args("ls")}), true),
        ("tool.execute.after", json!({}), false),
        ("session.idle", json!({}), false),
        ("whatever", json!({}), false),
    ];
    for (id, (event, payload, blocked)) in cases.into_iter().enumerate() {
        shim.write(&json!({"schema": 1, "id": id, "event": event, "payload": payload}).to_string());
        let answer = shim.next("result");
        assert_eq!((&answer["id"], answer["result"]["block"] == true), (&json!(id), blocked), "{event} {payload}");
    }
    // Frames of another schema are not guessed at.
    for (id, event, blocked) in [(50, before, true), (51, "session.idle", false)] {
        shim.write(&json!({"schema": 2, "id": id, "event": event, "payload": good("ls")}).to_string());
        assert!(shim.next("error")["error"].as_str().expect("a text").contains("schema 2"));
        let answer = shim.next("result");
        assert_eq!((&answer["id"], answer["result"]["block"] == true), (&json!(id), blocked), "{event}");
    }
    for line in [json!({"schema": "1", "answer": 1, "confirmed": true}), json!({"schema": 2, "id": 9, "cancel": true})]
    {
        shim.write(&line.to_string());
        assert!(shim.next("error")["error"].is_string(), "{line}");
    }
    shim.write(&json!({"id": 52, "event": before, "payload": good("ls")}).to_string());
    assert_eq!(shim.next("result")["result"], json!({}), "a frame that does not say its schema");
    // An answer that nobody asked for, and a request that nobody waits for any more.
    shim.write(&json!({"schema": 1, "answer": 99, "confirmed": true}).to_string());
    shim.write(&json!({"schema": 1, "id": 98, "cancel": true}).to_string());
    shim.write(&json!({"schema": 1, "id": 99, "event": before, "payload": good("ls")}).to_string());
    assert_eq!(shim.next("result")["id"], 99);
    let Shim { mut _running, stdin, .. } = shim;
    drop(stdin);
    assert_eq!(_running.0.wait().expect("it ends").code(), Some(0));
}

/// The tools of a terminal that is not there, and their answers, which no call is judged by.
#[test]
fn outside_tmux_a_shim_is_offered_nothing() {
    let scene = Scene::new();
    for options in [&[][..], &["--terminal"], &["--terminal", "--border"]] {
        let arguments = [&["serve", "--stdio", "pi"], options].concat();
        let (running, stdin, stdout) = start(&scene, &arguments);
        let mut shim = Shim { _running: running, stdin, stdout };
        assert_eq!(shim.next("hello")["hello"]["agent"], "pi");
        let ask = |event: &str, event_payload: Value| {
            let payload = json!({"event": event_payload, "cwd": scene.project(), "hasUI": true, "session": "s"});
            json!({"schema": 1, "id": event, "event": event, "payload": payload}).to_string()
        };
        shim.write(&ask("tools", json!({"type": "tools"})));
        assert_eq!(shim.next("result")["result"], json!({"tools": []}), "{options:?}");
        let run = json!({"type": "tool_run", "toolName": "bash", "toolCallId": "c", "input": {"command": "ls"}});
        shim.write(&ask("tool_run", run));
        let output = shim.next("result")["result"].clone();
        assert_eq!((&output["is_error"], &output["details"]), (&json!(true), &json!(null)), "{output}");
        assert!(output["text"].as_str().expect("a text").contains("tmux"), "{output}");
        // What cannot be read, and what nobody waits for.
        shim.write(&json!({"schema": 1, "id": 3, "event": "tool_run", "payload": {}}).to_string());
        assert_eq!(shim.next("result")["result"]["is_error"], true);
        shim.write(&json!({"schema": 1, "id": 3, "cancel": true}).to_string());
        shim.write(&pi(&scene, 4, false, "rm -rf ~"));
        assert_eq!(shim.next("result")["result"]["block"], true);
    }
}

/// The tools of plugins, which need no terminal.
#[test]
fn a_shim_is_offered_the_tools_of_plugins() {
    let scene = Scene::new();
    scene.write("home/other.wasm", built("wasm32-unknown-unknown/guest/toolgate_test_tracker.wasm"));
    let file = scene.at("home/other.wasm").display().to_string();
    let (running, stdin, stdout) = start(&scene, &["serve", "--stdio", "pi", "--plugin", &file]);
    let mut shim = Shim { _running: running, stdin, stdout };
    shim.next("hello");
    let mut ask = |event: &str, event_payload: Value| {
        let payload = json!({"event": event_payload, "cwd": scene.project(), "hasUI": true, "session": "s"});
        shim.write(&json!({"schema": 1, "id": event, "event": event, "payload": payload}).to_string());
        shim.next("result")["result"].clone()
    };
    let offered = ask("tools", json!({"type": "tools"}));
    let names: Vec<&Value> = offered["tools"].as_array().expect("a list").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["other_say", "other_no_name"]);
    // The tool, what it is told, whether that is an error, and what comes back.
    let cases = [
        ("other_say", json!({"text": "a"}), false, "told a"),
        ("other_say", json!({"text": "refuse"}), true, "it does not want to"),
        ("other_say", json!({"text": "trap"}), true, "the component failed"),
        ("other_say", json!({"text": "b"}), false, "told b"),
        ("say", json!({"text": "a"}), true, "unknown tool"),
    ];
    for (tool, input, is_error, expected) in cases {
        let run = json!({"type": "tool_run", "toolName": tool, "toolCallId": "c", "input": input});
        let output = ask("tool_run", run);
        assert_eq!(output["is_error"], is_error, "{tool} {input}: {output}");
        assert!(output["text"].as_str().expect("a text").contains(expected), "{tool} {input}: {output}");
    }
    // What is not to be read is not to be read by them.
    let call =
        json!({"type": "tool_call", "toolName": "other_say", "toolCallId": "c", "input": {"path": "~/.ssh/id_rsa"}});
    assert_eq!(ask("tool_call", call)["block"], true);
    // Another build has another gate, and is started with the next session.
    let mut newer = built("wasm32-unknown-unknown/guest/toolgate_test_tracker.wasm");
    newer.extend([0, 2, 1, b'x']);
    scene.write("home/other.wasm", newer);
    let output = ask("tool_run", json!({"type": "tool_run", "toolName": "other_say", "toolCallId": "c", "input": {}}));
    assert!(output["text"].as_str().expect("a text").contains("was changed or removed"), "{output}");
}

/// Several calls at once, each with its own answer.
#[test]
fn parallel_calls_are_told_apart() {
    let scene = Scene::new();
    let mut shim = Shim::new(&scene, "pi");
    for id in 0..20 {
        shim.write(&pi(&scene, id, false, if id % 4 == 0 { "rm -rf ~" } else { "ls" }));
    }
    let mut answered: BTreeMap<u64, bool> = BTreeMap::new();
    while answered.len() < 20 {
        let answer = shim.next("result");
        answered.insert(answer["id"].as_u64().expect("a number"), answer["result"]["block"] == true);
    }
    assert!(answered.iter().all(|(id, blocked)| *blocked == (id % 4 == 0)), "{answered:?}");
}

/// A component beside the guard: its new input is judged again, and what it says of a result is added.
#[test]
fn a_component_beside_the_guard_rewrites_and_reports() {
    let plugin = target().join("test-plugin/guest.wasm").display().to_string();
    let scene = Scene::new();
    let claude = |event: &str, tool: &str, input: Value, options: &[&str]| {
        let payload = json!({
            "session_id": "s", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": event,
            "tool_name": tool, "tool_input": input, "tool_response": {},
        });
        let arguments = [&["hook", "claude", "--plugin", &plugin], options].concat();
        let output = scene.run_with(&arguments, payload.to_string().as_bytes(), &[]);
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        if said.is_empty() { Value::Null } else { serde_json::from_str(&said).expect("JSON") }
    };
    let bash = |command: &str, options: &[&str]| {
        claude("PreToolUse", "Bash", json!({"command": command, "timeout": 5}), options)
    };
    let output = |answer: &Value| answer["hookSpecificOutput"].clone();
    let rewritten = output(&bash("echo write-this-way", &["--rewrite"]));
    assert_eq!(rewritten["updatedInput"], json!({"command": "echo write-that-way", "timeout": 5}), "{rewritten}");
    assert!(rewritten.get("permissionDecision").is_none());
    let denied = [
        // Not granted.
        bash("echo write-this-way", &[]),
        // It was harmless before, and is not any more.
        bash("echo x > ~/.ssh/write-this-way", &["--rewrite"]),
        bash("rm -rf ~; echo write-this-way", &["--rewrite"]),
    ];
    for (at, answer) in denied.iter().enumerate() {
        assert_eq!(output(answer)["permissionDecision"], "deny", "{at} {answer}");
    }
    assert_eq!(bash("ls", &["--rewrite"]), Value::Null);
    let report = claude("PostToolUse", "Write", json!({"file_path": "/a.rs", "content": ""}), &[]);
    assert_eq!(output(&report)["additionalContext"], "CHECKED /a.rs");
    assert_eq!(claude("PostToolUse", "Bash", json!({"command": "ls"}), &[]), Value::Null);
    let report = claude("PostToolUse", "Bash", json!({"command": "touch made-here # report-paths"}), &[]);
    assert_eq!(output(&report)["additionalContext"], "CHECKED [\"made-here\"]");
    // One that cannot be used stops every call, and no result.
    let missing = ["--plugin", "/none.wasm"];
    assert_eq!(output(&bash("ls", &missing))["permissionDecision"], "deny");
    assert_eq!(output(&claude("PostToolUse", "Write", json!({"file_path": "/a"}), &missing)), Value::Null);
}
