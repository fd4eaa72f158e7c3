//! The daemon of a project on this machine: started, asked and stopped.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::place::{CWD, DaemonLocation, Kind, SOCKET, code_lens_socket, project_hash};
use super::program::{DaemonProgram, whose};
use super::wire::{Connection, PROBE_TIMEOUT, connect};
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Answer, Daemon, apart};
use toolgate_host::limits::deadline;
use toolgate_host::private::programs::installed;
use toolgate_host::private::{read_regular, secret_folder};

/// How long a daemon may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How often it is looked whether it has.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How much of a request's time is for its answer.
const ANSWER_RESERVE: Duration = Duration::from_secs(1);

/// How long a daemon that was told to end may take.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// The version that code-lens calls itself by, whatever its package says (0.3.0 says this).
const CODE_LENS: &str = "0.1.0";

/// Most bytes that are read of what a client of code-lens wrote.
const METADATA: u64 = 64 << 10;

/// A project's check daemon. It is started when it is needed, and lives on without whoever started it.
#[derive(Clone, Debug)]
pub struct LocalDaemon {
    place: DaemonLocation,
    /// Whether this client started it.
    started: Arc<AtomicBool>,
    limit: Duration,
}

/// What clients of code-lens write about it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    pid: i32,
    socket_path: PathBuf,
    version: String,
    cwd: String,
}

impl LocalDaemon {
    /// Toolgate's own: `command` starts it, its socket is in `folder`, which is the user's alone. It ends when the last
    /// session has that uses it. On Linux only a process that runs the program of `command` is believed; without a
    /// command every process of the user's is.
    pub fn own(cwd: impl Into<String>, folder: &Path, command: Vec<OsString>, session: impl Into<String>) -> Self {
        let cwd = cwd.into();
        // Each version has its own, so that two that are installed do not end each other's.
        let socket = folder.join(format!("lens-{}-{}.sock", project_hash(&cwd), env!("CARGO_PKG_VERSION")));
        Self::at(DaemonLocation { cwd, socket, command, kind: Kind::Own { session: session.into() } })
    }

    /// `@harms-haus/code-lens`, where all its clients look for it. `command` is `node` and its `dist/server.js`.
    pub fn code_lens(cwd: impl Into<String>, home: &Path, command: Vec<OsString>) -> Self {
        let cwd = cwd.into();
        let socket = code_lens_socket(&cwd, |name| std::env::var(name).ok());
        let metadata = home.join(".code-lens").join(format!("{}.json", project_hash(&cwd)));
        Self::at(DaemonLocation { cwd, socket, command, kind: Kind::CodeLens { metadata } })
    }

    fn at(place: DaemonLocation) -> Self {
        LocalDaemon { place, started: Arc::default(), limit: deadline::DAEMON }
    }

    /// The same with another limit for each request than the capability's.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        LocalDaemon { limit, ..self }
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.place.socket
    }
}

#[async_trait]
impl Daemon for LocalDaemon {
    async fn ensure(&self) -> Answer<()> {
        let (place, started) = (self.place.clone(), self.started.clone());
        apart(move || {
            if place.ensure()? {
                started.store(true, Ordering::SeqCst);
            }
            Ok(())
        })
        .await?
    }

    async fn request(&self, method: String, params: String) -> Answer<String> {
        let mut params: Value =
            serde_json::from_str(&params).map_err(|error| CapabilityError::Invalid(format!("not JSON: {error}")))?;
        let (place, limit) = (self.place.clone(), self.limit);
        if let (Kind::Own { .. }, true) = (&place.kind, params.is_object()) {
            // So that what is done by then is told, and not lost with what is not.
            let left = limit.saturating_sub(ANSWER_RESERVE).as_millis();
            params["limitMs"] = u64::try_from(left).unwrap_or(u64::MAX).into();
        }
        let answer = apart(move || place.connect()?.ask(&method, &params, limit)).await??;
        Ok(answer.to_string())
    }

    async fn stop(&self) -> Answer<()> {
        let started = self.started.swap(false, Ordering::SeqCst);
        let place = self.place.clone();
        apart(move || match &place.kind {
            Kind::Own { session } => {
                let ended = place
                    .connect()
                    .and_then(|daemon| daemon.ask("sessionEnd", &json!({ "session": session }), PROBE_TIMEOUT));
                match ended {
                    Ok(_) | Err(CapabilityError::Unavailable(_)) => Ok(()),
                    Err(error) => Err(error),
                }
            }
            // It does not count its sessions: one that was there before may be another's.
            Kind::CodeLens { metadata } if started => {
                place.end(metadata);
                Ok(())
            }
            Kind::CodeLens { .. } => Ok(()),
        })
        .await?
    }
}

impl DaemonLocation {
    /// Makes sure that it runs. Says whether it had to be started.
    fn ensure(&self) -> Answer<bool> {
        match &self.kind {
            Kind::Own { session } => {
                let started = !self.is_ours()? && self.start()?;
                let params = json!({ "session": session });
                self.connect()?.ask("sessionStart", &params, PROBE_TIMEOUT)?;
                Ok(started)
            }
            Kind::CodeLens { metadata } => {
                if let Ok(daemon) = connect(&self.socket) {
                    let known = read(metadata).filter(|known| known.socket_path == self.socket);
                    if known.is_none_or(|known| known.version == CODE_LENS) {
                        return Ok(false);
                    }
                    drop(daemon);
                    self.end(metadata);
                }
                self.start()?;
                // It runs, and who asks us finds it without the file.
                if let Err(error) = self.describe(metadata) {
                    tracing::warn!(?error, "the check daemon is not described to other clients");
                }
                Ok(true)
            }
        }
    }

    /// Connects to a daemon that runs our program.
    fn connect(&self) -> Answer<Connection> {
        let daemon = connect(&self.socket)?;
        match self.whose(&daemon)? {
            DaemonProgram::Ours => Ok(daemon),
            DaemonProgram::Replaced | DaemonProgram::Foreign => {
                Err(CapabilityError::Unavailable(format!("{}: of another program", self.socket.display())))
            }
        }
    }

    fn whose(&self, daemon: &Connection) -> Answer<DaemonProgram> {
        let (Kind::Own { .. }, Some(name), Some(pid)) = (&self.kind, self.command.first(), daemon.pid) else {
            return Ok(DaemonProgram::Ours);
        };
        let program = self.program(name)?;
        whose(pid, &program).map_err(|error| unavailable(format!("{}: {error}", program.display())))
    }

    /// Whether our own daemon runs. One that does not answer is no use to anybody and is ended, as is one whose program
    /// was updated since. A process that is no daemon of ours is left alone, but not with the socket.
    fn is_ours(&self) -> Answer<bool> {
        let Ok(daemon) = connect(&self.socket) else { return Ok(false) };
        let (pid, whose) = (daemon.pid, self.whose(&daemon)?);
        match whose {
            DaemonProgram::Ours if daemon.ask("hello", &json!({}), PROBE_TIMEOUT).is_ok() => return Ok(true),
            DaemonProgram::Ours | DaemonProgram::Replaced => {
                tracing::info!(?whose, "the check daemon hangs or is older; replacing it");
                pid.into_iter().for_each(terminate);
            }
            DaemonProgram::Foreign => {
                tracing::warn!(?pid, "another process has the check daemon's socket; removing the socket");
                self.take_away().map_err(|error| unavailable(format!("{}: {error}", self.socket.display())))?;
            }
        }
        Ok(false)
    }

    /// Takes the socket away from a process that is no daemon of ours, if it is still that one. Daemons take their place
    /// under the same lock.
    fn take_away(&self) -> std::io::Result<()> {
        let folder = std::fs::File::open(self.socket.parent().unwrap_or(&self.socket))?;
        folder.lock()?;
        match connect(&self.socket).and_then(|daemon| self.whose(&daemon)) {
            Ok(DaemonProgram::Foreign) => std::fs::remove_file(&self.socket),
            _ => Ok(()),
        }
    }

    /// Starts it and waits until it answers.
    fn start(&self) -> Answer<bool> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| unavailable("no program is configured for it".to_owned()))?;
        let program = self.program(program)?;
        if let (Kind::Own { .. }, Some(folder)) = (&self.kind, self.socket.parent()) {
            secret_folder(folder).map_err(|error| unavailable(error.to_string()))?;
        }
        let child = Command::new(&program)
            .args(arguments)
            .current_dir(&self.cwd)
            .env(SOCKET, &self.socket)
            .env(CWD, &self.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What ends the agent by the keyboard does not end what other agents use.
            .process_group(0)
            .spawn();
        let mut child = child.map_err(|error| unavailable(format!("{}: {error}", program.display())))?;
        // One that nobody waits for stays in the list of processes when it has ended, as long as this process lives.
        let (waits, status) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("toolgate-lens".to_owned()).stack_size(64 << 10);
        let waited = thread.spawn(move || child.wait().map(|status| waits.send(status)));
        waited.map_err(|error| unavailable(error.to_string()))?;
        let end = Instant::now() + START_TIMEOUT;
        let mut ended = None;
        while Instant::now() < end {
            if self.connect().is_ok() {
                return Ok(true);
            }
            // One that was started at the same time by somebody else may have won: this one has ended then.
            ended = ended.or_else(|| status.try_recv().ok());
            if ended.is_some_and(|status| !status.success()) {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Err(unavailable(match ended {
            Some(status) => format!("{} ended at once ({status})", program.display()),
            None => format!("it does not listen within {} s", START_TIMEOUT.as_secs()),
        }))
    }

    /// The file of a program. It is started in the project, which must not have a say in what a bare name means.
    fn program(&self, name: &OsStr) -> Answer<PathBuf> {
        let path = Path::new(name);
        if path.is_absolute() {
            return Ok(path.to_path_buf());
        }
        let bare = path.file_name() == Some(name);
        let folders = std::env::var_os("PATH").filter(|_| bare).unwrap_or_default();
        let found = installed(name, &folders, &[&self.cwd]).next();
        found.ok_or_else(|| unavailable(format!("{} is not installed outside the project", name.display())))
    }

    /// Writes what clients of code-lens want to know of it.
    fn describe(&self, metadata: &Path) -> Answer<()> {
        let pid = connect(&self.socket)?.pid.unwrap_or_default();
        let known =
            Metadata { pid, socket_path: self.socket.clone(), version: CODE_LENS.to_owned(), cwd: self.cwd.clone() };
        let text = serde_json::to_vec_pretty(&known).map_err(|error| CapabilityError::Other(error.to_string()))?;
        let written = || -> std::io::Result<()> {
            let new = metadata.with_extension(format!("json.{}", std::process::id()));
            std::fs::create_dir_all(metadata.parent().unwrap_or(metadata))?;
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?.write_all(&text)?;
            std::fs::rename(&new, metadata)
        };
        written().map_err(|error| CapabilityError::Other(format!("{}: {error}", metadata.display())))
    }

    /// Ends a code-lens daemon, and removes what it leaves behind. Which process it is, the socket says: the file may be
    /// old, and its number another's by now.
    fn end(&self, metadata: &Path) {
        if let Some(pid) = connect(&self.socket).ok().and_then(|daemon| daemon.pid) {
            terminate(pid);
        }
        if connect(&self.socket).is_err() {
            // What is gone already is just as well.
            let _ = std::fs::remove_file(&self.socket);
            let _ = std::fs::remove_file(metadata);
        }
    }
}

fn unavailable(why: String) -> CapabilityError {
    CapabilityError::Unavailable(format!("the check daemon does not start: {why}"))
}

fn read(metadata: &Path) -> Option<Metadata> {
    serde_json::from_slice(&read_regular(metadata, METADATA).ok()?).ok()
}

/// Tells a process to end, and ends it if it does not.
fn terminate(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    for signal in [Signal::TERM, Signal::KILL] {
        if kill_process(pid, signal).is_err() {
            return;
        }
        let end = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < end {
            if test_kill_process(pid).is_err() {
                return;
            }
            std::thread::sleep(POLL_INTERVAL / 5);
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn what_clients_wrote_is_read_within_bounds_and_without_waiting() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        let whole = r#"{"pid":7,"socketPath":"/s","version":"0.1.0","cwd":"/c"}"#;
        std::fs::write(at("whole"), whole).expect("a file");
        std::fs::write(at("long"), format!("{whole}{}", " ".repeat(METADATA as usize))).expect("a file");
        mknodat(rustix::fs::CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        for (name, expected) in [("whole", Some(7)), ("long", None), ("pipe", None), ("none", None)] {
            assert_eq!(read(&at(name)).map(|known| known.pid), expected, "{name}");
        }
    }
}
