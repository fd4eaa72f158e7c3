//! `daemon`: speaks with the project's check daemon.

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::capability::Capability;

/// Speaks with the project's check daemon.
#[async_trait]
pub trait Daemon: Send + Sync {
    /// Starts the daemon unless it runs.
    async fn ensure(&self) -> Answer<()>;
    /// One request and its answer, as JSON texts.
    async fn request(&self, method: String, params: String) -> Answer<String>;
    /// Stops the daemon.
    async fn stop(&self) -> Answer<()>;
}

#[async_trait]
impl<R: Refuse> Daemon for R {
    async fn ensure(&self) -> Answer<()> {
        self.answer(Capability::Daemon)
    }

    async fn request(&self, _method: String, _params: String) -> Answer<String> {
        self.answer(Capability::Daemon)
    }

    async fn stop(&self) -> Answer<()> {
        self.answer(Capability::Daemon)
    }
}

#[async_trait]
impl<T: Daemon> Daemon for Recording<T> {
    async fn ensure(&self) -> Answer<()> {
        self.record("daemon.ensure", &());
        self.inner.ensure().await
    }

    async fn request(&self, method: String, params: String) -> Answer<String> {
        self.record("daemon.request", &(&method, &params));
        self.inner.request(method, params).await
    }

    async fn stop(&self) -> Answer<()> {
        self.record("daemon.stop", &());
        self.inner.stop().await
    }
}
