//! Commands that agents really ran, from recorded sessions: how many of them the guard stops, and by which rules.
//!
//! A recording is a file of JSON lines, one for each call:
//!
//! | Key | Meaning |
//! |---|---|
//! | `command` | the shell text |
//! | `cwd` | where it ran; the workspace if it is left out |
//! | `workspace` | the folder that the agent was started for; `cwd` if it is left out |
//! | `home` | the home folder; guessed from the other two: `/home/NAME`, `/Users/NAME`, `/root` |
//! | `files` | files that were there, relative to the workspace |
//! | `expect` | `block`, `ask` or `pass`, if somebody has said what is right |
//!
//! The machine that it was recorded on is not here, so a layout is made: its home folder becomes [`HOME`], also where the
//! command names it; a workspace elsewhere becomes [`PROJECT`]. The workspace is there as a git repository, with `files`
//! committed; so is `cwd`. Nothing is run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Error as IoError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::score::Wanted;
use crate::{Count, HOME, Judge, PROJECT, Stopped, Verdict};

/// Why a recording is not judged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is not read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: IoError,
    },
    /// A line says something else.
    #[error("{path}:{line}: {source}", path = .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The layout is not made.
    #[error("cannot make the layout: {0}")]
    Layout(#[from] IoError),
}

/// A call as it was recorded.
#[derive(Clone, Debug, Deserialize)]
pub struct Recorded {
    /// The shell text.
    pub command: String,
    cwd: Option<String>,
    workspace: Option<String>,
    home: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    /// What is right, if somebody has said so.
    #[serde(alias = "expected")]
    pub expect: Option<Wanted>,
}

/// The calls of a file.
///
/// # Errors
/// If it is not read, or a line is no call.
pub fn recorded(path: &Path) -> Result<Vec<Recorded>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let call = |(at, line)| {
        serde_json::from_str(line).map_err(|source| Error::Line { path: path.into(), line: at + 1, source })
    };
    lines.map(call).collect()
}

/// A call with the paths of the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    command: String,
    cwd: String,
    workspace: String,
}

impl Recorded {
    fn placed(&self) -> Placed {
        let (cwd, workspace) = (self.cwd.as_deref(), self.workspace.as_deref());
        let workspace = workspace.or(cwd).unwrap_or(PROJECT).trim_end_matches('/');
        let cwd = cwd.unwrap_or(workspace).trim_end_matches('/');
        let home = self.home.as_deref().or_else(|| home_of(workspace)).or_else(|| home_of(cwd));
        let mut moves = Vec::new();
        if !home.is_some_and(|home| Path::new(workspace).starts_with(home)) && !workspace.is_empty() {
            moves.push((workspace, PROJECT));
        }
        moves.extend(home.map(|home| (home.trim_end_matches('/'), HOME)));
        let place = |text: &str| moves.iter().fold(text.to_owned(), |text, (from, to)| moved(&text, from, to));
        Placed { command: place(&self.command), cwd: place(cwd), workspace: place(workspace) }
    }
}

/// The home folder that a path is in.
fn home_of(path: &str) -> Option<&str> {
    let end = ["/home/", "/Users/"].iter().find_map(|start| {
        let name = path.strip_prefix(start)?.split('/').next().filter(|name| !name.is_empty())?;
        Some(start.len() + name.len())
    });
    end.map(|end| &path[..end]).or_else(|| Path::new(path).starts_with("/root").then_some("/root"))
}

/// A text with another path for this one, where it stands whole.
fn moved(text: &str, from: &str, to: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        let joins = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let whole = !before.ends_with(joins) && !behind.starts_with(joins);
        result.push_str(before);
        result.push_str(if whole { to } else { from });
        rest = behind;
    }
    result + rest
}

/// The folders and files that recorded calls find.
struct Layout {
    home: tempfile::TempDir,
    made: BTreeSet<PathBuf>,
}

impl Layout {
    fn new() -> Result<Self, IoError> {
        Ok(Layout { home: tempfile::tempdir()?, made: BTreeSet::new() })
    }

    /// Where a path of the layout really is; none outside its home folder.
    fn place(&self, path: &str) -> Option<PathBuf> {
        Some(self.home.path().join(Path::new(path).strip_prefix(HOME).ok()?))
    }

    fn add(&mut self, call: &Placed, files: &[PathBuf]) -> Result<(), IoError> {
        if let Some(cwd) = self.place(&call.cwd) {
            std::fs::create_dir_all(cwd)?;
        }
        let Some(workspace) = self.place(&call.workspace).filter(|place| place != self.home.path()) else {
            return Ok(());
        };
        if self.made.insert(workspace.clone()) {
            std::fs::create_dir_all(&workspace)?;
            git(&workspace, &["init", "-q"])?;
        }
        for file in files.iter().filter(|file| file.is_relative()) {
            let file = workspace.join(file);
            std::fs::create_dir_all(file.parent().unwrap_or(&workspace))?;
            std::fs::write(file, "text\n")?;
        }
        if files.is_empty() {
            return Ok(());
        }
        git(&workspace, &["add", "-A", "-f"])?;
        git(&workspace, &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "files", "--allow-empty"])
    }
}

fn git(folder: &Path, words: &[&str]) -> Result<(), IoError> {
    let status = Command::new("git").args(words).current_dir(folder).stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(IoError::other(format!("git {} failed", words.join(" ")))) }
}

/// What became of recorded calls.
pub struct Report {
    /// Each of them, once.
    pub judged: Vec<(Recorded, Verdict)>,
}

impl Report {
    /// Judges each distinct call with the packs that are on by default.
    ///
    /// # Errors
    /// If the layout is not made.
    pub fn new(calls: Vec<Recorded>) -> Result<Self, Error> {
        let (mut layout, mut seen, mut placed) = (Layout::new()?, BTreeSet::new(), Vec::new());
        for call in calls {
            let place = call.placed();
            if seen.insert((place.command.clone(), place.cwd.clone(), place.workspace.clone())) {
                layout.add(&place, &call.files)?;
                placed.push((call, place));
            }
        }
        let judge = Judge::new().with_files(layout.home.path());
        let verdict = |(call, Placed { command, cwd, workspace }): (Recorded, Placed)| {
            let verdict = judge.in_workspace(&command, &cwd, &workspace);
            (call, verdict)
        };
        Ok(Report { judged: placed.into_iter().map(verdict).collect() })
    }

    /// What is blocked or asked.
    pub fn touched(&self) -> impl Iterator<Item = &(Recorded, Verdict)> {
        self.judged.iter().filter(|(_, verdict)| verdict.stopped.is_some())
    }

    /// Calls whose label says something else.
    pub fn wrong(&self) -> impl Iterator<Item = &(Recorded, Verdict)> {
        self.judged.iter().filter(|(call, verdict)| call.expect.is_some_and(|expect| !expect.met_by(verdict)))
    }

    /// How many came to what.
    pub fn count(&self) -> Count {
        let mut count = Count::default();
        self.judged.iter().for_each(|(_, verdict)| count.add(verdict));
        count
    }

    /// How many calls each rule blocks and asks about as the weightiest, the most frequent first.
    pub fn rules(&self) -> Vec<(&str, Count)> {
        let mut rules: BTreeMap<&str, Count> = BTreeMap::new();
        for (_, verdict) in self.touched() {
            rules.entry(verdict.rules.first().map_or("", String::as_str)).or_default().add(verdict);
        }
        let mut rules: Vec<_> = rules.into_iter().collect();
        rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(count.touched()), *rule));
        rules
    }

    /// The figures, for programs.
    pub fn figures(&self) -> Value {
        let labelled = self.judged.iter().filter(|(call, _)| call.expect.is_some()).count();
        let wrong = |stopped: bool| self.wrong().filter(|(_, verdict)| verdict.stopped.is_some() == stopped).count();
        let blocked = self.wrong().filter(|(_, verdict)| verdict.stopped == Some(Stopped::Block)).count();
        json!({
            "all": self.count(),
            "touched_percent": self.count().touched_percent(),
            "blocked_percent": self.count().blocked_percent(),
            "labelled": labelled,
            "wrongly_stopped": wrong(true),
            "wrongly_blocked": blocked,
            "wrongly_passed": wrong(false),
            "rules": self.rules(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_paths_become_those_of_the_layout() {
        // The recorded call, then the command, the folder and the workspace in the layout.
        let cases = [
            (r#"{"command":"ls"}"#, "ls", PROJECT, PROJECT),
            (
                r#"{"command":"rm /Users/ann/x /Users/anna/x","cwd":"/Users/ann/a/b","workspace":"/Users/ann/a"}"#,
                "rm /home/dev/x /Users/anna/x",
                "/home/dev/a/b",
                "/home/dev/a",
            ),
            (r#"{"command":"ls","cwd":"/app/src","workspace":"/app"}"#, "ls", "/home/dev/project/src", PROJECT),
            (
                r#"{"command":"cat /root/.ssh/x /app/y","cwd":"/app","home":"/root"}"#,
                "cat /home/dev/.ssh/x /home/dev/project/y",
                PROJECT,
                PROJECT,
            ),
            (r#"{"command":"ls","cwd":"/home/a"}"#, "ls", HOME, HOME),
        ];
        for (line, command, cwd, workspace) in cases {
            let call: Recorded = serde_json::from_str(line).expect("a call");
            let own = |text: &str| text.to_owned();
            let expected = Placed { command: own(command), cwd: own(cwd), workspace: own(workspace) };
            assert_eq!(call.placed(), expected, "{line}");
        }
    }
}
