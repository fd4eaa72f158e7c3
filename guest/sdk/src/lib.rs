//! Writes plugins for toolgate in Rust.
//!
//! A plugin is a type that implements [`Plugin`] and a trait for each hook that it wants; [`plugin!`] exports these and
//! nothing else. A hook that is not exported is never called and costs nothing.
//!
//! ```
//! use toolgate_sdk::{Call, Gate, Plugin, Verdict};
//!
//! #[derive(Default)]
//! struct NoForce;
//!
//! impl Plugin for NoForce {}
//!
//! impl Gate for NoForce {
//!     fn judge(&mut self, call: &Call) -> Verdict {
//!         let analysis = call.analysis().unwrap_or_default();
//!         let forced = analysis.commands.iter().find(|command| {
//!             command.program() == Some("git") && command.subcommand() == Some("push") && command.has("--force")
//!         });
//!         match forced {
//!             Some(command) => Verdict::block("no-force", "Others may have fetched what this replaces.").at(call, command),
//!             None => Verdict::pass(),
//!         }
//!     }
//! }
//!
//! toolgate_sdk::plugin!(NoForce: gate);
//!
//! let call = Call::shell("git push --force", r#"{"commands":[{"name":"git","args":["push","--force"]}]}"#);
//! assert_eq!(NoForce.judge(&call).decision.reason(), Some("Others may have fetched what this replaces."));
//! ```
//!
//! The example runs as it stands: the traits are over plain types, so that a plugin's logic is tested without
//! WebAssembly. Only what [`plugin!`] makes is for `wasm32-unknown-unknown`:
//!
//! ```text
//! cargo build --release --target wasm32-unknown-unknown
//! toolgate plugin test target/wasm32-unknown-unknown/release/NAME.wasm
//! ```
//!
//! | Hook in [`plugin!`] | Trait | Called |
//! |---|---|---|
//! | `gate` | [`Gate`] | before a tool runs |
//! | `permission` | [`Permission`] | when the agent asks for permission |
//! | `memory` | [`Memory`] | after `gate`, for what later calls are to know |
//! | `observer` | [`Observer`] | after a tool ran |
//! | `execution` | [`Execution`] | while a tool runs |
//! | `turns` | [`Turns`] | when the agent has finished |
//! | `timer` | [`Timer`] | when a time has come |
//! | `tracker` | [`Tracker`] | for programs that change what is followed |
//! | `predicate` | [`Predicate`] | when a rule asks |
//! | `tools` | [`Tools`] | for tools of the plugin's own |
//! | `handover` | [`Handover`] | when a newer version takes over |
//!
//! What a plugin may ask the host for is in [`host`]: what is used there is what the plugin asks the user to grant.
//!
//! The contract's texts are read from `wit/v0.1` when this crate is built for WebAssembly. `wit` is a link to the folder of that
//! name in the repository, which `cargo package` follows.

mod analysis;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod bindings;
mod call;
#[cfg(target_family = "wasm")]
mod convert;
mod error;
mod export;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod glue;
mod hooks;
pub mod host;
mod predicate;
mod session;
mod tracker;
mod verdict;

pub use analysis::{Analysis, Command, Effect, Runs, Span, Unknown, Word};
pub use call::{Addition, Call, Ended, Event, Events, Field, Kind, Tool, ToolOutput, ToolResult, Turn, Updated};
pub use error::Error;
pub use hooks::{
    Execution, Gate, Handover, Memory, Observer, Permission, Plugin, Predicate, Timer, Tools, Tracker, Turns,
};
pub use predicate::{About, PredicateRequest, Truth};
pub use serde_json;
pub use session::{Diagnostic, Level, Session, Started};
pub use tracker::{Follows, Modifier, ModifierRequest, Scope, Subshell};
pub use verdict::{Action, Decision, Evidence, Finding, Verdict};
