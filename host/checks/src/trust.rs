//! Which folders the user trusts, so that what is in them may run.
//!
//! The list is a private file of the user's. A folder on it stands for everything below it. It does not count while
//! others could put something there: if it, or one between it and the project, is another user's, or others may write
//! to it, or if others could put another in its place; a group that is the user's alone is nobody else. What is in the
//! folders above a trusted one, such as configuration in `/tmp`, counts for many tools, too: a folder is trusted with
//! what is above it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolgate_private::{PrivateError, PrivateFile, state_folder, writable_by_others};

/// The name of the list, in Toolgate's state folder.
const NAME: &str = "trusted-folders.json";

/// Why something of the project's does not run. Follows the tool's name and a colon.
pub(crate) const NOT_TRUSTED: &str = "not trusted: run \"toolgate lens trust\"";

/// Version of the list's format.
const SCHEMA: u32 = 1;

/// A folder that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Absolute, links resolved when it was added.
    pub path: PathBuf,
    /// When it was added, in seconds since 1970.
    pub since: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct List {
    schema: u32,
    folders: Vec<Folder>,
}

/// Why a folder is not trusted, or the list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The list is not private or cannot be read or written.
    #[error(transparent)]
    File(#[from] PrivateError),
    /// The list is not what was written.
    #[error("{path} is not a list of trusted folders: {why}")]
    List {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such folder.
    #[error("{path}: {error}")]
    Folder {
        /// As it was asked for.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The folder cannot be trusted, whatever the user says.
    #[error("{path} {why}")]
    Unfit {
        /// The folder.
        path: PathBuf,
        /// Ends a sentence that starts with the path.
        why: &'static str,
    },
    /// Others may write to a folder that they must not.
    #[error("{path} {why}; `chmod go-w` it")]
    Writable {
        /// The folder.
        path: PathBuf,
        /// Ends a sentence that starts with the path.
        why: &'static str,
    },
    /// Nobody said that it is trusted.
    #[error("{NOT_TRUSTED}")]
    Unknown,
}

/// The list of folders that are trusted.
#[derive(Clone, Debug)]
pub struct Trust {
    file: PrivateFile,
}

impl Trust {
    /// The user's. None if there is no place for it, because neither `XDG_STATE_HOME` nor `HOME` is set.
    pub fn of_user() -> Option<Self> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        Self::of_home(home.as_deref())
    }

    /// That of whoever has this home folder. None if there is no place for it.
    pub fn of_home(home: Option<&Path>) -> Option<Self> {
        Some(Self::at(&state_folder(home)?.join(NAME)))
    }

    /// The one in this file, which need not exist.
    pub fn at(path: &Path) -> Self {
        Trust { file: PrivateFile::new(path) }
    }

    /// The folders, in the order in which they were added.
    ///
    /// # Errors
    /// If the list cannot be used.
    pub fn list(&self) -> Result<Vec<Folder>, TrustError> {
        self.parsed(self.file.read()?.as_deref())
    }

    /// Trusts a folder and all below it. Its real path.
    ///
    /// # Errors
    /// If it cannot be trusted, or the list cannot be used.
    pub fn add(&self, folder: &Path) -> Result<PathBuf, TrustError> {
        let path = real(folder)?;
        fit(&path)?;
        stays(&path)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        self.change(|folders| {
            if folders.iter().all(|one| one.path != path) {
                folders.push(Folder { path: path.clone(), since });
            }
        })?;
        Ok(path)
    }

    /// Trusts a folder no more. Whether it was on the list: below one that is, it stays trusted.
    ///
    /// # Errors
    /// If the list cannot be used.
    pub fn remove(&self, folder: &Path) -> Result<bool, TrustError> {
        // A folder that is gone can be taken off by the name it had.
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let mut found = false;
        self.change(|folders| {
            found = folders.iter().any(|one| one.path == path);
            folders.retain(|one| one.path != path);
        })?;
        Ok(found)
    }

    /// Whether a folder is trusted.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn check(&self, folder: &Path) -> Result<(), TrustError> {
        let path = real(folder)?;
        let trusted = self.list()?.into_iter().find(|one| path.starts_with(&one.path)).ok_or(TrustError::Unknown)?;
        path.ancestors().take_while(|folder| folder.starts_with(&trusted.path)).try_for_each(fit)?;
        stays(&trusted.path)
    }

    fn parsed(&self, content: Option<&[u8]>) -> Result<Vec<Folder>, TrustError> {
        let Some(content) = content else { return Ok(Vec::new()) };
        let failed = |why: String| TrustError::List { path: self.file.path(), why };
        let list: List = serde_json::from_slice(content).map_err(|error| failed(error.to_string()))?;
        if list.schema != SCHEMA {
            return Err(failed(format!("its schema is {}, not {SCHEMA}", list.schema)));
        }
        Ok(list.folders)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Folder>)) -> Result<(), TrustError> {
        // What cannot be read is not replaced: it may be a newer version's.
        self.file.try_update(|content| {
            let mut folders = self.parsed(content)?;
            change(&mut folders);
            let list = List { schema: SCHEMA, folders };
            serde_json::to_vec_pretty(&list)
                .map_err(|error| TrustError::List { path: self.file.path(), why: error.to_string() })
        })
    }
}

fn real(folder: &Path) -> Result<PathBuf, TrustError> {
    folder.canonicalize().map_err(|error| TrustError::Folder { path: folder.to_path_buf(), error })
}

/// Whether nobody else decides which folder has this path: those above it are the user's or root's, and if others may write
/// to one, then what somebody else owns in it stays (`/tmp`).
fn stays(path: &Path) -> Result<(), TrustError> {
    for folder in path.ancestors().skip(1) {
        let found = folder.metadata().map_err(|error| TrustError::Folder { path: folder.to_path_buf(), error })?;
        let path = folder.to_path_buf();
        if found.uid() != 0 && found.uid() != rustix::process::geteuid().as_raw() {
            return Err(TrustError::Unfit { path, why: "belongs to another user" });
        }
        if found.mode() & 0o1000 == 0
            && let Some(why) = writable_by_others(&found)
        {
            return Err(TrustError::Writable { path, why });
        }
    }
    Ok(())
}

/// Whether nobody else decides what is in a folder.
fn fit(path: &Path) -> Result<(), TrustError> {
    let found = path.metadata().map_err(|error| TrustError::Folder { path: path.to_path_buf(), error })?;
    let unfit = |why| Err(TrustError::Unfit { path: path.to_path_buf(), why });
    // The list is text.
    if path.to_str().is_none() {
        return unfit("has a name that is not UTF-8");
    }
    if !found.is_dir() {
        return unfit("is not a folder");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return unfit("belongs to another user");
    }
    if let Some(why) = writable_by_others(&found) {
        return Err(TrustError::Writable { path: path.to_path_buf(), why });
    }
    if path.parent().is_none() {
        return unfit("is the filesystem root");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_stands_for_what_is_below_it() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        for folder in ["a/b/c", "ab", "open/in"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        std::os::unix::fs::symlink("a/b", at("link")).expect("a link");
        let trust = Trust::at(&at("state/trusted-folders.json"));
        assert!(trust.list().expect("empty").is_empty());
        trust.add(&at("link")).expect("added");
        trust.add(&at("a/b")).expect("once is enough");
        trust.add(&at("open")).expect("added");
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o777)).expect("its mode");
        let cases = [
            ("a/b", true),
            ("a/b/c", true),
            ("link/c", true),
            ("a", false),
            ("ab", false),
            ("open", false),
            ("open/in", false),
            ("none", false),
        ];
        for (folder, expected) in cases {
            assert_eq!(trust.check(&at(folder)).is_ok(), expected, "{folder}");
        }
        assert_eq!(trust.list().expect("two").len(), 2);
        assert!(!trust.remove(&at("a")).expect("no error"));
        assert!(trust.remove(&at("link")).expect("removed"));
        assert!(trust.check(&at("a/b")).is_err());
    }

    #[test]
    fn what_cannot_be_trusted_is_not_added() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        std::fs::create_dir(at("open")).expect("a folder");
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o777)).expect("its mode");
        std::fs::write(at("file"), "").expect("a file");
        let trust = Trust::at(&at("state/list.json"));
        for folder in [at("open"), at("file"), at("none"), PathBuf::from("/")] {
            assert!(trust.add(&folder).is_err(), "{}", folder.display());
        }
    }

    #[test]
    fn every_folder_on_the_way_counts() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        std::fs::create_dir_all(at("above/trusted/between/root")).expect("a folder");
        let trust = Trust::at(&at("state/list.json"));
        trust.add(&at("above/trusted")).expect("added");
        // Whether the group of new folders is the user's alone is up to the system.
        std::fs::set_permissions(at("above"), std::fs::Permissions::from_mode(0o775)).expect("its mode");
        let alone = writable_by_others(&at("above").metadata().expect("there")).is_none();
        let cases = [
            ("above", 0o777, false),
            ("above", 0o1777, true),
            ("above", 0o775, alone),
            ("above/trusted/between", 0o775, alone),
            ("above/trusted", 0o777, false),
            ("above/trusted", 0o1777, false),
            ("above/trusted/between", 0o777, false),
            ("above/trusted/between", 0o755, true),
            ("above/trusted/between/root", 0o777, false),
        ];
        for (folder, mode, expected) in cases {
            std::fs::set_permissions(at(folder), std::fs::Permissions::from_mode(mode)).expect("its mode");
            assert_eq!(trust.check(&at("above/trusted/between/root")).is_ok(), expected, "{folder} {mode:o}");
            assert_eq!(trust.add(&at("above/trusted")).is_ok(), expected || folder.contains("between"), "{folder}");
            std::fs::set_permissions(at(folder), std::fs::Permissions::from_mode(0o755)).expect("its mode");
        }
        // A group that is nobody's alone, where the system lets a folder be given to it.
        let between = at("above/trusted/between");
        if std::os::unix::fs::chown(&between, None, Some(65_432)).is_ok() {
            std::fs::set_permissions(&between, std::fs::Permissions::from_mode(0o775)).expect("its mode");
            let said = trust.check(&between).map_err(|error| error.to_string());
            let expected = "is writable by its group; `chmod go-w` it";
            assert!(said.is_err_and(|why| why.ends_with(expected)));
        }
    }

    #[test]
    fn a_name_that_is_no_text_leaves_the_list_as_it_is() {
        use std::os::unix::ffi::OsStrExt;
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let odd = scratch.path().join(std::ffi::OsStr::from_bytes(b"a\xff"));
        std::fs::create_dir_all(odd.join("in")).expect("a folder");
        let trust = Trust::at(&scratch.path().join("state/list.json"));
        trust.add(scratch.path()).expect("added");
        let before = trust.list().expect("one");
        for folder in [&odd, &odd.join("in")] {
            assert!(matches!(trust.add(folder), Err(TrustError::Unfit { .. })), "{}", folder.display());
        }
        assert!(!trust.remove(&odd).expect("it is not there"));
        assert_eq!(trust.list().expect("one"), before);
    }

    #[test]
    fn a_list_that_is_not_ours_trusts_nothing_and_is_kept() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("list.json");
        let whole = format!(r#"{{"schema":1,"folders":[{{"path":{:?},"since":1}}]}}"#, scratch.path());
        for (content, mode) in [("{", 0o600), (r#"{"schema":2,"folders":[]}"#, 0o600), (&*whole, 0o622)] {
            std::fs::write(&path, content).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
            let trust = Trust::at(&path);
            assert!(trust.check(scratch.path()).is_err(), "{content}");
            assert!(trust.add(scratch.path()).is_err(), "{content}");
            assert!(trust.remove(scratch.path()).is_err(), "{content}");
            assert_eq!(std::fs::read_to_string(&path).expect("still there"), content);
        }
    }
}
