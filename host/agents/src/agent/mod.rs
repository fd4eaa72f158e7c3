//! The agents' dialects: one file per agent, each a table of its tools, a decoder of its payloads and an encoder of the
//! answers that it understands.
//!
//! | Module | Agent | How it is reached |
//! |---|---|---|
//! | `claude` | Claude Code | `toolgate hook claude` |
//! | `codex` | Codex CLI | `toolgate hook codex` |
//! | `copilot` | Copilot CLI | `toolgate hook copilot EVENT` |
//! | `cursor` | Cursor | `toolgate hook cursor` |
//! | `droid` | Factory Droid | `toolgate hook droid` |
//! | `gemini` | Gemini CLI | `toolgate hook gemini` |
//! | `grok` | Grok CLI | by the hooks of others, which it runs |
//! | `mcp` | any client of the Model Context Protocol | `toolgate mcp`, by the tools that it offers |
//! | `opencode` | OpenCode | `toolgate serve --stdio opencode`, by a plugin |
//! | `pi` | pi | `toolgate serve --stdio pi`, by an extension |
//! | `vscode` | Copilot in VS Code | by the hooks of others, which it runs |
//!
//! Here is what they share: the events and answers between a dialect and the rest. A tool's input is read by its row in a
//! table (`row`), the user's own rows (`tools`) included, and that of a tool that is in none by what it looks like
//! (`unknown`); where its shell is, and by which names, is in `folder`. No dialect knows another one:
//! an answer that one agent takes for a denial makes another one run the call. Whose payload it is that a hook gets is told
//! by the payload (`caller`), whatever agent the hook is installed for.

mod caller;
pub mod claude;
pub(crate) mod codex;
pub mod copilot;
pub mod cursor;
pub(crate) mod droid;
pub mod folder;
pub(crate) mod gemini;
pub mod grok;
pub mod mcp;
pub(crate) mod opencode;
mod payload;
pub mod pi;
mod reading;
mod row;
mod tools;
mod unknown;
pub mod vscode;

use std::panic::RefUnwindSafe;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_host::{End, Session, ToolCall, ToolResult, Update, Verdict};

use crate::{dirs, text};
pub use caller::{caller, event as event_of};
pub use payload::Payload;
pub use reading::read;
use row::{Row, Tool, decoded};
pub use tools::UserTools;

/// How one agent speaks.
pub trait Dialect: Send + Sync + RefUnwindSafe {
    /// As in `toolgate hook AGENT`.
    fn name(&self) -> &'static str;

    /// As people name it.
    fn title(&self) -> &'static str;

    /// The agent's tools.
    fn tools(&self) -> &'static [Tool];

    /// Whether a payload has marks that only this agent's payloads have, by the keys of the payload itself.
    fn is_sender(&self, _payload: &Value) -> bool {
        false
    }

    /// Whether the agent is known to understand these answers. If not, a denial is said by the exit code and on standard error
    /// as well.
    fn is_understood(&self) -> bool {
        true
    }

    /// Reads a payload. `event` is the event's name, where the command line says it. An error is a reason not to run
    /// whatever was asked about.
    fn decode(&self, event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String>;

    /// Says an answer, as one JSON object; empty for nothing at all. `message` is shown to the user, where the agent
    /// can do that.
    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String;

    /// What a path may be taken for besides what is written.
    fn readings(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }

    /// The file name patterns that a tool takes a text for.
    fn patterns(&self, _tool: &str, text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    /// Whether it says of every tool that it has ended, besides what came of it.
    fn tells_ends(&self) -> bool {
        false
    }

    /// Whether its user sees the message that a call passes with.
    fn shows_messages(&self) -> bool {
        true
    }

    /// Whether it says of calls that failed what came of them, or at least that they did.
    fn tells_failures(&self) -> bool {
        true
    }

    /// The moment that a payload is about which cannot be read: one at which a denial is understood, unless the event
    /// is known to be another.
    fn unreadable(&self, event: Option<&str>) -> HookEvent;

    /// The events before a shell call.
    fn trials(&self) -> &'static [&'static str];

    /// The payload of a shell call, as the agent sends it.
    fn trial(&self, trial: &Trial<'_>) -> Value;

    /// Reads an answer to such an event by the agent's rules. The error says why the agent takes it for none, and runs the
    /// call.
    fn parse_answer(&self, event: &str, answer: &str) -> Result<ParsedAnswer, String>;
}

/// A shell call that is judged and never run: what `toolgate doctor` asks about.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// One of the dialect's.
    pub event: &'a str,
    /// The command.
    pub command: &'a str,
    /// Where the agent is.
    pub cwd: &'a str,
}

/// The session, the turn and the call of a trial.
const TRIAL: &str = "toolgate-doctor";

/// What an answer says to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedAnswer {
    /// No opinion.
    Nothing,
    /// The call does not run, and why.
    Deny(String),
    /// The user is to be asked this.
    Ask(String),
    /// Anything else that the agent understands.
    Other,
}

/// Every agent with a hook that is a program.
pub static HOOKS: &[&dyn Dialect] = &[
    &claude::CLAUDE,
    &codex::Codex,
    &copilot::Copilot,
    &cursor::CURSOR,
    &droid::Droid,
    &gemini::Gemini,
    &grok::Grok,
    &vscode::VsCode,
];

/// Every agent with a shim in its own process.
pub const SHIMS: &[&dyn Dialect] = &[&opencode::OpenCode, &pi::Pi];

/// The agents that have no other name here than the protocol that they speak.
const CLIENTS: &[&dyn Dialect] = &[&mcp::Mcp];

/// Every agent.
pub fn all() -> impl Iterator<Item = &'static dyn Dialect> {
    HOOKS.iter().chain(SHIMS).chain(CLIENTS).copied()
}

/// The agent with this name.
pub fn named(name: &str) -> Option<&'static dyn Dialect> {
    all().find(|agent| agent.name() == name)
}

/// When an agent asks, and what its event is called: some answers have to repeat that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    /// Which moment it is.
    pub when: HookKind,
    /// What the agent calls its event.
    pub name: String,
}

/// The moments that the contract knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// A session starts.
    SessionStart,
    /// A session has ended.
    SessionEnd,
    /// A tool is about to run.
    Before,
    /// The agent is about to ask its user.
    Permission,
    /// A tool has run.
    After,
    /// A tool is running.
    Update,
    /// The agent has finished its turn.
    TurnEnd,
    /// A sub-agent has finished its work.
    SubagentEnd,
    /// Nothing that Toolgate knows.
    Unknown,
}

impl HookKind {
    /// Whether a denial is understood.
    pub fn gates(self) -> bool {
        matches!(self, HookKind::Before | HookKind::Permission)
    }
}

/// What a payload says.
#[derive(Debug)]
pub struct Event {
    /// When the agent asks.
    pub moment: HookEvent,
    /// The session that it is of.
    pub scene: SessionContext,
    /// What it is about.
    pub about: EventPayload,
}

/// What an event is about.
#[derive(Debug)]
pub enum EventPayload {
    /// Nothing that anybody wants to know.
    Nothing,
    /// A session that starts, for this reason.
    Start(String),
    /// A session that has ended, for this reason.
    Over(String),
    /// A turn that has ended.
    Turn {
        /// Whether the agent was sent on in it already.
        again: bool,
    },
    /// A tool that is running.
    Update(Box<Update>),
    /// A tool, or a sub-agent, that has ended.
    End(Box<End>),
    /// A call that is about to run.
    Call {
        /// The call.
        call: Box<ToolCall>,
        /// How a question gets to a person.
        asks: Asks,
    },
    /// A call that has run.
    Result(Box<ToolResult>),
}

/// How a question gets to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// The agent puts it to its user.
    Agent,
    /// The same, when it sends the call once more, which it does before it runs it.
    AgentLater,
    /// The host puts it to the user through the agent's own dialogs.
    Host,
    /// Not at all.
    Nobody,
}

/// The session that an event is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionContext {
    /// The agent's own name for it; empty if it gives none.
    pub session: String,
    /// Where the agent is.
    pub cwd: String,
    /// The folder that it was started for.
    pub root: String,
    /// Whether that is only a guess by what is in the folders.
    pub guessed: bool,
    /// What the agent's own `PWD` says, if there are links in it.
    pub pwd: Option<String>,
}

impl SessionContext {
    /// The session as components are told of it, in this folder.
    pub fn session_in(&self, folder: &str) -> Session {
        Session::in_folder(folder).with_home(dirs::home()).with_workspace_root(&self.root)
    }
}

/// Whose session it is.
#[derive(Clone, Copy)]
pub struct SessionRef<'a> {
    /// The agent.
    pub agent: &'static dyn Dialect,
    /// The session.
    pub scene: &'a SessionContext,
}

impl Event {
    /// One that nothing is said about.
    fn unknown(moment: HookEvent) -> Self {
        Event { moment, scene: SessionContext::default(), about: EventPayload::Nothing }
    }
}

/// An answer as its text, with what the user is to see under the key that several agents have for that. Nothing in it is
/// no text at all.
fn with_message(mut said: Value, message: Option<&str>) -> String {
    if let Some(message) = message {
        said["systemMessage"] = message.into();
    }
    if said.as_object().is_some_and(serde_json::Map::is_empty) { String::new() } else { said.to_string() }
}

/// What an agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No opinion.
    Nothing,
    /// The call does not run, and why.
    Deny(String),
    /// The agent is to ask its user this.
    Ask(String),
    /// The call runs with this input, a JSON object.
    Rewrite(Value),
    /// A text for the agent.
    Add(String),
}

/// Characters of what matched that a reason has.
const MATCHED: usize = 1_000;

/// The reason as agents and people read it: what matched, by which rule.
pub fn reason_text(verdict: &Verdict, reason: &str) -> String {
    let first = verdict.findings.first();
    let rule = first.map(|finding| format!(" (rule {})", text::whole(&finding.rule, text::LINE))).unwrap_or_default();
    let mut words: Vec<&str> = Vec::new();
    for one in first.iter().flat_map(|finding| &finding.evidence).map(|one| one.text.as_str()) {
        if !one.is_empty() && !words.contains(&one) {
            words.push(one);
        }
    }
    let words = match words.join(", ") {
        words if words.is_empty() => words,
        words => format!(" Matched: {}", text::whole(&words, MATCHED)),
    };
    // Nothing is so long that what stands behind it is out of sight.
    format!("{}{rule}.{words}", text::whole(reason, text::REASON))
}

/// What is known of a call: another directory that it may work in.
pub const OTHER_CWD: &str = "other_cwd";

/// The same of several, in which an agent that reads the name of a directory otherwise would run it.
const OTHER_CWDS: &str = "other_cwds";

/// The other directories that a call may work in, as its input names them.
fn other_cwds(call: &ToolCall) -> Vec<String> {
    Notes::of(call).other_cwds()
}

/// Adds something to what is known of a call.
pub fn note(call: &mut ToolCall, key: &str, value: Value) {
    let mut notes = Notes::of(call);
    notes.set(key, Some(value));
    notes.write_to(call);
}

/// What is known of a call, read once: its context may have a whole analysis in it.
#[derive(Clone, Debug)]
pub struct Notes(Value);

impl Notes {
    /// Those of a call.
    pub fn of(call: &ToolCall) -> Self {
        Notes(serde_json::from_str(&call.context).unwrap_or_default())
    }

    /// One of them.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Adds one, or takes it out.
    pub fn set(&mut self, key: &str, value: Option<Value>) {
        let Some(context) = self.0.as_object_mut() else { return };
        match value {
            Some(value) => drop(context.insert(key.to_owned(), value)),
            None => drop(context.remove(key)),
        }
    }

    /// Makes them what is known of a call. A context that is no object stays as it is.
    pub fn write_to(&self, call: &mut ToolCall) {
        if self.0.is_object() {
            call.context = self.0.to_string();
        }
    }

    /// The other directories that the call may work in, as its input names them.
    fn other_cwds(&self) -> Vec<String> {
        let one = self.get(OTHER_CWD).into_iter();
        let all = one.chain(self.get(OTHER_CWDS).and_then(Value::as_array).into_iter().flatten());
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

/// A text that is about to be typed into a shell, as a call of the agent's.
pub fn typed(agent: &dyn Dialect, scene: &SessionContext, id: &str, line: &str) -> Result<ToolCall, String> {
    payload::call(agent, scene, (id, ""), "bash", &json!({ "command": line }))
}
