//! `agents` runs the real agents against the built command, and prints what it stops.
//!
//! | Exit code | Meaning |
//! |---|---|
//! | 0 | nothing failed |
//! | 1 | something did |
//! | 2 | nothing could be shown: the sandbox, the command or an agent is missing |
//! | 69 | the same, for npm's registry does not answer |

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use toolgate_agent_tests::client::{self, Client};
use toolgate_agent_tests::play::{self, Record};
use toolgate_agent_tests::sandbox::{self, Settings};
use toolgate_agent_tests::scenario::{self, Scenario, Verdict};
use toolgate_agent_tests::table::{self, Cell};
use toolgate_agent_tests::{Error, install};

/// Runs the real agents offline, each scenario without Toolgate and with it.
#[derive(Debug, Parser)]
struct Options {
    /// Only these agents
    clients: Vec<String>,
    /// Only these scenarios
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,
    /// The command under test [default: `$TOOLGATE_COMMAND`, or the one that was built beside this program]
    #[arg(long, value_name = "FILE")]
    toolgate: Option<PathBuf>,
    /// Where the agents are installed [default: `$TOOLGATE_AGENTS_CACHE`, or target/agents]
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// The component for the scenarios that load one [default: target/test-plugin/guest.wasm]
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    /// How many agents run at once [default: as many as there are processors]
    #[arg(long, value_name = "COUNT")]
    jobs: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Print the table of docs/reference/agents.md
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Keep the home folders, and what was said
    #[arg(long)]
    keep: bool,
    /// Play this scenario here and now; used inside the sandbox
    #[arg(long, hide = true, value_name = "NAME")]
    play: Option<String>,
    /// Play it with Toolgate
    #[arg(long, hide = true)]
    guarded: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            progress(&format!("agents: {error}"));
            let unreachable = matches!(error.downcast_ref(), Some(Error::Unreachable(..)));
            ExitCode::from(if unreachable { 69 } else { 2 })
        }
    }
}

fn run(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    let mut clients = client::ALL.to_vec();
    if !options.clients.is_empty() {
        clients = named(&options.clients, client::find)?;
    }
    let mut scenarios: Vec<&'static Scenario> = scenario::ALL.iter().collect();
    if !options.scenario.is_empty() {
        scenarios = named(&options.scenario, scenario::find)?;
    }
    let mut out = io::stdout().lock();
    if let Some(name) = &options.play {
        let scenario = scenario::find(name).ok_or("there is no such scenario")?;
        let record = play::play(clients[0], scenario, options.guarded)?;
        writeln!(out, "{}", serde_json::to_string(&record)?)?;
        return Ok(true);
    }
    sandbox::check()?;
    let program = std::env::current_exe()?;
    let beside = |path: &str| program.parent().map(|folder| folder.join(path)).unwrap_or_default();
    let given = |option: &Option<PathBuf>, variable| option.clone().or(std::env::var_os(variable).map(PathBuf::from));
    let toolgate = given(&options.toolgate, "TOOLGATE_COMMAND").unwrap_or_else(|| beside("toolgate"));
    if !toolgate.is_file() {
        return Err(Error::Unbuilt(toolgate).into());
    }
    let cache = given(&options.cache, "TOOLGATE_AGENTS_CACHE").unwrap_or_else(|| beside("../agents"));
    let plugin = options.plugin.clone().unwrap_or_else(|| beside("../test-plugin/guest.wasm"));
    for client in &clients {
        install::install(&cache, *client, progress)?;
    }
    let cache = cache.canonicalize()?;
    let settings = Settings {
        toolgate: toolgate.canonicalize()?,
        plugin: plugin.is_file().then(|| plugin.canonicalize()).transpose()?,
        runs: cache.join("runs"),
        cache,
        keep: options.keep,
        program,
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let cells = all(&settings, &clients, &scenarios, options.jobs.unwrap_or(processors));
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&table::json(&cells))?)?;
    } else if options.markdown {
        write!(out, "{}", table::markdown(&clients, &scenarios, &cells))?;
    } else {
        write!(out, "{}", table::plain(&clients, &scenarios, &cells))?;
    }
    Ok(!cells.iter().any(|cell| matches!(cell.verdict, Verdict::Fail(_))))
}

/// The things of these names.
fn named<T>(names: &[String], find: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    names.iter().map(|name| find(name).ok_or_else(|| format!("there is no {name}"))).collect()
}

/// Plays everything, several agents at once, and one agent's scenarios one after another.
fn all(
    settings: &Settings,
    clients: &[&'static dyn Client],
    scenarios: &[&'static Scenario],
    jobs: usize,
) -> Vec<Cell> {
    let queue = Mutex::new(clients.iter().rev().copied().collect::<Vec<_>>());
    let cells = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(client) = next() {
                    let found = one(settings, client, scenarios);
                    cells.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                }
            });
        }
    });
    let mut cells: Vec<Cell> = cells.into_inner().unwrap_or_else(PoisonError::into_inner);
    cells.sort_by_key(|cell| clients.iter().position(|client| client.name() == cell.client.name()));
    cells
}

/// All scenarios of one agent. Those with the same calls share a twin.
fn one(settings: &Settings, client: &'static dyn Client, scenarios: &[&'static Scenario]) -> Vec<Cell> {
    let mut twins: BTreeMap<String, Record> = BTreeMap::new();
    let mut cells = Vec::new();
    for &scenario in scenarios {
        let (verdict, seconds) = match pair(settings, client, scenario, &mut twins) {
            Ok(found) => found,
            Err(error) => (Verdict::Fail(error.to_string()), None),
        };
        let times = seconds.map_or_else(String::new, |(twin, guarded)| format!(" ({twin:.1} s, {guarded:.1} s)"));
        progress(&format!("{} {}: {verdict:?}{times}", client.name(), scenario.name));
        cells.push(Cell { client, scenario, verdict, seconds });
    }
    cells
}

type Found = (Verdict, Option<(f64, f64)>);

fn pair(
    settings: &Settings,
    client: &'static dyn Client,
    scenario: &'static Scenario,
    twins: &mut BTreeMap<String, Record>,
) -> Result<Found, Error> {
    let Some(steps) = (scenario.steps)(client) else {
        return Ok((Verdict::Unsupported("the agent has no such tool".into()), None));
    };
    if scenario.shared.is_some() && !sandbox::has("tmux", "-V") {
        return Ok((Verdict::Unsupported("tmux is not installed".into()), None));
    }
    let key = format!("{steps:?} {:?}", scenario.paths().collect::<Vec<_>>());
    let twin = match twins.get(&key) {
        Some(twin) => twin.clone(),
        None => sandbox::run(settings, client, scenario, false)?,
    };
    twins.insert(key, twin.clone());
    if let Err(fault) = scenario.check_twin(client, &twin) {
        return Ok((Verdict::Fail(fault), None));
    }
    let guarded = sandbox::run(settings, client, scenario, true)?;
    let seconds = (guarded.missing.is_none()).then_some((twin.seconds, guarded.seconds));
    Ok((scenario.judge(client, &twin, &guarded), seconds))
}

/// A line for whoever waits.
fn progress(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}
