//! `clock`: tells the time, and sets timers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Answer, Clock};

/// Most timers at a time.
const TIMERS: usize = 64;

/// The machine's clock. Without [`LocalClock::waking`] it has no timers.
#[derive(Clone, Debug)]
pub struct LocalClock {
    start: Instant,
    timers: Option<Timers>,
}

/// Calls that are to come.
#[derive(Clone, Debug)]
struct Timers {
    due: UnboundedSender<String>,
    waiting: Arc<Waiting>,
}

/// What waits for its time. It ends with the last clock that has it: nobody would be called.
#[derive(Debug, Default)]
struct Waiting(Mutex<HashMap<String, AbortHandle>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let timers = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        timers.values().for_each(AbortHandle::abort);
    }
}

impl Default for LocalClock {
    fn default() -> Self {
        LocalClock { start: Instant::now(), timers: None }
    }
}

impl LocalClock {
    /// One that sends the ids that were scheduled, each when its time has come: whoever receives them calls the component's
    /// `timer` hook.
    pub fn waking(due: UnboundedSender<String>) -> Self {
        LocalClock { timers: Some(Timers { due, waiting: Arc::default() }), ..LocalClock::default() }
    }
}

#[async_trait]
impl Clock for LocalClock {
    async fn now(&self) -> Answer<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let since = since.map_err(|_| CapabilityError::Unavailable("the clock is before 1970".to_owned()))?;
        u64::try_from(since.as_millis()).map_err(|error| CapabilityError::Other(error.to_string()))
    }

    async fn monotonic(&self) -> Answer<u64> {
        u64::try_from(self.start.elapsed().as_millis()).map_err(|error| CapabilityError::Other(error.to_string()))
    }

    async fn schedule(&self, id: String, delay: u64) -> Answer<()> {
        let none = || CapabilityError::Unavailable("this host has no timers".to_owned());
        let Timers { due, waiting } = self.timers.clone().ok_or_else(none)?;
        let mut timers = waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        timers.retain(|_, timer| !timer.is_finished());
        if timers.len() >= TIMERS && !timers.contains_key(&id) {
            return Err(CapabilityError::TooLarge(TIMERS as u64));
        }
        let name = id.clone();
        let timer = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(delay)).await;
            // Nobody listens any more once the session has ended.
            let _ = due.send(name);
        });
        if let Some(earlier) = timers.insert(id, timer.abort_handle()) {
            earlier.abort();
        }
        Ok(())
    }

    async fn cancel(&self, id: String) -> Answer<()> {
        if let Some(timers) = &self.timers {
            let timer = timers.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            timer.iter().for_each(AbortHandle::abort);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn timers_call_back_once_each_and_not_if_they_are_cancelled() {
        let (due, mut called) = tokio::sync::mpsc::unbounded_channel();
        let clock = LocalClock::waking(due);
        for (id, delay) in [("late", 50), ("replaced", 5), ("early", 10), ("replaced", 30), ("cancelled", 20)] {
            assert_eq!(clock.schedule(id.into(), delay).await, Ok(()), "{id}");
        }
        assert_eq!(clock.cancel("cancelled".into()).await, Ok(()));
        assert_eq!(clock.cancel("unknown".into()).await, Ok(()));
        for expected in ["early", "replaced", "late"] {
            assert_eq!(called.recv().await.as_deref(), Some(expected));
        }
        for n in 0..TIMERS {
            assert_eq!(clock.schedule(n.to_string(), 1_000).await, Ok(()), "{n}");
        }
        assert_eq!(clock.schedule("more".into(), 1).await, Err(CapabilityError::TooLarge(TIMERS as u64)));
        assert_eq!(clock.schedule("0".into(), 1).await, Ok(()), "the same again replaces");
        assert_eq!(called.recv().await.as_deref(), Some("0"));
        // All others are still to come, and end with the clock.
        drop(clock.clone());
        assert_eq!(called.try_recv().ok(), None);
        drop(clock);
        assert_eq!(called.recv().await, None);
    }

    #[tokio::test]
    async fn a_host_without_timers_says_so() {
        let clock = LocalClock::default();
        assert!(matches!(clock.schedule("x".into(), 1).await, Err(CapabilityError::Unavailable(_))));
    }
}
