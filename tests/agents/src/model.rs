//! A model that follows a script: a server on the loopback interface which plays a list of tool calls to whichever
//! agent asks, and keeps the requests, so that a test can read what the agent told the model about each call.
//!
//! The step is chosen from the request alone: a request that already holds as many calls as the first two steps gets
//! the third. Side requests (a title for the session, say) offer no tools and get a plain text.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

use crate::dialect::{Dialect, Reply};

/// What the model says when the script is played.
pub const DONE: &str = "SCRIPT-DONE";

/// So many requests are kept. A script needs a few; an agent that never ends makes thousands.
const KEPT: usize = 300;

/// A tool call that the model makes.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name, as the agent declares it to the model. With a namespace of the Responses API it is
    /// `NAMESPACE.NAME`.
    pub tool: &'static str,
    /// Its arguments: an object, or a text for a free-form tool of the Responses API.
    pub input: Value,
    /// What an argument is that only an earlier result says: its name, and the words before it in the result.
    pub learned: Option<(&'static str, &'static str)>,
}

impl Call {
    /// A call whose arguments are known beforehand.
    pub fn new(tool: &'static str, input: Value) -> Self {
        Self { tool, input, learned: None }
    }

    /// Puts in the number that the last result with those words has behind them.
    fn learn(&mut self, told: &[String]) {
        let Some((argument, words)) = self.learned else { return };
        let behind = told.iter().rev().find_map(|result| result.split_once(words));
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        if let Some(number) = behind.and_then(|(_, text)| digits(text).parse::<u64>().ok()) {
            self.input[argument] = json!(number);
        }
    }
}

/// Calls that the model makes at once.
pub type Step = Vec<Call>;

/// What is done before the model answers with step N, once for each N.
pub type Before = Box<dyn FnMut(usize) + Send>;

/// The running server. It ends when it is dropped.
pub struct Model {
    server: Arc<Server>,
    address: SocketAddr,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    /// Listens on a free port and plays `steps`. `before` is also called with `steps.len()`, before the last text.
    pub fn start(steps: Vec<Step>, before: Before) -> io::Result<Self> {
        let server = Arc::new(Server::http((Ipv4Addr::LOCALHOST, 0)).map_err(io::Error::other)?);
        let address = server.server_addr().to_ip().ok_or_else(|| io::Error::other("the server has no address"))?;
        let requests = Arc::default();
        let mut player = Player { steps, before, reached: 0, answers: 0, requests: Arc::clone(&requests) };
        let thread = std::thread::spawn({
            let server = Arc::clone(&server);
            move || {
                // An agent that went away in the middle of an answer is no fault of the model's.
                server.incoming_requests().for_each(|request| drop(player.answer(request)));
            }
        });
        Ok(Self { server, address, requests, thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far: path and body.
    pub fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the model was told about each call, in the order of the calls, and the whole request that says so.
    pub fn told(&self) -> (Vec<String>, String) {
        let requests = self.requests().into_iter();
        let all = requests.filter_map(|(path, body)| Some((Dialect::of(&path)?.told(&body), body.to_string())));
        all.max_by_key(|(told, _)| told.len()).unwrap_or_default()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

struct Player {
    steps: Vec<Step>,
    before: Before,
    /// Steps below this one have had their `before`.
    reached: usize,
    answers: usize,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Player {
    fn answer(&mut self, mut request: Request) -> io::Result<()> {
        let path = request.url().split('?').next().unwrap_or_default().to_owned();
        if *request.method() != Method::Post {
            return json_answer(request, &catalogue());
        }
        let mut text = String::new();
        request.as_reader().read_to_string(&mut text)?;
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() < KEPT {
            requests.push((path.clone(), body.clone()));
        }
        drop(requests);
        let Some(dialect) = Dialect::of(&path) else {
            return json_answer(request, &json!({ "input_tokens": 100, "totalTokens": 100 }));
        };
        let mut calls = if dialect.offers_tools(&body) { self.step(dialect.calls(&body)) } else { Vec::new() };
        calls.iter_mut().for_each(|call| call.learn(&dialect.told(&body)));
        self.answers += 1;
        match dialect.answer(&path, &body, self.answers, &calls) {
            Reply::Json(value) => json_answer(request, &value),
            Reply::Events(text) => request.respond(Response::from_string(text).with_header(kind("text/event-stream"))),
        }
    }

    /// The calls that come after so many, and what is to happen before them.
    fn step(&mut self, mut calls: usize) -> Step {
        let mut step = 0;
        while self.steps.get(step).is_some_and(|these| these.len() <= calls) {
            calls -= self.steps[step].len();
            step += 1;
        }
        for number in self.reached..=step {
            (self.before)(number);
        }
        self.reached = self.reached.max(step + 1);
        self.steps.get(step).cloned().unwrap_or_default()
    }
}

fn json_answer(request: Request, value: &Value) -> io::Result<()> {
    request.respond(Response::from_string(value.to_string()).with_header(kind("application/json")))
}

fn kind(kind: &str) -> Header {
    Header::from_bytes("Content-Type", kind).expect("a content type is ASCII")
}

/// The list of models, in a shape that every API's clients can read.
fn catalogue() -> Value {
    let model = json!({
        "id": "mock-model", "object": "model", "type": "model", "display_name": "Mock", "created_at": "2026-01-01T00:00:00Z"
    });
    json!({ "object": "list", "data": [model], "models": [], "has_more": false })
}
