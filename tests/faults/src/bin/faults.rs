//! `faults` runs the faults, and prints what came of them.
//!
//! | Exit code | Meaning |
//! |---|---|
//! | 0 | nothing went wrong |
//! | 1 | something did |
//! | 2 | nothing could be shown: the command is not built, or there is no such boundary |

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use toolgate_fault_tests::boundary::{self, ALL, Boundary};
use toolgate_fault_tests::table;
use toolgate_terminal_tests::scene::program;

/// Kills, stops, slows and corrupts what Toolgate leans on while calls run, and says what became of them.
#[derive(Debug, Parser)]
struct Options {
    /// Only the faults of this boundary; may be given several times
    #[arg(long, value_name = "BOUNDARY")]
    only: Vec<String>,
    /// Only faults whose name has this in it
    #[arg(long, value_name = "TEXT", default_value = "")]
    fault: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Print the table as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            progress(&format!("faults: {error}"));
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    program()?;
    let mut chosen: Vec<&Boundary> = ALL.iter().collect();
    if !options.only.is_empty() {
        let find = |name: &String| boundary::named(name).ok_or_else(|| format!("there is no boundary {name}"));
        chosen = options.only.iter().map(find).collect::<Result<_, _>>()?;
    }
    let mut rows = Vec::new();
    for boundary in chosen {
        rows.extend(boundary.rows(&options.fault, |row| progress(&table::line(row))));
    }
    let text = match (options.json, options.markdown) {
        (true, _) => serde_json::to_string_pretty(&table::json(&rows))? + "\n",
        (_, true) => table::markdown(&rows),
        _ => table::plain(&rows),
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(rows.iter().all(|row| row.wrong.is_empty()))
}

fn progress(line: &str) {
    // Where nobody listens, nothing is said.
    let _ = writeln!(io::stderr(), "{line}");
}
