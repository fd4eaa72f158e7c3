//! What the programs are asked: a command, as Claude Code hands it to a hook, and what ought to become of it. The
//! payloads of this crate are in `payloads.jsonl`; labelled cases of other guards' suites are read where they lie.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use crate::Error;
use crate::place::{HOME, WORK};

/// A command with its label. Long texts are one `line` so many `times`, where `{lines}` stands in the command.
#[derive(Clone, Debug, Deserialize)]
pub struct Payload {
    /// What it is called.
    #[serde(alias = "id")]
    pub name: String,
    /// What ought to become of it.
    #[serde(alias = "expected")]
    pub label: Label,
    /// The shell text.
    pub command: String,
    /// The directory of the call.
    #[serde(default = "work")]
    pub cwd: String,
    /// Which policy a labelled case belongs to.
    #[serde(default)]
    pub scope: String,
    #[serde(default)]
    line: String,
    #[serde(default)]
    times: usize,
}

fn work() -> String {
    WORK.into()
}

/// What ought to become of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Not to run, or not without a person's word.
    #[serde(alias = "ask")]
    Block,
    /// Nothing speaks against it.
    Allow,
}

impl Payload {
    /// Those of this crate.
    ///
    /// # Errors
    /// If a line is no payload.
    pub fn all() -> Result<Vec<Payload>, Error> {
        read(Path::new("payloads.jsonl"), include_str!("../payloads.jsonl"))
    }

    /// The labelled cases beside the project, or where `TOOLGATE_SHARED` says: those of these scopes, in the directory
    /// that every place has. `None` if there are none.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn cases(scopes: &[&str]) -> Result<Option<Vec<Payload>>, Error> {
        let named = std::env::var_os("TOOLGATE_SHARED").map(PathBuf::from);
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
        let file = named.unwrap_or_else(beside).join("cases/guard.jsonl");
        if !file.is_file() {
            return Ok(None);
        }
        let mut cases = read(&file, &fs::read_to_string(&file)?)?;
        cases.retain(|case| scopes.contains(&&*case.scope) && case.cwd == WORK);
        Ok(Some(cases))
    }

    /// What a hook of Claude Code reads.
    pub fn json(&self) -> String {
        let session = "342080d0-2921-4439-a113-35d5678aaa7c";
        let transcript = format!("{HOME}/.claude/projects/-home-dev-project/{session}.jsonl");
        json!({
            "session_id": session, "transcript_path": transcript, "cwd": self.cwd, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": self.command, "description": "Run it"}, "tool_use_id": "toolu_01",
        })
        .to_string()
    }
}

fn read(file: &Path, text: &str) -> Result<Vec<Payload>, Error> {
    let one = |(at, line)| {
        let failed = |source| Error::Payload { file: file.into(), line: at + 1, source };
        let mut payload: Payload = serde_json::from_str(line).map_err(failed)?;
        if payload.times > 0 {
            payload.command = payload.command.replace("{lines}", &payload.line.repeat(payload.times));
        }
        Ok(payload)
    };
    text.lines().enumerate().map(one).collect()
}
