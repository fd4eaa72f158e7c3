//! The tests of the check daemon.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod common;
mod daemon;
mod lsp;
mod lsp_real;
mod untrusted;
