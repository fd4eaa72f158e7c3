//! `files`, narrowed to some folders.
//!
//! What counts is where a path really leads: links and `..` are followed first, and of a path that is not there, its
//! nearest existing ancestor. Between that and the look itself a folder may be replaced by a link, so what was opened is
//! asked once more where it is, and only then looked at. A file with a second name in a granted folder is in that folder.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::blocking::apart;
use super::files::{few, file_stat, missing, not_regular, resolve, script_in};
use super::{Answer, ConfigFile, FileStat, Files, RealPath, Refuse};
use crate::CapabilityError;
use crate::capability::Capability;
use crate::capability::FileKind;

/// The local file system below some folders. Configuration files the host chooses itself, so they are not narrowed.
pub(crate) struct Narrowed<R> {
    config: Arc<dyn Files>,
    folders: Folders,
    refuse: R,
}

impl<R: Refuse> Narrowed<R> {
    /// Configuration files come from `config`.
    pub(crate) fn new(config: Arc<dyn Files>, folders: &[PathBuf], refuse: R) -> Self {
        Narrowed { config, folders: Folders(folders.to_vec()), refuse }
    }

    /// Looks on a thread of its own, and tells of a path that is outside.
    async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folders) -> Result<T, Refused> + Send + 'static,
    ) -> Answer<T> {
        let folders = self.folders.clone();
        apart(move || work(&folders)).await?.map_err(|refused| match refused {
            Refused::Outside(path) => {
                let path = path.display().to_string();
                self.refuse.refused(Capability::Files, &path);
                CapabilityError::Denied(format!("{path} is outside the folders granted to this component"))
            }
            Refused::Other(error) => error,
        })
    }
}

#[async_trait]
impl<R: Refuse> Files for Narrowed<R> {
    async fn stat(&self, paths: Vec<String>) -> Answer<Vec<Option<FileStat>>> {
        few(&paths)?;
        self.look(move |folders| paths.iter().map(|path| folders.stat(Path::new(path))).collect()).await
    }

    async fn resolve(&self, paths: Vec<String>) -> Answer<Vec<Option<RealPath>>> {
        few(&paths)?;
        self.look(move |folders| paths.iter().map(|path| folders.resolve(Path::new(path))).collect()).await
    }

    async fn read_config(&self, name: String) -> Answer<Vec<ConfigFile>> {
        self.config.read_config(name).await
    }

    async fn read_script(&self, path: String) -> Answer<String> {
        self.look(move |folders| folders.read_script(Path::new(&path))).await
    }
}

/// Why there is no answer.
#[derive(Debug, PartialEq)]
enum Refused {
    /// The path leads out of the folders.
    Outside(PathBuf),
    /// It does not, and something else is wrong.
    Other(CapabilityError),
}

impl From<CapabilityError> for Refused {
    fn from(error: CapabilityError) -> Self {
        Refused::Other(error)
    }
}

/// Folders, absolute and without links. One that became a link since matches nothing.
#[derive(Clone, Debug)]
struct Folders(Vec<PathBuf>);

impl Folders {
    fn contain(&self, real: &Path) -> bool {
        self.0.iter().any(|folder| real.starts_with(folder))
    }

    /// Where an absolute path leads, and whether it exists. A path of which that cannot be told is outside.
    fn place(&self, path: &Path) -> Result<RealPath, Refused> {
        let real = path.is_absolute().then(|| resolve(path)).flatten();
        real.filter(|real| self.contain(Path::new(&real.path))).ok_or_else(|| Refused::Outside(path.to_path_buf()))
    }

    fn resolve(&self, path: &Path) -> Result<Option<RealPath>, Refused> {
        self.place(path).map(Some)
    }

    /// Links at the end are not followed, so where one stands counts and not where it leads.
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Refused> {
        let outside = || Refused::Outside(path.to_path_buf());
        let entry = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if path.is_absolute() => {
                PathBuf::from(resolve(parent).ok_or_else(outside)?.path).join(name)
            }
            _ => self.place(path)?.path.into(),
        };
        if !self.contain(&entry) {
            return Err(outside());
        }
        match self.open(&entry) {
            Ok(Some(found)) => Ok(Some(file_stat(&found.metadata().map_err(missing)?))),
            Ok(None) => Err(outside()),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(_) => Ok(Some(FileStat { kind: FileKind::Hidden, size: 0, modified: 0 })),
        }
    }

    fn read_script(&self, path: &Path) -> Result<String, Refused> {
        let real = self.place(path)?;
        let found = self.open(Path::new(&real.path)).map_err(|error| missing(error.into()))?;
        let found = found.ok_or_else(|| Refused::Outside(path.to_path_buf()))?;
        if !found.metadata().map_err(missing)?.is_file() {
            return Err(not_regular().into());
        }
        Ok(script_in(&readable(&found, &real.path).map_err(missing)?)?)
    }

    /// Opens what a resolved path names now, for looking at it. None if that is outside.
    fn open(&self, real: &Path) -> Result<Option<File>, Errno> {
        let fd = rustix::fs::open(real, LOOK | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let place = place_of(&fd)?;
        Ok(self.contain(&place).then(|| fd.into()))
    }
}

/// Opens a file without the right to read it, and without waiting for whoever is at the other end of a pipe.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::NONBLOCK.union(OFlags::SYMLINK);

/// Where something open is now.
#[cfg(target_os = "linux")]
fn place_of(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = rustix::fs::readlink(in_proc(fd), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(link.into_bytes())))
}

#[cfg(not(target_os = "linux"))]
fn place_of(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let path = rustix::fs::getpath(fd)?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
}

/// The same file, for reading.
#[cfg(target_os = "linux")]
fn readable(found: &File, _real: &str) -> std::io::Result<File> {
    File::open(in_proc(found))
}

#[cfg(not(target_os = "linux"))]
fn readable(found: &File, _real: &str) -> std::io::Result<File> {
    found.try_clone()
}

#[cfg(target_os = "linux")]
fn in_proc(fd: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::CWD;

    use super::*;

    /// A granted folder with much in it that leads out, and one beside it that is not granted.
    fn scratch() -> (tempfile::TempDir, PathBuf, Folders) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path().canonicalize().expect("its real path");
        for path in ["in/deep/er", "in-beside", "out"] {
            std::fs::create_dir_all(root.join(path)).expect("a folder");
        }
        for path in ["in/script", "in/deep/er/script", "in-beside/script", "out/script"] {
            std::fs::write(root.join(path), path).expect("a file");
        }
        let links = [
            ("in/to-out", "../out"),
            ("in/to-script", "../out/script"),
            ("in/to-self", "to-self"),
            ("in/to-nothing", "../out/nothing"),
            ("in/to-new", "deep/new"),
            ("in/to-deep", "deep/er"),
            ("in/hop", "to-out"),
            ("in/absolute", "/etc"),
            ("out/back", "../in"),
        ];
        for (link, target) in links {
            symlink(target, root.join(link)).expect("a link");
        }
        rustix::fs::mkfifoat(CWD, root.join("in/pipe"), Mode::RUSR | Mode::WUSR).expect("a pipe");
        let folders = Folders(vec![root.join("in")]);
        (folder, root, folders)
    }

    /// A path below the scratch folder, and what `stat`, `resolve` and `read-script` say of it.
    #[rustfmt::skip]
    const CASES: &[(&str, &str, &str, &str)] = &[
        ("in", "Directory", "in", "invalid"),
        ("in/", "Directory", "in", "invalid"),
        ("in/script", "File", "in/script", "in/script"),
        ("in/./deep/../script", "File", "in/script", "in/script"),
        ("in/deep/er/script", "File", "in/deep/er/script", "in/deep/er/script"),
        ("in/to-deep/script", "File", "in/deep/er/script", "in/deep/er/script"),
        ("in/to-deep/../../script", "File", "in/script", "in/script"),
        ("in/nothing", "none", "in/nothing, new", "not found"),
        ("in/nothing/below", "none", "in/nothing/below, new", "not found"),
        ("in/script/below", "none", "in/script/below, new", "not found"),
        ("in/to-new", "Symlink", "in/deep/new, new", "not found"),
        ("in/pipe", "Other", "in/pipe", "invalid"),
        ("out/back/script", "File", "in/script", "in/script"),
        // A link stands inside, wherever it leads.
        ("in/to-out", "Symlink", "denied", "denied"),
        ("in/to-script", "Symlink", "denied", "denied"),
        ("in/to-self", "Symlink", "denied", "denied"),
        ("in/to-nothing", "Symlink", "denied", "denied"),
        ("in/absolute", "Symlink", "denied", "denied"),
        ("in/to-out/", "Symlink", "denied", "denied"),
        ("in/to-out/.", "Symlink", "denied", "denied"),
        ("in/to-out/script", "denied", "denied", "denied"),
        ("in/hop/script", "denied", "denied", "denied"),
        ("in/hop/none", "denied", "denied", "denied"),
        ("in/to-self/below", "denied", "denied", "denied"),
        ("in/to-nothing/below", "denied", "denied", "denied"),
        ("in/absolute/passwd", "denied", "denied", "denied"),
        ("in/to-out/../in-beside/script", "denied", "denied", "denied"),
        ("in/..", "denied", "denied", "denied"),
        ("in/../out/script", "denied", "denied", "denied"),
        ("in/../out/nothing", "denied", "denied", "denied"),
        ("in/nothing/../../out/script", "denied", "denied", "denied"),
        ("in/../../../../../../../../../../etc/passwd", "denied", "denied", "denied"),
        ("in-beside/script", "denied", "denied", "denied"),
        ("out", "denied", "denied", "denied"),
        ("out/script", "denied", "denied", "denied"),
        ("out/nothing", "denied", "denied", "denied"),
        ("", "denied", "denied", "denied"),
    ];

    #[test]
    fn only_what_is_inside_is_told() {
        let (_folder, root, folders) = scratch();
        let said = |refused: Refused| match refused {
            Refused::Outside(_) => "denied".to_owned(),
            Refused::Other(CapabilityError::NotFound(_)) => "not found".to_owned(),
            Refused::Other(CapabilityError::Invalid(_)) => "invalid".to_owned(),
            Refused::Other(error) => error.to_string(),
        };
        for (path, stat, resolved, script) in CASES {
            // Not `join`, which would leave out what the cases are about.
            let path = PathBuf::from(format!("{}/{path}", root.display()));
            let found = folders.stat(&path).map(|found| found.map_or("none".into(), |one| format!("{:?}", one.kind)));
            assert_eq!(found.unwrap_or_else(said).trim_start_matches("FileKind::"), *stat, "stat {}", path.display());
            let found = folders.resolve(&path).map(|real| {
                let real = real.expect("there is always an answer");
                let below = real.path.strip_prefix(&format!("{}/", root.display())).expect("inside").to_owned();
                if real.exists { below } else { format!("{below}, new") }
            });
            assert_eq!(found.unwrap_or_else(said), *resolved, "resolve {}", path.display());
            assert_eq!(folders.read_script(&path).unwrap_or_else(said), *script, "read-script {}", path.display());
        }
        for path in ["", "in/script", "../in/script", "~/x"] {
            assert!(matches!(folders.stat(Path::new(path)), Err(Refused::Outside(_))), "{path}: not absolute");
        }
    }

    /// While somebody swaps a folder for a link to one outside, and back, no answer is about the one outside.
    #[test]
    fn a_folder_that_is_swapped_for_a_link_tells_nothing() {
        let (_folder, root, folders) = scratch();
        let (name, real, link) = (root.join("in/swapped"), root.join("in/real"), root.join("in/link"));
        std::fs::create_dir(&name).expect("a folder");
        std::fs::write(name.join("script"), "inside").expect("a file");
        std::fs::write(root.join("out/only-out"), "").expect("a file");
        symlink("../out", &link).expect("a link");
        let stop = AtomicBool::new(false);
        let (mut told, mut refused) = (0_u32, 0_u32);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for (from, to) in [(&name, &real), (&link, &name), (&name, &link), (&real, &name)] {
                        std::fs::rename(from, to).expect("renamed");
                    }
                }
            });
            let start = std::time::Instant::now();
            while (told < 1_000 || refused < 1_000) && start.elapsed() < std::time::Duration::from_secs(10) {
                match folders.read_script(&name.join("script")) {
                    Ok(text) => {
                        assert_eq!(text, "inside");
                        told += 1;
                    }
                    Err(_) => refused += 1,
                }
                assert!(!matches!(folders.stat(&name.join("only-out")), Ok(Some(_))));
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(told > 0 && refused > 0, "both were met: {told} and {refused}");
    }
}
