//! Running programs: not by a shell, in a process group of their own, with a limit on time and output.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::project::Project;

/// Most bytes of each output stream that are kept.
const OUTPUT: u64 = 16 << 20;

/// How long what a program leaves running may keep its pipes open.
const PIPES: Duration = Duration::from_millis(500);

/// Variables that tools get. Others may hold secrets, or change what a tool does.
const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// What a program said.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output, at most 16 MiB of it.
    pub stdout: Vec<u8>,
    /// Its standard error, at most 16 MiB of it.
    pub stderr: Vec<u8>,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// It did not start, or could not be talked to.
    #[error("{program} did not run: {error}")]
    System {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
    /// It took too long. It and everything it started have been ended.
    #[error("{program} took longer than {} ms", limit.as_millis())]
    Timeout {
        /// The program.
        program: String,
        /// How long it may take.
        limit: Duration,
    },
}

/// A program that runs. When this is dropped, its whole process group is ended.
#[derive(Debug)]
pub struct Group {
    /// The program itself.
    pub child: Child,
    /// Ends the group when this process has ended without dropping it; see [`Group::start_watched`].
    pub watch: Option<Child>,
    id: Option<Pid>,
}

impl Group {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Group { child, watch: None, id })
    }

    /// Starts a program that is to run on, so that it ends with this process whatever ends that, and whatever it does: a
    /// shell in its group waits for the end of a pipe, which a program in a loop would not see. Nobody else holds the pipe,
    /// but on macOS what is started at the very same moment, where it has to be closed after it was made.
    ///
    /// # Errors
    /// If either does not start.
    pub fn start_watched(command: &mut Command) -> io::Result<Self> {
        let mut group = Group::start(command)?;
        let mut watch = Command::new("/bin/sh");
        watch.args(["-c", "read -r _; kill -KILL 0"]).env_clear().kill_on_drop(true);
        watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // It joins the group, which is there until its first process was waited for.
        watch.process_group(group.id.map_or(0, |id| id.as_raw_nonzero().get()));
        group.watch = Some(watch.spawn()?);
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What it left running is in the group still, even if it has ended itself.
        if let Some(id) = self.id {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

/// A command that gets nothing but what tools need: a clean environment, no standard input.
pub fn command(project: &Project, program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear().envs(variables(project));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

fn variables(project: &Project) -> Vec<(OsString, OsString)> {
    let named = VARIABLES.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let named = named.filter(|(name, value)| handed(project, name, value));
    let locale = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LC_"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let folders = folders.filter(|folder| project.trusted || !project.owns(folder));
    let path = std::env::join_paths(folders).unwrap_or_default();
    named.chain(locale).chain([(OsString::from("PATH"), path)]).collect()
}

/// Whether a tool gets a variable. An environment of the project's that is active in the user's shell is still the
/// project's.
fn handed(project: &Project, name: &OsStr, value: &OsStr) -> bool {
    let path = Path::new(value);
    project.trusted || name == "HOME" || !path.is_absolute() || !project.owns(path)
}

/// Runs a command to its end, with a text on its standard input if there is one, and on Linux with a limit on its address
/// space, in bytes.
///
/// # Errors
/// If it does not start or is not done in time.
pub async fn run(
    mut command: Command,
    input: Option<&[u8]>,
    limit: Duration,
    memory: Option<u64>,
) -> Result<Output, Failed> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    match tokio::time::timeout(limit, whole(&mut command, input, memory)).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(Failed::System { program, error }),
        Err(_) => Err(Failed::Timeout { program, limit }),
    }
}

async fn whole(command: &mut Command, input: Option<&[u8]>, memory: Option<u64>) -> io::Result<Output> {
    let mut group = Group::start(command)?;
    if let (Some(id), Some(memory)) = (group.id, memory) {
        bound(id, memory);
    }
    let (stdin, out, err) = (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program that does not read all of it has its reasons.
            let _ = stdin.write_all(input).await;
        }
    };
    let mut pipes = Box::pin(async { tokio::join!(write, kept(out, &mut stdout), kept(err, &mut stderr)) });
    let (status, closed) = tokio::select! {
        status = group.child.wait() => (status?, tokio::time::timeout(PIPES, &mut pipes).await.ok()),
        closed = &mut pipes => (group.child.wait().await?, Some(closed)),
    };
    drop(pipes);
    if let Some(((), out, err)) = closed {
        out.and(err)?;
        // Nothing of it is known to run, and its number may soon be another's.
        group.id = None;
    }
    Ok(Output { status, stdout, stderr })
}

/// Bounds the address space of a process. What it starts later inherits that.
#[cfg(target_os = "linux")]
fn bound(id: Pid, memory: u64) {
    use rustix::process::{Resource, Rlimit, prlimit};
    // It may have ended already, or be bounded by the user more strictly.
    let _ = prlimit(Some(id), Resource::As, Rlimit { current: Some(memory), maximum: Some(memory) });
}

#[cfg(not(target_os = "linux"))]
fn bound(_id: Pid, _memory: u64) {}

/// Reads a stream to its end and keeps the first part of it.
async fn kept(stream: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> io::Result<()> {
    if let Some(mut stream) = stream {
        (&mut stream).take(OUTPUT).read_to_end(kept).await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_holds_the_pipes_is_not_waited_for() {
        let project = Project { root: "/none".into(), trusted: true };
        let mut command = command(&project, "sh", Path::new("/"));
        command.args(["-c", "sleep 1000 & echo $!; exit 3"]);
        let output = run(command, None, Duration::from_secs(60), None).await.expect("it ended");
        assert_eq!(output.status.code(), Some(3));
        let id = String::from_utf8(output.stdout).expect("a number");
        let ended = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        while !ended() {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn an_environment_of_the_projects_is_not_handed_on() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let base = scratch.path().canonicalize().expect("real");
        for folder in ["project/.venv", "user"] {
            std::fs::create_dir_all(base.join(folder)).expect("a folder");
        }
        let (own, users) = (base.join("project/.venv"), base.join("user"));
        let cases = [
            ("VIRTUAL_ENV", own.as_os_str(), false),
            ("HOME", own.as_os_str(), true),
            ("VIRTUAL_ENV", users.as_os_str(), true),
            ("LANG", OsStr::new("C.UTF-8"), true),
        ];
        for (name, value, expected) in cases {
            let project = |trusted| Project { root: base.join("project"), trusted };
            assert_eq!(handed(&project(false), OsStr::new(name), value), expected, "{name} {}", value.display());
            assert!(handed(&project(true), OsStr::new(name), value));
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn memory_is_bounded() {
        let project = Project { root: "/none".into(), trusted: true };
        let mut command = command(&project, "sh", Path::new("/"));
        command.args(["-c", "read line; ulimit -v"]);
        let output = run(command, Some(b"go\n"), Duration::from_secs(60), Some(1 << 30)).await.expect("it ended");
        assert_eq!(output.stdout, b"1048576\n");
    }
}
