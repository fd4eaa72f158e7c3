//! Who drives a pane: one process at a time. Two that type into one shell would mix up their commands, and each would
//! take the other's output for its own.
//!
//! A pane is locked by a small file, named by the tmux server and the pane. The lock ends with the process, however that
//! ends.

use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use toolgate_agents::dirs;
use toolgate_host::Digest;

/// The locks of panes that this process holds.
#[derive(Debug, Default)]
pub(crate) struct PaneLocks {
    /// Where the locks are; none if there is no place for them.
    folder: Option<PathBuf>,
    /// The tmux server, and the pane that the agent runs in.
    server: String,
    own: String,
    held: Mutex<Vec<(String, File)>>,
}

impl PaneLocks {
    /// Those of whoever runs this program.
    pub(crate) fn of_user() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        // The socket and the server's process; what follows is the session.
        let server = variable("TMUX").rsplit_once(',').map(|(server, _)| server.to_owned()).unwrap_or_default();
        PaneLocks { folder: dirs::sockets(), server, own: variable("TMUX_PANE"), held: Mutex::default() }
    }

    /// Takes a pane, or the one that belongs to the agent's own if none is named. Once more is as well as once.
    ///
    /// # Errors
    /// If another process has it, as a sentence.
    pub(crate) fn take(&self, pane: Option<&str>) -> Result<(), String> {
        let name = pane.map_or_else(|| format!("beside {}", self.own), str::to_owned);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(folder) = self.folder.as_ref().filter(|_| held.iter().all(|(known, _)| *known != name)) else {
            return Ok(());
        };
        let named = format!("{}\0{name}", self.server);
        let path = folder.join(format!("pane-{}.lock", Digest::name_of(named.as_bytes())));
        let unusable = |error: std::io::Error| format!("{}: {error}", path.display());
        toolgate_host::private::private_folder(folder).map_err(|error| error.to_string())?;
        let flags = rustix::fs::OFlags::RDWR
            | rustix::fs::OFlags::CREATE
            | rustix::fs::OFlags::NOFOLLOW
            | rustix::fs::OFlags::CLOEXEC;
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let file = rustix::fs::open(&path, flags, mode).map_err(|error| unusable(error.into()))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => held.push((name, File::from(file))),
            Err(Errno::WOULDBLOCK) => {
                let whose = pane.map_or_else(|| "the shared terminal".to_owned(), |pane| format!("pane {pane}"));
                return Err(format!("{whose} is already controlled by another Toolgate; stop that one first"));
            }
            // A file system without locks.
            Err(error) if std::io::Error::from(error).kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(unusable(error.into())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_has_one_driver_at_a_time() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let of = |server: &str, own: &str| PaneLocks {
            folder: Some(scratch.path().join("run")),
            server: server.to_owned(),
            own: own.to_owned(),
            held: Mutex::default(),
        };
        let first = of("s", "%1");
        // Who takes which pane, and whether they get it.
        let cases = [
            (&first, None, true),
            (&first, None, true),
            (&of("s", "%1"), None, false),
            (&of("s", "%2"), None, true),
            (&of("t", "%1"), None, true),
            (&first, Some("%5"), true),
            (&of("s", "%2"), Some("%5"), false),
            (&of("s", "%2"), Some("%6"), true),
        ];
        for (pane_locks, pane, expected) in cases {
            assert_eq!(pane_locks.take(pane).is_ok(), expected, "{} {} {pane:?}", pane_locks.server, pane_locks.own);
        }
        drop(first);
        assert_eq!(of("s", "%1").take(None), Ok(()), "it ends with its process");
    }
}
