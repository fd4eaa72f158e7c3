//! Whether an agent trusts the folder that it is started in, as its own files say. Where it does not, it leaves out a
//! project's hooks without a word. Only reading: Toolgate trusts nothing in the user's name.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgate_host::private::read_regular;

use super::hook_disablers::{self, SettingsContext, SettingsFile};
use super::hook_trust::read;

pub(super) const GEMINI_SYSTEM: SettingsFile =
    SettingsFile::Named("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &SettingsFile::System("etc/gemini-cli/settings.json"));

pub(super) const GEMINI_DEFAULTS: SettingsFile = SettingsFile::Named(
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    &SettingsFile::Beside(&GEMINI_SYSTEM, "system-defaults.json"),
);

/// What counts before a folder is trusted, the last one most.
const GEMINI_OUTSIDE: &[SettingsFile] = &[GEMINI_DEFAULTS, SettingsFile::User("settings.json"), GEMINI_SYSTEM];

/// What an agent's files say about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// That it is trusted.
    Trusted,
    /// Nothing: it will ask, or take what is usual.
    Undecided,
    /// That it is not.
    Untrusted,
}

impl Folder {
    fn of(said: Option<bool>) -> Self {
        match said {
            Some(true) => Folder::Trusted,
            Some(false) => Folder::Untrusted,
            None => Folder::Undecided,
        }
    }
}

/// By the level of the first of these that has one: the folder, the project's root, the repository of a linked worktree.
pub(crate) fn codex(place: &SettingsContext<'_>) -> Folder {
    let settings = place.user.as_ref().and_then(|user| read(&user.join("config.toml"))).unwrap_or_default();
    let main = place.project.as_deref().and_then(main_root);
    let mut keys = [Some(&place.cwd), place.project.as_ref(), main.as_ref()].into_iter().flatten();
    let level = keys.find_map(|key| settings.get("projects")?.get(key.to_str()?)?.get("trust_level"));
    // Without a level it is as if it said no.
    Folder::of(Some(level.is_some_and(|level| level == "trusted")))
}

/// Largest `.git` file that is read, in bytes.
const GIT: u64 = 4_096;

/// The root of the repository that a linked worktree is of. A project may have made anything of its `.git`.
fn main_root(root: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(read_regular(&root.join(".git"), GIT).ok()?).ok()?;
    let own = root.join(text.strip_prefix("gitdir:")?.trim());
    // `MAIN/.git/worktrees/NAME`
    let worktrees = own.parent().filter(|folder| folder.ends_with(".git/worktrees"))?;
    Some(worktrees.parent()?.parent()?.to_path_buf())
}

/// By the environment, the switch for the whole of it, and the rule with the longest path.
pub(crate) fn gemini(place: &SettingsContext<'_>) -> Folder {
    let is = |name: &str, value: &str| (place.variable)(name).is_some_and(|said| said == value);
    if is("GEMINI_RESTRICTED_MODE", "true") || is("GEMINI_CLI_TRUST_WORKSPACE", "false") {
        return Folder::Untrusted;
    }
    let enabled = hook_disablers::last(GEMINI_OUTSIDE, "/security/folderTrust/enabled", place);
    if is("GEMINI_CLI_TRUST_WORKSPACE", "true") || enabled.is_some_and(|enabled| enabled == false) {
        return Folder::Trusted;
    }
    let named = (place.variable)("GEMINI_CLI_TRUSTED_FOLDERS_PATH").map(PathBuf::from);
    let file = named.or_else(|| Some(place.user.as_ref()?.join("trustedFolders.json")));
    let rules = file.and_then(|file| read(&file)).unwrap_or_default();
    let here = real(&place.cwd);
    let covers = |(path, level): &(&String, &Value)| {
        let path = Path::new(path.as_str());
        let path = if *level == "TRUST_PARENT" { path.parent().unwrap_or(path) } else { path };
        here.starts_with(real(path))
    };
    let rules = rules.as_object().into_iter().flatten().filter(covers);
    Folder::of(rules.max_by_key(|(path, _)| path.len()).map(|(_, level)| level != "DO_NOT_TRUST"))
}

/// By a list of folders, which count with all that is in them.
pub(crate) fn copilot(place: &SettingsContext<'_>) -> Folder {
    let settings = place.user.as_ref().and_then(|user| read(&user.join("config.json"))).unwrap_or_default();
    let here = real(&place.cwd);
    let lists = ["trustedFolders", "trusted_folders"].iter().filter_map(|key| settings.get(key)?.as_array()).flatten();
    let covers = |folder: &Value| folder.as_str().is_some_and(|folder| here.starts_with(real(Path::new(folder))));
    Folder::of(Some(lists.into_iter().any(covers)))
}

/// By what is said about the nearest folder, else by what is usual.
pub(crate) fn pi(place: &SettingsContext<'_>) -> Folder {
    let file = |name: &str| place.user.as_ref().and_then(|user| read(&user.join(name))).unwrap_or_default();
    let (rules, here) = (file("trust.json"), real(&place.cwd));
    let said = here.ancestors().find_map(|folder| rules.get(folder.to_str()?)?.as_bool());
    let usual = file("settings.json")["defaultProjectTrust"].as_str().and_then(|usual| match usual {
        "always" => Some(true),
        "never" => Some(false),
        _ => None,
    });
    Folder::of(said.or(usual))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::super::hook_disablers::tests::{Said, with};
    use super::super::hook_failures;
    use super::super::table::AGENTS;
    use super::Folder::{Trusted, Undecided, Untrusted};
    use super::*;

    /// Files and variables, and what follows for the folder `@/a/b/c` of the project `@/a/b`.
    #[test]
    fn a_folder_is_trusted_as_the_agents_files_say() {
        let cases: &[(&str, Said<'_>, Folder)] = &[
            ("codex", &[], Untrusted),
            ("codex", &[("user/config.toml", "[projects.\"@/a/b\"]\ntrust_level = \"trusted\"\n")], Trusted),
            ("codex", &[("user/config.toml", "[projects.\"@/a/b/c\"]\ntrust_level = \"trusted\"\n")], Trusted),
            ("codex", &[("user/config.toml", "[projects.\"@/a\"]\ntrust_level = \"trusted\"\n")], Untrusted),
            ("codex", &[("user/config.toml", "[projects.\"@/a/b\"]\ntrust_level = \"untrusted\"\n")], Untrusted),
            (
                "codex",
                &[(
                    "user/config.toml",
                    "[projects.\"@/a/b\"]\ntrust_level = \"trusted\"\n[projects.\"@/a/b/c\"]\ntrust_level = \"untrusted\"\n",
                )],
                Untrusted,
            ),
            (
                "codex",
                &[
                    ("a/b/.git", "gitdir: @/main/.git/worktrees/b\n"),
                    ("user/config.toml", "[projects.\"@/main\"]\ntrust_level = \"trusted\"\n"),
                ],
                Trusted,
            ),
            (
                "codex",
                &[
                    ("a/b/.git", "gitdir: @/main/.git/modules/b\n"),
                    ("user/config.toml", "[projects.\"@/main\"]\ntrust_level = \"trusted\"\n"),
                ],
                Untrusted,
            ),
            ("gemini", &[], Undecided),
            ("gemini", &[("$GEMINI_CLI_TRUST_WORKSPACE", "true")], Trusted),
            ("gemini", &[("$GEMINI_CLI_TRUST_WORKSPACE", "false")], Untrusted),
            ("gemini", &[("$GEMINI_CLI_TRUST_WORKSPACE", "true"), ("$GEMINI_RESTRICTED_MODE", "true")], Untrusted),
            ("gemini", &[("user/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#)], Trusted),
            (
                "gemini",
                &[
                    ("user/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#),
                    ("etc/gemini-cli/settings.json", r#"{"security": {"folderTrust": {"enabled": true}}}"#),
                ],
                Undecided,
            ),
            // What a project says of itself does not count.
            (
                "gemini",
                &[("a/b/.gemini/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#)],
                Undecided,
            ),
            ("gemini", &[("user/trustedFolders.json", r#"{"@/a": "TRUST_FOLDER"}"#)], Trusted),
            (
                "gemini",
                &[("user/trustedFolders.json", r#"{"@/a": "TRUST_FOLDER", "@/a/b": "DO_NOT_TRUST"}"#)],
                Untrusted,
            ),
            ("gemini", &[("user/trustedFolders.json", r#"{"@/a/x": "TRUST_PARENT"}"#)], Trusted),
            ("gemini", &[("user/trustedFolders.json", r#"{"@/a/x": "TRUST_FOLDER"}"#)], Undecided),
            (
                "gemini",
                &[("rules.json", r#"{"@/a": "TRUST_FOLDER"}"#), ("$GEMINI_CLI_TRUSTED_FOLDERS_PATH", "@/rules.json")],
                Trusted,
            ),
            ("copilot", &[], Untrusted),
            ("copilot", &[("user/config.json", r#"{"trustedFolders": ["@/x", "@/a/b"]}"#)], Trusted),
            ("copilot", &[("user/config.json", r#"{"trusted_folders": ["@/a"]}"#)], Trusted),
            ("copilot", &[("user/config.json", r#"{"trusted_folders": ["@/a/bc"]}"#)], Untrusted),
            ("pi", &[], Undecided),
            ("pi", &[("user/trust.json", r#"{"@/a": true}"#)], Trusted),
            ("pi", &[("user/trust.json", r#"{"@/a": true, "@/a/b": false}"#)], Untrusted),
            ("pi", &[("user/settings.json", r#"{"defaultProjectTrust": "always"}"#)], Trusted),
            ("pi", &[("user/settings.json", r#"{"defaultProjectTrust": "never"}"#)], Untrusted),
            ("pi", &[("user/settings.json", r#"{"defaultProjectTrust": "ask"}"#)], Undecided),
            (
                "pi",
                &[
                    ("user/settings.json", r#"{"defaultProjectTrust": "never"}"#),
                    ("user/trust.json", r#"{"@/a": true}"#),
                ],
                Trusted,
            ),
        ];
        for (agent, said, expected) in cases {
            let known = AGENTS.iter().find(|known| known.name() == *agent).expect("an agent");
            let depends = hook_failures::of(known).folder.as_ref().expect("its hooks depend on it");
            assert_eq!(with(said, depends.trusts), *expected, "{agent} {said:?}");
        }
    }

    /// What a project has for its `.git`, and the root of the repository that it is a worktree of.
    #[test]
    fn what_a_project_has_for_its_git_file_is_not_waited_for() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        type Make<'a> = &'a dyn Fn(&Path);
        let fifo = |at: &Path| mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let zero = |at: &Path| std::os::unix::fs::symlink("/dev/zero", at).expect("a link");
        let folder = |at: &Path| std::fs::create_dir(at).expect("a folder");
        let file = |at: &Path| std::fs::write(at, "gitdir: /main/.git/worktrees/x\n").expect("a file");
        let cases: [(Make<'_>, Option<&str>); 4] =
            [(&fifo, None), (&zero, None), (&folder, None), (&file, Some("/main"))];
        for (make, expected) in cases {
            let scratch = tempfile::tempdir().expect("a scratch folder");
            make(&scratch.path().join(".git"));
            assert_eq!(main_root(scratch.path()), expected.map(PathBuf::from));
        }
    }
}
