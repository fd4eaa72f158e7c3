//! Answering an agent's hook.
//!
//! The agent runs the call when its hook crashes, hangs or says something it does not understand. So here every
//! way out ends in an answer: one JSON object or nothing on standard output, and never another byte.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use toolgate_host::{Diagnostic, Level, Started, Verdict};

use crate::agent::claude;
use crate::{place, show};

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
        let late = format!("no verdict within {} s", DEADLINE.as_secs());
        watch.give(&claude::refuse(&refusal("deadline", &late)));
    });
    if watching.is_err() {
        answer.give(&claude::refuse(&refusal("threads", "no thread could be started to watch the time")));
    }
    // What a panic prints goes to standard error; the answer is still ours.
    let said = std::panic::catch_unwind(|| claude_says(std::io::stdin().lock()));
    let said = said.unwrap_or_else(|_| claude::refuse(&refusal("panic", "the gate itself failed")));
    answer.give(&said)
}

fn claude_says(input: impl Read) -> String {
    let mut payload = Vec::new();
    if let Err(error) = input.take(PAYLOAD + 1).read_to_end(&mut payload) {
        return claude::refuse(&refusal("payload", &format!("the payload could not be read: {error}")));
    }
    if payload.len() as u64 > PAYLOAD {
        let limit = format!("the payload is larger than {} MiB", PAYLOAD >> 20);
        return claude::refuse(&refusal("payload", &limit));
    }
    let event = match claude::decode(&payload) {
        Ok(event) => event,
        Err(why) => return claude::refuse(&refusal("payload", &why)),
    };
    drop(payload);
    match event {
        claude::Event::Other => String::new(),
        claude::Event::PreToolUse { call, attended } => {
            let judged = block_on(async {
                let plugin = place::default_plugin().map_err(|error| error.to_string())?;
                let files = place::rule_files(&[Path::new(&call.workspace_root), Path::new(&call.cwd)])?.inline();
                let gate = place::gate(&plugin, &call.cwd, call.home.clone(), &call.workspace_root, files);
                let started = gate.start().await.map_err(|error| error.to_string())?;
                let verdict = gate.judge(&call).await;
                // The program ends with its answer; taking the instance down first is time that the agent waits.
                std::mem::forget(gate);
                Ok((verdict, started))
            });
            match judged {
                Ok((verdict, started)) => claude::encode(&verdict, attended, complaint(&started).as_deref()),
                Err(why) => claude::refuse(&refusal("start", &why)),
            }
        }
        claude::Event::SessionStart { cwd } => {
            let root = claude::workspace_root(&cwd);
            let started = block_on(async {
                let plugin = place::default_plugin().map_err(|error| error.to_string())?;
                let files = place::rule_files(&[Path::new(&root), Path::new(&cwd)])?;
                let gate = place::gate(&plugin, &cwd, place::home(), &root, files);
                gate.start().await.map_err(|error| error.to_string())
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
    runtime.map_err(|error| error.to_string())?.block_on(work)
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
