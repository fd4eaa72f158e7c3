//! `toolgate check --history`: what the rules would have said of the commands that a shell remembers. Nothing is run.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_host::private::read_at_most;
use toolgate_host::redact::redacted;
use toolgate_host::{Action, Decision, ToolCall, plain};

use crate::columns::count;
use crate::history::{self, Format};
use crate::output;
use crate::output::{BOLD, DIM, GREEN, RED, YELLOW};
use crate::project_gates::Gates;

/// Largest history file, in bytes.
const LARGEST: u64 = 64 << 20;

/// Commands of each rule that are shown.
const EXAMPLES: usize = 3;

/// How many commands are judged between two signs of life.
const PROGRESS: usize = 200;

/// The file that was named, or that of the user's shell.
fn file(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        return Ok(path.to_path_buf());
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(path) = variable("HISTFILE").filter(|path| path.is_file()) {
        return Ok(path);
    }
    let missing = |message: String| Failure::new(exit::NO_INPUT, message);
    let home = dirs::home().ok_or_else(|| missing("the home folder is unknown; name a history file".to_owned()))?;
    let mut places = history::places(Path::new(&home), variable);
    let shell = std::env::var("SHELL").unwrap_or_default();
    let shell = shell.rsplit('/').next().unwrap_or_default();
    // That of the user's own shell before those of others.
    places.sort_by_key(|(name, _)| *name != shell);
    let found = places.iter().find(|(_, path)| path.is_file()).map(|(_, path)| path.clone());
    found.ok_or_else(|| {
        let names: Vec<String> = places.iter().map(|(_, path)| path.display().to_string()).collect();
        missing(format!("no history found; looked for {}; name a file", names.join(", ")))
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    // It may be a pipe: who names it wants to wait for it.
    let read = File::open(path).and_then(|file| read_at_most(&file, LARGEST));
    read.map_err(|error| {
        let code = match error.kind() {
            ErrorKind::NotFound => exit::NO_INPUT,
            ErrorKind::FileTooLarge | ErrorKind::IsADirectory => exit::DATA,
            _ => exit::IO,
        };
        Failure::new(code, format!("{}: {error}", path.display()))
    })
}

/// How often something was typed, and in how many different commands.
#[derive(Clone, Copy, Default)]
struct Tally {
    commands: usize,
    times: usize,
}

impl Tally {
    fn add(&mut self, times: usize) {
        self.commands += 1;
        self.times += times;
    }
}

/// The commands that a rule decided.
struct Decided {
    action: &'static str,
    reason: String,
    tally: Tally,
    /// With how often each was typed.
    commands: Vec<(usize, String)>,
}

/// Judges the commands of a history.
pub(crate) async fn run(
    named: Option<&Path>,
    cwd: &str,
    json: bool,
    gates: &mut Gates<'_>,
) -> Result<ExitCode, Failure> {
    let path = file(named)?;
    let content = read(&path)?;
    let format = Format::of(&path, &content);
    let commands = history::commands(format, &content);
    drop(content);
    let all = commands.len();
    let mut times: HashMap<&str, usize> = HashMap::new();
    let mut order = Vec::new();
    for command in &commands {
        let seen = times.entry(command).or_insert(0);
        if *seen == 0 {
            order.push(command.as_str());
        }
        *seen += 1;
    }
    let (home, root) = (dirs::home(), dirs::root_of(cwd));
    let mut decisions: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut rules: HashMap<String, Decided> = HashMap::new();
    let watched = std::io::stderr().is_terminal() && order.len() > PROGRESS;
    for (index, command) in order.iter().enumerate() {
        if watched && index % PROGRESS == 0 {
            // Whether anybody sees it does not matter.
            let _ = write!(std::io::stderr(), "\r{index} of {} commands", order.len());
        }
        let call = ToolCall::shell(*command, cwd).with_home(home.clone()).with_workspace_root(&root);
        let verdict = gates.judge(&call).await?;
        let times = times.get(command).copied().unwrap_or(1);
        let (name, _) = output::decision(&verdict.decision);
        decisions.entry(name).or_default().add(times);
        let Some(finding) = verdict.findings.first().filter(|_| !matches!(verdict.decision, Decision::Pass)) else {
            continue;
        };
        let decided = rules.entry(finding.rule.clone()).or_insert_with(|| Decided {
            action: if finding.action == Action::Ask { "ask" } else { "block" },
            reason: finding.reason.clone(),
            tally: Tally::default(),
            commands: Vec::new(),
        });
        decided.tally.add(times);
        decided.commands.push((times, redacted(command)));
    }
    if watched {
        let _ = write!(std::io::stderr(), "\r{:40}\r", "");
    }
    let mut rules: Vec<(String, Decided)> = rules.into_iter().collect();
    for (_, decided) in &mut rules {
        decided.commands.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        if !json {
            decided.commands.truncate(EXAMPLES);
        }
    }
    rules.sort_by(|(a, x), (b, y)| {
        (y.action == "block", y.tally.times).cmp(&(x.action == "block", x.tally.times)).then_with(|| a.cmp(b))
    });
    let survey = Survey { path, format, cwd, all, different: order.len(), decisions, rules };
    let mut out = anstream::stdout();
    let written = if json { writeln!(out, "{}", survey.json()) } else { survey.table(&mut out) };
    output::told(written)?;
    Ok(ExitCode::SUCCESS)
}

struct Survey<'a> {
    path: PathBuf,
    format: Format,
    cwd: &'a str,
    all: usize,
    different: usize,
    decisions: BTreeMap<&'static str, Tally>,
    rules: Vec<(String, Decided)>,
}

impl Survey<'_> {
    fn of(&self, decision: &str) -> Tally {
        self.decisions.get(decision).copied().unwrap_or_default()
    }

    fn json(&self) -> Value {
        let tally = |tally: Tally| json!({ "commands": tally.commands, "times": tally.times });
        let rules = self.rules.iter().map(|(rule, decided)| {
            let commands = decided.commands.iter().map(|(times, text)| json!({ "times": times, "text": text }));
            json!({
                "rule": rule, "action": decided.action, "reason": decided.reason, "times": decided.tally.times,
                "commands": commands.collect::<Vec<_>>(),
            })
        });
        json!({
            "file": self.path.display().to_string(), "format": self.format.name(), "cwd": self.cwd,
            "commands": self.different, "times": self.all, "block": tally(self.of("block")),
            "ask": tally(self.of("ask")), "pass": tally(self.of("pass")), "rules": rules.collect::<Vec<_>>(),
        })
    }

    fn table(&self, out: &mut impl Write) -> std::io::Result<()> {
        let file = plain(&self.path.display().to_string());
        writeln!(
            out,
            "{file}, a history of {}: {}, {} different. Each is evaluated as if it ran in {}.",
            self.format.name(),
            count(self.all, "command"),
            self.different,
            plain(self.cwd)
        )?;
        writeln!(out, "\n       {DIM}{:>9}  {:>9}{DIM:#}", "different", "times")?;
        for (decision, style) in [("block", RED), ("ask", YELLOW), ("pass", GREEN)] {
            let tally = self.of(decision);
            writeln!(out, "{style}{decision:<5}{style:#}  {:>9}  {:>9}", tally.commands, tally.times)?;
        }
        for (rule, decided) in &self.rules {
            let style = if decided.action == "block" { RED } else { YELLOW };
            let Tally { commands, times } = decided.tally;
            writeln!(
                out,
                "\n{style}{:<5}{style:#}  {BOLD}{}{BOLD:#}  {DIM}{}, {}{DIM:#}",
                decided.action,
                plain(rule),
                count(commands, "command"),
                count(times, "time")
            )?;
            writeln!(out, "       {}", plain(&decided.reason))?;
            for (times, command) in &decided.commands {
                writeln!(out, "{DIM}{times:>6}\u{d7}{DIM:#} {}", output::cut(command))?;
            }
            if commands > decided.commands.len() {
                writeln!(out, "{DIM}     ~  {} more{DIM:#}", commands - decided.commands.len())?;
            }
        }
        Ok(())
    }
}
