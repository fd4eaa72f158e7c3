//! The session that a plugin is started for, and what it says of itself then.

use serde_json::Value;

/// A session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// What the instance is there for: `gate`, `observer`, `terminal`, `analysis` or `extension`.
    pub role: String,
    /// The agent's working directory when the session started.
    pub cwd: String,
    /// What `~` stands for, if known.
    pub home: Option<String>,
    /// The folder that the agent was started for.
    pub workspace_root: String,
    /// What else the host knows, see `lifecycle.session` of the contract.
    pub context: Value,
}

/// What a plugin says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// One line for the person.
    pub status: String,
    /// What is wrong with the configuration it read.
    pub diagnostics: Vec<Diagnostic>,
}

impl Started {
    /// With a line for the person and nothing wrong.
    pub fn with(status: impl Into<String>) -> Self {
        Started { status: status.into(), diagnostics: Vec::new() }
    }
}

/// A sentence about a file, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub level: Level,
    /// The file, if it is about one.
    pub file: Option<String>,
    /// Line in it, from 1.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// How much a message matters to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For whoever looks for a mistake in the plugin.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is not as intended; the rest works.
    Warning,
    /// Something does not work.
    Error,
}
