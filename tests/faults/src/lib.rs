//! A rig that kills, stops, slows and corrupts what Toolgate leans on, while calls run: the built command is run as an agent
//! runs it, in a home folder of its own for each fault. Nothing of its library is used.
//!
//! After each fault: no destructive call got through, no line of an answered call is missing in the audit log, no call took
//! longer than its time, and once the fault is gone all is as before without anybody's help.
//!
//! | Module | What it is |
//! |---|---|
//! | [`boundary`] | the faults, by what they are of |
//! | [`trial`] | one fault: the calls that are made under it and after it, and what is wrong with them |
//! | [`world`] | a home folder with a project, and what the gate keeps there |
//! | [`call`] | a call of an agent: a process of the hook's, and its answer |
//! | [`audit`] | the audit log as it lies there |
//! | [`spoil`] | what may become of a file |
//! | [`process`] | programs that run beside, and end with the trial |
//! | [`table`] | what came of it, for a person |

pub mod audit;
pub mod boundary;
pub mod call;
pub mod process;
pub mod spoil;
pub mod table;
pub mod trial;
pub mod world;

use std::fmt;
use std::io;

/// Why a fault shows nothing.
#[derive(thiserror::Error)]
pub enum Error {
    /// It cannot be had here.
    #[error("left out: {0}")]
    LeftOut(String),
    /// What was to be there is not.
    #[error("{0}")]
    Unexpected(String),
    /// The helpers of the terminal's tests say so.
    #[error("{0}")]
    Helper(#[from] toolgate_terminal_tests::Error),
    /// Files could not be laid out, or a process not started.
    #[error("{0}")]
    Files(#[from] io::Error),
}

impl From<rustix::io::Errno> for Error {
    fn from(error: rustix::io::Errno) -> Self {
        Error::Files(error.into())
    }
}

/// As it reads, because that is what a test that fails prints.
impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
