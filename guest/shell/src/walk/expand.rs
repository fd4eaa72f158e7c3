//! The values of words, by the rules of bash: braces, tilde, parameters, substitutions, arithmetic, then splitting.
//! A glob stays a pattern.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::state::{Content, Input, NOWHERE, State, Variable};
use super::{Command, RedirectKind, SUBSTITUTION, Walk};
use crate::arithmetic::{self, Numbers};
use crate::effect::Kind as EffectKind;
use crate::facts::{Facts, Look as _, Presence};
use crate::glob::{self, Pattern};
use crate::syntax::{self, Base, Index, Literal, NodeKind, Operation, Parameter, Part, RedirectOperator, Target};
use crate::word::{Span, Value, Why, Word};

/// A word with more brace expansions than this is unknown.
const MAX_BRACES: usize = 1_024;

/// Longest word, in characters and parts, whose braces are looked for: each is tried against all that follow.
const MAX_BRACE_WORD: usize = 4_096;

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

/// A part of a word that is being put together.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// `split`: the result of an expansion, so that blanks in it split the word.
    Text { text: String, quoted: bool, split: bool, at: Option<usize> },
    /// Something unknown.
    Hole { why: Why, quoted: bool },
    /// One of the names that a glob finds.
    Match(String),
    /// All of them, each a word.
    Spread(String),
    /// Between the words of `"$@"`.
    Break,
}

impl Piece {
    fn text(text: impl Into<String>, quoted: bool) -> Self {
        Piece::Text { text: text.into(), quoted, split: false, at: None }
    }

    fn hole(why: Why, quoted: bool) -> Self {
        Piece::Hole { why, quoted }
    }
}

/// What a parameter is worth.
pub(super) enum Got {
    Set(Value),
    Unset,
    Unknown(Why),
    Many { values: Vec<Value>, joined: bool },
}

impl State {
    /// The value of a variable by name.
    pub(super) fn lookup(&self, name: &str) -> Got {
        let unknown = || Got::Unknown(Why::Variable(name.to_owned()));
        match self.get(name) {
            Some(_) if self.wild => unknown(),
            Some(variable) => match &variable.content {
                Content::Text(value) => Got::Set(value.clone()),
                Content::Array(values) => values.first().map_or(Got::Unset, |value| Got::Set(value.clone())),
                Content::Map(values) => values.get("0").map_or(Got::Unset, |value| Got::Set(value.clone())),
                Content::Unset => Got::Unset,
                Content::Unknown(why) => Got::Unknown(why.clone()),
            },
            None => match name {
                "PWD" => match self.folders.certain() {
                    Some(folder) => Got::Set(Value::Known(folder.to_owned())),
                    None => Got::Unknown(Why::Directory),
                },
                "IFS" => Got::Set(Value::Known(" \t\n".to_owned())),
                _ if self.complete && !self.wild && !DYNAMIC.contains(&name) => Got::Unset,
                _ => unknown(),
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

    fn ifs(&self) -> Option<String> {
        match self.lookup("IFS") {
            Got::Set(Value::Known(text)) => Some(text),
            Got::Unset => Some(" \t\n".to_owned()),
            _ => None,
        }
    }
}

impl Walk<'_> {
    /// The words that one word comes to: none for an empty expansion, or several.
    pub(super) fn words(&mut self, word: &syntax::Word, state: &mut State) -> Vec<Word> {
        // Most words are a single run of characters.
        if let [Part::Literal(literal)] = word.parts.as_slice()
            && (literal.quoted || !literal.text.starts_with('~') && !literal.text.contains(['{', '*', '?', '[', '(']))
        {
            let quoted = literal.quoted;
            let value = Value::Known(literal.text.clone());
            return vec![Word { span: word.span, value, quoted, several: false, at: literal.at }];
        }
        let has_brace =
            |part: &Part| matches!(part, Part::Literal(literal) if !literal.quoted && literal.text.contains('{'));
        if word.parts.iter().any(has_brace) {
            return match Braces::expand(&word.parts) {
                Braces::None => self.words_of(&word.parts, word.span, state),
                Braces::Words(words) => {
                    let mut result = Vec::new();
                    for atoms in &words {
                        let pieces = self.atoms(atoms, state);
                        result.extend(self.finish(pieces, word.span, state));
                    }
                    result
                }
                Braces::TooMany => {
                    // What stands before the braces is certain: every word that comes out begins so.
                    let start = match word.parts.first() {
                        Some(Part::Literal(literal)) => literal.text.split('{').next().unwrap_or_default(),
                        _ => "",
                    };
                    let value = Value::Unknown { why: Why::TooMuch, shape: format!("{start}{}", Value::HOLE) };
                    vec![Word { span: word.span, value, quoted: false, several: true, at: None }]
                }
            };
        }
        self.words_of(&word.parts, word.span, state)
    }

    fn words_of(&mut self, parts: &[Part], span: Span, state: &mut State) -> Vec<Word> {
        let pieces = self.pieces(parts, false, true, state);
        self.note_process(parts, span);
        self.finish(pieces, span, state)
    }

    /// Keeps what a process substitution writes, for the command that reads it as a script.
    fn note_process(&mut self, parts: &[Part], span: Span) {
        if let ([Part::Process(_)], Some(output)) = (parts, self.process_output.take()) {
            self.processes.insert(span.start, output);
        }
    }

    fn finish(&mut self, pieces: Vec<Piece>, span: Span, state: &State) -> Vec<Word> {
        let glob = !state.noglob;
        // One value may make many words, and the same ones again and again.
        if !self.afford(pieces.len() * 16) {
            return vec![Word { several: true, ..Word::unknown(Why::TooMuch, span) }];
        }
        let words = split(pieces, state.ifs().as_deref());
        words.iter().map(|pieces| narrowed(join(pieces, span, glob), state)).collect()
    }

    /// A word that is neither split nor a glob: an assigned value.
    pub(super) fn assigned(&mut self, word: &syntax::Word, state: &mut State) -> Word {
        let mut pieces = Vec::new();
        self.assigned_pieces(word, state, &mut pieces);
        join(&pieces, word.span, false)
    }

    fn assigned_pieces(&mut self, word: &syntax::Word, state: &mut State, pieces: &mut Vec<Piece>) {
        self.assigned_rest(&word.parts, true, state, pieces);
    }

    fn assigned_rest(&mut self, parts: &[Part], start: bool, state: &mut State, pieces: &mut Vec<Piece>) {
        let mut colon = start;
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(literal) if !literal.quoted && literal.text.contains('~') => {
                    assigned_literal(literal, colon, index + 1 == parts.len(), state, pieces);
                }
                part => self.piece(part, false, state, pieces),
            }
            colon = matches!(part, Part::Literal(literal) if !literal.quoted && literal.text.ends_with(':'));
        }
    }

    /// The value of an assignment among the arguments of a command; `first` is what stands after its `=`.
    pub(super) fn assigned_parts(&mut self, first: &Literal, word: &syntax::Word, state: &mut State) -> Word {
        let mut pieces = Vec::new();
        let rest = word.parts.get(1..).unwrap_or_default();
        assigned_literal(first, true, rest.is_empty(), state, &mut pieces);
        self.assigned_rest(rest, first.text.is_empty() || first.text.ends_with(':'), state, &mut pieces);
        join(&pieces, word.span, false)
    }

    /// A word that is not split but may be a glob: a redirect's target.
    pub(super) fn target(&mut self, word: &syntax::Word, state: &mut State) -> Word {
        let pieces = self.pieces(&word.parts, false, true, state);
        self.note_process(&word.parts, word.span);
        let glob = !state.noglob;
        narrowed(join(&pieces, word.span, glob), state)
    }

    /// The text of a word whose quotes have no meaning of their own: a heredoc, an expression, a subject of `case`.
    pub(super) fn value(&mut self, word: &syntax::Word, state: &mut State) -> Word {
        let pieces = self.pieces(&word.parts, true, false, state);
        join(&pieces, word.span, false)
    }

    /// As [`Walk::value`], with a tilde at the start.
    pub(super) fn subject(&mut self, word: &syntax::Word, state: &mut State) -> Word {
        let pieces = self.pieces(&word.parts, false, true, state);
        join(&pieces, word.span, false)
    }

    /// A word as a pattern, its quoted characters escaped. `None` if it is not known.
    pub(super) fn pattern(&mut self, word: &syntax::Word, state: &mut State) -> Option<String> {
        let mut text = String::new();
        if state.nocasematch {
            self.pieces(&word.parts, false, true, state);
            return None;
        }
        for piece in self.pieces(&word.parts, false, true, state) {
            match piece {
                Piece::Text { text: part, quoted: true, .. } => glob::escape(&part, &mut text),
                Piece::Text { text: part, .. } => text.push_str(&part),
                _ => return None,
            }
        }
        Some(text)
    }

    fn pieces(&mut self, parts: &[Part], quoted: bool, tilde: bool, state: &mut State) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(literal) if index == 0 && tilde && !literal.quoted && literal.text.starts_with('~') => {
                    plain(literal, true, parts.len() == 1, state, &mut pieces);
                }
                part => self.piece(part, quoted, state, &mut pieces),
            }
        }
        pieces
    }

    fn atoms(&mut self, atoms: &[Atom<'_>], state: &mut State) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut run = Literal { text: String::new(), quoted: false, at: None };
        for (index, atom) in atoms.iter().enumerate() {
            match atom {
                Atom::Character(c) => run.text.push(*c),
                Atom::Part(part) => {
                    let tilde = index == run.text.chars().count() && run.text.starts_with('~');
                    plain(&run, tilde, false, state, &mut pieces);
                    run.text.clear();
                    self.piece(part, false, state, &mut pieces);
                }
            }
        }
        let tilde = pieces.is_empty() && run.text.starts_with('~');
        if !run.text.is_empty() {
            plain(&run, tilde, true, state, &mut pieces);
        }
        pieces
    }

    fn piece(&mut self, part: &Part, quoted: bool, state: &mut State, pieces: &mut Vec<Piece>) {
        match part {
            Part::Literal(literal) => pieces.push(Piece::Text {
                text: literal.text.clone(),
                quoted: quoted || literal.quoted,
                split: false,
                at: literal.at,
            }),
            Part::Double(inner) => {
                // An empty pair of quotes is a word of its own, unless all that is in it is no arguments.
                let before = pieces.len();
                for part in inner {
                    self.piece(part, true, state, pieces);
                }
                let arguments = matches!(inner.as_slice(), [Part::Parameter(p)] if p.name == "@" || matches!(p.index, Some(Index::All)));
                if pieces.len() == before && !arguments {
                    pieces.push(Piece::text("", true));
                }
            }
            Part::Parameter(parameter) => self.parameter(parameter, quoted, state, pieces),
            Part::Command(list) => {
                let value = self.substitution(list, state);
                push_value(pieces, value, quoted);
            }
            Part::Process(list) => {
                let mut own = state.clone();
                if self.may_nest() {
                    let ((), output) = self.capturing(&state.clone(), |walk| {
                        walk.inside(SUBSTITUTION, |walk| walk.subshell(list, &mut own, Input::Unseen));
                    });
                    self.process_output = output.map(Rc::new);
                    state.files = own.files;
                }
                pieces.push(Piece::hole(Why::ProcessSubstitution, true));
            }
            Part::Arithmetic(word) => match self.number(word, state) {
                Some(number) => push_value(pieces, Value::Known(number.to_string()), quoted),
                None => pieces.push(Piece::hole(Why::Expansion, quoted)),
            },
            Part::Array(elements) => {
                for element in elements {
                    self.words(&element.word, state);
                }
                pieces.push(Piece::hole(Why::Expansion, true));
            }
            Part::Malformed => pieces.push(Piece::hole(Why::Malformed, true)),
        }
    }

    /// Runs the commands of a substitution; what they print.
    fn substitution(&mut self, list: &syntax::List, state: &mut State) -> Value {
        if !self.may_nest() {
            return Value::hole(Why::CommandOutput);
        }
        if let Some(content) = self.read_file(list, state) {
            return content;
        }
        let before = state.clone();
        let first = self.commands.len();
        let ((), output) = self.capturing(&before, |walk| {
            walk.inside(SUBSTITUTION, |walk| {
                let input = state.input.clone();
                walk.subshell(list, state, input);
            });
        });
        match output {
            Some(text) => {
                // Bash leaves out what no text can hold.
                let text = text.text.replace('\0', "");
                Value::Known(text.trim_end_matches('\n').to_owned())
            }
            None => {
                let value = self.temporary(first).or_else(|| self.located(first, state));
                value.unwrap_or_else(|| Value::hole(Why::CommandOutput))
            }
        }
    }

    /// `$(mktemp)`: where it is, if the commands from this one on are nothing else.
    fn temporary(&self, first: usize) -> Option<Value> {
        let [command] = self.commands.get(first..)? else { return None };
        let effect = command.effects.first().filter(|_| command.program() == Some("mktemp"))?;
        match &effect.path {
            Value::Pattern(pattern) if effect.kind == EffectKind::Create => {
                let shape = pattern.replace('*', "\0");
                Some(Value::Unknown { why: Why::CommandOutput, shape })
            }
            _ => None,
        }
    }

    /// `$(command -v rm)`: a file of that name, wherever it is.
    fn located(&self, first: usize, state: &State) -> Option<Value> {
        let [command] = self.commands.get(first..)? else { return None };
        let words: Option<Vec<&str>> = command.words.iter().map(Word::known).collect();
        let name = match words?.as_slice() {
            ["which", name] | ["command", "-v", name] | ["type", "-p" | "-P", name] => *name,
            _ => return None,
        };
        let plain = !name.is_empty() && !name.contains('/') && !name.starts_with('-') && state.function(name).is_none();
        let shape = format!("{}/{name}", Value::HOLE);
        plain.then_some(Value::Unknown { why: Why::CommandOutput, shape })
    }

    /// `$(<file)`
    fn read_file(&mut self, list: &syntax::List, state: &mut State) -> Option<Value> {
        let [item] = list.items.as_slice() else { return None };
        let [node] = item.first.commands.as_slice() else { return None };
        let NodeKind::Simple { assignments, words } = &node.kind else { return None };
        let [redirect] = node.redirects.as_slice() else { return None };
        let empty = assignments.is_empty() && words.is_empty() && item.rest.is_empty();
        let Target::Word(target) = &redirect.target else { return None };
        if !empty || redirect.kind != RedirectOperator::Read {
            return None;
        }
        let target = self.inside(SUBSTITUTION, |walk| {
            let slot = walk.reserve();
            let before = state.clone();
            let target = walk.target(target, state);
            let own = crate::walk::Redirect { kind: RedirectKind::Read, fd: Some(0), target: target.clone() };
            let command = Command { redirects: vec![own], ..Command::bare(Vec::new(), redirect.span, 0) };
            walk.record(slot, command, &before, state);
            target
        });
        let (Some(target), Some(folder)) = (target.known(), state.folders.certain()) else {
            return Some(Value::hole(Why::CommandOutput));
        };
        let path = crate::path::absolute(target, folder);
        let content = state.files.made(&path).and_then(|made| made.content.clone());
        Some(match content {
            Some(content) => Value::Known(content.text.trim_end_matches('\n').to_owned()),
            None => Value::hole(Why::CommandOutput),
        })
    }

    fn parameter(&mut self, parameter: &Parameter, quoted: bool, state: &mut State, pieces: &mut Vec<Piece>) {
        if let Operation::Commands(list) = &parameter.operation {
            let value = self.substitution(list, state);
            return push_value(pieces, value, quoted);
        }
        let got = self.get(parameter, state);
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
                pieces.push(Piece::hole(why, quoted && !all));
            }
            Some(Got::Unset) => {
                let all = parameter.name == "@" || matches!(parameter.index, Some(Index::All));
                if state.nounset && !all && !matches!(parameter.index, Some(Index::Joined)) {
                    self.leaves_shell(state, parameter.index.is_some());
                }
                if quoted && !all {
                    pieces.push(Piece::text("", true));
                }
            }
            None => {}
        }
    }

    fn get(&mut self, parameter: &Parameter, state: &mut State) -> Got {
        let name = parameter.name.as_str();
        let map = match state.get(name).filter(|_| !state.wild && !parameter.indirect).map(|variable| &variable.content)
        {
            Some(Content::Map(values)) => Some(Rc::clone(values)),
            _ => None,
        };
        match (map, &parameter.index) {
            (Some(values), Some(Index::Word(word))) => {
                let key = self.assigned(word, state);
                let value = key.known().map(|key| values.get(key).cloned());
                return match value {
                    Some(Some(value)) => Got::Set(value),
                    Some(None) => Got::Unset,
                    None => Got::Unknown(Why::Variable(name.to_owned())),
                };
            }
            (Some(values), Some(_)) => {
                // In an order that is bash's own.
                return match values.len() {
                    0 | 1 => Got::Many {
                        values: values.values().cloned().collect(),
                        joined: matches!(parameter.index, Some(Index::Joined)),
                    },
                    _ => Got::Unknown(Why::Variable(name.to_owned())),
                };
            }
            _ => {}
        }
        let index = match &parameter.index {
            None => None,
            Some(Index::Word(word)) => Some(self.number(word, state)),
            Some(Index::All | Index::Joined) => None,
        };
        if parameter.indirect {
            if matches!(parameter.operation, Operation::Names) || parameter.index.is_some() {
                return Got::Unknown(Why::Expansion);
            }
            return match state.known(name) {
                Some(name) if syntax_name(&name) => state.lookup(&name),
                name => {
                    if let Some(name) = name {
                        self.expanded_again(&name, Span::default(), state);
                    }
                    // What is no name is an error, after which this command does not run.
                    self.leaves_shell(state, true);
                    Got::Unknown(Why::Expansion)
                }
            };
        }
        let arguments = state.arguments.as_deref();
        match name {
            "@" | "*" => match arguments {
                Some(values) => Got::Many { values: values.get(1..).unwrap_or_default().to_vec(), joined: name == "*" },
                None => Got::Unknown(Why::Expansion),
            },
            "#" => match arguments {
                Some(values) if spreads(values) => Got::Unknown(Why::Expansion),
                Some(values) => Got::Set(Value::Known(values.len().saturating_sub(1).to_string())),
                None => Got::Unknown(Why::Expansion),
            },
            "?" if state.status == super::state::Status::Success => Got::Set(Value::Known("0".into())),
            "?" | "-" | "$" | "!" => Got::Unknown(Why::Expansion),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => match (arguments, digits.parse::<usize>()) {
                (Some(values), Ok(number)) if spreads(values.get(..=number).unwrap_or(values)) => {
                    Got::Unknown(Why::Expansion)
                }
                (Some(values), Ok(number)) => values.get(number).map_or(Got::Unset, |value| Got::Set(value.clone())),
                _ => Got::Unknown(Why::Expansion),
            },
            name => {
                let variable = state.get(name).filter(|_| !state.wild);
                let array = match variable.map(|variable| &variable.content) {
                    Some(Content::Array(values)) => Some(Rc::clone(values)),
                    Some(Content::Text(value)) => Some(Rc::new(vec![value.clone()])),
                    _ => None,
                };
                match (&parameter.index, array) {
                    (None, _) => state.lookup(name),
                    (Some(Index::All | Index::Joined), Some(values)) => {
                        let joined = matches!(parameter.index, Some(Index::Joined));
                        Got::Many { values: values.to_vec(), joined }
                    }
                    (Some(Index::Word(_)), Some(values)) => match index.flatten() {
                        Some(number) => {
                            let length = i64::try_from(values.len()).unwrap_or(i64::MAX);
                            let number = if number < 0 { number + length } else { number };
                            let value = usize::try_from(number).ok().and_then(|at| values.get(at));
                            value.map_or(Got::Unset, |value| Got::Set(value.clone()))
                        }
                        None => Got::Unknown(Why::Expansion),
                    },
                    (Some(_), None) => match state.lookup(name) {
                        Got::Unset => Got::Unset,
                        _ => Got::Unknown(Why::Variable(name.to_owned())),
                    },
                }
            }
        }
    }

    /// Applies what stands after the name. `None` if the pieces have been added.
    fn operate(
        &mut self,
        parameter: &Parameter,
        got: Got,
        quoted: bool,
        state: &mut State,
        pieces: &mut Vec<Piece>,
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
                let with = self.value(with, state);
                // An unquoted `&` stands for what matched.
                let with = with.known().filter(|with| !with.contains('&')).map(str::to_owned);
                Some(map(got, |text| {
                    let replaced = pattern.as_ref()?.replace(text, with.as_deref()?, *all, *anchor)?;
                    (replaced.len() <= super::state::MAX_VALUE).then_some(replaced)
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
                    self.expanded_again(text, Span::default(), state);
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
        state: &mut State,
        pieces: &mut Vec<Piece>,
    ) -> Option<Got> {
        let has_value = match &got {
            Got::Set(Value::Known(text)) => Some(!(empty && text.is_empty())),
            Got::Set(_) => (!empty).then_some(true),
            Got::Unset => Some(false),
            Got::Unknown(_) => None,
            Got::Many { values, .. } if values.is_empty() => Some(false),
            Got::Many { .. } => (!empty).then_some(true),
        };
        let uses_word = if operator == b'+' { has_value } else { has_value.map(|has| !has) };
        let mut own = Vec::new();
        let mut after = state.clone();
        if uses_word != Some(false) {
            self.doubting(uses_word.is_none(), |walk| {
                own = walk.pieces(&word.parts, quoted, true, &mut after);
                // The word of an expansion that is not quoted is split like its value.
                for piece in &mut own {
                    if let Piece::Text { quoted: false, split, .. } = piece {
                        *split = true;
                    }
                }
            });
        }
        match (operator, uses_word) {
            (b'+', Some(false)) => {
                if quoted {
                    pieces.push(Piece::text("", true));
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
                let why = match (got, own) {
                    (Got::Unknown(Why::Variable(_)), Value::Known(text)) if operator != b'+' && !text.is_empty() => {
                        Why::Default(text)
                    }
                    (Got::Unknown(why), _) => why,
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

    /// An arithmetic expression.
    pub(super) fn number(&mut self, word: &syntax::Word, state: &mut State) -> Option<i64> {
        let value = self.value(word, state).value;
        self.number_in(value.text(), state)
    }

    /// A number written in a text that has been expanded already.
    pub(super) fn number_in(&mut self, text: &str, state: &mut State) -> Option<i64> {
        self.expanded_again(text, Span::default(), state);
        let mut scope = Scope { walk: self, state, unset: false };
        let number = arithmetic::evaluate(text, &mut scope, true);
        let unset = scope.unset;
        if unset && state.nounset {
            self.leaves_shell(state, true);
        }
        number
    }

    /// Runs the substitutions in a text that the shell expands once more: an index among the arguments of `unset` or
    /// `test -v`, the value of a variable in an expression, a prompt.
    pub(super) fn expanded_again(&mut self, text: &str, span: Span, state: &State) {
        if !text.contains("$(") && !text.contains('`') && !text.contains("${") || !self.may_nest() {
            return;
        }
        if !self.afford(text.len()) {
            return self.exhaust("the text holds too much text inside itself");
        }
        // The body of a heredoc is expanded in the same way.
        let document = format!(":<<\u{1}\n{text}\n\u{1}\n");
        let parsed = match syntax::parse(&document, Base::opaque(span), self.via.len()) {
            Ok(parsed) => parsed,
            Err(why) => return self.fail(why),
        };
        let nodes = parsed.list.items.iter().flat_map(|item| &item.first.commands);
        for redirect in nodes.flat_map(|node| &node.redirects) {
            if let Target::Document(body) = &redirect.target
                && let Some(body) = body.get()
            {
                let mut own = state.clone();
                self.doubting(true, |walk| walk.value(body, &mut own));
            }
        }
    }

    /// The shell ends here, or may.
    pub(super) fn leaves_shell(&mut self, state: &mut State, perhaps: bool) {
        let shell = self.frames.iter().rposition(|frame| frame.kind == super::FrameKind::Shell).unwrap_or(0);
        self.leave(state, shell, perhaps);
    }
}

/// `whole`: nothing of the word comes after it, so that a tilde with a name is one to its end.
fn plain(literal: &Literal, tilde: bool, whole: bool, state: &State, pieces: &mut Vec<Piece>) {
    let text = |text: &str, at| Piece::Text { text: text.to_owned(), quoted: literal.quoted, split: false, at };
    let slash = literal.text.find('/');
    if !tilde || (slash.is_none() && !whole) {
        return pieces.push(text(&literal.text, literal.at));
    }
    let end = slash.unwrap_or(literal.text.len());
    let (user, rest) = (&literal.text[1..end], &literal.text[end..]);
    let variable = match user {
        "" => "HOME",
        "+" => "PWD",
        "-" => "OLDPWD",
        _ => "",
    };
    let home = if variable.is_empty() { None } else { state.known(variable) };
    pieces.push(match home {
        Some(home) => Piece::text(home, true),
        None if user == "+" => Piece::hole(Why::Directory, true),
        None => Piece::hole(Why::Home(user.to_owned()), true),
    });
    if !rest.is_empty() {
        pieces.push(text(rest, literal.at.map(|at| at + end)));
    }
}

/// A run of characters in an assigned value: a tilde is expanded after each colon too.
fn assigned_literal(literal: &Literal, colon: bool, last: bool, state: &State, pieces: &mut Vec<Piece>) {
    let mut at = literal.at;
    let segments = literal.text.split(':').count();
    for (count, segment) in literal.text.split(':').enumerate() {
        if count > 0 {
            pieces.push(Piece::Text { text: ":".into(), quoted: false, split: false, at });
            at = at.map(|at| at + 1);
        }
        let own = Literal { text: segment.to_owned(), quoted: false, at };
        let tilde = segment.starts_with('~') && (colon || count > 0);
        plain(&own, tilde, last || count + 1 < segments, state, pieces);
        at = at.map(|at| at + segment.len());
    }
}

struct Scope<'w, 'f, 's> {
    walk: &'w mut Walk<'f>,
    state: &'s mut State,
    /// A name without a value was read.
    unset: bool,
}

impl Numbers for Scope<'_, '_, '_> {
    fn get(&mut self, name: &str) -> Option<String> {
        match self.state.lookup(name) {
            Got::Set(Value::Known(text)) => {
                self.walk.expanded_again(&text, Span::default(), self.state);
                Some(text)
            }
            Got::Unset => {
                self.unset = true;
                Some(String::new())
            }
            _ => None,
        }
    }

    fn set(&mut self, name: &str, value: Option<i64>) {
        match value {
            Some(number) => self.walk.assign(name, Value::Known(number.to_string()), self.state),
            None => {
                let stamp = self.walk.change();
                self.state.forget(name, stamp);
            }
        }
    }
}

fn push_value(pieces: &mut Vec<Piece>, value: Value, quoted: bool) {
    match value {
        Value::Known(text) => pieces.push(Piece::Text { text, quoted, split: !quoted, at: None }),
        Value::Pattern(pattern) => pieces.push(Piece::Match(pattern)),
        Value::Unknown { why, shape } => {
            for (index, part) in shape.split(Value::HOLE).enumerate() {
                if index > 0 {
                    pieces.push(Piece::hole(why.clone(), quoted));
                }
                if !part.is_empty() {
                    pieces.push(Piece::Text { text: part.to_owned(), quoted, split: !quoted, at: None });
                }
            }
        }
    }
}

/// The words of `$@` or `$*`.
fn many(pieces: &mut Vec<Piece>, values: &[Value], joined: bool, quoted: bool, state: &State) {
    let ifs = state.ifs();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            match (joined && quoted, ifs.as_deref().map(|ifs| ifs.chars().next())) {
                (false, _) => pieces.push(Piece::Break),
                (true, Some(separator)) => {
                    pieces.push(Piece::text(separator.map(String::from).unwrap_or_default(), true));
                }
                (true, None) => pieces.push(Piece::hole(Why::Expansion, true)),
            }
        }
        match spread(value) {
            Some(pattern) => pieces.push(Piece::Spread(pattern.to_owned())),
            None => push_value(pieces, value.clone(), quoted),
        }
    }
    if values.is_empty() && joined && quoted {
        pieces.push(Piece::text("", true));
    }
}

/// Applies a change to a known text, or to each of several.
fn map(got: Got, change: impl Fn(&str) -> Option<String>) -> Got {
    let one = |value: &Value| value.known().and_then(&change).map_or(Value::hole(Why::Expansion), Value::Known);
    match got {
        Got::Set(value) => Got::Set(one(&value)),
        Got::Many { values, joined } => Got::Many { values: values.iter().map(one).collect(), joined },
        Got::Unset => Got::Unset,
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
    state: &State,
) -> Got {
    let positional = parameter.index.is_none();
    if positional && spreads(values) {
        return Got::Unknown(Why::Expansion);
    }
    let mut all: Vec<Value> = values.to_vec();
    if positional {
        // Counted from `$0`.
        all.insert(
            0,
            state.arguments.as_ref().and_then(|all| all.first().cloned()).unwrap_or(Value::hole(Why::Expansion)),
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

/// Whether more than this one may come out of a word, other than by a glob, which stays one among the arguments.
pub(super) fn is_open_ended(word: &Word) -> bool {
    word.several && !matches!(word.value, Value::Pattern(_))
}

/// A word as an argument. A glob that may find several names is marked as one that leaves nothing unknown.
pub(super) fn argument(word: &Word) -> Value {
    match &word.value {
        Value::Pattern(pattern) if word.several => Value::Unknown { why: Why::Glob, shape: pattern.clone() },
        value => value.clone(),
    }
}

/// The glob that an argument is, if it may be several.
fn spread(value: &Value) -> Option<&str> {
    match value {
        Value::Unknown { why: Why::Glob, shape } if !shape.contains(Value::HOLE) => Some(shape),
        _ => None,
    }
}

/// An argument as one that a loop goes over.
pub(super) fn item(value: &Value, span: Span) -> Word {
    match spread(value) {
        Some(pattern) => {
            Word { value: Value::Pattern(pattern.to_owned()), several: true, ..Word::unknown(Why::Glob, span) }
        }
        None => Word { value: value.clone(), ..Word::new("", span) },
    }
}

/// Whether there are such globs among arguments, so that those behind them have other numbers.
pub(super) fn spreads(values: &[Value]) -> bool {
    values.iter().any(|value| spread(value).is_some())
}

fn syntax_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Cuts pieces into words. Without a known `IFS` nothing is said of what splits.
fn split(pieces: Vec<Piece>, ifs: Option<&str>) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut word: Vec<Piece> = Vec::new();
    // Whether the last thing was a separator that stands for itself: another one makes an empty word.
    let mut separated = false;
    for piece in pieces {
        match piece {
            Piece::Break => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                separated = false;
            }
            Piece::Text { text, quoted: false, split: true, at } => {
                let Some(ifs) = ifs else {
                    word.push(Piece::hole(Why::Expansion, false));
                    continue;
                };
                if !text.contains(|c| ifs.contains(c)) {
                    if !text.is_empty() {
                        word.push(Piece::Text { text, quoted: false, split: true, at });
                        separated = false;
                    }
                    continue;
                }
                let mut part = String::new();
                for c in text.chars() {
                    if !ifs.contains(c) {
                        part.push(c);
                        separated = false;
                        continue;
                    }
                    if !part.is_empty() {
                        word.push(Piece::Text {
                            text: std::mem::take(&mut part),
                            quoted: false,
                            split: true,
                            at: None,
                        });
                    }
                    let blank = matches!(c, ' ' | '\t' | '\n');
                    if !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                        separated = !blank;
                    } else if !blank {
                        if separated || words.is_empty() {
                            words.push(vec![Piece::text("", true)]);
                        }
                        separated = true;
                    }
                }
                if !part.is_empty() {
                    word.push(Piece::Text { text: part, quoted: false, split: true, at: None });
                }
            }
            piece => {
                separated = false;
                word.push(piece);
            }
        }
    }
    words.push(word);
    let something = |piece: &Piece| match piece {
        Piece::Text { text, quoted, .. } => *quoted || !text.is_empty(),
        Piece::Hole { .. } | Piece::Match(_) | Piece::Spread(_) => true,
        Piece::Break => false,
    };
    words.retain(|word| word.iter().any(something));
    words
}

fn join(pieces: &[Piece], span: Span, may_glob: bool) -> Word {
    let unquoted = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false, .. } if glob::is_pattern(text));
    let spread = pieces.iter().any(unquoted)
        || pieces
            .windows(2)
            .any(|pair| matches!(pair, [Piece::Text { text, quoted: false, .. }, _] if text.contains('[')));
    let matched = pieces.iter().any(|piece| matches!(piece, Piece::Match(_) | Piece::Spread(_)));
    let globs = may_glob && spread && {
        // Only what is not quoted makes a pattern.
        let mut pattern = String::new();
        for piece in pieces {
            match piece {
                Piece::Text { text, quoted: false, .. } => pattern.push_str(text),
                _ => pattern.push('x'),
            }
        }
        glob::is_pattern(&pattern)
    };
    // Where something else is unknown too, what a glob finds is one more hole.
    let unknown = pieces.iter().any(|piece| matches!(piece, Piece::Hole { .. }));
    let (mut text, mut why, mut any_quoted, mut several) = (String::new(), None, false, globs);
    let mut at = None;
    let mut contiguous = true;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text { text: part, quoted, at: from, .. } => {
                contiguous &= match (at, from) {
                    _ if index == 0 => from.is_some(),
                    (Some(start), Some(from)) => start + text.len() == *from,
                    _ => false,
                };
                at = at.or(*from);
                any_quoted |= quoted;
                if unknown {
                    let spreads = globs && !quoted && glob::is_pattern(part);
                    text.push_str(&if spreads { glob::holes(part) } else { part.clone() });
                } else if (globs || matched) && (*quoted || !globs) {
                    glob::escape(part, &mut text);
                } else {
                    text.push_str(part);
                }
            }
            Piece::Hole { why: reason, quoted } => {
                why.get_or_insert_with(|| reason.clone());
                several |= !quoted;
                any_quoted |= quoted;
                contiguous = false;
                text.push(Value::HOLE);
            }
            Piece::Match(pattern) | Piece::Spread(pattern) => {
                contiguous = false;
                several |= matches!(piece, Piece::Spread(_));
                text.push_str(&if unknown { glob::holes(pattern) } else { pattern.clone() });
            }
            Piece::Break => {
                contiguous = false;
                text.push(' ');
            }
        }
    }
    let at = at.filter(|_| contiguous);
    let value = match why {
        Some(why) => Value::Unknown { why, shape: text },
        None if globs || matched => Value::Pattern(text),
        None => Value::Known(text),
    };
    Word { span, value, quoted: any_quoted, several, at }
}

/// A glob that can find one name only, as `/bin/[r]m`: that name if it is there, else the pattern as it is written.
fn narrowed(word: Word, state: &State) -> Word {
    let Value::Pattern(pattern) = &word.value else { return word };
    let Some(name) = glob::only_name(pattern) else { return word };
    let place = match state.folders.certain() {
        _ if name.starts_with('/') => crate::path::absolute(&name, "/"),
        Some(folder) => crate::path::absolute(&name, folder),
        None => return word,
    };
    match state.files.look(&place) {
        Presence::File | Presence::Folder | Presence::Other => {
            Word { value: Value::Known(name), several: false, at: None, ..word }
        }
        _ => word,
    }
}

/// A character, or a part that braces do not look into.
#[derive(Clone, Copy)]
enum Atom<'a> {
    Character(char),
    Part(&'a Part),
}

/// What brace expansion makes of a word.
enum Braces<'a> {
    None,
    Words(Vec<Vec<Atom<'a>>>),
    TooMany,
}

/// More comes out of braces than is followed.
struct TooMany;

impl<'a> Braces<'a> {
    fn expand(parts: &'a [Part]) -> Self {
        let mut atoms = Vec::new();
        for part in parts {
            match part {
                Part::Literal(literal) if !literal.quoted => atoms.extend(literal.text.chars().map(Atom::Character)),
                part => atoms.push(Atom::Part(part)),
            }
        }
        if atoms.len() > MAX_BRACE_WORD {
            return Braces::TooMany;
        }
        match words_of(&atoms, 0) {
            Ok(words) if words.len() == 1 => Braces::None,
            Ok(words) => Braces::Words(words),
            Err(TooMany) => Braces::TooMany,
        }
    }
}

fn is(atom: Option<&Atom<'_>>, wanted: char) -> bool {
    matches!(atom, Some(Atom::Character(c)) if *c == wanted)
}

fn words_of<'a>(atoms: &[Atom<'a>], depth: usize) -> Result<Vec<Vec<Atom<'a>>>, TooMany> {
    if depth > 16 {
        return Err(TooMany);
    }
    let mut results: Vec<Vec<Atom<'a>>> = vec![Vec::new()];
    let mut at = 0;
    while at < atoms.len() {
        if is(atoms.get(at), '{')
            && let Some((end, alternatives)) = group(atoms, at, depth)?
        {
            if results.len() * alternatives.len() > MAX_BRACES {
                return Err(TooMany);
            }
            let joined = results.iter().flat_map(|start| {
                alternatives.iter().map(move |part| start.iter().chain(part).copied().collect::<Vec<_>>())
            });
            results = joined.collect();
            at = end + 1;
            continue;
        }
        results.iter_mut().for_each(|result| result.push(atoms[at]));
        at += 1;
    }
    Ok(results)
}

/// The alternatives of the braces that open at `open`, and where those close.
#[expect(clippy::type_complexity, reason = "a position and words")]
fn group<'a>(atoms: &[Atom<'a>], open: usize, depth: usize) -> Result<Option<(usize, Vec<Vec<Atom<'a>>>)>, TooMany> {
    let (mut level, mut commas, mut close) = (0usize, Vec::new(), None);
    for (index, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Character('{') => level += 1,
            Atom::Character('}') => {
                level -= 1;
                if level == 0 {
                    close = Some(index);
                    break;
                }
            }
            Atom::Character(',') if level == 1 => commas.push(index),
            _ => {}
        }
    }
    let Some(close) = close else { return Ok(None) };
    if commas.is_empty() {
        return Ok(sequence(&atoms[open + 1..close])?.map(|words| (close, words)));
    }
    let mut alternatives = Vec::new();
    let mut start = open + 1;
    for end in commas.into_iter().chain([close]) {
        alternatives.extend(words_of(&atoms[start..end], depth + 1)?);
        start = end + 1;
    }
    Ok(Some((close, alternatives)))
}

/// `1..5`, `a..e..2`, `01..10`.
fn sequence<'a>(atoms: &[Atom<'a>]) -> Result<Option<Vec<Vec<Atom<'a>>>>, TooMany> {
    let text: Option<String> = atoms
        .iter()
        .map(|atom| match atom {
            Atom::Character(c) => Some(*c),
            Atom::Part(_) => None,
        })
        .collect();
    let Some(text) = text else { return Ok(None) };
    let mut parts = text.split("..");
    let (Some(from), Some(to), step, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    let step = match step.map(str::parse::<i64>) {
        None => 1,
        Some(Ok(step)) => step.checked_abs().ok_or(TooMany)?.max(1),
        Some(Err(_)) => return Ok(None),
    };
    let characters = |text: &'_ str| -> Vec<Atom<'a>> { text.chars().map(Atom::Character).collect() };
    let letter = |text: &str| text.chars().next().filter(|c| text.len() == 1 && c.is_ascii_alphabetic());
    let numbers = match (from.parse::<i64>(), to.parse::<i64>(), letter(from), letter(to)) {
        (Ok(from), Ok(to), _, _) => (from, to, false),
        (_, _, Some(from), Some(to)) => (i64::from(u32::from(from)), i64::from(u32::from(to)), true),
        _ => return Ok(None),
    };
    let (first, last, letters) = numbers;
    let count = first.abs_diff(last) / u64::try_from(step).map_err(|_| TooMany)?;
    if count >= MAX_BRACES as u64 {
        return Err(TooMany);
    }
    let padded = |text: &str| text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    let width = if padded(from) || padded(to) { from.len().max(to.len()) } else { 0 };
    let step = if first <= last { step } else { -step };
    let mut words = Vec::new();
    let mut value = first;
    for _ in 0..=count {
        words.push(if letters {
            let c = u32::try_from(value).ok().and_then(char::from_u32).ok_or(TooMany)?;
            // Between the two cases stand characters that mean something to the shell.
            if !c.is_ascii_alphabetic() {
                return Err(TooMany);
            }
            vec![Atom::Character(c)]
        } else {
            characters(&format!("{value:0width$}"))
        });
        value = value.saturating_add(step);
    }
    Ok(Some(words))
}

/// The value of one word, quotes and all, with these variables: `None` if any part of it is not certain.
///
/// ```
/// use toolgate_shell::resolve_word;
/// let env = [("WS".to_owned(), "/ws".to_owned())].into();
/// assert_eq!(resolve_word("\"$WS/pkg\"", &env).as_deref(), Some("/ws/pkg"));
/// assert_eq!(resolve_word("$OTHER/pkg", &env), None);
/// ```
pub fn resolve_word(text: &str, env: &BTreeMap<String, String>) -> Option<String> {
    let facts = Facts { env: env.clone(), ..Facts::default() };
    let parsed = syntax::parse(text, Base::default(), 0).ok()?;
    let [item] = parsed.list.items.as_slice() else { return None };
    let [node] = item.first.commands.as_slice() else { return None };
    let NodeKind::Simple { assignments, words } = &node.kind else { return None };
    let ([word], true) = (words.as_slice(), assignments.is_empty() && item.rest.is_empty()) else { return None };
    let mut walk = Walk::new(text, &facts);
    let mut state = State::new(&facts);
    // A word alone says nothing of the command before it.
    state.status = super::state::Status::Unknown;
    let words = walk.words(word, &mut state);
    match (words.as_slice(), state.never || state.lost != NOWHERE) {
        ([], false) => Some(String::new()),
        ([word], false) => match &word.value {
            Value::Known(text) | Value::Pattern(text) => Some(text.clone()),
            Value::Unknown { .. } => None,
        },
        _ => None,
    }
}

impl Walk<'_> {
    /// Sets a variable as an assignment does.
    pub(super) fn assign(&mut self, name: &str, value: Value, state: &mut State) {
        let stamp = self.change();
        let before = state.get(name).cloned();
        let readonly = before.as_ref().is_some_and(|before| before.readonly);
        let special = before.as_ref().is_some_and(|before| before.special);
        if readonly {
            // The assignment fails; whether it was made readonly may depend on the run.
            return state.forget(name, stamp);
        }
        if special || value.text().len() > super::state::MAX_VALUE || matches!(name, "RANDOM" | "SECONDS" | "LINENO") {
            return state.forget(name, stamp);
        }
        let exported = match before {
            Some(before) => before.exported,
            None if state.complete => Some(false),
            None => None,
        };
        let exported = if state.allexport { Some(true) } else { exported };
        // What an array held beyond its first element stays.
        let content = match state.get(name).map(|variable| &variable.content) {
            Some(Content::Array(values)) => {
                let mut values = values.to_vec();
                match values.first_mut() {
                    Some(first) => *first = value,
                    None => values.push(value),
                }
                Content::Array(Rc::new(values))
            }
            _ => Content::Text(value),
        };
        state.put(name, Variable { content, exported, readonly: false, special: false }, stamp);
    }
}
