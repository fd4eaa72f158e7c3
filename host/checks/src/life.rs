//! When the daemon leaves: when the last session has ended, when it is told to, or when nobody wanted anything for a
//! while.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Most sessions that are counted. More than that nobody has; it is a client that makes names up.
const SESSIONS: usize = 1000;

/// What is going on.
#[derive(Debug)]
pub(crate) struct Life {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    sessions: BTreeSet<String>,
    /// Sessions without a name.
    unnamed: usize,
    /// Whether the last session has ended.
    left: bool,
    /// Connections and requests under way.
    busy: usize,
    /// Requests without an answer.
    asked: usize,
    /// When there last was one.
    since: Instant,
    over: bool,
}

/// Somebody wants something, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy {
    life: Arc<Life>,
    /// How many requests that is.
    asked: usize,
}

impl State {
    fn count(&self) -> usize {
        self.sessions.len() + self.unnamed
    }
}

impl Life {
    /// It begins now.
    pub(crate) fn new() -> Arc<Self> {
        let state = State {
            sessions: BTreeSet::new(),
            unnamed: 0,
            left: false,
            busy: 0,
            asked: 0,
            since: Instant::now(),
            over: false,
        };
        Arc::new(Life { state: Mutex::new(state), changed: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection comes.
    pub(crate) fn connected(self: &Arc<Self>) -> Busy {
        self.busy(0)
    }

    /// A request comes.
    pub(crate) fn asked(self: &Arc<Self>) -> Busy {
        self.busy(1)
    }

    fn busy(self: &Arc<Self>, asked: usize) -> Busy {
        let mut state = self.state();
        state.busy += 1;
        state.asked += asked;
        drop(state);
        self.changed.notify_waiters();
        Busy { life: Arc::clone(self), asked }
    }

    /// Waits until every request has its answer.
    pub(crate) async fn answered(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.state().asked == 0 {
                return;
            }
            changed.await;
        }
    }

    /// A session starts, maybe without a name. How many there are now.
    pub(crate) fn start(&self, session: &str) -> usize {
        let mut state = self.state();
        if state.count() < SESSIONS {
            match session {
                "" => state.unnamed += 1,
                name => drop(state.sessions.insert(name.to_owned())),
            }
        }
        state.left = false;
        state.count()
    }

    /// A session ends, and with the last one all, when every request has its answer. How many are left.
    pub(crate) fn end(&self, session: &str) -> usize {
        let mut state = self.state();
        let ended = match session {
            "" => state.unnamed.checked_sub(1).map(|unnamed| state.unnamed = unnamed).is_some(),
            name => state.sessions.remove(name),
        };
        if ended && state.count() == 0 {
            state.left = true;
            self.changed.notify_waiters();
        }
        state.count()
    }

    /// How many sessions there are.
    pub(crate) fn sessions(&self) -> usize {
        self.state().count()
    }

    /// It is over.
    pub(crate) fn stop(&self) {
        self.state().over = true;
        self.changed.notify_waiters();
    }

    /// Waits until it is over, by itself after so much idle time.
    pub(crate) async fn over(&self, idle: Duration) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            let (over, busy, end) = {
                let state = self.state();
                (state.over || state.left && state.asked == 0, state.busy > 0, state.since + idle)
            };
            if over || (!busy && Instant::now() >= end) {
                return;
            }
            if busy {
                changed.await;
            } else {
                let _ = tokio::time::timeout_at(end, changed).await;
            }
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.life.state();
        state.busy -= 1;
        state.asked -= self.asked;
        state.since = Instant::now();
        drop(state);
        self.life.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(300);

    async fn ends_within(life: &Life, limit: Duration) -> bool {
        tokio::time::timeout(limit, life.over(IDLE)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn five_idle_minutes_are_the_end() {
        let life = Life::new();
        assert!(!ends_within(&life, Duration::from_secs(299)).await);
        let busy = life.connected();
        assert!(!ends_within(&life, Duration::from_secs(3000)).await, "somebody is there");
        drop(busy);
        assert!(!ends_within(&life, Duration::from_secs(299)).await, "the minutes count from when they went");
        assert!(ends_within(&life, Duration::from_secs(2)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_session_is_the_end() {
        let life = Life::new();
        let _busy = life.connected();
        assert_eq!((life.start("a"), life.start("b"), life.start("a")), (1, 2, 2));
        assert_eq!((life.end("none"), life.end("a"), life.end("a")), (2, 1, 1));
        assert!(!ends_within(&life, Duration::from_secs(1)).await);
        assert_eq!(life.end("b"), 0);
        assert!(ends_within(&life, Duration::ZERO).await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_is_answered_before_the_end() {
        let life = Life::new();
        let _connected = life.connected();
        let asked = life.asked();
        life.start("a");
        life.end("a");
        assert!(!ends_within(&life, Duration::from_secs(100)).await);
        life.start("b");
        drop(asked);
        assert!(!ends_within(&life, Duration::from_secs(100)).await, "there is a session again");
        life.end("b");
        assert!(ends_within(&life, Duration::ZERO).await);
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_without_a_name_are_counted() {
        let life = Life::new();
        assert_eq!((life.start(""), life.start(""), life.start("a")), (1, 2, 3));
        assert_eq!((life.end(""), life.end("a"), life.end("")), (2, 1, 0));
        assert_eq!(life.end(""), 0);
        assert!(ends_within(&life, Duration::ZERO).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_told() {
        let life = Life::new();
        let _busy = life.connected();
        let waiting = tokio::spawn({
            let life = Arc::clone(&life);
            async move { life.over(IDLE).await }
        });
        tokio::task::yield_now().await;
        life.stop();
        assert!(tokio::time::timeout(Duration::from_secs(1), waiting).await.is_ok());
    }
}
