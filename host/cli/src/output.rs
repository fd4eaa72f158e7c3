//! Putting untrusted text before a person.
//!
//! What a person reads must not deceive: characters that move the cursor, turn the text round or cannot be seen are
//! shown as escapes, and what is left out is marked.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Effects, Style};
use serde_json::{Map, Value};
use toolgate_host::{Action, Decision, Diagnostic, Finding, Level, Verdict, decide, excerpt, plain};

use toolgate_agents::Failure;
pub(crate) use toolgate_agents::text::{LINE, REASON, place, quoted, whole};

/// Most findings that are shown.
const FINDINGS: usize = 16;

pub(crate) const RED: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);
pub(crate) const BOLD: Style = Style::new().effects(Effects::BOLD);

/// Writes something to standard output.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<ExitCode, Failure> {
    told(write(&mut anstream::stdout())).map(|()| ExitCode::SUCCESS)
}

/// Something that was written to standard output. Whoever reads it may have seen enough; the answer is the exit code, too.
pub(crate) fn told(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Failure::output),
    }
}

/// The change of a file as a unified diff, from nothing if there was none.
pub(crate) fn diff(out: &mut dyn Write, path: &Path, exists: bool, before: &str, after: &str) -> std::io::Result<()> {
    let new = path.display().to_string();
    let old = if exists { new.as_str() } else { "/dev/null" };
    let text = similar::TextDiff::from_lines(before, after).unified_diff().header(old, &new).to_string();
    text.lines().try_for_each(|line| diff_line(out, line))
}

/// A line of a change.
pub(crate) fn diff_line(out: &mut dyn Write, line: &str) -> std::io::Result<()> {
    let line = line.split('\t').map(plain).collect::<Vec<_>>().join("\t");
    match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") => writeln!(out, "{BOLD}{line}{BOLD:#}"),
        Some(b'+') => writeln!(out, "{GREEN}{line}{GREEN:#}"),
        Some(b'-') => writeln!(out, "{RED}{line}{RED:#}"),
        _ => writeln!(out, "{line}"),
    }
}

/// An error on standard error.
pub(crate) fn complain(message: &str) {
    // Standard error may be closed; there is nobody left to tell then.
    let _ = writeln!(anstream::stderr(), "{RED}toolgate:{RED:#} {}", plain(message));
}

/// What is wrong with the rule files, on standard error.
pub(crate) fn diagnostics(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let style = if diagnostic.level == Level::Error { RED } else { YELLOW };
        let _ = writeln!(anstream::stderr(), "{style}toolgate:{style:#} {}", place(diagnostic));
    }
}

/// The word for what a finding wants.
pub(crate) fn action(action: &Action) -> &'static str {
    match action {
        Action::Block => "block",
        Action::Ask => "ask",
        Action::Rewrite => "rewrite",
        Action::Note => "note",
    }
}

/// The decision's name and exit code.
pub(crate) fn decision(decision: &Decision) -> (&'static str, u8) {
    match decision {
        Decision::Pass => ("pass", 0),
        Decision::Ask(_) => ("ask", 1),
        Decision::Block(_) => ("block", 2),
        Decision::Rewrite(_) => ("rewrite", 3),
    }
}

/// How the word for a decision, or for what a finding wants, is shown.
pub(crate) fn style(word: &str) -> Style {
    match word {
        "pass" => GREEN,
        "ask" => YELLOW,
        "block" | "rewrite" => RED,
        _ => DIM,
    }
}

/// A verdict for a person: the decision, the text with what matched underlined, and each rule with its reason.
pub(crate) fn verdict(out: &mut impl Write, name: &str, text: &str, verdict: &Verdict) -> std::io::Result<()> {
    let color = style(name);
    let shown = excerpt(text, &decide::spans(verdict, "command"), LINE);
    writeln!(out, "{color}{name:<5}{color:#}  {}", shown.line)?;
    if !shown.marks.is_empty() {
        writeln!(out, "       {color}{}{color:#}", shown.marks)?;
    }
    for finding in verdict.findings.iter().take(FINDINGS) {
        let color = style(action(&finding.action));
        writeln!(out, "       {color}{}{color:#}  {}", whole(&finding.rule, LINE), whole(&finding.reason, REASON))?;
        for one in finding.evidence.iter().filter(|one| one.field != "command") {
            writeln!(out, "       {DIM}{}:{DIM:#} {}", plain(&one.field), whole(&one.text, LINE))?;
        }
    }
    match verdict.findings.len().saturating_sub(FINDINGS) {
        0 => Ok(()),
        more => writeln!(out, "       {DIM}and {more} more findings{DIM:#}"),
    }
}

/// What a pack that is off would say of a command that passes.
pub(crate) fn off(out: &mut impl Write, pack: &str, finding: &Finding) -> std::io::Result<()> {
    let action = action(&finding.action);
    let (rule, reason) = (whole(&finding.rule, LINE), whole(&finding.reason, REASON));
    writeln!(out, "       {DIM}the pack {} (off) would {action}:{DIM:#} {rule}  {reason}", plain(pack))
}

/// The commands of a text for a person, a block each.
pub(crate) fn walk(out: &mut impl Write, text: &str, answer: &Map<String, Value>) -> std::io::Result<()> {
    let commands = list(answer.get("commands"));
    if commands.is_empty() {
        writeln!(out, "{DIM}no commands{DIM:#}")?;
    }
    for command in commands {
        writeln!(out, "{BOLD}{}{BOLD:#}", heading(command, text))?;
        rows(out, command)?;
    }
    unparsed(out, answer)
}

/// A command's words on one line.
pub(crate) fn heading(command: &Value, text: &str) -> String {
    cut(&words(command, text))
}

/// What is known of a command beside its words.
pub(crate) fn rows(out: &mut impl Write, command: &Value) -> std::io::Result<()> {
    let mut row = |label: &str, value: &str, mark: &str| {
        writeln!(out, "  {DIM}{label:<8}{DIM:#} {}{DIM}{mark}{DIM:#}", cut(value))
    };
    let folder = |key: &str| command[key].as_str();
    row("in", folder("cwd").unwrap_or("?"), "")?;
    if folder("shell_cwd") != folder("cwd") {
        row("from", folder("shell_cwd").unwrap_or("?"), "  the shell's directory")?;
    }
    let via: Vec<&str> = list(command.get("via")).iter().filter_map(Value::as_str).collect();
    if !via.is_empty() {
        row("through", &via.join(" > "), "")?;
    }
    if let Some(runs) = command["runs"].as_str().filter(|runs| *runs != "certainly") {
        row("runs", runs, "")?;
    }
    if command["elsewhere"] == true {
        row("runs", "elsewhere", "  its paths are on another machine")?;
    }
    for effect in list(command.get("effects")) {
        let (path, glob) = (effect["path"].as_str(), effect["glob"].as_str());
        let mark = if effect["certain"] == true { "" } else { "  possible" };
        row(effect["kind"].as_str().unwrap_or_default(), path.or(glob).unwrap_or("?"), mark)?;
    }
    for unknown in list(command.get("unknown")) {
        let (at, why) = (unknown["at"].as_str().unwrap_or_default(), unknown["why"].as_str().unwrap_or_default());
        // Variables are many, and not in the table.
        if at != "env" && !at.starts_with("env.") {
            row("unknown", &format!("{at}: {why}"), "")?;
        }
    }
    Ok(())
}

/// The files of a text for a person.
pub(crate) fn files(out: &mut impl Write, answer: &Map<String, Value>) -> std::io::Result<()> {
    let mut any = false;
    for label in ["written", "read"] {
        for path in list(answer.get(label)).iter().filter_map(Value::as_str) {
            any = true;
            writeln!(out, "{DIM}{label:<8}{DIM:#} {}", plain(path))?;
        }
    }
    if !any {
        writeln!(out, "{DIM}no known files{DIM:#}")?;
    }
    unparsed(out, answer)
}

/// The hints of a text for a person.
pub(crate) fn hints(out: &mut impl Write, answer: &Map<String, Value>) -> std::io::Result<()> {
    let paths = list(answer.get("paths"));
    if paths.is_empty() {
        writeln!(out, "{DIM}no known paths{DIM:#}")?;
    }
    paths.iter().filter_map(Value::as_str).try_for_each(|path| writeln!(out, "{}", plain(path)))?;
    unparsed(out, answer)
}

pub(crate) fn unparsed(out: &mut impl Write, answer: &Map<String, Value>) -> std::io::Result<()> {
    match answer.get("unparsed").and_then(Value::as_str) {
        Some(why) => writeln!(out, "{YELLOW}unparsed{YELLOW:#} {}; this is a guess", plain(why)),
        None => Ok(()),
    }
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A command's words as they could be typed, and `?` for what is not known; as written if it has none.
fn words(command: &Value, text: &str) -> String {
    let word = |value: &Value| value.as_str().map_or("?".to_owned(), quoted);
    let assignments = command["assignments"].as_object().into_iter().flatten();
    let mut words: Vec<String> = assignments.map(|(name, value)| format!("{name}={}", word(value))).collect();
    let args = list(command.get("args"));
    let unnamed = list(command.get("unknown")).iter().any(|unknown| unknown["at"] == "name");
    if !args.is_empty() || unnamed || command["name"].is_string() {
        words.push(word(&command["name"]));
        words.extend(args.iter().map(word));
    }
    if words.is_empty() {
        let at = |key: &str| command["span"][key].as_u64().and_then(|at| usize::try_from(at).ok());
        let span = at("start").zip(at("end")).and_then(|(start, end)| text.get(start..end));
        return span.unwrap_or("?").to_owned();
    }
    words.join(" ")
}

/// A text on one line; of a long one the start, and how much is left out.
pub(crate) fn cut(text: &str) -> String {
    let shown = plain(text);
    let left_out = shown.chars().count().saturating_sub(LINE);
    match left_out {
        0 => shown,
        _ => format!("{} [{left_out} characters more]", shown.chars().take(LINE).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use toolgate_host::Evidence;

    #[test]
    fn a_match_far_behind_is_still_seen_and_what_is_left_out_is_said() {
        let text = format!("echo {}; rm -rf /", "x".repeat(5000));
        let start = u32::try_from(text.len() - 8).expect("short");
        let mut found = Verdict::block("x", "no");
        found.findings[0].evidence = vec![Evidence::new("command", start, "rm -rf /")];
        let mut shown = Vec::new();
        verdict(&mut shown, "block", &text, &found).expect("written");
        let shown = String::from_utf8(shown).expect("text");
        assert!(
            shown.contains("bytes omitted]") && shown.contains("; rm -rf /") && shown.contains("^^^^^^^^"),
            "{shown}"
        );
    }
}
