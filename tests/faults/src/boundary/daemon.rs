//! The check daemon: killed, stopped, and whatever may be in its socket's place. It gives advice; no verdict waits for it.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use toolgate_terminal_tests::wait::until;

use super::listeners::{self, Listener};
use super::{Fault, fault};
use crate::Error;
use crate::spoil;
use crate::trial::Trial;
use crate::world::listener;

/// Stands for shellcheck, and finds one mistake.
const SHELLCHECK: &str = r#"for last; do :; done
if grep -q 'echo \$1' "$last"; then
    printf '{"comments":[{"file":"%s","line":3,"column":6,"level":"info","code":2086,"message":"Quote it"}]}' "$last"
    exit 1
fi
echo '{"comments":[]}'"#;

pub(super) fn faults() -> Vec<Fault> {
    let mut all = vec![
        fault("killed before a call", |trial| {
            let (_, pid) = ready(trial)?;
            kill_process(pid, Signal::KILL)?;
            under(trial)?;
            checks(trial)
        }),
        fault("killed during calls", |trial| {
            let (_, pid) = ready(trial)?;
            trial.while_calls(|_| {
                kill_process(pid, Signal::KILL)?;
                trial.told().map(drop)
            })?;
            checks(trial)
        }),
        fault("stopped", |trial| {
            let (_, pid) = ready(trial)?;
            kill_process(pid, Signal::STOP)?;
            let under = under(trial);
            kill_process(pid, Signal::CONT)?;
            under
        }),
        fault("another user asks it", |trial| {
            super::resident::as_another(trial)?;
            let (socket, _) = ready(trial)?;
            super::resident::refuses(&socket)?;
            under(trial)
        }),
        fault("its tool hangs", |trial| {
            trial.world.script("shellcheck", "sleep 1000")?;
            under(trial)
        }),
        fault("its tool floods", |trial| {
            trial.world.script("shellcheck", "exec yes")?;
            under(trial)
        }),
    ];
    all.extend(listeners::ALL.map(|(what, greet)| {
        fault(format!("in its place somebody listens who {what}"), move |trial| {
            let (socket, pid) = ready(trial)?;
            kill_process(pid, Signal::KILL)?;
            let _listener = Listener::at(&socket, greet)?;
            under(trial)?;
            Ok(spoil::remove(&socket)?)
        })
    }));
    all.push(fault("in its place is a pipe", |trial| {
        let (socket, pid) = ready(trial)?;
        kill_process(pid, Signal::KILL)?;
        spoil::pipe(&socket)?;
        under(trial)?;
        spoil::remove(&socket)?;
        checks(trial)
    }));
    all
}

/// What is told, while verdicts are given beside it.
fn under(trial: &Trial) -> Result<(), Error> {
    trial.while_calls(|_| trial.told().map(drop))
}

/// A daemon that has found a mistake, its socket and its process.
fn ready(trial: &Trial) -> Result<(PathBuf, Pid), Error> {
    trial.world.script("shellcheck", SHELLCHECK)?;
    checks(trial)?;
    let found = trial.world.sockets("lens-").into_iter().find_map(|socket| Some((socket.clone(), listener(&socket)?)));
    found.ok_or_else(|| Error::Unexpected("no daemon listens".to_owned()))
}

fn checks(trial: &Trial) -> Result<(), Error> {
    Ok(until("a mistake that is found", || {
        let found = trial.told().map_err(|error| toolgate_terminal_tests::Error::Nonsense(error.to_string()))?;
        Ok(found.then_some(()))
    })?)
}
