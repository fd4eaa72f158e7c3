//! Calls that touch files, where a row of the tables does not say it all.

use std::ops::Range;

use super::arguments::{self, Arg, Args, argument, each, every, pairs, paths, texts};
use super::calls::perform;
use super::machine::Machine;
use super::processes::shell;
use super::pure::expand_home;
use super::tables::Act;
use super::value::{self, HOLE, Value};
use super::{Language, Text, What};

/// Modes of `open` in Python, Node, Ruby and PHP.
pub(super) fn open(machine: &mut Machine, args: &Args) -> Value {
    let second = args.value(1).filter(|value| !matches!(value, Value::Function(_)));
    let mode = second.or_else(|| args.named("mode")).or_else(|| args.named("flags"));
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
        logs_to(machine, arg, args.named("filemode"));
    }
    Value::Unknown
}

pub(super) fn log_file(machine: &mut Machine, args: &Args) -> Value {
    if let Some(arg) = arguments::arg(args, 0) {
        logs_to(machine, &arg, args.value(1).or_else(|| args.named("mode")));
    }
    Value::Unknown
}

/// A log is appended to unless its mode says otherwise.
fn logs_to(machine: &mut Machine, file: &Arg, mode: Option<&Value>) {
    let anew = mode.is_some_and(|mode| !mode.known().is_some_and(|mode| mode.starts_with('a')));
    for path in texts(&file.value) {
        machine.deed(if anew { What::Write(path) } else { What::Append(path) }, &file.at);
    }
}

/// `make_archive(base, format, root)`: the ending is put behind the base.
pub(super) fn make_archive(machine: &mut Machine, args: &Args) -> Value {
    machine.incomplete();
    for text in args.value(0).or_else(|| args.named("base_name")).map(Value::texts).unwrap_or_default() {
        machine.deed(What::Write(value::path(&format!("{text}.{HOLE}"))), &args.at);
    }
    for text in args.value(2).or_else(|| args.named("root_dir")).map(Value::texts).unwrap_or_default() {
        machine.deed(What::Read(value::path(&text)), &args.at);
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
            several.iter().for_each(|pattern| searched(machine, pattern, &args.at));
            found.extend(several.into_iter().map(|pattern| Value::Text(expand_home(&value::glob(pattern), perl))));
        }
    }
    let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
    if let Some(block) = block {
        machine.call(block.value, Args::of(vec![Value::choice(found.clone())], args.at.clone()));
    }
    Value::List(found)
}

/// A search by a pattern reads names in the folder before its first wildcard. Where that is the script's own it says nothing.
pub(super) fn searched(machine: &mut Machine, pattern: &str, at: &Range<usize>) {
    let first = pattern.find(['*', '?', '[', value::HOLE]).unwrap_or(pattern.len());
    let folder = pattern[..first].rfind('/').map_or("", |end| &pattern[..end.max(1)]);
    let elsewhere = folder.starts_with(['/', '~', value::HOME]) || folder.starts_with("..");
    let moved = || machine.deeds.iter().any(|deed| matches!(deed.what, What::Chdir(_)));
    if elsewhere || moved() {
        let folder = if folder.is_empty() { "." } else { folder };
        machine.deed(What::List(value::path(folder)), at);
    }
}

pub(super) fn walk(machine: &mut Machine, args: &Args) -> Value {
    each(machine, args, 0, What::List);
    let root = argument(args, 0).shape();
    let below = Value::Text(value::join(&[root, HOLE.to_string()], false));
    // The folder, its folders and its files.
    Value::List(vec![Value::List(vec![below.or(argument(args, 0)), Value::Unknown, Value::Unknown])])
}

/// `Find.find` of Ruby calls its block with each path that it finds.
pub(super) fn ruby_find(machine: &mut Machine, args: &Args) -> Value {
    let (blocks, roots): (Vec<&Arg>, _) = args.values.iter().partition(|arg| matches!(arg.value, Value::Function(_)));
    let found = walked(machine, &roots);
    if let Some(block) = blocks.first() {
        machine.call(block.value.clone(), Args::of(vec![found.clone()], args.at.clone()));
    }
    Value::List(vec![found])
}

/// `File::Find::find` of Perl calls a function, which has what is found in `$_` and in `$File::Find::name`.
pub(super) fn perl_find(machine: &mut Machine, args: &Args) -> Value {
    let Some((wanted, roots)) = args.values.split_first() else { return Value::Unknown };
    let found = walked(machine, &roots.iter().collect::<Vec<_>>());
    // A hash is a list of keys and values.
    let functions: Vec<Value> = match &wanted.value {
        Value::List(values) => values.iter().filter(|value| matches!(value, Value::Function(_))).cloned().collect(),
        Value::Map(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
        value => vec![value.clone()],
    };
    let names = ["$_", "$File::Find::name"];
    let saved = names.map(|name| (name, machine.variables.insert(name.to_owned(), found.clone())));
    for function in functions {
        machine.call(function, Args::of(Vec::new(), args.at.clone()));
    }
    for (name, value) in saved {
        machine.restore(name, value);
    }
    Value::Unknown
}

/// Folders are gone through, with all below them. The value is any path that is found.
fn walked(machine: &mut Machine, roots: &[&Arg]) -> Value {
    let mut found = Vec::new();
    for (text, at) in roots.iter().flat_map(|arg| arguments::shapes(&arg.value).into_iter().map(|text| (text, &arg.at)))
    {
        machine.deed(What::List(value::path(&text)), at);
        found.push(Value::Text(value::join(&[text, HOLE.to_string()], false)));
    }
    Value::choice(found)
}

/// What is in an archive comes to lie below a folder.
pub(super) fn unpacks(machine: &mut Machine, folder: Option<&Value>, at: &Range<usize>) {
    for text in folder.map(Value::texts).unwrap_or_default() {
        // What nothing is known of says nothing.
        if !text.starts_with(HOLE) {
            let below = value::join(&[text, HOLE.to_string()], false);
            machine.deed(What::Write(value::path(&below)), at);
        }
    }
}

pub(super) fn unpack_archive(machine: &mut Machine, args: &Args) -> Value {
    machine.incomplete();
    unpacks(machine, args.value(1).or_else(|| args.named("extract_dir")), &args.at);
    Value::Unknown
}

/// A link that takes the place of what is there.
pub(super) fn force_link(machine: &mut Machine, args: &Args) -> Value {
    perform(machine, Act::Link, args);
    each(machine, args, 1, What::Write)
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

/// Without the options in front.
fn shelljs_paths(args: &Args) -> Args {
    args.skip(usize::from(argument(args, 0).shape().starts_with('-')))
}

pub(super) fn shelljs_copy(machine: &mut Machine, args: &Args) -> Value {
    pairs(machine, &shelljs_paths(args), |from, to| What::Copy { from, to })
}

pub(super) fn shelljs_move(machine: &mut Machine, args: &Args) -> Value {
    pairs(machine, &shelljs_paths(args), |from, to| What::Move { from, to })
}

/// `sed(options, what, by, file ..)` changes a file with `-i` only.
pub(super) fn shelljs_sed(machine: &mut Machine, args: &Args) -> Value {
    let paths = shelljs_paths(args);
    if argument(args, 0).shape().contains('i') && paths.values.len() < args.values.len() {
        return every(machine, &paths, 2, What::Write);
    }
    every(machine, &paths, 2, What::Read)
}

pub(super) fn node_temporary(machine: &mut Machine, args: &Args) -> Value {
    let path = format!("{}{HOLE}", argument(args, 0).shape());
    machine.deed(What::Create { path: value::path(&path), folder: true }, &args.at);
    Value::Text(path)
}

pub(super) fn python_temporary(machine: &mut Machine, args: &Args) -> Value {
    let part = |name: &str, at: usize| {
        let given = args.named(name).or(args.values.get(at).map(|arg| &arg.value));
        given.filter(|value| !value.is_false()).map(Value::shape)
    };
    let (suffix, prefix, folder) = (part("suffix", 0), part("prefix", 1), part("dir", 2));
    let folder = folder.unwrap_or_else(|| "/tmp".to_owned());
    let path = format!("{folder}/{}{HOLE}{}", prefix.unwrap_or_default(), suffix.unwrap_or_default());
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

/// `utime` of Perl and Ruby: two times, then the files.
pub(super) fn utime(machine: &mut Machine, args: &Args) -> Value {
    every(machine, args, 2, What::Write)
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
