//! `toolgate` without arguments, at a terminal: which agents are here, whether each calls Toolgate, and the one next step.
//! Where standard input is no terminal the same words are a hook that lost its arguments, see `Told`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolgate_agents::settings::table::AGENTS;
use toolgate_agents::{Failure, dirs};
use toolgate_host::plain;

use crate::columns::{width, wrapped};
use crate::install::{self, Present};
use crate::show::{BOLD, DIM, GREEN, YELLOW, print};

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
        for Present { known, files } in &agents {
            let title = known.title();
            match files.as_slice() {
                [] => writeln!(out, "  {title:<longest$}  {YELLOW}no hooks{YELLOW:#}")?,
                files => {
                    let files: Vec<String> = files.iter().map(|file| shown(file)).collect();
                    let files = files.join(", ");
                    writeln!(out, "  {title:<longest$}  {GREEN}hooks installed{GREEN:#}  {DIM}{files}{DIM:#}")?;
                }
            }
        }
        writeln!(out, "\nNext: {BOLD}{command}{BOLD:#}  {about}")?;
        writeln!(out, "{DIM}`toolgate --help` lists all commands.{DIM:#}")
    })
}

/// The next step: a command, and its use.
fn next(agents: &[Present]) -> (&'static str, &'static str) {
    if agents.is_empty() {
        ("toolgate setup AGENT", "sets up an agent that was not found")
    } else if agents.iter().any(|one| one.files.is_empty()) {
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
