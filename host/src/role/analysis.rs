//! From a shell text to what it does.

use super::keeper::{Keeper, kept};
use crate::capability::Capabilities;
use crate::error::CallError;
use crate::hot_swap::HotSwap;
use crate::instance::Question;
use crate::session::{Role, Session};

/// Says what shell texts do. Requests and answers are JSON texts, as `interface analysis` of the contract has them.
///
/// Whatever goes wrong is an error; nothing is judged here, so nothing has to be blocked.
///
/// ```no_run
/// # async fn example(guard: toolgate_host::Plugin) -> Result<(), toolgate_host::CallError> {
/// use toolgate_host::{Analysis, Capabilities, Session};
///
/// let analysis = Analysis::new(guard, Session::in_folder("/home/dev/project"), Capabilities::denied());
/// let answer = analysis.files(r#"{"command":"echo a > b","cwd":"/home/dev/project"}"#).await?;
/// assert!(answer.contains("/home/dev/project/b"));
/// # Ok(())
/// # }
/// ```
pub struct Analysis(Keeper);

kept!(Analysis);

impl Analysis {
    /// Analyses by this plugin. Nothing runs before the first question.
    pub fn new(plugin: impl Into<HotSwap>, session: Session, capabilities: Capabilities) -> Self {
        Analysis(Keeper::new(plugin, Role::Analysis, session, capabilities))
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
