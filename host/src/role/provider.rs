//! The tools that a component offers, and the shared terminal that it drives.

use super::keeper::{Keeper, kept};
use crate::capability::Capabilities;
use crate::error::CallError;
use crate::hot_swap::HotSwap;
use crate::limits::said;
use crate::session::{Role, Session};
use crate::text;
use crate::{ProvidedTool, Signal, Started, ToolOutput};

/// Runs the tools that a component offers, and tells it what happens in the shared terminal.
///
/// Calls run one after the other, but for tools that may run alongside: each of these has an instance of its own. A call
/// that fails is an error to whoever asked.
///
/// ```no_run
/// # async fn example(plugin: toolgate_host::Plugin) -> Result<(), toolgate_host::CallError> {
/// use toolgate_host::{Capabilities, Provider, Session};
///
/// let provider = Provider::new(plugin, Session::in_folder("/home/dev/project"), Capabilities::denied());
/// for tool in provider.offered().await? {
///     // The gate has judged the call by now.
///     let output = provider.run_offered(&tool, "{}").await?;
///     println!("{}: {}", tool.name, output.text);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Provider(Keeper);

kept!(Provider);

impl Provider {
    /// The tools of this plugin. Nothing runs before [`Provider::start`] or the first call.
    pub fn new(plugin: impl Into<HotSwap>, session: Session, capabilities: Capabilities) -> Self {
        Provider(Keeper::new(plugin, Role::Terminal, session, capabilities))
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
