//! Waiting for signals, without looking again and again.

use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::io::unix::AsyncFd;

use super::panes;
use super::tmux::Tmux;
use toolgate_host::capability::{Answer, Wake};

/// How often it is looked whether a pane is there, where the kernel does not tell.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A wait for a channel of tmux, as long as a pane is there. It can be taken up again: a signal that came when nobody
/// waited is kept by tmux.
#[derive(Debug)]
pub(super) struct Wait {
    pub(super) tmux: Tmux,
    /// The pane's id and the process that it was started with.
    pub(super) pane: String,
    pub(super) pid: i32,
    pub(super) channel: String,
}

impl Wait {
    /// The signal or the end of the pane. tmux does not tell whether a wait that is given up had its signal: the state
    /// that the signal speaks of has to be looked at again.
    pub(super) async fn end(&self) -> Answer<Wake> {
        let mut waiting = self.tmux.wait_for(&self.channel)?;
        tokio::select! {
            biased;
            ended = waiting.wait() => match ended {
                Ok(status) if status.success() => Ok(Wake::Signalled),
                // The server is gone, and the pane with it.
                _ => Ok(Wake::Closed),
            },
            () = self.closed() => Ok(Wake::Closed),
        }
    }

    async fn closed(&self) {
        if let Some(process) = process(self.pid) {
            // It can be read when the process has ended.
            let _ = process.readable().await;
            return;
        }
        while self.is_there().await {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn is_there(&self) -> bool {
        let found = panes::all(&self.tmux, "").await;
        found.is_ok_and(|found| found.iter().any(|found| found.pane.id == self.pane))
    }
}

/// A process as something that can be waited for; none where there is no such thing, or no such process.
#[cfg(target_os = "linux")]
#[expect(deprecated, reason = "the other way is unsafe code; an `OwnedFd` cannot do what it is deprecated for")]
fn process(pid: i32) -> Option<AsyncFd<OwnedFd>> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let process = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    AsyncFd::with_interest(process, tokio::io::Interest::READABLE).ok()
}

#[cfg(not(target_os = "linux"))]
fn process(_pid: i32) -> Option<AsyncFd<OwnedFd>> {
    None
}

/// Whether this may name a channel.
pub(super) fn is_channel(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=200).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_plain_words() {
        let cases = [("pi-agent-7-12", true), ("A_1", true), ("", false), ("-S", false), ("a;", false), ("a b", false)];
        for (text, expected) in cases.into_iter().chain([("a\n", false), ("é", false), ("#{x}", false)]) {
            assert_eq!(is_channel(text), expected, "{text:?}");
        }
    }
}
