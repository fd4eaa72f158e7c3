//! Folders that are thrown away: a home, a state folder, a runtime folder, projects; and the environment that goes
//! with them, so that nothing of the user's own has a say.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
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
        let folder = tempfile::Builder::new().prefix("checks-").tempdir()?;
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

    /// Puts a folder on the list of those that the user of this machine trusts.
    ///
    /// # Errors
    /// If the list cannot be written.
    pub fn trust(&self, folder: &Path) -> io::Result<()> {
        let list = self.root.join("state/toolgate");
        DirBuilder::new().mode(0o700).create(&list)?;
        let text = serde_json::json!({"schema": 1, "folders": [{"path": folder, "since": 0}]}).to_string();
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(list.join("trusted-folders.json"))?;
        file.write_all(text.as_bytes())
    }

    /// A command that sees only this machine, and the compilers of the real one.
    pub fn command(&self, line: &[OsString]) -> Command {
        let mut command = plain(line);
        command.env_clear().env("LANG", "C.UTF-8");
        let folders = [("HOME", "home"), ("XDG_RUNTIME_DIR", "runtime"), ("TMPDIR", "tmp")];
        command.envs(folders.map(|(name, folder)| (name, self.root.join(folder))));
        // rustup's programs are stand-ins that look for the real ones in the home folder.
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into()));
        }
        command.env("PATH", &self.path).env("XDG_STATE_HOME", self.root.join("state"));
        command
    }

    /// A command with the environment of the user who runs this, but for the tools and the trusted folders.
    pub fn users_command(&self, line: &[OsString]) -> Command {
        let mut command = plain(line);
        command.env("PATH", &self.path).env("XDG_STATE_HOME", self.root.join("state"));
        command
    }
}

fn plain(line: &[OsString]) -> Command {
    let mut words = line.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words);
    command
}
