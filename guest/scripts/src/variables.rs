//! What names stand for: setting them, looking them up, taking a value apart for several.

use super::cursor::{Cursor, default_at, places, split};
use super::evaluator::Evaluator;
use super::tokens::Kind;
use super::value::{MORE, Value};
use super::{Language, methods, names};

impl Evaluator {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        if self.loose.contains(name) {
            let old = self.variables.remove(name).unwrap_or(Value::Unknown);
            let value = if self.spend(value.size()) { old.or(value).or(Value::Unknown) } else { Value::Unknown };
            self.variables.insert(name.to_owned(), value);
        } else {
            self.variables.insert(name.to_owned(), value);
        }
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
                names::constant(self.language, name, &self.setting).unwrap_or(Value::Unknown)
            }
            _ if name.len() > 200 => Value::Unknown,
            _ => names::constant(self.language, name, &self.setting).unwrap_or_else(|| Value::name(name)),
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
}
