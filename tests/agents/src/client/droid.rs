//! Factory Droid.

use serde_json::json;

use super::{Client, Package, Program, RUNS_LATE, RUNS_UNASKED, files, server, variables, words};
use crate::model::Call;

pub(super) struct Droid;

impl Client for Droid {
    fn name(&self) -> &'static str {
        "droid"
    }

    fn title(&self) -> &'static str {
        "Factory Droid"
    }

    fn package(&self) -> Package {
        Package { name: "droid", version: "0.215.0" }
    }

    fn program(&self) -> Program {
        Program::Native("@factory/cli-{platform}/bin/droid")
    }

    fn arguments(&self, _guarded: bool) -> Vec<String> {
        words(&["exec", "--model", "custom:mock-model", "--auto", "high", "please clean"])
    }

    fn environment(&self, _model: &str) -> Vec<(&'static str, String)> {
        variables(&[("FACTORY_API_KEY", "fk-mock"), ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false")])
    }

    fn settings(&self, model: &str) -> Vec<(&'static str, String)> {
        let custom = json!({
            "model": "mock-model",
            "id": "custom:mock-model",
            "displayName": "Mock",
            "baseUrl": format!("{model}/v1"),
            "apiKey": "mock",
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 8000
        });
        files([(".factory/settings.json", json!({ "customModels": [custom], "cloudSessionSync": false }))])
    }

    fn shell(&self, command: &str) -> Call {
        let input = json!({
            "command": command, "summary": "clean", "riskLevel": "low", "riskLevelReason": "-", "timeout": 20
        });
        Call::new("Execute", input)
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call::new("Create", json!({ "file_path": path, "content": text }))
    }

    fn shared(&self, command: &str) -> Call {
        // The model looks for the tool first, but need not.
        Call::new("toolgate___bash", json!({ "command": command }))
    }

    fn server(&self) -> Option<(&'static str, String)> {
        server(".factory/mcp.json", json!({ "type": "stdio" }))
    }

    fn limit(&self, scenario: &str) -> Option<&'static str> {
        match scenario {
            "hook-hangs" => Some(RUNS_LATE),
            "hook-missing" => Some(RUNS_UNASKED),
            _ => None,
        }
    }
}
