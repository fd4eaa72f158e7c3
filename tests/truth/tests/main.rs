//! The tests of the shell engine against bash.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod engine;
mod harness;
