//! `message`: writes into the conversation.

use async_trait::async_trait;

use super::{Answer, Denied, Outgoing, Recording};
use crate::bindings::toolgate::plugin::message::Host;
use crate::limits::deadline;
use crate::state::HostState;

/// Writes into the conversation.
#[async_trait]
pub trait Message: Send + Sync {
    /// Sends a message.
    async fn send(&self, outgoing: Outgoing) -> Answer<()>;
}

#[async_trait]
impl Message for Denied {
    async fn send(&self, _outgoing: Outgoing) -> Answer<()> {
        Denied::answer("message")
    }
}

#[async_trait]
impl<T: Message> Message for Recording<T> {
    async fn send(&self, outgoing: Outgoing) -> Answer<()> {
        self.record("message.send", &(&outgoing,));
        self.inner.send(outgoing).await
    }
}

impl Host for HostState {
    async fn send(&mut self, outgoing: Outgoing) -> wasmtime::Result<Answer<()>> {
        let message = self.capabilities.message.clone();
        self.host_call(deadline::LOCAL, async move { message.send(outgoing).await }).await
    }
}
