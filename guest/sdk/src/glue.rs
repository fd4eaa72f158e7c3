//! Calls from the host: the functions that [`plugin!`](crate::plugin) exports call the plugin's traits through these.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::capabilities::toolgate::plugin::types;
use crate::bindings::execution::exports::toolgate::plugin::execution_observer;
use crate::bindings::lifecycle::exports::toolgate::plugin::lifecycle;
use crate::bindings::observer::exports::toolgate::plugin::tool_observer;
use crate::bindings::tools::exports::toolgate::plugin::provided_tools;
use crate::bindings::turns::exports::toolgate::plugin::turn_observer;
use crate::convert::level;
use crate::{
    Action, Addition, Call, Decision, Diagnostic, Ended, Evidence, Execution, Field, Finding, Follows, Gate, Kind,
    Level, Memory, Observer, Permission, Plugin, Predicate, Session, Started, Tool, ToolOutput, ToolResult, Tools,
    Tracker, Truth, Turn, Turns, Updated, Verdict,
};

/// A text that the host or the agent wrote; null if it is no JSON.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Empty for nothing.
fn details(value: &Value) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

fn request<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("the request cannot be read: {error}"))
}

pub fn start(plugin: &mut impl Plugin, session: lifecycle::Session) -> Result<lifecycle::Started, String> {
    // A panic aborts; its message would be lost without this.
    std::panic::set_hook(Box::new(|panic| crate::host::write(Level::Error, &panic.to_string())));
    let session = Session {
        role: session.role,
        cwd: session.cwd,
        home: session.home,
        workspace_root: session.workspace_root,
        context: json(&session.context),
    };
    let Started { status, diagnostics } = plugin.start(&session)?;
    Ok(lifecycle::Started { status, diagnostics: diagnostics.into_iter().map(diagnostic).collect() })
}

fn diagnostic(one: Diagnostic) -> types::Diagnostic {
    types::Diagnostic { level: level(one.level), file: one.file, line: one.line, message: one.message }
}

pub fn judge(plugin: &mut impl Gate, asked: types::ToolCall) -> types::Verdict {
    verdict(plugin.judge(&call(asked)))
}

pub fn judge_permission(plugin: &mut impl Permission, asked: types::ToolCall) -> types::Verdict {
    verdict(plugin.judge_permission(&call(asked)))
}

pub fn after(plugin: &mut impl Memory) -> Option<String> {
    plugin.after().map(|memory| memory.to_string())
}

pub fn observe(plugin: &mut impl Observer, outcome: tool_observer::ToolResult) -> Option<tool_observer::Addition> {
    let result = ToolResult {
        call: call(outcome.call),
        output: outcome.output,
        is_error: outcome.is_error,
        exit_code: outcome.exit_code,
    };
    let Addition { text, details: more } = plugin.observe(&result)?;
    Some(tool_observer::Addition { text, details: details(&more) })
}

pub fn on_update(plugin: &mut impl Execution, update: execution_observer::Update) {
    plugin.on_update(&Updated { call: update.call, tool: update.tool, partial: json(&update.partial) });
}

pub fn on_end(plugin: &mut impl Execution, end: execution_observer::End) {
    let outcome = json(&end.outcome);
    plugin.on_end(&Ended { call: end.call, tool: end.tool, is_error: end.is_error, outcome });
}

pub fn on_turn_end(plugin: &mut impl Turns, turn: turn_observer::Turn) -> Option<String> {
    let again = json(&turn.context).get("again") == Some(&Value::Bool(true));
    plugin.on_turn_end(&Turn { index: turn.index, again })
}

pub fn trackers(plugin: &impl Tracker) -> String {
    Follows::description(&plugin.trackers())
}

pub fn modify(plugin: &mut impl Tracker, asked: &str) -> Result<String, String> {
    let after = plugin.modify(&request(asked)?);
    Ok(serde_json::json!({ "schema": 1, "after": after }).to_string())
}

pub fn predicates(plugin: &impl Predicate) -> String {
    serde_json::json!({ "schema": 1, "predicates": plugin.predicates() }).to_string()
}

pub fn evaluate(plugin: &mut impl Predicate, name: &str, asked: &str) -> types::Truth {
    let answer = match request(asked) {
        Ok(asked) => plugin.evaluate(name, &asked),
        Err(why) => {
            crate::host::write(Level::Warning, &why);
            Truth::Unknown
        }
    };
    match answer {
        Truth::Yes => types::Truth::Yes,
        Truth::No => types::Truth::No,
        Truth::Unknown => types::Truth::Unknown,
    }
}

pub fn tools(plugin: &mut impl Tools) -> Vec<provided_tools::Tool> {
    let tool = |tool: Tool| provided_tools::Tool {
        name: tool.name,
        description: tool.description,
        input_schema: tool.input_schema.to_string(),
        alongside: tool.alongside,
        longest: tool.longest,
    };
    plugin.tools().into_iter().map(tool).collect()
}

pub fn run(plugin: &mut impl Tools, name: &str, input: &str) -> Result<provided_tools::Output, String> {
    let input = serde_json::from_str(input).map_err(|error| format!("the input is not JSON: {error}"))?;
    let ToolOutput { text, is_error, details: more } = plugin.run(name, &input)?;
    Ok(provided_tools::Output { text, is_error, details: details(&more) })
}

fn call(call: types::ToolCall) -> Call {
    let field = |field: types::Field| Field { name: field.name, value: field.value };
    Call {
        id: call.id,
        tool: call.tool,
        kind: kind(call.kind),
        command: call.command.map(field),
        paths: call.paths.into_iter().map(field).collect(),
        globs: call.globs.into_iter().map(field).collect(),
        cwd: call.cwd,
        home: call.home,
        workspace_root: call.workspace_root,
        input: json(&call.input),
        context: json(&call.context),
    }
}

fn kind(kind: types::ToolKind) -> Kind {
    match kind {
        types::ToolKind::Shell => Kind::Shell,
        types::ToolKind::Read => Kind::Read,
        types::ToolKind::Write => Kind::Write,
        types::ToolKind::Edit => Kind::Edit,
        types::ToolKind::Search => Kind::Search,
        types::ToolKind::List => Kind::List,
        types::ToolKind::Fetch => Kind::Fetch,
        types::ToolKind::Other => Kind::Other,
    }
}

fn verdict(verdict: Verdict) -> types::Verdict {
    let decision = match verdict.decision {
        Decision::Pass => types::Decision::Pass,
        Decision::Block(reason) => types::Decision::Block(reason),
        Decision::Ask(question) => types::Decision::Ask(question),
        Decision::Rewrite(input) => types::Decision::Rewrite(input),
    };
    types::Verdict { decision, findings: verdict.findings.into_iter().map(finding).collect() }
}

fn finding(finding: Finding) -> types::Finding {
    let evidence = |one: Evidence| types::Evidence { field: one.field, start: one.start, end: one.end, text: one.text };
    types::Finding {
        rule: finding.rule,
        plugin: String::new(),
        action: match finding.action {
            Action::Block => types::Action::Block,
            Action::Ask => types::Action::Ask,
            Action::Rewrite => types::Action::Rewrite,
            Action::Note => types::Action::Note,
        },
        reason: finding.reason,
        evidence: finding.evidence.into_iter().map(evidence).collect(),
    }
}
