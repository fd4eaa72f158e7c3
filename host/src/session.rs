//! What an instance is started for: its role, and the session.

/// What an instance is there for. Each role has an instance of its own, so that a verdict never waits behind a
/// check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Gives verdicts.
    Gate,
    /// Looks at what happened.
    Observer,
    /// Offers tools and runs the shared terminal.
    Terminal,
    /// Says what shell texts do.
    Analysis,
    /// Has trackers and predicates that rules ask.
    Extension,
}

impl Role {
    /// As the contract spells it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Gate => "gate",
            Role::Observer => "observer",
            Role::Terminal => "terminal",
            Role::Analysis => "analysis",
            Role::Extension => "extension",
        }
    }
}

/// The session that components are started for.
#[derive(Clone, Debug)]
pub struct Session {
    /// The agent's working directory.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The folder that the agent was started for.
    pub workspace_root: String,
    /// What else is known, a JSON text with `schema`.
    pub context: String,
}

impl Session {
    /// A session in this folder, with the home folder of the environment.
    pub fn in_folder(folder: impl Into<String>) -> Self {
        let folder = folder.into();
        Session {
            cwd: folder.clone(),
            home: std::env::var("HOME").ok().filter(|home| !home.is_empty()),
            workspace_root: folder,
            context: r#"{"schema":1}"#.to_owned(),
        }
    }
}
