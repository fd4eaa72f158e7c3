//! One running instance of a component: its store, its limits, its hooks.
//!
//! Any error out of a call poisons the store, so whoever holds an instance drops it then.

use wasmtime::{Store, Trap, UpdateDeadline};

use crate::bindings::exports::toolgate::plugin as hooks;
use crate::capability::Capabilities;
use crate::error::CallError;
use crate::limits::Limits;
use crate::plugin::Plugin;
use crate::state::{HostState, TooManyHostCalls};
use crate::{Started, ToolCall, ToolResult, Verdict};

/// What an instance is there for. Each role has an instance of its own, so that a verdict never waits behind a
/// check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Gives verdicts.
    Gate,
    /// Looks at what happened.
    Observer,
    /// Says what shell texts do.
    Analysis,
}

impl Role {
    /// As the contract spells it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Gate => "gate",
            Role::Observer => "observer",
            Role::Analysis => "analysis",
        }
    }
}

/// The session that components are started for.
#[derive(Clone, Debug)]
pub struct Session {
    /// The agent's working directory.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The folder that the agent was started for.
    pub workspace_root: String,
    /// What else is known, a JSON text with `schema`.
    pub context: String,
}

impl Session {
    /// A session in this folder, with the home folder of the environment.
    pub fn in_folder(folder: impl Into<String>) -> Self {
        let folder = folder.into();
        Session {
            cwd: folder.clone(),
            home: std::env::var("HOME").ok().filter(|home| !home.is_empty()),
            workspace_root: folder,
            context: r#"{"schema":1}"#.to_owned(),
        }
    }
}

/// A component that was started.
pub(crate) struct Instance {
    store: Store<HostState>,
    lifecycle: hooks::lifecycle::Guest,
    tool_gate: Option<hooks::tool_gate::Guest>,
    session_memory: Option<hooks::session_memory::Guest>,
    tool_observer: Option<hooks::tool_observer::Guest>,
    analysis: Option<hooks::analysis::Guest>,
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

impl Instance {
    /// Makes an instance and starts it for a session.
    pub(crate) async fn start(
        plugin: &Plugin,
        role: Role,
        session: &Session,
        capabilities: Capabilities,
        limits: Limits,
    ) -> Result<(Self, Started), CallError> {
        let state = HostState::new(&plugin.name, capabilities, limits, plugin.engine.ticks());
        let mut store = Store::new(plugin.engine.wasmtime(), state);
        store.limiter(|state| &mut state.usage);
        store.set_hostcall_fuel(limits.lifted);
        store.epoch_deadline_callback(|context| {
            // Yielding lets other tasks of an embedding agent run while this one computes.
            Ok(if context.data().is_over() { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
        });
        arm(&mut store);
        let made = async {
            let instance = plugin.pre.instantiate_async(&mut store).await?;
            let hooks = &plugin.hooks;
            let lifecycle = hooks.lifecycle.load(&mut store, &instance)?;
            let tool_gate = hooks.tool_gate.as_ref().map(|hook| hook.load(&mut store, &instance)).transpose()?;
            let session_memory =
                hooks.session_memory.as_ref().map(|hook| hook.load(&mut store, &instance)).transpose()?;
            let tool_observer =
                hooks.tool_observer.as_ref().map(|hook| hook.load(&mut store, &instance)).transpose()?;
            let analysis = hooks.analysis.as_ref().map(|hook| hook.load(&mut store, &instance)).transpose()?;
            wasmtime::Result::Ok((lifecycle, tool_gate, session_memory, tool_observer, analysis))
        };
        let made = made.await;
        let (lifecycle, tool_gate, session_memory, tool_observer, analysis) =
            made.map_err(|error| explain(&store, &error))?;
        let mut instance = Instance { store, lifecycle, tool_gate, session_memory, tool_observer, analysis };
        let session = hooks::lifecycle::Session {
            role: role.name().to_owned(),
            cwd: session.cwd.clone(),
            home: session.home.clone(),
            workspace_root: session.workspace_root.clone(),
            context: session.context.clone(),
        };
        arm(&mut instance.store);
        let started = instance.lifecycle.call_start(&mut instance.store, &session).await;
        let started = started.map_err(|error| explain(&instance.store, &error))?.map_err(CallError::Start)?;
        Ok((instance, started))
    }

    pub(crate) async fn judge(&mut self, call: &ToolCall) -> Result<Verdict, CallError> {
        let hook = self.tool_gate.as_ref().ok_or(CallError::NoHook("tool-gate"))?;
        arm(&mut self.store);
        let answer = hook.call_judge(&mut self.store, call).await;
        answer.map_err(|error| explain(&self.store, &error))
    }

    /// What later calls of the session are to be told, after the call that was judged last.
    pub(crate) async fn memory(&mut self) -> Result<Option<String>, CallError> {
        let Some(hook) = self.session_memory.as_ref() else { return Ok(None) };
        arm(&mut self.store);
        let answer = hook.call_after(&mut self.store).await;
        answer.map_err(|error| explain(&self.store, &error))
    }

    pub(crate) async fn observe(&mut self, result: &ToolResult) -> Result<Option<crate::Addition>, CallError> {
        let Some(hook) = self.tool_observer.as_ref() else { return Ok(None) };
        arm(&mut self.store);
        let answer = hook.call_observe(&mut self.store, result).await;
        answer.map_err(|error| explain(&self.store, &error))
    }

    /// The answer, or the component's sentence on why the request makes no sense.
    pub(crate) async fn analyse(
        &mut self,
        question: Question,
        request: &str,
    ) -> Result<Result<String, String>, CallError> {
        let hook = self.analysis.as_ref().ok_or(CallError::NoHook("analysis"))?;
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

    pub(crate) async fn shutdown(&mut self, reason: &str) -> Result<(), CallError> {
        arm(&mut self.store);
        let answer = self.lifecycle.call_shutdown(&mut self.store, reason).await;
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
