//! The shared terminal in the agents' configurations: the option that switches it on, and what `doctor` says of it.
//!
//! pi's extension has it built in. Every other agent starts `toolgate mcp`, as its own configuration says.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use toolgate_agents::settings::file::File;
use toolgate_agents::settings::hook_failures::Level;
use toolgate_agents::settings::table::{self, AgentConfig, HookMechanism, Scope, project};
use toolgate_agents::settings::{hook_trust, shims};
use toolgate_capabilities::tmux_version;
use toolgate_host::CapabilityError;

use super::report::Check;
use crate::output::quoted;

/// Whether an agent is offered the shared terminal.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Switch {
    /// Run pi's commands in a tmux pane beside it; for other agents, show how to set that up
    #[arg(long, overrides_with = "no_terminal")]
    terminal: bool,

    /// Do not run commands in a pane [default, unless an earlier installation chose otherwise]
    #[arg(long, overrides_with = "terminal")]
    no_terminal: bool,
}

impl Switch {
    /// Whether it is; none if nothing is said.
    pub(crate) fn said(self) -> Option<bool> {
        match (self.terminal, self.no_terminal) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// What is left to the user where Toolgate's own entries are no way to the terminal.
pub(super) fn by_hand(known: &AgentConfig, program: &str) -> Option<String> {
    let program = quoted(program);
    let how = match known.name() {
        "pi" => return None,
        "claude" => format!("claude mcp add toolgate --scope user -- {program} mcp"),
        "codex" => format!(
            "codex mcp add toolgate -- {program} mcp, and below [mcp_servers.toolgate] in its config.toml: \
             env_vars = [\"TMUX\", \"TMUX_PANE\", \"TMUX_MIRROR_TARGET\"] and tool_timeout_sec = 3700"
        ),
        "gemini" => format!("gemini mcp add toolgate {program} mcp"),
        _ => format!("add {program} with the argument mcp to its MCP server configuration"),
    };
    Some(format!("{} uses the shared terminal through an MCP server: {how}", known.title()))
}

/// Where an agent's MCP servers stand: files below the user's folder for it or a project, and the key.
struct Servers {
    known: &'static AgentConfig,
    user: &'static str,
    project: &'static str,
    key: &'static str,
}

#[rustfmt::skip]
static SERVERS: &[Servers] = &[
    Servers { known: &table::CLAUDE, user: ".claude.json", project: ".mcp.json", key: "mcpServers" },
    Servers { known: &table::CODEX, user: "config.toml", project: ".codex/config.toml", key: "mcp_servers" },
    Servers { known: &table::COPILOT, user: "mcp-config.json", project: "", key: "mcpServers" },
    Servers { known: &table::CURSOR, user: "mcp.json", project: ".cursor/mcp.json", key: "mcpServers" },
    Servers { known: &table::DROID, user: "mcp.json", project: ".factory/mcp.json", key: "mcpServers" },
    Servers { known: &table::GEMINI, user: "settings.json", project: ".gemini/settings.json", key: "mcpServers" },
    Servers { known: &table::OPENCODE, user: "opencode.json", project: "opencode.json", key: "mcp" },
];

/// What is found of the shared terminal.
struct TerminalStatus {
    /// By the agents that are offered it: where that stands.
    offered: Vec<(&'static AgentConfig, PathBuf)>,
    /// Where Codex starts the server without the variables of tmux.
    without: Vec<PathBuf>,
    inside: bool,
    version: Result<String, String>,
}

/// The checks of the shared terminal, for one agent or for all.
pub(super) fn checks(only: Option<&AgentConfig>) -> Vec<Check> {
    let mut offered = extensions();
    let (servers, mut without) = servers();
    offered.extend(servers);
    offered.retain(|(known, _)| only.is_none_or(|only| only.name() == known.name()));
    without.retain(|path| offered.iter().any(|(_, offered)| offered == path));
    let inside = ["TMUX", "TMUX_PANE"].iter().all(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    told(&TerminalStatus { offered, without, inside, version: version() })
}

fn told(found: &TerminalStatus) -> Vec<Check> {
    let check = |name, level, says: String, todo: &str| Check { name, level, says, todo: todo.to_owned() };
    let ok = |name, says: String| check(name, Level::Ok, says, "");
    if found.offered.is_empty() {
        let says =
            "not set up for any agent; toolgate install pi --terminal sets up pi, for others see toolgate mcp --help";
        return vec![ok("offered", says.to_owned())];
    }
    let mut checks: Vec<Check> = found
        .offered
        .iter()
        .map(|(known, file)| ok("offered", format!("{}: {}", known.title(), file.display())))
        .collect();
    checks.extend(found.without.iter().map(|file| {
        let says =
            format!("{}: without env_vars Codex does not pass TMUX on, and the server offers no tools", file.display());
        check(
            "passed",
            Level::Warn,
            says,
            "env_vars = [\"TMUX\", \"TMUX_PANE\", \"TMUX_MIRROR_TARGET\"] below the server",
        )
    }));
    checks.push(match &found.version {
        Ok(version) => ok("tmux", version.clone()),
        Err(why) => check("tmux", Level::Warn, why.clone(), "install tmux, or set PATH"),
    });
    checks.push(match found.inside {
        true => ok("inside", "this is a tmux session".to_owned()),
        false => check(
            "inside",
            Level::Warn,
            "this is not a tmux session, so an agent started here does not get the terminal".to_owned(),
            "start the agent inside tmux",
        ),
    });
    checks
}

/// Extensions that have it switched on.
fn extensions() -> Vec<(&'static AgentConfig, PathBuf)> {
    let shims = table::AGENTS.iter().copied().filter(|known| matches!(known.way, HookMechanism::Shim(_)));
    let files =
        shims.flat_map(|known| Scope::ALL.into_iter().filter_map(move |scope| Some((known, known.file(scope).ok()?))));
    let shares = |path: &Path| File::read(path).is_ok_and(|file| file.text().is_ok_and(shims::shares));
    files.filter(|(_, path)| shares(path)).collect()
}

/// Configurations that name the server, and those of them that have Codex start it without the variables of tmux.
fn servers() -> (Vec<(&'static AgentConfig, PathBuf)>, Vec<PathBuf>) {
    let project = project().ok();
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for Servers { known, user, project: of_project, key } in SERVERS {
        let folder = known.folder().ok();
        // Claude Code's own lies beside its folder, unless that was moved.
        let beside = known.name() == table::CLAUDE.name() && !known.is_moved();
        let folder = if beside { folder.as_deref().and_then(Path::parent) } else { folder.as_deref() };
        let user = folder.map(|folder| folder.join(user));
        let of_project = project.as_ref().filter(|_| !of_project.is_empty()).map(|root| root.join(of_project));
        for path in [user, of_project].into_iter().flatten() {
            let Some(settings) = hook_trust::read(&path) else { continue };
            if !names(settings.get(key), project.as_deref(), &settings) {
                continue;
            }
            if known.name() == table::CODEX.name() && !passes_tmux(settings.get(key)) {
                without.push(path.clone());
            }
            found.push((*known, path));
        }
    }
    (found, without)
}

/// Whether every server of ours among these is started with the variables by which tmux is found.
fn passes_tmux(servers: Option<&Value>) -> bool {
    let all = servers.and_then(Value::as_object).into_iter().flat_map(|all| all.values());
    all.filter(|server| is_ours(server)).all(|server| {
        let passed = |name: &str| {
            let list = server.get("env_vars").and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|one| one == name))
        };
        passed("TMUX") && passed("TMUX_PANE")
    })
}

/// Whether one of these servers is `toolgate mcp`. Claude Code has those of a project in the user's file, too.
fn names(servers: Option<&Value>, project: Option<&Path>, settings: &Value) -> bool {
    let of_project = project.and_then(|root| settings.get("projects")?.get(root.to_str()?)?.get("mcpServers"));
    let all = [servers, of_project].into_iter().flatten().filter_map(Value::as_object).flat_map(|all| all.values());
    all.into_iter().any(is_ours)
}

/// Whether a server is `toolgate mcp`.
fn is_ours(server: &Value) -> bool {
    let words = |key: &str| match server.get(key) {
        Some(Value::String(word)) => vec![word.as_str()],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let command = [words("command"), words("args")].concat();
    let program = command.first().and_then(|program| Path::new(program).file_name());
    program.is_some_and(|name| name == "toolgate") && command.get(1) == Some(&"mcp")
}

/// tmux as it names itself. The error is a sentence.
fn version() -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let version = runtime.map_err(|error| error.to_string())?.block_on(tmux_version());
    version.map_err(|error| match error {
        CapabilityError::Unavailable(why) | CapabilityError::Other(why) => why,
        _ => "tmux does not say its version".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_names_the_server_is_told_from_what_does_not() {
        let cases = [
            (json!({"toolgate": {"command": "/usr/local/bin/toolgate", "args": ["mcp"]}}), true),
            (json!({"x": {"command": "toolgate", "args": ["mcp", "--border"]}}), true),
            (json!({"toolgate": {"type": "local", "command": ["/a/toolgate", "mcp"]}}), true),
            (json!({"toolgate": {"command": "toolgate", "args": ["serve"]}}), false),
            (json!({"toolgate": {"command": "/tmp/toolgate-x", "args": ["mcp"]}}), false),
            (json!({"toolgate": {"url": "http://localhost"}}), false),
            (json!([]), false),
            (json!({}), false),
        ];
        for (servers, expected) in cases {
            assert_eq!(names(Some(&servers), None, &json!({})), expected, "{servers}");
            let settings = json!({"projects": {"/p": {"mcpServers": servers}}});
            assert_eq!(names(None, Some(Path::new("/p")), &settings), expected, "{servers}");
            assert!(!names(None, Some(Path::new("/q")), &settings));
        }
    }

    #[test]
    fn codex_has_to_pass_the_variables_of_tmux_on() {
        let ours = |more: Value| json!({"x": {"command": "toolgate", "args": ["mcp"], "env_vars": more}});
        let cases = [
            (ours(json!(["TMUX", "TMUX_PANE", "TMUX_MIRROR_TARGET"])), true),
            (ours(json!(["TMUX_PANE", "TMUX"])), true),
            (ours(json!(["TMUX"])), false),
            (ours(Value::Null), false),
            (json!({"x": {"command": "other"}}), true),
        ];
        for (servers, expected) in cases {
            assert_eq!(passes_tmux(Some(&servers)), expected, "{servers}");
        }
    }

    #[test]
    fn the_terminal_is_complained_about_only_where_it_is_wanted() {
        let on = || vec![(&table::PI, PathBuf::from("/x/toolgate.ts"))];
        let version = || Ok("tmux 3.3a".to_owned());
        let cases = [
            (vec![], false, Err("no tmux".to_owned()), vec![("offered", "ok")]),
            (on(), true, version(), vec![("offered", "ok"), ("tmux", "ok"), ("inside", "ok")]),
            (on(), false, version(), vec![("offered", "ok"), ("tmux", "ok"), ("inside", "warn")]),
            (on(), false, Err("no tmux".to_owned()), vec![("offered", "ok"), ("tmux", "warn"), ("inside", "warn")]),
        ];
        for (offered, inside, version, expected) in cases {
            let checks = told(&TerminalStatus { offered, without: Vec::new(), inside, version });
            let found: Vec<_> = checks.iter().map(|check| (check.name, check.level.name())).collect();
            assert_eq!(found, expected);
        }
    }
}
