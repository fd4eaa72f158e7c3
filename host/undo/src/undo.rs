//! Undoing calls: what has to be put back for them, what stands in the way, and doing it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use toolgate_git::Git;
use toolgate_private::read_regular;

use crate::calls::{Calls, SEQUENCES, UNDER_WAY, is_left_out, same};
use crate::error::UndoError;
use crate::git;
use crate::history::{self, HistoryPlan};
use crate::limits::Limits;
use crate::model::{After, Blob, CallRef, Entry, History, Kind, PathBytes, Snapshot, State, Touched};
use crate::modes::Modes;
use crate::restore::{self, Conflict, Known, Source, Target};
use crate::snapshot::BlobContent;
use crate::store::{self, Store};
use crate::{objects, snapshot};

/// How long what is undone may take to be looked at: nobody's agent waits for it.
const UNDO_TIMEOUT: Duration = Duration::from_secs(120);

/// What is undone, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The ids of the entries.
    pub ids: Vec<String>,
    /// Only these paths and what is below them; all if empty. Then refs stay as they are.
    pub only: Vec<PathBuf>,
    /// Whether what was changed since is overwritten.
    pub force: bool,
}

/// What undoing does.
pub struct Plan {
    store: Store,
    limits: Limits,
    entries: Vec<Entry>,
    files: restore::Plan,
    histories: Vec<(Git, HistoryPlan)>,
    /// What is left as it is, and why.
    pub conflicts: Vec<Conflict>,
    /// What was not saved of these calls.
    pub left_out: Vec<String>,
    only: bool,
}

/// What undoing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// The id of the undo itself, which can be undone. None if nothing had to be done.
    pub id: Option<String>,
    /// The paths that are as they were before.
    pub restored: Vec<PathBuf>,
    /// What could not be done.
    pub failed: Vec<String>,
}

/// What is known of a path over the calls that are undone.
struct Chain {
    /// Before the first of them.
    want: State,
    source: Source,
    /// After the last of them; none if that is not known.
    expected: Option<State>,
    /// Why it is not restored unless that is forced: somebody else changed it between two of them, say.
    broken: Option<String>,
    known: Known,
    /// As [`Target::shared`].
    shared: Option<(State, Source)>,
}

/// The chains of all paths.
#[derive(Default)]
struct Chains(BTreeMap<PathBytes, Chain>);

impl Chains {
    /// Adds what an older call did to a path.
    fn add(&mut self, path: &PathBytes, older: Chain) {
        match self.0.get_mut(path) {
            None => {
                self.0.insert(path.clone(), older);
            }
            Some(newer) => {
                let known = newer.known.min(older.known);
                let left = older.expected.as_ref().is_some_and(|left| agrees(left, &newer.want, known));
                // What the older one left is not known, or was taken back since: before both it was the same.
                let goes_on = left || agrees(&older.want, &newer.want, known);
                let between = (!goes_on).then(|| BETWEEN.to_owned());
                newer.broken = newer.broken.take().or(older.broken).or(between);
                newer.known = known;
                let (want, source) = (
                    std::mem::replace(&mut newer.want, older.want),
                    std::mem::replace(&mut newer.source, older.source),
                );
                if newer.want.is_absent() && want.inode.is_some() && source != Source::None {
                    newer.shared = Some((want, source));
                }
            }
        }
    }
}

/// Whether two states are of the same thing, as far as it is known.
fn agrees(one: &State, other: &State, known: Known) -> bool {
    let executes = |state: &State| state.mode & 0o100;
    match known {
        Known::AsGit => one.kind == other.kind && executes(one) == executes(other),
        Known::Permissions => one.kind == other.kind && (one.mode == other.mode || one.is_absent()),
        Known::All => same(one, other),
    }
}

impl Calls {
    /// What undoing these calls does.
    ///
    /// # Errors
    /// If the store or one of the entries cannot be read.
    pub fn plan(&self, request: &Request) -> Result<Plan, UndoError> {
        let store = self.store()?.ok_or(UndoError::Empty)?;
        let until = Instant::now() + UNDO_TIMEOUT;
        let mut ids = request.ids.clone();
        // The newest first.
        ids.sort_by(|one, other| other.cmp(one));
        ids.dedup();
        let (mut chains, mut entries, mut conflicts) = (Chains::default(), Vec::new(), Vec::new());
        // Repositories that another call changed at the same time, each with that as a reason.
        let mut shared: BTreeMap<PathBytes, String> = BTreeMap::new();
        let mut histories: BTreeMap<PathBytes, (History, Option<History>)> = BTreeMap::new();
        for id in &ids {
            let entry = store.entry(id)?;
            let after = store.after(id)?;
            let concurrent = ConcurrentChanges::of(&store, &entry, after.as_ref(), &ids)?;
            add_items(&mut chains, &entry, after.as_ref(), &concurrent);
            let others = |one: &History| {
                Some((one.repository.clone(), also_changed(concurrent.repositories.get(&one.repository)?)))
            };
            shared.extend(entry.histories.iter().filter_map(others));
            conflicts.extend(add_touched(
                &mut chains,
                &store,
                &entry,
                after.as_ref(),
                &concurrent,
                &request.only,
                until,
            )?);
            for (place, before) in entry.histories.iter().enumerate() {
                let left = after.as_ref().and_then(|after| after.histories.get(place).cloned().flatten());
                match histories.get_mut(&before.git_dir) {
                    None => drop(histories.insert(before.git_dir.clone(), (before.clone(), left))),
                    Some(newer) => {
                        // What others did between the two would go with them.
                        let goes_on = left.is_some_and(|left| is_same_history(&left, &newer.0));
                        if goes_on || request.force || is_same_history(before, &newer.0) {
                            newer.0 = before.clone();
                        } else {
                            let why = BETWEEN.to_owned();
                            conflicts.push(Conflict { path: before.git_dir.clone(), why });
                        }
                    }
                }
            }
            entries.push(entry);
        }
        let left_out = entries.iter().flat_map(|entry| &entry.left_out).map(ToString::to_string).collect();
        let only = !request.only.is_empty();
        let call = entries.first().map(|entry| entry.call.clone()).unwrap_or_default();
        let git_dirs: HashSet<PathBytes> = histories.keys().cloned().collect();
        histories.retain(|git_dir, (before, _)| {
            let why = shared.get(&before.repository).filter(|_| !request.force && !only);
            conflicts.extend(why.map(|why| Conflict { path: git_dir.clone(), why: why.clone() }));
            why.is_none()
        });
        let mut histories =
            if only { Vec::new() } else { plan_histories(histories, &call, request.force, until, &mut conflicts) };
        // What git keeps of a merge comes back with the index and `HEAD`, or not at all.
        let in_the_way: HashSet<&PathBytes> = conflicts.iter().map(|conflict| &conflict.path).collect();
        let is_left = |path: &PathBytes| {
            let is_of_merge =
                |name: &std::ffi::OsStr| UNDER_WAY.iter().chain(SEQUENCES).any(|own| name == std::ffi::OsStr::new(own));
            let parts = path.as_path().ancestors().filter(|part| part.file_name().is_some_and(is_of_merge));
            let mut of = parts.filter_map(|part| part.parent().map(PathBytes::from));
            of.any(|git_dir| git_dirs.contains(&git_dir) && (only || in_the_way.contains(&git_dir)))
        };
        let is_meant = |path: &PathBytes| is_asked(path.as_path(), &request.only) && !is_left(path);
        let targets: Vec<_> = chains.0.into_iter().filter(|(path, _)| is_meant(path)).collect();
        let (mut whole, mut broken) = (Vec::new(), Vec::new());
        for (path, chain) in targets {
            let Chain { want, source, expected, known, shared, .. } = chain;
            match chain.broken.filter(|_| !request.force) {
                Some(why) => broken.push(Conflict { path, why }),
                None => whole.push(Target { path, want, source, expected, known, shared }),
            }
        }
        let mut files = restore::plan(whole, request.force);
        leave_worktrees(&mut files);
        conflicts.extend(broken);
        conflicts.extend(files.conflicts.iter().cloned());
        let restored = Restored { entries: &entries, files: &files, forced: request.force };
        for (git, history) in &mut histories {
            keep_stash(git, history, &restored, &mut conflicts, until);
        }
        Ok(Plan { store, limits: *self.limits(), entries, files, histories, conflicts, left_out, only })
    }
}

impl Plan {
    /// The paths that change, with what is to be there.
    pub fn steps(&self) -> impl Iterator<Item = &Target> {
        self.files.targets()
    }

    /// What happens to repositories, as sentences.
    pub fn repositories(&self) -> Vec<String> {
        self.histories.iter().flat_map(|(_, plan)| plan.described()).collect()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.histories.iter().all(|(_, plan)| plan.is_empty())
    }

    /// The text that is there and the one that is to be; none of what is no text.
    pub fn texts(&self, target: &Target) -> Option<(String, String)> {
        restore::texts(target, self.store.objects())
    }

    /// Does it. Before anything is changed, what there is is saved, so that the undo can be undone.
    ///
    /// # Errors
    /// If that cannot be saved: then nothing is changed.
    pub fn apply(
        &mut self,
        calls: &Calls,
        cwd: &Path,
        withheld: &dyn Fn(&[String]) -> Option<Vec<bool>>,
    ) -> Result<Undone, UndoError> {
        if self.is_empty() {
            return Ok(Undone::default());
        }
        let until = Instant::now() + UNDO_TIMEOUT;
        let _hold = self.store.hold()?;
        let id = self.save(calls, cwd, withheld)?;
        self.leave_unsaved(&id)?;
        if self.is_empty() {
            calls.forget(&self.store, &self.store.entry(&id)?)?;
            return Ok(Undone::default());
        }
        let mut undone = Undone { id: Some(id.clone()), ..Undone::default() };
        // Refs first: a branch that cannot be moved back is known before its files are. What was stashed goes from the stash when it
        // is back.
        let read = |digest: &str| self.store.objects().read(digest, self.limits.file);
        let split = |git: &Git, plan: &HistoryPlan| plan.split(&plan.branches_elsewhere(git, until));
        let plans: Vec<_> = self.histories.iter().map(|(git, plan)| (git, split(git, plan))).collect();
        for (git, (first, _)) in &plans {
            undone.failed.extend(history::apply(git, &read, first, until));
        }
        for (path, result) in self.files.apply(self.store.objects()) {
            match result {
                Ok(()) => undone.restored.push(path),
                Err(error) => undone.failed.push(error.to_string()),
            }
        }
        for (git, (_, last)) in plans.iter().filter(|(_, (_, last))| !last.is_empty()) {
            let stays = last.without_stash().filter(|_| !undone.failed.is_empty());
            let why = "the stash keeps what the call put there, as not all of it came back";
            undone.failed.extend(stays.iter().map(|_| why.to_owned()));
            undone.failed.extend(history::apply(git, &read, stays.as_ref().unwrap_or(last), until));
        }
        let entry = self.store.entry(&id)?;
        self.store.set_after(&id, &calls.look_after(&self.store, &entry, until))?;
        // Of a part it cannot be said that the call is undone.
        let whole = !self.only && self.conflicts.is_empty() && undone.failed.is_empty();
        for entry in self.entries.iter().filter(|_| whole) {
            self.store.set_undone(&entry.id, Some(&id))?;
            self.redo(entry, MOST_UNDOES)?;
        }
        Ok(undone)
    }

    /// Notes that what an undo undid is done again, and what that undid in turn is undone.
    fn redo(&self, undo: &Entry, depth: usize) -> Result<(), UndoError> {
        for redone in &undo.undoes {
            self.store.set_undone(redone, None)?;
            // Whose entry is gone has nothing to be noted.
            let Some(redone) = self.store.entry(redone).ok().filter(|_| depth > 0) else { continue };
            for undone in &redone.undoes {
                self.store.set_undone(undone, Some(&redone.id))?;
                if let Ok(undone) = self.store.entry(undone) {
                    self.redo(&undone, depth - 1)?;
                }
            }
        }
        Ok(())
    }

    /// What could not be saved is left as it is: it would be gone.
    fn leave_unsaved(&mut self, id: &str) -> Result<(), UndoError> {
        let entry = self.store.entry(id)?;
        let saved: HashSet<&Path> =
            entry.items.iter().filter(|item| item.saved).map(|item| item.path.as_path()).collect();
        let before = self.files.conflicts.len();
        self.files.refuse(|step| {
            let path = step.target.path.as_path();
            // Where nothing is, nothing is lost.
            (!step.now.is_absent() && !saved.contains(path))
                .then(|| "its present state could not be saved first".to_owned())
        });
        self.conflicts.extend(self.files.conflicts.iter().skip(before).cloned());
        Ok(())
    }

    fn save(
        &self,
        calls: &Calls,
        cwd: &Path,
        withheld: &dyn Fn(&[String]) -> Option<Vec<bool>>,
    ) -> Result<String, UndoError> {
        let paths: Vec<&Path> = self.files.targets().map(|target| target.path.as_path()).collect();
        let repositories = self.histories.iter().map(|(_, plan)| plan.folder().to_path_buf()).collect();
        let workspace = self.entries.first().map(|entry| entry.call.workspace.clone()).unwrap_or_default();
        let session = self.entries.first().map(|entry| entry.call.session.clone()).unwrap_or_default();
        let ids: Vec<String> = self.entries.iter().map(|entry| entry.id.clone()).collect();
        let call = CallRef {
            agent: OWN.to_owned(),
            session,
            tool: "undo".to_owned(),
            summary: format!("toolgate undo {}", ids.join(" ")),
            cwd: cwd.display().to_string(),
            workspace,
            ..CallRef::default()
        };
        let pending = calls.look_for_undo(&paths, repositories, call, ids)?;
        let withheld = withheld(&pending.paths());
        let saved = pending.save(withheld.as_deref(), SystemTime::now())?;
        Ok(saved.id)
    }
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.as_path().display(), self.why)
    }
}

/// The agent of an undo.
pub const OWN: &str = "toolgate";

/// Whether refs, `HEAD` and stash are the same. Git writes an index also where it changes nothing in it.
fn is_same_history(one: &History, other: &History) -> bool {
    (&one.head, &one.refs, &one.stash) == (&other.head, &other.refs, &other.stash)
}

fn is_asked(path: &Path, only: &[PathBuf]) -> bool {
    only.is_empty() || only.iter().any(|asked| path.starts_with(asked))
}

fn add_items(chains: &mut Chains, entry: &Entry, after: Option<&After>, concurrent: &ConcurrentChanges) {
    for (place, item) in entry.items.iter().enumerate() {
        if !item.saved {
            continue;
        }
        let source = match &item.before.kind {
            Kind::File { content: Some(content), .. } => Source::Object(content.clone()),
            _ => Source::None,
        };
        let expected = after.and_then(|after| after.states.get(place).cloned());
        let (want, broken) = (item.before.clone(), concurrent.also(&item.path));
        chains.add(&item.path, Chain { want, source, expected, broken, known: Known::All, shared: None });
    }
    for (path, left) in after.iter().flat_map(|after| &after.made) {
        let (want, source) = (State::ABSENT, Source::None);
        let (expected, broken) = (Some(left.clone()), concurrent.also(path));
        chains.add(path, Chain { want, source, expected, broken, known: Known::All, shared: None });
    }
}

/// What other calls changed that ran at the same time as one: paths and repositories, with the id of the call.
#[derive(Default)]
struct ConcurrentChanges {
    paths: HashMap<PathBytes, String>,
    repositories: HashMap<PathBytes, String>,
    /// Worktrees in which a program still runs.
    worktrees: Vec<(PathBytes, String)>,
}

impl ConcurrentChanges {
    /// `ids`: the calls that are undone together.
    fn of(store: &Store, entry: &Entry, after: Option<&After>, ids: &[String]) -> Result<Self, UndoError> {
        let mut concurrent = ConcurrentChanges::default();
        let Some(after) = after else { return Ok(concurrent) };
        let first = entry.time.saturating_sub(CALL_MAX_AGE_MS);
        let is_near = |id: &String| (first..=after.time).contains(&store::time_of(id)) && !ids.contains(id);
        for id in store.ids()?.into_iter().filter(is_near) {
            let (Ok(other), Ok(left)) = (store.entry(&id), store.after(&id)) else { continue };
            // One that began before and of whose end nothing is known may never have run, nor one that somebody was asked about.
            let unreported = || other.time >= entry.time && !other.asked;
            let ran = left.as_ref().map_or_else(unreported, |left| left.time >= entry.time);
            // One that cannot be read says nothing of this one.
            if ran && store.undone(&id).ok().flatten().is_none() {
                concurrent.add(&id, &other, left.as_ref());
            }
        }
        Ok(concurrent)
    }

    fn add(&mut self, id: &str, other: &Entry, left: Option<&After>) {
        let is_changed = |at: usize| {
            let state = left.and_then(|left| left.states.get(at));
            state.is_none_or(|state| !same(&other.items[at].before, state))
        };
        let items = other.items.iter().enumerate().filter(|(at, _)| is_changed(*at)).map(|(_, item)| &item.path);
        let made = left.iter().flat_map(|left| &left.made).map(|(path, _)| path);
        let touched = left.iter().flat_map(|left| left.touched.iter().flatten().flatten()).map(|one| &one.path);
        self.paths.extend(items.chain(made).chain(touched).map(|path| (path.clone(), id.to_owned())));
        if left.is_none() {
            self.worktrees.extend(other.snapshots.iter().map(|one| (one.root.clone(), id.to_owned())));
        }
        for (at, before) in other.histories.iter().enumerate() {
            let now = left.and_then(|left| left.histories.get(at)?.as_ref());
            if now.is_none_or(|now| now != before) {
                self.repositories.insert(before.repository.clone(), id.to_owned());
            }
        }
    }

    /// Why a path is left as it is, if another call changed it as well.
    fn also(&self, path: &PathBytes) -> Option<String> {
        let of_worktree = || self.worktrees.iter().find(|(root, _)| path.as_path().starts_with(root.as_path()));
        self.paths.get(path).or_else(|| of_worktree().map(|(_, id)| id)).map(|id| also_changed(id))
    }
}

fn also_changed(id: &str) -> String {
    format!("call {id}, which ran at the same time, changed it as well")
}

/// Leaves a linked worktree whole that a call made, if somebody has changed something in it: its files are nothing without what git
/// knows of it.
fn leave_worktrees(files: &mut restore::Plan) {
    let link = |target: &Target| {
        let (path, is_gone) = (target.path.as_path(), target.want.is_absent());
        let is_link = is_gone && path.file_name().is_some_and(|name| name == ".git");
        let said = is_link.then(|| read_regular(path, LINK_BYTES).ok()).flatten()?;
        let git_dir = String::from_utf8(said).ok()?.strip_prefix("gitdir: ")?.trim_end().to_owned();
        Some((path.parent()?.to_path_buf(), PathBuf::from(git_dir)))
    };
    let made: Vec<(PathBuf, PathBuf)> = files.targets().filter_map(link).collect();
    for (root, git_dir) in made {
        let is_in_it = |path: &Path| path.starts_with(&root) || path.starts_with(&git_dir);
        if files.conflicts.iter().any(|conflict| is_in_it(conflict.path.as_path())) {
            let why = "this worktree was changed since";
            files.refuse(|step| is_in_it(step.target.path.as_path()).then(|| why.to_owned()));
        }
    }
}

/// Most bytes of the file by which a linked worktree names its folder in the repository.
const LINK_BYTES: u64 = 8 << 10;

/// Has the stash keep what the calls put there, unless all of that comes back to the worktree.
fn keep_stash(
    git: &Git,
    plan: &mut HistoryPlan,
    restored: &Restored<'_>,
    conflicts: &mut Vec<Conflict>,
    until: Instant,
) {
    let dropped = plan.dropped();
    if dropped.is_empty() {
        return;
    }
    let root = plan.folder().to_path_buf();
    let is_in_it = |path: &Path| path.starts_with(&root) || path.starts_with(plan.git_dir());
    let in_the_way = !restored.forced && conflicts.iter().any(|conflict| is_in_it(conflict.path.as_path()));
    // That something in the worktree as a whole is not saved says nothing of the files that were stashed.
    let left_out = restored.entries.iter().flat_map(|entry| &entry.left_out).filter_map(|one| one.path.as_ref());
    let unsaved = left_out.map(PathBytes::as_path).any(|path| is_in_it(path) && path != root);
    let comes_back: HashSet<&Path> = restored
        .files
        .targets()
        .filter(|target| !target.want.is_absent())
        .map(|target| target.path.as_path())
        .collect();
    let is_back = |id: &String| {
        let missing = |path: &Path| !comes_back.contains(path);
        history::stashed_untracked_is_there(git, plan, id, &missing, until).unwrap_or(false)
    };
    if in_the_way || unsaved || !dropped.iter().all(is_back) {
        plan.keep_stash();
        let why = "the stash keeps what the call put there, as not all of it comes back".to_owned();
        conflicts.push(Conflict { path: PathBytes(root), why });
    }
}

/// What comes back to worktrees.
struct Restored<'a> {
    entries: &'a [Entry],
    files: &'a restore::Plan,
    forced: bool,
}

/// How long before another call one may have begun that still ran then, in milliseconds.
const CALL_MAX_AGE_MS: u64 = 6 * 3_600_000;

/// How many undoes of undoes are followed.
const MOST_UNDOES: usize = 32;

/// Why what several calls changed is not restored.
const BETWEEN: &str = "it was changed between these calls";

/// Adds what git says was changed. What comes back is left as it is.
fn add_touched(
    chains: &mut Chains,
    store: &Store,
    entry: &Entry,
    after: Option<&After>,
    concurrent: &ConcurrentChanges,
    only: &[PathBuf],
    until: Instant,
) -> Result<Vec<Conflict>, UndoError> {
    let mut conflicts = Vec::new();
    let own: HashSet<&PathBytes> = entry.items.iter().map(|item| &item.path).collect();
    for (place, before) in entry.snapshots.iter().enumerate() {
        let git = git::find(before.root.as_path(), &entry.call)?;
        let known = after.and_then(|after| after.touched.get(place)?.clone());
        let is_known = known.is_some();
        let touched = match known {
            Some(touched) => touched,
            // All that is not as it was: whether the call did it is not known.
            None => match touched_now(&git, store, entry, before, until) {
                Ok(touched) => touched,
                Err(error) => {
                    // The rest comes back all the same.
                    let why = format!(
                        "its snapshot cannot be read ({error}): only files that were saved beside it come back"
                    );
                    conflicts.push(Conflict { path: before.root.clone(), why });
                    continue;
                }
            },
        };
        // The call may have named them, so that they are saved beside the snapshot.
        let states = after.map(|after| after.states.as_slice()).unwrap_or_default();
        let items = entry.items.iter().zip(states).filter(|(item, now)| !same(&item.before, now));
        let all = touched.iter().map(|one| &one.path).chain(items.map(|(item, _)| &item.path));
        let rules_changed = all
            .map(PathBytes::as_path)
            .any(|path| says_what_is_ignored(path) && path.starts_with(before.root.as_path()));
        let is_left = |one: &&Touched| !own.contains(&one.path) && is_asked(one.path.as_path(), only);
        let touched: Vec<&Touched> = touched.iter().filter(is_left).collect();
        let ids: Vec<String> = touched.iter().filter_map(|one| Some(one.before.as_ref()?.id.clone())).collect();
        let mut blobs = snapshot::blobs(&git, store.folder(), before.root.as_path(), &ids, until)?.into_iter();
        for one in &touched {
            let content = match one.before.as_ref().and_then(|_| blobs.next()) {
                None => None,
                Some(BlobContent::Here(content)) => Some(content),
                Some(other) => {
                    let why = match other {
                        BlobContent::TooMuch => {
                            "larger than 1 GiB with the files before it; undo it alone: toolgate undo -- FILE"
                        }
                        _ => "its content was in the repository, and is not there any more",
                    };
                    conflicts.push(Conflict { path: one.path.clone(), why: why.to_owned() });
                    continue;
                }
            };
            if one.before.is_none() && (rules_changed || !is_known) {
                let why = match is_known {
                    true => {
                        "it may have been there before the call, which changed what git ignores: it is never removed"
                    }
                    false => "it may not be the call's: it is never removed",
                };
                let why = why.to_owned();
                conflicts.push(Conflict { path: one.path.clone(), why });
                continue;
            }
            let (want, source) = match (&one.before, content) {
                (Some(before), Some(content)) => as_it_was(before, content),
                _ => (State::ABSENT, Source::None),
            };
            let expected = Some(one.after.clone()).filter(|_| is_known);
            let exact = one.before.as_ref().is_some_and(|before| before.permissions);
            let known = if exact { Known::Permissions } else { Known::AsGit };
            let broken = concurrent.also(&one.path);
            chains.add(&one.path, Chain { want, source, expected, broken, known, shared: None });
        }
        if let Some(modes) = snapshot::modes(&git, store.folder(), before, until) {
            let gone = touched.iter().filter(|one| one.before.is_some() && one.after.is_absent()).map(|one| &one.path);
            let states = after.map(|after| after.states.as_slice()).unwrap_or_default();
            let items =
                entry.items.iter().zip(states).filter(|(item, now)| !item.before.is_absent() && now.is_absent());
            let gone = gone.chain(items.map(|(item, _)| &item.path));
            add_folders(chains, before.root.as_path(), gone, &modes, &own);
        }
    }
    Ok(conflicts)
}

/// Whether git goes by a file when it tells what is ignored.
fn says_what_is_ignored(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore")
}

/// Adds the folders of removed paths that have to be made again, with their permissions.
fn add_folders<'a>(
    chains: &mut Chains,
    root: &Path,
    removed: impl Iterator<Item = &'a PathBytes>,
    modes: &Modes,
    own: &HashSet<&PathBytes>,
) {
    let mut folders: HashSet<&Path> = HashSet::new();
    for path in removed.map(PathBytes::as_path).filter(|path| path.starts_with(root)) {
        folders.extend(path.ancestors().skip(1).take_while(|folder| *folder != root));
    }
    let is_gone = |folder: &&Path| folder.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    for folder in folders.into_iter().filter(is_gone) {
        let (path, relative) = (PathBytes::from(folder), folder.strip_prefix(root).unwrap_or(folder));
        if !own.contains(&path) {
            let mode = modes.folder(relative.as_os_str().as_bytes());
            let want = State { kind: Kind::Folder, mode, ..State::ABSENT };
            let known = Known::Permissions;
            chains.add(&path, Chain { want, source: Source::None, expected: None, broken: None, known, shared: None });
        }
    }
}

fn touched_now(
    git: &Git,
    store: &Store,
    entry: &Entry,
    before: &Snapshot,
    until: Instant,
) -> Result<Vec<Touched>, UndoError> {
    let changed = snapshot::changed_since(git, store.folder(), before, &Limits::DEFAULT, until)?;
    let known = changed.into_iter().filter(|one| !is_left_out(entry, &one.path));
    Ok(known.map(|one| Touched { path: PathBytes(one.path), before: one.before, after: State::UNKNOWN }).collect())
}

/// A file or link as git has it.
fn as_it_was(blob: &Blob, content: Vec<u8>) -> (State, Source) {
    if blob.mode == LINK {
        let target = PathBytes(OsString::from_vec(content).into());
        return (State { kind: Kind::Link { target }, mode: 0o777, ..State::ABSENT }, Source::None);
    }
    let kind = Kind::File { length: content.len() as u64, content: Some(objects::digest(&content)) };
    (State { kind, mode: blob.mode & 0o7777, ..State::ABSENT }, Source::Bytes(content))
}

/// The mode of a symbolic link in git.
const LINK: u32 = 0o120_000;

/// What a call left of which only that is known that is gone: all else counts as if it had left it alone.
fn missing_only(before: &History, now: &History) -> History {
    let is_there = |name: &String| now.refs.iter().any(|(other, _)| other == name);
    let refs = before.refs.iter().filter(|(name, _)| is_there(name)).cloned().collect();
    let stash = before.stash.iter().filter(|entry| now.stash.contains(entry)).cloned().collect();
    History { refs, stash, ..before.clone() }
}

fn plan_histories(
    histories: BTreeMap<PathBytes, (History, Option<History>)>,
    call: &CallRef,
    force: bool,
    until: Instant,
    conflicts: &mut Vec<Conflict>,
) -> Vec<(Git, HistoryPlan)> {
    let mut plans = Vec::new();
    for (git_dir, (before, after)) in histories {
        let folder = before.worktree.clone().unwrap_or_else(|| git_dir.clone());
        let now =
            git::find(folder.as_path(), call).and_then(|git| Ok((history::look(&git, folder.as_path(), until)?, git)));
        match now {
            Ok((Some(now), git)) => {
                let is_known = after.is_some() || force;
                let after = if is_known { after } else { Some(missing_only(&before, &now)) };
                if !is_known && before != now {
                    let why = "the agent did not report the end of the call: only branches, tags and stashes that are gone come back";
                    conflicts.push(Conflict { path: git_dir.clone(), why: why.to_owned() });
                }
                let plan = history::plan(&before, after.as_ref(), &now, force);
                conflicts.extend(plan.conflicts.iter().map(|why| Conflict { path: git_dir.clone(), why: why.clone() }));
                plans.push((git, plan));
            }
            Ok((None, _)) => conflicts.push(Conflict { path: git_dir, why: "the repository is gone".to_owned() }),
            Err(error) => conflicts.push(Conflict { path: git_dir, why: error.to_string() }),
        }
    }
    plans
}
