//! The program that agents are told to run: where it is, who could replace it, and which configured commands are it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde_json::Value;
use toolgate_host::private::read_regular;

use crate::text::quoted;
use crate::{Failure, dirs, exit};

/// What the program is called, whatever file it was started from.
pub(super) const NAME: &str = "toolgate";

/// How the name of a link to it begins by which an agent calls its hook; the agent's follows.
const LINK: &str = "toolgate-hook-";

/// Folders that are emptied by themselves.
const PASSING: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/run"];

/// Folders, one in the other, that package managers replace at the next update or empty when they like.
const REPLACED: &[(&[&str], &str)] = &[
    (&["_npx"], "npx empties its cache"),
    (&[".cache", "uv"], "uv empties its cache"),
    (&["Caches", "uv"], "uv empties its cache"),
    (&["Cellar"], "`brew upgrade` removes this version"),
    (&[".pnpm"], "pnpm removes this version at the next update"),
];

/// The file that marks a folder as one that may be deleted at any time. uv and pipx write it as well, into environments that
/// stay.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// How cargo signs that file.
const CARGO: &str = "created by cargo";

/// The absolute path of the running program.
///
/// # Errors
/// If it is not known, is gone or cannot be written into a configuration file.
pub fn running() -> Result<String, Failure> {
    let unusable = |why: &str| {
        let message = format!("this program's path cannot be used in a configuration: {why}");
        Failure::new(exit::SOFTWARE, message)
    };
    let path = dirs::program().map_err(|error| unusable(&error.to_string()))?;
    let path = unversioned(&path).unwrap_or(path);
    if !path.is_absolute() || !path.is_file() {
        return Err(unusable(&format!("{} no longer exists", path.display())));
    }
    let path = path.into_os_string().into_string().map_err(|_| unusable("it is not UTF-8 text"))?;
    if path.chars().any(char::is_control) {
        return Err(unusable("it has control characters"));
    }
    // By that name an entry is told from others later on.
    if Path::new(&path).file_name().is_none_or(|name| name != NAME) {
        let message = format!(
            "hooks run a program named {NAME}, but this is {path}; rename it, or install it as \
             /usr/local/bin/{NAME}"
        );
        return Err(Failure::new(exit::USAGE, message));
    }
    Ok(path)
}

/// The path of a program that Homebrew installed, which leads to whatever version is the current one; none for others.
fn unversioned(path: &Path) -> Option<PathBuf> {
    let parts: Vec<&OsStr> = path.iter().collect();
    let cellar = parts.iter().position(|part| *part == "Cellar")?;
    let (prefix, rest) = (parts.get(..cellar)?, parts.get(cellar + 3..)?);
    let stable: PathBuf =
        prefix.iter().copied().chain(["opt".as_ref(), *parts.get(cellar + 1)?]).chain(rest.iter().copied()).collect();
    (stable.canonicalize().ok()? == path.canonicalize().ok()?).then_some(stable)
}

/// How safe a program is where it lies.
pub enum Standing {
    /// Nobody but the administrator can replace it.
    Firm,
    /// Whoever runs the agent can replace it.
    Own,
    /// Why it may be gone or another one tomorrow.
    Loose(String),
}

/// Who could replace or remove a program.
pub fn standing(path: &Path) -> Standing {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    // What a settings file names may lie in any folder: nothing but a small file is read there.
    let is_cargos = |tag: &Path| {
        let text = read_regular(tag, 4_096).unwrap_or_default();
        text.windows(CARGO.len()).any(|part| part == CARGO.as_bytes())
    };
    if let Some(cache) = real.ancestors().skip(1).find(|folder| is_cargos(&folder.join(CACHE_TAG))) {
        return Standing::Loose(format!("`cargo clean` deletes it with {}", cache.display()));
    }
    let temporary = std::env::temp_dir();
    let mut passing = PASSING.iter().map(Path::new).chain([temporary.as_path()]);
    if let Some(folder) = passing.find(|folder| real.starts_with(folder)) {
        return Standing::Loose(format!("{} is temporary", folder.display()));
    }
    // An agent's link leads there from elsewhere.
    let leads_to = |stable: &Path| stable == path || fs::read_link(path).is_ok_and(|next| next == stable);
    let stays = unversioned(&real).is_some_and(|stable| leads_to(&stable));
    if let Some(why) = replaced(&real).filter(|_| !stays) {
        return Standing::Loose(why.to_owned());
    }
    for part in real.ancestors() {
        let Ok(about) = fs::metadata(part) else { continue };
        // In a sticky folder others cannot replace what is not theirs.
        if about.mode() & 0o002 != 0 && (part == real || about.mode() & 0o1000 == 0) {
            return Standing::Loose(format!("{} is writable by everyone", part.display()));
        }
    }
    let writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    // Whoever may change the folder of a link may have it lead elsewhere.
    let own = writable(&real) || [real.as_path(), path].iter().any(|path| path.parent().is_some_and(writable));
    if own && !rustix::process::geteuid().is_root() { Standing::Own } else { Standing::Firm }
}

/// Why a package manager may replace or remove a program.
pub(super) fn replaced(path: &Path) -> Option<&'static str> {
    let parts: Vec<&OsStr> = path.iter().collect();
    let is_in = |folders: &[&str]| parts.windows(folders.len()).any(|some| some == folders);
    REPLACED.iter().find(|(folders, _)| is_in(folders)).map(|(_, why)| *why)
}

/// Where the program should rather be.
pub fn advice(program: &str) -> String {
    format!("sudo install -m 755 {} /usr/local/bin/{NAME}, then /usr/local/bin/{NAME} install", quoted(program))
}

/// The words of a handler's command; none if it has none, or one that only a shell can read.
pub fn words(handler: &Value) -> Option<Vec<String>> {
    let text = |key: &str| handler.get(key).and_then(Value::as_str);
    let arguments = handler.get("args").and_then(Value::as_array);
    match (text("exec").or_else(|| text("command")), arguments) {
        (Some(program), Some(arguments)) => {
            let arguments = arguments.iter().map(|one| one.as_str().map(str::to_owned));
            [Some(program.to_owned())].into_iter().chain(arguments).collect()
        }
        (Some(command), None) => split(command),
        (None, _) => split(text("bash")?),
    }
}

/// What stands behind the agent in words that run Toolgate as its hook, by its link or as `toolgate hook AGENT`; none if they
/// run something else.
pub fn of_hook<'a>(words: &'a [String], agent: &str) -> Option<&'a [String]> {
    let [program, rest @ ..] = words else { return None };
    if is_link(program, agent) {
        return Some(rest);
    }
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    match rest {
        [hook, of, rest @ ..] if name == Some(NAME) && hook == "hook" && of == agent => Some(rest),
        _ => None,
    }
}

/// The agent whose hook a program is, by its name.
pub fn linked(program: &OsStr) -> Option<String> {
    let name = Path::new(program).file_name()?.to_str()?;
    name.strip_prefix(LINK).map(str::to_owned)
}

/// Whether a program is the link of this agent, by its name.
pub fn is_link(program: &str, agent: &str) -> bool {
    linked(program.as_ref()).as_deref() == Some(agent)
}

/// The name of an agent's link.
pub(super) fn link_of(agent: &str) -> String {
    format!("{LINK}{agent}")
}

/// Whether a configured program is this very file, wherever it is started.
pub fn is_this(program: &str) -> bool {
    if !Path::new(program).is_absolute() {
        return false;
    }
    let real = |path: &Path| path.canonicalize().ok();
    let this = dirs::program().ok().and_then(|path| real(&path));
    this.is_some() && real(Path::new(program)) == this
}

/// Whether a handler runs Toolgate for this agent in some way that only a shell can read.
pub fn mentions(handler: &Value, agent: &str) -> bool {
    let texts = ["command", "exec", "bash"].iter().filter_map(|key| handler.get(key)?.as_str());
    let names = [format!("{NAME} hook {agent}"), link_of(agent)];
    texts.into_iter().any(|text| names.iter().any(|name| text.contains(name)))
}

/// The words of a simple command, as a shell would take them; none if anything but quotes is in it.
fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => word.push(rest.next()?),
                        '$' | '`' => return None,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(rest.next()?),
            c if "\n;&|<>(){}$`*?[]~#!".contains(c) => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.take());
    Some(words)
}

/// The program of that name on the user's search path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let there = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(there)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_that_are_ours_are_told_from_others() {
        let cases = [
            (json!({"command": "/a/toolgate hook codex"}), true),
            (json!({"command": "'/a b/toolgate' hook codex --packs all"}), true),
            (json!({"command": "\"/a b/toolgate\" hook codex"}), true),
            (json!({"command": "/a\\ b/toolgate hook codex"}), true),
            (json!({"command": "/a/toolgate", "args": ["hook", "codex"]}), true),
            (json!({"exec": "/a/toolgate", "args": ["hook", "codex", "preToolUse"]}), true),
            (json!({"bash": "toolgate hook codex"}), true),
            (json!({"command": "/a/toolgate-hook-codex"}), true),
            (json!({"command": "'/a b/toolgate-hook-codex' PreToolUse --packs=all"}), true),
            (json!({"command": "/a/toolgate-hook-codex", "args": ["PreToolUse"]}), true),
            (json!({"bash": "/a/toolgate-hook-codex preToolUse", "timeoutSec": 10}), true),
            (json!({"command": "/a/toolgate-hook-claude PreToolUse"}), false),
            (json!({"command": "/a/toolgate-hook-codex || true"}), false),
            (json!({"command": "/a/toolgate-hook-codex/x"}), false),
            (json!({"command": "/a/toolgate hook claude"}), false),
            (json!({"command": "/a/toolgate check codex"}), false),
            (json!({"command": "/a/nottoolgate hook codex"}), false),
            (json!({"command": "log; /a/toolgate hook codex"}), false),
            (json!({"command": "/a/toolgate hook codex || true"}), false),
            (json!({"command": "/a/toolgate", "args": ["hook", 1]}), false),
            (json!({"command": "'/a/toolgate hook codex"}), false),
            (json!({"command": ""}), false),
            (json!({}), false),
        ];
        for (handler, expected) in cases {
            let ours = words(&handler).is_some_and(|words| of_hook(&words, "codex").is_some());
            assert_eq!(ours, expected, "{handler}");
        }
    }

    #[test]
    fn places_of_one_version_are_known() {
        let cases = [
            ("/home/dev/.npm/_npx/1f2e/node_modules/@toolgate/linux-x64/bin/toolgate", true),
            ("/home/dev/.cache/uv/archive-v0/x/bin/toolgate", true),
            ("/opt/homebrew/Cellar/toolgate/0.1.0/bin/toolgate", true),
            ("/p/node_modules/.pnpm/@toolgate+linux-x64@0.1.0/node_modules/@toolgate/linux-x64/bin/toolgate", true),
            ("/usr/lib/node_modules/toolgate/node_modules/@toolgate/linux-x64/bin/toolgate", false),
            ("/home/dev/.local/share/uv/tools/toolgate/bin/toolgate", false),
            ("/home/dev/uv/.cache/toolgate", false),
            ("/usr/local/bin/toolgate", false),
        ];
        for (path, expected) in cases {
            assert_eq!(replaced(Path::new(path)).is_some(), expected, "{path}");
        }
    }

    #[test]
    fn a_version_of_homebrew_has_a_path_that_stays() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = scratch.path().canonicalize().expect("its real path");
        for version in ["0.1.0", "0.2.0"] {
            let folder = root.join("Cellar/toolgate").join(version).join("bin");
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(NAME), "").expect("a program");
        }
        fs::create_dir(root.join("opt")).expect("a folder");
        std::os::unix::fs::symlink("../Cellar/toolgate/0.2.0", root.join("opt/toolgate")).expect("a link");
        let cases = [
            ("Cellar/toolgate/0.2.0/bin/toolgate", Some("opt/toolgate/bin/toolgate")),
            ("Cellar/toolgate/0.1.0/bin/toolgate", None),
            ("Cellar/toolgate", None),
            ("opt/toolgate/bin/toolgate", None),
        ];
        for (path, expected) in cases {
            assert_eq!(unversioned(&root.join(path)), expected.map(|path| root.join(path)), "{path}");
        }
    }

    #[test]
    fn a_name_says_whose_hook_it_is() {
        let cases = [
            ("/usr/local/bin/toolgate-hook-claude", Some("claude")),
            ("toolgate-hook-codex", Some("codex")),
            ("./x/toolgate-hook-", Some("")),
            ("toolgate", None),
            ("/toolgate-hook-claude/toolgate", None),
            ("", None),
        ];
        for (program, expected) in cases {
            assert_eq!(linked(OsStr::new(program)).as_deref(), expected, "{program}");
        }
    }

    #[test]
    fn what_is_quoted_is_read_as_one_word() {
        for word in ["plain", "/a b/c", "it's", "$HOME", "a\"b", "ü", ""] {
            assert_eq!(split(&quoted(word)), Some(vec![word.to_owned()]), "{word}");
        }
    }
}
