//! Work that may hang, away from the runtime.

use super::Answer;
use crate::CapabilityError;

/// Does something on a thread of its own, so that a file system or a process that hangs holds neither the runtime nor its
/// end.
pub(super) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    let (answer, waiting) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("toolgate-host".to_owned()).stack_size(256 << 10);
    // Nobody is waiting any more if the deadline has passed.
    let started = thread.spawn(move || drop(answer.send(work())));
    started.map_err(|error| CapabilityError::Unavailable(error.to_string()))?;
    waiting.await.map_err(|_| CapabilityError::Other("the work failed".to_owned()))
}
