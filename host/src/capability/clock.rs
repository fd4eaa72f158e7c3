//! `clock`: tells the time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use super::{Answer, Denied, Recording};
use crate::CapabilityError;
use crate::bindings::toolgate::plugin::clock::Host;
use crate::limits::deadline;
use crate::state::HostState;

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
impl Clock for Denied {
    async fn now(&self) -> Answer<u64> {
        Denied::answer("clock")
    }

    async fn monotonic(&self) -> Answer<u64> {
        Denied::answer("clock")
    }

    async fn schedule(&self, _id: String, _delay: u64) -> Answer<()> {
        Denied::answer("clock")
    }

    async fn cancel(&self, _id: String) -> Answer<()> {
        Denied::answer("clock")
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

/// The machine's clock. It has no timers: who runs a component for longer brings a clock that calls back.
#[derive(Clone, Debug)]
pub struct LocalClock {
    start: Instant,
}

impl Default for LocalClock {
    fn default() -> Self {
        LocalClock { start: Instant::now() }
    }
}

#[async_trait]
impl Clock for LocalClock {
    async fn now(&self) -> Answer<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let since = since.map_err(|_| CapabilityError::Unavailable("the clock is before 1970".to_owned()))?;
        u64::try_from(since.as_millis()).map_err(|error| CapabilityError::Other(error.to_string()))
    }

    async fn monotonic(&self) -> Answer<u64> {
        u64::try_from(self.start.elapsed().as_millis()).map_err(|error| CapabilityError::Other(error.to_string()))
    }

    async fn schedule(&self, _id: String, _delay: u64) -> Answer<()> {
        Err(CapabilityError::Unavailable("this host has no timers".to_owned()))
    }

    async fn cancel(&self, _id: String) -> Answer<()> {
        Ok(())
    }
}

impl Host for HostState {
    async fn now(&mut self) -> wasmtime::Result<Answer<u64>> {
        let clock = self.capabilities.clock.clone();
        self.host_call(deadline::LOCAL, async move { clock.now().await }).await
    }

    async fn monotonic(&mut self) -> wasmtime::Result<Answer<u64>> {
        let clock = self.capabilities.clock.clone();
        self.host_call(deadline::LOCAL, async move { clock.monotonic().await }).await
    }

    async fn schedule(&mut self, id: String, delay: u64) -> wasmtime::Result<Answer<()>> {
        let clock = self.capabilities.clock.clone();
        self.host_call(deadline::LOCAL, async move { clock.schedule(id, delay).await }).await
    }

    async fn cancel(&mut self, id: String) -> wasmtime::Result<Answer<()>> {
        let clock = self.capabilities.clock.clone();
        self.host_call(deadline::LOCAL, async move { clock.cancel(id).await }).await
    }
}
