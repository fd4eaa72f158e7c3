//! Changing a configuration file so that nothing is lost: the change appears at once or not at all, links stay links,
//! the mode stays, and what was there before stays beside it.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use toolgate_host::private::read_regular;

use crate::{Failure, exit};

/// Largest configuration file that is read.
const LARGEST: u64 = 16 << 20;

/// What a backup's name has behind the file's own.
const BACKUP: &str = ".toolgate-backup";

/// Most backups that are kept of one file. None is ever overwritten.
const BACKUPS: u32 = 1_000;

/// What a copy says that was made where there was no file, so that an older one is not taken for what was there last.
const NO_FILE: &str = "There was no file here before Toolgate created one.\n";

/// A file with this mark at its start keeps it.
const MARK: &str = "\u{feff}";

/// What is to become of a file.
pub enum Next {
    /// It stays as it is.
    Same,
    /// This text.
    Text(String),
    /// No file.
    Gone {
        /// Whether it is to the byte what is written again, so that no copy is kept.
        own: bool,
    },
}

/// A file that is not as it has to be, so that it was not changed.
pub fn unreadable(file: &File, error: &str) -> Failure {
    let message = format!("{} was not changed: {error}", file.path.display());
    Failure::new(exit::DATA, message)
}

/// A configuration file as it was when it was read, or that there is none.
pub struct File {
    /// Where the agent looks for it.
    pub path: PathBuf,
    /// Where it is, behind links.
    real: PathBuf,
    content: Option<Vec<u8>>,
}

impl File {
    /// Reads a file; that there is none is no error.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file, is too large, or is a link to nothing.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(exit::NO_INPUT, format!("{} cannot be read, so nothing was changed: {error}", path.display()))
        };
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    return Err(failed(&"it is a link to a file that does not exist"));
                }
                return Ok(File { path: path.to_owned(), real: path.to_owned(), content: None });
            }
            Err(error) => return Err(failed(&error)),
        };
        match content(&real) {
            Ok(content) => Ok(File { path: path.to_owned(), real, content }),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Whether it really is in a folder, or would be.
    pub fn is_below(&self, folder: &Path) -> bool {
        let there = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
        match (there(&self.real), folder.canonicalize()) {
            (Some(real), Ok(folder)) => real.starts_with(folder),
            _ => false,
        }
    }

    /// Whether there is one.
    pub fn exists(&self) -> bool {
        self.content.is_some()
    }

    /// What it holds; nothing if there is no file.
    pub fn bytes(&self) -> &[u8] {
        self.content.as_deref().unwrap_or_default()
    }

    /// Its text without a mark of the byte order; empty if there is no file.
    ///
    /// # Errors
    /// If it is no UTF-8.
    pub fn text(&self) -> Result<&str, Failure> {
        let text = std::str::from_utf8(self.bytes()).map_err(|_| {
            Failure::new(exit::DATA, format!("{} is not UTF-8 text, so nothing was changed", self.path.display()))
        })?;
        Ok(text.strip_prefix(MARK).unwrap_or(text))
    }

    /// When it was last changed.
    pub fn changed(&self) -> Option<SystemTime> {
        fs::metadata(&self.real).ok()?.modified().ok()
    }

    /// The backups, the newest first: the text of each, or none where there was no file. What cannot be read is left out.
    pub(crate) fn backups(&self) -> impl Iterator<Item = Option<String>> {
        let made = |number| fs::metadata(self.backup_path(number)).ok()?.modified().ok();
        let mut order: Vec<(SystemTime, u32)> =
            (1..=BACKUPS).filter_map(|number| Some((made(number)?, number))).collect();
        order.sort_by_key(|found| std::cmp::Reverse(*found));
        let mut texts = Vec::new();
        for (_, number) in order {
            let Ok(Some(content)) = content(&self.backup_path(number)) else { continue };
            let Ok(text) = String::from_utf8(content) else { continue };
            let text = text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text);
            texts.push((text != NO_FILE).then_some(text));
        }
        texts.into_iter()
    }

    /// Puts this text in the file's place. The answer is the backup that was made, if one was needed.
    ///
    /// # Errors
    /// If it cannot be written, or was changed by somebody since it was read. The file is then as it was.
    pub fn write(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let mark = if self.bytes().starts_with(MARK.as_bytes()) { MARK } else { "" };
        self.replace(true, |folder| {
            fs::create_dir_all(folder)?;
            // What a new file's mode is, the user's mask says.
            let permissions = Permissions::from_mode(0o666);
            let mut next =
                tempfile::Builder::new().prefix(".toolgate-").permissions(permissions).tempfile_in(folder)?;
            next.write_all(mark.as_bytes())?;
            next.write_all(text.as_bytes())?;
            if self.exists() {
                let before = fs::metadata(&self.real)?;
                let after = next.as_file().metadata()?;
                if (before.uid(), before.gid()) != (after.uid(), after.gid()) {
                    std::os::unix::fs::fchown(next.as_file(), Some(before.uid()), Some(before.gid()))?;
                }
                next.as_file().set_permissions(before.permissions())?;
            }
            next.as_file().sync_all()?;
            Ok(Some(next))
        })
    }

    /// Removes the file, of which a copy is kept or not. The answer is the backup that was made, if one was needed.
    ///
    /// # Errors
    /// As for [`File::write`].
    pub fn remove(&self, kept: bool) -> Result<Option<PathBuf>, Failure> {
        self.replace(kept, |_| Ok(None))
    }

    fn replace(
        &self,
        kept: bool,
        make: impl FnOnce(&Path) -> io::Result<Option<tempfile::NamedTempFile>>,
    ) -> Result<Option<PathBuf>, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(exit::IO, format!("{} was not changed: {error}", self.path.display()))
        };
        let folder = self.real.parent().ok_or_else(|| failed(&"it is in no folder"))?;
        let next = make(folder).map_err(|error| failed(&error))?;
        let backup = if kept { self.back_up() } else { Ok(None) };
        let backup = backup.map_err(|error| failed(&format!("no backup could be made: {error}")))?;
        if content(&self.real).map_err(|error| failed(&error))? != self.content {
            return Err(failed(&"another program just changed it; try again"));
        }
        match next {
            Some(next) => {
                next.persist(&self.real).map_err(|error| failed(&error.error))?;
            }
            None => fs::remove_file(&self.real).map_err(|error| failed(&error))?,
        }
        // So that the change outlives a power failure. It is there in any case.
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
        Ok(backup)
    }

    /// Keeps what is there now, unless it is kept already; beside older backups also that nothing is there. The newest
    /// backup is then always of what was there last. It is there as a whole or not at all.
    fn back_up(&self) -> io::Result<Option<PathBuf>> {
        let now = match &self.content {
            Some(now) => now.as_slice(),
            None if (1..=BACKUPS).any(|number| self.backup_path(number).exists()) => NO_FILE.as_bytes(),
            None => return Ok(None),
        };
        let folder = self.real.parent().ok_or_else(|| io::Error::other("it is in no folder"))?;
        let newest = |file: &fs::File| file.set_modified(SystemTime::now());
        for number in 1..=BACKUPS {
            let path = self.backup_path(number);
            let kept = content(&path).is_ok_and(|kept| kept.as_deref() == Some(now));
            if kept && fs::File::open(&path).and_then(|file| newest(&file)).is_ok() {
                return Ok(None);
            }
            if path.symlink_metadata().is_ok() {
                continue;
            }
            let mut copy = tempfile::Builder::new().prefix(".toolgate-").tempfile_in(folder)?;
            if self.exists() {
                copy.as_file().set_permissions(fs::metadata(&self.real)?.permissions())?;
            }
            copy.write_all(now)?;
            newest(copy.as_file())?;
            copy.as_file().sync_all()?;
            match copy.persist_noclobber(&path) {
                Ok(_) => return Ok(self.exists().then_some(path)),
                // Somebody else has made one of that name just now.
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.error),
            }
        }
        Err(io::Error::other("there are too many backups beside it"))
    }

    fn backup_path(&self, number: u32) -> PathBuf {
        let mut name = self.real.file_name().unwrap_or_default().to_owned();
        name.push(BACKUP);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        self.real.with_file_name(name)
    }
}

/// What a regular file holds; none if there is no file.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match read_regular(path, LARGEST) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is there before each of some installations, and the backups after the last, the newest first.
    #[test]
    fn the_newest_backup_is_of_what_was_there_last() {
        type Texts<'a> = &'a [Option<&'a str>];
        let cases: &[(Texts<'_>, Texts<'_>)] = &[
            (&[None], &[]),
            (&[Some("")], &[Some("")]),
            (&[Some("a"), Some("b")], &[Some("b"), Some("a")]),
            (&[Some("a"), Some("b"), Some("a")], &[Some("a"), Some("b")]),
            (&[Some("a"), None], &[None, Some("a")]),
            (&[Some("a"), None, Some("a"), None], &[None, Some("a")]),
            (&[Some("a"), None, Some("\u{feff}a")], &[Some("a"), None, Some("a")]),
        ];
        for (before, expected) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("settings.json");
            for text in *before {
                match text {
                    Some(text) => fs::write(&path, text).expect("written"),
                    None => drop(fs::remove_file(&path)),
                }
                File::read(&path).expect("read").write("ours").expect("written");
            }
            let found: Vec<Option<String>> = File::read(&path).expect("read").backups().collect();
            let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
            assert_eq!(found, *expected, "{before:?}");
        }
    }

    #[test]
    fn a_backup_is_there_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        fs::write(&path, "{}").expect("written");
        let file = File::read(&path).expect("read");
        // Somebody changes it meanwhile: what is kept is what was read, and what is there stays.
        fs::write(&path, "{\"a\": 1}").expect("written");
        assert!(file.write("ours").is_err());
        let names = || {
            let mut names: Vec<_> = fs::read_dir(folder.path())
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["settings.json", "settings.json.toolgate-backup"]);
        assert_eq!(fs::read_to_string(&path).expect("read"), "{\"a\": 1}");
        let file = File::read(&path).expect("read");
        assert_eq!(file.remove(false).expect("removed"), None);
        assert_eq!(names(), ["settings.json.toolgate-backup"]);
    }
}
