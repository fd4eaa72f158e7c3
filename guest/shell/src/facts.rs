//! What the caller knows about the place where a text will run.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::tracker::Trackers;

/// What is at a path, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The facts do not say.
    Unknown,
    /// Nothing is there.
    Absent,
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// A device, a socket, a pipe.
    Other,
}

/// Knows which paths exist.
pub trait FileOracle {
    /// What is at this path, which is absolute and clean.
    fn look(&self, path: &str) -> Presence;

    /// The same path with its links resolved, if that is known.
    fn real(&self, _path: &str) -> Option<String> {
        None
    }

    /// Whether what is there now is there when the text runs. If not, no condition on it comes out one way for certain;
    /// effects still go by it.
    fn lasts(&self) -> bool {
        true
    }

    /// The text of the file at this path, which is about to be run as a script: `None` if it is none, is too long or
    /// may not be read.
    fn script(&self, _path: &str) -> Option<String> {
        None
    }

    /// What a file holds that was there before the text at hand, and is as it was.
    fn held(&self, _path: &str) -> Option<String> {
        None
    }

    /// Whether an earlier text of the session has written the file at this path, which is absolute and clean.
    fn is_of_session(&self, _path: &str) -> bool {
        false
    }

    /// The files that earlier texts of the session have written, as far as they are known.
    fn of_session(&self) -> &[String] {
        &[]
    }

    /// The program of the system that the file at this path is, if an earlier text of the session has copied or linked it there.
    /// Empty if it is one that is not known.
    fn program(&self, _path: &str) -> Option<String> {
        None
    }

    /// What the text at hand has put into the file at this path, or an earlier one of the session.
    fn written(&self, _path: &str) -> Option<String> {
        None
    }
}

/// What the caller knows about the place where a text will run. Whatever is not given is unknown.
#[derive(Clone, Default)]
pub struct Facts {
    pub(crate) cwd: Option<String>,
    pub(crate) home: Option<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) env_complete: bool,
    pub(crate) files: Option<Rc<dyn FileOracle>>,
    pub(crate) trackers: Option<Rc<Trackers>>,
    pub(crate) may_be_zsh: bool,
}

impl Facts {
    /// The text starts in this directory; an empty one is not known.
    pub fn new(cwd: impl Into<String>) -> Self {
        let cwd = cwd.into();
        Facts { cwd: Some(cwd).filter(|cwd| cwd.starts_with('/')), ..Facts::default() }
    }

    /// What `~` and `$HOME` stand for.
    #[must_use]
    pub fn home(mut self, home: impl Into<String>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// A variable of the environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// A name that was not given is unset. Without this it is unknown.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.env_complete = true;
        self
    }

    /// The shell that runs the text may be zsh as well. What that reads otherwise than bash is then read both ways.
    #[must_use]
    pub fn perhaps_zsh(mut self) -> Self {
        self.may_be_zsh = true;
        self
    }

    /// Which paths exist. Without this, what the text does not make itself is taken to be there.
    #[must_use]
    pub fn files(mut self, files: Rc<dyn FileOracle>) -> Self {
        self.files = Some(files);
        self
    }

    /// State that is followed besides the directory and the variables.
    #[must_use]
    pub fn trackers(mut self, trackers: Rc<Trackers>) -> Self {
        self.trackers = Some(trackers);
        self
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts")
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .field("env", &self.env)
            .field("env_complete", &self.env_complete)
            .finish_non_exhaustive()
    }
}
