//! The tests of the guest, without WebAssembly.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod analysis;
mod lens;
mod shared_terminal;
