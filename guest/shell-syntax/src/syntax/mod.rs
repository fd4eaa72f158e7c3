//! The grammar of bash: text to tree.
//!
//! Our own parser rather than a library's, because everything else is as right as this is: positions in bytes through
//! every nesting, heredocs inside substitutions, `( (` against `((`, `!(` without extended globs, and no input on
//! which it panics. How deep a text nests, and how much of it is gone through for ends that are not there, is bounded;
//! it gives up beyond that. What bash rejects it may accept (an extended glob), and what it rejects is never waved
//! through.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `tree` | what a text consists of | values |
//! | `commands` | lists, pipelines, compound commands, redirects | the inside of a word |
//! | `words` | quotes and expansions of one word | what they come to |

mod commands;
mod tree;
mod words;

pub use commands::{Base, Parsed, parse};
pub use tree::*;

#[cfg(test)]
mod tests;
