//! Redirects: what they open, where output goes, and what a command writes there.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Interpreter;
use super::path_resolution::{followed_at, places};
use super::state::{Input, Opened, ShellState};
use crate::abstract_value::Text;
use crate::command::{Redirect, RedirectKind};
use crate::facts::Presence;
use crate::shared::Shared;
use toolgate_shell_syntax::path::{absolute, is_stdin, parent};
use toolgate_shell_syntax::syntax::{self, Descriptor, RedirectOperator, Target};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Where standard output goes.
enum Output {
    Same,
    /// To this file, if it is known which.
    File {
        path: Option<String>,
        /// What is known of it otherwise.
        written: (Value, Span),
        /// To one of these instead.
        others: Vec<String>,
        append: bool,
        /// It may go elsewhere.
        perhaps: bool,
    },
    /// To a descriptor that may lead anywhere.
    Elsewhere,
}

/// What redirects change.
pub(super) struct Redirected {
    pub(super) list: Vec<Redirect>,
    pub(super) input: Option<Input>,
    /// Descriptors behind the three standard ones, with what they lead to; nothing if they are closed.
    pub(super) opened: Vec<(u32, Option<Opened>)>,
    output: Output,
    /// Whether they can be made: `None` if only the run can tell. Without them the command does not run.
    pub(super) made: Option<bool>,
}

impl Redirected {
    /// This is what is read from a descriptor.
    fn reads(&mut self, number: Option<u32>, input: Input) {
        match number {
            Some(0) => self.input = Some(input),
            Some(number @ 3..) => self.opened.push((number, Some(Opened::Source(input)))),
            _ => {}
        }
    }

    /// A descriptor becomes what another one is, if it is known what that leads to: `>&3`. Whether it is.
    fn duplicates(&mut self, number: Option<u32>, other: u32, named: &Word, state: &ShellState) -> bool {
        let own = self.opened.iter().rev().find(|(number, _)| *number == other).map(|(_, opened)| opened.clone());
        let opened = own.unwrap_or_else(|| state.descriptors.get(&other).cloned());
        match (number, opened) {
            (Some(number @ 3..), Some(opened)) => self.opened.push((number, Some(opened))),
            (Some(0), Some(Opened::Source(input))) => self.input = Some(input),
            (Some(1 | 2), Some(Opened::File { path, target, sure })) => {
                // What is added there is written to the file, by whatever name it is called here.
                let kind = if sure { RedirectKind::Append } else { RedirectKind::ReadWrite };
                let target = Word { span: named.span, ..target };
                if number == Some(1) {
                    let written = (target.value.clone(), target.span);
                    self.output = Output::File { path, written, others: Vec::new(), append: true, perhaps: !sure };
                }
                self.list.push(Redirect { kind, fd: number, target });
            }
            _ => return false,
        }
        true
    }

    /// Opens and closes descriptors as the redirects say. What they were before.
    pub(super) fn open(&self, state: &mut ShellState) -> Option<Shared<BTreeMap<u32, Opened>>> {
        if self.opened.is_empty() {
            return None;
        }
        let before = state.descriptors.clone();
        let all = state.descriptors.to_mut();
        for (number, opened) in &self.opened {
            match opened {
                Some(opened) => drop(all.insert(*number, opened.clone())),
                None => drop(all.remove(number)),
            }
        }
        Some(before)
    }

    /// Notes what has been written to the file.
    pub(super) fn keep(&self, written: Option<&Rc<Text>>, state: &mut ShellState, stamp: u64) {
        if let Output::File { path: Some(path), perhaps: true, .. } = &self.output {
            state.files.set_unread(path, stamp);
        } else if let Output::File { path: Some(path), others, append, .. } = &self.output {
            let both = |before: &Text, written: &Text| Rc::new(before.followed_by(written));
            for other in others {
                let before = state.files.made(other).and_then(|made| made.content.clone()).filter(|_| *append);
                match (before, written) {
                    (Some(before), Some(written)) => {
                        state.files.may_append(other, &before, both(&before, written), stamp);
                    }
                    (_, written) => state.files.may_write(other, written, stamp),
                }
            }
            let content = match (append, state.files.made(path).and_then(|made| made.content.clone()), written) {
                (false, _, written) => written.cloned(),
                (true, Some(before), Some(written)) => Some(both(&before, written)),
                // Of a file that was there before, what is added is judged.
                (true, None, Some(written)) if !state.files.is_unread(path) => Some(Rc::clone(written)),
                (true, ..) => None,
            };
            if content.is_none() {
                state.files.set_unread(path, stamp);
            } else if path.contains(Value::HOLE) {
                state.files.put_content(path, content, None, stamp);
            } else {
                state.files.set_content(path, content, stamp);
            }
        }
    }
}

impl Interpreter<'_> {
    pub(super) fn redirects(&mut self, redirects: &[syntax::Redirect], state: &mut ShellState) -> Redirected {
        let mut result =
            Redirected { list: Vec::new(), input: None, opened: Vec::new(), output: Output::Same, made: Some(true) };
        let mut never = None;
        for redirect in redirects {
            // After one that fails the others are not come to.
            if result.made == Some(false) && never.is_none() {
                let mut own = state.clone();
                own.never = true;
                never = Some(own);
            }
            let state = match &mut never {
                Some(never) => never,
                None => &mut *state,
            };
            let number = number(redirect);
            let word = match &redirect.target {
                Target::Document(body) => {
                    let Some(body) = body.get() else { continue };
                    let text = self.value(body, state);
                    result.reads(number, given(text, ""));
                    continue;
                }
                Target::Word(word) => word,
            };
            if redirect.kind == RedirectOperator::HereString {
                let text = self.subject(word, state);
                result.reads(number, given(text, "\n"));
                continue;
            }
            let target = self.target(word, state);
            let duplicates =
                matches!(redirect.kind, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput);
            let descriptor = target
                .known()
                .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
            let named = target.known().and_then(|text| numbered(text, duplicates));
            if named.is_some_and(|named| result.duplicates(number, named, &target, state)) {
                continue;
            }
            if duplicates && descriptor {
                match number {
                    Some(number @ 3..) => result.opened.push((number, None)),
                    Some(0) => result.input = Some(Input::Unseen(None)),
                    Some(1) if target.known() != Some("1") => result.output = Output::Elsewhere,
                    _ => {}
                }
                continue;
            }
            let kind = match redirect.kind {
                RedirectOperator::Read | RedirectOperator::DuplicateInput => RedirectKind::Read,
                RedirectOperator::ReadWrite => RedirectKind::ReadWrite,
                RedirectOperator::Append | RedirectOperator::BothAppend => RedirectKind::Append,
                _ => RedirectKind::Write,
            };
            let path = match (target.known(), state.folders.certain()) {
                (Some(text), _) if text.starts_with('/') => Some(absolute(text, "/")),
                (Some(text), Some(folder)) => Some(absolute(text, folder)),
                _ => followed_at(&target.value, state),
            };
            let made = openable(kind, redirect.kind, &target, path.as_deref(), state);
            result.made = match (result.made, made) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            match number {
                Some(0) => result.input = self.input_from(&target, path, state).or(result.input),
                Some(1) => result.output = output_to(&target, path, kind == RedirectKind::Append, state),
                Some(number @ 3..) if kind == RedirectKind::Read => {
                    let input = self.input_from(&target, path, state).unwrap_or(Input::Unseen(None));
                    result.opened.push((number, Some(Opened::Source(input))));
                }
                Some(number @ 3..) => {
                    let opened = Opened::File { path, target: target.clone(), sure: true };
                    result.opened.push((number, Some(opened)));
                }
                _ => {}
            }
            result.list.push(Redirect { kind, fd: number, target });
        }
        result
    }

    /// What is read from a target, if that is another input than before.
    fn input_from(&mut self, target: &Word, path: Option<String>, state: &ShellState) -> Option<Input> {
        let content = path.as_ref().and_then(|path| state.files.read(path).cloned()).map(|text| Input::Text(text, 0));
        let process = matches!(target.value, Value::Unknown { why: Why::ProcessSubstitution, .. });
        let process = process.then(|| self.processes.get(&target.span.start).cloned()).flatten();
        match target.known() {
            Some("/dev/null") => Some(Input::Nothing),
            // What it was before; of a file that was read in part, all is read again.
            Some(path) if is_stdin(path) => matches!(state.input, Input::Text(_, 1..)).then_some(Input::Unseen(None)),
            _ => {
                let stored = || self.stored_input(&path?, target.span, state);
                Some(content.or(process).or_else(stored).unwrap_or(Input::Unseen(None)))
            }
        }
    }

    /// Runs something whose output goes where redirects send it; what is written to a file.
    pub(super) fn writing<T>(
        &mut self,
        redirected: &Redirected,
        state: ShellState,
        run: impl FnOnce(&mut Self, ShellState) -> T,
    ) -> (T, Option<Rc<Text>>) {
        match &redirected.output {
            Output::Same => (run(self, state), None),
            Output::File { written, append, .. } => {
                let before = state.clone();
                let (result, text) = self.capturing(&before, |interpreter| run(interpreter, state));
                let text = text.known().map(Rc::new);
                self.write_alike((&written.0, written.1), text.as_ref(), *append, &before);
                (result, text)
            }
            Output::Elsewhere => {
                self.print(None, Span::default(), None, &state);
                let (result, _) = self.capturing(&state.clone(), |interpreter| run(interpreter, state));
                (result, None)
            }
        }
    }
}

/// The number of the descriptor that a target names, one behind the three standard ones: `&3`, `/dev/fd/3`.
fn numbered(target: &str, duplicates: bool) -> Option<u32> {
    let digits = match duplicates {
        true => target,
        false => target.strip_prefix("/dev/fd/").or_else(|| target.strip_prefix("/proc/self/fd/"))?,
    };
    digits.parse().ok().filter(|number| *number > 2)
}

/// The descriptor that a redirect is for, if it has a number.
fn number(redirect: &syntax::Redirect) -> Option<u32> {
    match redirect.fd {
        Descriptor::Number(number) => Some(number),
        Descriptor::Default => match redirect.kind {
            RedirectOperator::Read
            | RedirectOperator::ReadWrite
            | RedirectOperator::DuplicateInput
            | RedirectOperator::HereString
            | RedirectOperator::HereDocument => Some(0),
            _ => Some(1),
        },
        Descriptor::Named => None,
    }
}

/// Where what is written to a target goes; `path` is what is known of its place.
fn output_to(target: &Word, path: Option<String>, append: bool, state: &ShellState) -> Output {
    let known = target.known();
    if matches!(known, Some("/dev/stdout" | "/dev/fd/1" | "/dev/stderr" | "/dev/fd/2" | "/dev/tty")) {
        return Output::Elsewhere;
    }
    let written = (target.value.clone(), target.span);
    let certain = state.folders.certain().is_some();
    let relative = known.filter(|target| !certain && !target.starts_with('/'));
    let mut others = relative.map(|target| places(target, state)).unwrap_or_default();
    // Where nothing else is known the likeliest is the one.
    let path = path.or_else(|| (!others.is_empty()).then(|| others.remove(0)));
    Output::File { path, written, others, append, perhaps: false }
}

/// Whether a file can be opened as a redirect does; `None` if only the run can tell. Without facts it is taken to be.
fn openable(
    kind: RedirectKind,
    operator: RedirectOperator,
    target: &Word,
    path: Option<&str>,
    state: &ShellState,
) -> Option<bool> {
    if target.known() == Some("") {
        return Some(false);
    }
    if target.known().is_some_and(|text| text.starts_with("/dev/")) || !state.files.informed() {
        return Some(true);
    }
    let path = path.filter(|_| !target.several)?;
    let here = state.files.sure(path);
    if kind == RedirectKind::Read {
        return match here {
            Presence::Unknown => None,
            Presence::Absent => Some(false),
            _ => Some(true),
        };
    }
    match (here, parent(path).map(|folder| state.files.sure(folder))) {
        (Presence::Folder, _) | (_, Some(Presence::Absent | Presence::File | Presence::Other)) => Some(false),
        (Presence::File | Presence::Unknown, _)
            if state.noclobber && kind == RedirectKind::Write && operator != RedirectOperator::Clobber =>
        {
            None
        }
        (Presence::File | Presence::Other, _) | (Presence::Absent, Some(Presence::Folder)) => Some(true),
        (Presence::Unknown, Some(Presence::Folder)) => Some(true),
        _ => None,
    }
}

/// A word as standard input, with what ends it.
fn given(word: Word, end: &str) -> Input {
    match word.value {
        Value::Known(text) => Input::Text(Rc::new(Text { text: text + end, span: word.span, at: word.at }), 0),
        _ => Input::Unseen(None),
    }
}
