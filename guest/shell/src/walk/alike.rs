//! Files whose path is known only in part: `/tmp/x.$$`, `$DIR/install.sh`.
//!
//! Two that are written alike may be two files, so nothing else that is known rests on this. What the text wrote to one of them
//! is read apart, in a walk of its own, where one that is written alike is run: see [`Script::written`](super::Script::written).

use std::rc::Rc;

use super::places::in_unknown;
use super::state::{State, Text};
use super::{MAX_BYTES, MAX_STEPS, Script, Walk};
use crate::path::absolute;
use crate::word::{Span, Value, Why, Word};

/// How many files are kept, the last ones.
const MAX_FILES: usize = 64;

/// How many runs of them are read, those inside them included; each of them has as small a part of what a text may take.
const MAX_RUNS: usize = 16;

/// How much may be in one.
const MAX_TEXT: usize = 64 << 10;

/// What the text wrote, and what it ran of that.
#[derive(Default)]
pub(super) struct Alike {
    /// Without a text where only that it was written is known.
    files: Vec<(Value, Option<Rc<Text>>)>,
    runs: usize,
    pub(super) scripts: Vec<Script>,
}

impl Alike {
    /// What was written to the files that are written like a path, each text once, the last one first.
    fn texts(&self, path: &Value) -> Vec<Rc<Text>> {
        let mut texts: Vec<Rc<Text>> = Vec::new();
        let alike = self.files.iter().rev().filter(|(file, _)| file.is_like(path));
        for text in alike.filter_map(|(_, text)| text.as_ref()) {
            if !texts.iter().any(|other| other.text == text.text) {
                texts.push(Rc::clone(text));
            }
        }
        texts
    }
}

impl Walk<'_> {
    /// Notes that a file is written, if its path is known in part.
    pub(super) fn write_alike(&mut self, path: (&Value, Span), text: Option<&Rc<Text>>, append: bool, state: &State) {
        let Some(file) = self.place(path, state) else { return };
        let before = || self.alike.files.iter().rev().find(|(other, text)| text.is_some() && other.is_like(&file));
        let text = match append.then(before).flatten() {
            Some((_, Some(before))) => text.map(|text| Rc::new(before.followed_by(text))),
            _ => text.cloned(),
        };
        let file = (file, text.filter(|text| text.text.len() <= MAX_TEXT));
        self.alike.files.retain(|other| *other != file);
        self.alike.files.push(file);
        if self.alike.files.len() > MAX_FILES {
            self.alike.files.remove(0);
        }
    }

    /// Notes that what is in one file is in another now.
    pub(super) fn copy_alike(&mut self, from: (&Value, Span), to: (&Value, Span), state: &State) {
        self.write_alike(to, None, false, state);
        let texts = self.place(from, state).map(|from| self.alike.texts(&from)).unwrap_or_default();
        for text in texts.iter().rev() {
            self.write_alike(to, Some(text), false, state);
        }
    }

    /// Where a file is that the text wrote to, or one that is written like it.
    pub(super) fn wrote_alike(&self, path: &Word, state: &State) -> Option<Value> {
        if self.alike.files.is_empty() {
            return None;
        }
        let place = self.place((&path.value, path.span), state)?;
        self.alike.files.iter().any(|(file, _)| file.is_like(&place)).then_some(place)
    }

    /// Reads what the text wrote to files that are written like one that is run, unless it is `known` to be in that one.
    pub(super) fn run_alike(
        &mut self,
        path: &Word,
        known: Option<&Rc<Text>>,
        state: &State,
        run: impl Fn(&mut Self, &Rc<Text>, State),
    ) {
        if self.alike.files.is_empty() || self.dry > 0 || state.never || self.failure.is_some() {
            return;
        }
        let Some(place) = self.place((&path.value, path.span), state) else { return };
        for text in self.alike.texts(&place) {
            if self.alike.runs == MAX_RUNS {
                return;
            }
            if known.is_some_and(|known| known.text == text.text) {
                continue;
            }
            let mut walk = Walk::new(self.source, self.facts);
            (walk.steps, walk.bytes) = (MAX_STEPS - MAX_STEPS / MAX_RUNS, MAX_BYTES - MAX_BYTES / MAX_RUNS);
            walk.doubt = 1;
            walk.via.clone_from(&self.via);
            walk.calls.clone_from(&self.calls);
            (walk.elsewhere, walk.stored, walk.listed_only) = (self.elsewhere, self.stored, self.listed_only);
            (walk.sh_is_dash, walk.may_be_zsh) = (self.sh_is_dash, self.may_be_zsh);
            // Not again inside itself.
            let others =
                self.alike.files.iter().filter(|(_, other)| other.as_ref().is_none_or(|other| other.text != text.text));
            walk.alike = Alike { files: others.cloned().collect(), runs: self.alike.runs + 1, scripts: Vec::new() };
            run(&mut walk, &text, state.clone());
            self.alike.runs = walk.alike.runs;
            self.alike.scripts.append(&mut walk.alike.scripts);
            if walk.failure.is_none() {
                self.alike.scripts.push(Script { commands: walk.commands, ..Script::default() });
            }
        }
    }

    /// A path as the effects of a command have it, if it is known in part. What `mktemp` makes up is followed as it is.
    fn place(&self, (path, span): (&Value, Span), state: &State) -> Option<Value> {
        let place = match path {
            Value::Known(path) => {
                let shape = in_unknown(path, state).filter(|shape| shape.starts_with(Value::HOLE))?;
                Value::Unknown { why: Why::Directory, shape }
            }
            Value::Unknown { why, shape } if !shape.starts_with([Value::HOLE, '/']) => {
                let shape = absolute(shape, state.folders.certain()?);
                Value::Unknown { why: why.clone(), shape }
            }
            other => other.clone(),
        };
        let place = place.by_variable(self.source, span).into_owned();
        place.is_like(&place).then_some(place)
    }
}
