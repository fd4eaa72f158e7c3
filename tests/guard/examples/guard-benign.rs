//! `guard-benign` judges the commands that packages hold, which people run every day and which hardly any rule should
//! touch.
//!
//! | Argument | Effect |
//! |---|---|
//! | `--manifest PATH` | with the packages that this manifest leads to |
//! | `--packages FOLDER` | with all packages below this folder, such as a `node_modules` |
//! | `--touched` | list what is blocked or asked, with the rules that fired |
//! | `--rule TEXT` | list only those whose rules hold this text |
//! | `--shown N` | print N commands from all over the corpus, to see what it is made of |
//! | `--json` | the same for programs |

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use toolgate_guard_tests::benign::{self, Report};
use toolgate_guard_tests::{Count, Stopped, extract};

/// More of a long script is not needed to recognize it.
const SHOWN_CHARACTERS: usize = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let mut folders: BTreeSet<PathBuf> = benign::crates(&benign::workspace())?.into_iter().collect();
    let (mut touched, mut as_json, mut shown, mut only) = (false, false, 0, String::new());
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--manifest" => folders.extend(benign::crates(value()?.as_ref())?),
            "--packages" => _ = folders.insert(value()?.into()),
            "--touched" => touched = true,
            "--rule" => only = value()?,
            "--shown" => shown = value()?.parse::<usize>()?,
            "--json" => as_json = true,
            _ => return Err(format!("there is no option {arg}").into()),
        }
    }
    let folders: Vec<PathBuf> = folders.into_iter().collect();
    let report = Report::new(benign::corpus(&folders)?);
    let mut out = std::io::stdout().lock();
    let listed = report.touched().filter(|(_, verdict, _)| verdict.rules.iter().any(|rule| rule.contains(&only)));
    if as_json {
        let mut figures = report.figures();
        let list = listed.filter(|_| touched).map(|(found, verdict, aside)| {
            json!({ "kind": found.kind, "place": found.place, "command": found.command, "verdict": verdict, "aside": aside, "package": found.package, "folder": found.folder })
        });
        figures["touched"] = list.collect();
        writeln!(out, "{figures}")?;
        return Ok(());
    }
    for (found, verdict, aside) in listed.filter(|_| touched) {
        let how = if verdict.stopped == Some(Stopped::Block) { "block" } else { "ask" };
        let aside = if aside { " (set aside)" } else { "" };
        writeln!(out, "{how}{aside} [{}] {}\n    {}", verdict.rules.join(", "), found.place, short(&found.command))?;
    }
    let step = report.judged.len() / shown.max(1);
    for (found, _) in report.judged.iter().step_by(step.max(1)).take(shown) {
        writeln!(out, "{:?} {}\n    {}", found.kind, found.place, short(&found.command))?;
    }
    writeln!(out, "{:58} without what is set aside", "")?;
    let titles = format!("{:>8} {:>7} {:>7} {:>5} {:>9}", "commands", "blocked", "asked", "saved", "touched");
    writeln!(out, "{:15} {titles}   {titles}", "kind")?;
    let row = |name: &str, kind| {
        let part = |count: Count| {
            let (total, percent) = (count.total(), count.touched_percent());
            format!("{total:8} {:7} {:7} {:5} {percent:7.2} %", count.blocked, count.asked, count.recoverable)
        };
        format!("{name:15} {}   {}", part(report.count(kind)), part(report.everyday(kind)))
    };
    for kind in extract::KINDS {
        writeln!(out, "{}", row(&format!("{kind:?}"), Some(kind)))?;
    }
    writeln!(out, "{}", row("all", None))?;
    writeln!(out, "saved: of those asked, nobody is asked if all that the command changes can be saved before")?;
    for (rule, count) in report.rules() {
        writeln!(out, "{count:7} {rule}")?;
    }
    Ok(())
}

/// One line, whatever the command holds.
fn short(command: &str) -> String {
    let start: String = command.chars().take(SHOWN_CHARACTERS).collect();
    let more = command.chars().count().saturating_sub(SHOWN_CHARACTERS);
    if more == 0 { format!("{start:?}") } else { format!("{start:?} and {more} characters more") }
}
