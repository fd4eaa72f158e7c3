//! The lens: files that the agent changed are checked by a daemon, and the report goes back to the agent. It only
//! observes: whatever goes wrong in it is a status or a line in the log, and nothing waits for it longer than for one
//! check.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `world` | what the lens asks of its surroundings | how they do it |
//! | `config` | settings, tolerantly; which files are wanted | rules |
//! | `files` | the files that a tool wrote and that are checked | what is in them |
//! | `report` | the daemon's answer, and the texts made of it | checks |
//! | `checked` | which file was checked in which state | |
//! | `subagents` | when the work of sub-agents is checked | the check |
//! | `turns` | what a sweep at the end of a turn is about | the sweep |
//! | `render` | a report as lines for a terminal | colours, which the host has |
//! | `text` | texts from outside, made harmless | |
//!
//! # Beside pi-lens 2.1.0
//!
//! Settings, texts, statuses, messages and the timing of sub-agents are those of pi-lens; `.pi-lens.json` and the
//! setting `piLensRenderer` mean the same.
//!
//! | Question | pi-lens 2.1.0 | here |
//! |---|---|---|
//! | is a file in the project? | by its name | by where its links lead |
//! | shell commands | eleven regular expressions | the shell engine |
//! | `src/**/*.ts` and `src/a.ts` | no match | match; `{a,b}` and `[ab]` are globs, too |
//! | a project switches on what the user switched off | yes | no |
//! | numbers in settings | any | from 1 ms to two minutes, 1 to 16 checks at once |
//! | `hasIssues` of a message | an icon in the text, so that a failed check counts | what the daemon says, or a status `issues` |
//! | a check that fails beside clean ones | as if clean | its text is handed on |
//! | the daemon is gone | nothing until the next session | started again once, then asked again |
//! | a check that got nowhere in 5 s or more | the next result waits as long | none is tried for a minute |
//! | text of the daemon | as it is | at most 64 KiB, without escape sequences, nothing in it invisible |
//! | a file that a sub-agent edits again | not checked again until the end | checked again: a state is skipped, not a path |
//! | the check at the end of sub-agents | all files that differ from the last commit | those that changed in the turn, also those git does not know |
//! | sub-agents of other agents | | `Task`, `Agent`, `task`, and events of their end; without messages at the turn's end |
//! | cooldown and timers of sub-agents | in each session | only where one process lives with the session; else the check at the end sees what a timer would have |
//! | the daemon does not start | the session's start fails | a warning |
//! | nothing was there to check | a line says so | nothing is said |
//! | rendered line | one colour | each status has its own |
//!
//! At the end of a turn files that changed in it, but were not checked or not reported in the state they are in, are
//! checked once more; the agent hears of it only if something is to be done. This is done after a turn in which
//! something ran whose changes are not known: a shell command, a sub-agent, a tool of another kind, a call that failed,
//! a check that failed. Git does not say who changed a file: what a person changes between two turns, or while the agent
//! works, is checked with the rest if such a turn follows. After a turn that only wrote files which were checked,
//! nothing is.

mod checked;
mod config;
mod files;
mod render;
mod report;
mod subagents;
mod text;
mod turns;
mod world;

use serde::Deserialize;
use serde_json::{Value, json};

pub use config::Config;
pub use files::ResultFacts;
pub use render::{Span, render};
pub use world::{Changed, ConfigFile, Failure, LensHost, Outgoing, PATHS, Stat};

use checked::Checked;
use config::Filter;
use files::Found;
use report::{Report, Status, Statuses};
use subagents::{Event, Step, Subagents};
use toolgate_rules::Problem;
use turns::Turns;

/// The key of the status line.
pub const STATUS: &str = "pi-lens";

/// The kind of the messages.
pub const KIND: &str = "pi-lens-diagnostics";

/// The id of the timer.
const TIMER: &str = "pi-lens-subagents";

/// The tool whose updates tell what its sub-agents do.
const DELEGATES: &str = "delegate_to_subagents";

/// Tools, and events of the host's decoders, that end a sub-agent without news of what it did.
const ENDS: &[&str] = &["Task", "Agent", "task", "subagent-stop"];

/// Most files in one check; the newest are taken.
const FILES: usize = 200;

/// A failure that took so long, in milliseconds, is not risked again at once.
const COSTLY: u64 = 5_000;

/// For how long not, in milliseconds.
const PAUSE: u64 = 60_000;

/// The session.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// The agent's working directory.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The project's folder; the working directory if empty.
    pub root: String,
    /// Why the session starts. `None` if it does not: an instance takes the place of another.
    pub reason: Option<String>,
}

/// What the lens adds to a tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// For the agent.
    pub text: String,
    /// For [`render`], a JSON text.
    pub details: String,
}

/// The lens of one session.
#[derive(Debug, Default)]
pub struct Lens {
    root: String,
    home: Option<String>,
    config: Config,
    filter: Filter,
    /// Whether messages are sent for each check.
    messages: bool,
    /// The host took none, here or in another instance: it is not asked again.
    silent: bool,
    checked: Checked,
    subagents: Subagents,
    turns: Turns,
    /// No check before this moment, in milliseconds since 1970: it has to mean the same in the next instance.
    paused: Option<u64>,
    /// The last line of the log: a daemon that is not there is worth one.
    logged: String,
}

impl Lens {
    /// Reads the settings, and says what is wrong with them. If the session really starts, the daemon is started too,
    /// and the person hears that all is ready; a daemon that does not start is a problem and no more.
    pub fn start(&mut self, session: &SessionFacts, world: &mut dyn LensHost) -> Vec<Problem> {
        let root = if session.root.is_empty() { &session.cwd } else { &session.root };
        self.root.clone_from(root);
        self.home.clone_from(&session.home);
        let (config, mut problems) = config::load(world);
        let (filter, wrong) = Filter::new(&config);
        problems.extend(wrong.into_iter().map(|message| self.problem(message)));
        (self.config, self.filter) = (config, filter);
        self.subagents.open();
        if !self.config.enabled {
            return problems;
        }
        self.messages = config::wants_messages(world);
        self.checked.since(|| world.now());
        // Agents begin anew in the middle of a turn if the conversation was too long.
        if session.reason.as_deref().is_some_and(|reason| reason != "compact") {
            self.turns.end(world.now());
        }
        if session.reason.is_some() {
            let began = world.monotonic();
            match world.ensure() {
                Ok(()) => {
                    self.paused = None;
                    world.notify("pi-lens: ready");
                }
                Err(error) => {
                    self.failed(began, world);
                    problems.push(self.problem(format!("files are not checked: {error}")));
                }
            }
            publish(Statuses([Status::Pending; 4]), world);
        }
        problems
    }

    fn problem(&self, message: String) -> Problem {
        Problem { file: self.root.clone(), line: None, message, whole_file: false }
    }

    /// Checks the files that a tool wrote.
    pub fn on_result(&mut self, result: &ResultFacts, world: &mut dyn LensHost) -> Option<Addition> {
        if !self.config.enabled || self.subagents.is_closed() {
            return None;
        }
        self.checked.since(|| world.now());
        if !result.says_all() {
            self.turns.unchecked();
        }
        if result.is_error {
            return None;
        }
        let paths = files::written(result, self.home.as_deref(), self.config.bash_detection, world);
        let found = files::select(paths, &self.root, &self.filter, world);
        let report = self.check(found, true, world)?;
        let text = report.text(self.config.always_report);
        (!text.is_empty()).then(|| Addition { text, details: report.details() })
    }

    /// News of a tool that runs.
    pub fn on_update(&mut self, tool: &str, partial: &str, world: &mut dyn LensHost) {
        if !self.config.enabled || tool != DELEGATES {
            return;
        }
        self.checked.since(|| world.now());
        if subagents::has_activity(partial) {
            self.turns.unchecked();
            self.drive(Event::Activity, world);
        }
    }

    /// A tool's run ended, well or not.
    pub fn on_end(&mut self, tool: &str, outcome: &str, world: &mut dyn LensHost) {
        if !self.config.enabled {
            return;
        }
        self.checked.since(|| world.now());
        if tool == DELEGATES {
            let always = subagents::has_activity(outcome);
            if always {
                self.turns.unchecked();
            }
            self.drive(Event::End { always }, world);
        } else if ENDS.contains(&tool) {
            self.turns.unchecked();
            // Without messages nobody would get the report; the end of the turn has one.
            if self.messages && !self.silent {
                self.drive(Event::End { always: true }, world);
            }
        }
    }

    /// A time has come that was scheduled.
    pub fn on_timer(&mut self, id: &str, world: &mut dyn LensHost) {
        if self.config.enabled && id == TIMER {
            self.drive(Event::Timer, world);
        }
    }

    /// The turn ends. A text is what the agent has to look at before; there is none if it was sent on already, which
    /// the host's `context`, a JSON text, says with `"again": true`. Where calls may have run that nobody was told of, it has
    /// `"unseen": true`.
    pub fn on_turn_end(&mut self, context: &str, world: &mut dyn LensHost) -> Option<String> {
        if !self.config.enabled || self.subagents.is_closed() {
            return None;
        }
        self.checked.since(|| world.now());
        let context: Value = serde_json::from_str(context).unwrap_or_default();
        let says = |key: &str| context.get(key).and_then(Value::as_bool) == Some(true);
        if says("unseen") {
            self.turns.unchecked();
        }
        let again = says("again");
        let text = if again { None } else { self.sweep(world) };
        self.turns.end(world.now());
        text
    }

    fn sweep(&mut self, world: &mut dyn LensHost) -> Option<String> {
        // Without a clock nobody knows which changes are the turn's.
        if !self.config.turn_end_sweep || !self.turns.is_busy() || world.now().is_none() {
            return None;
        }
        let mut found = self.changed(world);
        found.retain(|file| !self.checked.told(file));
        let report = self.check(found, true, world)?;
        // A check that failed is no reason to send the agent on.
        report.has_issues.then(|| report.text(false))
    }

    /// The session ends.
    pub fn shutdown(&mut self, world: &mut dyn LensHost) {
        self.subagents.close();
        // An instance of another role never started it.
        if !self.config.enabled || self.root.is_empty() {
            return;
        }
        world.cancel(TIMER);
        world.stop();
        world.set_status(STATUS, None);
        self.messages = false;
    }

    /// What is to outlive the instance, a JSON text: at most 2 000 files and 200 KiB.
    pub fn save(&self) -> Vec<u8> {
        let mut saved = self.checked.save();
        saved["schema"] = 1.into();
        saved["turns"] = json!(self.turns);
        saved["subagents"] = json!(self.subagents.save());
        saved["paused"] = self.paused.into();
        saved["silent"] = self.silent.into();
        saved.to_string().into_bytes()
    }

    /// Joins what [`Lens::save`] wrote, here or elsewhere, with what is known. Anything else is nothing.
    pub fn restore(&mut self, saved: &[u8]) {
        let Ok(saved) = serde_json::from_slice::<Value>(saved) else { return };
        if saved.get("schema") != Some(&1.into()) {
            return;
        }
        self.checked.join(&saved);
        self.paused = self.paused.max(saved.get("paused").and_then(Value::as_u64));
        self.silent |= saved.get("silent") == Some(&true.into());
        if let Some(turns) = saved.get("turns").and_then(|turns| Turns::deserialize(turns).ok()) {
            self.turns.join(turns);
        }
        if let Some(state) = saved.get("subagents").and_then(|state| serde_json::from_value(state.clone()).ok()) {
            self.subagents.join(state);
        }
    }

    /// One event, and whatever follows from it at once.
    fn drive(&mut self, event: Event, world: &mut dyn LensHost) {
        let mut next = Some(event);
        while let Some(event) = next.take() {
            match self.subagents.on(event, world.monotonic()) {
                None => {}
                // A host without timers: the next news or the end will do.
                Some(Step::Schedule(delay)) => drop(world.schedule(TIMER, delay)),
                Some(Step::Check) => {
                    world.cancel(TIMER);
                    self.check_subagents(world);
                    next = Some(Event::Done);
                }
            }
        }
    }

    fn check_subagents(&mut self, world: &mut dyn LensHost) {
        let mut found = self.changed(world);
        found.retain(|file| !self.checked.knows(file));
        // No text goes back from here: without a message the agent hears of issues at the end of the turn.
        self.check(found, false, world);
    }

    /// The files that changed since the last turn, by what git says.
    fn changed(&mut self, world: &mut dyn LensHost) -> Vec<Found> {
        let changed = match world.changed_files(&self.root) {
            Ok(changed) => changed,
            Err(error) => {
                self.log(format!("no changed files: {error}"), world);
                return Vec::new();
            }
        };
        let paths = changed.into_iter().filter(|file| !file.deleted).map(|file| file.path).collect();
        let mut found = files::select(paths, &self.root, &self.filter, world);
        // Some file systems keep whole seconds.
        let since = self.checked.since(|| None).max(self.turns.since()).map_or(0, |since| since - since % 1_000);
        let now = world.now().unwrap_or(u64::MAX);
        found.retain(|file| (since..=now).contains(&file.modified));
        found
    }

    /// One `fullCheck`, with everything that is shown of it. `told` says that the agent gets the text. `None` if
    /// nothing was checked.
    fn check(&mut self, mut files: Vec<Found>, told: bool, world: &mut dyn LensHost) -> Option<Report> {
        if files.is_empty() {
            return None;
        }
        if self.is_paused(world) {
            self.turns.unchecked();
            return None;
        }
        if files.len() > FILES {
            self.turns.unchecked();
            files.sort_by_key(|file| std::cmp::Reverse(file.modified));
            self.log(format!("{} files changed; the newest {FILES} are checked", files.len()), world);
            files.truncate(FILES);
        }
        let began = world.monotonic();
        let report = match self.ask(&files, began, world) {
            Ok(report) => report,
            Err(error) => {
                self.turns.unchecked();
                self.failed(began, world);
                self.log(format!("files were not checked: {error}"), world);
                return None;
            }
        };
        if self.subagents.is_closed() {
            return None;
        }
        publish(report.statuses, world);
        let text = report.text(self.config.always_report);
        let sends = self.messages && !self.silent && !text.is_empty();
        if sends {
            self.silent = !world.send(Outgoing { kind: KIND, text, details: report.details(), visible: true });
        }
        let sent = sends && !self.silent;
        for file in &files {
            self.checked.add(file, told || sent || !report.matters());
        }
        Some(report)
    }

    fn ask(&mut self, files: &[Found], began: Option<u64>, world: &mut dyn LensHost) -> Result<Report, String> {
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let params = json!({ "files": paths, "config": self.config.request() }).to_string();
        let mut answer = world.request("fullCheck", &params);
        if let Err(Failure::Unavailable(_)) = answer {
            world.ensure()?;
            answer = world.request("fullCheck", &params);
        }
        let answer = answer.map_err(|failure| match failure {
            Failure::Unavailable(why) | Failure::Other(why) => why,
        })?;
        let duration = began.and_then(|began| Some(world.monotonic()?.saturating_sub(began)));
        Report::read(&answer, files.len(), duration)
    }

    fn is_paused(&self, world: &mut dyn LensHost) -> bool {
        let Some((until, now)) = self.paused.zip(world.now()) else { return false };
        // A clock that jumped back must not make it longer.
        (1..=PAUSE).contains(&until.saturating_sub(now))
    }

    /// After a failure that cost the agent's time there is none to lose for a while.
    fn failed(&mut self, began: Option<u64>, world: &mut dyn LensHost) {
        let costly = world.monotonic().zip(began).is_some_and(|(now, began)| now.saturating_sub(began) >= COSTLY);
        self.paused = if costly { world.now().map(|now| now + PAUSE) } else { None };
    }

    fn log(&mut self, line: String, world: &mut dyn LensHost) {
        if self.logged != line {
            world.log(&text::clean(&line));
            self.logged = line;
        }
    }
}

/// Sets the status line, which other instances set as well: the host knows what it says already.
fn publish(statuses: Statuses, world: &mut dyn LensHost) {
    world.set_status(STATUS, Some(&statuses.json().to_string()));
}
