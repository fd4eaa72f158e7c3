//! Shell text in; commands, words and effects out.
//!
//! This crate reads what an agent is about to run and says which simple commands it holds, with their words
//! resolved as far as they are certain, the directory they run in and what they do to which paths. It runs
//! nothing, opens nothing and knows no clock, so the same text with the same facts always gives the same answer.
//!
//! It may say *unknown*; it may not be wrong. What it cannot resolve is [`Value::Unknown`] with the reason, and a
//! text that does not parse is not waved through: it is scanned token by token and marked, see [`Script::unparsed`].
//!
//! ```
//! use toolgate_shell::{Facts, parse};
//!
//! let facts = Facts::new("/home/dev/project").home("/home/dev");
//! let script = parse("cd src && sudo rm -rf \"$HOME/.cache\"", &facts);
//! let rm = script.commands.iter().find(|command| command.program() == Some("rm")).unwrap();
//! assert_eq!(rm.via, ["sudo"]);
//! assert_eq!(rm.cwd.as_deref(), Some("/home/dev/project/src"));
//! assert_eq!(rm.words[2].known(), Some("/home/dev/.cache"));
//! ```
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `walk` | the commands of a text, state on the way | what a command means |
//! | `scan` | what is too long, too deep or no shell text | anything that parses |
//! | `word` | one word's value | which words a command has |
//! | `wrapper` | which programs run other programs, as a table | running them |
//! | `effect` | what a command does to which paths, as a table | whether that is allowed |
//! | `path` | joining and cleaning paths as text | asking the file system |

mod effect;
mod path;
mod scan;
mod walk;
mod word;
mod wrapper;

pub use effect::{Access, Effect, effects};
pub use path::absolute;
pub use walk::{Command, Facts, Joiner, Redirect, RedirectKind, Script, parse};
pub use word::{Span, Value, Why, Word};
