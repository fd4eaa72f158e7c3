//! What lists and maps are after a method that may change them in place.

use crate::Language::{self, Node, Python, Ruby};
use crate::arguments::Args;
use crate::value::{self, Value};

/// Methods of Python's lists, sets and tuples that leave them as they are.
#[rustfmt::skip]
const PYTHON: &[&str] = &[
    "index", "count", "copy", "union", "difference", "intersection", "symmetric_difference", "issubset", "issuperset",
    "isdisjoint", "__len__", "__getitem__", "__contains__", "__iter__",
];

/// Methods of JavaScript's arrays and promises that do.
#[rustfmt::skip]
const NODE: &[&str] = &[
    "at", "concat", "entries", "every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flat", "flatMap",
    "forEach", "includes", "indexOf", "join", "keys", "lastIndexOf", "map", "reduce", "reduceRight", "slice", "some",
    "then", "toLocaleString", "toReversed", "toSorted", "toSpliced", "toString", "values", "with",
];

/// Methods of Ruby's arrays that do, beside those that ask something.
#[rustfmt::skip]
const RUBY: &[&str] = &[
    "+", "-", "&", "|", "*", "==", "[]", "at", "clone", "collect", "combination", "compact", "count", "cycle", "detect",
    "difference", "dig", "drop", "drop_while", "dup", "each", "each_cons", "each_entry", "each_index", "each_slice",
    "each_with_index", "each_with_object", "fetch", "filter", "filter_map", "find", "find_index", "first", "flat_map",
    "flatten", "freeze", "group_by", "index", "inject", "inspect", "join", "last", "lazy", "length", "map", "max",
    "max_by", "min", "min_by", "minmax", "pack", "partition", "permutation", "product", "reduce", "reject", "reverse",
    "reverse_each", "rindex", "rotate", "sample", "select", "shuffle", "size", "slice", "sort", "sort_by", "sum",
    "take", "take_while", "tally", "to_a", "to_h", "to_json", "to_s", "to_set", "to_yaml", "transpose", "uniq",
    "values_at", "zip",
];

/// Whether a method of a list leaves the list as it is. Any other one may change it.
fn only_reads(language: Language, name: &str) -> bool {
    match language {
        Python => PYTHON.contains(&name),
        Node => NODE.contains(&name),
        Ruby => name.ends_with('?') || RUBY.contains(&name),
        _ => false,
    }
}

/// Methods that change a list in place, whatever else they are in another language.
pub(crate) fn changes_lists(language: Language, name: &str) -> bool {
    matches!(
        name,
        "append" | "push" | "extend" | "insert" | "unshift" | "concat" | "pop" | "shift" | "clear" | "prepend"
    ) || match language {
        Python => matches!(name, "reverse" | "sort" | "popitem"),
        Node => matches!(name, "reverse" | "sort" | "splice" | "fill" | "copyWithin"),
        Ruby => name.ends_with('!') || matches!(name, "delete_at" | "delete_if" | "keep_if" | "fill"),
        _ => false,
    }
}

/// A list in which any of these may be anywhere, and others.
pub(crate) fn opened(values: &[Value]) -> Value {
    Value::List(vec![values.iter().cloned().fold(Value::Unknown, Value::or)])
}

/// What a method may put into a list.
fn added_by(language: Language, name: &str, args: &Args) -> Vec<Value> {
    let given = args.values.iter().map(|arg| arg.value.clone());
    match name {
        "append" | "push" | "add" | "unshift" | "prepend" | "<<" => given.collect(),
        "extend" | "concat" => given.flat_map(|value| value.elements(language)).collect(),
        "insert" => given.skip(1).collect(),
        _ => Vec::new(),
    }
}

/// What a list or a map is after a method that may change it in place. Nothing if the method does not.
pub(crate) fn changed(language: Language, value: &Value, name: &str, args: &Args) -> Option<Value> {
    let mut values = match value {
        Value::Map(entries) if language == Python && name == "update" && args.values.len() < 2 => {
            let mut entries = entries.clone();
            match args.value(0) {
                None => {}
                Some(Value::Map(more)) => {
                    for (key, item) in more {
                        value::put(&mut entries, key, item.clone());
                    }
                }
                Some(_) => return Some(Value::Unknown),
            }
            // Of what a map holds that is spread here nothing is known.
            if args.named("**").is_some() {
                return Some(Value::Unknown);
            }
            for (key, arg) in &args.named {
                value::put(&mut entries, key, arg.value.clone());
            }
            return Some(Value::Map(entries));
        }
        Value::Map(_) => {
            let changes = name.ends_with('!')
                || matches!(
                    name,
                    "update"
                        | "setdefault"
                        | "clear"
                        | "store"
                        | "delete"
                        | "pop"
                        | "popitem"
                        | "shift"
                        | "replace"
                        | "delete_if"
                        | "keep_if"
                );
            return changes.then_some(Value::Unknown);
        }
        _ if only_reads(language, name) => return None,
        Value::List(values) => values.clone(),
        // Lists that it may be, and nothing that has methods of its own.
        Value::Choice(values)
            if values.iter().any(|value| matches!(value, Value::List(_)))
                && values.iter().all(|value| matches!(value, Value::List(_) | Value::Text(_) | Value::Unknown)) =>
        {
            let items = values.iter().flat_map(|value| match value {
                Value::List(items) => items.clone(),
                other => vec![other.clone()],
            });
            return Some(opened(&items.chain(added_by(language, name, args)).collect::<Vec<_>>()));
        }
        _ => {
            return matches!(name, "append" | "push" | "extend" | "insert" | "unshift" | "clear" | "<<")
                .then(|| opened(&added_by(language, name, args)));
        }
    };
    let mut added: Vec<Value> = args.values.iter().map(|arg| arg.value.clone()).collect();
    // Whether each item is at the place where it stands in the list.
    let counted = value.count().is_some();
    match (language, name, added.len()) {
        (Python, "append" | "add", 1) | (Node, "push", _) | (Ruby, "push" | "append", _) => values.extend(added),
        (Python, "extend", 1) | (Ruby, "concat", _) => {
            values.extend(added.into_iter().flat_map(|value| value.elements(language)));
        }
        (Node, "unshift", _) | (Ruby, "unshift" | "prepend", _) => {
            added.extend(values);
            values = added;
        }
        (Python | Ruby, "insert", 2..) if counted => {
            let at = match added.first() {
                Some(Value::Number(at)) => usize::try_from(*at).ok().filter(|at| *at <= values.len()),
                _ => None,
            };
            match at {
                Some(at) => {
                    for value in added.into_iter().skip(1).rev() {
                        values.insert(at, value);
                    }
                }
                None => return Some(opened(&values)),
            }
        }
        (Python | Ruby, "clear", 0) => values.clear(),
        (Python | Node | Ruby, "pop", 0) if counted => {
            values.pop();
        }
        (Node | Ruby, "shift", 0) if counted => {
            values.drain(..values.len().min(1));
        }
        (Python | Node, "reverse", 0) | (Ruby, "reverse!", 0) => values.reverse(),
        _ => return Some(opened(&values)),
    }
    Some(Value::List(values))
}
