//! The paths that a text makes or changes, as they are shown beside it: relative to the workspace where they can be.

use std::collections::HashSet;

use crate::command::Script;
use crate::facts::Facts;
use crate::files::{expected, file, writes};
use crate::interpreter::parse;
use toolgate_shell_syntax::path::absolute;

/// A name that no text contains, for the folders of a place that is not known.
const NAMELESS: &str = "\u{1}";

/// How far above an unknown place paths are followed.
const ABOVE: usize = 16;

/// The files and folders that a text makes or changes, each once, in the order in which they first appear, as
/// [`normalize_path`] gives them. What is unknown or a glob is left out.
///
/// With no directory in the facts, paths are relative to wherever the text starts.
///
/// ```
/// use toolgate_shell::{Facts, extract_shell_path_hints};
/// let hints = extract_shell_path_hints("mkdir -p out && gcc -o out/a a.c 2> ~/log", &Facts::new("/p/src").home("/h"), "/p");
/// assert_eq!(hints, ["src/out", "src/out/a", "/h/log"]);
/// ```
pub fn extract_shell_path_hints(command: &str, facts: &Facts, workspace_root: &str) -> Vec<String> {
    if facts.cwd.is_some() {
        return hints(&parse(command, facts), workspace_root);
    }
    let place = format!("/{NAMELESS}").repeat(ABOVE);
    let facts = Facts { cwd: Some(place), files: None, ..facts.clone() };
    collect(&parse(command, &facts), |path| match relative_to_nameless(path) {
        Some(path) => path,
        None => Some(below(path, workspace_root)),
    })
}

/// The same of a text that was parsed already. Where its directory was not known, relative paths are left out.
pub fn hints(script: &Script, workspace_root: &str) -> Vec<String> {
    collect(script, |path| Some(below(path, workspace_root)))
}

fn collect(script: &Script, show: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let effects = script.commands.iter().flat_map(expected).filter(|effect| writes(effect.kind));
    effects.filter_map(file).filter(|path| seen.insert(*path)).filter_map(show).collect()
}

/// A path from the unknown place on. The outer `None` says that it does not depend on that place, the inner one that
/// it has one of the place's unknown names in it.
fn relative_to_nameless(path: &str) -> Option<Option<String>> {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let shared = parts.iter().take(ABOVE).take_while(|part| **part == NAMELESS).count();
    if !path.contains(NAMELESS) {
        return None;
    }
    let rest = &parts[shared.min(parts.len())..];
    if rest.iter().any(|part| part.contains(NAMELESS)) {
        return Some(None);
    }
    let whole: Vec<&str> = std::iter::repeat_n("..", ABOVE - shared).chain(rest.iter().copied()).collect();
    Some(Some(if whole.is_empty() { ".".to_owned() } else { whole.join("/") }))
}

/// A path as it is shown in a workspace: `~/` expanded, and relative to the root if it lies under it. The root itself
/// is `.`; a relative path stays as it is, and so does every path if there is no root.
///
/// ```
/// use toolgate_shell::normalize_path;
/// assert_eq!(normalize_path("/project/src/main.go", "/project", None), "src/main.go");
/// assert_eq!(normalize_path("/projectX/main.go", "/project", None), "/projectX/main.go");
/// assert_eq!(normalize_path("~/x", "/home/dev", Some("/home/dev")), "x");
/// ```
pub fn normalize_path(path: &str, workspace_root: &str, home: Option<&str>) -> String {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) if home.starts_with('/') => {
            below(&absolute(&format!("{home}/{rest}"), ""), workspace_root)
        }
        _ if path.starts_with('/') => below(&absolute(path, ""), workspace_root),
        _ => path.to_owned(),
    }
}

/// A clean absolute path, relative to the root if it lies under it, part by part.
fn below(path: &str, workspace_root: &str) -> String {
    if !workspace_root.starts_with('/') {
        return path.to_owned();
    }
    let root = absolute(workspace_root, "");
    match path.strip_prefix(root.trim_end_matches('/')) {
        Some("" | "/") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => path.to_owned(),
    }
}
