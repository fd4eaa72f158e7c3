//! The capabilities of the contract, by name.

use serde::{Deserialize, Serialize};

use crate::version::OFFERED;

/// A capability of the contract, by the interface that a component imports.
///
/// ```
/// use toolgate_host::Capability;
///
/// for capability in Capability::ALL {
///     println!("{}: {}", capability.name(), capability.describe());
/// }
/// ```
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
