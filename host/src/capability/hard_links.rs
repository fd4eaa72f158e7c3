//! Which other name a file has that Toolgate or the user relies on: a hard link is the same file, whatever it is called.
//!
//! The kernel does not tell the names of a file. They are looked for where it matters: among Toolgate's own files, and
//! among the hidden files of the home folder and of the project, where settings of agents, shells and git are. It is only
//! looked where a file has more than one name, which is rare. A name elsewhere is not found, nor one in
//! a home folder with more hidden entries than are looked at.

use std::fs::{DirEntry, Metadata, read_dir};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Most entries of folders that are looked at for one call of a component. Reading this many names takes a few milliseconds.
const ENTRIES: usize = 8_192;

/// How many levels of folders below a hidden one, or one of Toolgate's own, are looked at: `~/.config/NAME/FILE`.
const LEVELS: usize = 2;

/// Hidden folders in which programs keep hard links of their own, as package managers do in their caches.
const CACHES: &[&str] = &[".cache", ".npm", ".cargo", ".rustup", ".bun", ".venv"];

/// How many entries may still be looked at.
pub(super) struct Entries(usize);

impl Default for Entries {
    fn default() -> Self {
        Entries(ENTRIES)
    }
}

/// Where the names are looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownNames {
    /// Files, and folders with all that is in them.
    own: Vec<PathBuf>,
    /// Folders whose hidden files and folders count.
    hidden: Vec<PathBuf>,
}

impl KnownNames {
    pub(super) fn new(own: Vec<PathBuf>, hidden: Vec<PathBuf>) -> Self {
        KnownNames { own, hidden }
    }

    /// Another name of the file at this path, which has no links in it. `None` if it has only this one, or none of the others
    /// is where names are looked for.
    pub(super) fn of(&self, path: &Path, left: &mut Entries) -> Option<PathBuf> {
        if self.own.is_empty() && self.hidden.is_empty() {
            return None;
        }
        let file = path.symlink_metadata().ok().filter(|file| file.is_file() && file.nlink() > 1)?;
        let mut search = Search { path, file, left };
        let own = self.own.iter().find_map(|own| search.at(own).or_else(|| search.below(own, LEVELS, &|_| true)));
        own.or_else(|| self.hidden.iter().find_map(|folder| search.below(folder, LEVELS + 1, &is_hidden)))
    }
}

/// Whether an entry of a folder is hidden and no cache.
fn is_hidden(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    name.to_str().is_none_or(|name| name.starts_with('.') && !CACHES.contains(&name))
}

struct Search<'s> {
    path: &'s Path,
    file: Metadata,
    left: &'s mut Entries,
}

impl Search<'_> {
    fn at(&self, other: &Path) -> Option<PathBuf> {
        let same = |found: &Metadata| found.ino() == self.file.ino() && found.dev() == self.file.dev();
        other.symlink_metadata().ok().filter(|found| found.is_file() && same(found))?;
        (other != self.path).then(|| other.to_path_buf())
    }

    /// The files first, so that those close by do not wait for what is in large folders.
    fn below(&mut self, folder: &Path, levels: usize, counts: &dyn Fn(&DirEntry) -> bool) -> Option<PathBuf> {
        let levels = levels.checked_sub(1)?;
        let mut folders = Vec::new();
        for entry in read_dir(folder).ok()?.filter_map(Result::ok).filter(counts) {
            self.left.0 = self.left.0.checked_sub(1)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if entry.ino() == self.file.ino()
                && let Some(found) = self.at(&entry.path())
            {
                return Some(found);
            }
        }
        folders.iter().find_map(|folder| self.below(folder, levels, &|_| true))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, hard_link, write};

    use super::*;

    #[test]
    fn a_hard_link_is_told_by_its_other_name() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path().canonicalize().expect("its real path");
        let at = |path: &str| root.join(path);
        for path in ["home/.config/toolgate/rules", "home/.bashrc", "home/notes", "home/.cache/a/b", "work/.git/config"]
        {
            create_dir_all(at(path).parent().expect("a folder")).expect("a folder");
            write(at(path), path).expect("a file");
        }
        let names = KnownNames::new(vec![at("home/.config/toolgate")], vec![at("home"), at("work")]);
        let of = |path: &Path| names.of(path, &mut Entries::default());
        let cases = [
            ("home/.config/toolgate/rules", Some("home/.config/toolgate/rules")),
            ("home/.bashrc", Some("home/.bashrc")),
            ("work/.git/config", Some("work/.git/config")),
            // A name where nothing is kept; a name in a cache.
            ("home/notes", None),
            ("home/.cache/a/b", None),
        ];
        for (number, (path, expected)) in cases.into_iter().enumerate() {
            let link = at(&format!("work/link-{number}"));
            assert_eq!(of(&at(path)), None, "{path} has one name");
            hard_link(at(path), &link).expect("a hard link");
            assert_eq!(of(&link), expected.map(at), "{path}");
        }
        assert_eq!(names.of(&at("work/link-0"), &mut Entries(0)), None, "nothing more may be looked at");
        assert_eq!(of(&at("none")), None);
        assert_eq!(KnownNames::default().of(&at("work/link-0"), &mut Entries::default()), None);
    }
}
