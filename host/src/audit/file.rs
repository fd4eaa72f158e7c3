//! The audit log as a file: written, moved on when it is full, and read.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags};
use serde_json::Value;
use toolgate_private::{Folder, Others, PrivateError, state_folder, system};

use super::{Audit, KIND, ROTATED_FILES, Record, SIZE};

/// Longest line that is read. Nobody but us writes here; somebody may have.
const FOREIGN_LINE: u64 = 1 << 20;

/// The log as a file that is shared by all processes of a user.
#[derive(Clone, Debug)]
pub struct AuditFile {
    folder: PathBuf,
    stem: String,
    size: u64,
    kept: usize,
}

impl AuditFile {
    /// The log in this file, whose name ends in `.jsonl`. Nothing is opened before the first entry.
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(".jsonl").unwrap_or(&name).to_owned();
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        AuditFile { folder, stem, size: SIZE, kept: ROTATED_FILES }
    }

    /// The log in the user's state folder. None if there is no telling where that is.
    pub fn of_user(home: Option<&Path>) -> Option<Self> {
        Some(Self::new(&state_folder(home)?.join("audit.jsonl")))
    }

    /// The same with other files: full at so many bytes, and so many full ones kept.
    #[must_use]
    pub fn rotated(mut self, size: u64, kept: usize) -> Self {
        (self.size, self.kept) = (size, kept);
        self
    }

    /// The file that is written to.
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.name(0))
    }

    /// The name of the file that has been full so many times.
    fn name(&self, age: usize) -> String {
        if age == 0 { format!("{}.jsonl", self.stem) } else { format!("{}.{age}.jsonl", self.stem) }
    }

    fn lock(&self) -> String {
        format!("{}.lock", self.stem)
    }

    /// The entries that there are, the oldest first. A line that is none is an error of its own.
    ///
    /// # Errors
    /// If the folder or one of the files is not what it has to be.
    pub fn read(&self) -> Result<Entries, PrivateError> {
        let mut files = VecDeque::new();
        if let Some(folder) = Folder::open(&self.folder)? {
            // So that no file changes its name half-way. Who may only read does without.
            let _turn = folder.turn(&self.lock());
            for age in (0..=self.kept).rev() {
                let name = self.name(age);
                if let Some(file) = folder.file(&name, OFlags::RDONLY, Others::SetRight)? {
                    files.push_back((folder.path(&name), file));
                }
            }
        }
        Ok(Entries { files, reader: None })
    }
}

impl Audit for AuditFile {
    fn append(&self, record: &Record) -> Result<(), PrivateError> {
        let mut line = record.line();
        line.push('\n');
        let folder = Folder::create(&self.folder)?;
        let _turn = folder.turn(&self.lock())?;
        let name = self.name(0);
        let failed = |error| system(&folder.path(&name), error);
        let open = || {
            let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
            let file = folder.file(&name, flags, Others::SetRight)?;
            file.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
        };
        let mut file = open()?;
        let mut length = file.metadata().map_err(failed)?.len();
        if length > 0 && length + line.len() as u64 > self.size {
            if self.kept == 0 {
                rustix::fs::unlinkat(folder.fd(), &*name, AtFlags::empty()).map_err(|error| failed(error.into()))?;
            }
            for age in (0..self.kept).rev() {
                match folder.rename(&self.name(age), &self.name(age + 1)) {
                    Err(PrivateError::System { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {}
                    done => done?,
                }
            }
            file = open()?;
            length = file.metadata().map_err(failed)?.len();
        }
        if length > 0 {
            // A writer that was killed may have left half a line. It stays half a line, and ours a whole one.
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).map_err(failed)?;
            if last != *b"\n" {
                line.insert(0, '\n');
            }
        }
        file.write_all(line.as_bytes()).map_err(|error| {
            // Half a line helps nobody; if even this fails, readers know what to do with it.
            let _ = file.set_len(length);
            failed(error)
        })
    }
}

/// A line that is no entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {why}")]
pub struct BadLine {
    /// The file it is in.
    pub file: String,
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// Reads entries, the oldest first.
#[derive(Debug)]
pub struct Entries {
    files: VecDeque<(PathBuf, File)>,
    reader: Option<(PathBuf, BufReader<File>, usize)>,
}

impl Iterator for Entries {
    type Item = Result<Record, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((path, reader, number)) = &mut self.reader else {
                let (path, file) = self.files.pop_front()?;
                self.reader = Some((path, BufReader::new(file), 0));
                continue;
            };
            *number += 1;
            let bad = |why: String| BadLine { file: path.display().to_string(), line: *number, why };
            let mut line = Vec::new();
            let read = reader.by_ref().take(FOREIGN_LINE).read_until(b'\n', &mut line);
            let answer = match read {
                Ok(0) => {
                    self.reader = None;
                    continue;
                }
                Err(error) => {
                    let bad = bad(error.to_string());
                    self.reader = None;
                    return Some(Err(bad));
                }
                Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 == FOREIGN_LINE => {
                    let skipped = reader.skip_until(b'\n');
                    Err(bad(skipped.map_or_else(|error| error.to_string(), |_| "the line is too long".to_owned())))
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => entry(&line).map_err(bad),
            };
            return Some(answer);
        }
    }
}

pub(super) fn entry(line: &[u8]) -> Result<Record, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    if value["kind"] != KIND {
        return Err(format!("not an entry of type {KIND}"));
    }
    if value["schema"] != 1 {
        return Err(format!("schema {} is unknown to this version", value["schema"]));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::tests::record;
    use super::*;

    #[test]
    fn files_move_on_when_they_are_full_and_the_oldest_go() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("state/audit.jsonl");
        let length = record("0").line().len() as u64 + 1;
        let log = AuditFile::new(&path).rotated(2 * length, 2);
        for number in 0..9 {
            log.append(&record(&number.to_string())).expect("written");
        }
        let kept: Vec<Value> =
            log.read().expect("fit").map(|entry| entry.expect("an entry").input["command"].clone()).collect();
        assert_eq!(kept, ["4", "5", "6", "7", "8"]);
        for (file, mode) in [("state", 0o700), ("state/audit.jsonl", 0o600), ("state/audit.2.jsonl", 0o600)] {
            let found = std::fs::metadata(scratch.path().join(file)).expect("there").permissions().mode();
            assert_eq!(found & 0o777, mode, "{file}");
        }
        assert!(!scratch.path().join("state/audit.3.jsonl").exists());
    }

    #[test]
    fn writers_at_once_lose_and_tear_nothing() {
        const WRITERS: usize = 8;
        const LINES: usize = 50;
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let log = AuditFile::new(&scratch.path().join("audit.jsonl")).rotated(6_000, 1_000);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let log = &log;
                scope.spawn(move || {
                    for line in 0..LINES {
                        log.append(&record(&format!("{writer} {line}"))).expect("written");
                    }
                });
            }
        });
        let mut found: Vec<String> =
            log.read().expect("fit").map(|entry| entry.expect("whole").input["command"].to_string()).collect();
        assert_eq!(found.len(), WRITERS * LINES);
        found.sort();
        found.dedup();
        assert_eq!(found.len(), WRITERS * LINES);
        assert!(scratch.path().join("audit.5.jsonl").exists(), "files moved on meanwhile");
    }

    #[test]
    fn lines_that_are_no_entries_are_told_and_not_fatal() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("audit.jsonl");
        let good = record("x").line();
        let long = "y".repeat(3 << 20);
        let text = format!(
            "{good}\n\nhello\n{{\"kind\":\"other\"}}\n{{\"kind\":\"{KIND}\",\"schema\":2}}\n{long}\n{good}\n{{\"time\":"
        );
        std::fs::write(&path, text).expect("a file");
        let log = AuditFile::new(&path);
        // What is appended after half a line is a whole one.
        log.append(&record("y")).expect("written");
        let read: Vec<Result<Record, usize>> =
            log.read().expect("fit").map(|entry| entry.map_err(|bad| bad.line)).collect();
        assert_eq!(read, [Ok(record("x")), Err(3), Err(4), Err(5), Err(6), Ok(record("x")), Err(8), Ok(record("y"))]);
    }

    #[test]
    fn a_place_that_is_not_the_users_own_is_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        for name in ["link", "folder", "lock", "good"] {
            std::fs::create_dir(at(name)).expect("a folder");
        }
        std::fs::write(at("target"), "").expect("a file");
        symlink(at("target"), at("link/audit.jsonl")).expect("a link");
        std::fs::create_dir(at("folder/audit.jsonl")).expect("a folder");
        symlink(at("target"), at("lock/audit.lock")).expect("a link");
        symlink(at("good"), at("linked")).expect("a link");
        for (folder, fit) in
            [("link", false), ("folder", false), ("lock", false), ("linked", false), ("target", false), ("good", true)]
        {
            let log = AuditFile::new(&at(folder).join("audit.jsonl"));
            assert_eq!(log.append(&record("x")).is_ok(), fit, "{folder}");
        }
        assert_eq!(std::fs::read(at("target")).expect("a file"), b"");
    }
}
