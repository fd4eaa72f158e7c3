//! The tests of the shell engine.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod any_text;
mod cases;
mod shared;
mod trackers;
