//! rustfmt and clippy, and which toolchain they come from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, on_files, text, unless_set};
use crate::marker::Marker::File;
use crate::process::Output;
use crate::project::{Project, read_text};
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
    prepare: clippy_on,
    read: clippy,
};

fn clippy_on(job: &Job, command: &mut Command) -> Result<(), String> {
    // Cargo would write one into the project. A workspace may have it above.
    if !job.home.ancestors().any(|folder| folder.join("Cargo.lock").is_file()) {
        return Err("no Cargo.lock, and checks do not create one".to_owned());
    }
    toolchain(job, command);
    command.args(["clippy", "--offline", "--locked", "--quiet", "--all-targets", "--no-deps", "--message-format=json"]);
    Ok(())
}

/// Which toolchain a proxy of rustup's takes, without a download; in a project that is not trusted the user's default.
fn toolchain(job: &Job, command: &mut Command) {
    command.env("RUSTUP_AUTO_INSTALL", "0");
    if job.project.trusted {
        return;
    }
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let rustup = home("RUSTUP_HOME").or_else(|| Some(home("HOME")?.join(".rustup")));
    let settings = rustup.map(|folder| read_text(&folder.join("settings.toml"))).unwrap_or_default();
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
    let edition = edition(&job.project, &job.home);
    on_files(job, command, &["--check", "-l", "--verbose", "--color", "never", "--edition", &edition]);
    Ok(())
}

/// The edition that the nearest `Cargo.toml` states, in it or in its workspace. Cargo's default is that of 2015.
fn edition(project: &Project, home: &Path) -> String {
    let folders = || project.up_from(home);
    let manifest = |folder: &Path| toml::from_str::<toml::Table>(&read_text(&folder.join("Cargo.toml"))).ok();
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
    let mut names: Vec<&str> = said.lines().filter(|line| line.starts_with('/')).collect();
    names.sort_unstable();
    names.dedup();
    let none = names.is_empty() && errors.is_empty();
    if code != 0 && none {
        return Err(failure(output));
    }
    let stopped = errors.first().map(|one| format!("stopped at an error elsewhere: {}:{}", one.file, one.line));
    let outcome = job.formatted(names.into_iter(), errors);
    // Nothing of files that its configuration switches it off for.
    let seen = job.count(said.lines().filter_map(|line| line.strip_prefix("Formatting ")));
    let outcome = if stopped.is_some() { outcome } else { job.looked_at(outcome, seen) };
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
    #[serde(default)]
    filenames: Vec<PathBuf>,
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
    let (mut findings, mut built) = (Vec::<Finding>::new(), Vec::<PathBuf>::new());
    for line in text(&output.stdout).lines().filter(|line| line.starts_with('{')) {
        let line: CargoLine = json(line.as_bytes())?;
        built.extend(line.filenames);
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
    let failed = findings.iter().any(|one| one.severity == Severity::Error);
    if code != 0 && !failed {
        return Err(failure(output));
    }
    let outcome = job.found_unless(findings, |one| one.severity == Severity::Error)?;
    // Where it stopped at errors, it does not say what it had looked at. The errors are what there is to know.
    Ok(if failed { outcome } else { job.looked_at(outcome, looked_at(job, &built)) })
}

/// How many of the files are part of what was built. The compiler writes down for each crate what it has read, in a file
/// beside the crate's: `a-0123.d` for `liba-0123.rmeta`.
fn looked_at(job: &Job, built: &[PathBuf]) -> usize {
    let mut read = BTreeSet::new();
    for crate_file in built.iter().filter(|file| file.extension().is_some_and(|end| end == "rmeta")) {
        let Some(stem) = crate_file.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let stem = stem.strip_prefix("lib").unwrap_or(stem);
        let rules = read_text(&crate_file.with_file_name(format!("{stem}.d")));
        // `crates/a/src/lib.rs:`, each with a rule of its own, as seen from where it was started or the workspace.
        read.extend(rules.lines().filter_map(|line| line.strip_suffix(':')).map(|name| name.replace("\\ ", " ")));
    }
    job.count(read.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    #[test]
    fn nothing_is_locked_for_the_project() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("real");
        let project = Project { root: root.clone(), trusted: true };
        let job = Job { project, tool: &CLIPPY, program: "cargo".into(), home: root.join("a"), files: Vec::new() };
        let prepared = || clippy_on(&job, &mut Command::new("cargo"));
        assert!(prepared().is_err());
        std::fs::write(root.join("Cargo.lock"), "").expect("a file");
        assert!(prepared().is_ok());
    }

    #[test]
    fn what_a_crate_was_built_of_was_looked_at() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let root = scratch.path().canonicalize().expect("real");
        let deps = root.join("target/debug/deps");
        std::fs::create_dir_all(&deps).expect("a folder");
        let rules = format!("{0}: a/src/lib.rs a/src/m\\ n.rs\n\na/src/lib.rs:\na/src/m\\ n.rs:\n", deps.display());
        std::fs::write(deps.join("a-1.d"), rules).expect("a file");
        let files = ["a/src/lib.rs", "a/src/m n.rs", "a/src/none.rs"].map(|file| root.join(file)).to_vec();
        let project = Project { root: root.clone(), trusted: true };
        let job = Job { project, tool: &CLIPPY, program: "cargo".into(), home: root.join("a"), files };
        let cases = [("liba-1.rmeta", 2), ("liba-1.rlib", 0), ("libb-1.rmeta", 0)];
        for (built, expected) in cases {
            assert_eq!(looked_at(&job, &[deps.join(built)]), expected, "{built}");
        }
    }
}
