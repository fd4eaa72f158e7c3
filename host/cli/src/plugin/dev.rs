//! `toolgate plugin dev`: builds a plugin and runs its cases, again and again.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::channel;

use clap::Args;
use toolgate_agents::{Failure, exit};
use toolgate_capabilities::reload::watch;
use toolgate_host::plain;

use super::{component_file, test};
use crate::output;
use crate::output::DIM;

/// Folders that hold no sources, beside those that begin with a dot.
const LEFT_OUT: [&str; 4] = ["target", "dist", "node_modules", "__pycache__"];

/// Most files that are watched.
const MOST: usize = 2_000;

pub(super) const HELP: &str = "\
The build command comes from plugin.toml, as `build = [\"PROGRAM\", \"ARGUMENT\", ...]`, or from the
arguments after `--`. It runs in FOLDER. Files in target, dist, node_modules, __pycache__ and folders
that begin with a dot are not watched.

Example:
  toolgate plugin dev my-plugin -- cargo build --release --target wasm32-unknown-unknown

It runs until interrupted. Exit codes: 64 no build command, 65 invalid data or a failed build, 66 no
such folder; with --once also those of `toolgate plugin test`.";

#[derive(Args)]
pub(super) struct Arguments {
    /// The plugin's folder
    folder: PathBuf,

    /// The build command [default: from its plugin.toml]
    #[arg(last = true, value_name = "PROGRAM")]
    build: Vec<String>,

    /// Build and test once
    #[arg(long)]
    once: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let folder = arguments.folder.canonicalize();
    let missing = |error| Failure::new(exit::NO_INPUT, format!("{}: {error}", arguments.folder.display()));
    let folder = folder.map_err(missing)?;
    loop {
        let build = if arguments.build.is_empty() { component_file::build(&folder)? } else { arguments.build.clone() };
        let (changed, news) = channel();
        // Before the build, so that what is written meanwhile is not missed.
        let watching = watch(sources(&folder), move |path, _| {
            // Nobody listens any more once the next round has begun.
            let _ = changed.send(path.to_owned());
        });
        let watching = watching.map_err(Failure::software)?;
        if build.is_empty() {
            let message = "no build command: add `build` to its plugin.toml, or give the command after `--`";
            return Err(Failure::new(exit::USAGE, message));
        }
        let outcome = match built(&folder, &build) {
            Ok(()) => test::run(&test::Arguments::of(&folder)),
            Err(failure) => Err(failure),
        };
        if arguments.once {
            return outcome;
        }
        if let Err(failure) = outcome {
            output::complain(&failure.message);
        }
        let _ = writeln!(anstream::stderr(), "{DIM}waiting for a change{DIM:#}");
        let Ok(path) = news.recv() else { return Ok(ExitCode::SUCCESS) };
        let path = path.strip_prefix(&folder).unwrap_or(&path);
        let _ = writeln!(anstream::stderr(), "{DIM}{} has changed{DIM:#}", plain(&path.display().to_string()));
        drop(watching);
    }
}

fn built(folder: &Path, build: &[String]) -> Result<(), Failure> {
    let Some((program, arguments)) = build.split_first() else { return Ok(()) };
    let status = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).status();
    let status = status.map_err(|error| Failure::new(exit::NO_INPUT, format!("{program}: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(exit::DATA, format!("{program} ended with {status}"))) }
}

/// The files below a folder that a build may be made of.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !name.starts_with('.') && !LEFT_OUT.contains(&name.as_str()) {
                folders.push(entry.path());
            } else if kind.is_file() && !name.ends_with(".wasm") {
                files.push(entry.path());
            }
        }
        if files.len() >= MOST {
            files.truncate(MOST);
            break;
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_watched_and_builds_are_not() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        for name in
            ["src/a.rs", "plugin.toml", "wit/deep/b.wit", "target/c.rs", ".git/d", "p.wasm", "node_modules/e.js"]
        {
            std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("made");
            std::fs::write(at(name), "x").expect("written");
        }
        let mut found = sources(scratch.path());
        found.sort();
        assert_eq!(found, ["plugin.toml", "src/a.rs", "wit/deep/b.wit"].map(at));
    }
}
