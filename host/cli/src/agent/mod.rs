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
//! | `mcp` | any client of the Model Context Protocol | `toolgate mcp`, by the tools that it offers |
//! | `opencode` | OpenCode | `toolgate serve --stdio opencode`, by a plugin |
//! | `pi` | pi | `toolgate serve --stdio pi`, by an extension |
//!
//! Here is what they share: the events and answers between a dialect and the rest, and reading a tool's input by its
//! row in a table, the user's own rows and the row for tools that are in none included. No dialect knows another one:
//! an answer that one agent takes for a denial makes another one run the call.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod cursor;
pub(crate) mod droid;
pub(crate) mod gemini;
pub(crate) mod mcp;
pub(crate) mod opencode;
mod payload;
pub(crate) mod pi;
mod tools;

use std::panic::RefUnwindSafe;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_host::{End, Field, ToolCall, ToolKind, ToolResult, Update, Verdict};

use crate::{place, show};
pub(crate) use payload::Payload;
pub(crate) use tools::UserTools;

/// How one agent speaks.
pub(crate) trait Dialect: Send + Sync + RefUnwindSafe {
    /// As in `toolgate hook AGENT`.
    fn name(&self) -> &'static str;

    /// As people name it.
    fn title(&self) -> &'static str;

    /// The agent's tools.
    fn tools(&self) -> &'static [Tool];

    /// Reads a payload. `event` is the event's name, where the command line says it. An error is a reason not to run
    /// whatever was asked about.
    fn decode(&self, event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String>;

    /// Says an answer, as one JSON object; empty for nothing at all. `message` is shown to the user, where the agent
    /// can do that.
    fn encode(&self, moment: &Moment, answer: &Answer, message: Option<&str>) -> String;

    /// What a path may be taken for besides what is written.
    fn readings(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }

    /// Whether it says of every tool that it has ended, besides what came of it.
    fn tells_ends(&self) -> bool {
        false
    }

    /// Whether it says of calls that failed what came of them, or at least that they did.
    fn tells_failures(&self) -> bool {
        true
    }

    /// The moment that a payload is about which cannot be read: one at which a denial is understood, unless the event
    /// is known to be another.
    fn unreadable(&self, event: Option<&str>) -> Moment;

    /// The events before a shell call.
    fn trials(&self) -> &'static [&'static str];

    /// The payload of a shell call, as the agent sends it.
    fn trial(&self, trial: &Trial<'_>) -> Value;

    /// Reads an answer to such an event by the agent's rules. The error says why the agent takes it for none, and runs the
    /// call.
    fn said(&self, event: &str, answer: &str) -> Result<Said, String>;
}

/// A shell call that is judged and never run: what `toolgate doctor` asks about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial<'a> {
    /// One of the dialect's.
    pub(crate) event: &'a str,
    pub(crate) command: &'a str,
    pub(crate) cwd: &'a str,
}

/// The session, the turn and the call of a trial.
const TRIAL: &str = "toolgate-doctor";

/// What an answer says to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
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
pub(crate) const HOOKS: &[&dyn Dialect] =
    &[&claude::Claude, &codex::Codex, &copilot::Copilot, &cursor::Cursor, &droid::Droid, &gemini::Gemini];

/// Every agent with a shim in its own process.
pub(crate) const SHIMS: &[&dyn Dialect] = &[&opencode::OpenCode, &pi::Pi];

/// The agents that have no other name here than the protocol that they speak.
const CLIENTS: &[&dyn Dialect] = &[&mcp::Mcp];

/// Every agent.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn Dialect> {
    HOOKS.iter().chain(SHIMS).chain(CLIENTS).copied()
}

/// The agent with this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Dialect> {
    all().find(|agent| agent.name() == name)
}

/// When an agent asks, and what its event is called: some answers have to repeat that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) when: When,
    pub(crate) name: String,
}

/// The moments that the contract knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    SessionStart,
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

impl When {
    /// Whether a denial is understood.
    pub(crate) fn gates(self) -> bool {
        matches!(self, When::Before | When::Permission)
    }
}

/// What a payload says.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) moment: Moment,
    pub(crate) scene: Scene,
    pub(crate) about: About,
}

/// What an event is about.
#[derive(Debug)]
pub(crate) enum About {
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
        call: Box<ToolCall>,
        /// How a question gets to a person.
        asks: Asks,
    },
    /// A call that has run.
    Result(Box<ToolResult>),
}

/// How a question gets to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The agent puts it to its user.
    Agent,
    /// The host puts it to the user through the agent's own dialogs.
    Host,
    /// Not at all.
    Nobody,
}

/// The session that an event is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scene {
    /// The agent's own name for it; empty if it gives none.
    pub(crate) session: String,
    /// Where the agent is.
    pub(crate) cwd: String,
    /// The folder that it was started for.
    pub(crate) root: String,
    /// Whether that is only a guess by what is in the folders.
    pub(crate) guessed: bool,
}

/// Whose session it is.
#[derive(Clone, Copy)]
pub(crate) struct Whose<'a> {
    pub(crate) agent: &'static dyn Dialect,
    pub(crate) scene: &'a Scene,
}

impl Event {
    /// One that nothing is said about.
    fn unknown(moment: Moment) -> Self {
        Event { moment, scene: Scene::default(), about: About::Nothing }
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
pub(crate) enum Answer {
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

/// What an agent's tool works on, by the keys of its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) row: Row<'static>,
}

/// The keys of a tool's input, by what they hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) kind: ToolKind,
    /// A shell command, or the patch of a tool that edits. One of these has to be there; all that are there are judged.
    pub(crate) command: &'a [&'a str],
    /// Paths that have to be there.
    pub(crate) required: &'a [&'a str],
    /// Paths that may be there.
    pub(crate) paths: &'a [&'a str],
    /// File name patterns that may be there.
    pub(crate) globs: &'a [&'a str],
    /// The directory that the call works in, instead of the agent's: the first of these that is there.
    pub(crate) cwd: &'a [&'a str],
    /// A directory that it may work in, where no run has shown that the agent does what such a key says: the call is judged
    /// in both.
    pub(crate) other_cwd: &'a [&'a str],
}

impl Row<'static> {
    /// Nothing in it.
    const fn of(kind: ToolKind) -> Self {
        Row { kind, command: &[], required: &[], paths: &[], globs: &[], cwd: &[], other_cwd: &[] }
    }
}

impl Tool {
    /// Runs a shell text.
    const fn shell(name: &'static str, cwd: &'static [&'static str]) -> Self {
        Tool { name, row: Row { command: &["command", "cmd"], cwd, ..Row::of(ToolKind::Shell) } }
    }

    /// Works on one file.
    const fn file(name: &'static str, kind: ToolKind, required: &'static [&'static str]) -> Self {
        Tool { name, row: Row { required, ..Row::of(kind) } }
    }

    /// Looks through a folder.
    const fn look(
        name: &'static str,
        kind: ToolKind,
        paths: &'static [&'static str],
        globs: &'static [&'static str],
    ) -> Self {
        Tool { name, row: Row { paths, globs, ..Row::of(kind) } }
    }

    /// Changes files by a patch that names them.
    const fn patch(name: &'static str, command: &'static [&'static str]) -> Self {
        Tool { name, row: Row { command, ..Row::of(ToolKind::Edit) } }
    }

    /// Fetches a document.
    const fn fetch(name: &'static str, paths: &'static [&'static str]) -> Self {
        Tool { name, row: Row { paths, ..Row::of(ToolKind::Fetch) } }
    }

    /// Does something that no path is in.
    const fn other(name: &'static str, kind: ToolKind) -> Self {
        Tool { name, row: Row::of(kind) }
    }
}

/// Keys of an unknown tool's input that hold a shell command, or whose last word is one of these.
const COMMAND_KEYS: &[&str] = &[
    "argv",
    "bash",
    "cmd",
    "cmdline",
    "cmds",
    "command",
    "commandline",
    "commands",
    "exec",
    "script",
    "shell",
    "shellcommand",
];

/// Keys that hold the words behind a program.
const ARGUMENT_KEYS: &[&str] = &["args", "argument", "arguments", "argv", "params"];

/// Those under which a list is several commands, and not the words of one.
const SEVERAL_KEYS: &[&str] = &["cmds", "commands"];

/// Keys of an unknown tool's input that hold paths, or whose last word is one of these.
#[rustfmt::skip]
const PATH_KEYS: &[&str] = &[
    "cwd", "dest", "destination", "dir", "directory", "dst", "file", "filename", "files", "folder", "from", "path", "pathname",
    "paths", "root", "source", "src", "target", "to", "workdir",
];

/// Keys of an unknown tool's input that hold URLs, of which those of files count as paths.
const URL_KEYS: &[&str] = &["href", "link", "links", "uri", "uris", "url", "urls"];

/// Keys of an unknown tool's input that hold what it writes.
const CONTENT_KEYS: &[&str] = &["content", "contents", "data", "diff", "edits", "filetext", "newtext", "replacement"];

/// Words in the name of a tool that writes to what it names.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    "append", "apply", "create", "download", "edit", "insert", "make", "mkdir", "modify", "overwrite", "patch", "put", "replace",
    "save", "set", "store", "touch", "truncate", "update", "upload", "write",
];

/// Words in the name of a tool that gives files another place.
const MOVES: &[&str] = &["move", "mv", "rename"];

/// Words in the name of a tool that removes what it names.
const REMOVES: &[&str] = &["delete", "erase", "purge", "remove", "rm", "rmdir", "trash", "unlink", "wipe"];

/// How a patch begins that names its files itself.
const PATCH: &str = "*** Begin Patch";

/// Characters of what matched that a reason has.
const MATCHED: usize = 1_000;

/// How deep into an unknown tool's input is looked.
const DEPTH: usize = 64;

/// The reason as agents and people read it: what matched, by which rule.
pub(crate) fn reason_text(verdict: &Verdict, reason: &str) -> String {
    let first = verdict.findings.first();
    let rule = first.map(|finding| format!(" (rule {})", show::whole(&finding.rule, show::LINE))).unwrap_or_default();
    let mut words: Vec<&str> = Vec::new();
    for one in first.iter().flat_map(|finding| &finding.evidence).map(|one| one.text.as_str()) {
        if !one.is_empty() && !words.contains(&one) {
            words.push(one);
        }
    }
    let words = match words.join(", ") {
        words if words.is_empty() => words,
        words => format!(" Matched: {}", show::whole(&words, MATCHED)),
    };
    // Nothing is so long that what stands behind it is out of sight.
    format!("{}{rule}.{words}", show::whole(reason, show::REASON))
}

/// Fills in what a tool works on: by the user's row for it, else by the agent's, else by what its fields look like. An
/// error says which field is missing or of the wrong type.
pub(crate) fn read(agent: &dyn Dialect, name: &str, input: &Value, call: ToolCall) -> Result<ToolCall, String> {
    let known = agent.tools().iter().find(|tool| tool.name == name);
    match (UserTools::row(agent.name(), name)?, known) {
        (Some(own), None) => own.with(|row| filled(agent, row, name, input, call)),
        // What is known of a tool stays known.
        (Some(own), Some(tool)) => {
            let first = filled(agent, &tool.row, name, input, call.clone())?;
            let second = own.with(|row| filled(agent, row, name, input, call))?;
            let commands = first.command.iter().chain(&second.command).cloned().collect();
            Ok(ToolCall {
                command: if first.command == second.command { first.command } else { together(commands) },
                paths: [first.paths, second.paths].concat(),
                globs: [first.globs, second.globs].concat(),
                ..first
            })
        }
        (None, Some(tool)) => filled(agent, &tool.row, name, input, call),
        (None, None) => guessed(name, input, call),
    }
}

/// Fills in what a tool works on that has a row.
fn filled(
    agent: &dyn Dialect,
    row: &Row<'_>,
    name: &str,
    input: &Value,
    mut call: ToolCall,
) -> Result<ToolCall, String> {
    let fields = input.as_object().ok_or_else(|| format!("the input of {name} is not a JSON object"))?;
    call.input = input.to_string();
    call.kind = row.kind;
    let text = |key: &str| match fields.get(key) {
        Some(Value::String(text)) => Ok(Some(Field { name: key.to_owned(), value: text.clone() })),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(format!("the field {key} of {name} is not a text")),
    };
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key).transpose()).transpose();
    // Which of several the agent takes is not told by their being there.
    let commands: Result<Vec<Field>, String> = row.command.iter().filter_map(|key| text(key).transpose()).collect();
    let mut commands = commands?;
    if let (true, Some(key)) = (commands.is_empty(), row.command.first()) {
        return Err(format!("the input of {name} has no {key}"));
    }
    call.command = match row.kind {
        ToolKind::Shell => together(commands),
        _ if commands.len() > 1 => {
            let texts: Vec<&str> = commands.iter().map(|field| field.value.as_str()).collect();
            Some(Field { name: commands[0].name.clone(), value: texts.join("\n") })
        }
        _ => commands.pop(),
    };
    let mut paths = Vec::new();
    for key in row.required {
        paths.push(text(key)?.ok_or_else(|| format!("the input of {name} has no {key}"))?);
    }
    let several = |key: &str| match fields.get(key) {
        Some(Value::Array(items)) => {
            let field = |(at, item): (usize, &Value)| match item {
                Value::String(text) => Ok(Field { name: format!("{key}/{at}"), value: text.clone() }),
                _ => Err(format!("the field {key} of {name} holds something that is not a text")),
            };
            items.iter().enumerate().map(field).collect::<Result<Vec<_>, _>>()
        }
        _ => Ok(text(key)?.into_iter().collect()),
    };
    for key in row.paths {
        paths.extend(several(key)?);
    }
    // A tool that works on a file names it; one that does not may have another name for it.
    let works = matches!(row.kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit);
    if let (true, true, Some(key)) = (works, paths.is_empty(), row.paths.first()) {
        return Err(format!("the input of {name} has no {key}"));
    }
    match row.kind {
        ToolKind::Fetch => call.paths.extend(paths.into_iter().filter_map(file_of)),
        _ => call.paths.extend(paths.into_iter().flat_map(|field| spelled(agent, field))),
    }
    for key in row.globs {
        call.globs.extend(several(key)?.into_iter().flat_map(|field| spelled(agent, field)));
    }
    if let Some(cwd) = first(row.cwd)? {
        call.cwd = below(&call.cwd, &cwd.value, call.home.as_deref());
    }
    if let Some(cwd) = first(row.other_cwd)? {
        let other = below(&call.cwd, &cwd.value, call.home.as_deref());
        note(&mut call, OTHER_CWD, other.into());
    }
    Ok(call)
}

/// What is known of a call: another directory that it may work in.
pub(crate) const OTHER_CWD: &str = "other_cwd";

/// A path as it is written, and as it may be meant besides.
fn spelled(agent: &dyn Dialect, field: Field) -> Vec<Field> {
    let mut others = agent.readings(&field.value);
    // Some agents take blanks at the ends off.
    others.push(field.value.trim().to_owned());
    // Not every agent takes a tilde for the home folder.
    if field.value.starts_with('~') {
        others.push(format!("./{}", field.value));
    }
    let again = |value: String| Field { name: field.name.clone(), value };
    let mut all: Vec<Field> = others.into_iter().filter(|other| *other != field.value).map(again).collect();
    all.insert(0, field);
    all
}

/// The file that a URL names, if it names one.
fn file_of(field: Field) -> Option<Field> {
    let url = field.value.trim();
    let rest = url.get(5..).filter(|_| url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")))?;
    let rest = rest.strip_prefix("//localhost").unwrap_or(rest);
    Some(Field { value: format!("/{}", decoded(rest.trim_start_matches('/'))), ..field })
}

/// A part of a URL with its `%XX` resolved.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        all.push(hex.unwrap_or(*byte));
        at += if hex.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// A directory that a call names, seen from the agent's.
fn below(cwd: &str, named: &str, home: Option<&str>) -> String {
    match (named, named.strip_prefix("~/"), home) {
        ("", ..) => cwd.to_owned(),
        ("~", _, Some(home)) => home.to_owned(),
        (_, Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ if named.starts_with('/') => named.to_owned(),
        _ => format!("{}/{named}", cwd.trim_end_matches('/')),
    }
}

/// Adds something to what is known of a call.
pub(crate) fn note(call: &mut ToolCall, key: &str, value: Value) {
    if let Ok(Value::Object(mut context)) = serde_json::from_str(&call.context) {
        context.insert(key.to_owned(), value);
        call.context = Value::Object(context).to_string();
    }
}

/// Takes that out again.
pub(crate) fn unnote(call: &mut ToolCall, key: &str) {
    if let Ok(Value::Object(mut context)) = serde_json::from_str(&call.context)
        && context.remove(key).is_some()
    {
        call.context = Value::Object(context).to_string();
    }
}

/// A text that is about to be typed into a shell, as a call of the agent's.
pub(crate) fn typed(agent: &dyn Dialect, scene: &Scene, id: &str, line: &str) -> Result<ToolCall, String> {
    payload::call(agent, scene, (id, ""), "bash", &json!({ "command": line }))
}

/// A call of which not even the input is the tool's own.
fn guess(agent: &dyn Dialect, scene: &Scene, name: &str, input: &Value) -> Result<ToolCall, String> {
    let context = json!({ "schema": 1, "agent": agent.name(), "session": scene.session });
    let call = ToolCall {
        home: place::home(),
        workspace_root: scene.root.clone(),
        context: context.to_string(),
        ..ToolCall::new(name, ToolKind::Other, &scene.cwd)
    };
    guessed(name, input, call)
}

/// Fills in what a tool works on that is in no table.
fn guessed(name: &str, input: &Value, mut call: ToolCall) -> Result<ToolCall, String> {
    if !input.is_object() {
        return Err(format!("the input of {name} is not a JSON object"));
    }
    call.input = input.to_string();
    let mut commands = Vec::new();
    generic("", input, DEPTH, &mut commands, &mut call.paths)?;
    let words = words_of(name);
    let says = |verbs: &[&str]| words.iter().any(|word| verbs.contains(&word.as_str()));
    let paths: Vec<String> = call.paths.iter().map(|path| quoted(&path.value)).collect();
    let written = || input.as_object().is_some_and(|fields| fields.keys().any(|key| is(CONTENT_KEYS, key)));
    let writes = says(WRITES) || says(MOVES) || written();
    if !commands.is_empty() && !paths.is_empty() && writes {
        // Some tools have a key `command` for what they are to do.
        commands.push(Field { name: call.paths[0].name.clone(), value: format!("touch -- {}", paths.join(" ")) });
    }
    if commands.is_empty() && !paths.is_empty() {
        // By its name it does what a shell would be told like this.
        let value = match (says(REMOVES), says(MOVES) && paths.len() > 1) {
            (true, _) => Some(format!("rm -rf -- {}", paths.join(" "))),
            (_, true) => Some(format!("mv -- {}", paths.join(" "))),
            _ => None,
        };
        commands.extend(value.map(|value| Field { name: call.paths[0].name.clone(), value }));
        if commands.is_empty() && writes {
            call.kind = ToolKind::Edit;
        }
    }
    call.command = together(commands);
    Ok(call)
}

/// A tool that no table knows: every field that looks like a command or a path by its key, at any depth.
fn generic(
    at: &str,
    value: &Value,
    depth: usize,
    commands: &mut Vec<Field>,
    paths: &mut Vec<Field>,
) -> Result<(), String> {
    if depth == 0 {
        return Err("the input nests too deeply to be judged".to_owned());
    }
    let key = at.rsplit('/').find(|part| part.parse::<usize>().is_err()).unwrap_or("");
    let field = |value: String| Field { name: at.to_owned(), value };
    match value {
        Value::Object(_) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
            Err(format!("the field {at} looks like a command and is an object"))
        }
        Value::Object(fields) if is(SEVERAL_KEYS, key) => {
            let texts = fields.values().map(|value| value.as_str().map(|text| field(text.to_owned())));
            let texts: Option<Vec<Field>> = texts.collect();
            commands.extend(
                texts.ok_or_else(|| format!("the field {at} looks like commands, and one of them is no text"))?,
            );
            Ok(())
        }
        Value::Object(fields) => {
            let arguments = fields.iter().find(|(key, _)| is(ARGUMENT_KEYS, key)).map(|(_, value)| value);
            for (key, value) in fields {
                let at = if at.is_empty() { key.clone() } else { format!("{at}/{key}") };
                match value {
                    // `{"command": "rm", "args": ["-rf", "/"]}`
                    Value::String(program)
                        if is(COMMAND_KEYS, key) && !is(ARGUMENT_KEYS, key) && arguments.is_some() =>
                    {
                        let rest = match arguments {
                            Some(Value::Array(items)) => words(&at, items)?,
                            Some(Value::String(text)) => text.clone(),
                            _ => String::new(),
                        };
                        commands.push(Field { name: at, value: format!("{program} {rest}") });
                    }
                    _ => generic(&at, value, depth - 1, commands, paths)?,
                }
            }
            Ok(())
        }
        // `["bash", "-c", "..."]`: one command as its words. Under a key for several, each is one of its own.
        Value::Array(items) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
            commands.push(field(words(at, items)?));
            Ok(())
        }
        // Several commands, one of which is its words.
        Value::Array(items) if is(SEVERAL_KEYS, key) && items.iter().any(Value::is_array) => {
            for item in items {
                let value = match item {
                    Value::Array(items) => words(at, items)?,
                    Value::String(text) => text.clone(),
                    _ => return Err(format!("the field {at} looks like commands, and one of them is no text")),
                };
                commands.push(field(value));
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| generic(&format!("{at}/{index}"), value, depth - 1, commands, paths)),
        Value::String(text) if text.trim_start().starts_with(PATCH) => {
            commands.push(field(format!("apply_patch {}", quoted(text))));
            Ok(())
        }
        Value::String(text) if is(COMMAND_KEYS, key) => {
            commands.push(field(text.clone()));
            Ok(())
        }
        Value::String(text) if is(URL_KEYS, key) || text.starts_with("file:") => {
            paths.extend(file_of(field(text.clone())));
            Ok(())
        }
        Value::String(text) if is(PATH_KEYS, key) => {
            // What is fetched from elsewhere is no path here.
            if !text.starts_with("http://") && !text.starts_with("https://") {
                paths.push(field(text.clone()));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The words of one command, written as a shell would need them. A list or an object is no word.
fn words(at: &str, items: &[Value]) -> Result<String, String> {
    let words: Result<Vec<String>, String> = items
        .iter()
        .map(|item| match item {
            Value::String(word) => Ok(quoted(word)),
            Value::Number(_) | Value::Bool(_) | Value::Null => Ok(item.to_string()),
            _ => Err(format!("the field {at} looks like a command, and one of its words is no text")),
        })
        .collect();
    Ok(words?.join(" "))
}

/// Several commands as one text, each closed in itself and in a shell of its own, so that neither a quote left open nor an
/// `exit` or an endless loop in one hides the next.
fn together(mut commands: Vec<Field>) -> Option<Field> {
    if commands.len() < 2 {
        return commands.pop();
    }
    let name = commands[0].name.clone();
    let each = commands.iter().map(|command| format!("(eval {}) &", quoted(&command.value)));
    Some(Field { name, value: each.collect::<Vec<_>>().join("\n") })
}

/// Whether a key is among these as a whole or by its last word, however it is cased and joined: `filePath`, `file_path`,
/// `FILE-PATH`.
fn is(keys: &[&str], key: &str) -> bool {
    let words = words_of(key);
    let whole = words.concat();
    keys.iter().any(|known| *known == whole || words.last().is_some_and(|last| last == known))
}

/// The words of a name, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    for c in name.chars() {
        let new = !c.is_ascii_alphanumeric() || (lower && c.is_ascii_uppercase());
        if new || words.is_empty() {
            words.push(String::new());
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if let (Some(word), true) = (words.last_mut(), c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A word as a shell would need it written.
pub(crate) fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_tools_are_read_by_what_their_fields_look_like() {
        let cases = [
            (json!({"command": "ls"}), Some(("command", "ls")), vec![]),
            (json!({"command": ["sh", "-c", "a b"]}), Some(("command", "sh -c 'a b'")), vec![]),
            (json!({"args": {"cmd": "ls"}, "x": 1}), Some(("args/cmd", "ls")), vec![]),
            (json!({"cmd": "a", "script": "b c"}), Some(("cmd", "(eval a) &\n(eval 'b c') &")), vec![]),
            (json!({"commands": ["a b", "c"]}), Some(("commands/0", "(eval 'a b') &\n(eval c) &")), vec![]),
            (json!({"command": ["rm", "-rf", "/", 1]}), Some(("command", "rm -rf / 1")), vec![]),
            (json!({"Command": "rm", "args": ["-rf", "a b"]}), Some(("Command", "rm -rf 'a b'")), vec![]),
            (json!({"filePath": "a", "FILE_PATHS": ["b"]}), None, vec![("filePath", "a"), ("FILE_PATHS/0", "b")]),
            (
                json!({"edits": [{"path": "a"}, {"path": "b"}]}),
                None,
                vec![("edits/0/path", "a"), ("edits/1/path", "b")],
            ),
            (json!({"paths": ["a"], "uri": "file:///b"}), None, vec![("paths/0", "a"), ("uri", "/b")]),
            (json!({"text": "rm -rf /", "n": 3}), None, vec![]),
            (json!({"commandLine": "a"}), Some(("commandLine", "a")), vec![]),
            (json!({"argv": ["rm", "x"]}), Some(("argv", "rm x")), vec![]),
            (
                json!({"download_path": "a", "transcript": "b", "outputFile": "c"}),
                None,
                vec![("download_path", "a"), ("outputFile", "c")],
            ),
            (json!({"url": "file:/a%2Fb", "link": " FILE:///c "}), None, vec![("url", "/a/b"), ("link", "/c")]),
            (json!({"x": "*** Begin Patch\n"}), Some(("x", "apply_patch '*** Begin Patch\n'")), vec![]),
        ];
        for (input, command, paths) in cases {
            let call = guessed("mcp__x", &input, ToolCall::new("x", ToolKind::Other, "/")).expect("an object");
            let pair = |field: &Field| (field.name.clone(), field.value.clone());
            let own = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
            assert_eq!(call.command.as_ref().map(pair), command.map(own), "{input}");
            assert_eq!(call.paths.iter().map(pair).collect::<Vec<_>>(), paths.into_iter().map(own).collect::<Vec<_>>());
        }
    }
}
