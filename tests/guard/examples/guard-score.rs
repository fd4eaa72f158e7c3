//! `guard-score` prints how the guard judges labelled commands, by scope and by family.
//!
//! | Argument | Effect |
//! |---|---|
//! | `--cases PATH` | cases from this file or folder of JSON lines instead of the shared ones |
//! | `--missed` | list what ought to be stopped and is not |
//! | `--touched` | list what ought to pass and does not, with the rules that fired |
//! | `--scope S`, `--family F` | list only these |
//! | `--labels` | list by the labels as they came, without the corrections |
//! | `--json` | the same for programs |

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use toolgate_guard_tests::score::{self, Judged, Score, Wanted};

#[derive(Default)]
struct Options {
    cases: Option<PathBuf>,
    missed: bool,
    touched: bool,
    scope: Option<String>,
    family: Option<String>,
    labels: bool,
    json: bool,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--cases" => options.cases = Some(value()?.into()),
                "--scope" => options.scope = Some(value()?),
                "--family" => options.family = Some(value()?),
                "--missed" => options.missed = true,
                "--touched" => options.touched = true,
                "--labels" => options.labels = true,
                "--json" => options.json = true,
                _ => return Err(format!("there is no option {arg}").into()),
            }
        }
        Ok(options)
    }

    /// Whether a case is to be listed.
    fn list(&self, judged: &Judged) -> bool {
        let label = if self.labels { judged.case.expected } else { judged.corrected };
        let wanted = match label {
            Wanted::Block | Wanted::Ask => self.missed,
            Wanted::Allow => self.touched,
            Wanted::Either => false,
        };
        let scope = self.scope.as_ref().is_none_or(|scope| *scope == judged.case.scope);
        let family = self.family.as_ref().is_none_or(|family| judged.case.families.contains(family));
        wanted && scope && family && !label.met_by(&judged.verdict)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1).filter(|arg| arg != "--bench"))?;
    let mut out = std::io::stdout().lock();
    let score = if let Some(path) = &options.cases {
        Score::new(score::cases(path)?, &[])?
    } else {
        let folder = score::shared();
        let main = folder.join("guard.jsonl");
        if !main.is_file() {
            writeln!(out, "left out: there are no cases in {}; name some with --cases", folder.display())?;
            return Ok(());
        }
        let mut cases = score::cases(&main)?;
        let matrix = folder.join("force_push_matrix.jsonl");
        if matrix.is_file() {
            cases.extend(score::cases(&matrix)?);
        }
        Score::new(cases, &score::corrections()?)?
    };
    let listed: Vec<&Judged> = score.judged.iter().filter(|judged| options.list(judged)).collect();
    if options.json {
        let mut figures = score.figures();
        let list = listed.iter().map(|judged| {
            let Judged { case, verdict, corrected } = judged;
            json!({
                "id": case.id, "command": case.command, "scope": case.scope, "families": case.families,
                "expected": case.expected, "corrected": corrected, "stopped": verdict.stopped, "rules": verdict.rules,
            })
        });
        figures["listed"] = list.collect();
        writeln!(out, "{figures}")?;
        return Ok(());
    }
    for judged in listed {
        let Judged { case, verdict, .. } = judged;
        let rules = if verdict.rules.is_empty() { "passed".into() } else { verdict.rules.join(", ") };
        let families = case.families.join(" ");
        // One line each, whatever the command holds.
        writeln!(out, "{} {} [{families}] {}\n    {:?}", case.id, case.scope, rules, case.command)?;
    }
    write!(out, "{}", score.tables()?)?;
    Ok(())
}
