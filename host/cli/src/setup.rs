//! `toolgate setup`: Toolgate for the agents of this machine, with a question before each change.
//!
//! The changes are those of `toolgate install`, the checks at the end those of `toolgate doctor`. As for `toolgate allow` the
//! terminal has to be a person's own: an agent must not be the one who agrees. There is no option that agrees in advance, as
//! `toolgate install AGENT` asks nothing.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use toolgate_agents::settings::table::AgentConfig;
use toolgate_agents::{Failure, dirs};
use toolgate_host::{ToolCall, plain};

use crate::confirmation::{self, REFUSED};
use crate::install::{self, Hooked, Offer, Present};
use crate::output::{self, BOLD, DIM, YELLOW, print};
use crate::welcome::{no_agent, shown};
use crate::{check, terminal};

/// The exit code if an agent does not work in spite of all that was done.
const NOT_YET: u8 = 1;

/// What is said where nothing is set up.
const OTHERWISE: &str = "nothing was set up";

/// How long a person may take to read a change and to answer.
const REVIEW_TIMEOUT: Duration = Duration::from_secs(600);

/// The command whose verdict is shown at the end. It is judged, and not run.
const TRIAL: &str = "rm -rf ~";

#[derive(Args)]
#[command(after_help = "\
Shows the configuration change for each agent, as `toolgate install` does, and asks before it is
written. Afterwards it shows the checks of `toolgate doctor` for these agents, and the verdict on a
command that is blocked; the command is not run.

Requires a terminal that no agent controls, for input and output. Elsewhere `toolgate install AGENT`
makes the same change and asks nothing. --dry-run works anywhere.

Exit codes: 0 done, declined, or nothing to do; 1 a check failed for an agent, which does not work yet;
2 refused, or no answer; 64 invalid arguments, 65 an invalid configuration, 66 an unreadable file or no
home folder, 70 and above internal errors or disk errors.")]
pub(crate) struct Arguments {
    /// The agents [default: all that are found here]
    #[arg(value_name = "AGENT", value_parser = install::agent_name())]
    agents: Vec<&'static AgentConfig>,

    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let dry_run = arguments.dry_run;
    if !dry_run {
        confirmation::present(OTHERWISE).and_then(|()| seen()).map_err(or_install)?;
    }
    let agents: Vec<Present> = match arguments.agents.is_empty() {
        true => install::present(),
        false => once(&arguments.agents).into_iter().map(Present::of).collect(),
    };
    if agents.is_empty() {
        return print(|out| {
            no_agent(out)?;
            writeln!(out, "`toolgate setup AGENT` sets up an agent even if it was not found.")
        });
    }
    let (mut failed, mut written) = (None, Vec::new());
    for agent in &agents {
        print(|out| writeln!(out, "{BOLD}{}{BOLD:#}", agent.known.title()))?;
        // One configuration that cannot be changed does not keep the others from being set up.
        let outcome = match Offer::of(agent.known, dry_run) {
            Ok(offer) if wanted(agent, &offer, dry_run)? => {
                written.extend(offer.writes().then(|| agent.known.name()));
                offer.make()
            }
            Ok(_) => Ok(()),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = outcome {
            output::complain(&failure.message);
            failed = failed.or(Some(failure.code));
        }
        print(|out| writeln!(out))?;
    }
    let now = agents.iter().map(|agent| Present::of(agent.known));
    let calling = now.filter(|now| ![Hooked::Not, Hooked::Unreadable].contains(&now.hooked));
    let calling: Vec<(&'static AgentConfig, bool)> =
        calling.map(|now| (now.known, written.contains(&now.known.name()))).collect();
    if !dry_run && !calling.is_empty() {
        let failing = install::show_checks(&calling)?;
        if failing.is_empty() {
            trial()?;
        } else {
            failed = failed.or(Some(NOT_YET));
        }
        last(&failing, !written.is_empty())?;
    }
    Ok(failed.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// The agents that are named, each once.
fn once(named: &[&'static AgentConfig]) -> Vec<&'static AgentConfig> {
    let mut first: Vec<&'static AgentConfig> = Vec::new();
    for known in named.iter().copied() {
        if first.iter().all(|earlier| earlier.name() != known.name()) {
            first.push(known);
        }
    }
    first
}

/// Makes sure that whoever is asked sees the change that they are asked about.
fn seen() -> Result<(), Failure> {
    if std::io::stdout().is_terminal() {
        return Ok(());
    }
    let why = "standard output is not a terminal, so you could not see the changes; do not redirect it";
    Err(Failure::new(REFUSED, format!("{OTHERWISE}: {why}")))
}

/// A refusal, with the command that takes no person.
fn or_install(refused: Failure) -> Failure {
    let message = format!("{}, or use `toolgate install AGENT`, which asks nothing", refused.message);
    Failure::new(refused.code, message)
}

/// Shows the change for an agent, and asks whether it is to be made, unless it is only to be shown. A project's file does not
/// count: it holds in one folder, and who wrote the project wrote it, too.
///
/// # Errors
/// If there is no answer: whoever is gone agrees to nothing more.
fn wanted(agent: &Present, offer: &Offer, dry_run: bool) -> Result<bool, Failure> {
    let (title, file) = (agent.known.title(), offer.file());
    if let Some(project) = &agent.project {
        print(|out| writeln!(out, "{YELLOW}note{YELLOW:#}  this project calls Toolgate as well ({})", shown(project)))?;
    }
    // Entries in two files would have each call judged twice.
    let elsewhere = agent.own.as_ref().filter(|own| agent.hooked == Hooked::Fully && **own != file.path);
    if let Some(own) = elsewhere {
        print(|out| writeln!(out, "{title} already calls Toolgate ({})", shown(own)))?;
        return Ok(false);
    }
    if !offer.changes() {
        return Ok(true);
    }
    offer.show()?;
    if dry_run || agrees(agent, offer)? {
        return Ok(true);
    }
    print(|out| writeln!(out, "{YELLOW}{}{YELLOW:#}  {}: not changed", agent.known.name(), shown(&file.path)))?;
    Ok(false)
}

/// Asks the person at the terminal whether to make a change.
fn agrees(agent: &Present, offer: &Offer) -> Result<bool, Failure> {
    let (title, file) = (agent.known.title(), offer.file());
    let what = match agent.own.is_none() {
        true => format!("Add Toolgate to {title}?"),
        false => format!("Update Toolgate in {title}?"),
    };
    let effect = match (offer.writes(), file.exists()) {
        (true, true) => format!("This changes {}.", shown(&file.path)),
        (true, false) => format!("This creates {}.", shown(&file.path)),
        (false, _) => "This makes the link.".to_owned(),
    };
    let question = format!(
        "{BOLD}{what}{BOLD:#} {effect}\nType y to do it, anything else to skip it {DIM}({} min){DIM:#}:",
        REVIEW_TIMEOUT.as_secs() / 60
    );
    let answer = terminal::ask(question.as_bytes(), REVIEW_TIMEOUT);
    let answer = answer.map_err(|error| Failure::new(REFUSED, format!("the terminal cannot be used: {error}")))?;
    let unanswered = || Failure::new(REFUSED, "setup stopped: there was no answer; confirmed changes stay");
    let answer = answer.ok_or_else(unanswered)?;
    Ok(terminal::yes(&answer))
}

/// Shows that a dangerous command is blocked from now on.
fn trial() -> Result<(), Failure> {
    let cwd = dirs::folder(None)?;
    let call = ToolCall::shell(TRIAL, cwd.as_str()).with_home(dirs::home()).with_workspace_root(dirs::root_of(&cwd));
    let verdict = check::judge(&call)?;
    let (name, _) = output::decision(&verdict.decision);
    print(|mut out| {
        writeln!(out, "\n{BOLD}A trial{BOLD:#} {DIM}(the command is not run){DIM:#}")?;
        output::verdict(&mut out, name, TRIAL, &verdict)
    })
    .map(drop)
}

/// What is left to the user: the agents that a check failed for, and what holds for all of them. `written` tells whether a
/// configuration was changed.
fn last(failing: &[&'static AgentConfig], written: bool) -> Result<(), Failure> {
    let titles: Vec<&str> = failing.iter().map(|known| known.title()).collect();
    let packs = if written { install::packs_note() } else { None };
    print(|out| {
        writeln!(out)?;
        if !titles.is_empty() {
            let titles = titles.join(", ");
            writeln!(out, "{YELLOW}Not protected yet:{YELLOW:#} {titles}. Follow the steps behind `do:` above.")?;
        }
        if let Some(packs) = &packs {
            writeln!(out, "{YELLOW}note{YELLOW:#}  {}", plain(packs))?;
        }
        writeln!(out, "Agents read their configuration when they start: restart those that are running.")?;
        writeln!(
            out,
            "{DIM}`toolgate doctor` repeats the checks; `toolgate log` shows the calls that were stopped.{DIM:#}"
        )
    })
    .map(drop)
}
