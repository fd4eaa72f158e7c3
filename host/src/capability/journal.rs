//! `journal`: appends to the session's record.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::CapabilityError;
use crate::bindings::toolgate::plugin::journal::Host;
use crate::granted::Capability;
use crate::limits::deadline;
use crate::state::HostState;

/// Appends to the session's record.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Adds an entry, a JSON text.
    async fn append(&self, kind: String, entry: String) -> Answer<()>;
}

#[async_trait]
impl<R: Refuse> Journal for R {
    async fn append(&self, _kind: String, _entry: String) -> Answer<()> {
        self.answer(Capability::Journal)
    }
}

#[async_trait]
impl<T: Journal> Journal for Recording<T> {
    async fn append(&self, kind: String, entry: String) -> Answer<()> {
        self.record("journal.append", &(&kind, &entry));
        self.inner.append(kind, entry).await
    }
}

/// A file of JSON lines that only its owner may read.
#[derive(Clone, Debug)]
pub struct LocalJournal {
    path: PathBuf,
}

impl LocalJournal {
    /// Appends to this file, which is made if it is missing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        LocalJournal { path: path.into() }
    }
}

#[async_trait]
impl Journal for LocalJournal {
    async fn append(&self, kind: String, entry: String) -> Answer<()> {
        let entry: serde_json::Value =
            serde_json::from_str(&entry).map_err(|error| CapabilityError::Invalid(format!("no JSON text: {error}")))?;
        let line = format!("{}\n", serde_json::json!({ "kind": kind, "entry": entry }));
        let other = |error: std::io::Error| CapabilityError::Other(format!("{}: {error}", self.path.display()));
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path).map_err(other)?;
        // One write, so that lines of several processes do not mix.
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(other)
    }
}

impl Host for HostState {
    async fn append(&mut self, kind: String, entry: String) -> wasmtime::Result<Answer<()>> {
        let journal = self.capabilities.journal.clone();
        self.host_call(deadline::LOCAL, async move { journal.append(kind, entry).await }).await
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn entries_are_lines_that_only_the_owner_reads() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("journal.jsonl");
        let journal = LocalJournal::new(&path);
        assert_eq!(journal.append("a".into(), "{\"x\":1}".into()).await, Ok(()));
        assert_eq!(journal.append("b".into(), "[2]".into()).await, Ok(()));
        assert!(matches!(journal.append("c".into(), "{".into()).await, Err(CapabilityError::Invalid(_))));
        let text = std::fs::read_to_string(&path).expect("the journal");
        assert_eq!(text, "{\"kind\":\"a\",\"entry\":{\"x\":1}}\n{\"kind\":\"b\",\"entry\":[2]}\n");
        let mode = std::fs::metadata(&path).expect("the journal").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
