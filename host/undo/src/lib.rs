//! Saves what a tool call changes before it runs, and restores it.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | [`model`] | what is kept of a call | where |
//! | [`limits`] | how much is saved, and for how long | |
//! | [`objects`] | contents of files, by their sha256 | whose they are |
//! | [`store`] | the entries of calls in the user's state folder | what is in them |
//! | [`files`] | what is at a path and below, and saving it | which paths |
//! | `nofollow` | files and folders, opened and changed without passing a link | which |
//! | `git` | the git that is asked, and reading what it says | running it |
//! | [`snapshot`] | a workspace as git sees it, in an object folder of our own | files that git ignores |
//! | `modes` | the permissions of the files in a snapshot | their content |
//! | [`history`] | refs, stash and index of a repository | files |
//! | [`restore`] | putting files back, and what stands in the way | which |
//! | [`calls`] | a call from before it runs to what it left | putting it back |
//! | [`undo`] | what has to be put back for calls, and doing it | how a file is put back |
//! | [`error`] | why something was not saved or restored | |
//!
//! Nothing here judges. Where something cannot be saved, that is said, and the call is judged as if it could not be undone.

pub mod calls;
pub mod error;
pub mod files;
mod git;
pub mod history;
pub mod limits;
pub mod model;
mod modes;
mod nofollow;
pub mod objects;
pub mod restore;
pub mod snapshot;
pub mod store;
pub mod undo;

#[cfg(test)]
mod testing;

pub use error::UndoError;
pub use limits::Limits;
