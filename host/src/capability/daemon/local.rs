//! The daemon of a project on this machine: started, asked and stopped.

use std::ffi::OsString;
use std::io::{Read, Write};
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

use super::Daemon;
use super::place::{CWD, Kind, Place, SOCKET, code_lens_socket, project_hash};
use super::wire::{PROBE, connect};
use crate::CapabilityError;
use crate::capability::Answer;
use crate::capability::apart::apart;
use crate::limits::deadline;
use crate::private::secret_folder;

/// How long a daemon may take to start.
const START: Duration = Duration::from_secs(10);

/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(50);

/// How long a daemon that was told to end may take.
const END: Duration = Duration::from_secs(1);

/// The version that code-lens calls itself by, whatever its package says (0.3.0 says this).
const CODE_LENS: &str = "0.1.0";

/// Most bytes that are read of what a client of code-lens wrote.
const METADATA: u64 = 64 << 10;

/// A project's check daemon. It is started when it is needed, and lives on without whoever started it.
#[derive(Clone, Debug)]
pub struct LocalDaemon {
    place: Place,
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
    /// session has that uses it.
    pub fn own(cwd: impl Into<String>, folder: &Path, command: Vec<OsString>, session: impl Into<String>) -> Self {
        let cwd = cwd.into();
        let socket = folder.join(format!("lens-{}.sock", project_hash(&cwd)));
        Self::at(Place { cwd, socket, command, kind: Kind::Own { session: session.into() } })
    }

    /// `@harms-haus/code-lens`, where all its clients look for it. `command` is `node` and its `dist/server.js`.
    pub fn code_lens(cwd: impl Into<String>, home: &Path, command: Vec<OsString>) -> Self {
        let cwd = cwd.into();
        let socket = code_lens_socket(&cwd, |name| std::env::var(name).ok());
        let metadata = home.join(".code-lens").join(format!("{}.json", project_hash(&cwd)));
        Self::at(Place { cwd, socket, command, kind: Kind::CodeLens { metadata } })
    }

    fn at(place: Place) -> Self {
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
        let params: Value = serde_json::from_str(&params)
            .map_err(|error| CapabilityError::Invalid(format!("no JSON text: {error}")))?;
        let (place, limit) = (self.place.clone(), self.limit);
        let answer = apart(move || connect(&place.socket)?.ask(&method, &params, limit)).await??;
        Ok(answer.to_string())
    }

    async fn stop(&self) -> Answer<()> {
        let started = self.started.swap(false, Ordering::SeqCst);
        let place = self.place.clone();
        apart(move || match &place.kind {
            Kind::Own { session } => {
                let ended = connect(&place.socket)
                    .and_then(|daemon| daemon.ask("sessionEnd", &json!({ "session": session }), PROBE));
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

impl Place {
    /// Makes sure that it runs. Says whether it had to be started.
    fn ensure(&self) -> Answer<bool> {
        match &self.kind {
            Kind::Own { session } => {
                let started = !self.is_ours()? && self.start()?;
                let params = json!({ "session": session });
                connect(&self.socket)?.ask("sessionStart", &params, PROBE)?;
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
                self.describe(metadata)?;
                Ok(true)
            }
        }
    }

    /// Whether our own daemon runs, in this version. One of another version is ended.
    fn is_ours(&self) -> Answer<bool> {
        let Ok(daemon) = connect(&self.socket) else { return Ok(false) };
        let pid = daemon.pid;
        let hello = daemon.ask("hello", &json!({}), PROBE);
        let version = hello.as_ref().ok().and_then(|hello| hello.get("version")).and_then(Value::as_str);
        if version == Some(env!("CARGO_PKG_VERSION")) {
            return Ok(true);
        }
        // One that does not answer is no use to anybody.
        tracing::info!(?version, "the check daemon is of another version, or hangs; it is replaced");
        if let Some(pid) = pid {
            terminate(pid);
        }
        Ok(false)
    }

    /// Starts it and waits until it answers.
    fn start(&self) -> Answer<bool> {
        let unavailable = |why: String| CapabilityError::Unavailable(format!("the check daemon does not start: {why}"));
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| unavailable("no program is set for it".to_owned()))?;
        if let (Kind::Own { .. }, Some(folder)) = (&self.kind, self.socket.parent()) {
            secret_folder(folder).map_err(|error| unavailable(error.to_string()))?;
        }
        let child = Command::new(program)
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
        let end = Instant::now() + START;
        let mut ended = None;
        while Instant::now() < end {
            if connect(&self.socket).is_ok() {
                return Ok(true);
            }
            // One that was started at the same time by somebody else may have won: this one has ended then.
            ended = ended.or_else(|| child.try_wait().ok().flatten());
            if ended.is_some_and(|status| !status.success()) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        Err(unavailable(match ended {
            Some(status) => format!("{} ended at once ({status})", program.display()),
            None => format!("it does not listen within {} s", START.as_secs()),
        }))
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

fn read(metadata: &Path) -> Option<Metadata> {
    let mut bytes = Vec::new();
    std::fs::File::open(metadata).ok()?.take(METADATA).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Tells a process to end, and ends it if it does not.
fn terminate(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    for signal in [Signal::TERM, Signal::KILL] {
        if kill_process(pid, signal).is_err() {
            return;
        }
        let end = Instant::now() + END;
        while Instant::now() < end {
            if test_kill_process(pid).is_err() {
                return;
            }
            std::thread::sleep(LOOK / 5);
        }
    }
}
