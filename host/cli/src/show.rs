//! Putting untrusted text before a person.
//!
//! What a person reads must not deceive: characters that move the cursor, turn the text round or cannot be seen are
//! shown as escapes, and what is left out is marked.

use std::io::Write;

use anstyle::{AnsiColor, Effects, Style};
use toolgate_host::{Action, Diagnostic, Evidence, Level, Verdict, plain};

/// Longest line of a command that is shown as it is, in characters.
const LINE: usize = 160;

const RED: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const YELLOW: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
const GREEN: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);

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

/// `file:line: message`
pub(crate) fn place(diagnostic: &Diagnostic) -> String {
    let mut text = String::new();
    if let Some(file) = &diagnostic.file {
        text.push_str(file);
        if let Some(line) = diagnostic.line {
            text.push_str(&format!(":{line}"));
        }
        text.push_str(": ");
    }
    text.push_str(&diagnostic.message);
    plain(&text)
}

/// A verdict for a person: the decision, the text with what matched underlined, and each rule with its reason.
pub(crate) fn verdict(out: &mut impl Write, name: &str, text: &str, verdict: &Verdict) -> std::io::Result<()> {
    let style = match name {
        "pass" => GREEN,
        "ask" => YELLOW,
        _ => RED,
    };
    let evidence: Vec<&Evidence> = verdict.findings.iter().flat_map(|finding| &finding.evidence).collect();
    writeln!(out, "{style}{name:<5}{style:#}  {}", line_of(text, &evidence))?;
    if let Some(marks) = marks(text, &evidence) {
        writeln!(out, "       {style}{marks}{style:#}")?;
    }
    for finding in &verdict.findings {
        let style = match finding.action {
            Action::Block | Action::Rewrite => RED,
            Action::Ask => YELLOW,
            Action::Note => DIM,
        };
        writeln!(out, "       {style}{}{style:#}  {}", plain(&finding.rule), plain(&finding.reason))?;
        if marks(text, &evidence).is_none() {
            for one in &finding.evidence {
                writeln!(out, "       {DIM}{}:{DIM:#} {}", plain(&one.field), plain(&one.text))?;
            }
        }
    }
    Ok(())
}

fn line_of(text: &str, evidence: &[&Evidence]) -> String {
    let shown = plain(text);
    if shown.chars().count() <= LINE {
        return shown;
    }
    // Long: from where the first match is, so that it cannot be pushed out of sight.
    let start = evidence.iter().map(|one| one.start as usize).min().unwrap_or(0).min(text.len());
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let from = text[..start].char_indices().rev().nth(20).map_or(0, |(at, _)| at);
    let rest = plain(&text[from..]);
    let cut: String = rest.chars().take(LINE).collect();
    let left_out = rest.chars().count() - cut.chars().count();
    let before = if from > 0 { format!("[{from} bytes before this] ") } else { String::new() };
    let after = if left_out > 0 { format!(" [{left_out} characters more]") } else { String::new() };
    format!("{before}{cut}{after}")
}

/// Carets under what matched, if the text is shown whole and its evidence is in it.
fn marks(text: &str, evidence: &[&Evidence]) -> Option<String> {
    if plain(text).chars().count() > LINE {
        return None;
    }
    let mut marks = String::new();
    for (at, c) in text.char_indices() {
        let hit = evidence.iter().any(|one| (one.start as usize..one.end as usize).contains(&at));
        let width = plain(c.encode_utf8(&mut [0; 4])).chars().count();
        marks.extend(std::iter::repeat_n(if hit { '^' } else { ' ' }, width));
    }
    let marks = marks.trim_end();
    (!marks.is_empty()).then(|| marks.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_far_behind_is_still_seen_and_what_is_left_out_is_said() {
        let text = format!("echo {}; rm -rf /", "x".repeat(5000));
        let start = u32::try_from(text.len() - 8).expect("short");
        let one = Evidence { field: "command".into(), start, end: start + 8, text: "rm -rf /".into() };
        let line = line_of(&text, &[&one]);
        assert!(line.contains("rm -rf /") && line.contains("bytes before this"), "{line}");
    }
}
