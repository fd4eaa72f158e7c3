//! What cases of verdicts have in common: how a call is written down, and what became of it.

use serde_json::Value;
use toolgate_rules::call::{Action, Call, Field, FileEffects, Memory, ToolKind, Verdict, inputs};

/// The workspace of every case, and the working directory unless a case says another one.
pub(crate) const WORKSPACE: &str = "/home/dev/project";

/// The call of a case: a shell command unless `kind` says otherwise.
pub(crate) fn call(case: &Value) -> Call {
    let field = |key: &str| case[key].as_str().map(|value| Field { name: key.to_owned(), value: value.to_owned() });
    Call {
        kind: match case["kind"].as_str() {
            None | Some("shell") => ToolKind::Shell,
            Some("read") => ToolKind::Read,
            Some("write") => ToolKind::Write,
            Some("search") => ToolKind::Search,
            Some("list") => ToolKind::List,
            Some("other") => ToolKind::Other,
            Some(kind) => panic!("unknown kind {kind}"),
        },
        edits: case["edits"] == true,
        command: field("command"),
        shell: case["shell"].as_str().map(str::to_owned),
        paths: field("path").into_iter().collect(),
        globs: field("glob").into_iter().collect(),
        effects: FileEffects::read(&case["effects"]),
        contents: field("content").into_iter().collect(),
        tool: case["tool"].as_str().unwrap_or_default().to_owned(),
        inputs: if case["input"].is_null() { Vec::new() } else { inputs(&case["input"].to_string()) },
        cwd: case["cwd"].as_str().unwrap_or(WORKSPACE).to_owned(),
        home: Some("/home/dev".into()),
        workspace: case["workspace"].as_str().unwrap_or(WORKSPACE).to_owned(),
        earlier: Memory::read(&case["memory"]),
        ..Call::default()
    }
}

/// What a case calls a verdict.
pub(crate) fn named(verdict: &Verdict) -> &'static str {
    match verdict.action() {
        None | Some(Action::Note) => "pass",
        Some(Action::Ask) => "ask",
        Some(Action::Block) => "block",
    }
}
