//! The trackers and predicates of one component. Those of several are in `extension_registry`.

use super::keeper::{Keeper, kept};
use crate::Truth;
use crate::capability::Capabilities;
use crate::error::CallError;
use crate::hot_swap::HotSwap;
use crate::session::{Role, Session};

/// Has the trackers and predicates that other components ask, see `interface extensions` of the contract.
///
/// Whatever goes wrong is an error, and what was asked for is unknown.
///
/// ```no_run
/// # async fn example(plugin: toolgate_host::Plugin, guard: toolgate_host::Plugin) {
/// use toolgate_host::{Capabilities, Extension, ExtensionRegistry, Gate, Session};
///
/// let session = Session::in_folder("/home/dev/project");
/// let kubectl = Extension::new(plugin, session.clone(), Capabilities::denied());
/// // Rules of this gate may ask it.
/// let gate = Gate::new(guard, session, Capabilities::denied().extensions(ExtensionRegistry::new(vec![kubectl])));
/// # }
/// ```
pub struct Extension(Keeper);

kept!(Extension);

impl Extension {
    /// The trackers and predicates of this plugin. Nothing runs before the first question.
    pub fn new(plugin: impl Into<HotSwap>, session: Session, capabilities: Capabilities) -> Self {
        Extension(Keeper::new(plugin, Role::Extension, session, capabilities))
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
