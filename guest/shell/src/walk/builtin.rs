//! Commands that change the shell itself: its directory, variables, arguments, options, and where control goes on.

use std::rc::Rc;

use super::control::Ends;
use super::known::{Arguments, Content, Folders, Variable};
use super::parameter::Got;
use super::places::{in_unknown, made_up};
use super::state::{Errexit, Input, State, Status};
use super::{FrameKind, Walk, output};
use crate::facts::{Look as _, Presence};
use crate::path::absolute;
use crate::shared::Shared;
use crate::word::{Span, Value, Why, Word, is_name};

/// Longest path that a system takes, in bytes; changing to a longer one fails.
const MAX_PATH: usize = 4_096;

/// How many directories of `CDPATH` are followed.
const MAX_PLACES: usize = 8;

/// Deepest directory that is followed; below it, it is unknown. Each step down costs every later look at a path.
const MAX_LEVELS: usize = 32;

const BUILTINS: &[&str] = &[
    "alias",
    "break",
    "cd",
    "compgen",
    "continue",
    "declare",
    "exit",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "typeset",
    "unset",
    "wait",
];

/// Commands of the shell itself that are not followed here, or only run others.
const PLAIN_BUILTINS: &[&str] = &[
    ".", ":", "[", "bg", "bind", "builtin", "caller", "command", "complete", "compopt", "dirs", "disown", "echo",
    "enable", "eval", "exec", "false", "fc", "fg", "hash", "help", "history", "jobs", "kill", "logout", "printf",
    "pwd", "source", "suspend", "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias",
];

/// Words that open or close a command, so that an alias of that name changes how a text is read.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

/// Whether the shell runs a command of this name itself, without a process of its own.
pub(super) fn runs_in_shell(name: &str) -> bool {
    is_builtin(name, false) || PLAIN_BUILTINS.binary_search(&name).is_ok()
}

/// Whether a command is followed here. Other builtins change nothing that is followed, or run commands. `posix`: whether the
/// shell has no more of them than the standard says.
pub(super) fn is_builtin(name: &str, posix: bool) -> bool {
    const BASH: &[&str] = &["declare", "let", "mapfile", "popd", "pushd", "readarray", "shopt", "typeset"];
    BUILTINS.binary_search(&name).is_ok() && !(posix && BASH.contains(&name))
}

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

impl Walk<'_> {
    pub(super) fn builtin(&mut self, name: &str, words: &[Word], span: Span, mut state: State) -> Ends {
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
            "compgen" => {
                for (letter, text) in texts_of_options(arguments, "oAGFWCXPS") {
                    match letter {
                        'C' | 'F' => self.perhaps(name, &text, &mut state),
                        'W' => self.run_substitutions(text.known().unwrap_or_default(), text.span, &state),
                        _ => {}
                    }
                }
                self.print(None, span, None, &state);
                Status::Unknown
            }
            "mapfile" | "readarray" => {
                for (_, text) in texts_of_options(arguments, "dnOsucC").into_iter().filter(|(letter, _)| *letter == 'C')
                {
                    self.perhaps(name, &text, &mut state);
                }
                let (_, names) = options(arguments);
                let name = names.last().and_then(Word::known).filter(|name| is_name(name)).unwrap_or("MAPFILE");
                let stamp = self.change();
                state.forget(name, stamp);
                if arguments.iter().any(|word| word.known().is_none()) {
                    state.doubt_vars(stamp);
                }
                if matches!(state.input, Input::Text(..)) {
                    state.input = Input::Unseen;
                }
                Status::Unknown
            }
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
            "getopts" => {
                let stamp = self.change();
                for name in ["OPTARG", "OPTIND"] {
                    state.forget(name, stamp);
                }
                match arguments.get(1).and_then(Word::known) {
                    Some(name) => state.forget(name, stamp),
                    None => state.doubt_vars(stamp),
                }
                Status::Unknown
            }
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
                return Ends::of(state);
            }
            _ => Status::Unknown,
        };
        Ends::with(state, status)
    }

    /// Names among the arguments may have an index, which is expanded once more.
    pub(super) fn run_indexes(&mut self, arguments: &[Word], state: &State) {
        for word in arguments {
            if let Some(text) = word.known().filter(|text| text.contains('[')) {
                self.run_substitutions(text, word.span, state);
            }
        }
    }

    fn jump(&mut self, name: &str, arguments: &[Word], state: &mut State) {
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

    fn cd(&mut self, arguments: &[Word], span: Span, state: State) -> Ends {
        let (letters, operands) = options(arguments);
        let physical = letters.rfind(['P', 'L']).map(|at| letters[at..].starts_with('P'));
        let Some(physical) = physical.or(state.physical) else {
            return self.either_way(state, |walk, state| walk.cd(arguments, span, state));
        };
        // dash goes to the first of several.
        self.dialect.beyond |= operands.len() > 1;
        let operands = if self.dialect.posix && operands.len() > 1 { &operands[..1] } else { operands };
        if letters.chars().any(|c| !"-PLe@".contains(c)) || operands.len() > 1 {
            // zsh puts the second in the place of the first in the name of where it is.
            if operands.iter().any(|word| word.several) || self.dialect.may_be_zsh && operands.len() == 2 {
                return self.cd_unknown(state);
            }
            return Ends::with(state, Status::Failure);
        }
        let mut shows = false;
        let target = match operands.first() {
            None => match state.lookup("HOME") {
                Got::Set(Value::Known(home)) => home,
                _ => return self.cd_unknown(state),
            },
            Some(word) if word.several => return self.cd_unknown(state),
            Some(word) => match word.known() {
                Some("-") => match state.lookup("OLDPWD") {
                    Got::Set(Value::Known(folder)) => {
                        shows = true;
                        folder
                    }
                    _ => {
                        self.print(None, span, None, &state);
                        return self.cd_unknown(state);
                    }
                },
                Some(text) => text.to_owned(),
                None => return self.cd_made_up(made_up(&word.value), state),
            },
        };
        let cdpath = state.get("CDPATH").is_some_and(|variable| match &variable.content {
            Content::Unset => false,
            Content::Text(value) => value.known() != Some(""),
            _ => true,
        });
        let own = target.starts_with('/') || matches!(target.split('/').next(), Some("." | ".."));
        if cdpath && !own {
            // What is found through it is also printed.
            self.print(None, span, None, &state);
            return self.cd_through(&target, physical, state);
        }
        if shows {
            self.print(Some(&format!("{target}\n")), span, None, &state);
        }
        self.change_folder(&target, physical, state)
    }

    /// Goes to the first directory of this name in one that `CDPATH` names, or here.
    fn cd_through(&mut self, target: &str, physical: bool, state: State) -> Ends {
        let Some(path) = state.known("CDPATH") else { return self.cd_unknown(state) };
        let places: Vec<&str> = path.split(':').take(MAX_PLACES + 1).collect();
        if places.len() > MAX_PLACES {
            self.fail("CDPATH names more directories than are followed");
        }
        let mut ends = self.change_folder(target, physical, state.clone());
        for place in places.into_iter().filter(|place| !place.is_empty() && *place != ".") {
            let more = self.change_folder(&format!("{place}/{target}"), physical, state.clone());
            ends = ends.or(more, self);
        }
        ends
    }

    /// Goes to a directory that may be any.
    fn cd_unknown(&mut self, state: State) -> Ends {
        self.cd_made_up(None, state)
    }

    /// Goes to a directory that may be any, or to one whose name `mktemp` made up.
    fn cd_made_up(&mut self, made_up: Option<String>, state: State) -> Ends {
        let mut changed = state.clone();
        let stamp = self.change();
        changed.folders = Folders { made_up, ..Folders::unknown() };
        changed.files.leave_folder(stamp);
        changed.forget("OLDPWD", stamp);
        changed.remove("PWD", stamp);
        Ends::both(changed, state)
    }

    fn change_folder(&mut self, target: &str, physical: bool, state: State) -> Ends {
        // The empty name is the directory itself.
        let target = if target.is_empty() { "." } else { target };
        let mut possible: Vec<String> = match target.starts_with('/') {
            true => vec![absolute(target, "/")],
            false => state.folders.possible.iter().map(|folder| absolute(target, folder)).collect(),
        };
        if possible.iter().any(|folder| folder.matches('/').count() > MAX_LEVELS) {
            return self.cd_unknown(state);
        }
        possible.retain(|folder| folder.len() <= MAX_PATH);
        if possible.is_empty() {
            if state.folders.open && !target.starts_with('/') && target.len() < MAX_PATH {
                let named = in_unknown(target, &state).filter(|_| state.folders.made_up.is_some());
                return self.cd_made_up(named, state);
            }
            return Ends::with(state, Status::Failure);
        }
        let fixed = target.starts_with('/');
        let known = fixed || state.folders.known;
        let open = !fixed && state.folders.open;
        let mut presence = possible.first().map_or(Presence::Unknown, |folder| state.files.look(folder));
        if (!known || open) && presence != Presence::Unknown {
            presence = Presence::Unknown;
        }
        // What a `..` leaves behind has to be there too.
        let base = if fixed { "/" } else { state.folders.possible.first().map_or("/", String::as_str) };
        for (at, _) in target.match_indices("/..").filter(|(at, _)| !target[..*at].ends_with("..")) {
            match state.files.look(&absolute(&target[..at], base)) {
                Presence::Folder => {}
                Presence::Unknown => presence = Presence::Unknown,
                _ => presence = Presence::Absent,
            }
        }
        let sure = state.files.lasts() || possible.first().is_some_and(|at| state.files.sure(at) == presence);
        let mut changed = state.clone();
        let stamp = self.change();
        let old = state.folders.certain().map(|folder| Value::Known(folder.to_owned()));
        match old {
            Some(old) => changed.put("OLDPWD", Variable::text(old, Some(true)), stamp),
            None => changed.forget("OLDPWD", stamp),
        }
        changed.remove("PWD", stamp);
        let real = possible.first().and_then(|folder| state.files.real(folder));
        let mut known = known;
        if physical {
            match real {
                Some(real) => possible = vec![real],
                // Without facts no links are expected, as no failures are.
                None => known &= !state.files.informed(),
            }
        }
        let stray = !fixed && state.folders.stray;
        let named = in_unknown(target, &state).filter(|_| open && state.folders.made_up.is_some());
        changed.folders = Folders { possible: possible.into(), known, open, stray, made_up: named };
        changed.files.leave_folder(stamp);
        let informed = state.files.informed();
        match presence {
            Presence::Folder if sure => Ends::with(changed, Status::Success),
            Presence::Absent | Presence::File | Presence::Other if sure => Ends::with(state, Status::Failure),
            _ => {
                let mut stayed = state;
                stayed.unlikely |= presence == Presence::Folder || !informed;
                Ends::both(changed, stayed)
            }
        }
    }

    /// Goes to a directory as if links were resolved, and as if they were not.
    fn either_way(&mut self, state: State, go: impl Fn(&mut Self, State) -> Ends) -> Ends {
        let (mut logical, mut physical) = (state.clone(), state);
        (logical.physical, physical.physical) = (Some(false), Some(true));
        let ends = go(self, logical);
        let more = go(self, physical);
        ends.or(more, self)
    }

    fn stack(&mut self, name: &str, arguments: &[Word], span: Span, state: State) -> Ends {
        let Some(physical) = state.physical else {
            return self.either_way(state, |walk, state| walk.stack(name, arguments, span, state));
        };
        self.print(None, span, None, &state);
        let here = state.folders.certain().map(str::to_owned);
        let (letters, operands) = options(arguments);
        let (Some(stack), Some(here), true) = (state.stack.clone(), here, letters.is_empty()) else {
            // Where it goes to is known without where it comes from.
            return match (name, operands) {
                ("pushd", [word]) if letters.is_empty() && !word.several => match word.known() {
                    Some(text) if !text.starts_with('+') && text != "-" => {
                        let mut state = state;
                        state.stack = None;
                        self.change_folder(text, physical, state)
                    }
                    _ => self.stack_lost(made_up(&word.value), state),
                },
                _ => self.stack_lost(None, state),
            };
        };
        let mut stack = stack.to_vec();
        let target = match (name, operands) {
            ("pushd", []) => {
                if stack.is_empty() {
                    return Ends::with(state, Status::Failure);
                }
                stack.remove(0)
            }
            ("pushd", [word]) if !word.several => match word.known() {
                Some(text) if !text.starts_with('+') && text != "-" => text.to_owned(),
                _ => return self.stack_lost(made_up(&word.value), state),
            },
            ("popd", []) => {
                if stack.is_empty() {
                    return Ends::with(state, Status::Failure);
                }
                stack.remove(0)
            }
            _ => return self.stack_lost(None, state),
        };
        if name == "pushd" {
            stack.insert(0, here);
        }
        let before = state.stack.clone();
        let popped = name == "popd";
        let ends = self.change_folder(&target, physical, state);
        let stack = Shared::from(stack);
        let mut first = true;
        ends.each(self, |state, _| {
            // What fails leaves the stack as it was, but for a folder that is gone.
            let success = std::mem::take(&mut first) && state.status == Status::Success;
            state.stack = if success { Some(stack.clone()) } else { before.clone().filter(|_| !popped) };
        })
    }

    fn stack_lost(&mut self, made_up: Option<String>, mut state: State) -> Ends {
        state.stack = None;
        self.cd_made_up(made_up, state)
    }

    fn unset(&mut self, arguments: &[Word], state: &mut State) -> Status {
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

    fn read(&mut self, arguments: &[Word], mut state: State) -> Ends {
        let mut names = Vec::new();
        let (mut raw, mut plain) = (false, true);
        // None: it reads all there is.
        let mut delimiter = Some('\n');
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let Some(text) = word.known().filter(|_| !word.several) else {
                let stamp = self.change();
                state.doubt_vars(stamp);
                state.input = Input::Unseen;
                return Ends::with(state, Status::Unknown);
            };
            at += 1;
            match text.strip_prefix('-').filter(|rest| !rest.is_empty() && names.is_empty()) {
                Some(letters) => {
                    for (index, letter) in letters.char_indices() {
                        raw |= letter == 'r';
                        plain &= matches!(letter, 'r' | 's' | 'p' | 'e' | 't' | 'd' | '-');
                        if "adinNptu".contains(letter) {
                            // The rest of the word, or the next one, is its value.
                            let rest = &letters[index + 1..];
                            let value =
                                if rest.is_empty() { arguments.get(at).and_then(Word::known) } else { Some(rest) };
                            at += usize::from(rest.is_empty());
                            match letter {
                                'a' => names.extend(value.map(str::to_owned)),
                                'd' => {
                                    delimiter = value.and_then(|value| value.chars().next());
                                    plain &= value.is_some();
                                }
                                // It only looks whether there is something to read.
                                't' => plain &= value != Some("0"),
                                _ => {}
                            }
                            break;
                        }
                    }
                }
                None => names.push(text.to_owned()),
            }
        }
        let whole = names.is_empty();
        if whole {
            names.push("REPLY".to_owned());
        }
        let taken = match (&state.input, plain) {
            (Input::Nothing, true) => Some((String::new(), Input::Nothing, false)),
            (Input::Text(text, from), true) => {
                let rest = text.text.get(*from..).unwrap_or_default();
                let end = delimiter.and_then(|c| Some((rest.find(c)?, c.len_utf8())));
                let (line, length, found) = match end {
                    Some((end, more)) => (&rest[..end], end + more, true),
                    None => (rest, rest.len(), false),
                };
                let readable = (raw || !line.contains('\\')) && !line.contains('\0');
                readable.then(|| (line.to_owned(), Input::Text(Rc::clone(text), from + length), found))
            }
            _ => None,
        };
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
            if matches!(state.input, Input::Text(..)) {
                state.input = Input::Unseen;
            }
            return Ends::with(state, Status::Unknown);
        };
        state.input = input;
        let blank = |c: char| match single {
            Some(single) => c == single,
            None => ifs.as_deref().is_some_and(|ifs| ifs.contains(c)),
        };
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
        }
        Ends::with(state, Status::of(Some(found)))
    }

    fn set(&mut self, arguments: &[Word], span: Span, state: &mut State) -> Status {
        if matches!(arguments.last().map(Word::text), None | Some("-o" | "+o")) {
            self.print(None, span, None, state);
        }
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let Some(text) = word.known().filter(|_| !word.several) else {
                // Options, or arguments.
                state.arguments = Arguments::Unknown;
                state.errexit = Errexit::Perhaps;
                (state.nounset, state.pipefail, state.allexport) = (true, true, true);
                return Status::Unknown;
            };
            at += 1;
            let on = text.starts_with('-');
            if text == "--" || !text.starts_with(['-', '+']) || text.len() < 2 {
                let rest = if matches!(text, "--" | "-") { &arguments[at..] } else { &arguments[at - 1..] };
                let several = rest.iter().any(|word| word.several);
                let zero = state.arguments.known().and_then(|values| values.first().cloned());
                let mut values = vec![zero.unwrap_or(Value::hole(Why::Expansion))];
                values.extend(rest.iter().map(|word| word.value.clone()));
                state.arguments = (!several).then_some(values).into();
                return Status::Success;
            }
            for letter in text.chars().skip(1) {
                match letter {
                    'e' => state.errexit = on.into(),
                    'u' => state.nounset = on,
                    'f' => state.noglob = on,
                    'a' => state.allexport = on,
                    'C' => state.noclobber = on,
                    'P' => state.physical = Some(on),
                    // Nothing runs any more.
                    'n' if on => self.leaves_shell(state, true),
                    'o' => {
                        match arguments.get(at).and_then(Word::known) {
                            Some("errexit") => state.errexit = on.into(),
                            Some("nounset") => state.nounset = on,
                            Some("noglob") => state.noglob = on,
                            Some("allexport") => state.allexport = on,
                            Some("pipefail") => state.pipefail = on,
                            Some("noclobber") => state.noclobber = on,
                            Some("posix") => state.aliases |= on,
                            Some("noexec") if on => self.leaves_shell(state, true),
                            Some("physical") => state.physical = Some(on),
                            _ => {}
                        }
                        at += 1;
                    }
                    _ => {}
                }
            }
        }
        Status::Success
    }

    fn shift(&mut self, arguments: &[Word], state: &mut State) -> Status {
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
            (None, Arguments::Known(values)) if !super::expand::spreads(&values) => {
                state.arguments = Arguments::tails(&values);
                return Status::Unknown;
            }
            _ => {
                state.arguments = Arguments::Unknown;
                return Status::Unknown;
            }
        };
        if super::expand::spreads(values.get(..=count).unwrap_or(&values)) {
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

    fn shopt(&mut self, arguments: &[Word], state: &mut State) -> Status {
        let named = |name: &str| arguments.iter().any(|word| word.known() == Some(name));
        if named("expand_aliases") {
            state.aliases = true;
        }
        let any = arguments.iter().any(|word| word.known().is_none());
        state.nocasematch |= any || named("nocasematch");
        state.lastpipe |= any || named("lastpipe");
        state.aliases |= any || named("posix");
        let options = arguments.iter().filter_map(Word::known).filter(|word| word.starts_with('-'));
        if any || options.flat_map(str::chars).any(|letter| letter == 'o') {
            state.errexit = Errexit::Perhaps;
        }
        self.execfail |= any || named("execfail");
        Status::Unknown
    }

    /// Only where aliases are switched on, which may be later, do they stand for anything.
    fn alias(&mut self, arguments: &[Word], state: &mut State) -> Status {
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
                if is_name(name) && !RESERVED.contains(&name) && super::simple::alias_words(text, word.span).is_some() {
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
    fn perhaps(&mut self, builtin: &str, text: &Word, state: &mut State) {
        if self.may_nest() {
            let own = state.clone();
            self.doubting(true, |walk| {
                walk.inside(builtin, |walk| walk.text(text, |walk, list| drop(walk.shell(list, own))));
            });
        }
        let stamp = self.change();
        state.havoc(stamp);
    }

    /// `printf -v name ..`: whether it was that.
    pub(super) fn printf_into(&mut self, words: &[Word], state: &mut State) -> bool {
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

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted() {
        assert!(super::BUILTINS.is_sorted() && super::PLAIN_BUILTINS.is_sorted());
    }
}
