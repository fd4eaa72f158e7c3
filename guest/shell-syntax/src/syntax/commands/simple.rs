//! Simple commands: their assignments and words.

use super::{Parser, Parsing};
use crate::syntax::tree::{Assigned, Assignment, Element, Literal, Node, NodeKind, Part, Word};
use crate::word::{Span, name_length};

/// Programs whose arguments may be array assignments.
const ARRAY_COMMANDS: &[&str] = &["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Parsing<Node> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut declares = false;
        loop {
            self.blanks();
            let start = self.pos;
            if let Some(redirect) = self.redirect()? {
                let forced = self.forced(&redirect, start)?;
                redirects.push(redirect);
                redirects.extend(forced);
            } else if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
            } else if declares && let Some(word) = self.array_argument()? {
                words.push(word);
            } else if let Some(word) = self.word()? {
                if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
                    self.blanks();
                    if self.take("(") {
                        self.blanks();
                        self.expect(")")?;
                        return Ok(Node { span: word.span, kind: self.function(&word)?, redirects });
                    }
                }
                if words.is_empty() {
                    let written = self.text.get(start..self.pos).unwrap_or_default();
                    self.joins.split |= written.trim_start_matches("\\\n").trim_end_matches("\\\n").contains("\\\n");
                }
                declares |= words.is_empty() && word.plain().is_some_and(|text| ARRAY_COMMANDS.contains(&text));
                words.push(word);
            } else {
                break;
            }
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Node { span: Span::default(), kind: NodeKind::Simple { assignments, words }, redirects })
    }

    /// `a=(1 2)` after `declare`.
    fn array_argument(&mut self) -> Parsing<Option<Word>> {
        let start = self.pos;
        // Looked at before it is read: a word that is read twice has its heredocs twice, and takes twice the time at each
        // depth.
        let behind = &self.rest()[name_length(self.rest())..];
        if !behind.strip_prefix('+').unwrap_or(behind).starts_with("=(") {
            return Ok(None);
        }
        if let Some(Assignment { name, append, index: None, value: Assigned::Array(elements), .. }) =
            self.assignment()?
        {
            let text = format!("{name}{}=", if append { "+" } else { "" });
            let name = Part::Literal(Literal { text, quoted: false, at: None, made_up: self.base.made_up });
            return Ok(Some(Word { span: self.base.map(start, self.pos), parts: vec![name, Part::Array(elements)] }));
        }
        self.pos = start;
        Ok(None)
    }

    fn assignment(&mut self) -> Parsing<Option<Assignment>> {
        let start = self.pos;
        let name = &self.rest()[..name_length(self.rest())];
        if name.is_empty() {
            return Ok(None);
        }
        let mut at = start + name.len();
        let mut index_range = None;
        if self.base.posix && self.byte_at(at) != Some(b'=') {
            return Ok(None);
        }
        if self.byte_at(at) == Some(b'[') {
            let Some(end) = self.index_end(at + 1) else { return Ok(None) };
            index_range = Some((at + 1, end));
            at = end + 1;
        }
        let append = self.byte_at(at) == Some(b'+');
        at += usize::from(append);
        if self.byte_at(at) != Some(b'=') {
            return Ok(None);
        }
        let index = match index_range {
            Some((from, to)) => Some(self.expression(from, to)?),
            None => None,
        };
        self.pos = at + 1;
        let value = if !self.base.posix && self.take("(") {
            Assigned::Array(self.elements()?)
        } else {
            Assigned::Scalar(self.word()?.unwrap_or(Word { span: self.base.map(at + 1, at + 1), parts: Vec::new() }))
        };
        let span = self.base.map(start, self.pos);
        Ok(Some(Assignment { name: name.to_owned(), index, append, value, span }))
    }

    fn elements(&mut self) -> Parsing<Vec<Element>> {
        let mut elements = Vec::new();
        loop {
            self.newlines()?;
            if self.take(")") {
                return Ok(elements);
            }
            let start = self.pos;
            let mut index = None;
            if self.take("[") {
                match self.index_end(self.pos) {
                    Some(end) if self.byte_at(end + 1) == Some(b'=') => {
                        index = Some(self.expression(self.pos, end)?);
                        self.pos = end + 2;
                    }
                    _ => self.pos = start,
                }
            }
            let word = match (self.word()?, &index) {
                (Some(word), _) => word,
                (None, Some(_)) => Word::default(),
                (None, None) => return Err(self.unexpected()),
            };
            elements.push(Element { index, word });
        }
    }
}
