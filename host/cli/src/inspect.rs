//! `toolgate inspect`: what a component is and asks for, before any of it runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::gate_builder;
use toolgate_gatekeeper::plugin::store::Installed;
use toolgate_host::{Capability, Description, plain};

use crate::output::{DIM, print};
use crate::plugin::component_file::Source;
use crate::plugin::words::grants;

#[derive(Args)]
pub(crate) struct Arguments {
    /// A component's file, or a plugin's folder [default: the guard that is built in]
    component: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.component {
        None => {
            let plugin = gate_builder::default_plugin().map_err(Failure::software)?;
            show(plugin.description(), None, arguments.json)
        }
        Some(path) => file(path, arguments.json),
    }
}

/// A component that need not be installed.
pub(crate) fn file(path: &Path, json: bool) -> Result<ExitCode, Failure> {
    let source = Source::find(path)?;
    show(source.compile(&source.name)?.description(), None, json)
}

/// What a component is, and what it may do if it is installed.
pub(crate) fn show(description: &Description, installed: Option<&Installed>, json: bool) -> Result<ExitCode, Failure> {
    if json {
        let software = |error: serde_json::Error| Failure::new(exit::SOFTWARE, error.to_string());
        let mut text = serde_json::to_value(description).map_err(software)?;
        if let Some(one) = installed {
            (text["granted"], text["source"], text["held"]) =
                (json!(one.granted), json!(one.version.source), json!(one.held));
        }
        return print(|out| writeln!(out, "{text}"));
    }
    print(|out| {
        table(out, description)?;
        installed.map_or(Ok(()), |one| {
            writeln!(out, "  installed from {}", plain(&one.version.source.display().to_string()))?;
            grants(out, one)
        })
    })
}

fn table(out: &mut dyn Write, description: &Description) -> std::io::Result<()> {
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
        let about = Capability::of_import(&import.name).map(|one| format!("  {DIM}{}{DIM:#}", one.describe()));
        writeln!(out, "    {}{}", plain(&import.name), about.unwrap_or_default())?;
    }
    Ok(())
}
