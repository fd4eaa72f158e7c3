//! The values of parameters, and what stands after their names: defaults, lengths, parts, patterns.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Interpreter;
use super::arguments::{is_gap, spread, spreads};
use super::state::ShellState;
use super::word_fragments::{WordFragment, join, push_value};
use crate::abstract_value::{Content, Variable};
use crate::command::SUBSTITUTION;
use toolgate_shell_syntax::glob::Pattern;
use toolgate_shell_syntax::syntax::{self, Index, Operation, Parameter};
use toolgate_shell_syntax::word::{Span, Value, Why, is_name};

/// Variables that the shell itself keeps changing or sets when it starts.
const DYNAMIC: &[&str] = &[
    "BASH",
    "BASHPID",
    "BASH_COMMAND",
    "BASH_LINENO",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COLUMNS",
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "HOSTNAME",
    "HOSTTYPE",
    "LINENO",
    "LINES",
    "MACHTYPE",
    "OLDPWD",
    "OPTERR",
    "OPTIND",
    "OSTYPE",
    "PATH",
    "PIPESTATUS",
    "PPID",
    "PS4",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
    "SHLVL",
    "SRANDOM",
    "TERM",
    "UID",
    "_",
];

/// Those of them that are numbers.
const NUMBERS: &[&str] = &["BASHPID", "EPOCHSECONDS", "PPID", "RANDOM", "SECONDS", "SRANDOM"];

/// Variables that mostly are set already, to a folder or file of the user's: these, and those that begin or end so.
const USERS: &[&str] = &[
    "DENO_DIR",
    "LOGNAME",
    "MAIL",
    "OLDPWD",
    "PWD",
    "SHELL",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USER",
    "VIRTUAL_ENV",
    "WORKSPACE",
    "ZDOTDIR",
];
const USERS_STARTS: &[&str] = &["CARGO", "GIT_", "GO", "KUBE", "NVM_", "RUSTUP", "SSH_", "XDG_"];
const USERS_ENDS: &[&str] = &["CONFIG", "HOME", "INSTALL", "PATH", "PREFIX", "ROOT"];

/// Whether a shell itself sets a variable: bash, or zsh, whose names are in small letters as well.
pub(super) fn is_shells(name: &str) -> bool {
    let prefixes = ["BASH", "COMP", "READLINE", "HIST", "PROMPT", "ZSH", "PS"];
    DYNAMIC.contains(&name)
        || prefixes.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("_PID")
        || matches!(name, "IFS" | "MATCH" | "MBEGIN" | "MEND" | "OPTARG" | "REPLY" | "COPROC")
        || name.bytes().all(|byte| byte.is_ascii_lowercase()) && SMALL.contains(&name)
}

/// Those of zsh in small letters.
const SMALL: &[&str] = &[
    "aliases",
    "argv",
    "builtins",
    "commands",
    "dirstack",
    "functions",
    "history",
    "historywords",
    "match",
    "mbegin",
    "mend",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "pipestatus",
    "psvar",
    "reply",
    "signals",
    "status",
    "words",
];

/// What a parameter is worth.
pub(super) enum Got {
    Set(Value),
    Unset,
    Unknown(Why),
    Many { values: Vec<Value>, joined: bool },
}

/// An element of an array, or none.
fn element(value: Option<&Value>) -> Got {
    value.filter(|value| !is_gap(value)).map_or(Got::Unset, |value| Got::Set(value.clone()))
}

impl ShellState {
    /// The value of a variable by name.
    pub(super) fn lookup(&self, name: &str) -> Got {
        let unknown = || Got::Unknown(Why::Variable(name.to_owned()));
        match self.get(name) {
            Some(_) if self.all_unknown => unknown(),
            Some(variable) => match &variable.content {
                Content::Text(value) => Got::Set(value.clone()),
                Content::Array(values) => element(values.first()),
                Content::Map(values) => values.get("0").map_or(Got::Unset, |value| Got::Set(value.clone())),
                Content::Unset => Got::Unset,
                Content::OneOf(_) => unknown(),
                Content::Unknown(why) => Got::Unknown(why.clone()),
            },
            None => match name {
                "PWD" => match self.folders.certain() {
                    Some(folder) => Got::Set(Value::Known(folder.to_owned())),
                    None => Got::Unknown(Why::Directory),
                },
                "IFS" => Got::Set(Value::Known(" \t\n".to_owned())),
                _ if self.complete && !self.all_unknown && !DYNAMIC.contains(&name) => Got::Unset,
                _ if self.all_unknown || self.budget_exceeded => unknown(),
                _ if NUMBERS.contains(&name) => Got::Unknown(Why::Number),
                _ if is_shells(name) => unknown(),
                _ => Got::Unknown(Why::Environment(name.to_owned())),
            },
        }
    }

    /// The text of a variable, if it is certain.
    pub(super) fn known(&self, name: &str) -> Option<String> {
        match self.lookup(name) {
            Got::Set(Value::Known(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn ifs(&self) -> Option<String> {
        match self.lookup("IFS") {
            Got::Set(Value::Known(text)) => Some(text),
            Got::Unset => Some(" \t\n".to_owned()),
            _ => None,
        }
    }
}

/// How many names are looked for in the text.
const MAX_NAMES: usize = 512;

/// How a text has a variable's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Naming {
    /// To expand it.
    Expands,
    /// To expand it, or a default: `${X:-a}`.
    Reads,
    /// To give it this default as well: `X=${X:-a}`, `${X:=a}`.
    Defaults(String),
    Otherwise,
}

impl Interpreter<'_> {
    /// How the text has this variable's name. Whatever sets a variable names it, and shells have more
    /// ways for that than are followed.
    fn naming(&mut self, name: &str) -> Naming {
        if let Some(naming) = self.named.get(name) {
            return naming.clone();
        }
        // The text is gone through for each.
        if self.named.len() >= MAX_NAMES {
            return Naming::Otherwise;
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let default = |rest: &str, signs: &[&str]| {
            let rest = signs.iter().find_map(|sign| rest.strip_prefix(sign))?;
            let (text, after) = rest.split_once('}')?;
            // Nothing may come after it in the word.
            let ends = after.trim_start_matches('"').starts_with([' ', '\t', '\n', ';', '&', '|', ')'])
                || after.trim_start_matches('"').is_empty();
            ends.then(|| Naming::Defaults(text.to_owned()))
        };
        let named = self.source.match_indices(name).map(|(at, _)| {
            let (before, after) = (&self.source[..at], &self.source[at + name.len()..]);
            let value = after.strip_prefix('=').map(|value| value.strip_prefix('"').unwrap_or(value));
            let own = value.and_then(|value| value.strip_prefix("${")?.strip_prefix(name));
            match () {
                () if before.ends_with(is_part) || after.starts_with(is_part) => Naming::Expands,
                () if before.ends_with('$') || before.ends_with("${") && after.starts_with('}') => Naming::Expands,
                () if before.ends_with("${") && after.starts_with(":-") => Naming::Reads,
                () if before.ends_with("${") => default(after, &[":="]).unwrap_or(Naming::Otherwise),
                () => own.and_then(|rest| default(rest, &[":-", ":="])).unwrap_or(Naming::Otherwise),
            }
        });
        let naming = named.reduce(|one, other| match (one, other) {
            (Naming::Defaults(one), Naming::Defaults(other)) if one != other => Naming::Otherwise,
            (one, other) => one.max(other),
        });
        let naming = naming.unwrap_or(Naming::Expands);
        self.named.insert(name.to_owned(), naming.clone());
        naming
    }

    /// Whether a variable that the environment may have is this text if it has not: nothing in the text gives it another value,
    /// neither does what the text runs inside, and it is none that points to what is the user's own.
    fn is_default(&mut self, name: &str, text: &str, state: &ShellState) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '+' | '@');
        let shells = [SUBSTITUTION, "bash", "sh", "dash"];
        let any = |texts: &[&str], fits: fn(&str, &str) -> bool| texts.iter().any(|text| fits(name, text));
        let of_user = any(USERS, |name, own| name == own)
            || any(USERS_STARTS, |name, start| name.starts_with(start))
            || any(USERS_ENDS, |name, end| name.ends_with(end));
        let named = match self.naming(name) {
            Naming::Expands | Naming::Reads => true,
            Naming::Defaults(own) => own == text,
            Naming::Otherwise => false,
        };
        named
            && !of_user
            && !text.is_empty()
            && !text.starts_with('-')
            && text.chars().all(is_plain)
            && !self.is_zsh()
            && self.via.iter().all(|via| shells.contains(&via.as_str()))
            && state.ifs().as_deref() == Some(" \t\n")
            // By a name that the text makes.
            && !self.source.contains("${!")
    }

    pub(super) fn parameter(
        &mut self,
        parameter: &Parameter,
        quoted: bool,
        state: &mut ShellState,
        pieces: &mut Vec<WordFragment>,
    ) {
        if let Operation::Commands(list) = &parameter.operation {
            let value = self.substitution(list, state);
            return push_value(pieces, value, quoted);
        }
        let mut got = self.get(parameter, state);
        if let Got::Unknown(Why::Environment(name)) = &got {
            // What is made of it may be more than what the environment has.
            let own = match parameter.operation {
                Operation::None => !parameter.indirect && self.naming(name) == Naming::Expands,
                // Where it is unset or empty there too.
                Operation::Default { operator: b'-' | b'=', empty: true, .. } => {
                    !parameter.indirect && parameter.index.is_none()
                }
                _ => false,
            };
            if !own {
                got = Got::Unknown(Why::Variable(name.clone()));
            }
        }
        if let (Operation::None, Got::Many { values, joined }) = (&parameter.operation, &got) {
            return many(pieces, values, *joined, quoted, state);
        }
        let result = self.operate(parameter, got, quoted, state, pieces);
        match result {
            Some(Got::Set(value)) => {
                let long = value.text().len();
                let value = if self.afford(long) { value } else { Value::hole(Why::TooMuch) };
                push_value(pieces, value, quoted);
            }
            Some(Got::Many { values, joined }) => many(pieces, &values, joined, quoted, state),
            Some(Got::Unknown(why)) => {
                // With `set -u` an unset name ends the shell.
                if state.nounset {
                    self.leaves_shell(state, true);
                }
                let all = parameter.name == "@" || matches!(parameter.index, Some(Index::All));
                pieces.push(WordFragment::hole(why, quoted && !all));
            }
            Some(Got::Unset) => {
                let all = parameter.name == "@" || matches!(parameter.index, Some(Index::All));
                if state.nounset && !all && !matches!(parameter.index, Some(Index::Joined)) {
                    self.leaves_shell(state, parameter.index.is_some());
                }
                if quoted && !all {
                    pieces.push(WordFragment::text("", true));
                }
            }
            None => {}
        }
    }

    fn get(&mut self, parameter: &Parameter, state: &mut ShellState) -> Got {
        let name = parameter.name.as_str();
        let map = match state
            .get(name)
            .filter(|_| !state.all_unknown && !parameter.indirect)
            .map(|variable| &variable.content)
        {
            Some(Content::Map(values)) => Some(Rc::clone(values)),
            _ => None,
        };
        if let Some(values) = map.filter(|_| parameter.index.is_some()) {
            return self.get_in_map(&values, parameter, state);
        }
        let index = match &parameter.index {
            None => None,
            Some(Index::Word(word)) => {
                // Zsh counts from one, and has no element with the number that is bash's first.
                let first = self.is_zsh();
                Some(self.number(word, state).map(|number| if first && number > 0 { number - 1 } else { number }))
            }
            Some(Index::All | Index::Joined) => None,
        };
        if parameter.indirect {
            if matches!(parameter.operation, Operation::Names) || parameter.index.is_some() {
                return Got::Unknown(Why::Expansion);
            }
            return match state.known(name) {
                Some(name) if is_name(&name) => state.lookup(&name),
                name => {
                    if let Some(name) = name {
                        self.run_substitutions(&name, Span::default(), state);
                    }
                    // What is no name is an error, after which this command does not run.
                    self.leaves_shell(state, true);
                    Got::Unknown(Why::Expansion)
                }
            };
        }
        let arguments = state.arguments.known();
        match name {
            "@" | "*" => match arguments {
                Some(values) => Got::Many { values: values.get(1..).unwrap_or_default().to_vec(), joined: name == "*" },
                None => Got::Unknown(Why::Expansion),
            },
            "#" => match arguments {
                Some(values) if spreads(values) => Got::Unknown(Why::Number),
                Some(values) => Got::Set(Value::Known(values.len().saturating_sub(1).to_string())),
                None => Got::Unknown(Why::Number),
            },
            "?" if state.status == super::state::Status::Success => Got::Set(Value::Known("0".into())),
            "?" | "$" | "!" => Got::Unknown(Why::Number),
            "-" => Got::Unknown(Why::Expansion),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => match (arguments, digits.parse::<usize>()) {
                (Some(values), Ok(number)) if spreads(values.get(..=number).unwrap_or(values)) => {
                    Got::Unknown(Why::Expansion)
                }
                (Some(values), Ok(number)) => values.get(number).map_or(Got::Unset, |value| Got::Set(value.clone())),
                _ => Got::Unknown(Why::Expansion),
            },
            name => self.get_variable(name, parameter.index.as_ref(), index.flatten(), state),
        }
    }

    /// What a map has under an index.
    fn get_in_map(&mut self, values: &BTreeMap<String, Value>, parameter: &Parameter, state: &mut ShellState) -> Got {
        let unknown = || Got::Unknown(Why::Variable(parameter.name.clone()));
        if let Some(Index::Word(word)) = &parameter.index {
            let key = self.assigned(word, state);
            return match key.known().map(|key| values.get(key).cloned()) {
                Some(Some(value)) => Got::Set(value),
                Some(None) => Got::Unset,
                None => unknown(),
            };
        }
        // In an order that is bash's own.
        match values.len() {
            0 | 1 => Got::Many {
                values: values.values().cloned().collect(),
                joined: matches!(parameter.index, Some(Index::Joined)),
            },
            _ => unknown(),
        }
    }

    /// What a variable has, all of it or under an index, whose number is given if that is known.
    fn get_variable(&self, name: &str, index: Option<&Index>, number: Option<i64>, state: &ShellState) -> Got {
        let variable = state.get(name).filter(|_| !state.all_unknown);
        let array = match variable.map(|variable| &variable.content) {
            Some(Content::Array(values)) => Some(Rc::clone(values)),
            Some(Content::Text(value)) => Some(Rc::new(vec![value.clone()])),
            _ => None,
        };
        match (index, array) {
            (None, Some(values)) if self.is_zsh() && values.len() > 1 => {
                Got::Many { values: values.to_vec(), joined: true }
            }
            (None, _) => state.lookup(name),
            (Some(Index::All | Index::Joined), Some(values)) => {
                let joined = matches!(index, Some(Index::Joined));
                Got::Many { values: values.to_vec(), joined }
            }
            (Some(Index::Word(_)), Some(values)) => match number {
                Some(number) => {
                    let length = i64::try_from(values.len()).unwrap_or(i64::MAX);
                    let number = if number < 0 { number + length } else { number };
                    element(usize::try_from(number).ok().and_then(|at| values.get(at)))
                }
                None => match values.split_first() {
                    Some((first, rest)) if rest.iter().all(|value| value == first) => element(Some(first)),
                    _ => Got::Unknown(Why::Expansion),
                },
            },
            (Some(_), None) => match state.lookup(name) {
                Got::Unset => Got::Unset,
                // Each of its elements is a line of a file.
                Got::Unknown(why @ Why::Stored(_)) => Got::Unknown(why),
                _ => Got::Unknown(Why::Variable(name.to_owned())),
            },
        }
    }

    /// Applies what stands after the name. `None` if the pieces have been added.
    fn operate(
        &mut self,
        parameter: &Parameter,
        got: Got,
        quoted: bool,
        state: &mut ShellState,
        pieces: &mut Vec<WordFragment>,
    ) -> Option<Got> {
        match &parameter.operation {
            Operation::None => Some(got),
            Operation::Length => {
                if state.nounset && matches!(got, Got::Unset) {
                    // Of an array the error ends the line only, of others the shell.
                    self.leaves_shell(state, parameter.index.is_some());
                }
                Some(match (&got, parameter.name.as_str()) {
                    (Got::Many { values, .. }, _) if spreads(values) => Got::Unknown(Why::Expansion),
                    (Got::Many { values, .. }, _) => Got::Set(Value::Known(values.len().to_string())),
                    (Got::Set(Value::Known(text)), _) => Got::Set(Value::Known(text.chars().count().to_string())),
                    (Got::Unset, _) => Got::Set(Value::Known("0".into())),
                    _ => Got::Unknown(Why::Expansion),
                })
            }
            Operation::Default { operator, empty, word } => {
                self.default(parameter, got, (*operator, *empty), word, quoted, state, pieces)
            }
            Operation::Substring { offset, length } => {
                if let Some(changed) = self.with_modifier(&got, offset) {
                    return Some(changed);
                }
                let from = self.number(offset, state);
                let length = length.as_ref().map(|word| self.number(word, state));
                if let (Got::Many { values, joined }, Some(from)) = (&got, from) {
                    return Some(slice(values, *joined, parameter, from, length, state));
                }
                Some(map(got, |text| substring(text, from?, length)))
            }
            Operation::Remove { suffix, longest, pattern } => {
                let pattern = self.pattern(pattern, state).and_then(|text| Pattern::new(&text));
                Some(map(got, |text| pattern.as_ref()?.remove(text, *suffix, *longest).map(str::to_owned)))
            }
            Operation::Replace { all, anchor, pattern, with } => {
                let pattern = self.pattern(pattern, state).and_then(|text| Pattern::new(&text));
                // A tilde at its beginning is the home folder.
                let with = self.subject(with, state);
                // An unquoted `&` stands for what matched.
                let with = with.known().filter(|with| !with.contains('&')).map(str::to_owned);
                Some(map(got, |text| {
                    let replaced = pattern.as_ref()?.replace(text, with.as_deref()?, *all, *anchor)?;
                    (replaced.len() <= crate::abstract_value::MAX_VALUE).then_some(replaced)
                }))
            }
            Operation::Case { upper, all, pattern } => {
                let plain = pattern.parts.is_empty();
                self.pattern(pattern, state);
                let change = |c: char| if *upper { c.to_uppercase().to_string() } else { c.to_lowercase().to_string() };
                Some(map(got, |text| {
                    let mut chars = text.chars();
                    match all {
                        _ if !plain || !text.is_ascii() => None,
                        true => Some(chars.map(change).collect()),
                        false => Some(chars.next().map(change).unwrap_or_default() + chars.as_str()),
                    }
                }))
            }
            Operation::Transform(kind) => {
                if let ('P', Got::Set(Value::Known(text))) = (*kind, &got) {
                    self.run_substitutions(text, Span::default(), state);
                }
                Some(map(got, |text| match kind {
                    'U' if text.is_ascii() => Some(text.to_ascii_uppercase()),
                    'L' if text.is_ascii() => Some(text.to_ascii_lowercase()),
                    _ => None,
                }))
            }
            Operation::Names | Operation::Commands(_) => Some(Got::Unknown(Why::Expansion)),
            Operation::Malformed => {
                // Where bash knows no more of it either, it stops here.
                self.leaves_shell(state, true);
                Some(Got::Unknown(Why::Malformed))
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "an operator with its operands and its place")]
    fn default(
        &mut self,
        parameter: &Parameter,
        got: Got,
        (operator, empty): (u8, bool),
        word: &syntax::Word,
        quoted: bool,
        state: &mut ShellState,
        pieces: &mut Vec<WordFragment>,
    ) -> Option<Got> {
        let has_value = match &got {
            Got::Set(Value::Known(text)) => Some(!(empty && text.is_empty())),
            Got::Set(value) => (!empty || value.text().chars().any(|c| c != Value::HOLE)).then_some(true),
            Got::Unset => Some(false),
            Got::Unknown(_) => None,
            Got::Many { values, .. } if values.is_empty() => Some(false),
            Got::Many { .. } => (!empty).then_some(true),
        };
        let uses_word = if operator == b'+' { has_value } else { has_value.map(|has| !has) };
        let mut own = Vec::new();
        let mut after = state.clone();
        if uses_word != Some(false) {
            self.doubting(uses_word.is_none(), |interpreter| {
                own = interpreter.pieces(&word.parts, quoted, true, &mut after);
                // The word of an expansion that is not quoted is split like its value.
                for piece in &mut own {
                    if let WordFragment::Text { quoted: false, split, .. } = piece {
                        *split = true;
                    }
                }
            });
        }
        match (operator, uses_word) {
            (b'+', Some(false)) => {
                if quoted {
                    pieces.push(WordFragment::text("", true));
                }
                None
            }
            (_, Some(false)) => Some(got),
            // The value is there, or the shell stops.
            (b'?', None) => {
                self.leaves_shell(state, true);
                Some(got)
            }
            (b'?', _) => {
                self.leaves_shell(state, false);
                Some(Got::Unknown(Why::Expansion))
            }
            (b'=', Some(true)) => {
                *state = after;
                let value = join(&own, word.span, false);
                self.assign(&parameter.name, value.value.clone(), state);
                Some(Got::Set(value.value))
            }
            (_, Some(true)) => {
                *state = after;
                pieces.extend(own);
                None
            }
            (_, None) => {
                let own = join(&own, word.span, false).value;
                let mut texts = match &got {
                    Got::Set(value) if operator != b'+' => texts_of(value),
                    Got::Unknown(why) if operator != b'+' => why.texts().unwrap_or_default().to_vec(),
                    _ => Vec::new(),
                };
                texts.extend(texts_of(&own));
                let why = match (got, own, perhaps(texts.into_iter())) {
                    (Got::Unknown(Why::Environment(name)), Value::Known(text), _)
                        if self.is_default(&name, &text, state) =>
                    {
                        Why::Default(text)
                    }
                    (_, _, Some(texts)) => texts,
                    (Got::Unknown(Why::Environment(name)), ..) => Why::Variable(name),
                    (Got::Unknown(why) | Got::Set(Value::Unknown { why, .. }), ..) => why,
                    _ => Why::Expansion,
                };
                if operator == b'=' {
                    let stamp = self.change();
                    state.forget(&parameter.name, stamp);
                    if let Some(variable) = state.get(&parameter.name).cloned() {
                        let content = Content::Unknown(why.clone());
                        state.put(&parameter.name, Variable { content, ..variable }, stamp);
                    }
                }
                Some(Got::Unknown(why))
            }
        }
    }
}

/// The words of `$@` or `$*`.
pub(super) fn many(pieces: &mut Vec<WordFragment>, values: &[Value], joined: bool, quoted: bool, state: &ShellState) {
    let ifs = state.ifs();
    for (index, value) in values.iter().filter(|value| !is_gap(value)).enumerate() {
        if index > 0 {
            match (joined && quoted, ifs.as_deref().map(|ifs| ifs.chars().next())) {
                (false, _) => pieces.push(WordFragment::Break),
                (true, Some(separator)) => {
                    pieces.push(WordFragment::text(separator.map(String::from).unwrap_or_default(), true));
                }
                (true, None) => pieces.push(WordFragment::hole(Why::Expansion, true)),
            }
        }
        match spread(value) {
            Some(pattern) => pieces.push(WordFragment::Spread(pattern.to_owned())),
            None => push_value(pieces, value.clone(), quoted),
        }
    }
    if values.is_empty() && joined && quoted {
        pieces.push(WordFragment::text("", true));
    }
}

/// The texts of which a value may be one.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Known(text) => vec![text.clone()],
        Value::Unknown { why, shape } if shape.matches(Value::HOLE).count() == 1 => {
            let texts = why.texts().unwrap_or_default();
            texts.iter().map(|text| shape.replace(Value::HOLE, text)).collect()
        }
        _ => Vec::new(),
    }
}

/// One of these, or something else.
fn perhaps(texts: impl Iterator<Item = String>) -> Option<Why> {
    let mut each: Vec<String> = Vec::new();
    for text in texts.filter(|text| !text.is_empty()) {
        if !each.contains(&text) {
            each.push(text);
        }
    }
    (!each.is_empty()).then_some(Why::Perhaps(each))
}

/// Applies a change to a known text, or to each of several.
fn map(got: Got, change: impl Fn(&str) -> Option<String>) -> Got {
    let each = |value: &Value| {
        let texts = texts_of(value);
        let mut changed = texts.iter().filter_map(|text| change(text));
        match value {
            Value::Unknown { why: Why::Default(_), .. } => changed.find(|text| !text.is_empty()).map(Why::Default),
            Value::Unknown { why: Why::Stored(_), .. } => Some(Why::Stored(changed.collect())),
            _ => perhaps(changed),
        }
    };
    let one = |value: &Value| match value {
        Value::Known(text) => change(text).map_or(Value::hole(Why::Expansion), Value::Known),
        value if is_gap(value) => value.clone(),
        value => Value::hole(each(value).unwrap_or(Why::Expansion)),
    };
    match got {
        Got::Set(value) => Got::Set(one(&value)),
        Got::Many { values, joined } => Got::Many { values: values.iter().map(one).collect(), joined },
        Got::Unset => Got::Unset,
        Got::Unknown(why @ (Why::Perhaps(_) | Why::Stored(_) | Why::Default(_))) => {
            Got::Unknown(each(&Value::hole(why)).unwrap_or(Why::Expansion))
        }
        Got::Unknown(why) => Got::Unknown(why),
    }
}

fn substring(text: &str, from: i64, length: Option<Option<i64>>) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let count = i64::try_from(chars.len()).ok()?;
    let start = if from < 0 { count.checked_add(from)? } else { from };
    if start < 0 || start > count {
        return Some(String::new());
    }
    let end = match length {
        None => count,
        Some(length) => match length? {
            length if length < 0 => count.checked_add(length)?,
            length => start.checked_add(length)?.min(count),
        },
    };
    let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    Some(chars.get(range)?.iter().collect())
}

/// `${@:2:1}`, `${a[@]:1}`.
fn slice(
    values: &[Value],
    joined: bool,
    parameter: &Parameter,
    from: i64,
    length: Option<Option<i64>>,
    state: &ShellState,
) -> Got {
    let positional = parameter.index.is_none();
    if positional && spreads(values) || values.iter().any(is_gap) {
        return Got::Unknown(Why::Expansion);
    }
    let mut all: Vec<Value> = values.to_vec();
    if positional {
        // Counted from `$0`.
        all.insert(
            0,
            state.arguments.known().and_then(|all| all.first().cloned()).unwrap_or(Value::hole(Why::Expansion)),
        );
    }
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let start = if from < 0 { count + from } else { from };
    let end = match length {
        None => count,
        Some(Some(length)) if length >= 0 => start.saturating_add(length).min(count),
        Some(_) => return Got::Unknown(Why::Expansion),
    };
    let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else {
        return Got::Many { values: Vec::new(), joined };
    };
    Got::Many { values: all.get(start..end).unwrap_or_default().to_vec(), joined }
}
