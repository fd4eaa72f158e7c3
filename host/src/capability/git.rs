//! `git`: asks git about a work tree.

use async_trait::async_trait;

use super::{Answer, ChangedFile, Denied, Recording};
use crate::bindings::toolgate::plugin::git::Host;
use crate::limits::deadline;
use crate::state::HostState;

/// Asks git about a work tree.
#[async_trait]
pub trait Git: Send + Sync {
    /// The files under this folder that differ from the last commit.
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>>;
    /// The checked-out branch.
    async fn branch(&self, folder: String) -> Answer<Option<String>>;
}

#[async_trait]
impl Git for Denied {
    async fn changed_files(&self, _folder: String) -> Answer<Vec<ChangedFile>> {
        Denied::answer("git")
    }

    async fn branch(&self, _folder: String) -> Answer<Option<String>> {
        Denied::answer("git")
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

impl Host for HostState {
    async fn changed_files(&mut self, folder: String) -> wasmtime::Result<Answer<Vec<ChangedFile>>> {
        let git = self.capabilities.git.clone();
        self.host_call(deadline::GIT, async move { git.changed_files(folder).await }).await
    }

    async fn branch(&mut self, folder: String) -> wasmtime::Result<Answer<Option<String>>> {
        let git = self.capabilities.git.clone();
        self.host_call(deadline::GIT, async move { git.branch(folder).await }).await
    }
}
