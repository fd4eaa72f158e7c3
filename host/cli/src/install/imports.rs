//! Which other agents run the hooks in an agent's file, and what they make of them: by what is known of them, whether they are
//! found on this machine, and a trial call as they would make it.
//!
//! | Agent | Reads | From |
//! |---|---|---|
//! | Copilot in VS Code | Claude Code's and Copilot CLI's | its source and documentation of summer 2026 |
//! | Grok CLI | Claude Code's | runs of version 1.0.41, which skips Cursor's without a word |
//! | Cursor | Claude Code's, unless it is told not to | its documentation of autumn 2026 |
//! | Copilot CLI | Claude Code's in a project | runs of version 1.0.102 |
//! | Devin CLI | Claude Code's, unless it is told not to | its documentation of autumn 2026 |
//! | Continue CLI | Claude Code's | its package 1.5.47, in which nothing calls what runs them |

use std::path::{Path, PathBuf};

use toolgate_agents::agent::{Dialect, claude, copilot, cursor, grok, vscode};
use toolgate_agents::dirs;
use toolgate_agents::settings::hook_failures::Level;
use toolgate_agents::settings::hook_trust;
use toolgate_agents::settings::hooks::{self, Entry};
use toolgate_agents::settings::program::{is_this, on_path};
use toolgate_agents::settings::table::{AgentConfig, CLAUDE, COPILOT, HookMechanism, Scope};
use toolgate_gatekeeper::hook_heartbeat;

use super::probe::{Chain, Probe};
use super::report::Check;

/// An agent that runs the hooks in other agents' files.
struct Importer {
    title: &'static str,
    /// How it speaks when it does.
    dialect: &'static dyn Dialect,
    /// Its programs, and folders in the home folder that it makes; one of them tells that it is here.
    programs: &'static [&'static str],
    folders: &'static [&'static str],
    /// Whose files it reads, and of which scopes.
    reads: &'static [(&'static AgentConfig, &'static [Scope])],
    /// Whether it runs a handler without its arguments.
    loses: bool,
    /// Whether it is known to run hooks before a call at all.
    runs: bool,
    /// What is different there.
    says: &'static str,
}

const BOTH: &[Scope] = &Scope::ALL;

#[rustfmt::skip]
static IMPORTERS: &[Importer] = &[
    Importer {
        title: "Copilot in VS Code",
        dialect: &vscode::VsCode,
        programs: &["code", "code-insiders"],
        folders: &[".vscode", ".vscode-server", ".vscode-insiders", ".config/Code", "Library/Application Support/Code"],
        reads: &[(&CLAUDE, BOTH), (&COPILOT, BOTH)],
        loses: true,
        runs: true,
        says: "asks its user for verdicts of ask; the setting chat.hookFilesLocations lists the files it reads",
    },
    Importer {
        title: "Grok CLI",
        dialect: &grok::Grok,
        programs: &["grok"],
        folders: &[".grok"],
        reads: &[(&CLAUDE, BOTH)],
        loses: true,
        runs: true,
        says: "cannot ask, so ask becomes deny; a hook that fails or times out lets the call run",
    },
    Importer {
        title: "Cursor",
        dialect: &cursor::IMPORTED,
        programs: &["cursor", "cursor-agent"],
        folders: &[".cursor"],
        reads: &[(&CLAUDE, BOTH)],
        loses: true,
        runs: true,
        says: "does so if it includes third-party configurations; ask becomes deny there",
    },
    Importer {
        title: "Copilot CLI",
        dialect: &copilot::Copilot,
        programs: &["copilot"],
        folders: &[".copilot"],
        reads: &[(&CLAUDE, &[Scope::Project])],
        loses: true,
        runs: true,
        says: "does so in folders that it trusts",
    },
    Importer {
        title: "Devin CLI",
        dialect: &claude::ALIKE,
        programs: &["devin"],
        folders: &[".config/devin"],
        reads: &[(&CLAUDE, BOTH)],
        loses: true,
        runs: true,
        says: "cannot ask, so ask becomes deny; the setting read_config_from.claude turns this on or off",
    },
    Importer {
        title: "Continue CLI",
        dialect: &claude::ALIKE,
        programs: &["cn"],
        folders: &[".continue"],
        reads: &[(&CLAUDE, BOTH)],
        loses: true,
        runs: false,
        says: "version 1.5.47 reads them but runs none, so its calls are not checked",
    },
];

/// Whether a folder holds anything. An empty one is left of an agent that is gone, or of an attempt.
pub(super) fn has_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

impl Importer {
    /// Where it was found.
    fn found(&self) -> Option<PathBuf> {
        let home = dirs::home().map(PathBuf::from);
        let folder =
            |home: &PathBuf| self.folders.iter().map(|folder| home.join(folder)).find(|folder| has_files(folder));
        self.programs.iter().find_map(|program| on_path(program)).or_else(|| folder(home.as_ref()?))
    }
}

/// The checks of the files of these agents.
pub(super) fn checks(agents: &[&'static AgentConfig]) -> Vec<Check> {
    let here = dirs::folder(None).ok();
    let mut checks = Vec::new();
    for importer in IMPORTERS {
        let mut reads =
            importer.reads.iter().filter(|(known, _)| agents.iter().any(|agent| agent.name() == known.name()));
        let Some(found) = importer.found() else { continue };
        let files = reads.by_ref().flat_map(|(known, scopes)| {
            scopes.iter().flat_map(move |scope| {
                let own = known.file(*scope).into_iter().chain(known.other_files(*scope));
                own.map(move |path| (*known, path))
            })
        });
        for (known, path) in files {
            let entries = entries(known, &path);
            if !entries.is_empty() {
                checks.extend(here.as_ref().map(|here| told(importer, known, (&path, &entries), &found, here)));
            }
        }
    }
    checks
}

/// Our handlers in a file.
fn entries(known: &AgentConfig, path: &Path) -> Vec<Entry> {
    let HookMechanism::Hooks(hooks) = &known.way else { return Vec::new() };
    hook_trust::read(path).map(|root| hooks::entries(known, hooks, &root)).unwrap_or_default()
}

/// What becomes of a file's hooks there.
fn told(
    importer: &Importer,
    known: &AgentConfig,
    (path, entries): (&Path, &[Entry]),
    found: &Path,
    here: &str,
) -> Check {
    let Importer { title, says, loses, .. } = *importer;
    let path = path.display();
    let asked = hook_heartbeat::read(importer.dialect.name()).filter(|_| importer.dialect.is_understood());
    let asked =
        asked.and_then(|fired| fired.gated).map(|time| format!(", and asked last at {time}")).unwrap_or_default();
    let how = if loses { "runs them without their arguments" } else { "runs them" };
    let about = format!("{path} is also read by {title}, found by {}{asked}: it {how}", found.display());
    let check = |level, says: String, todo: &str| Check { name: "imports", level, says, todo: todo.to_owned() };
    if !importer.runs {
        return check(Level::Warn, format!("{path} is also read by {title}, found by {}: {says}", found.display()), "");
    }
    match tried(importer, known, entries, here) {
        None => check(Level::Ok, format!("{about}, which was not tested; it {says}"), ""),
        Some(Ok(())) => check(Level::Ok, format!("{about}, and a trial call is denied; it {says}"), ""),
        Some(Err(why)) => {
            let todo = format!("toolgate install {}", known.name());
            check(Level::Fail, format!("{about}, and a trial call is not denied: {why}"), &todo)
        }
    }
}

/// Whether a call is denied that must not run, through what the agent makes of our entries; none if they run another program.
fn tried(importer: &Importer, known: &AgentConfig, entries: &[Entry], here: &str) -> Option<Result<(), String>> {
    let HookMechanism::Hooks(hooks) = &known.way else { return None };
    let gates = entries.iter().filter(|entry| hooks.events.iter().any(|event| event.must && event.name == entry.event));
    let chains: Vec<Chain> = gates.filter_map(|entry| chain(importer, entry)).collect();
    let event = importer.dialect.trials().first()?;
    let denies = |chain| Probe { dialect: importer.dialect, event, chain, folder: here }.denies().map(drop);
    // Each of several is asked.
    let mut results = chains.iter().map(denies);
    let first = results.next()?;
    Some(first.or_else(|why| results.find(Result::is_ok).unwrap_or(Err(why))))
}

/// The command of an entry as it is started there.
fn chain(importer: &Importer, entry: &Entry) -> Option<Chain> {
    let (program, arguments) = entry.words.split_first().filter(|(program, _)| is_this(program))?;
    // Those in the text of a command are not lost.
    let lost = importer.loses && entry.handler.get("args").is_some();
    Some(Chain::Hook(program.clone(), if lost { Vec::new() } else { arguments.to_vec() }))
}
