//! The tests of the shared terminal.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

#![allow(clippy::unwrap_used, reason = "the helpers of tests, too, fail by a panic")]

mod cases;
mod common;
mod gate;
mod panes;
mod running;
mod user;
