//! The paths that a call is about, as they are worth showing beside it: those that its input names, and those that its
//! shell text makes or changes.

use serde_json::{Value, json};
use toolgate_agents::agent::OTHER_CWD;
use toolgate_host::capability::{LocalFiles, LocalLog};
use toolgate_host::{Analysis, CallError, Capabilities, FileAction, FileEffect, Plugin, Session, ToolCall, ToolKind};

use toolgate_agents::text::quoted;

/// The hints of a call: relative to its workspace where they lie in it, else absolute; each once.
pub async fn of(plugin: &Plugin, call: &ToolCall) -> Result<Vec<String>, CallError> {
    let (text, effects) = (text(call), effects(call));
    if text.is_empty() && effects.is_empty() {
        return Ok(Vec::new());
    }
    // Where a call may be in another directory, that is the one its paths were meant in.
    let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
    let cwd = context.get(OTHER_CWD).and_then(Value::as_str).unwrap_or(&call.cwd);
    let session = Session::in_folder(cwd).with_home(call.home.clone()).with_workspace_root(&call.workspace_root);
    let granted = Capabilities::denied().files(LocalFiles::new()).log(LocalLog);
    let request = json!({
        "command": text, "effects": effects, "cwd": cwd, "home": call.home, "workspace_root": call.workspace_root,
    });
    let answer = Analysis::new(plugin.clone(), session, granted).hints(&request.to_string()).await?;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    let paths = answer.get("paths").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    Ok(paths.iter().filter_map(|path| Some(path.as_str()?.to_owned())).collect())
}

/// What the call runs. Only the component knows how paths are shown.
fn text(call: &ToolCall) -> String {
    match (&call.command, call.kind) {
        (Some(command), ToolKind::Edit | ToolKind::Write) => format!("apply_patch {}", quoted(&command.value)),
        (Some(command), _) => command.value.clone(),
        (None, _) => String::new(),
    }
}

/// What it does to files besides. What it only names is worth showing as well as what it changes.
fn effects(call: &ToolCall) -> Vec<FileEffect> {
    let named = (!call.paths.is_empty()).then(|| FileEffect::new(FileAction::Write, call.paths.clone()));
    named.into_iter().chain(call.effects()).collect()
}
