//! `ui`: shows things to the person.

use std::io::Write;

use async_trait::async_trait;

use super::{Answer, Recording, Refuse};
use crate::CapabilityError;
use crate::Level;
use crate::bindings::toolgate::plugin::ui::Host;
use crate::granted::Capability;
use crate::limits::deadline;
use crate::state::HostState;
use crate::text;

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

/// Messages go to standard error, made harmless. Status lines need a screen, and are dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct StderrUi;

#[async_trait]
impl Ui for StderrUi {
    async fn set_status(&self, _key: String, _text: Option<String>) -> Answer<()> {
        Ok(())
    }

    async fn notify(&self, message: String, level: Level) -> Answer<()> {
        writeln!(std::io::stderr(), "toolgate: {level:?}: {}", crate::plain(&message))
            .map_err(|e| CapabilityError::Other(e.to_string()))
    }
}

impl Host for HostState {
    async fn set_status(&mut self, key: String, text: Option<String>) -> wasmtime::Result<Answer<()>> {
        let ui = self.capabilities.ui.clone();
        let (key, text) = (text::name(&key), text.map(|text| text::name(&text)));
        self.host_call(deadline::LOCAL, async move { ui.set_status(key, text).await }).await
    }

    async fn notify(&mut self, message: String, level: Level) -> wasmtime::Result<Answer<()>> {
        let ui = self.capabilities.ui.clone();
        let message = text::sentence(&message);
        self.host_call(deadline::LOCAL, async move { ui.notify(message, level).await }).await
    }
}
