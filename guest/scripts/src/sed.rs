//! sed: the commands that read, write or run: `r`, `R`, `w`, `W`, `e`, and `s///` with the flags `w` and `e`.

use std::ops::Range;

use super::value::{self, HOLE, HOME};
use super::{Script, ScriptEffect, ScriptEffectKind, Text};

pub(super) fn read(script: &str) -> Script {
    let mut reader = Reader { script, at: 0, effects: Vec::new(), complete: true };
    while reader.at < script.len() {
        reader.command();
    }
    Script { effects: reader.effects, complete: reader.complete, printed: None }
}

struct Reader<'a> {
    script: &'a str,
    at: usize,
    effects: Vec<ScriptEffect>,
    complete: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.script.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    fn skip_while(&mut self, test: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&test) {
            self.next();
        }
    }

    /// The rest of the line, as a file's name or a command.
    fn line(&mut self) -> (String, Range<usize>) {
        self.skip_while(|char| matches!(char, ' ' | '\t'));
        let start = self.at;
        self.skip_while(|char| char != '\n');
        let text = self.script.get(start..self.at).unwrap_or_default();
        (text.replace(HOME, "\0"), start..self.at)
    }

    fn file(&mut self, what: fn(super::Path) -> ScriptEffectKind) {
        let (text, at) = self.line();
        if !text.is_empty() && !matches!(text.as_str(), "/dev/stdout" | "/dev/stderr" | "/dev/stdin") {
            self.effects.push(ScriptEffect { what: what(value::finish(text)), at });
        }
    }

    /// Up to and with a delimiter that is not escaped and in no character class.
    fn past(&mut self, delimiter: char, classes: bool) -> Range<usize> {
        let start = self.at;
        let mut class = false;
        let mut first = 0;
        while let Some(char) = self.next() {
            match char {
                '\\' => {
                    self.next();
                }
                '[' if classes && !class => {
                    class = true;
                    // A bracket that stands first is one of the class.
                    if self.peek() == Some('^') {
                        self.next();
                    }
                    first = self.at;
                }
                ']' if class && self.at > first + 1 => class = false,
                // `[[:alpha:]/]`
                '[' if class && matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let mark = self.next();
                    let rest = self.script.get(self.at..).unwrap_or_default();
                    let close = mark.and_then(|mark| rest.find(&format!("{mark}]")));
                    self.at += close.map_or(0, |at| at + 2);
                }
                // A new line ends a class that was none.
                '\n' if class => class = false,
                char if char == delimiter && !class => return start..self.at - char.len_utf8(),
                _ => {}
            }
        }
        self.complete = false;
        start..self.at
    }

    fn address(&mut self) {
        loop {
            match self.peek() {
                Some('/') => {
                    self.next();
                    self.past('/', true);
                }
                Some('\\') => {
                    self.next();
                    if let Some(delimiter) = self.next() {
                        self.past(delimiter, true);
                    }
                }
                Some(char) if char.is_ascii_digit() || matches!(char, ',' | '~' | '+' | '$' | '!' | ' ' | '\t') => {
                    self.next();
                }
                // Flags behind a pattern.
                Some('I' | 'M') => {
                    self.next();
                }
                _ => return,
            }
        }
    }

    fn command(&mut self) {
        self.skip_while(|char| char.is_whitespace() || char == ';');
        self.address();
        let start = self.at;
        match self.next() {
            Some('#') => self.skip_while(|char| char != '\n'),
            Some('r' | 'R') => self.file(ScriptEffectKind::Read),
            Some('w' | 'W') => self.file(ScriptEffectKind::Write),
            Some('e') => {
                let (text, at) = self.line();
                if text.is_empty() {
                    // It runs what it reads.
                    self.complete = false;
                    self.effects.push(ScriptEffect {
                        what: ScriptEffectKind::Shell(Text::Shape(HOLE.to_string())),
                        at: start..start + 1,
                    });
                } else {
                    self.effects.push(ScriptEffect { what: ScriptEffectKind::Shell(value::finish(text)), at });
                }
            }
            Some('s') => self.substitute(start),
            Some('y') => {
                if let Some(delimiter) = self.next() {
                    self.past(delimiter, false);
                    self.past(delimiter, false);
                }
            }
            Some('a' | 'i' | 'c') => self.text(),
            Some(':' | 'b' | 't' | 'T' | 'v') => self.skip_while(|char| !matches!(char, '\n' | ';' | '}')),
            _ => {}
        }
    }

    /// The text of `a`, `i` and `c`: to the end of a line that does not end in a backslash.
    fn text(&mut self) {
        while let Some(char) = self.next() {
            match char {
                '\\' => {
                    self.next();
                }
                '\n' => return,
                _ => {}
            }
        }
    }

    fn substitute(&mut self, start: usize) {
        let Some(delimiter) = self.next() else { return };
        self.past(delimiter, true);
        let replacement = self.past(delimiter, false);
        loop {
            match self.peek() {
                Some('e') => {
                    self.next();
                    // What it runs is the line after the replacement: all of it known only if it replaces all.
                    self.complete = false;
                    let text = self.script.get(replacement.clone()).unwrap_or_default();
                    let plain = !text.contains(['&', '\\', HOME]);
                    let text = if plain { format!("{HOLE}{text}{HOLE}") } else { HOLE.to_string() };
                    self.effects.push(ScriptEffect {
                        what: ScriptEffectKind::Shell(Text::Shape(text)),
                        at: replacement.clone(),
                    });
                }
                Some('w') => {
                    self.next();
                    self.file(ScriptEffectKind::Write);
                    return;
                }
                Some(char) if char.is_ascii_alphanumeric() => {
                    self.next();
                }
                _ => break,
            }
        }
        debug_assert!(self.at > start);
    }
}
