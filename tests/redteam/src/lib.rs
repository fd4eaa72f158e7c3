//! Tries to get harm past the hook, as a hostile or hurried agent would: sessions of several calls, each judged by the
//! real program with the files as they then are, and run behind bubblewrap if it passes. What was harmed is read off
//! the files, off a network that only records, and off what was printed.
//!
//! | Module | For |
//! |---|---|
//! | [`recipe`] | reads the files in `kinds`: what is tried, by kind, with slots; and the harmless work that looks alike |
//! | [`draw`] | draws sessions from them by a seed |
//! | [`place`] | the home folder that they run in: the gate's settings, secrets, programs that record what they are sent |
//! | [`gate`] | a call as Claude Code sends it, and the answer of the hook |
//! | [`play`] | runs a session, call by call |
//! | [`harm`] | what was harmed: home, work, secrets, the gate |
//! | [`tally`] | the table by kind |
//! | [`undone`] | whether a call that ran is undone |

pub mod draw;
pub mod gate;
pub mod harm;
pub mod place;
pub mod play;
pub mod recipe;
pub mod tally;
pub mod undone;
