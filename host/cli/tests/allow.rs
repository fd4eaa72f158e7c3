//! `toolgate allow` as a person meets it, at a terminal of their own: one that a private tmux server makes.
//!
//! The server leaves the processes of the test behind, so that its terminals are a person's even where an agent runs
//! the tests.

mod scene;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use scene::Scene;
use serde_json::{Value, json};

const PUSH: &str = "git push --force origin topic";

/// What a person types to let that through.
const ALLOW: &str = "toolgate allow \"$PUSH\" --cwd project";

/// A terminal, watched by a client of tmux that is told all that is written to it.
struct Terminal<'a> {
    scene: &'a Scene,
    client: Child,
    /// The client leaves when this is closed.
    _stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// What was written so far; control characters as tmux tells them, in octal.
    seen: String,
}

impl<'a> Terminal<'a> {
    /// Runs a script for `/bin/sh` in a new terminal, in the home folder; `$PUSH` in it is [`PUSH`].
    fn new(scene: &'a Scene, script: &str) -> Self {
        // The terminal stays when the script is through, as tmux may lose the last words of one that is closed.
        scene.write("person.sh", format!("{script}\necho \"exit=$?.\"\nread end\n"));
        let mut client = tmux(scene)
            .args(["-C", "new-session", "/bin/sh"])
            .arg(scene.at("person.sh"))
            // With the client, however it ends, everything ends.
            .args([";", "set-option", "destroy-unattached", "on"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tmux starts");
        let (_stdin, stdout) = (client.stdin.take().expect("a pipe"), client.stdout.take().expect("a pipe"));
        Terminal { scene, client, _stdin, stdout: BufReader::new(stdout), seen: String::new() }
    }

    /// Reads on until something is found in what was written.
    fn until<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        loop {
            if let Some(found) = find(&self.seen) {
                return found;
            }
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).expect("UTF-8"), 0, "tmux has ended: {}", self.seen);
            let output = line.strip_prefix("%output ").and_then(|line| line.trim_end_matches('\n').split_once(' '));
            self.seen.push_str(output.map_or("", |(_pane, written)| written));
        }
    }

    /// The word that is asked for.
    fn word(&mut self) -> String {
        let asked = |seen: &str| Some(seen.strip_suffix(": ")?.split_once("Type ")?.1.split_once(' ')?.0.to_owned());
        let word = self.until(|seen| asked(seen).or(exit(seen).map(|_| String::new())));
        assert_ne!(word, "", "nothing is asked: {}", self.seen);
        word
    }

    fn press(&self, keys: &[&str]) {
        let sent = tmux(self.scene).arg("send-keys").args(keys).status().expect("tmux starts");
        assert!(sent.success(), "{keys:?}: {sent}");
    }

    fn answer(&self, text: &str) {
        if !text.is_empty() {
            self.press(&["-l", "--", text]);
        }
        self.press(&["Enter"]);
    }

    /// The exit code of the script.
    fn exit(&mut self) -> i32 {
        self.until(exit)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = tmux(self.scene).arg("kill-server").stderr(Stdio::null()).status();
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}

fn exit(seen: &str) -> Option<i32> {
    seen.split_once("exit=")?.1.split_once('.')?.0.parse().ok()
}

/// A server of this scene's own, with no one's settings and no variables that say who started it.
fn tmux(scene: &Scene) -> Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).expect("a path");
    let mut command = Command::new("tmux");
    command
        .arg("-S")
        .arg(scene.at("tmux"))
        .args(["-f", "/dev/null"])
        .current_dir(scene.at("home"))
        .env_clear()
        .env("PATH", path)
        .env("HOME", scene.at("home"))
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env("PUSH", PUSH)
        .env("TOOLGATE_NO_SERVE", "1");
    command
}

fn left_out() -> bool {
    let there = Command::new("tmux").arg("-V").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !there {
        // Said even where the harness keeps the output of tests that pass to itself.
        let _ = writeln!(std::io::stderr(), "left out: tmux is not installed");
    }
    !there
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
    let mut terminal = Terminal::new(&scene, ALLOW);
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
    let given = "is given; toolgate allow --revoke";
    let other = "no permission is given: that was not the word";
    // `_` is the word.
    let cases = [
        ("_", 0, given, ""),
        (" _ ", 0, given, ""),
        ("yes", 2, other, "ask"),
        ("__", 2, other, "ask"),
        ("", 2, other, "ask"),
        // Nothing more will come.
        ("C-d", 2, "no permission is given: there was no answer", "ask"),
    ];
    for (answer, code, said, decision) in cases {
        let scene = Scene::new();
        let mut terminal = Terminal::new(&scene, ALLOW);
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
    let mut terminal = Terminal::new(&scene, ALLOW);
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
        ("toolgate allow 'git status'", 1, "nothing speaks against it, so no permission is needed"),
        ("toolgate allow 'toolgate allow x'", 2, "builtin:self-permission cannot be lifted by a permission"),
        ("toolgate allow \"$PUSH\" --rule mine", 2, "builtin:git-force-push speaks against it as well"),
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
        let mut terminal = Terminal::new(&scene, script);
        assert_eq!(terminal.exit(), code, "{script}: {}", terminal.seen);
        assert!(terminal.seen.contains(said), "{script}: {}", terminal.seen);
        assert!(!terminal.seen.contains("Type "), "{script}: {}", terminal.seen);
        assert!(allow(&scene, &["--list"]).1.starts_with("no permissions"), "{script}");
    }
}
