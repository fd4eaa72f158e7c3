//! The guest: everything that decides.
//!
//! Built for `wasm32-unknown-unknown` this crate is the component that Toolgate runs; it imports the capabilities
//! of `toolgate:plugin` and nothing else. Built natively it is the same logic as a library, for tests and benches.
//!
//! - [`analysis`]: what a shell text does, as JSON
//! - [`lens`]: what the agent changed is checked, and what came of it goes back
//! - [`shared_terminal`]: the shell that the user sees, and types in, too
//! - [`notice`]: what a person sees of it without asking
//!
//! How a call is judged is in `toolgate-rules`, how a shell text is read in `toolgate-shell`.
//!
//! - `component`: the only module that knows the contract's generated types; not in native builds

pub mod analysis;
pub mod lens;
pub mod notice;
pub mod shared_terminal;

#[cfg(target_family = "wasm")]
mod component;
