//! Redirects, and the bodies of here-documents.

use std::cell::OnceCell;
use std::rc::Rc;

use super::{Parser, Parsing, Pending};
use crate::syntax::tree::{Descriptor, Literal, Part, Redirect, RedirectOperator, Target, Word};
use crate::syntax::words::Stop;
use crate::word::name_length;

impl Parser<'_> {
    /// The bodies of the heredocs of the line that just ended.
    pub(super) fn documents(&mut self) -> Parsing<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let mut body = String::new();
            let mut body_end = start;
            while self.pos < self.end {
                let mut line = self.line();
                // Where the body is expanded, joined lines are one, for the delimiter too.
                let mut logical = line.to_owned();
                let continued = |line: &str| (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
                while !pending.quoted && continued(line) && self.pos < self.end {
                    logical.pop();
                    line = self.line();
                    logical.push_str(line);
                }
                let logical = if pending.strip { logical.trim_start_matches('\t') } else { &logical };
                if logical == pending.delimiter {
                    break;
                }
                body.push_str(logical);
                // The last line of a body counts as ended, even where the text ends.
                body.push('\n');
                body_end = self.pos;
            }
            let span = self.base.map(start, body_end);
            let written = self.text.get(start..body_end).unwrap_or_default();
            let same = written == body || written.len() + 1 == body.len() && body.starts_with(written);
            let verbatim = same && self.base.opaque.is_none();
            let base = if verbatim { self.base.at(start) } else { self.base.without_place(span) };
            let parts = if pending.quoted {
                let at = verbatim.then_some(base.offset);
                vec![Part::Literal(Literal { text: body, quoted: true, at, made_up: base.made_up })]
            } else {
                let mut inner = self.inside(&body, base);
                let parts = inner.parts(Stop::End, true)?;
                self.joins_of(inner, same.then_some(start))?;
                parts
            };
            // Each body is read once: the cell was made for it.
            let _ = pending.body.set(Word { span, parts });
        }
        Ok(())
    }

    pub(super) fn redirect(&mut self) -> Parsing<Option<Redirect>> {
        let start = self.pos;
        let rest = self.rest().as_bytes();
        // Nearly every word is none, and says so with its first byte.
        if !rest.first().is_some_and(|byte| b"<>&{0123456789".contains(byte)) {
            return Ok(None);
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut fd = Descriptor::Default;
        let mut at = 0;
        if digits > 0 {
            match self.rest()[..digits].parse() {
                Ok(number) if digits < 10 => fd = Descriptor::Number(number),
                _ => return Ok(None),
            }
            at = digits;
        } else if rest[0] == b'{' && !self.base.posix {
            let mut end = 1 + name_length(&self.rest()[1..]);
            if end > 1 && rest.get(end) == Some(&b'[') {
                end = self.index_end(self.pos + end + 1).map_or(end, |close| close + 1 - self.pos);
            }
            if end == 1 || rest.get(end) != Some(&b'}') {
                return Ok(None);
            }
            if self.rest()[..end].contains(['$', '`']) {
                return Err("syntax error: expansion in a file descriptor".to_owned());
            }
            fd = Descriptor::Named;
            at = end + 1;
        }
        let both = fd == Descriptor::Default && rest.starts_with(b"&>") && !self.base.posix;
        if !both && !matches!(rest.get(at), Some(b'<' | b'>')) {
            return Ok(None);
        }
        if matches!(rest.get(at), Some(b'<' | b'>')) && rest.get(at + 1) == Some(&b'(') {
            // It is a part of a word.
            return if self.base.posix { Err(self.unexpected()) } else { Ok(None) };
        }
        self.pos += at;
        if self.base.posix && self.looking_at("<<<") {
            return Err(self.unexpected());
        }
        const OPERATORS: &[(&str, RedirectOperator)] = &[
            ("&>>", RedirectOperator::BothAppend),
            ("&>", RedirectOperator::Both),
            ("<<<", RedirectOperator::HereString),
            ("<<", RedirectOperator::HereDocument),
            ("<&", RedirectOperator::DuplicateInput),
            ("<>", RedirectOperator::ReadWrite),
            ("<", RedirectOperator::Read),
            (">>", RedirectOperator::Append),
            (">&", RedirectOperator::DuplicateOutput),
            (">|", RedirectOperator::Clobber),
            (">", RedirectOperator::Write),
        ];
        let found = OPERATORS.iter().find(|(text, _)| self.take(text));
        let kind = found.map(|(_, kind)| *kind).ok_or_else(|| self.unexpected())?;
        let target = if kind == RedirectOperator::HereDocument {
            let strip = self.take("-");
            self.blanks();
            let begin = self.pos;
            let word = self.word()?.ok_or_else(|| self.unexpected())?;
            let written = self.text.get(begin..self.pos).unwrap_or_default();
            if written.contains("$'") || written.contains("$\"") {
                // To dash and zsh the dollar belongs to it.
                return Err("ambiguous heredoc: shells disagree about where it ends".to_owned());
            }
            let (delimiter, quoted) = self.delimiter(&word)?;
            if strip && delimiter.starts_with('\t') {
                // Its line has no tabs any more when it is compared; shells differ in what is compared to it.
                return Err("ambiguous heredoc: shells disagree about where it ends".to_owned());
            }
            let body = Rc::new(OnceCell::new());
            self.pending.push(Pending { delimiter, quoted, strip, body: Rc::clone(&body) });
            Target::Document(body)
        } else {
            self.blanks();
            let word = self.word()?.ok_or_else(|| self.unexpected())?;
            Target::Word(word)
        };
        Ok(Some(Redirect { fd, kind, target, span: self.base.map(start, self.pos) }))
    }

    /// What zsh takes `>! FILE` and `>!FILE` for: the same redirect to the file. Elsewhere it is to one whose name begins with
    /// the mark, so it is there twice, and a word behind stays an argument.
    pub(super) fn forced(&mut self, redirect: &Redirect, start: usize) -> Parsing<Option<Redirect>> {
        use RedirectOperator::{Append, Both, BothAppend, Write};
        if self.base.posix || !matches!(redirect.kind, Write | Append | Both | BothAppend) {
            return Ok(None);
        }
        let (end, comments) = (self.pos, self.comments.len());
        let written = self.text.get(start..end).unwrap_or_default();
        let operator = written.trim_start_matches(|c: char| c.is_ascii_digit() || "&> \t".contains(c));
        let Some(file) = operator.strip_prefix('!') else { return Ok(None) };
        self.pos = end - file.len();
        if file.is_empty() {
            self.blanks();
        }
        let begin = self.pos;
        let file = self.word()?;
        // What runs in it would be read twice, with its heredocs, and at each depth again.
        if self.text.get(begin..self.pos).unwrap_or_default().contains(['(', '`']) {
            return Err("ambiguous redirection `>!`: shells disagree about the file".to_owned());
        }
        self.comments.truncate(comments);
        self.pos = end;
        let to =
            |file| Redirect { target: Target::Word(file), fd: redirect.fd, kind: redirect.kind, span: redirect.span };
        Ok(file.map(to))
    }

    /// A heredoc's delimiter is not expanded, only its quotes are taken away.
    fn delimiter(&self, word: &Word) -> Parsing<(String, bool)> {
        let quoted = word.parts.iter().any(|part| !matches!(part, Part::Literal(literal) if !literal.quoted));
        match word.literal() {
            Some(text) => Ok((text, quoted)),
            // What would be an expansion stands for itself, but quotes around it do not.
            None if self.base.opaque.is_none() => {
                let local = (word.span.start - self.base.offset)..(word.span.end - self.base.offset);
                let written = self.text.get(local).unwrap_or_default();
                if written.contains(['"', '\'', '\\', '`']) {
                    return Err("syntax error: quoted expansion in a heredoc delimiter".to_owned());
                }
                Ok((written.to_owned(), false))
            }
            None => Err("syntax error: expansion in a heredoc delimiter".to_owned()),
        }
    }
}
