//! One request and its answer: JSON-RPC over a Unix socket, one object a line.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::CapabilityError;
use crate::capability::Answer;

/// How long a daemon may take to accept a connection, and for the small questions.
pub(super) const PROBE: Duration = Duration::from_secs(2);

/// Longest answer that is read, in bytes: far above what a daemon sends, which cuts its text at 50 KiB.
const ANSWER: u64 = 16 << 20;

/// Most bytes that are read before the answer, when a daemon says other things first.
const NOISE: u64 = 2 * ANSWER;

/// A connection to a daemon that runs as the same user.
pub(super) struct Connection {
    stream: UnixStream,
    /// The process that listens.
    pub(super) pid: Option<i32>,
}

/// Connects; unavailable if nobody listens there, or somebody else does.
pub(super) fn connect(socket: &Path) -> Answer<Connection> {
    let nobody = |why: &str| CapabilityError::Unavailable(format!("{}: {why}", socket.display()));
    let found = socket.symlink_metadata().map_err(|error| nobody(&error.to_string()))?;
    let me = rustix::process::geteuid();
    if !found.file_type().is_socket() || found.uid() != me.as_raw() {
        return Err(nobody("is no socket of this user's"));
    }
    // A socket of this machine takes or refuses a connection at once, unless too many wait: then this one does as well,
    // on a thread that nobody waits for longer than the deadline.
    let stream = UnixStream::connect(socket).map_err(|error| nobody(&error.to_string()))?;
    let peer = peer(&stream).ok_or_else(|| nobody("does not say whose it is"))?;
    if peer.0 != me.as_raw() {
        return Err(nobody("belongs to another user"));
    }
    Ok(Connection { stream, pid: peer.1 })
}

#[cfg(target_os = "linux")]
fn peer(stream: &UnixStream) -> Option<(u32, Option<i32>)> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some((peer.uid.as_raw(), Some(peer.pid.as_raw_nonzero().get())))
}

/// Elsewhere the owner of the socket has to do, which was looked at.
#[cfg(not(target_os = "linux"))]
fn peer(_stream: &UnixStream) -> Option<(u32, Option<i32>)> {
    Some((rustix::process::geteuid().as_raw(), None))
}

impl Connection {
    /// Asks and waits for the answer with the same id. Whatever else comes is skipped.
    pub(super) fn ask(self, method: &str, params: &Value, limit: Duration) -> Answer<Value> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        let end = Instant::now() + limit;
        let lost = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => CapabilityError::Timeout,
            _ => CapabilityError::Unavailable(format!("the daemon is gone: {error}")),
        };
        let mut stream = &self.stream;
        stream.set_write_timeout(Some(limit)).map_err(lost)?;
        let request = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id });
        stream.write_all(format!("{request}\n").as_bytes()).map_err(lost)?;
        let mut reader = BufReader::new(Until { stream, end }.take(NOISE));
        let mut line = Vec::new();
        loop {
            line.clear();
            (&mut reader).take(ANSWER + 1).read_until(b'\n', &mut line).map_err(lost)?;
            if line.last() != Some(&b'\n') {
                return Err(match line.len() as u64 > ANSWER || reader.get_ref().limit() == 0 {
                    true => CapabilityError::TooLarge(ANSWER),
                    false => CapabilityError::Unavailable("the daemon closed the connection without an answer".into()),
                });
            }
            let Ok(mut answer) = serde_json::from_slice::<Value>(&line) else { continue };
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
                let message = error.get("message").and_then(Value::as_str).unwrap_or("the daemon answered an error");
                return Err(CapabilityError::Other(message.to_owned()));
            }
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or_default());
        }
    }
}

/// A stream that is read until a moment, and not for so long each time.
struct Until<'a> {
    stream: &'a UnixStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}
