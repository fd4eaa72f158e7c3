//! `truth [COUNT [SEED]]` runs generated and hand-written scripts and prints the table; `truth --show TEXT` prints all
//! that is seen of one script; `truth --generate COUNT SEED` prints scripts.

use std::error::Error;
use std::io::Write;

use toolgate_truth::{Harness, drive, engine, generate, scripts, trap};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let mut out = std::io::stdout();
    if let Some([flag, text]) = args.get(..2)
        && flag == "--show"
    {
        let mut harness = Harness::open()?;
        let names = trap::names(text, []);
        let start = std::time::Instant::now();
        let seen = harness.observe(text, &names)?;
        writeln!(out, "{:?}, {:?}", start.elapsed(), harness.sandbox().means())?;
        for step in &seen.steps {
            writeln!(out, "step {}/{} line {} {:?} in {}", step.pid, step.runner, step.line, step.source, step.pwd)?;
            writeln!(out, "     {:?}", step.argv)?;
            let set: Vec<_> = step.values.iter().filter_map(|(n, v)| Some(format!("{n}={}", v.as_ref()?))).collect();
            writeln!(out, "     {}", set.join(" "))?;
        }
        for exec in &seen.watched.execs {
            writeln!(out, "exec {} {:?} in {} then {:?}", exec.pid, exec.argv, exec.cwd, exec.visited)?;
        }
        for event in &seen.watched.events {
            writeln!(out, "{:?} {} by {} {}", event.kind, event.path, event.program, event.pid)?;
        }
        writeln!(out, "exit {:?}\n{}", seen.exit, seen.output)?;
        return Ok(());
    }
    let number = |at: usize, name: &str, default: u64| -> Result<u64, Box<dyn Error>> {
        let given = args.iter().filter(|arg| !arg.starts_with("--")).nth(at).cloned();
        Ok(given.or_else(|| std::env::var(name).ok()).map_or(Ok(default), |text| text.parse())?)
    };
    let count = usize::try_from(number(0, "TOOLGATE_TRUTH_COUNT", 1000)?)?;
    let seed = number(1, "TOOLGATE_TRUTH_SEED", 1)?;
    let keep = usize::try_from(number(2, "TOOLGATE_TRUTH_KEEP", 20)?)?;
    let mut texts = generate::scripts(seed, count);
    if args.iter().any(|arg| arg == "--generate") {
        for text in texts {
            writeln!(out, "---\n{text}")?;
        }
        return Ok(());
    }
    texts.extend(scripts::all().into_iter().map(|script| script.text.to_owned()));
    if Harness::open_or_skip()?.is_none() {
        return Ok(());
    }
    let outcome = drive::run(&texts, &engine::predict, drive::Options { keep, ..drive::Options::default() })?;
    write!(out, "{}", drive::told(&outcome))?;
    Ok(())
}
