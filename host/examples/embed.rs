//! What an agent's author copies: ask the gate before every tool call, and run the call only if it has no objection.

// An example prints.
#![allow(clippy::print_stdout)]

use std::path::Path;

use toolgate_host::capability::LocalLog;
use toolgate_host::{Capabilities, Decision, Engine, Gate, Plugin, ToolCall, ToolKind};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = "/home/dev/project";
    let plugin = Plugin::precompiled(&Engine::new()?, toolgate_builtin::NAME, &toolgate_builtin::guard())?;
    // The rules are the user's and the project's, as the command finds them. What the guard may reach besides: the log.
    let opened = Gate::in_folder(plugin, Path::new(project), Capabilities::denied().log(LocalLog)).await?;
    for problem in &opened.started.diagnostics {
        println!("rules  {}", problem.message);
    }
    let gate = opened.value;

    let mut blocked = 0;
    for call in [
        ToolCall::shell("cargo test", project),
        ToolCall::shell("rm -rf / --no-preserve-root", project),
        ToolCall::shell("git push --force", project),
        ToolCall::file("read", ToolKind::Read, "src/main.rs", project),
        ToolCall::file("write", ToolKind::Write, "/etc/passwd", project),
    ] {
        match gate.judge(&call).await.decision {
            Decision::Pass => println!("run    {}", call.input),
            Decision::Ask(question) => println!("ask    {}: {question}", call.input),
            Decision::Block(reason) => {
                blocked += 1;
                println!("block  {}: {reason}", call.input);
            }
            Decision::Rewrite(input) => println!("run    {input}"),
        }
    }
    gate.shutdown("done").await;
    if blocked == 2 { Ok(()) } else { Err(format!("{blocked} calls were blocked instead of 2").into()) }
}
