//! Times the same `fullCheck` against `@harms-haus/code-lens` and against ours, in one run: figures are only worth
//! comparing within it. Arguments: how often each is started, and how often each is asked once it runs.
//!
//! Both get the same project (prettier, eslint and typescript in `node_modules`), the same environment, the same tools
//! in `PATH` and the same question, one after another. Before each question the files change, as they do when an agent
//! works. Cold is the first question to a daemon that was just started, with the time that it took to listen.
//! What each says is printed, too: they do not check the same things.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolgate_lens_tests::client::{Config, Report};
use toolgate_lens_tests::daemon::Daemon;
use toolgate_lens_tests::machine::Machine;
use toolgate_lens_tests::project;
use toolgate_lens_tests::tools::{Tools, ours};

/// The limit of the protocol's clients.
const LIMIT: Duration = Duration::from_secs(60);

/// What is asked.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("a clean file", &["src/clean.ts"]),
    ("a file with problems", &["src/problems.ts"]),
    (
        "ten files",
        &[
            "src/clean.ts",
            "src/problems.ts",
            "src/types.ts",
            "src/ten/one.ts",
            "src/ten/two.ts",
            "src/ten/three.ts",
            "src/ten/four.ts",
            "src/ten/five.ts",
            "src/ten/six.ts",
            "src/ten/seven.ts",
        ],
    ),
];

/// One daemon's times for one question.
struct Times {
    cold: Duration,
    warm: Duration,
    report: Report,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut counts = std::env::args().skip(1).map(|count| count.parse::<usize>());
    let (starts, questions) = (counts.next().unwrap_or(Ok(3))?, counts.next().unwrap_or(Ok(5))?);
    let tools = Tools::find()??;
    let theirs = tools.code_lens().ok_or("code-lens is not installed")?;
    let (machine, ours) = (Machine::new(Some(&tools))?, ours()?);
    let root = machine.project("bench")?;
    project::lay_out("typescript", &root, Some(&tools))?;
    machine.trust(&root)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{:<34}{:>12}{:>12}{:>8}", "median, in ms", "code-lens", "ours", "part")?;
    let mut said = String::new();
    for (name, files) in QUESTIONS {
        let measure = |line: &[OsString]| times(&machine, line, &root, files, starts, questions);
        let (theirs, ours) = (measure(&theirs)?, measure(&ours)?);
        for (state, theirs, ours) in [("cold", theirs.cold, ours.cold), ("warm", theirs.warm, ours.warm)] {
            let part = ours.as_secs_f64() / theirs.as_secs_f64();
            let (theirs, ours) = (theirs.as_millis(), ours.as_millis());
            writeln!(out, "{:<34}{theirs:>12}{ours:>12}{:>7.0}%", format!("{name}, {state}"), part * 100.0)?;
            out.flush()?;
        }
        for (daemon, times) in [("code-lens", theirs), ("ours", ours)] {
            let Report { statuses, problems, unformatted, notes, .. } = times.report;
            said += &format!("{name}, {daemon}: {statuses:?}");
            said += &format!(", {} problems, {} unformatted, {notes:?}\n", problems.len(), unformatted.len());
        }
    }
    writeln!(out, "\nwhat each said:\n{said}")?;
    Ok(())
}

type Failed = Box<dyn std::error::Error>;

fn times(
    machine: &Machine,
    line: &[OsString],
    root: &Path,
    files: &[&str],
    starts: usize,
    questions: usize,
) -> Result<Times, Failed> {
    let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
    let (mut cold, mut warm, mut last) = (Vec::new(), Vec::new(), Report::default());
    for start in 0..starts {
        let socket = machine.socket("bench");
        let begin = Instant::now();
        let daemon = Daemon::start_at(machine.users_command(line), &socket, root)?;
        for question in 0..=questions {
            change(&files, start * (questions + 1) + question)?;
            let begin = if question == 0 { begin } else { Instant::now() };
            last = daemon.client()?.full_check(&files, &Config::ALL, LIMIT)?;
            if question == 0 { &mut cold } else { &mut warm }.push(begin.elapsed());
            // Only the first start is asked again: a daemon that runs is the same whenever it was started.
            if start > 0 {
                break;
            }
        }
        daemon.stop()?;
    }
    Ok(Times { cold: median(cold), warm: median(warm), report: last })
}

/// Gives each file another first line.
fn change(files: &[PathBuf], number: usize) -> io::Result<()> {
    for file in files {
        let text = fs::read_to_string(file)?;
        let rest =
            text.strip_prefix("// Change ").and_then(|text| text.split_once('\n')).map_or(&*text, |(_, rest)| rest);
        fs::write(file, format!("// Change {number}\n{rest}"))?;
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
