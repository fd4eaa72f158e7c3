//! The folders that were made for agents' configuration files: whoever takes Toolgate out gets rid of them as well, if nothing
//! else is in them by then. A folder that was there before, or that is not known to be made here, stays.

use std::fs;
use std::path::{Path, PathBuf};

use toolgate_host::private::PrivateFile;

use crate::dirs;

/// Most folders that are remembered.
const MOST: usize = 256;

/// The folders above a file that are not there, the topmost first.
pub fn missing(file: &Path) -> Vec<PathBuf> {
    let above = file.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err());
    let mut folders: Vec<PathBuf> = above.map(Path::to_path_buf).collect();
    folders.reverse();
    folders
}

/// Remembers that these were made. Nothing depends on it but that they are removed.
pub fn note(folders: &[PathBuf]) {
    let there = folders.iter().filter(|folder| folder.is_dir());
    change(|known| known.extend(there.cloned()));
}

/// Removes the folders above a file that were made for it, as far as they are empty. The topmost that is gone.
pub fn remove(file: &Path) -> Option<PathBuf> {
    let known = store().map(|store| read(store.read().ok().flatten().as_deref())).unwrap_or_default();
    let made = file.ancestors().skip(1).take_while(|folder| known.iter().any(|one| one == folder));
    let gone: Vec<PathBuf> = made.take_while(|folder| fs::remove_dir(folder).is_ok()).map(Path::to_path_buf).collect();
    change(|known| known.retain(|one| !gone.contains(one)));
    gone.into_iter().last()
}

/// Leaves nothing behind where nothing is to be remembered.
fn forget(store: &Path) {
    let mut lock = store.as_os_str().to_owned();
    lock.push(".lock");
    let gone = fs::remove_file(store).and_then(|()| fs::remove_file(lock));
    if let (Ok(()), Some(folder)) = (gone, store.parent()) {
        // Not if there is anything else in it.
        let _ = fs::remove_dir(folder);
    }
}

fn store() -> Option<PrivateFile> {
    Some(PrivateFile::new(&dirs::state()?.join("folders.json")))
}

fn read(bytes: Option<&[u8]>) -> Vec<PathBuf> {
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

fn change(change: impl FnOnce(&mut Vec<PathBuf>)) {
    let Some(store) = store() else { return };
    let before = read(store.read().ok().flatten().as_deref());
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return;
    }
    if after.is_empty() {
        return forget(&store.path());
    }
    after.drain(..after.len().saturating_sub(MOST));
    // A folder that is not remembered stays: no reason to fail.
    let _ = store.update(|_| serde_json::to_vec(&after).unwrap_or_default());
}
