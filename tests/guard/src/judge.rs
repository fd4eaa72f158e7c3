//! One command to one verdict, as the component with its built-in rules would have it.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;
use toolgate_guest::call::{Action, Call, Field, Kind};
use toolgate_guest::guard::{Guard, World};
use toolgate_shell::{Look, Presence};

use crate::HOME;

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

    /// With the packs that are on by default, or with all there are.
    pub fn with_packs(all: bool) -> Self {
        let mut guard = Guard::new();
        if all {
            guard.choose(&["all".to_owned()]);
        }
        Judge { guard, root: None }
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
        let call = Call {
            kind: Kind::Shell,
            command: Some(Field { name: "command".into(), value: command.into() }),
            paths: Vec::new(),
            globs: Vec::new(),
            contents: Vec::new(),
            cwd: cwd.into(),
            home: Some(home.into()),
            workspace: cwd.into(),
        };
        let verdict = self.guard.judge(&call, &mut Files(self.root.clone()));
        let stopped = match verdict.action() {
            Some(Action::Block) => Some(Stopped::Block),
            Some(Action::Ask) => Some(Stopped::Ask),
            Some(Action::Note) | None => None,
        };
        Verdict { stopped, rules: verdict.findings.into_iter().map(|finding| finding.rule).collect() }
    }
}

/// The files of a case.
#[derive(Clone)]
struct Files(Option<PathBuf>);

impl Files {
    /// Where a path of the case is; `None` for what is not there.
    fn place(&self, path: &str) -> Option<PathBuf> {
        let root = self.0.as_ref()?;
        match path.strip_prefix(HOME) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => Some(root.join(rest.trim_start_matches('/'))),
            // Each case has a folder for temporary files of its own, which is empty.
            _ if path.starts_with("/tmp/") => None,
            _ => Some(PathBuf::from(path)),
        }
    }
}

impl Look for Files {
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
        let (root, place) = (self.0.as_ref()?, self.place(path)?);
        let real = place.canonicalize().ok()?;
        let inside = real.strip_prefix(root.canonicalize().ok()?);
        Some(match inside {
            Ok(rest) if rest.as_os_str().is_empty() => HOME.to_owned(),
            Ok(rest) => format!("{HOME}/{}", rest.display()),
            Err(_) => real.display().to_string(),
        })
    }

    fn script(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.place(path)?).ok()
    }
}

impl World for Files {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        Ok(paths.iter().map(|path| Look::real(self, path)).collect())
    }

    fn look(&mut self) -> Option<Rc<dyn Look>> {
        self.0.as_ref()?;
        Some(Rc::new(self.clone()))
    }
}
