//! What the tests of every crate use.
//!
//! | Module | Use |
//! |---|---|
//! | [`cases`] | a test over a data file reports every case that fails, with file and line |
//! | [`git`] | repositories, and files in them |
//! | [`known`] | cases that are known to come out wrong are named one by one |
//! | [`skip`] | a test that cannot run here says so, and is counted |
//! | [`process`] | a test that needs a process of its own gets one |
//!
//! The standard harness cannot add tests at run time. A harness that can would need a program of its own per crate, or every
//! `#[test]` in a crate rewritten for it; linking a second program costs more than it gives. So a data file is one test, which
//! runs all of its cases, and `TOOLGATE_CASE` selects among them.

pub mod cases;
pub mod git;
pub mod known;
pub mod process;
pub mod skip;
