//! Lists, pipelines, compound commands and redirects.
//!
//! | Module | For |
//! |---|---|
//! | `compound` | groups, branches, loops, functions, coprocesses |
//! | `simple` | assignments and words of simple commands |
//! | `redirects` | redirects, and the bodies of here-documents |
//! | `conditions` | what stands in `[[ ]]` |

mod compound;
mod conditions;
mod redirects;
mod simple;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::tree::{Connector, Item, List, Node, NodeKind, Pipeline, Word};
use super::words::Stop;
use crate::word::Span;

/// How deep commands, words and expansions may stand inside one another. Scripts that people write stay below ten;
/// the parser recurses once a level, and so does the walk.
const MAX_DEPTH: usize = 100;

/// How many bytes are gone through for ends of expressions that are not there.
const MAX_SEARCHED: usize = 8 * 1024 * 1024;

/// Words that are reserved in bash, and commands like any other where only the standard is known.
const BASH_WORDS: &[&str] = &["[[", "coproc", "function", "select", "time"];

/// Words that end a list where a command could begin.
const CLOSERS: &[&str] = &["}", "do", "done", "elif", "else", "esac", "fi", "then"];

/// Where a text that is parsed stands in the outermost one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base {
    /// Its first byte there.
    pub offset: usize,
    /// The span to give instead, where quoting makes the positions differ.
    pub opaque: Option<Span>,
    /// Whether it is read as dash does, which knows little but the standard. It is `sh` on Debian.
    pub posix: bool,
    /// Whether what is not known of it are names that `mktemp` makes up, and nothing else.
    pub made_up: bool,
}

impl Base {
    /// For a text whose positions all stand for this span.
    pub fn opaque(span: Span) -> Self {
        Base { opaque: Some(span), ..Base::default() }
    }

    /// The span in the outermost text of a range of this one.
    pub fn map(self, start: usize, end: usize) -> Span {
        self.opaque.unwrap_or(Span { start: self.offset + start, end: self.offset + end })
    }

    /// A text inside that has no place of its own in the outermost one.
    pub(super) fn without_place(self, span: Span) -> Self {
        Base { posix: self.posix, made_up: self.made_up, ..Base::opaque(span) }
    }

    pub(super) fn at(self, offset: usize) -> Self {
        Base { offset: self.offset + offset, ..self }
    }
}

/// A text as a tree.
#[derive(Debug)]
pub struct Parsed {
    /// Its commands.
    pub list: List,
    /// From the `#` to the line's end; those inside substitutions are not among them.
    pub comments: Vec<Span>,
}

/// Parses a whole text. The error says what is wrong, for people.
pub fn parse(text: &str, base: Base, depth: usize) -> Result<Parsed, String> {
    let (parsed, joins) = parse_once(text, base, depth);
    if !joins.split {
        return parsed;
    }
    // A backslash before a line's end splits a name or an operator. Without those the text is what bash reads; its
    // positions are then no longer those of the source.
    let mut joined = String::with_capacity(text.len());
    let mut from = 0;
    let mut places = joins.places;
    places.sort_unstable();
    places.dedup();
    for at in places {
        joined.push_str(text.get(from..at).unwrap_or_default());
        from = at + 2;
    }
    joined.push_str(text.get(from..).unwrap_or_default());
    let (parsed, joins) = parse_once(&joined, base.without_place(base.map(0, text.len())), depth);
    if joins.split {
        return Err("syntax error: line continuation inside a name or operator".to_owned());
    }
    parsed
}

fn parse_once(text: &str, base: Base, depth: usize) -> (Parsing<Parsed>, Joins) {
    let mut parser = Parser::new(text, base, depth);
    let parsed = parser.whole();
    (parsed, parser.joins)
}

/// Backslashes before line ends that were taken away.
#[derive(Debug, Default)]
pub(super) struct Joins {
    places: Vec<usize>,
    /// One of them stands where something begins that is read as a whole.
    pub(super) split: bool,
}

/// A heredoc whose body has not been reached.
struct Pending {
    delimiter: String,
    quoted: bool,
    strip: bool,
    body: Rc<OnceCell<Word>>,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) pos: usize,
    /// Nothing is read from here on.
    pub(super) end: usize,
    pub(super) base: Base,
    pub(super) depth: usize,
    pending: Vec<Pending>,
    pub(super) joins: Joins,
    /// Where comments were come upon; some more than once.
    comments: Vec<(usize, usize)>,
    /// How far the ends of expressions were looked for in all, which may be none.
    pub(super) searched: Cell<usize>,
}

pub(super) type Parsing<T> = Result<T, String>;

impl<'a> Parser<'a> {
    fn new(text: &'a str, base: Base, depth: usize) -> Self {
        Parser {
            text,
            pos: 0,
            end: text.len(),
            base,
            depth,
            pending: Vec::new(),
            joins: Joins::default(),
            comments: Vec::new(),
            searched: Cell::new(0),
        }
    }

    fn whole(&mut self) -> Parsing<Parsed> {
        let list = if self.base.posix { self.understood() } else { self.list()? };
        if !self.base.posix {
            if self.pos < self.end {
                return Err(self.unexpected());
            }
            self.documents()?;
        }
        let mut comments = std::mem::take(&mut self.comments);
        comments.sort_unstable();
        comments.dedup();
        let comments = comments.into_iter().map(|(start, end)| self.base.map(start, end)).collect();
        Ok(Parsed { list, comments })
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.byte_at(self.pos)
    }

    pub(super) fn byte_at(&self, at: usize) -> Option<u8> {
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.pos..self.end).unwrap_or_default()
    }

    fn looking_at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// The next character, whatever its length.
    pub(super) fn character(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsing<()> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn unexpected(&self) -> String {
        let line = self.text.get(..self.pos).unwrap_or_default().matches('\n').count() + 1;
        match self.rest().chars().next() {
            None => format!("syntax error on line {line}: unexpected end of input"),
            Some(c) => format!("syntax error on line {line}: unexpected {c:?}"),
        }
    }

    pub(super) fn deeper(&mut self) -> Parsing<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the command nests more than {MAX_DEPTH} levels deep"));
        }
        if self.searched.get() > MAX_SEARCHED {
            return Err("the command has too many unclosed expressions".to_owned());
        }
        Ok(())
    }

    /// A parser for a part of the text, with positions of its own.
    pub(super) fn inside<'b>(&self, text: &'b str, base: Base) -> Parser<'b> {
        Parser { depth: self.depth, ..Parser::new(text, base, 0) }
    }

    /// Takes a backslash before a line's end. It splits something if there is no blank on either side.
    pub(super) fn join_lines(&mut self, splits: bool) {
        let blank = |byte: Option<u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace());
        let before = self.pos.checked_sub(1).and_then(|at| self.byte_at(at));
        let after = self.byte_at(self.pos + 2);
        self.joins.places.push(self.pos);
        self.joins.split |= splits && !blank(before) && (!blank(after) || before == Some(b'$'));
        self.pos += 2;
    }

    /// Takes over the joined lines of a parser for a part that begins here.
    pub(super) fn joins_of(&mut self, inner: Parser<'_>, from: Option<usize>) -> Parsing<()> {
        match from {
            Some(from) => self.joins.places.extend(inner.joins.places.iter().map(|at| from + at)),
            None if inner.joins.split => {
                return Err("syntax error: line continuation inside a name or operator".to_owned());
            }
            None => {}
        }
        self.joins.split |= inner.joins.split;
        Ok(())
    }

    fn blanks(&mut self) {
        loop {
            match self.byte() {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'\\') if self.byte_at(self.pos + 1) == Some(b'\n') => self.join_lines(true),
                Some(b'#') => {
                    let end = self.rest().find('\n').map_or(self.end, |length| self.pos + length);
                    self.comments.push((self.pos, end));
                    self.pos = end;
                }
                _ => return,
            }
        }
    }

    fn newlines(&mut self) -> Parsing<()> {
        loop {
            self.blanks();
            if !self.take("\n") {
                return Ok(());
            }
            self.documents()?;
        }
    }

    /// The next line without its end.
    fn line(&mut self) -> &'a str {
        let rest = self.rest();
        let (line, length) = rest.find('\n').map_or((rest, rest.len()), |at| (&rest[..at], at + 1));
        self.pos += length;
        line
    }

    /// Commands up to the end of the text, a closing parenthesis or a word that closes.
    pub(super) fn list(&mut self) -> Parsing<List> {
        self.deeper()?;
        let mut items = Vec::new();
        loop {
            self.newlines()?;
            if self.list_ends() {
                break;
            }
            items.push(self.ended_item()?);
        }
        self.depth -= 1;
        Ok(List { items })
    }

    /// An item with what separates it from the next.
    fn ended_item(&mut self) -> Parsing<Item> {
        let mut item = self.item()?;
        self.blanks();
        match self.byte() {
            Some(b'&') if self.byte_at(self.pos + 1) != Some(b'&') => {
                self.pos += 1;
                item.background = true;
            }
            Some(b';') if !matches!(self.byte_at(self.pos + 1), Some(b';' | b'&')) => self.pos += 1,
            Some(b'\n') | None => {}
            _ if self.list_ends() => {}
            _ => return Err(self.unexpected()),
        }
        Ok(item)
    }

    /// The commands before the first that is not understood: a shell reads and runs one line after the other.
    pub(super) fn understood(&mut self) -> List {
        let mut items = Vec::new();
        while self.newlines().is_ok() && !self.list_ends() {
            let Ok(item) = self.ended_item() else { break };
            items.push(item);
        }
        List { items }
    }

    fn list_ends(&self) -> bool {
        match self.byte() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.byte_at(self.pos + 1), Some(b';' | b'&')),
            _ => self.keyword().is_some_and(|word| CLOSERS.contains(&word)),
        }
    }

    /// The next word, if it could be a reserved one.
    fn keyword(&self) -> Option<&'a str> {
        let rest = self.rest();
        let letters = rest.bytes().take(10).take_while(|byte| byte.is_ascii_lowercase() || b"{}![]".contains(byte));
        let length = letters.count();
        // Lines that are joined behind it are one with what follows.
        let mut next = rest.get(length..).unwrap_or_default();
        while let Some(joined) = next.strip_prefix("\\\n") {
            next = joined;
        }
        let ends = match next.as_bytes().first() {
            None => true,
            Some(byte) => is_meta(*byte),
        };
        let word = (length > 0 && ends).then(|| &rest[..length])?;
        (!self.base.posix || !BASH_WORDS.contains(&word)).then_some(word)
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.pos += word.len();
        }
        found
    }

    fn expect_keyword(&mut self, word: &str) -> Parsing<()> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn item(&mut self) -> Parsing<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let connector = if self.take("&&") {
                Connector::And
            } else if self.take("||") {
                Connector::Or
            } else {
                return Ok(Item { first, rest, background: false });
            };
            self.newlines()?;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsing<Pipeline> {
        let (mut negated, mut alone) = (false, false);
        loop {
            self.blanks();
            if self.take_keyword("!") {
                negated = !negated;
                alone = true;
            } else if self.take_keyword("time") {
                alone = true;
                self.blanks();
                for option in ["-p", "--"] {
                    let ends = |byte: Option<u8>| byte.is_none_or(is_meta);
                    if self.looking_at(option) && ends(self.byte_at(self.pos + 2)) {
                        self.pos += 2;
                        self.blanks();
                    }
                }
            } else {
                break;
            }
        }
        let mut commands = Vec::new();
        // `time` and `!` may stand alone.
        if alone && matches!(self.byte(), None | Some(b'\n' | b';' | b')')) {
            return Ok(Pipeline { negated, commands });
        }
        loop {
            commands.push(self.node()?);
            self.blanks();
            if self.looking_at("||") || !(!self.base.posix && self.take("|&") || self.take("|")) {
                return Ok(Pipeline { negated, commands });
            }
            self.newlines()?;
        }
    }

    fn node(&mut self) -> Parsing<Node> {
        self.deeper()?;
        self.blanks();
        let start = self.pos;
        let kind = self.compound()?;
        let mut node = match kind {
            None => self.simple()?,
            Some(kind) => {
                let mut redirects = Vec::new();
                // The body of a function has taken its own.
                if !matches!(kind, NodeKind::Function { .. } | NodeKind::Coprocess { .. }) {
                    loop {
                        self.blanks();
                        match self.redirect()? {
                            Some(redirect) => redirects.push(redirect),
                            None => break,
                        }
                    }
                }
                Node { span: Span::default(), kind, redirects }
            }
        };
        node.span = self.base.map(start, self.trimmed(start));
        self.depth -= 1;
        Ok(node)
    }

    /// The end of what was read, without the blanks after it.
    fn trimmed(&self, start: usize) -> usize {
        let read = self.text.get(start..self.pos).unwrap_or_default();
        start + read.trim_end_matches([' ', '\t', '\n']).len()
    }

    pub(super) fn word(&mut self) -> Parsing<Option<Word>> {
        self.word_until(Stop::Word)
    }

    fn word_until(&mut self, stop: Stop) -> Parsing<Option<Word>> {
        let start = self.pos;
        let parts = self.parts(stop, false)?;
        if self.pos == start {
            return Ok(None);
        }
        Ok(Some(Word { span: self.base.map(start, self.pos), parts }))
    }

    /// Parses what a substitution holds, up to `close`.
    pub(super) fn enclosed(&mut self, close: &str) -> Parsing<List> {
        // The heredocs of the line outside begin after that line, not inside the substitution.
        let outer = std::mem::take(&mut self.pending);
        let list = self.list()?;
        if close == "}" {
            self.expect_keyword("}")?;
        } else {
            self.expect(close)?;
        }
        let unread = std::mem::replace(&mut self.pending, outer);
        self.pending.extend(unread);
        Ok(list)
    }
}

/// Whether a byte ends a word wherever it stands unquoted.
pub(super) fn is_meta(byte: u8) -> bool {
    b" \t\n;&|()<>".contains(&byte)
}
