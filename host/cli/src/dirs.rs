//! Where things are: the user's home, the project's root, rule files, the log, permissions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolgate_host::audit::{AuditFile, Circumstances};
use toolgate_host::capability::LocalFiles;
use toolgate_host::one_time_permits::Grants;
use toolgate_host::private::by_others;
use toolgate_host::{Diagnostic, Level, state_folder};

use crate::{Failure, exit};

/// A rule file's path below a project's root, and below the home folder.
const RULES: &str = ".pi/damage-control-rules.yaml";

/// What rule files are called in the user's folder for configuration.
const USERS: &[&str] = &["damage-control-rules.yaml", "toolgate.yaml", "toolgate.yml"];

/// What rule files are called below a project's root.
pub(crate) const PROJECTS: &[&str] = &[RULES, "toolgate.yaml", "toolgate.yml", ".toolgate.yaml", ".toolgate.yml"];

/// What the user's file with the tools of agents is called, in the folder for configuration.
pub(crate) const USER_TOOLS: &str = "tools.yaml";

/// The home folder of whoever runs this program: what `HOME` says, or the list of accounts if it says nothing.
///
/// The C library could be asked for the latter, but one that is part of a program has to find its own libraries for it.
pub(crate) fn home() -> Option<String> {
    let said = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = said.or_else(crate::hook_env::account_home)?;
    home.into_os_string().into_string().ok().filter(|home| home.starts_with('/'))
}

/// The program that this process runs, by whatever link it was started.
///
/// # Errors
/// If that is not known.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    // Not every system says it without links. One that is gone by now leads nowhere.
    Ok(path.canonicalize().unwrap_or(path))
}

/// Where Toolgate keeps what it has to remember, if there is telling where that is.
pub(crate) fn state() -> Option<PathBuf> {
    state_folder(home().map(PathBuf::from).as_deref())
}

/// Where snapshots of the guard are, which has read rule files.
pub(crate) fn snapshots() -> Option<PathBuf> {
    Some(state()?.join("snapshots"))
}

/// A folder that an option names, absolute; the current one if none does.
pub(crate) fn folder(given: Option<&Path>) -> Result<String, Failure> {
    let folder = match (given, std::env::current_dir()) {
        (Some(given), _) if given.is_absolute() => given.to_path_buf(),
        (Some(given), Ok(here)) => here.join(given),
        (None, Ok(here)) => here,
        (_, Err(error)) => {
            let message = format!("the current directory cannot be read ({error}); go to another one");
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
    let marked = |folder: &&Path| there(folder.join(".git")) || PROJECTS.iter().any(|name| there(folder.join(name)));
    folder.ancestors().find(marked).unwrap_or(folder).to_path_buf()
}

/// The same as a call names it.
pub(crate) fn root_of(folder: &str) -> String {
    project_root(Path::new(folder)).display().to_string()
}

/// The rule files that are in force: the user's, then those of the projects that these folders are in. More rules
/// can only forbid more, so each project that a call may be about counts.
///
/// # Errors
/// If there is no telling where the user's own rules are.
pub(crate) fn rule_files(folders: &[&Path]) -> Result<LocalFiles, String> {
    let (home, config) = homes()?;
    let mut files = user_rules()?.into_iter().fold(LocalFiles::new(), |files, path| match by_others(&path) {
        None => files.user_rules(path),
        // Whoever may have written it: what it forbids is forbidden, and what it lifts is not.
        Some(_) => files.project_rules(path),
    });
    let mut folders = folders.to_vec();
    folders.dedup();
    let mut roots: Vec<PathBuf> =
        folders.into_iter().flat_map(|folder| [folder.to_path_buf(), project_root(folder)]).collect();
    roots.sort();
    roots.dedup();
    let mut hidden = vec![home.clone()];
    for root in roots.into_iter().filter(|root| *root != home) {
        files = PROJECTS.iter().fold(files, |files, name| files.project_rules(root.join(name)));
        hidden.push(root);
    }
    let own = [Some(config), state()].into_iter().flatten().collect();
    Ok(files.known_names(own, hidden))
}

/// Which of these rule files are the user's and count as a project's all the same.
pub(crate) fn demoted(files: &LocalFiles) -> Vec<Diagnostic> {
    let users = user_rules().unwrap_or_default();
    let demoted = files.rules().filter(|(layer, path)| *layer == "project" && users.iter().any(|user| user == path));
    let told = demoted.filter_map(|(_, path)| {
        let message = format!(
            "the file can only add restrictions, because another user may have written it: {}",
            by_others(path)?
        );
        Some(Diagnostic::new(Level::Warning, message).in_file(path.display().to_string()))
    });
    told.collect()
}

/// The user's own rule files, whether they are there or not.
fn user_rules() -> Result<Vec<PathBuf>, String> {
    let (home, config) = homes()?;
    Ok(USERS.iter().map(|name| config.join(name)).chain([home.join(RULES)]).collect())
}

/// All files that users write by hand.
///
/// # Errors
/// If there is no telling where they are.
pub(crate) fn user_files() -> Result<Vec<PathBuf>, String> {
    let mut files = user_rules()?;
    files.extend(user_file_named(USER_TOOLS));
    Ok(files)
}

/// The home folder, and the user's folder for Toolgate's configuration.
fn homes() -> Result<(PathBuf, PathBuf), String> {
    let home = home().map(PathBuf::from);
    let home = home.ok_or("the home folder is unknown, so your rules cannot be found; set HOME to an absolute path")?;
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.unwrap_or_else(|| home.join(".config")).join("toolgate");
    Ok((home, config))
}

/// The user's folder for Toolgate's configuration, if there is telling where that is.
pub(crate) fn configuration() -> Option<PathBuf> {
    homes().ok().map(|(_, config)| config)
}

/// The folder of sockets: the system's for such things, else one of our own.
pub(crate) fn sockets() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    match runtime {
        Some(runtime) => Some(runtime.join("toolgate")),
        None => Some(state()?.join("run")),
    }
}

/// Where the user's own rule file would be made.
pub(crate) fn user_file() -> Result<PathBuf, String> {
    homes().map(|(_, config)| config.join("toolgate.yaml"))
}

/// A file in the user's folder for configuration, if there is telling where that is.
pub(crate) fn user_file_named(name: &str) -> Option<PathBuf> {
    Some(configuration()?.join(name))
}

/// The audit log of whoever runs this program.
///
/// # Errors
/// If there is no telling where it is.
pub(crate) fn audit() -> Result<AuditFile, String> {
    let home = home().map(PathBuf::from);
    AuditFile::of_user(home.as_deref()).ok_or_else(|| NO_STATE.to_owned())
}

/// The permissions that they gave.
///
/// # Errors
/// If there is no telling where they are.
pub(crate) fn grants() -> Result<Grants, String> {
    let home = home().map(PathBuf::from);
    Grants::of_user(home.as_deref()).ok_or_else(|| NO_STATE.to_owned())
}

const NO_STATE: &str = "the home folder is unknown, so Toolgate has no folder for its own files; set HOME";

/// What the log says about who judged.
pub(crate) fn circumstances(agent: &str) -> Circumstances {
    Circumstances {
        agent: agent.to_owned(),
        plugin: toolgate_builtin::NAME.to_owned(),
        // Known without loading it, which a hook need not do where the resident host has judged.
        plugin_digest: toolgate_builtin::SHA256.to_owned(),
        others: BTreeMap::new(),
    }
}
