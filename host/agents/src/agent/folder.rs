//! Where the shell of a call is, and what it calls that.
//!
//! The directory that a call names is not always the one that the agent goes to: how it reads a name is the agent's own. And
//! one directory has several names where links lead to it. A shell goes by a name: its `..` takes the last part off. It keeps
//! the name that it inherits, which is what the agent was started by, if that leads to where it is, and otherwise
//! asks the system, which knows of no links. An agent tells one of them, so a call is judged by each.

use std::borrow::Cow;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_host::ToolCall;

use super::{Notes, OTHER_CWD, OTHER_CWDS, note, other_cwds};

/// What is known of a call: [`SessionContext::pwd`](super::Scene::pwd).
pub(super) const PWD: &str = "pwd";

/// The same: other names of its workspace.
const WORKSPACE_NAMES: &str = "workspace_names";

/// A call with the other names of its workspace said: that without links, and as it is on the way to its directory.
pub fn with_names(call: &ToolCall) -> Cow<'_, ToolCall> {
    let root = plain(Path::new(&call.workspace_root));
    let Ok(real) = root.canonicalize() else { return Cow::Borrowed(call) };
    let own = real.to_str().map(str::to_owned);
    let mut names: Vec<String> = own.into_iter().chain(on_the_way(&call.workspace_root, &call.cwd)).collect();
    names.retain(|name| Path::new(name) != root);
    names.dedup();
    // One that holds the home folder is told by the name of that, whatever leads there: it is none.
    let is_held = |home: &&String| Path::new(home).canonicalize().is_ok_and(|home| home.starts_with(&real));
    names.extend(call.home.iter().filter(is_held).cloned());
    if names.is_empty() {
        return Cow::Borrowed(call);
    }
    let mut named = call.clone();
    note(&mut named, WORKSPACE_NAMES, json!(names));
    Cow::Owned(named)
}

/// Whether a name leads through links.
pub(super) fn has_links(folder: &str) -> bool {
    let path = Path::new(folder);
    path.is_absolute() && path.canonicalize().is_ok_and(|real| real != path)
}

/// Says of a call that its shell may be in any folder, if its input names none: it lives on, and is where an earlier call has
/// gone to.
pub(super) fn anywhere(call: &mut ToolCall) {
    if other_cwds(call).is_empty() {
        note(call, OTHER_CWDS, json!([""]));
    }
}

/// A call as it is in each other directory that it may work in, and by each other name of one; an empty one is not known. The
/// workspace is called then as it is on the way there.
pub fn elsewhere(call: &ToolCall) -> Vec<ToolCall> {
    let notes = Notes::of(call);
    let pwd = notes.get(PWD).and_then(Value::as_str);
    let named = notes.get(OTHER_CWD).and_then(Value::as_str);
    let called: Vec<String> =
        notes.get(WORKSPACE_NAMES).and_then(|names| Vec::deserialize(names).ok()).unwrap_or_default();
    let is_there = Path::new(&call.cwd).is_dir();
    // No shell starts in a folder that is not there: then the input meant it otherwise. But what is known of another machine
    // is nothing.
    let may_be = |folder: &String| {
        let path = Path::new(folder);
        folder.is_empty() || named == Some(folder.as_str()) || !is_there || path.is_dir() || plain(path).is_dir()
    };
    let others: Vec<String> = notes.other_cwds().into_iter().filter(may_be).collect();
    let mut known = vec![plain(Path::new(&call.cwd))];
    let mut found = Vec::new();
    let each_name = |folder: &String| [folder.clone()].into_iter().chain(names(folder, pwd)).collect::<Vec<_>>();
    let own = if goes_by_it(call) { names(&call.cwd, pwd) } else { Vec::new() };
    for folder in own.into_iter().chain(others.iter().flat_map(each_name)) {
        let path = plain(Path::new(&folder));
        if known.contains(&path) {
            continue;
        }
        known.push(path);
        let mut there = call.clone();
        there.cwd = folder;
        if let Some(root) = on_the_way(&call.workspace_root, &there.cwd) {
            let others = called.iter().chain([&call.workspace_root]).filter(|name| **name != root);
            let mut notes = notes.clone();
            notes.set(WORKSPACE_NAMES, Some(json!(others.collect::<Vec<_>>())));
            notes.write_to(&mut there);
            there.workspace_root = root;
        }
        found.push(there);
    }
    found
}

/// Whether anything of a call depends on where it is.
fn goes_by_it(call: &ToolCall) -> bool {
    let mut fields = call.paths.iter().chain(&call.globs);
    call.command.is_some() || call.paths.is_empty() || fields.any(|field| !field.value.starts_with('/'))
}

/// The other names of a directory: without links, where `..` may have been resolved by the text before or not, and that of
/// `PWD` if it is the same directory.
fn names(folder: &str, pwd: Option<&str>) -> Vec<String> {
    let plain_folder = plain(Path::new(folder));
    let both = [Path::new(folder), plain_folder.as_path()];
    let mut found: Vec<PathBuf> = both.iter().filter_map(|path| path.canonicalize().ok()).collect();
    if let Some(pwd) = pwd.map(Path::new)
        && found.iter().any(|one| is_same(one, pwd))
    {
        found.push(plain(pwd));
    }
    found.dedup();
    found.retain(|one| *one != plain_folder);
    found.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect()
}

/// The name of a folder that is the directory, or one above it, as it is on the way there; nothing if that is its own.
fn on_the_way(folder: &str, cwd: &str) -> Option<String> {
    let cwd = plain(Path::new(cwd));
    if cwd.starts_with(folder) {
        return None;
    }
    let name = cwd.ancestors().find(|above| is_same(above, Path::new(folder)))?;
    name.to_str().map(str::to_owned)
}

/// Whether two names are of one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let which = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    which(one).is_some_and(|found| which(other) == Some(found))
}

/// A directory as a call names it, without `.` and `..`.
pub(super) fn plain_text(folder: &str) -> String {
    plain(Path::new(folder)).into_os_string().into_string().unwrap_or_else(|_| folder.to_owned())
}

/// A path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_names_that_a_shell_may_have_for_it() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let top = folder.path().canonicalize().expect("a real path");
        std::fs::create_dir_all(top.join("real/deep/ws/sub")).expect("folders");
        std::os::unix::fs::symlink("real/deep/ws", top.join("ws")).expect("a link");
        std::os::unix::fs::symlink("sub", top.join("ws/l")).expect("a link");
        let at = |path: &str| if path.is_empty() { String::new() } else { top.join(path).display().to_string() };
        // The directory, what `PWD` says, the other names.
        let cases: &[(&str, &str, &[&str])] = &[
            ("real/deep/ws", "", &[]),
            ("real/deep/ws", "real/deep/ws", &[]),
            ("real/deep/ws", "ws", &["ws"]),
            ("real/deep/ws/sub", "ws", &[]),
            ("real/deep/ws/sub", "ws/sub", &["ws/sub"]),
            ("ws", "ws", &["real/deep/ws"]),
            ("ws", "", &["real/deep/ws"]),
            ("ws/l", "", &["real/deep/ws/sub"]),
            ("ws/l/..", "", &["real/deep/ws"]),
            ("ws/sub/../l", "ws/sub", &["real/deep/ws/sub", "ws/sub"]),
            ("none", "ws", &[]),
        ];
        for (cwd, pwd, expected) in cases {
            let pwd = Some(at(pwd)).filter(|pwd| !pwd.is_empty());
            let expected: Vec<String> = expected.iter().map(|name| at(name)).collect();
            assert_eq!(names(&at(cwd), pwd.as_deref()), expected, "{cwd} {pwd:?}");
        }
        let cases = [
            ("real/deep/ws", "ws", Some("ws")),
            ("real/deep/ws", "ws/sub", Some("ws")),
            ("ws", "real/deep/ws/sub", Some("real/deep/ws")),
            ("ws", "ws/sub", None),
            ("real/deep/ws", "real/deep", None),
        ];
        for (root, cwd, expected) in cases {
            assert_eq!(on_the_way(&at(root), &at(cwd)), expected.map(at), "{root} {cwd}");
        }
        for (name, expected) in [("ws", true), ("ws/sub", true), ("real", false), ("none", false)] {
            assert_eq!(has_links(&at(name)), expected, "{name}");
        }
        assert!(!has_links("real"));
    }
}
