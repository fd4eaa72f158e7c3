//! The tests of the shell engine against bash. One program for all of them: linking is most of what building tests takes.

mod engine;
mod harness;
