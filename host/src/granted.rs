//! What a component was granted of what it asks for.
//!
//! A component asks by its imports, which are known before any of it runs. What it is not granted is denied when it is used:
//! an ordinary error to the component, and never a trap.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capability::{Capabilities, Denied, Narrowed, Refuse};
use crate::plugin::{Description, OFFERED};

/// A capability of the contract, by the interface that a component imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is documented in the contract, and in a sentence by `describe`")]
pub enum Capability {
    Files,
    Git,
    Daemon,
    Terminal,
    Ui,
    Journal,
    Message,
    Clock,
    Log,
    Extensions,
}

impl Capability {
    /// Every capability, in the order of the contract.
    pub const ALL: [Capability; 10] = [
        Capability::Files,
        Capability::Git,
        Capability::Daemon,
        Capability::Terminal,
        Capability::Ui,
        Capability::Journal,
        Capability::Message,
        Capability::Clock,
        Capability::Log,
        Capability::Extensions,
    ];

    /// The interface's name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Files => "files",
            Capability::Git => "git",
            Capability::Daemon => "daemon",
            Capability::Terminal => "terminal",
            Capability::Ui => "ui",
            Capability::Journal => "journal",
            Capability::Message => "message",
            Capability::Clock => "clock",
            Capability::Log => "log",
            Capability::Extensions => "extensions",
        }
    }

    /// What it lets a component do, for the person who decides.
    pub fn describe(self) -> &'static str {
        match self {
            Capability::Files => "list files, resolve links, and read rule files and scripts that are about to run",
            Capability::Git => "see changed files and the current branch in git",
            Capability::Daemon => "start and query the project's check daemon",
            Capability::Terminal => "run any command as you in a tmux pane; Toolgate checks each one first",
            Capability::Ui => "show you messages and a status line",
            Capability::Journal => {
                "write to the session's journal and record events, which lift rules that wait for them"
            }
            Capability::Message => "send messages to the agent in your conversation",
            Capability::Clock => "read the clock and set timers",
            Capability::Log => "write to the log",
            Capability::Extensions => "query trackers and predicates of other plugins",
        }
    }

    /// The capability of this name, without its package.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The capability of an import, like `toolgate:plugin/files@0.1.0`. None for the shared types, which let a component do
    /// nothing, and for what is not the contract's.
    pub fn of_import(import: &str) -> Option<Self> {
        let interface = import.strip_prefix(OFFERED)?;
        Self::named(interface.split('@').next().unwrap_or(interface))
    }
}

/// What a component may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Is told of what a component was refused.
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
