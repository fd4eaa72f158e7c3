//! The permissions of the files in a snapshot, and of the folders that they are in. Git has only the right to execute.
//!
//! Nearly all files of a worktree have one of two modes and all folders one, those that the user's umask gives. The list says which
//! these are, and names what has another one. It is stored once, whatever number of snapshots have it. A path is one of a folder if
//! it ends in a slash.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use crate::git::parts;
use crate::nofollow::permissions;

/// The permissions of the files and folders below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    /// Of most files that cannot be executed, of most that can be, and of most folders.
    usual: [u32; 3],
    /// Those that have others, by their path relative to the root.
    others: BTreeMap<Vec<u8>, u32>,
}

/// Which of the usual modes is that of a path.
fn class(path: &[u8], mode: u32) -> usize {
    if is_folder(path) { 2 } else { usize::from(is_executable(mode)) }
}

impl Modes {
    /// Looks at all of these paths, and says which files among them were changed so recently that git would not see another change.
    pub(crate) fn of<'a>(root: &Path, paths: impl Iterator<Item = &'a Vec<u8>>) -> (Self, Vec<Vec<u8>>) {
        let mut recent = Vec::new();
        let found: Vec<(&Vec<u8>, u32)> =
            paths.filter_map(|path| Some((path, look(root, path, &mut recent)?))).collect();
        let mut counts: [BTreeMap<u32, usize>; 3] = Default::default();
        for (path, mode) in &found {
            *counts[class(path, *mode)].entry(*mode).or_default() += 1;
        }
        let most = |counts: &BTreeMap<u32, usize>| {
            counts.iter().max_by_key(|(mode, count)| (**count, std::cmp::Reverse(**mode))).map(|(mode, _)| *mode)
        };
        let [plain, executable, folder] = counts.each_ref().map(most);
        let usual = [plain.unwrap_or(0o644), executable.unwrap_or(0o755), folder.unwrap_or(0o755)];
        let mut modes = Modes { usual, others: BTreeMap::new() };
        for (path, mode) in found {
            modes.set(path, mode);
        }
        (modes, recent)
    }

    /// The same for these paths alone.
    pub(crate) fn update<'a>(&mut self, root: &Path, paths: impl Iterator<Item = &'a Vec<u8>>) -> Vec<Vec<u8>> {
        let mut recent = Vec::new();
        for path in paths {
            self.others.remove(path);
            if let Some(mode) = look(root, path, &mut recent) {
                self.set(path, mode);
            }
        }
        recent
    }

    fn set(&mut self, path: &[u8], mode: u32) {
        if self.usual[class(path, mode)] != mode {
            self.others.insert(path.to_vec(), mode);
        }
    }

    /// The permissions of a file that has this mode in git.
    pub(crate) fn get(&self, path: &[u8], mode: u32) -> u32 {
        let other = self.others.get(path).copied().filter(|other| is_executable(*other) == is_executable(mode));
        other.unwrap_or(self.usual[class(path, mode)])
    }

    /// The permissions of a folder.
    pub(crate) fn folder(&self, path: &[u8]) -> u32 {
        let [_, _, usual] = self.usual;
        self.others.get(&[path, b"/"].concat()).copied().unwrap_or(usual)
    }

    /// Whether most files and folders have the same modes as in another list.
    pub(crate) fn has_usual_of(&self, other: &Self) -> bool {
        self.usual == other.usual
    }

    /// The files that have other permissions than most.
    pub(crate) fn unusual(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.others.keys().filter(|path| !is_folder(path))
    }

    /// Whether a file that is as it was otherwise has other permissions now.
    pub(crate) fn differ(&self, root: &Path, path: &[u8]) -> bool {
        look(root, path, &mut Vec::new()).is_some_and(|mode| self.get(path, mode) != mode)
    }

    /// As it is stored: `PLAIN EXECUTABLE FOLDER`, then `MODE PATH` for each, with a NUL behind each, modes in octal digits.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let [plain, executable, folder] = self.usual;
        let mut text = format!("{plain:o} {executable:o} {folder:o}\0").into_bytes();
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
        let (plain, rest) = split(parts.next()?)?;
        let (executable, folder) = split(rest)?;
        let usual = [plain, executable, mode(folder)?];
        let others = parts.map(|part| split(part).map(|(mode, path)| (path.to_vec(), mode))).collect::<Option<_>>()?;
        Some(Modes { usual, others })
    }
}

/// The folders that these files are in, below the root.
pub(crate) fn folders_of<'a>(paths: impl Iterator<Item = &'a Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let mut folders = BTreeSet::new();
    for path in paths {
        for (at, _) in path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/') {
            if !folders.insert(path[..=at].to_vec()) {
                break;
            }
        }
    }
    folders
}

/// A mode and what follows it.
fn split(part: &[u8]) -> Option<(u32, &[u8])> {
    let space = part.iter().position(|byte| *byte == b' ')?;
    Some((mode(part.get(..space)?)?, part.get(space + 1..)?))
}

fn mode(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok().filter(|mode| *mode <= 0o7777)
}

/// Whether git says of a file of this mode that it can be executed.
fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

fn is_folder(path: &[u8]) -> bool {
    path.ends_with(b"/")
}

/// The permissions of a file or folder.
fn look(root: &Path, path: &[u8], recent: &mut Vec<Vec<u8>>) -> Option<u32> {
    // With its slash the path of a link would be that of a folder.
    let name = path.strip_suffix(b"/").unwrap_or(path);
    let there = root.join(OsStr::from_bytes(name)).symlink_metadata().ok()?;
    if is_folder(path) {
        return there.is_dir().then(|| there.mode() & 0o7777);
    }
    if is_recent(&there) {
        recent.push(path.to_vec());
    }
    there.is_file().then(|| permissions(there.mode(), there.uid(), there.gid()))
}

/// Whether it was changed in this second or the one before: git, which counts seconds, takes what is changed once more in it for
/// unchanged.
pub(crate) fn is_recent(there: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    u64::try_from(there.ctime()).is_ok_and(|changed| changed + 1 >= now)
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
        let mut paths: Vec<Vec<u8>> = names
            .into_iter()
            .zip([0o664, 0o664, 0o664, 0o600, 0o775, 0o4755])
            .map(|(name, mode)| put(name, mode))
            .collect();
        let text = |modes: &Modes| String::from_utf8_lossy(&modes.encode()).replace('\0', "|");
        let (mut modes, recent) = Modes::of(folder.path(), paths.iter());
        assert_eq!(recent, paths);
        assert_eq!(text(&modes), "664 775 755|600 key|4755 x\ny|");
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
        std::fs::create_dir(folder.path().join("d")).expect("a folder");
        std::fs::set_permissions(folder.path().join("d"), std::fs::Permissions::from_mode(0o2770)).expect("a mode");
        std::os::unix::fs::symlink("d", folder.path().join("l")).expect("a link");
        paths.extend([b"d/".to_vec(), b"l/".to_vec()]);
        assert!(modes.differ(folder.path(), b"a") && modes.differ(folder.path(), b"key"));
        modes.update(folder.path(), paths.iter());
        assert_eq!(text(&modes), "664 775 755|640 a|2770 d/|4755 x\ny|");
        assert_eq!((modes.folder(b"d"), modes.folder(b"l")), (0o2770, 0o755));
    }

    #[test]
    fn folders_are_those_that_files_are_in() {
        let paths = ["a/b/c", "a/b/d", "e", "a/f/g"].map(|path| path.as_bytes().to_vec());
        assert_eq!(folders_of(paths.iter()), ["a/", "a/b/", "a/f/"].map(|path| path.as_bytes().to_vec()).into());
    }

    #[test]
    fn what_is_no_list_is_not_taken_for_one() {
        for text in ["", "644|", "644 755|", "644 x 755|", "644 755 755|nonsense|", "644 99999 755|", "-1 755 755|"] {
            assert_eq!(Modes::decode(text.replace('|', "\0").as_bytes()), None, "{text:?}");
        }
    }
}
