//! The daemon's socket: one daemon for each, whoever starts how many at once, and nothing left behind.
//!
//! Who looks whether a daemon is there and takes its place holds a lock on the folder meanwhile. The lock is on the
//! folder itself, so that no lock file stays. The socket gets its name when it listens already: who can see it can
//! connect to it.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::Instant;
use toolgate_private::{Folder, PrivateError};

/// How long a daemon that is asked may take to let us in. One that takes longer is alive, but busy.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long others are waited for that start or end at the same time. [`SocketError::Locked`] names it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// How often it is looked whether it is our turn.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// The folder is not the user's alone.
    #[error(transparent)]
    Folder(#[from] PrivateError),
    /// Others can look into the folder.
    #[error("{0} is accessible to other users; its mode must be 0700")]
    Open(String),
    /// Something else has the name.
    #[error("{0} already exists and is not a socket")]
    NoSocket(String),
    /// The path has no folder or no name.
    #[error("{0} is not an absolute socket path")]
    Path(String),
    /// Another process starts or ends all the time.
    #[error("{0} has been locked by another process for 10 s")]
    Locked(String),
    /// The system says no.
    #[error("{0}: {1}")]
    System(String, io::Error),
}

/// A socket that is ours.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    folder: Folder,
    identity: (u64, u64),
}

/// Takes this path, or finds that a daemon that lives has it: then there is none.
///
/// # Errors
/// If the folder is not the user's alone, or something that is no socket has the name.
pub(crate) async fn claim(path: &Path) -> Result<Option<Socket>, SocketError> {
    let shown = || path.display().to_string();
    let (Some(parent), Some(_), true) = (path.parent(), path.file_name(), path.is_absolute()) else {
        return Err(SocketError::Path(shown()));
    };
    let folder = Folder::create(parent)?;
    let mode = rustix::fs::fstat(folder.fd()).map_err(|error| SocketError::System(shown(), error.into()))?.st_mode;
    if mode & 0o077 != 0 {
        return Err(SocketError::Open(parent.display().to_string()));
    }
    lock(&folder, path).await?;
    // Short, as the system allows a socket's path about a hundred bytes.
    let claimed = take(path, &folder.path(&format!(".{}", std::process::id()))).await;
    unlock(&folder);
    Ok(claimed?.map(|(listener, identity)| Socket { listener, path: path.to_path_buf(), folder, identity }))
}

/// The listener and which file its socket is; none if somebody else listens there.
type ClaimedListener = Option<(UnixListener, (u64, u64))>;

async fn take(path: &Path, new: &Path) -> Result<ClaimedListener, SocketError> {
    let system = |error| SocketError::System(path.display().to_string(), error);
    match path.symlink_metadata() {
        Ok(found) if !found.file_type().is_socket() => return Err(SocketError::NoSocket(path.display().to_string())),
        Ok(_) if lives(path).await => return Ok(None),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system(error)),
    }
    let bound = || -> io::Result<_> {
        let listener = UnixListener::bind(new)?;
        std::fs::set_permissions(new, std::fs::Permissions::from_mode(0o600))?;
        let identity = identity(new)?;
        std::fs::rename(new, path)?;
        Ok((listener, identity))
    };
    let bound = bound();
    if bound.is_err() {
        // What is left of the attempt is in nobody's way.
        let _ = std::fs::remove_file(new);
    }
    bound.map(Some).map_err(system)
}

/// Whether somebody listens there.
async fn lives(path: &Path) -> bool {
    match tokio::time::timeout(PROBE_TIMEOUT, UnixStream::connect(path)).await {
        Ok(Ok(_)) | Err(_) => true,
        // One that we may not ask is of no use to anyone.
        Ok(Err(error)) => !matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
        ),
    }
}

async fn lock(folder: &Folder, path: &Path) -> Result<(), SocketError> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match rustix::fs::flock(folder.fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(SocketError::Locked(path.display().to_string())),
            Err(error) => return Err(SocketError::System(path.display().to_string(), error.into())),
        }
    }
}

fn unlock(folder: &Folder) {
    // It goes when the folder is closed, at the latest.
    let _ = rustix::fs::flock(folder.fd(), FlockOperation::Unlock);
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|found| (found.dev(), found.ino()))
}

impl Socket {
    /// The next connection of a process of the same user. Others are turned away.
    ///
    /// # Errors
    /// If the system has no more to give, such as file descriptors.
    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw()) {
                return Ok(stream);
            }
        }
    }

    /// Whether the socket that has the name is still this one.
    pub(crate) fn is_ours(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.identity)
    }

    /// Ends listening. The name goes, too, if it is still ours.
    pub(crate) async fn close(self) {
        // Without the lock another daemon might get the name between the look and the removal.
        if lock(&self.folder, &self.path).await.is_ok() {
            if self.is_ours() {
                let _ = std::fs::remove_file(&self.path);
            }
            unlock(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> tempfile::TempDir {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
        scratch
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).expect("a list").count()
    }

    #[tokio::test]
    async fn of_many_at_once_one_stays() {
        let scratch = scratch();
        let path = scratch.path().join("s.sock");
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let path = path.clone();
            all.spawn(async move { claim(&path).await.expect("no error") });
        }
        let claimed: Vec<Socket> = all.join_all().await.into_iter().flatten().collect();
        assert_eq!((claimed.len(), names(scratch.path())), (1, 1));
        for socket in claimed {
            assert!(socket.is_ours());
            assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
            socket.close().await;
        }
        assert_eq!(names(scratch.path()), 0);
    }

    #[tokio::test]
    async fn a_dead_one_is_replaced_and_removes_nothing_of_its_successors() {
        let scratch = scratch();
        let path = scratch.path().join("s.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("bound"));
        let first = claim(&path).await.expect("no error").expect("the dead one is replaced");
        std::fs::remove_file(&path).expect("removed");
        assert!(!first.is_ours(), "it is gone");
        let second = claim(&path).await.expect("no error").expect("the place is free");
        assert!(!first.is_ours(), "it is another's");
        first.close().await;
        assert!(second.is_ours());
    }

    #[tokio::test]
    async fn only_a_private_folder_and_a_free_name_will_do() {
        let scratch = scratch();
        let at = |name: &str| scratch.path().join(name);
        for (name, mode) in [("listable", 0o755), ("writable", 0o777)] {
            std::fs::create_dir(at(name)).expect("a folder");
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).expect("its mode");
        }
        std::fs::write(at("file"), "dear").expect("a file");
        std::os::unix::fs::symlink("nowhere", at("link")).expect("a link");
        for name in ["listable/s", "writable/s", "file", "file/s", "link"] {
            assert!(claim(&at(name)).await.is_err(), "{name}");
        }
        assert!(claim(Path::new("s.sock")).await.is_err(), "not absolute");
        assert_eq!(std::fs::read_to_string(at("file")).expect("still there"), "dear");
        assert!(claim(&at("new/s")).await.is_ok_and(|claimed| claimed.is_some()));
    }
}
