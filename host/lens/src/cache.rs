//! Where tools keep what makes their next run faster: a private folder of the user's, not the project.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The place for what this tool keeps about this file or folder. None if there is no private folder for it.
pub(crate) fn place(tool: &str, about: &Path) -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let folder = cache.join("toolgate/lens").join(tool);
    toolgate_private::private_folder(&folder).ok()?;
    let mut name = String::new();
    for byte in Sha256::digest(about.as_os_str().as_bytes()).iter().take(8) {
        let _ = write!(name, "{byte:02x}");
    }
    Some(folder.join(name))
}
