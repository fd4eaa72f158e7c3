//! Plugins whose files are watched by this process, so that newer builds take their place while it runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use toolgate_host::{HotSwap, Plugin};

/// The slots of the files that a command line names.
static NAMED: Mutex<Option<HashMap<PathBuf, HotSwap>>> = Mutex::new(None);

/// The plugin of a file that is watched.
pub fn current(file: &Path) -> Option<Plugin> {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    Some(named.as_ref()?.get(&file.canonicalize().ok()?)?.current())
}

/// The files that are watched, which nobody may change who is judged.
pub fn files() -> Vec<PathBuf> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// See [`files`].
static WATCHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has the plugin of a file that a command line names taken from this slot.
pub fn name(file: PathBuf, slot: HotSwap) {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    named.get_or_insert_default().insert(file, slot);
}

/// Has these files kept from whoever is judged.
pub fn keep(files: &[PathBuf]) {
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = files.to_vec();
}
