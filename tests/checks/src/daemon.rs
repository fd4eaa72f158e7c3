//! Starts a daemon for a project, as a client of the protocol does, and ends it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Error;
use crate::client::Client;
use crate::machine::Machine;

/// How long a daemon may take to listen, and to end.
const LIMIT: Duration = Duration::from_secs(20);
/// How often it is looked whether it does.
const LOOK: Duration = Duration::from_millis(2);

/// A daemon that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    socket: PathBuf,
    /// From the start of the process until it listened.
    pub started: Duration,
}

impl Daemon {
    /// Starts a daemon for the project in `root` and waits until it listens.
    ///
    /// # Errors
    /// If it does not start or listen.
    pub fn start(machine: &Machine, line: &[OsString], root: &Path) -> Result<Self, Error> {
        let socket = machine.socket(&root.file_name().unwrap_or_default().to_string_lossy());
        Daemon::start_at(machine.command(line), &socket, root)
    }

    /// The same with a command and a socket of the caller's choice.
    ///
    /// # Errors
    /// If it does not start or listen.
    pub fn start_at(mut command: Command, socket: &Path, root: &Path) -> Result<Self, Error> {
        command.env("CODE_LENS_SOCKET_PATH", socket).env("CODE_LENS_CWD", root).current_dir(root);
        let begin = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let mut daemon = Daemon { child, socket: socket.to_owned(), started: Duration::ZERO };
        while Client::connect(socket).is_err() {
            if let Some(status) = daemon.child.try_wait()? {
                return Err(Error::Ended(status.to_string()));
            }
            if begin.elapsed() > LIMIT {
                return Err(Error::Deaf(LIMIT));
            }
            thread::sleep(LOOK);
        }
        daemon.started = begin.elapsed();
        Ok(daemon)
    }

    /// A new connection.
    ///
    /// # Errors
    /// If the daemon has gone.
    pub fn client(&self) -> Result<Client, Error> {
        Ok(Client::connect(&self.socket)?)
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the process to end and waits for it.
    ///
    /// # Errors
    /// If it does not.
    pub fn stop(mut self) -> Result<(), Error> {
        if let Some(id) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process(id, Signal::TERM).map_err(std::io::Error::from)?;
        }
        self.ended()
    }

    /// Waits for the process to end by itself.
    ///
    /// # Errors
    /// If it does not.
    pub fn ended(&mut self) -> Result<(), Error> {
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begin.elapsed() > LIMIT {
                return Err(Error::Lingers(LIMIT));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
