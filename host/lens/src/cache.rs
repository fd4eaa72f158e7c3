//! Where tools keep what makes their next run faster: a private folder of the user's, not the project.

use std::fmt::Write;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use toolgate_private::private_folder;

/// How long what nobody uses is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder for what this tool keeps about this file or folder. None if there is no private folder for it.
pub(crate) fn place(tool: &str, about: &Path) -> Option<PathBuf> {
    let mut name = String::new();
    for byte in Sha256::digest(about.as_os_str().as_bytes()).iter().take(8) {
        let _ = write!(name, "{byte:02x}");
    }
    let folder = all()?.join(tool).join(name);
    private_folder(&folder).ok()?;
    // When it was used last.
    File::open(&folder).and_then(|open| open.set_modified(SystemTime::now())).ok()?;
    Some(folder)
}

/// Removes what was not used for a while.
pub(crate) fn prune() {
    // What cannot be looked at stays.
    if let Some(all) = all().filter(|all| private_folder(all).is_ok()) {
        prune_at(&all, SystemTime::now());
    }
}

fn prune_at(all: &Path, now: SystemTime) {
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for folder in list(all.to_path_buf()).flat_map(|tool| list(tool.path())) {
        let Ok(found) = folder.metadata() else { continue };
        let unused = found.modified().ok().and_then(|used| now.duration_since(used).ok());
        if found.is_dir() && unused.is_some_and(|unused| unused > KEPT) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

fn all() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("toolgate/lens"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_used_goes() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let now = SystemTime::now();
        let day = Duration::from_secs(24 * 60 * 60);
        let cases = [("mypy/old", 31, false), ("mypy/new", 29, true), ("tsc/old", 400, false), ("tsc/now", 0, true)];
        for (name, days, _) in cases {
            let folder = scratch.path().join(name);
            std::fs::create_dir_all(folder.join("in")).expect("a folder");
            File::open(&folder).and_then(|open| open.set_modified(now - day * days)).expect("its time");
        }
        prune_at(scratch.path(), now);
        for (name, _, expected) in cases {
            assert_eq!(scratch.path().join(name).exists(), expected, "{name}");
        }
        prune_at(&scratch.path().join("none"), now);
    }
}
