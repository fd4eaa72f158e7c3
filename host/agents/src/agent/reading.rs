//! What a call works on: its input, read by the row of its tool, or by what it looks like, and the calls of other tools in it.

use std::path::Path;

use serde_json::{Map, Value};
use toolgate_host::{Field, FileAction, FileEffect, ToolCall, ToolKind};

use super::row::{Row, at_home, files_of, is_blank, place_below, together};
use super::tools::UserTools;
use super::unknown::vocabulary::{CALL_KEYS, INPUT_KEYS, is};
use super::unknown::{DEPTH, guessed};
use super::{Dialect, OTHER_CWD, OTHER_CWDS, folder, note, other_cwds};
use crate::text::quoted;

/// Most calls of other tools in an input.
const MOST_CALLS: usize = 64;

/// Fills in what a tool works on: by the user's row for it, else by the agent's, else by what its fields look like. An
/// error says which field is missing or of the wrong type.
pub fn read(agent: &dyn Dialect, name: &str, input: &Value, call: ToolCall) -> Result<ToolCall, String> {
    let known = agent.tools().iter().find(|tool| tool.name == name);
    let mut made = match (UserTools::row(agent.name(), name)?, known) {
        (Some(own), None) => own.with(|row| filled(agent, row, name, input, call)),
        // What is known of a tool stays known.
        (Some(own), Some(tool)) => {
            let first = filled(agent, &tool.row, name, input, call.clone())?;
            let second = own.with(|row| filled(agent, row, name, input, call))?;
            let commands = first.command.iter().chain(&second.command).cloned().collect();
            // Where the row says that it works, and where it does without it.
            let mut folders = other_cwds(&first);
            folders.extend(Some(second.cwd.clone()).filter(|cwd| *cwd != first.cwd));
            folders.extend(other_cwds(&second));
            let mut both = first;
            if both.command != second.command {
                both.command = together(commands);
            }
            both.paths.extend(second.paths);
            both.globs.extend(second.globs);
            if !folders.is_empty() {
                note(&mut both, OTHER_CWDS, folders.into());
            }
            Ok(both)
        }
        (None, Some(tool)) => filled(agent, &tool.row, name, input, call),
        (None, None) => guessed_with_calls(agent, name, input, call),
    }?;
    if let Some(shell) = made.command.as_ref().and_then(|_| other_shell(name)) {
        note(&mut made, SHELL, shell.into());
    }
    // No file has one in its path, and what is left without it may be another path.
    match made.paths.iter().chain(&made.globs).find(|field| field.value.contains('\0')) {
        Some(field) => Err(format!("the field {} of {name} contains a NUL byte", field.name)),
        None => Ok(made),
    }
}

/// The key of a call's context that says for which shell its text is, if that is none of the Bourne family.
const SHELL: &str = "shell";

/// The shell outside the Bourne family that a tool of this name runs: `PowerShell` of Claude Code, `mcp__pc__run_pwsh`.
fn other_shell(tool: &str) -> Option<&'static str> {
    const NAMES: &[(&str, &str)] = &[
        ("powershell", "powershell"),
        ("pwsh", "powershell"),
        ("nushell", "nu"),
        ("xonsh", "xonsh"),
        ("elvish", "elvish"),
    ];
    let tool = tool.to_ascii_lowercase();
    match tool.as_str() {
        "cmd" | "cmd.exe" => Some("cmd"),
        "fish" => Some("fish"),
        _ => NAMES.iter().find(|(name, _)| tool.contains(name)).map(|(_, shell)| *shell),
    }
}

/// Fills in what a tool works on that has a row.
fn filled(
    agent: &dyn Dialect,
    row: &Row<'_>,
    name: &str,
    input: &Value,
    mut call: ToolCall,
) -> Result<ToolCall, String> {
    let fields = input.as_object().ok_or_else(|| format!("the input of {name} is not a JSON object"))?;
    let fields = Fields { of: name, fields };
    call.input = input.to_string();
    call.kind = row.kind;
    call.command = command(row, &fields)?;
    let paths = paths(row, &fields)?;
    let home = call.home.clone();
    let spelled = |field: Field| spelled(agent, home.as_deref(), field);
    match row.kind {
        ToolKind::Fetch => call.paths.extend(paths.iter().flat_map(files_of)),
        ToolKind::Search | ToolKind::List => {
            let each = paths.into_iter().flat_map(|field| listed(&call.cwd, field));
            let each: Vec<Field> = each.flat_map(spelled).collect();
            call.paths.extend(each);
        }
        _ => call.paths.extend(paths.into_iter().flat_map(spelled)),
    }
    for key in row.globs {
        for field in fields.several(key)? {
            let each = agent.patterns(name, &field.value).into_iter();
            let each = each.map(|value| Field { name: field.name.clone(), value });
            call.globs.extend(each.flat_map(spelled));
        }
    }
    let named = |cwd: &str, field: Field| -> Vec<String> {
        spelled(field).iter().map(|field| below(cwd, &field.value, home.as_deref())).collect()
    };
    // How the agent reads it need not be the first way.
    let mut others: Vec<String> = Vec::new();
    if let Some(field) = fields.first(row.cwd)? {
        others = named(&call.cwd, field);
        call.cwd = others.remove(0);
    }
    if let Some(field) = fields.first(row.other_cwd)?.filter(|field| !field.value.is_empty()) {
        let mut named = named(&call.cwd, field);
        note(&mut call, OTHER_CWD, named.remove(0).into());
        others.append(&mut named);
    }
    if !others.is_empty() {
        note(&mut call, OTHER_CWDS, others.into());
    }
    Ok(call)
}

/// The input of a tool, and its name for what is wrong with it.
struct Fields<'a> {
    of: &'a str,
    fields: &'a Map<String, Value>,
}

impl Fields<'_> {
    fn text(&self, key: &str) -> Result<Option<Field>, String> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Ok(Some(Field { name: key.to_owned(), value: text.clone() })),
            None | Some(Value::Null) => Ok(None),
            Some(_) => Err(format!("the field {key} of {} is not a string", self.of)),
        }
    }

    fn first(&self, keys: &[&str]) -> Result<Option<Field>, String> {
        keys.iter().find_map(|key| self.text(key).transpose()).transpose()
    }

    fn several(&self, key: &str) -> Result<Vec<Field>, String> {
        let Some(Value::Array(items)) = self.fields.get(key) else {
            return Ok(self.text(key)?.into_iter().collect());
        };
        let field = |(at, item): (usize, &Value)| match item {
            Value::String(text) => Ok(Field { name: format!("{key}/{at}"), value: text.clone() }),
            _ => Err(format!("the field {key} of {} contains a value that is not a string", self.of)),
        };
        items.iter().enumerate().map(field).collect()
    }

    fn missing(&self, key: &str) -> String {
        format!("the input of {} has no {key}", self.of)
    }
}

/// What the tool runs, or the patch that it applies.
fn command(row: &Row<'_>, fields: &Fields<'_>) -> Result<Option<Field>, String> {
    // Which of several the agent takes is not told by their being there.
    let commands: Result<Vec<Field>, String> =
        row.command.iter().filter_map(|key| fields.text(key).transpose()).collect();
    let mut commands = commands?;
    if let (true, Some(key)) = (commands.is_empty(), row.command.first()) {
        return Err(fields.missing(key));
    }
    Ok(match row.kind {
        ToolKind::Shell => together(commands),
        _ if commands.len() > 1 => {
            let texts: Vec<&str> = commands.iter().map(|field| field.value.as_str()).collect();
            // Each is a patch of its own: what one ends with says nothing of the next.
            Some(Field { name: commands[0].name.clone(), value: texts.join("\n*** End Patch\n") })
        }
        _ => commands.pop(),
    })
}

/// The paths that the tool works on, as they are written.
fn paths(row: &Row<'_>, fields: &Fields<'_>) -> Result<Vec<Field>, String> {
    let mut paths = Vec::new();
    for key in row.required {
        paths.push(fields.text(key)?.ok_or_else(|| fields.missing(key))?);
    }
    for key in row.paths {
        paths.extend(fields.several(key)?);
    }
    // A tool that works on a file names it; one that does not may have another name for it.
    let works = matches!(row.kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit);
    match row.paths.first() {
        Some(key) if works && paths.is_empty() => Err(fields.missing(key)),
        _ => Ok(paths),
    }
}

/// The paths that a tool which searches takes a text for. Some take one with blanks apart where there is nothing of that
/// name, as Copilot CLI 1.0.102 does with `grep`, `rg` and `glob`.
fn listed(cwd: &str, field: Field) -> Vec<Field> {
    let text = field.value.trim_matches(is_blank);
    if !text.contains(char::is_whitespace) {
        return vec![field];
    }
    // However the tool reads it: with a tilde it may be in either of two places.
    let is_there = |path: &str| !path.starts_with('~') && Path::new(cwd).join(path).exists();
    if is_there(&field.value) && is_there(text) {
        return vec![field];
    }
    let between = |blank: fn(char) -> bool| text.split(blank).filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = between(|c| c == ' ').collect();
    for part in between(char::is_whitespace) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let parts: Vec<Field> =
        parts.into_iter().map(|part| Field { name: field.name.clone(), value: part.to_owned() }).collect();
    [field].into_iter().chain(parts).collect()
}

/// A path as it is written, and as it may be meant besides.
fn spelled(agent: &dyn Dialect, home: Option<&str>, field: Field) -> Vec<Field> {
    let mut others = agent.readings(&field.value);
    // Some agents take blanks at the ends off, as Claude Code 2.1.330 does for `Grep` and `Glob`.
    others.push(field.value.trim_matches(is_blank).to_owned());
    // Some take an address of a file for its path, as Cursor does.
    others.extend(files_of(&field).into_iter().map(|file| file.value));
    // Not every agent takes a tilde for the home folder.
    if field.value.starts_with('~') {
        others.push(format!("./{}", field.value));
        others.extend(at_home(&field, home).map(|field| field.value));
    }
    let name = field.name.clone();
    let mut all = vec![field];
    for value in others {
        if all.iter().all(|known| known.value != value) {
            all.push(Field { name: name.clone(), value });
        }
    }
    all
}

/// A directory that a call names, seen from the agent's.
fn below(cwd: &str, named: &str, home: Option<&str>) -> String {
    match (named, named.strip_prefix("~/"), home) {
        ("", ..) => cwd.to_owned(),
        ("~", _, Some(home)) => home.to_owned(),
        (_, Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ if named.starts_with('/') => named.to_owned(),
        _ => format!("{}/{named}", cwd.trim_end_matches('/')),
    }
}

/// Fills in what a tool works on that is in no table, with the calls of the agent's own tools that its input holds: `batch` of
/// OpenCode takes `{"tool_calls": [{"tool": "write", "parameters": {..}}]}`.
pub(super) fn guessed_with_calls(
    agent: &dyn Dialect,
    name: &str,
    input: &Value,
    call: ToolCall,
) -> Result<ToolCall, String> {
    let mut inner = Vec::new();
    calls_in(agent, ("", input), DEPTH, &mut inner);
    let mut whole = guessed(name, input, call.clone())?;
    if inner.is_empty() {
        return Ok(whole);
    }
    if inner.len() > MOST_CALLS {
        return Err(format!("the input of {name} contains too many calls"));
    }
    let mut commands: Vec<Field> = whole.command.take().into_iter().collect();
    let mut effects = whole.effects();
    if whole.kind == ToolKind::Edit {
        whole.kind = ToolKind::Other;
        effects.push(FileEffect::new(FileAction::Write, whole.paths.clone()));
    }
    for one in inner {
        let made = read(agent, one.tool, one.input, call.clone())?;
        commands.extend(texts_of(&made));
        effects.extend(effect_of(&made, &one.at));
        whole.globs.extend(made.globs);
    }
    whole.command = together(commands);
    Ok(if effects.is_empty() { whole } else { whole.with_effects(effects) })
}

/// What a call runs, as the text of another one.
fn texts_of(made: &ToolCall) -> Vec<Field> {
    let field = |value: String| Field { name: "command".to_owned(), value };
    let Some(text) = made.command.as_ref().map(|command| quoted(&command.value)) else { return Vec::new() };
    if made.kind != ToolKind::Shell {
        return vec![field(format!("apply_patch {text}"))];
    }
    let others = other_cwds(made);
    let folders = [&made.cwd].into_iter().chain(&others).map(|folder| quoted(&folder::plain_text(folder)));
    folders.map(|folder| field(format!("cd {folder} && eval {text}"))).collect()
}

/// What a call without a text does to files, as it stands at this place of another one's input.
fn effect_of(made: &ToolCall, at: &str) -> Option<FileEffect> {
    let action = match made.kind {
        ToolKind::Write | ToolKind::Edit => FileAction::Write,
        ToolKind::Search => FileAction::Search,
        ToolKind::List => FileAction::List,
        _ => FileAction::Read,
    };
    let searches = action == FileAction::Search;
    if made.command.is_some() || made.paths.is_empty() && !searches {
        return None;
    }
    let own = |field: &Field| Field { name: place_below(at, &field.name), value: field.value.clone() };
    let effect = FileEffect::new(action, made.paths.iter().map(own).collect());
    Some(if searches { effect.recursively() } else { effect })
}

/// A call of one of the agent's own tools in an input.
struct InnerCall<'a> {
    tool: &'static str,
    input: &'a Value,
    /// Where the input is.
    at: String,
}

/// The calls of the agent's own tools in a value, which is at this place.
fn calls_in<'a>(agent: &dyn Dialect, (at, value): (&str, &'a Value), depth: usize, found: &mut Vec<InnerCall<'a>>) {
    match value {
        _ if depth == 0 => {}
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            calls_in(agent, (&place_below(at, &index.to_string()), item), depth - 1, found);
        }),
        Value::Object(fields) => {
            let named = fields.iter().filter(|(key, _)| is(CALL_KEYS, key)).find_map(|(_, value)| {
                // `functions.bash`
                let name = value.as_str()?.rsplit('.').next()?;
                agent.tools().iter().find(|tool| tool.name == name)
            });
            let input = fields.iter().find(|(key, value)| is(INPUT_KEYS, key) && value.is_object());
            if let (Some(tool), Some((key, input))) = (named, input) {
                found.push(InnerCall { tool: tool.name, input, at: place_below(at, key) });
            }
            fields.iter().for_each(|(key, value)| calls_in(agent, (&place_below(at, key), value), depth - 1, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_in_an_input_are_read_by_the_agents_table() {
        let input = json!({"tool_calls": [
            {"tool": "bash", "parameters": {"command": "a", "workdir": "b"}},
            {"tool": "functions.read", "parameters": {"filePath": "/c"}},
            {"tool": "grep", "parameters": {"pattern": "x"}},
            {"tool": "another", "parameters": {"x": 1}},
        ]});
        let call = ToolCall::new("batch", ToolKind::Other, "/w");
        let agent = &crate::agent::opencode::OpenCode;
        let made = guessed_with_calls(agent, "batch", &input, call.clone()).expect("a call");
        let command = &made.command.as_ref().expect("a command").value;
        assert!(command.contains("cd /w/b && eval a") && !command.contains("cat"), "{command}");
        let path = Field::new("tool_calls/1/parameters/filePath", "/c");
        let read = FileEffect::new(FileAction::Read, vec![path]);
        assert_eq!(made.effects(), [read, FileEffect::new(FileAction::Search, Vec::new()).recursively()]);
        let input = json!({"tool_calls": [{"tool": "write", "parameters": {"content": "x"}}]});
        assert!(guessed_with_calls(agent, "batch", &input, call).is_err());
    }
}
