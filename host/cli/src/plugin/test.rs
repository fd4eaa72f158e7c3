//! `toolgate plugin test`: cases that a plugin has to get right, in this process and with the real host.
//!
//! A plugin that is tested need not be trusted. It reaches only what its cases name, and of that nothing that acts: `files`
//! no further than the folder of the cases, and no terminal, daemon or conversation at all.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::gate_builder::{self, GateBuilder};
use toolgate_gatekeeper::gates::{self, GateContext, GateKind, Gates};
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugin::component::unlinked;
use toolgate_gatekeeper::plugin::loaded::Loaded;
use toolgate_host::capability::LocalFiles;
use toolgate_host::decide::strictest;
use toolgate_host::private::is_missing;
use toolgate_host::{
    Analysis, Capability, Decision, ExtensionRegistry, Granted, Observer, Plugin, Session, ToolCall, ToolResult,
    Verdict, plain,
};

use super::component_file::Source;
use crate::output::{DIM, GREEN, RED, print};
use crate::{allow, columns, output, runtime};

/// The file of cases beside a component, or in a plugin's folder.
const CASES: &str = "cases.yaml";

/// Largest file of cases or rules that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The exit code if a case does not hold.
const WRONG: u8 = 1;

/// The home folder of cases.
const HOME: &str = "/home/dev";

pub(super) const HELP: &str = "\
cases.yaml is a list:

  - name: never deletes in production
    command: kubectl delete pod x
    # A rule file's text, or the path of one (*.yaml).
    rules: 'rules: [{name: x, program: kubectl, when: ..}]'
    expect: block             # pass, ask, block or rewrite
    reason: production        # a pattern: some finding's reason, or the decision's, matches it
    grants: [files]           # what the plugin is granted in this case; nothing without it
  - name: a write by another tool
    # A tool by pi's name, or an agent's own.
    call: {tool: write, input: {path: a, content: b}}
    expect: pass
  - name: text added to a result
    result: {tool: write, input: {path: a, content: b}, output: ok}
    adds: '^checked'          # a pattern; without it nothing may be added

All keys: name, command | call | result, rules, cwd, expect, reason, adds, grants, rewrite.

Without `rules` only the plugin runs; with `rules` the guard runs, too, with its built-in rules. `cwd`
is relative to the folder of the cases, the default. `files` is limited to that folder, and a test
grants no capability that acts.

Exit codes: 0 all pass, 1 some fail, 64 invalid arguments, 65 invalid cases or not a component, 66 no
such file.";

#[derive(Args)]
pub(super) struct Arguments {
    /// The component, or a plugin's folder
    #[arg(value_name = "FILE|FOLDER")]
    from: PathBuf,

    /// The cases [default: cases.yaml in the folder, or beside the component]
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// The cases of a plugin's folder.
    pub(super) fn of(folder: &Path) -> Self {
        Arguments { from: folder.to_path_buf(), cases: None, json: false }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    command: Option<String>,
    call: Option<Call>,
    result: Option<Outcome>,
    rules: Option<String>,
    cwd: Option<PathBuf>,
    expect: Option<Expected>,
    reason: Option<String>,
    adds: Option<String>,
    #[serde(default)]
    grants: Vec<Capability>,
    #[serde(default)]
    rewrite: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    input: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    tool: String,
    input: Value,
    #[serde(default)]
    output: String,
    #[serde(default)]
    is_error: bool,
    exit_code: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Pass,
    Ask,
    Block,
    Rewrite,
}

impl Expected {
    fn name(self) -> &'static str {
        match self {
            Expected::Pass => "pass",
            Expected::Ask => "ask",
            Expected::Block => "block",
            Expected::Rewrite => "rewrite",
        }
    }
}

/// What cases are run with.
struct Bench {
    plugin: Plugin,
    guard: Plugin,
    /// The file of cases.
    file: PathBuf,
    /// The folder that it is in.
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let source = Source::find(&arguments.from)?;
    let file = arguments.cases.clone().unwrap_or_else(|| beside(&arguments.from, &source.path));
    if arguments.cases.is_none() && file.symlink_metadata().is_err_and(|error| is_missing(&error)) {
        let message = format!("{}: no test cases; --cases names a file with cases", file.display());
        return Err(Failure::new(exit::NO_INPUT, message));
    }
    let text = String::from_utf8(unlinked(&file, LARGEST)?).map_err(|_| wrong(&file, "it is not UTF-8 text"))?;
    let cases: Vec<Case> =
        serde_saphyr::from_str(&text).map_err(|error| wrong(&file, first_line(&error.to_string())))?;
    if cases.is_empty() {
        return Err(wrong(&file, "no test cases"));
    }
    let file = file.canonicalize().map_err(|error| wrong(&file, &error.to_string()))?;
    let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let guard = gate_builder::default_plugin().map_err(Failure::software)?;
    let bench = Bench { plugin: source.compile(&source.name)?, guard, file, folder };
    let runtime = runtime::one_thread()?;
    let ran: Vec<(&Case, Result<(), String>)> =
        cases.iter().map(|case| (case, runtime.block_on(bench.holds(case)))).collect();
    let failed = ran.iter().filter(|(_, held)| held.is_err()).count();
    if arguments.json {
        let one = |(case, held): &(&Case, Result<(), String>)| json!({ "name": case.name, "ok": held.is_ok(), "why": held.as_ref().err() });
        let cases: Vec<Value> = ran.iter().map(one).collect();
        print(|out| writeln!(out, "{}", json!({ "schema": 1, "cases": cases, "failed": failed })))?;
    } else {
        print(|out| {
            for (case, held) in &ran {
                match held {
                    Ok(()) => writeln!(out, "{GREEN}ok{GREEN:#}     {}", plain(&case.name))?,
                    Err(why) => writeln!(out, "{RED}wrong{RED:#}  {}  {DIM}{}{DIM:#}", plain(&case.name), plain(why))?,
                }
            }
            writeln!(out, "{}, {failed} wrong", columns::count(ran.len(), "case"))
        })?;
    }
    Ok(if failed > 0 { ExitCode::from(WRONG) } else { ExitCode::SUCCESS })
}

/// What is wrong, without the text that it is wrong in.
fn first_line(error: &str) -> &str {
    error.lines().next().unwrap_or(error)
}

fn wrong(file: &Path, why: &str) -> Failure {
    Failure::new(exit::DATA, format!("{}: {why}", file.display()))
}

/// Where the cases of a component are, or of a plugin's folder.
fn beside(given: &Path, component: &Path) -> PathBuf {
    let folder = if given.is_dir() { given } else { component.parent().unwrap_or(given) };
    folder.join(CASES)
}

impl Bench {
    /// Whether a case holds; else why it does not.
    async fn holds(&self, case: &Case) -> Result<(), String> {
        let cwd = self.folder.join(case.cwd.as_deref().unwrap_or(Path::new("")));
        let cwd = cwd.display().to_string();
        match (&case.command, &case.call, &case.result) {
            (Some(command), None, None) => self.judged(case, self.placed(ToolCall::shell(command, &cwd))).await,
            (None, Some(call), None) => self.judged(case, self.call(&call.tool, &call.input, &cwd)?).await,
            (None, None, Some(result)) => self.observed(case, result, &cwd).await,
            _ => Err("it needs one of command, call and result".to_owned()),
        }
    }

    fn placed(&self, call: ToolCall) -> ToolCall {
        call.with_home(HOME.to_owned()).with_workspace_root(self.folder.display().to_string())
    }

    fn call(&self, tool: &str, input: &Value, cwd: &str) -> Result<ToolCall, String> {
        // Of a shell that takes a bare text.
        let text = input.get("command").and_then(Value::as_str).filter(|_| matches!(tool, "bash" | "shell"));
        let text = text.map_or_else(|| input.to_string(), str::to_owned);
        let call = allow::call(&text, tool, cwd).map_err(|failure| failure.message)?;
        Ok(self.placed(call))
    }

    fn session(&self, cwd: &str) -> Session {
        let workspace_root = self.folder.display().to_string();
        Session::in_folder(cwd).with_home(HOME.to_owned()).with_workspace_root(workspace_root)
    }

    /// The plugin with what it may reach in a case.
    fn loaded(&self, case: &Case) -> Loaded {
        let granted = Granted::to(case.grants.iter().copied()).rewriting(case.rewrite);
        let granted = granted.within(vec![self.folder.clone()]);
        Loaded { key: String::new(), plugin: self.plugin.clone(), granted, logged: false }
    }

    async fn judged(&self, case: &Case, call: ToolCall) -> Result<(), String> {
        if case.adds.is_some() {
            return Err("`adds` is for a result".to_owned());
        }
        let expected = case.expect.ok_or("it needs `expect`")?;
        let files = self.rules(case)?;
        if case.rules.is_none() && !self.plugin.has_gate() {
            return Err("the plugin has no gate, and the case has no `rules`".to_owned());
        }
        let loaded = [self.loaded(case)];
        let (packs, root) = (Packs::default(), self.folder.display().to_string());
        let standing = GateBuilder {
            plugin: &self.guard,
            cwd: &call.cwd,
            home: Some(HOME),
            root: &root,
            packs: &packs,
            kept: &[],
            loaded: &loaded,
            whose: None,
        };
        let opened = standing.start(files, None).await.map_err(|failure| failure.message)?;
        // What the plugin says of itself is not about the rules.
        if let Some(diagnostic) = opened.started.diagnostics.iter().find(|one| one.file.is_some()) {
            return Err(format!("its rules: {}", diagnostic.message));
        }
        let told = GateContext::now();
        let (gates, _) = Gates::of(&standing, opened, None, GateKind::Call, told.until).await?;
        let mut verdicts = vec![gates.others(&call, GateKind::Call, told).await.verdict];
        if case.rules.is_some() {
            verdicts.push(gates.guard.judge(&call).await);
        }
        let verdict = strictest(verdicts);
        let (got, reasons) = (output::decision(&verdict.decision).0, reasons(&verdict));
        if got != expected.name() {
            return Err(format!("expected {}, got {got}: {}", expected.name(), reasons.join("; ")));
        }
        match &case.reason {
            Some(wanted) if !matching(wanted, &reasons)? => {
                Err(format!("no reason matches {wanted}: {}", reasons.join("; ")))
            }
            _ => Ok(()),
        }
    }

    /// The rule file of a case.
    fn rules(&self, case: &Case) -> Result<LocalFiles, String> {
        let Some(rules) = &case.rules else { return Ok(LocalFiles::new()) };
        let is_path = !rules.contains('\n') && (rules.ends_with(".yaml") || rules.ends_with(".yml"));
        if is_path {
            let path = self.folder.join(rules);
            unlinked(&path, LARGEST).map_err(|failure| failure.message)?;
            return Ok(LocalFiles::new().user_rules(path));
        }
        // Whatever is wrong with them is wrong in the file of cases.
        Ok(LocalFiles::new().user_rules(&self.file).instead(&self.file, rules.clone().into_bytes()))
    }

    async fn observed(&self, case: &Case, result: &Outcome, cwd: &str) -> Result<(), String> {
        if case.expect.is_some() || case.reason.is_some() || case.rules.is_some() {
            return Err("`expect`, `reason` and `rules` are for a call".to_owned());
        }
        let call = self.call(&result.tool, &result.input, cwd)?;
        let reach = gate_builder::granted(LocalFiles::new(), None, &ExtensionRegistry::default());
        let analysis = Analysis::new(self.guard.clone(), self.session(cwd), reach);
        let call = gates::analysed(&analysis, &call).await?;
        let observer = Observer::new(
            self.plugin.clone(),
            self.session(cwd),
            self.loaded(case).may(gate_builder::granted(LocalFiles::new(), None, &ExtensionRegistry::default()), None),
        );
        observer.start().await.map_err(|error| error.to_string())?;
        let outcome = ToolResult::new(call, &result.output).failed(result.is_error).with_exit_code(result.exit_code);
        let added = observer.observe(&outcome).await.map(|addition| addition.text).filter(|text| !text.is_empty());
        match (&case.adds, added) {
            (None, None) => Ok(()),
            (None, Some(added)) => Err(format!("it adds unexpected text: {added}")),
            (Some(wanted), None) => Err(format!("it adds nothing; expected {wanted}")),
            (Some(wanted), Some(added)) if matching(wanted, std::slice::from_ref(&added))? => Ok(()),
            (Some(wanted), Some(added)) => Err(format!("the text it adds does not match {wanted}: {added}")),
        }
    }
}

/// Every reason of a verdict.
fn reasons(verdict: &Verdict) -> Vec<String> {
    let decided = match &verdict.decision {
        Decision::Pass => None,
        Decision::Ask(text) | Decision::Block(text) | Decision::Rewrite(text) => Some(text.clone()),
    };
    decided.into_iter().chain(verdict.findings.iter().map(|finding| finding.reason.clone())).collect()
}

fn matching(pattern: &str, texts: &[String]) -> Result<bool, String> {
    let pattern = Regex::new(pattern).map_err(|error| format!("{pattern} is not a valid pattern: {error}"))?;
    Ok(texts.iter().any(|text| pattern.is_match(text).unwrap_or(false)))
}
