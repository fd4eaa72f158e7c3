//! Compound commands: groups, branches, loops, functions, coprocesses.

use std::rc::Rc;

use super::{Parser, Parsing};
use crate::syntax::tree::{Arm, ArmEnd, List, NodeKind, Word};
use crate::word::name_length;

impl Parser<'_> {
    pub(super) fn compound(&mut self) -> Parsing<Option<NodeKind>> {
        if self.byte() == Some(b'(') {
            if self.looking_at("((")
                && !self.base.posix
                && let Some(end) = self.arithmetic_end(self.pos + 2)
            {
                let expression = self.expression(self.pos + 2, end)?;
                self.pos = end + 2;
                return Ok(Some(NodeKind::Arithmetic(expression)));
            }
            self.pos += 1;
            let list = self.list()?;
            self.expect(")")?;
            return Ok(Some(NodeKind::Subshell(list)));
        }
        let Some(word) = self.keyword() else { return Ok(None) };
        let start = self.pos;
        self.pos += word.len();
        let kind = match word {
            "{" => {
                let list = self.list()?;
                self.expect_keyword("}")?;
                NodeKind::Group(list)
            }
            "if" => self.conditional()?,
            "while" | "until" => {
                let condition = self.list()?;
                let body = self.body()?;
                NodeKind::Loop { until: word == "until", condition, body }
            }
            "for" => self.counted()?,
            "select" => self.chosen(true)?,
            "case" => self.case()?,
            "[[" => {
                let test = self.test_or()?;
                self.newlines()?;
                self.expect("]]")?;
                NodeKind::Test(test)
            }
            "function" => {
                self.blanks();
                let name = self.word()?.ok_or_else(|| self.unexpected())?;
                self.blanks();
                let start = self.pos;
                if self.take("(") {
                    self.blanks();
                    // Without a closing one it is a subshell for a body.
                    if !self.take(")") {
                        self.pos = start;
                    }
                }
                self.function(&name)?
            }
            "coproc" => self.coprocess()?,
            _ => {
                self.pos = start;
                return Ok(None);
            }
        };
        Ok(Some(kind))
    }

    fn conditional(&mut self) -> Parsing<NodeKind> {
        let mut clauses = Vec::new();
        loop {
            let condition = self.list()?;
            self.expect_keyword("then")?;
            clauses.push((condition, self.list()?));
            if self.take_keyword("elif") {
                continue;
            }
            let otherwise = if self.take_keyword("else") { Some(self.list()?) } else { None };
            self.expect_keyword("fi")?;
            return Ok(NodeKind::If { clauses, otherwise });
        }
    }

    /// `do .. done`, or braces where bash takes them too.
    fn body(&mut self) -> Parsing<List> {
        self.newlines()?;
        let closer = if self.take_keyword("do") {
            "done"
        } else {
            self.expect_keyword("{")?;
            "}"
        };
        let list = self.list()?;
        self.expect_keyword(closer)?;
        Ok(list)
    }

    fn counted(&mut self) -> Parsing<NodeKind> {
        self.blanks();
        if !self.looking_at("((") {
            return self.chosen(false);
        }
        let end = self.arithmetic_end(self.pos + 2).ok_or_else(|| self.unexpected())?;
        let inside = self.text.get(self.pos + 2..end).unwrap_or_default();
        let mut parts = [None, None, None];
        let mut at = self.pos + 2;
        for (part, text) in parts.iter_mut().zip(clauses(inside)) {
            if !text.trim().is_empty() {
                *part = Some(self.expression(at, at + text.len())?);
            }
            at += text.len() + 1;
        }
        self.pos = end + 2;
        self.blanks();
        self.take(";");
        Ok(NodeKind::Count { parts, body: self.body()? })
    }

    fn chosen(&mut self, select: bool) -> Parsing<NodeKind> {
        self.blanks();
        let name = self.word()?.and_then(|word| word.plain().map(str::to_owned)).ok_or_else(|| self.unexpected())?;
        self.newlines()?;
        let mut words = None;
        if self.take_keyword("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                match self.word()? {
                    Some(word) => list.push(word),
                    None => break,
                }
            }
            words = Some(list);
        }
        self.blanks();
        if !self.looking_at(";;") {
            self.take(";");
        }
        Ok(NodeKind::For { name, words, body: self.body()?, select })
    }

    fn case(&mut self) -> Parsing<NodeKind> {
        self.blanks();
        let subject = self.word()?.ok_or_else(|| self.unexpected())?;
        self.newlines()?;
        self.expect_keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.take_keyword("esac") {
                return Ok(NodeKind::Case { subject, arms });
            }
            self.take("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                patterns.push(self.word()?.ok_or_else(|| self.unexpected())?);
                self.blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            let body = self.list()?;
            let end = if self.take(";;&") {
                ArmEnd::TryNext
            } else if self.take(";&") {
                ArmEnd::FallThrough
            } else {
                self.take(";;");
                ArmEnd::Leave
            };
            arms.push(Arm { patterns, body, end });
        }
    }

    pub(super) fn function(&mut self, name: &Word) -> Parsing<NodeKind> {
        let name = name.literal().ok_or_else(|| self.unexpected())?;
        self.newlines()?;
        let body = self.node()?;
        if matches!(body.kind, NodeKind::Simple { .. }) {
            return Err(self.unexpected());
        }
        Ok(NodeKind::Function { name, body: Rc::new(body) })
    }

    fn coprocess(&mut self) -> Parsing<NodeKind> {
        self.blanks();
        let start = self.pos;
        let mut name = "COPROC".to_owned();
        // A name stands only before a compound command.
        let named = name_length(self.rest());
        if !self.starts_compound() && named > 0 {
            let comments = self.comments.len();
            self.pos += named;
            let ends = matches!(self.byte(), Some(b' ' | b'\t'));
            self.blanks();
            if ends && self.starts_compound() {
                self.text.get(start..start + named).unwrap_or_default().clone_into(&mut name);
            } else {
                self.comments.truncate(comments);
                self.pos = start;
            }
        }
        Ok(NodeKind::Coprocess { name, body: Box::new(self.node()?) })
    }

    fn starts_compound(&self) -> bool {
        const OPENERS: &[&str] = &["{", "if", "while", "until", "for", "select", "case", "[["];
        self.byte() == Some(b'(') || self.keyword().is_some_and(|word| OPENERS.contains(&word))
    }
}

/// The three parts of `for (( ))`: a semicolon inside parentheses or quotes is none of theirs.
fn clauses(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'\'' | b'"' if quote.is_none() => quote = Some(byte),
            byte if Some(byte) == quote => quote = None,
            b';' if depth == 0 && quote.is_none() && parts.len() < 2 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
