//! What files hold that were there before the text, where a command takes its words from there: `xargs rm < list`,
//! `rm $(cat list)`. No condition is decided by it, and nothing that is certain rests on it: the file may hold something else by
//! the time it is read. Not for scripts that are run, which `nested` reads.

use std::collections::HashSet;
use std::rc::Rc;

use super::output::{self, Printer};
use super::path_resolution::{in_unknown, located_at};
use super::state::{Input, ShellState};
use super::{Interpreter, filters};
use crate::abstract_value::Text;
use crate::facts::FileOracle as _;
use crate::wrapper;
use toolgate_shell_syntax::path::{basename, dirname};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Longest content that is looked at, in bytes.
const MAX_CONTENT: usize = 48 * 1024;

/// How many files are looked at for one text.
const MAX_FILES: usize = 24;

/// How many lines are followed one by one as what a variable may hold. Of more, those that lie below the working directory are left
/// out.
const MAX_LINES: usize = 128;

/// Parts of the names of files that may hold a secret, which nothing of is to be repeated.
const PRIVATE: &[&str] = &["credential", "key", "passw", "private", "secret", "token"];

/// What a command prints or reads.
pub(super) enum Content {
    /// The text wrote it.
    Written(String),
    /// A part of it comes from a file that was there before.
    Stored(String),
}

impl Interpreter<'_> {
    /// What a file holds that was there before the text.
    pub(super) fn stored(&mut self, path: &str, state: &ShellState) -> Option<Rc<str>> {
        if self.elsewhere || may_be_private(path) {
            return None;
        }
        let path = &state.files.as_before(path).filter(|path| !may_be_private(path))?;
        if let Some(known) = self.stored.get(path) {
            return known.clone();
        }
        if self.stored.len() >= MAX_FILES {
            return None;
        }
        let text = state.files.held(path)?;
        let fits = text.len() <= MAX_CONTENT && !text.contains('\0') && self.afford(text.len());
        let text: Option<Rc<str>> = fits.then(|| text.into());
        self.stored.insert(path.to_owned(), text.clone());
        text
    }

    /// The same as the input of a command.
    pub(super) fn stored_input(&mut self, path: &str, span: Span, state: &ShellState) -> Option<Input> {
        let text = self.stored(path, state)?;
        Some(Input::Stored(Rc::new(Text { text: text.to_string(), span, at: None })))
    }

    /// What files of these names hold, one after the other.
    pub(super) fn contents(&mut self, names: &[&str], state: &ShellState) -> Option<Content> {
        let mut all = String::new();
        let mut is_stored = false;
        for name in names {
            let path = located_at(name, state).or_else(|| in_unknown(name, state))?;
            if *name == "-" || name.starts_with("--") {
                return None;
            }
            match state.files.read(&path) {
                Some(text) => all.push_str(&text.text),
                None => {
                    is_stored = true;
                    all.push_str(&self.stored(&path, state)?);
                }
            }
        }
        Some(if is_stored { Content::Stored(all) } else { Content::Written(all) })
    }

    /// Adds what comes of files to what standard output gets.
    pub(super) fn print_content(&mut self, content: &Content, span: Span, state: &ShellState) {
        match content {
            Content::Written(text) => self.print(Some(text), span, None, state),
            Content::Stored(text) => self.print_stored(text, span, state),
        }
    }

    /// What a program prints of the files that it is given by name, or of what a file holds that it reads.
    pub(super) fn printed_of_files(
        &mut self,
        name: &str,
        arguments: &[&str],
        before: &ShellState,
        state: &ShellState,
    ) -> Option<Content> {
        // Nobody looks at it.
        if self.captures.is_empty() {
            return None;
        }
        let Some((told, files)) = filters::told(name, arguments) else {
            return match &state.input {
                Input::Stored(text) => of_stored(name, arguments, &text.text).map(Content::Stored),
                _ => None,
            };
        };
        match self.contents(files, before)? {
            Content::Written(text) if name == "cat" => Some(Content::Written(text)),
            Content::Written(text) => output::of(name, told, Some(&text), None, Printer::Other).map(Content::Written),
            Content::Stored(text) => of_stored(name, told, &text).map(Content::Stored),
        }
    }

    /// The argvs that xargs runs for what a file holds, or for a text that the shell gives it.
    pub(super) fn given_to_xargs(
        &mut self,
        words: &[Word],
        input: &Input,
        state: &ShellState,
    ) -> Option<XargsCommands> {
        let (text, is_sure) = match (wrapper::xargs_file(words), input) {
            (Some(file), _) => {
                let names = [file.known()?];
                match self.contents(&names, state)? {
                    Content::Written(text) => (text, true),
                    Content::Stored(text) => (text, false),
                }
            }
            (None, Input::Text(text, from)) => (text.text.get(*from..)?.to_owned(), true),
            (None, Input::Stored(text)) => (text.text.clone(), false),
            (None, _) => return None,
        };
        let argvs = wrapper::xargs(words, &text)?;
        Some(XargsCommands { argvs, is_sure })
    }
}

/// What a filter may print of what a file holds.
fn of_stored(name: &str, arguments: &[&str], text: &str) -> Option<String> {
    output::of(name, arguments, Some(text), None, Printer::Other).or_else(|| filters::kept(name, arguments, text))
}

/// The commands that xargs runs.
pub(super) struct XargsCommands {
    pub(super) argvs: Vec<Vec<Word>>,
    /// Whether that is known for certain.
    pub(super) is_sure: bool,
}

/// Any of the lines of a text, or of fields in them, as the value of a variable.
pub(super) fn any_line(text: &Text, end: char, fields: impl Fn(&str) -> Vec<String>) -> Option<Why> {
    some_of(text.text.split(end).flat_map(fields)).map(Why::Stored)
}

/// A word that may be several, as any of the words that the files hold which it comes of.
pub(super) fn any_word(word: &Word) -> Value {
    match &word.value {
        Value::Unknown { why: Why::Stored(texts), shape } if word.several && shape.chars().eq([Value::HOLE]) => {
            let parts = texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned);
            let globs = texts.iter().any(|text| text.contains(['*', '?', '[']));
            let each = if globs { None } else { some_of(parts) };
            Value::hole(each.map_or(Why::CommandOutput, Why::Stored))
        }
        value => value.clone(),
    }
}

/// Each of these once, if they are not too many. Of many that lie below the working directory some stand for all.
fn some_of(names: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let (mut plain, mut others): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for name in names.filter(|name| !name.is_empty()) {
        if known.insert(name.clone()) {
            if is_below(&name) { &mut plain } else { &mut others }.push(name);
        }
    }
    if others.len() > MAX_LINES {
        return None;
    }
    plain.truncate(MAX_LINES - others.len());
    others.append(&mut plain);
    Some(others)
}

/// Whether a name is that of a file in a folder below the working directory, of which neither is hidden.
fn is_below(name: &str) -> bool {
    let hidden = |part: &str| part.starts_with('.') && part != ".";
    name.contains('/') && !name.starts_with(['/', '-', '~']) && !name.split('/').any(hidden)
}

/// Whether a file may hold a secret, by its name.
fn may_be_private(path: &str) -> bool {
    let name = basename(path).to_ascii_lowercase();
    let is_hidden = |path: &str| basename(path).starts_with('.');
    is_hidden(path) || is_hidden(dirname(path)) || PRIVATE.iter().any(|part| name.contains(part))
}
