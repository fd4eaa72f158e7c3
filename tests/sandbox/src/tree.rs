//! All files below a folder, with what is in them, held in memory. Not for large trees.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file and what is in it.
    File(Vec<u8>),
    /// A folder.
    Folder,
    /// A link and where it leads.
    Link(PathBuf),
    /// It is there, but its owner may not read it.
    Closed,
    /// A pipe, a socket, a device.
    Odd,
}

/// One path.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Its permissions.
    pub mode: u32,
    /// When it was written; not compared.
    pub modified: Option<SystemTime>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.mode == other.mode
    }
}

/// Everything below a folder, by its path relative to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// In order, so that a folder comes before what is in it.
    pub entries: BTreeMap<String, Entry>,
}

impl Tree {
    /// Reads a folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.add(folder, "")?;
        Ok(tree)
    }

    fn add(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            // A text may have closed it; its mode says so.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let Ok(meta) = entry.metadata() else { continue };
            let kind = if meta.is_dir() {
                Kind::Folder
            } else if meta.is_symlink() {
                Kind::Link(fs::read_link(entry.path())?)
            } else if meta.is_file() {
                fs::read(entry.path()).map_or(Kind::Closed, Kind::File)
            } else {
                Kind::Odd
            };
            let below = (kind == Kind::Folder).then(|| format!("{path}/"));
            let mode = if meta.is_symlink() { 0o777 } else { meta.permissions().mode() & 0o7777 };
            self.entries.insert(path, Entry { kind, mode, modified: meta.modified().ok() });
            if let Some(below) = below {
                self.add(&entry.path(), &below)?;
            }
        }
        Ok(())
    }

    /// What is in a file.
    pub fn content(&self, path: &str) -> Option<&[u8]> {
        match &self.entries.get(path)?.kind {
            Kind::File(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether anything is different at or below one of these paths.
    pub fn differs_below(&self, other: &Self, paths: &[&str]) -> bool {
        paths.iter().any(|path| {
            let below = |entry: &(&String, &Entry)| within(entry.0, path);
            !self.entries.iter().filter(below).eq(other.entries.iter().filter(below))
        })
    }
}

/// Whether a path is a folder, or in it.
pub fn within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
