//! What a component was granted of what it asks for.
//!
//! A component asks by its imports, which are known before any of it runs. What it is not granted is denied when it is used:
//! an ordinary error to the component, and never a trap.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capability::{Capabilities, Capability, Denied, Narrowed, Refuse};
use crate::plugin::Description;

/// What a component may do.
///
/// ```
/// use toolgate_host::{Capability, Granted};
///
/// let granted = Granted::to([Capability::Files, Capability::Log]).rewriting(true);
/// assert!(granted.capabilities.contains(&Capability::Files) && granted.folders.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Granted {
    /// What it may reach.
    pub capabilities: BTreeSet<Capability>,
    /// Whether it may rewrite calls; what it makes of one is judged again.
    #[serde(default)]
    pub rewrite: bool,
    /// The folders that `files` is narrowed to, absolute and without links, as `canonicalize` gives them; none for
    /// wherever the user may look. A folder that was replaced by a link since is not followed: nothing is in it then.
    #[serde(default)]
    pub folders: Option<Vec<PathBuf>>,
}

impl Granted {
    /// Nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// These capabilities, and wherever they reach.
    pub fn to(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        Granted { capabilities: capabilities.into_iter().collect(), ..Self::default() }
    }

    /// The same, which may rewrite calls or may not.
    #[must_use]
    pub fn rewriting(mut self, may: bool) -> Self {
        self.rewrite = may;
        self
    }

    /// The same with `files` narrowed to these folders, each as `canonicalize` gives it; none for wherever the user may look.
    #[must_use]
    pub fn within(mut self, folders: impl Into<Option<Vec<PathBuf>>>) -> Self {
        self.folders = folders.into();
        self
    }
}

/// Is told of what a component was refused.
///
/// ```no_run
/// use toolgate_host::{Capabilities, Capability, Denials, Description, Granted};
///
/// struct Told;
///
/// impl Denials for Told {
///     fn denied(&self, plugin: &Description, capability: Capability, what: &str) {
///         eprintln!("{} may not reach {} {what}", plugin.name, capability.name());
///     }
/// }
///
/// # fn example(plugin: &toolgate_host::Plugin, all: Capabilities) {
/// let granted = all.limited_and_told(&Granted::to([Capability::Log]), plugin.description(), std::sync::Arc::new(Told));
/// # }
/// ```
pub trait Denials: Send + Sync {
    /// This component asked for what it was not granted. `what` is what of the capability was refused, as a path; empty for
    /// all of it.
    fn denied(&self, plugin: &Description, capability: Capability, what: &str);
}

/// Refuses a component what it was not granted, and says so.
#[derive(Clone)]
struct Refusing {
    plugin: Arc<Description>,
    denials: Arc<dyn Denials>,
}

impl Refuse for Refusing {
    fn refused(&self, capability: Capability, what: &str) {
        self.denials.denied(&self.plugin, capability, what);
    }
}

impl Capabilities {
    /// The same without what was not granted. `files` are those of the local file system then, if they are narrowed.
    #[must_use]
    pub fn limited_to(self, granted: &Granted) -> Self {
        self.limited(granted, &Denied)
    }

    /// The same, and whatever this component is refused is told.
    #[must_use]
    pub fn limited_and_told(self, granted: &Granted, plugin: &Description, denials: Arc<dyn Denials>) -> Self {
        self.limited(granted, &Refusing { plugin: Arc::new(plugin.clone()), denials })
    }

    fn limited(self, granted: &Granted, refuse: &(impl Refuse + Clone + 'static)) -> Self {
        let mut limited = self;
        if let Some(folders) = &granted.folders {
            let config = limited.files.clone();
            limited = limited.files(Narrowed::new(config, folders, refuse.clone()));
        }
        for capability in Capability::ALL.into_iter().filter(|one| !granted.capabilities.contains(one)) {
            let refuse = refuse.clone();
            limited = match capability {
                Capability::Files => limited.files(refuse),
                Capability::Git => limited.git(refuse),
                Capability::Daemon => limited.daemon(refuse),
                Capability::Terminal => limited.terminal(refuse),
                Capability::Ui => limited.ui(refuse),
                Capability::Journal => limited.journal(refuse),
                Capability::Message => limited.message(refuse),
                Capability::Clock => limited.clock(refuse),
                Capability::Log => limited.log(refuse),
                Capability::Extensions => limited.extensions(refuse),
            };
        }
        limited
    }
}
