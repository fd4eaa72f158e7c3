//! Claude Code: the payload of its hooks, and the answers it understands.
//!
//! From runs of version 2.1: an answer is one JSON object on standard output with exit code 0. Nothing at all is
//! no opinion; `allow` would skip the user's own permission prompts and is never said. Anything else on standard
//! output, and any other exit code but 2, lets the call run.

use serde_json::{Value, json};
use toolgate_host::ToolKind;

use super::payload::{call, nested, nested_answer, result};
use super::{
    Answer, Asks, Dialect, Event, EventPayload, HookEvent, HookKind, ParsedAnswer, Payload, TRIAL, Tool, Trial,
};

/// Claude Code, or an agent that speaks like it.
pub struct Claude {
    /// Whether it is Claude Code itself.
    itself: bool,
}

/// Claude Code.
pub static CLAUDE: Claude = Claude { itself: true };

/// Whoever runs the hooks in Claude Code's settings and sends its payload, and is not Claude Code. Devin reads a decision at
/// the top of an answer only, and nobody knows what others make of a question.
pub static ALIKE: Claude = Claude { itself: false };

impl Claude {
    /// Which of the two has sent a payload that no other agent has. The payloads differ in nothing that has to be there: so by
    /// what Claude Code tells its hooks besides, and by what has been seen in none of its payloads. It runs no other agent's
    /// hooks than its own.
    pub(super) fn sent(payload: &Value, variables: &dyn Fn(&str) -> Option<String>, own: bool) -> &'static Claude {
        let session = payload.get("session_id").and_then(Value::as_str);
        if session.is_some() && variables("CLAUDE_CODE_SESSION_ID").as_deref() == session {
            return &CLAUDE;
        }
        let is_named = |name: &str| name.starts_with(char::is_uppercase) || name.starts_with("mcp__");
        let other = !own
            || payload.get("timestamp").is_some()
            || payload.get("tool_name").and_then(Value::as_str).is_some_and(|name| !is_named(name))
            || variables("DEVIN_PROJECT_DIR").is_some();
        if other { &ALIKE } else { &CLAUDE }
    }
}

/// As of Claude Code 2.1.
#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool::shell("Bash", &[]),
    Tool::file("Edit", ToolKind::Edit, &["file_path"]),
    Tool::look("Glob", ToolKind::List, &["path"], &["pattern"]),
    Tool::look("Grep", ToolKind::Search, &["path"], &["glob"]),
    Tool::look("LS", ToolKind::List, &["path"], &[]),
    Tool::file("MultiEdit", ToolKind::Edit, &["file_path"]),
    Tool::file("NotebookEdit", ToolKind::Edit, &["notebook_path"]),
    Tool::shell("PowerShell", &[]),
    Tool::file("Read", ToolKind::Read, &["file_path"]),
    Tool::fetch("WebFetch", &["url"]),
    Tool::other("WebSearch", ToolKind::Fetch),
    // JavaScript that starts sub-agents; it has no shell and no files.
    Tool::look("Workflow", ToolKind::Read, &["scriptPath"], &[]),
    Tool::file("Write", ToolKind::Write, &["file_path"]),
];

/// Modes in which every Claude Code puts a question to its user.
const ASKING_MODES: &[&str] = &["acceptEdits", "default", "plan"];

/// Modes in which old versions say yes in their user's place (anthropics/claude-code issues 77212 and 89561), and newer ones ask.
const SILENT_MODES: &[&str] = &["auto", "bypassPermissions", "dontAsk"];

/// The first version that was seen to ask in all modes, in a terminal. Issue 89561 is about 2.1.278.
const ASKS_ALWAYS: [u32; 3] = [2, 1, 305];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        if self.itself { "Claude Code" } else { "an agent like Claude Code" }
    }

    fn tools(&self) -> &'static [Tool] {
        TOOLS
    }

    fn is_understood(&self) -> bool {
        self.itself
    }

    fn decode(&self, _event: Option<&str>, payload: &Payload<'_>) -> Result<Event, String> {
        let moment = moment(payload.text("hook_event_name")?);
        if moment.when == HookKind::Unknown {
            return payload.unknown(moment, ["tool_name", "tool_input"]);
        }
        let scene = payload.scene("session_id", "cwd", &["CLAUDE_PROJECT_DIR"])?;
        let mode = payload.optional("permission_mode");
        let made = || {
            let input = payload.field("tool_input")?;
            call(self, &scene, (payload.optional("tool_use_id"), mode), payload.text("tool_name")?, input)
        };
        let about = match moment.when {
            HookKind::Before | HookKind::Permission => {
                let asked =
                    ASKING_MODES.contains(&mode) || (SILENT_MODES.contains(&mode) && asks_in_all_modes(payload));
                let asks = if self.itself && asked { Asks::Agent } else { Asks::Nobody };
                EventPayload::Call { call: Box::new(made()?), asks }
            }
            HookKind::After => {
                let failed = payload.value.get("error");
                // A command that fails has its exit code in a sentence.
                let code = failed.and_then(Value::as_str).and_then(|text| text.strip_prefix("Exit code "));
                let code = code.and_then(|text| text.split_whitespace().next()?.parse().ok());
                let code = code.or_else(|| ended_well(payload.value.get("tool_response")?).then_some(0));
                let output = failed.or_else(|| payload.value.get("tool_response")).unwrap_or(&Value::Null);
                EventPayload::Result(Box::new(result(made()?, output, failed.is_some(), code)))
            }
            when => payload.about(when),
        };
        Ok(Event { moment, scene, about })
    }

    /// Claude Code 2.1.330 takes the `glob` of `Grep` apart at blanks, and what has no braces at commas.
    fn patterns(&self, tool: &str, text: &str) -> Vec<String> {
        if tool != "Grep" {
            return vec![text.to_owned()];
        }
        let parts = text.split(|c: char| c.is_whitespace() || c == '\u{feff}').flat_map(|part| {
            let between: &[char] = if part.contains(['{', '}']) { &[] } else { &[','] };
            part.split(between)
        });
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn encode(&self, moment: &HookEvent, answer: &Answer, message: Option<&str>) -> String {
        let said = match (moment.when, answer) {
            (HookKind::Permission, Answer::Deny(reason)) => {
                let decision = json!({ "behavior": "deny", "message": reason });
                json!({ "hookSpecificOutput": { "hookEventName": moment.name, "decision": decision } })
            }
            // Claude Code asks its user at that moment anyway.
            (HookKind::Permission, _) => json!({}),
            _ => nested_answer(moment, answer),
        };
        super::with_message(said, message)
    }

    /// Only where the event for it is installed, which is for plugins.
    fn tells_failures(&self) -> bool {
        false
    }

    fn unreadable(&self, event: Option<&str>) -> HookEvent {
        moment(event.unwrap_or("PreToolUse"))
    }

    fn trials(&self) -> &'static [&'static str] {
        &["PreToolUse"]
    }

    fn trial(&self, trial: &Trial<'_>) -> Value {
        json!({
            "session_id": TRIAL, "transcript_path": "", "cwd": trial.cwd, "prompt_id": TRIAL,
            "permission_mode": "default", "effort": { "level": "medium" }, "hook_event_name": trial.event,
            "tool_name": "Bash", "tool_use_id": TRIAL,
            "tool_input": { "command": trial.command, "description": "a test of Toolgate" },
        })
    }

    fn parse_answer(&self, event: &str, answer: &str) -> Result<ParsedAnswer, String> {
        nested(answer, event, None, None)
    }
}

/// Whether Claude Code says that a person sits at its terminal, and that its version asks them in each mode. Without a person
/// a question is a denial there, and ours says more.
fn asks_in_all_modes(payload: &Payload<'_>) -> bool {
    let attended = payload.variable("CLAUDE_CODE_SESSION_ATTENDED").as_deref() == Some("1");
    attended && payload.variable("AI_AGENT").and_then(|name| version(&name)).is_some_and(|found| found >= ASKS_ALWAYS)
}

/// The version in `claude-code_2-1-332_harness`.
fn version(name: &str) -> Option<[u32; 3]> {
    let mut parts = name.strip_prefix("claude-code_")?.split('_').next()?.splitn(3, '-').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// Whether a result says that a command has ended with 0: not one that goes on in the background, and not one whose other
/// exit code is taken for a success.
fn ended_well(response: &Value) -> bool {
    let said = |key: &str| response.get(key).is_some_and(|value| !value.is_null());
    response.get("interrupted") == Some(&Value::Bool(false))
        && !said("backgroundTaskId")
        && !said("returnCodeInterpretation")
}

fn moment(name: &str) -> HookEvent {
    let when = match name {
        "SessionStart" => HookKind::SessionStart,
        "SessionEnd" => HookKind::SessionEnd,
        "PreToolUse" => HookKind::Before,
        "PermissionRequest" => HookKind::Permission,
        "PostToolUse" | "PostToolUseFailure" => HookKind::After,
        "Stop" => HookKind::TurnEnd,
        "SubagentStop" => HookKind::SubagentEnd,
        _ => HookKind::Unknown,
    };
    HookEvent { when, name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_reach_whoever_is_there() {
        let new = Some("claude-code_2-1-332_harness");
        let old = Some("claude-code_2-1-278_harness");
        let cases = [
            ("default", None, None, Asks::Agent),
            ("auto", None, None, Asks::Nobody),
            ("auto", new, Some("1"), Asks::Agent),
            ("dontAsk", new, Some("1"), Asks::Agent),
            ("bypassPermissions", new, Some("1"), Asks::Agent),
            ("bypassPermissions", Some("claude-code_2-2-0_agent"), Some("1"), Asks::Agent),
            ("bypassPermissions", Some("claude-code_3-0-0"), Some("1"), Asks::Agent),
            // Nobody is there, or nobody says so.
            ("auto", new, Some("0"), Asks::Nobody),
            ("auto", new, None, Asks::Nobody),
            // A version that has said yes by itself, or none that is known.
            ("auto", old, Some("1"), Asks::Nobody),
            ("auto", None, Some("1"), Asks::Nobody),
            ("auto", Some("claude-code_x"), Some("1"), Asks::Nobody),
            ("auto", Some("claude-code_2-1"), Some("1"), Asks::Nobody),
            ("auto", Some("another_9-9-9"), Some("1"), Asks::Nobody),
            ("another", new, Some("1"), Asks::Nobody),
        ];
        for (mode, agent, attended, expected) in cases {
            let variables = |name: &str| match name {
                "AI_AGENT" => agent.map(str::to_owned),
                "CLAUDE_CODE_SESSION_ATTENDED" => attended.map(str::to_owned),
                _ => None,
            };
            let value = json!({
                "session_id": "s", "cwd": "/w", "permission_mode": mode, "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": { "command": "ls" },
            });
            let event = CLAUDE.decode(None, &Payload::new(&value, &variables)).expect("an event");
            let EventPayload::Call { asks, .. } = event.about else { panic!("a call") };
            assert_eq!(asks, expected, "{mode} {agent:?} {attended:?}");
        }
    }
}
