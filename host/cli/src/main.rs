//! `toolgate`: the gate between a coding agent and the machine, as a command.
//!
//! | Module | For |
//! |---|---|
//! | `agent` | one file per agent: its JSON to the contract's types and back |
//! | `analysis` | what a shell text does: its commands, files and hints |
//! | `check` | judging commands by hand and in bulk |
//! | `hook` | answering an agent, whatever happens |
//! | `inspect` | what a component is and asks for |
//! | `lines` | standard input, line by line |
//! | `place` | where rule files are |
//! | `show` | putting untrusted text before a person |

mod agent;
mod analysis;
mod check;
mod hook;
mod inspect;
mod lines;
mod place;
mod show;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit codes for Toolgate's own errors, as `sysexits.h` numbers them. Verdicts are 0 to 3.
mod exit {
    pub(crate) const USAGE: u8 = 64;
    pub(crate) const DATA: u8 = 65;
    pub(crate) const NO_INPUT: u8 = 66;
    pub(crate) const SOFTWARE: u8 = 70;
    pub(crate) const IO: u8 = 74;
}

/// An error for a person, with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn new(code: u8, message: impl Into<String>) -> Self {
        Failure { code, message: message.into() }
    }
}

/// The gate between a coding agent and your machine.
///
/// Judges what an agent is about to do, before it does it.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what would become of a shell command, or of many tool calls
    Check(check::Arguments),
    /// Answer an agent's hook: its payload on standard input, its answer on standard output
    Hook(hook::Arguments),
    /// Show what a component exports, asks for, and its digests
    Inspect(inspect::Arguments),
    /// Show every command that a shell text runs, with its directory, effects and what is not known
    #[command(after_help = analysis::WALK)]
    Walk(analysis::Arguments),
    /// Show which files a shell text writes, and from which it copies
    #[command(after_help = analysis::FILES)]
    Files(analysis::Arguments),
    /// Show the paths that a shell text makes or changes, relative to the workspace
    #[command(after_help = analysis::HINTS)]
    Hints(analysis::Arguments),
}

fn main() -> ExitCode {
    if let Some(filter) = std::env::var_os("TOOLGATE_LOG") {
        // A filter that is wrong logs nothing; it must not end a hook.
        let filter = tracing_subscriber::EnvFilter::try_new(filter.to_string_lossy()).unwrap_or_default();
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let hook = std::env::args_os().any(|argument| argument == "hook") && !std::io::stdin().is_terminal();
            // Nothing more can be done if even that cannot be printed.
            let _ = error.print();
            return ExitCode::from(match (error.use_stderr(), hook) {
                // The only exit code that agents take for "no". A hook that is set up wrongly must not be a gate
                // that stands open.
                (_, true) => hook::BLOCKED,
                (false, false) => 0,
                (true, false) => exit::USAGE,
            });
        }
    };
    let outcome = match cli.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Hook(arguments) => hook::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Walk(arguments) => analysis::run(analysis::Question::Walk, &arguments),
        Command::Files(arguments) => analysis::run(analysis::Question::Files, &arguments),
        Command::Hints(arguments) => analysis::run(analysis::Question::Hints, &arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            show::complain(&failure.message);
            ExitCode::from(failure.code)
        }
    }
}
