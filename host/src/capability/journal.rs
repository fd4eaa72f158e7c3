//! `journal`: appends to the session's record.

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::capability::Capability;

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
