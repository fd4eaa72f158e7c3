//! A call from before it runs until it is undone: what is saved of it, what it left, and what is put back.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use toolgate_git::{Git, GitError, Repository};
use toolgate_private::read_regular;

use crate::error::UndoError;
use crate::files::{self, Survey};
use crate::git;
use crate::model::{
    After, CallRef, Change, ChangeKind, ChangeStatus, Changes, Entry, GitCommand, History, Item, Kind, LeftOut,
    PathBytes, SCHEMA, SHOWN, Snapshot, State, Touched,
};
use crate::objects::Objects;
use crate::snapshot::UserRepository;
use crate::store::{Hold, Store};
use crate::{Limits, history, snapshot};

/// The calls of which something is saved.
#[derive(Clone, Debug)]
pub struct Calls {
    folder: PathBuf,
    limits: Limits,
}

/// What a call changes, looked at and not saved yet.
pub struct Pending {
    store: Store,
    #[expect(dead_code, reason = "dropping it lets others tidy up")]
    hold: Hold,
    limits: Limits,
    call: CallRef,
    survey: Survey,
    workspaces: Vec<(snapshot::Pending, Vec<PathBuf>)>,
    /// Repositories that are known already, by the root of their worktree.
    known: Vec<(PathBuf, UserRepository)>,
    repositories: Vec<PathBuf>,
    left_out: Vec<LeftOut>,
    removed: HashSet<PathBuf>,
    undoes: Vec<String>,
    asked: bool,
    recoverable: bool,
    until: Instant,
}

/// What was saved of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Names the entry.
    pub id: String,
    /// Files whose content is saved.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// Files that the call removes or moves away, and their length.
    pub removed: (u64, u64),
    /// Whether there are more of these than were looked at.
    pub removes_more: bool,
    /// How many of these are not in the last commit as they are; none if that is not known.
    pub uncommitted: Option<u64>,
    /// Repositories whose refs, stash and index are saved.
    pub repositories: usize,
    /// Worktrees and workspaces that are saved as git sees them.
    pub workspaces: usize,
    /// What was not saved.
    pub left_out: Vec<LeftOut>,
}

impl Saved {
    /// Whether all that the call changes can be restored.
    pub fn is_complete(&self) -> bool {
        self.left_out.is_empty()
    }
}

impl Calls {
    /// The calls in this folder, which is made when the first one is saved.
    pub fn new(folder: PathBuf, limits: Limits) -> Self {
        Calls { folder, limits }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The store, if there is one.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn store(&self) -> Result<Option<Store>, UndoError> {
        Store::existing(&self.folder)
    }

    /// Looks at what a call changes. None if there is nothing to save.
    ///
    /// # Errors
    /// If the store cannot be used or has no room: then the call cannot be undone.
    pub fn look(&self, changes: &[Changes], call: CallRef) -> Result<Option<Pending>, UndoError> {
        let mut paths: Vec<_> = changes.iter().flat_map(|one| one.paths.iter().cloned()).collect();
        // Git's own files are nobody's work.
        let removed = removed(&paths);
        paths.extend(settings(changes));
        let until = Instant::now() + self.limits.wait;
        let mut touched = Places::of(changes, &call);
        if paths.is_empty() && touched.is_nothing() {
            return Ok(None);
        }
        let store = Store::open(&self.folder)?;
        let hold = store.hold()?;
        store.room(&self.limits)?;
        let mut workspaces = Vec::new();
        for root in std::mem::take(&mut touched.workspaces) {
            match git::find(&root, &call).and_then(|git| Beside::of(git, root.clone(), GitWork::of(changes), until)) {
                Ok(beside) => {
                    paths.extend(beside.unseen.iter().map(|path| beside_snapshot(path)));
                    paths.extend(beside.removable.iter().map(|path| removable(path)));
                    if beside.has_submodules {
                        touched.leave_out(Some(&root), "submodules, which git changes as well here".to_owned());
                    }
                    if beside.has_sequence {
                        touched.leave_out(Some(&root), "the steps of a rebase, of picks or of a bisection".to_owned());
                    }
                    workspaces.push(beside);
                }
                // What is not known of it may be changed as well.
                Err(error) => touched.leave_out(Some(&root), error.to_string()),
            }
        }
        let survey = files::survey(&paths, &self.limits, until);
        let survey = Surveyed { survey, removed, workspaces, undoes: Vec::new() };
        self.pending(store, hold, call, survey, touched, until).map(Some)
    }

    /// The same for an undo of these entries, which changes these paths.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn look_for_undo(
        &self,
        paths: &[&Path],
        repositories: Vec<PathBuf>,
        call: CallRef,
        undoes: Vec<String>,
    ) -> Result<Pending, UndoError> {
        let until = Instant::now() + self.limits.wait;
        let store = Store::open(&self.folder)?;
        let hold = store.hold()?;
        store.room(&self.limits)?;
        let survey = files::survey_paths(paths, &self.limits, until);
        let places = Places { workspaces: Vec::new(), repositories, left_out: Vec::new() };
        let (removed, workspaces) = (HashSet::new(), Vec::new());
        self.pending(store, hold, call, Surveyed { survey, removed, workspaces, undoes }, places, until)
    }

    fn pending(
        &self,
        store: Store,
        hold: Hold,
        call: CallRef,
        surveyed: Surveyed,
        places: Places,
        until: Instant,
    ) -> Result<Pending, UndoError> {
        let Surveyed { survey, removed, workspaces, undoes } = surveyed;
        let mut pending = Pending {
            store,
            hold,
            limits: self.limits,
            call,
            survey,
            workspaces: Vec::new(),
            known: Vec::new(),
            repositories: places.repositories,
            left_out: places.left_out,
            removed,
            undoes,
            asked: false,
            recoverable: false,
            until,
        };
        pending.look_at_workspaces(workspaces);
        Ok(pending)
    }

    /// Notes what a call left that has run. One that changed nothing is forgotten, if that is certain.
    ///
    /// # Errors
    /// If the store cannot be used.
    pub fn finish(&self, agent: &str, session: &str, call: &str) -> Result<(), UndoError> {
        let Some(store) = self.store()? else { return Ok(()) };
        let until = Instant::now() + self.limits.wait;
        for id in store.ids_of(agent, session)?.into_iter().take(RECENT) {
            let entry = match store.entry(&id) {
                Ok(entry) => entry,
                Err(error) => {
                    tracing::warn!(%error, id, "an entry cannot be read");
                    continue;
                }
            };
            // Agents that name no call may make the same one again.
            if entry.call.call != call || store.after(&id)?.is_some() {
                continue;
            }
            let after = self.look_after(&store, &entry, until);
            // What was not saved may have been changed.
            let is_done = is_unchanged(&entry, &after) && !entry.recoverable && entry.left_out.is_empty();
            return match is_done {
                true => self.forget(&store, &entry),
                false => store.set_after(&id, &after),
            };
        }
        Ok(())
    }

    /// Drops what is too old or too much, if it is time for it.
    ///
    /// # Errors
    /// If the store cannot be used.
    pub fn tidy(&self, now: SystemTime) -> Result<(), UndoError> {
        let Some(store) = self.store()?.filter(|store| store.is_due(millis(now))) else { return Ok(()) };
        // Which refs they have is in the entries, which are gone then.
        let entries: Vec<Entry> = store.entries()?.collect();
        let beside = bytes_of_snapshots(&store, &entries, &self.limits);
        let Some(tidied) = store.tidy(&self.limits, &beside, millis(now))? else { return Ok(()) };
        let (dropped, live): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| tidied.dropped.contains(&entry.id));
        dropped.into_iter().for_each(drop_keeps);
        let live: Vec<Snapshot> = live.iter().flat_map(|entry| entry.snapshots.clone()).collect();
        // A project must not bring it, whichever it is.
        let places = entries.iter().flat_map(|entry| [&entry.call.cwd, &entry.call.workspace]);
        let git = Git::find(&places.map(Path::new).collect::<Vec<_>>())?;
        snapshot::tidy(&git, store.folder(), &live, Instant::now() + TIDY_TIMEOUT)
    }

    /// Drops an entry: its call did not run, or changed nothing.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn forget(&self, store: &Store, entry: &Entry) -> Result<(), UndoError> {
        drop_keeps(entry);
        store.remove(&entry.id)
    }

    /// What there is now of all that an entry is about.
    pub fn look_after(&self, store: &Store, entry: &Entry, until: Instant) -> After {
        // The call has ended by now, however long this takes.
        let time = millis(SystemTime::now());
        let states = files::states(&entry.items, &self.limits, until);
        let made = files::made(&entry.items, &self.limits, until);
        let mut changed = changed_items(&entry.items, &states);
        changed.extend(made.iter().map(|(path, _)| (path.clone(), ChangeStatus::Made)));
        let listed: HashSet<PathBytes> = changed.iter().map(|(path, _)| path.clone()).collect();
        let touched: Vec<_> = entry.snapshots.iter().map(|before| self.touched(store, entry, before, until)).collect();
        for one in touched.iter().flatten().flatten().filter(|one| !listed.contains(&one.path)) {
            let how = match (&one.before, &one.after.kind) {
                (None, _) => ChangeStatus::Made,
                (_, Kind::Absent) => ChangeStatus::Removed,
                _ => ChangeStatus::Changed,
            };
            changed.push((one.path.clone(), how));
        }
        let histories = entry.histories.iter().map(|before| history_now(before, &entry.call, until)).collect();
        let count = changed.len() as u64;
        changed.truncate(SHOWN);
        After { schema: SCHEMA, time, states, made, histories, touched, changed, count }
    }

    /// What is not as it was in a snapshot. What was left out of that is not looked at: it may be as it always was.
    fn touched(&self, store: &Store, entry: &Entry, before: &Snapshot, until: Instant) -> Option<Vec<Touched>> {
        let root = before.root.as_path();
        let look = || {
            let git = git::find(root, &entry.call)?;
            snapshot::changed_since(&git, store.folder(), before, &self.limits, until)
        };
        match look() {
            Ok(changed) => {
                let known = changed.into_iter().filter(|one| !is_left_out(entry, &one.path));
                let state = |one: snapshot::Changed| Touched {
                    after: files::state(&one.path, self.limits.file),
                    path: PathBytes(one.path),
                    before: one.before,
                };
                Some(known.map(state).collect())
            }
            Err(error) => {
                tracing::warn!(%error, root = %root.display(), "the changes of a call are unknown");
                None
            }
        }
    }
}

/// How many of a session's newest entries are looked through for a call that has run.
const RECENT: usize = 64;

/// The paths of a call, looked at.
struct Surveyed {
    survey: Survey,
    removed: HashSet<PathBuf>,
    workspaces: Vec<Beside>,
    undoes: Vec<String>,
}

/// The paths that are removed or moved away.
fn removed(paths: &[Change]) -> HashSet<PathBuf> {
    let removes = |kind: ChangeKind| matches!(kind, ChangeKind::Delete | ChangeKind::Move);
    paths.iter().filter(|one| removes(one.kind)).filter_map(|one| one.path.clone()).map(PathBuf::from).collect()
}

/// What has to be known of a worktree beside a snapshot of it.
struct Beside {
    git: Git,
    root: PathBuf,
    theirs: Option<UserRepository>,
    /// What a snapshot does not see, though git may write to it: tracked files that are ignored, those that the last commit has and
    /// the index has not, and those that the index has and that are not there. That nothing is there has to be known of them: a
    /// file that comes back would else seem to be one that was ignored before.
    unseen: Vec<PathBuf>,
    /// What is in the index and not as it is in the last commit. A snapshot takes it over as it is.
    staged: Vec<PathBuf>,
    /// What git removes with all that is in it, also what is ignored, and repositories: folders, and links or files on the way,
    /// that stand where git has something; and for `git clean`, folders of which git has nothing.
    removable: Vec<PathBuf>,
    /// Whether git commands change submodules as well.
    has_submodules: bool,
    /// Whether a rebase, a series of picks or a bisection has begun, which git commands may end.
    has_sequence: bool,
}

/// What git keeps of a merge, a pick or a revert that is not committed: a reset forgets it.
pub(crate) const UNDER_WAY: &[&str] = &[
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "AUTO_MERGE",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
];

/// What it keeps of several steps. Such a file or folder that a call made goes with the call's undo.
pub(crate) const SEQUENCES: &[&str] = &[
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_LOG",
    "BISECT_START",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
    "BISECT_FIRST_PARENT",
];

/// What git commands of a call do to a worktree.
#[derive(Clone, Copy)]
struct GitWork {
    /// There are some.
    overwrites: bool,
    /// `git clean` or `git stash`, which may clean up as well, is among them.
    cleans: bool,
}

impl GitWork {
    fn of(changes: &[Changes]) -> Self {
        let mut commands = changes.iter().flat_map(|one| &one.git).peekable();
        GitWork {
            overwrites: commands.peek().is_some(),
            cleans: commands.any(|one| matches!(one.command.as_str(), "clean" | "stash")),
        }
    }
}

impl Beside {
    fn of(git: Git, root: PathBuf, work: GitWork, until: Instant) -> Result<Self, UndoError> {
        let GitWork { overwrites, cleans } = work;
        let theirs = UserRepository::of(&git, &root, until)?;
        let (mut unseen, mut staged, mut removable) = (Vec::new(), Vec::new(), Vec::new());
        let (mut has_submodules, mut has_sequence) = (false, false);
        if let Some(UserRepository { repository, head }) = &theirs {
            let ask = |arguments: &[&str]| repository.ask_in(&root, arguments, Vec::new());
            let last = head.as_deref().unwrap_or(repository.empty_tree());
            let lost = |_| Err(GitError::Failed("was not asked".to_owned()));
            let (ignored, differ, gone, new) = std::thread::scope(|scope| {
                let ignored = scope.spawn(|| ask(&["ls-files", "-c", "-i", "--exclude-standard", "-z"]));
                let gone = overwrites.then(|| {
                    scope.spawn(|| ask(&["diff-files", "--name-only", "-z", "--no-ext-diff", "--diff-filter=DT"]))
                });
                let new = cleans
                    .then(|| scope.spawn(|| ask(&["ls-files", "--others", "--directory", "--exclude-standard", "-z"])));
                let differ = ask(&["diff-index", "--cached", "--no-renames", "--name-status", "-z", last]);
                let joined = |asked: Option<std::thread::ScopedJoinHandle<'_, _>>| {
                    asked.map_or(Ok(Vec::new()), |asked| asked.join().unwrap_or_else(lost))
                };
                (joined(Some(ignored)), differ, joined(gone), joined(new))
            });
            has_submodules =
                overwrites && repository.configures("submodule.recurse") && root.join(".gitmodules").exists();
            let of_git = |name: &str| repository.git_dir.join(name);
            let is_there = |path: PathBuf| path.symlink_metadata().is_ok();
            has_sequence = overwrites && SEQUENCES.iter().any(|name| is_there(of_git(name)));
            // Also that nothing is there: the call may begin a merge, or a rebase.
            let begun = SEQUENCES.iter().filter(|_| !has_sequence);
            unseen.extend(UNDER_WAY.iter().chain(begun).filter(|_| overwrites).map(|name| of_git(name)));
            let path = |name: &[u8]| root.join(OsStr::from_bytes(name));
            unseen.extend(git::parts(&ignored?).map(path));
            let differ = differ?;
            let mut parts = git::parts(&differ);
            while let (Some(status), Some(name)) = (parts.next(), parts.next()) {
                let list = if status == b"D" { &mut unseen } else { &mut staged };
                list.push(path(name));
            }
            let gone = gone?;
            unseen.extend(git::parts(&gone).map(path));
            let found: HashSet<PathBuf> =
                unseen.iter().filter(|_| overwrites).filter_map(|path| displaced_by(&root, path)).collect();
            removable.extend(found);
            removable.extend(git::parts(&new?).filter(|name| name.ends_with(b"/")).map(path));
        }
        Ok(Beside { git, root, theirs, unseen, staged, removable, has_submodules, has_sequence })
    }
}

/// What stands in the place of a path that git has, or on the way to it, though it is none of git's.
fn displaced_by(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut on_the_way = root.to_path_buf();
    for part in path.strip_prefix(root).ok()? {
        on_the_way.push(part);
        let there = on_the_way.symlink_metadata().ok()?;
        // A folder is where it belongs, but for the last part.
        if !there.is_dir() || on_the_way == path {
            return (there.is_dir() || on_the_way != path).then_some(on_the_way);
        }
    }
    None
}

/// What git may remove with all that is in it.
fn removable(path: &Path) -> Change {
    Change { kind: ChangeKind::Delete, recursive: true, ..beside_snapshot(path) }
}

/// A file that is saved beside a snapshot. One whose name is not UTF-8 is unknown.
fn beside_snapshot(path: &Path) -> Change {
    let path = path.to_str().map(str::to_owned);
    Change { path, kind: ChangeKind::Write, certain: false, recursive: false }
}

/// The files of a repository that git commands change besides refs: `branch -D` removes the settings of the branch, `push -u` adds some,
/// and `worktree remove` removes what git knows of the worktree.
fn settings(changes: &[Changes]) -> Vec<Change> {
    let own = |one: &GitCommand| {
        let common = common_folder_of(&worktree_of(Path::new(one.folder.as_deref()?))?)?;
        let files = ["config", "config.worktree"].map(|name| common.join(name));
        let worktrees = (one.command == "worktree").then(|| removable(&common.join("worktrees")));
        let there = files.into_iter().filter(|file| file.is_file() || one.command == "sparse-checkout");
        Some(there.map(|file| beside_snapshot(&file)).chain(worktrees).collect::<Vec<_>>())
    };
    changes.iter().flat_map(|one| &one.git).filter_map(own).flatten().collect()
}

/// Git's folder of the repository that a root is a worktree of, the main one or a linked one.
fn common_folder_of(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let line = |path: &Path| Some(String::from_utf8(read_regular(path, LINE).ok()?).ok()?.trim_end().to_owned());
    let folder = root.join(line(&git)?.strip_prefix("gitdir: ")?);
    // The file is the project's: it may name any folder.
    if !folder.join("HEAD").is_file() || !folder.join("commondir").is_file() {
        return None;
    }
    let common = folder.join(line(&folder.join("commondir"))?);
    common.canonicalize().ok()
}

/// Most bytes of a file with one path.
const LINE: u64 = 8 << 10;

/// The workspaces and repositories that a call may change.
struct Places {
    /// Roots of worktrees and of the agent's workspace.
    workspaces: Vec<PathBuf>,
    /// Folders in repositories.
    repositories: Vec<PathBuf>,
    left_out: Vec<LeftOut>,
}

impl Places {
    fn of(changes: &[Changes], call: &CallRef) -> Self {
        let mut touched = Places { workspaces: Vec::new(), repositories: Vec::new(), left_out: Vec::new() };
        // Where it is not known where something happens, that is most likely where the call is.
        let here = Path::new(&call.cwd);
        // Of a call that is, no git command overwrites such files.
        let recoverable = changes.iter().all(|one| one.recoverable);
        let redirected = toolgate_git::redirected();
        for one in changes.iter().flat_map(|one| &one.git) {
            if let Some(variable) = redirected {
                touched.leave_out(None, format!("what git {} changes, as {variable} is set", one.command));
            }
            let folder = one.folder.as_deref().map_or(here, Path::new);
            if one.folder.is_none() {
                touched.leave_out(None, format!("an unknown repository, which git {} changes", one.command));
            }
            // These may bring in other files, in the place of ignored ones.
            let brings = matches!(
                one.command.as_str(),
                "am" | "checkout" | "cherry-pick" | "merge" | "pull" | "rebase" | "reset" | "revert" | "switch"
            );
            if let (true, false, Some(root)) = (brings, recoverable, worktree_of(folder)) {
                touched.leave_out(Some(&root), format!("ignored files that git {} overwrites", one.command));
            }
            let makes_one = matches!(one.command.as_str(), "init" | "clone");
            if !touched.repository(folder) && !makes_one {
                touched.leave_out(
                    Some(folder),
                    format!("a repository that is not there yet, which git {} changes", one.command),
                );
            }
        }
        for one in changes.iter().flat_map(|one| &one.unforeseen) {
            let folder = one.folder.as_deref().map_or(here, Path::new);
            let workspace = Path::new(&call.workspace);
            let own = || folder.starts_with(workspace).then(|| workspace.to_path_buf());
            let root = worktree_of(folder).or_else(own).filter(|root| root.is_absolute());
            match root {
                Some(root) => {
                    let why = format!(
                        "files that git ignores, branches, tags and the index, and what {} changes elsewhere",
                        one.program
                    );
                    touched.leave_out(Some(&root), why);
                    touched.workspace(root);
                }
                None => touched.leave_out(Some(folder), format!("what {} changes", one.program)),
            }
        }
        // What the path may be is most likely there. That not all of it is saved is said of the path.
        let unknown = changes.iter().flat_map(|one| &one.paths).any(|one| one.path.is_none());
        if unknown {
            let workspace = Path::new(&call.workspace);
            touched.workspace(worktree_of(Path::new(&call.cwd)).unwrap_or_else(|| workspace.to_path_buf()));
        }
        touched
    }

    fn is_nothing(&self) -> bool {
        self.workspaces.is_empty() && self.repositories.is_empty()
    }

    /// A folder in a repository. Whether it is in one.
    fn repository(&mut self, folder: &Path) -> bool {
        match worktree_of(folder) {
            Some(root) => self.workspace(root),
            None if folder.join("HEAD").is_file() => {}
            None => return false,
        }
        let folder = if folder.is_dir() { folder } else { self.workspaces.last().map_or(folder, PathBuf::as_path) };
        let folder = &folder.to_path_buf();
        if !self.repositories.contains(folder) {
            self.repositories.push(folder.clone());
        }
        true
    }

    fn workspace(&mut self, root: PathBuf) {
        if !self.workspaces.contains(&root) {
            self.workspaces.push(root);
        }
    }

    fn leave_out(&mut self, path: Option<&Path>, why: String) {
        let one = LeftOut { path: path.map(PathBytes::from), why };
        if !self.left_out.contains(&one) {
            self.left_out.push(one);
        }
    }
}

/// The root of the worktree that a folder is in.
pub fn worktree_of(folder: &Path) -> Option<PathBuf> {
    // The call may make it, which leaves it in the same worktree.
    let folder = folder.ancestors().find_map(|folder| folder.canonicalize().ok())?;
    folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok()).map(Path::to_path_buf)
}

impl Pending {
    fn look_at_workspaces(&mut self, workspaces: Vec<Beside>) {
        for Beside { git, root, theirs, staged, .. } in workspaces {
            match snapshot::survey(&git, theirs.as_ref(), self.store.folder(), &root, &self.limits, self.until) {
                Ok(pending) => self.workspaces.push((pending, staged)),
                Err(error) => self.leave_out(Some(&root), error.to_string()),
            }
            self.known.extend(theirs.map(|theirs| (root, theirs)));
        }
    }

    fn leave_out(&mut self, path: Option<&Path>, why: String) {
        self.left_out.push(LeftOut { path: path.map(PathBytes::from), why });
    }

    /// For a call that passes if all of it is saved: its entry is kept, whatever it left when its end was reported.
    #[must_use]
    pub fn for_a_recoverable_call(mut self, recoverable: bool) -> Self {
        self.recoverable = recoverable;
        self
    }

    /// For a call that somebody is asked about, who wants to know how many of the files that it removes no commit has.
    #[must_use]
    pub fn for_a_question(mut self, asked: bool) -> Self {
        self.asked = asked;
        self
    }

    /// The files whose content would be copied: of each has to be asked whether the rules keep it from being read.
    pub fn paths(&self) -> Vec<String> {
        let all = self.contents();
        let names = self.other_names(&all).into_iter().map(|(_, name)| name);
        all.iter().cloned().chain(names).map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Other names of these files, through links, each with the index of the file.
    fn other_names(&self, files: &[PathBuf]) -> Vec<(usize, PathBuf)> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home.and_then(|home| files::alias(&home.canonicalize().ok()?, &home));
        let mut aliases: HashMap<&Path, Vec<&Path>> = HashMap::new();
        for (real, named) in self.survey.aliases.iter().chain(home.as_ref()) {
            aliases.entry(real).or_default().push(named);
        }
        let mut found = Vec::new();
        for (at, file) in files.iter().enumerate().filter(|_| !aliases.is_empty()) {
            for above in file.ancestors() {
                let rest = file.strip_prefix(above).unwrap_or(file);
                let named = aliases.get(above).into_iter().flatten().map(|named| named.join(rest));
                // Joined to nothing, a path gets a slash at its end.
                found.extend(named.map(|name| (at, name.components().collect())));
            }
        }
        found
    }

    /// The files whose content would be copied, by their own names.
    fn contents(&self) -> Vec<PathBuf> {
        let files = self.survey.files().into_iter().map(Path::to_path_buf);
        let of_workspace =
            |(pending, staged): &(snapshot::Pending, Vec<PathBuf>)| [pending.paths(), staged.clone()].concat();
        files.chain(self.workspaces.iter().flat_map(of_workspace)).collect()
    }

    /// Saves it. `withheld` has an answer for each of [`Pending::paths`]; without answers no content is copied.
    ///
    /// # Errors
    /// If nothing could be saved.
    pub fn save(mut self, withheld: Option<&[bool]>, now: SystemTime) -> Result<Saved, UndoError> {
        let id = Store::new_id(millis(now), &self.call.agent, &self.call.session);
        let count = self.survey.files().len();
        let all = self.contents();
        let names = self.other_names(&all);
        // A file is withheld if it is under any of its names.
        let withheld = withheld.filter(|answers| answers.len() == all.len() + names.len()).map(|answers| {
            let (own, others) = answers.split_at(all.len());
            let mut own = own.to_vec();
            for ((at, _), is_withheld) in names.iter().zip(others) {
                own[*at] |= is_withheld;
            }
            own
        });
        let (of_files, of_workspaces) = withheld.as_deref().map(|answers| answers.split_at(count)).unzip();
        let partial = self.survey.partial;
        let (items, left_out) = self.survey.capture(self.store.objects(), of_files, &self.limits, self.until);
        self.left_out.extend(left_out);
        let workspaces = std::mem::take(&mut self.workspaces);
        let repositories = Repositories {
            known: &self.known,
            folders: &self.repositories,
            call: &self.call,
            age: self.limits.age + TIDY_DELAY,
            until: self.until,
        };
        let objects = self.store.objects();
        let ((snapshots, unsaved), (histories, unkept)) = std::thread::scope(|scope| {
            let kept = scope.spawn(|| repositories.save(objects, &id));
            let taken = take_snapshots(workspaces, of_workspaces, self.until);
            (taken, kept.join().unwrap_or_else(|_| repositories.unsaved()))
        });
        self.left_out.extend(unsaved.into_iter().chain(unkept));
        let mut saved = summary(&id, &items, &self.removed, &self.left_out);
        saved.removes_more = partial && !self.removed.is_empty();
        if self.asked && saved.removed.0 > 0 && !partial {
            saved.uncommitted = uncommitted(&removed_files(&items, &self.removed), &self.call, self.until);
        }
        (saved.repositories, saved.workspaces) = (histories.len(), snapshots.len());
        let (schema, time) = (SCHEMA, millis(now));
        let (call, left_out, undoes) = (self.call, self.left_out, self.undoes);
        let (recoverable, asked) = (self.recoverable, self.asked && !(self.recoverable && left_out.is_empty()));
        let entry = Entry { schema, id, time, call, items, histories, snapshots, left_out, undoes, recoverable, asked };
        // Without the entry nobody would ever remove its refs.
        self.store.add(&entry).inspect_err(|_| drop_keeps(&entry))?;
        Ok(saved)
    }
}

fn unsaved(path: &Path, why: String) -> LeftOut {
    LeftOut { path: Some(PathBytes::from(path)), why }
}

/// Takes the snapshots. Each has an answer for every file that it reads, and for each that is staged in it.
fn take_snapshots<'a>(
    workspaces: Vec<(snapshot::Pending, Vec<PathBuf>)>,
    mut withheld: Option<&'a [bool]>,
    until: Instant,
) -> (Vec<Snapshot>, Vec<LeftOut>) {
    let (mut snapshots, mut left_out) = (Vec::new(), Vec::new());
    for (pending, staged) in workspaces {
        let root = pending.root().to_path_buf();
        let split = |answers: Option<&'a [bool]>, at: usize| -> (Option<&'a [bool]>, Option<&'a [bool]>) {
            answers.map(|answers| answers.split_at(at.min(answers.len()))).unzip()
        };
        let (own, rest) = split(withheld, pending.paths().len());
        let (of_staged, rest) = split(rest, staged.len());
        withheld = rest;
        // It would be in the snapshot by the index.
        if !staged.is_empty() && of_staged.is_none_or(|answers| answers.contains(&true)) {
            let why = match of_staged {
                Some(_) => "the worktree, as a file is staged that rules keep from being read",
                None => "the worktree, as it is unknown whether rules keep a staged file from being read",
            };
            left_out.push(unsaved(&root, why.to_owned()));
            continue;
        }
        match pending.take(own, until) {
            Ok((snapshot, not_in_it)) => {
                left_out.extend(not_in_it);
                snapshots.push(snapshot);
            }
            Err(error) => left_out.push(unsaved(&root, error.to_string())),
        }
    }
    (snapshots, left_out)
}

/// The repositories of which refs, stash and index are saved.
struct Repositories<'a> {
    /// Those that were found before, by the root of their worktree.
    known: &'a [(PathBuf, UserRepository)],
    /// A folder in each.
    folders: &'a [PathBuf],
    call: &'a CallRef,
    /// How old an entry is that has been dropped for sure.
    age: Duration,
    until: Instant,
}

impl Repositories<'_> {
    /// Saves each as far as it can be saved.
    fn save(&self, objects: &Objects, id: &str) -> (Vec<History>, Vec<LeftOut>) {
        let (mut histories, mut left_out) = (Vec::new(), Vec::new());
        for folder in self.folders {
            let put = |content: &[u8]| objects.put(content);
            let saved = |(repository, tree): (Repository, Option<String>)| {
                history::save(&repository, tree.as_deref(), &put, id, self.age)
            };
            match self.of(folder).and_then(|found| found.map(saved).transpose()) {
                Ok(found) => histories.extend(found),
                Err(error) => left_out.push(unsaved(folder, error.to_string())),
            }
        }
        (histories, left_out)
    }

    /// What is said if saving fails altogether.
    fn unsaved(&self) -> (Vec<History>, Vec<LeftOut>) {
        (Vec::new(), self.folders.iter().map(|folder| unsaved(folder, "saving it failed".to_owned())).collect())
    }

    /// The repository that a folder is in, and the tree of its last commit, if that is known.
    fn of(&self, folder: &Path) -> Result<Option<(Repository, Option<String>)>, UndoError> {
        // A bare repository in a worktree is one of its own.
        let is_of = |root: &Path, folder: &Path| {
            let mut between = folder.ancestors().take_while(|folder| *folder != root);
            between.all(|folder| folder.join("HEAD").symlink_metadata().is_err())
        };
        let root = worktree_of(folder);
        let found = self.known.iter().find(|(one, _)| root.as_ref() == Some(one));
        match (found, folder.canonicalize()) {
            (Some((root, theirs)), Ok(folder)) if is_of(root, &folder) => {
                Ok(Some((theirs.repository.clone(), theirs.head.clone())))
            }
            _ => {
                let found = Repository::of(&git::find(folder, self.call)?, folder, self.until)?;
                Ok(found.map(|repository| (repository, None)))
            }
        }
    }
}

/// The files that are removed, or are in a folder that is. Those of git itself are nobody's work.
fn removed_files<'a>(items: &'a [Item], removed: &HashSet<PathBuf>) -> Vec<&'a Path> {
    let files = items.iter().filter(|item| matches!(item.before.kind, Kind::File { .. } | Kind::Link { .. }));
    files.map(|item| item.path.as_path()).filter(|path| is_removed(path, removed)).collect()
}

fn is_removed(path: &Path, removed: &HashSet<PathBuf>) -> bool {
    path.ancestors().any(|path| removed.contains(path)) && !path.components().any(|part| part.as_os_str() == ".git")
}

/// How many of these files are not in the last commit of their repository as they are; none if that is not known soon.
fn uncommitted(files: &[&Path], call: &CallRef, until: Instant) -> Option<u64> {
    let root = worktree_of(files.first()?.parent()?)?;
    let names: Vec<&[u8]> = files.iter().filter_map(|file| relative(file, &root)).collect();
    // Each of them is read, and it is only a number.
    let is_link = |file: &&Path| file.symlink_metadata().is_ok_and(|there| there.is_symlink());
    if names.len() != files.len()
        || names.len() > COUNTED
        || files.iter().any(is_link)
        || names.iter().any(|name| name.contains(&b'\n'))
    {
        return None;
    }
    let git = git::find(&root, call).ok()?;
    let repository = Repository::of(&git, &root, until).ok()??;
    let listed = repository.ask(&["ls-tree", "-r", "-z", "--full-tree", "HEAD"], Vec::new()).ok()?;
    let known: HashSet<(&[u8], &[u8])> = git::parts(&listed).filter_map(tree_entry).collect();
    let asked: Vec<u8> = files.iter().flat_map(|file| [file.as_os_str().as_bytes(), b"\n"].concat()).collect();
    let ids = repository.ask(&["hash-object", "--no-filters", "--stdin-paths"], asked).ok()?;
    let ids: Vec<&[u8]> = ids.split(|byte| *byte == b'\n').filter(|id| !id.is_empty()).collect();
    let pairs = names.iter().zip(&ids).filter(|(name, id)| !known.contains(&(**name, **id)));
    (ids.len() == names.len()).then(|| pairs.count() as u64)
}

/// How many files are looked for in a commit.
const COUNTED: usize = 2_000;

fn relative<'a>(file: &'a Path, root: &Path) -> Option<&'a [u8]> {
    file.strip_prefix(root).ok().map(|path| path.as_os_str().as_bytes())
}

/// The path and the id of `MODE TYPE ID<tab>PATH`.
fn tree_entry(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let id = line.get(..tab)?.rsplit(|byte| *byte == b' ').next()?;
    Some((line.get(tab + 1..)?, id))
}

fn summary(id: &str, items: &[Item], removed: &HashSet<PathBuf>, left_out: &[LeftOut]) -> Saved {
    let mut saved = Saved { id: id.to_owned(), left_out: left_out.to_vec(), ..Saved::default() };
    for item in items {
        let (is_file, length) = match item.before.kind {
            Kind::File { length, .. } => (true, length),
            Kind::Link { .. } => (false, 0),
            _ => continue,
        };
        if item.saved && is_file {
            saved.files += 1;
            saved.bytes += length;
        }
        if is_removed(item.path.as_path(), removed) {
            saved.removed.0 += 1;
            saved.removed.1 += length;
        }
    }
    saved
}

fn changed_items(items: &[Item], states: &[State]) -> Vec<(PathBytes, ChangeStatus)> {
    let pairs = items.iter().zip(states).filter(|(item, now)| !same(&item.before, now));
    // That a folder has other times says nothing of its own.
    let pairs = pairs.filter(|(item, now)| item.before.kind != Kind::Folder || now.kind != Kind::Folder);
    pairs.map(|(item, now)| (item.path.clone(), ChangeStatus::of(&item.before.kind, &now.kind))).collect()
}

/// Whether nothing was done to a path that anybody has to know of: a file that was written as it was is the same, if its content
/// is known.
pub(crate) fn same(one: &State, other: &State) -> bool {
    let unknown = matches!(one.kind, Kind::File { content: None, .. });
    one.kind == other.kind
        && (one.mode == other.mode || one.kind == Kind::Absent)
        && one.attributes == other.attributes
        && (!unknown || one.modified == other.modified)
}

/// Whether a path, or a folder that it is in, was left out of what was saved.
pub(crate) fn is_left_out(entry: &Entry, path: &Path) -> bool {
    let mut left_out = entry.left_out.iter().filter_map(|one| Some(one.path.as_ref()?.as_path()));
    // That something in a workspace is not saved does not mean that nothing of it is.
    left_out
        .any(|left_out| path.starts_with(left_out) && !entry.snapshots.iter().any(|one| one.root.as_path() == left_out))
}

fn history_now(before: &History, call: &CallRef, until: Instant) -> Option<History> {
    let folder = before.worktree.as_ref().unwrap_or(&before.git_dir).as_path();
    let git = git::find(folder, call).ok()?;
    history::look(&git, folder, until).ok().flatten()
}

/// Whether it is certain that a call changed nothing of what was saved of it.
pub fn is_unchanged(entry: &Entry, after: &After) -> bool {
    let known = after.touched.iter().all(Option::is_some) && after.states.iter().all(|state| *state != State::UNKNOWN);
    known && after.count == 0 && !histories_differ(entry, after)
}

fn histories_differ(entry: &Entry, after: &After) -> bool {
    let pairs = entry.histories.iter().zip(&after.histories);
    pairs.into_iter().any(|(before, after)| after.as_ref() != Some(before))
}

/// The bytes of the snapshots of each entry, by its id. What several entries share is the newest one's, up to a part of the store: to
/// drop the others gives back only what they alone have.
fn bytes_of_snapshots(store: &Store, entries: &[Entry], limits: &Limits) -> HashMap<String, u64> {
    let mut bytes = snapshot::bytes(store.folder());
    let mut own = |entry: &Entry| {
        let folders: HashSet<String> = entry.snapshots.iter().map(snapshot::folder_name).collect();
        folders.iter().filter_map(|folder| bytes.remove(folder)).sum::<u64>().min(limits.store / SHARE)
    };
    entries.iter().map(|entry| (entry.id.clone(), own(entry))).collect()
}

/// Which part of the store the snapshots of one folder count for at most.
const SHARE: u64 = 4;

fn drop_keeps(entry: &Entry) {
    for history in &entry.histories {
        let dropped = git::find(history.repository.as_path(), &entry.call)
            .and_then(|git| history::drop_keep(&git, history, &entry.id, Instant::now() + KEEP_TIMEOUT));
        if let Err(error) = dropped {
            tracing::warn!(%error, id = entry.id, "a ref that kept commits is left");
        }
    }
}

/// How long an entry may be there that is too old.
const TIDY_DELAY: Duration = Duration::from_secs(24 * 3_600);

/// How long tidying up the snapshots may take.
const TIDY_TIMEOUT: Duration = Duration::from_secs(20);

/// How long removing the refs of an entry may take.
const KEEP_TIMEOUT: Duration = Duration::from_secs(2);

/// Milliseconds since 1970.
pub fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
