//! Runs the check daemon over small projects with real tools and planted problems, and beside the daemon that it
//! stands in for, `@harms-haus/code-lens`.
//!
//! Only built programs are run, as a user would; of the daemon's library nothing is used but the list of trusted folders.
//! The tools are those that `just checks-setup` leaves in `target/checks-tools`.
//!
//! | Module | What it is |
//! |---|---|
//! | [`client`] | asks a daemon |
//! | [`daemon`] | starts one and ends it |
//! | [`machine`] | folders that are thrown away, and the environment that goes with them |
//! | [`tools`] | what is installed, and what was left out |
//! | [`project`] | a fixture, copied |
//! | [`expected`] | what a daemon must find in the fixtures |
//! | [`fake`] | a daemon that misbehaves on purpose |

pub mod client;
pub mod daemon;
pub mod expected;
pub mod fake;
pub mod machine;
pub mod project;
pub mod tools;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// Why a run shows nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not built.
    #[error("there is no {}: build it with `just build`", .0.display())]
    Unbuilt(PathBuf),
    /// What the set-up should have left is not there.
    #[error("{0} is missing: run `just checks-setup`")]
    Missing(String),
    /// The daemon did not listen.
    #[error("the daemon did not listen within {} s", .0.as_secs())]
    Deaf(Duration),
    /// The daemon ended before it listened.
    #[error("the daemon ended before it listened, with {0}")]
    Ended(String),
    /// The daemon did not end.
    #[error("the daemon did not end within {} s", .0.as_secs())]
    Lingers(Duration),
    /// No answer came.
    #[error("there was no answer to {method} within {} s", limit.as_secs())]
    Silent {
        /// What was asked.
        method: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The connection ended.
    #[error("the daemon closed the connection without an answer to {0}")]
    Closed(String),
    /// The answer is an error.
    #[error("the daemon answered with an error: {0}")]
    Refused(Value),
    /// The answer makes no sense.
    #[error("the daemon answered what makes no sense: {0}")]
    Nonsense(String),
    /// Files could not be laid out or read.
    #[error("{0}")]
    Files(#[from] io::Error),
}
