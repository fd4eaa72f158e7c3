//! `daemon`: speaks with the project's check daemon.

mod local;
mod place;
mod program;
mod wire;

pub use local::LocalDaemon;
