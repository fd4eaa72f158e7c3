//! What a call does: its row is looked up and done.

use super::arguments::{Args, arg, argument, each, every, mode, pairs};
use super::code::evals;
use super::machine::{self, Machine};
use super::names::full;
use super::processes::{run, shells};
use super::tables::{Act, HARMLESS, MILD, PLAIN, STRICT, find};
use super::value::{self, HOLE, Value};
use super::{Language, Text, What};

/// Whether a value can be used to touch files or processes.
pub(super) fn is_dangerous(language: Language, value: &Value) -> bool {
    match value {
        Value::Name(name) => {
            STRICT.contains(&name.as_str())
                || matches!(name.as_str(), "globals" | "locals" | "__builtins__" | "builtins" | "sys.modules")
                || find(language, name).is_some_and(acts)
        }
        Value::List(values) | Value::Choice(values) => values.iter().any(|value| is_dangerous(language, value)),
        Value::Map(entries) => entries.iter().any(|(_, value)| is_dangerous(language, value)),
        Value::Bound(value, _) => is_dangerous(language, value),
        _ => false,
    }
}

pub(super) fn acts(act: Act) -> bool {
    !matches!(act, Act::None | Act::Value(_))
}

/// A value goes where it cannot be followed.
pub(super) fn escape(machine: &mut Machine, value: &Value) {
    if is_dangerous(machine.language, value) {
        machine.incomplete();
    }
}

/// A function is called under its full name.
pub(super) fn call(machine: &mut Machine, name: &str, args: Args) -> Value {
    let language = machine.language;
    let name = full(language, name);
    if let Some(act) = find(language, &name) {
        return perform(machine, act, &args);
    }
    // A method of a class, called with its object.
    if let Some(method) = name.strip_prefix("pathlib.Path.").filter(|_| language == Language::Python)
        && let Some((object, _)) = args.values.split_first()
    {
        return super::methods::call(machine, object.value.clone(), method, args.skip(1));
    }
    if let Some(value) = adapted(machine, &name, &args) {
        return value;
    }
    if MILD.iter().any(|mild| name == *mild || name.strip_prefix(mild).is_some_and(|rest| rest.starts_with('.'))) {
        return Value::Unknown;
    }
    let root = name.split('.').next().unwrap_or_default();
    let unknown_perl = language == Language::Perl || language == Language::Ruby;
    let strict = STRICT.iter().any(|strict| name.strip_prefix(strict).is_some_and(|rest| rest.starts_with('.')));
    // Node's `os` has no function that matters.
    if strict && !(language == Language::Node && root == "os") || machine.modules.contains(root) {
        machine.incomplete();
    }
    if unknown_perl && !machine.modules.is_empty() && !is_builtin(root) {
        machine.incomplete();
    }
    if root == "console"
        || matches!(
            name.as_str(),
            "print"
                | "help"
                | "dir"
                | "hasattr"
                | "type"
                | "id"
                | "isinstance"
                | "callable"
                | "p"
                | "puts"
                | "inspect"
                | "var_dump"
                | "print_r"
        )
    {
        return Value::Unknown;
    }
    match name.rsplit_once('.') {
        Some((_, last)) if !strict && !HARMLESS.contains(&root) => {
            return super::methods::on_unknown(machine, last, &args);
        }
        None if let Some(value) = by_last_name(machine, &name, &args) => return value,
        _ => {}
    }
    if !HARMLESS.contains(&root) {
        told(machine, &name, &args);
    }
    callbacks(machine, &args);
    Value::Unknown
}

/// Names of functions that read files begin so.
const READS: &[&str] =
    &["read", "load", "open", "parse", "from", "upload", "send", "attach", "genfromtxt", "slurp", "sendfile"];

/// A file at home is read that a function is told of which nothing is known but its name.
pub(super) fn told(machine: &mut Machine, name: &str, args: &Args) {
    let last = name.rsplit(['.', ':']).next().unwrap_or_default().to_ascii_lowercase();
    // Archives add what they are told.
    let adds = matches!(last.as_str(), "add" | "addfile");
    if !adds && !READS.iter().any(|reads| last.starts_with(reads)) {
        return;
    }
    for arg in args.values.iter().take(3) {
        if let Value::Text(text) | Value::Path(text) = &arg.value
            && machine::is_at_home(text)
        {
            machine.deed(What::Read(value::path(text)), &arg.at);
        }
    }
}

fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "say"
            | "printf"
            | "puts"
            | "p"
            | "pp"
            | "die"
            | "warn"
            | "exit"
            | "close"
            | "binmode"
            | "push"
            | "shift"
            | "keys"
            | "values"
            | "sort"
            | "map"
            | "grep"
            | "join"
            | "split"
            | "length"
            | "defined"
            | "ref"
            | "scalar"
            | "lc"
            | "uc"
            | "sleep"
            | "raise"
            | "loop"
            | "STDIN"
            | "STDOUT"
            | "STDERR"
            | "$stdout"
            | "$stderr"
            | "JSON"
            | "Time"
            | "Integer"
            | "Float"
            | "Math"
            | "gets"
            | "rand"
            | "abort"
            | "eof"
            | "chomp"
            | "substr"
            | "index"
            | "time"
            | "localtime"
            | "return"
            | "next"
            | "last"
    )
}

/// Functions that are handed over are called with what stands behind them.
pub(super) fn callbacks(machine: &mut Machine, args: &Args) {
    let language = machine.language;
    let handed = args
        .values
        .iter()
        .enumerate()
        .map(|(at, arg)| (Some(at), &arg.value))
        .chain(args.named.iter().map(|(_, arg)| (None, &arg.value)))
        .find(|(_, value)| is_dangerous(language, value) || matches!(value, Value::Bound(..)));
    let Some((at, function)) = handed else { return };
    let mut rest: Vec<Value> = match at {
        Some(at) => args.values.iter().skip(at + 1).map(|arg| arg.value.clone()).collect(),
        None => Vec::new(),
    };
    if let Some(list) = args.named("args") {
        rest = list.clone().items();
    }
    if rest.is_empty() || !matches!(function, Value::Name(_) | Value::Bound(..)) {
        if !matches!(function, Value::Bound(..)) {
            machine.incomplete();
        }
        return;
    }
    let function = function.clone();
    let at = args.at.clone();
    machine.call(function, Args::of(rest, at));
}

/// Calls through what all functions or modules have: `f.call(..)`, `module.then(..)`, `object.send(..)`.
fn adapted(machine: &mut Machine, name: &str, args: &Args) -> Option<Value> {
    let (before, last) = name.rsplit_once('.')?;
    let receiver = Value::name(before);
    match (machine.language, last) {
        (Language::Node, "then") => {
            let function = args.value(0)?.clone();
            Some(machine.call(function, Args::of(vec![receiver], args.at.clone())))
        }
        (Language::Node, "call") => Some(machine.call(receiver, args.skip(1))),
        (Language::Node, "apply") => {
            let values = args.value(1).cloned().unwrap_or(Value::Unknown).items();
            Some(machine.call(receiver, Args::of(values, args.at.clone())))
        }
        (Language::Node, "bind") => {
            if args.values.len() > 1 {
                return Some(machine.call(receiver, args.skip(1)));
            }
            Some(receiver)
        }
        (Language::Node, "constructor") => {
            let language = machine.language;
            find(language, "Function").map(|act| perform(machine, act, args))
        }
        (Language::Ruby, "send" | "__send__" | "public_send" | "method") => {
            let Some(method) = args.value(0).and_then(Value::known).map(str::to_owned) else {
                machine.incomplete();
                machine.deed(What::Eval(Text::Shape(HOLE.to_string())), &args.at);
                return Some(Value::Unknown);
            };
            let function = machine.member(receiver, &method);
            if last == "method" {
                return Some(function);
            }
            Some(machine.call(function, args.skip(1)))
        }
        (Language::Ruby, "const_get") => {
            let constant = args.value(0).and_then(Value::known).map(str::to_owned)?;
            Some(machine.member(receiver, &constant))
        }
        (Language::Ruby, "call" | "()") => Some(machine.call(receiver, args.clone())),
        (Language::Python, "__getattribute__" | "__getattr__") | (Language::Python, "get" | "__getitem__")
            if matches!(before, "globals" | "locals" | "vars" | "sys.modules" | "os" | "__builtins__")
                || last.starts_with("__getattr") =>
        {
            match args.value(0).and_then(Value::known).map(str::to_owned) {
                Some(member) if matches!(before, "globals" | "locals" | "vars" | "sys.modules" | "__builtins__") => {
                    Some(Value::Name(member))
                }
                Some(member) => Some(machine.member(receiver, &member)),
                None => {
                    machine.incomplete();
                    Some(Value::Unknown)
                }
            }
        }
        (Language::Python, "__subclasses__" | "__globals__") => {
            machine.incomplete();
            Some(Value::Unknown)
        }
        (Language::Perl, "can") => {
            let method = args.value(0).and_then(Value::known).map(str::to_owned)?;
            Some(Value::Name(format!("{before}::{method}")))
        }
        _ => None,
    }
}

pub(super) fn perform(machine: &mut Machine, act: Act, args: &Args) -> Value {
    match act {
        Act::None => Value::Unknown,
        Act::Opaque => {
            machine.incomplete();
            Value::Unknown
        }
        Act::Read(at) => each(machine, args, at, What::Read),
        Act::List(_) if args.values.is_empty() && args.named.is_empty() => {
            machine.deed(What::List(Text::Known(".".to_owned())), &args.at);
            Value::Unknown
        }
        Act::List(at) => each(machine, args, at, What::List),
        Act::Write(at) => each(machine, args, at, What::Write),
        Act::Append(at) => each(machine, args, at, What::Append),
        Act::File(at) => each(machine, args, at, |path| What::Create { path, folder: false }),
        Act::Folder(at) => each(machine, args, at, |path| What::Create { path, folder: true }),
        Act::Folders => every(machine, args, 0, |path| What::Create { path, folder: true }),
        Act::Delete(at) => each(machine, args, at, |path| What::Delete { path, recursive: false }),
        Act::Deletes => every(machine, args, 0, |path| What::Delete { path, recursive: false }),
        Act::Tree(at) => each(machine, args, at, |path| What::Delete { path, recursive: true }),
        Act::Trees => every(machine, args, 0, |path| What::Delete { path, recursive: true }),
        Act::Move => pairs(machine, args, |from, to| What::Move { from, to }),
        Act::Copy => pairs(machine, args, |from, to| What::Copy { from, to }),
        Act::Link => {
            // Of a relative one it is not known from where.
            let (leads, at) = super::arguments::paths(args, 0);
            for path in leads {
                if matches!(&path, Text::Known(text) if text.starts_with(['/', '~'])) {
                    machine.deed(What::Read(path), &at);
                }
            }
            each(machine, args, 1, |path| What::Create { path, folder: false })
        }
        Act::HardLink => {
            each(machine, args, 0, What::HardLink);
            each(machine, args, 1, |path| What::Create { path, folder: false })
        }
        Act::Mode(at) => each(machine, args, at, |path| What::Mode { path, mode: None }),
        Act::Modes(at) => every(machine, args, at, |path| What::Mode { path, mode: None }),
        Act::Chmod(at) => {
            let mode = mode(args, at);
            each(machine, args, at, |path| What::Mode { path, mode: mode.clone() })
        }
        Act::Chmods => {
            let mode = mode(args, 1);
            every(machine, args, 1, |path| What::Mode { path, mode: mode.clone() })
        }
        Act::Chdir => {
            if args.values.is_empty() {
                machine.deed(What::Chdir(Text::Known("~".to_owned())), &args.at);
            }
            let value = each(machine, args, 0, What::Chdir);
            // Ruby's `Dir.chdir("x") { .. }` comes back, but what the block does is done there.
            let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
            if let Some(block) = block.filter(|_| machine.language == Language::Ruby) {
                machine.call(block.value, Args::of(Vec::new(), args.at.clone()));
                machine.deed(What::Chdir(Text::Shape(HOLE.to_string())), &args.at);
            }
            value
        }
        Act::Shell(at) => {
            shells(machine, arg(args, at));
            Value::Unknown
        }
        Act::ShellOrRun => {
            if args.values.len() == 1 && !matches!(args.value(0), Some(Value::List(_))) {
                shells(machine, arg(args, 0));
            } else {
                run(machine, args.values.iter().map(|arg| arg.value.clone()).collect(), &args.at);
            }
            Value::Unknown
        }
        Act::Run(from) => {
            run(machine, args.values.iter().skip(from).map(|arg| arg.value.clone()).collect(), &args.at);
            Value::Unknown
        }
        Act::Exec(at) => {
            let program = argument(args, at);
            let mut argv = argument(args, at + 1).items();
            if argv.is_empty() || machine.language == Language::Php {
                argv.insert(0, program);
            } else if let Some(first) = argv.first_mut() {
                *first = program;
            }
            run(machine, argv, &args.at);
            Value::Unknown
        }
        Act::Eval(at) => {
            evals(machine, arg(args, at));
            Value::Unknown
        }
        Act::Send(at) => {
            let value = match argument(args, at) {
                Value::List(values) => values.into_iter().next().unwrap_or(Value::Unknown),
                value => value,
            };
            let at = arg(args, at).map_or(args.at.clone(), |arg| arg.at);
            for text in value.texts() {
                machine.deed(What::Send(value::path(&text)), &at);
            }
            Value::Unknown
        }
        Act::Other(function) => function(machine, args),
        Act::Value(function) => function(args),
    }
}

/// What a call means that is made on a value that nothing is known of.
pub(super) fn by_last_name(machine: &mut Machine, name: &str, args: &Args) -> Option<Value> {
    let language = machine.language;
    let (_, _, meaning) = PLAIN.iter().find(|(own, plain, _)| *own == language && *plain == name)?;
    let act = find(language, meaning)?;
    Some(perform(machine, act, args))
}
