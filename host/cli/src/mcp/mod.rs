//! `toolgate mcp`: the shared terminal for any agent, as a server of the Model Context Protocol on standard input and
//! output. Each call is judged first, as the calls of every agent are.
//!
//! | Module | For |
//! |---|---|
//! | `client` | questions to the client's user |
//! | `mailbox` | what happened in the terminal, until somebody can be told |
//! | `server` | the protocol's requests |

mod client;
mod mailbox;
mod server;

use std::process::ExitCode;

use clap::Args;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use toolgate_agents::{Failure, exit};

use crate::options::{PackOptions, PluginOptions};
use crate::shared_terminal;
use server::Server;

#[derive(Args)]
#[command(after_help = "\
When an agent inside tmux starts it, it offers two tools: `bash` runs commands in a pane beside the
agent, where you can watch and type; `read_terminal` reads that pane. Outside tmux it offers none. Set
TMUX_MIRROR_TARGET to use an existing pane, like %3, instead of a new one.

Register it once with each agent, with the full path if toolgate is not on PATH:
  Claude Code  claude mcp add toolgate --scope user -- toolgate mcp
  Codex        codex mcp add toolgate -- toolgate mcp
               and in its config.toml below [mcp_servers.toolgate]:
               env_vars = [\"TMUX\", \"TMUX_PANE\", \"TMUX_MIRROR_TARGET\"]
               tool_timeout_sec = 3700
  Gemini CLI   gemini mcp add toolgate toolgate mcp
  others       in their MCP configuration (docs/guides/terminal.md has the details for each agent,
               and OpenCode's own format):
               {\"mcpServers\": {\"toolgate\": {\"command\": \"toolgate\", \"args\": [\"mcp\"]}}}
  pi           needs none of this: toolgate install pi --terminal

This server checks only calls of its own tools. Protect the agent's other tools with `toolgate
install AGENT`. Where both are installed, both check these calls.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    packs: PackOptions,

    #[command(flatten)]
    plugins: PluginOptions,

    /// Show blocked calls and the reasons in the pane's border
    #[arg(long)]
    border: bool,
}

/// Serves until the client closes standard input.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(Failure::software)?;
    let served = runtime.block_on(serve(arguments));
    // What is still read from standard input is not waited for; what has children of its own has ended.
    runtime.shutdown_background();
    served
}

async fn serve(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let server = Server::new(&arguments.packs.packs(), &arguments.plugins.plugins(), arguments.border).await?;
    let session = server.session();
    let protocol = async {
        match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(Failure::software),
            // A client that goes before it has said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Failure::new(exit::DATA, format!("the client does not speak the protocol: {error}"))),
        }
    };
    let served = tokio::select! {
        served = protocol => served,
        () = shared_terminal::told_to_end() => Ok(()),
    };
    session.end().await;
    served.map(|()| ExitCode::SUCCESS)
}
