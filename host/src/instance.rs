//! One running instance of a component: its store, its limits, its hooks.
//!
//! Any error out of a call poisons the store, so whoever holds an instance drops it then.

use std::sync::Arc;

use wasmtime::{Store, Trap, UpdateDeadline};

use crate::bindings::changes::exports::toolgate::changes::call_changes;
use crate::bindings::exports::toolgate::plugin as hooks;
use crate::call::ToolCall;
use crate::capability::{self, Capabilities, Outgoing, Truth};
use crate::convert::all;
use crate::error::CallError;
use crate::events::{Addition, End, Lines, ProvidedTool, Signal, Started, ToolOutput, ToolResult, Turn, Update};
use crate::limits::{HANDOVER, Limits, SNAPSHOT_COMPUTE_TIMEOUT};
use crate::memory_image::{self, Next, Watched};
use crate::plugin::{Hooks, Plugin};
use crate::session::{Role, Session};
use crate::snapshot::{self, Snapshot};
use crate::state::{HostState, TooManyHostCalls};
use crate::verdict::{Judgement, Verdict};

impl Plugin {
    /// Takes the snapshots that instances have missed so far: some ten milliseconds each, and [`SNAPSHOT_COMPUTE_TIMEOUT`]
    /// a hook at the most. For when the answer is given: they are written on the caller's own thread. What goes wrong costs the
    /// time that it would have saved.
    pub async fn take_snapshots(&self) {
        let Some(snapshots) = self.snapshots() else { return };
        while let Some((name, files)) = snapshots.missing() {
            if !snapshots.claim(&name) {
                continue;
            }
            match Instance::snapshot_of(self, snapshot::handed(files)).await {
                Ok(Some(taken)) => snapshots.keep(&name, taken),
                Ok(None) => tracing::debug!(plugin = self.name, "no snapshot taken: its memory is unknown"),
                Err(error) => tracing::warn!(plugin = self.name, %error, "no snapshot is taken"),
            }
        }
    }
}

/// A component that was started.
pub(crate) struct Instance {
    store: Store<HostState>,
    hooks: Loaded,
    /// The name of the snapshot that it began with.
    began_with: Option<String>,
}

/// The hooks of an instance.
struct Loaded {
    lifecycle: hooks::lifecycle::Guest,
    tool_gate: Option<hooks::tool_gate::Guest>,
    permission_gate: Option<hooks::permission_gate::Guest>,
    session_memory: Option<hooks::session_memory::Guest>,
    tool_observer: Option<hooks::tool_observer::Guest>,
    execution_observer: Option<hooks::execution_observer::Guest>,
    turn_observer: Option<hooks::turn_observer::Guest>,
    timer: Option<hooks::timer::Guest>,
    renderer: Option<hooks::renderer::Guest>,
    handover: Option<hooks::handover::Guest>,
    provided_tools: Option<hooks::provided_tools::Guest>,
    terminal_observer: Option<hooks::terminal_observer::Guest>,
    analysis: Option<hooks::analysis::Guest>,
    trackers: Option<hooks::trackers::Guest>,
    predicates: Option<hooks::predicates::Guest>,
    call_changes: Option<call_changes::Guest>,
}

impl Loaded {
    fn of(
        store: &mut Store<HostState>,
        instance: &wasmtime::component::Instance,
        hooks: &Hooks,
    ) -> wasmtime::Result<Self> {
        macro_rules! hook {
            ($name:ident) => {
                hooks.$name.as_ref().map(|hook| hook.load(&mut *store, instance)).transpose()?
            };
        }
        Ok(Loaded {
            lifecycle: hooks.lifecycle.load(&mut *store, instance)?,
            tool_gate: hook!(tool_gate),
            permission_gate: hook!(permission_gate),
            session_memory: hook!(session_memory),
            tool_observer: hook!(tool_observer),
            execution_observer: hook!(execution_observer),
            turn_observer: hook!(turn_observer),
            timer: hook!(timer),
            renderer: hook!(renderer),
            handover: hook!(handover),
            provided_tools: hook!(provided_tools),
            terminal_observer: hook!(terminal_observer),
            analysis: hook!(analysis),
            trackers: hook!(trackers),
            predicates: hook!(predicates),
            call_changes: hook!(call_changes),
        })
    }
}

/// What a gate is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateQuery {
    Call,
    Permission,
}

/// A question that the `analysis` hook answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Walk,
    Files,
    Hints,
    Explain,
    Rules,
}

/// Calls a hook that a component need not have; then there is no answer.
macro_rules! optional {
    ($instance:ident, $hook:ident, $call:ident($($argument:expr),*)) => {{
        let Some(hook) = $instance.hooks.$hook.as_ref() else { return Ok(Default::default()) };
        arm(&mut $instance.store);
        let answer = hook.$call(&mut $instance.store, $($argument),*).await;
        answer.map_err(|error| explain(&$instance.store, &error))
    }};
}

impl Instance {
    /// Makes an instance and starts it for a session.
    pub(crate) async fn start(
        plugin: &Plugin,
        role: Role,
        session: &Session,
        capabilities: Capabilities,
        limits: Limits,
    ) -> Result<(Self, Started), CallError> {
        // Before it asks for them: what they are decides what its memory starts with.
        let rules = match role {
            Role::Gate | Role::Analysis if plugin.snapshots().is_some() => {
                Some(capability::rules(&*capabilities.files).await)
            }
            _ => None,
        };
        let snapshot = match &rules {
            Some(Ok(files)) => plugin.snapshot(&*capabilities.files, files).await,
            _ => None,
        };
        let state = |capabilities, rules| {
            let mut state = HostState::new(&plugin.name, capabilities, limits, plugin.engine.ticks());
            state.rules = rules;
            state
        };
        if let Some((name, snapshot)) = snapshot.filter(|(_, snapshot)| snapshot.size() <= limits.memory) {
            let files = Arc::clone(&capabilities.files);
            match Self::begun(plugin, role, session, state(capabilities.clone(), rules.clone()), snapshot).await {
                Ok((mut instance, started)) => {
                    instance.began_with = Some(name);
                    return Ok((instance, started));
                }
                Err(error) => {
                    tracing::warn!(plugin = plugin.name, %error, "it does not start with a snapshot");
                    plugin.give_up(&*files, &name).await;
                }
            }
        }
        let mut instance = Self::made(plugin, state(capabilities, rules), None).await?;
        let started = instance.begin(role, session).await?;
        Ok((instance, started))
    }

    /// The same with the memory of one that has read its rules.
    async fn begun(
        plugin: &Plugin,
        role: Role,
        session: &Session,
        state: HostState,
        snapshot: Arc<Snapshot>,
    ) -> Result<(Self, Started), CallError> {
        let size = snapshot.size();
        let mut instance = Self::made(plugin, state, Some(Next::Like(snapshot))).await?;
        instance.store.data_mut().usage.began_with(size);
        let started = instance.begin(role, session).await?;
        tracing::debug!(plugin = plugin.name, role = role.name(), size, "begins with a snapshot");
        Ok((instance, started))
    }

    /// The name of the snapshot that it began with.
    pub(crate) fn began_with(&self) -> Option<&str> {
        self.began_with.as_deref()
    }

    async fn made(plugin: &Plugin, state: HostState, next: Option<Next>) -> Result<Self, CallError> {
        let lifted = state.limits.lifted;
        let mut store = Store::new(plugin.pre.engine(), state);
        store.limiter(|state| &mut state.usage);
        store.set_hostcall_fuel(lifted);
        store.epoch_deadline_callback(|context| {
            // Yielding lets other tasks of an embedding agent run while this one computes.
            Ok(if context.data().is_over() { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
        });
        arm(&mut store);
        let made = async {
            let instance = memory_image::with(next, plugin.pre.instantiate_async(&mut store)).await?;
            Loaded::of(&mut store, &instance, &plugin.hooks)
        };
        let hooks = made.await.map_err(|error| explain(&store, &error))?;
        Ok(Instance { store, hooks, began_with: None })
    }

    async fn begin(&mut self, role: Role, session: &Session) -> Result<Started, CallError> {
        let session = (role, session).into();
        arm(&mut self.store);
        let started = self.hooks.lifecycle.call_start(&mut self.store, &session).await;
        started.map_err(|error| explain(&self.store, &error))?.map(Into::into).map_err(CallError::Start)
    }

    /// What the memory of an instance becomes that is started for nobody, with nothing but this, and prepares itself. None if it
    /// is none that is known.
    pub(crate) async fn snapshot_of(
        plugin: &Plugin,
        capabilities: Capabilities,
    ) -> Result<Option<Snapshot>, CallError> {
        let limits = Limits { compute: SNAPSHOT_COMPUTE_TIMEOUT, ..Limits::DEFAULT };
        let mut state = HostState::new(&plugin.name, capabilities, limits, plugin.engine.ticks());
        let watched = state.watched.insert(Watched::default()).clone();
        let mut instance = Self::made(plugin, state, Some(Next::Watched(watched))).await?;
        instance.begin(Role::Gate, &snapshot::nobody()).await?;
        arm(&mut instance.store);
        let prepared = instance.hooks.lifecycle.call_prepare(&mut instance.store).await;
        prepared.map_err(|error| explain(&instance.store, &error))?;
        Ok(memory_image::changed(&mut instance.store, |state| state.watched.as_ref()))
    }

    /// A verdict, and what else is known of the call after it.
    pub(crate) async fn judge(&mut self, call: &ToolCall, asked: GateQuery) -> Result<Judgement, CallError> {
        let call = &call.into();
        arm(&mut self.store);
        let answer = match asked {
            GateQuery::Call => {
                let hook = self.hooks.tool_gate.as_ref().ok_or(CallError::NoHook("tool-gate"))?;
                hook.call_judge(&mut self.store, call).await
            }
            GateQuery::Permission => {
                let hook = self.hooks.permission_gate.as_ref().ok_or(CallError::NoHook("permission-gate"))?;
                hook.call_judge(&mut self.store, call).await
            }
        };
        let verdict = answer.map_err(|error| explain(&self.store, &error))?;
        let verdict: Verdict = verdict.into();
        if asked != GateQuery::Call {
            return Ok(Judgement::only(verdict));
        }
        let memory = self.memory().await?;
        let changes = self.changes().await?;
        Ok(Judgement { memory, changes, ..Judgement::only(verdict) })
    }

    async fn changes(&mut self) -> Result<Option<String>, CallError> {
        optional!(self, call_changes, call_changes())
    }

    /// Whether the rules keep each of these paths from being read; none of them where the component does not tell.
    pub(crate) async fn withheld(&mut self, paths: &[String]) -> Result<Option<Vec<bool>>, CallError> {
        if self.hooks.call_changes.is_none() {
            return Ok(None);
        }
        self.told_withheld(paths).await.map(Some)
    }

    async fn told_withheld(&mut self, paths: &[String]) -> Result<Vec<bool>, CallError> {
        optional!(self, call_changes, call_withheld(paths))
    }

    async fn memory(&mut self) -> Result<Option<String>, CallError> {
        optional!(self, session_memory, call_after())
    }

    pub(crate) async fn observe(&mut self, result: &ToolResult) -> Result<Option<Addition>, CallError> {
        let result = &result.into();
        self.added(result).await.map(|added| added.map(Into::into))
    }

    async fn added(
        &mut self,
        result: &hooks::tool_observer::ToolResult,
    ) -> Result<Option<hooks::tool_observer::Addition>, CallError> {
        optional!(self, tool_observer, call_observe(result))
    }

    pub(crate) async fn on_update(&mut self, update: &Update) -> Result<(), CallError> {
        let update = &update.into();
        optional!(self, execution_observer, call_on_update(update))
    }

    pub(crate) async fn on_end(&mut self, end: &End) -> Result<(), CallError> {
        let end = &end.into();
        optional!(self, execution_observer, call_on_end(end))
    }

    pub(crate) async fn on_turn_end(&mut self, turn: &Turn) -> Result<Option<String>, CallError> {
        let turn = &turn.into();
        optional!(self, turn_observer, call_on_turn_end(turn))
    }

    pub(crate) async fn on_timer(&mut self, id: &str) -> Result<(), CallError> {
        optional!(self, timer, call_on_timer(id))
    }

    pub(crate) async fn render(&mut self, message: &Outgoing, expanded: bool, width: u32) -> Result<Lines, CallError> {
        let drawn = self.drawn(message, expanded, width).await?;
        Ok(drawn.into_iter().map(all).collect())
    }

    async fn drawn(
        &mut self,
        message: &Outgoing,
        expanded: bool,
        width: u32,
    ) -> Result<Vec<Vec<hooks::renderer::Span>>, CallError> {
        let Outgoing { kind, text, details, .. } = message;
        optional!(self, renderer, call_render(kind, text, details, expanded, width))
    }

    /// What the next instance is to know.
    pub(crate) async fn save(&mut self) -> Result<Vec<u8>, CallError> {
        let state: Result<Vec<u8>, CallError> = self.saved().await;
        state.and_then(|state| if state.len() > HANDOVER { Err(CallError::TooMuchData) } else { Ok(state) })
    }

    async fn saved(&mut self) -> Result<Vec<u8>, CallError> {
        optional!(self, handover, call_save())
    }

    /// The error is the component's own.
    pub(crate) async fn restore(&mut self, state: &[u8]) -> Result<Result<(), String>, CallError> {
        let Some(hook) = self.hooks.handover.as_ref() else { return Ok(Ok(())) };
        arm(&mut self.store);
        let answer = hook.call_restore(&mut self.store, state).await;
        answer.map_err(|error| explain(&self.store, &error))
    }

    /// The tools that it offers.
    pub(crate) async fn tools(&mut self) -> Result<Vec<ProvidedTool>, CallError> {
        self.described().await.map(all)
    }

    async fn described(&mut self) -> Result<Vec<hooks::provided_tools::Tool>, CallError> {
        optional!(self, provided_tools, call_describe())
    }

    /// Runs one of them. The error is the component's own.
    pub(crate) async fn run(&mut self, tool: &str, input: &str) -> Result<Result<ToolOutput, String>, CallError> {
        let hook = self.hooks.provided_tools.as_ref().ok_or(CallError::NoHook("provided-tools"))?;
        arm(&mut self.store);
        let answer = hook.call_run(&mut self.store, tool, input).await;
        answer.map(|output| output.map(Into::into)).map_err(|error| explain(&self.store, &error))
    }

    pub(crate) async fn on_signal(&mut self, signal: &Signal) -> Result<(), CallError> {
        let signal = &signal.into();
        optional!(self, terminal_observer, call_on_signal(signal))
    }

    /// The answer, or the component's sentence on why the request makes no sense.
    pub(crate) async fn analyse(
        &mut self,
        question: Question,
        request: &str,
    ) -> Result<Result<String, String>, CallError> {
        let hook = self.hooks.analysis.as_ref().ok_or(CallError::NoHook("analysis"))?;
        arm(&mut self.store);
        let store = &mut self.store;
        let answer = match question {
            Question::Walk => hook.call_walk(store, request).await,
            Question::Files => hook.call_files(store, request).await,
            Question::Hints => hook.call_hints(store, request).await,
            Question::Explain => hook.call_explain(store, request).await,
            Question::Rules => hook.call_rules(store, request).await,
        };
        answer.map_err(|error| explain(&self.store, &error))
    }

    /// What its trackers and its predicates are, each a JSON text; none of a kind that it has not.
    pub(crate) async fn provided(&mut self) -> Result<(Option<String>, Option<String>), CallError> {
        let mut told = (None, None);
        if let Some(hook) = self.hooks.trackers.as_ref() {
            arm(&mut self.store);
            let answer = hook.call_describe(&mut self.store).await;
            told.0 = Some(answer.map_err(|error| explain(&self.store, &error))?);
        }
        if let Some(hook) = self.hooks.predicates.as_ref() {
            arm(&mut self.store);
            let answer = hook.call_describe(&mut self.store).await;
            told.1 = Some(answer.map_err(|error| explain(&self.store, &error))?);
        }
        Ok(told)
    }

    /// Applies a modifier of its trackers. The error is the component's own.
    pub(crate) async fn modify(&mut self, request: &str) -> Result<Result<String, String>, CallError> {
        let hook = self.hooks.trackers.as_ref().ok_or(CallError::NoHook("trackers"))?;
        arm(&mut self.store);
        let answer = hook.call_modify(&mut self.store, request).await;
        answer.map_err(|error| explain(&self.store, &error))
    }

    /// Asks one of its predicates.
    pub(crate) async fn evaluate(&mut self, predicate: &str, request: &str) -> Result<Truth, CallError> {
        let hook = self.hooks.predicates.as_ref().ok_or(CallError::NoHook("predicates"))?;
        arm(&mut self.store);
        let answer = hook.call_evaluate(&mut self.store, predicate, request).await;
        answer.map(Into::into).map_err(|error| explain(&self.store, &error))
    }

    pub(crate) async fn shutdown(&mut self, reason: &str) -> Result<(), CallError> {
        arm(&mut self.store);
        let answer = self.hooks.lifecycle.call_shutdown(&mut self.store, reason).await;
        answer.map_err(|error| explain(&self.store, &error))
    }
}

/// Gives the next hook its whole budget.
fn arm(store: &mut Store<HostState>) {
    store.data_mut().arm();
    store.set_epoch_deadline(1);
}

fn explain(store: &Store<HostState>, error: &wasmtime::Error) -> CallError {
    if error.downcast_ref::<TooManyHostCalls>().is_some() {
        return CallError::HostCalls(store.data().limits.host_calls);
    }
    // A guest that was refused memory gives up in its own way; the refusal is the reason.
    if store.data().usage.refused {
        return CallError::Memory;
    }
    let text = format!("{error:#}");
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => CallError::Deadline,
        Some(Trap::StackOverflow) => CallError::Stack,
        // Wasmtime has no public type for this one.
        _ if text.contains("fuel allocated for hostcalls") => CallError::TooMuchData,
        Some(trap) => CallError::Trap(trap.to_string()),
        None => CallError::Trap(text.lines().next().unwrap_or("").to_owned()),
    }
}
