//! `toolgate serve --watch`: a plugin is replaced while hooks are answered.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use toolgate_test_components::built;

use crate::person::{Terminal, left_out};
use crate::scene::Scene;
use serde_json::{Value, json};

/// Longest wait for what is to come.
const DEADLINE: Duration = Duration::from_secs(60);

/// A resident host, and what it says to its author.
struct Host {
    child: Child,
    news: Receiver<String>,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// It has no opinion on `ls`.
fn plain() -> Vec<u8> {
    built("test-plugin/guest.wasm")
}

/// It asks about every call. A core module, as cargo leaves it.
fn asking() -> Vec<u8> {
    built("wasm32-unknown-unknown/guest/toolgate_test_guest.wasm")
}

/// The same component with another digest.
fn newer(mut component: Vec<u8>) -> Vec<u8> {
    // A custom section: its kind, its length, and a name of one byte.
    component.extend([0, 2, 1, b'x']);
    component
}

fn variables(scene: &Scene) -> Vec<(&'static str, String)> {
    crate::environment::variables(scene, "toolgate=debug")
}

/// Starts a host that watches `p.wasm`, with these grants.
fn watching(scene: &Scene, grants: &str) -> Host {
    watching_with(scene, &["--plugin", "../p.wasm", "--grant", grants])
}

/// Starts a host that watches what these options name.
fn watching_with(scene: &Scene, options: &[&str]) -> Host {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(["serve", "--watch"])
        .args(options)
        .current_dir(scene.at("home/project"))
        .env_clear()
        .envs(variables(scene).into_iter().filter(|(name, _)| *name != "TOOLGATE_LOG"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let (sender, news) = channel();
    let said = BufReader::new(child.stderr.take().expect("a pipe"));
    std::thread::spawn(move || said.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    stdout.read_line(&mut line).expect("a line");
    assert!(line.starts_with("listening on "), "{line}");
    Host { child, news }
}

impl Host {
    /// The next thing that it says which has this in it.
    #[track_caller]
    fn says(&self, part: &str) -> String {
        let mut all = Vec::new();
        loop {
            let line = self.news.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("no {part}: {all:?}"));
            if line.contains(part) {
                return line;
            }
            all.push(line);
        }
    }
}

/// What the resident host decides on `ls`, and why. On a machine that is busy a hook may judge itself; it is asked again
/// then.
fn by_host(scene: &Scene, grants: &str) -> (String, String) {
    let file = scene.at("home/p.wasm").display().to_string();
    by_host_with(scene, &["--plugin", &file, "--grant", grants])
}

/// The same with these options.
fn by_host_with(scene: &Scene, options: &[&str]) -> (String, String) {
    let payload = json!({
        "session_id": "", "cwd": scene.project(), "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let arguments = [&["hook", "claude", "--no-lens"], options].concat();
    for _ in 0..50 {
        let output = scene.run_with(&arguments, payload.to_string().as_bytes(), &variables(scene));
        if String::from_utf8_lossy(&output.stderr).contains("evaluated by the resident host") {
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let part = |key: &str| answer["hookSpecificOutput"][key].as_str().unwrap_or_default().to_owned();
            return (part("permissionDecision"), part("permissionDecisionReason"));
        }
    }
    panic!("the resident host does not answer")
}

/// Puts a build in the place of another, as compilers do.
fn put(scene: &Scene, content: &[u8]) {
    scene.write("home/new.wasm", content);
    std::fs::rename(scene.at("home/new.wasm"), scene.at("home/p.wasm")).expect("renamed");
}

#[test]
fn a_newer_build_judges_from_the_next_call_on() {
    const ALL: &str = "files,terminal,ui,message,clock,log";
    let scene = Scene::new();
    scene.write("home/p.wasm", plain());
    let host = watching(&scene, ALL);
    host.says("watching ");
    assert_eq!(by_host(&scene, ALL).0, "");
    put(&scene, &asking());
    host.says("generation 2 is active");
    let (decision, why) = by_host(&scene, ALL);
    assert!(decision == "ask" && why.contains("call 1"), "{decision} {why}");
    // What is no build leaves that one in force, and says why; so does half a build, and one that judges nothing.
    for (content, reason) in [(b"no wasm".to_vec(), "is not used"), (asking()[..5_000].to_vec(), "is not used")] {
        put(&scene, &content);
        host.says(reason);
        assert_eq!(by_host(&scene, ALL).0, "ask", "{reason}");
    }
    put(&scene, &newer(plain()));
    host.says("would weaken protection");
    put(&scene, &newer(asking()));
    host.says("generation 3 is active");
    assert_eq!(by_host(&scene, ALL).0, "ask");
}

#[test]
fn a_build_that_asks_for_more_is_held_back() {
    let scene = Scene::new();
    scene.write("home/p.wasm", plain());
    let host = watching(&scene, "log");
    put(&scene, &asking());
    let said = host.says("held back");
    assert!(said.contains("files, terminal"), "{said}");
    assert_eq!(by_host(&scene, "log").0, "");
}

#[test]
fn a_newer_build_of_an_installed_plugin_is_put_in_the_store_or_held_back() {
    if left_out() {
        return;
    }
    let scene = Scene::new();
    scene.write("home/p.wasm", plain());
    let mut terminal = Terminal::new(&scene, "toolgate plugin add p.wasm");
    let word = terminal.word();
    terminal.answer(&word);
    assert_eq!(terminal.exit(), 0, "{}", terminal.seen);
    let kept = || {
        let index = std::fs::read(scene.at("home/.local/state/toolgate/plugins/plugins.json")).expect("the index");
        let index: Value = serde_json::from_slice(&index).expect("JSON");
        let plugin = &index["plugins"][0];
        (plugin["digest"].clone(), plugin["held"]["digest"].clone())
    };
    let (first, _) = kept();
    let host = watching_with(&scene, &["p"]);
    put(&scene, &newer(plain()));
    host.says("generation 2 is active");
    let (second, held) = kept();
    assert!(second != first && held.is_null(), "{first} {second} {held}");
    put(&scene, &asking());
    host.says("held back");
    let (third, held) = kept();
    assert!(third == second && held.is_string() && held != third, "{second} {third} {held}");
    assert_eq!(by_host_with(&scene, &[]).0, "");
}

#[test]
fn without_anything_to_watch_it_says_so() {
    let scene = Scene::new();
    let cases = [(&["serve", "--watch"][..], 64), (&["serve", "--watch", "none"], 66)];
    for (arguments, code) in cases {
        assert_eq!(scene.run_with(arguments, b"", &[]).status.code(), Some(code), "{arguments:?}");
    }
}
