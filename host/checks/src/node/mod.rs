//! Checks by the project's own `ESLint`, Prettier and TypeScript, which stay loaded in Node processes.
//!
//! There is one process for each tool and each folder that has the tool in its `node_modules`, so that the tools run
//! side by side and one that hangs takes no other with it. A process starts with the first check that needs it and
//! ends with the [`Worker`], after a failure, when it grew too large, or when something it has loaded was changed.
//! Only what is installed inside the project counts, and only in a project that is trusted.

mod answer;
mod process;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, timeout_at};
use toolgate_private::read_regular;

use crate::cache;
use crate::project::Project;
use crate::report::Outcome;
use crate::trust::NOT_TRUSTED;
use answer::Answer;
use process::{Failed, Process};

/// A process that has grown beyond this many bytes is not used again.
const MEMORY: u64 = 1_500_000_000;

/// Most bytes of a `package.json`.
const PACKAGE: u64 = 1 << 20;

/// What a process is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tool {
    Eslint,
    Prettier,
    Typescript,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Eslint => "eslint",
            Tool::Prettier => "prettier",
            Tool::Typescript => "typescript",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Tool::Eslint => concat!(include_str!("eslint.cjs"), include_str!("types.cjs"), include_str!("worker.cjs")),
            Tool::Prettier => concat!(include_str!("prettier.cjs"), include_str!("worker.cjs")),
            Tool::Typescript => concat!(include_str!("typescript.cjs"), include_str!("worker.cjs")),
        }
    }

    /// The folder that has this tool in its `node_modules`, nearest to the file and inside the project.
    fn folder(self, project: &Project, file: &Path) -> Option<PathBuf> {
        let package = project.nearest(file, &format!("node_modules/{}/package.json", self.name()))?;
        package.ancestors().nth(3).map(Path::to_path_buf)
    }
}

/// The place of a process.
#[derive(Debug, Default)]
struct Slot {
    /// It, if it runs, for one request at a time.
    process: Mutex<Option<Process>>,
    /// A check waits for it.
    wanted: Notify,
}

/// The Node processes of a project. They end when this is dropped.
#[derive(Debug)]
pub struct Worker {
    project: Project,
    /// Where compiled code is kept for what is installed in a folder.
    code: fn(&Path) -> Option<PathBuf>,
    slots: std::sync::Mutex<HashMap<(Tool, PathBuf), Arc<Slot>>>,
}

impl Worker {
    /// Starts nothing yet.
    pub fn new(project: Project) -> Self {
        Worker { project, code: |folder| cache::place("node", folder), slots: std::sync::Mutex::default() }
    }

    /// Lints absolute files with `ESLint` 7 or newer; with its old kind of configuration only JavaScript, and what has
    /// a parser of its own. Files that its configuration leaves out are not looked at.
    pub async fn eslint(&self, files: &[PathBuf], limit: Duration) -> Outcome {
        self.check(Tool::Eslint, files, limit).await
    }

    /// Compares absolute files with what Prettier 2 or newer would write. A file that it cannot read as what it is
    /// supposed to be is a problem, and the status `Error`.
    pub async fn prettier(&self, files: &[PathBuf], limit: Duration) -> Outcome {
        self.check(Tool::Prettier, files, limit).await
    }

    /// What TypeScript says of absolute files, by the nearest `tsconfig.json` that knows them, and of that
    /// configuration. Other files of the program are read, but not reported on.
    pub async fn typescript(&self, files: &[PathBuf], limit: Duration) -> Outcome {
        self.check(Tool::Typescript, files, limit).await
    }

    /// Starts what the root of the project has installed and loads it, so that the first check need not. What goes
    /// wrong here will show there. A check that comes meanwhile does not wait for it.
    pub async fn warm(&self, limit: Duration) {
        if !self.project.trusted {
            return;
        }
        let one = |tool| tokio::time::timeout(limit, self.load(tool));
        let _ = tokio::join!(one(Tool::Eslint), one(Tool::Prettier), one(Tool::Typescript));
    }

    async fn load(&self, tool: Tool) {
        let folder = tool.folder(&self.project, &self.project.root.join("package.json"));
        let (Some(folder), Some(node)) = (folder, self.project.on_path("node")) else { return };
        if !keeps(tool, &folder).await {
            return;
        }
        let slot = self.slot(tool, &folder);
        // From here on no check is missed.
        let wanted = slot.wanted.notified();
        let mut kept = slot.process.lock().await;
        if kept.is_some() {
            return;
        }
        let Ok(mut process) = self.start(tool, &node, &folder) else { return };
        let is_fit = tokio::select! {
            answer = process.ask(&[]) => answer.is_ok_and(|answer| !answer.failed && answer.rss < MEMORY),
            // The script leaves out what is left of this for the request that comes then.
            () = wanted => true,
        };
        *kept = Some(process).filter(|_| is_fit);
    }

    /// Processes that are loaded and wait for work, for people: tool and folder.
    pub fn running(&self) -> Vec<String> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |slot: &Slot| slot.process.try_lock().is_ok_and(|process| process.is_some());
        let running = slots.iter().filter(|(_, slot)| waits(slot));
        let mut names: Vec<String> =
            running.map(|((tool, folder), _)| format!("{} of {}", tool.name(), folder.display())).collect();
        names.sort();
        names
    }

    /// Ends processes that were not asked for this long.
    pub async fn stop_idle(&self, idle: Duration) {
        let slots: Vec<Arc<Slot>> =
            self.slots.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for slot in slots {
            // One that is at work is not idle.
            if let Ok(mut process) = slot.process.try_lock() {
                process.take_if(|process| process.asked.elapsed() >= idle);
            }
        }
    }

    /// Ends all processes. One that is at work ends with its request. The next check starts new ones.
    #[expect(clippy::unused_async, reason = "as for the other parts of the daemon, whose end may take a while")]
    pub async fn stop(&self) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn check(&self, tool: Tool, files: &[PathBuf], limit: Duration) -> Outcome {
        let name = tool.name();
        if !self.project.trusted {
            return Outcome::skipped(format!("{name} is {NOT_TRUSTED}"));
        }
        let deadline = Instant::now() + limit;
        let mut groups = BTreeMap::<PathBuf, Vec<&str>>::new();
        for file in files.iter().filter(|file| file.is_file()) {
            // A name that is no text cannot be handed over; no tool of this kind could read such a file either.
            if let (Some(folder), Some(file)) = (tool.folder(&self.project, file), file.to_str()) {
                groups.entry(folder).or_default().push(file);
            }
        }
        if !files.iter().any(|file| file.is_file()) {
            return Outcome::skipped(format!("{name} was not run: the files are gone"));
        }
        if groups.is_empty() {
            return Outcome::skipped(format!("{name} is not installed in this project"));
        }
        let Some(node) = self.project.on_path("node") else {
            return Outcome::skipped(format!("{name} was not run: there is no node on the PATH"));
        };
        let mut whole = Outcome::default();
        for (folder, files) in groups {
            let outcome = if !keeps(tool, &folder).await {
                Outcome::skipped("typescript has no JavaScript API from version 7 on: run tsc")
            } else {
                match timeout_at(deadline, self.ask(tool, &node, &folder, &files)).await {
                    Ok(Ok(answer)) => answer.outcome(tool),
                    Ok(Err(failed)) => Outcome::error(format!("{name} failed: {failed}")),
                    Err(_) => Outcome::error(format!("{name} took longer than {} ms", limit.as_millis())),
                }
            };
            let files = whole.files + outcome.files;
            whole = Outcome { files, ..whole.and(outcome) };
        }
        whole
    }

    /// Asks the process of a folder; a new one if there is none, or if it is out of date or has ended meanwhile.
    ///
    /// While it is asked, it belongs to this future: whoever drops that ends the process.
    async fn ask(&self, tool: Tool, node: &Path, folder: &Path, files: &[&str]) -> Result<Answer, Failed> {
        let slot = self.slot(tool, folder);
        slot.wanted.notify_waiters();
        let mut place = slot.process.lock().await;
        let kept = match place.take() {
            Some(mut process) => {
                process.ask(files).await.ok().filter(|answer| !answer.stale).map(|said| (process, said))
            }
            None => None,
        };
        let (process, answer) = match kept {
            Some(kept) => kept,
            None => {
                let mut process = self.start(tool, node, folder)?;
                let answer = process.ask(files).await?;
                (process, answer)
            }
        };
        // What failed to load stays that way in the process that tried.
        if !answer.failed && answer.rss < MEMORY {
            *place = Some(process);
        }
        Ok(answer)
    }

    fn start(&self, tool: Tool, node: &Path, folder: &Path) -> io::Result<Process> {
        Process::start(&self.project, node, tool.script(), folder, (self.code)(folder))
    }

    fn slot(&self, tool: Tool, folder: &Path) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry((tool, folder.to_path_buf())).or_default())
    }
}

/// Whether a tool can be kept loaded. From version 7 on TypeScript is a program of its own without a stable interface:
/// then `tsc` has to be run.
async fn keeps(tool: Tool, folder: &Path) -> bool {
    if tool != Tool::Typescript {
        return true;
    }
    let package = folder.join("node_modules/typescript/package.json");
    // Whatever takes long with it holds up nothing but this.
    let kept = tokio::task::spawn_blocking(move || read_regular(&package, PACKAGE).is_ok_and(|text| before_7(&text)));
    kept.await.unwrap_or(false)
}

fn before_7(package: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Package {
        version: String,
    }
    let version = serde_json::from_slice(package).map_or_else(|_| String::new(), |Package { version }| version);
    version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major < 7)
}

#[cfg(test)]
mod tests;
