//! What components import, by the contract: each call is counted, has its deadline, and goes to the capability that the store has.

use std::time::Duration;

use crate::bindings::toolgate::plugin::{
    clock, daemon, extensions, files, git, journal, log, message, terminal, types, ui,
};
use crate::capability::{Answer, CapabilityError, Outgoing, RULES};
use crate::convert::{answer, answers, found};
use crate::limits::{LOG_MESSAGE, deadline};
use crate::state::HostState;
use crate::text;

/// What a host call ends with: the component's answer; or, as the outer error, the end of its hook.
type Crossing<T> = wasmtime::Result<Result<T, types::Error>>;

impl types::Host for HostState {}

impl clock::Host for HostState {
    async fn now(&mut self) -> Crossing<u64> {
        let clock = self.capabilities.clock.clone();
        Ok(answer(self.host_call(deadline::LOCAL, async move { clock.now().await }).await?))
    }

    async fn monotonic(&mut self) -> Crossing<u64> {
        let clock = self.capabilities.clock.clone();
        Ok(answer(self.host_call(deadline::LOCAL, async move { clock.monotonic().await }).await?))
    }

    async fn schedule(&mut self, id: String, delay: u64) -> Crossing<()> {
        let clock = self.capabilities.clock.clone();
        Ok(answer(self.host_call(deadline::LOCAL, async move { clock.schedule(id, delay).await }).await?))
    }

    async fn cancel(&mut self, id: String) -> Crossing<()> {
        let clock = self.capabilities.clock.clone();
        Ok(answer(self.host_call(deadline::LOCAL, async move { clock.cancel(id).await }).await?))
    }
}

impl daemon::Host for HostState {
    async fn ensure(&mut self) -> Crossing<()> {
        let daemon = self.capabilities.daemon.clone();
        Ok(answer(self.host_call(deadline::DAEMON, async move { daemon.ensure().await }).await?))
    }

    async fn request(&mut self, method: String, params: String) -> Crossing<String> {
        let daemon = self.capabilities.daemon.clone();
        Ok(answer(self.host_call(deadline::DAEMON, async move { daemon.request(method, params).await }).await?))
    }

    async fn stop(&mut self) -> Crossing<()> {
        let daemon = self.capabilities.daemon.clone();
        Ok(answer(self.host_call(deadline::DAEMON, async move { daemon.stop().await }).await?))
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
    async fn provided(&mut self) -> Crossing<String> {
        let extensions = self.capabilities.extensions.clone();
        Ok(answer(self.ask_others(async move { extensions.provided().await }).await?))
    }

    async fn modify(&mut self, component: String, request: String) -> Crossing<String> {
        let extensions = self.capabilities.extensions.clone();
        Ok(answer(self.ask_others(async move { extensions.modify(component, request).await }).await?))
    }

    async fn evaluate(&mut self, predicate: String, request: String) -> Crossing<types::Truth> {
        let extensions = self.capabilities.extensions.clone();
        Ok(answer(self.ask_others(async move { extensions.evaluate(predicate, request).await }).await?))
    }
}

impl files::Host for HostState {
    async fn stat(&mut self, paths: Vec<String>) -> Crossing<Vec<Option<files::FileStat>>> {
        let files = self.capabilities.files.clone();
        Ok(found(self.host_call(deadline::FILES, async move { files.stat(paths).await }).await?))
    }

    async fn resolve(&mut self, paths: Vec<String>) -> Crossing<Vec<Option<files::RealPath>>> {
        let files = self.capabilities.files.clone();
        Ok(found(self.host_call(deadline::FILES, async move { files.resolve(paths).await }).await?))
    }

    async fn read_config(&mut self, name: String) -> Crossing<Vec<files::ConfigFile>> {
        if name == RULES
            && let Some(read) = self.rules.take()
        {
            self.count()?;
            return Ok(answers(read));
        }
        let files = self.capabilities.files.clone();
        Ok(answers(self.host_call(deadline::FILES, async move { files.read_config(name).await }).await?))
    }

    async fn read_script(&mut self, path: String) -> Crossing<String> {
        let files = self.capabilities.files.clone();
        Ok(answer(self.host_call(deadline::FILES, async move { files.read_script(path).await }).await?))
    }
}

impl git::Host for HostState {
    async fn changed_files(&mut self, folder: String) -> Crossing<Vec<git::ChangedFile>> {
        let git = self.capabilities.git.clone();
        Ok(answers(self.host_call(deadline::GIT, async move { git.changed_files(folder).await }).await?))
    }

    async fn branch(&mut self, folder: String) -> Crossing<Option<String>> {
        let git = self.capabilities.git.clone();
        Ok(answer(self.host_call(deadline::GIT, async move { git.branch(folder).await }).await?))
    }
}

impl journal::Host for HostState {
    async fn append(&mut self, kind: String, entry: String) -> Crossing<()> {
        let journal = self.capabilities.journal.clone();
        Ok(answer(self.host_call(deadline::LOCAL, async move { journal.append(kind, entry).await }).await?))
    }
}

impl log::Host for HostState {
    async fn write(&mut self, level: types::Level, message: String) -> wasmtime::Result<()> {
        self.count()?;
        if !self.may_log() {
            return Ok(());
        }
        let mut end = message.len().min(LOG_MESSAGE);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        self.capabilities.log.write(&self.plugin, level.into(), &message[..end]);
        Ok(())
    }
}

impl message::Host for HostState {
    async fn send(&mut self, outgoing: message::Outgoing) -> Crossing<()> {
        let message = self.capabilities.message.clone();
        let outgoing = Outgoing::from(outgoing);
        let outgoing = Outgoing { kind: text::name(&outgoing.kind), text: text::addition(&outgoing.text), ..outgoing };
        Ok(answer(self.host_call(deadline::LOCAL, async move { message.send(outgoing).await }).await?))
    }
}

impl terminal::Host for HostState {
    async fn session(&mut self) -> Crossing<String> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.session().await }).await?))
    }

    async fn panes(&mut self) -> Crossing<Vec<terminal::Pane>> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answers(self.host_call(deadline::TERMINAL, async move { terminal.panes().await }).await?))
    }

    async fn split(&mut self, cwd: String) -> Crossing<String> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.split(cwd).await }).await?))
    }

    async fn send_text(&mut self, pane: String, text: String, enter: bool) -> Crossing<()> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(
            self.host_call(deadline::TERMINAL, async move { terminal.send_text(pane, text, enter).await }).await?,
        ))
    }

    async fn paste(&mut self, pane: String, text: String) -> Crossing<()> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.paste(pane, text).await }).await?))
    }

    async fn send_keys(&mut self, pane: String, keys: Vec<String>) -> Crossing<()> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.send_keys(pane, keys).await }).await?))
    }

    async fn capture(&mut self, pane: String, lines: u32) -> Crossing<terminal::Screen> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.capture(pane, lines).await }).await?))
    }

    async fn wait_for(&mut self, pane: String, channel: String, timeout: u32) -> Crossing<terminal::Wake> {
        let terminal = self.capabilities.terminal.clone();
        let limit = Duration::from_millis(timeout.into()) + deadline::TERMINAL;
        let wait = async move { terminal.wait_for(pane, channel, timeout).await };
        Ok(answer(self.host_call(limit, wait).await?))
    }

    async fn watch(&mut self, pane: String, channel: String) -> Crossing<()> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.watch(pane, channel).await }).await?))
    }

    async fn get_environment(&mut self, name: String) -> Crossing<Option<String>> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.get_environment(name).await }).await?))
    }

    async fn set_environment(&mut self, name: String, value: String) -> Crossing<()> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(
            self.host_call(deadline::TERMINAL, async move { terminal.set_environment(name, value).await }).await?,
        ))
    }

    async fn close(&mut self, pane: String) -> Crossing<()> {
        let terminal = self.capabilities.terminal.clone();
        Ok(answer(self.host_call(deadline::TERMINAL, async move { terminal.close(pane).await }).await?))
    }
}

impl ui::Host for HostState {
    async fn set_status(&mut self, key: String, text: Option<String>) -> Crossing<()> {
        let ui = self.capabilities.ui.clone();
        let (key, text) = (text::name(&key), text.map(|text| text::name(&text)));
        Ok(answer(self.host_call(deadline::LOCAL, async move { ui.set_status(key, text).await }).await?))
    }

    async fn notify(&mut self, message: String, level: types::Level) -> Crossing<()> {
        let ui = self.capabilities.ui.clone();
        let message = text::sentence(&message);
        Ok(answer(self.host_call(deadline::LOCAL, async move { ui.notify(message, level.into()).await }).await?))
    }
}
