//! Linters for JavaScript, TypeScript and style sheets, and biome's formatter. All of them speak JSON.

use serde::Deserialize;
use tokio::process::Command;

use super::{Finding, Job, Kind, Tool, Untrusted, ended, failure, json, on_files, on_paths};
use crate::marker::Marker::{Dependency, File, PackageKey, Start};
use crate::process::Output;
use crate::report::{Outcome, Severity, Status};

pub(super) static ESLINT: Tool = Tool {
    name: "eslint",
    kind: Kind::Linter,
    suffixes: &[".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".astro"],
    configured: &[Start("eslint.config."), Start(".eslintrc"), PackageKey("eslintConfig")],
    usual: &[],
    program: "eslint",
    untrusted: Untrusted::Skipped,
    prepare: |job, command| {
        on_files(job, command, &["--format", "json", "--no-error-on-unmatched-pattern"]);
        Ok(())
    },
    read: eslint,
};

pub(super) static STYLELINT: Tool = Tool {
    name: "stylelint",
    kind: Kind::Linter,
    suffixes: &[".css", ".scss", ".sass", ".less"],
    configured: &[Start(".stylelintrc"), Start("stylelint.config."), PackageKey("stylelint")],
    usual: &[],
    program: "stylelint",
    untrusted: Untrusted::Skipped,
    prepare: |job, command| {
        on_files(job, command, &["--formatter", "json", "--allow-empty-input"]);
        Ok(())
    },
    read: stylelint,
};

pub(super) static BIOME: Tool = Tool {
    name: "biome",
    kind: Kind::Linter,
    suffixes: &[
        ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".json", ".jsonc", ".css", ".graphql", ".gql",
        ".vue", ".svelte", ".astro",
    ],
    configured: &[File("biome.json"), File("biome.jsonc"), Dependency("@biomejs/biome")],
    usual: &[],
    program: "biome",
    untrusted: Untrusted::Runs,
    prepare: |job, command| biome_on(job, command, "lint"),
    read: biome,
};

pub(super) static BIOME_FORMAT: Tool =
    Tool { kind: Kind::Formatter, prepare: |job, command| biome_on(job, command, "format"), ..BIOME };

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EslintFile {
    file_path: String,
    messages: Vec<EslintMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EslintMessage {
    rule_id: Option<String>,
    severity: u8,
    message: String,
    line: Option<u32>,
    column: Option<u32>,
}

fn eslint(job: &Job, output: &Output) -> Result<Outcome, String> {
    ended(output, &[0, 1])?;
    // A file that the project ignores is no finding, and was not looked at.
    let ignored = |one: &EslintMessage| one.rule_id.is_none() && one.message.starts_with("File ignored");
    let mut files: Vec<EslintFile> = json(&output.stdout)?;
    files.retain(|file| !file.messages.iter().any(ignored));
    let seen = job.count(files.iter().map(|file| file.file_path.as_str()));
    let findings = files.into_iter().flat_map(|file| {
        file.messages.into_iter().map(move |one| Finding {
            file: file.file_path.clone(),
            line: one.line.unwrap_or(0),
            column: one.column.unwrap_or(0),
            severity: if one.severity >= 2 { Severity::Error } else { Severity::Warning },
            message: one.message,
            rule: one.rule_id,
        })
    });
    Ok(job.looked_at(job.found(findings.collect()), seen))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StylelintFile {
    source: Option<String>,
    #[serde(default)]
    ignored: bool,
    #[serde(default)]
    warnings: Vec<StylelintWarning>,
    #[serde(default)]
    parse_errors: Vec<StylelintWarning>,
    #[serde(default)]
    invalid_option_warnings: Vec<StylelintOption>,
}

#[derive(Deserialize)]
struct StylelintWarning {
    line: Option<u32>,
    column: Option<u32>,
    rule: Option<String>,
    severity: Option<String>,
    text: String,
}

#[derive(Deserialize)]
struct StylelintOption {
    text: String,
}

fn stylelint(job: &Job, output: &Output) -> Result<Outcome, String> {
    ended(output, &[0, 2])?;
    // Since version 16 the report is on the standard error.
    let said = if output.stdout.trim_ascii().is_empty() { &output.stderr } else { &output.stdout };
    let files: Vec<StylelintFile> = json(said)?;
    if let Some(option) = files.iter().find_map(|file| file.invalid_option_warnings.first()) {
        return Err(option.text.clone());
    }
    let seen = files.iter().filter(|file| !file.ignored).filter_map(|file| file.source.as_deref());
    let seen = job.count(seen);
    let findings = files.into_iter().flat_map(|file| {
        let source = file.source.unwrap_or_default();
        file.warnings.into_iter().chain(file.parse_errors).map(move |one| {
            let rule = one.rule;
            let message = rule.as_ref().and_then(|rule| one.text.strip_suffix(&format!(" ({rule})")));
            Finding {
                file: source.clone(),
                line: one.line.unwrap_or(0),
                column: one.column.unwrap_or(0),
                severity: match one.severity.as_deref() {
                    Some("warning") => Severity::Warning,
                    _ => Severity::Error,
                },
                message: message.unwrap_or(&one.text).to_owned(),
                rule,
            }
        })
    });
    Ok(job.looked_at(job.found(findings.collect()), seen))
}

fn biome_on(job: &Job, command: &mut Command, what: &str) -> Result<(), String> {
    let arguments = ["--reporter=json", "--colors=off", "--no-errors-on-unmatched", "--max-diagnostics=500"];
    command.arg(what).args(arguments);
    // Its configuration has to be where it is started or above.
    command.current_dir(&job.home);
    on_paths(job, command, &[]);
    Ok(())
}

#[derive(Deserialize)]
struct Biome {
    summary: BiomeSummary,
    diagnostics: Vec<BiomeDiagnostic>,
}

#[derive(Deserialize)]
struct BiomeSummary {
    changed: usize,
    unchanged: usize,
}

#[derive(Deserialize)]
struct BiomeDiagnostic {
    severity: String,
    message: String,
    category: Option<String>,
    location: Option<BiomeLocation>,
}

#[derive(Deserialize)]
struct BiomeLocation {
    path: Option<String>,
    start: Option<BiomePlace>,
}

#[derive(Deserialize)]
struct BiomePlace {
    line: u32,
    column: u32,
}

fn biome(job: &Job, output: &Output) -> Result<Outcome, String> {
    let code = ended(output, &[0, 1])?;
    if output.stdout.trim_ascii().is_empty() {
        // It had no file to look at, or could not begin.
        return if code == 0 { Ok(job.looked_at(job.found(Vec::new()), 0)) } else { Err(failure(output)) };
    }
    let said: Biome = json(&output.stdout)?;
    let (mut unformatted, mut findings) = (Vec::new(), Vec::new());
    for one in said.diagnostics {
        let location = one.location.unwrap_or(BiomeLocation { path: None, start: None });
        let file = location.path.unwrap_or_default();
        match one.category.as_deref() {
            Some("format") if one.message.starts_with("Formatter would have printed") => unformatted.push(file),
            // It says a second time that what does not parse cannot be formatted.
            Some("format") => {}
            category => findings.push(Finding {
                file,
                line: location.start.as_ref().map_or(0, |place| place.line),
                column: location.start.as_ref().map_or(0, |place| place.column),
                severity: match one.severity.as_str() {
                    "fatal" | "error" => Severity::Error,
                    "warning" => Severity::Warning,
                    _ => Severity::Info,
                },
                message: one.message,
                rule: category.map(|name| name.strip_prefix("lint/").unwrap_or(name).to_owned()),
            }),
        }
    }
    let none = findings.is_empty() && unformatted.is_empty();
    let outcome = job.formatted(unformatted.iter().map(String::as_str), findings);
    let outcome = job.looked_at(outcome, said.summary.changed + said.summary.unchanged);
    if code != 0 && (none || outcome.status == Status::Clean) {
        return Err(failure(output));
    }
    Ok(outcome)
}
