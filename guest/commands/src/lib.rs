//! What the words of programs mean, told once: options and what they take, subcommands, what a program runs, what it
//! does to files.
//!
//! The data are the files in `specs`, one a program or family; the build script makes constants of them, so that nothing
//! is read or indexed when a call is judged. [`find`] gives the [`Spec`] of a program, [`args`] reads words from left to
//! right, [`argv`] takes the options in one of them apart. Nothing here follows what a command runs or knows of files and
//! rules: consumers match on the handlers' names.
//!
//! ```
//! let spec = toolgate_commands::find("kubectl").ok_or("no such program")?;
//! let option = spec.long("namespace").ok_or("no such option")?;
//! assert_eq!((option.name, option.takes), ("n", toolgate_commands::Takes::Next(1)));
//! # Ok::<(), &str>(())
//! ```

pub mod args;
pub mod argv;
mod handler;
mod spec;

pub use handler::{FileCode, Language, OptionRun, RunCode, Trait};
pub use spec::{
    FileUse, Files, LoadedAs, Loads, OperandUse, Opt, ReadsOnly, Rules, RunForm, Runs, Secret, Spec, Syntax, Takes,
    Terminal, Tests, Waits,
};

mod table {
    use super::{
        FileCode, FileUse, Files, Language, LoadedAs, Loads, OperandUse, Opt, OptionRun, ReadsOnly, Rules, RunCode,
        RunForm, Runs, Secret, Spec, Syntax, Takes, Terminal, Tests, Trait, Waits,
    };

    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

/// The spec of the program of this name.
#[must_use]
pub fn find(program: &str) -> Option<&'static Spec> {
    let at = table::NAMES.binary_search_by(|(name, _)| (*name).cmp(program)).ok()?;
    table::NAMES.get(at).and_then(|(_, spec)| table::PROGRAMS.get(usize::from(*spec)))
}

/// The spec of the program of this name that runs others. A version at the end of the name does not count where the program
/// runs code or a language: `python3.11`, `ksh93`. Neither does `.exe`.
#[must_use]
pub fn find_runner(program: &str) -> Option<&'static Spec> {
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let listed = |name: &str| find(name).filter(|spec| spec.runs.is_some());
    listed(program).or_else(|| {
        let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let versioned = |runs: &Runs| matches!(runs.what, RunForm::Language(_) | RunForm::Code(_));
        listed(bare).filter(|spec| bare != program && spec.runs.as_ref().is_some_and(versioned))
    })
}

/// Whether the program of this name is a shell.
#[must_use]
pub fn is_shell(program: &str) -> bool {
    find_runner(program).is_some_and(|spec| spec.is("sh") || spec.is("fish"))
}

/// All programs, in the order of their files' names.
#[must_use]
pub fn programs() -> &'static [Spec] {
    &table::PROGRAMS
}

/// The options whose value is a secret under a name that does not say so.
#[must_use]
pub fn secrets() -> &'static [Secret] {
    &table::SECRETS
}

/// Options that take nothing with any program whose spec says nothing else.
pub const COMMON_FLAGS: &[&str] = &[
    "-h",
    "--help",
    "-V",
    "--version",
    "--verbose",
    "--quiet",
    "-q",
    "--silent",
    "--debug",
    "-y",
    "--yes",
    "--assume-yes",
    "--force",
    "--json",
    "--dry-run",
    "--all",
    "--recursive",
    "--offline",
    "--locked",
    "--frozen",
    "--interactive",
    "--non-interactive",
    "--insecure",
];
