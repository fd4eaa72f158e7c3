//! What a component may reach of this machine: the capabilities of Toolgate's contract that run programs, hold sockets or set
//! timers.
//!
//! `toolgate-host` has the traits, the versions that deny, and what a verdict needs: files and the log. A program that embeds a
//! gate can do without this crate; one that grants more takes from it what it grants.
//!
//! ```no_run
//! # fn example() {
//! use toolgate_capabilities::{LocalClock, LocalGit};
//! use toolgate_host::Capabilities;
//! use toolgate_host::capability::{LocalFiles, LocalLog};
//!
//! let granted = Capabilities::denied().files(LocalFiles::new()).log(LocalLog).git(LocalGit).clock(LocalClock::default());
//! # }
//! ```
//!
//! | Module | For | Feature |
//! |---|---|---|
//! | `git` | asks git, run as against a hostile repository | `git` |
//! | `daemon` | starts the project's check daemon, and speaks with it | `daemon` |
//! | `terminal` | panes of tmux | `terminal` |
//! | `clock` | the time, and timers | |
//! | `ui` | messages on standard error | |
//! | [`reload`] | notices that a plugin's file has changed | `reload` |
//!
//! Invariant: nothing here decides who gets what. Arrow: this crate uses `toolgate-host`, and never the other way.

mod clock;
#[cfg(feature = "daemon")]
mod daemon;
#[cfg(feature = "git")]
mod git;
#[cfg(feature = "reload")]
pub mod reload;
#[cfg(feature = "terminal")]
mod terminal;
mod ui;

pub use clock::LocalClock;
#[cfg(feature = "daemon")]
pub use daemon::LocalDaemon;
#[cfg(feature = "git")]
pub use git::{LocalGit, elsewhere};
#[cfg(feature = "terminal")]
pub use terminal::{LocalTerminal, Typing, tmux_version};
pub use ui::StderrUi;
