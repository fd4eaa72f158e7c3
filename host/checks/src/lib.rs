//! The check daemon: formatters, linters, type checkers and language servers over the files that an agent changed.
//!
//! One daemon serves one project. It is asked over a Unix socket in JSON-RPC, one object a line, and answers what a
//! person or a model can read, with a status for each kind of check. It never changes a source file.
//!
//! What is written: its socket, in the folder that the client names; what tsc and mypy keep for their next run, in
//! `$XDG_CACHE_HOME/toolgate/lens` (else below `~/.cache`), where what was not used for 30 days is removed when a daemon
//! starts; what clippy builds, in the project's `target`, as always, but never a `Cargo.lock`. Tools that a project
//! configures or runs may write more, as they do when the user runs them, and so may the compilers of Go into `GOCACHE`.
//!
//! What a project owns (its `node_modules`, configuration that is code, build scripts, macros) runs only in a folder
//! that the user trusted.

mod cache;
mod check;
mod detect;
#[doc(hidden)]
pub mod fuzzing;
mod life;
pub mod lsp;
mod marker;
pub mod node;
mod plain;
pub mod process;
pub mod project;
mod protocol;
pub mod report;
mod residents;
mod server;
mod socket;
mod text;
mod tools;
pub mod trust;

pub use server::serve;
