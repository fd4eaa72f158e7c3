//! What is at a path and below, and saving it.
//!
//! Three steps, so that the rules can be asked between them: [`survey`] looks at what will be changed and reads no content,
//! [`Survey::capture`] saves it, and when the call has run, [`states`] and [`made`] tell what it left.
//!
//! Nothing is followed: a link is saved as a link, and a folder is looked into only on its own file system. A file is opened so
//! that no link on the way counts, only if it is the regular file that was seen before, and what was read of it counts only if it
//! did not change meanwhile. What another process does between the steps is not seen as the call's doing in a folder that was not
//! listed as a whole ([`Item::listed`]); in one that was, what is new is taken for the call's.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::Limits;
use crate::error::{UndoError, grouped, phrase, size};
use crate::model::{Change, ChangeKind, Item, Kind, LeftOut, PathBytes, State};
use crate::nofollow::{DirEntryRef, FileInfo, Look, bounded_attributes, is_plain, listed, look};
use crate::objects::Objects;

/// How many links are followed from one to the next, as by Linux.
const LINKS: usize = 40;

/// Most names of folders that are told beside their own.
const ALIASES: usize = 1_000;

/// From how many files on two threads save them.
const MANY: usize = 500;

const ATTRIBUTES: &str = "its extended attributes are larger than 64 KiB";

const LATE: &str = "it takes longer than a call waits";

/// What a call will change, as it is before.
#[derive(Debug, Default)]
pub struct Survey {
    /// Each path once; a folder stands before what is in it.
    pub looked: Vec<Looked>,
    /// What will not be saved.
    pub left_out: Vec<LeftOut>,
    /// Whether there are more paths than were looked at.
    pub partial: bool,
    /// Folders or files that links lead to, and how the changes name them. Rules may speak of either.
    pub aliases: Vec<(PathBuf, PathBuf)>,
}

/// What is at a path before the call.
#[derive(Debug)]
pub struct Looked {
    /// Absolute; no folder on the way is a link.
    pub path: PathBytes,
    /// What is there. Content and attributes are not read yet.
    pub state: State,
    /// For a folder, whether all that is in it was looked at, too.
    pub listed: bool,
    /// Whether the call removes it.
    pub removed: bool,
    /// What the system knows of it.
    found: Option<FileInfo>,
    /// What becomes of its content.
    content: Content,
}

/// What becomes of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// There is none.
    None,
    /// It is saved.
    Saved,
    /// It is larger than a file may be.
    TooLarge,
    /// There is no room left for it.
    NoRoom,
}

/// Looks at what these changes will change, as far as the limits and the time go.
pub fn survey(changes: &[Change], limits: &Limits, until: Instant) -> Survey {
    let mut surveyor = Surveyor::new(limits, until);
    for change in changes {
        match &change.path {
            None => surveyor.leave_out(None, "an unknown path"),
            Some(path) => surveyor.change(Path::new(path), change.kind, change.recursive),
        }
    }
    surveyor.finish()
}

/// Looks at these paths and nothing else: no link is followed, nothing below is looked at. For an undo.
pub fn survey_paths(paths: &[&Path], limits: &Limits, until: Instant) -> Survey {
    let mut surveyor = Surveyor::new(limits, until);
    for path in paths {
        match find(path) {
            Ok(found) => drop(surveyor.record(path, found, true)),
            Err(error) => surveyor.leave_out(Some(path), &phrase(error)),
        }
    }
    surveyor.finish()
}

/// What is at a path to which no link leads. A path on whose way there is no folder has nothing.
fn find(path: &Path) -> Result<Option<FileInfo>, Errno> {
    match DirEntryRef::open(path).and_then(|place| place.found()) {
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        found => found,
    }
}

struct Surveyor<'a> {
    limits: &'a Limits,
    until: Instant,
    looked: Vec<Looked>,
    at: HashMap<PathBuf, usize>,
    left_out: Vec<LeftOut>,
    aliases: BTreeSet<(PathBuf, PathBuf)>,
    /// Bytes that will be saved.
    bytes: u64,
    /// Paths that are over the limit.
    more: usize,
    /// Whether there may be more of them.
    at_least: bool,
    late: bool,
}

impl<'a> Surveyor<'a> {
    fn new(limits: &'a Limits, until: Instant) -> Self {
        let (looked, at, left_out, aliases) = (Vec::new(), HashMap::new(), Vec::new(), BTreeSet::new());
        Surveyor { limits, until, looked, at, left_out, aliases, bytes: 0, more: 0, at_least: false, late: false }
    }

    fn leave_out(&mut self, path: Option<&Path>, why: &str) {
        self.left_out.push(LeftOut { path: path.map(PathBytes::from), why: why.to_owned() });
    }

    fn change(&mut self, path: &Path, kind: ChangeKind, recursive: bool) {
        if !is_plain(path) {
            return self.leave_out(Some(path), "its path is not absolute, or has `..` in it");
        }
        let removed = matches!(kind, ChangeKind::Delete | ChangeKind::Move);
        let itself = removed || kind == ChangeKind::Link;
        let named = path;
        let mut path = path.to_path_buf();
        for _ in 0..=LINKS {
            let (real, blocked) = match self.resolved(&path) {
                Ok(resolved) => resolved,
                Err(error) => return self.leave_out(Some(&path), &error),
            };
            let aliases = [alias(&real, named), alias(&real, &path)].into_iter().flatten();
            self.aliases.extend(aliases);
            if self.aliases.len() > ALIASES {
                return self.leave_out(Some(named), "too many links lead to what the call changes");
            }
            let found = match find(&real) {
                _ if blocked => None,
                Ok(found) => found,
                Err(error) => return self.leave_out(Some(&real), &phrase(error)),
            };
            let recorded = self.record(&real, found, removed);
            if let Some(folder) = found.filter(|found| recorded && found.is_folder()) {
                // Of one where nothing is, nothing is left out.
                let is_empty = || listed(&real, 1).is_ok_and(|(names, _)| names.is_empty());
                if removed || recursive || is_empty() {
                    let links = self.walk(real.clone(), folder.inode.device, removed);
                    // What is written to all that is in a folder may be written through the links in it.
                    if matches!(kind, ChangeKind::Write | ChangeKind::Append) {
                        self.follow(&real, &links, kind);
                    }
                }
            }
            match self.at.get(&real).map(|index| &self.looked[*index].state.kind) {
                Some(Kind::Link { target }) if !itself => path = parent(&real).join(target.as_path()),
                _ => return,
            }
        }
        self.leave_out(Some(&path), "too many links lead from one to the next");
    }

    /// A path with the links in front of its last name resolved, and whether something on the way has to go before anything can
    /// be there. That is recorded, or the topmost folder on the way that is missing: the call may make it.
    fn resolved(&mut self, path: &Path) -> Result<(PathBuf, bool), String> {
        // `/`, or what a link like `..` leads to.
        let (Some(mut existing), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().map(|real| (real, false)).map_err(|error| error.to_string());
        };
        let mut missing: Vec<OsString> = vec![name.to_owned()];
        let mut real = loop {
            match existing.canonicalize() {
                Ok(real) => break real,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    let (Some(above), Some(name)) = (existing.parent(), existing.file_name()) else {
                        return Err("a folder on the way to it is missing".to_owned());
                    };
                    missing.push(name.to_owned());
                    existing = above;
                }
                Err(error) => return Err(error.to_string()),
            }
        };
        let mut blocked = false;
        let topmost = missing.last().filter(|_| missing.len() > 1).map(|name| real.join(name));
        let is_folder = find(&real).map_err(phrase)?.is_some_and(|found| found.is_folder());
        // A file where a folder is needed, or else what is not there yet, or a link to what is not there yet.
        for other in [(!is_folder).then(|| real.clone()), topmost.filter(|_| is_folder)].into_iter().flatten() {
            let found = find(&other).map_err(phrase)?;
            blocked = found.is_some();
            if found.is_some_and(|found| found.kind == FileType::Symlink) {
                // The system followed it to its end, so that there are not many behind one another.
                self.change(&other, ChangeKind::Create, false);
            } else {
                self.record(&other, found, false);
            }
        }
        real.extend(missing.iter().rev());
        Ok((real, blocked))
    }

    /// Notes what is at a path. False if it was not, as there are too many.
    fn record(&mut self, path: &Path, found: Option<FileInfo>, removed: bool) -> bool {
        if let Some(index) = self.at.get(path) {
            self.looked[*index].removed |= removed;
            return true;
        }
        if self.looked.len() >= self.limits.paths {
            self.more += 1;
            return false;
        }
        let state = match state_of(path, found) {
            Ok(state) => state,
            Err(error) => {
                self.leave_out(Some(path), &phrase(error));
                return true;
            }
        };
        let content = found.filter(FileInfo::is_file).map_or(Content::None, |found| self.content(found.length));
        self.at.insert(path.to_path_buf(), self.looked.len());
        self.looked.push(Looked { path: path.into(), state, listed: false, removed, found, content });
        true
    }

    fn content(&mut self, length: u64) -> Content {
        if length > self.limits.file {
            return Content::TooLarge;
        }
        match self.bytes.checked_add(length).filter(|bytes| *bytes <= self.limits.call) {
            Some(bytes) => {
                self.bytes = bytes;
                Content::Saved
            }
            None => Content::NoRoom,
        }
    }

    /// Notes the files that links in a folder lead to. A folder would be another walk: that is left out.
    fn follow(&mut self, folder: &Path, links: &[PathBuf], kind: ChangeKind) {
        let mut folders = 0;
        for link in links {
            match link.metadata() {
                _ if self.is_late() => return,
                Ok(there) if there.is_dir() => folders += 1,
                _ => self.change(link, kind, false),
            }
        }
        if folders > 0 {
            let links = if folders == 1 { "1 link".to_owned() } else { format!("{} links", grouped(folders)) };
            self.leave_out(Some(folder), &format!("the content of folders behind {links} in it"));
        }
    }

    /// Notes all that is below a folder. What is over the limit is only counted, up to as many again. The links among it.
    fn walk(&mut self, top: PathBuf, device: u64, removed: bool) -> Vec<PathBuf> {
        let (mut folders, mut links) = (vec![top], Vec::new());
        while let Some(folder) = folders.pop() {
            if self.late || self.more > self.limits.paths {
                self.at_least = true;
                return links;
            }
            let most = self.limits.paths.saturating_mul(2).saturating_sub(self.looked.len() + self.more) + 1;
            let (names, mut whole) = match listed(&folder, most) {
                Ok(listed) => listed,
                Err(error) => {
                    self.leave_out(Some(&folder), &format!("its content: {}", phrase(error)));
                    continue;
                }
            };
            self.at_least |= !whole;
            let first = folders.len();
            for (name, found) in names {
                let path = folder.join(name);
                if self.is_late() {
                    whole = false;
                    break;
                }
                if found.is_folder() && found.inode.device != device {
                    self.leave_out(Some(&path), "it is on another file system");
                    whole = false;
                    continue;
                }
                whole &= self.record(&path, Some(found), removed) && self.at.contains_key(&path);
                if found.is_folder() {
                    folders.push(path);
                } else if found.kind == FileType::Symlink {
                    links.push(path);
                }
            }
            // The last one is looked at first.
            folders[first..].reverse();
            if let Some(index) = self.at.get(&folder) {
                self.looked[*index].listed |= whole;
            }
        }
        links
    }

    fn is_late(&mut self) -> bool {
        self.late = self.late || Instant::now() >= self.until;
        self.late
    }

    fn finish(mut self) -> Survey {
        if self.more > 0 {
            let least = if self.at_least { "at least " } else { "" };
            let (more, most) = (grouped(self.more), grouped(self.limits.paths));
            self.leave_out(None, &format!("and {least}{more} more paths: more than {most}"));
        }
        if self.late {
            self.leave_out(None, &format!("and more paths: {LATE}"));
        }
        self.looked.sort_by(|one, other| one.path.cmp(&other.path));
        let partial = self.more > 0 || self.late;
        Survey { looked: self.looked, left_out: self.left_out, partial, aliases: self.aliases.into_iter().collect() }
    }
}

/// What a link leads to and how it is called, without what both have at their end; none if it is the same.
pub(crate) fn alias(real: &Path, named: &Path) -> Option<(PathBuf, PathBuf)> {
    let (mut real, mut named) = (real, named);
    while let (Some(one), Some(other)) = (real.file_name(), named.file_name())
        && one == other
        && let (Some(above), Some(named_above)) = (real.parent(), named.parent())
        && above != named_above
    {
        (real, named) = (above, named_above);
    }
    (real != named).then(|| (real.to_path_buf(), named.to_path_buf()))
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_path_buf()
}

/// What a path is of which the system knows this, without reading it.
fn state_of(path: &Path, found: Option<FileInfo>) -> Result<State, Errno> {
    let Some(found) = found else { return Ok(State::ABSENT) };
    Ok(found.state(match found.kind {
        FileType::RegularFile => Kind::File { length: found.length, content: None },
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link { target: PathBytes(DirEntryRef::open(path)?.target()?) },
        _ => Kind::Special,
    }))
}

/// What came of saving a path.
struct Captured {
    item: Item,
    /// Why it was not saved.
    why: Option<String>,
    /// Whether that is said of many together.
    counted: bool,
}

impl Survey {
    /// The files whose content would be copied: the rules may forbid that.
    pub fn files(&self) -> Vec<&Path> {
        self.copied().map(|looked| looked.path.as_path()).collect()
    }

    fn copied(&self) -> impl Iterator<Item = &Looked> {
        self.looked.iter().filter(|looked| looked.content == Content::Saved)
    }

    /// Saves it, as far as the limits and the time go. `withheld` says of each of [`Survey::files`] whether its content must not be
    /// copied; those that it says nothing of are not copied either, and without answers none is.
    pub fn capture(
        self,
        objects: &Objects,
        withheld: Option<&[bool]>,
        limits: &Limits,
        until: Instant,
    ) -> (Vec<Item>, Vec<LeftOut>) {
        let why_withheld = why_withheld(withheld);
        let mut answers = withheld.unwrap_or_default().iter().copied();
        let withheld: Vec<bool> = self
            .looked
            .iter()
            .map(|looked| looked.content == Content::Saved && answers.next().unwrap_or(true))
            .collect();
        let store = objects.path().parent().and_then(|store| store.canonicalize().ok());
        let capturer = Capturer { objects, store, limits, until, why_withheld, broken: Mutex::new(None) };
        let captured = capturer.all(&self.looked, &withheld);
        let mut left_out = self.left_out;
        let mut counts: Vec<(String, usize)> = Vec::new();
        let mut items = Vec::with_capacity(captured.len());
        for Captured { item, why, counted } in captured {
            match why {
                Some(why) if counted => match counts.iter_mut().find(|(other, _)| *other == why) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((why, 1)),
                },
                Some(why) => left_out.push(LeftOut { path: Some(item.path.clone()), why }),
                None => {}
            }
            items.push(item);
        }
        left_out.extend(counts.into_iter().map(|(why, count)| {
            let files = if count == 1 { "file" } else { "files" };
            LeftOut { path: None, why: format!("and {} more {files}: {why}", grouped(count)) }
        }));
        (items, left_out)
    }
}

/// Why a file is not copied, by whether it is known which ones rules keep from being read.
pub(crate) fn why_withheld(answers: Option<&[bool]>) -> &'static str {
    match answers {
        Some(_) => "rules keep it from being read",
        None => "it is unknown whether rules keep it from being read",
    }
}

struct Capturer<'a> {
    objects: &'a Objects,
    /// Toolgate's own folder: what is saved of it would be saved in it.
    store: Option<PathBuf>,
    limits: &'a Limits,
    until: Instant,
    why_withheld: &'static str,
    /// What the store failed with, which it would again.
    broken: Mutex<Option<String>>,
}

impl Capturer<'_> {
    fn all(&self, looked: &[Looked], withheld: &[bool]) -> Vec<Captured> {
        if looked.len() <= MANY {
            return looked.iter().zip(withheld).map(|(looked, withheld)| self.one(looked, *withheld)).collect();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let (Some(looked), Some(withheld)) = (looked.get(index), withheld.get(index)) else { return done };
                done.push((index, self.one(looked, *withheld)));
            }
        };
        let mut done = std::thread::scope(|scope| {
            let other = scope.spawn(work);
            let mut done = work();
            done.extend(other.join().unwrap_or_default());
            done
        });
        done.sort_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, captured)| captured).collect()
    }

    fn one(&self, looked: &Looked, withheld: bool) -> Captured {
        let item = Item { path: looked.path.clone(), before: looked.state.clone(), saved: true, listed: looked.listed };
        let unsaved = |item: Item, why: &str, counted| Captured {
            item: Item { saved: false, ..item },
            why: Some(why.to_owned()),
            counted,
        };
        match (&looked.state.kind, looked.content) {
            (Kind::Special, _) if looked.removed => unsaved(item, "a pipe, socket or device cannot be saved", false),
            (Kind::Folder, _) => self.folder(item, looked),
            (_, Content::None) => Captured { item, why: None, counted: false },
            (_, Content::TooLarge) => unsaved(item, &format!("it is larger than {}", size(self.limits.file)), false),
            (_, Content::NoRoom) => unsaved(item, &format!("more than {} in all", size(self.limits.call)), true),
            (_, Content::Saved) if withheld => unsaved(item, self.why_withheld, false),
            (_, Content::Saved) => match self.file(looked) {
                Ok(before) => Captured { item: Item { before, ..item }, why: None, counted: false },
                Err(Unsaved { why, counted }) => unsaved(item, &why, counted),
            },
        }
    }

    fn folder(&self, mut item: Item, looked: &Looked) -> Captured {
        let opened = DirEntryRef::open(item.path.as_path()).and_then(|place| place.folder());
        let (why, counted) = match opened {
            Ok((file, found)) if Some(found.inode) == looked.found.map(|found| found.inode) => {
                let attributes = bounded_attributes(&file);
                let why = attributes.is_none().then(|| ATTRIBUTES.to_owned());
                item.before.attributes = attributes.unwrap_or_default();
                (why, false)
            }
            // Who may not list it: that has been said where it was tried.
            Err(Errno::ACCESS | Errno::PERM) => (None, false),
            _ => (Some("it was replaced while it was looked at".to_owned()), false),
        };
        Captured { item, why, counted }
    }

    fn file(&self, looked: &Looked) -> Result<State, Unsaved> {
        let broken = || self.broken.lock().ok().and_then(|broken| broken.clone());
        if let Some(why) = broken() {
            return Err(Unsaved { why, counted: true });
        }
        if Instant::now() >= self.until {
            return Err(Unsaved { why: LATE.to_owned(), counted: true });
        }
        let path = looked.path.as_path();
        if self.store.as_ref().is_some_and(|store| path.starts_with(store)) {
            return Err(Unsaved { why: "it was saved before".to_owned(), counted: true });
        }
        match self.content(path, looked.found.as_ref()) {
            Ok(Some(saved)) => Ok(saved),
            Ok(None) => Err(Unsaved { why: "it changed while it was read".to_owned(), counted: false }),
            Err(UndoError::Late) => Err(Unsaved { why: LATE.to_owned(), counted: true }),
            Err(error) if error.is_of_one_file() => Err(Unsaved { why: error.to_string(), counted: false }),
            Err(error) => {
                if let Ok(mut broken) = self.broken.lock() {
                    *broken = Some(error.to_string());
                }
                Err(Unsaved { why: error.to_string(), counted: true })
            }
        }
    }

    /// None if it changed while it was read, twice.
    fn content(&self, path: &Path, expected: Option<&FileInfo>) -> Result<Option<State>, UndoError> {
        let unread = |error: Errno| UndoError::Unread(error.into());
        let place = DirEntryRef::open(path).map_err(unread)?;
        let (mut file, mut before) = place.file(OFlags::RDONLY).map_err(unread)?;
        if expected.is_none_or(|expected| expected.inode != before.inode) {
            return Ok(None);
        }
        for _ in 0..2 {
            file.rewind().map_err(UndoError::Unread)?;
            let (digest, length) = self.objects.put_file_until(&file, self.limits.file, Some(self.until))?;
            let attributes =
                bounded_attributes(&file).ok_or_else(|| UndoError::Unread(io::Error::other(ATTRIBUTES)))?;
            let after = FileInfo::of(&file).map_err(unread)?;
            if after.is_still(&before) && after.changed == before.changed && length == after.length {
                let state = after.state(Kind::File { length, content: Some(digest) });
                return Ok(Some(State { attributes, ..state }));
            }
            before = after;
        }
        Ok(None)
    }
}

struct Unsaved {
    why: String,
    counted: bool,
}

/// What is at a path, with the digest of a file's content if it is at most so many bytes. What cannot be looked at is
/// [`State::UNKNOWN`]; a path to which a link leads has nothing.
pub fn state(path: &Path, most: u64) -> State {
    state_until(path, &|length| length <= most, None)
}

fn state_until(path: &Path, reads: &dyn Fn(u64) -> bool, until: Option<Instant>) -> State {
    match look(path, Look { reads, until }) {
        Ok(seen) => seen.state,
        Err(Errno::LOOP | Errno::NOTDIR) => State::ABSENT,
        Err(_) => State::UNKNOWN,
    }
}

/// What is at the paths of these items now. Content is read where it was saved, so that the digest is known, as far as the
/// limits and the time go.
pub fn states(items: &[Item], limits: &Limits, until: Instant) -> Vec<State> {
    let state = |item: &Item| {
        let reads = |length| item.saved && length <= limits.file && Instant::now() < until;
        state_until(item.path.as_path(), &reads, Some(until))
    };
    items.iter().map(state).collect()
}

/// What is now below folders of which all was saved, and below those that were not there, and was not there before: what the
/// call made. As far as the limits and the time go; a folder stands before what is in it.
pub fn made(items: &[Item], limits: &Limits, until: Instant) -> Vec<(PathBytes, State)> {
    let known: HashSet<&Path> = items.iter().map(|item| item.path.as_path()).collect();
    // Below a folder that is among the items only its own entry says whether what is in it is new.
    let tops = items.iter().filter(|item| item.listed || item.before.kind != Kind::Folder);
    let mut folders: Vec<PathBuf> = tops.map(|item| item.path.as_path().to_path_buf()).collect();
    let mut made: Vec<(PathBytes, State)> = Vec::new();
    let reads = |length| length <= limits.file && Instant::now() < until;
    while let Some(folder) = folders.pop() {
        if made.len() >= limits.paths || Instant::now() >= until {
            break;
        }
        let Ok(Some(top)) = find(&folder) else { continue };
        if !top.is_folder() {
            continue;
        }
        let most = known.len().saturating_add(limits.paths);
        let Ok((names, _)) = listed(&folder, most) else { continue };
        for (name, found) in names {
            let path = folder.join(name);
            if known.contains(path.as_path()) || found.inode.device != top.inode.device || made.len() >= limits.paths {
                continue;
            }
            made.push((path.as_path().into(), state_until(&path, &reads, Some(until))));
            if found.is_folder() {
                folders.push(path);
            }
        }
    }
    made.sort_by(|(one, _), (other, _)| one.cmp(other));
    made
}

#[cfg(test)]
mod tests;
