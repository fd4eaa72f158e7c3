//! Which rule files are in force where: the user's, and those of the projects that calls are about.
//!
//! The command and programs that embed a gate find them by the same functions, so that a rule holds for both.
//!
//! | Layer | Files | May |
//! |---|---|---|
//! | user | `$XDG_CONFIG_HOME/toolgate` (else `~/.config/toolgate`): `damage-control-rules.yaml`, `toolgate.yaml`, `toolgate.yml`; and `~/.pi/damage-control-rules.yaml` | restrict and lift |
//! | project | below the root of each project: `.pi/damage-control-rules.yaml`, `toolgate.yaml`, `toolgate.yml`, `.toolgate.yaml`, `.toolgate.yml` | restrict only |
//!
//! A file of the user's that another user may have written counts as a project's.

use std::path::{Path, PathBuf};

use toolgate_private::{by_others, state_folder};

use crate::capability::LocalFiles;
use crate::events::{Diagnostic, Level};

/// A rule file's path below a project's root, and below the home folder.
const RULES: &str = ".pi/damage-control-rules.yaml";

/// What rule files are called in the user's folder for configuration.
const USERS: &[&str] = &["damage-control-rules.yaml", "toolgate.yaml", "toolgate.yml"];

/// What rule files are called below a project's root.
pub const PROJECTS: &[&str] = &[RULES, "toolgate.yaml", "toolgate.yml", ".toolgate.yaml", ".toolgate.yml"];

/// Why there is no telling which rules are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFilesError {
    /// Neither `HOME` nor the list of accounts says where the user's own are.
    #[error("the home folder is unknown, so your rules cannot be found; set HOME to an absolute path")]
    NoHome,
}

/// The home folder of whoever runs this program: what `HOME` says, or the list of accounts if it says nothing. None if it is
/// unknown, not absolute or not UTF-8.
///
/// The C library could be asked for the latter, but one that is part of a program has to find its own libraries for it.
pub fn home() -> Option<String> {
    let said = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = said.or_else(account_home)?;
    home.into_os_string().into_string().ok().filter(|home| home.starts_with('/'))
}

/// The home folder that the list of accounts has for this user. A variable may say anything.
pub fn account_home() -> Option<PathBuf> {
    let id = rustix::process::geteuid().as_raw().to_string();
    let is_ours = |line: &&str| line.split(':').nth(2) == Some(id.as_str());
    let home = |list: &str| list.lines().find(is_ours)?.rsplit(':').nth(1).map(PathBuf::from);
    let known = std::fs::read_to_string("/etc/passwd").ok().and_then(|list| home(&list));
    // Accounts may be kept elsewhere, which only the system's own programs know. They are asked once in a long while.
    let asked = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).env_clear().output().ok()?;
        home(&String::from_utf8_lossy(&output.stdout))
    };
    known.or_else(|| asked("/usr/bin/getent", &["passwd", &id])).or_else(|| asked("/usr/bin/id", &["-P"]))
}

/// The root of the project that a folder is in: the nearest folder with rules or a repository, else the folder.
///
/// So that rules are found from wherever in the project an agent happens to be. What cannot be looked at counts as
/// being there: its rules are then reported as unreadable, and not just missed.
pub fn project_root(folder: &Path) -> PathBuf {
    let there = |path: PathBuf| path.try_exists().unwrap_or(true);
    let marked = |folder: &&Path| there(folder.join(".git")) || PROJECTS.iter().any(|name| there(folder.join(name)));
    folder.ancestors().find(marked).unwrap_or(folder).to_path_buf()
}

/// Where a user's rules and Toolgate's own files are.
///
/// ```
/// use std::path::Path;
/// use toolgate_host::rule_files::UserFolders;
///
/// let user = UserFolders::new("/home/dev");
/// assert!(user.rule_files().contains(&"/home/dev/.config/toolgate/toolgate.yaml".into()));
/// // To be handed to a gate: none of the files need exist.
/// let files = user.layers(&[Path::new("/home/dev/project")]);
/// assert!(files.rules().any(|(layer, path)| layer == "project" && path.ends_with("project/toolgate.yaml")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFolders {
    home: PathBuf,
    configuration: PathBuf,
    state: Option<PathBuf>,
}

impl UserFolders {
    /// Those of the user with this home folder, without a look at the environment.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let (configuration, state) = (home.join(".config/toolgate"), Some(home.join(".local/state/toolgate")));
        UserFolders { home, configuration, state }
    }

    /// Those of whoever runs this program: by `HOME`, `XDG_CONFIG_HOME` and `XDG_STATE_HOME`.
    ///
    /// # Errors
    /// If the home folder is unknown.
    pub fn of_environment() -> Result<Self, RuleFilesError> {
        let home = home().map(PathBuf::from).ok_or(RuleFilesError::NoHome)?;
        let configuration = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let configuration = configuration.unwrap_or_else(|| home.join(".config")).join("toolgate");
        let state = state_folder(Some(&home));
        Ok(UserFolders { home, configuration, state })
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The user's folder for Toolgate's configuration.
    pub fn configuration(&self) -> &Path {
        &self.configuration
    }

    /// Where Toolgate keeps what it has to remember, if there is telling where that is.
    pub fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// The user's own rule files, whether they are there or not.
    pub fn rule_files(&self) -> Vec<PathBuf> {
        USERS.iter().map(|name| self.configuration.join(name)).chain([self.home.join(RULES)]).collect()
    }

    /// The rule files that are in force: the user's, then those of the projects that these folders are in. More rules can only
    /// forbid more, so each project that a call may be about counts. A relative path is one below the current folder.
    pub fn layers(&self, folders: &[&Path]) -> LocalFiles {
        let folders: Vec<PathBuf> =
            folders.iter().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf())).collect();
        let mut files = self.rule_files().into_iter().fold(LocalFiles::new(), |files, path| match by_others(&path) {
            None => files.user_rules(path),
            // Whoever may have written it: what it forbids is forbidden, and what it lifts is not.
            Some(_) => files.project_rules(path),
        });
        let mut roots: Vec<PathBuf> = folders.into_iter().flat_map(|folder| [project_root(&folder), folder]).collect();
        roots.sort();
        roots.dedup();
        let mut hidden = vec![self.home.clone()];
        for root in roots.into_iter().filter(|root| *root != self.home) {
            files = PROJECTS.iter().fold(files, |files, name| files.project_rules(root.join(name)));
            hidden.push(root);
        }
        let own = [Some(self.configuration.clone()), self.state.clone()].into_iter().flatten().collect();
        files.known_names(own, hidden)
    }

    /// Which of these rule files are the user's and count as a project's all the same.
    pub fn demoted(&self, files: &LocalFiles) -> Vec<Diagnostic> {
        let users = self.rule_files();
        let demoted =
            files.rules().filter(|(layer, path)| *layer == "project" && users.iter().any(|user| user == path));
        let told = demoted.filter_map(|(_, path)| {
            let message = format!(
                "the file can only add restrictions, because another user may have written it: {}",
                by_others(path)?
            );
            Some(Diagnostic::new(Level::Warning, message).in_file(path.display().to_string()))
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_layers_are_the_users_and_then_those_of_each_project() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let home = scratch.path().join("home");
        let project = home.join("project");
        std::fs::create_dir_all(project.join(".git")).expect("a folder");
        std::fs::create_dir_all(project.join("deep/er")).expect("a folder");
        let user = UserFolders::new(&home);
        std::fs::create_dir_all(user.configuration()).expect("a folder");
        let written = user.configuration().join("toolgate.yml");
        std::fs::write(&written, "").expect("a file");
        std::fs::set_permissions(&written, std::fs::Permissions::from_mode(0o666)).expect("its mode");
        let deep = project.join("deep/er");
        let files = user.layers(&[&project, &deep, &home]);
        let found: Vec<(&str, &Path)> = files.rules().collect();
        let layer =
            |path: &Path| found.iter().filter(|(_, one)| *one == path).map(|(layer, _)| *layer).collect::<Vec<_>>();
        assert_eq!(layer(&user.configuration().join("toolgate.yaml")), ["user"]);
        assert_eq!(layer(&home.join(RULES)), ["user"]);
        assert_eq!(layer(&written), ["project"], "anybody may have written it");
        assert_eq!(layer(&project.join("toolgate.yaml")), ["project"], "once, however many folders are in it");
        assert_eq!(layer(&deep.join("toolgate.yaml")), ["project"]);
        assert!(layer(&home.join("toolgate.yaml")).is_empty(), "the home folder is no project");
        assert!(found.iter().take(2).all(|(layer, _)| *layer == "user"), "the user's come first: {found:?}");
        let demoted = user.demoted(&files);
        assert_eq!(demoted.len(), 1);
        assert_eq!(demoted[0].file.as_deref(), written.to_str());
    }
}
