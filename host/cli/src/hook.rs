//! Answering an agent's hook.
//!
//! The agent runs the call when its hook crashes, hangs or says something it does not understand. So here every
//! way out ends in an answer: one JSON object or nothing on standard output, and never another byte. Where it is not known
//! who asks, or whether they understand it, a denial is the exit code that all agents take for one as well, with the
//! reason on standard error.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, FromArgMatches};
use toolgate_agents::agent::{self, Dialect, HOOKS, HookEvent, HookKind, ParsedAnswer};
use toolgate_gatekeeper::evaluator::Evaluator;
use toolgate_gatekeeper::hook_handler::{self, HookHandler, User, denial, parsed, refusal, refused_to_anybody};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugins::Plugins;
use toolgate_gatekeeper::watch::Watch;
use toolgate_gatekeeper::{gate_builder, hook_heartbeat, resident, saving};
use toolgate_host::Verdict;
use toolgate_host::capability::apart;

use crate::lens::Switch;
use crate::options::{PackOptions, PluginOptions};
use crate::{install, signals};

/// The exit code that every agent takes for "no".
pub(crate) const BLOCKED: u8 = 2;

/// The exit code for what went wrong where there is nothing to say "no" to.
const FAILED: u8 = 1;

/// When an answer is given at the latest. Agents wait ten seconds when they are set up as `toolgate install` does.
const DEADLINE: Duration = Duration::from_secs(8);

/// The same where an agent waits for advice, for which it gives half a minute.
const ADVICE_DEADLINE: Duration = Duration::from_secs(25);

/// Largest payload that is read, in bytes. A whole file that an agent writes is in it.
pub(crate) const PAYLOAD: u64 = 16 << 20;

/// How long an answer may take to be written once its time has come.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent that this hook is installed for; another caller is detected from its payload [default: detect]
    #[arg(value_parser = PossibleValuesParser::new(HOOKS.iter().map(|agent| agent.name())))]
    agent: Option<String>,

    /// The agent's name for the event, if the payload does not contain it
    event: Option<String>,

    #[command(flatten)]
    packs: PackOptions,

    #[command(flatten)]
    plugins: PluginOptions,

    #[command(flatten)]
    lens: Switch,
}

impl Arguments {
    /// Reads the words behind `hook`; none if they are wrong.
    pub(crate) fn read(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Option<Self> {
        let command = Arguments::augment_args(clap::Command::new("hook")).no_binary_name(true);
        Arguments::from_arg_matches(&command.try_get_matches_from(words).ok()?).ok()
    }
}

/// Who asks, as far as that is known.
#[derive(Clone)]
struct CallerInfo {
    /// Whom the hook is installed for, until the payload says who it is.
    agent: Option<&'static dyn Dialect>,
    moment: HookEvent,
    /// Whether the payload says so.
    told: bool,
}

/// What is answered.
struct Reply {
    text: String,
    /// The reason of a denial that the text alone may not be taken for.
    denial: Option<String>,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Reply { text, denial: None }
    }
}

impl CallerInfo {
    /// As the command line says.
    fn of(agent: Option<&'static dyn Dialect>, event: Option<&str>) -> Self {
        let unknown = || HookEvent { when: HookKind::Before, name: String::new() };
        CallerInfo { agent, moment: agent.map_or_else(unknown, |agent| agent.unreadable(event)), told: false }
    }

    fn name(&self) -> Option<&'static str> {
        Some(self.agent.filter(|agent| self.told && agent.is_understood())?.name())
    }

    /// A text of the agent's own, which may be a denial that not everybody understands.
    fn reply(&self, agent: &dyn Dialect, text: String, why: &Verdict) -> Reply {
        if !self.moment.when.gates() || self.told && agent.is_understood() {
            return text.into();
        }
        let denial = match agent.parse_answer(&self.moment.name, &text) {
            Ok(ParsedAnswer::Deny(reason)) => reason,
            _ => hook_handler::reason(why),
        };
        Reply { text, denial: Some(denial) }
    }

    /// No to what could not be judged, in the log like any other.
    fn refused(&self, verdict: &Verdict) -> Reply {
        match self.agent {
            Some(agent) => self.reply(agent, refused(agent, &self.moment, verdict), verdict),
            None => {
                let reason = block_on(refused_to_anybody(verdict)).unwrap_or_else(|_| hook_handler::reason(verdict));
                Reply { text: String::new(), denial: Some(reason) }
            }
        }
    }

    /// The same without the log.
    fn denied(&self, verdict: &Verdict) -> Reply {
        match self.agent {
            Some(agent) => self.reply(agent, denial(agent, &self.moment, verdict), verdict),
            None => Reply { text: String::new(), denial: Some(hook_handler::reason(verdict)) },
        }
    }

    /// What is no call that could be denied is left alone.
    fn passed(&self) -> Reply {
        let said = self.agent.map(|agent| agent.encode(&self.moment, &agent::Answer::Nothing, None));
        said.unwrap_or_default().into()
    }
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
    fn give(&self, reply: &Reply, after: impl FnOnce()) -> ! {
        if self.given.swap(true, Ordering::SeqCst) {
            // A reader that takes nothing must not keep the agent waiting for ever.
            std::thread::sleep(WRITE_TIMEOUT);
            // What follows an answer may take its time; then that it was a pass must not become a "no".
            let arrived = self.written.load(Ordering::SeqCst);
            std::process::exit(if arrived { 0 } else { self.lost.into() });
        }
        let Reply { text, denial } = reply;
        if let Some(denial) = denial {
            // Nobody need read it.
            let _ = writeln!(std::io::stderr(), "toolgate: {denial}");
        }
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        // An answer that does not arrive must not be taken for none.
        let lost = written.is_err() || !text.is_empty() && leads_nowhere();
        if lost {
            let _ = writeln!(std::io::stderr(), "toolgate: cannot write the answer to standard output: {text}");
        }
        self.written.store(!lost, Ordering::SeqCst);
        // A failure in what follows would be taken for one of the hook, which the answer is not.
        let code = match (denial, lost) {
            (Some(_), _) => BLOCKED,
            (None, true) => self.lost,
            (None, false) => 0,
        };
        signals::end_now_with(code);
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(after));
        // Nothing is tidied up: the agent waits.
        std::process::exit(code.into());
    }
}

/// Does something on a thread of its own, and waits no longer for it than this. None if it failed or takes longer.
fn within<T: Send + 'static>(time: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    block_on(async move { tokio::time::timeout(time, apart(work)).await }).ok()?.ok()?.ok()
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
fn lost(moment: &HookEvent) -> u8 {
    if moment.when.gates() { BLOCKED } else { FAILED }
}

/// The exit code for arguments that are wrong, if they are those of a hook.
pub(crate) fn misused(arguments: &[String]) -> u8 {
    let at = arguments.iter().position(|argument| argument == "hook");
    let moment = at.and_then(|at| {
        let agent = agent::named(arguments.get(at + 1)?)?;
        Some(agent.unreadable(arguments.get(at + 2).map(String::as_str)))
    });
    // What is left of them may be the event.
    match moment.or_else(|| if at.is_none() { event(arguments.get(1)?) } else { None }) {
        // An event that the agent does not have is rather a mistake.
        Some(moment) if moment.when != HookKind::Unknown => lost(&moment),
        _ => BLOCKED,
    }
}

/// The event of this name, if an agent has one.
pub(crate) fn event(name: &str) -> Option<HookEvent> {
    let mut moments = HOOKS.iter().map(|agent| agent.unreadable(Some(name)));
    moments.find(|moment| moment.when != HookKind::Unknown)
}

/// Answers the hook on standard input. `lost`: whether its arguments may have been lost on the way.
pub(crate) fn run(arguments: &Arguments, lost: bool) -> ! {
    let installed = arguments.agent.as_deref().and_then(agent::named);
    let first = CallerInfo::of(installed, arguments.event.as_deref());
    let answer = Answer { given: Arc::default(), written: Arc::default(), lost: self::lost(&first.moment) };
    signals::end_with(answer.lost);
    let told: Arc<OnceLock<CallerInfo>> = Arc::default();
    let (watch, late, now) = (answer.clone(), first.clone(), Arc::clone(&told));
    let watching = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        let deadline = if late.moment.when.gates() || late.moment.when == HookKind::SessionStart {
            DEADLINE
        } else {
            ADVICE_DEADLINE
        };
        std::thread::sleep(deadline);
        // There is an answer, and what follows it takes its time: nothing is late.
        if watch.given.load(Ordering::SeqCst) {
            watch.give(&String::new().into(), || {});
        }
        let late = now.get().cloned().unwrap_or(late);
        if !late.moment.when.gates() {
            tracing::warn!(event = late.moment.name, "no answer in time");
            watch.give(&late.passed(), || {});
        }
        let verdict = refusal("deadline", &format!("no verdict within {} s", deadline.as_secs()));
        // What held the verdict may hold the log as well; the answer does not wait for it long.
        let (entry, asker) = (verdict.clone(), late.clone());
        let said = within(WRITE_TIMEOUT / 2, move || asker.refused(&entry));
        // What it takes so long over may be a plugin's first compilation, which ends with this process. One that stays ends it.
        // That may wait for the same disk, and there is nobody left to end this.
        watch.give(&said.unwrap_or_else(|| late.denied(&verdict)), || {
            within(WRITE_TIMEOUT, resident::start);
        });
    });
    if watching.is_err() {
        let verdict = refusal("threads", "the watchdog thread could not be started");
        answer.give(&first.refused(&verdict), || {});
    }
    // What a panic prints goes to standard error; the answer is still ours.
    let says = || says(&first, &told, std::io::stdin().lock(), arguments, lost);
    let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(says));
    let said = said.unwrap_or_else(|_| {
        let panicked = refusal("panic", "internal error in the gate");
        let asker = told.get().unwrap_or(&first);
        let logged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| asker.refused(&panicked)));
        logged.unwrap_or_else(|_| asker.denied(&panicked))
    });
    answer.give(&said, || {
        if let Some((asker, name)) = told.get().and_then(|asker| Some((asker, asker.name()?))) {
            hook_heartbeat::note(name, asker.moment.when.gates());
        }
        resident::start();
        gate_builder::take_snapshots();
        saving::tidy();
    })
}

fn says(first: &CallerInfo, told: &OnceLock<CallerInfo>, input: impl Read, arguments: &Arguments, lost: bool) -> Reply {
    let mut payload = Vec::new();
    if let Err(error) = input.take(PAYLOAD + 1).read_to_end(&mut payload) {
        return first.refused(&refusal("payload", &format!("the payload could not be read: {error}")));
    }
    if payload.len() as u64 > PAYLOAD {
        return first.refused(&refusal("payload", &format!("the payload is larger than {} MiB", PAYLOAD >> 20)));
    }
    let variables = |name: &str| std::env::var(name).ok();
    let sent = parsed(&payload).and_then(|value| Ok((agent::caller(first.agent, &value, &variables)?, value)));
    let (agent, value) = match sent {
        Ok(sent) => sent,
        // What came of a call that ran is nobody's danger.
        Err(why) if !first.moment.when.gates() => {
            tracing::warn!(event = first.moment.name, why, "payload not read");
            return first.passed();
        }
        Err(why) => return first.refused(&refusal("payload", &why)),
    };
    // Another agent's events have its own names. One that is not known may be before a call.
    let own = || agent::event_of(&value).filter(|event| agent.unreadable(Some(event)).when != HookKind::Unknown);
    let is_installed = first.agent.is_some_and(|installed| installed.name() == agent.name());
    let event = if is_installed { arguments.event.clone() } else { own().map(str::to_owned) };
    let event = event.as_deref();
    let asker = CallerInfo { agent: Some(agent), moment: agent.unreadable(event), told: true };
    let _ = told.set(asker.clone());
    // Only Claude Code's settings ever had arguments where others lose them, without a link that says whose they are.
    let settings = first.agent.unwrap_or(&agent::claude::CLAUDE);
    let recovered = match lost.then(|| recovered(settings)).transpose() {
        Ok(recovered) => recovered.flatten(),
        Err(why) => return asker.refused(&refusal("arguments", &why)),
    };
    let Arguments { packs, plugins, lens, .. } = recovered.as_ref().unwrap_or(arguments);
    let watch = if lens.said().unwrap_or(true) { Watch::Once } else { Watch::Plugins };
    let judge = &Evaluator::OneShot;
    let (packs, plugins) = (&packs.packs(), &plugins.plugins());
    let desk = HookHandler { agent, packs, plugins, judge, watch: &watch, user: User::Nobody, terminal: None };
    match block_on(desk.answer_to(event, Ok(value))) {
        Ok(text) => match agent.parse_answer(&asker.moment.name, &text) {
            Ok(ParsedAnswer::Deny(denial)) if !agent.is_understood() => Reply { text, denial: Some(denial) },
            _ => text.into(),
        },
        Err(error) => asker.denied(&refusal("start", &error)),
    }
}

/// The arguments of a hook that was started without any, as the settings have them that it was started by; none if nothing
/// there has arguments.
///
/// # Errors
/// If what they have makes no sense: what the user wants of the hook is not known then.
fn recovered(agent: &dyn Dialect) -> Result<Option<Arguments>, String> {
    let Some(options) = install::options_of(agent.name()).filter(|options| !options.is_empty()) else {
        return Ok(None);
    };
    let words = [agent.name().to_owned()].into_iter().chain(options.clone());
    let read = Arguments::read(words).map(Some);
    read.ok_or_else(|| format!("invalid options of the hook: {}", options.join(" ")))
}

/// The denial of a call that could not be judged, in the log like any other that does not run.
fn refused(agent: &'static dyn Dialect, moment: &HookEvent, verdict: &Verdict) -> String {
    let (packs, plugins) = (&Packs::default(), &Plugins::default());
    let (judge, watch) = (&Evaluator::OneShot, &Watch::Plugins);
    let desk = HookHandler { agent, packs, plugins, judge, watch, user: User::Nobody, terminal: None };
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
