//! When the work of sub-agents is checked: at once when they change something, at most every 5 s, and once more at their end.
//! A machine without a clock or timers of its own: events go in, the next step comes out.

use serde_json::Value;

/// Least time between two checks, in milliseconds.
pub(crate) const COOLDOWN: u64 = 5_000;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A sub-agent changed something, it seems.
    Activity,
    /// The sub-agents are done. `always`: also if nobody saw them change anything.
    End { always: bool },
    /// The scheduled time has come.
    Timer,
    /// The check that [`Step::Check`] asked for is over, however it went.
    Done,
}

/// What is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Check now; a timer that is still scheduled is no longer needed.
    Check,
    /// Send [`Event::Timer`] after so many milliseconds.
    Schedule(u64),
}

/// The state between events. Times are in milliseconds and never go back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subagents {
    /// Something was changed since the last [`Event::End`].
    active: bool,
    in_flight: bool,
    /// Something was changed that no check has seen.
    pending: bool,
    /// The end came while a check was in flight.
    ended: bool,
    scheduled: bool,
    /// When the last check was over.
    last: Option<u64>,
    /// Whether there was a last check: without a clock nobody knows when.
    ran: bool,
    closed: bool,
}

impl Subagents {
    /// The next step. `now` is `None` without a clock.
    pub(crate) fn on(&mut self, event: Event, now: Option<u64>) -> Option<Step> {
        if self.closed {
            self.in_flight &= event != Event::Done;
            return None;
        }
        match event {
            Event::Activity => {
                self.active = true;
                if !self.in_flight && self.left(now) == 0 {
                    return self.check();
                }
                self.pending = true;
                self.schedule(now)
            }
            Event::End { always } => {
                if !std::mem::take(&mut self.active) && !always {
                    None
                } else if self.in_flight {
                    self.ended = true;
                    None
                } else {
                    self.check()
                }
            }
            Event::Timer => {
                self.scheduled = false;
                if self.pending && !self.in_flight { self.check() } else { None }
            }
            Event::Done => {
                (self.in_flight, self.last, self.ran) = (false, now, true);
                if std::mem::take(&mut self.ended) {
                    self.check()
                } else if self.pending {
                    self.schedule(now)
                } else {
                    None
                }
            }
        }
    }

    /// How long the cooldown lasts from now.
    fn left(&self, now: Option<u64>) -> u64 {
        match (self.last, now) {
            _ if !self.ran => 0,
            (Some(last), Some(now)) => COOLDOWN.saturating_sub(now.saturating_sub(last)),
            _ => COOLDOWN,
        }
    }

    fn check(&mut self) -> Option<Step> {
        // Whatever was changed until now, this check sees it.
        (self.in_flight, self.pending, self.scheduled) = (true, false, false);
        Some(Step::Check)
    }

    fn schedule(&mut self, now: Option<u64>) -> Option<Step> {
        // While a check is in flight its end schedules.
        if self.in_flight || std::mem::replace(&mut self.scheduled, true) {
            return None;
        }
        Some(Step::Schedule(self.left(now)))
    }

    /// The session ended: nothing is to be checked, and nothing that is still in flight to be shown.
    pub(crate) fn close(&mut self) {
        *self = Subagents { in_flight: self.in_flight, closed: true, ..Subagents::default() };
    }

    /// The session began: as new.
    pub(crate) fn open(&mut self) {
        *self = Subagents { active: self.active, pending: self.pending, ..Subagents::default() };
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// What outlives an instance: whether something was changed, and whether no check has seen it. Clocks do not.
    pub(crate) fn save(&self) -> (bool, bool) {
        (self.active, self.pending || self.in_flight)
    }

    pub(crate) fn join(&mut self, (active, pending): (bool, bool)) {
        self.active |= active;
        self.pending |= pending;
    }
}

/// Tools that change files.
const CHANGING: &[&str] = &["write", "edit", "bash"];

/// Whether news of `delegate_to_subagents`, a JSON text, tell of a tool that may have changed a file: a line of kind `tool`
/// whose content begins with the tool's name.
pub(crate) fn has_activity(news: &str) -> bool {
    // Most news have none, and are long.
    if !news.contains("tool") {
        return false;
    }
    let Ok(news) = serde_json::from_str::<Value>(news) else { return false };
    let details = news.get("details").or_else(|| news.get("partialResult")?.get("details"));
    let windows = details.and_then(|details| details.get("windows")?.as_array()).into_iter().flatten();
    let lines = windows.filter_map(|window| window.get("lines")?.as_array()).flatten();
    let mut tools = lines.filter(|line| line.get("kind").and_then(Value::as_str) == Some("tool"));
    tools.any(|line| {
        let content = line.get("content").and_then(Value::as_str).unwrap_or_default();
        content.split_whitespace().next().is_some_and(|first| CHANGING.contains(&first))
    })
}
