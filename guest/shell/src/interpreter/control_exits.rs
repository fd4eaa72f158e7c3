//! How a part of a text may end, and what is known then.

use super::Interpreter;
use super::state::{ShellState, Status};

/// How a part of the text may end.
pub(super) struct ControlExits {
    /// How it goes on; if `failed` is there, only after success.
    pub(super) state: ShellState,
    /// How it goes on after failure, where that differs.
    pub(super) failed: Option<ShellState>,
}

impl ControlExits {
    /// The status says how it ended.
    pub(super) fn of(state: ShellState) -> Self {
        ControlExits { state, failed: None }
    }

    pub(super) fn with(mut state: ShellState, status: Status) -> Self {
        state.status = status;
        ControlExits { state, failed: None }
    }

    /// Either: it may have succeeded or failed.
    pub(super) fn both(mut success: ShellState, mut failure: ShellState) -> Self {
        (success.status, failure.status) = (Status::Success, Status::Failure);
        ControlExits { state: success, failed: Some(failure) }
    }

    /// One of the two, or either. That there is none does not come about: nothing is known then but the facts.
    pub(super) fn between(
        success: Option<ShellState>,
        failure: Option<ShellState>,
        interpreter: &Interpreter<'_>,
    ) -> Self {
        match (success, failure) {
            (Some(success), Some(failure)) => ControlExits::both(success, failure),
            (Some(state), None) => ControlExits::with(state, Status::Success),
            (None, Some(state)) => ControlExits::with(state, Status::Failure),
            (None, None) => ControlExits::of(ShellState::new(interpreter.facts)),
        }
    }

    /// The states after success and after failure, as far as there are such.
    pub(super) fn split(self) -> (Option<ShellState>, Option<ShellState>) {
        match (self.failed, self.state.status) {
            (Some(failed), _) => (Some(self.state), Some(failed)),
            (None, Status::Success) => (Some(self.state), None),
            (None, Status::Failure) => (None, Some(self.state)),
            (None, Status::Unknown) => {
                let (mut success, mut failure) = (self.state.clone(), self.state);
                (success.status, failure.status) = (Status::Success, Status::Failure);
                (Some(success), Some(failure))
            }
        }
    }

    pub(super) fn negated(self) -> Self {
        match self.failed {
            Some(mut failed) => {
                failed.status = Status::Success;
                let mut state = self.state;
                state.status = Status::Failure;
                ControlExits { state: failed, failed: Some(state) }
            }
            None => {
                let status = self.state.status.not();
                ControlExits::with(self.state, status)
            }
        }
    }

    /// What holds whichever way it ended.
    pub(super) fn join(self, interpreter: &mut Interpreter<'_>) -> ShellState {
        match self.failed {
            None => self.state,
            Some(failed) => self.state.merge(failed, interpreter.change()),
        }
    }

    /// One way or the other.
    pub(super) fn or(self, other: Self, interpreter: &mut Interpreter<'_>) -> Self {
        let ((ok, failed), (other_ok, other_failed)) = (self.split(), other.split());
        let (ok, failed) = (interpreter.either(ok, other_ok), interpreter.either(failed, other_failed));
        ControlExits::between(ok, failed, interpreter)
    }

    /// Or it did not run at all, and that is a failure.
    pub(super) fn or_failed(self, failed: Option<ShellState>, interpreter: &mut Interpreter<'_>) -> Self {
        let Some(failed) = failed else { return self };
        let (success, failure) = self.split();
        let failure = interpreter.either(failure, Some(failed));
        ControlExits::between(success, failure, interpreter)
    }

    /// Applies to every way it may have ended, with a stamp for each: states that share one count as alike.
    pub(super) fn each(
        mut self,
        interpreter: &mut Interpreter<'_>,
        mut change: impl FnMut(&mut ShellState, u64),
    ) -> Self {
        change(&mut self.state, interpreter.change());
        if let Some(failed) = &mut self.failed {
            change(failed, interpreter.change());
        }
        self
    }

    /// Runs what signals may run, on every way it may have ended.
    pub(super) fn interrupted(mut self, interpreter: &mut Interpreter<'_>) -> Self {
        interpreter.interrupt(&mut self.state, false);
        if let Some(failed) = &mut self.failed {
            interpreter.interrupt(failed, false);
        }
        self
    }
}
