//! The tools: one table, one file for each family.
//!
//! Of what a project owns, some tools run a part: a plugin, a configuration that is a program, a hook. In a folder that
//! is not trusted that must not happen, nor may a program of the project's run. There tools come from the user's `PATH`,
//! are started in `/` where they can be (so that no version manager looks for the project's choice), get no folder of
//! the project's on `PATH`, and this holds:
//!
//! | Tool | What of the project it would run | Untrusted |
//! |---|---|---|
//! | all of npm and of Python | `node_modules/.bin`, `.venv/bin` | from `PATH` only |
//! | prettier | `prettier.config.js`, `plugins` of any configuration, a shared configuration from npm | skipped; without a configuration, `.editorconfig` among it, it runs with `--no-config` and `--no-editorconfig` |
//! | eslint | `eslint.config.js`, `.eslintrc.js`, plugins, parsers | skipped |
//! | stylelint | `stylelint.config.js`, plugins, custom syntaxes | skipped |
//! | biome | nothing: JSON, and plugins in `GritQL`, which only match | runs, in the project: what it finds by `--config-path` is to it a second root |
//! | tsc | nothing: plugins of `tsconfig.json` are for editors | runs |
//! | ruff | nothing: TOML | runs |
//! | black | nothing: TOML | runs |
//! | flake8 | `local-plugins` of its configuration, found by `paths` | skipped |
//! | pylint | `init-hook`, `load-plugins` | skipped |
//! | mypy | `plugins`, `python_executable` | skipped |
//! | gofmt | nothing: it has no configuration | runs |
//! | staticcheck | cgo, a toolchain that `go.mod` names, `git` through build stamps, downloads | runs, all of that off; in the module, as `go` finds that only so |
//! | rustfmt | a toolchain in a folder, named in `rust-toolchain.toml` | runs by the user's default toolchain |
//! | clippy | `build.rs`, procedural macros, `rustc-wrapper` in `.cargo/config.toml` | skipped |
//! | clang-format | nothing: YAML | runs |
//! | shellcheck, shfmt | nothing: key and value | runs |
//! | rubocop | `require` and plugins, ERB in `.rubocop.yml` | skipped |
//!
//! A file is clean only if something shows that the tool looked at it, as configuration may leave it out: names or counts
//! in what the tool says, for clippy what the compiler wrote down of what it read, for staticcheck that the file has no
//! build constraint. gofmt, shfmt, shellcheck and mypy look at all files that they are given by name.
//!
//! flake8, pylint and mypy could be run without their configuration. But what they find then is not what the project
//! asks for, and a report that is wrong is worse than none.

mod c;
mod go;
mod javascript;
mod prettier;
mod python;
mod ruby;
mod rust;
mod shell;
pub(crate) mod tsc;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::process::Command;

use crate::marker::Marker;
use crate::plain::plain;
use crate::process::{self, Output};
use crate::project::Project;
use crate::report::{Outcome, Problem, Severity, Status};

/// Tools that do with this much address space. Those in Go or Haskell and those that Node runs reserve more than they use.
const BOUNDED: (&[&str], u64) = (&["black", "clang-format", "ruff", "rustfmt"], 2 << 30);

/// Most characters of what a tool says when it fails.
const SAID: usize = 300;

/// Which of the four answers a tool is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Formatter,
    Linter,
    /// Language servers, which are no tools of this table.
    Server,
    Types,
}

/// What becomes of a tool in a project that is not trusted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Untrusted {
    /// It runs nothing of the project's.
    Runs,
    /// It runs where the project has no configuration for it, nor one of these, which is switched off besides.
    Bare(&'static [Marker]),
    /// It does not run.
    Skipped,
}

/// A tool that runs as one process for each check.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is called in reports.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// How names of files end that it checks.
    pub(crate) suffixes: &'static [&'static str],
    /// What says that the project asks for it. If it is not installed then, that is worth a note.
    pub(crate) configured: &'static [Marker],
    /// What says that it is natural to use it if it is installed. Nothing here nor above: it always is.
    pub(crate) usual: &'static [Marker],
    /// The program's name.
    pub(crate) program: &'static str,
    pub(crate) untrusted: Untrusted,
    /// Adds arguments, all before the files, and whatever else it needs, or says why it is left out.
    pub(crate) prepare: fn(&Job, &mut Command) -> Result<(), String>,
    /// Makes sense of what it said, or says why that is impossible.
    pub(crate) read: fn(&Job, &Output) -> Result<Outcome, String>,
}

/// All tools.
pub(crate) static ALL: &[&Tool] = &[
    &prettier::PRETTIER,
    &javascript::BIOME_FORMAT,
    &python::RUFF_FORMAT,
    &python::BLACK,
    &go::GOFMT,
    &rust::RUSTFMT,
    &c::CLANG_FORMAT,
    &shell::SHFMT,
    &javascript::ESLINT,
    &javascript::BIOME,
    &javascript::STYLELINT,
    &python::RUFF,
    &python::FLAKE8,
    &python::PYLINT,
    &python::MYPY,
    &rust::CLIPPY,
    &go::STATICCHECK,
    &ruby::RUBOCOP,
    &shell::SHELLCHECK,
    &tsc::TSC,
];

impl Tool {
    /// Whether it checks files of this name.
    pub(crate) fn fits(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes().to_ascii_lowercase();
        self.suffixes.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
    }

    /// Whether it needs no sign that it is used.
    pub(crate) fn always(&self) -> bool {
        self.configured.is_empty() && self.usual.is_empty()
    }
}

/// A tool with what it is run on.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) project: Project,
    pub(crate) tool: &'static Tool,
    pub(crate) program: PathBuf,
    /// The folder whose configuration holds.
    pub(crate) home: PathBuf,
    /// Absolute, links resolved.
    pub(crate) files: Vec<PathBuf>,
}

impl Job {
    /// Whether both can be one run.
    pub(crate) fn same(&self, other: &Job) -> bool {
        std::ptr::eq(self.tool, other.tool) && self.program == other.program && self.home == other.home
    }

    /// Where the tool is started: where the project's configuration is, or in an untrusted project where none is.
    pub(crate) fn folder(&self) -> &Path {
        if self.project.trusted { &self.home } else { Path::new("/") }
    }

    /// Runs the tool, for so long at most.
    pub(crate) async fn run(&self, limit: Duration) -> Outcome {
        let command = match self.command().await {
            Ok(Ok(command)) => command,
            Ok(Err(why)) => return Outcome::skipped(format!("{}: {why}", self.tool.name)),
            Err(error) => return Outcome::error(format!("{}: {error}", self.tool.name)),
        };
        let memory = Some(BOUNDED.1).filter(|_| BOUNDED.0.contains(&self.tool.name));
        let output = match process::run(command, None, limit, memory).await {
            Ok(output) => output,
            Err(process::Failed::Timeout { .. }) => {
                return Outcome::error(format!("{} took longer than {} ms", self.tool.name, limit.as_millis()));
            }
            Err(failed @ process::Failed::System { .. }) => {
                return Outcome::error(format!("{}: {failed}", self.tool.name));
            }
        };
        let job = self.clone();
        // Some look at what the tool left, too.
        let read = tokio::task::spawn_blocking(move || (job.tool.read)(&job, &output)).await;
        match read.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::error(format!("{}: {why}", self.tool.name)),
        }
    }

    /// The command to run, or why there is none. It reads files, which may take its time.
    async fn command(&self) -> Result<Result<Command, String>, tokio::task::JoinError> {
        let job = self.clone();
        tokio::task::spawn_blocking(move || {
            let mut command = process::command(&job.project, &job.program, job.folder());
            (job.tool.prepare)(&job, &mut command).map(|()| command)
        })
        .await
    }

    /// The asked file that a tool means by this name: absolute, or as seen from where the tool was started, or from the
    /// configuration's folder or one above it, such as the root of a workspace.
    pub(crate) fn file(&self, name: &str) -> Option<&PathBuf> {
        std::iter::once(self.folder()).chain(self.project.up_from(&self.home)).find_map(|folder| {
            let path = normal(&folder.join(name));
            self.files.iter().find(|file| **file == path)
        })
    }

    /// The outcome of these findings. Those in files that were not asked for are only counted.
    pub(crate) fn found(&self, findings: Vec<Finding>) -> Outcome {
        let (mut problems, mut elsewhere) = (Vec::new(), 0_usize);
        for finding in findings {
            let Some(file) = self.file(&finding.file) else {
                elsewhere += 1;
                continue;
            };
            problems.push(Problem {
                file: file.clone(),
                line: finding.line,
                column: finding.column,
                severity: finding.severity,
                message: finding.message,
                rule: finding.rule,
                source: self.tool.name.to_owned(),
            });
        }
        // Some say it again for each way that leads to a file, such as a library and its tests.
        problems.sort_by(|one, two| key(one).cmp(&key(two)));
        problems.dedup();
        let mut outcome = Outcome::found(problems, self.files.len());
        if elsewhere > 0 {
            outcome.notes.push(format!("{}: {elsewhere} more in other files", self.tool.name));
        }
        outcome
    }

    /// The same for a tool that stops at errors of some kind, in whichever file: what it did not come to is not clean.
    ///
    /// # Errors
    /// If it stopped elsewhere, so that nothing is known of the asked files.
    pub(crate) fn found_unless(
        &self,
        findings: Vec<Finding>,
        stops: impl Fn(&Finding) -> bool,
    ) -> Result<Outcome, String> {
        let stop =
            findings.iter().find(|one| stops(one)).map(|one| format!("{}:{}: {}", one.file, one.line, one.message));
        let outcome = self.found(findings);
        match stop {
            Some(why) if outcome.problems.is_empty() => {
                Err(plain(&format!("stopped at an error elsewhere: {why}"), SAID))
            }
            _ => Ok(outcome),
        }
    }

    /// What is true of an outcome if the tool says that it looked at so many of the files, and left out the others.
    pub(crate) fn looked_at(&self, outcome: Outcome, files: usize) -> Outcome {
        let name = self.tool.name;
        let found = outcome.problems.iter().map(|one| &one.file).chain(&outcome.unformatted).collect::<BTreeSet<_>>();
        let files = files.max(found.len());
        match self.files.len().saturating_sub(files) {
            0 => outcome,
            _ if files == 0 && outcome.status == Status::Clean => {
                let skipped = Outcome::skipped(format!("{name}: it checked none of the files"));
                Outcome { notes: [outcome.notes, skipped.notes].concat(), ..Outcome::default() }
            }
            out => {
                let mut outcome = Outcome { files, ..outcome };
                outcome.notes.push(format!("{name}: it skipped {out} of the files"));
                outcome
            }
        }
    }

    /// How many of the files these names mean, each once.
    pub(crate) fn count<'a>(&self, names: impl Iterator<Item = &'a str>) -> usize {
        names.filter_map(|name| self.file(name)).collect::<BTreeSet<_>>().len()
    }

    /// The outcome of a formatter that would change these files, and finds these errors in them.
    pub(crate) fn formatted<'a>(&self, names: impl Iterator<Item = &'a str>, errors: Vec<Finding>) -> Outcome {
        let mut outcome = self.found(errors);
        outcome.unformatted = names.filter_map(|name| self.file(name).cloned()).collect();
        if !outcome.unformatted.is_empty() {
            outcome.status = Status::Issues;
        }
        outcome
    }
}

/// A finding as a tool says it.
#[derive(Debug)]
pub(crate) struct Finding {
    /// As the tool writes it.
    pub(crate) file: String,
    /// As in [`Problem`].
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) rule: Option<String>,
}

/// What problems are ordered by: their place first.
fn key(problem: &Problem) -> (&Path, u32, u32, &str, Option<&str>) {
    (&problem.file, problem.line, problem.column, &problem.message, problem.rule.as_deref())
}

/// A path without `.` and `..`. Its links have to be resolved already.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Arguments, then the end of options, then the files.
pub(crate) fn on_files(job: &Job, command: &mut Command, arguments: &[&str]) {
    command.args(arguments).arg("--").args(&job.files);
}

/// Arguments, then the files. For programs that do not know `--`: the paths are absolute, so none is an option.
pub(crate) fn on_paths(job: &Job, command: &mut Command, arguments: &[&str]) {
    command.args(arguments).args(&job.files);
}

/// Whether a tool ended with one of these codes. If not, it failed, whatever else it said.
pub(crate) fn ended(output: &Output, codes: &[i32]) -> Result<i32, String> {
    match output.status.code() {
        Some(code) if codes.contains(&code) => Ok(code),
        _ => Err(failure(output)),
    }
}

/// What a tool that failed said about it, in one line.
pub(crate) fn failure(output: &Output) -> String {
    let said = if output.stderr.trim_ascii().is_empty() { &output.stdout } else { &output.stderr };
    let said = String::from_utf8_lossy(said.get(..said.len().min(64 << 10)).unwrap_or_default());
    let lines = said.lines().map(|line| line.trim_matches([' ', '\t', '━']));
    // Some are told to say what they look at.
    let log = |line: &&str| line.starts_with("[debug]") || line.contains("][DEBUG]");
    let mut lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !log(line)).collect();
    // Python says at the end what happened, most others at the start.
    if lines.iter().any(|line| line.starts_with("Traceback ")) {
        lines.reverse();
        lines.truncate(1);
    }
    lines.truncate(4);
    plain(&format!("ended with {}: {}", output.status, lines.join(" ")), SAID)
}

/// Reads what a tool said as JSON.
pub(crate) fn json<T: DeserializeOwned>(said: &[u8]) -> Result<T, String> {
    serde_json::from_slice(said).map_err(|error| {
        let start = String::from_utf8_lossy(said.get(..said.len().min(400)).unwrap_or_default()).into_owned();
        plain(&format!("its output is invalid ({error}): {}", start.trim()), SAID)
    })
}

/// The number before these words, where some line has it: `12` in `12 files would be left unchanged`.
pub(crate) fn number_before(said: &str, words: &str) -> Option<usize> {
    let (before, _) = said.split_once(words)?;
    before.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Text that a tool said.
pub(crate) fn text(said: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(said)
}

/// A variable for a command, if the user has not set it.
pub(crate) fn unless_set(command: &mut Command, name: &str, value: impl Into<OsString>) {
    if std::env::var_os(name).is_none() {
        command.env(name, value.into());
    }
}

#[cfg(test)]
mod tests;
