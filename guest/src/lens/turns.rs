//! What a sweep at the end of a turn is about. It outlives the instance, and several may write it: all of it only
//! grows.

use serde::{Deserialize, Serialize};

/// Calls whose changes may be unchecked, and turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// How many calls there were.
    calls: u64,
    /// How many of them before the end of the last turn.
    swept: u64,
    /// When that was, or the session's start if that was later, in milliseconds since 1970.
    since: Option<u64>,
}

impl Turns {
    /// Something may have changed files that were not checked.
    pub(crate) fn unchecked(&mut self) {
        self.calls = self.calls.saturating_add(1);
    }

    /// Whether there was such a call in this turn.
    pub(crate) fn is_busy(self) -> bool {
        self.calls > self.swept
    }

    /// When this turn can have begun.
    pub(crate) fn since(self) -> Option<u64> {
        self.since
    }

    /// A turn ends, or a session starts: what was changed until now is not asked for again.
    pub(crate) fn end(&mut self, now: Option<u64>) {
        (self.swept, self.since) = (self.calls, self.since.max(now));
    }

    /// Takes over what another instance knew.
    pub(crate) fn join(&mut self, other: Turns) {
        self.calls = self.calls.max(other.calls);
        self.swept = self.swept.max(other.swept);
        self.since = self.since.max(other.since);
    }
}
