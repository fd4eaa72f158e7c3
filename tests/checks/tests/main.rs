//! The tests of the check daemon over real projects.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

#![allow(clippy::unwrap_used, reason = "the helpers of tests, too, fail by a panic")]

mod common;
mod fake;
mod planted;
mod real;
mod trouble;
