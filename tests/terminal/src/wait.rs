//! Waits for what another process does: the only place that sleeps.

use std::thread;
use std::time::{Duration, Instant};

use crate::Error;

/// How long tmux, a shell or the command under test may take for what takes them milliseconds. Generous, as the machine
/// may be busy.
pub const LIMIT: Duration = Duration::from_secs(20);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(4);

/// Looks until there is something, and gives it.
///
/// # Errors
/// If there is nothing within [`LIMIT`], naming `what` it was waited for, and if looking fails.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(Error::Late(what.to_owned()));
        }
        thread::sleep(LOOK);
    }
}

/// Looks until something is so.
///
/// # Errors
/// As [`until`].
pub fn until_so(what: &str, mut look: impl FnMut() -> Result<bool, Error>) -> Result<(), Error> {
    until(what, || Ok(look()?.then_some(())))
}
