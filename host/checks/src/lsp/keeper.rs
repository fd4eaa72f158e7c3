//! The life of one server: started with the first check, ended when it is not used, started again after it crashed,
//! but not over and over.
//!
//! A task of its own keeps a server and checks one thing after the other, so that a slow server holds up nobody who
//! asks another.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::check::check;
use super::client::Client;
use super::connection::Lost;
use super::table::Row;
use crate::project::Project;
use crate::report::Outcome;

/// Most checks that wait for one server.
const MAX_WAITING: usize = 64;
/// How often a server may start within [`RESTART_WINDOW`].
const MAX_STARTS: usize = 3;
const RESTART_WINDOW: Duration = Duration::from_secs(60);

/// A server, running or not, and the task that keeps it.
#[derive(Debug)]
pub(super) struct Keeper {
    name: &'static str,
    jobs: mpsc::Sender<Job>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Checks that are not answered yet.
    checks: AtomicUsize,
    runs: AtomicBool,
}

/// What a keeper is asked to do.
#[derive(Debug)]
enum Job {
    Check { files: Vec<PathBuf>, settle: Duration, deadline: Instant, reply: oneshot::Sender<Outcome> },
    StopIdle { idle: Duration, reply: oneshot::Sender<()> },
}

/// Counts somebody who waits, for as long as they do.
struct Waits(Arc<Shared>);

impl Waits {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.checks.fetch_add(1, Ordering::Relaxed);
        Waits(Arc::clone(shared))
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.checks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A way to ask a keeper that does not hold it.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    name: &'static str,
    jobs: mpsc::Sender<Job>,
    shared: Arc<Shared>,
}

impl Keeper {
    /// For one server in one workspace. Nothing is started yet.
    pub(super) fn new(row: &'static Row, project: &Project, root: &Path) -> Self {
        let (jobs, receiver) = mpsc::channel(MAX_WAITING);
        let (stop, stopped) = watch::channel(false);
        let shared = Arc::<Shared>::default();
        let kept = KeeperState {
            row,
            project: project.clone(),
            root: root.to_path_buf(),
            client: None,
            starts: Starts::default(),
            used: Instant::now(),
            shared: Arc::clone(&shared),
        };
        Keeper { name: row.name, jobs, stop, task: tokio::spawn(kept.keep(receiver, stopped)), shared }
    }

    pub(super) fn handle(&self) -> Handle {
        Handle { name: self.name, jobs: self.jobs.clone(), shared: Arc::clone(&self.shared) }
    }

    /// Whether the server runs.
    pub(super) fn runs(&self) -> bool {
        self.shared.runs.load(Ordering::Relaxed)
    }

    /// Whether nobody waits for it.
    pub(super) fn is_free(&self) -> bool {
        self.shared.checks.load(Ordering::Relaxed) == 0
    }

    /// Ends the server, in whatever it is doing.
    pub(super) async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }
}

impl Handle {
    /// Checks files. Always answers, and in time.
    pub(super) async fn check(self, files: Vec<PathBuf>, settle: Duration, limit: Duration) -> Outcome {
        let deadline = Instant::now() + limit;
        let late = || {
            let count = files.len();
            let note = format!("{} did not finish {count} file(s) in {} ms", self.name, limit.as_millis());
            Outcome { files: count, ..Outcome::error(note) }
        };
        let _waits = Waits::new(&self.shared);
        let (reply, answer) = oneshot::channel();
        let job = Job::Check { files: files.clone(), settle, deadline, reply };
        let asked = async {
            self.jobs.send(job).await.ok()?;
            answer.await.ok()
        };
        // The keeper answers with what it has at the deadline; this is for when it does not come to it.
        match timeout_at(deadline + settle.min(Duration::from_millis(200)), asked).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => Outcome::error(format!("{} was stopped", self.name)),
            Err(_) => late(),
        }
    }

    /// Ends the server if nobody has used it for this long.
    pub(super) async fn stop_idle(self, idle: Duration) {
        let (reply, done) = oneshot::channel();
        if self.jobs.send(Job::StopIdle { idle, reply }).await.is_ok() {
            let _ = done.await;
        }
    }
}

/// What the task has.
struct KeeperState {
    row: &'static Row,
    project: Project,
    root: PathBuf,
    client: Option<Client>,
    starts: Starts,
    used: Instant,
    shared: Arc<Shared>,
}

impl KeeperState {
    async fn keep(mut self, mut jobs: mpsc::Receiver<Job>, mut stopped: watch::Receiver<bool>) {
        loop {
            let job = tokio::select! {
                job = jobs.recv() => job,
                // An idle server asks and tells things too.
                lost = turn(&mut self.client) => {
                    tracing::debug!(server = self.row.name, "{lost}");
                    self.drop_client();
                    continue;
                }
                _ = stopped.changed() => None,
            };
            let Some(job) = job else { break };
            let done = tokio::select! {
                () = self.work(job) => true,
                _ = stopped.changed() => false,
            };
            if !done {
                break;
            }
        }
        if let Some(client) = self.client.take() {
            client.stop().await;
        }
        self.shared.runs.store(false, Ordering::Relaxed);
    }

    fn drop_client(&mut self) {
        self.client = None;
        self.shared.runs.store(false, Ordering::Relaxed);
    }

    async fn work(&mut self, job: Job) {
        match job {
            Job::Check { files, settle, deadline, mut reply } => {
                if let Err(lost) = self.start().await {
                    let _ = reply.send(Outcome::error(format!("{} {lost}", self.row.name)));
                    return;
                }
                self.used = Instant::now();
                let checked = tokio::select! {
                    checked = self.check(&files, settle, deadline) => checked,
                    // Nobody waits any more.
                    () = reply.closed() => return,
                };
                self.used = Instant::now();
                let checked = checked.unwrap_or_else(|lost| {
                    self.drop_client();
                    Outcome::error(format!("{} {lost}", self.row.name))
                });
                let _ = reply.send(checked);
            }
            Job::StopIdle { idle, reply } => {
                if self.used.elapsed() >= idle {
                    if let Some(client) = self.client.take() {
                        client.stop().await;
                    }
                    self.drop_client();
                }
                let _ = reply.send(());
            }
        }
    }

    async fn check(&mut self, files: &[PathBuf], settle: Duration, deadline: Instant) -> Result<Outcome, Lost> {
        match &mut self.client {
            Some(client) => check(client, files, settle, deadline).await,
            None => Err(Lost("is not there".into())),
        }
    }

    /// Starts the server if it does not run. This goes on when whoever asked has given up, so that the next who asks
    /// finds it ready.
    async fn start(&mut self) -> Result<(), Lost> {
        if self.client.is_some() {
            return Ok(());
        }
        if !self.starts.another(Instant::now()) {
            let span = RESTART_WINDOW.as_secs();
            return Err(Lost(format!("crashed or stopped {MAX_STARTS} times in {span} s; not restarting for now")));
        }
        self.client = Some(Client::start(self.row, &self.project, &self.root).await?);
        self.shared.runs.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Takes messages for as long as there is a server to send them.
async fn turn(client: &mut Option<Client>) -> Lost {
    let Some(client) = client else { return std::future::pending().await };
    loop {
        if let Err(lost) = client.turn().await {
            return lost;
        }
    }
}

/// When a server was started.
#[derive(Debug, Default)]
struct Starts(VecDeque<Instant>);

impl Starts {
    /// Whether it may start once more. If so, that is remembered.
    fn another(&mut self, now: Instant) -> bool {
        while self.0.front().is_some_and(|start| now.duration_since(*start) >= RESTART_WINDOW) {
            self.0.pop_front();
        }
        let may = self.0.len() < MAX_STARTS;
        if may {
            self.0.push_back(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, Starts};

    #[test]
    fn three_starts_a_minute() {
        let (mut starts, first) = (Starts::default(), Instant::now());
        let cases = [(0, true), (10, true), (20, true), (30, false), (59, false), (60, true), (61, false), (70, true)];
        for (second, may) in cases {
            assert_eq!(starts.another(first + Duration::from_secs(second)), may, "at {second} s");
        }
    }
}
