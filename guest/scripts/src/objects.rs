//! What objects hold, whichever of them, and how their methods are given them.

use super::arguments::{Arg, Args};
use super::evaluator::Evaluator;
use super::value::Value;

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

    /// What `self.name` is, if that is set anywhere.
    pub(super) fn field(&mut self, name: &str) -> Option<Value> {
        let size = self.classes.fields.get(name).map(Value::size)?;
        let field = if self.spend(size) { self.classes.fields.get(name).cloned() } else { None };
        // It may be set from outside, and later than here.
        Some(field.map_or(Value::Unknown, |field| field.or(Value::Unknown)))
    }
}

/// The arguments of a method as its function takes them: with the object in front.
pub(super) fn of_object(args: &Args) -> Args {
    let mut all = args.clone();
    all.values.insert(0, Arg::new(Value::Unknown, args.at.clone()));
    all
}
