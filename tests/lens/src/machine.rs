//! Folders that are thrown away: a home, a state folder, a runtime folder, projects; and the environment that goes
//! with them, so that nothing of the user's own has a say.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::tools::Tools;

/// A machine of a test's own.
#[derive(Debug)]
pub struct Machine {
    folder: TempDir,
    root: PathBuf,
    path: OsString,
}

impl Machine {
    /// Lays out the folders. With tools they come first in `PATH`.
    ///
    /// # Errors
    /// If the folders cannot be made.
    pub fn new(tools: Option<&Tools>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("lens-").tempdir()?;
        let root = folder.path().canonicalize()?;
        for name in ["home", "state", "runtime", "tmp", "projects"] {
            DirBuilder::new().mode(0o700).create(root.join(name))?;
        }
        let path = tools.map_or_else(|| std::env::var_os("PATH").unwrap_or_default(), Tools::path);
        Ok(Machine { folder, root, path })
    }

    /// A new folder for a project.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn project(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.root.join("projects").join(name);
        fs::create_dir(&folder)?;
        Ok(folder)
    }

    /// Where a daemon's socket goes. Short, as the system has a limit of about a hundred bytes.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.root.join("runtime").join(name)
    }

    /// Everything that this machine consists of.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A command that sees only this machine, and the compilers of the real one.
    pub fn command(&self, line: &[OsString]) -> Command {
        let (program, arguments) =
            line.split_first().map_or((Default::default(), line), |(first, rest)| (first.clone(), rest));
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("PATH", &self.path).env("LANG", "C.UTF-8");
        let folders =
            [("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_RUNTIME_DIR", "runtime"), ("TMPDIR", "tmp")];
        command.envs(folders.map(|(name, folder)| (name, self.root.join(folder))));
        // rustup's programs are stand-ins that look for the real ones in the home folder.
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into()));
        }
        command
    }
}
