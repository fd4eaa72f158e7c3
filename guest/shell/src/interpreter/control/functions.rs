//! Functions of the text: where they are defined, and each of their calls.

use std::rc::Rc;

use super::{assigns, exit_of};
use crate::interpreter::control_exits::ControlExits;
use crate::interpreter::state::{ErrexitState, Function, Input, ShellState, Status};
use crate::interpreter::{Frame, FrameKind, Interpreter, MAX_COMMANDS};
use toolgate_shell_syntax::syntax::Node;
use toolgate_shell_syntax::word::Word;

/// How often a function is followed inside itself.
const MAX_RECURSION: usize = 8;

/// The same in rounds of a loop that only find out what it may change: each call in it may have loops of its own.
const MAX_UNLISTED_RECURSION: usize = 2;

/// With this many commands listed, only so often.
const MANY_CALLS: (usize, usize) = (500, 3);

impl Interpreter<'_> {
    pub(super) fn define(&mut self, name: &str, body: &Rc<Node>, mut state: ShellState) -> ControlExits {
        let sure = !state.never;
        if sure {
            let stamp = self.change();
            state.set_function(name, Some(Function { bodies: vec![Rc::clone(body)] }), stamp);
            if state.has_too_many_functions() {
                self.fail("the command defines too many functions");
            }
        }
        // Listed where it is defined, with nothing known about where it will be called.
        if self.listing_suppressed == 0 && !self.listed_only && self.may_nest() {
            let mut own = state.clone();
            let stamp = self.change();
            own.havoc_anywhere(stamp);
            own.input = Input::Inherited;
            if is_called_by_itself(name) {
                let own = state.clone();
                let joiner = self.joiner;
                self.doubting(true, |interpreter| {
                    interpreter.inside(name, |interpreter| drop(interpreter.node(body, own)));
                });
                self.joiner = joiner;
                return ControlExits::with(state, Status::Success);
            }
            self.listed_only = true;
            let joiner = self.joiner;
            self.never_in(&format!("{name}()"), own, body);
            self.joiner = joiner;
            self.listed_only = false;
        }
        ControlExits::with(state, Status::Success)
    }

    fn never_in(&mut self, name: &str, state: ShellState, body: &Node) {
        self.inside(name, |interpreter| interpreter.never(&state, |interpreter, state| interpreter.node(body, state)));
    }

    /// What a call may have changed that is not followed.
    #[inline(never)]
    fn leave_out(&mut self, function: &Function, state: &mut ShellState) {
        let stamp = self.change();
        // Which they are costs as much as the text is long, and a text may have many calls of one.
        let key = (std::ptr::from_ref(function) as usize, state.functions_stamp());
        let names = match assigns::may_be_told(state) {
            true => self.assigned.entry(key).or_insert_with(|| assigns::names(function, state).map(Rc::new)).clone(),
            false => None,
        };
        match names {
            Some(names) => state.doubt_those(&names, stamp),
            None => state.havoc(stamp),
        }
    }

    /// Runs a function's body where it is called.
    pub(in crate::interpreter) fn call(
        &mut self,
        slot: usize,
        name: &str,
        (function, sure): (&Function, bool),
        words: &[Word],
        mut state: ShellState,
    ) -> ControlExits {
        let rounds = self.calls.iter().filter(|outer| *outer == name).count();
        let unlisted = self.listing_suppressed > 0 && rounds >= MAX_UNLISTED_RECURSION;
        if unlisted && rounds == MAX_UNLISTED_RECURSION {
            // For all further ones, whatever they are given.
            self.leave_out(function, &mut state);
        }
        let many = rounds > MAX_UNLISTED_RECURSION && unlisted
            || self.commands.len() >= MANY_CALLS.0 && rounds >= MANY_CALLS.1;
        if many || rounds >= MAX_RECURSION || !self.may_nest() || self.commands.len() >= MAX_COMMANDS {
            // What it changes after so many rounds is not known.
            if let Some(last) = self.commands.get_mut(slot) {
                last.opaque = true;
            }
            self.leave_out(function, &mut state);
            return ControlExits::with(state, Status::Unknown);
        }
        if function.bodies.is_empty() {
            self.fail("a function has too many possible definitions");
        }
        let frame = self.frames.len();
        let before = state.jump_target;
        let untouched = (!sure).then(|| state.clone());
        let several = unlisted || words.iter().any(crate::interpreter::arguments::is_open_ended);
        let own = words.iter().map(crate::interpreter::arguments::argument).collect::<Vec<_>>();
        let errexit = state.errexit;
        let outer = std::mem::replace(&mut state.arguments, (!several).then_some(own).into());
        self.frames.push(Frame { kind: FrameKind::Function, ..Frame::default() });
        self.calls.push(name.to_owned());
        let ends = self.doubting(!sure, |interpreter| {
            interpreter.inside(name, |interpreter| {
                let mut ends: Option<ControlExits> = None;
                for body in &function.bodies {
                    let more = interpreter.node(body, state.clone());
                    ends = Some(match ends {
                        Some(ends) => ends.or(more, interpreter),
                        None => more,
                    });
                }
                ends.unwrap_or_else(|| ControlExits::of(state))
            })
        });
        self.calls.pop();
        let left = self.left(frame);
        let (success, mut failure) = ends.split();
        let mut success = success;
        if let Some(left) = left {
            // How `return` ended it is in its status.
            let (ok, failed) = ControlExits::of(left).split();
            success = self.either(success, ok);
            failure = self.either(failure, failed);
        }
        let ended = self.frames.get_mut(frame);
        let (locals, references) = ended.map_or_else(Default::default, |frame| {
            (std::mem::take(&mut frame.locals), std::mem::take(&mut frame.references))
        });
        self.frames.truncate(frame);
        let failure = self.either(failure, untouched);
        ControlExits::between(success, failure, self).each(self, |state, stamp| {
            if state.jump_target >= exit_of(frame) {
                state.jump_target = before;
            }
            state.arguments.clone_from(&outer);
            // `local -` brings it back.
            if state.errexit != errexit {
                state.errexit = ErrexitState::Perhaps;
            }
            references.iter().for_each(|name| state.refer_no_more(name));
            for (name, variable) in locals.iter().rev() {
                state.restore(name, variable.as_ref(), stamp);
            }
        })
    }
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
