//! The tests of the whole system. One program for all of them, as code generation and linking are most of what building
//! tests takes; only `hostile.rs` is apart.

mod captures;
mod component;
mod contract;
mod daemon;
mod dependencies;
mod docs;
mod evolution;
mod examples;
mod failures;
mod modules;
mod narrowed;
mod peers;
mod snapshots;
mod swap;
mod targets;
mod texts;
mod threats;
mod wasi;
