//! The tests of the shared terminal. One program for all of them: linking is most of what building tests takes.

mod cases;
mod common;
mod gate;
mod panes;
mod running;
mod user;
