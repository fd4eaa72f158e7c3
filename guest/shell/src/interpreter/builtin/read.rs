//! `read` and `mapfile`: what variables get of the input.

use std::rc::Rc;

use super::{options, texts_of_options};
use crate::abstract_value::{Content, Text, Variable};
use crate::interpreter::Interpreter;
use crate::interpreter::argument_files::any_line;
use crate::interpreter::control_exits::ControlExits;
use crate::interpreter::state::{Input, ShellState, Status};
use toolgate_shell_syntax::word::{Value, Why, Word, is_name};

/// More lines than this are not put into a list.
const MAX_LINES: usize = 256;

/// What `read` is told.
struct ReadOptions {
    names: Vec<String>,
    /// All words go into one array.
    array: bool,
    /// A backslash is a letter like any other.
    raw: bool,
    /// Nothing is asked for that is not followed.
    plain: bool,
    /// None: it reads all there is.
    delimiter: Option<char>,
}

impl ReadOptions {
    /// Nothing if a word is not known.
    fn of(arguments: &[Word]) -> Option<Self> {
        let mut told = ReadOptions { names: Vec::new(), array: false, raw: false, plain: true, delimiter: Some('\n') };
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let text = word.known().filter(|_| !word.several)?;
            at += 1;
            let letters = text.strip_prefix('-').filter(|rest| !rest.is_empty() && told.names.is_empty());
            let Some(letters) = letters else {
                told.names.push(text.to_owned());
                continue;
            };
            for (index, letter) in letters.char_indices() {
                told.raw |= letter == 'r';
                told.plain &= matches!(letter, 'a' | 'r' | 's' | 'p' | 'e' | 't' | 'd' | '-');
                if "adinNptu".contains(letter) {
                    // The rest of the word, or the next one, is its value.
                    let rest = &letters[index + 1..];
                    let value = if rest.is_empty() { arguments.get(at).and_then(Word::known) } else { Some(rest) };
                    at += usize::from(rest.is_empty());
                    match letter {
                        'a' => {
                            told.names.extend(value.map(str::to_owned));
                            told.array = true;
                        }
                        'd' => {
                            told.delimiter = value.and_then(|value| value.chars().next());
                            told.plain &= value.is_some();
                        }
                        // It only looks whether there is something to read.
                        't' => told.plain &= value != Some("0"),
                        _ => {}
                    }
                    break;
                }
            }
        }
        Some(told)
    }

    /// The line that it takes of an input, what is left of that, and whether the line has its end.
    fn take(&self, input: &Input) -> Option<(String, Input, bool)> {
        let sure = matches!(input, Input::Text(..));
        match input {
            _ if !self.plain => None,
            Input::Nothing => Some((String::new(), Input::Nothing, false)),
            // Of what others may have read a part of, the next line is one that it may be.
            Input::Text(text, from) | Input::Unseen(Some((text, from))) => {
                let rest = text.text.get(*from..).unwrap_or_default();
                let end = self.delimiter.and_then(|c| Some((rest.find(c)?, c.len_utf8())));
                let (line, length, found) = match end {
                    Some((end, more)) => (&rest[..end], end + more, true),
                    None => (rest, rest.len(), false),
                };
                let readable = (self.raw || !line.contains('\\')) && !line.contains('\0');
                let rest = (Rc::clone(text), from + length);
                let rest = if sure { Input::Text(rest.0, rest.1) } else { Input::Unseen(Some(rest)) };
                readable.then(|| (line.to_owned(), rest, found))
            }
            Input::Inherited | Input::Stored(_) | Input::Unseen(None) => None,
        }
    }
}

impl Interpreter<'_> {
    pub(super) fn read(&mut self, arguments: &[Word], mut state: ShellState) -> ControlExits {
        let Some(mut told) = ReadOptions::of(arguments) else {
            let stamp = self.change();
            state.doubt_vars(stamp);
            state.input = Input::Unseen(None);
            return ControlExits::with(state, Status::Unknown);
        };
        if let Input::Stored(text) = &state.input
            && told.plain
        {
            let text = Rc::clone(text);
            return self.read_stored(&told, &text, state);
        }
        let taken = told.take(&state.input);
        let sure = !matches!(state.input, Input::Unseen(_));
        let names = &mut told.names;
        let whole = names.is_empty();
        if whole {
            names.push("REPLY".to_owned());
        }
        let ifs = state.ifs();
        // Blanks, none of them, or one character that is no blank.
        let single = ifs.as_deref().and_then(|ifs| {
            let mut chars = ifs.chars();
            chars.next().filter(|c| chars.next().is_none() && !c.is_whitespace())
        });
        let blanks = |ifs: &str| ifs.chars().all(|c| matches!(c, ' ' | '\t' | '\n'));
        let plain = single.is_some() || ifs.as_deref().is_some_and(blanks);
        let (Some((line, input, found)), true) = (taken, plain) else {
            let stamp = self.change();
            names.iter().for_each(|name| state.forget(name, stamp));
            state.lose_input();
            return ControlExits::with(state, Status::Unknown);
        };
        state.input = input;
        let blank = |c: char| match single {
            Some(single) => c == single,
            None => ifs.as_deref().is_some_and(|ifs| ifs.contains(c)),
        };
        if told.array && names.iter().all(|name| is_name(name)) {
            let parts = line.split(blank).filter(|part| single.is_some() || !part.is_empty());
            let parts: Vec<Value> = parts.map(|part| Value::Known(part.to_owned())).collect();
            let stamp = self.change();
            for name in names.iter() {
                let content =
                    if sure { Content::Array(Rc::new(parts.clone())) } else { Content::Unknown(Why::Expansion) };
                state.put(name, Variable { content, exported: Some(false), ..Variable::unknown(name) }, stamp);
            }
            return ControlExits::with(state, Status::Unknown);
        }
        let trims = !whole && single.is_none();
        let mut rest = if trims { line.trim_matches(blank) } else { line.as_str() };
        // One separator at the end of the last value is not a part of it.
        if let (Some(single), false) = (single, whole)
            && rest.matches(single).count() == names.len()
        {
            rest = rest.strip_suffix(single).unwrap_or(rest);
        }
        for (index, name) in names.iter().enumerate() {
            let value = if index + 1 == names.len() {
                rest
            } else {
                let (value, after) = rest.split_once(blank).unwrap_or((rest, ""));
                rest = if trims { after.trim_start_matches(blank) } else { after };
                value
            };
            self.assign(name, Value::Known(value.to_owned()), &mut state);
            if !sure {
                let stamp = self.change();
                state.doubt(name, stamp);
            }
        }
        // At the end of the text there is nothing more, whoever has read it.
        ControlExits::with(state, if sure || !found { Status::of(Some(found)) } else { Status::Unknown })
    }

    /// `read` of a file that was there before the text: any of its lines.
    fn read_stored(&mut self, told: &ReadOptions, text: &Text, mut state: ShellState) -> ControlExits {
        let whole = ["REPLY".to_owned()];
        let names = if told.names.is_empty() { &whole[..] } else { &told.names };
        let ifs = state.ifs().unwrap_or_default();
        let parts = |line: &str| -> Vec<String> {
            let blank = |c: char| ifs.contains(c);
            let most = if told.array { usize::MAX } else { names.len() };
            let parts = line.trim_matches(|c: char| c.is_whitespace() && blank(c)).splitn(most, blank);
            parts.map(|part| part.trim_matches(blank).to_owned()).collect()
        };
        let stamp = self.change();
        for (index, name) in names.iter().enumerate() {
            state.forget(name, stamp);
            let any = any_line(text, told.delimiter.unwrap_or('\0'), |line| match told.array {
                true => parts(line),
                false => parts(line).get(index).cloned().into_iter().collect(),
            });
            if let (Some(why), Some(variable)) = (any, state.get(name).cloned()) {
                state.put(name, Variable { content: Content::Unknown(why), ..variable }, stamp);
            }
        }
        ControlExits::with(state, Status::Unknown)
    }

    /// `mapfile -t NAME` of an input that is known. Whether it is one.
    fn fills(&mut self, arguments: &[Word], state: &mut ShellState) -> bool {
        let known: Option<Vec<&str>> = arguments.iter().map(Word::known).collect();
        let (strips, name) = match known.as_deref() {
            Some(["-t", name]) => (true, *name),
            Some(["-t"]) => (true, "MAPFILE"),
            Some([name]) if !name.starts_with('-') => (false, *name),
            _ => return false,
        };
        let (Input::Text(text, from), true) = (&state.input, is_name(name)) else { return false };
        if state.get(name).is_some_and(|variable| variable.readonly || variable.special) {
            return false;
        }
        let text = Rc::clone(text);
        let rest = text.text.get(*from..).unwrap_or_default();
        let lines: Vec<&str> = rest.split_inclusive('\n').collect();
        if lines.len() > MAX_LINES || rest.contains('\0') {
            return false;
        }
        let strip =
            |line: &str| if strips { line.strip_suffix('\n').unwrap_or(line).to_owned() } else { line.to_owned() };
        let content = Content::Array(Rc::new(lines.into_iter().map(|line| Value::Known(strip(line))).collect()));
        let stamp = self.change();
        state.put(name, Variable { content, exported: Some(false), readonly: false, special: false }, stamp);
        state.input = Input::Text(Rc::clone(&text), text.text.len());
        true
    }

    pub(super) fn mapfile(&mut self, builtin: &str, arguments: &[Word], state: &mut ShellState) -> Status {
        for (_, text) in texts_of_options(arguments, "dnOsucC").into_iter().filter(|(letter, _)| *letter == 'C') {
            // It is given the number of the line and the line.
            let given = text.known().map(|known| format!("{known} \"$RANDOM\" \"$(cat)\""));
            let text = given.map_or(text.clone(), |given| Word::new(given, text.span));
            self.perhaps(builtin, &text, state);
        }
        if self.fills(arguments, state) {
            return Status::Success;
        }
        let stored = match &state.input {
            Input::Stored(text) => any_line(text, '\n', |line| vec![line.to_owned()]),
            _ => None,
        };
        let (_, names) = options(arguments);
        let name = names.last().and_then(Word::known).filter(|name| is_name(name)).unwrap_or("MAPFILE");
        let stamp = self.change();
        state.forget(name, stamp);
        if let (Some(why), Some(variable)) = (stored, state.get(name).cloned()) {
            state.put(name, Variable { content: Content::Unknown(why), ..variable }, stamp);
        }
        if arguments.iter().any(|word| word.known().is_none()) {
            state.doubt_vars(stamp);
        }
        state.lose_input();
        Status::Unknown
    }
}
