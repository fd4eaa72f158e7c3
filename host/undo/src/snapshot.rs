//! A workspace as git sees it, byte for byte, in a git folder of Toolgate's own.
//!
//! For what a program changes of which nobody knows what it changes. Each root has a git folder in the store, with an
//! index of its own, so that only what has changed since the last snapshot is read again. The user's index, refs,
//! objects and hooks are left alone, and nothing that the repository configures or names in attributes has a say: no
//! filter, no conversion of line ends, no encoding.
//!
//! What is in a snapshot:
//!
//! | | |
//! |---|---|
//! | files and links that git tracks, or would show as untracked | yes |
//! | what git ignores: `.gitignore`, `info/exclude`, the user's global list | no, it is not looked at |
//! | repositories in it, submodules | no: left out, and said |
//! | pipes, sockets, devices | no; said where git knows the path |
//! | what rules keep from being read, is too large or cannot be read | no: left out, and said |
//! | permissions | yes, in a list beside the tree |
//! | empty folders, owners, times, extended attributes | no: git has none |
//!
//! What was checked out and not touched since is not stored again: its objects are borrowed from the user's repository,
//! as far as the last commit holds them. All else is in the folder here. So a snapshot needs a
//! [keep](crate::history::save) of the same moment: it is what holds the last commit.
//!
//! Outside of any repository it is the same, with nothing borrowed, [`IGNORED`] folders left out, and only for small
//! folders.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{Access, AtFlags, FlockOperation, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use toolgate_git::{Call, Git, MUCH, Repository, empty_tree};
use toolgate_private::{Folder, Others, is_missing, open_regular, read_at_most, read_regular, secret_folder};

use crate::error::UndoError;
use crate::files::why_withheld;
use crate::git::{differences, is_id, parts};
use crate::limits::Limits;
use crate::model::{Blob, LeftOut, PathBytes, Snapshot, hex};
use crate::modes::{Modes, folders_of, is_recent};
use crate::objects::is_digest;

/// What is ignored in a folder that is in no repository, beside what its own `.gitignore` files and the user's global
/// list say: what tools make and can make again.
pub const IGNORED: &[&str] = &[
    ".cache/",
    ".direnv/",
    ".gradle/",
    ".mypy_cache/",
    ".next/",
    ".nox/",
    ".nuxt/",
    ".parcel-cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".svelte-kit/",
    ".terraform/",
    ".tox/",
    ".turbo/",
    ".venv/",
    "__pycache__/",
    "bower_components/",
    "dist/",
    "node_modules/",
    "target/",
    "venv/",
    "*.pyc",
    ".DS_Store",
];

/// Attributes of all files, of the highest precedence: what `.gitattributes` say of conversions counts for nothing.
const ATTRIBUTES: &str = "* -text !eol !crlf -filter -ident !working-tree-encoding\n";

/// How our git folders are configured. Names that other systems cannot have are as good as any: nothing is checked out.
const CONFIGURATION: &str = "\
\tbare = false
\tautocrlf = false
\tcheckStat = default
\tfileMode = true
\tfsmonitor = false
\tignoreCase = false
\tignoreStat = false
\tlogAllRefUpdates = false
\tprecomposeUnicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tsafecrlf = false
\tsparseCheckout = false
\tsplitIndex = false
\tsymlinks = true
\ttrustCtime = true
\tuntrackedCache = false
[gc]
\tauto = 0
[index]
\tsparse = false
";

/// The largest list of ignored files that is read.
const LIST: u64 = 1 << 20;

/// How many paths git is given at once. What was read until the deadline is not read again the next time.
const CHUNK: usize = 8_000;

/// How many bytes of files it is given at once: about a second's work.
const CHUNK_BYTES: u64 = 32 << 20;

/// Bytes of a file of which the content is stored as it is: to compress it takes five times as long.
const LARGE: u64 = 8 << 20;

/// How long a file that took too long is not tried again.
const SLOW_RETENTION: Duration = Duration::from_secs(3_600);

/// How many paths are named as arguments at once.
const ARGUMENTS: usize = 200;

/// How many paths are so many that their content goes into a pack. Few would make a pack of each snapshot.
const MANY: usize = 64;

/// Most bytes of contents that are read at once.
const BLOBS: usize = 1 << 30;

/// Most bytes of them that git is asked for at once.
const AT_ONCE: usize = 64 << 20;

/// How often it is looked whether it is our turn.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How long what no entry speaks of is kept: the entry may be about to be written.
const UNREFERENCED_RETENTION: Duration = Duration::from_secs(3_600);

/// How many objects in files of their own, and how many packs, are too many.
const LOOSE: usize = 4_000;
const PACKS: usize = 20;

/// The oldest that the clock of a file system may be behind the system's.
const CLOCK_SKEW_TOLERANCE: Duration = Duration::from_millis(20);

/// Paths relative to a root, as git says them.
type Paths = Vec<Vec<u8>>;

/// A snapshot that is about to be made. While it is there, nobody else makes one of the same root.
#[derive(Debug)]
pub struct Pending {
    own: ShadowRepository,
    _turn: File,
    /// To be read, with their lengths.
    read: Vec<(Vec<u8>, u64)>,
    /// In our index, and not in the last commit: their content is stored by now, or will be.
    held: Paths,
    gone: Paths,
    left_out: Vec<LeftOut>,
    head: Option<String>,
}

/// The user's repository whose worktree a root is.
#[derive(Clone, Debug)]
pub struct UserRepository {
    /// The repository.
    pub repository: Repository,
    /// The tree of its last commit; none if there is no commit yet.
    pub head: Option<String>,
}

impl UserRepository {
    /// The repository that a root is in; none if it is in none.
    ///
    /// # Errors
    /// If git refuses it.
    pub fn of(git: &Git, root: &Path, until: Instant) -> Result<Option<UserRepository>, UndoError> {
        let Some(repository) = Repository::of(git, root, until)? else { return Ok(None) };
        let head = head_tree(&repository)?;
        Ok(Some(UserRepository { repository, head }))
    }
}

/// Looks at what has changed since the last snapshot of a root. No content is read.
///
/// # Errors
/// If the root is too much, like the home folder; if more has changed than the limits allow; if git refuses the
/// repository; or if it takes too long. What was found out by then makes the next time shorter.
pub fn survey(
    git: &Git,
    theirs: Option<&UserRepository>,
    store_folder: &Path,
    root: &Path,
    limits: &Limits,
    until: Instant,
) -> Result<Pending, UndoError> {
    let root = root.canonicalize().map_err(|error| UndoError::system(root, error))?;
    refuse(&root, std::env::home_dir().as_deref())?;
    let head = theirs.and_then(|theirs| theirs.head.clone());
    let theirs = theirs.map(|theirs| &theirs.repository);
    if theirs.is_some_and(|theirs| theirs.worktree.as_ref() != Some(&root)) {
        return Err(UndoError::Git(format!("{} is not the root of its worktree", root.display())));
    }
    let format = theirs.map_or("sha1", |theirs| &theirs.format);
    let (own, turn) = ShadowRepository::prepare(git, store_folder, &root, format, until)?;
    let own = own.adjust(theirs)?;
    if let Some(theirs) = theirs.filter(|_| !own.index.exists()) {
        own.seed(theirs)?;
    }
    let mut found = ChangedPaths::sort(&root, own.refresh(own.changed()?)?, limits);
    found.leave_out_slow(&own);
    within(&found, theirs, limits)?;
    let paths: Paths = found.read.iter().map(|(path, _)| path.clone()).collect();
    let held = match theirs {
        Some(theirs) => own.held(head.as_deref().unwrap_or(theirs.empty_tree()), &[&paths, &found.gone])?,
        None => Vec::new(),
    };
    Ok(Pending { own, _turn: turn, read: found.read, held, gone: found.gone, left_out: found.left_out, head })
}

impl Pending {
    /// The root.
    pub fn root(&self) -> &Path {
        &self.own.root
    }

    /// The paths whose content would be read, or taken from the user's repository, absolute.
    pub fn paths(&self) -> Vec<PathBuf> {
        let read = self.read.iter().map(|(path, _)| path);
        read.chain(&self.held).map(|path| self.own.root.join(OsStr::from_bytes(path))).collect()
    }

    /// Makes the snapshot, without the paths that are withheld: one answer for each of [`Pending::paths`], in the same
    /// order; where there is none, the path is withheld, and without answers all are. All that was left out is told, each with its path.
    ///
    /// # Errors
    /// If something cannot be read, or if it takes too long. What was read by then need not be read again.
    pub fn take(self, withheld: Option<&[bool]>, until: Instant) -> Result<(Snapshot, Vec<LeftOut>), UndoError> {
        let Pending { own, _turn, read, held, gone, mut left_out, head } = self;
        let own = ShadowRepository { until, ..own };
        let root = PathBytes(own.root.clone());
        let unchanged = read.is_empty() && gone.is_empty();
        let known = own.last_modes();
        if let Some(Last { tree, .. }) = own.last(head.as_deref()).filter(|_| unchanged) {
            let modes = own.put_modes(known, &[])?;
            let last = Last { tree, modes };
            own.remember(&last, head.as_deref())?;
            return Ok((Snapshot { root, tree: last.tree, modes: Some(last.modes) }, left_out));
        }
        // If this is cut off, the index has what the list has not.
        own.drop_last();
        let why_withheld = why_withheld(withheld);
        let withheld = withheld.unwrap_or_default();
        let is_withheld = |at: usize| withheld.get(at).copied().unwrap_or(true);
        let mut remove = gone;
        let mut add = Vec::with_capacity(read.len());
        let read = read.into_iter().map(|(path, length)| (path, Some(length)));
        for (at, (path, length)) in read.chain(held.into_iter().map(|path| (path, None))).enumerate() {
            if is_withheld(at) {
                left_out.push(own.left_out(&path, why_withheld));
                remove.push(path);
            } else if let Some(length) = length {
                add.push((path, length));
            }
        }
        // What is in the index as it seems to be is not read again.
        let racy: HashSet<Vec<u8>> = own.racy().into_iter().collect();
        remove.extend(add.iter().map(|(path, _)| path).filter(|path| racy.contains(*path)).cloned());
        own.update(&["update-index", "-z", "--force-remove", "--stdin"], &remove)?;
        // They are new to the index now, and read whatever becomes of this.
        own.put("racy", &[])?;
        own.add(&add)?;
        let changed = add.into_iter().map(|(path, _)| path).chain(remove).collect::<Paths>();
        own.note_racy(changed.iter())?;
        let tree = own.tree(head.as_deref()).inspect_err(|error| own.forget(error))?;
        let modes = own.put_modes(known, &changed)?;
        let last = Last { tree, modes };
        own.remember(&last, head.as_deref())?;
        Ok((Snapshot { root, tree: last.tree, modes: Some(last.modes) }, left_out))
    }
}

/// The file that says of which tree the index is and which list of modes it has, with which last commit all of that tree is
/// there, and since which start of the machine: a loss of power may leave objects without content.
const LAST: &str = "last";

/// The file that says which large files took too long, and which is being added, with their lengths.
const SLOW: &str = "slow";

/// What the last snapshot was.
struct Last {
    tree: String,
    /// The sha256 of the list of modes.
    modes: String,
}

impl Last {
    /// What [`LAST`] says. None where it is not known when the machine was started.
    fn text(&self, head: Option<&str>) -> Option<String> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(format!("{} {} {} {boot}", self.tree, self.modes, head.unwrap_or("-")))
    }
}

/// The folder with lists of modes, each called by its sha256, and the file that says which is of our index.
const MODES: &str = "modes";
const INDEX_MODES: &str = "index.modes";

/// The file with paths whose mode git would take for unchanged, as with [`ShadowRepository::racy`]; these need not have been read.
const RACY_MODES: &str = "racy.modes";

/// The file with the folders that the files in our index are in, below the root.
const FOLDERS: &str = "folders";

/// What changed paths are.
#[derive(Debug, Default)]
struct ChangedPaths {
    /// To be read, with their lengths.
    read: Vec<(Vec<u8>, u64)>,
    /// Not to be in the index.
    gone: Vec<Vec<u8>>,
    left_out: Vec<LeftOut>,
}

impl ChangedPaths {
    fn sort(root: &Path, changed: Vec<Vec<u8>>, limits: &Limits) -> ChangedPaths {
        let (mut found, mut ways) = (ChangedPaths::default(), Ways { root, known: HashMap::new() });
        for path in changed {
            let absolute = root.join(OsStr::from_bytes(&path));
            let why = match absolute.symlink_metadata() {
                _ if path.ends_with(b"/") => Some("it is a repository of its own".to_owned()),
                _ if is_gits(&absolute) => Some("git takes no such name".to_owned()),
                Ok(there) if ways.lead_to(&absolute) && !there.is_dir() => match unfit(&absolute, &there, limits) {
                    None => {
                        found.read.push((path, there.len()));
                        continue;
                    }
                    why => why,
                },
                Err(error) if !is_missing(&error) => Some("it cannot be looked at".to_owned()),
                // A folder or a link has taken its place, or that of a folder on the way.
                _ => None,
            };
            let left_out = |why| LeftOut { path: Some(PathBytes(absolute)), why };
            found.left_out.extend(why.map(left_out));
            found.gone.push(path);
        }
        found.gone.retain(|path| !path.ends_with(b"/"));
        found
    }
}

impl ChangedPaths {
    /// Leaves out the files that took too long the last time.
    fn leave_out_slow(&mut self, own: &ShadowRepository) {
        let slow: HashSet<Vec<u8>> = own.slow().into_iter().collect();
        let is_slow = |(path, length): &(Vec<u8>, u64)| {
            slow.contains(&[format!("{length} ").as_bytes(), path.as_slice()].concat())
        };
        for (path, _) in self.read.extract_if(.., |one| is_slow(one)) {
            self.left_out.push(own.left_out(&path, "it could not be read in time"));
            self.gone.push(path);
        }
    }
}

/// Whether git takes a name in it for one of its own, which it never adds.
fn is_gits(path: &Path) -> bool {
    let is = |name: &OsStr| name.as_bytes().eq_ignore_ascii_case(b".git");
    path.components().any(|part| matches!(part, Component::Normal(name) if is(name)))
}

/// Why something cannot be in a snapshot.
fn unfit(path: &Path, there: &Metadata, limits: &Limits) -> Option<String> {
    let kind = there.file_type();
    if kind.is_symlink() {
        return None;
    }
    if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device() {
        return Some("it is a pipe, a socket or a device".to_owned());
    }
    if there.len() > limits.file {
        return Some(format!("it is larger than {} MiB", limits.file >> 20));
    }
    let readable = rustix::fs::accessat(rustix::fs::CWD, path, Access::READ_OK, AtFlags::EACCESS);
    readable.is_err().then(|| "it cannot be read".to_owned())
}

/// Which folders below a root lead through no link.
struct Ways<'a> {
    root: &'a Path,
    known: HashMap<PathBuf, bool>,
}

impl Ways<'_> {
    fn lead_to(&mut self, path: &Path) -> bool {
        let Some(folder) = path.parent().filter(|folder| *folder != self.root) else {
            return true;
        };
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let leads = folder.symlink_metadata().is_ok_and(|there| there.is_dir()) && self.lead_to(folder);
        self.known.insert(folder.to_path_buf(), leads);
        leads
    }
}

/// Whether what git does not track already is within the limits. What it tracks was small enough for git.
fn within(found: &ChangedPaths, theirs: Option<&Repository>, limits: &Limits) -> Result<(), UndoError> {
    let most = if theirs.is_some() { limits.paths } else { limits.untracked_files };
    let fits = |count: usize, bytes: u64| count <= most && bytes <= limits.call;
    let bytes = |read: &mut dyn Iterator<Item = u64>| read.fold(0, u64::saturating_add);
    if fits(found.read.len(), bytes(&mut found.read.iter().map(|(_, length)| *length))) {
        return Ok(());
    }
    let tracked = theirs.map(|theirs| theirs.ask(&["ls-files", "-z"], vec![])).transpose()?.unwrap_or_default();
    let tracked: HashSet<&[u8]> = parts(&tracked).collect();
    let new = || found.read.iter().filter(|(path, _)| !tracked.contains(path.as_slice()));
    if fits(new().count(), bytes(&mut new().map(|(_, length)| *length))) {
        return Ok(());
    }
    let what = if theirs.is_some() { "untracked files that are not ignored" } else { "files in no repository" };
    Err(UndoError::Git(format!("more than {most} {what}, or more than {} MiB of them", limits.call >> 20)))
}

/// Refuses roots that hold more than a project.
fn refuse(root: &Path, home: Option<&Path>) -> Result<(), UndoError> {
    let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_path_buf()));
    if root.parent().is_none() || home.is_some_and(|home| home.starts_with(root)) {
        return Err(UndoError::Git(format!("{} is not a folder of one project", root.display())));
    }
    Ok(())
}

/// The tree of the last commit, if there is one.
fn head_tree(theirs: &Repository) -> Result<Option<String>, UndoError> {
    let ask = |what: &str| theirs.try_ask(&["rev-parse", "-q", "--verify", what], vec![]);
    let said = ask("HEAD^{tree}")?;
    if said.status == Some(0) {
        return line(said.output).map(Some);
    }
    // A commit without its tree, and a git that fails, are not a repository without commits.
    match ask("HEAD")?.status {
        Some(1) => Ok(None),
        _ => Err(UndoError::Git("the last commit cannot be read".to_owned())),
    }
}

/// Whether objects of the user's repository are there to be read, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Borrowed {
    Too,
    Not,
}

/// A git folder of our own.
#[derive(Debug)]
struct ShadowRepository {
    git: Git,
    folder: PathBuf,
    root: PathBuf,
    index: PathBuf,
    /// Object folders of the user's repository.
    borrowed: Vec<PathBuf>,
    until: Instant,
}

/// The folder of all our git folders.
fn gits(store_folder: &Path) -> PathBuf {
    store_folder.join("git")
}

/// How the git folder of a root is called, by the kind of its objects' ids.
fn name(root: &Path, format: &str) -> String {
    let digest = hex(&Sha256::digest(root.as_os_str().as_bytes()));
    let kind = if format == "sha1" { String::new() } else { format!("-{format}") };
    format!("{}{kind}", digest.get(..16).unwrap_or_default())
}

/// The kind of an object's id.
fn format_of(id: &str) -> &'static str {
    if id.len() == 64 { "sha256" } else { "sha1" }
}

impl ShadowRepository {
    /// The git folder of a snapshot, as it is.
    fn of(git: &Git, store_folder: &Path, snapshot: &Snapshot, until: Instant) -> Result<Self, UndoError> {
        if !is_id(&snapshot.tree) {
            return Err(UndoError::Git(format!("{:?} is not a tree", snapshot.tree)));
        }
        let root = snapshot.root.as_path();
        let format = format_of(&snapshot.tree);
        let folder = gits(store_folder).join(name(root, format));
        let own = ShadowRepository::at(git, folder, until).with_root(root);
        own.configure(format)?;
        Ok(own)
    }

    /// Writes what git goes by in the folder. A program of the user's may have written there what git is to run.
    fn configure(&self, format: &str) -> Result<(), UndoError> {
        if !self.folder.is_dir() {
            return Ok(());
        }
        let (version, extension) = match format {
            "sha1" => (0, String::new()),
            other => (1, format!("[extensions]\n\tobjectFormat = {other}\n")),
        };
        let head = format!("[core]\n\trepositoryFormatVersion = {version}\n");
        self.put("HEAD", b"ref: refs/heads/none\n")?;
        self.put("config", [&head, CONFIGURATION, &extension].concat().as_bytes())?;
        self.put("info/attributes", ATTRIBUTES.as_bytes())
    }

    fn at(git: &Git, folder: PathBuf, until: Instant) -> Self {
        let borrowed = std::fs::read(folder.join("borrowed")).unwrap_or_default();
        let borrowed = parts(&borrowed).map(|path| PathBuf::from(OsStr::from_bytes(path))).collect();
        ShadowRepository {
            git: git.clone(),
            root: folder.clone(),
            index: folder.join("index"),
            folder,
            borrowed,
            until,
        }
    }

    fn with_root(self, root: &Path) -> Self {
        ShadowRepository { root: root.to_path_buf(), ..self }
    }

    /// Makes sure that the git folder of a root is there, and waits for our turn in it.
    fn prepare(
        git: &Git,
        store_folder: &Path,
        root: &Path,
        format: &str,
        until: Instant,
    ) -> Result<(Self, File), UndoError> {
        let folder = gits(store_folder).join(name(root, format));
        for made in [store_folder, &gits(store_folder), &folder] {
            secret_folder(made)?;
        }
        let ours = Folder::create(&folder)?;
        let turn = turn(&ours, until)?;
        for made in ["info", "objects/pack", "refs/snapshots", MODES] {
            let made = folder.join(made);
            std::fs::create_dir_all(&made).map_err(|error| UndoError::system(&made, error))?;
        }
        let own = ShadowRepository::at(git, folder, until).with_root(root);
        own.configure(format)?;
        // Left behind by one that was ended: this is our turn.
        if std::fs::remove_file(own.at_path("index.lock")).is_ok() {
            remove_unfinished(&own.at_path("objects"));
        }
        Ok((own, turn))
    }

    /// Takes over what is ignored, and where objects of the user's repository are.
    fn adjust(mut self, theirs: Option<&Repository>) -> Result<Self, UndoError> {
        let read = |path: &Path| match read_regular(path, LIST) {
            Ok(list) => Ok(list),
            Err(error) if is_missing(&error) => Ok(Vec::new()),
            // Without it too much would count as ignored, or too little.
            Err(error) => Err(UndoError::system(path, error)),
        };
        let global = ignore_list(theirs)?.map(|list| read(&list)).transpose()?.unwrap_or_default();
        let own = match theirs {
            Some(theirs) => read(&theirs.common.join("info/exclude"))?,
            None => IGNORED.join("\n").into_bytes(),
        };
        // Of two lines that speak of a path the later one counts.
        self.put("info/exclude", &[global, own].join(&b'\n'))?;
        self.borrowed = theirs.iter().map(|theirs| theirs.common.join("objects")).collect();
        let borrowed: Vec<&[u8]> = self.borrowed.iter().map(|path| path.as_os_str().as_bytes()).collect();
        self.put("borrowed", &borrowed.join(&0))?;
        Ok(self)
    }

    fn at_path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file of the folder, unless it is like that already.
    fn put(&self, name: &str, content: &[u8]) -> Result<(), UndoError> {
        let path = self.at_path(name);
        if std::fs::read(&path).is_ok_and(|there| there == content) {
            return Ok(());
        }
        // What a link leads to is not ours.
        if path.symlink_metadata().is_ok_and(|there| there.is_symlink()) {
            std::fs::remove_file(&path).map_err(|error| UndoError::system(&path, error))?;
        }
        std::fs::write(&path, content).map_err(|error| UndoError::system(&path, error))
    }

    fn left_out(&self, path: &[u8], why: &str) -> LeftOut {
        LeftOut { path: Some(PathBytes(self.root.join(OsStr::from_bytes(path)))), why: why.to_owned() }
    }

    /// Runs git on the folder, in the root.
    fn ask(&self, arguments: &[impl AsRef<OsStr>], input: Vec<u8>, borrowed: Borrowed) -> Result<Vec<u8>, UndoError> {
        let folder = if self.root.is_dir() { &self.root } else { &self.folder };
        let mut variables = vec![
            ("GIT_DIR", self.folder.clone().into_os_string()),
            // A file of the folder may name another, with settings of its own.
            ("GIT_COMMON_DIR", self.folder.clone().into_os_string()),
            ("GIT_WORK_TREE", folder.clone().into_os_string()),
            ("GIT_INDEX_FILE", self.index.clone().into_os_string()),
            ("GIT_OBJECT_DIRECTORY", self.at_path("objects").into_os_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_SYSTEM", "/dev/null".into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_ATTR_NOSYSTEM", "1".into()),
            // For a git that knows only some of these: there is no configuration, and there are no attributes.
            ("HOME", self.folder.clone().into_os_string()),
        ];
        if borrowed == Borrowed::Too {
            // Without one that has gone git says more than it has to.
            let there = self.borrowed.iter().filter(|path| path.is_dir());
            let quoted: Vec<Vec<u8>> = there.map(|path| quoted(path)).collect();
            variables.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(quoted.join(&b':'))));
        }
        let call = Call { folder, variables: &variables, settings: &[], input, until: self.until, most: MUCH };
        Ok(self.git.run(arguments, call)?.success()?)
    }

    /// What may differ from our index: tracked paths by their times and sizes, and what is not in it.
    fn changed(&self) -> Result<Vec<Vec<u8>>, UndoError> {
        let ask = |arguments: &[&str]| self.ask(arguments, vec![], Borrowed::Not);
        let (tracked, new) = std::thread::scope(|scope| {
            let tracked = scope.spawn(|| ask(&["diff-files", "-z", "--name-only", "--no-ext-diff"]));
            let new = ask(&["ls-files", "-z", "--others", "--exclude-standard"]);
            let tracked = tracked.join().unwrap_or_else(|_| Err(UndoError::Git("was not asked".to_owned())));
            (tracked, new)
        });
        let (tracked, new) = (tracked?, new?);
        let mut changed: Vec<Vec<u8>> = parts(&tracked).chain(parts(&new)).map(<[u8]>::to_vec).collect();
        let known: HashSet<Vec<u8>> = changed.iter().cloned().collect();
        changed.extend(self.racy().into_iter().filter(|path| !known.contains(path)));
        Ok(changed)
    }

    /// Of very many changed paths, those that are not as the index says. Of the rest only the times or the mode are others, as after
    /// `chmod -R`. To compare content is quicker than to store it again.
    fn refresh(&self, changed: Paths) -> Result<Paths, UndoError> {
        if changed.len() < MANY || !self.index.exists() {
            return Ok(changed);
        }
        // The index does not tell any more whose mode is to be looked at.
        self.drop_last();
        self.ask(&["update-index", "-q", "--refresh"], vec![], Borrowed::Not)?;
        self.changed()
    }

    /// What our index holds and a tree of the user's does not, but for some paths. Nothing if the last snapshot was of the same:
    /// then all of it is stored.
    fn held(&self, tree: &str, but_for: &[&[Vec<u8>]]) -> Result<Vec<Vec<u8>>, UndoError> {
        if self.last(Some(tree)).is_some() {
            return Ok(Vec::new());
        }
        let differ = ["diff-index", "--cached", "-z", "--no-renames", "--name-only", "--diff-filter=AMT", tree];
        let differ = self.ask(&differ, vec![], Borrowed::Too)?;
        let known: HashSet<&[u8]> = but_for.iter().flat_map(|paths| paths.iter().map(Vec::as_slice)).collect();
        Ok(parts(&differ).filter(|path| !known.contains(path)).map(<[u8]>::to_vec).collect())
    }

    /// Paths that were changed in the second in which they were read, or in the one before: git, which counts seconds, takes what
    /// was changed once more in it for unchanged, if it has the same length and time.
    fn racy(&self) -> Vec<Vec<u8>> {
        self.paths_in("racy")
    }

    /// Notes which of these paths, which were just read, have to be read again the next time.
    fn note_racy<'a>(&self, read: impl Iterator<Item = &'a Vec<u8>>) -> Result<(), UndoError> {
        // Where the content's own time is as young, git compares the content.
        let is_racy = |path: &&Vec<u8>| {
            let there = self.root.join(OsStr::from_bytes(path)).symlink_metadata();
            there.is_ok_and(|there| is_recent(&there) && there.mtime() + 1 < there.ctime())
        };
        let racy: Vec<&[u8]> = read.filter(is_racy).map(Vec::as_slice).collect();
        self.put("racy", &racy.join(&0))
    }

    /// Changes the index, some paths at a time. Content is stored whether or not the user's repository has it: to look
    /// for what is not there takes longer than to write it, and nothing there is to look younger than it is.
    fn update(&self, arguments: &[&str], paths: &[Vec<u8>]) -> Result<(), UndoError> {
        for chunk in paths.chunks(CHUNK) {
            let mut input = chunk.join(&0);
            input.push(0);
            self.ask(arguments, input, Borrowed::Not)?;
        }
        Ok(())
    }

    /// Stores the content of files and adds them to the index, some at a time: what was added until the deadline stays. Of a large
    /// file on which this is cut off it is known the next time.
    fn add(&self, paths: &[(Vec<u8>, u64)]) -> Result<(), UndoError> {
        let update = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        let (large, small): (Vec<_>, Vec<_>) = paths.iter().partition(|(_, length)| *length >= LARGE);
        let packs = small.len() >= MANY && self.git.packs_at_once();
        // All that is larger than this goes into a pack. That is ten times as fast as files of their own.
        let settings: &[&str] = if packs { &["-c", "core.bigFileThreshold=1"] } else { &[] };
        let mut rest = small.as_slice();
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(chunk(rest.iter().map(|(_, length)| *length)));
            let paths: Paths = chunk.iter().map(|(path, _)| path.clone()).collect();
            self.update(&[settings, &update].concat(), &paths)?;
            rest = after;
        }
        for (path, length) in large {
            let slow = self.slow();
            let this = [format!("{length} ").as_bytes(), path].concat();
            self.put(SLOW, &slow.iter().chain([&this]).map(Vec::as_slice).collect::<Vec<_>>().join(&0))?;
            let settings = ["-c", "core.looseCompression=0"];
            let added = self.update(&[&settings, &update[..]].concat(), std::slice::from_ref(path));
            if !matches!(added, Err(UndoError::Late)) {
                self.put(SLOW, &slow.join(&0))?;
            }
            added?;
        }
        Ok(())
    }

    /// The large files that took too long, each with its length before it; none if that was long ago.
    fn slow(&self) -> Paths {
        let path = self.at_path(SLOW);
        let modified = path.metadata().and_then(|there| there.modified());
        let said = modified.ok().filter(|at| is_within(*at, SLOW_RETENTION)).and_then(|_| std::fs::read(&path).ok());
        said.iter().flat_map(|said| parts(said)).map(<[u8]>::to_vec).collect()
    }

    /// The same with a copy of the index, which is nobody else's as long as it is our turn.
    fn apart(self) -> Result<Self, UndoError> {
        let index = self.at_path("index.apart");
        let _ = std::fs::remove_file(index.with_extension("apart.lock"));
        let _ = std::fs::remove_file(&index);
        if self.index.exists() && !copy_index(&self.index, &index) {
            return Err(UndoError::Git("the index of the snapshot cannot be copied".to_owned()));
        }
        Ok(ShadowRepository { index, ..self })
    }

    /// Writes the index as a tree, and sees to it that all of it that the last commit does not hold is in our own
    /// folder.
    fn tree(&self, head: Option<&str>) -> Result<String, UndoError> {
        let tree = line(self.ask(&["write-tree"], vec![], Borrowed::Too)?)?;
        let base = head.unwrap_or(empty_tree(format_of(&tree)));
        let differ = ["diff-tree", "-r", "-t", "-z", "--no-renames", base, &tree];
        let differ = self.ask(&differ, vec![], Borrowed::Too)?;
        let mut needed = vec![tree.clone()];
        needed.extend(differences(&differ).filter_map(|entry| Some(entry.after?.id)));
        let input = || needed.join("\n").into_bytes();
        let found =
            self.ask(&["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"], input(), Borrowed::Not)?;
        let found = String::from_utf8_lossy(&found).into_owned();
        let missing: Vec<&str> = found.lines().filter_map(|line| line.strip_suffix(" missing")).collect();
        self.pack(&missing, Borrowed::Too)?;
        Ok(tree)
    }

    /// Puts objects into a pack of our own. Says its name.
    fn pack(&self, ids: &[&str], borrowed: Borrowed) -> Result<Option<String>, UndoError> {
        if ids.is_empty() {
            return Ok(None);
        }
        let pack = self.at_path("objects/pack/pack");
        let arguments = [OsStr::new("pack-objects"), "-q".as_ref(), "--window=0".as_ref(), pack.as_os_str()];
        line(self.ask(&arguments, ids.join("\n").into_bytes(), borrowed)?).map(Some)
    }

    /// The tree of the last snapshot, if the index is still as it was then, nothing of it has gone, and the last commit is the
    /// same.
    fn last(&self, head: Option<&str>) -> Option<Last> {
        let said = std::fs::read_to_string(self.at_path(LAST)).ok()?;
        let mut words = said.split(' ');
        let (tree, modes) = (words.next().filter(|tree| is_id(tree))?, words.next().filter(|modes| is_digest(modes))?);
        let last = Last { tree: tree.to_owned(), modes: modes.to_owned() };
        let is_there = self.index.exists()
            && self.at_path("refs/snapshots").join(tree).exists()
            && self.at_path(MODES).join(modes).exists();
        (is_there && last.text(head).is_some_and(|text| said == text)).then_some(last)
    }

    /// Names a tree, so that it stays, and its list of modes with it, and notes that the index is of it.
    fn remember(&self, last: &Last, head: Option<&str>) -> Result<(), UndoError> {
        let Last { tree, modes } = last;
        let put = |path: PathBuf, content: &str| {
            std::fs::write(&path, content).map_err(|error| UndoError::system(&path, error))
        };
        put(self.at_path("refs/snapshots").join(tree), &format!("{tree}\n"))?;
        let list = self.at_path(MODES).join(modes);
        let touched = File::options().write(true).open(&list).and_then(|list| list.set_modified(SystemTime::now()));
        touched.map_err(|error| UndoError::system(&list, error))?;
        last.text(head).map_or(Ok(()), |text| self.put(LAST, text.as_bytes()))
    }

    /// Forgets of which snapshot the index is, and which list of modes it has.
    fn drop_last(&self) {
        for name in [LAST, INDEX_MODES] {
            let _ = std::fs::remove_file(self.at_path(name));
        }
    }

    /// The list of modes that is of our index.
    fn last_modes(&self) -> Option<Modes> {
        let name = std::fs::read_to_string(self.at_path(INDEX_MODES)).ok()?;
        self.modes(&name)
    }

    /// The paths in a file of the folder.
    fn paths_in(&self, name: &str) -> Vec<Vec<u8>> {
        let paths = std::fs::read(self.at_path(name)).unwrap_or_default();
        parts(&paths).map(<[u8]>::to_vec).collect()
    }

    fn put_paths<'a>(&self, name: &str, paths: impl Iterator<Item = &'a Vec<u8>>) -> Result<(), UndoError> {
        self.put(name, &paths.map(Vec::as_slice).collect::<Vec<_>>().join(&0))
    }

    /// A list of modes.
    fn modes(&self, name: &str) -> Option<Modes> {
        let path = self.at_path(MODES).join(Some(name).filter(|name| is_digest(name))?);
        let text = read_regular(&path, MUCH as u64).ok()?;
        Modes::decode(&text).filter(|_| hex(&Sha256::digest(&text)) == name)
    }

    /// Stores the list of modes of our index: that of the last one with these paths looked at again, else a new one. All folders are
    /// looked at each time, as git has nothing of them.
    fn put_modes(&self, known: Option<Modes>, changed: &[Vec<u8>]) -> Result<String, UndoError> {
        let (modes, recent) = match known {
            Some(mut modes) => {
                let mut folders = folders_of(changed.iter());
                folders.extend(self.paths_in(FOLDERS));
                let racy = self.paths_in(RACY_MODES);
                let recent = modes.update(&self.root, changed.iter().chain(&racy).chain(&folders));
                self.put_paths(FOLDERS, folders.iter())?;
                (modes, recent)
            }
            None => {
                let listed = self.ask(&["ls-files", "-z"], vec![], Borrowed::Not)?;
                let listed: Vec<Vec<u8>> = parts(&listed).map(<[u8]>::to_vec).collect();
                let folders = folders_of(listed.iter());
                self.put_paths(FOLDERS, folders.iter())?;
                Modes::of(&self.root, listed.iter().chain(&folders))
            }
        };
        self.put_paths(RACY_MODES, recent.iter())?;
        let text = modes.encode();
        let name = hex(&Sha256::digest(&text));
        self.put(&format!("{MODES}/{name}"), &text)?;
        self.put(INDEX_MODES, name.as_bytes())?;
        Ok(name)
    }

    /// Has the next snapshot built anew, where the index names what is not there any more, or where a loss of power has
    /// left objects without content: those in files of their own are not waited for until they are on the disk.
    fn forget(&self, error: &UndoError) {
        if matches!(error, UndoError::Late) {
            return;
        }
        let _ = std::fs::remove_file(&self.index);
        self.drop_last();
        let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let objects = list(self.at_path("objects")).flat_map(|folder| list(folder.path()));
        for empty in objects.filter(|object| object.metadata().is_ok_and(|there| there.is_file() && there.len() == 0)) {
            let _ = std::fs::remove_file(empty.path());
        }
    }

    /// Starts with the user's index, so that not all has to be read. Without it, if it cannot be used.
    fn seed(&self, theirs: &Repository) -> Result<(), UndoError> {
        self.drop_last();
        if !copy_index(&theirs.git_dir.join("index"), &self.index) {
            return Ok(());
        }
        self.adopt(theirs).or_else(|error| {
            let _ = std::fs::remove_file(&self.index);
            if matches!(error, UndoError::Late) { Err(error) } else { Ok(()) }
        })
    }

    /// What the index has at these paths, absolute.
    fn listed(&self, paths: &[&[u8]]) -> Result<Vec<(PathBuf, Blob)>, UndoError> {
        let mut listed = Vec::new();
        for chunk in paths.chunks(ARGUMENTS) {
            let arguments = ["--literal-pathspecs", "ls-files", "-v", "-s", "-z", "--"].map(OsStr::new);
            let paths = chunk.iter().map(|path| OsStr::from_bytes(path));
            let said = self.ask(&arguments.into_iter().chain(paths).collect::<Vec<_>>(), vec![], Borrowed::Not)?;
            let entries = parts(&said).filter_map(Listed::read).filter_map(|entry| {
                let mode = u32::from_str_radix(entry.mode, 8).ok()?;
                let blob = Blob { mode, id: entry.id.to_owned(), permissions: false };
                Some((self.root.join(OsStr::from_bytes(entry.path)), blob))
            });
            listed.extend(entries);
        }
        Ok(listed)
    }

    /// Takes out of a copy of the user's index all of which it is not certain that it is in the worktree byte by byte
    /// if the times say so. Then it is read.
    fn adopt(&self, theirs: &Repository) -> Result<(), UndoError> {
        let listed = self.ask(&["ls-files", "-v", "-s", "-z"], vec![], Borrowed::Too)?;
        let (mut plain, mut doubtful) = (Vec::new(), Vec::new());
        for entry in parts(&listed).filter_map(Listed::read) {
            if entry.is_plain() { plain.push(entry) } else { doubtful.push(entry.path.to_vec()) }
        }
        let converted = converted(theirs, &self.root, &plain)?;
        let ids: Vec<&str> = plain.iter().map(|entry| entry.id).collect();
        let sizes = ["cat-file", "--batch-check=%(objectsize)", "--buffer"];
        let sizes = self.ask(&sizes, ids.join("\n").into_bytes(), Borrowed::Too)?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let mut sizes = sizes.lines().map(|size| size.parse::<u64>().ok());
        for entry in &plain {
            let size = sizes.next().flatten();
            let there = self.root.join(OsStr::from_bytes(entry.path)).symlink_metadata();
            if converted.contains(entry.path) || size.is_none() || there.is_ok_and(|there| Some(there.len()) != size) {
                doubtful.push(entry.path.to_vec());
            }
        }
        self.update(&["update-index", "-z", "--force-remove", "--stdin"], &doubtful)
    }
}

/// An entry of an index, as `git ls-files -v -s -z` says it.
struct Listed<'a> {
    tag: &'a str,
    mode: &'a str,
    id: &'a str,
    stage: &'a str,
    path: &'a [u8],
}

impl<'a> Listed<'a> {
    fn read(entry: &'a [u8]) -> Option<Self> {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let mut fields = std::str::from_utf8(entry.get(..tab)?).ok()?.split(' ');
        let (tag, mode, id, stage) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        Some(Listed { tag, mode, id, stage, path: entry.get(tab + 1..)? })
    }

    /// Whether it is a file or link in one version, that is neither assumed to be unchanged nor said not to be there.
    /// An empty one may be what `git add --intent-to-add` leaves.
    fn is_plain(&self) -> bool {
        let empty = self.id.starts_with("e69de29bb2") || self.id.starts_with("473a0f4c3b");
        self.tag == "H" && self.stage == "0" && matches!(self.mode, "100644" | "100755" | "120000") && !empty
    }
}

/// The paths that a filter or an encoding converts, by attributes of any source. It need not be known what converts the
/// ends of lines or `$Id$`: what that changes has another length.
fn converted(theirs: &Repository, root: &Path, entries: &[Listed<'_>]) -> Result<HashSet<Vec<u8>>, UndoError> {
    let paths: Vec<&[u8]> = entries.iter().map(|entry| entry.path).collect();
    let mut input = paths.join(&0);
    input.push(0);
    let asked = ["check-attr", "-z", "--stdin", "filter", "working-tree-encoding"];
    let said = theirs.ask_in(root, &asked, input)?;
    let said: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let converted = said.chunks_exact(3).filter_map(|answer| match *answer {
        [path, _, value] if value != b"unspecified" && value != b"unset" => Some(path.to_vec()),
        _ => None,
    });
    Ok(converted.collect())
}

/// Copies an index with the time of its last change: git reads again what was changed in the same second or later.
fn copy_index(from: &Path, to: &Path) -> bool {
    let copied = || -> io::Result<()> {
        let file = open_regular(from, OFlags::NOFOLLOW)?;
        let modified = file.metadata()?.modified()?;
        let copy = to.with_extension("copy");
        std::fs::write(&copy, read_at_most(&file, MUCH as u64)?)?;
        File::options().write(true).open(&copy)?.set_times(FileTimes::new().set_modified(modified))?;
        std::fs::rename(copy, to)
    };
    copied().is_ok()
}

/// The user's own list of ignored files: what the configuration says, or the usual place.
fn ignore_list(theirs: Option<&Repository>) -> Result<Option<PathBuf>, UndoError> {
    if let Some(theirs) = theirs.filter(|theirs| theirs.configures("core.excludesfile")) {
        let said = theirs.try_ask(&["config", "-z", "--type=path", "--get", "core.excludesFile"], vec![])?;
        if said.status == Some(0) {
            let path = said.output.strip_suffix(b"\0").unwrap_or(&said.output);
            // Git takes it from the root of the worktree.
            let root = theirs.worktree.as_ref().unwrap_or(&theirs.git_dir);
            return Ok(Some(root.join(OsStr::from_bytes(path))));
        }
    }
    let configuration = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let configuration = configuration.or_else(|| Some(std::env::home_dir()?.join(".config")));
    Ok(configuration.map(|folder| folder.join("git/ignore")))
}

/// A path in a list with colons between.
fn quoted(path: &Path) -> Vec<u8> {
    let path = path.as_os_str().as_bytes();
    if !path.iter().any(|byte| matches!(byte, b':' | b'"' | b'\n')) {
        return path.to_vec();
    }
    let mut quoted = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\n' => quoted.extend(b"\\n"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Waits for our turn in a folder.
fn turn(folder: &Folder, until: Instant) -> Result<File, UndoError> {
    loop {
        let file = folder.file("lock", OFlags::RDWR | OFlags::CREATE, Others::SetRight)?;
        let path = folder.path("lock");
        let file = file.ok_or_else(|| UndoError::system(&path, io::ErrorKind::NotFound))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                // Whoever removed the folder meanwhile left us with a lock that nobody else looks at.
                let same = |there: Metadata, ours: Metadata| there.dev() == ours.dev() && there.ino() == ours.ino();
                if path.symlink_metadata().is_ok_and(|there| file.metadata().is_ok_and(|ours| same(there, ours))) {
                    return Ok(file);
                }
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(UndoError::system(&path, error)),
        }
        if Instant::now() >= until {
            return Err(UndoError::Late);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// How many of these files are given to git at once.
fn chunk(lengths: impl Iterator<Item = u64>) -> usize {
    let mut bytes = 0_u64;
    let fits = |length: &u64| {
        let first = bytes == 0;
        bytes += length.max(&1);
        first || bytes <= CHUNK_BYTES
    };
    lengths.take(CHUNK).take_while(fits).count()
}

/// One line that git says.
fn line(said: Vec<u8>) -> Result<String, UndoError> {
    let line = String::from_utf8_lossy(&said).trim().to_owned();
    if is_id(&line) { Ok(line) } else { Err(UndoError::Git("it has no id".to_owned())) }
}

/// A path that is not as it was in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Absolute.
    pub path: PathBuf,
    /// What was there; none if nothing.
    pub before: Option<Blob>,
}

/// What is not as it was in a snapshot, by content, kind and permissions. Nothing is stored of what is there
/// now, whatever rules say of it. What is ignored is what was ignored then, but for `.gitignore` files. What was there
/// before and has not been touched since is not told as made. What was left out of the snapshot, and was touched since,
/// is: the caller knows what that was. Repositories that have been made are not told.
///
/// # Errors
/// If the snapshot is not there any more, or it takes too long.
pub fn changed_since(
    git: &Git,
    store_folder: &Path,
    before: &Snapshot,
    limits: &Limits,
    until: Instant,
) -> Result<Vec<Changed>, UndoError> {
    let own = ShadowRepository::of(git, store_folder, before, until)?;
    let ours = Folder::open(&own.folder)?;
    let _turn = turn(&ours.ok_or_else(|| UndoError::Git("the snapshot is not there any more".to_owned()))?, until)?;
    let taken = own.at_path("refs/snapshots").join(&before.tree);
    let taken =
        taken.metadata().and_then(|named| named.modified()).map_err(|error| UndoError::system(&taken, error))?;
    let found = ChangedPaths::sort(&own.root, own.changed()?, limits);
    let racy: HashSet<Vec<u8>> = own.racy().into_iter().collect();
    let own = own.apart()?;
    let modes = before.modes.as_deref().and_then(|name| own.modes(name));
    let read: Vec<Vec<u8>> = found.read.into_iter().map(|(path, _)| path).collect();
    let gone: Vec<Vec<u8>> =
        found.gone.into_iter().chain(read.iter().filter(|path| racy.contains(*path)).cloned()).collect();
    own.update(&["update-index", "-z", "--force-remove", "--stdin"], &gone)?;
    own.update(&["update-index", "-z", "--info-only", "--add", "--remove", "--replace", "--stdin"], &read)?;
    let differ = ["diff-index", "-r", "-z", "--cached", "--no-renames", &before.tree];
    let differ = own.ask(&differ, vec![], Borrowed::Too)?;
    let differ = differences(&differ).filter(|entry| entry.before.is_some() || entry.after.is_some());
    let mut changed: Vec<Changed> = differ
        .map(|entry| Changed { path: own.root.join(OsStr::from_bytes(entry.path)), before: entry.before })
        .collect();
    let told: HashSet<PathBuf> = changed.iter().map(|one| one.path.clone()).collect();
    if let Some(modes) = modes {
        let differ =
            |path: &&Vec<u8>| !told.contains(&own.root.join(OsStr::from_bytes(path))) && modes.differ(&own.root, path);
        // Since then another snapshot may have taken notice of the change.
        let (racy, last) = (own.paths_in(RACY_MODES), own.last_modes());
        let unusual = modes.unusual().chain(last.iter().flat_map(Modes::unusual));
        // With other usual modes any file may have got another one.
        let all = match last.as_ref().is_none_or(|last| !last.has_usual_of(&modes)) {
            true => own.ask(&["ls-files", "-z"], vec![], Borrowed::Not)?,
            false => Vec::new(),
        };
        let all: Paths = parts(&all).map(<[u8]>::to_vec).collect();
        let asked = read.iter().chain(&racy).chain(unusual).chain(&all);
        let differ: HashSet<&[u8]> = asked.filter(differ).map(Vec::as_slice).collect();
        let differ: Vec<&[u8]> = differ.into_iter().collect();
        changed.extend(own.listed(&differ)?.into_iter().map(|(path, blob)| Changed { path, before: Some(blob) }));
        for one in &mut changed {
            let path = one.path.strip_prefix(&own.root).unwrap_or(&one.path).as_os_str().as_bytes();
            if let Some(before) = one.before.as_mut().filter(|before| before.mode & KIND == FILE) {
                before.mode = FILE | modes.get(path, before.mode);
                before.permissions = true;
            }
        }
    }
    // What cannot be in a snapshot is gone from the index, and so it was not told unless it was in the first one.
    let left_out = found.left_out.into_iter().filter_map(|one| Some(one.path?.0));
    let left_out = left_out.filter(|path| !told.contains(path) && !path.is_dir());
    changed.extend(left_out.map(|path| Changed { path, before: None }));
    changed.retain(|one| one.before.is_some() || is_touched(&one.path, taken));
    Ok(changed)
}

/// The bits of git's modes that say which kind it is, and those of a file.
const KIND: u32 = 0o170_000;
const FILE: u32 = 0o100_000;

/// Whether something was made, moved or changed in any way since a moment.
fn is_touched(path: &Path, since: SystemTime) -> bool {
    let Ok(there) = path.symlink_metadata() else {
        return false;
    };
    let seconds = Duration::from_secs(u64::try_from(there.ctime()).unwrap_or_default());
    let rest = Duration::from_nanos(u64::try_from(there.ctime_nsec()).unwrap_or_default());
    SystemTime::UNIX_EPOCH + seconds + rest + CLOCK_SKEW_TOLERANCE >= since
}

/// The list of modes of a snapshot; none if it has none, or it is not there any more.
pub(crate) fn modes(git: &Git, store_folder: &Path, snapshot: &Snapshot, until: Instant) -> Option<Modes> {
    ShadowRepository::of(git, store_folder, snapshot, until).ok()?.modes(snapshot.modes.as_deref()?)
}

/// The content of blobs of a root's snapshots, in the same order.
///
/// Reads up to a GiB in all.
///
/// # Errors
/// If git fails.
pub fn blobs(
    git: &Git,
    store_folder: &Path,
    root: &Path,
    ids: &[String],
    until: Instant,
) -> Result<Vec<BlobContent>, UndoError> {
    blobs_within(git, store_folder, root, ids, until, &BlobLimits { all: BLOBS, at_once: AT_ONCE })
}

/// What git holds of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobContent {
    /// This.
    Here(Vec<u8>),
    /// Nothing.
    Missing,
    /// More than is read.
    TooMuch,
}

/// How many bytes of blobs are read.
struct BlobLimits {
    /// Of all.
    all: usize,
    /// In one answer of git's.
    at_once: usize,
}

fn blobs_within(
    git: &Git,
    store_folder: &Path,
    root: &Path,
    ids: &[String],
    until: Instant,
    limits: &BlobLimits,
) -> Result<Vec<BlobContent>, UndoError> {
    let Some(first) = ids.first() else {
        return Ok(Vec::new());
    };
    if let Some(odd) = ids.iter().find(|id| !is_id(id)) {
        return Err(UndoError::Git(format!("{odd:?} is not an object")));
    }
    let snapshot = Snapshot { root: root.into(), tree: first.clone(), modes: None };
    let own = ShadowRepository::of(git, store_folder, &snapshot, until)?;
    let sizes = ["cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer"];
    let input = || ids.join("\n").into_bytes();
    let sizes = own.ask(&sizes, input(), Borrowed::Too)?;
    let sizes = String::from_utf8_lossy(&sizes).into_owned();
    let size = |line: &str| line.strip_prefix("blob ").and_then(|size| size.parse::<usize>().ok());
    let sizes: Vec<Option<usize>> = sizes.lines().map(size).collect();
    let odd = || UndoError::Git("its answer is incomplete".to_owned());
    if sizes.len() != ids.len() {
        return Err(odd());
    }
    let mut found = vec![BlobContent::Missing; ids.len()];
    let mut all = 0_usize;
    let (mut batch, mut waiting): (Vec<(usize, usize)>, usize) = (Vec::new(), 0);
    let read = |batch: &mut Vec<(usize, usize)>, found: &mut Vec<BlobContent>| {
        let asked = batch.iter().map(|(at, _)| ids[*at].as_str()).collect::<Vec<_>>().join("\n").into_bytes();
        let said = own.ask(&["cat-file", "--batch=", "--buffer"], asked, Borrowed::Too)?;
        // With an empty format each is preceded and followed by the end of a line.
        let mut rest = said.as_slice();
        for (at, size) in batch.drain(..) {
            found[at] = BlobContent::Here(rest.get(1..=size).ok_or_else(odd)?.to_vec());
            rest = rest.get(size + 2..).ok_or_else(odd)?;
        }
        Ok::<_, UndoError>(())
    };
    for (at, size) in sizes.into_iter().enumerate() {
        let Some(size) = size else { continue };
        // Git's answer has the ends of lines beside it.
        if size > limits.all - all || size.saturating_add(2) > MUCH {
            found[at] = BlobContent::TooMuch;
            continue;
        }
        all += size;
        if waiting + size > limits.at_once && !batch.is_empty() {
            read(&mut batch, &mut found)?;
            waiting = 0;
        }
        waiting += size;
        batch.push((at, size));
    }
    if !batch.is_empty() {
        read(&mut batch, &mut found)?;
    }
    Ok(found)
}

/// Removes what a git that was ended left of objects that it was writing.
fn remove_unfinished(objects: &Path) {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for folder in entries(objects) {
        for entry in entries(&folder.path()).filter(|entry| entry.file_name().as_bytes().starts_with(b"tmp_")) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Bytes on the disk of each folder of snapshots, and which it is of. Of one that cannot be listed nothing is counted.
pub(crate) fn bytes(store_folder: &Path) -> HashMap<String, u64> {
    let listed = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = HashMap::new();
    for top in listed(&gits(store_folder)) {
        let (mut bytes, mut folders) = (0, vec![top.path()]);
        while let Some(folder) = folders.pop() {
            for (path, there) in listed(&folder).filter_map(|entry| Some((entry.path(), entry.metadata().ok()?))) {
                bytes += there.blocks() * 512;
                folders.extend(there.is_dir().then_some(path));
            }
        }
        found.extend(top.file_name().into_string().ok().map(|name| (name, bytes)));
    }
    found
}

/// The folder that a snapshot is in, as [`bytes`] names it.
pub(crate) fn folder_name(snapshot: &Snapshot) -> String {
    name(snapshot.root.as_path(), format_of(&snapshot.tree))
}

/// Gives back the room of snapshots that no entry speaks of: all but the live ones, and those of the last hour, whose
/// entries may not be written yet.
///
/// # Errors
/// If git fails, or if it takes too long. What is left then is tidied the next time.
pub fn tidy(git: &Git, store_folder: &Path, live: &[Snapshot], until: Instant) -> Result<(), UndoError> {
    // Trees and lists of modes.
    let mut names: HashMap<String, HashSet<&str>> = HashMap::new();
    for snapshot in live.iter().filter(|snapshot| is_id(&snapshot.tree)) {
        names
            .entry(folder_name(snapshot))
            .or_default()
            .extend([snapshot.tree.as_str()].into_iter().chain(snapshot.modes.as_deref()));
    }
    let all = gits(store_folder);
    let listed = match std::fs::read_dir(&all) {
        Err(error) if is_missing(&error) => return Ok(()),
        listed => listed.map_err(|error| UndoError::system(&all, error))?,
    };
    for folder in listed.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = folder.file_name().to_string_lossy().into_owned();
        let live = names.remove(&name).unwrap_or_default();
        let own = ShadowRepository::at(git, folder.path(), until);
        match own.configure(if name.ends_with("-sha256") { "sha256" } else { "sha1" }) {
            Ok(()) => tidy_one(&own, &live)?,
            Err(error) => tracing::warn!(%error, "a folder of snapshots is not tidied up"),
        }
    }
    Ok(())
}

fn tidy_one(own: &ShadowRepository, live: &HashSet<&str>) -> Result<(), UndoError> {
    let Some(ours) = Folder::open(&own.folder)? else {
        return Ok(());
    };
    // Whoever makes a snapshot there may go on; it is tidied the next time.
    let Ok(_turn) = turn(&ours, Instant::now()) else {
        return Ok(());
    };
    // How many are kept, and how many were dropped.
    let drop_unnamed = |folder: &str| {
        let (mut kept, mut dropped) = (0, 0);
        for named in std::fs::read_dir(own.at_path(folder)).into_iter().flatten().filter_map(Result::ok) {
            let is_live = named.file_name().to_str().is_some_and(|name| live.contains(name));
            let is_young = || named.metadata().and_then(|there| there.modified()).is_ok_and(is_young);
            if is_live || is_young() {
                kept += 1;
            } else if std::fs::remove_file(named.path()).is_ok() {
                dropped += 1;
            }
        }
        (kept, dropped)
    };
    drop_unnamed(MODES);
    let (kept, dropped) = drop_unnamed("refs/snapshots");
    if kept == 0 && !own.at_path("lock").metadata().and_then(|lock| lock.modified()).is_ok_and(is_young) {
        return std::fs::remove_dir_all(&own.folder).map_err(|error| UndoError::system(&own.folder, error));
    }
    if dropped > 0 || own.is_scattered() { own.pack_all() } else { Ok(()) }
}

fn is_young(modified: SystemTime) -> bool {
    is_within(modified, UNREFERENCED_RETENTION)
}

fn is_within(modified: SystemTime, age: Duration) -> bool {
    // A time in the future is that of a clock that was set back.
    modified.elapsed().map_or(true, |passed| passed < age)
}

impl ShadowRepository {
    /// Whether there are too many objects in files of their own, or too many packs.
    fn is_scattered(&self) -> bool {
        let count = |folder: &Path| std::fs::read_dir(folder).map_or(0, Iterator::count);
        let objects = std::fs::read_dir(self.at_path("objects")).into_iter().flatten().filter_map(Result::ok);
        let loose = objects.filter(|folder| folder.file_name().len() == 2).map(|folder| count(&folder.path()));
        loose.sum::<usize>() > LOOSE || count(&self.at_path("objects/pack")) > 3 * PACKS
    }

    /// Packs what our folder has of all that is still named, and removes the rest. Not by `git repack`, which either
    /// packs what is borrowed, too, or drops what the user's repository has at this moment.
    fn pack_all(&self) -> Result<(), UndoError> {
        let named = self.ask(&["rev-list", "--objects", "--all", "--indexed-objects"], vec![], Borrowed::Too)?;
        let named = String::from_utf8_lossy(&named).into_owned();
        let named: HashSet<&str> = named.lines().filter_map(|line| line.split(' ').next()).collect();
        let here = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize)"];
        let here = self.ask(&here, vec![], Borrowed::Not)?;
        let here = String::from_utf8_lossy(&here).into_owned();
        let here = here.lines().filter_map(|line| line.split_once(' '));
        // To compress large ones now takes as long as it would have when they were added.
        let is_packed = |(id, size): &(&str, &str)| {
            let is_large = size.parse::<u64>().is_ok_and(|size| size >= LARGE);
            let (folder, file) = id.split_at_checked(2).unwrap_or_default();
            named.contains(id) && !(is_large && self.at_path("objects").join(folder).join(file).is_file())
        };
        let kept: Vec<&str> = here.filter(is_packed).map(|(id, _)| id).collect();
        let pack = self.pack(&kept, Borrowed::Not)?;
        let packs = self.at_path("objects/pack");
        for file in std::fs::read_dir(&packs).map_err(|error| UndoError::system(&packs, error))?.filter_map(Result::ok)
        {
            let name = file.file_name();
            let is_new = pack.as_deref().is_some_and(|pack| name.to_string_lossy().contains(pack));
            if !is_new {
                let _ = std::fs::remove_file(file.path());
            }
        }
        self.ask(&["prune-packed", "-q"], vec![], Borrowed::Not)?;
        self.ask(&["prune", "--expire=1.hour.ago"], vec![], Borrowed::Too).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use toolgate_test_support::git::{canary, repository, try_user, user, write};

    use super::{survey as survey_with, *};
    use crate::testing::{git, soon};

    /// The survey of a root, whose repository is looked for.
    fn survey(git: &Git, store: &Path, root: &Path, limits: &Limits, until: Instant) -> Result<Pending, UndoError> {
        survey_with(git, UserRepository::of(git, root, until)?.as_ref(), store, root, limits, until)
    }

    /// A scratch folder with a repository `repo` and a store.
    struct Scratch {
        _folder: tempfile::TempDir,
        root: PathBuf,
        store: PathBuf,
    }

    impl Scratch {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let real = folder.path().canonicalize().expect("its real path");
            let (root, store) = (real.join("repo"), real.join("state/undo"));
            repository(&root, files);
            Scratch { _folder: folder, root, store }
        }

        fn plain() -> Self {
            let scratch = Scratch::new(&[]);
            std::fs::remove_dir_all(scratch.root.join(".git")).expect("no repository any more");
            scratch
        }

        fn survey(&self) -> Result<Pending, UndoError> {
            survey(&git(), &self.store, &self.root, &Limits::DEFAULT, soon())
        }

        fn take(&self) -> (Snapshot, Vec<LeftOut>) {
            let pending = self.survey().expect("a survey");
            let withheld = vec![false; pending.paths().len()];
            pending.take(Some(&withheld), soon()).expect("a snapshot")
        }

        fn changed(&self, before: &Snapshot) -> Vec<String> {
            let changed =
                changed_since(&git(), &self.store, before, &Limits::DEFAULT, soon()).expect("what has changed");
            let name = |one: &Changed| {
                let path = one.path.strip_prefix(&self.root).expect("below the root").display();
                format!("{}{path}", if one.before.is_some() { "" } else { "+" })
            };
            let mut names: Vec<String> = changed.iter().map(name).collect();
            names.sort();
            names
        }

        fn own(&self, snapshot: &Snapshot) -> ShadowRepository {
            ShadowRepository::of(&git(), &self.store, snapshot, soon()).expect("our folder")
        }

        /// A snapshot of which nothing is withheld.
        fn try_take(&self) -> Result<(Snapshot, Vec<LeftOut>), UndoError> {
            let pending = self.survey()?;
            let withheld = vec![false; pending.paths().len()];
            pending.take(Some(&withheld), soon())
        }

        /// What is in a snapshot: modes and contents.
        fn contents(&self, snapshot: &Snapshot) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
            let listed = self.own(snapshot).ask(&["ls-tree", "-r", "-z", &snapshot.tree], vec![], Borrowed::Too);
            let listed = listed.expect("a list");
            let mut found = BTreeMap::new();
            for entry in parts(&listed) {
                let tab = entry.iter().position(|byte| *byte == b'\t').expect("a tab");
                let about = String::from_utf8_lossy(&entry[..tab]).into_owned();
                let fields: Vec<&str> = about.split(' ').collect();
                let ids = [fields[2].to_owned()];
                let content = blobs(&git(), &self.store, &self.root, &ids, soon()).expect("a list").remove(0);
                let BlobContent::Here(content) = content else { panic!("no blob: {content:?}") };
                let path = PathBuf::from(OsStr::from_bytes(&entry[tab + 1..]));
                found.insert(path, (u32::from_str_radix(fields[0], 8).expect("a mode"), content));
            }
            found
        }

        /// What is in the worktree.
        fn worktree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
            let mut found = BTreeMap::new();
            let mut folders = vec![self.root.clone()];
            while let Some(folder) = folders.pop() {
                for entry in std::fs::read_dir(folder).expect("a list").map(|entry| entry.expect("an entry")) {
                    let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
                    let name = path.strip_prefix(&self.root).expect("below the root").to_path_buf();
                    if kind.is_dir() {
                        folders.extend((entry.file_name() != ".git").then_some(path));
                    } else if kind.is_symlink() {
                        let target = path.read_link().expect("a target").into_os_string().into_vec();
                        found.insert(name, (0o120_000, target));
                    } else {
                        let executable = entry.metadata().expect("its mode").mode() & 0o100;
                        let mode = 0o100_644 | if executable == 0 { 0 } else { 0o111 };
                        found.insert(name, (mode, std::fs::read(path).expect("a file")));
                    }
                }
            }
            found
        }
    }

    /// All files of a folder, with contents; the index with its time.
    fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, Option<SystemTime>)> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a list").map(|entry| entry.expect("an entry")) {
                let there = entry.metadata().expect("it is there");
                if there.is_dir() {
                    folders.push(entry.path());
                    continue;
                }
                // Objects that are used again are younger then, as git itself does.
                let is_object = entry.path().components().any(|part| part.as_os_str() == "objects");
                let time = (!is_object).then(|| there.modified().expect("a time"));
                found.insert(entry.path(), (std::fs::read(entry.path()).expect("a file"), time));
            }
        }
        found
    }

    /// Whatever the user's git converts, in a worktree that it has just checked out.
    fn converting() -> Scratch {
        let scratch = Scratch::new(&[
            (
                ".gitattributes",
                "*.crlf text eol=crlf\n*.auto text=auto\n*.id ident\n*.rot filter=rot\n*.big filter=big\n\
                 *.wide working-tree-encoding=UTF-16LE\n",
            ),
            ("a.crlf", "one\ntwo\n"),
            ("b.auto", "one\r\ntwo\n"),
            ("c.id", "$Id$\n"),
            ("plain", "plain\n"),
            ("sub/.gitattributes", "* text eol=crlf\n"),
            ("sub/deep/file", "one\n"),
        ]);
        let at = |name: &str| scratch.root.join(name);
        for (name, command) in [("rot", "tr a-z b-za"), ("big", "wc -c")] {
            user(&scratch.root, &["config", &format!("filter.{name}.clean"), command]);
        }
        user(&scratch.root, &["config", "filter.rot.smudge", "tr b-za a-z"]);
        write(&at("d.rot"), "secret\n");
        write(&at("e.wide"), b"h\0i\0\n\0");
        write(&at("f.big"), "large\n");
        symlink("plain", at("link")).expect("a link");
        write(&at("run"), "#!/bin/sh\n");
        std::fs::set_permissions(at("run"), std::fs::Permissions::from_mode(0o755)).expect("its mode");
        user(&scratch.root, &["add", "-A"]);
        user(&scratch.root, &["commit", "-q", "-m", "converted"]);
        for name in ["a.crlf", "c.id", "d.rot", "e.wide", "sub/deep/file"] {
            std::fs::remove_file(at(name)).expect("removed");
        }
        user(&scratch.root, &["checkout", "-q", "--", "."]);
        scratch
    }

    #[test]
    fn contents_are_read_in_parts_and_up_to_a_limit() {
        let scratch =
            Scratch::new(&[("1", "content 1\n"), ("2", "content 2\n"), ("3", "content 3\n"), ("4", "content 4\n")]);
        let (snapshot, _) = scratch.try_take().expect("a snapshot");
        let listed = scratch.own(&snapshot).ask(&["ls-tree", "-r", "-z", &snapshot.tree], vec![], Borrowed::Too);
        let listed = String::from_utf8(listed.expect("a list")).expect("names");
        let mut ids: Vec<String> = listed
            .split_terminator('\0')
            .map(|entry| entry.split([' ', '\t']).nth(2).expect("an id").to_owned())
            .collect();
        ids.truncate(4);
        let there = |number: u32| BlobContent::Here(format!("content {number}\n").into_bytes());
        let whole: Vec<BlobContent> = (1..=4).map(there).collect();
        let read = |ids: &[String], all, at_once| {
            let limits = BlobLimits { all, at_once };
            blobs_within(&git(), &scratch.store, &scratch.root, ids, soon(), &limits).expect("contents")
        };
        // Each has ten bytes.
        for at_once in [1, 10, 19, 20, 1_000] {
            assert_eq!(read(&ids, 1_000, at_once), whole, "{at_once}");
        }
        assert_eq!(read(&ids, 25, 10), [there(1), there(2), BlobContent::TooMuch, BlobContent::TooMuch]);
        ids[1] = "0".repeat(ids[1].len());
        assert_eq!(read(&ids, 1_000, 10)[1..3], [BlobContent::Missing, there(3)]);
    }

    #[test]
    fn a_snapshot_is_the_worktree_byte_by_byte() {
        // Whether git's index is there to start with, and what the configuration says of the ends of lines.
        for (index, autocrlf) in [(true, "false"), (true, "true"), (true, "input"), (false, "false")] {
            let scratch = converting();
            user(&scratch.root, &["config", "core.autocrlf", autocrlf]);
            assert_eq!(std::fs::read(scratch.root.join("a.crlf")).expect("a file"), b"one\r\ntwo\r\n");
            assert_ne!(std::fs::read(scratch.root.join("c.id")).expect("a file"), b"$Id$\n");
            for name in [
                &b"new\nline"[..],
                b"tab\there",
                b"\xff\xfe",
                b" space ",
                b"\"quoted\"",
                b"-n",
                b":(top)x",
                b"back\\slash",
            ] {
                write(&scratch.root.join(OsStr::from_bytes(name)), name);
            }
            write(&scratch.root.join("git~1"), "short");
            if !index {
                std::fs::remove_file(scratch.root.join(".git/index")).expect("no index");
            }
            let (snapshot, left_out) = scratch.take();
            assert_eq!(left_out, []);
            assert_eq!(scratch.contents(&snapshot), scratch.worktree(), "{index} {autocrlf}");
            assert_eq!(scratch.changed(&snapshot), [""; 0]);
            // The next one starts with what is known.
            write(&scratch.root.join("a.crlf"), "three\r\n");
            std::fs::remove_file(scratch.root.join("plain")).expect("removed");
            let pending = scratch.survey().expect("a survey");
            assert!(pending.paths().contains(&scratch.root.join("a.crlf")));
            drop(pending);
            let (next, _) = scratch.take();
            assert_eq!(scratch.contents(&next), scratch.worktree());
            assert_eq!(scratch.changed(&snapshot), ["a.crlf", "plain"]);
        }
    }

    #[test]
    fn attributes_that_were_taken_away_do_not_count_as_never_there() {
        let scratch = converting();
        for name in [".gitattributes", "sub/.gitattributes"] {
            std::fs::remove_file(scratch.root.join(name)).expect("removed");
        }
        let mut there = scratch.worktree();
        let mut saved = scratch.contents(&scratch.take().0);
        // A filter that leaves lengths as they are, and is nowhere named any more, is the one thing that is not seen.
        there.remove(Path::new("d.rot"));
        saved.remove(Path::new("d.rot"));
        assert_eq!(saved, there);
    }

    #[test]
    fn flags_of_the_users_index_hide_nothing() {
        let cases: [(&str, &[&str]); 4] = [
            ("assumed", &["update-index", "--assume-unchanged", "one"]),
            ("skipped", &["update-index", "--skip-worktree", "one"]),
            ("split", &["update-index", "--split-index"]),
            ("sparse", &["sparse-checkout", "set", "--cone", "--sparse-index", "in"]),
        ];
        for (what, command) in cases {
            let scratch = Scratch::new(&[("one", "1"), ("two", "2"), ("in/file", "in"), ("out/deep/file", "out")]);
            user(&scratch.root, command);
            write(&scratch.root.join("one"), "changed");
            write(&scratch.root.join("intended"), "");
            user(&scratch.root, &["add", "--intent-to-add", "intended"]);
            let (snapshot, _) = scratch.take();
            assert_eq!(scratch.contents(&snapshot), scratch.worktree(), "{what}");
            write(&scratch.root.join("one"), "again");
            assert_eq!(scratch.changed(&snapshot), ["one"], "{what}");
        }
    }

    #[test]
    fn what_was_written_in_the_same_moment_with_the_same_length_is_seen() {
        let scratch = Scratch::new(&[("file", "1")]);
        for round in 0..20_u8 {
            write(&scratch.root.join("file"), [b'a' + round]);
            if round % 2 == 0 {
                user(&scratch.root, &["add", "file"]);
            }
            if round == 9 {
                std::fs::remove_dir_all(&scratch.store).expect("the index is taken over again");
            }
            let (snapshot, _) = scratch.take();
            assert_eq!(scratch.contents(&snapshot), scratch.worktree(), "{round}");
        }
    }

    #[test]
    fn what_cannot_be_saved_is_said() {
        let scratch = Scratch::new(&[("was/file", "1"), ("kept", "2"), ("becomes", "3"), (".gitignore", "ignored\n")]);
        let at = |name: &str| scratch.root.join(name);
        write(&at("secret"), "secret");
        write(&at("ignored"), "ignored");
        write(&at("large"), "");
        File::options().write(true).open(at("large")).expect("open").set_len(Limits::DEFAULT.file + 1).expect("large");
        repository(&at("inner"), &[("file", "x")]);
        user(&scratch.root, &["init", "-q", "fresh"]);
        std::fs::create_dir_all(at(".GIT")).expect("a folder");
        write(&at(".GIT/odd"), "x");
        let pending = scratch.survey().expect("a survey");
        let withheld: Vec<bool> = pending.paths().iter().map(|path| *path == at("secret")).collect();
        pending.take(Some(&withheld), soon()).expect("a snapshot");
        for name in ["pipe", "becomes"] {
            let _ = std::fs::remove_file(at(name));
            mknodat(CWD, at(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        }
        std::fs::rename(at("was"), at("moved")).expect("moved");
        symlink("moved", at("was")).expect("a link");
        let pending = scratch.survey().expect("a survey");
        let withheld: Vec<bool> = pending.paths().iter().map(|path| *path == at("secret")).collect();
        assert_eq!(withheld.iter().filter(|one| **one).count(), 1);
        let (snapshot, left_out) = pending.take(Some(&withheld), soon()).expect("a snapshot");
        let mut said: Vec<String> =
            left_out.iter().map(|one| format!("{one}").replace(&format!("{}/", scratch.root.display()), "")).collect();
        said.sort();
        let expected = [
            ".GIT/odd: git takes no such name",
            "becomes: it is a pipe, a socket or a device",
            "fresh/: it is a repository of its own",
            "inner/: it is a repository of its own",
            "large: it is larger than 256 MiB",
            "secret: rules keep it from being read",
        ];
        assert_eq!(said, expected);
        let saved: Vec<PathBuf> = scratch.contents(&snapshot).into_keys().collect();
        assert_eq!(saved, [".gitignore", "kept", "moved/file", "was"].map(PathBuf::from));
        let left_out =
            scratch.own(&snapshot).ask(&["cat-file", "--batch-all-objects", "--batch"], vec![], Borrowed::Not);
        assert!(!String::from_utf8_lossy(&left_out.expect("objects")).contains("secret"), "nothing of it is stored");
    }

    #[test]
    fn what_is_withheld_later_is_taken_out() {
        let scratch = Scratch::new(&[("one", "1")]);
        write(&scratch.root.join("secret"), "secret");
        assert_eq!(scratch.take().1, []);
        write(&scratch.root.join("secret"), "secret still");
        let pending = scratch.survey().expect("a survey");
        // Too few answers withhold the rest.
        let (snapshot, left_out) = pending.take(Some(&[]), soon()).expect("a snapshot");
        assert_eq!(left_out.len(), 1);
        assert!(!scratch.contents(&snapshot).contains_key(Path::new("secret")));
        std::thread::sleep(2 * CLOCK_SKEW_TOLERANCE);
        let (snapshot, _) =
            (scratch.survey().expect("a survey").take(Some(&[]), soon()).expect("a snapshot"), snapshot).0;
        assert_eq!(scratch.changed(&snapshot), [""; 0], "it was not touched");
        write(&scratch.root.join("secret"), "touched");
        assert_eq!(scratch.changed(&snapshot), ["+secret"]);
    }

    #[test]
    fn what_was_changed_is_told() {
        // What is done between, as a shell script, and what is told.
        let cases: &[(&str, &[&str])] = &[
            ("true", &[]),
            ("touch one", &[]),
            ("echo 1 >one", &[]),
            ("echo other >one", &["one"]),
            ("chmod +x one", &["one"]),
            ("rm one", &["one"]),
            ("rm -r dir", &["dir/file"]),
            ("mv one two", &["+two", "one"]),
            ("rm one; mkdir one; echo x >one/x", &["+one/x", "one"]),
            ("rm -r dir; echo x >dir", &["+dir", "dir/file"]),
            ("rm -r dir; mkdir away; echo x >away/file; ln -s away dir", &["+away/file", "+dir", "dir/file"]),
            ("ln -sf two one", &["one"]),
            ("rm one; mkfifo one", &["one"]),
            ("echo new >untracked", &["untracked"]),
            ("echo new >.hidden; echo x >ignored", &["+.hidden"]),
            ("rm .gitignore", &[".gitignore"]),
            ("rm .git/info/exclude", &[]),
            ("echo y >>ignored; rm .gitignore", &["+ignored", ".gitignore"]),
            ("truncate -s 300M big", &["+big"]),
            ("truncate -s 300M one", &["one"]),
            ("git add -A; git commit -q -m x; git rm -q --cached one", &[]),
            ("git rm -q one", &["one"]),
            ("git init -q made; echo x >made/file", &[]),
            ("rm -rf .git", &[]),
        ];
        for (script, expected) in cases {
            let scratch = Scratch::new(&[("one", "1\n"), ("dir/file", "f"), (".gitignore", "ignored\n")]);
            write(&scratch.root.join("untracked"), "u");
            write(&scratch.root.join("ignored"), "i");
            write(&scratch.root.join("excluded"), "i");
            write(&scratch.root.join(".git/info/exclude"), "/excluded\n");
            let (snapshot, _) = scratch.take();
            // Longer than what a file system's clock may be behind.
            std::thread::sleep(2 * CLOCK_SKEW_TOLERANCE);
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", script]).current_dir(&scratch.root).env("GIT_CONFIG_GLOBAL", "/dev/null");
            for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
                shell.env(name, "x");
            }
            assert!(shell.status().is_ok_and(|status| status.success()), "{script}");
            assert_eq!(scratch.changed(&snapshot), *expected, "{script}");
            // Nothing of that is kept: it can be told again.
            assert_eq!(scratch.changed(&snapshot), *expected, "{script}, again");
        }
    }

    #[test]
    fn nothing_of_the_repository_is_run_or_changed() {
        let scratch = converting();
        let at = |name: &str| scratch.root.join(name);
        let mark = scratch.root.with_file_name("mark");
        let run = scratch.root.with_file_name("run");
        canary(&run, &mark);
        for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"]
        {
            canary(&at(".git/hooks").join(hook), &mark);
        }
        let run = run.to_str().expect("text");
        let settings = [
            "core.fsmonitor",
            "filter.rot.clean",
            "filter.rot.process",
            "filter.big.clean",
            "filter.x.clean",
            "filter.x.smudge",
            "diff.external",
            "diff.x.textconv",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "core.alternateRefsCommand",
            "credential.helper",
            "gpg.program",
            "alias.ls-files",
            "hook.x.command",
            "uploadpack.packObjectsHook",
        ];
        for name in settings {
            user(&scratch.root, &["config", name, run]);
        }
        for (name, value) in [
            ("hook.x.event", "post-index-change"),
            ("core.attributesFile", "attributes"),
            ("core.untrackedCache", "true"),
        ] {
            user(&scratch.root, &["config", name, value]);
        }
        write(&at("included"), format!("[core]\n\tfsmonitor = {run}\n"));
        user(&scratch.root, &["config", "include.path", "../included"]);
        write(&at(".git/info/attributes"), "* filter=x diff=x\n");
        write(&at("changed.rot"), "changed");
        write(&at("plain"), "changed");
        repository(&at("inner"), &[("file", "x")]);
        user(&at("inner"), &["config", "core.fsmonitor", run]);
        let _ = std::fs::remove_file(&mark);
        let before = files(&at(".git"));
        let (snapshot, _) = scratch.take();
        write(&at("plain"), "changed again");
        assert_eq!(scratch.changed(&snapshot), ["plain"]);
        scratch.take();
        tidy(&git(), &scratch.store, &[snapshot], soon()).expect("tidied");
        assert!(!mark.exists(), "something was run");
        let after = files(&at(".git"));
        let differ: Vec<_> =
            after.iter().filter(|(path, file)| before.get(*path) != Some(file)).map(|(path, _)| path).collect();
        assert_eq!((differ, before.len()), (vec![], after.len()));
        user(&scratch.root, &["status"]);
        assert!(mark.exists(), "something would have been run");
    }

    #[test]
    fn worktrees_of_all_kinds() {
        let scratch = Scratch::new(&[("one", "1"), ("sub/two", "2")]);
        let beside = |name: &str| scratch.root.with_file_name(name);
        user(&scratch.root, &["worktree", "add", "-q", "../linked"]);
        repository(&beside("other"), &[("file", "o")]);
        user(&scratch.root, &["submodule", "add", "-q", "../other", "module"]);
        user(&scratch.root, &["commit", "-q", "-m", "module"]);
        repository(&beside("hostile"), &[]);
        user(&beside("hostile"), &["config", "core.worktree", "/"]);
        write(&beside("file/.git"), "gitdir: ../repo/.git\n");
        write(&beside("file/one"), "1");
        user(scratch.root.parent().expect("a folder"), &["init", "-q", "--object-format=sha256", "wide"]);
        write(&beside("wide/file"), "x");
        user(&beside("wide"), &["add", "-A"]);
        user(&beside("wide"), &["commit", "-q", "-m", "x"]);
        repository(&beside("empty"), &[]);
        user(&beside("empty"), &["checkout", "-q", "--orphan", "none"]);
        // The root, and what is in the snapshot.
        let cases: [(&str, &[&str]); 9] = [
            ("repo", &[".gitmodules", "one", "sub/two"]),
            ("repo/module", &["file"]),
            ("linked", &["one", "sub/two"]),
            ("file", &["one"]),
            ("wide", &["file"]),
            ("empty", &[]),
            ("hostile", &["/hostile is not the root of its worktree"]),
            ("repo/sub", &["/repo/sub is not the root of its worktree"]),
            ("repo/.git", &["/repo/.git is not the root of its worktree"]),
        ];
        for (root, expected) in cases {
            let root = beside(root);
            let pending = match survey(&git(), &scratch.store, &root, &Limits::DEFAULT, soon()) {
                Err(error) => {
                    assert!(error.to_string().ends_with(expected[0]), "{}: {error}", root.display());
                    continue;
                }
                Ok(pending) => pending,
            };
            let withheld = vec![false; pending.paths().len()];
            let (snapshot, _) = pending.take(Some(&withheld), soon()).expect("a snapshot");
            let one = Scratch { _folder: tempfile::tempdir().expect("a folder"), root, store: scratch.store.clone() };
            let found: Vec<PathBuf> = one.contents(&snapshot).into_keys().collect();
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{}", one.root.display());
            assert_eq!(one.changed(&snapshot), [""; 0]);
        }
    }

    #[test]
    fn a_folder_in_no_repository_is_saved_if_it_is_small() {
        let scratch = Scratch::plain();
        for name in ["src/main.py", "node_modules/x/index.js", "src/__pycache__/main.pyc", ".gitignore", "data"] {
            write(&scratch.root.join(name), "x");
        }
        let (snapshot, left_out) = scratch.take();
        let saved: Vec<PathBuf> = scratch.contents(&snapshot).into_keys().collect();
        assert_eq!((saved, left_out), ([".gitignore", "data", "src/main.py"].map(PathBuf::from).to_vec(), vec![]));
        write(&scratch.root.join("more"), "more");
        assert_eq!(scratch.changed(&snapshot), ["+more"]);
        let small = Limits { untracked_files: 0, ..Limits::DEFAULT };
        let short = Limits { call: 3, ..Limits::DEFAULT };
        for (limits, expected) in [(small, "more than 0 files in no repository"), (short, "more than 0 MiB of them")] {
            let refused = survey(&git(), &scratch.store, &scratch.root, &limits, soon()).map(|_| ());
            assert!(refused.as_ref().is_err_and(|error| error.to_string().contains(expected)), "{refused:?}");
        }
    }

    #[test]
    fn roots_that_are_no_project_are_refused() {
        let home = Some(Path::new("/home/me"));
        let cases = [
            ("/", home, false),
            ("/", None, false),
            ("/home", home, false),
            ("/home/me", home, false),
            ("/home/me/project", home, true),
            ("/home/you", home, true),
            ("/srv", None, true),
        ];
        for (root, home, expected) in cases {
            assert_eq!(refuse(Path::new(root), home).is_ok(), expected, "{root}");
        }
    }

    #[test]
    fn only_what_git_does_not_track_is_limited() {
        let scratch = Scratch::new(&[("one", "1234"), ("two", "5678")]);
        let limits = Limits { paths: 1, call: 4, ..Limits::DEFAULT };
        let look =
            || survey(&git(), &scratch.store, &scratch.root, &limits, soon()).map(|pending| pending.paths().len());
        for name in ["one", "two"] {
            write(&scratch.root.join(name), "changed");
        }
        assert_eq!(look().expect("what is tracked is not limited"), 2);
        write(&scratch.root.join("new"), "1234");
        assert_eq!(look().expect("just enough"), 3);
        write(&scratch.root.join("newer"), "");
        assert!(look().is_err());
        std::fs::remove_file(scratch.root.join("newer")).expect("removed");
        write(&scratch.root.join("new"), "12345");
        assert!(look().is_err());
    }

    #[test]
    fn contents_stay_when_the_repository_loses_them() {
        let scratch =
            Scratch::new(&[("committed", "committed"), ("staged", "1"), ("dangling", "1"), ("tree/file", "1")]);
        let at = |name: &str| scratch.root.join(name);
        write(&at("staged"), "staged");
        write(&at("dangling"), "dangling");
        write(&at("tree/file"), "in a tree that was committed once");
        user(&scratch.root, &["add", "-A"]);
        user(&scratch.root, &["commit", "-q", "-m", "to be lost"]);
        user(&scratch.root, &["reset", "-q", "--soft", "HEAD~"]);
        user(&scratch.root, &["reset", "-q", "--", "dangling", "tree"]);
        let (snapshot, _) = scratch.take();
        let there = scratch.worktree();
        user(&scratch.root, &["reset", "-q"]);
        user(&scratch.root, &["reflog", "expire", "--expire=now", "--all"]);
        user(&scratch.root, &["gc", "-q", "--prune=now"]);
        assert_eq!(scratch.contents(&snapshot), there);
        tidy(&git(), &scratch.store, std::slice::from_ref(&snapshot), soon()).expect("tidied");
        assert_eq!(scratch.contents(&snapshot), there);
        // What the index here names and is gone from there is read anew.
        write(&at("committed"), "committed next");
        let _ = scratch.take();
        let (next, _) = scratch.take();
        assert_eq!(scratch.contents(&next), scratch.worktree());
    }

    #[test]
    fn an_index_that_names_what_is_gone_is_built_anew() {
        let scratch = Scratch::new(&[("one", "1"), ("two", "2")]);
        scratch.take();
        std::fs::remove_dir_all(scratch.root.join(".git")).expect("removed");
        user(&scratch.root, &["init", "-q"]);
        assert!(scratch.try_take().is_err());
        let (snapshot, _) = scratch.take();
        assert_eq!(scratch.contents(&snapshot), scratch.worktree());
        // What a loss of power may leave.
        let last = scratch.own(&snapshot).at_path(LAST);
        let said = std::fs::read_to_string(&last).unwrap_or_default();
        write(&last, said.split(' ').take(2).chain(["another start\n"]).collect::<Vec<_>>().join(" "));
        for object in files(&scratch.own(&snapshot).at_path("objects")).into_keys() {
            std::fs::set_permissions(&object, std::fs::Permissions::from_mode(0o600)).expect("a mode");
            write(&object, "");
        }
        assert!(scratch.try_take().is_err());
        let (snapshot, _) = scratch.take();
        assert_eq!(scratch.contents(&snapshot), scratch.worktree());
    }

    #[test]
    fn what_is_changed_twice_in_a_second_is_read_twice() {
        let scratch = Scratch::new(&[("one", "1")]);
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        let put = |content: &str| {
            write(&scratch.root.join("new"), content);
            let file = File::options().write(true).open(scratch.root.join("new")).expect("the file");
            file.set_modified(old).expect("a time");
        };
        for content in ["aaaa", "bbbb", "cccc", "dddd"] {
            put(content);
            let (snapshot, _) = scratch.take();
            assert_eq!(scratch.contents(&snapshot), scratch.worktree(), "{content}");
        }
        let (snapshot, _) = scratch.take();
        put("eeee");
        let changed = changed_since(&git(), &scratch.store, &snapshot, &Limits::DEFAULT, soon()).expect("known");
        assert_eq!(changed.len(), 1);
    }

    #[test]
    fn many_at_once_take_turns() {
        let scratch = Scratch::new(&[("one", "1")]);
        std::fs::create_dir_all(&scratch.store).expect("a store");
        write(&scratch.root.join("new"), "new");
        scratch.take();
        let folder = scratch.own(&scratch.take().0).folder;
        write(&folder.join("index.lock"), "left behind");
        std::thread::scope(|scope| {
            let taken: Vec<_> = (0..8).map(|_| scope.spawn(|| scratch.take().0)).collect();
            let taken: HashSet<String> = taken.into_iter().map(|one| one.join().expect("taken").tree).collect();
            assert_eq!(taken.len(), 1);
        });
        let pending = scratch.survey().expect("a survey");
        let soon = Instant::now() + Duration::from_millis(50);
        let second = survey(&git(), &scratch.store, &scratch.root, &Limits::DEFAULT, soon).map(|_| ());
        assert!(matches!(second, Err(UndoError::Late)), "{second:?}");
        drop(pending);
    }

    #[test]
    fn the_deadline_is_kept_and_what_was_read_stays() {
        let scratch = Scratch::new(&[]);
        for number in 0..200 {
            write(&scratch.root.join(format!("{number}")), format!("{number}"));
        }
        let now = Instant::now();
        let pending = scratch.survey().expect("a survey");
        let taken = pending.take(Some(&[false; 200]), now).map(|_| ());
        assert!(matches!(taken, Err(UndoError::Late)), "{taken:?}");
        let (snapshot, _) = scratch.take();
        assert_eq!(scratch.contents(&snapshot).len(), 200);
    }

    /// A program may write to the store, as anything of the user's.
    #[test]
    fn nothing_that_was_written_into_the_folder_is_run() {
        let scratch = Scratch::new(&[("one", "1")]);
        let (snapshot, _) = scratch.take();
        let own = scratch.own(&snapshot);
        let (mark, run) = (scratch.root.with_file_name("mark"), scratch.root.with_file_name("run"));
        canary(&run, &mark);
        write(&scratch.root.join("one"), "2");
        let forge = || {
            let filter = format!("[filter \"x\"]\n\tclean = {0}\n[core]\n\tfsmonitor = {0}\n", run.display());
            write(&own.at_path("config"), filter);
            write(&own.at_path("info/attributes"), "* filter=x\n");
            let other = scratch.root.with_file_name("common");
            std::fs::create_dir_all(other.join("info")).expect("a folder");
            for (from, to) in [("config", "config"), ("info/attributes", "info/attributes")] {
                std::fs::copy(own.at_path(from), other.join(to)).expect("a copy");
            }
            write(&own.at_path("commondir"), other.display().to_string());
        };
        forge();
        changed_since(&git(), &scratch.store, &snapshot, &Limits::DEFAULT, soon()).expect("what has changed");
        forge();
        tidy(&git(), &scratch.store, std::slice::from_ref(&snapshot), soon()).expect("tidied");
        forge();
        assert_eq!(scratch.contents(&scratch.take().0), scratch.worktree());
        assert!(!mark.exists(), "something was run");
        forge();
        let _ = own.ask(&["hash-object", "one"], vec![], Borrowed::Not);
        assert!(mark.exists(), "it would have been");
    }

    #[test]
    fn files_are_given_to_git_some_at_a_time() {
        // Lengths, in MiB, and how many go at once.
        let cases: [(&[u64], usize); 6] =
            [(&[1], 1), (&[40], 1), (&[40, 1], 1), (&[1, 30, 2], 2), (&[16, 16, 1], 2), (&[0, 0, 0], 3)];
        for (lengths, expected) in cases {
            assert_eq!(chunk(lengths.iter().map(|length| length << 20)), expected, "{lengths:?}");
        }
        assert_eq!(chunk(std::iter::repeat_n(0, 2 * CHUNK)), CHUNK);
    }

    /// A file of this many bytes, which takes no room.
    fn sparse(path: &Path, length: u64) {
        File::create(path).and_then(|file| file.set_len(length)).expect("a file");
    }

    #[test]
    fn a_file_that_took_too_long_is_left_out_for_a_while() {
        let scratch = Scratch::new(&[("one", "1")]);
        let (snapshot, _) = scratch.take();
        let (path, slow) = (scratch.root.join("large"), scratch.own(&snapshot).at_path(SLOW));
        let is_cut_off = || {
            let taken = scratch.survey().expect("a survey").take(Some(&[false]), Instant::now());
            assert!(matches!(taken, Err(UndoError::Late)));
        };
        sparse(&path, LARGE);
        is_cut_off();
        let (snapshot, left_out) = scratch.try_take().expect("a snapshot");
        assert_eq!(
            left_out,
            [LeftOut { path: Some(path.as_path().into()), why: "it could not be read in time".to_owned() }]
        );
        assert_eq!(scratch.contents(&snapshot).len(), 1);
        // An hour later, or if the file has another length, it is tried again.
        let long_ago = SystemTime::now() - 2 * SLOW_RETENTION;
        let file = File::options().append(true).open(&slow).expect("it is noted");
        file.set_times(FileTimes::new().set_modified(long_ago)).expect("a time");
        assert_eq!(scratch.contents(&scratch.take().0), scratch.worktree());
        assert_eq!(std::fs::read(&slow).expect("it is noted"), b"");
        sparse(&path, LARGE + 1);
        is_cut_off();
        sparse(&path, LARGE + 2);
        assert_eq!(scratch.contents(&scratch.take().0), scratch.worktree());
    }

    #[test]
    fn large_files_stay_as_they_are_when_the_rest_is_packed() {
        let scratch = Scratch::new(&[("one", "1")]);
        write(&scratch.root.join("small"), "small");
        sparse(&scratch.root.join("large"), LARGE);
        let (snapshot, _) = scratch.take();
        let own = scratch.own(&snapshot);
        let largest = || files(&own.at_path("objects")).into_values().map(|(content, _)| content.len() as u64).max();
        assert!(largest() >= Some(LARGE), "it is not compressed");
        own.pack_all().expect("packed");
        assert!(largest() >= Some(LARGE));
        assert_eq!(scratch.contents(&snapshot), scratch.worktree());
        // One that is in a pack already is in the next one, too.
        let id = own.ask(&["rev-parse", &format!("{}:large", snapshot.tree)], vec![], Borrowed::Not).expect("an id");
        own.pack(&[String::from_utf8_lossy(&id).trim()], Borrowed::Not).expect("packed");
        own.ask(&["prune-packed", "-q"], vec![], Borrowed::Not).expect("pruned");
        own.pack_all().expect("packed");
        assert!(largest() < Some(LARGE));
        assert_eq!(scratch.contents(&snapshot), scratch.worktree());
    }

    #[test]
    fn tidying_keeps_what_is_live_or_young() {
        let scratch = Scratch::new(&[("one", "1")]);
        let at = |name: &str| scratch.root.join(name);
        write(&at("new"), "first");
        let (first, _) = scratch.take();
        write(&at("new"), "second");
        let (second, _) = scratch.take();
        write(&at("new"), "third");
        let (third, _) = scratch.take();
        let own = scratch.own(&first);
        let long_ago = SystemTime::now() - 2 * UNREFERENCED_RETENTION;
        let age = |path: &Path| {
            let file = File::open(path).expect("a file");
            file.set_times(FileTimes::new().set_modified(long_ago)).expect("a time");
        };
        age(&own.at_path("refs/snapshots").join(&first.tree));
        age(&own.at_path("refs/snapshots").join(&second.tree));
        for (path, _) in files(&own.at_path("objects")) {
            age(&path);
        }
        let id =
            |snapshot: &Snapshot| own.ask(&["rev-parse", &format!("{}:new", snapshot.tree)], vec![], Borrowed::Too);
        // A program that another test starts at this moment has our lock for as long as it takes to start, and then nothing is tidied.
        let tidied = |live: &[Snapshot], is_done: &dyn Fn() -> bool| {
            let end = soon();
            while Instant::now() < end {
                tidy(&git(), &scratch.store, live, soon()).expect("tidied");
                if is_done() {
                    return;
                }
            }
        };
        tidied(std::slice::from_ref(&first), &|| id(&second).is_err());
        assert_eq!([id(&first).is_ok(), id(&second).is_ok(), id(&third).is_ok()], [true, false, true]);
        // Objects that the user's repository has as well are ours still.
        assert_eq!(scratch.contents(&first)[Path::new("new")].1, b"first");
        assert_eq!(scratch.contents(&third), scratch.worktree());
        age(&own.at_path("refs/snapshots").join(&first.tree));
        age(&own.at_path("refs/snapshots").join(&third.tree));
        tidy(&git(), &scratch.store, &[], soon()).expect("tidied");
        assert!(own.folder.exists(), "its lock is young");
        age(&own.at_path("lock"));
        tidied(&[], &|| !own.folder.exists());
        assert!(!own.folder.exists());
        assert_eq!(scratch.contents(&scratch.take().0), scratch.worktree());
        assert!(try_user(&scratch.root, &["fsck", "--strict"]).0);
    }

    #[test]
    fn paths_with_colons_are_quoted() {
        let cases = [("/a/b", "/a/b"), ("/a:b", "\"/a:b\""), ("/a\"b\\c", "\"/a\\\"b\\\\c\""), ("/a\nb", "\"/a\\nb\"")];
        for (path, expected) in cases {
            assert_eq!(String::from_utf8_lossy(&quoted(Path::new(path))), expected);
        }
        let scratch = Scratch::new(&[("one", "1")]);
        let odd = scratch.root.with_file_name("od:d \"repo\"");
        std::fs::rename(&scratch.root, &odd).expect("moved");
        let scratch = Scratch { root: odd, ..scratch };
        let (snapshot, _) = scratch.take();
        assert_eq!(scratch.contents(&snapshot), scratch.worktree());
    }
}
