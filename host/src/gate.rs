//! From a call to a verdict, from a result to an addition, and from a text to what it does, with recovery.

use tokio::sync::Mutex;

use crate::capability::Capabilities;
use crate::error::CallError;
use crate::failure;
use crate::instance::{Instance, Question, Role, Session};
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
        let limits = match role {
            Role::Gate => Limits::DEFAULT,
            Role::Observer => Limits::OBSERVER,
            Role::Analysis => Limits::ANALYSIS,
        };
        Keeper { plugin, role, session, capabilities, limits, instance: Mutex::new(None) }
    }

    /// Does something with the instance, which is made if there is none, within the time for one call.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut Instance, &Started) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let whole = async {
            let mut slot = self.instance.lock().await;
            let (mut instance, started) = match slot.take() {
                Some(running) => running,
                None => {
                    let capabilities = self.capabilities.clone();
                    Instance::start(&self.plugin, self.role, &self.session, capabilities, self.limits).await?
                }
            };
            let answer = work(&mut instance, &started).await?;
            *slot = Some((instance, started));
            Ok(answer)
        };
        let answer = tokio::time::timeout(self.limits.call, whole).await;
        let answer = answer.unwrap_or(Err(CallError::Timeout(self.limits.call)));
        if let Err(error) = &answer {
            tracing::warn!(plugin = self.plugin.name, role = self.role.name(), %error, "instance dropped");
        }
        answer
    }
}

/// Judges calls. Share it between tasks by reference; calls are judged one after the other.
pub struct Gate(Keeper, bool);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gate").field(&self.0.plugin).finish()
    }
}

impl Gate {
    /// A gate of this plugin. Nothing runs before [`Gate::start`] or the first call.
    pub fn new(plugin: Plugin, session: Session, capabilities: Capabilities) -> Self {
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
        let plugin = &self.0.plugin.name;
        let judged = match self.oversized(call) {
            Some(error) => Err(error),
            None => self.0.with(async |instance, _| Ok((instance.judge(call).await?, instance.memory().await?))).await,
        };
        match judged {
            Ok((verdict, memory)) => (failure::checked(verdict, plugin, self.1), memory),
            Err(error) => (failure::verdict(Role::Gate, plugin, &error), None),
        }
    }

    /// Ends the session. A component that fails at this is only logged.
    pub async fn shutdown(&self, reason: &str) {
        let running = self.0.instance.lock().await.take();
        if let Some((mut instance, _)) = running {
            let ended = tokio::time::timeout(self.0.limits.call, instance.shutdown(reason)).await;
            if !matches!(ended, Ok(Ok(()))) {
                tracing::warn!(plugin = self.0.plugin.name, "shutdown failed");
            }
        }
    }

    fn oversized(&self, call: &ToolCall) -> Option<CallError> {
        let limit = self.0.limits.input;
        let fields = call.command.iter().chain(&call.paths).chain(&call.globs);
        let length = fields.map(|field| field.name.len() + field.value.len()).sum::<usize>() + call.cwd.len();
        (length > limit).then_some(CallError::Input { length, limit })
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
        self.0.plugin.hooks.tool_observer.as_ref()?;
        self.0.with(async |instance, _| instance.observe(result).await).await.unwrap_or_default()
    }
}

/// Says what shell texts do. Requests and answers are JSON texts, as `interface analysis` of the contract has them.
///
/// Whatever goes wrong is an error; nothing is judged here, so nothing has to be blocked.
pub struct Analysis(Keeper);

impl std::fmt::Debug for Analysis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Analysis").field(&self.0.plugin).finish()
    }
}

impl Analysis {
    /// Analyses by this plugin. Nothing runs before the first question.
    pub fn new(plugin: Plugin, session: Session, capabilities: Capabilities) -> Self {
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
