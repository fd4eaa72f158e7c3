//! What `toolgate install` writes so that an agent calls Toolgate, and what else an agent's settings say about its hooks.
//!
//! | Module | For |
//! |---|---|
//! | `backups` | what a file was before Toolgate was put in it |
//! | `created_folders` | the folders that were made for such files |
//! | `file` | changing a file so that nothing is lost |
//! | `folder` | whether an agent trusts the folder |
//! | `hook_disablers` | settings that switch an agent's hooks off |
//! | `hook_failures` | why an agent may leave out hooks that are right |
//! | `hook_trust` | whether the user trusts hooks of ours |
//! | `hooks` | agents with entries in a JSON file |
//! | `link` | the link by which an agent calls its hook |
//! | `program` | where the program is, and which commands are it |
//! | `shims` | agents that load a file of ours |
//! | `table` | which agent has what where |

pub mod backups;
pub mod created_folders;
pub mod file;
pub mod folder;
pub mod hook_disablers;
pub mod hook_failures;
pub mod hook_trust;
pub mod hooks;
pub mod link;
pub mod program;
pub mod shims;
pub mod table;
