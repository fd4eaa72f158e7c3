//! `toolgate check --script`: the verdict on a whole file, with every finding where it stands.

use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_host::{Action, Evidence, Finding, ToolCall, Verdict, plain};

use crate::code_excerpt::Lines;
use crate::columns::count;
use crate::output;
use crate::output::DIM;
use crate::project_gates::Gates;

/// Longest script, in bytes: what the component takes.
const MAX_SCRIPT_BYTES: u64 = 3 << 20;

/// The text of a file; `-` is standard input.
fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        let code = match error.kind() {
            ErrorKind::NotFound => exit::NO_INPUT,
            ErrorKind::IsADirectory => exit::DATA,
            _ => exit::IO,
        };
        Failure::new(code, format!("{}: {error}", path.display()))
    };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_SCRIPT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        std::fs::File::open(path)
            .map_err(failed)?
            .take(MAX_SCRIPT_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    }
    if bytes.len() as u64 > MAX_SCRIPT_BYTES {
        return Err(Failure::new(
            exit::DATA,
            format!("{} is longer than {} MiB", path.display(), MAX_SCRIPT_BYTES >> 20),
        ));
    }
    String::from_utf8(bytes)
        .map_err(|error| Failure::new(exit::DATA, format!("{} is not UTF-8 text: {error}", path.display())))
}

/// The program that a script says is to run it, if that is no shell of the kind that is read here.
fn other_language(text: &str) -> Option<&str> {
    let words = text.strip_prefix("#!")?.lines().next()?;
    let mut words = words.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-'))?;
    // Those whose files the guest's shell engine reads (`interpreter/nested/scripts.rs` there), which the host knows
    // nothing of.
    let shells = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "busybox"];
    (!shells.contains(&program)).then_some(program)
}

/// A finding on one line of the text.
struct At<'a> {
    finding: &'a Finding,
    spans: Vec<Range<usize>>,
}

/// Judges the file's text as one text.
pub(crate) async fn run(path: &Path, cwd: &str, json: bool, gates: &mut Gates<'_>) -> Result<ExitCode, Failure> {
    let text = read(path)?;
    if let Some(program) = other_language(&text) {
        output::complain(&format!(
            "{} is for {program}, which is not a shell; the following findings are unreliable",
            path.display()
        ));
    }
    let call = ToolCall::shell(&text, cwd).with_home(dirs::home()).with_workspace_root(dirs::root_of(cwd));
    let verdict = gates.judge(&call).await?;
    let lines = Lines::new(&text);
    let (placed, elsewhere) = apart(&verdict, text.len(), &lines);
    let (name, code) = output::decision(&verdict.decision);
    let mut out = anstream::stdout();
    let written = if json {
        writeln!(out, "{}", answer(path, name, &verdict, &lines))
    } else {
        table(&mut out, path, name, &lines, &placed, &elsewhere)
    };
    output::told(written)?;
    Ok(ExitCode::from(code))
}

/// The findings with a place in the text, the worst first and then as they stand; and the others.
fn apart<'a>(verdict: &'a Verdict, length: usize, lines: &Lines<'_>) -> (Vec<At<'a>>, Vec<&'a Finding>) {
    let (mut placed, mut elsewhere) = (Vec::new(), Vec::new());
    for finding in &verdict.findings {
        let mut spans: Vec<Range<usize>> = finding.evidence.iter().filter_map(|one| span(one, length)).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        if spans.is_empty() {
            elsewhere.push(finding);
        }
        let same_line = |a: &Range<usize>, b: &Range<usize>| lines.position(a.start).0 == lines.position(b.start).0;
        placed.extend(spans.chunk_by(same_line).map(|spans| At { finding, spans: spans.to_vec() }));
    }
    let start = |at: &At<'_>| at.spans.first().map_or(0, |span| span.start);
    placed.sort_by_key(|at| (weight(at.finding), start(at)));
    (placed, elsewhere)
}

fn span(one: &Evidence, length: usize) -> Option<Range<usize>> {
    let range = one.start as usize..one.end as usize;
    (one.field == "command" && range.start < range.end && range.end <= length).then_some(range)
}

fn weight(finding: &Finding) -> u8 {
    match finding.action {
        Action::Block => 0,
        Action::Rewrite => 1,
        Action::Ask => 2,
        Action::Note => 3,
    }
}

fn table(
    out: &mut impl Write,
    path: &Path,
    name: &str,
    lines: &Lines<'_>,
    placed: &[At<'_>],
    elsewhere: &[&Finding],
) -> std::io::Result<()> {
    let file = plain(&path.display().to_string());
    for (index, At { finding, spans }) in placed.iter().enumerate() {
        let (line, column) = lines.position(spans.first().map_or(0, |span| span.start));
        let action = output::action(&finding.action);
        let style = output::style(action);
        let (rule, reason) = (plain(&finding.rule), plain(&finding.reason));
        writeln!(out, "{file}:{line}:{column}: {style}{action}{style:#} {style}{rule}{style:#}  {reason}")?;
        // Several rules on the same words: those are shown once, below the last.
        let again = placed.get(index + 1).is_some_and(|next| next.spans == *spans);
        if !again {
            lines.show_only(out, spans, style)?;
        }
    }
    for finding in elsewhere {
        let action = output::action(&finding.action);
        let style = output::style(action);
        writeln!(
            out,
            "{file}: {style}{action}{style:#} {style}{}{style:#}  {}",
            plain(&finding.rule),
            plain(&finding.reason)
        )?;
        for one in &finding.evidence {
            writeln!(out, "       {DIM}{}:{DIM:#} {}", plain(&one.field), output::cut(&one.text))?;
        }
    }
    let style = output::style(name);
    let findings = count(placed.len() + elsewhere.len(), "finding");
    writeln!(out, "{style}{name}{style:#}  {file}, {}: {findings}", count(lines.len(), "line"))
}

fn answer(path: &Path, name: &str, verdict: &Verdict, lines: &Lines<'_>) -> Value {
    let findings = verdict.findings.iter().map(|finding| {
        let evidence = finding.evidence.iter().map(|one| {
            let (line, column) = match one.field.as_str() {
                "command" => Some(lines.position(one.start as usize)).unzip(),
                _ => (None, None),
            };
            json!({
                "field": one.field, "start": one.start, "end": one.end, "line": line, "column": column,
                "text": one.text,
            })
        });
        let evidence: Vec<Value> = evidence.collect();
        let action = output::action(&finding.action);
        json!({ "rule": finding.rule, "action": action, "reason": finding.reason, "evidence": evidence })
    });
    let findings: Vec<Value> = findings.collect();
    json!({ "file": path.display().to_string(), "decision": name, "findings": findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_says_what_runs_it() {
        for (text, expected) in [
            ("#!/bin/sh\nls", None),
            ("#!/usr/bin/env bash\nls", None),
            ("#!/usr/bin/env -S bash -e\n", None),
            ("#! /usr/bin/python3 -u\n", Some("python3")),
            ("#!/usr/bin/env node", Some("node")),
            ("ls", None),
            ("", None),
            ("#!", None),
        ] {
            assert_eq!(other_language(text), expected, "{text}");
        }
    }
}
