//! Measures the guard, natively and without a host: how much of what does harm it stops, and how much of what does
//! none it touches.
//!
//! | Module | For |
//! |---|---|
//! | `judge` | one command to one verdict, and the sums of many |
//! | [`sessions`] | commands that agents really ran, from recordings |
//! | [`score`] | labelled commands, the wrong labels among them, and the table of both |
//! | [`known`] | the cases in which the guard is known to differ from the label, one by one |
//! | [`benign`] | the commands that packages hold: what people run every day |
//! | [`extract`] | which commands a file holds: CI steps, recipes, scripts, documentation |
//! | [`deeds`], [`disguise`], [`data`] | tables: what is done, how it is hidden, how the same is only said |
//! | `quote`, `random` | what the tables are filled with: quoted words, and numbers from a seed |
//! | [`cases`] | composes cases from the tables |
//! | [`sandbox`], [`tree`] | a throw-away home folder to run a case in, and its files before and after |
//! | [`label`] | what counts as harm |
//! | [`truth`] | runs cases and adds up what was made of them |

pub mod benign;
pub mod cases;
pub mod data;
pub mod deeds;
pub mod disguise;
pub mod extract;
mod judge;
pub mod known;
pub mod label;
mod quote;
mod random;
pub mod sandbox;
pub mod score;
pub mod sessions;
pub mod tree;
pub mod truth;

pub use judge::{Count, Judge, Stopped, Verdict};
pub use random::Random;

/// The home folder of every case.
pub const HOME: &str = "/home/dev";

/// The folder, and the workspace, of every case that names none.
pub const PROJECT: &str = "/home/dev/project";
