//! gofmt and staticcheck.

use std::collections::BTreeSet;

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, on_files, text};
use crate::detect::Marker::File;
use crate::process::Output;
use crate::report::{Outcome, Severity};

pub(super) static GOFMT: Tool = Tool {
    name: "gofmt",
    kind: Kind::Formatter,
    suffixes: &[".go"],
    configured: &[],
    usual: &[],
    program: "gofmt",
    untrusted: Untrusted::Runs,
    prepare: |job, command| {
        on_files(job, command, &["-l"]);
        Ok(())
    },
    read: gofmt,
};

pub(super) static STATICCHECK: Tool = Tool {
    name: "staticcheck",
    kind: Kind::Linter,
    suffixes: &[".go"],
    configured: &[File("staticcheck.conf")],
    usual: &[File("go.mod")],
    program: "staticcheck",
    untrusted: Untrusted::Runs,
    prepare: staticcheck_on,
    read: staticcheck,
};

fn gofmt(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 2])?;
    let errors: Vec<Finding> = text(&output.stderr).lines().filter_map(placed).collect();
    let outcome = job.formatted(text(&output.stdout).lines(), errors);
    if code != 0 && outcome.problems.is_empty() {
        return Err(failure(output));
    }
    Ok(outcome)
}

/// `/p/a.go:1:2: expected declaration, found x`
pub(super) fn placed(line: &str) -> Option<Finding> {
    let (place, message) = line.split_once(": ")?;
    let (place, column) = place.rsplit_once(':')?;
    let (file, line) = place.rsplit_once(':')?;
    Some(Finding {
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        severity: Severity::Error,
        message: message.to_owned(),
        rule: None,
    })
}

fn staticcheck_on(job: &Job, command: &mut Command) -> Result<(), String> {
    // It has to be started in the module. What `go` would do there beyond compiling is switched off: fetching a toolchain
    // or modules, changing go.mod, asking git for build stamps, and running a C compiler with the module's flags.
    command.current_dir(&job.home).env("GOTOOLCHAIN", "local").env("GOPROXY", "off");
    command.env("GOFLAGS", "-mod=readonly -buildvcs=false");
    if !job.project.trusted {
        command.env("CGO_ENABLED", "0").env("GOENV", "off");
    }
    let folders: BTreeSet<_> =
        job.files.iter().filter_map(|file| file.parent()?.strip_prefix(&job.home).ok()).collect();
    command.args(["-f", "json", "--"]).args(folders.iter().map(|folder| std::path::Path::new(".").join(folder)));
    Ok(())
}

#[derive(Deserialize)]
struct Staticcheck {
    code: String,
    severity: String,
    location: StaticcheckPlace,
    message: String,
}

#[derive(Deserialize)]
struct StaticcheckPlace {
    file: String,
    line: u32,
    column: u32,
}

fn staticcheck(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1])?;
    let mut findings = Vec::new();
    for line in text(&output.stdout).lines().filter(|line| !line.is_empty()) {
        let one: Staticcheck = json(line.as_bytes())?;
        findings.push(Finding {
            file: one.location.file,
            line: one.location.line,
            column: one.location.column,
            severity: if one.severity == "error" { Severity::Error } else { Severity::Warning },
            message: one.message,
            rule: Some(one.code),
        });
    }
    if code != 0 && findings.is_empty() {
        return Err(failure(output));
    }
    job.found_unless(findings, |one| one.rule.as_deref() == Some("compile"))
}
