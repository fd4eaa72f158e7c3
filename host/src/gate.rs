//! From a call to a verdict, and from a result to an addition, with recovery.

use tokio::sync::Mutex;

use crate::capability::Capabilities;
use crate::error::CallError;
use crate::failure;
use crate::instance::{Instance, Role, Session};
use crate::limits::Limits;
use crate::plugin::Plugin;
use crate::{Addition, Started, ToolCall, ToolResult, Verdict};

/// A component in one role, with at most one instance of it.
///
/// The instance is taken out while it works and put back only after success. So a call that fails, or whose
/// future is dropped half-way, leaves none behind, and the next call starts a new one.
struct Keeper {
    plugin: Plugin,
    role: Role,
    session: Session,
    capabilities: Capabilities,
    limits: Limits,
    instance: Mutex<Option<(Instance, Started)>>,
}

impl Keeper {
    fn new(plugin: Plugin, role: Role, session: Session, capabilities: Capabilities) -> Self {
        Keeper { plugin, role, session, capabilities, limits: Limits::DEFAULT, instance: Mutex::new(None) }
    }

    async fn with<T>(&self, work: impl AsyncFnOnce(&mut Instance) -> Result<T, CallError>) -> Result<T, CallError> {
        let mut slot = self.instance.lock().await;
        let (mut instance, started) = match slot.take() {
            Some(running) => running,
            None => {
                let capabilities = self.capabilities.clone();
                Instance::start(&self.plugin, self.role, &self.session, capabilities, self.limits).await?
            }
        };
        let answer = work(&mut instance).await;
        match &answer {
            Ok(_) => *slot = Some((instance, started)),
            Err(error) => {
                tracing::warn!(plugin = self.plugin.name, role = self.role.name(), %error, "instance dropped");
            }
        }
        answer
    }
}

/// Judges calls. Share it between tasks by reference; calls are judged one after the other.
pub struct Gate(Keeper);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gate").field(&self.0.plugin).finish()
    }
}

impl Gate {
    /// A gate of this plugin. Nothing runs before [`Gate::start`] or the first call.
    pub fn new(plugin: Plugin, session: Session, capabilities: Capabilities) -> Self {
        Gate(Keeper::new(plugin, Role::Gate, session, capabilities))
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
        let mut slot = self.0.instance.lock().await;
        if let Some((_, started)) = slot.as_ref() {
            return Ok(started.clone());
        }
        let keeper = &self.0;
        let capabilities = keeper.capabilities.clone();
        let running =
            Instance::start(&keeper.plugin, keeper.role, &keeper.session, capabilities, keeper.limits).await?;
        let started = running.1.clone();
        *slot = Some(running);
        Ok(started)
    }

    /// Judges a call. Whatever goes wrong is a block that says what.
    pub async fn judge(&self, call: &ToolCall) -> Verdict {
        let plugin = &self.0.plugin.name;
        let judged = match self.oversized(call) {
            Some(error) => Err(error),
            None => self.0.with(async |instance| instance.judge(call).await).await,
        };
        match judged {
            Ok(verdict) => failure::checked(verdict, plugin),
            Err(error) => failure::verdict(Role::Gate, plugin, &error),
        }
    }

    /// Ends the session. A component that fails at this is only logged.
    pub async fn shutdown(&self, reason: &str) {
        if let Some((mut instance, _)) = self.0.instance.lock().await.take()
            && let Err(error) = instance.shutdown(reason).await
        {
            tracing::warn!(plugin = self.0.plugin.name, %error, "shutdown failed");
        }
    }

    fn oversized(&self, call: &ToolCall) -> Option<CallError> {
        let limit = self.0.limits.input;
        let fields = call.command.iter().chain(&call.paths).chain(&call.globs);
        let lengths = fields.map(|field| (field.name.as_str(), field.value.len()));
        let rest = [("cwd", call.cwd.len()), ("context", call.context.len())];
        lengths.chain(rest).find(|(_, length)| *length > limit).map(|(field, length)| CallError::Input {
            field: field.to_owned(),
            length,
            limit,
        })
    }
}

/// Looks at results. A component without that hook sees nothing and costs nothing.
pub struct Observer(Keeper);

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Observer").field(&self.0.plugin).finish()
    }
}

impl Observer {
    /// An observer of this plugin. Nothing runs before the first result.
    pub fn new(plugin: Plugin, session: Session, capabilities: Capabilities) -> Self {
        Observer(Keeper::new(plugin, Role::Observer, session, capabilities))
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Shows a result to the component. Whatever goes wrong is logged and changes nothing.
    pub async fn observe(&self, result: &ToolResult) -> Option<Addition> {
        if self.0.plugin.hooks.tool_observer.is_none() {
            return None;
        }
        self.0.with(async |instance| instance.observe(result).await).await.unwrap_or_default()
    }
}
