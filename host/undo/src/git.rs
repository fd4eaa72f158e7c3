//! git itself, run as against a hostile repository.
//!
//! Two ways to run it:
//!
//! | | Works on | Configuration that is read | May run |
//! |---|---|---|---|
//! | [`Git::run`] with nothing but what is given | a git folder of Toolgate's own | that folder's | nothing |
//! | [`Repository`] | the user's repository | all, as by the user's own git: it says which folders are safe | nothing |
//!
//! What a repository's own files could have run by the plumbing that is asked here, and what is done about it:
//!
//! | Names a program | |
//! |---|---|
//! | hooks, `core.hooksPath`; some run for plumbing, too: `reference-transaction` | there are none in `/dev/null` |
//! | `hook.NAME.command` (git 2.54) | each that any configuration names has no events and is switched off |
//! | `core.fsmonitor` | switched off |
//! | `filter.NAME.clean`, `.process` | nothing that is asked here converts content; emptied anyway |
//! | `remote.*` of a partial clone, if an object is missing | nothing is fetched, no protocol is allowed |
//! | a folder that looks like a bare repository, planted in the project | bare repositories are not taken for one |
//! | pagers, editors, `diff.external`, credential helpers, signatures | plumbing uses none; emptied anyway |
//!
//! Whose repository it is is checked by git itself when a folder's repository is looked for (`safe.directory`). A
//! repository
//! that git refuses is refused here, with git's own words.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::UndoError;
use crate::model::Blob;

/// The oldest git that can be used: settings from the environment and `--path-format` are there since 2.31.
const OLDEST: (u32, u32) = (2, 31);

/// How long git may take to say its version.
const VERSION: Duration = Duration::from_secs(2);

/// Most bytes that git may say where not much is expected.
const LITTLE: usize = 1 << 20;

/// Most bytes that git may say of all refs, or of all files.
pub const MUCH: usize = 256 << 20;

/// Most bytes of an error message that are kept.
const COMPLAINT: usize = 2_000;

/// How often it is looked whether git has ended, when it has said all.
const ENDING: Duration = Duration::from_millis(1);

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
    ("core.warnAmbiguousRefs", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gpg.program", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
    ("user.useConfigOnly", "false"),
];

/// A setting that only the environment gives: a git that does not show it there reads none of them.
const PROBE: &str = "toolgate.environment";

/// Who writes what is written into the user's repository: a commit that keeps others, and lines of reflogs.
pub const IDENTITY: (&str, &str) = ("toolgate", "toolgate@localhost");

/// A setting that is given to git: its name, which may be any bytes, and its value.
pub type Setting = (OsString, OsString);

/// The local git.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    /// The first two numbers of its version.
    version: (u32, u32),
}

/// What git is given, but for its arguments.
#[derive(Debug)]
pub struct Call<'a> {
    /// Where it runs.
    pub folder: &'a Path,
    /// Its variables, beside those that it is always given. It inherits none.
    pub variables: &'a [(&'static str, OsString)],
    /// Settings beside those that are always in force.
    pub settings: &'a [Setting],
    /// Its standard input.
    pub input: Vec<u8>,
    /// When it is ended.
    pub until: Instant,
    /// How many bytes it may say. With one more it is ended.
    pub most: usize,
}

/// What git said.
#[derive(Debug)]
pub struct Output {
    /// Its standard output.
    pub output: Vec<u8>,
    /// The beginning of its standard error.
    pub complaint: String,
    /// Its exit status; none if it was ended by a signal.
    pub status: Option<i32>,
}

impl Output {
    /// What it said, if it succeeded.
    ///
    /// # Errors
    /// If not: with its own words.
    pub fn success(self) -> Result<Vec<u8>, UndoError> {
        if self.status == Some(0) { Ok(self.output) } else { Err(UndoError::Git(self.reason())) }
    }

    fn reason(&self) -> String {
        let lines = || self.complaint.lines().map(str::trim).filter(|line| !line.is_empty());
        let told = |line: &&str| ["fatal: ", "error: "].iter().any(|kind| line.starts_with(kind));
        let line = lines().find(told).or_else(|| lines().next());
        match (line, self.status) {
            (Some(line), _) => {
                let line = line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
                line.to_owned()
            }
            (None, Some(status)) => format!("ended with status {status}"),
            (None, None) => "was ended by a signal".to_owned(),
        }
    }
}

impl Git {
    /// The git in the absolute folders of the `PATH`, as long as it is no program that a project brings: it lies
    /// outside the
    /// outermost repository that `outside` is in, and nobody but the user and root can change it.
    ///
    /// # Errors
    /// If there is none, or it is older than 2.31.
    pub fn find(outside: &Path) -> Result<Git, UndoError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let none = || UndoError::NoGit("git is not installed".to_owned());
        Git::at(installed(&path, &outermost(outside)).ok_or_else(none)?)
    }

    /// The git at this path.
    ///
    /// # Errors
    /// If it does not say that it is git 2.31 or newer.
    pub fn at(program: PathBuf) -> Result<Git, UndoError> {
        let git = Git { program, version: OLDEST };
        let until = Instant::now() + VERSION;
        let call = Call { folder: Path::new("/"), variables: &[], settings: &[], input: vec![], until, most: LITTLE };
        let said = git.run(&["version"], call)?.success()?;
        let said = String::from_utf8_lossy(&said);
        match version(&said) {
            Some(version) if version >= OLDEST => Ok(Git { version, ..git }),
            _ => Err(UndoError::NoGit(format!("{} is too old: git 2.31 or later is required", said.trim()))),
        }
    }

    /// Whether `update-index` puts all content that it is to keep apart into one pack. Older ones make a pack of each.
    pub fn packs_at_once(&self) -> bool {
        self.version >= (2, 37)
    }

    /// Runs git until it ends, by itself or at the deadline: then with all that it has started.
    ///
    /// # Errors
    /// If it cannot be started, says too much, or does not end in time. A status other than 0 is no error here.
    pub fn run(&self, arguments: &[impl AsRef<OsStr>], call: Call<'_>) -> Result<Output, UndoError> {
        let mut command = Command::new(&self.program);
        command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
        command.args(arguments).current_dir(call.folder).env_clear();
        for name in ["PATH", "TMPDIR"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        for (name, value) in ALWAYS {
            command.env(name, value);
        }
        configure(&mut command, call.settings);
        command.envs(call.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(if call.input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let started = command.spawn().map_err(|error| UndoError::system(&self.program, error));
        Running { child: started?, waited: false }.output(call)
    }
}

/// Variables that every git is given.
const ALWAYS: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ADVICE", "0"),
    // What says of commits that they have other parents than they have.
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_AUTHOR_NAME", IDENTITY.0),
    ("GIT_AUTHOR_EMAIL", IDENTITY.1),
    ("GIT_COMMITTER_NAME", IDENTITY.0),
    ("GIT_COMMITTER_EMAIL", IDENTITY.1),
];

fn configure(command: &mut Command, more: &[Setting]) {
    // Not by `-c`, which cannot say every name.
    let settings = CONFIGURATION.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
    let settings: Vec<_> = settings.chain(more.iter().map(|(name, value)| (&**name, &**value))).collect();
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (at, (name, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{at}"), name).env(format!("GIT_CONFIG_VALUE_{at}"), value);
    }
}

/// The first two numbers of what `git version` says.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("git version ")?.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The outermost repository that a folder is in; the folder itself, if it is in none.
fn outermost(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    // An empty `.git` makes no repository.
    let is_one = |git: PathBuf| git.is_file() || git.join("HEAD").symlink_metadata().is_ok();
    let found = folder.ancestors().filter(|folder| is_one(folder.join(".git"))).last();
    found.unwrap_or(&folder).to_path_buf()
}

/// A git in the absolute folders of a `PATH` that nobody but the user and root can change, outside of a folder. The
/// root is
/// not counted as one: everything lies in it.
fn installed(path: &OsStr, outside: &Path) -> Option<PathBuf> {
    let is_outside = |path: &Path| outside.parent().is_none() || !path.starts_with(outside);
    let runs = |file: Metadata| file.is_file() && file.permissions().mode() & 0o111 != 0;
    let fits = |program: &PathBuf| {
        let real = program.canonicalize();
        // What a link in the folder says is as good as what lies in it.
        let named = program.parent().and_then(|folder| folder.canonicalize().ok());
        real.is_ok_and(|real| real.metadata().is_ok_and(runs) && is_outside(&real))
            && named.is_some_and(|folder| is_outside(&folder))
            && toolgate_private::by_others(program).is_none()
    };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join("git")).find(fits)
}

/// A git that runs. Its group goes with it if it has not come to its end.
struct Running {
    child: Child,
    /// Whether its end was waited for: its number may be another's then.
    waited: bool,
}

impl Running {
    fn output(mut self, call: Call<'_>) -> Result<Output, UndoError> {
        if let Some(stdin) = self.child.stdin.take() {
            feed(stdin, call.input);
        }
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(UndoError::Git("it has no output".to_owned()));
        };
        let (output, complaint) = read(stdout, stderr, call.until, call.most)?;
        let status = self.end(call.until)?;
        Ok(Output { output, complaint: String::from_utf8_lossy(&complaint).into_owned(), status: status.code() })
    }

    /// Waits for its end: it may run on after it has closed its output.
    fn end(&mut self, until: Instant) -> Result<ExitStatus, UndoError> {
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| UndoError::Git(error.to_string()))? {
                self.waited = true;
                return Ok(status);
            }
            if Instant::now() >= until {
                return Err(UndoError::Late);
            }
            std::thread::sleep(ENDING);
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

/// Writes what git reads, in a thread: it may say something before it has read all. The thread ends with git.
fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    // Whoever ends before it has read all says why by its status.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
}

/// All that is said on two streams, until both are closed.
fn read(
    mut stdout: ChildStdout,
    mut stderr: ChildStderr,
    until: Instant,
    most: usize,
) -> Result<(Vec<u8>, Vec<u8>), UndoError> {
    let (mut output, mut complaint) = (Vec::new(), Vec::new());
    let (mut says, mut complains) = (true, true);
    let mut buffer = vec![0; 64 << 10];
    while says || complains {
        let (output_ready, complaint_ready) = wait(&stdout, says, &stderr, complains, until)?;
        if output_ready {
            says = take(&mut stdout, &mut buffer, &mut output)?;
            if output.len() > most {
                return Err(UndoError::Git(format!("it says more than {most} bytes")));
            }
        }
        if complaint_ready {
            complains = take(&mut stderr, &mut buffer, &mut complaint)?;
            complaint.truncate(COMPLAINT);
        }
    }
    Ok((output, complaint))
}

/// Takes what there is. False if there is nothing more.
fn take(stream: &mut impl Read, buffer: &mut [u8], into: &mut Vec<u8>) -> Result<bool, UndoError> {
    match stream.read(buffer) {
        Ok(0) => Ok(false),
        Ok(read) => {
            into.extend_from_slice(buffer.get(..read).unwrap_or_default());
            Ok(true)
        }
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(UndoError::Git(error.to_string())),
    }
}

/// Waits until there is something to read, or the end, on one of two streams that are looked at.
fn wait(
    stdout: &ChildStdout,
    says: bool,
    stderr: &ChildStderr,
    complains: bool,
    until: Instant,
) -> Result<(bool, bool), UndoError> {
    let left = until.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).map_err(|error| UndoError::Git(error.to_string()))?;
    let mut polled = Vec::with_capacity(2);
    polled.extend(says.then(|| PollFd::new(stdout, PollFlags::IN)));
    polled.extend(complains.then(|| PollFd::new(stderr, PollFlags::IN)));
    match poll(&mut polled, Some(&timeout)) {
        Ok(0) => return Err(UndoError::Late),
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(UndoError::Git(error.to_string())),
    }
    let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
    Ok((says && ready.next().unwrap_or(false), complains && ready.next().unwrap_or(false)))
}

/// A repository of the user's, of which only plumbing is asked that runs nothing.
#[derive(Debug)]
pub struct Repository<'a> {
    git: &'a Git,
    /// What all worktrees share, without links.
    pub common: PathBuf,
    /// The folder of this worktree in it, without links.
    pub git_dir: PathBuf,
    /// The worktree, without links; none for a bare repository, and where git was asked somewhere in a git folder.
    pub worktree: Option<PathBuf>,
    /// `sha1` or `sha256`.
    pub format: String,
    settings: Vec<Setting>,
    until: Instant,
}

impl<'a> Repository<'a> {
    /// The repository that a folder is in; none if it is in none, or is not there.
    ///
    /// # Errors
    /// If git refuses it: another user's, a bare one in a project, one with extensions that this git does not know.
    pub fn of(git: &'a Git, folder: &Path, until: Instant) -> Result<Option<Self>, UndoError> {
        if !folder.is_dir() {
            return Ok(None);
        }
        // A git before 2.43 takes it for a bare one.
        if let Some(worktree) = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == ".git")) {
            let found = Self::asked(git, worktree, &users(), until)?;
            if found.as_ref().is_some_and(|found| folder.canonicalize().is_ok_and(|folder| folder == found.git_dir)) {
                return Ok(found);
            }
        }
        Self::asked(git, folder, &users(), until)
    }

    /// The repository with this git folder, as it was found before.
    ///
    /// # Errors
    /// If it is gone, is another user's, or git refuses it.
    pub fn at(git: &'a Git, git_dir: &Path, worktree: Option<&Path>, until: Instant) -> Result<Self, UndoError> {
        // If git still finds it from its worktree, it was git who said whether it is safe.
        if let Some(found) = worktree.and_then(|folder| Self::of(git, folder, until).transpose()) {
            let found = found?;
            if found.git_dir == git_dir {
                return Ok(found);
            }
        }
        let owner = git_dir.metadata().map_err(|error| UndoError::system(git_dir, error))?.uid();
        if owner != rustix::process::geteuid().as_raw() {
            return Err(UndoError::Git(format!("{} belongs to another user", git_dir.display())));
        }
        let mut variables = users();
        variables.push(("GIT_DIR", git_dir.into()));
        let found = Self::asked(git, git_dir, &variables, until)?;
        let found = found.ok_or_else(|| UndoError::Git(format!("{} is not a repository", git_dir.display())))?;
        Ok(Repository { worktree: worktree.map(Path::to_path_buf), ..found })
    }

    fn asked(
        git: &'a Git,
        folder: &Path,
        variables: &[(&'static str, OsString)],
        until: Instant,
    ) -> Result<Option<Self>, UndoError> {
        let call = |settings| Call { folder, variables, settings, input: vec![], until, most: LITTLE };
        let said = git.run(WHERE, call(&[]))?;
        if said.status == Some(128) && said.complaint.contains("not a git repository (or any") {
            return Ok(None);
        }
        let Some(found) = found(&said.output) else {
            said.success()?;
            return Err(UndoError::Git("it does not say where the repository is".to_owned()));
        };
        // In a git folder there is no worktree.
        if said.status != Some(0) && !said.complaint.contains("must be run in a work tree") {
            return Err(UndoError::Git(said.reason()));
        }
        let real = |path: &Path| path.canonicalize().map_err(|error| UndoError::system(path, error));
        let repository = Repository {
            git,
            common: real(&found.common)?,
            git_dir: real(&found.git_dir)?,
            worktree: found.worktree.as_deref().map(real).transpose()?,
            format: found.format,
            settings: Vec::new(),
            until,
        };
        let probe = [(OsString::from(PROBE), OsString::from("true"))];
        let list = ["config", "--list", "--show-origin", "--name-only", "-z"];
        let settings = harmless(&repository.with(&list, vec![], &probe, &[])?.success()?)?;
        Ok(Some(Repository { settings, ..repository }))
    }

    /// What a git command says that must succeed.
    ///
    /// # Errors
    /// If it does not.
    pub fn ask(&self, arguments: &[impl AsRef<OsStr>], input: Vec<u8>) -> Result<Vec<u8>, UndoError> {
        self.with(arguments, input, &[], &[])?.success()
    }

    /// What a git command says that may fail.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn try_ask(&self, arguments: &[impl AsRef<OsStr>], input: Vec<u8>) -> Result<Output, UndoError> {
        self.with(arguments, input, &[], &[])
    }

    /// The same in the worktree, for what looks at files of it.
    ///
    /// # Errors
    /// If it does not succeed.
    pub fn ask_in(&self, root: &Path, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>, UndoError> {
        self.with(arguments, input, &[], &[("GIT_WORK_TREE", root.into())])?.success()
    }

    fn with(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: Vec<u8>,
        more: &[Setting],
        variables: &[(&'static str, OsString)],
    ) -> Result<Output, UndoError> {
        let settings = [&self.settings, more].concat();
        // What was found is what is worked on, whatever is put in its place meanwhile.
        let mut all = users();
        all.push(("GIT_DIR", self.git_dir.clone().into()));
        all.extend_from_slice(variables);
        let folder = variables.iter().find(|(name, _)| *name == "GIT_WORK_TREE").map(|(_, root)| Path::new(root));
        let folder = folder.unwrap_or(&self.git_dir);
        let call = Call { folder, variables: &all, settings: &settings, input, until: self.until, most: MUCH };
        self.git.run(arguments, call)
    }
}

/// What is asked of a folder, of which the last fails in a git folder.
const WHERE: &[&str] = &[
    "rev-parse",
    "--path-format=absolute",
    "--show-object-format",
    "--git-common-dir",
    "--git-dir",
    "--show-toplevel",
];

struct Found {
    format: String,
    common: PathBuf,
    git_dir: PathBuf,
    worktree: Option<PathBuf>,
}

/// Reads the answer to [`WHERE`]. None if a path in it has several lines, or something is missing.
fn found(said: &[u8]) -> Option<Found> {
    let lines: Vec<&[u8]> = said.strip_suffix(b"\n")?.split(|byte| *byte == b'\n').collect();
    let path = |line: &[u8]| Some(PathBuf::from(OsStr::from_bytes(line))).filter(|path| path.is_absolute());
    let (format, common, git_dir, worktree) = match *lines.as_slice() {
        [format, common, git_dir] => (format, common, git_dir, None),
        [format, common, git_dir, worktree] => (format, common, git_dir, Some(path(worktree)?)),
        _ => return None,
    };
    Some(Found {
        format: String::from_utf8(format.to_vec()).ok().filter(|format| format.starts_with("sha"))?,
        common: path(common)?,
        git_dir: path(git_dir)?,
        worktree,
    })
}

/// The variables that say where the user's own configuration is.
fn users() -> Vec<(&'static str, OsString)> {
    let names = ["HOME", "XDG_CONFIG_HOME"];
    names.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect()
}

/// Settings that leave every filter and hook without a program that a list names, which is of pairs of an origin and a
/// name.
fn harmless(list: &[u8]) -> Result<Vec<Setting>, UndoError> {
    let parts: Vec<&[u8]> = list.split(|byte| *byte == 0).collect();
    // A file cannot say this origin.
    if !parts.chunks(2).any(|pair| pair == [b"command line:".as_slice(), PROBE.as_bytes()]) {
        return Err(UndoError::NoGit("this git is too old: 2.31 or later is required".to_owned()));
    }
    let mut settings = Vec::new();
    let mut set = |section: &[u8], key: &str, value: &str| {
        settings.push((OsString::from_vec([section, key.as_bytes()].concat()), value.into()));
    };
    for name in parts.chunks(2).filter_map(|pair| pair.get(1)) {
        let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else {
            continue;
        };
        let (section, key) = name.split_at(dot);
        match key {
            b".clean" | b".smudge" | b".process" if section.starts_with(b"filter.") => {
                set(section, &String::from_utf8_lossy(key), "");
                set(section, ".required", "false");
            }
            // An empty event takes back those that were named before.
            b".command" | b".event" | b".enabled" if section.starts_with(b"hook.") => {
                set(section, ".event", "");
                set(section, ".enabled", "false");
            }
            _ => {}
        }
    }
    Ok(settings)
}

/// The parts of what git says with `-z`, without the empty one at the end.
pub fn parts(said: &[u8]) -> impl Iterator<Item = &[u8]> {
    said.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// How a path differs, as git says it with `--raw -z`.
pub struct Difference<'a> {
    /// The path.
    pub path: &'a [u8],
    /// What was there; none if nothing, or a submodule. Trees are said like this, too, where they are asked for.
    pub before: Option<Blob>,
    /// What is there.
    pub after: Option<Blob>,
}

/// Reads what `git diff-tree -r -z` and `git diff-index -z` say.
pub fn differences(said: &[u8]) -> impl Iterator<Item = Difference<'_>> {
    let mut parts = parts(said);
    std::iter::from_fn(move || {
        let (about, path) = (parts.next()?, parts.next()?);
        let mut fields = std::str::from_utf8(about).ok()?.strip_prefix(':')?.split(' ');
        let (old, new, before, after) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let blob = |mode: &str, id: &str| {
            let mode = u32::from_str_radix(mode, 8).ok().filter(|mode| !matches!(mode, 0 | 0o160_000))?;
            Some(Blob { mode, id: id.to_owned() })
        };
        Some(Difference { path, before: blob(old, before), after: blob(new, after) })
    })
}

/// Whether it is the id of an object.
pub fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The git that tests use.
    pub(crate) fn git() -> Git {
        Git::find(Path::new("/nonexistent")).expect("git")
    }

    /// Long enough for anything.
    pub(crate) fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// Runs the user's git in a folder, with no configuration of the machine's.
    pub(crate) fn user(folder: &Path, arguments: &[&str]) -> String {
        let (status, said) = try_user(folder, arguments);
        assert!(status, "git {arguments:?}: {said}");
        said
    }

    /// The same, and whether it succeeded.
    pub(crate) fn try_user(folder: &Path, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]);
        command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        for name in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{name}_NAME"), "user").env(format!("GIT_{name}_EMAIL"), "user@localhost");
        }
        let output = command.env("GIT_EDITOR", "true").stdin(Stdio::null()).output().expect("git runs");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }

    /// A repository with these files in one commit.
    pub(crate) fn repository(at: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(at).expect("a folder");
        user(at, &["init", "-q"]);
        for (name, content) in files {
            write(&at.join(name), content);
        }
        user(at, &["add", "-A"]);
        user(at, &["commit", "-q", "--allow-empty", "-m", "first"]);
    }

    pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// A program that leaves a mark.
    pub(crate) fn canary(path: &Path, mark: &Path) {
        program(path, &format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display()));
    }

    fn program(path: &Path, text: &str) {
        write(path, text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    }

    /// Runs a program that was just written: what another test starts meanwhile may hold it open still.
    fn once_written<T>(run: impl Fn() -> Result<T, String>) -> Result<T, String> {
        let busy = |done: &Result<T, String>| done.as_ref().is_err_and(|error| error.contains("Text file busy"));
        (0..100).map(|_| run()).find(|done| !busy(done)).unwrap_or_else(&run)
    }

    #[test]
    fn the_version_is_read() {
        let cases = [
            ("git version 2.47.3\n", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)\n", Some((2, 39))),
            ("git version 2.31.0.rc1\n", Some((2, 31))),
            ("git version 3\n", None),
            ("hub version 2.40.1\n", None),
        ];
        for (said, expected) in cases {
            assert_eq!(version(said), expected, "{said}");
        }
    }

    #[test]
    fn a_git_that_a_project_brings_is_not_used() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path");
        for path in ["repo/.git/HEAD", "repo/bin/git", "repo/module/.git", "repo/module/bin/git", "usr/bin/git"] {
            program(&root.join(path), "#!/bin/sh\necho git version 2.40.0\n");
        }
        program(&root.join("open/git"), "");
        std::fs::set_permissions(root.join("open"), std::fs::Permissions::from_mode(0o777)).expect("its mode");
        write(&root.join("plain/git"), "no program");
        std::fs::create_dir(root.join("links")).expect("a folder");
        symlink("../repo/bin/git", root.join("links/git")).expect("a link");
        let cases = [
            ("usr/bin", Some("usr/bin")),
            ("repo/module/bin:usr/bin", Some("usr/bin")),
            ("links:usr/bin", Some("usr/bin")),
            ("open:usr/bin", Some("usr/bin")),
            ("plain:nowhere:usr/bin", Some("usr/bin")),
            ("repo/bin", None),
        ];
        for (path, expected) in cases {
            let path = std::env::join_paths(path.split(':').map(|folder| root.join(folder))).expect("a PATH");
            let found = installed(&path, &outermost(&root.join("repo/module")));
            assert_eq!(found, expected.map(|folder| root.join(folder).join("git")), "{path:?}");
        }
        let at = |path: &str| once_written(|| Git::at(root.join(path)).map_err(|error| error.to_string()));
        assert!(at("usr/bin/git").is_ok());
        let olds = ["#!/bin/sh\necho git version 2.30.9\n", "#!/bin/sh\necho hello\n", "#!/bin/sh\nexit 1\n"];
        for old in olds {
            program(&root.join("old"), old);
            assert!(at("old").is_err(), "{old}");
        }
    }

    #[test]
    fn git_is_bounded_in_time_and_in_what_it_says() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let cases = [
            ("echo out; echo fatal: why >&2; exit 3", "3 out\n why"),
            ("cat; cat >/dev/null", "0 input "),
            ("exec sleep 100", "saving it takes longer than a call waits"),
            ("exec >&- 2>&-; sleep 100", "saving it takes longer than a call waits"),
            ("sleep 100 & echo left behind", "saving it takes longer than a call waits"),
            ("while :; do echo much; done", "git: it says more than 1000 bytes"),
            ("while :; do echo much >&2; done", "saving it takes longer than a call waits"),
            ("test -z \"$GIT_DIR$HOME$EDITOR\" && echo clean", "0 clean\n "),
        ];
        for (script, expected) in cases {
            let path = scratch.path().join("git");
            program(&path, &format!("#!/bin/sh\n{script}\n"));
            let until = Instant::now() + Duration::from_millis(500);
            let run = || {
                let (folder, input) = (scratch.path(), b"input".to_vec());
                let call = Call { folder, variables: &[], settings: &[], input, until, most: 1_000 };
                let said = Git { program: path.clone(), version: OLDEST }
                    .run(&["x"], call)
                    .map_err(|error| error.to_string())?;
                let why = if said.complaint.is_empty() { String::new() } else { said.reason() };
                Ok(format!("{} {} {why}", said.status.expect("a status"), String::from_utf8_lossy(&said.output)))
            };
            let found = once_written(run).unwrap_or_else(|error| error);
            assert_eq!(found, expected, "{script}");
            assert!(until.elapsed() < Duration::from_secs(2), "{script}");
        }
    }

    #[test]
    fn a_repository_is_found_or_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path");
        let at = |path: &str| root.join(path);
        repository(&at("repo"), &[("a/b", "x")]);
        user(&at("repo"), &["worktree", "add", "-q", "../linked"]);
        repository(&at("repo/inner"), &[]);
        user(&root, &["init", "-q", "--bare", "repo/planted"]);
        user(&root, &["init", "-q", "new"]);
        user(&at("new"), &["config", "core.repositoryFormatVersion", "1"]);
        user(&at("new"), &["config", "extensions.unheardOf", "true"]);
        write(&at("file/.git"), "gitdir: ../repo/.git\n");
        write(&at("broken/.git"), "gitdir: /nonexistent\n");
        symlink("repo", at("link")).expect("a link");
        write(&at("none/file"), "");
        let cases = [
            ("repo", Ok(Some(("repo/.git", Some("repo"))))),
            ("repo/a", Ok(Some(("repo/.git", Some("repo"))))),
            ("link/a", Ok(Some(("repo/.git", Some("repo"))))),
            ("repo/.git", Ok(Some(("repo/.git", Some("repo"))))),
            ("repo/inner", Ok(Some(("repo/inner/.git", Some("repo/inner"))))),
            ("linked", Ok(Some(("repo/.git/worktrees/linked", Some("linked"))))),
            ("file", Ok(Some(("repo/.git", Some("file"))))),
            ("none", Ok(None)),
            ("gone", Ok(None)),
            ("repo/planted", Err("cannot use bare repository")),
            ("new", Err("unknown repository extension")),
            ("broken", Err("not a git repository: ")),
        ];
        let git = git();
        for (folder, expected) in cases {
            let found = Repository::of(&git, &at(folder), soon());
            match (found, expected) {
                (Ok(found), Ok(expected)) => {
                    let found = found.map(|found| (found.git_dir, found.worktree));
                    let expected = expected.map(|(git_dir, worktree)| (at(git_dir), worktree.map(at)));
                    assert_eq!(found, expected, "{folder}");
                }
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().contains(expected), "{folder}: {error}");
                }
                (found, _) => panic!("{folder}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_repository_of_another_user_is_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path").join("repo");
        repository(&root, &[]);
        // Only root can give something away.
        let given =
            [root.join(".git"), root.clone()].iter().all(|path| std::os::unix::fs::chown(path, Some(1), None).is_ok());
        if given {
            let git = git();
            let found = Repository::of(&git, &root, soon()).map(|_| ()).map_err(|error| error.to_string());
            assert!(found.as_ref().is_err_and(|error| error.contains("dubious ownership")), "{found:?}");
            assert!(Repository::at(&git, &root.join(".git"), None, soon()).is_err());
        }
    }

    #[test]
    fn hooks_and_filters_of_any_configuration_are_emptied() {
        let list =
            b"command line:\0toolgate.environment\0file:.git/config\0hook.a.b.command\0file:x\0filter.\xff.clean\0";
        let settings = harmless(list).expect("settings");
        let expected: [(&[u8], &str); 4] = [
            (b"hook.a.b.event", ""),
            (b"hook.a.b.enabled", "false"),
            (b"filter.\xff.clean", ""),
            (b"filter.\xff.required", "false"),
        ];
        let expected = expected.map(|(name, value)| (OsString::from_vec(name.to_vec()), OsString::from(value)));
        assert_eq!(settings, expected);
        assert!(harmless(b"file:.git/config\0toolgate.environment\0").is_err());
    }
}
