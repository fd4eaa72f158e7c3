//! `toolgate walk`, `files` and `hints`: what a shell text does, without judging it. The component gives the answers.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value, json};
use toolgate_agents::agent::{self, EventPayload, Payload};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::plugin::loaded;
use toolgate_gatekeeper::{gate_builder, path_hints};
use toolgate_host::capability::{LocalFiles, LocalLog};
use toolgate_host::{Analysis, CallError, Capabilities, Session};

use crate::line_reader::LineReader;
use crate::{output, runtime};

/// Longest text that is read from standard input, in bytes; more than the component takes.
const TEXT: u64 = 16 << 20;

/// The exit code of a batch in which a line was wrong.
const SOME_WRONG: u8 = 1;

/// What all three say of themselves at the end of their help.
macro_rules! help {
    ($examples:literal, $answer:literal) => {
        concat!(
            $examples,
            "\n\n\
A line of a batch is {\"command\", \"cwd\", \"home\", \"workspace_root\", \"env\", \"env_complete\", \"id\"},
all but the command optional. Missing values come from the options, but HOME and USER only
if the line has neither home nor env. Paths are relative to a workspace only if the line has one.
",
            $answer,
            "
An invalid line gets {\"id\", \"error\"}.

Exit codes: 0 answered; 1 an invalid line in the batch; 64 invalid arguments, 65 invalid data, 66 the
current directory is unknown, 70 and above internal errors."
        )
    };
}

pub(crate) const WALK: &str = help!(
    "Examples:\n  \
  toolgate walk 'cd src && sudo rm -rf \"$HOME/.cache\"'\n  \
  toolgate walk --cwd /srv --env STAGE=test --json < deploy.sh\n  \
  toolgate walk --batch < commands.jsonl",
    "Its answer is {\"id\", \"commands\"}; the format is documented at `interface analysis` of the
contract, in the wit/hooks.wit that `toolgate plugin new` writes. The table omits variables; the JSON
has them."
);

pub(crate) const FILES: &str = help!(
    "Examples:\n  \
  toolgate files 'sed -i s/a/b/ src/*.c src/main.c; mv old new'\n  \
  toolgate files --json --cwd /srv 'make > log 2>&1'",
    "Its answer is {\"id\", \"written\", \"read\"}, absolute paths."
);

pub(crate) const HINTS: &str = help!(
    "Examples:\n  \
  toolgate hints 'mkdir -p out && gcc -o out/a a.c'\n  \
  toolgate hints --workspace /srv --cwd /srv/app 'touch x ../y /tmp/z'",
    "Its answer is {\"id\", \"paths\"}, and \"unparsed\" if a part of the text cannot be read."
);

#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell script; `-` or nothing reads it from standard input
    #[arg(conflicts_with = "batch")]
    command: Option<String>,

    /// Answer JSON Lines from standard input, with one JSON line out for each
    #[arg(long)]
    batch: bool,

    /// The directory the script starts in; empty if unknown [default: the current one]
    #[arg(long, value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    cwd: Option<PathBuf>,

    /// The value of `~` and `$HOME` [default: your home]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    /// The folder that paths are shown relative to [default: the directory's project]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// An environment variable; repeatable [default: USER as it is]
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,

    /// Treat variables that are not given as unset, not as unknown
    #[arg(long)]
    env_complete: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The same for hints, which may also be those of a call.
#[derive(Args)]
pub(crate) struct HintArguments {
    #[command(flatten)]
    text: Arguments,

    /// Read a payload of this agent from standard input: the hints are those of the call in it
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["command", "batch", "cwd", "home", "workspace", "env", "env_complete"], value_parser = PossibleValuesParser::new(agent::all().map(|agent| agent.name())))]
    from: Option<String>,

    /// The agent's name for the event, if the payload does not contain it
    #[arg(long, requires = "from", conflicts_with_all = ["command", "batch", "cwd", "home", "workspace", "env", "env_complete"])]
    event: Option<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is not NAME=VALUE".to_owned()),
    }
}

/// What is asked about a text.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    Walk,
    Files,
    Hints,
}

/// What a request has if nothing else is said.
struct Defaults {
    cwd: String,
    home: Option<String>,
    workspace: Option<String>,
    env: Map<String, Value>,
    env_complete: bool,
}

impl Defaults {
    fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let cwd = match &arguments.cwd {
            Some(cwd) if cwd.as_os_str().is_empty() => String::new(),
            cwd => dirs::folder(cwd.as_deref())?,
        };
        let folder = |path: &PathBuf| dirs::folder(Some(path));
        let mut env: Map<String, Value> = Map::new();
        if let Ok(user) = std::env::var("USER") {
            env.insert("USER".to_owned(), user.into());
        }
        env.extend(arguments.env.iter().map(|(name, value)| (name.clone(), value.clone().into())));
        let home = match &arguments.home {
            Some(home) => Some(folder(home)?),
            None if env.contains_key("HOME") => None,
            None => dirs::home(),
        };
        let workspace = arguments.workspace.as_ref().map(folder).transpose()?;
        Ok(Defaults { cwd, home, workspace, env, env_complete: arguments.env_complete })
    }

    /// Gives a request what it lacks.
    fn fill(&self, request: &mut Map<String, Value>) {
        let lacks = |request: &Map<String, Value>, names: &[&str]| {
            names.iter().all(|name| request.get(*name).is_none_or(Value::is_null))
        };
        if lacks(request, &["cwd", "initial_cwd"]) {
            request.insert("cwd".to_owned(), self.cwd.clone().into());
        }
        if lacks(request, &["home", "env", "initial_env"]) {
            request.insert("home".to_owned(), self.home.clone().into());
            request.insert("env".to_owned(), self.env.clone().into());
        }
        if lacks(request, &["workspace_root", "workspaceRoot"]) {
            request.insert("workspace_root".to_owned(), self.workspace.clone().into());
        }
        if lacks(request, &["env_complete"]) {
            request.insert("env_complete".to_owned(), self.env_complete.into());
        }
    }
}

/// The component, and what it is asked.
struct Analyzer {
    analysis: Analysis,
    question: Question,
}

impl Analyzer {
    async fn answer(&self, request: Map<String, Value>) -> Result<Map<String, Value>, CallError> {
        let request = Value::Object(request).to_string();
        let answer = match self.question {
            Question::Walk => self.analysis.walk(&request).await?,
            Question::Files => self.analysis.files(&request).await?,
            Question::Hints => self.analysis.hints(&request).await?,
        };
        let mut answer = object(&answer)?;
        // Hints do not say that a part of the text could not be read.
        if matches!(self.question, Question::Hints)
            && let Ok(files) = self.analysis.files(&request).await
            && let Some(why) = object(&files)?.shift_remove("unparsed")
        {
            answer.insert("unparsed".to_owned(), why);
        }
        Ok(answer)
    }
}

/// An answer of the component, without what is only for those who program against the contract.
pub(crate) fn object(answer: &str) -> Result<Map<String, Value>, CallError> {
    match serde_json::from_str(answer) {
        Ok(Value::Object(mut answer)) => {
            answer.shift_remove("schema");
            Ok(answer)
        }
        _ => Err(CallError::Trap("its answer is not a JSON object".to_owned())),
    }
}

/// Why there is no answer, for a person.
pub(crate) fn unanswered(error: &CallError) -> Failure {
    let wrong = matches!(error, CallError::Request(_) | CallError::Input { .. });
    Failure::new(if wrong { exit::DATA } else { exit::SOFTWARE }, error.to_string())
}

/// The hints of a text, or of an agent's call.
pub(crate) fn hints(arguments: &HintArguments) -> Result<ExitCode, Failure> {
    let Some(agent) = arguments.from.as_deref().and_then(agent::named) else {
        return run(Question::Hints, &arguments.text);
    };
    let wrong = |why: String| Failure::new(exit::DATA, why);
    let payload: Value =
        serde_json::from_str(&text(Some("-"))?).map_err(|error| wrong(format!("the payload is not JSON: {error}")))?;
    let variable = |name: &str| std::env::var(name).ok();
    let event = agent.decode(arguments.event.as_deref(), &Payload::new(&payload, &variable)).map_err(wrong)?;
    let call = match event.about {
        EventPayload::Call { call, .. } => *call,
        EventPayload::Result(result) => result.call,
        _ => return Err(wrong(format!("the event {} has no tool call", event.moment.name))),
    };
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let runtime = runtime::one_thread()?;
    let paths = runtime.block_on(path_hints::of(&plugin, &call)).map_err(|error| unanswered(&error))?;
    let mut answer = Map::new();
    answer.insert("paths".to_owned(), paths.into());
    let mut out = anstream::stdout();
    let written = match arguments.text.json {
        true => writeln!(out, "{}", Value::Object(answer)),
        false => output::hints(&mut out, &answer),
    };
    output::told(written)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run(question: Question, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut defaults = Defaults::new(arguments)?;
    let text = if arguments.batch { None } else { Some(text(arguments.command.as_deref())?) };
    if text.is_some() && defaults.workspace.is_none() && !defaults.cwd.is_empty() {
        defaults.workspace = Some(dirs::root_of(&defaults.cwd));
    }
    let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
    let root = defaults.workspace.as_ref().unwrap_or(&defaults.cwd);
    let session = Session::in_folder(&defaults.cwd).with_home(defaults.home.clone()).with_workspace_root(root);
    let files = LocalFiles::new().inline();
    let loaded = loaded::by_hand()?;
    let registry = gate_builder::extension_registry(&loaded, &session, &files, None);
    let granted = Capabilities::denied().files(files).log(LocalLog).extensions(registry);
    let asked = Analyzer { analysis: Analysis::new(plugin, session, granted), question };
    let runtime = runtime::one_thread()?;
    match text {
        Some(text) => runtime.block_on(one(&text, &defaults, arguments.json, &asked)),
        None => runtime.block_on(batch(&defaults, &asked)),
    }
}

/// The text that was given, or all of standard input.
pub(crate) fn text(given: Option<&str>) -> Result<String, Failure> {
    if let Some(text) = given.filter(|text| *text != "-") {
        return Ok(text.to_owned());
    }
    let input = std::io::stdin().lock();
    if given.is_none() && input.is_terminal() {
        return Err(Failure::new(exit::USAGE, "no command: give one, or `-` to read standard input; see --help"));
    }
    let mut text = Vec::new();
    let read = input.take(TEXT + 1).read_to_end(&mut text);
    read.map_err(|error| Failure::new(exit::IO, format!("standard input: {error}")))?;
    if text.len() as u64 > TEXT {
        return Err(Failure::new(exit::DATA, format!("the text is longer than {} MiB", TEXT >> 20)));
    }
    String::from_utf8(text).map_err(|error| Failure::new(exit::DATA, format!("the text is not UTF-8: {error}")))
}

async fn one(text: &str, defaults: &Defaults, as_json: bool, asked: &Analyzer) -> Result<ExitCode, Failure> {
    let mut request = Map::new();
    request.insert("command".to_owned(), text.into());
    defaults.fill(&mut request);
    let answer = asked.answer(request).await.map_err(|error| unanswered(&error))?;
    let mut out = anstream::stdout();
    let written = match asked.question {
        _ if as_json => writeln!(out, "{}", Value::Object(answer)),
        Question::Walk => output::walk(&mut out, text, &answer),
        Question::Files => output::files(&mut out, &answer),
        Question::Hints => output::hints(&mut out, &answer),
    };
    output::told(written)?;
    Ok(ExitCode::SUCCESS)
}

async fn batch(defaults: &Defaults, asked: &Analyzer) -> Result<ExitCode, Failure> {
    let mut lines = LineReader::new();
    let mut out = std::io::stdout().lock();
    let mut wrong = false;
    while let Some(line) = lines.next()? {
        let answer = answer_line(line, defaults, asked).await;
        wrong |= answer.is_err();
        let answer = answer.unwrap_or_else(|(id, error)| {
            let id = id.map(|id| ("id".to_owned(), id));
            id.into_iter().chain([("error".to_owned(), json!(error))]).collect()
        });
        writeln!(out, "{}", Value::Object(answer)).map_err(Failure::output)?;
    }
    Ok(ExitCode::from(if wrong { SOME_WRONG } else { 0 }))
}

/// The answer, or the line's `id` and what is wrong with it.
async fn answer_line(
    line: Result<&[u8], String>,
    defaults: &Defaults,
    asked: &Analyzer,
) -> Result<Map<String, Value>, (Option<Value>, String)> {
    let nameless = |error: String| (Some(Value::Null), error);
    let no_json = |error: &dyn std::fmt::Display| nameless(format!("the line is not JSON: {error}"));
    let line = std::str::from_utf8(line.map_err(nameless)?).map_err(|error| no_json(&error))?;
    let mut request = match serde_json::from_str(line).map_err(|error| no_json(&error))? {
        Value::Object(request) => request,
        _ => return Err(nameless("the line is not a JSON object".to_owned())),
    };
    let id = request.get("id").cloned();
    defaults.fill(&mut request);
    asked.answer(request).await.map_err(|error| (id, error.to_string()))
}
