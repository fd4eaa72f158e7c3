//! Lists, pipelines, branches, loops and functions: which way control goes, and what is known on each way.

use std::rc::Rc;

use super::known::Variable;
use super::state::{Errexit, Function, Input, NOWHERE, State, Status};
use super::{Command, Frame, FrameKind, Joiner, MAX_COMMANDS, Walk};
use crate::glob::Pattern;
use crate::syntax::{Arm, ArmEnd, Connector, Item, List, Node, NodeKind, Pipeline, Word as Written};
use crate::tracker::Subshell;
use crate::word::{Value, Why, Word};

/// How many rounds of a loop are run one by one.
const MAX_ROUNDS: usize = 256;

/// How many, once it is not sure that the loop still runs.
const MAX_DOUBTFUL_ROUNDS: usize = 8;

/// With this many commands listed, loops are no longer run round by round.
const MANY_COMMANDS: usize = 4_000;

/// How often a function is followed inside itself.
const MAX_RECURSION: usize = 8;

/// The same in rounds of a loop that only find out what it may change: each call in it may have loops of its own.
const MAX_UNLISTED_RECURSION: usize = 2;

/// With this many commands listed, only so often.
const MANY_CALLS: (usize, usize) = (500, 3);

/// How a part of the text may end.
pub(super) struct Ends {
    /// How it goes on; if `failed` is there, only after success.
    state: State,
    /// How it goes on after failure, where that differs.
    failed: Option<State>,
}

impl Ends {
    /// The status says how it ended.
    pub(super) fn of(state: State) -> Self {
        Ends { state, failed: None }
    }

    pub(super) fn with(mut state: State, status: Status) -> Self {
        state.status = status;
        Ends { state, failed: None }
    }

    /// Either: it may have succeeded or failed.
    pub(super) fn both(mut success: State, mut failure: State) -> Self {
        (success.status, failure.status) = (Status::Success, Status::Failure);
        Ends { state: success, failed: Some(failure) }
    }

    /// One of the two, or either. That there is none does not come about: nothing is known then but the facts.
    fn between(success: Option<State>, failure: Option<State>, walk: &Walk<'_>) -> Self {
        match (success, failure) {
            (Some(success), Some(failure)) => Ends::both(success, failure),
            (Some(state), None) => Ends::with(state, Status::Success),
            (None, Some(state)) => Ends::with(state, Status::Failure),
            (None, None) => Ends::of(State::new(walk.facts)),
        }
    }

    /// The states after success and after failure, as far as there are such.
    fn split(self) -> (Option<State>, Option<State>) {
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

    fn negated(self) -> Self {
        match self.failed {
            Some(mut failed) => {
                failed.status = Status::Success;
                let mut state = self.state;
                state.status = Status::Failure;
                Ends { state: failed, failed: Some(state) }
            }
            None => {
                let status = self.state.status.not();
                Ends::with(self.state, status)
            }
        }
    }

    /// What holds whichever way it ended.
    pub(super) fn join(self, walk: &mut Walk<'_>) -> State {
        match self.failed {
            None => self.state,
            Some(failed) => self.state.merge(failed, walk.change()),
        }
    }

    /// One way or the other.
    pub(super) fn or(self, other: Self, walk: &mut Walk<'_>) -> Self {
        let ((ok, failed), (other_ok, other_failed)) = (self.split(), other.split());
        let (ok, failed) = (walk.either(ok, other_ok), walk.either(failed, other_failed));
        Ends::between(ok, failed, walk)
    }

    /// Or it did not run at all, and that is a failure.
    pub(super) fn or_failed(self, failed: Option<State>, walk: &mut Walk<'_>) -> Self {
        let Some(failed) = failed else { return self };
        let (success, failure) = self.split();
        let failure = walk.either(failure, Some(failed));
        Ends::between(success, failure, walk)
    }

    /// Applies to every way it may have ended, with a stamp for each: states that share one count as alike.
    pub(super) fn each(mut self, walk: &mut Walk<'_>, mut change: impl FnMut(&mut State, u64)) -> Self {
        change(&mut self.state, walk.change());
        if let Some(failed) = &mut self.failed {
            change(failed, walk.change());
        }
        self
    }

    /// Runs what signals may run, on every way it may have ended.
    fn interrupted(mut self, walk: &mut Walk<'_>) -> Self {
        walk.interrupt(&mut self.state, false);
        if let Some(failed) = &mut self.failed {
            walk.interrupt(failed, false);
        }
        self
    }
}

/// Where `break` comes out of this frame; what `continue` skips is found one below.
fn exit_of(frame: usize) -> usize {
    frame * 2
}

impl Walk<'_> {
    pub(super) fn either(&mut self, a: Option<State>, b: Option<State>) -> Option<State> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.merge(b, self.change())),
            (a, b) => a.or(b),
        }
    }

    /// Runs a list in a shell of its own, up to its end.
    pub(super) fn shell(&mut self, list: &List, state: State) -> State {
        self.apart(state, |walk, state| walk.list(list, state))
    }

    /// Runs something in a shell of its own: `exit` ends it, traps belong to it.
    pub(super) fn apart(&mut self, mut state: State, run: impl FnOnce(&mut Self, State) -> Ends) -> State {
        let frame = self.frames.len();
        let before = state.lost;
        let outer = state.traps.take();
        let handlers = state.handlers.clone();
        self.frames.push(Frame::default());
        let ends = run(self, state);
        let end = ends.join(self);
        // Nothing comes after the text as a whole, unless it has said so.
        let trapped = |state: &State| state.traps.is_some() || !state.handlers.is_empty();
        let last = frame == 0 && !trapped(&end) && !self.frames.iter().any(|frame| frame.left.iter().any(trapped));
        let left = if last { None } else { self.left(frame) };
        let mut end = match left {
            Some(left) => end.merge(left, self.change()),
            None => end,
        };
        end.lost = if end.lost >= exit_of(frame) { before } else { end.lost };
        // Those of the shell around it come to their last opportunity there.
        let last = frame == 0 || end.handlers != handlers;
        self.interrupt(&mut end, last);
        end = self.at_exit(end, frame);
        self.frames.truncate(frame);
        end.traps = outer;
        end
    }

    /// Runs a list in a subshell of `state`: of what it changes, files stay.
    pub(super) fn subshell(&mut self, list: &List, state: &mut State, input: Input) {
        let mut own = state.clone();
        own.input = input;
        let end = self.shell(list, own);
        self.after_subshell(state, end);
    }

    pub(super) fn after_subshell(&mut self, state: &mut State, end: State) {
        state.files = end.files;
        state.status = end.status;
        let list = self.trackers.map_or(&[][..], |trackers| trackers.list());
        if list.iter().any(|tracker| tracker.subshell == Subshell::Propagate) {
            let tracked = state.tracked.to_mut();
            for (index, tracker) in list.iter().enumerate() {
                if tracker.subshell == Subshell::Propagate
                    && let (Some(own), Some(after)) = (tracked.get_mut(index), end.tracked.get(index))
                {
                    own.clone_from(after);
                }
            }
        }
    }

    /// What holds whichever of the states that left for the end of a frame came to pass.
    pub(super) fn left(&mut self, frame: usize) -> Option<State> {
        let left = self.frames.get_mut(frame).map(|frame| std::mem::take(&mut frame.left));
        self.one_of(left.unwrap_or_default())
    }

    /// What holds whichever of several states came to pass. Neighbours are merged first, as they have most in common.
    fn one_of(&mut self, mut states: Vec<State>) -> Option<State> {
        while states.len() > 1 {
            let mut all = std::mem::take(&mut states).into_iter();
            while let Some(state) = all.next() {
                states.push(match all.next() {
                    Some(other) => state.merge(other, self.change()),
                    None => state,
                });
            }
        }
        states.pop()
    }

    /// Control leaves for the end of a frame.
    pub(super) fn leave(&mut self, state: &mut State, frame: usize, perhaps: bool) {
        if state.never {
            return;
        }
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.left.push(state.clone());
        }
        state.lost = state.lost.min(exit_of(frame));
        state.never = !perhaps;
    }

    /// `break` and `continue`.
    pub(super) fn leave_loop(&mut self, state: &mut State, levels: Option<usize>, continues: bool) {
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
        state.lost = state.lost.min(exit_of(frame) + 1);
        state.never = true;
    }

    pub(super) fn list(&mut self, list: &List, state: State) -> Ends {
        // `$?` is what was before until the first of them has run.
        let mut ends = if list.items.is_empty() { Ends::with(state, Status::Success) } else { Ends::of(state) };
        for item in &list.items {
            if self.failure.is_some() {
                break;
            }
            let mut state = ends.join(self);
            if item.background {
                let mut own = state.clone();
                own.input = Input::Nothing;
                let end = self.apart(own, |walk, own| walk.item(item, own));
                // It runs beside what follows: what it does to files may come before or after.
                let mut beside = state.clone();
                beside.files = end.files;
                state = state.merge(beside, self.change());
                ends = Ends::with(state, Status::Success);
            } else {
                ends = self.item(item, state);
            }
            self.joiner = Joiner::Then;
        }
        ends.interrupted(self)
    }

    fn item(&mut self, item: &Item, state: State) -> Ends {
        let chained = !item.rest.is_empty();
        self.guarded += usize::from(chained);
        let mut ends = self.pipeline(&item.first, state);
        for (index, (connector, pipeline)) in item.rest.iter().enumerate() {
            self.guarded -= usize::from(index + 1 == item.rest.len());
            let (success, failure) = ends.split();
            let and = *connector == Connector::And;
            let (run, skip) = if and { (success, failure) } else { (failure, success) };
            self.joiner = if and { Joiner::And } else { Joiner::Or };
            let Some(run) = run else {
                if let Some(skip) = &skip {
                    self.never(skip, |walk, state| walk.pipeline(pipeline, state));
                }
                ends = if and { Ends::between(None, skip, self) } else { Ends::between(skip, None, self) };
                continue;
            };
            let (success, failure) = self.doubting(skip.is_some(), |walk| walk.pipeline(pipeline, run)).split();
            let (success, failure) = match (and, skip) {
                (true, skip) => (success, self.either(failure, skip)),
                (false, skip) => (self.either(success, skip), failure),
            };
            ends = Ends::between(success, failure, self);
        }
        // A failure that is wanted does not count.
        let last = item.rest.last().map_or(&item.first, |(_, pipeline)| pipeline);
        // What ends a compound command may have been exempt.
        let compound = matches!(last.commands.as_slice(), [only] if is_group(only));
        if last.negated && !chained { ends } else { self.errexit(ends, chained || compound) }
    }

    /// `set -e`: a failure ends the shell. In a list that may be one that does not count.
    fn errexit(&mut self, ends: Ends, perhaps: bool) -> Ends {
        let applies = |state: &State| state.errexit != Errexit::Off;
        if self.guarded > 0 || !(applies(&ends.state) || ends.failed.as_ref().is_some_and(applies)) {
            return ends;
        }
        let (success, mut failure) = ends.split();
        if let Some(failure) = &mut failure {
            let sure = failure.errexit == Errexit::On && !perhaps;
            self.leaves_shell(failure, !sure);
        }
        Ends::between(success, failure, self)
    }

    /// Lists what is not run.
    fn never(&mut self, state: &State, run: impl FnOnce(&mut Self, State) -> Ends) {
        let mut own = state.clone();
        own.never = true;
        self.apart(own, run);
    }

    /// Runs a pipeline in which no variable has several values.
    pub(super) fn pipeline_as_it_is(&mut self, pipeline: &Pipeline, state: State) -> Ends {
        self.guarded += usize::from(pipeline.negated);
        let ends = match pipeline.commands.as_slice() {
            [] => Ends::with(state, Status::Success),
            [only] => self.node(only, state),
            several => self.piped(several, state),
        };
        self.guarded -= usize::from(pipeline.negated);
        if pipeline.negated { ends.negated() } else { ends }
    }

    fn piped(&mut self, nodes: &[Node], mut state: State) -> Ends {
        let mut input = state.input.clone();
        let mut statuses = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index > 0 {
                self.joiner = Joiner::Pipe;
            }
            let mut own = state.clone();
            own.input = std::mem::replace(&mut input, Input::Unseen);
            let end = if index + 1 < nodes.len() {
                let run = |walk: &mut Self| walk.apart(own, |walk, own| walk.node(node, own));
                let (end, output) = self.capturing(&state, run);
                if let Some(text) = output.known() {
                    input = Input::Text(Rc::new(text), 0);
                }
                end
            } else if state.lastpipe || self.last_may_set(node, &state) {
                let mut here = self.node(node, own).join(self);
                statuses.push(here.status);
                here.input.clone_from(&state.input);
                // With job control it is a subshell after all, as it always is for other shells.
                let mut outside = state.clone();
                outside.files.clone_from(&here.files);
                let stamp = self.change();
                state = here.merge(outside, stamp);
                break;
            } else {
                self.apart(own, |walk, own| walk.node(node, own))
            };
            statuses.push(end.status);
            self.after_subshell(&mut state, end);
        }
        let all = statuses.iter().all(|status| *status == Status::Success);
        let status = statuses.last().copied().unwrap_or(Status::Unknown);
        let status = if state.pipefail && !all { Status::Unknown } else { status };
        if matches!(state.input, Input::Text(..)) {
            state.input = Input::Unseen;
        }
        Ends::with(state, status)
    }

    pub(super) fn node(&mut self, node: &Node, mut state: State) -> Ends {
        if !self.step() {
            return Ends::of(state);
        }
        match &node.kind {
            NodeKind::Simple { assignments, words } => {
                return self.simple(node.span, assignments, words, &node.redirects, state);
            }
            NodeKind::Function { name, body } => return self.define(name, body, state),
            _ => {}
        }
        if node.redirects.is_empty() {
            return self.compound(node, state);
        }
        let before = state.clone();
        let redirected = self.redirects(&node.redirects, &mut state);
        if !redirected.list.is_empty() {
            let span = node.redirects.iter().map(|redirect| redirect.span).reduce(super::join_spans);
            let command = Command {
                redirects: redirected.list.clone(),
                ..Command::bare(Vec::new(), span.unwrap_or_default(), 0)
            };
            let slot = self.reserve();
            self.record(slot, command, &before, &mut state);
        }
        let failed = (redirected.made != Some(true)).then(|| state.clone());
        if let (Some(failed), Some(false)) = (&failed, redirected.made) {
            self.never(failed, |walk, state| walk.compound(node, state));
            return Ends::with(failed.clone(), Status::Failure);
        }
        let input = redirected.input.clone().map(|input| std::mem::replace(&mut state.input, input));
        let (ends, written) = self.doubting(failed.is_some(), |walk| {
            walk.writing(&redirected, state, |walk, state| walk.compound(node, state))
        });
        let ends = ends.each(self, |state, stamp| {
            if let Some(input) = &input {
                state.input.clone_from(input);
            }
            redirected.keep(written.as_ref(), state, stamp);
        });
        ends.or_failed(failed, self)
    }

    fn compound(&mut self, node: &Node, mut state: State) -> Ends {
        match &node.kind {
            NodeKind::Simple { .. } | NodeKind::Function { .. } => Ends::of(state),
            NodeKind::Subshell(list) => {
                let input = state.input.clone();
                self.subshell(list, &mut state, input);
                Ends::of(state)
            }
            NodeKind::Group(list) => self.list(list, state),
            NodeKind::If { clauses, otherwise } => self.conditional(clauses, otherwise.as_ref(), state),
            NodeKind::Loop { until, condition, body } => {
                let state = self.repeat(
                    state,
                    &mut |walk, state| {
                        let ends = walk.list(condition, state);
                        if *until { ends.negated() } else { ends }
                    },
                    &mut |walk, state| walk.list(body, state).join(walk),
                );
                Ends::with(state, Status::Unknown)
            }
            NodeKind::For { name, words, body, select } => self.each_word(name, words.as_deref(), body, *select, state),
            NodeKind::Count { parts: [start, condition, step], body } => {
                if let Some(start) = start {
                    self.number(start, &mut state);
                }
                let state = self.repeat(
                    state,
                    &mut |walk, mut state| {
                        let holds = match condition {
                            Some(condition) => walk.number(condition, &mut state).map(|value| value != 0),
                            None => Some(true),
                        };
                        Ends::with(state, Status::of(holds))
                    },
                    &mut |walk, state| {
                        let mut state = walk.list(body, state).join(walk);
                        // `continue` comes back to the step.
                        let frame = walk.frames.len().saturating_sub(1);
                        walk.resume(frame, &mut state);
                        if let Some(step) = step {
                            walk.number(step, &mut state);
                        }
                        state
                    },
                );
                Ends::with(state, Status::Unknown)
            }
            NodeKind::Case { subject, arms } => self.case(subject, arms, state),
            NodeKind::Test(test) => {
                let holds = self.test(test, &mut state);
                Ends::with(state, Status::of(holds))
            }
            NodeKind::Arithmetic(expression) => {
                let value = self.number(expression, &mut state);
                Ends::with(state, Status::of(value.map(|value| value != 0)))
            }
            NodeKind::Coprocess { name, body } => {
                let mut own = state.clone();
                own.input = Input::Unseen;
                let end = self.apart(own, |walk, own| walk.node(body, own));
                let mut beside = state.clone();
                beside.files = end.files;
                let mut state = state.merge(beside, self.change());
                let stamp = self.change();
                state.forget(name, stamp);
                Ends::with(state, Status::Success)
            }
        }
    }

    fn conditional(&mut self, clauses: &[(List, List)], otherwise: Option<&List>, state: State) -> Ends {
        let mut pending = Some(state.clone());
        let mut done: Option<State> = None;
        let mut doubts = 0;
        for (condition, body) in clauses {
            let Some(state_here) = pending.take() else {
                self.never(&state, |walk, state| walk.list(condition, state));
                self.never(&state, |walk, state| walk.list(body, state));
                continue;
            };
            self.guarded += 1;
            let ends = self.list(condition, state_here);
            self.guarded -= 1;
            let (success, failure) = ends.split();
            let unsure = success.is_some() && failure.is_some();
            self.joiner = Joiner::Then;
            match success {
                Some(success) => {
                    let ends = self.doubting(unsure, |walk| walk.list(body, success));
                    let end = ends.join(self);
                    done = self.either(done, Some(end));
                }
                None => self.never(&state, |walk, state| walk.list(body, state)),
            }
            self.joiner = Joiner::Then;
            self.doubt += usize::from(unsure);
            doubts += usize::from(unsure);
            pending = failure;
        }
        match (pending, otherwise) {
            (Some(state), Some(body)) => {
                let ends = self.list(body, state);
                let end = ends.join(self);
                done = self.either(done, Some(end));
            }
            (Some(mut state), None) => {
                state.status = Status::Success;
                done = self.either(done, Some(state));
            }
            (None, Some(body)) => self.never(&state, |walk, state| walk.list(body, state)),
            (None, None) => {}
        }
        self.doubt -= doubts;
        Ends::of(done.unwrap_or(state))
    }

    /// Runs something that is not listed.
    fn unlisted<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let (count, group, groups, joiner) = (self.commands.len(), self.group, self.groups, self.joiner);
        // What is printed here is printed again.
        let captures = self.captures.clone();
        self.dry += 1;
        let result = run(self);
        self.dry -= 1;
        self.captures = captures;
        self.commands.truncate(count);
        (self.group, self.groups, self.joiner) = (group, groups, joiner);
        result
    }

    /// Joins what `continue` has skipped.
    fn resume(&mut self, frame: usize, state: &mut State) {
        let continued = self.frames.get_mut(frame).map(|frame| std::mem::take(&mut frame.continued));
        let continued = self.one_of(continued.unwrap_or_default());
        if let Some(continued) = continued {
            let stamp = self.change();
            *state = state.clone().merge(continued, stamp);
            if state.lost == exit_of(frame) + 1 {
                state.lost = NOWHERE;
            }
        }
    }

    /// A loop: its rounds one by one as long as it is known that there is another one, then all others at once.
    fn repeat(
        &mut self,
        state: State,
        condition: &mut dyn FnMut(&mut Self, State) -> Ends,
        body: &mut dyn FnMut(&mut Self, State) -> State,
    ) -> State {
        let frame = self.frames.len();
        let before = state.lost;
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
            let ends = self.unlisted(|walk| condition(walk, state.clone()));
            self.guarded -= 1;
            let known = ends.failed.is_none() && ends.state.status != Status::Unknown;
            let most = if state.lost == before { MAX_ROUNDS } else { MAX_DOUBTFUL_ROUNDS };
            let small = round < most && self.commands.len() < MANY_COMMANDS;
            if !known || (!small && ends.state.status == Status::Success) {
                out = self.any_rounds(state, frame, condition, body);
                break;
            }
            self.guarded += 1;
            let (success, failure) = condition(self, state).split();
            self.guarded -= 1;
            self.joiner = Joiner::Then;
            match (success, failure) {
                (Some(success), _) => {
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
                        self.never(state, |walk, state| Ends::of(body(walk, state)));
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

    fn finish_loop(&mut self, frame: usize, before: usize, out: Option<State>) -> State {
        let left = self.left(frame);
        self.frames.truncate(frame);
        let mut state = match self.either(out, left) {
            Some(state) => state,
            None => {
                let mut state = State::new(self.facts);
                state.never = true;
                state
            }
        };
        if state.lost >= exit_of(frame) {
            state.lost = before;
        }
        state
    }

    /// Any number of rounds: what they may change is unknown, inside them as well as after them.
    fn any_rounds(
        &mut self,
        state: State,
        frame: usize,
        condition: &mut dyn FnMut(&mut Self, State) -> Ends,
        body: &mut dyn FnMut(&mut Self, State) -> State,
    ) -> Option<State> {
        let mut entry = state;
        // In a function that calls itself in a loop each round costs a power of them.
        let once =
            self.dry > 1 && self.calls.iter().any(|name| self.calls.iter().filter(|other| *other == name).count() > 1);
        let mut lost = entry.lost;
        for round in 0.. {
            if self.failure.is_some() {
                return Some(entry);
            }
            let after = self.unlisted(|walk| {
                walk.doubting(true, |walk| {
                    let (success, _) = condition(walk, entry.clone()).split();
                    success.map(|success| {
                        let mut end = body(walk, success);
                        walk.resume(frame, &mut end);
                        end
                    })
                })
            });
            let Some(mut after) = after else { break };
            lost = lost.min(after.lost);
            // That this round may not be reached says nothing of the first.
            after.lost = entry.lost;
            let stamp = self.change();
            // What the first round changes is followed; what goes on changing is unknown.
            let merged = entry.clone().merge_as(after, stamp, round > 0);
            if entry.covers(&merged) {
                break;
            }
            entry = merged;
            // In loops around loops they cost a power, too.
            if round == 4 || self.dry > 1 {
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
            failure.lost = failure.lost.min(lost);
        } else if let Some(success) = success {
            let end = self.doubting(true, |walk| {
                let mut end = body(walk, success);
                walk.resume(frame, &mut end);
                end
            });
            // A round may have left for further out.
            if let Some(failure) = &mut failure {
                failure.lost = failure.lost.min(end.lost);
            }
        }
        failure
    }

    fn each_word(
        &mut self,
        name: &str,
        words: Option<&[Written]>,
        body: &List,
        select: bool,
        mut state: State,
    ) -> Ends {
        let place = super::alternatives::Place::of(
            body,
            body.items.first().and_then(|item| item.first.commands.first()).map(|node| node.span),
        );
        let items = self.items(words, place, &mut state);
        let frame = self.frames.len();
        let before = state.lost;
        self.frames.push(Frame { kind: FrameKind::Loop, ..Frame::default() });
        if items.is_empty() {
            self.never(&state, |walk, state| walk.list(body, state));
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
                let value = if many { Value::hole(Why::TooMuch) } else { item.value.clone() };
                // The variable is set to one name after the other; there may be none.
                let mut condition = |walk: &mut Self, mut state: State| {
                    walk.assign(name, value.clone(), &mut state);
                    if select {
                        let stamp = walk.change();
                        state.forget(name, stamp);
                        state.forget("REPLY", stamp);
                        if matches!(state.input, Input::Text(..)) {
                            state.input = Input::Unseen;
                        }
                    }
                    Ends::with(state, Status::Unknown)
                };
                let end = self.any_rounds(state.clone(), frame, &mut condition, &mut |walk, state| {
                    walk.list(body, state).join(walk)
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
        Ends::with(state, status)
    }

    fn case(&mut self, subject: &Written, arms: &[Arm], mut state: State) -> Ends {
        let subject = self.subject(subject, &mut state);
        let mut done: Option<State> = None;
        let mut pending = Some(state.clone());
        let mut falls: Option<State> = None;
        let mut doubts = 0;
        for arm in arms {
            let mut matches = Some(false);
            if let Some(state) = &mut pending {
                for pattern in &arm.patterns {
                    let pattern = self.pattern(pattern, state);
                    let any = pattern
                        .as_deref()
                        .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte == b'*'));
                    let one = match (pattern.and_then(|text| Pattern::new(&text)), subject.known()) {
                        _ if any => Some(true),
                        (Some(pattern), Some(text)) => Some(pattern.matches(text)),
                        _ => None,
                    };
                    matches = match (matches, one) {
                        (Some(true), _) | (_, Some(true)) => Some(true),
                        (Some(false), Some(false)) => Some(false),
                        _ => None,
                    };
                }
            }
            let entering = pending.clone().filter(|_| matches != Some(false));
            let entry = self.either(entering, falls.take());
            if matches == Some(true) {
                pending = None;
            }
            self.joiner = Joiner::Then;
            let Some(entry) = entry else {
                self.never(&state, |walk, state| walk.list(&arm.body, state));
                continue;
            };
            let unsure = matches.is_none();
            let ends = self.doubting(unsure, |walk| walk.list(&arm.body, entry));
            let end = ends.join(self);
            match arm.end {
                ArmEnd::Leave => done = self.either(done, Some(end)),
                ArmEnd::FallThrough => falls = Some(end),
                ArmEnd::TryNext => pending = self.either(pending, Some(end)),
            }
            self.doubt += usize::from(unsure);
            doubts += usize::from(unsure);
        }
        self.doubt -= doubts;
        let rest = self.either(pending, falls);
        let done = self.either(done, rest);
        Ends::with(done.unwrap_or(state), Status::Unknown)
    }

    fn define(&mut self, name: &str, body: &Rc<Node>, mut state: State) -> Ends {
        let sure = !state.never;
        if sure {
            let stamp = self.change();
            state.set_function(name, Some(Function { bodies: vec![Rc::clone(body)] }), stamp);
            if state.has_too_many_functions() {
                self.fail("the text defines more functions than are followed");
            }
        }
        // Listed where it is defined, with nothing known about where it will be called.
        if self.dry == 0 && !self.listed_only && self.may_nest() {
            let mut own = state.clone();
            let stamp = self.change();
            own.havoc_anywhere(stamp);
            own.input = Input::Inherited;
            if is_called_by_itself(name) {
                let own = state.clone();
                let joiner = self.joiner;
                self.doubting(true, |walk| walk.inside(name, |walk| drop(walk.node(body, own))));
                self.joiner = joiner;
                return Ends::with(state, Status::Success);
            }
            self.listed_only = true;
            let joiner = self.joiner;
            self.never_in(&format!("{name}()"), own, body);
            self.joiner = joiner;
            self.listed_only = false;
        }
        Ends::with(state, Status::Success)
    }

    fn never_in(&mut self, name: &str, state: State, body: &Node) {
        self.inside(name, |walk| walk.never(&state, |walk, state| walk.node(body, state)));
    }

    /// Runs a function's body where it is called.
    pub(super) fn call(
        &mut self,
        slot: usize,
        name: &str,
        (function, sure): (&Function, bool),
        words: &[Word],
        mut state: State,
    ) -> Ends {
        let rounds = self.calls.iter().filter(|outer| *outer == name).count();
        let unlisted = self.dry > 0 && rounds >= MAX_UNLISTED_RECURSION;
        if unlisted && rounds == MAX_UNLISTED_RECURSION {
            // For all further ones, whatever they are given.
            let stamp = self.change();
            state.havoc(stamp);
        }
        let many = rounds > MAX_UNLISTED_RECURSION && unlisted
            || self.commands.len() >= MANY_CALLS.0 && rounds >= MANY_CALLS.1;
        if many || rounds >= MAX_RECURSION || !self.may_nest() || self.commands.len() >= MAX_COMMANDS {
            // What it changes after so many rounds is not known.
            if let Some(last) = self.commands.get_mut(slot) {
                last.opaque = true;
            }
            let stamp = self.change();
            state.havoc(stamp);
            return Ends::with(state, Status::Unknown);
        }
        if function.bodies.is_empty() {
            self.fail("a function may be more than are followed");
        }
        let frame = self.frames.len();
        let before = state.lost;
        let untouched = (!sure).then(|| state.clone());
        let several = unlisted || words.iter().any(super::expand::is_open_ended);
        let own = words.iter().map(super::expand::argument).collect::<Vec<_>>();
        let errexit = state.errexit;
        let outer = std::mem::replace(&mut state.arguments, (!several).then_some(own).into());
        self.frames.push(Frame { kind: FrameKind::Function, ..Frame::default() });
        self.calls.push(name.to_owned());
        let ends = self.doubting(!sure, |walk| {
            walk.inside(name, |walk| {
                let mut ends: Option<Ends> = None;
                for body in &function.bodies {
                    let more = walk.node(body, state.clone());
                    ends = Some(match ends {
                        Some(ends) => ends.or(more, walk),
                        None => more,
                    });
                }
                ends.unwrap_or_else(|| Ends::of(state))
            })
        });
        self.calls.pop();
        let left = self.left(frame);
        let (success, mut failure) = ends.split();
        let mut success = success;
        if let Some(left) = left {
            // How `return` ended it is in its status.
            let (ok, failed) = Ends::of(left).split();
            success = self.either(success, ok);
            failure = self.either(failure, failed);
        }
        let ended = self.frames.get_mut(frame);
        let (locals, references) = ended.map_or_else(Default::default, |frame| {
            (std::mem::take(&mut frame.locals), std::mem::take(&mut frame.references))
        });
        self.frames.truncate(frame);
        let failure = self.either(failure, untouched);
        Ends::between(success, failure, self).each(self, |state, stamp| {
            if state.lost >= exit_of(frame) {
                state.lost = before;
            }
            state.arguments.clone_from(&outer);
            // `local -` brings it back.
            if state.errexit != errexit {
                state.errexit = Errexit::Perhaps;
            }
            references.iter().for_each(|name| state.refer_no_more(name));
            for (name, variable) in locals.iter().rev() {
                restore(state, name, variable.as_ref(), stamp);
            }
        })
    }
}

/// Whether a command is several in this shell.
fn is_group(node: &Node) -> bool {
    !matches!(
        node.kind,
        NodeKind::Simple { .. }
            | NodeKind::Subshell(_)
            | NodeKind::Test(_)
            | NodeKind::Arithmetic(_)
            | NodeKind::Function { .. }
    )
}

/// Whether a shell calls a function of this name without being told: bash one, zsh several.
fn is_called_by_itself(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "chpwd",
        "command_not_found_handle",
        "command_not_found_handler",
        "periodic",
        "precmd",
        "preexec",
        "zshaddhistory",
        "zshexit",
    ];
    let signal = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase());
    NAMES.contains(&name) || name.strip_prefix("TRAP").is_some_and(signal)
}

/// Puts a variable back as it was.
pub(super) fn restore(state: &mut State, name: &str, variable: Option<&Variable>, stamp: u64) {
    match variable {
        Some(variable) => state.put(name, variable.clone(), stamp),
        None => state.remove(name, stamp),
    }
}
