//! Standard input and output, and signals to the hook in the middle of a call.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use toolgate_terminal_tests::wait::until_so;

use super::{Fault, fault};
use crate::Error;
use crate::call::{Kind, Outcome, Reader, Running};
use crate::trial::{DESTRUCTIVE, HARMLESS, Trial};

/// What can be caught, and ends a hook with a no.
const SIGNALS: [(&str, Signal); 9] = [
    ("SIGTERM", Signal::TERM),
    ("SIGINT", Signal::INT),
    ("SIGHUP", Signal::HUP),
    ("SIGQUIT", Signal::QUIT),
    ("SIGABRT", Signal::ABORT),
    ("SIGALRM", Signal::ALARM),
    ("SIGUSR1", Signal::USR1),
    ("SIGXCPU", Signal::XCPU),
    ("SIGKILL", Signal::KILL),
];

/// What is done to the streams by a shell that then becomes the hook.
const REDIRECTED: [(&str, &str); 5] = [
    ("standard input is closed", "exec \"$@\" <&-"),
    ("standard output is closed", "exec \"$@\" >&-"),
    ("standard error is closed", "exec \"$@\" 2>&-"),
    ("standard output is a disk that is full", "exec \"$@\" >/dev/full"),
    ("all streams are closed", "exec \"$@\" <&- >&- 2>&-"),
];

/// Calls of both kinds.
fn both() -> impl Iterator<Item = (Kind, &'static str)> {
    let destructive = DESTRUCTIVE.into_iter().map(|command| (Kind::Destructive, command));
    destructive.chain(HARMLESS.into_iter().map(|command| (Kind::Harmless, command)))
}

pub(super) fn faults() -> Vec<Fault> {
    let mut all = Vec::from(REDIRECTED.map(|(what, script)| {
        fault(what, move |trial| {
            trial.unlogged = true;
            trial.call_with(|hook| hook.through(&["sh", "-c", script, "sh"]));
            trial.while_calls(|_| Ok(()))
        })
    }));
    all.push(fault("nobody reads standard output any more", |trial| started(trial, Reader::Gone, all_of_it)));
    all.push(fault("standard output is a pipe that is full", |trial| started(trial, Reader::Asleep, all_of_it)));
    all.push(fault("half of the payload comes", |trial| {
        started(trial, Reader::All, |running| {
            let half = running.payload.len() / 2;
            running.send(0..half);
            running.stdin = None;
            running.mark.clear();
            Ok(false)
        })
    }));
    all.push(fault("half of the payload comes, and never an end", |trial| {
        started(trial, Reader::All, |running| {
            let half = running.payload.len() / 2;
            running.send(0..half);
            running.mark.clear();
            Ok(false)
        })
    }));
    all.push(fault("the payload trickles in", |trial| {
        started(trial, Reader::All, |running| {
            running.mark.clear();
            let end = Instant::now() + Duration::from_secs(12);
            let mut at = 0;
            while running.child.try_wait()?.is_none() && Instant::now() < end {
                running.send(at..at + 1);
                at += 1;
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(false)
        })
    }));
    all.push(fault("the payload never stops", |trial| {
        started(trial, Reader::All, |running| {
            running.mark.clear();
            running.payload = vec![b' '; 1 << 20];
            while running.child.try_wait()?.is_none() {
                running.send(0..1 << 20);
            }
            Ok(false)
        })
    }));
    all.extend(SIGNALS.map(|(name, signal)| {
        fault(format!("the hook gets {name} in the middle"), move |trial| {
            started(trial, Reader::All, |running| {
                let half = running.payload.len() / 2;
                running.send(0..half);
                let pid = Pid::from_child(&running.child);
                // It reads when it has started to watch the time.
                let reads = || Ok(threads(pid) >= 3);
                until_so("a hook that reads", reads)?;
                kill_process(pid, signal)?;
                Ok(signal == Signal::KILL)
            })
        })
    }));
    all
}

fn all_of_it(running: &mut Running) -> Result<bool, Error> {
    running.send(0..running.payload.len());
    running.stdin = None;
    Ok(false)
}

/// Calls of which something becomes once they are started, which says whether nothing can be done about that.
fn started(
    trial: &mut Trial,
    reader: Reader,
    act: impl Fn(&mut Running) -> Result<bool, Error> + Sync,
) -> Result<(), Error> {
    trial.unlogged = true;
    let trial = &*trial;
    std::thread::scope(|scope| {
        let calls: Vec<_> = both()
            .map(|(kind, command)| {
                let act = &act;
                scope.spawn(move || -> Result<(), Error> {
                    let mut running = trial.hook.start(kind, command, &trial.world.mark(), reader)?;
                    let killed = act(&mut running)?;
                    let mut said = running.said()?;
                    if killed && matches!(said.outcome, Outcome::Failed(_)) {
                        said.outcome = Outcome::Killed;
                    }
                    trial.note(said);
                    Ok(())
                })
            })
            .collect();
        calls
            .into_iter()
            .try_for_each(|call| call.join().map_err(|_| Error::Unexpected("a caller panicked".to_owned()))?)
    })
}

fn threads(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).map_or(0, Iterator::count)
}
