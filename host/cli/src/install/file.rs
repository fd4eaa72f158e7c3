//! Changing a configuration file so that nothing is lost: the change appears at once or not at all, links stay links,
//! the mode stays, and what was there before stays beside it.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toolgate_host::private::read_regular;

use crate::{Failure, exit};

/// Largest configuration file that is read.
const LARGEST: u64 = 16 << 20;

/// What a backup's name has behind the file's own.
const BACKUP: &str = ".toolgate-backup";

/// Most backups that are kept of one file. None is ever overwritten.
const BACKUPS: u32 = 1_000;

/// A file with this mark at its start keeps it.
const MARK: &str = "\u{feff}";

/// A configuration file as it was when it was read, or that there is none.
pub(crate) struct File {
    /// Where the agent looks for it.
    pub(crate) path: PathBuf,
    /// Where it is, behind links.
    real: PathBuf,
    content: Option<Vec<u8>>,
}

impl File {
    /// Reads a file; that there is none is no error.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file, is too large, or is a link to nothing.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(
                exit::NO_INPUT,
                format!("{} cannot be read, and so nothing is changed: {error}", path.display()),
            )
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
    pub(crate) fn is_below(&self, folder: &Path) -> bool {
        let there = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
        match (there(&self.real), folder.canonicalize()) {
            (Some(real), Ok(folder)) => real.starts_with(folder),
            _ => false,
        }
    }

    pub(crate) fn exists(&self) -> bool {
        self.content.is_some()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.content.as_deref().unwrap_or_default()
    }

    /// Its text without a mark of the byte order; empty if there is no file.
    ///
    /// # Errors
    /// If it is no UTF-8.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        let text = std::str::from_utf8(self.bytes()).map_err(|_| {
            Failure::new(exit::DATA, format!("{} is not UTF-8 text, and so nothing is changed", self.path.display()))
        })?;
        Ok(text.strip_prefix(MARK).unwrap_or(text))
    }

    /// When it was last changed.
    pub(crate) fn changed(&self) -> Option<std::time::SystemTime> {
        fs::metadata(&self.real).ok()?.modified().ok()
    }

    /// The texts of the backups, the oldest first.
    pub(crate) fn backups(&self) -> impl Iterator<Item = String> {
        let contents = (1..=BACKUPS).map_while(|number| content(&self.backup_path(number)).ok().flatten());
        contents.filter_map(|content| {
            let text = String::from_utf8(content).ok()?;
            Some(text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text))
        })
    }

    /// Puts this text in the file's place. The answer is the backup that was made, if one was needed.
    ///
    /// # Errors
    /// If it cannot be written, or was changed by somebody since it was read. The file is then as it was.
    pub(crate) fn write(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let mark = if self.bytes().starts_with(MARK.as_bytes()) { MARK } else { "" };
        self.replace(|folder| {
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

    /// Removes the file. The answer is the backup that was made, if one was needed.
    ///
    /// # Errors
    /// As for [`File::write`].
    pub(crate) fn remove(&self) -> Result<Option<PathBuf>, Failure> {
        self.replace(|_| Ok(None))
    }

    fn replace(
        &self,
        make: impl FnOnce(&Path) -> io::Result<Option<tempfile::NamedTempFile>>,
    ) -> Result<Option<PathBuf>, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(exit::IO, format!("{} was not changed: {error}", self.path.display()))
        };
        let folder = self.real.parent().ok_or_else(|| failed(&"it is in no folder"))?;
        let next = make(folder).map_err(|error| failed(&error))?;
        let backup = self.back_up().map_err(|error| failed(&format!("no backup could be made: {error}")))?;
        if content(&self.real).map_err(|error| failed(&error))? != self.content {
            return Err(failed(&"somebody else has changed it just now; try again"));
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

    /// Keeps what is there now, unless it is kept already.
    fn back_up(&self) -> io::Result<Option<PathBuf>> {
        let Some(now) = &self.content else { return Ok(None) };
        for number in 1..=BACKUPS {
            let path = self.backup_path(number);
            match fs::File::create_new(&path) {
                Ok(mut file) => {
                    file.set_permissions(fs::metadata(&self.real)?.permissions())?;
                    file.write_all(now)?;
                    file.sync_all()?;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if content(&path).is_ok_and(|kept| kept.as_ref() == Some(now)) {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error),
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
