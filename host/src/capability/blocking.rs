//! Work that may hang, away from the runtime.

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
    let (answer, waiting) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("toolgate-host".to_owned()).stack_size(256 << 10);
    // Nobody is waiting any more if the deadline has passed.
    let started = thread.spawn(move || drop(answer.send(work())));
    started.map_err(|error| CapabilityError::Unavailable(error.to_string()))?;
    waiting.await.map_err(|_| CapabilityError::Other("the work failed".to_owned()))
}
