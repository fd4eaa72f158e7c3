//! How our entries stand in an agent's file: where, for which events, and in which form.

use serde_json::{Value, json};
use toolgate_agents::settings::file::File;
use toolgate_agents::settings::hook_failures::Level;
use toolgate_agents::settings::hooks::{self, Entry};
use toolgate_agents::settings::table::{AgentConfig, Fixed, Hooks, Scope};
use toolgate_agents::settings::{hook_failures, hook_trust, link, program};

use super::entry_file::EntryFile;
use super::report::Report;

/// Keys of a handler or its group that make it run seldom, late or beside the call.
const ODD: &[&str] = &["async", "asyncRewake", "commandRegex", "disabled", "enabled", "if", "once", "shell"];

/// What is said of a command that only a shell can read.
pub(super) const CUSTOM: &str = "a command of your own runs Toolgate among other things, and is not checked";

/// Handlers of ours that are where the agent does not look for them.
pub(super) fn misplaced(report: &mut Report, file: &File) {
    let Some(root) = hook_trust::read(&file.path) else { return };
    if anywhere(report.known, &root) > 0 {
        let says = format!(
            "{}: Toolgate's entries are in a place that {} does not read",
            file.path.display(),
            report.known.title()
        );
        let todo = format!("remove them, then toolgate install {}", report.known.name());
        report.add("nesting", Level::Fail, says, todo);
    }
    if custom(report.known, &root) > 0 {
        report.add(
            "form",
            Level::Warn,
            CUSTOM,
            format!("run toolgate install {} to write a valid one", report.known.name()),
        );
    }
}

/// How many handlers of ours are in a value, wherever.
pub(super) fn anywhere(known: &AgentConfig, value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(|item| anywhere(known, item)).sum(),
        Value::Object(fields) => fields.values().map(|field| anywhere(known, field)).sum(),
        _ => 0,
    };
    let ours = program::words(value).is_some_and(|words| program::of_hook(&words, known.name()).is_some());
    inner + usize::from(ours)
}

/// Handlers that run Toolgate among other things.
pub(super) fn custom(known: &AgentConfig, value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(|item| custom(known, item)).sum(),
        Value::Object(fields) => fields.values().map(|field| custom(known, field)).sum(),
        _ => 0,
    };
    inner + usize::from(program::words(value).is_none() && program::mentions(value, known.name()))
}

/// Whether the agent itself will read the file.
pub(super) fn readable(report: &mut Report, hooks: &Hooks, place: &EntryFile, root: &Value) {
    let mut wrong = Vec::new();
    if !hooks.comments && serde_json::from_slice::<Value>(place.file.bytes()).is_err() {
        wrong.push((
            Level::Warn,
            "it has comments, a trailing comma or a byte order mark, which the agent may not accept".to_owned(),
        ));
    }
    for key in root.as_object().into_iter().flat_map(|object| object.keys()) {
        if hooks.keys.is_some_and(|keys| !keys.contains(&key.as_str())) {
            wrong.push((Level::Fail, format!("the agent refuses the file for its key {key:?}")));
        }
    }
    if let Some((path, fixed @ Fixed::Number(_))) = hooks.fixed {
        let now = path.iter().try_fold(root, |at, key| at.get(key)).unwrap_or(&Value::Null);
        if *now != fixed.value() {
            wrong.push((Level::Fail, format!("its {} is {now} and must be {}", path.join("."), fixed.value())));
        }
    }
    report.all("readable", wrong, "plain and complete".to_owned(), "fix the file by hand");
}

pub(super) fn events(report: &mut Report, hooks: &Hooks, entries: &[Entry], install: &str) {
    let mut wrong = Vec::new();
    let plugins = !toolgate_gatekeeper::plugins::installed().is_empty();
    let more = entries.first().map(Entry::more).unwrap_or_default();
    for event in hooks.wanted(&more, plugins) {
        if entries.iter().all(|entry| entry.event != event.name) {
            let level = if event.must { Level::Fail } else { Level::Warn };
            wrong.push((level, format!("{} is missing", event.name)));
        }
    }
    for entry in entries {
        if hooks.wanted(&more, plugins).all(|event| event.name != entry.event) {
            wrong.push((Level::Warn, format!("{} is an event that Toolgate does not handle", entry.event)));
        }
    }
    let names: Vec<&str> = hooks.wanted(&more, plugins).map(|event| event.name).collect();
    report.all("events", wrong, names.join(", "), install);
}

/// Events of a second file do not count that the first one has, too.
pub(super) fn overridden(report: &mut Report, hooks: &Hooks, place: &EntryFile, entries: &[Entry], install: &str) {
    let first = report.known.file(place.scope).ok();
    let root = first.as_deref().and_then(hook_trust::read).unwrap_or_default();
    let both =
        entries.iter().filter(|entry| hooks::events(hooks, &root).is_some_and(|all| all.contains_key(&entry.event)));
    let both: Vec<&str> = both.map(|entry| entry.event.as_str()).collect();
    if let (Some(first), false) = (first, both.is_empty()) {
        let says = format!("{} overrides this file's value for {}", first.display(), both.join(", "));
        report.add("nesting", Level::Fail, says, install);
    }
}

/// What is wrong with an entry's form.
pub(super) fn form(known: &AgentConfig, hooks: &Hooks, entry: &Entry) -> Vec<(Level, String)> {
    let Some(event) = hooks.events.iter().find(|event| event.name == entry.event) else { return Vec::new() };
    let worst = if event.gates { Level::Fail } else { Level::Warn };
    let should = hooks::should_be(hooks, event, entry);
    let mut wrong = Vec::new();
    let mut say = |level, text: String| wrong.push((level, format!("{}: {text}", entry.event)));
    for (key, value) in should.as_object().into_iter().flatten() {
        let now = entry.handler.get(key).unwrap_or(&Value::Null);
        if key == hooks.timeout.0 {
            let limit = |seconds: u64| seconds * hooks.timeout.1;
            match now.as_u64() {
                Some(now) if now >= limit(event.timeout()) => {}
                Some(now) => {
                    say(worst, format!("{key} is {now}, so the call may run before the answer; set it to {value}"));
                }
                // Its own limit is longer.
                None => say(Level::Warn, format!("{key} is missing; set it to {value}")),
            }
        } else if now != value && !(["bash", "command"].contains(&key.as_str()) && same_words(now, value)) {
            say(worst, format!("{key} is {now} and should be {value}"));
        }
    }
    let odd = |key: &&&str| {
        let own = entry.handler.get(**key).is_some_and(|value| should.get(**key) != Some(value));
        own || entry.outer.get(**key).is_some_and(|value| should.get(**key) != Some(value))
    };
    for key in ODD.iter().filter(odd) {
        say(worst, format!("{key} may keep the hook from being called or awaited"));
    }
    if let Some(matcher) = entry.matcher().filter(|matcher| !hook_failures::of(known).matchers.contains(matcher)) {
        say(worst, format!("its matcher {matcher:?} excludes tools"));
    }
    wrong
}

/// What is said of entries that run the program itself: where nothing keeps a link from being made there.
pub(super) fn unlinked(known: &AgentConfig, scope: Scope, entries: &[Entry]) -> Option<(Level, String)> {
    let program = entries.iter().filter_map(|entry| entry.words.first());
    let program = program.into_iter().find(|program| !program::is_link(program, known.name()))?;
    let todo = match link::missing(known, scope, program) {
        None => String::new(),
        Some(link) => format!("; first, as the administrator: ln -s toolgate {link}"),
    };
    let says = "they pass arguments, which other agents that read this file may drop";
    Some((Level::Warn, format!("{says}{todo}")))
}

/// Whether two commands are the same but for their quotes.
fn same_words(one: &Value, other: &Value) -> bool {
    let words = |command: &Value| program::words(&json!({ "command": command }));
    words(one).is_some_and(|of_one| words(other) == Some(of_one))
}
