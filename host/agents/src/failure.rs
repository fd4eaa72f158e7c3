//! What is said to a person when something cannot be done, and the exit code that goes with it.

/// Exit codes for Toolgate's own errors, as `sysexits.h` numbers them. Verdicts are 0 to 3.
pub mod exit {
    /// The arguments make no sense.
    pub const USAGE: u8 = 64;
    /// What was read is not valid.
    pub const DATA: u8 = 65;
    /// What was to be read is not there, or cannot be read.
    pub const NO_INPUT: u8 = 66;
    /// A fault of Toolgate's own.
    pub const SOFTWARE: u8 = 70;
    /// Something cannot be written.
    pub const IO: u8 = 74;
}

/// An error for a person, with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// One of [`exit`].
    pub code: u8,
    /// What went wrong.
    pub message: String,
}

impl Failure {
    /// An error with this exit code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Failure { code, message: message.into() }
    }

    /// A fault of Toolgate's own.
    pub fn software(error: impl std::fmt::Display) -> Self {
        Failure::new(exit::SOFTWARE, error.to_string())
    }

    /// Standard output takes nothing more.
    pub fn output(error: std::io::Error) -> Self {
        Failure::new(exit::IO, format!("standard output: {error}"))
    }
}
