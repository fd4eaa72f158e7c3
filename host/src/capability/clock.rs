//! `clock`: tells the time.

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::capability::Capability;

/// Tells the time.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    async fn now(&self) -> Answer<u64>;
    /// Milliseconds since some start; never goes back.
    async fn monotonic(&self) -> Answer<u64>;
    /// Wakes the component up later, in milliseconds.
    async fn schedule(&self, id: String, delay: u64) -> Answer<()>;
    /// Forgets a scheduled call.
    async fn cancel(&self, id: String) -> Answer<()>;
}

#[async_trait]
impl<R: Refuse> Clock for R {
    async fn now(&self) -> Answer<u64> {
        self.answer(Capability::Clock)
    }

    async fn monotonic(&self) -> Answer<u64> {
        self.answer(Capability::Clock)
    }

    async fn schedule(&self, _id: String, _delay: u64) -> Answer<()> {
        self.answer(Capability::Clock)
    }

    async fn cancel(&self, _id: String) -> Answer<()> {
        self.answer(Capability::Clock)
    }
}

#[async_trait]
impl<T: Clock> Clock for Recording<T> {
    async fn now(&self) -> Answer<u64> {
        self.record("clock.now", &());
        self.inner.now().await
    }

    async fn monotonic(&self) -> Answer<u64> {
        self.record("clock.monotonic", &());
        self.inner.monotonic().await
    }

    async fn schedule(&self, id: String, delay: u64) -> Answer<()> {
        self.record("clock.schedule", &(&id, &delay));
        self.inner.schedule(id, delay).await
    }

    async fn cancel(&self, id: String) -> Answer<()> {
        self.record("clock.cancel", &(&id,));
        self.inner.cancel(id).await
    }
}
