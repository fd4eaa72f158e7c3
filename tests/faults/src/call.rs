//! A call of an agent: a process of the hook's, and its answer as Claude Code would take it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Error;
use crate::world::words_command;

/// How often it is looked whether a process has ended.
const LOOK: Duration = Duration::from_millis(2);

/// What a call is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Must not run unasked.
    Destructive,
    /// May run.
    Harmless,
    /// None: the session starts.
    Started,
    /// Has run, and the agent tells of it.
    Ran,
    /// A script that was written, and the agent tells of it.
    Told,
    /// None: the agent's turn has ended.
    Ended,
}

impl Kind {
    /// How long it may take. Agents wait ten seconds where they can be told no, and half a minute for advice.
    pub fn bound(self) -> Duration {
        Duration::from_secs(if self.gates() || self == Kind::Started { 10 } else { 28 })
    }

    /// Whether the agent can be told no.
    pub fn gates(self) -> bool {
        matches!(self, Kind::Destructive | Kind::Harmless)
    }

    /// The agent's name for the event.
    fn event(self) -> &'static str {
        match self {
            Kind::Destructive | Kind::Harmless => "PreToolUse",
            Kind::Started => "SessionStart",
            Kind::Ran | Kind::Told => "PostToolUse",
            Kind::Ended => "Stop",
        }
    }
}

/// What the agent does with what came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It runs the call.
    Nothing,
    /// It asks its user.
    Asked,
    /// It is told no, with a reason.
    Denied,
    /// It is told no by the exit code alone.
    Refused,
    /// It hears nothing that it understands, and runs the call.
    Failed(String),
    /// It hears nothing at all.
    Hung,
    /// The hook was killed by the fault, which nothing can be done about.
    Killed,
}

/// A call, and what came back.
#[derive(Clone, Debug)]
pub struct Said {
    /// What it is good for.
    pub kind: Kind,
    /// What marks it in the audit log. Empty where the hook cannot have read it.
    pub mark: String,
    /// What the agent does.
    pub outcome: Outcome,
    /// How long that took.
    pub took: Duration,
    /// What was said, for a person.
    pub text: String,
}

/// How a hook is called.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The program and its arguments.
    words: Vec<OsString>,
    /// What it is called through.
    pub through: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
    /// Where.
    pub folder: PathBuf,
    /// The agent's folder, as the payload says it.
    pub project: PathBuf,
    /// The session, as the payload says it.
    pub session: String,
}

impl Hook {
    /// The hook with these variables and no others.
    pub fn new(program: &Path, variables: &[(&str, OsString)], project: &Path) -> Self {
        Hook {
            words: vec![program.into(), "hook".into(), "claude".into()],
            through: Vec::new(),
            variables: variables.iter().map(|(name, value)| (OsString::from(name), value.clone())).collect(),
            folder: project.to_owned(),
            project: project.to_owned(),
            session: "faults".to_owned(),
        }
    }

    /// With another variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Without a variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(&OsString::from(name));
        self
    }

    /// With more arguments.
    #[must_use]
    pub fn arguments(mut self, more: &[&str]) -> Self {
        self.words.extend(more.iter().map(OsString::from));
        self
    }

    /// Called through another program. What it is called through already comes first.
    #[must_use]
    pub fn through(mut self, words: &[&str]) -> Self {
        self.through.extend(words.iter().map(OsString::from));
        self
    }

    /// What the agent sends for a command, or for a script that has the text.
    fn payload(&self, kind: Kind, command: &str) -> Value {
        let mut payload = json!({
            "hook_event_name": kind.event(), "session_id": self.session, "cwd": self.project, "permission_mode": "default",
        });
        let more = match kind {
            Kind::Destructive | Kind::Harmless => json!({ "tool_name": "Bash", "tool_input": { "command": command } }),
            Kind::Started => json!({ "source": "startup" }),
            Kind::Ran => json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": {} }),
            Kind::Told => {
                let input = json!({ "file_path": self.project.join("told.sh"), "content": command });
                json!({ "tool_name": "Write", "tool_input": input, "tool_response": {} })
            }
            Kind::Ended => json!({ "stop_hook_active": false }),
        };
        for (key, value) in more.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        payload
    }

    /// Makes a call.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn call(&self, kind: Kind, command: &str, mark: &str) -> Result<Said, Error> {
        let mut running = self.start(kind, command, mark, Reader::All)?;
        let payload = std::mem::take(&mut running.payload);
        let stdin = running.stdin.take();
        // A hook that does not read to the end has its reasons.
        let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&payload)));
        let said = running.said();
        drop(writer.join());
        said
    }

    /// Starts a call and sends nothing yet.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&self, kind: Kind, command: &str, mark: &str, reader: Reader) -> Result<Running, Error> {
        let mut words = self.through.clone();
        words.extend(self.words.iter().cloned());
        words.push(kind.event().into());
        let mut process = words_command(&words);
        process.env_clear().envs(&self.variables).current_dir(&self.folder);
        process.stdin(Stdio::piped()).stderr(Stdio::piped());
        let (stdout, kept) = reader.pipe()?;
        process.stdout(stdout);
        let began = Instant::now();
        let mut child = process.spawn()?;
        drop(process);
        let stdin = child.stdin.take();
        let (stdout, kept) = match kept {
            Some((end, true)) => (Some(read(File::from(end))), None),
            Some((end, false)) => (None, Some(end)),
            None => (None, None),
        };
        let stderr = child.stderr.take().map(read);
        let payload = self.payload(kind, &format!("{command} # {mark}")).to_string().into_bytes();
        let mark = mark.to_owned();
        Ok(Running { kind, mark, payload, child, stdin, stdout, stderr, began, _kept: kept })
    }
}

/// Who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The agent, to its end.
    All,
    /// Nobody, any more.
    Gone,
    /// Somebody who takes nothing out of a pipe that is full.
    Asleep,
}

impl Reader {
    /// What the hook writes to, the end of it that is kept, and whether it is read.
    fn pipe(self) -> Result<(Stdio, Option<(OwnedFd, bool)>), Error> {
        let (reader, writer) = io::pipe()?;
        if self == Reader::Asleep {
            let flags = rustix::fs::fcntl_getfl(&writer)?;
            rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK)?;
            while rustix::io::write(&writer, &[b' '; 4_096]).is_ok() {}
            rustix::fs::fcntl_setfl(&writer, flags)?;
        }
        let kept = (self != Reader::Gone).then(|| (OwnedFd::from(reader), self == Reader::All));
        Ok((Stdio::from(OwnedFd::from(writer)), kept))
    }
}

/// A hook that runs.
#[derive(Debug)]
pub struct Running {
    kind: Kind,
    /// What marks the call.
    pub mark: String,
    /// What it is to be sent.
    pub payload: Vec<u8>,
    /// Its process.
    pub child: Child,
    /// Where it is sent.
    pub stdin: Option<std::process::ChildStdin>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    began: Instant,
    _kept: Option<OwnedFd>,
}

impl Running {
    /// Sends this part of the payload; whoever does not read it has gone.
    pub fn send(&mut self, part: std::ops::Range<usize>) {
        let part = self.payload.get(part).unwrap_or_default();
        let _ = self.stdin.as_mut().map(|stdin| stdin.write_all(part));
    }

    /// Waits for the end. One that does not come in time is brought about.
    ///
    /// # Errors
    /// If the process cannot be waited for.
    pub fn said(mut self) -> Result<Said, Error> {
        let end = self.began + self.kind.bound() + Duration::from_secs(5);
        let mut status = self.child.try_wait()?;
        while status.is_none() && Instant::now() < end {
            thread::sleep(LOOK);
            status = self.child.try_wait()?;
        }
        let took = self.began.elapsed();
        if status.is_none() {
            self.child.kill()?;
            self.child.wait()?;
        }
        let joined = |thread: Option<JoinHandle<Vec<u8>>>| thread.and_then(|thread| thread.join().ok());
        let stdout = joined(self.stdout).unwrap_or_default();
        let stderr = joined(self.stderr).unwrap_or_default();
        let outcome = status.map_or(Outcome::Hung, |status| outcome(status, &stdout));
        let shown = [&stdout[..], &stderr[..]].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
        Ok(Said { kind: self.kind, mark: self.mark, outcome, took, text: shown.join(" ") })
    }
}

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}

/// What Claude Code does: an exit code of 2 is a no, nothing is none, and whatever it does not understand is none either.
fn outcome(status: ExitStatus, stdout: &[u8]) -> Outcome {
    match status.code() {
        Some(2) => return Outcome::Refused,
        Some(0) => {}
        Some(code) => return Outcome::Failed(format!("exit code {code}")),
        None => return Outcome::Failed(format!("signal {}", status.signal().unwrap_or_default())),
    }
    if stdout.is_empty() {
        return Outcome::Nothing;
    }
    let Ok(answer) = serde_json::from_slice::<Value>(stdout) else {
        return Outcome::Failed("no JSON".to_owned());
    };
    match answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str) {
        Some("deny") => Outcome::Denied,
        Some("ask") => Outcome::Asked,
        None => Outcome::Nothing,
        Some(other) => Outcome::Failed(format!("it says {other}")),
    }
}
