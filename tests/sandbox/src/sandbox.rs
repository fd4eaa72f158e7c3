//! A home folder that is made once, laid out anew for every case, and thrown away. Shell text runs in it behind
//! bubblewrap: the machine's own files are read-only, there is no network and no other process, and everything that
//! was started ends with the shell. What the case did is read off the files afterwards, by `label`.
//!
//! | Path in the sandbox | What it is |
//! |---|---|
//! | `/home/dev` | files of a user: documents, notes, start-up files, keys |
//! | `/home/dev/project` | the workspace, and where the text starts: a repository with uncommitted work, stashes, an unmerged branch, build products |
//! | `/home/dev/git/project.git` | its remote, with commits that the workspace does not have |
//! | `/home/dev/other` | a neighbouring project |
//! | `/tmp` | empty, and not looked at |
//! | `/mnt` | empty but for what a [`Dress`] shows |
//!
//! `prepare.sh` says exactly what is there.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use crate::label::{self, Harm, History};
use crate::tree::{Entry, Kind, Tree};
use crate::{HOME, PROJECT};

/// A text that runs longer is ended; what it has done by then counts.
const DEADLINE: Duration = Duration::from_secs(6);

/// All that a text finds in its environment. `script` and `vim` want to know the shell and the terminal.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME", HOME),
    ("USER", "dev"),
    ("LOGNAME", "dev"),
    ("SHELL", "/bin/bash"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
];

/// What git says of both repositories: the commits that something holds, then all objects.
const ASK_GIT: &str = r#"export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
ask() { git -c core.fsmonitor=false -c core.hooksPath=/dev/null --git-dir="$@" || echo broken; }
ask project/.git rev-list --all --reflog
echo =
ask project/.git rev-list --objects --all --reflog --indexed-objects
echo =
ask git/project.git rev-list --all
"#;

/// Why a case cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Bubblewrap or git is not there.
    #[error("{0} is not installed (apt-get install -y {1}); TOOLGATE_TRUTH=skip leaves this out")]
    Missing(&'static str, &'static str),
    /// The files could not be laid out or read.
    #[error("the scratch home: {0}")]
    Files(#[from] io::Error),
    /// The sandbox did not start or is not tight.
    #[error(
        "the sandbox: {0} (unprivileged user namespaces must be allowed: \
         sysctl kernel.apparmor_restrict_unprivileged_userns=0 where AppArmor forbids them)"
    )]
    Walls(String),
}

/// What a text did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was lost, the first few; nothing if the text is harmless.
    pub harms: Vec<Harm>,
    /// Something in the home folder is not as it was.
    pub changed: bool,
    /// It was ended at the deadline.
    pub timed_out: bool,
    /// Its exit code.
    pub exit: Option<i32>,
}

/// What a place has beyond what `prepare.sh` makes.
#[derive(Clone, Debug, Default)]
pub struct Dress {
    /// Shell text that adds to the home folder, once, in the home folder.
    pub script: &'static str,
    /// More of the environment, or other values; a later one counts.
    pub environment: Vec<(&'static str, String)>,
    /// Files and folders of the machine that are seen below [`MOUNTS`], read-only.
    pub shown: Vec<(PathBuf, &'static str)>,
    /// Several texts run one after the other: `/tmp` is kept between them, and there is a place to write at
    /// [`RECORD`].
    pub steps: bool,
}

/// Below it a sandbox shows what a [`Dress`] names.
pub const MOUNTS: &str = "/mnt";
/// What is written there is no part of the home folder, and is read by [`Sandbox::record`].
pub const RECORD: &str = "/mnt/record";

/// What every case starts from.
#[derive(Debug)]
struct Prepared {
    tree: Tree,
    history: History,
    dress: Dress,
}

/// The place. One per thread: [`Sandbox::another`].
#[derive(Debug)]
pub struct Sandbox {
    base: TempDir,
    prepared: Arc<Prepared>,
    clean: bool,
}

impl Sandbox {
    /// Prepares the home folder and proves the walls.
    pub fn open() -> Result<Self, Error> {
        for (program, package) in [("bwrap", "bubblewrap"), ("git", "git"), ("bash", "bash")] {
            find(program).ok_or(Error::Missing(program, package))?;
        }
        let base = scratch()?;
        let empty = Prepared { tree: Tree::default(), history: History::default(), dress: Dress::default() };
        let mut sandbox = Self { base, prepared: Arc::new(empty), clean: true };
        sandbox.make(include_str!("prepare.sh"), Dress::default())?;
        sandbox.prove()?;
        Ok(sandbox)
    }

    /// The same place with more in it.
    pub fn dressed(mut self, dress: Dress) -> Result<Self, Error> {
        self.fresh()?;
        let Prepared { tree, history, .. } = &*self.prepared;
        // Its script finds what its cases will.
        let shown = Prepared { tree: tree.clone(), history: history.clone(), dress: dress.clone() };
        self.prepared = Arc::new(shown);
        self.make(dress.script, dress)?;
        Ok(self)
    }

    /// Runs a text that adds to the home folder, and keeps what is there then for every case.
    fn make(&mut self, script: &str, dress: Dress) -> Result<(), Error> {
        let made = self.shell(script, HOME, false, true)?;
        if made.exit != Some(0) {
            return Err(Error::Walls(format!("the home folder could not be made: {}", made.output.trim())));
        }
        let tree = Tree::read(&self.home())?;
        let history = self.history()?;
        if history.broken() {
            return Err(Error::Walls("git does not understand the repositories that it made".into()));
        }
        self.prepared = Arc::new(Prepared { tree, history, dress });
        // Laid out once by us, so that all that a case sees comes from one hand, its times included.
        self.clean = false;
        Ok(())
    }

    /// Like [`Sandbox::open`]; `None` if there is none and `TOOLGATE_TRUTH=skip`.
    pub fn open_or_skip() -> Result<Option<Self>, Error> {
        match Self::open() {
            Err(_) if std::env::var("TOOLGATE_TRUTH").is_ok_and(|value| value == "skip") => Ok(None),
            other => other.map(Some),
        }
    }

    /// The same home folder once more, for another thread.
    pub fn another(&self) -> Result<Self, Error> {
        Ok(Self { base: scratch()?, prepared: Arc::clone(&self.prepared), clean: false })
    }

    /// The home folder on the outside.
    pub fn home(&self) -> PathBuf {
        self.base.path().join("home")
    }

    /// The home folder on the outside, as every case finds it.
    pub fn fresh(&mut self) -> Result<PathBuf, Error> {
        if !self.clean {
            self.lay_out()?;
        }
        clear(&self.base.path().join("tmp"))?;
        Ok(self.home())
    }

    /// Runs the text and says what it did.
    pub fn run(&mut self, text: &str) -> Result<Outcome, Error> {
        self.fresh()?;
        self.clean = false;
        let run = self.shell(text, PROJECT, false, false)?;
        let (harms, after) = self.harms()?;
        let changed = after != self.prepared.tree;
        self.clean = !changed;
        Ok(Outcome { harms, changed, timed_out: run.timed_out, exit: run.exit })
    }

    /// Runs the text where the last one left off, and gives what it printed. [`Sandbox::fresh`] begins, and
    /// [`Sandbox::harms`] says what all of them did.
    pub fn step(&mut self, text: &str, input: &[u8]) -> Result<Step, Error> {
        self.clean = false;
        let mut command = self.walls(PROJECT, false);
        let file = self.base.path().join("printed");
        let printed = fs::File::create(&file)?;
        // Into a file: nothing waits for what a text leaves running. Both streams, as an agent is shown both.
        command.stdout(printed.try_clone()?).stderr(printed).args(bounded(text));
        let (exit, timed_out) = feed(&mut command, input)?;
        Ok(Step { output: fs::read(file)?, exit, timed_out })
    }

    /// Starts a program in the same place, which is not bounded, and gives what it printed on standard output.
    pub fn ask(&mut self, words: &[&str], input: &[u8]) -> Result<Step, Error> {
        self.clean = false;
        let mut command = self.walls(PROJECT, false);
        let file = self.base.path().join("answered");
        command.stdout(fs::File::create(&file)?).stderr(Stdio::null()).args(words);
        let (exit, timed_out) = feed(&mut command, input)?;
        Ok(Step { output: fs::read(file)?, exit, timed_out })
    }

    /// The home folder's files, as every case finds them.
    pub fn before(&self) -> &Tree {
        &self.prepared.tree
    }

    /// What was lost since the home folder was laid out, and its files as they are now.
    pub fn harms(&self) -> Result<(Vec<Harm>, Tree), Error> {
        let after = Tree::read(&self.home())?;
        let before = &self.prepared;
        // Git is only asked where it could say something new.
        let asked = before.tree.differs_below(&after, &["project/.git", "git"]);
        let history = if asked { self.history()? } else { before.history.clone() };
        Ok((label::harms(&before.tree, &after, &before.history, &history), after))
    }

    /// All files that were written at [`RECORD`], one after the other. They are then gone.
    pub fn record(&self) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        for entry in fs::read_dir(self.base.path().join("record"))? {
            let path = entry?.path();
            out.extend(fs::read(&path)?);
            fs::remove_file(path)?;
        }
        Ok(out)
    }

    fn lay_out(&mut self) -> Result<(), Error> {
        let home = self.home();
        clear(&home)?;
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_735_700_000);
        for (path, entry) in &self.prepared.tree.entries {
            let place = home.join(path);
            match &entry.kind {
                Kind::Folder => {
                    fs::create_dir(&place)?;
                    fs::set_permissions(&place, Permissions::from_mode(entry.mode))?;
                }
                Kind::Link(target) => symlink(target, &place)?,
                Kind::Odd | Kind::Closed => {}
                Kind::File(bytes) => {
                    fs::write(&place, bytes)?;
                    fs::set_permissions(&place, Permissions::from_mode(entry.mode))?;
                    fs::File::open(&place)?.set_modified(entry.modified.unwrap_or(long_ago))?;
                }
            }
        }
        self.clean = true;
        Ok(())
    }

    fn history(&self) -> Result<History, Error> {
        Ok(History::parse(&self.shell(ASK_GIT, HOME, true, true)?.output))
    }

    /// One shell behind the walls. Its output is kept only if it is ours.
    fn shell(&self, text: &str, cwd: &str, read_only: bool, keep: bool) -> Result<Run, Error> {
        let mut command = self.walls(cwd, read_only);
        command.args(bounded(text));
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command.stdout(if keep { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().map_err(|error| Error::Walls(error.to_string()))?;
        let mut output = String::new();
        if let Some(mut out) = child.stdout.take() {
            out.read_to_string(&mut output)?;
        }
        let (exit, timed_out) = wait(&mut child)?;
        Ok(Run { output, exit, timed_out })
    }

    /// The walls, round a program that is yet to be named.
    fn walls(&self, cwd: &str, read_only: bool) -> Command {
        let mut command = Command::new("bwrap");
        command.args(["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]);
        command.args(["--die-with-parent", "--new-session", "--hostname", "sandbox", "--ro-bind", "/", "/"]);
        command.args(["--dev", "/dev", "--proc", "/proc"]);
        // Other programs' sockets and files, and other homes, are covered.
        for (place, size) in [
            ("/tmp", "67108864"),
            ("/run", "1048576"),
            ("/var/tmp", "1048576"),
            ("/home", "1048576"),
            (MOUNTS, "1048576"),
        ] {
            command.args(["--size", size, "--tmpfs", place]);
        }
        command.arg(if read_only { "--ro-bind" } else { "--bind" }).arg(self.home()).arg(HOME);
        let dress = &self.prepared.dress;
        for (outside, inside) in &dress.shown {
            command.arg("--ro-bind").arg(outside).arg(format!("{MOUNTS}/{inside}"));
        }
        if dress.steps {
            for (folder, place) in [("record", RECORD), ("tmp", "/tmp")] {
                command.arg("--bind").arg(self.base.path().join(folder)).arg(place);
            }
        }
        for file in ["passwd", "hosts"] {
            command.arg("--ro-bind").arg(self.base.path().join(file)).arg(format!("/etc/{file}"));
        }
        command.args(["--remount-ro", "/home", "--remount-ro", MOUNTS, "--chdir", cwd, "--clearenv"]);
        for (name, value) in ENVIRONMENT {
            command.args(["--setenv", name, value]);
        }
        for (name, value) in &dress.environment {
            command.args(["--setenv", name, value]);
        }
        command
    }

    /// A write inside works and is seen, one outside fails, the network is another one.
    fn prove(&mut self) -> Result<(), Error> {
        self.fresh()?;
        let outside = ["/toolgate-probe", "/usr/toolgate-probe", "/etc/toolgate-probe", "/home/toolgate-probe"];
        let text = format!(
            "for p in {}; do (> $p) 2>/dev/null && echo wrote $p; done; readlink /proc/self/ns/net; git status --short",
            outside.join(" ")
        );
        let run = self.shell(&text, PROJECT, true, true)?;
        let network = fs::read_link("/proc/self/ns/net")?.to_string_lossy().into_owned();
        let fault = if run.output.contains("wrote") || outside.iter().any(|path| Path::new(path).exists()) {
            "a write outside the home folder got through"
        } else if !run.output.contains("net:[") || run.output.contains(&network) {
            "the network is the machine's own"
        } else if !run.output.ends_with("\n M src/engine.py\nMM src/util.py\n?? draft.md\n") {
            "the repository is not as it was made"
        } else if self.run("rm -f ~/notes.txt")?.harms.is_empty() {
            "what a text does is not seen"
        } else if self.run("true")?.changed {
            "the home folder is not laid out as it was made"
        } else {
            return Ok(());
        };
        Err(Error::Walls(format!("{fault}: {}", run.output.trim())))
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // The folder removes itself, but not what a text has locked.
        let _ = clear(&self.home());
    }
}

/// What a text printed, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it printed.
    pub output: Vec<u8>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// It was ended at the deadline.
    pub timed_out: bool,
}

struct Run {
    output: String,
    exit: Option<i32>,
    timed_out: bool,
}

/// In memory where there is such a place: every case writes a hundred files.
fn scratch() -> Result<TempDir, Error> {
    let memory = Path::new("/dev/shm");
    let mut builder = tempfile::Builder::new();
    builder.prefix("toolgate-guard-");
    let base =
        if memory.is_dir() { builder.tempdir_in(memory).or_else(|_| builder.tempdir()) } else { builder.tempdir() }?;
    fs::create_dir(base.path().join("home"))?;
    fs::create_dir(base.path().join("record"))?;
    fs::create_dir(base.path().join("tmp"))?;
    fs::write(base.path().join("hosts"), "127.0.0.1 localhost sandbox collect.example\n")?;
    fs::write(base.path().join("passwd"), "root:x:0:0::/root:/bin/sh\ndev:x:1000:1000:Dev:/home/dev:/bin/bash\n")?;
    Ok(base)
}

/// Removes all that is in a folder, also what its owner may not enter.
fn clear(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            clear(&entry.path())?;
            fs::remove_dir(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Where a program lies in the sandbox.
pub fn find(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"];
    folders.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists())
}

/// A shell with limits that runs the text.
fn bounded(text: &str) -> [&str; 5] {
    ["bash", "-c", "ulimit -c 0 -f 4096 -t 10; exec bash -c \"$1\"", "-", text]
}

/// Starts a program, gives it its input and waits for it.
fn feed(command: &mut Command, input: &[u8]) -> io::Result<(Option<i32>, bool)> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut child = command.stdin(stdin).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Inputs are smaller than a pipe; a program that reads none of it is no error here.
        let _ = stdin.write_all(input);
    }
    wait(&mut child)
}

/// Runs `work` on each of `items`, on so many threads with a place each; the results come in their order.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    sandbox: Sandbox,
    threads: usize,
    work: impl Fn(&mut Sandbox, &T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let next = AtomicUsize::new(0);
    let mut sandboxes = vec![sandbox];
    for _ in 1..threads {
        sandboxes.push(sandboxes[0].another()?);
    }
    let worker = |mut sandbox: Sandbox| -> Result<Vec<(usize, R)>, Error> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return Ok(done) };
            done.push((at, work(&mut sandbox, item)?));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = sandboxes.into_iter().map(|sandbox| scope.spawn(|| worker(sandbox))).collect();
        threads.into_iter().try_fold(Vec::new(), |mut all, thread| match thread.join() {
            Ok(done) => done.map(|done| {
                all.extend(done);
                all
            }),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// Waits until the child ends or the deadline passes; then kills it, and its namespace with it.
fn wait(child: &mut Child) -> io::Result<(Option<i32>, bool)> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), false));
        }
        if start.elapsed() > DEADLINE {
            child.kill()?;
            child.wait()?;
            return Ok((None, true));
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// Whether the entry can still be read by its owner.
pub(crate) fn readable(entry: &Entry) -> bool {
    match entry.kind {
        Kind::File(_) => entry.mode & 0o400 != 0,
        Kind::Folder => entry.mode & 0o500 == 0o500,
        Kind::Closed => false,
        Kind::Link(_) | Kind::Odd => true,
    }
}
