//! A shell call through this program with what the command has that an agent has been given: one that must be denied, one that
//! must pass and one that is asked about. They are texts that are judged; none is ever run.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use toolgate_agents::agent::{Dialect, ParsedAnswer, Trial};
use toolgate_agents::settings::table::TIMEOUT;
use toolgate_gatekeeper::plugin::store::Store;
use toolgate_host::shortened;

use crate::signals;

/// What no rule set lets through, and what none stops.
const DENIED: &str = "rm -rf ~";
const PASSED: &str = "true";

/// What is asked about by the only rule of this file.
const ASKED: &str = "toolgate-doctor-asks";
const RULES: &str = "schema: 1
rules:
  - name: doctor
    program: toolgate-doctor-asks
    ask: true
    reason: whether a question reaches you
";

/// How much of an unexpected answer is shown, in bytes.
const SHOWN: usize = 300;

/// Largest answer that is read.
const ANSWER: u64 = 1 << 20;

/// How this program is started. No other is: what a file names as it may be another one by the time that it runs.
pub(crate) enum Chain {
    /// By this name, with these arguments.
    Hook(String, Vec<String>),
    /// For the session that a shim has with it.
    Session,
}

/// A command that stands before the shell calls of an agent.
pub(crate) struct Probe<'a> {
    pub(crate) dialect: &'a dyn Dialect,
    pub(crate) event: &'a str,
    pub(crate) chain: &'a Chain,
    /// Where the agent is.
    pub(crate) folder: &'a str,
}

/// What came of a call.
struct ProbeResult {
    said: ParsedAnswer,
    /// The same as it was written.
    text: String,
    took: Duration,
}

impl Probe<'_> {
    /// Whether a call is denied that must not run, and how long that takes. The error is what is wrong.
    pub(crate) fn denies(&self) -> Result<Duration, String> {
        let heard = self.hear(DENIED, None)?;
        match heard.said {
            ParsedAnswer::Deny(_) => Ok(heard.took),
            ParsedAnswer::Nothing => Err("it has no output, so the call would run".to_owned()),
            _ => Err(format!("its answer is not a denial: {}", heard.text)),
        }
    }

    /// Whether nothing is said of a call that is harmless.
    pub(crate) fn passes(&self) -> Result<Duration, String> {
        let heard = self.hear(PASSED, None)?;
        match heard.said {
            ParsedAnswer::Nothing => Ok(heard.took),
            _ => Err(format!("it answers {}", heard.text)),
        }
    }

    /// Whether a question becomes one where the agent puts it to its user, which it does at these events, and else a denial.
    pub(crate) fn asks(&self, at: &[&str]) -> Result<Duration, String> {
        let heard = self.hear(ASKED, Some(RULES))?;
        self.is_asked(at, &heard.said, &heard.text)?;
        Ok(heard.took)
    }

    /// The same of an answer.
    fn is_asked(&self, at: &[&str], said: &ParsedAnswer, text: &str) -> Result<(), String> {
        let here = at.contains(&self.event);
        match said {
            ParsedAnswer::Deny(_) => Ok(()),
            ParsedAnswer::Ask(_) if here => Ok(()),
            // It is asked at another event.
            ParsedAnswer::Nothing if !here && !at.is_empty() => Ok(()),
            ParsedAnswer::Ask(_) => Err(format!("{} treats ask as allow, so the call would run", self.dialect.title())),
            _ => Err(format!("its answer is neither a question nor a denial: {text:?}")),
        }
    }

    /// Makes a call, as the agent would in its folder; with these rules instead of the user's, if any are given.
    fn hear(&self, text: &str, rules: Option<&str>) -> Result<ProbeResult, String> {
        let trial = Trial { event: self.event, command: text, cwd: self.folder };
        let payload = self.dialect.trial(&trial);
        let nowhere = |error: std::io::Error| format!("no folder for trial files: {error}");
        let scratch = tempfile::tempdir().map_err(nowhere)?;
        let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
        match self.chain {
            Chain::Session => command.args(["serve", "--stdio", self.dialect.name()]),
            Chain::Hook(name, arguments) => command.arg0(name).args(arguments),
        };
        // The log and the sign of life are the agent's, and this is no call of its. But the same plugins judge it.
        let state = scratch.path().join("toolgate");
        toolgate_host::private::private_folder(&state).map_err(|error| error.to_string())?;
        Store::of_user().and_then(|store| store.copy_to(&state)).map_err(|error| error.to_string())?;
        command.current_dir(self.folder).env("XDG_STATE_HOME", scratch.path()).env("TOOLGATE_NO_SERVE", "1");
        if let Some(rules) = rules {
            std::fs::write(state.join("toolgate.yaml"), rules).map_err(nowhere)?;
            command.env("XDG_CONFIG_HOME", scratch.path());
        }
        let start = Instant::now();
        let answer = match self.chain {
            Chain::Session => session(command, self.event, &payload)?,
            Chain::Hook(..) => once(command, &payload.to_string())?,
        };
        let took = start.elapsed();
        let said = self.dialect.parse_answer(self.event, &answer)?;
        Ok(ProbeResult { said, text: shortened(answer.trim(), SHOWN), took })
    }
}

/// The process group of a command that is tried. All of it ends when this is dropped, or when this program is interrupted:
/// what a shell has started ends with it.
struct Group(Pid);

impl Group {
    fn start(command: &mut Command) -> Result<(Child, Self), String> {
        let child = command.process_group(0).spawn().map_err(unstarted)?;
        let group = Pid::from_child(&child);
        signals::take_along(Some(group.as_raw_nonzero().get()));
        Ok((child, Group(group)))
    }

    /// Leaves it alone: what has answered may have more to do.
    fn leave(self) {
        signals::take_along(None);
        std::mem::forget(self);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It may have ended in this moment.
        let _ = kill_process_group(self.0, Signal::KILL);
        signals::take_along(None);
    }
}

fn unstarted(error: std::io::Error) -> String {
    format!("it cannot be started: {error}")
}

/// Runs a command with this input. The answer is its standard output, if its exit code is 0.
pub(crate) fn once(command: Command, input: &str) -> Result<String, String> {
    once_within(Duration::from_secs(TIMEOUT), command, input)
}

fn once_within(limit: Duration, mut command: Command, input: &str) -> Result<String, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, group) = Group::start(&mut command)?;
    let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = input.to_owned();
    let (done, output) = mpsc::channel();
    let (complained, complaint) = mpsc::channel();
    let writer = std::thread::Builder::new().spawn(move || {
        if let Some(stdin) = &mut stdin {
            // Whoever does not read it will answer wrongly, or not.
            let _ = stdin.write_all(input.as_bytes());
        }
    });
    let other = std::thread::Builder::new().spawn(move || drop(complained.send(bounded(stderr))));
    let waiter = std::thread::Builder::new().spawn(move || {
        let said = bounded(stdout);
        drop(done.send(child.wait().map(|status| (status, said, complaint.recv().unwrap_or_default()))));
    });
    writer.and(other).and(waiter).map_err(unstarted)?;
    let Ok(output) = output.recv_timeout(limit) else {
        return Err(format!("it does not answer within {} s", limit.as_secs_f64()));
    };
    group.leave();
    let (status, said, complaint) = output.map_err(unstarted)?;
    if status.success() {
        return Ok(said);
    }
    Err(format!("it ends with {status}: {}", shortened(complaint.trim(), SHOWN)))
}

/// What comes out of a stream, as far as it is read: whoever says more is not listened to.
fn bounded(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // Where it breaks off it ends.
        let _ = stream.take(ANSWER).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The same in a session as a shim has it.
fn session(mut command: Command, event: &str, payload: &Value) -> Result<String, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut child, group) = Group::start(&mut command)?;
    let request = json!({ "schema": 1, "id": 1, "event": event, "payload": payload });
    let result = result(&mut child, format!("{request}\n"));
    // It is of no more use.
    drop(group);
    let _ = child.wait();
    result.ok_or_else(|| format!("`serve --stdio` has no result within {TIMEOUT} s"))
}

/// The result of the one request that is made.
fn result(child: &mut Child, request: String) -> Option<String> {
    let end = Instant::now() + Duration::from_secs(TIMEOUT);
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let (each, lines) = mpsc::channel();
    let reading = std::thread::Builder::new().spawn(move || {
        for line in BufReader::new(stdout.take(ANSWER)).lines().map_while(Result::ok) {
            if each.send(line).is_err() {
                break;
            }
        }
    });
    let writing = std::thread::Builder::new().spawn(move || {
        // Whoever does not read it will not answer either.
        let _ = stdin.write_all(request.as_bytes()).and_then(|()| stdin.flush());
        stdin
    });
    // At the end of its input a session ends.
    let _open = reading.and(writing).ok()?;
    loop {
        let line = lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
        let Ok(frame) = serde_json::from_str::<Value>(&line) else { continue };
        if let (true, Some(result)) = (frame["id"] == 1, frame.get("result")) {
            return Some(result.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_agents::settings::hook_failures;
    use toolgate_agents::settings::table::AGENTS;

    use super::*;

    #[test]
    fn what_a_command_says_is_bounded_and_its_exit_code_counts() {
        // A text for the shell, and what comes of it.
        let cases = [
            ("cat", Ok("x")),
            ("echo no >&2; exit 3", Err("it ends with exit status: 3: no")),
            ("exec cat /dev/zero", Err("it ends with signal")),
            ("exec cat /dev/zero >&2", Err("it ends with signal")),
        ];
        for (text, expected) in cases {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", text]);
            match (once(command, "x"), expected) {
                (Ok(said), Ok(expected)) => assert_eq!(said, expected, "{text}"),
                (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{text}: {why}"),
                (said, _) => panic!("{text}: {said:?}"),
            }
        }
    }

    #[test]
    fn a_question_must_not_become_a_yes() {
        let nested = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"x"}}"#;
        // What an agent is answered at an event, and whether the question reaches its user or the call is denied.
        let cases = [
            ("claude", "PreToolUse", nested, true),
            ("claude", "PreToolUse", "", false),
            ("codex", "PreToolUse", nested, false),
            ("droid", "PreToolUse", nested, false),
            ("droid", "PreToolUse", "", false),
            ("droid", "PreToolUse", r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#, false),
            ("droid", "PreToolUse", &nested.replace("ask", "deny"), true),
            ("gemini", "BeforeTool", r#"{"decision":"ask","reason":"x"}"#, false),
            ("copilot", "preToolUse", r#"{"permissionDecision":"ask","permissionDecisionReason":"x"}"#, true),
            ("cursor", "beforeShellExecution", r#"{"permission":"ask","agent_message":"x"}"#, true),
            ("cursor", "beforeShellExecution", "{}", false),
            // It is asked at the event above.
            ("cursor", "preToolUse", "{}", true),
            ("cursor", "preToolUse", r#"{"permission":"ask","agent_message":"x"}"#, false),
        ];
        for (agent, event, answer, expected) in cases {
            let known = AGENTS.iter().find(|known| known.name() == agent).expect(agent);
            let probe = Probe { dialect: known.dialect, event, chain: &Chain::Session, folder: "/" };
            let said = known.dialect.parse_answer(event, answer);
            let reached = said.and_then(|said| probe.is_asked(hook_failures::of(known).asks, &said, answer));
            assert_eq!(reached.is_ok(), expected, "{agent} {event} {answer}: {reached:?}");
        }
    }

    #[test]
    fn what_a_late_command_has_started_ends_with_it() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "(sleep 1; : > late) & wait"]).current_dir(scratch.path());
        let said = once_within(Duration::from_millis(200), command, "");
        assert_eq!(said, Err("it does not answer within 0.2 s".to_owned()));
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(!scratch.path().join("late").exists(), "it goes on");
    }
}
