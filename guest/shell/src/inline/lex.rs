//! Text to tokens, for Python, JavaScript, Perl, Ruby and PHP.
//!
//! Strings of every kind become one token with their escapes decoded; what is interpolated into them is lexed in
//! place. Each bracket knows its partner, so that a reader can step over a block. One pass, whatever the text.

use std::ops::Range;
use std::rc::Rc;

use super::Language;
use super::value::{HOLE, HOME};

/// How deep interpolations may nest. What lies deeper is skipped, and the script is not complete.
const DEEPEST: usize = 12;

#[derive(Debug)]
pub(super) enum Kind {
    Text(Vec<Part>),
    /// Backticks: text for a shell, run at once.
    Shell(Vec<Part>),
    /// `qw(a b)`, `%w[a b]`.
    Words(Vec<String>),
    Number(Option<i64>),
    /// With its sigil in Perl and PHP.
    Name(String),
    /// An operator or a bracket.
    Mark(&'static str),
    /// The end of a line, where that can end a statement.
    Line,
    /// A pattern, or a Perl `<FILE>`.
    Opaque,
    /// Perl's `s///` and `tr///`, which change a variable.
    Change,
    /// A replacement that is code, of Perl's `s///e`.
    Code(Rc<Tokens>),
}

#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    /// `plain`: its value stands there as it is, without a format.
    Code {
        tokens: Rc<Tokens>,
        plain: bool,
    },
}

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
    /// White space before it.
    pub(super) space: bool,
    /// The partner of a bracket, by index.
    pub(super) pair: Option<usize>,
    /// For a [`Kind::Line`], how far the next line is indented. For an opening bracket, 1 if it holds a Python
    /// comprehension. For the first token of a Perl statement, where the `for` behind it stands.
    pub(super) indent: usize,
}

#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
}

impl Tokens {
    pub(super) fn mark(&self, at: usize) -> Option<&'static str> {
        match self.list.get(at) {
            Some(Token { kind: Kind::Mark(mark), .. }) => Some(mark),
            _ => None,
        }
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.list.get(at) {
            Some(Token { kind: Kind::Name(name), .. }) => Some(name),
            _ => None,
        }
    }
}

/// The tokens of a script, and whether all of it was understood.
pub(super) fn lex(language: Language, script: &str) -> (Rc<Tokens>, bool) {
    let mut lexer =
        Lexer { language, script, at: 0, end: script.len(), depth: 0, complete: true, resume: None, line_end: 0 };
    if language == Language::Php && script.contains("<?") {
        lexer.skip_markup();
    }
    let tokens = lexer.block(Stop::End);
    (Rc::new(tokens), lexer.complete)
}

/// Where a run of tokens ends.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    End,
    /// At a `}` that nothing opened.
    Brace,
    /// The same, or at the `!r` or `:>10` of a Python f-string.
    Format,
}

struct Lexer<'a> {
    language: Language,
    script: &'a str,
    at: usize,
    end: usize,
    depth: usize,
    complete: bool,
    /// Where the text after this line goes on, behind the bodies of its heredocs.
    resume: Option<usize>,
    /// The end of the current line, once it was looked for.
    line_end: usize,
}

/// Longest first.
const MARKS: &[&str] = &[
    "<<=", ">>=", "**=", "...", "===", "!==", "<=>", "||=", "&&=", "??=", "//=", "?->", "=>", "->", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "&.", "::", "++", "--", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", "**",
    "<<", ">>", "=~", "!~", "..", ":=", "//", "(", ")", "[", "]", "{", "}", ";", ",", ".", ":", "?", "=", "+", "-",
    "*", "/", "%", "<", ">", "!", "~", "&", "|", "^", "@", "\\", "$", "#", "`",
];

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.script.get(self.at..self.end).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn skip_while(&mut self, test: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        let length = rest.find(|char| !test(char)).unwrap_or(rest.len());
        self.at += length;
        length
    }

    /// Up to and with `close`, or to the end.
    fn skip_past(&mut self, close: &str) {
        let rest = self.rest();
        self.at += rest.find(close).map_or(rest.len(), |at| at + close.len());
    }

    /// PHP outside `<?php ?>` is text that is printed.
    fn skip_markup(&mut self) {
        self.skip_past("<?");
        let _ = self.eat("php") || self.eat("=");
    }

    fn block(&mut self, stop: Stop) -> Tokens {
        let mut tokens = Tokens::default();
        if self.depth >= DEEPEST {
            self.complete = false;
            return tokens;
        }
        self.depth += 1;
        let mut open: Vec<usize> = Vec::new();
        // Where the statement in each bracket of `open` began, and where it may have begun, behind a block.
        let mut starts = vec![(0, 0)];
        let mut line_start = true;
        loop {
            let before = self.at;
            let line = self.blank(line_start, &tokens);
            if let Some(indent) = line {
                line_start = true;
                let lines = match self.language {
                    Language::Python => open.is_empty(),
                    Language::Node | Language::Ruby => {
                        open.last().is_none_or(|at| !matches!(tokens.mark(*at), Some("(" | "[")))
                    }
                    _ => false,
                };
                if lines && !matches!(tokens.list.last(), None | Some(Token { kind: Kind::Line, .. })) {
                    tokens.list.push(Token { kind: Kind::Line, at: before..self.at, space: true, pair: None, indent });
                } else if let Some(Token { kind: Kind::Line, indent: last, .. }) = tokens.list.last_mut() {
                    *last = indent;
                }
                continue;
            }
            let start = self.at;
            let Some(char) = self.peek() else { break };
            if open.is_empty() && stop != Stop::End && char == '}' {
                break;
            }
            if open.is_empty() && stop == Stop::Format && (char == ':' || char == '!' && !self.rest().starts_with("!="))
            {
                break;
            }
            let kind = self.token(char, line_start, &tokens);
            line_start = false;
            let Some(kind) = kind else { break };
            let index = tokens.list.len();
            let mut pair = None;
            match &kind {
                Kind::Mark("(" | "[" | "{") => {
                    open.push(index);
                    starts.push((index + 1, index + 1));
                }
                Kind::Mark(";") => {
                    if let Some(last) = starts.last_mut() {
                        *last = (index + 1, index + 1);
                    }
                }
                Kind::Mark(close @ (")" | "]" | "}")) => {
                    let opener = if *close == ")" {
                        "("
                    } else if *close == "]" {
                        "["
                    } else {
                        "{"
                    };
                    if open.last().is_some_and(|at| tokens.mark(*at) == Some(opener)) {
                        pair = open.pop();
                        starts.pop();
                    }
                    if let Some(last) = starts.last_mut().filter(|_| *close == "}") {
                        last.1 = index + 1;
                    }
                }
                Kind::Name(name) => match name.as_str() {
                    "for" if self.language == Language::Python => {
                        if let Some(token) = open.last().and_then(|at| tokens.list.get_mut(*at)) {
                            token.indent = 1;
                        }
                    }
                    "for" | "foreach" if self.language == Language::Perl => {
                        let (first, second) = starts.last().copied().unwrap_or((0, 0));
                        for start in [first, second] {
                            if let Some(token) = tokens.list.get_mut(start) {
                                token.indent = index;
                            }
                        }
                    }
                    "end"
                        if self.language == Language::Ruby
                            && !after_dot(&tokens)
                            && open.last().is_some_and(|at| tokens.name(*at).is_some()) =>
                    {
                        pair = open.pop();
                        starts.pop();
                    }
                    name if self.language == Language::Ruby && opens_block(name, &tokens) => {
                        open.push(index);
                        starts.push((index + 1, index + 1));
                    }
                    _ => {}
                },
                _ => {}
            }
            if let Some(token) = pair.and_then(|at| tokens.list.get_mut(at)) {
                token.pair = Some(index);
            }
            tokens.list.push(Token { kind, at: start..self.at, space: start > before, pair, indent: 0 });
        }
        self.depth -= 1;
        tokens
    }

    /// Skips white space and comments. The next line's indentation, if a line ended.
    fn blank(&mut self, line_start: bool, tokens: &Tokens) -> Option<usize> {
        loop {
            let rest = self.rest();
            let first = rest.bytes().next()?;
            match first {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    if let Some(resume) = self.resume.take() {
                        self.at = self.at.max(resume).min(self.end);
                    }
                    let indent = self.skip_while(|char| matches!(char, ' ' | '\t'));
                    return Some(indent);
                }
                b'\\' if rest.starts_with("\\\n") => self.at += 2,
                b'\\' if rest.starts_with("\\\r\n") => self.at += 3,
                b'#' if self.language != Language::Node => {
                    let line = rest.find('\n').unwrap_or(rest.len());
                    let php = self.language == Language::Php;
                    self.at += match rest.get(..line).and_then(|line| line.find("?>")) {
                        Some(close) if php => close,
                        _ => line,
                    };
                }
                b'#' if rest.starts_with("#!") && self.at == 0 => self.skip_line(),
                b'/' if matches!(self.language, Language::Node | Language::Php) && rest.starts_with("//") => {
                    let line = rest.find('\n').unwrap_or(rest.len());
                    let php = self.language == Language::Php;
                    self.at += match rest.get(..line).and_then(|line| line.find("?>")) {
                        Some(close) if php => close,
                        _ => line,
                    };
                }
                b'/' if matches!(self.language, Language::Node | Language::Php) && rest.starts_with("/*") => {
                    self.at += 2;
                    self.skip_past("*/");
                }
                b'?' if self.language == Language::Php && rest.starts_with("?>") => {
                    self.skip_markup();
                }
                b'=' if line_start => {
                    // Documentation between code, only at the beginning of a line.
                    let begins = self.at == 0 || self.script.as_bytes().get(self.at - 1) == Some(&b'\n');
                    // Where an expression goes on, Perl reads an assignment.
                    let word = ["=pod", "=head", "=over", "=item", "=begin", "=for", "=encoding"]
                        .iter()
                        .any(|word| rest.starts_with(word))
                        && begins_statement(tokens);
                    match self.language {
                        Language::Perl if begins && word => match rest.find("\n=cut") {
                            Some(cut) => {
                                self.at += cut + 1;
                                self.skip_line();
                            }
                            None => self.at = self.end,
                        },
                        Language::Ruby if begins && rest.starts_with("=begin") => match rest.find("\n=end") {
                            Some(cut) => {
                                self.at += cut + 1;
                                self.skip_line();
                            }
                            None => self.at = self.end,
                        },
                        _ => return None,
                    }
                }
                _ if !rest.is_char_boundary(1) => match self.peek() {
                    Some(char) if char.is_whitespace() || char == '\u{feff}' => self.at += char.len_utf8(),
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    fn skip_line(&mut self) {
        self.skip_while(|char| char != '\n');
    }

    fn token(&mut self, char: char, line_start: bool, tokens: &Tokens) -> Option<Kind> {
        if char.is_ascii_digit() {
            return Some(self.number());
        }
        if char.is_alphabetic() || char == '_' || !char.is_ascii() {
            if let Some(kind) = self.prefixed() {
                return Some(kind);
            }
            return self.word(line_start, tokens);
        }
        let operand = !ends_value(self.language, tokens);
        match (self.language, char) {
            (Language::Python, '\'' | '"') => return Some(self.python_text("")),
            (Language::Node, '\'' | '"') => return Some(self.delimited(Quote::plain(Escapes::Node))),
            (Language::Node, '`') => {
                return Some(self.delimited(Quote { interpolates: true, ..Quote::plain(Escapes::Node) }));
            }
            (Language::Node, '\\') => return self.word(line_start, tokens),
            (Language::Node, '#') => {
                self.at += 1;
                return self.word(line_start, tokens);
            }
            (Language::Node, '/') if operand => return Some(self.pattern()),
            (Language::Perl | Language::Ruby | Language::Php, '\'') => {
                return Some(self.delimited(Quote::plain(Escapes::Single)));
            }
            (Language::Perl, '"') => return Some(self.delimited(Quote::rich(Escapes::Perl))),
            (Language::Ruby, '"') => return Some(self.delimited(Quote::rich(Escapes::Ruby))),
            (Language::Php, '"') => return Some(self.delimited(Quote::rich(Escapes::Php))),
            (Language::Perl, '`') => return Some(shell(self.delimited(Quote::rich(Escapes::Perl)))),
            (Language::Ruby, '`') => return Some(shell(self.delimited(Quote::rich(Escapes::Ruby)))),
            (Language::Php, '`') => return Some(shell(self.delimited(Quote::rich(Escapes::Php)))),
            (Language::Perl, '$' | '@' | '%' | '&') => {
                if let Some(kind) = self.perl_variable(char, operand) {
                    return Some(kind);
                }
            }
            (Language::Perl, '/') if operand => return Some(self.pattern()),
            (Language::Perl, '?') if operand => {}
            (Language::Perl, '<') if operand => {
                if let Some(kind) = self.heredoc() {
                    return Some(kind);
                }
                // `<FILE>`, `<$file>`, `<*.c>`.
                let rest = self.rest();
                let close = rest.bytes().take(200).position(|byte| matches!(byte, b'>' | b'\n' | b';'));
                if let Some(close) = close.filter(|close| rest.as_bytes().get(*close) == Some(&b'>')) {
                    let inside = rest.get(1..close).unwrap_or_default().to_owned();
                    self.at += close + 1;
                    return Some(if inside.contains(['*', '/', '.']) {
                        Kind::Text(vec![Part::Text(super::value::glob(&inside))])
                    } else {
                        Kind::Opaque
                    });
                }
            }
            (Language::Ruby, '<') => {
                if (operand || tokens.list.last().is_some_and(|token| matches!(token.kind, Kind::Name(_))))
                    && let Some(kind) = self.heredoc()
                {
                    return Some(kind);
                }
            }
            (Language::Php, '<') => {
                if let Some(kind) = self.heredoc() {
                    return Some(kind);
                }
            }
            (Language::Php, '$') => {
                let start = self.at;
                self.at += 1;
                if self.skip_while(is_word) > 0 {
                    return Some(Kind::Name(self.slice(start)));
                }
                self.at = start;
            }
            (Language::Php, '\\') => {
                self.at += 1;
                if self.peek().is_some_and(is_word) {
                    return self.word(line_start, tokens);
                }
                return Some(Kind::Mark("\\"));
            }
            (Language::Ruby, '/') => {
                let argument = tokens.list.last().is_some_and(|token| matches!(token.kind, Kind::Name(_)))
                    && self.before_is_blank()
                    && !self.rest().starts_with("/ ");
                if operand || argument {
                    return Some(self.pattern());
                }
            }
            (Language::Ruby, '%') => {
                let argument = tokens.list.last().is_some_and(|token| matches!(token.kind, Kind::Name(_)))
                    && self.before_is_blank();
                if (operand || argument)
                    && let Some(kind) = self.percent(operand)
                {
                    return Some(kind);
                }
            }
            (Language::Ruby, '$' | '@') => {
                let start = self.at;
                self.at += 1;
                self.eat("@");
                if self.skip_while(is_word) == 0 && char == '$' {
                    self.next();
                }
                return Some(Kind::Name(self.slice(start)));
            }
            (Language::Ruby, ':') if self.rest().get(1..).is_some_and(|rest| rest.starts_with('"')) => {
                self.at += 1;
                return Some(self.delimited(Quote::rich(Escapes::Ruby)));
            }
            (Language::Ruby, ':') if operand || self.before_is_blank() => {
                let name = self.rest().get(1..).unwrap_or_default();
                if name.starts_with(|char: char| char.is_alphabetic() || char == '_') {
                    self.at += 1;
                    let start = self.at;
                    self.skip_while(is_word);
                    self.skip_while(|char| matches!(char, '?' | '!'));
                    return Some(Kind::Text(vec![Part::Text(self.slice(start))]));
                }
            }
            (Language::Ruby, '?') if operand => {
                let mut chars = self.rest().chars().skip(1);
                if let Some(char) = chars.next().filter(|char| char.is_alphanumeric())
                    && !chars.next().is_some_and(is_word)
                {
                    self.at += 1 + char.len_utf8();
                    return Some(Kind::Text(vec![Part::Text(char.to_string())]));
                }
            }
            _ => {}
        }
        let rest = self.rest();
        let mark = MARKS.iter().copied().find(|mark| rest.starts_with(mark) && self.has_mark(mark, rest));
        match mark {
            Some(mark) => {
                self.at += mark.len();
                Some(Kind::Mark(mark))
            }
            None => {
                self.next();
                Some(Kind::Opaque)
            }
        }
    }

    /// Whether the language has this operator, and means it here.
    fn has_mark(&self, mark: &str, rest: &str) -> bool {
        let digit = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        match mark {
            "::" => !matches!(self.language, Language::Python | Language::Node),
            "?." => self.language == Language::Node && !digit(2),
            "?->" => self.language == Language::Php,
            "&." => self.language == Language::Ruby,
            ":=" => self.language == Language::Python,
            "//" | "//=" => matches!(self.language, Language::Python | Language::Perl),
            ".=" => matches!(self.language, Language::Perl | Language::Php),
            "=~" => matches!(self.language, Language::Perl | Language::Ruby),
            "!~" => matches!(self.language, Language::Perl | Language::Ruby),
            "++" | "--" => !matches!(self.language, Language::Python | Language::Ruby),
            "??" | "??=" => matches!(self.language, Language::Node | Language::Php),
            "->" | "=>" => true,
            ".." => !matches!(self.language, Language::Node | Language::Python | Language::Php),
            "===" | "!==" => self.language != Language::Python,
            _ => true,
        }
    }

    fn before_is_blank(&self) -> bool {
        self.at > 0 && self.script.as_bytes().get(self.at - 1).is_some_and(u8::is_ascii_whitespace)
    }

    fn slice(&self, start: usize) -> String {
        self.script.get(start..self.at).unwrap_or_default().to_owned()
    }

    fn number(&mut self) -> Kind {
        let start = self.at;
        let rest = self.rest();
        let radix = match rest.as_bytes() {
            [b'0', b'x' | b'X', ..] => 16,
            [b'0', b'o' | b'O', ..] => 8,
            [b'0', b'b' | b'B', ..] => 2,
            _ => 10,
        };
        self.skip_while(|char| char.is_ascii_alphanumeric() || char == '_');
        let fraction =
            self.rest().strip_prefix('.').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
        if radix == 10 && fraction {
            self.at += 1;
            self.skip_while(|char| char.is_ascii_alphanumeric() || char == '_');
            return Kind::Number(None);
        }
        let text = self.slice(start).replace('_', "");
        // A zero in front makes it octal, in all languages that still take it.
        let old =
            radix == 10 && text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        let radix = if old { 8 } else { radix };
        let digits = if old || radix == 10 { Some(text.as_str()) } else { text.get(2..) };
        Kind::Number(digits.and_then(|digits| i64::from_str_radix(digits.trim_end_matches('n'), radix).ok()))
    }

    fn word(&mut self, line_start: bool, tokens: &Tokens) -> Option<Kind> {
        let start = self.at;
        let mut name = String::new();
        loop {
            let from = self.at;
            self.skip_while(is_word);
            name.push_str(self.script.get(from..self.at).unwrap_or_default());
            match self.language {
                Language::Perl if self.rest().starts_with("::") => {
                    self.at += 2;
                    name.push_str("::");
                }
                Language::Php if self.rest().starts_with('\\') => {
                    self.at += 1;
                    name.push('\\');
                }
                Language::Ruby => {
                    let rest = self.rest();
                    if rest.starts_with(['?', '!']) && !rest.get(1..).is_some_and(|rest| rest.starts_with('=')) {
                        let ternary = rest.starts_with('?') && rest.get(1..).is_some_and(|rest| rest.starts_with(' '));
                        if !ternary {
                            self.at += 1;
                            name.push_str(rest_mark(self.script, self.at));
                        }
                    }
                    break;
                }
                // `\u0066s` in a JavaScript name.
                Language::Node if self.rest().starts_with("\\u") => {
                    self.at += 2;
                    let mut decoded = String::new();
                    self.unicode(&mut decoded, 4);
                    if decoded.is_empty() || decoded.contains(HOLE) {
                        break;
                    }
                    name.push_str(&decoded);
                }
                _ => break,
            }
        }
        if self.at == start {
            // No letter after all.
            self.next();
            return Some(Kind::Opaque);
        }
        if !name.is_ascii() && self.language == Language::Python {
            // Python folds letters of other alphabets: names may not be what they seem.
            self.complete = false;
        }
        match (self.language, name.as_str()) {
            (Language::Perl | Language::Ruby, "__END__" | "__DATA__") if line_start => return None,
            (Language::Php, "__halt_compiler") => return None,
            (Language::Php, _) => name = name.trim_start_matches('\\').to_ascii_lowercase(),
            (Language::Perl, _) if !after_dot(tokens) => {
                if let Some(kind) = self.perl_quote(&name, tokens) {
                    return Some(kind);
                }
            }
            _ => {}
        }
        Some(Kind::Name(name))
    }

    /// Python's `rb"..."`.
    fn prefixed(&mut self) -> Option<Kind> {
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

    fn python_text(&mut self, prefix: &str) -> Kind {
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
    fn delimited(&mut self, quote: Quote) -> Kind {
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

    fn unicode(&mut self, text: &mut String, length: usize) {
        if self.eat("{") {
            self.braced(text);
        } else {
            self.code(16, length, "\\u", text);
        }
    }

    /// A `/pattern/` with its flags.
    fn pattern(&mut self) -> Kind {
        self.next();
        let mut class = false;
        while let Some(char) = self.next() {
            match char {
                '\\' => {
                    self.next();
                }
                '[' if self.language == Language::Node => class = true,
                ']' => class = false,
                '/' if !class => break,
                '\n' if self.language == Language::Node => break,
                '#' if self.language == Language::Ruby && self.rest().starts_with('{') => {
                    // Interpolated code in a pattern runs as well.
                    self.complete = false;
                }
                '(' if self.language == Language::Perl
                    && (self.rest().starts_with("?{") || self.rest().starts_with("??{")) =>
                {
                    self.complete = false;
                }
                _ => {}
            }
        }
        self.skip_while(|char| char.is_ascii_alphabetic());
        Kind::Opaque
    }

    /// `$x`, `@x`, `%x`, `&x`, `$#x`, `$$`, `@$x`: one name. Nothing if the sign is an operator.
    fn perl_variable(&mut self, sigil: char, operand: bool) -> Option<Kind> {
        if matches!(sigil, '%' | '&') && !operand {
            return None;
        }
        let start = self.at;
        self.at += 1;
        if sigil == '$' && self.rest().starts_with('#') {
            self.at += 1;
        }
        if self.rest().starts_with('{') {
            // `${name}` is `$name`; any other braces are an expression.
            let open = self.at;
            self.at += 1;
            self.skip_while(char::is_whitespace);
            let name = self.at;
            self.skip_while(|char| is_word(char) || char == '^');
            let name = self.slice(name);
            self.skip_while(char::is_whitespace);
            if !name.is_empty() && self.eat("}") {
                return Some(Kind::Name(format!("{sigil}{name}")));
            }
            self.at = open;
            return Some(Kind::Name(sigil.to_string()));
        }
        if self.rest().starts_with('$') && self.rest().get(1..).is_some_and(|rest| rest.starts_with(is_word)) {
            // A sigil before a variable dereferences it.
            return Some(Kind::Name(sigil.to_string()));
        }
        let length = self.skip_while(|char| is_word(char) || char == ':');
        if length == 0 {
            match self.peek() {
                Some(char) if sigil == '$' && !char.is_whitespace() && char.is_ascii_punctuation() => {
                    self.next();
                }
                _ => {
                    self.at = start;
                    return None;
                }
            }
        }
        let mut name = self.slice(start);
        // The colon of `? $x : $y` is no part of the name, nor is that of `$x::`.
        while name.ends_with(':') && name.len() > 2 {
            name.pop();
            self.at -= 1;
        }
        Some(Kind::Name(name))
    }

    /// `q() qq() qw() qx() m() s()() tr()() y()() qr()`.
    fn perl_quote(&mut self, name: &str, tokens: &Tokens) -> Option<Kind> {
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
    fn percent(&mut self, operand: bool) -> Option<Kind> {
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
    fn heredoc(&mut self) -> Option<Kind> {
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

fn rest_mark(script: &str, at: usize) -> &str {
    script.get(at - 1..at).unwrap_or_default()
}

fn push_code(code: Option<u32>, text: &mut String) {
    text.push(code.and_then(char::from_u32).filter(|char| *char != HOME).unwrap_or(HOLE));
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || !char.is_ascii() && !char.is_whitespace()
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

fn shell(kind: Kind) -> Kind {
    match kind {
        Kind::Text(parts) => Kind::Shell(parts),
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

/// Whether a Perl statement can begin here. The brace of a subscript ends none.
fn begins_statement(tokens: &Tokens) -> bool {
    match tokens.list.last() {
        None | Some(Token { kind: Kind::Mark(";" | "{"), .. }) => true,
        Some(Token { kind: Kind::Mark("}"), pair, .. }) => {
            let before = pair.and_then(|open| open.checked_sub(1)).and_then(|at| tokens.list.get(at));
            let subscript = before.is_some_and(|token| match &token.kind {
                Kind::Name(name) => name.starts_with(['$', '@', '%']),
                Kind::Mark(mark) => matches!(*mark, "->" | "]" | "}"),
                _ => false,
            });
            !subscript
        }
        _ => false,
    }
}

/// Whether what came last makes a name a member: `x.end`.
fn after_dot(tokens: &Tokens) -> bool {
    matches!(tokens.mark(tokens.list.len().wrapping_sub(1)), Some("." | "->" | "&." | "?." | "::"))
}

/// Whether a Ruby keyword begins something that `end` ends.
fn opens_block(name: &str, tokens: &Tokens) -> bool {
    if after_dot(tokens) {
        return false;
    }
    match name {
        "def" | "class" | "module" | "begin" | "case" => true,
        "do" => {
            // That of `while x do` belongs to the `while`.
            let line = tokens
                .list
                .iter()
                .rev()
                .take(64)
                .take_while(|token| !matches!(token.kind, Kind::Line | Kind::Mark(";" | "{")));
            !line.into_iter().any(
                |token| matches!(&token.kind, Kind::Name(name) if matches!(name.as_str(), "while" | "until" | "for")),
            )
        }
        "if" | "unless" | "while" | "until" | "for" => match tokens.list.last() {
            None | Some(Token { kind: Kind::Line, .. }) => true,
            Some(Token { kind: Kind::Mark(mark), .. }) => !matches!(*mark, ")" | "]" | "}"),
            Some(Token { kind: Kind::Name(name), .. }) => {
                matches!(name.as_str(), "then" | "else" | "do" | "begin" | "and" | "or" | "not" | "return")
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether the last token ends a value, so that a sign after it is an operator.
fn ends_value(language: Language, tokens: &Tokens) -> bool {
    let Some(last) = tokens.list.last() else { return false };
    match &last.kind {
        Kind::Mark(")") => {
            // `if (x) /re/` begins a statement.
            let before = last.pair.and_then(|open| open.checked_sub(1)).and_then(|at| tokens.name(at));
            !(language == Language::Node && matches!(before, Some("if" | "while" | "for" | "with")))
        }
        Kind::Mark("}") => {
            // A block ends a statement, an object is a value.
            let before = last.pair.map(|open| open.checked_sub(1));
            match before {
                Some(None) => language != Language::Node,
                Some(Some(at)) if language == Language::Node => !matches!(
                    (tokens.mark(at), tokens.name(at), tokens.list.get(at).map(|token| &token.kind)),
                    (Some(")" | ";" | "{" | "}"), ..)
                        | (_, Some("else" | "do" | "try" | "finally"), _)
                        | (_, _, Some(Kind::Line))
                ),
                _ => true,
            }
        }
        Kind::Mark(mark) => matches!(*mark, "]" | "++" | "--"),
        Kind::Line => false,
        Kind::Name(name) if after_dot_at(tokens) => !name.is_empty(),
        Kind::Name(name) => match language {
            Language::Node => !matches!(
                name.as_str(),
                "return"
                    | "typeof"
                    | "case"
                    | "in"
                    | "of"
                    | "delete"
                    | "void"
                    | "throw"
                    | "new"
                    | "do"
                    | "else"
                    | "instanceof"
                    | "await"
                    | "yield"
            ),
            Language::Perl => {
                let sigil = name.starts_with(['$', '@', '%', '&']);
                sigil && name.len() > 1
                    || !sigil
                        && !matches!(
                            name.as_str(),
                            "split"
                                | "grep"
                                | "map"
                                | "join"
                                | "if"
                                | "unless"
                                | "and"
                                | "or"
                                | "not"
                                | "return"
                                | "push"
                                | "unshift"
                                | "x"
                                | "while"
                                | "until"
                                | "print"
                                | "say"
                                | "printf"
                                | "for"
                                | "foreach"
                                | "unlink"
                                | "system"
                                | "exec"
                                | "rmdir"
                                | "mkdir"
                                | "chdir"
                                | "eval"
                                | "chmod"
                                | "chown"
                                | "rename"
                                | "die"
                                | "warn"
                                | "defined"
                                | "ref"
                                | "scalar"
                                | "keys"
                                | "values"
                                | "each"
                                | "delete"
                                | "exists"
                                | "xor"
                                | "cmp"
                                | "eq"
                                | "ne"
                                | "lt"
                                | "gt"
                                | "le"
                                | "ge"
                                | "my"
                                | "our"
                                | "local"
                                | "else"
                                | "do"
                                | "when"
                                | "sort"
                                | "reverse"
                                | "lc"
                                | "uc"
                                | "length"
                                | "open"
                                | "opendir"
                                | "require"
                                | "rmtree"
                                | "remove_tree"
                                | "wantarray"
                        )
            }
            Language::Ruby => !matches!(
                name.as_str(),
                "if" | "unless"
                    | "while"
                    | "until"
                    | "and"
                    | "or"
                    | "not"
                    | "return"
                    | "when"
                    | "in"
                    | "then"
                    | "do"
                    | "else"
                    | "elsif"
                    | "case"
                    | "puts"
                    | "print"
                    | "p"
                    | "yield"
                    | "raise"
            ),
            Language::Php => !matches!(
                name.as_str(),
                "return" | "echo" | "print" | "case" | "and" | "or" | "xor" | "else" | "do" | "include" | "require"
            ),
            _ => true,
        },
        _ => true,
    }
}

fn after_dot_at(tokens: &Tokens) -> bool {
    matches!(tokens.mark(tokens.list.len().wrapping_sub(2)), Some("." | "->" | "&." | "?."))
}

/// Which escapes a text has.
#[derive(Clone, Copy, PartialEq)]
enum Escapes {
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
struct Quote {
    escapes: Escapes,
    interpolates: bool,
}

impl Quote {
    fn plain(escapes: Escapes) -> Quote {
        Quote { escapes, interpolates: false }
    }

    fn rich(escapes: Escapes) -> Quote {
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
