//! One Node process that has a tool loaded, and the channel to it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::answer::Answer;
use crate::process::{Group, command};
use crate::project::Project;

/// Most bytes that may come for one request.
const ANSWER: u64 = 32 << 20;

/// Most bytes that are kept of what a process says on its standard error.
const COMPLAINT: usize = 2 << 10;

/// How long an ended process may take to be gone.
const END: Duration = Duration::from_millis(500);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    /// It did not start, or could not be talked to.
    #[error("its Node process did not run: {0}")]
    System(#[from] io::Error),
    /// It ended before it had answered.
    #[error("its Node process ended early ({}){complaint}", how(*.status))]
    Ended {
        /// How, if it has ended altogether.
        status: Option<ExitStatus>,
        /// The last that it said, with a separator before it.
        complaint: String,
    },
    /// It said more than an answer may have.
    #[error("its Node process said more than {ANSWER} bytes")]
    TooLong,
}

fn how(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "still running".to_owned(), |status| status.to_string())
}

/// A process that runs. It and what it started end when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) group: Group,
    pub(super) requests: OwnedWriteHalf,
    answers: BufReader<OwnedReadHalf>,
    complaint: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    last: u64,
    /// When it was asked last, or started.
    pub(super) asked: Instant,
}

impl Process {
    /// Starts `node` with a script, in a folder. Its standard input is a socket for both directions, so that what
    /// plugins print is no part of what it answers. Compiled code is kept in the folder `code`; without one, and by a Node
    /// that cannot, it is compiled each time.
    ///
    /// # Errors
    /// If it does not start.
    pub(super) fn start(
        project: &Project,
        node: &Path,
        script: &str,
        folder: &Path,
        code: Option<PathBuf>,
    ) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = command(project, node, folder);
        command.args(["--input-type=commonjs", "--eval", script, "--"]).arg(folder).arg(&project.root);
        command.args(code);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        let mut group = Group::start_watched(&mut command)?;
        let complaint = Arc::default();
        let listener = tokio::spawn(listen(group.child.stderr.take(), Arc::clone(&complaint)));
        let (answers, requests) = UnixStream::from_std(ours)?.into_split();
        Ok(Process {
            group,
            requests,
            answers: BufReader::new(answers),
            complaint,
            listener,
            last: 0,
            asked: Instant::now(),
        })
    }

    /// Has files looked at.
    ///
    /// # Errors
    /// If the process ends, cannot be talked to or says too much. Then it is of no more use.
    pub(super) async fn ask(&mut self, files: &[&str]) -> Result<Answer, Failed> {
        self.last += 1;
        self.asked = Instant::now();
        let request = serde_json::json!({ "id": self.last, "files": files });
        // A process that has ended cannot be written to, and says why below.
        let _ = self.requests.write_all(format!("{request}\n").as_bytes()).await;
        let mut stream = (&mut self.answers).take(ANSWER);
        let mut line = Vec::new();
        // A process that is ended while it holds unread requests resets the channel.
        while stream.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
            // Other lines are not from the script, or answer a request that nobody waits for.
            match serde_json::from_slice::<Answer>(&line) {
                Ok(answer) if answer.id == self.last => return Ok(answer),
                _ => line.clear(),
            }
        }
        if stream.limit() == 0 { Err(Failed::TooLong) } else { Err(self.ended().await) }
    }

    async fn ended(&mut self) -> Failed {
        let status = tokio::time::timeout(END, self.group.child.wait()).await.ok().and_then(Result::ok);
        let _ = tokio::time::timeout(END, &mut self.listener).await;
        let said = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        // Without the stack.
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("at "));
        let complaint = lines.collect::<Vec<_>>().join("; ");
        Failed::Ended { status, complaint: if complaint.is_empty() { complaint } else { format!(": {complaint}") } }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Keeps the end of what a process complains about.
async fn listen(stream: Option<ChildStderr>, kept: Arc<Mutex<Vec<u8>>>) {
    let Some(mut stream) = stream else { return };
    let mut part = [0; 4096];
    while let Some(part) = read(&mut stream, &mut part).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(part);
        let excess = kept.len().saturating_sub(COMPLAINT);
        kept.drain(..excess);
    }
}

async fn read<'a>(stream: &mut (impl AsyncRead + Unpin), part: &'a mut [u8]) -> Option<&'a [u8]> {
    let length = stream.read(part).await.ok().filter(|&length| length > 0)?;
    part.get(..length)
}
