//! Where things are: the user's home, the project's root, rule files.

use std::path::{Path, PathBuf};

use toolgate_host::capability::{LocalClock, LocalFiles, LocalLog, StderrUi};
use toolgate_host::{Capabilities, Engine, Gate, LoadError, Plugin, Session};

/// A rule file's path below a project's root, and below the home folder.
const RULES: &str = ".pi/damage-control-rules.yaml";

/// The home folder of whoever runs this program.
pub(crate) fn home() -> Option<String> {
    std::env::home_dir()?.into_os_string().into_string().ok().filter(|home| home.starts_with('/'))
}

/// The root of the project that a folder is in: the nearest folder with rules or a repository, else the folder.
///
/// So that rules are found from wherever in the project an agent happens to be.
pub(crate) fn project_root(folder: &Path) -> PathBuf {
    let marked = |folder: &&Path| folder.join(RULES).exists() || folder.join(".git").exists();
    folder.ancestors().find(marked).unwrap_or(folder).to_path_buf()
}

/// The rule files that are in force for a project: the user's, then the project's.
pub(crate) fn rule_files(root: &Path) -> LocalFiles {
    let mut files = LocalFiles::new();
    let home = home().map(PathBuf::from);
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| home.as_ref().map(|home| home.join(".config")));
    if let Some(config) = config {
        files = files.user_rules(config.join("toolgate/damage-control-rules.yaml"));
    }
    if let Some(home) = &home {
        files = files.user_rules(home.join(RULES));
    }
    if home.as_deref() != Some(root) {
        files = files.project_rules(root.join(RULES));
    }
    files
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
