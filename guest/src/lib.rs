//! The guest: everything that decides.
//!
//! Built for `wasm32-unknown-unknown` this crate is the component that Toolgate runs; it imports the capabilities
//! of `toolgate:plugin` and nothing else. Built natively it is the same logic as a library, for tests and benches.
//!
//! - [`call`]: what is judged, and what comes of it
//! - [`guard`]: damage control: rules and paths to a verdict
//! - `component`: the only file that knows the contract's generated types; not in native builds

pub mod call;
pub mod guard;

#[cfg(target_family = "wasm")]
mod component;
