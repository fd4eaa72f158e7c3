//! `toolgate` without arguments, at a terminal: which agents are here, whether each calls Toolgate, and the one next step.
//! Where standard input is no terminal the same words are a hook that lost its arguments, see `Invocation`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use toolgate_agents::settings::table::AGENTS;
use toolgate_agents::{Failure, dirs};
use toolgate_host::plain;

use crate::columns::{width, wrapped};
use crate::install::{self, Hooked, Present};
use crate::output::{BOLD, DIM, GREEN, YELLOW, print};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run() -> Result<ExitCode, Failure> {
    let agents = install::present();
    let longest = agents.iter().map(|one| one.known.title().len()).max().unwrap_or(0);
    let (command, about) = next(&agents);
    print(|out| {
        writeln!(out, "{BOLD}Toolgate {VERSION}{BOLD:#} checks every tool call of a coding agent before it runs.\n")?;
        if agents.is_empty() {
            no_agent(out)?;
        }
        for agent in &agents {
            let title = agent.known.title();
            let (style, state, file) = state(agent);
            let file = file.map(|file| format!("  {DIM}{}{DIM:#}", shown(file))).unwrap_or_default();
            writeln!(out, "  {title:<longest$}  {style}{state}{style:#}{file}")?;
        }
        writeln!(out, "\nNext: {BOLD}{command}{BOLD:#}  {about}")?;
        writeln!(out, "{DIM}`toolgate --help` lists all commands.{DIM:#}")
    })
}

/// How an agent stands, and the file that says so. Only the user's own file counts as installed, and only if it runs this very
/// program: a project's is the work of whoever wrote the project.
fn state(agent: &Present) -> (Style, &'static str, Option<&Path>) {
    let own = agent.own.as_deref();
    match (agent.hooked, agent.project.as_deref()) {
        (Hooked::Fully, _) => (GREEN, "hooks installed", own),
        (Hooked::Partly, _) => (YELLOW, "hooks incomplete", own),
        (Hooked::Other, _) => (YELLOW, "hooks run another program", own),
        (Hooked::Unreadable, _) => (YELLOW, "cannot be read", own),
        (Hooked::Not, Some(project)) => (YELLOW, "in this project only", Some(project)),
        (Hooked::Not, None) => (YELLOW, "no hooks", None),
    }
}

/// The next step: a command, and its use.
fn next(agents: &[Present]) -> (&'static str, &'static str) {
    if agents.is_empty() {
        ("toolgate setup AGENT", "sets up an agent even if it was not found")
    } else if agents.iter().any(|one| one.hooked != Hooked::Fully) {
        ("toolgate setup", "adds Toolgate to these agents, and asks before each change")
    } else {
        ("toolgate doctor", "checks that these agents really call Toolgate")
    }
}

/// The agents that Toolgate knows, where none of them was found.
pub(crate) fn no_agent(out: &mut dyn Write) -> std::io::Result<()> {
    let known: Vec<String> = AGENTS.iter().map(|known| format!("{} ({})", known.title(), known.name())).collect();
    let text = format!(
        "No agent was found, neither a program on PATH nor a configuration folder. Toolgate supports {}.",
        known.join(", ")
    );
    wrapped(&text, width()).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A path for a person: the home folder is `~`.
pub(crate) fn shown(path: &Path) -> String {
    let home = dirs::home().map(PathBuf::from);
    let below = home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    plain(&below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display())))
}
