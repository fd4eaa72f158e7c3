//! Putting files back, and what stands in the way.
//!
//! [`plan`] compares what is there with what is wanted and with what the call left. Where somebody changed something since, that
//! is a conflict: it is left alone unless that is forced. So is what is too large to be saved before it is undone, like a large
//! file that was moved: taking it from its new place would be the end of it. [`Plan::apply`] does what was planned, and does it to nothing else: each
//! place is reached without passing a link, and looked at again right before it is changed.
//!
//! A file is written beside its place, checked, and put there as a whole, so that a crash leaves the old or the new one, and
//! running it again does the rest. The exception is a file that had and has several names and is still the same one: it is
//! written in place once its content was checked, as its other names would else keep what the call wrote. A crash in the middle
//! of that leaves half of it, which needs force the next time; there is no way to have both.
//!
//! What was removed or replaced comes back before what the call made goes, and that only goes if all of the former came back.

mod apply;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::error::phrase;
use crate::model::{Item, Kind, PathBytes, State};
use crate::nofollow::{DirEntryRef, Look, PathState, listed, look, users};
use crate::objects::Objects;

pub use apply::Failure;

/// Longest text of which [`texts`] are told, in bytes.
const TEXT: u64 = 1 << 20;

/// Most files that a folder is looked at for that the call did not make.
const LISTED: usize = 1_000_000;

/// What a path is to be again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Absolute.
    pub path: PathBytes,
    /// What it is to be.
    pub want: State,
    /// Where the content comes from.
    pub source: Source,
    /// What the call left there. None if that is not known.
    pub expected: Option<State>,
    /// How much is known of what it is to be.
    pub known: Known,
    /// What the file was that goes, if a call changed it under this name and it has others, too: these get it back.
    pub shared: Option<(State, Source)>,
}

/// How much is known of a state. All else stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// Kind, content and the right to execute, as git has them.
    AsGit,
    /// Kind, content and all permissions.
    Permissions,
    /// All of it.
    All,
}

/// Where a content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the store, by its sha256.
    Object(String),
    /// It is this.
    Bytes(Vec<u8>),
    /// There is none, or it was not saved.
    None,
}

impl Target {
    /// What an item was before the call, and what the call left there.
    pub fn of(item: &Item, expected: Option<State>) -> Self {
        let source = match &item.before.kind {
            Kind::File { content: Some(digest), .. } if item.saved => Source::Object(digest.clone()),
            _ => Source::None,
        };
        Target { path: item.path.clone(), want: item.before.clone(), source, expected, known: Known::All, shared: None }
    }

    /// That what the call made is to go.
    pub fn gone(path: PathBytes, expected: Option<State>) -> Self {
        Target { path, want: State::ABSENT, source: Source::None, expected, known: Known::All, shared: None }
    }
}

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A folder is made.
    Folder,
    /// A file gets its content.
    Write,
    /// A link is made.
    Link,
    /// Mode, attributes and time are set.
    Attributes,
    /// It is removed.
    Remove,
}

/// A path that is changed.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it is to be.
    pub target: Target,
    /// What is there now.
    pub now: State,
    /// What is done.
    pub action: Action,
    seen: PathState,
}

/// A path that is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub path: PathBytes,
    /// Why, as a sentence without its end.
    pub why: String,
}

/// What is to be done.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What is changed, a folder before what is in it.
    pub steps: Vec<Step>,
    /// What is left alone.
    pub conflicts: Vec<Conflict>,
    /// How many paths are as they should be.
    pub unchanged: usize,
    /// What cannot be looked at before folders on the way are passable again, which are among the steps.
    pub blocked: Vec<Target>,
    /// Whether it counts for nothing what others changed.
    force: bool,
}

/// Compares what is there with what is wanted. With `force` it counts for nothing what others changed since.
pub fn plan(mut targets: Vec<Target>, force: bool) -> Plan {
    targets.sort_by(|one, other| one.path.cmp(&other.path));
    targets.dedup_by(|one, other| one.path == other.path);
    let mut planner =
        Planner { plan: Plan { force, ..Plan::default() }, replaced: HashSet::new(), opened: HashSet::new() };
    for target in targets {
        planner.add(target);
    }
    planner.plan.keep_used_folders();
    planner.plan
}

struct Planner {
    plan: Plan,
    /// Where a folder will be made in the place of something else.
    replaced: HashSet<PathBuf>,
    /// Folders that will get another mode.
    opened: HashSet<PathBuf>,
}

impl Planner {
    fn add(&mut self, mut target: Target) {
        let above = || target.path.as_path().ancestors().skip(1);
        let seen = match above().any(|folder| self.replaced.contains(folder)) {
            true => Ok(PathState::ABSENT),
            false => seen(&target),
        };
        if matches!(seen, Err(Errno::ACCESS)) && above().any(|folder| self.opened.contains(folder)) {
            return self.plan.blocked.push(target);
        }
        let mut conflict = |why: String| {
            self.plan.conflicts.push(Conflict { path: target.path.clone(), why });
        };
        let untouched = is_untouched(&target);
        let seen = match seen {
            Ok(seen) => seen,
            Err(_) if untouched => return self.plan.unchanged += 1,
            Err(error) => return conflict(phrase(error)),
        };
        let now = seen.state.clone();
        target.want = tightened(&target.want, &now, target.known);
        if is_as_wanted(&now, &target) || untouched && !is_same(&now, &target.want) {
            return self.plan.unchanged += 1;
        }
        if let Some(why) = cannot(&now, &target) {
            return conflict(why.to_owned());
        }
        if !self.plan.force
            && let Some(why) = changed_since(&now, &target)
        {
            return conflict(why.to_owned());
        }
        let action = action(&now, &target.want);
        match action {
            Action::Folder if !now.is_absent() => drop(self.replaced.insert(target.path.as_path().to_path_buf())),
            Action::Attributes if now.kind == Kind::Folder => {
                self.opened.insert(target.path.as_path().to_path_buf());
            }
            _ => {}
        }
        self.plan.steps.push(Step { target, now, action, seen });
    }
}

/// Whether the call left it as it was. Then it is nobody's business what became of it since.
fn is_untouched(target: &Target) -> bool {
    target.expected.as_ref().is_some_and(|left| is_same(&tightened(&target.want, left, target.known), left))
}

/// Whether there is nothing to do.
fn is_as_wanted(now: &State, target: &Target) -> bool {
    // The time of a folder says that something in it was changed. Whoever did so after the call is not belied.
    let left_so = || target.expected.as_ref().is_none_or(|left| left.modified == now.modified);
    let is_time_kept =
        now.modified == target.want.modified || now.is_absent() || now.kind == Kind::Folder && !left_so();
    is_same(now, &target.want) && is_time_kept
}

/// What is wanted, with what is there for all that is not known.
fn tightened(want: &State, now: &State, known: Known) -> State {
    if known == Known::All {
        return want.clone();
    }
    let both_files = matches!((&want.kind, &now.kind), (Kind::File { .. }, Kind::File { .. }));
    if !both_files && !is_same_kind(want, now) {
        return want.clone();
    }
    let readers = now.mode & 0o444;
    let executable = if now.mode & 0o111 == 0 { now.mode | readers >> 2 } else { now.mode };
    let mode = match want.mode & 0o100 {
        _ if !both_files => now.mode,
        _ if known == Known::Permissions => want.mode,
        0 => now.mode & !0o111,
        _ => executable,
    };
    State { kind: want.kind.clone(), mode, modified: now.modified, attributes: now.attributes.clone(), inode: None }
}

/// What is there now. Content is read only if it can be what is wanted or expected.
fn seen(target: &Target) -> Result<PathState, Errno> {
    let of = |state: &State| match state.kind {
        Kind::File { length, .. } => Some(length),
        _ => None,
    };
    let lengths = [of(&target.want), target.expected.as_ref().and_then(of)];
    let seen = look(target.path.as_path(), Look { reads: &|length| lengths.contains(&Some(length)), until: None });
    match seen {
        // What is to be gone is gone if there is not even a folder for it.
        Err(Errno::NOTDIR) if target.want.is_absent() => Ok(PathState::ABSENT),
        seen => seen,
    }
}

/// Why it cannot be made what it was, whoever wants that.
fn cannot(now: &State, target: &Target) -> Option<&'static str> {
    match (&target.want.kind, &target.source) {
        (Kind::Special, _) => Some("a pipe, socket or device cannot be made again"),
        (Kind::File { .. }, Source::None) if !is_same_kind(now, &target.want) => Some("its content was not saved"),
        _ => None,
    }
}

/// What somebody else did to it after the call, or why else it is not changed unless that is forced.
fn changed_since(now: &State, target: &Target) -> Option<&'static str> {
    let known = target.expected.as_ref().filter(|expected| **expected != State::UNKNOWN);
    let Some(expected) = known else {
        // If there is nothing, or only its mode differs, no content is lost.
        let harmless = now.is_absent() || is_same_kind(now, &target.want);
        return (!harmless).then_some("its state after the call is unknown");
    };
    // What nobody read afterwards was too large, and cannot have been saved before it is undone either.
    let unread = matches!(expected.kind, Kind::File { content: None, .. }) && !is_same_kind(now, &target.want);
    if unread && is_same(now, expected) {
        return Some("it is too large to be saved first, and would be lost");
    }
    if is_same(now, expected) || is_same(now, &target.want) {
        return None;
    }
    Some(match (expected.is_absent(), now.is_absent()) {
        (true, _) => "something else is there now",
        (_, true) => "it was removed since",
        _ if is_same_kind(now, expected) => "its mode or attributes were changed since",
        _ => "it was changed since",
    })
}

fn action(now: &State, want: &State) -> Action {
    match want.kind {
        Kind::Absent | Kind::Special => Action::Remove,
        _ if is_same_kind(now, want) => Action::Attributes,
        Kind::File { .. } => Action::Write,
        Kind::Folder => Action::Folder,
        Kind::Link { .. } => Action::Link,
    }
}

/// Whether both are the same but for when they were changed.
pub fn is_same(one: &State, other: &State) -> bool {
    let has_mode = !matches!(one.kind, Kind::Link { .. } | Kind::Absent);
    let same = !has_mode || one.mode == other.mode && users(&one.attributes).eq(users(&other.attributes));
    is_same_kind(one, other) && same
}

/// Whether both are the same thing, with the same content. Where that is not known, length and time decide.
fn is_same_kind(one: &State, other: &State) -> bool {
    match (&one.kind, &other.kind) {
        (Kind::File { content: Some(one), .. }, Kind::File { content: Some(other), .. }) => one == other,
        (Kind::File { length, .. }, Kind::File { length: other_length, .. }) => {
            length == other_length && one.modified == other.modified
        }
        (one, other) => one == other,
    }
}

impl Plan {
    /// What is changed, and what may have to be and cannot be looked at yet.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.steps.iter().map(|step| &step.target).chain(&self.blocked)
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.blocked.is_empty()
    }

    /// Leaves paths alone that were to be changed, as they could not be saved first, say.
    pub fn refuse(&mut self, refused: impl Fn(&Step) -> Option<String>) {
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            match refused(&step) {
                Some(why) => self.conflicts.push(Conflict { path: step.target.path, why }),
                None => self.steps.push(step),
            }
        }
        self.keep_used_folders();
    }

    /// A folder that has to go stays if something is in it that is to stay, and so does what is in the way to its place.
    fn keep_used_folders(&mut self) {
        let goes = |step: &Step| step.action == Action::Remove;
        let mut going: HashSet<PathBuf> =
            self.steps.iter().filter(|step| goes(step)).map(|step| step.target.path.as_path().to_path_buf()).collect();
        let mut kept: HashSet<PathBuf> = HashSet::new();
        for step in self.steps.iter().rev() {
            let path = step.target.path.as_path();
            let folder_goes = step.now.kind == Kind::Folder && (goes(step) || step.is_in_the_way());
            if folder_goes && !is_emptied(path, &going) {
                going.remove(path);
                kept.insert(path.to_path_buf());
            }
        }
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            match kept.contains(step.target.path.as_path()) {
                true => self.conflicts.push(Conflict {
                    path: step.target.path,
                    why: "something is in it that the call did not make".to_owned(),
                }),
                false => self.steps.push(step),
            }
        }
    }
}

/// Whether nothing is in a folder but what goes, too.
fn is_emptied(folder: &Path, going: &HashSet<PathBuf>) -> bool {
    let Ok((names, all)) = listed(folder, LISTED) else { return false };
    all && names.into_iter().all(|(name, _)| going.contains(&folder.join(name)))
}

impl Step {
    /// Whether what is there has to be removed first: a folder where something else is wanted.
    fn is_in_the_way(&self) -> bool {
        self.now.kind == Kind::Folder && matches!(self.action, Action::Write | Action::Link)
    }
}

/// The text that is there and the one that is wanted, to compare them. None if one of them is no text or is long.
pub fn texts(target: &Target, objects: &Objects) -> Option<(String, String)> {
    let now = match DirEntryRef::open(target.path.as_path()).and_then(|place| place.file(rustix::fs::OFlags::RDONLY)) {
        Ok((file, _)) => toolgate_private::read_at_most(&file, TEXT).ok()?,
        Err(Errno::NOENT) => Vec::new(),
        Err(_) => return None,
    };
    let wanted = match (&target.source, &target.want.kind) {
        (Source::Object(digest), _) => objects.read(digest, TEXT).ok()?,
        (Source::Bytes(bytes), _) if bytes.len() as u64 <= TEXT => bytes.clone(),
        (Source::None, Kind::Absent) => Vec::new(),
        _ => return None,
    };
    Some((text(now)?, text(wanted)?))
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests;
