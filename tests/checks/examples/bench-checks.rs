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
use std::path::PathBuf;
use std::time::{Duration, Instant};

use toolgate_checks_tests::Error;
use toolgate_checks_tests::client::{Config, Report};
use toolgate_checks_tests::daemon::Daemon;
use toolgate_checks_tests::machine::Machine;
use toolgate_checks_tests::project;
use toolgate_checks_tests::tools::{Tools, ours};

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

/// A daemon that takes part, and its times for one question.
struct Contender {
    name: &'static str,
    line: Vec<OsString>,
    cold: Vec<Duration>,
    warm: Vec<Duration>,
    last: Report,
}

impl Contender {
    fn new(name: &'static str, line: &[OsString]) -> Self {
        Contender { name, line: line.to_vec(), cold: Vec::new(), warm: Vec::new(), last: Report::default() }
    }

    fn start(&self, bench: &Bench) -> Result<Daemon, Error> {
        Daemon::start_at(bench.machine.users_command(&self.line), &bench.machine.socket(self.name), &bench.root)
    }
}

/// The project, and how often it is changed already.
struct Bench {
    machine: Machine,
    root: PathBuf,
    changes: usize,
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
    let mut bench = Bench { machine, root, changes: 0 };
    let mut out = io::stdout().lock();
    writeln!(out, "{:<28}{:>12}{:>12}{:>8}", "median, in ms", "code-lens", "ours", "part")?;
    let mut said = String::new();
    for (name, files) in QUESTIONS {
        let mut both = [Contender::new("code-lens", &theirs), Contender::new("ours", &ours)];
        bench.question(&mut both, files, starts, questions)?;
        let [theirs, ours] = &both;
        for (state, theirs, ours) in [("cold", &theirs.cold, &ours.cold), ("warm", &theirs.warm, &ours.warm)] {
            let (theirs, ours) = (median(theirs), median(ours));
            let part = 100.0 * ours.as_secs_f64() / theirs.as_secs_f64();
            let (theirs, ours) = (theirs.as_millis(), ours.as_millis());
            writeln!(out, "{:<28}{theirs:>12}{ours:>12}{part:>7.0}%", format!("{name}, {state}"))?;
            out.flush()?;
        }
        for Contender { name: daemon, last: Report { statuses, problems, unformatted, notes, .. }, .. } in &both {
            said += &format!("{name}, {daemon}: {statuses:?}, ");
            said += &format!("{} problems, {} unformatted, {notes:?}\n", problems.len(), unformatted.len());
        }
    }
    writeln!(out, "\nwhat each said:\n{said}")?;
    Ok(())
}

impl Bench {
    /// Takes the times of both, in turn, so that what else the machine does hits both.
    fn question(&mut self, both: &mut [Contender], files: &[&str], starts: usize, asked: usize) -> Result<(), Error> {
        let files: Vec<PathBuf> = files.iter().map(|file| self.root.join(file)).collect();
        for start in 1..=starts {
            let mut running = Vec::new();
            for one in &mut *both {
                let begin = Instant::now();
                let daemon = one.start(self)?;
                self.ask(&daemon, &files, one)?;
                one.cold.push(begin.elapsed());
                running.push(daemon);
            }
            // A daemon that runs is the same whenever it was started.
            let asked = if start == starts { asked } else { 0 };
            for _ in 0..asked {
                for (daemon, one) in running.iter().zip(&mut *both) {
                    let took = self.ask(daemon, &files, one)?;
                    one.warm.push(took);
                }
            }
            running.into_iter().try_for_each(Daemon::stop)?;
        }
        Ok(())
    }

    /// Changes the files and has them checked.
    fn ask(&mut self, daemon: &Daemon, files: &[PathBuf], one: &mut Contender) -> Result<Duration, Error> {
        self.changes += 1;
        change(files, self.changes)?;
        let begin = Instant::now();
        one.last = daemon.client()?.full_check(files, &Config::ALL, LIMIT)?;
        Ok(begin.elapsed())
    }
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

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
