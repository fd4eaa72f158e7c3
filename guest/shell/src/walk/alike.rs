//! Files whose path is known only in part, by what is known of their name: `/tmp/x.$$`, `$DIR/install.sh`.
//!
//! Two that are written alike may be two files. So nothing else that is known rests on this: what the text wrote to one of
//! them is run as well where another is run, and what comes of that is left aside.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::Walk;
use super::places::in_unknown;
use super::state::{State, Text};
use crate::word::{Value, Why};

/// How many texts of one name are kept, the last ones.
const MAX_TEXTS: usize = 4;

/// What the text wrote, by name. A name without texts is of a file of which only that it was written is known.
#[derive(Default)]
pub(super) struct Alike(BTreeMap<String, Vec<Rc<Text>>>);

impl Alike {
    /// Notes that something was written to a file of a name.
    pub(super) fn write(&mut self, name: String, text: Option<&Rc<Text>>, append: bool) {
        let texts = self.0.entry(name).or_default();
        let Some(text) = text else { return };
        let text = match texts.last().filter(|_| append) {
            Some(before) => Rc::new(before.followed_by(text)),
            None => Rc::clone(text),
        };
        if !texts.iter().any(|other| other.text == text.text) {
            texts.push(text);
        }
        if texts.len() > MAX_TEXTS {
            texts.remove(0);
        }
    }

    /// What is written to one file is in another now.
    pub(super) fn copy(&mut self, from: &str, to: &str) {
        for text in self.0.get(from).cloned().unwrap_or_default() {
            self.write(to.to_owned(), Some(&text), false);
        }
    }

    /// Whether the text wrote to a file that is written like this path.
    pub(super) fn has(&self, path: &Value) -> bool {
        !self.0.is_empty() && path.alike().is_some_and(|name| self.0.contains_key(&name))
    }
}

impl Walk<'_> {
    /// Notes that a file is written, if its path is known in part.
    pub(super) fn write_alike(&mut self, path: &Value, text: Option<&Rc<Text>>, append: bool, state: &State) {
        if let Some(name) = place(path, state).and_then(|place| place.alike()) {
            self.alike.write(name, text, append);
        }
    }

    /// Runs what the text wrote to files that are written like a path, unless it is `known` to be in that one.
    pub(super) fn run_alike(
        &mut self,
        path: &Value,
        known: Option<&Rc<Text>>,
        state: &State,
        run: impl Fn(&mut Self, &Rc<Text>, State),
    ) {
        // Not again inside what it runs itself.
        let name = place(path, state).and_then(|place| place.alike());
        let Some((name, texts)) = name.and_then(|name| self.alike.0.remove_entry(&name)) else { return };
        for text in &texts {
            if known.is_some_and(|known| known.text == text.text) {
                continue;
            }
            if self.failure.is_some() || !self.may_nest() {
                break;
            }
            self.doubting(true, |walk| walk.capturing(state, |walk| run(walk, text, state.clone())));
        }
        self.alike.0.entry(name).or_default().splice(0..0, texts);
    }
}

/// A path as the effects of a command have it, if it is not certain.
fn place<'v>(path: &'v Value, state: &State) -> Option<Cow<'v, Value>> {
    match path {
        Value::Known(path) => {
            let shape = in_unknown(path, state)?;
            Some(Cow::Owned(Value::Unknown { why: Why::Directory, shape }))
        }
        other => Some(Cow::Borrowed(other)),
    }
}
