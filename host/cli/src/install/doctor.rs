//! `toolgate doctor`: whether an agent really asks before it acts. An agent that does not is silent about it, so every
//! way to be left out that is known has a check.
//!
//! | What happens without a word | Agent | Check |
//! |---|---|---|
//! | There is no entry, or no file | all | `installed` |
//! | The file cannot be read, has comments or a key twice | all | `readable` |
//! | A key that the agent does not know makes it refuse the file | Codex | `readable` |
//! | Entries stand below another key, `{"hooks": ..}` for instance | Droid; all | `nesting` |
//! | An event has another agent's name, or one is left out (failures are an event of their own) | Gemini, Claude; all | `events` |
//! | A time limit in the wrong unit, or shorter than an answer takes: the call runs | Gemini; all | `form` |
//! | A crash or a missing program lets the call run (`onFailure`, `failClosed`) | Claude, Cursor | `form` |
//! | A matcher that leaves out tools; a handler that runs beside the call (`async`) | all | `form` |
//! | The payload does not say the event, and the arguments do not either | Copilot | `form` |
//! | A shell changes the command; the extension is an older one | all | `form` |
//! | The program is gone, is no program or another version | all | `program` |
//! | The program can be removed or replaced by others | all | `place` |
//! | Two entries judge and log each call twice; another agent's entries are read too | Copilot, Cursor; all | `double` |
//! | Hooks that are not trusted, or were something else when they were | Codex | `trusted` |
//! | A project's hooks in a folder that is not trusted | Codex, Copilot, Gemini, pi | `trusted` |
//! | A setting switches hooks off | Claude, Codex, Gemini | `enabled` |
//! | The agent does not come to ask, for whatever reason | all | `fired` |
//! | An answer with a field too many, without a reason, in another agent's words, not JSON, late or none | Codex; all | `denies` |
//! | A word where nothing was to be said: `allow` skips the user's own prompts | all | `passes` |
//!
//! Behind the agents stand the shared terminal, see `terminal`, and the installed plugins, see `plugins`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use serde_json::{Value, json};
use toolgate_host::plain;

use super::file::File;
use super::hooks::{self, Entry};
use super::plugins;
use super::probe::{self, Chain, Probe};
use super::program::{self, Standing};
use super::shims;
use super::table::{self, Hooks, Known, Scope, Way};
use super::terminal;
use super::trust::{self, Trust};
use crate::columns::count;
use crate::fired::{self, Fired};
use crate::show::{BOLD, DIM, GREEN, RED, YELLOW};
use crate::{Failure, place, rules};

/// The exit code if there is something to do.
const TO_DO: u8 = 1;

/// Keys of a handler that make it run seldom, late or beside the call.
const ODD: &[&str] = &["async", "asyncRewake", "disabled", "enabled", "if", "once", "shell"];

/// What is said of a command that only a shell can read.
const CUSTOM: &str = "a command of your own runs Toolgate among other things, and is not checked";

#[derive(Args)]
#[command(after_help = "\
Two trial calls go through the command that stands in the agent's configuration: `rm -rf ~`, which must be denied, and \
`true`. They are judged and not run.

With --json: {\"schema\": 1, \"program\", \"version\", \"ok\", \"agents\": [{\"agent\", \"found\", \"installed\", \
\"checks\": [{\"check\", \"level\": \"ok|warn|fail\", \"says\", \"todo\"}]}], \"terminal\": {\"checks\"}, \
\"plugins\": {\"checks\"}}.

Exit codes: 0 all is well, 1 there is something to do; 64 wrong arguments, 70 and above a fault of Toolgate's own.")]
pub(crate) struct Arguments {
    /// The agent [default: all that are found here]
    #[arg(value_parser = table::parser())]
    agent: Option<&'static Known>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Ok,
    Warn,
    Fail,
}

impl Level {
    pub(super) fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        }
    }
}

pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) level: Level,
    pub(super) says: String,
    pub(super) todo: String,
}

/// The checks of an agent.
struct Report {
    known: &'static Known,
    found: bool,
    installed: bool,
    checks: Vec<Check>,
}

/// A file with our entries, or our file.
struct Place {
    scope: Scope,
    file: File,
    content: Content,
}

enum Content {
    Hooks { root: Value, entries: Vec<Entry> },
    Shim { program: String },
}

impl Report {
    fn add(&mut self, name: &'static str, level: Level, says: impl Into<String>, todo: impl Into<String>) {
        self.checks.push(Check { name, level, says: says.into(), todo: todo.into() });
    }

    fn ok(&mut self, name: &'static str, says: impl Into<String>) {
        self.add(name, Level::Ok, says, "");
    }

    /// A check of several things: fine if nothing is wrong.
    fn all(&mut self, name: &'static str, wrong: Vec<(Level, String)>, fine: String, todo: &str) {
        match wrong.iter().map(|(level, _)| *level).max() {
            None => self.ok(name, fine),
            Some(level) => {
                let says: Vec<String> = wrong.into_iter().map(|(_, says)| says).collect();
                self.add(name, level, says.join("; "), todo);
            }
        }
    }
}

/// `toolgate doctor`.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let only = arguments.agent.as_ref();
    let agents = only.map_or(table::AGENTS, std::slice::from_ref);
    let mut reports: Vec<Report> = agents.iter().copied().map(examine).collect();
    if arguments.agent.is_none() {
        reports.retain(|report| report.found || report.installed);
    }
    let terminal = terminal::checks(arguments.agent);
    let plugins = plugins::checks();
    let all = reports.iter().flat_map(|report| &report.checks).chain(&terminal).chain(&plugins);
    let to_do = all.into_iter().any(|check| check.level != Level::Ok);
    if arguments.json {
        let program = program::running().ok();
        let version = env!("CARGO_PKG_VERSION");
        let agents: Vec<Value> = reports.iter().map(json).collect();
        let (terminal, plugins) = (json!({ "checks": json_of(&terminal) }), json!({ "checks": json_of(&plugins) }));
        let answer = json!({
            "schema": 1, "program": program, "version": version, "ok": !to_do, "agents": agents, "terminal": terminal,
            "plugins": plugins,
        });
        rules::print(|out| writeln!(out, "{answer}"))?;
    } else {
        rules::print(|out| {
            if reports.is_empty() {
                writeln!(out, "no agent is found here")?;
            }
            reports.iter().try_for_each(|report| show(out, report.known.title(), &report.checks))?;
            show(out, "Shared terminal", &terminal)?;
            show(out, "Plugins", &plugins)
        })?;
    }
    Ok(if to_do { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
}

fn json(report: &Report) -> Value {
    let checks = json_of(&report.checks);
    json!({ "agent": report.known.name(), "found": report.found, "installed": report.installed, "checks": checks })
}

fn json_of(checks: &[Check]) -> Value {
    let one = |check: &Check| json!({ "check": check.name, "level": check.level.name(), "says": check.says, "todo": check.todo });
    checks.iter().map(one).collect()
}

fn show(out: &mut dyn std::io::Write, title: &str, checks: &[Check]) -> std::io::Result<()> {
    writeln!(out, "{BOLD}{title}{BOLD:#}")?;
    for check in checks {
        let style = match check.level {
            Level::Ok => GREEN,
            Level::Warn => YELLOW,
            Level::Fail => RED,
        };
        let (level, name) = (check.level.name(), check.name);
        writeln!(out, "  {style}{level:<4}{style:#}  {name:<9}  {}", plain(&check.says))?;
        if !check.todo.is_empty() {
            writeln!(out, "                   {DIM}do:{DIM:#} {}", plain(&check.todo))?;
        }
    }
    Ok(())
}

/// Whether this file makes the agent call Toolgate.
pub(crate) fn installed(known: &Known, file: &File) -> bool {
    content(known, file).is_ok_and(|content| content.is_some())
}

/// What of ours is in a file. An error says why it cannot be read.
fn content(known: &Known, file: &File) -> Result<Option<Content>, String> {
    if !file.exists() {
        return Ok(None);
    }
    let text = file.text().map_err(|failure| failure.message)?;
    Ok(match &known.way {
        Way::Shim(_) => shims::program(text).map(|program| Content::Shim { program }),
        Way::Hooks(hooks) => {
            let root = hooks::parse(text)?;
            let entries = hooks::entries(known, hooks, &root);
            (!entries.is_empty()).then_some(Content::Hooks { root, entries })
        }
    })
}

fn examine(known: &'static Known) -> Report {
    let path = program::on_path(known.program);
    let folder = known.folder().ok().filter(|folder| folder.is_dir());
    let mut report = Report { known, found: path.is_some() || folder.is_some(), installed: false, checks: Vec::new() };
    match (&path, &folder) {
        (Some(path), _) => report.ok("present", path.display().to_string()),
        (None, Some(folder)) => {
            report.ok("present", format!("{}, though no {} on PATH", folder.display(), known.program));
        }
        (None, None) => report.add(
            "present",
            Level::Warn,
            format!("neither {} nor its folder is found", known.program),
            "install it, or set PATH",
        ),
    }
    let mut places = Vec::new();
    for scope in Scope::ALL {
        let file = match known.file(scope) {
            Ok(path) => File::read(&path),
            // Outside of a project there is none.
            Err(_) if scope == Scope::Project => continue,
            Err(failure) => Err(failure),
        };
        let read = file.and_then(|file| match content(known, &file) {
            Ok(content) => Ok((file, content)),
            Err(error) => Err(super::unreadable(&file, &error)),
        });
        match read {
            Ok((file, Some(content))) => places.push(Place { scope, file, content }),
            Ok((file, None)) => misplaced(&mut report, &file),
            Err(failure) => {
                report.add("readable", Level::Fail, failure.message, "set it right; the agent may not read it either");
            }
        }
    }
    report.installed = !places.is_empty();
    if places.is_empty() {
        let says = format!("{} does not ask Toolgate", known.title());
        report.add("installed", Level::Warn, says, format!("toolgate install {}", known.name()));
        return report;
    }
    for place in &places {
        one(&mut report, place);
    }
    double(&mut report, &places);
    trusted(&mut report, &places);
    let off = places.iter().find_map(|place| trust::switched_off(known, &place.file));
    match off {
        Some(says) => report.add("enabled", Level::Fail, says, "set it right, if you want to be guarded"),
        None if ["claude", "codex", "gemini"].contains(&known.name()) => {
            report.ok("enabled", "no setting switches hooks off");
        }
        None => {}
    }
    fired(&mut report, &places);
    for place in &places {
        trial(&mut report, place);
    }
    report
}

/// Handlers of ours that are where the agent does not look for them.
fn misplaced(report: &mut Report, file: &File) {
    let Some(root) = trust::read(&file.path) else { return };
    if anywhere(report.known, &root) > 0 {
        let says =
            format!("{}: Toolgate's entries stand where {} does not look", file.path.display(), report.known.title());
        let todo = format!("remove them, then toolgate install {}", report.known.name());
        report.add("nesting", Level::Fail, says, todo);
    }
    if custom(report.known, &root) > 0 {
        report.add("form", Level::Warn, CUSTOM, format!("toolgate install {} writes one that is", report.known.name()));
    }
}

/// How many handlers of ours are in a value, wherever.
fn anywhere(known: &Known, value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(|item| anywhere(known, item)).sum(),
        Value::Object(fields) => fields.values().map(|field| anywhere(known, field)).sum(),
        _ => 0,
    };
    let ours = program::words(value).is_some_and(|words| program::is_hook(&words, known.name()));
    inner + usize::from(ours)
}

/// Handlers that run Toolgate among other things.
fn custom(known: &Known, value: &Value) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(|item| custom(known, item)).sum(),
        Value::Object(fields) => fields.values().map(|field| custom(known, field)).sum(),
        _ => 0,
    };
    inner + usize::from(program::words(value).is_none() && program::mentions(value, known.name()))
}

/// The checks of one file.
fn one(report: &mut Report, place: &Place) {
    let known = report.known;
    let path = place.file.path.display().to_string();
    let option = if place.scope == Scope::Project { " --project" } else { "" };
    let install = format!("toolgate install {}{option}", known.name());
    match (&place.content, &known.way) {
        (Content::Hooks { root, entries }, Way::Hooks(hooks)) => {
            report.ok("installed", format!("{path} ({})", count(entries.len(), "hook")));
            readable(report, hooks, place, root);
            let lost = anywhere(known, root).saturating_sub(entries.len());
            if lost > 0 {
                report.add(
                    "nesting",
                    Level::Fail,
                    format!("{lost} of them stand where {} does not look", known.title()),
                    "remove these by hand",
                );
            } else {
                report.ok("nesting", "they stand where they are looked for");
            }
            events(report, hooks, entries, &install);
            let mut wrong: Vec<_> = entries.iter().flat_map(|entry| form(hooks, entry)).collect();
            if custom(known, root) > 0 {
                wrong.push((Level::Warn, CUSTOM.to_owned()));
            }
            report.all("form", wrong, "the safest that the agent knows".into(), &install);
        }
        (Content::Shim { .. }, Way::Shim(shim)) => {
            report.ok("installed", path);
            if place.file.text().is_ok_and(|text| shims::is_current(text, shim)) {
                report.ok("form", "of this version");
            } else {
                report.add("form", Level::Warn, "of another version, or changed by hand", install.clone());
            }
        }
        _ => {}
    }
    for program in programs(place) {
        self::program(report, &program, place.scope, &install);
    }
}

/// Whether the agent itself will read the file.
fn readable(report: &mut Report, hooks: &Hooks, place: &Place, root: &Value) {
    let mut wrong = Vec::new();
    if !hooks.comments && serde_json::from_slice::<Value>(place.file.bytes()).is_err() {
        wrong.push((
            Level::Warn,
            "it has comments, a comma too many or a byte order mark, which the agent may not read".to_owned(),
        ));
    }
    for key in root.as_object().into_iter().flat_map(|object| object.keys()) {
        if hooks.keys.is_some_and(|keys| !keys.contains(&key.as_str())) {
            wrong.push((Level::Fail, format!("the agent refuses the file for its key {key:?}")));
        }
    }
    report.all("readable", wrong, "plain and complete".to_owned(), "set the file right by hand");
}

fn events(report: &mut Report, hooks: &Hooks, entries: &[Entry], install: &str) {
    let mut wrong = Vec::new();
    let more = entries.first().map(Entry::more).unwrap_or_default();
    for event in hooks.wanted(&more) {
        if entries.iter().all(|entry| entry.event != event.name) {
            let level = if event.must { Level::Fail } else { Level::Warn };
            wrong.push((level, format!("{} is left out", event.name)));
        }
    }
    for entry in entries {
        if hooks.wanted(&more).all(|event| event.name != entry.event) {
            wrong.push((Level::Warn, format!("{} is no event that Toolgate has something to say to", entry.event)));
        }
    }
    let names: Vec<&str> = hooks.wanted(&more).map(|event| event.name).collect();
    report.all("events", wrong, names.join(", "), install);
}

/// What is wrong with an entry's form.
fn form(hooks: &Hooks, entry: &Entry) -> Vec<(Level, String)> {
    let Some(event) = hooks.events.iter().find(|event| event.name == entry.event) else { return Vec::new() };
    let worst = if event.gates { Level::Fail } else { Level::Warn };
    let should = hooks::should_be(hooks, event, entry);
    let mut wrong = Vec::new();
    let mut say = |level, text: String| wrong.push((level, format!("{}: {text}", entry.event)));
    for (key, value) in should.as_object().into_iter().flatten() {
        let now = entry.handler.get(key).unwrap_or(&Value::Null);
        if key == hooks.timeout.0 {
            let limit = |seconds: u64| seconds * hooks.timeout.1;
            match now.as_u64() {
                Some(now) if now >= limit(event.timeout()) => {}
                Some(now) => {
                    say(worst, format!("{key} is {now}, so that the call may run before the answer; {value} is right"));
                }
                // Its own limit is longer.
                None => say(Level::Warn, format!("{key} is missing; {value} is right")),
            }
        } else if now != value && !(key == "command" && same_words(now, value)) {
            say(worst, format!("{key} is {now} and should be {value}"));
        }
    }
    for key in ODD.iter().filter(|key| entry.handler.get(**key).is_some_and(|value| should.get(**key) != Some(value))) {
        say(worst, format!("{key} may keep it from being asked, or from being waited for"));
    }
    if entry.matcher.as_deref().is_some_and(|matcher| !["", "*", ".*"].contains(&matcher)) {
        say(worst, format!("its matcher {:?} leaves out tools", entry.matcher.as_deref().unwrap_or_default()));
    }
    wrong
}

/// Whether two commands are the same but for their quotes.
fn same_words(one: &Value, other: &Value) -> bool {
    let words = |command: &Value| program::words(&json!({ "command": command }));
    words(one).is_some_and(|of_one| words(other) == Some(of_one))
}

/// The programs that a place's entries run, each once.
fn programs(place: &Place) -> Vec<String> {
    let mut all: Vec<String> = match &place.content {
        Content::Hooks { entries, .. } => entries.iter().filter_map(|entry| entry.words.first().cloned()).collect(),
        Content::Shim { program } => vec![program.clone()],
    };
    all.sort();
    all.dedup();
    all
}

/// Whether a configured program is this very file.
fn is_this(program: &str) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let this = std::env::current_exe().ok().and_then(|path| real(&path));
    this.is_some() && real(Path::new(program)) == this
}

fn program(report: &mut Report, program: &str, scope: Scope, install: &str) {
    let path = PathBuf::from(program);
    let wrong = if !path.is_absolute() {
        Some("is no absolute path, so that it depends on PATH what is run")
    } else if !path.is_file() {
        Some("is not there")
    } else if rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_err() {
        Some("cannot be run")
    } else {
        None
    };
    if let Some(wrong) = wrong {
        report.add("program", Level::Fail, format!("{program} {wrong}"), install);
        return;
    }
    if is_this(program) {
        report.ok("program", format!("{program}, this one"));
    } else if scope == Scope::Project {
        // What a project names is not run by asking about it.
        let says =
            format!("{program} is not the program that you run now; it is not tried, as a project's file names it");
        report.add("program", Level::Warn, says, format!("if that is not wanted: {install}"));
    } else {
        let mut command = Command::new(program);
        command.arg("--version");
        let said = probe::once(command, "").unwrap_or_else(|error| error);
        let said = said.trim();
        if said == concat!("toolgate ", env!("CARGO_PKG_VERSION")) {
            report.ok("program", format!("{program}, of the same version as this one"));
        } else {
            let says = format!("{program} says that it is {said:?}, and this is {}", env!("CARGO_PKG_VERSION"));
            report.add("program", Level::Warn, says, install);
        }
    }
    match program::standing(&path) {
        Standing::Firm => report.ok("place", "where only the administrator can replace it"),
        Standing::Own => {
            report.ok("place", "where you can replace it, and so can the agent but for Toolgate's own rules");
        }
        Standing::Loose(why) => {
            report.add("place", Level::Warn, why, format!("{} {}", program::advice(program), report.known.name()));
        }
    }
}

fn double(report: &mut Report, places: &[Place]) {
    let known = report.known;
    let mut wrong = Vec::new();
    if let [user, project] = places {
        wrong.push((
            Level::Warn,
            format!(
                "both {} and {} ask, so that each call is judged twice",
                user.file.path.display(),
                project.file.path.display()
            ),
        ));
    }
    for place in places {
        let Content::Hooks { entries, .. } = &place.content else { continue };
        let mut events: Vec<&str> = entries.iter().map(|entry| entry.event.as_str()).collect();
        events.sort_unstable();
        let all = events.len();
        events.dedup();
        if events.len() < all {
            wrong.push((Level::Warn, format!("{} has several entries for one event", place.file.path.display())));
        }
    }
    let others = Scope::ALL.into_iter().flat_map(|scope| known.other_files(scope));
    for path in others {
        if trust::read(&path).is_some_and(|root| anywhere(known, &root) > 0) {
            wrong.push((Level::Warn, format!("{} asks as well", path.display())));
        }
    }
    // Both read a project's settings of Claude Code.
    if ["copilot", "cursor"].contains(&known.name()) {
        let claude = &table::CLAUDE;
        let file = claude.file(Scope::Project).and_then(|path| File::read(&path));
        if let Some(file) = file.ok().filter(|file| installed(claude, file)) {
            wrong.push((
                Level::Warn,
                format!("{} may read Claude Code's hooks in {}, too", known.title(), file.path.display()),
            ));
        }
    }
    report.all("double", wrong, "asked once".to_owned(), "toolgate uninstall where it is one too many");
}

fn trusted(report: &mut Report, places: &[Place]) {
    let known = report.known;
    for place in places {
        let project = place.scope == Scope::Project;
        match (&place.content, known.name()) {
            (Content::Hooks { entries, .. }, "codex") => {
                let settings = known.folder().ok().and_then(|folder| trust::read(&folder.join("config.toml")));
                let todo = "start codex, type /hooks and trust those of Toolgate";
                match trust::codex(settings.as_ref(), &place.file.path, entries) {
                    Trust::Missing(events) => {
                        let says = format!(
                            "Codex leaves out without a word, as you have not trusted them: {}",
                            events.join(", ")
                        );
                        report.add("trusted", Level::Fail, says, todo);
                    }
                    Trust::Outdated(events) => {
                        let says = format!("these were trusted when they were something else: {}", events.join(", "));
                        report.add("trusted", Level::Fail, says, todo);
                    }
                    Trust::Off(events) => {
                        let says = format!("these are switched off in Codex: {}", events.join(", "));
                        report.add("trusted", Level::Fail, says, "start codex, type /hooks and switch them on");
                    }
                    Trust::Given if !project => report.ok("trusted", "all entries, as they are now"),
                    Trust::Given => {}
                }
                if project {
                    let root = table::project().map(|root| root.display().to_string()).unwrap_or_default();
                    let level = settings.as_ref().and_then(|all| all.get("projects")?.get(&root)?.get("trust_level"));
                    if level.is_none_or(|level| level != "trusted") {
                        let says = format!("Codex reads no hooks of {root}, as you have not trusted it");
                        report.add(
                            "trusted",
                            Level::Fail,
                            says,
                            "start codex there and trust it; or toolgate install codex --user",
                        );
                    } else {
                        let says = "`codex exec` is reported to leave out a project's hooks even if they are trusted";
                        report.add("trusted", Level::Warn, says, "toolgate install codex --user");
                    }
                }
            }
            (_, name @ ("copilot" | "gemini" | "pi")) if project => {
                let says =
                    format!("whether you have trusted this project in {} cannot be told from here", known.title());
                // Gemini leaves out the user's hooks as well, in a folder that is not trusted.
                let advice = match name {
                    "gemini" => "trust the folder in Gemini CLI".to_owned(),
                    _ => format!("toolgate install {} --user needs no such trust", known.name()),
                };
                report.add("trusted", Level::Warn, says, advice);
            }
            _ => {}
        }
    }
}

/// When the agent last asked, by the sign of life that every hook leaves.
fn fired(report: &mut Report, places: &[Place]) {
    let known = report.known;
    let sign = fired::path(known.name()).and_then(|path| std::fs::read(path).ok());
    let sign = sign.and_then(|sign| serde_json::from_slice::<Fired>(&sign).ok());
    let time = sign.as_ref().and_then(|sign| sign.time.parse::<jiff::Timestamp>().ok());
    let todo = format!("let {} run a command; if this stays as it is, it does not ask", known.title());
    let (Some(sign), Some(time)) = (sign, time) else {
        report.add("fired", Level::Warn, "never", todo);
        return;
    };
    let changed = places.iter().filter_map(|place| place.file.changed()).max();
    let changed = changed.and_then(|time| jiff::Timestamp::try_from(time).ok());
    let at = time.strftime("%F %T UTC");
    if changed.is_some_and(|changed| time < changed) {
        report.add("fired", Level::Warn, format!("last at {at}, and not since its configuration was changed"), todo);
    } else if !places.iter().flat_map(programs).any(|configured| same_file(&configured, &sign.program)) {
        let says = format!("last at {at}, and that was {} {}", sign.program, sign.version);
        report.add("fired", Level::Warn, says, todo);
    } else {
        report.ok("fired", format!("last at {at}"));
    }
}

fn same_file(one: &str, other: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().ok();
    one == other || real(one).is_some_and(|path| real(other) == Some(path))
}

/// Two calls through each configured command.
fn trial(report: &mut Report, place: &Place) {
    let Ok(folder) = place::folder(None) else { return };
    let (mut denies, mut passes) = (Vec::new(), Vec::new());
    let chains = chains(report.known, place);
    for (event, chain) in &chains {
        let probe = Probe { dialect: report.known.dialect, event, chain, folder: &folder };
        let wrong = |why: String| (Level::Fail, format!("{event}: {why}"));
        denies.extend(probe.denies().err().map(wrong));
        passes.extend(probe.passes().err().map(wrong));
    }
    if chains.is_empty() {
        return;
    }
    let todo = "run the command by hand to see why; `toolgate rules lint` says whether a rule file is broken";
    report.all("denies", denies, "a trial call that must not run".to_owned(), todo);
    report.all("passes", passes, "a trial call that is harmless, without a word".to_owned(), todo);
}

/// The commands that stand before a shell call, by their events. What a project names is only run if it is this program.
fn chains(known: &Known, place: &Place) -> Vec<(&'static str, Chain)> {
    let runs = |program: &str| place.scope == Scope::User || is_this(program);
    let all = known.dialect.trials().iter().copied();
    match &place.content {
        Content::Shim { program } => {
            all.filter(|_| runs(program)).map(|event| (event, Chain::Session(program.clone()))).collect()
        }
        Content::Hooks { entries, .. } => {
            let of = |event| entries.iter().filter(move |entry| entry.event == event);
            let chain = |entry: &Entry| match entry.handler.get("args") {
                Some(_) => Some(Chain::Exec(entry.words.clone())),
                None => {
                    let text = entry.handler["command"].as_str().or(entry.handler["bash"].as_str());
                    text.map(|text| Chain::Shell(text.to_owned()))
                }
            };
            let run = |entry: &&Entry| entry.words.first().is_some_and(|program| runs(program));
            all.flat_map(|event| of(event).filter(run).filter_map(move |entry| Some((event, chain(entry)?)))).collect()
        }
    }
}
