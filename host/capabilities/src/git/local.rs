//! Asks the local git what changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use toolgate_git::{Call, Git as LocalProgram, GitError, REDIRECTING, Setting, users_configuration};

use super::branch::branch;
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Answer, Change, ChangedFile, Git, apart};
use toolgate_host::limits::deadline;

/// Most files in an answer.
const FILES: usize = 10_000;

/// Most bytes that git may say.
const OUTPUT: usize = 16 << 20;

/// Variables by which the shell that runs a git may run something else, or elsewhere. The git that is run here gets none of
/// them, so it cannot tell what one with them would do.
const OF_SHELLS: &[&str] = &["BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "SHELLOPTS"];

/// Variables by which a git, or the shell that runs it, may work on something else than what is where it is run.
pub fn elsewhere() -> impl Iterator<Item = &'static &'static str> {
    OF_SHELLS.iter().chain(REDIRECTING)
}

/// The local git, as far as it can be run without running what the repository names.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalGit;

#[async_trait]
impl Git for LocalGit {
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>> {
        apart(move || {
            if let Some((folder, branch)) = folder.rsplit_once(BRANCHES) {
                let at = Path::new(folder);
                let git = Runner::of(at, deadline::GIT_FILE)?;
                let path = format!("{folder}{BRANCHES}{branch}");
                let lost = (!merged(&git, branch)?).then_some(ChangedFile { path, change: Change::Deleted });
                return Ok(lost.into_iter().collect());
            }
            if let Some((root, (commit, file))) =
                folder.split_once(COMMITS).and_then(|(root, named)| Some((root, named.split_once(':')?)))
            {
                let at = Path::new(root);
                let git = Runner::of(at, deadline::GIT_FILE)?;
                let path = format!("{root}{COMMITS}{commit}:{file}");
                return Ok(differs(&git, commit, file)?
                    .map(|change| ChangedFile { path, change })
                    .into_iter()
                    .collect());
            }
            let folder = Path::new(&folder);
            changed(folder)
        })
        .await?
    }

    async fn branch(&self, folder: String) -> Answer<Option<String>> {
        apart(move || branch(Path::new(&folder))).await?
    }
}

impl<'a> Runner<'a> {
    /// The git that is asked about a folder.
    fn of(folder: &'a Path, within: Duration) -> Answer<Self> {
        Ok(Runner { git: LocalProgram::find(&[folder]).map_err(answer)?, folder, end: Instant::now() + within })
    }
}

/// What stands between a folder and the name of a branch of its repository.
const BRANCHES: &str = "/.git/refs/heads/";

/// Whether other branches, tags or remote-tracking branches hold all commits of this branch.
fn merged(git: &Runner<'_>, branch: &str) -> Answer<bool> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-+@".contains(&byte);
    if branch.is_empty() || !branch.bytes().all(is_plain) {
        return Err(CapabilityError::Other("not a valid branch name".to_owned()));
    }
    // A configuration can have git work somewhere else than where it is run.
    git.own_root()?;
    let settings = git.filters()?;
    let named = format!("refs/heads/{branch}");
    // Another name for it holds nothing when it is gone. Where names of files do not differ by case, a branch has others.
    let listed = text(&git.run(&["for-each-ref", "--format=%(refname) %(symref)"], &settings)?)?;
    let refs = || listed.lines().filter_map(|line| line.split_once(' '));
    let alike = refs().map(|(other, _)| other).filter(|other| other.eq_ignore_ascii_case(&named));
    if !alike.eq([named.as_str()]) || refs().any(|(_, leads)| leads.eq_ignore_ascii_case(&named)) {
        return Ok(false);
    }
    let other = format!("--exclude={branch}");
    let arguments = ["rev-list", "--max-count=1", &named, "--not", &other, "--branches", "--tags", "--remotes", "--"];
    Ok(git.run(&arguments, &settings)?.is_empty())
}

/// What stands between the root of a worktree and a commit with a file of it.
const COMMITS: &str = "/.git/commits/";

/// How a file of a commit differs from that of the last one, if it does.
fn differs(git: &Runner<'_>, commit: &str, file: &str) -> Answer<Option<Change>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-+@~^{}".contains(&byte);
    if commit.is_empty() || commit.starts_with('-') || !commit.bytes().all(is_plain) {
        return Err(CapabilityError::Other("not a valid commit name".to_owned()));
    }
    git.own_root()?;
    let settings = git.filters()?;
    let entry = |commit: &str| {
        git.run(&["ls-tree", "-z", "--full-tree", &format!("{commit}^{{commit}}"), "--", file], &settings)
    };
    let (there, here) = (entry(commit)?, entry("HEAD")?);
    Ok(match there {
        same if same == here => None,
        none if none.is_empty() => Some(Change::Deleted),
        _ => Some(Change::Modified),
    })
}

/// What `git status` is asked, but for the paths.
const STATUS: &[&str] =
    &["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames"];

fn changed(path: &Path) -> Answer<Vec<ChangedFile>> {
    if path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return changed_file(path);
    }
    let git = Runner::of(path, deadline::GIT)?;
    let (root, filters) = (git.root()?, git.filters()?);
    // The paths are those of the folder, but relative to the root.
    files(&git.run(&[STATUS, &["--", "."]].concat(), &filters)?, &root)
}

/// A regular file, unless the last commit and the index hold it as it is.
fn changed_file(path: &Path) -> Answer<Vec<ChangedFile>> {
    let nowhere = || CapabilityError::Unavailable("the file is not in a git worktree".to_owned());
    let (folder, name) = path.parent().zip(path.file_name()).ok_or_else(nowhere)?;
    let name = name.to_str().ok_or_else(nowhere)?;
    let git = Runner::of(folder, deadline::GIT_FILE)?;
    let root = git.own_root()?;
    let settings = git.filters()?;
    let said = git.run(&[STATUS, &["--ignored=matching", "--", name]].concat(), &settings)?;
    let itself = |change| Ok(vec![ChangedFile { path: path.display().to_string(), change }]);
    if said.starts_with(b"! ") {
        return itself(Change::Untracked);
    }
    if !said.is_empty() {
        return match files(&said, &root)?.into_iter().next() {
            Some(found) => itself(found.change),
            // A submodule, or a name that cannot be said.
            None => Err(nowhere()),
        };
    }
    // In the index, in one version, and neither assumed to be unchanged nor left out of the worktree; and its content is
    // that one whatever its times and its size say.
    let listed = text(&git.run(&["ls-files", "-v", "-s", "-z", "--", name], &settings)?)?;
    // What filters and the ends of lines would make of it is not what is on disk.
    let content = text(&git.run(&["hash-object", "--no-filters", "--", name], &settings)?)?;
    git.run(&["cat-file", "-e", content.trim_end()], &settings)?;
    let held = listed
        .strip_suffix(&format!(" {} 0\t{name}\0", content.trim_end()))
        .is_some_and(|tag| matches!(tag, "H 100644" | "H 100755"));
    if held { Ok(Vec::new()) } else { itself(Change::Modified) }
}

/// What `git status --porcelain=v2 -z` says.
fn files(output: &[u8], root: &Path) -> Answer<Vec<ChangedFile>> {
    let mut found = Vec::new();
    for entry in output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let Ok(entry) = text(entry) else {
            // Such a name cannot be said in the contract.
            tracing::warn!("skipped a changed file whose name is not UTF-8");
            continue;
        };
        let (kind, rest) = entry.split_once(' ').unwrap_or((&entry, ""));
        // Fields before the path: XY, sub, three or four modes, two or three hashes.
        let fields = match kind {
            "?" => 0,
            "1" => 7,
            "u" => 9,
            _ => continue,
        };
        let mut parts = rest.splitn(fields + 1, ' ');
        let states = if fields == 0 { "" } else { parts.next().unwrap_or_default() };
        let path = parts.last().unwrap_or_default();
        if path.is_empty() || path.ends_with('/') {
            // A repository inside the repository; its files are its own.
            continue;
        }
        if found.len() == FILES {
            return Err(CapabilityError::TooLarge(FILES as u64));
        }
        let change = match (kind, states) {
            ("?", _) => Change::Untracked,
            (_, states) if states.contains('D') => Change::Deleted,
            (_, states) if states.starts_with('A') => Change::Added,
            _ => Change::Modified,
        };
        let path = root.join(path).into_os_string().into_string();
        found.extend(path.ok().map(|path| ChangedFile { path, change }));
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> Answer<String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| CapabilityError::Other("a path is not UTF-8 text".to_owned()))
}

/// Runs git in a folder, until a moment.
struct Runner<'a> {
    git: LocalProgram,
    folder: &'a Path,
    end: Instant,
}

impl Runner<'_> {
    /// The root of the worktree.
    fn root(&self) -> Answer<PathBuf> {
        let root = self.run(&["rev-parse", "--show-toplevel"], &[])?;
        Ok(PathBuf::from(text(root.strip_suffix(b"\n").unwrap_or(&root))?))
    }

    /// The same, unless a configuration or a variable may have git work somewhere else than where it is run.
    fn own_root(&self) -> Answer<PathBuf> {
        let nowhere = || CapabilityError::Unavailable("git may use another folder".to_owned());
        let root = self.root()?;
        let real = |path: &Path| path.canonicalize().map_err(|_| nowhere());
        let elsewhere = elsewhere().any(|name| std::env::var_os(name).is_some());
        if elsewhere || !real(self.folder)?.starts_with(real(&root)?) { Err(nowhere()) } else { Ok(root) }
    }

    /// Settings that leave the filters of all configurations without a program.
    fn filters(&self) -> Answer<Vec<Setting>> {
        let variables = users_configuration();
        let (settings, _) = self.git.without_programs(self.call(&variables, &[])).map_err(answer)?;
        Ok(settings)
    }

    fn run(&self, arguments: &[&str], settings: &[Setting]) -> Answer<Vec<u8>> {
        let variables = users_configuration();
        let said = self.git.run(arguments, self.call(&variables, settings)).map_err(answer)?;
        said.success().map_err(|_| CapabilityError::Unavailable("the folder is not in a git worktree".to_owned()))
    }

    fn call<'b>(&'b self, variables: &'b [(&'static str, OsString)], settings: &'b [Setting]) -> Call<'b> {
        Call { folder: self.folder, variables, settings, input: Vec::new(), until: self.end, most: OUTPUT }
    }
}

/// Why git could not be asked, as it is said in the contract.
fn answer(error: GitError) -> CapabilityError {
    match error {
        GitError::Late => CapabilityError::Timeout,
        GitError::TooMuch(most) => CapabilityError::TooLarge(most as u64),
        GitError::Unavailable(_) | GitError::System { .. } => CapabilityError::Unavailable(error.to_string()),
        GitError::Failed(_) => CapabilityError::Other(error.to_string()),
    }
}
