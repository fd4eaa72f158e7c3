//! What stands behind a value: members, indexes, calls.

use std::ops::{ControlFlow, Range};

use super::arguments::Args;
use super::classes::is_object;
use super::cursor::Cursor;
use super::evaluator::{DEEPEST, Evaluator};
use super::expressions::assignment;
use super::objects::of_object;
use super::pure::CONFIG_PARSER;
use super::tokens::Kind;
use super::value::{Function, HOLE, HOME, Value};
use super::{Language, ScriptEffectKind, methods, names, script_args, sequences, tables, value};

/// Maps with more items than this are not followed when another one is set.
const MOST_SET: usize = 32;

/// The value up to here: what stands behind it goes on from it, or it is the last one.
type Step = ControlFlow<Value, Value>;

/// What is known of a value besides it.
struct Chain<'t> {
    /// The variable that it comes from.
    base: Option<&'t str>,
    /// Whether the value is that variable itself, and nothing of it.
    whole: bool,
    /// The token behind the value.
    at: usize,
    /// Where the name stands under which it is called.
    name_at: Range<usize>,
}

impl Evaluator {
    /// Members, indexes and calls behind a value.
    pub(super) fn postfix(&mut self, c: &mut Cursor<'_>, mut value: Value, from: usize) -> Value {
        let language = self.language;
        let base = c.tokens.name(from).filter(|_| c.at == from + 1);
        let mut chain = Chain { base, whole: true, at: c.at, name_at: c.span(from) };
        loop {
            (chain.at, chain.whole) = (c.at, c.at == from + 1);
            // A chain may go on in the next line.
            if matches!(c.kind(), Some(Kind::Line)) && matches!(language, Language::Node | Language::Ruby) {
                let mut next = c.at;
                while matches!(c.tokens.list.get(next).map(|token| &token.kind), Some(Kind::Line)) {
                    next += 1;
                }
                if next < c.end && matches!(c.tokens.mark(next), Some("." | "?." | "&.")) {
                    c.at = next;
                } else {
                    return value;
                }
            }
            let step = match c.mark() {
                Some("." | "?." | "&." | "::" | "->" | "?->") => self.member_access(c, value, &mut chain),
                Some("(") => self.call_here(c, value, &chain),
                Some("[") => self.subscript(c, value, &chain),
                None if language == Language::Node && !c.space() && matches!(c.kind(), Some(Kind::Text(_))) => {
                    self.tagged_template(c, value, &chain)
                }
                Some("++" | "--") => {
                    c.at += 1;
                    if let Some(base) = chain.base {
                        self.set(base, Value::Unknown);
                    }
                    Step::Continue(Value::Unknown)
                }
                Some("{") if language == Language::Ruby && matches!(value, Value::Name(_)) => {
                    let mut args = Args { at: chain.name_at.clone(), ..Args::default() };
                    self.block_argument(c, &mut args);
                    Step::Continue(self.call(value, args))
                }
                _ => return value,
            };
            match step {
                Step::Continue(next) => value = next,
                Step::Break(last) => return last,
            }
        }
    }

    /// `value.name`, `value.name(..)`
    fn member_access(&mut self, c: &mut Cursor<'_>, value: Value, chain: &mut Chain<'_>) -> Step {
        let language = self.language;
        if matches!(
            (language, c.mark()),
            (Language::Perl | Language::Php, Some("."))
                | (Language::Ruby | Language::Python | Language::Node, Some("->"))
        ) {
            c.at = chain.at;
            return Step::Break(value);
        }
        c.at += 1;
        c.lines();
        let Some(name) = c.name() else {
            return match c.mark() {
                Some("(" | "[" | "{") => Step::Continue(self.access_by_bracket(c, value, chain)),
                _ => Step::Break(value),
            };
        };
        let member_at = c.span(c.at);
        c.at += 1;
        chain.name_at = chain.name_at.start..member_at.end;
        if language == Language::Perl && name.starts_with('$') {
            // `$x->$method(..)`
            self.incomplete();
            return Step::Continue(Value::Unknown);
        }
        if assignment(c.mark()).is_some() && c.mark() != Some("=>") {
            let equals = c.mark() == Some("=");
            c.at += 1;
            c.lines();
            let assigned = self.expression(c, 2);
            self.escape(&assigned);
            if chain.whole && chain.base.is_some_and(|base| is_object(language, base)) {
                self.set_field(name, if equals { assigned } else { Value::Unknown });
                return Step::Break(Value::Unknown);
            }
            let plain = equals && chain.whole && language == Language::Node;
            let changed = if plain { self.with_item(&value, &Value::text(name), assigned) } else { None };
            match (chain.base, changed) {
                (Some(base), Some(changed)) => self.set(base, changed),
                (Some(base), None) => self.spoil(base),
                (None, _) => {}
            }
            return Step::Break(Value::Unknown);
        }
        let called = c.mark() == Some("(") && !(language == Language::Ruby && c.space());
        if !called && language == Language::Ruby {
            let mut args = if self.begins_argument(c, name) && c.space() || c.mark() == Some("(") {
                self.bare_args(c, false)
            } else {
                Args::default()
            };
            let upper = name.starts_with(|char: char| char.is_ascii_uppercase());
            args.at = chain.name_at.clone();
            self.block_argument(c, &mut args);
            return Step::Continue(if upper && args.values.is_empty() {
                self.member(value, name)
            } else {
                self.method(value, name, args, chain.base, chain.whole)
            });
        }
        if !called && language == Language::Perl {
            let args = Args { at: chain.name_at.clone(), ..Args::default() };
            return Step::Continue(self.method(value, name, args, chain.base, chain.whole));
        }
        if called {
            let mut args = self.args(c);
            args.at = chain.name_at.clone();
            self.block_argument(c, &mut args);
            return Step::Continue(self.method(value, name, args, chain.base, chain.whole));
        }
        if chain.whole && chain.base.is_some_and(|base| is_object(language, base)) {
            if let Some(field) = self.field(name) {
                return Step::Continue(field);
            }
            // What is set in the body of a class. Another variable may have its name, and it may be set from outside.
            let in_body = if language == Language::Php { format!("${name}") } else { name.to_owned() };
            if self.classes.methods(name).is_none()
                && let Some(value) = self.variable(&in_body)
            {
                return Step::Continue(value.or(Value::Unknown));
            }
        }
        Step::Continue(self.member(value, name))
    }

    /// `f?.(x)`, `$f->(x)`, `$h->{x}`, Ruby's `f.(x)`
    fn access_by_bracket(&mut self, c: &mut Cursor<'_>, mut value: Value, chain: &Chain<'_>) -> Value {
        if c.mark() == Some("{") {
            let close = c.close();
            let mut key = c.part(c.at + 1, close);
            let key = match key.name() {
                Some(word) if !word.starts_with('$') => Value::text(word),
                _ => self.expression(&mut key, 0),
            };
            c.at = close + 1;
            value = self.index(value, &key);
        }
        if c.mark() == Some("(") {
            let mut args = self.args(c);
            args.at = chain.name_at.clone();
            value = self.call(value, args);
        }
        value
    }

    /// `value(..)`
    fn call_here(&mut self, c: &mut Cursor<'_>, value: Value, chain: &Chain<'_>) -> Step {
        if self.language == Language::Ruby && !matches!(value, Value::Name(_) | Value::Function(_)) {
            return Step::Break(value);
        }
        if self.language == Language::Node && names::is_keyword(chain.base.unwrap_or_default()) {
            return Step::Break(value);
        }
        let mut args = self.args(c);
        args.at = chain.name_at.clone();
        self.block_argument(c, &mut args);
        Step::Continue(self.call(value, args))
    }

    /// `value[..]`
    fn subscript(&mut self, c: &mut Cursor<'_>, value: Value, chain: &Chain<'_>) -> Step {
        let language = self.language;
        if matches!(language, Language::Ruby | Language::Perl) && c.space() {
            return Step::Break(value);
        }
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        c.at = close + 1;
        if inner.at >= inner.end {
            self.added_item(c, chain.base);
            return Step::Break(Value::Unknown);
        }
        let from = inner.at;
        let key = self.slice(&mut inner);
        inner.lines();
        // `text[3, 14]`: what they mean together is not known.
        let several = inner.at < inner.end;
        let mut more = Vec::new();
        while inner.eat(",") {
            more.push(self.expression(&mut inner, 0));
            inner.lines();
        }
        self.run(&mut inner);
        let at = c.span(from);
        if assignment(c.mark()).is_some() {
            self.assigned_item(c, &value, &key, chain);
            return Step::Break(Value::Unknown);
        }
        if language == Language::Ruby
            && matches!(&value, Value::Name(name) if name == "Dir")
            && let Key::At(pattern) = key
        {
            more.insert(0, pattern);
            return Step::Continue(self.call_named("Dir.[]", Args::of(more, at)));
        }
        if several {
            if tables::is_dangerous(language, &value) {
                self.incomplete();
            }
            return Step::Continue(Value::Unknown);
        }
        Step::Continue(match key {
            Key::Reverse => sequences::reverse(&value),
            Key::Part(start, end) => sequences::part(&value, start, end),
            Key::At(key) => {
                if key.known().is_none() && !matches!(key, Value::Number(_)) && tables::is_dangerous(language, &value) {
                    self.incomplete();
                    self.effect(ScriptEffectKind::Eval(super::Text::Shape(HOLE.to_string())), &at);
                }
                self.index(value, &key)
            }
        })
    }

    /// PHP's `$a[] = x`.
    fn added_item(&mut self, c: &mut Cursor<'_>, base: Option<&str>) {
        if !c.eat("=") {
            return;
        }
        let added = self.expression(c, 2);
        if let Some(base) = base {
            let list = match self.variables.remove(base) {
                Some(Value::List(mut values)) => {
                    values.push(added);
                    Value::List(values)
                }
                None => Value::List(vec![added]),
                _ => Value::Unknown,
            };
            self.set(base, list);
        }
    }

    /// `value[key] = x`
    fn assigned_item(&mut self, c: &mut Cursor<'_>, value: &Value, key: &Key, chain: &Chain<'_>) {
        let plain = c.mark() == Some("=");
        c.at += 1;
        let assigned = self.expression(c, 2);
        self.escape(&assigned);
        if matches!(value, Value::Name(name) if matches!(name.as_str(), "globals" | "locals")) {
            match key {
                Key::At(key) if key.known().is_some() => self.set(key.known().unwrap_or_default(), assigned),
                _ => self.incomplete(),
            }
            return;
        }
        // An item of a module's, such as `os.environ`, makes no other one of the module.
        let Some(base) = chain.base else { return };
        if matches!(self.variables.get(base), None | Some(Value::Name(_))) {
            return;
        }
        let changed = match key {
            Key::At(key) if plain && chain.whole => self.with_item(value, key, assigned),
            _ => None,
        };
        self.set(base, changed.unwrap_or(Value::Unknown));
    }

    /// A map or a list with another item at a key; nothing if that is not followed.
    fn with_item(&mut self, value: &Value, key: &Value, item: Value) -> Option<Value> {
        if !matches!(self.language, Language::Python | Language::Node) || !self.spend(value.size()) {
            return None;
        }
        match (value, key) {
            (Value::Map(entries), key) if entries.len() < MOST_SET => {
                let mut entries = entries.clone();
                value::put(&mut entries, key.known()?, item);
                Some(Value::Map(entries))
            }
            (Value::List(values), Value::Number(at)) if value.count().is_some() => {
                let mut values = values.clone();
                *values.get_mut(usize::try_from(*at).ok()?)? = item;
                Some(Value::List(values))
            }
            _ => None,
        }
    }

    /// A template behind its tag.
    fn tagged_template(&mut self, c: &mut Cursor<'_>, value: Value, chain: &Chain<'_>) -> Step {
        if !matches!(value, Value::Name(_) | Value::Function(_) | Value::Bound(..)) {
            return Step::Break(value);
        }
        let from = c.at;
        let text = self.primary(c);
        let mut args = Args::of(vec![text], c.span(from));
        args.at = chain.name_at.clone();
        Step::Continue(self.call(value, args))
    }

    /// What is between square brackets: a key, `::-1`, `1:3`. What it does not understand is left to be read.
    fn slice(&mut self, inner: &mut Cursor<'_>) -> Key {
        if self.language == Language::Python {
            if inner.mark() == Some(":") && inner.mark_at(1) == Some(":") && inner.mark_at(2) == Some("-") {
                let one = inner.tokens.list.get(inner.at + 3).map(|token| &token.kind);
                if matches!(one, Some(Kind::Number(Some(1)))) && inner.at + 4 == inner.end {
                    inner.at = inner.end;
                    return Key::Reverse;
                }
                return Key::Part(i64::MAX, None);
            }
            let start = if inner.mark() == Some(":") { Value::Number(0) } else { self.expression(inner, 0) };
            if !inner.eat(":") {
                return Key::At(start);
            }
            let end = if inner.at >= inner.end { Value::Unknown } else { self.expression(inner, 0) };
            let open = inner.at >= inner.end && inner.tokens.mark(inner.end - 1) == Some(":");
            return match (start, end) {
                (Value::Number(start), Value::Number(end)) if inner.at >= inner.end => Key::Part(start, Some(end)),
                (Value::Number(start), _) if open => Key::Part(start, None),
                _ => Key::Part(i64::MAX, None),
            };
        }
        Key::At(self.expression(inner, 0))
    }

    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        match value {
            Value::Name(full) if full.len() + name.len() < 200 => {
                // What is set in a Python class.
                if self.classes.may_hold(&full, name)
                    && let Some(value) = self.variable(name)
                {
                    // Another variable may have its name, and it may be set from outside.
                    return value.or(Value::Unknown);
                }
                let full = names::full(self.language, &format!("{full}.{name}"));
                if let Some(name) = full.strip_prefix(script_args::NAMESPACE).and_then(|rest| rest.strip_prefix('.')) {
                    return script_args::option(self, name);
                }
                names::constant(self.language, &full, &self.setting).unwrap_or(Value::Name(full))
            }
            Value::Map(entries) => {
                let found = entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
                found.unwrap_or_else(|| Value::Bound(Box::new(Value::Map(entries)), name.to_owned()))
            }
            Value::Choice(values) if values.iter().any(|value| matches!(value, Value::Name(_) | Value::Map(_))) => {
                let members = values.into_iter().map(|value| self.member(value, name)).collect();
                Value::choice(members)
            }
            value => methods::attribute(self, value, name),
        }
    }

    pub(super) fn index(&mut self, value: Value, key: &Value) -> Value {
        match (&value, key) {
            (Value::Choice(values), _) => {
                let found = values.clone().into_iter().map(|value| self.index(value, key)).collect();
                Value::choice(found)
            }
            (Value::Name(_), _) => {
                if let Some(variable) = names::environment(&self.setting, &value, key) {
                    return variable;
                }
                if matches!(&value, Value::Name(name) if name == CONFIG_PARSER) {
                    return self.index(self.configuration.clone(), key);
                }
                match (key.known().map(str::to_owned), &value) {
                    (Some(key), Value::Name(name))
                        if matches!(name.as_str(), "globals" | "locals" | "sys.modules" | "vars") =>
                    {
                        self.lookup(&key)
                    }
                    (Some(key), _) => self.member(value, &key),
                    (None, _) => Value::Unknown,
                }
            }
            // `path.parents[1]`
            (Value::Bound(owner, name), Value::Number(at @ 0..=16)) if name == "parents" => match &**owner {
                Value::Path(path) => Value::Path((0..=*at).fold(path.clone(), |path, _| value::dirname(&path))),
                _ => Value::Unknown,
            },
            (Value::List(values), Value::Number(at)) => {
                let length = i64::try_from(values.len()).unwrap_or(i64::MAX);
                let index = if *at < 0 { length.saturating_add(*at) } else { *at };
                let Some(index) = usize::try_from(index).ok().filter(|index| *index < values.len()) else {
                    return Value::Unknown;
                };
                // What stands between may be any number of items.
                let between = if *at < 0 { values.get(index + 1..) } else { values.get(..index) };
                let found = values.get(index).cloned().unwrap_or(Value::Unknown);
                if between.unwrap_or_default().iter().any(Value::is_open) { found.or(Value::Unknown) } else { found }
            }
            // A hash is a list of keys and values.
            (Value::List(values), key) if self.language == Language::Perl && key.known().is_some() => {
                let pair = values.chunks(2).rev().find(|pair| pair.first().and_then(Value::known) == key.known());
                pair.and_then(|pair| pair.get(1)).cloned().unwrap_or(Value::Unknown)
            }
            (Value::List(values), _) => Value::choice(values.clone()),
            (Value::Map(entries), key) => match key.known() {
                Some(key) => value.get(key).cloned().unwrap_or(Value::Unknown),
                None => Value::choice(entries.iter().map(|(_, value)| value.clone()).collect()),
            },
            (Value::Text(text), Value::Number(at)) => {
                let at = usize::try_from(*at).ok().filter(|at| *at < 4096);
                // What is unknown may be any number of letters.
                let known = at.filter(|at| !text.chars().take(at + 1).any(|char| matches!(char, HOLE | HOME)));
                let char = known.and_then(|at| text.chars().nth(at));
                char.map_or(Value::Unknown, |char| Value::Text(char.to_string()))
            }
            (Value::Unknown | Value::Path(_), _) | (Value::Text(_), Value::Text(_)) => {
                match key.known().map(str::to_owned) {
                    Some(name) if self.language == Language::Node => methods::attribute(self, value, &name),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    /// A method call: `value.name(args)`. `base` is the variable that `value` is, if `whole`, or that it comes from.
    fn method(&mut self, value: Value, name: &str, args: Args, base: Option<&str>, whole: bool) -> Value {
        if let Some(base) = base
            && matches!(value, Value::List(_) | Value::Choice(_) | Value::Map(_))
            && value.get(name).is_none()
            && let Some(changed) = methods::changed(self.language, &value, name, &args)
        {
            for arg in &args.values {
                self.escape(&arg.value);
            }
            self.changed |= self.frames.iter().any(|frame| frame.bound.iter().any(|(name, _)| name == base));
            if whole {
                self.set(base, changed);
            } else {
                self.spoil(base);
            }
            // What is taken out, and the list itself where that is given back, are read as of any other list.
            if matches!(value, Value::Map(_)) && !matches!(name, "pop" | "setdefault" | "delete_if" | "keep_if")
                || !matches!(value, Value::Map(_))
                    && matches!(name, "append" | "push" | "add" | "extend" | "insert" | "unshift" | "prepend" | "clear")
            {
                return Value::Unknown;
            }
        }
        // Ruby's texts change in place too.
        if let (Some(base), Value::Text(_), Language::Ruby) = (base, &value, self.language)
            && (name.ends_with('!')
                || matches!(name, "concat" | "prepend" | "insert" | "replace" | "clear" | "setbyte"))
        {
            self.set(base, Value::Unknown);
        }
        // A method of one of the script's own classes, for all that is known.
        if matches!(value, Value::Unknown | Value::Bound(..))
            && let Some(functions) = self.classes.methods(name)
        {
            let own = of_object(&args);
            let mut results = Vec::new();
            for function in functions {
                results.push(self.call(Value::Function(function), own.clone()));
            }
            self.call(Value::Bound(Box::new(value), name.to_owned()), args);
            return Value::choice(results);
        }
        let held = if matches!(value, Value::Unknown | Value::Bound(..)) { self.field(name) } else { None };
        // It may be unknown as well, so that it is a choice.
        if let Some(held @ Value::Choice(_)) = held {
            self.call(held, args.clone());
        }
        let callee = match value {
            Value::Name(_) => self.member(value, name),
            Value::Map(ref entries) if entries.iter().any(|(key, _)| key == name) => self.member(value, name),
            value => Value::Bound(Box::new(value), name.to_owned()),
        };
        self.call(callee, args)
    }

    pub(super) fn call(&mut self, callee: Value, args: Args) -> Value {
        if self.depth >= DEEPEST {
            self.unread_call(&callee);
            return Value::Unknown;
        }
        self.depth += 1;
        let changes = match &callee {
            Value::Name(name) => names::changes(self.language, name),
            Value::Function(function) => (self.language == Language::Php && by_reference(function)).then_some(0),
            // `[].reverse.call(list)`
            Value::Bound(_, name) if self.language == Language::Node && matches!(name.as_str(), "call" | "apply") => {
                Some(0)
            }
            _ => None,
        };
        let variables: Vec<String> = args.values.iter().map(|arg| arg.variable.clone().unwrap_or_default()).collect();
        let before = std::mem::take(&mut self.changed);
        let value = self.call_it(callee, args);
        let from = if self.changed { Some(0) } else { changes };
        // Texts do not change in these.
        let lists_only = !self.changed && matches!(self.language, Language::Python | Language::Node);
        self.changed = before;
        for variable in variables.iter().skip(from.unwrap_or(usize::MAX)).filter(|variable| !variable.is_empty()) {
            if lists_only {
                self.spoil(variable);
            } else if self.variables.contains_key(variable) || self.language != Language::Node {
                self.set(variable, Value::Unknown);
            }
        }
        self.depth -= 1;
        value
    }

    fn call_it(&mut self, callee: Value, args: Args) -> Value {
        match callee {
            Value::Name(name) => {
                let class =
                    if self.language == Language::Ruby { name.strip_suffix(".new") } else { Some(name.as_str()) };
                let Some(maker) = class.and_then(|class| self.classes.maker(class)) else {
                    return self.call_named(&name, args);
                };
                let own = if self.language == Language::Python { of_object(&args) } else { args.clone() };
                self.invoke(&maker, &own);
                // A class of the script's may have the name of one that is known.
                if tables::find(self.language, &name).is_some() { self.call_named(&name, args) } else { Value::Unknown }
            }
            Value::Function(function) => self.invoke(&function, &args),
            Value::Bound(receiver, name) => methods::call(self, *receiver, &name, args),
            Value::Choice(values) => {
                let mut results = Vec::new();
                for value in values.into_iter().take(value::MOST) {
                    if !matches!(value, Value::Unknown) {
                        results.push(self.call(value, args.clone()));
                    }
                }
                Value::choice(results)
            }
            // A function by its name.
            Value::Text(name) if self.language == Language::Php => {
                if name.contains([HOLE, HOME]) {
                    self.incomplete();
                    self.effect(ScriptEffectKind::Eval(super::Text::Shape(HOLE.to_string())), &args.at);
                    Value::Unknown
                } else {
                    self.call_named(&name.to_ascii_lowercase(), args)
                }
            }
            Value::Unknown if matches!(self.language, Language::Php) => {
                self.incomplete();
                Value::Unknown
            }
            _ => {
                for arg in &args.values {
                    self.escape(&arg.value);
                }
                Value::Unknown
            }
        }
    }
}

pub(super) enum Key {
    At(Value),
    Reverse,
    Part(i64, Option<i64>),
}

/// Whether a parameter is given by reference: PHP's `&$x`.
fn by_reference(function: &Function) -> bool {
    function.parameters.clone().any(|at| function.tokens.mark(at) == Some("&"))
}
