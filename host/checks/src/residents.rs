//! What stays loaded between checks, so that no process has to be started for each.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use crate::lsp::Servers;
use crate::node::Worker;
use crate::project::Project;
use crate::report::{Outcome, Status};
use crate::tools::Job;

/// Something that stays loaded.
#[async_trait]
pub(crate) trait Resident: Send + Sync {
    /// Does a tool's job in its place. None if it cannot.
    async fn run(&self, job: &Job, limit: Duration) -> Option<Outcome>;

    /// Diagnostics of a language server, once it was quiet for so long. None if there is none.
    async fn diagnostics(&self, files: &[PathBuf], settle: Duration, limit: Duration) -> Option<Outcome>;

    /// Loads what the first check will need, within this time.
    async fn warm(&self, limit: Duration);

    /// What of it runs, for a person.
    fn running(&self) -> Vec<String>;

    /// Ends those of its processes that were not asked for so long.
    async fn stop_idle(&self, idle: Duration);

    /// Ends it and all that it started.
    async fn stop(&self);
}

#[async_trait]
impl Resident for Worker {
    async fn run(&self, job: &Job, limit: Duration) -> Option<Outcome> {
        let outcome = match job.tool.name {
            "eslint" => self.eslint(&job.files, limit).await,
            "prettier" => self.prettier(&job.files, limit).await,
            "tsc" => self.typescript(&job.files, limit).await,
            _ => return None,
        };
        // What it does not keep, the program may still do.
        Some(outcome).filter(|outcome| outcome.status != Status::Skipped)
    }

    async fn diagnostics(&self, _files: &[PathBuf], _settle: Duration, _limit: Duration) -> Option<Outcome> {
        None
    }

    async fn warm(&self, limit: Duration) {
        Worker::warm(self, limit).await;
    }

    fn running(&self) -> Vec<String> {
        Worker::running(self)
    }

    async fn stop_idle(&self, idle: Duration) {
        Worker::stop_idle(self, idle).await;
    }

    async fn stop(&self) {
        Worker::stop(self).await;
    }
}

#[async_trait]
impl Resident for Servers {
    async fn run(&self, _job: &Job, _limit: Duration) -> Option<Outcome> {
        None
    }

    async fn diagnostics(&self, files: &[PathBuf], settle: Duration, limit: Duration) -> Option<Outcome> {
        Some(self.check(files, settle, limit).await)
    }

    /// A server is started with the first file of its language.
    async fn warm(&self, _limit: Duration) {}

    fn running(&self) -> Vec<String> {
        Servers::running(self)
    }

    async fn stop_idle(&self, idle: Duration) {
        Servers::stop_idle(self, idle).await;
    }

    async fn stop(&self) {
        Servers::stop(self).await;
    }
}

/// All that can stay loaded.
pub(crate) fn all(project: &Project) -> Vec<Arc<dyn Resident>> {
    vec![Arc::new(Worker::new(project.clone())), Arc::new(Servers::new(project.clone()))]
}

/// Makes what stays loaded for a project. Nothing is started before it is asked.
pub(crate) type Make = fn(&Project) -> Vec<Arc<dyn Resident>>;

/// Those that were made, and whether for a trusted project.
type ResidentCache = Option<(bool, Vec<Arc<dyn Resident>>)>;

/// All that stays loaded. It is made anew when the user trusts the project or no longer does.
pub(crate) struct Residents {
    make: Make,
    kept: Mutex<ResidentCache>,
}

impl Residents {
    pub(crate) fn new(make: Make) -> Self {
        Residents { make, kept: Mutex::new(None) }
    }

    /// Those for the project as it is now.
    pub(crate) async fn of(&self, project: &Project) -> Vec<Arc<dyn Resident>> {
        let mut kept = self.kept.lock().await;
        if let Some((trusted, residents)) = &*kept
            && *trusted == project.trusted
        {
            return residents.clone();
        }
        end(kept.take()).await;
        let residents = (self.make)(project);
        *kept = Some((project.trusted, residents.clone()));
        residents
    }

    /// What runs now.
    pub(crate) async fn running(&self) -> Vec<String> {
        let kept = self.kept.lock().await;
        kept.iter().flat_map(|(_, residents)| residents).flat_map(|resident| resident.running()).collect()
    }

    /// Ends what was not asked for so long.
    pub(crate) async fn stop_idle(&self, idle: Duration) {
        let residents = self.kept.lock().await.as_ref().map(|(_, residents)| residents.clone());
        for resident in residents.into_iter().flatten() {
            resident.stop_idle(idle).await;
        }
    }

    /// Ends all.
    pub(crate) async fn stop(&self) {
        end(self.kept.lock().await.take()).await;
    }
}

async fn end(kept: ResidentCache) {
    for resident in kept.into_iter().flat_map(|(_, residents)| residents) {
        resident.stop().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    static STOPPED: AtomicUsize = AtomicUsize::new(0);

    struct Counted(bool);

    #[async_trait]
    impl Resident for Counted {
        async fn run(&self, _job: &Job, _limit: Duration) -> Option<Outcome> {
            None
        }

        async fn diagnostics(&self, _files: &[PathBuf], _settle: Duration, _limit: Duration) -> Option<Outcome> {
            None
        }

        async fn warm(&self, _limit: Duration) {}

        fn running(&self) -> Vec<String> {
            vec![format!("trusted: {}", self.0)]
        }

        async fn stop_idle(&self, _idle: Duration) {}

        async fn stop(&self) {
            STOPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn trust_makes_them_anew() {
        let residents = Residents::new(|project| vec![Arc::new(Counted(project.trusted))]);
        assert!(residents.running().await.is_empty(), "nothing before it is needed");
        for (trusted, stopped) in [(false, 0), (false, 0), (true, 1), (true, 1), (false, 2)] {
            residents.of(&Project { root: PathBuf::from("/p"), trusted }).await;
            assert_eq!(residents.running().await, [format!("trusted: {trusted}")]);
            assert_eq!(STOPPED.load(Ordering::Relaxed), stopped);
        }
        residents.stop().await;
        assert!(residents.running().await.is_empty());
        assert_eq!(STOPPED.load(Ordering::Relaxed), 3);
    }
}
