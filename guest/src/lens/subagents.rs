//! When the work of sub-agents is checked: at once when they change something, at most every 5 s, and once more at
//! their end. A machine without a clock or timers of its own: events go in, the next step comes out.

use serde_json::Value;

/// Least time between two checks, in milliseconds.
const COOLDOWN: u64 = 5_000;

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

/// Whether news of `delegate_to_subagents`, a JSON text, tell of a tool that may have changed a file: a line of kind
/// `tool` whose content begins with the tool's name.
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

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: Option<Step> = Some(Step::Check);
    const END: Event = Event::End { always: false };
    const END_OF_ANY: Event = Event::End { always: true };
    use Event::{Activity, Done, Timer};

    fn after(delay: u64) -> Option<Step> {
        Some(Step::Schedule(delay))
    }

    /// Events with the time that they come at, and the step after each.
    type Case<'a> = (&'a str, &'a [(u64, Event, Option<Step>)]);

    #[test]
    fn every_event_has_its_step() {
        let cases: &[Case<'_>] = &[
            ("the first at once", &[(0, Activity, CHECK), (9, Done, None)]),
            (
                "5 s from the end of the last",
                &[(0, Activity, CHECK), (3_000, Done, None), (7_999, Activity, after(1)), (8_000, Timer, CHECK)],
            ),
            ("at 5 s exactly", &[(0, Activity, CHECK), (0, Done, None), (5_000, Activity, CHECK)]),
            (
                "many in flight are one later",
                &[
                    (0, Activity, CHECK),
                    (1, Activity, None),
                    (2, Activity, None),
                    (3, Done, after(5_000)),
                    (4, Activity, None),
                    (5_003, Timer, CHECK),
                    (5_004, Done, None),
                ],
            ),
            (
                "many in the cooldown are one later",
                &[
                    (0, Activity, CHECK),
                    (0, Done, None),
                    (1_000, Activity, after(4_000)),
                    (2_000, Activity, None),
                    (5_000, Timer, CHECK),
                    (5_001, Done, None),
                    (5_002, Timer, None),
                ],
            ),
            (
                "a late timer is no second check",
                &[
                    (0, Activity, CHECK),
                    (0, Done, None),
                    (1_000, Activity, after(4_000)),
                    (6_000, Activity, CHECK),
                    (6_001, Timer, None),
                    (6_002, Done, None),
                    (6_003, Timer, None),
                ],
            ),
            ("the end in the cooldown", &[(0, Activity, CHECK), (0, Done, None), (1, END, CHECK), (2, Done, None)]),
            ("the end without activity", &[(0, END, None), (1, Activity, CHECK)]),
            (
                "activity before an earlier end",
                &[(0, Activity, CHECK), (0, Done, None), (1, END, CHECK), (1, Done, None), (2, END, None)],
            ),
            ("the end of any", &[(0, END_OF_ANY, CHECK), (1, Done, None), (2, END_OF_ANY, CHECK)]),
            (
                "the end in flight, once, at once",
                &[
                    (0, Activity, CHECK),
                    (1, Activity, None),
                    (2, END, None),
                    (3, END_OF_ANY, None),
                    (4, Done, CHECK),
                    (5, Done, None),
                ],
            ),
            (
                "activity while the last check runs",
                &[
                    (0, Activity, CHECK),
                    (1, END, None),
                    (2, Done, CHECK),
                    (3, Activity, None),
                    (4, Done, after(5_000)),
                    (5_004, Timer, CHECK),
                ],
            ),
            ("a timer without a reason", &[(0, Timer, None), (1, Done, None)]),
            ("a clock that goes back", &[(9_000, Activity, CHECK), (9_000, Done, None), (0, Activity, after(5_000))]),
        ];
        for (name, events) in cases {
            let mut machine = Subagents::default();
            for (time, event, step) in *events {
                assert_eq!(machine.on(*event, Some(*time)), *step, "{name}: {event:?} at {time}");
            }
        }
    }

    #[test]
    fn after_the_end_of_the_session_there_is_nothing() {
        let mut machine = Subagents::default();
        assert_eq!(machine.on(Activity, Some(0)), CHECK);
        machine.close();
        assert!(machine.is_closed(), "what is in flight is not shown");
        for event in [Done, Activity, END, END_OF_ANY, Timer] {
            assert_eq!(machine.on(event, Some(90_000)), None, "{event:?}");
        }
        machine.open();
        assert!(!machine.is_closed());
        assert_eq!(machine.on(END, Some(90_001)), None, "nothing is left of the earlier session");
        assert_eq!(machine.on(Activity, Some(90_002)), CHECK, "the cooldown neither");
    }

    #[test]
    fn without_a_clock_each_check_waits_its_whole_time() {
        let mut machine = Subagents::default();
        let events = [
            (Activity, CHECK),
            (Done, None),
            (Activity, after(5_000)),
            (Activity, None),
            (Timer, CHECK),
            (Done, None),
            (END, CHECK),
        ];
        for (event, step) in events {
            assert_eq!(machine.on(event, None), step, "{event:?}");
        }
    }

    #[test]
    fn another_instance_goes_on() {
        let mut machine = Subagents::default();
        assert_eq!((machine.on(Activity, Some(0)), machine.save()), (CHECK, (true, true)));
        let mut other = Subagents::default();
        other.join(machine.save());
        other.open();
        assert_eq!(other.on(Timer, Some(1)), CHECK, "what was in flight then is checked again");
        assert_eq!((other.on(Done, Some(2)), other.on(END, Some(3))), (None, CHECK));
        assert_eq!(other.save(), (false, true));
    }

    #[test]
    fn activity_is_a_line_of_a_tool_that_changes() {
        let line = |line: &str| format!(r#"{{"details": {{"windows": [{{"lines": [{line}]}}]}}}}"#);
        let cases = [
            (line(r#"{"kind": "tool", "content": "write src/a.ts"}"#), true),
            (line(r#"{"kind": "tool", "content": "  edit\ta"}"#), true),
            (line(r#"{"kind": "tool", "content": "bash"}"#), true),
            (
                line(
                    r#"{"kind": "text"}, {"kind": "tool", "content": "read a"}, {"kind": "tool", "content": "bash ls"}"#,
                ),
                true,
            ),
            (line(r#"{"kind": "tool", "content": "read write"}"#), false),
            (line(r#"{"kind": "tool", "content": "writer"}"#), false),
            (line(r#"{"kind": "text", "content": "write a tool"}"#), false),
            (line(r#"{"kind": "tool", "content": ""}"#), false),
            (line(r#"{"kind": "tool", "content": ["write"]}"#), false),
            (line(r#"{"kind": "tool"}"#), false),
            (line(r#""tool", null, 7"#), false),
            (
                r#"{"partialResult": {"details": {"windows": [{"lines": [{"kind": "tool", "content": "edit"}]}]}}}"#
                    .into(),
                true,
            ),
            (r#"{"details": {"windows": [null, {"lines": "tool"}, {"lines": null}, 3]}}"#.into(), false),
            (r#"{"details": {"windows": {"lines": "tool"}}}"#.into(), false),
            (r#"{"details": null, "tool": 1}"#.into(), false),
            (r#"["tool"]"#.into(), false),
            ("null".into(), false),
            ("tool".into(), false),
            (String::new(), false),
        ];
        for (news, expected) in cases {
            assert_eq!(has_activity(&news), expected, "{news}");
        }
    }
}
