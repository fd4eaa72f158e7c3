//! The runtime of a command that does one thing and ends.

use tokio::runtime::{Builder, Runtime};
use toolgate_agents::Failure;

/// A runtime on the caller's own thread, with time and nothing else.
///
/// # Errors
/// If the system gives none.
pub(crate) fn one_thread() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_time().build().map_err(Failure::software)
}
