//! A component that has read its rule files, kept as what that has changed in its memory.
//!
//! Reading rule files and compiling their patterns takes longer than the rest of a cold start. The memory that a component is
//! left with depends on nothing but the component and what it was handed, so it can be taken once and given to each instance
//! that is to read the same: the component sees that it has read just these files already. If it has not, it reads them, so a
//! snapshot of something else costs time and changes no verdict. One with which the component fails is given up: an instance
//! that does not start with it starts without, and a call that fails with it is blocked as any that fails.
//!
//! ```text
//! start  read the rule files ─► their digest ─► snapshot? ──yes──► memory = built-in + snapshot ─► verdict
//!                                                  └─no─► memory = built-in, the files are read ─► verdict ─► take it
//! ```
//!
//! Taking one comes after an answer, never before it. It starts an instance for nobody, with those files and no other
//! capability, and lets it `prepare` itself as when it was packaged.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::capability::{Answer, Capabilities, ConfigFile, FileStat, Files, RealPath};
use crate::digest::Digest;
use crate::disk_store::{Entries, Kind};
use crate::{CapabilityError, Session};

/// What is compared at a time, in bytes. The memory that a component starts with is known in whole ones of these.
pub(crate) const PAGE: usize = 4_096;

/// What is kept of that, in bytes: most pages that change do so in a word or two. A run of it costs two numbers.
const GRAIN: usize = 16;

/// A page of WebAssembly, in bytes, of which a memory has a whole number.
const WASM_PAGE: usize = 64 << 10;

/// Largest memory that a snapshot is of, in bytes.
const MEMORY: usize = 64 << 20;

/// A thousand rules take less than 1 MiB.
const KIND: Kind =
    Kind { mark: b"toolgate snapshot 1 ", called: "a snapshot of rules", largest: 8 << 20, size: 64 << 20 };

/// How many are at hand in one process: a resident host serves a few projects at a time.
const AT_HAND: usize = 8;

/// Most that wait to be taken.
const MISSING: usize = 8;

/// Most that are remembered as tried.
const TRIED: usize = 1_000;

/// What of a memory is not as it starts: runs of grains, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    size: usize,
    /// Where each run begins in the memory, and in `bytes`.
    runs: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// Of a memory that is like this now, and was like that before, by the address of a page. None if that is not known of one.
    pub(crate) fn taken<'a>(now: &[u8], before: impl Fn(usize) -> Option<&'a [u8]>) -> Option<Self> {
        let mut snapshot = Snapshot { size: now.len(), runs: Vec::new(), bytes: Vec::new() };
        let mut end = None;
        for (number, page) in now.chunks(PAGE).enumerate() {
            let before = before(number * PAGE)?;
            if before == page {
                continue;
            }
            for (part, (new, old)) in page.chunks(GRAIN).zip(before.chunks(GRAIN)).enumerate() {
                if new == old {
                    continue;
                }
                let at = number * PAGE + part * GRAIN;
                if end != Some(at) {
                    snapshot.runs.push((at, snapshot.bytes.len()));
                }
                snapshot.bytes.extend(new);
                end = Some(at + new.len());
            }
        }
        Some(snapshot)
    }

    /// How large the memory is, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// What belongs where in it.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let ends = self.runs.iter().skip(1).map(|(_, start)| *start).chain([self.bytes.len()]);
        self.runs.iter().zip(ends).filter_map(|((at, start), end)| Some((*at, self.bytes.get(*start..end)?)))
    }

    /// As it is kept, in numbers of 4 bytes, the lowest first: the size, the number of runs, then of each where it begins and how
    /// long it is; then their bytes.
    fn encoded(&self) -> Option<Vec<u8>> {
        let mut encoded = Vec::with_capacity(self.bytes.len() + 8 * (self.runs.len() + 1));
        let mut number = |number: usize| {
            encoded.extend(u32::try_from(number).ok()?.to_le_bytes());
            Some(())
        };
        number(self.size)?;
        number(self.runs.len())?;
        for (at, bytes) in self.runs() {
            number(at)?;
            number(bytes.len())?;
        }
        encoded.extend(&self.bytes);
        Some(encoded)
    }

    /// The same again, if it is one.
    fn decoded(encoded: &[u8]) -> Option<Self> {
        let mut rest = encoded;
        let mut number = || {
            let (number, after) = rest.split_first_chunk::<4>()?;
            rest = after;
            usize::try_from(u32::from_le_bytes(*number)).ok()
        };
        let (size, count) = (number()?, number()?);
        let (mut runs, mut end, mut length) = (Vec::new(), 0, 0_usize);
        for _ in 0..count {
            let (at, run) = (number()?, number()?);
            if at < end || run == 0 {
                return None;
            }
            runs.push((at, length));
            end = at.checked_add(run)?;
            length = length.checked_add(run)?;
        }
        let fits = size <= MEMORY && size.is_multiple_of(WASM_PAGE) && end <= size && rest.len() == length;
        fits.then(|| Snapshot { size, runs, bytes: rest.to_vec() })
    }
}

/// Snapshots of a component, by the rule files that it has read.
///
/// ```no_run
/// # async fn example(guard: toolgate_host::Plugin) {
/// use toolgate_host::Snapshots;
///
/// let guard = guard.with_snapshots(Snapshots::new(Some("/home/dev/.local/state/mine/snapshots".into())));
/// // ... after calls, when nobody waits:
/// guard.take_snapshots().await;
/// # }
/// ```
#[derive(Debug)]
pub struct Snapshots {
    entries: Option<Entries>,
    at_hand: Mutex<AtHand>,
}

#[derive(Debug, Default)]
struct AtHand {
    /// The last one that was used comes first.
    kept: VecDeque<(String, Arc<Snapshot>)>,
    missing: Vec<(String, Vec<ConfigFile>)>,
    /// Of which there is nothing more to expect in this process.
    tried: HashSet<String>,
    /// With which the component did not work.
    given_up: HashSet<String>,
}

impl Snapshots {
    /// Those in this folder, which is made with the first one and which nobody else can look into; in this process only
    /// without a folder.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Snapshots { entries: folder.map(|folder| Entries::new(folder, KIND)), at_hand: Mutex::default() }
    }

    fn at_hand(&self) -> MutexGuard<'_, AtHand> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one of this name, if it was used in this process.
    pub(crate) fn used(&self, name: &str) -> Option<Arc<Snapshot>> {
        self.at_hand().take(name)
    }

    /// The one of this name, if it is kept.
    pub(crate) fn kept(&self, name: &str) -> Option<Arc<Snapshot>> {
        let entries = self.entries.as_ref()?;
        let entry = entries.get(name)?;
        let Some(found) = Snapshot::decoded(entry.content()) else {
            entries.unfit(name, "it is not a snapshot");
            return None;
        };
        Some(self.at_hand().keep(name, Arc::new(found)))
    }

    /// Notes that there is none of this name, which is for these files.
    pub(crate) fn miss(&self, name: &str, files: &[ConfigFile]) {
        let mut at_hand = self.at_hand();
        if at_hand.tried.len() >= TRIED {
            at_hand.tried.clear();
        }
        if at_hand.missing.len() < MISSING && at_hand.tried.insert(name.to_owned()) {
            at_hand.missing.push((name.to_owned(), files.to_vec()));
        }
    }

    /// Forgets one with which a component does not work. It is not used again in this process, and by no other one taken anew
    /// at once: it might be the same again.
    pub(crate) fn give_up(&self, name: &str) {
        let mut at_hand = self.at_hand();
        at_hand.kept.retain(|(kept, _)| kept != name);
        if at_hand.given_up.len() < TRIED {
            at_hand.given_up.insert(name.to_owned());
        }
        drop(at_hand);
        if let Some(entries) = &self.entries {
            entries.unfit(name, "the component does not work with it");
            entries.remove(name);
            entries.claim(name);
        }
    }

    /// Whether the component did not work with the one of this name.
    pub(crate) fn is_given_up(&self, name: &str) -> bool {
        self.at_hand().given_up.contains(name)
    }

    /// Whether one is missing.
    pub fn are_missing(&self) -> bool {
        !self.at_hand().missing.is_empty()
    }

    /// One that is missing, which is then no longer.
    pub(crate) fn missing(&self) -> Option<(String, Vec<ConfigFile>)> {
        self.at_hand().missing.pop()
    }

    /// Whether nobody else is about to take this one.
    pub(crate) fn claim(&self, name: &str) -> bool {
        self.entries.as_ref().is_none_or(|entries| entries.claim(name))
    }

    /// Keeps one, if it is not too large for that.
    pub(crate) fn keep(&self, name: &str, snapshot: Snapshot) {
        let encoded = snapshot.encoded().filter(|encoded| encoded.len() as u64 <= KIND.largest);
        let Some(encoded) = encoded.filter(|_| snapshot.size <= MEMORY) else {
            tracing::debug!(name, size = snapshot.size, "the snapshot is too large");
            return;
        };
        if let Some(entries) = &self.entries {
            entries.put(name, &encoded);
        }
        self.at_hand().keep(name, Arc::new(snapshot));
    }
}

impl AtHand {
    fn take(&mut self, name: &str) -> Option<Arc<Snapshot>> {
        let at = self.kept.iter().position(|(kept, _)| kept == name)?;
        let found = self.kept.remove(at)?;
        let snapshot = Arc::clone(&found.1);
        self.kept.push_front(found);
        Some(snapshot)
    }

    fn keep(&mut self, name: &str, snapshot: Arc<Snapshot>) -> Arc<Snapshot> {
        self.kept.retain(|(kept, _)| kept != name);
        self.kept.truncate(AT_HAND - 1);
        // When it is gone from here and from its folder, it can be taken again.
        self.tried.remove(name);
        self.kept.push_front((name.to_owned(), Arc::clone(&snapshot)));
        snapshot
    }
}

/// What a snapshot is found by: the digest of the component's code and of all that it is handed. None if that is nothing, or if
/// something of it cannot be read, which may be otherwise the next time.
pub(crate) fn name(machine: &str, files: &[ConfigFile]) -> Option<String> {
    let mut all = machine.as_bytes().to_vec();
    for file in files {
        let content = file.content.as_ref().ok()?;
        for part in [file.path.as_bytes(), file.layer.as_bytes(), content] {
            all.extend((part.len() as u64).to_le_bytes());
            all.extend(part);
        }
    }
    (!files.is_empty()).then(|| Digest::of(&all).sha256)
}

/// Hands over these rule files and has nothing else.
struct Handed(Vec<ConfigFile>);

#[async_trait::async_trait]
impl Files for Handed {
    async fn stat(&self, _paths: Vec<String>) -> Answer<Vec<Option<FileStat>>> {
        Err(none())
    }

    async fn resolve(&self, _paths: Vec<String>) -> Answer<Vec<Option<RealPath>>> {
        Err(none())
    }

    async fn read_config(&self, _name: String) -> Answer<Vec<ConfigFile>> {
        Ok(self.0.clone())
    }

    async fn read_script(&self, _path: String) -> Answer<String> {
        Err(none())
    }
}

fn none() -> CapabilityError {
    CapabilityError::Unavailable("there are no files here".to_owned())
}

/// For whom a snapshot is taken: nobody.
pub(crate) fn nobody() -> Session {
    let (cwd, workspace_root) = ("/".to_owned(), "/".to_owned());
    Session { cwd, home: None, workspace_root, context: r#"{"schema":1}"#.to_owned() }
}

/// What a component has while one is taken.
pub(crate) fn handed(files: Vec<ConfigFile>) -> Capabilities {
    Capabilities::absent().files(Handed(files))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory of one page of WebAssembly, of which these grains hold something.
    fn memory(grains: &[usize]) -> Vec<u8> {
        let mut memory = vec![0; WASM_PAGE];
        for grain in grains {
            memory[grain * GRAIN + 1] = 7;
        }
        memory
    }

    #[test]
    fn what_has_changed_comes_back() {
        // What it starts with, what it is then, and the runs that are kept: where they begin and how long they are, in grains.
        type Case<'a> = (&'a [usize], &'a [usize], &'a [(usize, usize)]);
        let cases: [Case<'_>; 7] = [
            (&[], &[], &[]),
            (&[1], &[1], &[]),
            (&[], &[0, 1, 4_095], &[(0, 2), (4_095, 1)]),
            (&[3], &[], &[(3, 1)]),
            (&[3], &[3, 4], &[(4, 1)]),
            (&[2, 5], &[3, 4, 5], &[(2, 3)]),
            // Over the border of a page.
            (&[], &[255, 256], &[(255, 2)]),
        ];
        for (before, now, runs) in cases {
            let (before, now) = (memory(before), memory(now));
            let taken = Snapshot::taken(&now, |at| before.get(at..at + PAGE)).expect("a snapshot");
            let again = Snapshot::decoded(&taken.encoded().expect("it can be kept")).expect("it can be read");
            assert_eq!(again, taken);
            let found: Vec<(usize, usize)> =
                again.runs().map(|(at, bytes)| (at / GRAIN, bytes.len() / GRAIN)).collect();
            assert_eq!(found, runs);
            let mut memory = before.clone();
            again.runs().for_each(|(at, bytes)| memory[at..at + bytes.len()].copy_from_slice(bytes));
            assert!(memory == now, "{runs:?}");
        }
    }

    #[test]
    fn a_name_is_that_of_everything_that_is_handed_over() {
        let file = |path: &str, layer: &str, content: &str| ConfigFile {
            path: path.to_owned(),
            layer: layer.to_owned(),
            content: Ok(content.as_bytes().to_vec()),
        };
        let all = [
            vec![file("/a", "user", "b")],
            vec![file("/a", "project", "b")],
            vec![file("/a", "user", "c")],
            vec![file("/b", "user", "b")],
            vec![file("/a", "userb", "")],
            vec![file("/a", "user", "b"), file("/a", "user", "b")],
            vec![file("/a", "user", ""), file("/b", "user", "")],
            vec![file("/b", "user", ""), file("/a", "user", "")],
        ];
        let names: HashSet<Option<String>> = all.iter().map(|files| name("x", files)).collect();
        assert!(names.len() == all.len() && !names.contains(&None));
        assert_ne!(name("x", &all[0]), name("y", &all[0]));
        let unread = ConfigFile { content: Err(none()), ..file("/a", "user", "") };
        for files in [vec![], vec![unread.clone()], vec![file("/b", "user", "c"), unread]] {
            assert_eq!(name("x", &files), None);
        }
    }

    #[test]
    fn one_is_noted_as_missing_until_it_is_there() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let snapshots = Snapshots::new(Some(scratch.path().join("snapshots")));
        let missing = |name: &str| {
            snapshots.miss(name, &[]);
            usize::from(snapshots.missing().is_some())
        };
        assert_eq!((missing("a"), missing("a"), missing("b")), (1, 0, 1), "once in a process");
        let nothing = || Snapshot { size: WASM_PAGE, runs: Vec::new(), bytes: Vec::new() };
        snapshots.keep("a", nothing());
        assert!(snapshots.used("a").is_some() && snapshots.kept("a").is_some());
        snapshots.give_up("a");
        assert!(snapshots.used("a").is_none() && snapshots.kept("a").is_none());
        assert!(snapshots.is_given_up("a") && !snapshots.is_given_up("b"));
        assert!(!snapshots.claim("a") && snapshots.claim("c"), "nobody takes it again at once");
        let large = || Snapshot { size: WASM_PAGE, runs: vec![(0, 0)], bytes: vec![0; KIND.largest as usize] };
        snapshots.keep("b", large());
        snapshots.keep("b", Snapshot { size: MEMORY + WASM_PAGE, ..nothing() });
        assert!(snapshots.used("b").is_none() && missing("b") == 0, "one that is too large is not tried again");
        for number in 0..2 * TRIED {
            missing(&format!("n{number}"));
            assert!(snapshots.at_hand().tried.len() <= TRIED);
        }
    }

    #[test]
    fn the_last_ones_are_at_hand() {
        let snapshots = Snapshots::new(None);
        let names: Vec<String> = (0..=AT_HAND).map(|number| number.to_string()).collect();
        let nothing = || Snapshot { size: 0, runs: Vec::new(), bytes: Vec::new() };
        for one in &names[..AT_HAND] {
            snapshots.keep(one, nothing());
        }
        assert!(snapshots.at_hand().take("0").is_some());
        snapshots.keep(&names[AT_HAND], nothing());
        let there: Vec<bool> = names.iter().map(|name| snapshots.at_hand().take(name).is_some()).collect();
        let expected: Vec<bool> = (0..=AT_HAND).map(|number| number != 1).collect();
        assert_eq!(there, expected);
    }
}
