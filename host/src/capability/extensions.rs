//! `extensions`: reaches the trackers and predicates of other components.

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::Truth;
use crate::capability::Capability;

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
