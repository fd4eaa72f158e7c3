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

/// Most bytes that are kept about one file or folder. Versions of tools come and go, and what is there is never looked over.
const SIZE: u64 = 256 << 20;

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

/// Removes what was not used for a while, or grew too large.
pub(crate) fn prune() {
    // What cannot be looked at stays.
    if let Some(all) = all().filter(|all| private_folder(all).is_ok()) {
        prune_at(&all, SystemTime::now(), SIZE);
    }
}

fn prune_at(all: &Path, now: SystemTime, most: u64) {
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for folder in list(all.to_path_buf()).flat_map(|tool| list(tool.path())) {
        let Ok(found) = folder.metadata() else { continue };
        let unused = found.modified().ok().and_then(|used| now.duration_since(used).ok());
        let too_old = unused.is_some_and(|unused| unused > KEPT);
        if found.is_dir() && (too_old || size(&folder.path()) > most) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

/// The bytes of the files in a folder and below it.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
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
        let cases = [
            ("mypy/old", 31, 1, false),
            ("mypy/new", 29, 1, true),
            ("tsc/old", 400, 1, false),
            ("tsc/now", 0, 10, true),
            ("node/large", 0, 11, false),
        ];
        for (name, days, bytes, _) in cases {
            let folder = scratch.path().join(name);
            std::fs::create_dir_all(folder.join("in")).expect("a folder");
            std::fs::write(folder.join("in/file"), "x".repeat(bytes)).expect("a file");
            File::open(&folder).and_then(|open| open.set_modified(now - day * days)).expect("its time");
        }
        prune_at(scratch.path(), now, 10);
        for (name, _, _, expected) in cases {
            assert_eq!(scratch.path().join(name).exists(), expected, "{name}");
        }
        prune_at(&scratch.path().join("none"), now, 10);
    }
}
