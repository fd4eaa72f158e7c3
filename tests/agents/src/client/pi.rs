//! pi.

use serde_json::json;

use super::{Client, Package, Program, files, variables, words};
use crate::model::Call;
use crate::place::WORK;

pub(super) struct Pi;

impl Client for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn title(&self) -> &'static str {
        "pi"
    }

    fn package(&self) -> Package {
        // Newer ones need packages that the registry does not have.
        Package { name: "@earendil-works/pi-coding-agent", version: "0.87.1" }
    }

    fn program(&self) -> Program {
        Program::Script("@earendil-works/pi-coding-agent/dist/bundle/cli.js")
    }

    fn arguments(&self, _guarded: bool) -> Vec<String> {
        words(&["--provider", "mock", "--model", "mock-model", "-p", "please clean"])
    }

    fn environment(&self, _model: &str) -> Vec<(&'static str, String)> {
        variables(&[("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")])
    }

    fn settings(&self, model: &str) -> Vec<(&'static str, String)> {
        let provider = json!({
            "baseUrl": format!("{model}/v1"),
            "api": "openai-completions",
            "apiKey": "mock",
            "models": [{ "id": "mock-model" }]
        });
        files([(".pi/agent/models.json", json!({ "providers": { "mock": provider } }))])
    }

    fn shell(&self, command: &str) -> Call {
        Call::new("bash", json!({ "command": command }))
    }

    fn write(&self, path: &str, text: &str) -> Call {
        // Its models send paths as they please; a relative one is the harder case.
        let path = path.strip_prefix(WORK).map_or(path, |path| path.trim_start_matches('/'));
        Call::new("write", json!({ "path": path, "content": text }))
    }

    fn shared(&self, command: &str) -> Call {
        self.shell(command)
    }

    fn session(&self) -> bool {
        true
    }
}
