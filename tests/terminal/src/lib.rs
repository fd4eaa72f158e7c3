//! Tries the shared terminal with real tmux, bash and zsh: the built command is run as an agent runs it, as an MCP server
//! in a pane of a private tmux server. Nothing of its library is used.
//!
//! | Module | What it is |
//! |---|---|
//! | [`scene`] | a tmux server with an agent's pane, and the command under test as if it ran there |
//! | [`mcp`] | an MCP client |
//! | [`case`] | commands and what they must answer, from `cases.toml` |
//! | [`shell`] | bash and zsh, and the prompts that people have |
//! | [`tmux`] | a private tmux server |
//! | [`capture`] | what a pane shows, as the contract has it |
//! | [`wait`] | waits for what another process does |

pub mod capture;
pub mod case;
pub mod mcp;
pub mod scene;
pub mod shell;
pub mod tmux;
pub mod wait;

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a run shows nothing.
#[derive(thiserror::Error)]
pub enum Error {
    /// The program is not built.
    #[error("there is no {}: build it with `just build`", .0.display())]
    Unbuilt(PathBuf),
    /// What was waited for did not happen.
    #[error("this did not happen in time: {0}")]
    Late(String),
    /// tmux says no.
    #[error("tmux {arguments}: {said}")]
    Tmux {
        /// What it was asked.
        arguments: String,
        /// What it said.
        said: String,
    },
    /// The program ended or closed its output.
    #[error("the program under test has ended; it said: {0}")]
    Ended(String),
    /// The program answered with an error of the protocol.
    #[error("the program under test refused {method}: {error}")]
    Refused {
        /// What was asked.
        method: String,
        /// What it said.
        error: String,
    },
    /// Another process said what makes no sense.
    #[error("this makes no sense: {0}")]
    Nonsense(String),
    /// Files could not be laid out or read, or a process not started.
    #[error("{0}")]
    Files(#[from] io::Error),
}

/// As it reads, because that is what a test that fails prints.
impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
