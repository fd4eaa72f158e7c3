//! Formatters and linters for Python.

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, number_before, on_files, text};
use crate::cache;
use crate::marker::Marker::{File, Mention, Section};
use crate::process::Output;
use crate::report::{Outcome, Severity};

const SUFFIXES: &[&str] = &[".py", ".pyi"];

pub(super) static RUFF: Tool = Tool {
    name: "ruff",
    kind: Kind::Linter,
    suffixes: &[".py", ".pyi", ".ipynb"],
    configured: &[File("ruff.toml"), File(".ruff.toml"), Section("pyproject.toml", "tool.ruff")],
    usual: &[],
    program: "ruff",
    untrusted: Untrusted::Runs,
    prepare: |job, command| {
        let arguments = ["check", "--output-format", "json", "--no-cache", "--no-fix", "--force-exclude", "--verbose"];
        on_files(job, command, &arguments);
        Ok(())
    },
    read: ruff,
};

/// Many projects lint with ruff and format with something else. So it is used only where that is said.
pub(super) static RUFF_FORMAT: Tool = Tool {
    kind: Kind::Formatter,
    configured: &[
        Section("pyproject.toml", "tool.ruff.format"),
        Section("ruff.toml", "format"),
        Section(".ruff.toml", "format"),
        Mention(".pre-commit-config.yaml", "ruff-format"),
    ],
    prepare: |job, command| {
        let arguments = ["format", "--check", "--output-format", "json", "--no-cache", "--force-exclude", "--verbose"];
        on_files(job, command, &arguments);
        Ok(())
    },
    ..RUFF
};

pub(super) static BLACK: Tool = Tool {
    name: "black",
    kind: Kind::Formatter,
    suffixes: SUFFIXES,
    configured: &[
        Section("pyproject.toml", "tool.black"),
        Mention(".pre-commit-config.yaml", "psf/black"),
        Mention(".pre-commit-config.yaml", "id: black"),
    ],
    usual: &[],
    program: "black",
    untrusted: Untrusted::Runs,
    prepare: |job, command| {
        on_files(job, command, &["--check", "--no-color", "--workers=1"]);
        Ok(())
    },
    read: black,
};

pub(super) static FLAKE8: Tool = Tool {
    name: "flake8",
    kind: Kind::Linter,
    suffixes: SUFFIXES,
    configured: &[File(".flake8"), Section("setup.cfg", "flake8"), Section("tox.ini", "flake8")],
    usual: &[],
    program: "flake8",
    untrusted: Untrusted::Skipped,
    prepare: |job, command| {
        let format = "--format=%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s";
        on_files(job, command, &[format, "--color=never", "--no-show-source", "--benchmark"]);
        Ok(())
    },
    read: flake8,
};

pub(super) static PYLINT: Tool = Tool {
    name: "pylint",
    kind: Kind::Linter,
    suffixes: SUFFIXES,
    configured: &[
        File(".pylintrc"),
        File("pylintrc"),
        File(".pylintrc.toml"),
        File("pylintrc.toml"),
        Section("pyproject.toml", "tool.pylint"),
        Section("setup.cfg", "pylint"),
        Section("tox.ini", "pylint"),
    ],
    usual: &[],
    program: "pylint",
    untrusted: Untrusted::Skipped,
    prepare: |job, command| {
        on_files(job, command, &["--output-format=json", "--score=n", "--persistent=n", "--verbose"]);
        Ok(())
    },
    read: pylint,
};

pub(super) static MYPY: Tool = Tool {
    name: "mypy",
    kind: Kind::Linter,
    suffixes: SUFFIXES,
    configured: &[
        File("mypy.ini"),
        File(".mypy.ini"),
        Section("pyproject.toml", "tool.mypy"),
        Section("setup.cfg", "mypy"),
    ],
    usual: &[],
    program: "mypy",
    untrusted: Untrusted::Skipped,
    prepare: mypy_on,
    read: mypy,
};

#[derive(Deserialize)]
struct RuffFinding {
    code: Option<String>,
    filename: String,
    location: Option<RuffPlace>,
    message: String,
}

#[derive(Deserialize)]
struct RuffPlace {
    row: u32,
    column: u32,
}

fn ruff(job: &Job, output: &Output) -> Result<Outcome, String> {
    // A formatter that meets a syntax error ends with 2, like one that fails.
    let code = ended(output, &[0, 1, 2])?;
    if code == 2 && output.stdout.trim_ascii().is_empty() {
        return Err(failure(output));
    }
    // Its formatter says nothing else where everything is excluded.
    if code == 0 && output.stdout.is_empty() && text(&output.stderr).contains("No Python files found") {
        return Ok(job.looked_at(job.found(Vec::new()), 0));
    }
    let said: Vec<RuffFinding> = json(&output.stdout)?;
    let (unformatted, findings): (Vec<_>, Vec<_>) =
        said.into_iter().partition(|one| one.code.as_deref() == Some("unformatted"));
    let findings = findings.into_iter().map(|one| Finding {
        file: one.filename,
        line: one.location.as_ref().map_or(0, |place| place.row),
        column: one.location.as_ref().map_or(0, |place| place.column),
        severity: Severity::Error,
        message: one.message,
        rule: Some(one.code.unwrap_or_else(|| "invalid-syntax".to_owned())),
    });
    let outcome = job.formatted(unformatted.iter().map(|one| one.filename.as_str()), findings.collect());
    // `Checked 2 files in: 1ms`, and of the formatter `Formatted 2 files in 1ms`.
    let seen = number_before(&text(&output.stderr), " files in").unwrap_or(0);
    Ok(job.looked_at(outcome, seen))
}

fn black(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1, 123])?;
    let said = text(&output.stderr);
    let errors: Vec<Finding> = said.lines().filter_map(black_error).collect();
    let outcome = job.formatted(said.lines().filter_map(|line| line.strip_prefix("would reformat ")), errors);
    // `1 file would be reformatted, 2 files would be left unchanged, 1 file would fail to reformat.`
    let counts = said.lines().last().unwrap_or_default().split(", ");
    let seen = counts.filter_map(|count| number_before(count, " file")).sum();
    let outcome = job.looked_at(outcome, seen);
    match code {
        0 => Ok(outcome),
        1 if !outcome.unformatted.is_empty() => Ok(outcome),
        123 if !outcome.problems.is_empty() => Ok(outcome),
        _ => Err(failure(output)),
    }
}

/// `error: cannot parse: /p/a.py:1:6`, or before version 26 `error: cannot format /p/a.py: Cannot parse: 1:6: def f(:`.
fn black_error(line: &str) -> Option<Finding> {
    let (file, place) = match line.strip_prefix("error: cannot parse: ") {
        Some(rest) => {
            let (rest, column) = rest.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            (file, (line.parse().ok(), column.parse().ok()))
        }
        None => {
            let (file, why) = line.strip_prefix("error: cannot format ")?.split_once(": Cannot parse")?;
            let place = why.split_once(": ").map_or("", |(_, place)| place);
            let mut numbers = place.split(':').map(|number| number.trim().parse().ok());
            (file, (numbers.next().flatten(), numbers.next().flatten()))
        }
    };
    Some(Finding {
        file: file.to_owned(),
        line: place.0.unwrap_or(0),
        column: place.1.unwrap_or(0),
        severity: Severity::Error,
        message: "cannot be parsed".to_owned(),
        rule: None,
    })
}

fn flake8(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1])?;
    let findings: Vec<Finding> = text(&output.stdout).lines().filter_map(flake8_line).collect();
    // It ends with 1 when it crashes, too.
    if code == 1 && findings.is_empty() {
        return Err(failure(output));
    }
    let seen = number_before(&text(&output.stdout), " total files processed").unwrap_or(0);
    Ok(job.looked_at(job.found(findings), seen))
}

fn flake8_line(line: &str) -> Option<Finding> {
    let mut parts = line.splitn(5, '\t');
    let (file, row, column, code, message) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(Finding {
        file: file.to_owned(),
        line: row.parse().ok()?,
        column: column.parse().ok()?,
        severity: if code.starts_with(['E', 'F']) { Severity::Error } else { Severity::Warning },
        message: message.to_owned(),
        rule: Some(code.to_owned()),
    })
}

#[derive(Deserialize)]
struct PylintMessage {
    #[serde(rename = "type")]
    kind: String,
    symbol: String,
    message: String,
    path: String,
    line: Option<u32>,
    column: Option<u32>,
}

fn pylint(job: &Job, output: &Output) -> Result<Outcome, String> {
    /// Bits of its exit code for kinds of messages. 32 is for wrong usage.
    const MESSAGES: i32 = 31;
    match output.status.code() {
        Some(code) if code & !MESSAGES == 0 => {}
        _ => return Err(failure(output)),
    }
    // Before the messages it says what it looks at: `/p/a.py (1 of 2)`.
    let said = text(&output.stdout);
    let start = said.match_indices('[').map(|(at, _)| at).find(|at| *at == 0 || said.get(at - 1..*at) == Some("\n"));
    let (looked, messages) = said.split_at(start.unwrap_or(0));
    let seen = job.count(looked.lines().filter_map(|line| line.rsplit_once(" (").map(|(name, _)| name)));
    let messages: Vec<PylintMessage> = json(messages.as_bytes())?;
    if let Some(fatal) = messages.iter().find(|one| one.kind == "fatal") {
        return Err(fatal.message.clone());
    }
    let findings = messages.into_iter().map(|one| Finding {
        file: one.path,
        line: one.line.unwrap_or(0),
        column: one.column.unwrap_or(0).saturating_add(1),
        severity: match one.kind.as_str() {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Info,
        },
        message: one.message,
        rule: Some(one.symbol),
    });
    Ok(job.looked_at(job.found(findings.collect()), seen))
}

fn mypy_on(job: &Job, command: &mut Command) -> Result<(), String> {
    command.arg("--cache-dir").arg(cache::place("mypy", &job.home).unwrap_or_else(|| "/dev/null".into()));
    on_files(job, command, &["--output", "json", "--no-error-summary", "--no-pretty"]);
    Ok(())
}

#[derive(Deserialize)]
struct MypyMessage {
    file: String,
    line: i64,
    column: i64,
    message: String,
    code: Option<String>,
    severity: String,
}

fn mypy(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1, 2])?;
    let mut findings = Vec::new();
    for line in text(&output.stdout).lines().filter(|line| line.starts_with('{')) {
        let one: MypyMessage = json(line.as_bytes())?;
        // Columns are counted from 0, but for those of syntax errors.
        let first = if one.code.as_deref() == Some("syntax") { 0 } else { 1 };
        findings.push(Finding {
            file: one.file,
            line: u32::try_from(one.line).unwrap_or(0),
            column: u32::try_from(one.column + first).unwrap_or(0),
            severity: if one.severity == "error" { Severity::Error } else { Severity::Info },
            message: one.message,
            rule: one.code,
        });
    }
    if code != 0 && findings.is_empty() {
        return Err(failure(output));
    }
    // It ends with 2 when it stopped at an error, without a look at the types.
    job.found_unless(findings, |_| code == 2)
}
