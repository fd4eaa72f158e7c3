//! Whose terminal this is: whether a person sits at it, or an agent runs below, beside or above it.
//!
//! Permission is only given where a chain of processes leads from this one to a session that a login, a terminal, ssh
//! or a multiplexer started, with no agent on the way: none by name, none that a hook has noted, none whose mark is in
//! the environment that a process was started with. A process that lost its parent has no such chain. And the terminal
//! must not be one in which a noted agent still runs.
//!
//! What remains: an agent that makes a multiplexer which a person started open a window, and types into it, looks from
//! here like that person; so does one that drives another program that starts terminals, that runs a program of its own
//! under the name of a terminal, or that runs in a terminal whose own program is an agent nobody knows and whose hooks
//! are not installed. The gate judges the commands for that, as it judges `toolgate allow` itself. Who may trace or
//! replace the user's processes is beyond all this.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolgate_host::private::PrivateFile;
use toolgate_host::state_folder;

/// Agents by the name of their program or script.
#[rustfmt::skip]
const AGENTS: &[&str] = &[
    "aider", "amp", "auggie", "claude", "claude-code", "cline", "codex", "codex-cli", "copilot", "copilot-cli", "crush",
    "cursor", "cursor-agent", "droid", "gemini", "gemini-cli", "goose", "goosed", "kiro-cli", "opencode", "openhands", "pi",
    "pi-coding-agent", "qwen", "qwen-code",
];

/// Programs that run a script; the script's path says what they are then.
const INTERPRETERS: &[&str] =
    &["bun", "deno", "node", "nodejs", "npx", "python", "python3", "ruby", "tsx", "uv", "uvx"];

/// Variables that agents set for what they run. Nobody sets them by hand.
#[rustfmt::skip]
const VARIABLES: &[&str] = &[
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR",
    "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CURSOR_AGENT", "FACTORY_PROJECT_DIR", "GEMINI_CLI",
    "GEMINI_SESSION_ID", "OPENCODE", "PI_CODING_AGENT",
];

/// What starts a session for a person. Editors are not among them: their own agents use the same terminals.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    // Logins.
    "agetty", "getty", "login", "mosh-server", "sshd", "sshd-auth", "sshd-session", "su", "sudo",
    // Multiplexers.
    "screen", "SCREEN", "tmux", "zellij",
    // Terminals.
    "alacritty", "Alacritty", "foot", "footclient", "ghostty", "gnome-terminal-server", "iTerm2",
    "iTermServer", "kgx", "kitty", "konsole", "lxterminal", "mate-terminal", "ptyxis-agent", "qterminal", "rio", "rxvt", "st",
    "Terminal", "tilix", "urxvt", "urxvtd", "wezterm", "wezterm-gui", "wezterm-mux-server",
    "xfce4-terminal", "xterm", "yakuake",
];

/// Longest chain that is followed.
const DEPTH: usize = 64;

/// Most agents that are remembered.
const NOTED: usize = 64;

/// A process, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// When it was started, in whatever unit the system counts. With the pid it names a process for good.
    pub(crate) start: String,
    /// Whether it leads a session.
    pub(crate) leader: bool,
    /// Its terminal.
    pub(crate) terminal: Option<String>,
    /// Its program by the name of its file, or what the kernel has where that cannot be seen: of other users' processes.
    pub(crate) program: String,
    /// All its names, those that it gives itself included.
    pub(crate) names: Vec<String>,
    /// What it was called with, the program itself left out.
    pub(crate) arguments: Vec<String>,
    /// The variables of agents that it was started with.
    pub(crate) variables: Vec<String>,
}

/// An agent that called a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    pub(crate) pid: u32,
    pub(crate) start: String,
    pub(crate) terminal: Option<String>,
}

/// Why no permission can be granted here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no terminal to type at.
    NoTerminal,
    /// An agent's variable is set.
    Variable(String),
    /// An agent is among the ancestors.
    Agent(u32, String),
    /// A process that called a hook is among the ancestors.
    Noted(u32),
    /// An agent runs in this terminal.
    Shared(u32),
    /// Nothing that a person uses started this session.
    Unaccounted,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoTerminal => f.write_str("standard input is not the terminal that this runs in"),
            Refusal::Variable(name) => write!(f, "this runs below an agent: {name} is set"),
            Refusal::Agent(pid, name) => write!(f, "this runs below an agent: {name}, process {pid}"),
            Refusal::Noted(pid) => write!(f, "this runs below process {pid}, which calls Toolgate's hook as an agent"),
            Refusal::Shared(pid) => write!(f, "an agent runs in this terminal: process {pid}"),
            Refusal::Unaccounted => {
                f.write_str("no login, terminal, ssh or terminal multiplexer was found to have started this session")
            }
        }
    }
}

/// Whether a person may give permission from here. `chain` starts with this process and goes on with its parents;
/// `alive` says of a noted agent whether it still runs.
pub fn judge(chain: &[Process], noted: &[Noted], alive: impl Fn(&Noted) -> bool) -> Result<(), Refusal> {
    let Some(terminal) = chain.first().and_then(|own| own.terminal.as_ref()) else {
        return Err(Refusal::NoTerminal);
    };
    for process in chain {
        if let Some(name) = process.variables.first() {
            return Err(Refusal::Variable(name.clone()));
        }
        if let Some(name) = agent(process) {
            return Err(Refusal::Agent(process.pid, name));
        }
        if noted.iter().any(|noted| noted.pid == process.pid && noted.start == process.start) {
            return Err(Refusal::Noted(process.pid));
        }
    }
    if let Some(agent) = noted.iter().find(|noted| noted.terminal.as_ref() == Some(terminal) && alive(noted)) {
        return Err(Refusal::Shared(agent.pid));
    }
    // The parent of a leader is in the chain, or it is gone: then nobody knows who started the session. What was
    // started from outside a container has no parent in it, and is not what lost its parent: that hangs below 1.
    let started = |pair: &[Process]| pair[0].leader && pair[0].terminal.is_some() && starter(&pair[1]);
    let entered = chain.last().is_some_and(|last| last.leader && last.parent == 0 && last.pid != 1);
    if entered || chain.windows(2).any(started) { Ok(()) } else { Err(Refusal::Unaccounted) }
}

/// The processes between a hook and the person's own shell: what is to be known as an agent later. The topmost known
/// agent and everything below it; without one, everything below the first session that has a terminal.
pub(crate) fn below_the_person(chain: &[Process]) -> &[Process] {
    let parents = chain.get(1..).unwrap_or_default();
    match parents.iter().rposition(|process| agent(process).is_some()) {
        Some(top) => &parents[..=top],
        None => {
            let person = parents.iter().position(|process| process.leader || process.pid == 1 || starter(process));
            &parents[..person.unwrap_or(parents.len())]
        }
    }
}

fn starter(process: &Process) -> bool {
    // Not by the names that a process can give itself.
    STARTERS.contains(&process.program.as_str())
}

/// The name of the agent that a process is.
fn agent(process: &Process) -> Option<String> {
    let known = |text: &str| {
        let name = Path::new(text).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let stem = name.split_once(".").map_or(name.as_str(), |(stem, _)| stem);
        AGENTS.contains(&name.as_str()) || AGENTS.contains(&stem)
    };
    if let Some(name) = process.names.iter().find(|name| known(name)) {
        return Some(name.clone());
    }
    let interpreter = |name: &String| {
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        INTERPRETERS.contains(&name)
    };
    if !process.names.iter().any(interpreter) {
        return None;
    }
    // The script, or the module behind `-m`; a package's folder says more than `cli.js`.
    let words = process.arguments.iter().take(6).filter(|word| !word.starts_with('-'));
    let script =
        words.take(2).find(|word| Path::new(word).components().any(|part| known(&part.as_os_str().to_string_lossy())));
    script.cloned()
}

/// This process and its parents, as far as they can be seen.
pub fn chain() -> Vec<Process> {
    let mut chain: Vec<Process> = Vec::new();
    let mut pid = std::process::id();
    while pid != 0 && chain.len() < DEPTH {
        let Some(process) = look(pid) else { break };
        pid = process.parent;
        chain.push(process);
    }
    chain
}

/// Whether a noted agent still runs.
pub fn alive(noted: &Noted) -> bool {
    look(noted.pid).is_some_and(|process| process.start == noted.start)
}

#[cfg(target_os = "linux")]
fn look(pid: u32) -> Option<Process> {
    let at = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let mut process = stat(&std::fs::read_to_string(at("stat")).ok()?)?;
    let texts = |name: &str| -> Vec<String> {
        let bytes = std::fs::read(at(name)).unwrap_or_default();
        bytes.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned()).collect()
    };
    if let Some(program) = std::fs::read_link(at("exe")).ok().as_deref().and_then(Path::file_name) {
        // A program that was updated while it runs.
        process.program = program.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
        process.names.push(process.program.clone());
    }
    process.arguments = texts("cmdline");
    if !process.arguments.is_empty() {
        process.names.push(process.arguments.remove(0));
    }
    let variables = texts("environ");
    let set = |name: &&&str| variables.iter().any(|text| text.split_once('=').is_some_and(|(set, _)| set == **name));
    process.variables = VARIABLES.iter().filter(set).map(|name| (*name).to_owned()).collect();
    Some(process)
}

/// A line of `/proc/PID/stat`: `pid (name) state parent group session terminal ...`, the start in column 22.
#[cfg(any(target_os = "linux", test))]
fn stat(line: &str) -> Option<Process> {
    let (pid, rest) = line.split_once(" (")?;
    // The name may hold anything, parentheses included.
    let (name, rest) = rest.rsplit_once(") ")?;
    let columns: Vec<&str> = rest.split_ascii_whitespace().collect();
    let pid: u32 = pid.parse().ok()?;
    Some(Process {
        pid,
        parent: columns.get(1)?.parse().ok()?,
        leader: columns.get(3)?.parse() == Ok(pid),
        terminal: Some((*columns.get(4)?).to_owned()).filter(|terminal| terminal != "0"),
        start: (*columns.get(19)?).to_owned(),
        program: name.to_owned(),
        names: vec![name.to_owned()],
        ..Process::default()
    })
}

#[cfg(not(target_os = "linux"))]
fn look(pid: u32) -> Option<Process> {
    let list = |what: &str| {
        let output = std::process::Command::new("/bin/ps").args(["-ww", "-o", what, "-p", &pid.to_string()]).output();
        output.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let mut process = listed(&list("pid=,ppid=,stat=,tty=,lstart=,comm=")?)?;
    process.arguments = list("args=")?.split_whitespace().skip(1).map(str::to_owned).collect();
    if pid == std::process::id() {
        // Of others it cannot be told.
        let set = |name: &&&str| std::env::var_os(name).is_some();
        process.variables = VARIABLES.iter().filter(set).map(|name| (*name).to_owned()).collect();
    }
    Some(process)
}

/// A line of `ps -o pid=,ppid=,stat=,tty=,lstart=,comm=`; the start has five words.
#[cfg(any(not(target_os = "linux"), test))]
fn listed(line: &str) -> Option<Process> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let program = words.get(9..)?.join(" ");
    let name = Path::new(program.trim_start_matches('-')).file_name()?.to_string_lossy().into_owned();
    Some(Process {
        pid: words.first()?.parse().ok()?,
        parent: words.get(1)?.parse().ok()?,
        leader: words.get(2)?.contains('s'),
        terminal: words.get(3).filter(|tty| !tty.starts_with('?')).map(|tty| (*tty).to_owned()),
        start: words.get(4..9)?.join(" "),
        program: name.clone(),
        names: vec![name],
        ..Process::default()
    })
}

fn store(home: Option<&Path>) -> Option<PrivateFile> {
    Some(PrivateFile::new(&state_folder(home)?.join("agents.json")))
}

/// The agents that have called a hook. A list that cannot be read is an error: it may be one that somebody spoilt.
pub fn noted(home: Option<&Path>) -> Result<Vec<Noted>, String> {
    let Some(store) = store(home) else { return Ok(Vec::new()) };
    match store.read().map_err(|error| error.to_string())? {
        None => Ok(Vec::new()),
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", store.path().display())),
    }
}

/// Remembers who called this hook. What goes wrong is only logged: it must not cost a verdict.
pub(crate) fn note(home: Option<&Path>) {
    let chain = chain();
    let agents: Vec<Noted> = below_the_person(&chain)
        .iter()
        .map(|process| Noted { pid: process.pid, start: process.start.clone(), terminal: process.terminal.clone() })
        .collect();
    let Some(store) = store(home) else { return };
    let known = |list: &[Noted]| agents.last().is_none_or(|agent| list.contains(agent));
    if noted(home).is_ok_and(|list| known(&list)) {
        return;
    }
    let updated = store.update(|bytes| {
        // A list that is none gives way to one.
        let mut list: Vec<Noted> = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        list.retain(|noted| !agents.contains(noted) && alive(noted));
        list.extend(agents.iter().cloned());
        let excess = list.len().saturating_sub(NOTED);
        list.drain(..excess);
        serde_json::to_vec(&list).unwrap_or_default()
    });
    if let Err(error) = updated {
        tracing::warn!(%error, "the calling agent could not be recorded");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pid name arguments...`, `!` a session's leader, `@` without a terminal, `+NAME` a variable; the next is its parent.
    fn chain(texts: &[&str]) -> Vec<Process> {
        let number = |text: &str| text.split(' ').next().and_then(|pid| pid.trim_end_matches(['!', '@']).parse().ok());
        let parents = texts.iter().skip(1).map(|text| number(text)).chain([Some(0)]);
        texts
            .iter()
            .zip(parents)
            .map(|(text, parent)| {
                let mut words = text.split(' ');
                let first = words.next().expect("a pid");
                let name = words.next().expect("a name").replace('_', " ");
                let (variables, arguments) = words.map(str::to_owned).partition(|word| word.starts_with('+'));
                let variables: Vec<String> = variables;
                Process {
                    pid: number(first).expect("a number"),
                    parent: parent.expect("a number"),
                    start: "7".to_owned(),
                    leader: first.contains('!'),
                    terminal: (!first.contains('@')).then(|| "pts/1".to_owned()),
                    program: name.clone(),
                    names: vec![name],
                    arguments,
                    variables,
                }
            })
            .collect()
    }

    #[test]
    fn only_a_persons_own_terminal_gives_permission() {
        use Refusal::{Agent, NoTerminal, Noted as Known, Shared, Unaccounted, Variable};
        let agent = |pid: u32, name: &str| Err(Agent(pid, name.to_owned()));
        #[rustfmt::skip]
        let cases: Vec<(&[&str], Result<(), Refusal>)> = vec![
            (&["9 toolgate", "8! bash", "7@ gnome-terminal-server", "1@ systemd"], Ok(())),
            (&["9 toolgate", "8! bash", "7@ sshd-session", "6@ sshd", "1@ systemd"], Ok(())),
            (&["9 toolgate", "8! zsh", "7@ tmux", "1@ systemd"], Ok(())),
            (&["9 toolgate", "8 fish", "7 bash", "6! bash", "5@ login", "1@ init"], Ok(())),
            (&["9 toolgate", "8 sudo", "7! bash", "6@ xterm", "5@ i3"], Ok(())),
            (&["9 toolgate", "8! bash", "7 sudo", "6! bash", "5@ kitty"], Ok(())),
            (&["9 toolgate", "8! bash"], Ok(())), // entered from outside a container
            // Below an agent, however it is named.
            (&["9 toolgate", "8 bash -c x", "7 claude", "6! bash", "5@ kitty"], agent(7, "claude")),
            (&["9 toolgate", "8! bash -c x", "7 node /usr/lib/node_modules/@openai/codex/bin/codex.js", "6! bash", "5@ kitty"],
                agent(7, "/usr/lib/node_modules/@openai/codex/bin/codex.js")),
            (&["9 toolgate", "8 node --max-old-space-size=1 /x/@google/gemini-cli/dist/index.js", "6! bash", "5@ kitty"],
                agent(8, "/x/@google/gemini-cli/dist/index.js")),
            (&["9 toolgate", "8 python3.12 -m aider", "6! bash", "5@ kitty"], agent(8, "aider")),
            (&["9 toolgate", "8 bun /x/pi", "6! bash", "5@ kitty"], agent(8, "/x/pi")),
            (&["9 toolgate", "8! bash", "7@ Cursor", "1@ systemd"], agent(7, "Cursor")),
            (&["9 toolgate", "8! bash", "7@ tmux", "6@ opencode", "1@ systemd"], agent(6, "opencode")),
            // What only looks like one.
            (&["9 toolgate", "8 node /home/x/server.js", "7! bash", "6@ kitty"], Ok(())),
            (&["9 toolgate", "8 vim claude", "7! bash", "6@ kitty"], Ok(())),
            // An agent's variables, also those that a parent was started with.
            (&["9 toolgate +CLAUDECODE", "8! bash", "7@ kitty"], Err(Variable("+CLAUDECODE".into()))),
            (&["9 toolgate", "8! bash", "7@ tmux +CLAUDECODE", "1@ init"], Err(Variable("+CLAUDECODE".into()))),
            // What lost its parent, or was started by something that is no terminal.
            (&["9 toolgate", "1@ systemd"], Err(Unaccounted)),
            (&["9! toolgate", "1@ systemd"], Err(Unaccounted)),
            (&["9 toolgate", "8! sh", "1@ systemd"], Err(Unaccounted)),
            (&["9 toolgate", "1! bash"], Err(Unaccounted)),
            (&["9 toolgate", "8! sh", "7@ script", "1@ systemd"], Err(Unaccounted)),
            (&["9 toolgate", "8! bash", "7@ code", "1@ systemd"], Err(Unaccounted)),
            (&["9 toolgate", "8 kitty", "1@ systemd"], Err(Unaccounted)),
            (&["9 toolgate", "8!@ bash", "7@ sshd", "1@ systemd"], Err(Unaccounted)),
            (&["9@ toolgate", "8! bash", "7@ kitty"], Err(NoTerminal)),
            (&[], Err(NoTerminal)),
            // Noted ones.
            (&["9 toolgate", "77 mybot", "6! bash", "5@ kitty"], Err(Known(77))),
        ];
        let noted = [Noted { pid: 77, start: "7".into(), terminal: None }];
        for (texts, expected) in cases {
            assert_eq!(judge(&chain(texts), &noted, |_| true), expected, "{texts:?}");
        }
        let here = chain(&["9 toolgate", "8! bash", "7@ kitty"]);
        let at =
            |pid: u32, start: &str, terminal: &str| Noted { pid, start: start.into(), terminal: Some(terminal.into()) };
        let cases = [
            (at(50, "7", "pts/1"), true, Err(Shared(50))),
            (at(50, "7", "pts/1"), false, Ok(())),
            (at(50, "7", "pts/2"), true, Ok(())),
            (at(8, "6", "pts/2"), true, Ok(())), // another process had that number
            (at(8, "7", "pts/2"), true, Err(Known(8))),
        ];
        for (noted, alive, expected) in cases {
            assert_eq!(judge(&here, std::slice::from_ref(&noted), |_| alive), expected, "{noted:?}");
        }
    }

    #[test]
    fn a_hook_notes_the_agent_and_not_the_person() {
        let cases: [(&[&str], &[u32]); 5] = [
            (&["9 toolgate", "8 sh -c x", "7 claude", "6! bash", "5@ kitty"], &[8, 7]),
            (&["9 toolgate", "8! sh -c x", "7 node /x/codex.js", "6 codex", "5! bash", "4@ kitty"], &[8, 7, 6]),
            (&["9 toolgate", "8 sh -c x", "7 mybot", "6! bash", "5@ kitty"], &[8, 7]),
            (&["9 toolgate", "8 mybot", "1@ init"], &[8]),
            (&["9 toolgate"], &[]),
        ];
        for (texts, expected) in cases {
            let chain = chain(texts);
            let noted: Vec<u32> = below_the_person(&chain).iter().map(|process| process.pid).collect();
            assert_eq!(noted, expected, "{texts:?}");
        }
    }

    #[test]
    fn processes_are_read_as_the_system_lists_them() {
        let line = "42 (a) b (c) S 7 42 42 34817 42 4194304 98 0 0 0 0 0 0 0 20 0 1 0 2536887 3133440 409";
        let expected = Process {
            pid: 42,
            parent: 7,
            start: "2536887".into(),
            leader: true,
            terminal: Some("34817".into()),
            program: "a) b (c".into(),
            names: vec!["a) b (c".into()],
            ..Process::default()
        };
        assert_eq!(stat(line), Some(expected));
        assert_eq!(stat("42 (a) S 7"), None);
        let line = "  501   499 Ss   ttys003  Sat Jan 31 09:08:07 2026     -/bin/my zsh\n";
        let expected = Process {
            pid: 501,
            parent: 499,
            start: "Sat Jan 31 09:08:07 2026".into(),
            leader: true,
            terminal: Some("ttys003".into()),
            program: "my zsh".into(),
            names: vec!["my zsh".into()],
            ..Process::default()
        };
        assert_eq!(listed(line), Some(expected));
        assert_eq!(listed(""), None);
        let own = super::chain();
        assert_eq!(own.first().map(|process| process.pid), Some(std::process::id()));
    }
}
