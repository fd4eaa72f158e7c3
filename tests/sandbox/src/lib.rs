//! Where the tests run what a guard judges, and what they tell by it. It knows nothing of guards.
//!
//! | Module | For |
//! |---|---|
//! | [`sandbox`], [`tree`] | a throw-away home folder to run a text in, and its files before and after |
//! | [`label`] | what counts as harm |
//! | [`disguise`] | a table: how a text that runs is hidden |
//! | [`quote`], [`Random`] | what texts are filled with: quoted words, and numbers from a seed |

pub mod disguise;
pub mod label;
pub mod quote;
mod random;
pub mod sandbox;
pub mod tree;

pub use random::Random;

/// The home folder of every case.
pub const HOME: &str = "/home/dev";

/// The folder, and the workspace, of every case that names none.
pub const PROJECT: &str = "/home/dev/project";
