//! Calls that start programs or give text to a shell.

use std::ops::Range;

use super::ScriptEffectKind;
use super::arguments::{Arg, Args, arg, argument};
use super::evaluator::Evaluator;
use super::tables::Act;
use super::value::{self, HOLE, Value};
use toolgate_commands::is_shell;
use toolgate_shell_syntax::path::basename;

/// Text is given to a shell.
pub(super) fn shell(evaluator: &mut Evaluator, text: &str, at: &Range<usize>) {
    if text.starts_with(HOLE) {
        evaluator.incomplete();
    }
    evaluator.effect(ScriptEffectKind::Shell(value::shell(text)), at);
}

/// The tag of a template that is text for a shell; with options it gives the tag again.
pub(super) fn template(evaluator: &mut Evaluator, args: &Args) -> Value {
    if matches!(args.value(0), Some(Value::Map(_))) {
        return Value::name("execa.$");
    }
    shells(evaluator, args.values.first().cloned());
    Value::Unknown
}

pub(super) fn shells(evaluator: &mut Evaluator, arg: Option<Arg>) {
    let Some(arg) = arg else { return };
    for text in arg.value.texts() {
        shell(evaluator, &text, &arg.at);
    }
}

/// A program and its arguments.
pub(super) fn run(evaluator: &mut Evaluator, argv: Vec<Value>, at: &Range<usize>) {
    for words in lines(evaluator, argv) {
        evaluator.effect(run_of(&words), at);
    }
}

fn run_of(words: &[String]) -> ScriptEffectKind {
    ScriptEffectKind::Run(words.iter().map(|word| value::path(word)).collect())
}

/// The words of a program and its arguments, for each thing that a single one of them can be.
fn lines(evaluator: &mut Evaluator, argv: Vec<Value>) -> Vec<Vec<String>> {
    let argv: Vec<Value> =
        argv.into_iter().filter(|value| !matches!(value, Value::Function(_) | Value::Map(_))).collect();
    let mut flat = Vec::new();
    for value in argv {
        match value {
            Value::List(values) => flat.extend(values),
            value => flat.push(value),
        }
    }
    let choice = flat.iter().position(|value| matches!(value, Value::Choice(_)));
    let alternatives = match choice.and_then(|at| flat.get(at)) {
        Some(value) => value.texts(),
        None => vec![String::new()],
    };
    let with = |alternative: &String| -> Vec<String> {
        flat.iter()
            .enumerate()
            .map(|(index, value)| if Some(index) == choice { alternative.clone() } else { value.shape() })
            .collect()
    };
    let lines: Vec<Vec<String>> = alternatives.iter().map(with).collect();
    if lines.iter().any(|words| words.first().is_none_or(|program| program.contains(HOLE))) {
        evaluator.incomplete();
    }
    lines
}

/// In how many ways a call with a directory of its own is listed, by what that and the rest may be.
const MOST_WAYS: usize = 16;

/// The directories that it may be, or one that is not known if they would be too many together with so many others.
fn folders(folder: &Value, others: usize) -> Vec<String> {
    let all = folder.texts();
    if all.len() * others > MOST_WAYS { vec![folder.shape()] } else { all }
}

/// A program in a directory of its own.
fn run_in(evaluator: &mut Evaluator, folder: Option<Value>, argv: Vec<Value>, at: &Range<usize>) {
    let Some(folder) = folder.filter(|folder| !folder.is_false()) else { return run(evaluator, argv, at) };
    let lines = lines(evaluator, argv);
    for folder in folders(&folder, lines.len()) {
        for words in &lines {
            if words.iter().chain([&folder]).any(|text| text.contains(HOLE)) {
                evaluator
                    .effect(ScriptEffectKind::In { folder: value::path(&folder), what: Box::new(run_of(words)) }, at);
                continue;
            }
            let words: Vec<String> = words.iter().map(|word| value::quoted(word)).collect();
            let text = format!("cd {} && {}", value::quoted(&folder), words.join(" "));
            evaluator.effect(ScriptEffectKind::Shell(value::shell(&text)), at);
        }
    }
}

fn shell_in(evaluator: &mut Evaluator, folder: Option<Value>, arg: &Arg) {
    let folder = folder.filter(|folder| !folder.is_false());
    let texts = arg.value.texts();
    let folders = folder.as_ref().map(|folder| folders(folder, texts.len())).unwrap_or_default();
    for text in texts {
        if folder.is_none() {
            shell(evaluator, &text, &arg.at);
        }
        for folder in &folders {
            if text.starts_with(HOLE) {
                evaluator.incomplete();
            }
            let what = if folder.contains(HOLE) && !text.contains(HOLE) {
                ScriptEffectKind::In {
                    folder: value::path(folder),
                    what: Box::new(ScriptEffectKind::Shell(value::shell(&text))),
                }
            } else {
                ScriptEffectKind::Shell(value::shell(&format!("cd {} && {{ {text}\n}}", value::quoted(folder))))
            };
            evaluator.effect(what, &arg.at);
        }
    }
}

pub(super) fn subprocess(evaluator: &mut Evaluator, args: &Args) -> Value {
    let Some(command) = arg(args, 0) else {
        if !args.named.is_empty() {
            evaluator.incomplete();
        }
        return Value::Unknown;
    };
    let shell_option = args.named("shell");
    let through_shell = shell_option.is_some_and(|value| !value.is_false());
    let folder = args.named("cwd").cloned();
    if args.named("executable").is_some() || args.named("preexec_fn").is_some() || args.named("**").is_some() {
        evaluator.incomplete();
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
                shell_in(evaluator, folder.clone(), &Arg::new(first, command.at.clone()));
            }
            Some(argv) => run_in(evaluator, folder.clone(), argv, &command.at),
            None if through_shell => shell_in(evaluator, folder.clone(), &Arg::new(value, command.at.clone())),
            None => run_in(evaluator, folder.clone(), vec![value], &command.at),
        }
        // A shell that is given its commands.
        if is_shell(basename(&program))
            && let Some(input) = args.named("input")
        {
            for text in input.texts() {
                shell(evaluator, &text, &command.at);
            }
        }
    }
    Value::Unknown
}

pub(super) fn exec_all(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut argv: Vec<Value> =
        args.values.iter().map(|arg| arg.value.clone()).filter(|value| !matches!(value, Value::Map(_))).collect();
    if argv.len() > 1 {
        // The name that it is given comes after the program.
        argv.remove(1);
    }
    run(evaluator, argv, &args.at);
    Value::Unknown
}

pub(super) fn spawn_all(evaluator: &mut Evaluator, args: &Args) -> Value {
    exec_all(evaluator, &args.skip(1))
}

/// The options of a Node function: the last argument that is an object.
fn option(args: &Args, name: &str) -> Option<Value> {
    args.values.iter().rev().find_map(|arg| arg.value.get(name).cloned())
}

pub(super) fn node_exec(evaluator: &mut Evaluator, args: &Args) -> Value {
    if let Some(arg) = arg(args, 0) {
        shell_in(evaluator, option(args, "cwd"), &arg);
    }
    Value::Unknown
}

pub(super) fn node_spawn(evaluator: &mut Evaluator, args: &Args) -> Value {
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
        shell_in(evaluator, folder, &Arg::new(Value::Text(text), program.at));
    } else {
        run_in(evaluator, folder, argv, &program.at);
    }
    Value::Unknown
}

/// Deno's `new Deno.Command(program, { args: [..], cwd: folder })`.
pub(super) fn deno_command(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut argv = vec![argument(args, 0)];
    match args.value(1) {
        None => {}
        Some(Value::Map(_)) => argv.extend(option(args, "args")),
        Some(_) => argv.push(Value::Unknown),
    }
    run_in(evaluator, option(args, "cwd"), argv, &args.at);
    Value::Unknown
}

/// A program and its arguments in one list, or as `cmd` of the options.
pub(super) fn spawn_list(evaluator: &mut Evaluator, args: &Args) -> Value {
    let list = match args.value(0) {
        Some(list @ Value::List(_)) => list.clone(),
        _ => option(args, "cmd").unwrap_or(Value::Unknown),
    };
    run_in(evaluator, option(args, "cwd"), vec![list], &args.at);
    Value::Unknown
}

pub(super) fn node_fork(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut argv = vec![Value::text("node"), argument(args, 0)];
    if let Some(Value::List(values)) = args.value(1) {
        argv.extend(values.iter().cloned());
    }
    run(evaluator, argv, &args.at);
    Value::Unknown
}

pub(super) fn open3(evaluator: &mut Evaluator, args: &Args) -> Value {
    evaluator.perform(Act::ShellOrRun, &args.skip(3))
}

pub(super) fn open2(evaluator: &mut Evaluator, args: &Args) -> Value {
    evaluator.perform(Act::ShellOrRun, &args.skip(2))
}

pub(super) fn ruby_system(evaluator: &mut Evaluator, args: &Args) -> Value {
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
        (1, Some(Arg { value: Value::List(values), at, .. })) => run_in(evaluator, folder, values.clone(), at),
        (1, Some(arg)) => shell_in(evaluator, folder, arg),
        _ => run_in(evaluator, folder, args.values.iter().map(|arg| arg.value.clone()).collect(), &args.at),
    }
    Value::Unknown
}

pub(super) fn ruby_popen(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut args = args.clone();
    if matches!(args.value(0), Some(Value::Map(_))) {
        args = args.skip(1);
    }
    args.values.truncate(1);
    ruby_system(evaluator, &args)
}

pub(super) fn php_proc(evaluator: &mut Evaluator, args: &Args) -> Value {
    let folder = args.value(3).cloned();
    match arg(args, 0) {
        Some(Arg { value: Value::List(values), at, .. }) => run_in(evaluator, folder, values, &at),
        Some(arg) => shell_in(evaluator, folder, &arg),
        None => {}
    }
    Value::Unknown
}
