//! Finds secrets in a text, which is read once from start to end.

use std::ops::Range;

use toolgate_commands::Secret;

use super::known::{PLAIN, private_key, says_secret, shape};

/// Where secrets are in a text: in order, and apart from each other.
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut scan = Scan { text, bytes: text.as_bytes(), found: Vec::new(), quote: None, command: Vec::new() };
    let mut at = 0;
    while at < scan.bytes.len() {
        at = scan.step(at);
    }
    scan.found
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    found: Vec<Range<usize>>,
    /// The quote that the scan is in.
    quote: Option<u8>,
    /// The words since the command began that a row of [`toolgate_commands::secrets`] asks for.
    command: Vec<&'a str>,
}

impl<'a> Scan<'a> {
    /// Looks at one place, and says where to look next: always further on.
    fn step(&mut self, at: usize) -> usize {
        let bytes = self.bytes;
        let rest = &bytes[at..];
        if rest.starts_with(b"-----BEGIN ")
            && let Some(end) = private_key(self.text, at)
        {
            self.found.push(at..end);
            return end;
        }
        if rest.starts_with(b"://") {
            return self.address(at + 3);
        }
        match bytes[at] {
            b'\\' => at + if bytes.get(at + 1).is_some_and(u8::is_ascii) { 2 } else { 1 },
            quote @ (b'"' | b'\'') => {
                match self.quote {
                    None => self.quote = Some(quote),
                    Some(open) if open == quote => self.quote = None,
                    Some(_) => {}
                }
                at + 1
            }
            b';' | b'|' | b'&' | b'\n' | b'(' | b')' | b'`' => {
                self.command.clear();
                // A quote that is open across lines is more likely an apostrophe.
                if bytes[at] == b'\n' && self.quote == Some(b'\'') {
                    self.quote = None;
                }
                at + 1
            }
            byte if named(byte) => {
                let length = rest.iter().take_while(|byte| named(**byte)).count();
                self.word(at, at + length)
            }
            _ => at + 1,
        }
    }

    /// A run of characters that names consist of.
    fn word(&mut self, start: usize, end: usize) -> usize {
        let word = &self.text[start..end];
        if let Some(offset) = shape(word) {
            // With what belongs to a token and not to a name, like the `=` at the end of some.
            self.found.push(start + offset..end);
            return end;
        }
        let before = start.checked_sub(1).map(|at| self.bytes[at]);
        if before == Some(b'$') || (before == Some(b'{') && start >= 2 && self.bytes[start - 2] == b'$') {
            return end;
        }
        if let Some(next) = self.option(word, start, end) {
            return next;
        }
        self.note(word);
        if !says_secret(word) {
            return end;
        }
        let next = self.named(word, before, end);
        // Such an option may be a flag, and what follows it the command's: `az --acquire-policy-token login -p SECRET`.
        if word.starts_with('-') {
            let text: &'a str = self.text;
            text[end..next].split_whitespace().for_each(|word| self.note(word));
        }
        next
    }

    /// Remembers a word that some row asks for.
    fn note(&mut self, word: &'a str) {
        let asked_for = |row: &Secret| row.programs.contains(&word) || row.after.contains(&word);
        if self.command.len() < 8 && !self.command.contains(&word) && toolgate_commands::secrets().iter().any(asked_for)
        {
            self.command.push(word);
        }
    }

    /// An option that takes a secret because of the program that it is given to.
    fn option(&mut self, word: &str, start: usize, end: usize) -> Option<usize> {
        if !word.starts_with('-') || self.command.is_empty() {
            return None;
        }
        let spoken = |name: &str| self.command.contains(&name);
        let row = toolgate_commands::secrets().iter().find(|row| {
            let shape = (row.separate && word == row.option) || (row.attached && word.starts_with(row.option));
            shape
                && row.programs.iter().any(|name| spoken(name))
                && (row.after.is_empty() || row.after.iter().any(|name| spoken(name)))
        })?;
        let from = match start + row.option.len() {
            from if from < end => from,
            // `-p'secret'` is attached, `-p secret` is not.
            from if !self.blank(from) && row.attached => from,
            from if !self.blank(from) => return None,
            from if row.separate => self.skip_blanks(from),
            _ => return None,
        };
        if self.bytes.get(from) == Some(&b'=') || self.substituted(from) {
            return None;
        }
        let value = self.value(from, Spread::Word)?;
        let inside = value.inside.clone();
        let secret = self.text[inside.clone()].find(row.before);
        let secret = secret.map(|offset| inside.start + offset + row.before.len()..inside.end);
        let secret = secret.filter(|one| !one.is_empty() && !reference(self.bytes, one.start, one.end));
        // A token may be the user, too: `TOKEN:x-oauth-basic`.
        self.tokens(inside.start..secret.as_ref().map_or(inside.end, |secret| secret.start));
        self.found.extend(secret);
        // On behind it in any case, so that no text is read again and again.
        Some(value.next)
    }

    /// What follows a name that says secret.
    fn named(&mut self, word: &str, before: Option<u8>, end: usize) -> usize {
        // `"token": "x"`, also inside a quoted text: `\"token\": \"x\"`
        let escaped = self.bytes.get(end) == Some(&b'\\') && matches!(self.bytes.get(end + 1), Some(b'"' | b'\''));
        let closing = end + usize::from(escaped);
        let quoted =
            before.is_some() && self.bytes.get(closing) == before.as_ref() && matches!(before, Some(b'"' | b'\''));
        let after = if quoted { closing + 1 } else { end };
        let operator = self.skip_blanks(after);
        let colon = match self.bytes.get(operator..operator + 2) {
            Some(b"::" | b":/") => return end,
            _ => self.bytes.get(operator) == Some(&b':'),
        };
        let from = if colon || self.bytes.get(operator) == Some(&b'=') {
            let signs =
                self.bytes[operator..].iter().take(2).take_while(|byte| matches!(byte, b':' | b'=' | b'>')).count();
            let from = operator + signs;
            // `TOKEN= make` gives it no value.
            if !colon && !quoted && operator == after && self.blank(from) {
                return end;
            }
            self.skip_blanks(from)
        } else if word.starts_with('-') && operator > end {
            if matches!(self.bytes.get(operator), Some(b'-')) {
                return end;
            }
            operator
        } else if word.eq_ignore_ascii_case("bearer") && operator > end {
            let length = self.bytes[operator..].iter().take_while(|byte| named(**byte)).count();
            let token = &self.bytes[operator..operator + length];
            if length < 12 || !(length > 23 || token.iter().any(u8::is_ascii_digit)) {
                return end;
            }
            operator
        } else {
            return end;
        };
        if self.substituted(from) {
            return end;
        }
        // An opening quote that the name closed is not open for the value.
        let quote = self.quote;
        if quoted && !escaped && quote == before {
            self.quote = None;
        }
        let spread = match colon && from > operator + 1 {
            false => Spread::Word,
            true if word.to_ascii_lowercase().ends_with("cookie") => Spread::Cookies,
            true => Spread::Line,
        };
        let Some(mut value) = self.value(from, spread) else {
            self.quote = quote;
            return end;
        };
        // `Authorization: Bearer x`: what kind of secret it is may be read.
        let text = &self.text[value.inside.clone()];
        if let Some((scheme, rest)) = text.split_once(' ')
            && ["basic", "bearer", "digest", "token"].contains(&scheme.to_ascii_lowercase().as_str())
        {
            value.inside.start = value.inside.end - rest.trim_start().len();
        }
        let text = &self.text[value.inside.clone()];
        // `docker build --secret id=x,src=y`
        if word == "--secret" && (text.starts_with("id=") || text.starts_with("type=")) {
            self.tokens(value.inside);
            return value.next;
        }
        let single = value.inside.start > 0 && self.bytes[value.inside.start - 1] == b'\'';
        if PLAIN.contains(&text) || (!single && reference(self.bytes, value.inside.start, value.inside.end)) {
            self.quote = quote;
            return end;
        }
        self.found.push(value.inside);
        value.next
    }

    /// Whether a command's output, or what a template fills in, is the value. It is not read as one: there may be
    /// anything in it.
    fn substituted(&self, at: usize) -> bool {
        let at = at + usize::from(self.bytes.get(at) == Some(&b'"'));
        matches!(self.bytes.get(at..at + 2), Some(b"$(" | b"{{")) || self.bytes.get(at) == Some(&b'`')
    }

    /// The value that starts here, if there is one. It ends at the latest where a command would end, so that no
    /// command can be hidden behind a name.
    fn value(&self, start: usize, spread: Spread) -> Option<Piece> {
        let bytes = self.bytes;
        let escaped = bytes.get(start) == Some(&b'\\') && matches!(bytes.get(start + 1), Some(b'"' | b'\''));
        if escaped {
            let length = bytes[start + 2..].iter().take_while(|byte| !matches!(byte, b'\\' | b'"' | b'\n')).count();
            return piece(start + 2..start + 2 + length, start + 2 + length);
        }
        let mut at = start;
        let mut segments = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' | b'\'' if self.quote == Some(*byte) => break,
                b'"' | b'\'' => {
                    segments += 1;
                    let mut close = at + 1;
                    while close < bytes.len() && bytes[close] != *byte {
                        close += if bytes[close] == b'\\' && *byte == b'"' { 2 } else { 1 };
                    }
                    let close = close.min(bytes.len());
                    // The whole value is one quoted text: the quotes stay.
                    if at == start
                        && !bytes.get(close + 1).is_some_and(|next| {
                            named(*next) || (matches!(next, b'"' | b'\'') && self.quote != Some(*next))
                        })
                    {
                        return piece(start + 1..close, (close + 1).min(bytes.len()));
                    }
                    at = (close + 1).min(bytes.len());
                }
                b'\\' => at += if bytes.get(at + 1).is_some_and(|next| *next != b'\n') { 2 } else { 1 },
                b'\n' | b'\r' => break,
                b' ' | b'\t' if spread == Spread::Line => at += 1,
                b';' if spread == Spread::Cookies => match self.next_cookie(at) {
                    Some(next) => at = next,
                    None => break,
                },
                b' ' | b'\t' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>' | b'`' => break,
                b',' | b'}' if segments == 0 && spread == Spread::Line && self.quote.is_none() => break,
                _ => at += 1,
            }
        }
        let at = at.min(bytes.len());
        let at = (at..=bytes.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(bytes.len());
        let end = start + self.text[start..at].trim_end().len();
        piece(start..end, at)
    }

    /// Behind `; name=`, if that is what stands here.
    fn next_cookie(&self, at: usize) -> Option<usize> {
        let name = self.skip_blanks(at + 1);
        let length = self.bytes[name..].iter().take_while(|byte| named(**byte)).count();
        (length > 0 && self.bytes.get(name + length) == Some(&b'=')).then_some(name + length + 1)
    }

    /// Who an address is opened as: `user:secret@host`, or a long `secret@host`.
    fn address(&mut self, start: usize) -> usize {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`');
        let length = self.bytes[start..].iter().take_while(|byte| !ends(byte)).count();
        let Some(host) = self.bytes[start..start + length].iter().rposition(|byte| *byte == b'@') else {
            return start;
        };
        let user = &self.text[start..start + host];
        let secret = match user.find(':') {
            Some(colon) => start + colon + 1..start + host,
            None if user.len() >= 20 => start..start + host,
            None => return start,
        };
        if secret.is_empty() || reference(self.bytes, secret.start, secret.end) {
            return start;
        }
        self.tokens(start..secret.start);
        self.found.push(secret);
        start + host
    }

    /// What is known by its shape in a part that is passed over.
    fn tokens(&mut self, part: Range<usize>) {
        let mut at = part.start;
        while at < part.end {
            let end = at + self.bytes[at..part.end].iter().take_while(|byte| named(**byte)).count();
            if let Some(offset) = self.text.get(at..end).and_then(shape) {
                self.found.push(at + offset..end);
            }
            at = end + 1;
        }
    }

    fn blank(&self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(u8::is_ascii_whitespace)
    }

    fn skip_blanks(&self, at: usize) -> usize {
        // Few: a name and its value stand beside each other, and no run of blanks is read again and again.
        at + self.bytes[at.min(self.bytes.len())..]
            .iter()
            .take(8)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    }
}

/// How far a value may go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// One word of a shell.
    Word,
    /// Over blanks: `Authorization: Digest a, b`.
    Line,
    /// Over `; ` to the next cookie.
    Cookies,
}

/// A value: its text without quotes, and where to go on.
struct Piece {
    inside: Range<usize>,
    next: usize,
}

fn piece(inside: Range<usize>, next: usize) -> Option<Piece> {
    Some(Piece { inside, next }).filter(|piece| !piece.inside.is_empty())
}

fn named(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a shell or a template fills in this value: then it says nothing.
pub(super) fn reference(bytes: &[u8], start: usize, end: usize) -> bool {
    let value = &bytes[start..end];
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match value {
        [b'$', b'(', ..] | [b'`', ..] | [b'$'] => true,
        [b'$', b'{', rest @ ..] => {
            rest.iter().take(100).position(|byte| *byte == b'}').is_some_and(|at| at + 1 == rest.len())
        }
        [b'$', rest @ ..] => rest.len() < 100 && rest.iter().all(name),
        _ => false,
    }
}
