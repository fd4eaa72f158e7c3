//! git itself, run as against a hostile repository.
//!
//! What a repository's own files could have run by what is asked, `git status` above all, and what is done about it:
//!
//! | Names a program | |
//! |---|---|
//! | `core.fsmonitor` | switched off |
//! | hooks, `core.hooksPath` | there are none in `/dev/null`; the index is not written (optional locks off) |
//! | `filter.NAME.clean`, `.process` with `.gitattributes` or `info/attributes` | each that any configuration names is emptied, whatever bytes its name has |
//! | configuration of submodules | submodules are not looked into |
//! | `remote.*` of a partial clone, fetched from when an object is missing | nothing is fetched, no protocol is allowed |
//! | a folder that looks like a bare repository, planted in the project | bare repositories are not taken for one |
//! | `core.pager`, editors, `diff.external`, text conversion, credential helpers, signatures | not used by what is asked; emptied or switched off anyway where there is one name for it |
//!
//! The user's own configuration is read (it says which folders are safe), its filters do not run either.
//! A git before 2.31 does not read settings from the environment, and could not be kept from running filters: it is not
//! used. Which names there are comes from `git config --list`, which runs nothing. Whoever changes the configuration
//! between the two calls can already run programs.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::branch::branch;
use crate::programs::{installed, repository};
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Answer, Change, ChangedFile, Git, apart};
use toolgate_host::limits::deadline;

/// Most files in an answer.
const FILES: usize = 10_000;

/// Most bytes that git may say.
const OUTPUT: usize = 16 << 20;

/// Configuration that is in force whatever any file says.
const CONFIGURATION: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.alternateRefsCommand", "false"),
    ("core.commitGraph", "false"),
    ("core.untrackedCache", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Variables by which a git, or the shell that runs it, may work on something else than what is where it is run. The git
/// that is run here gets none of them, so it cannot tell what one with them would do.
pub const ELSEWHERE: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "GIT_COMMON_DIR",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
    "SHELLOPTS",
];

/// A setting that only the environment gives: a git that does not show it there reads none of them.
const PROBE: &str = "toolgate.environment";

/// The local git, as far as it can be run without running what the repository names.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalGit;

#[async_trait]
impl Git for LocalGit {
    async fn changed_files(&self, folder: String) -> Answer<Vec<ChangedFile>> {
        apart(move || {
            if let Some((folder, branch)) = folder.rsplit_once(BRANCHES) {
                let at = Path::new(folder);
                let git = Runner { program: program(at)?, folder: at, end: Instant::now() + deadline::GIT_FILE };
                let path = format!("{folder}{BRANCHES}{branch}");
                let lost = (!merged(&git, branch)?).then_some(ChangedFile { path, change: Change::Deleted });
                return Ok(lost.into_iter().collect());
            }
            if let Some((root, (commit, file))) =
                folder.split_once(COMMITS).and_then(|(root, named)| Some((root, named.split_once(':')?)))
            {
                let at = Path::new(root);
                let git = Runner { program: program(at)?, folder: at, end: Instant::now() + deadline::GIT_FILE };
                let path = format!("{root}{COMMITS}{commit}:{file}");
                return Ok(differs(&git, commit, file)?
                    .map(|change| ChangedFile { path, change })
                    .into_iter()
                    .collect());
            }
            let folder = Path::new(&folder);
            changed(program(folder)?, folder, Instant::now() + deadline::GIT)
        })
        .await?
    }

    async fn branch(&self, folder: String) -> Answer<Option<String>> {
        apart(move || branch(Path::new(&folder))).await?
    }
}

/// The git that is asked about a folder.
fn program(folder: &Path) -> Answer<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = installed("git", &path, &repository(folder));
    program.ok_or_else(|| CapabilityError::Unavailable("git is not installed".to_owned()))
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

fn changed(program: PathBuf, path: &Path, end: Instant) -> Answer<Vec<ChangedFile>> {
    if path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return changed_file(program, path, end.min(Instant::now() + deadline::GIT_FILE));
    }
    let git = Runner { program, folder: path, end };
    let (root, filters) = (git.root()?, git.filters()?);
    // The paths are those of the folder, but relative to the root.
    files(&git.run(&[STATUS, &["--", "."]].concat(), &filters)?, &root)
}

/// A regular file, unless the last commit and the index hold it as it is.
fn changed_file(program: PathBuf, path: &Path, end: Instant) -> Answer<Vec<ChangedFile>> {
    let nowhere = || CapabilityError::Unavailable("the file is not in a git worktree".to_owned());
    let (folder, name) = path.parent().zip(path.file_name()).ok_or_else(nowhere)?;
    let name = name.to_str().ok_or_else(nowhere)?;
    let git = Runner { program, folder, end };
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

/// A setting that is given to git: its name, which may be any bytes, and its value.
type Setting = (OsString, &'static str);

/// Settings that leave every filter without a program that a list names, which is of pairs of an origin and a name.
fn filters(list: &[u8]) -> Answer<Vec<Setting>> {
    let parts: Vec<&[u8]> = list.split(|byte| *byte == 0).collect();
    // A file cannot say this origin.
    if !parts.chunks(2).any(|pair| pair == [b"command line:".as_slice(), PROBE.as_bytes()]) {
        return Err(CapabilityError::Unavailable("this git is too old: 2.31 or later is required".to_owned()));
    }
    let mut filters = Vec::new();
    for name in parts.chunks(2).filter_map(|pair| pair.get(1)).filter(|name| name.starts_with(b"filter.")) {
        let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { continue };
        let (filter, key) = name.split_at(dot);
        if matches!(key, b".clean" | b".smudge" | b".process" | b".required") {
            filters.push((OsString::from_vec(name.to_vec()), if key == b".required" { "false" } else { "" }));
            filters.push((OsString::from_vec([filter, b".required"].concat()), "false"));
        }
    }
    Ok(filters)
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
    program: PathBuf,
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
        let elsewhere = ELSEWHERE.iter().any(|name| std::env::var_os(name).is_some());
        if elsewhere || !real(self.folder)?.starts_with(real(&root)?) { Err(nowhere()) } else { Ok(root) }
    }

    /// Settings that leave the filters of all configurations without a program.
    fn filters(&self) -> Answer<Vec<Setting>> {
        let list = self.run(&["config", "--list", "--show-origin", "--name-only", "-z"], &[(PROBE.into(), "true")])?;
        filters(&list)
    }

    fn run(&self, arguments: &[&str], more: &[Setting]) -> Answer<Vec<u8>> {
        let mut command = Command::new(&self.program);
        command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
        // Here as well for a git that reads no settings from the environment.
        command.args(CONFIGURATION.iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]));
        command.args(arguments).current_dir(self.folder).env_clear();
        for name in ["HOME", "XDG_CONFIG_HOME", "PATH"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        // `-c` cannot say every name.
        let settings = CONFIGURATION.iter().map(|(name, value)| (OsStr::new(name), *value));
        let settings: Vec<(&OsStr, &str)> =
            settings.chain(more.iter().map(|(name, value)| (&**name, *value))).collect();
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (at, (name, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), name).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0").env("GIT_ALLOW_PROTOCOL", "none");
        // What says of commits that they have other parents than they have.
        command.env("GIT_GRAFT_FILE", "/dev/null");
        command.env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().map_err(|error| CapabilityError::Unavailable(format!("git: {error}")))?;
        Running { child, waited: false }.output(self.end)
    }
}

/// A git that runs. Its group goes with it if it has not come to its end.
struct Running {
    child: Child,
    /// Whether its end was waited for: its number may be another's then.
    waited: bool,
}

impl Running {
    fn output(mut self, end: Instant) -> Answer<Vec<u8>> {
        let other = |error: std::io::Error| CapabilityError::Other(format!("git: {error}"));
        let mut stdout =
            self.child.stdout.take().ok_or_else(|| CapabilityError::Other("git has no output".to_owned()))?;
        let mut output = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            wait(&stdout, end.saturating_duration_since(Instant::now()))?;
            match stdout.read(&mut buffer).map_err(other)? {
                0 => break,
                read => output.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            }
            if output.len() > OUTPUT {
                return Err(CapabilityError::TooLarge(OUTPUT as u64));
            }
        }
        let status = self.child.wait().map_err(other)?;
        self.waited = true;
        match status.success() {
            true => Ok(output),
            false => Err(CapabilityError::Unavailable("the folder is not in a git worktree".to_owned())),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.waited {
            return;
        }
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // One that has ended already, and left nobody behind, is no error.
        let _ = id.map(|id| kill_process_group(id, Signal::KILL));
        let _ = self.child.wait();
    }
}

/// Waits until there is something to read.
fn wait(stream: &impl std::os::fd::AsFd, left: Duration) -> Answer<()> {
    let timeout = Timespec::try_from(left).map_err(|error| CapabilityError::Other(error.to_string()))?;
    let mut polled = [PollFd::new(stream, PollFlags::IN)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(0) => Err(CapabilityError::Timeout),
        Ok(_) => Ok(()),
        Err(error) => Err(CapabilityError::Other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a program");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    }

    #[test]
    fn a_git_that_reads_no_settings_from_the_environment_is_not_used() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (folder, mark) = (scratch.path().join("repo"), scratch.path().join("mark"));
        std::fs::create_dir(&folder).expect("a folder");
        let git = |arguments: &[&str]| Command::new("git").arg("-C").arg(&folder).args(arguments).status();
        assert!(git(&["init", "-q"]).is_ok_and(|status| status.success()));
        let config = format!("[filter \"x\"]\n\tclean = touch {0}\n[toolgate]\n\tenvironment = true\n", mark.display());
        std::fs::write(folder.join(".git/config"), config).expect("a file");
        std::fs::write(folder.join(".gitattributes"), "* filter=x\n").expect("a file");
        let old = scratch.path().join("git");
        program(&old, "#!/bin/sh\nexec env -u GIT_CONFIG_COUNT git \"$@\"\n");
        let found = changed(old, &folder, Instant::now() + deadline::GIT);
        assert!(matches!(&found, Err(CapabilityError::Unavailable(why)) if why.contains("too old")), "{found:?}");
        assert!(!mark.exists());
    }
}
