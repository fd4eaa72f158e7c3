//! The last version of each rule file that could be used, so that a typing error does not switch rules off.
//!
//! Copies lie in the user's state folder, one for each path, and are trusted only if they are the user's alone. What
//! is in a file is none of this module's business: whoever started a component with it knows whether it could be used.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use toolgate_private::{PrivateError, PrivateFile, state_folder};

use crate::Digest;

/// Copies of rule files.
///
/// ```no_run
/// use std::path::Path;
/// use toolgate_host::last_good::LastGood;
///
/// # fn example() -> Result<(), toolgate_host::PrivateError> {
/// let copies = LastGood::in_folder("/home/dev/.local/state/mine/rules");
/// copies.keep(Path::new("/home/dev/project/toolgate.yaml"), b"bashToolPatterns: []")?;
/// assert!(copies.content(Path::new("/home/dev/project/toolgate.yaml"))?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LastGood {
    folder: PathBuf,
}

impl LastGood {
    /// Those of the user with this home folder; none if there is no telling where they are.
    pub fn of_user(home: Option<&Path>) -> Option<Self> {
        state_folder(home).map(|state| LastGood { folder: state.join("rules") })
    }

    /// Those in this folder. It need not exist.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        LastGood { folder: folder.into() }
    }

    fn file(&self, path: &Path) -> PrivateFile {
        let name = Digest::of(path.as_os_str().as_bytes()).sha256;
        PrivateFile::new(&self.folder.join(name + ".yaml"))
    }

    /// Where the copy of the file at this path is or would be.
    pub fn place(&self, path: &Path) -> PathBuf {
        self.file(path).path()
    }

    /// What the file at this path held when it could last be used, if that is known.
    ///
    /// # Errors
    /// If somebody else may have written the copy, or it cannot be read.
    pub fn content(&self, path: &Path) -> Result<Option<Vec<u8>>, PrivateError> {
        self.file(path).read()
    }

    /// Remembers that the file at this path can be used with this content. It costs one look if that is known already.
    ///
    /// # Errors
    /// If the copy cannot be written.
    pub fn keep(&self, path: &Path, content: &[u8]) -> Result<(), PrivateError> {
        let file = self.file(path);
        // A copy that cannot be trusted is not compared with either; `update` says what is wrong with it.
        if file.read().is_ok_and(|known| known.as_deref() == Some(content)) {
            return Ok(());
        }
        file.update(|_| content.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_copy_is_taken_back_only_if_it_is_the_users_alone() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let copies = LastGood::in_folder(scratch.path().join("state/rules"));
        let (one, other) = (Path::new("/a/rules.yaml"), Path::new("/b/rules.yaml"));
        assert_eq!(copies.content(one).expect("readable"), None);
        copies.keep(one, b"first").expect("kept");
        copies.keep(one, b"second").expect("kept");
        copies.keep(other, b"other").expect("kept");
        assert_eq!(copies.content(one).expect("readable").as_deref(), Some(&b"second"[..]));
        assert_eq!(copies.content(other).expect("readable").as_deref(), Some(&b"other"[..]));
        let place = copies.place(one);
        let mode = |mode| std::fs::set_permissions(&place, PermissionsExt::from_mode(mode)).expect("a mode");
        assert_eq!(std::fs::metadata(&place).expect("there").permissions().mode() & 0o777, 0o600);
        mode(0o644);
        assert!(copies.content(one).is_err());
        mode(0o600);
        assert!(copies.content(one).is_ok());
        std::fs::rename(&place, scratch.path().join("moved")).expect("moved");
        symlink(scratch.path().join("moved"), &place).expect("a link");
        assert!(copies.content(one).is_err() && copies.keep(one, b"third").is_err());
    }
}
