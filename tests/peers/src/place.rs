//! A place for one program: bubblewrap with a home folder that only this program has, a read-only machine, no network,
//! and a `peer-runner` in it. It stays for the whole bench, so that no call pays for the walls.
//!
//! | Path | What it is |
//! |---|---|
//! | `/home/dev` | the home folder: nothing but a document and the workspace |
//! | `/home/dev/project` | the workspace, a git repository with one commit, and the directory of every call |
//! | `/run/bench` | the programs, read-only |

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::Error;
use crate::program::Program;
use crate::runner::{Order, Reply, Run, Usage};

/// The home folder.
pub const HOME: &str = "/home/dev";
/// The workspace.
pub const WORK: &str = "/home/dev/project";
/// The command under test.
pub const TOOLGATE: &str = "/run/bench/toolgate";
/// What `.ci/peers` installed.
pub const PEERS: &str = "/run/bench/peers";
/// For the programs that are scripts.
pub const NODE: &str = "/run/bench/node";
const RUNNER: &str = "/run/bench/peer-runner";
const RUNTIME: &str = "/run/user/1000";

/// After that a program gives no answer. It is the limit of Claude Code's own.
const LIMIT: Duration = Duration::from_secs(60);

/// Files of every home folder.
const FILES: &[(&str, &str)] = &[
    ("Documents/thesis.md", "# Thesis\nNo copy anywhere.\n"),
    ("project/README.md", "# Project\n"),
    ("project/docs/guide.md", "# Guide\n"),
    ("project/package.json", "{ \"name\": \"project\", \"version\": \"1.0.0\" }\n"),
    ("project/src/main.rs", "fn main() {}\n"),
];

/// The files that places are made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The command under test.
    pub toolgate: PathBuf,
    /// `peer-runner`.
    pub runner: PathBuf,
    /// What `.ci/peers` installed.
    pub peers: PathBuf,
    /// Node, if the machine has it.
    pub node: Option<PathBuf>,
}

/// A place with its runner. The runner and all that it started end when this is dropped.
pub struct Place {
    program: &'static Program,
    walls: Child,
    orders: ChildStdin,
    replies: Receiver<io::Result<String>>,
    complaints: ChildStderr,
    // The last to be dropped.
    _home: TempDir,
}

impl Place {
    /// Makes the place and sets the program up in it.
    ///
    /// # Errors
    /// If there is no sandbox, or the program cannot be set up.
    pub fn open(program: &'static Program, parts: &Parts) -> Result<Place, Error> {
        let home = tempfile::Builder::new().prefix("peers-").tempdir()?;
        lay_out(home.path())?;
        let mut command = walls(home.path(), parts);
        for (name, value) in program.environment {
            command.args(["--setenv", name, value]);
        }
        command.arg(RUNNER).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut walls = command.spawn()?;
        let pipe = || io::Error::other("there is no pipe");
        let orders = walls.stdin.take().ok_or_else(pipe)?;
        let said = walls.stdout.take().ok_or_else(pipe)?;
        let complaints = walls.stderr.take().ok_or_else(pipe)?;
        let (sender, replies) = channel();
        thread::spawn(move || BufReader::new(said).lines().try_for_each(|line| sender.send(line)));
        let mut place = Place { program, walls, orders, replies, complaints, _home: home };
        for line in program.setup {
            let run = place.run(Program::words(line), "its set-up", String::new())?;
            if run.exit != Some(0) {
                return Err(place.failed(format!("{} failed: {}", line.join(" "), run.complaint)));
            }
        }
        if let Some(line) = program.host {
            place.order(&Order::Serve { line: Program::words(line) }, "its start")?;
        }
        Ok(place)
    }

    /// Calls the hook once.
    ///
    /// # Errors
    /// If it cannot be run or does not end.
    pub fn call(&mut self, payload: &str, json: String) -> Result<Run, Error> {
        self.run(Program::words(self.program.line), payload, json)
    }

    /// What the resident host has used until now.
    ///
    /// # Errors
    /// If it has ended.
    pub fn host(&mut self) -> Result<Option<Usage>, Error> {
        if self.program.host.is_none() {
            return Ok(None);
        }
        match self.order(&Order::Served, "the end")? {
            Reply::Serves(usage) => Ok(Some(usage)),
            other => Err(self.failed(format!("the runner said {other:?}"))),
        }
    }

    fn run(&mut self, line: Vec<String>, payload: &str, input: String) -> Result<Run, Error> {
        match self.order(&Order::Run { line, input }, payload)? {
            Reply::Ran(run) => Ok(run),
            other => Err(self.failed(format!("the runner said {other:?}"))),
        }
    }

    fn order(&mut self, order: &Order, payload: &str) -> Result<Reply, Error> {
        let mut text = serde_json::to_string(order).map_err(io::Error::from)?;
        text.push('\n');
        // A runner that has ended is told of below, with its reason.
        let _ = self.orders.write_all(text.as_bytes());
        match self.replies.recv_timeout(LIMIT) {
            Ok(line) => match serde_json::from_str(&line?).map_err(io::Error::from)? {
                Reply::Failed(said) => Err(self.failed(said)),
                reply => Ok(reply),
            },
            Err(RecvTimeoutError::Timeout) => {
                Err(Error::Silent { program: self.program.name.into(), payload: payload.into(), limit: LIMIT })
            }
            Err(RecvTimeoutError::Disconnected) => {
                let mut said = String::new();
                let _ = self.complaints.read_to_string(&mut said);
                Err(Error::Sandbox { program: self.program.name.into(), said: said.trim().into() })
            }
        }
    }

    fn failed(&self, said: String) -> Error {
        Error::Failed { program: self.program.name.into(), said }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.walls.kill().and_then(|()| self.walls.wait());
    }
}

/// Writes the home folder, on the outside.
fn lay_out(home: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = home.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "."],
        &["-c", "user.name=Dev", "-c", "user.email=dev@localhost", "commit", "--quiet", "--message=Start"],
    ] {
        let mut git = Command::new("git");
        git.arg("-C").arg(home.join("project")).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        if !git.status()?.success() {
            return Err(io::Error::other("git could not make the repository"));
        }
    }
    Ok(())
}

fn walls(home: &Path, parts: &Parts) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]);
    command.args(["--die-with-parent", "--new-session", "--hostname", "sandbox", "--ro-bind", "/", "/"]);
    command.args(["--dev", "/dev", "--proc", "/proc"]);
    for place in ["/tmp", "/run", "/var/tmp", "/home"] {
        command.args(["--tmpfs", place]);
    }
    command.args(["--perms", "0700", "--dir", RUNTIME]);
    command.arg("--bind").arg(home).arg(HOME);
    let node = parts.node.as_ref().map(|node| (node, NODE));
    for (file, place) in
        [(&parts.toolgate, TOOLGATE), (&parts.runner, RUNNER), (&parts.peers, PEERS)].into_iter().chain(node)
    {
        command.arg("--ro-bind").arg(file).arg(place);
    }
    command.args(["--chdir", WORK, "--clearenv"]);
    for (name, value) in [
        ("HOME", HOME),
        ("USER", "dev"),
        ("LOGNAME", "dev"),
        ("SHELL", "/bin/bash"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("XDG_RUNTIME_DIR", RUNTIME),
        ("CLAUDE_PROJECT_DIR", WORK),
    ] {
        command.args(["--setenv", name, value]);
    }
    command
}
