//! What an agent's author copies: ask the gate before every tool call, and run the call only if it has no objection.

// An example prints.
#![allow(clippy::print_stdout)]

use toolgate_host::capability::{LocalFiles, LocalLog};
use toolgate_host::{Capabilities, Decision, Engine, Gate, Plugin, Session, ToolCall, ToolKind};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let project = "/home/dev/project";
    let plugin = Plugin::precompiled(&Engine::new()?, toolgate_builtin::NAME, &toolgate_builtin::guard())?;
    // What the guard may reach: it looks where paths lead, and reads the project's rules. Nothing else.
    let files = LocalFiles::new().project_rules(format!("{project}/.pi/damage-control-rules.yaml"));
    let granted = Capabilities::denied().files(files).log(LocalLog);
    let gate = Gate::new(plugin, Session::in_folder(project), granted);
    gate.start().await?;

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
