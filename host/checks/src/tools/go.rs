//! gofmt and staticcheck.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, on_files, text};
use crate::marker::Marker::File;
use crate::process::Output;
use crate::project::read_text;
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
    command.args(["-f", "json", "--"]).args(folders.iter().map(|folder| Path::new(".").join(folder)));
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
    let outcome = job.found_unless(findings, |one| one.rule.as_deref() == Some("compile"))?;
    // It does not say what it looked at: the packages of the files, but for what is built only elsewhere.
    Ok(job.looked_at(outcome, job.files.iter().filter(|file| is_built(file)).count()))
}

/// Whether a file is part of its package wherever that is built. With a constraint, or with C, it may be or not.
fn is_built(file: &Path) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix("_test").unwrap_or(&name);
    let system = name.rsplit_once('_').is_some_and(|(_, last)| SYSTEMS.contains(&last));
    if system || name.starts_with(['_', '.']) {
        return false;
    }
    let constrains = |line: &str| {
        let line = line.trim();
        line.starts_with("//go:build") || line.starts_with("// +build") || line.ends_with("\"C\"")
    };
    !read_text(file).lines().any(constrains)
}

/// Systems and processors that a file's name can end with, as `go` knows them.
const SYSTEMS: &[&str] = &[
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "zos",
    "386",
    "amd64",
    "amd64p32",
    "arm",
    "arm64",
    "arm64be",
    "armbe",
    "loong64",
    "mips",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "mipsle",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "sparc",
    "sparc64",
    "wasm",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_built_only_elsewhere_is_known() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let cases = [
            ("a.go", "package a\n", true),
            ("a_test.go", "package a\n", true),
            ("a_b.go", "package a\n\nimport \"fmt\"\n", true),
            ("linux.go", "package a\n", true),
            ("a_windows.go", "package a\n", false),
            ("a_linux_arm64.go", "package a\n", false),
            ("a_plan9_test.go", "package a\n", false),
            ("_a.go", "package a\n", false),
            ("b.go", "//go:build ignore\n\npackage a\n", false),
            ("c.go", "// +build windows\n\npackage a\n", false),
            ("d.go", "package a\n\nimport \"C\"\n", false),
        ];
        for (name, content, expected) in cases {
            let file = scratch.path().join(name);
            std::fs::write(&file, content).expect("a file");
            assert_eq!(is_built(&file), expected, "{name}");
        }
    }
}
