//! Finds git, and reads what it says.

use std::path::Path;

use toolgate_git::Git;

use crate::UndoError;
use crate::model::{Blob, CallRef};

/// The user's git, which no project brings: neither that of a folder, nor that of the call.
///
/// # Errors
/// If there is none.
pub(crate) fn find(folder: &Path, call: &CallRef) -> Result<Git, UndoError> {
    Ok(Git::find(&[folder, Path::new(&call.cwd), Path::new(&call.workspace)])?)
}

/// The parts of what git says with `-z`, without the empty one at the end.
pub(crate) fn parts(said: &[u8]) -> impl Iterator<Item = &[u8]> {
    said.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// How a path differs, as git says it with `--raw -z`.
pub(crate) struct Difference<'a> {
    /// The path.
    pub(crate) path: &'a [u8],
    /// What was there; none if nothing, or a submodule. Trees are said like this, too, where they are asked for.
    pub(crate) before: Option<Blob>,
    /// What is there.
    pub(crate) after: Option<Blob>,
}

/// Reads what `git diff-tree -r -z` and `git diff-index -z` say.
pub(crate) fn differences(said: &[u8]) -> impl Iterator<Item = Difference<'_>> {
    let mut parts = parts(said);
    std::iter::from_fn(move || {
        let (about, path) = (parts.next()?, parts.next()?);
        let mut fields = std::str::from_utf8(about).ok()?.strip_prefix(':')?.split(' ');
        let (old, new, before, after) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let blob = |mode: &str, id: &str| {
            let mode = u32::from_str_radix(mode, 8).ok().filter(|mode| !matches!(mode, 0 | 0o160_000))?;
            Some(Blob { mode, id: id.to_owned(), permissions: false })
        };
        Some(Difference { path, before: blob(old, before), after: blob(new, after) })
    })
}

/// Whether it is the id of an object.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
