//! The disk is full, or the log is not what it has to be: what cannot be logged does not run.

use std::fs::{self, File};
use std::io::Write;

use rustix::fs::{FlockOperation, flock};

use super::{Fault, fault};
use crate::Error;
use crate::spoil::{self, Saved};
use crate::trial::Trial;

/// What the log cannot be written through.
const UNFIT: [&str; 4] = ["a folder", "a pipe", "a link to itself", "a link to nothing"];

pub(super) fn faults() -> Vec<Fault> {
    let mut all = vec![
        fault("no file may grow", |trial| {
            trial.unlogged = true;
            trial.call_with(|hook| hook.through(&["prlimit", "--fsize=0"]));
            trial.while_calls(|_| Ok(()))
        }),
        fault("there is room for half a line", |trial| {
            trial.calls()?;
            trial.unlogged = true;
            let room = fs::metadata(trial.world.state().join("audit.jsonl"))?.len() + 100;
            let limit = format!("--fsize={room}");
            trial.call_with(|hook| hook.through(&["prlimit", &limit]));
            trial.while_calls(|_| Ok(()))
        }),
        fault("the file system of the log is full", |trial| {
            full(trial, "0", "head -c 1048576 /dev/zero >\"$STATE/fill\" 2>/dev/null; exec \"$@\"")
        }),
        fault("the file system of the log has room for its folder alone", |trial| full(trial, "4096", "exec \"$@\"")),
        fault("the file system of the log cannot be written to", |trial| {
            trial.calls()?;
            trial.unlogged = true;
            walled(trial)?;
            let state = trial.world.state().display().to_string();
            trial.call_with(|hook| hook.through(&["bwrap", "--dev-bind", "/", "/", "--ro-bind", &state, &state, "--"]));
            trial.calls()
        }),
        fault("a writer was killed in the middle of a line", |trial| {
            trial.calls()?;
            trial.torn = 1;
            let mut log = File::options().append(true).open(trial.world.state().join("audit.jsonl"))?;
            log.write_all(b"{\"time\":\"2026-01-31T09:08:07.123Z\",\"kind\":\"damage-con")?;
            trial.while_calls(|_| Ok(()))
        }),
        fault("another process holds the log's lock", |trial| {
            trial.calls()?;
            trial.unlogged = true;
            let lock = File::options().write(true).open(trial.world.state().join("audit.lock"))?;
            flock(&lock, FlockOperation::LockExclusive)?;
            trial.calls()
        }),
        fault("the log's lock is removed again and again during calls", |trial| {
            trial.calls()?;
            let lock = trial.world.state().join("audit.lock");
            trial.while_calls(|_| Ok((0..200).try_for_each(|_| spoil::remove(&lock))?))
        }),
        fault("the folder of the log is open to everyone", |trial| {
            trial.calls()?;
            trial.unlogged = true;
            let mode =
                |mode| fs::set_permissions(trial.world.state(), std::os::unix::fs::PermissionsExt::from_mode(mode));
            mode(0o777)?;
            trial.calls()?;
            Ok(mode(0o700)?)
        }),
        fault("the folder of the log is a file", |trial| {
            trial.calls()?;
            trial.unlogged = true;
            let (state, moved) = (trial.world.state(), trial.world.at("moved"));
            fs::rename(&state, &moved)?;
            fs::write(&state, "")?;
            trial.calls()?;
            fs::remove_file(&state)?;
            Ok(fs::rename(moved, state)?)
        }),
    ];
    let unfit = spoil::ALL.iter().filter(|(how, _)| UNFIT.contains(how));
    all.extend(unfit.map(|(how, spoil)| {
        fault(format!("the log is {how}"), move |trial| {
            trial.calls()?;
            trial.unlogged = true;
            let log = trial.world.state().join("audit.jsonl");
            let saved = Saved::of(&log)?;
            spoil(&log)?;
            trial.calls()?;
            Ok(saved.restore()?)
        })
    }));
    all
}

/// Calls with a file system of their own below the log's folder, of so many bytes beside what is filled.
fn full(trial: &mut Trial, room: &str, script: &str) -> Result<(), Error> {
    walled(trial)?;
    trial.unlogged = true;
    let state = trial.world.state().display().to_string();
    fs::create_dir_all(&state)?;
    // A file system has at least a page.
    let size = if room == "0" { "4096" } else { room };
    trial.call_with(|hook| {
        let hook = hook.with("STATE", &state).through(&["bwrap", "--dev-bind", "/", "/", "--perms", "0700"]);
        hook.through(&["--size", size, "--tmpfs", &state, "--", "sh", "-c", script, "sh"])
    });
    trial.calls()
}

fn walled(trial: &Trial) -> Result<(), Error> {
    let mut tried = std::process::Command::new("bwrap");
    tried.args(["--dev-bind", "/", "/", "--size", "4096", "--tmpfs"]).arg(trial.world.at("tmp")).arg("true");
    match tried.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Error::LeftOut(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        Err(error) => Err(Error::LeftOut(format!("bwrap: {error}"))),
    }
}
