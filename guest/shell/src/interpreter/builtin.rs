//! Commands that change the shell itself: its directory, variables, arguments, options, and where control goes on.
//!
//! | Module | For |
//! |---|---|
//! | `folders` | `cd`, `pushd`, `popd` |
//! | `getopts` | `getopts` |
//! | `read` | `read`, `mapfile` |
//! | `settings` | `set`, `shopt` |

mod folders;
mod getopts;
mod read;
mod settings;

use std::rc::Rc;

use super::control_exits::ControlExits;
use super::state::{ShellState, Status};
use super::{FrameKind, Interpreter, output};
use crate::abstract_value::{Arguments, Content, Variable};
use toolgate_shell_syntax::word::{Span, Value, Word, is_name};

/// Words that open or close a command, so that an alias of that name changes how a text is read.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

/// The letters of the options before the first operand, and the operands.
pub(super) fn options(words: &[Word]) -> (String, &[Word]) {
    let mut letters = String::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        match first.known() {
            Some("--") => return (letters, others),
            Some(text) if text.len() > 1 && text.starts_with(['-', '+']) => letters.push_str(text),
            _ => break,
        }
        rest = others;
    }
    (letters, rest)
}

/// Whether a name has an index.
fn is_index(name: Option<&str>) -> bool {
    name.is_some_and(|name| name.contains('['))
}

impl Interpreter<'_> {
    pub(super) fn builtin(&mut self, name: &str, words: &[Word], span: Span, mut state: ShellState) -> ControlExits {
        let arguments = words.get(1..).unwrap_or_default();
        match name {
            "cd" | "pushd" | "popd" | "set" | "alias" | "exit" | "return" | "break" | "continue" => {}
            // A value is not expanded again.
            "declare" | "export" | "local" | "readonly" | "typeset" => {
                let valued = |word: &&Word| word.known().is_none_or(|text| is_index(text.split('=').next()));
                let names: Vec<Word> = arguments.iter().filter(valued).cloned().collect();
                self.run_indexes(&names, &state);
            }
            _ => self.run_indexes(arguments, &state),
        }
        let status = match name {
            "cd" => return self.cd(arguments, span, state),
            "pushd" | "popd" => return self.stack(name, arguments, span, state),
            "export" | "declare" | "typeset"
                if arguments.first().and_then(Word::known).is_some_and(|flags| {
                    flags == "-f" && name == "export"
                        || flags.starts_with('-') && flags.contains('f') && flags.contains('x')
                }) =>
            {
                let names = arguments.iter().skip(1).filter_map(Word::known).map(str::to_owned);
                state.exported_functions.to_mut().extend(names);
                Status::Unknown
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(name, arguments, span, &mut state),
            "unset" => self.unset(arguments, &mut state),
            "read" => return self.read(arguments, state),
            "compgen" => self.compgen(arguments, span, &mut state),
            "mapfile" | "readarray" => self.mapfile(name, arguments, &mut state),
            "set" => self.set(arguments, span, &mut state),
            "shift" => self.shift(arguments, &mut state),
            "shopt" => {
                self.print(None, span, None, &state);
                self.shopt(arguments, &mut state)
            }
            "alias" => {
                if !arguments.iter().any(|word| word.text().contains('=')) {
                    self.print(None, span, None, &state);
                }
                self.alias(arguments, &mut state)
            }
            "let" => {
                let mut last = None;
                for word in arguments {
                    last = match word.known().map(str::to_owned) {
                        Some(text) => self.number_in(&text, &mut state),
                        None => {
                            let stamp = self.change();
                            state.doubt_vars(stamp);
                            None
                        }
                    };
                }
                Status::of(last.map(|value| value != 0))
            }
            "getopts" => self.getopts(arguments, &mut state),
            "wait" => {
                let stamp = self.change();
                if let Some(at) = arguments.iter().position(|word| word.known() == Some("-p")) {
                    match arguments.get(at + 1).and_then(Word::known) {
                        Some(name) => state.forget(name, stamp),
                        None => state.doubt_vars(stamp),
                    }
                }
                Status::Unknown
            }
            "exit" | "return" | "break" | "continue" => {
                self.jump(name, arguments, &mut state);
                return ControlExits::of(state);
            }
            _ => Status::Unknown,
        };
        ControlExits::with(state, status)
    }

    /// Names among the arguments may have an index, which is expanded once more.
    pub(super) fn run_indexes(&mut self, arguments: &[Word], state: &ShellState) {
        for word in arguments {
            if let Some(text) = word.known().filter(|text| text.contains('[')) {
                self.run_substitutions(text, word.span, state);
            }
        }
    }

    fn compgen(&mut self, arguments: &[Word], span: Span, state: &mut ShellState) -> Status {
        for (letter, text) in texts_of_options(arguments, "oAGFWCXPS") {
            match letter {
                'C' | 'F' => self.perhaps("compgen", &text, state),
                'W' => self.run_substitutions(text.known().unwrap_or_default(), text.span, state),
                _ => {}
            }
        }
        self.print(None, span, None, state);
        Status::Unknown
    }

    fn jump(&mut self, name: &str, arguments: &[Word], state: &mut ShellState) {
        let number = arguments.first().map(|word| word.known().and_then(|text| text.parse::<i64>().ok()));
        match name {
            "exit" | "return" => {
                state.status = match number {
                    None => state.status,
                    Some(number) => Status::of(number.map(|number| number & 0xff == 0)),
                };
                let function = self.frames.iter().rposition(|frame| frame.kind != FrameKind::Loop);
                let frame = function.filter(|at| name == "return" && self.frames[*at].kind == FrameKind::Function);
                match frame {
                    Some(frame) => self.leave(state, frame, false),
                    // Outside of a function it is an error, or ends a file that is sourced.
                    None => self.leaves_shell(state, name == "return"),
                }
            }
            _ => {
                let levels = match number {
                    None => Some(1),
                    Some(number) => number.and_then(|number| usize::try_from(number).ok()),
                };
                state.status = Status::Success;
                self.leave_loop(state, levels, name == "continue");
            }
        }
    }

    fn unset(&mut self, arguments: &[Word], state: &mut ShellState) -> Status {
        let (letters, operands) = options(arguments);
        let stamp = self.change();
        for word in operands {
            let Some(name) = word.known().filter(|_| !word.several) else {
                state.doubt_vars(stamp);
                state.doubt_functions(stamp);
                continue;
            };
            if letters.contains('f') {
                state.set_function(name, None, stamp);
                continue;
            }
            if !is_name(name) {
                let array = name.split('[').next().unwrap_or_default();
                self.unset_file(name, word.span, state);
                state.forget(array, stamp);
                continue;
            }
            match state.get(name) {
                Some(variable) if variable.readonly => {}
                None if state.function(name).is_some() && letters.is_empty() => {
                    // Without a variable of this name, the function goes.
                    state.set_function(name, None, stamp);
                }
                _ => {
                    // In a function the outer variable may come to light.
                    let inner = self.frames.iter().any(|frame| frame.locals.iter().any(|(local, _)| local == name));
                    if inner {
                        state.forget(name, stamp);
                    } else {
                        let unset = Variable {
                            content: Content::Unset,
                            exported: Some(false),
                            readonly: false,
                            special: false,
                        };
                        state.put(name, unset, stamp);
                    }
                }
            }
        }
        Status::Unknown
    }

    fn shift(&mut self, arguments: &[Word], state: &mut ShellState) -> Status {
        let count = match arguments.first() {
            None => Some(1),
            Some(word) => word.known().filter(|_| !word.several).and_then(|text| text.parse::<usize>().ok()),
        };
        if let Arguments::OneOf(each) = state.arguments.clone() {
            let mut shifted: Option<Arguments> = None;
            for one in each.iter() {
                state.arguments = one.clone();
                self.shift(arguments, state);
                let one = std::mem::replace(&mut state.arguments, Arguments::Unknown);
                shifted = Some(shifted.map_or(one.clone(), |all| all.or(&one, false)));
            }
            state.arguments = shifted.unwrap_or(Arguments::Unknown);
            return Status::Unknown;
        }
        let (count, values) = match (count, state.arguments.clone()) {
            (Some(count), Arguments::Known(values)) => (count, values),
            (None, Arguments::Known(values)) if !super::arguments::spreads(&values) => {
                state.arguments = Arguments::tails(&values);
                return Status::Unknown;
            }
            _ => {
                state.arguments = Arguments::Unknown;
                return Status::Unknown;
            }
        };
        if super::arguments::spreads(values.get(..=count).unwrap_or(&values)) {
            state.arguments = Arguments::Unknown;
            return Status::Unknown;
        }
        if values.len() <= count {
            return Status::Failure;
        }
        if !self.afford(values.len() * 16) {
            state.arguments = Arguments::Unknown;
            return Status::Unknown;
        }
        let mut kept = values.to_vec();
        kept.drain(1..=count);
        state.arguments = Arguments::Known(Rc::new(kept));
        Status::Success
    }

    /// Only where aliases are switched on, which may be later, do they stand for anything.
    fn alias(&mut self, arguments: &[Word], state: &mut ShellState) -> Status {
        if let Some(kind) = arguments.first().and_then(Word::known).filter(|_| self.dialect.may_be_zsh)
            && matches!(kind, "-g" | "-s")
        {
            self.zsh_aliases(kind, arguments, state);
            return Status::Unknown;
        }
        for word in arguments {
            let text = word.known().and_then(|text| text.split_once('='));
            if let Some((name, text)) = text {
                state.alias_texts.to_mut().insert(name.to_owned(), vec![text.to_owned()]);
            }
            if !state.aliases {
                continue;
            }
            if let Some((name, text)) = text {
                // It stands for words before others, and is read where it is used.
                if is_name(name) && !RESERVED.contains(&name) && super::aliases::alias_words(text, word.span).is_some()
                {
                    continue;
                }
            }
            match text {
                Some((_, text)) => self.perhaps("alias", &Word::new(text.to_owned(), word.span), state),
                None => {
                    let stamp = self.change();
                    state.havoc(stamp);
                }
            }
        }
        Status::Unknown
    }

    /// Runs a text that a builtin may run, whatever comes of it.
    fn perhaps(&mut self, builtin: &str, text: &Word, state: &mut ShellState) {
        self.may_run(builtin, text, state);
        let stamp = self.change();
        state.havoc(stamp);
    }

    /// Looks at a text that may be run, and at nothing that comes of it for what follows.
    pub(super) fn may_run(&mut self, within: &str, text: &Word, state: &ShellState) {
        if !self.may_nest() {
            return;
        }
        let own = state.clone();
        self.doubting(true, |interpreter| {
            interpreter.inside(within, |interpreter| {
                interpreter.text(text, |interpreter, list| drop(interpreter.shell(list, own)));
            });
        });
    }

    /// `printf -v name ..`: whether it was that.
    pub(super) fn printf_into(&mut self, words: &[Word], state: &mut ShellState) -> bool {
        let Some(option) = words.get(1).and_then(Word::known).filter(|text| text.starts_with("-v")) else {
            return false;
        };
        let (name, rest) = match option.strip_prefix("-v").filter(|rest| !rest.is_empty()) {
            Some(name) => (Some(name.to_owned()), words.get(2..)),
            None => (words.get(2).and_then(Word::known).map(str::to_owned), words.get(3..)),
        };
        if let Some(name) = name.as_ref().filter(|name| name.contains('[')) {
            self.run_substitutions(name, words[1].span, state);
        }
        let arguments: Option<Vec<&str>> =
            rest.unwrap_or_default().iter().map(|word| word.known().filter(|_| !word.several)).collect();
        let value = arguments.and_then(|arguments| output::of("printf", &arguments, None, None, self.printer(true)));
        let stamp = self.change();
        match (name, value) {
            (Some(name), Some(value)) if is_name(&name) => self.assign(&name, Value::Known(value), state),
            (Some(name), _) if is_name(&name) => state.forget(&name, stamp),
            _ => state.doubt_vars(stamp),
        }
        true
    }
}

/// The options of a builtin that take a value, with it, by their letters: `-C TEXT`, `-aCTEXT`.
fn texts_of_options(arguments: &[Word], valued: &str) -> Vec<(char, Word)> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.known().and_then(|text| text.strip_prefix('-')) else { continue };
        if let Some((at, letter)) = letters.char_indices().find(|(_, letter)| valued.contains(*letter)) {
            let attached = letters.get(at + letter.len_utf8()..).filter(|text| !text.is_empty());
            let text = match attached {
                Some(text) => Some(Word::new(text.to_owned(), word.span)),
                None => words.next().cloned(),
            };
            found.extend(text.map(|text| (letter, text)));
        }
    }
    found
}
