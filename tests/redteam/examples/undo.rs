//! `undo COUNT SEED [--shown N]`: draws COUNT commands as the truth of the guard does, runs those that the hook lets pass, undoes
//! them, and says of how many all is as it was. The exit code is 1 if something was lost of which nothing was said.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgate_guard_tests::cases::cases;
use toolgate_redteam::place;
use toolgate_redteam::undone::{self, Undone};
use toolgate_test_sandbox::sandbox::Sandbox;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut numbers = Vec::new();
    let mut shown = 5;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--shown" => shown = args.next().ok_or("--shown: a value is missing")?.parse()?,
            number => numbers.push(number.parse::<u64>().map_err(|_| format!("not a number: {number}"))?),
        }
    }
    let count = usize::try_from(numbers.first().copied().unwrap_or(2_000))?;
    let texts: Vec<String> =
        cases(count, numbers.get(1).copied().unwrap_or(1)).into_iter().map(|case| case.text).collect();
    let mut out = std::io::stdout();
    let Some(sandbox) = Sandbox::open_or_skip()? else {
        writeln!(out, "left out (TOOLGATE_TRUTH=skip)")?;
        return Ok(ExitCode::SUCCESS);
    };
    let tools = tempfile::tempdir()?;
    let sandbox = place::dress(sandbox, &place::program(), tools.path())?;
    let (done, all) = (AtomicUsize::new(0), texts.len());
    let progress = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(100) || done == all {
            let _ = writeln!(std::io::stderr(), "{done} of {all}");
        }
    };
    let results = undone::all(&texts, sandbox, 2, progress)?;
    let mut groups: BTreeMap<&str, Vec<(&String, &Undone)>> = BTreeMap::new();
    for (text, result) in texts.iter().zip(&results) {
        groups.entry(result.name()).or_default().push((text, result));
    }
    for (name, group) in &groups {
        writeln!(out, "{:>6} {name}", group.len())?;
    }
    for (text, result) in texts.iter().zip(&results) {
        let (Undone::Lost(differ) | Undone::Partial(differ)) = result else { continue };
        let left = groups.get_mut(result.name()).map_or(0, |group| {
            group.pop();
            group.len()
        });
        let first = results.iter().filter(|one| one.name() == result.name()).count() - left;
        if first <= shown || matches!(result, Undone::Lost(_)) {
            writeln!(out, "\n--- {}\n$ {text}", result.name())?;
            differ.iter().take(6).try_for_each(|line| writeln!(out, "  {line}"))?;
        }
    }
    let lost = results.iter().any(|result| matches!(result, Undone::Lost(_)));
    Ok(ExitCode::from(u8::from(lost)))
}
