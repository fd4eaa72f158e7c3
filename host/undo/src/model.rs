//! What is kept of a call: its entry in the store, as JSON.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The version of everything in the store. A store of another one is left alone.
pub const SCHEMA: u32 = 1;

/// What a call changes, as `call-changes.changes` of `wit/changes` says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changes {
    /// 1.
    pub schema: u32,
    /// The paths that are changed.
    pub paths: Vec<Change>,
    /// The git commands that change a repository.
    pub git: Vec<GitCommand>,
    /// The programs whose changes are not known.
    pub unforeseen: Vec<Unforeseen>,
    /// Whether something may leave the machine.
    pub leaves: bool,
    /// Whether the call is asked about only by rules that need not ask if all was saved.
    pub recoverable: bool,
}

/// A path that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Absolute; none if it is not known.
    pub path: Option<String>,
    /// What happens to it.
    pub kind: ChangeKind,
    /// Whether it happens if the call runs.
    #[serde(default)]
    pub certain: bool,
    /// Whether it happens to all that is below a folder, too. It always does for what is removed or moved.
    #[serde(default)]
    pub recursive: bool,
}

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Its content is replaced.
    Write,
    /// Something is added to its content.
    Append,
    /// It is made.
    Create,
    /// It is removed, with all that is below it.
    Delete,
    /// It gets another name and is gone from here, with all that is below it.
    Move,
    /// It becomes a link.
    Link,
    /// Its mode, owner or times are changed.
    Mode,
}

/// A git command that changes a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitCommand {
    /// A folder in the repository; none if it is not known.
    pub folder: Option<String>,
    /// The subcommand, like `reset`.
    pub command: String,
}

/// A program whose changes are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unforeseen {
    /// Where it runs; none if it is not known.
    pub folder: Option<String>,
    /// Its name.
    pub program: String,
}

/// Which call an entry is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRef {
    /// The agent's name, as in `toolgate hook AGENT`; `toolgate` for an undo.
    pub agent: String,
    /// The agent's session; empty if it is not known.
    pub session: String,
    /// Which turn of the session, from 0.
    pub turn: u64,
    /// The agent's own id of the call; empty if it has none.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// The command or path, for a person: redacted and shortened.
    pub summary: String,
    /// The directory of the call.
    pub cwd: String,
    /// The folder that the agent was started for.
    pub workspace: String,
    /// The home folder, if it is known.
    pub home: Option<String>,
}

/// A path as bytes: text where it is UTF-8, else hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathBytes(pub PathBuf);

impl PathBytes {
    /// The path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl std::fmt::Debug for PathBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&Path> for PathBytes {
    fn from(path: &Path) -> Self {
        PathBytes(path.to_path_buf())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes { hex: String },
}

impl Serialize for PathBytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match self.0.to_str() {
            Some(text) => PathText::Text(text.to_owned()),
            None => PathText::Bytes { hex: hex(self.0.as_os_str().as_bytes()) },
        };
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PathBytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match PathText::deserialize(deserializer)? {
            PathText::Text(text) => Ok(PathBytes(text.into())),
            PathText::Bytes { hex } => {
                let bytes = unhex(&hex).ok_or_else(|| serde::de::Error::custom("not hexadecimal digits"))?;
                Ok(PathBytes(OsString::from_vec(bytes).into()))
            }
        }
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits; none if they are no such.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok().filter(|_| pair.len() == 2)).collect()
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What it is.
    #[serde(flatten)]
    pub kind: Kind,
    /// Permissions, the lowest twelve bits; 0 for what is absent.
    #[serde(default)]
    pub mode: u32,
    /// When it was changed last, seconds and nanoseconds.
    #[serde(default)]
    pub modified: (i64, u32),
    /// Extended attributes, names and values as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    /// Which file it is, if it has other names, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<Inode>,
}

/// A file itself, whatever names it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inode {
    /// The file system.
    pub device: u64,
    /// The number that the file has in it.
    pub number: u64,
}

impl State {
    /// That of a path where nothing is.
    pub const ABSENT: State = State::bare(Kind::Absent);

    /// That of a path that cannot be looked at.
    pub const UNKNOWN: State = State::bare(Kind::Special);

    const fn bare(kind: Kind) -> Self {
        State { kind, mode: 0, modified: (0, 0), attributes: Vec::new(), inode: None }
    }

    /// Whether nothing is there.
    pub fn is_absent(&self) -> bool {
        self.kind == Kind::Absent
    }
}

/// What can be at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Its length in bytes.
        length: u64,
        /// The sha256 of its content, hexadecimal. None if that was not read.
        content: Option<String>,
    },
    /// A folder.
    Folder,
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        target: PathBytes,
    },
    /// A pipe, a socket or a device.
    Special,
}

/// A path and what was there before and after a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Absolute; no folder on the way is a link.
    pub path: PathBytes,
    /// What was there before.
    pub before: State,
    /// Whether the content of `before` is in the store. True for what has none, but for a pipe, socket or device that the call
    /// removes: it cannot be made again.
    pub saved: bool,
    /// For a folder, whether all that was in it is among the items, too. Only then is what is new in it the call's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
}

/// Something that was not saved, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The path, or none if it is not known or there are many.
    pub path: Option<PathBytes>,
    /// Why, as a phrase that follows "not saved: ".
    pub why: String,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {}", path.as_path().display(), self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// What was there of a git repository, kept by its own objects.
#[derive(Clone, Debug, Eq, Serialize, Deserialize)]
pub struct History {
    /// The repository's folder that all its worktrees share (`git rev-parse --git-common-dir`), absolute.
    pub repository: PathBytes,
    /// The folder of this worktree (`--git-dir`), absolute.
    pub git_dir: PathBytes,
    /// The worktree, absolute; none for a bare repository.
    pub worktree: Option<PathBytes>,
    /// What `HEAD` says: `ref: NAME`, or an object id.
    pub head: String,
    /// All refs, names and object ids, without those of Toolgate.
    pub refs: Vec<(String, String)>,
    /// The stash, newest first: object ids and messages.
    pub stash: Vec<(String, String)>,
    /// The sha256 of the index's content in the store; none if there is no index.
    pub index: Option<String>,
    /// The sha256 of what the index says of paths, where it was looked at. Git writes an index anew also if only the times of
    /// files in it are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_entries: Option<String>,
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        let parts = |one: &Self| (one.repository.clone(), one.git_dir.clone(), one.worktree.clone());
        let said = |one: &Self| (one.head.clone(), one.index.clone());
        (parts(self), said(self)) == (parts(other), said(other))
            && (&self.refs, &self.stash) == (&other.refs, &other.stash)
    }
}

/// A workspace as git sees it, in an object folder of Toolgate's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The worktree's root, absolute and without links.
    pub root: PathBytes,
    /// The id of the tree.
    pub tree: String,
    /// The sha256 of the list of permissions, which git has no more of than the right to execute. None in entries that were made
    /// without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<String>,
}

/// What is kept of a call before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Names the entry; later ones sort behind earlier ones.
    pub id: String,
    /// When the call was about to run, in milliseconds since 1970.
    pub time: u64,
    /// Which call it is of.
    pub call: CallRef,
    /// Paths, each once; a folder stands before what is in it.
    pub items: Vec<Item>,
    /// Repositories.
    pub histories: Vec<History>,
    /// Workspaces.
    pub snapshots: Vec<Snapshot>,
    /// What was not saved.
    pub left_out: Vec<LeftOut>,
    /// Whether the call passed as all of it was saved. Then the entry is kept, whatever it is found to have changed.
    #[serde(default)]
    pub recoverable: bool,
    /// Whether somebody was asked before it. Without a report of its end, the answer was most likely no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// For an undo, the ids of the entries that it undid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undoes: Vec<String>,
}

/// What there was when the call had run: beside the entry, as the entry itself never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// [`SCHEMA`].
    pub schema: u32,
    /// When that was looked at, in milliseconds since 1970.
    pub time: u64,
    /// What is at each path of `Entry::items`, in the same order. Content is not in the store, only its digest is known.
    pub states: Vec<State>,
    /// What is below folders of which all was saved ([`Item::listed`]), and below those that were not there, and was not there
    /// before: what the call made.
    pub made: Vec<(PathBytes, State)>,
    /// As in `Entry::histories`, in the same order. The index is not in the store.
    pub histories: Vec<Option<History>>,
    /// What git says was changed since each of `Entry::snapshots`, in the same order; none where that is not known.
    pub touched: Vec<Option<Vec<Touched>>>,
    /// What the call changed, for a list: the first [`SHOWN`] paths.
    #[serde(default)]
    pub changed: Vec<(PathBytes, ChangeStatus)>,
    /// How many paths it changed.
    #[serde(default)]
    pub count: u64,
}

/// A path that is not as it was in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The path, absolute.
    pub path: PathBytes,
    /// What the snapshot has there; none if nothing.
    pub before: Option<Blob>,
    /// What was there after the call.
    pub after: State,
}

/// A file or link as git has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// `0o100644`, `0o100755` for a file that can be executed, `0o120000` for a link. Where [`Blob::permissions`] are known, the
    /// lowest twelve bits are these.
    pub mode: u32,
    /// The object's id.
    pub id: String,
    /// Whether all permissions are known, and not only the right to execute.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub permissions: bool,
}

/// How many changed paths of a call are listed.
pub const SHOWN: usize = 200;

/// What a call did to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeStatus {
    /// It was not there before.
    Made,
    /// It was there before, and is now.
    Changed,
    /// It is gone.
    Removed,
}

impl ChangeStatus {
    /// What was done to a path, if anything.
    pub fn of(before: &Kind, after: &Kind) -> Self {
        match (before, after) {
            (Kind::Absent, _) => ChangeStatus::Made,
            (_, Kind::Absent) => ChangeStatus::Removed,
            _ => ChangeStatus::Changed,
        }
    }

    /// The letter that git has for it.
    pub fn letter(self) -> char {
        match self {
            ChangeStatus::Made => 'A',
            ChangeStatus::Changed => 'M',
            ChangeStatus::Removed => 'D',
        }
    }
}
