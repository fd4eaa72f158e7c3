//! `ui`: shows things to the person.

use std::io::Write;

use async_trait::async_trait;

use super::{Answer, Denied, Recording};
use crate::CapabilityError;
use crate::Level;
use crate::bindings::toolgate::plugin::ui::Host;
use crate::limits::deadline;
use crate::state::HostState;

/// Shows things to the person.
#[async_trait]
pub trait Ui: Send + Sync {
    /// Sets or clears a status line.
    async fn set_status(&self, key: String, text: Option<String>) -> Answer<()>;
    /// Shows a message once.
    async fn notify(&self, message: String, level: Level) -> Answer<()>;
}

#[async_trait]
impl Ui for Denied {
    async fn set_status(&self, _key: String, _text: Option<String>) -> Answer<()> {
        Denied::answer("ui")
    }

    async fn notify(&self, _message: String, _level: Level) -> Answer<()> {
        Denied::answer("ui")
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
        self.host_call(deadline::LOCAL, async move { ui.set_status(key, text).await }).await
    }

    async fn notify(&mut self, message: String, level: Level) -> wasmtime::Result<Answer<()>> {
        let ui = self.capabilities.ui.clone();
        self.host_call(deadline::LOCAL, async move { ui.notify(message, level).await }).await
    }
}
