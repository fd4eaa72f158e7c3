//! A command as JSON, for the `analysis` hook and for predicates of other components.
//!
//! The shape is documented where the contract is, at `interface analysis` in `wit/v0.1/hooks.wit`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use toolgate_shell::{Command, Effect, EffectKind, Joiner, Runs, Value as Text, Why, Word};

use crate::branch::TRACKER as BRANCH;

/// How many bytes of variables are in one answer. Every command has all of them, so that a text with many of both would
/// have an answer that is much longer than itself, and a plugin that reads it no room for that; those of later commands
/// are left out.
const ENVIRONMENT: usize = 1 << 20;

/// What a variable counts for beside its name and value: its punctuation, and why it is unknown.
const VARIABLE: usize = 64;

/// A word as it was written, and what it stands for.
#[derive(Serialize)]
struct Spelled<'a> {
    text: Option<&'a str>,
    span: SpanJson,
    value: Option<&'a str>,
    why: Option<String>,
}

/// A command as JSON.
#[derive(Serialize)]
pub struct CommandJson<'a> {
    name: Option<&'a str>,
    args: Vec<Option<&'a str>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    assignments: BTreeMap<&'a str, Option<&'a str>>,
    cwd: Option<&'a str>,
    shell_cwd: Option<&'a str>,
    env: Option<BTreeMap<&'a str, Option<&'a str>>>,
    span: SpanJson,
    words: Vec<Spelled<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tracked: BTreeMap<&'a str, Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    joiner: Option<&'static str>,
    via: &'a [String],
    runs: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    elsewhere: bool,
    effects: Vec<Done<'a>>,
    unknown: Vec<Unknown>,
}

/// Which bytes of the text.
#[derive(Serialize)]
struct SpanJson {
    start: usize,
    end: usize,
}

/// An effect.
#[derive(Serialize)]
struct Done<'a> {
    kind: &'static str,
    path: Option<&'a str>,
    glob: Option<String>,
    certain: bool,
}

/// What is not known, and why.
#[derive(Serialize)]
struct Unknown {
    at: String,
    why: String,
}

/// One command, for whoever judges it. `trackers` are the names of all trackers of the walk.
pub fn command(command: &Command, source: &str, trackers: &[String]) -> Value {
    serde_json::to_value(Writer::new(source, trackers).command(command)).unwrap_or_default()
}

/// What commands of one text need to be written.
pub struct Writer<'a> {
    source: &'a str,
    trackers: &'a [String],
    left: usize,
}

impl<'a> Writer<'a> {
    /// For the commands of this source. `trackers` are the names of all trackers of the walk.
    #[must_use]
    pub fn new(source: &'a str, trackers: &'a [String]) -> Self {
        Writer { source, trackers, left: ENVIRONMENT }
    }

    /// A command without its variables.
    pub fn without_variables(&mut self, command: &'a Command) -> CommandJson<'a> {
        CommandJson { env: None, ..self.command(command) }
    }

    fn words(&self, command: &'a Command) -> Vec<Spelled<'a>> {
        let word = |word: &'a Word| Spelled {
            text: self.source.get(word.span.start..word.span.end),
            span: SpanJson { start: word.span.start, end: word.span.end },
            value: certain(word),
            why: doubt(word),
        };
        command.words.iter().map(word).collect()
    }

    /// The state that other components follow. The branch as the guard follows it has values of its own.
    fn tracked(&self, command: &'a Command) -> BTreeMap<&'a str, Option<&'a str>> {
        let values = command.tracked.iter().map(Option::as_deref);
        let all = self.trackers.iter().map(String::as_str).zip(values);
        all.filter(|(name, _)| *name != BRANCH).collect()
    }

    /// A command. Its variables are missing once the text has had too many.
    pub fn command(&mut self, command: &'a Command) -> CommandJson<'a> {
        let left = &mut self.left;
        let mut unknown = Vec::new();
        let mut note = |at: &str, why: &dyn std::fmt::Display| {
            unknown.push(Unknown { at: at.to_owned(), why: why.to_string() });
        };
        for (index, word) in command.words.iter().enumerate() {
            if let Some(why) = doubt(word) {
                let at = if index == 0 { "name".to_owned() } else { format!("args[{}]", index - 1) };
                note(&at, &why);
            }
        }
        if command.more_words {
            note("args", &"more arguments are added at run time");
        }
        if command.unseen_script {
            note("commands", &"it runs commands that are not visible in the text");
        }
        for (name, word) in &command.assignments {
            if let Some(why) = doubt(word) {
                note(&format!("assignments.{name}"), &why);
            }
        }
        for (at, folder) in [("cwd", &command.cwd), ("shell_cwd", &command.shell_cwd)] {
            if folder.is_none() {
                note(at, &Why::Directory);
            }
        }
        let mut env = BTreeMap::new();
        // Once too much, always too much: an environment that is there is whole.
        let whole = command.env.iter().all(|(name, value)| {
            let rest = left.checked_sub(VARIABLE + name.len() + value.map_or(0, str::len));
            *left = rest.unwrap_or_default();
            env.insert(name, value);
            rest.is_some()
        });
        let env = Some(env).filter(|_| whole);
        match &env {
            None => note("env", &Why::TooMuch),
            Some(env) => {
                for (name, _) in env.iter().filter(|(_, value)| value.is_none()) {
                    note(&format!("env.{name}"), &Why::Variable((*name).to_owned()));
                }
            }
        }
        let named = command.effects.iter().filter_map(|effect| Some((effect, kind(effect.kind)?)));
        let effects: Vec<Done<'_>> = named
            .enumerate()
            .map(|(index, (effect, kind))| {
                if let Text::Unknown { why, .. } = &effect.path {
                    note(&format!("effects[{index}].path"), why);
                }
                let (path, glob) = (effect.path.known(), glob(effect));
                Done { kind, path, glob, certain: effect.certain }
            })
            .collect();
        let mut words = command.words.iter().map(certain);
        CommandJson {
            words: self.words(command),
            tracked: self.tracked(command),
            name: words.next().flatten(),
            args: words.collect(),
            assignments: command.assignments.iter().map(|(name, word)| (name.as_str(), certain(word))).collect(),
            cwd: command.cwd.as_deref(),
            shell_cwd: command.shell_cwd.as_deref(),
            env,
            span: SpanJson { start: command.span.start, end: command.span.end },
            joiner: Some(command.joiner).filter(|joiner| *joiner != Joiner::First).map(|joiner| joiner.text().trim()),
            via: &command.via,
            runs: match command.runs {
                Runs::Certainly => "certainly",
                Runs::Possibly => "possibly",
                Runs::Never => "never",
            },
            elsewhere: command.elsewhere,
            effects,
            unknown,
        }
    }
}

/// The one text that a word is, if that is certain.
fn certain(word: &Word) -> Option<&str> {
    word.known().filter(|_| !word.several)
}

/// Why a word has no certain text.
fn doubt(word: &Word) -> Option<String> {
    match &word.value {
        Text::Unknown { why, .. } => Some(why.to_string()),
        Text::Pattern(_) => Some(Why::Glob.to_string()),
        Text::Known(_) => word.several.then(|| "it may expand to no words or to several".to_owned()),
    }
}

/// What is known of a path that is not known as a whole, with `*` for the rest.
fn glob(effect: &Effect) -> Option<String> {
    match &effect.path {
        Text::Known(_) => None,
        Text::Pattern(pattern) => Some(pattern.clone()),
        Text::Unknown { shape, .. } => {
            let empty = shape.chars().all(|c| matches!(c, Text::HOLE | '/'));
            (!empty).then(|| shape.replace(Text::HOLE, "*"))
        }
    }
}

/// None for what is no effect: an operand of a program of which nothing is known.
fn kind(kind: EffectKind) -> Option<&'static str> {
    match kind {
        EffectKind::Mention => None,
        EffectKind::Read => Some("read"),
        EffectKind::Write => Some("write"),
        EffectKind::Append => Some("append"),
        EffectKind::Create => Some("create"),
        EffectKind::Delete => Some("delete"),
        EffectKind::Move => Some("move"),
        EffectKind::Link => Some("link"),
        EffectKind::HardLink => Some("hard-link"),
        EffectKind::Mode => Some("mode"),
        EffectKind::Execute => Some("execute"),
        EffectKind::Send => Some("send"),
    }
}
