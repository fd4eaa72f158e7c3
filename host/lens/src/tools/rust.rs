//! rustfmt and clippy, and which toolchain they come from.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, on_files, text, unless_set};
use crate::detect::{self, Marker::File};
use crate::process::Output;
use crate::report::{Outcome, Severity, Status};

pub(super) static RUSTFMT: Tool = Tool {
    name: "rustfmt",
    kind: Kind::Formatter,
    suffixes: &[".rs"],
    configured: &[],
    usual: &[File("Cargo.toml")],
    program: "rustfmt",
    untrusted: Untrusted::Runs,
    prepare: rustfmt_on,
    read: rustfmt,
};

pub(super) static CLIPPY: Tool = Tool {
    name: "clippy",
    kind: Kind::Linter,
    suffixes: &[".rs"],
    configured: &[],
    usual: &[File("Cargo.toml")],
    program: "cargo",
    untrusted: Untrusted::Skipped,
    prepare: |job, command| {
        toolchain(job, command);
        let arguments = ["clippy", "--offline", "--quiet", "--all-targets", "--no-deps", "--message-format=json"];
        command.args(arguments);
        Ok(())
    },
    read: clippy,
};

/// Which toolchain a proxy of rustup's takes, without a download; in a project that is not trusted the user's default.
fn toolchain(job: &Job, command: &mut Command) {
    command.env("RUSTUP_AUTO_INSTALL", "0");
    if job.project.trusted {
        return;
    }
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let rustup = home("RUSTUP_HOME").or_else(|| Some(home("HOME")?.join(".rustup")));
    let settings = rustup.map(|folder| detect::read(&folder.join("settings.toml"))).unwrap_or_default();
    let settings: Option<Settings> = toml::from_str(&settings).ok();
    if let Some(default) = settings.and_then(|settings| settings.default_toolchain) {
        unless_set(command, "RUSTUP_TOOLCHAIN", default);
    }
}

#[derive(Deserialize)]
struct Settings {
    default_toolchain: Option<String>,
}

fn rustfmt_on(job: &Job, command: &mut Command) -> Result<(), String> {
    toolchain(job, command);
    let edition = edition(&job.home, &job.project.root);
    on_files(job, command, &["--check", "-l", "--color", "never", "--edition", &edition]);
    Ok(())
}

/// The edition that the nearest `Cargo.toml` states, in it or in its workspace. Cargo's default is that of 2015.
fn edition(home: &Path, root: &Path) -> String {
    let folders = || home.ancestors().take_while(|folder| folder.starts_with(root));
    let manifest = |folder: &Path| toml::from_str::<toml::Table>(&detect::read(&folder.join("Cargo.toml"))).ok();
    let stated = |manifest: &toml::Table| Some(manifest.get("package")?.get("edition")?.clone());
    let shared =
        |folder| Some(manifest(folder)?.get("workspace")?.get("package")?.get("edition")?.as_str()?.to_owned());
    let nearest = folders().find_map(manifest);
    let edition = match nearest.as_ref().and_then(stated) {
        Some(toml::Value::String(edition)) => Some(edition),
        Some(_) => folders().find_map(shared),
        None => None,
    };
    edition.filter(|edition| edition.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or_else(|| "2015".to_owned())
}

fn rustfmt(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1])?;
    let errors = compiler_errors(&text(&output.stderr));
    // It names the modules below a file, too, and a file once for each that leads to it.
    let said = text(&output.stdout);
    let mut names: Vec<&str> = said.lines().collect();
    names.sort_unstable();
    names.dedup();
    let none = names.is_empty() && errors.is_empty();
    if code != 0 && none {
        return Err(failure(output));
    }
    let stopped = errors.first().map(|one| format!("stopped at an error elsewhere: {}:{}", one.file, one.line));
    let outcome = job.formatted(names.into_iter(), errors);
    match stopped {
        Some(why) if outcome.status == Status::Clean => Err(why),
        _ => Ok(outcome),
    }
}

/// `error: expected one of ...` and below it ` --> /p/a.rs:1:2`.
fn compiler_errors(said: &str) -> Vec<Finding> {
    let mut message = None;
    let mut errors = Vec::new();
    for line in said.lines() {
        if let Some(text) = line.strip_prefix("error: ") {
            message = Some(text);
        } else if let (Some(place), Some(text)) = (line.trim_start().strip_prefix("--> "), message) {
            errors.extend(super::go::placed(&format!("{place}: {text}")));
            message = None;
        }
    }
    errors
}

#[derive(Deserialize)]
struct CargoLine {
    reason: String,
    message: Option<CompilerMessage>,
}

#[derive(Deserialize)]
struct CompilerMessage {
    message: String,
    level: String,
    code: Option<Code>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    column_start: u32,
    is_primary: bool,
}

fn clippy(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 101])?;
    let mut findings: Vec<Finding> = Vec::new();
    for line in text(&output.stdout).lines().filter(|line| line.starts_with('{')) {
        let line: CargoLine = json(line.as_bytes())?;
        let Some(message) = line.message.filter(|_| line.reason == "compiler-message") else { continue };
        let Some(span) = message.spans.into_iter().find(|span| span.is_primary) else { continue };
        findings.push(Finding {
            file: span.file_name,
            line: span.line_start,
            column: span.column_start,
            severity: match message.level.as_str() {
                "warning" => Severity::Warning,
                level if level.starts_with("error") => Severity::Error,
                _ => Severity::Info,
            },
            message: message.message,
            rule: message.code.map(|code| code.code),
        });
    }
    let failed = code != 0 && !findings.iter().any(|one| one.severity == Severity::Error);
    if failed {
        return Err(failure(output));
    }
    job.found_unless(findings, |one| one.severity == Severity::Error)
}
