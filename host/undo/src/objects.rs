//! Contents of files, by their sha256.
//!
//! `objects/ab/REST` is the content whose sha256 is `abREST`: one byte that says how it is kept (0: as it is, 1: an LZ4 frame),
//! then the content. `objects/ab/REST.raw` is the content and nothing else: a large file whose blocks the file system shares
//! with the file that it was saved from (a reflink), so that saving it costs nothing.
//!
//! A process that is killed at any time leaves no half object: each is written under another name first. Nothing waits for the
//! disk, as ten thousand small files have to be saved in a second: a loss of power can leave objects of the last seconds empty or
//! cut. That is found, as each is checked by its name when it is read, and when it is relied upon again after a while or after
//! the machine was started anew; what it held cannot be restored then.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use toolgate_private::{Folder, Others, PrivateError};

use crate::error::UndoError;
use crate::model::hex;
use crate::nofollow::{CHUNK, digest as digest_of};

/// Shortest content that is compressed. A file takes up whole blocks of the disk anyway.
const COMPRESSED: usize = 4 << 10;

/// Shortest file whose blocks may be shared: for a shorter one, finding out costs more than copying it.
const SHARED: u64 = 1 << 20;

/// How long an object is relied upon without being looked into again.
const VERIFIED_MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// The content is as it is.
const RAW: u8 = 0;

/// The content is an LZ4 frame.
const LZ4: u8 = 1;

/// What temporary files' names start with.
const TEMPORARY: &str = ".new.";

/// The contents of files.
#[derive(Debug)]
pub struct Objects {
    folder: Folder,
    path: PathBuf,
    shards: Vec<OnceLock<Folder>>,
}

/// What [`Objects::sweep`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many objects were removed.
    pub removed: usize,
    /// Bytes on the disk that the others take up.
    pub bytes: u64,
}

/// The sha256 of a content, hexadecimal.
pub fn digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// Whether a text is the sha256 of something.
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl Objects {
    /// Those in the folder of a store, which is made if it is missing.
    ///
    /// # Errors
    /// If it is not the user's alone, or cannot be made.
    pub fn new(folder: &Path) -> Result<Self, UndoError> {
        let path = folder.join("objects");
        let folder = Folder::create(&path)?;
        folder.closed()?;
        Ok(Objects { folder, path, shards: (0..256).map(|_| OnceLock::new()).collect() })
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves a content. The answer is its sha256.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, content: &[u8]) -> Result<String, UndoError> {
        let digest = digest(content);
        if !self.holds(&digest, content.len() as u64)? {
            let shard = self.shard(&digest)?;
            let mut new = Temporary::in_folder(shard)?;
            new.file.write_all(&kept(content)).map_err(|error| new.failed(error))?;
            new.becomes(shard, &digest[2..])?;
        }
        Ok(digest)
    }

    /// Saves the content of an open file, from where it stands, if it is at most so many bytes. The answer is its sha256 and length.
    ///
    /// # Errors
    /// [`UndoError::Limit`] if it is longer, which is found out without reading where its length says so;
    /// [`UndoError::Unread`] if it cannot be read; or if the object cannot be written. Nothing is left behind then.
    pub fn put_file(&self, file: &File, most: u64) -> Result<(String, u64), UndoError> {
        self.put_file_until(file, most, None)
    }

    /// The same within a time.
    pub(crate) fn put_file_until(
        &self,
        file: &File,
        most: u64,
        until: Option<Instant>,
    ) -> Result<(String, u64), UndoError> {
        let length = file.metadata().map_err(UndoError::Unread)?.len();
        if length > most {
            return Err(UndoError::Limit { most });
        }
        if length >= SHARED
            && let Some(shared) = self.share(file, most, until)?
        {
            return Ok(shared);
        }
        let room = usize::try_from(length).map_or(CHUNK, |length| length.min(CHUNK)) + 1;
        let mut first = Vec::with_capacity(room);
        file.take(CHUNK as u64 + 1).read_to_end(&mut first).map_err(UndoError::Unread)?;
        if first.len() as u64 > most {
            return Err(UndoError::Limit { most });
        }
        if first.len() <= CHUNK {
            return Ok((self.put(&first)?, first.len() as u64));
        }
        self.stream(first, file, most, until)
    }

    /// Saves a file by sharing its blocks. What it is then cannot change any more, unlike the file. None if the file system has
    /// no such thing.
    fn share(&self, file: &File, most: u64, until: Option<Instant>) -> Result<Option<(String, u64)>, UndoError> {
        let new = Temporary::in_folder(&self.folder)?;
        if !shares_blocks(&new.file, file) {
            return Ok(None);
        }
        let length = new.file.metadata().map_err(|error| new.failed(error))?.len();
        if length > most {
            return Err(UndoError::Limit { most });
        }
        let digest = digest_of(&new.file, length, until).map_err(|error| new.failed(error))?.ok_or(UndoError::Late)?;
        if !self.holds(&digest, length)? {
            new.becomes(self.shard(&digest)?, &format!("{}.raw", &digest[2..]))?;
        }
        Ok(Some((digest, length)))
    }

    /// Saves a file that is read part by part, after this first one.
    fn stream(
        &self,
        mut part: Vec<u8>,
        mut file: &File,
        most: u64,
        until: Option<Instant>,
    ) -> Result<(String, u64), UndoError> {
        let new = Temporary::in_folder(&self.folder)?;
        let mut sink = Sink::new(&new.file, is_compressible(&part)).map_err(|error| new.failed(error))?;
        let (mut hasher, mut length) = (Sha256::new(), 0);
        loop {
            length += part.len() as u64;
            if length > most {
                return Err(UndoError::Limit { most });
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Err(UndoError::Late);
            }
            hasher.update(&part);
            sink.write_all(&part).map_err(|error| new.failed(error))?;
            part.clear();
            Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut part).map_err(UndoError::Unread)?;
            if part.is_empty() {
                break;
            }
        }
        sink.finish().map_err(|error| new.failed(error))?;
        let digest = hex(&hasher.finalize());
        if !self.holds(&digest, length)? {
            new.becomes(self.shard(&digest)?, &digest[2..])?;
        }
        Ok((digest, length))
    }

    /// Whether a content is here. It may be damaged, which only reading it tells.
    pub fn has(&self, digest: &str) -> bool {
        is_digest(digest) && self.opened(digest).is_ok()
    }

    /// Writes a content to an open file, where it stands. The answer is its length.
    ///
    /// # Errors
    /// [`UndoError::Damaged`] if it is not what was put there, in which case something was written all the same;
    /// [`UndoError::Gone`] if it is not here.
    pub fn copy_to(&self, digest: &str, to: &mut File) -> Result<u64, UndoError> {
        self.copy(digest, u64::MAX, |part| {
            to.write_all(part)
                .map_err(|error| UndoError::System { path: "the file that is restored".to_owned(), error })
        })
    }

    /// A content of at most so many bytes.
    ///
    /// # Errors
    /// As for [`Objects::copy_to`], or [`UndoError::Limit`].
    pub fn read(&self, digest: &str, most: u64) -> Result<Vec<u8>, UndoError> {
        let mut content = Vec::new();
        self.copy(digest, most, |part| {
            content.extend_from_slice(part);
            Ok(())
        })?;
        Ok(content)
    }

    /// Makes sure that a content is here and is what it should be. The answer is its length.
    ///
    /// # Errors
    /// As for [`Objects::copy_to`].
    pub fn check(&self, digest: &str) -> Result<u64, UndoError> {
        self.copy(digest, u64::MAX, |_| Ok(()))
    }

    fn copy(
        &self,
        digest: &str,
        most: u64,
        mut to: impl FnMut(&[u8]) -> Result<(), UndoError>,
    ) -> Result<u64, UndoError> {
        let (file, path, bare) = self.opened(digest)?;
        let mut content = reader(file, bare).map_err(|error| UndoError::damaged(&path, error.to_string()))?;
        let (mut hasher, mut length, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
        loop {
            let count = match content.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(UndoError::damaged(&path, error.to_string())),
                Ok(0) => break,
                Ok(count) => count,
            };
            length += count as u64;
            if length > most {
                return Err(UndoError::Limit { most });
            }
            hasher.update(&buffer[..count]);
            to(&buffer[..count])?;
        }
        match hex(&hasher.finalize()) == digest {
            true => Ok(length),
            false => Err(UndoError::damaged(&path, "its content is not the one that its name says")),
        }
    }

    /// Opens an object: the file, its path, and whether there is nothing but the content in it.
    fn opened(&self, digest: &str) -> Result<(File, PathBuf, bool), UndoError> {
        let gone = || UndoError::Gone { digest: digest.to_owned() };
        if !is_digest(digest) {
            return Err(gone());
        }
        let Some(shard) = self.existing_shard(digest)? else { return Err(gone()) };
        for (name, bare) in [(digest[2..].to_owned(), false), (format!("{}.raw", &digest[2..]), true)] {
            if let Some(file) = shard.file(&name, OFlags::RDONLY, Others::Distrust)? {
                return Ok((file, shard.path(&name), bare));
            }
        }
        Err(gone())
    }

    /// Whether a content of this length is here and can be relied upon for a while. What is in its place and is not that, like
    /// a link, is removed.
    fn holds(&self, digest: &str, length: u64) -> Result<bool, UndoError> {
        let shard = self.shard(digest)?;
        let held = match self.opened(digest) {
            Err(UndoError::Gone { .. }) => return Ok(false),
            Err(_) => false,
            Ok((file, _, bare)) => self.is_reliable(digest, &file, bare, length),
        };
        if !held {
            for name in [digest[2..].to_owned(), format!("{}.raw", &digest[2..])] {
                // What cannot be removed cannot be replaced either, which is said then.
                let _ = rustix::fs::unlinkat(shard.fd(), name, AtFlags::empty());
            }
        }
        Ok(held)
    }

    fn is_reliable(&self, digest: &str, file: &File, bare: bool, length: u64) -> bool {
        let Ok(found) = file.metadata() else { return false };
        let plausible =
            if bare { found.len() == length } else { (1..=length + length / 8 + 64).contains(&found.len()) };
        if !plausible || is_fresh(found.mtime()) {
            return plausible;
        }
        // From now on it counts as new, so that it is not swept away before the entry is written that needs it.
        self.check(digest).is_ok() && file.set_modified(SystemTime::now()).is_ok()
    }

    fn shard(&self, digest: &str) -> Result<&Folder, UndoError> {
        let at = self.shards.get(number(digest)).ok_or_else(|| UndoError::Gone { digest: digest.to_owned() })?;
        if let Some(shard) = at.get() {
            return Ok(shard);
        }
        let shard = Folder::create(&self.path.join(&digest[..2]))?;
        Ok(at.get_or_init(|| shard))
    }

    fn existing_shard(&self, digest: &str) -> Result<Option<&Folder>, UndoError> {
        if let Some(shard) = self.shards.get(number(digest)).and_then(OnceLock::get) {
            return Ok(Some(shard));
        }
        match Folder::open(&self.path.join(&digest[..2]))? {
            Some(_) => self.shard(digest).map(Some),
            None => Ok(None),
        }
    }

    /// Removes the objects that nothing refers to and what was left of attempts to write one, unless it is newer than `grace`:
    /// then it may be of an entry that is being written.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn sweep(&self, referenced: &HashSet<String>, grace: Duration, now: SystemTime) -> Result<Swept, UndoError> {
        let mut swept = Swept::default();
        let is_old = |found: &std::fs::Metadata| {
            found.modified().is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > grace))
        };
        for folder in self.folders()? {
            let head = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            for (name, path, found) in entries(&folder)? {
                let digest = format!("{head}{}", name.strip_suffix(".raw").unwrap_or(&name));
                let goes = name.starts_with(TEMPORARY) || is_digest(&digest) && !referenced.contains(&digest);
                if goes && is_old(&found) && std::fs::remove_file(&path).is_ok() {
                    swept.removed += 1;
                } else {
                    swept.bytes += found.blocks() * 512;
                }
            }
        }
        Ok(swept)
    }

    /// Each object and the bytes that it takes up on the disk.
    pub(crate) fn sizes(&self) -> Result<Vec<(String, u64)>, UndoError> {
        let mut sizes = Vec::new();
        for folder in self.folders()? {
            let head = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            for (name, _, found) in entries(&folder)? {
                sizes.push((format!("{head}{}", name.strip_suffix(".raw").unwrap_or(&name)), found.blocks() * 512));
            }
        }
        Ok(sizes)
    }

    /// The folder itself, where temporary files are, and those of the objects.
    fn folders(&self) -> Result<Vec<PathBuf>, UndoError> {
        let shards = (0..256).map(|number| self.path.join(format!("{number:02x}")));
        let shards = shards.filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()));
        Ok(std::iter::once(self.path.clone()).chain(shards).collect())
    }
}

fn number(digest: &str) -> usize {
    digest.get(..2).and_then(|head| usize::from_str_radix(head, 16).ok()).unwrap_or(usize::MAX)
}

/// The regular files in a folder.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf, std::fs::Metadata)>, UndoError> {
    let listed = std::fs::read_dir(folder).map_err(|error| UndoError::system(folder, error))?;
    let entry = |entry: io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((entry.file_name().into_string().ok()?, entry.path(), found))
    };
    Ok(listed.filter_map(entry).collect())
}

/// Whether an object was written or checked lately, and since the machine was started: a loss of power damages what is new.
fn is_fresh(modified: i64) -> bool {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let up = u64::try_from(rustix::time::clock_gettime(clock).tv_sec).unwrap_or_default();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let age = u64::try_from(modified).ok().and_then(|modified| now.checked_sub(modified));
    age.is_some_and(|age| age < VERIFIED_MAX_AGE.as_secs().min(up))
}

/// How a content is kept.
fn kept(content: &[u8]) -> Vec<u8> {
    if is_compressible(content) {
        let mut encoder = FrameEncoder::new(vec![LZ4]);
        let whole = encoder.write_all(content).is_ok();
        if let Ok(bytes) = encoder.finish()
            && whole
            && bytes.len() < content.len()
        {
            return bytes;
        }
    }
    [&[RAW], content].concat()
}

/// Whether compressing is worth it, judged by its beginning.
fn is_compressible(content: &[u8]) -> bool {
    let sample = &content[..content.len().min(16 << 10)];
    content.len() >= COMPRESSED && lz4_flex::block::compress(sample).len() < sample.len() / 10 * 9
}

/// Lets an empty file share the blocks of another one, if the file system can.
#[cfg(target_os = "linux")]
fn shares_blocks(to: &File, from: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}

/// The content of an object.
fn reader(file: File, bare: bool) -> io::Result<Box<dyn Read>> {
    if bare {
        return Ok(Box::new(file));
    }
    let mut file = BufReader::with_capacity(64 << 10, file);
    let mut format = [0];
    file.read_exact(&mut format)?;
    match format {
        [RAW] => Ok(Box::new(file)),
        [LZ4] => Ok(Box::new(FrameDecoder::new(file))),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is of an unknown format")),
    }
}

/// Writes an object part by part.
enum Sink<'a> {
    Raw(BufWriter<&'a File>),
    Lz4(Box<FrameEncoder<BufWriter<&'a File>>>),
}

impl<'a> Sink<'a> {
    fn new(file: &'a File, compressed: bool) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(64 << 10, file);
        file.write_all(&[if compressed { LZ4 } else { RAW }])?;
        Ok(if compressed { Sink::Lz4(Box::new(FrameEncoder::new(file))) } else { Sink::Raw(file) })
    }

    fn write_all(&mut self, part: &[u8]) -> io::Result<()> {
        match self {
            Sink::Raw(file) => file.write_all(part),
            Sink::Lz4(encoder) => encoder.write_all(part),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Sink::Raw(mut file) => file.flush(),
            Sink::Lz4(encoder) => encoder.finish().map_err(io::Error::from)?.flush(),
        }
    }
}

/// A file that is gone again unless it becomes an object.
struct Temporary<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
    stays: bool,
}

impl<'a> Temporary<'a> {
    fn in_folder(folder: &'a Folder) -> Result<Self, UndoError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let name = format!("{TEMPORARY}{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
            match folder.file(&name, flags, Others::Distrust) {
                Ok(Some(file)) => return Ok(Temporary { folder, name, file, stays: false }),
                // Of a process that was killed and had the same number.
                Err(PrivateError::System { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Ok(None) => return Err(UndoError::system(&folder.path(&name), Errno::NOENT)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn failed(&self, error: io::Error) -> UndoError {
        UndoError::system(&self.folder.path(&self.name), error)
    }

    fn becomes(mut self, shard: &Folder, name: &str) -> Result<(), UndoError> {
        rustix::fs::renameat(self.folder.fd(), &self.name, shard.fd(), name)
            .map_err(|error| UndoError::system(&shard.path(name), error))?;
        self.stays = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.stays {
            let _ = rustix::fs::unlinkat(self.folder.fd(), &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn scratch() -> (tempfile::TempDir, Objects) {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let objects = Objects::new(dir.path()).expect("objects");
        (dir, objects)
    }

    /// What cannot be compressed.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (0..length).map(|_| next()).collect()
    }

    fn file(dir: &tempfile::TempDir, content: &[u8]) -> File {
        let path = dir.path().join("file");
        std::fs::write(&path, content).expect("a file");
        File::open(path).expect("the file")
    }

    fn path_of(objects: &Objects, digest: &str) -> PathBuf {
        objects.path().join(&digest[..2]).join(&digest[2..])
    }

    fn all(objects: &Objects) -> Vec<String> {
        let folders = objects.folders().expect("folders");
        folders.iter().flat_map(|folder| entries(folder).expect("entries")).map(|(name, ..)| name).collect()
    }

    /// So that it is not relied upon without a look.
    fn age(path: &Path, seconds: u64) {
        let file = File::open(path).expect("the object");
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("its time");
    }

    #[test]
    fn what_is_put_comes_back() {
        // The content, and how it is kept.
        let cases = [
            (vec![], RAW),
            (b"short".to_vec(), RAW),
            (vec![b'a'; COMPRESSED - 1], RAW),
            (vec![b'a'; COMPRESSED], LZ4),
            (noise(COMPRESSED), RAW),
            (vec![b'a'; CHUNK], LZ4),
            (vec![b'a'; CHUNK + 1], LZ4),
            (noise(CHUNK + 1), RAW),
            ([vec![b'a'; 3 * CHUNK], noise(3 * CHUNK)].concat(), LZ4),
            ([noise(3 * CHUNK), vec![b'a'; 3 * CHUNK]].concat(), RAW),
        ];
        for (content, format) in cases {
            let (dir, objects) = scratch();
            let length = content.len() as u64;
            let digest = hex(&Sha256::digest(&content));
            assert!(!objects.has(&digest));
            let put = objects.put_file(&file(&dir, &content), length).expect("put");
            assert_eq!(put, (digest.clone(), length));
            let path = path_of(&objects, &digest);
            let kept = std::fs::read(&path).expect("an object");
            assert_eq!(kept[0], format, "{length}");
            let inode = path.metadata().expect("an object").ino();
            assert_eq!(objects.put(&content).expect("put"), digest);
            assert_eq!(objects.put_file(&file(&dir, &content), length).expect("put").0, digest);
            assert_eq!(path.metadata().expect("an object").ino(), inode, "it is written once");
            assert_eq!(path.metadata().expect("an object").permissions().mode() & 0o777, 0o600);
            assert_eq!(objects.read(&digest, length).expect("read"), content);
            assert!(length == 0 || matches!(objects.read(&digest, length - 1), Err(UndoError::Limit { .. })));
            let mut to = tempfile::tempfile().expect("a file");
            assert_eq!(objects.copy_to(&digest, &mut to).expect("copied"), length);
            assert_eq!(all(&objects).len(), 1);
        }
    }

    #[test]
    fn an_object_may_share_the_blocks_of_a_file() {
        let (_dir, objects) = scratch();
        let content = noise(2 * CHUNK);
        let digest = digest(&content);
        objects.shard(&digest).expect("a folder");
        let path = path_of(&objects, &digest).with_file_name(format!("{}.raw", &digest[2..]));
        std::fs::write(&path, &content).expect("an object");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("its mode");
        assert!(objects.has(&digest));
        assert_eq!(objects.read(&digest, u64::MAX).expect("read"), content);
        assert_eq!(objects.put(&content).expect("put"), digest);
        assert_eq!(all(&objects), [format!("{}.raw", &digest[2..])]);
    }

    #[test]
    fn what_is_too_long_is_not_put_and_leaves_nothing() {
        let (dir, objects) = scratch();
        let sparse = file(&dir, b"");
        let writable = std::fs::OpenOptions::new().write(true).open(dir.path().join("file")).expect("the file");
        writable.set_len(1 << 40).expect("a length");
        let start = Instant::now();
        assert!(matches!(objects.put_file(&sparse, 256 << 20), Err(UndoError::Limit { .. })));
        assert!(start.elapsed() < Duration::from_secs(1), "it is not read");
        let longer = file(&dir, &[b'a'; 11]);
        assert!(matches!(objects.put_file(&longer, 10), Err(UndoError::Limit { .. })));
        assert_eq!(all(&objects), Vec::<String>::new());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_length_that_is_a_lie_is_not_believed() {
        let (_dir, objects) = scratch();
        // Its length is 0, as is that of all that grows while it is read.
        let open = || File::open("/proc/kallsyms").expect("a file");
        for most in [10, CHUNK as u64 + 10] {
            assert!(matches!(objects.put_file(&open(), most), Err(UndoError::Limit { .. })), "{most}");
        }
        let late = objects.put_file_until(&open(), 1 << 30, Some(Instant::now()));
        assert!(matches!(late, Err(UndoError::Late)));
        assert_eq!(all(&objects), Vec::<String>::new());
    }

    #[test]
    fn an_object_that_is_not_what_was_put_there_is_not_used_and_replaced() {
        let content = vec![b'a'; 100_000];
        type Spoil = fn(&Path);
        let cases: [(&str, Spoil); 8] = [
            ("a link", |path| {
                std::fs::rename(path, path.with_file_name("elsewhere")).expect("moved");
                symlink("elsewhere", path).expect("a link");
            }),
            ("a second name", |path| std::fs::hard_link(path, path.with_file_name("second")).expect("a name")),
            ("empty", |path| std::fs::write(path, b"").expect("written")),
            ("cut", |path| {
                let content = std::fs::read(path).expect("read");
                std::fs::write(path, &content[..content.len() / 2]).expect("written");
            }),
            ("another content", |path| std::fs::write(path, [&[RAW][..], &[b'b'; 100_000]].concat()).expect("written")),
            ("an unknown format", |path| std::fs::write(path, b"\x07aaaa").expect("written")),
            ("no frame", |path| std::fs::write(path, b"\x01aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").expect("written")),
            ("open to others", |path| {
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).expect("a mode");
            }),
        ];
        for (name, spoil) in cases {
            let (_dir, objects) = scratch();
            let digest = objects.put(&content).expect("put");
            let path = path_of(&objects, &digest);
            spoil(&path);
            assert!(objects.read(&digest, u64::MAX).is_err(), "{name}");
            assert!(objects.check(&digest).is_err(), "{name}");
            if !path.is_symlink() {
                age(&path, 2 * VERIFIED_MAX_AGE.as_secs());
            }
            assert_eq!(objects.put(&content).expect("put"), digest, "{name}");
            assert_eq!(objects.read(&digest, u64::MAX).expect("read"), content, "{name}");
        }
    }

    #[test]
    fn what_is_no_digest_is_not_here() {
        let (dir, objects) = scratch();
        std::fs::write(dir.path().join("secret"), "x").expect("a file");
        let digest = digest(b"x");
        let long = format!("ab/../{}", "a".repeat(58));
        for text in ["", "ab", "../secret", "ab/../../secret", &long, &digest.to_uppercase(), &digest] {
            assert!(!objects.has(text), "{text}");
            assert!(matches!(objects.read(text, 10), Err(UndoError::Gone { .. })), "{text}");
        }
    }

    #[test]
    fn a_folder_that_is_not_the_users_alone_is_not_used() {
        type Spoil = fn(&Path);
        let cases: [(&str, Spoil); 2] = [
            ("a link", |path| {
                std::fs::create_dir(path.with_file_name("elsewhere")).expect("a folder");
                symlink("elsewhere", path).expect("a link");
            }),
            ("writable by others", |path| {
                std::fs::create_dir(path).expect("a folder");
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).expect("a mode");
            }),
        ];
        for (name, spoil) in cases {
            let dir = tempfile::tempdir().expect("a scratch folder");
            spoil(&dir.path().join("objects"));
            assert!(Objects::new(dir.path()).is_err(), "{name}");
            let (dir, objects) = scratch();
            let digest = digest(b"x");
            spoil(&dir.path().join("objects").join(&digest[..2]));
            assert!(objects.put(b"x").is_err(), "{name}");
        }
    }

    #[test]
    fn what_nothing_refers_to_is_swept_away() {
        let (_dir, objects) = scratch();
        let put = |content: &[u8]| objects.put(content).expect("put");
        let (kept, old, new) = (put(b"kept"), put(b"old"), put(b"new"));
        let left = objects.path().join(".new.1.1");
        std::fs::write(&left, "half").expect("a file");
        std::fs::write(objects.path().join("other"), "x").expect("a file");
        for path in [&path_of(&objects, &kept), &path_of(&objects, &old), &left, &objects.path().join("other")] {
            age(path, 7_200);
        }
        let referenced = HashSet::from([kept.clone()]);
        let swept = objects.sweep(&referenced, Duration::from_secs(3_600), SystemTime::now()).expect("swept");
        assert_eq!(swept.removed, 2);
        let here = [&kept, &old, &new].map(|digest| objects.has(digest));
        assert_eq!((here, left.exists()), ([true, false, true], false));
    }

    #[test]
    fn an_old_object_that_is_relied_upon_again_counts_as_new() {
        let (_dir, objects) = scratch();
        let digest = objects.put(b"x").expect("put");
        age(&path_of(&objects, &digest), 7_200);
        objects.put(b"x").expect("put");
        objects.sweep(&HashSet::new(), Duration::from_secs(3_600), SystemTime::now()).expect("swept");
        assert!(objects.has(&digest));
    }
}
