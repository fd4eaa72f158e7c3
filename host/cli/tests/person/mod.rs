//! A terminal of a person's own: one that a private tmux server makes.
//!
//! The server leaves the processes of the test behind, so that its terminals are a person's even where an agent runs
//! the tests.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgate_test_support::skip::missing;

use crate::scene::Scene;

/// A terminal, watched by a client of tmux that is told all that is written to it.
pub(crate) struct Terminal<'a> {
    scene: &'a Scene,
    /// One for each terminal: a server that ends may still be there when the next one starts.
    socket: String,
    client: Child,
    /// The client leaves when this is closed.
    _stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// What was written so far; control characters as tmux tells them, in octal.
    pub(crate) seen: String,
}

impl<'a> Terminal<'a> {
    /// Runs a script for `/bin/sh` in a new terminal, in the home folder.
    pub(crate) fn new(scene: &'a Scene, script: &str) -> Self {
        // The terminal stays when the script is through, as tmux may lose the last words of one that is closed.
        scene.write("person.sh", format!("{script}\necho \"exit=$?.\"\nread end\n"));
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let socket = format!("tmux{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut client = tmux(scene, &socket)
            .args(["-C", "new-session", "/bin/sh"])
            .arg(scene.at("person.sh"))
            // With the client, however it ends, everything ends.
            .args([";", "set-option", "destroy-unattached", "on"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tmux starts");
        let (_stdin, stdout) = (client.stdin.take().expect("a pipe"), client.stdout.take().expect("a pipe"));
        Terminal { scene, socket, client, _stdin, stdout: BufReader::new(stdout), seen: String::new() }
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
    pub(crate) fn word(&mut self) -> String {
        let asked = |seen: &str| Some(seen.strip_suffix(": ")?.split_once("Type ")?.1.split_once(' ')?.0.to_owned());
        let word = self.until(|seen| asked(seen).or(exit(seen).map(|_| String::new())));
        assert_ne!(word, "", "nothing is asked: {}", self.seen);
        word
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        let sent = tmux(self.scene, &self.socket).arg("send-keys").args(keys).status().expect("tmux starts");
        assert!(sent.success(), "{keys:?}: {sent}");
    }

    pub(crate) fn answer(&self, text: &str) {
        if !text.is_empty() {
            self.press(&["-l", "--", text]);
        }
        self.press(&["Enter"]);
    }

    /// The exit code of the script.
    pub(crate) fn exit(&mut self) -> i32 {
        self.until(exit)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = tmux(self.scene, &self.socket).arg("kill-server").stderr(Stdio::null()).status();
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}

fn exit(seen: &str) -> Option<i32> {
    seen.split_once("exit=")?.1.split_once('.')?.0.parse().ok()
}

/// A server of this scene's own, with no one's settings and no variables that say who started it.
fn tmux(scene: &Scene, socket: &str) -> Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).expect("a path");
    let mut command = Command::new("tmux");
    command
        .arg("-S")
        .arg(scene.at(socket))
        .args(["-f", "/dev/null"])
        .current_dir(scene.at("home"))
        .env_clear()
        .env("PATH", path)
        .env("HOME", scene.at("home"))
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env("TOOLGATE_NO_SERVE", "1");
    command
}

/// Whether tests at a terminal are skipped.
#[track_caller]
pub(crate) fn left_out() -> bool {
    let there = Command::new("tmux").arg("-V").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !there {
        missing("tmux", "tmux is not installed");
    }
    !there
}
