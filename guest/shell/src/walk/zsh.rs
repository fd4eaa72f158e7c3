//! What zsh reads otherwise than bash: it may be the user's own shell, in which the agent runs its text. A pipeline in which
//! that makes a difference is run both ways. Not the builtins that only zsh has, and not what its options change.
//!
//! | Written | bash | zsh |
//! |---|---|---|
//! | `$a`, an array | its first element | each of its elements |
//! | `${a[1]}` | the second | the first |
//! | `$a[1]`, `$a[1,2]` | the first element, then a pattern | an element or several; of a text, characters |
//! | `$a:h`, `${a:t}` | the value, then text; a part from a number on | the folder, the name and so on of the value |
//! | `*(N)`, `*(e:'rm a':)` | does not parse | what the pattern finds; a text is run for each |
//! | `a \| read b` | in a subshell | in the shell itself |

use super::Walk;
use super::expand::{Piece, push_literal, push_value};
use super::parameter::{Got, many};
use super::state::{Content, State};
use crate::syntax::{self, Assigned, Index, Literal, Node, NodeKind, Operation, Parameter, Part, Pipeline};
use crate::word::{Value, Why, Word};

/// Letters that stand for a part of a path after a colon, or change it.
const MODIFIERS: &str = "aAcefghlPpqQrstux";

/// Builtins that set something in the shell which runs them.
const SETTERS: &[&str] =
    &["cd", "declare", "eval", "export", "mapfile", "read", "readarray", "set", "source", "typeset", "."];

impl Walk<'_> {
    /// Whether the text at hand is read as zsh does.
    pub(super) fn is_zsh(&self) -> bool {
        self.zsh == Some(true)
    }

    /// Whether the last command of a pipeline may change the shell itself.
    pub(super) fn last_may_set(&self, last: &Node) -> bool {
        let sets = match &last.kind {
            NodeKind::Simple { words, .. } => {
                words.first().and_then(syntax::Word::plain).is_none_or(|name| SETTERS.contains(&name))
            }
            NodeKind::Subshell(_) => false,
            _ => true,
        };
        self.may_be_zsh && sets
    }

    /// The pieces of a parameter with what stands behind it, if that belongs to it; what is left of that.
    pub(super) fn with_subscript(
        &mut self,
        parameter: &Parameter,
        next: &Literal,
        quoted: bool,
        state: &mut State,
        pieces: &mut Vec<Piece>,
    ) -> Option<Literal> {
        let plain = parameter.index.is_none() && !parameter.indirect && matches!(parameter.operation, Operation::None);
        let content = state.get(&parameter.name).filter(|_| plain && !state.wild)?.content.clone();
        let left = |taken: usize| Literal {
            text: next.text.get(taken..).unwrap_or_default().to_owned(),
            quoted: next.quoted,
            at: next.at.map(|at| at + taken),
        };
        if next.text.starts_with('[') {
            let close = next.text.find(']')?;
            let range = self.range(next.text.get(1..close)?, state);
            match (content, range) {
                (Content::Array(values), Some(range)) => {
                    many(pieces, &slice(&values, range), false, quoted, state);
                }
                // Any of them, then.
                (Content::Array(values), None) => many(pieces, &values, false, quoted, state),
                (Content::Text(Value::Known(text)), Some(range)) => {
                    let characters: Vec<char> = text.chars().collect();
                    let part: String = slice(&characters, range).into_iter().collect();
                    push_value(pieces, Value::Known(part), quoted);
                }
                (Content::Text(_), _) => pieces.push(Piece::hole(Why::Expansion, quoted)),
                _ => return None,
            }
            return Some(left(close + 1));
        }
        let mut taken = 0;
        let mut values = match content {
            Content::Text(value) => vec![value],
            Content::Array(values) => values.to_vec(),
            _ => return None,
        };
        while let Some(letter) = modifier(next.text.get(taken..)?) {
            values.iter_mut().for_each(|value| *value = modified(value, letter));
            taken += 2;
        }
        (taken > 0).then(|| {
            many(pieces, &values, false, quoted, state);
            left(taken)
        })
    }

    /// What `[1]` or `[2,-1]` stands for: the first and the last, counted from one.
    fn range(&mut self, text: &str, state: &mut State) -> Option<(i64, i64)> {
        if matches!(text, "@" | "*") {
            return Some((1, -1));
        }
        let (from, to) = text.split_once(',').unwrap_or((text, text));
        Some((self.number_in(from, state)?, self.number_in(to, state)?))
    }

    /// `${a:h}`: what the letter makes of the value.
    pub(super) fn with_modifier(&self, got: &Got, offset: &syntax::Word) -> Option<Got> {
        let letter = offset.literal().filter(|text| self.is_zsh() && text.len() == 1)?.chars().next()?;
        match got {
            Got::Set(value) if MODIFIERS.contains(letter) => Some(Got::Set(modified(value, letter))),
            _ => None,
        }
    }

    /// A word with qualifiers behind it, as `*(N)`: its pieces without them. The commands that they hold are run.
    pub(super) fn qualified(&mut self, parts: &[Part], state: &mut State) -> Option<Vec<Piece>> {
        let (at, from) = qualifiers(parts)?;
        let Some(Part::Literal(opening)) = parts.get(at) else { return None };
        let mut own = Vec::new();
        let before = opening.text.get(..from)?;
        let start = Literal { text: before.to_owned(), quoted: false, at: opening.at };
        if at == 0 && before.starts_with('~') {
            super::expand::plain(&start, true, true, state, &mut own);
        } else {
            own = self.pieces(parts.get(..at)?, false, true, state);
            if !before.is_empty() {
                push_literal(&mut own, start);
            }
        }
        // What finds nothing is no word, and not the pattern itself: it counts as one all the same.
        let rest = parts.get(at + 1..).unwrap_or_default();
        let rest = rest.iter().map(|part| match part {
            Part::Literal(literal) => literal.text.clone(),
            _ => Value::HOLE.to_string(),
        });
        let inside = opening.text.get(from + 1..)?.to_owned() + &rest.collect::<String>();
        if let Some(text) = inside.strip_suffix(')').and_then(command_in)
            && self.may_nest()
        {
            let text = match text.contains(Value::HOLE) {
                true => Word::unknown(Why::Expansion, Default::default()),
                false => Word::new(text, Default::default()),
            };
            let here = state.clone();
            self.doubting(true, |walk| {
                walk.inside("()", |walk| walk.text(&text, |walk, list| drop(walk.shell(list, here))));
            });
        }
        Some(own)
    }
}

/// The text that qualifiers have run: `e:TEXT:` with any character for the colons, or `+NAME`.
fn command_in(qualifiers: &str) -> Option<String> {
    if let Some((_, name)) = qualifiers.split_once('+') {
        return Some(name.to_owned());
    }
    let (_, text) = qualifiers.split_once('e')?;
    let mark = text.chars().next()?;
    let text = text.get(mark.len_utf8()..)?;
    Some(text.split(mark).next().unwrap_or(text).to_owned())
}

/// Where qualifiers begin: in which part, and at which byte of it.
fn qualifiers(parts: &[Part]) -> Option<(usize, usize)> {
    let unquoted = |part: &Part| match part {
        Part::Literal(literal) if !literal.quoted => Some(literal.text.clone()),
        _ => None,
    };
    unquoted(parts.last()?).filter(|text| text.ends_with(')'))?;
    let found = parts.iter().enumerate().find_map(|(at, part)| Some((at, unquoted(part)?.find('(')?)))?;
    (found != (0, 0)).then_some(found)
}

fn modifier(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let letter = (characters.next() == Some(':')).then(|| characters.next()).flatten()?;
    MODIFIERS.contains(letter).then_some(letter)
}

fn modified(value: &Value, letter: char) -> Value {
    let Value::Known(text) = value else { return Value::hole(Why::Expansion) };
    let trimmed = text.trim_end_matches('/');
    let changed = match (letter, trimmed.rsplit_once('/')) {
        ('h', Some(("", _))) => "/",
        ('h', Some((folder, _))) => folder,
        ('h', None) => ".",
        ('t', Some((_, name))) => name,
        ('t', None) => trimmed,
        ('r', _) => match text.rsplit_once('.') {
            Some((root, extension)) if !extension.contains('/') => root,
            _ => text,
        },
        ('l' | 'u' | 'q' | 'Q' | 'a' | 'A' | 'P' | 'x', _) if !text.contains(char::is_whitespace) => text,
        _ => return Value::hole(Why::Expansion),
    };
    Value::Known(changed.to_owned())
}

/// From one place to another, counted from one or, below zero, from the end.
fn slice<T: Clone>(all: &[T], (from, to): (i64, i64)) -> Vec<T> {
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let place = |number: i64| if number < 0 { count + number } else { number - 1 };
    let (from, to) = (place(from).max(0), place(to));
    let inside = |at: &usize| i64::try_from(*at).is_ok_and(|at| from <= at && at <= to);
    all.iter().enumerate().filter(|(at, _)| inside(at)).map(|(_, one)| one.clone()).collect()
}

/// Whether zsh reads something in a pipeline otherwise.
pub(super) fn differs(pipeline: &Pipeline, state: &State) -> bool {
    pipeline.commands.iter().any(|node| match &node.kind {
        NodeKind::Simple { assignments, words } => {
            let scalars = assignments.iter().filter_map(|assignment| match &assignment.value {
                Assigned::Scalar(word) => Some(word),
                Assigned::Array(_) => None,
            });
            words.iter().any(|word| qualifiers(&word.parts).is_some())
                || words.iter().chain(scalars).any(|word| word_differs(&word.parts, false, state))
                || node.redirects.iter().any(|redirect| match &redirect.target {
                    syntax::Target::Word(word) => word_differs(&word.parts, false, state),
                    syntax::Target::Document(_) => false,
                })
        }
        NodeKind::For { words: Some(words), .. } => {
            words.iter().any(|word| qualifiers(&word.parts).is_some() || word_differs(&word.parts, false, state))
        }
        _ => false,
    })
}

fn word_differs(parts: &[Part], quoted: bool, state: &State) -> bool {
    parts.iter().enumerate().any(|(at, part)| match part {
        Part::Double(parts) => word_differs(parts, true, state),
        Part::Parameter(parameter) => {
            let content = state.get(&parameter.name).map(|variable| &variable.content);
            let next = parts.get(at + 1).and_then(|next| match next {
                Part::Literal(literal) => Some(literal.text.as_str()),
                _ => None,
            });
            let continues = next.is_some_and(|next| next.starts_with('[') || modifier(next).is_some());
            match (&parameter.index, &parameter.operation, content) {
                (None, _, Some(Content::Array(_) | Content::Text(_))) if continues => true,
                (None, Operation::Substring { offset, length: None }, Some(Content::Text(_))) => {
                    offset.literal().is_some_and(|text| text.len() == 1 && text.chars().all(char::is_alphabetic))
                }
                (None, _, Some(Content::Array(values))) => values.len() > 1 && !quoted && !parameter.indirect,
                (Some(Index::Word(word)), _, Some(Content::Array(values))) => {
                    values.len() > 1 && word.plain() != Some("0")
                }
                _ => false,
            }
        }
        _ => false,
    })
}
