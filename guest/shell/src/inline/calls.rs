//! What a call does: its row is looked up and done, and what a row cannot say is done here.

use std::ops::Range;

use super::machine::{Arg, Args, Machine};
use super::tables::{Act, HARMLESS, MILD, PLAIN, STRICT, exported, find};
use super::value::{self, HOLE, Value};
use super::{Language, Text, What};

/// A name as the tables have it.
pub(super) fn full(language: Language, name: &str) -> String {
    let mut name = name.to_owned();
    match language {
        Language::Python => {
            for prefix in ["builtins.", "__builtins__.", "__builtin__.", "__main__."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    name = rest.to_owned();
                }
            }
            for suffix in [".__call__", ".__dict__", ".__func__"] {
                if let Some(rest) = name.strip_suffix(suffix) {
                    name = rest.to_owned();
                }
            }
            // Modules are reached through modules that import them: `shutil.os.system`.
            for module in ["os", "sys", "subprocess", "shutil", "builtins", "io"] {
                if let Some(at) = name.find(&format!(".{module}.")) {
                    name = name.get(at + 1..).unwrap_or_default().to_owned();
                } else if name.strip_suffix(module).is_some_and(|before| before.ends_with('.')) {
                    name = module.to_owned();
                }
            }
            for (from, to) in [
                ("posix.", "os."),
                ("nt.", "os."),
                ("posixpath.", "os.path."),
                ("ntpath.", "os.path."),
                ("_io.open", "open"),
                ("io.open", "open"),
                ("pathlib.PosixPath", "pathlib.Path"),
                ("pathlib.PurePosixPath", "pathlib.Path"),
                ("builtins.", ""),
                ("os.environb", "os.environ"),
            ] {
                if let Some(rest) = name.strip_prefix(from) {
                    name = format!("{to}{rest}");
                }
            }
        }
        Language::Node => {
            for prefix in ["globalThis.", "global.", "window.", "self.", "process.mainModule.", "require.main."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    name = rest.to_owned();
                }
            }
            if let Some(rest) = name.strip_suffix(".default") {
                name = rest.to_owned();
            }
            match name.as_str() {
                "module.require" | "module.constructor._load" | "module.Module._load" => return "require".to_owned(),
                "fs.promises" => return "fs".to_owned(),
                "path.posix" => return "path".to_owned(),
                _ => {}
            }
            if (name.starts_with("fs.") || name.starts_with("child_process.") || name.starts_with("execa."))
                && let Some(rest) = name.strip_suffix("Sync")
            {
                name = rest.to_owned();
            }
        }
        Language::Ruby => {
            for prefix in ["Kernel.", "self.", "Object.", "FileUtils.Verbose."] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    let keep = if prefix.starts_with("FileUtils") { "FileUtils." } else { "" };
                    name = format!("{keep}{rest}");
                }
            }
        }
        Language::Perl => {
            name = name.trim_start_matches('&').to_owned();
            for prefix in ["CORE::GLOBAL::", "CORE::", "main::", "POSIX::", "Cwd::", "::"] {
                if let Some(rest) = name.strip_prefix(prefix) {
                    name = rest.to_owned();
                }
            }
        }
        _ => {}
    }
    name
}

/// What a name stands for, if it is no function.
pub(super) fn constant(language: Language, name: &str) -> Option<Value> {
    Some(match (language, name) {
        (Language::Python, "os.sep" | "os.path.sep" | "posixpath.sep") | (Language::Node, "path.sep") => {
            Value::text("/")
        }
        (Language::Ruby, "File.SEPARATOR" | "File.Separator") | (Language::Php, "directory_separator") => {
            Value::text("/")
        }
        (Language::Python, "os.curdir") | (Language::Node, "__dirname") => Value::text("."),
        (Language::Python, "os.pardir") => Value::text(".."),
        (Language::Python, "os.linesep") | (Language::Node, "os.EOL") | (Language::Php, "php_eol") => Value::text("\n"),
        (Language::Python, "sys.executable") => Value::text("python3"),
        (Language::Node, "process.execPath") => Value::text("node"),
        (Language::Php, "php_binary") => Value::text("php"),
        (Language::Node, "process.env.HOME") => Value::home(),
        (Language::Python, "sys.argv") | (Language::Node, "process.argv") | (Language::Ruby, "ARGV") => Value::Unknown,
        (Language::Node, name) if name.starts_with("process.env.") => Value::Unknown,
        (Language::Php, "$_ENV" | "$_SERVER") => Value::name("$_ENV"),
        (Language::Php, "__dir__") => Value::text("."),
        (Language::Php, "__file__") | (Language::Python | Language::Ruby, "__file__" | "__FILE__") => Value::Unknown,
        _ => return None,
    })
}

/// The value of an environment variable, if that is what is indexed.
pub(super) fn environment(value: &Value, key: &Value) -> Option<Value> {
    match value {
        Value::Name(name) if matches!(name.as_str(), "os.environ" | "process.env" | "ENV" | "$_ENV") => {
            Some(if key.known() == Some("HOME") { Value::home() } else { Value::Unknown })
        }
        _ => None,
    }
}

/// From which argument on a function changes the variables that it is given.
pub(super) fn changes(language: Language, name: &str) -> Option<usize> {
    match (language, name) {
        (Language::Perl, "chop" | "read" | "sysread" | "substr" | "splice" | "vec" | "sysopen" | "undef") => Some(0),
        (Language::Php, "preg_match" | "preg_match_all" | "sscanf") => Some(2),
        (Language::Php, "exec" | "passthru" | "system" | "similar_text" | "parse_str") => Some(1),
        (
            Language::Php,
            "settype" | "array_push" | "array_pop" | "array_shift" | "array_unshift" | "array_splice" | "array_walk"
            | "sort" | "rsort" | "usort" | "ksort" | "asort" | "shuffle" | "unset",
        ) => Some(0),
        _ => None,
    }
}

pub(super) fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "if" | "for" | "while" | "switch" | "catch" | "with" | "function" | "return" | "typeof" | "super" | "await"
    )
}

/// Perl functions that take `$_` if they are given nothing.
pub(super) fn takes_topic(name: &str) -> bool {
    matches!(
        name,
        "unlink" | "rmdir" | "mkdir" | "eval" | "lc" | "uc" | "chr" | "ord" | "require" | "readpipe" | "glob"
    )
}

pub(super) fn takes_block(name: &str) -> bool {
    matches!(name, "print" | "printf" | "say" | "system" | "exec" | "map" | "grep" | "sort" | "eval" | "do" | "find")
}

/// A module was imported.
pub(super) fn imported(machine: &mut Machine, module: &str) {
    let root = if machine.language == Language::Python { module.split('.').next().unwrap_or_default() } else { module };
    if matches!(
        root,
        "ctypes" | "cffi" | "_ctypes" | "Inline" | "FFI::Platypus" | "ffi" | "_posixsubprocess" | "_winapi"
    ) {
        machine.incomplete();
    }
    if machine.language == Language::Python && !module.is_empty() {
        machine.deed(What::Load(Text::Known(module.replace('.', "/"))), &(0..0));
    }
    if machine.language == Language::Perl {
        for name in exported(module) {
            machine.change(name, Value::Name(format!("{module}::{name}")));
        }
        if module == "lib" || module.starts_with(|char: char| char.is_ascii_digit()) {
            return;
        }
    }
    if !HARMLESS.contains(&root) && !STRICT.contains(&root) && !module.is_empty() {
        machine.modules.insert(root.to_owned());
    }
}

/// The module that `require` or `import` gives.
pub(super) fn require(machine: &mut Machine, module: &Value) -> Value {
    let Some(name) = module.known() else {
        machine.incomplete();
        return Value::Unknown;
    };
    let name = name.strip_prefix("node:").unwrap_or(name);
    if name.starts_with(['.', '/']) {
        machine.deed(What::Load(value::path(name)), &(0..0));
    }
    match name {
        "fs/promises" | "fs-extra" | "graceful-fs" => return Value::name("fs"),
        "path/posix" => return Value::name("path"),
        "timers/promises" | "stream/promises" | "util/types" => return Value::Unknown,
        _ => {}
    }
    if name.starts_with(['.', '/']) {
        machine.incomplete();
        return Value::Unknown;
    }
    if !HARMLESS.contains(&name) && !STRICT.contains(&name) {
        machine.modules.insert(name.to_owned());
    }
    Value::name(name)
}

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

fn acts(act: Act) -> bool {
    !matches!(act, Act::None | Act::Value(_))
}

/// A value goes where it cannot be followed.
pub(super) fn escape(machine: &mut Machine, value: &Value) {
    if is_dangerous(machine.language, value) {
        machine.incomplete();
    }
}

/// Text is given to a shell.
pub(super) fn shell(machine: &mut Machine, text: &str, at: &Range<usize>) {
    if text.starts_with(HOLE) {
        machine.incomplete();
    }
    machine.deed(What::Shell(value::shell(text)), at);
}

/// A function is called under its full name.
pub(super) fn call(machine: &mut Machine, name: &str, args: Args) -> Value {
    let language = machine.language;
    let name = full(language, name);
    if let Some(act) = find(language, &name) {
        return perform(machine, act, &args);
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
    callbacks(machine, &args);
    Value::Unknown
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
        (Language::Ruby, "new" | "instance") if before == "Pathname" => None,
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

// --- Arguments ---

/// The argument at a place, or under one of the names that Python and PHP give to it.
fn arg(args: &Args, at: usize) -> Option<Arg> {
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

fn argument(args: &Args, at: usize) -> Value {
    arg(args, at).map_or(Value::Unknown, |arg| arg.value)
}

/// The paths that an argument can be, with its place. Open files and numbers are none.
fn paths(args: &Args, at: usize) -> (Vec<Text>, Range<usize>) {
    let Some(arg) = arg(args, at) else { return (Vec::new(), args.at.clone()) };
    (texts(&arg.value), arg.at)
}

fn texts(value: &Value) -> Vec<Text> {
    match value {
        Value::List(values) => values.iter().flat_map(texts).collect(),
        Value::Number(_) => Vec::new(),
        value => value.texts().iter().map(|text| value::path(text)).collect(),
    }
}

fn each(machine: &mut Machine, args: &Args, at: usize, what: impl Fn(Text) -> What) -> Value {
    let (paths, at) = paths(args, at);
    for path in paths {
        machine.deed(what(path), &at);
    }
    Value::Unknown
}

fn every(machine: &mut Machine, args: &Args, from: usize, what: impl Fn(Text) -> What) -> Value {
    let last = args.values.len();
    for at in from..last {
        // Options at the end are no paths.
        if !matches!(args.value(at), Some(Value::Map(_) | Value::Function(_))) {
            each(machine, args, at, &what);
        }
    }
    Value::Unknown
}

fn pairs(machine: &mut Machine, args: &Args, what: impl Fn(Text, Text) -> What) -> Value {
    let (from, at) = paths(args, 0);
    let (to, _) = paths(args, 1);
    let unknown = || vec![Text::Shape(HOLE.to_string())];
    let from = if from.is_empty() { unknown() } else { from };
    let to = if to.is_empty() { unknown() } else { to };
    for from in from.iter().take(64) {
        for to in to.iter().take(value::MOST) {
            machine.deed(what(from.clone(), to.clone()), &at);
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

fn perform(machine: &mut Machine, act: Act, args: &Args) -> Value {
    match act {
        Act::None => Value::Unknown,
        Act::Opaque => {
            machine.incomplete();
            Value::Unknown
        }
        Act::Read(at) => each(machine, args, at, What::Read),
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
        Act::Link => each(machine, args, 1, |path| What::Create { path, folder: false }),
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

fn shells(machine: &mut Machine, arg: Option<Arg>) {
    let Some(arg) = arg else { return };
    for text in arg.value.texts() {
        shell(machine, &text, &arg.at);
    }
}

fn evals(machine: &mut Machine, arg: Option<Arg>) {
    let Some(arg) = arg else { return };
    // A block was read where it stands.
    if matches!(arg.value, Value::Function(_)) {
        return;
    }
    for text in arg.value.texts() {
        let text = value::path(&text);
        if matches!(text, Text::Shape(_)) {
            machine.incomplete();
        }
        machine.deed(What::Eval(text), &arg.at);
    }
}

/// A program and its arguments.
pub(super) fn run(machine: &mut Machine, argv: Vec<Value>, at: &Range<usize>) {
    let argv: Vec<Value> =
        argv.into_iter().filter(|value| !matches!(value, Value::Function(_) | Value::Map(_))).collect();
    let mut flat = Vec::new();
    for value in argv {
        match value {
            Value::List(values) => flat.extend(values),
            value => flat.push(value),
        }
    }
    // One deed for each thing that a single argument can be.
    let choice = flat.iter().position(|value| matches!(value, Value::Choice(_)));
    let alternatives = match choice.and_then(|at| flat.get(at)) {
        Some(value) => value.texts(),
        None => vec![String::new()],
    };
    for alternative in alternatives {
        let words: Vec<String> = flat
            .iter()
            .enumerate()
            .map(|(index, value)| if Some(index) == choice { alternative.clone() } else { value.shape() })
            .collect();
        if words.first().is_none_or(|program| program.contains(HOLE)) {
            machine.incomplete();
        }
        machine.deed(What::Run(words.iter().map(|word| value::path(word)).collect()), at);
    }
}

/// A program in a directory of its own.
fn run_in(machine: &mut Machine, folder: Option<Value>, argv: Vec<Value>, at: &Range<usize>) {
    match folder {
        Some(folder) if !folder.is_false() => {
            let words: Vec<String> = argv.iter().map(|value| value::quoted(&value.shape())).collect();
            let text = format!("cd {} && {}", value::quoted(&folder.shape()), words.join(" "));
            machine.deed(What::Shell(value::shell(&text)), at);
        }
        _ => run(machine, argv, at),
    }
}

fn shell_in(machine: &mut Machine, folder: Option<Value>, arg: &Arg) {
    for text in arg.value.texts() {
        match &folder {
            Some(folder) if !folder.is_false() => {
                if text.starts_with(HOLE) {
                    machine.incomplete();
                }
                let text = format!("cd {} && {{ {text}\n}}", value::quoted(&folder.shape()));
                machine.deed(What::Shell(value::shell(&text)), &arg.at);
            }
            _ => shell(machine, &text, &arg.at),
        }
    }
}

// --- Files ---

/// Modes of `open` in Python, Node, Ruby and PHP.
pub(super) fn open(machine: &mut Machine, args: &Args) -> Value {
    let mode = args.value(1).or_else(|| args.named("mode")).or_else(|| args.named("flags"));
    let (paths, at) = paths(args, 0);
    for path in paths {
        if let Text::Known(text) = &path
            && machine.language == Language::Php
            && text.contains("://")
        {
            web(machine, text, &at);
            continue;
        }
        match mode {
            None | Some(Value::Function(_) | Value::Map(_)) => machine.deed(What::Read(path), &at),
            Some(Value::Number(flags)) => {
                // O_RDONLY is 0.
                let what = if *flags == 0 || machine.language == Language::Ruby && *flags > 0o777 {
                    What::Read(path)
                } else {
                    What::Write(path)
                };
                machine.deed(what, &at);
            }
            Some(mode) => match mode.known() {
                Some(mode) => by_mode(machine, mode, path, &at),
                None => machine.deed(What::Write(path), &at),
            },
        }
    }
    // Ruby gives the open file to a block.
    let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
    if let Some(block) = block {
        machine.call(block.value, Args::of(vec![Value::Unknown], args.at.clone()));
    }
    Value::Unknown
}

fn by_mode(machine: &mut Machine, mode: &str, path: Text, at: &Range<usize>) {
    if mode.contains('w') || mode.contains('c') {
        machine.deed(What::Write(path), at);
    } else if mode.contains('x') {
        machine.deed(What::Create { path, folder: false }, at);
    } else if mode.contains('a') {
        machine.deed(What::Append(path), at);
    } else if mode.contains('+') {
        machine.deed(What::Read(path.clone()), at);
        machine.deed(What::Write(path), at);
    } else {
        machine.deed(What::Read(path), at);
    }
}

pub(super) fn os_open(machine: &mut Machine, args: &Args) -> Value {
    match args.value(1) {
        Some(Value::Name(flag)) if flag == "os.O_RDONLY" => each(machine, args, 0, What::Read),
        Some(Value::Number(0)) => each(machine, args, 0, What::Read),
        _ => each(machine, args, 0, What::Write),
    }
}

pub(super) fn logging(machine: &mut Machine, args: &Args) -> Value {
    if let Some((_, arg)) = args.named.iter().find(|(key, _)| key == "filename") {
        for path in texts(&arg.value) {
            machine.deed(What::Append(path), &arg.at);
        }
    }
    Value::Unknown
}

pub(super) fn fileinput(machine: &mut Machine, args: &Args) -> Value {
    let inplace = args.value(1).or_else(|| args.named("inplace")).is_some_and(|value| !value.is_false());
    if inplace { each(machine, args, 0, What::Write) } else { each(machine, args, 0, What::Read) }
}

pub(super) fn glob(machine: &mut Machine, args: &Args) -> Value {
    let mut found = Vec::new();
    for value in args.values.iter().map(|arg| &arg.value).filter(|value| !matches!(value, Value::Function(_))) {
        let patterns = match value {
            Value::List(values) => values.iter().flat_map(Value::texts).collect(),
            value => value.texts(),
        };
        for pattern in patterns {
            // Perl's glob takes several, with blanks between.
            let perl = machine.language == Language::Perl;
            let several: Vec<&str> = if perl { pattern.split_whitespace().collect() } else { vec![pattern.as_str()] };
            found.extend(several.into_iter().map(|pattern| Value::Text(expand_home(&value::glob(pattern), perl))));
        }
    }
    let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
    if let Some(block) = block {
        machine.call(block.value, Args::of(vec![Value::choice(found.clone())], args.at.clone()));
    }
    Value::List(found)
}

fn expand_home(path: &str, really: bool) -> String {
    match path.strip_prefix('~') {
        Some(rest) if really && (rest.is_empty() || rest.starts_with('/')) => format!("{}{rest}", value::HOME),
        _ => path.to_owned(),
    }
}

pub(super) fn walk(machine: &mut Machine, args: &Args) -> Value {
    each(machine, args, 0, What::Read);
    let root = argument(args, 0).shape();
    let below = Value::Text(value::join(&[root, HOLE.to_string()], false));
    // The folder, its folders and its files.
    Value::List(vec![Value::List(vec![below.or(argument(args, 0)), Value::Unknown, Value::Unknown])])
}

pub(super) fn touch(machine: &mut Machine, args: &Args) -> Value {
    every(machine, args, 0, |path| What::Create { path, folder: false })
}

pub(super) fn retrieve(machine: &mut Machine, args: &Args) -> Value {
    for text in argument(args, 0).texts() {
        machine.deed(What::Send(value::path(&text)), &args.at);
    }
    match args.value(1).or_else(|| args.named("filename")) {
        Some(value) => {
            for path in texts(value) {
                machine.deed(What::Write(path), &args.at);
            }
        }
        None => return Value::Unknown,
    }
    Value::Unknown
}

pub(super) fn runs_file(machine: &mut Machine, args: &Args) -> Value {
    machine.incomplete();
    each(machine, args, 0, What::Load);
    each(machine, args, 0, What::Read)
}

pub(super) fn node_write(machine: &mut Machine, args: &Args) -> Value {
    let options = args.values.iter().skip(1).find_map(|arg| arg.value.get("flag").or_else(|| arg.value.get("flags")));
    let append = options.and_then(Value::known).is_some_and(|flag| flag.starts_with('a'));
    if append { each(machine, args, 0, What::Append) } else { each(machine, args, 0, What::Write) }
}

pub(super) fn node_rm(machine: &mut Machine, args: &Args) -> Value {
    let options = args.value(1);
    let recursive = match options {
        None | Some(Value::Function(_)) => false,
        Some(Value::Map(_)) => {
            options.and_then(|options| options.get("recursive")).is_some_and(|value| !value.is_false())
        }
        // Options that are not known.
        Some(_) => true,
    };
    each(machine, args, 0, |path| What::Delete { path, recursive })
}

pub(super) fn shelljs_rm(machine: &mut Machine, args: &Args) -> Value {
    let flags = argument(args, 0).shape();
    let from = usize::from(flags.starts_with('-'));
    let recursive = from == 1 && flags.contains(['r', 'R']);
    every(machine, args, from, |path| What::Delete { path, recursive })
}

pub(super) fn node_temporary(machine: &mut Machine, args: &Args) -> Value {
    let path = format!("{}{HOLE}", argument(args, 0).shape());
    machine.deed(What::Create { path: value::path(&path), folder: true }, &args.at);
    Value::Text(path)
}

pub(super) fn perl_open(machine: &mut Machine, args: &Args) -> Value {
    let Some(mode) = args.values.get(1) else { return Value::Unknown };
    let at = mode.at.clone();
    for text in mode.value.texts() {
        let bare = text.trim();
        if args.values.len() == 2 {
            if let Some(command) = bare.strip_prefix('|') {
                shell(machine, command.trim(), &at);
            } else if let Some(command) = bare.strip_suffix('|') {
                shell(machine, command.trim(), &at);
            } else {
                let (mode, path) =
                    bare.split_at(bare.find(|char| !matches!(char, '<' | '>' | '+' | '&' | '=')).unwrap_or(bare.len()));
                if !mode.contains('&') && path.trim() != "-" && !path.is_empty() {
                    perl_mode(machine, mode, value::path(path.trim()), &at);
                    if text.starts_with(HOLE) {
                        // The unknown beginning may be a pipe.
                        machine.incomplete();
                    }
                }
            }
            continue;
        }
        if bare.starts_with("-|") || bare.starts_with("|-") {
            let command = args.skip(2);
            perform(machine, Act::ShellOrRun, &command);
            return Value::Unknown;
        }
        let mode = bare.split(':').next().unwrap_or_default().trim();
        if mode.contains('&') {
            continue;
        }
        let (paths, at) = paths(args, 2);
        for path in paths {
            perl_mode(machine, mode, path, &at);
        }
    }
    Value::Unknown
}

fn perl_mode(machine: &mut Machine, mode: &str, path: Text, at: &Range<usize>) {
    match mode {
        "" | "<" => machine.deed(What::Read(path), at),
        ">>" | "+>>" => machine.deed(What::Append(path), at),
        "+<" => {
            machine.deed(What::Read(path.clone()), at);
            machine.deed(What::Write(path), at);
        }
        _ => machine.deed(What::Write(path), at),
    }
}

pub(super) fn perl_sysopen(machine: &mut Machine, args: &Args) -> Value {
    match args.value(2) {
        Some(Value::Name(flag)) if flag == "O_RDONLY" => each(machine, args, 1, What::Read),
        Some(Value::Number(0)) => each(machine, args, 1, What::Read),
        _ => each(machine, args, 1, What::Write),
    }
}

pub(super) fn perl_file(machine: &mut Machine, args: &Args) -> Value {
    let mode = argument(args, 1);
    match (args.values.len(), mode.known()) {
        (0, _) => Value::Unknown,
        (1, _) => {
            let mut two = args.clone();
            two.values.insert(0, Arg::new(Value::Unknown, args.at.clone()));
            perl_open(machine, &two)
        }
        (_, Some(mode)) if mode.starts_with(['<', '>', '+']) => each(machine, args, 0, |path| match mode {
            "<" => What::Read(path),
            ">>" => What::Append(path),
            _ => What::Write(path),
        }),
        _ => open(machine, args),
    }
}

pub(super) fn perl_utime(machine: &mut Machine, args: &Args) -> Value {
    every(machine, args, 2, What::Write)
}

pub(super) fn ruby_utime(machine: &mut Machine, args: &Args) -> Value {
    every(machine, args, 2, What::Write)
}

pub(super) fn perl_tree(machine: &mut Machine, args: &Args) -> Value {
    // The old form has flags behind the first argument: `rmtree("x", 0, 1)`.
    perform(machine, Act::Trees, args)
}

pub(super) fn ruby_open(machine: &mut Machine, args: &Args) -> Value {
    ruby_pipe(machine, args, open)
}

pub(super) fn ruby_io(machine: &mut Machine, args: &Args) -> Value {
    ruby_pipe(machine, args, |machine, args| each(machine, args, 0, What::Read))
}

/// What begins with `|` is a command.
fn ruby_pipe(machine: &mut Machine, args: &Args, otherwise: fn(&mut Machine, &Args) -> Value) -> Value {
    let Some(first) = args.values.first() else { return Value::Unknown };
    let first = first.clone();
    let mut rest = Vec::new();
    for text in first.value.texts() {
        if let Some(command) = text.strip_prefix('|') {
            shell(machine, command.trim(), &first.at);
        } else if is_url(&text) {
            machine.deed(What::Send(value::path(&text)), &first.at);
        } else {
            rest.push(Value::Text(text));
        }
    }
    if rest.is_empty() {
        return Value::Unknown;
    }
    let mut args = args.clone();
    if let Some(arg) = args.values.first_mut() {
        arg.value = Value::choice(rest);
    }
    otherwise(machine, &args)
}

pub(super) fn ruby_write(machine: &mut Machine, args: &Args) -> Value {
    let mode = args.named("mode").and_then(Value::known);
    if mode.is_some_and(|mode| mode.starts_with('a')) {
        each(machine, args, 0, What::Append)
    } else {
        each(machine, args, 0, What::Write)
    }
}

pub(super) fn ruby_expand(args: &Args) -> Value {
    let path = expanduser(args);
    match args.value(1) {
        Some(folder) => Value::Text(value::join(&[folder.shape(), path.shape()], true)),
        None => path,
    }
}

fn is_url(text: &str) -> bool {
    ["http://", "https://", "ftp://", "ftps://"].iter().any(|scheme| text.starts_with(scheme))
}

/// A PHP wrapper: `http://` and kin go over the network, `php://` and `data:` are no files.
fn web(machine: &mut Machine, text: &str, at: &Range<usize>) {
    if let Some(path) = text.strip_prefix("file://") {
        machine.deed(What::Write(value::finish(path.to_owned())), at);
    } else if is_url(text) || text.starts_with("ssh2.") || text.starts_with("tcp://") {
        machine.deed(What::Send(value::finish(text.to_owned())), at);
    } else if !text.starts_with("php://") && !text.starts_with("data:") {
        machine.incomplete();
    }
}

pub(super) fn php_read(machine: &mut Machine, args: &Args) -> Value {
    let (paths, at) = paths(args, 0);
    for path in paths {
        match &path {
            Text::Known(text) | Text::Shape(text) if text.contains("://") && !text.starts_with("file://") => {
                web(machine, text, &at);
            }
            _ => machine.deed(What::Read(path), &at),
        }
    }
    Value::Unknown
}

pub(super) fn php_write(machine: &mut Machine, args: &Args) -> Value {
    let append = args.value(2).or_else(|| args.named("flags")).is_some_and(|flags| match flags {
        Value::Name(name) => name == "file_append",
        Value::Number(flags) => flags & 8 != 0,
        _ => false,
    });
    if append { each(machine, args, 0, What::Append) } else { each(machine, args, 0, What::Write) }
}

pub(super) fn error_log(machine: &mut Machine, args: &Args) -> Value {
    if matches!(args.value(1), Some(Value::Number(3))) { each(machine, args, 2, What::Append) } else { Value::Unknown }
}

// --- Processes ---

pub(super) fn subprocess(machine: &mut Machine, args: &Args) -> Value {
    let Some(command) = arg(args, 0) else {
        if !args.named.is_empty() {
            machine.incomplete();
        }
        return Value::Unknown;
    };
    let shell_option = args.named("shell");
    let through_shell = shell_option.is_some_and(|value| !value.is_false());
    let folder = args.named("cwd").cloned();
    if args.named("executable").is_some() || args.named("preexec_fn").is_some() || args.named("**").is_some() {
        machine.incomplete();
    }
    let commands = match command.value {
        Value::Choice(values) => values,
        value => vec![value],
    };
    for value in commands {
        let listed = match &value {
            Value::List(values) => Some(values.clone()),
            _ => None,
        };
        let program = listed.as_ref().and_then(|argv| argv.first()).unwrap_or(&value).shape();
        match listed {
            Some(argv) if through_shell => {
                let first = argv.into_iter().next().unwrap_or(Value::Unknown);
                shell_in(machine, folder.clone(), &Arg::new(first, command.at.clone()));
            }
            Some(argv) => run_in(machine, folder.clone(), argv, &command.at),
            None if through_shell => shell_in(machine, folder.clone(), &Arg::new(value, command.at.clone())),
            None => run_in(machine, folder.clone(), vec![value], &command.at),
        }
        // A shell that is given its commands.
        let name = program.rsplit('/').next().unwrap_or_default();
        if matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash")
            && let Some(input) = args.named("input")
        {
            for text in input.texts() {
                shell(machine, &text, &command.at);
            }
        }
    }
    Value::Unknown
}

pub(super) fn exec_all(machine: &mut Machine, args: &Args) -> Value {
    let mut argv: Vec<Value> =
        args.values.iter().map(|arg| arg.value.clone()).filter(|value| !matches!(value, Value::Map(_))).collect();
    if argv.len() > 1 {
        // The name that it is given comes after the program.
        argv.remove(1);
    }
    run(machine, argv, &args.at);
    Value::Unknown
}

pub(super) fn spawn_all(machine: &mut Machine, args: &Args) -> Value {
    exec_all(machine, &args.skip(1))
}

/// The options of a Node function: the last argument that is an object.
fn option(args: &Args, name: &str) -> Option<Value> {
    args.values.iter().rev().find_map(|arg| arg.value.get(name).cloned())
}

pub(super) fn node_exec(machine: &mut Machine, args: &Args) -> Value {
    if let Some(arg) = arg(args, 0) {
        shell_in(machine, option(args, "cwd"), &arg);
    }
    Value::Unknown
}

pub(super) fn node_spawn(machine: &mut Machine, args: &Args) -> Value {
    let Some(program) = arg(args, 0) else { return Value::Unknown };
    let mut argv = vec![program.value.clone()];
    match args.value(1) {
        Some(Value::List(values)) => argv.extend(values.iter().cloned()),
        Some(Value::Map(_) | Value::Function(_)) | None => {}
        Some(_) => argv.push(Value::Unknown),
    }
    let folder = option(args, "cwd");
    if option(args, "shell").is_some_and(|shell| !shell.is_false()) {
        let text = argv.iter().map(Value::shape).collect::<Vec<_>>().join(" ");
        shell_in(machine, folder, &Arg::new(Value::Text(text), program.at));
    } else {
        run_in(machine, folder, argv, &program.at);
    }
    Value::Unknown
}

pub(super) fn node_fork(machine: &mut Machine, args: &Args) -> Value {
    let mut argv = vec![Value::text("node"), argument(args, 0)];
    if let Some(Value::List(values)) = args.value(1) {
        argv.extend(values.iter().cloned());
    }
    run(machine, argv, &args.at);
    Value::Unknown
}

pub(super) fn open3(machine: &mut Machine, args: &Args) -> Value {
    perform(machine, Act::ShellOrRun, &args.skip(3))
}

pub(super) fn open2(machine: &mut Machine, args: &Args) -> Value {
    perform(machine, Act::ShellOrRun, &args.skip(2))
}

pub(super) fn ruby_system(machine: &mut Machine, args: &Args) -> Value {
    let mut args = args.clone();
    // The environment comes first, options last.
    if matches!(args.value(0), Some(Value::Map(_))) {
        args = args.skip(1);
    }
    args.values.retain(|arg| !matches!(arg.value, Value::Function(_) | Value::Map(_)));
    // `["program", "its name"]`
    if let Some(Arg { value: Value::List(values), .. }) = args.values.first()
        && args.values.len() > 1
        && let Some(program) = values.first().cloned()
        && let Some(first) = args.values.first_mut()
    {
        first.value = program;
    }
    let folder = args.named("chdir").cloned();
    match (args.values.len(), args.values.first()) {
        (0, _) => {}
        (1, Some(Arg { value: Value::List(values), at, .. })) => run_in(machine, folder, values.clone(), at),
        (1, Some(arg)) => shell_in(machine, folder, arg),
        _ => run_in(machine, folder, args.values.iter().map(|arg| arg.value.clone()).collect(), &args.at),
    }
    Value::Unknown
}

pub(super) fn ruby_popen(machine: &mut Machine, args: &Args) -> Value {
    let mut args = args.clone();
    if matches!(args.value(0), Some(Value::Map(_))) {
        args = args.skip(1);
    }
    args.values.truncate(1);
    ruby_system(machine, &args)
}

pub(super) fn php_shell(machine: &mut Machine, args: &Args) -> Value {
    shells(machine, arg(args, 0));
    Value::Unknown
}

pub(super) fn php_proc(machine: &mut Machine, args: &Args) -> Value {
    let folder = args.value(3).cloned();
    match arg(args, 0) {
        Some(Arg { value: Value::List(values), at, .. }) => run_in(machine, folder, values, &at),
        Some(arg) => shell_in(machine, folder, &arg),
        None => {}
    }
    Value::Unknown
}

// --- Code ---

pub(super) fn compile(args: &Args) -> Value {
    // What it gives is run by `exec` or `eval`.
    argument(args, 0)
}

pub(super) fn constructor(machine: &mut Machine, args: &Args) -> Value {
    if let Some(code) = args.values.last().cloned() {
        evals(machine, Some(code));
    }
    Value::Unknown
}

pub(super) fn timer(machine: &mut Machine, args: &Args) -> Value {
    // Node refuses text here.
    match args.value(0) {
        Some(Value::Function(_) | Value::Text(_)) | None => {}
        _ => callbacks(machine, args),
    }
    Value::Unknown
}

pub(super) fn php_assert(machine: &mut Machine, args: &Args) -> Value {
    match args.value(0) {
        Some(Value::Text(_)) => perform(machine, Act::Eval(0), args),
        _ => Value::Unknown,
    }
}

pub(super) fn import(machine: &mut Machine, args: &Args) -> Value {
    match argument(args, 0).known().map(str::to_owned) {
        Some(module) => {
            imported(machine, &module);
            // `__import__("a.b")` gives `a`, `import_module` gives `a.b`; the names of both are in the tables.
            Value::Name(full(machine.language, &module))
        }
        None => {
            machine.incomplete();
            Value::Unknown
        }
    }
}

pub(super) fn getattr(machine: &mut Machine, args: &Args) -> Value {
    let object = argument(args, 0);
    match argument(args, 1).known().map(str::to_owned) {
        Some(name) => machine.member(object, &name),
        None => {
            if is_dangerous(machine.language, &object) || matches!(object, Value::Unknown) {
                machine.incomplete();
                machine.deed(What::Eval(Text::Shape(HOLE.to_string())), &args.at);
            }
            Value::Unknown
        }
    }
}

pub(super) fn node_require(machine: &mut Machine, args: &Args) -> Value {
    let module = argument(args, 0);
    if let Value::Choice(values) = module {
        let modules = values.iter().map(|value| require(machine, value)).collect();
        return Value::choice(modules);
    }
    require(machine, &module)
}

pub(super) fn create_require(_: &Args) -> Value {
    Value::name("require")
}

pub(super) fn reflect_apply(machine: &mut Machine, args: &Args) -> Value {
    let values = argument(args, 2).items();
    machine.call(argument(args, 0), Args::of(values, args.at.clone()))
}

pub(super) fn reflect_construct(machine: &mut Machine, args: &Args) -> Value {
    let values = argument(args, 1).items();
    machine.call(argument(args, 0), Args::of(values, args.at.clone()))
}

pub(super) fn perl_require(machine: &mut Machine, args: &Args) -> Value {
    match args.value(0) {
        Some(Value::Name(module)) => {
            let module = module.clone();
            imported(machine, &module);
            Value::Unknown
        }
        _ => runs_file(machine, args),
    }
}

pub(super) fn ruby_require(machine: &mut Machine, args: &Args) -> Value {
    match argument(args, 0).known().map(str::to_owned) {
        Some(path) if path.starts_with(['.', '/']) => runs_file(machine, args),
        Some(module) => {
            imported(machine, &module);
            Value::Unknown
        }
        None => runs_file(machine, args),
    }
}

pub(super) fn ruby_include(machine: &mut Machine, args: &Args) -> Value {
    if let Some(Value::Name(module)) = args.value(0) {
        for name in exported(module) {
            machine.change(name, Value::Name(format!("{module}.{name}")));
        }
    }
    Value::Unknown
}

pub(super) fn const_get(machine: &mut Machine, args: &Args) -> Value {
    match argument(args, 0).known() {
        Some(name) => Value::name(name),
        None => {
            machine.incomplete();
            Value::Unknown
        }
    }
}

pub(super) fn ruby_send(machine: &mut Machine, args: &Args) -> Value {
    let function = const_get(machine, args);
    machine.call(function, args.skip(1))
}

pub(super) fn map(machine: &mut Machine, args: &Args) -> Value {
    let function = match argument(args, 0) {
        Value::Text(name) => Value::Name(name.to_ascii_lowercase()),
        function => function,
    };
    let items = Value::choice(argument(args, 1).items());
    let result = machine.call(function, Args::of(vec![items], args.at.clone()));
    Value::List(match result {
        Value::Choice(values) => values,
        value => vec![value],
    })
}

pub(super) fn walk_array(machine: &mut Machine, args: &Args) -> Value {
    let turned = Args::of(vec![argument(args, 1), argument(args, 0)], args.at.clone());
    map(machine, &turned)
}

/// A function is called now or later with the arguments behind it.
pub(super) fn partial(machine: &mut Machine, args: &Args) -> Value {
    let function = match argument(args, 0) {
        Value::Text(name) if machine.language == Language::Php => Value::Name(name.to_ascii_lowercase()),
        function => function,
    };
    if args.values.len() < 2 && machine.language == Language::Python {
        return function;
    }
    let mut rest = args.skip(1);
    rest.named.clone_from(&args.named);
    machine.call(function, rest)
}

pub(super) fn call_array(machine: &mut Machine, args: &Args) -> Value {
    let mut values = vec![argument(args, 0)];
    values.extend(argument(args, 1).items());
    partial(machine, &Args::of(values, args.at.clone()))
}

pub(super) fn php_callback(machine: &mut Machine, args: &Args) -> Value {
    let named = args.values.iter().any(|arg| match &arg.value {
        Value::Text(name) => find(Language::Php, &name.to_ascii_lowercase()).is_some_and(acts),
        _ => false,
    });
    if named {
        machine.incomplete();
    }
    Value::Unknown
}

// --- The network ---

pub(super) fn node_http(machine: &mut Machine, args: &Args) -> Value {
    let value = args.values.iter().find_map(|arg| match &arg.value {
        Value::Map(_) => ["url", "hostname", "host"].iter().find_map(|key| arg.value.get(key).cloned()),
        Value::Number(_) | Value::Function(_) => None,
        value => Some(value.clone()),
    });
    for text in value.unwrap_or(Value::Unknown).texts() {
        machine.deed(What::Send(value::path(&text)), &args.at);
    }
    Value::Unknown
}

pub(super) fn url(args: &Args) -> Value {
    match args.value(1) {
        Some(base) => base.clone().plus(argument(args, 0)),
        None => argument(args, 0),
    }
}

pub(super) fn perl_socket(machine: &mut Machine, args: &Args) -> Value {
    let mut values = args.values.iter().map(|arg| &arg.value);
    let mut host = Value::Unknown;
    while let Some(value) = values.next() {
        if matches!(value.known(), Some("PeerAddr" | "PeerHost")) {
            host = values.next().cloned().unwrap_or(Value::Unknown);
        }
    }
    if args.values.len() == 1 {
        host = argument(args, 0);
    }
    for text in host.texts() {
        machine.deed(What::Send(value::path(&text)), &args.at);
    }
    Value::Unknown
}

pub(super) fn curl(machine: &mut Machine, args: &Args) -> Value {
    if args.values.is_empty() { Value::Unknown } else { perform(machine, Act::Send(0), args) }
}

pub(super) fn curl_option(machine: &mut Machine, args: &Args) -> Value {
    match args.value(1) {
        Some(Value::Name(option)) if option == "curlopt_url" => perform(machine, Act::Send(2), args),
        _ => Value::Unknown,
    }
}

// --- Values ---

pub(super) fn first(args: &Args) -> Value {
    argument(args, 0)
}

/// The names that there are, or those of a module.
pub(super) fn names(args: &Args) -> Value {
    args.value(0).cloned().unwrap_or_else(|| Value::name("globals"))
}

pub(super) fn all(args: &Args) -> Value {
    if !args.named.is_empty() {
        return Value::Map(args.named.iter().map(|(key, arg)| (key.clone(), arg.value.clone())).collect());
    }
    Value::List(args.values.iter().map(|arg| arg.value.clone()).collect())
}

pub(super) fn dict(args: &Args) -> Value {
    Value::Map(args.named.iter().map(|(key, arg)| (key.clone(), arg.value.clone())).collect())
}

pub(super) fn entries(args: &Args) -> Value {
    match args.value(0) {
        Some(Value::Map(entries)) => {
            Value::List(entries.iter().map(|(key, value)| Value::List(vec![Value::text(key), value.clone()])).collect())
        }
        _ => Value::Unknown,
    }
}

pub(super) fn merge(args: &Args) -> Value {
    Value::List(args.values.iter().flat_map(|arg| arg.value.clone().items()).collect())
}

/// The value as text. A list of numbers is bytes.
pub(super) fn text(args: &Args) -> Value {
    match argument(args, 0) {
        Value::List(values) if !values.is_empty() => characters(&values),
        Value::Choice(values) => Value::choice(values.iter().flat_map(Value::texts).map(Value::Text).collect()),
        Value::List(_) | Value::Unknown | Value::Name(_) => Value::Unknown,
        value => Value::Text(value.shape()),
    }
}

pub(super) fn characters(values: &[Value]) -> Value {
    Value::Text(
        values
            .iter()
            .map(|value| match value {
                Value::Number(code) => value::character(*code),
                _ => HOLE,
            })
            .collect(),
    )
}

pub(super) fn chars(args: &Args) -> Value {
    characters(&args.values.iter().map(|arg| arg.value.clone()).collect::<Vec<_>>())
}

pub(super) fn chr(args: &Args) -> Value {
    match argument(args, 0) {
        Value::Choice(values) => {
            Value::choice(values.iter().map(|value| characters(std::slice::from_ref(value))).collect())
        }
        value => characters(&[value]),
    }
}

pub(super) fn ord(args: &Args) -> Value {
    argument(args, 0)
        .known()
        .and_then(|text| text.chars().next())
        .map_or(Value::Unknown, |char| Value::Number(i64::from(u32::from(char))))
}

pub(super) fn reversed(args: &Args) -> Value {
    super::methods::reverse(&argument(args, 0))
}

pub(super) fn perl_reverse(args: &Args) -> Value {
    // One text is turned round, as in scalar context; several are a list.
    match args.values.as_slice() {
        [Arg { value: value @ Value::Text(_), .. }] => super::methods::reverse(value),
        values => Value::List(values.iter().rev().map(|arg| arg.value.clone()).collect()),
    }
}

pub(super) fn lower(args: &Args) -> Value {
    Value::Text(argument(args, 0).shape().to_lowercase())
}

pub(super) fn upper(args: &Args) -> Value {
    Value::Text(argument(args, 0).shape().to_uppercase())
}

fn decoded(value: &Value, decode: fn(&str) -> Option<String>) -> Value {
    match value {
        Value::Choice(values) => Value::choice(values.iter().map(|value| decoded(value, decode)).collect()),
        value => value.known().and_then(decode).map_or(Value::Unknown, Value::Text),
    }
}

pub(super) fn unbase64(args: &Args) -> Value {
    decoded(&argument(args, 0), value::base64)
}

pub(super) fn unhex(args: &Args) -> Value {
    let given = args.value(0).or_else(|| args.named("string")).cloned().unwrap_or(Value::Unknown);
    decoded(&given, value::hex)
}

pub(super) fn codecs_decode(args: &Args) -> Value {
    super::methods::decode(&argument(args, 0), argument(args, 1).known().unwrap_or("utf8"))
}

pub(super) fn rot13(args: &Args) -> Value {
    super::methods::decode(&argument(args, 0), "rot13")
}

pub(super) fn unpercent(args: &Args) -> Value {
    let Some(text) = argument(args, 0).known().map(str::to_owned) else { return Value::Unknown };
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match (part.get(..2).and_then(value::hex), part.get(2..)) {
            (Some(char), Some(rest)) => {
                decoded.push_str(&char);
                decoded.push_str(rest);
            }
            _ => return Value::Unknown,
        }
    }
    Value::Text(decoded)
}

pub(super) fn buffer(args: &Args) -> Value {
    match args.value(0) {
        Some(Value::List(values)) => characters(values),
        Some(value) => match args.value(1) {
            Some(encoding) => super::methods::decode(value, encoding.known().unwrap_or("?")),
            None => value.clone(),
        },
        None => Value::Unknown,
    }
}

pub(super) fn str_join(args: &Args) -> Value {
    super::methods::joined(&argument(args, 0).shape(), &argument(args, 1))
}

pub(super) fn perl_join(args: &Args) -> Value {
    let values = args.values.iter().skip(1).map(|arg| arg.value.clone()).collect();
    super::methods::joined(&argument(args, 0).shape(), &Value::List(values))
}

pub(super) fn implode(args: &Args) -> Value {
    match argument(args, 0) {
        list @ Value::List(_) => super::methods::joined(&args.value(1).map_or(String::new(), Value::shape), &list),
        separator => super::methods::joined(&separator.shape(), &argument(args, 1)),
    }
}

pub(super) fn explode(args: &Args) -> Value {
    match (argument(args, 0).known(), argument(args, 1).known()) {
        (Some(separator), Some(text)) if !separator.is_empty() => {
            Value::List(text.split(separator).map(Value::text).collect())
        }
        _ => Value::Unknown,
    }
}

pub(super) fn php_replace(args: &Args) -> Value {
    match (argument(args, 0).known(), argument(args, 1).known(), argument(args, 2).known()) {
        (Some(from), Some(to), Some(text)) if !from.is_empty() && text.len() < 4096 && to.len() < 64 => {
            Value::Text(text.replace(from, to))
        }
        _ => Value::Unknown,
    }
}

pub(super) fn sprintf(args: &Args) -> Value {
    let values: Vec<Value> = args.values.iter().skip(1).map(|arg| arg.value.clone()).collect();
    Value::Text(value::printf(&argument(args, 0).shape(), &values))
}

/// `pack("H*", ..)`, `pack("C*", ..)`
pub(super) fn pack(args: &Args) -> Value {
    let values: Vec<Value> = args.values.iter().skip(1).map(|arg| arg.value.clone()).collect();
    match argument(args, 0).known() {
        Some("H*") => decoded(values.first().unwrap_or(&Value::Unknown), value::hex),
        Some("C*" | "c*" | "U*" | "W*") => characters(&values),
        Some("A*" | "a*") => values.into_iter().next().unwrap_or(Value::Unknown),
        _ => Value::Unknown,
    }
}

/// Words of a command line, if there is nothing in it but plain words.
pub(super) fn split(args: &Args) -> Value {
    let text = argument(args, 0).shape();
    if text.contains(['\'', '"', '\\', '#']) {
        return Value::List(vec![Value::Unknown]);
    }
    Value::List(text.split_whitespace().map(Value::text).collect())
}

pub(super) fn quote(args: &Args) -> Value {
    Value::Text(value::quoted(&argument(args, 0).shape()))
}

pub(super) fn shlex_join(args: &Args) -> Value {
    let words: Vec<String> = argument(args, 0).items().iter().map(|value| value::quoted(&value.shape())).collect();
    Value::Text(words.join(" "))
}

fn parts(args: &Args) -> Vec<String> {
    args.values
        .iter()
        .flat_map(|arg| match &arg.value {
            Value::List(values) => values.iter().map(Value::shape).collect(),
            value => vec![value.shape()],
        })
        .collect()
}

/// Each thing that the one argument that has several values can be.
fn joined(args: &Args, restart: bool) -> Value {
    let choice = args.values.iter().position(|arg| matches!(arg.value, Value::Choice(_)));
    match choice.and_then(|at| Some((at, args.value(at)?))) {
        Some((at, value)) => {
            let mut parts = parts(args);
            let mut paths = Vec::new();
            for text in value.texts() {
                if let Some(part) = parts.get_mut(at) {
                    *part = text;
                }
                paths.push(Value::Text(value::join(&parts, restart)));
            }
            Value::choice(paths)
        }
        None => Value::Text(value::join(&parts(args), restart)),
    }
}

pub(super) fn join(args: &Args) -> Value {
    joined(args, true)
}

pub(super) fn node_join(args: &Args) -> Value {
    joined(args, false)
}

pub(super) fn expanduser(args: &Args) -> Value {
    match argument(args, 0) {
        Value::Path(path) => Value::Path(expand_home(&path, true)),
        value => Value::choice(value.texts().iter().map(|text| Value::Text(expand_home(text, true))).collect()),
    }
}

pub(super) fn expandvars(args: &Args) -> Value {
    let text = argument(args, 0).shape();
    let text = text.replace("${HOME}", &value::HOME.to_string()).replace("$HOME", &value::HOME.to_string());
    if text.contains('$') { Value::Unknown } else { Value::Text(text) }
}

pub(super) fn dirname(args: &Args) -> Value {
    Value::choice(argument(args, 0).texts().iter().map(|path| Value::Text(value::dirname(path))).collect())
}

pub(super) fn basename(args: &Args) -> Value {
    Value::choice(argument(args, 0).texts().iter().map(|path| Value::Text(value::basename(path))).collect())
}

pub(super) fn here(_: &Args) -> Value {
    Value::text(".")
}

pub(super) fn home(_: &Args) -> Value {
    Value::home()
}

pub(super) fn getenv(args: &Args) -> Value {
    let otherwise = args.value(1).cloned();
    match (argument(args, 0).known(), otherwise) {
        (Some("HOME"), _) => Value::home(),
        (_, Some(otherwise)) => otherwise.or(Value::Unknown),
        _ => Value::Unknown,
    }
}

pub(super) fn pathlib(args: &Args) -> Value {
    if args.values.is_empty() {
        return Value::Path(".".to_owned());
    }
    match joined(args, true) {
        Value::Choice(values) => Value::choice(values.iter().map(|value| Value::Path(value.shape())).collect()),
        value => Value::Path(value.shape()),
    }
}

pub(super) fn path_home(_: &Args) -> Value {
    Value::Path(value::HOME.to_string())
}

pub(super) fn path_here(_: &Args) -> Value {
    Value::Path(".".to_owned())
}

/// What a call means that is made on a value that nothing is known of.
pub(super) fn by_last_name(machine: &mut Machine, name: &str, args: &Args) -> Option<Value> {
    let language = machine.language;
    let (_, _, meaning) = PLAIN.iter().find(|(own, plain, _)| *own == language && *plain == name)?;
    let act = find(language, meaning)?;
    Some(perform(machine, act, args))
}
