//! `toolgate explain`: how a command was read and judged, step by step. The component gives the answer.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde_json::{Map, Value, json};
use toolgate_agents::{Failure, dirs};
use toolgate_gatekeeper::gate_builder::{self, GateBuilder};
use toolgate_gatekeeper::plugin::loaded;
use toolgate_host::{excerpt, plain};

use crate::code_excerpt::Lines;
use crate::columns::{count, width, wrapped};
use crate::options::PackOptions;
use crate::output::{BOLD, DIM, LINE, list, style, text};
use crate::{analysis, output, rules, runtime};

#[derive(Args)]
#[command(after_help = "\
Examples:
  toolgate explain 'cd infra && terraform destroy'
  toolgate explain --json - < deploy.sh

Exit codes: 0 explained, whatever the verdict is; 64 invalid arguments, 65 invalid data, 66 the current
directory or your home folder is unknown, 70 and above internal errors.")]
pub(crate) struct Arguments {
    /// The shell command; `-` or nothing reads it from standard input
    command: Option<String>,

    /// The directory the command would run in [default: the current one]
    #[arg(long, value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    cwd: Option<PathBuf>,

    #[command(flatten)]
    packs: PackOptions,

    /// Show every word and every rule evaluated
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let cwd = dirs::folder(arguments.cwd.as_deref())?;
    let text = analysis::text(arguments.command.as_deref())?;
    let root = dirs::root_of(&cwd);
    let home = dirs::home();
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let files = rules::rule_files(&cwd, &root)?;
    let loaded = loaded::by_hand()?;
    let standing = GateBuilder {
        plugin: &plugin,
        cwd: &cwd,
        home: home.as_deref(),
        root: &root,
        packs: &arguments.packs.packs(),
        kept: &[],
        loaded: &loaded,
        whose: None,
    };
    let request = json!({ "command": text, "cwd": cwd, "home": home, "workspace_root": root });
    let answer = runtime::one_thread()?.block_on(async {
        let opened = standing.open(files, None).await?;
        output::diagnostics(&opened.started.diagnostics);
        let answer = standing.analysis(&opened).explain(&request.to_string()).await;
        answer.and_then(|answer| analysis::object(&answer)).map_err(|error| analysis::unanswered(&error))
    })?;
    output::print(|mut out| {
        if arguments.json {
            return writeln!(out, "{}", Value::Object(answer));
        }
        Explanation { text: &text, answer: &answer, all: arguments.all, width: width() }.show(&mut out)
    })
}

/// A place in the text.
fn span(value: &Value) -> Option<Range<usize>> {
    let at = |key: &str| value[key].as_u64().and_then(|at| usize::try_from(at).ok());
    Some(at("start")?..at("end")?)
}

struct Explanation<'a> {
    text: &'a str,
    answer: &'a Map<String, Value>,
    all: bool,
    width: Option<usize>,
}

impl Explanation<'_> {
    fn show(&self, out: &mut impl Write) -> std::io::Result<()> {
        self.verdict(out)?;
        let commands = list(self.answer.get("commands"));
        writeln!(out, "\n{BOLD}commands{BOLD:#}")?;
        if commands.is_empty() {
            writeln!(out, "  {DIM}none{DIM:#}")?;
        }
        for (index, command) in commands.iter().enumerate() {
            self.command(out, index, command)?;
        }
        output::unparsed(out, self.answer)?;
        writeln!(out, "\n{BOLD}rules{BOLD:#}")?;
        self.fired(out)?;
        self.others(out)?;
        writeln!(out)?;
        // Again, as the end is what is seen of a long answer.
        if Lines::new(self.text).len() > 1 { self.heading(out) } else { self.verdict(out) }
    }

    /// The verdict with what matched underlined.
    fn verdict(&self, out: &mut impl Write) -> std::io::Result<()> {
        let decision = self.answer.get("decision").and_then(Value::as_str).unwrap_or_default();
        let style = style(decision);
        let evidence = list(self.answer.get("findings")).iter().flat_map(|finding| list(finding.get("evidence")));
        let matches: Vec<_> = evidence.filter(|one| one["field"] == "command").filter_map(span).collect();
        let lines = Lines::new(self.text);
        if lines.len() > 1 {
            self.heading(out)?;
            return lines.show(out, &matches, style);
        }
        let shown = excerpt(self.text, &matches, LINE);
        writeln!(out, "{style}{decision:<5}{style:#}  {}", shown.line)?;
        match shown.marks.is_empty() {
            true => Ok(()),
            false => writeln!(out, "       {style}{}{style:#}", shown.marks),
        }
    }

    /// The verdict on several lines.
    fn heading(&self, out: &mut impl Write) -> std::io::Result<()> {
        let decision = self.answer.get("decision").and_then(Value::as_str).unwrap_or_default();
        let style = style(decision);
        let lines = count(Lines::new(self.text).len(), "line");
        writeln!(out, "{style}{decision:<5}{style:#}  {DIM}{lines}{DIM:#}")
    }

    fn command(&self, out: &mut impl Write, index: usize, command: &Value) -> std::io::Result<()> {
        writeln!(out, "{DIM}{}{DIM:#} {BOLD}{}{BOLD:#}", index + 1, output::heading(command, self.text))?;
        for word in list(command.get("words")) {
            let (written, value, why) = (text(word, "text"), word["value"].as_str(), word["why"].as_str());
            if value == Some(written) && !self.all {
                continue;
            }
            let value = value.map_or("?".to_owned(), |value| format!("\u{2192} {}", output::cut(value)));
            let why = why.map(|why| format!("  {}", output::cut(why))).unwrap_or_default();
            writeln!(out, "  {DIM}word    {DIM:#} {} {value}{DIM}{why}{DIM:#}", output::cut(written))?;
        }
        let mut rest = command.clone();
        if let Some(unknown) = rest.get_mut("unknown").and_then(Value::as_array_mut) {
            // What the words say already.
            unknown.retain(|one| !(text(one, "at") == "name" || text(one, "at").starts_with("args[")));
        }
        output::rows(out, &rest)
    }

    /// The rules that led to the verdict.
    fn fired(&self, out: &mut impl Write) -> std::io::Result<()> {
        let findings = list(self.answer.get("findings"));
        if findings.is_empty() {
            writeln!(out, "  {DIM}none fired{DIM:#}")?;
        }
        for finding in findings {
            let (rule, action) = (text(finding, "rule"), text(finding, "action"));
            let style = style(action);
            let fired = |one: &&Value| one["rule"] == rule && one["why_not"].is_null();
            let on: BTreeSet<u64> =
                self.considered().iter().filter(fired).filter_map(|one| one["command"].as_u64()).collect();
            let on: Vec<String> = on.iter().map(|index| (index + 1).to_string()).collect();
            let on = if on.is_empty() { String::new() } else { format!("  {DIM}on {}{DIM:#}", on.join(", ")) };
            writeln!(out, "  {style}{action:<5}{style:#}  {}{on}", plain(rule))?;
            for line in self.wrapped(&plain(text(finding, "reason")), 9) {
                writeln!(out, "         {line}")?;
            }
            for one in list(finding.get("evidence")).iter().filter(|one| one["field"] != "command") {
                writeln!(
                    out,
                    "         {DIM}{}:{DIM:#} {}",
                    plain(text(one, "field")),
                    output::cut(text(one, "text"))
                )?;
            }
        }
        Ok(())
    }

    /// The rules that were tried and did not fire.
    fn others(&self, out: &mut impl Write) -> std::io::Result<()> {
        if self.all {
            for one in self.considered() {
                let Some(why) = one["why_not"].as_str() else { continue };
                let command = one["command"].as_u64().map_or("-".to_owned(), |index| (index + 1).to_string());
                writeln!(
                    out,
                    "  {DIM}not on {command:<3}{DIM:#} {}  {DIM}{}{DIM:#}",
                    plain(text(one, "rule")),
                    plain(why)
                )?;
            }
            return Ok(());
        }
        let fired = |one: &Value| list(self.answer.get("findings")).iter().any(|found| found["rule"] == one["rule"]);
        let silent: BTreeSet<&str> =
            self.considered().iter().filter(|one| !fired(one)).map(|one| text(one, "rule")).collect();
        if !silent.is_empty() {
            writeln!(out, "  {DIM}{} did not fire; --all shows why{DIM:#}", count(silent.len(), "rule"))?;
        }
        Ok(())
    }

    fn considered(&self) -> &[Value] {
        list(self.answer.get("considered"))
    }

    fn wrapped(&self, text: &str, indent: usize) -> Vec<String> {
        wrapped(text, self.width.map(|width| width.saturating_sub(indent)))
    }
}
