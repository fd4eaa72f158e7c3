//! `toolgate serve --stdio AGENT`: the host of one agent's process, for a shim in it.
//!
//! Both sides write JSON objects, one a line, in UTF-8, with `schema` 1; a line has at most 16 MiB. A reader ignores keys
//! that it does not know.
//!
//! | From the shim | Means |
//! |---|---|
//! | `id`, `event`, `payload` | an event of the agent; `id` is a number of the shim's choice, several may be open at once |
//! | `answer`, `confirmed` | what the user said to question number `answer` |
//! | `id`, `cancel` | nobody waits for the answer to that event any more; a tool that runs for it is stopped |
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
//! | `error` | a line was no frame, or one of another schema: a sentence; to an event there is a result as well |
//!
//! | `result` of | Is |
//! |---|---|
//! | an event before a call | `{}`, no opinion; `block` (`true`) with `reason`; the new `input` (pi) or `args` (OpenCode) |
//! | an event after a call, or at the end of a turn | `{}`, or `append`, a text for the agent |
//! | `tools` | `tools`, a list of objects with `name`, `description` and `input_schema` |
//! | `tool_run` | `text`, `is_error` and `details` (an object or `null`): the output of the tool `event.toolName` |
//! | any other | `{}` |
//!
//! The tools are those of plugins, which stay the same as long as this process lives, and those of the shared terminal: of
//! these there are none without `--terminal`, and outside tmux. Each call of a tool has to have been an event before a call,
//! too. Both have the payload of pi's events, with `cwd` and `session`.
//!
//! The shim takes everything that is not like this for a denial, of events before a call, and for nothing else.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::sync::{OnceCell, oneshot};
use toolgate_agents::agent::{self, Dialect, Payload, SessionContext, SessionRef};
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::evaluator::Evaluator;
use toolgate_gatekeeper::frames::Frames;
use toolgate_gatekeeper::hook_handler::{HookHandler, User, denial, refusal};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugin_tools::{Offers, failed};
use toolgate_gatekeeper::plugins::Plugins;
use toolgate_gatekeeper::watch::{Post, Sessions, Watch};
use toolgate_gatekeeper::{gate_builder, hook_heartbeat};
use toolgate_host::{Plugin, ProvidedTool, ToolOutput};

use crate::hook::PAYLOAD;
use crate::shared_terminal::{self, Opening, Run, SharedTerminal};

/// The event that asks for the tools.
const TOOLS: &str = "tools";

/// The event that runs one of them.
const TOOL_RUN: &str = "tool_run";

/// A line from the shim.
#[derive(Deserialize)]
struct Frame<'a> {
    schema: Option<Value>,
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

/// How the terminal is shared.
#[derive(Clone, Copy)]
pub(super) struct Terminal {
    /// Whether verdicts are shown in its border.
    pub(super) border: bool,
}

/// Answers until the shim closes standard input.
pub(super) fn run(
    agent: &str,
    packs: &Packs,
    plugins: &Plugins,
    terminal: Option<Terminal>,
) -> Result<ExitCode, Failure> {
    let agent = agent::named(agent).ok_or_else(|| Failure::new(exit::USAGE, format!("unknown agent {agent}")))?;
    let plugin = gate_builder::default_plugin().map_err(|error| Failure::new(exit::SOFTWARE, error.to_string()))?;
    let frames = Frames::new(std::io::stdout());
    let hello = json!({ "version": env!("CARGO_PKG_VERSION"), "agent": agent.name() });
    frames.write("hello", hello).map_err(|error| Failure::new(exit::IO, error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(exit::SOFTWARE, error.to_string()))?;
    let watch = Watch::Sessions(Arc::new(Sessions::new(plugin.clone(), frames.clone())));
    let host = Arc::new(Host {
        plugin,
        packs: packs.clone(),
        plugins: plugins.clone(),
        watch,
        terminal,
        shared: OnceCell::new(),
        offers: OnceCell::new(),
        running: Mutex::default(),
    });
    let served = answer_all(agent, &runtime, &host, &frames);
    runtime.block_on(host.end());
    runtime.shutdown_background();
    served
}

fn answer_all(
    agent: &'static dyn Dialect,
    runtime: &tokio::runtime::Runtime,
    host: &Arc<Host>,
    frames: &Frames,
) -> Result<ExitCode, Failure> {
    if host.terminal.is_some() {
        let host = Arc::clone(host);
        runtime.spawn(async move {
            shared_terminal::told_to_end().await;
            host.end().await;
            std::process::exit(0);
        });
    }
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
        if let Some(schema) = frame.schema.filter(|schema| *schema != 1) {
            let why = format!("the frame has schema {schema}, and this is schema 1");
            frames.write("error", why.as_str().into()).map_err(|error| broken(&error))?;
            if let (Some(id), None, false) = (frame.id, frame.answer, frame.cancel) {
                let moment = agent.unreadable(frame.event.as_deref());
                let said = denial(agent, &moment, &refusal("schema", &why));
                Owed { id, frames: frames.clone(), instead: None }.pay(&said);
            }
            continue;
        }
        if let Some(question) = frame.answer {
            frames.answered(question, frame.confirmed);
            continue;
        }
        if frame.cancel {
            host.cancel(frame.id.as_ref());
            continue;
        }
        let Some(id) = frame.id else {
            frames.write("error", "the frame has neither id nor answer".into()).map_err(|error| broken(&error))?;
            continue;
        };
        let gates = agent.unreadable(frame.event.as_deref()).when.gates();
        let payload = frame.payload.map(|payload| payload.get().as_bytes().to_vec()).unwrap_or_default();
        let request = Request { agent, id, event: frame.event, payload, frames: frames.clone() };
        let cancelled = host.started(&request);
        runtime.spawn(request.answer(Arc::clone(host), cancelled));
        // Whoever else writes there holds up no frame.
        runtime.spawn_blocking(move || hook_heartbeat::note(agent.name(), gates));
    }
    Ok(ExitCode::SUCCESS)
}

fn broken(error: &std::io::Error) -> Failure {
    Failure::new(exit::IO, format!("the agent does not read its input: {error}"))
}

/// What all events have in common.
struct Host {
    plugin: Plugin,
    packs: Packs,
    plugins: Plugins,
    watch: Watch,
    terminal: Option<Terminal>,
    /// Opened for the first event that is about its tools. None outside tmux.
    shared: OnceCell<Option<Arc<SharedTerminal>>>,
    /// Started for the first such event, too.
    offers: OnceCell<Offers>,
    /// The tools that run, by the id of their request.
    running: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Host {
    /// The terminal, if it has been opened.
    fn opened(&self) -> Option<&SharedTerminal> {
        self.shared.get()?.as_deref()
    }

    /// The terminal, which is opened where the agent is.
    async fn open(
        &self,
        agent: &'static dyn Dialect,
        scene: &SessionContext,
        frames: &Frames,
    ) -> Option<&SharedTerminal> {
        let Terminal { border } = self.terminal?;
        let open = async {
            let Host { plugin, packs, plugins, .. } = self;
            let opening = Opening { agent, plugin, packs, plugins, scene, open: true, border };
            SharedTerminal::open(&opening, frames.clone(), Post::new(plugin.clone(), frames.clone())).await
        };
        self.shared.get_or_init(|| open).await.as_deref()
    }

    /// The tools of plugins.
    async fn offers(&self, whose: SessionRef<'_>, frames: &Frames) -> &Offers {
        let start = async {
            match self.plugins.load() {
                Ok(loaded) => Offers::of(&loaded, whose, Some(frames)).await,
                Err(why) => {
                    tracing::warn!(why, "no tools of plugins are offered");
                    Offers::default()
                }
            }
        };
        self.offers.get_or_init(|| start).await
    }

    /// Notes a request that can be cancelled.
    fn started(&self, request: &Request) -> Option<oneshot::Receiver<()>> {
        let runs = request.event.as_deref() == Some(TOOL_RUN);
        runs.then(|| {
            let (cancel, cancelled) = oneshot::channel();
            self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id.to_string(), cancel);
            cancelled
        })
    }

    /// Cancels the tool that runs for a request, if one still does.
    fn cancel(&self, id: Option<&Value>) {
        let running = |id: &Value| self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string());
        if let Some(cancel) = id.and_then(running) {
            // It has ended meanwhile.
            let _ = cancel.send(());
        }
    }

    async fn end(&self) {
        if let Some(shared) = self.opened() {
            shared.shutdown("quit").await;
        }
    }
}

/// An event that is being answered.
struct Request {
    agent: &'static dyn Dialect,
    id: Value,
    event: Option<String>,
    payload: Vec<u8>,
    frames: Frames,
}

/// Answers a request by something else if nothing does: when the task that works on it panics.
struct Owed {
    id: Value,
    frames: Frames,
    /// The answer to be given then. None once there was one.
    instead: Option<String>,
}

impl Owed {
    fn pay(&mut self, result: &str) {
        self.instead = None;
        // What is no object is nothing that a shim takes for leave.
        let result: Value = serde_json::from_str(result).unwrap_or_default();
        // A shim that does not read any more is about to end.
        let _ = self.frames.write_whole(json!({ "schema": 1, "id": self.id, "result": result }));
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(instead) = self.instead.take() {
            self.pay(&instead);
        }
    }
}

impl Request {
    async fn answer(self, host: Arc<Host>, cancelled: Option<oneshot::Receiver<()>>) {
        let frames = self.frames.about(&self.id);
        let event = self.event.as_deref();
        let instead = match event {
            Some(TOOL_RUN) => answer_of(failed("internal error in the tool")),
            _ => denial(self.agent, &self.agent.unreadable(event), &refusal("panic", "internal error in the gate")),
        };
        let mut owed = Owed { id: self.id.clone(), frames: frames.clone(), instead: Some(instead) };
        let said = match event {
            Some(TOOLS) => self.tools(&host).await,
            Some(TOOL_RUN) => answer_of(self.tool_run(&host, cancelled).await),
            _ => self.judged(&host, frames).await,
        };
        host.cancel(Some(&self.id));
        owed.pay(&said);
    }

    /// The answer to what is judged, or only looked at.
    async fn judged(&self, host: &Host, frames: Frames) -> String {
        let Host { plugin, packs, plugins, watch, .. } = host;
        let agent = self.agent;
        let judge = Evaluator::LongLived { plugin: Box::new(plugin.clone()), frames: Some(frames.clone()) };
        let (user, terminal) = (User::Shim(frames), host.opened().map(SharedTerminal::verdicts));
        let desk = HookHandler { agent, packs, plugins, judge: &judge, watch, user, terminal };
        desk.answer(self.event.as_deref(), &self.payload).await
    }

    /// Where the agent is, and the event.
    fn read(&self) -> Result<(SessionContext, Value), String> {
        let value: Value = serde_json::from_slice(&self.payload).map_err(|error| format!("no payload: {error}"))?;
        let variable = |name: &str| std::env::var(name).ok();
        let payload = Payload::new(&value, &variable);
        Ok((payload.scene("session", "cwd", &[])?, payload.field("event")?.clone()))
    }

    async fn tools(&self, host: &Host) -> String {
        let tools = match self.read() {
            Ok((scene, _)) => self.offered(host, &scene).await,
            Err(error) => {
                tracing::warn!(error, "no tools are offered");
                Vec::new()
            }
        };
        json!({ "tools": tools }).to_string()
    }

    async fn offered(&self, host: &Host, scene: &SessionContext) -> Vec<Value> {
        let of_terminal = match host.open(self.agent, scene, &self.frames).await {
            Some(shared) => shared.tools().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the terminal has no tools");
                &[]
            }),
            None => &[],
        };
        let offers = host.offers(SessionRef { agent: self.agent, scene }, &self.frames).await;
        let described = |tool: &ProvidedTool| {
            let schema: Value = serde_json::from_str(&tool.input_schema).unwrap_or_default();
            json!({ "name": tool.name, "description": tool.description, "input_schema": schema })
        };
        of_terminal.iter().chain(offers.beside(of_terminal)).map(described).collect()
    }

    async fn tool_run(&self, host: &Host, cancelled: Option<oneshot::Receiver<()>>) -> ToolOutput {
        let (scene, event) = match self.read() {
            Ok(read) => read,
            Err(error) => return failed(error),
        };
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let input = event.get("input").unwrap_or(&Value::Null);
        let mut cancelled = std::pin::pin!(async {
            // Whoever does not wait any more says so.
            if !matches!(async { cancelled?.await.ok() }.await, Some(())) {
                std::future::pending::<()>().await;
            }
        });
        let run = Run { tool: text("toolName"), id: text("toolCallId"), input, scene: scene.clone() };
        let shared = host.open(self.agent, &scene, &self.frames).await;
        // The terminal's tools come first: none of a plugin's is taken for one of them.
        if let Some(shared) = shared
            && shared.has(run.tool).await
        {
            return shared.run(run, cancelled).await;
        }
        let offers = host.offers(SessionRef { agent: self.agent, scene: &scene }, &self.frames).await;
        if let Some(output) = offers.run(&host.plugins, run.tool, &input.to_string(), &mut cancelled).await {
            return output;
        }
        match shared {
            Some(shared) => shared.run(run, cancelled).await,
            None => failed(
                "unknown tool; there is no shared terminal, because it is off or the agent does not run inside tmux",
            ),
        }
    }
}

fn answer_of(output: ToolOutput) -> String {
    let details: Value = serde_json::from_str(&output.details).unwrap_or_default();
    json!({ "text": output.text, "is_error": output.is_error, "details": details }).to_string()
}
