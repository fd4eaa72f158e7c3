//! Conditions on what is known: `[ ]`, `test`, `[[ ]]`.

use std::rc::Rc;

use super::path_resolution::located_at;
use super::state::ShellState;
use super::word_fragments::WordFragment;
use super::{Interpreter, regex};
use crate::abstract_value::{Content, Variable};
use crate::facts::Presence;
use toolgate_shell_syntax::glob::Pattern;
use toolgate_shell_syntax::syntax::{self, Test};
use toolgate_shell_syntax::word::{Value, Word};

/// What bash puts into this is what the last `=~` found: all of it, and each group.
const REMATCH: &str = "BASH_REMATCH";

impl Interpreter<'_> {
    /// `[[ ]]`. Every part is looked at, since commands may stand in it.
    pub(super) fn test(&mut self, test: &Test, state: &mut ShellState) -> Option<bool> {
        match test {
            Test::Or(a, b) => {
                let left = self.test(a, state);
                let right = self.guarded_test(b, left.map(|left| !left), state);
                match (left, right) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                }
            }
            Test::And(a, b) => {
                let left = self.test(a, state);
                let right = self.guarded_test(b, left, state);
                match (left, right) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                }
            }
            Test::Not(inner) => self.test(inner, state).map(|holds| !holds),
            Test::Word(word) => {
                let word = self.subject(word, state);
                Some(!word.known()?.is_empty())
            }
            Test::Unary(operator, word) => {
                let word = self.subject(word, state);
                if operator == "-v" {
                    self.run_indexes(std::slice::from_ref(&word), state);
                }
                unary(operator, word.known()?, state)
            }
            Test::Binary(operator, a, b) => {
                let left = self.subject(a, state);
                match operator.as_str() {
                    "=" | "==" | "!=" => {
                        let pattern = Pattern::new(&self.pattern(b, state)?)?;
                        Some(pattern.matches(left.known()?) == (operator != "!="))
                    }
                    "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                        // Both sides are expressions here.
                        let right = self.subject(b, state);
                        let mut side = |word: &Word| match word.known().map(str::to_owned) {
                            Some(text) => self.number_in(&text, state),
                            None => None,
                        };
                        let (a, b) = (side(&left), side(&right));
                        compare(operator, a?, b?)
                    }
                    "=~" => {
                        let expression = self.expression(b, state);
                        let found = expression.and_then(|expression| regex::groups(&expression, left.known()?));
                        let unknown = Variable::unknown(REMATCH);
                        let content = match found {
                            Some(groups) => {
                                let values = groups.into_iter().map(Value::Known).collect();
                                Content::Array(Rc::new(values)).or(&unknown.content, REMATCH, false)
                            }
                            None => unknown.content.clone(),
                        };
                        let stamp = self.change();
                        state.put(REMATCH, Variable { content, ..unknown }, stamp);
                        None
                    }
                    _ => {
                        self.subject(b, state);
                        None
                    }
                }
            }
        }
    }

    /// A word as a regular expression, its quoted characters escaped. `None` if it is not known.
    fn expression(&mut self, word: &syntax::Word, state: &mut ShellState) -> Option<String> {
        let mut text = String::new();
        for piece in self.pieces(&word.parts, false, true, state) {
            match piece {
                WordFragment::Text { text: part, quoted: true, .. } => {
                    part.chars().for_each(|c| text.extend(['\\', c]));
                }
                WordFragment::Text { text: part, .. } => text.push_str(&part),
                _ => return None,
            }
        }
        Some(text).filter(|_| !state.nocasematch)
    }

    /// The second side, which is only looked at if the first says so.
    fn guarded_test(&mut self, test: &Test, reached: Option<bool>, state: &mut ShellState) -> Option<bool> {
        let mut own = state.clone();
        own.never |= reached == Some(false);
        let holds = self.doubting(reached.is_none(), |interpreter| interpreter.test(test, &mut own));
        if reached != Some(false) {
            let stamp = self.change();
            *state = if reached.is_none() { state.clone().merge(own, stamp) } else { own };
        }
        holds
    }

    /// `[ ]` and `test` on words; `None` if only the run can tell.
    pub(super) fn test_words(&self, words: &[Word], state: &ShellState) -> Option<bool> {
        let mut texts = Vec::new();
        for word in words {
            texts.push(word.known().filter(|_| !word.several)?);
        }
        let (program, mut rest) = texts.split_first()?;
        if program.ends_with('[') {
            rest = rest.strip_suffix(&["]"])?;
        }
        classic(rest, state)
    }
}

fn classic(words: &[&str], state: &ShellState) -> Option<bool> {
    match words {
        [] => Some(false),
        [one] => Some(!one.is_empty()),
        ["!", rest @ ..] if rest.len() < 4 => classic(rest, state).map(|holds| !holds),
        [operator, word] if operator.len() == 2 && operator.starts_with('-') => unary(operator, word, state),
        [a, "=" | "==", b] => Some(a == b),
        [a, "!=", b] => Some(a != b),
        [a, operator @ ("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"), b] => {
            compare(operator, a.parse().ok()?, b.parse().ok()?)
        }
        _ => None,
    }
}

fn compare(operator: &str, a: i64, b: i64) -> Option<bool> {
    Some(match operator {
        "-eq" => a == b,
        "-ne" => a != b,
        "-lt" => a < b,
        "-le" => a <= b,
        "-gt" => a > b,
        "-ge" => a >= b,
        _ => return None,
    })
}

fn unary(operator: &str, word: &str, state: &ShellState) -> Option<bool> {
    let look = || {
        if word.is_empty() {
            return Presence::Absent;
        }
        located_at(word, state).map_or(Presence::Unknown, |place| state.files.sure(&place))
    };
    match operator {
        "-z" => Some(word.is_empty()),
        "-n" => Some(!word.is_empty()),
        "-e" | "-f" | "-d" | "-a" => match (operator, look()) {
            (_, Presence::Unknown) => None,
            (_, Presence::Absent) => Some(false),
            ("-f", presence) => Some(presence == Presence::File),
            ("-d", presence) => Some(presence == Presence::Folder),
            _ => Some(true),
        },
        _ => None,
    }
}
