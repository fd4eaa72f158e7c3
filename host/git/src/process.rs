//! git as a child process: what it is given, what it says, and when it is ended.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use toolgate_private::programs::{installed, outermost_repository};

use crate::GitError;

/// How long git may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(2);

/// Most bytes that git may say where not much is expected.
pub(crate) const LITTLE: usize = 1 << 20;

/// Most bytes that git may say of all refs, or of all files.
pub const MUCH: usize = 256 << 20;

/// Most bytes of an error message that are kept.
const COMPLAINT: usize = 2_000;

/// How often it is looked whether git has ended, when it has said all.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Configuration that is in force whatever any file says.
pub(crate) const CONFIGURATION: &[(&str, &str)] = &[
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
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("user.useConfigOnly", "false"),
];

/// A setting that only the environment gives: a git that does not show it there, one before 2.31, reads none of them.
const PROBE: &str = "toolgate.environment";

/// Who writes what is written into the user's repository: a commit that keeps others, and lines of reflogs.
pub const IDENTITY: (&str, &str) = ("toolgate", "toolgate@localhost");

/// A setting that is given to git: its name, which may be any bytes, and its value.
pub type Setting = (OsString, OsString);

/// The local git.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
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
    pub fn success(self) -> Result<Vec<u8>, GitError> {
        if self.status == Some(0) { Ok(self.output) } else { Err(GitError::Failed(self.reason())) }
    }

    /// Why it failed, in its own words.
    pub fn reason(&self) -> String {
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
    /// The git in the absolute folders of the `PATH`, as long as it is no program that a project brings: it lies outside
    /// the outermost repository that any of these folders or the current one is in, and nobody but the user and root can
    /// change it. Folders without an absolute path count for nothing.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(outside: &[&Path]) -> Result<Git, GitError> {
        let here = std::env::current_dir().ok();
        let outside: Vec<&Path> = outside.iter().copied().chain(here.as_deref()).collect();
        Git::find_in(&std::env::var_os("PATH").unwrap_or_default(), &outside)
    }

    fn find_in(path: &OsStr, outside: &[&Path]) -> Result<Git, GitError> {
        let projects = outside.iter().filter(|folder| folder.is_absolute()).map(|folder| outermost_repository(folder));
        let mut programs = installed("git", path, &projects.collect::<Vec<_>>());
        let found = programs.find(|program| toolgate_private::by_others(program).is_none());
        Ok(Git::at(found.ok_or_else(|| GitError::Unavailable("git is not installed".to_owned()))?))
    }

    /// The git at this path.
    pub fn at(program: PathBuf) -> Git {
        Git { program }
    }

    /// Whether `update-index` puts all content that it is to keep apart into one pack. Older ones make a pack of each.
    pub fn packs_at_once(&self) -> bool {
        let until = Instant::now() + VERSION_TIMEOUT;
        let call = Call { folder: Path::new("/"), variables: &[], settings: &[], input: vec![], until, most: LITTLE };
        let said = self.run(&["version"], call).and_then(Output::success);
        said.is_ok_and(|said| version(&String::from_utf8_lossy(&said)).is_some_and(|version| version >= (2, 37)))
    }

    /// Settings that leave every filter and hook without a program that any configuration names for this folder, and the list
    /// of what the configurations set: pairs of an origin and a name, with a zero byte behind each.
    ///
    /// # Errors
    /// If git does not say which there are, or reads no settings from the environment.
    pub fn without_programs(&self, call: Call<'_>) -> Result<(Vec<Setting>, Vec<u8>), GitError> {
        let settings = [call.settings, &[(OsString::from(PROBE), OsString::from("true"))]].concat();
        let list = ["config", "--list", "--show-origin", "--name-only", "-z"];
        let list = self.run(&list, Call { settings: &settings, ..call })?.success()?;
        Ok((harmless(&list)?, list))
    }

    /// Runs git until it ends, by itself or at the deadline: then with all that it has started.
    ///
    /// # Errors
    /// If it cannot be started, says too much, or does not end in time. A status other than 0 is no error here.
    pub fn run(&self, arguments: &[impl AsRef<OsStr>], call: Call<'_>) -> Result<Output, GitError> {
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
        let started = command.spawn().map_err(|error| GitError::system(&self.program, error));
        Running { child: started?, waited: false }.output(call)
    }
}

/// Variables of the environment by which the user's own git works on something else than the folder says, or ignores something
/// else. A git that is run here gets none of them.
pub const REDIRECTING: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
];

/// The first variable of this process by which the user's own git works on something else than the folder says.
pub fn redirected() -> Option<&'static str> {
    REDIRECTING.iter().copied().find(|name| std::env::var_os(name).is_some())
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

/// A git that runs. Its group goes with it if it has not come to its end.
struct Running {
    child: Child,
    /// Whether its end was waited for: its number may be another's then.
    waited: bool,
}

impl Running {
    fn output(mut self, call: Call<'_>) -> Result<Output, GitError> {
        if let Some(stdin) = self.child.stdin.take() {
            feed(stdin, call.input);
        }
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(GitError::Failed("it has no output".to_owned()));
        };
        let (output, complaint) = read(stdout, stderr, call.until, call.most)?;
        let status = self.end(call.until)?;
        Ok(Output { output, complaint: String::from_utf8_lossy(&complaint).into_owned(), status: status.code() })
    }

    /// Waits for its end: it may run on after it has closed its output.
    fn end(&mut self, until: Instant) -> Result<ExitStatus, GitError> {
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| GitError::Failed(error.to_string()))? {
                self.waited = true;
                return Ok(status);
            }
            if Instant::now() >= until {
                return Err(GitError::Late);
            }
            std::thread::sleep(EXIT_POLL_INTERVAL);
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
) -> Result<(Vec<u8>, Vec<u8>), GitError> {
    let (mut output, mut complaint) = (Vec::new(), Vec::new());
    let (mut says, mut complains) = (true, true);
    let mut buffer = vec![0; 64 << 10];
    while says || complains {
        let (output_ready, complaint_ready) = wait(&stdout, says, &stderr, complains, until)?;
        if output_ready {
            says = take(&mut stdout, &mut buffer, &mut output)?;
            if output.len() > most {
                return Err(GitError::TooMuch(most));
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
fn take(stream: &mut impl Read, buffer: &mut [u8], into: &mut Vec<u8>) -> Result<bool, GitError> {
    match stream.read(buffer) {
        Ok(0) => Ok(false),
        Ok(read) => {
            into.extend_from_slice(buffer.get(..read).unwrap_or_default());
            Ok(true)
        }
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(GitError::Failed(error.to_string())),
    }
}

/// Waits until there is something to read, or the end, on one of two streams that are looked at.
fn wait(
    stdout: &ChildStdout,
    says: bool,
    stderr: &ChildStderr,
    complains: bool,
    until: Instant,
) -> Result<(bool, bool), GitError> {
    let left = until.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).map_err(|error| GitError::Failed(error.to_string()))?;
    let mut polled = Vec::with_capacity(2);
    polled.extend(says.then(|| PollFd::new(stdout, PollFlags::IN)));
    polled.extend(complains.then(|| PollFd::new(stderr, PollFlags::IN)));
    match poll(&mut polled, Some(&timeout)) {
        Ok(0) => return Err(GitError::Late),
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(GitError::Failed(error.to_string())),
    }
    let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
    Ok((says && ready.next().unwrap_or(false), complains && ready.next().unwrap_or(false)))
}

/// A git that reads no settings from the environment cannot be kept from running what a repository names.
pub(crate) fn too_old() -> GitError {
    GitError::Unavailable("this git is too old: 2.31 or later is required".to_owned())
}

/// Settings that leave every filter and hook without a program that a list names, which is of pairs of an origin and a
/// name.
fn harmless(list: &[u8]) -> Result<Vec<Setting>, GitError> {
    let parts: Vec<&[u8]> = list.split(|byte| *byte == 0).collect();
    // A file cannot say this origin.
    if !parts.chunks(2).any(|pair| pair == [b"command line:".as_slice(), PROBE.as_bytes()]) {
        return Err(too_old());
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use toolgate_test_support::git::program;

    use super::*;

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
    fn a_git_that_others_can_change_is_not_used() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("its real path");
        program(&root.join("open/git"), "");
        program(&root.join("usr/git"), "");
        std::fs::set_permissions(root.join("open"), std::fs::Permissions::from_mode(0o777)).expect("its mode");
        for (path, expected) in [("open:usr", Some("usr/git")), ("open", None)] {
            let path = std::env::join_paths(path.split(':').map(|folder| root.join(folder))).expect("a PATH");
            let found = Git::find_in(&path, &[]).ok().map(|git| git.program);
            assert_eq!(found, expected.map(|git| root.join(git)), "{path:?}");
        }
    }

    #[test]
    fn git_is_bounded_in_time_and_in_what_it_says() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let cases = [
            ("echo out; echo fatal: why >&2; exit 3", "3 out\n why"),
            ("cat; cat >/dev/null", "0 input "),
            ("exec sleep 100", "git takes too long"),
            ("exec >&- 2>&-; sleep 100", "git takes too long"),
            ("sleep 100 & echo left behind", "git takes too long"),
            ("while :; do echo much; done", "git: it says more than 1000 bytes"),
            ("while :; do echo much >&2; done", "git takes too long"),
            ("test -z \"$GIT_DIR$HOME$EDITOR\" && echo clean", "0 clean\n "),
        ];
        for (script, expected) in cases {
            let path = scratch.path().join("git");
            program(&path, &format!("#!/bin/sh\n{script}\n"));
            let until = Instant::now() + Duration::from_millis(500);
            let run = || {
                let (folder, input) = (scratch.path(), b"input".to_vec());
                let call = Call { folder, variables: &[], settings: &[], input, until, most: 1_000 };
                let said = Git::at(path.clone()).run(&["x"], call).map_err(|error| error.to_string())?;
                let why = if said.complaint.is_empty() { String::new() } else { said.reason() };
                Ok(format!("{} {} {why}", said.status.expect("a status"), String::from_utf8_lossy(&said.output)))
            };
            let found = once_written(run).unwrap_or_else(|error| error);
            assert_eq!(found, expected, "{script}");
            assert!(until.elapsed() < Duration::from_secs(2), "{script}");
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
