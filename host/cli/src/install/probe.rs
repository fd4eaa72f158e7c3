//! A call through the very command that an agent has been given, run as the agent runs it: one that must be denied and
//! one that must pass. Both are texts that are judged; neither is ever run.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_host::shortened;

use super::table::TIMEOUT;

/// What no rule set lets through, and what none stops.
const DENIED: &str = "rm -rf ~";
const PASSED: &str = "true";

/// How much of an unexpected answer is shown, in bytes.
const SHOWN: usize = 300;

/// Largest answer that is read.
const ANSWER: u64 = 1 << 20;

/// How the command is started.
pub(crate) enum Chain {
    /// A program with its arguments.
    Exec(Vec<String>),
    /// A text for `sh -c`.
    Shell(String),
    /// The session that a shim has with this program.
    Session(String),
}

/// What came of the two calls: nothing, or what is wrong.
pub(crate) struct Outcome {
    pub(crate) denies: Result<(), String>,
    pub(crate) passes: Result<(), String>,
}

/// Makes both calls, as this agent would in this folder.
pub(crate) fn run(agent: &str, chain: &Chain, folder: &Path) -> Outcome {
    // The log and the sign of life are the agent's, and this is no call of its.
    let state = match tempfile::tempdir() {
        Ok(state) => state,
        Err(error) => {
            let error = format!("there is no place for a trial's files: {error}");
            return Outcome { denies: Err(error.clone()), passes: Err(error) };
        }
    };
    let start = |mut command: Command| {
        command.current_dir(folder).env("XDG_STATE_HOME", state.path()).env("TOOLGATE_NO_SERVE", "1");
        command
    };
    match chain {
        Chain::Session(program) => {
            let mut command = Command::new(program);
            command.args(["serve", "--stdio", agent]);
            session(start(command), agent, folder)
        }
        Chain::Exec(words) => {
            let [program, arguments @ ..] = words.as_slice() else {
                return Outcome {
                    denies: Err("there is no command".into()),
                    passes: Err("there is no command".into()),
                };
            };
            let command = || {
                let mut command = Command::new(program);
                command.args(arguments);
                start(command)
            };
            hook(agent, folder, command)
        }
        Chain::Shell(text) => {
            let command = || {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", text]);
                start(command)
            };
            hook(agent, folder, command)
        }
    }
}

fn hook(agent: &str, folder: &Path, command: impl Fn() -> Command) -> Outcome {
    let said = |text: &str| once(command(), &payload(agent, text, folder).to_string());
    Outcome {
        denies: said(DENIED).and_then(|answer| denial(agent, &answer)),
        passes: said(PASSED).and_then(|answer| match answer.trim() {
            "" => Ok(()),
            // It wants an object in any case.
            "{}" if agent == "cursor" => Ok(()),
            answer => Err(format!("it answers {}", shortened(answer, SHOWN))),
        }),
    }
}

/// A shell call as the agent announces it.
fn payload(agent: &str, text: &str, folder: &Path) -> Value {
    let (cwd, id) = (folder.display().to_string(), "toolgate-doctor");
    let input = json!({ "command": text, "description": "a trial of the gate" });
    let mut common = json!({ "session_id": id, "transcript_path": "", "cwd": cwd });
    let mut with = |more: Value| {
        for (key, value) in more.as_object().into_iter().flatten() {
            common[key] = value.clone();
        }
        common.clone()
    };
    let time = jiff::Timestamp::now();
    match agent {
        "claude" => with(json!({
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input,
            "tool_use_id": id,
        })),
        "codex" => with(json!({
            "turn_id": id, "hook_event_name": "PreToolUse", "model": id, "permission_mode": "default",
            "tool_name": "Bash", "tool_input": { "command": text }, "tool_use_id": id,
        })),
        "gemini" => with(json!({
            "hook_event_name": "BeforeTool", "timestamp": time.to_string(), "tool_name": "run_shell_command",
            "tool_input": input,
        })),
        "droid" => with(json!({
            "permission_mode": "off", "hook_event_name": "PreToolUse", "tool_name": "Execute",
            "tool_input": { "command": text, "summary": "a trial of the gate" },
        })),
        "copilot" => json!({
            "sessionId": id, "timestamp": time.as_millisecond(), "cwd": cwd, "toolName": "bash", "toolArgs": input,
        }),
        "cursor" => json!({
            "conversation_id": id, "generation_id": id, "model": id, "hook_event_name": "beforeShellExecution",
            "cursor_version": "", "workspace_roots": [cwd], "command": text, "cwd": cwd,
        }),
        "pi" => json!({
            "event": {
                "type": "tool_call", "toolName": "bash", "toolCallId": id, "input": { "command": text },
            },
            "cwd": cwd, "hasUI": false, "mode": "print", "session": id,
        }),
        _ => json!({
            "input": { "tool": "bash", "sessionID": id, "callID": id }, "output": { "args": input },
            "directory": cwd, "worktree": cwd,
        }),
    }
}

/// Whether an answer is a no that this agent takes for one.
fn denial(agent: &str, answer: &str) -> Result<(), String> {
    let unfit = |why: &str| Err(format!("{why}: {}", shortened(answer.trim(), SHOWN)));
    if answer.trim().is_empty() {
        return Err("it says nothing, and so the call would run".to_owned());
    }
    let Ok(value) = serde_json::from_str::<Value>(answer) else {
        return unfit("its answer is not JSON");
    };
    let (decision, reason) = match agent {
        "claude" | "codex" | "droid" => {
            let inner = &value["hookSpecificOutput"];
            (&inner["permissionDecision"], &inner["permissionDecisionReason"])
        }
        "gemini" => (&value["decision"], &value["reason"]),
        "copilot" => (&value["permissionDecision"], &value["permissionDecisionReason"]),
        _ => (&value["permission"], &value["agent_message"]),
    };
    let says_no = decision == "deny" || agent == "gemini" && decision == "block";
    // Codex runs the call if there is no reason, or a key that it does not know.
    let strict =
        agent != "codex" || value.as_object().is_some_and(|keys| keys.keys().all(|key| CODEX.contains(&key.as_str())));
    match reason.as_str() {
        Some(reason) if says_no && strict && !reason.is_empty() => Ok(()),
        _ => unfit("its answer is no denial"),
    }
}

/// The keys beside which Codex still takes a denial for one.
const CODEX: &[&str] = &["hookSpecificOutput", "systemMessage"];

/// Runs a command with this input. The answer is its standard output, if its exit code is 0.
pub(crate) fn once(mut command: Command, input: &str) -> Result<String, String> {
    let unstarted = |error: std::io::Error| format!("it cannot be started: {error}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(unstarted)?;
    let (mut stdin, process) = (child.stdin.take(), rustix::process::Pid::from_child(&child));
    let input = input.to_owned();
    let (done, output) = mpsc::channel();
    let writer = std::thread::Builder::new().spawn(move || {
        if let Some(stdin) = &mut stdin {
            // Whoever does not read it will answer wrongly, or not.
            let _ = stdin.write_all(input.as_bytes());
        }
    });
    let waiter = std::thread::Builder::new().spawn(move || drop(done.send(child.wait_with_output())));
    writer.and(waiter).map_err(unstarted)?;
    let Ok(output) = output.recv_timeout(Duration::from_secs(TIMEOUT)) else {
        // It may have ended in this moment.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        return Err(format!("it gives no answer within {TIMEOUT} s"));
    };
    let output = output.map_err(unstarted)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("it ends with {}: {}", output.status, shortened(said.trim(), SHOWN)))
}

/// The two calls in a session as a shim has it.
fn session(mut command: Command, agent: &str, folder: &Path) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let both = |error: String| Outcome { denies: Err(error.clone()), passes: Err(error) };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return both(format!("it cannot be started: {error}")),
    };
    let event = if agent == "pi" { "tool_call" } else { "tool.execute.before" };
    let request = |id: u32, text: &str| {
        json!({ "schema": 1, "id": id, "event": event, "payload": payload(agent, text, folder) }).to_string() + "\n"
    };
    let requests = request(1, DENIED) + &request(2, PASSED);
    let mut results = [None, None];
    if let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) {
        let (each, lines) = mpsc::channel();
        let reader = std::thread::Builder::new().spawn(move || {
            for line in BufReader::new(stdout.take(ANSWER)).lines() {
                let Ok(line) = line else { break };
                if each.send(line).is_err() {
                    break;
                }
            }
        });
        // Whoever does not read it will not answer either.
        let _ = stdin.write_all(requests.as_bytes()).and_then(|()| stdin.flush());
        if reader.is_ok() {
            collect(&lines, &mut results);
        }
    }
    // It is of no more use, and may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    let [denied, passed] = results;
    let shown = |result: &Value| shortened(&result.to_string(), SHOWN);
    let silent = || format!("`serve --stdio {agent}` gives no result within {TIMEOUT} s");
    Outcome {
        denies: match denied {
            Some(result) if result["block"] == true => Ok(()),
            Some(result) => Err(format!("its answer is no denial: {}", shown(&result))),
            None => Err(silent()),
        },
        passes: match passed {
            Some(result) if result == json!({}) => Ok(()),
            Some(result) => Err(format!("it answers {}", shown(&result))),
            None => Err(silent()),
        },
    }
}

/// Waits for the results with the numbers 1 and 2.
fn collect(lines: &Receiver<String>, results: &mut [Option<Value>; 2]) {
    let end = Instant::now() + Duration::from_secs(TIMEOUT);
    while results.iter().any(Option::is_none) {
        let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) else { return };
        let Ok(mut frame) = serde_json::from_str::<Value>(&line) else { continue };
        let place = match frame["id"].as_u64() {
            Some(1) => &mut results[0],
            Some(2) => &mut results[1],
            _ => continue,
        };
        if frame.get("result").is_some() {
            *place = Some(frame["result"].take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_one_in_the_agents_own_words() {
        let claude = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
        let asks = r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"no"}}"#;
        let without = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":""}}"#;
        let more =
            r#"{"continue":false,"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
        let cases = [
            ("claude", claude, true),
            ("codex", claude, true),
            ("codex", more, false),
            ("claude", more, true),
            ("droid", asks, false),
            ("codex", without, false),
            ("gemini", claude, false),
            ("gemini", r#"{"decision":"deny","reason":"no"}"#, true),
            ("copilot", r#"{"permissionDecision":"deny","permissionDecisionReason":"no"}"#, true),
            ("copilot", claude, false),
            ("cursor", r#"{"permission":"deny","agent_message":"no"}"#, true),
            ("cursor", "", false),
            ("claude", "no", false),
        ];
        for (agent, answer, expected) in cases {
            assert_eq!(denial(agent, answer).is_ok(), expected, "{agent} {answer}");
        }
    }
}
