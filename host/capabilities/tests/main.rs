//! Capabilities of this machine, with the programs that they run.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod git;
mod terminal;
