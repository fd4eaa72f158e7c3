//! How much is saved of a call, and for how long it is kept.

use std::time::Duration;

/// The limits of saving. What does not fit is not saved, which is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths of one call: files, folders and links.
    pub paths: usize,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of one call, as they are in the files.
    pub call: u64,
    /// Files of a workspace outside of any repository that are saved before a program whose changes are not known.
    pub untracked_files: usize,
    /// How long a call waits for what it changes to be saved.
    pub wait: Duration,
    /// Bytes of the whole store, as they are in it. The oldest entries go first.
    pub store: u64,
    /// How long an entry is kept.
    pub age: Duration,
    /// Bytes that have to stay free on the store's file system.
    pub free: u64,
}

impl Limits {
    /// For a person at work.
    pub const DEFAULT: Limits = Limits {
        // A folder of dependencies has more, and can be installed again.
        paths: 20_000,
        // Databases and videos: copying one takes longer than anybody waits.
        file: 256 << 20,
        call: 512 << 20,
        untracked_files: 5_000,
        // Agents give a hook ten seconds; the verdict has to fit, too.
        wait: Duration::from_millis(2_500),
        store: 4 << 30,
        age: Duration::from_secs(14 * 24 * 3_600),
        free: 1 << 30,
    };
}
