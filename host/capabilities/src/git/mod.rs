//! `git`: asks git about a work tree.

mod branch;
mod local;

pub use local::{ELSEWHERE, LocalGit};
