//! Diagnostics of language servers.
//!
//! A server is started with the first file of its language, one for each workspace: the nearest folder with a marker
//! such as `tsconfig.json`, never above the project. It is reused, ended when it has not been used for a while, and
//! started again after a crash, at most three times a minute. It is `Clean` only if the server has said so of the
//! files as they are; one that does not answer in time is an `Error`.
//!
//! # When diagnostics are complete
//! Found by running them.
//! - typescript-language-server 5 publishes without versions, and nothing for a file that stays clean. It passes
//!   requests on to the TypeScript server behind it, whose answers to `syntacticDiagnosticsSync` and
//!   `semanticDiagnosticsSync` are exact.
//! - TypeScript 7 (`tsc --lsp`), the JSON and the CSS server are asked (`textDocument/diagnostic`).
//! - pyright registers for being asked once it is initialized, and answers when it has read its configuration.
//! - rust-analyzer is asked too, but finds nothing before it says that it is at rest (`experimental/serverStatus`).
//!   What `cargo check` finds is published, and its progress ends a little before that; a question after the end is
//!   answered after both.
//! - gopls is asked, if it can be (0.17 and later). Otherwise it publishes more than once for a version, and is done
//!   after a silence.
//! - clangd publishes once for each version, but nothing for one with the same text, unless it is told to build anew.
//! - The YAML server publishes without versions, and is done after a silence.
//!
//! # What runs in a folder that is not trusted
//! Only programs on `PATH`, started at the root of all files, so that they find nothing of the project's beside them.
//! - TypeScript, both servers: skipped. They are TypeScript of the project's `node_modules`, and load plugins that
//!   `tsconfig.json` names.
//! - pyright: the user's, with the user's interpreter, which it runs in isolated mode. The interpreter of `.venv` is
//!   not named to it, and basedpyright, which looks for that by itself, is not taken.
//! - rust-analyzer: skipped. It runs build scripts, procedural macros, and wrappers and toolchains that the project
//!   names.
//! - gopls: runs. C compilers with flags from the source, toolchains that `go.mod` names, git for version stamps and
//!   downloads are switched off by variables of `go`. Files with cgo are no part of the build then, and left out.
//! - clangd: runs without the project's `.clangd` and `compile_commands.json`, whose flags say where it writes. What
//!   includes a file that is not found then is left out. It runs compilers only with `--query-driver`, and never loads
//!   plugins.
//! - JSON and CSS: the user's servers run; nothing of the project's is code to them.
//! - YAML: skipped. A comment in a file names the address of a schema, which it loads.

mod check;
mod client;
mod connection;
mod diagnostics;
pub(crate) mod frame;
mod keeper;
mod table;
mod uri;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

use self::keeper::{Handle, Keeper};
use self::table::{Row, Untrusted};
use crate::project::Project;
use crate::report::Outcome;
use crate::trust::NOT_TRUSTED;

/// Most servers at once. For another one, the one that has been there longest is ended, unless it is in use.
const SERVERS: usize = 12;

/// The language servers of a project.
#[derive(Debug)]
pub struct Servers {
    project: Project,
    keepers: Mutex<Keepers>,
}

#[derive(Debug, Default)]
struct Keepers {
    kept: HashMap<(&'static str, PathBuf), (u64, Keeper)>,
    count: u64,
}

impl Servers {
    /// Servers for a project. None is started yet.
    pub fn new(project: Project) -> Self {
        Servers { project, keepers: Mutex::default() }
    }

    /// Diagnostics of these files, absolute paths in the project. Files of different languages do not wait for each
    /// other. `settle` is how long a server must be silent where nothing else shows that it is done, `limit` how long
    /// all of it may take.
    ///
    /// A language without a server, or one whose server is not installed or may not run here, is left out with a note.
    pub async fn check(&self, files: &[PathBuf], settle: Duration, limit: Duration) -> Outcome {
        let (project, all) = (self.project.clone(), files.to_vec());
        let sorted = tokio::task::spawn_blocking(move || sort(&project, &all)).await;
        let (wanted, mut notes) = match sorted {
            Ok(sorted) => sorted,
            Err(error) => return Outcome::error(format!("A language server check failed: {error}")),
        };
        let mut checks = JoinSet::new();
        for ((name, root), (row, files)) in wanted {
            let handle = self.handle(name, row, root);
            checks.spawn(handle.check(files, settle, limit));
        }
        let mut whole = Outcome::default();
        while let Some(outcome) = checks.join_next().await {
            let outcome =
                outcome.unwrap_or_else(|error| Outcome::error(format!("A language server check failed: {error}")));
            let files = whole.files + outcome.files;
            whole = Outcome { files, ..whole.and(outcome) };
        }
        whole.problems.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        notes.append(&mut whole.notes);
        Outcome { notes, ..whole }
    }

    /// Ends servers that have not been used for this long.
    pub async fn stop_idle(&self, idle: Duration) {
        let free: Vec<Handle> = {
            let keepers = self.keepers();
            let free = keepers.kept.values().filter(|(_, keeper)| keeper.is_free() && keeper.runs());
            free.map(|(_, keeper)| keeper.handle()).collect()
        };
        let mut stops: JoinSet<()> = free.into_iter().map(|handle| handle.stop_idle(idle)).collect();
        while stops.join_next().await.is_some() {}
    }

    /// Ends all servers. A check that is under way says so.
    pub async fn stop(&self) {
        let kept = std::mem::take(&mut self.keepers().kept);
        let mut stops: JoinSet<()> = kept.into_values().map(|(_, keeper)| keeper.stop()).collect();
        while stops.join_next().await.is_some() {}
    }

    /// Servers that run, for people: name and workspace.
    pub fn running(&self) -> Vec<String> {
        let keepers = self.keepers();
        let running = keepers.kept.iter().filter(|(_, (_, keeper))| keeper.runs());
        let mut names: Vec<String> = running.map(|((name, root), _)| format!("{name} in {}", root.display())).collect();
        names.sort();
        names
    }

    /// A way to ask the server of a workspace, which is started if it is not there.
    fn handle(&self, name: &'static str, row: &'static Row, root: PathBuf) -> Handle {
        let mut keepers = self.keepers();
        if keepers.kept.len() >= SERVERS && !keepers.kept.contains_key(&(name, root.clone())) {
            keepers.make_room();
        }
        keepers.count += 1;
        let count = keepers.count;
        let new = || (count, Keeper::new(row, &self.project, &root));
        keepers.kept.entry((name, root.clone())).or_insert_with(new).1.handle()
    }

    fn keepers(&self) -> MutexGuard<'_, Keepers> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keepers {
    fn make_room(&mut self) {
        let free = self.kept.iter().filter(|(_, (_, keeper))| keeper.is_free());
        let oldest = free.min_by_key(|(_, (count, _))| *count).map(|(key, _)| key.clone());
        if let Some((_, keeper)) = oldest.and_then(|key| self.kept.remove(&key)) {
            tokio::spawn(keeper.stop());
        }
    }
}

type Wanted = BTreeMap<(&'static str, PathBuf), (&'static Row, Vec<PathBuf>)>;

/// Files by server, and notes on those that no server checks. This looks at files, and may take a while.
fn sort(project: &Project, files: &[PathBuf]) -> (Wanted, Vec<String>) {
    let (mut wanted, mut notes) = (Wanted::new(), BTreeSet::new());
    for file in files.iter().collect::<BTreeSet<_>>() {
        match server(project, file) {
            // There is none for most kinds of files, which is nothing to speak of.
            Ok(None) => {}
            Ok(Some((row, root))) => {
                wanted.entry((row.name, root)).or_insert_with(|| (row, Vec::new())).1.push(file.clone());
            }
            Err(note) => {
                notes.insert(note);
            }
        }
    }
    (wanted, notes.into_iter().collect())
}

/// The server for a file, and where it works; none if there is none for its kind, or why that one cannot be had.
fn server(project: &Project, file: &Path) -> Result<Option<(&'static Row, PathBuf)>, String> {
    let Some(row) = table::row(file) else { return Ok(None) };
    if let (false, Untrusted::Skipped) = (project.trusted, row.untrusted) {
        return Err(format!("{}: {NOT_TRUSTED}", row.name));
    }
    let root = row.root(project, file);
    if row.command(project, &root).is_none() {
        return Err(format!("{} is not installed", row.name));
    }
    Ok(Some((row, root)))
}
