//! Where things are: the user's home, the project's root, rule files.

use std::path::{Path, PathBuf};

use toolgate_host::capability::{LocalClock, LocalFiles, LocalLog, StderrUi};
use toolgate_host::{Capabilities, Engine, Gate, LoadError, Plugin, Session};

use crate::{Failure, exit};

/// A rule file's path below a project's root, and below the home folder.
const RULES: &str = ".pi/damage-control-rules.yaml";

/// The home folder of whoever runs this program: what `HOME` says, or the password file if it says nothing.
pub(crate) fn home() -> Option<String> {
    std::env::home_dir()?.into_os_string().into_string().ok().filter(|home| home.starts_with('/'))
}

/// A folder that an option names, absolute; the current one if none does.
pub(crate) fn folder(given: Option<&Path>) -> Result<String, Failure> {
    let folder = match (given, std::env::current_dir()) {
        (Some(given), _) if given.is_absolute() => given.to_path_buf(),
        (Some(given), Ok(here)) => here.join(given),
        (None, Ok(here)) => here,
        (_, Err(error)) => {
            let message = format!("the current directory cannot be read ({error}); name one with --cwd");
            return Err(Failure::new(exit::NO_INPUT, message));
        }
    };
    // Behind a link `..` is not what it looks like.
    let dots = folder.components().any(|part| part == std::path::Component::ParentDir);
    let folder = if dots { folder.canonicalize().unwrap_or(folder) } else { folder };
    let text = folder.into_os_string().into_string();
    text.map_err(|_| Failure::new(exit::DATA, "the directory's name is not UTF-8"))
}

/// The root of the project that a folder is in: the nearest folder with rules or a repository, else the folder.
///
/// So that rules are found from wherever in the project an agent happens to be. What cannot be looked at counts as
/// being there: its rules are then reported as unreadable, and not just missed.
pub(crate) fn project_root(folder: &Path) -> PathBuf {
    let there = |path: PathBuf| path.try_exists().unwrap_or(true);
    let marked = |folder: &&Path| there(folder.join(RULES)) || there(folder.join(".git"));
    folder.ancestors().find(marked).unwrap_or(folder).to_path_buf()
}

/// The rule files that are in force: the user's, then those of the projects that these folders are in. More rules
/// can only forbid more, so each project that a call may be about counts.
///
/// # Errors
/// If there is no telling where the user's own rules are.
pub(crate) fn rule_files(folders: &[&Path]) -> Result<LocalFiles, String> {
    let home = home().map(PathBuf::from);
    let home =
        home.ok_or("the home folder is not known, so your rules cannot be found; set HOME to an absolute path")?;
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.unwrap_or_else(|| home.join(".config"));
    let mut files =
        LocalFiles::new().user_rules(config.join("toolgate/damage-control-rules.yaml")).user_rules(home.join(RULES));
    let mut folders = folders.to_vec();
    folders.dedup();
    let mut roots: Vec<PathBuf> =
        folders.into_iter().flat_map(|folder| [folder.to_path_buf(), project_root(folder)]).collect();
    roots.sort();
    roots.dedup();
    for root in roots.into_iter().filter(|root| *root != home) {
        files = files.project_rules(root.join(RULES));
    }
    Ok(files)
}

/// The default plugin. Making it takes under a millisecond, as nothing is compiled.
pub(crate) fn default_plugin() -> Result<Plugin, LoadError> {
    Plugin::precompiled(&Engine::new()?, toolgate_builtin::NAME, &toolgate_builtin::guard())
}

/// A gate of the default plugin, with the capabilities that it is granted here.
pub(crate) fn gate(plugin: &Plugin, cwd: &str, home: Option<String>, root: &str, files: LocalFiles) -> Gate {
    let session = Session { home, workspace_root: root.to_owned(), ..Session::in_folder(cwd) };
    let granted = Capabilities::denied().files(files).clock(LocalClock::default()).log(LocalLog).ui(StderrUi);
    Gate::new(plugin.clone(), session, granted)
}
