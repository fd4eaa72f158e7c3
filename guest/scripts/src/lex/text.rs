//! Texts of every kind: their delimiters, their escapes, and what is interpolated into them.

use std::ops::Range;
use std::rc::Rc;

use super::{Lexer, Stop, is_word};
use crate::Language;
use crate::tokens::{Kind, Part, Token, Tokens};
use crate::value::{HOLE, HOME};

impl Lexer<'_> {
    /// Python's `rb"..."`.
    pub(super) fn prefixed(&mut self) -> Option<Kind> {
        if self.language != Language::Python {
            return None;
        }
        let rest = self.rest();
        let letters = rest.bytes().take(3).take_while(u8::is_ascii_alphabetic).count();
        let prefix = rest.get(..letters).filter(|prefix| (1..=2).contains(&prefix.len()))?.to_ascii_lowercase();
        if !matches!(prefix.as_str(), "r" | "u" | "b" | "f" | "rb" | "br" | "fr" | "rf" | "t" | "tr" | "rt") {
            return None;
        }
        if !rest.get(letters..)?.starts_with(['\'', '"']) {
            return None;
        }
        self.at += letters;
        Some(self.python_text(&prefix))
    }

    pub(super) fn python_text(&mut self, prefix: &str) -> Kind {
        let rest = self.rest();
        let quote = if rest.starts_with("\"\"\"") {
            "\"\"\""
        } else if rest.starts_with("'''") {
            "'''"
        } else if rest.starts_with('"') {
            "\""
        } else {
            "'"
        };
        self.at += quote.len();
        let raw = prefix.contains('r');
        let format = prefix.contains('f');
        let mut parts = Parts::default();
        loop {
            if self.eat(quote) {
                break;
            }
            let Some(char) = self.next() else {
                self.complete = false;
                break;
            };
            match char {
                '\\' if raw => {
                    parts.text.push('\\');
                    if let Some(char) = self.next() {
                        parts.push(char);
                    }
                }
                '\\' => self.escape(Escapes::Python, &mut parts.text),
                '\n' if quote.len() == 1 => {
                    self.complete = false;
                    break;
                }
                '{' if format && !self.eat("{") => self.format_field(&mut parts),
                '}' if format => {
                    self.eat("}");
                    parts.text.push('}');
                }
                char => parts.push(char),
            }
        }
        Kind::Text(parts.finish())
    }

    fn format_field(&mut self, parts: &mut Parts) {
        let tokens = self.block(Stop::Format);
        let mut plain = !matches!(tokens.mark(tokens.list.len().wrapping_sub(1)), Some("="));
        parts.flush();
        let mut inner = Vec::new();
        // The conversion and the format, in which there may be fields again.
        loop {
            match self.next() {
                None => {
                    self.complete = false;
                    break;
                }
                Some('}') => break,
                Some('!') => {
                    plain &= self.eat("s");
                }
                Some('{') => {
                    plain = false;
                    inner.push(Rc::new(self.block(Stop::Brace)));
                    self.eat("}");
                }
                Some(':') if self.rest().starts_with('}') => {}
                Some(_) => plain = false,
            }
        }
        parts.list.push(Part::Code { tokens: Rc::new(tokens), plain });
        // These are evaluated for their calls; the field is unknown as a whole already.
        parts.list.extend(inner.into_iter().map(|tokens| Part::Code { tokens, plain: false }));
    }

    /// A text between the delimiter that is next and its partner.
    pub(super) fn delimited(&mut self, quote: Quote) -> Kind {
        let Some(open) = self.next() else { return Kind::Opaque };
        Kind::Text(self.until(open, quote))
    }

    fn until(&mut self, open: char, quote: Quote) -> Vec<Part> {
        let close = partner(open);
        let mut level = 0_usize;
        let mut parts = Parts::default();
        loop {
            let Some(char) = self.next() else {
                self.complete = false;
                break;
            };
            if char == close && level == 0 {
                break;
            }
            if open != close {
                if char == open {
                    level += 1;
                } else if char == close {
                    level -= 1;
                }
            }
            self.inside(char, Some(close), quote, &mut parts);
        }
        parts.finish()
    }

    /// One character of a text, and what it introduces.
    fn inside(&mut self, char: char, close: Option<char>, quote: Quote, parts: &mut Parts) {
        match (char, quote.escapes) {
            ('\\', Escapes::None) => {
                parts.text.push('\\');
                // An escaped delimiter does not close a pattern.
                if let Some(char) = self.next() {
                    parts.push(char);
                }
            }
            ('\\', Escapes::Single) => match self.peek() {
                Some(char) if char == '\\' || Some(char) == close => {
                    self.next();
                    parts.push(char);
                }
                _ => parts.text.push('\\'),
            },
            ('\\', escapes) => self.escape(escapes, &mut parts.text),
            (char, escapes) if quote.interpolates => self.interpolated(char, close, escapes, parts),
            (char, _) => parts.push(char),
        }
    }

    fn interpolated(&mut self, char: char, close: Option<char>, escapes: Escapes, parts: &mut Parts) {
        let next = self.peek();
        let begins_name = |char: Option<char>| char.is_some_and(|char| char.is_alphabetic() || char == '_');
        match (escapes, char) {
            (Escapes::Node, '$') | (Escapes::Ruby, '#') if next == Some('{') => {
                self.at += 1;
                self.embedded(parts);
            }
            (Escapes::Ruby, '#') if matches!(next, Some('@' | '$')) => {
                let start = self.at;
                self.skip_while(|char| matches!(char, '@' | '$'));
                self.skip_while(is_word);
                parts.name(self.slice(start), start..self.at);
            }
            (Escapes::Php, '{') if next == Some('$') => self.embedded(parts),
            (Escapes::Php, '$') if next == Some('{') => {
                self.at += 1;
                self.embedded(parts);
            }
            (Escapes::Php, '$') if begins_name(next) => {
                let start = self.at - 1;
                self.skip_while(is_word);
                let name = self.slice(start);
                if self.rest().starts_with('[') || self.rest().starts_with("->") {
                    self.skip_while(|char| matches!(char, '[' | '-' | '>' | '\'') || is_word(char));
                    self.eat("]");
                    parts.text.push(HOLE);
                } else {
                    parts.name(name, start..self.at);
                }
            }
            (Escapes::Perl, '@') if next == Some('{') => {
                self.at += 1;
                self.embedded(parts);
            }
            (Escapes::Perl, '$') if next == Some('{') => {
                let start = self.at;
                self.at += 1;
                let name = self.at;
                self.skip_while(|char| is_word(char) || char == ':' || char == '^');
                if self.at > name && self.rest().starts_with('}') {
                    let name = format!("${}", self.slice(name));
                    self.at += 1;
                    self.subscripts(name, start..self.at, close, parts);
                } else {
                    // `${\ ..}`: the value of an expression.
                    self.at = start + 1;
                    self.embedded(parts);
                }
            }
            (Escapes::Perl, '$' | '@')
                if begins_name(next) || char == '$' && next.is_some_and(|next| next.is_ascii_digit()) =>
            {
                let start = self.at - 1;
                self.skip_while(is_word);
                while self.rest().starts_with("::") {
                    self.at += 2;
                    self.skip_while(is_word);
                }
                let name = self.slice(start);
                self.subscripts(name, start..self.at, close, parts);
            }
            (Escapes::Perl, '$')
                if next.is_some_and(|next| Some(next) != close && matches!(next, '&' | '$' | '!' | '0')) =>
            {
                self.next();
                parts.text.push(HOLE);
            }
            (_, char) => parts.push(char),
        }
    }

    /// Code up to the closing brace.
    fn embedded(&mut self, parts: &mut Parts) {
        let tokens = self.block(Stop::Brace);
        if !self.eat("}") {
            // Nested too deep, or no end: the text's own end is not certain any more.
            self.complete = false;
        }
        parts.flush();
        parts.list.push(Part::Code { tokens: Rc::new(tokens), plain: true });
    }

    /// `$x[0]`, `$x{key}` and `$x->{key}` in a Perl text.
    fn subscripts(&mut self, name: String, at: Range<usize>, close: Option<char>, parts: &mut Parts) {
        let rest = self.rest();
        let arrow = rest.starts_with("->[") || rest.starts_with("->{");
        let open = if arrow { rest.get(2..) } else { Some(rest) };
        let bracket = open.and_then(|open| open.chars().next()).filter(|char| matches!(char, '[' | '{'));
        let Some(bracket) = bracket.filter(|char| close != Some(partner(*char))) else {
            parts.name(name, at);
            return;
        };
        let start = self.at;
        self.at += if arrow { 3 } else { 1 };
        let key = self.at;
        self.skip_while(|char| is_word(char) || matches!(char, '$' | '-' | '\'' | '"' | ':'));
        let key = self.slice(key);
        if self.peek() != Some(partner(bracket)) {
            // A character class or the like, and no subscript.
            self.at = start;
            parts.name(name, at);
            return;
        }
        self.next();
        if name == "$ENV" && key.trim_matches(['\'', '"']) == "HOME" {
            parts.text.push(HOME);
        } else {
            parts.text.push(HOLE);
        }
    }

    /// What a backslash introduces.
    fn escape(&mut self, escapes: Escapes, text: &mut String) {
        let Some(char) = self.next() else {
            text.push('\\');
            return;
        };
        let keeps = matches!(escapes, Escapes::Python | Escapes::Php);
        match char {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'v' if escapes != Escapes::Perl => text.push('\u{b}'),
            'f' => text.push('\u{c}'),
            'a' if matches!(escapes, Escapes::Python | Escapes::Perl | Escapes::Ruby) => text.push('\u{7}'),
            'b' if escapes != Escapes::Php => text.push('\u{8}'),
            'e' if matches!(escapes, Escapes::Perl | Escapes::Ruby | Escapes::Php) => text.push('\u{1b}'),
            's' if escapes == Escapes::Ruby => text.push(' '),
            '\n' if escapes != Escapes::Perl && escapes != Escapes::Php => {}
            'x' => {
                if self.eat("{") {
                    self.braced(text);
                } else {
                    self.code(16, 2, "\\x", text);
                }
            }
            'u' if matches!(escapes, Escapes::Python | Escapes::Node | Escapes::Ruby | Escapes::Php) => {
                self.unicode(text, 4);
            }
            'U' if escapes == Escapes::Python => self.unicode(text, 8),
            'N' if escapes == Escapes::Python => {
                if self.eat("{") {
                    self.skip_past("}");
                }
                text.push(HOLE);
            }
            'N' if escapes == Escapes::Perl && self.rest().starts_with("{U+") => {
                self.at += 3;
                self.braced(text);
            }
            // Quoting and case until `\E`: quoting changes no plain name, case may.
            'Q' | 'E' if escapes == Escapes::Perl => {}
            'U' | 'L' | 'u' | 'l' | 'F' if escapes == Escapes::Perl => text.push(HOLE),
            'c' | 'C' | 'M' if matches!(escapes, Escapes::Perl | Escapes::Ruby) => {
                self.next();
                text.push(HOLE);
            }
            '0'..='7' => {
                self.at -= 1;
                self.code(8, 3, "\\", text);
            }
            '\\' | '\'' | '"' | '$' | '`' => {
                if keeps
                    && (char == '\'' && escapes == Escapes::Php
                        || matches!(char, '$' | '`') && escapes == Escapes::Python)
                {
                    text.push('\\');
                }
                text.push(char);
            }
            char => {
                if keeps {
                    text.push('\\');
                }
                text.push(if char == HOME { HOLE } else { char });
            }
        }
    }

    /// A character given by up to `most` digits.
    fn code(&mut self, radix: u32, most: usize, otherwise: &str, text: &mut String) {
        let digits: String = self.rest().chars().take(most).take_while(|char| char.is_digit(radix)).collect();
        if digits.is_empty() {
            text.push_str(otherwise);
            return;
        }
        self.at += digits.len();
        push_code(u32::from_str_radix(&digits, radix).ok(), text);
    }

    /// `{1f600}`, behind the opening brace; several codes in Ruby.
    fn braced(&mut self, text: &mut String) {
        let rest = self.rest();
        let close = rest.bytes().take(200).position(|byte| byte == b'}');
        let Some(close) = close else {
            text.push(HOLE);
            return;
        };
        let inside = rest.get(..close).unwrap_or_default().to_owned();
        self.at += close + 1;
        for digits in inside.split_whitespace() {
            push_code(u32::from_str_radix(digits, 16).ok(), text);
        }
    }

    pub(super) fn unicode(&mut self, text: &mut String, length: usize) {
        if self.eat("{") {
            self.braced(text);
        } else {
            self.code(16, length, "\\u", text);
        }
    }

    /// `q() qq() qw() qx() m() s()() tr()() y()() qr()`.
    pub(super) fn perl_quote(&mut self, name: &str, tokens: &Tokens) -> Option<Kind> {
        if !matches!(name, "q" | "qq" | "qw" | "qx" | "m" | "s" | "tr" | "y" | "qr") {
            return None;
        }
        let start = self.at;
        let blank = self.skip_while(char::is_whitespace);
        let delimiter = self.peek();
        // `s => 1`, `{s}` and `y = 1` are names.
        let fat = self.rest().starts_with("=>");
        let key = delimiter == Some('}') && matches!(tokens.mark(tokens.list.len().wrapping_sub(1)), Some("{"));
        let plain = delimiter.is_none_or(|char| {
            matches!(char, ',' | ';' | ')')
                || is_word(char) && blank == 0
                || char == '#' && blank > 0
                || char == '=' && blank > 0
        });
        if fat || key || plain {
            self.at = start;
            return None;
        }
        let open = self.next()?;
        let rich = Quote { interpolates: open != '\'', ..Quote::rich(Escapes::Perl) };
        Some(match name {
            "q" => Kind::Text(self.until(open, Quote::plain(Escapes::Single))),
            "qq" => Kind::Text(self.until(open, Quote::rich(Escapes::Perl))),
            "qx" => Kind::Shell(self.until(open, rich)),
            "qw" => Kind::Words(words(self.until(open, Quote::plain(Escapes::Single)))),
            "m" | "qr" => {
                let parts = self.until(open, Quote::plain(Escapes::None));
                self.code_in_pattern(&parts);
                self.skip_while(|char| char.is_ascii_alphabetic());
                Kind::Opaque
            }
            name => {
                let parts = self.until(open, Quote::plain(Escapes::None));
                self.code_in_pattern(&parts);
                let mut second = open;
                if partner(open) != open {
                    self.skip_while(char::is_whitespace);
                    second = self.next()?;
                }
                let from = self.at;
                self.until(second, Quote::plain(Escapes::None));
                let to = self.at.saturating_sub(partner(second).len_utf8()).max(from);
                let flags = self.at;
                self.skip_while(|char| char.is_ascii_alphabetic());
                if name == "s" && self.slice(flags).contains('e') {
                    let (at, end) = (self.at, self.end);
                    (self.at, self.end) = (from, to);
                    let tokens = self.block(Stop::End);
                    (self.at, self.end) = (at, end);
                    if self.slice(flags).matches('e').count() > 1 {
                        self.complete = false;
                    }
                    Kind::Code(Rc::new(tokens))
                } else if self.slice(flags).contains('r') {
                    Kind::Opaque
                } else {
                    Kind::Change
                }
            }
        })
    }

    fn code_in_pattern(&mut self, parts: &[Part]) {
        for part in parts {
            if let Part::Text(text) = part
                && (text.contains("(?{") || text.contains("(??{"))
            {
                self.complete = false;
            }
        }
    }

    /// Ruby's `%w[a b]`, `%q()`, `%Q()`, `%x()`, `%()`.
    pub(super) fn percent(&mut self, operand: bool) -> Option<Kind> {
        let mut chars = self.rest().chars().skip(1);
        let first = chars.next()?;
        let (kind, open) = if first.is_ascii_alphabetic() { (first, chars.next()?) } else { ('Q', first) };
        if open.is_alphanumeric() || open.is_whitespace() || !open.is_ascii() || !operand && open == '=' {
            return None;
        }
        self.at += 1 + usize::from(first.is_ascii_alphabetic());
        self.next();
        let plain = Quote::plain(Escapes::Single);
        let rich = Quote::rich(Escapes::Ruby);
        Some(match kind {
            'w' | 'i' => Kind::Words(words(self.until(open, plain))),
            'W' | 'I' => Kind::Words(words(self.until(open, rich))),
            'q' | 's' => Kind::Text(self.until(open, plain)),
            'x' => Kind::Shell(self.until(open, rich)),
            'r' => {
                self.until(open, rich);
                self.skip_while(|char| char.is_ascii_alphabetic());
                Kind::Opaque
            }
            _ => Kind::Text(self.until(open, rich)),
        })
    }

    /// `<<EOT`, `<<"EOT"`, `<<~EOT`, PHP's `<<<EOT`. Nothing if it is none.
    pub(super) fn heredoc(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let mut tag = rest.strip_prefix(if self.language == Language::Php { "<<<" } else { "<<" })?;
        let mut indented = false;
        if self.language == Language::Php {
            tag = tag.trim_start_matches(' ');
        } else if let Some(after) = tag.strip_prefix(['~', '-']) {
            tag = after;
            indented = true;
        }
        let quote = tag.chars().next().filter(|char| matches!(char, '\'' | '"' | '`'));
        let (name, after) = match quote {
            Some(quote) => {
                let inside = tag.get(1..)?;
                // A tag is on one line, and short.
                let close = inside.bytes().take(100).position(|byte| byte == quote as u8)?;
                (inside.get(..close)?, inside.get(close + 1..)?)
            }
            None => {
                let end = tag.find(|char| !is_word(char)).unwrap_or(tag.len());
                tag.split_at(end)
            }
        };
        let named = name.starts_with(|char: char| char.is_alphabetic() || char == '_') || quote.is_some();
        if !named || name.contains('\n') {
            return None;
        }
        let name = name.to_owned();
        let at = self.end - after.len();
        self.at = at;
        let body = match self.resume {
            Some(resume) if self.language != Language::Php => resume,
            _ => {
                if self.line_end < self.at {
                    self.line_end =
                        self.script.get(self.at..self.end)?.find('\n').map_or(self.end, |line| self.at + line);
                }
                (self.line_end + 1).min(self.end)
            }
        };
        let mut to = body;
        let mut next = self.end;
        let mut closed = false;
        for line in self.script.get(body..self.end)?.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            let trimmed = bare.trim_start();
            let ends = match self.language {
                Language::Php => trimmed.strip_prefix(name.as_str()).is_some_and(|rest| !rest.starts_with(is_word)),
                _ if indented => trimmed == name,
                _ => bare == name,
            };
            if ends {
                closed = true;
                next = match self.language {
                    Language::Php => to + (bare.len() - trimmed.len()) + name.len(),
                    _ => to + line.len(),
                };
                break;
            }
            to += line.len();
        }
        if !closed {
            self.complete = false;
        }
        let escapes = match self.language {
            Language::Php => Escapes::Php,
            Language::Ruby => Escapes::Ruby,
            _ => Escapes::Perl,
        };
        let quote_kind = if quote == Some('\'') {
            Quote { escapes: Escapes::None, interpolates: false }
        } else {
            Quote::rich(escapes)
        };
        let (back, end, resume) = (self.at, self.end, self.resume.take());
        (self.at, self.end) = (body, to);
        let mut parts = Parts::default();
        while let Some(char) = self.next() {
            self.inside(char, None, quote_kind, &mut parts);
        }
        (self.at, self.end, self.resume) = (back, end, resume);
        if self.language == Language::Php {
            self.at = next;
        } else {
            self.resume = Some(next);
        }
        let parts = parts.finish();
        Some(if quote == Some('`') { Kind::Shell(parts) } else { Kind::Text(parts) })
    }
}

fn push_code(code: Option<u32>, text: &mut String) {
    text.push(code.and_then(char::from_u32).filter(|char| *char != HOME).unwrap_or(HOLE));
}

fn partner(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

fn words(parts: Vec<Part>) -> Vec<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(&part),
            Part::Code { .. } => text.push(HOLE),
        }
    }
    text.split_whitespace().map(str::to_owned).collect()
}

/// Which escapes a text has.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Escapes {
    None,
    /// Only the backslash itself and the delimiter.
    Single,
    Python,
    Node,
    Perl,
    Ruby,
    Php,
}

#[derive(Clone, Copy)]
pub(super) struct Quote {
    pub(super) escapes: Escapes,
    pub(super) interpolates: bool,
}

impl Quote {
    pub(super) fn plain(escapes: Escapes) -> Quote {
        Quote { escapes, interpolates: false }
    }

    pub(super) fn rich(escapes: Escapes) -> Quote {
        Quote { escapes, interpolates: true }
    }
}

/// The parts of a text as they come.
#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    text: String,
}

impl Parts {
    fn push(&mut self, char: char) {
        // The mark for the home directory is not for scripts to write.
        self.text.push(if char == HOME { HOLE } else { char });
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.list.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn name(&mut self, name: String, at: Range<usize>) {
        self.flush();
        let token = Token { kind: Kind::Name(name), at, space: false, pair: None, indent: 0 };
        self.list.push(Part::Code { tokens: Rc::new(Tokens { list: vec![token] }), plain: true });
    }

    fn finish(mut self) -> Vec<Part> {
        self.flush();
        self.list
    }
}
