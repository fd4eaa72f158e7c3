//! GitHub Copilot CLI.

use serde_json::json;

use super::{Client, Package, Program, RUNS_LATE, server, variables, words};
use crate::model::Call;

pub(super) struct Copilot;

impl Client for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn title(&self) -> &'static str {
        "Copilot CLI"
    }

    fn package(&self) -> Package {
        Package { name: "@github/copilot", version: "1.0.102" }
    }

    fn program(&self) -> Program {
        Program::Native("@github/copilot-{platform}/copilot")
    }

    fn arguments(&self, _guarded: bool) -> Vec<String> {
        words(&["--allow-all-tools", "--allow-all-paths", "-p", "please clean"])
    }

    fn environment(&self, model: &str) -> Vec<(&'static str, String)> {
        let mut all = variables(&[
            ("COPILOT_PROVIDER_TYPE", "openai"),
            ("COPILOT_PROVIDER_API_KEY", "mock"),
            ("COPILOT_MODEL", "mock-model"),
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_AUTO_UPDATE", "false"),
        ]);
        all.push(("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1")));
        all
    }

    fn settings(&self, _model: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn shell(&self, command: &str) -> Call {
        Call::new("bash", json!({ "command": command, "description": "clean" }))
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call::new("create", json!({ "path": path, "file_text": text }))
    }

    fn shared(&self, command: &str) -> Call {
        Call::new("toolgate-bash", json!({ "command": command }))
    }

    fn server(&self) -> Option<(&'static str, String)> {
        server(".copilot/mcp-config.json", json!({ "type": "local", "tools": ["*"] }))
    }

    fn limit(&self, scenario: &str) -> Option<&'static str> {
        (scenario == "hook-hangs").then_some(RUNS_LATE)
    }
}
