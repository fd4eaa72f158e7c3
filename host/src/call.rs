//! Making tool calls by hand.

use crate::{Decision, Field, ToolCall, ToolKind, Verdict};

impl ToolCall {
    /// A call of this tool, with nothing filled in but where it runs.
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
    pub fn shell(command: impl Into<String>, cwd: impl Into<String>) -> Self {
        let command = command.into();
        ToolCall {
            input: serde_json::json!({ "command": command }).to_string(),
            command: Some(Field { name: "command".to_owned(), value: command }),
            ..ToolCall::new("bash", ToolKind::Shell, cwd)
        }
    }

    /// A file tool that is about to work on this path.
    pub fn file(tool: impl Into<String>, kind: ToolKind, path: impl Into<String>, cwd: impl Into<String>) -> Self {
        let path = path.into();
        ToolCall {
            input: serde_json::json!({ "path": path }).to_string(),
            paths: vec![Field { name: "path".to_owned(), value: path }],
            ..ToolCall::new(tool, kind, cwd)
        }
    }
}

impl Verdict {
    /// The verdict that stops a call, with a single finding.
    pub fn block(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Verdict {
            decision: Decision::Block(reason.clone()),
            findings: vec![crate::Finding {
                rule: rule.into(),
                plugin: String::new(),
                action: crate::Action::Block,
                reason,
                evidence: Vec::new(),
            }],
        }
    }

    /// No opinion.
    pub fn pass() -> Self {
        Verdict { decision: Decision::Pass, findings: Vec::new() }
    }
}
