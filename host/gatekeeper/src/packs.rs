//! Which packs of the built-in rules are on.

use serde::{Deserialize, Serialize};
use toolgate_host::Started;

/// The packs that a command line names. Rule files may name some as well, under `packs`; the command line has the last
/// word.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Packs {
    names: Vec<String>,
}

impl Packs {
    /// The packs of these names; with a dash before its name, a pack is off.
    pub fn new(names: Vec<String>) -> Self {
        Packs { names }
    }

    /// Every pack.
    pub fn all() -> Self {
        Packs::new(vec!["all".to_owned()])
    }

    /// As they are given again.
    pub fn arguments(&self) -> Vec<String> {
        let names = self.names().join(",");
        if names.is_empty() { Vec::new() } else { vec![format!("--packs={names}")] }
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect()
    }

    /// Whether a component that was started with them knows all of them.
    ///
    /// # Errors
    /// What it said. Which pack is on decides what is judged, so nothing goes on with a wrong one.
    pub(crate) fn known(&self, started: &Started) -> Result<(), String> {
        if self.names.is_empty() {
            return Ok(());
        }
        // What is wrong with a rule file has the file's name; this was no file.
        match started.diagnostics.iter().find(|diagnostic| diagnostic.file.is_none()) {
            Some(diagnostic) => Err(format!("--packs: {}", diagnostic.message)),
            None => Ok(()),
        }
    }
}
