//! Whether what was read of the store can be what was written to it.
//!
//! Whoever can write to the store can have files of the user's replaced by others, which they could do themselves. What is kept
//! off is that a damaged or forged entry leads anywhere but to the paths that a person is shown, or stops the program.

use std::collections::HashSet;
use std::path::Path;

use crate::model::{After, Blob, Entry, History, Item, Kind, PathBytes, SCHEMA, Snapshot, State, unhex};
use crate::nofollow::is_plain;
use crate::objects::is_digest;
use crate::store::is_id;

/// Latest time, in milliseconds: what eleven hexadecimal digits hold.
const LATEST: u64 = 1 << 44;

/// Most bytes of where a link leads. Linux has no longer ones.
const TARGET: usize = 4_096;

type Valid = Result<(), String>;

/// Whether an entry can be the one of this id.
pub(super) fn entry(entry: &Entry, id: &str) -> Valid {
    schema(entry.schema)?;
    ensure(entry.id == id && is_id(id), || format!("its id is `{}`", entry.id))?;
    ensure(entry.time < LATEST, || format!("{} is not a time", entry.time))?;
    let mut paths = HashSet::new();
    for item in &entry.items {
        ensure(paths.insert(item.path.as_path()), || format!("{} is there twice", item.path.as_path().display()))?;
        self::item(item)?;
    }
    entry.histories.iter().try_for_each(history)?;
    entry.snapshots.iter().try_for_each(snapshot)?;
    entry.undoes.iter().try_for_each(|id| ensure(is_id(id), || format!("`{id}` is not an id")))
}

/// Whether this can be what was there after a call.
pub(super) fn after(after: &After) -> Valid {
    schema(after.schema)?;
    ensure(after.time < LATEST, || format!("{} is not a time", after.time))?;
    after.states.iter().try_for_each(state)?;
    for (path, made) in &after.made {
        self::path(path)?;
        state(made)?;
    }
    after.histories.iter().flatten().try_for_each(history)?;
    for touched in after.touched.iter().flatten().flatten() {
        path(&touched.path)?;
        state(&touched.after)?;
        touched.before.as_ref().map_or(Ok(()), blob)?;
    }
    after.changed.iter().try_for_each(|(changed, _)| path(changed))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Valid {
    if holds { Ok(()) } else { Err(why()) }
}

fn schema(schema: u32) -> Valid {
    ensure(schema == SCHEMA, || format!("it is of format {schema}"))
}

fn path(path: &PathBytes) -> Valid {
    ensure(is_plain(path.as_path()), || format!("{:?} is not an absolute path without `..`", path.as_path()))
}

fn item(item: &Item) -> Valid {
    path(&item.path)?;
    state(&item.before)?;
    let content = !matches!(item.before.kind, Kind::File { content: None, .. });
    ensure(content || !item.saved, || format!("{} has no content", item.path.as_path().display()))
}

fn state(state: &State) -> Valid {
    ensure(state.mode <= 0o7777, || format!("{:o} is not a mode", state.mode))?;
    ensure(state.modified.1 < 1_000_000_000, || format!("{} is not a number of nanoseconds", state.modified.1))?;
    for (name, value) in &state.attributes {
        let named = unhex(name).is_some_and(|name| !name.is_empty() && !name.contains(&0));
        ensure(named && unhex(value).is_some(), || "an attribute is not in hexadecimal digits".to_owned())?;
    }
    match &state.kind {
        Kind::File { length, content } => {
            ensure(i64::try_from(*length).is_ok(), || format!("{length} is not a length"))?;
            content.as_deref().map_or(Ok(()), digest)
        }
        Kind::Link { target } => ensure(is_target(target.as_path()), || "a link leads nowhere".to_owned()),
        Kind::Absent | Kind::Folder | Kind::Special => Ok(()),
    }
}

fn is_target(target: &Path) -> bool {
    let bytes = target.as_os_str().as_encoded_bytes();
    !bytes.is_empty() && bytes.len() <= TARGET && !bytes.contains(&0)
}

fn digest(text: &str) -> Valid {
    ensure(is_digest(text), || format!("`{text}` is not a sha256"))
}

fn history(history: &History) -> Valid {
    path(&history.repository)?;
    path(&history.git_dir)?;
    history.worktree.as_ref().map_or(Ok(()), path)?;
    let head = history.head.strip_prefix("ref: ").map_or_else(|| object(&history.head), name);
    head?;
    for (ref_name, value) in &history.refs {
        name(ref_name)?;
        value.strip_prefix("ref: ").map_or_else(|| object(value), name)?;
    }
    history.stash.iter().try_for_each(|(id, _)| object(id))?;
    history.index.as_deref().map_or(Ok(()), digest)
}

fn snapshot(snapshot: &Snapshot) -> Valid {
    path(&snapshot.root)?;
    snapshot.modes.as_deref().map_or(Ok(()), digest)?;
    object(&snapshot.tree)
}

fn blob(blob: &Blob) -> Valid {
    let is_known =
        |mode| [0o100_644, 0o100_755, 0o120_000].contains(&mode) || blob.permissions && mode & !0o7777 == 0o100_000;
    ensure(is_known(blob.mode), || format!("{:o} is not a mode of git's", blob.mode))?;
    object(&blob.id)
}

/// A ref's name, as far as it could be taken for something else: git itself looks at it closely.
fn name(name: &str) -> Valid {
    let odd = |char: char| char.is_ascii_control() || " ~^:?*[\\".contains(char);
    let fit = !name.is_empty() && !name.starts_with(['-', '/']) && !name.contains("..") && !name.contains(odd);
    ensure(fit, || format!("{name:?} is not the name of a ref"))
}

/// The id of an object of git's.
fn object(id: &str) -> Valid {
    let digits = id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    ensure(digits && [40, 64].contains(&id.len()), || format!("{id:?} is not the id of an object"))
}
