//! The paths that a call is about, as they are worth showing beside it: those that its input names, and those that its
//! shell text makes or changes.

use serde_json::{Value, json};
use toolgate_agents::agent::OTHER_CWD;
use toolgate_host::capability::{LocalFiles, LocalLog};
use toolgate_host::{Analysis, CallError, Capabilities, Plugin, Session, ToolCall, ToolKind};

use toolgate_agents::text::quoted;

/// The hints of a call: relative to its workspace where they lie in it, else absolute; each once.
pub async fn of(plugin: &Plugin, call: &ToolCall) -> Result<Vec<String>, CallError> {
    let Some(text) = text(call) else { return Ok(Vec::new()) };
    // Where a call may be in another directory, that is the one its paths were meant in.
    let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
    let cwd = context.get(OTHER_CWD).and_then(Value::as_str).unwrap_or(&call.cwd);
    let session = Session::in_folder(cwd).with_home(call.home.clone()).with_workspace_root(&call.workspace_root);
    let granted = Capabilities::denied().files(LocalFiles::new()).log(LocalLog);
    let request = json!({
        "command": text, "cwd": cwd, "home": call.home, "workspace_root": call.workspace_root,
    });
    let answer = Analysis::new(plugin.clone(), session, granted).hints(&request.to_string()).await?;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    let paths = answer.get("paths").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    Ok(paths.iter().filter_map(|path| Some(path.as_str()?.to_owned())).collect())
}

/// A shell text that makes or changes what a call is about. Only the component knows how paths are shown.
fn text(call: &ToolCall) -> Option<String> {
    let paths: Vec<String> = call.paths.iter().map(|path| quoted(&path.value)).collect();
    let named = (!paths.is_empty()).then(|| format!("touch -- {}", paths.join(" ")));
    let command = call.command.as_ref().map(|command| match call.kind {
        ToolKind::Edit | ToolKind::Write => format!("apply_patch {}", quoted(&command.value)),
        _ => command.value.clone(),
    });
    match (named, command) {
        (Some(named), Some(command)) => Some(format!("{named}\n{command}")),
        (named, command) => named.or(command),
    }
}
