//! Arguments, and what else stands in brackets: lists, maps, comprehensions, blocks.

use super::arguments::{Arg, Args};
use super::cursor::Cursor;
use super::evaluator::{DEEPEST, Evaluator};
use super::tokens::{Kind, Part};
use super::value::Value;
use super::{Language, names};

impl Evaluator {
    /// Whether what is next is the first argument of a call without parentheses.
    pub(super) fn begins_argument(&self, c: &Cursor<'_>, name: &str) -> bool {
        let Some(token) = c.token() else { return false };
        let perl = self.language == Language::Perl;
        match &token.kind {
            Kind::Text(_) | Kind::Words(_) | Kind::Number(_) | Kind::Shell(_) => true,
            Kind::Name(next) => {
                let word = matches!(
                    next.as_str(),
                    "if" | "unless"
                        | "while"
                        | "until"
                        | "and"
                        | "or"
                        | "eq"
                        | "ne"
                        | "do"
                        | "then"
                        | "rescue"
                        | "for"
                        | "foreach"
                        | "cmp"
                        | "lt"
                        | "gt"
                        | "le"
                        | "ge"
                        | "in"
                        | "end"
                        | "xor"
                        | "else"
                        | "when"
                );
                !(word || perl && next == "x")
            }
            Kind::Mark("[") => !perl && token.space,
            Kind::Mark("{") => perl && names::takes_block(name),
            Kind::Mark("\\") => perl,
            Kind::Mark("->") => !perl,
            Kind::Mark("*" | "&" | "**" | "::") => {
                let tight = c.tokens.list.get(c.at + 1).is_some_and(|next| !next.space);
                token.space && tight
            }
            Kind::Mark("-") => token.space && c.tokens.list.get(c.at + 1).is_some_and(|next| !next.space),
            _ => false,
        }
    }

    /// Arguments without parentheses.
    pub(super) fn bare_args(&mut self, c: &mut Cursor<'_>, perl: bool) -> Args {
        let mut args = Args::default();
        loop {
            c.lines();
            // Perl's `print {$fh} ..`, `system { 'sh' } ..`.
            let before = c.at;
            self.arg(c, &mut args, 2);
            if perl && c.at > before && args.values.len() == 1 && self.begins_argument(c, "") && c.mark().is_none() {
                // `print STDERR "text"`, `unlink <*.c>`: no comma behind the first.
                continue;
            }
            if c.at == before || !(c.eat(",") || perl && c.eat("=>")) {
                break;
            }
        }
        args
    }

    /// The arguments in the parentheses here.
    pub(super) fn args(&mut self, c: &mut Cursor<'_>) -> Args {
        let mut args = Args::default();
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        if self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1) {
            let from = inner.at;
            let value = self.comprehension(&mut inner);
            args.values.push(Arg::new(value, inner.span(from)));
            c.at = close + 1;
            return args;
        }
        while inner.at < inner.end {
            let before = inner.at;
            self.arg(&mut inner, &mut args, 1);
            inner.lines();
            if !inner.eat(",") && inner.at == before {
                inner.at += 1;
            }
        }
        c.at = close + 1;
        args
    }

    pub(super) fn arg(&mut self, c: &mut Cursor<'_>, args: &mut Args, min: u8) {
        c.lines();
        let language = self.language;
        let from = c.at;
        let spread = match c.mark() {
            Some("*" | "...") => true,
            Some("**") => {
                c.at += 1;
                let value = self.expression(c, min);
                let at = c.span(from);
                match value {
                    Value::Map(entries) => {
                        args.named.extend(entries.into_iter().map(|(key, value)| (key, Arg::new(value, at.clone()))));
                    }
                    // Anything may be in it.
                    value => args.named.push(("**".to_owned(), Arg::new(value, at))),
                }
                return;
            }
            _ => false,
        };
        let key = match (language, c.kind(), c.mark_at(1)) {
            (Language::Python, Some(Kind::Name(name)), Some("=")) => Some(name.clone()),
            (Language::Ruby | Language::Php, Some(Kind::Name(name)), Some(":")) => Some(name.clone()),
            (Language::Ruby, Some(Kind::Text(parts)), Some("=>" | ":")) => match parts.as_slice() {
                [Part::Text(text)] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        if let Some(key) = key {
            c.at += 2;
            c.lines();
            let from = c.at;
            let value = self.expression(c, min.max(2));
            args.named.push((key, Arg::new(value, c.span(from))));
            return;
        }
        c.at += usize::from(spread);
        let value = self.expression(c, min.max(2));
        if c.at == from {
            return;
        }
        let at = c.span(from);
        // Lists are flat in Perl.
        let flat = spread
            || language == Language::Perl
                && matches!(value, Value::List(_))
                && !matches!(c.tokens.mark(from), Some("["));
        if flat {
            args.values.extend(value.elements(language).into_iter().map(|value| Arg::new(value, at.clone())));
        } else {
            let variable = c.name_before(from).map(str::to_owned);
            args.values.push(Arg { value, at, variable });
        }
    }

    /// A Ruby block behind a call, as a last argument.
    pub(super) fn block_argument(&mut self, c: &mut Cursor<'_>, args: &mut Args) {
        if self.language != Language::Ruby {
            return;
        }
        let close = match (c.mark(), c.name()) {
            (Some("{"), _) | (_, Some("do")) => c.close(),
            _ => return,
        };
        c.at += 1;
        let mut parameters = 0..0;
        if c.eat("|") {
            let from = c.at;
            while c.at < close && c.mark() != Some("|") {
                c.at += 1;
            }
            parameters = from..c.at;
            c.at += 1;
        }
        let from = c.at;
        let function = self.function(c, parameters, close);
        c.at = close + 1;
        args.values.push(Arg::new(function, c.span(from)));
    }

    /// What the parentheses here give.
    pub(super) fn paren(&mut self, c: &mut Cursor<'_>) -> Value {
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        let comprehension = self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1);
        c.at = close + 1;
        if comprehension {
            return self.comprehension(&mut inner);
        }
        let mut values = Vec::new();
        let mut commas = false;
        while inner.at < inner.end {
            let before = inner.at;
            inner.lines();
            let value = if self.language == Language::Php { self.php_statement(&mut inner) } else { None };
            let value = match value {
                Some(value) => value,
                None => self.expression(&mut inner, 0),
            };
            if inner.at > before {
                match value {
                    Value::List(items) if self.language == Language::Perl => values.extend(items),
                    value => values.push(value),
                }
            }
            if inner.eat(",") || self.language == Language::Perl && inner.eat("=>") {
                commas = true;
            } else if inner.at == before {
                inner.at += 1;
            }
        }
        match self.language {
            Language::Node => values.pop().unwrap_or(Value::Unknown),
            _ if commas || values.is_empty() || self.language == Language::Perl && values.len() > 1 => {
                Value::List(values)
            }
            _ => values.pop().unwrap_or(Value::Unknown),
        }
    }

    /// What the square brackets here give.
    pub(super) fn list(&mut self, c: &mut Cursor<'_>) -> Value {
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        let comprehension = self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1);
        c.at = close + 1;
        if comprehension {
            return self.comprehension(&mut inner);
        }
        let args = self.list_items(&mut inner);
        if !args.named.is_empty() {
            return Value::Map(args.named.into_iter().map(|(key, arg)| (key, arg.value)).collect());
        }
        Value::List(args.values.into_iter().map(|arg| arg.value).collect())
    }

    fn list_items(&mut self, inner: &mut Cursor<'_>) -> Args {
        let mut args = Args::default();
        while inner.at < inner.end {
            let before = inner.at;
            if self.language == Language::Php && inner.mark_at(1) == Some("=>") {
                let key = self.primary(inner).shape();
                inner.at += 1;
                let value = self.expression(inner, 2);
                args.named.push((key, Arg::new(value, inner.span(before))));
            } else {
                self.arg(inner, &mut args, 1);
            }
            inner.lines();
            let separated = inner.eat(",") || self.language == Language::Perl && inner.eat("=>");
            if !separated && inner.at == before {
                inner.at += 1;
            }
        }
        args
    }

    /// `expression for x in values if condition`: the values first.
    pub(super) fn comprehension(&mut self, inner: &mut Cursor<'_>) -> Value {
        let from = inner.at;
        let mut at = from;
        while at < inner.end && inner.tokens.name(at) != Some("for") {
            at = match inner.tokens.mark(at) {
                Some("(" | "[" | "{") => inner.close_of(at) + 1,
                _ => at + 1,
            };
        }
        let mut element = inner.part(from, at);
        // Of a condition, or of several loops, it is not known how many values there are.
        let plain = !(from..inner.end).any(|index| {
            matches!(inner.tokens.name(index), Some("if" | "or" | "and"))
                || index > at && inner.tokens.name(index) == Some("for")
        });
        inner.at = at;
        let count = if inner.name() == Some("for") { self.python_for(inner) } else { None };
        self.run(inner);
        let value = self.expression(&mut element, 0);
        if element.eat(":") {
            self.expression(&mut element, 0);
            self.run(&mut element);
            // Which value stands under which key is not known.
            return Value::Unknown;
        }
        self.run(&mut element);
        Value::each_of(value, count.filter(|_| plain))
    }

    /// A block, or a map. A block gives its last value.
    pub(super) fn braces(&mut self, c: &mut Cursor<'_>) -> Value {
        if c.mark() != Some("{") {
            return Value::Unknown;
        }
        if self.depth >= DEEPEST {
            return self.too_deep(c);
        }
        self.depth += 1;
        let close = c.close();
        let comprehension = self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1);
        let mut inner = c.part(c.at + 1, close);
        c.at = close + 1;
        let value = if comprehension { self.comprehension(&mut inner) } else { self.entries(&mut inner) };
        self.depth -= 1;
        value
    }

    pub(super) fn entries(&mut self, inner: &mut Cursor<'_>) -> Value {
        let mut entries = Vec::new();
        let mut values = Vec::new();
        let mut last = match self.language {
            Language::Python | Language::Node if inner.at >= inner.end => Value::Map(Vec::new()),
            _ => Value::Unknown,
        };
        while inner.at < inner.end {
            let before = inner.at;
            let key = match (inner.kind(), inner.mark_at(1)) {
                (Some(Kind::Name(name)), Some(":" | "=>")) if !matches!(name.as_str(), "default" | "else") => {
                    let name_is_key = self.language != Language::Python
                        && !(self.language == Language::Node && inner.mark_at(1) == Some("=>"));
                    name_is_key.then(|| name.clone())
                }
                (Some(Kind::Text(parts)), Some(":" | "=>")) => match parts.as_slice() {
                    [Part::Text(text)] => Some(text.clone()),
                    _ => None,
                },
                // `{ shell }` is `{ shell: shell }`.
                (Some(Kind::Name(name)), Some("," | "}")) if self.language == Language::Node => {
                    inner.at += 1;
                    let value = self.lookup(name);
                    entries.push((name.clone(), value.clone()));
                    last = value;
                    continue;
                }
                _ => None,
            };
            if let Some(key) = key {
                inner.at += 2;
                inner.lines();
                let value = self.expression(inner, 2);
                entries.push((key, value));
                continue;
            }
            if matches!(inner.kind(), Some(Kind::Line | Kind::Mark(";" | "," | ":" | "=>"))) {
                inner.at += 1;
                continue;
            }
            last = self.statement(inner);
            if inner.mark() == Some(",") {
                values.push(last.clone());
            }
            if inner.at == before {
                inner.at += 1;
            }
        }
        if !entries.is_empty() {
            return Value::Map(entries);
        }
        if !values.is_empty() && self.language == Language::Python {
            values.push(last);
            // A set has no order.
            return Value::some_of(values);
        }
        last
    }
}
