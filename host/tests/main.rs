//! The tests of the host. One program for all of them: linking is most of what building tests takes.

mod embed;
mod git;
mod terminal;
