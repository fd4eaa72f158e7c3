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
//! | `command` | what is found in a text, as data: commands, redirects, effects | finding it |
//! | `abstract_value` | what a variable, an argument or the directory may be | when it changes |
//! | `interpreter` | the commands of a text, state on the way | what a command means |
//! | `scan` | what is too long or no shell text | anything that parses |
//! | `arithmetic` | expressions on known texts | files |
//! | `compiled` | whether the source of a program calls what its language has for files and processes | its grammar |
//! | `make`, `just`, `cmake` | what a makefile, a justfile or a file of cmake's commands runs | running make, just or cmake |
//! | `file_action` | what the action of a tool that has no text does to which paths | what a command does |
//! | `patch` | the files that a patch for `apply_patch` names | applying it |
//! | `foreign` | what texts for PowerShell, cmd and other shells outside the Bourne family share with bash | reading their grammar |
//! | `powershell` | which texts for PowerShell only read | what others do |
//! | `wrapper` | which programs run other programs, as a table | running them |
//! | `effect` | what a command does to which paths, as a table | whether that is allowed |
//! | `tracker` | state that others add: a branch, a cluster | the directory and the variables, which the walk has |
//! | [`tables`] | which programs the tables of `wrapper` and `effect` know | what they know |
//! | `files`, `hints` | which files a text writes, and how their paths are shown | what a command does |
//! | `facts` | what the caller knows | asking the file system |
//!
//! The grammar, words and paths are in `toolgate-shell-syntax`, scripts in other languages in `toolgate-scripts`.
//!
//! # What is assumed
//!
//! With facts about files ([`Facts::files`]) nothing is assumed: a directory that may not be there makes what follows
//! unknown. Without them `cd` succeeds and no links are in the way; where it would fail, [`Command::folders`] has the
//! directory that it leaves. Facts that do not know the directory itself are of another machine and are not used. An
//! unset variable is unknown unless the environment is [complete](Facts::complete).
//!
//! Every shell is taken for bash, and not in its posix mode. A text for `sh` is read as dash does, too, where that may differ;
//! `sh` is then one of both for all that runs inside. What zsh does otherwise is known in part, and read where the facts
//! say that it [may be zsh](Facts::perhaps_zsh). Of what an assignment makes another program run, texts for a shell are
//! followed (`GIT_SSH_COMMAND`, `PAGER`) and a `BASH_ENV` that the text wrote; libraries (`LD_PRELOAD`) are not.
//!
//! The environment is the user's. A text for a shell is read with a value that it has of there in its place (`sh -c "make
//! $X"`), as words and never as what separates them, if the source names the variable nowhere but to expand it; a program that
//! such a value names is unseen. What a script that was there before writes is taken for the project's own if it is run
//! by its path and told nothing but options and settings.
//!
//! # Bounds
//!
//! | What | Bound | Beyond it |
//! |---|---|---|
//! | text | 1 MiB | scanned token by token, [`Script::unparsed`] |
//! | nesting of syntax; commands inside commands | 100 levels of the parser; 24 | the same |
//! | commands listed; steps taken | 20 000; 200 000 | the same |
//! | values put into words | 4 MiB in all, 64 KiB each | [`Why::TooMuch`] |
//! | words out of braces | 1 024 a word | [`Why::TooMuch`] |
//! | rounds of a loop one by one | 256 | what the rest may change is unknown |
//! | calls of a function inside itself | 8 | the same, and the call is [opaque](Command::opaque) |
//! | variables | 4 000 | the text counts as unparsed |
//! | files that are kept apart | 400 | unknown |
//! | values of a variable followed at a time | 12 | unknown |
//! | directories followed at a time; their depth | 13; 32 | unknown |
//!
//! Where other readers of shell text stop is in `docs/internals/shell-readers.md`.

mod abstract_value;
mod arithmetic;
mod cmake;
mod command;
mod compiled;
mod effect;
mod facts;
mod file_action;
mod files;
mod foreign;
mod hints;
mod host;
mod interpreter;
mod just;
mod make;
mod patch;
mod powershell;
mod program_words;
mod scan;
mod shared;
mod succession;
mod tracker;
mod wrapper;

pub use command::{
    Command, Effect, EffectKind, FileAction, Foreseen, Joiner, Named, Redirect, RedirectKind, Runs, SUBSTITUTION,
    Script, Variables,
};
pub use effect::is_system;
pub use facts::{Facts, FileOracle, Presence};
pub use file_action::{ToolPath, file_action};
pub use files::{Files, detect_files};
pub use foreign::{ForeignShell, looks_like_powershell};
pub use hints::{extract_shell_path_hints, hints, normalize_path};
pub use interpreter::{parse, parse_foreign, resolve_word, runs_in_shell};
pub use patch::patch;
pub use program_words::{Operand, ProgramWords};
pub use shared::{Empty, Shared};
pub use succession::Succession;
pub use toolgate_shell_syntax::path::{absolute, is_within};
pub use toolgate_shell_syntax::word::{Span, Value, Why, Word};
pub use tracker::{Modifier, NameTaken, Scope, Snapshot, Subshell, Tracker, Trackers};
