//! The tests of the command: each runs it as an agent or a person does.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod agents;
mod allow;
mod command;
mod environment;
mod install;
mod lens;
mod mcp;
mod person;
mod plugin;
mod rules;
mod scene;
mod screens;
mod serve;
mod setup;
mod steering;
mod undo;
mod watch;
