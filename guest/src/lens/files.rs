//! Which files a tool wrote, and which of those are checked: regular files that are there, in the project when links
//! are followed, wanted by the patterns, each once.

use std::collections::HashSet;

use toolgate_shell::{Facts, Files, detect_files, patch};

use super::config::Filter;
use super::world::{LensHost, PATHS};
use toolgate_rules::call::ToolKind;

/// Longest path that a system can have, in bytes.
const LONGEST: usize = 4_096;

/// A tool's result, as far as the lens wants to know it.
#[derive(Clone, Debug, Default)]
pub struct ResultFacts {
    /// The tool's name as the agent spells it.
    pub tool: String,
    /// What the tool does.
    pub kind: ToolKind,
    /// The shell text, if it ran one; the patch, if it wrote by one.
    pub command: Option<String>,
    /// The paths it worked on, as the agent wrote them.
    pub paths: Vec<String>,
    /// Where relative paths start.
    pub cwd: String,
    /// Whether the agent counts the call as failed.
    pub is_error: bool,
}

impl ResultFacts {
    /// Whether the call says all that it can have written.
    pub(crate) fn says_all(&self) -> bool {
        match self.kind {
            ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch => true,
            ToolKind::Write => {
                !self.is_error && (self.command.is_some() || self.paths.iter().any(|path| !path.is_empty()))
            }
            ToolKind::Shell | ToolKind::Other => false,
        }
    }
}

/// A file to check, in the state that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Absolute, in the project's folder as the session spells it, other links resolved.
    pub(crate) path: String,
    /// In milliseconds since 1970.
    pub(crate) modified: u64,
    pub(crate) size: u64,
}

/// The files that a tool wrote, absolute, as far as its call says them.
pub(crate) fn written(result: &ResultFacts, home: Option<&str>, bash: bool, world: &mut dyn LensHost) -> Vec<String> {
    let under = |path: &String| match path.starts_with('/') {
        true => path.clone(),
        // As it stands: what `..` leads to is decided by links.
        false => format!("{}/{path}", result.cwd.trim_end_matches('/')),
    };
    match (result.kind, &result.command) {
        (ToolKind::Shell, Some(command)) if bash => {
            let mut facts = Facts::new(&result.cwd);
            if let Some(home) = home {
                facts = facts.home(home);
            }
            if let Some(files) = world.look() {
                facts = facts.files(files);
            }
            detect_files(command, &facts).written
        }
        (ToolKind::Write, command) => {
            let mut paths: Vec<String> = result.paths.iter().filter(|path| !path.is_empty()).map(under).collect();
            if let Some(text) = command {
                paths.extend(Files::of(&patch(text, &result.cwd), &Facts::new(&result.cwd)).written);
            }
            paths
        }
        _ => Vec::new(),
    }
}

/// Those of these absolute paths that are checked.
pub(crate) fn select(paths: Vec<String>, root: &str, filter: &Filter, world: &mut dyn LensHost) -> Vec<Found> {
    let fits = |path: &String| path.starts_with('/') && path.len() <= LONGEST && !path.contains('\0');
    let mut seen = HashSet::new();
    let paths: Vec<String> = paths.into_iter().filter(fits).filter(|path| seen.insert(path.clone())).collect();
    if paths.is_empty() || !root.starts_with('/') {
        return Vec::new();
    }
    let Some(real_root) = world.resolve(&[root.to_owned()]).and_then(|answers| answers.into_iter().next()?) else {
        return Vec::new();
    };
    let (root, real_root) = (root.trim_end_matches('/'), real_root.0.trim_end_matches('/').to_owned());
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for some in paths.chunks(PATHS) {
        let Some(answers) = world.resolve(some).filter(|answers| answers.len() == some.len()) else { break };
        let real = answers.into_iter().flatten().filter(|(_, exists)| *exists).map(|(path, _)| path);
        let inside = real.filter(|path| {
            let relative = path.strip_prefix(&real_root).and_then(|path| path.strip_prefix('/'));
            relative.is_some_and(|relative| !relative.is_empty() && filter.takes(relative))
        });
        let inside: Vec<String> = inside.filter(|path| seen.insert(path.clone())).collect();
        if inside.is_empty() {
            continue;
        }
        let Some(stats) = world.stat(&inside).filter(|stats| stats.len() == inside.len()) else { break };
        let files = inside.into_iter().zip(stats).filter_map(|(path, stat)| {
            let stat = stat.filter(|stat| stat.is_file)?;
            let relative = path.strip_prefix(&real_root)?;
            Some(Found { path: format!("{root}{relative}"), modified: stat.modified, size: stat.size })
        });
        found.extend(files);
    }
    found
}
