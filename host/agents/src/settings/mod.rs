//! What `toolgate install` writes so that an agent calls Toolgate, and what else an agent's settings say about its hooks.
//!
//! | Module | For |
//! |---|---|
//! | `before` | what a file was before Toolgate was put in it |
//! | `created_folders` | the folders that were made for such files |
//! | `file` | changing a file so that nothing is lost |
//! | `folder` | whether an agent trusts the folder |
//! | `hooks` | agents with entries in a JSON file |
//! | `link` | the link by which an agent calls its hook |
//! | `off` | settings that switch an agent's hooks off |
//! | `program` | where the program is, and which commands are it |
//! | `risks` | why an agent may leave out hooks that are right |
//! | `shims` | agents that load a file of ours |
//! | `table` | which agent has what where |
//! | `trust` | whether the user trusts hooks of ours |

pub mod before;
pub mod created_folders;
pub mod file;
pub mod folder;
pub mod hooks;
pub mod link;
pub mod off;
pub mod program;
pub mod risks;
pub mod shims;
pub mod table;
pub mod trust;
