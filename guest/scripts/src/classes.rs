//! Classes: what makes their objects, their methods, and what these hold.
//!
//! Objects are not told apart: a method is that of any class that has one of its name, and a field that of any object.
//! Only Python's methods are followed where they are called; those of other languages are read with unknown arguments.

use std::collections::HashMap;
use std::rc::Rc;

use super::Language;
use super::value::{Function, Value};

/// The classes of a script, as far as they were read.
#[derive(Default)]
pub(super) struct Classes {
    /// The one that began last.
    last: String,
    /// All of them, each with the function that makes its objects, if it has one.
    makers: HashMap<String, Option<Rc<Function>>>,
    /// Methods by their names, whichever classes have them.
    methods: HashMap<String, Vec<Rc<Function>>>,
    /// What the objects of any of these classes hold: `self.name`, `this.name`.
    pub(super) fields: HashMap<String, Value>,
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
