//! The tests of the host.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod documented;
mod embed;
mod opening;
mod types;
