//! What an agent's own settings allow: whether hooks are on, and whether the user trusts ours. Only reading: Toolgate
//! never trusts itself in the user's name.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::file::File;
use super::hooks::{self, Entry};
use super::table::{Known, Scope};

/// Why the agent runs none of our hooks, as its settings say so; `file` is the one that ours are in.
pub(crate) fn switched_off(known: &Known, file: &File) -> Option<String> {
    let own = Scope::ALL.into_iter().filter_map(|scope| known.file(scope).ok());
    let more = Scope::ALL.into_iter().flat_map(|scope| known.other_files(scope));
    let mut paths: Vec<_> = [file.path.clone()].into_iter().chain(own).chain(more).collect();
    paths.sort();
    paths.dedup();
    paths.iter().find_map(|path| {
        let settings = read(path)?;
        let (key, off) = match known.name {
            "claude" => ("disableAllHooks", settings["disableAllHooks"] == true),
            "codex" => ("features.hooks", settings["features"]["hooks"] == false),
            "gemini" if settings["hooksConfig"]["enabled"] == false => ("hooksConfig.enabled", true),
            "gemini" => {
                let names = settings["hooksConfig"]["disabled"].as_array().into_iter().flatten();
                let mut names = names.filter_map(Value::as_str);
                ("hooksConfig.disabled", names.any(|name| name.contains("toolgate")))
            }
            _ => return None,
        };
        off.then(|| format!("{key} in {} switches Toolgate's hooks off", path.display()))
    })
}

/// A settings file as JSON, whatever its own format; none if there is none or it cannot be read.
pub(crate) fn read(path: &Path) -> Option<Value> {
    let file = File::read(path).ok()?;
    let text = file.text().ok()?;
    if path.extension().is_some_and(|extension| extension == "toml") {
        return serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok();
    }
    hooks::parse(text).ok()
}

/// Whether Codex's user has trusted hooks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// As they are now.
    Given,
    /// Not those of these events.
    Missing(Vec<String>),
    /// Those of these events were trusted when they were something else.
    Outdated(Vec<String>),
}

/// What Codex's settings say about these entries of a file.
pub(crate) fn codex(settings: Option<&Value>, file: &Path, entries: &[Entry]) -> Trust {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let state = settings.and_then(|settings| settings.pointer("/hooks/state"));
    let (mut missing, mut outdated) = (Vec::new(), Vec::new());
    for entry in entries {
        let event = snake(&entry.event);
        let key = |path: &Path| format!("{}:{event}:{}:{}", path.display(), entry.at.0, entry.at.1);
        let found = [key(file), key(&real)].iter().find_map(|key| state?.get(key)?.get("trusted_hash")?.as_str());
        match found {
            None => missing.push(entry.event.clone()),
            Some(hash) if hash != codex_hash(&event, entry) => outdated.push(entry.event.clone()),
            Some(_) => {}
        }
    }
    match (missing.is_empty(), outdated.is_empty()) {
        (false, _) => Trust::Missing(missing),
        (true, false) => Trust::Outdated(outdated),
        (true, true) => Trust::Given,
    }
}

/// Codex knows a hook again by a digest of what it does, as JSON with sorted keys.
fn codex_hash(event: &str, entry: &Entry) -> String {
    let timeout = entry.handler["timeout"].as_u64().unwrap_or(600).max(1);
    let asynchronous = entry.handler["async"] == true;
    let mut handler = json!({ "async": asynchronous, "command": entry.handler["command"] });
    for key in ["commandWindows", "statusMessage"] {
        if let Some(value) = entry.handler.get(key) {
            handler[key] = value.clone();
        }
    }
    handler["timeout"] = timeout.into();
    handler["type"] = "command".into();
    let mut identity = json!({ "event_name": event, "hooks": [handler] });
    if let Some(matcher) = entry.matcher.as_ref().filter(|_| !["stop", "user_prompt_submit"].contains(&event)) {
        identity["matcher"] = matcher.as_str().into();
    }
    let digest = Sha256::digest(identity.to_string());
    digest.iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut text = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}
