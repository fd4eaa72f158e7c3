//! `terminal`: drives the shared terminal.

use async_trait::async_trait;

use super::{Answer, Pane, Recording, Refuse, Screen, Wake};
use crate::capability::Capability;

/// Drives the shared terminal.
#[async_trait]
pub trait Terminal: Send + Sync {
    /// The id of the session that the agent runs in.
    async fn session(&self) -> Answer<String>;
    /// The panes of the agent's session, and the one that the user named.
    async fn panes(&self) -> Answer<Vec<Pane>>;
    /// Splits a pane off and says its id.
    async fn split(&self, cwd: String) -> Answer<String>;
    /// Types text, and Enter after it if asked to.
    async fn send_text(&self, pane: String, text: String, enter: bool) -> Answer<()>;
    /// Pastes text.
    async fn paste(&self, pane: String, text: String) -> Answer<()>;
    /// Presses named keys.
    async fn send_keys(&self, pane: String, keys: Vec<String>) -> Answer<()>;
    /// What a pane shows, and the last lines that scrolled out of it.
    async fn capture(&self, pane: String, lines: u32) -> Answer<Screen>;
    /// Waits for a signal, in milliseconds.
    async fn wait_for(&self, pane: String, channel: String, timeout: u32) -> Answer<Wake>;
    /// Has the component called when a signal comes.
    async fn watch(&self, pane: String, channel: String) -> Answer<()>;
    /// A variable of the session.
    async fn get_environment(&self, name: String) -> Answer<Option<String>>;
    /// Sets a variable of the session.
    async fn set_environment(&self, name: String, value: String) -> Answer<()>;
    /// Closes a pane that this component opened.
    async fn close(&self, pane: String) -> Answer<()>;
}

#[async_trait]
impl<R: Refuse> Terminal for R {
    async fn session(&self) -> Answer<String> {
        self.answer(Capability::Terminal)
    }

    async fn panes(&self) -> Answer<Vec<Pane>> {
        self.answer(Capability::Terminal)
    }

    async fn split(&self, _cwd: String) -> Answer<String> {
        self.answer(Capability::Terminal)
    }

    async fn send_text(&self, _pane: String, _text: String, _enter: bool) -> Answer<()> {
        self.answer(Capability::Terminal)
    }

    async fn paste(&self, _pane: String, _text: String) -> Answer<()> {
        self.answer(Capability::Terminal)
    }

    async fn send_keys(&self, _pane: String, _keys: Vec<String>) -> Answer<()> {
        self.answer(Capability::Terminal)
    }

    async fn capture(&self, _pane: String, _lines: u32) -> Answer<Screen> {
        self.answer(Capability::Terminal)
    }

    async fn wait_for(&self, _pane: String, _channel: String, _timeout: u32) -> Answer<Wake> {
        self.answer(Capability::Terminal)
    }

    async fn watch(&self, _pane: String, _channel: String) -> Answer<()> {
        self.answer(Capability::Terminal)
    }

    async fn get_environment(&self, _name: String) -> Answer<Option<String>> {
        self.answer(Capability::Terminal)
    }

    async fn set_environment(&self, _name: String, _value: String) -> Answer<()> {
        self.answer(Capability::Terminal)
    }

    async fn close(&self, _pane: String) -> Answer<()> {
        self.answer(Capability::Terminal)
    }
}

#[async_trait]
impl<T: Terminal> Terminal for Recording<T> {
    async fn session(&self) -> Answer<String> {
        self.record("terminal.session", &());
        self.inner.session().await
    }

    async fn panes(&self) -> Answer<Vec<Pane>> {
        self.record("terminal.panes", &());
        self.inner.panes().await
    }

    async fn split(&self, cwd: String) -> Answer<String> {
        self.record("terminal.split", &(&cwd,));
        self.inner.split(cwd).await
    }

    async fn send_text(&self, pane: String, text: String, enter: bool) -> Answer<()> {
        self.record("terminal.send-text", &(&pane, &text, &enter));
        self.inner.send_text(pane, text, enter).await
    }

    async fn paste(&self, pane: String, text: String) -> Answer<()> {
        self.record("terminal.paste", &(&pane, &text));
        self.inner.paste(pane, text).await
    }

    async fn send_keys(&self, pane: String, keys: Vec<String>) -> Answer<()> {
        self.record("terminal.send-keys", &(&pane, &keys));
        self.inner.send_keys(pane, keys).await
    }

    async fn capture(&self, pane: String, lines: u32) -> Answer<Screen> {
        self.record("terminal.capture", &(&pane, &lines));
        self.inner.capture(pane, lines).await
    }

    async fn wait_for(&self, pane: String, channel: String, timeout: u32) -> Answer<Wake> {
        self.record("terminal.wait-for", &(&pane, &channel, &timeout));
        self.inner.wait_for(pane, channel, timeout).await
    }

    async fn watch(&self, pane: String, channel: String) -> Answer<()> {
        self.record("terminal.watch", &(&pane, &channel));
        self.inner.watch(pane, channel).await
    }

    async fn get_environment(&self, name: String) -> Answer<Option<String>> {
        self.record("terminal.get-environment", &(&name,));
        self.inner.get_environment(name).await
    }

    async fn set_environment(&self, name: String, value: String) -> Answer<()> {
        self.record("terminal.set-environment", &(&name, &value));
        self.inner.set_environment(name, value).await
    }

    async fn close(&self, pane: String) -> Answer<()> {
        self.record("terminal.close", &(&pane,));
        self.inner.close(pane).await
    }
}
