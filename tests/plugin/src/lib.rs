//! A component that rewrites a call and reports on results, for runs of real agents.
//!
//! A command that holds [`BEFORE`] is rewritten, with [`AFTER`] in its place and the rest of the input as it was. On what
//! a tool wrote or edited it reports with [`REPORT`] and the path. It has no opinion on anything else.

#![cfg(target_family = "wasm")]

use serde_json::Value;

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
                export toolgate:plugin/tool-observer@0.1.0;
            }
        ",
        world: "toolgate:test-plugin/fixture",
        generate_all,
    });
    use super::Fixture;
    export!(Fixture);
}

use bindings::exports::toolgate::plugin::{lifecycle, tool_gate, tool_observer};
use bindings::toolgate::plugin::types::{Decision, ToolCall, ToolKind, Verdict};

/// What is taken out of a command.
const BEFORE: &str = "write-this-way";

/// What comes in its place.
const AFTER: &str = "write-that-way";

/// How a report begins.
const REPORT: &str = "CHECKED";

struct Fixture;

impl lifecycle::Guest for Fixture {
    fn prepare() {}

    fn start(_session: lifecycle::Session) -> Result<lifecycle::Started, String> {
        Ok(lifecycle::Started { status: "rewrites and reports".into(), diagnostics: Vec::new() })
    }

    fn shutdown(_reason: String) {}
}

impl tool_gate::Guest for Fixture {
    fn judge(call: ToolCall) -> Verdict {
        let decision = rewritten(&call).map_or(Decision::Pass, Decision::Rewrite);
        Verdict { decision, findings: Vec::new() }
    }
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
