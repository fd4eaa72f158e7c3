//! `ui`: shows things to the person.

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::Level;
use crate::capability::Capability;

/// Shows things to the person.
#[async_trait]
pub trait Ui: Send + Sync {
    /// Sets or clears a status line.
    async fn set_status(&self, key: String, text: Option<String>) -> Answer<()>;
    /// Shows a message once.
    async fn notify(&self, message: String, level: Level) -> Answer<()>;
}

#[async_trait]
impl<R: Refuse> Ui for R {
    async fn set_status(&self, _key: String, _text: Option<String>) -> Answer<()> {
        self.answer(Capability::Ui)
    }

    async fn notify(&self, _message: String, _level: Level) -> Answer<()> {
        self.answer(Capability::Ui)
    }
}

#[async_trait]
impl<T: Ui> Ui for Recording<T> {
    async fn set_status(&self, key: String, text: Option<String>) -> Answer<()> {
        self.record("ui.set-status", &(&key, &text));
        self.inner.set_status(key, text).await
    }

    async fn notify(&self, message: String, level: Level) -> Answer<()> {
        self.record("ui.notify", &(&message, &level));
        self.inner.notify(message, level).await
    }
}
