//! Text to tokens, for Python, JavaScript, Perl, Ruby and PHP.
//!
//! Strings of every kind become one token with their escapes decoded; what is interpolated into them is lexed in
//! place. Each bracket knows its partner, so that a reader can step over a block. One pass, whatever the text.

mod context;
mod open;
mod text;

use std::rc::Rc;

use super::Language;
use super::tokens::{Kind, Part, Token, Tokens};
use super::value::HOLE;
use context::{after_dot, begins_statement, ends_value};
use open::Open;
use text::{Escapes, Quote};

/// How deep interpolations may nest. What lies deeper is skipped, and the script is not complete.
const DEEPEST: usize = 12;

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
        let mut open = Open::none();
        let mut line_start = true;
        loop {
            let before = self.at;
            let line = self.blank(line_start, &tokens);
            if let Some(indent) = line {
                line_start = true;
                let lines = match self.language {
                    Language::Python => open.at.is_empty(),
                    Language::Node | Language::Ruby => {
                        open.at.last().is_none_or(|at| !matches!(tokens.mark(*at), Some("(" | "[")))
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
            if open.at.is_empty() && stop != Stop::End && char == '}' {
                break;
            }
            let ends = char == ':' || char == '!' && !self.rest().starts_with("!=");
            if open.at.is_empty() && stop == Stop::Format && ends {
                break;
            }
            let kind = self.token(char, line_start, &tokens);
            line_start = false;
            let Some(kind) = kind else { break };
            let index = tokens.list.len();
            let pair = open.follow(self.language, &kind, &mut tokens);
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
        match (self.language, char) {
            (Language::Node, '\\' | '$') => return self.word(line_start, tokens),
            (Language::Node, '#') => {
                self.at += 1;
                return self.word(line_start, tokens);
            }
            (Language::Php, '\\') => {
                self.at += 1;
                if self.peek().is_some_and(is_word) {
                    return self.word(line_start, tokens);
                }
                return Some(Kind::Mark("\\"));
            }
            _ => {}
        }
        let operand = !ends_value(self.language, tokens);
        let own = match self.language {
            Language::Python => matches!(char, '\'' | '"').then(|| self.python_text("")),
            Language::Node => self.node_token(char, operand),
            Language::Perl => self.perl_token(char, operand),
            Language::Ruby => self.ruby_token(char, operand, tokens),
            Language::Php => self.php_token(char),
            _ => None,
        };
        if own.is_some() {
            return own;
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

    fn node_token(&mut self, char: char, operand: bool) -> Option<Kind> {
        match char {
            '\'' | '"' => Some(self.delimited(Quote::plain(Escapes::Node))),
            '`' => Some(self.delimited(Quote { interpolates: true, ..Quote::plain(Escapes::Node) })),
            '/' if operand => Some(self.pattern()),
            _ => None,
        }
    }

    fn perl_token(&mut self, char: char, operand: bool) -> Option<Kind> {
        match char {
            '\'' => Some(self.delimited(Quote::plain(Escapes::Single))),
            '"' => Some(self.delimited(Quote::rich(Escapes::Perl))),
            '`' => Some(shell(self.delimited(Quote::rich(Escapes::Perl)))),
            '$' | '@' | '%' | '&' => self.perl_variable(char, operand),
            '/' if operand => Some(self.pattern()),
            '<' if operand => {
                if let Some(kind) = self.heredoc() {
                    return Some(kind);
                }
                // `<FILE>`, `<$file>`, `<*.c>`.
                let rest = self.rest();
                let close = rest.bytes().take(200).position(|byte| matches!(byte, b'>' | b'\n' | b';'));
                let close = close.filter(|close| rest.as_bytes().get(*close) == Some(&b'>'))?;
                let inside = rest.get(1..close).unwrap_or_default().to_owned();
                self.at += close + 1;
                Some(if inside.contains(['$', '@']) {
                    Kind::Opaque
                } else if inside.contains(['*', '/', '.']) {
                    Kind::Text(vec![Part::Text(super::value::glob(&inside))])
                } else {
                    Kind::Opaque
                })
            }
            _ => None,
        }
    }

    fn ruby_token(&mut self, char: char, operand: bool, tokens: &Tokens) -> Option<Kind> {
        let after_name = tokens.list.last().is_some_and(|token| matches!(token.kind, Kind::Name(_)));
        match char {
            '\'' => Some(self.delimited(Quote::plain(Escapes::Single))),
            '"' => Some(self.delimited(Quote::rich(Escapes::Ruby))),
            '`' => Some(shell(self.delimited(Quote::rich(Escapes::Ruby)))),
            '<' if operand || after_name => self.heredoc(),
            '/' => {
                let argument = after_name && self.before_is_blank() && !self.rest().starts_with("/ ");
                (operand || argument).then(|| self.pattern())
            }
            '%' if operand || after_name && self.before_is_blank() => self.percent(operand),
            '$' | '@' => {
                let start = self.at;
                self.at += 1;
                self.eat("@");
                if self.skip_while(is_word) == 0 && char == '$' {
                    self.next();
                }
                Some(Kind::Name(self.slice(start)))
            }
            ':' if self.rest().get(1..).is_some_and(|rest| rest.starts_with('"')) => {
                self.at += 1;
                Some(self.delimited(Quote::rich(Escapes::Ruby)))
            }
            ':' if operand || self.before_is_blank() => {
                let name = self.rest().get(1..).unwrap_or_default();
                if !name.starts_with(|char: char| char.is_alphabetic() || char == '_') {
                    return None;
                }
                self.at += 1;
                let start = self.at;
                self.skip_while(is_word);
                self.skip_while(|char| matches!(char, '?' | '!'));
                Some(Kind::Text(vec![Part::Text(self.slice(start))]))
            }
            '?' if operand => {
                let mut chars = self.rest().chars().skip(1);
                let char = chars.next().filter(|char| char.is_alphanumeric())?;
                if chars.next().is_some_and(is_word) {
                    return None;
                }
                self.at += 1 + char.len_utf8();
                Some(Kind::Text(vec![Part::Text(char.to_string())]))
            }
            _ => None,
        }
    }

    fn php_token(&mut self, char: char) -> Option<Kind> {
        match char {
            '\'' => Some(self.delimited(Quote::plain(Escapes::Single))),
            '"' => Some(self.delimited(Quote::rich(Escapes::Php))),
            '`' => Some(shell(self.delimited(Quote::rich(Escapes::Php)))),
            '<' => self.heredoc(),
            '$' => {
                let start = self.at;
                self.at += 1;
                if self.skip_while(is_word) > 0 {
                    return Some(Kind::Name(self.slice(start)));
                }
                self.at = start;
                None
            }
            _ => None,
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
                Language::Node if self.rest().starts_with('$') => {
                    self.at += 1;
                    name.push('$');
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
}

fn rest_mark(script: &str, at: usize) -> &str {
    script.get(at - 1..at).unwrap_or_default()
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || !char.is_ascii() && !char.is_whitespace()
}

fn shell(kind: Kind) -> Kind {
    match kind {
        Kind::Text(parts) => Kind::Shell(parts),
        other => other,
    }
}
