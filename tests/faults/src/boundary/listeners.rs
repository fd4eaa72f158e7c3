//! What may listen at a socket in somebody's place.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::Error;
use crate::spoil;

/// What is done with whoever comes. A connection that comes back is kept open.
type Greet = fn(UnixStream) -> Option<UnixStream>;

/// Longest that a connection waits for its greeting to be read.
const WRITING: Duration = Duration::from_secs(3);

/// All of them.
pub(super) const ALL: [(&str, Greet); 5] = [
    ("says nothing", Some),
    ("closes at once", |_| None),
    ("talks garbage", |stream| said(stream, &b"\xff\0garbage\n".repeat(64))),
    ("says half a frame", |stream| said(stream, b"{\"schema\":1,\"version\":\"")),
    ("never stops talking", |stream| {
        let flood = vec![b'x'; 1 << 20];
        (0..200).try_fold(stream, |stream, _| said(stream, &flood))
    }),
];

fn said(mut stream: UnixStream, text: &[u8]) -> Option<UnixStream> {
    stream.set_write_timeout(Some(WRITING)).ok()?;
    stream.write_all(text).ok()?;
    Some(stream)
}

/// A listener, until it is dropped.
pub(super) struct Listener {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens here, in the place of whatever is there.
    pub(super) fn at(socket: &Path, greet: Greet) -> Result<Self, Error> {
        spoil::remove(socket)?;
        let listener = UnixListener::bind(socket)?;
        listener.set_nonblocking(true)?;
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let mut open = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => open.push(thread::spawn(move || {
                        let _ = stream.set_nonblocking(false);
                        greet(stream)
                    })),
                    Err(_) => thread::sleep(Duration::from_millis(2)),
                }
            }
            drop(open);
        });
        Ok(Listener { over, thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}
