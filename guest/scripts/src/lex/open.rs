//! Brackets and blocks that are open where a token stands.

use super::context::{after_dot, opens_block};
use crate::Language;
use crate::tokens::{Kind, Tokens};

/// All that are open, from the outermost on.
pub(super) struct Open {
    /// The tokens that opened them.
    pub(super) at: Vec<usize>,
    /// Where the statement in each of them began, and where it may have begun, behind a block; that outside of all first.
    starts: Vec<(usize, usize)>,
}

impl Open {
    pub(super) fn none() -> Self {
        Open { at: Vec::new(), starts: vec![(0, 0)] }
    }

    fn push(&mut self, index: usize) {
        self.at.push(index);
        self.starts.push((index + 1, index + 1));
    }

    fn pop(&mut self) -> Option<usize> {
        self.starts.pop();
        self.at.pop()
    }

    /// Takes note of the token that comes next. Gives the one that it closes.
    pub(super) fn follow(&mut self, language: Language, kind: &Kind, tokens: &mut Tokens) -> Option<usize> {
        let index = tokens.list.len();
        match kind {
            Kind::Mark("(" | "[" | "{") => self.push(index),
            Kind::Mark(";") => {
                if let Some(last) = self.starts.last_mut() {
                    *last = (index + 1, index + 1);
                }
            }
            Kind::Mark(close @ (")" | "]" | "}")) => {
                let opener = match *close {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                let closes = self.at.last().is_some_and(|at| tokens.mark(*at) == Some(opener));
                let pair = if closes { self.pop() } else { None };
                if let Some(last) = self.starts.last_mut().filter(|_| *close == "}") {
                    last.1 = index + 1;
                }
                return pair;
            }
            Kind::Name(name) => match name.as_str() {
                "for" if language == Language::Python => {
                    if let Some(token) = self.at.last().and_then(|at| tokens.list.get_mut(*at)) {
                        token.indent = 1;
                    }
                }
                "for" | "foreach" if language == Language::Perl => {
                    let (first, second) = self.starts.last().copied().unwrap_or((0, 0));
                    for start in [first, second] {
                        if let Some(token) = tokens.list.get_mut(start) {
                            token.indent = index;
                        }
                    }
                }
                "end"
                    if language == Language::Ruby
                        && !after_dot(tokens)
                        && self.at.last().is_some_and(|at| tokens.name(*at).is_some()) =>
                {
                    return self.pop();
                }
                name if language == Language::Ruby && opens_block(name, tokens) => self.push(index),
                _ => {}
            },
            _ => {}
        }
        None
    }
}
