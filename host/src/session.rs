//! What an instance is started for: its role, and the session.

/// What an instance is there for. Each role has an instance of its own, so that a verdict never waits behind a
/// check.
///
/// ```
/// use toolgate_host::Role;
/// use toolgate_host::limits::Limits;
///
/// assert!(Limits::of(Role::Analysis).call > Limits::of(Role::Gate).call);
/// ```
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
///
/// ```
/// use toolgate_host::Session;
///
/// let session = Session::in_folder("/home/dev/project/sub").with_workspace_root("/home/dev/project");
/// assert_eq!(session.cwd, "/home/dev/project/sub");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// The agent's working directory, absolute.
    pub cwd: String,
    /// What `~` stands for, absolute.
    pub home: Option<String>,
    /// The folder that the agent was started for, absolute.
    pub workspace_root: String,
    /// What else is known, a JSON text with the number `schema`.
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

    /// The same with this home folder; none if it is unknown.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<Option<String>>) -> Self {
        self.home = home.into();
        self
    }

    /// The same for an agent that was started for this folder.
    #[must_use]
    pub fn with_workspace_root(mut self, root: impl Into<String>) -> Self {
        self.workspace_root = root.into();
        self
    }

    /// The same with this context, a JSON text with the number `schema`; the contract's `session.context` lists its keys.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }
}
