//! A tool call, as every component sees it.
//!
//! The types of this crate are its own. The contract's generated types are in `bindings`, and `convert` knows both: so a later
//! version of the contract is one more conversion, and no change to whoever embeds this crate.

use serde::{Deserialize, Serialize};

/// What a tool does, whatever the agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ToolKind {
    /// Runs a shell command; it is in [`ToolCall::command`].
    Shell,
    /// Reads a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Searches the content of files; no path means the working directory.
    Search,
    /// Lists or finds files; no path means the working directory.
    List,
    /// Fetches from the network.
    Fetch,
    /// Anything else.
    Other,
}

/// A string of the agent's input, and its place in that input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The key in [`ToolCall::input`]; for a nested one the keys and indexes joined by `/`, as in `edits/0/path`.
    pub name: String,
    /// The text of that key, unchanged: relative paths stay relative.
    pub value: String,
}

impl Field {
    /// A text and the key that it has in the agent's input.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Field { name: name.into(), value: value.into() }
    }
}

/// A tool call that the agent is about to make, in the same shape for every agent.
///
/// It is made by [`ToolCall::new`], [`ToolCall::shell`] or [`ToolCall::file`], and then filled in, field by field or by the
/// methods that begin with `with_`.
///
/// ```
/// use toolgate_host::{Field, ToolCall, ToolKind};
///
/// let mut call = ToolCall::new("multi_edit", ToolKind::Edit, "/home/dev/project").with_home("/home/dev".to_owned());
/// call.input = r#"{"edits":[{"path":"src/main.rs"}]}"#.to_owned();
/// call.paths.push(Field::new("edits/0/path", "src/main.rs"));
/// assert_eq!(call.workspace_root, call.cwd);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call in logs. The agent's own id where it gives one; may be empty.
    pub id: String,
    /// The tool's name as the agent spells it.
    pub tool: String,
    /// What the tool does, as far as it is known.
    pub kind: ToolKind,
    /// The shell text, if the tool runs one. Of a tool that edits by a patch in the form of `apply_patch`, that patch.
    pub command: Option<Field>,
    /// The paths that the tool is to work on, as the agent wrote them.
    pub paths: Vec<Field>,
    /// The file name patterns that the tool is to work on.
    pub globs: Vec<Field>,
    /// The directory that relative paths start from, absolute.
    pub cwd: String,
    /// The value of `~` and `$HOME`, if known; absolute.
    pub home: Option<String>,
    /// The folder that the agent was started for, absolute.
    pub workspace_root: String,
    /// The agent's own input, a JSON text.
    pub input: String,
    /// More context, a JSON text with the number `schema`; the contract's `tool-call.context` lists its keys.
    pub context: String,
}

impl ToolCall {
    /// A call of this tool, with nothing filled in but where it runs: `cwd` is also the folder that the agent was started for,
    /// and the home folder is that of the environment.
    pub fn new(tool: impl Into<String>, kind: ToolKind, cwd: impl Into<String>) -> Self {
        let cwd = cwd.into();
        ToolCall {
            id: String::new(),
            tool: tool.into(),
            kind,
            command: None,
            paths: Vec::new(),
            globs: Vec::new(),
            workspace_root: cwd.clone(),
            cwd,
            home: std::env::var("HOME").ok().filter(|home| !home.is_empty()),
            input: "{}".to_owned(),
            context: r#"{"schema":1}"#.to_owned(),
        }
    }

    /// A shell command that is about to run in this directory.
    ///
    /// ```
    /// use toolgate_host::{ToolCall, ToolKind};
    ///
    /// let call = ToolCall::shell("cargo test", "/home/dev/project");
    /// assert_eq!(call.kind, ToolKind::Shell);
    /// assert_eq!(call.input, r#"{"command":"cargo test"}"#);
    /// ```
    pub fn shell(command: impl Into<String>, cwd: impl Into<String>) -> Self {
        let command = command.into();
        ToolCall {
            input: serde_json::json!({ "command": command }).to_string(),
            command: Some(Field::new("command", command)),
            ..ToolCall::new("bash", ToolKind::Shell, cwd)
        }
    }

    /// A file tool that is about to work on this path.
    pub fn file(tool: impl Into<String>, kind: ToolKind, path: impl Into<String>, cwd: impl Into<String>) -> Self {
        let path = path.into();
        ToolCall {
            input: serde_json::json!({ "path": path }).to_string(),
            paths: vec![Field::new("path", path)],
            ..ToolCall::new(tool, kind, cwd)
        }
    }

    /// The same with this id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
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

    /// The same with this input, a JSON text.
    #[must_use]
    pub fn with_input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }

    /// The same with this context, a JSON text with the number `schema`.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.context = context.into();
        self
    }
}
