//! The check daemon of a project, as a hook reaches it: where it is, what starts it, and which files say how it checks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toolgate_agents::agent::SessionContext;
use toolgate_agents::dirs;
use toolgate_capabilities::LocalDaemon;
use toolgate_host::capability::LocalFiles;
use toolgate_host::limits::CONFIG_FILE;
use toolgate_host::private::{by_others, read_regular};

/// The file in a project's root that says how its changed files are checked, as pi-lens has it.
const PROJECT: &str = ".pi-lens.json";

/// Files of rules that may say it, too.
const ALSO: [&str; 2] = ["toolgate.yaml", "toolgate.yml"];

/// How long a check may take. What is not done by then is said to have failed, and the rest is told: no agent waits longer
/// than a little more.
const CHECK_TIMEOUT: Duration = Duration::from_secs(16);

/// The configuration that the lens reads.
pub(crate) fn files(agent: &str, scene: &SessionContext) -> LocalFiles {
    let root = Path::new(&scene.root);
    let mut files = LocalFiles::new();
    for file in ALSO.iter().filter_map(|name| dirs::user_file_named(name)) {
        // As with rules: what others may have written is not gone by as the user's.
        let layer = if by_others(&file).is_none() { "user" } else { "project" };
        files = files.config("lens", layer, file);
    }
    for name in [PROJECT].iter().chain(&ALSO) {
        files = files.config("lens", "project", root.join(name));
    }
    // Only pi has messages of its own kinds.
    match pi_settings().filter(|_| agent == "pi") {
        Some(settings) => files.config("pi-settings", "user", settings),
        None => files,
    }
}

fn pi_settings() -> Option<PathBuf> {
    let folder = std::env::var_os("PI_CODING_AGENT_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(folder.or_else(|| Some(Path::new(&dirs::home()?).join(".pi/agent")))?.join("settings.json"))
}

/// The user's own file, as far as it says something of the daemon.
#[derive(Default, Deserialize)]
struct Users {
    #[serde(default)]
    lens: Option<Settings>,
}

#[derive(Default, Deserialize)]
struct Settings {
    /// What starts `@harms-haus/code-lens`: `node` and its `dist/server.js`. Without it Toolgate's own daemon is used.
    #[serde(default, rename = "code-lens")]
    code_lens: Option<Vec<String>>,
}

/// What starts another daemon than our own, if the user wants that. A project cannot say it: it is a program.
pub fn code_lens() -> Option<Vec<OsString>> {
    let files = ALSO.iter().filter_map(|name| dirs::user_file_named(name));
    let texts = files.filter_map(|file| Some((String::from_utf8(read_regular(&file, CONFIG_FILE).ok()?).ok()?, file)));
    // Nearly nobody has it, and reading YAML takes its time.
    let mut named = texts.filter(|(text, file)| text.contains("code-lens") && by_others(file).is_none());
    let found = named.find_map(|(text, file)| match serde_saphyr::from_str::<Users>(&text) {
        Ok(users) => users.lens?.code_lens,
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "it names no daemon; Toolgate's own is used");
            None
        }
    })?;
    Some(found.into_iter().map(OsString::from).collect()).filter(|command: &Vec<OsString>| !command.is_empty())
}

/// The daemon of a project, for a session. None if there is no telling where it would be.
pub fn daemon(agent: &str, scene: &SessionContext) -> Option<LocalDaemon> {
    if let Some(command) = code_lens() {
        return Some(LocalDaemon::code_lens(&scene.root, Path::new(&dirs::home()?), command).within(CHECK_TIMEOUT));
    }
    let program = dirs::program().ok()?;
    let command = vec![program.into_os_string(), "lens".into(), "serve".into()];
    let session = format!("{agent}:{}", scene.session);
    Some(LocalDaemon::own(&scene.root, &dirs::sockets()?, command, session).within(CHECK_TIMEOUT))
}
