//! The daemon itself: connections, methods, and its end.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cache;
use crate::check::Checker;
use crate::life::{Busy, Life};
use crate::protocol::{self, Line, Request};
use crate::residents::{self, Make};
use crate::socket::{self, Socket};
use crate::trust::Trust;

/// How long the daemon stays without a connection or a request.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// How often it is looked whether the socket is still ours.
const LOOK: Duration = Duration::from_secs(5);

/// How long answers that are under way have when the daemon leaves.
const GRACE: Duration = Duration::from_secs(1);

/// How long a client may take to read an answer.
const READ: Duration = Duration::from_secs(10);

/// How long a connection may be silent while no request is under way.
const SILENT: Duration = Duration::from_secs(60);

/// Most connections at once.
const CONNECTIONS: usize = 64;

/// Most requests of a connection at once. The others wait.
const REQUESTS: usize = 32;

/// Most characters of a session's name.
const SESSION: usize = 200;

/// How long to wait when the system has no more connections to give.
const BREATH: Duration = Duration::from_millis(100);

/// The variable that says where to listen.
const SOCKET: &str = "CODE_LENS_SOCKET_PATH";

/// The variable that names the project's folder.
const CWD: &str = "CODE_LENS_CWD";

/// Serves a project until nobody needs it. Its socket and the project's folder are in `CODE_LENS_SOCKET_PATH` and
/// `CODE_LENS_CWD`, as clients of code-lens name them. In folders of this list their own tools may run.
///
/// Succeeds, too, if another daemon serves that socket already.
pub fn serve(trust: Option<Trust>) -> ExitCode {
    match run(trust) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Standard error may be closed; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "toolgate-lens: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(trust: Option<Trust>) -> Result<(), String> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set"));
    let (socket, folder) = (path(SOCKET)?, path(CWD)?);
    let root = folder.canonicalize().map_err(|error| format!("{CWD}: {}: {error}", folder.display()))?;
    if !root.is_dir() {
        return Err(format!("{CWD}: {} is not a folder", folder.display()));
    }
    // Out of the client's session, which may be ended as a whole. Who leads one already stays where they are.
    let _ = rustix::process::setsid();
    let filter = tracing_subscriber::EnvFilter::from_env("TOOLGATE_LENS_LOG");
    // Another subscriber stands if this runs in a program that has one.
    let _ = tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter).try_init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let served = runtime.block_on(async {
        let Some(socket) = socket::claim(&socket).await.map_err(|error| error.to_string())? else { return Ok(()) };
        let daemon = Arc::new(Daemon::new(root, trust, residents::all));
        let told = signals().map_err(|error| error.to_string())?;
        tokio::task::spawn_blocking(cache::prune);
        serve_on(&daemon, socket, told).await;
        Ok(())
    });
    // Whatever still waits for a file system must not keep the process.
    runtime.shutdown_timeout(GRACE);
    served
}

/// Ends when the process is told to end.
fn signals() -> std::io::Result<impl Future<Output = ()>> {
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! { _ = term.recv() => {}, _ = interrupt.recv() => {}, _ = hangup.recv() => {} }
    })
}

/// What all connections share.
struct Daemon {
    life: Arc<Life>,
    checker: Checker,
    started: Instant,
}

async fn serve_on(daemon: &Arc<Daemon>, socket: Socket, told: impl Future<Output = ()>) {
    let mut connections: JoinSet<()> = JoinSet::new();
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(told);
    let over = daemon.life.over(IDLE);
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut told => break,
            () = &mut over => break,
            _ = look.tick() => {
                if !socket.is_ours() {
                    break;
                }
                let daemon = Arc::clone(daemon);
                connections.spawn(async move { daemon.checker.stop_idle(IDLE).await });
            }
            Some(_) = connections.join_next() => {}
            accepted = socket.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok(stream) => { connections.spawn(connection(Arc::clone(daemon), stream)); }
                Err(_) => tokio::time::sleep(BREATH).await,
            },
        }
    }
    // First the name goes, so that the next client starts another daemon.
    let _ = tokio::time::timeout(GRACE, socket.close()).await;
    let _ = tokio::time::timeout(GRACE, daemon.life.answered()).await;
    // Whatever hangs now ends with the process.
    let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
    let _ = tokio::time::timeout(GRACE, daemon.checker.stop()).await;
}

async fn connection(daemon: Arc<Daemon>, stream: UnixStream) {
    let _connected = daemon.life.connected();
    let (read, write) = stream.into_split();
    let (answers, queue) = mpsc::channel(REQUESTS);
    let mut tasks = JoinSet::new();
    let reading = async move {
        let slots = Arc::new(Semaphore::new(REQUESTS));
        let mut reader = BufReader::new(read);
        // A connection that fails is as good as one that ends.
        while let Some(Ok(Some(line))) = heard(protocol::next_line(&mut reader), &slots).await {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
            while tasks.try_join_next().is_some() {}
            let (daemon, answers, asked) = (Arc::clone(&daemon), answers.clone(), daemon.life.asked());
            tasks.spawn(async move {
                let answer = daemon.answer(&line).await;
                // If the client is gone, nobody waits for it.
                let _ = answers.send((answer, asked)).await;
                drop(slot);
            });
        }
        drop(answers);
        // Who has said all may still listen.
        while tasks.join_next().await.is_some() {}
    };
    // If writing fails, what only this client waits for ends, too.
    tokio::select! {
        () = async { reading.await; std::future::pending().await } => {}
        () = writing(write, queue) => {}
    }
}

/// What comes next, unless nothing does for a while in which no request is under way.
async fn heard<T>(next: impl Future<Output = T>, slots: &Semaphore) -> Option<T> {
    tokio::pin!(next);
    let busy = || slots.available_permits() < REQUESTS;
    loop {
        let was_busy = busy();
        match tokio::time::timeout(SILENT, &mut next).await {
            Ok(heard) => return Some(heard),
            Err(_) if was_busy || busy() => {}
            Err(_) => return None,
        }
    }
}

/// Writes answers until there can be no more, or nobody reads them.
async fn writing(mut write: OwnedWriteHalf, mut queue: mpsc::Receiver<(Value, Busy)>) {
    while let Some((answer, asked)) = queue.recv().await {
        let line = format!("{answer}\n");
        match tokio::time::timeout(READ, write.write_all(line.as_bytes())).await {
            Ok(Ok(())) => drop(asked),
            _ => return,
        }
    }
}

impl Daemon {
    fn new(root: PathBuf, trust: Option<Trust>, residents: Make) -> Self {
        Daemon { life: Life::new(), checker: Checker::new(root, trust, residents), started: Instant::now() }
    }

    async fn answer(self: &Arc<Self>, line: &Line) -> Value {
        let Line::Whole(line) = line else { return protocol::too_long() };
        let request = match protocol::request(line) {
            Ok(request) => request,
            Err(answer) => return answer,
        };
        match self.result(&request).await {
            Some(result) => protocol::result(&request.id, result),
            None => protocol::unknown(&request),
        }
    }

    async fn result(self: &Arc<Self>, request: &Request) -> Option<Value> {
        let session = || {
            let name = request.params.get("session").and_then(Value::as_str).unwrap_or_default();
            name.chars().take(SESSION).collect::<String>()
        };
        Some(match request.method.as_str() {
            "fullCheck" => self.checker.full_check(&request.params).await.into(),
            "hello" => json!({
                "name": "toolgate-lens",
                "version": env!("CARGO_PKG_VERSION"),
                "cwd": self.checker.root().to_string_lossy(),
                "pid": std::process::id(),
            }),
            "sessionStart" => {
                let daemon = Arc::clone(self);
                tokio::spawn(async move { daemon.checker.warm().await });
                json!({ "sessions": self.life.start(&session()) })
            }
            "sessionEnd" => json!({ "sessions": self.life.end(&session()) }),
            "status" => self.status().await,
            "stop" => {
                self.life.stop();
                json!({})
            }
            _ => return None,
        })
    }

    async fn status(&self) -> Value {
        let mut status = self.checker.status().await;
        if let Value::Object(members) = &mut status {
            let uptime = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            members.insert("uptimeMs".to_owned(), uptime.into());
            members.insert("sessions".to_owned(), self.life.sessions().into());
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_leaves_after_five_idle_minutes() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
        let path = scratch.path().join("s.sock");
        let socket = socket::claim(&path).await.expect("no error").expect("free");
        let daemon = Arc::new(Daemon::new(scratch.path().to_path_buf(), None, |_| Vec::new()));
        let started = Instant::now();
        serve_on(&daemon, socket, std::future::pending()).await;
        assert_eq!(started.elapsed().as_secs(), IDLE.as_secs());
        assert!(!path.exists());
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_not_listened_to() {
        let slots = Semaphore::new(REQUESTS);
        let started = Instant::now();
        assert!(heard(std::future::pending::<()>(), &slots).await.is_none());
        assert_eq!(started.elapsed(), SILENT);
        let asked = slots.acquire().await.expect("open");
        let late = tokio::time::sleep(3 * SILENT);
        assert!(heard(late, &slots).await.is_some(), "somebody waits for an answer");
        drop(asked);
        assert!(heard(tokio::time::sleep(SILENT / 2), &slots).await.is_some());
    }
}
