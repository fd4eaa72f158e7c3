//! What a judgement asks of whoever runs it: links, git, other components, files. Not what is made of the answers.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use toolgate_shell::{FileOracle, Presence};

use crate::call::Memory;

/// What others know of the surroundings.
pub trait GuardHost {
    /// For each path the one behind its links, in the same order; `None` where it cannot be told. An error is a
    /// reason to stop the call.
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String>;

    /// The branch that is checked out in a folder; the inner `None` for none, the outer one if it cannot be told.
    fn branch(&mut self, _folder: &str) -> Option<Option<String>> {
        None
    }

    /// Whether there is a regular file at a path, links not followed, that git holds as it is on disk, in the last commit
    /// and in the index, so that nothing is lost with it.
    fn holds(&mut self, _path: &str) -> bool {
        false
    }

    /// The files below a folder that git knows and that differ from the last commit; `None` if that cannot be told.
    fn changed_below(&mut self, _folder: &str) -> Option<Vec<String>> {
        None
    }

    /// Whether other branches or tags hold all commits of a local branch of the repository in a folder, so that nothing is
    /// lost with it.
    fn merged(&mut self, _folder: &str, _branch: &str) -> bool {
        false
    }

    /// Whether a local branch of the repository in a folder has a commit that no other branch, tag or remote's branch has, so that
    /// nobody else can have it.
    fn is_only_on(&mut self, _folder: &str, _branch: &str) -> bool {
        false
    }

    /// Whether git holds every file of the worktree at a folder but those that it ignores, as they are on disk, and a branch is
    /// checked out there, so that nothing is lost with it.
    fn is_clean(&mut self, _folder: &str) -> bool {
        false
    }

    /// How git stands to the regular file at a path; `None` if that cannot be told.
    fn tracked(&mut self, _path: &str) -> Option<Tracked> {
        None
    }

    /// Whether a commit has another file at a place below the root of a worktree than the last one, or none. `None` if there is
    /// no such commit, or it cannot be told.
    fn differs(&mut self, _root: &str, _commit: &str, _file: &str) -> Option<bool> {
        None
    }

    /// Whether another component's predicate holds. The request is a JSON text.
    fn predicate(&mut self, _name: &str, _request: &str) -> Option<bool> {
        None
    }

    /// What is at a path, if anyone knows.
    fn look(&mut self) -> Option<Rc<dyn FileOracle>> {
        None
    }
}

/// How git stands to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracked {
    /// The last commit and the index hold it as it is.
    Held,
    /// The last commit or the index has another one.
    Changed,
    /// Git does not know it.
    Untracked,
    /// Git does not know it, and is told to overlook it.
    Ignored,
}

/// Nothing is known: paths are judged as they are written.
#[derive(Debug)]
pub struct NoHost;

impl GuardHost for NoHost {
    fn resolve(&mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        Ok(vec![None; paths.len()])
    }
}

/// What the shell engine is told of the files, which may be others when the text runs: what is not there now is not known
/// not to be, and no condition on what is there decides that a command never runs.
pub struct VolatileFiles {
    files: Rc<dyn FileOracle>,
    earlier: Arc<Vec<String>>,
    programs: Arc<Vec<(String, String)>>,
    /// Every file may be one that the session wrote.
    forgotten: bool,
    /// Those of the session, for whoever looks for one.
    index: OnceCell<FxHashSet<String>>,
}

impl VolatileFiles {
    /// These files, none of which the session wrote.
    pub fn new(files: Rc<dyn FileOracle>) -> Self {
        Self::after(files, &Memory::default())
    }

    /// These files after what earlier calls of the session did.
    pub(crate) fn after(files: Rc<dyn FileOracle>, earlier: &Memory) -> Self {
        VolatileFiles {
            files,
            earlier: Arc::clone(&earlier.written),
            programs: Arc::clone(&earlier.programs),
            forgotten: earlier.forgotten,
            index: OnceCell::new(),
        }
    }
}

impl FileOracle for VolatileFiles {
    fn look(&self, path: &str) -> Presence {
        match self.files.look(path) {
            Presence::Absent => Presence::Unknown,
            there => there,
        }
    }

    fn lasts(&self) -> bool {
        false
    }

    fn real(&self, path: &str) -> Option<String> {
        self.files.real(path)
    }

    fn script(&self, path: &str) -> Option<String> {
        self.files.script(path)
    }

    fn is_of_session(&self, path: &str) -> bool {
        if self.forgotten || self.earlier.is_empty() {
            return self.forgotten;
        }
        let index = self.index.get_or_init(|| self.earlier.iter().cloned().collect());
        let mut folders = path.match_indices('/').map(|(at, _)| &path[..=at]);
        index.contains(path) || folders.any(|folder| index.contains(folder))
    }

    fn of_session(&self) -> &[String] {
        &self.earlier
    }

    fn program(&self, path: &str) -> Option<String> {
        let made = self.programs.iter().find(|(own, _)| own == path);
        made.map(|(_, program)| program.clone())
    }
}
