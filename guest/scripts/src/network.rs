//! Calls that go over the network.

use super::ScriptEffectKind;
use super::arguments::{Args, argument};
use super::evaluator::Evaluator;
use super::tables::Act;
use super::value::{self, Value};

pub(super) fn node_http(evaluator: &mut Evaluator, args: &Args) -> Value {
    let value = args.values.iter().find_map(|arg| match &arg.value {
        Value::Map(_) => ["url", "hostname", "host"].iter().find_map(|key| arg.value.get(key).cloned()),
        Value::Number(_) | Value::Function(_) => None,
        value => Some(value.clone()),
    });
    for text in value.unwrap_or(Value::Unknown).texts() {
        evaluator.effect(ScriptEffectKind::Send(value::path(&text)), &args.at);
    }
    Value::Unknown
}

pub(super) fn url(args: &Args) -> Value {
    let url = match args.value(1) {
        // What is absolute takes nothing of its base.
        Some(base) if base.known().is_none() => Value::Unknown,
        Some(base) => base.clone().plus(argument(args, 0)),
        None => argument(args, 0),
    };
    // One of a file names a path in ways of its own: encoded, below a base.
    if url.texts().iter().any(|text| text.trim_start().to_ascii_lowercase().starts_with("file:")) {
        Value::Unknown
    } else {
        url
    }
}

pub(super) fn perl_socket(evaluator: &mut Evaluator, args: &Args) -> Value {
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
        evaluator.effect(ScriptEffectKind::Send(value::path(&text)), &args.at);
    }
    Value::Unknown
}

pub(super) fn curl(evaluator: &mut Evaluator, args: &Args) -> Value {
    if args.values.is_empty() { Value::Unknown } else { evaluator.perform(Act::Send(0), args) }
}

pub(super) fn curl_option(evaluator: &mut Evaluator, args: &Args) -> Value {
    match args.value(1) {
        Some(Value::Name(option)) if option == "curlopt_url" => evaluator.perform(Act::Send(2), args),
        _ => Value::Unknown,
    }
}
