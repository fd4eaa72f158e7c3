//! The user's own table of tools: what MCP tools and replacements of an agent's own work on.
//!
//! It is `tools.yaml` in the user's folder for configuration, which is behind the gate; a project has none. It maps an
//! agent, or `any`, to tools, and these to the keys of their input. A row for a tool that is known adds to what is known.
//!
//! ```yaml
//! claude:
//!   mcp__files__put: {kind: write, paths: [target]}
//! any:
//!   run_remote: {kind: shell, command: [script], cwd: [dir]}
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use toolgate_host::ToolKind;
use toolgate_host::private::{by_others, is_missing, read_regular};

use super::Row;
use crate::dirs::{self, USER_TOOLS};

/// The section that is about every agent.
const ANY: &str = "any";

/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What a tool works on, as the user says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRow {
    kind: Kind,
    /// The keys of a shell command, or of a patch if the tool edits. One has to be there.
    #[serde(default)]
    command: Vec<String>,
    /// Keys of paths that have to be there.
    #[serde(default)]
    required: Vec<String>,
    /// Keys of paths that may be there.
    #[serde(default)]
    paths: Vec<String>,
    /// Keys of file name patterns.
    #[serde(default)]
    globs: Vec<String>,
    /// Keys of the directory that the call works in.
    #[serde(default)]
    cwd: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Shell,
    Read,
    Write,
    Edit,
    Search,
    List,
    Fetch,
    Other,
}

impl UserRow {
    /// Does something with it as with a row of an agent's own table.
    pub fn with<T>(&self, work: impl FnOnce(&Row<'_>) -> T) -> T {
        let kind = match self.kind {
            Kind::Shell => ToolKind::Shell,
            Kind::Read => ToolKind::Read,
            Kind::Write => ToolKind::Write,
            Kind::Edit => ToolKind::Edit,
            Kind::Search => ToolKind::Search,
            Kind::List => ToolKind::List,
            Kind::Fetch => ToolKind::Fetch,
            Kind::Other => ToolKind::Other,
        };
        fn keys(keys: &[String]) -> Vec<&str> {
            keys.iter().map(String::as_str).collect()
        }
        work(&Row {
            kind,
            command: &keys(&self.command),
            required: &keys(&self.required),
            paths: &keys(&self.paths),
            globs: &keys(&self.globs),
            cwd: &keys(&self.cwd),
            other_cwd: &[],
        })
    }
}

/// The table as it was read.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct UserTools(BTreeMap<String, BTreeMap<String, UserRow>>);

impl UserTools {
    /// The user's row for a tool.
    ///
    /// # Errors
    /// If the table is there and cannot be used: which tools are meant is not known then, so no call is judged by less
    /// than what it says.
    pub(crate) fn row(agent: &str, tool: &str) -> Result<Option<UserRow>, String> {
        Ok(Self::of_user()?.and_then(|tools| tools.take(agent, tool)))
    }

    /// The user's table, if there is one.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn of_user() -> Result<Option<Self>, String> {
        let Some(path) = dirs::user_file_named(USER_TOOLS) else { return Ok(None) };
        let wrong = |why: String| format!("{}: {why}; fix it or move it away", path.display());
        // Nearly nobody has one, and then there is nothing to be looked at on the way to it.
        let bytes = match read_regular(&path, LARGEST) {
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(wrong(error.to_string())),
            Ok(bytes) => bytes,
        };
        // A row takes the place of what its tool's fields look like.
        if let Some(written) = by_others(&path) {
            return Err(wrong(format!("another user may have written it: {written}")));
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
        Self::parse(&text).map(Some).map_err(wrong)
    }

    /// Reads a table.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(UserTools::default());
        }
        let tools: UserTools = serde_saphyr::from_str(text).map_err(|error| {
            let message = error.to_string();
            // Behind the first line it draws the place.
            let first = message.lines().next().unwrap_or_default();
            match error.location() {
                Some(at) if !first.contains(&format!("line {}", at.line())) => format!("line {}: {first}", at.line()),
                _ => first.to_owned(),
            }
        })?;
        let agents = || super::all().map(super::Dialect::name).chain([ANY]);
        match tools.0.keys().find(|name| !agents().any(|agent| agent == *name)) {
            Some(name) => {
                Err(format!("unknown agent {name}; known agents: {}", agents().collect::<Vec<_>>().join(", ")))
            }
            None => Ok(tools),
        }
    }

    /// The row of an agent's tool, or of that tool of any agent.
    pub fn take(mut self, agent: &str, tool: &str) -> Option<UserRow> {
        [agent, ANY].iter().find_map(|section| self.0.get_mut(*section)?.remove(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_agent_and_tool() {
        let text = "claude: {a: {kind: write, paths: [x]}}\nany: {a: {kind: read}, b: {kind: shell, command: [s, t]}}";
        let cases = [("claude", "a", "Write 1"), ("pi", "a", "Read 0"), ("pi", "b", "Shell 0"), ("pi", "c", "none")];
        for (agent, tool, expected) in cases {
            let row = UserTools::parse(text).expect("a table").take(agent, tool);
            let found =
                row.map_or("none".to_owned(), |row| row.with(|row| format!("{:?} {}", row.kind, row.paths.len())));
            assert_eq!(found.replace("ToolKind::", ""), expected, "{agent} {tool}");
        }
    }

    #[test]
    fn a_wrong_table_says_what_is_wrong() {
        let cases = [
            ("", ""),
            ("# nothing", ""),
            ("claud: {}", "unknown agent claud"),
            ("claude: {a: {kind: wirte}}", "line 1"),
            ("claude:\n  a: {kind: wirte}", "unknown variant"),
            ("claude: {a: {kind: write, path: [x]}}", "unknown field"),
            ("claude: [", "line 1"),
        ];
        for (text, expected) in cases {
            let found = UserTools::parse(text).err().unwrap_or_default();
            assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{text}: {found}");
            assert!(!found.contains('\n'), "{text}: {found}");
        }
    }
}
