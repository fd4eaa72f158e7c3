//! Damage control: rule files, path policy, verdict.
//!
//! - `rules`: reads rule files; a rule that is wrong drops alone and is reported
//! - `path_rules`: which rule a path falls under
//! - `view`: the texts that patterns are tried on, and the way back to the original positions
//! - `judge`: puts them together

mod judge;
mod path_rules;
mod rules;
mod view;

pub use judge::{Guard, Links, NoLinks};
pub use rules::{Layer, Problem};
