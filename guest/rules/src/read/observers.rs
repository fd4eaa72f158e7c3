//! Observers in rule files.

use super::events::name;
use super::{patterns, read_what, unknown_key};
use crate::events::written;
use crate::fields;
use crate::observer::{Exit, Observer};
use crate::pattern::Pattern;
use crate::rule_id::Layer;
use crate::yaml::Node;

/// The keys of an observer.
pub const OBSERVER_KEYS: &[&str] = &["name", "writes", "watch"];

/// The keys of what it watches, beside those that say what a command is.
pub const WATCH_KEYS: &[&str] = &["tool", "pattern", "path", "cwd", "exit-code"];

/// Reads `{name: N, writes: [E], watch: {..}}`.
pub(super) fn read(layer: Layer, index: usize, item: Node) -> Result<Observer, String> {
    let mut found = Observer::new(layer);
    let mut watches = false;
    for (key, value) in item.map(&format!("observers[{index}]"))? {
        match key.as_str() {
            "name" => found.name = Some(value.value.text(&key)?),
            "writes" | "event" => {
                for one in value.value.list() {
                    found.writes.push(written(layer, name(&key, one)?));
                }
            }
            "watch" => {
                watch(&mut found, value.value)?;
                watches = true;
            }
            other => return Err(unknown_key("an observer", other, OBSERVER_KEYS)),
        }
    }
    if found.writes.is_empty() {
        return Err("the observer has no `writes`".to_owned());
    }
    if !watches {
        return Err("the observer has no `watch`".to_owned());
    }
    found.what.shrink();
    Ok(found)
}

fn watch(found: &mut Observer, value: Node) -> Result<(), String> {
    for (key, value) in value.map("watch")? {
        match key.as_str() {
            "tool" => found.tools = value.value.texts(&key)?,
            "pattern" => found.pattern = Some(Pattern::new(&value.value.text(&key)?)?),
            "path" => found.paths = patterns(value.value, &key)?,
            "cwd" => found.cwd = patterns(value.value, &key)?,
            "exit-code" | "exitCode" => found.exit = exit(&value.value.text(&key)?)?,
            _ if read_what(&mut found.what, &key, value)? => {}
            other => return Err(unknown_key("watch", other, WATCH_KEYS)),
        }
    }
    let shell = found.tools.iter().filter(|tool| fields::is_shell(tool)).count();
    if !found.what.is_empty() && (shell < found.tools.len() || !found.paths.is_empty()) {
        return Err("conditions on commands cannot be combined with file tools: use two observers".to_owned());
    }
    if !found.paths.is_empty() && shell > 0 {
        return Err("a shell command has no path; use effects to match what it does to paths".to_owned());
    }
    if found.what.is_empty() && found.pattern.is_none() && found.paths.is_empty() && shell == found.tools.len() {
        return Err("watch is empty: give a program, a pattern, a path or another tool".to_owned());
    }
    Ok(())
}

fn exit(text: &str) -> Result<Exit, String> {
    match text {
        "any" => Ok(Exit::Any),
        "success" | "0" => Ok(Exit::Success),
        "failure" => Ok(Exit::Failure),
        code => code
            .parse()
            .map(Exit::Code)
            .map_err(|_| format!("exit-code is success, failure, any or a number, not {code}")),
    }
}
