//! The text of a shell as a tree, and the small values that everything above works with.
//!
//! It says how a text is built and not what it does. It runs nothing, opens nothing and knows no variables.
//!
//! ```
//! use toolgate_shell_syntax::syntax::{Base, NodeKind, parse};
//!
//! let parsed = parse("rm -rf build # old", Base::default(), 0).unwrap();
//! let NodeKind::Simple { words, .. } = &parsed.list.items[0].first.commands[0].kind else { panic!() };
//! assert_eq!(words.iter().map(|word| word.plain().unwrap()).collect::<Vec<_>>(), ["rm", "-rf", "build"]);
//! assert_eq!(parsed.comments.len(), 1);
//! ```
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | [`syntax`] | text to tree | values |
//! | [`word`] | one word's value | which words a command has |
//! | [`glob`] | patterns on known texts | files |
//! | [`path`] | paths as text | asking the file system |
//! | [`decode`] | base64, hexadecimal digits, URLs | anything that is no text |

pub mod decode;
pub mod glob;
pub mod path;
pub mod syntax;
pub mod word;
