//! The protocol's requests: what is offered, and a call from its judgement to its result.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_agents::agent::mcp::{Mcp, payload};
use toolgate_agents::agent::{Dialect, SessionContext, SessionRef};
use toolgate_agents::{Failure, dirs};
use toolgate_capabilities::StderrUi;
use toolgate_gatekeeper::evaluator::Evaluator;
use toolgate_gatekeeper::gate_builder;
use toolgate_gatekeeper::hook_handler::{self, HookHandler, User};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugin_tools::{Offers, failed};
use toolgate_gatekeeper::plugins::Plugins;
use toolgate_gatekeeper::watch::Watch;
use toolgate_host::{Plugin, ProvidedTool, ToolOutput};

use super::client::Client;
use super::mailbox::Mailbox;
use crate::shared_terminal::{Opening, Run, SharedTerminal};

/// How often a client that wants to know is told that a command still runs.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// The key of a result's metadata that has the details.
const DETAILS: &str = "toolgate";

/// What is said of the tools where there are any.
const OFFERED: &str = "The shell commands of these tools run in a terminal that the user sees and can type into. \
                       Toolgate checks each call first; a blocked call returns the reason.";

/// What is said of the tools of plugins alone.
const JUDGED: &str = "Toolgate checks each call of these tools first; a blocked call returns the reason.";

/// What is said where there are none.
const NONE: &str = "No tools available: the agent does not run inside tmux, so there is no terminal to share. \
                    The user has to start it in a tmux session.";

/// A server, which is its session's.
#[derive(Clone)]
pub(crate) struct Server(Arc<SessionOf>);

/// The session of a client.
pub(crate) struct SessionOf {
    plugin: Plugin,
    packs: Packs,
    plugins: Plugins,
    scene: SessionContext,
    /// None outside tmux.
    shared: Option<Arc<SharedTerminal>>,
    offers: Offers,
    mailbox: Mailbox,
}

/// A call.
struct Call {
    id: String,
    tool: String,
    input: Value,
    context: RequestContext<RoleServer>,
}

impl Server {
    /// A server for the folder that it was started in.
    pub(crate) async fn new(packs: &Packs, plugins: &Plugins, border: bool) -> Result<Self, Failure> {
        let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
        let cwd = dirs::folder(None)?;
        let root = dirs::root_of(&cwd);
        let session = name();
        let scene = SessionContext { session, cwd, root, guessed: true, pwd: None };
        let mailbox = Mailbox::default();
        let agent: &'static dyn Dialect = &Mcp;
        let opening = Opening { agent, plugin: &plugin, packs, plugins, scene: &scene, open: false, border };
        let shared = SharedTerminal::open(&opening, StderrUi, mailbox.clone()).await;
        let loaded = plugins.load().map_err(Failure::software)?;
        let offers = Offers::of(&loaded, SessionRef { agent, scene: &scene }, None).await;
        let (packs, plugins) = (packs.clone(), plugins.clone());
        Ok(Server(Arc::new(SessionOf { plugin, packs, plugins, scene, shared, offers, mailbox })))
    }

    /// What the server has to end with.
    pub(crate) fn session(&self) -> Arc<SessionOf> {
        Arc::clone(&self.0)
    }
}

/// A name that no other session of this user has.
fn name() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_millis())
}

impl SessionOf {
    pub(crate) async fn end(&self) {
        if let Some(shared) = &self.shared {
            shared.shutdown("quit").await;
        }
    }

    /// The tools that are offered.
    async fn tools(&self) -> Result<Vec<&ProvidedTool>, ErrorData> {
        let own = match &self.shared {
            None => &[][..],
            Some(shared) => {
                let tools = shared.tools().await;
                tools.map_err(|error| ErrorData::internal_error(format!("the terminal's component: {error}"), None))?
            }
        };
        Ok(own.iter().chain(self.offers.beside(own)).collect())
    }

    /// Judges a call and runs its tool.
    async fn call(&self, call: Call) -> CallToolResult {
        let client = Client::new(call.context.peer.clone());
        let SessionContext { session, cwd, .. } = &self.scene;
        let payload = payload((session, cwd), &call.id, &call.tool, &call.input, client.asks()).to_string();
        let desk = HookHandler {
            agent: &Mcp,
            packs: &self.packs,
            plugins: &self.plugins,
            judge: &Evaluator::LongLived { plugin: Box::new(self.plugin.clone()), frames: None },
            watch: &Watch::Plugins,
            user: User::Client(hook_handler::Client::new(client)),
            terminal: self.shared.as_deref().map(SharedTerminal::verdicts),
        };
        let judging = desk.answer(None, payload.as_bytes());
        let said = tokio::select! {
            said = judging => said,
            () = call.context.ct.cancelled() => return blocked("the call was cancelled"),
        };
        // What is no object is nothing that is taken for leave.
        let Ok(Value::Object(said)) = serde_json::from_str(&said) else {
            return blocked("the gate did not answer");
        };
        let text = |key: &str| said.get(key).and_then(Value::as_str);
        if said.get("block").is_some() {
            let reason = text("reason").unwrap_or("the gate gave no reason");
            return blocked(&above(text("message"), reason.to_owned()));
        }
        let input = said.get("input").unwrap_or(&call.input);
        let run = Run { tool: &call.tool, id: &call.id, input, scene: self.scene.clone() };
        let mut output = self.told(run, &call.context).await;
        desk.finished(&self.scene, &call.id).await;
        output.text = self.mailbox.before(above(text("message"), output.text));
        result(output)
    }

    /// Runs a tool. A client that wants to know is told now and then that it still runs.
    async fn told(&self, run: Run<'_>, context: &RequestContext<RoleServer>) -> ToolOutput {
        let started = Instant::now();
        let mut ticks = tokio::time::interval_at(started + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
        let token = context.meta.get_progress_token();
        let mut work = std::pin::pin!(self.run(run, context));
        loop {
            tokio::select! {
                output = &mut work => return output,
                _ = ticks.tick(), if token.is_some() => {
                    let Some(token) = token.clone() else { continue };
                    let seconds = started.elapsed().as_secs_f64();
                    let news = ProgressNotificationParam::new(token, seconds).with_message(format!("{seconds:.0} s"));
                    // Who does not read any more is about to end.
                    let _ = context.peer.notify_progress(news).await;
                }
            }
        }
    }
}

impl SessionOf {
    /// Runs a tool of the terminal or of a plugin.
    async fn run(&self, run: Run<'_>, context: &RequestContext<RoleServer>) -> ToolOutput {
        let input = run.input.to_string();
        let cancelled = context.ct.cancelled();
        // The terminal's tools come first: none of a plugin's is taken for one of them.
        match &self.shared {
            Some(shared) if shared.has(run.tool).await => shared.run(run, cancelled).await,
            _ => {
                let output = self.offers.run(&self.plugins, run.tool, &input, cancelled).await;
                output.unwrap_or_else(|| failed(NONE))
            }
        }
    }
}

/// A text below what the user is to see, if there is something.
fn above(message: Option<&str>, text: String) -> String {
    message.map_or_else(|| text.clone(), |message| format!("{message}\n\n{text}"))
}

fn blocked(reason: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(reason)])
}

/// An output as a result. The details are metadata: several clients show the model nothing else where there is structured
/// content.
fn result(output: ToolOutput) -> CallToolResult {
    let content = vec![ContentBlock::text(output.text)];
    let result = if output.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    let details = serde_json::from_str::<Value>(&output.details).ok().filter(Value::is_object);
    result.with_meta(details.map(|details| MetaObject([(DETAILS.to_owned(), details)].into_iter().collect())))
}

/// A tool as clients get to know it.
fn tool(provided: &ProvidedTool) -> Tool {
    let schema = serde_json::from_str::<JsonObject>(&provided.input_schema).unwrap_or_else(|error| {
        tracing::warn!(%error, tool = provided.name, "the schema of the input is none");
        [("type".to_owned(), json!("object"))].into_iter().collect()
    });
    Tool::new(provided.name.clone(), provided.description.clone(), schema)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("toolgate", env!("CARGO_PKG_VERSION"));
        let offers = !self.0.offers.is_empty();
        let instructions = match self.0.shared.is_some() {
            true => OFFERED,
            false if offers => JUDGED,
            false => NONE,
        };
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(about)
            .with_instructions(instructions)
    }

    /// In later ones a server asks the client nothing.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools().await?.into_iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = self.0.tools().await?;
        if !tools.iter().any(|tool| tool.name == request.name) {
            let why = if tools.is_empty() { NONE } else { "unknown tool" };
            return Err(ErrorData::invalid_params(why, None));
        }
        let call = Call {
            id: context.id.to_string(),
            tool: request.name.into_owned(),
            input: request.arguments.unwrap_or_default().into(),
            context,
        };
        let session = self.session();
        // A task of its own: what panics in it must not leave the client without an answer.
        let done = tokio::spawn(async move { session.call(call).await }).await;
        Ok(done.unwrap_or_else(|_| blocked("internal error in the tool")).into())
    }
}
