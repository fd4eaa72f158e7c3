//! Notices that a plugin's file has changed, for whoever puts it in the place of the one in use.
//!
//! Folders are watched and not files, as builds replace a file by renaming another over it. Whatever the system says
//! is only a reason to look; a look now and then finds what it does not say: a folder that was made later or put in the
//! place of another, a network mount.
//!
//! A file counts once it has stayed the same for a moment. What is wasm but ends too early is somebody's who still
//! writes; it gets more time.
//!
//! Who can write the file decides what is loaded, so it has to be behind the gate like the gate's own files.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustix::fs::OFlags;
use toolgate_host::private::open_regular;

use toolgate_host::limits::COMPONENT;

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("changes of plugins cannot be noticed: {0}")]
pub struct WatchError(String);

/// How long what is waited for.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// For the next event, after one: events come in crowds.
    crowd: Duration,
    /// For a file to stay the same.
    quiet: Duration,
    /// For the rest of a file that is not whole, before it is handed over as it is.
    patience: Duration,
    /// For an event, before a look without one.
    look: Duration,
}

const PACE: Pace = Pace {
    crowd: Duration::from_millis(20),
    quiet: Duration::from_millis(100),
    patience: Duration::from_millis(600),
    look: Duration::from_secs(2),
};

/// Watches until it is dropped. A change that is being handed over then still is.
#[derive(Debug)]
pub struct Watching {
    over: Arc<AtomicBool>,
    wake: SyncSender<()>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // A full channel wakes it as well.
        let _ = self.wake.try_send(());
    }
}

/// Calls back with a file's path, as given, and its content whenever that has changed. None of the files needs to be
/// there yet. Start it before the files are read, so that no change between the two is missed.
///
/// The callback runs on a thread of its own, one change after the other; a file that changes meanwhile is looked at
/// after it. At most one byte more is read than a component may have.
///
/// # Errors
/// If the system gives no means to watch, or no thread.
pub fn watch(files: Vec<PathBuf>, changed: impl Fn(&Path, Vec<u8>) + Send + 'static) -> Result<Watching, WatchError> {
    watch_at(PACE, files, changed)
}

fn watch_at(
    pace: Pace,
    files: Vec<PathBuf>,
    changed: impl Fn(&Path, Vec<u8>) + Send + 'static,
) -> Result<Watching, WatchError> {
    // One place: that something has happened is all that is told, however often it does.
    let (wake, woken) = sync_channel(1);
    let events = wake.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !only_read(event.kind)) {
            let _ = events.try_send(());
        }
    });
    let folders = Folders { watcher: watcher.map_err(|error| WatchError(error.to_string()))?, watched: HashMap::new() };
    let over = Arc::new(AtomicBool::new(false));
    let mut watch = Watch { pace, folders, files: Vec::new(), over: Arc::clone(&over) };
    for path in files {
        let path = std::path::absolute(&path).map_err(|error| WatchError(format!("{}: {error}", path.display())))?;
        watch.folders.follow(&path);
        watch.files.push(Watched { seen: Stamp::of(&path), path, pending: None });
    }
    let thread = std::thread::Builder::new().name("toolgate-reload".to_owned());
    thread.spawn(move || watch.run(&woken, &changed)).map_err(|error| WatchError(error.to_string()))?;
    Ok(Watching { over, wake })
}

/// Whether nothing has changed. Our own looks are such events, too.
fn only_read(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(how) if how != AccessKind::Close(AccessMode::Write))
}

struct Watch {
    pace: Pace,
    folders: Folders,
    files: Vec<Watched>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn run(mut self, woken: &Receiver<()>, changed: &impl Fn(&Path, Vec<u8>)) {
        loop {
            let pending = self.files.iter().any(|file| file.pending.is_some());
            let wait = if pending { self.pace.quiet } else { self.pace.look };
            match woken.recv_timeout(wait) {
                Ok(()) => std::thread::sleep(self.pace.crowd),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // What was told until here is seen below.
            let _ = woken.try_recv();
            for file in &mut self.files {
                if self.over.load(Ordering::Relaxed) {
                    return;
                }
                self.folders.follow(&file.path);
                if let Some(content) = file.changed(self.pace) {
                    changed(&file.path, content);
                }
            }
        }
    }
}

/// The folders that are watched, and which they were then.
struct Folders {
    watcher: RecommendedWatcher,
    watched: HashMap<PathBuf, (u64, u64)>,
}

impl Folders {
    /// Watches where this file is or will be, and where a link in its place leads.
    fn follow(&mut self, file: &Path) {
        let nearest = file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf);
        let real = file.canonicalize().ok().and_then(|real| real.parent().map(Path::to_path_buf));
        for folder in nearest.into_iter().chain(real) {
            let Ok(found) = folder.metadata() else { continue };
            let identity = (found.dev(), found.ino());
            if self.watched.get(&folder) == Some(&identity) {
                continue;
            }
            match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => tracing::debug!(folder = %folder.display(), "watched"),
                Err(error) => tracing::warn!(folder = %folder.display(), %error, "cannot be watched; polling instead"),
            }
            self.watched.insert(folder, identity);
        }
    }
}

/// What a file is without its content; another file in its place is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().filter(Metadata::is_file).as_ref().map(Self::from)
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Stamp {
            file: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

struct Watched {
    path: PathBuf,
    /// As it was when it was handed over, or when all began.
    seen: Option<Stamp>,
    /// As it is now, and since when.
    pending: Option<(Stamp, Instant)>,
}

impl Watched {
    /// The content, once it is another and stays so.
    fn changed(&mut self, pace: Pace) -> Option<Vec<u8>> {
        let now = Stamp::of(&self.path).filter(|stamp| self.seen != Some(*stamp));
        let since = match (now, self.pending) {
            (None, _) => {
                self.pending = None;
                return None;
            }
            (Some(now), Some((before, since))) if now == before => since,
            (Some(now), _) => {
                self.pending = Some((now, Instant::now()));
                return None;
            }
        };
        let stable = since.elapsed();
        if stable < pace.quiet {
            return None;
        }
        let (stamp, content) = read(&self.path).ok()?;
        if now != Some(stamp) || !is_whole(&content) && stable < pace.patience {
            return None;
        }
        (self.seen, self.pending) = (now, None);
        Some(content)
    }
}

/// What the file holds, if it is the same before and after.
fn read(path: &Path) -> std::io::Result<(Stamp, Vec<u8>)> {
    let file = open_regular(path, OFlags::empty())?;
    let stamp = |file: &File| file.metadata().map(|found| Stamp::from(&found));
    let before = stamp(&file)?;
    let mut content = Vec::new();
    (&file).take(COMPONENT + 1).read_to_end(&mut content)?;
    match stamp(&file)? == before {
        true => Ok((before, content)),
        false => Err(std::io::Error::other("it changes")),
    }
}

/// Whether nothing is missing at the end of what begins as wasm. What begins otherwise is complete, as far as that can be
/// told; whether it is of any use is for others to say.
fn is_whole(content: &[u8]) -> bool {
    /// The bytes `\0asm` and a version.
    const HEADER: usize = 8;
    if content.len() < HEADER {
        return false;
    }
    let Some(mut rest) = content.strip_prefix(b"\0asm").and_then(|rest| rest.get(4..)) else { return true };
    // A section is its kind, its length, and so many bytes.
    while let Some((_, after)) = rest.split_first() {
        let Some(next) = length(after).and_then(|(length, after)| after.get(length..)) else { return false };
        rest = next;
    }
    true
}

/// A number in LEB128 of at most 32 bits, and what follows it.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

    use super::*;

    /// Nobody's rest is given up on while a test runs, and only events wake.
    const PATIENT: Pace = Pace { patience: Duration::from_secs(3_600), look: Duration::from_secs(3_600), ..PACE };

    /// Longest wait for what is to come.
    const DEADLINE: Duration = Duration::from_secs(20);

    fn component(content: &[u8]) -> Vec<u8> {
        let mut bytes = b"\0asm\x0d\0\x01\0\0".to_vec();
        bytes.push(u8::try_from(content.len()).expect("short"));
        bytes.extend(content);
        bytes
    }

    struct Scene {
        folder: tempfile::TempDir,
        news: Receiver<(PathBuf, Vec<u8>)>,
        _watching: Watching,
    }

    impl Scene {
        /// Watches `out/p.wasm` and, to see that everything before was looked at, `marker`.
        fn new(pace: Pace, before: impl FnOnce(&Path)) -> Self {
            let folder = tempfile::tempdir().expect("a scratch folder");
            before(folder.path());
            let (sender, news) = channel();
            let files = ["out/p.wasm", "marker"].map(|name| folder.path().join(name)).to_vec();
            let watching = watch_at(pace, files, move |path, content| {
                let _ = sender.send((path.to_owned(), content));
            });
            Scene { folder, news, _watching: watching.expect("watched") }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, content: &[u8]) {
            std::fs::write(self.at(name), content).expect("written");
        }

        fn rename(&self, from: &str, to: &str) {
            std::fs::rename(self.at(from), self.at(to)).expect("renamed");
        }

        #[track_caller]
        fn expect(&self, name: &str, content: &[u8]) {
            let (path, found) = self.news.recv_timeout(DEADLINE).expect("a change");
            assert_eq!((path, found.as_slice()), (self.at(name), content));
        }

        /// Everything that was written so far has been looked at, and nothing of it was handed over.
        #[track_caller]
        fn nothing_yet(&self) {
            let content = Instant::now().elapsed().as_nanos().to_string() + "  no wasm";
            self.write("marker", content.as_bytes());
            self.expect("marker", content.as_bytes());
        }
    }

    fn with_folder(root: &Path) {
        std::fs::create_dir(root.join("out")).expect("a folder");
        std::fs::write(root.join("out/p.wasm"), component(b"first")).expect("a file");
    }

    #[test]
    fn a_file_is_handed_over_when_another_is_renamed_over_it() {
        let scene = Scene::new(PATIENT, with_folder);
        for content in [b"second", b"third!"] {
            scene.write("new", &component(content));
            scene.rename("new", "out/p.wasm");
            scene.expect("out/p.wasm", &component(content));
        }
        scene.nothing_yet();
    }

    #[test]
    fn half_a_file_is_not_handed_over() {
        let scene = Scene::new(PATIENT, with_folder);
        let whole = component(&[7; 100]);
        for part in [0, 4, 8, 9, 50, 109] {
            scene.write("out/p.wasm", &whole[..part]);
            if part != 8 {
                scene.nothing_yet();
            }
        }
        scene.write("out/p.wasm", &whole);
        scene.expect("out/p.wasm", &whole);
    }

    #[test]
    fn half_a_file_that_stays_so_is_told_after_all() {
        let scene = Scene::new(Pace { patience: PACE.quiet * 2, ..PATIENT }, with_folder);
        scene.write("out/p.wasm", &component(b"second")[..12]);
        scene.expect("out/p.wasm", &component(b"second")[..12]);
    }

    #[test]
    fn a_file_that_goes_and_comes_again_is_handed_over() {
        let scene = Scene::new(PATIENT, with_folder);
        std::fs::remove_file(scene.at("out/p.wasm")).expect("removed");
        scene.nothing_yet();
        scene.write("out/p.wasm", &component(b"again"));
        scene.expect("out/p.wasm", &component(b"again"));
    }

    #[test]
    fn a_folder_may_be_made_later_and_made_anew() {
        let scene = Scene::new(PATIENT, |_| ());
        for content in [b"first", b"again"] {
            with_folder(scene.folder.path());
            scene.write("out/p.wasm", &component(content));
            scene.expect("out/p.wasm", &component(content));
            std::fs::remove_dir_all(scene.at("out")).expect("removed");
            scene.nothing_yet();
        }
    }

    #[test]
    fn a_link_is_followed_to_where_it_leads_now() {
        let scene = Scene::new(PATIENT, |root| {
            for name in ["out", "one", "two"] {
                std::fs::create_dir(root.join(name)).expect("a folder");
                std::fs::write(root.join(name).join("p"), component(name.as_bytes())).expect("a file");
            }
            symlink("../one/p", root.join("out/p.wasm")).expect("a link");
        });
        scene.write("one/p", &component(b"newer"));
        scene.expect("out/p.wasm", &component(b"newer"));
        symlink("../two/p", scene.at("link")).expect("a link");
        scene.rename("link", "out/p.wasm");
        scene.expect("out/p.wasm", &component(b"two"));
        scene.write("two/p", &component(b"newest"));
        scene.expect("out/p.wasm", &component(b"newest"));
        scene.write("one/p", &component(b"nobody's"));
        scene.nothing_yet();
    }

    #[test]
    fn what_is_no_file_holds_nobody() {
        let scene = Scene::new(PATIENT, with_folder);
        for other in ["folder", "pipe"] {
            std::fs::remove_file(scene.at("out/p.wasm")).expect("removed");
            match other {
                "folder" => std::fs::create_dir(scene.at("out/p.wasm")).expect("a folder"),
                _ => rustix::fs::mknodat(
                    rustix::fs::CWD,
                    scene.at("out/p.wasm"),
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR,
                    0,
                )
                .expect("a pipe"),
            }
            scene.nothing_yet();
            scene.write("new", &component(other.as_bytes()));
            if other == "folder" {
                std::fs::remove_dir(scene.at("out/p.wasm")).expect("removed");
            }
            scene.rename("new", "out/p.wasm");
            scene.expect("out/p.wasm", &component(other.as_bytes()));
        }
    }

    #[test]
    fn a_look_now_and_then_finds_what_no_event_tells() {
        let scene = Scene::new(Pace { look: PACE.quiet, ..PATIENT }, with_folder);
        // Nobody watches above: the whole tree is put aside, and another in its place.
        let root = scene.folder.path().to_owned();
        let aside = tempfile::tempdir().expect("a scratch folder");
        std::fs::rename(&root, aside.path().join("old")).expect("renamed");
        std::fs::create_dir(&root).expect("a folder");
        with_folder(&root);
        scene.expect("out/p.wasm", &component(b"first"));
    }

    #[test]
    fn it_ends_when_it_is_dropped() {
        let Scene { news, _watching: watching, folder: _folder } = Scene::new(PATIENT, with_folder);
        drop(watching);
        assert_eq!(news.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn sections_show_whether_a_file_is_whole() {
        let whole = component(b"x");
        let two = [whole.clone(), vec![1, 0x80, 1], vec![0; 128]].concat();
        let cases = [
            (&whole[..], true),
            (&whole[..10], false),
            (&whole[..9], false),
            (&whole[..8], true),
            (&whole[..7], false),
            (b"", false),
            (b"something else", true),
            (&two, true),
            (&two[..two.len() - 1], false),
            (b"\0asm\x0d\0\x01\0\0\xff\xff\xff\xff\xff\x01", false),
        ];
        for (content, expected) in cases {
            assert_eq!(is_whole(content), expected, "{content:?}");
        }
    }
}
