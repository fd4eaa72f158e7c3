//! awk: redirections, pipes, `getline` and `system`. Of its texts only literals next to each other are put together,
//! and variables that are assigned once, or given such a value in `BEGIN`.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::CharIndices;

use super::value::{self, HOLE, HOME};
use super::{Arguments, Script, ScriptEffect, ScriptEffectKind, Setting, Text};
use toolgate_commands::is_shell;
use toolgate_shell_syntax::path::basename;

/// No more tokens than this are one argument.
const LONGEST: usize = 128;

/// The variable that has the file that is read, and how many files it is followed with.
const FILENAME: &str = "FILENAME";
const MOST_FILES: usize = 32;

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text(String),
    Name(String),
    Number(String),
    Mark(char),
    /// `>>`, `&&` and other operators of more than one sign.
    Operator(&'static str),
    Pattern,
    Line,
}

#[derive(Debug, Clone)]
struct Token {
    kind: Kind,
    at: std::ops::Range<usize>,
}

/// Whether a script may change what it has of the environment: an assignment, or a function that sets what it is given.
fn may_set_environment(tokens: &[Token]) -> bool {
    let sets = |kind: &Kind| matches!(kind, Kind::Name(name) if ["sub", "gsub", "split", "getline", "delete"].contains(&name.as_str()));
    let is = |at: usize, test: &dyn Fn(&Kind) -> bool| tokens.get(at).is_some_and(|token| test(&token.kind));
    tokens.iter().any(|token| sets(&token.kind))
        || (0..tokens.len()).any(|at| {
            is(at, &|kind| matches!(kind, Kind::Name(name) if name == "ENVIRON"))
                && !(is(at + 1, &|kind| *kind == Kind::Mark('['))
                    && is(at + 3, &|kind| *kind == Kind::Mark(']'))
                    && !is(at + 4, &|kind| matches!(kind, Kind::Mark('=' | '+' | '-' | '*' | '/' | '%' | '^'))))
        })
}

pub(super) fn read(script: &str, setting: &Setting) -> Script {
    let (tokens, complete) = lex(script);
    let given = setting.arguments.iter().flat_map(|Arguments(all)| all);
    let files = given.filter_map(|text| match text {
        // `name=value` among them sets a variable.
        Text::Known(name) if !name.contains('=') => Some(name.clone()),
        _ => None,
    });
    let files = files.take(MOST_FILES).collect();
    let environment = match setting.surroundings.variables_may_change || may_set_environment(&tokens) {
        true => &[],
        false => setting.surroundings.variables.as_slice(),
    };
    let variables = variables(&tokens);
    let mut reader = Reader { tokens: &tokens, variables, environment, files, effects: Vec::new(), complete };
    reader.read();
    Script { effects: reader.effects, complete: reader.complete, printed: None }
}

fn lex(script: &str) -> (Vec<Token>, bool) {
    let mut tokens: Vec<Token> = Vec::new();
    let mut complete = true;
    let mut chars = script.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let mut end = at + char.len_utf8();
        let mut take = |end: &mut usize, test: &dyn Fn(char) -> bool| {
            while let Some((next, char)) = chars.peek().copied().filter(|(_, char)| test(*char)) {
                *end = next + char.len_utf8();
                chars.next();
            }
        };
        let kind = match char {
            '\n' => Kind::Line,
            char if char.is_whitespace() => continue,
            '#' => {
                take(&mut end, &|char| char != '\n');
                continue;
            }
            '\\' => {
                // The end of a line that goes on.
                take(&mut end, &|char| char == '\r');
                if chars.peek().is_some_and(|(_, char)| *char == '\n') {
                    chars.next();
                }
                continue;
            }
            '@' => {
                // `@include`, `@load` and calls of functions by their names.
                complete = false;
                continue;
            }
            '"' => {
                let (text, closed) = text(&mut chars, &mut end);
                complete &= closed;
                Kind::Text(text)
            }
            '/' if !ends_value(tokens.last()) => {
                let mut class = false;
                while let Some((next, char)) = chars.next() {
                    end = next + char.len_utf8();
                    match char {
                        '\\' => {
                            chars.next();
                        }
                        '[' => class = true,
                        ']' => class = false,
                        '/' if !class => break,
                        '\n' => break,
                        _ => {}
                    }
                }
                Kind::Pattern
            }
            char if char.is_ascii_digit() => {
                take(&mut end, &|char| char.is_ascii_alphanumeric() || char == '.');
                Kind::Number(script.get(at..end).unwrap_or_default().to_owned())
            }
            char if char.is_alphabetic() || char == '_' => {
                take(&mut end, &|char| char.is_alphanumeric() || char == '_' || char == ':');
                Kind::Name(script.get(at..end).unwrap_or_default().to_owned())
            }
            char => {
                let next = chars.peek().map(|(_, char)| *char);
                let operator = match (char, next) {
                    ('>', Some('>')) => ">>",
                    ('>', Some('=')) => ">=",
                    ('<', Some('=')) => "<=",
                    ('=', Some('=')) => "==",
                    ('!', Some('=')) => "!=",
                    ('|', Some('|')) => "||",
                    ('|', Some('&')) => "|&",
                    ('&', Some('&')) => "&&",
                    ('+' | '-' | '*' | '/' | '%' | '^', Some('=')) => "+=",
                    ('+', Some('+')) => "++",
                    ('-', Some('-')) => "--",
                    _ => "",
                };
                if operator.is_empty() {
                    Kind::Mark(char)
                } else {
                    chars.next();
                    end += 1;
                    Kind::Operator(operator)
                }
            }
        };
        tokens.push(Token { kind, at: at..end });
    }
    (tokens, complete)
}

/// The text behind a quote, and whether it is closed; `end` is then behind it.
fn text(chars: &mut Peekable<CharIndices<'_>>, end: &mut usize) -> (String, bool) {
    let mut text = String::new();
    let mut closed = false;
    while let Some((next, char)) = chars.next() {
        *end = next + char.len_utf8();
        match char {
            '"' => {
                closed = true;
                break;
            }
            '\\' => {
                if let Some((next, char)) = chars.next() {
                    *end = next + char.len_utf8();
                    let mut code = |radix: u32, most: usize, first: &str| {
                        let mut digits = first.to_owned();
                        while digits.len() < most
                            && let Some((next, char)) = chars.peek().copied().filter(|(_, char)| char.is_digit(radix))
                        {
                            digits.push(char);
                            *end = next + 1;
                            chars.next();
                        }
                        u32::from_str_radix(&digits, radix).ok().map_or(HOLE, |code| value::character(i64::from(code)))
                    };
                    text.push(match char {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'a' => '\u{7}',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'v' => '\u{b}',
                        '0'..='7' => code(8, 3, char.encode_utf8(&mut [0; 4])),
                        'x' => code(16, 2, ""),
                        '\n' => continue,
                        other => other,
                    });
                }
            }
            HOME => text.push(HOLE),
            char => text.push(char),
        }
    }
    (text, closed)
}

fn ends_value(last: Option<&Token>) -> bool {
    match last.map(|token| &token.kind) {
        Some(Kind::Name(name)) => !matches!(name.as_str(), "print" | "printf" | "return" | "in" | "case"),
        Some(Kind::Text(_) | Kind::Number(_) | Kind::Mark(')' | ']' | '$') | Kind::Operator("++" | "--")) => true,
        _ => false,
    }
}

/// Variables that are assigned once.
fn variables(tokens: &[Token]) -> HashMap<String, String> {
    let mut found: HashMap<String, Option<String>> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        let Kind::Name(name) = &token.kind else { continue };
        let next = tokens.get(at + 1).map(|token| &token.kind);
        let assigns = matches!(next, Some(Kind::Mark('=') | Kind::Operator("+=" | "++" | "--")));
        // `for (name in array)`
        let looped = matches!(next, Some(Kind::Name(word)) if word == "in")
            && tokens.get(at.wrapping_sub(1)).is_some_and(|token| token.kind == Kind::Mark('('));
        let otherwise = looped
            || tokens.get(at.wrapping_sub(1)).is_some_and(|token| match &token.kind {
                Kind::Name(name) => matches!(name.as_str(), "getline" | "in" | "split"),
                Kind::Operator(operator) => matches!(*operator, "++" | "--"),
                _ => false,
            });
        // An argument of a function may be changed by it (`sub`, `split`), a parameter is given by its calls.
        let argument = !assigns && matches!(next, Some(Kind::Mark(',' | ')'))) && changes(tokens, at);
        let value = (next == Some(&Kind::Mark('='))).then(|| literal(tokens, at + 2)).flatten();
        if assigns || otherwise || argument {
            found.entry(name.clone()).and_modify(|known| *known = None).or_insert(value);
        }
    }
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The text of an expression that is put together from literals, fields and the environment.
fn literal(tokens: &[Token], from: usize) -> Option<String> {
    let reader = Reader {
        tokens,
        variables: HashMap::new(),
        environment: &[],
        files: Vec::new(),
        effects: Vec::new(),
        complete: true,
    };
    let mut to = from;
    while let Some(kind) = reader.kind(to) {
        match kind {
            Kind::Line | Kind::Mark(';' | '}' | ')') => break,
            Kind::Text(_) | Kind::Number(_) | Kind::Name(_) | Kind::Mark('$' | '[' | ']') if to < from + LONGEST => {
                to += 1;
            }
            _ => return None,
        }
    }
    Some(reader.text(from, to).0)
}

/// Whether the name here stands in the call of `sub` and its kin, or in the head of a function.
fn changes(tokens: &[Token], at: usize) -> bool {
    for token in tokens.get(at.saturating_sub(LONGEST)..at).unwrap_or_default().iter().rev() {
        match &token.kind {
            Kind::Name(name) if matches!(name.as_str(), "sub" | "gsub" | "split" | "function" | "func" | "asort") => {
                return true;
            }
            Kind::Mark(';' | '{' | '}') => return false,
            _ => {}
        }
    }
    // What stands further in front is not looked at.
    at > LONGEST
}

struct Reader<'a> {
    tokens: &'a [Token],
    variables: HashMap<String, String>,
    /// Variables of the environment that are known.
    environment: &'a [(String, String)],
    /// The files that it is given.
    files: Vec<String>,
    effects: Vec<ScriptEffect>,
    complete: bool,
}

impl Reader<'_> {
    fn kind(&self, at: usize) -> Option<&Kind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    fn read(&mut self) {
        // Whether a `>` here redirects what a `print` prints: not inside of parentheses.
        let mut printing = false;
        let mut level = 0_usize;
        let mut at = 0;
        // Where the value that ends here begins, for `"cmd" | getline`.
        let mut value_from = 0;
        while let Some(token) = self.tokens.get(at) {
            match &token.kind {
                Kind::Name(name) if matches!(name.as_str(), "print" | "printf") => {
                    printing = true;
                    level = 0;
                    value_from = at + 1;
                }
                Kind::Name(name) if name == "system" && self.kind(at + 1) == Some(&Kind::Mark('(')) => {
                    match self.close(at + 1) {
                        Some(close) => self.shell(at + 2, close),
                        None => self.unread(at, ScriptEffectKind::Shell),
                    }
                }
                Kind::Name(name) if name == "getline" => {
                    let from = match self.kind(at + 1) {
                        Some(Kind::Name(_)) => at + 2,
                        Some(Kind::Mark('$')) => at + 3,
                        _ => at + 1,
                    };
                    if self.kind(from) == Some(&Kind::Mark('<')) {
                        self.redirected(from + 1, ScriptEffectKind::Read);
                    }
                }
                Kind::Mark('(') => {
                    level += 1;
                    if !printing {
                        value_from = at + 1;
                    }
                }
                Kind::Mark(')') => level = level.saturating_sub(1),
                Kind::Line | Kind::Mark(';' | '{' | '}') => {
                    printing = false;
                    level = 0;
                    value_from = at + 1;
                }
                Kind::Mark('>') if printing && level == 0 => {
                    self.redirected(at + 1, ScriptEffectKind::Write);
                }
                Kind::Operator(">>") if printing && level == 0 => {
                    self.redirected(at + 1, ScriptEffectKind::Append);
                }
                Kind::Operator("|&") | Kind::Mark('|') => {
                    if matches!(self.kind(at + 1), Some(Kind::Name(name)) if name == "getline") {
                        self.shell(value_from, at);
                    } else if matches!(token.kind, Kind::Operator(_)) || level == 0 {
                        match self.operand(at + 1).filter(|_| printing) {
                            Some(end) => self.piped(value_from, at, at + 1, end),
                            None if printing => self.unread(at, ScriptEffectKind::Shell),
                            None => {}
                        }
                    }
                }
                Kind::Mark('=' | ',') | Kind::Operator("&&" | "||") => value_from = at + 1,
                _ => {}
            }
            at += 1;
        }
    }

    /// The parenthesis that closes the one here. One that is too far away is not looked for.
    fn close(&self, open: usize) -> Option<usize> {
        let mut level = 0_usize;
        let end = self.tokens.len().min(open + LONGEST);
        for at in open..end {
            match self.kind(at) {
                Some(Kind::Mark('(')) => level += 1,
                Some(Kind::Mark(')')) => {
                    level = level.saturating_sub(1);
                    if level == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Where the target of a redirection ends, if that is not too far away.
    fn operand(&self, from: usize) -> Option<usize> {
        let mut at = from;
        let mut level = 0_usize;
        while let Some(kind) = self.kind(at) {
            match kind {
                Kind::Mark('(' | '[') => level += 1,
                Kind::Mark(')' | ']') if level > 0 => level -= 1,
                Kind::Line | Kind::Mark(';' | '}' | '{' | ')' | ',' | '|' | '>') if level == 0 => break,
                Kind::Operator(">>" | "||" | "&&" | "|&" | "==" | "!=") if level == 0 => break,
                _ => {}
            }
            at += 1;
            if at > from + LONGEST {
                return None;
            }
        }
        Some(at)
    }

    /// The text of what stands here: literals put together, a hole for everything else.
    fn text(&self, from: usize, to: usize) -> (String, std::ops::Range<usize>) {
        self.text_for(from, to, None)
    }

    /// The same for each of the files that it may be about.
    fn each_file(&self, from: usize, to: usize) -> Vec<(String, std::ops::Range<usize>)> {
        let is_named = (from..to).any(|at| matches!(self.kind(at), Some(Kind::Name(name)) if name == FILENAME));
        if !is_named || self.files.is_empty() {
            return vec![self.text(from, to)];
        }
        self.files.iter().map(|file| self.text_for(from, to, Some(file))).collect()
    }

    fn text_for(&self, from: usize, to: usize, file: Option<&str>) -> (String, std::ops::Range<usize>) {
        let mut text = String::new();
        let mut at = from;
        while at < to {
            match self.kind(at) {
                Some(Kind::Text(part)) => text.push_str(part),
                Some(Kind::Number(part)) => text.push_str(part),
                Some(Kind::Mark('(' | ')')) => {}
                Some(Kind::Name(name)) if name == "ENVIRON" => {
                    if self.kind(at + 1) == Some(&Kind::Mark('[')) && self.kind(at + 3) == Some(&Kind::Mark(']')) {
                        let known = |name: &String| self.environment.iter().find(|(own, _)| own == name);
                        let value = match self.kind(at + 2) {
                            Some(Kind::Text(name)) if name == "HOME" => Some(HOME.to_string()),
                            Some(Kind::Text(name)) => known(name).map(|(_, value)| value.clone()),
                            _ => None,
                        };
                        text.push_str(&value.unwrap_or_else(|| HOLE.to_string()));
                        at += 3;
                    } else {
                        text.push(HOLE);
                    }
                }
                Some(Kind::Name(name)) if name == FILENAME && file.is_some() => text.push_str(file.unwrap_or_default()),
                // A field: `$1`, `$NF`.
                Some(Kind::Mark('$')) => {
                    if !text.ends_with(HOLE) {
                        text.push(HOLE);
                    }
                    at += usize::from(matches!(self.kind(at + 1), Some(Kind::Name(_) | Kind::Number(_))));
                }
                Some(Kind::Name(name))
                    if self.kind(at + 1) != Some(&Kind::Mark('[')) && self.variables.contains_key(name) =>
                {
                    text.push_str(self.variables.get(name).map_or("", String::as_str));
                }
                _ if text.ends_with(HOLE) => {}
                _ => text.push(HOLE),
            }
            if text.len() > value::LONGEST {
                return (HOLE.to_string(), self.span(from, to));
            }
            at += 1;
        }
        (text, self.span(from, to))
    }

    fn span(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let start = self.tokens.get(from).map_or(0, |token| token.at.start);
        let end = self.tokens.get(to.saturating_sub(1).max(from)).map_or(start, |token| token.at.end);
        start..end.max(start)
    }

    /// The texts of what stands here: both of `a ? b : c`.
    fn texts(&self, from: usize, to: usize) -> Vec<(String, std::ops::Range<usize>)> {
        let find = |mark: char, from: usize| (from..to).find(|at| self.kind(*at) == Some(&Kind::Mark(mark)));
        match find('?', from).and_then(|question| Some((question, find(':', question)?))) {
            Some((question, colon)) => [self.each_file(question + 1, colon), self.each_file(colon + 1, to)].concat(),
            None => self.each_file(from, to),
        }
    }

    /// What is too long to be read: its beginning says nothing about the whole.
    fn unread(&mut self, at: usize, what: fn(super::Text) -> ScriptEffectKind) {
        self.complete = false;
        self.effects.push(ScriptEffect { what: what(super::Text::Shape(HOLE.to_string())), at: self.span(at, at + 1) });
    }

    fn redirected(&mut self, from: usize, what: fn(super::Path) -> ScriptEffectKind) {
        match self.operand(from) {
            Some(end) => self.file(from, end, what),
            None => self.unread(from, what),
        }
    }

    fn file(&mut self, from: usize, to: usize, what: fn(super::Path) -> ScriptEffectKind) {
        for (text, at) in self.texts(from, to) {
            if !text.is_empty() && !matches!(text.as_str(), "-" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin") {
                self.effects.push(ScriptEffect { what: what(value::path(&text)), at });
            }
        }
    }

    /// `print TEXT | COMMAND`: what a shell is given is what it runs.
    fn piped(&mut self, from: usize, to: usize, command_from: usize, command_to: usize) {
        let shell = |text: &str| text.split_whitespace().next().is_some_and(|program| is_shell(basename(program)));
        // What is only known when it runs is the command's own to say.
        let given = self.texts(from, to);
        if self.texts(command_from, command_to).iter().any(|(text, _)| shell(text))
            && given.iter().all(|(text, _)| !text.contains(HOLE))
        {
            self.shell(from, to);
        }
        self.shell(command_from, command_to);
    }

    fn shell(&mut self, from: usize, to: usize) {
        for (text, at) in self.texts(from, to) {
            if text.starts_with(HOLE) {
                self.complete = false;
            }
            let inet = ["/inet/", "/inet4/", "/inet6/"].iter().any(|prefix| text.starts_with(prefix));
            let what = if inet {
                ScriptEffectKind::Send(value::path(&text))
            } else {
                ScriptEffectKind::Shell(value::shell(&text))
            };
            self.effects.push(ScriptEffect { what, at });
        }
    }
}
