//! Runs the real agents: each in a sandbox without a network, in a home folder that is thrown away, with a model that
//! follows a script. Every scenario is run twice. Without Toolgate the damage must really happen, or the scenario shows
//! nothing; with it the victim must survive and the model must be told why.
//!
//! Only the built command is used, as a user would. Nothing here links the host, so that it builds in seconds.
//!
//! | Module | What it is |
//! |---|---|
//! | [`model`], [`dialect`] | the scripted model, and the APIs it speaks |
//! | [`client`] | the agents, a file each |
//! | [`scenario`] | what is played, and how a pair of runs is judged |
//! | [`place`], [`sandbox`] | the home folder, and the walls round it |
//! | [`play`] | one run, inside |
//! | [`tmux`] | the panes, for the scenarios with a shared terminal |
//! | [`install`], [`table`] | the agents from npm, and the result |

pub mod client;
pub mod dialect;
pub mod install;
pub mod model;
pub mod place;
pub mod play;
pub mod sandbox;
pub mod scenario;
pub mod table;
pub mod tmux;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a run shows nothing at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program of the machine is missing.
    #[error("{0} is not installed, and the agents are only run with it")]
    Missing(&'static str),
    /// There is nothing to test.
    #[error("there is no {}: build it with `just build`, or name another with --toolgate", .0.display())]
    Unbuilt(PathBuf),
    /// npm's registry does not answer.
    #[error("npm's registry does not answer, and {0} is not in the cache: {1}")]
    Unreachable(String, String),
    /// npm failed.
    #[error("npm could not install {0}: {1}")]
    Install(String, String),
    /// Files could not be laid out or read.
    #[error("{0}")]
    Files(#[from] io::Error),
    /// The sandbox did not start, or what runs in it failed.
    #[error("the sandbox: {0}")]
    Sandbox(String),
    /// A run did not end.
    #[error("the sandbox did not end within {} s and was killed", .0.as_secs())]
    Late(Duration),
}
