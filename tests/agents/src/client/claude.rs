//! Claude Code.

use serde_json::json;

use super::{Client, Package, Program, server, variables, words};
use crate::model::Call;

pub(super) struct Claude;

impl Client for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn package(&self) -> Package {
        Package { name: "@anthropic-ai/claude-code", version: "2.1.330" }
    }

    fn program(&self) -> Program {
        // The package's own program is a link that an installation script makes.
        Program::Native("@anthropic-ai/claude-code-{platform}/claude")
    }

    fn arguments(&self, _guarded: bool) -> Vec<String> {
        words(&["-p", "please clean", "--permission-mode", "bypassPermissions", "--output-format", "json"])
    }

    fn environment(&self, model: &str) -> Vec<(&'static str, String)> {
        let mut all = variables(&[
            ("ANTHROPIC_API_KEY", "sk-mock"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
        ]);
        all.push(("ANTHROPIC_BASE_URL", model.into()));
        all
    }

    fn settings(&self, _model: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn shell(&self, command: &str) -> Call {
        Call::new("Bash", json!({ "command": command, "description": "clean" }))
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call::new("Write", json!({ "file_path": path, "content": text }))
    }

    fn shared(&self, command: &str) -> Call {
        Call::new("mcp__toolgate__bash", json!({ "command": command }))
    }

    fn server(&self) -> Option<(&'static str, String)> {
        server(".claude.json", json!({}))
    }

    fn keeps_directory(&self) -> bool {
        true
    }
}
