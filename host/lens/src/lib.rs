//! The check daemon: formatters, linters, type checkers and language servers over the files that an agent changed.
//!
//! One daemon serves one project. It is asked over a Unix socket in JSON-RPC, one object a line, and answers what a
//! person or a model can read, with a status for each kind of check. It never changes a source file. What a compiler keeps
//! for its next run is in the user's cache, but for what clippy builds: that is in Cargo's target folder, as always.
//!
//! What a project owns (its `node_modules`, configuration that is code, build scripts, macros) runs only in a folder
//! that the user trusted.

mod cache;
mod check;
mod detect;
mod life;
pub mod lsp;
pub mod node;
mod plain;
pub mod process;
pub mod project;
mod protocol;
mod read;
pub mod report;
mod residents;
mod server;
mod socket;
mod text;
mod tools;
pub mod trust;

pub use server::serve;
