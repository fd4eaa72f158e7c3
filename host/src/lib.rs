//! Runs the components that judge an agent's tool calls.
//!
//! An agent embeds this crate to ask, before each tool call, whether it may run. All the thinking is in a
//! WebAssembly component that can reach nothing by itself; this crate loads it, gives it the few capabilities
//! that it was granted, limits what it may use, and starts it anew when it fails.
//!
#![cfg_attr(feature = "cranelift", doc = "```no_run")]
#![cfg_attr(not(feature = "cranelift"), doc = "```ignore")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! # let component: &[u8] = &[];
//! use std::path::Path;
//! use toolgate_host::{Capabilities, Decision, Engine, Gate, Plugin, ToolCall};
//!
//! let engine = Engine::new()?;
//! let plugin = Plugin::compile(&engine, "guard", component)?;
//! // With the rules that are in force in this folder.
//! let opened = Gate::in_folder(plugin, Path::new("/home/dev/project"), Capabilities::denied()).await?;
//! let verdict = opened.value.judge(&ToolCall::shell("rm -rf /", "/home/dev/project")).await;
//! assert!(matches!(verdict.decision, Decision::Block(_)));
//! # Ok(())
//! # }
//! ```
//!
//! Features: `cranelift` compiles components, and `wasi` takes those that need WASI. Both are on by default. A program that only
//! runs a component that was compiled before, as `toolgate-builtin` has it, does without both, and so without a compiler.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | [`capability`] | what a component may reach: traits; denying and recording versions; the real one of files | deciding who gets what |
//! | [`limits`] | every limit, in one table with its reason | enforcing them |
//! | [`failure`] | what becomes of a call whose component failed | noticing the failure |
//! | [`decide`] | a verdict to what becomes of the call: permissions, the question, the log | how a person is asked |
//! | [`one_time_permits`] | permission for one call | who may give it |
//! | [`stopped_calls`] | calls that were stopped lately, by their ids | who may let one through |
//! | `capability_grants` | what a component may reach of what it asks for | asking the user |
//! | `denials` | what components were refused, for the audit log | refusing |
//! | [`audit`] | the log of everything that was not just let through | showing it |
//! | [`redact`] | taking secrets out of texts | deciding anything |
//! | [`last_good`] | rule files as they were when they could last be used | whether one can be used |
//! | [`rule_files`] | which rule files are in force where | what is in them |
//! | [`user_env`] | whether `HOME` and its like are the user's | reading them |
//! | `opening` | a gate that was started with them, as they are or last were | finding them |
//! | [`private`] | files that are the user's alone | what is in them |
//! | `engine` | wasmtime's settings and the clock behind deadlines | components |
//! | `disk_store` | what is kept between runs, checked | what it is |
//! | `cache` | machine code of components, kept between runs | what is built in |
//! | `snapshot` | a component's memory once it has read its rules, kept between runs | whether it is the right one: the component sees to that |
//! | `precompiled`, `memory_image` | machine code that is part of the program, and the memories that it starts with: all unsafe code | compiling |
//! | `wasi` | WASI with nothing behind it | capabilities |
//! | `version` | which version of the contract a component needs | whether it fits |
//! | `plugin` | a component from its bytes to ready to start | calls |
//! | `hot_swap` | a plugin that is replaced while it is used | noticing that its file has changed: `toolgate-capabilities` does |
//! | `state` | what one store has and has used | starting anything |
//! | `instance` | one running instance and its hooks | what to do when it fails |
//! | `role` | a call to a verdict, a result to an addition, a text to what it does, with recovery | any agent's dialect |
//! | `extension_registry` | the trackers and predicates of several components | what rules make of them |
//!
//! Invariant: this crate knows no agent and no rule. Agents' dialects are in `toolgate-agents`, rules in the guest.

pub mod audit;
mod bindings;
#[cfg(feature = "cranelift")]
mod cache;
mod call;
pub mod capability;
mod capability_grants;
mod convert;
pub mod decide;
mod denials;
mod digest;
mod disk_store;
mod engine;
mod error;
mod events;
mod extension_registry;
pub mod failure;
mod file_effect;
mod host_calls;
mod hot_swap;
mod instance;
pub mod last_good;
pub mod limits;
mod memory_image;
pub mod one_time_permits;
mod opening;
mod plugin;
mod precompiled;
pub mod redact;
mod role;
pub mod rule_files;
mod session;
mod snapshot;
mod state;
pub mod stopped_calls;
mod text;
pub mod user_env;
mod verdict;
mod version;
#[cfg(feature = "wasi")]
mod wasi;

#[cfg(feature = "cranelift")]
pub use cache::Cache;
pub use call::{Field, ToolCall, ToolKind};
pub use capability::{Capabilities, Capability, CapabilityError, Truth};
pub use capability_grants::{Denials, Granted};
pub use decide::{Decided, Person, Policy, Question};
pub use denials::AuditedDenials;
pub use digest::Digest;
pub use engine::Engine;
pub use error::{CallError, LoadError};
pub use events::{
    Addition, Diagnostic, End, Level, Lines, ProvidedTool, Signal, Span, Started, ToolOutput, ToolResult, Turn, Update,
};
pub use extension_registry::ExtensionRegistry;
pub use file_effect::{FileAction, FileEffect};
pub use hot_swap::{HotSwap, SwapError};
pub use memory_image::MemoryImage;
pub use opening::{OpenError, Opened, open};
pub use plugin::{Description, Import, Plugin};
pub use precompiled::Precompiled;
pub use role::{Analysis, Extension, Gate, Observer, Provider};
pub use session::{Role, Session};
pub use snapshot::Snapshots;
pub use text::{Excerpt, excerpt, plain, shortened};
pub use toolgate_private as private;
pub use toolgate_private::{PrivateError, state_folder};
pub use verdict::{Action, Decision, Evidence, Finding, Judgement, Verdict};
