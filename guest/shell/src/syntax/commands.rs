//! Lists, pipelines, compound commands and redirects.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::tree::{
    Arm, ArmEnd, Assigned, Assignment, Connector, Descriptor, Element, Item, List, Literal, Node, NodeKind, Part,
    Pipeline, Redirect, RedirectOperator, Target, Test, Word,
};
use super::words::Stop;
use crate::word::{Span, name_length};

/// How deep commands, words and expansions may stand inside one another. Scripts that people write stay below ten;
/// the parser recurses once a level, and so does the walk.
const MAX_DEPTH: usize = 100;

/// How many bytes are gone through for ends of expressions that are not there.
const MAX_SEARCHED: usize = 8 * 1024 * 1024;

/// Programs whose arguments may be array assignments.
const ARRAY_COMMANDS: &[&str] = &["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

/// Words that are reserved in bash, and commands like any other where only the standard is known.
const BASH_WORDS: &[&str] = &["[[", "coproc", "function", "select", "time"];

/// Words that end a list where a command could begin.
const CLOSERS: &[&str] = &["}", "do", "done", "elif", "else", "esac", "fi", "then"];

/// Where a text that is parsed stands in the outermost one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Base {
    /// Its first byte there.
    pub(crate) offset: usize,
    /// The span to give instead, where quoting makes the positions differ.
    pub(crate) opaque: Option<Span>,
    /// Whether it is read as dash does, which knows little but the standard. It is `sh` on Debian.
    pub(crate) posix: bool,
    /// Whether what is not known of it are names that `mktemp` makes up, and nothing else.
    pub(crate) made_up: bool,
}

impl Base {
    pub(crate) fn opaque(span: Span) -> Self {
        Base { opaque: Some(span), ..Base::default() }
    }

    pub(crate) fn map(self, start: usize, end: usize) -> Span {
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
pub(crate) struct Parsed {
    pub(crate) list: List,
    /// From the `#` to the line's end; those inside substitutions are not among them.
    pub(crate) comments: Vec<Span>,
}

/// Parses a whole text. The error says what is wrong, for people.
pub(crate) fn parse(text: &str, base: Base, depth: usize) -> Result<Parsed, String> {
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
        return Err("the text does not parse: lines are joined inside names or operators".to_owned());
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
            None => format!("the text does not parse: it ends too early (line {line})"),
            Some(c) => format!("the text does not parse: unexpected {c:?} in line {line}"),
        }
    }

    pub(super) fn deeper(&mut self) -> Parsing<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the text nests deeper than {MAX_DEPTH} levels"));
        }
        if self.searched.get() > MAX_SEARCHED {
            return Err("the text has too many expressions that do not end".to_owned());
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
                return Err("the text does not parse: lines are joined inside names or operators".to_owned());
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

    /// The bodies of the heredocs of the line that just ended.
    fn documents(&mut self) -> Parsing<()> {
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

    fn compound(&mut self) -> Parsing<Option<NodeKind>> {
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

    fn function(&mut self, name: &Word) -> Parsing<NodeKind> {
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

    fn simple(&mut self) -> Parsing<Node> {
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

    fn redirect(&mut self) -> Parsing<Option<Redirect>> {
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
                return Err("the text does not parse: a descriptor is named by what is expanded".to_owned());
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
                return Err("the text does not parse: shells differ in where such a heredoc ends".to_owned());
            }
            let (delimiter, quoted) = self.delimiter(&word)?;
            if strip && delimiter.starts_with('\t') {
                // Its line has no tabs any more when it is compared; shells differ in what is compared to it.
                return Err("the text does not parse: shells differ in where such a heredoc ends".to_owned());
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
    fn forced(&mut self, redirect: &Redirect, start: usize) -> Parsing<Option<Redirect>> {
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
            return Err("the text does not parse: shells differ in which file a `>!` writes".to_owned());
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
                    return Err("the text does not parse: a heredoc ends at a quoted expansion".to_owned());
                }
                Ok((written.to_owned(), false))
            }
            None => Err("the text does not parse: a heredoc ends at an expansion".to_owned()),
        }
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

    fn test_or(&mut self) -> Parsing<Test> {
        self.deeper()?;
        let mut left = self.test_and()?;
        loop {
            self.newlines()?;
            if !self.take("||") {
                self.depth -= 1;
                return Ok(left);
            }
            left = Test::Or(Box::new(left), Box::new(self.test_and()?));
        }
    }

    fn test_and(&mut self) -> Parsing<Test> {
        let mut left = self.test_not()?;
        loop {
            self.newlines()?;
            if !self.take("&&") {
                return Ok(left);
            }
            left = Test::And(Box::new(left), Box::new(self.test_not()?));
        }
    }

    fn test_not(&mut self) -> Parsing<Test> {
        let mut negated = false;
        loop {
            self.newlines()?;
            if !self.take_keyword("!") {
                break;
            }
            negated = !negated;
        }
        let test = if self.take("(") {
            let inner = self.test_or()?;
            self.newlines()?;
            self.expect(")")?;
            inner
        } else {
            self.test_primary()?
        };
        Ok(if negated { Test::Not(Box::new(test)) } else { test })
    }

    fn test_primary(&mut self) -> Parsing<Test> {
        let first = self.word()?.ok_or_else(|| self.unexpected())?;
        self.blanks();
        let unary = first.plain().filter(|text| text.len() == 2 && text.starts_with('-')).map(str::to_owned);
        if let Some(operator) = unary
            && !self.test_ends()
            && let Some(word) = self.word()?
        {
            return Ok(Test::Unary(operator, word));
        }
        for operator in ["<", ">"] {
            if self.take(operator) {
                self.blanks();
                let second = self.word()?.ok_or_else(|| self.unexpected())?;
                return Ok(Test::Binary(operator.to_owned(), first, second));
            }
        }
        if self.test_ends() {
            return Ok(Test::Word(first));
        }
        let Some(operator) = self.word()?.and_then(|word| word.plain().map(str::to_owned)) else {
            return Ok(Test::Word(first));
        };
        self.blanks();
        let stop = if operator == "=~" { Stop::Regex } else { Stop::Word };
        let second = self.word_until(stop)?.ok_or_else(|| self.unexpected())?;
        Ok(Test::Binary(operator, first, second))
    }

    fn test_ends(&self) -> bool {
        self.keyword() == Some("]]") || matches!(self.byte(), None | Some(b')' | b'\n' | b'&' | b'|'))
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

/// Whether a byte ends a word wherever it stands unquoted.
pub(super) fn is_meta(byte: u8) -> bool {
    b" \t\n;&|()<>".contains(&byte)
}
