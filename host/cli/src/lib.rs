//! `toolgate`: the gate between a coding agent and the machine, as a command: how its arguments are read, and what people see.
//! Calls are judged in `toolgate-gatekeeper`, and how agents speak is in `toolgate-agents`. It is a library for its tests;
//! `main.rs` has nothing but the call.
//!
//! | Module | For |
//! |---|---|
//! | `allow` | permission for one call, given by a person |
//! | `analysis` | what a shell text does: its commands, files and hints |
//! | `check` | judging commands by hand and in bulk |
//! | `code_excerpt` | texts of several lines, with what matched |
//! | `columns` | texts that fit the terminal |
//! | `completions` | scripts for shells, and man pages |
//! | `confirmation` | a person at a terminal of their own, who confirms by typing a word |
//! | `demo` | verdicts on a few commands, without an agent |
//! | `duration` | times as people write them |
//! | `exempt` | rules lifted in the user's own file, by a person |
//! | `exemption_text` | an exemption put into the text of a rule file |
//! | `explain` | how a command is read and judged |
//! | `history` | the history files of shells |
//! | `history_report` | judging a history |
//! | `hook` | answering an agent, whatever happens |
//! | `inspect` | what a component is and asks for |
//! | `install` | making agents call Toolgate, and whether they do |
//! | `lens` | the check daemon, asked and stopped by hand, and what it is trusted with |
//! | `line_reader` | standard input, line by line |
//! | `log` | reading the audit log |
//! | `mcp` | the shared terminal for every agent, over the Model Context Protocol |
//! | `memory` | the allocator of a process that answers one call |
//! | `options` | `--packs` and `--plugin` |
//! | `output` | putting untrusted text before a person |
//! | `pane_lock` | who drives a pane |
//! | `plugin` | plugins: added, granted, tested and developed |
//! | `project_gates` | the gates of a command that judges many calls |
//! | `rules` | rule files and the rules in force |
//! | `runtime` | the runtime of a command that does one thing |
//! | `script` | judging a whole file |
//! | `serve` | hosts that stay: for shims, and for hooks |
//! | `setup` | Toolgate for the agents that are here, with a question before each change |
//! | `shared_terminal` | the shared terminal of a session |
//! | `signals` | what would end the program before it has answered |
//! | `terminal` | questions on the terminal |
//! | `undo` | what calls changed, listed and put back |
//! | `update` | how to find a newer release and get it |
//! | `welcome` | what the bare command shows at a terminal |

mod allow;
mod analysis;
mod check;
mod code_excerpt;
mod columns;
mod completions;
mod confirmation;
mod demo;
mod duration;
mod exempt;
mod exemption_text;
mod explain;
mod history;
mod history_report;
mod hook;
mod inspect;
mod install;
mod lens;
mod line_reader;
mod log;
mod mcp;
mod memory;
mod options;
mod output;
mod pane_lock;
mod plugin;
mod project_gates;
mod rules;
mod runtime;
mod script;
mod serve;
mod setup;
mod shared_terminal;
mod signals;
mod terminal;
mod undo;
mod update;
mod welcome;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use toolgate_agents::settings::program;
use toolgate_agents::{Failure, exit};

/// The gate between a coding agent and your machine.
///
/// Checks every tool call of an agent before it runs. Without a subcommand it lists, at a terminal, the agents found here and the
/// next step; with standard input not a terminal, it acts as the agent's hook.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge a few commands, to see how it looks; nothing is run or changed
    Demo,
    /// Add Toolgate to the agents found here, with a question before each change
    Setup(setup::Arguments),
    /// Evaluate a shell command, or a batch of tool calls, against the rules
    Check(check::Arguments),
    /// Explain a verdict: the command's words and effects, and why each rule fired or not
    Explain(explain::Arguments),
    /// List, show, test and lint rules, and create a rule file
    Rules(rules::Arguments),
    /// Answer an agent's hook: its payload on standard input, its answer on standard output
    Hook(hook::Arguments),
    /// Add Toolgate's hooks to an agent's configuration
    Install(install::Arguments),
    /// Remove Toolgate's hooks from an agent's configuration
    Uninstall(install::Removal),
    /// Diagnose hook installation
    Doctor(install::Doctor),
    /// Run the resident host for hooks, or a JSON Lines server for an agent's extension
    Serve(serve::Arguments),
    /// Run an MCP server that gives an agent in tmux a terminal you can watch
    Mcp(mcp::Arguments),
    /// Check changed files, and manage trusted projects
    Lens(lens::Arguments),
    /// Permit one exact call, once
    Allow(allow::Arguments),
    /// Put back what calls changed
    Undo(undo::Arguments),
    /// Show the audit log
    Log(log::Arguments),
    /// Install, list, test and develop plugins, and manage their grants
    Plugin(plugin::Arguments),
    /// Show a component's exports, imports and digests
    Inspect(inspect::Arguments),
    /// Show how to find and install a newer release; makes no network connection
    Update,
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print the man page, or write the pages of all commands
    Man(completions::Pages),
    /// Show every command in a shell script, with its directory, effects and unknowns
    #[command(after_help = analysis::WALK)]
    Walk(analysis::Arguments),
    /// Show which files a shell script writes, and which it copies from
    #[command(after_help = analysis::FILES)]
    Files(analysis::Arguments),
    /// Show the paths that a shell script creates or changes, relative to the workspace
    #[command(after_help = analysis::HINTS)]
    Hints(analysis::HintArguments),
}

/// What this process is told to do: its arguments, and what the name says by which it was called.
struct Invocation {
    words: Vec<OsString>,
    /// Whether a hook's arguments may have been lost on the way.
    lost: bool,
}

impl Invocation {
    /// Links of a hook's name say for which agent it is installed. Without any arguments and with something else than a
    /// terminal to read from, this is a hook whose arguments were lost: nobody else has something to send.
    fn here() -> Self {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let lost = words.len() <= 1;
        match words.first().and_then(|name| program::linked(name)) {
            Some(agent) => drop(words.splice(1..1, ["hook".into(), agent.into()])),
            None if lost && !std::io::stdin().is_terminal() => {
                words.resize_with(1, || "toolgate".into());
                words.push("hook".into());
            }
            None => return Invocation { words, lost: false },
        }
        Invocation { words, lost }
    }

    /// Whether a person typed only the program's name. Where standard input is no terminal that is a hook by now.
    fn is_bare(&self) -> bool {
        self.words.len() <= 1 && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
    }

    /// The kind of names that a completion script asks for.
    fn asks_for_names(&self) -> Option<&OsStr> {
        let [_, word, kind] = self.words.as_slice() else { return None };
        (word == completions::NAMES).then_some(kind.as_os_str())
    }

    fn is_hook(&self) -> bool {
        self.words.get(1).is_some_and(|name| name == "hook")
    }

    /// The arguments of a hook that is set up as it should be. An agent waits for each of its calls, and to describe all other
    /// subcommands first takes longer than to read these. Whatever is wrong with them is found, and said, with the rest.
    fn of_hook(&self) -> Option<hook::Arguments> {
        hook::Arguments::read(self.words.get(2..).filter(|_| self.is_hook())?)
    }
}

/// Whether arguments that make no sense may be those of a hook: the word is among them, or what they begin with is an event,
/// and they begin with no other command.
fn may_be_a_hook(given: &[String]) -> bool {
    let first = given.iter().skip(1).find(|argument| !argument.starts_with('-'));
    let known = |name: &String| {
        name != "hook" && (name == "help" || Cli::command().get_subcommands().any(|command| command.get_name() == name))
    };
    let is_event = || given.get(1).is_some_and(|name| hook::event(name).is_some());
    (given.iter().any(|argument| argument == "hook") || is_event()) && !first.is_some_and(known)
}

/// The stack that everything runs on, in bytes. That of the first thread is as large as whoever starts the program says, and
/// a hook that runs out of it answers nothing.
const STACK: usize = 8 << 20;

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    signals::writes_may_fail();
    let told = Invocation::here();
    let hook = told.is_hook();
    if hook {
        memory::for_one_call();
    }
    let told = std::sync::Arc::new(told);
    let here = std::sync::Arc::clone(&told);
    let outcome = if first_thread_has(STACK) {
        std::panic::catch_unwind(|| command(&here))
    } else {
        match std::thread::Builder::new().stack_size(STACK).spawn(move || command(&told)) {
            Ok(thread) => thread.join(),
            Err(_) => std::panic::catch_unwind(|| command(&here)),
        }
    };
    // What a panic prints is on standard error.
    outcome.unwrap_or_else(|_| ExitCode::from(if hook { hook::BLOCKED } else { exit::SOFTWARE }))
}

/// Whether the stack of the first thread may become this large, of which arguments and environment take a quarter at most. On
/// Linux it grows up to the limit. A thread of its own costs more than many a call takes to be judged.
fn first_thread_has(stack: usize) -> bool {
    let limit = || rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    cfg!(target_os = "linux") && limit().is_none_or(|limit| limit >= stack as u64)
}

fn command(told: &Invocation) -> ExitCode {
    if let Some(filter) = std::env::var_os("TOOLGATE_LOG") {
        // A filter that is wrong logs nothing; it must not end a hook.
        let filter = tracing_subscriber::EnvFilter::try_new(filter.to_string_lossy()).unwrap_or_default();
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
    if let Some(arguments) = told.of_hook() {
        hook::run(&arguments, told.lost);
    }
    if let Some(kind) = told.asks_for_names() {
        return ended(completions::names(kind));
    }
    if told.is_bare() {
        return ended(welcome::run());
    }
    let cli = match Cli::try_parse_from(&told.words) {
        Ok(cli) => cli,
        Err(error) => {
            let given: Vec<String> = told.words.iter().map(|one| one.to_string_lossy().into_owned()).collect();
            let hook = may_be_a_hook(&given) && !std::io::stdin().is_terminal();
            // Nothing more can be done if even that cannot be printed.
            let _ = error.print();
            return ExitCode::from(match (error.use_stderr(), hook) {
                // The only exit code that agents take for "no". A hook that is set up wrongly must not be a gate
                // that stands open.
                (_, true) => hook::misused(&given),
                (false, false) => 0,
                (true, false) => exit::USAGE,
            });
        }
    };
    ended(match cli.command {
        Command::Demo => demo::run(),
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Rules(arguments) => rules::run(&arguments),
        Command::Hook(arguments) => hook::run(&arguments, told.lost),
        Command::Install(arguments) => install::install(&arguments),
        Command::Uninstall(arguments) => install::uninstall(&arguments),
        Command::Doctor(arguments) => install::doctor(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Lens(arguments) => lens::run(&arguments),
        Command::Allow(arguments) => allow::run(&arguments),
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Plugin(arguments) => plugin::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Update => update::run(),
        Command::Completions(arguments) => completions::run(&arguments, Cli::command()),
        Command::Man(arguments) => completions::man(&arguments, Cli::command()),
        Command::Walk(arguments) => analysis::run(analysis::Question::Walk, &arguments),
        Command::Files(arguments) => analysis::run(analysis::Question::Files, &arguments),
        Command::Hints(arguments) => analysis::hints(&arguments),
    })
}

/// The exit code of a command that has ended; an error is shown.
fn ended(outcome: Result<ExitCode, Failure>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            output::complain(&failure.message);
            ExitCode::from(failure.code)
        }
    }
}
