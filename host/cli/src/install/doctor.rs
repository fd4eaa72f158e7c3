//! `toolgate doctor`: whether an agent really asks before it acts. An agent that does not is silent about it, so every
//! way to be left out that is known has a check.
//!
//! | What happens without a word | Agent | Check |
//! |---|---|---|
//! | There is no entry, or no file | all | `installed` |
//! | The file cannot be read, has comments or a key twice | all | `readable` |
//! | A key that the agent does not know, or the wrong version, makes it refuse the file | Codex, Copilot, Cursor | `readable` |
//! | Entries stand below another key, `{"hooks": ..}` for instance, or in a file that another one overrides | Droid; all | `nesting` |
//! | An event has another agent's name, or one is left out (failures are an event of their own) | Gemini, Claude; all | `events` |
//! | A time limit in the wrong unit, or shorter than an answer takes: the call runs | Gemini; all | `form` |
//! | A crash or a missing program lets the call run (`onFailure`, `failClosed`) | Claude, Cursor | `form` |
//! | A matcher that leaves out tools; a handler that runs beside the call (`async`) | all | `form` |
//! | The payload does not say the event, and the arguments do not either | Copilot | `form` |
//! | A shell changes the command; the extension is an older one; arguments that other agents lose | all | `form` |
//! | Another agent reads the file, and does something else with it | Claude, Copilot, Cursor | `imports` |
//! | The program is gone, is no program or another one than asks | all | `program` |
//! | The program can be removed or replaced by others | all | `place` |
//! | Two entries judge and log each call twice; another agent's entries are read too | Copilot, Cursor; all | `double` |
//! | Hooks that are not trusted, or were something else when they were | Codex | `trusted` |
//! | Hooks in a folder that is not trusted | Codex, Copilot, Gemini, pi | `folder` |
//! | A setting switches hooks off | all but Cursor | `enabled` |
//! | What is typed into a terminal that is open is shown to no hook | Codex | `typed` |
//! | An early version ignores `onFailure`, or runs what is denied, or has no hooks | Claude, Copilot, Codex | `version` |
//! | The agent does not come to ask before a call, for whatever reason | all | `fired` |
//! | The project's file by which it asked is gone, and there is none of the user's | all | `gone` |
//! | It calls for an event that is new, and gets no opinion | all | `unknown` |
//! | Other hooks on the same event rewrite the call, or take their time | all | `others` |
//! | An answer with a field too many, without a reason, in another agent's words, not JSON, late or none | Codex; all | `denies` |
//! | A word where nothing was to be said: `allow` skips the user's own prompts | all | `passes` |
//! | A question that the agent takes for a yes | Codex, Gemini, Droid, OpenCode | `asks` |
//! | An answer that will be late one day | all | `time` |
//!
//! Behind the agents stand the shared terminal, see `terminal`, the installed plugins, see `plugins`, and what the user wrote
//! by hand, see `files`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use toolgate_agents::Failure;
use toolgate_agents::settings::file::{File, unreadable};
use toolgate_agents::settings::folder::Folder;
use toolgate_agents::settings::hook_disablers::{OwnHooks, SettingsContext};
use toolgate_agents::settings::hook_failures::Level;
use toolgate_agents::settings::hook_trust::{self, Trust};
use toolgate_agents::settings::program::{self, Standing};
use toolgate_agents::settings::table::{self, AgentConfig, HookMechanism, Scope};
use toolgate_agents::settings::{hook_failures, hooks, shims};
use toolgate_gatekeeper::{hook_files, hook_heartbeat};

use super::config_entries::{CUSTOM, anywhere, custom, events, form, misplaced, overridden, readable, unlinked};
use super::entry_file::{Content, EntryFile, looked};
use super::files;
use super::imports;
use super::name;
use super::plugins;
use super::report::{self, Check, Report, json_of};
use super::terminal;
use super::trials;
use crate::columns::count;
use crate::output::print;

/// The exit code if there is something to do.
const TO_DO: u8 = 1;

/// How long an agent may not have asked.
const LONG_AGO: jiff::SignedDuration = jiff::SignedDuration::from_hours(14 * 24);

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Args)]
#[command(after_help = "\
Sends three trial calls through the configured hook command: `rm -rf ~`, which must be denied,
`true`, and one that a trial rule asks about. They are evaluated but never run.

With --json: {\"schema\": 1, \"program\", \"version\", \"ok\", \"agents\": [{\"agent\", \"found\", \"installed\",
\"checks\": [{\"check\", \"level\": \"ok|warn|fail\", \"says\", \"todo\"}]}], \"terminal\": {\"checks\"}, \"plugins\":
{\"checks\"}, \"files\": {\"checks\"}, \"imports\": {\"checks\"}}.

Exit codes: 0 no problems, 1 problems found; 64 invalid arguments, 70 and above internal errors.")]
pub(crate) struct Arguments {
    /// The agent [default: all that are found here]
    #[arg(value_parser = name::parser())]
    agent: Option<&'static AgentConfig>,

    /// Print JSON
    #[arg(long)]
    json: bool,
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
    let (plugins, files) = (plugins::checks(), files::checks());
    let imports = imports::checks(agents);
    let all = reports.iter().flat_map(|report| &report.checks).chain(&imports);
    let all = all.chain(&terminal).chain(&plugins).chain(&files);
    let to_do = all.into_iter().any(|check| check.level != Level::Ok);
    if arguments.json {
        let program = program::running().ok();
        let agents: Vec<Value> = reports.iter().map(report::json).collect();
        let (terminal, plugins) = (json!({ "checks": json_of(&terminal) }), json!({ "checks": json_of(&plugins) }));
        let answer = json!({
            "schema": 1, "program": program, "version": VERSION, "ok": !to_do, "agents": agents, "terminal": terminal,
            "plugins": plugins, "files": { "checks": json_of(&files) }, "imports": { "checks": json_of(&imports) },
        });
        print(|out| writeln!(out, "{answer}"))?;
    } else {
        let mut sections: Vec<(&str, &[Check])> =
            reports.iter().map(|report| (report.known.title(), report.checks.as_slice())).collect();
        sections.push(("Agents that run these hooks as well", &imports));
        sections.extend([("Shared terminal", &*terminal), ("Plugins", &*plugins), ("Your files", &*files)]);
        print(|out| {
            if reports.is_empty() {
                writeln!(out, "no agent found")?;
            }
            report::show_all(out, sections)
        })?;
    }
    Ok(if to_do { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
}

/// Whether this file makes the agent call Toolgate.
pub(crate) fn installed(known: &AgentConfig, file: &File) -> bool {
    content(known, file, None).is_ok_and(|content| content.is_some())
}

/// What of ours is in a file, of events under this key if it is a second one. An error says why it cannot be read.
fn content(known: &AgentConfig, file: &File, second: Option<&'static str>) -> Result<Option<Content>, String> {
    if !file.exists() {
        return Ok(None);
    }
    let text = file.text().map_err(|failure| failure.message)?;
    Ok(match &known.way {
        HookMechanism::Shim(_) => shims::program(text).map(|program| Content::Shim { program }),
        HookMechanism::Hooks(hooks) => {
            let root = hooks::parse(text)?;
            let entries = hooks::entries(known, &looked(hooks, second), &root);
            (!entries.is_empty()).then_some(Content::Hooks { root, entries })
        }
    })
}

/// How far the user's own file makes an agent call this program. A project's file may say anything, and holds only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooked {
    /// Not at all.
    Not,
    /// It cannot be read.
    Unreadable,
    /// It names another program.
    Other,
    /// Not at all events that matter, or in a form that lets calls run.
    Partly,
    /// Before each call.
    Fully,
}

/// An agent, and the files here that make it call Toolgate.
pub(crate) struct Present {
    pub(crate) known: &'static AgentConfig,
    pub(crate) hooked: Hooked,
    /// The user's file, if it has entries of ours or cannot be read.
    pub(crate) own: Option<PathBuf>,
    /// The project's file, if it has entries of ours.
    pub(crate) project: Option<PathBuf>,
}

impl Present {
    /// Looks for the files of an agent, whether it is found here or not.
    pub(crate) fn of(known: &'static AgentConfig) -> Self {
        // What else is found is an entry of the report, which nobody asked for here.
        let mut report = Report { known, found: false, installed: false, checks: Vec::new() };
        let places = places(&mut report);
        let of = |scope: Scope| places.iter().find(|place| place.scope == scope);
        let first = known.file(Scope::User).ok();
        let project = of(Scope::Project).map(|place| place.file.path.clone());
        // In the home folder they are one file.
        let project = project.filter(|path| first.as_ref() != Some(path));
        if let Some(place) = of(Scope::User) {
            return Present { known, hooked: hooked(known, place), own: Some(place.file.path.clone()), project };
        }
        let own = first.filter(|path| read(known, path, None).is_err());
        let hooked = if own.is_some() { Hooked::Unreadable } else { Hooked::Not };
        Present { known, hooked, own, project }
    }
}

/// How far a file makes an agent call this program.
fn hooked(known: &AgentConfig, place: &EntryFile) -> Hooked {
    if !programs(place).iter().all(|program| program::is_this(program)) {
        return Hooked::Other;
    }
    let fully = match (&place.content, &known.way) {
        (Content::Hooks { entries, .. }, HookMechanism::Hooks(hooks)) => {
            let works = |entry: &hooks::Entry| form(known, hooks, entry).iter().all(|(level, _)| *level != Level::Fail);
            let mut events = hooks.events.iter().filter(|event| event.must);
            events.all(|event| entries.iter().any(|entry| entry.event == event.name && works(entry)))
        }
        (Content::Shim { .. }, HookMechanism::Shim(shim)) => {
            place.file.text().is_ok_and(|text| shims::is_current(text, shim))
        }
        _ => false,
    };
    if fully { Hooked::Fully } else { Hooked::Partly }
}

/// The agents that are found here, or that call Toolgate.
pub(crate) fn present() -> Vec<Present> {
    let is_here = |one: &Present| {
        let configured = one.own.is_some() || one.project.is_some();
        configured || program::on_path(one.known.program).is_some() || folder(one.known).is_some()
    };
    table::AGENTS.iter().copied().map(Present::of).filter(is_here).collect()
}

/// Shows the checks of these agents, as `toolgate doctor` does; with each, whether its configuration was written just now. The
/// answer is those that a check failed for.
pub(crate) fn show_checks(agents: &[(&'static AgentConfig, bool)]) -> Result<Vec<&'static AgentConfig>, Failure> {
    let examined = |&(known, written): &(&'static AgentConfig, bool)| {
        let mut report = examine(known);
        // It cannot have asked since.
        report.checks.retain(|check| !written || check.name != "fired" || check.level == Level::Ok);
        report
    };
    let reports: Vec<Report> = agents.iter().map(examined).collect();
    let sections = reports.iter().map(|report| (report.known.title(), report.checks.as_slice())).collect();
    print(|out| report::show_all(out, sections))?;
    let fails = |report: &&Report| report.checks.iter().any(|check| check.level == Level::Fail);
    Ok(reports.iter().filter(fails).map(|report| report.known).collect())
}

/// The user's folder for an agent, if it holds anything.
fn folder(known: &AgentConfig) -> Option<PathBuf> {
    known.folder().ok().filter(|folder| imports::has_files(folder))
}

fn examine(known: &'static AgentConfig) -> Report {
    let path = program::on_path(known.program);
    let folder = folder(known);
    let mut report = Report { known, found: path.is_some() || folder.is_some(), installed: false, checks: Vec::new() };
    match (&path, &folder) {
        (Some(path), _) => report.ok("present", path.display().to_string()),
        (None, Some(folder)) => {
            report.ok("present", format!("{}, but {} is not on PATH", folder.display(), known.program));
        }
        (None, None) => report.add(
            "present",
            Level::Warn,
            format!("neither {} nor its configuration folder was found", known.program),
            "install it, or set PATH",
        ),
    }
    let places = places(&mut report);
    report.installed = !places.is_empty();
    gone(&mut report);
    if places.is_empty() {
        let says = format!("{} does not call Toolgate", known.title());
        report.add("installed", Level::Warn, says, format!("toolgate install {}", known.name()));
        return report;
    }
    for place in &places {
        one(&mut report, place);
    }
    double(&mut report, &places);
    let at = SettingsContext::of(known);
    for place in places.iter().filter(|_| known.name() == table::CODEX.name()) {
        trusted(&mut report, place);
    }
    trusts(&mut report, &places, &at);
    enabled(&mut report, &places, &at);
    if let Some((or, todo)) = hook_failures::missing(known, &at) {
        report.add("typed", Level::Warn, or, todo);
    }
    trials::version(&mut report, path.as_deref());
    fired(&mut report, &places);
    for place in &places {
        trials::others(&mut report, place);
        trials::run(&mut report, place);
    }
    report
}

/// The files that make the agent ask.
fn places(report: &mut Report) -> Vec<EntryFile> {
    let known = report.known;
    let mut places = Vec::new();
    for scope in Scope::ALL {
        let read = match known.file(scope) {
            Ok(path) => read(known, &path, None),
            // Outside of a project there is none.
            Err(_) if scope == Scope::Project => continue,
            Err(failure) => Err(failure),
        };
        match read {
            Ok((file, Some(content))) => places.push(EntryFile { scope, file, content, second: None }),
            Ok((first, None)) => {
                for path in known.other_files(scope).iter().filter(|_| hook_failures::of(known).second.is_some()) {
                    let second = hook_failures::of(known).second;
                    if let Ok((file, Some(content))) = self::read(known, path, second) {
                        places.push(EntryFile { scope, file, content, second });
                    }
                }
                misplaced(report, &first);
            }
            Err(failure) => {
                report.add("readable", Level::Fail, failure.message, "fix it; the agent may be unable to read it, too");
            }
        }
    }
    places
}

/// A file, and what of ours is in it.
fn read(known: &AgentConfig, path: &Path, second: Option<&'static str>) -> Result<(File, Option<Content>), Failure> {
    let file = File::read(path)?;
    match content(known, &file, second) {
        Ok(content) => Ok((file, content)),
        Err(error) => Err(unreadable(&file, &error)),
    }
}

/// Whether a setting switches hooks off.
fn enabled(report: &mut Report, places: &[EntryFile], at: &SettingsContext<'_>) {
    let known = report.known;
    let why = |place: &EntryFile| {
        let entries = match &place.content {
            Content::Hooks { entries, .. } => entries.as_slice(),
            Content::Shim { .. } => &[],
        };
        hook_failures::switched_off(known, at, &OwnHooks { scope: place.scope, file: &place.file.path, entries })
    };
    match places.iter().find_map(why) {
        Some(says) => report.add("enabled", Level::Fail, says, "change it if you want protection"),
        None if !hook_failures::of(known).can_be_switched_off() => {}
        None => report.ok("enabled", "no setting turns hooks off"),
    }
}

/// The checks of one file.
fn one(report: &mut Report, place: &EntryFile) {
    let known = report.known;
    let path = place.file.path.display().to_string();
    let option = if place.scope == Scope::Project { " --project" } else { "" };
    let install = format!("toolgate install {}{option}", known.name());
    match (&place.content, &known.way) {
        (Content::Hooks { root, entries }, HookMechanism::Hooks(hooks)) => {
            report.ok("installed", format!("{path} ({})", count(entries.len(), "hook")));
            readable(report, hooks, place, root);
            let lost = anywhere(known, root).saturating_sub(entries.len());
            if lost > 0 {
                report.add(
                    "nesting",
                    Level::Fail,
                    format!("{lost} of them are in a place that {} does not read", known.title()),
                    "remove these by hand",
                );
            } else {
                report.ok("nesting", "they are in the right place");
            }
            events(report, hooks, entries, &install);
            if place.second.is_some() {
                overridden(report, hooks, place, entries, &install);
            }
            let mut wrong: Vec<_> = entries.iter().flat_map(|entry| form(known, hooks, entry)).collect();
            wrong.extend(unlinked(known, place.scope, entries));
            if custom(known, root) > 0 {
                wrong.push((Level::Warn, CUSTOM.to_owned()));
            }
            report.all("form", wrong, "the safest value for this agent".into(), &install);
        }
        (Content::Shim { .. }, HookMechanism::Shim(shim)) => {
            report.ok("installed", path);
            if place.file.text().is_ok_and(|text| shims::is_current(text, shim)) {
                report.ok("form", "of this version");
            } else {
                report.add("form", Level::Warn, "from another version, or edited by hand", install.clone());
            }
        }
        _ => {}
    }
    for program in programs(place) {
        self::program(report, &program, &install);
    }
}

/// The programs that a place's entries run, each once.
fn programs(place: &EntryFile) -> Vec<String> {
    let mut all: Vec<String> = match &place.content {
        Content::Hooks { entries, .. } => entries.iter().filter_map(|entry| entry.words.first().cloned()).collect(),
        Content::Shim { program } => vec![program.clone()],
    };
    all.sort();
    all.dedup();
    all
}

fn program(report: &mut Report, program: &str, install: &str) {
    let path = PathBuf::from(program);
    let wrong = if !path.is_absolute() {
        Some("is not an absolute path, so PATH decides which program runs")
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
    if program::is_this(program) {
        report.ok("program", format!("{program}, this one"));
    } else {
        // Whoever can have this asked for a file of their own would have anything run that they name there.
        let says = format!("{program} is not the program that you are running, so it was not tested");
        report.add("program", Level::Warn, says, format!("if that is not intended: {install}"));
    }
    match program::standing(&path) {
        Standing::Firm => report.ok("place", "only the administrator can replace it"),
        Standing::Own => {
            report.ok("place", "you can replace it; the agent could, too, if Toolgate's rules did not stop it");
        }
        Standing::Loose(why) => {
            // What a settings file names may be anybody's, and is not what an administrator should be told to install.
            let todo = if program::is_this(program) {
                let better = |running: String| format!("{} {}", program::advice(&running), report.known.name());
                program::running().map_or_else(|failure| failure.message, better)
            } else {
                format!("the entry runs another program; run {install} again")
            };
            report.add("place", Level::Warn, why, todo);
        }
    }
}

fn double(report: &mut Report, places: &[EntryFile]) {
    let known = report.known;
    let mut wrong = Vec::new();
    if let [user, project] = places {
        wrong.push((
            Level::Warn,
            format!(
                "both {} and {} call Toolgate, so each call is checked twice",
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
    for path in others.filter(|path| places.iter().all(|place| place.file.path != *path)) {
        if hook_trust::read(&path).is_some_and(|root| anywhere(known, &root) > 0) {
            wrong.push((Level::Warn, format!("{} asks as well", path.display())));
        }
    }
    let claude = &table::CLAUDE;
    let files = hook_failures::of(known)
        .claudes
        .iter()
        .flat_map(|scope| claude.file(*scope).into_iter().chain(claude.other_files(*scope)));
    for path in files {
        if File::read(&path).is_ok_and(|file| installed(claude, &file)) {
            let says = format!("{} may read Claude Code's hooks in {}, too", known.title(), path.display());
            wrong.push((Level::Warn, says));
        }
    }
    report.all("double", wrong, "asked once".to_owned(), "run toolgate uninstall for one of them");
}

/// Whether the user trusts each of our entries, as Codex wants to know.
fn trusted(report: &mut Report, place: &EntryFile) {
    let Content::Hooks { entries, .. } = &place.content else { return };
    let project = place.scope == Scope::Project;
    let settings = report.known.folder().ok().and_then(|folder| hook_trust::read(&folder.join("config.toml")));
    let todo = "start codex, type /hooks and trust Toolgate's hooks";
    let fail = |report: &mut Report, why: &str, events: &[String], todo: &str| {
        report.add("trusted", Level::Fail, format!("{why}: {}", events.join(", ")), todo);
    };
    match hook_trust::codex(settings.as_ref(), &place.file.path, entries) {
        Trust::Missing(events) => {
            fail(report, "Codex silently skips because you have not trusted them", &events, todo);
        }
        Trust::Outdated(events) => fail(report, "these were trusted when they were something else", &events, todo),
        Trust::Off(events) => {
            let todo = "start codex, type /hooks and turn them on";
            fail(report, "these are disabled in Codex", &events, todo);
        }
        Trust::Given if !project => report.ok("trusted", "all entries, as they are now"),
        Trust::Given => {
            let says = "`codex exec` reportedly skips a project's hooks even if they are trusted";
            report.add("trusted", Level::Warn, says, "toolgate install codex --user");
        }
    }
}

/// Whether the agent trusts the folder, where its hooks depend on that.
fn trusts(report: &mut Report, places: &[EntryFile], at: &SettingsContext<'_>) {
    let known = report.known;
    let project = places.iter().any(|place| place.scope == Scope::Project);
    let Some(depends) = hook_failures::of(known).folder.as_ref().filter(|depends| project || depends.all) else {
        return;
    };
    let (title, cwd) = (known.title(), at.cwd.display());
    let instead = if depends.all { String::new() } else { format!("; or toolgate install {} --user", known.name()) };
    let todo = format!("start {title} there and trust the folder{instead}");
    match (depends.trusts)(at) {
        Folder::Trusted => report.ok("folder", format!("{title} trusts {cwd}")),
        Folder::Untrusted => {
            let whose = if depends.all { "all hooks" } else { "a project's hooks" };
            let says = format!("{title} does not trust {cwd} and silently skips {whose} there");
            report.add("folder", Level::Fail, says, todo);
        }
        Folder::Undecided if project => {
            let says = format!("{title} has no trust setting for {cwd}; without one it skips hooks");
            report.add("folder", Level::Warn, says, todo);
        }
        // It asks when it is started.
        Folder::Undecided => {}
    }
}

/// When the agent last asked, by the sign of life that every hook leaves.
fn fired(report: &mut Report, places: &[EntryFile]) {
    let known = report.known;
    let todo = format!("let {} run a command; if this message stays, the hook is not called", known.title());
    let sign = hook_heartbeat::read(known.name()).unwrap_or_default();
    if !sign.unknown.is_empty() {
        let says = format!("it calls the hook for events that Toolgate does not know: {}", sign.unknown.join(", "));
        let file = hook_heartbeat::path(known.name()).map(|path| path.display().to_string()).unwrap_or_default();
        let todo = format!("remove them from its configuration, then delete {file}, which lists them");
        report.add("unknown", Level::Warn, says, todo);
    }
    let moment = |time: &str| time.parse::<jiff::Timestamp>().ok();
    let Some(time) = sign.gated.as_deref().and_then(moment) else {
        let says = match moment(&sign.time) {
            Some(time) => format!("never before a call, and last at {}", time.strftime("%F %T UTC")),
            None => "never".to_owned(),
        };
        report.add("fired", Level::Warn, says, todo);
        return;
    };
    let mut wrong = Vec::new();
    let changed = places.iter().filter_map(|place| place.file.changed()).max();
    let changed = changed.and_then(|time| jiff::Timestamp::try_from(time).ok());
    if changed.is_some_and(|changed| time < changed) {
        wrong.push("not since its configuration was changed".to_owned());
    }
    if jiff::Timestamp::now().duration_since(time) > LONG_AGO {
        wrong.push(format!("more than {} days ago", LONG_AGO.as_hours() / 24));
    }
    let configured = places.iter().flat_map(programs).any(|program| same_file(&program, &sign.program));
    if !configured || sign.version != VERSION {
        wrong.push(format!("that was {} {}; this is {VERSION}", sign.program, sign.version));
    }
    let at = format!("before a call last at {}", time.strftime("%F %T UTC"));
    if !wrong.is_empty() {
        wrong.insert(0, at.clone());
    }
    report.all("fired", wrong.into_iter().map(|why| (Level::Warn, why)).collect(), at, &todo);
}

/// Files of projects by which the agent asked lately, and does not any more.
fn gone(report: &mut Report) {
    let own = hook_files::gone().into_iter().filter(|file| file.agent == report.known.name()).collect::<Vec<_>>();
    for file in own {
        let shown = file.file.display();
        let says =
            format!("{shown} configured the hook until {}, but is missing or no longer names Toolgate", file.time);
        let todo = format!("restore it, or run toolgate install {} --project there", file.agent);
        report.add("gone", Level::Fail, says, todo);
    }
}

fn same_file(one: &str, other: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().ok();
    one == other || real(one).is_some_and(|path| real(other) == Some(path))
}
