//! The TypeScript compiler.

use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, text};
use crate::cache;
use crate::marker::Marker::File;
use crate::process::Output;
use crate::report::{Outcome, Severity};

pub(super) static TSC: Tool = Tool {
    name: "tsc",
    kind: Kind::Types,
    suffixes: &[".ts", ".tsx", ".mts", ".cts"],
    configured: &[File("tsconfig.json")],
    usual: &[],
    program: "tsc",
    untrusted: Untrusted::Runs,
    prepare,
    read,
};

fn prepare(job: &Job, command: &mut Command) -> Result<(), String> {
    let config = job.home.join("tsconfig.json");
    // A trace that tsconfig.json asks for would be written into the project.
    command.args(["--noEmit", "--pretty", "false", "--listFiles", "--generateTrace", "null"]);
    if let Some(kept) = cache::place("tsc", &config) {
        command.args(["--incremental", "--tsBuildInfoFile"]).arg(kept.join("tsbuildinfo"));
    }
    command.arg("-p").arg(config);
    Ok(())
}

fn read(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1, 2])?;
    let said = text(&output.stdout);
    let findings: Vec<Finding> = said.lines().filter_map(finding).collect();
    let about = |finding: &&Finding| finding.file.is_empty() || finding.file.ends_with("tsconfig.json");
    if let Some(finding) = findings.iter().find(about) {
        return Err(format!("{}: {}", finding.rule.as_deref().unwrap_or("tsconfig.json"), finding.message));
    }
    if code != 0 && findings.is_empty() {
        return Err(failure(output));
    }
    // It lists what it looked at. A file that no configuration includes has not been checked.
    let (seen, unseen): (Vec<_>, Vec<_>) =
        job.files.iter().cloned().partition(|file| said.lines().any(|line| std::path::Path::new(line) == file));
    let seen = Job { files: seen, ..job.clone() };
    if seen.files.is_empty() {
        return Ok(Outcome::skipped("tsc: tsconfig.json does not include the files"));
    }
    // With an error of syntax anywhere it does not look at types. Those have numbers from 1000 to 1999.
    let syntax = |one: &Finding| one.rule.as_ref().is_some_and(|rule| rule.len() == 6 && rule.starts_with("TS1"));
    let only_syntax = findings.iter().all(syntax);
    let mut outcome = seen.found_unless(findings, |_| only_syntax)?;
    if !unseen.is_empty() {
        outcome.notes.push(format!("tsc: tsconfig.json does not include {} of the files", unseen.len()));
    }
    Ok(outcome)
}

/// `src/a.ts(2,5): error TS2322: Type ...`, or without a file `error TS18003: No inputs ...`.
fn finding(line: &str) -> Option<Finding> {
    let (start, message) = match line.strip_prefix("error TS") {
        Some(rest) => ("", rest),
        None => line.split_once(": error TS")?,
    };
    let (number, message) = message.split_once(": ")?;
    let (file, place) = start.strip_suffix(')').and_then(|start| start.rsplit_once('(')).unwrap_or_default();
    let (line, column) = place.split_once(',').unwrap_or_default();
    Some(Finding {
        file: file.to_owned(),
        line: line.parse().unwrap_or(0),
        column: column.parse().unwrap_or(0),
        severity: Severity::Error,
        message: message.to_owned(),
        rule: Some(format!("TS{number}")),
    })
}
