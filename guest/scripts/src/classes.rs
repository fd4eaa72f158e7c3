//! Classes: what makes their objects, their methods, and what these hold.
//!
//! Objects are not told apart: a method is that of any class that has one of its name, and a field that of any object.
//! Only Python's methods are followed where they are called; those of other languages are read with unknown arguments.

use std::collections::HashMap;
use std::rc::Rc;

use super::Language;
use super::arguments::{Arg, Args};
use super::evaluator::Evaluator;
use super::value::{Function, Value};

#[derive(Default)]
pub(super) struct Classes {
    /// The one that began last.
    last: String,
    /// All of them, each with the function that makes its objects, if it has one.
    makers: HashMap<String, Option<Rc<Function>>>,
    /// Methods by their names, whichever classes have them.
    methods: HashMap<String, Vec<Rc<Function>>>,
    /// ScriptEffectKind the objects of any of these classes hold: `self.name`, `this.name`.
    fields: HashMap<String, Value>,
}

impl Classes {
    /// A class of this name begins.
    pub(super) fn begin(&mut self, name: &str) {
        name.clone_into(&mut self.last);
        self.makers.insert(name.to_owned(), None);
    }

    /// The class that began last has a function that takes an object.
    pub(super) fn define(&mut self, language: Language, name: &str, function: &Rc<Function>) {
        if is_maker(language, name) {
            self.makers.insert(self.last.clone(), Some(function.clone()));
        } else {
            self.methods.entry(name.to_owned()).or_default().push(function.clone());
        }
    }

    /// The function that makes the objects of a class.
    pub(super) fn maker(&self, class: &str) -> Option<Rc<Function>> {
        self.makers.get(class).cloned().flatten()
    }

    /// The methods of a name.
    pub(super) fn methods(&self, name: &str) -> Option<Vec<Rc<Function>>> {
        self.methods.get(name).cloned()
    }

    pub(super) fn is_method(&self, function: &Rc<Function>) -> bool {
        self.methods.values().flatten().any(|one| Rc::ptr_eq(one, function))
    }

    /// Whether `class.name` may be what is set in the body of a class.
    pub(super) fn may_hold(&self, class: &str, name: &str) -> bool {
        self.makers.contains_key(class) && !self.methods.contains_key(name)
    }
}

impl Evaluator {
    /// `self.name = value`. Of lists and the like it is not followed how they change.
    pub(super) fn set_field(&mut self, name: &str, value: Value) {
        let is_text = |value: &Value| {
            matches!(value, Value::Text(_) | Value::Path(_) | Value::Name(_) | Value::Function(_) | Value::Unknown)
        };
        let followed = match &value {
            Value::Choice(values) => values.iter().all(is_text),
            value => is_text(value),
        };
        let value = if followed && self.spend(value.size()) { value } else { Value::Unknown };
        let value = match self.classes.fields.remove(name) {
            Some(old) => old.or(value),
            None => value,
        };
        self.classes.fields.insert(name.to_owned(), value);
    }

    /// ScriptEffectKind `self.name` is, if that is set anywhere.
    pub(super) fn field(&mut self, name: &str) -> Option<Value> {
        let size = self.classes.fields.get(name).map(Value::size)?;
        let field = if self.spend(size) { self.classes.fields.get(name).cloned() } else { None };
        // It may be set from outside, and later than here.
        Some(field.map_or(Value::Unknown, |field| field.or(Value::Unknown)))
    }
}

/// Whether a method of this name makes the objects of its class.
pub(super) fn is_maker(language: Language, name: &str) -> bool {
    let own = match language {
        Language::Python => "__init__",
        Language::Node => "constructor",
        Language::Php => "__construct",
        Language::Ruby => "initialize",
        _ => return false,
    };
    name == own
}

/// Whether a name stands for the object whose method is read, or for its class.
pub(super) fn is_object(language: Language, name: &str) -> bool {
    match language {
        Language::Python => matches!(name, "self" | "cls"),
        Language::Node => name == "this",
        Language::Php => name == "$this",
        _ => false,
    }
}

/// The arguments of a method as its function takes them: with the object in front.
pub(super) fn of_object(args: &Args) -> Args {
    let mut all = args.clone();
    all.values.insert(0, Arg::new(Value::Unknown, args.at.clone()));
    all
}
