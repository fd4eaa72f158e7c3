//! git itself, run as against a hostile repository.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `process` | [`Git`]: a child process with settings, limits and a deadline | what is asked |
//! | `repository` | [`Repository`]: where a folder's repository is, and asking it | reading the answers |
//! | `error` | why git could not be asked | |
//!
//! Two ways to run it:
//!
//! | | Works on | Configuration that is read | May run |
//! |---|---|---|---|
//! | [`Git::run`] with nothing but what is given | a git folder of Toolgate's own | that folder's | nothing |
//! | [`Repository`], or [`Git::run`] with [`Git::without_programs`] | the user's repository | all, as by the user's own git: it says which folders are safe | nothing |
//!
//! What a repository's own files could have run by what is asked, and what is done about it:
//!
//! | Names a program | |
//! |---|---|
//! | hooks, `core.hooksPath`; some run for plumbing, too: `reference-transaction` | there are none in `/dev/null`; the index is not written (optional locks off) |
//! | `hook.NAME.command` (git 2.54) | each that any configuration names has no events and is switched off |
//! | `core.fsmonitor` | switched off |
//! | `filter.NAME.clean`, `.process` with `.gitattributes` or `info/attributes` | each that any configuration names is emptied, whatever bytes its name has |
//! | configuration of submodules | submodules are not looked into |
//! | `remote.*` of a partial clone, if an object is missing | nothing is fetched, no protocol is allowed |
//! | a folder that looks like a bare repository, planted in the project | bare repositories are not taken for one |
//! | pagers, editors, `diff.external`, credential helpers, signatures | not used by what is asked; emptied anyway |
//!
//! A git before 2.31 does not read settings from the environment, and could not be kept from running filters: it is not
//! used. Which names there are comes from `git config --list`, which runs nothing. Whoever changes the configuration
//! between the two calls can already run programs.
//!
//! Whose repository it is is checked by git itself when a folder's repository is looked for (`safe.directory`). A
//! repository that git refuses is refused here, with git's own words.

mod error;
mod process;
mod repository;

pub use error::GitError;
pub use process::{Call, Git, IDENTITY, MUCH, Output, REDIRECTING, Setting, redirected};
pub use repository::{Repository, empty_tree, users_configuration};
