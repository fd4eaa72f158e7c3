//! Commands and what they must answer: `cases.toml`.

use serde::Deserialize;

use crate::mcp::Answer;
use crate::shell::Shell;

/// The table in the repository.
const TABLE: &str = include_str!("../cases.toml");

/// A command, what it must answer, and commands after it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is about.
    #[serde(default)]
    pub name: String,
    /// What is run.
    pub command: String,
    /// Exactly what it writes.
    pub output: Option<String>,
    /// What must be somewhere in it.
    #[serde(default)]
    pub has: Vec<String>,
    /// What must not be.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Its exit code: any but 0 if it is -1.
    #[serde(default)]
    pub exit: i64,
    /// Whether the answer is an error without an exit code.
    #[serde(default)]
    pub refused: bool,
    /// The shell that it is for; both if there is none.
    pub shell: Option<String>,
    /// Shells with prompts that it is not for.
    #[serde(default)]
    pub unless: Vec<String>,
    /// A time limit in seconds.
    pub timeout: Option<u64>,
    /// What is run right after it.
    #[serde(default)]
    pub then: Vec<Case>,
}

#[derive(Deserialize)]
struct Table {
    /// What is about the screen.
    screen: Vec<Case>,
    /// What is not.
    case: Vec<Case>,
}

/// The prompts with which all cases are run.
const THOROUGH: [&str; 2] = ["plain", "frame"];

/// All cases for a shell with a prompt.
///
/// # Errors
/// Says what is wrong with the table.
pub fn cases(shell: Shell, prompt: &str) -> Result<Vec<Case>, toml::de::Error> {
    let table: Table = toml::from_str(TABLE)?;
    let both = format!("{} {prompt}", shell.name());
    let is_for =
        |case: &Case| case.shell.as_deref().is_none_or(|named| named == shell.name()) && !case.unless.contains(&both);
    let more = if THOROUGH.contains(&prompt) { table.case } else { Vec::new() };
    Ok(table.screen.into_iter().chain(more).filter(is_for).collect())
}

impl Case {
    /// What is wrong with an answer, in words; nothing if it is as it must be.
    pub fn wrong(&self, answer: &Answer) -> Option<String> {
        let text = answer.text.as_str();
        let mut wrong = Vec::new();
        if let Some(output) = &self.output {
            let expected = if output.is_empty() { "(no output)" } else { output };
            if text != expected {
                wrong.push(format!("the text is not {expected:?}"));
            }
        }
        let absent = self.has.iter().filter(|part| !text.contains(part.as_str()));
        wrong.extend(absent.map(|part| format!("there is no {part:?}")));
        let present = self.lacks.iter().filter(|part| text.contains(part.as_str()));
        wrong.extend(present.map(|part| format!("there is {part:?}")));
        let right = match (self.refused, self.exit) {
            (true, _) => answer.exit().is_none(),
            (_, -1) => answer.exit().is_some_and(|exit| exit != 0),
            (_, exit) => answer.exit() == Some(exit),
        };
        if !right {
            wrong.push(format!("the exit code is {:?}", answer.exit()));
        }
        if answer.is_error != (self.refused || self.exit != 0) {
            wrong.push(format!("is_error is {}", answer.is_error));
        }
        (!wrong.is_empty()).then(|| format!("{}: {:?}\n  {}", self.name, answer.text, wrong.join("; ")))
    }
}
