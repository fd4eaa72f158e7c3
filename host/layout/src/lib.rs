//! Which functions of the command a call runs, in the order of their first use, for the linker to put them together.
//!
//! The linker leaves functions in the order of the crates that they are from, so what one call runs lies all over 30 MB,
//! and every place costs a page fault, which maps 64 KiB. Linked in this order it lies in one piece.
//!
//! What runs is found by running it: everyday calls, in a home folder of their own, with a breakpoint on each function.

#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

mod calls;
mod image;
mod order;
mod trace;

pub use image::Image;
pub use order::{run, write};
pub use trace::{Entered, NOT_ALLOWED, TRACED, become_traced};
