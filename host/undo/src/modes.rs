//! The permissions of the files in a snapshot, of which git has only the right to execute.
//!
//! Nearly all files of a worktree have one of two modes, those that the user's umask gives. The list says which these are, and
//! names the files that have another one. It is stored once, whatever number of snapshots have it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::git::parts;

/// The bits that are permissions.
const PERMISSIONS: u32 = 0o7777;

/// The permissions of the files below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    /// Of most files that cannot be executed, and of most that can be.
    usual: [u32; 2],
    /// Those that have others, by their path relative to the root.
    others: BTreeMap<Vec<u8>, u32>,
}

impl Modes {
    /// Looks at all of these paths. One that is no file is not in the list.
    pub(crate) fn of(root: &Path, paths: &[Vec<u8>]) -> Self {
        let found: Vec<(&Vec<u8>, u32)> = paths.iter().filter_map(|path| Some((path, look(root, path)?))).collect();
        let usual = [false, true].map(|executable| {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for (_, mode) in found.iter().filter(|(_, mode)| is_executable(*mode) == executable) {
                *counts.entry(*mode).or_default() += 1;
            }
            let most = counts.into_iter().max_by_key(|(mode, count)| (*count, std::cmp::Reverse(*mode)));
            most.map_or(if executable { 0o755 } else { 0o644 }, |(mode, _)| mode)
        });
        let mut modes = Modes { usual, others: BTreeMap::new() };
        for (path, mode) in found {
            modes.set(path, mode);
        }
        modes
    }

    /// Looks at these paths again.
    pub(crate) fn update(&mut self, root: &Path, paths: &[Vec<u8>]) {
        for path in paths {
            self.others.remove(path);
            if let Some(mode) = look(root, path) {
                self.set(path, mode);
            }
        }
    }

    fn set(&mut self, path: &[u8], mode: u32) {
        if self.usual_like(mode) != mode {
            self.others.insert(path.to_vec(), mode);
        }
    }

    /// The usual permissions of a file that can be executed by its owner, or cannot, like one of this mode.
    fn usual_like(&self, mode: u32) -> u32 {
        let [plain, executable] = self.usual;
        if is_executable(mode) { executable } else { plain }
    }

    /// The permissions of a file that has this mode in git.
    pub(crate) fn get(&self, path: &[u8], mode: u32) -> u32 {
        let other = self.others.get(path).copied().filter(|other| is_executable(*other) == is_executable(mode));
        other.unwrap_or_else(|| self.usual_like(mode))
    }

    /// Whether a file that is as it was otherwise has other permissions now.
    pub(crate) fn differ(&self, root: &Path, path: &[u8]) -> bool {
        look(root, path).is_some_and(|mode| self.get(path, mode) != mode)
    }

    /// As it is stored: `PLAIN EXECUTABLE`, then `MODE PATH` for each, with a NUL behind each, modes in octal digits.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let [plain, executable] = self.usual;
        let mut text = format!("{plain:o} {executable:o}\0").into_bytes();
        for (path, mode) in &self.others {
            text.extend_from_slice(format!("{mode:o} ").as_bytes());
            text.extend_from_slice(path);
            text.push(0);
        }
        text
    }

    /// Reads what was stored; none if it is not that.
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        let mut parts = parts(text);
        let (plain, executable) = split(parts.next()?)?;
        let usual = [plain, mode(executable)?];
        let others = parts.map(|part| split(part).map(|(mode, path)| (path.to_vec(), mode))).collect::<Option<_>>()?;
        Some(Modes { usual, others })
    }
}

/// A mode and what follows it.
fn split(part: &[u8]) -> Option<(u32, &[u8])> {
    let space = part.iter().position(|byte| *byte == b' ')?;
    Some((mode(part.get(..space)?)?, part.get(space + 1..)?))
}

fn mode(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok().filter(|mode| *mode <= PERMISSIONS)
}

/// Whether git says of a file of this mode that it can be executed.
fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

/// The permissions of a file.
fn look(root: &Path, path: &[u8]) -> Option<u32> {
    let there = root.join(OsStr::from_bytes(path)).symlink_metadata();
    there.ok().filter(Metadata::is_file).map(|there| there.mode() & PERMISSIONS)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_most_files_have_is_told_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
            name.as_bytes().to_vec()
        };
        let names = ["a", "b", "c", "key", "run", "x\ny"];
        let paths: Vec<Vec<u8>> = names
            .into_iter()
            .zip([0o664, 0o664, 0o664, 0o600, 0o775, 0o4755])
            .map(|(name, mode)| put(name, mode))
            .collect();
        let mut modes = Modes::of(folder.path(), &paths);
        assert_eq!(String::from_utf8_lossy(&modes.encode()), "664 775\0600 key\04755 x\ny\0");
        assert_eq!(Modes::decode(&modes.encode()).as_ref(), Some(&modes));
        let cases: [(&str, u32, u32); 4] = [
            ("a", 0o100_644, 0o664),
            ("key", 0o100_644, 0o600),
            ("key", 0o100_755, 0o775),
            ("x\ny", 0o100_755, 0o4755),
        ];
        for (path, git, expected) in cases {
            assert_eq!(modes.get(path.as_bytes(), git), expected, "{path}");
        }
        put("key", 0o664);
        put("a", 0o640);
        assert!(modes.differ(folder.path(), b"a") && modes.differ(folder.path(), b"key"));
        modes.update(folder.path(), &paths);
        assert_eq!(String::from_utf8_lossy(&modes.encode()), "664 775\0640 a\04755 x\ny\0");
    }

    #[test]
    fn what_is_no_list_is_not_taken_for_one() {
        for text in ["", "644", "644 x\0", "644 755\0nonsense\0", "644 99999\0", "-1 755\0"] {
            assert_eq!(Modes::decode(text.as_bytes()), None, "{text:?}");
        }
    }
}
