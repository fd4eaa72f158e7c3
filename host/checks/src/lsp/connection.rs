//! A server's process and the messages to and from it.
//!
//! Reading and writing are tasks of their own, so that a server that does not read its input holds nobody up.
//! Dropping a connection ends the process and all that it started.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gen_lsp_types::json_rpc::{Error, Id, RequestObject, ResponseObject};
use gen_lsp_types::{ErrorCodes, Notification, Request};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc;

use super::frame;
use crate::process::Group;

/// Most messages of a server's that wait.
const WAITING: usize = 256;
/// With so many bytes that wait for it, a server is taken to read no more. One check may say a lot at once.
const UNREAD: usize = 64 << 20;
/// How much of what a server said last on standard error is kept.
const LAST_WORDS: usize = 4 << 10;

/// A message from a server: a request, a notification or a response.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Message {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    pub(super) result: Value,
    pub(super) error: Option<Error>,
}

/// Why a server is of no use any more, as a sentence without its subject.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Lost(pub(super) String);

/// A server that runs.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) group: Group,
    incoming: mpsc::Receiver<Result<Message, frame::Broken>>,
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    /// How many bytes wait to be read by the server.
    unread: Arc<AtomicUsize>,
    last_words: Arc<Mutex<VecDeque<u8>>>,
    requests: i64,
}

impl Connection {
    /// Starts a server.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let mut group = Group::start_watched(command.stdin(std::process::Stdio::piped()))?;
        let (sender, incoming) = mpsc::channel(WAITING);
        let (outgoing, receiver) = mpsc::unbounded_channel();
        let (unread, last_words) = (Arc::default(), Arc::default());
        if let Some(stdout) = group.child.stdout.take() {
            tokio::spawn(read(stdout, sender));
        }
        if let Some(stdin) = group.child.stdin.take() {
            tokio::spawn(write(stdin, receiver, Arc::clone(&unread)));
        }
        if let Some(stderr) = group.child.stderr.take() {
            tokio::spawn(listen(stderr, Arc::clone(&last_words)));
        }
        Ok(Connection { group, incoming, outgoing, unread, last_words, requests: 0 })
    }

    /// The next message. Nothing is lost if this is dropped before it is done.
    pub(super) async fn next(&mut self) -> Result<Message, Lost> {
        match self.incoming.recv().await {
            Some(Ok(message)) => Ok(message),
            Some(Err(broken)) => Err(Lost(broken.to_string())),
            None => Err(Lost(self.obituary())),
        }
    }

    /// Sends a request and returns its number.
    pub(super) fn request<R: Request>(&mut self, params: R::Params) -> Result<i64, Lost> {
        self.requests += 1;
        self.send(&RequestObject::from_request::<R>(Id::Number(self.requests), params))?;
        Ok(self.requests)
    }

    /// Sends a notification.
    pub(super) fn notify<N: Notification>(&self, params: N::Params) -> Result<(), Lost> {
        self.send(&RequestObject::from_notification::<N>(params))
    }

    /// Sends a notification with parameters that the types do not know.
    pub(super) fn notify_with(&self, method: &str, params: Value) -> Result<(), Lost> {
        self.send(&serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Answers a request of the server's.
    pub(super) fn answer(&self, id: &Value, result: Option<Value>) -> Result<(), Lost> {
        let Some(result) = result else {
            let id = serde_json::from_value(id.clone()).unwrap_or(Id::Null);
            let error = Error { code: ErrorCodes::MethodNotFound, message: "not known here".into(), data: None };
            return self.send(&ResponseObject::from_error(id, error));
        };
        self.send(&serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    fn send(&self, message: &impl serde::Serialize) -> Result<(), Lost> {
        let content = serde_json::to_vec(message).map_err(|error| Lost(format!("cannot be sent: {error}")))?;
        let framed = frame::framed(&content);
        if self.unread.fetch_add(framed.len(), Ordering::Relaxed) > UNREAD {
            return Err(Lost("does not read its input".into()));
        }
        self.outgoing.send(framed).map_err(|_| Lost(self.obituary()))
    }

    /// What to say of a server that is gone: the last line that it wrote for people helps more than its status.
    fn obituary(&self) -> String {
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = words.iter().copied().collect::<Vec<u8>>();
        let words = String::from_utf8_lossy(&words);
        match words.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            Some(line) => format!("ended: {line}"),
            None => "ended".into(),
        }
    }
}

async fn read(stdout: impl AsyncRead + Unpin, messages: mpsc::Sender<Result<Message, frame::Broken>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let message = match frame::read(&mut stdout).await {
            Ok(None) => return,
            Ok(Some(content)) => match serde_json::from_slice(&content) {
                Ok(message) => Ok(message),
                // The frame was whole, so the next one can be read. What was asked is not answered by this.
                Err(_) => continue,
            },
            Err(broken) => Err(broken),
        };
        let last = message.is_err();
        if messages.send(message).await.is_err() || last {
            return;
        }
    }
}

async fn write(
    mut stdin: impl AsyncWrite + Unpin,
    mut frames: mpsc::UnboundedReceiver<Vec<u8>>,
    unread: Arc<AtomicUsize>,
) {
    while let Some(frame) = frames.recv().await {
        if stdin.write_all(&frame).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
        unread.fetch_sub(frame.len(), Ordering::Relaxed);
    }
}

async fn listen(mut stderr: impl AsyncRead + Unpin, words: Arc<Mutex<VecDeque<u8>>>) {
    let mut bytes = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut bytes).await {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend(bytes.iter().take(read));
        let over = words.len().saturating_sub(LAST_WORDS);
        words.drain(..over);
    }
}
