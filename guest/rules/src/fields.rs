//! Which fields of which file tools a rule is about: `tool: edit, field: content`.

use crate::call::{Call, ToolKind};

/// What of a file tool's input a pattern is tried on.
#[derive(Clone, Debug)]
pub(crate) struct FieldOf {
    /// Names of tools or of what they do; none for all that write.
    tools: Vec<String>,
    content: bool,
}

impl FieldOf {
    /// `None` for a rule on commands.
    pub(super) fn read(tools: Vec<String>, field: Option<&str>) -> Result<Option<Self>, String> {
        let shell = tools.iter().filter(|tool| is_shell(tool)).count();
        let content = match field {
            None | Some("command") if shell == tools.len() => return Ok(None),
            None => return Err("a rule for file tools needs a field: path or content".to_owned()),
            Some("command") => return Err("file tools have no command: the field is path or content".to_owned()),
            Some("path" | "content") if shell > 0 => {
                return Err("a shell command has no such field; use effects to match what it does to paths".to_owned());
            }
            Some(field @ ("path" | "content")) => field == "content",
            Some(other) => return Err(format!("field must be command, path or content, not {other}")),
        };
        Ok(Some(FieldOf { tools, content }))
    }

    pub(crate) fn is_content(&self) -> bool {
        self.content
    }

    /// Whether it is about this call.
    pub(crate) fn is_about(&self, call: &Call) -> bool {
        match self.tools.is_empty() {
            true => call.kind == ToolKind::Write,
            false => self.tools.iter().any(|tool| is(tool, call)),
        }
    }
}

/// Whether this means whatever runs shell text.
pub(super) fn is_shell(tool: &str) -> bool {
    matches!(tool, "bash" | "shell")
}

/// Whether a tool is meant by this: what it does, or its name.
pub(super) fn is(tool: &str, call: &Call) -> bool {
    match tool {
        tool if is_shell(tool) => call.kind == ToolKind::Shell,
        // A patch makes files as well.
        "write" => call.kind == ToolKind::Write && (!call.edits || call.command.is_some()),
        "edit" => call.kind == ToolKind::Write && call.edits,
        "read" => call.kind == ToolKind::Read,
        "search" => call.kind == ToolKind::Search,
        "list" => call.kind == ToolKind::List,
        "fetch" => call.kind == ToolKind::Fetch,
        name => call.tool == name,
    }
}
