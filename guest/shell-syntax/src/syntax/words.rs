//! Quotes and expansions of one word.

use std::iter::Peekable;
use std::str::Chars;

use super::commands::{Parser, Parsing, is_meta};
use super::tree::{Index, Literal, Operation, Parameter, Part, Word};
use crate::word::name_length;

/// Longest index that is looked for.
const MAX_INDEX: usize = 1_024;

/// Where a word ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// At a blank or an operator.
    Word,
    /// As a word, but parentheses and `|` belong to it.
    Regex,
    /// At the closing double quote.
    Quote,
    /// At the closing brace of `${`.
    Brace,
    /// There, or at the `/` before a replacement.
    Slash,
    /// There, or at the `:` before a length.
    Colon,
    /// At the end of the text; quotes mean nothing.
    End,
    /// At the end of the text; double quotes are taken away.
    Expression,
}

/// Characters that are collected until something else comes.
#[derive(Default)]
struct Run {
    text: String,
    at: Option<usize>,
    /// The next byte that belongs to it without a gap.
    next: usize,
}

impl Run {
    fn flush(&mut self, parts: &mut Vec<Part>, quoted: bool, made_up: bool) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            parts.push(Part::Literal(Literal { text, quoted, at: self.at, made_up }));
        }
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl Parser<'_> {
    fn position(&self, at: usize) -> Option<usize> {
        self.base.opaque.is_none().then_some(self.base.offset + at)
    }

    /// Adds the text from here to `to`.
    fn collect(&mut self, run: &mut Run, parts: &mut Vec<Part>, quoted: bool, to: usize) {
        if run.next != self.pos {
            run.flush(parts, quoted, self.base.made_up);
        }
        if run.text.is_empty() {
            run.at = self.position(self.pos);
        }
        run.text.push_str(self.text.get(self.pos..to).unwrap_or_default());
        self.pos = to;
        run.next = to;
    }

    /// The parts of a word. `quoted`: as between double quotes, where single ones mean nothing.
    pub(super) fn parts(&mut self, stop: Stop, quoted: bool) -> Parsing<Vec<Part>> {
        self.deeper()?;
        let mut parts = Vec::new();
        let mut run = Run::default();
        let start = self.pos;
        let mut group = 0usize;
        let mut before = b' ';
        while let Some(byte) = self.byte() {
            let ends = match stop {
                Stop::Word => group == 0 && is_meta(byte),
                Stop::Regex => group == 0 && (is_meta(byte) && !b"(|<>".contains(&byte)),
                Stop::Quote => byte == b'"',
                Stop::Brace => byte == b'}',
                Stop::Slash => byte == b'}' || (byte == b'/' && self.pos > start),
                Stop::Colon => byte == b'}' || (byte == b':' && group == 0),
                Stop::End | Stop::Expression => false,
            };
            let next = self.byte_at(self.pos + 1);
            let process = matches!(byte, b'<' | b'>') && next == Some(b'(') && !quoted && stop != Stop::Regex;
            if process {
                run.flush(&mut parts, quoted, self.base.made_up);
                self.pos += 2;
                parts.push(Part::Process(self.enclosed(")")?));
                before = b')';
                continue;
            }
            // `@(a|b)`: an extended glob.
            let opens = byte == b'(' && (group > 0 || stop != Stop::Word || b"?*+@!".contains(&before));
            // `src/*.py(N)`: qualifiers of zsh, behind a glob. bash has no command of that form.
            let opens = opens || byte == b'(' && stop == Stop::Word && self.is_at_qualifiers(start);
            if ends && !(opens && stop == Stop::Word) {
                break;
            }
            before = byte;
            match byte {
                b'\\' => self.backslash(&mut run, &mut parts, stop, quoted),
                b'\'' if !quoted => {
                    run.flush(&mut parts, quoted, self.base.made_up);
                    let start = self.pos + 1;
                    let length = self.text.get(start..self.end).and_then(|rest| rest.find('\''));
                    let end = start + length.ok_or_else(|| self.unexpected_end())?;
                    let text = self.text.get(start..end).unwrap_or_default().to_owned();
                    parts.push(Part::Literal(Literal {
                        text,
                        quoted: true,
                        at: self.position(start),
                        made_up: self.base.made_up,
                    }));
                    self.pos = end + 1;
                }
                b'"' if stop == Stop::Expression => {
                    run.flush(&mut parts, quoted, self.base.made_up);
                    self.pos += 1;
                }
                b'"' if stop != Stop::End => {
                    run.flush(&mut parts, quoted, self.base.made_up);
                    self.pos += 1;
                    parts.push(self.double()?);
                }
                b'$' => self.dollar(&mut run, &mut parts, quoted)?,
                b'`' => {
                    run.flush(&mut parts, quoted, self.base.made_up);
                    parts.push(self.backquoted(quoted)?);
                }
                _ => {
                    match byte {
                        b'(' if opens => group += 1,
                        b')' => group = group.saturating_sub(1),
                        _ => {}
                    }
                    // Most of most words means only itself wherever it stands.
                    let rest = self.rest();
                    let length = match rest.bytes().take_while(|byte| is_plain(*byte)).count() {
                        0 => rest.chars().next().map_or(1, char::len_utf8),
                        plain => {
                            before = rest.as_bytes()[plain - 1];
                            plain
                        }
                    };
                    self.collect(&mut run, &mut parts, quoted, self.pos + length);
                }
            }
        }
        if self.byte().is_none() && matches!(stop, Stop::Quote | Stop::Brace | Stop::Slash | Stop::Colon) {
            return Err(self.unexpected_end());
        }
        run.flush(&mut parts, quoted, self.base.made_up);
        self.depth -= 1;
        Ok(parts)
    }

    /// Whether qualifiers that run nothing stand here, behind a glob that began at `start`, and end the word.
    fn is_at_qualifiers(&self, start: usize) -> bool {
        let glob = self.text.get(start..self.pos).is_some_and(|glob| glob.contains(['*', '?', ']']));
        let Some((inside, after)) = self.rest().get(1..).and_then(|rest| rest.split_once(')')) else { return false };
        let plain = |c: char| c.is_ascii_alphanumeric() || ".^,@=*%/-[]".contains(c);
        glob && inside.starts_with(|first| plain(first) && first != 'e')
            && inside.chars().all(plain)
            && after.bytes().next().is_none_or(is_meta)
    }

    fn unexpected_end(&self) -> String {
        "syntax error: unclosed quote or expansion".to_owned()
    }

    fn double(&mut self) -> Parsing<Part> {
        let inner = self.parts(Stop::Quote, true)?;
        self.expect("\"")?;
        Ok(Part::Double(inner))
    }

    fn backslash(&mut self, run: &mut Run, parts: &mut Vec<Part>, stop: Stop, quoted: bool) {
        let next = self.byte_at(self.pos + 1);
        let escapes = match next {
            None => false,
            Some(b'\n') => {
                let before = self.pos.checked_sub(1).and_then(|at| self.byte_at(at)).unwrap_or(b' ');
                let after = self.byte_at(self.pos + 2).unwrap_or(b' ');
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-_./,:%@".contains(&byte);
                let variable = run.text.is_empty() && matches!(parts.last(), Some(Part::Parameter(_)));
                return self.join_lines(variable || !plain(before) || !plain(after));
            }
            Some(byte) if quoted => {
                matches!(byte, b'$' | b'`' | b'\\')
                    || (byte == b'"' && stop != Stop::End)
                    || (byte == b'}' && matches!(stop, Stop::Brace | Stop::Slash | Stop::Colon))
            }
            Some(_) => true,
        };
        if !escapes {
            return self.collect(run, parts, quoted, self.pos + 1);
        }
        run.flush(parts, quoted, self.base.made_up);
        self.pos += 1;
        let at = self.position(self.pos);
        let text = self.character().map(String::from).unwrap_or_default();
        parts.push(Part::Literal(Literal { text, quoted: true, at, made_up: self.base.made_up }));
    }

    fn dollar(&mut self, run: &mut Run, parts: &mut Vec<Part>, quoted: bool) -> Parsing<()> {
        // What zsh splits or takes for a pattern there is a dollar and a character elsewhere.
        let after = self.text.get(self.pos + 2..self.end).unwrap_or_default();
        let split = matches!(self.byte_at(self.pos + 1), Some(b'=' | b'~' | b'^')) && name_length(after) > 0;
        self.pos += usize::from(split && !self.base.posix);
        let next = self.byte_at(self.pos + 1);
        let named = self.text.get(self.pos + 1..self.end).map_or(0, name_length);
        let part = match next {
            Some(b'\'') if !quoted && !self.base.posix => {
                self.pos += 2;
                match self.ansi_c_end() {
                    Some(end) => {
                        let text = ansi_c(self.text.get(self.pos..end).unwrap_or_default());
                        self.pos = end + 1;
                        let made_up = self.base.made_up;
                        let literal = |text| Part::Literal(Literal { text, quoted: true, at: None, made_up });
                        text.map_or(Part::Malformed, literal)
                    }
                    None => return Err(self.unexpected_end()),
                }
            }
            Some(b'"') if !quoted && !self.base.posix => {
                self.pos += 2;
                self.double()?
            }
            Some(b'(') => {
                let start = self.pos + 3;
                match self.arithmetic_end(start).filter(|_| self.byte_at(self.pos + 2) == Some(b'(')) {
                    Some(end) => {
                        let expression = self.expression(start, end)?;
                        self.pos = end + 2;
                        Part::Arithmetic(expression)
                    }
                    None => {
                        self.pos += 2;
                        Part::Command(self.enclosed(")")?)
                    }
                }
            }
            Some(b'[') if !self.base.posix => {
                let start = self.pos + 2;
                match self.index_end(start) {
                    Some(end) => {
                        let expression = self.expression(start, end)?;
                        self.pos = end + 1;
                        Part::Arithmetic(expression)
                    }
                    None => return Err(self.unexpected_end()),
                }
            }
            Some(b'{') => {
                self.pos += 2;
                Part::Parameter(Box::new(self.parameter(quoted)?))
            }
            Some(byte) if named > 0 || byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                let length = named.max(1);
                let name = self.text.get(self.pos + 1..self.pos + 1 + length).unwrap_or_default().to_owned();
                self.pos += 1 + length;
                Part::Parameter(Box::new(Parameter { name, index: None, indirect: false, operation: Operation::None }))
            }
            _ => {
                self.collect(run, parts, quoted, self.pos + 1);
                return Ok(());
            }
        };
        run.flush(parts, quoted, self.base.made_up);
        parts.push(part);
        Ok(())
    }

    fn ansi_c_end(&self) -> Option<usize> {
        let mut at = self.pos;
        loop {
            match self.byte_at(at)? {
                b'\\' => at += 2,
                b'\'' => return Some(at),
                _ => at += 1,
            }
        }
    }

    /// Where the `))` stands that closes the arithmetic expression that begins at `from`. None if what closes there
    /// is a single parenthesis, so that it is no expression.
    pub(super) fn arithmetic_end(&self, from: usize) -> Option<usize> {
        let (mut at, mut depth) = (from, 0usize);
        // One that is found is not looked for again.
        let missed = |to: usize| {
            self.searched.set(self.searched.get().saturating_add(to.saturating_sub(from)));
            None
        };
        loop {
            let Some(byte) = self.byte_at(at) else { return missed(at) };
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return if self.byte_at(at + 1) == Some(b')') { Some(at) } else { missed(at) },
                b')' => depth -= 1,
                b'\\' => at += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    at += 1;
                    while self.byte_at(at) != Some(quote) {
                        if self.byte_at(at).is_none() {
                            return missed(at);
                        }
                        at += 1 + usize::from(quote != b'\'' && self.byte_at(at) == Some(b'\\'));
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Where the bracket stands that closes an index which begins at `from`.
    pub(super) fn index_end(&self, from: usize) -> Option<usize> {
        let (mut at, mut brackets, mut parentheses) = (from, 0usize, 0usize);
        while at < from.saturating_add(MAX_INDEX) {
            match self.byte_at(at)? {
                b'[' if parentheses == 0 => brackets += 1,
                b']' if parentheses == 0 && brackets == 0 => return Some(at),
                b']' if parentheses == 0 => brackets -= 1,
                b'(' => parentheses += 1,
                b')' => parentheses = parentheses.checked_sub(1)?,
                b'\\' => at += 1,
                b'\n' if parentheses == 0 => return None,
                quote @ (b'\'' | b'"' | b'`') => {
                    at += 1;
                    while self.byte_at(at)? != quote {
                        at += 1 + usize::from(quote != b'\'' && self.byte_at(at) == Some(b'\\'));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The expression between two positions.
    pub(super) fn expression(&mut self, from: usize, to: usize) -> Parsing<Word> {
        let text = self.text.get(from..to).unwrap_or_default();
        let mut inner = self.inside(text, self.base.at(from));
        let parts = inner.parts(Stop::Expression, true)?;
        self.joins_of(inner, Some(from))?;
        Ok(Word { span: self.base.map(from, to), parts })
    }

    fn backquoted(&mut self, quoted: bool) -> Parsing<Part> {
        let start = self.pos + 1;
        let mut at = start;
        let mut text = String::new();
        let mut verbatim = true;
        loop {
            let rest = self.text.get(at..self.end).unwrap_or_default();
            let Some(c) = rest.chars().next() else { return Err(self.unexpected_end()) };
            let escaped = rest[c.len_utf8()..].chars().next().filter(|_| c == '\\');
            match (c, escaped) {
                ('`', _) => break,
                (_, Some(next)) => {
                    if matches!(next, '`' | '\\' | '$') || (quoted && next == '"') {
                        verbatim = false;
                    } else {
                        text.push(c);
                    }
                    text.push(next);
                    at += 1 + next.len_utf8();
                }
                (c, None) => {
                    text.push(c);
                    at += c.len_utf8();
                }
            }
        }
        let base =
            if verbatim { self.base.at(start) } else { self.base.without_place(self.base.map(self.pos, at + 1)) };
        let mut inner = self.inside(&text, base);
        // Dash does not mind what stands behind the last command that it knows.
        let list = if self.base.posix { inner.understood() } else { inner.list()? };
        if inner.pos < inner.end && !self.base.posix {
            return Err(inner.unexpected());
        }
        self.joins_of(inner, verbatim.then_some(start))?;
        self.pos = at + 1;
        Ok(Part::Command(list))
    }

    /// After `${`, up to and with the closing brace.
    fn parameter(&mut self, quoted: bool) -> Parsing<Parameter> {
        let simple = |operation| Parameter { name: String::new(), index: None, indirect: false, operation };
        if matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.take("|");
            return Ok(simple(Operation::Commands(self.enclosed("}")?)));
        }
        let follows_name = |parser: &Self| {
            let rest = parser.text.get(parser.pos + 1..parser.end).unwrap_or_default();
            name_length(rest) > 0 || rest.starts_with(|c: char| c.is_ascii_digit() || "@*#?-$!".contains(c))
        };
        let closes = |parser: &Self, at: usize| parser.byte_at(parser.pos + at) == Some(b'}');
        match self.byte() {
            // Flags of zsh, which may have a value read as commands. Bash runs no command with such a word.
            Some(b'(') => return Err(self.unexpected()),
            Some(b'=' | b'~' | b'^') => {
                let rest = self.text.get(self.pos + 1..self.end).unwrap_or_default();
                self.pos += usize::from(name_length(rest) > 0);
            }
            _ => {}
        }
        let length = self.byte() == Some(b'#') && follows_name(self) && !(closes(self, 2) && closes(self, 1));
        let indirect = self.byte() == Some(b'!') && follows_name(self);
        self.pos += usize::from(length || indirect);
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut taken = name_length(rest).max(digits);
        if taken == 0 && rest.starts_with(|c: char| "@*#?-$!".contains(c)) {
            taken = 1;
        }
        let name = rest[..taken].to_owned();
        self.pos += taken;
        if taken == 0 {
            self.parts(Stop::Brace, quoted)?;
            self.expect("}")?;
            return Ok(simple(Operation::Malformed));
        }
        let mut index = None;
        if self.byte() == Some(b'[') {
            let from = self.pos + 1;
            let to = self.index_end(from).ok_or_else(|| self.unexpected_end())?;
            index = Some(match self.text.get(from..to) {
                Some("@") => Index::All,
                Some("*") => Index::Joined,
                _ => Index::Word(self.expression(from, to)?),
            });
            self.pos = to + 1;
        }
        let operation = if length { Operation::Length } else { self.operation(quoted, indirect)? };
        if self.byte() == Some(b'}') {
            self.pos += 1;
            return Ok(Parameter { name, index, indirect, operation });
        }
        // Whatever stands there, bash rejects it when it gets here; what is in it still counts.
        self.parts(Stop::Brace, quoted)?;
        self.expect("}")?;
        Ok(simple(Operation::Malformed))
    }

    fn operand(&mut self, stop: Stop, quoted: bool) -> Parsing<Word> {
        let start = self.pos;
        let parts = self.parts(stop, quoted)?;
        Ok(Word { span: self.base.map(start, self.pos), parts })
    }

    fn operation(&mut self, quoted: bool, indirect: bool) -> Parsing<Operation> {
        let Some(byte) = self.byte() else { return Err(self.unexpected_end()) };
        let next = self.byte_at(self.pos + 1);
        let doubled = next == Some(byte);
        Ok(match byte {
            b':' | b'-' | b'=' | b'?' | b'+' => {
                let empty = byte == b':';
                let operator = if empty { next } else { Some(byte) };
                match operator.filter(|operator| b"-=?+".contains(operator)) {
                    Some(operator) => {
                        self.pos += 1 + usize::from(empty);
                        Operation::Default { operator, empty, word: self.operand(Stop::Brace, quoted)? }
                    }
                    None => {
                        self.pos += 1;
                        let offset = self.operand(Stop::Colon, true)?;
                        let length = if self.take(":") { Some(self.operand(Stop::Brace, true)?) } else { None };
                        Operation::Substring { offset, length }
                    }
                }
            }
            b'#' | b'%' => {
                self.pos += 1 + usize::from(doubled);
                let pattern = self.operand(Stop::Brace, false)?;
                Operation::Remove { suffix: byte == b'%', longest: doubled, pattern }
            }
            b'/' => {
                self.pos += 1;
                let all = self.take("/");
                let anchor = self.byte().filter(|byte| !all && matches!(byte, b'#' | b'%'));
                self.pos += usize::from(anchor.is_some());
                // Behind a mark the pattern may be empty; otherwise a slash begins it.
                let empty = anchor.is_some() && self.byte() == Some(b'/');
                let pattern = if empty { Word::default() } else { self.operand(Stop::Slash, false)? };
                let with = if self.take("/") { self.operand(Stop::Brace, false)? } else { Word::default() };
                Operation::Replace { all, anchor, pattern, with }
            }
            b'^' | b',' => {
                self.pos += 1 + usize::from(doubled);
                let pattern = self.operand(Stop::Brace, false)?;
                Operation::Case { upper: byte == b'^', all: doubled, pattern }
            }
            b'~' => {
                self.pos += 1 + usize::from(doubled);
                self.operand(Stop::Brace, false)?;
                Operation::Transform('~')
            }
            b'@' | b'*' if indirect && next == Some(b'}') => {
                self.pos += 1;
                Operation::Names
            }
            b'@' => {
                self.pos += 1;
                Operation::Transform(self.character().unwrap_or('?'))
            }
            _ => Operation::None,
        })
    }
}

/// The text of `$'..'`: the escapes of the bash manual's section on ANSI-C quoting.
fn ansi_c(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let byte = match chars.next()? {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            c @ ('\\' | '\'' | '"' | '?') => c as u8,
            c @ '0'..='7' => u8::try_from(digits(&mut chars, 8, 2, c.to_digit(8))? & 0xff).ok()?,
            'x' => u8::try_from(digits(&mut chars, 16, 2, None)?).ok()?,
            c @ ('u' | 'U') => {
                let code = digits(&mut chars, 16, if c == 'u' { 4 } else { 8 }, None)?;
                bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
            'c' => u8::try_from(chars.next()?).ok()? & 0x1f,
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
        };
        // The shell ends the string at a NUL.
        if byte == 0 {
            break;
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

/// Up to `most` digits, after one that was read already. `None` if there is none at all.
fn digits(chars: &mut Peekable<Chars<'_>>, radix: u32, most: usize, first: Option<u32>) -> Option<u32> {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0).checked_mul(radix)?.checked_add(digit)?);
        chars.next();
    }
    value
}
