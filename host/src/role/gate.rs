//! From a call to a verdict.

use std::time::Instant;

use super::keeper::{Keeper, kept};
use crate::capability::Capabilities;
use crate::error::CallError;
use crate::failure;
use crate::hot_swap::HotSwap;
use crate::instance::GateQuery;
use crate::session::{Role, Session};
use crate::{Judgement, Started, ToolCall, Verdict};

/// Judges calls. Share it between tasks by reference; calls are judged one after the other.
///
/// [`Gate::in_folder`] opens one with the rules that are in force in a folder; [`Gate::new`] makes one that reads what it is granted.
///
/// ```no_run
/// # async fn example(plugin: toolgate_host::Plugin) {
/// use toolgate_host::{Capabilities, Decision, Gate, Session, ToolCall};
///
/// let gate = Gate::new(plugin, Session::in_folder("/home/dev/project"), Capabilities::denied());
/// match gate.judge(&ToolCall::shell("git push --force", "/home/dev/project")).await.decision {
///     Decision::Pass => {}              // run it
///     Decision::Ask(_question) => {}    // ask the user; no answer means no
///     Decision::Block(_reason) => {}    // tell the agent why not
///     Decision::Rewrite(_input) => {}   // only a gate that is `rewriting` gives it
/// }
/// # }
/// ```
pub struct Gate(Keeper, bool);

kept!(Gate);

impl Gate {
    /// A gate of this plugin. Nothing runs before [`Gate::start`] or the first call.
    pub fn new(plugin: impl Into<HotSwap>, session: Session, capabilities: Capabilities) -> Self {
        Gate(Keeper::new(plugin, Role::Gate, session, capabilities), false)
    }

    /// The same, which may rewrite calls. Whoever asks it judges the new input again.
    #[must_use]
    pub fn rewriting(mut self, may: bool) -> Self {
        self.1 = may;
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
        self.judgement(call).await.verdict
    }

    /// The same, with what else the component knows of the call after it.
    pub async fn judgement(&self, call: &ToolCall) -> Judgement {
        self.asked(call, GateQuery::Call).await
    }

    /// The same for a call that has to be judged by then.
    pub async fn judgement_until(&self, call: &ToolCall, end: Instant) -> Judgement {
        self.until(end, self.judgement(call)).await.unwrap_or_else(Judgement::only)
    }

    /// Whether the rules keep each of these absolute paths from being read, so that its content must not be copied. None if
    /// the component does not tell.
    ///
    /// # Errors
    /// If the component fails, or does not answer for each of them.
    pub async fn withheld(&self, paths: &[String]) -> Result<Option<Vec<bool>>, CallError> {
        let answers = self.0.with(async |instance, _| instance.withheld(paths).await).await?;
        match answers {
            Some(answers) if answers.len() != paths.len() => {
                Err(CallError::Trap(format!("it gave {} answers about {} paths", answers.len(), paths.len())))
            }
            answers => Ok(answers),
        }
    }

    /// Judges a request for permission that has to be judged by then. What is asked for cannot be rewritten.
    pub async fn permit_until(&self, call: &ToolCall, end: Instant) -> Verdict {
        self.until(end, self.asked(call, GateQuery::Permission)).await.map_or_else(|late| late, |judged| judged.verdict)
    }

    /// The error is the verdict on what is too late.
    async fn until<T>(&self, end: Instant, judged: impl Future<Output = T>) -> Result<T, Verdict> {
        let before = Instant::now();
        let late = |_| failure::verdict(self.0.slot.name(), &CallError::Timeout(end.duration_since(before)));
        tokio::time::timeout_at(end.into(), judged).await.map_err(late)
    }

    async fn asked(&self, call: &ToolCall, asked: GateQuery) -> Judgement {
        let plugin = self.0.slot.name();
        let judged = match self.oversized(call) {
            Some(error) => Err(error),
            None => self.0.with(async |instance, _| instance.judge(call, asked).await).await,
        };
        match judged {
            Ok(Judgement { verdict, memory, changes }) => {
                let verdict = failure::checked(verdict, plugin, self.1 && asked == GateQuery::Call);
                Judgement { verdict, memory, changes }
            }
            Err(error) => Judgement::only(failure::verdict(plugin, &error)),
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
