//! Stands in for the `web-time` crate in this workspace.
//!
//! The real one imports a browser's clock when it is built for `wasm32-unknown-unknown`, and a component host has
//! no browser. Here the types of the standard library take its place. On that target they have no clock behind
//! them and panic when asked for the time, so nothing in the guest may ask: a cache with a lifetime would.

pub use std::time::*;
