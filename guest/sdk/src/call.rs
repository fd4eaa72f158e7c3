//! Calls of tools, and what comes of them.

use serde::Deserialize;
use serde_json::Value;

use crate::Analysis;

/// What a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Runs a shell command.
    Shell,
    /// Reads a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Searches the content of files.
    Search,
    /// Lists or finds files.
    List,
    /// Fetches from the network.
    Fetch,
    /// Anything else.
    #[default]
    Other,
}

/// A text of the agent's input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The key in the input, as in `edits/0/path`.
    pub name: String,
    /// The text, unchanged.
    pub value: String,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// Names the call in logs.
    pub id: String,
    /// The tool's name as the agent spells it.
    pub tool: String,
    /// What the tool does.
    pub kind: Kind,
    /// The shell text, if the tool runs one. [`Call::analysis`] says what it does.
    pub command: Option<Field>,
    /// The paths that the tool is to work on, as written.
    pub paths: Vec<Field>,
    /// The file name patterns that it is to work on.
    pub globs: Vec<Field>,
    /// The directory that relative paths start from.
    pub cwd: String,
    /// What `~` stands for, if known.
    pub home: Option<String>,
    /// The folder that the agent was started for.
    pub workspace_root: String,
    /// The agent's own input.
    pub input: Value,
    /// What else the host knows, see `types.tool-call` of the contract.
    pub context: Value,
}

impl Call {
    /// A call that runs a shell text of which the host says this, a JSON text. For tests of a plugin.
    pub fn shell(command: &str, analysis: &str) -> Self {
        let analysis: Value = serde_json::from_str(analysis).unwrap_or_default();
        Call {
            tool: "bash".into(),
            kind: Kind::Shell,
            command: Some(Field { name: "command".into(), value: command.into() }),
            input: serde_json::json!({ "command": command }),
            context: serde_json::json!({ "schema": 1, "analysis": analysis }),
            ..Call::default()
        }
    }

    /// What the shell text does. None if there is none, or if nothing can be said of it.
    pub fn analysis(&self) -> Option<Analysis> {
        self.context.get("analysis").and_then(|found| Analysis::deserialize(found).ok())
    }

    /// What happened in the session, as far as observers have written it down.
    pub fn events(&self) -> Events {
        self.context.get("events").and_then(|found| Events::deserialize(found).ok()).unwrap_or_default()
    }

    /// What [`crate::Memory::after`] answered last in this session.
    pub fn memory(&self) -> Option<&Value> {
        self.context.get("memory")
    }
}

/// The last events of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Events {
    /// How often the user has set the agent to work.
    pub turn: u64,
    /// The events, the oldest first.
    pub list: Vec<Event>,
}

impl Events {
    /// Whether there was an event of this name in the turn that runs.
    pub fn this_turn(&self, event: &str) -> bool {
        self.list.iter().any(|one| one.turn == self.turn && one.event == event)
    }
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its name.
    pub event: String,
    /// The turn that it happened in.
    pub turn: u64,
}

/// A tool call that has run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The call as it ran.
    pub call: Call,
    /// The text that the agent will see.
    pub output: String,
    /// Whether the agent counts the call as failed.
    pub is_error: bool,
    /// The exit code, if the tool ran a program and the agent says it.
    pub exit_code: Option<i32>,
}

/// What a plugin adds to a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Addition {
    /// Appended to what the agent sees; empty for nothing.
    pub text: String,
    /// For a renderer; null for nothing.
    pub details: Value,
}

impl Addition {
    /// A text for the agent.
    pub fn text(text: impl Into<String>) -> Self {
        Addition { text: text.into(), details: Value::Null }
    }
}

/// News of a tool that is still running.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// The call's id.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// What the agent reports.
    pub partial: Value,
}

/// The end of a tool's run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// The call's id.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// Whether the agent counts the call as failed.
    pub is_error: bool,
    /// What came of it.
    pub outcome: Value,
}

/// A turn that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// Its number in the session, from 0, if the agent counts them.
    pub index: Option<u32>,
    /// Whether the agent has been sent on once in this turn already.
    pub again: bool,
}

/// A tool of the plugin's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tool {
    /// The name that the agent calls it by.
    pub name: String,
    /// What it does and when to use it, for the agent.
    pub description: String,
    /// The JSON Schema of the input.
    pub input_schema: Value,
    /// Whether it may run beside another tool of the plugin, in an instance of its own.
    pub alongside: bool,
    /// The longest that a call may take, in seconds.
    pub longest: u32,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the agent sees.
    pub text: String,
    /// Whether the agent is to count the call as failed.
    pub is_error: bool,
    /// For a renderer; null for nothing.
    pub details: Value,
}
