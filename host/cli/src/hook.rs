//! Answering an agent's hook.
//!
//! The agent runs the call when its hook crashes, hangs or says something it does not understand. So here every
//! way out ends in an answer: one JSON object or nothing on standard output, and never another byte.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use toolgate_host::audit::NoAudit;
use toolgate_host::{
    Decided, Decision, Diagnostic, Level, Plugin, Policy, Started, ToolCall, ToolKind, Verdict, plain,
};

use crate::agent::claude;
use crate::packs::Packs;
use crate::place::{Opened, Standing};
use crate::{ancestry, place, show};

/// The exit code that every agent takes for "no".
pub(crate) const BLOCKED: u8 = 2;

/// When an answer is given at the latest. Agents wait ten seconds when they are set up as the README says.
const DEADLINE: Duration = Duration::from_secs(8);

/// How long an answer may take to be written once its time has come.
const WRITING: Duration = Duration::from_secs(1);

/// Largest payload that is read. A whole file that an agent writes is in it.
const PAYLOAD: u64 = 16 << 20;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent that asks
    agent: Agent,

    #[command(flatten)]
    packs: Packs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Agent {
    /// Claude Code
    Claude,
}

/// Makes sure that there is one answer.
#[derive(Clone, Default)]
struct Answer(Arc<AtomicBool>);

impl Answer {
    /// Gives this answer and ends the program, unless there was one already: then that one ends it.
    fn give(&self, text: &str) -> ! {
        if self.0.swap(true, Ordering::SeqCst) {
            // A reader that takes nothing must not keep the agent waiting for ever.
            std::thread::sleep(WRITING);
            std::process::exit(BLOCKED.into());
        }
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        // An answer that does not arrive must not be taken for none. And nothing is tidied up: the agent waits.
        std::process::exit(if written.is_ok() { 0 } else { BLOCKED.into() });
    }
}

/// Answers the hook on standard input.
pub(crate) fn run(arguments: &Arguments) -> ! {
    let Agent::Claude = arguments.agent;
    let answer = Answer::default();
    let watch = answer.clone();
    let watching = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        std::thread::sleep(DEADLINE);
        let late = refusal("deadline", &format!("no verdict within {} s", DEADLINE.as_secs()));
        // What held the verdict may hold the log as well; the answer does not wait for it long.
        let (done, logged) = std::sync::mpsc::channel();
        let entry = late.clone();
        let writer = std::thread::Builder::new().spawn(move || drop(done.send(failed(entry, None))));
        let answer = writer.ok().and_then(|_| logged.recv_timeout(WRITING / 2).ok());
        watch.give(&claude::refuse(&answer.unwrap_or(late)));
    });
    if watching.is_err() {
        answer.give(&claude::refuse(&refusal("threads", "no thread could be started to watch the time")));
    }
    // What a panic prints goes to standard error; the answer is still ours.
    let said = std::panic::catch_unwind(|| claude_says(std::io::stdin().lock(), &arguments.packs));
    let said = said.unwrap_or_else(|_| {
        let panicked = refusal("panic", "the gate itself failed");
        let logged = std::panic::catch_unwind(|| failed(panicked.clone(), None));
        claude::refuse(&logged.unwrap_or(panicked))
    });
    answer.give(&said)
}

fn claude_says(input: impl Read, packs: &Packs) -> String {
    let mut payload = Vec::new();
    if let Err(error) = input.take(PAYLOAD + 1).read_to_end(&mut payload) {
        let why = format!("the payload could not be read: {error}");
        return claude::refuse(&failed(refusal("payload", &why), None));
    }
    if payload.len() as u64 > PAYLOAD {
        let limit = format!("the payload is larger than {} MiB", PAYLOAD >> 20);
        return claude::refuse(&failed(refusal("payload", &limit), None));
    }
    let event = match claude::decode(&payload) {
        Ok(event) => event,
        Err(why) => return claude::refuse(&failed(refusal("payload", &why), None)),
    };
    drop(payload);
    match event {
        claude::Event::Other => String::new(),
        claude::Event::PreToolUse { call, attended } => {
            let judged = block_on(async {
                let plugin = place::default_plugin().map_err(|error| error.to_string())?;
                let files = place::rule_files(&[Path::new(&call.workspace_root), Path::new(&call.cwd)])?.inline();
                let (cwd, home, root) = (&call.cwd, call.home.as_deref(), &call.workspace_root);
                let standing = Standing { plugin: &plugin, cwd, home, root, packs };
                let before = Instant::now();
                let Opened { gate, started, .. } = standing.open(files).await.map_err(|failure| failure.message)?;
                let verdict = gate.judge(&call).await;
                let took = before.elapsed();
                // The program ends with its answer; taking the instance down first is time that the agent waits.
                std::mem::forget(gate);
                let silent = matches!(verdict.decision, Decision::Pass) && verdict.findings.is_empty();
                if silent {
                    // Nearly every call: there is nothing to decide, log or remember.
                    return Ok((Decided { verdict, warnings: Vec::new() }, started));
                }
                remember(&verdict);
                let policy = policy(Some(&plugin)).agent_asks(attended);
                Ok((policy.decide(&call, verdict, took).await, started))
            });
            match judged {
                Ok((decided, started)) => {
                    let warnings = decided.warnings.iter().map(|warning| format!("Toolgate: {}", plain(warning)));
                    let messages: Vec<String> = complaint(&started).into_iter().chain(warnings).collect();
                    let message = (!messages.is_empty()).then(|| messages.join("\n"));
                    claude::encode(&decided.verdict, message.as_deref())
                }
                Err(why) => claude::refuse(&failed(refusal("start", &why), Some(&call))),
            }
        }
        claude::Event::SessionStart { cwd } => {
            ancestry::note(place::home().map(PathBuf::from).as_deref());
            let root = claude::workspace_root(&cwd);
            let started = block_on(async {
                let plugin = place::default_plugin().map_err(|error| error.to_string())?;
                let files = place::rule_files(&[Path::new(&root), Path::new(&cwd)])?;
                let home = place::home();
                let standing = Standing { plugin: &plugin, cwd: &cwd, home: home.as_deref(), root: &root, packs };
                let opened = standing.open(files).await.map_err(|failure| failure.message)?;
                Ok(opened.started)
            });
            match started {
                Ok(started) => {
                    let message = all_complaints(&started.diagnostics);
                    claude::notice(message.as_deref())
                }
                Err(why) => {
                    claude::notice(Some(&format!("Toolgate does not start, so every call will be blocked: {why}")))
                }
            }
        }
    }
}

fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let done = runtime.block_on(work);
    // Without waiting for what hangs in it.
    runtime.shutdown_background();
    done
}

/// What becomes of calls, and where it is logged. Claude Code asks its user itself.
fn policy(plugin: Option<&Plugin>) -> Policy {
    let policy = Policy::new().circumstances(place::circumstances("claude", plugin));
    match (place::audit(), place::grants()) {
        (Ok(audit), Ok(grants)) => policy.audit(audit).grants(grants),
        // Where no log can be, nothing is logged, and so nothing runs that would have to be.
        _ => policy.audit(NoAudit),
    }
}

/// A call that could not be judged, in the log like any other that does not run.
fn failed(verdict: Verdict, call: Option<&ToolCall>) -> Verdict {
    let nothing = ToolCall::new("", ToolKind::Other, "");
    let decided = block_on(async {
        Ok(policy(None).decide(call.unwrap_or(&nothing), verdict.clone(), Duration::ZERO).await.verdict)
    });
    decided.unwrap_or(verdict)
}

/// Remembers that the process which calls is an agent, once there is something that it might want to lift.
fn remember(verdict: &Verdict) {
    if !matches!(verdict.decision, Decision::Pass) {
        ancestry::note(place::home().map(PathBuf::from).as_deref());
    }
}

fn refusal(rule: &str, why: &str) -> Verdict {
    Verdict::block(format!("host:{rule}"), format!("{why}; a call that could not be judged does not run"))
}

/// What the user is told at every call: that a rule file is not in force at all.
fn complaint(started: &Started) -> Option<String> {
    let severe: Vec<Diagnostic> =
        started.diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error).cloned().collect();
    all_complaints(&severe)
}

fn all_complaints(diagnostics: &[Diagnostic]) -> Option<String> {
    let lines: Vec<String> = diagnostics.iter().map(show::place).collect();
    (!lines.is_empty()).then(|| format!("Toolgate: {}", lines.join("\nToolgate: ")))
}
