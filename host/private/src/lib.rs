//! Files that are the user's alone: the audit log, permissions for one call, trusted folders, what is kept of a session.
//!
//! What is kept in them decides or proves something, so each is opened with care: in a folder that belongs to the
//! user and that nobody else may write to, never through a link, and only if it is a regular file of the user's with
//! one name. Writers take turns by a lock file, and what is replaced is replaced as a whole.
//!
//! [`programs`] finds programs that are the user's, too, and no project's.
//!
//! This does not stop another process of the same user. The gate does, as far as an agent's calls go through it.

pub mod programs;
mod read;
mod written;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

pub use read::{is_missing, open_regular, read_at_most, read_regular};
pub use written::{Written, by_others, passed, writable_by_others};

/// How long another writer is waited for. Each of them holds the lock for a write and a few renames.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// How often it is looked whether it is our turn, until there is no more waiting.
const POLLS: u32 = 1_000;

/// Why a private file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    /// The system says no.
    #[error("{path}: {error}")]
    System {
        /// The file or folder.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is not what it has to be.
    #[error("{path} {why}")]
    Unfit {
        /// The file or folder.
        path: String,
        /// Ends a sentence that starts with the path.
        why: &'static str,
    },
    /// Another process holds the lock.
    #[error("{path} has been locked by another process for {} s", waited.as_secs())]
    Locked {
        /// The lock file.
        path: String,
        /// How long it was waited for.
        waited: Duration,
    },
}

/// Where Toolgate keeps what it has to remember: `$XDG_STATE_HOME/toolgate`, else `~/.local/state/toolgate`.
pub fn state_folder(home: Option<&Path>) -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(state.or_else(|| Some(home?.join(".local/state")))?.join("toolgate"))
}

/// Makes sure that a folder is there, is the user's own, and can be written by nobody else.
///
/// # Errors
/// If it is not like that and cannot be made.
pub fn private_folder(path: &Path) -> Result<(), PrivateError> {
    Folder::create(path).map(drop)
}

/// The same, and nobody else can look into it: a mode that says otherwise is set right.
///
/// # Errors
/// If it is not like that and cannot be made.
pub fn secret_folder(path: &Path) -> Result<(), PrivateError> {
    Folder::create(path)?.closed()
}

/// Who else may do what with a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// A file whose mode says otherwise is set right: it is only the secrecy of what was logged that may have suffered.
    SetRight,
    /// A file whose mode says otherwise is not trusted: anyone may have written it.
    Distrust,
}

/// A folder that belongs to the user.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    fd: OwnedFd,
}

/// Our turn to write, until it is dropped.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "closing it gives the lock back")] OwnedFd);

impl Folder {
    /// Opens a folder, which is made if it is missing.
    ///
    /// # Errors
    /// If it is not the user's own, or cannot be made.
    pub fn create(path: &Path) -> Result<Self, PrivateError> {
        if let Some(folder) = Self::open(path)? {
            return Ok(folder);
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| system(path, error))?;
        Self::open(path)?.ok_or_else(|| system(path, io::ErrorKind::NotFound.into()))
    }

    /// Opens a folder, if it is there.
    ///
    /// # Errors
    /// If it is not a folder of the user's own.
    pub fn open(path: &Path) -> Result<Option<Self>, PrivateError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(unfit(path, "is not a folder")),
            Err(error) => return Err(system(path, error.into())),
        };
        let found = rustix::fs::fstat(&fd).map_err(|error| system(path, error.into()))?;
        if !own(&found) {
            return Err(unfit(path, "belongs to another user; `chown` it or move it away"));
        }
        if Mode::from_raw_mode(found.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            return Err(unfit(path, "is writable by other users; `chmod go-w` it"));
        }
        Ok(Some(Folder { path: path.to_path_buf(), fd }))
    }

    /// Sees to it that nobody else can look into it.
    ///
    /// # Errors
    /// If its mode cannot be set right.
    pub fn closed(&self) -> Result<(), PrivateError> {
        let found = rustix::fs::fstat(&self.fd).map_err(|error| system(&self.path, error.into()))?;
        if Mode::from_raw_mode(found.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
            rustix::fs::fchmod(&self.fd, Mode::RWXU).map_err(|error| system(&self.path, error.into()))?;
        }
        Ok(())
    }

    /// The open folder.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Where a file of this name is in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Waits for our turn to write.
    ///
    /// # Errors
    /// If another process keeps the lock, or the lock file is not the user's own.
    pub fn turn(&self, name: &str) -> Result<Turn, PrivateError> {
        self.turn_within(LOCK_TIMEOUT, name)
    }

    /// The same for work that takes longer than a write.
    ///
    /// # Errors
    /// As for [`Folder::turn`].
    pub fn turn_within(&self, timeout: Duration, name: &str) -> Result<Turn, PrivateError> {
        let deadline = Instant::now() + timeout;
        loop {
            let file = self.file(name, OFlags::RDWR | OFlags::CREATE, Others::SetRight)?;
            let file = file.ok_or_else(|| system(&self.path(name), io::ErrorKind::NotFound.into()))?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    // Whoever removed or replaced the file meanwhile left us with a lock that nobody else looks at.
                    let ours = rustix::fs::fstat(&file).ok().map(|found| (found.st_dev, found.st_ino));
                    let there = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok();
                    if ours == there.map(|found| (found.st_dev, found.st_ino)) {
                        return Ok(Turn(file.into()));
                    }
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(error) => return Err(system(&self.path(name), error.into())),
            }
            if Instant::now() >= deadline {
                return Err(PrivateError::Locked { path: self.path(name).display().to_string(), waited: timeout });
            }
            std::thread::sleep(timeout / POLLS);
        }
    }

    /// Opens a file in the folder. None if it is not there and is not to be made.
    ///
    /// # Errors
    /// If it is anything but a regular file of the user's own with one name.
    pub fn file(&self, name: &str, flags: OFlags, others: Others) -> Result<Option<File>, PrivateError> {
        let path = self.path(name);
        // Opening a pipe would wait for whoever is at its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = match rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::MLINK) => {
                return Err(unfit(&path, "is a symbolic link, which Toolgate does not follow"));
            }
            Err(Errno::ISDIR) => return Err(unfit(&path, "is not a regular file")),
            Err(error) => return Err(system(&path, error.into())),
        };
        let found = rustix::fs::fstat(&fd).map_err(|error| system(&path, error.into()))?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(unfit(&path, "is not a regular file"));
        }
        if !own(&found) {
            return Err(unfit(&path, "belongs to another user"));
        }
        if found.st_nlink > 1 {
            return Err(unfit(&path, "has a second name elsewhere"));
        }
        if Mode::from_raw_mode(found.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
            if others == Others::Distrust {
                return Err(unfit(&path, "is accessible to other users; its mode must be 0600"));
            }
            rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR).map_err(|error| system(&path, error.into()))?;
        }
        Ok(Some(fd.into()))
    }

    /// Reads a file of at most so many bytes, if it is there.
    ///
    /// # Errors
    /// As for [`Folder::file`], or if it is larger.
    pub fn read(&self, name: &str, others: Others, most: u64) -> Result<Option<Vec<u8>>, PrivateError> {
        let Some(file) = self.file(name, OFlags::RDONLY, others)? else { return Ok(None) };
        self.content(&file, name, most).map(Some)
    }

    /// Reads one that is open.
    ///
    /// # Errors
    /// If it cannot be read, or is larger.
    pub fn content(&self, file: &File, name: &str, most: u64) -> Result<Vec<u8>, PrivateError> {
        let too_large = || unfit(&self.path(name), "is too large");
        let length = file.metadata().map_or(0, |found| found.len());
        if length > most {
            return Err(too_large());
        }
        // One more, so that the end is seen without asking for more room.
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| system(&self.path(name), error))?;
        if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
    }

    /// Puts a file with this content in the place of the one there: whoever reads it sees one or the other, whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace(&self, name: &str, content: &[u8]) -> Result<(), PrivateError> {
        self.put(name, content, File::sync_data)
    }

    /// The same without waiting for the disk: after a loss of power it may be empty or cut. For what is checked when it is read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace_checked(&self, name: &str, content: &[u8]) -> Result<(), PrivateError> {
        self.put(name, content, |_| Ok(()))
    }

    fn put(&self, name: &str, content: &[u8], sync: impl FnOnce(&File) -> io::Result<()>) -> Result<(), PrivateError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let new = format!(".{name}.{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let written = || -> Result<(), PrivateError> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            let mut file =
                self.file(&new, flags, Others::SetRight)?.ok_or_else(|| unfit(&self.path(&new), "is gone"))?;
            let whole = file.write_all(content).and_then(|()| sync(&file));
            whole.map_err(|error| system(&self.path(&new), error))?;
            self.rename(&new, name)
        };
        let written = written();
        if written.is_err() {
            // What is left of the attempt is in nobody's way.
            let _ = rustix::fs::unlinkat(&self.fd, &*new, AtFlags::empty());
        }
        written
    }

    /// Renames a file in it; one that has the new name already is replaced.
    ///
    /// # Errors
    /// If the system says no.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), PrivateError> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to).map_err(|error| system(&self.path(from), error.into()))
    }
}

/// Largest file that is read and written as a whole here, in bytes.
pub const WHOLE: u64 = 4 << 20;

/// A small file that is read and replaced as a whole.
#[derive(Clone, Debug)]
pub struct PrivateFile {
    folder: PathBuf,
    name: String,
}

impl PrivateFile {
    /// This file. It need not exist.
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        PrivateFile { folder: path.parent().map(Path::to_path_buf).unwrap_or_default(), name }
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// What is in it, if it is there.
    ///
    /// # Errors
    /// If others may have written it, or it cannot be read.
    pub fn read(&self) -> Result<Option<Vec<u8>>, PrivateError> {
        match Folder::open(&self.folder)? {
            Some(folder) => folder.read(&self.name, Others::Distrust, WHOLE),
            None => Ok(None),
        }
    }

    /// Puts something new in the place of what is in it, while no other process does.
    ///
    /// # Errors
    /// If others may have written it, it cannot be read or written, or the new is larger than [`WHOLE`].
    pub fn update(&self, change: impl FnOnce(Option<&[u8]>) -> Vec<u8>) -> Result<(), PrivateError> {
        self.try_update(|before| Ok(change(before)))
    }

    /// The same with a change that may fail. Then what is in it stays.
    ///
    /// # Errors
    /// What the change fails with, or if others may have written the file, or it cannot be read or written.
    pub fn try_update<E: From<PrivateError>>(
        &self,
        change: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let folder = Folder::create(&self.folder)?;
        let _turn = folder.turn(&format!("{}.lock", self.name))?;
        let before = folder.read(&self.name, Others::Distrust, WHOLE)?;
        let after = change(before.as_deref())?;
        // It could not be read again, and what it was in the place of would be lost.
        if after.len() as u64 > WHOLE {
            return Err(unfit(&self.path(), "would be too large").into());
        }
        folder.replace(&self.name, &after)?;
        Ok(())
    }
}

fn own(found: &Stat) -> bool {
    found.st_uid == rustix::process::geteuid().as_raw()
}

/// An error of the system's, with the path that it is about.
pub fn system(path: &Path, error: io::Error) -> PrivateError {
    PrivateError::System { path: path.display().to_string(), error }
}

fn unfit(path: &Path, why: &'static str) -> PrivateError {
    PrivateError::Unfit { path: path.display().to_string(), why }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_a_regular_file_of_the_users_own_is_used() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        let chmod = |name: &str, mode| std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode));
        for name in ["good", "open", "twice", "target"] {
            std::fs::write(at(name), "x").expect("a file");
            chmod(name, 0o600).expect("its mode");
        }
        chmod("open", 0o644).expect("its mode");
        std::fs::hard_link(at("twice"), at("other")).expect("a second name");
        symlink("target", at("link")).expect("a link");
        symlink("none", at("dangling")).expect("a dangling link");
        std::fs::create_dir(at("folder")).expect("a folder");
        let folder = Folder::open(scratch.path()).expect("fit").expect("there");
        let cases = [
            ("good", Others::Distrust, "x"),
            ("missing", Others::Distrust, "none"),
            ("open", Others::Distrust, "is accessible to other users; its mode must be 0600"),
            ("open", Others::SetRight, "x"),
            ("open", Others::Distrust, "x"),
            ("twice", Others::SetRight, "has a second name elsewhere"),
            ("link", Others::SetRight, "is a symbolic link, which Toolgate does not follow"),
            ("dangling", Others::SetRight, "is a symbolic link, which Toolgate does not follow"),
            ("folder", Others::SetRight, "is not a regular file"),
        ];
        for (name, others, expected) in cases {
            let found = match folder.read(name, others, 10) {
                Ok(Some(bytes)) => String::from_utf8(bytes).expect("text"),
                Ok(None) => "none".to_owned(),
                Err(PrivateError::Unfit { why, .. }) => why.to_owned(),
                Err(other) => other.to_string(),
            };
            assert_eq!(found, expected, "{name}");
        }
        assert!(folder.read("good", Others::Distrust, 0).is_err(), "it is larger than that");
    }

    #[test]
    fn only_a_folder_of_the_users_own_is_used() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        std::fs::write(at("file"), "").expect("a file");
        std::fs::create_dir(at("open")).expect("a folder");
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o777)).expect("its mode");
        symlink(scratch.path(), at("link")).expect("a link");
        let cases = [("new/deep", true), ("open", false), ("file", false), ("link", false), ("file/below", false)];
        for (name, fit) in cases {
            assert_eq!(Folder::create(&at(name)).is_ok(), fit, "{name}");
        }
        let mode = |name: &str| std::fs::metadata(at(name)).expect("made").permissions().mode() & 0o777;
        assert_eq!(mode("new/deep"), 0o700);
        std::fs::set_permissions(at("new"), std::fs::Permissions::from_mode(0o755)).expect("its mode");
        secret_folder(&at("new")).expect("it is ours");
        assert_eq!(mode("new"), 0o700);
        assert!(secret_folder(&at("open")).is_err());
        assert!(Folder::open(&at("none")).expect("no error").is_none());
    }

    #[test]
    fn what_is_replaced_is_whole_and_private() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let folder = Folder::open(scratch.path()).expect("fit").expect("there");
        for content in ["one", "two"] {
            folder.replace("file", content.as_bytes()).expect("replaced");
            let read = folder.read("file", Others::Distrust, 10).expect("fit").expect("there");
            assert_eq!(read, content.as_bytes());
        }
        assert_eq!(std::fs::read_dir(scratch.path()).expect("a list").count(), 1, "nothing is left over");
    }

    #[test]
    fn a_change_that_fails_changes_nothing() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = PrivateFile::new(&scratch.path().join("file"));
        file.update(|_| b"one".to_vec()).expect("written");
        let failed = file.try_update(|before| {
            assert_eq!(before, Some(&b"one"[..]));
            Err(unfit(scratch.path(), "fails"))
        });
        assert!(failed.is_err());
        // What could not be read again is not written.
        let most = usize::try_from(WHOLE).expect("a length");
        assert!(file.update(|_| vec![b'x'; most + 1]).is_err());
        assert_eq!(file.read().expect("fit").as_deref(), Some(&b"one"[..]));
        file.update(|_| vec![b'x'; most]).expect("written");
        assert_eq!(file.read().expect("fit").map(|bytes| bytes.len()), Some(most));
    }
}
