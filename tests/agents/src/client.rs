//! The agents: one file each, with all that is particular to it. A new agent is one file and one line in [`ALL`].

mod claude;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod opencode;
mod pi;

use std::path::PathBuf;

use crate::model::Call;
use crate::place::{CACHE, GUARD};

/// All agents, in the order of the table.
pub const ALL: &[&dyn Client] =
    &[&claude::Claude, &codex::Codex, &gemini::Gemini, &copilot::Copilot, &opencode::OpenCode, &droid::Droid, &pi::Pi];

/// A limit: what most agents do when a hook fails.
const RUNS_UNASKED: &str = "the agent runs a call when its hook fails";
/// A limit: the same, only for time.
const RUNS_LATE: &str = "the agent runs a call when its hook does not answer in time";

/// Node, for the agents that are scripts: pinned like them, so that the machine's own does not matter.
pub const NODE: Package = Package { name: "node-{platform}", version: "22.23.3" };

/// A package of the npm registry. `{platform}` in names stands for npm's name of this one, such as `linux-x64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Its one version.
    pub version: &'static str,
}

impl Package {
    /// `name@version`, as npm wants it.
    pub fn spec(self) -> String {
        format!("{}@{}", on_platform(self.name), self.version)
    }

    /// The name of its folder in the cache.
    pub fn folder(self) -> String {
        self.spec().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
    }

    /// A file of its installation, in the sandbox.
    fn file(self, path: &str) -> String {
        format!("{CACHE}/{}/node_modules/{}", self.folder(), on_platform(path))
    }
}

/// How an agent is started.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// A program, below `node_modules`.
    Native(&'static str),
    /// A script for Node, below `node_modules`.
    Script(&'static str),
}

/// An agent's command line client: how it is installed, pointed at the model, and how its tools are called.
pub trait Client: Sync {
    /// Its name in Toolgate's command line.
    fn name(&self) -> &'static str;
    /// Its name in the table.
    fn title(&self) -> &'static str;
    /// What is installed.
    fn package(&self) -> Package;
    /// What is run.
    fn program(&self) -> Program;
    /// Its arguments: one prompt, no person to ask, everything allowed that it can allow. `guarded` is for what makes
    /// it run hooks that nobody has looked at.
    fn arguments(&self, guarded: bool) -> Vec<String>;
    /// Its environment, beside the home folder and the usual.
    fn environment(&self, model: &str) -> Vec<(&'static str, String)>;
    /// Its settings: paths below the home folder, and texts. `model` is the address of the server.
    fn settings(&self, model: &str) -> Vec<(&'static str, String)>;
    /// Runs a shell command.
    fn shell(&self, command: &str) -> Call;
    /// Writes a new file. The path is absolute.
    fn write(&self, path: &str, text: &str) -> Call;
    /// Writes a new file by a patch in a shell command that goes to a folder first, if the agent applies it itself.
    fn patch(&self, _folder: &str, _path: &str, _text: &str) -> Option<Call> {
        None
    }
    /// Opens a terminal and types a command into it.
    fn typed(&self, _command: &str) -> Option<[Call; 2]> {
        None
    }
    /// Runs a shell command in the terminal that Toolgate shares: the tool `bash` of its server, or of its extension.
    fn shared(&self, command: &str) -> Call;
    /// What makes the agent start that server: a file below the home folder, and what is added to it. Nothing if it has
    /// an extension for it.
    fn server(&self) -> Option<(&'static str, String)> {
        None
    }
    /// Whether a plugin of the agent keeps one host, instead of a hook that starts a program for each call.
    fn session(&self) -> bool {
        false
    }
    /// Whether `cd` in one shell call holds in the next.
    fn keeps_directory(&self) -> bool {
        false
    }
    /// Why no guard can help in this scenario, if the agent runs the call whatever its hooks do.
    fn limit(&self, _scenario: &str) -> Option<&'static str> {
        None
    }
}

/// The command line up to the arguments.
pub fn command(client: &dyn Client) -> Vec<String> {
    match client.program() {
        Program::Native(path) => vec![client.package().file(path)],
        Program::Script(path) => vec![node(), client.package().file(path)],
    }
}

/// Everything that has to be in the cache.
pub fn packages(client: &dyn Client) -> Vec<Package> {
    match client.program() {
        Program::Native(_) => vec![client.package()],
        Program::Script(_) => vec![client.package(), NODE],
    }
}

/// The agent of that name.
pub fn find(name: &str) -> Option<&'static dyn Client> {
    ALL.iter().copied().find(|client| client.name() == name)
}

fn node() -> String {
    NODE.file("node-{platform}/bin/node")
}

/// npm's name of this platform, and Rust's name of the same, put where they are named.
fn on_platform(text: &str) -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    text.replace("{platform}", &format!("linux-{arch}")).replace("{arch}", std::env::consts::ARCH)
}

/// Pairs of the home folder's paths and texts.
fn files<const N: usize>(files: [(&'static str, serde_json::Value); N]) -> Vec<(&'static str, String)> {
    files.into_iter().map(|(path, value)| (path, value.to_string())).collect()
}

/// The server of Toolgate as most agents write it, with what an agent wants said beside.
fn server(path: &'static str, more: serde_json::Value) -> Option<(&'static str, String)> {
    let mut server = serde_json::json!({ "command": GUARD, "args": ["mcp"] });
    if let (Some(server), serde_json::Value::Object(more)) = (server.as_object_mut(), more) {
        server.extend(more);
    }
    Some((path, serde_json::json!({ "mcpServers": { "toolgate": server } }).to_string()))
}

/// Variables that are the same for every model.
fn variables(fixed: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    fixed.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// An argument list.
fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The cache folder of a package, on the outside.
pub fn installed(cache: &std::path::Path, package: Package) -> PathBuf {
    cache.join(package.folder())
}
