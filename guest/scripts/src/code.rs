//! Calls that run code: modules, functions by their names, functions that are handed over.

use super::arguments::{Arg, Args, argument};
use super::evaluator::{Evaluator, each_text};
use super::files::runs_file;
use super::names::{full, of_environment};
use super::tables::{Act, HARMLESS, STRICT, exported, find, is_dangerous};
use super::value::{self, HOLE, Value};
use super::{Language, PACKAGES, ScriptEffectKind, Text, documents};

/// A module was imported.
pub(super) fn imported(evaluator: &mut Evaluator, module: &str) {
    let root =
        if evaluator.language == Language::Python { module.split('.').next().unwrap_or_default() } else { module };
    if matches!(
        root,
        "ctypes" | "cffi" | "_ctypes" | "Inline" | "FFI::Platypus" | "ffi" | "_posixsubprocess" | "_winapi"
    ) {
        evaluator.incomplete();
    }
    if evaluator.language == Language::Python {
        loads(evaluator, module);
    }
    if evaluator.language == Language::Perl {
        loads(evaluator, module);
        for name in exported(module) {
            evaluator.set(name, Value::Name(format!("{module}::{name}")));
        }
        if module == "lib" || module.starts_with(|char: char| char.is_ascii_digit()) {
            return;
        }
    }
    if !HARMLESS.contains(&root) && !STRICT.contains(&root) && !module.is_empty() {
        evaluator.modules.insert(root.to_owned());
    }
}

/// A module of Python or Perl, which may be a file of the project, whatever its name.
pub(super) fn loads(evaluator: &mut Evaluator, module: &str) {
    let separator = if evaluator.language == Language::Perl { "::" } else { "." };
    if !module.is_empty() {
        evaluator.effect(ScriptEffectKind::Load(Text::Known(module.replace(separator, "/"))), &(0..0));
    }
}

/// The module that `require` or `import` gives.
pub(super) fn require(evaluator: &mut Evaluator, module: &Value) -> Value {
    let Some(name) = module.known() else {
        evaluator.incomplete();
        return Value::Unknown;
    };
    let name = name.strip_prefix("node:").unwrap_or(name);
    if name.starts_with(['.', '/']) {
        evaluator.effect(ScriptEffectKind::Load(value::path(name)), &(0..0));
        // Of data, the module is what is in it.
        if name.ends_with(".json") {
            evaluator.effect(ScriptEffectKind::Read(value::path(name)), &(0..0));
        }
    }
    match name {
        "fs/promises" | "fs-extra" | "graceful-fs" => return Value::name("fs"),
        "path/posix" => return Value::name("path"),
        "timers/promises" | "stream/promises" | "util/types" => return Value::Unknown,
        _ => {}
    }
    if name.starts_with(['.', '/']) {
        // Data runs nothing.
        let content = if name.ends_with(".json") { evaluator.content(&Value::text(name)) } else { Value::Unknown };
        if !matches!(content, Value::Text(_)) {
            evaluator.incomplete();
        }
        return each_text(content, |text| documents::parsed(&text));
    }
    // A package, which may have been changed.
    if !STRICT.contains(&name) {
        evaluator.effect(ScriptEffectKind::Load(Text::Known(format!("{PACKAGES}{name}"))), &(0..0));
    }
    if !HARMLESS.contains(&name) && !STRICT.contains(&name) {
        evaluator.modules.insert(name.to_owned());
    }
    Value::name(name)
}

pub(super) fn evals(evaluator: &mut Evaluator, arg: Option<Arg>) {
    let Some(arg) = arg else { return };
    // A block was read where it stands.
    if matches!(arg.value, Value::Function(_)) {
        return;
    }
    for text in arg.value.texts() {
        let text = value::path(&text);
        if matches!(text, Text::Shape(_)) {
            evaluator.incomplete();
        }
        evaluator.effect(ScriptEffectKind::Eval(text), &arg.at);
    }
}

pub(super) fn compile(args: &Args) -> Value {
    // What it gives is run by `exec` or `eval`.
    argument(args, 0)
}

pub(super) fn constructor(evaluator: &mut Evaluator, args: &Args) -> Value {
    if let Some(code) = args.values.last().cloned() {
        evals(evaluator, Some(code));
    }
    Value::Unknown
}

/// What runs later, with the arguments behind it.
pub(super) fn immediate(evaluator: &mut Evaluator, args: &Args) -> Value {
    // Node refuses text here.
    match args.value(0) {
        Some(Value::Function(_) | Value::Text(_)) | None => {}
        _ => evaluator.callbacks(args),
    }
    Value::Unknown
}

/// The same, with a time in between.
pub(super) fn timer(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut own = args.clone();
    if own.values.len() > 1 {
        own.values.remove(1);
    }
    immediate(evaluator, &own)
}

/// A thread of Node's: a file, or a text with `eval`.
pub(super) fn worker(evaluator: &mut Evaluator, args: &Args) -> Value {
    evaluator.incomplete();
    if args.value(1).and_then(|options| options.get("eval")).is_some_and(|eval| !eval.is_false()) {
        evals(evaluator, args.values.first().cloned());
    }
    Value::Unknown
}

pub(super) fn php_assert(evaluator: &mut Evaluator, args: &Args) -> Value {
    match args.value(0) {
        Some(Value::Text(_)) => evaluator.perform(Act::Eval(0), args),
        _ => Value::Unknown,
    }
}

pub(super) fn import(evaluator: &mut Evaluator, args: &Args) -> Value {
    match argument(args, 0).known().map(str::to_owned) {
        Some(module) => {
            imported(evaluator, &module);
            // `__import__("a.b")` gives `a`, `import_module` gives `a.b`; the names of both are in the tables.
            Value::Name(full(evaluator.language, &module))
        }
        None => {
            evaluator.incomplete();
            Value::Unknown
        }
    }
}

pub(super) fn getattr(evaluator: &mut Evaluator, args: &Args) -> Value {
    let object = argument(args, 0);
    match argument(args, 1).known().map(str::to_owned) {
        Some(name) => evaluator.member(object, &name),
        None => {
            if is_dangerous(evaluator.language, &object) || matches!(object, Value::Unknown) {
                evaluator.incomplete();
                evaluator.effect(ScriptEffectKind::Eval(Text::Shape(HOLE.to_string())), &args.at);
            }
            Value::Unknown
        }
    }
}

pub(super) fn node_require(evaluator: &mut Evaluator, args: &Args) -> Value {
    let module = argument(args, 0);
    if let Value::Choice(values) = module {
        let modules = values.iter().map(|value| require(evaluator, value)).collect();
        return Value::choice(modules);
    }
    require(evaluator, &module)
}

pub(super) fn create_require(_: &Args) -> Value {
    Value::name("require")
}

pub(super) fn reflect_apply(evaluator: &mut Evaluator, args: &Args) -> Value {
    let values = argument(args, 2).items();
    evaluator.call(argument(args, 0), Args::of(values, args.at.clone()))
}

pub(super) fn reflect_construct(evaluator: &mut Evaluator, args: &Args) -> Value {
    let values = argument(args, 1).items();
    evaluator.call(argument(args, 0), Args::of(values, args.at.clone()))
}

pub(super) fn perl_require(evaluator: &mut Evaluator, args: &Args) -> Value {
    match args.value(0) {
        Some(Value::Name(module)) => {
            let module = module.clone();
            imported(evaluator, &module);
            Value::Unknown
        }
        _ => runs_file(evaluator, args),
    }
}

pub(super) fn ruby_require(evaluator: &mut Evaluator, args: &Args) -> Value {
    match argument(args, 0).known().map(str::to_owned) {
        Some(path) if path.starts_with(['.', '/']) => runs_file(evaluator, args),
        Some(module) => {
            imported(evaluator, &module);
            Value::Unknown
        }
        None => runs_file(evaluator, args),
    }
}

pub(super) fn ruby_include(evaluator: &mut Evaluator, args: &Args) -> Value {
    if let Some(Value::Name(module)) = args.value(0) {
        for name in exported(module) {
            evaluator.set(name, Value::Name(format!("{module}.{name}")));
        }
    }
    Value::Unknown
}

/// A variable of the environment, or what is said to be there where it is not set.
pub(super) fn getenv(evaluator: &mut Evaluator, args: &Args) -> Value {
    let name = argument(args, 0);
    match (name.known(), args.value(1).cloned()) {
        (Some("HOME"), _) => Value::home(),
        (Some(name), otherwise) => match (of_environment(&evaluator.setting, name), otherwise) {
            (Value::Unknown, Some(otherwise)) => otherwise.or(Value::Unknown),
            (known, _) => known,
        },
        (None, Some(otherwise)) => otherwise.or(Value::Unknown),
        (None, None) => Value::Unknown,
    }
}

pub(super) fn const_get(evaluator: &mut Evaluator, args: &Args) -> Value {
    match argument(args, 0).known() {
        Some(name) => Value::name(name),
        None => {
            evaluator.incomplete();
            Value::Unknown
        }
    }
}

pub(super) fn ruby_send(evaluator: &mut Evaluator, args: &Args) -> Value {
    let function = const_get(evaluator, args);
    evaluator.call(function, args.skip(1))
}

pub(super) fn map(evaluator: &mut Evaluator, args: &Args) -> Value {
    let function = match argument(args, 0) {
        Value::Text(name) => Value::Name(name.to_ascii_lowercase()),
        function => function,
    };
    let items = Value::choice(argument(args, 1).elements(evaluator.language));
    let count = args.value(1).and_then(Value::count).filter(|_| args.values.len() == 2);
    let result = evaluator.call(function, Args::of(vec![items], args.at.clone()));
    Value::each_of(result, count)
}

/// The function is called with each item, and those that it says yes to stay.
pub(super) fn filter(evaluator: &mut Evaluator, args: &Args) -> Value {
    map(evaluator, args);
    Value::some_of(argument(args, 1).elements(evaluator.language))
}

pub(super) fn filter_array(evaluator: &mut Evaluator, args: &Args) -> Value {
    walk_array(evaluator, args);
    Value::some_of(argument(args, 0).items())
}

pub(super) fn walk_array(evaluator: &mut Evaluator, args: &Args) -> Value {
    let turned = Args::of(vec![argument(args, 1), argument(args, 0)], args.at.clone());
    map(evaluator, &turned)
}

/// A function is called now or later with the arguments behind it.
pub(super) fn partial(evaluator: &mut Evaluator, args: &Args) -> Value {
    let function = match argument(args, 0) {
        Value::Text(name) if evaluator.language == Language::Php => Value::Name(name.to_ascii_lowercase()),
        function => function,
    };
    if args.values.len() < 2 && evaluator.language == Language::Python {
        return function;
    }
    let mut rest = args.skip(1);
    rest.named.clone_from(&args.named);
    evaluator.call(function, rest)
}

pub(super) fn call_array(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut values = vec![argument(args, 0)];
    values.extend(argument(args, 1).items());
    partial(evaluator, &Args::of(values, args.at.clone()))
}

pub(super) fn php_callback(evaluator: &mut Evaluator, args: &Args) -> Value {
    let named = args.values.iter().any(|arg| match &arg.value {
        Value::Text(name) => find(Language::Php, &name.to_ascii_lowercase()).is_some_and(Act::acts),
        _ => false,
    });
    if named {
        evaluator.incomplete();
    }
    Value::Unknown
}
