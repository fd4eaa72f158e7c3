//! The values of words, by the rules of bash: braces, tilde, parameters, substitutions, arithmetic, then splitting.
//! A glob stays a pattern.
//! What `$(..)` comes to is in `substitution`.

mod substitution;

use std::collections::BTreeMap;

use super::Interpreter;
use super::braces::{Atom, Braces};
use super::parameter::Got;
use super::path_resolution::located_at;
use super::state::{Input, NOWHERE, ShellState};
use super::word_fragments::{WordFragment, join, push_literal, push_value, split};
use crate::arithmetic::{self, Numbers};
use crate::command::SUBSTITUTION;
use crate::facts::{Facts, FileOracle as _, Presence};
use toolgate_shell_syntax::glob;
use toolgate_shell_syntax::syntax::{self, Base, Index, Literal, NodeKind, Part, Target};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

impl Interpreter<'_> {
    /// The words that one word comes to: none for an empty expansion, or several.
    pub(super) fn words(&mut self, word: &syntax::Word, state: &mut ShellState) -> Vec<Word> {
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

    fn words_of(&mut self, parts: &[Part], span: Span, state: &mut ShellState) -> Vec<Word> {
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

    fn finish(&mut self, pieces: Vec<WordFragment>, span: Span, state: &ShellState) -> Vec<Word> {
        let glob = !state.noglob;
        // One value may make many words, and the same ones again and again.
        if !self.afford(pieces.len() * 16) {
            return vec![Word { several: true, ..Word::unknown(Why::TooMuch, span) }];
        }
        let words = split(pieces, state.ifs().as_deref());
        words.iter().map(|pieces| narrowed(join(pieces, span, glob), state)).collect()
    }

    /// A word that is neither split nor a glob: an assigned value.
    pub(super) fn assigned(&mut self, word: &syntax::Word, state: &mut ShellState) -> Word {
        let mut pieces = Vec::new();
        self.assigned_pieces(word, state, &mut pieces);
        join(&pieces, word.span, false)
    }

    fn assigned_pieces(&mut self, word: &syntax::Word, state: &mut ShellState, pieces: &mut Vec<WordFragment>) {
        self.assigned_rest(&word.parts, true, state, pieces);
    }

    fn assigned_rest(&mut self, parts: &[Part], start: bool, state: &mut ShellState, pieces: &mut Vec<WordFragment>) {
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
    pub(super) fn assigned_parts(&mut self, first: &Literal, word: &syntax::Word, state: &mut ShellState) -> Word {
        let mut pieces = Vec::new();
        let rest = word.parts.get(1..).unwrap_or_default();
        assigned_literal(first, true, rest.is_empty(), state, &mut pieces);
        self.assigned_rest(rest, first.text.is_empty() || first.text.ends_with(':'), state, &mut pieces);
        join(&pieces, word.span, false)
    }

    /// A word that is not split but may be a glob: a redirect's target.
    pub(super) fn target(&mut self, word: &syntax::Word, state: &mut ShellState) -> Word {
        let pieces = self.pieces(&word.parts, false, true, state);
        self.note_process(&word.parts, word.span);
        let glob = !state.noglob;
        narrowed(join(&pieces, word.span, glob), state)
    }

    /// The text of a word whose quotes have no meaning of their own: a heredoc, an expression, a subject of `case`.
    pub(super) fn value(&mut self, word: &syntax::Word, state: &mut ShellState) -> Word {
        let pieces = self.pieces(&word.parts, true, false, state);
        join(&pieces, word.span, false)
    }

    /// As [`Interpreter::value`], with a tilde at the start.
    pub(super) fn subject(&mut self, word: &syntax::Word, state: &mut ShellState) -> Word {
        let pieces = self.pieces(&word.parts, false, true, state);
        join(&pieces, word.span, false)
    }

    /// A word as a pattern, its quoted characters escaped. `None` if it is not known.
    pub(super) fn pattern(&mut self, word: &syntax::Word, state: &mut ShellState) -> Option<String> {
        let mut text = String::new();
        if state.nocasematch {
            self.pieces(&word.parts, false, true, state);
            return None;
        }
        for piece in self.pieces(&word.parts, false, true, state) {
            match piece {
                WordFragment::Text { text: part, quoted: true, .. } => glob::escape(&part, &mut text),
                WordFragment::Text { text: part, .. } => text.push_str(&part),
                _ => return None,
            }
        }
        Some(text)
    }

    pub(super) fn pieces(
        &mut self,
        parts: &[Part],
        quoted: bool,
        tilde: bool,
        state: &mut ShellState,
    ) -> Vec<WordFragment> {
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
    fn sequence(&mut self, parts: &[Part], quoted: bool, state: &mut ShellState, pieces: &mut Vec<WordFragment>) {
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

    fn atoms(&mut self, atoms: &[Atom<'_>], state: &mut ShellState) -> Vec<WordFragment> {
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

    fn piece(&mut self, part: &Part, quoted: bool, state: &mut ShellState, pieces: &mut Vec<WordFragment>) {
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
                    pieces.push(WordFragment::text("", true));
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
                    let ((), output) = self.capturing(&state.clone(), |interpreter| {
                        interpreter.inside(SUBSTITUTION, |interpreter| {
                            interpreter.subshell(list, &mut own, Input::Unseen(None));
                        });
                    });
                    self.process_output = output.input();
                    state.files = own.files;
                }
                pieces.push(WordFragment::hole(Why::ProcessSubstitution, true));
            }
            Part::Arithmetic(word) => match self.number(word, state) {
                Some(number) => push_value(pieces, Value::Known(number.to_string()), quoted),
                None => pieces.push(WordFragment::hole(Why::Number, quoted)),
            },
            Part::Array(elements) => {
                for element in elements {
                    self.words(&element.word, state);
                }
                pieces.push(WordFragment::hole(Why::Expansion, true));
            }
            Part::Malformed => pieces.push(WordFragment::hole(Why::Malformed, true)),
        }
    }

    /// An arithmetic expression.
    pub(super) fn number(&mut self, word: &syntax::Word, state: &mut ShellState) -> Option<i64> {
        let value = self.value(word, state).value;
        self.number_in(value.text(), state)
    }

    /// A number written in a text that has been expanded already.
    pub(super) fn number_in(&mut self, text: &str, state: &mut ShellState) -> Option<i64> {
        self.run_substitutions(text, Span::default(), state);
        let mut scope = Scope { interpreter: self, state, unset: false };
        let number = arithmetic::evaluate(text, &mut scope);
        let unset = scope.unset;
        if unset && state.nounset {
            self.leaves_shell(state, true);
        }
        number
    }

    /// Runs the substitutions in a text that the shell expands once more: an index among the arguments of `unset` or
    /// `test -v`, the value of a variable in an expression, a prompt.
    pub(super) fn run_substitutions(&mut self, text: &str, span: Span, state: &ShellState) {
        if !text.contains("$(") && !text.contains('`') && !text.contains("${") || !self.may_nest() {
            return;
        }
        if !self.afford(text.len()) {
            return self.exhaust("the command contains too much nested code");
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
                self.doubting(true, |interpreter| interpreter.value(body, &mut own));
            }
        }
    }

    /// The shell ends here, or may.
    pub(super) fn leaves_shell(&mut self, state: &mut ShellState, perhaps: bool) {
        let shell = self.frames.iter().rposition(|frame| frame.kind == super::FrameKind::Shell).unwrap_or(0);
        self.leave(state, shell, perhaps);
    }
}

/// `whole`: nothing of the word comes after it, so that a tilde with a name is one to its end.
pub(super) fn plain(literal: &Literal, tilde: bool, whole: bool, state: &ShellState, pieces: &mut Vec<WordFragment>) {
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
        Some(home) => WordFragment::text(home, true),
        None if user == "+" => WordFragment::hole(Why::Directory, true),
        None => WordFragment::hole(Why::Home(user.to_owned()), true),
    });
    if !rest.is_empty() {
        let at = literal.at.map(|at| at + end);
        push_literal(pieces, Literal { text: rest.to_owned(), at, ..*literal });
    }
}

/// A run of characters in an assigned value: a tilde is expanded after each colon too.
fn assigned_literal(literal: &Literal, colon: bool, last: bool, state: &ShellState, pieces: &mut Vec<WordFragment>) {
    let mut at = literal.at;
    let segments = literal.text.split(':').count();
    for (count, segment) in literal.text.split(':').enumerate() {
        if count > 0 {
            pieces.push(WordFragment::Text { text: ":".into(), quoted: false, split: false, at });
            at = at.map(|at| at + 1);
        }
        let own = Literal { text: segment.to_owned(), quoted: false, at, ..*literal };
        let tilde = segment.starts_with('~') && (colon || count > 0);
        plain(&own, tilde, last || count + 1 < segments, state, pieces);
        at = at.map(|at| at + segment.len());
    }
}

struct Scope<'w, 'f, 's> {
    interpreter: &'w mut Interpreter<'f>,
    state: &'s mut ShellState,
    /// A name without a value was read.
    unset: bool,
}

impl Numbers for Scope<'_, '_, '_> {
    fn get(&mut self, name: &str) -> Option<String> {
        match self.state.lookup(name) {
            Got::Set(Value::Known(text)) => {
                self.interpreter.run_substitutions(&text, Span::default(), self.state);
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
            Some(number) => self.interpreter.assign(name, Value::Known(number.to_string()), self.state),
            None => {
                let stamp = self.interpreter.change();
                self.state.forget(name, stamp);
            }
        }
    }
}

/// A glob that can find one name only, as `/bin/[r]m`: that name if it is there, else the pattern as it is written.
fn narrowed(word: Word, state: &ShellState) -> Word {
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
    let mut interpreter = Interpreter::new(text, &facts);
    let mut state = ShellState::new(&facts);
    // A word alone says nothing of the command before it.
    state.status = super::state::Status::Unknown;
    let words = interpreter.words(word, &mut state);
    match (words.as_slice(), state.never || state.jump_target != NOWHERE) {
        ([], false) => Some(String::new()),
        ([word], false) => match &word.value {
            Value::Known(text) | Value::Pattern(text) => Some(text.clone()),
            Value::Unknown { .. } => None,
        },
        _ => None,
    }
}
