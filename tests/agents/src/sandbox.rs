//! The walls round a run: bubblewrap with no network but its own loopback, its own processes, and a machine that is
//! read-only but for the home folder. All that was started in it ends with it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use crate::Error;
use crate::client::{self, Client};
use crate::place::{CACHE, GUARD, HOME, LOG, PLUGIN, RUNTIME, SELF, WORK, lay_out};
use crate::play::{DEADLINE, Record};
use crate::scenario::Scenario;

/// What all runs share.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This program: it runs itself inside.
    pub program: PathBuf,
    /// The command under test.
    pub toolgate: PathBuf,
    /// The installed agents.
    pub cache: PathBuf,
    /// A component for the scenarios with one.
    pub plugin: Option<PathBuf>,
    /// Where the home folders are made.
    pub runs: PathBuf,
    /// Whether they are kept.
    pub keep: bool,
}

/// Says what is missing, before anything is tried.
pub fn check() -> Result<(), Error> {
    // The checks of scripts say what the scenarios with them wait for.
    for program in ["bwrap", "git", "shellcheck"] {
        if !has(program, "--version") {
            return Err(Error::Missing(program));
        }
    }
    let mut tight = Command::new("bwrap");
    walls(&mut tight);
    let out = tight.arg("true").output()?;
    if out.status.success() { Ok(()) } else { Err(Error::Sandbox(String::from_utf8_lossy(&out.stderr).into_owned())) }
}

/// Whether this machine has the program; its version is asked for.
pub fn has(program: &str, version: &str) -> bool {
    let there = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    there.is_ok_and(|status| status.success())
}

/// Plays a scenario behind the walls.
pub fn run(settings: &Settings, client: &dyn Client, scenario: &Scenario, guarded: bool) -> Result<Record, Error> {
    fs::create_dir_all(&settings.runs)?;
    let prefix = format!("{}-{}-{}-", client.name(), scenario.name, if guarded { "guarded" } else { "twin" });
    let mut folder: TempDir = tempfile::Builder::new().prefix(&prefix).tempdir_in(&settings.runs)?;
    folder.disable_cleanup(settings.keep);
    let (home, log) = (folder.path().join("home"), folder.path().join("log"));
    lay_out(&home)?;
    fs::create_dir(&log)?;
    if guarded {
        let place = home.join(Path::new(GUARD).strip_prefix(HOME).unwrap_or(Path::new("toolgate")));
        fs::create_dir_all(place.parent().unwrap_or(&home))?;
        fs::copy(&settings.toolgate, place)?;
    }
    let passwd = folder.path().join("passwd");
    fs::write(&passwd, format!("root:x:0:0::/root:/bin/sh\ndev:x:1000:1000:Dev:{HOME}:/bin/bash\n"))?;

    let mut command = Command::new("bwrap");
    walls(&mut command);
    command.arg("--bind").arg(&home).arg(HOME).arg("--bind").arg(&log).arg(LOG);
    command.arg("--ro-bind").arg(&passwd).arg("/etc/passwd");
    command.arg("--ro-bind").arg(&settings.program).arg(SELF);
    for package in client::packages(client) {
        let place = format!("{CACHE}/{}", package.folder());
        command.arg("--ro-bind").arg(client::installed(&settings.cache, package).canonicalize()?).arg(place);
    }
    if let Some(plugin) = &settings.plugin {
        command.arg("--ro-bind").arg(plugin).arg(PLUGIN);
    }
    command.args(["--chdir", WORK, SELF, client.name(), "--play", scenario.name]);
    if guarded {
        command.arg("--guarded");
    }
    let output = bounded(command, DEADLINE + Duration::from_secs(20))?;
    serde_json::from_str(&output).map_err(|error| Error::Sandbox(format!("{error}: {output}")))
}

/// The walls without the home folder.
fn walls(command: &mut Command) {
    command.args(["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]);
    command.args(["--die-with-parent", "--new-session", "--hostname", "sandbox", "--ro-bind", "/", "/"]);
    command.args(["--dev", "/dev", "--proc", "/proc"]);
    for place in ["/tmp", "/run", "/var/tmp", "/home"] {
        command.args(["--tmpfs", place]);
    }
    command.args(["--perms", "0700", "--dir", RUNTIME, "--clearenv"]);
    let path = "/home/dev/.local/bin:/usr/local/bin:/usr/bin:/bin";
    for (name, value) in [
        ("HOME", HOME),
        ("USER", "dev"),
        ("LOGNAME", "dev"),
        ("SHELL", "/bin/bash"),
        ("PATH", path),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("XDG_RUNTIME_DIR", RUNTIME),
    ] {
        command.args(["--setenv", name, value]);
    }
}

/// What the command prints, within a time. Killing bubblewrap ends all that it started.
fn bounded(mut command: Command, deadline: Duration) -> Result<String, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut text, mut errors) = (String::new(), String::new());
        // Closed pipes mean that nothing is left inside.
        let read = out.as_mut().map(|out| out.read_to_string(&mut text));
        let read_errors = err.as_mut().map(|err| err.read_to_string(&mut errors));
        drop((read, read_errors));
        let _ = sender.send(());
        (text, errors)
    });
    let late = receiver.recv_timeout(deadline).is_err();
    if late {
        child.kill()?;
    }
    let status = child.wait()?;
    let (text, errors) = reader.join().map_err(|_| Error::Sandbox("its output could not be read".into()))?;
    match late {
        true => Err(Error::Late(deadline)),
        false if status.success() => Ok(text),
        false => Err(Error::Sandbox(format!("{status}: {}", errors.trim()))),
    }
}
