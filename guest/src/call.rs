//! What is judged and what comes of it, as the rest of the guest knows them. The contract's own types are only in
//! `component.rs`.

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs a shell command.
    Shell,
    /// Reads a file.
    Read,
    /// Writes or edits a file.
    Write,
    /// Searches the content of files.
    Search,
    /// Lists or finds files.
    List,
    /// Fetches from the network.
    Fetch,
    /// Anything else.
    Other,
}

/// A text of the agent's input and the name of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub name: String,
    /// The text.
    pub value: String,
}

/// A tool call before it runs.
#[derive(Clone, Debug)]
pub struct Call {
    /// What the tool does.
    pub kind: Kind,
    /// The shell text, if it runs one.
    pub command: Option<Field>,
    /// The paths it works on.
    pub paths: Vec<Field>,
    /// The file name patterns it works on.
    pub globs: Vec<Field>,
    /// Where relative paths start.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The folder that the agent was started for.
    pub workspace: String,
}

/// What a finding asks for; the later one weighs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Worth knowing.
    Note,
    /// Let a person decide.
    Ask,
    /// Stop the call.
    Block,
}

/// The words that a rule matched: a byte range of an input field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The field's name.
    pub field: String,
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// The text between.
    pub text: String,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// What it asks for.
    pub action: Action,
    /// A sentence for the person and the agent.
    pub reason: String,
    /// Where it matched.
    pub evidence: Vec<Evidence>,
}

/// All findings on a call, the weightiest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Empty for no opinion.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// What the weightiest finding asks for.
    pub fn action(&self) -> Option<Action> {
        self.findings.first().map(|finding| finding.action)
    }
}
