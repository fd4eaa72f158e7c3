//! Work that may hang, away from the runtime.

use std::io::Error;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot::{self, Receiver, error::RecvError};

use super::answers::{Answer, CapabilityError};

/// Does something on a thread of its own, so that a file system or a process that hangs holds neither the runtime nor its
/// end. For whoever implements a capability.
///
/// ```no_run
/// # async fn example() -> toolgate_host::capability::Answer<()> {
/// use toolgate_host::capability::apart;
///
/// let found = apart(|| std::path::Path::new("/mnt/slow").exists()).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Unavailable` if there is no thread, `Other` if the work panics.
pub async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    match start(work) {
        Ok(waiting) => waiting.await.map_err(failed),
        Err((error, _)) => Err(CapabilityError::Unavailable(error.to_string())),
    }
}

/// The same for work that has to be done: where there can be no other thread it is done here all the same.
///
/// # Errors
/// `Other` if the work panics.
pub(crate) async fn apart_or_here<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    match start(work) {
        Ok(waiting) => waiting.await.map_err(failed),
        Err((_, Some(work))) => Ok(work()),
        Err((error, None)) => Err(CapabilityError::Unavailable(error.to_string())),
    }
}

fn failed(_: RecvError) -> CapabilityError {
    CapabilityError::Other("the work failed".to_owned())
}

/// Starts the thread; the work comes back if there is none.
fn start<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(work: W) -> Result<Receiver<T>, (Error, Option<W>)> {
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<W>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (answer, waiting) = oneshot::channel();
    let theirs = Arc::clone(&work);
    let thread = std::thread::Builder::new().name("toolgate-host".to_owned());
    // Nobody is waiting any more if the deadline has passed.
    let started = thread.spawn(move || take(&theirs).map(|work| drop(answer.send(work()))));
    started.map(|_| waiting).map_err(|error| (error, take(&work)))
}
