//! The values of words, by the rules of bash: braces, tilde, parameters, substitutions, arithmetic, then splitting.
//! A glob stays a pattern.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::braces::{Atom, Braces};
use super::parameter::Got;
use super::places::located_at;
use super::state::{Errexit, Input, NOWHERE, State};
use super::{Command, Printed, RedirectKind, SUBSTITUTION, Walk};
use crate::arithmetic::{self, Numbers};
use crate::effect::Kind as EffectKind;
use crate::facts::{Facts, Look as _, Presence};
use crate::glob;
use crate::syntax::{self, Base, Index, Literal, NodeKind, Part, RedirectOperator, Target};
use crate::word::{Span, Value, Why, Word};

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
    pub(super) fn text(text: impl Into<String>, quoted: bool) -> Self {
        Piece::Text { text: text.into(), quoted, split: false, at: None }
    }

    pub(super) fn hole(why: Why, quoted: bool) -> Self {
        Piece::Hole { why, quoted }
    }
}

impl Walk<'_> {
    /// The words that one word comes to: none for an empty expansion, or several.
    pub(super) fn words(&mut self, word: &syntax::Word, state: &mut State) -> Vec<Word> {
        // Most words are a single run of characters.
        if let [Part::Literal(literal)] = word.parts.as_slice()
            && (literal.quoted || !literal.text.starts_with('~') && !literal.text.contains(['{', '*', '?', '[', '(']))
            && !literal.text.contains(Value::HOLE)
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
        let qualified = if self.is_zsh() { self.qualified(parts, state) } else { None };
        let pieces = qualified.unwrap_or_else(|| self.pieces(parts, false, true, state));
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
        let tilde =
            |part: &Part| matches!(part, Part::Literal(literal) if !literal.quoted && literal.text.contains('~'));
        if !parts.iter().any(tilde) {
            return self.sequence(parts, false, state, pieces);
        }
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

    pub(super) fn pieces(&mut self, parts: &[Part], quoted: bool, tilde: bool, state: &mut State) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match parts.split_first() {
            Some((Part::Literal(literal), rest)) if tilde && !literal.quoted && literal.text.starts_with('~') => {
                plain(literal, true, rest.is_empty(), state, &mut pieces);
                self.sequence(rest, quoted, state, &mut pieces);
            }
            _ => self.sequence(parts, quoted, state, &mut pieces),
        }
        pieces
    }

    /// Parts one after the other. In zsh what stands behind a parameter may belong to it.
    fn sequence(&mut self, parts: &[Part], quoted: bool, state: &mut State, pieces: &mut Vec<Piece>) {
        let mut rest = parts;
        while let Some((part, after)) = rest.split_first() {
            rest = after;
            let taken = match part {
                Part::Parameter(parameter) if self.is_zsh() => {
                    self.with_subscript(parameter, after, quoted, state, pieces)
                }
                _ => None,
            };
            let Some((count, left)) = taken else {
                self.piece(part, quoted, state, pieces);
                continue;
            };
            rest = after.get(count..).unwrap_or_default();
            if !left.text.is_empty() {
                let quoted = quoted || left.quoted;
                push_literal(pieces, Literal { quoted, ..left });
            }
        }
    }

    fn atoms(&mut self, atoms: &[Atom<'_>], state: &mut State) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut run = Literal { text: String::new(), quoted: false, at: None, made_up: false };
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
            Part::Literal(literal) => {
                let quoted = quoted || literal.quoted;
                push_literal(pieces, Literal { quoted, ..literal.clone() });
            }
            Part::Double(inner) => {
                // An empty pair of quotes is a word of its own, unless all that is in it is no arguments.
                let before = pieces.len();
                self.sequence(inner, true, state, pieces);
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
                    self.process_output = output.known().map(Rc::new);
                    state.files = own.files;
                }
                pieces.push(Piece::hole(Why::ProcessSubstitution, true));
            }
            Part::Arithmetic(word) => match self.number(word, state) {
                Some(number) => push_value(pieces, Value::Known(number.to_string()), quoted),
                None => pieces.push(Piece::hole(Why::Number, quoted)),
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
    pub(super) fn substitution(&mut self, list: &syntax::List, state: &mut State) -> Value {
        if !self.may_nest() {
            return Value::hole(Why::CommandOutput);
        }
        if let Some(content) = self.read_file(list, state) {
            return content;
        }
        let before = state.clone();
        let first = self.commands.len();
        let errexit = state.errexit;
        if errexit == Errexit::On {
            // Dash hands it on to a substitution, and bash does not.
            state.errexit = Errexit::Perhaps;
        }
        let ((), output) = self.capturing(&before, |walk| {
            walk.inside(SUBSTITUTION, |walk| {
                let input = state.input.clone();
                walk.subshell(list, state, input);
            });
        });
        state.errexit = errexit;
        // Bash leaves out what no text can hold.
        let value = |text: &str| text.replace('\0', "").trim_end_matches('\n').to_owned();
        match output {
            Printed::Known(text) => Value::Known(value(&text.text)),
            Printed::Perhaps(texts) => Value::hole(Why::Perhaps(texts.iter().map(|text| value(text)).collect())),
            Printed::Unknown => {
                let value = self.temporary(first, state).or_else(|| self.located(first, state));
                value.unwrap_or_else(|| Value::hole(Why::CommandOutput))
            }
        }
    }

    /// `$(mktemp)`: where it is, if the commands from this one on are nothing else.
    fn temporary(&mut self, first: usize, state: &mut State) -> Option<Value> {
        let (command, others) = self.commands.get(first..)?.split_first()?;
        let effect = command.effects.first().filter(|_| command.program() == Some("mktemp"))?;
        let pattern = match &effect.path {
            _ if effect.kind != EffectKind::Create => return None,
            Value::Pattern(pattern) if others.is_empty() => pattern.clone(),
            Value::Unknown { shape, .. } => self.below_tmpdir(command, others, shape)?,
            _ => return None,
        };
        let words = || command.words.iter().filter_map(Word::known);
        if words().any(|word| matches!(word, "--help" | "--version")) {
            return None;
        }
        let by_name =
            words().next().is_some_and(|name| !name.contains('/')) && !state.alias_texts.contains_key("mktemp");
        let any = state.overrun || command.env.wild();
        let set = |name: &str| any || command.env.get(name).is_some();
        let by_name = by_name && !command.assignments.iter().any(|(name, _)| name == "PATH");
        let folder = set("TMPDIR") || command.assignments.iter().any(|(name, _)| name == "TMPDIR");
        // What stands behind a backslash is another name than this one.
        self.odd_temporaries |= folder && command.effects.len() > 1 || !by_name || set("IFS") || pattern.contains('\\');
        // A name of its own for each call: one more part that is not known.
        let shape = pattern.replacen('*', &Value::HOLE.to_string().repeat(state.files.name_temporary()?), 1);
        Some(Value::Unknown { why: Why::Temporary, shape })
    }

    /// `mktemp "${TMPDIR:-/tmp}/x.XXXXXX"`: where it is, as far as is known. It is read with the default as well.
    fn below_tmpdir(&self, command: &Command, others: &[Command], shape: &str) -> Option<String> {
        // Without a default, and in a folder that may not be there, it may fail and print nothing.
        const TMPDIR: &[&str] = &["${TMPDIR:-/tmp}/", "${TMPDIR-/tmp}/"];
        let same = |other: &Command| other.span == command.span && other.program() == Some("mktemp");
        let mut unknown = command.words.iter().filter(|word| word.known().is_none());
        let (Some(template), None) = (unknown.next(), unknown.next()) else { return None };
        let written = self.source.get(template.span.start..template.span.end)?;
        let written = written.strip_prefix('"').unwrap_or(written);
        let name =
            shape.strip_prefix(Value::HOLE).filter(|name| !name.contains(Value::HOLE) && !name.contains(".."))?;
        let reads = |other: &Command| matches!(other.program(), Some("." | "source" | "eval"));
        let is_own = command.env.get("TMPDIR").is_none() && !command.env.wild() && !self.commands.iter().any(reads);
        let named = TMPDIR.iter().any(|beginning| written.starts_with(beginning));
        let direct = name.matches('/').count() == 1;
        (is_own && named && direct && others.iter().all(same)).then(|| format!("/tmp{name}"))
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

    /// An arithmetic expression.
    pub(super) fn number(&mut self, word: &syntax::Word, state: &mut State) -> Option<i64> {
        let value = self.value(word, state).value;
        self.number_in(value.text(), state)
    }

    /// A number written in a text that has been expanded already.
    pub(super) fn number_in(&mut self, text: &str, state: &mut State) -> Option<i64> {
        self.run_substitutions(text, Span::default(), state);
        let mut scope = Scope { walk: self, state, unset: false };
        let number = arithmetic::evaluate(text, &mut scope);
        let unset = scope.unset;
        if unset && state.nounset {
            self.leaves_shell(state, true);
        }
        number
    }

    /// Runs the substitutions in a text that the shell expands once more: an index among the arguments of `unset` or
    /// `test -v`, the value of a variable in an expression, a prompt.
    pub(super) fn run_substitutions(&mut self, text: &str, span: Span, state: &State) {
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
pub(super) fn plain(literal: &Literal, tilde: bool, whole: bool, state: &State, pieces: &mut Vec<Piece>) {
    let slash = literal.text.find('/');
    if !tilde || (slash.is_none() && !whole) {
        return push_literal(pieces, literal.clone());
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
        let at = literal.at.map(|at| at + end);
        push_literal(pieces, Literal { text: rest.to_owned(), at, ..*literal });
    }
}

/// A run of characters. In a text that was made with variables whose values are not known, some are not.
pub(super) fn push_literal(pieces: &mut Vec<Piece>, literal: Literal) {
    let Literal { text, quoted, at, made_up } = literal;
    // What mktemp makes up is letters, which no shell splits.
    let (why, whole) = if made_up { (Why::Temporary, true) } else { (Why::Expansion, quoted) };
    if !text.contains(Value::HOLE) {
        return pieces.push(Piece::Text { text, quoted, split: false, at });
    }
    for (index, part) in text.split(Value::HOLE).enumerate() {
        if index > 0 {
            pieces.push(Piece::hole(why.clone(), whole));
        }
        if !part.is_empty() {
            pieces.push(Piece::text(part, quoted));
        }
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
        let own = Literal { text: segment.to_owned(), quoted: false, at, ..*literal };
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
                self.walk.run_substitutions(&text, Span::default(), self.state);
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

pub(super) fn push_value(pieces: &mut Vec<Piece>, value: Value, quoted: bool) {
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

/// Stands for an element of an array that is not set: a glob that finds nothing.
pub(super) fn gap() -> Value {
    Value::Unknown { why: Why::Glob, shape: String::new() }
}

/// Whether it stands for that.
pub(super) fn is_gap(value: &Value) -> bool {
    spread(value) == Some("")
}

/// The glob that an argument is, if it may be several.
pub(super) fn spread(value: &Value) -> Option<&str> {
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

pub(super) fn join(pieces: &[Piece], span: Span, may_glob: bool) -> Word {
    let unquoted = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false, .. } if glob::is_pattern(text));
    let spread = pieces.iter().any(unquoted)
        || pieces
            .windows(2)
            .any(|pair| matches!(pair, [Piece::Text { text, quoted: false, .. }, _] if text.contains('[')));
    let mut globbed = false;
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
                    globbed |= spreads;
                } else if (globs || matched) && (*quoted || !globs) {
                    glob::escape(part, &mut text);
                } else {
                    text.push_str(part);
                }
            }
            Piece::Hole { why: reason, quoted } => {
                Why::merge(&mut why, reason);
                // What mktemp makes up has nothing in it that a word is split at.
                several |= !quoted && *reason != Why::Temporary;
                any_quoted |= quoted;
                contiguous = false;
                text.push(Value::HOLE);
            }
            Piece::Match(pattern) | Piece::Spread(pattern) => {
                contiguous = false;
                several |= matches!(piece, Piece::Spread(_));
                text.push_str(&if unknown { glob::holes(pattern) } else { pattern.clone() });
                globbed |= unknown;
            }
            Piece::Break => {
                contiguous = false;
                text.push(' ');
            }
        }
    }
    let at = at.filter(|_| contiguous);
    if let Some(texts) = whole_texts(pieces) {
        let by_default = |piece: &Piece| !matches!(piece, Piece::Hole { why: Why::Perhaps(_), .. });
        let value = Value::hole(match texts.as_slice() {
            [text] if pieces.iter().all(by_default) => Why::Default(text.clone()),
            _ => Why::Perhaps(texts),
        });
        return Word { span, value, quoted: any_quoted, several, at: None };
    }
    let value = match why {
        // What a glob finds is not what mktemp made up.
        Some(Why::Temporary) if globbed => Value::Unknown { why: Why::Glob, shape: text },
        Some(why) => Value::Unknown { why, shape: text },
        None if globs || matched => Value::Pattern(text),
        None => Value::Known(text),
    };
    Word { span, value, quoted: any_quoted, several, at }
}

/// What a word may be in which several parts may each be one of some texts: with the first of each, with the second, and
/// so on.
fn whole_texts(pieces: &[Piece]) -> Option<Vec<String>> {
    let mut most = 0;
    let mut holes = 0;
    for piece in pieces {
        match piece {
            Piece::Hole { why, .. } => (holes, most) = (holes + 1, most.max(why.texts()?.len())),
            Piece::Text { .. } => {}
            _ => return None,
        }
    }
    let text = |at: usize| {
        let part = |piece: &Piece| match piece {
            Piece::Hole { why, .. } => {
                why.texts().and_then(|texts| texts.get(at).or(texts.last())).cloned().unwrap_or_default()
            }
            Piece::Text { text, .. } => text.clone(),
            _ => String::new(),
        };
        pieces.iter().map(part).collect::<String>()
    };
    (holes > 1).then(|| (0..most).map(text).collect())
}

/// A glob that can find one name only, as `/bin/[r]m`: that name if it is there, else the pattern as it is written.
fn narrowed(word: Word, state: &State) -> Word {
    let Value::Pattern(pattern) = &word.value else { return word };
    let Some(name) = glob::only_name(pattern) else { return word };
    let Some(place) = located_at(&name, state) else { return word };
    match state.files.look(&place) {
        Presence::File | Presence::Folder | Presence::Other => {
            Word { value: Value::Known(name), several: false, at: None, ..word }
        }
        _ => word,
    }
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
