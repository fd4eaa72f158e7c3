//! What the shared terminal asks of its surroundings.

/// A pane of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pane {
    /// Like `%3`.
    pub id: String,
    /// The program in the foreground.
    pub command: String,
    /// The directory of that program.
    pub cwd: String,
    /// Whether the pane's own shell is in the foreground; none if that is not known.
    pub at_shell: Option<bool>,
    /// Whether a program fills the whole screen.
    pub full_screen: bool,
    /// Whether the agent itself runs there.
    pub of_agent: bool,
}

/// What a pane shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The lines down to the one with the cursor.
    pub text: String,
    /// The lines below.
    pub below: String,
    /// What is left of the cursor in its line.
    pub before_cursor: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Screen {
    /// What is right of the cursor in its line.
    pub(crate) fn after_cursor(&self) -> &str {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        line.strip_prefix(self.before_cursor.as_str()).unwrap_or_default().trim()
    }

    /// The lines down to the one with the cursor, without it.
    pub(crate) fn above(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.text.split('\n').collect();
        lines.pop();
        lines
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The signal.
    Signalled,
    /// The time.
    Timeout,
    /// The end of the pane.
    Closed,
    /// Nobody wants the answer any more.
    Cancelled,
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The gate, or the user's grants, forbid it.
    Denied(String),
    /// There is no terminal.
    Unavailable(String),
    /// Anything else, in words.
    Other(String),
}

impl Failure {
    /// As a sentence.
    pub(crate) fn text(self) -> String {
        match self {
            Failure::Denied(why) | Failure::Unavailable(why) | Failure::Other(why) => why,
        }
    }
}

/// A message to the conversation, which starts a turn of the agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What kind of message it is.
    pub kind: &'static str,
    /// For the agent and its user.
    pub text: String,
    /// A JSON text.
    pub details: String,
}

/// The surroundings.
pub trait TerminalHost {
    /// The session's id.
    fn session(&mut self) -> Result<String, Failure>;
    /// The session's panes.
    fn panes(&mut self) -> Result<Vec<Pane>, Failure>;
    /// A new pane.
    fn split(&mut self, cwd: &str) -> Result<String, Failure>;
    /// Types into a pane.
    fn send_text(&mut self, pane: &str, text: &str) -> Result<(), Failure>;
    /// Pastes into a pane.
    fn paste(&mut self, pane: &str, text: &str) -> Result<(), Failure>;
    /// Presses keys.
    fn send_keys(&mut self, pane: &str, keys: &[&str]) -> Result<(), Failure>;
    /// What a pane shows, with so many lines that scrolled out of it.
    fn capture(&mut self, pane: &str, lines: u32) -> Result<Screen, Failure>;
    /// Waits for a signal, in milliseconds.
    fn wait_for(&mut self, pane: &str, channel: &str, timeout: u32) -> Result<Wake, Failure>;
    /// Has `on_signal` called.
    fn watch(&mut self, pane: &str, channel: &str) -> Result<(), Failure>;
    /// A variable of the session.
    fn variable(&mut self, name: &str) -> Result<Option<String>, Failure>;
    /// Sets one.
    fn set_variable(&mut self, name: &str, value: &str) -> Result<(), Failure>;
    /// Closes a pane that was split off.
    fn close(&mut self, pane: &str);
    /// Milliseconds that never go back.
    fn now(&mut self) -> Option<u64>;
    /// Has the timer called.
    fn schedule(&mut self, id: &str, delay: u64) -> bool;
    /// Writes into the conversation.
    fn send(&mut self, message: Outgoing);
    /// Shows a status line, or removes it.
    fn status(&mut self, text: Option<&str>);
    /// Writes to the log.
    fn log(&mut self, warning: &str);
}
