//! A file that has an agent call Toolgate, as `doctor` found it.

use serde_json::Value;
use toolgate_agents::settings::file::File;
use toolgate_agents::settings::hooks::Entry;
use toolgate_agents::settings::table::{Hooks, Scope};

/// A file with our entries, or our file.
pub(super) struct EntryFile {
    pub(super) scope: Scope,
    pub(super) file: File,
    pub(super) content: Content,
    /// The key with the events, if it is a file that is read besides the one for that.
    pub(super) second: Option<&'static str>,
}

pub(super) enum Content {
    Hooks { root: Value, entries: Vec<Entry> },
    Shim { program: String },
}

impl EntryFile {
    /// The form of its file.
    pub(super) fn looked(&self, hooks: &Hooks) -> Hooks {
        looked(hooks, self.second)
    }
}

/// The form of a file whose events are under this key, if it is a second one.
pub(super) fn looked(hooks: &Hooks, second: Option<&'static str>) -> Hooks {
    hooks.below(second.or(hooks.under))
}
