//! Gemini CLI.

use serde_json::json;

use super::{Client, Package, Program, RUNS_LATE, files, server, variables, words};
use crate::model::Call;

pub(super) struct Gemini;

impl Client for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn package(&self) -> Package {
        Package { name: "@google/gemini-cli", version: "0.61.0" }
    }

    fn program(&self) -> Program {
        Program::Script("@google/gemini-cli/bundle/gemini.js")
    }

    fn arguments(&self, _guarded: bool) -> Vec<String> {
        words(&["--approval-mode", "yolo", "-p", "please clean"])
    }

    fn environment(&self, model: &str) -> Vec<(&'static str, String)> {
        let mut all = variables(&[("GEMINI_API_KEY", "mock"), ("GEMINI_CLI_NO_RELAUNCH", "true")]);
        all.push(("GOOGLE_GEMINI_BASE_URL", model.into()));
        all
    }

    fn settings(&self, _model: &str) -> Vec<(&'static str, String)> {
        files([(
            ".gemini/settings.json",
            json!({
                "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
                "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
                "privacy": { "usageStatisticsEnabled": false },
                "hooksConfig": { "enabled": true }
            }),
        )])
    }

    fn shell(&self, command: &str) -> Call {
        Call::new("run_shell_command", json!({ "command": command, "description": "clean" }))
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call::new("write_file", json!({ "file_path": path, "content": text }))
    }

    fn shared(&self, command: &str) -> Call {
        Call::new("mcp_toolgate_bash", json!({ "command": command }))
    }

    fn server(&self) -> Option<(&'static str, String)> {
        server(".gemini/settings.json", json!({}))
    }

    fn limit(&self, scenario: &str) -> Option<&'static str> {
        // Of a missing command the shell says 127, and Gemini takes every code above 1 for a denial.
        (scenario == "hook-hangs").then_some(RUNS_LATE)
    }
}
