//! What components are told of besides calls, and what they say besides verdicts.
//!
//! What an agent reports is made by whoever embeds this crate. Of these records [`Update`], [`End`], [`Turn`] and [`Signal`] are
//! complete: what more an agent knows is in their JSON texts.

use serde::{Deserialize, Serialize};

use crate::call::ToolCall;

/// How much a message matters to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// For debugging the component.
    Debug,
    /// Worth knowing, nothing to do.
    Info,
    /// Something failed; the rest works.
    Warning,
    /// Something does not work.
    Error,
}

/// A sentence about a file, for the person who wrote it.
///
/// ```
/// use toolgate_host::{Diagnostic, Level};
///
/// let problem = Diagnostic::new(Level::Warning, "the rule has no reason").in_file("/home/dev/project/toolgate.yaml");
/// assert!(problem.file.is_some() && problem.line.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How much it matters.
    pub level: Level,
    /// The file it is about, if any.
    pub file: Option<String>,
    /// Line in it, from 1.
    pub line: Option<u32>,
    /// The problem, as one sentence.
    pub message: String,
}

impl Diagnostic {
    /// A problem of no file in particular.
    pub fn new(level: Level, message: impl Into<String>) -> Self {
        Diagnostic { level, file: None, line: None, message: message.into() }
    }

    /// The same about this file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }
}

/// A component's report after its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Started {
    /// One line for the person, like the number of active rules.
    pub status: String,
    /// Problems in the configuration it read. None of them stops the component.
    pub diagnostics: Vec<Diagnostic>,
}

impl Started {
    /// A report of these.
    pub fn new(status: impl Into<String>, diagnostics: Vec<Diagnostic>) -> Self {
        Started { status: status.into(), diagnostics }
    }
}

/// A tool call that has run, and its result.
///
/// ```
/// use toolgate_host::{ToolCall, ToolResult};
///
/// let call = ToolCall::shell("cargo test", "/home/dev/project");
/// let result = ToolResult::new(call, "1 failed").failed(true).with_exit_code(101);
/// assert_eq!(result.exit_code, Some(101));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call as it ran.
    pub call: ToolCall,
    /// The text that the agent will see. More than 1 MiB of it is more than a component takes.
    pub output: String,
    /// Whether the agent counts the call as failed.
    pub is_error: bool,
    /// The exit code, if the tool ran a program and the agent reports it.
    pub exit_code: Option<i32>,
}

impl ToolResult {
    /// A call that succeeded with this output.
    pub fn new(call: ToolCall, output: impl Into<String>) -> Self {
        ToolResult { call, output: output.into(), is_error: false, exit_code: None }
    }

    /// The same, which the agent counts as failed or not.
    #[must_use]
    pub fn failed(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// The same with the exit code of the program that ran; none if it is unknown.
    #[must_use]
    pub fn with_exit_code(mut self, code: impl Into<Option<i32>>) -> Self {
        self.exit_code = code.into();
        self
    }
}

/// Additions of a component to a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Addition {
    /// Appended to what the agent sees; empty for nothing.
    pub text: String,
    /// For a renderer, a JSON text with `schema`; empty for nothing.
    pub details: String,
}

/// News of a tool that is still running.
///
/// ```
/// use toolgate_host::Update;
///
/// let update = Update { call: "7".to_owned(), tool: "bash".to_owned(), partial: r#"{"output":"1 of 9"}"#.to_owned() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// [`ToolCall::id`] of the call.
    pub call: String,
    /// The tool's name as the agent spells it.
    pub tool: String,
    /// What the agent reports, a JSON text in the agent's own shape.
    pub partial: String,
}

/// The end of a tool's run.
///
/// ```
/// use toolgate_host::End;
///
/// let end = End { call: "7".to_owned(), tool: "bash".to_owned(), is_error: false, outcome: "{}".to_owned() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// [`ToolCall::id`] of the call.
    pub call: String,
    /// The tool's name as the agent spells it; `subagent-stop` where an agent only reports that a subagent has ended.
    pub tool: String,
    /// Whether the agent counts the call as failed.
    pub is_error: bool,
    /// The result, a JSON text in the agent's own shape.
    pub outcome: String,
}

/// A turn that has ended.
///
/// ```
/// use toolgate_host::Turn;
///
/// let turn = Turn { index: Some(3), context: r#"{"schema":1,"again":false}"#.to_owned() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number in the session, from 0, if the agent counts them.
    pub index: Option<u32>,
    /// What else is known, a JSON text with the number `schema`; the contract's `turn.context` lists its keys.
    pub context: String,
}

/// The end of a watch of the shared terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// The pane's id.
    pub pane: String,
    /// The channel that was watched.
    pub channel: String,
    /// Whether the pane is gone; else the signal came.
    pub closed: bool,
}

/// The description of a tool for the agent.
///
/// ```
/// use toolgate_host::ProvidedTool;
///
/// let mut tool = ProvidedTool::new("deploy");
/// tool.description = "Deploys the project. Use it when the tests are through.".to_owned();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProvidedTool {
    /// The name that the agent calls it by, unique within the component.
    pub name: String,
    /// Its purpose and when to use it, for the agent.
    pub description: String,
    /// The JSON Schema of the input, a JSON text.
    pub input_schema: String,
    /// Whether it may run beside another tool of the component: it then runs in an instance of its own. Else calls run one
    /// after the other.
    pub alongside: bool,
    /// The longest that a call may take, in seconds.
    pub longest: u32,
}

impl ProvidedTool {
    /// A tool that takes any object, runs alone, and takes a second at most.
    pub fn new(name: impl Into<String>) -> Self {
        let (name, input_schema) = (name.into(), "{}".to_owned());
        ProvidedTool { name, description: String::new(), input_schema, alongside: false, longest: 1 }
    }
}

/// A tool's answer.
///
/// ```
/// use toolgate_host::ToolOutput;
///
/// assert!(ToolOutput::error("there is no cluster").is_error);
/// assert_eq!(ToolOutput::new("deployed").with_details(r#"{"schema":1}"#).text, "deployed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The text for the agent.
    pub text: String,
    /// Whether the agent is to count the call as failed.
    pub is_error: bool,
    /// For a renderer, a JSON text with `schema`; empty for nothing.
    pub details: String,
}

impl ToolOutput {
    /// The answer of a tool that did what it should.
    pub fn new(text: impl Into<String>) -> Self {
        ToolOutput { text: text.into(), is_error: false, details: String::new() }
    }

    /// The answer of one that did not.
    pub fn error(text: impl Into<String>) -> Self {
        ToolOutput { is_error: true, ..ToolOutput::new(text) }
    }

    /// The same with this for a renderer, a JSON text with `schema`.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }
}

/// A piece of a line in one style.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Span {
    /// The characters, without line breaks.
    pub text: String,
    /// A key of the terminal's theme, like `warning`; empty for plain text.
    pub style: String,
}

/// A line that a component draws.
pub type Lines = Vec<Vec<Span>>;
