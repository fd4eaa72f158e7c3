//! Statements and expressions: which calls are made with which values.
//!
//! Tokens are evaluated as they are read, each once, whatever branch they stand in. A name that is assigned more than
//! once, and not only one after the other on the outermost level, is any of its values or unknown. A function is
//! evaluated at its calls, as long as the budget lasts, and once with unknown arguments if it is never called.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::assigned::loose;
use super::lex::{self, Kind, Part, Token, Tokens};
use super::tables::acting;
use super::unused::unused;
use super::value::{Function, HOLE, MORE, Value, lost};
use super::{Deed, Language, Origin, Script, Text, What, methods, names};

/// How deep expressions, blocks and calls may nest in each other.
pub(super) const DEEPEST: usize = 48;
/// More deeds than this are not listed, and the script counts as one that is not read.
const MOST_DEEDS: usize = 4096;
/// So many functions may call each other.
const MOST_CALLS: usize = 16;
/// If more parts than this are not read, it does not matter what they name.
const MOST_SKIPPED: usize = 64;

/// Reads a script in a language that has expressions; `whole` if nothing else calls its functions.
pub(super) fn read(language: Language, script: &str, origin: Origin, whole: bool) -> Script {
    let (tokens, complete) = lex::lex(language, script);
    let mut machine = Machine {
        language,
        origin,
        variables: HashMap::new(),
        loose: loose(language, &tokens),
        unused: if whole && language == Language::Python { unused(&tokens) } else { HashSet::new() },
        modules: HashSet::new(),
        methods: HashSet::new(),
        class: String::new(),
        classes: HashMap::new(),
        class_methods: HashMap::new(),
        fields: HashMap::new(),
        changed: false,
        deeds: Vec::new(),
        complete,
        unread: false,
        skipped: 0,
        depth: 0,
        budget: 1_000_000 + 32 * script.len(),
        steps: 64 * script.len(),
        functions: Vec::new(),
        places: HashMap::new(),
        frames: Vec::new(),
        results: Vec::new(),
    };
    machine.run(&mut Cursor::all(&tokens));
    machine.rest();
    if machine.unread {
        // As text for a shell that nothing is known of: it may do anything.
        let what = What::Shell(Text::Shape(HOLE.to_string()));
        machine.deeds.push(Deed { what, at: 0..script.len() });
    }
    Script { deeds: machine.deeds, complete: machine.complete }
}

/// Arguments of a call.
#[derive(Default, Clone)]
pub(super) struct Args {
    pub(super) values: Vec<Arg>,
    pub(super) named: Vec<(String, Arg)>,
    /// The name of the call.
    pub(super) at: Range<usize>,
}

#[derive(Clone)]
pub(super) struct Arg {
    pub(super) value: Value,
    pub(super) at: Range<usize>,
    /// The variable that it is, if it is one.
    pub(super) variable: Option<String>,
}

impl Arg {
    pub(super) fn new(value: Value, at: Range<usize>) -> Arg {
        Arg { value, at, variable: None }
    }
}

impl Args {
    pub(super) fn value(&self, at: usize) -> Option<&Value> {
        self.values.get(at).map(|arg| &arg.value)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().rev().find(|(key, _)| key == name).map(|(_, arg)| &arg.value)
    }

    pub(super) fn of(values: Vec<Value>, at: Range<usize>) -> Args {
        let values = values.into_iter().map(|value| Arg::new(value, at.clone())).collect();
        Args { values, named: Vec::new(), at }
    }

    /// Without the first `count`.
    pub(super) fn skip(&self, count: usize) -> Args {
        Args { values: self.values.iter().skip(count).cloned().collect(), ..self.clone() }
    }
}

/// A place in tokens.
pub(super) struct Cursor<'t> {
    pub(super) tokens: &'t Rc<Tokens>,
    pub(super) at: usize,
    pub(super) end: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn all(tokens: &'t Rc<Tokens>) -> Cursor<'t> {
        Cursor { tokens, at: 0, end: tokens.list.len() }
    }

    pub(super) fn token(&self) -> Option<&'t Token> {
        if self.at < self.end { self.tokens.list.get(self.at) } else { None }
    }

    pub(super) fn kind(&self) -> Option<&'t Kind> {
        self.token().map(|token| &token.kind)
    }

    pub(super) fn mark(&self) -> Option<&'static str> {
        self.mark_at(0)
    }

    pub(super) fn mark_at(&self, offset: usize) -> Option<&'static str> {
        if self.at + offset < self.end { self.tokens.mark(self.at + offset) } else { None }
    }

    pub(super) fn name(&self) -> Option<&'t str> {
        self.name_at(0)
    }

    pub(super) fn name_at(&self, offset: usize) -> Option<&'t str> {
        if self.at + offset < self.end { self.tokens.name(self.at + offset) } else { None }
    }

    /// The name at `from`, if nothing else stands before this place.
    pub(super) fn name_before(&self, from: usize) -> Option<&'t str> {
        self.tokens.name(from).filter(|_| self.at == from + 1)
    }

    pub(super) fn space(&self) -> bool {
        self.token().is_some_and(|token| token.space)
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.mark() == Some(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_name(&mut self, name: &str) -> bool {
        let found = self.name() == Some(name);
        self.at += usize::from(found);
        found
    }

    pub(super) fn lines(&mut self) {
        while matches!(self.kind(), Some(Kind::Line)) {
            self.at += 1;
        }
    }

    /// Where the bracket here closes, or the end.
    pub(super) fn close(&self) -> usize {
        self.close_of(self.at)
    }

    pub(super) fn close_of(&self, at: usize) -> usize {
        self.tokens.list.get(at).and_then(|token| token.pair).unwrap_or(self.end).min(self.end)
    }

    /// The tokens from `from` to here, as bytes.
    pub(super) fn span(&self, from: usize) -> Range<usize> {
        let last = self.at.saturating_sub(1).max(from);
        let start = self.tokens.list.get(from).map_or(0, |token| token.at.start);
        let end = self.tokens.list.get(last).map_or(start, |token| token.at.end);
        start..end.max(start)
    }

    pub(super) fn part(&self, from: usize, to: usize) -> Cursor<'t> {
        Cursor { tokens: self.tokens, at: from.min(to), end: to.min(self.end) }
    }
}

pub(super) struct Machine {
    pub(super) language: Language,
    pub(super) origin: Origin,
    pub(super) variables: HashMap<String, Value>,
    /// Names that are assigned in more than one place, some of which may not be reached.
    pub(super) loose: HashSet<String>,
    /// Functions that nothing can call.
    pub(super) unused: HashSet<String>,
    /// Modules that nothing is known of.
    pub(super) modules: HashSet<String>,
    /// Names of Ruby methods, which are called without parentheses too.
    pub(super) methods: HashSet<String>,
    /// The Python class that began last.
    pub(super) class: String,
    /// Python's classes, each with the function that makes its objects, if it has one.
    pub(super) classes: HashMap<String, Option<Rc<Function>>>,
    /// Python's methods by their names, whichever classes have them.
    pub(super) class_methods: HashMap<String, Vec<Rc<Function>>>,
    /// What the objects of any of these classes hold: `self.name`.
    pub(super) fields: HashMap<String, Value>,
    /// A list that a function was given was changed in place.
    pub(super) changed: bool,
    pub(super) deeds: Vec<Deed>,
    pub(super) complete: bool,
    /// Something lies beyond a limit that may touch files or processes.
    pub(super) unread: bool,
    /// How many parts were not read.
    pub(super) skipped: usize,
    pub(super) depth: usize,
    /// What calls of functions and copies of values may still cost.
    pub(super) budget: usize,
    /// How many tokens may still be looked at ahead of their evaluation.
    pub(super) steps: usize,
    pub(super) functions: Vec<Made>,
    /// Functions by where they stand.
    pub(super) places: HashMap<(usize, usize), usize>,
    pub(super) frames: Vec<Frame>,
    /// Values that `return` gave, for each function that is being evaluated.
    pub(super) results: Vec<Vec<Value>>,
}

pub(super) struct Made {
    pub(super) function: Rc<Function>,
    pub(super) called: bool,
}

/// A call of a function that is being evaluated.
pub(super) struct Frame {
    pub(super) function: Rc<Function>,
    pub(super) bound: Vec<(String, Value)>,
}

impl Machine {
    pub(super) fn deed(&mut self, mut what: What, at: &Range<usize>) {
        if self.deeds.len() >= MOST_DEEDS {
            self.unread();
            return;
        }
        let mut more = false;
        for text in texts(&mut what) {
            if let Text::Shape(shape) = text
                && shape.contains(MORE)
            {
                shape.retain(|char| char != MORE);
                more = true;
            }
        }
        if more {
            self.unread();
        }
        self.deeds.push(Deed { what, at: at.clone() });
    }

    pub(super) fn incomplete(&mut self) {
        self.complete = false;
    }

    fn unread(&mut self) {
        self.complete = false;
        self.unread = true;
    }

    /// What these tokens do is not read. That matters if they name a call that touches files or processes.
    pub(super) fn unread_part(&mut self, c: &Cursor<'_>) {
        self.incomplete();
        self.skipped += 1;
        if self.unread {
            return;
        }
        if self.skipped > MOST_SKIPPED || self.may_act(c) {
            self.unread();
        }
    }

    /// Steps over what stands here, which lies too deep to be read.
    pub(super) fn too_deep(&mut self, c: &mut Cursor<'_>) -> Value {
        let from = c.at;
        match c.kind() {
            Some(Kind::Mark("(" | "[" | "{")) => c.at = (c.close() + 1).min(c.end),
            Some(Kind::Mark(_) | Kind::Line) | None => {}
            Some(_) => c.at += 1,
        }
        if c.at > from {
            self.unread_part(&c.part(from, c.at));
        }
        Value::Text(lost())
    }

    /// Whether these tokens, or the functions that they name, name a call that touches files or processes.
    fn may_act(&self, c: &Cursor<'_>) -> bool {
        let acting = acting(self.language);
        let mut parts = vec![(c.tokens.clone(), c.at..c.end)];
        let mut seen = HashSet::new();
        while let Some((tokens, part)) = parts.pop() {
            for token in tokens.list.get(part).unwrap_or_default() {
                if names_a_deed(token, &acting) {
                    return true;
                }
                if let Kind::Name(name) = &token.kind
                    && let Some(Value::Function(function)) = self.variables.get(name)
                    && seen.insert((Rc::as_ptr(&function.tokens) as usize, function.body.start))
                {
                    let end = function.body.end.min(function.tokens.list.len());
                    parts.push((function.tokens.clone(), function.body.start..end));
                }
            }
        }
        false
    }

    fn unread_body(&mut self, function: &Function) {
        let tokens = function.tokens.clone();
        let end = function.body.end.min(tokens.list.len());
        self.unread_part(&Cursor { tokens: &tokens, at: function.body.start, end });
    }

    /// A call that lies too deep to be followed.
    pub(super) fn unread_call(&mut self, callee: &Value) {
        self.incomplete();
        match callee {
            Value::Function(function) => self.unread_body(function),
            Value::Name(name) | Value::Bound(_, name) => {
                let last = name.rsplit(['.', ':']).next().unwrap_or_default();
                self.unread |= acting(self.language).contains(last);
            }
            _ => {}
        }
    }

    /// Whether there is budget for this, which is then spent.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        let enough = self.budget >= cost;
        self.budget = self.budget.saturating_sub(cost);
        enough
    }

    /// Whether there is budget for one step ahead.
    pub(super) fn step(&mut self) -> bool {
        let enough = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        if !enough {
            self.unread();
        }
        enough
    }

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
            let is_method = || self.class_methods.values().flatten().any(|one| Rc::ptr_eq(one, &made.function));
            if !made.called || is_method() {
                let function = made.function.clone();
                let unknown = self.bound(&function, None);
                self.evaluate(&function, unknown);
            }
            next += 1;
        }
    }

    pub(super) fn run(&mut self, c: &mut Cursor<'_>) -> Value {
        if self.depth >= DEEPEST {
            self.unread_part(c);
            return Value::Unknown;
        }
        self.depth += 1;
        let mut last = Value::Unknown;
        while c.at < c.end {
            let before = c.at;
            let separator = matches!(c.kind(), Some(Kind::Line | Kind::Mark(";" | "," | ")" | "]" | "}")));
            let value = self.statement(c);
            if !separator {
                last = value;
            }
            if c.at == before {
                c.at += 1;
            }
        }
        self.depth -= 1;
        last
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        if self.loose.contains(name) {
            let old = self.variables.remove(name).unwrap_or(Value::Unknown);
            let value = if self.spend(value.size()) { old.or(value).or(Value::Unknown) } else { Value::Unknown };
            self.variables.insert(name.to_owned(), value);
        } else {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// `self.name = value` in a Python class. Of lists and the like it is not followed how they change.
    pub(super) fn set_field(&mut self, name: &str, value: Value) {
        let is_text = |value: &Value| matches!(value, Value::Text(_) | Value::Path(_) | Value::Unknown);
        let followed = match &value {
            Value::Choice(values) => values.iter().all(is_text),
            value => is_text(value),
        };
        let value = if followed && self.spend(value.size()) { value } else { Value::Unknown };
        let value = match self.fields.remove(name) {
            Some(old) => old.or(value),
            None => value,
        };
        self.fields.insert(name.to_owned(), value);
    }

    /// A list or map was changed in a way that is not followed.
    pub(super) fn spoil(&mut self, name: &str) {
        let Some(value @ (Value::List(_) | Value::Map(_) | Value::Choice(_))) = self.variables.get(name) else {
            return;
        };
        let size = value.size();
        let value = if self.spend(size) { self.variables.get(name).cloned() } else { None };
        let spoiled = match value {
            Some(Value::List(values)) => methods::opened(&values),
            Some(value) => value.or(Value::Unknown),
            None => Value::Unknown,
        };
        self.set(name, spoiled);
    }

    /// The lists and maps of which these tokens name an item are changed.
    pub(super) fn spoil_items(&mut self, c: &Cursor<'_>) {
        for at in c.at..c.end {
            if !self.step() {
                return;
            }
            if let Some(name) = c.tokens.name(at)
                && matches!(c.tokens.mark(at + 1), Some("[" | "."))
            {
                self.spoil(name);
            }
        }
    }

    pub(super) fn restore(&mut self, name: &str, saved: Option<Value>) {
        match saved {
            Some(value) => self.variables.insert(name.to_owned(), value),
            None => self.variables.remove(name),
        };
    }

    pub(super) fn variable(&mut self, name: &str) -> Option<Value> {
        let value = self.variables.get(name)?;
        let size = value.size();
        if !self.spend(size) {
            self.incomplete();
            // Nor is it measured again.
            self.variables.insert(name.to_owned(), Value::Unknown);
            return Some(Value::Unknown);
        }
        self.variables.get(name).cloned()
    }

    pub(super) fn lookup(&mut self, name: &str) -> Value {
        if let Some(value) = self.variable(name) {
            return value;
        }
        match self.language {
            Language::Perl | Language::Php if name.starts_with(['$', '@', '%']) => {
                names::constant(self.language, name, &self.origin).unwrap_or(Value::Unknown)
            }
            _ if name.len() > 200 => Value::Unknown,
            _ => names::constant(self.language, name, &self.origin).unwrap_or_else(|| Value::name(name)),
        }
    }

    /// Gives a value to one name, or its parts to several.
    pub(super) fn bind(&mut self, targets: &Cursor<'_>, value: Value) {
        for (name, value) in self.targets(targets, value, 0) {
            self.set(&name, value);
        }
    }

    /// What each of the names gets: `a`, `a, b`, `(a, (b, c))`, `[a, ...b]`, `{a, b: c = d}`.
    pub(super) fn targets(&mut self, targets: &Cursor<'_>, value: Value, depth: usize) -> Vec<(String, Value)> {
        let mut c = targets.part(targets.at, targets.end);
        while matches!(c.name(), Some("my" | "our" | "local" | "const" | "let" | "var")) && c.at + 1 < c.end {
            c.at += 1;
        }
        if depth > 8 {
            return Vec::new();
        }
        if c.at + 1 == c.end
            && let Some(name) = c.name()
        {
            let value = match value {
                value @ (Value::List(_) | Value::Unknown | Value::Choice(_)) => value,
                value if self.language == Language::Perl && name.starts_with('@') => Value::List(vec![value]),
                value => value,
            };
            return vec![(name.to_owned(), value)];
        }
        let mut bound = Vec::new();
        if c.mark() == Some("{") {
            let inner = c.part(c.at + 1, c.close());
            for mut entry in split(&inner) {
                entry.lines();
                let Some(key) = entry.name() else { continue };
                let member = if self.spend(value.size()) { self.member(value.clone(), key) } else { Value::Unknown };
                if entry.mark_at(1) == Some(":") {
                    entry.at += 2;
                }
                let member = self.or_default(&mut entry, member);
                bound.extend(self.targets(&entry, member, depth + 1));
            }
            return bound;
        }
        if matches!(c.mark(), Some("(" | "[")) && c.close() + 1 >= c.end {
            c = c.part(c.at + 1, c.close());
        }
        let elements = places(&c);
        let values = match &value {
            Value::List(values) => values.clone(),
            Value::Choice(rows) if rows.iter().any(|row| matches!(row, Value::List(_))) => {
                // Rows of a list: each name is one of its column.
                let column = |index: usize| {
                    let cells = rows.iter().map(|row| match row {
                        Value::List(values) => values.get(index).cloned().unwrap_or(Value::Unknown),
                        // One of more rows than are kept.
                        Value::Text(text) if text.contains(MORE) => row.clone(),
                        _ => Value::Unknown,
                    });
                    Value::choice(cells.collect())
                };
                (0..elements.len()).map(column).collect()
            }
            _ => Vec::new(),
        };
        for (index, mut element) in elements.into_iter().enumerate() {
            // `[, b]`
            if element.at >= element.end {
                continue;
            }
            let rest =
                matches!(element.mark(), Some("*" | "...")) || element.name().is_some_and(|name| name.starts_with('@'));
            while element.at + 1 < element.end
                && !matches!(element.kind(), Some(Kind::Name(_) | Kind::Mark("(" | "[" | "{")))
            {
                element.at += 1;
            }
            let part = match values.get(index) {
                _ if rest && matches!(value, Value::List(_)) => {
                    Value::List(values.iter().skip(index).cloned().collect())
                }
                Some(value) => value.clone(),
                None => Value::Unknown,
            };
            let part = self.or_default(&mut element, part);
            bound.extend(self.targets(&element, part, depth + 1));
        }
        bound
    }

    /// What a target gets that may have a default value behind it, which is cut off.
    fn or_default(&mut self, target: &mut Cursor<'_>, value: Value) -> Value {
        let Some(equals) = default_at(target) else { return value };
        let mut default = target.part(equals + 1, target.end);
        target.end = equals;
        let default = self.expression(&mut default, 2);
        match value {
            Value::Unknown | Value::Bound(..) => Value::Unknown.or(default),
            value => value,
        }
    }

    pub(super) fn assign(&mut self, name: &str, operator: &str, value: Value) -> Value {
        let old = match operator {
            "=" | ":=" => None,
            _ => Some(self.variables.remove(name).unwrap_or(Value::Unknown)),
        };
        let value = match (operator, old) {
            (_, None) => value,
            ("||=" | "??=" | "//=" | "&&=", Some(Value::Unknown)) => value.or(Value::Unknown),
            ("||=" | "??=" | "//=" | "&&=", Some(old)) => old.or(value),
            ("+=" | ".=", Some(old)) => old.plus(value),
            (_, Some(_)) => Value::Unknown,
        };
        let value = match (name.chars().next(), value) {
            (Some('@'), value)
                if self.language == Language::Perl && !matches!(value, Value::List(_) | Value::Unknown) =>
            {
                Value::List(vec![value])
            }
            (_, value) => value,
        };
        let copy = if self.spend(value.size()) { value.clone() } else { Value::Unknown };
        if operator != "=" && operator != ":=" && self.loose.contains(name) {
            self.variables.insert(name.to_owned(), value.or(Value::Unknown));
        } else {
            self.set(name, value);
        }
        copy
    }

    // --- Functions ---

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
            self.functions.push(Made { function: function.clone(), called: false });
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

/// The texts of a deed.
fn texts(what: &mut What) -> Vec<&mut Text> {
    match what {
        What::Read(text)
        | What::Write(text)
        | What::Append(text)
        | What::Chdir(text)
        | What::Shell(text)
        | What::Eval(text)
        | What::Load(text)
        | What::Send(text)
        | What::Create { path: text, .. }
        | What::Delete { path: text, .. }
        | What::Mode { path: text, .. } => vec![text],
        What::Move { from, to } | What::Copy { from, to } => vec![from, to],
        What::Run(words) => words.iter_mut().collect(),
    }
}

/// Whether a token is the last part of the name of a call that touches files or processes, or such a call itself.
fn names_a_deed(token: &Token, acting: &HashSet<&'static str>) -> bool {
    match &token.kind {
        Kind::Name(name) => acting.contains(name.as_str()),
        Kind::Shell(_) | Kind::Code(_) => true,
        Kind::Text(parts) => parts.iter().any(|part| match part {
            Part::Code { tokens, .. } => tokens.list.iter().any(|token| names_a_deed(token, acting)),
            Part::Text(_) => false,
        }),
        _ => false,
    }
}

/// What stands between the commas, where anything does.
pub(super) fn split<'t>(c: &Cursor<'t>) -> Vec<Cursor<'t>> {
    let mut parts = places(c);
    parts.retain(|part| part.at < part.end);
    parts
}

/// What stands between the commas, with the places where nothing does.
fn places<'t>(c: &Cursor<'t>) -> Vec<Cursor<'t>> {
    let mut parts = Vec::new();
    let mut from = c.at;
    let mut at = c.at;
    while at < c.end {
        match c.tokens.mark(at) {
            Some("(" | "[" | "{") => at = c.close_of(at),
            Some(",") => {
                parts.push(c.part(from, at));
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(c.part(from, c.end));
    parts
}

/// Where the `=` is behind which the default value of a target stands.
fn default_at(c: &Cursor<'_>) -> Option<usize> {
    let mut at = c.at;
    while at < c.end {
        match c.tokens.mark(at) {
            Some("(" | "[" | "{") => at = c.close_of(at),
            Some("=") => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
