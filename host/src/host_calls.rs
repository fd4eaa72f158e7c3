//! What components import, by the contract: each call is counted, has its deadline, and goes to the capability that the store has.

use std::time::Duration;

use crate::bindings::toolgate::plugin::{
    clock, daemon, extensions, files, git, journal, log, message, terminal, types, ui,
};
use crate::capability::{Answer, ChangedFile, ConfigFile, FileStat, Outgoing, Pane, RULES, RealPath, Screen, Wake};
use crate::limits::{LOG_MESSAGE, deadline};
use crate::state::HostState;
use crate::text;
use crate::{CapabilityError, Level, Truth};

impl types::Host for HostState {}

impl clock::Host for HostState {
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

impl daemon::Host for HostState {
    async fn ensure(&mut self) -> wasmtime::Result<Answer<()>> {
        let daemon = self.capabilities.daemon.clone();
        self.host_call(deadline::DAEMON, async move { daemon.ensure().await }).await
    }

    async fn request(&mut self, method: String, params: String) -> wasmtime::Result<Answer<String>> {
        let daemon = self.capabilities.daemon.clone();
        self.host_call(deadline::DAEMON, async move { daemon.request(method, params).await }).await
    }

    async fn stop(&mut self) -> wasmtime::Result<Answer<()>> {
        let daemon = self.capabilities.daemon.clone();
        self.host_call(deadline::DAEMON, async move { daemon.stop().await }).await
    }
}

impl HostState {
    /// Asks another component, within what is left of the hook's time for that.
    async fn ask_others<T>(&mut self, work: impl Future<Output = Answer<T>>) -> wasmtime::Result<Answer<T>> {
        let before = tokio::time::Instant::now();
        let left = self.left_for_others;
        let answer = match left.is_zero() {
            true => self.host_call(deadline::LOCAL, async { Err(CapabilityError::Timeout) }).await,
            false => self.host_call(left, work).await,
        };
        self.left_for_others = left.saturating_sub(before.elapsed());
        answer
    }
}

impl extensions::Host for HostState {
    async fn provided(&mut self) -> wasmtime::Result<Answer<String>> {
        let extensions = self.capabilities.extensions.clone();
        self.ask_others(async move { extensions.provided().await }).await
    }

    async fn modify(&mut self, component: String, request: String) -> wasmtime::Result<Answer<String>> {
        let extensions = self.capabilities.extensions.clone();
        self.ask_others(async move { extensions.modify(component, request).await }).await
    }

    async fn evaluate(&mut self, predicate: String, request: String) -> wasmtime::Result<Answer<Truth>> {
        let extensions = self.capabilities.extensions.clone();
        self.ask_others(async move { extensions.evaluate(predicate, request).await }).await
    }
}

impl files::Host for HostState {
    async fn stat(&mut self, paths: Vec<String>) -> wasmtime::Result<Answer<Vec<Option<FileStat>>>> {
        let files = self.capabilities.files.clone();
        self.host_call(deadline::FILES, async move { files.stat(paths).await }).await
    }

    async fn resolve(&mut self, paths: Vec<String>) -> wasmtime::Result<Answer<Vec<Option<RealPath>>>> {
        let files = self.capabilities.files.clone();
        self.host_call(deadline::FILES, async move { files.resolve(paths).await }).await
    }

    async fn read_config(&mut self, name: String) -> wasmtime::Result<Answer<Vec<ConfigFile>>> {
        if name == RULES
            && let Some(read) = self.rules.take()
        {
            self.count()?;
            return Ok(read);
        }
        let files = self.capabilities.files.clone();
        self.host_call(deadline::FILES, async move { files.read_config(name).await }).await
    }

    async fn read_script(&mut self, path: String) -> wasmtime::Result<Answer<String>> {
        let files = self.capabilities.files.clone();
        self.host_call(deadline::FILES, async move { files.read_script(path).await }).await
    }
}

impl git::Host for HostState {
    async fn changed_files(&mut self, folder: String) -> wasmtime::Result<Answer<Vec<ChangedFile>>> {
        let git = self.capabilities.git.clone();
        self.host_call(deadline::GIT, async move { git.changed_files(folder).await }).await
    }

    async fn branch(&mut self, folder: String) -> wasmtime::Result<Answer<Option<String>>> {
        let git = self.capabilities.git.clone();
        self.host_call(deadline::GIT, async move { git.branch(folder).await }).await
    }
}

impl journal::Host for HostState {
    async fn append(&mut self, kind: String, entry: String) -> wasmtime::Result<Answer<()>> {
        let journal = self.capabilities.journal.clone();
        self.host_call(deadline::LOCAL, async move { journal.append(kind, entry).await }).await
    }
}

impl log::Host for HostState {
    async fn write(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        self.count()?;
        if !self.may_log() {
            return Ok(());
        }
        let mut end = message.len().min(LOG_MESSAGE);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        self.capabilities.log.write(&self.plugin, level, &message[..end]);
        Ok(())
    }
}

impl message::Host for HostState {
    async fn send(&mut self, outgoing: Outgoing) -> wasmtime::Result<Answer<()>> {
        let message = self.capabilities.message.clone();
        let outgoing = Outgoing { kind: text::name(&outgoing.kind), text: text::addition(&outgoing.text), ..outgoing };
        self.host_call(deadline::LOCAL, async move { message.send(outgoing).await }).await
    }
}

impl terminal::Host for HostState {
    async fn session(&mut self) -> wasmtime::Result<Answer<String>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.session().await }).await
    }

    async fn panes(&mut self) -> wasmtime::Result<Answer<Vec<Pane>>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.panes().await }).await
    }

    async fn split(&mut self, cwd: String) -> wasmtime::Result<Answer<String>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.split(cwd).await }).await
    }

    async fn send_text(&mut self, pane: String, text: String, enter: bool) -> wasmtime::Result<Answer<()>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.send_text(pane, text, enter).await }).await
    }

    async fn paste(&mut self, pane: String, text: String) -> wasmtime::Result<Answer<()>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.paste(pane, text).await }).await
    }

    async fn send_keys(&mut self, pane: String, keys: Vec<String>) -> wasmtime::Result<Answer<()>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.send_keys(pane, keys).await }).await
    }

    async fn capture(&mut self, pane: String, lines: u32) -> wasmtime::Result<Answer<Screen>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.capture(pane, lines).await }).await
    }

    async fn wait_for(&mut self, pane: String, channel: String, timeout: u32) -> wasmtime::Result<Answer<Wake>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(Duration::from_millis(timeout.into()) + deadline::TERMINAL, async move {
            terminal.wait_for(pane, channel, timeout).await
        })
        .await
    }

    async fn watch(&mut self, pane: String, channel: String) -> wasmtime::Result<Answer<()>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.watch(pane, channel).await }).await
    }

    async fn get_environment(&mut self, name: String) -> wasmtime::Result<Answer<Option<String>>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.get_environment(name).await }).await
    }

    async fn set_environment(&mut self, name: String, value: String) -> wasmtime::Result<Answer<()>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.set_environment(name, value).await }).await
    }

    async fn close(&mut self, pane: String) -> wasmtime::Result<Answer<()>> {
        let terminal = self.capabilities.terminal.clone();
        self.host_call(deadline::TERMINAL, async move { terminal.close(pane).await }).await
    }
}

impl ui::Host for HostState {
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
