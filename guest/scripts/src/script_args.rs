//! What a script was given behind its name: `sys.argv` and its kin, and what Python's `argparse` makes of it.

use super::arguments::Args;
use super::evaluator::{Evaluator, Expected};
use super::value::Value;
use super::{Arguments, Language, Origin, Setting, Text};

/// The name of what `parse_args` gives.
pub(super) const NAMESPACE: &str = "argparse.Namespace";

/// So many places of the list of arguments are told apart at most.
const MOST_PLACES: usize = 12;

/// The script's arguments, as its language has them. At each place may be any of them, or something else: options of the
/// interpreter, and the script itself, move them about in more ways than can be followed.
pub(super) fn arguments(setting: &Setting, language: Language) -> Value {
    let Some(Arguments(all)) = setting.arguments.as_ref().filter(|arguments| !arguments.0.is_empty()) else {
        return Value::Unknown;
    };
    if let Some(exact) = of_text(setting, language) {
        return exact;
    }
    // Some languages have the names of the interpreter and of the script in front.
    Value::List(vec![any(all); (all.len() + 2).min(MOST_PLACES)])
}

/// The list of a text on a command line, if all that stands behind it is known: which is which is certain there, as long as
/// none of it is an option of the interpreter.
fn of_text(setting: &Setting, language: Language) -> Option<Value> {
    let all = told(setting)?;
    let before: &[&str] = match language {
        Language::Python => &["-c"],
        Language::Node => &["node"],
        Language::Php => &["Standard input code"],
        _ => &[],
    };
    Some(Value::List(before.iter().copied().map(Value::text).chain(all.iter().map(value)).collect()))
}

/// The arguments of such a text.
fn told(setting: &Setting) -> Option<&[Text]> {
    let Arguments(all) = setting.arguments.as_ref().filter(|_| setting.origin == Origin::Text)?;
    let plain = all.iter().all(|text| matches!(text, Text::Known(_))) && !all.first().is_some_and(is_flag);
    (plain && !all.is_empty()).then_some(all.as_slice())
}

/// Any of the arguments, or something else.
fn any(all: &[Text]) -> Value {
    Value::choice(all.iter().map(value).chain([Value::Unknown]).collect())
}

fn value(text: &Text) -> Value {
    match text {
        Text::Known(text) => Value::text(text),
        Text::Shape(_) => Value::Unknown,
    }
}

/// Perl's `shift` and `pop` outside functions.
pub(super) fn shift(setting: &Setting) -> Value {
    // Beyond the last there is nothing that could be run.
    if let Some(all) = told(setting) {
        return Value::choice(all.iter().map(value).collect());
    }
    setting.arguments.as_ref().map_or(Value::Unknown, |Arguments(all)| any(all))
}

/// Calls of Python's `argparse`, whatever the parser is: what nothing is known of may be one.
pub(super) fn parser(evaluator: &mut Evaluator, name: &str, args: &Args) -> Option<Value> {
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
            let default = args.named("default").cloned();
            evaluator.options.push(Expected { attribute, flags, several, path, default });
            // It is called on each argument, and what it gives is the attribute.
            if let (Some(called), Some(given)) = (args.named("type").cloned(), &evaluator.setting.arguments) {
                let any = any(&given.0);
                evaluator.call(called, Args::of(vec![any], args.at.clone()));
            }
            None
        }
        _ => None,
    }
}

/// `args.name`: the values that stand behind its flag, or for what stands by its place every argument that is none. It may
/// always be something else, such as a default.
pub(super) fn option(evaluator: &Evaluator, name: &str) -> Value {
    let Some(Arguments(all)) = &evaluator.setting.arguments else { return Value::Unknown };
    let expected: Vec<&Expected> = evaluator.options.iter().filter(|expected| expected.attribute == name).collect();
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
        found.extend(expected.default.clone());
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
