//! Does what was planned.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, fchmod, fchown, flock};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};
use sha2::{Digest as _, Sha256};

use super::{Action, Known, Plan, Source, Step, Target, is_same, plan, seen};
use crate::error::{UndoError, phrase};
use crate::model::{Kind, PathBytes, State, hex};
use crate::nofollow::{At, DirEntryRef, FileInfo, set_attributes};
use crate::objects::Objects;

/// Bits that let a program run as somebody else.
const SET_ID: u32 = 0o6000;

/// Read, write and pass, for the owner.
const OWNER: u32 = 0o700;

/// A path that could not be made what it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct Failure {
    /// Which.
    pub path: PathBuf,
    /// Why, as a sentence without its end.
    pub why: String,
}

/// Why a step was not done.
enum Trouble {
    System(Errno),
    Io(io::Error),
    Undo(UndoError),
    /// It is not any more what it was when that was planned.
    Changed,
    /// Somebody changed it since, which was seen only now.
    Conflict(String),
    /// Something else failed before.
    Waits,
}

impl From<Errno> for Trouble {
    fn from(error: Errno) -> Self {
        Trouble::System(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Io(error)
    }
}

impl From<UndoError> for Trouble {
    fn from(error: UndoError) -> Self {
        Trouble::Undo(error)
    }
}

impl Trouble {
    fn of(self, path: &PathBytes) -> Failure {
        Failure { path: path.as_path().to_path_buf(), why: self.why() }
    }

    fn why(self) -> String {
        match self {
            Trouble::System(Errno::STALE) | Trouble::Changed => "it was changed meanwhile: run it again".to_owned(),
            Trouble::System(Errno::NOTEMPTY | Errno::EXIST) => "something is in its place".to_owned(),
            Trouble::System(error) => phrase(error),
            Trouble::Io(error) => error.to_string(),
            Trouble::Undo(error) => error.to_string(),
            Trouble::Conflict(why) => why,
            Trouble::Waits => "it stays until all that it replaced is restored".to_owned(),
        }
    }
}

type Done = Result<(), Trouble>;

impl Plan {
    /// Does what was planned: what came of each path, in the order in which they were done.
    pub fn apply(&self, objects: &Objects) -> Vec<(PathBuf, Result<(), Failure>)> {
        let mut work = Work::default();
        self.unlock();
        self.apply_blocked(objects, &mut work);
        let with = |action: Action| self.steps.iter().filter(move |step| step.action == action);
        let (early, late): (Vec<&Step>, Vec<&Step>) = {
            let in_the_way = self.in_the_way(objects);
            let is_early =
                |step: &&Step| in_the_way.iter().any(|folder| step.target.path.as_path().starts_with(folder));
            with(Action::Remove).partition(is_early)
        };
        early.into_iter().rev().for_each(|step| work.step(step, |step| remove(step, objects)));
        with(Action::Folder).for_each(|step| work.step(step, make_folder));
        for step in &self.steps {
            match step.action {
                Action::Write => work.step(step, |step| write(step, objects)),
                Action::Link => work.step(step, link),
                Action::Attributes if step.now.kind != Kind::Folder => work.step(step, set),
                _ => {}
            }
        }
        let waits = work.failed;
        for step in late.into_iter().rev() {
            work.step(step, |step| if waits { Err(Trouble::Waits) } else { remove(step, objects) });
        }
        self.finish_folders(&mut work);
        work.outcomes
    }

    /// Folders that the call made impassable are opened first: they are in the way to what is in them.
    fn unlock(&self) {
        for step in self.steps.iter().filter(|step| step.action == Action::Attributes) {
            let (now, want) = (step.now.mode & OWNER, step.target.want.mode & OWNER);
            if step.now.kind == Kind::Folder
                && now != want
                && let Some(found) = &step.seen.found
            {
                // If it fails, that is said when all its attributes are set.
                let _ = DirEntryRef::open(step.target.path.as_path())
                    .and_then(|place| place.set_mode(found, (step.now.mode | want) & 0o777));
            }
        }
    }

    /// What could not be looked at until then is planned now.
    fn apply_blocked(&self, objects: &Objects, work: &mut Work) {
        if self.blocked.is_empty() {
            return;
        }
        let inner = plan(self.blocked.clone(), self.force);
        if inner.blocked.len() < self.blocked.len() {
            work.outcomes.extend(inner.apply(objects));
            work.failed |= work.outcomes.iter().any(|(_, outcome)| outcome.is_err());
        } else {
            inner.blocked.iter().for_each(|target| work.done(&target.path, Err(Errno::ACCESS.into())));
        }
        for conflict in &inner.conflicts {
            work.done(&conflict.path, Err(Trouble::Conflict(conflict.why.clone())));
        }
    }

    /// The folders in whose place something else is wanted that can be put there.
    fn in_the_way(&self, objects: &Objects) -> Vec<&Path> {
        let can_be_put = |target: &Target| match &target.source {
            Source::Object(digest) => objects.check(digest).is_ok(),
            _ => true,
        };
        let steps = self.steps.iter().filter(|step| step.is_in_the_way() && can_be_put(&step.target));
        steps.map(|step| step.target.path.as_path()).collect()
    }

    /// Last, as all that is done in a folder changes its time, and its mode may forbid it.
    fn finish_folders(&self, work: &mut Work) {
        let wanted = |step: &&Step| step.target.want.kind == Kind::Folder;
        let made = work.outcomes.iter().enumerate().filter(|(_, (_, outcome))| outcome.is_ok());
        let made: HashMap<PathBuf, usize> = made.map(|(index, (path, _))| (path.clone(), index)).collect();
        for step in self.steps.iter().rev().filter(wanted) {
            match (step.action, made.get(step.target.path.as_path())) {
                (Action::Attributes, _) => work.step(step, set),
                (Action::Folder, Some(index)) => {
                    work.outcomes[*index].1 = finish_folder(step).map_err(|trouble| trouble.of(&step.target.path));
                }
                _ => {}
            }
        }
    }
}

#[derive(Default)]
struct Work {
    outcomes: Vec<(PathBuf, Result<(), Failure>)>,
    failed: bool,
}

impl Work {
    fn step(&mut self, step: &Step, does: impl FnOnce(&Step) -> Done) {
        let done = match does(step) {
            // Through another of its names, or by whoever undoes the same at this moment.
            Err(Trouble::Changed) if is_restored(&step.target) => Ok(()),
            done => done,
        };
        self.done(&step.target.path, done);
    }

    fn done(&mut self, path: &PathBytes, done: Done) {
        self.failed |= done.is_err();
        self.outcomes.push((path.as_path().to_path_buf(), done.map_err(|trouble| trouble.of(path))));
    }
}

fn is_restored(target: &Target) -> bool {
    seen(target).is_ok_and(|seen| is_same(&seen.state, &target.want))
}

/// Makes sure that a place still is as it was when that was planned.
fn still(step: &Step, place: &DirEntryRef) -> Done {
    match (&step.seen.found, place.found()?) {
        (None, None) => Ok(()),
        (Some(planned), Some(found)) if found.is_still(planned) => Ok(()),
        _ => Err(Trouble::Changed),
    }
}

fn remove(step: &Step, objects: &Objects) -> Done {
    let place = match DirEntryRef::open(step.target.path.as_path()) {
        Err(Errno::NOENT) => return Ok(()),
        place => place?,
    };
    match still(step, &place) {
        Err(Trouble::Changed) if place.found()?.is_none() => return Ok(()),
        still => still?,
    }
    if let Some((was, source)) = &step.target.shared
        && was.inode.is_some()
        && step.now.inode == was.inode
    {
        write_in_place(step, &place, (was, source), objects)?;
    }
    Ok(place.remove(step.now.kind == Kind::Folder)?)
}

fn make_folder(step: &Step) -> Done {
    let place = DirEntryRef::make(step.target.path.as_path())?;
    still(step, &place)?;
    if !step.now.is_absent() {
        place.remove(false)?;
    }
    Ok(place.make_folder()?)
}

fn finish_folder(step: &Step) -> Done {
    let place = DirEntryRef::open(step.target.path.as_path())?;
    let (file, found) = place.folder()?;
    dress(&file, &found, &step.target.want)?;
    set_modified(step, &place)
}

fn set(step: &Step) -> Done {
    let want = &step.target.want;
    let place = DirEntryRef::open(step.target.path.as_path())?;
    still(step, &place)?;
    let Some(found) = place.found()? else { return Err(Trouble::Changed) };
    if found.kind != FileType::Symlink {
        let open = || if found.is_folder() { place.folder() } else { place.file(OFlags::RDONLY) };
        let opened = open().or_else(|error| match error {
            Errno::ACCESS => {
                // Only its owner can do this, who can read it then.
                place.set_mode(&found, found.mode | 0o600)?;
                open()
            }
            error => Err(error),
        });
        match opened {
            Ok((_, other)) if other.inode != found.inode => return Err(Trouble::Changed),
            Ok((file, found)) => dress(&file, &found, want)?,
            // Nothing but its mode can be known of it.
            Err(Errno::ACCESS) => place.set_mode(&found, allowed(&found, want.mode))?,
            Err(error) => return Err(error.into()),
        }
    }
    set_modified(step, &place)
}

/// When it was changed last; that is now, where it is not known.
fn set_modified(step: &Step, place: &DirEntryRef) -> Done {
    if step.target.known < Known::All { Ok(()) } else { Ok(place.set_modified(step.target.want.modified)?) }
}

/// The mode without the bits that let a program run as somebody else, unless that is us.
fn allowed(found: &FileInfo, mode: u32) -> u32 {
    if found.owner == geteuid().as_raw() { mode } else { mode & !SET_ID }
}

/// Gives a file or folder its attributes and mode.
fn dress(file: &File, found: &FileInfo, want: &State) -> Done {
    set_attributes(file, &want.attributes)?;
    // After them: some are changed with the mode, and writing to a file takes bits of it away.
    let mode = u16::try_from(allowed(found, want.mode) & 0o7777).unwrap_or_default();
    Ok(fchmod(file, Mode::from_bits_truncate(mode.into()))?)
}

fn write(step: &Step, objects: &Objects) -> Done {
    let place = DirEntryRef::make(step.target.path.as_path())?;
    if step.target.want.inode.is_some() && step.now.inode == step.target.want.inode {
        return write_in_place(step, &place, (&step.target.want, &step.target.source), objects);
    }
    let mut new = New::file(&place)?;
    let Some(file) = &mut new.file else { return Err(Trouble::Changed) };
    fill(file, &step.target.source, objects)?;
    keep_owner(file, step.seen.found.as_ref());
    dress(file, &FileInfo::of(file)?, &step.target.want)?;
    set_modified(step, &new.place)?;
    if !step.now.is_absent() {
        // What is replaced is gone for good: the new one must not be lost with the power.
        file.sync_data()?;
    }
    new.replace(step, &place)
}

/// Writes a content to a file, where it stands.
fn fill(file: &mut File, source: &Source, objects: &Objects) -> Done {
    match source {
        Source::Object(digest) => drop(objects.copy_to(digest, file)?),
        Source::Bytes(bytes) => file.write_all(bytes)?,
        Source::None => return Err(Trouble::Undo(UndoError::Gone { digest: "it was not saved".to_owned() })),
    }
    Ok(())
}

/// Whose the file was that is replaced, as far as the system lets us.
fn keep_owner(file: &File, replaced: Option<&FileInfo>) {
    let (Some(replaced), Ok(found)) = (replaced.filter(|found| found.is_file()), FileInfo::of(file)) else { return };
    if (found.owner, found.group) != (replaced.owner, replaced.group) {
        let _ = fchown(file, Some(Uid::from_raw(replaced.owner)), Some(Gid::from_raw(replaced.group)));
    }
}

/// Its other names stay names of the same file.
fn write_in_place(step: &Step, place: &DirEntryRef, (want, source): (&State, &Source), objects: &Objects) -> Done {
    if let Source::Object(digest) = source {
        objects.check(digest)?;
    }
    let (mut file, found) = place.file(OFlags::WRONLY)?;
    if !step.seen.found.is_some_and(|planned| found.is_still(&planned)) {
        return Err(Trouble::Changed);
    }
    file.set_len(0)?;
    fill(&mut file, source, objects)?;
    file.sync_data()?;
    dress(&file, &found, want)?;
    if step.target.known < Known::All { Ok(()) } else { Ok(place.set_modified(want.modified)?) }
}

fn link(step: &Step) -> Done {
    let Kind::Link { target } = &step.target.want.kind else { return Err(Trouble::Changed) };
    let place = DirEntryRef::make(step.target.path.as_path())?;
    let new = New::link(&place, target.as_path())?;
    set_modified(step, &new.place)?;
    new.replace(step, &place)
}

/// Something beside its place, which is gone again unless it is put there.
struct New {
    place: DirEntryRef,
    file: Option<File>,
    stays: bool,
}

impl New {
    /// The name is always the same for the same place, so that what a crash left goes the next time. Who writes it has it locked.
    fn beside(place: &DirEntryRef) -> At<DirEntryRef> {
        let name = hex(&Sha256::digest(place.name().as_bytes())[..8]);
        place.beside(&format!(".toolgate-undo-{name}"))
    }

    fn file(place: &DirEntryRef) -> At<Self> {
        let new = Self::beside(place)?;
        let file = match new.create() {
            Err(Errno::EXIST) => {
                let (left, _) = new.file(OFlags::RDONLY)?;
                flock(&left, FlockOperation::NonBlockingLockExclusive)?;
                new.remove(false)?;
                new.create()?
            }
            file => file?,
        };
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(New { place: new, file: Some(file), stays: false })
    }

    fn link(place: &DirEntryRef, target: &Path) -> At<Self> {
        let new = Self::beside(place)?;
        match new.link(target) {
            Err(Errno::EXIST) => {
                new.remove(false)?;
                new.link(target)?;
            }
            made => made?,
        }
        Ok(New { place: new, file: None, stays: false })
    }

    /// Puts it in the place of what is there, if that still is what it was.
    fn replace(mut self, step: &Step, place: &DirEntryRef) -> Done {
        if let Some(file) = &self.file
            && self.place.found()?.map(|found| found.inode) != Some(FileInfo::of(file)?.inode)
        {
            return Err(Trouble::Changed);
        }
        still(step, place)?;
        if step.is_in_the_way() {
            place.remove(true)?;
        }
        self.place.rename(place)?;
        self.stays = true;
        Ok(())
    }
}

impl Drop for New {
    fn drop(&mut self) {
        if !self.stays {
            let _ = self.place.remove(false);
        }
    }
}
