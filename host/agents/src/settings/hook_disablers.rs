//! Settings that switch an agent's hooks off, wherever they stand: the agent's files, the administrator's, the environment.
//! Only reading; which there are is a table in `hook_failures`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::hook_trust;
use super::hooks::Entry;
use super::table::{AgentConfig, Scope, project};
use crate::dirs;

/// Where settings are looked for.
pub struct SettingsContext<'a> {
    /// The root of the file system. Only tests have another one: what an agent could set is no way to fool `doctor`.
    pub(crate) root: &'a Path,
    /// Where the agent is.
    pub cwd: PathBuf,
    /// The user's folder for the agent.
    pub(crate) user: Option<PathBuf>,
    pub(crate) project: Option<PathBuf>,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl SettingsContext<'_> {
    /// Here.
    pub fn of(known: &AgentConfig) -> Self {
        SettingsContext {
            root: Path::new("/"),
            cwd: dirs::folder(None).map(PathBuf::from).unwrap_or_default(),
            user: known.folder().ok(),
            project: project().ok(),
            variable: &|name| std::env::var(name).ok().filter(|value| !value.is_empty()),
        }
    }
}

/// A file, or several.
pub(crate) enum SettingsFile {
    /// Below the user's folder for the agent.
    User(&'static str),
    /// Below the project's root.
    Project(&'static str),
    /// Below the root of the file system; with a slash at its end, every JSON file in that folder.
    System(&'static str),
    /// The one that a variable names, else this.
    Named(&'static str, &'static SettingsFile),
    /// In the same folder as another one.
    Beside(&'static SettingsFile, &'static str),
    /// The one that our hooks are in.
    Own,
}

/// What a value has to be.
pub(crate) enum ValueTest {
    True,
    False,
    /// True, or a list with this in it.
    Lists(&'static str),
    /// A list with the name or the command of a handler of ours in it.
    Ours,
}

/// What switches hooks off.
pub(crate) enum HookDisabler {
    /// A value at this place in any of these files.
    Any(&'static [SettingsFile], &'static str, ValueTest),
    /// The same in the last of these files that has something there.
    Last(&'static [SettingsFile], &'static str, ValueTest),
    /// A variable that is neither empty nor a word for no.
    Variable(&'static str),
    /// The same, for a project's only.
    ForProjects(&'static str),
}

/// A value that ought to be in a file.
pub(crate) struct Wanted {
    pub(crate) file: SettingsFile,
    pub(crate) key: &'static str,
    pub(crate) by: ValueTest,
    /// What is so without it.
    pub(crate) or: &'static str,
    pub(crate) todo: &'static str,
}

/// Our hooks in a file.
pub struct OwnHooks<'a> {
    /// Whose configuration the file is of.
    pub scope: Scope,
    /// The file.
    pub file: &'a Path,
    /// The hooks in it.
    pub entries: &'a [Entry],
}

impl SettingsFile {
    fn paths(&self, place: &SettingsContext<'_>, own: Option<&Path>) -> Vec<PathBuf> {
        let below = |folder: &Option<PathBuf>, name: &str| folder.iter().map(|folder| folder.join(name)).collect();
        match self {
            SettingsFile::User(name) => below(&place.user, name),
            SettingsFile::Project(name) => below(&place.project, name),
            SettingsFile::System(name) if name.ends_with('/') => {
                let entries = std::fs::read_dir(place.root.join(name)).into_iter().flatten().flatten();
                let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
                paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
                paths.sort();
                paths
            }
            SettingsFile::System(name) => vec![place.root.join(name)],
            SettingsFile::Named(variable, usual) => match (place.variable)(variable) {
                Some(path) => vec![path.into()],
                None => usual.paths(place, own),
            },
            SettingsFile::Beside(other, name) => {
                other.paths(place, own).iter().map(|path| path.with_file_name(name)).collect()
            }
            SettingsFile::Own => own.into_iter().map(Path::to_path_buf).collect(),
        }
    }
}

impl ValueTest {
    pub(crate) fn holds(&self, value: &Value, ours: &[Entry]) -> bool {
        let mut listed = value.as_array().into_iter().flatten();
        match self {
            ValueTest::True => *value == true,
            ValueTest::False => *value == false,
            ValueTest::Lists(name) => *value == true || listed.any(|item| item == name),
            ValueTest::Ours => listed.any(|item| {
                ours.iter().any(|entry| ["name", "command"].iter().any(|key| entry.handler.get(key) == Some(item)))
            }),
        }
    }
}

/// What these files have at a place, with where it was found, in their order.
fn found(files: &[SettingsFile], key: &str, place: &SettingsContext<'_>, own: Option<&Path>) -> Vec<(PathBuf, Value)> {
    let paths = files.iter().flat_map(|file| file.paths(place, own));
    let value = |path: &PathBuf| hook_trust::read(path)?.pointer(key).cloned();
    paths.filter_map(|path| value(&path).map(|value| (path, value))).collect()
}

/// What the last of these files says that has something at this place.
pub(crate) fn last(files: &[SettingsFile], key: &str, place: &SettingsContext<'_>) -> Option<Value> {
    found(files, key, place, None).pop().map(|(_, value)| value)
}

/// Whether a variable is there that says yes.
pub(crate) fn says_yes(value: &str) -> bool {
    !["", "0", "false", "no", "off"].contains(&value.trim().to_ascii_lowercase().as_str())
}

impl HookDisabler {
    /// Why our hooks do not run.
    pub(super) fn why(&self, place: &SettingsContext<'_>, own: &OwnHooks<'_>) -> Option<String> {
        let file = Some(own.file);
        let said = |(path, _): (PathBuf, Value), key: &str| {
            let key = key.trim_start_matches('/').replace('/', ".");
            format!("{key} in {} switches Toolgate's hooks off", path.display())
        };
        match self {
            HookDisabler::Any(files, key, by) => {
                let mut all = found(files, key, place, file).into_iter();
                all.find(|(_, value)| by.holds(value, own.entries)).map(|one| said(one, key))
            }
            HookDisabler::Last(files, key, by) => {
                let last = found(files, key, place, file).pop();
                last.filter(|(_, value)| by.holds(value, own.entries)).map(|one| said(one, key))
            }
            HookDisabler::ForProjects(_) if own.scope == Scope::User => None,
            HookDisabler::Variable(name) | HookDisabler::ForProjects(name) => {
                let says = || format!("the variable {name} turns Toolgate's hooks off");
                (place.variable)(name).filter(|value| says_yes(value)).map(|_| says())
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use serde_json::json;

    use super::super::table::{AGENTS, HookMechanism};
    use super::super::{hook_failures, hooks};
    use super::*;

    /// Files and variables, with what they say.
    pub(in super::super) type Said<'a> = &'a [(&'a str, &'a str)];

    /// Looks at a place with these files, and with these variables, which have a dollar before their names. `@` is the
    /// root; the agent is in the folder `@/a/b/c` of the project `@/a/b`, and its user's folder is `@/user`.
    pub(in super::super) fn with<T>(said: Said<'_>, look: impl FnOnce(&SettingsContext<'_>) -> T) -> T {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        let whole = |text: &str| text.replace('@', &root.display().to_string());
        for (path, text) in said.iter().filter(|(path, _)| !path.starts_with('$')) {
            fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("a folder");
            fs::write(root.join(path), whole(text)).expect("written");
        }
        let variable = |name: &str| {
            let found = said.iter().find(|(path, _)| path.strip_prefix('$') == Some(name));
            found.map(|(_, value)| whole(value))
        };
        look(&SettingsContext {
            root: &root,
            cwd: root.join("a/b/c"),
            user: Some(root.join("user")),
            project: Some(root.join("a/b")),
            variable: &variable,
        })
    }

    #[test]
    fn whatever_switches_hooks_off_is_found() {
        const ON: &str = r#"{"hooksConfig": {"enabled": true}}"#;
        const OFF: &str = r#"{"hooksConfig": {"enabled": false}}"#;
        let handler = json!({ "name": "toolgate", "command": "/usr/local/bin/toolgate hook gemini" });
        let cases: &[(&str, Said<'_>, bool)] = &[
            ("claude", &[], false),
            ("claude", &[("user/settings.json", r#"{"disableAllHooks": true}"#)], true),
            ("claude", &[("user/settings.json", r#"{"disableAllHooks": "true"}"#)], false),
            ("claude", &[("a/b/.claude/settings.local.json", r#"{"disableAllHooks": true}"#)], true),
            ("claude", &[("etc/claude-code/managed-settings.json", r#"{"disableAllHooks": true}"#)], true),
            ("claude", &[("etc/claude-code/managed-settings.d/9.json", r#"{"allowManagedHooksOnly": true}"#)], true),
            ("claude", &[("etc/claude-code/managed-settings.d/9.txt", r#"{"allowManagedHooksOnly": true}"#)], false),
            ("claude", &[("user/settings.json", r#"{"allowManagedHooksOnly": true}"#)], false),
            (
                "claude",
                &[("etc/claude-code/managed-settings.json", r#"{"strictPluginOnlyCustomization": ["a", "hooks"]}"#)],
                true,
            ),
            (
                "claude",
                &[("etc/claude-code/managed-settings.json", r#"{"strictPluginOnlyCustomization": true}"#)],
                true,
            ),
            (
                "claude",
                &[("etc/claude-code/managed-settings.json", r#"{"strictPluginOnlyCustomization": ["a"]}"#)],
                false,
            ),
            ("claude", &[("$CLAUDE_CODE_SIMPLE", "1")], true),
            ("claude", &[("$CLAUDE_CODE_SAFE_MODE", "yes")], true),
            ("claude", &[("$CLAUDE_CODE_SAFE_MODE", "False")], false),
            ("codex", &[("user/config.toml", "[features]\nhooks = false\n")], true),
            ("codex", &[("user/config.toml", "[features]\nhooks = true\n")], false),
            ("codex", &[("a/b/.codex/config.toml", "[features]\ncodex_hooks = false\n")], true),
            ("codex", &[("etc/codex/config.toml", "[features]\nhooks = false\n")], true),
            ("codex", &[("etc/codex/requirements.toml", "allow_managed_hooks_only = true\n")], true),
            ("codex", &[("etc/codex/config.toml", "allow_managed_hooks_only = true\n")], false),
            ("gemini", &[("user/settings.json", OFF)], true),
            ("gemini", &[("user/settings.json", OFF), ("a/b/.gemini/settings.json", ON)], false),
            ("gemini", &[("user/settings.json", ON), ("etc/gemini-cli/settings.json", OFF)], true),
            ("gemini", &[("user/settings.json", ON), ("etc/gemini-cli/system-defaults.json", OFF)], false),
            ("gemini", &[("else/a.json", OFF), ("$GEMINI_CLI_SYSTEM_SETTINGS_PATH", "@/else/a.json")], true),
            (
                "gemini",
                &[("else/system-defaults.json", OFF), ("$GEMINI_CLI_SYSTEM_SETTINGS_PATH", "@/else/a.json")],
                true,
            ),
            ("gemini", &[("else/b.json", OFF), ("$GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "@/else/b.json")], true),
            ("gemini", &[("user/settings.json", r#"{"hooksConfig": {"disabled": ["toolgate"]}}"#)], true),
            ("gemini", &[("user/settings.json", r#"{"hooksConfig": {"disabled": ["not-toolgate"]}}"#)], false),
            (
                "gemini",
                &[("user/settings.json", r#"{"hooksConfig": {"disabled": ["/usr/local/bin/toolgate hook gemini"]}}"#)],
                true,
            ),
            ("copilot", &[("own.json", r#"{"disableAllHooks": true}"#)], true),
            ("copilot", &[("user/settings.json", r#"{"disableAllHooks": true}"#)], true),
            ("copilot", &[("a/b/.github/copilot/settings.local.json", r#"{"disableAllHooks": true}"#)], true),
            ("copilot", &[("a/b/.claude/settings.json", r#"{"disableAllHooks": true}"#)], true),
            ("droid", &[("user/hooks.json", r#"{"hooksDisabled": true}"#)], true),
            ("droid", &[("a/b/.factory/settings.json", r#"{"hooks": {"hooksDisabled": true}}"#)], true),
            ("droid", &[("user/settings.json", r#"{"hooksDisabled": true}"#)], false),
            ("droid", &[("etc/factory/settings.json", r#"{"allowManagedHooksOnly": true}"#)], true),
            ("opencode", &[("$OPENCODE_PURE", "1")], true),
            ("opencode", &[("$OPENCODE_DISABLE_PROJECT_CONFIG", "1")], true),
            ("pi", &[("user/settings.json", r#"{"extensions": ["-extensions/toolgate.ts"]}"#)], true),
            ("pi", &[("user/settings.json", r#"{"extensions": ["extensions/toolgate.ts"]}"#)], false),
        ];
        for (agent, said, expected) in cases {
            let known = AGENTS.iter().find(|known| known.name() == *agent).expect("an agent");
            let entries = match &known.way {
                HookMechanism::Hooks(hooks) if *agent == "gemini" => {
                    let event = json!([{ "hooks": [handler] }]);
                    hooks::entries(known, hooks, &json!({ "hooks": { "BeforeTool": event } }))
                }
                _ => Vec::new(),
            };
            let off = |scope| {
                with(said, |place| {
                    let file = place.root.join("own.json");
                    hook_failures::switched_off(known, place, &OwnHooks { scope, file: &file, entries: &entries })
                })
            };
            let shown = off(Scope::Project);
            assert_eq!(shown.is_some(), *expected, "{agent} {said:?}: {shown:?}");
            let only_projects = said.iter().any(|(name, _)| *name == "$OPENCODE_DISABLE_PROJECT_CONFIG");
            assert_eq!(off(Scope::User).is_some(), *expected && !only_projects, "{agent} {said:?}");
        }
    }
}
