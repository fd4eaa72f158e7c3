//! `toolgate serve`: a host that stays. For an agent's shim on standard input and output, or for hooks on a socket.

mod frames;
#[cfg(target_os = "linux")]
mod peer;
pub(crate) mod resident;
mod stdio;

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::agent::SHIMS;
use crate::packs::Packs;
use crate::plugin::live;
use crate::plugins::Plugins;
use crate::{Failure, exit};
pub(crate) use frames::Frames;

#[derive(Args)]
#[command(after_help = "\
Without --stdio this is the resident host: it keeps the guard ready for `toolgate hook`, which
starts it by itself at its first use and judges without it where it is absent. It ends after a
quarter of an hour without a call.

With --stdio it speaks JSON lines with the extension of an agent that `toolgate install pi` or
`toolgate install opencode` writes: an event is {\"schema\": 1, \"id\", \"event\", \"payload\"}, and its
answer {\"schema\": 1, \"id\", \"result\"}, in terms of the agent. What else there is, such as questions
to the user, is described in Toolgate's sources, in host/cli/src/serve/stdio.rs.

With --watch it looks at the files of --plugin, and at those that the installed plugins came from
which it names, and puts a newer version in the place of the one in use, and of an installed one
into the store: calls that are being judged end with the old one. A build that cannot be used, or
that asks for more than was granted, changes nothing, and it says why. As the resident host it takes
the place of one that is there, and stays. It is for whoever writes a plugin: who can write those
files decides what judges beside the guard.")]
pub(crate) struct Arguments {
    /// Speak JSON lines with this agent's extension on standard input and output
    #[arg(long, value_name = "AGENT", value_parser = PossibleValuesParser::new(SHIMS.iter().map(|agent| agent.name())))]
    stdio: Option<String>,

    /// With --stdio: offer that agent the shared terminal, if it runs inside tmux
    #[arg(long, requires = "stdio")]
    terminal: bool,

    /// With --terminal: show in the terminal's border what was blocked, and why
    #[arg(long, requires = "terminal")]
    border: bool,

    /// Put newer versions of the plugins of --plugin in the place of those in use when their files change, and of these
    /// installed ones
    #[arg(long, value_name = "PLUGIN", num_args = 0.., value_delimiter = ',')]
    watch: Option<Vec<String>>,

    #[command(flatten)]
    packs: Packs,

    #[command(flatten)]
    plugins: Plugins,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let names = arguments.watch.as_ref();
    let watching =
        |plugins: &Plugins| names.map(|names| live::start(plugins.files(), &plugins.granted(), names)).transpose();
    match &arguments.stdio {
        Some(agent) => {
            let _watching = watching(&arguments.plugins)?;
            let terminal = arguments.terminal.then_some(stdio::Terminal { border: arguments.border });
            stdio::run(agent, &arguments.packs, &arguments.plugins, terminal)
        }
        None if !arguments.packs.names().is_empty() || !arguments.plugins.files().is_empty() && names.is_none() => {
            let message = "--packs and --plugin are for --stdio, and --plugin for --watch: the resident host is told by each hook";
            Err(Failure::new(exit::USAGE, message))
        }
        None => {
            let _watching = watching(&arguments.plugins)?;
            resident::run(names.is_some())
        }
    }
}
