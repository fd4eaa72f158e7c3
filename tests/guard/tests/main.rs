//! The tests of the guard over labelled commands, over what packages hold and over what commands really do.
//!
//! One program for all of them: code generation and linking are most of what building tests takes.

mod benign;
mod cases;
mod score;
mod sessions;
mod truth;
