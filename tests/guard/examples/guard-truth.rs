//! `guard-truth COUNT SEED [SHOWN] [--json FILE] [--jsonl FILE] [--run TEXT]`: composes COUNT cases, runs every one in
//! a throw-away home folder, and prints what the guard would have stopped of those that lost something and of those
//! that did not. `--json` writes the sums, `--jsonl` the cases with their labels; `--run` runs one text only and says
//! what it did.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::time::Instant;

use toolgate_guard_tests::sandbox::Sandbox;
use toolgate_guard_tests::truth::{self, Tally};
use toolgate_guard_tests::{HOME, Judge, PROJECT, Verdict, cases};

/// What the guard says of a text in the project of the cases.
fn verdict(judge: &Judge, text: &str) -> Verdict {
    judge.command(text, PROJECT, HOME)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let mut numbers = Vec::new();
    let (mut json, mut jsonl) = (None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = args.next(),
            "--jsonl" => jsonl = args.next(),
            "--run" => {
                let text = args.next().unwrap_or_default();
                let outcome = Sandbox::open()?.run(&text)?;
                let mut shown = Sandbox::open()?;
                let judge = Judge::new().with_files(&shown.fresh()?);
                writeln!(out, "{outcome:#?}\n{:?}", verdict(&judge, &text))?;
                return Ok(());
            }
            number => numbers.push(number.parse::<u64>().map_err(|_| format!("not a number: {number}"))?),
        }
    }
    let number = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);
    let Some(sandbox) = Sandbox::open_or_skip()? else {
        writeln!(out, "left out (TOOLGATE_TRUTH=skip)")?;
        return Ok(());
    };
    // The files that the guard may look at: as every case finds them.
    let mut shown = sandbox.another()?;
    let judge = Judge::new().with_files(&shown.fresh()?);
    let made = cases::cases(usize::try_from(number(0, 3000))?, number(1, 1));
    let start = Instant::now();
    let labelled = truth::run(made, sandbox, 2)?;
    let ran = start.elapsed();
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut lines = String::new();
    for one in &labelled {
        let verdict = verdict(&judge, &one.case.text);
        tally.add(one, &verdict);
        if jsonl.is_some() {
            lines.push_str(&truth::line(one, &verdict).to_string());
            lines.push('\n');
        }
    }
    write!(out, "{}", tally.told(usize::try_from(number(2, 20))?))?;
    let missing = cases::missing();
    if !missing.is_empty() {
        writeln!(out, "\nnot there, so that their rows are left out: {}", missing.join(", "))?;
    }
    let each = |time: std::time::Duration| time.as_secs_f64() * 1000.0 / labelled.len().max(1) as f64;
    writeln!(
        out,
        "\n{} cases: run in {ran:.1?} ({:.1} ms each), judged in {:.1?}, {} ended at the deadline, {:.1} % void",
        labelled.len(),
        each(ran),
        start.elapsed(),
        tally.timed_out,
        tally.void_percent()
    )?;
    writeln!(
        out,
        "harmful stopped {:.1} %, harmless touched {:.1} %",
        tally.harmful_stopped(),
        tally.harmless_touched()
    )?;
    if let Some(file) = json {
        fs::write(file, format!("{:#}\n", tally.json()))?;
    }
    if let Some(file) = jsonl {
        fs::write(file, lines)?;
    }
    Ok(())
}
