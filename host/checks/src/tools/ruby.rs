//! rubocop.

use serde::Deserialize;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, json, on_files};
use crate::marker::Marker::{File, Mention};
use crate::process::Output;
use crate::report::{Outcome, Severity};

pub(super) static RUBOCOP: Tool = Tool {
    name: "rubocop",
    kind: Kind::Linter,
    suffixes: &[".rb", ".rake", ".gemspec", "gemfile", "rakefile"],
    configured: &[File(".rubocop.yml"), Mention("Gemfile", "rubocop")],
    usual: &[],
    program: "rubocop",
    untrusted: Untrusted::Skipped,
    prepare: |job, command| {
        on_files(job, command, &["--format", "json", "--force-exclusion", "--cache", "false"]);
        Ok(())
    },
    read,
};

#[derive(Deserialize)]
struct Rubocop {
    files: Vec<RubocopFile>,
}

#[derive(Deserialize)]
struct RubocopFile {
    path: String,
    offenses: Vec<Offense>,
}

#[derive(Deserialize)]
struct Offense {
    severity: String,
    message: String,
    cop_name: String,
    location: Location,
}

#[derive(Deserialize)]
struct Location {
    line: u32,
    column: u32,
}

fn read(job: &Job, output: &Output) -> Result<Outcome, String> {
    ended(output, &[0, 1])?;
    let said: Rubocop = json(&output.stdout)?;
    let seen: Vec<String> = said.files.iter().map(|file| file.path.clone()).collect();
    let findings = said.files.into_iter().flat_map(|file| {
        file.offenses.into_iter().map(move |one| Finding {
            file: file.path.clone(),
            line: one.location.line,
            column: one.location.column,
            severity: match one.severity.as_str() {
                "error" | "fatal" => Severity::Error,
                "warning" => Severity::Warning,
                _ => Severity::Info,
            },
            message: one.message,
            rule: Some(one.cop_name),
        })
    });
    Ok(job.looked_at(job.found(findings.collect()), job.count(seen.iter().map(String::as_str))))
}
