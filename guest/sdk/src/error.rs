//! What a capability answers when it does not do what it was asked.

use std::fmt;

/// Why the host did not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not granted, or refused by the gate.
    Denied(String),
    /// The thing asked for is not there.
    NotFound(String),
    /// It took too long.
    Timeout,
    /// More than this limit, in bytes or items.
    TooLarge(u64),
    /// What it stands on is not running or not installed. Everything, outside a component.
    Unavailable(String),
    /// The request makes no sense.
    Invalid(String),
    /// Everything else.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Denied(why)
            | Error::NotFound(why)
            | Error::Unavailable(why)
            | Error::Invalid(why)
            | Error::Other(why) => f.write_str(why),
            Error::Timeout => f.write_str("it took too long"),
            Error::TooLarge(limit) => write!(f, "more than the limit of {limit}"),
        }
    }
}

impl std::error::Error for Error {}
