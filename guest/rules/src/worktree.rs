//! Worktrees of git, as the file system tells of them: where the one around a folder begins, and which repository it is of.
//! Not whether anybody works there.

use toolgate_shell::{FileOracle, Presence, absolute};

/// How far above a folder the root of its worktree is looked for.
const LEVELS: usize = 32;

/// How often one repository inside another is gone out of.
const NESTED: usize = 4;

/// A worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worktree {
    /// Its top.
    pub(crate) root: String,
    /// The folder of the repository's own files, which all of its worktrees share.
    pub(crate) repository: String,
    /// Whether `git worktree add` made it.
    pub(crate) linked: bool,
}

/// What `.git` in a folder is: the repository's own files, or a file that says where they are.
enum DotGit {
    Folder,
    Linked(String),
    /// A submodule's, which are among those of the repository around it, whose top this is.
    Submodule(String),
}

impl Worktree {
    /// The one that a folder without links in its path lies in.
    pub(crate) fn around(folder: &str, look: &dyn FileOracle) -> Option<Self> {
        let mut root = top(folder, look)?;
        for _ in 0..NESTED {
            match dot_git(&root, look)? {
                DotGit::Folder => return Some(Worktree { repository: absolute(".git", &root), root, linked: false }),
                DotGit::Linked(repository) => return Some(Worktree { root, repository, linked: true }),
                DotGit::Submodule(outer) => root = top(&outer, look).filter(|top| *top == outer)?,
            }
        }
        None
    }
}

/// Where the repository of a folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RepositoryLocation {
    /// It is in none.
    Outside,
    /// This is the folder of the repository's own files.
    At(String),
    /// The files do not say, or what they say is not confirmed there: git may follow it all the same.
    Unknown,
}

impl RepositoryLocation {
    /// That of a folder without links in its path.
    pub(crate) fn of(folder: &str, look: &dyn FileOracle) -> Self {
        let mut at = folder;
        for _ in 0..LEVELS {
            // What `commondir` names is shared. A folder may be a repository's own without being called `.git`.
            if look.look(&absolute("commondir", at)) != Presence::Absent {
                return RepositoryLocation::Unknown;
            }
            match look.look(&absolute(".git", at)) {
                Presence::Absent => {}
                Presence::Folder if look.look(&absolute(".git/commondir", at)) != Presence::Absent => {
                    return RepositoryLocation::Unknown;
                }
                Presence::Folder | Presence::File => {
                    return match Worktree::around(at, look) {
                        Some(tree) => RepositoryLocation::At(tree.repository),
                        None => RepositoryLocation::Unknown,
                    };
                }
                Presence::Other | Presence::Unknown => return RepositoryLocation::Unknown,
            }
            at = match at.rsplit_once('/') {
                None | Some(("", "")) => return RepositoryLocation::Outside,
                Some(("", _)) => "/",
                Some((above, _)) => above,
            };
        }
        RepositoryLocation::Unknown
    }
}

/// The nearest folder, from this one on upwards, that has repository's own files or says where they are.
pub(crate) fn top(folder: &str, look: &dyn FileOracle) -> Option<String> {
    let mut at = folder;
    for _ in 0..LEVELS {
        if matches!(look.look(&absolute(".git", at)), Presence::Folder | Presence::File) {
            return Some(at.to_owned());
        }
        at = match at.rsplit_once('/')? {
            ("", "") => return None,
            ("", _) => "/",
            (above, _) => above,
        };
    }
    None
}

/// Where git keeps what it is about in the worktree around a folder.
pub(crate) fn own_folder(folder: &str, look: &dyn FileOracle) -> Option<String> {
    let root = top(folder, look)?;
    let here = absolute(".git", &root);
    if look.look(&here) == Presence::Folder {
        return Some(here);
    }
    Some(absolute(look.script(&here)?.strip_prefix("gitdir:")?.trim(), &root))
}

/// Whether the repository at a top holds what another one does, by what their settings say: it was cloned from that, or both from the
/// same place.
pub(crate) fn is_clone_of(top: &str, root: &str, look: &dyn FileOracle) -> bool {
    let from = origins(top, look);
    let own = || origins(root, look);
    let is_root = |url: &String| url.strip_suffix("/.git").unwrap_or(url) == root;
    top != root && (from.iter().any(is_root) || !from.is_empty() && own().iter().any(|url| from.contains(url)))
}

/// The addresses of the remotes of a repository. Those that are folders of this machine are paths.
fn origins(top: &str, look: &dyn FileOracle) -> Vec<String> {
    let own = absolute(".git", top);
    let folder = match Worktree::around(top, look) {
        Some(tree) if tree.root == top => tree.repository,
        _ => own,
    };
    let Some(settings) = look.script(&absolute("config", &folder)) else { return Vec::new() };
    let url = |line: &str| {
        let (key, url) = line.split_once('=')?;
        let url = url.trim();
        let path = url.strip_prefix("file://").unwrap_or(url);
        let is_path = path.starts_with(['/', '.']);
        (key.trim() == "url").then(|| if is_path { absolute(path, top) } else { url.to_owned() })
    };
    settings.lines().filter_map(url).collect()
}

/// Whether a folder is the top of a worktree whose repository is elsewhere, be that true or only said.
pub(crate) fn says_elsewhere(folder: &str, look: &dyn FileOracle) -> bool {
    look.look(&absolute(".git", folder)) == Presence::File
}

/// What a folder with `.git` says of its repository. A file of that name is believed only where the repository says the same, as
/// whoever writes such a file would otherwise have any folder for a worktree; so is no link.
fn dot_git(root: &str, look: &dyn FileOracle) -> Option<DotGit> {
    let here = absolute(".git", root);
    if look.look(&here) == Presence::Folder {
        return look.real(&here).is_none_or(|real| real == here).then_some(DotGit::Folder);
    }
    let text = look.script(&here)?;
    let named = absolute(text.strip_prefix("gitdir:")?.trim(), root);
    if let Some((outer, _)) = named.split_once("/.git/modules/") {
        return root.strip_prefix(outer)?.starts_with('/').then(|| DotGit::Submodule(outer.to_owned()));
    }
    let (repository, name) = named.rsplit_once("/worktrees/")?;
    let back = absolute(look.script(&absolute("gitdir", &named))?.trim(), &named);
    let is_same = back == here || look.real(&back).is_some_and(|real| real == here);
    (is_same && !name.contains('/')).then(|| DotGit::Linked(repository.to_owned()))
}
