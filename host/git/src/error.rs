//! Why git could not be asked.

use std::io;
use std::path::Path;

/// Why git could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git that can be used.
    #[error("{0}")]
    Unavailable(String),
    /// Git says no, in its own words.
    #[error("git: {0}")]
    Failed(String),
    /// It did not end in time.
    #[error("git takes too long")]
    Late,
    /// It was ended, as it would not stop.
    #[error("git: it says more than {0} bytes")]
    TooMuch(usize),
    /// The system says no.
    #[error("{path}: {error}")]
    System {
        /// The file or folder.
        path: String,
        /// What the system says.
        error: io::Error,
    },
}

impl GitError {
    pub(crate) fn system(path: &Path, error: io::Error) -> Self {
        GitError::System { path: path.display().to_string(), error }
    }
}
