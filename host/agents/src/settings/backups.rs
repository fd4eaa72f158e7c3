//! What an agent's file was before Toolgate was put in it, as the copies beside it tell, and what becomes of it when
//! Toolgate is taken out: what stands now without what was put in, compared with what stood then.

use serde_json::{Value, json};

use super::file::{File, Next, unreadable};
use super::hooks;
use super::table::{AgentConfig, Hooks};
use crate::Failure;

/// What stood there.
struct Before {
    /// Its text; none if that is not known, or there was no file.
    text: Option<String>,
    /// What it said; null if there was no file.
    value: Value,
}

impl Before {
    /// By the newest copy without Toolgate, as that is the one that was made when it was put in.
    fn of(copies: impl Iterator<Item = Option<String>>, known: &AgentConfig, hooks: &Hooks) -> Self {
        let (mut blank, mut with) = (None, None);
        for copy in copies {
            let Some(text) = copy else {
                with = None;
                break;
            };
            if text.trim().is_empty() {
                // It may be what a full disk has left of a copy, and says only that there was a file.
                blank = blank.or(Some(text));
                continue;
            }
            let Ok(value) = hooks::parse(&text) else { continue };
            if hooks::entries(known, hooks, &value).is_empty() {
                return Before { text: Some(text), value };
            }
            with = Some(text);
        }
        // The oldest one with Toolgate in it. What else it holds was not put in later.
        let beside = with.and_then(|text| hooks::beside(&text, known, hooks));
        match (beside, blank) {
            (Some(value), _) => Before { text: None, value },
            (None, Some(text)) => Before { text: Some(text), value: json!({}) },
            (None, None) => Before { text: None, value: Value::Null },
        }
    }
}

/// What is to become of a file with Toolgate's entries in it. `plugins` says whether plugins are installed.
///
/// # Errors
/// If it cannot be read.
pub fn undone(file: &File, known: &AgentConfig, hooks: &Hooks, plugins: bool) -> Result<Next, Failure> {
    let now = file.text()?;
    let before = Before::of(file.backups(), known, hooks);
    let next = hooks::uninstall(now, known, hooks, &before.value).map_err(|error| unreadable(file, &error))?;
    if next == now {
        return Ok(Next::Same);
    }
    if before.value.is_null() && hooks::is_bare(&next) {
        return Ok(Next::Gone { own: file.bytes() == now.as_bytes() && hooks::is_own(now, known, hooks, plugins) });
    }
    // Where only blanks are others than they were, they become those again.
    let again = before.text.filter(|text| hooks::same_but_blanks(text, &next));
    Ok(Next::Text(again.unwrap_or(next)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::table::{AGENTS, HookMechanism};
    use super::*;

    const PROGRAM: &str = "/usr/local/bin/toolgate";

    fn put_in(path: &Path, known: &AgentConfig, hooks: &Hooks, options: Option<&[String]>) {
        let file = File::read(path).expect("read");
        let next =
            hooks::install(file.text().expect("text"), known, hooks, PROGRAM, options, None, false).expect("JSON");
        if !file.exists() || next != file.text().expect("text") {
            file.write(&next).expect("written");
        }
    }

    fn take_out(path: &Path, known: &AgentConfig, hooks: &Hooks) {
        let file = File::read(path).expect("read");
        match undone(&file, known, hooks, false).expect("JSON") {
            Next::Same => {}
            Next::Text(text) => drop(file.write(&text).expect("written")),
            Next::Gone { own } => drop(file.remove(!own).expect("removed")),
        }
    }

    fn agents() -> impl Iterator<Item = (&'static AgentConfig, &'static Hooks)> {
        AGENTS.iter().filter_map(|known| match &known.way {
            HookMechanism::Hooks(hooks) => Some((*known, hooks)),
            HookMechanism::Shim(_) => None,
        })
    }

    /// What is there before each of some installations: after each of them it is there again.
    #[test]
    fn what_was_there_is_there_again_to_the_byte() {
        let cases: &[&[Option<&str>]] = &[
            &[None, None, None],
            &[Some(""), None, Some(""), Some("{}"), None],
            &[Some("{}\n"), Some(r#"{"theme": "x", "hooksConfig": {"enabled": true}}"#), None],
            &[Some("{}\n"), Some(r#"{"version": 1}"#), Some("{}\n"), None],
            &[Some(r#"{"hooksConfig":{"enabled":true}}"#), Some(r#"{"theme":"y"}"#), Some(r#"{"hooksConfig":{}}"#)],
            &[Some(r#"{"version":1}"#), Some(r#"{"theme":"y"}"#), None, Some(r#"{"version":1}"#)],
            &[Some(r#"{"model": "x", "hooks": {}}"#), Some(r#"{"hooks": {"PreToolUse": []}}"#)],
            &[Some(r#"{"hooks": {"preToolUse": [], "BeforeTool": []}, "hooksConfig": {}}"#)],
            &[Some(r#"{"PreToolUse": [], "Stop": []}"#), Some(r#"{"PreToolUse": []}"#)],
            &[Some(r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "own"}]}]}}"#)],
            &[Some(r#"{"hooks": {"preToolUse": [{"command": "own"}], "stop": []}}"#)],
            &[Some("{\n  // kept\n  \"a\": 1,\n}\n"), Some("{\"a\": 1}"), Some("{\n  // kept\n  \"a\": 1,\n}\n")],
        ];
        for (known, hooks) in agents() {
            for case in cases {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("settings.json");
                for text in *case {
                    match text {
                        Some(text) => fs::write(&path, text).expect("written"),
                        None => drop(fs::remove_file(&path)),
                    }
                    put_in(&path, known, hooks, None);
                    put_in(&path, known, hooks, Some(&["--packs=cloud".to_owned()]));
                    take_out(&path, known, hooks);
                    let found = fs::read_to_string(&path).ok();
                    assert_eq!(found.as_deref(), *text, "{} {case:?}", known.name());
                }
            }
        }
    }

    /// A file before, what the user makes of it afterwards, and what is left: only what was put in is gone.
    #[test]
    fn what_was_changed_meanwhile_stays() {
        let own = r#"[{"hooks": [{"type": "command", "command": "own"}]}]"#;
        let cases = [
            // A setting that was there, and one that was not, beside a new one.
            ("gemini", Some(r#"{"hooksConfig": {"enabled": true}}"#), "", r#"{"hooksConfig": {"enabled": true}}"#),
            ("gemini", Some("{}"), r#"{"theme": "x"}"#, r#"{"theme": "x"}"#),
            ("gemini", None, r#"{"theme": "x"}"#, r#"{"theme": "x"}"#),
            ("copilot", Some(r#"{"version": 1}"#), r#"{"a": 1}"#, r#"{"version": 1, "a": 1}"#),
            ("cursor", None, r#"{"a": 1}"#, r#"{"a": 1}"#),
            ("claude", Some(r#"{"hooks": {}}"#), r#"{"a": 1}"#, r#"{"hooks": {}, "a": 1}"#),
        ];
        let said = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let both = |one: Value, other: &Value| {
            let mut one = one;
            if let (Some(one), Some(other)) = (one.as_object_mut(), other.as_object()) {
                one.extend(other.clone());
            }
            one
        };
        for (agent, before, added, expected) in cases {
            let (known, hooks) = agents().find(|(known, _)| known.name() == agent).expect("an agent");
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("settings.json");
            if let Some(before) = before {
                fs::write(&path, before).expect("written");
            }
            put_in(&path, known, hooks, None);
            let now = said(&fs::read_to_string(&path).expect("read"));
            fs::write(&path, both(now, &said(added)).to_string()).expect("written");
            take_out(&path, known, hooks);
            assert_eq!(said(&fs::read_to_string(&path).expect("read")), said(expected), "{agent} {before:?} {added}");
        }
        // A hook that came meanwhile may need what was put in beside our entries.
        let (known, hooks) = agents().find(|(known, _)| known.name() == "gemini").expect("an agent");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        put_in(&path, known, hooks, None);
        let mut now = said(&fs::read_to_string(&path).expect("read"));
        now["hooks"]["BeforeAgent"] = said(own);
        fs::write(&path, now.to_string()).expect("written");
        take_out(&path, known, hooks);
        let left = said(&fs::read_to_string(&path).expect("read"));
        assert_eq!(left, json!({ "hooksConfig": { "enabled": true }, "hooks": { "BeforeAgent": said(own) } }));
    }

    #[test]
    fn what_a_full_disk_has_left_of_a_copy_is_none() {
        for copy in ["", "{\"hooksConf"] {
            let (known, hooks) = agents().find(|(known, _)| known.name() == "gemini").expect("an agent");
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("settings.json");
            let text = r#"{"hooksConfig": {"enabled": true}}"#;
            fs::write(&path, text).expect("written");
            fs::write(folder.path().join("settings.json.toolgate-backup"), copy).expect("written");
            put_in(&path, known, hooks, None);
            // Whatever their times say.
            let broken = fs::File::open(folder.path().join("settings.json.toolgate-backup")).expect("a copy");
            broken.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).expect("a time");
            take_out(&path, known, hooks);
            assert_eq!(fs::read_to_string(&path).expect("read"), text, "{copy:?}");
        }
    }

    #[test]
    fn of_what_is_written_again_no_copy_is_kept() {
        for (known, hooks) in agents() {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("settings.json");
            for options in [None, Some(["--packs=cloud".to_owned()].as_slice())] {
                put_in(&path, known, hooks, options);
                take_out(&path, known, hooks);
                assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "{} {options:?}", known.name());
            }
        }
    }
}
