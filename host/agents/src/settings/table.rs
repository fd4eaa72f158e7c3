//! The agents' configurations as a table: which file, which shape, which events. Facts are from runs of Claude Code
//! 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Copilot CLI 1.0.102, Droid 0.215.0, pi 0.87.1 and `OpenCode` 1.18.33; of
//! Cursor from its documentation only.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::program;
use crate::agent::{self, Dialect};
use crate::text::quoted;
use crate::{Failure, dirs, exit, shim};

/// The agents that Toolgate can be installed for.
pub static AGENTS: &[&AgentConfig] = &[&CLAUDE, &CODEX, &GEMINI, &COPILOT, &DROID, &CURSOR, &PI, &OPENCODE];

/// Whose configuration is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's own, for all projects.
    User,
    /// That of the project here.
    Project,
}

impl Scope {
    /// Both.
    pub const ALL: [Scope; 2] = [Scope::User, Scope::Project];

    /// As options name it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

/// How an agent is configured.
pub struct AgentConfig {
    /// How it speaks.
    pub dialect: &'static dyn Dialect,
    /// Its program.
    pub program: &'static str,
    base: Base,
    /// The file, below the user's folder for this agent and below a project's root.
    file: (&'static str, &'static str),
    /// Other files in which its hooks may be, in the same order.
    also: (&'static [&'static str], &'static [&'static str]),
    /// How it is made to call Toolgate.
    pub way: HookMechanism,
    /// What is left to the user: in any case, and for a project.
    pub left: (&'static str, &'static str),
}

/// The user's folder of an agent: what a variable says, else one in the home folder; and a folder in it.
struct Base {
    variable: Option<&'static str>,
    home: &'static str,
    inner: &'static str,
}

/// How an agent is made to call Toolgate.
pub enum HookMechanism {
    /// By entries in a JSON file.
    Hooks(Hooks),
    /// By a file that it loads: this text up to its line for the program.
    Shim(&'static str),
}

/// The entries of an agent's JSON file.
pub struct Hooks {
    /// The key with the events; none if they are the file's own keys.
    pub under: Option<&'static str>,
    /// Whether an event has groups, each a matcher with its handlers, and not just handlers.
    pub(crate) groups: bool,
    /// The events that Toolgate may want to hear of.
    pub events: &'static [Event],
    /// The handler of an event, for a program with more arguments.
    pub(crate) handler: fn(&str, &Event, &[String]) -> Value,
    /// The matcher of tool events in a group.
    pub(crate) matcher: &'static str,
    /// What else has to be in the file, if nothing is said about it.
    pub fixed: Option<(&'static [&'static str], Fixed)>,
    /// The keys that the file may have, if any other makes the agent refuse it.
    pub keys: Option<&'static [&'static str]>,
    /// Whether the agent has been seen to read comments.
    pub comments: bool,
    /// The key of a handler's time limit, and how many of its units are a second.
    pub timeout: (&'static str, u64),
}

impl Hooks {
    /// The same with the events below this key, or without one as the file's own keys.
    pub fn below(&self, under: Option<&'static str>) -> Self {
        Hooks { under, ..*self }
    }

    /// The events that are wanted with these arguments, and by plugins if any are installed.
    pub fn wanted(&self, more: &[String], plugins: bool) -> impl Iterator<Item = &Event> {
        let named = more.iter().any(|word| word == PLUGIN || word.starts_with(&format!("{PLUGIN}=")));
        let plugin = named || plugins;
        let lens = more.iter().all(|word| word != NO_LENS);
        self.events.iter().filter(move |event| match event.for_whom {
            EventConsumer::Gate => true,
            EventConsumer::Lens => lens,
            EventConsumer::Results => lens || plugin,
            EventConsumer::Plugins => plugin,
        })
    }
}

/// The option that names components beside the guard.
const PLUGIN: &str = "--plugin";

/// The option that leaves out the checks of changed files.
pub const NO_LENS: &str = "--no-lens";

/// A value that has to be in a file.
#[derive(Clone, Copy)]
pub enum Fixed {
    /// This number.
    Number(u32),
    /// True.
    True,
}

impl Fixed {
    /// The value as JSON.
    pub fn value(self) -> Value {
        match self {
            Fixed::Number(number) => number.into(),
            Fixed::True => true.into(),
        }
    }
}

/// An event that Toolgate wants to hear of.
pub struct Event {
    /// What the agent calls it.
    pub name: &'static str,
    /// Whether its answer can stop something.
    pub gates: bool,
    /// Whether a call can run unseen without it.
    pub must: bool,
    /// Whether it is about a tool, and so has a matcher.
    pub(crate) tools: bool,
    /// Who has something to say to it. It costs the agent a process each time, so that it is left out where nobody has.
    for_whom: EventConsumer,
}

/// Who wants to hear of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventConsumer {
    Gate,
    /// What has changed files checked.
    Lens,
    /// Components beside the guard.
    Plugins,
    /// Both.
    Results,
}

impl Event {
    /// How long the agent is to wait for the answer, in seconds. Toolgate's own limit is below.
    pub fn timeout(&self) -> u64 {
        if self.gates || self.for_whom == EventConsumer::Gate { TIMEOUT } else { ADVICE }
    }
}

const fn gate(name: &'static str) -> Event {
    Event { name, gates: true, must: true, tools: true, for_whom: EventConsumer::Gate }
}

/// Most of its calls have been through a gate before.
const fn second(name: &'static str) -> Event {
    Event { name, gates: true, must: false, tools: true, for_whom: EventConsumer::Gate }
}

/// The agent is about to ask its user. The guard has judged the call before.
const fn permission(name: &'static str) -> Event {
    Event { for_whom: EventConsumer::Plugins, ..second(name) }
}

const fn after(name: &'static str) -> Event {
    Event { name, gates: false, must: false, tools: true, for_whom: EventConsumer::Results }
}

/// What the lens has no use for: a call that failed.
const fn failed(name: &'static str) -> Event {
    Event { for_whom: EventConsumer::Plugins, ..after(name) }
}

/// The end of a turn, of a sub-agent or of the session.
const fn end(name: &'static str) -> Event {
    Event { name, gates: false, must: false, tools: false, for_whom: EventConsumer::Lens }
}

const fn session(name: &'static str) -> Event {
    Event { name, gates: false, must: false, tools: false, for_whom: EventConsumer::Gate }
}

/// How long agents wait for a verdict, in seconds. Toolgate's own limit is two seconds below.
pub const TIMEOUT: u64 = 10;

/// How long they wait for the check of changed files, in seconds. Toolgate's own limit is five seconds below.
const ADVICE: u64 = 30;

fn command(program: &str, agent: &str, event: &Event, more: &[String]) -> String {
    let words = std::iter::once(program.to_owned()).chain(arguments(program, agent, event, more));
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// An event at which nothing can be denied is named, so that a failure is no denial there: agents take that for an order to
/// go on. Behind a link every event is: where none is, the arguments were lost.
fn arguments(program: &str, agent: &str, event: &Event, more: &[String]) -> Vec<String> {
    let linked = program::is_link(program, agent);
    let hook = if linked { &[][..] } else { &["hook", agent] };
    let name = (linked || !event.gates || agent == COPILOT.name()).then_some(event.name);
    hook.iter().copied().chain(name).map(str::to_owned).chain(more.iter().cloned()).collect()
}

/// Without a shell, and a failure counts as no.
fn claude(program: &str, event: &Event, more: &[String]) -> Value {
    let arguments = arguments(program, "claude", event, more);
    let mut handler = json!({ "type": "command", "command": program, "args": arguments, "timeout": event.timeout() });
    if event.gates {
        handler["onFailure"] = "block".into();
    }
    handler
}

fn codex(program: &str, event: &Event, more: &[String]) -> Value {
    json!({ "type": "command", "command": command(program, "codex", event, more), "timeout": event.timeout() })
}

/// Its time limits are in milliseconds.
fn gemini(program: &str, event: &Event, more: &[String]) -> Value {
    let command = command(program, "gemini", event, more);
    json!({ "name": "toolgate", "type": "command", "command": command, "timeout": event.timeout() * 1000 })
}

/// Its payload has no event name, so that the arguments have it. VS Code reads its files as well, and of a handler only the text
/// for a shell; `exec` without one it skips without a word.
fn copilot(program: &str, event: &Event, more: &[String]) -> Value {
    let command = command(program, "copilot", event, more);
    json!({ "type": "command", "bash": command, "timeoutSec": event.timeout() })
}

fn droid(program: &str, event: &Event, more: &[String]) -> Value {
    json!({ "type": "command", "command": command(program, "droid", event, more), "timeout": event.timeout() })
}

fn cursor(program: &str, event: &Event, more: &[String]) -> Value {
    let mut handler = json!({ "command": command(program, "cursor", event, more), "timeout": event.timeout() });
    if event.gates {
        handler["failClosed"] = true.into();
    }
    handler
}

/// The form that most agents' files have, with these handlers and without events.
const fn usual(handler: fn(&str, &Event, &[String]) -> Value) -> Hooks {
    Hooks {
        under: Some("hooks"),
        groups: true,
        events: &[],
        handler,
        matcher: "*",
        fixed: None,
        keys: None,
        comments: false,
        timeout: ("timeout", 1),
    }
}

/// Claude Code.
pub static CLAUDE: AgentConfig = AgentConfig {
    dialect: &agent::claude::CLAUDE,
    program: "claude",
    base: Base { variable: Some("CLAUDE_CONFIG_DIR"), home: ".claude", inner: "" },
    file: ("settings.json", ".claude/settings.json"),
    also: (&["settings.local.json"], &[".claude/settings.local.json"]),
    way: HookMechanism::Hooks(Hooks {
        events: &[
            gate("PreToolUse"),
            after("PostToolUse"),
            failed("PostToolUseFailure"),
            permission("PermissionRequest"),
            session("SessionStart"),
            end("Stop"),
            end("SubagentStop"),
            end("SessionEnd"),
        ],
        ..usual(claude)
    }),
    left: ("", "people without Toolgate at that path cannot use Claude Code here"),
};

/// Codex CLI.
pub static CODEX: AgentConfig = AgentConfig {
    dialect: &agent::codex::Codex,
    program: "codex",
    base: Base { variable: Some("CODEX_HOME"), home: ".codex", inner: "" },
    file: ("hooks.json", ".codex/hooks.json"),
    also: (&["config.toml"], &[".codex/config.toml"]),
    way: HookMechanism::Hooks(Hooks {
        events: &[
            gate("PreToolUse"),
            // Text for a terminal that is open comes by no other one.
            second("PermissionRequest"),
            after("PostToolUse"),
            session("SessionStart"),
            end("Stop"),
        ],
        keys: Some(&["description", "hooks"]),
        ..usual(codex)
    }),
    left: (
        "Codex runs only hooks that you have trusted, and `codex exec` silently skips the others: start codex, type /hooks \
         and trust Toolgate's hooks, again after each change. Codex shows no hook the text that it types into a terminal \
         left open by a call: `unified_exec_tty = false` under [features] in its config.toml prevents that",
        "Codex reads a project's hooks only if the project is trusted, and reportedly skips them in `codex exec` \
         even then: --user is safer",
    ),
};

/// Gemini CLI.
pub static GEMINI: AgentConfig = AgentConfig {
    dialect: &agent::gemini::Gemini,
    program: "gemini",
    base: Base { variable: Some("GEMINI_CLI_HOME"), home: "", inner: ".gemini" },
    file: ("settings.json", ".gemini/settings.json"),
    also: (&[], &[]),
    way: HookMechanism::Hooks(Hooks {
        // Not the end of a turn: a program that is gone would make Gemini CLI go on for ever.
        events: &[gate("BeforeTool"), after("AfterTool"), session("SessionStart"), end("SessionEnd")],
        fixed: Some((&["hooksConfig", "enabled"], Fixed::True)),
        comments: true,
        timeout: ("timeout", 1000),
        ..usual(gemini)
    }),
    left: ("", "Gemini CLI may skip a project's settings in folders that you have not trusted"),
};

/// Copilot CLI.
pub static COPILOT: AgentConfig = AgentConfig {
    dialect: &agent::copilot::Copilot,
    program: "copilot",
    base: Base { variable: Some("COPILOT_HOME"), home: ".copilot", inner: "" },
    file: ("hooks/toolgate.json", ".github/hooks/toolgate.json"),
    also: (&[], &[]),
    way: HookMechanism::Hooks(Hooks {
        groups: false,
        events: &[
            gate("preToolUse"),
            after("postToolUse"),
            permission("permissionRequest"),
            session("sessionStart"),
            end("agentStop"),
            end("sessionEnd"),
        ],
        matcher: "",
        fixed: Some((&["version"], Fixed::Number(1))),
        timeout: ("timeoutSec", 1),
        ..usual(copilot)
    }),
    left: ("", "in a folder that you have not trusted, `copilot -p` silently skips a project's hooks: --user is safer"),
};

/// Factory Droid.
pub static DROID: AgentConfig = AgentConfig {
    dialect: &agent::droid::Droid,
    program: "droid",
    base: Base { variable: Some("FACTORY_HOME_OVERRIDE"), home: "", inner: ".factory" },
    file: ("hooks.json", ".factory/hooks.json"),
    also: (&["settings.json"], &[".factory/settings.json"]),
    way: HookMechanism::Hooks(Hooks {
        // Below a key `hooks` they would be left out without a word.
        under: None,
        events: &[
            gate("PreToolUse"),
            after("PostToolUse"),
            session("SessionStart"),
            end("Stop"),
            end("SubagentStop"),
            end("SessionEnd"),
        ],
        ..usual(droid)
    }),
    left: ("", ""),
};

/// Cursor.
pub static CURSOR: AgentConfig = AgentConfig {
    dialect: &agent::cursor::CURSOR,
    program: "cursor-agent",
    base: Base { variable: None, home: ".cursor", inner: "" },
    file: ("hooks.json", ".cursor/hooks.json"),
    also: (&[], &[]),
    way: HookMechanism::Hooks(Hooks {
        groups: false,
        // Only `preToolUse` hears of writes, and only newer versions have it; where it is, an `ask` is said to count
        // in the events of their own only. So shell, MCP and reading are judged twice, rather than not at all.
        events: &[
            gate("preToolUse"),
            gate("beforeShellExecution"),
            gate("beforeMCPExecution"),
            gate("beforeReadFile"),
            after("postToolUse"),
            session("sessionStart"),
            end("stop"),
            end("subagentStop"),
            end("sessionEnd"),
        ],
        matcher: "",
        fixed: Some((&["version"], Fixed::Number(1))),
        ..usual(cursor)
    }),
    left: (
        "Cursor support is experimental: it follows Cursor's documentation and was not tested with Cursor itself",
        "",
    ),
};

/// pi.
pub static PI: AgentConfig = AgentConfig {
    dialect: &agent::pi::Pi,
    program: "pi",
    base: Base { variable: Some("PI_CODING_AGENT_DIR"), home: ".pi/agent", inner: "" },
    file: ("extensions/toolgate.ts", ".pi/extensions/toolgate.ts"),
    also: (&[], &[]),
    way: HookMechanism::Shim(shim::PI),
    left: ("", "pi loads a project's extensions only if you trust the project: --user is safer"),
};

/// `OpenCode`.
pub static OPENCODE: AgentConfig = AgentConfig {
    dialect: &agent::opencode::OpenCode,
    program: "opencode",
    base: Base { variable: Some("XDG_CONFIG_HOME"), home: ".config", inner: "opencode" },
    file: ("plugins/toolgate.js", ".opencode/plugins/toolgate.js"),
    also: (&[], &[]),
    way: HookMechanism::Shim(shim::OPENCODE),
    left: ("", ""),
};

impl AgentConfig {
    /// As commands name it.
    pub fn name(&self) -> &'static str {
        self.dialect.name()
    }

    /// As people name it.
    pub fn title(&self) -> &'static str {
        self.dialect.title()
    }

    /// The user's folder for this agent.
    ///
    /// # Errors
    /// If the home folder is unknown, or a variable names no absolute path.
    pub fn folder(&self) -> Result<PathBuf, Failure> {
        let said =
            self.base.variable.and_then(|name| Some((name, std::env::var_os(name).filter(|it| !it.is_empty())?)));
        let outer = match said {
            Some((_, path)) if Path::new(&path).is_absolute() => PathBuf::from(path),
            Some((name, _)) => {
                return Err(Failure::new(
                    exit::USAGE,
                    format!("{name} is not an absolute path, so the folder is ambiguous"),
                ));
            }
            None => {
                let home = dirs::home().ok_or_else(|| {
                    Failure::new(
                        exit::NO_INPUT,
                        "the home folder is unknown; set HOME to an absolute path, or use --project",
                    )
                })?;
                Path::new(&home).join(self.base.home)
            }
        };
        Ok(if self.base.inner.is_empty() { outer } else { outer.join(self.base.inner) })
    }

    /// Whether a variable says where that is.
    pub fn is_moved(&self) -> bool {
        self.base.variable.is_some_and(|name| std::env::var_os(name).is_some_and(|path| !path.is_empty()))
    }

    /// The file that makes the agent call Toolgate.
    ///
    /// # Errors
    /// As for [`AgentConfig::folder`]; and if there is no project here.
    pub fn file(&self, scope: Scope) -> Result<PathBuf, Failure> {
        Ok(match scope {
            Scope::User => self.folder()?.join(self.file.0),
            Scope::Project => project()?.join(self.file.1),
        })
    }

    /// Other files in which it may be told to.
    pub fn other_files(&self, scope: Scope) -> Vec<PathBuf> {
        let (folder, names) = match scope {
            Scope::User => (self.folder().ok(), self.also.0),
            Scope::Project => (project().ok(), self.also.1),
        };
        folder.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).collect()
    }
}

/// The variables that say where agents have their files.
pub fn variables() -> impl Iterator<Item = &'static &'static str> {
    AGENTS.iter().filter_map(|known| known.base.variable.as_ref())
}

/// The files by which agents are made to call Toolgate, where a variable says that they are not in their usual places.
pub fn moved() -> Vec<PathBuf> {
    let moved = AGENTS.iter().filter(|known| known.base.variable.is_some_and(|name| std::env::var_os(name).is_some()));
    moved.flat_map(|known| known.file(Scope::User).into_iter().chain(known.other_files(Scope::User))).collect()
}

/// The files that may have an agent ask Toolgate.
pub struct Carrier {
    /// The user's own.
    pub user: Vec<PathBuf>,
    /// Those of a project.
    pub project: Vec<PathBuf>,
}

/// The files that may have the agent of this name ask Toolgate, for the user and for a project with this root. `None` if there
/// is no such agent, or the user's folder for it is not known.
pub fn carrier(agent: &str, root: &Path) -> Option<Carrier> {
    let known = AGENTS.iter().find(|known| known.name() == agent)?;
    let folder = known.folder().ok()?;
    let below = |folder: &Path, file: &str, also: &[&str]| -> Vec<PathBuf> {
        [file].iter().chain(also).map(|name| folder.join(name)).collect()
    };
    Some(Carrier { user: below(&folder, known.file.0, known.also.0), project: below(root, known.file.1, known.also.1) })
}

/// What people call the agent of this name.
pub fn title(agent: &str) -> &str {
    AGENTS.iter().find(|known| known.name() == agent).map_or(agent, |known| known.title())
}

/// Where such files really are, for the user and for a project with this root, if they are links or in a linked folder: whoever
/// changes what a link leads to changes what the agent reads.
pub fn behind_links(root: &Path) -> Vec<PathBuf> {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let real = |(folder, name): (PathBuf, &str)| {
        let file = folder.join(name);
        // Folders between the two, as in `.claude/settings.json`.
        let inner = file.ancestors().take_while(|path| *path != folder && path.starts_with(&folder)).any(is_link);
        (inner || is_link(&folder)).then(|| file.canonicalize().ok()).flatten()
    };
    let user = AGENTS.iter().filter_map(|known| Some((known.folder().ok()?, known.file.0, known.also.0)));
    let project = AGENTS.iter().map(|known| (root.to_path_buf(), known.file.1, known.also.1));
    let named = user.chain(project).flat_map(|(folder, file, also)| {
        [&file].into_iter().chain(also).map(move |name| (folder.clone(), *name)).collect::<Vec<_>>()
    });
    named.filter_map(real).collect()
}

/// The root of the project that the current folder is in.
///
/// # Errors
/// If it is the home folder, where a project's file would be the user's.
pub fn project() -> Result<PathBuf, Failure> {
    let root = dirs::project_root(Path::new(&dirs::folder(None)?));
    let same =
        |home: String| Path::new(&home) == root || Path::new(&home).canonicalize().is_ok_and(|home| home == root);
    if dirs::home().is_some_and(same) {
        let message = "the current folder is in no project, only in your home folder; use --user";
        return Err(Failure::new(exit::USAGE, message));
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use toolgate_host::ToolKind;

    use super::super::hook_disablers::{HookDisabler, SettingsFile};
    use super::super::hook_failures;
    use super::*;
    use crate::agent::{Answer, EventPayload, HookKind, ParsedAnswer, Payload, Trial};

    /// The keys of the payload before a shell call, as the agents send it.
    #[rustfmt::skip]
    const SENT: &[(&str, &str, &str)] = &[
        ("claude", "PreToolUse", "cwd effort.level hook_event_name permission_mode prompt_id session_id tool_input.command tool_input.description tool_name tool_use_id transcript_path"),
        ("codex", "PreToolUse", "cwd hook_event_name model permission_mode session_id tool_input.command tool_name tool_use_id transcript_path turn_id"),
        ("copilot", "preToolUse", "cwd sessionId timestamp toolArgs.command toolArgs.description toolName"),
        ("cursor", "beforeShellExecution", "command conversation_id cursor_version cwd generation_id hook_event_name model workspace_roots"),
        ("cursor", "preToolUse", "conversation_id cursor_version cwd generation_id hook_event_name model tool_input.command tool_name workspace_roots"),
        ("droid", "PreToolUse", "cwd hook_event_name permission_mode session_id tool_input.command tool_input.riskLevel tool_input.riskLevelReason tool_input.summary tool_name transcript_path"),
        ("gemini", "BeforeTool", "cwd hook_event_name session_id timestamp tool_input.command tool_input.description tool_name transcript_path"),
        ("opencode", "tool.execute.before", "directory input.callID input.sessionID input.tool output.args.command output.args.description worktree"),
        ("pi", "tool_call", "cwd event.input.command event.toolCallId event.toolName event.type hasUI mode session"),
    ];

    fn keys(at: &str, value: &Value) -> Vec<String> {
        match value {
            Value::Object(fields) => {
                fields.iter().flat_map(|(key, value)| keys(&format!("{at}.{key}"), value)).collect()
            }
            _ => vec![at.trim_start_matches('.').to_owned()],
        }
    }

    #[test]
    fn an_agents_trial_is_what_the_agent_sends() {
        let mut left = SENT.to_vec();
        for known in AGENTS {
            let name = known.name();
            for event in known.dialect.trials() {
                let payload = known.dialect.trial(&Trial { event, command: "true", cwd: "/work" });
                let mut found = keys("", &payload);
                found.sort();
                let at = left.iter().position(|(agent, of, _)| (agent, of) == (&name, event)).expect("a row");
                assert_eq!(found.join(" "), left.remove(at).2, "{name} {event}");
                let read = known.dialect.decode(Some(event), &Payload::new(&payload, &|_| None)).expect("it is read");
                let EventPayload::Call { call, .. } = read.about else { panic!("{name} {event} is about no call") };
                let command = call.command.map(|command| command.value);
                assert_eq!((command.as_deref(), call.kind), (Some("true"), ToolKind::Shell), "{name} {event}");
                assert_eq!((call.cwd.as_str(), read.moment.when), ("/work", HookKind::Before), "{name} {event}");
            }
        }
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn what_is_said_to_an_agent_is_what_it_hears() {
        let agents = AGENTS.iter().map(|known| known.dialect);
        for agent in agents {
            for event in agent.trials() {
                let moment = agent.unreadable(Some(event));
                let heard = |answer: &Answer| agent.parse_answer(event, &agent.encode(&moment, answer, None));
                let (name, why) = (agent.name(), || "why".to_owned());
                assert_eq!(heard(&Answer::Deny(why())), Ok(ParsedAnswer::Deny(why())), "{name} {event}");
                assert_eq!(heard(&Answer::Nothing), Ok(ParsedAnswer::Nothing), "{name} {event}");
                assert_eq!(
                    heard(&Answer::Rewrite(json!({ "command": "" }))),
                    Ok(ParsedAnswer::Other),
                    "{name} {event}"
                );
            }
        }
    }

    #[test]
    fn events_are_what_their_dialects_take_them_for() {
        for known in AGENTS {
            let HookMechanism::Hooks(hooks) = &known.way else { continue };
            for event in hooks.events {
                let when = known.dialect.unreadable(Some(event.name)).when;
                assert!(when != HookKind::Unknown, "{} {}", known.name(), event.name);
                assert_eq!(event.gates, when.gates(), "{} {}", known.name(), event.name);
            }
        }
    }

    #[test]
    fn answers_are_read_as_each_agent_reads_them() {
        let decision = |more: &str, event: &str, decision: &str, reason: &str| {
            format!(
                r#"{{{more}"hookSpecificOutput":{{"hookEventName":"{event}","permissionDecision":"{decision}","permissionDecisionReason":"{reason}"}}}}"#
            )
        };
        let pre = |word: &str| decision("", "PreToolUse", word, "no");
        let (deny, ask) = (|| Some(ParsedAnswer::Deny("no".to_owned())), || Some(ParsedAnswer::Ask("no".to_owned())));
        let more = || decision(r#""continue":false,"#, "PreToolUse", "deny", "no");
        let inner = pre("deny").replace("permissionDecisionReason", "reason");
        let flat = |decision: &str, reason: &str| format!(r#"{{"{decision}":"deny","{reason}":"no"}}"#);
        let cases = [
            ("claude", pre("deny"), deny()),
            ("claude", pre("ask"), ask()),
            ("claude", pre("allow"), Some(ParsedAnswer::Other)),
            ("claude", pre("block"), Some(ParsedAnswer::Other)),
            ("claude", more(), deny()),
            ("claude", decision("", "PostToolUse", "deny", "no"), None),
            ("claude", decision("", "PreToolUse", "deny", ""), None),
            ("claude", r#"{"permissionDecision":"deny"}"#.to_owned(), Some(ParsedAnswer::Other)),
            ("claude", "no".to_owned(), None),
            ("claude", "[]".to_owned(), None),
            ("claude", " \n".to_owned(), Some(ParsedAnswer::Nothing)),
            ("codex", pre("deny"), deny()),
            ("codex", more(), None),
            ("codex", inner, None),
            ("codex", decision(r#""systemMessage":"x","#, "PreToolUse", "deny", "no"), deny()),
            ("codex", decision("", "PreToolUse", "deny", ""), None),
            ("droid", pre("deny"), deny()),
            ("droid", decision("", "BeforeTool", "deny", "no"), None),
            ("gemini", pre("deny"), Some(ParsedAnswer::Other)),
            ("gemini", flat("decision", "reason"), deny()),
            ("gemini", flat("decision", "reason").replace("deny", "block"), deny()),
            ("gemini", flat("decision", "why"), None),
            ("copilot", flat("permissionDecision", "permissionDecisionReason"), deny()),
            ("copilot", pre("deny"), Some(ParsedAnswer::Other)),
            ("cursor", flat("permission", "agent_message"), deny()),
            ("cursor", "{}".to_owned(), Some(ParsedAnswer::Nothing)),
            ("cursor", String::new(), None),
            ("pi", r#"{"block":true,"reason":"no"}"#.to_owned(), deny()),
            ("pi", r#"{"block":"true"}"#.to_owned(), Some(ParsedAnswer::Other)),
            ("opencode", "null".to_owned(), None),
        ];
        for (agent, answer, expected) in cases {
            let known = AGENTS.iter().find(|known| known.name() == agent).expect("an agent");
            let event = known.dialect.trials()[0];
            assert_eq!(known.dialect.parse_answer(event, &answer).ok(), expected, "{agent} {answer}");
        }
    }

    /// The paths of a file, as rules spell them.
    fn spelled(known: &AgentConfig, file: &SettingsFile) -> Vec<String> {
        let user = |name: &str| {
            let parts = ["~", known.base.home, known.base.inner, name].into_iter();
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
        };
        match file {
            SettingsFile::User(name) => vec![user(name)],
            SettingsFile::Project(name) => vec![(*name).to_owned()],
            SettingsFile::System(name) => vec![format!("/{}", name.trim_end_matches('/'))],
            SettingsFile::Named(_, usual) => spelled(known, usual),
            SettingsFile::Beside(other, name) => {
                let folder = |path: &str| path.rsplit_once('/').expect("a folder").0.to_owned();
                spelled(known, other).iter().map(|path| format!("{}/{name}", folder(path))).collect()
            }
            SettingsFile::Own => vec![user(known.file.0), known.file.1.to_owned()],
        }
    }

    /// Whoever calls one of these speaks to the gate in an agent's place.
    #[test]
    fn the_gate_keeps_agents_from_their_own_links() {
        const PACK: &str = include_str!("../../../../guest/rules/src/packs/self.yaml");
        let names = |line: &str| line.split([',', ' ', '[', ']']).map(str::to_owned).collect::<Vec<_>>();
        let (_, rule) = PACK.split_once("- name: self-hook-link\n").expect("a rule");
        let line = rule.lines().find(|line| line.trim_start().starts_with("program:")).expect("its programs");
        for link in super::super::link::beside(Path::new("/usr/local/bin/toolgate")) {
            let name = link.file_name().expect("a name").to_str().expect("UTF-8");
            assert!(names(line).iter().any(|known| known == name), "{name}: {line}");
        }
    }

    /// Whoever may write one of these can have an agent leave the gate out.
    #[test]
    fn the_gate_keeps_every_file_that_switches_hooks_off() {
        const PACK: &str = include_str!("../../../../guest/rules/src/packs/self.yaml");
        let (_, list) = PACK.split_once("\nreadOnlyPaths:\n").expect("a list");
        let kept: Vec<&str> = list.lines().map_while(|line| line.strip_prefix("  - ")).collect();
        let covers = |rule: &str, path: &str| {
            let (rule, path) = (format!("/{}/", rule.trim_end_matches('/')), format!("/{path}/"));
            // A place at the root or in the home folder is one, any other name may be at any depth.
            let one = rule.starts_with("/~") || rule.starts_with("//");
            if one { path.starts_with(&rule) } else { path.contains(&rule) }
        };
        let files = |off: &'static HookDisabler| -> &'static [SettingsFile] {
            match off {
                HookDisabler::Any(files, ..) | HookDisabler::Last(files, ..) => files,
                HookDisabler::Variable(_) | HookDisabler::ForProjects(_) => &[],
            }
        };
        // What says that an agent trusts a folder, as `folder` reads it.
        let trusting = ["~/.gemini/trustedFolders.json", "~/.copilot/config.json", "~/.pi/agent/trust.json"];
        let mut paths = trusting.map(str::to_owned).to_vec();
        for known in AGENTS {
            let (users, projects) = known.also;
            paths.extend(users.iter().flat_map(|name| spelled(known, &SettingsFile::User(name))));
            paths.extend(projects.iter().flat_map(|name| spelled(known, &SettingsFile::Project(name))));
            let off = hook_failures::of(known).off.iter().flat_map(files);
            paths.extend(off.chain([&SettingsFile::Own]).flat_map(|file| spelled(known, file)));
        }
        assert!(paths.len() > 30, "{paths:?}");
        paths.retain(|path| !kept.iter().any(|rule| covers(rule, path)));
        assert!(paths.is_empty(), "{paths:?}");
    }
}
