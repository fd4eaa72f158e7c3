//! `toolgate lens`: the check daemon of a project, as it is found, started, asked and trusted.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolgate_agents::agent::SessionContext;
use toolgate_agents::{Failure, dirs, exit};
use toolgate_capabilities::{LocalDaemon, LocalGit};
use toolgate_checks::trust::{Trust, TrustError};
use toolgate_gatekeeper::lens::{code_lens, daemon};
use toolgate_host::capability::{Change, Daemon, Git};
use toolgate_host::{CapabilityError, plain};

use crate::output::{self, BOLD, DIM};
use crate::{confirmation, runtime};

#[derive(Args)]
#[command(after_help = "\
The daemon starts automatically, one for each project. It stops with the last session or after five
idle minutes.

Project code (node_modules, configuration that is code, build scripts, macros) runs only in folders
that you trust. Elsewhere your own tools are used without such configuration, and checks that need it
are skipped.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Whether changed files are checked at all.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Switch {
    /// Do not check changed files
    #[arg(long, overrides_with = "lens")]
    no_lens: bool,

    /// Check changed files [default, unless an earlier installation chose otherwise]
    #[arg(long, overrides_with = "no_lens")]
    lens: bool,
}

impl Switch {
    /// Whether they are; none if nothing is said.
    pub(crate) fn said(self) -> Option<bool> {
        match (self.lens, self.no_lens) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Check the given files, or all files that differ from the last commit
    #[command(after_help = "\
Runs every check on every file, including those that the settings exclude.

Exit codes: 0 no findings, 1 findings, 2 a check failed; 64 invalid arguments, 65 not a
regular file, 66 no such file, 70 no daemon.")]
    Check(Check),
    /// Show whether the project's daemon is running, and its tools
    Status(Status),
    /// Trust a project: run its own tools and configuration in checks; only at your own terminal
    Trust(Trusted),
    /// Stop trusting a project
    Untrust(Folder),
    /// Stop the project's daemon
    Stop(Folder),
    /// The daemon itself, as its clients start it
    #[command(hide = true)]
    Serve,
}

#[derive(Args)]
struct Check {
    /// The files
    files: Vec<PathBuf>,

    /// Print the daemon's answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Status {
    #[command(flatten)]
    folder: Folder,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Trusted {
    #[command(flatten)]
    folder: Folder,

    /// List the folders that are trusted
    #[arg(long, conflicts_with = "folder")]
    list: bool,
}

#[derive(Args)]
struct Folder {
    /// The folder, with all below it [default: the project of the current folder]
    folder: Option<PathBuf>,
}

impl Folder {
    fn root(&self) -> Result<PathBuf, Failure> {
        let folder = dirs::folder(self.folder.as_deref())?;
        match self.folder {
            Some(_) => Ok(PathBuf::from(folder)),
            None => Ok(dirs::project_root(Path::new(&folder))),
        }
    }

    /// The same where it has to be there.
    fn there(&self) -> Result<PathBuf, Failure> {
        let root = self.root()?;
        match root.metadata() {
            Ok(found) if found.is_dir() => Ok(root),
            Ok(_) => Err(Failure::new(exit::DATA, format!("{}: not a folder", root.display()))),
            Err(error) => Err(Failure::new(exit::NO_INPUT, format!("{}: {error}", root.display()))),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check(arguments),
        Command::Status(arguments) => status(arguments),
        Command::Trust(arguments) if arguments.list => trusted(),
        Command::Trust(arguments) => trust(&arguments.folder.there()?),
        Command::Untrust(folder) => untrust(&folder.root()?),
        Command::Stop(folder) => stop(&folder.root()?),
        Command::Serve => Ok(toolgate_checks::serve(trust_list().ok())),
    }
}

/// How long an answer may take for a person.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    Ok(runtime::one_thread()?.block_on(work))
}

/// The daemon of a project, for a person.
fn by_hand(root: &Path) -> Result<LocalDaemon, Failure> {
    let scene = SessionContext {
        session: std::process::id().to_string(),
        root: root.display().to_string(),
        ..SessionContext::default()
    };
    let daemon = daemon("toolgate", &scene).map(|daemon| daemon.within(CHECK_TIMEOUT));
    let missing = "no folder for the daemon's socket; set HOME to an absolute path";
    daemon.ok_or_else(|| Failure::new(exit::NO_INPUT, missing))
}

fn check(arguments: &Check) -> Result<ExitCode, Failure> {
    let here = dirs::folder(None)?;
    let root = dirs::project_root(Path::new(&here));
    let files = match arguments.files.as_slice() {
        [] => changed(&root)?,
        files => given(files, Path::new(&here))?,
    };
    let mut out = anstream::stdout();
    if files.is_empty() {
        let none = "no file differs from the last commit";
        let statuses = json!({ "prettier": "skipped", "linters": "skipped", "lsp": "skipped", "tsc": "skipped" });
        output::told(match arguments.json {
            // As of files for which there are no checks.
            true => {
                let details = json!({
                    "statuses": statuses, "hasIssues": false, "problems": [], "notes": [none], "unformatted": [],
                });
                writeln!(out, "{details}")
            }
            false => writeln!(out, "{DIM}{none}{DIM:#}"),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let daemon = by_hand(&root)?;
    let params = json!({ "files": files, "config": {
        "prettier": true, "linters": true, "lsp": true, "tsc": true, "lspDelayMs": 1_000, "lspTimeoutMs": 30_000,
        "maxConcurrency": 4, "prettierTimeoutMs": 30_000, "linterTimeoutMs": 30_000, "tscTimeoutMs": 30_000,
    } });
    let asked = async {
        daemon.ensure().await?;
        let answer = daemon.request("fullCheck".to_owned(), params.to_string()).await;
        daemon.stop().await?;
        answer
    };
    let answer = block_on(asked)?.map_err(|error| unanswered(&error))?;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    let text = answer.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    if answer.get("isError") == Some(&Value::Bool(true)) {
        return Err(Failure::new(exit::DATA, text.to_owned()));
    }
    let details = answer.get("details").unwrap_or(&Value::Null);
    let written = match arguments.json {
        true => writeln!(out, "{details}"),
        false => text.lines().try_for_each(|line| writeln!(out, "{}", plain(line))),
    };
    output::told(written)?;
    let statuses = details.get("statuses").and_then(Value::as_object);
    let ended = |how: &str| statuses.is_some_and(|all| all.values().any(|status| status == how));
    Ok(ExitCode::from(match (ended("issues"), ended("error")) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 0,
    }))
}

fn changed(root: &Path) -> Result<Vec<String>, Failure> {
    let found = block_on(LocalGit.changed_files(root.display().to_string()))?;
    let found = found.map_err(|error| Failure::new(exit::NO_INPUT, format!("name the files: {}", sentence(&error))))?;
    Ok(found.into_iter().filter(|file| file.change != Change::Deleted).map(|file| file.path).collect())
}

fn given(files: &[PathBuf], here: &Path) -> Result<Vec<String>, Failure> {
    let absolute = |file: &PathBuf| {
        let path = here.join(file);
        match path.metadata() {
            Ok(found) if found.is_file() => Ok(path.display().to_string()),
            Ok(_) => Err(Failure::new(exit::DATA, format!("{}: it is not a regular file", file.display()))),
            Err(error) => Err(Failure::new(exit::NO_INPUT, format!("{}: {error}", file.display()))),
        }
    };
    files.iter().map(absolute).collect()
}

/// Another daemon than ours has no such questions.
fn ours() -> Result<(), Failure> {
    match code_lens() {
        Some(_) => Err(Failure::new(exit::USAGE, "your toolgate.yaml selects code-lens, which does not support this")),
        None => Ok(()),
    }
}

fn status(arguments: &Status) -> Result<ExitCode, Failure> {
    ours()?;
    let root = arguments.folder.there()?;
    let daemon = by_hand(&root)?;
    let answer = block_on(daemon.request("status".to_owned(), "{}".to_owned()))?;
    let said: Value = match &answer {
        Ok(answer) => serde_json::from_str(answer).unwrap_or_default(),
        Err(CapabilityError::Unavailable(_)) => Value::Null,
        Err(error) => return Err(unanswered(error)),
    };
    let trusted = trust_list()?.check(&root);
    let mut out = anstream::stdout();
    if arguments.json {
        let text = json!({
            "schema": 1, "root": root, "socket": daemon.socket(), "running": answer.is_ok(), "trusted": trusted.is_ok(),
            "daemon": said,
        });
        output::told(writeln!(out, "{text}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = |name: &str, text: String| format!("{BOLD}{name:<8}{BOLD:#} {}", plain(&text));
    let mut lines = vec![line("project", root.display().to_string())];
    let trusted = match trusted {
        Ok(()) => "yes".to_owned(),
        Err(TrustError::Unknown) => "no; `toolgate lens trust` changes that".to_owned(),
        Err(why) => format!("no: {why}"),
    };
    lines.push(line("trusted", trusted));
    lines.push(match answer {
        Ok(_) => line("daemon", format!("runs, {}", daemon.socket().display())),
        Err(_) => line("daemon", "not running; it starts when needed".to_owned()),
    });
    for (key, value) in said.as_object().into_iter().flatten().filter(|(key, _)| *key != "trusted") {
        lines.push(line(key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    }
    output::told(writeln!(out, "{}", lines.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}

fn trust_list() -> Result<Trust, Failure> {
    let list = Trust::of_home(dirs::home().as_deref().map(Path::new));
    list.ok_or_else(|| Failure::new(exit::NO_INPUT, "the home folder is unknown; set HOME to an absolute path"))
}

fn trusted() -> Result<ExitCode, Failure> {
    let list = trust_list()?.list().map_err(|error| unusable(&error))?;
    let mut out = anstream::stdout();
    if list.is_empty() {
        output::told(writeln!(out, "{DIM}no trusted folders{DIM:#}"))?;
    }
    for folder in list {
        output::told(writeln!(out, "{}", plain(&folder.path.display().to_string())))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn trust(folder: &Path) -> Result<ExitCode, Failure> {
    // First, so that an agent learns nothing here but that.
    confirmation::present("folders cannot be trusted from here")?;
    let list = trust_list()?;
    if list.check(folder).is_ok() {
        output::told(writeln!(anstream::stdout(), "already trusted"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let question = format!(
        "{}\nChecks may then run code in this folder: node_modules, configuration that is code, build scripts.\nType {{word}} to trust it:",
        output::whole(&folder.display().to_string(), output::LINE),
    );
    confirmation::agrees(&question, "the folder is not trusted")?;
    let folder = list.add(folder).map_err(|error| unusable(&error))?;
    let folder = plain(&folder.display().to_string());
    output::told(writeln!(anstream::stdout(), "trusted; `toolgate lens untrust {folder}` undoes it"))?;
    Ok(ExitCode::SUCCESS)
}

/// Taking back only forbids more, so anyone may.
fn untrust(folder: &Path) -> Result<ExitCode, Failure> {
    match trust_list()?.remove(folder).map_err(|error| unusable(&error))? {
        true => {
            let folder = plain(&folder.display().to_string());
            output::told(writeln!(anstream::stdout(), "{folder} is no longer trusted"))?;
            Ok(ExitCode::SUCCESS)
        }
        false => Err(Failure::new(exit::NO_INPUT, format!("{} is not in the list", folder.display()))),
    }
}

fn stop(root: &Path) -> Result<ExitCode, Failure> {
    ours()?;
    let daemon = by_hand(root)?;
    let said = match block_on(daemon.request("stop".to_owned(), "{}".to_owned()))? {
        Ok(_) => "the daemon is stopping",
        Err(CapabilityError::Unavailable(_)) => "there is none",
        Err(error) => return Err(unanswered(&error)),
    };
    output::told(writeln!(anstream::stdout(), "{said}"))?;
    Ok(ExitCode::SUCCESS)
}

fn unusable(error: &TrustError) -> Failure {
    Failure::new(exit::DATA, error.to_string())
}

fn unanswered(error: &CapabilityError) -> Failure {
    Failure::new(exit::SOFTWARE, sentence(error))
}

fn sentence(error: &CapabilityError) -> String {
    match error {
        CapabilityError::Denied(why)
        | CapabilityError::NotFound(why)
        | CapabilityError::Unavailable(why)
        | CapabilityError::Invalid(why)
        | CapabilityError::Other(why) => why.clone(),
        CapabilityError::Timeout => "the daemon did not answer in time".to_owned(),
        CapabilityError::TooLarge(limit) => format!("more than the limit of {limit}"),
    }
}
