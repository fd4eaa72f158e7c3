//! The resident host: the guard kept ready for `toolgate hook`, behind a socket that is the user's alone.
//!
//! It only gives verdicts. Logging, permissions and questions stay with the hook, so that a host which is asked and does
//! not answer leaves nothing behind, and the hook judges itself. Rules are read anew for each call, as there.
//!
//! A hook believes a resident host only if the process that speaks runs the hook's own program: the kernel names the
//! sender of each message (`SCM_CREDENTIALS`), and all of them have to be from one process, which is looked at when it has
//! greeted, and again when it has answered, see `peer`. A process may greet and answer in advance and become the program
//! then; so each question has a nonce that is made after the first look, the answer has to begin with it, and what comes
//! before the question was sent ends the talk. In the answer the host also says which variables it goes by.
//!
//! What remains: a process of the user's into which a library was loaded that hid its variable, or which was traced and
//! let go again. Both are beyond what a program can see of another.
//!
//! Only on Linux; elsewhere every hook judges in its own process.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Handshake, HookRequest, HookResponse, ask};
#[cfg(target_os = "linux")]
pub use linux::{run, start};

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::ask;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{run, start};

/// Set to anything, it keeps hooks from starting and asking a resident host.
const SWITCH: &str = "TOOLGATE_NO_SERVE";

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::process::ExitCode;

    use toolgate_agents::{Failure, exit};

    use crate::judge::{Judged, Question};

    pub(crate) fn ask(_question: &Question) -> Option<Judged> {
        None
    }

    /// Starts none.
    pub fn start() {}

    /// Runs none.
    ///
    /// # Errors
    /// Always.
    pub fn run(_stays: bool) -> Result<ExitCode, Failure> {
        let message = "no resident host on this system: it cannot identify the program of a peer process";
        Err(Failure::new(exit::SOFTWARE, message))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::fs::File;
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::io::{BufRead, BufReader, IoSliceMut, Read, Write};
    use std::mem::MaybeUninit;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::process::{Command, ExitCode, Stdio};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant, SystemTime};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::FlockOperation;
    use rustix::io::Errno;
    use rustix::net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix, SocketFlags, SocketType,
        sockopt,
    };
    use serde::{Deserialize, Serialize};
    use toolgate_agents::settings::table;
    use toolgate_agents::{Failure, dirs, exit};
    use toolgate_capabilities::elsewhere;
    use toolgate_host::Plugin;

    use super::SWITCH;
    use crate::gate_builder;
    use crate::judge::{Judged, Life, Question, evaluate_in_process};
    use crate::peer::{Identity, Peer};
    use crate::plugin::loaded::installed;
    use toolgate_host::user_env::VARIABLES;

    /// How long a hook waits for the answer before it judges itself, with ample time for that.
    const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

    /// How long it lives without a call.
    const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

    /// How often it looks whether it is still wanted.
    const POLL_INTERVAL: Duration = Duration::from_secs(5);

    /// How long after an attempt to start one the next hook tries again.
    const RESTART_INTERVAL: Duration = Duration::from_secs(60);

    /// How long it goes on with what it has begun once it is not wanted any more: a plugin that is compiled takes longer than
    /// a hook waits for, and the next hook finds the code.
    const DRAIN_TIMEOUT: Duration = Duration::from_secs(120);

    /// Connections at a time. Who comes later judges itself.
    const CONNECTIONS: u64 = 32;

    /// Longest line on the socket, in bytes: the largest payload, escaped.
    const LINE: u64 = 64 << 20;

    /// What the host says first.
    #[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) struct Handshake {
        schema: u32,
        version: String,
        /// The values of [`VARIABLES`]: a host with others serves somebody else, as does one whose git works elsewhere by
        /// [`elsewhere`], and one to which those of
        /// [`table::variables`] say that agents have their files elsewhere.
        variables: Vec<Option<String>>,
    }

    impl Handshake {
        fn new() -> Option<Self> {
            let value = |name: &&str| match std::env::var_os(name).map(OsString::into_string) {
                None => Some(None),
                Some(Ok(text)) => Some(Some(text)),
                Some(Err(_)) => None,
            };
            let all = VARIABLES.iter().chain(elsewhere()).chain(table::variables());
            let variables = all.map(value).collect::<Option<_>>()?;
            Some(Handshake { schema: 2, version: env!("CARGO_PKG_VERSION").to_owned(), variables })
        }
    }

    /// A hook's question.
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct HookRequest<Q> {
        /// What the answer has to begin with.
        nonce: String,
        question: Q,
    }

    /// The answer to it, in a form that nothing else has which this program says.
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct HookResponse {
        nonce: String,
        /// By what it was judged.
        hello: Handshake,
        judged: Judged,
    }

    /// What nobody can have known in advance.
    fn nonce() -> Option<String> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom").ok()?.read_exact(&mut bytes).ok()?;
        Some(format!("{:032x}", u128::from_ne_bytes(bytes)))
    }

    /// Where the socket of this program and these variables is.
    fn socket() -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        Identity::program()?.hash(&mut hasher);
        Handshake::new()?.variables.hash(&mut hasher);
        Some(dirs::sockets()?.join(format!("{:016x}.sock", hasher.finish())))
    }

    fn switched_off() -> bool {
        std::env::var_os(SWITCH).is_some_and(|value| !value.is_empty())
    }

    /// The resident host's verdict. None if there is no such host, or none that can be believed, or it is too slow.
    pub(crate) fn ask(question: &Question) -> Option<Judged> {
        if switched_off() {
            return None;
        }
        let path = socket()?;
        let address = SocketAddrUnix::new(&path).ok()?;
        let fd = rustix::net::socket_with(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .ok()?;
        // Before anything is received: what comes without its sender's name is not believed.
        sockopt::set_socket_passcred(&fd, true).ok()?;
        match rustix::net::connect(&fd, &address) {
            Ok(()) => {}
            Err(Errno::NOENT) => return None,
            // What a host that was killed has left behind.
            Err(_) => {
                let _ = std::fs::remove_file(&path);
                return None;
            }
        }
        // Connecting did not wait for a host that takes nobody in any more; from here on there are time limits.
        let stream = UnixStream::from(fd);
        stream.set_nonblocking(false).ok()?;
        let answer = Conversation { stream, sender: None, end: Instant::now() + ANSWER_TIMEOUT };
        let answer = answer.judged(question);
        if answer.is_none() {
            tracing::warn!(socket = %path.display(), "the resident host is unusable; evaluating in this process");
            // The next hook starts another one; this one ends as soon as it sees that.
            let _ = std::fs::remove_file(&path);
        }
        answer
    }

    /// A hook's talk with a resident host.
    struct Conversation {
        stream: UnixStream,
        sender: Option<i32>,
        end: Instant,
    }

    impl Conversation {
        fn judged(mut self, question: &Question) -> Option<Judged> {
            let hello: Handshake = serde_json::from_slice(&self.line()?).ok()?;
            let host = Peer::of(self.sender?)?;
            if Some(&hello) != Handshake::new().as_ref() || !host.is_a_host() {
                return None;
            }
            // From here on the host is what it says it is, and nobody else knows what it has to answer with.
            let asked = HookRequest { nonce: nonce()?, question };
            let mut line = serde_json::to_vec(&asked).ok()?;
            line.push(b'\n');
            if !self.is_silent() {
                return None;
            }
            self.stream.set_write_timeout(Some(self.left()?)).ok()?;
            self.stream.write_all(&line).ok()?;
            let answer: HookResponse = serde_json::from_slice(&self.line()?).ok()?;
            (answer.nonce == asked.nonce && answer.hello == hello && host.is_a_host()).then_some(answer.judged)
        }

        /// Whether nothing has come that was not read. What is said before anything was asked is no answer.
        fn is_silent(&self) -> bool {
            let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
            rustix::net::recv(&self.stream, &mut [0_u8; 1], flags).is_err_and(|error| error == Errno::AGAIN)
        }

        fn left(&self) -> Option<Duration> {
            self.end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        }

        /// A line, all of it from one process of this user's.
        fn line(&mut self) -> Option<Vec<u8>> {
            let mut line = Vec::new();
            let mut bytes = vec![0; 64 << 10];
            while line.last() != Some(&b'\n') {
                self.stream.set_read_timeout(Some(self.left()?)).ok()?;
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
                let mut control = RecvAncillaryBuffer::new(&mut space);
                let mut parts = [IoSliceMut::new(&mut bytes)];
                let got = rustix::net::recvmsg(&self.stream, &mut parts, &mut control, RecvFlags::empty()).ok()?.bytes;
                let sender = control.drain().find_map(|message| match message {
                    RecvAncillaryMessage::ScmCredentials(who) => Some(who),
                    _ => None,
                })?;
                let pid = sender.pid.as_raw_nonzero().get();
                let same = self.sender.is_none_or(|known| known == pid);
                if got == 0 || !same || sender.uid != rustix::process::geteuid() || line.len() as u64 > LINE {
                    return None;
                }
                self.sender = Some(pid);
                line.extend(bytes.get(..got)?);
            }
            Some(line)
        }
    }

    /// Starts a resident host if there is none. What goes wrong costs nothing but time at the next call.
    pub fn start() {
        let Some(path) = socket().filter(|path| !switched_off() && !path.exists()) else { return };
        let Ok(program) = dirs::program() else { return };
        let attempt = path.with_extension("start");
        let age = std::fs::metadata(&attempt).and_then(|found| found.modified()).ok();
        let age = age.and_then(|tried| SystemTime::now().duration_since(tried).ok());
        let made = || {
            toolgate_host::private::private_folder(path.parent()?).ok()?;
            File::create(&attempt).ok()
        };
        if age.is_some_and(|age| age < RESTART_INTERVAL) || made().is_none() {
            return;
        }
        let mut host = Command::new(program);
        host.arg("serve").current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Whoever has such variables set gets a host that can be believed all the same.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"LD_")) {
            host.env_remove(name);
        }
        if let Err(error) = host.spawn() {
            tracing::warn!(%error, "the resident host does not start");
        }
    }

    /// Waits until the host that is there has seen that it has a successor.
    fn succeeded(lock: &File, path: &Path) -> bool {
        let _ = std::fs::remove_file(path);
        let end = Instant::now() + 2 * POLL_INTERVAL;
        while rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL / 50);
        }
        true
    }

    /// Answers hooks until nobody wants it any more; or until it is ended, and in the place of one that is there.
    pub fn run(stays: bool) -> Result<ExitCode, Failure> {
        let failed = |what: &str, error: &dyn std::fmt::Display| Failure::new(exit::IO, format!("{what}: {error}"));
        // Out of the agent's session, which may be ended as a whole. Who leads one already stays where they are.
        if !stays {
            let _ = rustix::process::setsid();
        }
        let path = socket().ok_or_else(|| Failure::new(exit::NO_INPUT, "no place for a socket; set HOME"))?;
        let (folder, shown) = (path.parent().unwrap_or(Path::new("/")), path.display().to_string());
        toolgate_host::private::private_folder(folder).map_err(|error| failed("no socket", &error))?;
        let lock = File::create(path.with_extension("lock")).map_err(|error| failed(&shown, &error))?;
        let is_ours = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !(is_ours || stays && succeeded(&lock, &path)) {
            return Err(Failure::new(exit::IO, format!("a resident host is already running: {shown}")));
        }
        let plugin = gate_builder::default_plugin().map_err(|error| Failure::new(exit::SOFTWARE, error.to_string()))?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&shown, &error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(|error| failed(&shown, &error))?;
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&path, mode).map_err(|error| failed(&shown, &error))?;
        // Whoever started it by hand, or waits for it, sees that it is there. Nobody has to.
        let _ = writeln!(std::io::stdout(), "listening on {shown}");
        let open = Arc::default();
        warm(&open);
        serve(&listener, &path, &Arc::new(plugin), stays, &open);
        let _ = std::fs::remove_file(&path);
        // A successor need not wait.
        drop((listener, lock));
        let end = Instant::now() + DRAIN_TIMEOUT;
        while open.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(POLL_INTERVAL / 50);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Has the installed plugins compiled before a hook waits for that.
    fn warm(open: &Arc<AtomicU64>) {
        let guard = InFlightGuard::new(open);
        // Where it fails, each hook finds out for itself what is wrong, and says it.
        let _ = std::thread::Builder::new().spawn(move || {
            let _guard = guard;
            if let Err(error) = installed() {
                tracing::warn!(error, "the installed plugins are not ready");
            }
        });
    }

    fn serve(listener: &UnixListener, path: &Path, plugin: &Arc<Plugin>, stays: bool, open: &Arc<AtomicU64>) {
        let ours = Identity::of(path);
        let program = std::env::current_exe().ok();
        let mut last = Instant::now();
        loop {
            let wait = Timespec { tv_sec: POLL_INTERVAL.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&wait)).unwrap_or_default();
            if ready > 0 {
                last = Instant::now();
                let Ok((stream, _)) = listener.accept() else { continue };
                if open.load(Ordering::SeqCst) >= CONNECTIONS {
                    continue;
                }
                let (plugin, guard) = (Arc::clone(plugin), InFlightGuard::new(open));
                // One that cannot be started drops its count, and the hook judges itself.
                let _ = std::thread::Builder::new().spawn(move || {
                    let _guard = guard;
                    if answer(stream, &plugin).is_none() {
                        tracing::debug!("a hook went away without an answer");
                    }
                    gate_builder::take_snapshots();
                });
                continue;
            }
            // A socket that is gone or another one now, or a program that was replaced, is a successor's.
            let replaced = program.as_deref().and_then(Identity::of) != Identity::program();
            if Identity::of(path) != ours || replaced || !stays && last.elapsed() >= IDLE_TIMEOUT {
                return;
            }
        }
    }

    /// What is under way: one less when it goes, however.
    struct InFlightGuard(Arc<AtomicU64>);

    impl InFlightGuard {
        fn new(all: &Arc<AtomicU64>) -> Self {
            all.fetch_add(1, Ordering::SeqCst);
            InFlightGuard(Arc::clone(all))
        }
    }

    impl Drop for InFlightGuard {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Answers one hook.
    fn answer(mut stream: UnixStream, plugin: &Plugin) -> Option<()> {
        let peer = sockopt::socket_peercred(&stream).ok()?;
        if peer.uid != rustix::process::geteuid() {
            return None;
        }
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).ok()?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT)).ok()?;
        let mut hello = serde_json::to_vec(&Handshake::new()?).ok()?;
        hello.push(b'\n');
        stream.write_all(&hello).ok()?;
        let mut line = Vec::new();
        BufReader::new(&stream).take(LINE).read_until(b'\n', &mut line).ok()?;
        let HookRequest { nonce, question }: HookRequest<Question> = serde_json::from_slice(&line).ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
        let judged: Judged = match runtime.block_on(evaluate_in_process(plugin, &question, None, Life::Connection)) {
            Ok(judged) => judged,
            // The hook finds out for itself what is wrong, and says it.
            Err(error) => {
                tracing::warn!(error, "no verdict");
                return None;
            }
        };
        let mut answer = serde_json::to_vec(&HookResponse { nonce, hello: Handshake::new()?, judged }).ok()?;
        answer.push(b'\n');
        stream.write_all(&answer).ok()
    }
}
