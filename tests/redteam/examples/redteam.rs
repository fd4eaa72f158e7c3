//! `redteam COUNT SEED [--kind N] [--shown N] [--json FILE] [--markdown] [--unjudged] [--each] [--program FILE] [--kinds FOLDER]`:
//! draws COUNT sessions, puts each through the hook and runs what passes, and prints by kind what was harmed. `--shown` lists
//! the first N of each result, `--json` writes all, `--markdown` prints the table of the threat model; `--unjudged` runs
//! everything, which tells what does not work; `--each` takes every recipe once; `--kinds` takes the recipes of that folder.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use toolgate_redteam::recipe::Recipes;
use toolgate_redteam::tally::Tally;
use toolgate_redteam::{draw, place, play};
use toolgate_test_sandbox::sandbox::Sandbox;

#[derive(Default)]
struct Options {
    numbers: Vec<u64>,
    kind: Option<usize>,
    shown: usize,
    json: Option<String>,
    markdown: bool,
    unjudged: bool,
    each: bool,
    program: Option<PathBuf>,
    kinds: Option<PathBuf>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg}: a value is missing"));
        match arg.as_str() {
            "--kind" => options.kind = Some(value()?.parse()?),
            "--shown" => options.shown = value()?.parse()?,
            "--json" => options.json = Some(value()?),
            "--kinds" => options.kinds = Some(value()?.into()),
            "--program" => options.program = Some(value()?.into()),
            "--markdown" => options.markdown = true,
            "--unjudged" => options.unjudged = true,
            "--each" => options.each = true,
            number => options.numbers.push(number.parse().map_err(|_| format!("not a number: {number}"))?),
        }
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let number = |at: usize, default: u64| options.numbers.get(at).copied().unwrap_or(default);
    let recipes = options.kinds.as_deref().map_or_else(Recipes::read, Recipes::read_from)?;
    let (count, seed) = (usize::try_from(number(0, 3000))?, number(1, 1));
    let mut sessions = if options.each { draw::each(&recipes, seed)? } else { draw::sessions(&recipes, count, seed)? };
    sessions.retain(|session| options.kind.is_none_or(|kind| session.kind == kind));
    let Some(sandbox) = Sandbox::open_or_skip()? else {
        writeln!(std::io::stdout(), "left out (TOOLGATE_TRUTH=skip)")?;
        return Ok(());
    };
    let tools = tempfile::tempdir()?;
    let sandbox = place::dress(sandbox, &options.program.unwrap_or_else(place::program), tools.path())?;
    let start = Instant::now();
    let (done, all) = (AtomicUsize::new(0), sessions.len());
    let progress = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(100) || done == all {
            let _ = writeln!(std::io::stderr(), "{done} of {all}, {:.0?}", start.elapsed());
        }
    };
    let played = play::all(&sessions, sandbox, 2, !options.unjudged, progress)?;
    let mut tally = Tally::new(&recipes.kinds);
    for (session, played) in sessions.into_iter().zip(played) {
        tally.add(session, played);
    }
    let mut out = std::io::stdout();
    if options.shown > 0 {
        writeln!(out, "{}", tally.lists(options.shown))?;
    }
    if options.markdown {
        write!(out, "{}", tally.markdown())?;
    } else {
        writeln!(out, "{tally}\n{all} sessions in {:.1?}", start.elapsed())?;
    }
    if let Some(file) = options.json {
        fs::write(file, format!("{:#}\n", tally.json()))?;
    }
    Ok(())
}
