//! From what happens in a session to what is added to it.

use std::sync::PoisonError;

use super::keeper::{Keeper, kept};
use crate::capability::{Capabilities, Outgoing};
use crate::error::CallError;
use crate::events::{Addition, End, Lines, Started, ToolResult, Turn, Update};
use crate::hot_swap::HotSwap;
use crate::instance::Instance;
use crate::session::{Role, Session};
use crate::text;

/// Looks at what happens in a session. A component without the hook for something sees nothing of it and costs nothing.
///
/// Whatever goes wrong is logged and changes nothing.
///
/// ```no_run
/// # async fn example(plugin: toolgate_host::Plugin) {
/// use toolgate_host::{Capabilities, Observer, Session, ToolCall, ToolResult};
///
/// let observer = Observer::new(plugin, Session::in_folder("/home/dev/project"), Capabilities::denied());
/// let result = ToolResult::new(ToolCall::shell("cargo test", "/home/dev/project"), "1 failed").failed(true).with_exit_code(101);
/// if let Some(addition) = observer.observe(&result).await {
///     println!("{}", addition.text); // goes to the agent, after the output
/// }
/// # }
/// ```
pub struct Observer(Keeper);

kept!(Observer);

impl Observer {
    /// An observer of this plugin. Nothing runs before [`Observer::start`] or the first event.
    pub fn new(plugin: impl Into<HotSwap>, session: Session, capabilities: Capabilities) -> Self {
        Observer(Keeper::new(plugin, Role::Observer, session, capabilities))
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
