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

use crate::packs::Packs;
use crate::plugins::Plugins;
use crate::{Failure, exit, shared};
pub(crate) use client::Client;
use server::Server;

#[derive(Args)]
#[command(after_help = "\
Started by an agent that runs inside tmux, it offers two tools: `bash` runs commands in a pane
beside the agent, where you see them and can type, too; `read_terminal` reads that pane. Outside
tmux it offers none. TMUX_MIRROR_TARGET names a pane of yours to be used instead of a new one, like
%3.

Agents are told of it once, with the whole path where toolgate is not on their PATH:
  Claude Code  claude mcp add toolgate --scope user -- toolgate mcp
  Codex        codex mcp add toolgate -- toolgate mcp
               and in its config.toml below [mcp_servers.toolgate]:
               env_vars = [\"TMUX\", \"TMUX_PANE\", \"TMUX_MIRROR_TARGET\"]
               tool_timeout_sec = 3700
  Gemini CLI   gemini mcp add toolgate toolgate mcp
  others       in their file for MCP servers, with what they ask for besides (OpenCode has a form of
               its own; docs/guides/terminal.md has the lines of each):
               {\"mcpServers\": {\"toolgate\": {\"command\": \"toolgate\", \"args\": [\"mcp\"]}}}
  pi           needs none of this: toolgate install pi --terminal

Only calls of these tools go through this server. The agent's own tools are guarded by `toolgate
install AGENT`, and without that by nothing. Both judge the calls of these tools where both are
installed.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    packs: Packs,

    #[command(flatten)]
    plugins: Plugins,

    /// Show in the pane's border what was blocked, and why
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
    let server = Server::new(&arguments.packs, &arguments.plugins, arguments.border).await?;
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
        () = shared::told_to_end() => Ok(()),
    };
    session.end().await;
    served.map(|()| ExitCode::SUCCESS)
}
