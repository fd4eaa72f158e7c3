//! The guest: everything that decides.
//!
//! Built for `wasm32-unknown-unknown` this crate is the component that Toolgate runs; it imports the capabilities
//! of `toolgate:plugin` and nothing else. Built natively it is the same logic as a library, for tests and benches.
//!
//! - [`call`]: what is judged, and what comes of it
//! - [`guard`]: damage control: rules and paths to a verdict
//! - [`analysis`]: what a shell text does, as JSON
//! - [`facts`]: what is known of paths, from what the host answers
//! - [`lens`]: what the agent changed is checked, and what came of it goes back
//! - [`mirror`]: the shell that the user sees, and types in, too
//! - [`notice`]: what a person sees of it without asking
//! - [`peers`]: trackers and predicates of other components
//! - `component`: the only module that knows the contract's generated types; not in native builds

pub mod analysis;
pub mod call;
pub mod facts;
pub mod guard;
pub mod lens;
pub mod mirror;
pub mod notice;
pub mod peers;

#[cfg(target_family = "wasm")]
mod component;
