//! A fixture, copied to where a daemon may look at it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::tools::Tools;

/// The folder of a fixture in the repository.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Copies a fixture into an empty folder. A project with a `package.json` gets the packages from npm as a link: to
/// copy them takes longer than to check with them.
///
/// # Errors
/// If files cannot be read or written.
pub fn lay_out(name: &str, root: &Path, tools: Option<&Tools>) -> io::Result<()> {
    copy(&fixture(name), root)?;
    match tools {
        Some(tools) if root.join("package.json").is_file() => symlink(tools.node_modules(), root.join("node_modules")),
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
