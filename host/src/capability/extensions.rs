//! `extensions`: reaches the trackers and predicates of other components.

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::bindings::toolgate::plugin::extensions::Host;
use crate::granted::Capability;
use crate::limits::deadline;
use crate::state::HostState;
use crate::{CapabilityError, Truth};

/// Reaches the trackers and predicates of other components.
#[async_trait]
pub trait Extensions: Send + Sync {
    /// What the other components provide, as a JSON text.
    async fn provided(&self) -> Answer<String>;
    /// Applies a modifier of a component.
    async fn modify(&self, component: String, request: String) -> Answer<String>;
    /// Asks a predicate.
    async fn evaluate(&self, predicate: String, request: String) -> Answer<Truth>;
}

#[async_trait]
impl<R: Refuse> Extensions for R {
    async fn provided(&self) -> Answer<String> {
        self.answer(Capability::Extensions)
    }

    async fn modify(&self, _component: String, _request: String) -> Answer<String> {
        self.answer(Capability::Extensions)
    }

    async fn evaluate(&self, _predicate: String, _request: String) -> Answer<Truth> {
        self.answer(Capability::Extensions)
    }
}

#[async_trait]
impl<T: Extensions> Extensions for Recording<T> {
    async fn provided(&self) -> Answer<String> {
        self.record("extensions.provided", &());
        self.inner.provided().await
    }

    async fn modify(&self, component: String, request: String) -> Answer<String> {
        self.record("extensions.modify", &(&component, &request));
        self.inner.modify(component, request).await
    }

    async fn evaluate(&self, predicate: String, request: String) -> Answer<Truth> {
        self.record("extensions.evaluate", &(&predicate, &request));
        self.inner.evaluate(predicate, request).await
    }
}

impl HostState {
    /// Asks another component, within what is left of the hook's time for that.
    async fn ask_others<T>(&mut self, work: impl Future<Output = Answer<T>>) -> wasmtime::Result<Answer<T>> {
        let before = tokio::time::Instant::now();
        let left = self.left_for_others;
        let answer = match left.is_zero() {
            true => self.host_call(deadline::LOCAL, async { Err(CapabilityError::Timeout) }).await,
            false => self.host_call(left, work).await,
        };
        self.left_for_others = left.saturating_sub(before.elapsed());
        answer
    }
}

impl Host for HostState {
    async fn provided(&mut self) -> wasmtime::Result<Answer<String>> {
        let extensions = self.capabilities.extensions.clone();
        self.ask_others(async move { extensions.provided().await }).await
    }

    async fn modify(&mut self, component: String, request: String) -> wasmtime::Result<Answer<String>> {
        let extensions = self.capabilities.extensions.clone();
        self.ask_others(async move { extensions.modify(component, request).await }).await
    }

    async fn evaluate(&mut self, predicate: String, request: String) -> wasmtime::Result<Answer<Truth>> {
        let extensions = self.capabilities.extensions.clone();
        self.ask_others(async move { extensions.evaluate(predicate, request).await }).await
    }
}
