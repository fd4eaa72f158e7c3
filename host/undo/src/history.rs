//! What git itself can lose: refs, `HEAD`, the stash and the index. Files of the worktree are not looked at here.
//!
//! Before a git command runs, what there is is noted, and one ref keeps the objects from being removed:
//! `refs/toolgate-undo-ENTRY-REPOSITORY` leads to a commit whose parents are all that refs, `HEAD`s, the stash and
//! reflogs lead to, and whose tree holds what is in the index and in no commit. The same state has the same commit, so
//! that the second one costs nothing. Annotated tags can be no parents; they have refs that all entries share. Like
//! `refs/stash` they are no deeper than one level below `refs`: git pushes no such ref.
//!
//! | | Takes the refs along |
//! |---|---|
//! | `push`, `--all`, `--tags`, `--mirror`, `fetch`, `pull`, `clone` | no |
//! | `clone --mirror` of a repository with entries, `fetch '+refs/*:refs/x/*'`, `bundle create --all` | yes, as `refs/stash` |
//! | `log --all`, `gitk --all` | show it once, as the oldest of all; not with `--exclude='refs/toolgate-*'` before |
//!
//! Afterwards what the call changed is put back, and nothing else: what somebody else has changed since is a conflict.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use toolgate_git::{Git, IDENTITY, Repository};
use toolgate_private::{is_missing, open_regular, read_at_most};

use crate::error::UndoError;
use crate::git::{differences, is_id, parts};
use crate::model::{History, PathBytes, hex};
use crate::store;

/// What the names of our refs begin with.
const KEEPS: &str = "refs/toolgate-undo-";

/// Our refs, as a pattern of git's.
const ALL_KEEPS: &str = "refs/toolgate-undo-*";

/// What the names of those begin with that lead to annotated tags, which all entries share.
const TAGS: &str = "refs/toolgate-undo-tag-";

/// Most refs of a repository.
const REFS: usize = 20_000;

/// Most annotated tags that get a ref at once.
const ANNOTATED: usize = 5_000;

/// Most commits that only reflogs lead to.
const REFLOG: &str = "5000";

/// Most bytes of an index.
const INDEX: u64 = 256 << 20;

/// The stash.
const STASH: &str = "refs/stash";

/// What is said in reflogs.
const MESSAGE: &str = "toolgate undo";

/// Notes what there is of a repository, and keeps its objects. `head_tree` is the tree of its last commit, if that is known;
/// `objects_put` stores the index's content and says its sha256. Refs of entries that are older than `age` go: their store may
/// have been removed.
///
/// # Errors
/// If git refuses something, if there are more than 20,000 refs, or if it takes too long. Then nothing is kept.
pub fn save(
    repository: &Repository,
    head_tree: Option<&str>,
    objects_put: &dyn Fn(&[u8]) -> Result<String, UndoError>,
    entry_id: &str,
    age: Duration,
) -> Result<History, UndoError> {
    let refs = refs(repository)?;
    let mut history = noted(repository, &refs)?;
    history.index = index(repository)?.map(|content| objects_put(&content)).transpose()?;
    keep(repository, head_tree, &refs, &history, &keep_name(&repository.git_dir, entry_id)?)?;
    drop_expired(repository, &refs, entry_id, age);
    Ok(history)
}

/// Removes the refs of entries that are older than this one by more than an age.
fn drop_expired(repository: &Repository, refs: &[Ref], entry_id: &str, age: Duration) {
    if !store::is_id(entry_id) {
        return;
    }
    let oldest = store::time_of(entry_id).saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    let entry_of = |one: &Ref| one.name.strip_prefix(KEEPS)?.rsplit_once('-').map(|(id, _)| id.to_owned());
    let is_expired = |one: &&Ref| entry_of(one).is_some_and(|id| store::is_id(&id) && store::time_of(&id) < oldest);
    let commands: Vec<String> = refs.iter().filter(is_expired).map(|one| format!("delete {}\n", one.name)).collect();
    if !commands.is_empty() {
        // Somebody else may have removed one of them just now: then it is for the next time.
        let dropped = repository.ask(&["update-ref", "--stdin"], commands.concat().into_bytes());
        tracing::debug!(count = commands.len(), ?dropped, "refs of old entries");
    }
}

/// What there is now. Nothing is stored. None if the folder, of a worktree or of git, is in no repository any more.
///
/// # Errors
/// If git refuses the repository, if there are more than 20,000 refs, or if it takes too long.
pub fn look(git: &Git, folder: &Path, until: Instant) -> Result<Option<History>, UndoError> {
    let Some(repository) = Repository::of(git, folder, until)? else {
        return Ok(None);
    };
    let mut history = noted(&repository, &refs(&repository)?)?;
    history.index = index(&repository)?.map(|content| digest(&content));
    // Of a damaged index it is not known; then its content counts.
    let entries = repository.try_ask(&["ls-files", "-v", "-s", "-z"], vec![])?;
    history.index_entries = (entries.status == Some(0)).then(|| digest(&entries.output));
    Ok(Some(history))
}

/// Removes the refs of an entry. Those of annotated tags go with the last one.
///
/// # Errors
/// If git refuses the repository or a ref stays. That the repository is gone is none.
pub fn drop_keep(git: &Git, history: &History, entry_id: &str, until: Instant) -> Result<(), UndoError> {
    let common = history.repository.as_path();
    if !common.is_dir() {
        return Ok(());
    }
    let repository = Repository::at(git, common, None, until)?;
    let ours = repository.ask(&["for-each-ref", "--format=%(refname)", ALL_KEEPS], vec![])?;
    let ours = String::from_utf8_lossy(&ours).into_owned();
    let name = keep_name(history.git_dir.as_path(), entry_id)?;
    let is_last = !ours.lines().any(|one| one != name && !one.starts_with(TAGS));
    let dropped = ours.lines().filter(|one| *one == name || (is_last && one.starts_with(TAGS)));
    let commands: Vec<String> = dropped.map(|name| format!("delete {name}\n")).collect();
    if commands.is_empty() {
        return Ok(());
    }
    repository.ask(&["update-ref", "--stdin"], commands.concat().into_bytes())?;
    Ok(())
}

/// The ref of an entry: one for each git folder, as each has an index of its own.
fn keep_name(git_dir: &Path, entry_id: &str) -> Result<String, UndoError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if entry_id.is_empty() || !entry_id.bytes().all(is_plain) {
        return Err(UndoError::Git(format!("{entry_id:?} cannot be in the name of a ref")));
    }
    let folder = hex(&Sha256::digest(git_dir.as_os_str().as_encoded_bytes()));
    Ok(format!("{KEEPS}{entry_id}-{}", folder.get(..8).unwrap_or_default()))
}

fn digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// A ref.
struct Ref {
    name: String,
    /// The id it leads to.
    id: String,
    kind: String,
    /// The commit that an annotated tag is of; empty for others.
    commit: String,
    /// The ref that it stands for; empty for most.
    symbolic: String,
}

impl Ref {
    fn read(line: &str) -> Option<Ref> {
        let mut fields = line.split('\0').map(str::to_owned);
        let (name, id, kind) = (fields.next()?, fields.next()?, fields.next()?);
        let (peeled, peeled_kind, symbolic) = (fields.next()?, fields.next()?, fields.next()?);
        let commit = if peeled_kind == "commit" { peeled } else { String::new() };
        Some(Ref { name, id, kind, commit, symbolic })
    }

    /// What it says, as in [`History::head`] for one that stands for another.
    fn value(&self) -> String {
        if self.symbolic.is_empty() { self.id.clone() } else { format!("ref: {}", self.symbolic) }
    }
}

/// All refs, ours as well.
fn refs(repository: &Repository) -> Result<Vec<Ref>, UndoError> {
    let format = "--format=%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)%00%(symref)";
    let said = repository.ask(&["for-each-ref", format], vec![])?;
    let said = String::from_utf8(said).map_err(|_| UndoError::Git("a ref's name is not UTF-8".to_owned()))?;
    let refs: Vec<Ref> = said.lines().filter_map(Ref::read).collect();
    if refs.iter().filter(|one| !one.name.starts_with(KEEPS)).count() > REFS {
        return Err(UndoError::Git(format!("the repository has more than {REFS} refs")));
    }
    Ok(refs)
}

/// What there is, but for the index.
fn noted(repository: &Repository, refs: &[Ref]) -> Result<History, UndoError> {
    let theirs = refs.iter().filter(|one| !one.name.starts_with(KEEPS));
    let theirs: Vec<_> = theirs.map(|one| (one.name.clone(), one.value())).collect();
    let mut stash = Vec::new();
    if let Some((_, id)) = theirs.iter().find(|(name, _)| name == STASH) {
        stash = entries_of_stash(repository, id)?;
    }
    Ok(History {
        repository: PathBytes(repository.common.clone()),
        git_dir: PathBytes(repository.git_dir.clone()),
        worktree: repository.worktree.clone().map(PathBytes),
        head: head(repository)?,
        refs: theirs,
        stash,
        index: None,
        index_entries: None,
    })
}

/// What `HEAD` says.
fn head(repository: &Repository) -> Result<String, UndoError> {
    if let Some(head) = head_file(&repository.git_dir.join("HEAD")) {
        return Ok(head);
    }
    let symbolic = repository.try_ask(&["symbolic-ref", "-q", "HEAD"], vec![])?;
    if symbolic.status == Some(0) {
        return Ok(format!("ref: {}", String::from_utf8_lossy(&symbolic.output).trim()));
    }
    let id = repository.ask(&["rev-parse", "--verify", "-q", "HEAD"], vec![])?;
    Ok(String::from_utf8_lossy(&id).trim().to_owned())
}

/// What the file `HEAD` says, if it is one that git itself would read: refs that are kept in tables leave another there.
fn head_file(path: &Path) -> Option<String> {
    let content = read_at_most(&open_regular(path, OFlags::NOFOLLOW).ok()?, 4_096).ok()?;
    let head = String::from_utf8(content).ok()?.strip_suffix('\n')?.to_owned();
    let names_a_ref = |name: &str| name.starts_with("refs/") && name.trim() == name && !name.ends_with("/.invalid");
    let fits = head.strip_prefix("ref: ").map_or_else(|| is_id(&head), names_a_ref);
    fits.then_some(head)
}

/// The commit that `HEAD` leads to; none if there is none yet.
fn head_commit<'a>(refs: &'a [Ref], head: &'a str) -> Option<&'a str> {
    match head.strip_prefix("ref: ") {
        Some(name) => refs.iter().find(|one| one.name == name).map(|one| one.id.as_str()),
        None => Some(head),
    }
}

/// The entries of the stash, the newest first.
fn entries_of_stash(repository: &Repository, newest: &str) -> Result<Vec<(String, String)>, UndoError> {
    let entries = logged_stash(repository)?;
    // They are in a reflog, which may have been expired. The newest one is what the ref says.
    let only = || vec![(newest.to_owned(), "stash".to_owned())];
    Ok(if entries.is_empty() { only() } else { entries })
}

/// What the reflog of the stash has.
fn logged_stash(repository: &Repository) -> Result<Vec<(String, String)>, UndoError> {
    // Only `log` says messages of reflogs. Of what it can be configured to run, nothing is asked.
    let log =
        ["log", "-g", "-s", "--no-show-signature", "--no-decorate", "--no-notes", "--no-ext-diff", "--no-textconv"];
    let said = repository.ask(&[&log[..], &["--format=%H%x00%gs", STASH, "--"]].concat(), vec![])?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let entries = said.lines().filter_map(|line| line.split_once('\0'));
    Ok(entries.map(|(id, message)| (id.to_owned(), message.to_owned())).collect())
}

/// The content of the index, if there is one.
fn index(repository: &Repository) -> Result<Option<Vec<u8>>, UndoError> {
    let path = repository.git_dir.join("index");
    let read = open_regular(&path, OFlags::NOFOLLOW).and_then(|file| read_at_most(&file, INDEX));
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(UndoError::system(&path, error)),
    }
}

/// Makes the ref that keeps all objects of a history.
fn keep(
    repository: &Repository,
    head_tree: Option<&str>,
    refs: &[Ref],
    history: &History,
    name: &str,
) -> Result<(), UndoError> {
    let theirs = || refs.iter().filter(|one| !one.name.starts_with(KEEPS));
    let head = head_commit(refs, &history.head);
    let mut commits = heads(repository, head)?;
    commits.extend(history.stash.iter().map(|(id, _)| id.clone()));
    for one in theirs() {
        commits.extend((one.kind == "commit").then(|| one.id.clone()));
        commits.extend((!one.commit.is_empty()).then(|| one.commit.clone()));
    }
    commits.extend(only_in_reflogs(repository)?);
    let mut seen = HashSet::new();
    commits.retain(|id| is_id(id) && seen.insert(id.clone()));
    let tree = staged(repository, head, head_tree)?;
    let commit = commit(repository, &tree, &commits)?;
    let mut commands = format!("update {name} {commit}\n");
    // What can be no parent: tags, and refs that lead to something odd.
    let known: HashSet<&str> = refs.iter().filter_map(|one| one.name.strip_prefix(TAGS)).collect();
    let mut others: Vec<&str> = theirs().filter(|one| one.kind != "commit").map(|one| one.id.as_str()).collect();
    others.sort_unstable();
    others.dedup();
    let others: Vec<&str> = others.into_iter().filter(|id| !known.contains(id)).collect();
    if others.len() > ANNOTATED {
        return Err(UndoError::Git(format!("the repository has more than {ANNOTATED} annotated tags")));
    }
    for id in others {
        commands.push_str(&format!("create {TAGS}{id} {id}\n"));
    }
    repository.ask(&["-c", "core.logAllRefUpdates=false", "update-ref", "--stdin"], commands.into_bytes())?;
    Ok(())
}

/// What the `HEAD`s of all worktrees lead to.
fn heads(repository: &Repository, own: Option<&str>) -> Result<Vec<String>, UndoError> {
    // Linked worktrees are listed there, the main one is not.
    if repository.git_dir == repository.common && !repository.common.join("worktrees").exists() {
        return Ok(own.map(str::to_owned).into_iter().collect());
    }
    Ok(worktrees(repository)?.into_iter().filter_map(|one| one.id).collect())
}

/// A worktree.
struct Worktree {
    path: PathBuf,
    id: Option<String>,
    branch: Option<String>,
}

fn worktrees(repository: &Repository) -> Result<Vec<Worktree>, UndoError> {
    let said = repository.ask(&["worktree", "list", "--porcelain"], vec![])?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut found: Vec<Worktree> = Vec::new();
    for line in said.lines() {
        match (line.split_once(' '), found.last_mut()) {
            (Some(("worktree", path)), _) => found.push(Worktree { path: path.into(), id: None, branch: None }),
            // An id of zeros is that of a branch without commits.
            (Some(("HEAD", id)), Some(last)) => last.id = Some(id.to_owned()).filter(|id| id.contains(|c| c != '0')),
            (Some(("branch", branch)), Some(last)) => last.branch = Some(branch.to_owned()),
            _ => {}
        }
    }
    Ok(found)
}

/// The commits that only reflogs lead to, without their ancestors.
fn only_in_reflogs(repository: &Repository) -> Result<Vec<String>, UndoError> {
    let most = format!("--max-count={REFLOG}");
    let said = repository.ask(
        &["rev-list", &most, "--parents", "--reflog", "--not", "--exclude=refs/toolgate-undo-*", "--all"],
        vec![],
    )?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let (mut commits, mut ancestors) = (Vec::new(), HashSet::new());
    for line in said.lines() {
        let mut ids = line.split(' ');
        commits.extend(ids.next());
        ancestors.extend(ids);
    }
    Ok(commits.into_iter().filter(|id| !ancestors.contains(id)).map(str::to_owned).collect())
}

/// A tree of all content that is in the index and not in the last commit, each under its id. Where there is no such content,
/// the tree of the last commit, as one without entries would have to be written.
fn staged(repository: &Repository, head: Option<&str>, head_tree: Option<&str>) -> Result<String, UndoError> {
    let last = head.unwrap_or(repository.empty_tree());
    let said = repository.ask(&["diff-index", "--cached", "-z", "--no-renames", last], vec![])?;
    let differ = differences(&said).filter_map(|one| Some(one.after?.id));
    // It tells that a path is unmerged, and not with which contents.
    let has_unmerged = said.windows(3).any(|three| three == b" U\0");
    let unmerged = if has_unmerged { repository.ask(&["ls-files", "-u", "-z"], vec![])? } else { Vec::new() };
    let unmerged = parts(&unmerged).filter_map(|entry| entry.split(|byte| *byte == b' ').nth(1));
    let unmerged = unmerged.map(|id| String::from_utf8_lossy(id).into_owned());
    let blobs: BTreeSet<String> = differ.chain(unmerged).filter(|id| id.contains(|c| c != '0')).collect();
    if let (true, Some(head)) = (blobs.is_empty(), head) {
        let asked = || repository.ask(&["rev-parse", "-q", "--verify", &format!("{head}^{{tree}}")], vec![]);
        let tree = head_tree.map_or_else(asked, |tree| Ok(tree.as_bytes().to_vec()))?;
        return Ok(String::from_utf8_lossy(&tree).trim().to_owned());
    }
    let entries: Vec<String> = blobs.iter().map(|id| format!("100644 blob {id}\t{id}\n")).collect();
    let tree = repository.ask(&["mktree", "--missing"], entries.concat().into_bytes())?;
    Ok(String::from_utf8_lossy(&tree).trim().to_owned())
}

/// Writes a commit. It says neither when nor for whom it was made: the same state has the same commit.
fn commit(repository: &Repository, tree: &str, parents: &[String]) -> Result<String, UndoError> {
    let (name, address) = IDENTITY;
    let parents: Vec<String> = parents.iter().map(|id| format!("parent {id}\n")).collect();
    let parents = parents.concat();
    let who = format!("{name} <{address}> 0 +0000");
    let text = format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\nKept by Toolgate for undo\n");
    let id = repository.ask(&["hash-object", "-t", "commit", "-w", "--stdin"], text.into_bytes())?;
    Ok(String::from_utf8_lossy(&id).trim().to_owned())
}

/// What is put back in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPlan {
    repository: PathBuf,
    git_dir: PathBuf,
    worktree: Option<PathBuf>,
    force: bool,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// What is left as it is, and why, as sentences.
    pub conflicts: Vec<String>,
}

/// A step of putting a repository back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A ref says something else, or is gone. `ref: NAME` for one that stands for another.
    Ref {
        /// Its full name.
        name: String,
        /// What it says now; none if it is not there.
        now: Option<String>,
        /// What it is to say.
        then: Option<String>,
    },
    /// `HEAD` says something else.
    Head {
        /// What it says now.
        now: String,
        /// What it is to say.
        then: String,
    },
    /// The stash has other entries, newest first.
    Stash {
        /// Those it has now.
        now: Vec<(String, String)>,
        /// Those it is to have.
        then: Vec<(String, String)>,
    },
    /// The index has another content, by its sha256.
    Index {
        /// What it has now; none if there is none.
        now: Option<String>,
        /// What it is to have.
        then: Option<String>,
    },
}

impl HistoryPlan {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The worktree, or git's own folder of a repository without one.
    pub fn folder(&self) -> &Path {
        self.worktree.as_deref().unwrap_or(&self.git_dir)
    }

    /// The folder of git itself for this worktree.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// What is done, as phrases for a person.
    pub fn described(&self) -> Vec<String> {
        self.steps.iter().map(Step::described).collect()
    }
}

impl Step {
    fn described(&self) -> String {
        match self {
            Step::Ref { name, now: None, then: Some(then) } => {
                format!("{} is made again at {}", brief(name), short(then))
            }
            Step::Ref { name, then: None, .. } => format!("{} is removed", brief(name)),
            Step::Ref { name, then: Some(then), .. } => format!("{} goes back to {}", brief(name), short(then)),
            Step::Head { then, .. } => format!("HEAD goes back to {}", short(then)),
            Step::Stash { now, then } => format!("the stash has {} entries again, not {}", then.len(), now.len()),
            Step::Index { then: Some(_), .. } => "the index is as before".to_owned(),
            Step::Index { then: None, .. } => "nothing is staged".to_owned(),
        }
    }
}

/// A ref's name as a person says it.
fn brief(name: &str) -> String {
    match ["heads/", "tags/"].iter().find_map(|kind| Some((*kind, name.strip_prefix("refs/")?.strip_prefix(kind)?))) {
        Some(("heads/", branch)) => format!("branch {branch}"),
        Some((_, tag)) => format!("tag {tag}"),
        None => name.to_owned(),
    }
}

fn short(value: &str) -> String {
    match value.strip_prefix("ref: ") {
        Some(name) => brief(name),
        None => value.get(..10).unwrap_or(value).to_owned(),
    }
}

/// What has to be put back, of what a call changed: what differs between before it and after it. If it is not known
/// what there was after it, all that differs now counts as the call's. What was changed since is a conflict, and left
/// as it is unless `force`.
pub fn plan(before: &History, after: Option<&History>, now: &History, force: bool) -> HistoryPlan {
    let after = after.unwrap_or(now);
    let mut plan = HistoryPlan {
        repository: before.repository.0.clone(),
        git_dir: before.git_dir.0.clone(),
        worktree: before.worktree.as_ref().map(|path| path.0.clone()),
        force,
        steps: Vec::new(),
        conflicts: Vec::new(),
    };
    plan_refs(&mut plan, before, after, now);
    // An index of one branch under another would put the files of one into the next commit of the other.
    let is_index_left =
        before.index != after.index && now.index != before.index && !says_the_same(after, now) && !force;
    let branch = |history: &History| value_of(history, history.head.strip_prefix("ref: ")?).map(str::to_owned);
    let is_branch_left = branch(after) != branch(now) && after.head == now.head && !force;
    let moves_head = before.head != after.head && now.head != before.head;
    if moves_head && is_index_left {
        plan.conflicts.push("HEAD is left as it is, as the index was changed since".to_owned());
    } else if moves_head && is_branch_left {
        plan.conflicts.push("HEAD is left as it is, as its branch was changed since".to_owned());
    } else if plan.goes_back(&before.head, &after.head, &now.head, "HEAD was changed since") {
        plan.steps.push(Step::Head { now: now.head.clone(), then: before.head.clone() });
    }
    let then = stash_then(&before.stash, &after.stash, &now.stash);
    if then != now.stash {
        plan.steps.push(Step::Stash { now: now.stash.clone(), then });
    }
    let left = if says_the_same(after, now) { &now.index } else { &after.index };
    // Under another commit it would take back what that one has, and the next commit with it.
    let is_index_of_another = before.index != after.index
        && now.index != before.index
        && !force
        && plan.commit_then(now) != commit_of(before, &before.head);
    if is_index_of_another {
        plan.conflicts.push("the index is left as it is, as HEAD is another commit since".to_owned());
    } else if before.index != after.index
        && plan.goes_back(&before.index, left, &now.index, "the index was changed since")
    {
        plan.steps.push(Step::Index { now: now.index.clone(), then: before.index.clone() });
    }
    plan
}

/// What a ref says.
fn value_of<'a>(history: &'a History, name: &str) -> Option<&'a str> {
    history.refs.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// The commit that what `HEAD` says leads to; none if there is none yet.
fn commit_of<'a>(history: &'a History, head: &'a str) -> Option<&'a str> {
    match head.strip_prefix("ref: ") {
        Some(name) => value_of(history, name),
        None => Some(head),
    }
}

/// Whether two indexes say the same of all paths.
fn says_the_same(one: &History, other: &History) -> bool {
    one.index == other.index || one.index_entries.is_some() && one.index_entries == other.index_entries
}

impl HistoryPlan {
    /// The entries of the stash that go, as their ids.
    pub fn dropped(&self) -> Vec<String> {
        let gone = |now: &[(String, String)], then: &[(String, String)]| {
            let stays = |id: &String| then.iter().any(|(other, _)| other == id);
            now.iter().map(|(id, _)| id.clone()).filter(|id| !stays(id)).collect::<Vec<_>>()
        };
        let stash = self.steps.iter().find_map(|step| match step {
            Step::Stash { now, then } => Some(gone(now, then)),
            _ => None,
        });
        stash.unwrap_or_default()
    }

    /// Leaves the entries of the stash that would go.
    pub fn keep_stash(&mut self) {
        let dropped = self.dropped();
        for step in &mut self.steps {
            if let Step::Stash { now, then } = step {
                let kept = now.iter().filter(|(id, _)| dropped.contains(id)).cloned();
                *then = kept.chain(then.iter().cloned()).collect();
            }
        }
        self.steps.retain(|step| !matches!(step, Step::Stash { now, then } if now == then));
    }

    /// What is done before the files come back, and what when they are back: only then may something go from the stash, or a branch
    /// of these, which are checked out in other worktrees. These may be the call's and go with its files.
    pub fn split(&self, elsewhere: &HashSet<String>) -> (Self, Self) {
        let drops = !self.dropped().is_empty();
        let is_last = |step: &Step| match step {
            Step::Stash { .. } => drops,
            Step::Ref { name, then: None, .. } => elsewhere.contains(name),
            _ => false,
        };
        let (last, first) = self.steps.iter().cloned().partition(is_last);
        let with = |steps| HistoryPlan { steps, ..self.clone() };
        (with(first), with(last))
    }

    /// The same without what goes from the stash, if anything does.
    pub fn without_stash(&self) -> Option<Self> {
        let is_stash = |step: &Step| matches!(step, Step::Stash { .. });
        let steps = self.steps.iter().filter(|step| !is_stash(step)).cloned().collect();
        self.steps.iter().any(is_stash).then(|| HistoryPlan { steps, ..self.clone() })
    }

    /// The branches that are checked out in other worktrees of the repository; none if that is not known.
    pub fn branches_elsewhere(&self, git: &Git, until: Instant) -> HashSet<String> {
        let repository = Repository::at(git, &self.git_dir, self.worktree.as_deref(), until);
        repository.ok().and_then(|repository| checked_out_elsewhere(&repository).ok()).unwrap_or_default()
    }

    /// The commit that `HEAD` leads to when all steps are done.
    fn commit_then<'a>(&'a self, now: &'a History) -> Option<&'a str> {
        let head = self.steps.iter().find_map(|step| match step {
            Step::Head { then, .. } => Some(then.as_str()),
            _ => None,
        });
        let head = head.unwrap_or(&now.head);
        let moved = self.steps.iter().find_map(|step| match step {
            Step::Ref { name, then, .. } if head.strip_prefix("ref: ") == Some(name) => Some(then.as_deref()),
            _ => None,
        });
        moved.unwrap_or_else(|| commit_of(now, head))
    }

    /// Whether something is put back.
    fn goes_back<T: PartialEq>(&mut self, before: &T, after: &T, now: &T, conflict: &str) -> bool {
        if before == after || now == before {
            return false;
        }
        if now != after && !self.force {
            self.conflicts.push(conflict.to_owned());
        }
        now == after || self.force
    }
}

fn plan_refs(plan: &mut HistoryPlan, before: &History, after: &History, now: &History) {
    let maps = [before, after, now].map(|history| {
        let refs = history.refs.iter().filter(|(name, _)| name != STASH);
        refs.map(|(name, value)| (name.as_str(), value.as_str())).collect::<HashMap<_, _>>()
    });
    let [before, after, now] = &maps;
    let mut names: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (before, after, now) = (before.get(name), after.get(name), now.get(name));
        if plan.goes_back(&before, &after, &now, &format!("{} was changed since", brief(name))) {
            let value = |value: Option<&&str>| value.map(|value| (*value).to_owned());
            plan.steps.push(Step::Ref { name: name.to_owned(), now: value(now), then: value(before) });
        }
    }
}

/// The stash as it is to be: what was there before, behind what has been stashed since. What the call stashed goes, and
/// what was dropped since stays so.
fn stash_then(
    before: &[(String, String)],
    after: &[(String, String)],
    now: &[(String, String)],
) -> Vec<(String, String)> {
    let has = |list: &[(String, String)], entry: &(String, String)| list.iter().any(|(id, _)| *id == entry.0);
    let since = now.iter().filter(|entry| !has(after, entry) && !has(before, entry));
    let dropped_since = |entry: &(String, String)| has(after, entry) && !has(now, entry);
    since.chain(before.iter().filter(|entry| !dropped_since(entry))).cloned().collect()
}

/// Puts a repository back. `objects_read` reads the content of an index by its sha256. Returns what could not be done,
/// as sentences; all else is done. No file of the worktree is touched.
pub fn apply(
    git: &Git,
    objects_read: &dyn Fn(&str) -> Result<Vec<u8>, UndoError>,
    plan: &HistoryPlan,
    until: Instant,
) -> Vec<String> {
    let repository = match Repository::at(git, &plan.git_dir, plan.worktree.as_deref(), until) {
        Ok(repository) => repository,
        Err(error) => return vec![error.to_string()],
    };
    if repository.common != plan.repository {
        return vec![format!("{} is another repository now", plan.git_dir.display())];
    }
    let mut failures = apply_refs(&repository, plan);
    for step in &plan.steps {
        let done = match step {
            Step::Ref { .. } => Ok(()),
            Step::Head { now, then } => apply_head(&repository, now, then),
            Step::Stash { now, then } => apply_stash(&repository, now, then),
            Step::Index { now, then } => apply_index(&repository, objects_read, now.as_deref(), then.as_deref()),
        };
        failures.extend(done.err().map(|error| format!("{}: {error}", step.described())));
    }
    failures
}

/// Puts refs back: those that go first, as one that comes may need the place. All of a kind at once, or else each by
/// itself.
fn apply_refs(repository: &Repository, plan: &HistoryPlan) -> Vec<String> {
    let refs = plan.steps.iter().filter(|step| matches!(step, Step::Ref { .. }));
    let (elsewhere, refs): (Vec<&Step>, Vec<&Step>) = match checked_out_elsewhere(repository) {
        Ok(branches) => {
            refs.partition(|step| matches!(step, Step::Ref { name, .. } if branches.contains(name)) && !plan.force)
        }
        Err(error) => return vec![error.to_string()],
    };
    let in_use = |step: &&Step| format!("{}: it is checked out in another worktree", step.described());
    let mut failures: Vec<String> = elsewhere.iter().map(in_use).collect();
    let (gone, rest): (Vec<&Step>, Vec<&Step>) =
        refs.into_iter().partition(|step| matches!(step, Step::Ref { then: None, .. }));
    for steps in [gone, rest] {
        let (symbolic, plain): (Vec<&Step>, Vec<&Step>) = steps.into_iter().partition(|step| step.is_symbolic());
        let commands = |steps: &[&Step]| steps.iter().filter_map(|step| step.command()).collect::<String>();
        let update = |steps: &[&Step]| match commands(steps) {
            none if none.is_empty() => Ok(()),
            commands => repository.ask(&UPDATE, commands.into_bytes()).map(drop),
        };
        if update(&plain).is_err() {
            let each = plain.iter().filter_map(|step| Some((step, update(&[step]).err()?)));
            failures.extend(each.map(|(step, error)| format!("{}: {error}", step.described())));
        }
        let each = symbolic.iter().filter_map(|step| Some((step, apply_symbolic(repository, step).err()?)));
        failures.extend(each.map(|(step, error)| format!("{}: {error}", step.described())));
    }
    failures
}

const UPDATE: [&str; 5] = ["update-ref", "--no-deref", "-m", MESSAGE, "--stdin"];

impl Step {
    /// Whether a ref stands for another, or is to.
    fn is_symbolic(&self) -> bool {
        let is = |value: &Option<String>| value.as_ref().is_some_and(|value| value.starts_with("ref: "));
        matches!(self, Step::Ref { now, then, .. } if is(now) || is(then))
    }

    /// What `git update-ref --stdin` is told: only if the ref is as it was when the plan was made.
    fn command(&self) -> Option<String> {
        match self {
            Step::Ref { name, now: Some(now), then: None } => Some(format!("delete {name} {now}\n")),
            Step::Ref { name, now: None, then: Some(then) } => Some(format!("create {name} {then}\n")),
            Step::Ref { name, now: Some(now), then: Some(then) } => Some(format!("update {name} {then} {now}\n")),
            _ => None,
        }
    }
}

fn apply_symbolic(repository: &Repository, step: &Step) -> Result<(), UndoError> {
    let Step::Ref { name, then, .. } = step else {
        return Ok(());
    };
    let done = match then.as_deref().map(|then| (then.strip_prefix("ref: "), then)) {
        Some((Some(target), _)) => repository.ask(&["symbolic-ref", "-m", MESSAGE, name, target], vec![]),
        Some((None, id)) => repository.ask(&["update-ref", "--no-deref", "-m", MESSAGE, name, id], vec![]),
        None => repository.ask(&["symbolic-ref", "--delete", name], vec![]),
    };
    done?;
    Ok(())
}

/// The branches that other worktrees have checked out.
fn checked_out_elsewhere(repository: &Repository) -> Result<HashSet<String>, UndoError> {
    let own = repository.worktree.as_deref();
    let is_other = |one: &Worktree| one.path.canonicalize().ok().as_deref() != own;
    let others = worktrees(repository)?.into_iter().filter(is_other);
    Ok(others.filter_map(|one| one.branch).collect())
}

fn apply_head(repository: &Repository, now: &str, then: &str) -> Result<(), UndoError> {
    if head(repository)? != now {
        return Err(UndoError::Git("it was changed meanwhile".to_owned()));
    }
    let done = match then.strip_prefix("ref: ") {
        Some(name) => repository.ask(&["symbolic-ref", "-m", MESSAGE, "HEAD", name], vec![]),
        None => repository.ask(&["update-ref", "--no-deref", "-m", MESSAGE, "HEAD", then], vec![]),
    };
    done?;
    Ok(())
}

/// Whether the files that an entry of the stash has besides tracked ones are in the worktree as they are there. Only those that are
/// `asked` about.
///
/// # Errors
/// If git fails.
pub(crate) fn stashed_untracked_is_there(
    git: &Git,
    plan: &HistoryPlan,
    id: &str,
    asked: &dyn Fn(&Path) -> bool,
    until: Instant,
) -> Result<bool, UndoError> {
    let repository = Repository::at(git, &plan.git_dir, plan.worktree.as_deref(), until)?;
    let parents = repository.ask(&["rev-list", "--parents", "-n", "1", id], Vec::new())?;
    let parents = String::from_utf8_lossy(&parents).into_owned();
    let Some(untracked) = parents.split_whitespace().nth(3) else { return Ok(true) };
    let difference = ["diff-tree", "-r", "-z", "--no-renames", repository.empty_tree(), untracked];
    let listed = repository.ask(&difference, Vec::new())?;
    for entry in differences(&listed) {
        let path = plan.folder().join(OsStr::from_bytes(entry.path));
        if !asked(&path) {
            continue;
        }
        if !path.symlink_metadata().is_ok_and(|there| there.is_file()) {
            return Ok(false);
        }
        let arguments = [OsStr::new("hash-object"), "--no-filters".as_ref(), "--".as_ref(), path.as_os_str()];
        let now = repository.ask(&arguments, Vec::new())?;
        if entry.after.is_none_or(|stashed| stashed.id.as_bytes() != now.trim_ascii()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts the stash back, which is the reflog of a ref: what is missing on top is added. Else all of it is, and then what was there is
/// removed from the bottom: whoever is killed meanwhile leaves too many entries and none
/// too few, but for a reflog that has expired.
fn apply_stash(repository: &Repository, now: &[(String, String)], then: &[(String, String)]) -> Result<(), UndoError> {
    let there = stash_now(repository)?;
    if there != now {
        return Err(UndoError::Git("it was changed meanwhile".to_owned()));
    }
    let has_log = !now.is_empty() && !logged_stash(repository)?.is_empty();
    // A ref whose reflog has expired is still there, and gets no entry where it does not move.
    if then.is_empty() || !has_log {
        repository.try_ask(&["update-ref", "-d", STASH], vec![])?;
    }
    let missing = then.strip_suffix(now).filter(|_| has_log).unwrap_or(then);
    for (id, message) in missing.iter().rev() {
        let said: &[&str] = if message.is_empty() { &[] } else { &["-m", message] };
        repository.ask(&[&["update-ref", "--create-reflog"], said, &[STASH, id]].concat(), vec![])?;
    }
    let surplus = format!("{STASH}@{{{}}}", then.len());
    for _ in then.len()..stash_now(repository)?.len() {
        repository.ask(&["reflog", "delete", "--rewrite", &surplus], vec![])?;
    }
    Ok(())
}

fn stash_now(repository: &Repository) -> Result<Vec<(String, String)>, UndoError> {
    let there = repository.try_ask(&["rev-parse", "-q", "--verify", STASH], vec![])?;
    let newest = String::from_utf8_lossy(&there.output).trim().to_owned();
    if there.status == Some(0) { entries_of_stash(repository, &newest) } else { Ok(Vec::new()) }
}

/// Puts the index back, as git does: by a lock file that takes its place.
fn apply_index(
    repository: &Repository,
    objects_read: &dyn Fn(&str) -> Result<Vec<u8>, UndoError>,
    now: Option<&str>,
    then: Option<&str>,
) -> Result<(), UndoError> {
    let content = then.map(objects_read).transpose()?;
    let (path, lock) = (repository.git_dir.join("index"), repository.git_dir.join("index.lock"));
    let taken = File::options().write(true).create_new(true).mode(0o644).open(&lock);
    let file = match taken {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(UndoError::Git(format!("{} is there: another git may be at work", lock.display())));
        }
        taken => taken.map_err(|error| UndoError::system(&lock, error))?,
    };
    let put = || {
        if index(repository)?.map(|content| digest(&content)).as_deref() != now {
            return Err(UndoError::Git("it was changed meanwhile".to_owned()));
        }
        match &content {
            Some(content) => put_index(file, content, &lock, &path).map_err(|error| UndoError::system(&path, error)),
            None => std::fs::remove_file(&path).map_err(|error| UndoError::system(&path, error)),
        }
    };
    let put = put();
    if put.is_err() || content.is_none() {
        let _ = std::fs::remove_file(&lock);
    }
    put
}

fn put_index(mut file: File, content: &[u8], lock: &Path, path: &Path) -> io::Result<()> {
    file.write_all(content)?;
    // What was changed in the second of the index's own change, or later, is read again: so git reads all of it once.
    file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)))?;
    file.sync_data()?;
    std::fs::rename(lock, path)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::process::Command;

    use toolgate_test_support::git::{canary, repository, try_user, user, write};

    use super::*;
    use crate::testing::{git, soon};

    /// A scratch folder with a repository that has something of everything, and contents that are stored.
    struct Scratch {
        _folder: tempfile::TempDir,
        root: PathBuf,
        stored: RefCell<HashMap<String, Vec<u8>>>,
    }

    const ENTRY: &str = "0001-call";

    const AGE: Duration = Duration::from_secs(14 * 24 * 3_600);

    /// Saves the repository that a folder is in.
    fn saved(
        put: &dyn Fn(&[u8]) -> Result<String, UndoError>,
        folder: &Path,
        entry: &str,
    ) -> Result<Option<History>, UndoError> {
        let repository = Repository::of(&git(), folder, soon())?;
        repository.map(|repository| save(&repository, None, put, entry, AGE)).transpose()
    }

    /// What is in the repository.
    const SETUP: &str = "
        git branch side && git switch -q -c topic && echo t >topic && git add -A && git commit -q -m topic
        git switch -q main && echo 2 >one && git commit -q -a -m second
        git tag light && git tag -a -m annotated v1 && git tag -a -m nested v2 v1
        git tag blob $(git rev-parse HEAD:one) && git symbolic-ref refs/heads/alias refs/heads/side
        git update-ref refs/remotes/origin/main HEAD~
        git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
        echo s1 >two && git stash -q && echo s2 >two && git stash push -q -m 'of mine' && echo s3 >two && git stash -q
        git worktree add -q --detach ../linked && cd ../linked && git commit -q --allow-empty -m 'in no branch'
        cd ../repo
        git branch -q elsewhere && git worktree add -q ../other elsewhere
        echo lost >one && git commit -q -a -m 'only in a reflog' && git reset -q --hard HEAD~
        echo staged >staged && git add staged && echo more >two && git add two && echo dirty >two
    ";

    /// What makes sure that what is not kept is gone.
    const GONE: &str = "git reflog expire --expire=now --all; git prune --expire=now";

    impl Scratch {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let root = folder.path().canonicalize().expect("its real path").join("repo");
            repository(&root, &[("one", "1\n"), ("two", "2\n"), ("sub/three", "3\n")]);
            Scratch { _folder: folder, root, stored: RefCell::default() }
        }

        fn full() -> Self {
            let scratch = Scratch::new();
            scratch.shell(SETUP);
            scratch
        }

        fn shell(&self, script: &str) {
            let mut shell = Command::new("sh");
            shell.args(["-e", "-c", script]).current_dir(&self.root);
            shell.envs([
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_CONFIG_SYSTEM", "/dev/null"),
                ("GIT_EDITOR", "true"),
            ]);
            for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
                shell.env(name, "user");
            }
            let output = shell.output().expect("a shell");
            assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        }

        fn save(&self) -> History {
            let put = |content: &[u8]| {
                self.stored.borrow_mut().insert(digest(content), content.to_vec());
                Ok(digest(content))
            };
            saved(&put, &self.root, ENTRY).expect("saved").expect("a repository")
        }

        fn look(&self) -> History {
            look(&git(), &self.root, soon()).expect("looked at").expect("a repository")
        }

        fn apply(&self, plan: &HistoryPlan) -> Vec<String> {
            let read = |digest: &str| {
                self.stored.borrow().get(digest).cloned().ok_or_else(|| UndoError::Gone { digest: digest.to_owned() })
            };
            apply(&git(), &read, plan, soon())
        }

        /// What a person sees of it.
        fn seen(&self) -> Vec<String> {
            let commands: [&[&str]; 5] = [
                &["for-each-ref", "--exclude=refs/toolgate-*", "--format=%(refname) %(objectname) %(symref)"],
                &["rev-parse", "HEAD"],
                &["stash", "list", "--format=%H %gs"],
                &["ls-files", "-s"],
                &["status", "--porcelain", "-b", "--ignore-submodules=all"],
            ];
            let mut seen: Vec<String> = commands.iter().map(|command| try_user(&self.root, command).1).collect();
            if let Some(refs) = seen.first_mut().filter(|refs| refs.contains("unknown option")) {
                *refs = user(&self.root, &["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
                *refs = refs.lines().filter(|line| !line.starts_with(KEEPS)).collect::<Vec<_>>().join("\n");
            }
            // Files of the worktree are put back by others.
            seen.truncate(4);
            seen
        }

        fn keeps(&self) -> usize {
            user(&self.root, &["for-each-ref", ALL_KEEPS]).lines().count()
        }
    }

    #[test]
    fn what_git_loses_is_put_back() {
        let losses = [
            "git reset -q --hard HEAD~",
            "git reset -q HEAD~",
            "git reset -q --soft HEAD~",
            "git checkout -q -f -- .",
            "git restore --staged .",
            "git restore --staged --worktree .",
            "git add -A",
            "git rm -q -r --cached sub",
            "rm .git/index",
            "git read-tree --empty",
            "git stash drop -q",
            "git stash drop -q stash@{1}",
            "git stash clear",
            "git stash -q",
            "git reset -q --hard; git stash pop -q",
            "git reset -q --hard; git stash pop -q stash@{2}; git stash drop -q",
            "git branch -q -D topic",
            "git branch -q -D topic side; git branch topic/deep; git branch side/by/side main",
            "git branch -q -m topic renamed",
            "git branch -q -M topic side",
            "git branch -q -f topic main",
            "git branch new; git tag new; git switch -q -c newer",
            "git tag -d v1 v2 light blob",
            "git tag -f -a -m other v1 topic",
            "git update-ref -d refs/remotes/origin/main; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/o/none",
            "git symbolic-ref --delete refs/heads/alias; git branch alias main",
            "git symbolic-ref refs/remotes/origin/HEAD refs/heads/main",
            "git commit -q --amend -m amended",
            "git commit -q -m committed",
            "git commit -q -a -m committed; git rebase -q topic",
            "git commit -q -a -m committed; git merge -q -m merged topic",
            "git cherry-pick topic || git reset -q --hard",
            "git switch -q --detach HEAD~ || git checkout -q -f --detach HEAD~",
            "git checkout -q -f topic",
            "git checkout -q --orphan orphan; git rm -q -r -f .",
            "git worktree remove --force ../linked",
            "git for-each-ref --format='delete %(refname)' refs/tags refs/heads/topic | git update-ref --stdin",
            "true",
        ];
        for loss in losses {
            let scratch = Scratch::full();
            let objects = user(&scratch.root, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
            let seen = scratch.seen();
            let before = scratch.save();
            assert_eq!(scratch.seen(), seen, "saving changes nothing");
            scratch.shell(&format!("{loss}\n{GONE}"));
            let after = scratch.look();
            let plan = plan(&before, Some(&after), &scratch.look(), false);
            assert_eq!(plan.conflicts, [""; 0], "{loss}");
            assert_eq!(scratch.apply(&plan), [""; 0], "{loss}: {plan:?}");
            let now = scratch.seen();
            assert_eq!(now, seen, "{loss}: {plan:?}");
            let all = user(&scratch.root, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
            let all: HashSet<&str> = all.lines().collect();
            let missing: Vec<&str> = objects.lines().filter(|id| !all.contains(id)).collect();
            assert_eq!(missing, [""; 0], "{loss}");
            assert_eq!(History { index: None, ..scratch.look() }, History { index: None, ..before.clone() }, "{loss}");
            drop_keep(&git(), &before, ENTRY, soon()).expect("dropped");
            assert_eq!(scratch.keeps(), 0);
            let (sound, said) = try_user(&scratch.root, &["fsck", "--strict", "--no-dangling"]);
            assert!(sound, "{loss}: {said}");
        }
    }

    #[test]
    fn an_unfinished_merge_is_put_back() {
        let scratch = Scratch::new();
        scratch.shell(
            "git switch -q -c other; echo o >one; git commit -q -a -m o
            git switch -q main; echo m >one; git commit -q -a -m m; ! git merge other",
        );
        let seen = scratch.seen();
        let before = scratch.save();
        scratch.shell(&format!("git reset -q --hard; {GONE}"));
        let plan = plan(&before, None, &scratch.look(), false);
        assert_eq!(plan.described(), ["the index is as before"]);
        assert_eq!(scratch.apply(&plan), [""; 0]);
        assert_eq!(scratch.seen(), seen);
        assert!(seen[3].contains(" 3\tone"), "{seen:?}");
    }

    #[test]
    fn an_index_that_is_put_back_does_not_hide_what_was_written_in_the_same_moment() {
        for _ in 0..5 {
            let scratch = Scratch::new();
            let before = scratch.save();
            write(&scratch.root.join("one"), "9\n");
            user(&scratch.root, &["add", "one"]);
            let after = scratch.look();
            let plan = plan(&before, Some(&after), &after, false);
            assert_eq!(scratch.apply(&plan), [""; 0]);
            for _ in 0..2 {
                assert_eq!(user(&scratch.root, &["status", "--porcelain"]), " M one\n");
            }
        }
    }

    fn history(refs: &[(&str, &str)], head: &str, stash: &str, index: Option<&str>) -> History {
        let pairs =
            |refs: &[(&str, &str)]| refs.iter().map(|(one, two)| ((*one).to_owned(), (*two).to_owned())).collect();
        let stash = stash.chars().map(|id| (id.to_string(), format!("message of {id}"))).collect();
        History {
            repository: PathBytes("/r/.git".into()),
            git_dir: PathBytes("/r/.git".into()),
            worktree: Some(PathBytes("/r".into())),
            head: head.to_owned(),
            refs: pairs(refs),
            stash,
            index: index.map(str::to_owned),
            index_entries: None,
        }
    }

    #[test]
    fn only_what_the_call_changed_goes_back() {
        let of = |value: &str| match value {
            "" => history(&[], "0", "", None),
            value => history(&[("refs/heads/a", value)], value, "", Some(value)),
        };
        // Before the call, after it, now; and how many steps there are: a ref, HEAD and the index.
        let cases = [
            ("1", Some("2"), "2", 3, 0),
            ("1", Some("1"), "2", 0, 0),
            ("1", Some("2"), "1", 0, 0),
            ("1", Some("2"), "3", 0, 3),
            ("1", None, "3", 3, 0),
            ("1", None, "1", 0, 0),
            ("", Some("2"), "2", 3, 0),
            ("", Some("2"), "3", 0, 3),
            ("1", Some(""), "", 3, 0),
            ("1", Some(""), "2", 0, 3),
        ];
        for (before, after, now, steps, conflicts) in cases {
            let [before, after, now] = [Some(before), after, Some(now)].map(|value| value.map(of));
            let (Some(before), Some(now)) = (before, now) else { continue };
            let found = plan(&before, after.as_ref(), &now, false);
            assert_eq!((found.steps.len(), found.conflicts.len()), (steps, conflicts), "{before:?} {after:?} {now:?}");
            let forced = plan(&before, after.as_ref(), &now, true);
            assert_eq!((forced.steps.len(), forced.conflicts.len()), (steps + conflicts, 0));
        }
    }

    #[test]
    fn the_stash_is_put_together() {
        // Before the call, after it, now; and then. Newest first.
        let cases = [
            ("cba", "ba", "ba", "cba"),
            ("cba", "ca", "ca", "cba"),
            ("cba", "", "", "cba"),
            ("ba", "cba", "cba", "ba"),
            ("ba", "cba", "ba", "ba"),
            ("cba", "ba", "dba", "dcba"),
            ("cba", "ba", "db", "dcb"),
            ("ba", "cba", "dcba", "dba"),
            ("ba", "ba", "a", "a"),
            ("ba", "ba", "cba", "cba"),
        ];
        for (before, after, now, expected) in cases {
            let [before, after, now] = [before, after, now].map(|stash| history(&[], "0", stash, None));
            let then: String =
                stash_then(&before.stash, &after.stash, &now.stash).into_iter().map(|(id, _)| id).collect();
            assert_eq!(then, expected, "{before:?} {after:?} {now:?}");
        }
    }

    #[test]
    fn steps_are_said_for_a_person() {
        let before = history(
            &[
                ("refs/heads/a", "1111111111111"),
                ("refs/tags/t", "2222222222222"),
                ("refs/remotes/o/HEAD", "ref: refs/remotes/o/a"),
            ],
            "ref: refs/heads/a",
            "ba",
            Some("3"),
        );
        let now = history(&[("refs/heads/a", "4444"), ("refs/heads/new", "5555")], "6666", "a", Some("7"));
        let expected = [
            "branch a goes back to 1111111111",
            "branch new is removed",
            "refs/remotes/o/HEAD is made again at refs/remotes/o/a",
            "tag t is made again at 2222222222",
            "HEAD goes back to branch a",
            "the stash has 2 entries again, not 1",
            "the index is as before",
        ];
        let found = plan(&before, None, &now, false);
        assert_eq!((found.described(), found.folder()), (expected.map(str::to_owned).to_vec(), Path::new("/r")));
    }

    #[test]
    fn what_changes_meanwhile_is_left_and_all_else_is_done() {
        // What is done between plan and undoing, and what is said.
        let cases: [(&str, &[&str]); 6] = [
            ("true", &[]),
            ("git branch -q -f topic light", &["branch topic is made again at "]),
            ("git switch -q side", &["HEAD goes back to branch main: git: it was changed meanwhile"]),
            (
                "echo x >three; git stash -q -u",
                &["the stash has 3 entries again, not 0: git: it was", "the index is as before: git: it was"],
            ),
            ("git add -A", &["the index is as before: git: it was changed meanwhile"]),
            ("touch .git/index.lock", &["the index is as before: git: "]),
        ];
        for (meanwhile, expected) in cases {
            let scratch = Scratch::full();
            let before = scratch.save();
            scratch.shell("git stash clear; git branch -q -D topic; git checkout -q -f --detach side");
            write(&scratch.root.join("two"), "other");
            let after = scratch.look();
            let plan = plan(&before, Some(&after), &after, false);
            scratch.shell(meanwhile);
            let failures = scratch.apply(&plan);
            let said = failures.len() == expected.len()
                && failures.iter().zip(expected).all(|(one, start)| one.starts_with(start));
            assert!(said, "{meanwhile}: {failures:#?}");
        }
    }

    #[test]
    fn a_branch_of_another_worktree_is_left() {
        for force in [false, true] {
            let scratch = Scratch::full();
            let before = scratch.save();
            scratch.shell("git update-ref refs/heads/elsewhere topic; git branch -q -f side topic");
            let after = scratch.look();
            let failures = scratch.apply(&plan(&before, Some(&after), &after, force));
            let elsewhere = "branch elsewhere goes back to ";
            assert_eq!(
                failures.iter().filter(|one| one.starts_with(elsewhere)).count(),
                usize::from(!force),
                "{failures:?}"
            );
            let moved = before.refs.iter().zip(&scratch.look().refs).filter(|(one, other)| one != other).count();
            assert_eq!(moved, usize::from(!force), "all else is done");
        }
    }

    /// All files of a folder, with contents.
    fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a list").map(|entry| entry.expect("an entry")) {
                match entry.file_type().expect("a kind").is_dir() {
                    true => folders.push(entry.path()),
                    false => drop(found.insert(entry.path(), std::fs::read(entry.path()).expect("a file"))),
                }
            }
        }
        found
    }

    #[test]
    fn saving_adds_a_keep_and_nothing_else_and_the_second_time_nothing() {
        let scratch = Scratch::full();
        let folder = scratch.root.join(".git");
        let before = files(&folder);
        let first = scratch.save();
        let between = files(&folder);
        assert!(before.iter().all(|(path, content)| between.get(path) == Some(content)));
        let added = between.keys().filter(|path| !before.contains_key(*path));
        let odd: Vec<_> = added
            .filter(|path| !path.starts_with(folder.join("objects")))
            .filter(|path| !path.to_string_lossy().contains(KEEPS))
            .collect();
        assert!(odd.is_empty(), "{odd:?}");
        assert_eq!(scratch.keeps(), 4, "the commit, two tags, and a tag of a blob");
        assert_eq!(scratch.save(), first);
        assert_eq!(files(&folder), between);
        assert_eq!(scratch.look(), first);
        // Another entry has a ref of its own, and the tags stay until the last one goes.
        let other = saved(&|content| Ok(digest(content)), &scratch.root, "0002").expect("saved");
        assert_eq!((other, scratch.keeps()), (Some(first.clone()), 5));
        for (entry, left) in [("none", 5), (ENTRY, 4), ("0002", 0)] {
            drop_keep(&git(), &first, entry, soon()).expect("dropped");
            assert_eq!(scratch.keeps(), left, "{entry}");
        }
        for entry in ["", "a b", "a/../b", "tags/x", "-\n"] {
            assert!(saved(&|content| Ok(digest(content)), &scratch.root, entry).is_err(), "{entry:?}");
        }
    }

    /// Whose entries are gone with their store.
    #[test]
    fn refs_of_old_entries_go() {
        let day = 24 * 3_600 * 1_000;
        // How many days before the newest entry another one is, and whether its ref stays.
        for (days, stays) in [(0, true), (13, true), (15, false), (400, false)] {
            let scratch = Scratch::full();
            let id = |time| store::Store::new_id(time, "agent", "session");
            let put = |content: &[u8]| Ok(digest(content));
            let now = 1_800_000_000_000;
            for entry in [id(now - days * day), id(now)] {
                saved(&put, &scratch.root, &entry).expect("saved");
            }
            assert_eq!(scratch.keeps(), 3 + 1 + usize::from(stays), "{days}");
            scratch.shell("git fsck --strict");
        }
    }

    #[test]
    fn repositories_of_all_kinds() {
        let scratch = Scratch::full();
        let beside = |name: &str| scratch.root.with_file_name(name);
        for (name, format) in [("empty", "sha1"), ("wide", "sha256")] {
            user(&beside(""), &["init", "-q", &format!("--object-format={format}"), name]);
        }
        write(&beside("wide/file"), "x");
        user(&beside("wide"), &["add", "-A"]);
        user(&beside("wide"), &["commit", "-q", "-m", "x"]);
        user(&beside(""), &["init", "-q", "--bare", "bare"]);
        std::fs::create_dir(beside("none")).expect("a folder");
        // The folder, the git folder that is found, and whether it has an index.
        let cases = [
            ("repo/sub", Ok(Some(("repo/.git", true)))),
            ("linked", Ok(Some(("repo/.git/worktrees/linked", true)))),
            ("repo/.git", Ok(Some(("repo/.git", true)))),
            ("empty", Ok(Some(("empty/.git", false)))),
            ("wide", Ok(Some(("wide/.git", true)))),
            ("none", Ok(None)),
            ("gone", Ok(None)),
            ("bare", Err(())),
        ];
        for (folder, expected) in cases {
            let put = |content: &[u8]| Ok(digest(content));
            let found = saved(&put, &beside(folder), ENTRY);
            let found = found.map(|found| found.map(|one| (one.git_dir.0.clone(), one.index.is_some())));
            let expected = expected.map(|found| found.map(|(git_dir, index)| (beside(git_dir), index)));
            assert_eq!(found.map_err(|_| ()), expected, "{folder}");
        }
        // What was committed first goes, too.
        let scratch = Scratch { root: beside("empty"), ..scratch };
        let before = scratch.save();
        scratch.shell("echo x >x; git add -A; git commit -q -m x");
        let plan = plan(&before, None, &scratch.look(), false);
        assert_eq!(plan.described(), ["branch main is removed", "nothing is staged"]);
        assert_eq!(scratch.apply(&plan), [""; 0]);
        assert_eq!(scratch.look(), before);
    }

    #[test]
    fn nothing_of_the_repository_is_run() {
        let scratch = Scratch::full();
        let at = |name: &str| scratch.root.join(name);
        let (mark, run) = (scratch.root.with_file_name("mark"), scratch.root.with_file_name("run"));
        canary(&run, &mark);
        let hooks = [
            "reference-transaction",
            "post-index-change",
            "post-commit",
            "post-checkout",
            "post-rewrite",
            "pre-auto-gc",
        ];
        for folder in [".git/hooks", "hooks"] {
            for hook in hooks {
                canary(&at(folder).join(hook), &mark);
            }
        }
        let run = run.to_str().expect("text");
        for name in [
            "core.fsmonitor",
            "filter.x.clean",
            "filter.x.process",
            "core.pager",
            "core.editor",
            "gpg.program",
            "gpg.ssh.program",
            "diff.external",
            "core.sshCommand",
            "core.alternateRefsCommand",
            "hook.x.command",
            "alias.update-ref",
            "trace2.normalTarget",
        ] {
            user(&scratch.root, &["config", name, run]);
        }
        for (name, value) in [
            ("core.hooksPath", at("hooks").to_str().expect("text")),
            ("commit.gpgSign", "true"),
            ("tag.gpgSign", "true"),
            ("hook.x.event", "reference-transaction"),
            ("log.showSignature", "true"),
            ("user.useConfigOnly", "true"),
            ("core.logAllRefUpdates", "always"),
            ("gc.auto", "1"),
            ("core.splitIndex", "false"),
        ] {
            user(&scratch.root, &["config", name, value]);
        }
        write(&at(".git/info/attributes"), "* filter=x diff=x\n");
        let _ = std::fs::remove_file(&mark);
        let before = scratch.save();
        let mut after = before.clone();
        after.refs.retain(|(name, _)| name != "refs/heads/topic");
        after.refs.push(("refs/heads/made".to_owned(), before.refs[0].1.clone()));
        let plan = HistoryPlan { steps: Vec::new(), ..plan(&before, Some(&before), &before, false) };
        assert!(plan.is_empty());
        let topic = before.refs.iter().find(|(name, _)| name == "refs/heads/topic").expect("a branch").1.clone();
        let steps = vec![
            Step::Ref { name: "refs/heads/topic".to_owned(), now: Some(topic.clone()), then: None },
            Step::Ref { name: "refs/heads/made".to_owned(), now: None, then: Some(topic.clone()) },
            Step::Head { now: before.head.clone(), then: topic },
            Step::Stash { now: before.stash.clone(), then: before.stash[1..].to_vec() },
            Step::Index { now: before.index.clone(), then: before.index.clone() },
        ];
        assert_eq!(scratch.apply(&HistoryPlan { steps, ..plan }), [""; 0]);
        drop_keep(&git(), &before, ENTRY, soon()).expect("dropped");
        assert!(!mark.exists(), "something was run");
        let _ = try_user(&scratch.root, &["update-ref", "refs/heads/made", "HEAD~"]);
        assert!(mark.exists(), "it would have been");
    }

    #[test]
    fn what_leaves_the_repository_takes_no_keep_along() {
        let scratch = Scratch::full();
        scratch.save();
        let beside = |name: &str| scratch.root.with_file_name(name);
        user(&beside(""), &["init", "-q", "--bare", "remote"]);
        user(&scratch.root, &["remote", "add", "there", "../remote"]);
        let has_keep = |folder: &str| !user(&beside(folder), &["for-each-ref", ALL_KEEPS]).is_empty();
        let pushes: [(&[&str], bool); 6] = [
            (&["push", "-q", "there", "main"], false),
            (&["push", "-q", "there", "--all"], false),
            (&["push", "-q", "there", "--tags"], false),
            (&["-c", "push.default=matching", "push", "-q", "there"], false),
            (&["push", "-q", "there", "--follow-tags", "--branches"], false),
            (&["push", "-q", "--mirror", "there"], false),
        ];
        for (arguments, expected) in pushes {
            let (_, said) = try_user(&scratch.root, arguments);
            assert_eq!(has_keep("remote"), expected, "{arguments:?}: {said}");
        }
        let clones: [(&str, &[&str], bool); 4] = [
            ("plain", &["clone", "-q", "repo", "plain"], false),
            ("bare", &["clone", "-q", "--bare", "repo", "bare"], false),
            ("single", &["clone", "-q", "--no-local", "--single-branch", "repo", "single"], false),
            ("mirror", &["clone", "-q", "--mirror", "repo", "mirror"], true),
        ];
        for (folder, arguments, expected) in clones {
            user(&beside(""), arguments);
            assert_eq!(has_keep(folder), expected, "{arguments:?}");
        }
        user(&beside("plain"), &["fetch", "-q", "--all", "--tags", "--prune"]);
        assert!(!has_keep("plain"));
        assert!(!user(&scratch.root, &["log", "--oneline", "--exclude=refs/toolgate-*", "--all"]).contains("Toolgate"));
        assert!(
            user(&scratch.root, &["log", "--format=%s", "--all"]).lines().last().is_some_and(|last| last != "first")
        );
    }
}
