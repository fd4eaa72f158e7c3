//! Calls that touch files, where a row of the tables does not say it all.

use std::ops::Range;

use super::arguments::{self, Arg, Args, argument, each, every, pairs, paths, texts};
use super::evaluator::{Evaluator, each_text};
use super::processes::shell;
use super::pure::expand_home;
use super::tables::Act;
use super::value::{self, HOLE, Value};
use super::{Language, ScriptEffectKind, Text, documents};

/// Modes of `open` in Python, Node, Ruby and PHP.
pub(super) fn open(evaluator: &mut Evaluator, args: &Args) -> Value {
    let second = args.value(1).filter(|value| !matches!(value, Value::Function(_)));
    let mode = second.or_else(|| args.named("mode")).or_else(|| args.named("flags"));
    let (paths, at) = paths(args, 0);
    for path in paths {
        if let Text::Known(text) = &path
            && evaluator.language == Language::Php
            && text.contains("://")
        {
            web(evaluator, text, &at);
            continue;
        }
        match mode {
            None | Some(Value::Function(_) | Value::Map(_)) => evaluator.effect(ScriptEffectKind::Read(path), &at),
            Some(Value::Number(flags)) => {
                // O_RDONLY is 0.
                let what = if *flags == 0 || evaluator.language == Language::Ruby && *flags > 0o777 {
                    ScriptEffectKind::Read(path)
                } else {
                    ScriptEffectKind::Write(path)
                };
                evaluator.effect(what, &at);
            }
            Some(mode) => match mode.known() {
                Some(mode) => by_mode(evaluator, mode, path, &at),
                None => evaluator.effect(ScriptEffectKind::Write(path), &at),
            },
        }
    }
    // Ruby gives the open file to a block.
    let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
    if let Some(block) = block {
        evaluator.call(block.value, Args::of(vec![Value::Unknown], args.at.clone()));
    }
    let reads = mode.is_none_or(|mode| match mode {
        Value::Text(mode) => !mode.contains(['w', 'a', 'x', 'c', '+']),
        Value::Map(_) => true,
        _ => false,
    });
    if reads { evaluator.opened(&argument(args, 0)) } else { Value::Unknown }
}

/// `ConfigParser.read`: the files that are named, one or several.
pub(super) fn config_read(evaluator: &mut Evaluator, args: &Args) -> Value {
    each(evaluator, args, 0, ScriptEffectKind::Read);
    let named = match argument(args, 0) {
        Value::List(values) => values,
        value => vec![value],
    };
    for path in named {
        let content = evaluator.content(&path);
        for text in content.texts() {
            let document = if text.contains(HOLE) { Value::Unknown } else { documents::parsed(&text) };
            let is_known = matches!(document, Value::Map(_)) && matches!(content, Value::Text(_));
            if let (Some(known), Value::Map(more)) = (map_in(&mut evaluator.configuration), document) {
                more.into_iter().for_each(|(section, item)| value::put(known, &section, item));
            }
            if !is_known {
                let known = std::mem::replace(&mut evaluator.configuration, Value::Unknown);
                evaluator.configuration = known.or(Value::Unknown);
            }
        }
    }
    Value::Unknown
}

/// The map that a value is or may be.
fn map_in(value: &mut Value) -> Option<&mut Vec<(String, Value)>> {
    match value {
        Value::Map(entries) => Some(entries),
        Value::Choice(values) => values.iter_mut().find_map(map_in),
        _ => None,
    }
}

/// `ConfigParser.get(section, key)`
pub(super) fn config_get(evaluator: &mut Evaluator, args: &Args) -> Value {
    let section = evaluator.index(evaluator.configuration.clone(), &argument(args, 0));
    evaluator.index(section, &args.value(1).cloned().unwrap_or(Value::Unknown))
}

fn by_mode(evaluator: &mut Evaluator, mode: &str, path: Text, at: &Range<usize>) {
    if mode.contains('w') || mode.contains('c') {
        evaluator.effect(ScriptEffectKind::Write(path), at);
    } else if mode.contains('x') {
        evaluator.effect(ScriptEffectKind::Create { path, folder: false }, at);
    } else if mode.contains('a') {
        evaluator.effect(ScriptEffectKind::Append(path), at);
    } else if mode.contains('+') {
        evaluator.effect(ScriptEffectKind::Read(path.clone()), at);
        evaluator.effect(ScriptEffectKind::Write(path), at);
    } else {
        evaluator.effect(ScriptEffectKind::Read(path), at);
    }
}

pub(super) fn os_open(evaluator: &mut Evaluator, args: &Args) -> Value {
    match args.value(1) {
        Some(Value::Name(flag)) if flag == "os.O_RDONLY" => each(evaluator, args, 0, ScriptEffectKind::Read),
        Some(Value::Number(0)) => each(evaluator, args, 0, ScriptEffectKind::Read),
        _ => each(evaluator, args, 0, ScriptEffectKind::Write),
    }
}

pub(super) fn logging(evaluator: &mut Evaluator, args: &Args) -> Value {
    if let Some((_, arg)) = args.named.iter().find(|(key, _)| key == "filename") {
        logs_to(evaluator, arg, args.named("filemode"));
    }
    Value::Unknown
}

pub(super) fn log_file(evaluator: &mut Evaluator, args: &Args) -> Value {
    if let Some(arg) = arguments::arg(args, 0) {
        logs_to(evaluator, &arg, args.value(1).or_else(|| args.named("mode")));
    }
    Value::Unknown
}

/// A log is appended to unless its mode says otherwise.
fn logs_to(evaluator: &mut Evaluator, file: &Arg, mode: Option<&Value>) {
    let anew = mode.is_some_and(|mode| !mode.known().is_some_and(|mode| mode.starts_with('a')));
    for path in texts(&file.value) {
        evaluator.effect(if anew { ScriptEffectKind::Write(path) } else { ScriptEffectKind::Append(path) }, &file.at);
    }
}

/// `make_archive(base, format, root)`: the ending is put behind the base.
pub(super) fn make_archive(evaluator: &mut Evaluator, args: &Args) -> Value {
    evaluator.incomplete();
    for text in args.value(0).or_else(|| args.named("base_name")).map(Value::texts).unwrap_or_default() {
        evaluator.effect(ScriptEffectKind::Write(value::path(&format!("{text}.{HOLE}"))), &args.at);
    }
    for text in args.value(2).or_else(|| args.named("root_dir")).map(Value::texts).unwrap_or_default() {
        evaluator.effect(ScriptEffectKind::Read(value::path(&text)), &args.at);
    }
    Value::Unknown
}

pub(super) fn fileinput(evaluator: &mut Evaluator, args: &Args) -> Value {
    let inplace = args.value(1).or_else(|| args.named("inplace")).is_some_and(|value| !value.is_false());
    if inplace {
        each(evaluator, args, 0, ScriptEffectKind::Write)
    } else {
        each(evaluator, args, 0, ScriptEffectKind::Read);
        evaluator.opened(&argument(args, 0))
    }
}

pub(super) fn glob(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mut found = Vec::new();
    for value in args.values.iter().map(|arg| &arg.value).filter(|value| !matches!(value, Value::Function(_))) {
        let patterns = match value {
            Value::List(values) => values.iter().flat_map(Value::texts).collect(),
            value => value.texts(),
        };
        for pattern in patterns {
            // Perl's glob takes several, with blanks between.
            let perl = evaluator.language == Language::Perl;
            let several: Vec<&str> = if perl { pattern.split_whitespace().collect() } else { vec![pattern.as_str()] };
            several.iter().for_each(|pattern| searched(evaluator, pattern, &args.at));
            found.extend(several.into_iter().map(|pattern| Value::Text(expand_home(&value::glob(pattern), perl))));
        }
    }
    let block = args.values.iter().find(|arg| matches!(arg.value, Value::Function(_))).cloned();
    if let Some(block) = block {
        evaluator.call(block.value, Args::of(vec![Value::choice(found.clone())], args.at.clone()));
    }
    Value::List(found)
}

/// A search by a pattern reads names in the folder before its first wildcard. Where that is the script's own it says nothing.
pub(super) fn searched(evaluator: &mut Evaluator, pattern: &str, at: &Range<usize>) {
    let first = pattern.find(['*', '?', '[', value::HOLE]).unwrap_or(pattern.len());
    let folder = pattern[..first].rfind('/').map_or("", |end| &pattern[..end.max(1)]);
    let elsewhere = folder.starts_with(['/', '~', value::HOME]) || folder.starts_with("..");
    let moved = || evaluator.effects.iter().any(|effect| matches!(effect.what, ScriptEffectKind::Chdir(_)));
    if elsewhere || moved() {
        let folder = if folder.is_empty() { "." } else { folder };
        evaluator.effect(ScriptEffectKind::List(value::path(folder)), at);
    }
}

pub(super) fn walk(evaluator: &mut Evaluator, args: &Args) -> Value {
    each(evaluator, args, 0, ScriptEffectKind::List);
    let root = argument(args, 0).shape();
    let below = Value::Text(value::join(&[root, HOLE.to_string()], false));
    // The folder, its folders and its files.
    Value::List(vec![Value::List(vec![below.or(argument(args, 0)), Value::Unknown, Value::Unknown])])
}

/// `Find.find` of Ruby calls its block with each path that it finds.
pub(super) fn ruby_find(evaluator: &mut Evaluator, args: &Args) -> Value {
    let (blocks, roots): (Vec<&Arg>, _) = args.values.iter().partition(|arg| matches!(arg.value, Value::Function(_)));
    let found = walked(evaluator, &roots);
    if let Some(block) = blocks.first() {
        evaluator.call(block.value.clone(), Args::of(vec![found.clone()], args.at.clone()));
    }
    Value::List(vec![found])
}

/// `File::Find::find` of Perl calls a function, which has what is found in `$_` and in `$File::Find::name`.
pub(super) fn perl_find(evaluator: &mut Evaluator, args: &Args) -> Value {
    let Some((wanted, roots)) = args.values.split_first() else { return Value::Unknown };
    let found = walked(evaluator, &roots.iter().collect::<Vec<_>>());
    // A hash is a list of keys and values.
    let functions: Vec<Value> = match &wanted.value {
        Value::List(values) => values.iter().filter(|value| matches!(value, Value::Function(_))).cloned().collect(),
        Value::Map(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
        value => vec![value.clone()],
    };
    let names = ["$_", "$File::Find::name"];
    let saved = names.map(|name| (name, evaluator.variables.insert(name.to_owned(), found.clone())));
    for function in functions {
        evaluator.call(function, Args::of(Vec::new(), args.at.clone()));
    }
    for (name, value) in saved {
        evaluator.restore(name, value);
    }
    Value::Unknown
}

/// Folders are gone through, with all below them. The value is any path that is found.
fn walked(evaluator: &mut Evaluator, roots: &[&Arg]) -> Value {
    let mut found = Vec::new();
    for (text, at) in roots.iter().flat_map(|arg| arguments::shapes(&arg.value).into_iter().map(|text| (text, &arg.at)))
    {
        evaluator.effect(ScriptEffectKind::List(value::path(&text)), at);
        found.push(Value::Text(value::join(&[text, HOLE.to_string()], false)));
    }
    Value::choice(found)
}

/// What is in an archive comes to lie below a folder.
pub(super) fn unpacks(evaluator: &mut Evaluator, folder: Option<&Value>, at: &Range<usize>) {
    for text in folder.map(Value::texts).unwrap_or_default() {
        // What nothing is known of says nothing.
        if !text.starts_with(HOLE) {
            let below = value::join(&[text, HOLE.to_string()], false);
            evaluator.effect(ScriptEffectKind::Write(value::path(&below)), at);
        }
    }
}

pub(super) fn unpack_archive(evaluator: &mut Evaluator, args: &Args) -> Value {
    evaluator.incomplete();
    unpacks(evaluator, args.value(1).or_else(|| args.named("extract_dir")), &args.at);
    Value::Unknown
}

/// A link that takes the place of what is there.
pub(super) fn force_link(evaluator: &mut Evaluator, args: &Args) -> Value {
    evaluator.perform(Act::Link, args);
    each(evaluator, args, 1, ScriptEffectKind::Write)
}

pub(super) fn touch(evaluator: &mut Evaluator, args: &Args) -> Value {
    every(evaluator, args, 0, |path| ScriptEffectKind::Create { path, folder: false })
}

pub(super) fn retrieve(evaluator: &mut Evaluator, args: &Args) -> Value {
    for text in argument(args, 0).texts() {
        evaluator.effect(ScriptEffectKind::Send(value::path(&text)), &args.at);
    }
    match args.value(1).or_else(|| args.named("filename")) {
        Some(value) => {
            for path in texts(value) {
                evaluator.effect(ScriptEffectKind::Write(path), &args.at);
            }
        }
        None => return Value::Unknown,
    }
    Value::Unknown
}

pub(super) fn runs_file(evaluator: &mut Evaluator, args: &Args) -> Value {
    each(evaluator, args, 0, ScriptEffectKind::Load);
    each(evaluator, args, 0, ScriptEffectKind::Read);
    // Node gives what is in a file of JSON, which runs nothing.
    let path = argument(args, 0);
    let is_data = path.known().is_some_and(|path| path.ends_with(".json"));
    let content = if is_data { evaluator.content(&path) } else { Value::Unknown };
    if !matches!(content, Value::Text(_)) {
        evaluator.incomplete();
    }
    each_text(content, |text| documents::parsed(&text))
}

pub(super) fn node_write(evaluator: &mut Evaluator, args: &Args) -> Value {
    let options = args.values.iter().skip(1).find_map(|arg| arg.value.get("flag").or_else(|| arg.value.get("flags")));
    let append = options.and_then(Value::known).is_some_and(|flag| flag.starts_with('a'));
    if append {
        each(evaluator, args, 0, ScriptEffectKind::Append)
    } else {
        each(evaluator, args, 0, ScriptEffectKind::Write)
    }
}

pub(super) fn node_rm(evaluator: &mut Evaluator, args: &Args) -> Value {
    let options = args.value(1);
    let recursive = match options {
        None | Some(Value::Function(_)) => false,
        Some(Value::Map(_)) => {
            options.and_then(|options| options.get("recursive")).is_some_and(|value| !value.is_false())
        }
        // Options that are not known.
        Some(_) => true,
    };
    each(evaluator, args, 0, |path| ScriptEffectKind::Delete { path, recursive })
}

pub(super) fn shelljs_rm(evaluator: &mut Evaluator, args: &Args) -> Value {
    let flags = argument(args, 0).shape();
    let from = usize::from(flags.starts_with('-'));
    let recursive = from == 1 && flags.contains(['r', 'R']);
    every(evaluator, args, from, |path| ScriptEffectKind::Delete { path, recursive })
}

/// Without the options in front.
fn shelljs_paths(args: &Args) -> Args {
    args.skip(usize::from(argument(args, 0).shape().starts_with('-')))
}

pub(super) fn shelljs_copy(evaluator: &mut Evaluator, args: &Args) -> Value {
    pairs(evaluator, &shelljs_paths(args), |from, to| ScriptEffectKind::Copy { from, to })
}

pub(super) fn shelljs_move(evaluator: &mut Evaluator, args: &Args) -> Value {
    pairs(evaluator, &shelljs_paths(args), |from, to| ScriptEffectKind::Move { from, to })
}

/// `sed(options, what, by, file ..)` changes a file with `-i` only.
pub(super) fn shelljs_sed(evaluator: &mut Evaluator, args: &Args) -> Value {
    let paths = shelljs_paths(args);
    if argument(args, 0).shape().contains('i') && paths.values.len() < args.values.len() {
        return every(evaluator, &paths, 2, ScriptEffectKind::Write);
    }
    every(evaluator, &paths, 2, ScriptEffectKind::Read)
}

pub(super) fn node_temporary(evaluator: &mut Evaluator, args: &Args) -> Value {
    let path = format!("{}{HOLE}", argument(args, 0).shape());
    evaluator.effect(ScriptEffectKind::Create { path: value::path(&path), folder: true }, &args.at);
    Value::Text(path)
}

pub(super) fn python_temporary(evaluator: &mut Evaluator, args: &Args) -> Value {
    let part = |name: &str, at: usize| {
        let given = args.named(name).or(args.values.get(at).map(|arg| &arg.value));
        given.filter(|value| !value.is_false()).map(Value::shape)
    };
    let (suffix, prefix, folder) = (part("suffix", 0), part("prefix", 1), part("dir", 2));
    let folder = folder.unwrap_or_else(|| "/tmp".to_owned());
    let path = format!("{folder}/{}{HOLE}{}", prefix.unwrap_or_default(), suffix.unwrap_or_default());
    evaluator.effect(ScriptEffectKind::Create { path: value::path(&path), folder: true }, &args.at);
    Value::Text(path)
}

pub(super) fn perl_open(evaluator: &mut Evaluator, args: &Args) -> Value {
    let Some(mode) = args.values.get(1) else { return Value::Unknown };
    let at = mode.at.clone();
    for text in mode.value.texts() {
        let bare = text.trim();
        if args.values.len() == 2 {
            if let Some(command) = bare.strip_prefix('|') {
                shell(evaluator, command.trim(), &at);
            } else if let Some(command) = bare.strip_suffix('|') {
                shell(evaluator, command.trim(), &at);
            } else {
                let (mode, path) =
                    bare.split_at(bare.find(|char| !matches!(char, '<' | '>' | '+' | '&' | '=')).unwrap_or(bare.len()));
                if !mode.contains('&') && path.trim() != "-" && !path.is_empty() {
                    perl_mode(evaluator, mode, value::path(path.trim()), &at);
                    if text.starts_with(HOLE) {
                        // The unknown beginning may be a pipe.
                        evaluator.incomplete();
                    }
                }
            }
            continue;
        }
        if bare.starts_with("-|") || bare.starts_with("|-") {
            let command = args.skip(2);
            evaluator.perform(Act::ShellOrRun, &command);
            return Value::Unknown;
        }
        let mode = bare.split(':').next().unwrap_or_default().trim();
        if mode.contains('&') {
            continue;
        }
        let (paths, at) = paths(args, 2);
        for path in paths {
            perl_mode(evaluator, mode, path, &at);
        }
    }
    Value::Unknown
}

fn perl_mode(evaluator: &mut Evaluator, mode: &str, path: Text, at: &Range<usize>) {
    match mode {
        "" | "<" => evaluator.effect(ScriptEffectKind::Read(path), at),
        ">>" | "+>>" => evaluator.effect(ScriptEffectKind::Append(path), at),
        "+<" => {
            evaluator.effect(ScriptEffectKind::Read(path.clone()), at);
            evaluator.effect(ScriptEffectKind::Write(path), at);
        }
        _ => evaluator.effect(ScriptEffectKind::Write(path), at),
    }
}

pub(super) fn perl_sysopen(evaluator: &mut Evaluator, args: &Args) -> Value {
    match args.value(2) {
        Some(Value::Name(flag)) if flag == "O_RDONLY" => each(evaluator, args, 1, ScriptEffectKind::Read),
        Some(Value::Number(0)) => each(evaluator, args, 1, ScriptEffectKind::Read),
        _ => each(evaluator, args, 1, ScriptEffectKind::Write),
    }
}

pub(super) fn perl_file(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mode = argument(args, 1);
    match (args.values.len(), mode.known()) {
        (0, _) => Value::Unknown,
        (1, _) => {
            let mut two = args.clone();
            two.values.insert(0, Arg::new(Value::Unknown, args.at.clone()));
            perl_open(evaluator, &two)
        }
        (_, Some(mode)) if mode.starts_with(['<', '>', '+']) => each(evaluator, args, 0, |path| match mode {
            "<" => ScriptEffectKind::Read(path),
            ">>" => ScriptEffectKind::Append(path),
            _ => ScriptEffectKind::Write(path),
        }),
        _ => open(evaluator, args),
    }
}

/// `utime` of Perl and Ruby: two times, then the files.
pub(super) fn utime(evaluator: &mut Evaluator, args: &Args) -> Value {
    every(evaluator, args, 2, ScriptEffectKind::Write)
}

pub(super) fn ruby_open(evaluator: &mut Evaluator, args: &Args) -> Value {
    ruby_pipe(evaluator, args, open)
}

pub(super) fn ruby_io(evaluator: &mut Evaluator, args: &Args) -> Value {
    ruby_pipe(evaluator, args, |evaluator, args| each(evaluator, args, 0, ScriptEffectKind::Read))
}

/// What begins with `|` is a command.
fn ruby_pipe(evaluator: &mut Evaluator, args: &Args, otherwise: fn(&mut Evaluator, &Args) -> Value) -> Value {
    let Some(first) = args.values.first() else { return Value::Unknown };
    let first = first.clone();
    let mut rest = Vec::new();
    for text in first.value.texts() {
        if let Some(command) = text.strip_prefix('|') {
            shell(evaluator, command.trim(), &first.at);
        } else if is_url(&text) {
            evaluator.effect(ScriptEffectKind::Send(value::path(&text)), &first.at);
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
    otherwise(evaluator, &args)
}

pub(super) fn ruby_write(evaluator: &mut Evaluator, args: &Args) -> Value {
    let mode = args.named("mode").and_then(Value::known);
    if mode.is_some_and(|mode| mode.starts_with('a')) {
        each(evaluator, args, 0, ScriptEffectKind::Append)
    } else {
        each(evaluator, args, 0, ScriptEffectKind::Write)
    }
}

fn is_url(text: &str) -> bool {
    ["http://", "https://", "ftp://", "ftps://"].iter().any(|scheme| text.starts_with(scheme))
}

/// A PHP wrapper: `http://` and kin go over the network, `php://` and `data:` are no files.
fn web(evaluator: &mut Evaluator, text: &str, at: &Range<usize>) {
    if let Some(path) = text.strip_prefix("file://") {
        evaluator.effect(ScriptEffectKind::Write(value::finish(path.to_owned())), at);
    } else if is_url(text) || text.starts_with("ssh2.") || text.starts_with("tcp://") {
        evaluator.effect(ScriptEffectKind::Send(value::finish(text.to_owned())), at);
    } else if !text.starts_with("php://") && !text.starts_with("data:") {
        evaluator.incomplete();
    }
}

pub(super) fn php_read(evaluator: &mut Evaluator, args: &Args) -> Value {
    let (paths, at) = paths(args, 0);
    for path in paths {
        match &path {
            Text::Known(text) | Text::Shape(text) if text.contains("://") && !text.starts_with("file://") => {
                web(evaluator, text, &at);
            }
            _ => evaluator.effect(ScriptEffectKind::Read(path), &at),
        }
    }
    Value::Unknown
}

pub(super) fn php_write(evaluator: &mut Evaluator, args: &Args) -> Value {
    let append = args.value(2).or_else(|| args.named("flags")).is_some_and(|flags| match flags {
        Value::Name(name) => name == "file_append",
        Value::Number(flags) => flags & 8 != 0,
        _ => false,
    });
    if append {
        each(evaluator, args, 0, ScriptEffectKind::Append)
    } else {
        each(evaluator, args, 0, ScriptEffectKind::Write)
    }
}

pub(super) fn error_log(evaluator: &mut Evaluator, args: &Args) -> Value {
    if matches!(args.value(1), Some(Value::Number(3))) {
        each(evaluator, args, 2, ScriptEffectKind::Append)
    } else {
        Value::Unknown
    }
}
