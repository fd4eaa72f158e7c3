//! `toolgate lens`: the check daemon of a project, as it is found, started, asked and trusted.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolgate_host::capability::{LocalDaemon, LocalFiles};

use crate::agent::Scene;
use crate::place;
use crate::serve::resident;

/// The file in a project's root that says how its changed files are checked, as pi-lens has it.
const PROJECT: &str = ".pi-lens.json";

/// Files of rules that may say it, too.
const ALSO: [&str; 2] = ["toolgate.yaml", "toolgate.yml"];

/// The configuration that the lens reads.
pub(crate) fn files(agent: &str, scene: &Scene) -> LocalFiles {
    let root = Path::new(&scene.root);
    let mut files = LocalFiles::new();
    for file in ALSO.iter().filter_map(|name| place::user_file_named(name)) {
        files = files.config("lens", "user", file);
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
    Some(folder.or_else(|| Some(Path::new(&place::home()?).join(".pi/agent")))?.join("settings.json"))
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
fn code_lens() -> Option<Vec<OsString>> {
    let texts = ALSO.iter().filter_map(|name| std::fs::read_to_string(place::user_file_named(name)?).ok());
    // Nearly nobody has it, and reading YAML takes its time.
    let mut named = texts.filter(|text| text.contains("code-lens"));
    let found = named.find_map(|text| serde_saphyr::from_str::<Users>(&text).ok()?.lens?.code_lens)?;
    Some(found.into_iter().map(OsString::from).collect()).filter(|command: &Vec<OsString>| !command.is_empty())
}

/// The daemon of a project, for a session. None if there is no telling where it would be.
pub(crate) fn daemon(agent: &str, scene: &Scene) -> Option<LocalDaemon> {
    if let Some(command) = code_lens() {
        return Some(LocalDaemon::code_lens(&scene.root, Path::new(&place::home()?), command));
    }
    let program = std::env::current_exe().ok()?;
    let command = vec![program.into_os_string(), "lens".into(), "serve".into()];
    let session = format!("{agent}:{}", scene.session);
    Some(LocalDaemon::own(&scene.root, &resident::folder()?, command, session))
}
