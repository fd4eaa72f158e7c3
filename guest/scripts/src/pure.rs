//! Calls that give a value and do nothing else.

use super::arguments::{Arg, Args, argument};
use super::evaluator::Evaluator;
use super::sequences::{self, decode, letters, reverse};
use super::value::{self, HOLE, Value};
use super::{Language, Origin, documents};

/// The name of what `configparser.ConfigParser()` gives.
pub(super) const CONFIG_PARSER: &str = "configparser.ConfigParser";

pub(super) fn expand_home(path: &str, really: bool) -> String {
    match path.strip_prefix('~') {
        Some(rest) if really && (rest.is_empty() || rest.starts_with('/')) => format!("{}{rest}", value::HOME),
        // Another user's.
        Some(rest) if really && rest.starts_with(|char: char| char.is_ascii_alphabetic()) => {
            match rest.strip_prefix("root") {
                Some(below) if below.is_empty() || below.starts_with('/') => format!("/root{below}"),
                _ => format!("/home/{rest}"),
            }
        }
        _ => path.to_owned(),
    }
}

pub(super) fn ruby_expand(args: &Args) -> Value {
    let path = expanduser(args);
    match args.value(1) {
        Some(folder) => Value::Text(value::join(&[folder.shape(), path.shape()], true)),
        None => path,
    }
}

pub(super) fn first(args: &Args) -> Value {
    argument(args, 0)
}

/// The argument if it is the only one: another one changes what is meant.
fn only(args: &Args) -> Value {
    if args.values.len() == 1 && args.named.is_empty() { argument(args, 0) } else { Value::Unknown }
}

/// Python's `list` and its kin: the keys of a dictionary, the letters of a text.
pub(super) fn listed(args: &Args) -> Value {
    match argument(args, 0) {
        value @ Value::Map(_) => Value::List(value.elements(Language::Python)),
        Value::Text(text) => letters(&text),
        value => value,
    }
}

/// Python's `sorted` and `set`: which item comes where is not known.
pub(super) fn some(args: &Args) -> Value {
    Value::some_of(listed(args).items())
}

/// JavaScript's `Array.from`; a function behind the list makes other items of it.
pub(super) fn array_from(args: &Args) -> Value {
    match only(args) {
        Value::Text(text) => letters(&text),
        value @ Value::List(_) => value,
        _ => Value::List(vec![Value::Unknown]),
    }
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
    if !args.values.is_empty() || args.named("**").is_some() {
        return match only(args) {
            value @ Value::Map(_) => value,
            _ => Value::Unknown,
        };
    }
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
                // A byte above that is a part of a character, a larger number is cut to a byte.
                Value::Number(code) => value::ascii(*code),
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

/// PHP's `trim` without a set of letters of its own.
pub(super) fn php_trim(args: &Args) -> Value {
    match only(args) {
        Value::Text(text) => {
            Value::text(text.trim_matches(|char: char| matches!(char, ' ' | '\t' | '\n' | '\r' | '\u{b}')))
        }
        _ => Value::Unknown,
    }
}

pub(super) fn ord(args: &Args) -> Value {
    argument(args, 0)
        .known()
        .and_then(|text| text.chars().next())
        .map_or(Value::Unknown, |char| Value::Number(i64::from(u32::from(char))))
}

pub(super) fn reversed(args: &Args) -> Value {
    reverse(&only(args))
}

pub(super) fn perl_reverse(args: &Args) -> Value {
    // One text is turned round in scalar context, and stays as it is where a list is wanted; several are a list.
    match args.values.as_slice() {
        [Arg { value: value @ Value::Text(_), .. }] => value.clone().or(reverse(value)),
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
    decoded(&given, |text| value::hex(&text.split_whitespace().collect::<String>()))
}

pub(super) fn codecs_decode(args: &Args) -> Value {
    decode(&argument(args, 0), argument(args, 1).known().unwrap_or("utf8"))
}

pub(super) fn rot13(args: &Args) -> Value {
    decode(&argument(args, 0), "rot13")
}

/// PHP's `urldecode`: a `+` is a blank.
pub(super) fn urldecode(args: &Args) -> Value {
    match argument(args, 0).known() {
        Some(text) => unpercent(&Args::of(vec![Value::Text(text.replace('+', " "))], args.at.clone())),
        None => Value::Unknown,
    }
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
            Some(encoding) => decode(value, encoding.known().unwrap_or("?")),
            None => value.clone(),
        },
        None => Value::Unknown,
    }
}

pub(super) fn str_join(args: &Args) -> Value {
    sequences::joined(&argument(args, 0).shape(), &argument(args, 1))
}

pub(super) fn perl_join(args: &Args) -> Value {
    let values = args.values.iter().skip(1).map(|arg| arg.value.clone()).collect();
    sequences::joined(&argument(args, 0).shape(), &Value::List(values))
}

pub(super) fn implode(args: &Args) -> Value {
    match argument(args, 0) {
        list @ Value::List(_) => sequences::joined(&args.value(1).map_or(String::new(), Value::shape), &list),
        separator => sequences::joined(&separator.shape(), &argument(args, 1)),
    }
}

pub(super) fn explode(args: &Args) -> Value {
    match (argument(args, 0).known(), argument(args, 1).known()) {
        (Some(separator), Some(text)) if !separator.is_empty() && args.values.len() == 2 => {
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

/// The paths that the arguments are together: one for each way in which those with several values go together.
fn joined(args: &Args, restart: bool) -> Value {
    let parts = args.values.iter().flat_map(|arg| match &arg.value {
        Value::List(values) => values.iter().map(|value| vec![value.shape()]).collect(),
        value => vec![value.texts()],
    });
    let mut all = vec![String::new()];
    for texts in parts {
        let pairs = value::each_with_each(&all, &texts);
        all = pairs.into_iter().map(|(one, two)| value::join(&[one, two], restart)).collect();
    }
    Value::choice(all.into_iter().map(Value::Text).collect())
}

/// Python's `enumerate`: the numbers are not counted.
pub(super) fn enumerated(args: &Args) -> Value {
    let list = listed(args);
    let counted = list.count().is_some();
    let items = list.elements(Language::Python).into_iter();
    let rows: Vec<Value> = items.map(|item| Value::List(vec![Value::Unknown, item])).collect();
    if counted { Value::List(rows) } else { Value::List(vec![Value::choice(rows).or(Value::Unknown)]) }
}

/// Python's `zip`: as many rows as the shortest list has items, and one of any items if it is not known how many.
pub(super) fn zipped(args: &Args) -> Value {
    let lists: Vec<Value> = args.values.iter().map(|arg| listed(&Args::of(vec![arg.value.clone()], 0..0))).collect();
    let counts: Option<Vec<usize>> = lists.iter().map(Value::count).collect();
    let columns: Vec<Vec<Value>> = lists.into_iter().map(|list| list.elements(Language::Python)).collect();
    match counts.and_then(|counts| counts.into_iter().min()) {
        Some(rows) => {
            let cell = |column: &Vec<Value>, row: usize| column.get(row).cloned().unwrap_or(Value::Unknown);
            let row = |row: usize| Value::List(columns.iter().map(|column| cell(column, row)).collect());
            Value::List((0..rows).map(row).collect())
        }
        None => {
            let row = Value::List(columns.into_iter().map(Value::choice).collect());
            Value::List(vec![row.or(Value::Unknown)])
        }
    }
}

/// Python's `next`: one of what there is, or what is given for the case that there is nothing.
pub(super) fn next_of(args: &Args) -> Value {
    let items = Value::choice(listed(args).elements(Language::Python));
    match args.value(1) {
        Some(otherwise) if otherwise.is_false() => items.or(Value::Unknown),
        Some(otherwise) => items.or(otherwise.clone()),
        None => items,
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

/// PHP and Ruby may be told how many levels up.
pub(super) fn dirname(args: &Args) -> Value {
    let levels = match (args.values.len(), args.value(1)) {
        (1, _) if args.named.is_empty() => 1,
        (2, Some(Value::Number(levels @ 1..=16))) => *levels,
        _ => return Value::Unknown,
    };
    let path = argument(args, 0);
    // A loop that goes up until it finds something: it is not known how far that is.
    let unsure = matches!(&path, Value::Choice(values) if values.iter().any(|one| matches!(one, Value::Unknown)));
    let above = |path: &String| {
        let above = (0..levels).fold(path.clone(), |path, _| value::dirname(&path));
        if unsure && above.ends_with("..") { HOLE.to_string() } else { above }
    };
    Value::choice(path.texts().iter().map(|path| Value::Text(above(path))).collect())
}

/// Python's `os.path.split`.
pub(super) fn path_split(args: &Args) -> Value {
    Value::List(vec![dirname(args), basename(args)])
}

/// What Node's `path.parse` tells of a path.
pub(super) fn path_parse(args: &Args) -> Value {
    Value::Map(vec![("dir".to_owned(), dirname(args)), ("base".to_owned(), basename(args))])
}

/// The path of the script itself, if its URL is asked for; others are not read.
pub(super) fn own_file(evaluator: &mut Evaluator, args: &Args) -> Value {
    match (args.value(0), &evaluator.setting.origin) {
        (Some(Value::Name(name)), Origin::File(path)) if name == "import.meta.url" => Value::text(path),
        _ => Value::Unknown,
    }
}

/// What Node's `os.userInfo` tells.
pub(super) fn user_info(_: &Args) -> Value {
    // As Node, Python and PHP call it.
    Value::Map(["homedir", "pw_dir", "dir"].map(|name| (name.to_owned(), Value::home())).to_vec())
}

/// Without an ending that is cut off, it is not known.
pub(super) fn basename(args: &Args) -> Value {
    Value::choice(only(args).texts().iter().map(|path| Value::Text(value::basename(path))).collect())
}

pub(super) fn here(_: &Args) -> Value {
    Value::text(".")
}

pub(super) fn home(_: &Args) -> Value {
    Value::home()
}

/// What a file of settings, or a text, holds.
pub(super) fn document(args: &Args) -> Value {
    fn parsed(held: Value) -> Value {
        match held {
            Value::File(text) => documents::parsed(&text),
            Value::Text(text) if !text.contains([HOLE, value::HOME]) => documents::parsed(&text),
            Value::Choice(values) => Value::choice(values.into_iter().map(parsed).collect()),
            _ => Value::Unknown,
        }
    }
    parsed(argument(args, 0))
}

pub(super) fn config_parser(_: &Args) -> Value {
    Value::name(CONFIG_PARSER)
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
