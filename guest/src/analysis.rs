//! What a shell text does, as JSON: the answers of `toolgate walk`, `files` and `hints`, and of the `analysis` hook.
//!
//! The shapes are documented where the contract is, at `interface analysis` in `wit/v0.1/hooks.wit`.

use std::rc::Rc;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolgate_rules::command_json::{CommandJson, Writer};
use toolgate_shell::{Facts, FileOracle, Files, Script, extract_shell_path_hints, parse};

use toolgate_rules::call::{Action, Call, Field, FileEffects, ToolKind};
use toolgate_rules::extensions::Provided;
use toolgate_rules::{Explanation, Guard, GuardHost, Layer, Problem, Test, Tested, VolatileFiles};

/// Of every answer. A reader ignores keys that it does not know; the number changes when one gets another meaning.
const SCHEMA: u32 = 1;

/// A request that was read.
struct Request {
    id: Option<Value>,
    command: String,
    effects: FileEffects,
    cwd: String,
    home: Option<String>,
    workspace_root: String,
    env: Vec<(String, String)>,
    env_complete: bool,
    may_change: bool,
}

impl Request {
    fn read(text: &str) -> Result<Self, String> {
        let request: Value = serde_json::from_str(text).map_err(|error| format!("the request is not JSON: {error}"))?;
        let Value::Object(mut request) = request else { return Err("the request is not a JSON object".into()) };
        let id = request.remove("id");
        let command = field(&request, "command")?.ok_or("the request has no command")?.to_owned();
        let effects = FileEffects::read(present(&request, "effects").unwrap_or(&Value::Null));
        if effects.unclear {
            return Err("effects must be a list of effects on files".into());
        }
        let cwd = folder(&request, &["cwd", "initial_cwd"])?.unwrap_or_default();
        let workspace_root = folder(&request, &["workspace_root", "workspaceRoot"])?.unwrap_or_default();
        let home = folder(&request, &["home"])?;
        let (given, initial) = (variables(&request, "env")?, variables(&request, "initial_env")?);
        let env_complete = flag(&request, "env_complete")?;
        let may_change = flag(&request, "may_change")?;
        let env = given.or(initial).unwrap_or_default();
        Ok(Request { id, command, effects, cwd, home, workspace_root, env, env_complete, may_change })
    }

    fn home(&self) -> Option<&str> {
        let named = || self.env.iter().find(|(name, _)| name == "HOME").map(|(_, value)| value.as_str());
        self.home.as_deref().or_else(named)
    }

    /// What the text does, behind what is done without one.
    fn script(&self, facts: &Facts) -> Script {
        let mut script = parse(&self.command, facts);
        script.commands.splice(0..0, self.effects.list.iter().map(|effect| effect.command(facts)));
        script
    }

    fn facts(&self, files: Option<Rc<dyn FileOracle>>, provided: Option<&Provided>) -> Facts {
        let mut facts = Facts::new(&self.cwd);
        if let Some(provided) = provided {
            provided.renew(&self.command);
            facts = facts.trackers(Rc::clone(&provided.trackers));
        }
        for (name, value) in self.env.iter().filter(|(name, _)| name != "HOME") {
            facts = facts.variable(name, value);
        }
        if let Some(home) = self.home() {
            facts = facts.home(home);
        }
        if self.env_complete {
            facts = facts.complete();
        }
        match files {
            Some(files) if self.may_change => facts.files(Rc::new(VolatileFiles::new(files))),
            Some(files) => facts.files(files),
            None => facts,
        }
    }
}

/// A field that is there: one that is null counts as absent.
fn present<'a>(request: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    request.get(name).filter(|value| !value.is_null())
}

fn field<'a>(request: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    let text = |value: &'a Value| value.as_str().ok_or_else(|| format!("{name} is not a string"));
    present(request, name).map(text).transpose()
}

fn flag(request: &Map<String, Value>, name: &str) -> Result<bool, String> {
    match present(request, name) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| format!("{name} is neither true nor false")),
    }
}

/// A folder under the first of these names. An empty text says that it is not known.
fn folder(request: &Map<String, Value>, names: &[&str]) -> Result<Option<String>, String> {
    let mut first = None;
    for name in names {
        let Some(path) = field(request, name)? else { continue };
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!("{name} is not an absolute path"));
        }
        whole(path, name)?;
        first = first.or(Some(path));
    }
    // As shells have it: no slash at the end.
    let trimmed = |path: &str| match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        path => path.to_owned(),
    };
    Ok(first.filter(|path| !path.is_empty()).map(trimmed))
}

fn variables(request: &Map<String, Value>, name: &str) -> Result<Option<Vec<(String, String)>>, String> {
    let Some(value) = present(request, name) else { return Ok(None) };
    let variables = value.as_object().ok_or_else(|| format!("{name} is not an object"))?;
    let variables = variables.iter().filter(|(_, value)| !value.is_null()).map(|(variable, value)| {
        let value = value.as_str().ok_or_else(|| format!("{name}.{variable} is not a string"))?;
        whole(variable, name)?;
        whole(value, &format!("{name}.{variable}"))?;
        Ok((variable.clone(), value.to_owned()))
    });
    variables.collect::<Result<_, String>>().map(Some)
}

/// No path and no variable of a running system holds a NUL, which stands for what is unknown in the engine's values.
fn whole(text: &str, name: &str) -> Result<(), String> {
    if text.contains('\0') { Err(format!("{name} contains a NUL character")) } else { Ok(()) }
}

fn written(answer: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(answer).map_err(|error| error.to_string())
}

/// Every command of the text.
///
/// # Errors
/// If the request makes no sense; the sentence names the field.
pub fn walk(request: &str, files: Option<Rc<dyn FileOracle>>, provided: Option<&Provided>) -> Result<String, String> {
    let request = Request::read(request)?;
    let script = request.script(&request.facts(files, provided));
    let trackers = names(provided);
    let mut writer = Writer::new(&request.command, &trackers);
    let commands = script.commands.iter().map(|command| writer.command(command)).collect();
    written(&WalkAnswer { schema: SCHEMA, id: request.id.as_ref(), commands, unparsed: script.unparsed.as_deref() })
}

/// The files that the text writes and copies from.
///
/// # Errors
/// As for [`walk`].
pub fn files(request: &str, files: Option<Rc<dyn FileOracle>>, provided: Option<&Provided>) -> Result<String, String> {
    let request = Request::read(request)?;
    let facts = request.facts(files, provided);
    let script = request.script(&facts);
    let found = Files::of(&script, &facts);
    written(&FilesAnswer {
        schema: SCHEMA,
        id: request.id.as_ref(),
        written: &found.written,
        read: &found.read,
        unparsed: script.unparsed.as_deref(),
    })
}

/// The paths that are worth showing beside the text.
///
/// # Errors
/// As for [`walk`].
pub fn hints(request: &str, files: Option<Rc<dyn FileOracle>>, provided: Option<&Provided>) -> Result<String, String> {
    let request = Request::read(request)?;
    let facts = request.facts(files, provided);
    let paths = match request.effects.list.is_empty() {
        true => extract_shell_path_hints(&request.command, &facts, &request.workspace_root),
        false => toolgate_shell::hints(&request.script(&facts), &request.workspace_root),
    };
    written(&HintsAnswer { schema: SCHEMA, id: request.id.as_ref(), paths: &paths })
}

/// How the text is judged: how it was read, which rules were tried on it, and what came of that.
///
/// # Errors
/// As for [`walk`].
pub fn explain(request: &str, guard: &Guard, world: &mut dyn GuardHost) -> Result<String, String> {
    let request = Request::read(request)?;
    let call = Call {
        kind: ToolKind::Shell,
        home: request.home().map(str::to_owned),
        command: Some(Field { name: "command".into(), value: request.command }),
        workspace: if request.workspace_root.is_empty() { request.cwd.clone() } else { request.workspace_root },
        cwd: request.cwd,
        ..Call::default()
    };
    let source = call.command.as_ref().map_or("", |field| field.value.as_str());
    let Explanation { verdict, script, considered } = guard.explain(&call, world);
    let decision = verdict.action().filter(|action| *action != Action::Note).map_or("pass", action_name);
    let findings = verdict.findings.iter().map(|finding| {
        let evidence = finding.evidence.iter();
        let evidence: Vec<Value> = evidence
            .map(|one| json!({ "field": one.field, "start": one.start, "end": one.end, "text": one.text }))
            .collect();
        json!({
            "rule": finding.rule, "action": action_name(finding.action), "reason": finding.reason,
            "evidence": evidence,
        })
    });
    let script = script.unwrap_or_default();
    let trackers = names(guard.provided());
    let mut writer = Writer::new(source, &trackers);
    let commands = script.commands.iter().map(|command| writer.without_variables(command));
    written(&ExplainAnswer {
        schema: SCHEMA,
        id: request.id.as_ref(),
        decision,
        findings: findings.collect(),
        commands: commands.collect(),
        considered: considered
            .iter()
            .map(|one| json!({ "rule": one.rule, "command": one.command, "why_not": one.missed }))
            .collect(),
        unparsed: script.unparsed.as_deref(),
    })
}

/// The rules: a list of them, the tests beside them, or what is wrong with a file. The request is a JSON text with
/// `question`: `list`, `test`, or `lint` with `file`, `layer` (`user` or `project`), `content`, and the other files as `beside`.
///
/// # Errors
/// If the request makes no sense; the sentence names the field.
pub fn rules(request: &str, guard: &Guard) -> Result<String, String> {
    let request: Value = serde_json::from_str(request).map_err(|error| format!("the request is not JSON: {error}"))?;
    let text = |key: &str| request.get(key).and_then(Value::as_str);
    match text("question") {
        Some("list") => Ok(listed(guard).to_string()),
        Some("test") => Ok(tested(&guard.test(&[Layer::User, Layer::Project])).to_string()),
        Some("test-built-in") => Ok(tested(&guard.test(&[Layer::BuiltIn])).to_string()),
        Some("lint") => {
            let content = text("content").ok_or("the request has no content")?;
            let file = text("file").unwrap_or("the file");
            let layer = match text("layer") {
                Some("project") => Layer::Project,
                Some("user") | None => Layer::User,
                Some(other) => return Err(format!("layer must be user or project, not {other}")),
            };
            // By itself: what other files hold is not this one's fault.
            let mut guard = Guard::new();
            let problems = guard.load(file, layer, content.as_bytes());
            let mut answer = tested(&guard.test(&[layer]));
            let rules = guard.list().iter().filter(|rule| rule.layer == layer).count();
            // Exemptions may be from rules of other files.
            beside(&mut guard, request.get("beside"));
            let warnings = guard.lint(file, layer, content.as_bytes());
            let told = |one: &Problem, warning: bool| {
                json!({
                    "file": one.file, "line": one.line, "message": one.message, "whole_file": one.whole_file,
                    "warning": warning,
                })
            };
            let problems = problems.iter().map(|one| told(one, false));
            let problems: Vec<Value> = problems.chain(warnings.iter().map(|one| told(one, true))).collect();
            answer["problems"] = problems.into();
            answer["rules"] = rules.into();
            Ok(answer.to_string())
        }
        Some(other) => Err(format!("question must be list, test, test-built-in or lint, not {other}")),
        None => Err("the request has no question".to_owned()),
    }
}

/// Loads the other files of a request, which are only there to be named.
fn beside(guard: &mut Guard, files: Option<&Value>) {
    for file in files.and_then(Value::as_array).into_iter().flatten() {
        let layer = if file["layer"] == "project" { Layer::Project } else { Layer::User };
        if let Some(content) = file["content"].as_str() {
            guard.load("", layer, content.as_bytes());
        }
    }
}

fn listed(guard: &Guard) -> Value {
    let packs = guard.packs().into_iter().map(|pack| {
        json!({
            "name": pack.name, "about": pack.about, "on": pack.on, "by_default": pack.by_default, "rules": pack.rules,
        })
    });
    let rules = guard.list().into_iter().map(|rule| {
        let test = |test: &Test| {
            let mut shown = json!({ "command": test.command, "fires": test.fires });
            if let Some(after) = &test.after {
                shown["after"] = json!(after);
            }
            shown
        };
        let tests: Vec<Value> = rule.tests.iter().map(test).collect();
        json!({
            "name": rule.name, "source": rule.source, "line": rule.line, "layer": rule.layer.prefix(), "on": rule.on,
            "action": action_name(rule.action), "reason": rule.reason, "instead": rule.instead, "tests": tests,
        })
    });
    let observers = guard.observers().map(
        |one| json!({ "name": one.name, "source": one.source, "layer": one.layer.prefix(), "writes": one.writes }),
    );
    json!({
        "schema": SCHEMA, "packs": packs.collect::<Vec<_>>(), "rules": rules.collect::<Vec<_>>(),
        "observers": observers.collect::<Vec<_>>(),
    })
}

fn tested(tested: &Tested) -> Value {
    let failed = tested.failed.iter().map(|one| {
        json!({
            "file": one.file, "line": one.line, "rule": one.rule, "command": one.command, "fires": one.fires,
            "fired": one.fired,
        })
    });
    json!({
        "schema": SCHEMA, "count": tested.count, "untested": tested.untested, "failed": failed.collect::<Vec<_>>(),
    })
}

fn action_name(action: Action) -> &'static str {
    match action {
        Action::Block => "block",
        Action::Ask => "ask",
        Action::Note => "note",
    }
}

#[derive(Serialize)]
struct WalkAnswer<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    commands: Vec<CommandJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unparsed: Option<&'a str>,
}

#[derive(Serialize)]
struct FilesAnswer<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    written: &'a [String],
    read: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    unparsed: Option<&'a str>,
}

#[derive(Serialize)]
struct HintsAnswer<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    paths: &'a [String],
}

#[derive(Serialize)]
struct ExplainAnswer<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    decision: &'a str,
    findings: Vec<Value>,
    commands: Vec<CommandJson<'a>>,
    considered: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unparsed: Option<&'a str>,
}

/// The names of all trackers of a walk.
fn names(provided: Option<&Provided>) -> Vec<String> {
    provided.iter().flat_map(|provided| provided.trackers.names()).map(str::to_owned).collect()
}
