//! What capabilities are asked and answer.
//!
//! Their records are complete: whoever implements a capability fills in all of them, and is to notice when there is more.

use serde::{Deserialize, Serialize};

/// What a capability answers.
pub type Answer<T> = Result<T, CapabilityError>;

/// Why a capability failed. It never gets another case; details are in the texts.
///
/// ```
/// use toolgate_host::CapabilityError;
///
/// assert_eq!(CapabilityError::NotFound("no such pane".to_owned()).to_string(), "not found: no such pane");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum CapabilityError {
    /// Not granted to this component, or refused by the gate; the text has the reason.
    #[error("denied: {0}")]
    Denied(String),
    /// The requested thing does not exist.
    #[error("not found: {0}")]
    NotFound(String),
    /// The capability's own deadline passed.
    #[error("it took too long")]
    Timeout,
    /// More than the limit, which is given in bytes or items.
    #[error("more than the limit of {0}")]
    TooLarge(u64),
    /// A program or service that the capability needs is not running or not installed.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The request is invalid.
    #[error("invalid: {0}")]
    Invalid(String),
    /// Everything else.
    #[error("{0}")]
    Other(String),
}

/// Whether a condition holds. Unknown counts as neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Truth {
    /// It holds.
    Yes,
    /// It does not hold.
    No,
    /// Unknown.
    Unknown,
}

/// The type of a path's entry, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Symlink,
    /// A device, a socket, a pipe.
    Other,
    /// An inaccessible entry, or none.
    Hidden,
}

/// Metadata of a path, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// The type of the entry.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in milliseconds since 1970; 0 if unknown.
    pub modified: u64,
}

/// A path with its links resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealPath {
    /// The resolved path. For a path that does not exist: its nearest existing ancestor, resolved, with the rest appended.
    pub path: String,
    /// Whether the whole path exists.
    pub exists: bool,
}

/// A configuration file that exists, whether or not it could be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigFile {
    /// Where it was read from.
    pub path: String,
    /// Who may have written it: `user` or `project`.
    pub layer: String,
    /// As stored: not necessarily UTF-8. An error if the file exists and cannot be read, or is larger than 1 MiB: rules that
    /// cannot be read are not the same as no rules.
    pub content: Answer<Vec<u8>>,
}

/// How a file differs from the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Not in the last commit, known to git now.
    Added,
    /// Other content or another mode.
    Modified,
    /// In the last commit, gone now.
    Deleted,
    /// In the last commit under another path.
    Renamed,
    /// Not known to git, and not ignored.
    Untracked,
}

/// A file that differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Absolute; of a renamed file, its path now.
    pub path: String,
    /// How it differs.
    pub change: Change,
}

/// A pane of a tmux window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pane {
    /// As tmux names it, like `%3`.
    pub id: String,
    /// The program in the foreground.
    pub command: String,
    /// The working directory of that program.
    pub cwd: String,
    /// Whether it has the focus in its window.
    pub active: bool,
    /// Whether the program that the pane was started with, usually a shell, is in the foreground itself; none if that cannot
    /// be told.
    pub at_shell: Option<bool>,
    /// Whether a program fills the whole screen and puts back what was there when it ends, as editors do.
    pub full_screen: bool,
    /// Whether it is the pane that the agent itself runs in. No key gets there.
    pub of_agent: bool,
}

/// What a pane shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screen {
    /// The lines down to the one with the cursor, with `\n` between them; a line that the pane wraps is one line here.
    pub text: String,
    /// The lines below that one.
    pub below: String,
    /// The part of the cursor's line that is left of the cursor. Trailing blanks are kept.
    pub before_cursor: String,
    /// The pane's width, in columns.
    pub width: u32,
    /// The pane's height, in rows.
    pub height: u32,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wake {
    /// The signal came.
    Signalled,
    /// The time is over.
    Timeout,
    /// The pane was closed.
    Closed,
    /// The running tool was cancelled.
    Cancelled,
}

/// When a message is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    /// At once, even while the agent works.
    Steer,
    /// When the agent has finished its turn.
    FollowUp,
    /// With the user's next message.
    NextTurn,
}

/// A message of a component's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The kind of message, for the renderer.
    pub kind: String,
    /// What the agent reads, and the person where nothing renders this kind.
    pub text: String,
    /// For the renderer, a JSON text with `schema`; empty for nothing.
    pub details: String,
    /// Whether the person sees it.
    pub visible: bool,
    /// When it is handed over.
    pub delivery: Delivery,
    /// Whether it starts a turn of the agent's.
    pub trigger_turn: bool,
}
