//! shellcheck and shfmt.

use serde::Deserialize;

use super::go::placed;
use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, on_files, text};
use crate::marker::Marker::File;
use crate::process::Output;
use crate::report::{Outcome, Severity};

pub(super) static SHELLCHECK: Tool = Tool {
    name: "shellcheck",
    kind: Kind::Linter,
    suffixes: &[".sh", ".bash", ".ksh", ".dash"],
    configured: &[],
    usual: &[],
    program: "shellcheck",
    untrusted: Untrusted::Runs,
    prepare: |job, command| {
        on_files(job, command, &["--format=json1", "--color=never"]);
        Ok(())
    },
    read: shellcheck,
};

/// Without a configuration it wants tabs, which few do. So it is used only where there may be one.
pub(super) static SHFMT: Tool = Tool {
    name: "shfmt",
    kind: Kind::Formatter,
    suffixes: &[".sh", ".bash"],
    configured: &[],
    usual: &[File(".editorconfig")],
    program: "shfmt",
    untrusted: Untrusted::Runs,
    prepare: |job, command| {
        on_files(job, command, &["-l"]);
        Ok(())
    },
    read: shfmt,
};

#[derive(Deserialize)]
struct Shellcheck {
    comments: Vec<ShellcheckComment>,
}

#[derive(Deserialize)]
struct ShellcheckComment {
    file: String,
    line: u32,
    column: u32,
    level: String,
    code: u32,
    message: String,
}

fn shellcheck(job: &Job, output: &Output) -> Result<Outcome, String> {
    ended(output, &[0, 1])?;
    let said: Shellcheck = json(&output.stdout)?;
    let findings = said.comments.into_iter().map(|one| Finding {
        file: one.file,
        line: one.line,
        column: one.column,
        severity: match one.level.as_str() {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Info,
        },
        message: one.message,
        rule: Some(format!("SC{}", one.code)),
    });
    Ok(job.found(findings.collect()))
}

fn shfmt(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1])?;
    let errors: Vec<Finding> = text(&output.stderr).lines().filter_map(placed).collect();
    let outcome = job.formatted(text(&output.stdout).lines(), errors);
    if code != 0 && outcome.unformatted.is_empty() && outcome.problems.is_empty() {
        return Err(failure(output));
    }
    Ok(outcome)
}
