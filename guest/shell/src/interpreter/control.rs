//! Lists, pipelines and branches: which way control goes, and what is known on each way.
//!
//! | Module | For |
//! |---|---|
//! | `assigns` | what a call of a function may change, by its text |
//! | `loops` | loops, `break` and `continue` |
//! | `functions` | functions and their calls |

mod assigns;
mod functions;
mod loops;

use super::control_exits::ControlExits;
use super::state::{ErrexitState, Handler, Input, ShellState, Status};
use super::{Frame, Interpreter};
use crate::command::{Command, Joiner};
use crate::shared::Shared;
use crate::tracker::Subshell;
use toolgate_shell_syntax::glob::Pattern;
use toolgate_shell_syntax::syntax::{Arm, ArmEnd, Connector, Item, List, Node, NodeKind, Pipeline, Word as Written};
use toolgate_shell_syntax::word::Span;

/// Where `break` comes out of this frame; what `continue` skips is found one below.
fn exit_of(frame: usize) -> usize {
    frame * 2
}

impl Interpreter<'_> {
    pub(super) fn either(&mut self, a: Option<ShellState>, b: Option<ShellState>) -> Option<ShellState> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.merge(b, self.change())),
            (a, b) => a.or(b),
        }
    }

    /// Runs a list in a shell of its own, up to its end.
    pub(super) fn shell(&mut self, list: &List, state: ShellState) -> ShellState {
        self.apart(state, |interpreter, state| interpreter.list(list, state))
    }

    /// Runs something in a shell of its own: `exit` ends it, traps belong to it.
    pub(super) fn apart(
        &mut self,
        mut state: ShellState,
        run: impl FnOnce(&mut Self, ShellState) -> ControlExits,
    ) -> ShellState {
        let frame = self.frames.len();
        let before = state.jump_target;
        let outer = state.traps.take();
        let handlers = state.handlers.clone();
        self.frames.push(Frame::default());
        let ends = run(self, state);
        let end = ends.join(self);
        let mut end = self.ended(end, frame, before, &handlers);
        end.traps = outer;
        end
    }

    /// A shell has come to its end: what it runs then is run. Apart from what leads here, so that this takes no stack while a
    /// shell runs others.
    #[inline(never)]
    fn ended(&mut self, end: ShellState, frame: usize, before: usize, handlers: &Shared<Vec<Handler>>) -> ShellState {
        // Nothing comes after the text as a whole, unless it has said so.
        let trapped = |state: &ShellState| state.traps.is_some() || !state.handlers.is_empty();
        let last = frame == 0 && !trapped(&end) && !self.frames.iter().any(|frame| frame.left.iter().any(trapped));
        let left = self.frames.get_mut(frame).map(|frame| std::mem::take(&mut frame.left));
        let left = left.filter(|_| !last).unwrap_or_default();
        // What left before a trap was set does not run it, and has not what it speaks of.
        let has_traps = end.has_traps();
        let (alike, other): (Vec<_>, Vec<_>) = left.into_iter().partition(|state| state.has_traps() == has_traps);
        let end = match self.one_of(alike) {
            Some(left) => end.merge(left, self.change()),
            None => end,
        };
        let other = self.one_of(other);
        let doubtful = other.is_some();
        let mut result: Option<ShellState> = None;
        for mut end in std::iter::once(end).chain(other) {
            end.jump_target = if end.jump_target >= exit_of(frame) { before } else { end.jump_target };
            // Those of the shell around it come to their last opportunity there.
            let last = frame == 0 || end.handlers != *handlers;
            self.interrupt(&mut end, last);
            let end = self.at_exit(end, frame, doubtful);
            result = self.either(result, Some(end));
        }
        self.frames.truncate(frame);
        result.unwrap_or_else(|| ShellState::new(self.facts))
    }

    /// Runs a list in a subshell of `state`: of what it changes, files stay.
    pub(super) fn subshell(&mut self, list: &List, state: &mut ShellState, input: Input) {
        let mut own = state.clone();
        own.input = input;
        let end = self.shell(list, own);
        self.after_subshell(state, end);
    }

    pub(super) fn after_subshell(&mut self, state: &mut ShellState, end: ShellState) {
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
    pub(super) fn left(&mut self, frame: usize) -> Option<ShellState> {
        let left = self.frames.get_mut(frame).map(|frame| std::mem::take(&mut frame.left));
        self.one_of(left.unwrap_or_default())
    }

    /// What holds whichever of several states came to pass. Neighbours are merged first, as they have most in common.
    fn one_of(&mut self, mut states: Vec<ShellState>) -> Option<ShellState> {
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
    pub(super) fn leave(&mut self, state: &mut ShellState, frame: usize, perhaps: bool) {
        if state.never {
            return;
        }
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.left.push(state.clone());
        }
        state.jump_target = state.jump_target.min(exit_of(frame));
        state.never = !perhaps;
    }

    pub(super) fn list(&mut self, list: &List, state: ShellState) -> ControlExits {
        // `$?` is what was before until the first of them has run.
        let mut ends =
            if list.items.is_empty() { ControlExits::with(state, Status::Success) } else { ControlExits::of(state) };
        for item in &list.items {
            if self.failure.is_some() {
                break;
            }
            let mut state = ends.join(self);
            if item.background {
                let mut own = state.clone();
                own.input = Input::Nothing;
                let end = self.apart(own, |interpreter, own| interpreter.item(item, own));
                // It runs beside what follows: what it does to files may come before or after.
                let mut beside = state.clone();
                beside.files = end.files;
                state = state.merge(beside, self.change());
                ends = ControlExits::with(state, Status::Success);
            } else {
                ends = self.item(item, state);
            }
            self.joiner = Joiner::Then;
        }
        ends.interrupted(self)
    }

    fn item(&mut self, item: &Item, state: ShellState) -> ControlExits {
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
                    self.never(skip, |interpreter, state| interpreter.pipeline(pipeline, state));
                }
                ends =
                    if and { ControlExits::between(None, skip, self) } else { ControlExits::between(skip, None, self) };
                continue;
            };
            let (success, failure) =
                self.doubting(skip.is_some(), |interpreter| interpreter.pipeline(pipeline, run)).split();
            let (success, failure) = match (and, skip) {
                (true, skip) => (success, self.either(failure, skip)),
                (false, skip) => (self.either(success, skip), failure),
            };
            ends = ControlExits::between(success, failure, self);
        }
        // A failure that is wanted does not count.
        let last = item.rest.last().map_or(&item.first, |(_, pipeline)| pipeline);
        // What ends a compound command may have been exempt.
        let compound = matches!(last.commands.as_slice(), [only] if is_group(only));
        if last.negated && !chained { ends } else { self.errexit(ends, chained || compound) }
    }

    /// `set -e`: a failure ends the shell. In a list that may be one that does not count.
    fn errexit(&mut self, ends: ControlExits, perhaps: bool) -> ControlExits {
        let applies = |state: &ShellState| state.errexit != ErrexitState::Off;
        if self.guarded > 0 || !(applies(&ends.state) || ends.failed.as_ref().is_some_and(applies)) {
            return ends;
        }
        let (success, mut failure) = ends.split();
        if let Some(failure) = &mut failure {
            let sure = failure.errexit == ErrexitState::On && !perhaps;
            self.leaves_shell(failure, !sure);
        }
        ControlExits::between(success, failure, self)
    }

    /// Lists what is not run.
    fn never(&mut self, state: &ShellState, run: impl FnOnce(&mut Self, ShellState) -> ControlExits) {
        let mut own = state.clone();
        own.never = true;
        self.apart(own, run);
    }

    /// Runs a pipeline in which no variable has several values.
    pub(super) fn pipeline_as_it_is(&mut self, pipeline: &Pipeline, state: ShellState) -> ControlExits {
        self.guarded += usize::from(pipeline.negated);
        let ends = match pipeline.commands.as_slice() {
            [] => ControlExits::with(state, Status::Success),
            [only] => self.node(only, state),
            several => self.piped(several, state),
        };
        self.guarded -= usize::from(pipeline.negated);
        if pipeline.negated { ends.negated() } else { ends }
    }

    fn piped(&mut self, nodes: &[Node], mut state: ShellState) -> ControlExits {
        let mut input = state.input.clone();
        let mut statuses = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index > 0 {
                self.joiner = Joiner::Pipe;
            }
            let mut own = state.clone();
            own.input = std::mem::replace(&mut input, Input::Unseen(None));
            let end = if index + 1 < nodes.len() {
                let run =
                    |interpreter: &mut Self| interpreter.apart(own, |interpreter, own| interpreter.node(node, own));
                let (end, output) = self.capturing(&state, run);
                input = output.input().unwrap_or(Input::Unseen(None));
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
                self.apart(own, |interpreter, own| interpreter.node(node, own))
            };
            statuses.push(end.status);
            self.after_subshell(&mut state, end);
        }
        let all = statuses.iter().all(|status| *status == Status::Success);
        let status = statuses.last().copied().unwrap_or(Status::Unknown);
        let status = if state.pipefail && !all { Status::Unknown } else { status };
        state.use_input();
        ControlExits::with(state, status)
    }

    pub(super) fn node(&mut self, node: &Node, mut state: ShellState) -> ControlExits {
        if !self.step() {
            return ControlExits::of(state);
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
            let span = node.redirects.iter().map(|redirect| redirect.span).reduce(Span::to);
            let command = Command {
                redirects: redirected.list.clone(),
                ..Command::bare(Vec::new(), span.unwrap_or_default(), 0)
            };
            let slot = self.reserve();
            self.record(slot, command, &before, &mut state);
        }
        let failed = (redirected.made != Some(true)).then(|| state.clone());
        if let (Some(failed), Some(false)) = (&failed, redirected.made) {
            self.never(failed, |interpreter, state| interpreter.compound(node, state));
            return ControlExits::with(failed.clone(), Status::Failure);
        }
        let input = redirected.input.clone().map(|input| std::mem::replace(&mut state.input, input));
        let descriptors = redirected.open(&mut state);
        let (ends, written) = self.doubting(failed.is_some(), |interpreter| {
            interpreter.writing(&redirected, state, |interpreter, state| interpreter.compound(node, state))
        });
        let ends = ends.each(self, |state, stamp| {
            if let Some(input) = &input {
                state.input.clone_from(input);
            }
            if let Some(descriptors) = &descriptors {
                state.descriptors = descriptors.clone();
            }
            redirected.keep(written.as_ref(), state, stamp);
        });
        ends.or_failed(failed, self)
    }

    fn compound(&mut self, node: &Node, mut state: ShellState) -> ControlExits {
        match &node.kind {
            NodeKind::Simple { .. } | NodeKind::Function { .. } => ControlExits::of(state),
            NodeKind::Subshell(list) => {
                let input = state.input.clone();
                self.subshell(list, &mut state, input);
                ControlExits::of(state)
            }
            NodeKind::Group(list) => self.list(list, state),
            NodeKind::If { clauses, otherwise } => self.conditional(clauses, otherwise.as_ref(), state),
            NodeKind::Loop { until, condition, body } => {
                let state = self.repeat(
                    state,
                    &mut |interpreter, state| {
                        let ends = interpreter.list(condition, state);
                        if *until { ends.negated() } else { ends }
                    },
                    &mut |interpreter, state| interpreter.list(body, state).join(interpreter),
                );
                ControlExits::with(state, Status::Unknown)
            }
            NodeKind::For { name, words, body, select } => self.each_word(name, words.as_deref(), body, *select, state),
            NodeKind::Count { parts: [start, condition, step], body } => {
                if let Some(start) = start {
                    self.number(start, &mut state);
                }
                let state = self.repeat(
                    state,
                    &mut |interpreter, mut state| {
                        let holds = match condition {
                            Some(condition) => interpreter.number(condition, &mut state).map(|value| value != 0),
                            None => Some(true),
                        };
                        ControlExits::with(state, Status::of(holds))
                    },
                    &mut |interpreter, state| {
                        let mut state = interpreter.list(body, state).join(interpreter);
                        // `continue` comes back to the step.
                        let frame = interpreter.frames.len().saturating_sub(1);
                        interpreter.resume(frame, &mut state);
                        if let Some(step) = step {
                            interpreter.number(step, &mut state);
                        }
                        state
                    },
                );
                ControlExits::with(state, Status::Unknown)
            }
            NodeKind::Case { subject, arms } => self.case(subject, arms, state),
            NodeKind::Test(test) => {
                let holds = self.test(test, &mut state);
                ControlExits::with(state, Status::of(holds))
            }
            NodeKind::Arithmetic(expression) => {
                let value = self.number(expression, &mut state);
                ControlExits::with(state, Status::of(value.map(|value| value != 0)))
            }
            NodeKind::Coprocess { name, body } => {
                let mut own = state.clone();
                own.input = Input::Unseen(None);
                let end = self.apart(own, |interpreter, own| interpreter.node(body, own));
                let mut beside = state.clone();
                beside.files = end.files;
                let mut state = state.merge(beside, self.change());
                let stamp = self.change();
                state.forget(name, stamp);
                ControlExits::with(state, Status::Success)
            }
        }
    }

    fn conditional(&mut self, clauses: &[(List, List)], otherwise: Option<&List>, state: ShellState) -> ControlExits {
        let mut pending = Some(state.clone());
        let mut done: Option<ShellState> = None;
        let mut doubts = 0;
        for (condition, body) in clauses {
            let Some(state_here) = pending.take() else {
                self.never(&state, |interpreter, state| interpreter.list(condition, state));
                self.never(&state, |interpreter, state| interpreter.list(body, state));
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
                    let ends = self.doubting(unsure, |interpreter| interpreter.list(body, success));
                    let end = ends.join(self);
                    done = self.either(done, Some(end));
                }
                None => self.never(&state, |interpreter, state| interpreter.list(body, state)),
            }
            self.joiner = Joiner::Then;
            self.condition_depth += usize::from(unsure);
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
            (None, Some(body)) => self.never(&state, |interpreter, state| interpreter.list(body, state)),
            (None, None) => {}
        }
        self.condition_depth -= doubts;
        ControlExits::of(done.unwrap_or(state))
    }

    fn case(&mut self, subject: &Written, arms: &[Arm], mut state: ShellState) -> ControlExits {
        let subject = self.subject(subject, &mut state);
        let mut done: Option<ShellState> = None;
        let mut pending = Some(state.clone());
        let mut falls: Option<ShellState> = None;
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
                self.never(&state, |interpreter, state| interpreter.list(&arm.body, state));
                continue;
            };
            let unsure = matches.is_none();
            let ends = self.doubting(unsure, |interpreter| interpreter.list(&arm.body, entry));
            let end = ends.join(self);
            match arm.end {
                ArmEnd::Leave => done = self.either(done, Some(end)),
                ArmEnd::FallThrough => falls = Some(end),
                ArmEnd::TryNext => pending = self.either(pending, Some(end)),
            }
            self.condition_depth += usize::from(unsure);
            doubts += usize::from(unsure);
        }
        self.condition_depth -= doubts;
        let rest = self.either(pending, falls);
        let done = self.either(done, rest);
        ControlExits::with(done.unwrap_or(state), Status::Unknown)
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
