//! Calls on values: texts, lists, path objects, and what nothing is known of.
//!
//! | Module | For |
//! |---|---|
//! | `texts` | the methods of texts |
//! | `lists` | which methods change a list or a map in place, and what it is then |

mod lists;
mod texts;

use self::texts::on_text;
use super::Language::{Node, Python, Ruby};
use super::arguments::{Arg, Args};
use super::evaluator::Evaluator;
use super::sequences::{any_of, decode, joined, reverse};
use super::value::{self, HOLE, Value};
use super::{Language, ScriptEffectKind, Text, arguments, files, pure, script_args};

pub(super) use self::lists::{changed, changes_lists, opened};

/// Methods that write what they are called on, or are given, to a file that they are told.
const STORES: &[&str] = &[
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "imsave",
    "imwrite",
    "dump",
    "write_image",
    "write_html",
    "to_file",
    "tofile",
    "to_csv",
    "to_json",
    "to_excel",
    "to_parquet",
    "to_pickle",
    "savefig",
    "to_feather",
    "to_hdf",
    "to_html",
    "to_markdown",
    "saveas",
    "saveAs",
];

/// `value.name`, not called.
pub(super) fn attribute(evaluator: &mut Evaluator, value: Value, name: &str) -> Value {
    match (&value, name) {
        (Value::Path(path), "parent" | "dirname") => Value::Path(value::dirname(path)),
        (Value::Path(path), "name") => Value::Text(value::basename(path)),
        (Value::Path(_), "stem" | "suffix" | "parts") => Value::Unknown,
        (Value::Choice(values), "parent") if values.iter().all(|value| matches!(value, Value::Path(_))) => {
            Value::choice(values.iter().map(|value| Value::Path(value::dirname(&value.shape()))).collect())
        }
        // Ways from any value to all there is.
        (_, "__subclasses__" | "__globals__" | "__mro__" | "__bases__" | "__base__") => {
            evaluator.incomplete();
            Value::Unknown
        }
        (_, "constructor" | "__proto__") if evaluator.language == Language::Node => Value::name("Function"),
        (Value::Unknown, _) if evaluator.language != Language::Node => Value::Bound(Box::new(value), name.to_owned()),
        // A member of a member: nothing is known of it, and chains stay short.
        (Value::Bound(..), _) => Value::Bound(Box::new(Value::Unknown), name.to_owned()),
        _ => Value::Bound(Box::new(value), name.to_owned()),
    }
}

/// `value.name(args)`
pub(super) fn call(evaluator: &mut Evaluator, value: Value, name: &str, args: Args) -> Value {
    if evaluator.language == Python
        && matches!(value, Value::Unknown | Value::Bound(..))
        && evaluator.classes.methods(name).is_none()
        && let Some(result) = script_args::parser(evaluator, name, &args)
    {
        return result;
    }
    if let Value::Choice(values) = &value
        && values.iter().any(|value| !matches!(value, Value::Text(_) | Value::Unknown))
    {
        let mut results = Vec::new();
        for value in values.clone() {
            results.push(call(evaluator, value, name, args.clone()));
        }
        return Value::choice(results);
    }
    match &value {
        // One of several things that it can be.
        Value::Name(_) => {
            let function = evaluator.member(value, name);
            return evaluator.call(function, args);
        }
        Value::Path(path) => {
            let path = path.clone();
            if let Some(result) = on_path(evaluator, &path, name, &args) {
                return result;
            }
        }
        Value::File(text) => return on_file(text, name, &args),
        Value::Function(function) => {
            let function = function.clone();
            return match (evaluator.language, name) {
                (Language::Node, "call") => evaluator.invoke(&function, &args.skip(1)),
                (Language::Node, "apply") => {
                    let values = args.value(1).cloned().unwrap_or(Value::Unknown).items();
                    evaluator.invoke(&function, &Args::of(values, args.at.clone()))
                }
                (Language::Node, "bind") => value,
                (Language::Ruby, "call" | "yield") => evaluator.invoke(&function, &args),
                _ => Value::Unknown,
            };
        }
        Value::Text(function) if evaluator.language == Language::Php && matches!(name, "invoke" | "invokeArgs") => {
            let function = function.clone();
            let args = match name {
                "invoke" => args,
                _ => Args::of(args.value(0).cloned().unwrap_or(Value::Unknown).items(), args.at),
            };
            return evaluator.call(Value::Text(function), args);
        }
        _ => {}
    }
    if let Some(result) = on_each(evaluator, &value, name, &args) {
        return result;
    }
    if let Some(result) = plain(evaluator, &value, name, &args) {
        return result;
    }
    if matches!(value, Value::Unknown | Value::Path(_) | Value::Bound(..) | Value::Map(_)) {
        return on_unknown(evaluator, name, &args);
    }
    for arg in &args.values {
        evaluator.escape(&arg.value);
    }
    Value::Unknown
}

/// Methods of path objects: Python's `pathlib`, Ruby's `Pathname`, Perl's `Path::Tiny`.
fn on_path(evaluator: &mut Evaluator, path: &str, name: &str, args: &Args) -> Option<Value> {
    let own = value::path(path);
    let at = args.at.clone();
    let argument = || args.value(0).map_or(HOLE.to_string(), Value::shape);
    let what = match name {
        "write_text" | "write_bytes" | "write" | "binwrite" | "spew" | "spew_utf8" | "truncate" => {
            ScriptEffectKind::Write(own)
        }
        "append" | "append_utf8" => ScriptEffectKind::Append(own),
        "read_text" | "read_bytes" | "read" | "readlines" | "slurp" | "lines" | "binread" | "each_line"
        | "readlink" => ScriptEffectKind::Read(own),
        "unlink" | "delete" | "remove" | "rmdir" => ScriptEffectKind::Delete { path: own, recursive: false },
        "rmtree" | "remove_tree" => ScriptEffectKind::Delete { path: own, recursive: true },
        "mkdir" | "mkpath" => ScriptEffectKind::Create { path: own, folder: true },
        "touch" | "make_symlink" | "symlink_to" => ScriptEffectKind::Create { path: own, folder: false },
        "hardlink_to" => {
            evaluator.effect(ScriptEffectKind::HardLink(value::path(&argument())), &at);
            ScriptEffectKind::Create { path: own, folder: false }
        }
        "link_to" | "make_link" => {
            evaluator.effect(ScriptEffectKind::HardLink(own), &at);
            ScriptEffectKind::Create { path: value::path(&argument()), folder: false }
        }
        "chmod" | "lchmod" => ScriptEffectKind::Mode { path: own, mode: arguments::mode(args, 1) },
        "chown" => ScriptEffectKind::Mode { path: own, mode: None },
        "rename" | "replace" | "move" | "move_into" => {
            ScriptEffectKind::Move { from: own, to: value::path(&argument()) }
        }
        "copy" | "copy_into" => ScriptEffectKind::Copy { from: own, to: value::path(&argument()) },
        "open" => {
            let mode = args.value(0).or_else(|| args.named("mode"));
            match mode.map(|mode| mode.known().unwrap_or("w").to_owned()) {
                Some(mode) if mode.contains('w') || mode.contains('+') => ScriptEffectKind::Write(own),
                Some(mode) if mode.contains('a') => ScriptEffectKind::Append(own),
                Some(mode) if mode.contains('x') => ScriptEffectKind::Create { path: own, folder: false },
                _ => ScriptEffectKind::Read(own),
            }
        }
        "iterdir" | "children" | "each_child" | "each_entry" | "entries" => {
            evaluator.effect(ScriptEffectKind::List(own), &at);
            let below = Value::Path(value::join(&[path.to_owned(), HOLE.to_string()], false));
            block(evaluator, args, &below);
            return Some(Value::List(vec![below]));
        }
        "walk" => {
            evaluator.effect(ScriptEffectKind::List(own), &at);
            let below = Value::Path(value::join(&[path.to_owned(), HOLE.to_string()], false));
            let folder = below.or(Value::Path(path.to_owned()));
            return Some(Value::List(vec![Value::List(vec![folder, Value::Unknown, Value::Unknown])]));
        }
        "glob" | "rglob" => {
            files::searched(evaluator, &format!("{path}/*"), &at);
            let below = Value::Path(value::join(&[path.to_owned(), value::glob(&argument())], false));
            block(evaluator, args, &below);
            return Some(Value::List(vec![below]));
        }
        "joinpath" | "join" | "+" | "child" => {
            let mut all = args.clone();
            all.values.insert(0, Arg::new(Value::Path(path.to_owned()), at));
            return Some(pure::pathlib(&all));
        }
        "expanduser" | "expand_path" => {
            let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
            return Some(Value::Path(rest.map_or(path.to_owned(), |rest| format!("{}{rest}", value::HOME))));
        }
        "resolve" | "absolute" | "as_posix" | "cleanpath" | "realpath" | "to_s" | "__str__" | "stringify" => {
            return Some(Value::Path(path.to_owned()));
        }
        "parent" | "dirname" => return Some(Value::Path(value::dirname(path))),
        "basename" => return Some(Value::Path(value::basename(path))),
        "with_name" => return Some(Value::Path(value::join(&[value::dirname(path), argument()], false))),
        "with_suffix" | "with_stem" => {
            let file = value::basename(path);
            let dot = file.rfind('.').filter(|dot| *dot > 0).unwrap_or(file.len());
            let (stem, suffix) = file.split_at(dot);
            let new = args.value(0).and_then(Value::known).filter(|_| !file.contains([HOLE, value::HOME]));
            let Some(new) = new else { return Some(Value::Unknown) };
            let file = if name == "with_stem" { format!("{new}{suffix}") } else { format!("{stem}{new}") };
            return Some(Value::Path(value::join(&[value::dirname(path), file], false)));
        }
        "relative_to" | "sub" => return Some(Value::Unknown),
        "exists" | "is_file" | "is_dir" | "stat" | "exist?" | "file?" | "directory?" | "is_symlink" => {
            return Some(Value::Unknown);
        }
        _ => return None,
    };
    let reads = matches!(what, ScriptEffectKind::Read(_));
    evaluator.effect(what, &at);
    // Ruby and Python give the open file to what follows.
    if name == "open" {
        block(evaluator, args, &Value::Unknown);
    }
    let file = Value::Path(path.to_owned());
    Some(match name {
        _ if !reads || name == "readlink" => Value::Unknown,
        "open" | "readlines" | "lines" | "each_line" => evaluator.opened(&file),
        _ => evaluator.content(&file),
    })
}

/// Methods of an open file whose content is known.
fn on_file(text: &str, name: &str, args: &Args) -> Value {
    match name {
        "read" if args.values.is_empty() => Value::text(text),
        "readline" | "gets" => Value::choice(Value::File(text.to_owned()).items()),
        "readlines" | "each_line" | "xreadlines" => Value::List(Value::File(text.to_owned()).items()),
        "__enter__" => Value::File(text.to_owned()),
        _ => Value::Unknown,
    }
}

/// Calls the function that was handed over, if one was.
fn block(evaluator: &mut Evaluator, args: &Args, value: &Value) {
    let function = args.values.iter().map(|arg| &arg.value).find(|value| matches!(value, Value::Function(_))).cloned();
    if let Some(function) = function {
        evaluator.call(function, Args::of(vec![value.clone()], args.at.clone()));
    }
}

/// Methods that call a function with each item of a list.
fn on_each(evaluator: &mut Evaluator, value: &Value, name: &str, args: &Args) -> Option<Value> {
    if !matches!(evaluator.language, Language::Node | Language::Ruby) {
        return None;
    }
    if !matches!(
        name,
        "forEach"
            | "map"
            | "filter"
            | "some"
            | "every"
            | "flatMap"
            | "find"
            | "each"
            | "collect"
            | "select"
            | "reject"
            | "each_with_index"
            | "each_entry"
            | "then"
            | "tap"
            | "reduce"
            | "any?"
            | "all?"
            | "times"
            | "each_slice"
            | "finally"
            | "yield_self"
            | "flat_map"
            | "filter_map"
            | "each_pair"
            | "map!"
    ) {
        return None;
    }
    let function = args.value(0).filter(|value| !matches!(value, Value::Unknown))?.clone();
    let items = match value {
        Value::Map(entries) if evaluator.language == Language::Ruby => Value::choice(
            entries.iter().map(|(key, value)| Value::List(vec![Value::text(key), value.clone()])).collect(),
        ),
        Value::List(_) | Value::Map(_) if name != "then" && name != "tap" => Value::choice(value.clone().items()),
        Value::List(_) if name == "then" => value.clone(),
        Value::Text(_) | Value::Path(_) | Value::Name(_) => value.clone(),
        _ => Value::Unknown,
    };
    // `:upcase` and the like: the method of that name.
    let result = match function {
        Value::Text(method) => call(evaluator, items, &method, Args { at: args.at.clone(), ..Args::default() }),
        function => evaluator.call(function, Args::of(vec![items], args.at.clone())),
    };
    Some(match (name, value) {
        ("map" | "collect" | "map!", _) => Value::each_of(result, value.count()),
        // Lists that it gives are put together, and some are left out.
        ("flatMap" | "flat_map" | "filter_map", _) => Value::List(vec![match result {
            Value::List(values) => Value::choice(values),
            result => result,
        }]),
        ("then" | "yield_self", _) => result,
        ("filter" | "select" | "reject", Value::List(values)) => Value::some_of(values.clone()),
        ("each" | "filter" | "select" | "reject" | "each_with_index" | "tap", _) => value.clone(),
        _ => Value::Unknown,
    })
}

/// Methods of texts, lists and maps, which only give values. Each is known in the languages that have it, with as many
/// arguments as are read here.
fn plain(evaluator: &mut Evaluator, value: &Value, name: &str, args: &Args) -> Option<Value> {
    let language = evaluator.language;
    let argument = args.value(0);
    let known = |at: usize| args.value(at).and_then(Value::known);
    Some(match (value, name, args.values.len()) {
        (Value::Text(text), _, _) => return on_text(language, text, name, args),
        (Value::List(_), "join", 0 | 1) if matches!(language, Node | Ruby) => {
            let separator = match argument {
                Some(separator) => separator.shape(),
                None if language == Node => ",".to_owned(),
                None => String::new(),
            };
            joined(&separator, value)
        }
        (Value::List(_), "pack", 1) => match known(0) {
            Some("H*") => value.clone().items().first().map_or(Value::Unknown, |value| decode(value, "hex")),
            Some("C*" | "c*" | "U*") => pure::characters(&value.clone().items()),
            _ => Value::Unknown,
        },
        (Value::List(_), "reverse", 0) if matches!(language, Node | Ruby) => reverse(value),
        (Value::List(_), "toReversed", 0) => reverse(value),
        (Value::List(values), "sort" | "sort_by" | "toSorted" | "uniq", _) if language != Python => {
            Value::some_of(values.clone())
        }
        (Value::List(values), "flatten" | "compact", 0)
            if values.iter().all(|value| matches!(value, Value::Text(_))) =>
        {
            value.clone()
        }
        (Value::List(_), "copy" | "slice" | "to_a" | "values", 0) => value.clone(),
        (Value::List(values), "slice" | "drop", 1) if (name == "slice") == (language == Node) => {
            let Some(Value::Number(from)) = argument else { return Some(any_of(values)) };
            let (before, rest) = values.split_at_checked(usize::try_from(*from).ok()?)?;
            // What stands before may be any number of items.
            if before.iter().any(Value::is_open) { any_of(values) } else { Value::List(rest.to_vec()) }
        }
        (Value::List(values), "concat", _) if language == Node => {
            let mut values = values.clone();
            for arg in &args.values {
                match &arg.value {
                    Value::List(added) => values.extend(added.iter().cloned()),
                    added => values.push(added.clone()),
                }
            }
            Value::List(values)
        }
        (Value::List(_), "concat" | "+", _) if args.values.iter().all(|arg| matches!(arg.value, Value::List(_))) => {
            args.values.iter().fold(value.clone(), |sum, arg| sum.plus(arg.value.clone()))
        }
        (Value::Path(_), "to_s" | "to_str" | "freeze" | "dup", 0) => value.clone(),
        // With an argument, in another base.
        (Value::Number(_), "to_s" | "toString", 0) => Value::Text(value.shape()),
        (Value::Number(code), "chr", 0) => Value::Text(value::ascii(*code).to_string()),
        (Value::List(values), "first" | "shift", 0) => values.first().cloned().unwrap_or(Value::Unknown),
        (Value::List(values), "last" | "pop", 0) => values.last().cloned().unwrap_or(Value::Unknown),
        (Value::List(_), "pop", 1) if language == Python && matches!(argument, Some(Value::Number(_))) => {
            evaluator.index(value.clone(), argument?)
        }
        (Value::Map(_), "get" | "fetch" | "[]" | "pop" | "setdefault", 1 | 2) => {
            let otherwise = args.value(1).cloned();
            match (known(0), otherwise) {
                (Some(key), otherwise) => match value.get(key).cloned() {
                    Some(found) => found,
                    // A key that is not known may be this one.
                    None if value.has_unknown_key() => {
                        otherwise.map_or(Value::Unknown, |value| value.or(Value::Unknown))
                    }
                    None => otherwise.unwrap_or(Value::Unknown),
                },
                (None, Some(otherwise)) => Value::choice(value.clone().items()).or(otherwise),
                (None, None) => Value::choice(value.clone().items()),
            }
        }
        (Value::Map(_), "values", 0) => Value::List(value.clone().items()),
        (Value::Map(entries), "keys", 0) => Value::List(entries.iter().map(|(key, _)| Value::text(key)).collect()),
        (Value::Map(entries), "items" | "entries", 0) => {
            Value::List(entries.iter().map(|(key, value)| Value::List(vec![Value::text(key), value.clone()])).collect())
        }
        (Value::Choice(_), "call" | "invoke", _) => Value::Unknown,
        // Every unpack of a choice of texts.
        (Value::Choice(values), _, _)
            if values.iter().all(|value| matches!(value, Value::Text(_) | Value::Unknown)) =>
        {
            let mut results = Vec::new();
            for value in values {
                results.push(plain(evaluator, value, name, args).unwrap_or(Value::Unknown));
            }
            Value::choice(results)
        }
        _ => return None,
    })
}

/// Methods whose name says what they do, whatever they are called on.
pub(super) fn on_unknown(evaluator: &mut Evaluator, name: &str, args: &Args) -> Value {
    let python = evaluator.language == Language::Python;
    let bare = args.values.is_empty();
    let at = args.at.clone();
    let unknown = || Text::Shape(HOLE.to_string());
    match (evaluator.language, name) {
        (Language::Python | Language::Ruby, "unlink") if bare => {
            evaluator.effect(ScriptEffectKind::Delete { path: unknown(), recursive: false }, &at);
        }
        (Language::Python, "rmdir") if bare => {
            evaluator.effect(ScriptEffectKind::Delete { path: unknown(), recursive: false }, &at);
        }
        (Language::Ruby, "rmtree") if bare => {
            evaluator.effect(ScriptEffectKind::Delete { path: unknown(), recursive: true }, &at);
        }
        (Language::Python, "write_text" | "write_bytes") => evaluator.effect(ScriptEffectKind::Write(unknown()), &at),
        (Language::Python, "touch") if bare => {
            evaluator.effect(ScriptEffectKind::Create { path: unknown(), folder: false }, &at);
        }
        (Language::Python, "read_text" | "read_bytes") => evaluator.effect(ScriptEffectKind::Read(unknown()), &at),
        (_, name) if STORES.contains(&name) => {
            let known = |arg: &&Arg| matches!(arg.value, Value::Text(_) | Value::Path(_) | Value::Choice(_));
            // `save(object, path)`
            let count = if matches!(name, "save" | "dump" | "imsave") { 2 } else { 1 };
            let told = args.values.iter().take(count).filter(known);
            for (text, at) in told.flat_map(|arg| arg.value.texts().into_iter().map(|text| (text, arg.at.clone()))) {
                // `save` and `dump` take other texts as well.
                let vague = matches!(name, "save" | "dump");
                if !vague || text.contains(['/', '.', value::HOME]) && !text.contains(char::is_whitespace) {
                    evaluator.effect(ScriptEffectKind::Write(value::path(&text)), &at);
                }
            }
        }
        (Language::Php, "extractto") => {
            evaluator.incomplete();
            files::unpacks(evaluator, args.value(0), &at);
        }
        (Language::Python, "extractall" | "extract") => {
            evaluator.incomplete();
            let folder = args.value(usize::from(name == "extract")).or_else(|| args.named("path"));
            files::unpacks(evaluator, folder, &at);
        }
        // As a `ConfigParser` reads files, which it is given by their names.
        (Language::Python, "read") => {
            for text in args.value(0).map(arguments::texts).unwrap_or_default() {
                if matches!(&text, Text::Known(_)) {
                    evaluator.effect(ScriptEffectKind::Read(text), &at);
                }
            }
        }
        (Language::Python, "connect" | "sendto") => {
            let address = args.values.iter().map(|arg| &arg.value).find_map(|value| match value {
                Value::List(values) => values.first(),
                _ => None,
            });
            if let Some(host) = address {
                evaluator.effect(ScriptEffectKind::Send(value::path(&host.shape())), &at);
            }
        }
        (Language::Perl, "get" | "post" | "put" | "mirror" | "request")
            if matches!(args.value(0), Some(Value::Text(_))) =>
        {
            let host = args.value(0).map_or(HOLE.to_string(), Value::shape);
            if host.starts_with("http") {
                evaluator.effect(ScriptEffectKind::Send(value::path(&host)), &at);
            }
        }
        _ => {
            let known = python && bare && matches!(name, "chmod" | "system");
            if !known
                && !bare
                && let Some(result) = evaluator.by_last_name(name, args)
            {
                return result;
            }
            evaluator.told(name, args);
            evaluator.callbacks(args);
        }
    }
    Value::Unknown
}
