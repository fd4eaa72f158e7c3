//! Where things are: the user's home, the project's root, rule files, the log, permissions.

use std::path::{Path, PathBuf};

use toolgate_host::audit::AuditFile;
use toolgate_host::capability::LocalFiles;
use toolgate_host::one_time_permits::OneTimePermits;
use toolgate_host::rule_files::UserFolders;
pub use toolgate_host::rule_files::{PROJECTS, account_home, home, project_root};
use toolgate_host::stopped_calls::StoppedCalls;
use toolgate_host::{Diagnostic, state_folder};

use crate::{Failure, exit};

/// What the user's file with the tools of agents is called, in the folder for configuration.
pub const USER_TOOLS: &str = "tools.yaml";

/// The program that this process runs, by whatever link it was started.
///
/// # Errors
/// If that is not known.
pub fn program() -> std::io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    // Not every system says it without links. One that is gone by now leads nowhere.
    Ok(path.canonicalize().unwrap_or(path))
}

/// Where Toolgate keeps what it has to remember, if there is telling where that is.
pub fn state() -> Option<PathBuf> {
    state_folder(home().map(PathBuf::from).as_deref())
}

/// Where snapshots of the guard are, which has read rule files.
pub fn snapshots() -> Option<PathBuf> {
    Some(state()?.join("snapshots"))
}

/// A folder that an option names, absolute; the current one if none does.
pub fn folder(given: Option<&Path>) -> Result<String, Failure> {
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

/// The root of the project that a folder is in, as a call names it.
pub fn root_of(folder: &str) -> String {
    project_root(Path::new(folder)).display().to_string()
}

/// The rule files that are in force: the user's, then those of the projects that these folders are in. More rules
/// can only forbid more, so each project that a call may be about counts.
///
/// # Errors
/// If there is no telling where the user's own rules are.
pub fn rule_files(folders: &[&Path]) -> Result<LocalFiles, String> {
    Ok(user()?.layers(folders))
}

/// Which of these rule files are the user's and count as a project's all the same.
pub fn demoted(files: &LocalFiles) -> Vec<Diagnostic> {
    user().map(|user| user.demoted(files)).unwrap_or_default()
}

/// All files that users write by hand.
///
/// # Errors
/// If there is no telling where they are.
pub fn user_files() -> Result<Vec<PathBuf>, String> {
    let mut files = user()?.rule_files();
    files.extend(user_file_named(USER_TOOLS));
    Ok(files)
}

/// The places of the user's own rule files.
///
/// # Errors
/// If there is no telling where they are.
pub fn user_rule_files() -> Result<Vec<PathBuf>, String> {
    Ok(user()?.rule_files())
}

/// Where the user's rules and Toolgate's own files are.
fn user() -> Result<UserFolders, String> {
    UserFolders::of_environment().map_err(|error| error.to_string())
}

/// The user's folder for Toolgate's configuration, if there is telling where that is.
pub fn configuration() -> Option<PathBuf> {
    user().ok().map(|user| user.configuration().to_owned())
}

/// The folder of sockets: the system's for such things, else one of our own.
pub fn sockets() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    match runtime {
        Some(runtime) => Some(runtime.join("toolgate")),
        None => Some(state()?.join("run")),
    }
}

/// Where the user's own rule file would be made.
pub fn user_file() -> Result<PathBuf, String> {
    user().map(|user| user.configuration().join("toolgate.yaml"))
}

/// A file in the user's folder for configuration, if there is telling where that is.
pub fn user_file_named(name: &str) -> Option<PathBuf> {
    Some(configuration()?.join(name))
}

/// The audit log of whoever runs this program.
///
/// # Errors
/// If there is no telling where it is.
pub fn audit() -> Result<AuditFile, String> {
    let home = home().map(PathBuf::from);
    AuditFile::of_user(home.as_deref()).ok_or_else(|| NO_STATE.to_owned())
}

/// The permissions that they gave.
///
/// # Errors
/// If there is no telling where they are.
pub fn grants() -> Result<OneTimePermits, String> {
    let home = home().map(PathBuf::from);
    OneTimePermits::of_user(home.as_deref()).ok_or_else(|| NO_STATE.to_owned())
}

/// The calls of theirs that were stopped lately.
///
/// # Errors
/// If there is no telling where they are.
pub fn stopped() -> Result<StoppedCalls, String> {
    let home = home().map(PathBuf::from);
    StoppedCalls::of_user(home.as_deref()).ok_or_else(|| NO_STATE.to_owned())
}

const NO_STATE: &str = "the home folder is unknown, so Toolgate has no folder for its own files; set HOME";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_accounts_has_a_home() {
        assert!(account_home().is_some_and(|home| home.is_absolute()));
    }
}
