//! Arguments of a call, and one effect for each thing that they can be.

use std::ops::Range;

use super::evaluator::Evaluator;
use super::value::{self, HOLE, Value};
use super::{ScriptEffectKind, Text};

/// If there are more pairs of paths than this, each path is in one of them.
const MOST_PAIRS: usize = 64;

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

/// The argument at a place, or under one of the names that Python and PHP give to it.
pub(super) fn arg(args: &Args, at: usize) -> Option<Arg> {
    if let Some(arg) = args.values.get(at) {
        return Some(arg.clone());
    }
    let names: &[&str] = match at {
        0 => &[
            "path",
            "src",
            "name",
            "file",
            "filename",
            "args",
            "cmd",
            "command",
            "source",
            "url",
            "database",
            "host",
            "stmt",
            "statement",
            "object",
            "directory",
            "from",
        ],
        1 => &["dst", "dest", "destination", "target", "to", "url", "code"],
        _ => return None,
    };
    args.named.iter().find(|(key, _)| names.contains(&key.as_str())).map(|(_, arg)| arg.clone())
}

pub(super) fn argument(args: &Args, at: usize) -> Value {
    arg(args, at).map_or(Value::Unknown, |arg| arg.value)
}

/// The paths that an argument can be, with its place. Open files and numbers are none.
pub(super) fn paths(args: &Args, at: usize) -> (Vec<Text>, Range<usize>) {
    let Some(arg) = arg(args, at) else { return (Vec::new(), args.at.clone()) };
    let paths = texts(&arg.value);
    if !is_seen_from_folder(args, at) {
        return (paths, arg.at);
    }
    let below = |path: Text| match path {
        Text::Known(path) if !path.starts_with('/') => Text::Shape(format!("{HOLE}/{path}")),
        path => path,
    };
    (paths.into_iter().map(below).collect(), arg.at)
}

/// Whether a path is seen from an open folder, which is not followed: `os.unlink("x", dir_fd=d)`.
fn is_seen_from_folder(args: &Args, at: usize) -> bool {
    let own = if at == 0 { "src_dir_fd" } else { "dst_dir_fd" };
    let is_folder = |value: &Value| !matches!(value, Value::Name(name) if name == "None");
    ["dir_fd", own].iter().any(|name| args.named(name).is_some_and(is_folder))
}

pub(super) fn texts(value: &Value) -> Vec<Text> {
    match value {
        Value::List(values) => values.iter().flat_map(texts).collect(),
        Value::Number(_) => Vec::new(),
        value => value.texts().iter().map(|text| value::path(text)).collect(),
    }
}

/// The texts that a value or the items of a list can be.
pub(super) fn shapes(value: &Value) -> Vec<String> {
    match value {
        Value::List(values) => values.iter().flat_map(shapes).collect(),
        value => value.texts(),
    }
}

pub(super) fn each(
    evaluator: &mut Evaluator,
    args: &Args,
    at: usize,
    what: impl Fn(Text) -> ScriptEffectKind,
) -> Value {
    let (paths, at) = paths(args, at);
    for path in paths {
        evaluator.effect(what(path), &at);
    }
    Value::Unknown
}

pub(super) fn every(
    evaluator: &mut Evaluator,
    args: &Args,
    from: usize,
    what: impl Fn(Text) -> ScriptEffectKind,
) -> Value {
    let last = args.values.len();
    for at in from..last {
        // Options at the end are no paths.
        if !matches!(args.value(at), Some(Value::Map(_) | Value::Function(_))) {
            each(evaluator, args, at, &what);
        }
    }
    Value::Unknown
}

pub(super) fn pairs(evaluator: &mut Evaluator, args: &Args, what: impl Fn(Text, Text) -> ScriptEffectKind) -> Value {
    let (from, at) = paths(args, 0);
    let (to, _) = paths(args, 1);
    let unknown = || vec![Text::Shape(HOLE.to_string())];
    let from = if from.is_empty() { unknown() } else { from };
    let to = if to.is_empty() { unknown() } else { to };
    if from.len() * to.len() > MOST_PAIRS {
        // What matters of each path is the same whichever the other one is.
        let count = from.len().max(to.len());
        for (from, to) in from.iter().cycle().zip(to.iter().cycle()).take(count) {
            evaluator.effect(what(from.clone(), to.clone()), &at);
        }
        return Value::Unknown;
    }
    for from in &from {
        for to in &to {
            evaluator.effect(what(from.clone(), to.clone()), &at);
        }
    }
    Value::Unknown
}

/// The mode that a call of `chmod` gives: behind a path that comes first, else before it.
pub(super) fn mode(args: &Args, path: usize) -> Option<String> {
    match args.value(usize::from(path == 0)).or_else(|| args.named("mode")) {
        Some(Value::Number(mode)) => Some(format!("{mode:03o}")),
        Some(Value::Text(mode)) if !mode.contains(HOLE) => Some(mode.clone()),
        _ => None,
    }
}
