//! `toolgate serve`: a host that stays. For an agent's shim on standard input and output, or for hooks on a socket.

mod stdio;

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use toolgate_agents::agent::SHIMS;
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::plugins::Plugins;
use toolgate_gatekeeper::resident;

use crate::options::{PackOptions, PluginOptions};
use crate::plugin::live;

#[derive(Args)]
#[command(after_help = "\
Without --stdio this is the resident host: it keeps the guard loaded for `toolgate hook`, which
starts it automatically and works without it if necessary. It exits after 15 minutes without a call.

With --stdio it speaks JSON lines with the extension of an agent that `toolgate install pi` or
`toolgate install opencode` writes: an event is {\"schema\": 1, \"id\", \"event\", \"payload\"}, and its
answer {\"schema\": 1, \"id\", \"result\"}, in the agent's own format. For other frames, such as
questions to the user, see host/cli/src/serve/stdio.rs in Toolgate's source code.

--watch is for plugin authors. It watches the --plugin files and the source files of the installed
plugins named, and swaps in each new build; calls in progress finish with the old one. A new build
of an installed plugin also goes into the store. A build that is invalid, or that needs more than was
granted, is rejected with the reason. With --watch, the resident host replaces a running one and does
not exit when idle. Whoever can write those files controls the plugins.")]
pub(crate) struct Arguments {
    /// Speak JSON Lines with this agent's extension over standard input and output
    #[arg(long, value_name = "AGENT", value_parser = PossibleValuesParser::new(SHIMS.iter().map(|agent| agent.name())))]
    stdio: Option<String>,

    /// With --stdio: offer the agent the shared terminal, if it runs inside tmux
    #[arg(long, requires = "stdio")]
    terminal: bool,

    /// With --terminal: show blocked calls and the reasons in the pane's border
    #[arg(long, requires = "terminal")]
    border: bool,

    /// Hot-reload the --plugin files when they change, and these installed plugins
    #[arg(long, value_name = "PLUGIN", num_args = 0.., value_delimiter = ',')]
    watch: Option<Vec<String>>,

    #[command(flatten)]
    packs: PackOptions,

    #[command(flatten)]
    plugins: PluginOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let names = arguments.watch.as_ref();
    let (packs, plugins) = (&arguments.packs.packs(), &arguments.plugins.plugins());
    let watching =
        |plugins: &Plugins| names.map(|names| live::start(plugins.files(), &plugins.granted(), names)).transpose();
    match &arguments.stdio {
        Some(agent) => {
            let _watching = watching(plugins)?;
            let terminal = arguments.terminal.then_some(stdio::Terminal { border: arguments.border });
            stdio::run(agent, packs, plugins, terminal)
        }
        None if !packs.names().is_empty() || !plugins.files().is_empty() && names.is_none() => {
            let message = "--packs and --plugin need --stdio, or --plugin needs --watch: the resident host gets them from each hook";
            Err(Failure::new(exit::USAGE, message))
        }
        None => {
            let _watching = watching(plugins)?;
            resident::run(names.is_some())
        }
    }
}
