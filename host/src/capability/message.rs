//! `message`: writes into the conversation.

use async_trait::async_trait;

use super::{Answer, Outgoing, Recording, Refuse};
use crate::capability::Capability;

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
