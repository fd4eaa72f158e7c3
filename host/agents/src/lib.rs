//! Coding agents: how each of them speaks, and what is written into its settings so that it asks Toolgate.
//!
//! | Module | For |
//! |---|---|
//! | `agent` | one file per agent: its JSON to the contract's types and back |
//! | `dirs` | where things are: rule files, the log, permissions |
//! | `failure` | errors for a person, with their exit codes |
//! | `settings` | what `toolgate install` writes, and what else an agent's settings say about its hooks |
//! | `shim` | what pi and OpenCode load into their own process |
//! | `text` | untrusted text as it is put before people and agents |

pub mod agent;
pub mod dirs;
mod failure;
pub mod settings;
pub mod shim;
pub mod text;

pub use failure::{Failure, exit};
