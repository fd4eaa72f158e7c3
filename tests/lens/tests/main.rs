//! The tests of the check daemon over real projects.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod common;
mod fake;
mod planted;
mod real;
mod trouble;
