//! The gatekeeper: from an agent's payload to the verdict on its call and to the answer. What people see in a terminal, and
//! how a command line is read, is in the command.
//!
//! | Module | For |
//! |---|---|
//! | `ancestry` | whether a person or an agent is at this terminal |
//! | `approvals` | what was let through, for the text that a tool types |
//! | `commands` | whether a text runs no more than another |
//! | `evaluator` | who gives verdicts: this process, or the resident host |
//! | `events` | what has happened in a session, for rules that wait for it |
//! | `frames` | questions to a shim and what it is told, as JSON lines |
//! | `fuzzing` | what has to hold of every payload, for the fuzz targets |
//! | `gate_builder` | the gate that is started where a call is |
//! | `gates` | everyone who judges a call |
//! | `hook_files` | files of projects that have an agent ask Toolgate, and those that are gone |
//! | `hook_handler` | from an agent's event to its answer |
//! | `hook_heartbeat` | when an agent's hook was last called |
//! | `judge` | the verdict on a call, in this process |
//! | `lens` | the check daemon of a project: where it is, and what starts it |
//! | `observers` | who writes the events of a session |
//! | `own_files` | the gate's own files, which nobody may change who is judged |
//! | `packs` | which packs of the built-in rules are on |
//! | `path_hints` | the paths that a call is about |
//! | `peer` | whether the process at the other end is a resident host |
//! | `plugin` | components that others wrote: kept and ready for use |
//! | `plugin_tools` | the tools of plugins |
//! | `plugins` | what is in force beside the guard |
//! | `resident` | the guard kept ready for hooks, behind a socket |
//! | `session` | what is kept between the calls of a session |
//! | `terminal_verdicts` | what verdicts leave for the shared terminal |
//! | `watch` | looking at what happens in a session |
//! | `denial_help` | how a person goes on after a denial |

pub mod ancestry;
pub mod approvals;
mod commands;
pub mod denial_help;
pub mod evaluator;
mod events;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
pub mod gate_builder;
pub mod gates;
pub mod hook_files;
pub mod hook_handler;
pub mod hook_heartbeat;
mod judge;
pub mod lens;
mod observers;
mod own_files;
pub mod packs;
pub mod path_hints;
#[cfg(target_os = "linux")]
mod peer;
pub mod plugin;
pub mod plugin_tools;
pub mod plugins;
pub mod resident;
pub mod saving;
mod session;
pub mod terminal_verdicts;
pub mod watch;
