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
//! | [`deeds`], [`data`] | tables: what is done, how the same is only said |
//! | [`cases`] | composes cases from the tables |
//! | [`sandbox`], [`tree`], [`label`], [`disguise`], [`quote`] | of `tests/sandbox`: where a case runs, what it did there, how it is hidden |
//! | [`truth`] | runs cases and adds up what was made of them |

pub mod benign;
pub mod cases;
pub mod data;
pub mod deeds;
pub mod extract;
mod judge;
pub mod known;
pub mod score;
pub mod sessions;
pub mod truth;

pub use judge::{Count, Judge, Stopped, Verdict};
pub use toolgate_test_sandbox::{HOME, PROJECT, Random, disguise, label, quote, sandbox, tree};
