//! `git`: asks git about a worktree.

mod branch;
mod local;

pub use local::{LocalGit, elsewhere};
