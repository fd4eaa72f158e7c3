//! From a call to a verdict, from a result to an addition, and from a text to what it does, with recovery.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::Mutex;

use crate::capability::{Capabilities, Outgoing};
use crate::error::CallError;
use crate::failure;
use crate::instance::{Asked, Instance, Lines, Question, Role, Session};
use crate::limits::{Limits, said};
use crate::slot::{Generation, Slot};
use crate::text;
use crate::{
    Addition, End, ProvidedTool, Signal, Started, ToolCall, ToolOutput, ToolResult, Truth, Turn, Update, Verdict,
};

/// A component in one role, with at most one instance of it.
///
/// The instance is taken out while it works and put back only after success. So a call that fails, or whose
/// future is dropped half-way, leaves none behind, and the next call starts a new one.
///
/// A newer generation of the component takes over before the next call. One that does not start in this session is not
/// tried again by this keeper as long as the instance before it works; once that fails, too, there is only the newer one,
/// and a gate that cannot start blocks.
struct Keeper {
    slot: Slot,
    role: Role,
    session: Session,
    capabilities: Capabilities,
    limits: Limits,
    instance: Mutex<Option<Running>>,
    /// What an earlier instance of the session knew, for each new one.
    state: std::sync::Mutex<Vec<u8>>,
}

/// An instance that waits for its next call.
struct Running {
    instance: Instance,
    started: Started,
    /// Kept, so that a generation counts as in use as long as an instance of it is.
    _generation: Arc<Generation>,
    /// The newest generation that was tried.
    tried: u64,
}

impl Keeper {
    fn new(slot: impl Into<Slot>, role: Role, session: Session, capabilities: Capabilities) -> Self {
        Keeper {
            slot: slot.into(),
            role,
            session,
            capabilities,
            limits: Limits::of(role),
            instance: Mutex::new(None),
            state: std::sync::Mutex::default(),
        }
    }

    async fn fresh(&self) -> Result<Running, CallError> {
        let generation = self.slot.latest();
        let (mut instance, mut started) = self.start(&generation).await?;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !state.is_empty() {
            match instance.restore(&state).await {
                Ok(Ok(())) => {}
                Ok(Err(why)) => tracing::warn!(plugin = self.slot.name(), why, "started without its state"),
                // A state that fells the component must not fell it at every start.
                Err(error) => {
                    tracing::warn!(plugin = self.slot.name(), %error, "started without its state");
                    (instance, started) = self.start(&generation).await?;
                }
            }
        }
        Ok(Running { instance, started, tried: generation.number, _generation: generation })
    }

    async fn start(&self, generation: &Generation) -> Result<(Instance, Started), CallError> {
        let capabilities = self.capabilities.clone();
        let started = Instance::start(&generation.plugin, self.role, &self.session, capabilities, self.limits).await;
        started.map(|(instance, started)| (instance, failure::started(started)))
    }

    /// The instance that takes the place of one of an older generation.
    async fn succeed(&self, mut old: Running) -> Result<Running, CallError> {
        let plugin = self.slot.name();
        match old.instance.save().await {
            Ok(state) if state.is_empty() => {}
            Ok(state) => *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state,
            Err(error) => {
                tracing::warn!(plugin, %error, "the older generation saved no state");
                return self.fresh().await;
            }
        }
        let newest = self.slot.generation();
        match self.fresh().await {
            Err(error) => {
                tracing::error!(plugin, role = self.role.name(), %error, "a new generation does not start here; the one before it goes on");
                Ok(Running { tried: newest, ..old })
            }
            new => new,
        }
    }

    /// Does something with the instance, which is made if there is none, within the time for one call.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut Instance, &Started) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let whole = async {
            let mut kept = self.instance.lock().await;
            let mut running = match kept.take() {
                Some(running) if running.tried >= self.slot.generation() => running,
                Some(old) => self.succeed(old).await?,
                None => self.fresh().await?,
            };
            let answer = work(&mut running.instance, &running.started).await?;
            *kept = Some(running);
            Ok(answer)
        };
        let answer = tokio::time::timeout(self.limits.call, whole).await;
        let answer = answer.unwrap_or(Err(CallError::Timeout(self.limits.call)));
        if let Err(error) = &answer {
            tracing::warn!(plugin = self.slot.name(), role = self.role.name(), %error, "instance dropped");
        }
        answer
    }

    /// Ends the session of the instance, if there is one.
    async fn shutdown(&self, reason: &str) {
        let running = self.instance.lock().await.take();
        if let Some(mut running) = running {
            let ended = tokio::time::timeout(self.limits.call, running.instance.shutdown(reason)).await;
            if !matches!(ended, Ok(Ok(()))) {
                tracing::warn!(plugin = self.slot.name(), "shutdown failed");
            }
        }
    }
}

/// Judges calls. Share it between tasks by reference; calls are judged one after the other.
pub struct Gate(Keeper, bool);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gate").field(&self.0.slot).finish()
    }
}

impl Gate {
    /// A gate of this plugin. Nothing runs before [`Gate::start`] or the first call.
    pub fn new(plugin: impl Into<Slot>, session: Session, capabilities: Capabilities) -> Self {
        Gate(Keeper::new(plugin, Role::Gate, session, capabilities), false)
    }

    /// The same, which may rewrite calls. Whoever asks it judges the new input again.
    #[must_use]
    pub fn rewriting(mut self, may: bool) -> Self {
        self.1 = may;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Starts the component, so that its complaints about its configuration are known before the first call.
    ///
    /// # Errors
    /// If it does not start. Calls are blocked then, until it does: each of them tries again.
    pub async fn start(&self) -> Result<Started, CallError> {
        self.0.with(async |_, started| Ok(started.clone())).await
    }

    /// Judges a call. Whatever goes wrong is a block that says what.
    pub async fn judge(&self, call: &ToolCall) -> Verdict {
        self.judge_and_remember(call).await.0
    }

    /// The same, with what is to stand under `memory` in the context of the session's later calls if this one runs: a
    /// JSON text; none if it stays what this call was given.
    pub async fn judge_and_remember(&self, call: &ToolCall) -> (Verdict, Option<String>) {
        self.asked(call, Asked::Call).await
    }

    /// The same for a call that has to be judged by then.
    pub async fn judge_until(&self, call: &ToolCall, end: Instant) -> (Verdict, Option<String>) {
        self.until(end, self.judge_and_remember(call)).await.unwrap_or_else(|late| (late, None))
    }

    /// Judges a request for permission that has to be judged by then. What is asked for cannot be rewritten.
    pub async fn permit_until(&self, call: &ToolCall, end: Instant) -> Verdict {
        self.until(end, self.asked(call, Asked::Permission)).await.map_or_else(|late| late, |(verdict, _)| verdict)
    }

    /// The error is the verdict on what is too late.
    async fn until<T>(&self, end: Instant, judged: impl Future<Output = T>) -> Result<T, Verdict> {
        let before = Instant::now();
        let late =
            |_| failure::verdict(Role::Gate, self.0.slot.name(), &CallError::Timeout(end.duration_since(before)));
        tokio::time::timeout_at(end.into(), judged).await.map_err(late)
    }

    async fn asked(&self, call: &ToolCall, asked: Asked) -> (Verdict, Option<String>) {
        let plugin = self.0.slot.name();
        let judged = match self.oversized(call) {
            Some(error) => Err(error),
            None => self.0.with(async |instance, _| instance.judge(call, asked).await).await,
        };
        match judged {
            Ok((verdict, memory)) => (failure::checked(verdict, plugin, self.1 && asked == Asked::Call), memory),
            Err(error) => (failure::verdict(Role::Gate, plugin, &error), None),
        }
    }

    /// Ends the session. A component that fails at this is only logged.
    pub async fn shutdown(&self, reason: &str) {
        self.0.shutdown(reason).await;
    }

    fn oversized(&self, call: &ToolCall) -> Option<CallError> {
        let limit = self.0.limits.input;
        let fields = call.command.iter().chain(&call.paths).chain(&call.globs);
        let length = fields.map(|field| field.name.len() + field.value.len()).sum::<usize>() + call.cwd.len();
        (length > limit).then_some(CallError::Input { length, limit })
    }
}

/// Looks at what happens in a session. A component without the hook for something sees nothing of it and costs nothing.
///
/// Whatever goes wrong is logged and changes nothing.
pub struct Observer(Keeper);

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Observer").field(&self.0.slot).finish()
    }
}

impl Observer {
    /// An observer of this plugin. Nothing runs before [`Observer::start`] or the first event.
    pub fn new(plugin: impl Into<Slot>, session: Session, capabilities: Capabilities) -> Self {
        Observer(Keeper::new(plugin, Role::Observer, session, capabilities))
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// The same with what an earlier observer of the session saved; none is as well as an empty one.
    #[must_use]
    pub fn with_state(self, state: Vec<u8>) -> Self {
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self
    }

    /// Starts the component, as it does at the start of a session, so that its complaints about its configuration are
    /// known.
    ///
    /// # Errors
    /// If it does not start.
    pub async fn start(&self) -> Result<Started, CallError> {
        self.0.with(async |_, started| Ok(started.clone())).await
    }

    /// A tool has run.
    pub async fn observe(&self, result: &ToolResult) -> Option<Addition> {
        self.try_observe(result).await.unwrap_or_default()
    }

    /// The same for whoever has to know whether it was seen.
    ///
    /// # Errors
    /// If the component failed.
    pub async fn try_observe(&self, result: &ToolResult) -> Result<Option<Addition>, CallError> {
        if self.0.slot.latest().plugin.hooks.tool_observer.is_none() {
            return Ok(None);
        }
        let added = self.0.with(async |instance, _| instance.observe(result).await).await?;
        Ok(added.map(|added| Addition { text: text::addition(&added.text), ..added }))
    }

    /// News of a tool that is still running.
    pub async fn updated(&self, update: &Update) {
        if self.0.slot.latest().plugin.hooks.execution_observer.is_some() {
            self.event(async |instance| instance.on_update(update).await).await;
        }
    }

    /// A tool's run has ended.
    pub async fn ended(&self, end: &End) {
        if self.0.slot.latest().plugin.hooks.execution_observer.is_some() {
            self.event(async |instance| instance.on_end(end).await).await;
        }
    }

    /// The agent has finished a turn. A text is for the agent, which is to go on.
    pub async fn turn_ended(&self, turn: &Turn) -> Option<String> {
        self.0.slot.latest().plugin.hooks.turn_observer.as_ref()?;
        let text = self.event(async |instance| instance.on_turn_end(turn).await).await;
        text.map(|text| text::addition(&text))
    }

    /// A time has come that the component wanted to be woken up at.
    pub async fn timer(&self, id: &str) {
        if self.0.slot.latest().plugin.hooks.timer.is_some() {
            self.event(async |instance| instance.on_timer(id).await).await;
        }
    }

    /// Draws a message of the component's. Empty if it cannot.
    pub async fn render(&self, message: &Outgoing, expanded: bool, width: u32) -> Lines {
        if self.0.slot.latest().plugin.hooks.renderer.is_none() {
            return Lines::new();
        }
        let mut lines = self.event(async |instance| instance.render(message, expanded, width).await).await;
        for span in lines.iter_mut().flatten() {
            span.text = text::addition(&span.text);
        }
        lines
    }

    /// What the next observer of the session is to be given, see [`Observer::with_state`]. An instance that takes the
    /// place of a failed one gets what was saved last.
    pub async fn save(&self) -> Vec<u8> {
        if self.0.slot.latest().plugin.hooks.handover.is_none() {
            return Vec::new();
        }
        let state = self.event(async |instance| instance.save().await).await;
        // A failure to save is no reason to forget what was saved before.
        if !state.is_empty() {
            state.clone_into(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner));
        }
        state
    }

    /// What was saved last.
    pub fn state(&self) -> Vec<u8> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells the component what another observer of the session saved meanwhile.
    pub async fn join(&self, state: &[u8]) {
        let joined = self.0.with(async |instance, _| instance.restore(state).await).await;
        if let Ok(Err(why)) = joined {
            tracing::warn!(plugin = self.0.slot.name(), why, "not joined");
        }
    }

    /// Ends the session.
    pub async fn shutdown(&self, reason: &str) {
        self.0.shutdown(reason).await;
    }

    async fn event<T: Default>(&self, work: impl AsyncFnOnce(&mut Instance) -> Result<T, CallError>) -> T {
        self.0.with(async |instance, _| work(instance).await).await.unwrap_or_default()
    }
}

/// Runs the tools that a component offers, and tells it what happens in the shared terminal.
///
/// Calls run one after the other, but for tools that may run alongside: each of these has an instance of its own. A call
/// that fails is an error to whoever asked.
pub struct Provider(Keeper);

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Provider").field(&self.0.slot).finish()
    }
}

impl Provider {
    /// The tools of this plugin. Nothing runs before [`Provider::start`] or the first call.
    pub fn new(plugin: impl Into<Slot>, session: Session, capabilities: Capabilities) -> Self {
        Provider(Keeper::new(plugin, Role::Terminal, session, capabilities))
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Starts the component.
    ///
    /// # Errors
    /// If it does not start.
    pub async fn start(&self) -> Result<Started, CallError> {
        self.0.with(async |_, started| Ok(started.clone())).await
    }

    /// The tools that it offers in this session.
    ///
    /// # Errors
    /// If the component fails.
    pub async fn tools(&self) -> Result<Vec<ProvidedTool>, CallError> {
        let mut tools = self.0.with(async |instance, _| instance.tools().await).await?;
        for tool in &mut tools {
            tool.description = text::sentence(&tool.description);
        }
        Ok(tools)
    }

    /// The same of a component that is not trusted with the agent's attention: not more tools than it can have a use for, and
    /// of each a schema that is short and nothing else.
    ///
    /// # Errors
    /// If the component fails.
    pub async fn offered(&self) -> Result<Vec<ProvidedTool>, CallError> {
        let mut tools = self.tools().await?;
        tools.truncate(said::TOOLS);
        tools.retain(|tool| tool.input_schema.len() <= said::SCHEMA);
        for tool in &mut tools {
            let schema: Option<serde_json::Value> = serde_json::from_str(&text::addition(&tool.input_schema)).ok();
            let schema = schema.filter(serde_json::Value::is_object);
            tool.input_schema = schema.map_or_else(|| r#"{"type":"object"}"#.to_owned(), |schema| schema.to_string());
        }
        Ok(tools)
    }

    /// Runs a tool of such a component. Its output is cut like all that plugins say, and cannot hide anything.
    ///
    /// # Errors
    /// As for [`Provider::run`].
    pub async fn run_offered(&self, tool: &ProvidedTool, input: &str) -> Result<ToolOutput, CallError> {
        let output = self.run(tool, input).await.map_err(|error| match error {
            CallError::Request(why) => CallError::Request(text::sentence(&why)),
            error => error,
        })?;
        let details = if output.details.len() > said::ADDITION { String::new() } else { output.details };
        Ok(ToolOutput { text: text::addition(&output.text), details, ..output })
    }

    /// Runs a tool on its input, a JSON text. The gate has to have judged the call.
    ///
    /// # Errors
    /// [`CallError::Request`] with the component's own sentence; any other if the component failed.
    pub async fn run(&self, tool: &ProvidedTool, input: &str) -> Result<ToolOutput, CallError> {
        let (length, limit) = (input.len(), self.0.limits.input);
        if length > limit {
            return Err(CallError::Input { length, limit });
        }
        let answer = match tool.alongside {
            true => {
                let run = async { self.0.fresh().await?.instance.run(&tool.name, input).await };
                let answer = tokio::time::timeout(self.0.limits.call, run).await;
                answer.unwrap_or(Err(CallError::Timeout(self.0.limits.call)))?
            }
            false => self.0.with(async |instance, _| instance.run(&tool.name, input).await).await?,
        };
        answer.map_err(CallError::Request)
    }

    /// Something happened in the shared terminal.
    pub async fn signalled(&self, signal: &Signal) {
        // What goes wrong is logged already.
        let _ = self.0.with(async |instance, _| instance.on_signal(signal).await).await;
    }

    /// A time has come that the component wanted to be woken up at.
    pub async fn timer(&self, id: &str) {
        let _ = self.0.with(async |instance, _| instance.on_timer(id).await).await;
    }

    /// Ends the session.
    pub async fn shutdown(&self, reason: &str) {
        self.0.shutdown(reason).await;
    }
}

/// Says what shell texts do. Requests and answers are JSON texts, as `interface analysis` of the contract has them.
///
/// Whatever goes wrong is an error; nothing is judged here, so nothing has to be blocked.
pub struct Analysis(Keeper);

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Analysis").field(&self.0.slot).finish()
    }
}

impl Analysis {
    /// Analyses by this plugin. Nothing runs before the first question.
    pub fn new(plugin: impl Into<Slot>, session: Session, capabilities: Capabilities) -> Self {
        Analysis(Keeper::new(plugin, Role::Analysis, session, capabilities))
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Every command of a text, with its words, directory, variables and effects.
    ///
    /// # Errors
    /// [`CallError::Request`] if the request makes no sense; any other if the component failed.
    pub async fn walk(&self, request: &str) -> Result<String, CallError> {
        self.ask(Question::Walk, request).await
    }

    /// The files that a text writes and copies from.
    ///
    /// # Errors
    /// As for [`Analysis::walk`].
    pub async fn files(&self, request: &str) -> Result<String, CallError> {
        self.ask(Question::Files, request).await
    }

    /// The paths that are worth showing beside a text.
    ///
    /// # Errors
    /// As for [`Analysis::walk`].
    pub async fn hints(&self, request: &str) -> Result<String, CallError> {
        self.ask(Question::Hints, request).await
    }

    /// How a text is judged.
    ///
    /// # Errors
    /// As for [`Analysis::walk`].
    pub async fn explain(&self, request: &str) -> Result<String, CallError> {
        self.ask(Question::Explain, request).await
    }

    /// The rules in force, their tests, or what is wrong with a rule file.
    ///
    /// # Errors
    /// As for [`Analysis::walk`].
    pub async fn rules(&self, request: &str) -> Result<String, CallError> {
        self.ask(Question::Rules, request).await
    }

    async fn ask(&self, question: Question, request: &str) -> Result<String, CallError> {
        let (length, limit) = (request.len(), self.0.limits.input);
        if length > limit {
            return Err(CallError::Input { length, limit });
        }
        let answer = self.0.with(async |instance, _| instance.analyse(question, request).await).await?;
        answer.map_err(CallError::Request)
    }
}

/// Has the trackers and predicates that other components ask, see `interface extensions` of the contract.
///
/// Whatever goes wrong is an error, and what was asked for is unknown.
pub struct Extension(Keeper);

impl std::fmt::Debug for Extension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Extension").field(&self.0.slot).finish()
    }
}

impl Extension {
    /// The trackers and predicates of this plugin. Nothing runs before the first question.
    pub fn new(plugin: impl Into<Slot>, session: Session, capabilities: Capabilities) -> Self {
        Extension(Keeper::new(plugin, Role::Extension, session, capabilities))
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// The plugin's name.
    pub fn name(&self) -> &str {
        self.0.slot.name()
    }

    /// What its trackers and its predicates are, each a JSON text; none of a kind that it has not.
    ///
    /// # Errors
    /// If the component fails.
    pub async fn provided(&self) -> Result<(Option<String>, Option<String>), CallError> {
        self.0.with(async |instance, _| instance.provided().await).await
    }

    /// Applies a modifier of its trackers.
    ///
    /// # Errors
    /// [`CallError::Request`] with the component's own sentence; any other if the component failed.
    pub async fn modify(&self, request: &str) -> Result<String, CallError> {
        self.0.with(async |instance, _| instance.modify(request).await).await?.map_err(CallError::Request)
    }

    /// Asks one of its predicates.
    ///
    /// # Errors
    /// If the component fails.
    pub async fn evaluate(&self, predicate: &str, request: &str) -> Result<Truth, CallError> {
        self.0.with(async |instance, _| instance.evaluate(predicate, request).await).await
    }
}
