//! `toolgate inspect`: what a component is and asks for, before any of it runs.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use toolgate_host::{Description, Engine, Plugin, plain};

use crate::{Failure, exit, place, show};

/// Largest component that is read. JavaScript guests carry an engine of eight megabytes.
const COMPONENT: u64 = 256 << 20;

#[derive(Args)]
pub(crate) struct Arguments {
    /// A component's file [default: the guard that is built in]
    component: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let software = |error: &dyn std::fmt::Display| Failure::new(exit::SOFTWARE, error.to_string());
    let plugin = match &arguments.component {
        None => place::default_plugin().map_err(|error| software(&error))?,
        Some(path) => {
            let shown = path.display();
            let found = std::fs::metadata(path);
            let found = found.map_err(|error| Failure::new(exit::NO_INPUT, format!("{shown}: {error}")))?;
            if !found.is_file() || found.len() > COMPONENT {
                return Err(Failure::new(
                    exit::DATA,
                    format!("{shown} is not a file of at most {} MiB", COMPONENT >> 20),
                ));
            }
            let bytes =
                std::fs::read(path).map_err(|error| Failure::new(exit::NO_INPUT, format!("{shown}: {error}")))?;
            if std::io::stderr().is_terminal() {
                show::complain(&format!("compiling {shown}"));
            }
            let engine = Engine::new().map_err(|error| software(&error))?;
            let name = path.file_stem().map_or_else(|| shown.to_string(), |name| name.to_string_lossy().into_owned());
            Plugin::compile(&engine, &name, &bytes).map_err(|error| Failure::new(exit::DATA, error.to_string()))?
        }
    };
    let description = plugin.description();
    let mut out = anstream::stdout();
    let written = if arguments.json {
        let text = serde_json::to_string(description).map_err(|error| software(&error))?;
        writeln!(out, "{text}")
    } else {
        table(&mut out, description)
    };
    written.map_err(|error| Failure::new(exit::IO, format!("standard output: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

fn table(out: &mut impl Write, description: &Description) -> std::io::Result<()> {
    writeln!(out, "{}", plain(&description.name))?;
    let rows = [("component", &description.component), ("machine code", &description.precompiled)];
    for (name, measure) in rows {
        writeln!(out, "  {name:<13} {:>9} bytes  sha256 {}", measure.bytes, measure.sha256)?;
    }
    writeln!(out, "  hooks")?;
    for name in &description.exports {
        writeln!(out, "    {}", plain(name))?;
    }
    writeln!(out, "  asks for")?;
    for import in &description.imports {
        writeln!(out, "    {}", plain(&import.name))?;
    }
    Ok(())
}
