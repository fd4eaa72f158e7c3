//! The entries of calls in the user's state folder.
//!
//! ```text
//! version            the number of the format
//! lock               held in common by who saves or undoes, alone by who tidies up
//! objects/           contents of files
//! calls/ID/entry.json    what was there before the call; never changed
//! calls/ID/after.json    what was there after it
//! calls/ID/undone.json   by which entry it was undone
//! tmp-…/             entries that are being written
//! ```
//!
//! An id is the time in milliseconds, the hash of agent and session, and a random number, so that the newest entries and those
//! of a session are found by name. An entry becomes visible as a whole. Nothing waits for the disk: a loss of power can leave the
//! newest entries empty or cut. What is read is bounded and checked, and what is damaged or forged is an error that names the file.

mod valid;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolgate_private::{Folder, Others, PrivateError};

use crate::Limits;
use crate::error::UndoError;
use crate::model::{After, Entry, Kind, SCHEMA, hex};
use crate::objects::Objects;

/// Most bytes of an entry.
pub const ENTRY: u64 = 64 << 20;

/// How long an object is kept that no entry refers to: one may be on its way.
pub const UNREFERENCED_RETENTION: Duration = Duration::from_secs(3_600);

/// How long who tidies up is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// How often it is looked whether the lock is free.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The store of a user.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    folder: Folder,
    objects: Objects,
}

/// Keeps what is in a store from being tidied away, until it is dropped.
#[derive(Debug)]
pub struct Hold(#[expect(dead_code, reason = "closing it gives the lock back")] File);

/// What [`Store::tidy`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// The entries that were dropped.
    pub dropped: Vec<String>,
    /// How many objects were removed.
    pub objects: usize,
    /// Bytes on the disk that entries and objects take up now.
    pub bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Undone {
    schema: u32,
    by: String,
}

impl Store {
    /// Opens the store in this folder, which is made if it is missing.
    ///
    /// # Errors
    /// If it is not the user's alone or cannot be made; [`UndoError::OtherVersion`] if another version wrote it.
    pub fn open(folder: &Path) -> Result<Self, UndoError> {
        let opened = Folder::create(folder)?;
        opened.closed()?;
        if !Self::is_ours(folder, &opened)? {
            opened.replace("version", format!("{SCHEMA}\n").as_bytes())?;
        }
        Self::with(folder, opened)
    }

    /// Opens the store in this folder, if there is one.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn existing(folder: &Path) -> Result<Option<Self>, UndoError> {
        let Some(opened) = Folder::open(folder)? else { return Ok(None) };
        match Self::is_ours(folder, &opened)? {
            true => Self::with(folder, opened).map(Some),
            false => Ok(None),
        }
    }

    /// False if it has no version yet.
    fn is_ours(path: &Path, folder: &Folder) -> Result<bool, UndoError> {
        match folder.read("version", Others::Distrust, 64)? {
            None => Ok(false),
            Some(version) if version.trim_ascii() == SCHEMA.to_string().as_bytes() => Ok(true),
            Some(_) => Err(UndoError::OtherVersion { path: path.display().to_string() }),
        }
    }

    fn with(path: &Path, folder: Folder) -> Result<Self, UndoError> {
        Folder::create(&path.join("calls"))?.closed()?;
        Ok(Store { path: path.to_path_buf(), folder, objects: Objects::new(path)? })
    }

    /// The contents of files.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Keeps what is in it from being tidied away: for who saves, from the first object to the entry, and for who undoes.
    ///
    /// # Errors
    /// If somebody has been tidying up for a second.
    pub fn hold(&self) -> Result<Hold, UndoError> {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match self.locked(FlockOperation::NonBlockingLockShared)? {
                Some(file) => return Ok(Hold(file)),
                None if Instant::now() >= deadline => {
                    return Err(UndoError::Busy { path: self.folder.path("lock").display().to_string() });
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn locked(&self, how: FlockOperation) -> Result<Option<File>, UndoError> {
        let path = self.folder.path("lock");
        let file = self.folder.file("lock", OFlags::RDWR | OFlags::CREATE, Others::SetRight)?;
        let file = file.ok_or_else(|| UndoError::system(&path, io::ErrorKind::NotFound))?;
        match rustix::fs::flock(&file, how) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(error) => Err(UndoError::system(&path, error)),
        }
    }

    /// Makes sure that as much stays free on its file system as the limits say.
    ///
    /// # Errors
    /// [`UndoError::Full`] if it does not, or if there is no telling.
    pub fn room(&self, limits: &Limits) -> Result<(), UndoError> {
        let found = rustix::fs::fstatvfs(self.folder.fd()).map_err(|error| UndoError::system(&self.path, error))?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if free >= limits.free {
            return Ok(());
        }
        Err(UndoError::Full { path: self.path.display().to_string(), free: free >> 20, least: limits.free >> 20 })
    }

    /// A new id, for an entry of this moment, agent and session.
    pub fn new_id(now_ms: u64, agent: &str, session: &str) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // Its keys are random.
        let mut random = std::hash::RandomState::new().build_hasher();
        random.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
        format!("{now_ms:011x}-{}-{:04x}", session_hash(agent, session), random.finish() & 0xffff)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// If it is not a valid one, is too large, is there already, or cannot be written.
    pub fn add(&self, entry: &Entry) -> Result<(), UndoError> {
        let path = self.entry_path(&entry.id)?;
        valid::entry(entry, &entry.id).map_err(|why| UndoError::damaged(&path, why))?;
        let content = json(entry)?;
        let new = self.path.join(format!("tmp-{}", entry.id));
        let written = || -> Result<(), UndoError> {
            Folder::create(&new)?.replace_checked("entry.json", &content)?;
            std::fs::rename(&new, &path).map_err(|error| UndoError::system(&path, error))
        };
        written().inspect_err(|_| drop(std::fs::remove_dir_all(&new)))
    }

    /// Removes an entry. Its objects go when the store is tidied up.
    ///
    /// # Errors
    /// If there is none, or it cannot be removed.
    pub fn remove(&self, id: &str) -> Result<(), UndoError> {
        self.drop_entry(id)
    }

    /// The ids of all entries, the newest first.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn ids(&self) -> Result<Vec<String>, UndoError> {
        let calls = self.path.join("calls");
        let listed = std::fs::read_dir(&calls).map_err(|error| UndoError::system(&calls, error))?;
        let name = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let mut ids: Vec<String> = listed.filter_map(name).filter(|id| is_id(id)).collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        Ok(ids)
    }

    /// Those of an agent's session.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn ids_of(&self, agent: &str, session: &str) -> Result<Vec<String>, UndoError> {
        let hash = session_hash(agent, session);
        let mut ids = self.ids()?;
        ids.retain(|id| id[12..20] == hash);
        Ok(ids)
    }

    /// All entries, the newest first. One that is damaged is passed over, which is logged.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn entries(&self) -> Result<impl Iterator<Item = Entry>, UndoError> {
        let readable = |id: String| self.entry(&id).inspect_err(|error| tracing::warn!("passed over: {error}")).ok();
        Ok(self.ids()?.into_iter().filter_map(readable))
    }

    /// The entry of this id.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn entry(&self, id: &str) -> Result<Entry, UndoError> {
        let (entry, path) = self.read(id, "entry.json")?;
        let entry: Entry = entry.ok_or_else(|| UndoError::NoEntry(id.to_owned()))?;
        valid::entry(&entry, id).map_err(|why| UndoError::damaged(&path, why))?;
        Ok(entry)
    }

    /// What was there after the call, if that was looked at. It may not fit the entry: who reads both goes by the shorter one.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn after(&self, id: &str) -> Result<Option<After>, UndoError> {
        let (after, path) = self.read(id, "after.json")?;
        let Some(after) = after else { return Ok(None) };
        valid::after(&after).map_err(|why| UndoError::damaged(&path, why))?;
        Ok(Some(after))
    }

    /// Notes what was there after the call.
    ///
    /// # Errors
    /// If there is no such entry, or it cannot be written.
    pub fn set_after(&self, id: &str, after: &After) -> Result<(), UndoError> {
        let path = self.entry_path(id)?.join("after.json");
        valid::after(after).map_err(|why| UndoError::damaged(&path, why))?;
        self.written(id, "after.json", &json(after)?)
    }

    /// The id of the entry by which it was undone.
    ///
    /// # Errors
    /// If that is damaged.
    pub fn undone(&self, id: &str) -> Result<Option<String>, UndoError> {
        let (undone, path) = self.read::<Undone>(id, "undone.json")?;
        let Some(undone) = undone else { return Ok(None) };
        match undone.schema == SCHEMA && is_id(&undone.by) {
            true => Ok(Some(undone.by)),
            false => Err(UndoError::damaged(&path, "it is not the id of an entry")),
        }
    }

    /// Notes by which entry it was undone; none if it is not undone any more.
    ///
    /// # Errors
    /// If there is no such entry, or it cannot be written.
    pub fn set_undone(&self, id: &str, by: Option<&str>) -> Result<(), UndoError> {
        if let Some(by) = by {
            return self.written(id, "undone.json", &json(&Undone { schema: SCHEMA, by: by.to_owned() })?);
        }
        let path = self.entry_path(id)?.join("undone.json");
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(UndoError::system(&path, error)),
            _ => Ok(()),
        }
    }

    /// The entry whose id starts like this.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn find(&self, prefix: &str) -> Result<String, UndoError> {
        let mut ids = self.ids()?;
        ids.retain(|id| !prefix.is_empty() && id.starts_with(prefix));
        match ids.len() {
            0 => Err(UndoError::NoEntry(prefix.to_owned())),
            1 => Ok(ids.remove(0)),
            count => Err(UndoError::Several { prefix: prefix.to_owned(), count }),
        }
    }

    fn entry_path(&self, id: &str) -> Result<PathBuf, UndoError> {
        match is_id(id) {
            true => Ok(self.path.join("calls").join(id)),
            false => Err(UndoError::NoEntry(id.to_owned())),
        }
    }

    fn read<T: DeserializeOwned>(&self, id: &str, name: &str) -> Result<(Option<T>, PathBuf), UndoError> {
        let folder = self.entry_path(id)?;
        let path = folder.join(name);
        let Some(folder) = Folder::open(&folder)? else { return Ok((None, path)) };
        let Some(content) = folder.read(name, Others::Distrust, ENTRY)? else { return Ok((None, path)) };
        let read = serde_json::from_slice(&content).map_err(|error| UndoError::damaged(&path, error.to_string()))?;
        Ok((Some(read), path))
    }

    fn written(&self, id: &str, name: &str, content: &[u8]) -> Result<(), UndoError> {
        let folder = Folder::open(&self.entry_path(id)?)?.ok_or_else(|| UndoError::NoEntry(id.to_owned()))?;
        Ok(folder.replace_checked(name, content)?)
    }

    /// Whether it is time to tidy up again: ten minutes after the last time.
    pub fn is_due(&self, now_ms: u64) -> bool {
        let last = self.folder.read("tidied", Others::Distrust, 64).ok().flatten();
        let last = last.and_then(|text| String::from_utf8(text).ok()?.trim().parse::<u64>().ok());
        last.is_none_or(|last| now_ms.abs_diff(last) >= 600_000)
    }

    /// Drops entries that are older than the limits say, then the oldest until the store is within its size, then objects that
    /// nothing refers to any more. `beside` says how many bytes are kept elsewhere for an entry. None if somebody saves or undoes
    /// meanwhile: then it is for the next time. Not while this
    /// process itself has a [`Hold`].
    ///
    /// # Errors
    /// If the store cannot be listed, or the system does not let us read an entry.
    pub fn tidy(
        &self,
        limits: &Limits,
        beside: &HashMap<String, u64>,
        now_ms: u64,
    ) -> Result<Option<Tidied>, UndoError> {
        // Reading takes longest, and nobody has to wait for it.
        let mut references: References = HashMap::new();
        self.add_references(&mut references)?;
        let Some(_alone) = self.locked(FlockOperation::NonBlockingLockExclusive)? else { return Ok(None) };
        self.add_references(&mut references)?;
        let ids = self.ids()?;
        let mut dropped = self.superfluous(&ids, &references, beside, limits, now_ms)?;
        // What cannot be dropped needs its objects.
        dropped.retain(|id| self.drop_entry(id).inspect_err(|error| tracing::warn!("not dropped: {error}")).is_ok());
        self.drop_attempts(now_ms)?;
        let kept = ids.iter().filter(|id| !dropped.contains(*id));
        let needed = kept.clone().filter_map(|id| references.get(id)).flat_map(|needed| &needed.digests);
        let referenced: HashSet<String> = needed.cloned().collect();
        let bytes: u64 = kept.map(|id| self.entry_bytes(id)).sum();
        let swept = self.objects.sweep(&referenced, UNREFERENCED_RETENTION, time(now_ms))?;
        self.folder.replace_checked("tidied", now_ms.to_string().as_bytes())?;
        Ok(Some(Tidied { dropped: dropped.into_iter().collect(), objects: swept.removed, bytes: bytes + swept.bytes }))
    }

    /// Which objects each entry refers to. A damaged one refers to none. One that the system does not let us read may well do so:
    /// then nothing can be swept away.
    fn add_references(&self, references: &mut References) -> Result<(), UndoError> {
        for id in self.ids()? {
            if references.contains_key(&id) {
                continue;
            }
            let needed = match self.entry(&id) {
                Ok(entry) => Needed { digests: digests(&entry), recoverable: entry.recoverable },
                Err(error @ (UndoError::System { .. } | UndoError::Private(PrivateError::System { .. }))) => {
                    return Err(error);
                }
                Err(error) => {
                    tracing::warn!("passed over: {error}");
                    Needed::default()
                }
            };
            references.insert(id, needed);
        }
        Ok(())
    }

    /// Entries that are too old, and the oldest ones that have to go so that the rest fits. `ids` has the newest first. Those of
    /// calls that passed as they can be undone have half of the room before all others: nobody was asked about these.
    fn superfluous(
        &self,
        ids: &[String],
        references: &References,
        beside: &HashMap<String, u64>,
        limits: &Limits,
        now_ms: u64,
    ) -> Result<HashSet<String>, UndoError> {
        let mut sizes: HashMap<String, u64> = HashMap::new();
        for (digest, bytes) in self.objects.sizes()? {
            *sizes.entry(digest).or_default() += bytes;
        }
        let oldest = now_ms.saturating_sub(u64::try_from(limits.age.as_millis()).unwrap_or(u64::MAX));
        let mut bytes = 0_u64;
        let mut take = |id: &String, most: u64, full: &mut bool| {
            // What a newer entry refers to stays anyway, and was counted with it.
            let needed = references.get(id).into_iter().flat_map(|needed| &needed.digests);
            let new: Vec<(String, u64)> = needed.filter_map(|digest| sizes.remove_entry(digest)).collect();
            let own = new.iter().map(|(_, bytes)| bytes).sum::<u64>()
                + self.entry_bytes(id)
                + beside.get(id).copied().unwrap_or_default();
            *full |= bytes + own > most;
            match *full {
                true => sizes.extend(new),
                false => bytes += own,
            }
            !*full
        };
        let is_recoverable = |id: &&String| references.get(*id).is_some_and(|needed| needed.recoverable);
        let (mut full, mut kept) = (false, HashSet::new());
        kept.extend(ids.iter().filter(is_recoverable).filter(|id| take(id, limits.store / 2, &mut full)));
        let rest: Vec<&String> = ids.iter().filter(|id| !kept.contains(*id)).collect();
        full = false;
        kept.extend(rest.into_iter().filter(|id| take(id, limits.store, &mut full)));
        Ok(ids.iter().filter(|id| !kept.contains(*id) || time_of(id) < oldest).cloned().collect())
    }

    fn entry_bytes(&self, id: &str) -> u64 {
        let listed = std::fs::read_dir(self.path.join("calls").join(id)).into_iter().flatten().flatten();
        listed.filter_map(|entry| entry.metadata().ok()).map(|found| found.blocks() * 512).sum()
    }

    /// Removes an entry: first its name, then what is in it.
    fn drop_entry(&self, id: &str) -> Result<(), UndoError> {
        let (path, gone) = (self.entry_path(id)?, self.path.join(format!("tmp-{id}-gone")));
        std::fs::rename(&path, &gone).map_err(|error| UndoError::system(&path, error))?;
        std::fs::remove_dir_all(&gone).map_err(|error| UndoError::system(&gone, error))
    }

    /// Removes what was left of attempts to write or to remove an entry.
    fn drop_attempts(&self, now_ms: u64) -> Result<(), UndoError> {
        let listed = std::fs::read_dir(&self.path).map_err(|error| UndoError::system(&self.path, error))?;
        for entry in listed.flatten() {
            let old = entry.metadata().and_then(|found| found.modified()).is_ok_and(|at| is_old(at, time(now_ms)));
            if old && entry.file_name().to_string_lossy().starts_with("tmp-") {
                let path = entry.path();
                std::fs::remove_dir_all(&path).map_err(|error| UndoError::system(&path, error))?;
            }
        }
        Ok(())
    }
}

/// What each entry needs, by its id.
type References = HashMap<String, Needed>;

/// What an entry needs.
#[derive(Debug, Default)]
struct Needed {
    /// Contents, by their sha256.
    digests: HashSet<String>,
    /// As [`Entry::recoverable`].
    recoverable: bool,
}

/// The contents that an entry needs.
fn digests(entry: &Entry) -> HashSet<String> {
    let content = |item: &crate::model::Item| match &item.before.kind {
        Kind::File { content, .. } if item.saved => content.clone(),
        _ => None,
    };
    let indexes = entry.histories.iter().filter_map(|history| history.index.clone());
    entry.items.iter().filter_map(content).chain(indexes).collect()
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, UndoError> {
    let content = serde_json::to_vec(value)
        .map_err(|error| UndoError::System { path: "an entry".to_owned(), error: error.into() })?;
    if content.len() as u64 > ENTRY { Err(UndoError::Limit { most: ENTRY }) } else { Ok(content) }
}

fn session_hash(agent: &str, session: &str) -> String {
    hex(&Sha256::digest(format!("{agent}\0{session}"))[..4])
}

/// Whether nobody can be at it any more.
fn is_old(modified: SystemTime, now: SystemTime) -> bool {
    now.duration_since(modified).is_ok_and(|age| age > UNREFERENCED_RETENTION)
}

fn time(ms: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(ms)
}

/// When an entry was written, in milliseconds since 1970.
pub(crate) fn time_of(id: &str) -> u64 {
    u64::from_str_radix(&id[..11], 16).unwrap_or_default()
}

/// Whether a text has the form of an id.
pub fn is_id(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    text.len() == 25 && text.split('-').map(str::len).eq([11, 8, 4]) && text.split('-').all(digits)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{CallRef, History, Item, LeftOut, PathBytes, Snapshot, State};

    const NOW: u64 = 1_800_000_000_000;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let store = Store::open(&dir.path().join("undo")).expect("a store");
        (dir, store)
    }

    fn state(kind: Kind) -> State {
        let attributes = vec![("757365722e78".to_owned(), "00ff".to_owned())];
        State { kind, mode: 0o644, attributes, ..State::ABSENT }
    }

    /// An entry of a file of this content.
    fn entry(store: &Store, now: u64, session: &str, content: &[u8]) -> Entry {
        let digest = store.objects().put(content).expect("put");
        let file = state(Kind::File { length: content.len() as u64, content: Some(digest.clone()) });
        let item = |path: &str, before| Item { path: PathBytes(path.into()), before, saved: true, listed: false };
        let link = state(Kind::Link { target: PathBytes("../x".into()) });
        let object = "1".repeat(40);
        let history = History {
            repository: PathBytes("/w/.git".into()),
            git_dir: PathBytes("/w/.git".into()),
            worktree: Some(PathBytes("/w".into())),
            head: "ref: refs/heads/main".to_owned(),
            refs: vec![("refs/heads/main".to_owned(), object.clone())],
            stash: vec![(object.clone(), "WIP on main".to_owned())],
            index: Some(digest),
            index_entries: None,
        };
        Entry {
            schema: SCHEMA,
            id: Store::new_id(now, "agent", session),
            time: now,
            call: CallRef { agent: "agent".to_owned(), session: session.to_owned(), ..CallRef::default() },
            items: vec![item("/w/file", file), item("/w/link", link), item("/w/none", State::ABSENT)],
            histories: vec![history],
            snapshots: vec![Snapshot { root: PathBytes("/w".into()), tree: object, modes: Some("0".repeat(64)) }],
            left_out: vec![LeftOut { path: None, why: "an unknown path".to_owned() }],
            recoverable: false,
            asked: false,
            undoes: Vec::new(),
        }
    }

    fn added(store: &Store, now: u64, session: &str, content: &[u8]) -> String {
        let entry = entry(store, now, session, content);
        store.add(&entry).expect("added");
        entry.id
    }

    fn after() -> After {
        let states = vec![State::ABSENT];
        After {
            schema: SCHEMA,
            time: NOW,
            states,
            made: Vec::new(),
            histories: vec![None],
            touched: vec![None],
            changed: Vec::new(),
            count: 0,
        }
    }

    #[test]
    fn entries_are_found_again() {
        let (_dir, store) = store();
        let one = entry(&store, NOW, "a", b"1");
        store.add(&one).expect("added");
        assert_eq!(store.entry(&one.id).expect("an entry"), one);
        let two = added(&store, NOW + 1, "b", b"2");
        let three = added(&store, NOW + 2, "a", b"3");
        assert_eq!(store.ids().expect("ids"), [three.clone(), two.clone(), one.id.clone()]);
        assert_eq!(store.ids_of("agent", "a").expect("ids"), [three.clone(), one.id.clone()]);
        assert_eq!(store.ids_of("other", "a").expect("ids"), Vec::<String>::new());
        assert!(store.add(&one).is_err(), "an entry never changes");
        assert_eq!(
            store.entries().expect("entries").map(|entry| entry.id).collect::<Vec<_>>(),
            store.ids().expect("ids")
        );
        // The prefix, and what it stands for.
        let cases = [
            (three.as_str(), Ok(three.as_str())),
            (&three[..11], Ok(&three)),
            (&three[..8], Err("stands for 3 entries")),
            ("", Err("there is no saved call")),
            ("../", Err("there is no saved call")),
            ("zz", Err("there is no saved call")),
        ];
        for (prefix, expected) in cases {
            match (store.find(prefix), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{prefix}: {error}"),
                (found, _) => panic!("{prefix}: {found:?}"),
            }
        }
        store.remove(&two).expect("removed");
        assert!(store.entry(&two).is_err() && store.remove(&two).is_err());
        assert!(
            !std::fs::read_dir(store.folder())
                .expect("listed")
                .any(|entry| { entry.expect("an entry").file_name().to_string_lossy().starts_with("tmp-") })
        );
    }

    #[test]
    fn what_came_of_a_call_is_beside_its_entry() {
        let (_dir, store) = store();
        let id = added(&store, NOW, "a", b"1");
        assert_eq!((store.after(&id).expect("read"), store.undone(&id).expect("read")), (None, None));
        store.set_after(&id, &after()).expect("written");
        assert_eq!(store.after(&id).expect("read"), Some(after()));
        let by = added(&store, NOW + 1, "a", b"2");
        store.set_undone(&id, Some(&by)).expect("written");
        assert_eq!(store.undone(&id).expect("read"), Some(by));
        for _ in 0..2 {
            store.set_undone(&id, None).expect("removed");
            assert_eq!(store.undone(&id).expect("read"), None);
        }
        let none = Store::new_id(NOW, "a", "b");
        assert!(store.set_after(&none, &after()).is_err() && store.set_undone(&none, Some(&id)).is_err());
    }

    #[test]
    fn ids_have_one_form() {
        let id = Store::new_id(NOW, "agent", "session");
        assert!(is_id(&id), "{id}");
        assert_eq!(time_of(&id), NOW);
        assert_ne!(Store::new_id(NOW, "agent", "session"), Store::new_id(NOW, "agents", "ession"));
        let odd =
            ["", "..", "../../x", "01a3185c500-12345678-12", "01A3185C500-12345678-1234", "01a3185c500/12345678-1234"];
        assert!(odd.into_iter().all(|text| !is_id(text)));
    }

    fn spoiled(spoil: impl FnOnce(&mut Value)) -> Result<Entry, UndoError> {
        let (_dir, store) = store();
        let id = added(&store, NOW, "a", b"1");
        let path = store.folder().join("calls").join(&id).join("entry.json");
        let mut value: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
        spoil(&mut value);
        std::fs::write(&path, serde_json::to_vec(&value).expect("JSON")).expect("written");
        store.entry(&id)
    }

    #[test]
    fn a_forged_entry_is_not_used() {
        assert!(spoiled(|_| {}).is_ok());
        // Where, what, and what is said of it.
        let cases = [
            ("/schema", json!(2), "it is of format 2"),
            ("/id", json!("01a3185c500-12345678-1234"), "its id is"),
            ("/time", json!(u64::MAX), "is not a time"),
            ("/time", json!(-1), "invalid value"),
            ("/items/0/path", json!("/w/../etc/passwd"), "is not an absolute path"),
            ("/items/0/path", json!("w/file"), "is not an absolute path"),
            ("/items/0/path", json!(""), "is not an absolute path"),
            ("/items/0/path", json!("/w/\u{0}"), "is not an absolute path"),
            ("/items/0/path", json!({"hex": "2f772f2e2e2f"}), "is not an absolute path"),
            ("/items/0/path", json!({"hex": "zz"}), "not hexadecimal digits"),
            ("/items/0/path", json!("/w/link"), "is there twice"),
            ("/items/0/before/content", json!(format!("ab/../{}", "a".repeat(58))), "is not a sha256"),
            ("/items/0/before/content", json!("../../../etc/passwd"), "is not a sha256"),
            ("/items/0/before/content", json!(null), "has no content"),
            ("/items/0/before/length", json!(u64::MAX), "is not a length"),
            ("/items/0/before/length", json!(1e300), "invalid type"),
            ("/items/0/before/kind", json!("door"), "unknown variant"),
            ("/items/0/before/mode", json!(0o100_644), "is not a mode"),
            ("/items/0/before/modified", json!([0, u32::MAX]), "nanoseconds"),
            ("/items/0/before/attributes", json!([["zz", ""]]), "hexadecimal"),
            ("/items/0/before/attributes", json!([["6100", ""]]), "hexadecimal"),
            ("/items/1/before/target", json!(""), "a link leads nowhere"),
            ("/items/1/before/target", json!("x".repeat(5_000)), "a link leads nowhere"),
            ("/histories/0/repository", json!("../x"), "is not an absolute path"),
            ("/histories/0/worktree", json!("/w/.."), "is not an absolute path"),
            ("/histories/0/head", json!("ref: refs/heads/a b"), "is not the name of a ref"),
            ("/histories/0/head", json!("--upload-pack=x"), "is not the id of an object"),
            ("/histories/0/refs/0/0", json!("--all"), "is not the name of a ref"),
            ("/histories/0/refs/0/0", json!("refs/../../x"), "is not the name of a ref"),
            ("/histories/0/refs/0/0", json!("refs/a\n"), "is not the name of a ref"),
            ("/histories/0/refs/0/1", json!("HEAD"), "is not the id of an object"),
            ("/histories/0/stash/0/0", json!("-x"), "is not the id of an object"),
            ("/histories/0/index", json!("index"), "is not a sha256"),
            ("/snapshots/0/root", json!("w"), "is not an absolute path"),
            ("/snapshots/0/tree", json!("--help"), "is not the id of an object"),
            ("/items", json!("x"), "invalid type"),
        ];
        for (pointer, forged, expected) in cases {
            let error = spoiled(|value| *value.pointer_mut(pointer).expect(pointer) = forged.clone());
            let error = error.expect_err(pointer).to_string();
            assert!(error.contains(expected) && error.contains("entry.json is damaged"), "{pointer} {forged}: {error}");
        }
        let error = spoiled(|value| value["undoes"] = json!(["../x"])).expect_err("forged");
        assert!(error.to_string().contains("is not an id"), "{error}");
    }

    #[test]
    fn a_damaged_entry_is_passed_over() {
        type Spoil = fn(&Path);
        let cases: [(&str, Spoil); 7] = [
            ("cut", |path| {
                let content = std::fs::read(path).expect("read");
                std::fs::write(path, &content[..content.len() / 2]).expect("written");
            }),
            ("empty", |path| std::fs::write(path, "").expect("written")),
            ("deep", |path| std::fs::write(path, "[".repeat(100_000)).expect("written")),
            ("long", |path| {
                let file = std::fs::OpenOptions::new().write(true).open(path).expect("opened");
                file.set_len(ENTRY + 1).expect("a length");
            }),
            ("a link", |path| {
                std::fs::rename(path, path.with_file_name("other")).expect("moved");
                symlink("other", path).expect("a link");
            }),
            ("a folder", |path| {
                std::fs::remove_file(path).expect("removed");
                std::fs::create_dir(path).expect("a folder");
            }),
            ("open to others", |path| {
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o644)).expect("a mode");
            }),
        ];
        for (name, spoil) in cases {
            let (_dir, store) = store();
            let (good, bad) = (added(&store, NOW, "a", b"1"), added(&store, NOW + 1, "a", b"2"));
            spoil(&store.folder().join("calls").join(&bad).join("entry.json"));
            let error = store.entry(&bad).expect_err(name);
            assert!(error.to_string().contains(&bad), "{name}: {error}");
            let entries: Vec<String> = store.entries().expect("entries").map(|entry| entry.id).collect();
            assert_eq!(entries, std::slice::from_ref(&good), "{name}");
            assert!(store.tidy(&Limits::DEFAULT, &HashMap::new(), NOW + 2).expect("tidied").is_some(), "{name}");
            assert!(store.entry(&good).is_ok());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_bytes_stop_the_reader(at in 0_usize..2_000, byte in any::<u8>(), cut in 0_usize..4_000) {
            let (_dir, store) = store();
            let id = added(&store, NOW, "a", b"1");
            let path = store.folder().join("calls").join(&id).join("entry.json");
            let mut content = std::fs::read(&path).expect("read");
            let length = content.len();
            content[at % length] = byte;
            content.truncate(cut.max(1));
            std::fs::write(&path, content).expect("written");
            let _ = store.entry(&id);
        }
    }

    #[test]
    fn only_a_folder_of_the_users_own_is_a_store() {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| dir.path().join(name);
        for name in ["target", "open", "newer"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        symlink("target", at("link")).expect("a link");
        std::fs::write(at("file"), "").expect("a file");
        std::fs::set_permissions(at("open"), PermissionsExt::from_mode(0o777)).expect("a mode");
        std::fs::write(at("newer/version"), "2\n").expect("a version");
        std::fs::set_permissions(at("newer/version"), PermissionsExt::from_mode(0o600)).expect("a mode");
        let cases = [
            ("link", "is not a folder"),
            ("file", "is not a folder"),
            ("open", "is writable by other users"),
            ("newer", "was written by another version"),
        ];
        for (name, expected) in cases {
            for opened in [Store::open(&at(name)).map(Some), Store::existing(&at(name))] {
                let error = opened.expect_err(name).to_string();
                assert!(error.contains(expected), "{name}: {error}");
            }
        }
        assert_eq!(std::fs::read_dir(at("newer")).expect("listed").count(), 1, "nothing is touched");
        assert!(Store::existing(&at("none")).expect("none").is_none() && !at("none").exists());
        let store = Store::open(&at("new")).expect("made");
        assert_eq!(store.folder().metadata().expect("there").permissions().mode() & 0o777, 0o700);
        assert!(Store::existing(&at("new")).expect("opened").is_some());
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_said() {
        let (_dir, store) = store();
        store.room(&Limits { free: 0, ..Limits::DEFAULT }).expect("room");
        let error = store.room(&Limits { free: u64::MAX, ..Limits::DEFAULT }).expect_err("full");
        assert!(error.to_string().contains("have to stay free"), "{error}");
    }

    #[test]
    fn what_is_old_or_too_much_goes() {
        let day = 24 * 3_600 * 1_000;
        let large =
            |byte: u8| [&vec![byte; 10][..], &(0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>()].concat();
        // The limits, bytes that each entry has beside the store, and which of five entries stay: of 20, 10, 3, 2 and 1 days before.
        let cases = [
            (Limits::DEFAULT, 0, vec![1, 2, 3, 4]),
            (Limits { age: Duration::from_secs(2 * 24 * 3_600 + 10), ..Limits::DEFAULT }, 0, vec![3, 4]),
            (Limits { store: 0, ..Limits::DEFAULT }, 0, vec![]),
            (Limits { store: 900_000, ..Limits::DEFAULT }, 0, vec![3, 4]),
            (Limits { store: 9_000_000, ..Limits::DEFAULT }, 0, vec![1, 2, 3, 4]),
            (Limits { store: 9_000_000, ..Limits::DEFAULT }, 5_000_000, vec![4]),
        ];
        for (limits, beside, expected) in cases {
            let (_dir, store) = store();
            let ids: Vec<String> = [20, 10, 3, 2, 1]
                .into_iter()
                .enumerate()
                .map(|(index, days)| {
                    // The last two have the same content.
                    let content = large(u8::try_from(index.min(3)).expect("small"));
                    added(&store, NOW - days * day, "a", &content)
                })
                .collect();
            let beside = ids.iter().map(|id| (id.clone(), beside)).collect();
            let tidied = store.tidy(&limits, &beside, NOW).expect("tidied").expect("nobody else is there");
            let stay: Vec<usize> = (0..5).filter(|index| store.entry(&ids[*index]).is_ok()).collect();
            assert_eq!(stay, expected, "{limits:?}");
            assert_eq!(tidied.dropped.len(), 5 - expected.len());
            assert!(!store.is_due(NOW + 1_000) && store.is_due(NOW + 600_000));
            for index in stay {
                let entry = store.entry(&ids[index]).expect("an entry");
                assert!(digests(&entry).iter().all(|digest| store.objects().has(digest)));
            }
        }
    }

    /// Nobody was asked about these.
    #[test]
    fn entries_of_calls_that_passed_as_recoverable_stay_longest() {
        let (_dir, store) = store();
        let content =
            |byte: u8| [&vec![byte; 10][..], &(0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>()].concat();
        let mut oldest = entry(&store, NOW - 3_000, "a", &content(0));
        oldest.recoverable = true;
        store.add(&oldest).expect("added");
        let ids: Vec<String> = (1..4).map(|at| added(&store, NOW - 1_000, "a", &content(at))).collect();
        let limits = Limits { store: 2_000_000, ..Limits::DEFAULT };
        store.tidy(&limits, &HashMap::new(), NOW).expect("tidied").expect("nobody else is there");
        let stay = ids.iter().filter(|id| store.entry(id).is_ok()).count();
        assert!(store.entry(&oldest.id).is_ok() && stay < 3, "{stay}");
    }

    #[test]
    fn nobody_tidies_up_while_something_is_saved() {
        let (_dir, store) = store();
        let other = Store::existing(store.folder()).expect("opened").expect("there");
        let hold = store.hold().expect("held");
        let _also = other.hold().expect("held by two");
        assert_eq!(other.tidy(&Limits::DEFAULT, &HashMap::new(), NOW).expect("given up"), None);
        drop((hold, _also));
        assert!(other.tidy(&Limits::DEFAULT, &HashMap::new(), NOW).expect("tidied").is_some());
    }
}
