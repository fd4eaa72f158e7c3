//! The records and enums that the host's functions take and return.

use crate::Error;

/// What a path names, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, a socket, a pipe.
    Other,
    /// Something that may not be looked at, or nothing.
    Hidden,
}

/// What the file system says of a path, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// What is there.
    pub kind: FileKind,
    /// In bytes.
    pub size: u64,
    /// Milliseconds since 1970; 0 if the file system does not say.
    pub modified: u64,
}

/// Where a path really leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPath {
    /// Links resolved, as far as the path exists.
    pub path: String,
    /// Whether the whole path exists.
    pub exists: bool,
}

/// A configuration file that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it was read from.
    pub path: String,
    /// Who may have written it: `user` or `project`.
    pub layer: String,
    /// As stored; an error if it cannot be read.
    pub content: Result<Vec<u8>, Error>,
}

/// How a file differs from the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Known to git now.
    Added,
    /// Other content or mode.
    Modified,
    /// Gone.
    Deleted,
    /// Under another path.
    Renamed,
    /// Not known to git.
    Untracked,
}

/// A file that differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Absolute, its path now.
    pub path: String,
    /// How it differs.
    pub change: Change,
}

/// When a message is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// At once.
    Steer,
    /// When the agent has finished its turn.
    FollowUp,
    /// With the user's next message.
    NextTurn,
}

/// A message for the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Names the kind of message.
    pub kind: String,
    /// What the agent reads.
    pub text: String,
    /// For the renderer, a JSON text; empty for nothing.
    pub details: String,
    /// Whether the person sees it.
    pub visible: bool,
    /// When it is handed over.
    pub delivery: Delivery,
    /// Whether it starts a turn of the agent's.
    pub trigger_turn: bool,
}
