//! What the tests of several modules need.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use toolgate_git::Git;

use crate::Limits;
use crate::files::{made, states, survey};
use crate::model::{Change, ChangeKind, Item, LeftOut, PathBytes, State};
use crate::restore::{Plan, Target, plan};
use crate::store::Store;

/// A scratch folder with the files of a user in `user` and a store in `store`.
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) store: Store,
}

/// What is saved of a call.
pub(crate) struct Saved {
    pub(crate) items: Vec<Item>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let top = dir.path().canonicalize().expect("a real path");
        let root = top.join("user");
        std::fs::create_dir(&root).expect("a folder");
        Scratch { root, store: Store::open(&top.join("store")).expect("a store"), dir }
    }

    /// A path outside of the user's files.
    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("a real path").join(path)
    }

    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// A file of another time than now, in a folder that is made.
    pub(crate) fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, content).expect("a file");
        let file = std::fs::File::open(&path).expect("the file");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(1_600_000_000_123_456_789)).expect("a time");
    }

    pub(crate) fn folder(&self, path: impl AsRef<Path>) {
        std::fs::create_dir_all(self.at(path)).expect("a folder");
    }

    pub(crate) fn link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) {
        symlink(target, self.at(path)).expect("a link");
    }

    pub(crate) fn mode(&self, path: impl AsRef<Path>, mode: u32) {
        std::fs::set_permissions(self.at(path), PermissionsExt::from_mode(mode)).expect("a mode");
    }

    pub(crate) fn text(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.at(path)).expect("text")
    }

    pub(crate) fn change(&self, path: &str, kind: ChangeKind) -> Change {
        change(&self.at(path), kind)
    }

    /// Saves what these changes will change.
    pub(crate) fn save(&self, changes: &[Change], limits: &Limits) -> Saved {
        let survey = survey(changes, limits, soon());
        let withheld = vec![false; survey.files().len()];
        let (items, left_out) = survey.capture(self.store.objects(), Some(&withheld), limits, soon());
        Saved { items, left_out }
    }

    /// What is to be restored, after the call.
    pub(crate) fn targets(&self, saved: &Saved) -> Vec<Target> {
        let left = states(&saved.items, &Limits::DEFAULT, soon());
        let made = made(&saved.items, &Limits::DEFAULT, soon());
        let items = saved.items.iter().zip(left).map(|(item, left)| Target::of(item, Some(left)));
        items.chain(made.into_iter().map(|(path, left)| Target::gone(path, Some(left)))).collect()
    }

    /// Does what is planned, and all of it goes well.
    pub(crate) fn apply(&self, plan: &Plan) {
        let failed: Vec<_> = plan.apply(self.store.objects()).into_iter().filter_map(|(_, done)| done.err()).collect();
        assert_eq!(failed, []);
    }

    /// Undoes what was done since it was saved, without conflict.
    pub(crate) fn undo(&self, saved: &Saved) {
        let plan = plan(self.targets(saved), false);
        assert_eq!(plan.conflicts, []);
        self.apply(&plan);
    }

    /// What is there: of each path its kind and content, its mode, and when it was changed.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, (String, u32, i128)> {
        let (mut tree, mut folders) = (BTreeMap::new(), vec![self.root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let found = path.symlink_metadata().expect("there");
                let time = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
                let (what, time) = if found.is_dir() {
                    folders.push(path.clone());
                    ("folder".to_owned(), 0)
                } else if found.is_symlink() {
                    (format!("link {:?}", path.read_link().expect("a target")), time)
                } else if found.is_file() {
                    (format!("file {:?}", std::fs::read(&path).expect("content")), time)
                } else {
                    ("special".to_owned(), time)
                };
                tree.insert(path, (what, found.mode() & 0o7777, time));
            }
        }
        tree
    }
}

/// The git that tests use.
pub(crate) fn git() -> Git {
    Git::find(&[]).expect("git")
}

/// Later than any test takes.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(crate) fn change(path: &Path, kind: ChangeKind) -> Change {
    let path = Some(path.to_str().expect("text").to_owned());
    Change { path, kind, certain: true, recursive: false }
}

/// The one of these paths.
pub(crate) fn state_at(items: &[Item], path: &Path) -> Option<State> {
    items.iter().find(|item| item.path == PathBytes::from(path)).map(|item| item.before.clone())
}

/// Whether the tests may do everything, so that nothing can be forbidden to them.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
