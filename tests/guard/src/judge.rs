//! One command to one verdict, as the component with its built-in rules would have it.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;
use toolgate_capabilities::LocalGit;
use toolgate_host::capability::Git;
use toolgate_rules::call::{Action, Call, Field, ToolKind};
use toolgate_rules::{Guard, GuardHost};
use toolgate_shell::{FileOracle, Presence};

use crate::{HOME, PROJECT};

/// How a command is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    /// It does not run.
    Block,
    /// A person decides.
    Ask,
}

/// What becomes of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// `None` if nothing speaks against it.
    pub stopped: Option<Stopped>,
    /// The rules that fired, the weightiest first.
    pub rules: Vec<String>,
    /// Whether nobody is asked if all that the command changes was saved before.
    pub recoverable: bool,
}

/// How many commands came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// They do not run.
    pub blocked: usize,
    /// A person decides.
    pub asked: usize,
    /// Nothing spoke against them.
    pub passed: usize,
    /// Of those that a person decides: nobody does if all that they change was saved before.
    pub recoverable: usize,
}

impl Count {
    /// Counts one more.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict.stopped {
            Some(Stopped::Block) => self.blocked += 1,
            Some(Stopped::Ask) => self.asked += 1,
            None => self.passed += 1,
        }
        self.recoverable += usize::from(verdict.recoverable);
    }

    /// All of them.
    pub const fn total(self) -> usize {
        self.blocked + self.asked + self.passed
    }

    /// Those that are blocked or asked.
    pub const fn touched(self) -> usize {
        self.blocked + self.asked
    }

    /// Blocked or asked, in percent; 0 of nothing.
    pub fn touched_percent(self) -> f64 {
        percent(self.touched(), self.total())
    }

    /// Blocked, in percent; 0 of nothing.
    pub fn blocked_percent(self) -> f64 {
        percent(self.blocked, self.total())
    }
}

/// `part` of `all` in percent; 0 of nothing.
fn percent(part: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are small")]
    let (part, all) = (part as f64, all.max(1) as f64);
    100.0 * part / all
}

/// The guard with some of its packs.
#[derive(Debug, Default)]
pub struct Judge {
    guard: Guard,
    /// Where the files of the home folder really are, if they are to be looked at.
    root: Option<PathBuf>,
}

impl Judge {
    /// With the packs that are on by default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with all packs there are.
    #[must_use]
    pub fn with_all_packs(mut self) -> Self {
        self.guard.choose(&["all".to_owned()]);
        self
    }

    /// The same, looking at files as the host would: those below [`HOME`] are in this folder, and everything else but
    /// temporary files is where it is.
    #[must_use]
    pub fn with_files(mut self, root: &Path) -> Self {
        self.root = Some(root.to_owned());
        self
    }

    /// Judges a shell command that is run in `cwd`, which is also the workspace.
    pub fn command(&self, command: &str, cwd: &str, home: &str) -> Verdict {
        self.call(command, cwd, cwd, home, Files { home: self.root.clone(), project: None })
    }

    /// Judges a shell command in a folder of a project that lies elsewhere; [`PROJECT`] stands for it.
    pub fn in_project(&self, command: &str, folder: &Path, project: &Path) -> Verdict {
        let cwd = Path::new(PROJECT).join(folder);
        let files = Files { home: self.root.clone(), project: Some(project.into()) };
        self.call(command, cwd.to_string_lossy().trim_end_matches('/'), PROJECT, HOME, files)
    }

    /// Judges a shell command in a folder, with another one as the workspace; both as they are below [`HOME`].
    pub fn in_workspace(&self, command: &str, cwd: &str, workspace: &str) -> Verdict {
        self.call(command, cwd, workspace, HOME, Files { home: self.root.clone(), project: None })
    }

    fn call(&self, command: &str, cwd: &str, workspace: &str, home: &str, mut files: Files) -> Verdict {
        let call = Call {
            kind: ToolKind::Shell,
            command: Some(Field { name: "command".into(), value: command.into() }),
            cwd: cwd.into(),
            home: Some(home.into()),
            workspace: workspace.into(),
            ..Call::default()
        };
        let (verdict, changes) = self.guard.judge_changes(&call, &mut files);
        let stopped = match verdict.action() {
            Some(Action::Block) => Some(Stopped::Block),
            Some(Action::Ask) => Some(Stopped::Ask),
            Some(Action::Note) | None => None,
        };
        let rules = verdict.findings.into_iter().map(|finding| finding.rule).collect();
        Verdict { stopped, rules, recoverable: changes.is_some_and(|changes| changes.is_recoverable()) }
    }
}

/// The files of a case.
#[derive(Clone, Default)]
struct Files {
    /// Where the home folder really is, if files are looked at.
    home: Option<PathBuf>,
    /// Where the project really is, if it is not in the home folder.
    project: Option<PathBuf>,
}

impl Files {
    /// What stands for what, the longest path first.
    fn roots(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        [(PROJECT, &self.project), (HOME, &self.home)]
            .into_iter()
            .filter_map(|(path, real)| Some((path, real.as_deref()?)))
    }

    /// Where a path of the case is; `None` for what is not there.
    fn place(&self, path: &str) -> Option<PathBuf> {
        self.home.as_ref()?;
        let within = self.roots().find_map(|(own, real)| Some((real, Path::new(path).strip_prefix(own).ok()?)));
        match within {
            Some((real, rest)) => Some(real.join(rest)),
            // Each case has a folder for temporary files of its own, which is empty.
            None if path.starts_with("/tmp/") => None,
            None => Some(PathBuf::from(path)),
        }
    }
}

impl FileOracle for Files {
    fn look(&self, path: &str) -> Presence {
        let Some(place) = self.place(path) else { return Presence::Absent };
        match place.metadata() {
            Ok(found) if found.is_dir() => Presence::Folder,
            Ok(found) if found.is_file() => Presence::File,
            Ok(_) => Presence::Other,
            // What lies above the home folder is there.
            Err(_) if HOME.starts_with(path) => Presence::Folder,
            Err(_) => Presence::Absent,
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        let real = self.place(path)?.canonicalize().ok()?;
        let inside = self.roots().find_map(|(own, root)| {
            let rest = real.strip_prefix(root.canonicalize().ok()?).ok()?;
            Some(Path::new(own).join(rest))
        });
        Some(inside.unwrap_or(real).to_string_lossy().trim_end_matches('/').to_owned())
    }

    fn script(&self, path: &str) -> Option<String> {
        // As a checkout has it where there are shells.
        Some(std::fs::read_to_string(self.place(path)?).ok()?.replace("\r\n", "\n"))
    }
}

impl GuardHost for Files {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        Ok(paths.iter().map(|path| FileOracle::real(self, path)).collect())
    }

    fn holds(&mut self, path: &str) -> bool {
        let Some(place) = self.place(path) else { return false };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.is_ok_and(|runtime| {
            let changed = runtime.block_on(LocalGit.changed_files(place.to_string_lossy().into_owned()));
            changed.is_ok_and(|changed| changed.is_empty())
        })
    }

    fn merged(&mut self, folder: &str, branch: &str) -> bool {
        self.holds(&format!("{}/.git/refs/heads/{branch}", folder.trim_end_matches('/')))
    }

    fn look(&mut self) -> Option<Rc<dyn FileOracle>> {
        self.home.as_ref()?;
        Some(Rc::new(self.clone()))
    }
}
