//! The small world that every script starts in: where it lies, what is in it, which environment it has.
//! Defined here once, so that a prediction is made from exactly what the script will find.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::paths::Links;

/// The folder that holds everything a script may change, as the script sees it.
pub const ROOT: &str = "/tmp/truth";
/// Where a script starts.
pub const WORK: &str = "/tmp/truth/work";
/// Its `HOME`.
pub const HOME: &str = "/tmp/truth/home";
/// Where the harness keeps its own files, as seen from inside. Nothing there counts as an effect.
pub const WATCH: &str = "/tmp/watch";

/// What lies at one place before a script starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A folder.
    Folder,
    /// A file with this content.
    File(&'static str),
    /// A file with this content that may be executed.
    Program(&'static str),
    /// A symbolic link to this target.
    Link(&'static str),
}

/// Everything that exists below [`ROOT`], parents first.
#[rustfmt::skip]
pub const TREE: &[(&str, Node)] = &[
    ("/tmp/truth/home",                 Node::Folder),
    ("/tmp/truth/home/.profile",        Node::File("# profile\n")),
    ("/tmp/truth/home/notes.txt",       Node::File("one note\n")),
    ("/tmp/truth/home/bin",             Node::Folder),
    ("/tmp/truth/home/bin/hello",       Node::Program("#!/bin/sh\necho hello\n")),
    ("/tmp/truth/work",                 Node::Folder),
    ("/tmp/truth/work/a.txt",           Node::File("alpha\nbeta\ngamma\n")),
    ("/tmp/truth/work/b.txt",           Node::File("three\none\ntwo\n")),
    ("/tmp/truth/work/c.md",            Node::File("# title\n\ntext with one word\n")),
    ("/tmp/truth/work/data.csv",        Node::File("id,name\n1,ann\n2,bob\n3,eve\n")),
    ("/tmp/truth/work/empty",           Node::File("")),
    ("/tmp/truth/work/two words.txt",   Node::File("blank in the name\n")),
    ("/tmp/truth/work/.hidden",         Node::File("hidden\n")),
    ("/tmp/truth/work/list",            Node::File("a.txt\nb.txt\n")),
    ("/tmp/truth/work/run.sh",          Node::Program("#!/bin/bash\ntouch \"made-by-run${1:+-$1}\"\n")),
    ("/tmp/truth/work/lib.sh",          Node::File("lib_dir=dir\nlib_touch() { touch \"$lib_dir/$1\"; }\n")),
    ("/tmp/truth/work/dir",             Node::Folder),
    ("/tmp/truth/work/dir/one.txt",     Node::File("1\n")),
    ("/tmp/truth/work/dir/two.txt",     Node::File("2\n")),
    ("/tmp/truth/work/dir/sub",         Node::Folder),
    ("/tmp/truth/work/dir/sub/deep.txt",Node::File("deep\n")),
    ("/tmp/truth/work/bare",            Node::Folder),
    ("/tmp/truth/work/my dir",          Node::Folder),
    ("/tmp/truth/work/my dir/x y.txt",  Node::File("xy\n")),
    ("/tmp/truth/work/link",            Node::Link("dir")),
    ("/tmp/truth/work/a-link",          Node::Link("a.txt")),
    ("/tmp/truth/work/dangling",        Node::Link("nowhere")),
];

/// The whole environment of a script. `BASH_ENV` is the harness's own way in; it is listed because a script sees it.
/// Bash itself adds `SHLVL`, `PWD` and `_`.
#[rustfmt::skip]
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("BASH_ENV", "/tmp/watch/trap"),
    ("HOME",     HOME),
    ("LC_ALL",   "C.UTF-8"),
    ("LOGNAME",  "truth"),
    ("PATH",     "/usr/local/bin:/usr/bin:/bin"),
    ("SHELL",    "/bin/bash"),
    ("TERM",     "dumb"),
    ("TZ",       "UTC"),
    ("USER",     "truth"),
];

/// What lies at an absolute, clean path below [`ROOT`] before the script starts; links are not followed.
pub fn node(path: &str) -> Option<Node> {
    if path == ROOT {
        return Some(Node::Folder);
    }
    TREE.iter().find(|(at, _)| *at == path).map(|&(_, node)| node)
}

/// The links of the tree.
pub fn links() -> Links {
    TREE.iter()
        .filter_map(|&(at, node)| match node {
            Node::Link(target) => Some((at.to_owned(), target.to_owned())),
            _ => None,
        })
        .collect()
}

/// Every file is this old before the script starts, so that a change of time shows.
const MADE: Duration = Duration::from_secs(1_000_000_000);

/// Makes the tree anew below `root` (the place that is [`ROOT`] inside), owned by `owner` if that is somebody else.
pub fn reset(root: &Path, owner: Option<u32>) -> io::Result<()> {
    clear(root)?;
    for &(at, node) in TREE {
        let place = root.join(at.trim_start_matches(ROOT).trim_start_matches('/'));
        match node {
            Node::Folder => {
                fs::create_dir(&place)?;
                fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
            }
            Node::File(text) | Node::Program(text) => {
                fs::write(&place, text)?;
                let mode = if matches!(node, Node::Program(_)) { 0o755 } else { 0o644 };
                fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
            }
            Node::Link(target) => symlink(target, &place)?,
        }
        if owner.is_some() {
            lchown(&place, owner, owner)?;
        }
    }
    for &(at, node) in TREE.iter().rev() {
        if !matches!(node, Node::Link(_)) {
            let place = root.join(at.trim_start_matches(ROOT).trim_start_matches('/'));
            fs::File::open(place)?.set_modified(UNIX_EPOCH + MADE)?;
        }
    }
    if owner.is_some() {
        chown(root, owner, owner)?;
    }
    Ok(())
}

/// Removes everything below `root`.
pub fn clear(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        remove(&entry?.path())?;
    }
    Ok(())
}

/// Removes whatever is there, folders that a script made unreadable too.
fn remove(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    if fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    open_up(path)?;
    fs::remove_dir_all(path)
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// What a snapshot remembers of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// `d`, `l`, `f`, or `o` for anything else.
    pub kind: char,
    /// The permission bits.
    pub mode: u32,
    /// Nanoseconds since 1970 for a file, else 0: a folder's time follows from what happens in it.
    pub modified: i128,
    /// A hash of the content, or of a link's target.
    pub content: u64,
}

/// The tree as it is now: the second witness beside the system calls. Keys are paths as seen from inside.
pub fn snapshot(root: &Path) -> BTreeMap<String, Seen> {
    let mut out = BTreeMap::new();
    look(root, ROOT, &mut out);
    out
}

/// The tree as [`reset`] makes it, without looking.
pub fn pristine() -> BTreeMap<String, Seen> {
    let seen = |&(at, node): &(&str, Node)| {
        let mut hasher = DefaultHasher::new();
        let (kind, mode) = match node {
            Node::Folder => ('d', 0o755),
            Node::Link(target) => {
                Path::new(target).to_path_buf().hash(&mut hasher);
                ('l', 0o777)
            }
            Node::File(text) | Node::Program(text) => {
                text.as_bytes().to_vec().hash(&mut hasher);
                ('f', if matches!(node, Node::Program(_)) { 0o755 } else { 0o644 })
            }
        };
        // The time of a link cannot be set without other means; it changes only with the link.
        let modified = if kind == 'f' { MADE.as_nanos() as i128 } else { 0 };
        (at.to_owned(), Seen { kind, mode, modified, content: hasher.finish() })
    };
    TREE.iter().map(seen).collect()
}

/// Unreadable entries are left out: the script may have made them so, and the system calls still tell.
fn look(folder: &Path, inside: &str, out: &mut BTreeMap<String, Seen>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        let name = format!("{inside}/{}", entry.file_name().to_string_lossy());
        let mut hasher = DefaultHasher::new();
        let kind = if data.is_dir() {
            'd'
        } else if data.is_symlink() {
            fs::read_link(&path).unwrap_or_default().hash(&mut hasher);
            'l'
        } else if data.is_file() {
            fs::read(&path).unwrap_or_default().hash(&mut hasher);
            'f'
        } else {
            'o'
        };
        let modified =
            if kind == 'f' { i128::from(data.mtime()) * 1_000_000_000 + i128::from(data.mtime_nsec()) } else { 0 };
        out.insert(name.clone(), Seen { kind, mode: data.mode() & 0o7777, modified, content: hasher.finish() });
        if kind == 'd' {
            look(&path, &name, out);
        }
    }
}
