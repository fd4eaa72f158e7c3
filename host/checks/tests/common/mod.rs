//! A daemon of its own in a scratch folder, and a client for it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A project, the folders round it, and what is on `PATH` there.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let scratch = Scratch { folder: tempfile::tempdir().expect("a scratch folder") };
        for name in ["run", "state", "bin", "project", "marks"] {
            std::fs::create_dir(scratch.at(name)).expect("a folder");
            set_mode(&scratch.at(name), 0o700);
        }
        scratch
    }

    /// Links resolved.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("real").join(name)
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// Writes a program.
    pub(crate) fn program(&self, name: &str, content: &str) {
        set_mode(&self.write(name, content), 0o755);
    }

    /// Makes the user trust the project. The list that says so.
    pub(crate) fn trust(&self) -> PathBuf {
        let list = json!({ "schema": 1, "folders": [{ "path": self.at("project"), "since": 1 }] });
        let path = self.write("state/toolgate/trusted-folders.json", &list.to_string());
        set_mode(path.parent().expect("a folder"), 0o700);
        set_mode(&path, 0o600);
        path
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.at("run/checks.sock")
    }

    /// The daemon as it would be started, with `bin` and these folders before the user's on `PATH`.
    pub(crate) fn command(&self, folders: &[PathBuf]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate-lens"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.at("bin")].into_iter().chain(folders.iter().cloned()).chain(std::env::split_paths(&path));
        command
            .env("PATH", std::env::join_paths(path).expect("no colons"))
            .env("CODE_LENS_SOCKET_PATH", self.socket())
            .env("CODE_LENS_CWD", self.at("project"))
            .env("XDG_STATE_HOME", self.at("state"))
            .env("XDG_CACHE_HOME", self.at("cache"))
            // Cargo's proxy sets it for what it starts, such as these tests.
            .env_remove("RUSTUP_TOOLCHAIN")
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a daemon, and waits until it listens.
    pub(crate) fn start(&self) -> Daemon {
        self.start_with(&[])
    }

    pub(crate) fn start_with(&self, folders: &[PathBuf]) -> Daemon {
        let child = self.command(folders).spawn().expect("started");
        until("it listens", || UnixStream::connect(self.socket()).is_ok());
        Daemon { child, socket: self.socket() }
    }
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}

/// Waits for something that no other process tells us.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LIMIT, "never: {what}");
        std::thread::yield_now();
    }
}

pub(crate) struct Daemon {
    child: Child,
    socket: PathBuf,
}

impl Daemon {
    pub(crate) fn connect(&self) -> Client {
        let stream = UnixStream::connect(&self.socket).expect("connected");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        Client { reader: BufReader::new(stream.try_clone().expect("a second handle")), stream }
    }

    /// Checks these files of the project with everything on.
    pub(crate) fn check(&self, files: &[&str]) -> Value {
        self.connect().ask("fullCheck", &json!({ "files": files, "config": everything() }))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let mut status = None;
        until("it ends", || {
            status = self.child.try_wait().expect("its state");
            status.is_some()
        });
        status.expect("ended")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn everything() -> Value {
    json!({ "prettier": true, "linters": true, "lsp": true, "tsc": true, "linterTimeoutMs": 60_000,
            "prettierTimeoutMs": 60_000, "tscTimeoutMs": 60_000, "lspTimeoutMs": 60_000 })
}

pub(crate) struct Client {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("sent");
    }

    /// Sends a request.
    pub(crate) fn request(&mut self, method: &str, params: &Value, id: usize) {
        let request = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id });
        self.send(format!("{request}\n").as_bytes());
    }

    /// The next answer, whole.
    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("an answer in time");
        serde_json::from_str(&line).expect("an answer")
    }

    /// The result of a request.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.request(method, params, 1);
        self.answer()["result"].take()
    }
}
