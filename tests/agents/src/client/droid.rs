//! Factory Droid.

use serde_json::json;

use super::{Client, Package, Program, files, variables, words};
use crate::model::Call;
use crate::scenario::Trouble;

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
        Call {
            tool: "Execute",
            input: json!({
                "command": command, "summary": "clean", "riskLevel": "low", "riskLevelReason": "-", "timeout": 20
            }),
        }
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call { tool: "Create", input: json!({ "file_path": path, "content": text }) }
    }

    fn fails_closed(&self, _trouble: Trouble) -> bool {
        false
    }

    fn by_hand(&self, guard: &str) -> Option<(&'static str, String)> {
        let handler = json!({ "type": "command", "command": format!("{guard} hook droid"), "timeout": 10 });
        files([(".factory/hooks.json", json!({ "PreToolUse": [{ "matcher": "*", "hooks": [handler] }] }))]).pop()
    }
}
