//! The tests of the rules, without WebAssembly.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod cases;
mod changes;
mod file_effects;
mod files;
mod lint;
mod many;
mod options;
mod schema;
mod steering;
mod verdicts;
