//! prettier. What it finds is in two streams: names of files on the one, syntax errors on the other.

use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, on_files, text};
use crate::marker::Marker::{Dependency, File, PackageKey, Start};
use crate::process::Output;
use crate::report::{Outcome, Severity};

pub(super) static PRETTIER: Tool = Tool {
    name: "prettier",
    kind: Kind::Formatter,
    suffixes: &[
        ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".json", ".jsonc", ".json5", ".css", ".scss",
        ".less", ".html", ".vue", ".yaml", ".yml", ".md", ".mdx", ".graphql", ".gql", ".hbs",
    ],
    configured: &[Start(".prettierrc"), Start("prettier.config."), PackageKey("prettier"), Dependency("prettier")],
    usual: &[],
    program: "prettier",
    untrusted: Untrusted::Bare(&[File(".editorconfig")]),
    prepare,
    read,
};

fn prepare(job: &Job, command: &mut Command) -> Result<(), String> {
    if !job.project.trusted {
        command.args(["--no-config", "--no-editorconfig"]);
    }
    // It looks for these where it is started only.
    for ignore in job
        .project
        .up_from(&job.home)
        .flat_map(|folder| [".prettierignore", ".gitignore"].map(|name| folder.join(name)))
    {
        if ignore.is_file() {
            command.arg("--ignore-path").arg(ignore);
        }
    }
    on_files(job, command, &["--list-different", "--no-color", "--ignore-unknown", "--log-level", "debug"]);
    Ok(())
}

fn read(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1, 2])?;
    let errors: Vec<Finding> = text(&output.stderr).lines().filter_map(syntax_error).collect();
    let outcome = job.formatted(text(&output.stdout).lines(), errors);
    // Once for each file that it does not ignore.
    let seen = text(&output.stderr).matches("[debug] applied config-precedence").count();
    let outcome = job.looked_at(outcome, seen);
    match code {
        0 => Ok(outcome),
        1 if !outcome.unformatted.is_empty() => Ok(outcome),
        2 if !outcome.problems.is_empty() => Ok(outcome),
        _ => Err(failure(output)),
    }
}

/// `[error] src/a.ts: SyntaxError: Expression expected. (1:18)`
fn syntax_error(line: &str) -> Option<Finding> {
    let (file, message) = line.strip_prefix("[error] ")?.split_once(": SyntaxError: ")?;
    let (message, place) = message.rsplit_once(" (").unwrap_or((message, ""));
    let (line, column) = place.trim_end_matches(')').split_once(':').unwrap_or_default();
    Some(Finding {
        file: file.to_owned(),
        line: line.parse().unwrap_or(0),
        column: column.parse().unwrap_or(0),
        severity: Severity::Error,
        message: message.to_owned(),
        rule: None,
    })
}
