//! `bench-peers` times `toolgate hook claude` beside the hooks of other guards, in one run, and prints a table.
//!
//! In every round each payload goes through every program, one right after the other, and each round begins with another
//! program: what else the machine does hits all. The first round is not counted. Prints the figures to standard output,
//! and how far it is to standard error.
//!
//! | Exit code | Meaning |
//! |---|---|
//! | 0 | the figures are there |
//! | 2 | they are not: the sandbox or the command is missing, or a program hangs |

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use toolgate_peer_bench::answer::Answer;
use toolgate_peer_bench::figure::{self, Row, Tally};
use toolgate_peer_bench::payload::Payload;
use toolgate_peer_bench::place::{Parts, Place};
use toolgate_peer_bench::program::{self, Installed, Maker, Program};
use toolgate_peer_bench::{Error, machine};

/// The scopes of the labelled cases that a guard is meant for as it comes.
const SCOPES: [&str; 2] = ["core", "secrets"];

/// Times the hook beside the hooks of other guards, over the same payloads in one run.
#[derive(Debug, Parser)]
struct Options {
    /// Only these programs, and the one that they are held against
    programs: Vec<String>,
    /// How often each payload goes through each program
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    rounds: usize,
    /// Print the tables of docs/internals/speed.md
    #[arg(long)]
    markdown: bool,
    /// Labelled cases instead: how many of them each hook stops
    #[arg(long)]
    cases: bool,
    /// No more cases than these, taken at even distances
    #[arg(long, value_name = "COUNT", default_value_t = 300)]
    at_most: usize,
    /// The command under test [default: `$TOOLGATE_COMMAND`, or the one that was built beside this program]
    #[arg(long, value_name = "FILE")]
    toolgate: Option<PathBuf>,
    /// Where the peers are installed [default: target/peers]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
}

/// A program with its place, if it can be run.
struct Contender {
    program: &'static Program,
    title: String,
    place: Result<Place, String>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress(&format!("bench-peers: {error}\n"));
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn StdError>> {
    let mut contenders = contenders(options)?;
    let (date, load) = (jiff::Zoned::now().strftime("%F").to_string(), machine::load());
    let (what, tables) = if options.cases {
        let Some((cases, all)) = cases(options.at_most)? else { return Ok(()) };
        let what = format!(
            "{} of {all} labelled commands of other guards' suites (scopes {}), at even distances, the labels as they came",
            cases.len(),
            SCOPES.join(" and ")
        );
        (what, figure::cases(&judge(&mut contenders, &cases)?)?)
    } else {
        let payloads = Payload::all()?;
        let rows = time(&mut contenders, &payloads, options.rounds)?;
        let what = format!(
            "{} payloads, {} times through every hook in turn; median and, in brackets, 95 %",
            payloads.len(),
            options.rounds
        );
        let measure = rows.iter().zip(&contenders).find(|(_, contender)| contender.program.name == program::MEASURE);
        let (measure, _) = measure.ok_or("there is nothing to hold them against")?;
        let mut tables = figure::costs(&rows, &payloads, measure)?;
        if !options.markdown {
            write!(tables, "\n{}", figure::answers(&rows, &payloads)?)?;
        }
        (what, tables)
    };
    let described = machine::describe();
    let mut out = io::stdout().lock();
    writeln!(out, "{date}, {described}, load {load} before and {} after. {what}.\n\n{tables}", machine::load())?;
    Ok(())
}

/// Opens a place for every program that is there.
fn contenders(options: &Options) -> Result<Vec<Contender>, Box<dyn StdError>> {
    for name in &options.programs {
        if !program::ALL.iter().any(|program| program.name == name) {
            let names: Vec<&str> = program::ALL.iter().map(|program| program.name).collect();
            return Err(format!("there is no program {name}; there are {}", names.join(", ")).into());
        }
    }
    let built = std::env::current_exe()?.parent().map(Path::to_path_buf).unwrap_or_default();
    let named = || std::env::var_os("TOOLGATE_COMMAND").map(PathBuf::from);
    let toolgate = options.toolgate.clone().or_else(named).unwrap_or_else(|| built.join("toolgate"));
    let runner = built.join("peer-runner");
    if let Some(missing) = [&toolgate, &runner].into_iter().find(|file| !file.is_file()) {
        return Err(Error::Unbuilt(missing.clone()).into());
    }
    let peers = options.peers.clone().unwrap_or_else(|| built.with_file_name("peers"));
    let installed = Installed::at(&peers)?;
    let version = Command::new(&toolgate).arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version).split_whitespace().last().unwrap_or("").to_owned();
    let node = which("node");
    let parts = Parts { toolgate: toolgate.canonicalize()?, runner, peers: installed.folder.clone(), node };
    let wanted = |program: &&Program| {
        options.programs.is_empty()
            || program.name == program::MEASURE
            || options.programs.iter().any(|name| name == program.name)
    };
    let contender = |program: &'static Program| {
        let missing = |reason: &str| Err(reason.replace('|', "/"));
        let (title, there) = match program.maker {
            Maker::System => (program.title.to_owned(), Ok(())),
            Maker::Toolgate => (program.title.replace("{version}", &version), Ok(())),
            Maker::Package => match installed.version(program.name) {
                Ok(_) if program.on_node() && parts.node.is_none() => {
                    (program.title.to_owned(), missing("there is no node"))
                }
                Ok(version) => (format!("{} {version}", program.title), Ok(())),
                Err(reason) => (program.title.to_owned(), missing(reason)),
            },
        };
        let place = match there {
            Ok(()) => Ok(Place::open(program, &parts)?),
            Err(reason) => Err(reason),
        };
        Ok(Contender { program, title, place })
    };
    program::ALL.iter().filter(wanted).map(contender).collect()
}

/// Where a program is that the machine has.
fn which(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    found.canonicalize().ok()
}

/// Runs every payload through every program, so many times.
fn time(contenders: &mut [Contender], payloads: &[Payload], rounds: usize) -> Result<Vec<Row>, Error> {
    let mut rows: Vec<Row> = contenders.iter().map(Contender::row).collect();
    for round in 0..=rounds {
        progress(&format!("\rround {round} of {rounds}"));
        for (at, payload) in payloads.iter().enumerate() {
            for turn in 0..contenders.len() {
                let turn = (turn + round) % contenders.len();
                let (contender, row) = (&mut contenders[turn], &mut rows[turn]);
                let Ok(place) = &mut contender.place else { continue };
                let run = place.call(&payload.name, payload.json())?;
                // The first round reads the programs from the disk.
                if round > 0 {
                    row.runs.entry(at).or_default().push((Answer::of(run.exit, &run.output), run));
                }
            }
        }
        if round == 0 {
            spent(contenders, &mut rows)?;
        }
    }
    let before: Vec<_> = rows.iter().map(|row| row.host).collect();
    spent(contenders, &mut rows)?;
    for (row, before) in rows.iter_mut().zip(before) {
        if let (Some(host), Some(before)) = (&mut row.host, before) {
            host.processor = host.processor.saturating_sub(before.processor);
        }
    }
    progress("\n");
    Ok(rows)
}

/// Notes what the resident hosts have used until now.
fn spent(contenders: &mut [Contender], rows: &mut [Row]) -> Result<(), Error> {
    for (contender, row) in contenders.iter_mut().zip(rows) {
        if let Ok(place) = &mut contender.place {
            row.host = place.host()?;
        }
    }
    Ok(())
}

impl Contender {
    fn row(&self) -> Row {
        let missing = self.place.as_ref().err().cloned();
        Row { title: self.title.clone(), missing, judges: self.program.judges(), ..Row::default() }
    }
}

/// The labelled cases, no more than so many, and how many there are; none if they do not lie beside the project.
fn cases(at_most: usize) -> Result<Option<(Vec<Payload>, usize)>, Error> {
    let Some(cases) = Payload::cases(&SCOPES)? else {
        progress("left out: there are no shared cases beside the project\n");
        return Ok(None);
    };
    let all = cases.len();
    let stride = all.div_ceil(at_most.max(1)).max(1);
    Ok(Some((cases.into_iter().step_by(stride).collect(), all)))
}

/// Asks every program about every case, once.
fn judge(contenders: &mut [Contender], cases: &[Payload]) -> Result<Vec<Tally>, Error> {
    let mut judges: Vec<(&mut Place, Tally)> = Vec::new();
    for contender in contenders.iter_mut().filter(|contender| contender.program.judges()) {
        match &mut contender.place {
            Ok(place) => judges.push((place, Tally { title: contender.title.clone(), answers: Vec::new() })),
            Err(reason) => progress(&format!("left out: {}: {reason}\n", contender.title)),
        }
    }
    for (at, case) in cases.iter().enumerate() {
        if at % 10 == 0 {
            progress(&format!("\rcase {at} of {}", cases.len()));
        }
        for (place, tally) in &mut judges {
            let run = place.call(&case.name, case.json())?;
            tally.answers.push((case.label, Answer::of(run.exit, &run.output)));
        }
    }
    progress("\n");
    Ok(judges.into_iter().map(|(_, tally)| tally).collect())
}

/// For whoever waits.
fn progress(text: &str) {
    drop(write!(io::stderr(), "{text}"));
}
