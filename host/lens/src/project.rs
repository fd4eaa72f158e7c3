//! The folder that a daemon works for.

use std::path::{Path, PathBuf};

/// A project, as its checks see it.
#[derive(Clone, Debug)]
pub struct Project {
    /// Absolute, links resolved.
    pub root: PathBuf,
    /// Whether the user trusts what the project owns, so that it may run.
    pub trusted: bool,
}

impl Project {
    /// Whether a file of the project's own may be run.
    pub fn may_run(&self, program: &Path) -> bool {
        self.trusted || !self.owns(program)
    }

    /// Whether a path leads into the project, links resolved. What cannot be resolved counts as the project's.
    pub fn owns(&self, path: &Path) -> bool {
        path.canonicalize().map_or(true, |real| real.starts_with(&self.root))
    }

    /// The file or folder of this relative name that is nearest to `file`: beside it or above, never above the root.
    pub fn nearest(&self, file: &Path, name: &str) -> Option<PathBuf> {
        let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        folders.map(|folder| folder.join(name)).find(|path| path.exists())
    }

    /// A program on the user's `PATH`. Entries that are not absolute do not count, nor, in a project that is not
    /// trusted, do programs inside it.
    pub fn on_path(&self, program: &str) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::var_os("PATH")?;
        let fits = |path: &PathBuf| {
            let runs = |found: std::fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 != 0;
            path.metadata().is_ok_and(runs) && self.may_run(path)
        };
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(program)).find(fits)
    }
}
