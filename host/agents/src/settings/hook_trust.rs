//! Whether the user trusts our hooks, where an agent wants to know that of each. Only reading: Toolgate never trusts itself
//! in the user's name.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_host::Digest;

use super::file::File;
use super::hooks::{self, Entry};

/// A settings file as JSON, whatever its own format; none if there is none or it cannot be read.
pub fn read(path: &Path) -> Option<Value> {
    let file = File::read(path).ok()?;
    let text = file.text().ok()?;
    if path.extension().is_some_and(|extension| extension == "toml") {
        return serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok();
    }
    hooks::parse(text).ok()
}

/// The longest that Codex waits at the end of a session, in seconds.
const SESSION_END: u64 = 3;

/// Whether Codex's user has trusted hooks.
#[derive(Debug, PartialEq, Eq)]
pub enum Trust {
    /// As they are now.
    Given,
    /// Not those of these events.
    Missing(Vec<String>),
    /// Those of these events were trusted when they were something else.
    Outdated(Vec<String>),
    /// Those of these events are switched off one by one.
    Off(Vec<String>),
}

/// What Codex's settings say about these entries of a file.
pub fn codex(settings: Option<&Value>, file: &Path, entries: &[Entry]) -> Trust {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let state = settings.and_then(|settings| settings.pointer("/hooks/state"));
    let (mut missing, mut outdated, mut off) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        let event = snake(&entry.event);
        let key = |path: &Path| format!("{}:{event}:{}:{}", path.display(), entry.at.0, entry.at.1);
        let found = [key(file), key(&real)].iter().find_map(|key| state?.get(key));
        if found.is_some_and(|found| found["enabled"] == false) {
            off.push(entry.event.clone());
        }
        match found.and_then(|found| found["trusted_hash"].as_str()) {
            None => missing.push(entry.event.clone()),
            Some(hash) if hash != codex_hash(&event, entry) => outdated.push(entry.event.clone()),
            Some(_) => {}
        }
    }
    [(Trust::Missing as fn(_) -> _, missing), (Trust::Outdated, outdated), (Trust::Off, off)]
        .into_iter()
        .find(|(_, events)| !events.is_empty())
        .map_or(Trust::Given, |(trust, events)| trust(events))
}

/// Codex knows a hook again by a digest of what it does, as JSON with sorted keys. As Codex 0.169.0 makes it: its
/// `hooks/list` says the digests that the test has.
fn codex_hash(event: &str, entry: &Entry) -> String {
    let most = if event == "session_end" { SESSION_END } else { u64::MAX };
    let timeout = entry.handler["timeout"].as_u64().unwrap_or(600).clamp(1, most);
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
    if let Some(matcher) = entry.matcher().filter(|_| !["stop", "user_prompt_submit"].contains(&event)) {
        identity["matcher"] = matcher.into();
    }
    format!("sha256:{}", Digest::of(identity.to_string().as_bytes()).sha256)
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

#[cfg(test)]
mod tests {
    use super::super::table::{CODEX, HookMechanism};
    use super::*;

    /// What Codex 0.169.0 says of such entries for a program in /usr/local/bin, in a file /home/dev/.codex/hooks.json.
    const SAID: &[(&str, &str)] = &[
        ("pre_tool_use", "sha256:bf4b07bad1e295f045f7e82b6892d2057277925b04abb13d84a96cf791d04806"),
        ("permission_request", "sha256:504cf66d90b4b4ad1449a7cb1dbb8dfe53eab3c3d6362e05002f90252d5ca1ff"),
        ("post_tool_use", "sha256:3d35202d0ef313b4dd007f41fbf20fc44cf106b5124a52e75b20f142b7b3647b"),
        ("session_start", "sha256:f1e34a8eab06495b00e766f361934aabe6a11f6bbc2765a2558f6090773fe9a1"),
        ("session_end", "sha256:7db60f9f3832af3a423271a3fd7606608a2a15215c70bb71eb61de1a53651923"),
        ("stop", "sha256:0c054c7323985cb39373cc5881dde8065011df0f0b0be82a13f7007179c39629"),
    ];

    #[test]
    fn the_trust_of_codex_is_read_as_codex_writes_it() {
        let HookMechanism::Hooks(hooks) = &CODEX.way else { panic!("Codex has hooks") };
        let handler = json!({ "type": "command", "command": "/usr/local/bin/toolgate hook codex", "timeout": 10 });
        let mut events = json!({});
        for event in ["PreToolUse", "PermissionRequest", "PostToolUse"] {
            events[event] = json!([{ "matcher": "*", "hooks": [handler] }]);
        }
        for event in ["SessionStart", "SessionEnd", "Stop"] {
            events[event] = json!([{ "hooks": [handler] }]);
        }
        let names: Vec<String> = events.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let entries = hooks::entries(&CODEX, hooks, &json!({ "hooks": events }));
        let file = Path::new("/home/dev/.codex/hooks.json");
        let settings = |change: &dyn Fn(&str, &mut Value)| {
            let mut state = json!({});
            for (key, hash) in SAID {
                let mut entry = json!({ "trusted_hash": hash });
                change(key, &mut entry);
                state[format!("{}:{key}:0:0", file.display())] = entry;
            }
            json!({ "hooks": { "state": state } })
        };
        let all = settings(&|_, _| ());
        let other = settings(&|key, entry| {
            if key == "stop" {
                entry["trusted_hash"] = "sha256:0".into();
            }
        });
        let off = settings(&|key, entry| entry["enabled"] = (key != "stop").into());
        let cases = [
            (Some(&all), Trust::Given),
            (Some(&other), Trust::Outdated(vec!["Stop".to_owned()])),
            (Some(&off), Trust::Off(vec!["Stop".to_owned()])),
            (None, Trust::Missing(names)),
        ];
        for (settings, expected) in cases {
            assert_eq!(super::codex(settings, file, &entries), expected, "{settings:?}");
        }
    }
}
