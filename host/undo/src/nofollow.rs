//! Places in the user's files, looked at and changed so that nothing is ever reached through a link.
//!
//! A path is opened up to the folder that its last name is in: by the kernel where it can refuse links on the way
//! (`openat2` with `RESOLVE_NO_SYMLINKS`), else name by name. All that follows is relative to that open folder, so whatever is
//! put in the place of a folder on the way meanwhile changes nothing. Nothing but regular files and folders is opened, and
//! without waiting for anybody.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::model::{Inode, Kind, PathBytes, State, hex, unhex};

/// What a call to the system comes to.
pub(crate) type At<T> = Result<T, Errno>;

/// Most bytes of the names and values of a file's extended attributes.
const ATTRIBUTES: usize = 64 << 10;

/// Bytes that are read at once.
pub(crate) const CHUNK: usize = 256 << 10;

/// How a folder is opened that is only passed. Who may not list it may still pass it.
#[cfg(target_os = "linux")]
const WAY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const WAY: OFlags = LIST;

/// How a folder is opened that is listed.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How a file is opened. Opening a pipe would wait for whoever is at its other end.
const QUIETLY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// What the system knows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileInfo {
    pub(crate) kind: FileType,
    pub(crate) mode: u32,
    pub(crate) length: u64,
    pub(crate) modified: (i64, u32),
    pub(crate) changed: (i64, u32),
    pub(crate) inode: Inode,
    pub(crate) links: u64,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}

/// The types of these numbers differ between systems, and `i128` has room for all of them.
fn number<T: Into<i128>, N: TryFrom<i128> + Default>(value: T) -> N {
    N::try_from(value.into()).unwrap_or_default()
}

impl From<Stat> for FileInfo {
    fn from(stat: Stat) -> Self {
        FileInfo {
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: number(Mode::from_raw_mode(stat.st_mode).as_raw_mode()),
            length: number(stat.st_size),
            modified: (number(stat.st_mtime), number(stat.st_mtime_nsec)),
            changed: (number(stat.st_ctime), number(stat.st_ctime_nsec)),
            inode: Inode { device: number(stat.st_dev), number: number(stat.st_ino) },
            links: number(stat.st_nlink),
            owner: stat.st_uid,
            group: stat.st_gid,
        }
    }
}

impl FileInfo {
    /// What an open file is.
    pub(crate) fn of(file: &File) -> At<Self> {
        rustix::fs::fstat(file).map(FileInfo::from)
    }

    /// Whether it is a folder.
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Whether it is a regular file.
    pub(crate) fn is_file(&self) -> bool {
        self.kind == FileType::RegularFile
    }

    /// Whether it is the same file, and as far as its times and length tell nobody changed what is in it. What is in a folder may
    /// have changed.
    pub(crate) fn is_still(&self, other: &FileInfo) -> bool {
        let same = self.kind == other.kind && self.inode == other.inode;
        same && (self.is_folder() || (self.length, self.modified) == (other.length, other.modified))
    }

    /// As a state, without what has to be read.
    pub(crate) fn state(&self, kind: Kind) -> State {
        let inode = (self.is_file() && self.links > 1).then_some(self.inode);
        let mode = if self.is_file() { permissions(self.mode, self.owner, self.group) } else { self.mode & 0o7777 };
        State { kind, mode, modified: self.modified, attributes: Vec::new(), inode }
    }
}

/// The permissions of a file, without those by which it runs as somebody else: restored, it is ours, and of our group.
pub(crate) fn permissions(mode: u32, owner: u32, group: u32) -> u32 {
    const SET_ID: u32 = 0o6000;
    let is_ours = owner == rustix::process::geteuid().as_raw() && group == rustix::process::getegid().as_raw();
    mode & 0o7777 & !if is_ours { 0 } else { SET_ID }
}

/// Whether a path is absolute and names each folder on its way.
pub(crate) fn is_plain(path: &Path) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    // What `components` passes over in silence, `/./` and `//`, leads nowhere else.
    path.is_absolute() && path.components().all(plain) && !path.as_os_str().as_bytes().contains(&0)
}

/// Opens a folder to which no link leads, which is none itself either.
fn folder(path: &Path, flags: OFlags) -> At<OwnedFd> {
    if !is_plain(path) {
        return Err(Errno::INVAL);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // An old kernel; a container's filter that does not know the call; a path that is too long for one call.
            Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => {}
            // It says the same of a link in the last place and of a file there.
            Err(Errno::NOTDIR) if is_link(path) => return Err(Errno::LOOP),
            opened => return opened,
        }
    }
    step_by_step(path, flags)
}

/// Whether there is a link, in whatever folder. Only to say what is wrong with a path that is not used.
#[cfg(target_os = "linux")]
fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

/// The same for any kernel and any length.
fn step_by_step(path: &Path, flags: OFlags) -> At<OwnedFd> {
    let names: Vec<&OsStr> = normal(path).collect();
    let first = if names.is_empty() { flags } else { WAY };
    let mut at = rustix::fs::open("/", first, Mode::empty())?;
    for (index, name) in names.iter().enumerate() {
        let flags = if index + 1 == names.len() { flags } else { WAY };
        at = step(&at, name, flags)?;
    }
    Ok(at)
}

fn step(at: &OwnedFd, name: &OsStr, flags: OFlags) -> At<OwnedFd> {
    rustix::fs::openat(at, name, flags, Mode::empty()).map_err(|error| {
        let link = || {
            rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileInfo::from(stat).kind == FileType::Symlink)
        };
        if error == Errno::NOTDIR && link() { Errno::LOOP } else { error }
    })
}

fn normal(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}

/// The names in a folder and what they are, sorted; at most so many, and whether those are all.
pub(crate) fn listed(path: &Path, most: usize) -> At<(Vec<(OsString, FileInfo)>, bool)> {
    let fd = folder(path, LIST)?;
    let (mut names, mut all) = (Vec::new(), true);
    for entry in Dir::read_from(&fd)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name == b"." || name == b".." {
            continue;
        }
        if names.len() == most {
            all = false;
            break;
        }
        names.push(OsString::from_vec(name));
    }
    names.sort_unstable();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        match rustix::fs::statat(&fd, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => found.push((name, FileInfo::from(stat))),
            // It is gone meanwhile.
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((found, all))
}

/// A name in a folder that is open.
#[derive(Debug)]
pub(crate) struct DirEntryRef {
    folder: OwnedFd,
    name: OsString,
}

impl DirEntryRef {
    /// The place that a path leads to. There need not be anything.
    pub(crate) fn open(path: &Path) -> At<Self> {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok(DirEntryRef { folder: folder(parent, WAY)?, name: name.to_owned() }),
            _ => Ok(DirEntryRef { folder: folder(path, WAY)?, name: ".".into() }),
        }
    }

    /// The same; folders on the way that are missing are made.
    pub(crate) fn make(path: &Path) -> At<Self> {
        match DirEntryRef::open(path) {
            Err(Errno::NOENT) => {}
            opened => return opened,
        }
        let mut names: Vec<&OsStr> = normal(path).collect();
        let name = names.pop().ok_or(Errno::INVAL)?;
        let mut at = rustix::fs::open("/", WAY, Mode::empty())?;
        for name in names {
            match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                // What is there already need not be written to.
                Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => {}
                Err(error) => return Err(error),
            }
            at = step(&at, name, WAY)?;
        }
        Ok(DirEntryRef { folder: at, name: name.to_owned() })
    }

    /// The last name of its path.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Another name in the same folder.
    pub(crate) fn beside(&self, name: &str) -> At<Self> {
        Ok(DirEntryRef { folder: rustix::io::fcntl_dupfd_cloexec(&self.folder, 0)?, name: name.into() })
    }

    /// What is there.
    pub(crate) fn found(&self) -> At<Option<FileInfo>> {
        match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat.into())),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the regular file that is there, with [`OFlags::RDONLY`] or others.
    pub(crate) fn file(&self, flags: OFlags) -> At<(File, FileInfo)> {
        // To open a device may do something by itself.
        match self.found()? {
            None => return Err(Errno::NOENT),
            Some(found) if !found.is_file() => return Err(Errno::INVAL),
            Some(_) => {}
        }
        let file: File = rustix::fs::openat(&self.folder, &self.name, flags | QUIETLY, Mode::empty())?.into();
        let found = FileInfo::of(&file)?;
        if found.is_file() { Ok((file, found)) } else { Err(Errno::INVAL) }
    }

    /// Opens the folder that is there.
    pub(crate) fn folder(&self) -> At<(File, FileInfo)> {
        let file: File = rustix::fs::openat(&self.folder, &self.name, LIST, Mode::empty())?.into();
        let found = FileInfo::of(&file)?;
        Ok((file, found))
    }

    /// Makes a file that was not there, for the user alone.
    pub(crate) fn create(&self) -> At<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | QUIETLY;
        rustix::fs::openat(&self.folder, &self.name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }

    /// Where the link leads that is there.
    pub(crate) fn target(&self) -> At<PathBuf> {
        let target = rustix::fs::readlinkat(&self.folder, &self.name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    /// Makes a link.
    pub(crate) fn link(&self, target: &Path) -> At<()> {
        rustix::fs::symlinkat(target, &self.folder, &self.name)
    }

    /// Makes a folder, for the user alone.
    pub(crate) fn make_folder(&self) -> At<()> {
        rustix::fs::mkdirat(&self.folder, &self.name, Mode::RWXU)
    }

    /// Removes what is there. A folder has to be empty.
    pub(crate) fn remove(&self, is_folder: bool) -> At<()> {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(&self.folder, &self.name, flags)
    }

    /// Gives what is there another name in the same folder, in the place of what has that already.
    pub(crate) fn rename(&self, to: &DirEntryRef) -> At<()> {
        rustix::fs::renameat(&self.folder, &self.name, &to.folder, &to.name)
    }

    /// Sets when it was changed last; of a link its own time.
    pub(crate) fn set_modified(&self, (seconds, nanos): (i64, u32)) -> At<()> {
        let last_access = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
        let last_modification = Timespec { tv_sec: seconds, tv_nsec: nanos.into() };
        let times = Timestamps { last_access, last_modification };
        rustix::fs::utimensat(&self.folder, &self.name, &times, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Sets the mode of the file or folder that is there, if it still is this one.
    pub(crate) fn set_mode(&self, expected: &FileInfo, mode: u32) -> At<()> {
        let opened = if expected.is_folder() { self.folder() } else { self.file(OFlags::RDONLY) };
        match opened {
            Ok((_, found)) if found.inode != expected.inode => Err(Errno::STALE),
            Ok((file, _)) => rustix::fs::fchmod(&file, Mode::from_bits_truncate(number(i128::from(mode)))),
            // Who may not read a file may still change its mode if it is theirs.
            Err(Errno::ACCESS) => self.set_mode_unread(expected, mode),
            Err(error) => Err(error),
        }
    }

    #[cfg(target_os = "linux")]
    fn set_mode_unread(&self, expected: &FileInfo, mode: u32) -> At<()> {
        use std::os::fd::AsRawFd as _;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file: File = rustix::fs::openat(&self.folder, &self.name, flags, Mode::empty())?.into();
        let found = FileInfo::of(&file)?;
        if found.inode != expected.inode || found.kind != expected.kind {
            return Err(Errno::STALE);
        }
        // Old kernels have no call for this.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::chmod(path, Mode::from_bits_truncate(mode))
    }

    #[cfg(not(target_os = "linux"))]
    fn set_mode_unread(&self, _: &FileInfo, mode: u32) -> At<()> {
        let mode = Mode::from_bits_truncate(number(i128::from(mode)));
        rustix::fs::chmodat(&self.folder, &self.name, mode, AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// What is at a path, and what the system knows of it.
#[derive(Clone, Debug)]
pub(crate) struct PathState {
    pub(crate) state: State,
    pub(crate) found: Option<FileInfo>,
}

impl PathState {
    /// Nothing.
    pub(crate) const ABSENT: PathState = PathState { state: State::ABSENT, found: None };
}

/// How the content of a file is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    /// Whether the content is read, by the file's length.
    pub(crate) reads: &'a dyn Fn(u64) -> bool,
    /// How long it may take.
    pub(crate) until: Option<Instant>,
}

/// Looks at what is there. A file that may not be read has no content then.
///
/// # Errors
/// If the way there leads through a link or something else than folders, or may not be passed.
pub(crate) fn look(path: &Path, how: Look<'_>) -> At<PathState> {
    let place = match DirEntryRef::open(path) {
        Err(Errno::NOENT) => return Ok(PathState::ABSENT),
        place => place?,
    };
    let Some(found) = place.found()? else { return Ok(PathState::ABSENT) };
    let bare = |kind| PathState { state: found.state(kind), found: Some(found) };
    Ok(match found.kind {
        FileType::RegularFile => return look_at_file(&place, found, how),
        FileType::Directory => {
            let mut seen = bare(Kind::Folder);
            if let Ok((file, _)) = place.folder() {
                seen.state.attributes = attributes(&file);
            }
            seen
        }
        FileType::Symlink => bare(Kind::Link { target: PathBytes(place.target()?) }),
        _ => bare(Kind::Special),
    })
}

fn look_at_file(place: &DirEntryRef, found: FileInfo, how: Look<'_>) -> At<PathState> {
    let (file, found) = match place.file(OFlags::RDONLY) {
        Ok((file, found)) => (Some(file), found),
        Err(Errno::ACCESS | Errno::PERM) => (None, found),
        Err(error) => return Err(error),
    };
    let read = file.as_ref().filter(|_| (how.reads)(found.length));
    let content = read.and_then(|file| digest(file, found.length, how.until).ok().flatten());
    let mut state = found.state(Kind::File { length: found.length, content });
    state.attributes = file.as_ref().map(attributes).unwrap_or_default();
    Ok(PathState { state, found: Some(found) })
}

/// The sha256 of a file's content. None if it is longer than it was, or there is no time left.
pub(crate) fn digest(mut file: &File, length: u64, until: Option<Instant>) -> io::Result<Option<String>> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; usize::try_from(length).map_or(CHUNK, |length| (length + 1).min(CHUNK))];
    let mut read = 0;
    loop {
        let count = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        if count == 0 {
            return Ok(Some(hex(&hasher.finalize())));
        }
        read += count as u64;
        if read > length || until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        hasher.update(&buffer[..count]);
    }
}

/// The extended attributes of an open file or folder that can be read, sorted; none if they are too large.
pub(crate) fn attributes(file: &File) -> Vec<(String, String)> {
    bounded_attributes(file).unwrap_or_default()
}

/// The same, but none only if they are too large, not if there are none.
pub(crate) fn bounded_attributes(file: &File) -> Option<Vec<(String, String)>> {
    match all_attributes(file) {
        Err(Errno::RANGE | Errno::TOOBIG) => None,
        // Not every file system has them.
        attributes => Some(attributes.unwrap_or_default()),
    }
}

fn all_attributes(file: &File) -> At<Vec<(String, String)>> {
    // Nearly always there are none, or one of the system's.
    let mut small = [0; 256];
    let list = match rustix::fs::flistxattr(file, &mut small[..]) {
        Ok(length) => small[..length].to_vec(),
        Err(Errno::RANGE) => {
            let mut list = vec![0; ATTRIBUTES];
            let length = rustix::fs::flistxattr(file, &mut list[..])?;
            list.truncate(length);
            list
        }
        Err(error) => return Err(error),
    };
    let (mut room, mut attributes) = (ATTRIBUTES, Vec::new());
    for name in list.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let value = match rustix::fs::fgetxattr(file, name, &mut small[..]) {
            Ok(length) => small[..length].to_vec(),
            Err(Errno::RANGE) => {
                let mut value = vec![0; ATTRIBUTES];
                let length = rustix::fs::fgetxattr(file, name, &mut value[..])?;
                value.truncate(length);
                value
            }
            Err(_) => continue,
        };
        room = room.checked_sub(name.len() + value.len()).ok_or(Errno::RANGE)?;
        attributes.push((hex(name), hex(&value)));
    }
    attributes.sort_unstable();
    Ok(attributes)
}

/// Those attributes that are the user's and say something about the content, not about the system's own book-keeping.
pub(crate) fn users(attributes: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    attributes.iter().filter(|(name, _)| {
        let name = unhex(name).unwrap_or_default();
        let systems = [&b"security."[..], b"trusted.", b"system.", b"com.apple."];
        name.starts_with(b"system.posix_acl_") || !systems.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// Gives an open file or folder these attributes and takes other ones away.
///
/// # Errors
/// If one of the user's own cannot be set. Not all of the system's can.
pub(crate) fn set_attributes(file: &File, wanted: &[(String, String)]) -> At<()> {
    let present = attributes(file);
    for (name, _) in users(&present).filter(|(name, _)| !wanted.iter().any(|(other, _)| other == name)) {
        rustix::fs::fremovexattr(file, unhex(name).unwrap_or_default())?;
    }
    for pair in wanted.iter().filter(|pair| !present.contains(pair)) {
        let (Some(name), Some(value)) = (unhex(&pair.0), unhex(&pair.1)) else { return Err(Errno::INVAL) };
        let set = rustix::fs::fsetxattr(file, name, &value, XattrFlags::empty());
        if users(std::slice::from_ref(pair)).next().is_some() {
            set?;
        }
    }
    Ok(())
}
