//! `git`: asks git about a worktree.

use async_trait::async_trait;

use super::{Answer, ChangedFile, Recording, Refuse};
use crate::capability::Capability;

/// Asks git about a worktree.
#[async_trait]
pub trait Git: Send + Sync {
    /// The files under this folder that differ from the last commit; of a file, that one, unless git holds it as it is.
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>>;
    /// The checked-out branch.
    async fn branch(&self, folder: String) -> Answer<Option<String>>;
}

#[async_trait]
impl<R: Refuse> Git for R {
    async fn changed_files(&self, _folder: String) -> Answer<Vec<ChangedFile>> {
        self.answer(Capability::Git)
    }

    async fn branch(&self, _folder: String) -> Answer<Option<String>> {
        self.answer(Capability::Git)
    }
}

#[async_trait]
impl<T: Git> Git for Recording<T> {
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>> {
        self.record("git.changed-files", &(&folder,));
        self.inner.changed_files(folder).await
    }

    async fn branch(&self, folder: String) -> Answer<Option<String>> {
        self.record("git.branch", &(&folder,));
        self.inner.branch(folder).await
    }
}
