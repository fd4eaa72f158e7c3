//! `toolgate serve --stdio AGENT`: the host of one agent's process, for a shim in it.
//!
//! Both sides write JSON objects, one a line, in UTF-8, with `schema` 1; a line has at most 16 MiB. A reader ignores keys
//! that it does not know.
//!
//! | From the shim | Means |
//! |---|---|
//! | `id`, `event`, `payload` | an event of the agent; `id` is a number of the shim's choice, several may be open at once |
//! | `answer`, `confirmed` | what the user said to question number `answer` |
//! | `id`, `cancel` | nobody waits for the answer to that event any more |
//!
//! | From the host | Means |
//! |---|---|
//! | `hello` | the first line: `version`, `agent` |
//! | `id`, `result` | the answer to that event, one for each, in any order, in terms of the agent |
//! | `ask`, `for`, `title`, `text`, `timeout` | question number `ask` for the user, about event `for`; in milliseconds |
//! | `notify` | `message`, `level`: shown once |
//! | `status` | `key`, `text`: a status line, or `null` to clear it |
//! | `journal` | `kind`, `entry`: to be kept in the agent's own history of the session |
//! | `message` | `kind`, `text`, `details`, `visible`, `delivery` (`steer`, `follow-up`, `next-turn`), `trigger_turn`: for the conversation; `folded` and `unfolded`, lines of spans with `text` and `style`, a key of the theme |
//! | `error` | a line was no frame: a sentence |
//!
//! | `result` of | Is |
//! |---|---|
//! | an event before a call | `{}`, no opinion; `block` (`true`) with `reason`; the new `input` (pi) or `args` (OpenCode) |
//! | an event after a call, or at the end of a turn | `{}`, or `append`, a text for the agent |
//! | any other | `{}` |
//!
//! The shim takes everything that is not like this for a denial, of events before a call, and for nothing else.

use std::io::{BufRead, Read};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use toolgate_host::Plugin;

use super::Frames;
use crate::agent::{self, Dialect, Moment};
use crate::desk::{Desk, denial, refusal};
use crate::hook::PAYLOAD;
use crate::judge::Judge;
use crate::packs::Packs;
use crate::plugins::Plugins;
use crate::watch::{Sessions, Watch};
use crate::{Failure, exit, fired, place};

/// A line from the shim.
#[derive(Deserialize)]
struct Frame<'a> {
    id: Option<Value>,
    event: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    answer: Option<u64>,
    #[serde(default)]
    confirmed: bool,
    /// Nobody waits for the answer any more.
    #[serde(default)]
    cancel: bool,
}

/// Answers until the shim closes standard input.
pub(super) fn run(agent: &str, packs: &Packs, plugins: &Plugins) -> Result<ExitCode, Failure> {
    let agent = agent::named(agent).ok_or_else(|| Failure::new(exit::USAGE, format!("{agent} is no agent")))?;
    let plugin = place::default_plugin().map_err(|error| Failure::new(exit::SOFTWARE, error.to_string()))?;
    let frames = Frames::new(std::io::stdout());
    let hello = json!({ "version": env!("CARGO_PKG_VERSION"), "agent": agent.name() });
    frames.write("hello", hello).map_err(|error| Failure::new(exit::IO, error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let runtime = runtime.map_err(|error| Failure::new(exit::SOFTWARE, error.to_string()))?;
    let watch = Watch::Sessions(Arc::new(Sessions::new(plugin.clone(), frames.clone())));
    let shared = Arc::new(Shared { plugin, packs: packs.clone(), plugins: plugins.clone(), watch });
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(PAYLOAD + 1).read_until(b'\n', &mut line);
        match read {
            Ok(0) => break,
            Ok(_) if line.len() as u64 > PAYLOAD => {
                // What comes next is the middle of something.
                return Err(Failure::new(exit::DATA, format!("a frame is larger than {} MiB", PAYLOAD >> 20)));
            }
            Ok(_) => {}
            Err(error) => return Err(Failure::new(exit::IO, error.to_string())),
        }
        let frame = match serde_json::from_slice::<Frame<'_>>(&line) {
            Ok(frame) => frame,
            Err(error) => {
                frames.write("error", error.to_string().into()).map_err(|error| broken(&error))?;
                continue;
            }
        };
        if let Some(question) = frame.answer {
            frames.answered(question, frame.confirmed);
            continue;
        }
        if frame.cancel {
            continue;
        }
        let Some(id) = frame.id else {
            frames.write("error", "the frame has neither id nor answer".into()).map_err(|error| broken(&error))?;
            continue;
        };
        fired::note(agent.name());
        let payload = frame.payload.map(|payload| payload.get().as_bytes().to_vec()).unwrap_or_default();
        let request = Request { agent, id, event: frame.event, payload, frames: frames.clone() };
        runtime.spawn(request.answer(Arc::clone(&shared)));
    }
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn broken(error: &std::io::Error) -> Failure {
    Failure::new(exit::IO, format!("the agent does not read: {error}"))
}

/// What all events have in common.
struct Shared {
    plugin: Plugin,
    packs: Packs,
    plugins: Plugins,
    watch: Watch,
}

/// An event that is being answered.
struct Request {
    agent: &'static dyn Dialect,
    id: Value,
    event: Option<String>,
    payload: Vec<u8>,
    frames: Frames,
}

/// Answers a request by a denial if nothing else does: when the task that works on it panics.
struct Owed {
    agent: &'static dyn Dialect,
    moment: Moment,
    id: Value,
    frames: Frames,
    paid: bool,
}

impl Owed {
    fn pay(&mut self, result: &str) {
        self.paid = true;
        // What is no object is nothing that a shim takes for leave.
        let result: Value = serde_json::from_str(result).unwrap_or_default();
        // A shim that does not read any more is about to end.
        let _ = self.frames.write_whole(json!({ "schema": 1, "id": self.id, "result": result }));
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if !self.paid {
            let said = denial(self.agent, &self.moment, &refusal("panic", "the gate itself failed"));
            self.pay(&said);
        }
    }
}

impl Request {
    async fn answer(self, shared: Arc<Shared>) {
        let Request { agent, id, event, payload, frames } = self;
        let moment = agent.unreadable(event.as_deref());
        let frames = frames.about(&id);
        let mut owed = Owed { agent, moment, id, frames: frames.clone(), paid: false };
        let Shared { plugin, packs, plugins, watch } = &*shared;
        let judge = Judge::ForMany { plugin: Box::new(plugin.clone()), frames: Some(frames.clone()) };
        let desk = Desk { agent, packs, plugins, judge: &judge, watch, frames: Some(frames) };
        let said = desk.answer(event.as_deref(), &payload).await;
        owed.pay(&said);
    }
}
