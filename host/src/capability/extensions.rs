//! `extensions`: reaches the trackers and predicates of other components.

use async_trait::async_trait;

use super::{Answer, Denied, Recording};
use crate::Truth;
use crate::bindings::toolgate::plugin::extensions::Host;
use crate::limits::deadline;
use crate::state::HostState;

/// Reaches the trackers and predicates of other components.
#[async_trait]
pub trait Extensions: Send + Sync {
    /// The trackers that are loaded, as a JSON text.
    async fn trackers(&self) -> Answer<String>;
    /// Applies a tracker's modifier.
    async fn modify(&self, tracker: String, request: String) -> Answer<String>;
    /// Asks a predicate.
    async fn evaluate(&self, predicate: String, request: String) -> Answer<Truth>;
}

#[async_trait]
impl Extensions for Denied {
    async fn trackers(&self) -> Answer<String> {
        Denied::answer("extensions")
    }

    async fn modify(&self, _tracker: String, _request: String) -> Answer<String> {
        Denied::answer("extensions")
    }

    async fn evaluate(&self, _predicate: String, _request: String) -> Answer<Truth> {
        Denied::answer("extensions")
    }
}

#[async_trait]
impl<T: Extensions> Extensions for Recording<T> {
    async fn trackers(&self) -> Answer<String> {
        self.record("extensions.trackers", &());
        self.inner.trackers().await
    }

    async fn modify(&self, tracker: String, request: String) -> Answer<String> {
        self.record("extensions.modify", &(&tracker, &request));
        self.inner.modify(tracker, request).await
    }

    async fn evaluate(&self, predicate: String, request: String) -> Answer<Truth> {
        self.record("extensions.evaluate", &(&predicate, &request));
        self.inner.evaluate(predicate, request).await
    }
}

impl Host for HostState {
    async fn trackers(&mut self) -> wasmtime::Result<Answer<String>> {
        let extensions = self.capabilities.extensions.clone();
        self.host_call(deadline::LOCAL, async move { extensions.trackers().await }).await
    }

    async fn modify(&mut self, tracker: String, request: String) -> wasmtime::Result<Answer<String>> {
        let extensions = self.capabilities.extensions.clone();
        self.host_call(deadline::LOCAL, async move { extensions.modify(tracker, request).await }).await
    }

    async fn evaluate(&mut self, predicate: String, request: String) -> wasmtime::Result<Answer<Truth>> {
        let extensions = self.capabilities.extensions.clone();
        self.host_call(deadline::LOCAL, async move { extensions.evaluate(predicate, request).await }).await
    }
}
