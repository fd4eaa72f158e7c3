//! `OpenCode`.

use serde_json::json;

use super::{Client, Package, Program, files, variables, words};
use crate::model::Call;
use crate::place::GUARD;

pub(super) struct OpenCode;

impl Client for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn package(&self) -> Package {
        Package { name: "opencode-ai", version: "1.18.33" }
    }

    fn program(&self) -> Program {
        Program::Native("opencode-{platform}/bin/opencode")
    }

    fn arguments(&self, _guarded: bool) -> Vec<String> {
        words(&["run", "please clean"])
    }

    fn environment(&self, _model: &str) -> Vec<(&'static str, String)> {
        variables(&[
            ("npm_config_fetch_retries", "0"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ])
    }

    fn settings(&self, model: &str) -> Vec<(&'static str, String)> {
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": { "baseURL": format!("{model}/v1"), "apiKey": "mock" },
            "models": { "mock-model": { "name": "Mock", "tool_call": true } }
        });
        files([(
            ".config/opencode/opencode.json",
            json!({
                "model": "mock/mock-model",
                "provider": { "mock": provider },
                "permission": { "bash": "allow", "edit": "allow", "external_directory": "allow" }
            }),
        )])
    }

    fn shell(&self, command: &str) -> Call {
        Call::new("bash", json!({ "command": command, "description": "clean" }))
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call::new("write", json!({ "filePath": path, "content": text }))
    }

    fn shared(&self, command: &str) -> Call {
        Call::new("toolgate_bash", json!({ "command": command }))
    }

    fn server(&self) -> Option<(&'static str, String)> {
        let server = json!({ "type": "local", "command": [GUARD, "mcp"] });
        Some((".config/opencode/opencode.json", json!({ "mcp": { "toolgate": server } }).to_string()))
    }

    fn session(&self) -> bool {
        true
    }

    fn limit(&self, scenario: &str) -> Option<&'static str> {
        (scenario == "lens-turn").then_some("a plugin cannot send the agent on; the report comes with the next result")
    }
}
