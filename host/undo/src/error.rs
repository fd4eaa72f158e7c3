//! Why something was not saved or restored.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use toolgate_git::GitError;
use toolgate_private::PrivateError;

/// Why something was not saved or restored.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The system says no.
    #[error("{path}: {error}")]
    System {
        /// The file or folder.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// The store is not the user's alone.
    #[error(transparent)]
    Private(#[from] PrivateError),
    /// The store is of another version.
    #[error("{path} was written by another version of Toolgate: use that one, or move the folder away")]
    OtherVersion {
        /// The store's folder.
        path: String,
    },
    /// Something in the store is not what was put there.
    #[error("{path} is damaged: {why}. It is not used")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The content of a file is not in the store any more.
    #[error("its content is not in the store any more ({digest})")]
    Gone {
        /// The content's sha256.
        digest: String,
    },
    /// The disk is nearly full.
    #[error("{path}: {free} MiB are free, and {least} MiB have to stay free: make room")]
    Full {
        /// The store's folder.
        path: String,
        /// Mebibytes that are free.
        free: u64,
        /// Mebibytes that have to stay free.
        least: u64,
    },
    /// It is too large to be saved.
    #[error("it is larger than {}", size(*most))]
    Limit {
        /// Largest that is saved, in bytes.
        most: u64,
    },
    /// There was no time left.
    #[error("saving it takes longer than a call waits")]
    Late,
    /// What is to be saved cannot be read.
    #[error("it cannot be read: {0}")]
    Unread(io::Error),
    /// Another process holds the lock.
    #[error("{path} is locked by another process: try again")]
    Busy {
        /// The lock file.
        path: String,
    },
    /// There is no store yet.
    #[error("nothing was saved yet")]
    Empty,
    /// There is no entry of this name.
    #[error("there is no saved call `{0}`; `toolgate undo --list` shows them")]
    NoEntry(String),
    /// A short form stands for several entries.
    #[error("`{prefix}` stands for {count} entries: write more of the name")]
    Several {
        /// The short form.
        prefix: String,
        /// How many entries.
        count: usize,
    },
    /// There is no git that can be used.
    #[error("{0}")]
    NoGit(String),
    /// Git says no.
    #[error("git: {0}")]
    Git(String),
}

impl UndoError {
    /// An error of the system's, with the path that it is about.
    pub fn system(path: &Path, error: impl Into<io::Error>) -> Self {
        UndoError::System { path: path.display().to_string(), error: error.into() }
    }

    /// That a file of the store is not what was put there.
    pub fn damaged(path: &Path, why: impl Into<String>) -> Self {
        UndoError::Damaged { path: path.display().to_string(), why: why.into() }
    }

    /// Whether it is about one file only, so that saving the next one may go well.
    pub fn is_of_one_file(&self) -> bool {
        matches!(self, UndoError::Limit { .. } | UndoError::Unread(_))
    }
}

impl From<GitError> for UndoError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Unavailable(why) => UndoError::NoGit(why),
            GitError::Failed(why) => UndoError::Git(why),
            GitError::Late => UndoError::Late,
            GitError::TooMuch(most) => UndoError::Git(format!("it says more than {most} bytes")),
            GitError::System { path, error } => UndoError::System { path, error },
        }
    }
}

/// A number of bytes, for a person.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let parts = digits.as_bytes()[first..].chunks(3).map(|three| String::from_utf8_lossy(three).into_owned());
    let head = Some(digits[..first].to_owned()).filter(|head| !head.is_empty());
    head.into_iter().chain(parts).collect::<Vec<_>>().join(",")
}

/// What the system says of a path, as a phrase.
pub(crate) fn phrase(errno: Errno) -> String {
    match errno {
        Errno::LOOP => "a folder on the way to it is a link".to_owned(),
        Errno::NOTDIR => "what should be a folder on the way to it is none".to_owned(),
        Errno::ACCESS | Errno::PERM => "the system does not let you".to_owned(),
        other => io::Error::from(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_persons() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (20_000, "20,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
        let cases = [(4, "4 bytes"), (64 << 10, "64 KiB"), (256 << 20, "256 MiB"), (4 << 30, "4 GiB")];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected);
        }
    }
}
