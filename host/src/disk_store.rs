//! What was made once and is kept between runs: files in a folder of the user's own.
//!
//! An entry is a file named by everything that decides what is in it. It begins with that name and with the digest of its
//! content. It is used only if the folder and the file are the user's alone, and if the name and the digest are right;
//! whatever is wrong, the content is made again and the entry replaced.
//!
//! They find what was cut, mixed up or damaged. They do not find a forgery: whoever can write here as this user can
//! write a digest as well. There is no secret here that such a program could not read; it could change this program itself
//! just as well. So the gate keeps agents out of the folder, as it does for all that is Toolgate's own.

use std::ffi::OsString;
use std::fs::DirEntry;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, OFlags};
#[cfg(feature = "cranelift")]
use toolgate_private::Turn;
use toolgate_private::{Folder, Others, PrivateError, system};

use crate::digest::Digest;

/// How long after somebody has begun to make an entry it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(600);

/// How long is waited for another process that makes the same entry. What takes longer is made twice.
#[cfg(feature = "cranelift")]
const TURN_TIMEOUT: Duration = Duration::from_secs(300);

/// How exactly it is known when an entry was last used.
const USED_RESOLUTION: Duration = Duration::from_secs(3_600);

/// What entries are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// What one begins with, before its name, a blank, the 64 hexadecimal digits of the content's digest and the end of the line.
    pub(crate) mark: &'static [u8],
    /// What it is called where one is not used or not kept.
    pub(crate) called: &'static str,
    /// What one may take, in bytes.
    pub(crate) largest: u64,
    /// What all of them together may take, in bytes.
    pub(crate) size: u64,
}

/// An entry that can be used.
pub(crate) struct Entry {
    bytes: Vec<u8>,
    start: usize,
    #[cfg_attr(not(feature = "cranelift"), expect(dead_code, reason = "code has one that is asked for"))]
    pub(crate) digest: Digest,
}

impl Entry {
    pub(crate) fn content(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

/// The turn of whoever makes an entry, until it is dropped.
#[cfg(feature = "cranelift")]
pub(crate) struct MakerTurn<'a> {
    entries: &'a Entries,
    lock: String,
    _turn: Turn,
}

#[cfg(feature = "cranelift")]
impl Drop for MakerTurn<'_> {
    fn drop(&mut self) {
        // Whoever waits for the lock sees that its file is gone, and makes another.
        self.entries.remove(&self.lock);
    }
}

/// A folder of entries of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    folder: PathBuf,
    pub(crate) kind: Kind,
}

impl Entries {
    /// Those in this folder, which is made with the first one and which nobody else can look into.
    pub(crate) fn new(folder: PathBuf, kind: Kind) -> Self {
        Entries { folder, kind }
    }

    #[cfg(feature = "cranelift")]
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// An entry, if there is one that can be used.
    pub(crate) fn get(&self, name: &str) -> Option<Entry> {
        match self.read(name) {
            Ok(bytes) => {
                let found = self.kind.checked(name, bytes?);
                if found.is_none() {
                    self.unfit(name, "its content is not as written");
                }
                found
            }
            Err(error) => {
                tracing::warn!(%error, "{} is not used", self.kind.called);
                None
            }
        }
    }

    /// Says that an entry cannot be used.
    pub(crate) fn unfit(&self, name: &str, why: &str) {
        tracing::warn!(entry = name, why, "{} is not used", self.kind.called);
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, PrivateError> {
        let Some(folder) = Folder::open(&self.folder)? else { return Ok(None) };
        folder.closed()?;
        let Some(file) = folder.file(name, OFlags::RDONLY, Others::Distrust)? else { return Ok(None) };
        let bytes = folder.content(&file, name, self.kind.largest)?;
        let age = file.metadata().and_then(|found| found.modified()).ok();
        if age.and_then(|used| SystemTime::now().duration_since(used).ok()).is_none_or(|age| age >= USED_RESOLUTION) {
            // So that what is used goes last. It is only about room.
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(Some(bytes))
    }

    /// Whether nobody has begun to make this entry lately. From here on somebody has, so that what cannot be made, or cannot be
    /// kept, is not tried at each turn. Not where nothing can be kept at all.
    pub(crate) fn claim(&self, name: &str) -> bool {
        let begun = begun(name);
        let age = std::fs::symlink_metadata(self.folder.join(&begun)).and_then(|found| found.modified()).ok();
        let now = SystemTime::now();
        // One that is to come is of a clock that was set back.
        let age = age.map(|tried| now.duration_since(tried).unwrap_or_else(|early| early.duration()));
        let begin = || -> Result<(), PrivateError> {
            let flags = OFlags::WRONLY | OFlags::CREATE;
            let folder = Folder::create(&self.folder)?;
            self.tidy(&folder);
            let file = folder.file(&begun, flags, Others::SetRight)?;
            file.map_or(Ok(()), |file| file.set_modified(SystemTime::now()))
                .map_err(|error| system(&self.folder, error))
        };
        age.is_none_or(|age| age >= RETRY_AFTER) && begin().is_ok()
    }

    /// Waits until no other process makes this entry. From here to the end of what is returned the others wait. None where there is
    /// no waiting: then it is made twice, which costs time and nothing else.
    #[cfg(feature = "cranelift")]
    pub(crate) fn turn(&self, name: &str) -> Option<MakerTurn<'_>> {
        let lock = format!("{name}.lock");
        let turn = Folder::create(&self.folder).and_then(|folder| {
            folder.closed()?;
            folder.turn_within(TURN_TIMEOUT, &lock)
        });
        let turn =
            turn.inspect_err(|error| tracing::warn!(%error, "not waited for others that make {}", self.kind.called));
        Some(MakerTurn { entries: self, lock, _turn: turn.ok()? })
    }

    /// Keeps an entry. That it cannot be kept costs time and nothing else.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        match self.write(name, content) {
            // Nobody was to see before that it is there.
            Ok(true) => self.remove(&begun(name)),
            Ok(false) => tracing::debug!(entry = name, "{} is too large to save", self.kind.called),
            Err(error) => tracing::warn!(%error, "{} could not be saved", self.kind.called),
        }
    }

    /// Whether there is room for it.
    fn write(&self, name: &str, content: &[u8]) -> Result<bool, PrivateError> {
        let entry = self.kind.entry(name, content);
        if entry.len() as u64 > self.kind.largest.min(self.kind.size) {
            return Ok(false);
        }
        let folder = Folder::create(&self.folder)?;
        folder.closed()?;
        folder.replace_checked(name, &entry)?;
        self.make_room(&folder, name);
        Ok(true)
    }

    /// What is in the folder: when it was last used, how long it is, and its name.
    fn files(&self) -> Vec<(SystemTime, u64, OsString)> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let file = |entry: DirEntry| {
            let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((found.modified().ok()?, found.len(), entry.file_name()))
        };
        entries.filter_map(file).collect()
    }

    /// Removes what makers left that did not come to an end: entries' names have no dot.
    fn tidy(&self, folder: &Folder) {
        let now = SystemTime::now();
        for (time, _, name) in self.files() {
            let old = now.duration_since(time).unwrap_or_else(|early| early.duration()) >= RETRY_AFTER;
            if old && name.as_encoded_bytes().contains(&b'.') {
                let _ = rustix::fs::unlinkat(folder.fd(), &name, AtFlags::empty());
            }
        }
    }

    /// Removes an entry that is of no use.
    pub(crate) fn remove(&self, name: &str) {
        if let Ok(Some(folder)) = Folder::open(&self.folder) {
            let _ = rustix::fs::unlinkat(folder.fd(), name, AtFlags::empty());
        }
    }

    /// Removes what was used longest ago until the rest has room.
    fn make_room(&self, folder: &Folder, but: &str) {
        let mut files = self.files();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, length, _)| length).sum();
        for (_, length, name) in files.into_iter().filter(|(_, _, name)| name != but) {
            if all <= self.kind.size {
                break;
            }
            if rustix::fs::unlinkat(folder.fd(), &name, AtFlags::empty()).is_ok() {
                all -= length;
            }
        }
    }
}

impl Kind {
    /// The entry of this name for a content.
    pub(crate) fn entry(&self, name: &str, content: &[u8]) -> Vec<u8> {
        [self.mark, name.as_bytes(), b" ", Digest::of(content).sha256.as_bytes(), b"\n", content].concat()
    }

    /// What was read, if it was written under this name and has the digest that it names.
    fn checked(&self, name: &str, bytes: Vec<u8>) -> Option<Entry> {
        let rest = bytes.strip_prefix(self.mark)?.strip_prefix(name.as_bytes())?.strip_prefix(b" ")?;
        let (digest, content) = rest.split_at_checked(64)?;
        let content = content.strip_prefix(b"\n")?;
        let (own, start) = (Digest::of(content), bytes.len() - content.len());
        (own.sha256.as_bytes() == digest).then_some(Entry { bytes, start, digest: own })
    }
}

/// The name of what says that somebody has begun to make an entry.
fn begun(name: &str) -> String {
    format!("{name}.begun")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { mark: b"toolgate test 1 ", called: "an entry", largest: 1_000, size: 2_500 };

    fn in_folder(scratch: &tempfile::TempDir, kind: Kind) -> Entries {
        Entries::new(scratch.path().join("entries"), kind)
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let entries = in_folder(&scratch, KIND);
        let there = |name: &str| entries.folder().join(name).exists();
        for (hours, name) in [(30, "old"), (20, "older-than-it-was"), (10, "new")] {
            entries.put(name, &[b'x'; 880]);
            let file = std::fs::File::open(entries.folder().join(name)).expect("there");
            file.set_modified(SystemTime::now() - Duration::from_secs(3_600 * hours)).expect("its time");
            if name == "older-than-it-was" {
                assert!(entries.get("old").is_some(), "it is used");
            }
        }
        assert_eq!(["old", "older-than-it-was", "new"].map(there), [true, false, true]);
        entries.put("large", &[b'x'; 1_000]);
        assert!(!there("large") && there("new"), "one that is too large takes no other's place");
    }

    #[test]
    fn what_somebody_has_begun_is_left_to_them_for_a_while() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let entries = in_folder(&scratch, KIND);
        assert!(entries.claim("one") && !entries.claim("one") && entries.claim("other"));
        let begun = |time: SystemTime| {
            let file = std::fs::File::open(entries.folder().join("one.begun")).expect("there");
            file.set_modified(time).expect("its time");
        };
        begun(SystemTime::now() - RETRY_AFTER);
        assert!(entries.claim("one") && !entries.claim("one"), "whoever began did not come to an end");
        // A clock that was set back.
        begun(SystemTime::now() + 10 * RETRY_AFTER);
        assert!(entries.claim("one") && !entries.claim("one"));
        entries.put("one", b"it");
        assert!(entries.claim("one"), "what is gone again can be made at once");
        entries.put("large", &[b'x'; 1_000]);
        assert!(entries.claim("large") && !entries.claim("large"), "what is not kept is not made at each turn");
        let left = |age: Duration| {
            let names = ["large.begun", ".large.1.2"].map(|name| entries.folder().join(name));
            for path in &names {
                let file = std::fs::File::create(path).expect("a file");
                file.set_modified(SystemTime::now() - age).expect("its time");
            }
            assert!(entries.claim(&format!("after {}", age.as_secs())));
            names.iter().filter(|path| path.exists()).count()
        };
        entries.put("kept", b"it");
        let file = std::fs::File::open(entries.folder().join("kept")).expect("there");
        file.set_modified(SystemTime::now() - RETRY_AFTER).expect("its time");
        assert_eq!((left(Duration::ZERO), left(RETRY_AFTER)), (2, 0), "what was left long ago goes");
        assert!(entries.get("kept").is_some(), "and no entry does");
        let file = scratch.path().join("file");
        std::fs::write(&file, "").expect("a file");
        assert!(!Entries::new(file, KIND).claim("one"), "nothing can be kept there");
    }
}
