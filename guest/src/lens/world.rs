//! What the lens may ask of the world and do in it. Every failure is a value: the lens goes on without the answer.

use std::rc::Rc;

use toolgate_shell::FileOracle;

use toolgate_rules::Layer;

/// A configuration file that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it was read from.
    pub path: String,
    /// Who may have written it.
    pub layer: Layer,
    /// As stored, or why it could not be read.
    pub content: Result<Vec<u8>, String>,
}

/// What is at a path, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Whether it is a regular file that may be looked at.
    pub is_file: bool,
    /// In bytes.
    pub size: u64,
    /// Since 1970, in milliseconds; 0 if not known.
    pub modified: u64,
}

/// A file that differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Absolute.
    pub path: String,
    /// Whether it is gone.
    pub deleted: bool,
}

/// Why the daemon gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It does not run.
    Unavailable(String),
    /// It answered an error, too much, or not in time.
    Other(String),
}

/// A message for the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Names the kind of message to whoever renders it.
    pub kind: &'static str,
    /// What the agent reads.
    pub text: String,
    /// For [`render`](super::render), a JSON text with `schema` 1.
    pub details: String,
    /// Whether the person sees it.
    pub visible: bool,
}

/// What the lens may ask and do.
pub trait LensHost {
    /// Configuration files by name, as far as they exist: `lens` for the rule files of the user, then the project's
    /// `.pi-lens.json`, then the rule files of the project; `pi-settings` for `~/.pi/agent/settings.json`.
    ///
    /// # Errors
    /// If none of them can be asked for.
    fn config(&mut self, name: &str) -> Result<Vec<ConfigFile>, String>;

    /// What is at each of these absolute paths, in their order; the inner `None` for nothing. `None` if it cannot be
    /// told. At most [`PATHS`] at once.
    fn stat(&mut self, paths: &[String]) -> Option<Vec<Option<Stat>>>;

    /// The path behind the links of each of these absolute paths and whether it exists, in their order; the inner
    /// `None` if it cannot be resolved. `None` if it cannot be told. At most [`PATHS`] at once.
    fn resolve(&mut self, paths: &[String]) -> Option<Vec<Option<(String, bool)>>>;

    /// The files under this folder that differ from the last commit, also those that git does not know.
    ///
    /// # Errors
    /// If git cannot tell.
    fn changed_files(&mut self, folder: &str) -> Result<Vec<Changed>, String>;

    /// Facts about files for the shell engine.
    fn look(&mut self) -> Option<Rc<dyn FileOracle>> {
        None
    }

    /// Starts the check daemon unless it runs.
    ///
    /// # Errors
    /// If it is not installed or does not start.
    fn ensure(&mut self) -> Result<(), String>;

    /// One request of the daemon; parameters and result are JSON texts.
    ///
    /// # Errors
    /// If there is no result.
    fn request(&mut self, method: &str, params: &str) -> Result<String, Failure>;

    /// The session needs the daemon no more.
    fn stop(&mut self);

    /// Milliseconds since 1970.
    fn now(&mut self) -> Option<u64>;

    /// Milliseconds since some moment; never goes back.
    fn monotonic(&mut self) -> Option<u64>;

    /// Calls [`Lens::on_timer`](super::Lens::on_timer) with this id after so many milliseconds. False if there are no
    /// timers.
    fn schedule(&mut self, id: &str, delay: u64) -> bool;

    /// Forgets a scheduled call.
    fn cancel(&mut self, id: &str);

    /// Sets the status line of this key, or clears it.
    fn set_status(&mut self, key: &str, text: Option<&str>);

    /// Shows a message once.
    fn notify(&mut self, message: &str);

    /// Writes into the conversation. False if the agent takes no messages.
    fn send(&mut self, message: Outgoing) -> bool;

    /// A line for whoever looks for a mistake.
    fn log(&mut self, warning: &str);
}

/// Most paths in one question.
pub const PATHS: usize = 4_096;
