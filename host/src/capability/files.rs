//! `files`: looks at the file system.
//!
//! The real one looks and never writes. Configuration it reads only where the host chose; a component names it, it does
//! not point at it. Scripts it reads wherever a text runs them, as bounded text.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use rustix::fs::OFlags;
use toolgate_private::{is_missing, open_regular, read_at_most};

use super::blocking::apart;
use super::hard_links::{Entries, KnownNames};
use super::{Answer, ConfigFile, FileStat, RealPath, Recording, Refuse};
use crate::CapabilityError;
use crate::capability::Capability;
use crate::capability::FileKind;
use crate::limits::{CONFIG_FILE, PATHS, SCRIPT_FILE, deadline};

/// The name by which components ask for rule files.
pub(crate) const RULES: &str = "rules";

/// The rule files, as a component gets them.
pub(crate) async fn rules(files: &dyn Files) -> Answer<Vec<ConfigFile>> {
    in_time(files.read_config(RULES.to_owned())).await
}

/// Looks at other files as these do.
pub(crate) async fn looked<T: Send + 'static>(
    files: &dyn Files,
    work: impl FnOnce() -> T + Send + 'static,
) -> Answer<T> {
    if files.is_inline() { Ok(work()) } else { in_time(apart(work)).await }
}

async fn in_time<T>(work: impl Future<Output = Answer<T>>) -> Answer<T> {
    tokio::time::timeout(deadline::FILES, work).await.unwrap_or(Err(CapabilityError::Timeout))
}

/// Looks at the file system.
#[async_trait]
pub trait Files: Send + Sync {
    /// Looks at many paths, links not followed.
    async fn stat(&self, paths: Vec<String>) -> Answer<Vec<Option<FileStat>>>;
    /// Resolves the links of many paths.
    async fn resolve(&self, paths: Vec<String>) -> Answer<Vec<Option<RealPath>>>;
    /// Reads the configuration files of this name.
    async fn read_config(&self, name: String) -> Answer<Vec<ConfigFile>>;
    /// Reads a file that a text is about to run.
    async fn read_script(&self, path: String) -> Answer<String>;
    /// Whether it does so on the caller's own thread, for whom other looks at files may be made there as well.
    fn is_inline(&self) -> bool {
        false
    }
}

#[async_trait]
impl<R: Refuse> Files for R {
    async fn stat(&self, _paths: Vec<String>) -> Answer<Vec<Option<FileStat>>> {
        self.answer(Capability::Files)
    }

    async fn resolve(&self, _paths: Vec<String>) -> Answer<Vec<Option<RealPath>>> {
        self.answer(Capability::Files)
    }

    async fn read_config(&self, _name: String) -> Answer<Vec<ConfigFile>> {
        self.answer(Capability::Files)
    }

    async fn read_script(&self, _path: String) -> Answer<String> {
        self.answer(Capability::Files)
    }
}

#[async_trait]
impl<T: Files> Files for Recording<T> {
    async fn stat(&self, paths: Vec<String>) -> Answer<Vec<Option<FileStat>>> {
        self.record("files.stat", &(&paths,));
        self.inner.stat(paths).await
    }

    async fn resolve(&self, paths: Vec<String>) -> Answer<Vec<Option<RealPath>>> {
        self.record("files.resolve", &(&paths,));
        self.inner.resolve(paths).await
    }

    async fn read_config(&self, name: String) -> Answer<Vec<ConfigFile>> {
        self.record("files.read-config", &(&name,));
        self.inner.read_config(name).await
    }

    async fn read_script(&self, path: String) -> Answer<String> {
        self.record("files.read-script", &(&path,));
        self.inner.read_script(path).await
    }

    fn is_inline(&self) -> bool {
        self.inner.is_inline()
    }
}

/// The local file system.
///
/// ```
/// use toolgate_host::capability::LocalFiles;
///
/// let files = LocalFiles::new().user_rules("/home/dev/.config/mine.yaml").project_rules("/home/dev/project/rules.yaml");
/// assert_eq!(files.rules().map(|(layer, _)| layer).collect::<Vec<_>>(), ["user", "project"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalFiles {
    rules: Vec<(&'static str, PathBuf)>,
    others: Vec<(&'static str, &'static str, PathBuf)>,
    inline: bool,
    instead: Vec<(PathBuf, Vec<u8>)>,
    handed_over: Option<Contents>,
    names: KnownNames,
}

/// Paths and what was in the files.
type Contents = Arc<Mutex<Vec<(PathBuf, Vec<u8>)>>>;

impl LocalFiles {
    /// Without configuration files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at files on the caller's own thread. Cheaper, but a file system that hangs holds the caller and no
    /// deadline can fire: only for a program that does nothing else and watches its own time.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.inline = true;
        self
    }

    /// Adds a rule file of the user's. It need not exist.
    #[must_use]
    pub fn user_rules(mut self, path: impl Into<PathBuf>) -> Self {
        self.rules.push(("user", path.into()));
        self
    }

    /// Adds a rule file of the project's, after those of the user. It need not exist.
    #[must_use]
    pub fn project_rules(mut self, path: impl Into<PathBuf>) -> Self {
        self.rules.push(("project", path.into()));
        self
    }

    /// Adds a configuration file that is read by another name than `rules`, of the layer `user` or `project`. It need not
    /// exist.
    #[must_use]
    pub fn config(mut self, name: &'static str, layer: &'static str, path: impl Into<PathBuf>) -> Self {
        self.others.push((name, layer, path.into()));
        self
    }

    /// Hands over this content in place of what is in a rule file, as long as there is such a file.
    #[must_use]
    pub fn instead(mut self, path: impl Into<PathBuf>, content: Vec<u8>) -> Self {
        self.instead.push((path.into(), content));
        self
    }

    /// Answers [`Files::resolve`] for a hard link with the name that matters: a file of the first kind, or one below a folder of
    /// it; or a hidden file of a folder of the second kind, or one below a hidden folder there.
    #[must_use]
    pub fn known_names(mut self, own: Vec<PathBuf>, hidden: Vec<PathBuf>) -> Self {
        self.names = KnownNames::new(own, hidden);
        self
    }

    /// Remembers what the rule files held when they were last read, for [`LocalFiles::handed_over`] of every clone.
    #[must_use]
    pub fn remembering(mut self) -> Self {
        self.handed_over = Some(Contents::default());
        self
    }

    /// The rule files that were read since [`LocalFiles::remembering`], with their content; none without that, and
    /// none of those with a content instead.
    pub fn handed_over(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let found = self.handed_over.as_ref();
        found.map(|found| found.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// The rule files, whether they are there or not, each with its layer: `user` or `project`.
    pub fn rules(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.rules.iter().map(|(layer, path)| (*layer, path.as_path()))
    }

    fn read_rules(&self) -> Vec<ConfigFile> {
        let mut read = Vec::new();
        let mut remembered = Vec::new();
        for (layer, path) in &self.rules {
            let Some(mut file) = read_config_file(layer, path) else { continue };
            if let Some((_, content)) = self.instead.iter().find(|(instead, _)| instead == path) {
                file.content = Ok(content.clone());
            } else if let (Some(_), Ok(content)) = (&self.handed_over, &file.content) {
                remembered.push((path.clone(), content.clone()));
            }
            read.push(file);
        }
        if let Some(handed_over) = &self.handed_over {
            *handed_over.lock().unwrap_or_else(PoisonError::into_inner) = remembered;
        }
        read
    }
}

#[async_trait]
impl Files for LocalFiles {
    async fn stat(&self, paths: Vec<String>) -> Answer<Vec<Option<FileStat>>> {
        few(&paths)?;
        self.look(move || paths.iter().map(|path| stat(Path::new(path))).collect()).await
    }

    async fn resolve(&self, paths: Vec<String>) -> Answer<Vec<Option<RealPath>>> {
        few(&paths)?;
        let names = self.names.clone();
        self.look(move || {
            let mut left = Entries::default();
            paths.iter().map(|path| named(path, resolve(Path::new(path))?, &names, &mut left)).collect()
        })
        .await
    }

    async fn read_config(&self, name: String) -> Answer<Vec<ConfigFile>> {
        let files = self.clone();
        if name == RULES {
            return self.look(move || files.read_rules()).await;
        }
        if files.others.iter().all(|(known, ..)| *known != name) {
            return Err(CapabilityError::NotFound(format!("no configuration file named {name}")));
        }
        self.look(move || {
            let wanted = files.others.iter().filter(|(known, ..)| *known == name);
            wanted.filter_map(|(_, layer, path)| read_config_file(layer, path)).collect()
        })
        .await
    }

    async fn read_script(&self, path: String) -> Answer<String> {
        self.look(move || script(Path::new(&path))).await?
    }

    fn is_inline(&self) -> bool {
        self.inline
    }
}

pub(super) fn few(paths: &[String]) -> Answer<()> {
    if paths.len() > PATHS { Err(CapabilityError::TooLarge(PATHS as u64)) } else { Ok(()) }
}

impl LocalFiles {
    async fn look<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
        if self.inline { Ok(work()) } else { apart(work).await }
    }
}

fn stat(path: &Path) -> Option<FileStat> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return None;
        }
        // That it may not be looked at does not say that nothing is there.
        Err(_) => return Some(FileStat { kind: FileKind::Hidden, size: 0, modified: 0 }),
    };
    Some(file_stat(&found))
}

pub(super) fn file_stat(found: &std::fs::Metadata) -> FileStat {
    let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let kind = match found.file_type() {
        kind if kind.is_symlink() => FileKind::Symlink,
        kind if kind.is_dir() => FileKind::Directory,
        kind if kind.is_file() => FileKind::File,
        _ => FileKind::Other,
    };
    let modified = modified.and_then(|time| u64::try_from(time.as_millis()).ok()).unwrap_or(0);
    FileStat { kind, size: found.len(), modified }
}

/// The links of the nearest existing ancestor resolved, and the rest appended.
///
/// A path may name a link whose target does not exist: writing there makes the target, so such a link is followed
/// by hand, as far as the system itself would. Nothing for a descriptor: this process's own is another than that of who asks.
pub(super) fn resolve(path: &Path) -> Option<RealPath> {
    const MOST_LINKS: usize = 40;
    if is_descriptor(path) {
        return None;
    }
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = path.canonicalize() {
            return Some(RealPath { path: real.into_os_string().into_string().ok()?, exists: true });
        }
        if let Ok(target) = path.read_link() {
            path = path.parent()?.join(target);
            continue;
        }
        let mut rest = Vec::new();
        let mut ancestor = path.as_path();
        loop {
            rest.push(ancestor.file_name()?.to_owned());
            ancestor = ancestor.parent()?;
            if let Ok(real) = ancestor.canonicalize() {
                let whole = rest.iter().rev().fold(real, |path, part| path.join(part));
                return Some(RealPath { path: whole.into_os_string().into_string().ok()?, exists: false });
            }
            if let Ok(target) = ancestor.read_link() {
                // A dangling link in the middle: go on from where it leads.
                let base = ancestor.parent()?.join(target);
                path = rest.iter().rev().fold(base, |path, part| path.join(part));
                break;
            }
        }
    }
    None
}

/// Whether a path names something that a process has open: each process finds its own there.
fn is_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
    path == Path::new("/dev/stdin") || folders.iter().any(|folder| path.starts_with(folder))
}

/// Where a path leads: its links resolved; of one without links that is there, another name of the file, if it is kept. So
/// no name is lost to who asks again about what links lead to.
fn named(path: &str, real: RealPath, names: &KnownNames, left: &mut Entries) -> Option<RealPath> {
    let plain = real.exists && real.path == path;
    let other = if plain { names.of(Path::new(&real.path), left) } else { None };
    match other {
        Some(other) => Some(RealPath { path: other.into_os_string().into_string().ok()?, ..real }),
        None => Some(real),
    }
}

fn read_config_file(layer: &str, path: &Path) -> Option<ConfigFile> {
    let content = match open_regular(path, OFlags::empty()) {
        Err(error) if is_missing(&error) => return None,
        Err(error) => Err(other(error)),
        Ok(file) => bounded(&file, CONFIG_FILE),
    };
    Some(ConfigFile { path: path.display().to_string(), layer: layer.to_owned(), content })
}

fn script(path: &Path) -> Answer<String> {
    if is_descriptor(path) {
        return Err(CapabilityError::Invalid("it is a descriptor of another process".to_owned()));
    }
    let file = open_regular(path, OFlags::empty()).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => not_regular(),
        _ => missing(error),
    })?;
    script_in(&file)
}

pub(super) fn missing(error: std::io::Error) -> CapabilityError {
    match is_missing(&error) {
        true => CapabilityError::NotFound(error.to_string()),
        false => CapabilityError::Other(error.to_string()),
    }
}

pub(super) fn not_regular() -> CapabilityError {
    CapabilityError::Invalid("it is not a regular file".to_owned())
}

/// The text of an open script.
pub(super) fn script_in(file: &File) -> Answer<String> {
    let content = bounded(file, SCRIPT_FILE)?;
    // Shells run a script whatever bytes are in it; what is no script at all begins differently.
    let start = content.get(..content.len().min(512)).unwrap_or_default();
    if !content.starts_with(b"#!") && start.contains(&0) {
        return Err(CapabilityError::Invalid("it is not text".to_owned()));
    }
    Ok(String::from_utf8_lossy(&content).replace('\0', ""))
}

fn other(error: std::io::Error) -> CapabilityError {
    CapabilityError::Other(error.to_string())
}

fn bounded(file: &File, limit: u64) -> Answer<Vec<u8>> {
    read_at_most(file, limit).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => CapabilityError::TooLarge(limit),
        _ => other(error),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_descriptor_of_this_process_is_not_that_of_who_asks() {
        for path in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/self/fd/../fd/0", "/proc/thread-self/fd/0"] {
            assert!(resolve(Path::new(path)).is_none() && script(Path::new(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn links_are_resolved_even_where_nothing_is_yet() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let root = folder.path().canonicalize().expect("its real path");
        let at = |path: &str| root.join(path);
        std::fs::create_dir(at("real")).expect("a folder");
        std::fs::write(at("real/file"), "x").expect("a file");
        symlink("real", at("link")).expect("a link");
        symlink("real/new", at("dangling")).expect("a dangling link");
        symlink("dangling", at("twice")).expect("a link to a dangling link");
        symlink("round", at("round")).expect("a link to itself");
        let cases = [
            ("real/file", Some(("real/file", true))),
            ("link/file", Some(("real/file", true))),
            ("link/none/deep", Some(("real/none/deep", false))),
            ("dangling", Some(("real/new", false))),
            ("twice", Some(("real/new", false))),
            ("twice/below", Some(("real/new/below", false))),
            ("round", None),
            ("round/below", None),
            ("none", Some(("none", false))),
        ];
        for (path, expected) in cases {
            let found = resolve(&at(path)).map(|real| (real.path, real.exists));
            let expected = expected.map(|(path, exists)| (at(path).display().to_string(), exists));
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn configuration_is_read_within_bounds_and_says_when_it_cannot() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |path: &str| folder.path().join(path);
        std::fs::write(at("good"), "a: b").expect("a file");
        std::fs::write(at("large"), vec![b'x'; CONFIG_FILE as usize + 1]).expect("a file");
        assert_eq!(read_config_file("user", &at("good")).expect("there").content, Ok(b"a: b".to_vec()));
        assert_eq!(
            read_config_file("user", &at("large")).expect("there").content,
            Err(CapabilityError::TooLarge(CONFIG_FILE))
        );
        assert!(matches!(
            read_config_file("user", folder.path()).expect("there").content,
            Err(CapabilityError::Other(_))
        ));
        std::fs::write(at("long"), vec![b'x'; SCRIPT_FILE as usize + 1]).expect("a file");
        std::fs::write(at("binary"), b"\x7fELF\0").expect("a file");
        std::fs::write(at("odd"), b"#!/bin/sh\n#\xff\nrm x\0\n").expect("a file");
        assert_eq!(script(&at("good")), Ok("a: b".to_owned()));
        assert_eq!(script(&at("long")), Err(CapabilityError::TooLarge(SCRIPT_FILE)));
        assert!(matches!(script(&at("binary")), Err(CapabilityError::Invalid(_))));
        assert!(script(&at("odd")).is_ok_and(|text| text.contains("rm x\n")));
        assert!(matches!(script(folder.path()), Err(CapabilityError::Invalid(_))));
        assert!(matches!(script(&at("missing")), Err(CapabilityError::NotFound(_))));
        assert!(
            read_config_file("user", &at("missing")).is_none()
                && read_config_file("user", &at("good/missing")).is_none()
        );
    }
}
