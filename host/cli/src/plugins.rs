//! `--plugin`: components that judge and look at results beside the guard.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use toolgate_host::capability::{LocalClock, LocalLog};
use toolgate_host::{Capabilities, Engine, Plugin};

/// The components that a command line names. They are granted a clock and the log, and nothing else.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plugins {
    /// Let this component judge calls and look at their results, too; may be given several times
    #[arg(long = "plugin", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Let these components rewrite calls; what they make of one is judged again
    #[arg(long, requires = "files")]
    pub(crate) rewrite: bool,
}

impl Plugins {
    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Where they are.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// As they are given again, wherever that is.
    ///
    /// # Errors
    /// If one is not there.
    pub(crate) fn arguments(&self) -> Result<Vec<String>, String> {
        let file = |file: &PathBuf| match file.canonicalize() {
            Ok(file) => Ok(format!("--plugin={}", file.display())),
            Err(error) => Err(format!("{}: {error}", file.display())),
        };
        let mut arguments: Vec<String> = self.files.iter().map(file).collect::<Result<_, _>>()?;
        arguments.extend(self.rewrite.then(|| "--rewrite".to_owned()));
        Ok(arguments)
    }

    /// Compiles them.
    ///
    /// # Errors
    /// The first that cannot be used: what it would have said of a call is not known then.
    pub(crate) fn load(&self) -> Result<Vec<Plugin>, String> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let engine = Engine::new().map_err(|error| error.to_string())?;
        let load = |file: &PathBuf| {
            let bytes = std::fs::read(file).map_err(|error| format!("the plugin {}: {error}", file.display()))?;
            let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            Plugin::compile(&engine, &name, &bytes).map_err(|error| error.to_string())
        };
        self.files.iter().map(load).collect()
    }

    /// What they may reach.
    pub(crate) fn granted() -> Capabilities {
        Capabilities::denied().clock(LocalClock::default()).log(LocalLog)
    }
}
