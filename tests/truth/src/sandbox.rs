//! A place where shell text can be run for real: everything of the machine is read-only, the scratch tree excepted;
//! no network but loopback; processes of their own that all end with the script. Three ways lead there, tried in
//! this order, and each is proved by a probe before it is used.
//!
//! The two ways with plain namespaces keep one *holder* process, which sets up the mounts once; each script then only
//! enters them, with process ids of its own. A harness started by root gives its rights away first: inside, the
//! script looks like root, outside it is nobody.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::tree::{self, ENVIRONMENT, ROOT, WATCH, WORK};
use crate::watch;

/// A script that runs longer is killed, with all it started.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// Who the script is on the outside when the harness is root: `nobody`.
const NOBODY: u32 = 65534;

/// How the walls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// `unshare` with a user namespace.
    User,
    /// `unshare` without one, for a root whose kernel has none; the script then runs as `nobody`.
    Root,
    /// `bwrap`.
    Bubblewrap,
}

impl Means {
    const ALL: [Self; 3] = [Self::User, Self::Root, Self::Bubblewrap];

    /// Its name in `TOOLGATE_TRUTH_MEANS`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Root => "root",
            Self::Bubblewrap => "bwrap",
        }
    }
}

/// Why there is no place to run in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that is needed is not there.
    #[error("{0} is not installed (apt-get install -y {1})")]
    Missing(&'static str, &'static str),
    /// No way works.
    #[error(
        "no way to wall off a script works here; unprivileged user namespaces must be allowed \
         (sysctl kernel.apparmor_restrict_unprivileged_userns=0 where AppArmor forbids them), \
         or bubblewrap be installed, or the container be privileged:{0}"
    )]
    NoWay(String),
    /// The scratch tree could not be made.
    #[error("scratch tree: {0}")]
    Scratch(#[from] io::Error),
    /// The walls or the watcher failed for one script.
    #[error("the script could not be started: {0}")]
    Start(String),
}

/// What is left of a run, unread.
#[derive(Debug, Default)]
pub struct Raw {
    /// The log of strace.
    pub calls: Vec<u8>,
    /// What the trap wrote.
    pub trap: Vec<u8>,
    /// Standard output and error, mixed.
    pub output: Vec<u8>,
    /// The exit code, if it ended by itself.
    pub exit: Option<i32>,
    /// It was killed at the deadline.
    pub timed_out: bool,
}

/// The place. One per thread; scripts run in it one after the other.
#[derive(Debug)]
pub struct Sandbox {
    means: Means,
    holder: Option<Child>,
    base: TempDir,
    strace: PathBuf,
    bash: PathBuf,
    owner: Option<u32>,
}

/// Mounts of the holder, made once. `$1` is the scratch folder on the outside, the rest are mount points and options.
/// Everything inherited becomes read-only; devices that hold data, sockets and other programs' files are covered.
const HOLDER: &str = r#"set -e
exec 8<"$1/tree" 9<"$1/log"; shift
mount -t tmpfs -o size=256m,mode=1777 tmpfs /tmp
mkdir /tmp/truth /tmp/watch /tmp/.dev
mount --no-canonicalize --bind /proc/self/fd/8 /tmp/truth
mount --no-canonicalize --bind /proc/self/fd/9 /tmp/watch
exec 8<&- 9<&-
mount -t tmpfs -o size=1m,mode=755 tmpfs /tmp/.dev
for device in null zero full random urandom tty; do
    : > /tmp/.dev/$device
    mount --bind /dev/$device /tmp/.dev/$device
done
ln -s /proc/self/fd /tmp/.dev/fd
ln -s /proc/self/fd/0 /tmp/.dev/stdin
ln -s /proc/self/fd/1 /tmp/.dev/stdout
ln -s /proc/self/fd/2 /tmp/.dev/stderr
while [ $# -gt 1 ]; do
    mount -o "remount,bind,$2" "$1"
    shift 2
done
mount --rbind /tmp/.dev /dev
umount -l /tmp/.dev
rmdir /tmp/.dev
[ ! -d /run ] || mount -t tmpfs -o size=1m,mode=755,ro tmpfs /run
ip link set lo up 2>/dev/null || :
echo ready
read -r _ || :
"#;

/// What each script's own first process does. `$1` says whether it mounts `/proc`, `$2` is the text; the rest is the
/// command line that ends in strace and bash.
const INNER: &str = r#"[ "$1" = keep ] || mount -t proc -o ro,nosuid,nodev,noexec proc /proc || exit 121
cd "$2" || exit 122
ulimit -c 0 -f 131072 -t 20 -u 2000 || exit 123
shift 2
exec -c "$@"
"#;

impl Sandbox {
    /// Finds a way that works here. `TOOLGATE_TRUTH_MEANS` (`user`, `root` or `bwrap`) allows only that one.
    pub fn open() -> Result<Self, Error> {
        let only = std::env::var("TOOLGATE_TRUTH_MEANS").ok();
        let mut failures = String::new();
        for means in Means::ALL.into_iter().filter(|means| only.as_deref().is_none_or(|only| only == means.name())) {
            match Self::open_with(means).and_then(|mut sandbox| sandbox.probe().map(|()| sandbox)) {
                Ok(sandbox) => return Ok(sandbox),
                Err(missing @ Error::Missing("strace" | "bash", _)) => return Err(missing),
                Err(error) => failures.push_str(&format!("\n  {}: {error}", means.name())),
            }
        }
        Err(Error::NoWay(failures))
    }

    /// The way that is used.
    pub const fn means(&self) -> Means {
        self.means
    }

    fn open_with(means: Means) -> Result<Self, Error> {
        let strace = find("strace").ok_or(Error::Missing("strace", "strace"))?;
        let bash = find("bash").ok_or(Error::Missing("bash", "bash"))?;
        if means == Means::Bubblewrap {
            find("bwrap").ok_or(Error::Missing("bwrap", "bubblewrap"))?;
        } else {
            find("unshare").and(find("nsenter")).and(find("setpriv")).ok_or(Error::Missing("unshare", "util-linux"))?;
        }
        let base = tempfile::Builder::new().prefix("toolgate-truth-").tempdir()?;
        let owner = is_root(base.path())?.then_some(NOBODY);
        if means == Means::Root && owner.is_none() {
            return Err(Error::Start("the harness is not root".into()));
        }
        for place in [base.path().to_owned(), base.path().join("tree"), base.path().join("log")] {
            if !place.exists() {
                fs::create_dir(&place)?;
            }
            fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
            chown(&place, owner, owner)?;
        }
        let mut sandbox = Self { means, holder: None, base, strace, bash, owner };
        if means != Means::Bubblewrap {
            sandbox.hold()?;
        }
        Ok(sandbox)
    }

    /// Starts the holder and waits until its mounts stand.
    fn hold(&mut self) -> Result<(), Error> {
        let mut command = Command::new("unshare");
        command.args(if self.means == Means::User { &["--user", "--map-root-user"][..] } else { &[] });
        command.args(["--net", "--ipc", "--uts", "--mount", "--"]).arg(&self.bash);
        command.args(["--norc", "--noprofile", "-c", HOLDER, "holder"]).arg(self.base.path());
        for (point, options) in inherited_mounts()? {
            command.args([point, options]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.plain(&mut command);
        let mut holder = command.spawn().map_err(|error| Error::Start(format!("unshare: {error}")))?;
        let mut line = String::new();
        if let Some(out) = holder.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        if line.trim() == "ready" {
            self.holder = Some(holder);
            return Ok(());
        }
        let mut why = String::new();
        if let Some(mut err) = holder.stderr.take() {
            err.read_to_string(&mut why)?;
        }
        holder.wait()?;
        Err(Error::Start(why.trim().replace('\n', "; ")))
    }

    /// Without the harness's environment and, where a user namespace gives rights back, without root's rights.
    fn plain(&self, command: &mut Command) {
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("LC_ALL", "C");
        command.current_dir("/").process_group(0);
        if let (Some(owner), true) = (self.owner, self.means != Means::Root) {
            command.uid(owner).gid(owner);
        }
    }

    /// The tree on the outside.
    pub fn tree(&self) -> PathBuf {
        self.base.path().join("tree")
    }

    /// Makes the tree anew, runs the text and returns what the watchers wrote. `trap` is the text of `BASH_ENV`.
    pub fn run(&mut self, text: &str, trap: &str) -> Result<Raw, Error> {
        let log = self.base.path().join("log");
        tree::reset(&self.tree(), self.owner)?;
        fs::write(log.join("trap"), trap)?;
        for name in ["calls", "steps", "output"] {
            let path = log.join(name);
            File::create(&path)?;
            chown(&path, self.owner, self.owner)?;
        }
        let output = File::options().append(true).open(log.join("output"))?;
        let mut command = self.enter();
        command.arg(&self.strace).args(watch::STRACE).arg(format!("{WATCH}/calls"));
        for (name, value) in ENVIRONMENT {
            command.arg("-E").arg(format!("{name}={value}"));
        }
        command.arg("--").arg(&self.bash).args(["--norc", "--noprofile", "-c", text]);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        self.plain(&mut command);
        let mut child = command.spawn().map_err(|error| Error::Start(error.to_string()))?;
        let (exit, timed_out) = wait(&mut child)?;
        let raw = Raw {
            calls: fs::read(log.join("calls"))?,
            trap: fs::read(log.join("steps"))?,
            output: fs::read(log.join("output"))?,
            exit,
            timed_out,
        };
        if raw.calls.is_empty() {
            return Err(Error::Start(format!(
                "exit {exit:?}: {}",
                String::from_utf8_lossy(&raw.output).trim().replace('\n', "; ")
            )));
        }
        Ok(raw)
    }

    /// The command line up to where strace's begins.
    fn enter(&self) -> Command {
        let inner = ["--norc", "--noprofile", "-c", INNER, "inner"];
        if self.means == Means::Bubblewrap {
            let mut command = Command::new("bwrap");
            command.args(["--unshare-all", "--uid", "0", "--gid", "0", "--cap-drop", "ALL", "--die-with-parent"]);
            command.args([
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "--tmpfs",
                "/tmp",
                "--tmpfs",
                "/run",
            ]);
            command.arg("--bind").arg(self.tree()).arg(ROOT);
            command.arg("--bind").arg(self.base.path().join("log")).arg(WATCH);
            command.arg(&self.bash).args(inner).args(["keep", WORK]);
            return command;
        }
        let mut command = Command::new("nsenter");
        command.arg("-t").arg(self.holder.as_ref().map_or(0, Child::id).to_string());
        command.args(if self.means == Means::User { &["--user", "--preserve-credentials"][..] } else { &[] });
        command.args(["--mount", "--net", "--ipc", "--uts", "--"]);
        command.args(["unshare", "--pid", "--fork", "--kill-child", "--mount", "--"]);
        command.arg(&self.bash).args(inner).args(["mount", WORK]);
        // The rights that a namespace's root has are needed for the mounts only.
        command.arg(find("setpriv").unwrap_or_else(|| "setpriv".into()));
        command.args(["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]);
        if self.means == Means::Root {
            let nobody = NOBODY.to_string();
            command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]);
        }
        command
    }

    /// Proves the walls: a write inside works and is seen, one outside fails, the network is another one.
    fn probe(&mut self) -> Result<(), Error> {
        let outside = ["/toolgate-truth-probe", "/usr/toolgate-truth-probe", "/etc/toolgate-truth-probe"];
        let text = format!(
            "> probe; for p in {} /var/tmp/toolgate-truth-probe; do (> $p) 2>/dev/null && echo wrote $p; done; \
             readlink /proc/self/ns/net",
            outside.join(" ")
        );
        let raw = self.run(&text, "")?;
        let output = String::from_utf8_lossy(&raw.output).into_owned();
        let network = fs::read_link("/proc/self/ns/net")?.to_string_lossy().into_owned();
        let calls = String::from_utf8_lossy(&raw.calls);
        let fault = if output.contains("wrote") || outside.iter().any(|path| Path::new(path).exists()) {
            "a write outside the scratch tree got through"
        } else if !output.contains("net:[") || output.contains(&network) {
            "the network is the machine's own"
        } else if !self.tree().join("work/probe").exists() || !calls.contains("probe") {
            "a write inside the scratch tree was not possible or not seen"
        } else {
            return Ok(());
        };
        Err(Error::Start(format!("{fault}; it said: {}", output.trim().replace('\n', "; "))))
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some(holder) = &mut self.holder {
            // It is ours and only reads its standard input; nothing is lost if it has ended already.
            drop(holder.stdin.take());
            let _ = holder.kill();
            let _ = holder.wait();
        }
        // The folder removes itself, but not what a script has locked.
        let _ = tree::clear(&self.tree());
    }
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

/// Where a program lies; absolute, since the script's own surroundings have no `PATH` yet.
fn find(program: &str) -> Option<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .map(|folder| Path::new(folder).join(program))
        .find(|path| path.exists())
}

/// Whether what we make belongs to root.
fn is_root(made: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(made)?.uid() == 0)
}

/// Mount points to be made read-only, each with its options; those that the holder covers anyway are left out.
fn inherited_mounts() -> io::Result<Vec<(String, String)>> {
    let covered = ["/tmp", "/dev", "/proc", "/run"];
    let mut mounts = Vec::new();
    for line in fs::read_to_string("/proc/self/mountinfo")?.lines() {
        let mut fields = line.split(' ').skip(4);
        let (Some(point), Some(options)) = (fields.next(), fields.next()) else { continue };
        let point = watch::unescape(point.as_bytes());
        if covered.iter().any(|folder| crate::paths::is_within(&point, folder)) {
            continue;
        }
        // The kernel keeps the other flags locked inside a user namespace, so they must be named again.
        let options: Vec<&str> =
            std::iter::once("ro").chain(options.split(',').filter(|o| *o != "rw" && *o != "ro")).collect();
        mounts.push((point, options.join(",")));
    }
    Ok(mounts)
}
