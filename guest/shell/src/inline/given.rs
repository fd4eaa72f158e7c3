//! What a script was given behind its name: `sys.argv` and its kin, and what Python's `argparse` makes of it.

use super::Language::{Node, Php, Python};
use super::arguments::Args;
use super::machine::Machine;
use super::value::{HOLE, Value};
use super::{Arguments, Language, Origin, Setting, Text};

/// The name of what `parse_args` gives.
pub(super) const NAMESPACE: &str = "argparse.Namespace";

/// One call of `add_argument`.
pub(super) struct Expected {
    /// The attribute that it becomes.
    attribute: String,
    /// `-o`, `--output`; none of what stands by its place.
    flags: Vec<String>,
    /// It may be several, as a list.
    several: bool,
    /// `type=Path`
    path: bool,
}

/// What may move the items of a list to other places, in any of the languages.
const CHANGES: &[&str] = &[
    ".pop",
    ".shift",
    ".unshift",
    ".insert",
    "argv.remove",
    "ARGV.delete",
    ".clear",
    ".reverse",
    ".sort",
    ".copyWithin",
    ".keep_if",
    ".slice!",
    ".select!",
    ".map!",
    "ARGV.replace",
    "del ",
    "splice",
    "parse!",
    "order!",
    "permute!",
    "Getopt",
    "array_shift",
    "array_pop",
];

/// The setting as this script has it: where it may change the list of its arguments, which is which cannot be told.
pub(super) fn settled(mut setting: Setting, script: &str) -> Setting {
    let set = |at: usize, name: &str| {
        let behind = script.get(at + name.len()..).unwrap_or_default().trim_start();
        let behind = match behind.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
            Some((_, behind)) => behind.trim_start(),
            None => behind,
        };
        let assigned = behind.trim_start_matches(['+', '*', '|', '&', '-', '.']);
        assigned.starts_with('=') && !assigned.starts_with("==") && !assigned.starts_with("=~")
            || behind.starts_with(',')
            || behind.starts_with(')') && behind.trim_start_matches([')', ' ']).starts_with('=')
    };
    let named = |name: &str| script.match_indices(name).any(|(at, _)| set(at, name));
    if let Some(arguments) = &mut setting.arguments
        && ["argv", "ARGV"].iter().any(|name| script.contains(name))
        && (CHANGES.iter().any(|change| script.contains(change)) || named("argv") || named("ARGV"))
    {
        arguments.counted = 0;
    }
    setting
}

/// The script's arguments, as its language has them.
pub(super) fn arguments(language: Language, setting: &Setting) -> Value {
    let Some(Arguments { all, counted }) = &setting.arguments else { return Value::Unknown };
    let own = match &setting.origin {
        Origin::File(path) => Value::text(path),
        // One argument, whatever it is.
        Origin::Text | Origin::Unknown => Value::Text(HOLE.to_string()),
    };
    let mut list = match language {
        Node if setting.origin == Origin::Text => vec![Value::text("node")],
        Node => vec![Value::text("node"), own],
        Python | Php => vec![own],
        _ => Vec::new(),
    };
    let values: Vec<Value> = all.iter().map(value).collect();
    let (one_each, open) = values.split_at((*counted).min(values.len()));
    list.extend_from_slice(one_each);
    let any = Value::choice(open.iter().cloned().chain([Value::Unknown]).collect());
    list.extend(open.iter().map(|_| any.clone()));
    Value::List(list)
}

fn value(text: &Text) -> Value {
    match text {
        Text::Known(text) => Value::text(text),
        Text::Shape(_) => Value::Unknown,
    }
}

/// Perl's `shift` and `shift @ARGV` outside functions. In a loop it is any of them.
pub(super) fn shift(machine: &mut Machine, name: &str) -> Value {
    let Value::List(mut values) = machine.lookup("@ARGV") else { return Value::Unknown };
    if values.is_empty() {
        return Value::Unknown;
    }
    if name == "pop" {
        values.reverse();
    }
    let any = Value::choice(values.clone());
    values.remove(0);
    if name == "pop" {
        values.reverse();
    }
    machine.variables.insert("@ARGV".to_owned(), Value::List(values));
    any
}

/// Calls of Python's `argparse`, whatever the parser is: what nothing is known of may be one.
pub(super) fn parser(machine: &mut Machine, name: &str, args: &Args) -> Option<Value> {
    match name {
        "parse_args" | "parse_intermixed_args" if args.values.is_empty() && args.named.is_empty() => {
            Some(Value::name(NAMESPACE))
        }
        "parse_known_args" if args.values.is_empty() && args.named.is_empty() => {
            Some(Value::List(vec![Value::name(NAMESPACE), Value::Unknown]))
        }
        "add_argument" => {
            let names: Vec<String> = args.values.iter().filter_map(|arg| Some(arg.value.known()?.to_owned())).collect();
            let flags: Vec<String> = names.iter().filter(|name| name.starts_with('-')).cloned().collect();
            let long = flags.iter().find(|flag| flag.starts_with("--")).or(flags.first());
            let own = long.unwrap_or(names.first()?).trim_start_matches('-').replace('-', "_");
            let attribute = args.named("dest").and_then(Value::known).map_or(own, str::to_owned);
            let action = args.named("action").and_then(Value::known);
            let several = args.named("nargs").is_some_and(|count| count.known() != Some("?"))
                || action.is_some_and(|action| matches!(action, "append" | "extend"));
            let path = matches!(args.named("type"), Some(Value::Name(name)) if name.ends_with("Path"));
            machine.options.push(Expected { attribute, flags, several, path });
            // It is called on each argument, and what it gives is the attribute.
            if let (Some(called), Some(given)) = (args.named("type").cloned(), &machine.setting.arguments) {
                let any = Value::choice(given.all.iter().map(value).chain([Value::Unknown]).collect());
                machine.call(called, Args::of(vec![any], args.at.clone()));
            }
            None
        }
        _ => None,
    }
}

/// `args.name`: the values that stand behind its flag, or for what stands by its place every argument that is none. It may
/// always be something else, such as a default.
pub(super) fn option(machine: &Machine, name: &str) -> Value {
    let Some(Arguments { all, .. }) = &machine.setting.arguments else { return Value::Unknown };
    let expected: Vec<&Expected> = machine.options.iter().filter(|expected| expected.attribute == name).collect();
    let mut found = Vec::new();
    if expected.is_empty() {
        // It was told where this cannot be seen.
        found.extend(behind(all, &[format!("--{}", name.replace('_', "-")), format!("--{name}")]));
    }
    for expected in &expected {
        if expected.flags.is_empty() {
            found.extend(all.iter().filter(|text| !is_flag(text)).map(value));
        } else {
            found.extend(behind(all, &expected.flags));
        }
    }
    if expected.iter().any(|expected| expected.path) {
        let path = |value: Value| if let Value::Text(text) = value { Value::Path(text) } else { value };
        found = found.into_iter().map(path).collect();
    }
    if expected.iter().any(|expected| expected.several) {
        return Value::List(found).or(Value::Unknown);
    }
    found.push(Value::Unknown);
    Value::choice(found)
}

fn is_flag(text: &Text) -> bool {
    matches!(text, Text::Known(text) if text.len() > 1 && text.starts_with('-'))
}

/// What stands behind one of these flags: in its own word, or in the next ones. A long flag may be shortened.
fn behind(all: &[Text], flags: &[String]) -> Vec<Value> {
    let mut found = Vec::new();
    for (at, text) in all.iter().enumerate() {
        let Text::Known(text) = text else { continue };
        let (word, own) = text.split_once('=').map_or((text.as_str(), None), |(word, value)| (word, Some(value)));
        let long = word.len() > 2 && flags.iter().any(|flag| flag.starts_with("--") && flag.starts_with(word));
        let short = flags.iter().find(|flag| !flag.starts_with("--") && word.starts_with(flag.as_str()));
        let rest = short.and_then(|flag| text.strip_prefix(flag.as_str())).map(|rest| rest.trim_start_matches('='));
        match (long, own, rest) {
            (true, Some(own), _) => found.push(Value::text(own)),
            (_, _, Some(rest)) if !rest.is_empty() => found.push(Value::text(rest)),
            (true, None, _) | (_, _, Some(_)) => {
                found.extend(all.iter().skip(at + 1).take_while(|text| !is_flag(text)).map(value));
            }
            _ => {}
        }
    }
    found
}
