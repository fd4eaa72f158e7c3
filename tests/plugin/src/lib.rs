//! A component that rewrites a call, reports on results, remembers calls and denies permissions, for runs of real agents.
//!
//! A command that holds [`BEFORE`] is rewritten, with [`AFTER`] in its place and the rest of the input as it was. One that
//! holds [`REMEMBERED`] is remembered; one that holds [`RECALLS`] is asked about, with what the session has left behind. Of
//! permissions it denies those for a command that holds [`DENIED`]. On what a tool wrote or edited it reports with
//! [`REPORT`] and the path. It has no opinion on anything else.

#![cfg(target_family = "wasm")]

use std::cell::RefCell;

use serde_json::{Value, json};

mod bindings {
    // The macro's own code is not documented, and it needs `unsafe` to cross the component's border.
    #![allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, clippy::pedantic)]
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        inline: "
            package toolgate:test-plugin;
            world fixture {
                export toolgate:plugin/lifecycle@0.1.0;
                export toolgate:plugin/tool-gate@0.1.0;
                export toolgate:plugin/permission-gate@0.1.0;
                export toolgate:plugin/session-memory@0.1.0;
                export toolgate:plugin/tool-observer@0.1.0;
            }
        ",
        world: "toolgate:test-plugin/fixture",
        generate_all,
    });
    use super::Fixture;
    export!(Fixture);
}

use bindings::exports::toolgate::plugin::{lifecycle, permission_gate, session_memory, tool_gate, tool_observer};
use bindings::toolgate::plugin::types::{Decision, ToolCall, ToolKind, Verdict};

/// What is taken out of a command.
const BEFORE: &str = "write-this-way";

/// What comes in its place.
const AFTER: &str = "write-that-way";

/// What is remembered.
const REMEMBERED: &str = "remember-this";

/// What asks for it.
const RECALLS: &str = "what-was-before";

/// What is not permitted.
const DENIED: &str = "never-permit";

/// What is asked about when a permission is asked for.
const ASKED: &str = "perhaps-permit";

/// How a report begins.
const REPORT: &str = "CHECKED";

struct Fixture;

thread_local! {
    /// What the call that was judged last leaves behind.
    static AFTER_CALL: RefCell<Option<Value>> = const { RefCell::new(None) };
}

impl lifecycle::Guest for Fixture {
    fn prepare() {}

    fn start(_session: lifecycle::Session) -> Result<lifecycle::Started, String> {
        Ok(lifecycle::Started { status: "rewrites and reports".into(), diagnostics: Vec::new() })
    }

    fn shutdown(_reason: String) {}
}

impl tool_gate::Guest for Fixture {
    fn judge(call: ToolCall) -> Verdict {
        let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
        let memory = context.get("memory");
        let command = command(&call);
        let seen = memory.map(|memory| memory["seen"].clone()).and_then(|seen| seen.as_array().cloned());
        let after = command.contains(REMEMBERED).then(|| {
            let seen: Vec<Value> = seen.into_iter().flatten().chain([command.into()]).collect();
            json!({ "schema": 1, "seen": seen })
        });
        AFTER_CALL.set(after);
        let decision = match rewritten(&call) {
            Some(input) => Decision::Rewrite(input),
            None if command.contains(RECALLS) => Decision::Ask(format!("memory: {memory:?}")),
            None => Decision::Pass,
        };
        Verdict { decision, findings: Vec::new() }
    }
}

impl session_memory::Guest for Fixture {
    fn after() -> Option<String> {
        AFTER_CALL.take().map(|memory| memory.to_string())
    }
}

impl permission_gate::Guest for Fixture {
    fn judge(call: ToolCall) -> Verdict {
        let decision = match command(&call) {
            command if command.contains(DENIED) => Decision::Block("it is not to be permitted".into()),
            command if command.contains(ASKED) => Decision::Ask("it is worth a question".into()),
            _ => Decision::Pass,
        };
        Verdict { decision, findings: Vec::new() }
    }
}

fn command(call: &ToolCall) -> &str {
    call.command.as_ref().map_or("", |command| command.value.as_str())
}

fn rewritten(call: &ToolCall) -> Option<String> {
    let command = call.command.as_ref().filter(|command| command.value.contains(BEFORE))?;
    let mut input: Value = serde_json::from_str(&call.input).ok()?;
    *input.get_mut(&command.name)? = command.value.replace(BEFORE, AFTER).into();
    Some(input.to_string())
}

/// What in a command has its paths reported.
const PATHS: &str = "report-paths";

impl tool_observer::Guest for Fixture {
    fn observe(outcome: tool_observer::ToolResult) -> Option<tool_observer::Addition> {
        if outcome.call.command.as_ref().is_some_and(|command| command.value.contains(PATHS)) {
            let context: Value = serde_json::from_str(&outcome.call.context).ok()?;
            let text = format!("{REPORT} {}", context.get("path_hints")?);
            return Some(tool_observer::Addition { text, details: String::new() });
        }
        if !matches!(outcome.call.kind, ToolKind::Write | ToolKind::Edit) {
            return None;
        }
        // Of a patch the agent's own input says which files are meant.
        let path = outcome.call.paths.first().map_or(outcome.call.input.as_str(), |path| path.value.as_str());
        Some(tool_observer::Addition { text: format!("{REPORT} {path}"), details: String::new() })
    }
}
