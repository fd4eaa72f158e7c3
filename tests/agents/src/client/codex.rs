//! Codex CLI.

use serde_json::{Value, json};

use super::{Client, Package, Program, RUNS_LATE, RUNS_UNASKED, variables, words};
use crate::model::Call;
use crate::place::GUARD;

pub(super) struct Codex;

impl Client for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex CLI"
    }

    fn package(&self) -> Package {
        Package { name: "@openai/codex", version: "0.169.0" }
    }

    fn program(&self) -> Program {
        Program::Native("@openai/codex-{platform}/vendor/{arch}-unknown-linux-musl/bin/codex")
    }

    fn arguments(&self, guarded: bool) -> Vec<String> {
        let mut all = words(&["exec", "--skip-git-repo-check", "-s", "danger-full-access"]);
        if guarded {
            // Otherwise its user looks at the hooks once, in `/hooks`; before that they are skipped silently.
            all.push("--dangerously-bypass-hook-trust".into());
        }
        all.push("please clean".into());
        all
    }

    fn environment(&self, _model: &str) -> Vec<(&'static str, String)> {
        variables(&[("MOCK_KEY", "mock")])
    }

    fn settings(&self, model: &str) -> Vec<(&'static str, String)> {
        // A model of a known name, for only then is there a tool for patches.
        let config = format!(
            r#"model = "gpt-5.5"
model_provider = "mock"
approval_policy = "never"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "Mock"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."/home/dev/project"]
trust_level = "trusted"
"#
        );
        vec![(".codex/config.toml", config)]
    }

    fn shell(&self, command: &str) -> Call {
        Call::new("exec_command", json!({ "cmd": command }))
    }

    fn write(&self, path: &str, text: &str) -> Call {
        Call::new("apply_patch", Value::String(patch(path, text)))
    }

    fn patch(&self, folder: &str, path: &str, text: &str) -> Option<Call> {
        Some(self.shell(&format!("cd {folder} && apply_patch <<'EOF'\n{}EOF\n", patch(path, text))))
    }

    fn typed(&self, command: &str) -> Option<[Call; 2]> {
        let open = Call::new("exec_command", json!({ "cmd": "bash", "tty": true, "yield_time_ms": 500 }));
        let input = json!({ "session_id": 0, "chars": format!("{command}; exit\n"), "yield_time_ms": 2000 });
        Some([open, Call { tool: "write_stdin", input, learned: Some(("session_id", "session ID ")) }])
    }

    fn shared(&self, command: &str) -> Call {
        // The tools of a server are a namespace, in which the model looks for one first, but need not.
        Call::new("mcp__toolgate.bash", json!({ "command": command }))
    }

    fn server(&self) -> Option<(&'static str, String)> {
        let server = format!(
            r#"
[mcp_servers.toolgate]
command = "{GUARD}"
args = ["mcp"]
env_vars = ["TMUX", "TMUX_PANE"]
"#
        );
        Some((".codex/config.toml", server))
    }

    fn limit(&self, scenario: &str) -> Option<&'static str> {
        match scenario {
            "hook-hangs" => Some(RUNS_LATE),
            "hook-missing" => Some(RUNS_UNASKED),
            _ => None,
        }
    }
}

fn patch(path: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}
