//! Programs that run beside, and end with the trial.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::Error;

/// A process that is killed when this is dropped.
#[derive(Debug)]
pub struct Beside(Child);

impl Beside {
    /// Starts a command that nobody listens to.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(mut command: Command) -> Result<Self, Error> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Beside(command.spawn()?))
    }

    /// Starts a resident host, waits until it listens, and says where.
    ///
    /// # Errors
    /// If it does not start, with what it says.
    pub fn host(mut command: Command) -> Result<(Self, PathBuf), Error> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut beside = Beside(command.spawn()?);
        let mut line = String::new();
        if let Some(stdout) = beside.0.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        match line.trim_end().strip_prefix("listening on ") {
            Some(socket) => Ok((beside, socket.into())),
            None => {
                let mut said = String::new();
                beside.0.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said)).transpose()?;
                Err(Error::Unexpected(format!("the resident host does not start: {}", said.trim())))
            }
        }
    }

    /// Its number.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// If it has gone.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        Ok(kill_process(self.pid(), signal)?)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
