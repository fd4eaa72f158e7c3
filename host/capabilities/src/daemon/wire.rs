//! One request and its answer: JSON-RPC over a Unix socket, one object a line.
//!
//! The kernel names who listens and who sends each part of an answer, and they have to be one process. What that process
//! sent before it was asked is no answer: it may have been another program then. So each request has a number that nobody
//! can guess.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use toolgate_host::CapabilityError;
use toolgate_host::capability::Answer;

/// How long a daemon may take to accept a connection, and for the small questions.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

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
        return Err(nobody("is not a socket of this user"));
    }
    // A socket of this machine takes or refuses a connection at once, unless too many wait: then this one does as well,
    // on a thread that nobody waits for longer than the deadline.
    let stream = open(socket).map_err(|error| nobody(&error.to_string()))?;
    let peer = peer(&stream).ok_or_else(|| nobody("has no known owner"))?;
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

/// A connection on which the kernel names the sender of whatever comes, from the first byte on.
#[cfg(target_os = "linux")]
fn open(socket: &Path) -> std::io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};

    let address = SocketAddrUnix::new(socket)?;
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_passcred(&fd, true)?;
    connect(&fd, &address)?;
    Ok(UnixStream::from(fd))
}

#[cfg(not(target_os = "linux"))]
fn open(socket: &Path) -> std::io::Result<UnixStream> {
    UnixStream::connect(socket)
}

/// A number for a request. Below 2^52, so that every reader of JSON has it as it is.
fn number() -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes) >> 12)
}

impl Connection {
    /// Asks and waits for the answer with the same id. Whatever else comes is skipped.
    pub(super) fn ask(self, method: &str, params: &Value, limit: Duration) -> Answer<Value> {
        let id = number().map_err(|error| CapabilityError::Other(format!("/dev/urandom: {error}")))?;
        let end = Instant::now() + limit;
        let lost = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => CapabilityError::Timeout,
            _ => CapabilityError::Unavailable(format!("the daemon has stopped: {error}")),
        };
        let mut stream = &self.stream;
        stream.set_write_timeout(Some(limit)).map_err(lost)?;
        let request = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id });
        stream.write_all(format!("{request}\n").as_bytes()).map_err(lost)?;
        let mut reader = BufReader::new(Until { stream, end, pid: self.pid }.take(NOISE));
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

/// A stream of one process that is read until a moment, and not for so long each time.
struct Until<'a> {
    stream: &'a UnixStream,
    end: Instant,
    pid: Option<i32>,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.received(buffer)
    }
}

#[cfg(target_os = "linux")]
impl Until<'_> {
    fn received(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
        use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [std::io::IoSliceMut::new(buffer)];
        let got = recvmsg(self.stream, &mut parts, &mut control, RecvFlags::empty())?.bytes;
        let sender = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmCredentials(who) => Some(who.pid.as_raw_nonzero().get()),
            _ => None,
        });
        // The end is nobody's.
        if got != 0 && sender != self.pid {
            return Err(std::io::Error::other("the peer is not the process that listens"));
        }
        Ok(got)
    }
}

#[cfg(not(target_os = "linux"))]
impl Until<'_> {
    fn received(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixListener;
    use std::process::{Command, Stdio};

    use super::*;

    /// Answers the request that it reads, with its number.
    const ANSWERS: &str = r#"read -r line; id=${line#*'"id":'}; echo "{\"id\":${id%%[,\}]*},\"result\":7}""#;

    #[test]
    fn only_who_listens_answers_and_only_what_was_asked() {
        // Whether somebody else speaks, what was said before the request, and what comes of it.
        let in_advance: String = (0..5_000).map(|id| format!("{{\"id\":{id},\"result\":8}}\n")).collect();
        let cases = [(false, "", Some(json!(7))), (false, in_advance.as_str(), Some(json!(7))), (true, "", None)];
        for (other, before, expected) in cases {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            let path = scratch.path().join("s");
            let listener = UnixListener::bind(&path).expect("it listens");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut stream, _) = listener.accept().expect("somebody asks");
                    // Who has heard enough does not read on.
                    let _ = stream.write_all(before.as_bytes());
                    let input = stream.try_clone().expect("another");
                    let output = if other {
                        Stdio::from(OwnedFd::from(input.try_clone().expect("a third")))
                    } else {
                        Stdio::piped()
                    };
                    let mut shell = Command::new("/bin/sh");
                    let shell = shell.args(["-c", ANSWERS]).stdin(OwnedFd::from(input)).stdout(output);
                    let said = shell.spawn().expect("a shell").wait_with_output().expect("it ends").stdout;
                    let _ = stream.write_all(&said);
                });
                let answer = connect(&path).expect("it listens").ask("x", &json!({}), PROBE_TIMEOUT);
                assert_eq!(answer.as_ref().ok(), expected.as_ref(), "{other}: {answer:?}");
            });
        }
    }
}
