//! The snapshots of the guard with its rules read: whatever is wrong with one, the rules are read.

use std::fs;
use std::path::{Path, PathBuf};

use toolgate_terminal_tests::wait::until;

use super::{Fault, entries, fault};
use crate::Error;
use crate::call::Kind;
use crate::trial::Trial;

/// Rules of somebody's own, and what each stops.
const RULES: &str = "rules: [{name: mine, pattern: publish-it-all, reason: only people do that}]\n";
const STOPPED: &str = "publish-it-all";
const THEIRS: &str = "rules: [{name: theirs, pattern: release-it-all, reason: only people do that}]\n";
const THEIR_STOPPED: &str = "release-it-all";

/// Rules that let more run.
const OTHERS: &str = "rules: [{name: theirs, pattern: release-it-all, reason: only people do that}]\npacks: [-git]\n";

const PLACE: &str = "home/.config/toolgate/toolgate.yaml";

pub(super) fn faults() -> Vec<Fault> {
    let mut all = entries::faults(ready, calls);
    all.push(fault("a snapshot is that of other rules, with their name", |trial| {
        let (one, other) = two(trial)?;
        fs::copy(other, one)?;
        calls(trial)
    }));
    all.push(fault("a snapshot is forged: that of other rules, with the name that is asked for", |trial| {
        let (one, other) = two(trial)?;
        let (name, others) = (file_name(&one), file_name(&other));
        let bytes = fs::read(other)?;
        let at = bytes.windows(others.len()).position(|window| window == others.as_bytes());
        let at = at.ok_or_else(|| Error::Unexpected("an entry does not begin with its name".to_owned()))?;
        let (start, end) = (bytes.get(..at), bytes.get(at + others.len()..));
        fs::write(one, [start.unwrap_or_default(), name.as_bytes(), end.unwrap_or_default()].concat())?;
        calls(trial)
    }));
    all.push(fault("the rules are others again and again during calls", |trial| {
        ready(trial)?;
        trial.while_calls(|world| {
            for number in 0..40 {
                world.write(PLACE, if number % 2 == 0 { THEIRS } else { RULES })?;
            }
            Ok(())
        })?;
        for _ in 0..3 {
            for (rules, stopped, runs) in [(THEIRS, THEIR_STOPPED, STOPPED), (RULES, STOPPED, THEIR_STOPPED)] {
                trial.world.write(PLACE, rules)?;
                trial.call(Kind::Destructive, stopped)?;
                trial.call(Kind::Harmless, runs)?;
            }
        }
        Ok(())
    }));
    all
}

/// Calls, one of which only these rules stop.
fn calls(trial: &mut Trial) -> Result<(), Error> {
    trial.calls()?;
    trial.call(Kind::Destructive, STOPPED).map(drop)
}

/// Calls that are judged by rules of which there is a snapshot: this file.
fn ready(trial: &mut Trial) -> Result<PathBuf, Error> {
    trial.world.write(PLACE, RULES)?;
    kept(trial, &[])
}

/// The snapshot of the rules, and that of others.
fn two(trial: &mut Trial) -> Result<(PathBuf, PathBuf), Error> {
    trial.world.write(PLACE, OTHERS)?;
    let other = kept(trial, &[])?;
    trial.world.write(PLACE, RULES)?;
    Ok((kept(trial, std::slice::from_ref(&other))?, other))
}

/// Where the snapshot of the rules is kept, once it is: it is taken when a call has its answer.
fn kept(trial: &Trial, but: &[PathBuf]) -> Result<PathBuf, Error> {
    let folder = trial.world.state().join("snapshots");
    Ok(until("a snapshot that is kept", || {
        let called = trial.hook.call(Kind::Harmless, "ls", "");
        called.map_err(|error| toolgate_terminal_tests::Error::Nonsense(error.to_string()))?;
        let mut entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        Ok(entries.find(|path| !file_name(path).contains('.') && !but.contains(path)))
    })?)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
