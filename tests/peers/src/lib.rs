//! Times `toolgate hook` beside the hooks of other guards over the same payloads, and holds what each says against labels.
//!
//! Every program runs as Claude Code runs a hook, configured as its own set-up leaves it, in a home folder of its own.
//! The guards are those that `.ci/peers` leaves in `target/peers`. Nothing of Toolgate's host is linked.
//!
//! | Module | What it is |
//! |---|---|
//! | [`program`] | the programs: how each is installed, set up and called |
//! | [`payload`] | what they are asked, from `payloads.jsonl` or labelled cases |
//! | [`answer`] | what a hook has said |
//! | [`place`] | a sandbox for one program, and the `peer-runner` in it |
//! | [`runner`] | runs a program once and says what it cost |
//! | [`figure`] | medians and the table |
//! | [`machine`] | what it was measured on |

pub mod answer;
pub mod figure;
pub mod machine;
pub mod payload;
pub mod place;
pub mod program;
pub mod runner;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a run shows nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program is not built.
    #[error("there is no {}: build it with `just build`", .0.display())]
    Unbuilt(PathBuf),
    /// The peers were never installed.
    #[error("{} is missing: run `.ci/peers`", .0.display())]
    NotInstalled(PathBuf),
    /// The sandbox cannot be made.
    #[error("bubblewrap could not make the place for {program}: {said}")]
    Sandbox {
        /// For which program.
        program: String,
        /// What it said.
        said: String,
    },
    /// A program did not end.
    #[error("{program} gave no answer to {payload} within {} s", limit.as_secs())]
    Silent {
        /// Which.
        program: String,
        /// What it was asked.
        payload: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// A program could not be set up or started.
    #[error("{program}: {said}")]
    Failed {
        /// Which.
        program: String,
        /// What went wrong.
        said: String,
    },
    /// A line of payloads or cases is none.
    #[error("{}:{line}: {source}", file.display())]
    Payload {
        /// Where.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Files could not be laid out or read.
    #[error("{0}")]
    Files(#[from] io::Error),
}
