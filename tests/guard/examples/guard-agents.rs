//! `guard-agents FILE...` judges calls of recorded sessions, and prints how many are stopped, by rule. The files are JSON lines
//! of `command`, `cwd` and `workspace`, perhaps with `home`, `files` and `expect`: see `toolgate_guard_tests::sessions`.
//!
//! | Argument | Effect |
//! |---|---|
//! | `--touched` | list what is blocked or asked, with the rules that fired |
//! | `--wrong` | list what differs from `expect` |
//! | `--rule TEXT` | list only those whose rules hold this text |
//! | `--json` | the same for programs |

use std::error::Error;
use std::io::Write;

use serde_json::json;
use toolgate_guard_tests::sessions::{Recorded, Report, recorded};
use toolgate_guard_tests::{Stopped, Verdict};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut calls, mut files) = (Vec::new(), 0);
    let (mut touched, mut wrong, mut as_json, mut only) = (false, false, false, String::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--touched" => touched = true,
            "--wrong" => wrong = true,
            "--rule" => only = args.next().ok_or("--rule needs a value")?,
            "--json" => as_json = true,
            option if option.starts_with('-') => return Err(format!("there is no option {option}").into()),
            file => {
                calls.extend(recorded(file.as_ref())?);
                files += 1;
            }
        }
    }
    if files == 0 {
        return Err("name a file with recorded calls".into());
    }
    let report = Report::new(calls)?;
    let named = |verdict: &Verdict| only.is_empty() || verdict.rules.iter().any(|rule| rule.contains(&only));
    let mut listed: Vec<&(Recorded, Verdict)> = Vec::new();
    if touched {
        listed.extend(report.touched());
    }
    if wrong {
        listed.extend(report.wrong().filter(|(_, verdict)| !touched || verdict.stopped.is_none()));
    }
    listed.retain(|(_, verdict)| named(verdict));
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut figures = report.figures();
        let list = listed
            .iter()
            .map(|(call, verdict)| json!({ "command": call.command, "expect": call.expect, "verdict": verdict }));
        figures["listed"] = list.collect();
        writeln!(out, "{figures}")?;
        return Ok(());
    }
    for (call, verdict) in listed {
        let how = match verdict.stopped {
            Some(Stopped::Block) => "block",
            Some(Stopped::Ask) => "ask",
            None => "pass",
        };
        writeln!(out, "{how} [{}]\n    {:?}", verdict.rules.join(", "), call.command)?;
    }
    let figures = report.figures();
    let count = report.count();
    writeln!(
        out,
        "{} distinct calls: {} blocked ({:.2} %), {} asked ({} of them not if all they change can be saved); {:.2} % stopped",
        count.total(),
        count.blocked,
        count.blocked_percent(),
        count.asked,
        count.recoverable,
        count.touched_percent()
    )?;
    if figures["labelled"] != 0 {
        writeln!(
            out,
            "of {} with a label: {} wrongly stopped ({} of them blocked), {} wrongly passed",
            figures["labelled"], figures["wrongly_stopped"], figures["wrongly_blocked"], figures["wrongly_passed"]
        )?;
    }
    if !report.rules().is_empty() {
        writeln!(out, "{:>8} {:>8}  rule", "blocked", "asked")?;
    }
    for (rule, count) in report.rules() {
        writeln!(out, "{:8} {:8}  {rule}", count.blocked, count.asked)?;
    }
    Ok(())
}
