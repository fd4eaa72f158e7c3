//! What is in force beside the guard: the plugins that are installed, and those that a command line names.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolgate_host::{Capability, Granted};

use crate::plugin::loaded::{self, Loaded};
use crate::plugin::store::{Installed, Store};
use crate::plugin::{component, watched};

/// The components that a command line names. They are granted a clock and the log, and what the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugins {
    files: Vec<PathBuf>,
    rewrite: bool,
    grants: Vec<Capability>,
}

impl Plugins {
    /// The components in these files, which may rewrite calls or may not, and are granted this besides a clock and the log.
    pub fn new(files: Vec<PathBuf>, rewrite: bool, grants: Vec<Capability>) -> Self {
        Plugins { files, rewrite, grants }
    }

    /// Where those that the command line names are.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether there are any at all. Where that is not known it is found out when they are loaded.
    pub(crate) fn any(&self) -> bool {
        !self.files.is_empty() || !installed().is_empty()
    }

    /// Whether there may be any: the same, where not to know it is no reason to go on.
    pub(crate) fn perhaps(&self) -> bool {
        self.any() || Store::of_user().and_then(|store| store.list()).is_err()
    }

    /// Whether one of them may rewrite calls.
    pub(crate) fn rewrite(&self) -> bool {
        self.rewrite || installed().iter().any(|one| one.granted.rewrite)
    }

    /// As they are given again, wherever that is.
    ///
    /// # Errors
    /// If one is not there.
    pub fn arguments(&self) -> Result<Vec<String>, String> {
        let file = |file: &PathBuf| match file.canonicalize() {
            Ok(file) => Ok(format!("--plugin={}", file.display())),
            Err(error) => Err(format!("{}: {error}", file.display())),
        };
        let mut arguments: Vec<String> = self.files.iter().map(file).collect::<Result<_, _>>()?;
        arguments.extend(self.rewrite.then(|| "--rewrite".to_owned()));
        let grants: Vec<&str> = self.grants.iter().map(|one| one.name()).collect();
        arguments.extend((!grants.is_empty()).then(|| format!("--grant={}", grants.join(","))));
        Ok(arguments)
    }

    /// All of them, ready for use: the installed ones in the order of their names, then those that the command line names
    /// in the order given. The order decides nothing but whose reason comes first.
    ///
    /// # Errors
    /// The first that cannot be used: what it would have said of a call is not known then.
    pub fn load(&self) -> Result<Vec<Loaded>, String> {
        let mut all = loaded::installed()?;
        for file in &self.files {
            all.push(self.named(file)?);
        }
        Ok(all)
    }

    /// Makes sure that those that the command line names can be used.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn usable(&self) -> Result<(), String> {
        self.files.iter().try_for_each(|file| self.named(file).map(drop))
    }

    /// What those that the command line names may do.
    pub fn granted(&self) -> Granted {
        let capabilities = [Capability::Clock, Capability::Log].into_iter().chain(self.grants.iter().copied());
        Granted::to(capabilities).rewriting(self.rewrite)
    }

    fn named(&self, file: &Path) -> Result<Loaded, String> {
        let failed = |error: String| format!("the plugin {}: {error}", file.display());
        let plugin = match watched::current(file) {
            Some(plugin) => plugin,
            None => {
                let bytes = component::component(file).map_err(|failure| failed(failure.message))?;
                let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                loaded::compile(&name, &bytes)?
            }
        };
        // Two files of one name are two plugins.
        let path = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        let granted = self.granted();
        Ok(Loaded {
            key: format!("--plugin {}:{}", path.display(), plugin.description().component.sha256),
            plugin,
            granted,
            logged: true,
        })
    }
}

/// What is installed; nothing if that is not known.
pub fn installed() -> Vec<Installed> {
    Store::of_user().and_then(|store| store.list()).unwrap_or_default()
}
