//! The frames from the host to a shim that answer nothing, and questions to the agent's user.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolgate_host::capability::{Answer, Delivery, Journal, Outgoing, Ui};
use toolgate_host::{CapabilityError, Level, Person, Question};

/// Writes frames, each as one line, whoever writes at the same time.
#[derive(Clone)]
pub struct Frames {
    shared: Arc<Shared>,
    /// The request that this is for, if any.
    request: Option<Value>,
}

struct Shared {
    out: Mutex<Box<dyn Write + Send>>,
    questions: Mutex<HashMap<u64, oneshot::Sender<bool>>>,
    asked: AtomicU64,
    /// The status lines as they were last shown.
    shown: Mutex<HashMap<String, Option<String>>>,
}

impl Frames {
    /// Frames to this reader.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let shared = Shared {
            out: Mutex::new(Box::new(out)),
            questions: Mutex::default(),
            asked: AtomicU64::new(1),
            shown: Mutex::default(),
        };
        Frames { shared: Arc::new(shared), request: None }
    }

    /// The same for one request.
    pub fn about(&self, request: &Value) -> Self {
        Frames { shared: Arc::clone(&self.shared), request: Some(request.clone()) }
    }

    /// Writes a frame.
    pub fn write(&self, key: &str, value: Value) -> std::io::Result<()> {
        self.write_whole(json!({ "schema": 1, key: value }))
    }

    /// Writes a frame that has all but its number.
    pub fn write_whole(&self, frame: Value) -> std::io::Result<()> {
        let mut out = self.shared.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(format!("{frame}\n").as_bytes()).and_then(|()| out.flush())
    }

    /// Hands a message to the agent, as it is drawn folded and unfolded.
    pub(crate) fn message(&self, message: &Outgoing, folded: &Value, unfolded: &Value) {
        let delivery = match message.delivery {
            Delivery::Steer => "steer",
            Delivery::FollowUp => "follow-up",
            Delivery::NextTurn => "next-turn",
        };
        let frame = json!({
            "kind": message.kind, "text": message.text, "visible": message.visible, "delivery": delivery,
            "trigger_turn": message.trigger_turn, "details": serde_json::from_str::<Value>(&message.details).ok(),
            "folded": folded, "unfolded": unfolded,
        });
        // A shim that does not read any more is about to end.
        let _ = self.write("message", frame);
    }

    /// Hands the answer to a question to whoever waits for it.
    pub fn answered(&self, question: u64, confirmed: bool) {
        let waiting = self.shared.questions.lock().unwrap_or_else(PoisonError::into_inner).remove(&question);
        if let Some(waiting) = waiting {
            // Nobody waits any more: the answer came too late.
            let _ = waiting.send(confirmed);
        }
    }
}

fn other(error: &std::io::Error) -> CapabilityError {
    CapabilityError::Other(error.to_string())
}

#[async_trait]
impl Person for Frames {
    async fn confirm(&self, question: &Question<'_>, deadline: Duration) -> bool {
        let number = self.shared.asked.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.shared.questions.lock().unwrap_or_else(PoisonError::into_inner).insert(number, sender);
        let timeout = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        let frame = json!({
            "schema": 1, "ask": number, "for": self.request, "title": question.title, "text": question.text,
            "timeout": timeout,
        });
        let asked = self.write_whole(frame);
        let confirmed = match asked {
            Ok(()) => matches!(tokio::time::timeout(deadline, answer).await, Ok(Ok(true))),
            Err(_) => false,
        };
        self.shared.questions.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        confirmed
    }
}

#[async_trait]
impl Journal for Frames {
    async fn append(&self, kind: String, entry: String) -> Answer<()> {
        let entry: Value =
            serde_json::from_str(&entry).map_err(|error| CapabilityError::Invalid(format!("not JSON: {error}")))?;
        self.write("journal", json!({ "kind": kind, "entry": entry })).map_err(|error| other(&error))
    }
}

#[async_trait]
impl Ui for Frames {
    async fn set_status(&self, key: String, text: Option<String>) -> Answer<()> {
        let before = self.shared.shown.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), text.clone());
        if before.as_ref() == Some(&text) {
            return Ok(());
        }
        self.write("status", json!({ "key": key, "text": text })).map_err(|error| other(&error))
    }

    async fn notify(&self, message: String, level: Level) -> Answer<()> {
        let level = match level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        self.write("notify", json!({ "message": message, "level": level })).map_err(|error| other(&error))
    }
}
