//! Functions of a script: where they begin and end, their parameters, their calls.

use std::ops::Range;
use std::rc::Rc;

use super::Language;
use super::arguments::{Arg, Args};
use super::cursor::{Cursor, default_at, split};
use super::evaluator::{DEEPEST, Evaluator, Frame, FunctionDefinition};
use super::tokens::Kind;
use super::value::{Function, HOLE, Value};

/// So many functions may call each other.
const MOST_CALLS: usize = 16;

impl Evaluator {
    /// A function that nothing can call is not evaluated.
    pub(super) fn skip(&mut self, function: &Value) {
        if let (Some(made), Value::Function(function)) = (self.functions.last_mut(), function) {
            made.called |= Rc::ptr_eq(&made.function, function);
        }
    }

    /// Evaluates the functions that nothing called, and methods, which much calls without their names.
    pub(super) fn rest(&mut self) {
        let mut next = 0;
        while let Some(made) = self.functions.get(next) {
            if !made.called || self.classes.is_method(&made.function) {
                let function = made.function.clone();
                let unknown = self.bound(&function, None);
                self.evaluate(&function, unknown);
            }
            next += 1;
        }
    }

    /// Where the parameters in the parentheses here are.
    pub(super) fn parameters(&mut self, c: &mut Cursor<'_>) -> Range<usize> {
        if c.mark() != Some("(") {
            return 0..0;
        }
        let (from, close) = (c.at + 1, c.close());
        c.at = close + 1;
        from..close
    }

    /// What the parameters of a function are with these arguments, or with some that nothing is known of.
    pub(super) fn bound(&mut self, function: &Function, args: Option<&Args>) -> Vec<(String, Value)> {
        let tokens = function.tokens.clone();
        let all = Cursor { tokens: &tokens, at: function.parameters.start, end: function.parameters.end };
        let mut elements = split(&all);
        // A Ruby block takes a list apart if it wants more than one.
        if let Some(args) = args
            && self.language == Language::Ruby
            && elements.len() > 1
            && let [Arg { value: value @ (Value::List(_) | Value::Choice(_)), .. }] = args.values.as_slice()
        {
            return self.targets(&all, value.clone(), 0);
        }
        let mut bound = Vec::new();
        let mut at = 0;
        for c in &mut elements {
            let star = match c.mark() {
                Some("*" | "...") => 1,
                Some("**") => 2,
                _ => 0,
            };
            // Types and signs in front.
            while !matches!(c.mark(), Some("{" | "[" | "(")) && c.at + 1 < c.end {
                let php = self.language == Language::Php && c.name().is_some_and(|name| name.starts_with('$'));
                if c.name().is_some() && (self.language != Language::Php || php) {
                    break;
                }
                c.at += 1;
            }
            let default = default_at(c);
            let name = c.name().map(str::to_owned);
            let pattern = c.part(c.at, if name.is_some() { c.at + 1 } else { default.unwrap_or(c.end) });
            let value = match (args, star) {
                (None, _) if self.language == Language::Python && is_fixture(name.as_deref()) => {
                    Value::Text(format!("/tmp/{HOLE}"))
                }
                (None, _) => Value::Unknown,
                (Some(args), 1) => {
                    let rest = args.values.iter().skip(at).map(|arg| arg.value.clone()).collect();
                    at = args.values.len();
                    Value::List(rest)
                }
                (Some(args), 2) => {
                    Value::Map(args.named.iter().map(|(key, arg)| (key.clone(), arg.value.clone())).collect())
                }
                (Some(args), _) => match (name.as_deref().and_then(|name| args.named(name)), args.value(at)) {
                    (Some(value), _) => value.clone(),
                    (None, Some(value)) => {
                        at += 1;
                        value.clone()
                    }
                    (None, None) => match default {
                        Some(default) => self.expression(&mut c.part(default + 1, c.end), 2),
                        None => Value::Unknown,
                    },
                },
            };
            bound.extend(self.targets(&pattern, value, 0));
        }
        bound
    }

    /// A function whose body is from here to `to`.
    pub(super) fn function(&mut self, c: &mut Cursor<'_>, parameters: Range<usize>, to: usize) -> Value {
        let body = c.at.min(to)..to;
        c.at = to.max(c.at);
        let place = (Rc::as_ptr(c.tokens) as usize, body.start);
        let bound = || self.frames.iter().flat_map(|frame| frame.bound.iter()).take(32);
        let cost = bound().fold(0_usize, |sum, (_, value)| sum.saturating_add(value.size()));
        let copied: Vec<(String, Value)> = if cost <= self.budget { bound().cloned().collect() } else { Vec::new() };
        let captured = if self.spend(cost) { copied } else { Vec::new() };
        let function = Rc::new(Function { parameters, tokens: c.tokens.clone(), body, captured });
        if let std::collections::hash_map::Entry::Vacant(entry) = self.places.entry(place) {
            entry.insert(self.functions.len());
            self.functions.push(FunctionDefinition { function: function.clone(), called: false });
        }
        Value::Function(function)
    }

    /// `(a, b) use ($c) { .. }`, with or without a result type.
    pub(super) fn braced_function(&mut self, c: &mut Cursor<'_>) -> Value {
        let parameters = self.parameters(c);
        while c.at < c.end && !matches!(c.mark(), Some("{" | ";")) {
            c.at += 1;
        }
        if c.mark() != Some("{") {
            return Value::Unknown;
        }
        self.block_function(c, parameters)
    }

    /// The function whose body is in the braces here.
    pub(super) fn block_function(&mut self, c: &mut Cursor<'_>, parameters: Range<usize>) -> Value {
        let close = c.close();
        c.at += 1;
        let function = self.function(c, parameters, close);
        c.at = close + 1;
        function
    }

    /// The value of an arrow function or a lambda whose body is one expression here.
    pub(super) fn arrow(&mut self, c: &mut Cursor<'_>, parameters: Range<usize>) -> Value {
        if c.mark() == Some("{") {
            return self.block_function(c, parameters);
        }
        let mut at = c.at;
        while at < c.end && self.step() {
            match c.tokens.list.get(at).map(|token| &token.kind) {
                Some(Kind::Mark("(" | "[" | "{")) => at = c.close_of(at),
                Some(Kind::Mark("," | ")" | "]" | "}" | ";")) => break,
                Some(Kind::Line) => {
                    let joins =
                        matches!(c.tokens.mark(at + 1), Some("." | "?." | "+" | "?" | ":" | "||" | "&&" | "??"));
                    if !joins && at > c.at {
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.function(c, parameters, at.min(c.end))
    }

    pub(super) fn invoke(&mut self, function: &Rc<Function>, args: &Args) -> Value {
        let cost = args.values.iter().fold(function.body.len() * 32, |sum, arg| sum.saturating_add(arg.value.size()));
        let active = self
            .frames
            .iter()
            .filter(|frame| {
                Rc::ptr_eq(&frame.function.tokens, &function.tokens) && frame.function.body == function.body
            })
            .count();
        // A function that calls itself: once more, with arguments that nothing is known of.
        if active > 1 {
            return Value::Unknown;
        }
        if self.frames.len() >= MOST_CALLS {
            self.unread_body(function);
            return Value::Unknown;
        }
        if !self.spend(cost) {
            self.unread_body(function);
            return Value::Unknown;
        }
        let place = (Rc::as_ptr(&function.tokens) as usize, function.body.start);
        if let Some(made) = self.places.get(&place).and_then(|at| self.functions.get_mut(*at)) {
            made.called = true;
        }
        let mut bound: Vec<(String, Value)> = function.captured.clone();
        bound.extend(self.bound(function, (active == 0).then_some(args)));
        if self.language == Language::Perl {
            let values = if active > 0 {
                vec![Value::Unknown]
            } else {
                args.values.iter().map(|arg| arg.value.clone()).collect()
            };
            bound.push(("@_".to_owned(), Value::List(values)));
        }
        if self.language == Language::Ruby && function.parameters.is_empty() && active == 0 {
            for name in ["it", "_1"] {
                bound.push((name.to_owned(), args.value(0).cloned().unwrap_or(Value::Unknown)));
            }
        }
        self.evaluate(function, bound)
    }

    pub(super) fn evaluate(&mut self, function: &Rc<Function>, bound: Vec<(String, Value)>) -> Value {
        if self.depth >= DEEPEST {
            self.unread_body(function);
            return Value::Unknown;
        }
        self.depth += 1;
        let mut saved = Vec::new();
        for (name, value) in &bound {
            saved.push((name.clone(), self.variables.insert(name.clone(), value.clone())));
        }
        self.frames.push(Frame { function: function.clone(), bound });
        self.results.push(Vec::new());
        let tokens = function.tokens.clone();
        let mut c = Cursor { tokens: &tokens, at: function.body.start, end: function.body.end.min(tokens.list.len()) };
        let last = self.run(&mut c);
        let mut results = self.results.pop().unwrap_or_default();
        self.frames.pop();
        for (name, value) in saved.into_iter().rev() {
            self.restore(&name, value);
        }
        self.depth -= 1;
        if results.is_empty() || matches!(self.language, Language::Perl | Language::Ruby) {
            results.push(last);
        }
        Value::choice(results)
    }
}

/// Whether a parameter is the folder that pytest makes for each test.
fn is_fixture(name: Option<&str>) -> bool {
    matches!(name, Some("tmp_path" | "tmpdir"))
}
