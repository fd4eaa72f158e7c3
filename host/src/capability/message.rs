//! `message`: writes into the conversation.

use async_trait::async_trait;

use super::{Answer, Outgoing, Recording, Refuse};
use crate::bindings::toolgate::plugin::message::Host;
use crate::granted::Capability;
use crate::limits::deadline;
use crate::state::HostState;
use crate::text;

/// Writes into the conversation.
#[async_trait]
pub trait Message: Send + Sync {
    /// Sends a message.
    async fn send(&self, outgoing: Outgoing) -> Answer<()>;
}

#[async_trait]
impl<R: Refuse> Message for R {
    async fn send(&self, _outgoing: Outgoing) -> Answer<()> {
        self.answer(Capability::Message)
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
        let outgoing = Outgoing { kind: text::name(&outgoing.kind), text: text::addition(&outgoing.text), ..outgoing };
        self.host_call(deadline::LOCAL, async move { message.send(outgoing).await }).await
    }
}
