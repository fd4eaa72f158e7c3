//! Answering an agent's hook.
//!
//! The agent runs the call when its hook crashes, hangs or says something it does not understand. So here every
//! way out ends in an answer: one JSON object or nothing on standard output, and never another byte.

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use toolgate_host::Verdict;

use crate::agent::{self, Dialect, HOOKS, Moment, When};
use crate::desk::{Desk, User, denial, refusal};
use crate::fired;
use crate::judge::Judge;
use crate::lens::Switch;
use crate::packs::Packs;
use crate::plugins::Plugins;
use crate::serve::resident;
use crate::signals;
use crate::standing;
use crate::watch::Watch;

/// The exit code that every agent takes for "no".
pub(crate) const BLOCKED: u8 = 2;

/// The exit code for what went wrong where there is nothing to say "no" to.
const FAILED: u8 = 1;

/// When an answer is given at the latest. Agents wait ten seconds when they are set up as `toolgate install` does.
const DEADLINE: Duration = Duration::from_secs(8);

/// The same where an agent waits for advice, for which it gives half a minute.
const ADVICE: Duration = Duration::from_secs(25);

/// Largest payload that is read, in bytes. A whole file that an agent writes is in it.
pub(crate) const PAYLOAD: u64 = 16 << 20;

/// How long an answer may take to be written once its time has come.
const WRITING: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent that asks
    #[arg(value_parser = PossibleValuesParser::new(HOOKS.iter().map(|agent| agent.name())))]
    agent: String,

    /// The agent's name for the event, where its payload does not say it
    event: Option<String>,

    #[command(flatten)]
    packs: Packs,

    #[command(flatten)]
    plugins: Plugins,

    #[command(flatten)]
    lens: Switch,
}

/// Makes sure that there is one answer.
#[derive(Clone)]
struct Answer {
    given: Arc<AtomicBool>,
    /// Whether all of it has arrived.
    written: Arc<AtomicBool>,
    /// The exit code if it does not arrive.
    lost: u8,
}

impl Answer {
    /// Gives this answer and ends the program, unless there was one already: then that one ends it.
    fn give(&self, text: &str, after: impl FnOnce()) -> ! {
        if self.given.swap(true, Ordering::SeqCst) {
            // A reader that takes nothing must not keep the agent waiting for ever.
            std::thread::sleep(WRITING);
            // What follows an answer may take its time; then that it was a pass must not become a "no".
            let arrived = self.written.load(Ordering::SeqCst);
            std::process::exit(if arrived { 0 } else { self.lost.into() });
        }
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        // An answer that does not arrive must not be taken for none.
        let lost = written.is_err() || !text.is_empty() && leads_nowhere();
        if lost {
            let _ = writeln!(std::io::stderr(), "toolgate: standard output takes no answer; it is: {text}");
        }
        self.written.store(!lost, Ordering::SeqCst);
        // A failure in what follows would be taken for one of the hook, which the answer is not.
        let code = if lost { self.lost } else { 0 };
        signals::end_now_with(code);
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(after));
        // Nothing is tidied up: the agent waits.
        std::process::exit(code.into());
    }
}

/// Does something on a thread of its own, and waits no longer for it than this. None if it failed or takes longer.
fn within<T: Send + 'static>(time: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::Builder::new().spawn(move || drop(done.send(work()))).ok()?;
    ended.recv_timeout(time).ok()
}

/// Whether nobody reads standard output. Where it was closed, the standard library has opened `/dev/null` in its place, and
/// everything can be written there.
fn leads_nowhere() -> bool {
    let device = |path| {
        let found = std::fs::metadata(path).ok().filter(|found| found.file_type().is_char_device())?;
        Some(found.rdev())
    };
    device("/dev/fd/1").is_some_and(|out| device("/dev/null") == Some(out))
}

/// The exit code for an answer that does not arrive. Where nothing can be denied, agents take a "no" for something else: at
/// the end of a turn it makes them go on, for ever.
fn lost(moment: &Moment) -> u8 {
    if moment.when.gates() { BLOCKED } else { FAILED }
}

/// The exit code for arguments that are wrong, if they are those of a hook.
pub(crate) fn misused(arguments: &[String]) -> u8 {
    let agent = arguments.iter().position(|argument| argument == "hook").and_then(|at| {
        let agent = agent::named(arguments.get(at + 1)?)?;
        Some(agent.unreadable(arguments.get(at + 2).map(String::as_str)))
    });
    match agent {
        // An event that the agent does not have is rather a mistake.
        Some(moment) if moment.when != When::Unknown => lost(&moment),
        _ => BLOCKED,
    }
}

/// Answers the hook on standard input.
pub(crate) fn run(arguments: &Arguments) -> ! {
    let event = arguments.event.as_deref();
    let Some(agent) = agent::named(&arguments.agent) else { std::process::exit(BLOCKED.into()) };
    let unreadable = agent.unreadable(event);
    let answer = Answer { given: Arc::default(), written: Arc::default(), lost: lost(&unreadable) };
    signals::end_with(answer.lost);
    let watch = answer.clone();
    let late = unreadable.clone();
    let watching = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        let deadline = if late.when.gates() || late.when == When::SessionStart { DEADLINE } else { ADVICE };
        std::thread::sleep(deadline);
        // There is an answer, and what follows it takes its time: nothing is late.
        if watch.given.load(Ordering::SeqCst) {
            watch.give("", || {});
        }
        if !late.when.gates() {
            tracing::warn!(event = late.name, "no answer in time");
            watch.give(&agent.encode(&late, &agent::Answer::Nothing, None), || {});
        }
        let verdict = refusal("deadline", &format!("no verdict within {} s", deadline.as_secs()));
        // What held the verdict may hold the log as well; the answer does not wait for it long.
        let (entry, moment) = (verdict.clone(), late.clone());
        let said = within(WRITING / 2, move || refused(agent, &moment, &entry));
        // What it takes so long over may be a plugin's first compilation, which ends with this process. One that stays ends it.
        // That may wait for the same disk, and there is nobody left to end this.
        watch.give(&said.unwrap_or_else(|| denial(agent, &late, &verdict)), || {
            within(WRITING, resident::start);
        });
    });
    if watching.is_err() {
        let verdict = refusal("threads", "no thread could be started to watch the time");
        answer.give(&refused(agent, &unreadable, &verdict), || {});
    }
    // What a panic prints goes to standard error; the answer is still ours.
    let said = std::panic::catch_unwind(|| says(agent, event, std::io::stdin().lock(), arguments));
    let said = said.unwrap_or_else(|_| {
        let panicked = refusal("panic", "the gate itself failed");
        let logged = std::panic::catch_unwind(|| refused(agent, &unreadable, &panicked));
        logged.unwrap_or_else(|_| denial(agent, &unreadable, &panicked))
    });
    answer.give(&said, || {
        fired::note(agent.name(), unreadable.when.gates());
        resident::start();
        standing::take_snapshots();
    })
}

fn says(agent: &'static dyn Dialect, event: Option<&str>, input: impl Read, arguments: &Arguments) -> String {
    let moment = agent.unreadable(event);
    let mut payload = Vec::new();
    if let Err(error) = input.take(PAYLOAD + 1).read_to_end(&mut payload) {
        return refused(agent, &moment, &refusal("payload", &format!("the payload could not be read: {error}")));
    }
    if payload.len() as u64 > PAYLOAD {
        let limit = format!("the payload is larger than {} MiB", PAYLOAD >> 20);
        return refused(agent, &moment, &refusal("payload", &limit));
    }
    let Arguments { packs, plugins, lens, .. } = arguments;
    let watch = if lens.said().unwrap_or(true) { Watch::Once } else { Watch::Plugins };
    let judge = &Judge::ForOne;
    let desk = Desk { agent, packs, plugins, judge, watch: &watch, user: User::Nobody, terminal: None };
    block_on(desk.answer(event, &payload)).unwrap_or_else(|error| denial(agent, &moment, &refusal("start", &error)))
}

/// The denial of a call that could not be judged, in the log like any other that does not run.
fn refused(agent: &'static dyn Dialect, moment: &Moment, verdict: &Verdict) -> String {
    let (packs, plugins) = (&Packs::default(), &Plugins::default());
    let (judge, watch) = (&Judge::ForOne, &Watch::Plugins);
    let desk = Desk { agent, packs, plugins, judge, watch, user: User::Nobody, terminal: None };
    block_on(desk.refused(moment, verdict, None)).unwrap_or_else(|_| denial(agent, moment, verdict))
}

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let done = runtime.block_on(work);
    // Without waiting for what hangs in it.
    runtime.shutdown_background();
    Ok(done)
}
