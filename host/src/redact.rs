//! Takes secrets out of texts before they are written anywhere.
//!
//! A secret is known by the name in front of it (`TOKEN=`, `--password`, `Authorization:`), by the option of a
//! program that takes one (`mysql -p`, `curl -u`), by its place in an address (`https://user:pass@host`) or by its own
//! shape (`ghp_...`, a JWT, a private key). It reads a text once from start to end, so a long command costs time in
//! proportion to its length. What a shell fills in (`$TOKEN`, `$(pass show x)`) is no secret and stays readable.
//!
//! It is not for deciding anything, and it cannot know every secret: a password that looks like any other word stays.

use std::ops::Range;

use serde_json::Value;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";

/// Words that make a name the name of a secret: a part of the name ends with one of them.
const SECRET: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "authorization",
    "bearer",
    "cookie",
];

/// The same, in two parts: `api-key`, `AccessKey`.
const SECRET_PAIRS: &[(&str, &str)] = &[("api", "key"), ("access", "key"), ("pass", "phrase"), ("pass", "word")];

/// Last parts of names that hold something about a secret and not the secret: `--token-file`, `password_length`.
const ABOUT: &[&str] = &[
    "class", "count", "dir", "endpoint", "env", "expires", "expiry", "file", "helper", "jar", "length", "limit",
    "manager", "mode", "name", "path", "policy", "prompt", "ref", "stdin", "store", "ttl", "type", "uri", "url",
];

/// Values that are no secret whatever their name is. `id-token: write` is a permission.
const PLAIN: &[&str] = &["", "false", "none", "null", "read", "true", "write", MARK];

/// Tokens by how they start, and the fewest characters that follow.
const SHAPES: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("npm_", 30),
    ("pypi-", 40),
    ("rk_live_", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
];

/// An option of a program that takes a secret under a name that does not say so.
struct Taking {
    programs: &'static [&'static str],
    /// A word that must have come before: `docker run -p` is a port.
    after: Option<&'static str>,
    flag: &'static str,
    /// `-pSECRET`
    attached: bool,
    /// `-p SECRET`
    separate: bool,
    /// The secret is what follows this in the value: `user:secret`.
    behind: &'static str,
}

const MYSQL: &[&str] = &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin"];
const REGISTRY: &[&str] = &["docker", "podman", "nerdctl", "helm", "oc", "buildah", "skopeo", "az"];

#[rustfmt::skip]
const TAKING: &[Taking] = &[
    Taking { programs: &["curl"], after: None, flag: "-u", attached: true, separate: true, behind: ":" },
    Taking { programs: &["curl"], after: None, flag: "-U", attached: true, separate: true, behind: ":" },
    Taking { programs: &["curl"], after: None, flag: "--user", attached: false, separate: true, behind: ":" },
    Taking { programs: &["curl"], after: None, flag: "--proxy-user", attached: false, separate: true, behind: ":" },
    Taking { programs: &["curl"], after: None, flag: "-b", attached: false, separate: true, behind: "=" },
    Taking { programs: &["http", "https"], after: None, flag: "-a", attached: false, separate: true, behind: ":" },
    Taking { programs: &["sshpass"], after: None, flag: "-p", attached: true, separate: true, behind: "" },
    Taking { programs: MYSQL, after: None, flag: "-p", attached: true, separate: false, behind: "" },
    Taking { programs: REGISTRY, after: Some("login"), flag: "-p", attached: true, separate: true, behind: "" },
    Taking { programs: &["redis-cli"], after: None, flag: "-a", attached: false, separate: true, behind: "" },
    Taking { programs: &["mongo", "mongosh", "mongodump"], after: None, flag: "-p", attached: false, separate: true, behind: "" },
    Taking { programs: &["zip", "unzip", "sqlcmd"], after: None, flag: "-P", attached: true, separate: true, behind: "" },
    Taking { programs: &["7z", "7za", "7zz"], after: None, flag: "-p", attached: true, separate: false, behind: "" },
    Taking { programs: &["ldapsearch", "ldapmodify", "ldapadd"], after: None, flag: "-w", attached: true, separate: true, behind: "" },
    Taking { programs: &["smbclient"], after: None, flag: "-U", attached: true, separate: true, behind: "%" },
    Taking { programs: &["openssl"], after: None, flag: "-pass", attached: false, separate: true, behind: "pass:" },
    Taking { programs: &["openssl"], after: None, flag: "-passin", attached: false, separate: true, behind: "pass:" },
    Taking { programs: &["openssl"], after: None, flag: "-passout", attached: false, separate: true, behind: "pass:" },
];

/// The text with its secrets marked.
pub fn redacted(text: &str) -> String {
    slice(text, &secrets(text), 0..text.len())
}

/// A part of a text, with the secrets of the whole marked. What a rule matched may be half a secret that only the
/// words before it give away.
pub fn slice(text: &str, secrets: &[Range<usize>], part: Range<usize>) -> String {
    let mut shown = String::with_capacity(part.len());
    let mut at = part.start;
    for secret in secrets.iter().filter(|secret| secret.end > part.start && secret.start < part.end) {
        shown.push_str(text.get(at..secret.start.max(at)).unwrap_or_default());
        shown.push_str(MARK);
        at = secret.end.min(part.end);
    }
    shown.push_str(text.get(at..part.end.max(at)).unwrap_or_default());
    shown
}

/// The value with the secrets in all its texts marked, and those under a key that says so.
pub fn value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted(text)),
        Value::Array(items) => {
            // `["--password", "hunter2"]`: words of a command.
            let mut expected = false;
            let marked = items.iter().map(|item| match item.as_str() {
                Some(text) if std::mem::take(&mut expected) && !text.starts_with('-') => keyed(text),
                text => {
                    expected = text.is_some_and(|text| text.starts_with('-') && says_secret(text));
                    self::value(item)
                }
            });
            Value::Array(marked.collect())
        }
        Value::Object(fields) => {
            let field = |(key, item): (&String, &Value)| match item.as_str() {
                Some(text) if says_secret(key) => (key.clone(), keyed(text)),
                _ => (redacted(key), self::value(item)),
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// A text whose name says that it is a secret.
fn keyed(text: &str) -> Value {
    let plain = PLAIN.contains(&text) || reference(text.as_bytes(), 0, text.len());
    Value::String(if plain { text.to_owned() } else { MARK.to_owned() })
}

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
    /// The words since the command began that a row of [`TAKING`] asks for.
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
        let asked_for = |row: &Taking| row.programs.contains(&word) || row.after == Some(word);
        if self.command.len() < 8 && !self.command.contains(&word) && TAKING.iter().any(asked_for) {
            self.command.push(word);
        }
        if says_secret(word) { self.named(word, before, end) } else { end }
    }

    /// An option that takes a secret because of the program that it is given to.
    fn option(&mut self, word: &str, start: usize, end: usize) -> Option<usize> {
        if !word.starts_with('-') || self.command.is_empty() {
            return None;
        }
        let spoken = |name: &str| self.command.contains(&name);
        let row = TAKING.iter().find(|row| {
            let shape = (row.separate && word == row.flag) || (row.attached && word.starts_with(row.flag));
            shape && row.programs.iter().any(|name| spoken(name)) && row.after.is_none_or(spoken)
        })?;
        let from = match start + row.flag.len() {
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
        if let Some(offset) = self.text[inside.clone()].find(row.behind) {
            let secret = inside.start + offset + row.behind.len()..inside.end;
            if !secret.is_empty() && !reference(self.bytes, secret.start, secret.end) {
                self.found.push(secret);
            }
        }
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
        self.found.push(secret);
        start + host
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

/// Whether a name says that what it names is a secret.
fn says_secret(name: &str) -> bool {
    // Longer than any name that people give; and a bound on what is looked at twice.
    if name.len() > 200 {
        return false;
    }
    let mut parts: Vec<String> = Vec::new();
    let mut joined = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            joined = false;
            continue;
        }
        let turn = c.is_ascii_uppercase() && name_ends_lower(parts.last());
        match parts.last_mut() {
            Some(part) if joined && !turn => part.push(c),
            _ => parts.push(c.to_string()),
        }
        joined = true;
    }
    parts.iter_mut().for_each(|part| part.make_ascii_lowercase());
    while parts.last().is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        parts.pop();
    }
    let Some(last) = parts.last() else { return false };
    if ABOUT.contains(&last.as_str()) {
        return false;
    }
    let old = parts.first().is_some_and(|part| part == "old");
    parts.iter().any(|part| SECRET.iter().any(|word| part.ends_with(word)))
        || parts.windows(2).any(|two| SECRET_PAIRS.contains(&(two[0].as_str(), two[1].as_str())))
        || (parts.len() > 1 && last == "pwd" && !old)
}

fn name_ends_lower(part: Option<&String>) -> bool {
    part.and_then(|part| part.chars().next_back()).is_some_and(|c| c.is_ascii_lowercase())
}

/// Where in a word a token starts that is known by its shape.
fn shape(word: &str) -> Option<usize> {
    let bytes = word.as_bytes();
    let at_part = |at: &usize| *at == 0 || matches!(bytes[at - 1], b'-' | b'.');
    (0..bytes.len()).filter(at_part).find(|start| {
        let rest = &word[*start..];
        let known = SHAPES.iter().any(|(first, more)| {
            // Names of things start like this too, but a token has digits.
            rest.starts_with(first)
                && rest.len() >= first.len() + more
                && rest.as_bytes()[first.len()..].iter().take(64).any(u8::is_ascii_digit)
        });
        let has = |test: fn(&u8) -> bool| rest.bytes().take(60).any(|byte| test(&byte));
        let openai =
            rest.starts_with("sk-") && rest.len() >= 23 && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase);
        let jwt =
            rest.starts_with("eyJ") && rest.len() >= 20 && rest.as_bytes().iter().take(512).any(|byte| *byte == b'.');
        known || openai || jwt
    })
}

/// The end of a private key block that starts here; the end of the text if it is cut off.
fn private_key(text: &str, start: usize) -> Option<usize> {
    const HEADING: usize = 60;
    const LAST: &str = "PRIVATE KEY-----";
    let heading = &text.as_bytes()[start..text.len().min(start + HEADING)];
    let body = start + heading.windows(LAST.len()).position(|window| window == LAST.as_bytes())? + LAST.len();
    let end = text[body..].find("-----END ").map(|offset| body + offset + "-----END ".len());
    Some(end.map_or(text.len(), |end| text[end..].find("-----").map_or(text.len(), |offset| end + offset + 5)))
}

/// Whether a shell or a template fills in this value: then it says nothing.
fn reference(bytes: &[u8], start: usize, end: usize) -> bool {
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;

    const GITHUB: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    /// `#` stands where a secret was, `GH` for a token of GitHub's.
    #[rustfmt::skip]
    const CASES: &[(&str, &str)] = &[
        // Names and what follows them.
        ("TOKEN=hunter2 make", "TOKEN=# make"),
        ("export GITHUB_TOKEN='a b' && x", "export GITHUB_TOKEN='#' && x"),
        ("export DB_PASSWORD=\"hun ter\"", "export DB_PASSWORD=\"#\""),
        ("env MYSQL_PWD=x mysql", "env MYSQL_PWD=# mysql"),
        ("PGPASSWORD=x psql -h db", "PGPASSWORD=# psql -h db"),
        ("AWS_SECRET_ACCESS_KEY=wJalr/K7MD+x aws s3 ls", "AWS_SECRET_ACCESS_KEY=# aws s3 ls"),
        ("docker run -e API_KEY=abc -p 80:80 x", "docker run -e API_KEY=# -p 80:80 x"),
        ("x --password hunter2 y", "x --password # y"),
        ("x --password=hunter2 y", "x --password=# y"),
        ("x --api-key \"k e y\" y", "x --api-key \"#\" y"),
        ("x --apiKey k y", "x --apiKey # y"),
        ("x -token k y", "x -token # y"),
        ("gpg --passphrase p --batch", "gpg --passphrase # --batch"),
        ("x --password=a'b c'd e", "x --password=# e"),
        ("x --password a\\ b c", "x --password # c"),
        ("curl -H 'Authorization: Bearer abc.def' u", "curl -H 'Authorization: Bearer #' u"),
        ("curl -H \"authorization: Basic dXNlcg==\" u", "curl -H \"authorization: Basic #\" u"),
        ("curl -H 'X-Api-Key: k' u", "curl -H 'X-Api-Key: #' u"),
        ("curl -H 'X-Auth-Token:k' u", "curl -H 'X-Auth-Token:#' u"),
        ("curl -H 'Cookie: a=1; b=2' u", "curl -H 'Cookie: #' u"),
        ("curl --cookie 'a=1' u", "curl --cookie '#' u"),
        ("curl -b sid=1 u", "curl -b sid=# u"),
        ("curl 'https://h/?access_token=abc&x=1'", "curl 'https://h/?access_token=#&x=1'"),
        ("curl -d '{\"password\": \"a b\", \"x\": 1}' u", "curl -d '{\"password\": \"#\", \"x\": 1}' u"),
        ("curl -d \"{\\\"token\\\":\\\"abc\\\",\\\"x\\\":1}\" u", "curl -d \"{\\\"token\\\":\\\"#\\\",\\\"x\\\":1}\" u"),
        ("cat > .npmrc <<E\n_authToken=abc\nE", "cat > .npmrc <<E\n_authToken=#\nE"),
        ("cat > a.yml <<E\npassword: a b c\nuser: x\nE", "cat > a.yml <<E\npassword: #\nuser: x\nE"),
        ("printf 'password = \"x y\"'", "printf 'password = \"#\"'"),
        ("kubectl create secret generic s --from-literal=password=x", "kubectl create secret generic s --from-literal=password=#"),
        ("curl --oauth2-bearer abc u", "curl --oauth2-bearer # u"),
        ("echo Bearer abcdef0123456789", "echo Bearer #"),
        ("x --password '$ecret' y", "x --password '#' y"),
        ("x --password pässwörd y", "x --password # y"),
        ("x --password \"open", "x --password \"#"),
        // Programs.
        ("curl -u user:pass https://h", "curl -u user:# https://h"),
        ("curl --user 'user:pa ss' https://h", "curl --user 'user:#' https://h"),
        ("curl -uuser:pass https://h", "curl -uuser:# https://h"),
        ("sudo mysql -uroot -psecret db", "sudo mysql -uroot -p# db"),
        ("mysqldump -p'se cret' db", "mysqldump -p'#' db"),
        ("docker exec db mysql -psecret -e 'select 1'", "docker exec db mysql -p# -e 'select 1'"),
        ("bash -c \"mysql -psecret db\"", "bash -c \"mysql -p# db\""),
        ("sshpass -p secret ssh h", "sshpass -p # ssh h"),
        ("sshpass -psecret ssh h", "sshpass -p# ssh h"),
        ("docker login -u me -p secret h", "docker login -u me -p # h"),
        ("redis-cli -a secret ping", "redis-cli -a # ping"),
        ("openssl rsa -in k -passin pass:secret", "openssl rsa -in k -passin pass:#"),
        ("zip -P secret a.zip b", "zip -P # a.zip b"),
        // Addresses.
        ("git clone https://user:pass@h/r.git", "git clone https://user:#@h/r.git"),
        ("psql postgres://u:p%40ss@db:5432/x", "psql postgres://u:#@db:5432/x"),
        ("git clone https://0123456789abcdef0123@h/r", "git clone https://#@h/r"),
        // Shapes.
        ("echo GH", "echo #"),
        ("git clone https://GH@github.com/a/b", "git clone https://#@github.com/a/b"),
        ("git clone https://x-access-token:GH@github.com/a/b", "git clone https://x-access-token:#@github.com/a/b"),
        ("echo AKIAIOSFODNN7EXAMPLE", "echo #"),
        ("echo github_pat_11ABCDEFG0123456789_abcdef", "echo #"),
        ("echo glpat-0123456789abcdefghij", "echo #"),
        ("echo xoxb-1234567890-abcdef", "echo #"),
        ("echo sk_live_0123456789abcdef", "echo #"),
        ("echo sk-proj-0123456789abcdefgh", "echo #"),
        ("echo sk-ant-api03-0123456789abcdefgh", "echo #"),
        ("echo sk-0123456789abcdefghijABCDEFGHIJ", "echo #"),
        ("echo AIzaSy0123456789abcdefghijABCDEFGHIJ012", "echo #"),
        ("echo npm_0123456789abcdefghijABCDEFGHIJ0123", "echo #"),
        ("echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d", "echo #"),
        ("echo '-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY-----' x", "echo '#' x"),
        ("echo '-----BEGIN PRIVATE KEY-----\nab", "echo '#"),
        // No command is hidden behind a name.
        ("echo token: ; rm -rf ~", "echo token: ; rm -rf ~"),
        ("bash -c 'echo token: x; rm -rf ~'", "bash -c 'echo token: #; rm -rf ~'"),
        ("bash -c 'echo cookie: x; rm -rf ~'", "bash -c 'echo cookie: #; rm -rf ~'"),
        ("TOKEN=x rm -rf ~", "TOKEN=# rm -rf ~"),
        ("x --password\nrm -rf ~", "x --password\nrm -rf ~"),
    ];

    /// What stays as it is.
    const UNTOUCHED: &[&str] = &[
        "git push --force",
        "rm -rf /",
        "cargo test -p toolgate-host",
        "docker run -p 8080:80 -u 1000:1000 nginx",
        "curl -H \"Authorization: Bearer $TOKEN\" https://h",
        "curl -u \"$USER:$PASS\" https://h",
        "x --token \"$TOKEN\" --password ${PASSWORD}",
        "TOKEN=$(gh auth token) make",
        "TOKEN=\"$(cat token.txt)\" make",
        "export TOKEN",
        "TOKEN= make",
        "unset GITHUB_TOKEN; echo $GITHUB_TOKEN ${API_KEY:-none}",
        "cat secret.txt password.md",
        "grep -rn 'password' src",
        "grep 'token=' x",
        "x --password-file p --token-ttl 5m --secret-name s",
        "x --max-tokens 100 --tokenizer bpe",
        "kubectl get secret app -o yaml",
        "docker build --secret id=npmrc,src=.npmrc .",
        "curl --cookie-jar jar https://h",
        "git commit -m 'Explain the token format'",
        "git clone ssh://git@github.com/a/b",
        "git clone git@github.com:a/b",
        "curl https://h/a:b@c",
        "mysql -u root -p db",
        "mkdir -p a/b && ps -p 1",
        "ssh -p 22 h",
        "PWD=/x OLD_PWD=/y ls",
        "use crate::token::Kind",
        "id-token: write",
        "pip install sk-learn scikit-learn",
        "echo 'it''s fine' && ls",
        "echo größe 写",
        "bearer authentication failed",
        "x --no-password --token",
        "openssl rsa -in k -passin env:PW",
        "sshpass -f file ssh h",
    ];

    #[test]
    fn secrets_are_marked_and_nothing_else() {
        let spelled = |text: &str| text.replace("GH", GITHUB);
        let cases = CASES.iter().map(|(text, expected)| (spelled(text), expected.replace('#', MARK)));
        let untouched = UNTOUCHED.iter().map(|text| ((*text).to_owned(), (*text).to_owned()));
        let mut wrong = Vec::new();
        for (text, expected) in cases.chain(untouched) {
            // What is marked is not marked again.
            for (text, found) in [(&text, redacted(&text)), (&expected, redacted(&expected))] {
                if found != expected {
                    wrong.push(format!("{text}\n  {found}\n  {expected}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_part_shows_no_more_than_the_whole() {
        let text = "x --password hunter2 y";
        let found = secrets(text);
        let cases = [(0..22, "x --password [redacted] y"), (13..20, "[redacted]"), (15..17, "[redacted]"), (0..1, "x")];
        for (part, expected) in cases {
            assert_eq!(slice(text, &found, part), expected);
        }
    }

    #[test]
    fn an_input_is_marked_by_its_keys_and_by_its_texts() {
        let cases = [
            (json!({"command": "TOKEN=x ls", "n": 1}), json!({"command": "TOKEN=[redacted] ls", "n": 1})),
            (json!({"api_key": "x", "path": "a"}), json!({"api_key": "[redacted]", "path": "a"})),
            (json!({"token": "$TOKEN", "token_file": "x"}), json!({"token": "$TOKEN", "token_file": "x"})),
            (json!(["x", "--password", "y", "z"]), json!(["x", "--password", "[redacted]", "z"])),
            (json!({"a": [{"secret": "x"}]}), json!({"a": [{"secret": "[redacted]"}]})),
        ];
        for (input, expected) in cases {
            assert_eq!(value(&input), expected);
        }
    }

    #[test]
    fn hostile_texts_cost_time_in_proportion_to_their_length() {
        let patterns = [
            "token:",
            "token: ",
            "'token: ",
            "--token \"",
            "--token '\"",
            "token=$(",
            "\"token: $(",
            "secret=id=",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "://",
            "://a:b@",
            "curl -u ",
            "curl ,-u",
            ",-u",
            "eyJ-",
            "ghp_-",
            "\\",
            "a-",
            "AaA",
            "cookie: a=1; b=",
            "token=\"\"",
            "token    ",
            "\\\"token\\\":",
            "ä=token",
            "mysql -p'",
            "bearer ",
            "--password \\",
        ];
        for pattern in patterns {
            let text = format!("curl {}", pattern.repeat((1 << 20) / pattern.len()));
            let start = Instant::now();
            let found = secrets(&text);
            // A quadratic scan of a mebibyte takes minutes; this one milliseconds.
            assert!(start.elapsed() < Duration::from_secs(5), "{pattern}");
            assert!(found.windows(2).all(|two| two[0].end <= two[1].start), "{pattern}");
            assert!(found.iter().all(|one| text.get(one.clone()).is_some()), "{pattern}");
        }
    }
}
