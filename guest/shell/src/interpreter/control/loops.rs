//! Loops: round by round as long as it is known that there is another one, then all others at once.

use super::exit_of;
use crate::command::Joiner;
use crate::interpreter::argument_files::any_word;
use crate::interpreter::control_exits::ControlExits;
use crate::interpreter::state::{Input, NOWHERE, ShellState, Status};
use crate::interpreter::{Frame, FrameKind, Interpreter};
use toolgate_shell_syntax::syntax::{List, Word as Written};
use toolgate_shell_syntax::word::{Value, Why};

/// How many rounds of a loop are run one by one.
const MAX_ROUNDS: usize = 256;

/// How many, once it is not sure that the loop still runs.
const MAX_DOUBTFUL_ROUNDS: usize = 8;

/// With this many commands listed, loops are no longer run round by round.
const MANY_COMMANDS: usize = 4_000;

impl Interpreter<'_> {
    /// `break` and `continue`.
    pub(in crate::interpreter) fn leave_loop(
        &mut self,
        state: &mut ShellState,
        levels: Option<usize>,
        continues: bool,
    ) {
        let function = self.frames.iter().rposition(|frame| frame.kind != FrameKind::Loop).map_or(0, |at| at + 1);
        let loops = self.frames.len() - function;
        if loops == 0 || state.never {
            return;
        }
        let Some(levels) = levels else {
            // Which loop it leaves is not known: all of them, perhaps.
            for frame in function..self.frames.len() {
                self.leave(state, frame, true);
            }
            state.never = true;
            return;
        };
        let frame = self.frames.len() - levels.clamp(1, loops);
        if !continues {
            return self.leave(state, frame, false);
        }
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.continued.push(state.clone());
        }
        state.jump_target = state.jump_target.min(exit_of(frame) + 1);
        state.never = true;
    }

    /// Runs something that is not listed.
    fn unlisted<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let (count, group, groups, joiner) = (self.commands.len(), self.group, self.groups, self.joiner);
        // What is printed here is printed again.
        let captures = self.captures.clone();
        self.listing_suppressed += 1;
        let result = run(self);
        self.listing_suppressed -= 1;
        self.captures = captures;
        self.commands.truncate(count);
        (self.group, self.groups, self.joiner) = (group, groups, joiner);
        result
    }

    /// Joins what `continue` has skipped.
    pub(super) fn resume(&mut self, frame: usize, state: &mut ShellState) {
        let continued = self.frames.get_mut(frame).map(|frame| std::mem::take(&mut frame.continued));
        let continued = self.one_of(continued.unwrap_or_default());
        if let Some(continued) = continued {
            let stamp = self.change();
            *state = state.clone().merge(continued, stamp);
            if state.jump_target == exit_of(frame) + 1 {
                state.jump_target = NOWHERE;
            }
        }
    }

    /// A loop: its rounds one by one as long as it is known that there is another one, then all others at once.
    pub(super) fn repeat(
        &mut self,
        state: ShellState,
        condition: &mut dyn FnMut(&mut Self, ShellState) -> ControlExits,
        body: &mut dyn FnMut(&mut Self, ShellState) -> ShellState,
    ) -> ShellState {
        let frame = self.frames.len();
        let before = state.jump_target;
        self.frames.push(Frame { kind: FrameKind::Loop, ..Frame::default() });
        let mut state = state;
        let mut out = None;
        // What is not come to is listed all the same.
        if state.never {
            let (success, failure) = condition(self, state.clone()).split();
            self.joiner = Joiner::Then;
            if let Some(inside) = success.or(failure) {
                body(self, inside);
            }
        }
        for round in 0.. {
            if self.failure.is_some() || state.never {
                break;
            }
            self.guarded += 1;
            let ends = self.unlisted(|interpreter| condition(interpreter, state.clone()));
            self.guarded -= 1;
            let known = ends.failed.is_none() && ends.state.status != Status::Unknown;
            let most = if state.jump_target == before { MAX_ROUNDS } else { MAX_DOUBTFUL_ROUNDS };
            let small = round < most && self.commands.len() < MANY_COMMANDS;
            // What is left of a text is gone through line by line as long as something else may, or may not, have read it.
            let reads = matches!(state.input, Input::Unseen(Some(_))) && ends.state.input != state.input;
            let is_rest = reads && small && round < MAX_DOUBTFUL_ROUNDS;
            if !(known || is_rest) || (!small && ends.state.status == Status::Success) {
                out = self.any_rounds(state, frame, condition, body);
                break;
            }
            self.guarded += 1;
            let (success, failure) = condition(self, state).split();
            self.guarded -= 1;
            self.joiner = Joiner::Then;
            match (success, failure) {
                (Some(mut success), failure) => {
                    if let (Some(failure), Some(frame)) = (failure, self.frames.get_mut(frame)) {
                        frame.left.push(failure);
                        success.jump_target = success.jump_target.min(exit_of(self.frames.len() - 1));
                    }
                    state = body(self, success);
                    self.resume(frame, &mut state);
                    self.joiner = Joiner::Then;
                    // Only one that may break, or asks something, ends.
                    out = None;
                }
                (None, failure) => {
                    if round == 0
                        && let Some(state) = &failure
                    {
                        self.never(state, |interpreter, state| ControlExits::of(body(interpreter, state)));
                    }
                    out = failure;
                    break;
                }
            }
            if state.never {
                out = Some(state);
                break;
            }
        }
        self.finish_loop(frame, before, out)
    }

    fn finish_loop(&mut self, frame: usize, before: usize, out: Option<ShellState>) -> ShellState {
        let left = self.left(frame);
        self.frames.truncate(frame);
        let mut state = match self.either(out, left) {
            Some(state) => state,
            None => {
                let mut state = ShellState::new(self.facts);
                state.never = true;
                state
            }
        };
        if state.jump_target >= exit_of(frame) {
            state.jump_target = before;
        }
        state
    }

    /// Any number of rounds: what they may change is unknown, inside them as well as after them.
    fn any_rounds(
        &mut self,
        state: ShellState,
        frame: usize,
        condition: &mut dyn FnMut(&mut Self, ShellState) -> ControlExits,
        body: &mut dyn FnMut(&mut Self, ShellState) -> ShellState,
    ) -> Option<ShellState> {
        let mut entry = state;
        // In a function that calls itself in a loop each round costs a power of them.
        let once = self.listing_suppressed > 1
            && self.calls.iter().any(|name| self.calls.iter().filter(|other| *other == name).count() > 1);
        let mut lost = entry.jump_target;
        for round in 0.. {
            if self.failure.is_some() {
                return Some(entry);
            }
            let after = self.unlisted(|interpreter| {
                interpreter.doubting(true, |interpreter| {
                    let (success, _) = condition(interpreter, entry.clone()).split();
                    success.map(|success| {
                        let mut end = body(interpreter, success);
                        interpreter.resume(frame, &mut end);
                        end
                    })
                })
            });
            let Some(mut after) = after else { break };
            lost = lost.min(after.jump_target);
            // That this round may not be reached says nothing of the first.
            after.jump_target = entry.jump_target;
            let stamp = self.change();
            // What the first round changes is followed; what goes on changing is unknown.
            let merged = entry.clone().merge_as(after, stamp, round > 0);
            if entry.covers(&merged) {
                break;
            }
            entry = merged;
            // In loops around loops they cost a power, too.
            if round == 4 || self.listing_suppressed > 1 {
                let stamp = self.change();
                entry.havoc(stamp);
                break;
            }
        }
        self.guarded += 1;
        let (success, failure) = condition(self, entry).split();
        self.guarded -= 1;
        self.joiner = Joiner::Then;
        let mut failure = failure;
        if let (true, Some(failure)) = (once, &mut failure) {
            failure.jump_target = failure.jump_target.min(lost);
        } else if let Some(success) = success {
            let end = self.doubting(true, |interpreter| {
                let mut end = body(interpreter, success);
                interpreter.resume(frame, &mut end);
                end
            });
            // A round may have left for further out.
            if let Some(failure) = &mut failure {
                failure.jump_target = failure.jump_target.min(end.jump_target);
            }
        }
        failure
    }

    pub(super) fn each_word(
        &mut self,
        name: &str,
        words: Option<&[Written]>,
        body: &List,
        select: bool,
        mut state: ShellState,
    ) -> ControlExits {
        let place = crate::interpreter::node_id::NodeId::of(
            body,
            body.items.first().and_then(|item| item.first.commands.first()).map(|node| node.span),
        );
        let items = self.items(words, place, &mut state);
        let frame = self.frames.len();
        let before = state.jump_target;
        self.frames.push(Frame { kind: FrameKind::Loop, ..Frame::default() });
        if items.is_empty() {
            self.never(&state, |interpreter, state| interpreter.list(body, state));
        }
        // What is not come to is listed all the same.
        if let (true, Some(item)) = (state.never, items.first()) {
            let mut inside = state.clone();
            self.assign(name, item.value.clone(), &mut inside);
            self.list(body, inside);
        }
        for (index, item) in items.iter().enumerate() {
            if state.never || self.failure.is_some() {
                break;
            }
            let many = index >= MAX_ROUNDS || self.commands.len() >= MANY_COMMANDS;
            if item.several || select || many {
                let value = if many { Value::hole(Why::TooMuch) } else { any_word(item) };
                // The variable is set to one name after the other; there may be none.
                let mut condition = |interpreter: &mut Self, mut state: ShellState| {
                    interpreter.assign(name, value.clone(), &mut state);
                    if select {
                        let stamp = interpreter.change();
                        state.forget(name, stamp);
                        state.forget("REPLY", stamp);
                        state.lose_input();
                    }
                    ControlExits::with(state, Status::Unknown)
                };
                let end = self.any_rounds(state.clone(), frame, &mut condition, &mut |interpreter, state| {
                    interpreter.list(body, state).join(interpreter)
                });
                let stamp = self.change();
                state = end.unwrap_or(state);
                state.forget(name, stamp);
                if many || select {
                    break;
                }
            } else {
                self.assign(name, item.value.clone(), &mut state);
                state = self.list(body, state).join(self);
                self.resume(frame, &mut state);
            }
            self.joiner = Joiner::Then;
        }
        let state = self.finish_loop(frame, before, Some(state));
        let status = if items.is_empty() { Status::Success } else { Status::Unknown };
        ControlExits::with(state, status)
    }
}
