//! A home folder with a project, and what the gate keeps there.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use rustix::process::Pid;
use tempfile::TempDir;
use toolgate_terminal_tests::scene::program;

use crate::Error;
use crate::audit::Log;
use crate::call::Hook;
use crate::process::Beside;

/// A machine of its own, as far as Toolgate sees one.
#[derive(Debug)]
pub struct World {
    /// The command under test.
    pub program: PathBuf,
    root: PathBuf,
    calls: AtomicUsize,
    beside: Mutex<Vec<Beside>>,
    /// Goes last.
    _folder: TempDir,
}

impl World {
    /// A home folder with a project that is a repository.
    ///
    /// # Errors
    /// If the command is not built, or files cannot be laid out.
    pub fn new() -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("faults-").tempdir()?;
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
        let root = folder.path().canonicalize()?;
        for path in ["bin", "tmp", "home/project/.git/objects", "home/project/.git/refs/heads"] {
            fs::create_dir_all(root.join(path))?;
        }
        fs::write(root.join("home/project/.git/HEAD"), "ref: refs/heads/main\n")?;
        fs::write(root.join("home/project/.git/config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
        fs::create_dir(root.join("run"))?;
        fs::set_permissions(root.join("run"), Permissions::from_mode(0o700))?;
        let (calls, beside) = (AtomicUsize::new(0), Mutex::default());
        Ok(World { program: program()?.canonicalize()?, root, calls, beside, _folder: folder })
    }

    /// A path in it.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// The folder that the agent works in.
    pub fn project(&self) -> PathBuf {
        self.at("home/project")
    }

    /// Where Toolgate keeps what it has to remember.
    pub fn state(&self) -> PathBuf {
        self.at("home/.local/state/toolgate")
    }

    /// The user's folder for Toolgate's configuration.
    pub fn configuration(&self) -> PathBuf {
        self.at("home/.config/toolgate")
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Puts a shell script on the `PATH` of the calls, before anything else.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn script(&self, name: &str, text: &str) -> Result<(), Error> {
        let mut command = Command::new("sh");
        command.args(["-c", "printf %s \"$2\" >\"$1.new\" && chmod 755 \"$1.new\" && mv \"$1.new\" \"$1\"", "sh"]);
        apart(command.arg(self.at("bin").join(name)).arg(format!("#!/bin/sh\n{text}\n")))
    }

    /// Puts a copy of the command under test there.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn copy(&self, path: &str) -> Result<PathBuf, Error> {
        let copy = self.at(path);
        apart(Command::new("cp").arg(&self.program).arg(&copy))?;
        Ok(copy)
    }

    /// The agent's hook, with nothing wrong.
    pub fn hook(&self) -> Hook {
        Hook::new(&self.program, &self.variables(), &self.project())
    }

    /// The variables of a user's session. No resident host is asked or started with them.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut path = self.at("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        vec![
            ("HOME", self.home().into()),
            ("PATH", path),
            ("LANG", "C.UTF-8".into()),
            ("TMPDIR", self.at("tmp").into()),
            ("XDG_RUNTIME_DIR", self.at("run").into()),
            ("TOOLGATE_NO_SERVE", "1".into()),
        ]
    }

    /// What marks the next call in the audit log.
    pub fn mark(&self) -> String {
        format!("call-{}.", self.calls.fetch_add(1, Ordering::Relaxed))
    }

    /// The audit log.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn log(&self) -> Result<Log, Error> {
        Log::read(&self.state().join("audit.jsonl"))
    }

    /// The sockets of what stays, by how their names begin.
    pub fn sockets(&self, start: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.at("run/toolgate")).into_iter().flatten().filter_map(Result::ok);
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
        let paths = named.map(|entry| entry.path());
        paths.filter(|path| fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())).collect()
    }

    /// Hooks try to start a resident host once a minute. Has the last attempt be longer ago.
    ///
    /// # Errors
    /// If the time of a file cannot be set.
    pub fn a_minute_later(&self) -> Result<(), Error> {
        for entry in fs::read_dir(self.at("run/toolgate")).into_iter().flatten() {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "start") {
                let before = SystemTime::now() - Duration::from_secs(120);
                fs::File::options().write(true).open(path)?.set_modified(before)?;
            }
        }
        Ok(())
    }

    /// Has a process end with the world.
    pub fn keep(&self, beside: Beside) {
        self.beside.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(beside);
    }

    /// Makes everything a user's who has no rights of root's, and says what a command is called through to run as that
    /// user. Nothing where this is such a user already.
    ///
    /// # Errors
    /// If there is no program for it.
    pub fn without_root(&self) -> Result<Vec<OsString>, Error> {
        if !rustix::process::getuid().is_root() {
            return Ok(Vec::new());
        }
        let (user, words) = other_user();
        let tried = words_command(&words).arg("test").arg("-x").arg(&self.program).status();
        if !tried.is_ok_and(|status| status.success()) {
            return Err(Error::LeftOut("this is root, and no other user can run the program (setpriv)".to_owned()));
        }
        hand_over(&self.root, user)?;
        Ok(words)
    }
}

/// Has another process write a program. One that this process writes cannot be run for as long as a child of another thread,
/// which has not become its program yet, has it open, too.
fn apart(command: &mut Command) -> Result<(), Error> {
    if command.status()?.success() { Ok(()) } else { Err(Error::Unexpected(format!("{command:?} fails"))) }
}

/// Who listens at a socket.
#[cfg(target_os = "linux")]
pub fn listener(socket: &Path) -> Option<Pid> {
    let stream = std::os::unix::net::UnixStream::connect(socket).ok()?;
    rustix::net::sockopt::socket_peercred(&stream).ok().map(|peer| peer.pid)
}

/// Who listens at a socket, which cannot be told here.
#[cfg(not(target_os = "linux"))]
pub fn listener(_: &Path) -> Option<Pid> {
    None
}

/// Whether a process runs a program.
fn runs(pid: Pid, program: &Path) -> bool {
    fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero())).is_ok_and(|exe| exe == program)
}

/// A user that nobody else on the machine is likely to be, so that the processes counted are these, and what a command is
/// called through to run as that user.
pub fn other_user() -> (u32, Vec<OsString>) {
    static USERS: AtomicU32 = AtomicU32::new(0);
    let user = 1_000_000 + std::process::id() * 100 + USERS.fetch_add(1, Ordering::Relaxed) % 100;
    let id = user.to_string();
    (user, ["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups", "--"].map(OsString::from).to_vec())
}

/// A command of these words.
pub fn words_command(words: &[OsString]) -> Command {
    let mut command = Command::new(words.first().cloned().unwrap_or_default());
    command.args(words.get(1..).unwrap_or_default());
    command
}

fn hand_over(path: &Path, user: u32) -> Result<(), Error> {
    std::os::unix::fs::lchown(path, Some(user), Some(user))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            hand_over(&entry?.path(), user)?;
        }
    }
    Ok(())
}

impl Drop for World {
    fn drop(&mut self) {
        self.beside.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
        // What the hooks have started: it would stay for a while.
        for socket in self.sockets("") {
            if let Some(pid) = listener(&socket).filter(|pid| runs(*pid, &self.program)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}
