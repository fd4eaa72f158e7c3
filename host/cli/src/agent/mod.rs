//! The agents' dialects: one file per agent, each a table of its tools and the shape of its answers.
//!
//! Here is what they share: reading a tool's input by its row in such a table, and the row for tools that are in
//! none.

pub(crate) mod claude;
pub(crate) mod pi;

use serde_json::Value;
use toolgate_host::{Field, ToolCall, ToolKind, Verdict};

use crate::show;

/// What an agent's tool works on, by the keys of its input.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) kind: ToolKind,
    /// Keys that must hold a text: a command for a shell, a path for anything else.
    pub(crate) required: &'static [&'static str],
    /// Keys that may hold a path.
    pub(crate) paths: &'static [&'static str],
    /// Keys that may hold a file name pattern.
    pub(crate) globs: &'static [&'static str],
}

/// Keys of an unknown tool's input that hold a shell command.
const COMMAND_KEYS: &[&str] = &["bash", "cmd", "command", "commands", "script", "shell", "shell_command"];

/// Those under which a list is several commands, and not the words of one.
const SEVERAL_KEYS: &[&str] = &["commands"];

/// Keys of an unknown tool's input that hold paths.
#[rustfmt::skip]
const PATH_KEYS: &[&str] = &[
    "absolute_path", "cwd", "destination", "dir", "dir_path", "directory", "file", "file_path", "file_paths",
    "filename", "files", "folder", "from", "input_path", "notebook_path", "old_path", "new_path", "output_path",
    "path", "paths", "root", "source", "src", "target", "target_file", "to", "uri", "workdir",
];

/// Characters of what matched that a reason has.
const MATCHED: usize = 1_000;

/// How deep into an unknown tool's input is looked.
const DEPTH: usize = 64;

/// The reason as agents and people read it: what matched, by which rule.
pub(crate) fn reason_text(verdict: &Verdict, reason: &str) -> String {
    let first = verdict.findings.first();
    let rule = first.map(|finding| format!(" (rule {})", show::whole(&finding.rule, show::LINE))).unwrap_or_default();
    let words = first.and_then(|finding| finding.evidence.first()).map(|one| one.text.as_str()).unwrap_or_default();
    let words = if words.is_empty() { String::new() } else { format!(" Matched: {}", show::whole(words, MATCHED)) };
    // Nothing is so long that what stands behind it is out of sight.
    format!("{}{rule}.{words}", show::whole(reason, show::REASON))
}

/// Fills in what a tool works on. An error says which field is missing or of the wrong type.
pub(crate) fn read(tools: &[Tool], name: &str, input: &Value, mut call: ToolCall) -> Result<ToolCall, String> {
    let Value::Object(fields) = input else {
        return Err(format!("the input of {name} is not a JSON object"));
    };
    call.input = input.to_string();
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        let mut commands = Vec::new();
        generic("", input, DEPTH, &mut commands, &mut call.paths)?;
        call.command = together(commands);
        return Ok(call);
    };
    call.kind = tool.kind;
    let text = |key: &str, required: bool| match fields.get(key) {
        Some(Value::String(text)) => Ok(Some(Field { name: key.to_owned(), value: text.clone() })),
        None | Some(Value::Null) if !required => Ok(None),
        None => Err(format!("the input of {name} has no {key}")),
        Some(_) => Err(format!("the field {key} of {name} is not a text")),
    };
    for key in tool.required {
        let field = text(key, true)?;
        if tool.kind == ToolKind::Shell {
            call.command = field;
        } else {
            call.paths.extend(field);
        }
    }
    for key in tool.paths {
        call.paths.extend(text(key, false)?);
    }
    for key in tool.globs {
        call.globs.extend(text(key, false)?);
    }
    Ok(call)
}

/// A tool that no table knows: every field that looks like a command or a path by its key, at any depth.
fn generic(
    at: &str,
    value: &Value,
    depth: usize,
    commands: &mut Vec<Field>,
    paths: &mut Vec<Field>,
) -> Result<(), String> {
    if depth == 0 {
        return Err("the input nests too deeply to be judged".to_owned());
    }
    let key = at.rsplit('/').find(|part| part.parse::<usize>().is_err()).unwrap_or("");
    let field = |value: String| Field { name: at.to_owned(), value };
    match value {
        Value::Object(_) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
            Err(format!("the field {at} looks like a command and is an object"))
        }
        Value::Object(fields) => {
            let arguments = fields.iter().find(|(key, _)| is(&["args", "arguments"], key));
            let arguments = arguments.and_then(|(_, value)| value.as_array()).map_or(&[][..], Vec::as_slice);
            for (key, value) in fields {
                let at = if at.is_empty() { key.clone() } else { format!("{at}/{key}") };
                match value {
                    // `{"command": "rm", "args": ["-rf", "/"]}`
                    Value::String(program) if is(COMMAND_KEYS, key) && !arguments.is_empty() => {
                        let value = format!("{program} {}", words(&at, arguments)?);
                        commands.push(Field { name: at, value });
                    }
                    _ => generic(&at, value, depth - 1, commands, paths)?,
                }
            }
            Ok(())
        }
        // `["bash", "-c", "..."]`: one command as its words. Under a key for several, each is one of its own.
        Value::Array(items) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
            commands.push(field(words(at, items)?));
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| generic(&format!("{at}/{index}"), value, depth - 1, commands, paths)),
        Value::String(text) if is(COMMAND_KEYS, key) => {
            commands.push(field(text.clone()));
            Ok(())
        }
        Value::String(text) if is(PATH_KEYS, key) => {
            paths.push(field(text.strip_prefix("file://").unwrap_or(text).to_owned()));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The words of one command, written as a shell would need them. A list or an object is no word.
fn words(at: &str, items: &[Value]) -> Result<String, String> {
    let words: Result<Vec<String>, String> = items
        .iter()
        .map(|item| match item {
            Value::String(word) => Ok(quoted(word)),
            Value::Number(_) | Value::Bool(_) | Value::Null => Ok(item.to_string()),
            _ => Err(format!("the field {at} looks like a command, and one of its words is no text")),
        })
        .collect();
    Ok(words?.join(" "))
}

/// Several commands as one text, each closed in itself, so that a quote left open in one does not hide the next.
fn together(mut commands: Vec<Field>) -> Option<Field> {
    if commands.len() < 2 {
        return commands.pop();
    }
    let name = commands[0].name.clone();
    let lines: Vec<String> = commands.iter().map(|command| format!("eval {}", quoted(&command.value))).collect();
    Some(Field { name, value: lines.join("\n") })
}

/// Whether a key is among these, however it is cased and joined: `filePath`, `file_path`, `FilePath`.
fn is(keys: &[&str], key: &str) -> bool {
    let plain = |key: &str| key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let key = plain(key);
    keys.iter().any(|known| plain(known) == key)
}

/// A word as a shell would need it written.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_tools_are_read_by_what_their_fields_look_like() {
        let cases = [
            (json!({"command": "ls"}), Some(("command", "ls")), vec![]),
            (json!({"command": ["sh", "-c", "a b"]}), Some(("command", "sh -c 'a b'")), vec![]),
            (json!({"args": {"cmd": "ls"}, "x": 1}), Some(("args/cmd", "ls")), vec![]),
            (json!({"cmd": "a", "script": "b c"}), Some(("cmd", "eval a\neval 'b c'")), vec![]),
            (json!({"commands": ["a b", "c"]}), Some(("commands/0", "eval 'a b'\neval c")), vec![]),
            (json!({"command": ["rm", "-rf", "/", 1]}), Some(("command", "rm -rf / 1")), vec![]),
            (json!({"Command": "rm", "args": ["-rf", "a b"]}), Some(("Command", "rm -rf 'a b'")), vec![]),
            (json!({"filePath": "a", "FILE_PATHS": ["b"]}), None, vec![("filePath", "a"), ("FILE_PATHS/0", "b")]),
            (
                json!({"edits": [{"path": "a"}, {"path": "b"}]}),
                None,
                vec![("edits/0/path", "a"), ("edits/1/path", "b")],
            ),
            (json!({"paths": ["a"], "uri": "file:///b"}), None, vec![("paths/0", "a"), ("uri", "/b")]),
            (json!({"text": "rm -rf /", "n": 3}), None, vec![]),
        ];
        for (input, command, paths) in cases {
            let call = read(&[], "mcp__x", &input, ToolCall::new("x", ToolKind::Other, "/")).expect("an object");
            let pair = |field: &Field| (field.name.clone(), field.value.clone());
            let own = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
            assert_eq!(call.command.as_ref().map(pair), command.map(own), "{input}");
            assert_eq!(call.paths.iter().map(pair).collect::<Vec<_>>(), paths.into_iter().map(own).collect::<Vec<_>>());
        }
    }
}
