//! A place in tokens, and what stands there.

use std::ops::Range;
use std::rc::Rc;

use super::tokens::{Kind, Token, Tokens};

/// A place in tokens.
pub(super) struct Cursor<'t> {
    pub(super) tokens: &'t Rc<Tokens>,
    pub(super) at: usize,
    pub(super) end: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn all(tokens: &'t Rc<Tokens>) -> Cursor<'t> {
        Cursor { tokens, at: 0, end: tokens.list.len() }
    }

    pub(super) fn token(&self) -> Option<&'t Token> {
        if self.at < self.end { self.tokens.list.get(self.at) } else { None }
    }

    pub(super) fn kind(&self) -> Option<&'t Kind> {
        self.token().map(|token| &token.kind)
    }

    pub(super) fn mark(&self) -> Option<&'static str> {
        self.mark_at(0)
    }

    pub(super) fn mark_at(&self, offset: usize) -> Option<&'static str> {
        if self.at + offset < self.end { self.tokens.mark(self.at + offset) } else { None }
    }

    pub(super) fn name(&self) -> Option<&'t str> {
        self.name_at(0)
    }

    pub(super) fn name_at(&self, offset: usize) -> Option<&'t str> {
        if self.at + offset < self.end { self.tokens.name(self.at + offset) } else { None }
    }

    /// The name at `from`, if nothing else stands before this place.
    pub(super) fn name_before(&self, from: usize) -> Option<&'t str> {
        self.tokens.name(from).filter(|_| self.at == from + 1)
    }

    pub(super) fn space(&self) -> bool {
        self.token().is_some_and(|token| token.space)
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.mark() == Some(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_name(&mut self, name: &str) -> bool {
        let found = self.name() == Some(name);
        self.at += usize::from(found);
        found
    }

    pub(super) fn lines(&mut self) {
        while matches!(self.kind(), Some(Kind::Line)) {
            self.at += 1;
        }
    }

    /// Where the bracket here closes, or the end.
    pub(super) fn close(&self) -> usize {
        self.close_of(self.at)
    }

    pub(super) fn close_of(&self, at: usize) -> usize {
        self.tokens.list.get(at).and_then(|token| token.pair).unwrap_or(self.end).min(self.end)
    }

    /// The tokens from `from` to here, as bytes.
    pub(super) fn span(&self, from: usize) -> Range<usize> {
        let last = self.at.saturating_sub(1).max(from);
        let start = self.tokens.list.get(from).map_or(0, |token| token.at.start);
        let end = self.tokens.list.get(last).map_or(start, |token| token.at.end);
        start..end.max(start)
    }

    pub(super) fn part(&self, from: usize, to: usize) -> Cursor<'t> {
        Cursor { tokens: self.tokens, at: from.min(to), end: to.min(self.end) }
    }
}

/// What stands between the commas, where anything does.
pub(super) fn split<'t>(c: &Cursor<'t>) -> Vec<Cursor<'t>> {
    let mut parts = places(c);
    parts.retain(|part| part.at < part.end);
    parts
}

/// What stands between the commas, with the places where nothing does.
pub(super) fn places<'t>(c: &Cursor<'t>) -> Vec<Cursor<'t>> {
    let mut parts = Vec::new();
    let mut from = c.at;
    let mut at = c.at;
    while at < c.end {
        match c.tokens.mark(at) {
            Some("(" | "[" | "{") => at = c.close_of(at),
            Some(",") => {
                parts.push(c.part(from, at));
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(c.part(from, c.end));
    parts
}

/// Where the `=` is behind which the default value of a target stands.
pub(super) fn default_at(c: &Cursor<'_>) -> Option<usize> {
    let mut at = c.at;
    while at < c.end {
        match c.tokens.mark(at) {
            Some("(" | "[" | "{") => at = c.close_of(at),
            Some("=") => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
