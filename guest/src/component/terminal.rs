//! The terminal's side of the contract, for the shared terminal.

use super::bindings::exports::toolgate::plugin::{lifecycle, provided_tools, terminal_observer};
use super::bindings::toolgate::plugin::types::{Error, Level};
use super::bindings::toolgate::plugin::{clock, log, message, terminal, ui};
use super::{Component, SHARED_TERMINAL, describe};
use crate::shared_terminal::{self, Failure, Outgoing, Pane, Screen, SessionFacts, SharedTerminal, TerminalHost, Wake};

/// Starts the shared terminal.
pub(super) fn start(session: lifecycle::Session) -> lifecycle::Started {
    let context = super::context(&session);
    let facts = SessionFacts {
        cwd: session.cwd,
        home: session.home,
        target: context.get("target").and_then(serde_json::Value::as_str).map(str::to_owned),
        open: context.get("open") == Some(&serde_json::Value::Bool(true)),
    };
    let mut terminal = SharedTerminal::default();
    terminal.start(&facts, &mut TerminalImports);
    SHARED_TERMINAL.set(Some(terminal));
    lifecycle::Started { status: String::new(), diagnostics: Vec::new() }
}

/// A time has come.
pub(super) fn on_timer(id: &str) {
    with_terminal(|terminal| terminal.on_timer(id, &mut TerminalImports));
}

fn with_terminal<T>(use_it: impl FnOnce(&mut SharedTerminal) -> T) -> T {
    SHARED_TERMINAL.with_borrow_mut(|terminal| use_it(terminal.get_or_insert_default()))
}

impl provided_tools::Guest for Component {
    fn describe() -> Vec<provided_tools::Tool> {
        let tools = with_terminal(|terminal| terminal.tools(&mut TerminalImports)).iter();
        let tools = tools.map(|tool| provided_tools::Tool {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: tool.schema.to_owned(),
            alongside: tool.alongside,
            longest: shared_terminal::LONGEST,
        });
        tools.collect()
    }

    fn run(name: String, input: String) -> Result<provided_tools::Output, String> {
        let answer = with_terminal(|terminal| terminal.run(&name, &input, &mut TerminalImports))?;
        Ok(provided_tools::Output { text: answer.text, is_error: answer.is_error, details: answer.details })
    }
}

impl terminal_observer::Guest for Component {
    fn on_signal(signal: terminal_observer::Signal) {
        with_terminal(|terminal| terminal.on_signal(&signal.pane, signal.closed, &mut TerminalImports));
    }
}

/// What the host does for the shared terminal.
struct TerminalImports;

fn failure(error: Error) -> Failure {
    match error {
        Error::Denied(why) => Failure::Denied(why),
        Error::Unavailable(why) => Failure::Unavailable(why),
        error => Failure::Other(describe(&error)),
    }
}

impl TerminalHost for TerminalImports {
    fn session(&mut self) -> Result<String, Failure> {
        terminal::session().map_err(failure)
    }

    fn panes(&mut self) -> Result<Vec<Pane>, Failure> {
        let pane = |pane: terminal::Pane| Pane {
            id: pane.id,
            command: pane.command,
            cwd: pane.cwd,
            at_shell: pane.at_shell,
            full_screen: pane.full_screen,
            of_agent: pane.of_agent,
        };
        Ok(terminal::panes().map_err(failure)?.into_iter().map(pane).collect())
    }

    fn split(&mut self, cwd: &str) -> Result<String, Failure> {
        terminal::split(cwd).map_err(failure)
    }

    fn send_text(&mut self, pane: &str, text: &str) -> Result<(), Failure> {
        terminal::send_text(pane, text, false).map_err(failure)
    }

    fn paste(&mut self, pane: &str, text: &str) -> Result<(), Failure> {
        terminal::paste(pane, text).map_err(failure)
    }

    fn send_keys(&mut self, pane: &str, keys: &[&str]) -> Result<(), Failure> {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        terminal::send_keys(pane, &keys).map_err(failure)
    }

    fn capture(&mut self, pane: &str, lines: u32) -> Result<Screen, Failure> {
        let screen = terminal::capture(pane, lines).map_err(failure)?;
        Ok(Screen {
            text: screen.text,
            below: screen.below,
            before_cursor: screen.before_cursor,
            width: screen.width,
            height: screen.height,
        })
    }

    fn wait_for(&mut self, pane: &str, channel: &str, timeout: u32) -> Result<Wake, Failure> {
        Ok(match terminal::wait_for(pane, channel, timeout).map_err(failure)? {
            terminal::Wake::Signalled => Wake::Signalled,
            terminal::Wake::Timeout => Wake::Timeout,
            terminal::Wake::Closed => Wake::Closed,
            terminal::Wake::Cancelled => Wake::Cancelled,
        })
    }

    fn watch(&mut self, pane: &str, channel: &str) -> Result<(), Failure> {
        terminal::watch(pane, channel).map_err(failure)
    }

    fn variable(&mut self, name: &str) -> Result<Option<String>, Failure> {
        terminal::get_environment(name).map_err(failure)
    }

    fn set_variable(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        terminal::set_environment(name, value).map_err(failure)
    }

    fn close(&mut self, pane: &str) {
        // One that is gone already is as good.
        let _ = terminal::close(pane);
    }

    fn now(&mut self) -> Option<u64> {
        clock::monotonic().ok()
    }

    fn schedule(&mut self, id: &str, delay: u64) -> bool {
        clock::schedule(id, delay).is_ok()
    }

    fn send(&mut self, outgoing: Outgoing) {
        let outgoing = message::Outgoing {
            kind: outgoing.kind.to_owned(),
            text: outgoing.text,
            details: outgoing.details,
            visible: true,
            delivery: message::Delivery::FollowUp,
            trigger_turn: true,
        };
        // An agent that takes no messages does not hear of it.
        let _ = message::send(&outgoing);
    }

    fn status(&mut self, text: Option<&str>) {
        // Whether anyone sees it is not ours to decide.
        let _ = ui::set_status(shared_terminal::STATUS, text);
    }

    fn log(&mut self, warning: &str) {
        log::write(Level::Warning, warning);
    }
}
