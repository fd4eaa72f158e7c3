//! `toolgate check`: what would become of a command, without any agent.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Args};
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_agents::agent::{pi::Pi, read};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::gate_builder;
use toolgate_gatekeeper::packs::Packs;
use toolgate_host::decide::ANSWER_TIMEOUT;
use toolgate_host::{Decision, Finding, Policy, ToolCall, ToolKind, Verdict};

use crate::line_reader::LineReader;
use crate::options::PackOptions;
use crate::project_gates::Gates;
use crate::terminal::{self, Terminal};
use crate::{analysis, history_report, output, rules, runtime, script};

#[derive(Args)]
#[command(after_help = "\
Exit codes: 0 pass, 1 ask, 2 block, 3 rewrite; with --confirm 0 for a yes and 2 for anything else,
no terminal included; 64 invalid arguments, 65 invalid data, 66 no such file, 70 and above internal
errors. With --batch: 0 when every line was answered; with --history: 0.

A line of a batch is {\"id\", \"tool\", \"command\" or \"input\", \"cwd\", \"home\", \"workspace_root\"}, all but
the command optional and its folders absolute; its answer is {\"id\", \"decision\", \"rule\", \"reason\",
\"evidence\"}. Tools and their inputs are pi's: bash, read, write, edit, grep, find, ls.")]
#[command(group(ArgGroup::new("judged").required(true).args(["command", "script", "history", "batch"])))]
pub(crate) struct Arguments {
    /// The shell command to evaluate; `-` reads it from standard input
    #[arg(conflicts_with_all = ["batch", "script", "history"])]
    command: Option<String>,

    /// Evaluate a script file, and show findings with line numbers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["batch", "history", "confirm"])]
    script: Option<PathBuf>,

    /// Evaluate the commands in your shell history [default: your shell's history file]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["batch", "confirm"])]
    history: Option<Option<PathBuf>>,

    /// Evaluate JSON Lines from standard input, with one JSON line out for each
    #[arg(long)]
    batch: bool,

    /// The directory the command would run in [default: the current one; your home for --history]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Use this rule file instead of yours and the project's; the built-in rules still apply
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    #[command(flatten)]
    packs: PackOptions,

    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,

    /// Ask you on the terminal if the verdict is ask
    #[arg(long, conflicts_with = "batch")]
    confirm: bool,

    /// Time-out for your answer; no answer counts as no
    #[arg(long, value_name = "SECONDS", default_value_t = ANSWER_TIMEOUT.as_secs(), requires = "confirm")]
    timeout: u64,
}

/// A line of a batch.
#[derive(Deserialize)]
struct Line {
    #[serde(default = "bash")]
    tool: String,
    command: Option<Value>,
    input: Option<Value>,
    cwd: Option<String>,
    home: Option<String>,
    workspace_root: Option<String>,
}

fn bash() -> String {
    "bash".to_owned()
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(rules) = &arguments.rules
        && !rules.exists()
    {
        return Err(Failure::new(exit::NO_INPUT, format!("no such rule file: {}", rules.display())));
    }
    let home = dirs::home().map(PathBuf::from).filter(|_| arguments.history.is_some());
    let cwd = dirs::folder(arguments.cwd.as_deref().or(home.as_deref()))?;
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let (rules, packs) = (arguments.rules.as_deref(), &arguments.packs.packs());
    let mut gates = Gates::new(plugin, rules, packs)?;
    let runtime = runtime::one_thread()?;
    if let Some(path) = &arguments.script {
        return runtime.block_on(script::run(path, &cwd, arguments.json, &mut gates));
    }
    if let Some(path) = &arguments.history {
        return runtime.block_on(history_report::run(path.as_deref(), &cwd, arguments.json, &mut gates));
    }
    match &arguments.command {
        Some(command) => {
            let text = analysis::text(Some(command))?;
            let judged = runtime.block_on(one(&text, &cwd, arguments, &mut gates))?;
            shown(&text, judged, arguments.json)
        }
        None => runtime.block_on(batch(&cwd, &mut gates)),
    }
}

/// The verdict on one call by the rules that are in force.
pub(crate) fn judge(call: &ToolCall) -> Result<Verdict, Failure> {
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let packs = Packs::default();
    let mut gates = Gates::new(plugin, None, &packs)?;
    runtime::one_thread()?.block_on(gates.judge(call))
}

async fn one(command: &str, cwd: &str, arguments: &Arguments, gates: &mut Gates<'_>) -> Result<Judged, Failure> {
    let call = ToolCall::shell(command, cwd).with_home(dirs::home()).with_workspace_root(dirs::root_of(cwd));
    let mut verdict = gates.judge(&call).await?;
    if arguments.confirm && matches!(verdict.decision, Decision::Ask(_)) {
        match terminal::opened() {
            Ok(_) => {
                let policy = Policy::new().person(Terminal).deadline(Duration::from_secs(arguments.timeout));
                verdict = policy.decide(&call, verdict, Duration::ZERO).await.verdict;
            }
            // Nobody is there who could say yes.
            Err(error) => {
                let why = format!("no terminal to ask on: {error}");
                output::complain(&why);
                verdict.decision = Decision::Block(why);
            }
        }
    }
    let off = match verdict.decision {
        Decision::Pass => off(&call, gates).await?,
        _ => None,
    };
    Ok(Judged { verdict, off })
}

/// A verdict, and what a pack that is off would say in place of a pass.
struct Judged {
    verdict: Verdict,
    off: Option<Off>,
}

/// What a pack that is off would say.
struct Off {
    finding: Finding,
    /// `None` if the rule is in no pack.
    pack: Option<String>,
}

/// What the rules of packs that are off would say of a call that passes.
async fn off(call: &ToolCall, gates: &Gates<'_>) -> Result<Option<Off>, Failure> {
    let all = Packs::all();
    // Of plugins no pack is a part.
    let mut every = gates.with_packs(&all);
    let verdict = every.judge(call).await?;
    let stops = matches!(verdict.decision, Decision::Ask(_) | Decision::Block(_));
    Ok(verdict.findings.into_iter().next().filter(|_| stops).map(|finding| Off { finding, pack: None }))
}

/// Shows a verdict.
fn shown(command: &str, judged: Judged, as_json: bool) -> Result<ExitCode, Failure> {
    let Judged { verdict, off } = judged;
    let off = match off {
        Some(off) => Some(Off { pack: rules::pack_of(&off.finding.rule)?, ..off }),
        None => None,
    };
    let (name, code) = output::decision(&verdict.decision);
    let mut out = anstream::stdout();
    let written = if as_json {
        let mut answer = answer(&verdict);
        answer["findings"] = findings(&verdict);
        answer["off"] = off.map_or(Value::Null, |off| {
            json!({ "pack": off.pack, "rule": off.finding.rule, "action": output::action(&off.finding.action), "reason": off.finding.reason })
        });
        writeln!(out, "{answer}")
    } else {
        output::verdict(&mut out, name, command, &verdict).and_then(|()| match &off {
            Some(Off { finding, pack: Some(pack) }) => output::off(&mut out, pack, finding),
            _ => Ok(()),
        })
    };
    output::told(written)?;
    Ok(ExitCode::from(code))
}

async fn batch(cwd: &str, gates: &mut Gates<'_>) -> Result<ExitCode, Failure> {
    let mut lines = LineReader::new();
    let mut out = std::io::stdout().lock();
    while let Some(line) = lines.next()? {
        let answer = match line {
            Ok(line) => answer_line(line, cwd, gates).await?,
            Err(error) => wrong(Value::Null, &error),
        };
        writeln!(out, "{answer}").map_err(Failure::output)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn answer_line(line: &[u8], cwd: &str, gates: &mut Gates<'_>) -> Result<Value, Failure> {
    let parsed: Value = match std::str::from_utf8(line)
        .map_err(|error| error.to_string())
        .and_then(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
    {
        Ok(parsed) => parsed,
        Err(error) => return Ok(wrong(Value::Null, &format!("the line is not JSON: {error}"))),
    };
    let id = parsed.get("id").cloned().unwrap_or(Value::Null);
    let call = match decode(parsed, cwd) {
        Ok(call) => call,
        Err(error) => return Ok(wrong(id, &error)),
    };
    let verdict = match gates.judge(&call).await {
        Ok(verdict) => verdict,
        // A rule file that was asked for and cannot be used is the whole batch's fault; else only this line's.
        Err(failure) if gates.has_own_rules() => return Err(failure),
        Err(failure) => return Ok(wrong(id, &failure.message)),
    };
    let mut answer = answer(&verdict);
    answer["id"] = id;
    Ok(answer)
}

fn decode(line: Value, cwd: &str) -> Result<ToolCall, String> {
    if !line.is_object() {
        return Err("the line is not a JSON object".to_owned());
    }
    let line: Line = serde_json::from_value(line).map_err(|error| error.to_string())?;
    let cwd = line.cwd.unwrap_or_else(|| cwd.to_owned());
    for (name, path) in
        [("cwd", Some(&cwd)), ("home", line.home.as_ref()), ("workspace_root", line.workspace_root.as_ref())]
    {
        if path.is_some_and(|path| !path.starts_with('/')) {
            return Err(format!("{name} is not an absolute path"));
        }
    }
    let input = match (line.input, line.command) {
        (Some(_), Some(_)) => return Err("the line has both a command and an input".to_owned()),
        (Some(input), None) => input,
        (None, Some(command)) => json!({ "command": command }),
        (None, None) => return Err("the line has neither a command nor an input".to_owned()),
    };
    let root = line.workspace_root.unwrap_or_else(|| dirs::root_of(&cwd));
    let call = ToolCall::new(&line.tool, ToolKind::Other, cwd);
    let call = call.with_home(line.home.or_else(dirs::home)).with_workspace_root(root);
    read(&Pi, &line.tool, &input, call)
}

/// An answer to a line that could not be judged. It says block as well, for a reader who looks only at that.
fn wrong(id: Value, error: &str) -> Value {
    json!({ "id": id, "error": error, "decision": "block", "rule": null, "reason": error, "evidence": [] })
}

fn answer(verdict: &Verdict) -> Value {
    let decided = !matches!(verdict.decision, Decision::Pass);
    let finding = verdict.findings.first().filter(|_| decided);
    let reason = match &verdict.decision {
        Decision::Pass => None,
        Decision::Ask(reason) | Decision::Block(reason) => Some(reason.clone()),
        Decision::Rewrite(input) => Some(input.clone()),
    };
    let evidence: Vec<Value> = finding.iter().flat_map(|finding| &finding.evidence).map(evidence).collect();
    json!({
        "id": null,
        "decision": output::decision(&verdict.decision).0,
        "rule": finding.map(|finding| &finding.rule),
        "reason": reason,
        "evidence": evidence,
    })
}

fn evidence(one: &toolgate_host::Evidence) -> Value {
    json!({ "field": one.field, "start": one.start, "end": one.end, "text": one.text })
}

fn findings(verdict: &Verdict) -> Value {
    let findings = verdict.findings.iter().map(|finding| {
        let evidence: Vec<Value> = finding.evidence.iter().map(evidence).collect();
        let action = output::action(&finding.action);
        json!({ "rule": finding.rule, "plugin": finding.plugin, "action": action, "reason": finding.reason, "evidence": evidence })
    });
    findings.collect()
}
